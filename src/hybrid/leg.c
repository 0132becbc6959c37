// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Smooth motion up to the next event.                                                  theory (H13)
//
// A step of the integrator is accepted if closed contacts are still closed at its end. If they are
// not, the step passed a point at which accelerations jump without an event of their own (a ball
// that rolls from a face over its edge). It is then rejected, and shorter steps approach the point
// until the jump is lost in rounding.
//
// The integrator is asked for one internal step at a time. Events are located on its dense
// output, so the step size depends on the tolerances and not on the events, and the integrator
// restarts only after events and rejected steps.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// The integrator knows nothing of |quaternion| = 1 and lets it drift.
static void normalise_quaternions(const pp_tree *tree, double *q)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        if (l->kind != PP_LINK_SPHERICAL && l->kind != PP_LINK_FREE) {
            continue;
        }
        double *r = q + l->at_q + (l->kind == PP_LINK_FREE ? 3 : 0);
        double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        for (int k = 0; k < 4; k++) {
            r[k] /= norm;
        }
    }
}

// Records the direction of sliding or rolling at an instant, and the place, normal rate and feature
// of a contact, from which it is recognised later. Below 1e-5 m/s the direction of slip is too
// uncertain, and the last one is kept.
static void keep_contact(const perp_model *m, const pp_instant *instant, int i, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    double slip[2], speed = 0.0;
    if (!pp_hold_touches(hold) || instant->size[i] == 0) {
        return;
    }
    // The feature may be another one than before (track.c): the contact goes
    // on under its present name.
    hold->feature = c->feature;
    if (hold->kind == PP_HOLD_ROLL) {
        speed = pp_instant_spin(instant, i, slip);
    } else if (hold->kind == PP_HOLD_CONTACT && instant->size[i] == 3) {
        speed = pp_instant_slip(instant, i, slip);
    }
    if (hold->mode == PP_SLIDES && speed > 1e-5) {
        perp_vec3 v = pp_along(pp_scale(slip[0], c->t), slip[1], pp_cross(c->n, c->t));
        hold->d_W = pp_scale(1.0 / speed, v);
    }
    if (hold->kind == PP_HOLD_CONTACT) {
        hold->place = pp_contact_anchor_of(m, instant->pass.body, instant->t, c);
        hold->rate = instant->rate[instant->at[i]];
    }
}

// Whether any contact is closed.
static bool has_contacts(const pp_flight *flight)
{
    for (int i = 0; i < flight->holds.count; i++) {
        if (flight->holds.hold[i].kind == PP_HOLD_CONTACT) {
            return true;
        }
    }
    return false;
}

static const double STRAY = 5e-9;  // [m/s] normal rate of a closed contact that the motion has lost

// The normal rate of a lost contact exceeds what stabilisation of its gap and the rate it had before
// explain.
bool pp_flight_strays(const pp_flight *flight, const pp_instant *instant)
{
    const pp_machine *machine = flight->machine;
    if (!machine->model->spatial) {
        return false;
    }
    for (int i = 0; i < flight->holds.count; i++) {
        if (flight->holds.hold[i].kind == PP_HOLD_CONTACT && instant->size[i] > 0) {
            // Stabilisation moves a gap at about gap/eps; the rate at the last recorded state
            // is an error made before.
            double back = 2.0 / machine->options.eps * fabs(instant->contact[i].gap) +
                          fabs(flight->holds.hold[i].rate);
            if (fabs(instant->rate[instant->at[i]]) > STRAY + back) {
                return true;
            }
        }
    }
    return false;
}

// Whether the motion has lost a closed contact at a time in the last step. In the scratch arena.
static perp_status find_stray(pp_flight *flight, double when, bool *stray)
{
    const pp_machine *machine = flight->machine;
    pp_instant instant;
    *stray = false;
    if (!machine->model->spatial || !has_contacts(flight)) {
        return PERP_OK;
    }
    perp_status status = pp_ode_at(flight->ode, when, flight->y_try);
    if (status < 0) {
        return status;
    }
    status =
        pp_instant_make(&instant, machine, when, flight->y_try, flight->y_try + machine->tree->nq,
                        &flight->holds, false, flight->scratch);
    if (status < 0) {
        return status;
    }
    *stray = pp_flight_strays(flight, &instant);
    return PERP_OK;
}

