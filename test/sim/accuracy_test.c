// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Estimated errors of the motion, held against the event-driven motion: right to a factor, smaller where less is allowed,
// and the same bits in every run.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

// A crank of 0.1 m with a motor of limited effort turns a coupler on a slide: fast enough that steps of 1 ms are wrong.
static const char SLIDER[] =
    "{\"step\": 0.001, \"bodies\": [{\"name\": \"crank\", \"position\": [0.05, 0], \"mass\": 0.4, "
    "\"inertia\": 4e-4}, {\"name\": \"rod\", \"position\": [0.25, 0], \"mass\": 0.5, \"inertia\": "
    "4e-3}, {\"name\": \"piston\", \"position\": [0.4, 0], \"mass\": 0.6, \"inertia\": 1e-3}], "
    "\"joints\": [{\"name\": \"motor\", \"kind\": \"revolute\", \"b\": \"crank\", \"at\": [0, 0], "
    "\"rate\": \"12\", \"rate_effort\": 1.5}, {\"kind\": \"revolute\", \"a\": \"crank\", \"b\": "
    "\"rod\", \"at\": [0.1, 0]}, {\"kind\": \"revolute\", \"a\": \"rod\", \"b\": \"piston\", "
    "\"at\": [0.4, 0]}, {\"kind\": \"prismatic\", \"b\": \"piston\", \"at\": [0.4, 0], \"axis\": "
    "[1, 0]}]}";

// A rod that falls over on its end, with friction, and strikes the floor.
static const char ROD[] =
    "{\"step\": 0.002, \"shapes\": [{\"kind\": \"halfplane\", \"mu\": 0.6}], \"bodies\": "
    "[{\"name\": "
    "\"crank\", \"position\": [0.1, 0.5], \"angle\": 1.3, \"mass\": 1, \"inertia\": 0.08, "
    "\"shapes\": [{\"kind\": \"box\", \"size\": [1, 0.05], \"mu\": 0.6}]}]}";

typedef struct outcome {
    perp_vec3 place;
    double angle, estimate;
    uint64_t hash;
    int inexact;
} outcome;

static outcome run(const char *text, perp_stepper stepper, double accuracy, double until)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    outcome out = {0};
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    def.accuracy = accuracy;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    double h = perp_scene_step(scene);
    int steps = (int)lround(until / h);
    for (int k = 0; k < steps; k++) {
        if (perp_sim_step(sim, h) < 0) {
            fail_msg("step %d: %s", k, perp_sim_error(sim)->text);
        }
        out.inexact += !perp_sim_info(sim)->certificate.passed;
    }
    perp_body body = perp_model_body(perp_scene_model(scene), "crank");
    out.place = perp_sim_body_position(sim, body);
    out.angle = perp_sim_body_angle(sim, body);
    out.estimate = perp_sim_info(sim)->motion_error;
    out.hash = perp_sim_state_hash(sim);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return out;
}

// Steps of 1 ms: the crank is behind, the certificate passes, and the estimate says how far it is off.
static void estimates_are_right_to_a_factor(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_IMPLICIT,
                                            PERP_STEPPER_MOREAU_JEAN};
    outcome right = run(SLIDER, PERP_STEPPER_EVENT, 0.0, 1.0);
    for (int s = 0; s < 3; s++) {
        double last = HUGE_VAL;
        for (int k = 0; k < 2; k++) {
            outcome o = run(SLIDER, steppers[s], k ? 0.003 : 0.3, 1.0);
            double off = hypot(o.place.x - right.place.x, o.place.y - right.place.y);
            print_message("%s: off by %.2e m, estimated %.2e m\n",
                          perp_stepper_word((int)steppers[s]), off, o.estimate);
            assert_int_equal(o.inexact, 0);
            // the estimate is of the body that is off most, and of its farthest point
            assert_true(o.estimate > 0.5 * off && o.estimate < 20.0 * off + 1e-6);
            assert_true(off <= last);
            last = off;
        }
    }
}

// A four-bar whose motor reaches its limit, in joint coordinates: the certificate passes with steps of 1 ms while the crank is
// more than a radian behind. The estimate shows it, and less is allowed than it was off.
static const char FOUR_BAR[] =
    "{\"step\": 0.001, \"coordinates\": \"joint\", \"bodies\": [{\"name\": \"crank\", "
    "\"position\": [0, 0.1], \"angle\": \"90 deg\", \"mass\": 8.6, \"inertia\": 0.029}, "
    "{\"name\": \"coupler\", \"position\": [0.2, 0.3], \"angle\": 0.4636476090008061, "
    "\"mass\": 18.5, \"inertia\": 0.31}, {\"name\": \"rocker\", \"position\": [0.4, 0.2], "
    "\"angle\": \"90 deg\", \"mass\": 16.6, \"inertia\": 0.22}], \"joints\": [{\"kind\": "
    "\"revolute\", \"b\": \"crank\", \"at\": [0, 0], \"rate\": \"4*pi*min(t/0.2, 1)\", "
    "\"rate_effort\": 5}, {\"kind\": \"revolute\", \"a\": \"crank\", \"b\": \"coupler\", "
    "\"at\": [0, 0.2]}, {\"kind\": \"revolute\", \"a\": \"coupler\", \"b\": \"rocker\", "
    "\"at\": [0.4, 0.4]}, {\"kind\": \"revolute\", \"b\": \"rocker\", \"at\": [0.4, 0]}]}";

