// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The stepper `event`: a step through located events, in joint coordinates, as one transaction. hybrid/ integrates smooth
// motion between events and resolves impacts; the pieces are called passages here, and become the parts of the step, each
// with its own certificate.                                                                 theory, part V
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// Evaluations of the equations of motion take and release memory many times a step: an arena of their own. H has the
// rotors of tree joints on its diagonal; one in a loop would couple branches.              theory (A3)
perp_status pp_sim_event_create(perp_sim *sim, perp_error *error)
{
    for (int i = 0; i < sim->tree->loops; i++) {
        const pp_joint *j = &sim->model->joint[sim->tree->loop[i]];
        if (j->armature > 0.0) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s': the stepper event has no armature of a joint that closes a "
                           "loop; name the joint in the tree, or use another stepper",
                           j->name);
        }
    }
    sim->scratch = pp_arena_create(&sim->env);
    return sim->scratch ? PERP_OK : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
}

// The sim as hybrid/ sees it. turn: its counters of joint turns go on from next.turn.
static pp_machine machine_of(perp_sim *sim)
{
    const perp_event_options *o = &sim->def.event;
    return (pp_machine){.model = sim->model,
                        .tree = sim->tree,
                        .env = &sim->env,
                        .options = {.eps = o->eps,
                                    .relative = o->tolerance_relative,
                                    .absolute = o->tolerance_absolute,
                                    .events = o->max_events_per_second,
                                    .impact = sim->def.impact,
                                    .frictionless = sim->def.friction == PERP_FRICTION_NONE},
                        .applied = sim->applied,
                        .drive = sim->now.drive,
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
        pp_coordinates_project(&in, sim->now.nu, qd);
    }
    return status;
}

// The nearest state, in the metric of the masses, that joints, loops, targets, rates, limits and
// contacts allow. Where that is another state than the given one the sim starts from it, and a
// remark says how far it is.
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
    // velocities that the tree does not allow: the nearest that it does
    perp_status status = lost_rate > 1e-10 ? least_rates(sim, q, qd) : PERP_OK;
    if (status >= 0) {
        status =
            pp_hybrid_project(&machine, sim->now.t, true, q, qd, &moved, &moved_rate, sim->arena);
    }
    moved = fmax(moved, lost);
    moved_rate = fmax(moved_rate, lost_rate);
    if (status < 0 || !(moved > 1e-10 || moved_rate > 1e-10)) {
        return pp_is_final(status) ? status : PERP_OK;  // the first step says what is wrong
    }
    pp_tree_frames(tree, sim->now.t, q, qd, body);
    int farthest = pp_sim_farthest(sim, body);
    pp_hybrid_state(m, body, sim->now.q, sim->now.nu);
    pp_frames(m, &sim->now, sim->frames);
    pp_sim_keep_turns(sim);
    // a start that was corrected is off by what its rounds left, and has a remark
    if (sim->projected && !(moved > 1e-6 || moved_rate > 1e-6)) {
        return PERP_OK;
    }
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "the initial state was changed by up to %.3g m or rad, %.3g m/s or rad/s, to satisfy "
             "joints and contacts; body '%.40s' most",
             moved, moved_rate, m->body[farthest].name);
    sim->projected = true;
    return PERP_OK;
}

// ── What the step leaves ─────────────────────────────────────────────────────────────────────────

