// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts, joints and drives of the last step, as a user reads them: impulses in world axes, of contacts on shape b, of
// joints on body b about its centre of mass. Warm starts of the next step are made alongside.
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

// Below this speed a contact that carries load sticks [m/s].
static const double STILL = 1e-9;

// Adds the impulse and slip of a group of friction rows, in world axes. The slip is that of the
// bodies: without the bias that holds a sticking contact (P17), and without the factors of
// anisotropic rows.
static void report_friction(const perp_sim *sim, const pp_contact *c, const pp_friction *group,
                            perp_contact *out)
{
    const pp_step *s = &sim->step;
    const double *pt = s->answer.pt + group->t;
    const pp_row *row = &s->row.t[group->t];
    perp_vec3 o = pp_cross(c->n, c->t);
    double slip[2], second = group->size == 2 ? pt[1] : 0.0;
    pp_friction_slip(sim->model, &s->row, group, s->answer.nu, slip);
    if (group->kind == PP_SLIDE) {
        // rows of anisotropic friction are scaled by mu_2 / mu: the impulse has the factor, the
        // rate is divided by it
        double scale[2] = {1.0, 1.0};
        if (group->size == 2) {
            pp_friction_scales(c, scale);
        }
        double along = scale[0] > 0.0 ? (slip[0] - row[0].bias) / scale[0] : 0.0;
        double across =
            group->size == 2 && scale[1] > 0.0 ? (slip[1] - row[1].bias) / scale[1] : 0.0;
        out->pf_W = pp_along(pp_scale(scale[0] * pt[0], c->t), scale[1] * second, o);
        out->slip_W = pp_along(pp_scale(along, c->t), across, o);
        out->slip = group->size == 1 ? along : pp_length2(along, across);
    } else if (group->kind == PP_SPIN) {
        out->moment_W = pp_along(out->moment_W, pt[0], c->n);
    } else {
        out->moment_W = pp_along(pp_along(out->moment_W, pt[0], c->t), second, o);
    }
    // sliding and rolling have the same polygon; torsion has none
    out->facets = group->kind == PP_SPIN ? out->facets : group->facets;
}

// The contact of normal row i, where it acted (theta method: in the middle of the step).
static perp_contact contact_of_row(const perp_sim *sim, int i)
{
    const pp_step *s = &sim->step;
    const pp_contact *c = &(s->acted ? s->acted : s->gap.contact)[s->row.contact[i]];
    perp_contact out = {.a = {c->a},
                        .b = {c->b},
                        .feature = c->feature,
                        .point_W = c->point,
                        .normal_W = c->n,
                        .tangent_W = c->t,
                        .gap = c->gap,
                        .mu = c->mu,
                        .restitution = c->restitution,
                        .pn = s->answer.pn[i]};
    out.rate_n = pp_row_rate(sim->model, &s->row.n[i], s->answer.nu);
    out.hold_W = pp_sim_stick_rate(sim, i);
    bool slides = true;
    for (int g = 0; g < s->row.grouped[i]; g++) {
        const pp_friction *group = &s->row.group[s->row.friction[i] + g];
        report_friction(sim, c, group, &out);
        // a contact that works off drift (P17) creeps, by a rate that is not slip
        double still = pp_length(pp_add(out.slip_W, out.hold_W));
        slides = slides && (group->kind != PP_SLIDE || still > STILL);
    }
    // A contact without friction that carries load counts as slipping.
    out.mode = PERP_CONTACT_OPEN;
    if (out.pn > 0.0) {
        out.mode = slides ? PERP_CONTACT_SLIP : PERP_CONTACT_STICK;
    }
    return out;
}

// Room for contacts and warm starts, doubled, so that a steady state allocates nothing. Old ones
// are not kept.
static perp_status reserve_contacts(perp_sim *sim, int count)
{
    // both or none, so that one capacity holds for both
    if (count > sim->contact_capacity) {
        perp_contact *contacts = pp_alloc(&sim->env, 2 * (size_t)count * sizeof *contacts);
        pp_warm *warm = pp_alloc(&sim->env, 2 * (size_t)count * sizeof *warm);
        if (!contacts || !warm) {
            pp_free(&sim->env, contacts, 2 * (size_t)count * sizeof *contacts);
            pp_free(&sim->env, warm, 2 * (size_t)count * sizeof *warm);
            return PERP_ERR_MEMORY;
        }
        pp_free(&sim->env, sim->contacts, (size_t)sim->contact_capacity * sizeof *contacts);
        pp_free(&sim->env, sim->warm, (size_t)sim->warm_capacity * sizeof *warm);
        sim->contacts = contacts;
        sim->warm = warm;
        sim->contact_capacity = sim->warm_capacity = 2 * count;
    }
    return PERP_OK;
}

