// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impacts at an event: contacts that approach, Zeno sequences that end, the jump of the velocities,
// and the events that report all of it.                                          theory (H9), (H10)
//
// All contacts and limits that touch take part in an impact, also those that do not approach: an
// impact may be passed on through them. They are solved simultaneously.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// Whether a contact or limit that touches is closing.
static bool approaches(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                       int i)
{
    return pp_hold_is_unilateral(&holds->hold[i]) && instant->size[i] > 0 &&
           instant->rate[instant->at[i]] < -flight->tol_rate;
}

// The body of a shape.
static int body_of(const pp_flight *flight, int shape)
{
    return flight->machine->model->shape[shape].body;
}

// Rates, impulse and place of an impact. after: rates of all rows after it. pf_W:
// the friction impulse on b.
static void fill_impact_event(const pp_instant *instant, int i, const double *impulse,
                              const double *after, perp_event *event)
{
    int at = instant->at[i];
    const pp_contact *c = &instant->contact[i];
    event->rate_before = instant->rate[at];
    event->rate_after = after[at];
    event->impulse = impulse[at];
    // Limits have no place. Friction is along the scaled axes of the rows.
    if (event->a.i >= 0) {
        event->point_W = c->point;
        event->normal_W = c->n;
        perp_vec3 axis[3];
        pp_contact_axes(c, axis);
        for (int k = 1; k < instant->size[i]; k++) {
            event->pf_W = pp_along(event->pf_W, impulse[at + k], axis[k]);
        }
    }
}

// States in the remark which law or which part of the restitution replaced
// the one that was asked for.                                                          theory (H10)
static void remark_on_law(pp_flight *flight, const pp_law_info *info, perp_event *event)
{
    bool poissons = flight->machine->options.impact == PERP_IMPACT_POISSON;
    const char *asked = poissons ? "Poisson's" : "Newton's",
               *other = poissons ? "Newton's" : "Poisson's";
    if (info->other_law) {
        pp_print(event->remark, sizeof event->remark,
                 "%s law would create energy here, or has no solution: %s was used instead", asked,
                 other);
    } else if (info->share < 1.0) {
        pp_print(event->remark, sizeof event->remark,
                 "the law would create energy here, or has no solution: %.4g of the restitution "
                 "was used",
                 info->share);
    }
    flight->result->tempered = flight->result->tempered || info->other_law || info->share < 1.0;
}

// Whether a contact of the same two shapes, or the same limit, was closed before the event.
static bool touched_before(const pp_flight *flight, const pp_hold *hold)
{
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *h = &flight->holds.hold[i];
        if (h->kind == hold->kind && h->joint == hold->joint && h->a == hold->a &&
            h->b == hold->b && h->listed == hold->listed) {
            return true;
        }
    }
    return false;
}

// Whether an impulse of hold i is reported as an impact. The last impact of a Zeno sequence is
// reported as its end. Contacts that were closed before only pass an impact on. In short steps,
// impacts too slow to bounce are part of the step.
static bool is_noted(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                     const pp_bounces *bounces, int i)
{
    // Short steps that end here have resolved slow impacts already.
    bool meets = instant->rate[instant->at[i]] < -bounces->rest;
    bool in_short_step = bounces->in_short || flight->t == flight->capture_end;
    return !bounces->ends[i] &&
           (meets || (!in_short_step && !touched_before(flight, &holds->hold[i])));
}

perp_status pp_flight_add_impact_events(pp_flight *flight, const pp_instant *instant,
                                        const pp_holds *holds, const double *impulse,
                                        const pp_bounces *bounces, const double *qd_new,
                                        const pp_law_info *info)
{
    perp_event_kind kind = bounces ? PERP_EVENT_IMPACT : PERP_EVENT_PAINLEVE;
    double *after = PP_ARRAY(flight->scratch, double, instant->rows);
    double most = pp_norm_inf(instant->rows, impulse);
    if (!after) {
        return PERP_ERR_MEMORY;
    }
    pp_instant_rates_after(instant, impulse, after);
    memcpy(flight->qd_after, qd_new, (size_t)instant->nv * sizeof *qd_new);
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        // Impulses below 1e-12 of the largest are rounding of the solver.
        if (!pp_hold_is_unilateral(hold) || instant->size[i] == 0 ||
            !(impulse[instant->at[i]] > 1e-12 * most)) {
            continue;
        }
        if (bounces && !is_noted(flight, instant, holds, bounces, i)) {
            continue;
        }
        // A limit that stops a joint has an event of its own.
        perp_event_kind what = hold->kind == PP_HOLD_LIMIT ? PERP_EVENT_LIMIT_REACHED : kind;
        perp_event *event = pp_flight_add_event(flight, what, hold);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        fill_impact_event(instant, i, impulse, after, event);
        if (info) {
            remark_on_law(flight, info, event);
        }
    }
    return PERP_OK;
}

// Whether a hold is a contact of bodies a and b, in this order.
static bool is_contact_of_bodies(const pp_flight *flight, const pp_hold *hold, int a, int b)
{
    return hold->kind == PP_HOLD_CONTACT && body_of(flight, hold->a) == a &&
           body_of(flight, hold->b) == b;
}

// The contact of hold i's two bodies that approaches fastest, -1: a contact before i represents
// them. The points of a face that meet at one instant are one bounce.
static int fastest_of(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                      int i)
{
    int a = body_of(flight, holds->hold[i].a), b = body_of(flight, holds->hold[i].b), best = i;
    for (int k = 0; k < holds->count; k++) {
        if (!is_contact_of_bodies(flight, &holds->hold[k], a, b) ||
            !approaches(flight, instant, holds, k)) {
            continue;
        }
        // The pair has been handled with its first contact that approaches.
        if (k < i) {
            return -1;
        }
        best = instant->rate[instant->at[k]] < instant->rate[instant->at[best]] ? k : best;
    }
    return best;
}

