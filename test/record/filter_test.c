// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups, masks, priorities, colours, scales of gravity and excluded bodies in a recording: as given, absent in older
// files, and out of range.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static const char plane_text[] =
    "{\"groups\": [\"a\", \"b\"], \"exclude\": [[\"ground\", \"y\"], [\"y\", \"x\"]],"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"colour\": \"#010203\", "
    "\"mask\": 4294967295}],"
    " \"bodies\": [{\"name\": \"x\", \"mass\": 1, \"inertia\": 1, \"gravity_scale\": 0.25, "
    "\"colour\": \"#ff8000\","
    " \"position\": [0, 3], \"shapes\": [{\"name\": \"s\", \"kind\": \"disc\", \"radius\": 1, "
    "\"group\": [\"b\"],"
    " \"mask\": 0, \"combine\": \"min\", \"priority\": -7}, {\"name\": \"t\", \"kind\": \"point\", "
    "\"colour\":"
    " \"#ffFFff\"}]}, {\"name\": \"y\", \"mass\": 1, \"inertia\": 1, \"position\": [5, 5]}]}";
static const char space_text[] =
    "{\"groups\": [\"a\", \"b\"], \"exclude\": [[\"ground\", \"y\"], [\"y\", \"x\"]],"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"colour\": \"#010203\", "
    "\"mask\": 4294967295}],"
    " \"bodies\": [{\"name\": \"x\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1], "
    "\"gravity_scale\": 0.25,"
    " \"colour\": \"#ff8000\", \"position\": [0, 0, 3], \"shapes\": [{\"name\": \"s\", \"kind\": "
    "\"sphere\","
    " \"radius\": 1, \"group\": [\"b\"], \"mask\": 0, \"combine\": \"min\", \"priority\": -7, "
    "\"mu_spin\": 0.25,"
    " \"mu_roll\": 0.5}, {\"name\": \"t\", \"kind\": \"point\", \"colour\": \"#ffFFff\"}]},"
    " {\"name\": \"y\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": "
    "[5, 0, 5]}]}";
static const char *const texts[] = {plane_text, space_text};

static void record(const folder *f, int which)
{
    recorded_run how = {.h = 0.01, .steps = 3};
    recorded_scene(texts[which], folder_at(f, "run"), how);
}

static void as_given(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        folder f = folder_create();
        record(&f, k);
        perp_recording *r = recorded_open(folder_at(&f, "run"));
        perp_recorded_shape floor = perp_recording_shape(r, (perp_shape){0});
        perp_recorded_shape s = perp_recording_shape(r, (perp_shape){1});
        perp_recorded_shape t = perp_recording_shape(r, (perp_shape){2});
        assert_true(floor.group == 1 && floor.mask == UINT32_MAX && floor.colour == 0x010203);
        assert_true(s.group == 2 && s.mask == 0 && s.colour == 0xff8000);
        assert_true(s.combine == PERP_COMBINE_MIN && s.priority == -7);
        assert_true(s.mu_spin == 0.25 * k && s.mu_roll == 0.5 * k);
        assert_true(t.group == 1 && t.mask == 1 && t.colour == 0xffffff && t.priority == 0);
        assert_true(perp_recording_body(r, (perp_body){1}).gravity_scale == 0.25);
        assert_true(perp_recording_body(r, (perp_body){2}).gravity_scale == 1.0);
        perp_recording_info info = *perp_recording_about(r);
        assert_int_equal(info.exclusions, 2);
        perp_body a, b;
        perp_recording_exclusion(r, 1, &a, &b);
        assert_true(a.i == 1 && b.i == 2);
        perp_recording_exclusion(r, 2, &a, &b);
        assert_true(a.i == -1 && b.i == -1);
        perp_recording_exclusion(NULL, 0, NULL, NULL);
        perp_recording_close(r);
        assert_true(recorded_check(folder_at(&f, "run")).passed);
        folder_remove(&f);
    }
}

static hid_t edit(const folder *f)
{
    char path[300];
    snprintf(path, sizeof path, "%s/run.h5", folder_at(f, "run"));
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static void older_files_have_defaults(void **state)
{
    (void)state;
    static const char *const names[] = {
        "model/bodies/gravity_scale", "model/shapes/mu_spin",  "model/shapes/mu_roll",
        "model/shapes/combine",       "model/shapes/priority", "model/shapes/group",
        "model/shapes/mask",          "model/shapes/colour",   "model/exclude"};
    folder f = folder_create();
    record(&f, 0);
    hid_t file = edit(&f);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        assert_true(H5Ldelete(file, names[k], H5P_DEFAULT) >= 0);
    }
    H5Fclose(file);
    perp_recording *r = recorded_open(folder_at(&f, "run"));
    perp_recorded_shape s = perp_recording_shape(r, (perp_shape){1});
    assert_true(s.group == 1 && s.mask == 1 && s.colour == -1 && s.priority == 0);
    assert_true(s.combine == PERP_COMBINE_DEFAULT && s.mu_spin == 0.0 && s.mu_roll == 0.0);
    assert_true(perp_recording_body(r, (perp_body){1}).gravity_scale == 1.0);
    perp_recording_close(r);
    folder_remove(&f);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t value[4];
    } wrong[] = {{"model/shapes/colour", {0x1000000, 0, 0, 0}},
                 {"model/shapes/colour", {-2, 0, 0, 0}},
                 {"model/shapes/combine", {4, 0, 0, 0}},
                 {"model/exclude", {0, 3, 0, 0}},
                 {"model/exclude", {-1, 0, 0, 0}}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        folder f = folder_create();
        record(&f, 0);
        hid_t file = edit(&f), set = H5Dopen2(file, wrong[k].name, H5P_DEFAULT);
        assert_true(
            H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong[k].value) >= 0);
        H5Dclose(set);
        H5Fclose(file);
        perp_recording *r = NULL;
        perp_error error;
        assert_int_equal(perp_recording_open(folder_at(&f, "run"), NULL, &r, &error),
                         PERP_ERR_FORMAT);
        assert_non_null(strstr(error.text, "invalid"));
        folder_remove(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_given),
        cmocka_unit_test(older_files_have_defaults),
        cmocka_unit_test(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
