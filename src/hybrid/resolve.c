// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens at an event: who touches, impacts, new modes.                      theory (H9), (H14)
//
//   1  contacts and limits that are at zero; of them those that approach make an impact
//   2  those that do not part afterwards are closed; they slide or are held, as their velocities say
//   3  the problem of modes tells which let go and which begin to slide
//
// Where sliding has no acceleration, or several, an impulse ends it and 2 begins again.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8 };

static perp_status instant_of(pp_flight *flight, const pp_holds *holds, bool forces,
                              pp_instant *out)
{
    return pp_instant_make(out, flight->machine, flight->t, flight->q, flight->qd, holds, forces,
                           flight->scratch);
}

// ── Velocities of what stays closed ──────────────────────────────────────────────────────────────

// Held rows are equations; of a contact that slides its normal row is one. Rates are at most those of rounding here, so the
// friction of these impulses does not count. With it the equations may be all but singular (near Painleve's paradox), and
// rounding would become an impulse.
static pp_law settling(const pp_instant *instant, const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    pp_law law = {.kind = PP_LAW_EQUAL, .at = instant->at[i], .size = instant->size[i]};
    if (hold->mode == PP_SLIDES) {
        law.size = hold->kind == PP_HOLD_CONTACT && law.size > 0 ? 1 : 0;
    }
    return law;
}

// Two contact points at a distance d of each other turn a rate of rounding into a couple of impulses, (length/d)^2 times
// larger, one of which pulls. What only such couples would change is left to the stabilisation.
static const double WELL_POSED = 1e-3;

