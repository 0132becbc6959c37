// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes with "stepper": "event", run as their files say, against closed forms. Every step must pass its
// certificate.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>

static const double PI = 3.14159265358979323846;

// Complete elliptic integral of the first kind, by the arithmetic-geometric mean; k is the modulus.
static double complete_elliptic(double k)
{
    double a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 40; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 0.5 * PI / a;
}

// A rod swings down from level and off a stop at its lowest point with e = 0.7. With T = sqrt(I / (m g l))
// about the pin the amplitude has the modulus k = sin(amplitude / 2): T K(k) to the first impact, 2 T K(k)
// between two, and the speed at the bottom is 2 k / T, so that an impact makes e k of k.
static void pendulum_bounces_off_its_stop(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    assert_int_equal(perp_scene_load("scenes/pendulum-stop.json", NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    double T = sqrt(1.0 / 3.0 / (9.81 * 0.5)), k = sqrt(0.5), next = T * complete_elliptic(k);
    int impacts = 0, steps = (int)lround(perp_scene_until(scene) / perp_scene_step(scene));
    for (int i = 0; i < steps; i++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
        assert_true(perp_sim_info(sim)->certificate.passed);
        int count = 0;
        const perp_event *event = perp_sim_events(sim, &count);
        for (int j = 0; j < count; j++) {
            if (event[j].kind != PERP_EVENT_LIMIT_REACHED) {
                continue;
            }
            assert_true(fabs(event[j].t - next) < 1e-10);
            assert_true(fabs(event[j].rate_before + 2.0 * k / T) < 1e-10);
            assert_true(fabs(event[j].rate_after - 0.7 * 2.0 * k / T) < 1e-10);
            k *= 0.7;
            next += 2.0 * T * complete_elliptic(k);
            impacts++;
        }
    }
    assert_true(next > perp_scene_until(scene));  // none was missed
    assert_int_equal(impacts, 3);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_bounces_off_its_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