// What the next step starts from at this point: impulses, and the drift that it holds (P17).
static pp_warm warm_of(const perp_sim *sim, int i, pp_pair_hold *pair)
{
    const pp_step *s = &sim->step;
    perp_vec3 hold = pp_sim_stick_offset_next(sim, i, pair);
    const pp_contact *c = &s->gap.contact[s->row.contact[i]];
    // of the contact as found, not where it acted: the next step finds it by shapes, feature and place
    perp_vec3 point = pp_sim_contact_place(sim, c);
    pp_warm warm = {.a = c->a,
                    .b = c->b,
                    .feature = c->feature,
                    .listed = c->listed,
                    .locked = pp_sim_stays_locked(sim, i),
                    .pn = s->answer.pn[i],
                    .hold = {hold.x, hold.y, hold.z},
                    .point = {point.x, point.y, point.z}};
    for (int g = 0; g < s->row.grouped[i]; g++) {
        const pp_friction *group = &s->row.group[s->row.friction[i] + g];
        for (int k = 0; k < group->size; k++) {
            warm.pt[warm.count++] = s->answer.pt[group->t + k];
        }
    }
    return warm;
}

// Contacts from..to, for one thread: each writes its own.
static void report_some(void *arg, int from, int to)
{
    perp_sim *sim = arg;
    pp_pair_hold pair = {.a = -1, .b = -1};
    for (int i = from; i < to; i++) {
        sim->contacts[i] = contact_of_row(sim, i);
        sim->warm[i] = warm_of(sim, i, &pair);
    }
}

// Impulses of limits and boxed rows, which the next step starts from.
static void keep_row_impulses(perp_sim *sim)
{
    const pp_rows *rows = &sim->step.row;
    memset(sim->warm_rows, 0, pp_warm_rows(sim->model) * sizeof *sim->warm_rows);
    for (int i = 0; i < rows->nm; i++) {
        sim->warm_rows[pp_sim_boxed_place(sim->model, rows, i)] = sim->step.answer.pm[i];
    }
    for (int i = rows->nc; i < rows->nn; i++) {
        sim->warm_rows[pp_sim_limit_place(rows, i)] = sim->step.answer.pn[i];
    }
}

// Contacts and warm starts, in the order of their rows. The lists grow first: a step without memory fails before it has
// changed anything.
perp_status pp_sim_report(perp_sim *sim)
{
    enum { GRAIN = 128 };
    const pp_step *s = &sim->step;
    perp_status status = reserve_contacts(sim, s->row.nc);
    if (status < 0) {
        return status;
    }
    // contacts beyond those in the problem carry nothing and are not reported
    sim->contact_count = sim->warm_count = s->row.nc;
    pp_team_share(&sim->team, s->row.nc, GRAIN, report_some, sim);
    keep_row_impulses(sim);
    return PERP_OK;
}

// An arena of its own: the sim is const, and its own arena holds the last step.
perp_status perp_sim_active_set(const perp_sim *sim, int *columns, int *rank)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const pp_step *s = &sim->step;
    if (!s->solved || !columns || !rank) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = pp_arena_create(&sim->env);
    perp_status status =
        arena ? pp_active_set(&s->answer, sim->model, &s->kin, &s->row, arena, columns, rank)
              : PERP_ERR_MEMORY;
    pp_arena_destroy(arena);
    return status;
}

