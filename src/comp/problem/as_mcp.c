// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A contact problem by a solver of MCPs: through its Stewart–Trinkle problem,
// theory (C10). Friction must be polygonal already, since polygons in place of
// discs would be another law than the caller posed.
#include "comp/comp.h"

// In the plane friction is an interval, whose two ends are the polygon.
bool pp_fcp_is_polygonal(const perp_fcp *fcp)
{
    for (int c = 0; fcp->dim > 2 && c < fcp->nc; c++) {
        if (!fcp->nd || fcp->nd[c] == 0) {
            return false;
        }
    }
    return true;
}

perp_status pp_solve_as_mcp(pp_mcp_solver *solve, const perp_fcp *fcp, const pp_job *job, double *r,
                            double *v, pp_report *report)
{
    enum { ANY_FACETS = 4 };  // every contact has its own, or is planar
    if (!pp_fcp_is_polygonal(fcp)) {
        pp_print(report->reason, sizeof report->reason,
                 "pivoting needs polygonal friction: give nd (facets) for every contact");
        return PERP_ERR_REFUSED;
    }
    perp_pyramid *pyramid = NULL;
    perp_status status = perp_pyramid_create(fcp, ANY_FACETS, job->env, &pyramid);
    if (status < 0) {
        return status;
    }
    const perp_mcp *mcp = perp_pyramid_mcp(pyramid);
    perp_comp_options options = *job->options;
    pp_job inner = *job;
    inner.options = &options;
    options.warm_start = false;  // the split of r into directions is not unique, theory section 5
    options.basis = NULL;
    options.ray = PP_ZEROS(job->arena, double, mcp->n);
    double *z = PP_ZEROS(job->arena, double, mcp->n);
    // r and v are recovered whatever the status: the best iterate is wanted
    status = PERP_ERR_MEMORY;
    if (z && options.ray) {
        status = solve(mcp, &inner, z, report);
        if (status == PERP_ERR_INFEASIBLE && !report->complete &&
            !pp_mcp_ray_proves(mcp, &options)) {
            status = PERP_ERR_RAY;  // claimed without a proof
        }
        perp_pyramid_recover(pyramid, z, r, v);
    }
    perp_pyramid_destroy(pyramid);
    return status;
}
