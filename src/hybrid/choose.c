// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which holds are closed after an event, and in which modes: by velocities, then by the problem of accelerations.
//                                                                                   theory (H7), (H14)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static perp_status instant_of(pp_flight *flight, const pp_holds *holds, bool forces,
                              pp_instant *out)
{
    return pp_instant_make(out, flight->machine, flight->t, flight->q, flight->qd, holds, forces,
                           flight->scratch);
}

// Spinning and rolling by their velocities.
static void sort_turn(const pp_instant *instant, int i, double still, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    double turn[2], speed = pp_instant_spin(instant, i, turn);
    hold->mode = speed > still ? PP_SLIDES : PP_HELD;
    hold->d = turn[0] > 0.0 ? 1.0 : -1.0;
    hold->d_W = pp_scale(speed > 0.0 ? 1.0 / speed : 0.0,
                         pp_along(pp_scale(turn[0], c->t), turn[1], pp_cross(c->n, c->t)));
}

// Drops holds that part; the rest are held or slide as their velocities say.
perp_status pp_flight_set_modes(pp_flight *flight, pp_holds *holds, const bool *ends,
                                const bool *at_rest)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    perp_status status = instant_of(flight, holds, false, &instant);
    int kept = 0;
    bool closed = false;
    for (int i = 0; status >= 0 && i < holds->count; i++) {
        pp_hold hold = holds->hold[i];
        double rate = instant.size[i] > 0 ? instant.rate[instant.at[i]] : 0.0, slip[2];
        bool unilateral = hold.kind == PP_HOLD_LIMIT || hold.kind == PP_HOLD_CONTACT;
        if (unilateral && ends[i] && rate > flight->tol_rate &&
            rate <= pp_flight_rest_speed(flight)) {
            flight->why = "impacts follow each other endlessly";
            status = PERP_ERR_LIMIT;
        }
        if (unilateral && (instant.size[i] == 0 || rate > flight->tol_rate)) {
            closed = false;
            continue;
        }
        if (hold.kind > PP_HOLD_CONTACT && !closed) {
            continue;
        }
        closed = true;
        hold.mode = PP_HELD;
        double still = at_rest[i] ? 1e-6 : flight->tol_rate;
        if (hold.kind == PP_HOLD_CONTACT && instant.size[i] > 1) {
            const pp_contact *c = &instant.contact[i];
            double speed = pp_instant_slip(&instant, i, slip);
            hold.mode = speed > still ? PP_SLIDES : PP_HELD;
            hold.d = slip[0] > 0.0 ? 1.0 : -1.0;
            hold.d_W = pp_scale(speed > 0.0 ? 1.0 / speed : 0.0,
                                pp_along(pp_scale(slip[0], c->t), slip[1], pp_cross(c->n, c->t)));
        } else if (hold.kind > PP_HOLD_CONTACT) {
            sort_turn(&instant, i, still, &hold);
        } else if (hold.kind == PP_HOLD_MOTOR || hold.kind == PP_HOLD_DRY) {
            hold.mode = fabs(rate) > still ? PP_SLIDES : PP_HELD;
            hold.d = rate > 0.0 ? 1.0 : -1.0;
        }
        holds->hold[kept++] = hold;
    }
    holds->count = status < 0 ? holds->count : kept;
    pp_arena_release(flight->scratch, mark);
    return status;
}

static void take_mode(const pp_instant *instant, const pp_law *law, int i, pp_hold *hold)
{
    const pp_contact *c = &instant->contact[i];
    bool begins = law->mode == PP_SLIDES && hold->mode != PP_SLIDES;
    hold->mode = law->mode;
    if (begins) {
        hold->d = law->d[0];
        hold->d_W = pp_hold_touches(hold) ? pp_along(pp_scale(law->d[0], c->t),
                                                     pp_law_tangents(law) == 2 ? law->d[1] : 0.0,
                                                     pp_cross(c->n, c->t))
                                          : pp_vec(0.0, 0.0, 0.0);
    }
}

// Torsional and rolling friction that is used up begins to slide.
static bool push_turn(const pp_laws *laws, const double *r, double edge, pp_law *law)
{
    const double *f = r + law->at;
    double push = law->size == 2 ? hypot(f[0], f[1]) : fabs(f[0]);
    bool over = law->kind == PP_LAW_TURN && law->mode == PP_HELD && push > 0.0 &&
                law->mu * r[laws->law[law->on].at] - push < edge;
    for (int k = 0; k < law->size && over; k++) {
        law->d[k] = -f[k] / push;
    }
    law->mode = over ? PP_SLIDES : law->mode;
    return over;
}

