// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Smooth motion up to the next event.                                                   theory (H13)
//
// A step of the integrator is taken where closed contacts are still closed at its end. Where they are not, the
// step went over a place at which accelerations jump without an event of their own (a ball that rolls from a
// face over its edge): it is taken back, and shorter ones come nearer, until what the jump leaves is rounding.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

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

// Keeps the direction of sliding of the moment, and the places of contacts under their present names.
static void keep_contact(const perp_model *m, const pp_instant *instant, int i, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    double slip[2], speed = pp_instant_slip(instant, i, slip);
    if (hold->kind == PP_HOLD_ROLL && hold->mode == PP_SLIDES && instant->size[i] > 0) {
        speed = pp_instant_spin(instant, i, slip);
        perp_vec3 v = pp_along(pp_scale(slip[0], c->t), slip[1], pp_cross(c->n, c->t));
        hold->d_W = speed > 1e-5 ? pp_scale(1.0 / speed, v) : hold->d_W;
    }
    if (pp_hold_touches(hold) && instant->size[i] > 0) {
        hold->feature = c->feature;
    }
    if (hold->kind != PP_HOLD_CONTACT || instant->size[i] == 0) {
        return;
    }
    if (hold->mode == PP_SLIDES && instant->size[i] == 3 && speed > 1e-5) {
        perp_vec3 v = pp_along(pp_scale(slip[0], c->t), slip[1], pp_cross(c->n, c->t));
        hold->d_W = pp_scale(1.0 / speed, v);
    }
    hold->place = pp_contact_anchor_of(m, instant->pass.body, instant->t, c);
    hold->rate = instant->rate[instant->at[i]];
    hold->feature = c->feature;
}

static bool has_contacts(const pp_flight *flight)
{
    bool any = false;
    for (int i = 0; i < flight->holds.count; i++) {
        any = any || flight->holds.hold[i].kind == PP_HOLD_CONTACT;
    }
    return any;
}

static const double STRAY = 5e-9;  // normal rate of a closed contact that the motion lost [m/s]

