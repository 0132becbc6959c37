// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear MCPs of the literature, from their standard starts, against their published solutions (test/data/ncp, F as
// expressions): economics, games, traffic, optimality conditions of Hock and Schittkowski, smooth systems; and problems
// that have no solution, none of which may be reported as solved. The same problems with the Jacobian by differences.
#include "support/cmocka.h"

#include <perp/problem.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 10, SETS = 3 };

typedef struct literature {
    const char *name;
    int sets;          // known solutions; 0: the judge alone decides
    int count;         // leading variables that are known
    double tolerance;  // absolute
    double value[SETS][VALUES];
} literature;

#define SQRT6_2 1.2247448713915890

static const literature problems[] = {
    {"bids", 0, 0, 0.0, {{0}}},
    {"billups", 1, 1, 1e-8, {{2.0049875621120890}}},
    {"box-cubic", 1, 2, 1e-8, {{1.5, 1.0}}},
    {"braess", 1, 4, 1e-8, {{2.0, 2.0, 2.0, 92.0}}},
    // the product equation has a second root (Moré, Garbow, Hillstrom 1981)
    {"brown-almost-linear", 2, 1, 1e-6, {{1.0}, {0.97943043}}},
    {"broyden-tridiagonal", 0, 0, 0.0, {{0}}},
    {"capacity", 0, 0, 0.0, {{0}}},
    {"chandrasekhar", 0, 0, 0.0, {{0}}},
    {"chebyquad-5", 1, 5, 1e-6, {{0.083751256, 0.312729296, 0.5, 0.687270705, 0.916248744}}},
    {"cobb-douglas", 0, 0, 0.0, {{0}}},
    {"colvdual", 0, 0, 0.0, {{0}}},
    {"colvnlp", 1, 5, 1e-5, {{0.3, 0.33346761, 0.4, 0.42831010, 0.22396487}}},
    {"combustion", 1, 5, 1e-4, {{0.0031141, 34.597924, 0.0650417, 0.859378, 0.0369518}}},
    {"control-far", 0, 0, 0.0, {{0}}},
    {"cycle", 1, 1, 1e-8, {{-1.7692923542386314}}},
    {"degenerate-corner", 1, 2, 1e-8, {{0.0, 0.0}}},
    {"degenerate-square", 1, 2, 1e-12, {{0.0, 0.0}}},
    {"discrete-integral", 0, 0, 0.0, {{0}}},
    {"energy-markets", 0, 0, 0.0, {{0}}},
    {"entropy", 0, 0, 0.0, {{0}}},
    {"explcp", 1, 10, 1e-8, {{0.0}}},
    {"factors", 0, 0, 0.0, {{0}}},
    {"factors-ces", 0, 0, 0.0, {{0}}},
    {"fathi", 1, 3, 1e-8, {{1.0, 0.0, 0.0}}},
    {"flash-vapour", 0, 0, 0.0, {{0}}},
    {"freudenstein-roth", 1, 2, 1e-7, {{5.0, 4.0}}},
    {"hs010", 1, 2, 1e-7, {{0.0, 1.0}}},
    {"hs011", 1, 2, 1e-5, {{1.234774, 1.524660}}},
    {"hs012", 1, 2, 1e-7, {{2.0, 3.0}}},
    {"hs014", 1, 2, 1e-7, {{0.82287565553, 0.91143782777}}},
    {"hs021", 1, 2, 1e-8, {{2.0, 0.0}}},
    {"hs034", 1, 3, 1e-7, {{0.83403244525, 2.3025850930, 10.0}}},
    {"hs035", 1, 3, 1e-7, {{1.3333333333, 0.77777777778, 0.44444444444}}},
    {"hs037", 0, 0, 0.0, {{0}}},
    {"hs043", 1, 7, 1e-7, {{0.0, 1.0, 2.0, -1.0, 1.0, 0.0, 2.0}}},
    {"hs044", 0, 0, 0.0, {{0}}},
    {"hs045", 0, 0, 0.0, {{0}}},
    {"hs065", 1, 3, 1e-6, {{3.650461821, 3.650461821, 4.6204170507}}},
    {"hs066", 1, 3, 1e-7, {{0.1841264879, 1.202167873, 3.327322322}}},
    {"hs071", 1, 4, 1e-5, {{1.0, 4.7429994, 3.8211503, 1.3794082}}},
    {"hs076", 1, 4, 1e-7, {{0.27272727273, 2.0909090909, 0.0, 0.54545454545}}},
    {"hs100",
     1,
     7,
     1e-5,
     {{2.330499, 1.951372, -0.4775414, 4.365726, -0.6244870, 1.038131, 1.594227}}},
    {"hs113",
     1,
     10,
     1e-5,
     {{2.171996, 2.363683, 8.773926, 5.095984, 0.9906548, 1.430574, 1.321644, 9.828726, 8.280092,
       8.375927}}},
    {"invariant-capital", 0, 0, 0.0, {{0}}},
    {"josephy", 1, 4, 1e-7, {{SQRT6_2, 0.0, 0.0, 0.5}}},
    {"josephy-far", 1, 4, 1e-7, {{SQRT6_2, 0.0, 0.0, 0.5}}},
    {"josephy-ones", 1, 4, 1e-7, {{SQRT6_2, 0.0, 0.0, 0.5}}},
    {"kepler", 0, 0, 0.0, {{0}}},
    {"kojima-shindo", 2, 4, 1e-6, {{SQRT6_2, 0.0, 0.0, 0.5}, {1.0, 0.0, 3.0, 0.0}}},
    {"kojima-shindo-far", 2, 4, 1e-6, {{SQRT6_2, 0.0, 0.0, 0.5}, {1.0, 0.0, 3.0, 0.0}}},
    {"kojima-shindo-ones", 2, 4, 1e-6, {{SQRT6_2, 0.0, 0.0, 0.5}, {1.0, 0.0, 3.0, 0.0}}},
    {"land-rent", 0, 0, 0.0, {{0}}},
    {"lines-with-losses", 0, 0, 0.0, {{0}}},
    {"logit-prices", 0, 0, 0.0, {{0}}},
    {"logit-prices-raw", 0, 0, 0.0, {{0}}},
    {"mathiesen-1", 1, 1, 1e-6, {{0.5}}},
    {"mathiesen-2", 1, 1, 1e-6, {{0.75}}},
    {"mathiesen-3", 1, 1, 1e-6, {{3.0}}},
    {"mathiesen-far", 1, 1, 1e-6, {{3.0}}},
    {"mixed-strategies", 0, 0, 0.0, {{0}}},
    {"murty", 1, 10, 1e-8, {{0.0}}},
    {"nash-cournot-10",
     1,
     10,
     2e-4,
     {{7.4415, 4.0979, 2.5906, 0.9354, 17.9489, 4.0979, 1.3047, 5.5901, 3.2222, 1.6771}}},
    {"nash-cournot-10-near",
     1,
     10,
     2e-4,
     {{7.4415, 4.0979, 2.5906, 0.9354, 17.9489, 4.0979, 1.3047, 5.5901, 3.2222, 1.6771}}},
    {"nash-cournot-5", 1, 5, 2e-3, {{36.9318, 41.8175, 43.7060, 42.6588, 39.1786}}},
    {"nash-cournot-5-near", 1, 5, 2e-3, {{36.9318, 41.8175, 43.7060, 42.6588, 39.1786}}},
    {"no-crash", 0, 0, 0.0, {{0}}},
    {"portfolio", 0, 0, 0.0, {{0}}},
    {"powell-badly-scaled", 1, 2, 1e-5, {{1.098159e-5, 9.106147}}},
    {"powell-singular", 1, 4, 1e-8, {{0.0}}},
    {"ring-roads", 0, 0, 0.0, {{0}}},
    {"rosenbrock", 1, 2, 1e-7, {{1.0, 1.0}}},
    {"rosenbrock-boxed", 1, 2, 1e-7, {{0.5, 0.25}}},
    {"scarf-exchange", 1, 3, 1e-7, {{1.0, 1.0, 1.0}}},
    {"simple-root", 1, 1, 1e-7, {{4.0}}},
    {"softening-bars", 0, 0, 0.0, {{0}}},
    {"spatial-prices", 0, 0, 0.0, {{0}}},
    {"string-obstacle", 0, 0, 0.0, {{0}}},
    {"switch", 0, 0, 0.0, {{0}}},
    {"traffic-elastic", 0, 0, 0.0, {{0}}},
    {"watson-4", 1, 5, 1e-7, {{0.0, 0.0, 1.0, 2.0, 3.0}}},
    {"watson-4-ones", 1, 5, 1e-7, {{0.0, 0.0, 1.0, 2.0, 3.0}}},
    {"yield-stress", 0, 0, 0.0, {{0}}},
};

enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static perp_problem *read_problem(const char *name)
{
    char path[256];
    perp_problem *problem = NULL;
    perp_error error;
    snprintf(path, sizeof path, "test/data/ncp/%s.json", name);
    if (perp_problem_read(path, NULL, &problem, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    assert_int_equal(perp_problem_kind_of(problem), PERP_PROBLEM_NCP);
    assert_non_null(perp_problem_ncp(problem));
    return problem;
}

// The judge of the test itself: complementarity written out, with nothing of the library.
static double own_residual(const perp_ncp *ncp, const double *z)
{
    double F[32], worst = 0.0, size = 1.0;
    assert_true(ncp->n <= 32);
    assert_true(ncp->function(ncp->user, z, F) >= 0);
    for (int i = 0; i < ncp->n; i++) {
        double error = fabs(F[i]);
        if (z[i] == ncp->lower[i] && F[i] > 0.0) {
            error = 0.0;
        }
        if (z[i] == ncp->upper[i] && F[i] < 0.0) {
            error = 0.0;
        }
        // or next to a bound
        error = F[i] > 0.0 ? fmin(error, z[i] - ncp->lower[i]) : fmin(error, ncp->upper[i] - z[i]);
        worst = fmax(worst, error);
        size = fmax(size, fabs(z[i]));
        assert_true(z[i] >= ncp->lower[i] && z[i] <= ncp->upper[i]);
    }
    return worst / size;
}

static bool is_known(const literature *p, const double *z)
{
    for (int s = 0; s < p->sets; s++) {
        bool same = true;
        for (int k = 0; k < p->count; k++) {
            same = same && fabs(z[k] - p->value[s][k]) <= p->tolerance;
        }
        if (same) {
            return true;
        }
    }
    return p->sets == 0;
}

static void solve_one(const literature *p, bool differences)
{
    perp_problem *problem = read_problem(p->name);
    perp_ncp ncp = *perp_problem_ncp(problem);
    double z[32] = {0};
    perp_comp_info info;
    if (differences) {
        ncp.jacobian = NULL;
    }
    perp_status status = perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info);
    if (status != PERP_OK) {
        fail_msg("%s: %s (%s)", p->name, perp_status_text(status), info.error.text);
    }
    if (!is_known(p, z)) {
        fail_msg("%s: not the published solution: %.8g %.8g ...", p->name, z[0], z[1]);
    }
    double own = own_residual(&ncp, z);
    if (!(own < 1e-6)) {
        fail_msg("%s: residual %.1e by the test's own formula", p->name, own);
    }
    assert_true(info.evaluations > 0 && info.jacobians > 0);
    perp_problem_destroy(problem);
}

static void published_problems_are_solved(void **state)
{
    (void)state;
    assert_true(PROBLEMS >= 80);
    for (int k = 0; k < PROBLEMS; k++) {
        solve_one(&problems[k], false);
    }
}

// Coloured differences on the patterns of the expressions.
static void differences_do_as_well(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        solve_one(&problems[k], true);
    }
}

