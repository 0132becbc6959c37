// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal interface of the semi-smooth Newton solver for MCPs: the equilibrated problem, the
// Fischer–Burmeister map, the Newton system. Private to ssn_mcp*.c
// and newton*.c.
//
// Scaling. With R, C positive diagonal and a scalar `unit`,
//
//   z = unit C z',   w = unit R^-1 w',   A' = R A C,   b' = R b / unit,   l' = l / (unit C), u' alike
//
// the problem keeps its form; rows and columns of A' have largest entries near 1, and so has b'.
// All quantities below are the primed ones, written without primes.
#pragma once

#include "comp/comp.h"

// The equilibrated problem.
typedef struct pp_fb {
    const perp_mcp *mcp;  // in the caller's units
    int n;
    perp_matrix A;  // equilibrated: dense, or CSC with every diagonal entry stored
    double *b, *lower, *upper;
    double *row;      // w' = row w
    double *column;   // z = column z'
    double *inverse;  // 1 / rho of (C6), caller's units
    double b_size;    // max |b|, caller's units
} pp_fb;

// A proximal problem: w = A z + b + lambda (z - center). lambda = 0: the problem itself.
typedef struct pp_fb_prox {
    double lambda;
    const double *center;
} pp_fb_prox;

// ── ssn_mcp_problem.c ────────────────────────────────────────────────────────────────────────────

// `passes` of equilibration: 1 is gentle, 10 strict.
perp_status pp_fb_create(const perp_mcp *mcp, int passes, pp_arena *arena, pp_fb **out);
// Equilibration of A in place; row, column: the factors; r, c: scratch, n each.
void pp_fb_equilibrate(const perp_matrix *A, int passes, double *row, double *column, double *r,
                       double *c);
// w = A z + b, with the proximal term.
void pp_fb_velocity(const pp_fb *fb, pp_fb_prox prox, const double *z, double *w);

// Phi(z), zero exactly at solutions, and the diagonals of its generalised Jacobian
// V = diag(a) + diag(c) A (a, c NULL: not wanted). Returns |Phi|^2 / 2.
double pp_fb_map(const pp_fb *fb, const double *z, const double *w, double *phi, double *a,
                 double *c);
// The same for the min map, which is min(z - l, w) for a lower bound: a, c in {0, 1}, so that a
// Newton step solves for the variables between their bounds and puts the others exactly on them.
void pp_fb_min_map(const pp_fb *fb, const double *z, const double *w, double *phi, double *a,
                   double *c);

// The largest of the residuals (C5), (C6) and that of the equilibrated problem, for z clamped to
// its bounds. The last one shows errors that the others miss where the entries of A span many
// decades. work: 2 n values; the first n receive the clamped z in the caller's units.
double pp_fb_residual(const pp_fb *fb, const double *z, double *work);

// ── ssn_mcp_linear.c ─────────────────────────────────────────────────────────────────────────────

// V = diag(a) + diag(c) (A + lambda I), dense or sparse LU.
typedef struct pp_fb_linear pp_fb_linear;

perp_status pp_fb_linear_create(const pp_fb *fb, pp_arena *arena, pp_fb_linear **out);
void pp_fb_linear_destroy(pp_fb_linear *linear);
perp_status pp_fb_linear_factor(pp_fb_linear *linear, const double *a, const double *c,
                                double lambda);
double pp_fb_linear_expected_flops(const pp_fb_linear *linear);         // of the next one, about
double pp_fb_linear_flops(const pp_fb_linear *linear);                  // of the last factorisation
perp_status pp_fb_linear_solve(const pp_fb_linear *linear, double *x);  // x = V \ x
