// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Interface that the first-order contact solvers (gs, eg) share: the law of one contact, its exact
// solution, and a form of the problem in which one contact can be read and changed cheaply.
#pragma once

#include "comp/comp.h"

enum { PP_DIM_MAX = 6 };

// ── The law of one contact (cone.c) ──────────────────────────────────────────────────────────────

// The friction limit of one group: r_g in mu r_n D, D the unit ball or polygon.
typedef struct pp_disc {
    int first, size;          // components of the group
    int nd;                   // 0: ball; else facets of the polygon
    double mu;                // radius per unit of normal reaction
    double cosine, sine;      // of half the angle between two vertices, π / nd
    const double *direction;  // nd vertices (cos, sin) of the unit polygon; NULL when nd = 0
} pp_disc;

// The cone K = { r : r_g in mu_g r_n D_g for each group g }.                        theory (C2)
typedef struct pp_cone_law {
    int dim, groups;
    pp_disc disc[PP_GROUPS_MAX];
} pp_cone_law;

// The laws of all contacts, in the arena.
perp_status pp_cone_laws_create(const perp_fcp *fcp, pp_arena *arena, pp_cone_law **out);

void pp_cone_law_project(const pp_cone_law *law, double *p);        // p = P_K(p), Euclidean
double pp_cone_law_shift(const pp_cone_law *law, const double *u);  // sum_g mu_g h_g, theory (C13)
double pp_disc_support(const pp_disc *disc, const double *u);       // max_D(-d . u), u of the group
int pp_disc_vertex(const pp_disc *disc, const double *p);  // vertex d with the largest d . p
// p = the point of radius D nearest to p. Where slope is given: dp/dp (2 x 2, column-major) in
// slope[0..3], dp/dradius in slope[4..5]; for groups of one component slope[0] and slope[4].
void pp_disc_project(const pp_disc *disc, double radius, double *p, double *slope);
// e = r - P_K(r - rho (u + shift n)): zero exactly at solutions.              theory (C7), (C8)
void pp_cone_law_natural(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e);
// The same, or where friction is strong (PP_STRONG_FRICTION) F of theory (C21).
void pp_cone_law_measure(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e);

// ── One contact, solved exactly (one_contact*.c) ─────────────────────────────────────────────────

// Finds r with the law (C2) and u = W r + q, theory (C26); W is dim x dim, column-major. r is a
// guess on entry. Of several solutions: open (r = 0) if q_n >= 0, else stick if it exists, else a
// slip. Returns the natural map relative to |r| + rho |q|: round-off where solved. meter (NULL: not
// counted) is charged with iterations; closed forms are part of the cost of a sweep.
double pp_one_contact(const pp_cone_law *law, const double *W, const double *q, double *r,
                      pp_meter *meter);

enum { PP_ONE_CONTACT_DIGITS = 12 };
// A relative natural map below this is round-off. The friction of a slipping contact is mu times a
// rounded normal reaction, hence the term with mu.
static inline double pp_one_contact_ok(const pp_cone_law *law)
{
    double mu = 0.0;
    for (int g = 0; g < law->groups; g++) {
        mu += law->disc[g].mu;
    }
    return fmax(1e-13, 1e-15 * mu);
}

// The measure that pp_one_contact returns.
double pp_one_contact_error(const pp_cone_law *law, const double *W, const double *q,
                            const double *r);
