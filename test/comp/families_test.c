// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The classical hard families and small mechanics: no explosion, no cycling, rays where there is no
// solution, agreement with enumeration where there are several.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/truth.h"

#include <math.h>
#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 4096 };

// Solves and checks by the definition; returns iterations. z is kept in a buffer of the test.
static double z_of_last[N_MAX];

static int solves(const char *solver, const char *name, const problem *p)
{
    perp_comp_info info;
    assert_true(p->n <= N_MAX);
    perp_status status = perp_mcp_solve(solver, &p->mcp, NULL, NULL, z_of_last, &info);
    double truth = p->n <= 500 ? truth_plain(&p->mcp, z_of_last) : info.residual_plain;
    if (status != PERP_OK || !(truth <= 1e-8)) {
        fail_msg("%s, %s, n = %d: %s, residual %g, %s", solver, name, p->n,
                 perp_status_word(status), truth, info.error.text);
    }
    return info.iterations;
}

static void unit_vector(const char *name, int n, int index)
{
    for (int i = 0; i < n; i++) {
        if (fabs(z_of_last[i] - (i == index)) > 1e-7) {
            fail_msg("%s, n = %d: z[%d] = %g", name, n, i, z_of_last[i]);
        }
    }
}

static void no_solution(const char *solver, const char *name, const problem *p)
{
    perp_comp_info info;
    perp_status status = perp_mcp_solve(solver, &p->mcp, NULL, NULL, z_of_last, &info);
    if (status >= 0 || strlen(info.error.text) == 0) {
        fail_msg("%s, %s: %s", solver, name, perp_status_word(status));
    }
    for (int i = 0; i < p->n; i++) {
        assert_true(isfinite(z_of_last[i]));
    }
}

static const int sizes[] = {2, 3, 4, 6, 10, 14, 18, 30, 60, 100, 200};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

// ── Exponential ──────────────────────────────────────────────────────────────────────────────────

// All five through auto, to n = 200 (where the Gram matrices have entries of 1e5 and the inverse of
// the triangular one entries of 2e0: well within double). Iterations grow no faster than 20 n.
static void exponential_families_do_not_explode(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k], most = 20 * n + 100;
        problem *p[5] = {family_murty(n), family_murty_lemke(n), family_murty_transposed(n),
                         family_fathi(n), family_fathi_murty(n)};
        static const char *const names[5] = {"Murty", "Murty for Lemke", "Murty transposed",
                                             "Fathi", "Fathi/Murty"};
        static const int unit[5] = {1, -1, 0, 0, -1};
        for (int f = 0; f < 5; f++) {
            int iterations = solves("auto", names[f], p[f]);
            if (iterations > most) {
                fail_msg("auto, %s, n = %d: %d iterations", names[f], n, iterations);
            }
            if (unit[f] >= 0) {
                unit_vector(names[f], n, unit[f] ? n - 1 : 0);
            }
            problem_destroy(p[f]);
        }
    }
}

// The known worst case: 2^n - 1 pivots where there is room, the limit where there is not.
static void plain_lemke_obeys_its_limit(void **state)
{
    (void)state;
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    problem *p = family_murty_lemke(18);
    options.max_iterations = 5000;
    perp_status status = perp_mcp_solve("lemke", &p->mcp, &options, NULL, z_of_last, &info);
    assert_true(status == PERP_ERR_LIMIT || status == PERP_OK);
    assert_true(info.iterations <= 5000);
    problem_destroy(p);
    p = family_murty_lemke(100);
    status = perp_mcp_solve("lemke", &p->mcp, &options, NULL, z_of_last, &info);
    assert_true(status == PERP_ERR_LIMIT || status == PERP_OK);
    assert_true(info.iterations <= 5000);
    problem_destroy(p);
    p = family_murty_lemke(6);
    assert_true(solves("lemke", "Murty for Lemke", p) <= 63);
    problem_destroy(p);
}

// ── Cycling, ties, many solutions ────────────────────────────────────────────────────────────────

static void nothing_cycles(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke", "pivot", "enum"};
    for (int s = 0; s < 4; s++) {
        problem *p = family_kostreva();
        solves(solvers[s], "Kostreva", p);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(z_of_last[i] - 1.0 / 3.0) < 1e-9);
        }
        problem_destroy(p);
        p = family_tie();
        solves(solvers[s], "tie", p);
        assert_true(fabs(z_of_last[0]) < 1e-7 && fabs(z_of_last[1] - 1.0) < 1e-7);
        problem_destroy(p);
    }
}

