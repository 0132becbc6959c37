// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of the stepper event knows what forces do in a step: rounding of what they hold, or begin to move, is no
// violation.
#include "support/cmocka.h"

#include <perp/io.h>

// Steps of a shipped scene whose certificate is violated, with the stepper event.
static int violated(const char *path, double until)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_EVENT;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    double h = perp_scene_step(scene);
    int count = 0, steps = (int)(until / h + 0.5);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, h) >= 0);
        count += !perp_sim_info(sim)->certificate.passed;
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return count;
}

// Without gravity, at rest, pushed against a stop by a force.
static void what_a_force_holds_passes(void **state)
{
    (void)state;
    assert_int_equal(violated("scenes/tedrake-block-limit.json", 0.8), 0);
}

// At rest in the first step of a microsecond, but for what a torque gives it.
static void what_a_torque_begins_to_move_passes(void **state)
{
    (void)state;
    assert_int_equal(violated("scenes/andrews-squeezer.json", 1e-5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_force_holds_passes),
                                       cmocka_unit_test(what_a_torque_begins_to_move_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
