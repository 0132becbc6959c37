// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Short steps by impulses where modes fail: events accumulate, no modes are found, or
// the integrator stalls. Impulses over a short time obey the same laws as those of an
// impact, and need no modes.                                                           theory (H17)
//
//   H (qd+ - qd) = dt f + J^T r,   0 <= r_n _|_ u_n+ + 2 psi/dt >= 0,   |r_t| <= mu r_n against u_t+
//   q+ = q + dt (qd + qd+)/2
//
// Rows, gaps psi and forces f are taken at the middle of the step. Gaps at the end are then psi +
// dt/2 u_n+, and normal impulses do no work. Bodies that touch and approach undergo an impact
// first; contacts that meet more slowly than pp_flight_rest_speed do not rebound.
//
// No direction of sliding is given, so the problem has a solution whenever the purely unilateral
// problem without friction has one. Errors of these steps are not controlled, so they are short and
// modes are tried again soon.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// [s] The first short step, the longest one, and the one below which a step is
// taken whatever it leaves.
static const double SHORTEST = 1e-6, LONGEST = 1e-4, CAPTURE_MIN = 1e-7;
static const double BURST_INTERVAL = 1e-3;  // [s] modes that last longer ended the failure

static const double DEEPER = 1e-9;  // of the length: overlap that a short step may add
// Of the kinetic energy: what contacts may put in over a short step.
static const double CREATED = 1e-9;

enum { HALVINGS = 6, ROUNDS = 2, MOST_RUN = 64 };

// The middle of a short step.
typedef struct middle {
    pp_holds holds;
    pp_instant moment;
    double *q, *qd;   // half way
    double *allowed;  // rows: rate at which the step may close a gap [m/s]
} middle;

// ── A step ───────────────────────────────────────────────────────────────────────────────────────

