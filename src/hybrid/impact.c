// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impacts: velocities jump at a fixed configuration, by impulses under the laws of contact.
//                                                                                 theory (H9)-(H11)
//
//   H (qd+ - qd-) = J^T r,   0 <= r_n _|_ J_n qd+ + e min(0, J_n qd-) >= 0,   |r_t| <= mu r_n
//
// Equations hold throughout the impact; motors and dry friction, whose efforts are finite, give no
// impulse. This is a complementarity problem, not a projection: the projection of Tedrake's note
// pulls on separating contacts.
//
// The equation above is Newton's law. Poisson's law has two phases: compression, with e = 0, and
// restitution, in which every compressed contact returns e times its impulse. For one contact
// without friction both laws agree.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

// All that one impact depends on.
typedef struct collision {
    const pp_machine *machine;
    const pp_instant *moment;
    const pp_holds *holds;
    const pp_bounces *bounces;
    pp_arena *arena;
} collision;

// e of a contact or a limit.
static double restitution(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    return hold->kind == PP_HOLD_CONTACT ? instant->contact[i].restitution
                                         : machine->model->joint[hold->joint].limit_restitution;
}

// Laws of impulses: every limit and contact may stick, slide or separate; b (rows)
// is filled by the caller.
static perp_status make_laws(pp_laws *out, const pp_machine *machine, const pp_instant *instant,
                             const pp_holds *holds, double *b, pp_arena *arena)
{
    pp_law *law = PP_ZEROS(arena, pp_law, holds->count);
    if (!law) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        // Finite efforts give no impulse in an instant.
        bool weak = hold->kind == PP_HOLD_MOTOR || hold->kind == PP_HOLD_DRY;
        law[i] = (pp_law){.kind = PP_LAW_EQUAL,
                          .on = pp_hold_base(holds, i),
                          .at = instant->at[i],
                          .size = weak ? 0 : instant->size[i],
                          .mu = pp_hold_mu(machine, instant, holds, i),
                          .mode = PP_HELD};
        if (pp_hold_is_unilateral(hold)) {
            law[i].kind = PP_LAW_CONTACT;
        } else if (pp_hold_is_turning(hold)) {
            law[i].kind = PP_LAW_TURN;
        }
    }
    // Velocities are compared with the terms that they are sums of.
    *out = (pp_laws){.count = holds->count,
                     .rows = instant->rows,
                     .law = law,
                     .A = instant->A,
                     .b = b,
                     .tolerance = 1e-10,
                     .scale = instant->scale,
                     .least_u = instant->rate_scale};
    return PERP_OK;
}

// Whether hold i gives back in this impact at all: not where a Zeno sequence ends.
static bool may_bounce(const collision *c, int i)
{
    return pp_hold_is_unilateral(&c->holds->hold[i]) && c->moment->size[i] > 0 &&
           !(c->bounces->ends && c->bounces->ends[i]);
}

// b of Newton's law with the share s of the restitution: J_n qd- + s e J_n qd- where bodies
// meet faster than `rest`.
static void newton_restitution(const collision *c, double s, double *b)
{
    const pp_instant *instant = c->moment;
    pp_instant_rates_to_remove(c->machine, instant, c->holds, b);
    for (int i = 0; i < c->holds->count; i++) {
        int at = instant->at[i];
        if (may_bounce(c, i) && instant->rate[at] < -c->bounces->rest) {
            b[at] += s * restitution(c->machine, instant, c->holds, i) * instant->rate[at];
        }
    }
    // Redundant equations have rates of rounding that contradict each other.
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
}

// Poisson's second phase: every contact that was compressed returns s e of its impulse r, with
// friction on that as well (law.extra). r_n A_nn is the speed that the compression took, compared
// with `rest`. r receives the sum of both phases.
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
        // Bounces that are too slow are left out here as well, measured by the speed
        // that the compression took.
        if (may_bounce(c, i) && r[at] * instant->A[(size_t)at * (rows + 1)] > c->bounces->rest) {
            back[at] = s * restitution(c->machine, instant, c->holds, i) * r[at];
            laws->law[i].extra = back[at];
        }
    }
    // Velocities after compression and return; the impulses of this problem come on top, and
    // keep contacts from closing.
    pp_instant_rates_to_remove(c->machine, instant, c->holds, b);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, first, b);
    pp_gemv(instant->rows, instant->rows, 1.0, instant->A, instant->rows, back, b);
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    perp_status status = pp_law_solve(laws, r, info, c->machine->env, c->arena);
    for (size_t i = 0; i < rows; i++) {
        r[i] += first[i] + back[i];
    }
    return status;
}

