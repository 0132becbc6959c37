// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps that were divided at impacts: a recording has every part, and each is judged like a step.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;
static bool pushes;  // a wrench on the first body in every step

// A fast disc between four walls, with a box in its way: many impacts in a step.
static const char planar[] =
    "{\"name\": \"shot\", \"step\": 0.016, \"until\": 1, \"gravity\": [0, -9.81], \"shapes\": ["
    "{\"name\": \"s\", \"kind\": \"box\", \"size\": [3, 0.4], \"position\": [0, -1.2]},"
    "{\"name\": \"n\", \"kind\": \"box\", \"size\": [3, 0.4], \"position\": [0, 1.2]},"
    "{\"name\": \"w\", \"kind\": \"box\", \"size\": [0.4, 3], \"position\": [-1.2, 0]},"
    "{\"name\": \"e\", \"kind\": \"box\", \"size\": [0.4, 3], \"position\": [1.2, 0]}],"
    "\"bodies\": [{\"name\": \"disc\", \"position\": [0.1, 0.2], \"velocity\": [90, 31], \"spin\": "
    "20,"
    " \"mass\": 2, \"inertia\": 0.01,"
    " \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"mu\": 0.3, \"restitution\": 0.7}]},"
    "{\"name\": \"box\", \"position\": [-0.6, -0.85], \"mass\": 3, \"inertia\": 0.05,"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [0.3, 0.3], \"mu\": 0.4, \"restitution\": "
    "0.3}]}]}";

// A fast ball between two walls, hanging on nothing, beside a pendulum.
static const char spatial[] =
    "{\"name\": \"shot\", \"step\": 0.016, \"until\": 1, \"shapes\": ["
    "{\"name\": \"w\", \"kind\": \"box\", \"size\": [0.4, 3, 3], \"position\": [-1.2, 0, 0]},"
    "{\"name\": \"e\", \"kind\": \"box\", \"size\": [0.4, 3, 3], \"position\": [1.2, 0, 0]}],"
    "\"bodies\": [{\"name\": \"ball\", \"kind\": \"solid\", \"position\": [0.1, 0, 0.2],"
    " \"velocity\": [90, 1, 2], \"mass\": 2, \"inertia\": [0.01, 0.01, 0.01],"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"mu\": 0.3, \"restitution\": 0.7}]},"
    "{\"name\": \"rod\", \"kind\": \"solid\", \"position\": [0, 0.8, -0.3], \"mass\": 1,"
    " \"inertia\": [0.03, 0.03, 0.002], \"spin\": [0, 2, 0], \"velocity\": [-0.6, 0, 0]}],"
    "\"joints\": [{\"kind\": \"revolute\", \"name\": \"pin\", \"b\": \"rod\","
    " \"anchor_a\": [0, 0.8, 0], \"anchor_b\": [0, 0, 0.3], \"axis\": [0, 1, 0]}]}";

static const perp_wrench push = {{30.0, 1.0, 0.0}, {0.0, 0.0, -1.0}};  // [N, N m]

// Returns how many of the steps were divided.
static int record(const char *text, perp_stepper stepper, int steps)
{
    recorded_run run = {.stepper = stepper, .steps = steps, .push = pushes ? &push : NULL};
    return recorded_scene(text, place.path, run).divided;
}

static perp_recording *open_it(void)
{
    return recorded_open(place.path);
}

static perp_check judge(void)
{
    return recorded_check(place.path);
}

// The parts of a frame: times and lengths join up, impulses add up, the last ends where the frame is.
static int look_at(perp_recording *recording, int k, double from)
{
    const perp_recording_info *info = perp_recording_about(recording);
    perp_snapshot frame, part;
    double q[32], nu[32], pn = 0.0, sum = 0.0;
    assert_int_equal(perp_recording_read(recording, k, &frame, NULL), PERP_OK);
    int kept = frame.kept;
    double t = frame.t;
    memcpy(q, frame.q, (size_t)info->nq * sizeof *q);
    memcpy(nu, frame.nu, (size_t)info->nv * sizeof *nu);
    for (int i = 0; i < frame.contacts; i++) {
        pn += frame.contact[i].pn;
    }
    assert_int_equal(frame.parts > 1 ? frame.parts : 0, kept);
    for (int p = 0; p < kept; p++) {
        assert_int_equal(perp_recording_read_part(recording, k, p, &part, NULL), PERP_OK);
        assert_int_equal(part.part, PERP_PART_STEP);
        assert_true(part.h > 0.0 && fabs(part.t - from - part.h) < 1e-12);
        from = part.t;
        for (int i = 0; i < part.contacts; i++) {
            sum += part.contact[i].pn;
        }
    }
    if (kept > 0) {
        assert_true(part.t == t);
        assert_memory_equal(part.q, q, (size_t)info->nq * sizeof *q);
        assert_memory_equal(part.nu, nu, (size_t)info->nv * sizeof *nu);
        assert_true(fabs(sum - pn) <= 1e-12 * fabs(pn));
    }
    perp_error error = {0};
    assert_int_equal(perp_recording_read_part(recording, k, kept, &part, &error),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_read_part(recording, k, -1, &part, &error), PERP_ERR_ARGUMENT);
    return kept;
}

