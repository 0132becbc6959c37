// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies that meet: who approaches, which sequences of impacts end, and the events that say so.
//                                                                                theory (H9), (H10)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static bool approaches(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                       int i)
{
    pp_hold_kind kind = holds->hold[i].kind;
    return (kind == PP_HOLD_LIMIT || kind == PP_HOLD_CONTACT) && instant->size[i] > 0 &&
           instant->rate[instant->at[i]] < -flight->tol_rate;
}

static int body_of(const pp_flight *flight, int shape)
{
    return flight->machine->model->shape[shape].body;
}

static void describe_impact(const pp_instant *instant, int i, const double *impulse,
                            const double *after, perp_event *event)
{
    int at = instant->at[i];
    const pp_contact *c = &instant->contact[i];
    event->rate_before = instant->rate[at];
    event->rate_after = after[at];
    event->impulse = impulse[at];
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

// What took the place of the law that was asked for, where that would have created energy.
static void say_law(pp_flight *flight, const pp_law_info *info, perp_event *event)
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

// Whether two shapes touched before.
static bool touched_before(const pp_flight *flight, const pp_hold *hold)
{
    bool known = false;
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *h = &flight->holds.hold[i];
        known = known || (h->kind == hold->kind && h->joint == hold->joint && h->a == hold->a &&
                          h->b == hold->b && h->listed == hold->listed);
    }
    return known;
}

// Impacts that end a sequence are noted as its end; what was closed before only carries an impact on; what is
// slower than a bounce counts in a short step is part of that.
static bool is_noted(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                     const pp_bounces *bounces, int i)
{
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
    memcpy(after, instant->rate, (size_t)instant->rows * sizeof *after);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, impulse, after);
    memcpy(flight->other, qd_new, (size_t)instant->nv * sizeof *qd_new);
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        bool unilateral = hold->kind == PP_HOLD_LIMIT || hold->kind == PP_HOLD_CONTACT;
        if (!unilateral || instant->size[i] == 0 || !(impulse[instant->at[i]] > 1e-12 * most)) {
            continue;
        }
        if (bounces && !is_noted(flight, instant, holds, bounces, i)) {
            continue;
        }
        perp_event_kind what = hold->kind == PP_HOLD_LIMIT ? PERP_EVENT_LIMIT_REACHED : kind;
        perp_event *event = pp_flight_add_event(flight, what, hold);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        describe_impact(instant, i, impulse, after, event);
        if (info) {
            say_law(flight, info, event);
        }
    }
    return PERP_OK;
}

static bool is_of(const pp_flight *flight, const pp_hold *hold, int a, int b)
{
    return hold->kind == PP_HOLD_CONTACT && body_of(flight, hold->a) == a &&
           body_of(flight, hold->b) == b;
}

// The contact of hold i's two bodies that approaches fastest, -1: one before i has stood for them. The points of
// a face that meet at one instant are one bounce.
static int fastest_of(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                      int i)
{
    int a = body_of(flight, holds->hold[i].a), b = body_of(flight, holds->hold[i].b), best = i;
    for (int k = 0; k < holds->count; k++) {
        if (!is_of(flight, &holds->hold[k], a, b) || !approaches(flight, instant, holds, k)) {
            continue;
        }
        if (k < i) {
            return -1;
        }
        best = instant->rate[instant->at[k]] < instant->rate[instant->at[best]] ? k : best;
    }
    return best;
}

// Contacts whose impacts end here: all of the two bodies that are near, closed at once.
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
        for (int k = 0; k < holds->count; k++) {
            ends[k] = ends[k] || is_of(flight, &holds->hold[k], a, b);
        }
    }
    return PERP_OK;
}

// Whether rims would approach between the points that met.
static perp_status refine_after(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                                const double *impulse, bool *again)
{
    double *after = PP_ARRAY(flight->scratch, double, instant->rows);
    if (!after) {
        return PERP_ERR_MEMORY;
    }
    memcpy(after, instant->rate, (size_t)instant->rows * sizeof *after);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, impulse, after);
    return pp_flight_refine_rims(flight, instant, holds, after, flight->tol_rate, again);
}

perp_status pp_flight_resolve_impacts(pp_flight *flight, pp_holds *holds, double rest,
                                      bool in_short, bool *ends, bool *again)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    pp_law_info info;
    bool any = false;
    const pp_bounces bounces = {rest, ends, in_short};
    perp_status status = pp_instant_make(&instant, flight->machine, flight->t, flight->q,
                                         flight->qd, holds, false, flight->scratch);
    if (status >= 0 && !in_short) {  // there what is slow stays anyway
        status = find_zeno(flight, &instant, holds, ends);
    }
    for (int i = 0; status >= 0 && i < holds->count; i++) {
        any = any || approaches(flight, &instant, holds, i);
    }
    if (status >= 0 && any) {
        double *impulse = PP_ARRAY(flight->scratch, double, instant.rows);
        double *qd = PP_ARRAY(flight->scratch, double, instant.nv);
        status = impulse && qd ? pp_impact_run(flight->machine, &instant, holds, &bounces, qd,
                                               impulse, &info, flight->scratch)
                               : PERP_ERR_MEMORY;
        status = status < 0 ? status : refine_after(flight, &instant, holds, impulse, again);
        if (status >= 0 && *again) {
            pp_arena_release(flight->scratch, mark);
            return PERP_OK;
        }
        status = status < 0 ? status
                            : pp_flight_add_impact_events(flight, &instant, holds, impulse,
                                                          &bounces, qd, &info);
        if (status >= 0) {
            pp_bounce bounce = {bounces, info.share, info.other_law};
            status = pp_flight_jump(flight, &instant, holds, impulse, qd, bounce);
        } else if (status != PERP_ERR_MEMORY) {
            pp_print(flight->result->remark, sizeof flight->result->remark,
                     "no impulses found for an impact at t = %.12g: the constraints prevent bodies "
                     "from stopping (a drive without rate_effort, a jam)",
                     flight->t);
        }
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}
