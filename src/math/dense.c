// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Dense factorisations, column-major.
#include "math/math.h"

#include <math.h>

void pp_gemv(int m, int n, double a, const double *A, int ld, const double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double s = a * x[j];
        if (s != 0.0) {
            pp_axpy(m, s, A + (size_t)j * (size_t)ld, y);
        }
    }
}

void pp_gemv_t(int m, int n, double a, const double *A, int ld, const double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        y[j] += a * pp_dot(m, A + (size_t)j * (size_t)ld, x);
    }
}

void pp_ger(int m, int n, double a, const double *x, const double *y, double *A, int ld)
{
    for (int j = 0; j < n; j++) {
        double s = a * y[j];
        if (s != 0.0) {
            pp_axpy(m, s, x, A + (size_t)j * (size_t)ld);
        }
    }
}

static void swap_rows(int n, double *A, int ld, int i, int k)
{
    for (int j = 0; j < n && i != k; j++) {
        double *a = A + (size_t)j * (size_t)ld;
        double t = a[i];
        a[i] = a[k];
        a[k] = t;
    }
}

int pp_lu_factor(int n, double *A, int ld, int *pivot, double tiny)
{
    for (int k = 0; k < n; k++) {
        double *column = A + (size_t)k * (size_t)ld;
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(column[i]) > fabs(column[best])) {
                best = i;
            }
        }
        pivot[k] = best;
        if (!(fabs(column[best]) > tiny)) {
            return k + 1;
        }
        swap_rows(n, A, ld, k, best);
        double inverse = 1.0 / column[k];
        for (int i = k + 1; i < n; i++) {
            column[i] *= inverse;
        }
        for (int j = k + 1; j < n; j++) {
            double *right = A + (size_t)j * (size_t)ld;
            if (right[k] != 0.0) {
                pp_axpy(n - k - 1, -right[k], column + k + 1, right + k + 1);
            }
        }
    }
    return 0;
}

void pp_lu_solve(int n, const double *LU, int ld, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {  // x = P x
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int k = 0; k < n; k++) {  // x = L \ x
        pp_axpy(n - k - 1, -x[k], LU + (size_t)k * (size_t)ld + k + 1, x + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {  // x = U \ x
        const double *column = LU + (size_t)k * (size_t)ld;
        x[k] /= column[k];
        pp_axpy(k, -x[k], column, x);
    }
}

void pp_lu_solve_t(int n, const double *LU, int ld, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {  // x = U' \ x
        const double *column = LU + (size_t)k * (size_t)ld;
        x[k] = (x[k] - pp_dot(k, column, x)) / column[k];
    }
    for (int k = n - 1; k >= 0; k--) {  // x = L' \ x
        const double *column = LU + (size_t)k * (size_t)ld;
        x[k] -= pp_dot(n - k - 1, column + k + 1, x + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {  // x = P' x
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
}

int pp_chol_factor(int n, double *A, int ld, double tiny)
{
    for (int k = 0; k < n; k++) {
        double *column = A + (size_t)k * (size_t)ld;
        if (!(column[k] > tiny)) {
            return k + 1;
        }
        double root = sqrt(column[k]);
        column[k] = root;
        for (int i = k + 1; i < n; i++) {
            column[i] /= root;
        }
        for (int j = k + 1; j < n; j++) {
            double *right = A + (size_t)j * (size_t)ld;
            pp_axpy(n - j, -column[j], column + j, right + j);
        }
    }
    return 0;
}

void pp_chol_solve(int n, const double *L, int ld, double *x)
{
    for (int k = 0; k < n; k++) {  // x = L \ x
        const double *column = L + (size_t)k * (size_t)ld;
        x[k] /= column[k];
        pp_axpy(n - k - 1, -x[k], column + k + 1, x + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {  // x = L' \ x
        const double *column = L + (size_t)k * (size_t)ld;
        x[k] = (x[k] - pp_dot(n - k - 1, column + k + 1, x + k + 1)) / column[k];
    }
}
