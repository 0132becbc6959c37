// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Energy that closed joints and bent springs give in every step, each within its limit, and that adds up over the run: the
// sum is a violation, by certificate and by recording.                                 theory (K18)
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A heavy rod and a light one that swing: the theta method gives E (h w)^3 / 12 in a step, a tenth of the energy in 150 s.
static const char pair[] =
    "{\"name\": \"pair\", \"step\": 0.0378, \"until\": 1, \"gravity\": [0, -9.81], \"bodies\": ["
    "{\"name\": \"heavy\", \"position\": [0.5, 0], \"mass\": 240, \"inertia\": 20},"
    "{\"name\": \"light\", \"position\": [1.5, 0], \"mass\": 0.0022, \"inertia\": 0.00018, "
    "\"velocity\": [0, -3.4]}],"
    "\"joints\": [{\"name\": \"j0\", \"kind\": \"revolute\", \"b\": \"heavy\", \"at\": [0, 0]%s},"
    "{\"name\": \"j1\", \"kind\": \"revolute\", \"a\": \"heavy\", \"b\": \"light\", \"at\": [1, "
    "0]}]}";

// A heavy body on an explicit spring that turns with a light rod: the theta method feeds it.
static const char spring[] =
    "{\"name\": \"fed\", \"step\": 0.0006, \"until\": 1, \"gravity\": [0, -9.81], \"bodies\": ["
    "{\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 7.8, \"inertia\": 0.65},"
    "{\"name\": \"load\", \"position\": [1.5, 0], \"mass\": 890, \"inertia\": 74, "
    "\"velocity\": [0.1, -12.7]}], \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", "
    "\"b\": \"rod\", \"at\": [0, 0]}], \"forces\": [{\"kind\": \"spring\", \"a\": \"rod\", "
    "\"b\": \"load\", \"anchor_b\": [0.08, 0], \"stiffness\": %g, \"rest\": 0.82, "
    "\"implicit\": %s}]}";

// What a run of a scene ends with: energy gained, over the largest kinetic energy; and the verdicts on it.
typedef struct outcome {
    double gained;
    int violated;
    bool passed;  // by the recording
} outcome;

static outcome run(const char *text, double h, int steps, perp_stepper stepper)
{
    folder place = folder_create();
    recorded_run how = {.stepper = stepper, .h = h, .steps = steps};
    outcome out = {.violated = recorded_scene(text, place.path, how).violated};
    perp_recording *recording = recorded_open(place.path);
    int frames = perp_recording_about(recording)->frames;
    double most = 0.0, first = 0.0;
    for (int i = 0; i < frames; i++) {
        perp_energy e = recorded_frame(recording, i).energy;
        most = fmax(most, e.kinetic);
        first = i == 1 ? e.kinetic + e.potential : first;
        out.gained = (e.kinetic + e.potential - first) / most;
    }
    perp_recording_close(recording);
    out.passed = recorded_check(place.path).passed;
    print_message("h = %g, %d steps: %.3g gained, %d violated\n", h, steps, out.gained,
                  out.violated);
    folder_remove(&place);
    return out;
}

static void gains_of_joints_add_up(void **state)
{
    (void)state;
    char text[1200];
    snprintf(text, sizeof text, pair, "");
    outcome coarse = run(text, 0.0378, 4000, PERP_STEPPER_MOREAU_JEAN);
    assert_true(coarse.gained > 0.08);
    assert_true(coarse.violated > 0);
    assert_false(coarse.passed);
    outcome fine = run(text, 0.002, 6000, PERP_STEPPER_MOREAU_JEAN);
    assert_true(fine.gained < 1e-3);
    assert_int_equal(fine.violated, 0);
    assert_true(fine.passed);
    // the linear step loses
    outcome linear = run(text, 0.01, 1000, PERP_STEPPER_STEWART_TRINKLE);
    assert_int_equal(linear.violated, 0);
    assert_true(linear.passed);
}

// Dry friction that takes as much as the joints give does not pay for it: the energy does not grow.
static void friction_does_not_pay(void **state)
{
    (void)state;
    char text[1200];
    snprintf(text, sizeof text, pair, ", \"friction\": 0.3");
    outcome rubbed = run(text, 0.0378, 4000, PERP_STEPPER_MOREAU_JEAN);
    assert_true(rubbed.gained < 0.01);
    assert_true(rubbed.violated > 0);
    assert_false(rubbed.passed);
}

static void gains_of_springs_add_up(void **state)
{
    (void)state;
    char text[1200];
    snprintf(text, sizeof text, spring, 7.2e5, "false");
    outcome fed = run(text, 0.0006, 2000, PERP_STEPPER_MOREAU_JEAN);
    assert_true(fed.gained > 0.05);
    assert_true(fed.violated > 0);
    assert_false(fed.passed);
    // an implicit spring damps more than it is given
    snprintf(text, sizeof text, spring, 7.2e5, "true");
    outcome damped = run(text, 0.0006, 1000, PERP_STEPPER_STEWART_TRINKLE);
    assert_int_equal(damped.violated, 0);
    assert_true(damped.passed);
}

// The sum is part of a saved state, and of no state that is set.
static void sums_are_saved(void **state)
{
    (void)state;
    char text[1200];
    perp_error error = {0};
    perp_scene *scene = NULL;
    snprintf(text, sizeof text, pair, "");
    assert_int_equal(perp_scene_parse("pair", text, strlen(text), NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_MOREAU_JEAN;
    perp_sim *sim[3] = {NULL};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim[k], &error),
                         PERP_OK);
    }
    for (int i = 0; i < 3500; i++) {
        assert_true(perp_sim_step(sim[0], 0.0378) >= 0);
    }
    assert_false(perp_sim_info(sim[0])->certificate.passed);

    size_t size = perp_sim_state_save_size(sim[0]);
    void *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(sim[0], block, size), PERP_OK);
    assert_int_equal(perp_sim_state_restore(sim[1], block, size), PERP_OK);
    double t, q[6], nu[6];
    assert_int_equal(perp_sim_state_get(sim[0], &t, q, nu), PERP_OK);
    assert_int_equal(perp_sim_state_set(sim[2], t, q, nu), PERP_OK);
    for (int k = 0; k < 3; k++) {
        assert_true(perp_sim_step(sim[k], 0.0378) >= 0);
        assert_int_equal(perp_sim_info(sim[k])->certificate.passed, k == 2);
        perp_sim_destroy(sim[k]);
    }
    free(block);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_of_joints_add_up), cmocka_unit_test(friction_does_not_pay),
        cmocka_unit_test(gains_of_springs_add_up), cmocka_unit_test(sums_are_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
