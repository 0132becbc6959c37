// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Limbs that lie on their limits, in the coordinates of bodies: limits keep their impulses from step to step, and a machine that
// is wedged between a floor and its own limits costs few steps of Newton's.                  theory (S8), (S17), (S20)
#include "support/cmocka.h"
#include "support/data.h"
#include "support/space.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

// A rod that hangs sideways on its lower limit, which carries its weight in every step.
static void limits_keep_their_impulses(void **state)
{
    (void)state;
    const perp_vec3 half = {0.5, 0.05, 0.05};
    for (int k = 0; k < 2; k++) {
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
        perp_body_def rod = space_body(2.0, space_box_inertia(2.0, half), (perp_vec3){0.5, 0, 0});
        perp_body body = perp_builder_add_body(p.builder, &rod);
        perp_joint_def hinge = space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, (perp_vec3){0, 0, 0},
                                           body, (perp_vec3){-0.5, 0, 0}, (perp_vec3){0, -1, 0});
        hinge.lower = 0.0;
        hinge.upper = 1.0;
        perp_builder_add_joint(p.builder, &hinge);
        p.def.coordinates = k == 0 ? PERP_COORDINATES_BODY : PERP_COORDINATES_JOINT;
        plane_start(&p);
        int factors = 0;
        for (int step = 0; step < 20; step++) {
            assert_int_equal(perp_sim_step(p.sim, 0.01), PERP_OK);
            const perp_step_info *info = perp_sim_info(p.sim);
            factors += step > 0 ? info->effort.factorisations : 0;
        }
        // the first step finds the impulse, and all others begin with it: from nothing each takes two
        assert_true(factors < 19);
        assert_true(fabs(perp_sim_body_position(p.sim, body).z) < 1e-12);
        plane_close(&p);
    }
}

// 25 bodies on 24 hinges with limits and springs, which fall and come to lie on nine points and six limits. Their sticking
// points and limits hold each other, and gaps of 1e-11 m disagree.
static void a_figure_falls_and_lies(void **state)
{
    (void)state;
    char path[1024];
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    if (!data_path("perf/scenes/humanoid_fall.json", path, sizeof path)) {
        print_message("no figure here: set PERP_DATA_DIR\n");
        skip();
    }
    assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    enum { STEPS = 1500 };
    int most = 0, others = 0;
    double all = 0.0;
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        int factors = info->effort.factorisations;
        most = factors > most ? factors : most;
        all += factors;
        bool fast = strcmp(info->solver, "modes") == 0 || strcmp(info->solver, "linear") == 0;
        others += !fast;
    }
    print_message("%.1f factorisations per step, at most %d; %d steps not by modes\n", all / STEPS,
                  most, others);
    // 9, 182 and 34 when this was written; 640, 3060 and 317 before
    assert_true(all < 20.0 * STEPS);
    assert_true(most < 500);
    assert_true(others < STEPS / 15);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_keep_their_impulses),
                                       cmocka_unit_test(a_figure_falls_and_lies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