// Energy that contacts and limits put in, r . (u- + u+) / 2 over their rows; size: the same
// with absolute values, which rounding is relative to. Equations do no work: their rates
// are zero before and after.                                                           theory (H10)
static double energy_in(const pp_instant *instant, const pp_holds *holds, const double *r,
                        double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        if (!pp_hold_is_unilateral(hold) && !pp_hold_is_turning(hold)) {
            continue;
        }
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            // u+ = u- + A r of this row.
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

// Impulses r of the impact with the share s of the restitution, by Newton's law or
// in Poisson's two phases.
static perp_status bounce(const collision *c, double s, bool two_phases, double *r,
                          pp_law_info *info)
{
    double *b = PP_ARRAY(c->arena, double, c->moment->rows);
    pp_laws laws;
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    // The first phase of Poisson's law is an impact without restitution.
    newton_restitution(c, two_phases ? 0.0 : s, b);
    perp_status status = make_laws(&laws, c->machine, c->moment, c->holds, b, c->arena);
    if (status < 0) {
        return status;
    }
    status = pp_law_solve(&laws, r, info, c->machine->env, c->arena);
    if (status >= 0 && two_phases && s > 0.0) {
        status = poisson(c, s, &laws, b, r, info);
    }
    return status;
}

// qd+ = qd- + H^-1 J^T r
static void jump(const pp_instant *instant, const double *r, double *qd)
{
    memcpy(qd, instant->qd, (size_t)instant->nv * sizeof *qd);
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, r, qd);
}

enum { SHARES = 12 };  // attempts: 1, 1 by the other law, 1/2, 1/4, ..., 0 of the restitution

// Restitution with friction at several points may create energy. In that case the other law
// is tried, then half of the restitution, a quarter, and so on; none cannot create energy.
// info says which was used.                                                            theory (H10)
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
        // The second attempt is by the other law. Energy gained within rounding is none.
        bool two_phases = k == 1 ? !poissons : poissons;
        double size;
        status = bounce(&c, share, two_phases, impulse, info);
        pp_arena_release(arena, mark);
        if (pp_is_final(status) ||
            (status >= 0 && energy_in(instant, holds, impulse, &size) <= 1e-10 * size)) {
            info->other_law = two_phases != poissons;
            info->share = share;
            break;
        }
        if (k == SHARES - 2) {
            // The last attempt has no restitution and cannot create energy.
            share = 0.0;
        } else if (k > 0) {
            share *= 0.5;
        }
    }
    if (status >= 0) {
        jump(instant, impulse, qd);
    }
    return status;
}

perp_status pp_impact_wedged(const pp_machine *machine, const pp_instant *instant,
                             const pp_holds *holds, double *qd, double *impulse, pp_arena *arena)
{
    pp_laws forced, laws;
    pp_law_info info;
    double *b = PP_ARRAY(arena, double, instant->rows);
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_instant_laws(&forced, machine, instant, holds, arena);
    if (status < 0) {
        return status;
    }
    status = make_laws(&laws, machine, instant, holds, b, arena);
    if (status < 0) {
        return status;
    }
    // Modes of a push by the forces over a short time, b = J qd- + time b_(H1) in the normal rows.
    // The time is small against the rates: the push changes them by 1e-4 of the fastest.
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
    // Impulses of these modes without the push: the limit of a time of zero.
    memcpy(b, instant->rate, (size_t)instant->rows * sizeof *b);
    pp_dependent_rows_agree(&instant->ties, instant->rate_scale, b);
    status = pp_law_linear(&laws, impulse, &info, arena);
    if (status >= 0) {
        jump(instant, impulse, qd);
    }
    return status;
}
