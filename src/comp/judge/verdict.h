// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to dispatch.c, auto_*.c and the judges: what a status is decided by.
#pragma once

#include "comp/comp.h"

// perp_mcp_judge of a checked problem; scratch: PP_JUDGE_SCRATCH n numbers. arena NULL: answers are not looked for nearby (C42).
enum { PP_JUDGE_SCRATCH = 19 };
void pp_mcp_judge(const perp_mcp *mcp, const double *z, bool comparable, double *scratch,
                  pp_arena *arena, perp_mcp_residuals *out);
double pp_mcp_worst(const perp_mcp_residuals *e);  // what a status is decided by
// The same with A as a product (mcp->A is not read), of an island in comparable units; the arena is left as it was.
perp_status pp_product_judge(const perp_mcp *mcp, const pp_product *A, const double *z,
                             pp_arena *arena, perp_mcp_residuals *out);
// perp_fcp_judge of a checked problem; the arena is left as it was. Where double arithmetic shows that
// they are below `enough` (0: nothing is), bounds do.
perp_status pp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v, double enough,
                         pp_arena *arena, perp_fcp_residuals *out);

// perp_box_friction_judge of a checked problem; scratch: PP_BOX_SCRATCH n numbers.
enum { PP_BOX_SCRATCH = 20 };
void pp_box_judge(const perp_box_friction *box, const double *z, bool comparable, double *scratch,
                  perp_mcp_residuals *out);

// pp_mcp_judge; where norms accept z and its rows are not all right, z is settled first if that makes it better.
void pp_mcp_judge_snapped(const perp_mcp *mcp, double *z, const perp_comp_options *options,
                          double *scratch, pp_arena *arena, perp_mcp_residuals *out);

// Rows and contacts that are right to this part of their own size are right: the backward error asks for no more where the
// tolerance is less, and norms decide.
#define PP_ROWS_RIGHT 1e-10

// What norms over all contacts say: FCLIB's map, or velocities against |q| where r and u are numbers of different size.
static inline double pp_fcp_norms(const perp_fcp_residuals *e)
{
    return fmax(fmax(e->scaled, e->dynamics), fmin(e->plain, e->velocity));
}

// In a Euclidean norm one contact may be off by sqrt(nc) times what all of them are, if they carry alike.
static inline double pp_fcp_worst(const perp_fcp *fcp, const perp_fcp_residuals *e)
{
    double share = fcp->nc > 1 ? sqrt((double)fcp->nc) : 1.0, norms = pp_fcp_norms(e);
    return e->backward <= PP_ROWS_RIGHT ? norms : fmax(e->backward / share, norms);
}
