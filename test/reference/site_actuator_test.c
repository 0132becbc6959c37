// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Actuators at sites against closed forms, in all steppers; and targets of joints that are set while a sim runs. Every step
// is certified, and every run judged again from its recording.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

typedef struct scheme {
    perp_stepper stepper;
    const char *keys;
} scheme;

static const scheme schemes[] = {{PERP_STEPPER_STEWART_TRINKLE, ", \"coordinates\": \"body\""},
                                 {PERP_STEPPER_STEWART_TRINKLE, ", \"coordinates\": \"joint\""},
                                 {PERP_STEPPER_STEWART_TRINKLE, ", \"form\": \"lcp\""},
                                 {PERP_STEPPER_ANITESCU_POTRA, ""},
                                 {PERP_STEPPER_MOREAU_JEAN, ""},
                                 {PERP_STEPPER_EVENT, ""}};
enum { SCHEMES = sizeof schemes / sizeof *schemes, EVENT = SCHEMES - 1 };

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s is %.17g, not %.17g, off by %.3g", what, got, want, got - want);
    }
}

static void judge(int k)
{
    perp_check check = recorded_check(place.path);
    for (int i = 0; i < PERP_CHECK_COUNT; i++) {
        if (check.item[i].done && !(check.item[i].over <= 1.0)) {
            fail_msg("%s%s: %s is %g, the limit %g", perp_stepper_word((int)schemes[k].stepper),
                     schemes[k].keys, check.item[i].name, check.item[i].worst, check.item[i].limit);
        }
    }
    assert_true(check.passed);
}

// Runs, judges, and returns the last frame of a recording that is to be closed.
static perp_recording *run(const char *scene, int k, double h, int steps, perp_snapshot *last)
{
    char text[4000];
    (void)snprintf(text, sizeof text, scene, schemes[k].keys);
    recorded_run run = {.stepper = schemes[k].stepper, .h = h, .steps = steps};
    recorded_counts counts = recorded_scene(text, place.path, run);
    assert_int_equal(counts.violated, 0);
    judge(k);
    perp_recording *recording = recorded_open(place.path);
    *last = recorded_frame(recording, steps);
    return recording;
}

// A jet behind the centre of mass of a body in the plane, at an angle: spin tau t / I, from rest.
static void jet(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"gravity\": [0, 0]%s, \"bodies\": [{\"name\": \"hull\", \"mass\": 2, \"inertia\": "
        "0.3}],\n"
        "\"sites\": [{\"name\": \"nozzle\", \"body\": \"hull\", \"position\": [-0.5, 0], "
        "\"angle\": "
        "\"90 deg\"}],\n"
        "\"actuators\": [{\"name\": \"jet\", \"kind\": \"motor\", \"site\": \"nozzle\", \"force\": "
        "[-0.2, -1], \"torque\": 0.3, \"gear\": 2, \"control\": 1.5, \"effort\": 1}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_snapshot last;
        perp_recording *recording = run(scene, k, 0.001, 500, &last);
        // effort 2 (limited): force (1, -0.2) in body axes at (-0.5, 0), moment 0.1 + 0.3, both times 2
        double alpha = 2.0 * (0.1 + 0.3) / 0.3, e = k == EVENT ? 1e-10 : 3e-9;
        near(last.nu[2], alpha * 0.5, e, "spin");
        near(last.actuator[0].effort, 2.0, 1e-9, "effort");
        assert_true(last.actuator[0].limited);
        // small angles: v = (F/m) t in the direction of the hull, which turns by alpha t^2 / 2
        double vx = 0.0, vy = 0.0;
        for (int i = 0; i < 20000; i++) {
            double t = (i + 0.5) * 0.5 / 20000.0, a = 0.5 * alpha * t * t, dt = 0.5 / 20000.0;
            vx += dt * (cos(a) + 0.2 * sin(a));
            vy += dt * (sin(a) - 0.2 * cos(a));
        }
        near(last.nu[0], vx, k == EVENT ? 1e-8 : 2e-3, "vx");
        near(last.nu[1], vy, k == EVENT ? 1e-8 : 2e-3, "vy");
        perp_recording_close(recording);
    }
}

