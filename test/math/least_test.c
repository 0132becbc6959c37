// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The pseudo-inverse: residuals across the range, answers without a part in the null space, the rank.
#include "math/math.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

enum { MOST = 12 };

// A = U V^T of the rank asked for: the null space of A is that of V^T.
static void fill(rng *r, int n, int rank, bool symmetric, double *A, double *V)
{
    double U[MOST * MOST];
    for (int k = 0; k < n * rank; k++) {
        U[k] = rng_normal(r);
        V[k] = symmetric ? U[k] : rng_normal(r);
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            A[i + j * n] = 0.0;
            for (int k = 0; k < rank; k++) {
                A[i + j * n] += U[i + k * n] * V[j + k * n];
            }
        }
    }
}

// Takes off what of x is in the span of the columns of V (Gram and Schmidt, twice); returns what is left.
static double outside(int n, int rank, const double *V, const double *x)
{
    double Q[MOST * MOST], y[MOST];
    memcpy(Q, V, (size_t)(n * rank) * sizeof *Q);
    for (int k = 0; k < rank; k++) {
        for (int pass = 0; pass < 2; pass++) {
            for (int j = 0; j < k; j++) {
                pp_axpy(n, -pp_dot(n, Q + j * n, Q + k * n), Q + j * n, Q + k * n);
            }
        }
        double norm = pp_norm2(n, Q + k * n);
        for (int i = 0; i < n; i++) {
            Q[i + k * n] /= norm;
        }
    }
    memcpy(y, x, (size_t)n * sizeof *y);
    for (int k = 0; k < 2 * rank; k++) {
        const double *e = Q + (k % rank) * n;
        pp_axpy(n, -pp_dot(n, e, y), e, y);
    }
    return pp_norm2(n, y);
}

static void answers_are_moore_and_penroses(void **state)
{
    pp_arena *arena = *state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, MOST), rank = 1 + rng_below(&r, n);
        double A[MOST * MOST], work[MOST * MOST], V[MOST * MOST], b[MOST], rest[MOST], x[MOST];
        fill(&r, n, rank, seed % 2 == 0, A, V);
        for (int k = 0; k < n; k++) {
            b[k] = rest[k] = rng_normal(&r);
        }
        memcpy(work, A, sizeof work);
        CHECK(pp_least_solve(n, work, rest, x, NULL, 1e-10, arena) == rank, seed);
        double size = 1.0 + pp_norm2(n, x);
        // A^T (A x - b) = 0, and x has no part in the null space
        for (int i = 0; i < n; i++) {
            rest[i] = -b[i];
            for (int j = 0; j < n; j++) {
                rest[i] += A[i + j * n] * x[j];
            }
        }
        for (int j = 0; j < n; j++) {
            CHECK(fabs(pp_dot(n, A + j * n, rest)) < 1e-10 * size, seed);
        }
        CHECK(outside(n, rank, V, x) < 1e-9 * size, seed);
        pp_arena_reset(arena);
    }
}

// A N = 0 and N^T N = I, also for scaled rows and columns.
static void null_spaces_are_orthonormal(void **state)
{
    pp_arena *arena = *state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, MOST), rank = 1 + rng_below(&r, n), m = n - rank;
        double A[MOST * MOST], work[MOST * MOST], V[MOST * MOST], N[MOST * MOST], b[MOST], x[MOST],
            scale[MOST];
        pp_least factors;
        fill(&r, n, rank, seed % 2 == 0, A, V);
        for (int k = 0; k < n; k++) {
            b[k] = rng_normal(&r);
            scale[k] = rng_uniform(&r, 0.5, 2.0);
        }
        memcpy(work, A, sizeof work);
        CHECK(pp_least_factor(n, work, b, x, seed % 3 == 0 ? scale : NULL, 1e-10, &factors,
                              arena) == rank,
              seed);
        pp_least_null(&factors, N, b);
        for (int j = 0; j < m; j++) {
            for (int k = 0; k < m; k++) {
                double inner = pp_dot(n, N + j * n, N + k * n);
                CHECK(fabs(inner - (j == k ? 1.0 : 0.0)) < 1e-13, seed);
            }
            memset(x, 0, sizeof x);
            pp_gemv(n, n, 1.0, A, n, N + j * n, x);
            CHECK(pp_norm_inf(n, x) < 1e-10, seed);
        }
        pp_arena_reset(arena);
    }
}

static void nothing_is_solved_by_nothing(void **state)
{
    double A[4] = {0.0}, b[2] = {1.0, 2.0}, x[2] = {5.0, 5.0};
    assert_int_equal(pp_least_solve(2, A, b, x, NULL, 1e-10, *state), 0);
    assert_true(x[0] == 0.0 && x[1] == 0.0);
    assert_int_equal(pp_least_solve(0, A, b, x, NULL, 1e-10, *state), 0);
}

static int setup(void **state)
{
    *state = pp_arena_create(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    pp_arena_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_moore_and_penroses),
        cmocka_unit_test(null_spaces_are_orthonormal),
        cmocka_unit_test(nothing_is_solved_by_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
