// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// How Newton's steps on the modes follow each other.
//
// Boldly first: with a proximal term of rounding size the first step ends at rounding where the modes are those
// of the step before, and the contacts that share a load agree on what they want. Where they do not agree
// (gaps that differ by what the step before left over, sticking contacts in a ring) such a step divides
// the disagreement by alpha and throws the impulses about. Few contacts are then tried once more with an alpha
// that falls from step to step. Many go carefully: alpha stays above such disagreements and grows where a step
// did not help, so that impulses stay near those of the step before; the error falls to the size of the
// disagreement in a few steps, which is accepted where it is below the tolerance.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

enum {
    BOLD_MOST = 12,
    BOLD_SOON = 4,
    HOME_MOST = 3,
    STUCK_MOST = 4,
    MANY = 60,
    MANY_IN_PLANE = 150,
    SWEEPS = 2
};

static const double ROUNDING = 2e-15, ACCEPT = 1e-12;  // of the scale
static const double BOLD = 1e-7;                       // alpha in units of the mobility
static const double ALPHA_MOST = 0.3, DOWN = 0.3;
static const double SWEEP_ABOVE = 1e-3;  // of the scale
static const double NEAR = 1e-6;         // of the scale: one more bold step may end at rounding
static const double STUCK = 0.02;        // a change of the error that is none

typedef struct manner {
    double least;   // alpha
    double helps;   // a step after which the error is below this part of it takes alpha down,
    double up;      // one that doubles it takes it up by this
    double enough;  // of the tolerance: an error below this that stays is accepted
    int most;       // steps
    int sweeps;     // after so many steps at most
} manner;

static const manner FALLING = {BOLD, 1.0, 1.0, 0.0, 40, 0}, CAREFUL = {1e-4, 0.5, 3.0, 0.5, 24, 24};

static void start_at_guess(pp_modes *s)
{
    const pp_run *r = s->run;
    int nn = r->rows->nn, nt = r->rows->nt;
    memcpy(r->out->pn, r->options->warm, (size_t)nn * sizeof *r->out->pn);
    if (nt > 0) {
        memcpy(r->out->pt, r->options->warm + nn, (size_t)nt * sizeof *r->out->pt);
    }
    s->factored = false;
}

// True when what is left is rounding.
static bool walk_boldly(pp_modes *s)
{
    double first = PP_INF, last = PP_INF;
    s->proximal = BOLD;
    start_at_guess(s);
    for (int k = 0;; k++) {
        double error = pp_modes_look(s);
        first = k == 0 ? error : first;
        if (error <= ROUNDING * s->scale || (error > 0.5 * last && error <= ACCEPT * s->scale)) {
            return true;
        }
        bool worse = k > 0 && !(error <= fmax(first, NEAR * s->scale)),
             slow = k >= BOLD_SOON && error > 0.1 * first;
        if (k == BOLD_MOST || worse || slow || !pp_modes_step(s)) {
            return false;
        }
        last = error;
    }
}

static double first_alpha(const pp_modes *s, double error)
{
    double part = error / s->scale;
    return part > 1e-2 ? 0.1 : part > 1e-3 ? 1e-2 : 1e-3;
}

static double next_alpha(const pp_modes *s, const manner *how, double error, double last)
{
    if (error < how->helps * last) {
        return fmax(DOWN * s->proximal, how->least);
    }
    return error > 2.0 * last ? fmin(how->up * s->proximal, ALPHA_MOST) : s->proximal;
}

// ── Sweeps ───────────────────────────────────────────────────────────────────────────────────────

static perp_status need_sweep(pp_modes *s)
{
    pp_run *r = s->run;
    int nv = r->model->nv;
    bool fit = false;
    pp_sweep *sweep = PP_ARRAY(r->arena, pp_sweep, 1);
    s->unpushed = PP_ARRAY(r->arena, double, nv);
    perp_status status = sweep && s->unpushed ? pp_run_lay_sweep(r, sweep, &fit) : PERP_ERR_MEMORY;
    if (status >= 0 && fit) {
        pp_masses_solve(r->model, r->kin->mass, s->start, s->unpushed);
        s->sweep = sweep;
    }
    s->no_sweeps = !fit;
    return status;
}

