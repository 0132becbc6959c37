// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Semi-smooth Newton on MCPs: what pivoting finds hard, classes it must solve, exact bounds, problems
// without a solution, and published circuits.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/families.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Solves and frees; returns the iterations, -1 when it was not solved.
static int iterations_of(problem *p)
{
    double *z = calloc((size_t)p->n, sizeof *z);
    perp_comp_info info;
    assert_non_null(z);
    perp_status status = perp_mcp_solve("ssn", &p->mcp, NULL, NULL, z, &info);
    bool good = status == PERP_OK && info.residual <= 1e-9 && info.residual_plain <= 1e-9;
    free(z);
    problem_destroy(p);
    return good ? info.iterations : -1;
}

#define ASSERT_QUICK(p, most)                                                                      \
    do {                                                                                           \
        int iterations_ = iterations_of(p);                                                        \
        assert_in_range(iterations_, 0, most);                                                     \
    } while (0)

static void exponential_families_are_quick(void **state)
{
    (void)state;
    for (int n = 2; n <= 200; n = n < 20 ? n + 4 : 2 * n) {
        ASSERT_QUICK(family_murty(n), 40);
        ASSERT_QUICK(family_murty_lemke(n), 150);
        ASSERT_QUICK(family_murty_transposed(n), 40);
        ASSERT_QUICK(family_fathi(n), 60);
        ASSERT_QUICK(family_fathi_murty(n), 400);
    }
    ASSERT_QUICK(family_kostreva(), 20);
    ASSERT_QUICK(family_tie(), 20);
    ASSERT_QUICK(family_ones(5), 40);
    ASSERT_QUICK(family_pang(0.0), 60);
    ASSERT_QUICK(family_bimatrix_tucker(), 4000);
}

static void monotone_families_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 10)
    {
        rng r = rng_seed(seed);
        CHECK(iterations_of(family_harker_pang(30, &r)) >= 0, seed);
        CHECK(iterations_of(family_psd_degenerate(60, &r)) >= 0, seed);
        CHECK(iterations_of(family_boxed_spd(40, &r)) >= 0, seed);
    }
    ASSERT_QUICK(family_ahn(500), 30);  // sparse
    ASSERT_QUICK(family_obstacle(30), 60);
    ASSERT_QUICK(family_joint_friction(0.3, 1.0), 60);
}

static void random_classes_are_solved(void **state)
{
    (void)state;
    static const random_kind kinds[] = {RANDOM_P, RANDOM_COPOSITIVE, RANDOM_DEGENERATE};
    problem *p = problem_create(12);
    assert_non_null(p);
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        perp_comp_info info;
        double z[12];
        random_problem(p, 1 + rng_below(&r, 12), kinds[seed % 3], &r);
        CHECK(perp_mcp_solve("ssn", &p->mcp, NULL, NULL, z, &info) == PERP_OK, seed);
    }
    problem_destroy(p);
}

// Games always have an equilibrium, but no method is proven to find one quickly: nearly all.
static void games_are_played(void **state)
{
    (void)state;
    int solved = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        rng r = rng_seed(seed);
        solved +=
            iterations_of(family_bimatrix(2 + rng_below(&r, 8), 2 + rng_below(&r, 8), &r)) >= 0;
    }
    assert_true(solved >= 98);
}

static void variables_end_on_their_bounds(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 30)
    {
        rng r = rng_seed(seed);
        problem *p = family_boxed_spd(20, &r);
        double z[20], w[20];
        int8_t basis[20];
        perp_comp_options options = perp_comp_options_default();
        options.basis = basis;
        CHECK(perp_mcp_solve("ssn", &p->mcp, &options, NULL, z, NULL) == PERP_OK, seed);
        for (int i = 0; i < 20; i++) {
            w[i] = p->b[i];
            for (int j = 0; j < 20; j++) {
                w[i] += ENTRY(p, i, j) * z[j];
            }
            bool bound = z[i] == p->mcp.lower[i] || z[i] == p->mcp.upper[i];
            CHECK(bound || fabs(w[i]) <= 1e-11, seed);
            CHECK(bound == (basis[i] != PERP_BASIS_BASIC), seed);
        }
        problem_destroy(p);
    }
}

