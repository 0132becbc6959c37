// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The machines of docs/machines.md: a quadruped that stands without creeping and follows its input, an arm that pushes a
// parcel, and an arm with sensors.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

typedef struct machine {
    perp_scene *scene;
    perp_sim *sim;
    const perp_model *model;
    double h;
} machine;

static machine open_machine(const char *path, perp_coordinates coordinates)
{
    machine m = {0};
    perp_error error = {0};
    if (perp_scene_load(path, NULL, &m.scene, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(m.scene);
    def.coordinates = coordinates;
    m.model = perp_scene_model(m.scene);
    m.h = perp_scene_step(m.scene);
    assert_int_equal(perp_sim_create(m.model, &def, NULL, &m.sim, &error), PERP_OK);
    return m;
}

static void close_machine(machine *m)
{
    perp_sim_destroy(m->sim);
    perp_scene_destroy(m->scene);
}

static void run_to(machine *m, double t)
{
    while (perp_sim_time(m->sim) < t - 0.5 * m->h) {
        assert_int_equal(perp_sim_step(m->sim, m->h), PERP_OK);
        assert_true(perp_sim_info(m->sim)->certificate.passed);
    }
}

static perp_vec3 place_of(const machine *m, const char *body)
{
    return perp_sim_body_position(m->sim, perp_model_body(m->model, body));
}

static perp_joint_state joint_of(const machine *m, const char *joint)
{
    return perp_sim_joint(m->sim, perp_model_joint(m->model, joint));
}

// Held by servos and friction it comes to rest and stays there: no creep. The weight on the feet is that of the robot.
static void quadruped_stands(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        machine m = open_machine("scenes/quadruped-stands.json",
                                 k == 0 ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY);
        double start = place_of(&m, "trunk").z;
        run_to(&m, 0.5);
        perp_vec3 first = place_of(&m, "trunk");
        assert_true(fabs(start - first.z - 0.00132) <
                    1e-5);  // it sinks onto its servos, as docs/machines.md says
        run_to(&m, 1.0);
        perp_vec3 then = place_of(&m, "trunk");
        assert_true(fabs(then.x - first.x) < 1e-12 && fabs(then.y - first.y) < 1e-12 &&
                    fabs(then.z - first.z) < 1e-12);
        int contacts;
        const perp_contact *contact = perp_sim_contacts(m.sim, &contacts);
        double push = 0.0, weight = 0.0;
        for (int i = 0; i < contacts; i++) {
            push += contact[i].pn * contact[i].normal_W.z;
        }
        for (int i = 1; i < perp_model_bodies(m.model); i++) {
            weight += 9.81 * m.h * perp_model_mass(m.model, (perp_body){i});
        }
        assert_int_equal(contacts, 4);
        assert_true(fabs(push - weight) < 1e-12);
        // Half-way through the bow the input is 0.3 rad: the knees follow to where their servos and the load balance.
        run_to(&m, 2.0);
        double crouch = perp_sim_input(m.sim, perp_model_input(m.model, "crouch"));
        assert_true(fabs(crouch - 0.3) < 1e-5);
        for (int leg = 0; leg < 4; leg++) {
            char name[16] = "leg0_knee";
            name[3] = (char)('0' + leg);
            assert_true(fabs(joint_of(&m, name).coordinate + 0.6) < 0.05);
        }
        assert_true(place_of(&m, "trunk").z < first.z - 0.05);
        close_machine(&m);
    }
}

// The parcel rests until the hand comes, and is carried along; the base turns it by as much as it is told to.
static void arm_pushes(void **state)
{
    (void)state;
    machine m = open_machine("scenes/arm-pushes.json", PERP_COORDINATES_JOINT);
    perp_vec3 start = place_of(&m, "parcel");
    run_to(&m, 1.0);
    perp_vec3 before = place_of(&m, "parcel");
    assert_true(before.x == start.x && before.y == start.y);
    run_to(&m, 4.0);
    perp_vec3 end = place_of(&m, "parcel");
    assert_true(hypot(end.x - start.x, end.y - start.y) > 0.25);
    assert_true(fabs(end.z - start.z) < 1e-6);
    // A servo of stiffness kp holds its joint off by effort / kp.
    perp_actuator_state servo =
        perp_sim_actuator(m.sim, perp_model_actuator(m.model, "base servo"));
    double off = 1.2 - joint_of(&m, "base").coordinate;
    assert_true(fabs(off - servo.effort / 400.0) < 1e-8);
    assert_true(fabs(off) < 0.01 && !servo.limited);
    close_machine(&m);
}

// Gains of the servos as docs/machines.md says: 1e6 at the scene's step of 2 ms. And a slippery table.
static void tutorials_are_changed(void **state)
{
    (void)state;
    perp_error error;
    perp_scene_load_options with = perp_scene_load_options_default();
    const perp_scene_parameter grip = {"grip", "0.1"};
    with.set = &grip;
    with.sets = 1;
    machine m = {0};
    assert_int_equal(perp_scene_load_with("scenes/arm-pushes.json", &with, NULL, &m.scene, &error),
                     PERP_OK);
    perp_sim_def def = perp_scene_sim_def(m.scene);
    m.model = perp_scene_model(m.scene);
    m.h = perp_scene_step(m.scene);
    assert_int_equal(perp_sim_create(m.model, &def, NULL, &m.sim, &error), PERP_OK);
    run_to(&m, 2.0);
    close_machine(&m);
    m = open_machine("scenes/quadruped-stands.json", PERP_COORDINATES_AUTO);
    for (int i = 0; i < perp_model_actuators(m.model); i++) {
        const double bias[3] = {0.0, -1e6, -6.0};
        assert_int_equal(perp_sim_actuator_gains_set(m.sim, (perp_actuator){i}, 1e6, bias),
                         PERP_OK);
    }
    run_to(&m, 1.0);
    double high = place_of(&m, "trunk").z;
    run_to(&m, 2.0);  // through the bow
    assert_true(fabs(joint_of(&m, "leg0_knee").coordinate + 0.6) < 1e-4);
    assert_true(place_of(&m, "trunk").z < high - 0.05);
    close_machine(&m);
}

// A sensor with one value, or a value of one that has three.
static double sensed(const machine *m, const char *name, int k)
{
    double value[4] = {0.0};
    assert_int_equal(perp_sim_sensor(m->sim, perp_model_sensor(m->model, name), value, 4), PERP_OK);
    return value[k];
}

// At rest on the table the wrist carries what the table does not, the joint balances both, and the accelerometer reads
// gravity in the axes of the tilted probe.
static void arm_senses(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        machine m = open_machine("scenes/sensor-arm.json",
                                 k == 0 ? PERP_COORDINATES_BODY : PERP_COORDINATES_JOINT);
        double height = sensed(&m, "height", 0);
        assert_true(fabs(height - 0.07) < 1e-12 && sensed(&m, "touch", 0) == 0.0);
        run_to(&m, 0.2);
        assert_true(sensed(&m, "height", 0) < height && sensed(&m, "touch", 0) == 0.0);
        double most = 0.0, least = height;
        while (perp_sim_time(m.sim) < 1.5 - 0.5 * m.h) {
            run_to(&m, perp_sim_time(m.sim) + m.h);
            most = fmax(most, sensed(&m, "touch", 0));
            least = fmin(least, sensed(&m, "height", 0));
        }
        // the numbers of docs/machines.md
        if (!(fabs(most - 30.0) < 0.6) || !(fabs(least - 0.0201) < 5e-5)) {
            fail_msg("touch up to %g N, height down to %g m", most, least);
        }
        double push = sensed(&m, "touch", 0), angle = sensed(&m, "angle", 0);
        double probe = 9.81 * perp_model_mass(m.model, perp_model_body(m.model, "probe"));
        assert_true(push > 1.0 && fabs(sensed(&m, "tip", 2) - 0.02) < 1e-6);
        // friction acts along x of the world; z of the world is (-sin, 0, cos) in the axes of the probe
        double s = sin(angle), c = cos(angle);
        double up = -s * sensed(&m, "wrist force", 0) + c * sensed(&m, "wrist force", 2);
        assert_true(fabs(up + push - probe) < 1e-4);
        assert_true(fabs(sensed(&m, "imu", 0) + 9.81 * s) < 1e-4);
        assert_true(fabs(sensed(&m, "imu", 2) - 9.81 * c) < 1e-4);
        assert_true(fabs(sensed(&m, "gyro", 1)) < 1e-6);
        // the servo is all that acts along the joint
        assert_true(fabs(sensed(&m, "joint effort", 0) - sensed(&m, "servo effort", 0)) < 1e-12);
        assert_true(fabs(sensed(&m, "servo effort", 0) - 400.0 * (0.13 - angle)) < 1e-3);
        close_machine(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quadruped_stands),
                                       cmocka_unit_test(arm_pushes), cmocka_unit_test(arm_senses),
                                       cmocka_unit_test(tutorials_are_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
