// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs whose parameters a controller changes in every step: recorded with the step, judged completely in every stepper,
// and seen when one number is changed.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

// A box on the floor, a box on a table that is moved, a rule for a sled, a motor of limited effort, a servo.
static const char machine[] =
    "{\"name\": \"machine\", \"step\": 0.005,\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.4}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"box\", \"position\": [0, 0.1], \"velocity\": [2, 0], \"mass\": 2, \"inertia\": "
    "0.1,\n   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.2], \"mu\": 0.4}]},\n"
    "  {\"name\": \"table\", \"position\": [20, 2], \"drive\": {\"x\": \"20\"},\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [9, 0.2], \"mu\": 0.5}]},\n"
    "  {\"name\": \"load\", \"position\": [20, 2.2], \"mass\": 1, \"inertia\": 0.1,\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.2], \"mu\": 0.5}]},\n"
    "  {\"name\": \"sled\", \"position\": [-9, 0.1], \"velocity\": [3, 0], \"mass\": 2, "
    "\"inertia\": 0.1,\n"
    "   \"shapes\": [{\"name\": \"ski\", \"kind\": \"box\", \"size\": [0.4, 0.2]}]},\n"
    "  {\"name\": \"arm\", \"position\": [30.5, 5], \"mass\": 1, \"inertia\": 0.1},\n"
    "  {\"name\": \"fan\", \"position\": [31, 5], \"mass\": 0.5, \"inertia\": 0.05}],\n"
    " \"pairs\": [{\"a\": \"floor\", \"b\": \"sled.ski\", \"mu\": 0.2}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"shoulder\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [30, 5]},\n"
    "  {\"name\": \"hub\", \"kind\": \"revolute\", \"a\": \"arm\", \"b\": \"fan\", \"at\": [31, "
    "5],\n   \"rate\": 2, \"rate_effort\": 0.5}],\n"
    " \"actuators\": [{\"name\": \"servo\", \"kind\": \"position\", \"joint\": \"shoulder\", "
    "\"control\": \"0.1\",\n   \"kp\": 50, \"kv\": 3}]}\n";

enum { STEPS = 60, KINDS = 6 };

static int step_count;

// Everything that can be changed, differently in every step; and forces for one step.
static void control(void *user, perp_sim *sim, double h)
{
    const perp_model *m = perp_sim_model(sim);
    (void)user;
    (void)h;
    double s = sin(0.3 * step_count), bias[3] = {0.1 * s, -50.0, -3.0 - s};
    perp_twist V = {{0.2, step_count < 30 ? 0.0 : -0.1, 0.0}, {0.0, 0.0, 0.0}};
    perp_shape floor = perp_model_shape(m, "floor"), ski = perp_model_shape(m, "sled.ski");
    assert_int_equal(perp_sim_gravity_set(sim, (perp_vec3){0.1 * s, -9.0 + s, 0.0}), PERP_OK);
    assert_int_equal(perp_sim_shape_friction_set(sim, floor, 0.3 + 0.1 * s, 0.0, 0.0), PERP_OK);
    assert_int_equal(
        perp_sim_pair_friction_set(sim, floor, ski, (perp_friction){0.2 - 0.1 * s, -1.0, 0.0, 0.0}),
        PERP_OK);
    assert_int_equal(perp_sim_actuator_gains_set(sim, (perp_actuator){0}, 50.0 + s, bias), PERP_OK);
    assert_int_equal(perp_sim_actuator_limits_set(sim, (perp_actuator){0}, -8.0 + s, 8.0 - s),
                     PERP_OK);
    assert_int_equal(perp_sim_joint_rate_set(sim, (perp_joint){1}, 2.0 + s, 0.5 + 0.1 * s),
                     PERP_OK);
    if (step_count % 10 == 0) {
        assert_int_equal(perp_sim_body_motion_set(sim, perp_model_body(m, "table"), NULL, &V),
                         PERP_OK);
    }
    perp_vec3 at = perp_sim_body_position(sim, perp_model_body(m, "box"));
    at.y += 0.02;
    perp_sim_body_apply_at(sim, perp_model_body(m, "box"), (perp_vec3){s, 0.3, 0.0}, at);
    assert_int_equal(perp_sim_joint_apply(sim, (perp_joint){0}, 0.2 * s), PERP_OK);
    step_count++;
}

static const struct {
    perp_stepper stepper;
    perp_coordinates coordinates;
} methods[] = {{PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY},
               {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT},
               {PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_BODY},
               {PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY},
               {PERP_STEPPER_IMPLICIT, PERP_COORDINATES_BODY},
               {PERP_STEPPER_IMPLICIT, PERP_COORDINATES_JOINT},
               {PERP_STEPPER_EVENT, PERP_COORDINATES_BODY}};
enum { METHODS = sizeof methods / sizeof methods[0] };

