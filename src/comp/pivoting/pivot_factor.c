// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The linear algebra of "pivot": z_F from (A_FF + alpha D_F) z_F = -c_F.                theory
// (C19)
//
// The block is scaled to a unit diagonal, S A S with S = D^-1/2, so that one threshold decides what
// a singular pivot is, whatever the units. Symmetric A: Cholesky, with the right-hand side as a
// last row, so that the forward solve is part of the factorisation. Otherwise LU, dense or (large
// and sparse) KLU. A block that was factored in the step before is not factored again: proximal
// steps that keep their basis cost a product. Cost: k^3 / 3 for a block of k, symmetric and dense.
#include "comp/pivoting/pivot.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A pivot of the scaled block, whose diagonal is 1 + alpha, below this counts as zero.
static const double tiny_pivot = 1e-13;

// |w_F| in units of rounding above which the solution by a border is discarded.
static const double BORDER_MISS = 1.0;

void pp_pivot_drop_factor(pp_pivot *p)
{
    pp_sparse_lu_destroy(p->lu);
    p->lu = NULL;
    p->factored_count = -1;
}

// Whether the factor at hand is that of the free list.
static bool is_factored(const pp_pivot *p)
{
    return p->factored_count == p->count && p->factored_alpha == p->alpha &&
           memcmp(p->factored, p->free, (size_t)p->count * sizeof *p->free) == 0;
}

// The leading dimension: room for the right-hand side and a border below, and no multiple of 64,
// with which the columns would share cache sets.
static int leading_dimension(int count)
{
    int ld = (count + (int)pp_pivot_border_room(count) + 4) & ~3;
    return ld % 64 == 0 ? ld + 4 : ld;
}

// S A_FF S + alpha I into L; only its lower triangle when symmetric.
static void gather_free_block(pp_pivot *p)
{
    const int *F = p->free;
    int k = p->count;
    double *scale = p->work;
    for (int i = 0; i < k; i++) {
        scale[i] = p->inverse[F[i]];
    }
    for (int j = 0; j < k; j++) {
        const double *column = p->A.dense + (size_t)F[j] * (size_t)p->n;
        double *to = p->L + (size_t)j * (size_t)p->ld;
        // lower triangle where symmetric, all rows otherwise
        double s = scale[j];
        for (int i = p->symmetric ? j : 0; i < k; i++) {
            to[i] = column[F[i]] * (scale[i] * s);
        }
        to[j] += p->alpha;
    }
}

// Gathers and factors the block; PERP_ERR_SINGULAR below tiny_pivot.
static perp_status factor_free_dense(pp_pivot *p)
{
    p->ld = leading_dimension(p->count);
    gather_free_block(p);
    int bad;
    if (p->symmetric) {
        for (int j = 0; j < p->count; j++) {
            p->L[(size_t)p->count + (size_t)j * (size_t)p->ld] = p->x[j];
        }
        bad = pp_chol_factor_rows(p->count + 1, p->count, p->L, p->ld, tiny_pivot);
    } else {
        bad = pp_lu_factor(p->count, p->L, p->ld, p->row_pivot, tiny_pivot);
    }
    return bad ? PERP_ERR_SINGULAR : PERP_OK;
}

// The scaled free block in CSC, with every diagonal entry stored.
static void gather_sparse(pp_pivot *p)
{
    const perp_matrix *A = &p->A;
    for (int i = 0; i < p->n; i++) {
        p->where[i] = -1;
    }
    for (int k = 0; k < p->count; k++) {
        p->where[p->free[k]] = k;
    }
    int used = 0;
    for (int k = 0; k < p->count; k++) {
        int j = p->free[k];
        bool diagonal = false;
        p->sub_p[k] = used;
        for (int t = A->p[j]; t < A->p[j + 1]; t++) {
            int i = p->where[A->i[t]];
            if (i >= 0) {
                double entry = A->x[t] * p->inverse[j] * p->inverse[A->i[t]];
                diagonal |= i == k;
                p->sub_i[used] = i;
                p->sub_x[used++] = i == k ? entry + p->alpha : entry;
            }
        }
        if (!diagonal) {  // KLU does not ask for sorted rows
            p->sub_i[used] = k;
            p->sub_x[used++] = p->alpha;
        }
    }
    p->sub_p[p->count] = used;
}

// The pattern changes with the free list: KLU analyses it anew.
static perp_status factor_free_sparse(pp_pivot *p)
{
    pp_sparse_lu_destroy(p->lu);
    p->lu = NULL;
    if (p->count == 0) {
        return PERP_OK;
    }
    gather_sparse(p);
    p->lu = pp_sparse_lu_create(p->count, p->sub_p, p->sub_i);
    if (!p->lu) {
        return PERP_ERR_MEMORY;
    }
    if (pp_job_ends_before(p->job, pp_sparse_lu_expected_flops(p->lu))) {
        return PERP_ERR_LIMIT;
    }
    return pp_sparse_lu_factor(p->lu, p->sub_x);
}

