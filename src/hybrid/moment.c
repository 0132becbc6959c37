// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One instant: rows of all holds in joint coordinates, with their drift.           theory (H2), (H6)
//
//   phi_dd = J qdd + drift
//
// The drift of joints is exact. That of contacts is the derivative of their rates along the motion with
// qdd = 0, by central differences of fourth order: contact points travel over both surfaces, and the
// differences see all of that, whatever the shapes.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

// ── Lists of holds ───────────────────────────────────────────────────────────────────────────────

pp_hold *pp_holds_add(pp_holds *holds, pp_hold hold, pp_arena *arena)
{
    if (holds->count == holds->room) {
        int room = 2 * holds->room + 8;
        pp_hold *more = PP_ARRAY(arena, pp_hold, room);
        if (!more) {
            return NULL;
        }
        if (holds->count > 0) {
            memcpy(more, holds->hold, (size_t)holds->count * sizeof *more);
        }
        holds->hold = more;
        holds->room = room;
    }
    holds->hold[holds->count] = hold;
    return &holds->hold[holds->count++];
}

static bool add_joint(pp_holds *out, pp_hold_kind kind, int joint, pp_arena *arena)
{
    pp_hold hold = {.kind = kind, .joint = joint, .a = -1, .b = -1, .listed = -1, .mode = PP_HELD};
    return pp_holds_add(out, hold, arena) != NULL;
}

