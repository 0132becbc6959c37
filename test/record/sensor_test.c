// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites and sensors in recordings: read back bit for bit, from run.h5 and from sensors.csv; damaged ones are refused.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static folder place;

enum { STEPS = 12, MOST = 80 };

// Records a scene with all its sensors, and keeps their values.
static int record_as(const char *path, perp_stepper stepper, double kept[STEPS + 1][MOST])
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_error error = {0};
    assert_int_equal(perp_scene_load(path, NULL, &scene, &error), PERP_OK);
    const perp_model *model = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    perp_record_def rec = perp_record_default();
    rec.scene = perp_scene_text(scene, NULL);
    rec.h = perp_scene_step(scene);
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(place.path, sim, &rec, NULL, &out, &error), PERP_OK);
    int count = 0;
    for (int k = 0; k <= STEPS; k++) {
        if (k > 0) {
            assert_true(perp_sim_step(sim, rec.h) >= 0);
            assert_int_equal(perp_record_step(out, sim), PERP_OK);
        }
        count = 0;
        for (int i = 0; i < perp_model_sensors(model); i++) {
            perp_sensor sensor = {i};
            assert_int_equal(perp_sim_sensor(sim, sensor, kept[k] + count, MOST - count), PERP_OK);
            count += perp_model_sensor_size(model, sensor);
        }
    }
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return count;
}

static int record_scene(const char *path, double kept[STEPS + 1][MOST])
{
    return record_as(path, PERP_STEPPER_STEWART_TRINKLE, kept);
}

