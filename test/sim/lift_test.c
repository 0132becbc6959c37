// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies on what is moved up and down, to and fro: it may start from rest, and it leaves the tangents of the rows by h^2 a / 2.
#include "support/cmocka.h"
#include "support/folder.h"

#include "certify/certify.h"
#include "sim/sim.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const steppers[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean",
                                       "implicit"};

// Steps of a run that are violated; *checked: the verdict of its recording.
static int count_violated(const char *text, int steps, bool *checked)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_recording *back = NULL;
    perp_check check = {0};
    perp_error error;
    int violated = 0;
    folder place = folder_create();
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    double h = perp_scene_step(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record_def to = perp_record_default();
    to.scene = text;
    to.h = h;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    assert_int_equal(perp_record_create(folder_at(&place, "run"), sim, &to, NULL, &record, NULL),
                     PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, h) >= 0);
        assert_true(perp_record_step(record, sim) >= 0);
        violated += !perp_sim_info(sim)->certificate.passed;
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    assert_int_equal(perp_recording_open(folder_at(&place, "run"), NULL, &back, NULL), PERP_OK);
    assert_int_equal(perp_recording_check(back, NULL, &check, NULL), PERP_OK);
    *checked = check.passed;
    perp_recording_close(back);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    folder_remove(&place);
    return violated;
}

// A box on a lift that moves up and down, so fast that it is thrown and caught, in the plane and in space.
static void loads_of_a_lift_pass(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        char text[700];
        bool space = k >= 4;
        snprintf(
            text, sizeof text,
            "{\"stepper\": \"%s\", \"step\": 0.005, \"gravity\": %s, \"bodies\": [{\"name\": "
            "\"lift\", %s \"drive\": {\"%s\": \"0.3*sin(9*t)\"}, \"shapes\": [{\"kind\": "
            "\"box\", \"size\": %s, \"mu\": 0.3}]}, {\"name\": \"load\", %s \"position\": %s, "
            "\"shapes\": [{\"kind\": \"box\", \"size\": %s, \"density\": 100, \"mu\": 0.3}]}]}",
            steppers[k % 4], space ? "[0, 0, -9.81]" : "[0, -9.81]",
            space ? "\"kind\": \"solid\"," : "", space ? "z" : "y",
            space ? "[1, 1, 0.1]" : "[1, 0.1]", space ? "\"kind\": \"solid\"," : "",
            space ? "[0.1, 0, 0.15]" : "[0.1, 0.15]", space ? "[0.3, 0.3, 0.2]" : "[0.3, 0.2]");
        bool checked = false;
        int violated = count_violated(text, 200, &checked);
        if (violated > 0 || !checked) {
            fail_msg("%s, %d: %d violated", steppers[k % 4], k, violated);
        }
    }
}

// The implicit step took what does not move where the step starts for what rests, and left the load behind.
static void what_is_moved_starts_from_rest(void **state)
{
    (void)state;
    static const char *const moves[] = {"\"drive\": {\"x\": \"0.03*(1 - cos(1.4*t))\"}",
                                        "\"drive\": {\"angle\": \"0.2*t^2\"}"};
    for (int k = 0; k < 8; k++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "{\"stepper\": \"%s\", \"step\": 0.001, \"bodies\": [{\"name\": \"table\", %s, "
            "\"shapes\": [{\"kind\": \"box\", \"size\": [3, 0.2], \"mu\": 0.5}]}, {\"name\": "
            "\"load\", \"position\": [0, 0.2], \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, "
            "0.2], \"density\": 100, \"mu\": 0.5}]}]}",
            steppers[k % 4], moves[k / 4]);
        bool checked = false;
        int violated = count_violated(text, 20, &checked);
        if (violated > 0 || !checked) {
            fail_msg("%s, %d: %d violated", steppers[k % 4], k, violated);
        }
    }
}

