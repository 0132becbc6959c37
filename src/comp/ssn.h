// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inside of the semi-smooth Newton solver for contact: the scaled problem, its blocks, the
// Alart–Curnier map, the Newton system. Private to ssn_*.c.
//
// Scaling. With S diagonal and a scalar `unit`,
//
//   r = unit S r',   u = unit S^-1 u',   W' = S W S,   q' = S q / unit
//
// the law keeps its form. S is 1 / sqrt(mean diag W_cc) at contact c, and the components of a group
// of moments carry a length l besides (l^2 = mean diag of the sliding block / mean diag of the
// group's), so that W' has unit mean diagonals and mu' = mu / l has no unit. Everything below lives
// in primed quantities, without the primes.
#pragma once

#include "comp/comp.h"

enum { PP_SSN_DIM_MAX = 6 };

// A square matrix of dim x dim blocks by block columns, each block column-major; every diagonal
// block is present and rows ascend within a column.
typedef struct pp_blocks {
    int count, dim;  // block rows (= columns), size of a block
    int *p;          // count + 1 column starts
    int *row;        // block row of each block
    int *diagonal;   // count: where in row[] the diagonal block of each column is
    double *x;       // dim * dim values a block
} pp_blocks;

typedef struct pp_ssn {
    const perp_fcp *fcp;  // the local problem in the caller's units
    int nc, dim, n;       // n = nc dim
    int groups;
    pp_group group[PP_GROUPS_MAX];  // mu: scaled coefficients
    pp_blocks W;
    double *q;         // n
    double *scale;     // n: unit S
    double *velocity;  // n: u = velocity u', that is unit / S
    double unit;
} pp_ssn;

// ── ssn_problem.c ────────────────────────────────────────────────────────────────────────────────

perp_status pp_ssn_create(const perp_fcp *local, pp_arena *arena, pp_ssn **out);
void pp_blocks_mul(const pp_blocks *A, const double *x, double *y);  // y += A x

// ── ssn_map.c ────────────────────────────────────────────────────────────────────────────────────

// F = r - Q(r - rho u), theory (C21): Q_n(x) = max(0, x_n), Q_g(x) = the point of the ball (or
// polygon) of radius mu_g Q_n(x) nearest to x_g. Returns |F|. P, when not NULL, receives an element
// of Clarke's generalised Jacobian of Q: a dim x dim column-major block a contact.
double pp_ssn_map(const pp_ssn *ssn, double rho, const double *r, const double *u, double *F,
                  double *P);

// Gauss–Seidel sweeps on r, to find a start; u: n values of scratch.
void pp_ssn_sweep(const pp_ssn *ssn, int sweeps, double *r, double *u);

// The residuals (C7) and (C8) of r in scaled units; work: n values.
typedef struct pp_ssn_residuals {
    double plain, scaled;
} pp_ssn_residuals;

pp_ssn_residuals pp_ssn_residual(const pp_ssn *ssn, const double *r, double *work);

// ── ssn_linear.c ─────────────────────────────────────────────────────────────────────────────────

// The Newton matrix J = (I - P) + rho P (W + alpha I), dense or sparse LU.     theory (C22)
typedef struct pp_ssn_linear pp_ssn_linear;

// bodies: the global form the problem came from, NULL: none. Where it has fewer velocities than there are
// contact components, the system is solved in velocities.
perp_status pp_ssn_linear_create(const pp_ssn *ssn, const perp_fcp *bodies, pp_arena *arena,
                                 pp_ssn_linear **out);
void pp_ssn_linear_destroy(pp_ssn_linear *linear);
perp_status pp_ssn_linear_factor(pp_ssn_linear *linear, double alpha, double rho, const double *P);
perp_status pp_ssn_linear_solve(const pp_ssn_linear *linear, double *x);  // x = J \ x

// ── ssn_velocity.c ───────────────────────────────────────────────────────────────────────────────

typedef struct pp_ssn_velocity pp_ssn_velocity;

// M and H in CSC; S: n factors of the columns of H. *out is NULL with PERP_OK where a contact touches too
// many velocities for this to pay.
perp_status pp_ssn_velocity_create(const perp_matrix *M, const perp_matrix *H, const double *S,
                                   int dim, pp_arena *arena, pp_ssn_velocity **out);
void pp_ssn_velocity_destroy(pp_ssn_velocity *velocity);
perp_status pp_ssn_velocity_factor(pp_ssn_velocity *velocity, double alpha, double rho,
                                   const double *P);
perp_status pp_ssn_velocity_solve(const pp_ssn_velocity *velocity, double *x);
