// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Complementarity problems, solvers for them, and judges of their answers. Usable without the rest of
// perp: libperp_comp needs this header and base.h.
//
// A problem is a set of borrowed arrays; nothing is copied or changed. A solver fills z, the library
// then judges z by code that shares nothing with the solvers, and the status is the judge's.
#pragma once

#include <perp/base.h>

// A matrix, dense or sparse, borrowed.
typedef struct perp_matrix {
    int rows, cols;
    const double *dense;  // column-major, rows x cols; NULL: sparse, the three below
    const int *p;         // CSC column starts, cols + 1 of them
    const int *i;         // row of each entry, ascending and distinct within a column
    const double *x;      // value of each entry
} perp_matrix;

PERP_API perp_matrix perp_matrix_dense(int rows, int cols, const double *column_major);
PERP_API perp_matrix perp_matrix_csc(int rows, int cols, const int *p, const int *i,
                                     const double *x);

// ── The mixed complementarity problem, as PATH poses it ──────────────────────────────────────────
//
//   w = A z + b,  lower <= z <= upper:   w_i >= 0 where z_i = lower_i,                  theory (C1)
//                                        w_i <= 0 where z_i = upper_i,  w_i = 0 between
//
// (-inf, inf) is an equation for a free variable, [0, inf) a complementarity pair, and two finite
// bounds a box. Both bounds NULL: the linear complementarity problem 0 <= z _|_ w >= 0.
typedef struct perp_mcp {
    int n;
    perp_matrix A;        // n x n
    const double *b;      // n
    const double *lower;  // n, or NULL: all 0
    const double *upper;  // n, or NULL: all +INFINITY
} perp_mcp;

PERP_API perp_mcp perp_mcp_from_lcp(int n, perp_matrix A, const double *b);

// ── The frictional contact problem ───────────────────────────────────────────────────────────────
//
// nc contacts of dim components each: the normal n first, then groups of components, each group g
// kept in a ball of radius mu_g r_n:
//
//   dim 2:  n t                     sliding in the plane
//   dim 3:  n t o                   sliding in space
//   dim 4:  n t o, n                sliding, torsion about the normal
//   dim 5:  n t o, t o              sliding, rolling about the tangents
//   dim 6:  n t o, n, t o           sliding, torsion, rolling
//
// Contact law, per contact, in de Saxce's form:                                         theory (C2)
//
//   K* ∋ u + sum_g(mu_g |u_g|) e_n  _|_  r ∈ K = { |r_g| <= mu_g r_n for each g }
//
//   local form (nv = 0):   u = W r + q                                                  theory (C3)
//   global form (nv > 0):  M v = f + H r,   u = H^T v + w                               theory (C4)
//
// nd[c] >= 3 replaces the disc of the groups of two components at contact c by the polygon with
// vertices mu r_n (cos 2πj/nd, sin 2πj/nd), and |u_g| by its support max_j(-d_j . u_g); nd NULL or
// nd[c] = 0 is the exact disc. Groups of one component are exact as they are.
typedef struct perp_fcp {
    int nc;                 // contacts
    int dim;                // components a contact, 2..6
    int nv;                 // velocities of the global form; 0: local form
    const double *mu;       // nc: sliding friction coefficient [-]
    const double *mu_spin;  // nc: torsional coefficient [m], dim 4 and 6, else NULL
    const double *mu_roll;  // nc: rolling coefficient [m], dim 5 and 6, else NULL
    const int *nd;          // nc or NULL: facets of each contact's friction polygon, 0: disc
    perp_matrix W;          // local: nc dim x nc dim
    const double *q;        // local: nc dim
    perp_matrix M;          // global: nv x nv, symmetric positive definite
    perp_matrix H;          // global: nv x nc dim
    const double *f, *w;    // global: nv; nc dim
} perp_fcp;

// ── Solving ──────────────────────────────────────────────────────────────────────────────────────

// Memory that solvers keep between calls; one per thread. With one, a solve of a size seen before
// allocates nothing. NULL is accepted everywhere and means: allocate for this call.
typedef struct perp_workspace perp_workspace;
PERP_API perp_workspace *perp_workspace_create(const perp_env *env);  // NULL: out of memory
PERP_API void perp_workspace_destroy(perp_workspace *work);

// Where a variable of an MCP ends: the complementary basis.
typedef enum perp_basis {
    PERP_BASIS_LOWER = -1,
    PERP_BASIS_BASIC = 0,  // w_i = 0: basic
    PERP_BASIS_UPPER = 1,
} perp_basis;

