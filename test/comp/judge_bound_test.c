// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge's first look at few contacts, in double: its bounds against long double.
#include "support/cmocka.h"
#include "support/random.h"

#include "comp/judge/judge.h"

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

// Bounds are no less than what long double finds, and little more.
static void bounds_enclose(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    FOR_SEEDS(seed, 300)
    {
        rng random = rng_seed(seed);
        contacts p;
        int dim = 2 + rng_below(&random, 2), nc = 1 + rng_below(&random, 9), n = nc * dim;
        random_contacts(&p, nc, dim, n, &random);
        p.mu[0] = seed % 3 ? p.mu[0] : 20.0;  // friction that is called strong
        double r[ROOM], scale = pow(10.0, -14.0 + 14.0 * rng_uniform(&random, 0.0, 1.0));
        if (perp_fcp_solve("ssn", &p.fcp, NULL, NULL, r, NULL, NULL) < 0) {
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
        cmocka_unit_test(bounds_enclose),
        cmocka_unit_test(bounds_own_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
