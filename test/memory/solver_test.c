// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Solvers and judges whose allocations fail, one place of the code after another: PERP_ERR_MEMORY with a
// message, or an answer that did without; no block is lost. comp/fault does the same by the number of the
// allocation, KLU's own among them.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/heap.h"
#include "support/sites.h"

#include <math.h>
#include <perp/comp.h>
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
} fcp_case;

static perp_status solve_fcp(const perp_env *env, void *user)
{
    const fcp_case *c = user;
    size_t n = (size_t)(c->fcp->nc * c->fcp->dim);
    double *r = calloc(n + (size_t)c->fcp->nv, sizeof *r);
    assert_non_null(r);
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 50;  // enough to reach every allocation
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
                fcp_case c = {solvers[k / 2], problems[k % 2]};
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

// Several islands, which `auto` solves one after another.
static void islands(void **state)
{
    (void)state;
    pile *p = family_pile(2, 4, 10.0, 0.4, (const double[]){1.0, 0.5, 0});
    const int nd[8] = {4, 4, 4, 4, 6, 6, 6, 6};
    perp_fcp polygonal = p->local, global_polygonal = p->global;
    polygonal.nd = global_polygonal.nd = nd;
    const perp_fcp *const problems[] = {&p->local, &p->global, &polygonal, &global_polygonal};
    for (int k = 0; k < 4; k++) {
        fcp_case c = {"auto", problems[k]};
        sites_walk("auto on a pile", solve_fcp, &c, DEPTH);
    }
    pile_destroy(p);
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
        cmocka_unit_test(mcp_solvers),
        cmocka_unit_test(contact_solvers),
        cmocka_unit_test(islands),
        cmocka_unit_test(the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