// x = (scaled block)^-1 x with the factor at hand
static perp_status solve_again(const pp_pivot *p, double *x)
{
    if (p->count == 0) {
        return PERP_OK;
    }
    if (p->sparse) {
        return pp_sparse_lu_solve(p->lu, x);
    }
    if (p->border.count > 0) {
        pp_pivot_border_solve(p, x);
    } else if (p->symmetric) {
        pp_chol_solve(p->count, p->L, p->ld, x);
    } else {
        pp_lu_solve(p->count, p->L, p->ld, p->row_pivot, x);
    }
    return PERP_OK;
}

// Operations of the last factorisation.
static double factor_flops(const pp_pivot *p)
{
    double k = p->count, cubes = p->symmetric ? 1.0 / 3.0 : 2.0 / 3.0;
    if (p->sparse) {
        return p->lu ? pp_sparse_lu_flops(p->lu) : 0.0;
    }
    return cubes * k * k * k;
}

// A new factor, and x = (scaled block)^-1 x.
static perp_status factor_and_solve(pp_pivot *p)
{
    bool timed = p->count >= 100;  // below, reading the clock would cost as much as the solve
    double start = timed ? pp_seconds() : 0.0;
    p->factored_count = -1;
    perp_status status = p->sparse ? factor_free_sparse(p) : factor_free_dense(p);
    if (timed) {
        p->seconds_factor += pp_seconds() - start;
    }
    pp_meter_add(p->job->meter, factor_flops(p));
    if (status < 0) {
        return status;
    }
    memcpy(p->factored, p->free, (size_t)p->count * sizeof *p->free);
    p->factored_count = p->count;
    p->factored_alpha = p->alpha;
    pp_pivot_border_begin(p);
    if (p->sparse || !p->symmetric) {
        return solve_again(p, p->x);
    }
    for (int j = 0; j < p->count; j++) {
        p->x[j] = p->L[(size_t)p->count + (size_t)j * (size_t)p->ld];
    }
    pp_chol_solve_back(p->count, p->L, p->ld, p->x);
    return PERP_OK;
}

// z_F = x and w = c + (A + alpha D)_F x; returns the worst |w_F| in units of its rounding error.
static double fill_w(pp_pivot *p, const double *x, double noise)
{
    memcpy(p->w, p->c, (size_t)p->n * sizeof *p->w);
    pp_meter_add(p->job->meter, 2.0 * p->count * p->n);
    if (p->sparse) {
        for (int k = 0; k < p->count; k++) {
            int j = p->free[k];
            for (int t = p->A.p[j]; t < p->A.p[j + 1]; t++) {
                p->w[p->A.i[t]] += p->A.x[t] * x[k];
            }
        }
    } else {
        pp_gemv_columns(p->n, p->count, p->free, p->A.dense, p->n, x, p->w);
    }
    // w_F should vanish: what is left of it is the residual of the solve
    double worst = 0.0;
    for (int k = 0; k < p->count; k++) {
        int j = p->free[k];
        p->z[j] = x[k];
        p->w[j] += p->alpha * p->D[j] * x[k];
        worst = pp_max(worst, fabs(p->w[j]) / (p->unit + noise * p->root[j]));
    }
    return worst;
}

// Iterative refinement, three rounds at most: usually none; one where A_FF is ill-conditioned, has
// a border, or is symmetric up to rounding only. *left is the worst |w_F| at the end.
static perp_status refine_iteratively(pp_pivot *p, double noise, double *left)
{
    double miss = fill_w(p, p->x, noise);
    *left = miss;
    for (int round = 0; round < 3 && miss > 0.5; round++) {
        double *d = p->work;
        for (int k = 0; k < p->count; k++) {
            d[k] = -p->w[p->free[k]] * p->inverse[p->free[k]];
        }
        perp_status status = solve_again(p, d);
        if (status < 0) {
            return status;
        }
        for (int k = 0; k < p->count; k++) {
            p->x[k] += d[k] * p->inverse[p->free[k]];
        }
        double after = fill_w(p, p->x, noise);
        *left = after;
        // no longer halves: rounding
        if (!(after < 0.5 * miss)) {
            break;
        }
        miss = after;
    }
    return PERP_OK;
}

// z_F and w by the factor at hand, or by a new one. *left: the worst |w_F| after refinement.
static perp_status solve_with(pp_pivot *p, bool factored, double *left)
{
    double size = 0.0;
    // in scaled units x = S^-1 z_F, the right-hand side is -S c_F
    for (int k = 0; k < p->count; k++) {
        p->x[k] = -p->c[p->free[k]] * p->inverse[p->free[k]];
    }
    perp_status status = factored ? solve_again(p, p->x) : factor_and_solve(p);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < p->count; k++) {
        size += fabs(p->x[k]);
        p->x[k] *= p->inverse[p->free[k]];
    }
    if (!isfinite(size)) {
        return PERP_ERR_SINGULAR;
    }
    return refine_iteratively(p, 4.0 * DBL_EPSILON * size, left);
}

perp_status pp_pivot_solve_free(pp_pivot *p)
{
    double left = 0.0;
    p->border.count = 0;
    if (is_factored(p)) {
        return solve_with(p, true, &left);
    }
    // few variables came or left: the old factor with a border, if that is accurate
    if (pp_pivot_border(p) && solve_with(p, true, &left) >= 0 && left <= BORDER_MISS) {
        return PERP_OK;
    }
    return solve_with(p, false, &left);
}
