// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of answers of nonlinear MCPs. z solves the problem exactly where it solves the linear MCP of its own
// linearisation,
//
//   w = F(z) + J(z) (z' - z) = A z' + b,   A = J(z),   b = F(z) - J(z) z                          theory (N6)
//
// and is judged by the residuals of that one, with w = F(z) as the caller's function gives it. F and J are evaluated
// anew. No solver calls this.
//
// J gives the rows their sizes only. A callback that returns a wrong J could make any F small: along one direction J is
// compared with F itself, and a row in which J promises more than F does is measured by what F does.      theory (N7)
#include "comp/judge/judge.h"
#include "comp/problem/ncp.h"

#include <math.h>
#include <string.h>

// Length of the step along which J is compared with F, as a part of z.
static const double COMPARED = 0x1p-20;
// Part of what J promises that F has to do; kinks and curvature take the rest.
static const double KEPT = 0.1;
// Rounding of F, as a part of the sizes of its rows: changes below it show nothing.
static const double ROUNDING = 0x1p-44;

// The least load of a row, as a part of its terms: b = F - J z vanishes at solutions of functions that are homogeneous of
// degree 0 (excess demands of prices), whose rows have to be right to rounding.
static const double LEAST_LOAD = 0x1p-20;

// b; terms_i = |b_i| + sum_j |J_ij| size(z_j); load_i, the larger of |b_i|, a part of the terms, and what the caller's
// typical sizes make of the row.
static void sizes_of_rows(const perp_ncp *ncp, const perp_matrix *A, const double *z,
                          const double *F, double *b, double *terms, double *load)
{
    int n = ncp->n;
    memcpy(b, F, (size_t)n * sizeof *b);
    memset(terms, 0, (size_t)n * sizeof *terms);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int j = 0; j < n; j++) {
        pp_matrix_column c = pp_matrix_column_of(A, j);
        double typical = ncp->typical ? ncp->typical[j] : 0.0, size = fmax(fabs(z[j]), typical);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            b[i] -= c.x[k] * z[j];
            terms[i] += fabs(c.x[k]) * size;
            load[i] += fabs(c.x[k]) * typical;
        }
    }
    for (int i = 0; i < n; i++) {
        terms[i] += fabs(b[i]);
        load[i] = fmax(fmax(load[i], fabs(b[i])), LEAST_LOAD * terms[i]);
    }
}

// The point z + h s, s_j = ±max(|z_j|, typical_j), within the bounds. Lengths differ, so that changes of two variables do
// not cancel.
static void move_point(const pp_ncp *e, const double *z, double sign, double *moved)
{
    uint64_t seed = 0x9E3779B97F4A7C15u;
    for (int j = 0; j < e->n; j++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double size = e->ncp->typical ? fmax(fabs(z[j]), e->ncp->typical[j]) : fabs(z[j]);
        double h = sign * COMPARED * size * (0.5 + 0.5 * (double)(seed >> 11) * 0x1p-53);
        h = seed & 1024 ? -h : h;
        moved[j] = pp_clamp(z[j] + h, e->lower[j], e->upper[j]);
    }
}

