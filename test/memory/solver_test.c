// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Solvers and judges whose allocations fail, one place of the code after another: PERP_ERR_MEMORY with a
// message, or an answer that did without; no block is lost. comp/fault does the same by the number of the
// allocation, KLU's own among them.
#include "comp/comp.h"
#include "support/cmocka.h"
#include "support/families.h"
#include "support/heap.h"
#include "support/sites.h"

#include <math.h>
#include <perp/ncp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 6 };

// ── Mixed complementarity problems ───────────────────────────────────────────────────────────────

typedef struct mcp_case {
    const char *solver;
    const perp_mcp *mcp;
} mcp_case;

// Problems without a solution end as they end with memory: that is no failure of the walk.
static perp_status solve_mcp(const perp_env *env, void *user)
{
    const mcp_case *c = user;
    size_t n = (size_t)c->mcp->n;
    double *z = calloc(2 * n, sizeof *z);
    int8_t *basis = calloc(n, sizeof *basis);
    assert_true(z && basis);
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.basis = basis;
    options.ray = z + n;
    perp_status status = perp_mcp_solve(c->solver, c->mcp, &options, env, z, &info);
    assert_int_equal(info.error.status, status);
    assert_true(strlen(info.error.text) > 0);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        assert_true(isfinite(z[i]));
    }
    free(z);
    free(basis);
    return status == PERP_ERR_MEMORY ? status : PERP_OK;
}

static void mcp_solvers(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    problem *small = family_harker_pang(20, &r), *boxed = family_boxed_spd(20, &r);
    problem *singular = family_psd_degenerate(16, &r), *none = family_infeasible_psd(12);
    problem *joint = family_joint_friction(0.01, 0.5), *sparse = family_obstacle(9);
    problem *thin = family_ahn(200);
    const problem *const problems[] = {small, boxed, singular, none, joint, sparse, thin};
    static const char *const solvers[] = {"auto", "lemke", "pivot", "ssn", "enum"};
    for (int s = 0; s < 5; s++) {
        for (int k = 0; k < 7; k++) {
            mcp_case c = {solvers[s], &problems[k]->mcp};
            if (c.mcp->n <= 12 || strcmp(solvers[s], "enum") != 0) {
                char name[64];
                snprintf(name, sizeof name, "%s on problem %d", solvers[s], k);
                sites_walk(name, solve_mcp, &c, DEPTH);
            }
        }
    }
    problem_destroy(small), problem_destroy(boxed), problem_destroy(singular);
    problem_destroy(none), problem_destroy(joint), problem_destroy(sparse), problem_destroy(thin);
}

// ── Contact problems ─────────────────────────────────────────────────────────────────────────────

typedef struct fcp_case {
    const char *solver;
    const perp_fcp *fcp;
    int max_iterations;  // 0: chosen
} fcp_case;

static perp_status solve_fcp(const perp_env *env, void *user)
{
    const fcp_case *c = user;
    size_t n = (size_t)(c->fcp->nc * c->fcp->dim);
    double *r = calloc(n + (size_t)c->fcp->nv, sizeof *r);
    assert_non_null(r);
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = c->max_iterations;
    perp_status status = perp_fcp_solve(c->solver, c->fcp, &options, env, r, r + n, &info);
    assert_int_equal(info.error.status, status);
    free(r);
    return status == PERP_ERR_MEMORY ? status : PERP_OK;
}

static void contact_solvers(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "ssn", "gs", "eg", "lemke"};
    static const int dims[] = {2, 3, 4, 6};
    for (int d = 0; d < 4; d++) {
        for (int nd = 0; nd <= 4; nd += 4) {
            if (dims[d] == 2 && nd > 0) {
                continue;
            }
            heap *h = heap_create(4, 2, dims[d], nd, 5);
            const perp_fcp *const problems[] = {&h->global, &h->local};
            for (int k = 0; k < 10; k++) {
                fcp_case c = {solvers[k / 2], problems[k % 2], 50};
                if (nd == 0 && k / 2 == 4) {
                    continue;  // lemke needs polygons
                }
                char name[64];
                snprintf(name, sizeof name, "%s on a heap, dim %d, nd %d", c.solver, dims[d], nd);
                sites_walk(name, solve_fcp, &c, DEPTH);
            }
            heap_destroy(h);
        }
    }
}

