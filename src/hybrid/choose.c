// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Modes after an event: velocities decide which contacts are closed and which slide, then the
// complementarity problem of accelerations decides which open and which begin to slide.
//                                                                                theory (H7), (H14)
//
// Velocities come first because a contact that slides has a known direction of friction, which
// makes it linear in the problem of accelerations; only contacts without slip leave their
// direction to that problem.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// Slides along the slip in (t, o) where that is faster than `still` [m/s], else is held. Turning
// friction has the same form with rates of spin and rolling times the length of the machine.
static void set_slip_mode(const pp_contact *c, const double slip[2], double speed, double still,
                          pp_hold *hold)
{
    hold->mode = speed > still ? PP_SLIDES : PP_HELD;
    hold->d = slip[0] > 0.0 ? 1.0 : -1.0;
    hold->d_W = pp_scale(speed > 0.0 ? 1.0 / speed : 0.0,
                         pp_along(pp_scale(slip[0], c->t), slip[1], pp_cross(c->n, c->t)));
}

// The mode of a closed hold by its velocities.
static void set_mode_by_velocity(const pp_instant *instant, int i, double still, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    double slip[2];
    hold->mode = PP_HELD;
    if (hold->kind == PP_HOLD_CONTACT && instant->size[i] > 1) {
        double speed = pp_instant_slip(instant, i, slip);
        set_slip_mode(c, slip, speed, still, hold);
    } else if (pp_hold_is_turning(hold)) {
        double speed = pp_instant_spin(instant, i, slip);
        set_slip_mode(c, slip, speed, still, hold);
    } else if (hold->kind == PP_HOLD_MOTOR || hold->kind == PP_HOLD_DRY) {
        // A motor slips where it does not reach its rate, dry friction where the joint moves.
        double rate = instant->size[i] > 0 ? instant->rate[instant->at[i]] : 0.0;
        hold->mode = fabs(rate) > still ? PP_SLIDES : PP_HELD;
        hold->d = rate > 0.0 ? 1.0 : -1.0;
    }
}

perp_status pp_flight_set_modes(pp_flight *flight, pp_holds *holds, const bool *ends,
                                const bool *at_rest)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    perp_status status = pp_flight_instant(flight, holds, false, &instant);
    if (status < 0) {
        pp_arena_release(flight->scratch, mark);
        return status;
    }
    int kept = 0;
    bool closed = false;  // the contact that torsional and rolling friction after it belong to
    for (int i = 0; i < holds->count; i++) {
        pp_hold hold = holds->hold[i];
        double rate = instant.size[i] > 0 ? instant.rate[instant.at[i]] : 0.0;
        bool unilateral = pp_hold_is_unilateral(&hold);
        // The impact that ends a Zeno sequence gives nothing back. A contact that still separates,
        // too slowly for a bounce, was hit by another one: modes would repeat that without end.
        if (unilateral && ends[i] && rate > flight->tol_rate &&
            rate <= pp_flight_rest_speed(flight)) {
            flight->why = "impacts follow each other endlessly";
            pp_arena_release(flight->scratch, mark);
            return PERP_ERR_LIMIT;
        }
        if (unilateral && (instant.size[i] == 0 || rate > flight->tol_rate)) {
            closed = false;
            continue;
        }
        if (pp_hold_is_turning(&hold) && !closed) {
            continue;
        }
        closed = true;
        // Sliding that was seen to come to rest is at rest, whatever root finding
        // left of its speed [m/s].
        double still = at_rest[i] ? 1e-6 : flight->tol_rate;
        set_mode_by_velocity(&instant, i, still, &hold);
        holds->hold[kept++] = hold;
    }
    holds->count = kept;
    pp_arena_release(flight->scratch, mark);
    return PERP_OK;
}

// Gives a hold the mode of its law. Where sliding begins its direction is that of the law; where it
// goes on the hold keeps the direction it has.
static void take_mode(const pp_instant *instant, const pp_law *law, int i, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    bool begins = law->mode == PP_SLIDES && hold->mode != PP_SLIDES;
    hold->mode = law->mode;
    if (!begins) {
        return;
    }
    hold->d = law->d[0];
    hold->d_W = pp_vec(0.0, 0.0, 0.0);
    if (pp_hold_touches(hold)) {
        double across = pp_law_tangents(law) == 2 ? law->d[1] : 0.0;
        hold->d_W = pp_along(pp_scale(law->d[0], c->t), across, pp_cross(c->n, c->t));
    }
}

