// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Few contacts: Newton's method without its proximal loop, and the judge's first look in double.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/random.h"

#include "comp/judge/judge.h"
#include "comp/newton/ssn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 36 };

typedef struct contacts {
    perp_fcp fcp;
    double W[ROOM * ROOM], q[ROOM], mu[ROOM];
} contacts;

// W = G'G with G of `rank` rows: redundant when that is below n.
static void random_contacts(contacts *p, int nc, int dim, int rank, rng *r)
{
    int n = nc * dim;
    double G[ROOM * ROOM];
    for (int k = 0; k < rank * n; k++) {
        G[k] = rng_normal(r);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            p->W[i + j * n] = 0.0;
            for (int k = 0; k < rank; k++) {
                p->W[i + j * n] += G[k + i * rank] * G[k + j * rank];
            }
        }
    }
    double v[ROOM];
    for (int k = 0; k < rank; k++) {
        v[k] = rng_normal(r);
    }
    for (int i = 0; i < n; i++) {
        p->mu[i] = rng_uniform(r, 0.0, 1.0);
        p->q[i] = 0.0;
        for (int k = 0; k < rank; k++) {
            p->q[i] += G[k + i * rank] * v[k];
        }
    }
    p->fcp = (perp_fcp){.nc = nc, .dim = dim, .mu = p->mu, .q = p->q};
    p->fcp.W = perp_matrix_dense(n, n, p->W);
}

static perp_status quick(const perp_fcp *fcp, bool warm, double *r, int *steps)
{
    perp_comp_options options = perp_comp_options_default();
    options.warm_start = warm;
    pp_arena *arena = pp_arena_create(NULL);
    pp_job job = {.options = &options, .arena = arena, .deadline = PP_INF};
    pp_report report = {0};
    assert_true(pp_ssn_quick_fits(fcp, &options));
    perp_status status = pp_ssn_quick(fcp, &job, r, NULL, &report);
    *steps = report.iterations;
    pp_arena_destroy(arena);
    return status;
}

static double judged(const perp_fcp *fcp, const double *r)
{
    perp_fcp_residuals out;
    assert_int_equal(perp_fcp_judge(fcp, r, NULL, NULL, &out), PERP_OK);
    return fmax(out.plain, out.scaled);
}

// What it calls solved is, most are, and a failure leaves r alone.
static void what_it_solves_is_solved(void **state)
{
    (void)state;
    int solved = 0, tried = 0;
    FOR_SEEDS(seed, 300)
    {
        rng random = rng_seed(seed);
        contacts p;
        int dim = 2 + rng_below(&random, 2), nc = 1 + rng_below(&random, ROOM / 3), steps;
        int rank = 3 + rng_below(&random, nc * dim);
        rank = rank < nc * dim ? rank : nc * dim;
        random_contacts(&p, nc, dim, rank, &random);
        double r[ROOM], before[ROOM];
        for (int i = 0; i < nc * dim; i++) {
            r[i] = before[i] = rng_normal(&random);
        }
        tried++;
        if (quick(&p.fcp, false, r, &steps) == PERP_OK) {
            solved++;
            CHECK(judged(&p.fcp, r) <= 1e-8, seed);
        } else {
            CHECK(memcmp(r, before, (size_t)(nc * dim) * sizeof *r) == 0, seed);
        }
    }
    assert_true(10 * solved > 8 * tried);
}

// From the answer no step is taken; from near it, where contacts are independent, two or three.
static void guesses_save_steps(void **state)
{
    (void)state;
    int near = 0, tried = 0;
    FOR_SEEDS(seed, 100)
    {
        rng random = rng_seed(seed);
        contacts p;
        double r[ROOM];
        int steps;
        random_contacts(&p, 5, 3, 15, &random);
        for (int i = 0; i < 15; i++) {
            p.W[i * 16] += 5.0;
        }
        if (quick(&p.fcp, false, r, &steps) != PERP_OK) {
            continue;
        }
        CHECK(quick(&p.fcp, true, r, &steps) == PERP_OK && steps == 0, seed);
        for (int i = 0; i < 15; i++) {
            p.q[i] *= 1.0 + 1e-3 * rng_normal(&random);
        }
        CHECK(quick(&p.fcp, true, r, &steps) == PERP_OK, seed);
        tried++;
        near += steps <= 3;
    }
    assert_true(tried > 80 && 10 * near > 9 * tried);
}

static void piles_are_solved(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double push[3] = {k % 2 ? 0.4 : 0.0, 0.0, 0.0};
        pile *p = family_pile(1, k < 2 ? 4 : 8, 1.0, 0.4, push);
        double r[ROOM];
        int steps;
        assert_int_equal(quick(&p->local, false, r, &steps), PERP_OK);
        assert_true(judged(&p->local, r) <= 1e-8);
        pile_destroy(p);
    }
}

// Bounds are no less than what long double finds, and little more.
static void bounds_enclose(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    FOR_SEEDS(seed, 300)
    {
        rng random = rng_seed(seed);
        contacts p;
        int dim = 2 + rng_below(&random, 2), nc = 1 + rng_below(&random, 9), n = nc * dim, steps;
        random_contacts(&p, nc, dim, n, &random);
        p.mu[0] = seed % 3 ? p.mu[0] : 20.0;  // friction that is called strong
        double r[ROOM], scale = pow(10.0, -14.0 + 14.0 * rng_uniform(&random, 0.0, 1.0));
        if (quick(&p.fcp, false, r, &steps) < 0) {
            memset(r, 0, sizeof r);
        }
        for (int i = 0; i < n; i++) {
            r[i] += scale * rng_normal(&random);
        }
        perp_fcp_residuals exact, bound;
        assert_int_equal(perp_fcp_judge(&p.fcp, r, NULL, NULL, &exact), PERP_OK);
        CHECK(pp_fcp_judge_bound(&p.fcp, r, PP_INF, arena, &bound), seed);
        CHECK(bound.plain >= exact.plain && bound.plain <= 1.001 * exact.plain + 1e-11, seed);
        CHECK(bound.scaled >= exact.scaled && bound.scaled <= 1.001 * exact.scaled + 1e-11, seed);
    }
    pp_arena_destroy(arena);
}

// Reactions that hide velocities: double says so, and long double decides.
static void bounds_own_up(void **state)
{
    (void)state;
    const double W[] = {1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1}, q[] = {-1, 0, -1, 0};
    const double mu[] = {1, 1}, r[] = {1e12 + 1.0, 0, -1e12, 0};
    perp_fcp fcp = {.nc = 2, .dim = 2, .mu = mu, .q = q, .W = perp_matrix_dense(4, 4, W)};
    pp_arena *arena = pp_arena_create(NULL);
    perp_fcp_residuals bound;
    assert_false(pp_fcp_judge_bound(&fcp, r, 1e-8, arena, &bound));
    assert_true(bound.plain > 1e-6);
    pp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_solves_is_solved),
        cmocka_unit_test(guesses_save_steps),
        cmocka_unit_test(piles_are_solved),
        cmocka_unit_test(bounds_enclose),
        cmocka_unit_test(bounds_own_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
