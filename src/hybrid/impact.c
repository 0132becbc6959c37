// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impacts: velocities jump at one configuration, by impulses under the same laws.   theory (H9)-(H11)
//
//   H (qd+ - qd-) = J^T r,   0 <= r_n _|_ J_n qd+ + e min(0, J_n qd-) >= 0,   |r_t| <= mu r_n
//
// Equations hold through the impact; motors and dry friction, whose efforts are finite, give no impulse.
// A complementarity problem, not a projection: what separates must not pull.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

typedef struct collision {
    const pp_machine *machine;
    const pp_instant *moment;
    const pp_holds *holds;
    const pp_bounces *bounces;
    pp_arena *arena;
} collision;

static bool is_unilateral(const pp_hold *hold)
{
    return hold->kind == PP_HOLD_LIMIT || hold->kind == PP_HOLD_CONTACT;
}

static double restitution(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    return hold->kind == PP_HOLD_CONTACT ? instant->contact[i].restitution
                                         : machine->model->joint[hold->joint].limit_restitution;
}

static perp_status make_laws(pp_laws *out, const pp_machine *machine, const pp_instant *instant,
                             const pp_holds *holds, double *b, pp_arena *arena)
{
    pp_law *law = PP_ZEROS(arena, pp_law, holds->count);
    *out = (pp_laws){.count = holds->count,
                     .rows = instant->rows,
                     .law = law,
                     .A = instant->A,
                     .b = b,
                     .tolerance = 1e-10,
                     .scale = instant->scale,
                     .least_u = instant->rate_scale};
    for (int i = 0; law && i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        bool weak = hold->kind == PP_HOLD_MOTOR || hold->kind == PP_HOLD_DRY;
        bool turns = hold->kind > PP_HOLD_CONTACT;
        law[i] = (pp_law){.kind = is_unilateral(hold) ? PP_LAW_CONTACT : PP_LAW_EQUAL,
                          .on = pp_hold_base(holds, i),
                          .at = instant->at[i],
                          .size = weak ? 0 : instant->size[i],
                          .mu = pp_hold_mu(machine, instant, holds, i),
                          .mode = PP_HELD};
        law[i].kind = turns ? PP_LAW_TURN : law[i].kind;
    }
    return law ? PERP_OK : PERP_ERR_MEMORY;
}

static bool may_bounce(const collision *c, int i)
{
    return is_unilateral(&c->holds->hold[i]) && c->moment->size[i] > 0 &&
           !(c->bounces->ends && c->bounces->ends[i]);
}

// b of Newton's law: share s of the restitution.
static void newton_restitution(const collision *c, double s, double *b)
{
    const pp_instant *instant = c->moment;
    memcpy(b, instant->rate, (size_t)instant->rows * sizeof *b);
    for (int i = 0; i < c->holds->count; i++) {
        int at = instant->at[i];
        if (may_bounce(c, i) && instant->rate[at] < -c->bounces->rest) {
            b[at] += s * restitution(c->machine, instant, c->holds, i) * instant->rate[at];
        }
    }
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
}

// Poisson's second phase: the impulse of compression comes back in part, with friction on it, at every contact
// that carried some: r_n A_nn is the speed that it took.
static perp_status poisson(const collision *c, double s, pp_laws *laws, double *b, double *r,
                           pp_law_info *info)
{
    const pp_instant *instant = c->moment;
    size_t rows = (size_t)instant->rows;
    double *first = PP_ARRAY(c->arena, double, 2 * rows), *back = first + rows;
    if (!first) {
        return PERP_ERR_MEMORY;
    }
    memcpy(first, r, rows * sizeof *first);
    memset(back, 0, rows * sizeof *back);
    for (int i = 0; i < c->holds->count; i++) {
        int at = instant->at[i];
        if (may_bounce(c, i) && r[at] * instant->A[(size_t)at * (rows + 1)] > c->bounces->rest) {
            back[at] = s * restitution(c->machine, instant, c->holds, i) * r[at];
            laws->law[i].extra = back[at];
        }
    }
    memcpy(b, instant->rate, rows * sizeof *b);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, first, b);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, back, b);
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    perp_status status = pp_law_solve(laws, r, info, c->machine->env, c->arena);
    for (size_t i = 0; i < rows; i++) {
        r[i] += first[i] + back[i];
    }
    return status;
}