// Slides against the friction that acts; push: its size, > 0.
static void slide_against(const double *r, double push, pp_law *law)
{
    const double *f = r + pp_law_tangent(law);
    law->mode = PP_SLIDES;
    for (int k = 0; k < pp_law_tangents(law); k++) {
        law->d[k] = -f[k] / push;
    }
}

// Torsional and rolling friction at its limit begins to slide; false: it is not at its limit.
static bool push_turn(const pp_laws *laws, const double *r, double edge, pp_law *law)
{
    double push = pp_law_tangential(law, r);
    // It can only be at its limit while it is held; a given direction has no limit.
    bool over = law->kind == PP_LAW_TURN && law->mode == PP_HELD && push > 0.0 &&
                law->mu * r[laws->law[law->on].at] - push < edge;
    if (over) {
        slide_against(r, push, law);
    }
    return over;
}

// A hold whose condition has just reached zero may still be on the edge of its mode, where
// the complementarity problem leaves it to rounding. Such holds pass to the next mode:
// contacts without load open, friction and efforts at their limits slide. r: the forces of
// the problem. False: no mode changed.
static bool push_over(pp_laws *laws, const double *r, const bool *ended)
{
    double size_u, size_r;
    bool any = false;
    pp_law_sizes(laws, r, &size_u, &size_r);
    double edge = 1e-6 * size_r;
    for (int i = 0; i < laws->count; i++) {
        pp_law *law = &laws->law[i];
        const double *f = r + law->at;
        // Equations never end; what rubs ends by its slip, not by its force.
        bool free = law->kind != PP_LAW_EQUAL && law->kind != PP_LAW_RUBBING;
        if (!ended[i] || !free || law->size == 0 || law->mode == PP_OFF) {
            continue;
        }
        if (pp_law_is_turning(law)) {
            any = push_turn(laws, r, edge, law) || any;
            continue;
        }
        double push = pp_law_tangential(law, r);
        // Efforts at their bound slip against the effort.
        if (law->kind == PP_LAW_BOX) {
            if (law->mode == PP_HELD && law->bound - fabs(f[0]) < edge) {
                law->mode = PP_SLIDES;
                law->d[0] = f[0] > 0.0 ? -1.0 : 1.0;
                any = true;
            }
        } else if (f[0] < edge) {
            law->mode = PP_OFF;
            any = true;
        } else if (law->kind == PP_LAW_CONTACT && law->mode == PP_HELD && push > 0.0 &&
                   law->mu * f[0] - push < edge) {
            slide_against(r, push, law);
            any = true;
        }
    }
    return any;
}

// Names in the remark the joints whose equations have a weight in the proof y.
static void name_contradiction(pp_flight *flight, const pp_laws *laws, const pp_holds *holds,
                               const double *y)
{
    char *text = flight->result->remark;
    size_t room = sizeof flight->result->remark;
    double largest = pp_norm_inf(laws->rows, y);
    const char *comma = "";
    pp_print(text, room,
             "no acceleration satisfies all joints at t = %.12g; these contradict each other:",
             flight->t);
    // Weights below 1e-6 of the largest are rounding of the proof.
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        double weight = pp_norm_inf(law->size, y + law->at);
        if (weight > 1e-6 * largest && holds->hold[i].joint >= 0) {
            size_t used = strlen(text);
            pp_print(text + used, room - used, "%s %s", comma,
                     flight->machine->model->joint[holds->hold[i].joint].name);
            comma = ",";
        }
    }
}

// Whether round faces would penetrate between the points of their manifolds, given the
// accelerations that r leads to.
static perp_status refine_forces(pp_flight *flight, const pp_instant *instant,
                                 const pp_holds *holds, const pp_laws *laws, const double *r,
                                 bool *again)
{
    double *u = PP_ARRAY(flight->scratch, double, instant->rows), size_u, size_r;
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    pp_law_rates(laws, r, u);
    pp_law_sizes(laws, r, &size_u, &size_r);
    return pp_flight_refine_rims(flight, instant, holds, u, laws->tolerance * size_u, again);
}

// After a failure of the problem: looks for a proof that the equations alone contradict each other,
// and names the joints in it. The status is that of the failure otherwise.             theory (U11)
static perp_status explain_none(pp_flight *flight, const pp_laws *laws, const pp_holds *holds,
                                perp_status failure, bool *proved)
{
    double *y = PP_ARRAY(flight->scratch, double, laws->rows);
    if (!y) {
        return PERP_ERR_MEMORY;
    }
    if (pp_is_final(pp_law_contradict(laws, y, proved, flight->scratch))) {
        return PERP_ERR_MEMORY;
    }
    // A proof is more useful than the failure of a solver, and ends the step:
    // short steps cannot help.
    if (*proved) {
        name_contradiction(flight, laws, holds, y);
        return PERP_ERR_INFEASIBLE;
    }
    return failure;
}

