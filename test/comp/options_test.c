// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller can do wrong: each a status and a sentence, never a crash, z finite. And what the
// options promise: the same bits twice, limits obeyed, a workspace that stops allocating, warm starts.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/fault.h"
#include "support/truth.h"

#include <math.h>
#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

#define INF HUGE_VAL

static const double identity[4] = {1, 0, 0, 1}, load[2] = {-1, -2};

static perp_mcp sound(void)
{
    return perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, identity), load);
}

static void refused(const perp_mcp *mcp, const char *what)
{
    double z[2] = {7.0, 7.0};
    perp_comp_info info;
    perp_status status = perp_mcp_solve("auto", mcp, NULL, NULL, z, &info);
    if (status != PERP_ERR_ARGUMENT || strlen(info.error.text) < 10 ||
        info.error.status != status) {
        fail_msg("%s: status %d, '%s'", what, status, info.error.text);
    }
    assert_true(isfinite(z[0]) && isfinite(z[1]));
    perp_mcp_residuals out;
    int count;
    double y[2] = {0, 0};
    assert_int_equal(perp_mcp_judge(mcp, y, NULL, &out), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_enumerate(mcp, NULL, 1, z, &count), PERP_ERR_ARGUMENT);
    assert_true(perp_mcp_farkas(mcp, y) == INF);
}

static void bad_sizes_and_numbers(void **state)
{
    (void)state;
    refused(NULL, "no problem");
    perp_mcp mcp = sound();
    mcp.n = 0;
    refused(&mcp, "n = 0");
    mcp.n = -3;
    refused(&mcp, "n < 0");
    mcp.n = 3;
    refused(&mcp, "A of another size");
    mcp = sound();
    mcp.b = NULL;
    refused(&mcp, "b missing");
    const double nan_load[2] = {0, NAN}, inf_load[2] = {-INF, 0};
    mcp.b = nan_load;
    refused(&mcp, "NaN in b");
    mcp.b = inf_load;
    refused(&mcp, "infinity in b");
    mcp = sound();
    const double nan_matrix[4] = {1, NAN, 0, 1}, inf_matrix[4] = {1, 0, INF, 1};
    mcp.A.dense = nan_matrix;
    refused(&mcp, "NaN in A");
    mcp.A.dense = inf_matrix;
    refused(&mcp, "infinity in A");
}

static void bad_bounds(void **state)
{
    (void)state;
    perp_mcp mcp = sound();
    const double lower[2] = {0, 2}, upper[2] = {1, 1}, no_number[2] = {0, NAN};
    const double plus[2] = {0, INF}, minus[2] = {1, -INF};
    mcp.lower = lower, mcp.upper = upper;
    refused(&mcp, "lower > upper");
    mcp.lower = no_number, mcp.upper = NULL;
    refused(&mcp, "NaN bound");
    mcp.lower = NULL, mcp.upper = no_number;
    refused(&mcp, "NaN bound");
    mcp.lower = plus, mcp.upper = NULL;
    refused(&mcp, "lower = +inf");
    mcp.lower = NULL, mcp.upper = minus;
    refused(&mcp, "upper = -inf");
}

static void bad_columns(void **state)
{
    (void)state;
    const int p[3] = {0, 1, 2}, i[2] = {0, 1};
    const double x[2] = {1, 1}, nan_x[2] = {1, NAN};
    const int late[3] = {1, 1, 2}, back[3] = {0, 2, 1}, outside[2] = {0, 2}, negative[2] = {-1, 1};
    const int all[3] = {0, 2, 2}, twice[2] = {1, 1}, unsorted[2] = {1, 0};
    perp_mcp mcp = sound();
    mcp.A = perp_matrix_csc(2, 2, p, i, nan_x);
    refused(&mcp, "NaN in CSC");
    mcp.A = perp_matrix_csc(2, 2, late, i, x);
    refused(&mcp, "p[0] != 0");
    mcp.A = perp_matrix_csc(2, 2, back, i, x);
    refused(&mcp, "p decreases");
    mcp.A = perp_matrix_csc(2, 2, p, outside, x);
    refused(&mcp, "row outside");
    mcp.A = perp_matrix_csc(2, 2, p, negative, x);
    refused(&mcp, "row negative");
    mcp.A = perp_matrix_csc(2, 2, all, twice, x);
    refused(&mcp, "row twice");
    mcp.A = perp_matrix_csc(2, 2, all, unsorted, x);
    refused(&mcp, "rows unsorted");
    mcp.A = perp_matrix_csc(2, 2, NULL, i, x);
    refused(&mcp, "p missing");
    mcp.A = perp_matrix_csc(2, 2, p, NULL, x);
    refused(&mcp, "i missing");
    mcp.A = perp_matrix_csc(2, 2, p, i, NULL);
    refused(&mcp, "x missing");
}