static void every_part_is_there(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT};
    const char *const texts[] = {planar, spatial};
    for (int k = 0; k < 8; k++) {
        int divided = record(texts[k / 4], steppers[k % 4], 40), parts = 0;
        if (divided < 3) {
            fail_msg("run %d: %d steps were divided", k, divided);
        }
        perp_recording *recording = open_it();
        const perp_recording_info *info = perp_recording_about(recording);
        for (int i = 0; i < info->frames; i++) {
            parts += look_at(recording, i, i > 0 ? (i - 1) * info->h : 0.0);
        }
        assert_true(parts >= 2 * divided);
        perp_recording_close(recording);
    }
}

static void parts_are_judged(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT};
    const char *const texts[] = {planar, spatial};
    for (int k = 0; k < 8; k++) {
        record(texts[k / 4], steppers[k % 4], 40);
        perp_check check = judge();
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (!(check.item[i].over <= 1.0)) {
                fail_msg("run %d: %s %g", k, check.item[i].name, check.item[i].over);
            }
        }
        assert_true(check.passed && !check.partly);
        assert_int_equal(check.divided, 0);
    }
}

// Multiplies the largest number of a column by `factor`.
static void change(const char *column, double factor)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/run.h5", place.path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, column, H5P_DEFAULT), space = H5Dget_space(set);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    double *all = test_malloc((size_t)count * sizeof *all);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    hssize_t most = 0;
    for (hssize_t k = 0; k < count; k++) {
        most = fabs(all[k]) > fabs(all[most]) ? k : most;
    }
    all[most] *= factor;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    test_free(all);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

static void a_changed_part_is_found_out(void **state)
{
    (void)state;
    static const char *const columns[] = {"parts/q",
                                          "parts/nu",
                                          "parts/h",
                                          "parts/t",
                                          "parts/contacts/pn",
                                          "parts/contacts/pf",
                                          "parts/contacts/gap",
                                          "parts/energy/work",
                                          "parts/contacts/normal"};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        record(planar, PERP_STEPPER_ANITESCU_POTRA, 40);
        change(columns[k], 1.001);
        perp_check check = judge();
        if (check.passed && strcmp(columns[k], "parts/energy/work") != 0) {
            fail_msg("%s was changed, and passed", columns[k]);
        }
    }
}

// ── The stepper event ────────────────────────────────────────────────────────────────────────────

static const double MASS = 2.0;  // of the first body

// The impulse on the first body, body 1, of a frame or part.
static perp_vec3 impulse_on(const perp_recording *recording, const perp_snapshot *f)
{
    perp_vec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < f->contacts; i++) {
        const perp_contact *c = &f->contact[i];
        bool on_a = perp_recording_shape(recording, c->a).body.i == 1;
        bool on_b = perp_recording_shape(recording, c->b).body.i == 1;
        double sign = (on_b ? 1.0 : 0.0) - (on_a ? 1.0 : 0.0);
        sum.x += sign * (c->pn * c->normal_W.x + c->pf_W.x);
        sum.y += sign * (c->pn * c->normal_W.y + c->pf_W.y);
        sum.z += sign * (c->pn * c->normal_W.z + c->pf_W.z);
    }
    return sum;
}

// Momentum of the first body: after, before, in a time h. In frames and in parts it is what their contacts gave.
static void momentum_holds(const perp_recording *recording, const perp_snapshot *f,
                           perp_vec3 before, double h)
{
    perp_vec3 p = impulse_on(recording, f), v = f->velocity_W[1];
    double g = perp_recording_about(recording)->spatial ? 0.0 : -9.81;
    double gz = perp_recording_about(recording)->spatial ? -9.81 : 0.0;
    double x = MASS * (v.x - before.x) - p.x, y = MASS * (v.y - before.y - g * h) - p.y;
    double z = MASS * (v.z - before.z - gz * h) - p.z;
    if (!(fabs(x) + fabs(y) + fabs(z) <= 1e-9 * MASS * 100.0)) {
        fail_msg("t = %g: momentum is off by %g %g %g N s", f->t, x, y, z);
    }
}