typedef struct perp_comp_options {
    double tolerance;      // on residuals and backward error below; default 1e-8
    double loose;          // up to this they are PERP_INEXACT, not a failure; default 1e-5
    int max_iterations;    // of the solver's own kind; 0: chosen from n
    double max_seconds;    // 0: none. Checked between iterations; the best iterate is returned
    double max_work;       // in factorisations, theory (C50); 0: none. The same in every run
    bool warm_start;       // z (and basis, when given) hold a guess on entry; default false
    int8_t *basis;         // n perp_basis values, in (warm start) and out; NULL: not wanted. MCP
    double *ray;           // n numbers: a secondary ray or a proof of infeasibility. NULL: no. MCP
    perp_workspace *work;  // NULL: memory for this call only
    int threads;           // that factor together, 0 and 1: one; the answer has the same bits
    bool comparable;  // rows and variables that are nothing beside those they are coupled with are
                      // rounding of the data: the caller vouches for the units. Default false. MCP
    uint32_t cookie;  // set by perp_comp_options_default()
} perp_comp_options;

typedef struct perp_comp_info {
    const char *solver;  // the one that gave z: under "auto", the rung of the ladder
    perp_error error;    // the status, and in one sentence what happened or why there is no answer
    int iterations;      // pivots, block exchanges, Newton steps or sweeps of that solver
    int rungs;           // solvers tried ("auto"; otherwise 1)
    double residual;     // natural map, unit-consistent scaling          theory (C6), (C8)
    double residual_plain;     // natural map as printed; FCLIB's for contact   theory (C5), (C7)
    double residual_dynamics;  // |M v - f - H r| / max(|f + H r|, |f|), global problems only
    double backward;           // the worst row or contact in its own units     theory (C40), (C41)
    double seconds;            // wall, solving
    double seconds_factor;     // of it: in factorisations, where the solver tells
    double seconds_sweeps;     // of it: in first-order solvers
    double seconds_judge;      // wall, judging (not part of seconds)
    int factorisations;        // of Newton's system, all solvers tried
    double work;               // of all solvers tried, sweeps and pivots too  theory (C50)
    double fill;               // numbers in the factors of the largest of them, where known
    double flops;              // operations of the largest of them, where known
} perp_comp_info;

PERP_API perp_comp_options perp_comp_options_default(void);

// Solve; z (n values) always receives the best iterate known, finite numbers only.
//
//   > 0, 0    z satisfies them all, judged independently
//   < 0       no solution found, and info->error.text says why
//
// solver is a name from perp_solver_find, NULL means "auto". env and info may be NULL.
PERP_API PERP_MUST perp_status perp_mcp_solve(const char *solver, const perp_mcp *mcp,
                                              const perp_comp_options *options, const perp_env *env,
                                              double *z, perp_comp_info *info);

// r: nc dim reactions [N s]; v: nv velocities of the global form, or NULL.
PERP_API PERP_MUST perp_status perp_fcp_solve(const char *solver, const perp_fcp *fcp,
                                              const perp_comp_options *options, const perp_env *env,
                                              double *r, double *v, perp_comp_info *info);

// ── Judging: independent of every solver ─────────────────────────────────────────────────────────

typedef struct perp_mcp_residuals {
    double plain;   // max_i |z_i - clamp(z_i - w_i)| / |b|, |b| the size of the data    theory (C5)
    double scaled;  // the same in units in which rows can be compared      theory (C6), (C36)
    double bound;   // worst violation of lower <= z <= upper
    double backward;  // the worst row in units of its own, whatever the others'        theory (C40)
} perp_mcp_residuals;

typedef struct perp_fcp_residuals {
    double plain;     // FCLIB: sqrt sum |r - P_K(r - u~)|^2 / |q|                  theory (C7)
    double scaled;    // with rho_c = 3 / tr W_cc, relative to max(|r|, |rho q|)    theory (C8)
    double dynamics;  // |M v - f - H r| / max(|f + H r|, |f|); 0 in the local form
    double backward;  // the worst contact or body in units of its own              theory (C41)
    double velocity;  // plain, with r in units of its own: u against |q|           theory (C43)
} perp_fcp_residuals;

PERP_API PERP_MUST perp_status perp_mcp_judge(const perp_mcp *mcp, const double *z,
                                              const perp_env *env, perp_mcp_residuals *out);
PERP_API PERP_MUST perp_status perp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v,
                                              const perp_env *env, perp_fcp_residuals *out);