static void bad_options(void **state)
{
    (void)state;
    perp_mcp mcp = sound();
    double z[2] = {0, 0};
    perp_comp_info info;
    perp_comp_options options = {0};
    assert_int_equal(perp_mcp_solve("auto", &mcp, &options, NULL, z, &info), PERP_ERR_DEF);
    options = perp_comp_options_default();
    const double tolerances[3] = {0.0, -1.0, NAN};
    for (int k = 0; k < 3; k++) {
        options.tolerance = tolerances[k];
        assert_int_equal(perp_mcp_solve("auto", &mcp, &options, NULL, z, &info), PERP_ERR_ARGUMENT);
    }
    options = perp_comp_options_default();
    options.max_iterations = -1;
    assert_int_equal(perp_mcp_solve("auto", &mcp, &options, NULL, z, &info), PERP_ERR_ARGUMENT);
    options = perp_comp_options_default();
    options.max_seconds = NAN;
    assert_int_equal(perp_mcp_solve("auto", &mcp, &options, NULL, z, &info), PERP_ERR_ARGUMENT);
    options = perp_comp_options_default();
    options.max_work = -1.0;
    assert_int_equal(perp_mcp_solve("auto", &mcp, &options, NULL, z, &info), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_solve("nobody", &mcp, NULL, NULL, z, &info), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(info.error.text, "nobody"));
    assert_int_equal(perp_mcp_solve("lemke", &mcp, NULL, NULL, NULL, &info), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_solve("gs", &mcp, NULL, NULL, z, &info), PERP_ERR_REFUSED);
    assert_int_equal(perp_mcp_solve("lemke", &mcp, NULL, NULL, z, NULL), PERP_OK);
}

static void bad_contacts(void **state)
{
    (void)state;
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0};
    const double mu = 0.5, negative = -0.1, not = NAN;
    const int two = 2;
    double r[3];
    const perp_fcp good = {.nc = 1, .dim = 3, .mu = &mu, .W = perp_matrix_dense(3, 3, W), .q = q};
    perp_fcp bad[10];
    for (int k = 0; k < 10; k++) {
        bad[k] = good;
    }
    bad[0].nc = 0;
    bad[1].dim = 1;
    bad[2].dim = 7;
    bad[3].mu = NULL;
    bad[4].mu = &negative;
    bad[5].mu = &not ;
    bad[6].nd = &two;
    bad[7].q = NULL;
    bad[8].W.rows = 2;
    bad[9].nv = -1;
    for (int k = 0; k < 10; k++) {
        perp_comp_info info;
        perp_fcp_residuals out;
        perp_pyramid *pyramid = NULL;
        perp_status status = perp_fcp_solve("auto", &bad[k], NULL, NULL, r, NULL, &info);
        if (status != PERP_ERR_ARGUMENT || strlen(info.error.text) < 10) {
            fail_msg("bad contact problem %d: status %d, '%s'", k, status, info.error.text);
        }
        assert_int_equal(perp_fcp_judge(&bad[k], q, NULL, NULL, &out), PERP_ERR_ARGUMENT);
        assert_int_equal(perp_pyramid_create(&bad[k], 4, NULL, &pyramid), PERP_ERR_ARGUMENT);
    }
    perp_comp_info info;
    assert_int_equal(perp_fcp_solve("auto", NULL, NULL, NULL, r, NULL, &info), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_fcp_solve("auto", &good, NULL, NULL, NULL, NULL, &info),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_fcp_solve("pivot", &good, NULL, NULL, r, NULL, &info), PERP_ERR_REFUSED);
}

static void registry_is_complete(void **state)
{
    (void)state;
    for (int k = 0; k < perp_solver_count(); k++) {
        const perp_solver_card *card = perp_solver_at(k);
        assert_non_null(card);
        assert_ptr_equal(perp_solver_find(card->name), card);
        assert_true(card->classes != 0);
        assert_true(card->proven && card->reference && card->cost && card->failure);
        if (card->classes & PERP_CLASS_STEP) {  // known by name, and nothing to call by it
            double z = 0.0, one = 1.0;
            perp_mcp mcp = {.n = 1, .A = {.rows = 1, .cols = 1, .dense = &one}, .b = &one};
            assert_int_equal(card->classes, PERP_CLASS_STEP);
            assert_int_equal(perp_mcp_solve(card->name, &mcp, NULL, NULL, &z, NULL),
                             PERP_ERR_REFUSED);
        }
    }
    assert_null(perp_solver_at(-1));
    assert_null(perp_solver_at(perp_solver_count()));
    assert_null(perp_solver_find("nobody"));
    assert_null(perp_solver_find(NULL));
}