// A drag kv along one axis of a site in space: m v' = -kv v along it, nothing across; implicit Euler steps of it.
static void drag(void **state)
{
    (void)state;
    static const char scene[] = "{\"gravity\": [0, 0, 0]%s, \"bodies\": [{\"name\": \"b\", "
                                "\"kind\": \"solid\", \"mass\": 2, "
                                "\"inertia\": [1, 1, 1], \"velocity\": [3, 2, 1]}],\n"
                                "\"sites\": [{\"name\": \"s\", \"body\": \"b\", \"rotation\": "
                                "{\"axis\": [0, 0, 1], \"angle\": "
                                "\"90 deg\"}}],\n"
                                "\"actuators\": [{\"name\": \"d\", \"kind\": \"velocity\", "
                                "\"site\": \"s\", \"force\": [0, 1, "
                                "0], \"control\": 0, \"kv\": 4}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_snapshot last;
        perp_recording *recording = run(scene, k, 0.01, 100, &last);
        bool theta = schemes[k].stepper == PERP_STEPPER_MOREAU_JEAN;  // of second order
        double want = 3.0 * (k == EVENT || theta ? exp(-2.0) : pow(1.0 + 0.01 * 2.0, -100.0));
        double e = theta ? 1e-4 : 1e-8;
        near(last.nu[0], want, e, "vx");  // the y axis of the site is -x
        near(last.nu[1], 2.0, 1e-12, "vy");
        near(last.nu[2], 1.0, 1e-12, "vz");
        perp_recording_close(recording);
    }
}

// What cannot be is refused, with the name of the actuator.
static void refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"\"site\": \"s\", \"kind\": \"position\", \"kp\": 1, \"force\": [1, 0]", "no position"},
        {"\"site\": \"s\", \"kind\": \"motor\"", "force or a torque"},
        {"\"site\": \"g\", \"kind\": \"motor\", \"force\": [1, 0]", "dynamic body"},
        {"\"site\": \"s\", \"kind\": \"general\", \"bias\": [0, 1, 0], \"torque\": 1",
         "no position"},
        {"\"site\": \"s\", \"joint\": \"j\", \"kind\": \"motor\", \"force\": [1, 0]", "not both"},
        {"\"kind\": \"motor\"", "joint or a site"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1000];
        perp_scene *scene = NULL;
        perp_error error = {0};
        (void)snprintf(
            text, sizeof text,
            "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 1}], \"sites\": "
            "[{\"name\": \"s\", \"body\": \"b\"}, {\"name\": \"g\"}], \"joints\": [{\"name\": "
            "\"j\", \"kind\": \"revolute\", \"b\": \"b\"}], \"actuators\": [{\"name\": "
            "\"jet\", %s}]}",
            bad[i][0]);
        assert_true(perp_scene_parse("s", text, strlen(text), NULL, &scene, &error) < 0);
        if (!strstr(error.text, bad[i][1]) || !strstr(error.text, "jet")) {
            fail_msg("%s: %s", bad[i][0], error.text);
        }
    }
}

// A servo without inertia: kp (c - x) balances the weight, whose moment is m g r cos x. Steps are those of a servo with
// kv, which perp check once took for wrong: velocities have the slack of the certificate.
static void without_inertia(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"step\": 0.01%s, \"bodies\": [{\"name\": \"arm\", \"mass\": 1, \"inertia\": 0.1, "
        "\"position\": [0.5, 0]}],\n"
        "\"joints\": [{\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": "
        "[0, 0]}],\n"
        "\"actuators\": [{\"name\": \"servo\", \"kind\": \"position\", \"joint\": \"hinge\", "
        "\"control\": \"0.3*sin(5*t)\", \"kp\": 100, \"kv\": 1, \"effort\": %d}]}";
    for (int effort = 6; effort <= 60; effort += 54) {
        char text[1000];
        (void)snprintf(text, sizeof text, scene, "", effort);
        recorded_run run = {.stepper = PERP_STEPPER_QUASISTATIC, .steps = 50};
        assert_int_equal(recorded_scene(text, place.path, run).violated, 0);
        judge(0);
    }
}

// ── Targets ──────────────────────────────────────────────────────────────────────────────────────

static int steps_done;

