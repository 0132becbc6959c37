// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to judge_*.c.
#pragma once

#include "comp/judge/verdict.h"

typedef long double pp_real;

// Column j of A, and how many entries it has.
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

static inline int pp_row_in(pp_matrix_column c, int k)
{
    return c.i ? c.i[k] : k;
}

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// The verdict on an MCP's answer from its w, however that was computed.
typedef struct pp_rating {
    const double *w, *terms;  // n: A z + b, and the sum of the absolute values that it is made of
    const double *inverse;    // n: 1 / rho_i > 0, theory (C15)
    const double *load;       // n: size of the data of each row, 0 for fixed variables
    double doubt;             // w is known up to this part of the terms
} pp_rating;

void pp_mcp_rate(const perp_mcp *mcp, const double *z, const pp_rating *r, perp_mcp_residuals *out);

// w = A z + b in double, and the sum of the absolute values that each w_i is made of.
void pp_mcp_evaluate(const perp_mcp *mcp, const double *z, double *w, double *terms);

// The backward error, theory (C40); scratch: PP_BACKWARD_SCRATCH n numbers. comparable: perp_comp_options has it.
enum { PP_BACKWARD_SCRATCH = 16 };
double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       bool comparable, double *scratch);
// The worst row by (C40); weights: sum_k |A_ki| / S_k, NULL: from the columns of A.
double pp_worst_row(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                    const double *weights);
// What rows and variables are compared with where units are comparable, n each.
typedef struct pp_mcp_magnitudes {
    double *of_z, *of_w;
} pp_mcp_magnitudes;
typedef struct pp_evaluation {  // of w and terms at z
    void (*evaluate)(const void *context, const double *z, double *w, double *terms);
    const void *context;
    const double *weights;  // of pp_worst_row, of the last evaluation
} pp_evaluation;
// The error of the point next to z that has none of what may be rounding, or how far it is. scratch: 3 n numbers.
double pp_without_rounding(const perp_mcp *mcp, const double *z, const pp_mcp_magnitudes *sizes,
                           const pp_evaluation *by, double *scratch);
// Puts variables that are nothing beside what they are coupled with to their bounds, where that makes every row right: what
// a solver left there was its rounding. False: z is as it was. scratch: 17 n numbers.
bool pp_mcp_snap_to_bounds(const perp_mcp *mcp, double *z, double *scratch);
// The largest number that each variable and each row is coupled with, in units of its own (judge_units.c); terms: sizes of the
// rows, scratch: 14 n numbers. False: units were not found.
bool pp_mcp_sizes(const perp_matrix *A, const double *terms, double *scratch, double *of_z,
                  double *of_w);

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Bounds of the residuals. False: not below `enough`, or neither tight nor far below it.
bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out);

// What an answer is judged by. Of the global form: reach is what the velocities are made of, and a body's load
// is the root of the energy of that.
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

perp_status pp_fcp_evidence_local(const perp_fcp *fcp, const double *r, pp_fcp_evidence *e);
perp_status pp_fcp_evidence_global(const perp_fcp *fcp, const double *r, const double *v,
                                   pp_arena *arena, pp_fcp_evidence *e);

// C_c of theory (C41) from the columns of contact c; 0: nothing depends on it. scale NULL: ones.
double pp_contact_weight(const perp_fcp *fcp, int c, const double *scale, const double *size);
perp_status pp_global_weight(const perp_fcp *fcp, int c, const pp_fcp_evidence *e, pp_arena *arena,
                             double *weight);

// What rounding leaves of each contact's velocity [m/s], nc numbers: a part of the largest velocity in the island,
// compared as roots of energies. 0 where W is not symmetric, and units of r and u have nothing to do with each other.
void pp_contact_rounding(const perp_fcp *fcp, const double *diagonal, const double *size,
                         double *rounding);
