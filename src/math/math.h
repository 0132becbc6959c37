// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of math/: dense and sparse linear algebra on plain arrays. Dense matrices are column-major with
// a leading dimension ld >= rows: A(i, j) = A[i + j * ld].
#pragma once

#include "base/base.h"

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// fmin and fmax would be calls, for the sake of NaN. Here NaN in x stays NaN.
static inline double pp_within(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

static inline double pp_larger(double a, double b)
{
    return a > b ? a : b;
}

// ── Vectors ──────────────────────────────────────────────────────────────────────────────────────

double pp_dot(int n, const double *x, const double *y);
void pp_axpy(int n, double a, const double *x, double *y);  // y += a x
double pp_norm_inf(int n, const double *x);                 // NaN in x gives NaN
double pp_norm2(int n, const double *x);
bool pp_all_finite(size_t n, const double *x);

// ── Dense ────────────────────────────────────────────────────────────────────────────────────────

void pp_gemv(int m, int n, double a, const double *A, int ld, const double *x,
             double *y);  // y += a A x
void pp_gemv_t(int m, int n, double a, const double *A, int ld, const double *x,
               double *y);  // y += a A'x
void pp_ger(int m, int n, double a, const double *x, const double *y, double *A,
            int ld);  // A += a x y'

// Of the n columns of x = T y, x_r and y_c change places. ld is a multiple of 4, the rows below those of
// T are padding (finite), u is scratch of ld numbers.
void pp_exchange(int n, double *T, int ld, int r, int c, double *u);

// y += sum_k A(:, column_k) x_k
void pp_gemv_columns(int m, int n, const int *column, const double *A, int ld, const double *x,
                     double *y);

// C -= A B, C -= A B', and the part of C -= A A' on and below the diagonal of C (m rows, n columns, the
// first n rows of A); k terms. No BLAS: the sums have the same order, hence the same bits, everywhere.
void pp_gemm_sub(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C,
                 int ldc);
void pp_gemm_sub_t(int m, int n, int k, const double *A, int lda, const double *B, int ldb,
                   double *C, int ldc);
void pp_syrk_sub(int m, int n, int k, const double *A, int lda, double *C, int ldc);

// P A = L U with partial pivoting, in place. Returns 0, or 1 + the column whose pivots are all <= tiny.
int pp_lu_factor(int n, double *A, int ld, int *pivot, double tiny);
void pp_lu_solve(int n, const double *LU, int ld, const int *pivot, double *x);    // x = A \ x
void pp_lu_solve_t(int n, const double *LU, int ld, const int *pivot, double *x);  // x = A'\ x
void pp_lu_invert(int n, const double *LU, int ld, const int *pivot, double *X, int ldx);

// A = L L' from the lower triangle, in place; the upper triangle is neither read nor written. Returns 0, or 1 + the column whose pivot is <= tiny.
int pp_chol_factor(int n, double *A, int ld, double tiny);
void pp_chol_solve(int n, const double *L, int ld, double *x);          // x = A \ x
void pp_chol_solve_forward(int n, const double *L, int ld, double *x);  // x = L \ x
void pp_chol_solve_back(int n, const double *L, int ld, double *x);     // x = L'\ x
// The same for m >= n rows: rows n..m-1 become X with X L' = A. A right-hand side kept as a row is thus
// forward-solved on the way, and pp_chol_solve_back finishes it.
int pp_chol_factor_rows(int m, int n, double *A, int ld, double tiny);
// The same for rows from..to-1 (from >= n) that came later, when the first n rows hold L.
void pp_chol_solve_rows(int from, int to, int n, double *L, int ld);

// ── Sparse (CSC) ─────────────────────────────────────────────────────────────────────────────────

// Sparse LU with KLU: analyse once, factor many times with the same pattern.
typedef struct pp_sparse_lu pp_sparse_lu;

// NULL: out of memory or structurally unusable. p, i must outlive the object.
pp_sparse_lu *pp_sparse_lu_create(int n, const int *p, const int *i);
void pp_sparse_lu_destroy(pp_sparse_lu *lu);
// PERP_OK, PERP_ERR_SINGULAR or PERP_ERR_MEMORY.
perp_status pp_sparse_lu_factor(pp_sparse_lu *lu, const double *x);
perp_status pp_sparse_lu_solve(const pp_sparse_lu *lu, double *b);    // b = A \ b
perp_status pp_sparse_lu_solve_t(const pp_sparse_lu *lu, double *b);  // b = A'\ b
