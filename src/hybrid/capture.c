// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Short steps through what modes cannot follow: instants at which events do not end, no modes are found, or
// the integrator does not get on. Impulses over a short time obey the same laws as impulses of an impact,
// and these always have an answer.                                                     theory (H17)
//
//   H (qd+ - qd) = dt f + J^T r,   0 <= r_n _|_ u_n+ + 2 psi/dt >= 0,   |r_t| <= mu r_n against u_t+
//   q+ = q + dt (qd + qd+)/2
//
// Rows, gaps psi and forces f are taken half way; gaps at the end are then psi + dt/2 u_n+, and normal
// impulses do no work. Bodies that approach have met before, by the law of impacts; what meets slower than a
// bounce that is worth following stays.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static const double SHORTEST = 1e-6, LONGEST = 1e-4, CAPTURE_MIN = 1e-7;  // [s]
static const double BURST_INTERVAL =
    1e-3;  // [s]: modes that last longer are said to have worked again

static const double DEEPER = 1e-9;  // of the length: overlap that a short step may leave

enum { HALVINGS = 6, ROUNDS = 2, MOST_RUN = 64 };

typedef struct middle {
    pp_holds holds;
    pp_instant moment;
    double *q, *qd;   // half way
    double *allowed;  // rows: rate at which the step may close a gap [m/s]
} middle;

// ── A step ───────────────────────────────────────────────────────────────────────────────────────

// All that a step may close, half way through it. near: contacts whose normals are a start for those of the same pairs.
static perp_status find_mid_contacts(pp_flight *flight, double dt, const pp_holds *near,
                                     middle *mid)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_arena *arena = flight->scratch;
    pp_frame *body = PP_ARRAY(arena, pp_frame, m->bodies);
    pp_gaps gaps;
    pp_holds holds;
    perp_status status = body ? pp_holds_start(&holds, machine, arena) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    double t = flight->t + 0.5 * dt, speed = 1.0;
    pp_tree_move(machine->tree, flight->q, mid->qd, 0.5 * dt, mid->q);
    pp_tree_frames(machine->tree, t, mid->q, mid->qd, body);
    for (int i = 0; i < m->bodies; i++) {
        speed = fmax(speed, pp_length(body[i].v) + machine->length * pp_length(body[i].w));
    }
    pp_poses kin = {.t = t, .body = body};
    pp_gap_search search = {.margin = 4.0 * dt * speed};
    status = pp_flight_limits(flight, t, body, 4.0 * dt * speed, &holds);
    status = status < 0 ? status : pp_holds_hint(machine, near, &kin, &search, arena);
    status = status < 0 ? status : pp_gaps_run(&gaps, m, &kin, search, arena);
    for (int i = 0; status >= 0 && i < gaps.count; i++) {
        pp_hold hold = pp_hold_contact(&gaps.contact[i]);
        hold.place = pp_contact_anchor_of(m, body, t, &gaps.contact[i]);
        bool fine = pp_holds_add(&holds, hold, arena) &&
                    pp_holds_add_turning(&holds, machine, &gaps.contact[i], arena);
        status = fine ? PERP_OK : PERP_ERR_MEMORY;
    }
    mid->holds = holds;
    return status < 0 ? status
                      : pp_instant_make(&mid->moment, machine, t, mid->q, mid->qd, &mid->holds,
                                        true, arena);
}

static pp_law impulse_law(const pp_machine *machine, const middle *mid, int i, double dt)
{
    const pp_hold *hold = &mid->holds.hold[i];
    const pp_instant *instant = &mid->moment;
    pp_law law = {
        .kind = PP_LAW_EQUAL, .at = instant->at[i], .size = instant->size[i], .mode = PP_HELD};
    if (hold->kind == PP_HOLD_MOTOR || hold->kind == PP_HOLD_DRY) {
        const pp_joint *joint = &machine->model->joint[hold->joint];
        law.kind = PP_LAW_BOX;
        law.bound = dt * (hold->kind == PP_HOLD_DRY ? joint->friction : joint->rate_effort);
    } else if (hold->kind == PP_HOLD_LIMIT || hold->kind == PP_HOLD_CONTACT) {
        law.kind = PP_LAW_CONTACT;
        law.mu = pp_hold_mu(machine, instant, &mid->holds, i);
    } else if (hold->kind > PP_HOLD_CONTACT) {
        law.kind = PP_LAW_TURN;
        law.mu = pp_hold_mu(machine, instant, &mid->holds, i);
        law.on = pp_hold_base(&mid->holds, i);
    }
    return law;
}

