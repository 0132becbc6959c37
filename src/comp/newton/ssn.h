// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal interface of the solvers of contact problems: the scaled problem, by blocks of W or by
// bodies, which all of them share (ssn_problem.c, ssn_bodies.c); and of the semi-smooth Newton
// solver the Alart–Curnier map and the Newton system.
//
// Scaling. With S diagonal and a scalar `unit`,
//
//   r = unit S r',   u = unit S^-1 u',   W' = S W S,   q' = S q / unit
//
// the law keeps its form. S is 1 / sqrt(mean diag W_cc) at contact c; the components of a group of
// moments carry a length l in addition, l^2 = mean diag of the sliding block / mean diag of the
// group's block, theory (C16). Then W' has unit mean diagonals and mu' = mu / l has no unit. All
// quantities below are the primed ones, written without primes.
#pragma once

#include "comp/comp.h"
#include "comp/friction/cone.h"

// A square matrix of dim x dim blocks by block columns, each block column-major; every diagonal
// block is present and rows ascend within a column.
typedef struct pp_blocks {
    int count, dim;  // block rows (= columns), size of a block
    int *p;          // count + 1 column starts
    int *row;        // block row of each block
    int *diagonal;   // count: where in row[] the diagonal block of each column is
    double *x;       // dim * dim values a block
} pp_blocks;

// A global problem whose M is block diagonal with small blocks, the bodies. W = G' M^-1 G is never
// formed. Velocities are stored body by body, which the caller's order need not be.
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
    double *T;  // M^-1 G, where contacts are swept; NULL: not made
    double *y;  // nv: M^-1 G x of the last product
} pp_bodies;

// The scaled problem: u = W r + q with W in blocks, or as bodies.
typedef struct pp_ssn {
    const perp_fcp *fcp;  // the local problem in the caller's units; W empty where there are bodies
    const perp_fcp *posed;  // as posed: global where there is a mass
    pp_mass *mass;          // of the global form, NULL: local
    int nc, dim, n;         // n = nc dim
    int groups;
    pp_cone_law *law, *plain;  // nc each: with scaled coefficients, with the caller's
    pp_blocks W;               // or
    pp_bodies *bodies;
    double *own;       // nc blocks: W_cc
    double *q;         // n
    double *scale;     // n: unit S
    double *velocity;  // n: u = velocity u', that is unit / S
    double unit;
} pp_ssn;

// ── ssn_problem.c ────────────────────────────────────────────────────────────────────────────────

// *out lives in the arena; on success pp_ssn_close() releases the factors of a mass matrix. A global
// problem is kept as bodies where M is block diagonal, otherwise condensed to W.
perp_status pp_ssn_open(const perp_fcp *fcp, pp_arena *arena, pp_ssn **out);
void pp_ssn_close(pp_ssn *ssn);  // may be NULL
// The caller's r, and v of the global form, from scaled impulses.
perp_status pp_ssn_export(const pp_ssn *ssn, const double *scaled, double *r, double *v);
void pp_ssn_mul(const pp_ssn *ssn, const double *x, double *y);  // y = W x

// A state from which the velocity of one contact is found at the cost of its own rows, and which
// follows a change of its impulse: u, or with bodies M^-1 G r.
perp_status pp_ssn_prepare_sweeps(pp_ssn *ssn, pp_arena *arena);  // before the others are called
int pp_ssn_state_size(const pp_ssn *ssn);
void pp_ssn_state(const pp_ssn *ssn, const double *r, double *state);
void pp_ssn_velocity_at(const pp_ssn *ssn, const double *state, int c, double *u);
void pp_ssn_apply(const pp_ssn *ssn, int c, const double *dr, double *state);
double pp_ssn_sweep_cost(const pp_ssn *ssn);  // operations of a sweep over all contacts, estimated

// ── ssn_bodies.c ─────────────────────────────────────────────────────────────────────────────────

// *out is NULL with PERP_OK where M is not block diagonal, or a contact couples too many bodies.
perp_status pp_bodies_create(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                             pp_bodies **out);
// q = H' M^-1 f + w, before G is scaled
void pp_bodies_free_motion(const pp_bodies *bodies, const perp_fcp *fcp, double *q);
void pp_bodies_scale(pp_bodies *bodies, const double *S);                 // G = H S, S: n factors
void pp_bodies_own(const pp_bodies *bodies, double *own);                 // the blocks W_cc
void pp_bodies_mul(const pp_bodies *bodies, const double *x, double *u);  // u = W x
bool pp_bodies_transmit(pp_bodies *bodies, pp_arena *arena);              // T; false: no memory
// y = M^-1 G x; and one contact: u += G_c' y, y += T_c dx
void pp_bodies_state(const pp_bodies *bodies, const double *x, double *y);
void pp_bodies_velocity_at(const pp_bodies *bodies, const double *y, int c, double *u);
void pp_bodies_apply(const pp_bodies *bodies, int c, const double *dx, double *y);
double pp_bodies_entries(const pp_bodies *bodies);  // numbers in G

