// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear MCPs of hostile callers: callbacks that fail, lie or return NaN, bad arguments, bounds without room, limits,
// stops. No wrong answer may pass, whatever the Jacobian says; statuses and messages name the cause.
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/ncp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A callback that behaves as told.
typedef struct actor {
    int fails_at;         // evaluation that fails; 0: none
    perp_status failure;  // with this status
    int calls;
    double lie;  // factor of the Jacobian
} actor;

// x0^2 + x1 = 3, x0 - x1 = -1 where both are positive: (1, 2)
static perp_status pair(void *user, const double *z, double *F)
{
    actor *a = user;
    a->calls++;
    if (a->calls == a->fails_at) {
        return a->failure;
    }
    F[0] = z[0] * z[0] + z[1] - 3.0;
    F[1] = z[1] - z[0] - 1.0;
    return PERP_OK;
}

static perp_status pair_jacobian(void *user, const double *z, double *x)
{
    const actor *a = user;
    x[0] = 2.0 * z[0] * a->lie;
    x[1] = -1.0 * a->lie;
    x[2] = x[3] = 1.0 * a->lie;
    return PERP_OK;
}

static perp_ncp pair_ncp(actor *a)
{
    return (perp_ncp){.n = 2, .function = pair, .jacobian = pair_jacobian, .user = a};
}

static void failures_of_callbacks_end_the_solve(void **state)
{
    (void)state;
    static const perp_status failures[] = {PERP_ERR_ARGUMENT,  PERP_ERR_MEMORY, PERP_ERR_MODEL,
                                           PERP_ERR_IO,        PERP_ERR_RAY,    PERP_ERR_STOPPED,
                                           PERP_ERR_INFEASIBLE};
    for (size_t k = 0; k < sizeof failures / sizeof failures[0]; k++) {
        for (int at = 1; at < 6; at++) {
            actor a = {.fails_at = at, .failure = failures[k], .lie = 1.0};
            perp_ncp ncp = pair_ncp(&a);
            double z[2];
            perp_comp_info info;
            perp_status status = perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info);
            assert_int_equal(status, failures[k]);
            assert_int_equal(a.calls, at);  // not called again
            assert_non_null(strstr(info.error.text, "callback 'function'"));
            assert_true(isfinite(z[0]) && isfinite(z[1]));
            assert_true(info.residual == HUGE_VAL);
        }
    }
    // not a status of perp
    actor a = {.fails_at = 2, .lie = 1.0};
    int odd = -1000;
    memcpy(&a.failure, &odd, sizeof odd);
    perp_ncp ncp = pair_ncp(&a);
    double z[2];
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(info.error.text, "-1000"));
}

// The callback fails while the judge asks: the answer was found, and is not confirmed.
static void failures_before_the_judge_are_no_success(void **state)
{
    (void)state;
    actor counted = {.lie = 1.0};
    perp_ncp ncp = pair_ncp(&counted);
    double z[2];
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_OK);
    assert_true(fabs(z[0] - 1.0) < 1e-9 && fabs(z[1] - 2.0) < 1e-9);
    for (int at = info.evaluations + 1; at <= counted.calls; at++) {
        actor a = {.fails_at = at, .failure = PERP_ERR_IO, .lie = 1.0};
        ncp.user = &a;
        assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_ERR_IO);
        assert_non_null(strstr(info.error.text, "callback"));
    }
}

static void domain_errors_shorten_steps(void **state)
{
    (void)state;
    for (int at = 2; at < 5; at++) {
        actor a = {.fails_at = at, .failure = PERP_ERR_NUMERIC, .lie = 1.0};
        perp_ncp ncp = pair_ncp(&a);
        double z[2];
        assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
        assert_true(fabs(z[0] - 1.0) < 1e-7 && fabs(z[1] - 2.0) < 1e-7);
    }
}

// log x - 3 with x >= 0: not defined at the start 0, nor after Newton steps that overshoot.
static perp_status logarithm(void *user, const double *z, double *F)
{
    (void)user;
    F[0] = log(z[0]) - 3.0;
    F[1] = sqrt(z[1] - 1.0) - z[0];
    return PERP_OK;
}

static void starts_outside_the_domain_are_moved(void **state)
{
    (void)state;
    perp_ncp ncp = {.n = 2, .function = logarithm};
    double z[2], start[] = {0.0, 2.0};
    ncp.start = start;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    assert_true(fabs(z[0] - exp(3.0)) < 1e-6 && fabs(z[1] - exp(6.0) - 1.0) < 1e-4);
}

