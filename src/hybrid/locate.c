// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a mode ends: root finding for its conditions on the dense output of the integrator.
//                                                                                      theory (H13)
//
// Every condition is a number that must not become negative, divided by its rounding error. The
// smallest of them is the margin, whose first zero is located. A condition that begins at zero (a
// contact that has just opened) counts as violated only below -1.
//
// Gaps need contact detection, limits only joint coordinates, slip the rows of an instant, forces a
// solution of its equations. All of them are evaluated at each sample; conservative advancement
// adds samples where shapes come close.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static const double ROUND_GAP = 1e-13;    // of the machine's length
static const double ROUND_RATE = 1e-12;   // [m/s], and relative to the fastest
static const double ROUND_FORCE = 1e-10;  // of the largest force
static const double LOOSE = 1e-6;         // of the length: overlap that may open again
static const double AT_END = 10.0;        // rounding errors: conditions below have ended

// The margin so far, and which holds have ended.
typedef struct watch {
    pp_flight *flight;
    double margin;
    bool *ended;  // holds, or NULL
} watch;

// Takes a condition into the margin; hold: whose it is, -1: of no hold.
static void watch_value(watch *w, int hold, double value)
{
    w->margin = fmin(w->margin, value);
    if (w->ended && hold >= 0 && value < AT_END) {
        w->ended[hold] = true;
    }
}

// Speed that rounding of rates is relative to [m/s].
static double fastest(const perp_model *m, const pp_frame *body)
{
    double speed = 1.0;
    for (int i = 0; i < m->bodies; i++) {
        speed = fmax(speed, pp_length(body[i].v));
    }
    return speed;
}

// ── Gaps and limits ──────────────────────────────────────────────────────────────────────────────

// A small overlap (left by rounding, or where the points of a face take turns) that does not become
// deeper counts as open, at half a rounding error.
static double gap_of(const pp_flight *flight, const pp_frame *body, const pp_contact *c)
{
    const perp_model *m = flight->machine->model;
    if (c->gap > 0.0 || c->gap < -LOOSE * flight->machine->length) {
        return c->gap;
    }
    // Rate of the gap, from the velocities of both bodies at the point.
    perp_vec3 v = pp_sub(pp_point_velocity(&body[m->shape[c->b].body], c->point),
                         pp_point_velocity(&body[m->shape[c->a].body], c->point));
    return pp_dot3(v, c->n) < -flight->tol_rate ? c->gap
                                                : 0.5 * ROUND_GAP * flight->machine->length;
}

// Depth of the closed contacts of a pair, <= 0. Another point of the same pair that
// is no deeper has not met.
static double level_of(const pp_holds *holds, const int *which, const pp_gaps *gaps,
                       const pp_contact *c)
{
    double level = 0.0;
    for (int k = 0; k < holds->count; k++) {
        const pp_contact *closed = which[k] < 0 ? NULL : &gaps->contact[which[k]];
        if (closed && closed->a == c->a && closed->b == c->b && closed->listed == c->listed) {
            level = fmin(level, closed->gap);
        }
    }
    return level;
}

// Whether a point is that of a closed contact.
static bool is_matched(const pp_holds *holds, const int *which, int point)
{
    for (int k = 0; k < holds->count; k++) {
        if (which[k] == point) {
            return true;
        }
    }
    return false;
}

// The smallest gap of open contacts; `reach` where there is none within it. In the scratch arena.
static perp_status smallest_gap(pp_flight *flight, double t, const pp_frame *body, double reach,
                                double *gap)
{
    const pp_machine *machine = flight->machine;
    pp_poses kin = {.t = t, .body = body};
    pp_arena *arena = flight->scratch;
    const pp_holds *holds = &flight->holds;
    pp_contact_anchor *place = pp_holds_places(holds, arena);
    int *which = PP_ARRAY(arena, int, holds->count);
    pp_gaps gaps;
    *gap = reach;
    if (!place || !which) {
        return PERP_ERR_MEMORY;
    }
    pp_gap_search search = {.margin = reach};
    perp_status status = pp_holds_hint(machine, holds, &kin, &search, arena);
    if (status < 0) {
        return status;
    }
    // All pairs, not only those of the holds: any two shapes may meet.
    status = pp_gaps_run(&gaps, machine->model, &kin, search, arena);
    if (status < 0) {
        return status;
    }
    status = pp_holds_match(machine, holds, place, &gaps, body, which, arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        pp_contact c = gaps.contact[i];
        if (c.gap >= *gap || is_matched(holds, which, i)) {
            continue;
        }
        // An overlap counts from the depth of the pair's closed points, which may have drifted.
        if (!(c.gap > 0.0)) {
            c.gap -= level_of(holds, which, &gaps, &c);
        }
        *gap = fmin(*gap, gap_of(flight, body, &c));
    }
    return PERP_OK;
}

