// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The stepper `event`: a step through located events, in joint coordinates, as one transaction.
#include "sim/stages.h"

#include <math.h>
#include <string.h>

// Mechanics that the modes do not have is refused: a ball that is taken without it rolls on.
static perp_status check_friction(const perp_model *m, perp_error *error)
{
    bool sliding = true;
    for (int i = 0; i < m->pairs; i++) {
        const pp_pair *p = &m->pair[i];
        sliding = sliding && !(p->mu_spin > 0.0) && !(p->mu_roll > 0.0);
    }
    for (int i = 0; i < m->listed; i++) {
        const pp_listed *c = &m->contact[i];
        sliding = sliding && !(c->mu_spin > 0.0) && !(c->mu_roll > 0.0);
    }
    if (!sliding) {
        return pp_fail(error, PERP_ERR_REFUSED,
                       "stepper event: torsional and rolling friction are not in it; take another "
                       "stepper, or set 'friction' to 'none'");
    }
    for (int i = 0; i < m->shapes; i++) {
        if (m->shape[i].mu_spin > 0.0 || m->shape[i].mu_roll > 0.0) {
            return pp_fail(error, PERP_ERR_REFUSED,
                           "stepper event: shape '%s' has torsional or rolling friction, which is "
                           "not in it",
                           m->shape[i].name);
        }
    }
    return PERP_OK;
}

perp_status pp_sim_event_create(perp_sim *sim, perp_error *error)
{
    perp_status status =
        sim->def.friction == PERP_FRICTION_NONE ? PERP_OK : check_friction(sim->model, error);
    if (status < 0) {
        return status;
    }
    sim->scratch = pp_arena_create(&sim->env);
    return sim->scratch ? PERP_OK : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
}

static pp_machine machine_of(perp_sim *sim)
{
    const perp_event_options *o = &sim->def.event;
    return (pp_machine){.model = sim->model,
                        .tree = sim->tree,
                        .env = &sim->env,
                        .options = {.eps = o->eps,
                                    .relative = o->relative,
                                    .absolute = o->absolute,
                                    .events = o->most,
                                    .impact = sim->def.impact,
                                    .frictionless = sim->def.friction == PERP_FRICTION_NONE},
                        .applied = sim->applied,
                        .turn = sim->next.turn,
                        .length = sim->model->length_scale};
}

// ── The start ────────────────────────────────────────────────────────────────────────────────────

// Rates of the tree that have the momentum of the bodies: H qd = S^T M (nu - nu_0).
static perp_status least_rates(perp_sim *sim, const double *q, double *qd)
{
    pp_tree_pass pass;
    pp_coordinates in;
    const pp_rows none = {0};
    perp_status status = pp_tree_run(&pass, sim->tree, sim->now.t, q, NULL, sim->arena);
    if (status >= 0) {
        status = pp_coordinates_create(&in, &pass, &none, sim->arena);
    }
    if (status >= 0) {
        pp_coordinates_rates(&in, sim->now.nu, qd);
    }
    return status;
}

// A state that joints, loops, targets, rates, limits and contacts allow, the nearest in the metric of the
// masses: where it is another one the sim starts from it, and a remark says how far it is.
perp_status pp_sim_event_project(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_tree *tree = sim->tree;
    double lost = 0.0, lost_rate = 0.0, moved = 0.0, moved_rate = 0.0;
    pp_arena_reset(sim->arena);
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!q || !qd || !body) {
        return PERP_ERR_MEMORY;
    }
    if (m->joints > 0) {
        memcpy(sim->next.turn, sim->now.turn, (size_t)m->joints * sizeof(double));
    }
    pp_machine machine = machine_of(sim);
    pp_tree_from_frames(tree, sim->now.t, sim->frames, sim->now.turn, q, qd, &lost, &lost_rate);
    perp_status status = lost_rate > 1e-10 ? least_rates(sim, q, qd) : PERP_OK;
    if (status >= 0) {
        status = pp_hybrid_project(&machine, sim->now.t, q, qd, &moved, &moved_rate, sim->arena);
    }
    moved = fmax(moved, lost);
    moved_rate = fmax(moved_rate, lost_rate);
    if (status < 0 || !(moved > 1e-10 || moved_rate > 1e-10)) {
        return status == PERP_ERR_MEMORY ? status : PERP_OK;  // the first step says what is wrong
    }
    pp_tree_frames(tree, sim->now.t, q, qd, body);
    pp_hybrid_state(m, body, sim->now.q, sim->now.nu);
    pp_frames(m, &sim->now, sim->frames);
    pp_sim_reset_turns(sim);
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "the start was moved by up to %.3g m or rad, %.3g m/s or rad/s, to fit the joints and "
             "contacts",
             moved, moved_rate);
    sim->projected = true;
    return PERP_OK;
}