perp_status pp_holds_start(pp_holds *out, const pp_machine *machine, pp_arena *arena)
{
    const perp_model *m = machine->model;
    bool fine = true;
    *out = (pp_holds){0};
    for (int i = 0; i < machine->tree->loops && fine; i++) {
        fine = add_joint(out, PP_HOLD_LOOP, machine->tree->loop[i], arena);
    }
    for (int i = 0; i < m->joints && fine; i++) {
        const pp_joint *j = &m->joint[i];
        if (!pp_joint_has_coordinate(j)) {
            continue;
        }
        fine = !j->target || add_joint(out, PP_HOLD_TARGET, i, arena);
        if (fine && j->rate) {
            bool limited = j->rate_effort < PP_INF;
            fine = add_joint(out, limited ? PP_HOLD_MOTOR : PP_HOLD_RATE, i, arena);
        }
        fine = fine && (!(j->friction > 0.0) || add_joint(out, PP_HOLD_DRY, i, arena));
    }
    return fine ? PERP_OK : PERP_ERR_MEMORY;
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

static int contact_size(const pp_machine *machine, const pp_contact *c)
{
    bool rough = pp_contact_mu(c) > 0.0 && !machine->options.frictionless;
    return !rough ? 1 : machine->model->spatial ? 3 : 2;
}

// Rates along n, t, o as the frames move.
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

static void add_side(const perp_model *m, const pp_frame *frame, int index, perp_vec3 point,
                     perp_vec3 d, pp_row *row)
{
    const pp_body *body = &m->body[index];
    if (body->nv == 0) {
        row->rate += pp_dot3(d, pp_point_velocity(&frame[index], point));
        return;
    }
    perp_vec3 arm = pp_cross(pp_sub(point, frame[index].p), d);
    const double full[6] = {d.x, d.y, d.z, arm.x, arm.y, arm.z};
    row->body[row->count] = index;
    for (int k = 0; k < body->nv; k++) {
        row->J[row->count][k] = full[body->axis[k]];
    }
    row->count++;
}

static void relative_row(const perp_model *m, const pp_frame *frame, const pp_contact *c,
                         perp_vec3 d, pp_row *row)
{
    *row = (pp_row){.joint = -1, .force = -1};
    add_side(m, frame, m->shape[c->b].body, c->point, d, row);
    add_side(m, frame, m->shape[c->a].body, c->point, pp_scale(-1.0, d), row);
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

static void append_row(pp_instant *out, int at, const pp_row *row, double value, double sign)
{
    double *J = column(out->J, out->nv, at);
    double rate = pp_tree_row(&out->pass, row, J);
    for (int k = 0; k < out->nv; k++) {
        J[k] *= sign;
    }
    double mobility = pp_row_mobility(out->pass.tree->model, out->pass.mass, row);
    out->scale[at] = mobility > 0.0 ? 1.0 / sqrt(mobility) : 1.0;
    out->row[at] = *row;
    out->sign[at] = sign;
    out->value[at] = value;
    out->rate[at] = sign * rate + pp_dot(out->nv, J, out->qd);
}

static void contact_rows(const pp_machine *machine, int hold, pp_instant *out)
{
    const pp_contact *c = &out->contact[hold];
    perp_vec3 d[3];
    pp_contact_axes(c, d);
    for (int k = 0; k < out->size[hold]; k++) {
        pp_row row;
        relative_row(machine->model, out->pass.body, c, d[k], &row);
        row.rate += k > 0 ? pp_dot3(d[k], c->surface) : 0.0;
        append_row(out, out->at[hold] + k, &row, k == 0 ? c->gap : 0.0, 1.0);
    }
}

static void turn_rows(const pp_machine *machine, const pp_hold *hold, int i, pp_instant *out)
{
    for (int k = 0; k < out->size[i]; k++) {
        pp_row row;
        pp_turn_row(machine, out->pass.body, &out->contact[i], hold->kind, k, &row);
        append_row(out, out->at[i] + k, &row, 0.0, 1.0);
    }
}

static void coordinate_row(const pp_machine *machine, const pp_hold *hold, int at, pp_instant *out)
{
    const perp_model *m = machine->model;
    const pp_joint *j = &m->joint[hold->joint];
    pp_poses kin = {.t = out->t, .body = out->pass.body, .turn = machine->turn};
    const double one[1] = {1.0};
    double sign = 1.0, value = 0.0, rate = 0.0;
    pp_row row;
    pp_joint_coordinate(m, &kin, hold->joint, &row);
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
        rate = pp_expr_value(j->rate, &out->t);
    }
    row.rate -= rate;
    append_row(out, at, &row, value, sign);
}

// Rows of the equations of joints that are not in the tree, from the rows of all joints.
static perp_status loop_rows(const pp_machine *machine, pp_rows *rows, const pp_instant *out,
                             pp_arena *arena)
{
    const perp_model *m = machine->model;
    pp_gaps none = {0};
    pp_kinematics kin = {.poses = {.t = out->t, .body = out->pass.body, .turn = machine->turn},
                         .h = 1.0,
                         .mass = out->pass.mass,
                         .loads = {.p_ext = PP_ZEROS(arena, double, m->nv)}};
    pp_scheme scheme = {.stepper = PERP_STEPPER_ANITESCU_POTRA, .facets = 8};
    return !kin.loads.p_ext ? PERP_ERR_MEMORY
                            : pp_rows_run(rows, m, &kin, &kin.poses, &none, scheme, NULL, arena);
}

static bool is_joint_equation(const pp_row *row, int joint)
{
    return row->joint == joint && !row->drives && !row->spring;
}

// ── Drift ────────────────────────────────────────────────────────────────────────────────────────

// Second derivative of a given motion: differences of the first, which is exact.
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
        pp_expr_rate(j->rate, &out->t, one, &rate);
        *drift -= rate;
    }
}

// A time in which nothing turns, or crosses the largest shape, by more than a thousandth.
static double short_time(const pp_machine *machine, const pp_frame *body)
{
    double fastest = 1.0;
    for (int i = 0; i < machine->model->bodies; i++) {
        fastest = fmax(fastest, pp_length(body[i].w));
        fastest = fmax(fastest, pp_length(body[i].v) / machine->length);
    }
    return 4e-4 / fastest;
}

static const double SEARCH_MARGIN =
    1e-2;  // of the length of the machine: contacts that are looked for

