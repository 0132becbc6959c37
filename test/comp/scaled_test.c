// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems whose answer is known, in units up to 1e12 apart: what is accepted is that answer, by comparison with it and not by a
// residual. PERP_COUNT=100000 PERP_SEED=7 does more, and others; bench/scaled_known.c counts.
#include "support/cmocka.h"
#include "support/known.h"

#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_solves_lcps),
        cmocka_unit_test(auto_solves_mcps),
        cmocka_unit_test(auto_solves_contact),
        cmocka_unit_test(others_accept_nothing_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