// ── What the step leaves ─────────────────────────────────────────────────────────────────────────

static perp_contact contact_of(const perp_sim *sim, const pp_contact_sum *s)
{
    const perp_model *m = sim->model;
    const pp_contact *c = &s->last;
    const pp_frame *body = sim->step.end.body;
    perp_vec3 v = pp_sub(pp_point_velocity(&body[m->shape[c->b].body], c->point),
                         pp_point_velocity(&body[m->shape[c->a].body], c->point));
    perp_contact out = {.a = {s->a},
                        .b = {s->b},
                        .feature = s->feature,
                        .point_W = c->point,
                        .normal_W = c->n,
                        .tangent_W = c->t,
                        .gap = c->gap,
                        .mu = sim->def.friction == PERP_FRICTION_NONE ? 0.0 : fmax(c->mu, c->mu_2),
                        .restitution = c->restitution,
                        .pn = s->pn,
                        .pf_W = s->pf_W,
                        .mode = s->closed ? s->mode : PERP_OPEN};
    out.rate_n = pp_dot3(v, c->n);
    v = pp_add(pp_along(v, -out.rate_n, c->n), c->surface);
    out.slip_W = v;
    out.slip = m->spatial ? pp_length(v) : pp_dot3(v, c->t);
    return out;
}

static perp_status reserve(perp_sim *sim, int count)
{
    if (count > sim->contact_capacity) {
        perp_contact *contacts = pp_alloc(&sim->env, 2 * (size_t)count * sizeof *contacts);
        if (!contacts) {
            return PERP_ERR_MEMORY;
        }
        pp_free(&sim->env, sim->contacts, (size_t)sim->contact_capacity * sizeof *contacts);
        sim->contacts = contacts;
        sim->contact_capacity = 2 * count;
    }
    return PERP_OK;
}

static perp_status report(perp_sim *sim)
{
    const pp_hybrid_result *r = &sim->flown;
    perp_status status = reserve(sim, r->contacts);
    if (status < 0) {
        return status;
    }
    sim->contact_count = r->contacts;
    sim->warm_count = 0;
    for (int i = 0; i < r->contacts; i++) {
        sim->contacts[i] = contact_of(sim, &r->contact[i]);
    }
    sim->info.contacts = r->contacts;
    sim->info.joint_rows = r->joint_rows;
    sim->info.problem_size = sim->tree->nv + r->rows;
    sim->info.redundant_rows = r->redundant;
    sim->info.motion = r->unique ? PERP_UNIQUE : PERP_UNIQUE_UNKNOWN;
    sim->info.impulses = r->unique && r->redundant == 0 ? PERP_UNIQUE : PERP_UNIQUE_UNKNOWN;
    sim->info.unique = sim->info.impulses == PERP_UNIQUE;
    sim->info.tempered = r->tempered;
    sim->info.solver = r->stiff ? "bdf" : "adams";
    sim->info.iterations = r->steps;
    return PERP_OK;
}

