// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tens of thousands of random small problems, each solver against the enumeration of all solutions:
// what is accepted is true, what is called infeasible is, and a solver solves the class it is proven
// for. bench/random_small.c does a million.
#include "support/cmocka.h"
#include "support/contest.h"

#include <perp/comp.h>
#include <string.h>

enum { N_MAX = 6, EACH = 2500 };

typedef struct rule {
    const char *solver;
    int each;                   // problems of a kind: fewer for a solver slow to give up
    bool solves[RANDOM_KINDS];  // every solvable problem of these kinds
} rule;

#define ALL_KINDS                                                                                  \
    {                                                                                              \
        true, true, true, true, true, true, true, true, true                                       \
    }

static const rule rules[] = {
    {"enum", EACH, ALL_KINDS},
    {"auto", EACH, ALL_KINDS},
    {"lemke",
     EACH,
     {[RANDOM_P] = true,
      [RANDOM_PSD] = true,
      [RANDOM_COPOSITIVE] = true,
      [RANDOM_DEGENERATE] = true}},
    {"pivot", EACH, {[RANDOM_P] = true, [RANDOM_PSD] = true}},
    {"ssn", EACH / 10, {false}},
};

static void contest(const char *solver)
{
    const rule *its = rules;
    while (strcmp(its->solver, solver) != 0) {
        its++;
    }
    problem *p = problem_create(N_MAX);
    perp_workspace *work = perp_workspace_create(NULL);
    assert_non_null(work);
    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        tally t = {0};
        FOR_SEEDS(seed, (uint64_t)its->each)
        {
            rng r = rng_seed(seed * RANDOM_KINDS + (uint64_t)kind);
            int n = 1 + rng_below(&r, seed % 10 ? 4 : N_MAX);
            random_problem(p, n, (random_kind)kind, &r);
            answer_key key = contest_key(&p->mcp);
            contest_enter(solver, &p->mcp, &key, seed, work, &t);
            CHECK(t.wrong == 0, seed);
            CHECK(t.false_infeasible == 0, seed);
            if (its->solves[kind] && t.missed > 0) {
                print_error("%s misses a solution of a %s problem\n", solver,
                            random_kind_name((random_kind)kind));
            }
            CHECK(!its->solves[kind] || t.missed == 0, seed);
        }
    }
    perp_workspace_destroy(work);
    problem_destroy(p);
}

static void enum_is_complete(void **state)
{
    (void)state;
    contest("enum");
}

static void auto_misses_nothing(void **state)
{
    (void)state;
    contest("auto");
}

static void lemke_solves_its_class(void **state)
{
    (void)state;
    contest("lemke");
}

static void pivot_solves_its_class(void **state)
{
    (void)state;
    contest("pivot");
}

static void ssn_accepts_nothing_false(void **state)
{
    (void)state;
    contest("ssn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enum_is_complete),       cmocka_unit_test(lemke_solves_its_class),
        cmocka_unit_test(pivot_solves_its_class), cmocka_unit_test(ssn_accepts_nothing_false),
        cmocka_unit_test(auto_misses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
