// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// "pivot" on the classes it is proven for, on its limits, and on what it must refuse.
#include "comp/comp.h"
#include "support/cmocka.h"
#include "support/families.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
    perp_status status;
    perp_comp_info info;
    perp_mcp_residuals judged;
} answer;

static answer solve_with(const perp_mcp *mcp, const perp_comp_options *options, double *z)
{
    answer a;
    a.status = perp_mcp_solve("pivot", mcp, options, NULL, z, &a.info);
    assert_int_equal(perp_mcp_judge(mcp, z, NULL, &a.judged), PERP_OK);
    return a;
}

static answer solve(const perp_mcp *mcp, double *z)
{
    perp_comp_options options = perp_comp_options_default();
    return solve_with(mcp, &options, z);
}

static bool solved(const answer *a, double tolerance)
{
    return a->status == PERP_OK && a->judged.plain <= tolerance && a->judged.scaled <= tolerance &&
           a->judged.bound == 0.0;
}

// A = B B' / rank + ridge I; b normal
static problem *gram(int n, int rank, double ridge, rng *r)
{
    problem *p = problem_create(n);
    double *B = malloc((size_t)n * (size_t)rank * sizeof *B);
    assert_non_null(p);
    assert_non_null(B);
    for (int k = 0; k < n * rank; k++) {
        B[k] = rng_normal(r);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double s = i == j ? ridge : 0.0;
            for (int k = 0; k < rank; k++) {
                s += B[i + k * n] * B[j + k * n] / rank;
            }
            ENTRY(p, i, j) = ENTRY(p, j, i) = s;
        }
        p->b[i] = rng_normal(r);
    }
    free(B);
    return p;
}

static void random_bounds(problem *p, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        int kind = rng_below(r, 5);
        double low = rng_uniform(r, -1.0, 1.0), high = low + rng_uniform(r, 0.0, 1.0);
        p->lower[i] = kind == 0 || kind == 2 ? -PP_INF : low;
        p->upper[i] = kind == 0 || kind == 1 ? PP_INF : high;
        if (kind == 4 && rng_below(r, 4) == 0) {
            p->upper[i] = low;  // a variable without freedom
        }
    }
}

static void spd_lcps_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, 80);
        problem *p = gram(n, n, rng_below(&r, 2) ? 0.1 : 1e-6, &r);
        double *z = calloc((size_t)n, sizeof *z);
        answer a = solve(&p->mcp, z);
        CHECK(solved(&a, 1e-11), seed);
        free(z), problem_destroy(p);
    }
}

static void mixed_bounds_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 100)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, 60);
        problem *p = gram(n, n, 0.01, &r);
        random_bounds(p, &r);
        if (rng_below(&r, 2)) {  // not symmetric, still positive definite
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < i; j++) {
                    double skew = rng_uniform(&r, -2.0, 2.0);
                    ENTRY(p, i, j) += skew;
                    ENTRY(p, j, i) -= skew;
                }
            }
        }
        double *z = calloc((size_t)n, sizeof *z);
        answer a = solve(&p->mcp, z);
        CHECK(solved(&a, 1e-11), seed);
        free(z), problem_destroy(p);
    }
}

static void badly_scaled_problems_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        int n = 2 + rng_below(&r, 30);
        problem *p = gram(n, n, 0.1, &r);
        double *s = calloc((size_t)n, sizeof *s), *z = calloc((size_t)n, sizeof *z);
        for (int i = 0; i < n; i++) {
            s[i] = pow(10.0, rng_uniform(&r, -3.0, 3.0));
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                ENTRY(p, i, j) *= s[i] * s[j];
            }
            p->b[i] *= s[i];
        }
        answer a = solve(&p->mcp, z);
        CHECK(solved(&a, 1e-9), seed);
        free(s), free(z), problem_destroy(p);
    }
}

