// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// LU factorisation with partial pivoting, recursive in the columns (Toledo 1997): the left half is
// factored, the right half is solved against it and updated by pp_gemm_sub, then factored. Nearly
// all work is in the product. Up to LEAF columns it is the plain algorithm.
#include "math/math.h"
#include "math/simd.h"

#include <math.h>

enum {
    LEAF = 16,  // columns factored one by one
    STEP = 16,  // rows of a triangle solved one by one
};

// The row with the largest entry.
PP_INLINE int pivot_row(int m, const double *column)
{
    int best = 0;
    double size = fabs(column[0]);
    for (int i = 1; i < m; i++) {
        if (fabs(column[i]) > size) {
            size = fabs(column[i]);
            best = i;
        }
    }
    return best;
}

// y -= a x, z -= b x
PP_INLINE void subtract_two(int m, double a, double b, const double *x, double *restrict y,
                            double *restrict z)
{
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        pp_v4 v = PP_LOAD(x + i);
        PP_STORE(y + i) = PP_LOAD(y + i) - a * v;
        PP_STORE(z + i) = PP_LOAD(z + i) - b * v;
    }
    for (; i < m; i++) {
        y[i] -= a * x[i];
        z[i] -= b * x[i];
    }
}

// y -= a x.
PP_INLINE void subtract_one(int m, double a, const double *x, double *restrict y)
{
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        PP_STORE(y + i) = PP_LOAD(y + i) - a * PP_LOAD(x + i);
    }
    for (; i < m; i++) {
        y[i] -= a * x[i];
    }
}

// Nothing moves where i = k.
PP_INLINE void swap_rows(int n, double *A, int ld, int i, int k)
{
    for (int j = 0; j < n && i != k; j++) {
        double *a = PP_AT(A, ld, 0, j);
        double t = a[i];
        a[i] = a[k];
        a[k] = t;
    }
}

// The plain algorithm for m x n with n <= LEAF and m >= n. Pivots are rows of this block.
PP_CLONES
static int factor_leaf(int m, int n, double *A, int ld, int *pivot, double tiny)
{
    for (int k = 0; k < n; k++) {
        double *column = PP_AT(A, ld, k, k);
        int best = pivot_row(m - k, column);  // partial pivoting
        pivot[k] = k + best;
        if (!(fabs(column[best]) > tiny)) {
            return k + 1;
        }
        swap_rows(n, A, ld, k, k + best);
        double inverse = 1.0 / column[0];
        for (int i = 1; i < m - k; i++) {
            column[i] *= inverse;
        }
        int j = k + 1, rest = m - k - 1;
        for (; j + 2 <= n; j += 2) {
            double *y = PP_AT(A, ld, k, j), *z = PP_AT(A, ld, k, j + 1);
            subtract_two(rest, y[0], z[0], column + 1, y + 1, z + 1);
        }
        if (j < n) {
            double *y = PP_AT(A, ld, k, j);
            subtract_one(rest, y[0], column + 1, y + 1);
        }
    }
    return 0;
}

// B = L^-1 B for a unit lower triangle of k <= STEP rows.
PP_CLONES
static void solve_step(int k, int n, const double *L, int ldl, double *B, int ldb)
{
    int j = 0;
    for (; j + 2 <= n; j += 2) {
        double *y = PP_AT(B, ldb, 0, j), *z = PP_AT(B, ldb, 0, j + 1);
        for (int p = 0; p + 1 < k; p++) {
            subtract_two(k - p - 1, y[p], z[p], PP_AT(L, ldl, p + 1, p), y + p + 1, z + p + 1);
        }
    }
    for (double *y = PP_AT(B, ldb, 0, j); j < n; j++) {
        for (int p = 0; p + 1 < k; p++) {
            subtract_one(k - p - 1, y[p], PP_AT(L, ldl, p + 1, p), y + p + 1);
        }
    }
}

// Recursive as well: the upper half, its product, the lower half.
static void solve_unit_lower(int k, int n, const double *L, int ldl, double *B, int ldb)
{
    if (k <= STEP) {
        solve_step(k, n, L, ldl, B, ldb);
        return;
    }
    int top = (k / 2 + 7) / 8 * 8;
    solve_unit_lower(top, n, L, ldl, B, ldb);
    pp_gemm_sub(k - top, n, top, L + top, ldl, B, ldb, B + top, ldb);
    solve_unit_lower(k - top, n, PP_AT(L, ldl, top, top), ldl, B + top, ldb);
}