// One contact of a passage, from the sums of hybrid/. The normal is the mean of its normals,
// weighted by their impulses, and the point the mean of its points: p_n n + p_f is the whole
// impulse. body: frames at the end of the passage.
static perp_contact contact_of_passage(const perp_sim *sim, const pp_contact_sum *s,
                                       const pp_frame *body, bool jump)
{
    const perp_model *m = sim->model;
    const pp_contact *c = &s->last;
    // a mean that points away from the last normal is none
    perp_vec3 n = pp_unit(s->pn_W, c->n);
    n = pp_dot3(n, c->n) > 0.0 ? n : c->n;
    double pn = pp_dot3(s->pn_W, n);
    perp_contact out = {.a = {s->a},
                        .b = {s->b},
                        .feature = s->feature,
                        .point_W = s->load > 0.0 ? pp_scale(1.0 / s->load, s->at_W) : c->point,
                        .normal_W = n,
                        .tangent_W = pp_unit(pp_along(c->t, -pp_dot3(c->t, n), n), c->t),
                        .gap = c->gap,
                        .mu = sim->def.friction == PERP_FRICTION_NONE ? 0.0 : fmax(c->mu, c->mu_2),
                        .restitution = jump ? s->restitution : c->restitution,
                        .pn = pn,
                        .pf_W = pp_along(s->p_W, -pn, n),
                        .moment_W = s->own_W,
                        .mode = s->closed ? s->mode : PERP_CONTACT_OPEN};
    // slip and rate at the end of the passage
    perp_vec3 v = pp_sub(pp_point_velocity(&body[m->shape[c->b].body], c->point),
                         pp_point_velocity(&body[m->shape[c->a].body], c->point));
    out.rate_n = pp_dot3(v, c->n);
    v = pp_add(pp_along(v, -out.rate_n, c->n), c->surface);
    out.slip_W = v;
    out.slip = m->spatial ? pp_length(v) : pp_dot3(v, c->t);
    return out;
}

// Room for the contacts of all passages.
static perp_status reserve_events(perp_sim *sim, int count)
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

// Energy of a state, kinetic and potential [J]. The spin is taken in body axes, where the inertia
// is constant.
static perp_energy energy_at(const perp_model *m, const pp_frame *body, double t,
                             const double *turn)
{
    pp_poses at = {.t = t, .body = body, .turn = turn};
    perp_energy out = {.potential = pp_potential(m, body) + pp_joint_energy(m, &at)};
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &body[i];
        if (m->body[i].nv > 0) {
            perp_vec3 w_B = pp_mul_t(&f->R, f->w);
            out.kinetic += 0.5 * m->body[i].mass * pp_dot3(f->v, f->v) +
                           0.5 * pp_dot3(w_B, pp_mul(&m->body[i].I_B, w_B));
        }
    }
    out.kinetic += pp_rotor_energy(m, &at);
    return out;
}

// Joints at the end of a passage, with its impulses.
static void show_joints(const perp_sim *sim, const pp_passage *p, const pp_frame *body,
                        perp_joint_state *out)
{
    const perp_model *m = sim->model;
    pp_poses now = {.t = p->t, .body = body, .turn = p->turn, .drive = sim->now.drive};
    for (int i = 0; i < m->joints; i++) {
        pp_row row;
        pp_joint_coordinate(m, &now, i, &row);
        out[i] = (perp_joint_state){.coordinate = row.value,
                                    .rate = row.v_pre,
                                    .error = pp_joint_error(m, &now, i),
                                    .impulse_b = p->joint[i].on_b,
                                    .drive = p->joint[i].drive,
                                    .limit = p->joint[i].limit,
                                    .redundant = p->joint[i].redundant};
    }
}

// As recordings call them.
static perp_part_kind part_kind_of(pp_jump jump)
{
    static const perp_part_kind kind[] = {[PP_JUMP_NONE] = PERP_PART_SMOOTH,
                                          [PP_JUMP_LAW] = PERP_PART_IMPACT,
                                          [PP_JUMP_OTHER] = PERP_PART_OTHER};
    return kind[jump];
}