// Holds on the edge of their modes pass to the next ones where the forces of those
// keep the laws. work: rows.
static perp_status go_over(pp_laws *laws, const double *r, double *work, const bool *ended,
                           pp_arena *arena)
{
    pp_law_info info;
    pp_law *first = PP_ARRAY(arena, pp_law, laws->count);
    if (!first) {
        return PERP_ERR_MEMORY;
    }
    memcpy(first, laws->law, (size_t)laws->count * sizeof *first);
    if (!ended || !push_over(laws, r, ended)) {
        return PERP_OK;
    }
    // The tolerance is wide: the edge itself leaves a residual of about 1e-6.
    perp_status status = pp_law_forces(laws, work, &info, arena);
    if (pp_is_final(status)) {
        return status;
    }
    if (status < 0 || !(pp_law_residual(laws, work, arena) <= 1e-5)) {
        memcpy(laws->law, first, (size_t)laws->count * sizeof *first);
    }
    return PERP_OK;
}

// Gives the holds the modes of their laws. Holds that are off are left out, and turning
// friction with its contact.
static void keep_active(const pp_instant *instant, const pp_laws *laws, pp_holds *holds)
{
    int kept = 0;
    bool closed = false;
    for (int i = 0; i < holds->count; i++) {
        pp_hold hold = holds->hold[i];
        take_mode(instant, &laws->law[i], i, &hold);
        // Turning friction follows its contact in the list, so `closed` is
        // that of the contact before.
        if (!pp_hold_is_turning(&hold)) {
            closed = hold.mode != PP_OFF;
        }
        if (hold.mode != PP_OFF && closed) {
            holds->hold[kept++] = hold;
        }
    }
    holds->count = kept;
}

// pp_flight_choose_modes; leaves its work in the scratch arena.
static perp_status choose_modes(pp_flight *flight, pp_holds *holds, const bool *ended, bool *wedged,
                                bool *again)
{
    pp_arena *arena = flight->scratch;
    pp_instant instant;
    pp_laws laws;
    pp_law_info info = {0};
    *wedged = false;
    perp_status status = pp_flight_instant(flight, holds, true, &instant);
    if (status < 0) {
        return status;
    }
    // Forces of the problem, and work space for those of changed modes.
    double *r = PP_ARRAY(arena, double, 2 * (size_t)instant.rows);
    if (!r) {
        return PERP_ERR_MEMORY;
    }
    status = pp_instant_laws(&laws, flight->machine, &instant, holds, arena);
    if (status < 0) {
        return status;
    }
    status = pp_law_solve(&laws, r, &info, flight->machine->env, arena);
    if (pp_is_final(status)) {
        return status;
    }
    // Painleve's paradox: no admissible acceleration, or one in which the wedged contact carries a
    // load. An impulse ends it. A contradiction of equations is none of its cases.     theory (H11)
    if (status < 0) {
        bool proved = false;
        status = explain_none(flight, &laws, holds, status, &proved);
        *wedged = info.wedged && !proved && !pp_is_final(status);
        return *wedged ? PERP_OK : status;
    }
    if (info.wedged && r[laws.law[info.wedge].at] > 0.0) {
        *wedged = true;
        return PERP_OK;
    }
    // A point that is missing on a rim changes the problem: the caller starts again.   theory (H18)
    status = refine_forces(flight, &instant, holds, &laws, r, again);
    if (status < 0) {
        return status;
    }
    if (!*again) {
        status = pp_flight_follow_rims(flight, &instant, holds, r, again);
    }
    if (status < 0 || *again) {
        return status < 0 ? status : PERP_OK;
    }
    if (info.many) {
        flight->result->unique = false;
    }
    // Holds whose condition ended at this event do not stay on the edge of their mode.
    status = go_over(&laws, r, r + instant.rows, ended, arena);
    if (status >= 0) {
        keep_active(&instant, &laws, holds);
    }
    return status;
}

perp_status pp_flight_choose_modes(pp_flight *flight, pp_holds *holds, const bool *ended,
                                   bool *wedged, bool *again)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    perp_status status = choose_modes(flight, holds, ended, wedged, again);
    pp_arena_release(flight->scratch, mark);
    return status;
}
