// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A robot in space that touches the ground, with a ball that bounces on what moves: a controller sets inputs, applies
// forces and changes the model, in every stepper, form and choice of coordinates. The certificate and the check of the
// recording both pass all steps.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

// %s: further settings. A box that carries an arm: dry friction, limits, a rotor, a motor of limited effort, a servo with
// a filter, a jet.
static const char robot[] =
    "{\"name\": \"robot\", \"step\": 0.004,%s\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"mu\": 0.6, \"restitution\": "
    "0.7}],\n"
    " \"inputs\": [{\"name\": \"aim\", \"value\": \"0.3*sin(5*t)\", \"range\": [-1, 1]}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"base\", \"kind\": \"solid\", \"position\": [0, 0, 0.15],\n"
    "   \"shapes\": [{\"name\": \"b\", \"kind\": \"box\", \"size\": [0.4, 0.3, 0.3], \"density\": "
    "300}]},\n"
    "  {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [0.3, 0, 0.4], \"mass\": 2,\n"
    "   \"inertia\": [0.02, 0.1, 0.1],\n"
    "   \"shapes\": [{\"name\": \"h\", \"kind\": \"sphere\", \"radius\": 0.06, \"position\": [0.3, "
    "0, 0]}]},\n"
    "  {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [1, 2, 0.6], \"shapes\": "
    "[{\"name\": \"s\",\n"
    "   \"kind\": \"sphere\", \"radius\": 0.1, \"density\": 500, \"restitution\": 0.7}]},\n"
    "  {\"name\": \"lift\", \"kind\": \"solid\", \"drive\": {\"z\": \"-0.05\"}, \"position\": [1, "
    "2, 0],\n"
    "   \"shapes\": [{\"name\": \"l\", \"kind\": \"box\", \"size\": [1, 1, 0.1]}]}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"pin\", \"kind\": \"revolute\", \"a\": \"base\", \"b\": \"arm\", \"at\": [0, 0, "
    "0.4],\n"
    "   \"axis\": [0, 1, 0], \"friction\": 0.1, \"lower\": -1, \"upper\": 1.2, \"armature\": "
    "0.01},\n"
    "  {\"name\": \"motor\", \"kind\": \"coupling\", \"coordinate\": \"q[pin]\", \"rate\": 0, "
    "\"rate_effort\": 1}],\n"
    " \"sites\": [{\"name\": \"tip\", \"body\": \"arm\", \"position\": [0.3, 0, 0]}],\n"
    " \"sensors\": [\n"
    "  {\"name\": \"force\", \"kind\": \"force\", \"joint\": \"pin\", \"body\": \"arm\"},\n"
    "  {\"name\": \"torque\", \"kind\": \"torque\", \"joint\": \"pin\", \"site\": \"tip\"},\n"
    "  {\"name\": \"imu\", \"kind\": \"accelerometer\", \"site\": \"tip\"},\n"
    "  {\"name\": \"load\", \"kind\": \"touch\", \"body\": \"base\"},\n"
    "  {\"name\": \"effort\", \"kind\": \"joint-effort\", \"joint\": \"pin\"}],\n"
    " \"actuators\": [\n"
    "  {\"name\": \"servo\", \"kind\": \"position\", \"joint\": \"pin\", \"control\": \"aim\", "
    "\"kp\": 60,\n"
    "   \"damping_ratio\": 0.7, \"effort\": 8, \"time_constant\": 0.02},\n"
    "  {\"name\": \"jet\", \"kind\": \"motor\", \"site\": \"tip\", \"force\": [0, 1, 0], "
    "\"torque\": [0.1, 0, 0],\n"
    "   \"control\": \"2*aim\"}]}\n";

enum { STEPS = 135 };

// What is changed, in the first step that begins after `from`.
typedef enum { GRAVITY, FRICTION, GAINS, RATE, MOTION, INPUT, RELEASE, CHANGES } change;
static const double from[CHANGES] = {0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5};