// The passages as parts of the step, their contacts and joints as the user reads them. The last
// passage ends where the step does, to the last bit: time, positions and frames of the step's end
// are taken for it. That time is a multiple of h, and may be a bit before the sum t + h where the passages end.
static perp_status show(perp_sim *sim, pp_stored_part *part)
{
    const perp_model *m = sim->model;
    const pp_hybrid_result *r = &sim->flown;
    double from = sim->now.t;
    for (int k = 0, i = 0; k < r->passages; k++) {
        const pp_passage *p = &r->passage[k];
        bool last = k + 1 == r->passages;
        double t = last ? sim->next.t : fmin(p->t, sim->next.t);
        pp_frame *body = last ? sim->step.end_body : PP_ARRAY(sim->arena, pp_frame, m->bodies);
        perp_joint_state *joint = PP_ARRAY(sim->arena, perp_joint_state, m->joints);
        if (!body || !joint) {
            return PERP_ERR_MEMORY;
        }
        if (!last) {
            pp_frames(m, &(pp_state){.t = t, .q = p->q, .nu = p->nu}, body);
        }
        part[k] = (pp_stored_part){.kind = part_kind_of(p->jump),
                                   .t = t,
                                   // times may round back
                                   .h = p->jump == PP_JUMP_NONE ? fmax(0.0, t - from) : 0.0,
                                   .q = last ? sim->next.q : p->q,
                                   .nu = last ? sim->next.nu : p->nu,
                                   .body = body,
                                   .contact = sim->contacts + i,
                                   .contacts = p->contacts - i,
                                   .joint = joint};
        // r->contact holds the contacts of all passages one after the other; p->contacts: where
        // they end
        for (; i < p->contacts; i++) {
            sim->contacts[i] =
                contact_of_passage(sim, &r->contact[i], body, p->jump != PP_JUMP_NONE);
        }
        show_joints(sim, p, body, joint);
        part[k].info.energy = energy_at(m, body, t, p->turn);
        from = t;
    }
    return PERP_OK;
}

// What the step reports as a whole.
static void report_events(perp_sim *sim)
{
    const pp_hybrid_result *r = &sim->flown;
    sim->contact_count = r->contacts;
    sim->warm_count = 0;
    sim->info.contacts = r->contacts;
    sim->info.joint_rows = r->joint_rows;
    sim->info.problem_size = sim->tree->nv + r->rows;
    sim->info.redundant_rows = r->redundant;
    sim->info.motion = r->unique ? PERP_UNIQUENESS_PROVED : PERP_UNIQUENESS_UNKNOWN;
    sim->info.impulses =
        r->unique && r->redundant == 0 ? PERP_UNIQUENESS_PROVED : PERP_UNIQUENESS_UNKNOWN;
    sim->info.unique = sim->info.impulses == PERP_UNIQUENESS_PROVED;
    sim->info.tempered = r->tempered;
    sim->info.solver = r->stiff ? "bdf" : "adams";
    sim->info.iterations = r->steps;
}

// Energy in the springs of a state [J].
static double springs_at(const perp_model *m, const pp_frame *body, double t, const double *turn)
{
    pp_poses at = {.t = t, .body = body, .turn = turn};
    double sum = pp_joint_energy(m, &at);
    for (int i = 0; i < m->forces; i++) {
        perp_force_kind kind = m->force[i].kind;
        bool spring = kind == PERP_FORCE_SPRING || kind == PERP_FORCE_TORSION_SPRING;
        sum += spring ? pp_spring_energy(&m->force[i], body) : 0.0;
    }
    return sum;
}

