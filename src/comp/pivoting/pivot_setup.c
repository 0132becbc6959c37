// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Set-up of "pivot": storage of A, memory, scales, and the test for symmetry.
#include "comp/pivoting/pivot.h"

#include <math.h>
#include <string.h>

enum {
    SPARSE_FROM = 200,  // below this size a dense factor wins whatever the density
};

// A as the factorisations use it: CSC for n > 200 and less than a tenth full, otherwise dense.
static perp_status choose_storage(pp_pivot *p, pp_arena *arena)
{
    const perp_matrix *A = &p->mcp->A;
    double room = 0.1 * (double)p->n * (double)p->n;
    size_t entries = pp_matrix_entries(A);
    // a dense array may hold a sparse matrix
    if (A->dense && p->n > SPARSE_FROM) {
        size_t used = 0;
        for (size_t k = 0; k < entries; k++) {
            used += A->dense[k] != 0.0;
        }
        entries = used;
    }
    p->sparse = p->n > SPARSE_FROM && (double)entries < room;
    if (p->sparse) {
        return pp_matrix_to_csc(A, arena, &p->A);
    }
    p->A = *A;
    if (!A->dense) {
        double *copy = PP_ARRAY(arena, double, (size_t)p->n *(size_t)p->n);
        if (!copy) {
            return PERP_ERR_MEMORY;
        }
        pp_matrix_to_dense(A, copy, p->n);
        p->A = perp_matrix_dense(p->n, p->n, copy);
    }
    return PERP_OK;
}

// The largest entry of column j, which stands for a diagonal entry that is not positive.
static double column_size(const perp_matrix *A, int j)
{
    return A->dense ? pp_norm_inf(A->rows, A->dense + (size_t)j * (size_t)A->rows)
                    : pp_norm_inf(A->p[j + 1] - A->p[j], A->x + A->p[j]);
}

// D, its roots, the bounds, and the unit of w.
static void set_pivot_scales(pp_pivot *p)
{
    const double *lower = p->mcp->lower, *upper = p->mcp->upper;
    double big = 0.0;
    for (int i = 0; i < p->n; i++) {
        double d =
            p->A.dense ? p->A.dense[(size_t)i * ((size_t)p->n + 1)] : pp_matrix_at(&p->A, i, i);
        // a zero diagonal: the largest entry of the column stands in
        if (!(d > 0.0)) {
            d = column_size(&p->A, i);
        }
        p->D[i] = d > 0.0 ? d : 1.0;
        p->root[i] = sqrt(p->D[i]);
        p->inverse[i] = 1.0 / p->root[i];
        p->lower[i] = lower ? lower[i] : 0.0;
        p->upper[i] = upper ? upper[i] : PP_INF;
        big = pp_max(big, fabs(p->mcp->b[i]));
    }
    p->unit = 1e-12 * big;
}

// |A_ij - A_ji| <= 1e-13 sqrt(D_i D_j) for all i and j, checked in tiles that fit the cache.
// Rounding in A is allowed: the factor is of the lower triangle, and refinement uses A itself.
static bool is_nearly_symmetric(const pp_pivot *p)
{
    enum { TILE = 32 };
    int n = p->n;
    const double *A = p->A.dense;
    for (int J = 0; J < n; J += TILE) {
        for (int I = J; I < n; I += TILE) {
            for (int j = J; j < n && j < J + TILE; j++) {
                const double *column = A + (size_t)j * (size_t)n;
                double give = 1e-13 * p->root[j];
                bool same = true;
                for (int i = I > j ? I : j + 1; i < n && i < I + TILE; i++) {
                    double skew = column[i] - A[(size_t)j + (size_t)i * (size_t)n];
                    // no branch in the inner loop
                    same = same & (fabs(skew) <= give * p->root[i]);
                }
                if (!same) {
                    return false;
                }
            }
        }
    }
    return true;
}

// One array of each type for all vectors.
static perp_status allocate_pivot(pp_pivot *p, pp_arena *arena)
{
    size_t n = (size_t)p->n;
    double *doubles = PP_ARRAY(arena, double, 14 * n);
    int *ints = PP_ARRAY(arena, int, 6 * n + 1);
    int8_t *bytes = PP_ARRAY(arena, int8_t, 3 * n);
    if (!doubles || !ints || !bytes) {
        return PERP_ERR_MEMORY;
    }
    double **vectors[] = {&p->lower, &p->upper, &p->D, &p->root, &p->inverse, &p->center, &p->q,
                          &p->c,     &p->z,     &p->w, &p->step, &p->x,       &p->work,   &p->best};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = doubles + k * n;
    }
    p->free = ints, p->fixed = ints + n, p->exchange = ints + 2 * n;
    p->row_pivot = ints + 3 * n, p->factored = ints + 4 * n, p->where = ints + 5 * n;
    p->place = bytes, p->target = bytes + n, p->good = bytes + 2 * n;
    return PERP_OK;
}

// The factor: dense with rows below for the right-hand side and the border, or in CSC.
static perp_status allocate_factor(pp_pivot *p, pp_arena *arena)
{
    size_t n = (size_t)p->n;
    if (!p->sparse) {
        p->L = PP_ARRAY(arena, double, (n + pp_pivot_border_room(p->n) + 8) * n);
        return p->L ? pp_pivot_border_allocate(p, arena) : PERP_ERR_MEMORY;
    }
    size_t entries = pp_matrix_entries(&p->A) + n;
    p->sub_p = PP_ARRAY(arena, int, n + 1);
    p->sub_i = PP_ARRAY(arena, int, entries);
    p->sub_x = PP_ARRAY(arena, double, entries);
    return p->sub_p && p->sub_i && p->sub_x ? PERP_OK : PERP_ERR_MEMORY;
}

perp_status pp_pivot_setup(pp_pivot *p, pp_arena *arena)
{
    perp_status status = choose_storage(p, arena);
    if (status >= 0) {
        status = allocate_pivot(p, arena);
    }
    if (status >= 0) {
        status = allocate_factor(p, arena);
    }
    if (status < 0) {
        return status;
    }
    set_pivot_scales(p);
    p->symmetric = !p->sparse && is_nearly_symmetric(p);
    p->factored_count = -1;
    return PERP_OK;
}
