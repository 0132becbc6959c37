// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal interface of the judges: residuals, backward errors and what they are measured against.
// Private to judge_*.c; no solver includes it.
#pragma once

#include "comp/judge/verdict.h"

typedef long double pp_real;

// Column j of A, dense or sparse: values, rows, and how many.
typedef struct pp_matrix_column {
    const double *x;
    const int *i;  // NULL: all rows
    int count;
} pp_matrix_column;

static inline pp_matrix_column pp_matrix_column_of(const perp_matrix *A, int j)
{
    if (A->dense) {
        return (pp_matrix_column){A->dense + (size_t)j * (size_t)A->rows, NULL, A->rows};
    }
    return (pp_matrix_column){A->x + A->p[j], A->i + A->p[j], A->p[j + 1] - A->p[j]};
}

// The row of entry k.
static inline int pp_row_in(pp_matrix_column c, int k)
{
    return c.i ? c.i[k] : k;
}

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// What the residuals of an MCP are computed from, however w was evaluated.
typedef struct pp_rating {
    const double *w, *terms;  // n: A z + b, and the sum of the absolute values that it is made of
    const double *inverse;    // n: 1 / rho_i > 0, theory (C15)
    const double *load;       // n: size of the data of each row, 0 for fixed variables
    double doubt;             // w is known up to this part of the terms
} pp_rating;

// The residuals (C5), (C6) and (C36), without the backward error.
void pp_mcp_rate(const perp_mcp *mcp, const double *z, const pp_rating *r, perp_mcp_residuals *out);

// All residuals of z for w, terms and loads that the caller has computed; the units are found here. scratch:
// PP_JUDGE_SCRATCH n numbers.
void pp_mcp_judge_given(const perp_mcp *mcp, const double *z, const pp_rating *given,
                        double *scratch, perp_mcp_residuals *out);
// w = A z + b in double, and the sum of the absolute values that each w_i is made of.
void pp_mcp_evaluate(const perp_mcp *mcp, const double *z, double *w, double *terms);

// The backward error, theory (C40) and (C44). comparable: the caller's word that coupled rows are
// in comparable units (perp_comp_options). scratch: PP_BACKWARD_SCRATCH n numbers. arena: infinite
// where its host wants to stop; may be NULL.
enum { PP_BACKWARD_SCRATCH = 16 };
double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       bool comparable, double *scratch, const pp_arena *arena);
// The worst row by (C40) with the sizes S in terms. weights: sum_k
// |A_ki| / S_k; NULL: from the columns of A.
double pp_worst_row(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                    const double *weights);
// The largest number that each variable and each row is coupled with, in units of its own; n each.
typedef struct pp_mcp_magnitudes {
    double *of_z, *of_w;
} pp_mcp_magnitudes;
typedef struct pp_evaluation {  // of w and terms at z
    void (*evaluate)(const void *context, const double *z, double *w, double *terms);
    const void *context;
    const double *weights;  // of pp_worst_row, of the last evaluation
} pp_evaluation;
// In comparable units: the backward error of a point beside z in which small
// variables are at their bounds and small w are 0, or the relative distance to it,
// whichever is larger. scratch: 3 n numbers.
double pp_without_rounding(const perp_mcp *mcp, const double *z, const pp_mcp_magnitudes *sizes,
                           const pp_evaluation *by, double *scratch);
// Moves variables that are rounding beside what they are coupled with to their bounds, where every
// row is right (PP_ROWS_RIGHT) after that. False: z is as it was. scratch: 17 n numbers.
bool pp_mcp_snap_to_bounds(const perp_mcp *mcp, double *z, double *scratch);
// Fills pp_mcp_magnitudes (judge_units.c). terms: sizes of the rows; scratch: 14 n numbers. False:
// no units were found, or the host of the arena (NULL: nobody) wants to stop.
bool pp_mcp_sizes(const perp_matrix *A, const double *terms, double *scratch, double *of_z,
                  double *of_w, const pp_arena *arena);

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Upper bounds of the residuals, in double. False: not below
// `enough`, or neither tight nor far below it.
bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out);

// The quantities that a contact answer is judged by. In the global form the load of a body is the
// root of the energy of the velocities that its own are the sum of.
typedef struct pp_fcp_evidence {
    pp_real *u, *terms;  // nc dim each: velocities, and the sums of the absolute values they are of
    double *q, *diagonal;       // nc dim each: q and the diagonal of W
    double *made;               // nc dim: terms, with those that v is made of
    double *scale, *size;       // nc dim, nc: factors of theory (C16), S_c of theory (C41)
    double *rounding;           // nc: of velocities, where asked for
    double *inertia, *load;     // nv each, global: diagonal of M, load of the velocity's body
    pp_mass *mass;              // global
    pp_real (*d)[2];            // directions of a friction polygon
    double dynamics, momentum;  // residuals of M v = f + H r: all together, and the worst body
} pp_fcp_evidence;

// Fill the evidence from the local form, or from the global one, which needs v.
perp_status pp_fcp_evidence_local(const perp_fcp *fcp, const double *r, pp_fcp_evidence *e);
perp_status pp_fcp_evidence_global(const perp_fcp *fcp, const double *r, const double *v,
                                   pp_arena *arena, pp_fcp_evidence *e);

// C_c of theory (C41) from the columns of contact c; 0: nothing depends on it. scale NULL: ones.
double pp_contact_weight(const perp_fcp *fcp, int c, const double *scale, const double *size);
perp_status pp_global_weight(const perp_fcp *fcp, int c, const pp_fcp_evidence *e, pp_arena *arena,
                             double *weight);

// The rounding error of each contact's velocity [m/s], nc numbers: a part of the
// largest velocity in the island, compared as roots of energies. 0 where W is not
// symmetric and no such comparison exists.
void pp_contact_rounding(const perp_fcp *fcp, const double *diagonal, const double *size,
                         double *rounding);