// Impacts of one contact in one step were added up as numbers, along the last normal.
static void impacts_are_parts(void **state)
{
    (void)state;
    const char *const texts[] = {planar, spatial};
    for (int k = 0; k < 2; k++) {
        record(texts[k], PERP_STEPPER_EVENT, 40);
        perp_recording *recording = open_it();
        const perp_recording_info *info = perp_recording_about(recording);
        perp_snapshot frame, part;
        int impacts = 0, several = 0;
        assert_int_equal(perp_recording_read(recording, 0, &frame, NULL), PERP_OK);
        perp_vec3 start = frame.velocity_W[1], v = start;
        for (int i = 1; i < info->frames; i++) {
            assert_int_equal(perp_recording_read(recording, i, &frame, NULL), PERP_OK);
            momentum_holds(recording, &frame, start, info->h);
            start = frame.velocity_W[1];
            int kept = frame.kept, here = 0;
            for (int p = 0; p < kept; p++) {
                assert_int_equal(perp_recording_read_part(recording, i, p, &part, NULL), PERP_OK);
                momentum_holds(recording, &part, v, part.h);
                v = part.velocity_W[1];
                here += part.part == PERP_PART_IMPACT;
                assert_true(part.part == PERP_PART_SMOOTH || part.h == 0.0);
            }
            v = start;
            impacts += here;
            several += here > 1;
        }
        print_message("%d impacts, %d steps with several\n", impacts, several);
        assert_true(impacts >= 7 && several >= (k == 0 ? 2 : 0));
        perp_recording_close(recording);
        perp_check check = judge();
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (!(check.item[i].over <= 1.0)) {
                fail_msg("run %d: %s %g", k, check.item[i].name, check.item[i].over);
            }
        }
        assert_true(check.passed);
    }
}

static void a_changed_impact_is_found_out(void **state)
{
    (void)state;
    static const char *const columns[] = {"parts/q",
                                          "parts/nu",
                                          "parts/t",
                                          "parts/contacts/pn",
                                          "parts/contacts/pf",
                                          "parts/contacts/restitution",
                                          "parts/contacts/normal"};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        record(planar, PERP_STEPPER_EVENT, 40);
        change(columns[k], 1.001);
        if (judge().passed) {
            fail_msg("%s was changed, and passed", columns[k]);
        }
    }
}

// Recordings of before there were parts have sums of them only.
static void without_parts_it_is_partly_judged(void **state)
{
    (void)state;
    char path[4096];
    record(planar, PERP_STEPPER_ANITESCU_POTRA, 40);
    snprintf(path, sizeof path, "%s/run.h5", place.path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "part_end", H5P_DEFAULT) >= 0);
    assert_true(H5Ldelete(file, "parts", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    perp_check check = judge();
    assert_true(check.passed && check.partly);
    assert_true(check.divided > 5);
}

// What the caller applies is recorded, and judged: also where the step was divided.
static void applied_wrenches_are_judged(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_EVENT};
    for (int k = 0; k < 3; k++) {
        pushes = true;
        int divided = record(k < 2 ? planar : spatial, steppers[k], k < 2 ? 40 : 3);
        pushes = false;
        perp_check check = judge();
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (!(check.item[i].over <= 1.0)) {
                fail_msg("run %d: %s %g", k, check.item[i].name, check.item[i].over);
            }
        }
        assert_true(divided > 0 || k == 2);
        perp_recording *recording = open_it();
        perp_snapshot frame;
        assert_int_equal(perp_recording_read(recording, 2, &frame, NULL), PERP_OK);
        assert_true(frame.applied[1].f_W.x == 30.0 && frame.applied[1].tau_W.z == -1.0);
        assert_true(frame.applied[2].f_W.x == 0.0);
        assert_int_equal(perp_recording_read(recording, 0, &frame, NULL), PERP_OK);
        assert_true(frame.applied[1].f_W.x == 0.0);
        perp_recording_close(recording);
        change("applied/wrench", 1.5);
        assert_false(judge().passed);
    }
}

// The text files of parts are there where there are parts, and only there.
static void text_files_of_parts(void **state)
{
    (void)state;
    record(planar, PERP_STEPPER_ANITESCU_POTRA, 40);
    FILE *file = fopen(folder_at(&place, "part_bodies.csv"), "r");
    char line[200];
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "step,part,kind,h,t,body,x,y,angle,vx,vy,omega\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, ",0,step,"));
    fclose(file);
    record(planar, PERP_STEPPER_ANITESCU_POTRA, 0);
    assert_false(folder_has(&place, "part_bodies.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_there),
        cmocka_unit_test(parts_are_judged),
        cmocka_unit_test(a_changed_part_is_found_out),
        cmocka_unit_test(impacts_are_parts),
        cmocka_unit_test(a_changed_impact_is_found_out),
        cmocka_unit_test(without_parts_it_is_partly_judged),
        cmocka_unit_test(applied_wrenches_are_judged),
        cmocka_unit_test(text_files_of_parts),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
