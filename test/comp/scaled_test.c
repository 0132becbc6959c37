// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems whose answer is known, in units up to 1e12 apart: what is accepted is that answer, by comparison with it and not by a
// residual. PERP_COUNT=100000 PERP_SEED=7 does more, and others; bench/scaled_known.c counts.
#include "support/cmocka.h"
#include "support/known.h"

#include <math.h>
#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

#define INF HUGE_VAL

// Part of the largest number of the answer. At a tolerance of 1e-8, and since conditions of these problems are below 1000.
static const double WRONG = 1e-6;

static uint64_t how_many(uint64_t usual)
{
    const char *text = getenv("PERP_COUNT");
    return text ? strtoull(text, NULL, 10) : usual;
}

static void all_units(known_kind kind, const char *solver, uint64_t count, bool complete)
{
    static known p;
    perp_workspace *work = perp_workspace_create(NULL);
    assert_non_null(work);
    FOR_SEEDS(seed, how_many(count))
    {
        rng random = rng_seed(seed);
        double error;
        perp_comp_info info;
        known_make(&p, kind, (known_units)(seed % KNOWN_UNITS), 40, &random);
        perp_status status = known_solve(&p, solver, work, &error, &info);
        CHECK(status != PERP_ERR_INFEASIBLE, seed);
        CHECK(status != PERP_OK || error <= WRONG, seed);
        CHECK(!complete || status == PERP_OK, seed);
    }
    perp_workspace_destroy(work);
}

static void auto_solves_lcps(void **state)
{
    (void)state;
    all_units(KNOWN_LCP, "auto", 4000, true);
}

static void auto_solves_mcps(void **state)
{
    (void)state;
    all_units(KNOWN_MCP, "auto", 4000, true);
}

static void auto_solves_contact(void **state)
{
    (void)state;
    all_units(KNOWN_PLANE, "auto", 2000, true);
    all_units(KNOWN_SPACE, "auto", 2000, true);
    all_units(KNOWN_GLOBAL, "auto", 2000, true);
}

static void others_accept_nothing_wrong(void **state)
{
    (void)state;
    const char *const of_mcp[] = {"lemke", "pivot", "ssn"}, *const of_contact[] = {"ssn", "gs",
                                                                                   "eg"};
    for (int k = 0; k < 3; k++) {
        all_units(KNOWN_LCP, of_mcp[k], 1000, false);
        all_units(KNOWN_MCP, of_mcp[k], 1000, false);
        all_units(KNOWN_PLANE, of_contact[k], 300, false);
        all_units(KNOWN_SPACE, of_contact[k], 300, false);
        all_units(KNOWN_GLOBAL, of_contact[k], 300, false);
    }
}

static perp_mcp_residuals judge(const perp_mcp *mcp, const double *z)
{
    perp_mcp_residuals out;
    assert_int_equal(perp_mcp_judge(mcp, z, NULL, &out), PERP_OK);
    return out;
}

// P-problems with known answers in small integers, in units that are powers of two: the wrong points leave nothing but what is below
// rounding of the largest row, and diagonals are alike, so that all rows seem to be in one unit.
static void small_rows_are_no_rounding(void **state)
{
    (void)state;
    {
        const double A[] = {0x6p-1, 0, 0xap-46, 0xbp13}, b[] = {-59 * 0x1p-24, -51 * 0x1p35};
        const double lower[] = {-5 * 0x1p-23, -0x2p22}, upper[] = {0x3p-23, 0x3p22};
        perp_mcp mcp = {2, perp_matrix_dense(2, 2, A), b, lower, upper};
        assert_true(judge(&mcp, (const double[]){-5 * 0x1p-23, 0x3p22}).backward > 0.1);
        assert_true(judge(&mcp, (const double[]){0x3p-23, 0x3p22}).backward < 1e-15);
        double z[2];
        assert_int_equal(perp_mcp_solve(NULL, &mcp, NULL, NULL, z, NULL), PERP_OK);
        assert_true(z[0] == 0x3p-23 && z[1] == 0x3p22);
    }
    {  // row 3 and its variable are coupled with different rows
        const double A[] = {0xfp11, 0, 0xcp0, -0x8p-52, 0x4p7, -0x5p-63, 0x6p-59, -0x7p0, 0xfp-70};
        const double b[] = {36 * 0x1p-25, -24 * 0x1p34, 107 * 0x1p-36};
        const double lower[] = {-0x5p-36, -0x2p27, -INF}, upper[] = {-0x1p-36, 0x4p27, INF};
        perp_mcp mcp = {3, perp_matrix_dense(3, 3, A), b, lower, upper};
        const double wrong[] = {-0x5p-36, 0x4p27, -1.855e-6};
        assert_true(judge(&mcp, wrong).plain < 1e-15);
        assert_true(judge(&mcp, wrong).backward > 0.1);
        assert_true(judge(&mcp, (const double[]){-0x1p-36, -0x2p27, -0x7p34}).backward < 1e-15);
    }
    {  // weakly coupled one way: no units can be told from that
        const double A[] = {0x1p0, 0, 0x1p-30, 0x1p40}, b[] = {-0x1p-31, -0x1p80};
        perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
        assert_true(judge(&mcp, (const double[]){0, 0x1p40}).backward < 1e-15);
        const double c[] = {-0x1p11, -0x1p80};  // z_1 = 2^10
        mcp.b = c;
        assert_true(judge(&mcp, (const double[]){0, 0x1p40}).backward > 0.1);
        assert_true(judge(&mcp, (const double[]){0x1p10, 0x1p40}).backward < 1e-15);
    }
}

