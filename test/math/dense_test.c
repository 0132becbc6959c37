// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Dense kernels against naive code at odd sizes and leading dimensions, singular matrices, and the
// same bits from every clone.
#include "math/math.h"
#include "support/cmocka.h"
#include "support/dense_plain.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 211 };

static const int sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15, 16, 17,  23,
                            31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 97, 130, LARGEST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static double *numbers(rng *r, size_t count)
{
    double *x = malloc(count * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < count; k++) {
        x[k] = rng_uniform(r, -1.0, 1.0);
    }
    return x;
}

static double *copy(const double *x, size_t count)
{
    double *y = malloc(count * sizeof *y);
    assert_non_null(y);
    memcpy(y, x, count * sizeof *y);
    return y;
}

// A = B B' + I n/10, only its lower triangle; NaN above the diagonal, which nobody may read.
static double *spd(rng *r, int n, int ld)
{
    double *B = numbers(r, (size_t)n * (size_t)n);
    double *A = numbers(r, (size_t)ld * (size_t)n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double s = i == j ? 0.1 * n : 0.0;
            for (int k = 0; k < n; k++) {
                s += B[i + k * n] * B[j + k * n];
            }
            A[i + j * ld] = i < j ? (double)NAN : s;
        }
    }
    free(B);
    return A;
}

// |A x - b| relative to n |A| |x|, A symmetric from its lower triangle or general
static double error_of(int n, const double *A, int ld, bool symmetric, const double *x,
                       const double *b)
{
    double worst = 0.0, scale = 1e-300;
    for (int i = 0; i < n; i++) {
        double s = -b[i];
        for (int j = 0; j < n; j++) {
            double a = symmetric && i < j ? A[j + i * ld] : A[i + j * ld];
            s += a * x[j];
            scale = fmax(scale, fabs(a * x[j]));
        }
        worst = fmax(worst, fabs(s));
    }
    return worst / (scale * n);
}

static void products_match_naive_code(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int m = 1 + rng_below(&r, 70), n = 1 + rng_below(&r, 70), ld = m + rng_below(&r, 3);
        double *A = numbers(&r, (size_t)ld * (size_t)n), *G = copy(A, (size_t)ld * (size_t)n);
        double *x = numbers(&r, 80), *y = numbers(&r, 80), *u = copy(y, 80), *v = copy(y, 80);
        x[rng_below(&r, n)] = 0.0;
        pp_gemv(m, n, 0.5, A, ld, x, u);
        pp_gemv_t(m, n, -2.0, A, ld, x, v);
        pp_ger(m, n, 3.0, x, y, G, ld);
        double dot = 0.0;
        for (int i = 0; i < m; i++) {
            double s = y[i];
            for (int j = 0; j < n; j++) {
                s += 0.5 * A[i + j * ld] * x[j];
                CHECK(fabs(G[i + j * ld] - (A[i + j * ld] + 3.0 * x[i] * y[j])) < 1e-14, seed);
            }
            CHECK(fabs(s - u[i]) < 1e-13, seed);
            dot += x[i] * y[i];
        }
        CHECK(fabs(dot - pp_dot(m, x, y)) < 1e-13, seed);
        for (int j = 0; j < n; j++) {
            double s = y[j];
            for (int i = 0; i < m; i++) {
                s -= 2.0 * A[i + j * ld] * x[i];
            }
            CHECK(fabs(s - v[j]) < 1e-13, seed);
        }
        free(A), free(G), free(x), free(y), free(u), free(v);
    }
}

static void columns_may_be_chosen(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        int m = 1 + rng_below(&r, 40), n = rng_below(&r, 20), column[20];
        double *A = numbers(&r, (size_t)m * 50), *x = numbers(&r, 20), *y = numbers(&r, 40);
        double *u = copy(y, 40);
        for (int k = 0; k < n; k++) {
            column[k] = rng_below(&r, 50);
        }
        pp_gemv_columns(m, n, column, A, m, x, u);
        for (int i = 0; i < m; i++) {
            double s = y[i];
            for (int k = 0; k < n; k++) {
                s += A[i + column[k] * m] * x[k];
            }
            CHECK(fabs(s - u[i]) < 1e-13, seed);
        }
        free(A), free(x), free(y), free(u);
    }
}

static void matrix_products_match_naive_code(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int m = 1 + rng_below(&r, 90), n = 1 + rng_below(&r, 90), k = 1 + rng_below(&r, 140);
        int low = m < n ? m : n;
        double *A = numbers(&r, (size_t)m * (size_t)k), *B = numbers(&r, (size_t)k * (size_t)n);
        double *C = numbers(&r, (size_t)m * (size_t)n), *D = copy(C, (size_t)m * (size_t)n);
        double *E = copy(C, (size_t)m * (size_t)n), *F = copy(C, (size_t)m * (size_t)n);
        pp_gemm_sub(m, n, k, A, m, B, k, D, m);
        pp_gemm_sub_t(m, n, k, A, m, B, n, E, m);
        pp_syrk_sub(m, low, k, A, m, F, m);
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < m; i++) {
                double d = C[i + j * m], e = d, f = d;
                for (int p = 0; p < k; p++) {
                    d -= A[i + p * m] * B[p + j * k];
                    e -= A[i + p * m] * B[j + p * n];
                    f -= j < low && i >= j ? A[i + p * m] * A[j + p * m] : 0.0;
                }
                CHECK(fabs(d - D[i + j * m]) < 1e-12, seed);
                CHECK(fabs(e - E[i + j * m]) < 1e-12, seed);
                CHECK(fabs(f - F[i + j * m]) < 1e-12, seed);
            }
        }
        free(A), free(B), free(C), free(D), free(E), free(F);
    }
}

