// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: the step's problem over its rows m, n, t, for proofs that its answer is the only one.
//
//   u = D x + q,  x_m in a box against u_m,  0 <= x_n _|_ u_n >= 0,  x_t in mu x_n B against u_t   theory (U1)
//
// In units of the rows: x = s p, u = rate / s with s^2 = J M^-1 J^T of the row by itself (rows of one friction
// group share theirs), so that both are roots of energies and D has entries of order one.
#pragma once

#include "solve/run.h"

typedef struct pp_reduced {
    const pp_rows *rows;
    bool polygons;  // stand for discs in this form
    int n;
    double *D;              // n x n, column-major, symmetric
    double *q, *x, *scale;  // n
    double *mu;             // ng, in these units
    double *lower, *upper;  // nm
    double size;            // of the rates and impulses of the problem
    pp_arena *arena;
} pp_reduced;

// How far x is from obeying the laws of (U1), by their definitions; u becomes D x + q.
double pp_reduced_violation(const pp_reduced *p, const double *x, double *u);
// Largest of |D (a - b)|: zero where both move the bodies alike, since D is semidefinite.
double pp_reduced_difference(const pp_reduced *p, const double *a, const double *b);

// What enumerating all modes shows of the motion. other: n numbers, the second answer where there is one.
perp_uniqueness pp_enumerate_modes(const pp_reduced *p, double *other);  // theory (U5)

// Sets the verdicts of r->out, and its second answer.
perp_status pp_run_uniqueness(pp_run *r);
