// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Dense products of the second level: matrix times vector, and rank-one updates. Four columns are
// read at once, so that y (or x) is loaded a quarter as often. Sums keep the order of the columns.
#include "math/math.h"
#include "math/simd.h"

// The next columns from *j on, at most four, whose factor is not zero.
PP_INLINE int take_columns(int n, int *j, double a, const double *x, int column[4], double s[4])
{
    int found = 0;
    for (; *j < n && found < 4; (*j)++) {
        double factor = a * x[*j];
        if (factor != 0.0) {
            column[found] = *j;
            s[found++] = factor;
        }
    }
    return found;
}

// y += sum of four columns, one after the other: the bits of four passes with the memory traffic of
// one.
PP_INLINE void add_four(int m, const double s[4], const double *const c[4], double *restrict y)
{
    const double *c0 = c[0], *c1 = c[1], *c2 = c[2], *c3 = c[3];
    double s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        PP_STORE(y + i) = (((PP_LOAD(y + i) + s0 * PP_LOAD(c0 + i)) + s1 * PP_LOAD(c1 + i)) +
                           s2 * PP_LOAD(c2 + i)) +
                          s3 * PP_LOAD(c3 + i);
    }
    for (; i < m; i++) {
        y[i] = (((y[i] + s0 * c0[i]) + s1 * c1[i]) + s2 * c2[i]) + s3 * c3[i];
    }
}

// y += s c.
PP_INLINE void add_one(int m, double s, const double *c, double *restrict y)
{
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        PP_STORE(y + i) = PP_LOAD(y + i) + s * PP_LOAD(c + i);
    }
    for (; i < m; i++) {
        y[i] += s * c[i];
    }
}

// y += a A x by columns, four at a time. Columns with factor 0 are skipped, which pays for sparse
// x.
PP_CLONES
void pp_gemv(int m, int n, double a, const double *A, int ld, const double *x, double *y)
{
    for (int j = 0; j < n;) {
        int column[4];
        double s[4];
        int found = take_columns(n, &j, a, x, column, s);
        if (found == 4) {
            const double *c[4] = {PP_AT(A, ld, 0, column[0]), PP_AT(A, ld, 0, column[1]),
                                  PP_AT(A, ld, 0, column[2]), PP_AT(A, ld, 0, column[3])};
            add_four(m, s, c, y);
            continue;
        }
        for (int k = 0; k < found; k++) {
            add_one(m, s[k], PP_AT(A, ld, 0, column[k]), y);
        }
    }
}

// The columns are given by number; none is skipped.
PP_CLONES
void pp_gemv_columns(int m, int n, const int *column, const double *A, int ld, const double *x,
                     double *y)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        const double *c[4] = {PP_AT(A, ld, 0, column[k]), PP_AT(A, ld, 0, column[k + 1]),
                              PP_AT(A, ld, 0, column[k + 2]), PP_AT(A, ld, 0, column[k + 3])};
        add_four(m, x + k, c, y);
    }
    for (; k < n; k++) {
        add_one(m, x[k], PP_AT(A, ld, 0, column[k]), y);
    }
}

// y += a A^T x.
PP_CLONES
void pp_gemv_t(int m, int n, double a, const double *A, int ld, const double *x, double *y)
{
    // Four dot products at a time, so that x is loaded once for four columns. Each has four partial
    // sums, by i mod 4, added in the order of PP_SUM: the same bits for any width of the registers.
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        const double *c0 = PP_AT(A, ld, 0, j), *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
        pp_v4 t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
        int i = 0;
        for (; i + 4 <= m; i += 4) {
            pp_v4 v = PP_LOAD(x + i);
            t0 += v * PP_LOAD(c0 + i);
            t1 += v * PP_LOAD(c1 + i);
            t2 += v * PP_LOAD(c2 + i);
            t3 += v * PP_LOAD(c3 + i);
        }
        for (; i < m; i++) {
            t0[0] += x[i] * c0[i];
            t1[0] += x[i] * c1[i];
            t2[0] += x[i] * c2[i];
            t3[0] += x[i] * c3[i];
        }
        y[j] += a * PP_SUM(t0);
        y[j + 1] += a * PP_SUM(t1);
        y[j + 2] += a * PP_SUM(t2);
        y[j + 3] += a * PP_SUM(t3);
    }
    for (; j < n; j++) {
        const double *c = PP_AT(A, ld, 0, j);
        pp_v4 t = {0};
        int i = 0;
        for (; i + 4 <= m; i += 4) {
            t += PP_LOAD(x + i) * PP_LOAD(c + i);
        }
        for (; i < m; i++) {
            t[0] += x[i] * c[i];
        }
        y[j] += a * PP_SUM(t);
    }
}

// A += a x y^T, two columns at a time.
PP_CLONES
void pp_ger(int m, int n, double a, const double *x, const double *y, double *A, int ld)
{
    int j = 0;
    for (; j + 2 <= n; j += 2) {
        double s0 = a * y[j], s1 = a * y[j + 1];
        if (s0 == 0.0 && s1 == 0.0) {  // tableaux have many zeros
            continue;
        }
        double *restrict c0 = PP_AT(A, ld, 0, j), *restrict c1 = PP_AT(A, ld, 0, j + 1);
        int i = 0;
        for (; i + 4 <= m; i += 4) {
            pp_v4 v = PP_LOAD(x + i);
            PP_STORE(c0 + i) = PP_LOAD(c0 + i) + s0 * v;
            PP_STORE(c1 + i) = PP_LOAD(c1 + i) + s1 * v;
        }
        for (; i < m; i++) {
            c0[i] += s0 * x[i];
            c1[i] += s1 * x[i];
        }
    }
    if (j < n && a * y[j] != 0.0) {
        add_one(m, a * y[j], x, PP_AT(A, ld, 0, j));
    }
}

// Pivot on entry (r, c) of the tableau T: row r and column c change sides. Columns are padded to
// ld, a multiple of four, so that no remainder is left.
PP_CLONES
void pp_exchange(int n, double *T, int ld, int r, int c, double *u)
{
    double *own = PP_AT(T, ld, 0, c), inverse = 1.0 / own[r];
    for (int i = 0; i < ld; i += 4) {
        PP_STORE(u + i) = PP_LOAD(own + i);
    }
    for (int j = 0; j < n; j++) {
        double *column = PP_AT(T, ld, 0, j), f = -column[r] * inverse;
        if (f == 0.0 || j == c) {
            continue;
        }
        for (int i = 0; i < ld; i += 4) {
            PP_STORE(column + i) = PP_LOAD(column + i) + f * PP_LOAD(u + i);
        }
        column[r] = f;
    }
    for (int i = 0; i < ld; i += 4) {
        PP_STORE(own + i) = PP_LOAD(u + i) * inverse;
    }
    own[r] = inverse;
}