// Where a lift goes that starts slowly, its load goes, and a belt that starts carries it: rows know the mean of the velocities
// at both ends of the step, or those of the end where laws hold there. With those of the start the load would be h v behind.
static void loads_follow_what_moves_them(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "\"drive\": {\"y\": \"0.4*t^2\", \"x\": \"0.3*t^2\"}, \"shapes\": [{\"kind\": \"box\", "
        "\"size\": "
        "[9, 0.1], \"mu\": 0.5}]",
        "\"drive\": \"fixed\", \"shapes\": [{\"kind\": \"box\", \"size\": [9, 0.1], \"mu\": 0.5, "
        "\"surface_speed\": \"0.6*t\"}]"};
    for (int k = 0; k < 8; k++) {
        char text[600];
        const double h = 0.01;
        snprintf(text, sizeof text,
                 "{\"stepper\": \"%s\", \"bodies\": [{\"name\": \"lift\", %s}, {\"name\": "
                 "\"load\", \"position\": [0, 0.15], \"shapes\": [{\"kind\": \"box\", \"size\": "
                 "[0.3, 0.2], \"density\": 100, \"mu\": 0.5}]}]}",
                 steppers[k % 4], moves[k / 4]);
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        assert_int_equal(perp_scene_parse("x", text, strlen(text), NULL, &scene, NULL), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(perp_sim_step(sim, h), PERP_OK);
        }
        perp_vec3 at =
            perp_sim_body_position(sim, perp_model_body(perp_scene_model(scene), "load"));
        double up = k < 4 ? 0.4 : 0.0;
        if (!(fabs(at.x - 0.3) < 1e-6) || !(fabs(at.y - 0.15 - up) < 1e-6)) {
            fail_msg("%s, %d: at %.9g, %.9g", steppers[k % 4], k / 4, at.x, at.y);
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// What the certificate allows for it: nothing where accelerations are constant, twice h^3 j / 12 where they change by j, and
// no more than the limit of a gap.
static void allowance_is_that_of_the_motion(void **state)
{
    (void)state;
    static const char *const drives[] = {"0.4*t + 3*t^2", "100*t^3", "1e6*t^3"};
    for (int k = 0; k < 3; k++) {
        char text[500];
        perp_scene *scene = NULL;
        snprintf(
            text, sizeof text,
            "{\"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": [{\"name\": \"lift\", "
            "\"drive\": {\"y\": \"%s\"}, \"shapes\": [{\"kind\": \"box\", \"size\": [1, 0.1]}]}, "
            "{\"name\": \"load\", \"position\": [0, 0.15], \"shapes\": [{\"kind\": \"box\", "
            "\"size\": [0.3, 0.2], \"density\": 100}]}]}",
            drives[k]);
        assert_int_equal(perp_scene_parse("x", text, strlen(text), NULL, &scene, NULL), PERP_OK);
        const perp_model *m = perp_scene_model(scene);
        double q[3] = {0.0, 0.15, 0.0}, nu[3] = {0.0, 1.0, 0.0}, h = 0.01;
        pp_frame from[3], to[3];
        pp_state at = {.t = 0.2, .q = q, .nu = nu};
        pp_frames(m, &at, from);
        at.t += h;
        pp_frames(m, &at, to);
        static const double expected[] = {0.0, 2.0 * 600.0 * 1e-6 / 12.0, 1e-3};
        assert_true(fabs(pp_drift_driven(m, from, to, h, 1, 2) - expected[k]) < 1e-12);
        assert_true(fabs(pp_drift_driven(m, from, to, h, 2, 1) - expected[k]) < 1e-12);
        assert_true(pp_drift_driven(m, from, to, h, 0, 2) == 0.0);
        perp_scene_destroy(scene);
    }
}

// A wall that swings twenty times in a step may go through what stands in its way: such steps are divided, and their path is not said
// to be clear. That of the same wall, slow, is.
static void paths_of_unresolved_drives_are_not_checked(void **state)
{
    (void)state;
    static const char *const scenes[] = {"0.05*sin(3*t)", "0.05*sin(12925*t)"};
    for (int k = 0; k < 2; k++) {
        char text[600];
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        (void)snprintf(text, sizeof text,
                       "{\"shapes\": [{\"kind\": \"halfplane\", \"mu\": 0.2}], \"bodies\": "
                       "[{\"name\": \"wall\", \"position\": [0, 0.05], \"drive\": {\"x\": "
                       "\"%s\"}, \"shapes\": [{\"kind\": \"box\", \"size\": [0.02, 0.1]}]}, "
                       "{\"name\": \"box\", \"position\": [0.2, 0.02], \"shapes\": "
                       "[{\"kind\": \"box\", \"size\": [0.04, 0.04], \"density\": 100}]}]}",
                       scenes[k]);
        assert_int_equal(perp_scene_parse("wall", text, strlen(text), NULL, &scene, NULL), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        int clear = 0;
        for (int step = 0; step < 20; step++) {
            assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
            clear += perp_sim_info(sim)->certificate.path_clear;
            assert_true(k == 0 || perp_sim_info(sim)->parts > 1);
        }
        assert_int_equal(clear, k == 0 ? 20 : 0);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_a_lift_pass),
        cmocka_unit_test(what_is_moved_starts_from_rest),
        cmocka_unit_test(loads_follow_what_moves_them),
        cmocka_unit_test(allowance_is_that_of_the_motion),
        cmocka_unit_test(paths_of_unresolved_drives_are_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