static void record(int method, int every)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_error error = {0};
    if (perp_scene_parse("x", machine, strlen(machine), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = methods[method].stepper;
    def.coordinates = methods[method].coordinates;
    def.on_control = control;
    step_count = 0;
    perp_record_def rec = perp_record_default();
    rec.scene = perp_scene_text(scene, NULL);
    rec.h = perp_scene_step(scene);
    rec.every = every;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(place.path, sim, &rec, NULL, &out, &error), PERP_OK);
    for (int k = 1; k <= STEPS; k++) {
        perp_status status = perp_sim_step(sim, rec.h);
        if (status != PERP_OK) {
            fail_msg("method %d, step %d: %s %s", method, k, perp_sim_error(sim)->text,
                     perp_sim_info(sim)->remark);
        }
        // what is set after the step is of the next one
        assert_int_equal(perp_sim_gravity_set(sim, (perp_vec3){1.0, 1.0, 0.0}), PERP_OK);
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void changed_runs_pass(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        record(k, 1);
        perp_check check = recorded_check(place.path);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (check.item[i].done && !(check.item[i].over <= 1.0)) {
                fail_msg("method %d: %s is %g, the limit %g", k, check.item[i].name,
                         check.item[i].worst, check.item[i].limit);
            }
        }
        assert_true(check.passed);
        // event steps have no law of theirs for each impulse, whatever was changed
        assert_true(!check.partly || methods[k].stepper == PERP_STEPPER_EVENT);
    }
    // of several steps only the last one is known
    record(0, 4);
    perp_check check = recorded_check(place.path);
    assert_true(check.passed && check.partly);
}

// Adds to one value of the changes of a frame.
static void spoil(int row, int value, double add)
{
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "changes/value", H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t size[2];
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 2);
    assert_true(size[1] == 16 && size[0] == STEPS * KINDS);
    hsize_t at[2] = {(hsize_t)row, (hsize_t)value}, one[2] = {1, 1};
    double x;
    hid_t cell = H5Screate_simple(2, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, cell, space, H5P_DEFAULT, &x) >= 0);
    x += add;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, cell, space, H5P_DEFAULT, &x) >= 0);
    H5Sclose(cell);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

// Values of a frame in the order in which the controller sets them first.
static void one_wrong_number_is_seen(void **state)
{
    (void)state;
    // a motor is held against its largest effort, which must not be less than it was
    static const struct {
        int change, value;
        double add;
    } places[] = {{0, 0, 0.05}, {0, 1, 0.05}, {1, 0, 0.05}, {2, 0, 0.05},
                  {3, 0, 0.05}, {3, 1, 0.05}, {3, 2, 0.05}, {3, 3, 0.05},
                  {4, 1, -0.1}, {5, 2, 0.05}, {5, 9, 0.05}, {5, 10, 0.05}};
    record(0, 1);
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        int row = 20 * KINDS + places[k].change;
        spoil(row, places[k].value, places[k].add);
        perp_check check = recorded_check(place.path);
        if (check.passed) {
            fail_msg("change %d, value %d: not seen", places[k].change, places[k].value);
        }
        spoil(row, places[k].value, -places[k].add);
    }
}

// A program resets the sim, sets a state or restores one while it records: the step from there is not judged, all others
// are, and no such run is called passed. The same in recordings that do not know the length of the steps.
static void states_that_are_set_are_no_motion(void **state)
{
    (void)state;
    static const char text[] =
        "{\"step\": 0.002, \"bodies\": [{\"name\": \"arm\", \"position\": [0.5, 1], \"mass\": 2, "
        "\"inertia\": 0.2}], \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": "
        "\"arm\", "
        "\"at\": [0, 1]}], \"keyframes\": [{\"name\": \"up\", \"joints\": {\"pin\": -0.7}}]}";
    for (int run = 0; run < 8; run++) {
        const int way = run % 4;
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_record *out = NULL;
        perp_error error = {0};
        char block[4096];
        size_t size = 0;
        assert_true(perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) >= 0);
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_record_def rec = perp_record_default();
        rec.scene = text;
        rec.h = run < 4 ? perp_scene_step(scene) : 0.0;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        assert_int_equal(perp_record_create(place.path, sim, &rec, NULL, &out, &error), PERP_OK);
        for (int k = 0; k < 60; k++) {
            double q[3], nu[3], t;
            if (k == 20) {
                size = perp_sim_state_save_size(sim);
                assert_int_equal(perp_sim_state_save(sim, block, sizeof block), PERP_OK);
            }
            if (k == 40 && way == 1) {
                assert_int_equal(perp_sim_reset(sim, (perp_keyframe){0}), PERP_OK);
            } else if (k == 40 && way == 2) {
                assert_int_equal(perp_sim_state_get(sim, &t, q, nu), PERP_OK);
                nu[0] += 0.1;
                assert_int_equal(perp_sim_state_set(sim, t, q, nu), PERP_OK);
            } else if (k == 40 && way == 3) {
                assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);
            }
            assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
            assert_int_equal(perp_record_step(out, sim), PERP_OK);
        }
        assert_int_equal(perp_record_finish(out, sim), PERP_OK);
        perp_record_destroy(out);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
        perp_check check = recorded_check(place.path);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (!check.item[i].done || !(check.item[i].over <= 1.0)) {
                fail_msg("run %d: %s is %g, the limit %g", run, check.item[i].name,
                         check.item[i].worst, check.item[i].limit);
            }
        }
        assert_true(check.passed && check.partly == (way > 0) && check.placed == (way > 0));
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
        cmocka_unit_test(changed_runs_pass),
        cmocka_unit_test(one_wrong_number_is_seen),
        cmocka_unit_test(states_that_are_set_are_no_motion),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
