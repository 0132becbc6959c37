// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The theta method in space: what a step is written with depends on where it ends.            theory (S9)
//
//   R J R^T omega = R_l J R_l^T omega_l + (all angular impulses, in world axes),   R = D R_l
//
// The inertia is that of the end, so that impulses are of the world and stay there; there is no gyroscopic
// impulse, the change of the inertia is it. D is found body by body from the angular impulse of the last round.
// Joints and contacts act in the middle of the step (S11), (S12). All of it depends on the velocities at the end: the
// caller (sim/step/solve.c) iterates, and each function here works with those of the round before, `nu`.
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// Bodies whose inertia in world axes changes with their rotation.
static bool turns(const pp_body *body)
{
    return body->nv > 0 && body->kind == PERP_BODY_SPATIAL;
}

// The rotational part of nu, or of an impulse, of a body of space.
static perp_vec3 spin_of(const pp_body *body, const double *nu)
{
    return pp_vec(nu[body->at + 3], nu[body->at + 4], nu[body->at + 5]);
}

// share: part of the step, 1 for its end.
pp_advance pp_sim_advance(const perp_sim *sim, double h, double share)
{
    double theta = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN ? sim->def.theta : 1.0;
    return (pp_advance){.h = h, .share = share, .theta = theta, .how = sim->def.rotation};
}

// Angular impulse on a body in world axes [N m s]: the change of its angular momentum with the
// velocities of the answer; before there is one, that of the forces.
static perp_vec3 push_on(const perp_sim *sim, int i)
{
    const pp_step *s = &sim->step;
    const pp_body *body = &sim->model->body[i];
    if (!s->answer.nu) {
        return spin_of(body, s->push_l);
    }
    return pp_sub(pp_mul(&s->kin.mass[i].I, spin_of(body, s->answer.nu)),
                  pp_mul(&s->mass_l[i].I, spin_of(body, sim->now.nu)));
}

// Inertia at the end of the step in kin->mass, and in kin->loads the impulse of the forces plus
// (M_l - M) nu_l, so that (P1) with the new M has the old momentum. change: of M nu_l against the
// round before.
perp_status pp_sim_masses_at_end(perp_sim *sim, double h, double *change)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    *change = 0.0;
    if (!s->mass_l) {  // first round: kin still has masses and forces of the start, which are kept
        s->mass_l = PP_ARRAY(sim->arena, pp_inertia, m->bodies);
        s->push_l = PP_ARRAY(sim->arena, double, m->nv);
        if (!s->mass_l || !s->push_l) {
            return PERP_ERR_MEMORY;
        }
        memcpy(s->mass_l, s->kin.mass, (size_t)m->bodies * sizeof *s->mass_l);
        memcpy(s->push_l, s->kin.loads.p_ext, (size_t)m->nv * sizeof *s->push_l);
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *f = &s->kin.poses.body[i];
        if (!turns(body)) {
            continue;
        }
        perp_vec3 before = spin_of(body, sim->now.nu), was = pp_mul(&s->kin.mass[i].I, before);
        perp_quat rot = pp_turn_of(&body->I_B, f->rot, before, push_on(sim, i), h, sim->def.theta,
                                   sim->def.rotation);
        pp_mat3 R = pp_quat_matrix(rot);
        s->kin.mass[i].I = pp_turn_tensor(&R, &body->I_B);
        s->kin.mass[i].inverse_I = pp_turn_tensor(&R, &body->inverse_IB);
        perp_vec3 now = pp_mul(&s->kin.mass[i].I, before), off = pp_sub(now, was);
        perp_vec3 carried = pp_sub(pp_mul(&s->mass_l[i].I, before), now);
        // carried = (I_l - I) omega_l
        double *p = s->kin.loads.p_ext + body->at + 3, *own = s->push_l + body->at + 3;
        p[0] = own[0] + carried.x;
        p[1] = own[1] + carried.y;
        p[2] = own[2] + carried.z;
        double size = pp_dot3(now, now);
        *change = fmax(*change, size > 0.0 ? sqrt(pp_dot3(off, off) / size) : 0.0);
    }
    return PERP_OK;
}