// Rates at the end but for impulses, with what gaps leave. From the middle to the end rows turn: their drift.
static perp_status pose_step_laws(pp_flight *flight, double dt, middle *mid, pp_laws *out,
                                  double **rates)
{
    const pp_machine *machine = flight->machine;
    const pp_instant *instant = &mid->moment;
    const pp_holds *holds = &mid->holds;
    double *b = PP_ARRAY(flight->scratch, double, instant->rows);
    double *way = PP_ARRAY(flight->scratch, double, instant->nv);
    mid->allowed = PP_ZEROS(flight->scratch, double, instant->rows);
    *rates = b;
    pp_law *law = PP_ARRAY(flight->scratch, pp_law, holds->count);
    if (!b || !way || !law || !mid->allowed) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < instant->nv; k++) {
        way[k] = flight->qd[k] - mid->qd[k] + dt * instant->free[k];
    }
    for (int i = 0; i < holds->count; i++) {
        law[i] = impulse_law(machine, mid, i, dt);
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            const double *J = instant->J + (size_t)instant->nv * (size_t)at;
            bool gap = law[i].kind == PP_LAW_CONTACT && k == 0;
            b[at] = instant->rate[at] + pp_dot(instant->nv, J, way) + 0.5 * dt * instant->drift[at];
            if (gap) {
                mid->allowed[at] = fmax(0.0, 2.0 * instant->value[at] / dt);
                b[at] += mid->allowed[at];
            } else if (law[i].kind == PP_LAW_EQUAL) {
                b[at] += instant->value[at] / machine->options.eps;
            }
        }
    }
    *out = (pp_laws){.count = holds->count,
                     .rows = instant->rows,
                     .law = law,
                     .A = instant->A,
                     .b = b,
                     .tolerance = 1e-10,
                     .scale = instant->scale,
                     .least_u = instant->rate_scale};
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    return PERP_OK;
}

// Contacts that the step would close are stopped: an impulse that leaves them approaching obeys no law. soon: one of
// them approaches so fast that it bounces; the step has to end before.
static bool stop_closing(pp_flight *flight, const middle *mid, const double *r, double *b,
                         bool *soon)
{
    const pp_instant *instant = &mid->moment;
    bool any = false;
    for (int i = 0; i < mid->holds.count; i++) {
        pp_hold_kind kind = mid->holds.hold[i].kind;
        int at = instant->at[i];
        if ((kind != PP_HOLD_LIMIT && kind != PP_HOLD_CONTACT) || instant->size[i] == 0 ||
            !(r[at] > 0.0) || !(mid->allowed[at] > flight->tol_rate)) {
            continue;
        }
        *soon = *soon || instant->rate[at] < -pp_flight_rest_speed(flight);
        b[at] -= mid->allowed[at];
        mid->allowed[at] = 0.0;
        any = true;
    }
    return any;
}

// Impulses of a step of dt, and velocities at its end.
static perp_status solve_impulses(pp_flight *flight, double dt, middle *mid, double *r, double *qd)
{
    pp_laws laws;
    pp_law_info info;
    const pp_instant *instant = &mid->moment;
    bool closing = instant->rows > 0, soon = false;
    double *b = NULL;
    perp_status status = pose_step_laws(flight, dt, mid, &laws, &b);
    for (int round = 0; round <= mid->holds.count && closing && status >= 0; round++) {
        status = pp_law_solve(&laws, r, &info, flight->machine->env, flight->scratch);
        status = status == PERP_INEXACT ? PERP_ERR_LIMIT : status;
        closing = status >= 0 && stop_closing(flight, mid, r, b, &soon);
    }
    if (status >= 0 && soon && dt > CAPTURE_MIN) {
        return PERP_ERR_LIMIT;
    }
    if (status >= 0) {
        memcpy(qd, flight->qd, (size_t)instant->nv * sizeof *qd);
        pp_axpy(instant->nv, dt, instant->free, qd);
        pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, r, qd);
        status = pp_all_finite((size_t)instant->nv, qd) ? PERP_OK : PERP_ERR_NUMERIC;
    }
    return status;
}

