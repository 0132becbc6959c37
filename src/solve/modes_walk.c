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

enum { BOLD_MOST = 12, BOLD_SOON = 4, MANY = 60 };

static const double ROUNDING = 2e-15, ACCEPT = 1e-12;  // of the scale
static const double BOLD = 1e-7;                       // alpha in units of the mobility
static const double ALPHA_MOST = 0.3, DOWN = 0.3;

typedef struct manner {
    double least;   // alpha
    double helps;   // a step after which the error is below this part of it takes alpha down,
    double up;      // one that doubles it takes it up by this
    double enough;  // of the tolerance: an error below this that stays is accepted
    int most;       // steps
} manner;

static const manner FALLING = {BOLD, 1.0, 1.0, 0.0, 40}, CAREFUL = {1e-4, 0.5, 3.0, 0.5, 24};

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
        bool worse = k > 0 && !(error <= first), slow = k >= BOLD_SOON && error > 0.1 * first;
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

// True when what is left is rounding, or stays where it is below the tolerance.
static bool walk_slowly(pp_modes *s, const manner *how)
{
    start_at_guess(s);
    double error = pp_modes_look(s), last = PP_INF;
    double enough = s->run->exactly ? 0.0 : how->enough;
    enough *= fmin(1.0, s->scale) * s->run->options->tolerance;
    double goal = fmax(enough, ACCEPT * s->scale);
    s->proximal = how->enough > 0.0 ? first_alpha(s, error) : 0.1;
    for (int k = 0; k < how->most; k++) {
        if (error <= ROUNDING * s->scale || (error <= goal && error > 0.5 * last)) {
            return true;
        }
        if (!(error < PP_INF) || !pp_modes_step(s)) {
            return false;
        }
        last = error;
        error = pp_modes_look(s);
        double alpha = next_alpha(s, how, error, last);
        s->factored = s->factored && alpha == s->proximal;
        s->proximal = alpha;
    }
    return error <= goal;
}

perp_status pp_modes_walk(pp_modes *s, bool *solved)
{
    bool many = s->count > MANY && s->run->model->spatial;
    *solved = walk_boldly(s) || walk_slowly(s, many ? &CAREFUL : &FALLING);
    return PERP_OK;
}