static void expect_no_answer(problem *p)
{
    double *z = calloc((size_t)p->n, sizeof *z);
    perp_comp_info info;
    assert_non_null(z);
    assert_int_equal(perp_mcp_solve("ssn", &p->mcp, NULL, NULL, z, &info), PERP_ERR_LIMIT);
    assert_true(strlen(info.error.text) > 10);
    for (int i = 0; i < p->n; i++) {
        assert_true(isfinite(z[i]));
    }
    free(z);
    problem_destroy(p);
}

static void unsolvable_problems_are_not_solved(void **state)
{
    (void)state;
    static const int numbers[] = {2, 4, 6, 8};
    expect_no_answer(family_infeasible_skew(2));
    expect_no_answer(family_infeasible_skew(6));
    expect_no_answer(family_infeasible_psd(4));
    expect_no_answer(family_subset_sum(4, numbers, 7));
    expect_no_answer(family_pang(0.1));
}

static void limits_and_warm_start_are_obeyed(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    problem *p = family_harker_pang(40, &r);
    double z[40];
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info cold, warm, stopped;
    assert_int_equal(perp_mcp_solve("ssn", &p->mcp, &options, NULL, z, &cold), PERP_OK);
    options.warm_start = true;
    assert_int_equal(perp_mcp_solve("ssn", &p->mcp, &options, NULL, z, &warm), PERP_OK);
    assert_true(warm.iterations <= 3 && cold.iterations > 3);
    options.warm_start = false;
    options.max_iterations = 2;
    assert_true(perp_mcp_solve("ssn", &p->mcp, &options, NULL, z, &stopped) < 0);
    assert_true(stopped.iterations <= 2);
    problem_destroy(p);
}

static void published_circuits_are_solved(void **state)
{
    (void)state;
    static const char *const names[] = {
        "mlcp/BuckConverter_mlcp",
        "mlcp/BuckFirstStep_mlcp",
        "mlcp/PD_mlcp",
        "mlcp/RCD_mlcp",
        "mlcp/RLCD_mlcp",
        "mlcp/deltasigma_mlcp",
        "mlcp/deudeu_mlcp",
        "mlcp/diodeBridge20_mlcp",
        "mlcp/diodeBridge_mlcp",
        "mlcp/m2n1_mlcp",
        "mlcp/relay2_mlcp",
        "relay/relay1",
        "relay/relay_2x2",
        "relay/relay_simple2",
        "relay/step_2x2",
        "lcp/lcp_mmc",
        "lcp/old_confeti",
        "lcp/lcp_CPS_3",
        "lcp/handbook_10_2_1_n16",
        "lcp/lcp_exp_murty",
        "lcp/lcp_Pang_isolated_sol",
    };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char relative[80], path[500];
        perp_problem *file = NULL;
        perp_error error;
        perp_comp_info info;
        snprintf(relative, sizeof relative, "problems/ncx/%s.ncx", names[k]);
        if (!data_path(relative, path, sizeof path)) {
            print_message("%s is not here: set PERP_DATA_DIR\n", relative);
            skip();
        }
        assert_int_equal(perp_problem_read(path, NULL, &file, &error), PERP_OK);
        const perp_mcp *mcp = perp_problem_mcp(file);
        double *z = calloc((size_t)mcp->n, sizeof *z);
        perp_status status = perp_mcp_solve("ssn", mcp, NULL, NULL, z, &info);
        if (status != PERP_OK || info.residual > 1e-9 || info.residual_plain > 1e-9) {
            fail_msg("%s: %s, residuals %.1e %.1e", names[k], info.error.text, info.residual_plain,
                     info.residual);
        }
        free(z);
        perp_problem_destroy(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_families_are_quick),
        cmocka_unit_test(monotone_families_are_solved),
        cmocka_unit_test(random_classes_are_solved),
        cmocka_unit_test(games_are_played),
        cmocka_unit_test(variables_end_on_their_bounds),
        cmocka_unit_test(unsolvable_problems_are_not_solved),
        cmocka_unit_test(limits_and_warm_start_are_obeyed),
        cmocka_unit_test(published_circuits_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