// Two heaps side by side in one problem, which `auto` solves one after the other: W is block diagonal.
static void islands(void **state)
{
    (void)state;
    for (int nd = 0; nd <= 4; nd += 4) {
        heap *one = heap_create(12, 2, 3, nd, 5), *two = heap_create(12, 2, 3, nd, 6);
        const perp_fcp *part[2] = {&one->local, &two->local};
        int nc = part[0]->nc + part[1]->nc, n = 3 * nc, of[64], used = 0;
        double mu[64], q[192];
        int *p = calloc((size_t)n + 1, sizeof *p), *i = calloc((size_t)n * (size_t)n, sizeof *i);
        double *x = calloc((size_t)n * (size_t)n, sizeof *x);
        assert_true(nc <= 64 && p && i && x);
        for (int k = 0, at = 0; k < 2; at += 3 * part[k++]->nc) {
            for (int c = 0; c < part[k]->nc; c++) {
                mu[at / 3 + c] = part[k]->mu[c];
                of[at / 3 + c] = nd;
            }
            for (int j = 0; j < 3 * part[k]->nc; j++) {
                q[at + j] = part[k]->q[j];
                for (int row = 0; row < 3 * part[k]->nc; row++) {
                    double value = pp_matrix_at(&part[k]->W, row, j);
                    if (value != 0.0) {
                        i[used] = at + row;
                        x[used++] = value;
                    }
                }
                p[at + j + 1] = used;
            }
        }
        perp_fcp both = {.nc = nc, .dim = 3, .mu = mu, .q = q, .nd = nd ? of : NULL};
        both.W = perp_matrix_csc(n, n, p, i, x);
        fcp_case c = {"auto", &both, 0};  // with a limit the whole is solved
        assert_true(sites_walk("auto on two heaps", solve_fcp, &c, DEPTH) > 20);
        free(p), free(i), free(x);
        heap_destroy(one), heap_destroy(two);
    }
}

// ── Nonlinear MCPs ───────────────────────────────────────────────────────────────────────────────

// Points of a string between two walls with a cubic spring, tridiagonal; or the same as a dense problem.
enum { STRING = 120 };

static perp_status string_function(void *user, const double *u, double *F)
{
    const perp_ncp *ncp = *(const perp_ncp *const *)user;
    for (int i = 0; i < ncp->n; i++) {
        double left = i > 0 ? u[i - 1] : 0.0, right = i < ncp->n - 1 ? u[i + 1] : 0.0;
        F[i] = 2.0 * u[i] - left - right + u[i] * u[i] * u[i] - 0.3 * sin(0.2 * i);
    }
    return PERP_OK;
}

static perp_status string_jacobian(void *user, const double *u, double *x)
{
    const perp_ncp *ncp = *(const perp_ncp *const *)user;
    for (int j = 0; j < ncp->n; j++) {
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            x[k] = ncp->i[k] == j ? 2.0 + 3.0 * u[j] * u[j] : -1.0;
        }
    }
    return PERP_OK;
}

static perp_status solve_ncp(const perp_env *env, void *user)
{
    const perp_ncp *ncp = user;
    double z[STRING];
    perp_comp_info info;
    perp_status status = perp_ncp_solve(NULL, ncp, NULL, env, z, &info);
    assert_int_equal(info.error.status, status);
    assert_true(strlen(info.error.text) > 0);
    assert_true(status >= 0 || status == PERP_ERR_MEMORY);
    return status;
}

static perp_status judge_ncp(const perp_env *env, void *user)
{
    static const double z[STRING];
    perp_mcp_residuals out;
    return perp_ncp_judge(user, z, env, &out);
}