// Frames after a share of the step that ends with nu, in the memory of sim->next, which is free
// until positions are found. Velocities in them are those of the start. NULL: out of memory.
static pp_frame *frames_at(perp_sim *sim, const double *nu, double h, double share)
{
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    pp_advance by = pp_sim_advance(sim, h, share);
    pp_integrate(&sim->next, m, &sim->now, nu, &by);
    memcpy(sim->next.nu, sim->now.nu, (size_t)m->nv * sizeof *nu);
    if (body) {
        pp_frames(m, &sim->next, body);
    }
    return body;
}

// Omega of (S9) is not exactly (1 - theta) omega_l + theta omega: theta times this velocity is the
// difference.
static perp_vec3 beyond(const perp_sim *sim, int i, const double *nu, double h)
{
    const pp_body *body = &sim->model->body[i];
    double theta = sim->def.theta;
    perp_vec3 before = spin_of(body, sim->now.nu), after = spin_of(body, nu);
    perp_vec3 rate = pp_turn_rate(before, after, h, theta, sim->def.rotation);
    return pp_sub(pp_scale(1.0 / theta, pp_along(rate, theta - 1.0, before)), after);
}

// Joints without contacts hold for the velocities of the way, the first of (S11), and do no work.
// Divided by theta, so that the row has J nu with factor 1.
static void hold_on_the_way(perp_sim *sim, const double *nu, double h)
{
    const perp_model *m = sim->model;
    double theta = sim->def.theta;
    for (int r = 0; r < sim->step.row.nb; r++) {
        pp_row *row = &sim->step.row.b[r];
        if (!row->middle) {
            continue;
        }
        double before = pp_row_rate(m, row, sim->now.nu);
        double off = sim->unfit ? 0.0 : row->value / sim->pace;
        row->bias = ((1.0 - theta) * before + off) / theta;
        if (theta == 1.0) {
            continue;
        }
        for (int k = 0; k < row->count; k++) {
            if (turns(&m->body[row->body[k]])) {
                perp_vec3 d = beyond(sim, row->body[k], nu, h);
                row->bias += row->J[k][3] * d.x + row->J[k][4] * d.y + row->J[k][5] * d.z;
            }
        }
    }
}

// Joints beside contacts act in the middle and hold for the velocities at the end, the second of
// (S11): the difference of the two rates, W(q)' nu - W(q_m)' nu, goes into the bias from the round
// before, so that the matrix stays symmetric. The first of (S11) was tried beside contacts as well:
// the sign of a velocity across the joint changes in every step, contact laws make that grow, and a
// bicycle falls over.
static perp_status hold_at_end(perp_sim *sim, pp_scheme scheme, pp_frame *last_body,
                               const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    pp_gaps none = {0};
    pp_rows last;
    pp_poses end = s->kin.poses;
    end.body = last_body;
    end.turned = false;
    end.t += h;
    perp_status status = pp_rows_run(&last, m, &s->kin, &end, &none, scheme, NULL, sim->arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < s->row.nb; i++) {
        pp_row *row = &s->row.b[i];
        if (row->middle) {
            row->bias += pp_row_rate(m, &last.b[i], nu) - pp_row_rate(m, row, nu);
        }
    }
    return status;
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// Contacts in the middle or at the end of the step.
typedef struct contact_places {
    pp_poses poses;
    pp_gaps gaps;
} contact_places;

// Frames for contacts: bodies that are not free have the velocities that contacts know, (P23). NULL: out of memory.
static pp_frame *frames_for_contacts(perp_sim *sim, const pp_frame *from)
{
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!body) {
        return NULL;
    }
    for (int i = 0; i < m->bodies; i++) {
        body[i] = from[i];
        if (m->body[i].nv == 0) {
            body[i].v = sim->step.kin.given[i].v_W;
            body[i].w = sim->step.kin.given[i].w_W;
        }
    }
    return body;
}