// Every wrong Jacobian: the answer is right or refused, never wrong.
static void lies_of_the_jacobian_give_no_wrong_answer(void **state)
{
    (void)state;
    static const double lies[] = {2.0, 0.5, -1.0, 0.0, 1e6, -1e6, 1e12, 1e100, 1e-12, 1e300, 37.0};
    for (size_t k = 0; k < sizeof lies / sizeof lies[0]; k++) {
        actor a = {.lie = lies[k]};
        perp_ncp ncp = pair_ncp(&a);
        for (int from = 0; from < 20; from++) {
            double start[] = {0.37 * from, 5.0 - 0.5 * from}, z[2];
            perp_comp_info info;
            ncp.start = start;
            perp_status status = perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info);
            if (status >= 0 && !(fabs(z[0] - 1.0) < 1e-3 && fabs(z[1] - 2.0) < 1e-3)) {
                fail_msg("lie %g, start %d: z = %g %g accepted (%g)", lies[k], from, z[0], z[1],
                         info.backward);
            }
        }
    }
}

// The judge itself at points that are no solutions.
static void the_judge_refuses_wrong_points(void **state)
{
    (void)state;
    static const double lies[] = {1.0, 1e3, 1e9, 1e100, 1e-9, 0.0, -1.0};
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        double z[] = {rng_uniform(&r, 0.0, 5.0), rng_uniform(&r, 0.0, 5.0)};
        bool right = fabs(z[0] - 1.0) < 1e-2 && fabs(z[1] - 2.0) < 1e-2;
        for (size_t k = 0; k < sizeof lies / sizeof lies[0] && !right; k++) {
            actor a = {.lie = lies[k]};
            perp_ncp ncp = pair_ncp(&a);
            perp_mcp_residuals e;
            CHECK(perp_ncp_judge(&ncp, z, NULL, &e) == PERP_OK, seed);
            CHECK(fmax(e.backward, fmax(e.plain, e.scaled)) > 1e-5, seed);
        }
    }
    // the solution passes
    actor a = {.lie = 1.0};
    perp_ncp ncp = pair_ncp(&a);
    double z[] = {1.0, 2.0};
    perp_mcp_residuals e;
    assert_int_equal(perp_ncp_judge(&ncp, z, NULL, &e), PERP_OK);
    assert_true(fmax(e.backward, fmax(e.plain, e.scaled)) < 1e-15);
}

static void a_wrong_jacobian_is_found(void **state)
{
    (void)state;
    actor a = {.lie = 1.0};
    perp_ncp ncp = pair_ncp(&a);
    double z[] = {0.7, 0.4};
    perp_ncp_difference d;
    assert_int_equal(perp_ncp_compare(&ncp, z, NULL, &d), PERP_OK);
    assert_true(d.error < 1e-7);
    a.lie = 1.01;
    assert_int_equal(perp_ncp_compare(&ncp, z, NULL, &d), PERP_OK);
    assert_true(d.error > 5e-3);
    // an entry that the pattern leaves out
    int p[] = {0, 1, 2}, i[] = {0, 1};
    ncp.p = p;
    ncp.i = i;
    ncp.jacobian = NULL;
    assert_int_equal(perp_ncp_compare(&ncp, z, NULL, &d), PERP_OK);
    assert_true(d.error > 0.5);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    actor a = {.lie = 1.0};
    perp_ncp good = pair_ncp(&a);
    double z[2] = {0.0, 0.0}, nan_start[] = {0.0, NAN}, low[] = {1.0, 2.0}, high[] = {1.0, 1.0};
    double zero[] = {1.0, 0.0}, infinite[] = {HUGE_VAL, 0.0};
    int starts[] = {0, 2, 1}, rows[] = {0, 5, 1}, fine[] = {0, 1, 2}, shifted[] = {1, 1, 2};
    perp_ncp bad[9];
    for (int k = 0; k < 9; k++) {
        bad[k] = good;
    }
    bad[0].n = -1;
    bad[1].function = NULL;
    bad[2].start = nan_start;
    bad[3].lower = low;
    bad[3].upper = high;
    bad[4].typical = zero;
    bad[5].p = starts;
    bad[5].i = rows;
    bad[6].p = fine;
    bad[6].i = rows + 1;
    bad[7].p = shifted;
    bad[7].i = rows;
    bad[8].lower = infinite;
    for (int k = 0; k < 9; k++) {
        perp_comp_info info;
        perp_mcp_residuals e;
        perp_ncp_difference d;
        assert_int_equal(perp_ncp_solve(NULL, &bad[k], NULL, NULL, z, &info), PERP_ERR_ARGUMENT);
        assert_true(strlen(info.error.text) > 10);
        assert_int_equal(perp_ncp_judge(&bad[k], z, NULL, &e), PERP_ERR_ARGUMENT);
        assert_int_equal(perp_ncp_compare(&bad[k], z, NULL, &d), PERP_ERR_ARGUMENT);
    }
    assert_int_equal(perp_ncp_solve(NULL, NULL, NULL, NULL, z, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_ncp_solve(NULL, &good, NULL, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_ncp_solve("lemke", &good, NULL, NULL, z, NULL), PERP_ERR_REFUSED);
    assert_int_equal(perp_ncp_solve("nobody", &good, NULL, NULL, z, NULL), PERP_ERR_ARGUMENT);
    perp_comp_options options = {0};
    assert_int_equal(perp_ncp_solve(NULL, &good, &options, NULL, z, NULL), PERP_ERR_DEF);
    // linear problems are not for newton
    double A[] = {1.0}, b[] = {-1.0};
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, A), b);
    assert_int_equal(perp_mcp_solve("newton", &mcp, NULL, NULL, z, NULL), PERP_ERR_REFUSED);
    good.n = 0;
    assert_int_equal(perp_ncp_solve(NULL, &good, NULL, NULL, z, NULL), PERP_OK);
}

