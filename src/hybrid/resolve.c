// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The resolution of an event: contacts that touch, impacts, new modes.           theory (H9), (H14)
//
//   1  find the contacts and limits at zero; those that approach undergo an impact
//   2  those that do not separate afterwards are closed, and slide or are held by their velocities
//   3  the complementarity problem of accelerations decides which open and which begin to slide
//
// In Painleve's paradox an impulse ends the sliding, and the sequence continues with 2.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8 };  // wedged slidings that are ended at one instant

// ── Velocities of closed contacts ────────────────────────────────────────────────────────────────

// Held rows are equations, and of a sliding contact its normal row. Rates are rounding here, so
// friction of these impulses is left out: with it the equations may be nearly singular (near
// Painleve's paradox), and rounding would become an impulse.
static pp_law settling(const pp_instant *instant, const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    pp_law law = {.kind = PP_LAW_EQUAL, .at = instant->at[i], .size = instant->size[i]};
    if (hold->mode == PP_SLIDES) {
        law.size = hold->kind == PP_HOLD_CONTACT && law.size > 0 ? 1 : 0;
    }
    return law;
}

// Two contact points at a distance d turn a rate of rounding into a couple of impulses that
// is (length/d)^2 times larger, one of which pulls. Components below this scaled rank are
// left to stabilisation (H4).
static const double WELL_POSED = 1e-3;

// Sets the velocities of held rows to zero by the least change. In the scratch arena.  theory (H12)
static perp_status project_velocities(pp_flight *flight, const pp_holds *holds)
{
    pp_instant instant;
    pp_laws laws;
    pp_law_info info;
    perp_status status = pp_flight_instant(flight, holds, false, &instant);
    if (status < 0 || instant.rows == 0) {
        return status;
    }
    double *r = PP_ARRAY(flight->scratch, double, 2 * (size_t)instant.rows), *b = r + instant.rows;
    pp_law *law = PP_ZEROS(flight->scratch, pp_law, holds->count);
    if (!r || !law) {
        return PERP_ERR_MEMORY;
    }
    pp_instant_rates_to_remove(flight->machine, &instant, holds, b);
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
    if (status < 0) {
        return status;
    }
    // The impulses are booked as if an impact had exchanged them: momentum is
    // balanced to the last digit.
    pp_gemv(instant.nv, instant.rows, 1.0, instant.G, instant.nv, r, flight->qd);
    return pp_flight_sum_impact(flight, &instant, holds, r);
}

// ── Painleve's paradox ───────────────────────────────────────────────────────────────────────────

// Ends a wedged sliding by an impulse, which is reported as an event. The solution is then not
// proved to be unique. In the scratch arena.                                           theory (H11)
static perp_status end_wedge(pp_flight *flight, const pp_holds *holds)
{
    pp_instant instant;
    perp_status status = pp_flight_instant(flight, holds, true, &instant);
    if (status < 0) {
        return status;
    }
    // Impulses of all contacts, also of those that are not wedged.
    double *impulse = PP_ARRAY(flight->scratch, double, instant.rows);
    double *qd = PP_ARRAY(flight->scratch, double, instant.nv);
    if (!impulse || !qd) {
        return PERP_ERR_MEMORY;
    }
    status = pp_impact_wedged(flight->machine, &instant, holds, qd, impulse, flight->scratch);
    if (status < 0) {
        if (!pp_is_final(status)) {
            pp_print(
                flight->result->remark, sizeof flight->result->remark,
                "no acceleration satisfies all laws at t = %.12g, and no impulse resolves this: "
                "joints, rates and limits contradict each other, or sliding is jammed",
                flight->t);
        }
        return status;
    }
    status = pp_flight_add_impact_events(flight, &instant, holds, impulse, NULL, qd, NULL);
    if (status < 0) {
        return status;
    }
    // Nothing gives back: `rest` is infinite.
    flight->result->unique = false;
    return pp_flight_jump(flight, &instant, holds, impulse, qd,
                          (pp_bounce){{PP_INF, NULL, false}, 1.0, false});
}