// Contacts in a row, each solved exactly with the others held: what two contacts do to each other's modes in
// Newton's steps, over and over, comes to an end here.
static perp_status sweep_some(pp_modes *s)
{
    pp_run *r = s->run;
    perp_status status = s->sweep || s->no_sweeps ? PERP_OK : need_sweep(s);
    if (status < 0 || s->no_sweeps) {
        return status;
    }
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->sweep->contact[i];
        double *p = s->sweep->r + 3 * (ptrdiff_t)i;
        const pp_touch *touch = &s->touch[c->at];
        ptrdiff_t t = touch->size > 0 ? touch->t - r->rows->t : 0;
        p[0] = fmax(r->out->pn[c->at], 0.0);
        p[1] = touch->size > 0 ? r->out->pt[t] : 0.0;
        p[2] = touch->size > 1 ? r->out->pt[t + 1] : 0.0;
    }
    pp_run_sweep_velocities(r, s->unpushed, s->sweep);
    for (int k = 0; k < SWEEPS; k++) {
        pp_sweep_once(s->sweep);
    }
    pp_run_unpack_sweep(r, s->sweep);
    s->factored = false;
    return PERP_OK;
}

// ── Newton's steps ───────────────────────────────────────────────────────────────────────────────

static void keep(const pp_modes *s, double *kept)
{
    const pp_run *r = s->run;
    memcpy(kept, r->out->pn, (size_t)r->rows->nn * sizeof *kept);
    memcpy(kept + r->rows->nn, r->out->pt, (size_t)r->rows->nt * sizeof *kept);
}

static void take_back(const pp_modes *s, const double *kept)
{
    const pp_run *r = s->run;
    memcpy(r->out->pn, kept, (size_t)r->rows->nn * sizeof *kept);
    memcpy(r->out->pt, kept + r->rows->nn, (size_t)r->rows->nt * sizeof *kept);
}

// The error is below the tolerance; boldly on from here, which may take it to rounding. What does not help
// is undone.
static void walk_home(pp_modes *s, double error, double *kept)
{
    s->proximal = BOLD;
    s->factored = false;
    for (int k = 0; k < HOME_MOST && error > ROUNDING * s->scale; k++) {
        keep(s, kept);
        double next = pp_modes_step(s) ? pp_modes_look(s) : PP_INF;
        if (!(next < error)) {
            take_back(s, kept);
            return;
        }
        error = next;
    }
}

// *solved: what is left is rounding, or stays where it is below the tolerance. From the impulses in run->out.
static perp_status walk_slowly(pp_modes *s, const manner *how, bool *solved)
{
    double error = pp_modes_look(s), last = PP_INF;
    double enough = s->run->exactly ? 0.0 : how->enough;
    enough *= fmin(1.0, s->scale) * s->run->options->tolerance;
    double goal = fmax(enough, ACCEPT * s->scale);
    s->proximal = how->enough > 0.0 ? first_alpha(s, error) : 0.1;
    double *kept =
        PP_ARRAY(s->run->arena, double, (size_t)s->run->rows->nn + (size_t)s->run->rows->nt);
    int stuck = 0;
    *solved = false;
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < how->most && stuck < STUCK_MOST; k++) {
        if (error <= ROUNDING * s->scale || (error <= goal && error > 0.5 * last)) {
            if (error > last) {
                take_back(s, kept);
                error = last;
            }
            walk_home(s, error, kept);
            *solved = true;
            return PERP_OK;
        }
        keep(s, kept);
        if (!(error < PP_INF) || !pp_modes_step(s)) {
            return PERP_OK;
        }
        last = error;
        error = pp_modes_look(s);
        if (k < how->sweeps && s->run->model->spatial && error > SWEEP_ABOVE * s->scale &&
            error < PP_INF) {
            perp_status status = sweep_some(s);
            if (status < 0) {
                return status;
            }
            error = pp_modes_look(s);
        }
        stuck = fabs(error - last) < STUCK * last ? stuck + 1 : 0;
        double alpha = next_alpha(s, how, error, last);
        s->factored = s->factored && alpha == s->proximal;
        s->proximal = alpha;
    }
    *solved = error <= goal;
    return PERP_OK;
}

bool pp_modes_are_many(const pp_modes *s)
{
    return s->count > (s->run->model->spatial ? MANY : MANY_IN_PLANE);
}

// Fresh contacts that are many are left to the central path, which loads all that can share a load: from
// there later steps are short. Newton would stop at the first impulses that do, some of them nil.
perp_status pp_modes_walk(pp_modes *s, bool *solved)
{
    bool left = s->run->options->fresh && pp_modes_are_many(s);
    *solved = !left && walk_boldly(s);
    if (*solved || left) {
        return PERP_OK;
    }
    start_at_guess(s);
    return walk_slowly(s, pp_modes_are_many(s) ? &CAREFUL : &FALLING, solved);
}

perp_status pp_modes_walk_on(pp_modes *s, bool *solved)
{
    s->factored = false;
    return walk_slowly(s, &CAREFUL, solved);
}