// Finds all limits and contacts that a step of dt may close, at its middle, and makes the instant
// there. near: contacts whose normals are a start for those of the same pairs.
static perp_status find_mid_contacts(pp_flight *flight, double dt, const pp_holds *near,
                                     middle *mid)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_arena *arena = flight->scratch;
    pp_frame *body = PP_ARRAY(arena, pp_frame, m->bodies);
    pp_gaps gaps;
    pp_holds holds;
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_holds_start(&holds, machine, arena);
    if (status < 0) {
        return status;
    }
    double t = flight->t + 0.5 * dt, speed = 1.0;
    // The middle: half a step with the velocities that the guess has there.
    pp_tree_move(machine->tree, flight->q, mid->qd, 0.5 * dt, mid->q);
    pp_tree_frames(machine->tree, t, mid->q, mid->qd, body);
    for (int i = 0; i < m->bodies; i++) {
        speed = fmax(speed, pp_length(body[i].v) + machine->length * pp_length(body[i].w));
    }
    // Two bodies close a gap by at most 2 speed dt in the step; twice that leaves
    // room for impulses within it.
    pp_poses kin = {.t = t, .body = body};
    pp_gap_search search = {.margin = 4.0 * dt * speed};
    status = pp_flight_limits(flight, t, body, 4.0 * dt * speed, &holds);
    if (status < 0) {
        return status;
    }
    status = pp_holds_hint(machine, near, &kin, &search, arena);
    if (status < 0) {
        return status;
    }
    status = pp_gaps_run(&gaps, m, &kin, search, arena);
    if (status < 0) {
        return status;
    }
    // All of them may act, open or closed: the gaps in the problem decide.
    for (int i = 0; i < gaps.count; i++) {
        pp_hold hold = pp_hold_contact(&gaps.contact[i]);
        hold.place = pp_contact_anchor_of(m, body, t, &gaps.contact[i]);
        if (!pp_holds_add(&holds, hold, arena) ||
            !pp_holds_add_turning(&holds, machine, &gaps.contact[i], arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    mid->holds = holds;
    return pp_instant_make(&mid->moment, machine, t, mid->q, mid->qd, &mid->holds, true, arena);
}

// The law of hold i for impulses over dt: efforts and dry friction are bounded by dt times their
// bounds, and no contact has a given direction of sliding.
static pp_law impulse_law(const pp_machine *machine, const middle *mid, int i, double dt)
{
    const pp_hold *hold = &mid->holds.hold[i];
    const pp_instant *instant = &mid->moment;
    pp_law law = {
        .kind = PP_LAW_EQUAL, .at = instant->at[i], .size = instant->size[i], .mode = PP_HELD};
    // In a finite time motors and dry friction exchange finite impulses, unlike in an impact.
    if (hold->kind == PP_HOLD_MOTOR || hold->kind == PP_HOLD_DRY) {
        const pp_joint *joint = &machine->model->joint[hold->joint];
        law.kind = PP_LAW_BOX;
        law.bound = dt * (hold->kind == PP_HOLD_DRY ? joint->friction : joint->rate_effort);
    } else if (pp_hold_is_unilateral(hold)) {
        law.kind = PP_LAW_CONTACT;
        law.mu = pp_hold_mu(machine, instant, &mid->holds, i);
    } else if (pp_hold_is_turning(hold)) {
        law.kind = PP_LAW_TURN;
        law.mu = pp_hold_mu(machine, instant, &mid->holds, i);
        law.on = pp_hold_base(&mid->holds, i);
    }
    return law;
}

// The laws of a step: b are the rates at its end without impulses, plus 2
// psi/dt of gaps. *rates is b.
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
    pp_assert(holds->count == 0 || instant->size);
    // From the velocities of the middle, which the rates of the instant belong to, to those at
    // the end without impulses.
    for (int k = 0; k < instant->nv; k++) {
        way[k] = flight->qd[k] - mid->qd[k] + dt * instant->free[k];
    }
    for (int i = 0; i < holds->count; i++) {
        law[i] = impulse_law(machine, mid, i, dt);
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            const double *J = instant->J + (size_t)instant->nv * (size_t)at;
            bool gap = law[i].kind == PP_LAW_CONTACT && k == 0;
            // Rows turn between the middle and the end: dt/2 times their drift.
            b[at] = instant->rate[at] + pp_dot(instant->nv, J, way) + 0.5 * dt * instant->drift[at];
            if (gap) {
                mid->allowed[at] = fmax(0.0, 2.0 * instant->value[at] / dt);
                b[at] += mid->allowed[at];
            } else if (pp_hold_epsilon(machine, &holds->hold[i]) > 0.0) {
                b[at] -= pp_hold_decayed(machine, &holds->hold[i], dt, instant->value[at],
                                         instant->rate[at]);
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

// Open contacts that the step would close are stopped, 0 <= u_n+ in place of 0 <= u_n+ + 2 psi/dt:
// an impulse that leaves them approaching obeys no law. soon: one of them approaches fast enough to
// rebound, so the step has to end before. False: there are no such contacts.
static bool stop_closing(pp_flight *flight, const middle *mid, const double *r, double *b,
                         bool *soon)
{
    const pp_instant *instant = &mid->moment;
    bool any = false;
    for (int i = 0; i < mid->holds.count; i++) {
        int at = instant->at[i];
        if (!pp_hold_is_unilateral(&mid->holds.hold[i]) || instant->size[i] == 0 ||
            !(r[at] > 0.0) || !(mid->allowed[at] > flight->tol_rate)) {
            continue;
        }
        // allowed > tol_rate: the gap was open, and an impulse r > 0 acts before it is closed.
        *soon = *soon || instant->rate[at] < -pp_flight_rest_speed(flight);
        b[at] -= mid->allowed[at];
        mid->allowed[at] = 0.0;
        any = true;
    }
    return any;
}

// Impulses r of a step of dt, and velocities qd at its end. PERP_ERR_LIMIT: a shorter
// step may have a solution. last: no shorter one is tried, and impulses that obey the laws to 1e-6
// of their size are taken; the certificate judges them.
static perp_status solve_impulses(pp_flight *flight, double dt, bool last, middle *mid, double *r,
                                  double *qd)
{
    pp_laws laws;
    pp_law_info info;
    const pp_instant *instant = &mid->moment;
    bool soon = false;
    double *b = NULL;
    perp_status status = pose_step_laws(flight, dt, mid, &laws, &b);
    if (status < 0) {
        return status;
    }
    // Each round stops at least one more contact.
    for (int round = 0; instant->rows > 0 && round <= mid->holds.count; round++) {
        status = pp_law_solve(&laws, r, &info, flight->machine->env, flight->scratch);
        if (status < 0 || (status == PERP_INEXACT && !last)) {
            return status < 0 ? status : PERP_ERR_LIMIT;
        }
        if (!stop_closing(flight, mid, r, b, &soon)) {
            break;
        }
    }
    if (soon && dt > CAPTURE_MIN) {
        return PERP_ERR_LIMIT;
    }
    // qd+ = qd + dt H^-1 (B u - C) + H^-1 J^T r                                        theory (H17)
    memcpy(qd, flight->qd, (size_t)instant->nv * sizeof *qd);
    pp_axpy(instant->nv, dt, instant->free, qd);
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, r, qd);
    return pp_all_finite((size_t)instant->nv, qd) ? PERP_OK : PERP_ERR_NUMERIC;
}

// The deepest overlap of a configuration [m], 0: none. In the scratch arena.
static perp_status deepest_overlap(pp_flight *flight, double t, const double *q, const double *qd,
                                   const pp_holds *near, double *depth)
{
    const pp_machine *machine = flight->machine;
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
    if (status < 0) {
        return status;
    }
    status = pp_gaps_run(&gaps, machine->model, &kin, search, flight->scratch);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        *depth = fmax(*depth, -gaps.contact[i].gap);
    }
    return PERP_OK;
}

// Rows are those of the middle: a step after which bodies overlap more was too long for
// them. PERP_ERR_LIMIT: it was.
static perp_status check_penetration(pp_flight *flight, double dt, const middle *mid,
                                     const double *qd)
{
    double before, after;
    perp_status status =
        deepest_overlap(flight, flight->t, flight->q, flight->qd, &mid->holds, &before);
    if (status < 0) {
        return status;
    }
    status = deepest_overlap(flight, flight->t + dt, mid->q, qd, &mid->holds, &after);
    if (status < 0) {
        return status;
    }
    // The shortest step is taken in any case: there is nothing left to try.
    bool deep = after > before + DEEPER * flight->machine->length && dt > CAPTURE_MIN;
    return deep ? PERP_ERR_LIMIT : PERP_OK;
}

// Friction opposes the slip at the end of the step and works along the mean of both ends: where slip
// turns round within the step it may put energy in. Such a step was too long. PERP_ERR_LIMIT: it was.
// mean: the velocities half way; the moment has those of a guess.
static perp_status check_energy(pp_flight *flight, double dt, const middle *mid, const double *r,
                                const double *mean)
{
    const pp_instant *instant = &mid->moment;
    double *late = PP_ARRAY(flight->scratch, double, instant->nv), work = 0.0;
    if (!late) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < instant->nv; k++) {
        late[k] = mean[k] - instant->qd[k];
    }
    for (int i = 0; i < mid->holds.count; i++) {
        if (!pp_hold_touches(&mid->holds.hold[i])) {
            continue;
        }
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            const double *J = instant->J + (size_t)at * (size_t)instant->nv;
            work += r[at] * (instant->rate[at] + pp_dot(instant->nv, J, late));
        }
    }
    bool creates = work > CREATED * pp_tree_kinetic(&instant->pass) && dt > CAPTURE_MIN;
    return creates ? PERP_ERR_LIMIT : PERP_OK;
}