// Fixed variables, and a box of one rounding.
static void narrow_bounds_are_kept(void **state)
{
    (void)state;
    actor a = {.lie = 1.0};
    perp_ncp ncp = pair_ncp(&a);
    double low[] = {0.5, 0.0}, high[] = {0.5, HUGE_VAL}, z[2];
    ncp.lower = low;
    ncp.upper = high;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    assert_true(z[0] == 0.5 && fabs(z[1] - 1.5) < 1e-9);
    high[0] = nextafter(0.5, 1.0);
    ncp.jacobian = NULL;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    assert_true(z[0] >= 0.5 && z[0] <= high[0] && fabs(z[1] - 1.5) < 1e-7);
}

// ── Limits ───────────────────────────────────────────────────────────────────────────────────────

// No zero: x^2 + 1 = 0, slowly.
static perp_status never(void *user, const double *z, double *F)
{
    (void)user;
    F[0] = z[0] * z[0] + 1.0;
    return PERP_OK;
}

static bool stop_now(void *user)
{
    int *left = user;
    return --*left < 0;
}

static void limits_are_obeyed(void **state)
{
    (void)state;
    double free[] = {-HUGE_VAL}, z[1];
    perp_ncp ncp = {.n = 1, .lower = free, .function = never};
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.max_iterations = 3;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, z, &info), PERP_ERR_LIMIT);
    assert_true(info.iterations <= 3);
    assert_non_null(strstr(info.error.text, "step limit"));
    options.max_iterations = 0;
    options.max_seconds = 1e-9;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, z, &info), PERP_ERR_LIMIT);
    int left = 3;
    perp_env env = {.stop = stop_now, .user = &left};
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, &env, z, &info), PERP_ERR_STOPPED);
}

// Overflow everywhere but at the start.
static perp_status cliff(void *user, const double *z, double *F)
{
    (void)user;
    F[0] = z[0] == 1.0 ? 1e308 : HUGE_VAL;
    return PERP_OK;
}

static perp_status constant(void *user, const double *z, double *F)
{
    (void)user;
    (void)z;
    F[0] = NAN;
    return PERP_OK;
}

static void values_that_are_not_finite_end_in_a_status(void **state)
{
    (void)state;
    double free[] = {-HUGE_VAL}, start[] = {1.0}, z[1];
    perp_ncp ncp = {.n = 1, .lower = free, .start = start, .function = cliff};
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_ERR_LIMIT);
    assert_true(isfinite(z[0]));
    ncp.function = constant;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_ERR_LIMIT);
    assert_non_null(strstr(info.error.text, "not defined"));
}

// Guesses that are none.
static void bad_guesses_do_no_harm(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 100)
    {
        rng r = rng_seed(seed);
        actor a = {.lie = 1.0};
        perp_ncp ncp = pair_ncp(&a);
        perp_comp_options options = perp_comp_options_default();
        int8_t basis[] = {(int8_t)rng_below(&r, 256), (int8_t)rng_below(&r, 256)};
        double z[] = {rng_normal(&r) * 1e3, NAN};
        options.warm_start = true;
        options.basis = basis;
        CHECK(perp_ncp_solve(NULL, &ncp, &options, NULL, z, NULL) == PERP_OK, seed);
        CHECK(fabs(z[0] - 1.0) < 1e-7 && fabs(z[1] - 2.0) < 1e-7, seed);
        CHECK(basis[0] == PERP_BASIS_BASIC && basis[1] == PERP_BASIS_BASIC, seed);
    }
}