static perp_status make(perp_sim *sim, change what)
{
    const perp_model *m = perp_sim_model(sim);
    perp_actuator servo = perp_model_actuator(m, "servo");
    perp_input aim = perp_model_input(m, "aim");
    perp_twist V = {{0.1, 0.0, 0.1}, {0.0, 0.0, 0.5}};
    const double bias[3] = {0.1, -30.0, -2.0};
    switch (what) {
    case GRAVITY:
        return perp_sim_gravity_set(sim, (perp_vec3){0.5, 0.0, -8.0});
    case FRICTION:
        return perp_sim_shape_friction_set(sim, perp_model_shape(m, "floor"), 0.2, 0.01, 0.001);
    case GAINS:
        assert_int_equal(perp_sim_actuator_limits_set(sim, servo, -3.0, 5.0), PERP_OK);
        return perp_sim_actuator_gains_set(sim, servo, 40.0, bias);
    case RATE:
        return perp_sim_joint_rate_set(sim, perp_model_joint(m, "motor"), 0.5, 2.0);
    case MOTION:
        return perp_sim_body_motion_set(sim, perp_model_body(m, "lift"), NULL, &V);
    case INPUT:
        return perp_sim_input_set(sim, aim, 0.9);
    default:
        perp_sim_input_release(sim, aim);
        return PERP_OK;
    }
}

static void control(void *user, perp_sim *sim, double h)
{
    const perp_model *m = perp_sim_model(sim);
    double t = perp_sim_time(sim);
    ++*(int *)user;
    if (t > 0.05) {
        perp_sim_body_apply(sim, perp_model_body(m, "base"),
                            (perp_wrench){{3.0 * sin(9.0 * t), 0.0, 0.0}, {0.0, 0.0, 0.2}});
    }
    if (t > 0.1) {
        perp_sim_body_apply_at(sim, perp_model_body(m, "ball"), (perp_vec3){0.0, 0.5, 0.0},
                               (perp_vec3){1.0, 2.0, 0.3});
        assert_int_equal(perp_sim_joint_apply(sim, perp_model_joint(m, "pin"), 0.4 * sin(t)),
                         PERP_OK);
    }
    for (int k = 0; k < CHANGES; k++) {
        if (t > from[k] && t - h <= from[k]) {
            assert_int_equal(make(sim, (change)k), PERP_OK);
        }
    }
}

static void record(const char *settings)
{
    char text[sizeof robot + 100];
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_error error = {0};
    int calls = 0;
    snprintf(text, sizeof text, robot, settings);
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.on_control = control;
    def.user = &calls;
    perp_record_def rec = perp_record_default();
    rec.scene = text;
    rec.h = perp_scene_step(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(place.path, sim, &rec, NULL, &out, &error), PERP_OK);
    for (int k = 1; k <= STEPS; k++) {
        if (perp_sim_step(sim, rec.h) != PERP_OK) {
            fail_msg("%s step %d: %s %s", settings, k, perp_sim_error(sim)->text,
                     perp_sim_info(sim)->remark);
        }
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
    }
    assert_int_equal(calls, STEPS);  // once a step, whatever parts it is divided into
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// `event` ends parts at t + h, which was a bit behind the end of the step, the product of h and a number: the last part
// had a negative length.
static void every_scheme_passes(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "",
        "\"coordinates\": \"joint\",",
        "\"form\": \"mcp\",",
        "\"form\": \"lcp\",",
        "\"friction\": \"pyramid\",",
        "\"impact\": \"poisson\",",
        "\"positions\": \"exact\",",
        "\"stepper\": \"anitescu-potra\",",
        "\"stepper\": \"moreau-jean\",",
        "\"stepper\": \"implicit\",",
        "\"stepper\": \"implicit\", \"coordinates\": \"joint\",",
        "\"stepper\": \"event\",",
    };
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        record(settings[k]);
        perp_check check = recorded_check(place.path);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (check.item[i].done && !(check.item[i].over <= 1.0)) {
                fail_msg("%s %s is %g, the limit %g, at t = %g", settings[k], check.item[i].name,
                         check.item[i].worst, check.item[i].limit, check.item[i].t);
            }
        }
        assert_true(check.passed);
        // smooth parts of `event`, and rebounds after Poisson's law, are not judged
        bool partly = strstr(settings[k], "event") || strstr(settings[k], "poisson");
        assert_int_equal(check.partly, partly);
    }
}

static int setup(void **state)
{
    (void)state;
    place = folder_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scheme_passes)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