static void degenerate_psd_is_solved(void **state)
{
    (void)state;
    static const int sizes[] = {2, 4, 10, 20, 51, 100, 200, 300};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        FOR_SEEDS(seed, sizes[k] < 60 ? 20 : 3)
        {
            rng r = rng_seed(seed);
            problem *p = family_psd_degenerate(sizes[k], &r);
            double *z = calloc((size_t)p->n, sizeof *z);
            answer a = solve(&p->mcp, z);
            CHECK(solved(&a, 1e-9), seed);
            free(z), problem_destroy(p);
        }
    }
}

static void skew_parts_of_psd_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)  // a saddle point: [G -C'; C 0], G singular, feasible by construction
    {
        rng r = rng_seed(seed);
        int m = 2 + rng_below(&r, 10), k = 1 + rng_below(&r, m), n = m + k;
        problem *g = gram(m, (m + 1) / 2, 0.0, &r), *p = problem_create(n);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) {
                ENTRY(p, i, j) = ENTRY(g, i, j);
            }
            for (int j = m; j < n; j++) {
                ENTRY(p, j, i) = rng_normal(&r);
                ENTRY(p, i, j) = -ENTRY(p, j, i);
            }
        }
        double *z = calloc((size_t)n, sizeof *z);
        for (int i = 0; i < n; i++) {
            z[i] = rng_below(&r, 2) ? rng_uniform(&r, 0.0, 1.0) : 0.0;
        }
        for (int i = 0; i < n; i++) {
            p->b[i] = z[i] > 0.0 ? 0.0 : rng_uniform(&r, 0.0, 1.0);
            for (int j = 0; j < n; j++) {
                p->b[i] -= ENTRY(p, i, j) * z[j];
            }
        }
        answer a = solve(&p->mcp, z);
        CHECK(solved(&a, 1e-8), seed);
        free(z), problem_destroy(p), problem_destroy(g);
    }
}

static void take(problem *p, int most_steps)
{
    assert_non_null(p);
    double *z = calloc((size_t)p->n, sizeof *z);
    answer a = solve(&p->mcp, z);
    assert_true(solved(&a, 1e-9));
    assert_true(a.info.iterations <= most_steps);
    free(z), problem_destroy(p);
}

static void exponential_families_take_few_steps(void **state)
{
    (void)state;
    static const int sizes[] = {2, 6, 18, 50, 100, 200};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        take(family_murty(sizes[k]), 20);
        take(family_murty_transposed(sizes[k]), 20);
        take(family_fathi(sizes[k]), 20);
        take(family_ahn(sizes[k]), 20);
    }
    for (int n = 2; n <= 40; n += 6) {
        take(family_murty_lemke(n), 20 + n);
    }
    take(family_fathi_murty(16), 60);
    take(family_kostreva(), 20);
    take(family_tie(), 20);
    take(family_ones(5), 20);
    take(family_obstacle(30), 30);
}

static void sparse_and_dense_agree(void **state)
{
    (void)state;
    problem *sparse = family_obstacle(14);  // 196 variables: few enough for a dense factor
    assert_non_null(sparse);
    size_t n = (size_t)sparse->n;
    double *A = malloc(n * n * sizeof *A), *z = calloc(n, sizeof *z), *y = calloc(n, sizeof *y);
    assert_non_null(A);
    pp_matrix_to_dense(&sparse->mcp.A, A, sparse->n);
    perp_mcp dense = sparse->mcp;
    dense.A = perp_matrix_dense(sparse->n, sparse->n, A);
    answer a = solve(&dense, z), b = solve(&sparse->mcp, y);
    assert_true(solved(&a, 1e-11) && solved(&b, 1e-11));
    for (int i = 0; i < sparse->n; i++) {
        assert_true(fabs(z[i] - y[i]) < 1e-9);
    }
    free(A), free(z), free(y), problem_destroy(sparse);
}