// One short step of dt; the flight moves only where it succeeds. In the scratch arena.
static perp_status try_capture_step(pp_flight *flight, double dt, bool last)
{
    const pp_tree *tree = flight->machine->tree;
    pp_arena *arena = flight->scratch;
    middle mid = {.q = PP_ARRAY(arena, double, tree->nq), .qd = PP_ARRAY(arena, double, tree->nv)};
    double *qd = PP_ARRAY(arena, double, 2 * (size_t)tree->nv), *mean = qd + tree->nv, *r = NULL;
    if (!mid.q || !mid.qd || !qd) {
        return PERP_ERR_MEMORY;
    }
    // The middle depends on the velocities at the end: it starts from those
    // before and is renewed once.
    memcpy(mean, flight->qd, (size_t)tree->nv * sizeof *qd);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(mid.qd, mean, (size_t)tree->nv * sizeof *qd);
        perp_status status =
            find_mid_contacts(flight, dt, round == 0 ? &flight->holds : &mid.holds, &mid);
        if (status < 0) {
            return status;
        }
        r = PP_ZEROS(arena, double, mid.moment.rows);
        if (!r) {
            return PERP_ERR_MEMORY;
        }
        status = solve_impulses(flight, dt, last, &mid, r, qd);
        if (status < 0) {
            return status;
        }
        for (int k = 0; k < tree->nv; k++) {
            mean[k] = 0.5 * (flight->qd[k] + qd[k]);
        }
    }
    // q+ = q (+) dt (qd + qd+)/2                                                       theory (H17)
    pp_tree_move(tree, flight->q, mean, dt, mid.q);
    perp_status status = check_energy(flight, dt, &mid, r, mean);
    if (status < 0) {
        return status;
    }
    status = check_penetration(flight, dt, &mid, qd);
    if (status < 0) {
        return status;
    }
    pp_short_step taken = {&mid.moment, &mid.holds, r, dt, mid.q, qd};
    status = pp_flight_sum_short(flight, &taken);
    if (status < 0) {
        return status;
    }
    // Only now does the flight move. Its holds belong to the state before.
    memcpy(flight->q, mid.q, (size_t)tree->nq * sizeof *mid.q);
    memcpy(flight->qd, qd, (size_t)tree->nv * sizeof *qd);
    flight->stale = true;
    flight->t = flight->t + dt < flight->end ? flight->t + dt : flight->end;
    return status;
}

