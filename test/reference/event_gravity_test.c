// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Gravity scaled body by body, in the stepper event: closed forms, conserved energy, certificates, and the check of
// the recording.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[] = {
    // two rods and a weightless one in between; a disc that weighs a quarter falls, bounces and comes to rest
    "{\"stepper\": \"event\", \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", "
    "\"restitution\": 0.5}],"
    " \"bodies\": [{\"name\": \"a\", \"position\": [0.5, 3], \"mass\": 1, \"inertia\": 0.1, "
    "\"gravity_scale\": 2},"
    " {\"name\": \"b\", \"position\": [1.5, 3], \"mass\": 2, \"inertia\": 0.2, \"gravity_scale\": "
    "0},"
    " {\"name\": \"c\", \"position\": [9, 1.5], \"gravity_scale\": 0.25,"
    " \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"density\": 1}]}],"
    " \"joints\": [{\"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 3]},"
    " {\"kind\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"at\": [1, 3]}]}",
    "{\"stepper\": \"event\", \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", "
    "\"restitution\": 0.5}],"
    " \"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", \"position\": [0.5, 0, 3], \"mass\": 1,"
    " \"inertia\": [0.1, 0.1, 0.1], \"gravity_scale\": 2},"
    " {\"name\": \"b\", \"kind\": \"solid\", \"position\": [1.5, 0, 3], \"mass\": 2, \"inertia\": "
    "[0.2, 0.2, 0.2],"
    " \"gravity_scale\": 0},"
    " {\"name\": \"c\", \"kind\": \"solid\", \"position\": [9, 0, 1.5], \"gravity_scale\": 0.25,"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5, \"density\": 1}]}],"
    " \"joints\": [{\"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 0, 3], \"axis\": [0, 1, 0]},"
    " {\"kind\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"at\": [1, 0, 3], \"axis\": [0, 1, "
    "0]}]}"};

// The drop of 1 m at g/4 takes sqrt(8 / g); before the impact the energy is constant.
static void falls_bounces_and_keeps_its_energy(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        perp_scene *scene = NULL;
        assert_int_equal(perp_scene_parse("test", texts[i], strlen(texts[i]), NULL, &scene, NULL),
                         PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim = NULL;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        double impact = -1.0, start = 0.0, t_impact = sqrt(8.0 / 9.81);
        for (int k = 0; k < 100; k++) {
            assert_int_equal(perp_sim_step(sim, 0.02), PERP_OK);
            const perp_step_info *info = perp_sim_info(sim);
            assert_true(info->certificate.passed);
            double energy = info->energy.kinetic + info->energy.potential;
            start = k == 0 ? energy : start;
            if (perp_sim_time(sim) < t_impact) {
                assert_true(fabs(energy - start) < 1e-9 * fabs(start));
            }
            int count;
            const perp_event *event = perp_sim_events(sim, &count);
            for (int n = 0; n < count; n++) {
                if (event[n].kind == PERP_EVENT_IMPACT && impact < 0.0) {
                    impact = event[n].t;
                }
            }
        }
        assert_true(fabs(impact - t_impact) < 1e-9);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

static void recordings_pass_their_check(void **state)
{
    (void)state;
    folder f = folder_create();
    for (int i = 0; i < 2; i++) {
        recorded_run how = {.stepper = PERP_STEPPER_EVENT, .h = 0.02, .steps = 100};
        recorded_counts counts = recorded_scene(texts[i], folder_at(&f, "run"), how);
        assert_int_equal(counts.violated, 0);
        assert_true(recorded_check(folder_at(&f, "run")).passed);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falls_bounces_and_keeps_its_energy),
        cmocka_unit_test(recordings_pass_their_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
