// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts from keyframes, resets, states in joint coordinates and changes while allocations fail, one place of the code after
// another: PERP_ERR_MEMORY, the state before, no block lost.
#include "support/cmocka.h"
#include "support/sites.h"

#include <perp/io.h>

#include <math.h>

enum { DEPTH = 8, MOST = 40 };

typedef struct start {
    const perp_model *model;
    perp_sim_def def;
} start;

static perp_status whole_life(const perp_env *env, void *user)
{
    const start *s = user;
    perp_sim *sim = NULL;
    perp_error error = {0};
    double t, q[MOST], qd[MOST];
    perp_status status = perp_sim_create(s->model, &s->def, env, &sim, &error);
    assert_true(status >= 0 || (!sim && error.text[0]));
    if (status >= 0) {
        status = perp_sim_step(sim, 1e-3);
    }
    uint64_t before = perp_sim_state_hash(sim);
    if (status >= 0) {
        status = perp_sim_tree_state_get(sim, &t, q, qd);
    }
    // one more call each, from where the sim then is
    if (status >= 0) {
        status = perp_sim_reset(sim, (perp_keyframe){0});
        assert_true(status >= 0 || perp_sim_state_hash(sim) == before);
    }
    if (status >= 0) {
        status = perp_sim_tree_state_set(sim, t, q, qd);
    }
    for (int i = 0; i < 3; i++) {
        status = status < 0 ? status : perp_sim_shape_friction_set(sim, (perp_shape){i}, 0.1, 0, 0);
    }
    status = status < 0 ? status : perp_sim_gravity_set(sim, (perp_vec3){0.0, -1.0, 0.0});
    if (status >= 0) {
        static unsigned char block[16384];
        assert_true(perp_sim_state_save_size(sim) <= sizeof block);
        assert_int_equal(perp_sim_state_save(sim, block, sizeof block), PERP_OK);
        assert_int_equal(perp_sim_shape_friction_set(sim, (perp_shape){0}, 0.2, 0, 0), PERP_OK);
        status = perp_sim_state_restore(sim, block, sizeof block);
        double mu = perp_sim_pair_friction(sim, (perp_shape){0}, (perp_shape){1}).mu;
        assert_true(status < 0 ? mu > 0.11 : fabs(mu - 0.1) < 1e-12);
    }
    if (status >= 0) {
        status = perp_sim_step(sim, 1e-3);
    }
    perp_sim_destroy(sim);
    return status;
}

static void starts(void **state)
{
    (void)state;
    perp_scene *scene;
    perp_error error;
    assert_int_equal(perp_scene_load("fuzz/corpus/scene/keyframes.json", NULL, &scene, &error),
                     PERP_OK);
    start s = {.model = perp_scene_model(scene), .def = perp_scene_sim_def(scene)};
    assert_true(sites_walk("body", whole_life, &s, DEPTH) > 40);
    s.def.coordinates = PERP_COORDINATES_JOINT;
    assert_true(sites_walk("joint", whole_life, &s, DEPTH) > 40);
    s.def.stepper = PERP_STEPPER_EVENT;
    assert_true(sites_walk("event", whole_life, &s, DEPTH) > 40);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(starts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