// ── Events for changed modes ─────────────────────────────────────────────────────────────────────

// The event of a hold whose mode was another one before, or that has gone (now: NULL).
static perp_event_kind change_kind(const pp_hold *old, const pp_hold *now)
{
    if (!now) {
        return old->kind == PP_HOLD_LIMIT ? PERP_EVENT_LIMIT_LEFT : PERP_EVENT_SEPARATION;
    }
    bool slides = now->mode == PP_SLIDES;
    if (now->kind == PP_HOLD_MOTOR) {
        return slides ? PERP_EVENT_EFFORT_BOUND : PERP_EVENT_EFFORT_WITHIN;
    }
    return slides ? PERP_EVENT_STICK_TO_SLIP : PERP_EVENT_SLIP_TO_STICK;
}

// Gives an event of a contact the place and normal that it had when it was last closed.
static void locate_event(const pp_flight *flight, perp_event *event)
{
    for (int i = 0; i < flight->result->contacts; i++) {
        const pp_contact_sum *s = &flight->result->contact[i];
        if (s->a == event->a.i && s->b == event->b.i && s->feature == event->feature) {
            event->point_W = s->last.point;
            event->normal_W = s->last.n;
        }
    }
}

// Whether a contact began with an impact at this very time.
static bool has_met(const pp_flight *flight, const pp_hold *hold)
{
    const pp_hybrid_result *r = flight->result;
    // Events are in the order of time: those of the present instant are the last ones.
    for (int i = r->events - 1; i >= 0 && r->event[i].t == flight->t; i--) {
        if (r->event[i].kind == PERP_EVENT_IMPACT && r->event[i].a.i == hold->a &&
            r->event[i].b.i == hold->b && r->event[i].feature == hold->feature) {
            return true;
        }
    }
    return false;
}

// Whether a contact goes on under the name of another feature, in the same mode:
// then it has not separated.
static bool rolled_on(const pp_flight *flight, const pp_holds *now, const pp_hold *old)
{
    if (old->kind != PP_HOLD_CONTACT) {
        return false;
    }
    for (int i = 0; i < now->count; i++) {
        const pp_hold *h = &now->hold[i];
        if (h->kind == PP_HOLD_CONTACT && h->a == old->a && h->b == old->b &&
            h->listed == old->listed && h->mode == old->mode && !pp_holds_same(&flight->holds, h) &&
            !has_met(flight, h)) {
            return true;
        }
    }
    return false;
}

// Adds events for the differences between the modes before and now.
static perp_status note_changes(pp_flight *flight, const pp_holds *now)
{
    // The velocities do not jump here: those after are those before.
    memcpy(flight->qd_after, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *old = &flight->holds.hold[i], *hold = pp_holds_same(now, old);
        // Turning friction that goes with its contact has no event of its own.
        bool same =
            hold ? hold->mode == old->mode : pp_hold_is_turning(old) || rolled_on(flight, now, old);
        if (same) {
            continue;
        }
        // The event describes the hold as it was.
        perp_event *event = pp_flight_add_event(flight, change_kind(old, hold), old);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        locate_event(flight, event);
    }
    return PERP_OK;
}

// ── The sequence ─────────────────────────────────────────────────────────────────────────────────

// For a list of holds now: whether the same hold before had ended; slides: only those that slid.
// ended: NULL: none had. NULL: out of memory.
static bool *carry_ended(pp_flight *flight, const pp_holds *now, const bool *ended, bool slides)
{
    bool *out = PP_ZEROS(flight->keep, bool, now->count);
    if (!out || !ended) {
        return out;
    }
    for (int i = 0; i < now->count; i++) {
        const pp_hold *was = pp_holds_same(&flight->holds, &now->hold[i]);
        out[i] = was && ended[was - flight->holds.hold] && (!slides || was->mode == PP_SLIDES);
    }
    return out;
}