// Whether a closed contact in space is no longer kept at a time in the last step.
static perp_status bound_clear_time(pp_flight *flight, double when, bool *stray)
{
    const pp_machine *machine = flight->machine;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    *stray = false;
    if (!machine->model->spatial || !has_contacts(flight)) {
        return PERP_OK;
    }
    perp_status status = pp_ode_at(flight->ode, when, flight->y_try);
    status = status < 0 ? status
                        : pp_instant_make(&instant, machine, when, flight->y_try,
                                          flight->y_try + machine->tree->nq, &flight->holds, false,
                                          flight->scratch);
    for (int i = 0; status >= 0 && i < flight->holds.count; i++) {
        if (flight->holds.hold[i].kind == PP_HOLD_CONTACT && instant.size[i] > 0) {
            double back = 2.0 / machine->options.eps * fabs(instant.contact[i].gap) +
                          fabs(flight->holds.hold[i].rate);
            *stray = *stray || fabs(instant.rate[instant.at[i]]) > STRAY + back;
        }
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// Counts full turns, and follows contacts.
static perp_status track_turns_and_contacts(pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    bool touches = m->spatial && has_contacts(flight);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    pp_poses kin = {.t = flight->t, .body = body, .turn = machine->turn};
    for (int i = 0; i < m->joints; i++) {
        pp_row row;
        pp_joint_coordinate(m, &kin, i, &row);
        machine->turn[i] = row.value;
    }
    perp_status status = touches
                             ? pp_instant_make(&instant, machine, flight->t, flight->q, flight->qd,
                                               &flight->holds, false, flight->scratch)
                             : PERP_OK;
    for (int i = 0; touches && status >= 0 && i < flight->holds.count; i++) {
        keep_contact(m, &instant, i, &flight->holds.hold[i]);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

static perp_status accept_state(pp_flight *flight, double t)
{
    perp_status status = pp_ode_at(flight->ode, t, flight->y);
    flight->t = t;
    normalise_quaternions(flight->machine->tree, flight->q);
    return status;
}

static perp_status fail_step_too_long(pp_flight *flight)
{
    pp_print(flight->result->remark, sizeof flight->result->remark,
             "the integrator took %d steps and reached t = %.12g; use a smaller step",
             flight->result->steps, flight->t);
    return PERP_ERR_LIMIT;
}

static perp_status fail_too_many_events(pp_flight *flight)
{
    pp_print(flight->result->remark, sizeof flight->result->remark,
             "more than %d events before t = %.12g: event limit reached", flight->most_events,
             flight->t);
    return PERP_ERR_LIMIT;
}

enum { AT_ONCE = 60, BURST = 100 };

static const double CLOSE = 2e-3;  // events within this time follow each other closely [s]

// Events that do not end: many at one instant, or ever more in a short time.
static bool is_burst(pp_flight *flight)
{
    flight->at_once = flight->t - flight->last_event > 1e-12 * fmax(1.0, fabs(flight->t))
                          ? 0
                          : flight->at_once + 1;
    flight->last_event = flight->t;
    bool goes_on = flight->t - flight->burst < CLOSE;
    flight->burst = goes_on ? flight->burst : flight->t;
    flight->burst_count = goes_on ? flight->burst_count + 1 : 0;
    bool burst = flight->at_once > AT_ONCE || flight->burst_count > BURST;
    if (burst) {
        flight->at_once = flight->burst_count = 0;
    }
    return burst;
}

static perp_status handle(pp_flight *flight)
{
    bool *ended = PP_ZEROS(flight->keep, bool, flight->holds.count);
    double margin;
    if (!ended) {
        return PERP_ERR_MEMORY;
    }
    flight->events++;
    if (flight->events > flight->most_events) {
        return fail_too_many_events(flight);
    }
    if (is_burst(flight)) {
        flight->why = "events follow each other endlessly";
        return PERP_ERR_LIMIT;
    }
    perp_status status = pp_flight_event_margin(flight, flight->t, flight->y, &margin, ended);
    return status < 0 ? status : pp_flight_resolve(flight, ended);
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

// Where a corner comes to the end of a side there is no step across: the contact has no feature beyond. The
// state is moved over the edge, by less than rounding shows, and looked at anew.
static perp_status pass_edge(pp_flight *flight, perp_status failed)
{
    const pp_machine *machine = flight->machine;
    double *q = flight->y_try;
    pp_instant here;
    perp_status made = pp_instant_make(&here, machine, flight->t, flight->q, flight->qd,
                                       &flight->holds, false, flight->scratch);
    if (made < 0) {
        return made;
    }
    for (double dt = 1e-14; dt < 2e-9 && flight->t + dt < flight->end; dt *= 10.0) {
        pp_mark mark = pp_arena_mark(flight->scratch);
        pp_instant instant;
        pp_tree_move(machine->tree, flight->q, flight->qd, dt, q);
        perp_status status = pp_instant_make(&instant, machine, flight->t + dt, q, flight->qd,
                                             &flight->holds, false, flight->scratch);
        bool over = status >= 0 && passed(&flight->holds, &here, &instant);
        pp_arena_release(flight->scratch, mark);
        if (status < 0) {
            return status;
        }
        if (over) {
            memcpy(flight->q, q, (size_t)machine->tree->nq * sizeof *q);
            flight->t += dt;
            return PERP_OK;
        }
    }
    return failed;
}

enum { SLOW_STEPS = 100 };
static const double SLOW_STEP = 1e-6;    // [s]: on average over so many the integrator is stuck
static const double SHORT_STEP = 1e-10;  // [s]: what is lost in such a step is lost for good

// Steps from the present state on, none longer than `longest`.
static perp_status restart_integrator(pp_flight *flight, double longest)
{
    flight->margin_t = -PP_INF;
    perp_status status = pp_ode_start(flight->ode, flight->t, flight->y, flight->end);
    return status < 0 ? status : pp_ode_limit(flight->ode, longest);
}

// One step of the integrator; stray: it was taken back, and the next ones are shorter.
static perp_status advance_integrator(pp_flight *flight, double *longest, bool *found, bool *stray)
{
    double t0, t1, when = 0.0;
    *found = *stray = false;
    perp_status status = pp_ode_step(flight->ode, &t0, &t1);
    if (status < 0 && status != PERP_ERR_MEMORY) {
        status = pass_edge(flight, status);
        *found = status >= 0;
        return status;
    }
    status = status < 0 ? status : pp_flight_locate(flight, t0, t1, &when, found);
    when = *found ? when : t1;
    status = status < 0 ? status : bound_clear_time(flight, when, stray);
    if (status < 0 || *stray) {
        *longest = 0.25 * (when - t0);
        *found = false;
        flight->why = "a contact point moves faster than its surfaces";
        return status < 0              ? status
               : *longest < SHORT_STEP ? PERP_ERR_LIMIT
                                       : restart_integrator(flight, *longest);
    }
    flight->now.error += pp_ode_error(flight->ode, flight->machine->tree->nq, flight->weight);
    *longest *= 2.0;
    status = pp_ode_limit(flight->ode, *longest);
    status = status < 0 ? status : pp_flight_sum(flight, t0, when);
    status = status < 0 ? status : accept_state(flight, when);
    return status < 0 ? status : track_turns_and_contacts(flight);
}

perp_status pp_flight_integrate_smooth(pp_flight *flight)
{
    double since = flight->t, longest = PP_INF;
    perp_status status = track_turns_and_contacts(flight);
    status = status < 0 ? status : restart_integrator(flight, longest);
    bool found = false, stray = false;
    for (int k = 1; status >= 0 && !found && flight->t < flight->end; k = stray ? 1 : k + 1) {
        if (k % SLOW_STEPS == 0 && flight->t - since < SLOW_STEPS * SLOW_STEP) {
            flight->why = "the integrator makes no progress";
            return PERP_ERR_LIMIT;
        }
        since = k % SLOW_STEPS == 0 ? flight->t : since;
        if (++flight->result->steps > PP_MOST_STEPS) {
            return fail_step_too_long(flight);
        }
        status = advance_integrator(flight, &longest, &found, &stray);
    }
    return status < 0 || !found ? status : handle(flight);
}
