// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factorisation, blocked: a diagonal block of NB columns, the panel below it, then the
// trailing matrix by pp_syrk_sub. Within a block four columns and eight rows at a time stay in
// registers:
//
//   L_iJ = (A_iJ - sum_{p<J} L_ip L_Jp') L_JJ^-T
//
// Up to NB columns nothing is copied or called: small problems are solved here.
#include "math/math.h"
#include "math/simd.h"

#include <math.h>

enum {
    NB = 48,  // columns of a block
    W = 4,    // columns that are finished together
};

// The W x W triangle at the diagonal: entries below the diagonal, and reciprocals of the diagonal.
typedef struct chol_corner {
    double l10, l20, l21, l30, l31, l32;
    double inverse[W];
} chol_corner;

// Rows i..i+4v-1 of W columns, in v vectors: subtract the columns before, then divide by the
// corner.
PP_INLINE void panel_rows(int v, int before, double *A, int ld, int i, int J, const chol_corner *t)
{
    pp_v4 x[2][W] = {{{0}}};
    const double *a = PP_AT(A, ld, i, 0), *b = PP_AT(A, ld, J, 0);
    for (int p = 0; p < before; p++, a += ld, b += ld) {
        for (int h = 0; h < v; h++) {
            pp_v4 row = PP_LOAD(a + 4 * h);
            x[h][0] += row * b[0];
            x[h][1] += row * b[1];
            x[h][2] += row * b[2];
            x[h][3] += row * b[3];
        }
    }
    // Rows of the panel times the inverse transpose of the corner: forward substitution along the
    // columns.
    double *c0 = PP_AT(A, ld, i, J), *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
    for (int h = 0; h < v; h++) {
        pp_v4 y0 = (PP_LOAD(c0 + 4 * h) - x[h][0]) * t->inverse[0];
        pp_v4 y1 = ((PP_LOAD(c1 + 4 * h) - x[h][1]) - y0 * t->l10) * t->inverse[1];
        pp_v4 y2 = (((PP_LOAD(c2 + 4 * h) - x[h][2]) - y0 * t->l20) - y1 * t->l21) * t->inverse[2];
        pp_v4 y3 = ((((PP_LOAD(c3 + 4 * h) - x[h][3]) - y0 * t->l30) - y1 * t->l31) - y2 * t->l32) *
                   t->inverse[3];
        PP_STORE(c0 + 4 * h) = y0;
        PP_STORE(c1 + 4 * h) = y1;
        PP_STORE(c2 + 4 * h) = y2;
        PP_STORE(c3 + 4 * h) = y3;
    }
}

// The same for one row, by the same operations.
PP_INLINE void panel_row(int before, double *A, int ld, int i, int J, const chol_corner *t)
{
    double x[W] = {0};
    const double *a = PP_AT(A, ld, i, 0), *b = PP_AT(A, ld, J, 0);
    for (int p = 0; p < before; p++, a += ld, b += ld) {
        x[0] += *a * b[0];
        x[1] += *a * b[1];
        x[2] += *a * b[2];
        x[3] += *a * b[3];
    }
    double *c = PP_AT(A, ld, i, J);
    double y0 = (c[0] - x[0]) * t->inverse[0];
    double y1 = ((c[ld] - x[1]) - y0 * t->l10) * t->inverse[1];
    double y2 = (((c[2 * (ptrdiff_t)ld] - x[2]) - y0 * t->l20) - y1 * t->l21) * t->inverse[2];
    double y3 = ((((c[3 * (ptrdiff_t)ld] - x[3]) - y0 * t->l30) - y1 * t->l31) - y2 * t->l32) *
                t->inverse[3];
    c[0] = y0;
    c[ld] = y1;
    c[2 * (ptrdiff_t)ld] = y2;
    c[3 * (ptrdiff_t)ld] = y3;
}

// Rows from..to-1 of a panel of W columns: eight, four and one at a time. The sums of a row do not
// depend on which.
PP_INLINE void factor_panel(int before, double *A, int ld, int from, int to, int J,
                            const chol_corner *t)
{
    int i = from;
    for (; i + 8 <= to; i += 8) {
        panel_rows(2, before, A, ld, i, J, t);
    }
    for (; i + 4 <= to; i += 4) {
        panel_rows(1, before, A, ld, i, J, t);
    }
    for (; i < to; i++) {
        panel_row(before, A, ld, i, J, t);
    }
}

// What the columns before contribute to the corner: sum_p L(J+i, p) L(J+j, p), i >= j.
PP_INLINE void corner_sums(int w, int before, const double *A, int ld, int J, double s[W][W])
{
    // Full squares where vectors fill them (the upper half is not used), otherwise the lower
    // triangle; the order of the sums is the same.
    const double *a = PP_AT(A, ld, J, 0);
    if (w == W) {
        pp_v4 t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
        for (int p = 0; p < before; p++, a += ld) {
            pp_v4 row = PP_LOAD(a);
            t0 += row * a[0];
            t1 += row * a[1];
            t2 += row * a[2];
            t3 += row * a[3];
        }
        PP_STORE(s[0]) = t0, PP_STORE(s[1]) = t1, PP_STORE(s[2]) = t2, PP_STORE(s[3]) = t3;
        return;
    }
    for (int p = 0; p < before; p++, a += ld) {
        for (int j = 0; j < w; j++) {
            for (int i = j; i < w; i++) {
                s[j][i] += a[i] * a[j];
            }
        }
    }
}

