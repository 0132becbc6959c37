// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Jacobian of a nonlinear MCP against central differences, for callers that have written one.
#include "comp/problem/ncp.h"

#include <math.h>
#include <string.h>

// Step of central differences, as a part of the variable: the cube root of the rounding of F, about.
static const double STEP = 0x1p-17;

// Column j by central differences, one-sided where F is not defined on the other side. plus, minus: n each.
static perp_status measure_column(pp_ncp *e, double *z, int j, double *plus, double *minus)
{
    double at = z[j], h = STEP * fmax(fabs(at), pp_ncp_size(e->ncp, j));
    double high = at + h, low = at - h;
    z[j] = high;
    perp_status above = pp_ncp_function(e, z, plus);
    z[j] = low;
    perp_status below = pp_ncp_function(e, z, minus);
    z[j] = at;
    if (above == PERP_ERR_NUMERIC && below >= 0) {
        high = at;
        above = pp_ncp_function(e, z, plus);
    } else if (below == PERP_ERR_NUMERIC && above >= 0) {
        low = at;
        below = pp_ncp_function(e, z, minus);
    }
    if (above < 0 || below < 0) {
        return above < 0 ? above : below;
    }
    for (int i = 0; i < e->n; i++) {
        plus[i] = (plus[i] - minus[i]) / (high - low);
    }
    return PERP_OK;
}

// All columns are measured before rows are compared: the largest entry of a row decides its unit.
static perp_status compare_all(pp_ncp *e, double *z, const double *x, double *D, double *minus,
                               perp_ncp_difference *out)
{
    int n = e->n;
    perp_matrix J = pp_ncp_matrix(e, x);
    for (int j = 0; j < n; j++) {
        perp_status status = measure_column(e, z, j, D + (size_t)j * (size_t)n, minus);
        if (status < 0) {
            return status;
        }
    }
    for (int i = 0; i < n; i++) {
        double most = 0.0;
        for (int j = 0; j < n; j++) {
            most = fmax(most, fabs(D[(size_t)i + (size_t)j * (size_t)n]));
        }
        for (int j = 0; j < n; j++) {
            double given = pp_matrix_at(&J, i, j), measured = D[(size_t)i + (size_t)j * (size_t)n];
            double error = fabs(given - measured) / (most > 0.0 ? most : 1.0);
            if (!(error <= out->error)) {
                *out = (perp_ncp_difference){error, i, j, given, measured};
            }
        }
    }
    return PERP_OK;
}

perp_status perp_ncp_compare(const perp_ncp *ncp, const double *z, const perp_env *env,
                             perp_ncp_difference *out)
{
    char reason[160];
    if (!z || !out || pp_ncp_check(ncp, reason, sizeof reason) < 0) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = pp_arena_create(env);
    if (!arena) {
        return PERP_ERR_MEMORY;
    }
    *out = (perp_ncp_difference){0};
    size_t n = (size_t)ncp->n;
    pp_ncp e;
    perp_status status = pp_ncp_open(ncp, arena, &e);
    double *x = status >= 0 ? PP_ARRAY(arena, double, e.entries) : NULL;
    double *D = PP_ARRAY(arena, double, n *n), *own = PP_ARRAY(arena, double, 2 * n);
    if (!x || !D || !own) {
        pp_arena_destroy(arena);
        return PERP_ERR_MEMORY;
    }
    // a copy of z, which measure_column() moves, and F
    memcpy(own, z, n * sizeof *own);
    status = pp_ncp_function(&e, own, own + n);
    if (status >= 0) {
        status = pp_ncp_jacobian(&e, own, own + n, x);
    }
    if (status >= 0) {
        status = compare_all(&e, own, x, D, own + n, out);
    }
    pp_arena_destroy(arena);
    return status;
}