static const double STRAIGHT = 1e-6;  // part of a drift by which two formulas for it may differ

static const double TURNED = 0.02;  // a normal that turns more in a short time is another one

// Rates of all contacts at displaced configurations: five places either way, the present one among them.
enum { PLACES = 9, HERE = 4 };
typedef struct stencil {
    double s;  // between places [s]
    bool seen[PLACES];
    double *rate[PLACES];  // rows
    bool *there[PLACES];   // holds: the contact is the same one there
} stencil;

// A derivative of fourth order and one of second, both times 12: what they differ by shows how much the
// rates bend between the places. value: the rate here that the other places lead to, times 6; where that is
// another than the rate here, the places are on another point.
typedef struct formula {
    double fourth[PLACES], second[PLACES], value[PLACES];
} formula;

// About the middle, and from one side where a feature ends on the other.
static const formula FORMULA[3] = {
    {{0.0, 0.0, 1.0, -8.0, 0.0, 8.0, -1.0, 0.0, 0.0},
     {0.0, 0.0, 0.0, -6.0, 0.0, 6.0},
     {0.0, 0.0, -1.0, 4.0, 0.0, 4.0, -1.0}},
    {{0.0, 0.0, 0.0, 0.0, -25.0, 48.0, -36.0, 16.0, -3.0},
     {0.0, 0.0, 0.0, 0.0, -18.0, 24.0, -6.0},
     {0.0, 0.0, 0.0, 0.0, 0.0, 24.0, -36.0, 24.0, -6.0}},
    {{3.0, -16.0, 36.0, -48.0, 25.0}, {0.0, 0.0, 6.0, -24.0, 18.0}, {-6.0, 24.0, -36.0, 24.0}}};

static perp_status stencil_create(stencil *out, const pp_holds *holds, int rows, pp_arena *arena)
{
    *out = (stencil){0};
    double *rate = PP_ZEROS(arena, double, PLACES *(size_t)rows);
    bool *there = PP_ZEROS(arena, bool, PLACES *(size_t)holds->count);
    for (int k = 0; rate && there && k < PLACES; k++) {
        out->rate[k] = rate + (size_t)k * (size_t)rows;
        out->there[k] = there + (size_t)k * (size_t)holds->count;
    }
    return rate && there ? PERP_OK : PERP_ERR_MEMORY;
}

static perp_status displaced(const pp_machine *machine, const pp_holds *holds,
                             const pp_instant *out, stencil *at, int k, pp_arena *arena)
{
    const perp_model *m = machine->model;
    pp_mark mark = pp_arena_mark(arena);
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
    pp_tree_move(machine->tree, out->q, out->qd, s, q);
    pp_tree_frames(machine->tree, kin.t, q, out->qd, body);
    perp_status status =
        pp_holds_gaps(&gaps, machine, holds, &kin, 2.0 * SEARCH_MARGIN * machine->length, arena);
    status = status < 0 ? status : pp_holds_match(machine, holds, place, &gaps, body, which, arena);
    at->seen[k] = true;
    for (int i = 0; status >= 0 && i < holds->count; i++) {
        int base = pp_hold_base(holds, i);
        const pp_contact *c = which[base] < 0 ? NULL : &gaps.contact[which[base]];
        double rate[3] = {0.0};
        at->there[k][i] = c && pp_length(pp_sub(c->n, out->contact[i].n)) < TURNED &&
                          pp_place_reaches(machine, &place[base], body, kin.t, c);
        if (at->there[k][i] && i == base) {
            contact_rates(m, body, c, rate);
        } else if (at->there[k][i]) {
            pp_turn_rates(machine, body, c, holds->hold[i].kind, rate);
        }
        for (int r = 0; at->there[k][i] && r < out->size[i]; r++) {
            at->rate[k][out->at[i] + r] = rate[r];
        }
    }
    pp_arena_release(arena, mark);
    return status;
}