// A double root at 0 is what the iterates tend to, and never have: it is tried.
static perp_status square(void *user, const double *z, double *F)
{
    (void)user;
    F[0] = z[0] * z[0];
    return PERP_OK;
}

// One whose derivative is infinite at 0; and with a jump there that leaves no solution: 0 is tried, and is none.
static perp_status root(void *user, const double *z, double *F)
{
    const double *above = user;
    F[0] = sqrt(z[0]) + (z[0] < 1e-9 ? *above : 0.0);
    return PERP_OK;
}

static void limits_of_iterates_are_tried(void **state)
{
    (void)state;
    double free[] = {-HUGE_VAL}, one[] = {1.0}, z[1];
    perp_ncp ncp = {.n = 1, .lower = free, .start = one, .function = square};
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    assert_true(z[0] == 0.0);
    double none[] = {0.0}, jump[] = {-1.0};
    ncp = (perp_ncp){.n = 1, .start = one, .function = root, .user = none};
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    assert_true(z[0] == 0.0);
    ncp.user = jump;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_ERR_LIMIT);
}

// The same bits, with a new workspace, a used one, and without.
static void the_same_problem_gives_the_same_bits(void **state)
{
    (void)state;
    perp_workspace *work = perp_workspace_create(NULL);
    double first[2];
    for (int k = 0; k < 4; k++) {
        actor a = {.lie = 1.0};
        perp_ncp ncp = pair_ncp(&a);
        perp_comp_options options = perp_comp_options_default();
        options.work = k > 0 ? work : NULL;
        double z[2];
        assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, z, NULL), PERP_OK);
        if (k == 0) {
            memcpy(first, z, sizeof z);
        }
        assert_memory_equal(first, z, sizeof z);
    }
    perp_workspace_destroy(work);
}

// A linear problem with a positive definite matrix, by differences: variables that Newton's steps hold at a bound stay there.
// Rounding of the factors left z0 = 2.5e-19 where F0 = 0.008, which no judge accepts.
static perp_status held_linear(void *user, const double *z, double *F)
{
    (void)user;
    F[0] = -0.56375551568835558 + 1.4674953426604038 * z[0] + 1.8014632227991108 * z[1] +
           0.48309720151894853 * z[2];
    F[1] = -0.41474017766945415 - 1.7312867685992774 * z[0] + 0.74764242905487277 * z[1] +
           0.40159305158685932 * z[2];
    F[2] = -0.83036345755962315 + 0.9704714218876398 * z[0] - 1.2220731269045517 * z[1] +
           1.0545094117182783 * z[2];
    return PERP_OK;
}

static void what_is_held_stays_at_its_bound(void **state)
{
    (void)state;
    const double upper[] = {3.7257681360612644, INFINITY, INFINITY};
    const double start[] = {0.0018177906891284623, 0.1401323330631089, 0.081669716348764188};
    perp_ncp ncp = {.n = 3, .upper = upper, .start = start, .function = held_linear};
    perp_comp_options options = perp_comp_options_default();
    double z[3];
    assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, z, NULL), PERP_OK);
    assert_true(z[0] == 0.0 && fabs(z[1] - 0.08120817334) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_of_callbacks_end_the_solve),
        cmocka_unit_test(failures_before_the_judge_are_no_success),
        cmocka_unit_test(domain_errors_shorten_steps),
        cmocka_unit_test(starts_outside_the_domain_are_moved),
        cmocka_unit_test(lies_of_the_jacobian_give_no_wrong_answer),
        cmocka_unit_test(the_judge_refuses_wrong_points),
        cmocka_unit_test(a_wrong_jacobian_is_found),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(narrow_bounds_are_kept),
        cmocka_unit_test(limits_are_obeyed),
        cmocka_unit_test(values_that_are_not_finite_end_in_a_status),
        cmocka_unit_test(bad_guesses_do_no_harm),
        cmocka_unit_test(limits_of_iterates_are_tried),
        cmocka_unit_test(what_is_held_stays_at_its_bound),
        cmocka_unit_test(the_same_problem_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