static void a_motor_at_its_limit_does_not_look_right(void **state)
{
    (void)state;
    double right = run(FOUR_BAR, PERP_STEPPER_EVENT, 0.0, 2.0).angle;
    outcome plain = run(FOUR_BAR, PERP_STEPPER_STEWART_TRINKLE, 0.0, 2.0);
    // 10 m/s: the steps are not divided, and the error is estimated as it is
    outcome said = run(FOUR_BAR, PERP_STEPPER_STEWART_TRINKLE, 10.0, 2.0);
    outcome better = run(FOUR_BAR, PERP_STEPPER_STEWART_TRINKLE, 1e-2, 2.0);
    print_message(
        "crank: %.4f rad, with 1 ms %.4f, estimated %.2e m; divided %.4f, estimated %.2e m\n",
        right, plain.angle, said.estimate, better.angle, better.estimate);
    assert_int_equal(plain.inexact + said.inexact + better.inexact, 0);
    assert_true(fabs(plain.angle - right) > 0.5);
    assert_true(plain.estimate == 0.0 && said.estimate > 0.02);
    assert_true(fabs(better.angle - right) < 0.6 * fabs(plain.angle - right));
}

// Short parts: joints of the implicit step are closed to what their rates are judged by.
static void short_parts_of_the_implicit_step_pass(void **state)
{
    (void)state;
    static const char text[] = "{\"step\": 0.0005, \"bodies\": [{\"name\": \"crank\", "
                               "\"position\": [0.5, 0], \"mass\": 1, "
                               "\"inertia\": 0.0833}], \"joints\": [{\"kind\": \"revolute\", "
                               "\"b\": \"crank\", \"at\": [0, 0]}]}";
    assert_int_equal(run(text, PERP_STEPPER_IMPLICIT, 1e-2, 0.05).inexact, 0);
}

static void contacts_are_met(void **state)
{
    (void)state;
    outcome right = run(ROD, PERP_STEPPER_IMPLICIT, 1e-4, 0.4);
    outcome loose = run(ROD, PERP_STEPPER_IMPLICIT, 0.1, 0.4);
    outcome again = run(ROD, PERP_STEPPER_IMPLICIT, 0.1, 0.4);
    double off = hypot(loose.place.x - right.place.x, loose.place.y - right.place.y);
    print_message("off by %.2e m, estimated %.2e m\n", off, loose.estimate);
    assert_true(loose.hash == again.hash);
    assert_true(loose.estimate > 0.3 * off);
    assert_true(right.estimate < loose.estimate);
}

static void wrong_accuracies_are_refused(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    assert_int_equal(perp_scene_parse("x", ROD, strlen(ROD), NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.accuracy = -1.0;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                     PERP_ERR_ARGUMENT);
    def.accuracy = NAN;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                     PERP_ERR_ARGUMENT);
    def.accuracy = 1e-3;
    def.stepper = PERP_STEPPER_EVENT;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                     PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "relative_tolerance"));
    perp_scene_destroy(scene);
}

// A state that is set begins another motion, without an error so far.
static void errors_begin_anew(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    static char block[1 << 16];
    assert_int_equal(perp_scene_parse("x", SLIDER, strlen(SLIDER), NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.accuracy = 0.1;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    double first = 0.0, last = 0.0;
    size_t size = perp_sim_state_save_size(sim);
    assert_true(size <= sizeof block);
    assert_int_equal(perp_sim_state_save(sim, block, size), PERP_OK);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(perp_sim_step(sim, 0.001), PERP_OK);
        last = perp_sim_info(sim)->motion_error;
        first = k == 0 ? last : first;
    }
    assert_true(last > first);
    assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);
    assert_int_equal(perp_sim_step(sim, 0.001), PERP_OK);
    assert_true(perp_sim_info(sim)->motion_error == first);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_right_to_a_factor),
        cmocka_unit_test(contacts_are_met),
        cmocka_unit_test(a_motor_at_its_limit_does_not_look_right),
        cmocka_unit_test(short_parts_of_the_implicit_step_pass),
        cmocka_unit_test(wrong_accuracies_are_refused),
        cmocka_unit_test(errors_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