static void infinitely_many_solutions(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke", "pivot"};
    for (int s = 0; s < 3; s++) {
        for (int k = 0; k < SIZES; k++) {
            problem *p = family_ones(sizes[k]);
            solves(solvers[s], "ones", p);
            double sum = 0.0;
            for (int i = 0; i < p->n; i++) {
                sum += z_of_last[i];
            }
            assert_true(fabs(sum - 1.0) < 1e-7);
            problem_destroy(p);
        }
        FOR_SEEDS(seed, 12)
        {
            rng r = rng_seed(seed);
            problem *p = family_psd_degenerate(4 + 12 * (int)(seed % 12), &r);
            solves(solvers[s], "PSD degenerate", p);
            problem_destroy(p);
        }
    }
}

// Games have mixed equilibria; with e as covering vector Lemke's method may end on a ray, auto not.
static void bimatrix_games(void **state)
{
    (void)state;
    problem *p = family_bimatrix_tucker();
    solves("auto", "game", p);
    problem_destroy(p);
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        p = family_bimatrix(2 + rng_below(&r, 4), 2 + rng_below(&r, 4), &r);
        solves("auto", "game", p);
        problem_destroy(p);
    }
}

// ── Without a solution ───────────────────────────────────────────────────────────────────────────

// Copositive-plus: a secondary ray proves infeasibility, and the proof holds.
static void infeasible_with_a_proof(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke"};
    for (int s = 0; s < 2; s++) {
        for (int n = 2; n <= 200; n = n < 8 ? n + 2 : 5 * n) {
            problem *p[2] = {family_infeasible_skew(n), family_infeasible_psd(n)};
            for (int f = 0; f < 2; f++) {
                double ray[200];
                perp_comp_info info;
                perp_comp_options options = perp_comp_options_default();
                options.ray = ray;
                perp_status status =
                    perp_mcp_solve(solvers[s], &p[f]->mcp, &options, NULL, z_of_last, &info);
                if (status != PERP_ERR_INFEASIBLE) {
                    fail_msg("%s, infeasible %d, n = %d: %s (%s)", solvers[s], f, n,
                             perp_status_word(status), info.error.text);
                }
                if (!(perp_mcp_farkas(&p[f]->mcp, ray) < 0.0)) {
                    fail_msg("%s, infeasible %d, n = %d: no proof", solvers[s], f, n);
                }
                problem_destroy(p[f]);
            }
        }
    }
}

static void subset_sums(void **state)
{
    (void)state;
    static const int a[9] = {3, 5, 8, 13, 21, 34, 55, 89, 144};
    problem *p = family_subset_sum(5, a, 29);  // 8 + 21
    solves("auto", "subset sum", p);
    problem_destroy(p);
    p = family_subset_sum(5, a, 12);  // none
    no_solution("auto", "subset sum", p);
    problem_destroy(p);
    p = family_subset_sum(9, a, 4);  // n = 11, none
    no_solution("auto", "subset sum", p);
    no_solution("lemke", "subset sum", p);
    problem_destroy(p);
}

static void isolated_and_perturbed(void **state)
{
    (void)state;
    problem *p = family_pang(0.0);
    solves("auto", "Pang", p);
    assert_true(fabs(z_of_last[0] - 1.0) < 1e-7);
    problem_destroy(p);
    const double perturbations[] = {1.0, 0.1, 1e-2, 1e-3};
    for (int k = 0; k < 4; k++) {
        p = family_pang(perturbations[k]);
        no_solution("auto", "Pang perturbed", p);
        no_solution("lemke", "Pang perturbed", p);
        no_solution("enum", "Pang perturbed", p);
        problem_destroy(p);
    }
}

// ── Monotone and sparse ──────────────────────────────────────────────────────────────────────────

static void monotone_families(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke", "pivot"};
    for (int s = 0; s < 3; s++) {
        for (int n = 4; n <= 200; n = n < 100 ? 3 * n : n + 92) {
            rng r = rng_seed((uint64_t)n);
            problem *p[3] = {family_harker_pang(n, &r), family_boxed_spd(n, &r), family_ahn(n)};
            static const char *const names[3] = {"Harker-Pang", "boxed SPD", "Ahn"};
            for (int f = 0; f < 3; f++) {
                solves(solvers[s], names[f], p[f]);
                problem_destroy(p[f]);
            }
        }
    }
}

static void large_and_sparse(void **state)
{
    (void)state;
    problem *p = family_ahn(2000);
    solves("auto", "Ahn", p);
    problem_destroy(p);
    p = family_obstacle(40);
    solves("auto", "obstacle", p);
    int touching = 0;
    for (int i = 0; i < p->n; i++) {
        touching += z_of_last[i] == 0.0;
    }
    assert_true(touching > 10 && touching < p->n);
    problem_destroy(p);
}

// ── Mechanics ────────────────────────────────────────────────────────────────────────────────────

