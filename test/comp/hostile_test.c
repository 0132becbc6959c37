// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems made to be answered wrongly. Each was once: by a crash, by a success that was none, or by a
// proof of infeasibility for a problem with a solution.
#include "support/cmocka.h"
#include "support/families.h"

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
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
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

// One contact of a body of 1e-10 kg as a Stewart-Trinkle LCP: impulses are 1e-10, and friction of twice
// its limit breaks the row of sigma by 5e-11 N s, beside velocities of 1 m/s.
static void light_bodies_keep_their_cone(void **state)
{
    (void)state;
    const double W = 1e10, mu = 0.5, b[] = {-1, 1, -1, 0};  // p_n, p_+, p_-, sigma
    const double A[] = {W, 0, 0, mu, 0, W, -W, -1, 0, -W, W, -1, 0, 1, 1, 0};
    perp_mcp mcp = perp_mcp_from_lcp(4, perp_matrix_dense(4, 4, A), b);
    perp_mcp_residuals out;
    const double sticks[] = {1e-10, 0, 1e-10, 0}, slides[] = {1e-10, 0, 0.5e-10, 0.5};
    assert_int_equal(perp_mcp_judge(&mcp, sticks, NULL, &out), PERP_OK);
    assert_true(out.plain < 1e-8 && out.scaled > 0.1);
    assert_int_equal(perp_mcp_judge(&mcp, slides, NULL, &out), PERP_OK);
    assert_true(out.plain < 1e-15 && out.scaled < 1e-15);
}

// Positive definite, so that there is a solution: z = 1e13 (1, 1). It may be missed, not denied.
static void huge_solutions_are_not_denied(void **state)
{
    (void)state;
    const char *const solvers[] = {"auto", "lemke", "pivot", "ssn", "enum"};
    const double b[] = {0, -1}, tiny[] = {1e-13, 1e-12, 1e-10, 1e-8};
    for (int t = 0; t < 4; t++) {
        const double A[] = {1, -1, -1, 1 + tiny[t]};
        perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
        for (int k = 0; k < 5; k++) {
            double z[2];
            perp_status status = perp_mcp_solve(solvers[k], &mcp, NULL, NULL, z, NULL);
            assert_true(status != PERP_ERR_INFEASIBLE);
            assert_true(status < 0 || fabs(z[1] * (A[3] - 1.0) - 1.0) < 1e-3);
        }
    }
    // z = 1e616 is no double.
    const double A[] = {1e-308, 0, 0, 1}, far[] = {-1e308, -1};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), far);
    for (int k = 0; k < 5; k++) {
        double z[2];
        perp_status status = perp_mcp_solve(solvers[k], &mcp, NULL, NULL, z, NULL);
        assert_true(status < 0 && status != PERP_ERR_INFEASIBLE);
    }
}

// "pivot" stops before its first step, but its start is the answer: no excuse goes with a success.
static void success_has_no_excuse(void **state)
{
    (void)state;
    const double A[] = {2, 1, 1, 2}, b[] = {-1, -4};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    perp_comp_options options = perp_comp_options_default();
    options.max_seconds = 1e-9;
    double z[2];
    perp_comp_info info;
    assert_int_equal(perp_mcp_solve("pivot", &mcp, &options, NULL, z, &info), PERP_OK);
    assert_string_equal(info.error.text, "success");
}

// The caller's limit goes for the rungs of "auto" too.
static void auto_obeys_the_limit(void **state)
{
    (void)state;
    const double W[] = {2,   0.5, 0.2, 1,   0, 0,   0.5, 1, 0,   0,   0.3, 0,
                        0.2, 0,   1,   0,   0, 0.1, 1,   0, 0,   2,   0.1, 0.3,
                        0,   0.3, 0,   0.1, 1, 0,   0,   0, 0.1, 0.3, 0,   1};
    const double q[] = {-1, 0.3, -0.2, -1, 1, 0.7}, mu[] = {0.5, 0.5};
    perp_fcp fcp = {.nc = 2, .dim = 3, .mu = mu, .W = perp_matrix_dense(6, 6, W), .q = q};
    perp_comp_options options = perp_comp_options_default();
    double r[6];
    perp_comp_info info;
    options.max_iterations = 1;
    perp_status status = perp_fcp_solve("auto", &fcp, &options, NULL, r, NULL, &info);
    assert_int_not_equal(status, PERP_OK);
    assert_true(info.iterations <= 1);
    assert_null(strstr(info.error.text, "solved"));
    options.max_iterations = 0;
    assert_int_equal(perp_fcp_solve("auto", &fcp, &options, NULL, r, NULL, &info), PERP_OK);
}

