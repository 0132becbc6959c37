// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems made to be answered wrongly. Each was once: by a crash, by a success that was none, or by a
// proof of infeasibility for a problem with a solution.
#include "support/cmocka.h"

#include <math.h>
#include <perp/comp.h>
#include <string.h>

#define INF HUGE_VAL

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// w_0 = 1e308 z_0 - 1e308 z_1 + 5 overflows on both sides: nothing is known of it.
static void overflow_is_no_success(void **state)
{
    (void)state;
    const double A[] = {1e308, 0, -1e308, 1}, b[] = {5, -10}, z[] = {10, 10};
    perp_mcp mcp = perp_mcp_lcp(2, perp_matrix_dense(2, 2, A), b);
    perp_mcp_residuals out;
    assert_int_equal(perp_mcp_judge(&mcp, z, NULL, &out), PERP_OK);
    assert_true(out.plain == INF && out.scaled == INF);
    const int findex[] = {-1, -1};
    const double mu[] = {0, 0};
    perp_box_friction box = {2, mcp.A, b, findex, mu, NULL, NULL};
    assert_int_equal(perp_box_friction_judge(&box, z, &out), PERP_OK);
    assert_true(out.plain > 0.4 && out.scaled > 0.4);
}

// A variable held at 1e12, which acts on nothing else, does not make w = -1 small.
static void fixed_variables_hide_nothing(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 1}, b[] = {1e12, -1}, lower[] = {1e12, 0}, upper[] = {1e12, INF};
    perp_mcp mcp = {2, perp_matrix_dense(2, 2, A), b, lower, upper};
    perp_mcp_residuals out;
    assert_int_equal(perp_mcp_judge(&mcp, (const double[]){1e12, 0}, NULL, &out), PERP_OK);
    assert_true(out.plain > 0.9 && out.scaled > 0.9);
    assert_int_equal(perp_mcp_judge(&mcp, (const double[]){1e12, 1}, NULL, &out), PERP_OK);
    assert_true(out.plain < 1e-15 && out.scaled < 1e-15);
}

// ── Box friction ─────────────────────────────────────────────────────────────────────────────────

// w_0 = -1 whatever z is: pivoting ends on a ray.
static void box_friction_without_solution(void **state)
{
    (void)state;
    const double A[4] = {0}, b[] = {-1, 0.5}, mu[] = {0.5, 0.5};
    const int findex[] = {-1, 0};
    perp_box_friction box = {2, perp_matrix_dense(2, 2, A), b, findex, mu, NULL, NULL};
    double z[2];
    perp_comp_info info;
    assert_true(perp_box_friction_solve(&box, NULL, NULL, z, &info) < 0);
    assert_true(isfinite(z[0]) && isfinite(z[1]) && strlen(info.reason) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_is_no_success),
        cmocka_unit_test(fixed_variables_hide_nothing),
        cmocka_unit_test(box_friction_without_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