// Where the contacts of a pair begin among detected ones, which are sorted by pairs: bisection.
static int first_of(const pp_gaps *gaps, int from, int a, int b)
{
    int to = gaps->count;
    while (from < to) {
        int middle = from + (to - from) / 2;
        const pp_contact *c = &gaps->contact[middle];
        if (c->a < a || (c->a == a && c->b < b)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

// Whether a point found elsewhere is that of another contact of the pair, by its feature: two contacts are never one.
static bool is_of_another(const perp_sim *sim, const pp_contact *was, const pp_contact *found)
{
    const pp_gaps *gaps = &sim->step.gap;
    int listed = sim->model->listed < gaps->count ? sim->model->listed : gaps->count;
    for (int k = first_of(gaps, listed, was->a, was->b); k < gaps->count; k++) {
        const pp_contact *c = &gaps->contact[k];
        if (c->a != was->a || c->b != was->b) {
            break;
        }
        if (c->feature == found->feature && c->feature != was->feature) {
            return true;
        }
    }
    return false;
}

// The contact `was` among those found elsewhere: the same feature, or the nearest point of the pair
// with its normal, where a rim is described by several points. False: it was on an edge that is
// none there, is gone, or has turned too far. The tangent is the old one, projected across the new
// normal.
static bool find_again(const perp_sim *sim, const pp_gaps *gaps, const pp_contact *was,
                       pp_contact *out)
{
    const pp_contact *best = NULL;
    double least = HUGE_VAL;
    int listed = sim->model->listed < gaps->count ? sim->model->listed : gaps->count;
    // Listed contacts come first, in no order of pairs; the others behind them are sorted.
    int from = was->listed >= 0 ? 0 : first_of(gaps, listed, was->a, was->b);
    for (int k = from; k < gaps->count; k++) {
        const pp_contact *c = &gaps->contact[k];
        if (c->a != was->a || c->b != was->b || c->listed != was->listed) {
            if (was->listed < 0) {
                break;
            }
            continue;
        }
        bool same = c->listed >= 0 || c->feature == was->feature;
        bool near = same || (pp_length(pp_sub(c->n, was->n)) < 1e-9 && !is_of_another(sim, was, c));
        double off = same ? -1.0 : pp_length(pp_sub(c->point, was->point));  // same: before all
        if (near && off < least) {
            best = c;
            least = off;
        }
    }
    if (!best) {
        return false;
    }
    *out = *was;
    out->point = best->point;
    out->n = best->n;
    // friction rows keep their direction, as impulses of the last round are along it
    perp_vec3 t = pp_along(was->t, -pp_dot3(was->t, out->n), out->n);
    out->t = pp_unit(t, was->t);
    return pp_dot3(t, t) > 0.25 && pp_dot3(out->n, was->n) > 0.5;
}

// Whether the normal goes along with one of the two bodies: that body is flat there. Between two
// round surfaces, or on the way over an edge, it does not.
static bool stays_flat(const perp_sim *sim, const pp_frame *body, const pp_contact *was,
                       const pp_contact *now)
{
    const pp_frame *start = sim->step.kin.poses.body;
    const int of[2] = {sim->model->shape[was->a].body, sim->model->shape[was->b].body};
    bool flat = false;
    for (int k = 0; k < 2; k++) {
        perp_vec3 carried = pp_mul(&body[of[k]].R, pp_mul_t(&start[of[k]].R, was->n));
        flat = flat || pp_length(pp_sub(carried, now->n)) < 1e-9;
    }
    return flat;
}

// Row n and its friction rows in the middle of the step, their law at its end, (S12): the
// difference of the two rates goes into the row's rate, from the round before. Contacts that
// bounce, edges, surfaces that move by themselves and axes chosen for the step are taken where they
// were found.
static void take_contact(perp_sim *sim, const contact_places *at, const contact_places *end, int n,
                         const double *nu)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    const pp_contact *was = &s->gap.contact[s->row.contact[n]];
    pp_contact now, last;
    pp_row rows[PP_CONTACT_ROWS], ends[PP_CONTACT_ROWS];
    bool plain =
        was->restitution == 0.0 && !was->aimed && pp_dot3(was->surface, was->surface) == 0.0;
    if (!plain || !find_again(sim, &at->gaps, was, &now) ||
        !find_again(sim, &end->gaps, &now, &last) || !stays_flat(sim, at->poses.body, was, &now) ||
        !stays_flat(sim, end->poses.body, was, &last)) {
        return;
    }
    s->acted[s->row.contact[n]] = now;
    // rows in the middle, where impulses act, and at the end, where the law holds
    int count = pp_contact_rows_at(m, &at->poses, &now, &s->row, n, rows);
    pp_contact_rows_at(m, &end->poses, &last, &s->row, n, ends);
    for (int k = 0; k < count; k++) {
        const pp_friction *group = k > 0 ? &s->row.group[s->row.friction[n]] : NULL;
        pp_row *to = group ? &s->row.t[group->t + k - 1] : &s->row.n[n];
        to->count = rows[k].count;
        memcpy(to->body, rows[k].body, sizeof to->body);
        memcpy(to->J, rows[k].J, sizeof to->J);
        to->shift = pp_row_rate(m, &ends[k], nu) - pp_row_rate(m, &rows[k], nu);
        to->rate = rows[k].rate + to->shift;
        to->middle = true;
    }
}

// Contacts of given frames, as far away as the step has any.
static perp_status find_there(perp_sim *sim, const pp_frame *body, contact_places *out)
{
    out->poses = sim->step.middle;
    out->poses.body = frames_for_contacts(sim, body);
    // contacts of the step that have opened meanwhile are still to be found
    double reach = 0.0;
    for (int i = 0; i < sim->step.gap.count; i++) {
        reach = fmax(reach, sim->step.gap.contact[i].gap);
    }
    if (!out->poses.body) {
        return PERP_ERR_MEMORY;
    }
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_GAP);
    pp_gap_search search = {.margin = reach + pp_gap_margin(sim->model, sim->def.margin),
                            .team = &sim->team};
    perp_status status = pp_gaps_run(&out->gaps, sim->model, &out->poses, search, sim->arena);
    pp_sim_charge(sim, stage);
    return status;
}

// s->acted: all contacts as they act, for the certificate and the report; those that are not moved
// stay as found.
static perp_status take_contacts(perp_sim *sim, const pp_frame *end_body, const double *nu)
{
    pp_step *s = &sim->step;
    contact_places at, end;
    s->acted = PP_ARRAY(sim->arena, pp_contact, s->gap.count);
    if (!s->acted) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = find_there(sim, s->middle.body, &at);
    if (status < 0) {
        return status;
    }
    status = find_there(sim, end_body, &end);
    if (status < 0) {
        return status;
    }
    if (s->gap.count > 0) {
        memcpy(s->acted, s->gap.contact, (size_t)s->gap.count * sizeof *s->acted);
    }
    for (int n = 0; n < s->row.nc; n++) {
        take_contact(sim, &at, &end, n, nu);
    }
    return PERP_OK;
}

perp_status pp_sim_middle_rows(perp_sim *sim, pp_scheme scheme, const double *nu, double h)
{
    pp_step *s = &sim->step;
    s->middle = s->kin.poses;
    s->middle.body = frames_at(sim, nu, h, 0.5);
    s->middle.turned = false;
    if (!s->middle.body) {
        return PERP_ERR_MEMORY;
    }
    s->acted = NULL;
    s->middle.t += 0.5 * h;
    perp_status status = pp_rows_run(&s->row, sim->model, &s->kin, &s->middle, &s->gap, scheme,
                                     &sim->team, sim->arena);
    if (status < 0) {
        return status;
    }
    pp_frame *end = frames_at(sim, nu, h, 1.0);
    if (!end) {
        return PERP_ERR_MEMORY;
    }
    if (s->row.nc > 0) {
        status = hold_at_end(sim, scheme, end, nu, h);
    } else {
        hold_on_the_way(sim, nu, h);
    }
    // In the plane, and where the rounds did not converge (stay), contacts act where the step starts.
    bool retaken = sim->model->spatial && !s->stay && s->row.nc > 0;
    return status < 0 || !retaken ? status : take_contacts(sim, end, nu);
}

double pp_sim_relative_change(const perp_sim *sim, const double *last, double size)
{
    double off = 0.0;
    for (int i = 0; i < sim->model->nv; i++) {
        off = fmax(off, fabs(sim->step.answer.nu[i] - last[i]));
    }
    return size > 0.0 ? off / size : off;
}

void pp_sim_record_midpoint_error(perp_sim *sim, double off, double size)
{
    sim->step.middle_off = off * size;
    sim->step.middle_size = size;
    if (off > PP_MIDDLE_LOST) {
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "the midpoint iteration did not converge, velocities have a relative error of "
                 "%.1e: use a smaller step",
                 off);
    }
}