// What a failed rung leaves in the basis is the basis of the z it leaves, not what memory held.
static void basis_of_a_failure_is_a_basis(void **state)
{
    (void)state;
    const double A[] = {1, 1, -2, 1, 1, -2, -2, -2, 4}, b[] = {-1, 0.5, -1};
    perp_mcp mcp = perp_mcp_from_lcp(3, perp_matrix_dense(3, 3, A), b);
    const char *const solvers[] = {"auto", "lemke", "pivot", "ssn", "enum"};
    for (int k = 0; k < 5; k++) {
        perp_comp_options options = perp_comp_options_default();
        int8_t basis[3] = {0};
        double z[3];
        options.basis = basis;
        assert_true(perp_mcp_solve(solvers[k], &mcp, &options, NULL, z, NULL) < 0);
        for (int i = 0; i < 3; i++) {
            assert_true(basis[i] >= PERP_BASIS_LOWER && basis[i] <= PERP_BASIS_UPPER);
        }
    }
}

// Solvers and sizes in turn, in one workspace and in fresh memory: the same bits, also of failures.
static void a_workspace_changes_nothing(void **state)
{
    (void)state;
    const char *const solvers[] = {"auto", "lemke", "pivot", "ssn", "enum"};
    perp_workspace *work = perp_workspace_create(NULL);
    problem *p = problem_create(10);
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        random_problem(p, 1 + rng_below(&r, 10), (random_kind)rng_below(&r, RANDOM_KINDS), &r);
        const char *solver = solvers[rng_below(&r, 5)];
        double z[2][10], ray[2][10] = {{0}};
        int8_t basis[2][10] = {{0}};
        perp_status status[2];
        for (int k = 0; k < 2; k++) {
            perp_comp_options options = perp_comp_options_default();
            options.max_iterations = 300;
            options.basis = basis[k];
            options.ray = ray[k];
            options.work = k ? work : NULL;
            status[k] = perp_mcp_solve(solver, &p->mcp, &options, NULL, z[k], NULL);
        }
        CHECK(status[0] == status[1], seed);
        CHECK(memcmp((const void *)z[0], (const void *)z[1], (size_t)p->n * sizeof(double)) == 0,
              seed);
        CHECK(memcmp((const void *)ray[0], (const void *)ray[1], sizeof ray[0]) == 0, seed);
        CHECK(memcmp(basis[0], basis[1], sizeof basis[0]) == 0, seed);
    }
    problem_destroy(p);
    perp_workspace_destroy(work);
}

// No contact needs no arrays.
static void no_contact_is_no_problem(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double M[] = {2}, f[] = {3};
        perp_fcp fcp = {.dim = 3, .nv = k};
        fcp.M = perp_matrix_dense(k, k, M);
        fcp.H = perp_matrix_dense(k, 0, M);
        fcp.f = f;
        double r[1], v[1] = {0};
        perp_fcp_residuals out;
        assert_int_equal(perp_fcp_solve("auto", &fcp, NULL, NULL, r, v, NULL), PERP_OK);
        assert_int_equal(perp_fcp_judge(&fcp, r, v, NULL, &out), PERP_OK);
        assert_true(fabs(v[0] - 1.5 * k) < 1e-15);
    }
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
    assert_true(isfinite(z[0]) && isfinite(z[1]) && strlen(info.error.text) > 5);
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

static const char *const contact_solvers[] = {"auto", "lemke", "ssn", "gs", "eg"};

// Nothing moves the contact and it closes: no r is an answer, not even one so large that u is lost
// beside it.
static void immovable_contact_is_not_solved(void **state)
{
    (void)state;
    const double W[36] = {0}, mu[2] = {0.5, 0.5};
    for (int dim = 2; dim <= 3; dim++) {
        int n = 2 * dim;
        double load[6] = {-1.0}, r[6];
        load[dim] = -1.0;
        perp_fcp fcp = {.nc = 2, .dim = dim, .mu = mu, .W = perp_matrix_dense(n, n, W), .q = load};
        for (int k = 0; k < 5; k++) {
            assert_true(perp_fcp_solve(contact_solvers[k], &fcp, NULL, NULL, r, NULL, NULL) < 0);
        }
        for (int power = 0; power < 100; power += 3) {
            double size = pow(10.0, power);
            memset(r, 0, sizeof r);
            r[0] = r[dim] = size;
            perp_fcp_residuals out;
            assert_int_equal(perp_fcp_judge(&fcp, r, NULL, NULL, &out), PERP_OK);
            assert_true(out.plain > 0.5);
        }
    }
}