// A box at rest: a velocity of 1e-31 m/s and a row of nothing but that are rounding of the momentum's row, m v = p, whose terms are 0.02.
// A slip that is rounding of the data decides nothing about friction: only a caller who knows the units can say so.
static void rounding_is_no_error(void **state)
{
    (void)state;
    const double lower[] = {-INF, 0};
    const double A[] = {2, 1, -1, 0}, b[] = {0.02, 0};
    perp_mcp mcp = {2, perp_matrix_dense(2, 2, A), b, lower, NULL};
    assert_true(judge(&mcp, (const double[]){-7e-19, 0.02}).backward < 1e-10);
    assert_true(judge(&mcp, (const double[]){-7e-9, 0.02}).backward > 1e-8);

    const double C[] = {1, 0, 0.3, 0, 1, -1, 0, 1, 0}, d[] = {-1, -1e-18, 0};
    perp_mcp slip = perp_mcp_from_lcp(3, perp_matrix_dense(3, 3, C), d);
    perp_comp_options options = perp_comp_options_default();
    double z[3];
    assert_int_equal(perp_mcp_solve("auto", &slip, &options, NULL, z, NULL), PERP_OK);
    assert_true(fabs(z[1] - 1e-18) < 1e-30);
    assert_true(judge(&slip, (const double[]){1, 0, 0}).backward > 0.1);
    options.comparable = true;
    assert_int_equal(perp_mcp_solve("lemke", &slip, &options, NULL, z, NULL), PERP_OK);
}

// Columns in units that differ by 1e24: what is small beside other columns is no rounding of data, and a ray of lemke no
// proof that there is no solution.
static void other_columns_prove_nothing(void **state)
{
    (void)state;
    static known p;
    perp_workspace *work = perp_workspace_create(NULL);
    static const char *const solvers[] = {"auto", "lemke"};
    rng random = rng_seed(31889641);
    known_make(&p, KNOWN_MCP, KNOWN_BOTH, 40, &random);
    for (int k = 0; k < 2; k++) {
        double error;
        perp_comp_info info;
        perp_status status = known_solve(&p, solvers[k], work, &error, &info);
        assert_int_not_equal(status, PERP_ERR_INFEASIBLE);
        assert_true(k > 0 || (status == PERP_OK && error <= 1e-6));
    }
    perp_workspace_destroy(work);
}

// A pivot of 1e-16 in balanced units is data, and its cone has the solution: enumeration proves nothing that leaves it out.
static void small_pivots_are_examined(void **state)
{
    (void)state;
    static known p;
    perp_workspace *work = perp_workspace_create(NULL);
    static const char *const solvers[] = {"auto", "enum"};
    rng random = rng_seed(41844891);
    known_make(&p, KNOWN_MCP, KNOWN_BOTH, 40, &random);
    for (int k = 0; k < 2; k++) {
        double error;
        perp_comp_info info;
        assert_int_equal(known_solve(&p, solvers[k], work, &error, &info), PERP_OK);
        assert_true(error <= 1e-6);
    }
    perp_workspace_destroy(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_solves_lcps),
        cmocka_unit_test(auto_solves_mcps),
        cmocka_unit_test(auto_solves_contact),
        cmocka_unit_test(others_accept_nothing_wrong),
        cmocka_unit_test(other_columns_prove_nothing),
        cmocka_unit_test(small_pivots_are_examined),
        cmocka_unit_test(small_rows_are_no_rounding),
        cmocka_unit_test(rounding_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