// None, one or two solutions, as the signs of A and B say, and as enumeration does.
static void painleve_rods(void **state)
{
    (void)state;
    int seen[3] = {0, 0, 0};
    for (int m = 0; m <= 6; m++) {
        for (int t = 1; t < 30; t++) {
            for (int w = 0; w <= 6; w += 2) {
                problem *p = family_painleve(0.05 * t, 0.4 * m, w, 1.0, 1.0);
                double A = p->A[0], B = p->b[0], z[4];
                int expected = A > 0.0 ? 1 : B > 0.0 ? 2 : 0, count = -1;
                if (fabs(A) > 1e-6 && fabs(B) > 1e-6) {
                    assert_int_equal(perp_mcp_enumerate(&p->mcp, NULL, 4, z, &count), PERP_OK);
                    assert_int_equal(count, expected);
                    if (expected == 0) {
                        no_solution("auto", "Painleve", p);
                    } else {
                        solves("auto", "Painleve", p);
                        double N = z_of_last[0];
                        assert_true(fabs(N - z[0]) < 1e-7 * (1.0 + N) ||
                                    (count == 2 && fabs(N - z[1]) < 1e-7 * (1.0 + N)));
                    }
                    seen[expected]++;
                }
                problem_destroy(p);
            }
        }
    }
    assert_true(seen[0] > 5 && seen[1] > 5 && seen[2] > 5);
}

// Joints as equations, friction as boxes: sticking with a high limit, slipping with a low one. What
// the limit allows is what the joint velocities say.
static void joint_friction(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke", "pivot", "enum"};
    for (int s = 0; s < 4; s++) {
        problem *stick = family_joint_friction(10.0, 0.5), *slip = family_joint_friction(0.01, 0.5);
        solves(solvers[s], "joint friction, stick", stick);
        assert_true(fabs(z_of_last[2]) < 1e-9 && fabs(z_of_last[5]) < 1e-9);
        solves(solvers[s], "joint friction, slip", slip);
        double turn = z_of_last[5] - z_of_last[2], torque = z_of_last[11];
        assert_true(turn > 0.1 && fabs(torque + 0.01) < 1e-12);
        problem_destroy(stick);
        problem_destroy(slip);
    }
}

// Redundant contacts under a box, mass ratios to 1e4: velocities are unique, and agree.
static void boxes_on_a_plane(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "lemke", "ssn"};
    const double pushes[2][3] = {{1.0, 0.3, 0}, {8.0, 2.0, 0}};
    for (int contacts = 4; contacts <= 16; contacts *= 2) {
        for (int k = 0; k < 4; k++) {
            int boxes = 1 + k / 2;
            double ratio = boxes == 1 ? 1.0 : contacts == 4 ? 1e4 : 100.0;
            pile *p = family_pile(boxes, contacts, ratio, 0.5, pushes[k % 2]);
            int nd[32], n = 3 * p->local.nc, nv = p->global.nv;
            for (int c = 0; c < p->local.nc; c++) {
                nd[c] = 8;
            }
            perp_fcp fcp = p->global;
            fcp.nd = nd;
            double first[12], scale = 0.0, *r = calloc((size_t)n, sizeof *r);
            for (int s = 0; s < 3; s++) {
                double v[12];
                perp_comp_info info;
                perp_status status = perp_fcp_solve(solvers[s], &fcp, NULL, NULL, r, v, &info);
                if (status != PERP_OK) {
                    fail_msg("%s, %d boxes on %d contacts: %s, %g (%s)", solvers[s], boxes,
                             contacts, perp_status_word(status), info.residual, info.error.text);
                }
                for (int i = 0; i < nv; i++) {
                    first[i] = s == 0 ? v[i] : first[i];
                    scale = fmax(scale, fabs(first[i]));
                }
                for (int i = 0; i < nv; i++) {
                    if (fabs(v[i] - first[i]) > 1e-6 * fmax(scale, 0.1)) {
                        fail_msg("%s, %d boxes on %d contacts: v[%d] = %g, auto %g", solvers[s],
                                 boxes, contacts, i, v[i], first[i]);
                    }
                }
            }
            free(r);
            pile_destroy(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_families_do_not_explode),
        cmocka_unit_test(plain_lemke_obeys_its_limit),
        cmocka_unit_test(nothing_cycles),
        cmocka_unit_test(infinitely_many_solutions),
        cmocka_unit_test(bimatrix_games),
        cmocka_unit_test(infeasible_with_a_proof),
        cmocka_unit_test(subset_sums),
        cmocka_unit_test(isolated_and_perturbed),
        cmocka_unit_test(monotone_families),
        cmocka_unit_test(large_and_sparse),
        cmocka_unit_test(painleve_rods),
        cmocka_unit_test(joint_friction),
        cmocka_unit_test(boxes_on_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