static void inverse_times_matrix_is_identity(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(14));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], ld = n + 2, pivot[LARGEST];
        double *A = numbers(&r, (size_t)n * (size_t)n), *LU = copy(A, (size_t)n * (size_t)n);
        double *X = numbers(&r, (size_t)ld * (size_t)n), *b = numbers(&r, (size_t)n);
        double *x = calloc((size_t)n, sizeof *x);
        assert_int_equal(pp_lu_factor(n, LU, n, pivot, 0.0), 0);
        pp_lu_invert(n, LU, n, pivot, X, ld);
        pp_gemv(n, n, 1.0, X, ld, b, x);
        pp_lu_solve(n, LU, n, pivot, b);
        for (int i = 0; i < n; i++) {
            assert_true(fabs(x[i] - b[i]) <= 1e-9 * (1.0 + pp_norm_inf(n, b)));
        }
        free(A), free(LU), free(X), free(b), free(x);
    }
}

// x = T y, then with x_r and y_c exchanged: the same pairs satisfy both.
static void exchange_swaps_variables(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(13));
    for (int m = 1; m <= 13; m++) {
        int n = m + 1, ld = (m + 3) & ~3, row = rng_below(&r, m), column = rng_below(&r, n);
        double *T = numbers(&r, (size_t)ld * (size_t)n), *y = numbers(&r, (size_t)n);
        double x[16] = {0}, again[16] = {0}, u[16];
        pp_gemv(m, n, 1.0, T, ld, y, x);
        pp_exchange(n, T, ld, row, column, u);
        double kept = x[row];
        x[row] = y[column];
        y[column] = kept;
        pp_gemv(m, n, 1.0, T, ld, y, again);
        for (int i = 0; i < m; i++) {
            assert_true(fabs(x[i] - again[i]) <= 1e-10 * (1.0 + fabs(x[i])));
        }
        free(T), free(y);
    }
}

static void cholesky_solves(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(7));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], ld = n + k % 3;
        double *A = spd(&r, n, ld), *L = copy(A, (size_t)ld * (size_t)n);
        double *b = numbers(&r, (size_t)n), *x = copy(b, (size_t)n);
        assert_int_equal(pp_chol_factor(n, L, ld, 0.0), 0);
        pp_chol_solve(n, L, ld, x);
        assert_true(error_of(n, A, ld, true, x, b) < 1e-14);
        for (int j = 1; j < n; j++) {
            assert_true(isnan(L[(size_t)j * (size_t)ld]));  // the upper triangle is untouched
        }
        free(A), free(L), free(b), free(x);
    }
}

static void cholesky_carries_right_hand_sides(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(8));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], ld = n + 1;
        double *A = spd(&r, n, ld), *L = copy(A, (size_t)ld * (size_t)n);
        double *b = numbers(&r, (size_t)n), *x = copy(b, (size_t)n);
        for (int j = 0; j < n; j++) {
            L[n + j * ld] = b[j];
        }
        assert_int_equal(pp_chol_factor_rows(n + 1, n, L, ld, 0.0), 0);
        for (int j = 0; j < n; j++) {
            x[j] = L[n + j * ld];
        }
        pp_chol_solve_back(n, L, ld, x);
        assert_true(error_of(n, A, ld, true, x, b) < 1e-14);
        free(A), free(L), free(b), free(x);
    }
}

static void cholesky_takes_rows_later(void **state)
{
    enum { ROWS = 11 };
    (void)state;
    rng r = rng_seed(rng_test_seed(11));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], ld = n + ROWS;
        double *A = spd(&r, n, ld), *L = copy(A, (size_t)ld * (size_t)n);
        double *b = numbers(&r, (size_t)n), *x = copy(b, (size_t)n);
        assert_int_equal(pp_chol_factor(n, L, ld, 0.0), 0);
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < ROWS; i++) {
                L[n + i + j * ld] = i == ROWS - 2 ? b[j] : 1.0 / (1 + i + j);
            }
        }
        pp_chol_solve_rows(n, n + 3, n, L, ld);
        pp_chol_solve_rows(n + 3, n + ROWS, n, L, ld);
        pp_chol_solve_forward(n, L, ld, x);
        for (int j = 0; j < n; j++) {
            double row = L[n + ROWS - 2 + j * ld];
            assert_true(fabs(row - x[j]) <= 1e-12 * (1.0 + fabs(x[j])));
            x[j] = row;
        }
        pp_chol_solve_back(n, L, ld, x);
        assert_true(error_of(n, A, ld, true, x, b) < 1e-14);
        free(A), free(L), free(b), free(x);
    }
}

