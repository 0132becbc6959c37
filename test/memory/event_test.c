// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of the stepper `event` whose allocations fail, one place of the code after another: the step reports
// it, its state is the one before the step, no block is lost.
#include "support/cmocka.h"
#include "support/sites.h"

#include <perp/io.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 3 };

typedef struct life {
    const perp_model *model;
    perp_sim_def def;
    double h;
    int steps;
} life;

static perp_status whole_life(const perp_env *env, void *user)
{
    const life *l = user;
    perp_sim *sim = NULL;
    perp_status status = perp_sim_create(l->model, &l->def, env, &sim, NULL);
    for (int i = 0; i < l->steps && status >= 0; i++) {
        uint64_t before = perp_sim_state_hash(sim);
        status = perp_sim_step(sim, l->h);
        assert_true(status >= 0 || perp_sim_state_hash(sim) == before);
    }
    perp_sim_destroy(sim);
    return status;
}

static void walk(const char *name, const perp_scene *scene, double h, int steps)
{
    life l = {
        .model = perp_scene_model(scene), .def = perp_scene_sim_def(scene), .h = h, .steps = steps};
    l.def.stepper = PERP_STEPPER_EVENT;
    int places = sites_walk(name, whole_life, &l, DEPTH);
    assert_true(places > 100);
}

static void walk_file(const char *name, double h, int steps)
{
    char path[100];
    perp_scene *scene = NULL;
    snprintf(path, sizeof path, "scenes/%s.json", name);
    assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
    walk(name, scene, h, steps);
    perp_scene_destroy(scene);
}

// Joints, loops, limits and drives.
static void mechanisms(void **state)
{
    (void)state;
    walk_file("pendulum-stop", 0.01, 3);
    walk_file("bricard", 0.01, 1);
    walk_file("tedrake-two-limits", 0.05, 3);
    walk_file("joint-limit", 0.1, 5);
    walk_file("../fuzz/corpus/scene/control", 0.01, 2);
}

// Contacts that slide, stick, roll, part and strike.
static void contacts(void **state)
{
    (void)state;
    walk_file("box-tips", 0.01, 2);
    walk_file("block-stops", 0.2, 3);
    walk_file("ball-rolls", 0.01, 2);
    walk_file("bouncing-ball", 0.2, 3);
    walk_file("painleve-rod", 0.01, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanisms),
        cmocka_unit_test(contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
