// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine at one instant: rows of all holds in joint coordinates, with their drift.
//                                                                                 theory (H2), (H6)
//
//   phi_dd = J qdd + drift
//
// The drift of joints is exact. That of contacts is the derivative of their rates along the motion
// with qdd = 0, by central differences of fourth order: contact points move over both surfaces, and
// differences account for this for every pair of shapes. Rims on planes have theirs in closed form
// (rim_drift.c).
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

// Column j of a matrix with the given number of rows.
static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

// ── Lists of holds ───────────────────────────────────────────────────────────────────────────────

// Doubling keeps the cost of n additions proportional to n.
void *pp_list_grow(void *list, int count, int *room, size_t size, pp_arena *arena)
{
    if (count < *room) {
        return list;
    }
    int larger = 2 * *room + 8;
    void *more = pp_arena_array(arena, (size_t)larger, size);
    if (!more) {
        return NULL;
    }
    if (count > 0) {
        memcpy(more, list, (size_t)count * size);
    }
    *room = larger;
    return more;
}

pp_hold *pp_holds_add(pp_holds *holds, pp_hold hold, pp_arena *arena)
{
    pp_hold *list = pp_list_grow(holds->hold, holds->count, &holds->room, sizeof *list, arena);
    if (!list) {
        return NULL;
    }
    holds->hold = list;
    holds->hold[holds->count] = hold;
    return &holds->hold[holds->count++];
}

double pp_hold_epsilon(const pp_machine *machine, const pp_hold *hold)
{
    bool may = hold->kind == PP_HOLD_TARGET || hold->kind == PP_HOLD_RATE;
    return may ? machine->model->joint[hold->joint].epsilon : 0.0;
}

double pp_hold_decayed(const pp_machine *machine, const pp_hold *hold, double dt, double value,
                       double rate)
{
    double eps = pp_hold_epsilon(machine, hold), s = 1.0 + dt / eps;
    return hold->kind == PP_HOLD_TARGET ? (rate - dt * value / (eps * eps)) / (s * s) : rate / s;
}

void pp_instant_rates_to_remove(const pp_machine *machine, const pp_instant *instant,
                                const pp_holds *holds, double *b)
{
    memcpy(b, instant->rate, (size_t)instant->rows * sizeof *b);
    for (int i = 0; i < holds->count; i++) {
        if (pp_hold_epsilon(machine, &holds->hold[i]) > 0.0 && instant->size[i] > 0) {
            b[instant->at[i]] = 0.0;
        }
    }
}

// False: out of memory.
static bool add_joint(pp_holds *out, pp_hold_kind kind, int joint, pp_arena *arena)
{
    return pp_holds_add(out, pp_hold_of_joint(kind, joint), arena) != NULL;
}