static void frames_hold_the_sensors(void **state)
{
    (void)state;
    static double kept[STEPS + 1][MOST];
    int count = record_scene("fuzz/corpus/scene/sensors.json", kept);
    perp_recording *recording = recorded_open(place.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_int_equal(info->sites, 4);
    assert_int_equal(info->sensors, 18);
    assert_int_equal(info->sensor_values, count);
    for (int k = 0; k <= STEPS; k++) {
        perp_snapshot frame = recorded_frame(recording, k);
        assert_memory_equal(frame.sensor, kept[k], (size_t)count * sizeof(double));
    }
    // parts come first: those of the assembly
    perp_recorded_site post = perp_recording_site(recording, (perp_site){0});
    assert_string_equal(post.name, "p_post");
    assert_int_equal(post.body.i, 0);
    assert_true(fabs(post.X_BS.p.x - (1.0 - sin(1.0))) < 1e-15 && post.X_BS.p.z == 2.0);
    assert_true(fabs(post.X_BS.rot.z - sin(0.5)) < 1e-15);
    perp_recorded_sensor down = perp_recording_sensor(recording, (perp_sensor){0});
    assert_string_equal(down.name, "p_down");
    assert_string_equal(down.unit, "m");
    assert_int_equal(down.kind, PERP_SENSOR_RANGE);
    assert_true(down.first == 0 && down.size == 1 && down.site.i == 0 && down.joint.i == -1);
    perp_recorded_sensor last = perp_recording_sensor(recording, (perp_sensor){17});
    assert_true(last.first == count - 1 && last.body.i == 0 && last.site.i == -1);
    assert_true(perp_recording_site(recording, (perp_site){4}).body.i == -1);
    assert_true(perp_recording_sensor(recording, (perp_sensor){18}).site.i == -1);
    perp_recording_close(recording);
    assert_true(recorded_check(place.path).passed);
}

// A recording without sensors has no file and no values.
static void nothing_without_sensors(void **state)
{
    (void)state;
    static double kept[STEPS + 1][MOST];
    assert_int_equal(record_scene("scenes/pendulum.json", kept), 0);
    perp_recording *recording = recorded_open(place.path);
    assert_int_equal(perp_recording_about(recording)->sensor_values, 0);
    FILE *file = fopen(folder_at(&place, "sensors.csv"), "rb");
    assert_null(file);
    perp_recording_close(recording);
}

static void text_has_units(void **state)
{
    (void)state;
    static double kept[STEPS + 1][MOST];
    int count = record_scene("scenes/sensor-arm.json", kept);
    char *text = text_of(folder_at(&place, "sensors.csv"));
    static const char head[] =
        "t,angle [rad],joint effort [N m],servo effort [N m],wrist force.x [N],wrist force.y [N],"
        "wrist force.z [N],wrist torque.x [N m],wrist torque.y [N m],wrist torque.z [N m],"
        "imu.x [m/s^2],imu.y [m/s^2],imu.z [m/s^2],gyro.x [rad/s],gyro.y [rad/s],gyro.z [rad/s],"
        "touch [N],height [m],tip.x [m],tip.y [m],tip.z [m]\n";
    assert_memory_equal(text, head, sizeof head - 1);
    const char *at = text + sizeof head - 1;
    for (int k = 0; k <= STEPS; k++) {
        char *end;
        double t = strtod(at, &end);
        assert_true(fabs(t - 0.002 * k) < 1e-15);
        for (int i = 0; i < count; i++) {
            assert_int_equal(*end, ',');
            at = end + 1;
            assert_true(strtod(at, &end) == kept[k][i]);
        }
        assert_int_equal(*end, '\n');
        at = end + 1;
    }
    assert_int_equal(*at, '\0');
    free(text);
}

// Writes a number into a column of the model's sensors.
static void spoil(const char *column, int index, int32_t value)
{
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT), space = H5Dget_space(dataset);
    const hsize_t at[1] = {(hsize_t)index}, one[1] = {1};
    hid_t memory = H5Screate_simple(1, one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        int32_t value;
        const char *text;
    } cases[] = {{"model/sensors/kind", 99, "'model/sensors' has an invalid sensor"},
                 {"model/sensors/size", 0, "'model/sensors' has an invalid sensor"},
                 {"model/sensors/site", 7, "'model/sensors' has an invalid sensor"},
                 {"model/sensors/body", -2, "'model/sensors' has an invalid sensor"},
                 {"model/sensors/joint", 9, "'model/sensors' has an invalid sensor"},
                 {"model/sensors/actuator", 9, "'model/sensors' has an invalid sensor"},
                 {"model/sites/body", 9, "'model/sites/body' has an invalid body"},
                 {"model/sensors/size", 4, "sensors/value"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static double kept[STEPS + 1][MOST];
        record_scene("scenes/sensor-arm.json", kept);
        spoil(cases[k].column, 1, cases[k].value);
        perp_recording *recording = NULL;
        perp_error error = {0};
        assert_int_equal(perp_recording_open(place.path, NULL, &recording, &error),
                         PERP_ERR_FORMAT);
        if (!strstr(error.text, cases[k].text)) {
            fail_msg("'%s', expected '%s'", error.text, cases[k].text);
        }
    }
}

// Adds to a value in the frame ROW; perp check sees it, in every stepper and for every sensor.
static void change(int value, double by)
{
    enum { ROW = 7 };
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "sensors/value", H5P_DEFAULT), space = H5Dget_space(dataset);
    const hsize_t at[2] = {ROW, (hsize_t)value}, one[2] = {1, 1};
    hid_t memory = H5Screate_simple(2, one, NULL);
    double number;
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &number) >= 0);
    number += by;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &number) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void changed_numbers_are_seen(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_EVENT, PERP_STEPPER_IMPLICIT};
    static double kept[STEPS + 1][MOST];
    for (int k = 0; k < 5; k++) {
        const char *word = perp_stepper_word((int)steppers[k]);
        int count = record_as("fuzz/corpus/scene/sensors.json", steppers[k], kept);
        perp_check check = recorded_check(place.path);
        if (!(check.item[PERP_CHECK_RECORD].over <= 1.0)) {
            fail_msg("%s: a right recording is refused: %g", word,
                     check.item[PERP_CHECK_RECORD].over);
        }
        for (int i = 0; i < count; i++) {
            change(i, 1e-3);
            check = recorded_check(place.path);
            if (check.item[PERP_CHECK_RECORD].over <= 1.0) {
                fail_msg("%s: value %d is not seen", word, i);
            }
            change(i, -1e-3);
        }
    }
}

static int create(void **state)
{
    (void)state;
    place = folder_create();
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_hold_the_sensors),  cmocka_unit_test(nothing_without_sensors),
        cmocka_unit_test(text_has_units),           cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(changed_numbers_are_seen),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
