// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A model and its tree while allocations fail, one place of the code after another: PERP_ERR_MEMORY, no block
// lost, and the tree still answers as before.
#include "support/cmocka.h"
#include "support/random_scene.h"
#include "support/random_space.h"
#include "support/sites.h"

#include <perp/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 6, SIZE_MOST = 64 };

// Everything of tree.h that allocates, with the constraints of the model held.
static perp_status use_tree(const perp_env *env, void *user)
{
    const perp_model *model = user;
    perp_tree *tree = NULL;
    perp_constraints c;
    perp_error error = {0};
    double q[SIZE_MOST], qd[SIZE_MOST], x[SIZE_MOST], tau[SIZE_MOST], lambda[SIZE_MOST],
        b[SIZE_MOST];
    double J[6 * SIZE_MOST];
    int nq, nv, rows, rank;
    perp_rate rate[PERP_JOINT_MAX_ROWS];
    perp_status status = perp_tree_create(model, NULL, 0, env, &tree, &error);
    assert_true((status >= 0) == (tree != NULL));
    if (status < 0) {
        assert_true(error.text[0]);
        return status;
    }
    perp_tree_size(tree, &nq, &nv);
    assert_true(nq <= SIZE_MOST && nv <= SIZE_MOST);
    perp_tree_get(tree, NULL, q, qd);
    double energy = perp_tree_kinetic(tree) + perp_tree_potential(tree);
    status = perp_tree_set(tree, 0.0, q, qd);
    if (status >= 0) {
        status = perp_tree_forces(tree, NULL, tau);
    }
    if (status >= 0) {
        status = perp_tree_forward(tree, tau, x);
    }
    if (status >= 0) {
        status = perp_tree_equations(tree, (perp_joint){0}, &rows, rate, J);
    }
    if (status >= 0) {
        status = perp_tree_joint(tree, (perp_joint){0}, rate, J);
    }
    if (status >= 0) {
        status = perp_tree_constraints(tree, &c);
    }
    if (status >= 0) {
        assert_true(c.rows <= SIZE_MOST);
        perp_tree_stabilise(tree, &c, 0.1, b);
        perp_tree_rows hold = {c.rows - c.limits, c.limits, c.J, b};
        status = perp_tree_accelerate(tree, tau, &hold, x, lambda, &rank);
        if (status >= 0) {
            status = perp_tree_impact(tree, &hold, x, lambda, &rank);
        }
    }
    double q_after[SIZE_MOST], qd_after[SIZE_MOST];
    perp_tree_get(tree, NULL, q_after, qd_after);
    assert_memory_equal(q, q_after, (size_t)nq * sizeof *q);
    assert_memory_equal(qd, qd_after, (size_t)nv * sizeof *qd);
    assert_true(perp_tree_kinetic(tree) + perp_tree_potential(tree) == energy);
    perp_tree_destroy(tree);
    return status;
}

static void trees(void **state)
{
    (void)state;
    static const char *const names[] = {"andrews-squeezer",
                                        "four-bar",
                                        "tedrake-arm",
                                        "tedrake-driven",
                                        "joint-limit",
                                        "pendulum-5",
                                        "../fuzz/corpus/scene/control"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[100];
        perp_scene *scene = NULL;
        snprintf(path, sizeof path, "scenes/%s.json", names[k]);
        assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
        perp_model *model = (perp_model *)(uintptr_t)perp_scene_model(scene);
        assert_true(sites_walk(names[k], use_tree, model, DEPTH) > 10);
        perp_scene_destroy(scene);
    }
}

typedef struct recipe {
    bool spatial;
    uint64_t seed;
} recipe;

// Bodies, shapes, joints, drives and pairs of every kind that the random scenes have.
static perp_status build_model(const perp_env *env, void *user)
{
    const recipe *how = user;
    rng r = rng_seed(how->seed);
    plane p = {.env = env};
    perp_error error = {0};
    random_scene_options options = {.bodies = 4,
                                    .ground = true,
                                    .joints = true,
                                    .drives = true,
                                    .moments = true,
                                    .mu_most = 0.5,
                                    .speed = 1.0};
    p.builder = perp_builder_create(env);
    if (how->spatial) {
        random_space(&p, &r, &options);
    } else {
        random_scene(&p, &r, &options);
    }
    perp_model *model = NULL;
    perp_status status = perp_model_create(p.builder, &model, &error);
    assert_true((status >= 0) == (model != NULL));
    assert_true(status >= 0 || error.text[0]);
    perp_builder_destroy(p.builder);
    perp_model_destroy(model);
    return status;
}

static void models(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        recipe how = {.spatial = k % 2 == 1, .seed = (uint64_t)k};
        assert_true(sites_walk(how.spatial ? "spatial" : "planar", build_model, &how, DEPTH) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