static void sparse_singular_blocks_are_solved(void **state)
{
    (void)state;
    enum { N = 240 };  // a closed chain: A = tridiagonal (-1, 2, -1) with corners, null space e
    problem *dense = problem_create(N);
    assert_non_null(dense);
    for (int i = 0; i < N; i++) {
        ENTRY(dense, i, i) = 2.0;
        ENTRY(dense, i, (i + 1) % N) = ENTRY(dense, (i + 1) % N, i) = -1.0;
        dense->b[i] = i % 2 ? 1.0 : -1.0;
    }
    problem *sparse = problem_sparse(dense);
    double *z = calloc(N, sizeof *z);
    answer a = solve(&sparse->mcp, z);
    assert_true(solved(&a, 1e-9));
    free(z), problem_destroy(dense), problem_destroy(sparse);
}

static void warm_start_takes_fewer_steps(void **state)
{
    (void)state;
    int cold_steps = 0, warm_steps = 0;
    FOR_SEEDS(seed, 10)
    {
        rng r = rng_seed(seed);
        problem *p = family_boxed_spd(120, &r);
        int8_t basis[120] = {0};
        double *z = calloc((size_t)p->n, sizeof *z);
        perp_comp_options options = perp_comp_options_default();
        options.basis = basis;
        answer cold = solve_with(&p->mcp, &options, z);
        CHECK(solved(&cold, 1e-11), seed);
        options.warm_start = true;
        answer again = solve_with(&p->mcp, &options, z);
        CHECK(solved(&again, 1e-11) && again.info.iterations == 1, seed);
        options.basis = NULL;
        again = solve_with(&p->mcp, &options, z);
        CHECK(solved(&again, 1e-11) && again.info.iterations == 1, seed);
        for (int i = 0; i < p->n; i++) {
            p->b[i] *= 1.0 + 0.01 * rng_uniform(&r, -1.0, 1.0);
        }
        options.basis = basis;
        answer warm = solve_with(&p->mcp, &options, z);
        CHECK(solved(&warm, 1e-11), seed);
        cold_steps += cold.info.iterations;
        warm_steps += warm.info.iterations;
        free(z), problem_destroy(p);
    }
    assert_true(warm_steps < cold_steps);
}

// Large enough for conjugate gradients before, and for borders of an older factor within: from a basis
// with a few wrong places the same answer comes back.
static void large_boxes_are_solved_from_bases_nearby(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        int n = 120 + rng_below(&r, 200);
        double ridge = pow(10.0, rng_uniform(&r, -8.0, 0.0));
        problem *p = gram(n, n, ridge, &r);
        random_bounds(p, &r);
        double *z = calloc((size_t)n, sizeof *z), *again = calloc((size_t)n, sizeof *again);
        int8_t *basis = calloc((size_t)n, sizeof *basis);
        assert_true(z && again && basis);
        perp_comp_options options = perp_comp_options_default();
        options.basis = basis;
        answer a = solve_with(&p->mcp, &options, z);
        CHECK(solved(&a, 1e-9), seed);
        for (int k = 0; k < 12; k++) {
            int i = rng_below(&r, n);
            basis[i] = basis[i] != 0 ? 0 : isfinite(p->lower[i]) ? -1 : 1;
        }
        options.warm_start = true;
        answer b = solve_with(&p->mcp, &options, again);
        CHECK(solved(&b, 1e-9), seed);
        for (int i = 0; i < n; i++) {
            CHECK(fabs(z[i] - again[i]) <= 1e-6 * (1.0 + fabs(z[i])) / fmin(1.0, 1e3 * ridge),
                  seed);
        }
        free(z), free(again), free(basis);
        problem_destroy(p);
    }
}

static void infeasible_is_proved(problem *p)
{
    assert_non_null(p);
    double *z = calloc((size_t)p->n, sizeof *z), *ray = calloc((size_t)p->n, sizeof *ray);
    perp_comp_options options = perp_comp_options_default();
    options.ray = ray;
    answer a = solve_with(&p->mcp, &options, z);
    assert_int_equal(a.status, PERP_ERR_INFEASIBLE);
    assert_true(perp_mcp_farkas(&p->mcp, ray) < 0.0);
    for (int i = 0; i < p->n; i++) {
        assert_true(isfinite(z[i]));
    }
    free(z), free(ray), problem_destroy(p);
}