// The drift of hold i by one of the formulas, where that bends less than before; bend: the least so far.
static void differ(const stencil *at, const formula *f, int i, double *bend, pp_instant *out)
{
    double drift[3] = {0.0}, most = 0.0;
    for (int k = 0; k < PLACES; k++) {
        if (f->fourth[k] != 0.0 && !(at->seen[k] && at->there[k][i])) {
            return;
        }
    }
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

// True: straight enough for all contacts.
static bool differ_all(const pp_holds *holds, const stencil *at, double scale, double *bend,
                       pp_instant *out)
{
    bool all = true;
    for (int i = 0; i < holds->count; i++) {
        if (pp_hold_touches(&holds->hold[i]) && out->size[i] > 0) {
            for (int k = 0; k < 3; k++) {
                differ(at, &FORMULA[k], i, &bend[i], out);
            }
            double size = fmax(scale, fabs(out->drift[out->at[i]]));
            all = all && bend[i] <= STRAIGHT * size;
        }
    }
    return all;
}

enum { SHORTER = 7 };

// Where a point runs along a rim faster than the bodies move, times are shorter; near the end of a feature (a
// corner that comes to the end of a side) differences are taken from its own side.
static perp_status contact_drift(const pp_machine *machine, const pp_holds *holds, pp_instant *out,
                                 pp_arena *arena)
{
    static const int central[4] = {2, 3, 5, 6}, others[5] = {0, 1, 4, 7, 8};
    double s = short_time(machine, out->pass.body), fast = 4e-4 / s;
    double scale = machine->length * fast * fast;
    pp_mark mark = pp_arena_mark(arena);
    double *bend = PP_ARRAY(arena, double, holds->count);
    bool all = false;
    if (!bend) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        bend[i] = PP_INF;
    }
    for (int round = 0; round < SHORTER && !all; round++, s /= 8.0) {
        stencil at;
        perp_status status = stencil_create(&at, holds, out->rows, arena);
        at.s = s;
        for (int k = 0; k < 4 && status >= 0; k++) {
            status = displaced(machine, holds, out, &at, central[k], arena);
        }
        all = status >= 0 && differ_all(holds, &at, scale, bend, out);
        for (int k = 0; k < 5 && status >= 0 && !all && round % 2 == 1; k++) {
            status = displaced(machine, holds, out, &at, others[k], arena);
        }
        all = all || (status >= 0 && differ_all(holds, &at, scale, bend, out));
        if (status < 0) {
            return status;
        }
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// The contact of hold i: where it was found, or beyond the end of its feature as if that went on, so that accelerations
// stay smooth up to the event. c: NULL where there is none.
static void set_contact(const pp_machine *machine, const pp_hold *hold, const pp_contact *c, int i,
                        pp_instant *out)
{
    const pp_frame *body = out->pass.body;
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

static perp_status measure_scales(const pp_machine *machine, const pp_holds *holds,
                                  const pp_rows *loops, pp_instant *out, pp_arena *arena)
{
    pp_poses kin = {.t = out->t, .body = out->pass.body};
    pp_gaps gaps = {0};
    bool touching = holds->count > 0 && pp_hold_touches(&holds->hold[holds->count - 1]);
    pp_contact_anchor *place = pp_holds_places(holds, arena);
    int *which = PP_ARRAY(arena, int, holds->count);
    if (!place || !which) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = touching ? pp_holds_gaps(&gaps, machine, holds, &kin,
                                                  SEARCH_MARGIN * machine->length, arena)
                                  : PERP_OK;
    status =
        status < 0 ? status : pp_holds_match(machine, holds, place, &gaps, kin.body, which, arena);
    out->rows = 0;
    for (int i = 0; i < holds->count && status >= 0; i++) {
        const pp_hold *hold = &holds->hold[i];
        out->at[i] = out->rows;
        out->size[i] = hold->kind == PP_HOLD_LOOP ? 0 : 1;
        for (int k = 0; hold->kind == PP_HOLD_LOOP && k < loops->nb; k++) {
            out->size[i] += is_joint_equation(&loops->b[k], hold->joint);
        }
        if (hold->kind == PP_HOLD_CONTACT) {
            set_contact(machine, hold, which[i] < 0 ? NULL : &gaps.contact[which[i]], i, out);
        } else if (hold->kind > PP_HOLD_CONTACT) {
            int base = pp_hold_base(holds, i), rows = hold->kind == PP_HOLD_SPIN ? 1 : 2;
            out->contact[i] = out->contact[base];
            out->size[i] = out->size[base] > 0 ? rows : 0;
        }
        out->rows += out->size[i];
    }
    return status;
}

static void fill_rows(const pp_machine *machine, const pp_holds *holds, const pp_rows *loops,
                      pp_instant *out)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        int at = out->at[i];
        if (hold->kind == PP_HOLD_CONTACT) {
            contact_rows(machine, i, out);
        } else if (hold->kind > PP_HOLD_CONTACT) {
            turn_rows(machine, hold, i, out);
        } else if (hold->kind != PP_HOLD_LOOP) {
            coordinate_row(machine, hold, at, out);
        }
        for (int k = 0; hold->kind == PP_HOLD_LOOP && k < loops->nb; k++) {
            if (is_joint_equation(&loops->b[k], hold->joint)) {
                append_row(out, at++, &loops->b[k], loops->b[k].value, 1.0);
            }
        }
    }
}

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
    out->free = out->L + nv * nv;
    out->G = out->J + nv * rows;
    out->value = out->A + rows * rows;
    out->rate = out->value + rows;
    out->drift = out->rate + rows;
    out->sign = out->drift + rows;
    out->scale = out->sign + rows;
    return PERP_OK;
}

