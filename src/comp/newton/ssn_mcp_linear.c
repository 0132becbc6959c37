// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system of the MCP: V = diag(a) + diag(c) (A + lambda I), by dense LU or by KLU on the
// pattern of A, which is analysed once. Cost: 2/3 n^3 operations dense.
#include "comp/newton/ssn_mcp.h"

#include <string.h>

// V (dense) or x with lu (sparse) is in use.
struct pp_fb_linear {
    const pp_fb *fb;
    double *V;  // dense: n x n
    int *pivot;
    double *x;  // sparse: values in the pattern of fb->A
    pp_sparse_lu *lu;
};

enum {
    DENSE_ALWAYS = 100,  // rows up to which a dense LU is faster whatever the pattern
    DENSE_MOST = 2000,   // rows up to which a matrix at least one quarter full is factored dense
};

perp_status pp_fb_linear_create(const pp_fb *fb, pp_arena *arena, pp_fb_linear **out)
{
    size_t n = (size_t)fb->n, entries = pp_matrix_entries(&fb->A);
    pp_fb_linear *linear = PP_ZEROS(arena, pp_fb_linear, 1);
    *out = linear;
    if (!linear) {
        return PERP_ERR_MEMORY;
    }
    linear->fb = fb;
    // dense where small or a quarter full
    bool full = fb->n <= DENSE_MOST && 4 * entries >= n * n;
    if (fb->A.dense || fb->n <= DENSE_ALWAYS || full) {
        linear->V = PP_ARRAY(arena, double, n *n);
        linear->pivot = PP_ARRAY(arena, int, n);
        return linear->V && linear->pivot ? PERP_OK : PERP_ERR_MEMORY;
    }
    linear->x = PP_ARRAY(arena, double, entries);
    linear->lu = linear->x ? pp_sparse_lu_create(fb->n, fb->A.p, fb->A.i) : NULL;
    return linear->lu ? PERP_OK : PERP_ERR_MEMORY;
}

void pp_fb_linear_destroy(pp_fb_linear *linear)
{
    if (linear) {
        pp_sparse_lu_destroy(linear->lu);
        linear->lu = NULL;
    }
}

// Assembles V in place, then LU with partial pivoting.
static perp_status factor_dense_newton(pp_fb_linear *linear, const double *a, const double *c,
                                       double lambda)
{
    int n = linear->fb->n;
    pp_matrix_to_dense(&linear->fb->A, linear->V, n);
    for (int j = 0; j < n; j++) {
        double *column = linear->V + (size_t)j * (size_t)n;
        column[j] += lambda;
        for (int i = 0; i < n; i++) {
            column[i] *= c[i];
        }
        column[j] += a[j];
    }
    return pp_lu_factor(n, linear->V, n, linear->pivot, 1e-300) ? PERP_ERR_SINGULAR : PERP_OK;
}

perp_status pp_fb_linear_factor(pp_fb_linear *linear, const double *a, const double *c,
                                double lambda)
{
    const perp_matrix *A = &linear->fb->A;
    if (linear->V) {
        return factor_dense_newton(linear, a, c, lambda);
    }
    // pp_fb stores every diagonal entry, so that the pattern of V is that of A
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            int i = A->i[k];
            linear->x[k] = c[i] * (A->x[k] + (i == j ? lambda : 0.0)) + (i == j ? a[i] : 0.0);
        }
    }
    return pp_sparse_lu_factor(linear->lu, linear->x);
}

double pp_fb_linear_expected_flops(const pp_fb_linear *linear)
{
    return linear->V ? pp_fb_linear_flops(linear) : pp_sparse_lu_expected_flops(linear->lu);
}

double pp_fb_linear_flops(const pp_fb_linear *linear)
{
    double n = linear->fb->n;
    return linear->V ? 2.0 / 3.0 * n * n * n : pp_sparse_lu_flops(linear->lu);
}

perp_status pp_fb_linear_solve(const pp_fb_linear *linear, double *x)
{
    int n = linear->fb->n;
    if (!linear->V) {
        return pp_sparse_lu_solve(linear->lu, x);
    }
    pp_lu_solve(n, linear->V, n, linear->pivot, x);
    return pp_all_finite((size_t)n, x) ? PERP_OK : PERP_ERR_SINGULAR;
}