// Energy that contacts and limits put in: r . (u- + u+) / 2 over their rows.            theory (H10)
static double energy_in(const pp_instant *instant, const pp_holds *holds, const double *r,
                        double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < holds->count; i++) {
        bool gives = is_unilateral(&holds->hold[i]) || pp_hold_touches(&holds->hold[i]);
        for (int k = 0; gives && k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            double after =
                instant->rate[at] +
                pp_dot(instant->rows, instant->A + (size_t)at * (size_t)instant->rows, r);
            double part = 0.5 * r[at] * (instant->rate[at] + after);
            sum += part;
            *size += 0.5 * fabs(r[at]) * (fabs(instant->rate[at]) + fabs(after));
        }
    }
    return sum;
}

static perp_status bounce(const collision *c, double s, bool two_phases, double *r,
                          pp_law_info *info)
{
    double *b = PP_ARRAY(c->arena, double, c->moment->rows);
    pp_laws laws;
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    newton_restitution(c, two_phases ? 0.0 : s, b);
    perp_status status = make_laws(&laws, c->machine, c->moment, c->holds, b, c->arena);
    status = status < 0 ? status : pp_law_solve(&laws, r, info, c->machine->env, c->arena);
    if (status >= 0 && two_phases && s > 0.0) {
        status = poisson(c, s, &laws, b, r, info);
    }
    return status;
}

static void jump(const pp_instant *instant, const double *r, double *qd)
{
    memcpy(qd, instant->qd, (size_t)instant->nv * sizeof *qd);
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, r, qd);
}

enum { SHARES = 12 };

// Restitution with friction may ask for more energy than there was: it gets the other law, then a smaller
// share, down to none. What was taken is in info, and the event says so.
perp_status pp_impact_run(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, const pp_bounces *bounces, double *qd,
                          double *impulse, pp_law_info *info, pp_arena *arena)
{
    collision c = {machine, instant, holds, bounces, arena};
    bool poissons = machine->options.impact == PERP_IMPACT_POISSON;
    double share = 1.0;
    perp_status status = PERP_ERR_LIMIT;
    for (int k = 0; k < SHARES; k++) {
        pp_mark mark = pp_arena_mark(arena);
        bool two_phases = k == 1 ? !poissons : poissons;
        double size;
        status = bounce(&c, share, two_phases, impulse, info);
        pp_arena_release(arena, mark);
        if (status == PERP_ERR_MEMORY ||
            (status >= 0 && energy_in(instant, holds, impulse, &size) <= 1e-10 * size)) {
            info->other_law = two_phases != poissons;
            info->share = share;
            break;
        }
        share = k == 0 ? 1.0 : k == SHARES - 2 ? 0.0 : 0.5 * share;
    }
    if (status >= 0) {
        jump(instant, impulse, qd);
    }
    return status;
}

// A push of the forces over a short time, then the same modes without it.                theory (H11)
perp_status pp_impact_wedged(const pp_machine *machine, const pp_instant *instant,
                             const pp_holds *holds, double *qd, double *impulse, pp_arena *arena)
{
    pp_laws forced, laws;
    pp_law_info info;
    double *b = PP_ARRAY(arena, double, instant->rows);
    perp_status status =
        b ? pp_instant_laws(&forced, machine, instant, holds, arena) : PERP_ERR_MEMORY;
    status = status < 0 ? status : make_laws(&laws, machine, instant, holds, b, arena);
    if (status < 0) {
        return status;
    }
    double fast = pp_norm_inf(instant->rows, instant->rate),
           push = pp_norm_inf(instant->rows, forced.b);
    double time = push > 0.0 ? 1e-4 * fmax(fast, 1e-6) / push : 0.0;
    memcpy(b, instant->rate, (size_t)instant->rows * sizeof *b);
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    for (int i = 0; i < holds->count; i++) {
        if (holds->hold[i].kind == PP_HOLD_CONTACT && instant->size[i] > 0) {
            b[instant->at[i]] += time * forced.b[instant->at[i]];
        }
    }
    status = pp_law_solve(&laws, impulse, &info, machine->env, arena);
    if (status < 0) {
        return status;
    }
    memcpy(b, instant->rate, (size_t)instant->rows * sizeof *b);
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    status = pp_law_linear(&laws, impulse, &info, arena);
    if (status >= 0) {
        jump(instant, impulse, qd);
    }
    return status;
}