// ── A sequence of steps ──────────────────────────────────────────────────────────────────────────

// One event `captured` covers all short steps that follow each other closely;
// its end moves on with them.
static perp_status record_capture_event(pp_flight *flight, double from, const char *why)
{
    pp_hybrid_result *out = flight->result;
    memcpy(flight->qd_after, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
    // The rates before and after are the same: the jumps within the period are
    // not events of their own.
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

// Impacts of the contacts that approach now. Points of round faces are
// exchanged until none is missing.
static perp_status resolve_capture_impacts(pp_flight *flight)
{
    for (int k = 0; k < PP_EXCHANGES; k++) {
        pp_holds holds;
        bool again = false;
        flight->exchange = k;
        perp_status status = pp_flight_touching(flight, &holds);
        if (status < 0) {
            return status;
        }
        // No Zeno sequences are looked for here: `ends` stays false.
        bool *ends = PP_ZEROS(flight->keep, bool, holds.count);
        if (!ends) {
            return PERP_ERR_MEMORY;
        }
        status = pp_flight_resolve_impacts(flight, &holds, pp_flight_rest_speed(flight), true, ends,
                                           &again);
        if (status < 0 || !again) {
            return status;
        }
    }
    return PERP_OK;
}

// Impacts, then one short step. A step without a solution is repeated with a quarter of its length.
static perp_status take_capture_step(pp_flight *flight)
{
    perp_status status = resolve_capture_impacts(flight);
    if (status < 0) {
        return status;
    }
    // The last step ends with the step of the user.
    double dt = fmin(flight->capture_dt, flight->end - flight->t);
    for (int k = 0; k < HALVINGS; k++, dt *= 0.25) {
        pp_mark mark = pp_arena_mark(flight->scratch);
        status = try_capture_step(flight, dt, k + 1 == HALVINGS);
        pp_arena_release(flight->scratch, mark);
        if (status >= 0 || pp_is_final(status)) {
            flight->capture_dt = k > 0 ? dt : flight->capture_dt;
            return status;
        }
    }
    return status;
}

// While modes fail again soon after short steps, steps become twice as long and twice
// as many follow each other.
perp_status pp_flight_capture(pp_flight *flight, const char *why)
{
    bool soon = flight->t - flight->capture_end < BURST_INTERVAL;
    double from = flight->t;
    flight->capture_dt = soon ? fmin(LONGEST, 2.0 * flight->capture_dt) : SHORTEST;
    flight->capture_run = soon ? 2 * flight->capture_run : 1;
    flight->capture_run = flight->capture_run < MOST_RUN ? flight->capture_run : MOST_RUN;
    flight->captured = soon ? flight->captured : -1;
    // Several steps in a row before modes are tried again.
    for (int k = 0; k < flight->capture_run && flight->t < flight->end; k++) {
        perp_status status = take_capture_step(flight);
        if (status < 0) {
            flight->capture_end = flight->t;
            return status;
        }
    }
    flight->capture_end = flight->t;
    return record_capture_event(flight, from, why);
}