// ── Promises ─────────────────────────────────────────────────────────────────────────────────────

static const char *const mcp_solvers[] = {"auto", "lemke", "pivot", "ssn", "enum"};
enum { MCP_SOLVERS = sizeof mcp_solvers / sizeof mcp_solvers[0] };

static void same_bits_twice(void **state)
{
    (void)state;
    rng r = rng_seed(5);
    problem *p = family_harker_pang(12, &r);
    problem *q = family_boxed_spd(10, &r);
    const perp_mcp *mcp[2] = {&p->mcp, &q->mcp};
    perp_workspace *work = perp_workspace_create(NULL);
    for (int s = 0; s < MCP_SOLVERS; s++) {
        for (int k = 0; k < 2; k++) {
            double z[3][12];
            perp_comp_info info[3];
            perp_comp_options options = perp_comp_options_default();
            for (int t = 0; t < 3; t++) {
                options.work = t == 0 ? NULL : work;  // and the same with kept memory
                assert_true(
                    perp_mcp_solve(mcp_solvers[s], mcp[k], &options, NULL, z[t], &info[t]) >= 0);
                assert_memory_equal(z[t], z[0], (size_t)mcp[k]->n * sizeof(double));
                assert_int_equal(info[t].iterations, info[0].iterations);
            }
        }
    }
    perp_workspace_destroy(work);
    problem_destroy(p);
    problem_destroy(q);
}

// With a workspace, a size seen before allocates nothing.
static void a_workspace_stops_allocating(void **state)
{
    (void)state;
    rng r = rng_seed(6);
    problem *p = family_harker_pang(60, &r);
    double z[60];
    fault f = {0};
    perp_env env = fault_env(&f);
    perp_workspace *work = perp_workspace_create(&env);
    perp_comp_options options = perp_comp_options_default();
    options.work = work;
    for (int k = 0; k < 2; k++) {
        assert_true(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, NULL) >= 0);
    }
    int before = f.calls;
    for (int k = 0; k < 3; k++) {
        assert_true(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, NULL) >= 0);
    }
    assert_int_equal(f.calls, before);
    perp_workspace_destroy(work);
    assert_int_equal(f.live, 0);
    problem_destroy(p);
}

static void a_workspace_stops_allocating_for_contact(void **state)
{
    (void)state;
    static const char *const solvers[] = {"ssn", "gs", "eg", "auto"};
    const double push[3] = {0.2, 0.1, 0.0};
    pile *p = family_pile(2, 4, 1.0, 0.5, push);
    double r[24], v[12];
    for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
        fault f = {0};
        perp_env env = fault_env(&f);
        perp_comp_options options = perp_comp_options_default();
        options.work = perp_workspace_create(&env);
        int before = 0;
        for (int k = 0; k < 5; k++) {
            before = k == 2 ? f.calls : before;
            assert_true(perp_fcp_solve(solvers[s], &p->local, &options, &env, r, NULL, NULL) >= 0);
            assert_true(perp_fcp_solve(solvers[s], &p->global, &options, &env, r, v, NULL) >= 0);
        }
        assert_int_equal(f.calls, before);
        perp_workspace_destroy(options.work);
        assert_int_equal(f.live, 0);
    }
    pile_destroy(p);
}

// Every solver, stopped early: a status, a reason, finite numbers inside the bounds.
static void limits_are_obeyed(void **state)
{
    (void)state;
    rng r = rng_seed(7);
    problem *p = family_boxed_spd(12, &r);
    for (int s = 0; s < MCP_SOLVERS; s++) {
        for (int limit = 1; limit <= 3; limit++) {
            double z[12];
            perp_comp_info info;
            perp_comp_options options = perp_comp_options_default();
            options.max_iterations = limit;
            perp_status status = perp_mcp_solve(mcp_solvers[s], &p->mcp, &options, NULL, z, &info);
            assert_true(strcmp(mcp_solvers[s], "auto") == 0 || info.iterations <= limit);
            assert_true(strlen(info.error.text) > 0);
            assert_true(status < 0 ? isfinite(info.residual) : info.residual <= options.loose);
            for (int i = 0; i < 12; i++) {
                assert_true(z[i] >= p->lower[i] && z[i] <= p->upper[i]);
            }
        }
    }
    problem_destroy(p);
}

