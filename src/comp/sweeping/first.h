// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Interface that the first-order contact solvers (gs, eg) share: when they measure, stop, and what
// they return. The problem is that of comp/newton/ssn.h.
#pragma once

#include "comp/newton/ssn.h"

// ── Bookkeeping (watch.c) ───────────────────────────────────────────

// The iterate of least residual, and when to stop.
typedef struct pp_best_iterate {
    const pp_ssn *ssn;
    const pp_job *job;
    int limit, stall;  // iterations in all, and without an improvement of a tenth
    int next;          // iteration at which to measure again
    int iterations, improved_at;
    double residual;       // of best: the larger of the two
    double residual_then;  // when it last improved by a tenth
    double *best;          // n, scaled reactions; the start before the first iteration
    double *u, *state;     // scratch
    bool done, stalled;
} pp_best_iterate;

// Called after each iteration with r and its state. May recompute
// the state, which drifts by rounding.
bool pp_best_iterate_done(pp_best_iterate *best, int iteration, const double *r, double *state);

// A first-order solver: from best->best until pp_best_iterate_done, with limits of its own.
typedef struct pp_first_order_method {
    perp_status (*iterate)(const pp_ssn *ssn, const pp_job *job, pp_best_iterate *best);
    const char *unit;       // "sweeps"
    int iterations, stall;  // limits, when the caller sets none
} pp_first_order_method;

perp_status pp_first_order_run(const pp_first_order_method *method, const perp_fcp *fcp,
                               const pp_job *job, double *r, double *v, pp_report *report);