// The certificate of one passage; start, before: frames and energy where it starts. Gaps are found
// anew at its end, with code that does not know the integrator; a jump moves nothing, so that it
// has none.
static perp_status certify_passage(perp_sim *sim, int k, const pp_frame *start,
                                   const perp_energy *before, pp_stored_part *in)
{
    const perp_model *m = sim->model;
    const pp_hybrid_result *r = &sim->flown;
    const pp_passage *p = &r->passage[k];
    pp_mark mark = pp_arena_mark(sim->scratch);
    bool last = k + 1 == r->passages, jump = p->jump != PP_JUMP_NONE;
    pp_poses end = {.t = in->t, .body = in->body, .turn = p->turn};
    pp_gaps gaps = {0};
    perp_status status =
        jump ? PERP_OK : pp_gaps_run(&gaps, m, &end, (pp_gap_search){0}, sim->scratch);
    if (status < 0) {
        return status;
    }
    // dissipated = work of what is given less the change of T + V
    perp_energy *after = &in->info.energy;
    double change = after->kinetic + after->potential - before->kinetic - before->potential;
    after->work = p->work;
    after->dissipated = p->work - change;
    pp_event_passage e = {.model = m,
                          .h = in->h,
                          .whole = sim->step.h,
                          .jump = jump,
                          .newton =
                              (sim->def.impact == PERP_IMPACT_NEWTON) == (p->jump == PP_JUMP_LAW),
                          .start = start,
                          .end = &end,
                          .gaps = jump ? NULL : &gaps,
                          .contact = in->contact,
                          .contacts = in->contacts,
                          .joint = in->joint,
                          .element = p->element,
                          .created = -after->dissipated,
                          .astray = fabs(after->dissipated - p->lost),
                          .energy = before->kinetic + after->kinetic + fabs(change) +
                                    fabs(p->work) + springs_at(m, in->body, in->t, p->turn),
                          .residual = last ? r->residual : 0.0,
                          .error = p->error,
                          .slack = pp_slack_of(sim->def.tolerance)};
    status = pp_certify_passage(&in->info.certificate, &e, &sim->def.limits, sim->scratch);
    pp_arena_release(sim->scratch, mark);
    return status;
}

// All passages; the worst is the certificate of the step, and works add up.
static perp_status certify_all(perp_sim *sim, pp_stored_part *part)
{
    // energies by frames alone: they do not come from the integrator
    perp_energy before = energy_at(sim->model, sim->frames, sim->now.t, sim->now.turn);
    perp_energy start = before, *whole = &sim->info.energy;
    const pp_frame *body = sim->frames;
    perp_certificate *c = &sim->info.certificate;
    for (int k = 0; k < sim->flown.passages; k++) {
        perp_step_info *info = &part[k].info;
        perp_status status = certify_passage(sim, k, body, &before, &part[k]);
        if (status < 0) {
            return status;
        }
        pp_certificate_worst(c, &info->certificate);
        c->pairs = info->certificate.pairs > c->pairs ? info->certificate.pairs : c->pairs;
        double work = whole->work + info->energy.work;
        // kinetic and potential energy are those of the last passage, work is the sum
        before = *whole = info->energy;
        whole->work = work;
        body = part[k].body;
    }
    whole->dissipated =
        start.kinetic + start.potential + whole->work - whole->kinetic - whole->potential;
    c->passed = pp_certificate_passes(c);
    return PERP_OK;
}

