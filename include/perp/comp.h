// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Complementarity problems, their solvers, and judges of their solutions. Usable without the rest of
// perp: libperp_comp needs this header and base.h only.
//
// A problem is a set of borrowed arrays, which are neither copied nor changed. A solver fills z; code that
// shares nothing with the solvers then judges z and determines the status.
#pragma once

#include <perp/base.h>

// A dense or sparse matrix; the arrays are borrowed.
typedef struct perp_matrix {
    int rows, cols;
    const double *dense;  // column-major, rows x cols; NULL: sparse, given by p, i, x
    const int *p;         // CSC column starts, cols + 1 values
    const int *i;         // row of each entry, ascending and distinct within a column
    const double *x;      // value of each entry
} perp_matrix;

PERP_API perp_matrix perp_matrix_dense(int rows, int cols, const double *column_major);
PERP_API perp_matrix perp_matrix_csc(int rows, int cols, const int *p, const int *i,
                                     const double *x);

// ── The mixed complementarity problem, in the form of PATH ───────────────────────────────────────
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
// nd[c] = 0 is the exact disc. Groups of one component are always exact.
typedef struct perp_fcp {
    int nc;                 // contacts
    int dim;                // components per contact, 2..6
    int nv;                 // velocities of the global form; 0: local form
    const double *mu;       // nc: sliding friction coefficient [-]
    const double *mu_spin;  // nc: torsional coefficient [m], dim 4 and 6, else NULL
    const double *mu_roll;  // nc: rolling coefficient [m], dim 5 and 6, else NULL
    const int *nd;          // nc, or NULL: facets of the friction polygon of each contact; 0: disc
    perp_matrix W;          // local: nc dim x nc dim
    const double *q;        // local: nc dim
    perp_matrix M;          // global: nv x nv, symmetric positive definite
    perp_matrix H;          // global: nv x nc dim
    const double *f, *w;    // global: nv; nc dim
} perp_fcp;

// ── Solving ──────────────────────────────────────────────────────────────────────────────────────

// Memory that solvers reuse between calls; one per thread. With it, solving a problem of a previous size
// allocates nothing. NULL is accepted everywhere: memory is allocated for the call.
typedef struct perp_workspace perp_workspace;
PERP_API perp_workspace *perp_workspace_create(const perp_env *env);  // NULL: out of memory
PERP_API void perp_workspace_destroy(perp_workspace *work);

// The complementary basis: state of each variable of an MCP.
typedef enum perp_basis {
    PERP_BASIS_LOWER = -1,
    PERP_BASIS_BASIC = 0,  // w_i = 0: basic
    PERP_BASIS_UPPER = 1,
} perp_basis;

typedef struct perp_comp_options {
    double tolerance;    // on the residuals and the backward error; default 1e-8
    double loose;        // up to this the result is PERP_INEXACT, not a failure; default 1e-5
    int max_iterations;  // iterations of the solver; 0: chosen from n
    double max_seconds;  // 0: none. Checked between iterations; the best iterate is returned
    double max_work;     // in factorisations, theory (C50); 0: none. Reproducible
    bool warm_start;     // z (and basis, if given) contain a guess on entry; default false
    int8_t *basis;       // n perp_basis values, in (warm start) and out; NULL: none. MCP only
    double *ray;  // out, n values: secondary ray or proof of infeasibility, or NULL. MCP only
    perp_workspace *work;  // NULL: memory for this call only
    int threads;           // for factorisations; 0 and 1: serial. Does not change the result
    bool comparable;  // all rows and variables have comparable units, so that coefficients tiny
                      // beside others can be treated as rounding. Default false. MCP only
    uint32_t cookie;  // set by perp_comp_options_default()
} perp_comp_options;