perp_status perp_sim_load_range(const perp_sim *sim, int contact, double *least, double *most)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const pp_step *s = &sim->step;
    if (!s->solved || contact < 0 || contact >= s->row.nc || !least || !most) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = pp_arena_create(&sim->env);
    pp_solve_cache cache = {.env = &sim->env};
    // the impulse found is in the range, whatever else is
    double range[2] = {s->answer.pn[contact], s->answer.pn[contact]};
    perp_status status = arena ? pp_load_range(&s->answer, sim->model, &s->kin, &s->row, contact,
                                               &cache, arena, range)
                               : PERP_ERR_MEMORY;
    pp_arena_destroy(arena);
    *least = range[0];
    *most = range[1];
    return status;
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Impulse of a row on one body, J' p, added to a wrench about its centre of mass.
static void add_impulse(const perp_model *m, const pp_row *row, double p, int body, perp_wrench *w)
{
    double *parts[PP_BODY_NV] = {&w->f_W.x,   &w->f_W.y,   &w->f_W.z,
                                 &w->tau_W.x, &w->tau_W.y, &w->tau_W.z};
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        if (row->body[k] != body) {
            continue;
        }
        for (int v = 0; v < b->nv; v++) {
            *parts[b->axis[v]] += p * row->J[k][v];
        }
    }
}

// The opposite of a wrench on body `from`, about the origin of body `to`.
static perp_wrench reaction_wrench(const pp_poses *at, perp_wrench w, int from, int to)
{
    perp_vec3 arm = pp_sub(at->body[from].p, at->body[to].p);
    perp_vec3 tau = pp_add(w.tau_W, pp_cross(arm, w.f_W));
    return (perp_wrench){pp_scale(-1.0, w.f_W), pp_scale(-1.0, tau)};
}

// The opposite of what a joint does to one of its bodies. A joint that is a little open pushes each
// body at its own anchor; one whose directions turn with a, both at b's anchor. The difference is
// the moment of the force over the opening.
static perp_wrench joint_reaction(const pp_poses *at, const pp_joint *j, perp_wrench w, int from,
                                  int to)
{
    perp_wrench opposite = reaction_wrench(at, w, from, to);
    if (j->kind == PERP_JOINT_REVOLUTE || j->kind == PERP_JOINT_SPHERICAL ||
        j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD) {
        perp_vec3 anchor_a = pp_point(&at->body[j->a], j->r_A);
        perp_vec3 open = pp_sub(pp_point(&at->body[j->b], j->r_B), anchor_a);
        double sign = to == j->b ? 1.0 : -1.0;
        opposite.tau_W = pp_along(opposite.tau_W, sign, pp_cross(open, opposite.f_W));
    }
    return opposite;
}

// Frames where the joints of the step act: in the middle with the theta method.
static const pp_poses *acting(const pp_step *s)
{
    return s->middle.body ? &s->middle : &s->kin.poses;
}

// Coordinates are those of now; impulses those of the last step, summed over its parts where it was divided.
perp_joint_state perp_sim_joint(const perp_sim *sim, perp_joint joint)
{
    if (!sim) {
        return (perp_joint_state){0};
    }
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    perp_joint_state out = {0};
    if (joint.i < 0 || joint.i >= m->joints) {
        return out;
    }
    pp_row row;
    pp_poses now = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    pp_joint_coordinate(m, &now, joint.i, &row);
    out.coordinate = row.value;
    out.rate = row.v_pre;
    out.error = pp_joint_error(m, &now, joint.i);
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        pp_sim_event_joint(sim, joint.i, &out);
    }
    if (sim->parts.done) {
        const perp_joint_state *sum = &sim->parts.joint[joint.i];
        out.impulse_b = sum->impulse_b;
        out.drive = sum->drive;
        out.limit = sum->limit;
        out.redundant = sum->redundant;
        return out;
    }
    if (!s->solved) {
        return out;
    }
    // Rows hold free bodies only: where b is not free, its impulse is the opposite of that of a.
    int a = m->joint[joint.i].a, b = m->joint[joint.i].b;
    bool from_a = m->body[b].nv == 0;
    perp_wrench sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const pp_rows *rows = &s->row;
    int on = from_a ? a : b;
    for (int i = pp_rows_of_joint(rows->b, 0, rows->nb, joint.i);
         i < rows->nb && rows->b[i].joint == joint.i; i++) {
        add_impulse(m, &rows->b[i], s->answer.pb[i], on, &sum);
        out.drive += rows->b[i].drives ? s->answer.pb[i] : 0.0;
        out.redundant = out.redundant || s->answer.follows[i];
    }
    for (int i = pp_rows_of_joint(rows->m, 0, rows->nm, joint.i);
         i < rows->nm && rows->m[i].joint == joint.i; i++) {
        add_impulse(m, &rows->m[i], s->answer.pm[i], on, &sum);
        out.drive += s->answer.pm[i];
    }
    for (int i = pp_rows_of_joint(rows->n, rows->nc, rows->nn, joint.i);
         i < rows->nn && rows->n[i].joint == joint.i; i++) {
        add_impulse(m, &rows->n[i], s->answer.pn[i], on, &sum);
        out.limit += s->answer.pn[i];
    }
    // the wrench of a gear is on four bodies: no reaction is reported for one that is not free
    bool gear = pp_joint_couples(&m->joint[joint.i]);
    out.impulse_b =
        from_a && !gear ? joint_reaction(acting(s), &m->joint[joint.i], sum, a, b) : sum;
    return out;
}