// Keeps every passage of a step with impacts, for recordings. What is the same for all is copied from the step.
static perp_status keep_passages(perp_sim *sim, pp_stored_part *part, int count)
{
    for (int k = 0; k < count; k++) {
        perp_step_info own = part[k].info;
        part[k].info = sim->info;
        part[k].info.energy = own.energy;
        part[k].info.certificate = own.certificate;
        perp_status status = pp_sim_store_part(sim, &part[k]);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Passages shown and judged; recordings get them one by one where there are several.
static perp_status certify_event(perp_sim *sim)
{
    int count = sim->flown.passages;
    // a step without events is one passage
    pp_stored_part *part = PP_ZEROS(sim->arena, pp_stored_part, count);
    if (!part) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = show(sim, part);
    if (status < 0) {
        return status;
    }
    status = certify_all(sim, part);
    if (status >= 0 && count > 1) {
        status = keep_passages(sim, part, count);
    }
    if (status < 0) {
        return status;
    }
    pp_sim_blame_open(sim, &sim->step.end);
    return sim->info.certificate.passed ? PERP_OK : PERP_INEXACT;
}

// Motion from now to the end of the step, into sim->next. The coordinates of the tree are read off
// the bodies, which fit them since the start was projected.
static perp_status fly(perp_sim *sim, double h)
{
    const pp_tree *tree = sim->tree;
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    // the state of a sim is that of the bodies; hybrid/ integrates the coordinates of the tree
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    double lost, lost_rate;
    s->end_body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!q || !qd || !s->end_body) {
        return PERP_ERR_MEMORY;
    }
    if (m->joints > 0) {
        memcpy(sim->next.turn, sim->now.turn, (size_t)m->joints * sizeof(double));
    }
    // what has no value where the step ends has no motion that leads there: the integrator would approach it forever
    const pp_poses end = {.t = pp_sim_time_after(sim, h), .drive = sim->now.drive};
    if (pp_sim_blame_time(sim, &end)) {
        return PERP_ERR_NUMERIC;
    }
    pp_machine machine = machine_of(sim);
    pp_tree_from_frames(tree, sim->now.t, sim->frames, sim->now.turn, q, qd, &lost, &lost_rate);
    perp_status status =
        pp_hybrid_run(&sim->flown, &machine, sim->now.t, h, q, qd, sim->arena, sim->scratch);
    memcpy(sim->info.remark, sim->flown.remark, sizeof sim->info.remark);
    if (status < 0) {
        return status;
    }
    // frames at the end by the step's clock, not by the integrator's sum of steps
    sim->next.t = pp_sim_time_after(sim, h);
    pp_tree_frames(tree, sim->next.t, sim->flown.q, sim->flown.qd, s->end_body);
    pp_hybrid_state(m, s->end_body, sim->next.q, sim->next.nu);
    s->end = (pp_poses){.t = sim->next.t, .body = s->end_body, .turn = sim->next.turn};
    s->h = h;
    if (pp_sim_blame_undefined(sim, &s->end)) {
        return PERP_ERR_NUMERIC;
    }
    report_events(sim);
    return reserve_events(sim, sim->flown.contacts);
}

// All of it counts as integration but the certificate.
perp_status pp_sim_event_step(perp_sim *sim, double h)
{
    double clock = pp_seconds();
    pp_arena_reset(sim->scratch);
    sim->flown = (pp_hybrid_result){0};
    perp_status status = fly(sim, h);
    sim->info.seconds[PERP_STAGE_INTEGRATE] = pp_seconds() - clock;
    if (status >= 0) {
        clock = pp_seconds();
        status = certify_event(sim);
        sim->info.seconds[PERP_STAGE_CERTIFY] = pp_seconds() - clock;
    }
    if (status >= 0 && pp_stopped(&sim->env)) {
        status = PERP_ERR_STOPPED;
    }
    if (status < 0) {
        sim->flown.events = 0;
        sim->flown.joint = NULL;
    }
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

// Sums over the step; nothing where the step failed.
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

// Drive of a body that is not free: the opposite of what contacts, joints and force elements do to it,
// about its centre of mass at the end of the step.
perp_wrench pp_sim_event_drive(const perp_sim *sim, int body)
{
    const perp_model *m = sim->model;
    const pp_hybrid_result *r = &sim->flown;
    perp_vec3 origin = sim->frames[body].p;
    perp_wrench out = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < r->contacts; i++) {
        const pp_contact_sum *s = &r->contact[i];
        bool on_a = m->shape[s->a].body == body, on_b = m->shape[s->b].body == body;
        if (!on_a && !on_b) {
            continue;
        }
        double sign = on_a ? 1.0 : -1.0;  // impulses are on b
        // m_W is about the origin of W: moved to the centre of mass
        perp_vec3 tau = pp_sub(s->m_W, pp_cross(origin, s->p_W));
        out.f_W = pp_along(out.f_W, sign, s->p_W);
        out.tau_W = pp_along(out.tau_W, sign, tau);
    }
    if (!r->joint) {
        return out;
    }
    out.f_W = pp_sub(out.f_W, r->held[body].f_W);
    out.tau_W = pp_sub(out.tau_W, r->held[body].tau_W);
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (pp_joint_couples(j) || (j->a != body && j->b != body)) {
            continue;
        }
        double sign = j->a == body ? 1.0 : -1.0;
        const perp_wrench *w = &r->joint[i].on_b;
        perp_vec3 arm = pp_sub(sim->frames[j->b].p, origin);
        out.f_W = pp_along(out.f_W, sign, w->f_W);
        out.tau_W = pp_along(out.tau_W, sign, pp_add(w->tau_W, pp_cross(arm, w->f_W)));
    }
    return out;
}
