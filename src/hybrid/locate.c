// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a mode ends: conditions along the dense output of the integrator.                theory (H13)
//
// Every condition is a number that must not become negative, divided by the size of its rounding: the
// smallest of them is searched for its first zero. A condition that begins at zero (a contact that has
// just opened) counts as broken below -1 only.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static const double ROUND_GAP = 1e-13;    // of the machine's length
static const double ROUND_RATE = 1e-12;   // [m/s], and relative to the fastest
static const double ROUND_FORCE = 1e-10;  // of the largest force
static const double LOOSE = 1e-6;         // of the length: gaps below zero that may open
static const double AT_END = 10.0;        // in units of rounding: conditions that end at once

typedef struct watch {
    pp_flight *flight;
    double margin;
    bool *ended;  // holds, or NULL
} watch;

static void watch_value(watch *w, int hold, double value)
{
    w->margin = fmin(w->margin, value);
    if (w->ended && hold >= 0 && value < AT_END) {
        w->ended[hold] = true;
    }
}

static double fastest(const perp_model *m, const pp_frame *body)
{
    double speed = 1.0;
    for (int i = 0; i < m->bodies; i++) {
        speed = fmax(speed, pp_length(body[i].v));
    }
    return speed;
}

// ── Gaps and limits ──────────────────────────────────────────────────────────────────────────────

// A gap that is left below zero (by rounding, or where the points of a face take turns) counts as one while it
// opens: it is not getting deeper.
static double gap_of(const pp_flight *flight, const pp_frame *body, const pp_contact *c)
{
    const perp_model *m = flight->machine->model;
    if (c->gap > 0.0 || c->gap < -LOOSE * flight->machine->length) {
        return c->gap;
    }
    perp_vec3 v = pp_sub(pp_point_velocity(&body[m->shape[c->b].body], c->point),
                         pp_point_velocity(&body[m->shape[c->a].body], c->point));
    return pp_dot3(v, c->n) < -flight->tol_rate ? c->gap
                                                : 0.5 * ROUND_GAP * flight->machine->length;
}

// How deep the closed contacts of a pair are: a point of the same pair that is no deeper has not met.
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

// The smallest gap of contacts that are open; reach where there is none within it.
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
    status = status < 0 ? status : pp_gaps_run(&gaps, machine->model, &kin, search, arena);
    status = status < 0 ? status : pp_holds_match(machine, holds, place, &gaps, body, which, arena);
    for (int i = 0; status >= 0 && i < gaps.count; i++) {
        pp_contact c = gaps.contact[i];
        bool closed = c.gap >= *gap;
        for (int k = 0; !closed && k < holds->count; k++) {
            closed = which[k] == i;
        }
        c.gap -= closed || c.gap > 0.0 ? 0.0 : level_of(holds, which, &gaps, &c);
        *gap = closed ? *gap : fmin(*gap, gap_of(flight, body, &c));
    }
    return status;
}

static bool is_active(const pp_holds *holds, int joint, double sign)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (h->kind == PP_HOLD_LIMIT && h->joint == joint && h->sign == sign) {
            return true;
        }
    }
    return false;
}

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
            double beyond = sign * (row.value - bound), unit = ROUND_GAP * fmax(1.0, fabs(bound));
            bool opens = beyond <= 0.0 && beyond > -w->flight->tol_limit && sign * row.v_pre >= 0.0;
            if (isfinite(bound) && !is_active(&w->flight->holds, i, sign)) {
                watch_value(w, -1, opens ? 0.5 : beyond / unit);
            }
        }
    }
}

// ── Forces and slip ──────────────────────────────────────────────────────────────────────────────