// Joint angles modulo full turns are continued from the last ones, and closed contacts in space are
// recorded where they are now.
static perp_status track_turns_and_contacts(pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    if (!body) {
        pp_arena_release(flight->scratch, mark);
        return PERP_ERR_MEMORY;
    }
    // pp_joint_coordinate takes the full turn nearest to machine->turn, so angles are
    // followed at every internal step.
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    pp_poses kin = {.t = flight->t, .body = body, .turn = machine->turn};
    for (int i = 0; i < m->joints; i++) {
        pp_row row;
        pp_joint_coordinate(m, &kin, i, &row);
        machine->turn[i] = row.value;
    }
    perp_status status = PERP_OK;
    // In the plane features identify contacts, and directions of sliding are
    // signs: nothing to record.
    if (m->spatial && has_contacts(flight)) {
        status = pp_flight_instant(flight, &flight->holds, false, &instant);
        if (status < 0) {
            pp_arena_release(flight->scratch, mark);
            return status;
        }
        for (int i = 0; i < flight->holds.count; i++) {
            keep_contact(m, &instant, i, &flight->holds.hold[i]);
        }
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// Events at one instant, and within CLOSE: more do not end. Where short steps were just taken for that
// reason, half as many show it again, down to BURST_LEAST.
enum { AT_ONCE = 60, BURST = 100, BURST_LEAST = 10 };

static const double CLOSE = 2e-3;  // [s]

// Counts events and reports those that accumulate: many at one instant, or
// ever more in a short time.
static bool is_burst(pp_flight *flight)
{
    bool same_instant = flight->t - flight->last_event <= 1e-12 * fmax(1.0, fabs(flight->t));
    flight->at_once = same_instant ? flight->at_once + 1 : 0;
    flight->last_event = flight->t;
    // Events are counted in windows of CLOSE, each of which begins with an event.
    bool goes_on = flight->t - flight->burst < CLOSE;
    flight->burst = goes_on ? flight->burst : flight->t;
    flight->burst_count = goes_on ? flight->burst_count + 1 : 0;
    bool soon = flight->captures > 0 && flight->t - flight->capture_end < CLOSE;
    int most = soon ? BURST >> flight->bursts : BURST;
    most = most > BURST_LEAST ? most : BURST_LEAST;
    if (flight->at_once <= AT_ONCE && flight->burst_count <= most) {
        return false;
    }
    flight->bursts = soon ? flight->bursts + 1 : 1;
    flight->bursts = flight->bursts < 8 ? flight->bursts : 8;
    flight->at_once = flight->burst_count = 0;
    return true;
}

// At an event: which conditions have ended, and the modes after it.                    theory (H14)
static perp_status handle_event(pp_flight *flight)
{
    bool *ended = PP_ZEROS(flight->keep, bool, flight->holds.count);
    double margin;
    if (!ended) {
        return PERP_ERR_MEMORY;
    }
    flight->events++;
    if (flight->events > flight->most_events) {
        pp_print(flight->result->remark, sizeof flight->result->remark,
                 "more than %d events before t = %.12g: event limit reached", flight->most_events,
                 flight->t);
        return PERP_ERR_LIMIT;
    }
    if (is_burst(flight)) {
        flight->why = "events follow each other endlessly";
        return PERP_ERR_LIMIT;
    }
    // Every hold within ten rounding errors of its end counts as ended.
    perp_status status = pp_flight_event_margin(flight, flight->t, flight->y, &margin, ended);
    if (status < 0) {
        return status;
    }
    return pp_flight_resolve(flight, ended);
}

// Whether a contact has another normal, or none, at two instants that are close to each other.
static bool passed(const pp_holds *holds, const pp_instant *from, const pp_instant *to)
{
    for (int i = 0; i < holds->count; i++) {
        if (holds->hold[i].kind == PP_HOLD_CONTACT &&
            pp_length(pp_sub(from->contact[i].n, to->contact[i].n)) > 1e-6) {
            return true;
        }
    }
    return to->lost;
}

// Where a corner comes to the end of a side there is no step across: the contact has no feature
// beyond. The state is moved over the edge by less than rounding shows, and modes are found anew.
// failed: the status to return where no such edge is near. In the scratch arena.
static perp_status pass_edge(pp_flight *flight, perp_status failed)
{
    const pp_machine *machine = flight->machine;
    double *q = flight->y_try;
    pp_instant here;
    perp_status status = pp_flight_instant(flight, &flight->holds, false, &here);
    if (status < 0) {
        return status;
    }
    // From 1e-14 s to 1e-9 s: at 1 m/s the last is 1 nm.
    for (double dt = 1e-14; dt < 2e-9 && flight->t + dt < flight->end; dt *= 10.0) {
        pp_instant instant;
        pp_tree_move(machine->tree, flight->q, flight->qd, dt, q);
        status = pp_instant_make(&instant, machine, flight->t + dt, q, flight->qd, &flight->holds,
                                 false, flight->scratch);
        if (status < 0) {
            return status;
        }
        if (passed(&flight->holds, &here, &instant)) {
            memcpy(flight->q, q, (size_t)machine->tree->nq * sizeof *q);
            flight->t += dt;
            return PERP_OK;
        }
    }
    return failed;
}

enum { SLOW_STEPS = 100 };
static const double SLOW_STEP =
    1e-6;  // [s] mean of SLOW_STEPS steps at which the integrator stalls
static const double SHORT_STEP = 1e-10;  // [s] a contact lost in such a step is lost for good

// Starts the integrator anew from the present state; no step is longer than `longest`.
static perp_status restart_integrator(pp_flight *flight, double longest)
{
    flight->margin_t = -PP_INF;
    perp_status status = pp_ode_start(flight->ode, flight->t, flight->y, flight->end);
    if (status < 0) {
        return status;
    }
    return pp_ode_limit(flight->ode, longest);
}

// Rejects the last step: the flight has not moved yet, and a restart from it takes shorter ones.
static perp_status reject_step(pp_flight *flight, double length, double *longest)
{
    *longest = 0.25 * length;
    return *longest < SHORT_STEP ? PERP_ERR_LIMIT : restart_integrator(flight, *longest);
}

// One internal step. found: it ended at an event; stray: it was rejected, and the next ones are
// shorter. longest [s]: the bound on the steps that follow.
static perp_status advance_integrator(pp_flight *flight, double *longest, bool *found, bool *stray)
{
    double t0, t1, when = 0.0;
    *found = *stray = false;
    perp_status status = pp_ode_step(flight->ode, &t0, &t1);
    if (pp_is_final(status)) {
        return status;
    }
    if (status < 0) {
        // The right-hand side failed, or no step was short enough: perhaps a feature ends here.
        pp_mark mark = pp_arena_mark(flight->scratch);
        status = pass_edge(flight, status);
        pp_arena_release(flight->scratch, mark);
        *found = status >= 0;
        return status;
    }
    // The step may be cut at an event; what follows refers to the time `when`.
    status = pp_flight_locate(flight, t0, t1, &when, found);
    when = *found ? when : t1;
    if (status >= 0) {
        pp_mark mark = pp_arena_mark(flight->scratch);
        status = find_stray(flight, when, stray);
        pp_arena_release(flight->scratch, mark);
    }
    if (status >= 0 && !*stray) {
        // Books the impulses on the dense output, unless the motion strays within the step.
        status = pp_flight_sum(flight, t0, when, stray);
    }
    if (status < 0 || *stray) {
        *found = false;
        flight->why = "a contact point moves faster than its surfaces";
        return status < 0 ? status : reject_step(flight, when - t0, longest);
    }
    flight->now.error += pp_ode_error(flight->ode, flight->machine->tree->nq, flight->weight);
    *longest *= 2.0;
    status = pp_ode_limit(flight->ode, *longest);
    if (status < 0) {
        return status;
    }
    status = pp_ode_at(flight->ode, when, flight->y);
    flight->t = when;
    normalise_quaternions(flight->machine->tree, flight->q);
    if (status < 0) {
        return status;
    }
    return track_turns_and_contacts(flight);
}

perp_status pp_flight_integrate_smooth(pp_flight *flight)
{
    double since = flight->t, longest = PP_INF;
    perp_status status = track_turns_and_contacts(flight);
    if (status < 0) {
        return status;
    }
    // After an event accelerations have jumped: the history of the integrator is of no use.
    status = restart_integrator(flight, longest);
    if (status < 0) {
        return status;
    }
    // k counts steps since the start or the last rejected one.
    int k = 1;
    while (flight->t < flight->end) {
        bool found = false, stray = false;
        // A hundred steps that advance by less than 0.1 ms: the integrator stalls.
        if (k % SLOW_STEPS == 0) {
            if (flight->t - since < SLOW_STEPS * SLOW_STEP) {
                flight->why = "the integrator makes no progress";
                return PERP_ERR_LIMIT;
            }
            since = flight->t;
        }
        if (++flight->result->steps > PP_MOST_STEPS) {
            pp_print(flight->result->remark, sizeof flight->result->remark,
                     "the integrator took %d steps and reached t = %.12g; use a smaller step",
                     flight->result->steps, flight->t);
            return PERP_ERR_LIMIT;
        }
        status = advance_integrator(flight, &longest, &found, &stray);
        if (status < 0) {
            return status;
        }
        if (found) {
            return handle_event(flight);
        }
        k = stray ? 1 : k + 1;
    }
    return status;
}