perp_status pp_holds_start(pp_holds *out, const pp_machine *machine, pp_arena *arena)
{
    const perp_model *m = machine->model;
    *out = (pp_holds){0};
    for (int i = 0; i < machine->tree->loops; i++) {
        if (!add_joint(out, PP_HOLD_LOOP, machine->tree->loop[i], arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!pp_joint_has_coordinate(j)) {
            continue;
        }
        if (j->target && !add_joint(out, PP_HOLD_TARGET, i, arena)) {
            return PERP_ERR_MEMORY;
        }
        // A rate with a limited effort is a motor: its effort is boxed.
        pp_hold_kind kind = j->rate_effort < PP_INF ? PP_HOLD_MOTOR : PP_HOLD_RATE;
        if (j->rate && !add_joint(out, kind, i, arena)) {
            return PERP_ERR_MEMORY;
        }
        if (j->friction > 0.0 && !add_joint(out, PP_HOLD_DRY, i, arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// Rows of a contact: the normal, and with friction one tangent in the plane or two in space.
static int contact_size(const pp_machine *machine, const pp_contact *c)
{
    bool rough = pp_contact_mu(c) > 0.0 && !machine->options.frictionless;
    if (!rough) {
        return 1;
    }
    return machine->model->spatial ? 3 : 2;
}

// Rates along n, t, o as the frames move, with the surface speed in the tangents.       theory (H2)
static void contact_rates(const perp_model *m, const pp_frame *body, const pp_contact *c,
                          double rate[3])
{
    perp_vec3 d[3], v = pp_sub(pp_point_velocity(&body[m->shape[c->b].body], c->point),
                               pp_point_velocity(&body[m->shape[c->a].body], c->point));
    pp_contact_axes(c, d);
    for (int k = 0; k < 3; k++) {
        rate[k] = pp_dot3(d[k], v) + (k > 0 ? pp_dot3(d[k], c->surface) : 0.0);
    }
}

// One body's part of the rate d . v at a point. A body that is not dynamic gives a known rate.
static void add_side(const perp_model *m, const pp_frame *frame, int index, perp_vec3 point,
                     perp_vec3 d, pp_row *row)
{
    const pp_body *body = &m->body[index];
    if (body->nv == 0) {
        row->rate += pp_dot3(d, pp_point_velocity(&frame[index], point));
        return;
    }
    // J of the point velocity: d for v, (point - p) x d for w.
    perp_vec3 arm = pp_cross(pp_sub(point, frame[index].p), d);
    const double full[6] = {d.x, d.y, d.z, arm.x, arm.y, arm.z};
    row->body[row->count] = index;
    for (int k = 0; k < body->nv; k++) {
        row->J[row->count][k] = full[body->axis[k]];
    }
    row->count++;
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

// Row `at`, times sign: its gradient in joint coordinates, J^T, and its rate. scale is 1/sqrt of
// the row's mobility for bodies that nothing joins, see ties.c.
static void append_row(pp_instant *out, int at, const pp_row *row, double value, double sign)
{
    double *J = column(out->J, out->nv, at);
    double rate = pp_tree_row(&out->pass, row, J);
    for (int k = 0; k < out->nv; k++) {
        J[k] *= sign;
    }
    // The scale does not depend on the joints: it is 1/sqrt of the mobility of
    // the bodies by themselves.                                                        theory (J10)
    double mobility = pp_row_mobility(out->pass.tree->model, out->pass.mass, row);
    out->scale[at] = mobility > 0.0 ? 1.0 / sqrt(mobility) : 1.0;
    out->row[at] = *row;
    out->sign[at] = sign;
    out->value[at] = value;
    out->rate[at] = sign * rate + pp_dot(out->nv, J, out->qd);
}

// Rows d . (v_b - v_a) at the contact point along n, t, o. Surface speeds belong to the tangents
// only; the gap is the value of the normal row.                                         theory (H2)
static void contact_rows(const pp_machine *machine, int hold, pp_instant *out)
{
    const perp_model *m = machine->model;
    const pp_contact *c = &out->contact[hold];
    perp_vec3 d[3];
    pp_contact_axes(c, d);
    for (int k = 0; k < out->size[hold]; k++) {
        pp_row row = {.joint = -1, .force = -1};
        add_side(m, out->pass.body, m->shape[c->b].body, c->point, d[k], &row);
        add_side(m, out->pass.body, m->shape[c->a].body, c->point, pp_scale(-1.0, d[k]), &row);
        row.rate += k > 0 ? pp_dot3(d[k], c->surface) : 0.0;
        append_row(out, out->at[hold] + k, &row, k == 0 ? c->gap : 0.0, 1.0);
    }
}

// Rows of torsional or rolling friction; they have no value.
static void turn_rows(const pp_machine *machine, const pp_hold *hold, int i, pp_instant *out)
{
    for (int k = 0; k < out->size[i]; k++) {
        pp_row row;
        pp_turn_row(machine, out->pass.body, &out->contact[i], hold->kind, k, &row);
        append_row(out, out->at[i] + k, &row, 0.0, 1.0);
    }
}

// The row of a joint coordinate: limit, target, rate, motor or dry friction. Limits are
// signed so that their value and rate are those of a gap. Values of rates and dry friction
// are zero: they have no position.
static void coordinate_row(const pp_machine *machine, const pp_hold *hold, int at, pp_instant *out)
{
    const perp_model *m = machine->model;
    const pp_joint *j = &m->joint[hold->joint];
    pp_poses kin = {
        .t = out->t, .body = out->pass.body, .turn = machine->turn, .drive = machine->drive};
    const double one[1] = {1.0};
    double sign = 1.0, value = 0.0, rate = 0.0;
    pp_row row;
    pp_joint_coordinate(m, &kin, hold->joint, &row);
    // value and rate of the row are those of (coordinate - what it should follow).
    switch (hold->kind) {
    case PP_HOLD_LIMIT:
        sign = hold->sign;
        value = sign * (row.value - (sign > 0.0 ? j->lower : j->upper));
        break;
    case PP_HOLD_TARGET:
        value = row.value - pp_expr_rate(j->target, &out->t, one, &rate);
        break;
    case PP_HOLD_DRY:
        break;
    default:
        rate = pp_signal_value(j->rate, &kin);
    }
    row.rate -= rate;
    append_row(out, at, &row, value, sign);
}

// Rows of the joints that are not in the tree, from the rows of all joints. The stepper named here
// has no influence on rows of equations.
static perp_status loop_rows(const pp_machine *machine, pp_rows *rows, const pp_instant *out,
                             pp_arena *arena)
{
    const perp_model *m = machine->model;
    pp_gaps none = {0};
    pp_kinematics kin = {.poses = {.t = out->t,
                                   .body = out->pass.body,
                                   .turn = machine->turn,
                                   .drive = machine->drive},
                         .h = 1.0,
                         .mass = out->pass.mass,
                         .loads = {.p_ext = PP_ZEROS(arena, double, m->nv)}};
    pp_scheme scheme = {.stepper = PERP_STEPPER_ANITESCU_POTRA, .facets = 8};
    if (!kin.loads.p_ext) {
        return PERP_ERR_MEMORY;
    }
    return pp_rows_run(rows, m, &kin, &kin.poses, &none, scheme, NULL, arena);
}

// Rows of a joint's own equations, without its drives and springs, which are holds and forces here.
static bool is_joint_equation(const pp_row *row, int joint)
{
    return row->joint == joint && !row->drives && !row->spring;
}

// ── Drift ────────────────────────────────────────────────────────────────────────────────────────

// Second derivative of a given motion: fourth-order differences of the first, which is exact.
static double rate_of_rate(const pp_expr *expr, double t)
{
    const double s = 1e-4, one[1] = {1.0};
    double f[4];
    for (int k = 0; k < 4; k++) {
        double at = t + s * (k < 2 ? k - 2 : k - 1);
        pp_expr_rate(expr, &at, one, &f[k]);
    }
    return ((f[0] - f[3]) + 8.0 * (f[2] - f[1])) / (12.0 * s);
}

// Drift of the rows of a joint: J_dot qd less the second derivative of what the row should follow.
//                                                                                       theory (J6)
static void joint_drift(const pp_machine *machine, const pp_hold *hold, int at, int size,
                        pp_instant *out)
{
    const pp_joint *j = &machine->model->joint[hold->joint];
    const double one[1] = {1.0};
    double rate = 0.0, *drift = out->drift + at;
    if (size == 0) {
        return;
    }
    if (hold->kind == PP_HOLD_LOOP) {
        pp_joint_drift(&out->pass, hold->joint, drift);
        return;
    }
    *drift = pp_joint_coordinate_drift(&out->pass, hold->joint);
    // d/dt of the aim is subtracted as it was in the rate of the row.
    switch (hold->kind) {
    case PP_HOLD_LIMIT:
        *drift *= hold->sign;
        break;
    case PP_HOLD_TARGET:
        *drift -= rate_of_rate(j->target, out->t);
        break;
    case PP_HOLD_DRY:
        break;
    default:
        pp_expr_rate_in(j->rate, &out->t, machine->drive ? machine->drive->input : NULL, one,
                        &rate);
        *drift -= rate;
    }
}

// A time [s] in which nothing turns by more than 4e-4 rad, or moves by more than 4e-4
// of the machine's length.                                                              theory (H6)
static double short_time(const pp_machine *machine, const pp_frame *body)
{
    double fastest = 1.0;
    for (int i = 0; i < machine->model->bodies; i++) {
        fastest = fmax(fastest, pp_length(body[i].w));
        fastest = fmax(fastest, pp_length(body[i].v) / machine->length);
    }
    return 4e-4 / fastest;
}

static const double STRAIGHT = 1e-6;  // relative difference of two formulas for one drift
static const double TURNED = 0.02;    // [rad] a normal that turns more in a short time is another

// Rates of all contacts at configurations displaced along the motion: four on each
// side of the present one.
enum { PLACES = 9, HERE = 4 };
typedef struct stencil {
    double s;       // between places [s]
    pp_holds open;  // contacts whose pairs are looked at: drifts of the others are known
    bool seen[PLACES];
    double *rate[PLACES];  // rows
    bool *there[PLACES];   // holds: the contact is the same one there
} stencil;

// Coefficients of a derivative of fourth order and one of second order, both times 12. Their
// difference measures how much the rates bend between the places. value, times 6,
// extrapolates the rate here from the other places: where that differs from the rate here,
// the places see another contact point.
typedef struct formula {
    double fourth[PLACES], second[PLACES], value[PLACES];
} formula;

// Central, forward and backward formulas: one-sided ones are for the end of a feature.
static const formula FORMULA[3] = {
    {{0.0, 0.0, 1.0, -8.0, 0.0, 8.0, -1.0, 0.0, 0.0},
     {0.0, 0.0, 0.0, -6.0, 0.0, 6.0},
     {0.0, 0.0, -1.0, 4.0, 0.0, 4.0, -1.0}},
    {{0.0, 0.0, 0.0, 0.0, -25.0, 48.0, -36.0, 16.0, -3.0},
     {0.0, 0.0, 0.0, 0.0, -18.0, 24.0, -6.0},
     {0.0, 0.0, 0.0, 0.0, 0.0, 24.0, -36.0, 24.0, -6.0}},
    {{3.0, -16.0, 36.0, -48.0, 25.0}, {0.0, 0.0, 6.0, -24.0, 18.0}, {-6.0, 24.0, -36.0, 24.0}}};

// All places are empty: nothing is seen there yet.
static perp_status stencil_create(stencil *out, const pp_holds *holds, int rows, pp_arena *arena)
{
    *out = (stencil){0};
    double *rate = PP_ZEROS(arena, double, PLACES *(size_t)rows);
    bool *there = PP_ZEROS(arena, bool, PLACES *(size_t)holds->count);
    if (!rate || !there) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < PLACES; k++) {
        out->rate[k] = rate + (size_t)k * (size_t)rows;
        out->there[k] = there + (size_t)k * (size_t)holds->count;
    }
    return PERP_OK;
}

// Rates of all contacts at place k, (k - HERE) s from now along the motion with qdd = 0.
// Leaves its work in the arena.
static perp_status see_place(const pp_machine *machine, const pp_holds *holds,
                             const pp_instant *out, stencil *at, int k, pp_arena *arena)
{
    const perp_model *m = machine->model;
    double s = at->s * (k - HERE), *q = PP_ARRAY(arena, double, machine->tree->nq);
    pp_frame *body = PP_ARRAY(arena, pp_frame, m->bodies);
    pp_contact_anchor *place = PP_ZEROS(arena, pp_contact_anchor, holds->count);
    int *which = PP_ARRAY(arena, int, holds->count);
    pp_poses kin = {.t = out->t + s, .body = body};
    pp_gaps gaps;
    if (!q || !body || !place || !which) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        if (holds->hold[i].kind == PP_HOLD_CONTACT && out->size[i] > 0) {
            place[i] = pp_contact_anchor_of(m, out->pass.body, out->t, &out->contact[i]);
        }
    }
    // Frames after the time s with constant rates: the rates of rows there
    // differ by the drift only.
    pp_tree_move(machine->tree, out->q, out->qd, s, q);
    pp_tree_frames(machine->tree, kin.t, q, out->qd, body);
    // A wider search than at the instant: points may have moved apart.
    perp_status status = pp_holds_gaps(&gaps, machine, &at->open, &kin,
                                       2.0 * PP_SEARCH_MARGIN * machine->length, arena);
    if (status < 0) {
        return status;
    }
    status = pp_holds_match(machine, holds, place, &gaps, body, which, arena);
    if (status < 0) {
        return status;
    }
    at->seen[k] = true;
    for (int i = 0; i < holds->count; i++) {
        // The contact is there if its point was matched, its normal has hardly
        // turned, and it did not jump.
        int base = pp_hold_base(holds, i);
        const pp_contact *c = which[base] < 0 ? NULL : &gaps.contact[which[base]];
        double rate[3] = {0.0};
        at->there[k][i] = c && pp_length(pp_sub(c->n, out->contact[i].n)) < TURNED &&
                          pp_place_reaches(machine, &place[base], body, kin.t, c);
        if (!at->there[k][i]) {
            continue;
        }
        if (i == base) {
            contact_rates(m, body, c, rate);
        } else {
            pp_turn_rates(machine, body, c, holds->hold[i].kind, rate);
        }
        for (int r = 0; r < out->size[i]; r++) {
            at->rate[k][out->at[i] + r] = rate[r];
        }
    }
    return PERP_OK;
}

// The same for several places, one at a time.
static perp_status see_places(const pp_machine *machine, const pp_holds *holds,
                              const pp_instant *out, stencil *at, const int *place, int count,
                              pp_arena *arena)
{
    for (int k = 0; k < count; k++) {
        pp_mark mark = pp_arena_mark(arena);
        perp_status status = see_place(machine, holds, out, at, place[k], arena);
        pp_arena_release(arena, mark);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Takes the drift of hold i from one of the formulas, if all its places see the contact and it
// bends less than those before; bend: the least so far [m/s^2].
static void differ(const stencil *at, const formula *f, int i, double *bend, pp_instant *out)
{
    double drift[3] = {0.0}, most = 0.0;
    for (int k = 0; k < PLACES; k++) {
        if (f->fourth[k] != 0.0 && !(at->seen[k] && at->there[k][i])) {
            return;
        }
    }
    // `other` is the second-order derivative, `here` the rate that the other places
    // extrapolate to, less the rate here.
    for (int r = 0; r < out->size[i]; r++) {
        double other = 0.0, here = -out->rate[out->at[i] + r];
        for (int k = 0; k < PLACES; k++) {
            double rate = f->fourth[k] != 0.0 ? at->rate[k][out->at[i] + r] : 0.0;
            drift[r] += f->fourth[k] * rate / (12.0 * at->s);
            other += f->second[k] * rate / (12.0 * at->s);
            here += f->value[k] * rate / 6.0;
        }
        most = fmax(most, fmax(fabs(drift[r] - other), fabs(here) / at->s));
    }
    if (most < *bend) {
        *bend = most;
        memcpy(out->drift + out->at[i], drift, (size_t)out->size[i] * sizeof *drift);
    }
}

// Whether the drift of hold i bends too much to be taken; scale: of accelerations [m/s^2].
static bool is_bent(const pp_instant *out, const double *bend, double scale, int i)
{
    return out->size[i] > 0 && !(bend[i] <= STRAIGHT * fmax(scale, fabs(out->drift[out->at[i]])));
}

// Drifts of all contacts by the formulas that bend least. True: all of them are straight enough.
static bool differ_all(const pp_holds *holds, const stencil *at, double scale, double *bend,
                       pp_instant *out)
{
    bool all = true;
    for (int i = 0; i < holds->count; i++) {
        if (pp_hold_touches(&holds->hold[i]) && out->size[i] > 0) {
            for (int k = 0; k < 3; k++) {
                differ(at, &FORMULA[k], i, &bend[i], out);
            }
            all = all && !is_bent(out, bend, scale, i);
        }
    }
    return all;
}

// Drifts of contacts of rims with planes, in closed form; bend: 0 where there is one. True: all
// contacts are such.
static bool drift_of_rims(const pp_machine *machine, const pp_holds *holds, double *bend,
                          pp_instant *out)
{
    pp_contact_motion motion;
    bool closed = false, all = true;
    for (int i = 0; i < holds->count; i++) {
        double drift[3];
        pp_hold_kind kind = holds->hold[i].kind;
        bend[i] = PP_INF;
        if (!pp_hold_touches(&holds->hold[i]) || out->size[i] == 0) {
            continue;
        }
        // Turning friction follows its contact in the list and moves with it.
        if (kind == PP_HOLD_CONTACT) {
            closed = pp_rim_motion(machine, out, &out->contact[i], &motion);
        }
        if (closed) {
            pp_motion_drift(machine, out, &out->contact[i], &motion, kind, drift);
            memcpy(out->drift + out->at[i], drift, (size_t)out->size[i] * sizeof *drift);
            bend[i] = 0.0;
        }
        all = all && closed;
    }
    return all;
}

// The contacts whose drifts are not known yet, and those of their turning friction.
static perp_status list_bent(const pp_holds *holds, const pp_instant *out, const double *bend,
                             double scale, pp_holds *open, pp_arena *arena)
{
    *open = (pp_holds){0};
    for (int i = 0; i < holds->count; i++) {
        if (pp_hold_touches(&holds->hold[i]) && is_bent(out, bend, scale, i) &&
            !pp_holds_add(open, holds->hold[pp_hold_base(holds, i)], arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

enum { SHORTER = 7 };  // rounds, each with an eighth of the time before

// Drifts of all contacts. Where a point runs along a rim faster than the bodies move, times between
// the places are made shorter; near the end of a feature (a corner that comes to the end of a side)
// one-sided differences are taken. Leaves its work in the arena.                        theory (H6)
static perp_status contact_drift(const pp_machine *machine, const pp_holds *holds, pp_instant *out,
                                 pp_arena *arena)
{
    static const int central[4] = {2, 3, 5, 6}, others[5] = {0, 1, 4, 7, 8};
    double s = short_time(machine, out->pass.body), fast = 4e-4 / s;
    // A centripetal acceleration of the machine's size, which bends are relative to.
    double scale = machine->length * fast * fast;
    double *bend = PP_ARRAY(arena, double, holds->count);
    if (!bend) {
        return PERP_ERR_MEMORY;
    }
    if (drift_of_rims(machine, holds, bend, out)) {
        return PERP_OK;
    }
    for (int round = 0; round < SHORTER; round++, s /= 8.0) {
        stencil at;
        perp_status status = stencil_create(&at, holds, out->rows, arena);
        if (status < 0) {
            return status;
        }
        status = list_bent(holds, out, bend, scale, &at.open, arena);
        if (status < 0) {
            return status;
        }
        at.s = s;
        status = see_places(machine, holds, out, &at, central, 4, arena);
        if (status < 0) {
            return status;
        }
        if (differ_all(holds, &at, scale, bend, out)) {
            return PERP_OK;
        }
        // Five more places cost more than a shorter time: they are looked at in every second round.
        if (round % 2 == 0) {
            continue;
        }
        status = see_places(machine, holds, out, &at, others, 5, arena);
        if (status < 0) {
            return status;
        }
        if (differ_all(holds, &at, scale, bend, out)) {
            return PERP_OK;
        }
    }
    return PERP_OK;  // the straightest drifts that were found
}

// ── The instant ──────────────────────────────────────────────────────────────────────────────────

// The contact of hold i: c where it was found (NULL: it was not). Beyond the end of its feature the
// contact goes on as if the feature did, so that accelerations stay smooth up to the event, and the
// instant is marked as lost.
static void set_contact(const pp_machine *machine, const pp_hold *hold, const pp_contact *c, int i,
                        pp_instant *out)
{
    const pp_frame *body = out->pass.body;
    // A point that has jumped is not this contact: it belongs to another feature.
    bool found = c && pp_place_reaches(machine, &hold->place, body, out->t, c);
    out->lost = out->lost || !found;
    if (found) {
        out->contact[i] = *c;
    } else {
        out->contact[i] = hold->place.known ? pp_place_beyond(machine->model, &hold->place, body)
                                            : (pp_contact){0};
    }
    out->size[i] = found || hold->place.known ? contact_size(machine, &out->contact[i]) : 0;
}

// Finds the contacts of the holds and lays out the rows: at and size of each hold.
static perp_status layout_rows(const pp_machine *machine, const pp_holds *holds,
                               const pp_rows *loops, pp_instant *out, pp_arena *arena)
{
    pp_poses kin = {.t = out->t, .body = out->pass.body};
    pp_gaps gaps = {0};
    // Contacts stand at the end of the list.
    bool touching = holds->count > 0 && pp_hold_touches(&holds->hold[holds->count - 1]);
    pp_contact_anchor *place = pp_holds_places(holds, arena);
    int *which = PP_ARRAY(arena, int, holds->count);
    if (!place || !which) {
        return PERP_ERR_MEMORY;
    }
    if (touching) {
        perp_status status =
            pp_holds_gaps(&gaps, machine, holds, &kin, PP_SEARCH_MARGIN * machine->length, arena);
        if (status < 0) {
            return status;
        }
    }
    // Matched by place with the points that are there now.
    perp_status status = pp_holds_match(machine, holds, place, &gaps, kin.body, which, arena);
    if (status < 0) {
        return status;
    }
    out->rows = 0;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        out->at[i] = out->rows;
        out->size[i] = 1;
        if (hold->kind == PP_HOLD_LOOP) {
            // A loop has as many rows as its joint has equations.
            out->size[i] = 0;
            for (int k = 0; k < loops->nb; k++) {
                out->size[i] += is_joint_equation(&loops->b[k], hold->joint);
            }
        } else if (hold->kind == PP_HOLD_CONTACT) {
            set_contact(machine, hold, which[i] < 0 ? NULL : &gaps.contact[which[i]], i, out);
        } else if (pp_hold_is_turning(hold)) {
            int base = pp_hold_base(holds, i), rows = hold->kind == PP_HOLD_SPIN ? 1 : 2;
            out->contact[i] = out->contact[base];
            out->size[i] = out->size[base] > 0 ? rows : 0;
        }
        out->rows += out->size[i];
    }
    return PERP_OK;
}

// Gradients, values and rates of all rows, in the order of the holds.
static void fill_rows(const pp_machine *machine, const pp_holds *holds, const pp_rows *loops,
                      pp_instant *out)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        int at = out->at[i];
        if (hold->kind == PP_HOLD_LOOP) {
            for (int k = 0; k < loops->nb; k++) {
                if (is_joint_equation(&loops->b[k], hold->joint)) {
                    append_row(out, at++, &loops->b[k], loops->b[k].value, 1.0);
                }
            }
        } else if (hold->kind == PP_HOLD_CONTACT) {
            contact_rows(machine, i, out);
        } else if (pp_hold_is_turning(hold)) {
            turn_rows(machine, hold, i, out);
        } else {
            coordinate_row(machine, hold, at, out);
        }
    }
}

// Work space for the rows that have been laid out.
static perp_status allocate_rows(pp_instant *out, const pp_machine *machine, pp_arena *arena)
{
    size_t nv = (size_t)machine->tree->nv, rows = (size_t)out->rows;
    out->L = PP_ZEROS(arena, double, nv *nv + nv);
    out->J = PP_ZEROS(arena, double, 2 * nv * rows);
    out->A = PP_ZEROS(arena, double, rows *rows + 5 * rows);
    out->row = PP_ARRAY(arena, pp_row, rows);
    if (!out->L || !out->J || !out->A || !out->row) {
        return PERP_ERR_MEMORY;
    }
    // One block each for H, for J and G, and for A with the vectors over rows.
    out->free = out->L + nv * nv;
    out->G = out->J + nv * rows;
    out->value = out->A + rows * rows;
    out->rate = out->value + rows;
    out->drift = out->rate + rows;
    out->sign = out->drift + rows;
    out->scale = out->sign + rows;
    return PERP_OK;
}

// H = L^T D L, G = H^-1 J^T and A = J G; with forces also free = H^-1 (B u - C).        theory (H1)
static perp_status build_mass_matrix(const pp_machine *machine, const pp_holds *holds, bool forces,
                                     pp_instant *out, pp_arena *arena)
{
    const pp_tree *tree = machine->tree;
    int nv = out->nv, rows = out->rows;
    pp_tree_mass(&out->pass, out->L);
    if (!pp_tree_factor(tree, out->L)) {
        return PERP_ERR_SINGULAR;
    }
    if (rows > 0) {
        memcpy(out->G, out->J, (size_t)nv * (size_t)rows * sizeof *out->G);
    }
    // A is symmetric: both triangles are written.
    for (int j = 0; j < rows; j++) {
        pp_tree_solve(tree, out->L, column(out->G, nv, j));
        for (int i = 0; i <= j; i++) {
            double a = pp_dot(nv, column(out->J, nv, i), column(out->G, nv, j));
            out->A[i + j * rows] = out->A[j + i * rows] = a;
        }
    }
    perp_status status = pp_instant_find_dependent(out, holds, arena);
    if (status < 0 || !forces) {
        return status;
    }
    double *C = PP_ARRAY(arena, double, nv);
    if (!C) {
        return PERP_ERR_MEMORY;
    }
    status = pp_tree_forces(&out->pass, machine->turn, machine->drive, machine->applied, out->free,
                            arena);
    if (status < 0) {
        return status;
    }
    // C holds gravity as well as the centrifugal, Coriolis and gyroscopic terms.
    pp_tree_bias(&out->pass, C);
    pp_axpy(nv, -1.0, C, out->free);
    pp_tree_solve(tree, out->L, out->free);
    status = pp_instant_acceleration_scale(out, arena);
    if (status < 0) {
        return status;
    }
    return pp_all_finite((size_t)nv, out->free) ? status : PERP_ERR_NUMERIC;
}

// J_dot qd of all rows; differences are needed only where there are contacts.
static perp_status drifts(const pp_machine *machine, const pp_holds *holds, pp_instant *out,
                          pp_arena *arena)
{
    bool touching = false;
    for (int i = 0; i < holds->count; i++) {
        if (pp_hold_touches(&holds->hold[i])) {
            touching = true;
        } else {
            joint_drift(machine, &holds->hold[i], out->at[i], out->size[i], out);
        }
    }
    if (!touching) {
        return PERP_OK;
    }
    pp_mark mark = pp_arena_mark(arena);
    perp_status status = contact_drift(machine, holds, out, arena);
    pp_arena_release(arena, mark);
    return status;
}

perp_status pp_instant_make(pp_instant *out, const pp_machine *machine, double t, const double *q,
                            const double *qd, const pp_holds *holds, bool forces, pp_arena *arena)
{
    pp_rows loops = {0};
    *out = (pp_instant){.t = t,
                        .q = q,
                        .qd = qd,
                        .nv = machine->tree->nv,
                        .at = PP_ARRAY(arena, int, 2 * (size_t)holds->count),
                        .contact = PP_ARRAY(arena, pp_contact, holds->count)};
    if (!out->at || !out->contact) {
        return PERP_ERR_MEMORY;
    }
    if (pp_arena_stopped(arena)) {  // every search of the stepper comes through here
        return PERP_ERR_STOPPED;
    }
    out->size = out->at + holds->count;
    perp_status status = pp_tree_run(&out->pass, machine->tree, t, q, qd, arena);
    out->pass.rotors = true;
    out->pass.turn = machine->turn;
    out->pass.input = machine->drive ? machine->drive->input : NULL;
    if (status < 0) {
        return status;
    }
    if (machine->tree->loops > 0) {
        status = loop_rows(machine, &loops, out, arena);
        if (status < 0) {
            return status;
        }
    }
    // Numbers of rows come first: contacts without friction, and features
    // that have gone, change them.
    status = layout_rows(machine, holds, &loops, out, arena);
    if (status < 0) {
        return status;
    }
    status = allocate_rows(out, machine, arena);
    if (status < 0) {
        return status;
    }
    fill_rows(machine, holds, &loops, out);
    status = build_mass_matrix(machine, holds, forces, out, arena);
    if (status < 0 || !forces) {
        return status;
    }
    return drifts(machine, holds, out, arena);
}

void pp_instant_rates_after(const pp_instant *instant, const double *impulse, double *after)
{
    memcpy(after, instant->rate, (size_t)instant->rows * sizeof *after);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, impulse, after);
}

double pp_instant_slip(const pp_instant *instant, int hold, double slip[2])
{
    const double *rate = instant->rate + instant->at[hold];
    slip[0] = instant->size[hold] > 1 ? rate[1] : 0.0;
    slip[1] = instant->size[hold] > 2 ? rate[2] : 0.0;
    return pp_hypot(slip[0], slip[1]);
}