// Steps 2 and 3 of the sequence for the contacts of `now`. ends: contacts whose Zeno sequence
// ends; ended: holds before that had ended, or NULL. wedged: Painleve's paradox was met;
// again: a rim point was added.
static perp_status find_modes(pp_flight *flight, pp_holds *now, const bool *ends, const bool *ended,
                              bool *wedged, bool *again)
{
    // Sliding that ended by its slip is at rest, even if root finding left some of it.
    bool *at_rest = carry_ended(flight, now, ended, true);
    if (!at_rest) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_flight_set_modes(flight, now, ends, at_rest);
    if (status < 0) {
        return status;
    }
    pp_mark mark = pp_arena_mark(flight->scratch);
    status = project_velocities(flight, now);
    pp_arena_release(flight->scratch, mark);
    if (status < 0) {
        return status;
    }
    // set_modes drops holds, so the list is carried over again.
    bool *edge = carry_ended(flight, now, ended, false);
    if (!edge) {
        return PERP_ERR_MEMORY;
    }
    return pp_flight_choose_modes(flight, now, edge, wedged, again);
}

// The whole sequence for the present manifolds. again: a rim point was added, and
// it has to start once more.
static perp_status resolve_once(pp_flight *flight, const bool *ended, pp_holds *out, bool *again)
{
    pp_holds now;
    perp_status status = pp_flight_touching(flight, &now);
    if (status < 0) {
        return status;
    }
    bool *ends = PP_ZEROS(flight->keep, bool, now.count);
    if (!ends) {
        return PERP_ERR_MEMORY;
    }
    status =
        pp_flight_resolve_impacts(flight, &now, pp_flight_bounce_speed(flight), false, ends, again);
    if (status < 0 || *again) {
        return status;
    }
    for (int round = 0; round < ROUNDS; round++) {
        // What had ended is decided in the first round; after an impulse the
        // velocities are other ones.
        bool wedged = false;
        status = find_modes(flight, &now, ends, round == 0 ? ended : NULL, &wedged, again);
        if (status < 0) {
            return status;
        }
        if (!wedged) {
            *out = now;
            return status;
        }
        pp_mark mark = pp_arena_mark(flight->scratch);
        status = end_wedge(flight, &now);
        pp_arena_release(flight->scratch, mark);
        memset(ends, 0, (size_t)now.count * sizeof *ends);
        if (status < 0) {
            return status;
        }
    }
    pp_print(flight->result->remark, sizeof flight->result->remark,
             "not solved: no accelerations consistent with friction found at t = %.12g", flight->t);
    return PERP_ERR_LIMIT;
}

// Whether two lists have the same holds in the same modes, in any order.
static bool has_same_modes(const pp_holds *before, const pp_holds *now)
{
    if (before->count != now->count) {
        return false;
    }
    for (int i = 0; i < now->count; i++) {
        const pp_hold *old = pp_holds_same(before, &now->hold[i]);
        if (!old || old->mode != now->hold[i].mode) {
            return false;
        }
    }
    return true;
}

// Points of rims are exchanged until no other one would penetrate.                     theory (H18)
perp_status pp_flight_resolve(pp_flight *flight, const bool *ended)
{
    pp_holds now = {0};
    bool again = true;
    for (int k = 0; k < PP_EXCHANGES; k++) {
        again = false;
        flight->exchange = k;
        perp_status status = resolve_once(flight, ended, &now, &again);
        if (status < 0) {
            return status;
        }
        if (!again) {
            break;
        }
    }
    if (again) {
        flight->why = "the tipping point of a round face was not found";
        return PERP_ERR_LIMIT;
    }
    // Modes that the problem returns unchanged are confirmed: they live on within a wider
    // tolerance (PP_LAW_KEPT_ON).
    bool same = has_same_modes(&flight->holds, &now);
    perp_status status = note_changes(flight, &now);
    if (status < 0) {
        return status;
    }
    flight->holds = now;
    flight->confirmed = same;
    flight->stale = false;
    return status;
}