static void infeasible_problems_are_proved_so(void **state)
{
    (void)state;
    problem *p = problem_create(2);
    ENTRY(p, 0, 0) = ENTRY(p, 1, 1) = 1.0;
    ENTRY(p, 0, 1) = ENTRY(p, 1, 0) = -1.0;
    p->b[0] = p->b[1] = -1.0;
    infeasible_is_proved(p);
    infeasible_is_proved(family_infeasible_psd(4));
    infeasible_is_proved(family_infeasible_psd(20));
    infeasible_is_proved(family_infeasible_skew(2));
    infeasible_is_proved(family_infeasible_skew(10));
}

static void other_classes_are_refused_or_not_solved(void **state)
{
    (void)state;
    problem *p = problem_create(3);
    double z[3] = {0};
    ENTRY(p, 0, 0) = ENTRY(p, 1, 1) = 1.0;
    ENTRY(p, 2, 2) = -1.0;
    p->b[2] = -1.0;
    answer a = solve(&p->mcp, z);
    assert_int_equal(a.status, PERP_ERR_REFUSED);
    assert_non_null(strstr(a.info.error.text, "row 2"));
    ENTRY(p, 2, 2) = 1.0;  // indefinite: w_0 = -5 z_1 - 1, w_1 = -5 z_0 - 1 cannot both be >= 0
    ENTRY(p, 0, 1) = ENTRY(p, 1, 0) = -5.0;
    p->b[0] = p->b[1] = -1.0;
    ENTRY(p, 0, 0) = ENTRY(p, 1, 1) = 0.0;
    a = solve(&p->mcp, z);
    assert_true(a.status < 0);
    assert_true(strlen(a.info.error.text) > 5);
    problem_destroy(p);
}

static void limits_are_kept(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    problem *p = gram(60, 60, 0.01, &r);
    double *z = calloc(60, sizeof *z);
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 1;
    answer a = solve_with(&p->mcp, &options, z);
    assert_true(a.info.iterations <= 1);
    assert_int_equal(a.status, PERP_ERR_LIMIT);
    options.max_iterations = 0;
    options.max_seconds = 1e-9;
    a = solve_with(&p->mcp, &options, z);
    assert_int_equal(a.status, PERP_ERR_LIMIT);
    free(z), problem_destroy(p);
}

static void random_sizes_agree_with_lemke(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, 12);
        problem *p = gram(n, 1 + rng_below(&r, n), rng_below(&r, 2) ? 0.0 : 0.05, &r);
        double z[12] = {0};
        answer a = solve(&p->mcp, z);
        perp_comp_info info;
        perp_status status = perp_mcp_solve("lemke", &p->mcp, NULL, NULL, z, &info);
        CHECK((a.status == PERP_OK) == (status == PERP_OK), seed);
        CHECK(a.status == PERP_OK || a.status == PERP_ERR_INFEASIBLE, seed);
        problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spd_lcps_are_solved),
        cmocka_unit_test(mixed_bounds_are_solved),
        cmocka_unit_test(badly_scaled_problems_are_solved),
        cmocka_unit_test(degenerate_psd_is_solved),
        cmocka_unit_test(skew_parts_of_psd_are_solved),
        cmocka_unit_test(exponential_families_take_few_steps),
        cmocka_unit_test(sparse_and_dense_agree),
        cmocka_unit_test(sparse_singular_blocks_are_solved),
        cmocka_unit_test(warm_start_takes_fewer_steps),
        cmocka_unit_test(large_boxes_are_solved_from_bases_nearby),
        cmocka_unit_test(infeasible_problems_are_proved_so),
        cmocka_unit_test(other_classes_are_refused_or_not_solved),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(random_sizes_agree_with_lemke),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