static void see_slip(watch *w, const pp_instant *instant, double speed)
{
    const pp_holds *holds = &w->flight->holds;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (h->mode != PP_SLIDES || instant->size[i] == 0) {
            continue;
        }
        double slip[2], along;
        if (h->kind == PP_HOLD_ROLL) {
            const pp_contact *c = &instant->contact[i];
            pp_instant_spin(instant, i, slip);
            along =
                slip[0] * pp_dot3(h->d_W, c->t) + slip[1] * pp_dot3(h->d_W, pp_cross(c->n, c->t));
        } else if (h->kind != PP_HOLD_CONTACT) {
            along = h->d * instant->rate[instant->at[i]];
        } else if (instant->size[i] < 3) {
            pp_instant_slip(instant, i, slip);
            along = h->d * slip[0];
        } else {
            const pp_contact *c = &instant->contact[i];
            pp_instant_slip(instant, i, slip);
            along =
                slip[0] * pp_dot3(h->d_W, c->t) + slip[1] * pp_dot3(h->d_W, pp_cross(c->n, c->t));
        }
        watch_value(w, i, along / (ROUND_RATE * speed));
    }
}

// The conditions of each law, the least of them; none: infinite.
static void force_margins(const pp_laws *laws, const double *r, double *margin)
{
    double size_u, size_r;
    pp_law_sizes(laws, r, &size_u, &size_r);
    double unit = ROUND_FORCE * size_r;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        const double *f = r + law->at;
        margin[i] = PP_INF;
        if (law->size == 0 || law->kind == PP_LAW_EQUAL || law->kind == PP_LAW_RUBBING) {
            continue;
        }
        if (pp_law_is_turning(law)) {
            double push = law->size == 2 ? hypot(f[0], f[1]) : fabs(f[0]);
            if (law->kind == PP_LAW_TURN) {
                margin[i] = (law->mu * r[laws->law[law->on].at] - push) / unit;
            }
            continue;
        }
        if (law->kind == PP_LAW_BOX) {
            if (law->mode == PP_HELD) {
                margin[i] = (law->bound - fabs(f[0])) / unit;
            }
            continue;
        }
        margin[i] = f[0] / unit;
        if (law->kind == PP_LAW_CONTACT && law->size > 1) {
            double push = law->size == 3 ? hypot(f[1], f[2]) : fabs(f[1]);
            margin[i] = fmin(margin[i], (law->mu * f[0] - push) / unit);
        }
    }
}

// A contact that is one of several points of its pair: they share a load.
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

// Forces r (least norm) against their laws. Where loads are not determined and the least of them break a law, those that
// are determined count as they are; the others count where no other share of the load keeps all laws.
static perp_status see_forces(watch *w, const pp_laws *laws, const pp_law_info *info,
                              const double *r)
{
    const pp_holds *holds = &w->flight->holds;
    pp_arena *arena = w->flight->scratch;
    double *margin = PP_ARRAY(arena, double, laws->count);
    double *other = PP_ARRAY(arena, double, laws->rows), least = PP_INF;
    bool kept = false;
    double most = w->flight->confirmed ? PP_LAW_KEPT_ON : PP_LAW_KEPT;
    if (!margin || !other) {
        return PERP_ERR_MEMORY;
    }
    force_margins(laws, r, margin);
    for (int i = 0; i < laws->count; i++) {
        bool determined = info->rank == info->equations || margin[i] >= AT_END;
        if (!determined && !is_one_of_several(holds, i)) {
            perp_status status = pp_law_determined(laws, i, &determined, arena);
            if (status < 0) {
                return status;
            }
        }
        if (determined) {
            watch_value(w, i, margin[i]);
            margin[i] = PP_INF;
        }
        least = fmin(least, margin[i]);
    }
    if (least < AT_END) {
        pp_law_info chosen;
        perp_status status = pp_law_forces(laws, other, &chosen, arena);
        if (status < 0) {
            return status;
        }
        kept = pp_law_residual(laws, other, arena) <= most;
    }
    for (int i = 0; i < laws->count && !kept; i++) {
        watch_value(w, i, margin[i]);
    }
    return PERP_OK;
}

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
    double *r = status < 0 ? NULL : PP_ARRAY(arena, double, instant.rows);
    status = status < 0 ? status : r ? PERP_OK : PERP_ERR_MEMORY;
    status = status < 0 ? status : pp_instant_laws(&laws, machine, &instant, &flight->holds, arena);
    status = status < 0 ? status : pp_law_linear(&laws, r, &info, arena);
    if (status < 0) {
        return status;
    }
    *lost = instant.lost;
    see_slip(w, &instant, fastest(machine->model, instant.pass.body));
    return see_forces(w, &laws, &info, r);
}

