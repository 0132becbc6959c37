// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to judge_*.c.
#pragma once

#include "comp/verdict.h"

typedef long double pp_real;

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

// The backward error, theory (C40); scratch: 6 n numbers.
double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       double *scratch);

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Bounds of the residuals. False: not below `enough`, or neither tight nor far below it.
bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out);

// What an answer is judged by. Of the global form: reach is what the velocities are made of, and a body's load
// is the root of the energy of that.
typedef struct pp_evidence {
    pp_real *u, *terms;  // nc dim each: velocities, and the sums of the absolute values they are of
    double *q, *diagonal;       // nc dim each: q and the diagonal of W
    double *made;               // nc dim: terms, with those that v is made of
    double *scale, *size;       // nc dim, nc: factors of theory (C16), S_c of theory (C41)
    double *rounding;           // nc: of velocities, where asked for
    double *inertia, *load;     // nv each, global: diagonal of M, load of the velocity's body
    pp_mass *mass;              // global
    pp_real (*d)[2];            // directions of a friction polygon
    double dynamics, momentum;  // residuals of M v = f + H r: all together, and the worst body
} pp_evidence;

perp_status pp_evidence_local(const perp_fcp *fcp, const double *r, pp_evidence *e);
perp_status pp_evidence_global(const perp_fcp *fcp, const double *r, const double *v,
                               pp_arena *arena, pp_evidence *e);

// C_c of theory (C41) from the columns of contact c; 0: nothing depends on it. scale NULL: ones.
double pp_contact_weight(const perp_fcp *fcp, int c, const double *scale, const double *size);
perp_status pp_global_weight(const perp_fcp *fcp, int c, const pp_evidence *e, pp_arena *arena,
                             double *weight);

// What rounding leaves of each contact's velocity [m/s], nc numbers: a part of the largest velocity in the island,
// compared as roots of energies. 0 where W is not symmetric, and units of r and u have nothing to do with each other.
void pp_contact_rounding(const perp_fcp *fcp, const double *diagonal, const double *size,
                         double *rounding);