static void cholesky_finds_the_bad_column(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(9));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], bad = rng_below(&r, n);
        double *A = spd(&r, n, n);
        A[bad + bad * n] = -1.0;
        assert_int_equal(pp_chol_factor(n, A, n, 0.0), bad + 1);
        free(A);
        A = spd(&r, n, n);
        A[bad + bad * n] = (double)NAN;
        assert_int_equal(pp_chol_factor(n, A, n, 0.0), bad + 1);
        free(A);
    }
}

static void lu_solves(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(10));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], ld = n + k % 3, pivot[LARGEST];
        double *A = numbers(&r, (size_t)ld * (size_t)n), *LU = copy(A, (size_t)ld * (size_t)n);
        double *T = copy(A, (size_t)ld * (size_t)n), *b = numbers(&r, (size_t)n);
        double *x = copy(b, (size_t)n), *y = copy(b, (size_t)n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                T[i + j * ld] = A[j + i * ld];
            }
        }
        assert_int_equal(pp_lu_factor(n, LU, ld, pivot, 0.0), 0);
        pp_lu_solve(n, LU, ld, pivot, x);
        pp_lu_solve_t(n, LU, ld, pivot, y);
        assert_true(error_of(n, A, ld, false, x, b) < 1e-13);
        assert_true(error_of(n, T, ld, false, y, b) < 1e-13);
        for (int j = 0; j < n; j++) {
            for (int i = j + 1; i < n; i++) {
                assert_true(fabs(LU[i + j * ld]) <= 1.0 + 1e-15);  // pivots were the largest
            }
        }
        free(A), free(LU), free(T), free(b), free(x), free(y);
    }
}

static void lu_finds_the_bad_column(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(11));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], bad = rng_below(&r, n), pivot[LARGEST];
        double *A = numbers(&r, (size_t)n * (size_t)n);
        memset(A + (size_t)bad * (size_t)n, 0, (size_t)n * sizeof *A);
        assert_int_equal(pp_lu_factor(n, A, n, pivot, 1e-9), bad + 1);
        free(A);
    }
}

static bool same(const double *x, const double *y, size_t count)
{
    return memcmp(x, y, count * sizeof *x) == 0;
}

static void every_clone_gives_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(12));
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], p[LARGEST], q[LARGEST];
        size_t N = (size_t)n * (size_t)n, m = (size_t)n;
        double *A = numbers(&r, N), *S = spd(&r, n, n), *B = copy(A, N), *C = copy(A, N);
        double *T = copy(S, N), *x = numbers(&r, m), *u = copy(x, m), *v = copy(x, m);
        double dot = pp_dot(n, A, x), plain = plain_dot(n, A, x);
        assert_true(same(&dot, &plain, 1));
        pp_axpy(n, 0.3, A, u), plain_axpy(n, 0.3, A, v);
        assert_true(same(u, v, m));
        pp_gemv(n, n, 0.7, A, n, x, u), plain_gemv(n, n, 0.7, A, n, x, v);
        assert_true(same(u, v, m));
        pp_gemv_t(n, n, 0.7, A, n, x, u), plain_gemv_t(n, n, 0.7, A, n, x, v);
        assert_true(same(u, v, m));
        pp_ger(n, n, 0.7, x, u, B, n), plain_ger(n, n, 0.7, x, u, C, n);
        assert_true(same(B, C, N));
        int ld = n & ~3;  // as many whole vectors as there is room for
        if (ld > 0) {
            pp_exchange(n, B, ld, ld - 1, n / 2, u), plain_exchange(n, C, ld, ld - 1, n / 2, v);
            assert_true(same(B, C, N));
        }
        assert_int_equal(pp_lu_factor(n, B, n, p, 0.0), plain_lu_factor(n, C, n, q, 0.0));
        assert_true(same(B, C, N));
        pp_lu_solve(n, B, n, p, u), plain_lu_solve(n, C, n, q, v);
        assert_true(same(u, v, m));
        assert_int_equal(pp_chol_factor(n, S, n, 0.0), plain_chol_factor(n, T, n, 0.0));
        assert_true(same(S, T, N));
        pp_chol_solve(n, S, n, u), plain_chol_solve(n, T, n, v);
        assert_true(same(u, v, m));
        free(A), free(S), free(B), free(C), free(T), free(x), free(u), free(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_naive_code),
        cmocka_unit_test(columns_may_be_chosen),
        cmocka_unit_test(matrix_products_match_naive_code),
        cmocka_unit_test(inverse_times_matrix_is_identity),
        cmocka_unit_test(exchange_swaps_variables),
        cmocka_unit_test(cholesky_solves),
        cmocka_unit_test(cholesky_carries_right_hand_sides),
        cmocka_unit_test(cholesky_takes_rows_later),
        cmocka_unit_test(cholesky_finds_the_bad_column),
        cmocka_unit_test(lu_solves),
        cmocka_unit_test(lu_finds_the_bad_column),
        cmocka_unit_test(every_clone_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