// Whether modes need forces to be looked at.
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
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, t, y, y + machine->tree->nq, body);
    perp_status status = smallest_gap(flight, t, body, 1e-3 * machine->length, &gap);
    watch_value(&w, -1, gap / (ROUND_GAP * machine->length));
    see_limits(&w, t, body);
    if (status >= 0 && has_modes(flight)) {
        status = see_modes(&w, t, y, &lost);
    }
    *margin = lost ? -PP_INF : w.margin;
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── The first broken condition ───────────────────────────────────────────────────────────────────

static perp_status margin_at(pp_flight *flight, double t, double *margin)
{
    perp_status status = pp_ode_at(flight->ode, t, flight->y_try);
    return status < 0 ? status : pp_flight_event_margin(flight, t, flight->y_try, margin, NULL);
}

// At the start of a step of the integrator it is known from the end of the one before.
static perp_status margin_before(pp_flight *flight, double t, double *margin)
{
    *margin = flight->margin;
    return flight->margin_t == t ? PERP_OK : margin_at(flight, t, margin);
}

// Zero (or -1, where it began below zero) of the margin between a and b, by false position with halving.
static perp_status refine_crossing(pp_flight *flight, double a, double margin_a, double b,
                                   double margin_b, double *when)
{
    double level = margin_a > 0.0 ? 0.0 : -1.0, f_A = margin_a - level, f_B = margin_b - level;
    double close = 4.0 * 2.220446049250313e-16 * fmax(fabs(b), 1e-3);
    f_A = f_A > 0.0 ? f_A : 1e-300;
    for (int k = 0; k < 120 && b - a > close; k++) {
        bool halve = k % 3 == 2 || !isfinite(f_A) || !isfinite(f_B);
        double t = halve ? 0.5 * (a + b) : b - f_B * (b - a) / (f_B - f_A), f;
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

static const double LONG_STEP = 1e-3,
                    SHORT_STEP = 1e-5;  // [s]: steps that are looked at four times, and once

// All conditions are looked at up to four times in a step of the integrator, and gaps so often that nothing
// passes through anything unseen.
perp_status pp_flight_locate(pp_flight *flight, double t0, double t1, double *when, bool *found)
{
    double before, margin = 0.0, a = t0, clear;
    int sample = 1, samples = t1 - t0 > LONG_STEP ? 4 : t1 - t0 > SHORT_STEP ? 2 : 1;
    *found = false;
    perp_status status = margin_before(flight, t0, &before);
    flight->margin_t = -PP_INF;
    while (status >= 0 && a < t1) {
        double b = sample >= samples ? t1 : t0 + (t1 - t0) * sample / samples;
        status = pp_ode_at(flight->ode, a, flight->y_try);
        status =
            status < 0 ? status : pp_flight_clear_time(flight, a, flight->y_try, b - a, &clear);
        if (status < 0) {
            return status;
        }
        sample += clear >= b - a;
        b = clear < b - a && a + clear > a ? a + clear : b;
        status = margin_at(flight, b, &margin);
        if (status >= 0 && margin < -1.0) {
            *found = true;
            return refine_crossing(flight, a, before, b, margin, when);
        }
        a = b;
        before = margin;
    }
    flight->margin_t = a;
    flight->margin = before;
    return status;
}