// Zeno sequences that end here: all near contacts of the two bodies close at once, and the
// event reports the ratio of the intervals and the time at which the infinitely many
// impacts would have ended.
static perp_status find_zeno(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                             bool *ends)
{
    for (int i = 0; i < holds->count; i++) {
        bool met = holds->hold[i].kind == PP_HOLD_CONTACT && approaches(flight, instant, holds, i);
        int fastest = met ? fastest_of(flight, instant, holds, i) : -1;
        if (fastest < 0) {
            continue;
        }
        const pp_hold *hold = &holds->hold[fastest];
        int a = body_of(flight, hold->a), b = body_of(flight, hold->b);
        double speed = -instant->rate[instant->at[fastest]], ratio, end;
        // Called at every impact, since it also records the times.
        if (!pp_flight_zeno(flight, a, b, speed, &ratio, &end)) {
            continue;
        }
        perp_event *event = pp_flight_add_event(flight, PERP_EVENT_ZENO, hold);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        event->ratio = ratio;
        event->t_end = end;
        event->rate_before = -speed;
        event->point_W = instant->contact[fastest].point;
        event->normal_W = instant->contact[fastest].n;
        // Without restitution at all contacts of the two bodies, or they would
        // bounce from point to point.
        for (int k = 0; k < holds->count; k++) {
            ends[k] = ends[k] || is_contact_of_bodies(flight, &holds->hold[k], a, b);
        }
    }
    return PERP_OK;
}

// Contacts and limits that an impact elsewhere opens more slowly than a bounce that can be seen: the
// sequence of impacts passed back and forth between them ends here. after: rates of all rows.
static void end_unseen_bounces(const pp_flight *flight, const pp_instant *instant,
                               const pp_holds *holds, const double *after, bool *ends)
{
    double seen = pp_flight_bounce_speed(flight);
    for (int i = 0; i < holds->count; i++) {
        int at = instant->at[i];
        if (pp_hold_is_unilateral(&holds->hold[i]) && instant->size[i] > 0) {
            bool opened = instant->rate[at] <= flight->tol_rate && after[at] > flight->tol_rate;
            ends[i] = ends[i] || (opened && after[at] <= seen);
        }
    }
}

// The impact of an instant at which a contact or limit approaches: impulses, events, and
// the jump of the velocities.
static perp_status run_impact(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                              const pp_bounces *bounces, bool *ends, bool *again)
{
    pp_law_info info;
    double *impulse = PP_ARRAY(flight->scratch, double, instant->rows);
    double *qd = PP_ARRAY(flight->scratch, double, instant->nv);
    double *after = PP_ARRAY(flight->scratch, double, instant->rows);
    if (!impulse || !qd || !after) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_impact_run(flight->machine, instant, holds, bounces, qd, impulse, &info,
                                       flight->scratch);
    if (status < 0) {
        if (!pp_is_final(status)) {
            pp_print(flight->result->remark, sizeof flight->result->remark,
                     "no impulses found for an impact at t = %.12g: the constraints prevent bodies "
                     "from stopping (a drive without rate_effort, a jam)",
                     flight->t);
        }
        return status;
    }
    // Rims may still approach between the points that met; with another point
    // the impact is another one.                                                       theory (H18)
    pp_instant_rates_after(instant, impulse, after);
    // In a short step the last exchange counts: without an impact the bodies would penetrate.
    bool last = bounces->in_short && flight->exchange == PP_EXCHANGES - 1;
    if (!last) {
        status = pp_flight_refine_rims(flight, instant, holds, after, flight->tol_rate, again);
    }
    if (status < 0 || *again) {
        return status;
    }
    status = pp_flight_add_impact_events(flight, instant, holds, impulse, bounces, qd, &info);
    if (status < 0) {
        return status;
    }
    // Events are added before the jump: they need the rates before it.
    pp_bounce bounce = {*bounces, info.share, info.other_law};
    status = pp_flight_jump(flight, instant, holds, impulse, qd, bounce);
    end_unseen_bounces(flight, instant, holds, after, ends);
    return status;
}

// pp_flight_resolve_impacts; leaves its work in the scratch arena.
static perp_status resolve_impacts(pp_flight *flight, const pp_holds *holds,
                                   const pp_bounces *bounces, bool *ends, bool *again)
{
    pp_instant instant;
    perp_status status = pp_flight_instant(flight, holds, false, &instant);
    if (status < 0) {
        return status;
    }
    if (!bounces->in_short) {  // in a short step slow impacts do not bounce anyway
        status = find_zeno(flight, &instant, holds, ends);
        if (status < 0) {
            return status;
        }
    }
    for (int i = 0; i < holds->count; i++) {
        if (approaches(flight, &instant, holds, i)) {
            return run_impact(flight, &instant, holds, bounces, ends, again);
        }
    }
    return PERP_OK;
}

perp_status pp_flight_resolve_impacts(pp_flight *flight, pp_holds *holds, double rest,
                                      bool in_short, bool *ends, bool *again)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    const pp_bounces bounces = {rest, ends, in_short};
    perp_status status = resolve_impacts(flight, holds, &bounces, ends, again);
    pp_arena_release(flight->scratch, mark);
    return status;
}
