// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal interface of "newton", the solver of nonlinear MCPs: the scaled problem, its merit function, the linear
// problem of an iterate, the step along it. Private to newton*.c.
//
// Scaling. With R, C diagonal, of powers of two,
//
//   z = C z',   F' = R F,   J' = R J C,   l' = l / C,   u' = u / C                            theory (N4)
//
// rows and columns of J' have largest entries near 1. Nothing is rounded by it. All quantities below are the primed
// ones, written without primes.
#pragma once

#include "comp/newton/ssn_mcp.h"
#include "comp/problem/ncp.h"

// A point: z, F, J, and the merit function there.
typedef struct pp_newton_point {
    double *z, *F, *x;  // x: values of J in the pattern of pp_newton.fb
    double theta;
} pp_newton_point;

typedef struct pp_newton {
    pp_ncp e;  // in the caller's units
    const pp_job *job;
    pp_fb fb;  // n, A (the pattern; values of `at`), bounds
    pp_fb_linear *linear;
    int *place;     // of each of the caller's entries in the pattern of fb; NULL: dense, the same
    double *given;  // the caller's values of J
    double *row, *column;
    pp_newton_point at, trial;
    double *user, *goal, *d, *phi, *a, *c, *b, *work;  // n each; work 4 n
    double *best;                                      // n, in the caller's units
    int8_t *basis;                                     // of the last linear problem
    bool warm;                                         // basis has a guess
    double residual, at_best;
    int iterations, limit;
    double lambda;      // proximal term of the linear problems
    perp_status fatal;  // memory, callbacks
} pp_newton;

// ── newton_point.c ───────────────────────────────────────────────────────────────────────────────

perp_status pp_newton_create(const perp_ncp *ncp, const pp_job *job, pp_newton *s);
void pp_newton_destroy(pp_newton *s);
// Moves the caller's z to the bounds, evaluates it, chooses the scaling there, and makes it the point `at`. False: F or
// J is not defined there.
bool pp_newton_begin(pp_newton *s, const double *z);
// F and theta of trial.z. False: outside the domain, or fatal.
bool pp_newton_function(pp_newton *s);
// J of trial, which then becomes the point `at`. False likewise.
bool pp_newton_accept(pp_newton *s);
// The residual of `at`, row by row, theory (N6); keeps the point where it is the best so far.
void pp_newton_rate(pp_newton *s);

// ── newton_linear.c ──────────────────────────────────────────────────────────────────────────────

// The solution of the linear MCP at `at` with the proximal term lambda, into goal. False: none found.
bool pp_newton_linear(pp_newton *s, double lambda);
// goal = at.z + d with d of Newton's method on the variables that F does not hold at a bound. False: singular.
bool pp_newton_active(pp_newton *s, double lambda, int *changes);