// ── ssn_map.c ────────────────────────────────────────────────────────────────────────────────────

// F = r - Q(r - rho u), theory (C21): Q_n(x) = max(0, x_n), Q_g(x) = the point of the ball (or
// polygon) of radius mu_g Q_n(x) nearest to x_g. Returns |F|. P, when not NULL, receives an element
// of Clarke's generalised Jacobian of Q: a dim x dim column-major block a contact.
double pp_ssn_map(const pp_ssn *ssn, double rho, const double *r, const double *u, double *F,
                  double *P);

// inside = Q(r): impulses within their friction limits.
void pp_ssn_clip(const pp_ssn *ssn, const double *r, double *inside);

// The residuals (C7) and (C8) of r in scaled units; u = W r + q.
typedef struct pp_ssn_residuals {
    double plain, scaled;
} pp_ssn_residuals;

pp_ssn_residuals pp_ssn_residual(const pp_ssn *ssn, const double *r, const double *u);

// ── ssn_linear.c ─────────────────────────────────────────────────────────────────────────────────

// The Newton matrix J = B + A W, A and B block diagonal: dense or sparse LU, or through velocities.
typedef struct pp_ssn_linear pp_ssn_linear;

// A = rho P and B = I - (1 - rho alpha) P, for which J = (I - P) + rho P (W + alpha I).  theory (C22)
void pp_ssn_newton_blocks(const pp_ssn *ssn, double rho, double alpha, const double *P, double *A,
                          double *B);

perp_status pp_ssn_linear_create(const pp_ssn *ssn, const pp_job *job, pp_ssn_linear **out);
void pp_ssn_linear_destroy(pp_ssn_linear *linear);
// A and B: a dim x dim column-major block a contact, kept until the next factorisation.
perp_status pp_ssn_linear_factor(pp_ssn_linear *linear, const double *A, const double *B);
perp_status pp_ssn_linear_solve(const pp_ssn_linear *linear, double *x, double *Wx);  // x = J \ x
double pp_ssn_linear_fill(const pp_ssn_linear *linear);   // numbers in its factors, 0: not known
double pp_ssn_linear_flops(const pp_ssn_linear *linear);  // of factoring it, 0: not known

// ── ssn_quick.c ──────────────────────────────────────────────────────────────────────────────────

// Newton's method without the proximal loop, for few contacts with friction discs. PERP_INEXACT: as
// close as rounding allows; PERP_ERR_LIMIT: r is as it was.
bool pp_ssn_quick_fits(const perp_fcp *fcp, const perp_comp_options *options);
pp_fcp_solver pp_ssn_quick;

// ── ssn_velocity.c ───────────────────────────────────────────────────────────────────────────────

// The Newton system in the space of velocities, theory (C35). Where job->factor is given, its
// symbolic analysis is reused as long as the same bodies touch.
typedef struct pp_ssn_velocity pp_ssn_velocity;

perp_status pp_ssn_velocity_create(const pp_bodies *bodies, const pp_job *job,
                                   pp_ssn_velocity **out);
perp_status pp_ssn_velocity_factor(pp_ssn_velocity *velocity, const double *A, const double *B);
perp_status pp_ssn_velocity_solve(const pp_ssn_velocity *velocity, double *x);
double pp_ssn_velocity_fill(const pp_ssn_velocity *velocity);
double pp_ssn_velocity_flops(const pp_ssn_velocity *velocity);

// ── ssn_finish.c ─────────────────────────────────────────────────────────────────────────────────

// Polygonal friction: refines an r near a solution to rounding, exactly on the bounds of its modes,
// theory (C38). r stays as it was where that fails. *steps grows by the systems solved.
perp_status pp_ssn_exchange(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena, double *r,
                            int *steps);

// ── ssn_interior.c ───────────────────────────────────────────────────────────────────────────────

typedef struct pp_ssn_interior pp_ssn_interior;

// Variants of the central path. The problem is not monotone, so
// that they may end at different points.
typedef struct pp_ssn_path {
    double feasible;  // tau stays above this part of the residual R of the first equation
    int monotone;     // steps with E = I after three short ones; 0: short steps end the path
} pp_ssn_path;

bool pp_ssn_interior_fits(const pp_ssn *ssn);  // sliding friction alone
// The problem with discs of equal area in place of polygons; NULL: no memory.
const pp_ssn *pp_ssn_discs(const pp_ssn *ssn, pp_arena *arena);
perp_status pp_ssn_interior_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_interior **out);
void pp_ssn_interior_begin(pp_ssn_interior *s, pp_ssn_path path);  // at r' = u' = e
// PERP_OK; PERP_ERR_LIMIT: the steps became too short; or the failure of a linear solve.
perp_status pp_ssn_interior_step(pp_ssn_interior *s);
void pp_ssn_interior_point(const pp_ssn_interior *s, double *r);