// Applies the exchanges from..to-1 to n columns.
PP_CLONES
static void permute(int n, double *A, int ld, int from, int to, const int *pivot)
{
    for (int j = 0; j < n; j++) {
        double *a = PP_AT(A, ld, 0, j);
        for (int k = from; k < to; k++) {
            double t = a[k];
            a[k] = a[pivot[k]];
            a[pivot[k]] = t;
        }
    }
}

// The depth of the recursion is log2(n / LEAF).
static int factor_recursive(int m, int n, double *A, int ld, int *pivot, double tiny)
{
    if (n <= LEAF) {
        return factor_leaf(m, n, A, ld, pivot, tiny);
    }
    // The left half is a multiple of eight columns, so that products start at full vectors.
    int left = (n / 2 + 7) / 8 * 8, right = n - left;
    int bad = factor_recursive(m, left, A, ld, pivot, tiny);
    if (bad) {
        return bad;
    }
    double *B = PP_AT(A, ld, 0, left);
    permute(right, B, ld, 0, left, pivot);
    solve_unit_lower(left, right, A, ld, B, ld);
    pp_gemm_sub(m - left, right, left, A + left, ld, B, ld, B + left, ld);
    bad = factor_recursive(m - left, right, B + left, ld, pivot + left, tiny);
    for (int k = left; k < n; k++) {
        pivot[k] += left;
    }
    if (bad) {
        return left + bad;
    }
    permute(left, A, ld, left, n, pivot);
    return 0;
}

int pp_lu_factor(int n, double *A, int ld, int *pivot, double tiny)
{
    return factor_recursive(n, n, A, ld, pivot, tiny);
}

PP_CLONES
void pp_lu_solve(int n, const double *LU, int ld, const int *pivot, double *restrict x)
{
    for (int k = 0; k < n; k++) {  // x = P x
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int k = 0; k < n; k++) {  // x = L \ x
        subtract_one(n - k - 1, x[k], PP_AT(LU, ld, k + 1, k), x + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {  // x = U \ x
        const double *column = PP_AT(LU, ld, 0, k);
        x[k] /= column[k];
        subtract_one(k, x[k], column, x);
    }
}

// U X = B with k rows; two right-hand sides at a time share the loads of U.
PP_CLONES
static void solve_upper_step(int k, int n, const double *U, int ldu, double *B, int ldb)
{
    int j = 0;
    for (; j + 2 <= n; j += 2) {
        double *y = PP_AT(B, ldb, 0, j), *z = PP_AT(B, ldb, 0, j + 1);
        for (int p = k - 1; p >= 0; p--) {
            const double *column = PP_AT(U, ldu, 0, p);
            y[p] /= column[p];
            z[p] /= column[p];
            subtract_two(p, y[p], z[p], column, y, z);
        }
    }
    for (double *y = PP_AT(B, ldb, 0, j); j < n; j++) {
        for (int p = k - 1; p >= 0; p--) {
            const double *column = PP_AT(U, ldu, 0, p);
            y[p] /= column[p];
            subtract_one(p, y[p], column, y);
        }
    }
}

// B = U \ B for n columns.
static void solve_upper(int k, int n, const double *U, int ldu, double *B, int ldb)
{
    if (k <= STEP) {
        solve_upper_step(k, n, U, ldu, B, ldb);
        return;
    }
    int top = (k / 2 + 7) / 8 * 8;
    const double *right = PP_AT(U, ldu, 0, top);
    solve_upper(k - top, n, right + top, ldu, B + top, ldb);
    pp_gemm_sub(top, n, k - top, right, ldu, B + top, ldb, B, ldb);
    solve_upper(top, n, U, ldu, B, ldb);
}

// Solves for the columns of the identity.
void pp_lu_invert(int n, const double *LU, int ld, const int *pivot, double *X, int ldx)
{
    for (int j = 0; j < n; j++) {
        double *column = PP_AT(X, ldx, 0, j);
        for (int i = 0; i < n; i++) {
            column[i] = i == j ? 1.0 : 0.0;
        }
    }
    permute(n, X, ldx, 0, n, pivot);
    solve_unit_lower(n, n, LU, ld, X, ldx);
    solve_upper(n, n, LU, ld, X, ldx);
}

// The factors of A' are U' and L', in reverse order.
void pp_lu_solve_t(int n, const double *LU, int ld, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {  // x = U' \ x
        const double *column = PP_AT(LU, ld, 0, k);
        x[k] = (x[k] - pp_dot(k, column, x)) / column[k];
    }
    for (int k = n - 1; k >= 0; k--) {  // x = L' \ x
        const double *column = PP_AT(LU, ld, 0, k);
        x[k] -= pp_dot(n - k - 1, column + k + 1, x + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {  // x = P' x
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
}