// ── Driven bodies ────────────────────────────────────────────────────────────────────────────────

// Adds what the joints and the implicit springs do to a body that is not free. Gears are left out:
// their rows hold four bodies.
static void add_held(const perp_sim *sim, int body, perp_wrench *sum)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (pp_joint_couples(j) || (j->a != body && j->b != body)) {
            continue;
        }
        perp_wrench on_b = perp_sim_joint(sim, (perp_joint){i}).impulse_b;
        perp_wrench w = j->b == body ? on_b : joint_reaction(acting(s), j, on_b, j->b, j->a);
        sum->f_W = pp_add(sum->f_W, w.f_W);
        sum->tau_W = pp_add(sum->tau_W, w.tau_W);
    }
    // implicit springs are rows with row->force; the other end is free, or there would be no row
    for (int i = 0; i < s->row.nb; i++) {
        const pp_row *row = &s->row.b[i];
        const pp_force *f = row->force >= 0 ? &m->force[row->force] : NULL;
        if (f && (f->kind != PERP_FORCE_DRAG || f->a > 0) && (f->a == body || f->b == body)) {
            int other = f->a == body ? f->b : f->a;
            perp_wrench w = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
            add_impulse(m, row, s->answer.pb[i], other, &w);
            w = reaction_wrench(&s->kin.poses, w, other, body);
            sum->f_W = pp_add(sum->f_W, w.f_W);
            sum->tau_W = pp_add(sum->tau_W, w.tau_W);
        }
    }
}

// The drive balances what contacts, joints and springs do to a body that is not free: the opposite
// of their sum.
perp_wrench perp_sim_body_drive_impulse(const perp_sim *sim, perp_body body)
{
    if (!sim) {
        return (perp_wrench){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    perp_wrench out = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    bool held = body.i >= 0 && body.i < m->bodies && m->body[body.i].nv == 0;
    if (held && sim->def.stepper == PERP_STEPPER_EVENT) {
        return pp_sim_event_drive(sim, body.i);
    }
    if (held && sim->parts.done) {
        return sim->parts.driven[body.i];
    }
    if (!held || !s->solved) {
        return out;
    }
    // kin.loads.held: explicit forces on bodies that are not free
    perp_vec3 origin = s->kin.poses.body[body.i].p;
    out = s->kin.loads.held[body.i];
    add_held(sim, body.i, &out);
    // the drive supplies the opposite of what joints, springs and forces do to the body
    out = (perp_wrench){pp_scale(-1.0, out.f_W), pp_scale(-1.0, out.tau_W)};
    for (int i = 0; i < sim->contact_count; i++) {
        const perp_contact *c = &sim->contacts[i];
        bool on_a = m->shape[c->a.i].body == body.i, on_b = m->shape[c->b.i].body == body.i;
        if (!on_a && !on_b) {
            continue;
        }
        // contact impulses are on b; the drive of b opposes them, that of a is along them
        double sign = on_a ? 1.0 : -1.0;
        perp_vec3 p = pp_scale(sign, pp_along(c->pf_W, c->pn, c->normal_W));
        out.f_W = pp_add(out.f_W, p);
        out.tau_W = pp_add(out.tau_W, pp_cross(pp_sub(c->point_W, origin), p));
        out.tau_W = pp_along(out.tau_W, sign, c->moment_W);
    }
    return out;
}
