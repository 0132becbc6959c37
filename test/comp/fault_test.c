// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The k-th allocation fails, for k = 1, 2, … until nothing fails any more, in every public entry point
// of comp.h that allocates: PERP_ERR_MEMORY (or an answer that did without), no leak, no crash. KLU's
// allocations fail too.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/fault.h"

#include <math.h>
#include <perp/comp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3000 };

// One entry point under test; returns the status and leaves nothing behind.
typedef perp_status entry(const void *what, const perp_env *env);

static int all_failures;  // statuses PERP_ERR_MEMORY seen

static void walk(const char *name, entry *call, const void *what)
{
    perp_status last = PERP_ERR_MEMORY;
    for (int k = 1; k <= TRIES; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        fault_hook(&f);
        last = call(what, &env);
        fault_hook(NULL);
        if (f.live != 0 || f.confused != 0) {
            fail_msg("%s: %d blocks lost, %d freed with another size when allocation %d failed",
                     name, f.live, f.confused, k);
        }
        if (!f.happened) {
            assert_true(last != PERP_ERR_MEMORY);
            return;
        }
        all_failures += last == PERP_ERR_MEMORY;
    }
    fail_msg("%s: still allocating after %d allocations (%d)", name, TRIES, (int)last);
}

// ── Solvers ──────────────────────────────────────────────────────────────────────────────────────

typedef struct mcp_case {
    const char *solver;
    const perp_mcp *mcp;
} mcp_case;

static perp_status solve_mcp(const void *what, const perp_env *env)
{
    const mcp_case *c = what;
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
    return status;
}

static void every_mcp_solver(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    problem *small = family_harker_pang(40, &r), *boxed = family_boxed_spd(30, &r);
    problem *singular = family_psd_degenerate(32, &r), *none = family_infeasible_psd(24);
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
                walk(name, solve_mcp, &c);
            }
        }
    }
    problem_destroy(small), problem_destroy(boxed), problem_destroy(singular);
    problem_destroy(none), problem_destroy(joint), problem_destroy(sparse), problem_destroy(thin);
}

typedef struct fcp_case {
    const char *solver;
    const perp_fcp *fcp;
} fcp_case;

static perp_status solve_fcp(const void *what, const perp_env *env)
{
    const fcp_case *c = what;
    size_t n = (size_t)(c->fcp->nc * c->fcp->dim);
    double *r = calloc(n + (size_t)c->fcp->nv, sizeof *r);
    assert_non_null(r);
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = 50;  // enough to reach every allocation
    perp_status status = perp_fcp_solve(c->solver, c->fcp, &options, env, r, r + n, &info);
    assert_int_equal(info.error.status, status);
    free(r);
    return status;
}

static void every_contact_solver(void **state)
{
    (void)state;
    pile *p = family_pile(2, 4, 10.0, 0.4, (const double[]){1.0, 0.5, 0});
    perp_fcp polygonal = p->local, global_polygonal = p->global;
    const int nd[8] = {4, 4, 4, 4, 6, 6, 6, 6};
    polygonal.nd = global_polygonal.nd = nd;
    const perp_fcp *const problems[] = {&p->local, &p->global, &polygonal, &global_polygonal};
    static const char *const solvers[] = {"auto", "ssn", "gs", "eg", "lemke"};
    for (int s = 0; s < 5; s++) {
        for (int k = 0; k < 4; k++) {
            fcp_case c = {solvers[s], problems[k]};
            if (k >= 2 || strcmp(solvers[s], "lemke") != 0) {
                char name[64];
                snprintf(name, sizeof name, "%s on contact problem %d", solvers[s], k);
                walk(name, solve_fcp, &c);
            }
        }
    }
    pile_destroy(p);
}

// ── The rest ─────────────────────────────────────────────────────────────────────────────────────

static perp_status use_workspace(const void *what, const perp_env *env)
{
    const mcp_case *c = what;
    double z[16];
    perp_workspace *work = perp_workspace_create(env);
    if (!work) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = PERP_OK;
    for (int k = 0; k < 3 && status >= 0; k++) {
        perp_comp_options options = perp_comp_options_default();
        options.work = work;
        status = perp_mcp_solve(c->solver, c->mcp, &options, env, z, NULL);
    }
    perp_workspace_destroy(work);
    return status;
}

static void workspaces(void **state)
{
    (void)state;
    rng r = rng_seed(4);
    problem *p = family_harker_pang(12, &r);
    mcp_case c = {"lemke", &p->mcp};
    walk("workspace", use_workspace, &c);
    problem_destroy(p);
}

static perp_status judge_one(const void *what, const perp_env *env)
{
    static const double z[16];
    perp_mcp_residuals out;
    return perp_mcp_judge(what, z, env, &out);
}

static perp_status judge_contact(const void *what, const perp_env *env)
{
    const perp_fcp *fcp = what;
    static const double zeros[64];
    perp_fcp_residuals out;
    return perp_fcp_judge(fcp, zeros, zeros, env, &out);
}

static perp_status enumerate(const void *what, const perp_env *env)
{
    double z[12];
    int count = -1;
    perp_status status = perp_mcp_enumerate(what, env, 1, z, &count);
    assert_true(status >= 0 ? count > 0 : count == 0);
    return status;
}

static perp_status convert(const void *what, const perp_env *env)
{
    perp_pyramid *pyramid = NULL;
    perp_status status = perp_pyramid_create(what, 4, env, &pyramid);
    assert_true((status >= 0) == (pyramid != NULL));
    static double zeros[64], z[256];
    if (status >= 0) {
        assert_true(perp_pyramid_mcp(pyramid)->n <= 256);
        status = perp_pyramid_split(pyramid, zeros, zeros, z);
    }
    perp_pyramid_destroy(pyramid);
    return status;
}

static void judges_enumeration_conversion(void **state)
{
    (void)state;
    problem *p = problem_create(12);
    for (int i = 0; i < 12; i++) {  // -I: 4096 solutions, to make the list grow
        ENTRY(p, i, i) = -1.0;
        p->b[i] = 1.0;
    }
    pile *q = family_pile(1, 4, 1.0, 0.5, (const double[]){1, 0, 0});
    problem *sparse = family_ahn(16);
    walk("perp_mcp_judge", judge_one, &sparse->mcp);
    walk("perp_mcp_enumerate", enumerate, &p->mcp);
    walk("perp_fcp_judge, local", judge_contact, &q->local);
    walk("perp_fcp_judge, global", judge_contact, &q->global);
    walk("perp_pyramid_create, local", convert, &q->local);
    walk("perp_pyramid_create, global", convert, &q->global);
    pile_destroy(q);
    problem_destroy(p);
    problem_destroy(sparse);
}

static void something_failed(void **state)
{
    (void)state;
    assert_true(all_failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_enumeration_conversion),
        cmocka_unit_test(workspaces),
        cmocka_unit_test(every_mcp_solver),
        cmocka_unit_test(every_contact_solver),
        cmocka_unit_test(something_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