// One function for each kind of law: they improve r and return its error.
double pp_one_contact_plane(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_disc(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_polygon(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_newton(const pp_cone_law *law, const double *W, const double *q, double *r,
                             pp_meter *meter);
// The slip of a contact with a friction disc that is closed and does not stick, by Newton's method
// on theory (C27). False: it did not converge to a valid slip.
bool pp_one_contact_slip(double mu, const double *W, const double *q, double *r);
// x = A \ x for the leading n x n of a dim-strided column-major A, n <= 6. False: singular.
bool pp_small_solve(int n, const double *A, int ld, double *x);

// ── The problem, contact by contact (first.c, first_global.c) ────────────────────────────────────

// The problem with a state that follows the reactions. Local form: W in dim x dim blocks by
// columns, the state is u. Global form: for each contact the rows of v it touches, with H_c and T_c
// = M^-1 H_c there; the state is v and W is never formed. Where M^-1 is full (flexible bodies) and
// contacts are few, W is smaller than T: the problem is condensed and treated as local.
//
// Moments are divided by lengths as the judge does it, theory (C16), l_g^2 = mean diag W_tt / mean
// diag W_gg. All scaled reactions are then impulses: r' = r / l, u' = u l, mu' = mu / l, and
// rho_c = 1 / mean diag W_tt suits every component. For dim <= 3 all lengths are 1.
typedef struct pp_contact_blocks {
    const perp_fcp *fcp;
    pp_arena *arena;
    int nc, dim, n;         // n = nc dim
    int size;               // of the state: n or nv
    bool local;             // the state is u' (also for condensed global problems)
    pp_cone_law *law;       // nc, with mu'
    pp_cone_law *plain;     // nc, with mu: the same array where there are no lengths
    double *length;         // n, or NULL when all are 1
    double *rho;            // nc
    double *Wcc;            // nc diagonal blocks of W'
    double *q;              // n: q'
    double *state_at_zero;  // size: the state at r = 0
    double norm_q;          // of q, plain
    double norm_rhoq;       // of rho q'
    int *p, *row;   // column c has the entries p[c]..p[c+1]: local, block rows; global, rows of v
    double *H;      // local: dim x dim blocks; global: dim values of H' an entry
    double *T;      // global: dim values of M^-1 H' an entry
    pp_mass *mass;  // global, for the velocity that goes with the answer
} pp_contact_blocks;

perp_status pp_contact_blocks_create(const perp_fcp *fcp, pp_arena *arena,
                                     pp_contact_blocks *blocks);
void pp_contact_blocks_destroy(pp_contact_blocks *blocks);

// From the caller's reactions to scaled ones, and back; export also finds v of the global form.
void pp_contact_blocks_import(const pp_contact_blocks *blocks, const double *r, double *scaled);
perp_status pp_contact_blocks_export(const pp_contact_blocks *blocks, const double *scaled,
                                     double *r, double *v);

// The state of r, computed anew.
void pp_contact_blocks_state(const pp_contact_blocks *blocks, const double *r, double *state);
// u of contact c at a state.
void pp_contact_blocks_velocity(const pp_contact_blocks *blocks, const double *state, int c,
                                double *u);
// The state after r_c changes by dr.
void pp_contact_blocks_apply(const pp_contact_blocks *blocks, int c, const double *dr,
                             double *state);
// Operations of a sweep over all contacts, estimated.
double pp_contact_blocks_cost(const pp_contact_blocks *blocks);

// n weights 1 / sqrt(rho): the norm of weighted impulses is a root of energy. NULL: no memory.
double *pp_contact_blocks_weights(const pp_contact_blocks *blocks);

// Both residuals as the judge defines them, in double precision.               theory (C7), (C8)
typedef struct pp_residual_pair {
    double plain, scaled;
} pp_residual_pair;

pp_residual_pair pp_contact_blocks_residuals(const pp_contact_blocks *blocks, const double *r,
                                             const double *state);

// Parts of pp_contact_blocks_create: the blocks of W; the global form, or PERP_INEXACT where it
// should be condensed; rho, lengths and laws from Wcc, and Wcc and q scaled.
perp_status pp_contact_blocks_fill(pp_contact_blocks *blocks, const perp_matrix *W);
perp_status pp_contact_blocks_velocities(pp_contact_blocks *blocks);
perp_status pp_contact_blocks_scale(pp_contact_blocks *blocks);

// ── Bookkeeping (watch.c) ───────────────────────────────────────────

// The iterate of least residual, and when to stop.
typedef struct pp_best_iterate {
    const pp_contact_blocks *blocks;
    const pp_job *job;
    int limit, stall;  // iterations in all, and without an improvement of a tenth
    int next;          // iteration at which to measure again
    int iterations, improved_at;
    double residual;       // of best: the larger of the two
    double residual_then;  // when it last improved by a tenth
    double *best;          // n, scaled reactions; the start before the first iteration
    double *state;         // scratch
    bool done, stalled;
} pp_best_iterate;

// Called after each iteration with r and its state. May recompute
// the state, which drifts by rounding.
bool pp_best_iterate_done(pp_best_iterate *best, int iteration, const double *r, double *state);

// A first-order solver: from best->best until pp_best_iterate_done, with limits of its own.
typedef struct pp_first_order_method {
    perp_status (*iterate)(const pp_contact_blocks *blocks, const pp_job *job,
                           pp_best_iterate *best);
    const char *unit;       // "sweeps"
    int iterations, stall;  // limits, when the caller sets none
} pp_first_order_method;

perp_status pp_first_order_run(const pp_first_order_method *method, const perp_fcp *fcp,
                               const pp_job *job, double *r, double *v, pp_report *report);