typedef struct perp_comp_info {
    const char *solver;        // that found z; with "auto", the solver it chose
    perp_error error;          // status, and the reason if there is no solution
    int iterations;            // pivots, block exchanges, Newton steps or sweeps of that solver
    int rungs;                 // solvers tried by "auto"; starting points of "newton"; otherwise 1
    double residual;           // natural map, unit-consistent scaling          theory (C6), (C8)
    double residual_plain;     // natural map, unscaled; FCLIB's for contact    theory (C5), (C7)
    double residual_dynamics;  // |M v - f - H r| / max(|f + H r|, |f|), global problems only
    double backward;        // backward error: worst row or contact in its own units  (C40), (C41)
    double seconds;         // wall time of solving
    double seconds_factor;  // of this in factorisations, if the solver reports it
    double seconds_sweeps;  // of this in first-order solvers
    double seconds_judge;   // wall time of judging, not included in seconds
    int factorisations;     // of Newton systems, by all solvers tried
    double work;            // of all solvers tried, including sweeps and pivots  theory (C50)
    double fill;            // nonzeros in the largest factors, if known
    double flops;           // operations of the largest factorisation, if known
    int evaluations;        // of F, nonlinear problems only, those for differences among them
    int jacobians;          // likewise, of its Jacobian
} perp_comp_info;

PERP_API perp_comp_options perp_comp_options_default(void);

// Solves the problem. z (n values) always receives the best iterate found; all values are finite.
//
//   >= 0    z is a solution, judged independently
//   < 0     no solution found; info->error.text says why
//
// solver is a name known to perp_solver_find; NULL: "auto". env and info may be NULL.
PERP_API PERP_MUST perp_status perp_mcp_solve(const char *solver, const perp_mcp *mcp,
                                              const perp_comp_options *options, const perp_env *env,
                                              double *z, perp_comp_info *info);

// r: nc dim reactions [N s]; v: nv velocities of the global form, or NULL.
PERP_API PERP_MUST perp_status perp_fcp_solve(const char *solver, const perp_fcp *fcp,
                                              const perp_comp_options *options, const perp_env *env,
                                              double *r, double *v, perp_comp_info *info);

// ── Judging, independent of all solvers ──────────────────────────────────────────────────────────

typedef struct perp_mcp_residuals {
    double plain;   // max_i |z_i - clamp(z_i - w_i)| / |b|, |b| the size of the data    theory (C5)
    double scaled;  // the same with rows scaled to comparable units        theory (C6), (C36)
    double bound;   // worst violation of lower <= z <= upper
    double backward;  // backward error: the worst row, each in its own units           theory (C40)
} perp_mcp_residuals;

typedef struct perp_fcp_residuals {
    double plain;     // FCLIB: sqrt sum |r - P_K(r - u~)|^2 / |q|                  theory (C7)
    double scaled;    // with rho_c = 3 / tr W_cc, relative to max(|r|, |rho q|)    theory (C8)
    double dynamics;  // |M v - f - H r| / max(|f + H r|, |f|); 0 in the local form
    double backward;  // backward error: the worst contact or body, each in its own units   (C41)
    double velocity;  // like plain, with r in its own units: u relative to |q|  theory (C43)
} perp_fcp_residuals;

PERP_API PERP_MUST perp_status perp_mcp_judge(const perp_mcp *mcp, const double *z,
                                              const perp_env *env, perp_mcp_residuals *out);
PERP_API PERP_MUST perp_status perp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v,
                                              const perp_env *env, perp_fcp_residuals *out);

// Checks a proof that no z satisfies bounds and signs: y with y_i >= 0 on rows with w_i >= 0, free on
// equations, 0 on boxes, and sup over the box of y^T (A z + b) < 0. Returns this supremum, scaled by
// sum |y_i b_i|: a negative value proves infeasibility; +INFINITY if y proves nothing. theory (C9)
PERP_API double perp_mcp_farkas(const perp_mcp *mcp, const double *y);

// ── Box friction ─────────────────────────────────────────────────────────────────────────────────