// A proof that no z can satisfy bounds and signs: y with y_i >= 0 on rows with w_i >= 0, free on
// equations, 0 on boxes, and sup over the box of y^T (A z + b) < 0. Returns that supremum, scaled by
// sum |y_i b_i|: negative proves infeasibility, +INFINITY when y proves nothing.    theory (C9)
PERP_API double perp_mcp_farkas(const perp_mcp *mcp, const double *y);

// ── Box friction ─────────────────────────────────────────────────────────────────────────────────

// The friction of physics engines made self-consistent: w = A z + b as in (C1), but a row i with
// findex[i] = c >= 0 has the box |z_i| <= mu_i z_c, where z_c is the answer's, not a guess. Row c has
// bounds of its own (usually [0, inf): a contact's normal).
typedef struct perp_box_friction {
    int n;
    perp_matrix A;        // n x n
    const double *b;      // n
    const int *findex;    // n: -1, or the row that scales this row's box
    const double *mu;     // n: read where findex >= 0
    const double *lower;  // n, or NULL: all 0; read where findex is -1
    const double *upper;  // n, or NULL: all +INFINITY; likewise
} perp_box_friction;

// As perp_mcp_solve; options->basis and ray are not used. info->solver names the method that gave z.
PERP_API PERP_MUST perp_status perp_box_friction_solve(const perp_box_friction *box,
                                                       const perp_comp_options *options,
                                                       const perp_env *env, double *z,
                                                       perp_comp_info *info);
// The residuals of (C5), (C6) with the boxes that z itself gives.
PERP_API PERP_MUST perp_status perp_box_friction_judge(const perp_box_friction *box,
                                                       const double *z, perp_mcp_residuals *out);

// ── Conversion ───────────────────────────────────────────────────────────────────────────────────

// The Stewart–Trinkle LCP of a contact problem with polygonal friction: z = (p_n, p_f, sigma) in
// blocks over contacts, or (v, p_n, p_f, sigma) with v free for the global form.   theory (C10)
// Contacts whose nd is 0 get `facets` directions in space; in the plane there are always two.
typedef struct perp_pyramid perp_pyramid;
PERP_API PERP_MUST perp_status perp_pyramid_create(const perp_fcp *fcp, int facets,
                                                   const perp_env *env, perp_pyramid **pyramid);
PERP_API void perp_pyramid_destroy(perp_pyramid *pyramid);
PERP_API const perp_mcp *perp_pyramid_mcp(const perp_pyramid *pyramid);
PERP_API const perp_fcp *perp_pyramid_fcp(const perp_pyramid *pyramid);  // with nd filled in
PERP_API void perp_pyramid_recover(const perp_pyramid *pyramid, const double *z, double *r,
                                   double *v);
// The other way: z of an answer to perp_pyramid_fcp, each impulse along the one or two directions next to
// it, all others exactly 0. `ssn` on that problem and this solve (C10) for many contacts.
PERP_API PERP_MUST perp_status perp_pyramid_split(const perp_pyramid *pyramid, const double *r,
                                                  const double *v, double *z);

// ── The registry ─────────────────────────────────────────────────────────────────────────────────

typedef enum perp_problem_class {  // bits
    PERP_CLASS_LCP = 1,
    PERP_CLASS_MCP = 2,  // free and boxed variables too
    PERP_CLASS_FCP_LOCAL = 4,
    PERP_CLASS_FCP_GLOBAL = 8,
    PERP_CLASS_FCP_ROLLING = 16,  // dim > 3
    PERP_CLASS_FCP_PYRAMID = 32,  // nd given
    PERP_CLASS_STEP = 64,         // steps of a sim, which chooses it: cannot be asked for by name
} perp_problem_class;

typedef struct perp_solver_card {
    const char *name;
    unsigned classes;       // perp_problem_class bits it accepts
    const char *proven;     // the class it is proven for
    const char *reference;  // who proved it
    const char *cost;       // per iteration, and how many
    const char *failure;    // how it fails, and what it then returns
} perp_solver_card;

PERP_API int perp_solver_count(void);
PERP_API const perp_solver_card *perp_solver_at(int i);               // NULL outside 0..count-1
PERP_API const perp_solver_card *perp_solver_find(const char *name);  // NULL: no such solver

// All basic solutions of a small MCP (n <= 12), in the order of their bases. Fills at most `most`
// solutions of n values each and returns how many exist in *count.
PERP_API PERP_MUST perp_status perp_mcp_enumerate(const perp_mcp *mcp, const perp_env *env,
                                                  int most, double *z, int *count);