// Holds that were at their end and are still on the edge go over it: r is what the problem gave.
static bool push_over(pp_laws *laws, const double *r, const bool *ended)
{
    double size_u, size_r;
    bool any = false;
    pp_law_sizes(laws, r, &size_u, &size_r);
    for (int i = 0; i < laws->count; i++) {
        pp_law *law = &laws->law[i];
        const double *f = r + law->at;
        bool free = law->kind != PP_LAW_EQUAL && law->kind != PP_LAW_RUBBING;
        if (!ended[i] || !free || law->size == 0 || law->mode == PP_OFF) {
            continue;
        }
        if (pp_law_is_turning(law)) {
            any = push_turn(laws, r, 1e-6 * size_r, law) || any;
            continue;
        }
        double push = law->size == 3 ? hypot(f[1], f[2]) : law->size == 2 ? fabs(f[1]) : 0.0;
        if (law->kind == PP_LAW_BOX) {
            if (law->mode == PP_HELD && law->bound - fabs(f[0]) < 1e-6 * size_r) {
                law->mode = PP_SLIDES;
                law->d[0] = f[0] > 0.0 ? -1.0 : 1.0;
                any = true;
            }
        } else if (f[0] < 1e-6 * size_r) {
            law->mode = PP_OFF;
            any = true;
        } else if (law->kind == PP_LAW_CONTACT && law->mode == PP_HELD && law->size > 1 &&
                   law->mu * f[0] - push < 1e-6 * size_r) {
            law->mode = PP_SLIDES;
            for (int k = 1; k < law->size; k++) {
                law->d[k - 1] = -f[k] / push;
            }
            any = true;
        }
    }
    return any;
}

// True when the forces of these modes keep the laws, but for what is on the edge.
static perp_status still_fits(const pp_laws *laws, double *r, bool *fits, pp_arena *arena)
{
    pp_law_info info;
    perp_status status = pp_law_forces(laws, r, &info, arena);
    *fits = status >= 0 && pp_law_residual(laws, r, arena) <= 1e-5;
    return status == PERP_ERR_MEMORY ? status : PERP_OK;
}

// The joints whose equations have a weight in the proof.
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

// Whether rims would go into each other between the points whose accelerations r gives.
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

// No accelerations were found: whether the equations alone contradict each other, which is then named.
static perp_status explain_none(pp_flight *flight, const pp_laws *laws, const pp_holds *holds,
                                perp_status status, bool *proved)
{
    double *y = PP_ARRAY(flight->scratch, double, laws->rows);
    perp_status looked = y ? pp_law_contradict(laws, y, proved, flight->scratch) : PERP_ERR_MEMORY;
    if (looked == PERP_ERR_MEMORY) {
        return looked;
    }
    if (*proved) {
        name_contradiction(flight, laws, holds, y);
        return PERP_ERR_INFEASIBLE;
    }
    return status;
}

// Modes at their edge go over it where that fits. work: rows.
static perp_status go_over(pp_laws *laws, const double *r, double *work, const bool *ended,
                           pp_arena *arena)
{
    bool fits = true;
    pp_law *first = PP_ARRAY(arena, pp_law, laws->count);
    perp_status status = PERP_OK;
    if (!first) {
        return PERP_ERR_MEMORY;
    }
    memcpy(first, laws->law, (size_t)laws->count * sizeof *first);
    if (ended && push_over(laws, r, ended)) {
        status = still_fits(laws, work, &fits, arena);
    }
    if (!fits) {
        memcpy(laws->law, first, (size_t)laws->count * sizeof *first);
    }
    return status;
}

perp_status pp_flight_choose_modes(pp_flight *flight, pp_holds *holds, const bool *ended,
                                   bool *wedged, bool *again)
{
    pp_arena *arena = flight->scratch;
    pp_mark mark = pp_arena_mark(arena);
    pp_instant instant;
    pp_laws laws;
    pp_law_info info = {0};
    *wedged = false;
    perp_status status = instant_of(flight, holds, true, &instant);
    double *r = status < 0 ? NULL : PP_ARRAY(arena, double, 2 * (size_t)instant.rows);
    if (status >= 0 && !r) {
        status = PERP_ERR_MEMORY;
    }
    status = status < 0 ? status : pp_instant_laws(&laws, flight->machine, &instant, holds, arena);
    status = status < 0 ? status : pp_law_solve(&laws, r, &info, flight->machine->env, arena);
    bool none = status < 0 && status != PERP_ERR_MEMORY, proved = false;
    if (none) {
        status = explain_none(flight, &laws, holds, status, &proved);
    }
    if (!proved && info.wedged && (none || (status >= 0 && r[laws.law[info.wedge].at] > 0.0))) {
        *wedged = true;
        pp_arena_release(arena, mark);
        return PERP_OK;
    }
    status = status < 0 ? status : refine_forces(flight, &instant, holds, &laws, r, again);
    if (status >= 0 && !*again) {
        status = pp_flight_follow_rims(flight, &instant, holds, r, again);
    }
    if (status >= 0 && *again) {
        pp_arena_release(arena, mark);
        return PERP_OK;
    }
    if (status >= 0 && info.many) {
        flight->result->unique = false;
    }
    if (status >= 0) {
        status = go_over(&laws, r, r + instant.rows, ended, arena);
    }
    // What is off is left out, with the friction of its turning.
    int kept = 0;
    bool closed = false;
    for (int i = 0; status >= 0 && i < holds->count; i++) {
        pp_hold hold = holds->hold[i];
        take_mode(&instant, &laws.law[i], i, &hold);
        closed = hold.kind > PP_HOLD_CONTACT ? closed : hold.mode != PP_OFF;
        if (hold.mode != PP_OFF && closed) {
            holds->hold[kept++] = hold;
        }
    }
    holds->count = status < 0 ? holds->count : kept;
    pp_arena_release(arena, mark);
    return status;
}