// kept_i: the part that F_i does of what J says, the larger of both directions; 1 where J says nothing that would show.
// Returns whether all are above KEPT. scratch: 4 n numbers.
static perp_status compare_rows(pp_ncp *e, const perp_matrix *A, const double *z, const double *F,
                                double *kept, double *scratch, bool *fair)
{
    int n = e->n;
    double *moved = scratch, *there = scratch + n, *says = there + n, *most = says + n;
    for (int i = 0; i < n; i++) {
        kept[i] = 0.0;
    }
    *fair = false;
    // at a kink J is right on one side only: the other side counts where the first is not enough
    for (int pass = 0; pass < 2; pass++) {
        if (*fair) {
            break;
        }
        move_point(e, z, pass == 0 ? 1.0 : -1.0, moved);
        perp_status status = pp_ncp_function(e, moved, there);
        if (status == PERP_ERR_NUMERIC) {
            memcpy(there, F, (size_t)n * sizeof *F);  // not defined there: nothing to compare with
            memcpy(moved, z, (size_t)n * sizeof *z);
        } else if (status < 0) {
            return status;
        }
        memset(says, 0, (size_t)n * sizeof *says);
        memset(most, 0, (size_t)n * sizeof *most);
        for (int j = 0; j < n; j++) {
            pp_matrix_column c = pp_matrix_column_of(A, j);
            for (int k = 0; k < c.count; k++) {
                double part = c.x[k] * (moved[j] - z[j]);
                says[pp_row_in(c, k)] += part;
                most[pp_row_in(c, k)] += fabs(part);
            }
        }
        *fair = true;
        for (int i = 0; i < n; i++) {
            double does = fabs(there[i] - F[i]), promised = fabs(says[i]);
            // where parts of J h cancel, or F changes by its rounding, the row shows nothing
            bool shows = promised > KEPT * most[i] && promised > ROUNDING * fabs(F[i]);
            kept[i] = fmax(kept[i], shows ? fmin(1.0, does / promised) : 1.0);
            *fair = *fair && kept[i] >= KEPT;
        }
    }
    return PERP_OK;
}

// Rows in which F does less than J says get the size that F shows: J is scaled down. False: F does not change at all
// where J says so; it is rounding, and nothing is known of the row.
static bool correct_rows(const pp_ncp *e, const perp_matrix *A, const double *kept, double *x)
{
    for (int i = 0; i < e->n; i++) {
        if (kept[i] == 0.0) {
            return false;
        }
    }
    for (int j = 0; j < e->n; j++) {
        pp_matrix_column c = pp_matrix_column_of(A, j);
        for (int k = 0; k < c.count; k++) {
            double part = kept[pp_row_in(c, k)];
            x[c.x - x + k] *= part < KEPT ? part : 1.0;
        }
    }
    return true;
}

perp_status pp_ncp_judge(const perp_ncp *ncp, const double *z, pp_arena *arena,
                         perp_mcp_residuals *out, char *reason, size_t size)
{
    int n = ncp->n;
    pp_ncp e;
    *out = (perp_mcp_residuals){PP_INF, PP_INF, PP_INF, PP_INF};
    perp_status status = pp_ncp_open(ncp, arena, &e);
    double *x = status >= 0 ? PP_ARRAY(arena, double, e.entries) : NULL;
    double *scratch = PP_ARRAY(arena, double, PP_JUDGE_SCRATCH *(size_t)n + 4 * (size_t)n);
    if (!x || !scratch) {
        return PERP_ERR_MEMORY;
    }
    double *F = scratch + PP_JUDGE_SCRATCH * (size_t)n, *b = F + n, *terms = b + n,
           *load = terms + n;
    status = pp_ncp_function(&e, z, F);
    if (status >= 0) {
        status = pp_ncp_jacobian(&e, z, F, x);
    }
    perp_mcp mcp = {.n = n, .b = b, .lower = e.lower, .upper = e.upper};
    bool fair = true;
    if (status >= 0) {
        mcp.A = pp_ncp_matrix(&e, x);
        status = compare_rows(&e, &mcp.A, z, F, terms, scratch, &fair);
    }
    if (status < 0) {
        pp_print(reason, size, "%s", e.reason);
        return status;
    }
    if (!fair && !correct_rows(&e, &mcp.A, terms, x)) {
        return PERP_OK;  // with infinite residuals
    }
    sizes_of_rows(ncp, &mcp.A, z, F, b, terms, load);
    pp_rating given = {.w = F, .terms = terms, .load = load};
    pp_mcp_judge_given(&mcp, z, &given, scratch, out);
    return PERP_OK;
}

perp_status perp_ncp_judge(const perp_ncp *ncp, const double *z, const perp_env *env,
                           perp_mcp_residuals *out)
{
    char reason[160];
    if (!z || !out || pp_ncp_check(ncp, reason, sizeof reason) < 0) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = pp_arena_create(env);
    if (!arena) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_ncp_judge(ncp, z, arena, out, reason, sizeof reason);
    pp_arena_destroy(arena);
    return status;
}