// The deepest overlap of a configuration [m], 0: none.
static perp_status deepest_overlap(pp_flight *flight, double t, const double *q, const double *qd,
                                   const pp_holds *near, double *depth)
{
    const pp_machine *machine = flight->machine;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, machine->model->bodies);
    pp_gaps gaps = {0};
    *depth = 0.0;
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, t, q, qd, body);
    pp_poses kin = {.t = t, .body = body};
    pp_gap_search search = {0};
    perp_status status = pp_holds_hint(machine, near, &kin, &search, flight->scratch);
    status =
        status < 0 ? status : pp_gaps_run(&gaps, machine->model, &kin, search, flight->scratch);
    for (int i = 0; status >= 0 && i < gaps.count; i++) {
        *depth = fmax(*depth, -gaps.contact[i].gap);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// Rows are those of the middle: a step after which bodies overlap more was too long for them.
static perp_status check_penetration(pp_flight *flight, double dt, const middle *mid,
                                     const double *qd)
{
    double before, after;
    perp_status status =
        deepest_overlap(flight, flight->t, flight->q, flight->qd, &mid->holds, &before);
    status = status < 0 ? status
                        : deepest_overlap(flight, flight->t + dt, mid->q, qd, &mid->holds, &after);
    bool deep =
        status >= 0 && after > before + DEEPER * flight->machine->length && dt > CAPTURE_MIN;
    return deep ? PERP_ERR_LIMIT : status;
}

static perp_status try_capture_step(pp_flight *flight, double dt)
{
    const pp_tree *tree = flight->machine->tree;
    pp_arena *arena = flight->scratch;
    pp_mark mark = pp_arena_mark(arena);
    middle mid = {.q = PP_ARRAY(arena, double, tree->nq), .qd = PP_ARRAY(arena, double, tree->nv)};
    double *qd = PP_ARRAY(arena, double, 2 * (size_t)tree->nv), *mean = qd + tree->nv, *r = NULL;
    perp_status status = mid.q && mid.qd && qd ? PERP_OK : PERP_ERR_MEMORY;
    if (status >= 0) {
        memcpy(mean, flight->qd, (size_t)tree->nv * sizeof *qd);
    }
    for (int round = 0; round < ROUNDS && status >= 0; round++) {
        memcpy(mid.qd, mean, (size_t)tree->nv * sizeof *qd);
        status = find_mid_contacts(flight, dt, round == 0 ? &flight->holds : &mid.holds, &mid);
        r = status < 0 ? NULL : PP_ZEROS(arena, double, mid.moment.rows);
        status = status >= 0 && !r ? PERP_ERR_MEMORY : status;
        status = status < 0 ? status : solve_impulses(flight, dt, &mid, r, qd);
        for (int k = 0; status >= 0 && k < tree->nv; k++) {
            mean[k] = 0.5 * (flight->qd[k] + qd[k]);
        }
    }
    if (status >= 0) {
        pp_tree_move(tree, flight->q, mean, dt, mid.q);
        status = check_penetration(flight, dt, &mid, qd);
    }
    pp_short_step taken = {&mid.moment, &mid.holds, r, dt, mid.q, qd};
    status = status < 0 ? status : pp_flight_sum_short(flight, &taken);
    if (status >= 0) {
        memcpy(flight->q, mid.q, (size_t)tree->nq * sizeof *mid.q);
        memcpy(flight->qd, qd, (size_t)tree->nv * sizeof *qd);
        flight->stale = true;
        flight->t = flight->t + dt < flight->end ? flight->t + dt : flight->end;
    }
    pp_arena_release(arena, mark);
    return status;
}

// ── The stretch ──────────────────────────────────────────────────────────────────────────────────

// One event for steps that follow each other.
static perp_status record_capture_event(pp_flight *flight, double from, const char *why)
{
    pp_hybrid_result *out = flight->result;
    memcpy(flight->other, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
    if (flight->captured < 0) {
        perp_event *event = pp_flight_add_event(flight, PERP_EVENT_CAPTURED, NULL);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        flight->captured = out->events - 1;
        event->t = from;
        pp_print(event->remark, sizeof event->remark, "short steps, because %s", why);
    }
    out->event[flight->captured].t_end = flight->t;
    return PERP_OK;
}

// One short step, shorter where that has no answer.
static perp_status take_capture_step(pp_flight *flight)
{
    bool again = true;
    perp_status status = PERP_OK;
    for (int k = 0; k < PP_EXCHANGES && again && status >= 0; k++) {
        pp_holds holds;
        again = false;
        status = pp_flight_touching(flight, &holds);
        bool *ends = status < 0 ? NULL : PP_ZEROS(flight->keep, bool, holds.count);
        if (status >= 0 && !ends) {
            status = PERP_ERR_MEMORY;
        }
        status = status < 0 ? status
                            : pp_flight_resolve_impacts(
                                  flight, &holds, pp_flight_rest_speed(flight), true, ends, &again);
    }
    double dt = fmin(flight->capture_dt, flight->end - flight->t);
    for (int k = 0; k < HALVINGS && status >= 0; k++, dt *= 0.25) {
        status = try_capture_step(flight, dt);
        if (status >= 0 || status == PERP_ERR_MEMORY) {
            flight->capture_dt = k > 0 ? dt : flight->capture_dt;
            break;
        }
        status = k + 1 < HALVINGS ? PERP_OK : status;
    }
    return status;
}

// Steps become longer and more of them follow each other while modes lead nowhere.
perp_status pp_flight_capture(pp_flight *flight, const char *why)
{
    bool soon = flight->t - flight->capture_end < BURST_INTERVAL;
    double from = flight->t;
    flight->capture_dt = soon ? fmin(LONGEST, 2.0 * flight->capture_dt) : SHORTEST;
    flight->capture_run = soon ? 2 * flight->capture_run : 1;
    flight->capture_run = flight->capture_run < MOST_RUN ? flight->capture_run : MOST_RUN;
    flight->captured = soon ? flight->captured : -1;
    perp_status status = PERP_OK;
    for (int k = 0; k < flight->capture_run && status >= 0 && flight->t < flight->end; k++) {
        status = take_capture_step(flight);
    }
    flight->capture_end = flight->t;
    return status < 0 ? status : record_capture_event(flight, from, why);
}