// Entries below the diagonal of the corner of W finished columns.
PP_INLINE void read_corner(const double *A, int ld, int J, chol_corner *t)
{
    const double *l = PP_AT(A, ld, J, J);
    t->l10 = l[1], t->l20 = l[2], t->l30 = l[3];
    t->l21 = l[ld + 2], t->l31 = l[ld + 3];
    t->l32 = l[2 * (ptrdiff_t)ld + 3];
}

// L of a corner of w <= W columns. Returns 0 or 1 + the failing column.
PP_INLINE int factor_corner(int w, int before, double *A, int ld, int J, double tiny,
                            chol_corner *t)
{
    double s[W][W] = {{0}};
    corner_sums(w, before, A, ld, J, s);
    for (int j = 0; j < w; j++) {
        for (int i = j; i < w; i++) {
            double *entry = PP_AT(A, ld, J + i, J + j);
            double value = *entry - s[j][i];
            for (int q = 0; q < j; q++) {
                value -= *PP_AT(A, ld, J + i, J + q) * *PP_AT(A, ld, J + j, J + q);
            }
            if (i > j) {
                *entry = value * t->inverse[j];
                continue;
            }
            // Not positive definite up to rounding, or NaN: the pivot is left as it is for the
            // caller to see.
            if (!(value > tiny)) {
                *entry = value;
                return j + 1;
            }
            *entry = sqrt(value);
            t->inverse[j] = 1.0 / *entry;
        }
    }
    if (w == W) {
        read_corner(A, ld, J, t);
    }
    return 0;
}

// The last n % W columns of a block of n, for all rows below: entry by entry.
PP_INLINE int last_columns(int m, int n, int J, double *A, int ld, double tiny)
{
    chol_corner t;
    int bad = factor_corner(n - J, J, A, ld, J, tiny, &t);
    if (bad) {
        return J + bad;
    }
    for (int j = J; j < n; j++) {
        for (int i = n; i < m; i++) {
            double s = 0.0;
            for (int p = 0; p < J; p++) {
                s += *PP_AT(A, ld, i, p) * *PP_AT(A, ld, j, p);
            }
            double value = *PP_AT(A, ld, i, j) - s;
            for (int q = J; q < j; q++) {
                value -= *PP_AT(A, ld, i, q) * *PP_AT(A, ld, j, q);
            }
            *PP_AT(A, ld, i, j) = value * t.inverse[j - J];
        }
    }
    return 0;
}

// n <= NB columns of m >= n rows: the block on the diagonal and the panel below it.
PP_CLONES
static int factor_block(int m, int n, double *A, int ld, double tiny)
{
    chol_corner t[NB / W];
    int J = 0;
    for (; J + W <= n; J += W) {
        int bad = factor_corner(W, J, A, ld, J, tiny, &t[J / W]);
        if (bad) {
            return J + bad;
        }
        factor_panel(J, A, ld, J + W, n, J, &t[J / W]);
    }
    for (int i = n; i < m; i += 8) {  // eight rows through all columns stay in the cache
        for (int k = 0; k < J; k += W) {
            factor_panel(k, A, ld, i, i + 8 < m ? i + 8 : m, k, &t[k / W]);
        }
    }
    return J < n ? last_columns(m, n, J, A, ld, tiny) : 0;
}

// Right-looking: a block of NB columns, then its product is subtracted from all columns to the
// right.
int pp_chol_factor_rows(int m, int n, double *A, int ld, double tiny)
{
    for (int k = 0; k < n; k += NB) {
        int width = n - k < NB ? n - k : NB;
        double *block = PP_AT(A, ld, k, k);
        int bad = factor_block(m - k, width, block, ld, tiny);
        if (bad) {
            return k + bad;
        }
        if (k + width < n) {
            pp_syrk_sub(m - k - width, n - k - width, width, block + width, ld,
                        PP_AT(A, ld, k + width, k + width), ld);
        }
    }
    return 0;
}

int pp_chol_factor(int n, double *A, int ld, double tiny)
{
    return pp_chol_factor_rows(n, n, A, ld, tiny);
}

// Rows from..to-1 of a block of n <= NB finished columns.
PP_CLONES
static void solve_block_rows(int from, int to, int n, double *A, int ld)
{
    int J = 0;
    for (; J + W <= n; J += W) {
        chol_corner t;
        // The reciprocals of the factorisation are gone, and are computed anew.
        read_corner(A, ld, J, &t);
        for (int j = 0; j < W; j++) {
            t.inverse[j] = 1.0 / *PP_AT(A, ld, J + j, J + j);
        }
        factor_panel(J, A, ld, from, to, J, &t);
    }
    for (int j = J; j < n; j++) {
        double inverse = 1.0 / *PP_AT(A, ld, j, j);
        for (int i = from; i < to; i++) {
            double s = 0.0;
            for (int p = 0; p < j; p++) {
                s += *PP_AT(A, ld, i, p) * *PP_AT(A, ld, j, p);
            }
            *PP_AT(A, ld, i, j) = (*PP_AT(A, ld, i, j) - s) * inverse;
        }
    }
}