static void exact_derivatives_agree_with_differences(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        perp_problem *problem = read_problem(problems[k].name);
        const perp_ncp *ncp = perp_problem_ncp(problem);
        perp_ncp_difference difference;
        double z[32];
        // inside the domain of logarithms and powers
        for (int i = 0; i < ncp->n; i++) {
            z[i] = 1.1 + 0.07 * i;
            z[i] = fmin(fmax(z[i], ncp->lower[i]), ncp->upper[i]);
        }
        assert_int_equal(perp_ncp_compare(ncp, z, NULL, &difference), PERP_OK);
        if (!(difference.error < 1e-5)) {
            fail_msg("%s: J(%d, %d) is %.8g, measured %.8g", problems[k].name, difference.row,
                     difference.column, difference.given, difference.measured);
        }
        perp_problem_destroy(problem);
    }
}

static void problems_without_a_solution_are_not_solved(void **state)
{
    (void)state;
    static const char *const names[] = {
        "none-exp",    "none-square", "none-upper",  "none-atan", "none-two",       "none-rational",
        "none-domain", "none-box",    "none-market", "none-near", "none-logarithm", "none-tanh"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        perp_problem *problem = read_problem(names[k]);
        const perp_ncp *ncp = perp_problem_ncp(problem);
        double z[4] = {0};
        perp_comp_info info;
        perp_status status = perp_ncp_solve(NULL, ncp, NULL, NULL, z, &info);
        if (status != PERP_ERR_LIMIT) {
            fail_msg("%s: status %d (%s), z = %g", names[k], (int)status, info.error.text, z[0]);
        }
        assert_true(strlen(info.error.text) > 0);
        assert_true(isfinite(z[0]));
        perp_problem_destroy(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_problems_are_solved),
        cmocka_unit_test(differences_do_as_well),
        cmocka_unit_test(exact_derivatives_agree_with_differences),
        cmocka_unit_test(problems_without_a_solution_are_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
