// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judges as dispatch.c and auto_*.c use them: residuals, and the number that decides a status.
#pragma once

#include "comp/comp.h"

#include <perp/ncp.h>

// perp_mcp_judge of a checked problem; scratch: PP_JUDGE_SCRATCH n numbers. arena NULL: no search
// for an exact answer nearby, theory (C42).
enum { PP_JUDGE_SCRATCH = 19 };
void pp_mcp_judge(const perp_mcp *mcp, const double *z, bool comparable, double *scratch,
                  pp_arena *arena, perp_mcp_residuals *out);
double pp_mcp_worst(const perp_mcp_residuals *e);  // the number that decides a status
// The same for A as a product (mcp->A is not read), of one island in comparable units. The arena is
// left as it was.
perp_status pp_product_judge(const perp_mcp *mcp, const pp_product *A, const double *z,
                             pp_arena *arena, perp_mcp_residuals *out);
// perp_fcp_judge of a checked problem; the arena is left as it was. Where bounds in double
// arithmetic show the residuals to be below `enough` (0: never), the bounds are returned.
perp_status pp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v, double enough,
                         pp_arena *arena, perp_fcp_residuals *out);

// perp_ncp_judge of a checked problem. reason: why a callback failed.
perp_status pp_ncp_judge(const perp_ncp *ncp, const double *z, pp_arena *arena,
                         perp_mcp_residuals *out, char *reason, size_t size);

// perp_box_friction_judge of a checked problem; scratch: PP_BOX_SCRATCH n numbers.
enum { PP_BOX_SCRATCH = 20 };
void pp_box_judge(const perp_box_friction *box, const double *z, bool comparable, double *scratch,
                  perp_mcp_residuals *out);

// pp_mcp_judge. Where the norms accept z and the backward error does not, z is moved to its bounds
// by pp_mcp_snap_to_bounds if that reduces the residual.
void pp_mcp_judge_snapped(const perp_mcp *mcp, double *z, const perp_comp_options *options,
                          double *scratch, pp_arena *arena, perp_mcp_residuals *out);

// The least backward error that a status asks for: below it the norms
// alone decide, however small the tolerance.
#define PP_ROWS_RIGHT 1e-10

// The residual by norms over all contacts: the larger of (C8), the dynamics of the global form, and
// the lesser of (C7) and (C43).
static inline double pp_fcp_norms(const perp_fcp_residuals *e)
{
    return fmax(fmax(e->scaled, e->dynamics), fmin(e->plain, e->velocity));
}

// The number that decides a status. A Euclidean norm over nc contacts allows one of them sqrt(nc)
// times the tolerance: so does the backward error here.
static inline double pp_fcp_worst(const perp_fcp *fcp, const perp_fcp_residuals *e)
{
    double share = fcp->nc > 1 ? sqrt((double)fcp->nc) : 1.0, norms = pp_fcp_norms(e);
    return e->backward <= PP_ROWS_RIGHT ? norms : fmax(e->backward / share, norms);
}