// H, H^-1 J^T, A, and H^-1 (B u - C).
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
    status = C ? pp_tree_forces(&out->pass, machine->turn, machine->applied, out->free, arena)
               : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    pp_tree_bias(&out->pass, C);
    pp_axpy(nv, -1.0, C, out->free);
    pp_tree_solve(tree, out->L, out->free);
    status = pp_instant_acceleration_scale(out, arena);
    return status < 0 || pp_all_finite((size_t)nv, out->free) ? status : PERP_ERR_NUMERIC;
}

static perp_status drifts(const pp_machine *machine, const pp_holds *holds, pp_instant *out,
                          pp_arena *arena)
{
    bool touching = false;
    for (int i = 0; i < holds->count; i++) {
        touching = touching || pp_hold_touches(&holds->hold[i]);
        if (!pp_hold_touches(&holds->hold[i])) {
            joint_drift(machine, &holds->hold[i], out->at[i], out->size[i], out);
        }
    }
    return touching ? contact_drift(machine, holds, out, arena) : PERP_OK;
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
    out->size = out->at + holds->count;
    perp_status status = pp_tree_run(&out->pass, machine->tree, t, q, qd, arena);
    if (status >= 0 && machine->tree->loops > 0) {
        status = loop_rows(machine, &loops, out, arena);
    }
    status = status < 0 ? status : measure_scales(machine, holds, &loops, out, arena);
    status = status < 0 ? status : allocate_rows(out, machine, arena);
    if (status < 0) {
        return status;
    }
    fill_rows(machine, holds, &loops, out);
    status = build_mass_matrix(machine, holds, forces, out, arena);
    return status < 0 || !forces ? status : drifts(machine, holds, out, arena);
}

double pp_instant_slip(const pp_instant *instant, int hold, double slip[2])
{
    const double *rate = instant->rate + instant->at[hold];
    slip[0] = instant->size[hold] > 1 ? rate[1] : 0.0;
    slip[1] = instant->size[hold] > 2 ? rate[2] : 0.0;
    return hypot(slip[0], slip[1]);
}