static perp_status compare_ncp(const perp_env *env, void *user)
{
    static const double z[STRING];
    perp_ncp_difference out;
    return perp_ncp_compare(user, z, env, &out);
}

static void nonlinear(void **state)
{
    (void)state;
    int p[STRING + 1] = {0}, i[3 * STRING], used = 0;
    double lower[STRING], upper[STRING];
    for (int j = 0; j < STRING; j++) {
        lower[j] = j % 3 ? -0.2 : -HUGE_VAL;
        upper[j] = j % 5 ? 0.3 : HUGE_VAL;
        for (int row = j - 1; row <= j + 1; row++) {
            if (row >= 0 && row < STRING) {
                i[used++] = row;
            }
        }
        p[j + 1] = used;
    }
    perp_ncp ncp = {.n = STRING,
                    .lower = lower,
                    .upper = upper,
                    .function = string_function,
                    .jacobian = string_jacobian,
                    .p = p,
                    .i = i};
    const perp_ncp *self = &ncp;
    ncp.user = (void *)&self;
    sites_walk("perp_ncp_solve", solve_ncp, &ncp, DEPTH);
    sites_walk("perp_ncp_judge", judge_ncp, &ncp, DEPTH);
    sites_walk("perp_ncp_compare", compare_ncp, &ncp, DEPTH);
    ncp.jacobian = NULL;
    sites_walk("perp_ncp_solve by differences", solve_ncp, &ncp, DEPTH);
    ncp.p = NULL;
    ncp.i = NULL;
    ncp.n = 12;
    sites_walk("perp_ncp_solve, dense", solve_ncp, &ncp, DEPTH);
}

// ── Judges, enumeration, conversion ──────────────────────────────────────────────────────────────

static perp_status judge_mcp(const perp_env *env, void *user)
{
    static const double z[200];
    perp_mcp_residuals out;
    return perp_mcp_judge(user, z, env, &out);
}

static perp_status judge_fcp(const perp_env *env, void *user)
{
    static const double zeros[64];
    perp_fcp_residuals out;
    return perp_fcp_judge(user, zeros, zeros, env, &out);
}

static perp_status enumerate(const perp_env *env, void *user)
{
    double z[12];
    int count = -1;
    perp_status status = perp_mcp_enumerate(user, env, 1, z, &count);
    assert_true(status >= 0 ? count > 0 : count == 0);
    return status;
}

static perp_status convert(const perp_env *env, void *user)
{
    perp_pyramid *pyramid = NULL;
    perp_status status = perp_pyramid_create(user, 4, env, &pyramid);
    assert_true((status >= 0) == (pyramid != NULL));
    static double zeros[64], z[256];
    if (status >= 0) {
        assert_true(perp_pyramid_mcp(pyramid)->n <= 256);
        status = perp_pyramid_split(pyramid, zeros, zeros, z);
    }
    perp_pyramid_destroy(pyramid);
    return status;
}

static void the_rest(void **state)
{
    (void)state;
    problem *p = problem_create(6), *sparse = family_ahn(16);
    for (int i = 0; i < 6; i++) {
        ENTRY(p, i, i) = -1.0;
        p->b[i] = 1.0;
    }
    pile *q = family_pile(1, 4, 1.0, 0.5, (const double[]){1, 0, 0});
    sites_walk("perp_mcp_judge", judge_mcp, &sparse->mcp, DEPTH);
    sites_walk("perp_mcp_enumerate", enumerate, &p->mcp, DEPTH);
    sites_walk("perp_fcp_judge, local", judge_fcp, &q->local, DEPTH);
    sites_walk("perp_fcp_judge, global", judge_fcp, &q->global, DEPTH);
    sites_walk("perp_pyramid_create, local", convert, &q->local, DEPTH);
    sites_walk("perp_pyramid_create, global", convert, &q->global, DEPTH);
    pile_destroy(q);
    problem_destroy(p);
    problem_destroy(sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcp_solvers), cmocka_unit_test(contact_solvers), cmocka_unit_test(islands),
        cmocka_unit_test(nonlinear),   cmocka_unit_test(the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