// The box friction of physics engines, made self-consistent: w = A z + b as in (C1), but a row i with
// findex[i] = c >= 0 has the box |z_i| <= mu_i z_c, where z_c is part of the solution, not a guess. Row c has
// its own bounds (usually [0, inf): the normal of a contact).
typedef struct perp_box_friction {
    int n;
    perp_matrix A;        // n x n
    const double *b;      // n
    const int *findex;    // n: -1, or the row that scales this row's box
    const double *mu;     // n: used where findex >= 0
    const double *lower;  // n, or NULL: all 0; used where findex is -1
    const double *upper;  // n, or NULL: all +INFINITY; used where findex is -1
} perp_box_friction;

// Like perp_mcp_solve; options->basis and ray are not used. info->solver names the method that found z.
PERP_API PERP_MUST perp_status perp_box_friction_solve(const perp_box_friction *box,
                                                       const perp_comp_options *options,
                                                       const perp_env *env, double *z,
                                                       perp_comp_info *info);
// The residuals (C5), (C6) with the boxes given by z.
PERP_API PERP_MUST perp_status perp_box_friction_judge(const perp_box_friction *box,
                                                       const double *z, perp_mcp_residuals *out);

// ── Conversion ───────────────────────────────────────────────────────────────────────────────────

// The Stewart–Trinkle LCP of a contact problem with polygonal friction: z = (p_n, p_f, sigma) in
// blocks over contacts, or (v, p_n, p_f, sigma) with v free for the global form.   theory (C10)
// Contacts with nd = 0 get `facets` directions in 3D; in 2D there are always two.
typedef struct perp_pyramid perp_pyramid;
PERP_API PERP_MUST perp_status perp_pyramid_create(const perp_fcp *fcp, int facets,
                                                   const perp_env *env, perp_pyramid **pyramid);
PERP_API void perp_pyramid_destroy(perp_pyramid *pyramid);
PERP_API const perp_mcp *perp_pyramid_mcp(const perp_pyramid *pyramid);
PERP_API const perp_fcp *perp_pyramid_fcp(const perp_pyramid *pyramid);  // with nd set
PERP_API void perp_pyramid_recover(const perp_pyramid *pyramid, const double *z, double *r,
                                   double *v);
// The inverse of perp_pyramid_recover: z from a solution of perp_pyramid_fcp. Each impulse is split along the one or
// two nearest directions; the others are exactly 0. With `ssn` this solves (C10) for many contacts.
PERP_API PERP_MUST perp_status perp_pyramid_split(const perp_pyramid *pyramid, const double *r,
                                                  const double *v, double *z);

// ── The registry ─────────────────────────────────────────────────────────────────────────────────

typedef enum perp_problem_class {  // bits
    PERP_CLASS_LCP = 1,
    PERP_CLASS_MCP = 2,  // also free and boxed variables
    PERP_CLASS_FCP_LOCAL = 4,
    PERP_CLASS_FCP_GLOBAL = 8,
    PERP_CLASS_FCP_ROLLING = 16,  // dim > 3
    PERP_CLASS_FCP_PYRAMID = 32,  // nd given
    PERP_CLASS_NCP = 128,         // nonlinear MCPs (ncp.h)
    PERP_CLASS_STEP = 64,         // steps of a sim; chosen internally, not selectable by name
} perp_problem_class;

typedef struct perp_solver_card {
    const char *name;
    unsigned classes;       // perp_problem_class bits it accepts
    const char *proven;     // class for which convergence is proved
    const char *reference;  // literature
    const char *cost;       // cost per iteration, and number of iterations
    const char *failure;    // how it fails, and what it returns then
} perp_solver_card;

PERP_API int perp_solver_count(void);
PERP_API const perp_solver_card *perp_solver_at(int i);               // NULL outside 0..count-1
PERP_API const perp_solver_card *perp_solver_find(const char *name);  // NULL: no such solver

// Finds all basic solutions of a small MCP (n <= 12), in the order of their bases. Stores at most `most`
// solutions of n values each, and their total number in *count.
PERP_API PERP_MUST perp_status perp_mcp_enumerate(const perp_mcp *mcp, const perp_env *env,
                                                  int most, double *z, int *count);
