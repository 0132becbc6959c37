// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemke with the sparse basis, which it takes for sparse problems with more than 400 variables: the
// same answers as the dense basis, equations kept as equations, infeasibility, limits, warm starts,
// failing memory.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/fault.h"
#include "support/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BALLS = 60, V = 3 * BALLS };

static double *doubles(int n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    return x;
}

static void solve(const perp_mcp *mcp, double *z)
{
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.comparable = true;  // balls of one scene: cos 90 degrees is a rounding of zero
    perp_status status = perp_mcp_solve("lemke", mcp, &options, NULL, z, &info);
    if (status != PERP_OK || truth_plain(mcp, z) > 1e-8) {
        fail_msg("n = %d: %s, %s", mcp->n, perp_status_word(status), info.error.text);
    }
}

// The obstacle problem has an M-matrix, so its solution is unique.
static void same_as_dense(void **state)
{
    (void)state;
    problem *p = family_obstacle(22);
    double *A = doubles(p->n * p->n), *z = doubles(p->n), *z_dense = doubles(p->n);
    for (int j = 0; j < p->n; j++) {
        for (int k = p->p[j]; k < p->p[j + 1]; k++) {
            A[p->i[k] + j * p->n] = p->x[k];
        }
    }
    perp_mcp dense = p->mcp;
    dense.A = perp_matrix_dense(p->n, p->n, A);
    solve(&p->mcp, z);
    solve(&dense, z_dense);
    for (int i = 0; i < p->n; i++) {
        assert_true(fabs(z[i] - z_dense[i]) <= 1e-9);
    }
    problem_destroy(p);
    free(A), free(z), free(z_dense);
}

// BALLS balls of different mass on the floor, each pushed sideways by c / 100 m/s in direction d_0:
// friction stops those slower than mu h g and slows the others by that.
typedef struct balls {
    double M[V], H[V], f[V], w[V], mu[BALLS];
    int start[V + 1], row[V];
    perp_fcp fcp;
} balls;

static const double mu = 0.3, fall = 0.981;  // fall = h g [m/s]

static void place_balls(balls *s)
{
    for (int k = 0; k < V; k++) {  // components of a contact: n, t, o
        int c = k / 3, component = k % 3;
        double mass = 1.0 + 0.1 * c, free[3] = {-fall, 0.01 * c, 0.0};
        s->M[k] = mass;
        s->H[k] = 1.0;
        s->f[k] = mass * free[component];
        s->w[k] = 0.0;
        s->mu[c] = mu;
        s->start[k] = s->row[k] = k;
    }
    s->start[V] = V;
    s->fcp = (perp_fcp){.nc = BALLS,
                        .dim = 3,
                        .nv = V,
                        .mu = s->mu,
                        .M = perp_matrix_csc(V, V, s->start, s->row, s->M),
                        .H = perp_matrix_csc(V, V, s->start, s->row, s->H),
                        .f = s->f,
                        .w = s->w};
}

static void equations_stay_equations(void **state)
{
    (void)state;
    balls s;
    place_balls(&s);
    perp_pyramid *pyramid = NULL;
    assert_int_equal(perp_pyramid_create(&s.fcp, 4, NULL, &pyramid), PERP_OK);
    const perp_mcp *mcp = perp_pyramid_mcp(pyramid);
    assert_true(mcp->n > 400 && !mcp->A.dense);
    double *z = doubles(mcp->n), r[V], v[V];
    solve(mcp, z);
    perp_pyramid_recover(pyramid, z, r, v);
    for (int c = 0; c < BALLS; c++) {
        double mass = 1.0 + 0.1 * c, slip = fmax(0.0, 0.01 * c - mu * fall);
        assert_true(fabs(v[3 * c]) <= 1e-9);
        assert_true(fabs(v[3 * c + 1] - slip) <= 1e-9);
        assert_true(fabs(v[3 * c + 2]) <= 1e-9);
        assert_true(fabs(r[3 * c] - mass * fall) <= 1e-8);
        assert_true(fabs(r[3 * c + 1] - mass * (slip - 0.01 * c)) <= 1e-8);
    }
    perp_pyramid_destroy(pyramid);
    free(z);
}

static void infeasible_is_not_solved(void **state)
{
    (void)state;
    problem *dense = family_infeasible_skew(500), *p = problem_sparse(dense);
    double *z = doubles(p->n), *ray = doubles(p->n);
    perp_comp_options options = perp_comp_options_default();
    options.ray = ray;
    perp_status status = perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, NULL);
    assert_int_equal(status, PERP_ERR_INFEASIBLE);
    assert_true(perp_mcp_farkas(&p->mcp, ray) < 0.0);
    problem_destroy(dense), problem_destroy(p);
    free(z), free(ray);
}

static void obeys_the_limit(void **state)
{
    (void)state;
    problem *p = family_obstacle(22);
    double *z = doubles(p->n);
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.max_iterations = 7;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &info), PERP_ERR_LIMIT);
    assert_true(info.iterations <= 7);
    for (int i = 0; i < p->n; i++) {
        assert_true(isfinite(z[i]));
    }
    problem_destroy(p);
    free(z);
}

// From its own basis there is nothing left to do; from one that is a little wrong, little.
static void starts_from_a_basis(void **state)
{
    (void)state;
    problem *p = family_obstacle(22);
    double *z = doubles(p->n);
    int8_t *basis = calloc((size_t)p->n, 1);
    assert_non_null(basis);
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info cold, warm;
    options.basis = basis;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &cold), PERP_OK);
    options.warm_start = true;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &warm), PERP_OK);
    assert_true(cold.iterations > 100 && warm.iterations <= 1);
    basis[p->n / 2] = basis[p->n / 2] == PERP_BASIS_BASIC ? PERP_BASIS_LOWER : PERP_BASIS_BASIC;
    assert_int_equal(perp_mcp_solve("lemke", &p->mcp, &options, NULL, z, &warm), PERP_OK);
    assert_true(warm.iterations < cold.iterations / 2);
    problem_destroy(p);
    free(z), free(basis);
}

static void survives_failing_memory(void **state)
{
    (void)state;
    problem *p = family_obstacle(21);
    double *z = doubles(p->n);
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 70;  // past the first refactorisation
    fault f = {.fail_at = 0};
    do {
        f = (fault){.fail_at = f.fail_at + 1};
        perp_env env = fault_env(&f);
        fault_hook(&f);
        perp_status status = perp_mcp_solve("lemke", &p->mcp, &options, &env, z, NULL);
        fault_hook(NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        // KLU may do without a block that it only wanted smaller; then the limit is met.
        assert_true(status == PERP_ERR_LIMIT || (f.happened && status == PERP_ERR_MEMORY));
    } while (f.happened);
    assert_true(f.fail_at > 5);
    problem_destroy(p);
    free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_dense),
        cmocka_unit_test(equations_stay_equations),
        cmocka_unit_test(infeasible_is_not_solved),
        cmocka_unit_test(obeys_the_limit),
        cmocka_unit_test(starts_from_a_basis),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
