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

// The bodies of a global problem whose M falls into small blocks: W = G' M^-1 G is never formed. Velocities
// are kept body by body.
typedef struct pp_bodies {
    int count, dim;  // bodies, components a contact
    int nv, nc;
    int *size, *first;  // count: velocities of each body; count + 1: where they start
    int *dof;           // nv: the caller's number of a velocity
    int *at;            // count: start of a body's blocks in M and inverse
    double *M, *inverse;
    bool symmetric;  // M is
    int *p;          // nc + 1: the bodies of each contact, in body; those ascend
    int *body;
    int *g_at;  // start in G of each: its velocities x dim, column-major
    double *G;  // H, later H S
    double *y;  // nv: M^-1 G x of the last product
} pp_bodies;

typedef struct pp_ssn {
    const perp_fcp *fcp;  // the local problem in the caller's units; W empty where there are bodies
    int nc, dim, n;       // n = nc dim
    int groups;
    pp_group group[PP_GROUPS_MAX];  // mu: scaled coefficients
    pp_blocks W;                    // or
    pp_bodies *bodies;
    double *own;       // nc blocks: W_cc
    double *q;         // n
    double *scale;     // n: unit S
    double *velocity;  // n: u = velocity u', that is unit / S
    double unit;
} pp_ssn;

// ── ssn_problem.c ────────────────────────────────────────────────────────────────────────────────

// bodies: NULL, or what stands for W.
perp_status pp_ssn_create(const perp_fcp *local, pp_bodies *bodies, pp_arena *arena, pp_ssn **out);
void pp_ssn_mul(const pp_ssn *ssn, const double *x, double *y);  // y = W x

// ── ssn_bodies.c ─────────────────────────────────────────────────────────────────────────────────

// *out is NULL with PERP_OK where M or H are not of that kind.
perp_status pp_bodies_create(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                             pp_bodies **out);
// q = H' M^-1 f + w, before G is scaled
void pp_bodies_free_motion(const pp_bodies *bodies, const perp_fcp *fcp, double *q);
void pp_bodies_scale(pp_bodies *bodies, const double *S);                 // G = H S, S: n factors
void pp_bodies_own(const pp_bodies *bodies, double *own);                 // the blocks W_cc
void pp_bodies_mul(const pp_bodies *bodies, const double *x, double *u);  // u = W x
// One contact after a product: u += G_c' y, and y += M^-1 G_c dx.
void pp_bodies_apply_transposed(const pp_bodies *bodies, int c, double *u);
void pp_bodies_apply(const pp_bodies *bodies, int c, const double *dx);

// ── ssn_map.c ────────────────────────────────────────────────────────────────────────────────────

// F = r - Q(r - rho u), theory (C21): Q_n(x) = max(0, x_n), Q_g(x) = the point of the ball (or
// polygon) of radius mu_g Q_n(x) nearest to x_g. Returns |F|. P, when not NULL, receives an element
// of Clarke's generalised Jacobian of Q: a dim x dim column-major block a contact.
double pp_ssn_map(const pp_ssn *ssn, double rho, const double *r, const double *u, double *F,
                  double *P);

// Q(r): impulses that obey the cones.
void pp_ssn_clip(const pp_ssn *ssn, const double *r, double *inside);

// Gauss–Seidel sweeps on r, to find a start; u: n values of scratch.
void pp_ssn_sweep(const pp_ssn *ssn, int sweeps, double *r, double *u);

// The residuals (C7) and (C8) of r in scaled units; u = W r + q.
typedef struct pp_ssn_residuals {
    double plain, scaled;
} pp_ssn_residuals;

pp_ssn_residuals pp_ssn_residual(const pp_ssn *ssn, const double *r, const double *u);

// ── ssn_linear.c ─────────────────────────────────────────────────────────────────────────────────

// The Newton matrix J = B + A W, A and B block diagonal: dense or sparse, or through velocities.
typedef struct pp_ssn_linear pp_ssn_linear;

perp_status pp_ssn_linear_create(const pp_ssn *ssn, const pp_job *job, pp_ssn_linear **out);
void pp_ssn_linear_destroy(pp_ssn_linear *linear);
// A and B: a dim x dim column-major block a contact, kept until the next factorisation.
perp_status pp_ssn_linear_factor(pp_ssn_linear *linear, const double *A, const double *B);
perp_status pp_ssn_linear_solve(const pp_ssn_linear *linear, double *x, double *Wx);  // x = J \ x
double pp_ssn_linear_fill(const pp_ssn_linear *linear);   // numbers in its factors, 0: not known
double pp_ssn_linear_flops(const pp_ssn_linear *linear);  // of factoring it, 0: not known

// ── ssn_quick.c ──────────────────────────────────────────────────────────────────────────────────

// Newton's method as it stands, for few contacts. PERP_INEXACT: as near as rounding lets
// it come; PERP_ERR_LIMIT: r is as it was.
bool pp_ssn_quick_fits(const perp_fcp *fcp, const perp_comp_options *options);
pp_fcp_solver pp_ssn_quick;

// ── ssn_velocity.c ───────────────────────────────────────────────────────────────────────────────

typedef struct pp_ssn_velocity pp_ssn_velocity;

perp_status pp_ssn_velocity_create(const pp_bodies *bodies, const pp_job *job,
                                   pp_ssn_velocity **out);
perp_status pp_ssn_velocity_factor(pp_ssn_velocity *velocity, const double *A, const double *B);
perp_status pp_ssn_velocity_solve(const pp_ssn_velocity *velocity, double *x);
double pp_ssn_velocity_fill(const pp_ssn_velocity *velocity);
double pp_ssn_velocity_flops(const pp_ssn_velocity *velocity);

// ── ssn_finish.c ─────────────────────────────────────────────────────────────────────────────────

// Polygonal friction: r to rounding, exactly on the bounds of its modes, where it is near an answer;
// as it was where that does not come out. steps grows by the systems solved.
perp_status pp_ssn_exchange(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena, double *r,
                            int *steps);

// ── ssn_walk.c ───────────────────────────────────────────────────────────────────────────────────

typedef struct pp_ssn_homotopy pp_ssn_homotopy;

perp_status pp_ssn_homotopy_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_homotopy **out);
void pp_ssn_homotopy_begin(pp_ssn_homotopy *s, double alpha, const double *r);
// To an answer of the problem with the proximal term, in r; PERP_ERR_RAY, PERP_ERR_LIMIT (of pieces, most), or
// why a system could not be solved.
perp_status pp_ssn_homotopy_run(pp_ssn_homotopy *s, int most, int *steps, double *r);

// ── ssn_interior.c ───────────────────────────────────────────────────────────────────────────────

typedef struct pp_ssn_interior pp_ssn_interior;

// How to follow the path; another way may end elsewhere.
typedef struct pp_ssn_path {
    double feasible;  // tau is not to fall below this part of what the first equation lacks
    int monotone;     // steps with E = I after short ones; 0: those end it
} pp_ssn_path;

bool pp_ssn_interior_fits(const pp_ssn *ssn);  // one group
// The problem with discs in place of polygons; NULL: no memory.
const pp_ssn *pp_ssn_discs(const pp_ssn *ssn, pp_arena *arena);
perp_status pp_ssn_interior_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_interior **out);
void pp_ssn_interior_begin(pp_ssn_interior *s, pp_ssn_path path);  // from afar
// PERP_OK; PERP_ERR_LIMIT: no way on; or why the system could not be solved.
perp_status pp_ssn_interior_step(pp_ssn_interior *s);
void pp_ssn_interior_point(const pp_ssn_interior *s, double *r);
