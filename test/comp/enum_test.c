// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumeration: how many solutions there are, their order, and that singular cones are searched too.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/truth.h"

#include <math.h>
#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

static int count_of(const problem *p, int most, double *z)
{
    int count = -1;
    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, most, z, &count), PERP_OK);
    return count;
}

// w = 1 - z: each pair has two solutions, z = 0 and z = 1. Bit i of the index is variable i.
static void all_corners_in_the_order_of_bases(void **state)
{
    (void)state;
    enum { N = 10, ALL = 1 << N };
    problem *p = problem_create(N);
    for (int i = 0; i < N; i++) {
        ENTRY(p, i, i) = -1.0;
        p->b[i] = 1.0;
    }
    double *z = malloc(ALL * N * sizeof *z), few[3 * N + 1];
    assert_non_null(z);
    assert_int_equal(count_of(p, ALL, z), ALL);
    for (int k = 0; k < ALL; k++) {
        for (int i = 0; i < N; i++) {
            assert_true(z[k * N + i] == (k >> i & 1));
        }
    }
    few[3 * N] = 77.0;  // no more than asked for is written
    assert_int_equal(count_of(p, 3, few), ALL);
    assert_memory_equal(few, z, 3 * N * sizeof *z);
    assert_true(few[3 * N] == 77.0);
    assert_int_equal(count_of(p, 0, NULL), ALL);
    free(z);
    problem_destroy(p);
}

// w = -z in [-1, 1]: three solutions a variable.
static void three_to_the_n_with_boxes(void **state)
{
    (void)state;
    enum { N = 6 };
    problem *p = problem_create(N);
    int all = 1;
    for (int i = 0; i < N; i++, all *= 3) {
        ENTRY(p, i, i) = -1.0;
        p->lower[i] = -1.0;
        p->upper[i] = 1.0;
    }
    assert_int_equal(count_of(p, 0, NULL), all);
    problem_destroy(p);
}

// Every cone of the zero matrix is singular; {z >= 0} has one vertex, and with b < 0 nothing.
static void the_zero_matrix(void **state)
{
    (void)state;
    double z[12];
    problem *p = problem_create(12);
    assert_int_equal(count_of(p, 1, z), 1);
    for (int i = 0; i < 12; i++) {
        assert_true(z[i] == 0.0);
    }
    p->b[7] = -1e-30;
    assert_int_equal(count_of(p, 1, z), 0);
    problem_destroy(p);
}

// e e' z = -b: a simplex of solutions, whose n corners are the basic ones.
static void corners_of_a_simplex(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++) {
        double z[81];
        problem *p = family_ones(n);
        assert_int_equal(count_of(p, 9, z), n);
        for (int k = 0; k < n; k++) {
            assert_true(truth_plain(&p->mcp, z + k * n) < 1e-15);
        }
        problem_destroy(p);
    }
}

// Units of rows and columns change neither how many solutions there are nor, but for the units, them.
static void units_change_nothing(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        problem *p = problem_create(5);
        double z[8 * 5], y[8 * 5], unit[5];
        random_problem(p, 5, seed % 2 ? RANDOM_GENERAL : RANDOM_MIXED, &r);
        int before = count_of(p, 8, z);
        for (int i = 0; i < 5; i++) {
            double row = ldexp(1.0, rng_below(&r, 60) - 30);
            unit[i] = ldexp(1.0, rng_below(&r, 60) - 30);
            p->b[i] *= row;
            p->lower[i] /= unit[i];
            p->upper[i] /= unit[i];
            for (int j = 0; j < 5; j++) {
                ENTRY(p, i, j) *= row;
                ENTRY(p, j, i) *= unit[i];
            }
        }
        int after = count_of(p, 8, y);
        CHECK(before == after, seed);
        for (int k = 0; k < before && k < 8; k++) {
            for (int i = 0; i < 5; i++) {
                double back = y[k * 5 + i] * unit[i];
                CHECK(fabs(back - z[k * 5 + i]) <= 1e-9 * (1.0 + fabs(back)), seed);
            }
        }
        problem_destroy(p);
    }
}

static void too_large_is_refused(void **state)
{
    (void)state;
    problem *p = problem_create(13);
    double z[13];
    int count = -1;
    perp_comp_info info;
    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, 1, z, &count), PERP_ERR_REFUSED);
    assert_int_equal(count, 0);
    assert_int_equal(perp_mcp_solve("enum", &p->mcp, NULL, NULL, z, &info), PERP_ERR_REFUSED);
    assert_non_null(strstr(info.error.text, "12"));
    problem_destroy(p);
    p = problem_create(2);
    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, -1, z, &count), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, 1, NULL, &count), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, 1, z, NULL), PERP_ERR_ARGUMENT);
    problem_destroy(p);
}

// The basis it returns is the one of its answer.
static void tells_the_basis(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        problem *p = problem_create(5);
        double z[5];
        int8_t basis[5];
        random_problem(p, 5, RANDOM_MIXED, &r);
        perp_comp_options options = perp_comp_options_default();
        options.basis = basis;
        perp_status status = perp_mcp_solve("enum", &p->mcp, &options, NULL, z, NULL);
        for (int i = 0; status >= 0 && i < 5; i++) {
            CHECK(basis[i] != PERP_BASIS_LOWER || z[i] == p->lower[i], seed);
            CHECK(basis[i] != PERP_BASIS_UPPER || z[i] == p->upper[i], seed);
        }
        problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_corners_in_the_order_of_bases),
        cmocka_unit_test(three_to_the_n_with_boxes),
        cmocka_unit_test(the_zero_matrix),
        cmocka_unit_test(corners_of_a_simplex),
        cmocka_unit_test(units_change_nothing),
        cmocka_unit_test(too_large_is_refused),
        cmocka_unit_test(tells_the_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