// Whether a limit is held already; its force is watched then, not its distance.
static bool is_active_limit(const pp_holds *holds, int joint, double sign)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (h->kind == PP_HOLD_LIMIT && h->joint == joint && h->sign == sign) {
            return true;
        }
    }
    return false;
}

// Distances to all limits that are not active. One that has just been left,
// within its tolerance, opens.
static void see_limits(watch *w, double t, const pp_frame *body)
{
    const pp_machine *machine = w->flight->machine;
    const perp_model *m = machine->model;
    pp_poses kin = {.t = t, .body = body, .turn = machine->turn};
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!(j->lower <= j->upper) || !pp_joint_has_coordinate(j)) {
            continue;
        }
        pp_row row;
        pp_joint_coordinate(m, &kin, i, &row);
        for (int side = 0; side < 2; side++) {
            double sign = side == 0 ? 1.0 : -1.0, bound = sign > 0.0 ? j->lower : j->upper;
            double beyond = sign * (row.value - bound);
            double scale = pp_flight_limit_scale(w->flight, i, bound), unit = ROUND_GAP * scale;
            double room = w->flight->tol_limit * scale;
            // A limit that is let go starts at zero, and rounding must not close it again at once.
            bool opens = beyond <= 0.0 && beyond > -room && sign * row.v_pre >= 0.0;
            if (isfinite(bound) && !is_active_limit(&w->flight->holds, i, sign)) {
                watch_value(w, -1, opens ? 0.5 : beyond / unit);
            }
        }
    }
}

// ── Forces and slip ──────────────────────────────────────────────────────────────────────────────

// Slip of a sliding hold along its direction; negative once it has turned round. In space the
// direction is that in which sliding or rolling began, and the slip is in (t, o).
static double slip_along(const pp_instant *instant, const pp_hold *h, int i)
{
    const pp_contact *c = &instant->contact[i];
    double slip[2];
    if (h->kind != PP_HOLD_CONTACT && h->kind != PP_HOLD_ROLL) {
        return h->d * instant->rate[instant->at[i]];
    }
    // Rolling and sliding in space have two components.
    if (h->kind == PP_HOLD_ROLL) {
        pp_instant_spin(instant, i, slip);
    } else {
        pp_instant_slip(instant, i, slip);
    }
    if (h->kind == PP_HOLD_CONTACT && instant->size[i] < 3) {
        return h->d * slip[0];
    }
    return slip[0] * pp_dot3(h->d_W, c->t) + slip[1] * pp_dot3(h->d_W, pp_cross(c->n, c->t));
}

// Slip of all that slides.
static void see_slip(watch *w, const pp_instant *instant, double speed)
{
    const pp_holds *holds = &w->flight->holds;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        // Rounding of a rate is relative to the fastest body.
        if (h->mode == PP_SLIDES && instant->size[i] > 0) {
            watch_value(w, i, slip_along(instant, h, i) / (ROUND_RATE * speed));
        }
    }
}

// The least of the conditions of each law, in rounding errors of forces: r_n >= 0, |r_t| <=
// mu r_n, |r| <= bound. Laws without a condition on forces, and directions that are given,
// have an infinite margin.
static void force_margins(const pp_laws *laws, const double *r, double *margin)
{
    double size_u, size_r;
    pp_law_sizes(laws, r, &size_u, &size_r);
    double unit = ROUND_FORCE * size_r;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        const double *f = r + law->at;
        margin[i] = PP_INF;
        if (law->size == 0) {
            continue;
        }
        double push = pp_law_tangential(law, r);
        switch (law->kind) {
        case PP_LAW_TURN:
            margin[i] = (law->mu * r[laws->law[law->on].at] - push) / unit;
            break;
        case PP_LAW_BOX:
            if (law->mode == PP_HELD) {
                margin[i] = (law->bound - fabs(f[0])) / unit;
            }
            break;
        case PP_LAW_SLIDING:
            // Friction is given: only the normal force may end this mode.
            margin[i] = f[0] / unit;
            break;
        case PP_LAW_CONTACT:
            margin[i] = f[0] / unit;
            if (law->size > 1) {
                margin[i] = fmin(margin[i], (law->mu * f[0] - push) / unit);
            }
            break;
        case PP_LAW_EQUAL:
        case PP_LAW_RUBBING:
        case PP_LAW_TURNING:
            break;  // no condition on forces
        }
    }
}

