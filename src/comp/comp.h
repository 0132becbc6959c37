// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of comp/: the interface of solvers (job, report), and the problems, matrices and contact
// operations that they share.
//
// A solver takes a checked problem and a job, fills z with its best finite iterate, fills a report,
// and returns the status it believes. dispatch.c judges every answer with judge_*.c
// (comp/judge/verdict.h), which no solver includes.
#pragma once

#include "base/base.h"
#include "comp/meter.h"
#include "math/math.h"

#include <perp/comp.h>
#include <perp/ncp.h>

#include <math.h>

#define PP_COMP_COOKIE 0x70430001u

// Where the coefficients of a contact (moments over lengths) add up to more than this, the scaled
// residual is that of theory (C21) instead of (C8).
#define PP_STRONG_FRICTION 10.0

// A Farkas vector counts as a proof when it separates by this much, relative to its own terms.
#define PP_FARKAS_MARGIN 1e-9
#define PP_FARKAS_ZERO   1e-14  // a column of A'y below this part of its terms: y is known no better

// What a solver gets besides the problem.
typedef struct pp_job {
    const perp_comp_options *options;  // never NULL; tolerance, limits, warm start, basis, and for
                                       // MCPs a ray, which "pivot" alone can do without
    const perp_env *env;               // for public functions that take one; may be NULL
    pp_arena *arena;                   // scratch; allocated blocks live until the solve ends
    double deadline;                   // pp_seconds() at which to stop; PP_INF: none
    pp_ldl *factor;                    // kept from call to call with its analysis; NULL: none
    pp_meter *meter;                   // what was done so far, and may be; NULL: not counted
} pp_job;

// What a solver returns besides z.
typedef struct pp_report {
    int iterations;
    double seconds_factor, seconds_sweeps;  // sweeps: set by "auto" only
    int factorisations;
    double fill, flops;  // largest factorisation: numbers in its factors, operations; 0: unknown
    const char *solver;  // set by "auto" only: the rung that gave z
    int rungs;           // likewise
    bool judged;         // likewise, contact: residuals are the judge's
    perp_fcp_residuals residuals;
    int evaluations, jacobians;  // of nonlinear problems
    bool aborted;                // a callback failed: there is nothing to judge
    bool complete;     // PERP_ERR_INFEASIBLE was proved by exhaustion, not by options->ray
    char reason[200];  // one sentence on a failure, or empty
} pp_report;

typedef perp_status pp_mcp_solver(const perp_mcp *mcp, const pp_job *job, double *z,
                                  pp_report *report);
typedef perp_status pp_fcp_solver(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                                  pp_report *report);
typedef perp_status pp_ncp_solver(const perp_ncp *ncp, const pp_job *job, double *z,
                                  pp_report *report);

// The solvers. The head of each file states the class and the proof.
pp_mcp_solver pp_lemke_mcp, pp_pivot_mcp, pp_ssn_mcp, pp_enum_mcp, pp_auto_mcp;
pp_ncp_solver pp_newton_ncp;
pp_fcp_solver pp_ssn_fcp, pp_ssn_by_name, pp_gs_fcp, pp_eg_fcp, pp_auto_fcp;
// Self-consistent box friction (box_friction.c).
perp_status pp_box_friction(const perp_box_friction *box, const pp_job *job, double *z,
                            pp_report *report);

// ── Problems (problem.c) ─────────────────────────────────────────────────────────────────────────

// Every rule a caller can break; on failure writes one sentence into reason (size bytes).
perp_status pp_mcp_check(const perp_mcp *mcp, char *reason, size_t size);
perp_status pp_fcp_check(const perp_fcp *fcp, char *reason, size_t size);
perp_status pp_box_check(const perp_box_friction *box, char *reason,
                         size_t size);         // box_friction.c
unsigned pp_mcp_classes(const perp_mcp *mcp);  // the perp_problem_class bits a solver must accept
unsigned pp_fcp_classes(const perp_fcp *fcp);
// The basis in which each variable that is at a bound of its own is non-basic there.
void pp_mcp_basis_of(const perp_mcp *mcp, const double *z, int8_t *basis);

// Bounds of variable i: 0 and infinity where the problem has no arrays (an LCP). Inline, since
// small problems spend much of their time here.
static inline double pp_mcp_lower(const perp_mcp *mcp, int i)
{
    return mcp->lower ? mcp->lower[i] : 0.0;
}