// Every tenth step the target goes on from where it is with another rate.
static void follow(void *user, perp_sim *sim, double h)
{
    (void)user;
    (void)h;
    perp_joint joint = {0};
    if (steps_done % 10 == 0) {
        double rate = steps_done % 20 == 0 ? 0.5 : -0.2;
        assert_int_equal(
            perp_sim_joint_target_set(sim, joint, perp_sim_joint(sim, joint).coordinate, rate),
            PERP_OK);
    }
    steps_done++;
}

// A slider over a sledge: 40 steps of 5 ms, half of them at each rate.
static void targets_are_set(void **state)
{
    (void)state;
    static const char scene[] = "{\"step\": 0.005%s, \"bodies\": [{\"name\": \"a\", \"mass\": 2, "
                                "\"inertia\": 1}, {\"name\": "
                                "\"b\", \"mass\": 1, \"inertia\": 1, \"position\": [0, 1]}],\n"
                                "\"joints\": [{\"name\": \"x\", \"kind\": \"prismatic\", \"a\": "
                                "\"a\", \"b\": \"b\", \"axis\": "
                                "[1, 0], \"at\": [0, 1], \"target\": 0}, {\"name\": \"rail\", "
                                "\"kind\": \"prismatic\", \"b\": "
                                "\"a\", \"axis\": [1, 0]}]}";
    for (int k = 0; k < SCHEMES; k++) {
        char text[2000];
        perp_scene *read;
        perp_sim *sim;
        perp_record *out;
        perp_error error = {0};
        (void)snprintf(text, sizeof text, scene, schemes[k].keys);
        assert_int_equal(perp_scene_parse("t", text, strlen(text), NULL, &read, &error), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(read);
        def.stepper = schemes[k].stepper;
        def.on_control = follow;
        steps_done = 0;
        assert_int_equal(perp_sim_create(perp_scene_model(read), &def, NULL, &sim, &error),
                         PERP_OK);
        perp_record_def record = perp_record_default();
        record.scene = perp_scene_text(read, NULL);
        record.h = 0.005;
        assert_int_equal(perp_record_create(place.path, sim, &record, NULL, &out, &error), PERP_OK);
        for (int i = 0; i < 40; i++) {
            if (perp_sim_step(sim, 0.005) < 0) {
                fail_msg("%s: %s", schemes[k].keys, perp_sim_error(sim)->text);
            }
            assert_true(perp_sim_info(sim)->certificate.passed);
            assert_int_equal(perp_record_step(out, sim), PERP_OK);
        }
        // one step late by half with theta = 1/2, whose coordinate takes the mean rate
        near(perp_sim_joint(sim, (perp_joint){0}).coordinate, 0.1 * (0.5 - 0.2), 5e-3,
             "coordinate");
        near(perp_sim_joint(sim, (perp_joint){0}).rate, -0.2,
             schemes[k].stepper == PERP_STEPPER_MOREAU_JEAN ? 0.3 : 1e-9, "rate");
        // no momentum from outside: 3 v_a + v_rel = 0 along the rail
        near(perp_sim_joint(sim, (perp_joint){1}).rate * 3.0,
             -perp_sim_joint(sim, (perp_joint){0}).rate, 1e-9, "momentum");
        assert_int_equal(perp_sim_joint_target_set(sim, (perp_joint){1}, 0.0, 0.0),
                         PERP_ERR_ARGUMENT);
        assert_non_null(strstr(perp_sim_error(sim)->text, "'rail' has no target"));
        assert_int_equal(perp_sim_joint_target_set(sim, (perp_joint){0}, (double)NAN, 0.0),
                         PERP_ERR_ARGUMENT);
        if (k == EVENT) {
            assert_int_equal(perp_sim_joint_target_set(sim, (perp_joint){0}, 1.0, 0.0),
                             PERP_ERR_ARGUMENT);
        }
        assert_int_equal(perp_record_finish(out, sim), PERP_OK);
        perp_record_destroy(out);
        perp_sim_destroy(sim);
        perp_scene_destroy(read);
        judge(k);
    }
}

static int open_place(void **state)
{
    (void)state;
    place = folder_create();
    return 0;
}

static int close_place(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jet),
        cmocka_unit_test(drag),
        cmocka_unit_test(refused),
        cmocka_unit_test(without_inertia),
        cmocka_unit_test(targets_are_set),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