// Whether a contact is one of several points of its pair, among which a load may be distributed.
static bool is_one_of_several(const pp_holds *holds, int i)
{
    const pp_hold *h = &holds->hold[i];
    for (int k = 0; k < holds->count; k++) {
        const pp_hold *other = &holds->hold[k];
        if (k != i && h->kind == PP_HOLD_CONTACT && other->kind == PP_HOLD_CONTACT &&
            other->a == h->a && other->b == h->b && other->listed == h->listed) {
            return true;
        }
    }
    return false;
}

// Forces r (least norm) against their laws. A force that is determined counts as it is. Where
// forces are not determined and those of least norm violate a law, they count only if no other
// distribution keeps all laws.                                                         theory (H19)
static perp_status see_forces(watch *w, const pp_laws *laws, const pp_law_info *info,
                              const double *r)
{
    const pp_holds *holds = &w->flight->holds;
    pp_arena *arena = w->flight->scratch;
    double *margin = PP_ARRAY(arena, double, laws->count);
    double *other = PP_ARRAY(arena, double, laws->rows), least = PP_INF;
    double most = w->flight->confirmed ? PP_LAW_KEPT_ON : PP_LAW_KEPT;
    if (!margin || !other) {
        return PERP_ERR_MEMORY;
    }
    force_margins(laws, r, margin);
    for (int i = 0; i < laws->count; i++) {
        // Points of one pair share a load and count as undetermined; any other
        // force at its end is tested.
        bool determined = info->rank == info->equations || margin[i] >= AT_END;
        if (!determined && !is_one_of_several(holds, i)) {
            perp_status status = pp_law_determined(laws, i, &determined, arena);
            if (status < 0) {
                return status;
            }
        }
        if (determined) {
            watch_value(w, i, margin[i]);
            margin[i] = PP_INF;  // counted: out of what follows
        }
        least = fmin(least, margin[i]);
    }
    // Some undetermined force is at its end. Lawful forces, where they exist, keep the modes alive.
    if (least < AT_END) {
        pp_law_info chosen;
        perp_status status = pp_law_forces(laws, other, &chosen, arena);
        if (status < 0) {
            return status;
        }
        if (pp_law_residual(laws, other, arena) <= most) {
            return PERP_OK;
        }
    }
    for (int i = 0; i < laws->count; i++) {
        watch_value(w, i, margin[i]);
    }
    return PERP_OK;
}

// Conditions of the present modes. lost: a contact is not where it was.
static perp_status see_modes(watch *w, double t, const double *y, bool *lost)
{
    pp_flight *flight = w->flight;
    const pp_machine *machine = flight->machine;
    pp_arena *arena = flight->scratch;
    pp_instant instant;
    pp_laws laws;
    pp_law_info info;
    *lost = false;
    perp_status status = pp_instant_make(&instant, machine, t, y, y + machine->tree->nq,
                                         &flight->holds, true, arena);
    if (status < 0) {
        return status;
    }
    double *r = PP_ARRAY(arena, double, instant.rows);
    if (!r) {
        return PERP_ERR_MEMORY;
    }
    status = pp_instant_laws(&laws, machine, &instant, &flight->holds, arena);
    if (status < 0) {
        return status;
    }
    // Forces of least norm; see_forces looks for others only where these violate a law.
    status = pp_law_linear(&laws, r, &info, arena);
    if (status < 0) {
        return status;
    }
    *lost = instant.lost;
    see_slip(w, &instant, fastest(machine->model, instant.pass.body));
    return see_forces(w, &laws, &info, r);
}

// Whether any hold has conditions on forces or slip; equations have none.
static bool has_modes(const pp_flight *flight)
{
    for (int i = 0; i < flight->holds.count; i++) {
        pp_hold_kind kind = flight->holds.hold[i].kind;
        if (kind == PP_HOLD_CONTACT || kind == PP_HOLD_LIMIT || kind == PP_HOLD_MOTOR ||
            kind == PP_HOLD_DRY) {
            return true;
        }
    }
    return false;
}