// With mu = 1e6 the dual cone is nearly a line, and r = 0 within 1e-6 of the natural map although the
// bodies approach at full speed. The answer is to stick: W r = -q.
static void strong_friction_does_not_hide_penetration(void **state)
{
    (void)state;
    const double W[] = {2, 0.5, 0.2, 0.5, 1, 0, 0.2, 0, 1}, q[] = {-1, 0.3, -0.2};
    double r[3] = {0, 0, 0};
    perp_fcp_residuals out;
    for (int power = 2; power < 13; power += 4) {
        double mu = pow(10.0, power);
        perp_fcp fcp = {.nc = 1, .dim = 3, .mu = &mu, .W = perp_matrix_dense(3, 3, W), .q = q};
        assert_int_equal(perp_fcp_judge(&fcp, (const double[]){0, 0, 0}, NULL, NULL, &out),
                         PERP_OK);
        assert_true(out.scaled > 0.1);
        for (int k = 0; k < 5; k++) {
            perp_status status =
                perp_fcp_solve(contact_solvers[k], &fcp, NULL, NULL, r, NULL, NULL);
            assert_true(status < 0 || r[0] > 0.6);
            assert_true(status == PERP_OK || k != 0 || mu > 1e6);
        }
    }
}

// Two contacts that press against each other with 1e17: the load of 1 is lost beside them in double.
static void inner_forces_do_not_hide_the_load(void **state)
{
    (void)state;
    const double M[] = {1}, H[] = {1, 0, -1, 0}, f[] = {1}, w[4] = {0}, mu[] = {0, 0};
    perp_fcp fcp = {.nc = 2,
                    .dim = 2,
                    .nv = 1,
                    .mu = mu,
                    .M = perp_matrix_dense(1, 1, M),
                    .H = perp_matrix_dense(1, 4, H),
                    .f = f,
                    .w = w};
    perp_fcp_residuals out;
    const double r[] = {1e17, 0, 1e17, 0}, v[] = {0};  // at rest, says f + H r = (1 + 1e17) - 1e17
    assert_int_equal(perp_fcp_judge(&fcp, r, v, NULL, &out), PERP_OK);
    assert_true(out.dynamics > 0.5);
}

// Entries of W = H' M^-1 H whose partial sums cancel to zero again and again: 1 - 1 + 1 - ... Each was
// listed as new each time, in an array that was too short for it.
static void sums_that_cancel_on_the_way(void **state)
{
    (void)state;
    enum { NV = 60, NC = 60, N = 3 * NC };
    static double M[NV * NV], H[NV * N], f[NV], w[N], mu[NC], r[N], v[NV];
    for (int i = 0; i < NV; i++) {
        M[i * NV + i] = 1.0;
        f[i] = i % 2 ? 1.0 : -2.0;
        for (int j = 0; j < N; j++) {
            H[j * NV + i] = j % 2 == 0 || i % 2 == 0 ? 1.0 : -1.0;
        }
    }
    perp_fcp fcp = {.nc = NC,
                    .dim = 3,
                    .nv = NV,
                    .mu = mu,
                    .M = perp_matrix_dense(NV, NV, M),
                    .H = perp_matrix_dense(NV, N, H),
                    .f = f,
                    .w = w};
    perp_comp_info info;
    assert_true(perp_fcp_solve("ssn", &fcp, NULL, NULL, r, v, &info) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_is_no_success),
        cmocka_unit_test(fixed_variables_hide_nothing),
        cmocka_unit_test(light_bodies_keep_their_cone),
        cmocka_unit_test(huge_solutions_are_not_denied),
        cmocka_unit_test(success_has_no_excuse),
        cmocka_unit_test(auto_obeys_the_limit),
        cmocka_unit_test(basis_of_a_failure_is_a_basis),
        cmocka_unit_test(a_workspace_changes_nothing),
        cmocka_unit_test(no_contact_is_no_problem),
        cmocka_unit_test(box_friction_without_solution),
        cmocka_unit_test(immovable_contact_is_not_solved),
        cmocka_unit_test(strong_friction_does_not_hide_penetration),
        cmocka_unit_test(inner_forces_do_not_hide_the_load),
        cmocka_unit_test(sums_that_cancel_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