// Impulses of contacts and joints on each body.
static void give(const perp_sim *sim, perp_vec3 *given)
{
    const perp_model *m = sim->model;
    const pp_hybrid_result *r = &sim->flown;
    for (int i = 0; i < r->contacts; i++) {
        const pp_contact_sum *s = &r->contact[i];
        int a = m->shape[s->a].body, b = m->shape[s->b].body;
        given[a] = pp_sub(given[a], s->p_W);
        given[b] = pp_add(given[b], s->p_W);
    }
    for (int i = 0; i < m->joints; i++) {
        if (m->joint[i].kind != PERP_GEAR) {
            given[m->joint[i].a] = pp_sub(given[m->joint[i].a], r->joint[i].on_b.f);
            given[m->joint[i].b] = pp_add(given[m->joint[i].b], r->joint[i].on_b.f);
        }
    }
}

// Whether anything but gravity, springs, contact and joints at rest can change the energy.
static bool is_driven(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    for (int i = 0; i < m->bodies; i++) {
        const perp_wrench *w = &sim->applied[i];
        if (m->body[i].drive == PERP_DRIVEN || pp_length(w->f) > 0.0 || pp_length(w->tau) > 0.0) {
            return true;
        }
    }
    for (int i = 0; i < m->joints; i++) {
        if (m->joint[i].target || m->joint[i].rate) {
            return true;
        }
    }
    for (int i = 0; i < m->forces; i++) {
        if (m->force[i].kind == PERP_FORCE) {
            return true;
        }
    }
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *s = &m->shape[i];
        if (s->surface_speed || s->surface[0] || s->surface[1] || s->surface[2] || s->surface[3]) {
            return true;
        }
    }
    return false;
}

static double energy_at(const perp_sim *sim, const pp_frame *body, double t, const double *turn,
                        perp_energy *out)
{
    const perp_model *m = sim->model;
    pp_kinematics kin = {.t = t, .body = (pp_frame *)(uintptr_t)body, .turn = turn};
    out->kinetic = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &body[i];
        pp_weight mass = {0};
        if (m->body[i].nv > 0) {
            perp_vec3 w_B = pp_mul_t(&f->R, f->w);
            mass.m = m->body[i].mass;
            out->kinetic += 0.5 * mass.m * pp_dot3(f->v, f->v) +
                            0.5 * pp_dot3(w_B, pp_mul(&m->body[i].I_B, w_B));
        }
    }
    out->potential = pp_potential(m, body) + pp_joint_energy(m, &kin);
    return out->kinetic + out->potential;
}

static perp_status certify(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    const pp_hybrid_result *r = &sim->flown;
    perp_vec3 *given = PP_ZEROS(sim->arena, perp_vec3, m->bodies);
    perp_status status =
        given ? pp_gaps_run(&s->gap, m, &s->end, 0.0, sim->arena) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    perp_energy before = {0}, *after = &sim->info.energy;
    give(sim, given);
    double change = -energy_at(sim, sim->frames, sim->now.t, sim->now.turn, &before);
    change += energy_at(sim, s->end.body, s->end.t, s->end.turn, after);
    after->dissipated = is_driven(sim) ? r->friction + r->impacts : -change;
    after->work = change + after->dissipated;
    pp_flown e = {.model = m,
                  .h = h,
                  .start = sim->frames,
                  .end = &s->end,
                  .gaps = &s->gap,
                  .contact = sim->contacts,
                  .contacts = sim->contact_count,
                  .given = given,
                  .applied = sim->applied,
                  .created = -after->dissipated,
                  .energy = before.kinetic + after->kinetic + fabs(change) + fabs(after->work),
                  .residual = r->residual,
                  .slack = pp_slack_of(sim->def.tolerance)};
    status = pp_certify_flown(&sim->info.certificate, &e, &sim->def.limits, sim->arena);
    if (status < 0) {
        return status;
    }
    return sim->info.certificate.passed ? PERP_OK : PERP_INEXACT;
}