perp_status pp_flight_event_margin(pp_flight *flight, double t, const double *y, double *margin,
                                   bool *ended)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_mark mark = pp_arena_mark(flight->scratch);
    watch w = {.flight = flight, .margin = PP_INF, .ended = ended};
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    double gap;
    bool lost = false;
    if (!body) {
        pp_arena_release(flight->scratch, mark);
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, t, y, y + machine->tree->nq, body);
    // Only near gaps matter here: a thousandth of the length is far in units of rounding.
    perp_status status = smallest_gap(flight, t, body, 1e-3 * machine->length, &gap);
    watch_value(&w, -1, gap / (ROUND_GAP * machine->length));
    see_limits(&w, t, body);
    if (status >= 0 && has_modes(flight)) {
        status = see_modes(&w, t, y, &lost);
    }
    // A feature that has gone ends the modes whatever the conditions say.
    *margin = lost ? -PP_INF : w.margin;
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── The first violated condition ─────────────────────────────────────────────────────────────────

// The margin on the dense output at t.
static perp_status margin_at(pp_flight *flight, double t, double *margin)
{
    perp_status status = pp_ode_at(flight->ode, t, flight->y_try);
    if (status < 0) {
        return status;
    }
    return pp_flight_event_margin(flight, t, flight->y_try, margin, NULL);
}

// The time between a and b at which the margin crosses zero (or -1, where it began below zero),
// by false position. Halving the value at the end that stays (the Illinois rule) and every third
// step a bisection keep the bracket shrinking. The result is the end b of the last bracket, where
// the condition is violated.
static perp_status refine_crossing(pp_flight *flight, double a, double margin_a, double b,
                                   double margin_b, double *when)
{
    double level = margin_a > 0.0 ? 0.0 : -1.0, f_A = margin_a - level, f_B = margin_b - level;
    double close = 4.0 * 2.220446049250313e-16 * fmax(fabs(b), 1e-3);
    // A margin exactly at the level would make false position divide by zero.
    f_A = f_A > 0.0 ? f_A : 1e-300;
    for (int k = 0; k < 120 && b - a > close; k++) {
        // False position, except where an end has no finite value, or it is
        // the turn of a bisection.
        bool halve = k % 3 == 2 || !isfinite(f_A) || !isfinite(f_B);
        double t = halve ? 0.5 * (a + b) : b - f_B * (b - a) / (f_B - f_A), f;
        // Keeps the new time inside the bracket. Where no number lies between
        // a and b, the search ends.
        t = pp_clamp(t, a + 0.01 * close, b - 0.01 * close);
        if (!(t > a) || !(t < b)) {
            t = 0.5 * (a + b);
        }
        if (!(t > a) || !(t < b)) {
            break;
        }
        perp_status status = margin_at(flight, t, &f);
        if (status < 0) {
            return status;
        }
        f -= level;
        if (f < 0.0) {
            b = t;
            f_B = f;
            f_A *= 0.5;
        } else {
            a = t;
            f_A = f;
            f_B *= 0.5;
        }
    }
    *when = b;
    return PERP_OK;
}

// [s] Longer steps are sampled at four times, steps up to the short one at their
// end only, others at two.
static const double LONG_STEP = 1e-3, SHORT_STEP = 1e-5;

// All conditions are sampled up to four times in a step of the integrator, and gaps so often that
// no shape passes through another (clear.c).
perp_status pp_flight_locate(pp_flight *flight, double t0, double t1, double *when, bool *found)
{
    double before = flight->margin, margin = 0.0, a = t0, clear;
    int sample = 1, samples = t1 - t0 > SHORT_STEP ? 2 : 1;
    if (t1 - t0 > LONG_STEP) {
        samples = 4;
    }
    *found = false;
    // The margin at t0 is known from the end of the step before, unless the
    // flight has changed since.
    if (flight->margin_t != t0) {
        perp_status status = margin_at(flight, t0, &before);
        if (status < 0) {
            flight->margin_t = -PP_INF;
            return status;
        }
    }
    flight->margin_t = -PP_INF;
    while (a < t1) {
        double b = sample >= samples ? t1 : t0 + (t1 - t0) * sample / samples;
        perp_status status = pp_ode_at(flight->ode, a, flight->y_try);
        if (status < 0) {
            return status;
        }
        status = pp_flight_clear_time(flight, a, flight->y_try, b - a, &clear);
        if (status < 0) {
            return status;
        }
        // Go on to the next sample, or only as far as nothing can have met. a +
        // clear may be a in rounding.
        sample += clear >= b - a;
        b = clear < b - a && a + clear > a ? a + clear : b;
        status = margin_at(flight, b, &margin);
        if (status < 0) {
            return status;
        }
        // A condition that is violated at b was not at a: its zero is between them.
        if (margin < -1.0) {
            *found = true;
            return refine_crossing(flight, a, before, b, margin, when);
        }
        a = b;
        before = margin;
    }
    flight->margin_t = a;
    flight->margin = before;
    return PERP_OK;
}