// Block by block: solved rows are then subtracted from the columns to the right.
void pp_chol_solve_rows(int from, int to, int n, double *L, int ld)
{
    for (int k = 0; k < n; k += NB) {
        int width = n - k < NB ? n - k : NB, after = k + width;
        solve_block_rows(from - k, to - k, width, PP_AT(L, ld, k, k), ld);
        pp_gemm_sub_t(to - from, n - after, width, PP_AT(L, ld, from, k), ld,
                      PP_AT(L, ld, after, k), ld, PP_AT(L, ld, from, after), ld);
    }
}

// L x = b in place.
PP_CLONES
void pp_chol_solve_forward(int n, const double *L, int ld, double *restrict x)
{
    int k = 0;
    for (; k + W <= n; k += W) {
        // Solve with the 4 x 4 triangle on the diagonal, then subtract its four columns from the
        // rest of x in one pass: a quarter of the memory traffic of single columns, with the same
        // order of subtractions.
        const double *c0 = PP_AT(L, ld, k, k), *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
        double x0 = x[k] / c0[0];
        double x1 = (x[k + 1] - x0 * c0[1]) / c1[1];
        double x2 = ((x[k + 2] - x0 * c0[2]) - x1 * c1[2]) / c2[2];
        double x3 = (((x[k + 3] - x0 * c0[3]) - x1 * c1[3]) - x2 * c2[3]) / c3[3];
        x[k] = x0, x[k + 1] = x1, x[k + 2] = x2, x[k + 3] = x3;
        int i = 4, rest = n - k;
        for (; i + 4 <= rest; i += 4) {
            PP_STORE(x + k + i) =
                (((PP_LOAD(x + k + i) - x0 * PP_LOAD(c0 + i)) - x1 * PP_LOAD(c1 + i)) -
                 x2 * PP_LOAD(c2 + i)) -
                x3 * PP_LOAD(c3 + i);
        }
        for (; i < rest; i++) {
            x[k + i] = (((x[k + i] - x0 * c0[i]) - x1 * c1[i]) - x2 * c2[i]) - x3 * c3[i];
        }
    }
    for (; k < n; k++) {
        const double *column = PP_AT(L, ld, 0, k);
        x[k] /= column[k];
        for (int i = k + 1; i < n; i++) {
            x[i] -= x[k] * column[i];
        }
    }
}

// L^T x = b in place.
PP_CLONES
void pp_chol_solve_back(int n, const double *L, int ld, double *x)
{
    // From the last row up: first the n % W rows that fill no block, by plain dot products.
    int k = n;
    for (; k % W != 0; k--) {
        const double *column = PP_AT(L, ld, 0, k - 1);
        double s = x[k - 1];
        for (int i = k; i < n; i++) {
            s -= column[i] * x[i];
        }
        x[k - 1] = s / column[k - 1];
    }
    // Then blocks of W rows: s_j = sum over the rows below of L_ij x_i, and the transposed
    // triangle.
    for (k -= W; k >= 0; k -= W) {
        double s[W];
        const double *c0 = PP_AT(L, ld, k, k), *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
        pp_v4 t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
        int i = 4, rest = n - k;
        for (; i + 4 <= rest; i += 4) {
            pp_v4 v = PP_LOAD(x + k + i);
            t0 += v * PP_LOAD(c0 + i);
            t1 += v * PP_LOAD(c1 + i);
            t2 += v * PP_LOAD(c2 + i);
            t3 += v * PP_LOAD(c3 + i);
        }
        s[0] = PP_SUM(t0);
        s[1] = PP_SUM(t1);
        s[2] = PP_SUM(t2);
        s[3] = PP_SUM(t3);
        for (; i < rest; i++) {
            s[0] += x[k + i] * c0[i];
            s[1] += x[k + i] * c1[i];
            s[2] += x[k + i] * c2[i];
            s[3] += x[k + i] * c3[i];
        }
        double x3 = (x[k + 3] - s[3]) / c3[3];
        double x2 = ((x[k + 2] - s[2]) - x3 * c2[3]) / c2[2];
        double x1 = (((x[k + 1] - s[1]) - x3 * c1[3]) - x2 * c1[2]) / c1[1];
        double x0 = ((((x[k] - s[0]) - x3 * c0[3]) - x2 * c0[2]) - x1 * c0[1]) / c0[0];
        x[k] = x0, x[k + 1] = x1, x[k + 2] = x2, x[k + 3] = x3;
    }
}

void pp_chol_solve(int n, const double *L, int ld, double *x)
{
    pp_chol_solve_forward(n, L, ld, x);
    pp_chol_solve_back(n, L, ld, x);
}