static perp_status fly(perp_sim *sim, double h)
{
    const pp_tree *tree = sim->tree;
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    double lost, lost_rate;
    s->end.body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!q || !qd || !s->end.body) {
        return PERP_ERR_MEMORY;
    }
    if (m->joints > 0) {
        memcpy(sim->next.turn, sim->now.turn, (size_t)m->joints * sizeof(double));
    }
    pp_machine machine = machine_of(sim);
    pp_tree_from_frames(tree, sim->now.t, sim->frames, sim->now.turn, q, qd, &lost, &lost_rate);
    perp_status status =
        pp_hybrid_run(&sim->flown, &machine, sim->now.t, h, q, qd, sim->arena, sim->scratch);
    memcpy(sim->info.remark, sim->flown.remark, sizeof sim->info.remark);
    if (status < 0) {
        return status;
    }
    sim->next.t = pp_sim_time_after(sim, h);
    pp_tree_frames(tree, sim->next.t, sim->flown.q, sim->flown.qd, s->end.body);
    pp_hybrid_state(m, s->end.body, sim->next.q, sim->next.nu);
    s->end.t = sim->next.t;
    s->end.h = h;
    s->end.turn = sim->next.turn;
    s->end.values_only = true;
    return report(sim);
}

perp_status pp_sim_event_step(perp_sim *sim, double h)
{
    double clock = pp_seconds();
    pp_arena_reset(sim->scratch);
    sim->flown = (pp_hybrid_result){0};
    perp_status status = fly(sim, h);
    sim->info.seconds[PERP_STAGE_INTEGRATE] = pp_seconds() - clock;
    if (status < 0) {
        sim->flown.events = 0;
        sim->flown.joint = NULL;
        return status;
    }
    clock = pp_seconds();
    status = certify(sim, h);
    sim->info.seconds[PERP_STAGE_CERTIFY] = pp_seconds() - clock;
    return status;
}

// ── Looking ──────────────────────────────────────────────────────────────────────────────────────

const perp_event *perp_sim_events(const perp_sim *sim, int *count)
{
    if (count) {
        *count = sim ? sim->flown.events : 0;
    }
    return sim ? sim->flown.event : NULL;
}

void pp_sim_event_joint(const perp_sim *sim, int joint, perp_joint_state *out)
{
    const pp_joint_sum *sum = sim->flown.joint ? &sim->flown.joint[joint] : NULL;
    if (sum) {
        out->impulse_b = sum->on_b;
        out->drive = sum->drive;
        out->limit = sum->limit;
        out->redundant = sum->redundant;
    }
}

// Contacts and joints on a body that is not free, turned round; about where it is at the end of the step.
perp_wrench pp_sim_event_drive(const perp_sim *sim, int body)
{
    const perp_model *m = sim->model;
    const pp_hybrid_result *r = &sim->flown;
    perp_vec3 origin = sim->frames[body].p;
    perp_wrench out = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < r->contacts; i++) {
        const pp_contact_sum *s = &r->contact[i];
        bool on_a = m->shape[s->a].body == body, on_b = m->shape[s->b].body == body;
        double sign = on_a ? 1.0 : on_b ? -1.0 : 0.0;
        perp_vec3 tau = pp_sub(s->m_W, pp_cross(origin, s->p_W));
        out.f = pp_along(out.f, sign, s->p_W);
        out.tau = pp_along(out.tau, sign, tau);
    }
    for (int i = 0; i < m->joints && r->joint; i++) {
        const pp_joint *j = &m->joint[i];
        if (j->kind == PERP_GEAR || (j->a != body && j->b != body)) {
            continue;
        }
        double sign = j->a == body ? 1.0 : -1.0;
        const perp_wrench *w = &r->joint[i].on_b;
        perp_vec3 arm = pp_sub(sim->frames[j->b].p, origin);
        out.f = pp_along(out.f, sign, w->f);
        out.tau = pp_along(out.tau, sign, pp_add(w->tau, pp_cross(arm, w->f)));
    }
    return out;
}