static inline double pp_mcp_upper(const perp_mcp *mcp, int i)
{
    return mcp->upper ? mcp->upper[i] : PP_INF;
}

// ── Answers from elsewhere (dispatch.c) ──────────────────────────────────────────────────────────

// A = S'DS + K, which is never formed.
typedef struct pp_product {
    perp_matrix S, D, K;
} pp_product;
// Judges an answer that solve/ found from the rows of a step, by the same residuals and the same
// tolerance as answers of the solvers here. A == NULL: the matrix is mcp->A. Rows are in comparable
// units, theory section 3.
perp_status pp_mcp_offer(const perp_mcp *mcp, const pp_product *A, const double *z,
                         double tolerance, pp_arena *arena, bool *accepted);

// Whether options->ray proves that the problem has no solution, theory (C9). Rounding of the data counts as zero beside
// other columns only where the maker says that units are comparable.
bool pp_mcp_ray_proves(const perp_mcp *mcp, const perp_comp_options *options);

// ── Matrices, dense or sparse (matrix.c) ─────────────────────────────────────────────────────────

size_t pp_matrix_entries(const perp_matrix *A);  // stored entries
double pp_matrix_at(const perp_matrix *A, int i, int j);
void pp_matrix_mul(const perp_matrix *A, double a, const double *x, double *y);    // y += a A x
void pp_matrix_mul_t(const perp_matrix *A, double a, const double *x, double *y);  // y += a A'x
void pp_matrix_diagonal(const perp_matrix *A, double *d);
void pp_matrix_to_dense(const perp_matrix *A, double *dense, int ld);  // column-major
// A transposed in CSC, that is A by rows, whatever the storage of
// A. Zero entries of dense A dropped.
perp_status pp_matrix_transpose(const perp_matrix *A, pp_arena *arena, perp_matrix *out);
// A in CSC (borrowed when it is sparse already). Zero entries of dense A dropped.
perp_status pp_matrix_to_csc(const perp_matrix *A, pp_arena *arena, perp_matrix *out);

// ── Contact components (contact.c) ───────────────────────────────────────────────────────────────

// A group of components kept in one ball: first component, how many, and the coefficient array.
typedef struct pp_group {
    int first, size;
    const double *mu;
} pp_group;

enum { PP_GROUPS_MAX = 3 };
int pp_fcp_groups(const perp_fcp *fcp, pp_group group[PP_GROUPS_MAX]);

// ── Contact through an MCP (as_mcp.c) ────────────────────────────────────────────────────────────

// Every friction disc is a polygon (nd given), or the problem is planar.
bool pp_fcp_is_polygonal(const perp_fcp *fcp);
// Solve a polygonal contact problem through its Stewart–Trinkle MCP; others are refused.
perp_status pp_solve_as_mcp(pp_mcp_solver *solve, const perp_fcp *fcp, const pp_job *job, double *r,
                            double *v, pp_report *report);

// ── Mass matrices (mass.c) ───────────────────────────────────────────────────────────────────────

// M^-1 of the global form, factored once.
typedef struct pp_mass pp_mass;
perp_status pp_mass_create(const perp_matrix *M, pp_arena *arena, pp_mass **out);
perp_status pp_mass_solve(const pp_mass *mass, double *x);  // x = M \ x
void pp_mass_destroy(pp_mass *mass);
// The velocities that M ties to one (its body): their number and which; NULL when they are all.
int pp_mass_body(const pp_mass *mass, int velocity, const int **dof);
// How many separate bodies M falls into, 0: it does not; velocities
// of one, and its M^-1 (column-major).
int pp_mass_bodies(const pp_mass *mass);
int pp_mass_body_at(const pp_mass *mass, int b, const int **dof, const double **inverse);
// y = M^-1 h for column j of H (CSC): y is zero on entry; the count velocities in touched are those
// that may differ from zero after it, for the caller to clear.
perp_status pp_mass_column(const pp_mass *mass, const perp_matrix *H, int j, double *y,
                           int *touched, int *count);
// The local form of a global problem: W = H' M^-1 H, q = H' M^-1 f +
// w, arrays in the arena (contact.c).
perp_status pp_fcp_condense(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                            perp_fcp *local);
// v = M^-1 (f + H r)
perp_status pp_fcp_velocity(const perp_fcp *fcp, const pp_mass *mass, const double *r, double *v);