static void time_is_a_limit(void **state)
{
    (void)state;
    problem *p = family_murty_lemke(40);
    double z[40];
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 2000000000;
    options.max_seconds = 0.02;
    perp_status status = perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &info);
    assert_int_equal(status, PERP_ERR_LIMIT);
    assert_true(info.seconds < 1.0);
    problem_destroy(p);
}

// Counted, not timed: it ends after the same pivot every time.
static void work_is_a_limit(void **state)
{
    (void)state;
    problem *p = family_murty_lemke(40);
    double z[40];
    perp_comp_info info, again;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 2000000000;
    options.max_work = 3.0;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &info), PERP_ERR_LIMIT);
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &again), PERP_ERR_LIMIT);
    assert_true(info.work >= 3.0 && info.work < 3.1);
    assert_true(info.iterations == again.iterations && info.work == again.work);
    options.max_work = 6.0;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &again), PERP_ERR_LIMIT);
    assert_true(again.iterations > info.iterations);
    problem_destroy(p);
}

// The basis of a solution, given back with a slightly moved load, saves most pivots.
static void a_warm_basis_saves_pivots(void **state)
{
    (void)state;
    enum { N = 60 };
    long cold = 0, warm = 0;
    FOR_SEEDS(seed, 10)
    {
        rng r = rng_seed(seed);
        problem *p = seed % 2 ? family_harker_pang(N, &r) : family_boxed_spd(N, &r);
        double z[N], warm_z[N];
        int8_t basis[N];
        perp_comp_info info;
        perp_comp_options options = perp_comp_options_default();
        options.basis = basis;
        CHECK(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &info) >= 0, seed);
        for (int i = 0; i < N; i++) {
            bool between = z[i] > p->lower[i] + 1e-12 && z[i] < p->upper[i] - 1e-12;
            CHECK(!between || basis[i] == PERP_BASIS_BASIC, seed);
            p->b[i] *= 1.0 + 0.01 * rng_uniform(&r, -1.0, 1.0);
        }
        memcpy(warm_z, z, sizeof z);
        options.warm_start = true;
        CHECK(perp_mcp_solve("lemke", &p->mcp, &options, NULL, warm_z, &info) >= 0, seed);
        warm += info.iterations;
        options.warm_start = false;
        CHECK(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &info) >= 0, seed);
        cold += info.iterations;
        for (int i = 0; i < N; i++) {
            CHECK(fabs(z[i] - warm_z[i]) <= 1e-7 * (1.0 + fabs(z[i])), seed);
        }
        problem_destroy(p);
    }
    if (3 * warm >= cold) {
        fail_msg("%ld pivots warm, %ld cold", warm, cold);
    }
}

// Nonsense as a warm start must not hurt.
static void nonsense_as_a_warm_start(void **state)
{
    (void)state;
    for (int s = 0; s < MCP_SOLVERS; s++) {
        FOR_SEEDS(seed, 20)
        {
            rng r = rng_seed(seed);
            problem *p = family_boxed_spd(8, &r);
            double z[8];
            int8_t basis[8];
            const double odd[5] = {NAN, INF, -INF, 1e300, -7.0};
            for (int i = 0; i < 8; i++) {
                z[i] = odd[rng_below(&r, 5)];
                basis[i] = (int8_t)(rng_below(&r, 256) - 128);
            }
            perp_comp_options options = perp_comp_options_default();
            options.warm_start = true;
            options.basis = basis;
            CHECK(perp_mcp_solve(mcp_solvers[s], &p->mcp, &options, NULL, z, NULL) >= 0, seed);
            CHECK(truth_plain(&p->mcp, z) <= 1e-8, seed);
            problem_destroy(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_sizes_and_numbers),
        cmocka_unit_test(bad_bounds),
        cmocka_unit_test(bad_columns),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(bad_contacts),
        cmocka_unit_test(registry_is_complete),
        cmocka_unit_test(same_bits_twice),
        cmocka_unit_test(a_workspace_stops_allocating),
        cmocka_unit_test(a_workspace_stops_allocating_for_contact),
        cmocka_unit_test(limits_are_obeyed),
        cmocka_unit_test(time_is_a_limit),
        cmocka_unit_test(work_is_a_limit),
        cmocka_unit_test(a_warm_basis_saves_pivots),
        cmocka_unit_test(nonsense_as_a_warm_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