// Velocities of held rows become zero, by the least change.                            theory (H12)
static perp_status project_velocities(pp_flight *flight, const pp_holds *holds)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    pp_laws laws;
    pp_law_info info;
    perp_status status = instant_of(flight, holds, false, &instant);
    if (status < 0 || instant.rows == 0) {
        return status;
    }
    double *r = PP_ARRAY(flight->scratch, double, 2 * (size_t)instant.rows), *b = r + instant.rows;
    pp_law *law = PP_ZEROS(flight->scratch, pp_law, holds->count);
    if (!r || !law) {
        return PERP_ERR_MEMORY;
    }
    memcpy(b, instant.rate, (size_t)instant.rows * sizeof *b);
    pp_dependent_rows_agree(&instant.ties, instant.rate_scale, b);
    for (int i = 0; i < holds->count; i++) {
        law[i] = settling(&instant, holds, i);
    }
    laws = (pp_laws){.count = holds->count,
                     .rows = instant.rows,
                     .law = law,
                     .A = instant.A,
                     .b = b,
                     .tolerance = 1e-12,
                     .scale = instant.scale,
                     .rank = WELL_POSED};
    status = pp_law_linear(&laws, r, &info, flight->scratch);
    if (status >= 0) {
        pp_gemv(instant.nv, instant.rows, 1.0, instant.G, instant.nv, r, flight->qd);
        status = pp_flight_sum_impact(flight, &instant, holds, r);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── Painleve ─────────────────────────────────────────────────────────────────────────────────────

static perp_status end_wedge(pp_flight *flight, const pp_holds *holds)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    perp_status status = instant_of(flight, holds, true, &instant);
    if (status < 0) {
        return status;
    }
    double *impulse = PP_ARRAY(flight->scratch, double, instant.rows);
    double *qd = PP_ARRAY(flight->scratch, double, instant.nv);
    status = impulse && qd
                 ? pp_impact_wedged(flight->machine, &instant, holds, qd, impulse, flight->scratch)
                 : PERP_ERR_MEMORY;
    status = status < 0
                 ? status
                 : pp_flight_add_impact_events(flight, &instant, holds, impulse, NULL, qd, NULL);
    if (status >= 0) {
        flight->result->unique = false;
        status = pp_flight_jump(flight, &instant, holds, impulse, qd,
                                (pp_bounce){{PP_INF, NULL, false}, 1.0, false});
    } else if (status != PERP_ERR_MEMORY) {
        pp_print(flight->result->remark, sizeof flight->result->remark,
                 "no acceleration satisfies all laws at t = %.12g, and no impulse resolves this: "
                 "joints, rates and limits contradict each other, or sliding is jammed",
                 flight->t);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

static perp_event_kind change_kind(const pp_hold *hold, bool slides)
{
    if (hold->kind == PP_HOLD_MOTOR) {
        return slides ? PERP_EVENT_EFFORT_BOUND : PERP_EVENT_EFFORT_WITHIN;
    }
    return slides ? PERP_EVENT_STICK_TO_SLIP : PERP_EVENT_SLIP_TO_STICK;
}

// Where the contact of an event was when it was last closed.
static void locate_event(const pp_flight *flight, perp_event *event)
{
    for (int i = 0; event && i < flight->result->contacts; i++) {
        const pp_contact_sum *s = &flight->result->contact[i];
        if (s->a == event->a.i && s->b == event->b.i && s->feature == event->feature) {
            event->point_W = s->last.point;
            event->normal_W = s->last.n;
        }
    }
}

// Whether a contact began with an impact just now.
static bool has_met(const pp_flight *flight, const pp_hold *hold)
{
    const pp_hybrid_result *r = flight->result;
    for (int i = r->events - 1; i >= 0 && r->event[i].t == flight->t; i--) {
        if (r->event[i].kind == PERP_EVENT_IMPACT && r->event[i].a.i == hold->a &&
            r->event[i].b.i == hold->b && r->event[i].feature == hold->feature) {
            return true;
        }
    }
    return false;
}

// A contact that goes on under the name of the next feature has not let go.
static bool rolled_on(const pp_flight *flight, const pp_holds *now, const pp_hold *old)
{
    for (int i = 0; i < now->count && old->kind == PP_HOLD_CONTACT; i++) {
        const pp_hold *h = &now->hold[i];
        if (h->kind == PP_HOLD_CONTACT && h->a == old->a && h->b == old->b &&
            h->listed == old->listed && h->mode == old->mode && !pp_holds_same(&flight->holds, h) &&
            !has_met(flight, h)) {
            return true;
        }
    }
    return false;
}

// Events for what differs between the modes before and now.
static perp_status note_changes(pp_flight *flight, const pp_holds *now)
{
    memcpy(flight->other, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *old = &flight->holds.hold[i], *hold = pp_holds_same(now, old);
        bool goes = !hold && old->kind > PP_HOLD_CONTACT;  // with its contact
        if (goes || (hold ? hold->mode == old->mode : rolled_on(flight, now, old))) {
            continue;
        }
        perp_event_kind kind = hold ? change_kind(hold, hold->mode == PP_SLIDES)
                               : old->kind == PP_HOLD_LIMIT ? PERP_EVENT_LIMIT_LEFT
                                                            : PERP_EVENT_SEPARATION;
        perp_event *event = pp_flight_add_event(flight, kind, old);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        locate_event(flight, event);
    }
    return PERP_OK;
}

// ended of the holds before, for a list of holds now.
static bool *carry_ended(pp_flight *flight, const pp_holds *now, const bool *ended)
{
    bool *out = PP_ZEROS(flight->keep, bool, now->count);
    for (int i = 0; out && ended && i < now->count; i++) {
        const pp_hold *was = pp_holds_same(&flight->holds, &now->hold[i]);
        out[i] = was && ended[was - flight->holds.hold];
    }
    return out;
}

static bool *carry_slides(pp_flight *flight, const pp_holds *now, const bool *ended)
{
    bool *out = PP_ZEROS(flight->keep, bool, now->count);
    for (int i = 0; out && ended && i < now->count; i++) {
        const pp_hold *was = pp_holds_same(&flight->holds, &now->hold[i]);
        out[i] = was && ended[was - flight->holds.hold] && was->mode == PP_SLIDES;
    }
    return out;
}

// again: a point of a rim was added, and who touches is to be found once more.
static perp_status resolve_once(pp_flight *flight, const bool *ended, pp_holds *out, bool *again)
{
    pp_holds now;
    bool wedged = true;
    perp_status status = pp_flight_touching(flight, &now);
    bool *ends = status < 0 ? NULL : PP_ZEROS(flight->keep, bool, now.count);
    if (status >= 0 && !ends) {
        status = PERP_ERR_MEMORY;
    }
    status = status < 0 ? status
                        : pp_flight_resolve_impacts(flight, &now, pp_flight_bounce_speed(flight),
                                                    false, ends, again);
    for (int round = 0; round < ROUNDS && wedged && status >= 0 && !*again; round++) {
        bool *at_rest = carry_slides(flight, &now, round == 0 ? ended : NULL);
        status = at_rest ? pp_flight_set_modes(flight, &now, ends, at_rest) : PERP_ERR_MEMORY;
        status = status < 0 ? status : project_velocities(flight, &now);
        bool *edge = status < 0 ? NULL : carry_ended(flight, &now, round == 0 ? ended : NULL);
        if (status >= 0 && !edge) {
            status = PERP_ERR_MEMORY;
        }
        status = status < 0 ? status : pp_flight_choose_modes(flight, &now, edge, &wedged, again);
        if (status >= 0 && wedged) {
            status = end_wedge(flight, &now);
            memset(ends, 0, (size_t)now.count * sizeof *ends);
        }
    }
    if (status >= 0 && wedged && !*again) {
        pp_print(flight->result->remark, sizeof flight->result->remark,
                 "not solved: no accelerations consistent with friction found at t = %.12g",
                 flight->t);
        return PERP_ERR_LIMIT;
    }
    *out = now;
    return status;
}

static bool has_same_modes(const pp_holds *before, const pp_holds *now)
{
    bool same = before->count == now->count;
    for (int i = 0; i < now->count && same; i++) {
        const pp_hold *old = pp_holds_same(before, &now->hold[i]);
        same = old && old->mode == now->hold[i].mode;
    }
    return same;
}

// Points of rims are exchanged until no other one would be pressed in.
perp_status pp_flight_resolve(pp_flight *flight, const bool *ended)
{
    pp_holds now;
    bool again = true;
    perp_status status = PERP_OK;
    for (int k = 0; k < PP_EXCHANGES && again && status >= 0; k++) {
        again = false;
        status = resolve_once(flight, ended, &now, &again);
    }
    if (status >= 0 && again) {
        flight->why = "the tipping point of a round face was not found";
        return PERP_ERR_LIMIT;
    }
    bool same = status >= 0 && has_same_modes(&flight->holds, &now);
    status = status < 0 ? status : note_changes(flight, &now);
    if (status >= 0) {
        flight->holds = now;
        flight->confirmed = same;
        flight->stale = false;
    }
    return status;
}
