// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of a sweep: outputs against closed forms and against the same steps by hand, and how runs fail.
#include "support/cmocka.h"

#include <math.h>
#include <perp/io.h>
#include <stdio.h>
#include <string.h>

// A point falls from rest; h v0 = 0: after n steps of h, v = -g n h and y = y0 - g h^2 n (n + 1) / 2.
static const char fall[] =
    "{\"parameters\": {\"y0\": 2, \"h\": 0.01, \"m\": 2}, \"step\": \"h\", \"until\": 0.5,"
    " \"inputs\": [{\"name\": \"push\"}],"
    " \"bodies\": [{\"name\": \"p\", \"position\": [0, \"y0\"], \"mass\": \"m\", \"inertia\": 1}],"
    " \"forces\": [{\"kind\": \"force\", \"body\": \"p\", \"fx\": \"push\"}]}";
static const char ball[] =
    "{\"parameters\": {\"y0\": 1}, \"step\": 0.01, \"until\": 1, \"stepper\": \"event\","
    " \"shapes\": [{\"kind\": \"halfplane\"}],"
    " \"bodies\": [{\"name\": \"p\", \"position\": [0, \"y0\"], \"shapes\": [{\"kind\": \"disc\", "
    "\"radius\": 0.1, \"density\": 10}]}]}";

static perp_sweep *load(const char *text)
{
    perp_scene_load_options reading = perp_scene_load_options_default();
    const perp_scene_file file[] = {{"fall.json", fall, sizeof fall - 1},
                                    {"ball.json", ball, sizeof ball - 1}};
    perp_sweep *sweep = NULL;
    perp_error error = {0};
    reading.file = file;
    reading.files = 2;
    reading.given_only = true;
    if (perp_sweep_parse("test", text, strlen(text), &reading, NULL, &sweep, &error) < 0) {
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.text, text);
    }
    return sweep;
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-12 * (1.0 + fabs(y));
}

static void outputs_are_those_of_a_fall(void **state)
{
    (void)state;
    perp_sweep *s = load(
        "{\"scene\": \"fall.json\", \"parameters\": {\"y0\": {\"list\": [2000, 3000], \"unit\": "
        "\"mm\"}, \"m\": [2, 4], \"f\": [0, 3]}, \"inputs\": {\"push\": \"f\"}, \"outputs\": {"
        "\"y\": {\"final\": \"y[p]\", \"unit\": \"cm\"}, \"first\": {\"initial\": \"y[p]\"},"
        "\"vx\": {\"final\": \"vx[p]\"}, \"low\": {\"lowest\": \"vy[p]\"}, \"high\": {\"highest\": "
        "\"y[p]\"}, \"mean\": {\"mean\": \"t\"}, \"area\": {\"integral\": \"2*t\"}, \"steps\": "
        "{\"sum\": \"t > 0\"}, \"when\": {\"first\": \"vy[p] < -1\", \"unit\": \"ms\"}, \"never\": "
        "{\"first\": \"y[p] > y0\"}, \"gain\": {\"value\": \"first - y\", \"unit\": \"m\"}, "
        "\"kin\": {\"final\": \"kinetic\", \"unit\": \"J\"}, \"cert\": {\"highest\": "
        "\"certificate\"}}}");
    double v[16];
    perp_sweep_row row = {.value = v};
    const double g = 9.81, h = 0.01;
    assert_int_equal(perp_sweep_runs(s), 8);
    for (int k = 0; k < 8; k++) {
        double y0 = k < 4 ? 2.0 : 3.0, m = k / 2 % 2 ? 4.0 : 2.0, f = k % 2 ? 3.0 : 0.0;
        assert_int_equal(perp_sweep_run(s, k, NULL, NULL, &row), PERP_OK);
        assert_int_equal(row.status, PERP_RUN_SOLVED);
        double y = y0 - g * h * h * 50.0 * 51.0 / 2.0, vy = -g * 0.5, vx = f / m * 0.5;
        assert_true(v[0] == (k < 4 ? 2000.0 : 3000.0) && v[1] == m && v[2] == f);
        assert_true(near(v[3], 100.0 * y) && near(v[4], y0) && near(v[5], vx) && near(v[6], vy));
        assert_true(near(v[7], y0) && near(v[8], 0.25) && near(v[9], 0.25) && v[10] == 50.0);
        assert_true(near(v[11], 110.0) && isnan(v[12]) && near(v[13], y0 - y));
        assert_true(near(v[14], 0.5 * m * (vx * vx + vy * vy)) && v[15] < 1.0);
    }
    perp_sweep_destroy(s);
}

// The event stepper locates the impact: t = sqrt(2 (y0 - r) / g), to its tolerance, not to a step.
static void events_have_their_own_times(void **state)
{
    (void)state;
    perp_sweep *s = load("{\"scene\": \"ball.json\", \"parameters\": {\"y0\": [0.5, 1, 1.5]}, "
                         "\"outputs\": {\"t\": {\"event\": \"impact\"}, \"n\": {\"sum\": "
                         "\"events[impact]\"}}}");
    double v[3];
    perp_sweep_row row = {.value = v};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(perp_sweep_run(s, k, NULL, NULL, &row), PERP_OK);
        assert_true(row.status <= PERP_RUN_VIOLATED);
        assert_true(fabs(v[1] - sqrt(2.0 * (v[0] - 0.1) / 9.81)) < 1e-9 && v[2] == 1.0);
    }
    perp_sweep_destroy(s);
}

// A run of a sweep takes the steps of the scene with the same parameters: bit for bit.
static void runs_are_those_of_the_scene(void **state)
{
    (void)state;
    perp_error error = {0};
    perp_sweep *s = NULL;
    assert_int_equal(perp_sweep_load("scenes/sweeps/grasp.sweep.json", NULL, NULL, &s, &error),
                     PERP_OK);
    int columns = 0;
    (void)perp_sweep_columns(s, &columns);
    double v[16];
    assert_true(columns <= 16);
    perp_sweep_row row = {.value = v};
    assert_int_equal(perp_sweep_run(s, 200, NULL, NULL, &row), PERP_OK);
    // The same by hand.
    char mu[40], squeeze[40];
    snprintf(mu, sizeof mu, "%.17g", v[0]);
    snprintf(squeeze, sizeof squeeze, "%.17g N", v[1]);
    const perp_scene_parameter set[] = {{"mu", mu}, {"squeeze", squeeze}};
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.set = set;
    reading.sets = 2;
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    assert_int_equal(
        perp_scene_load_with("scenes/sweeps/grasp.json", &reading, NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_true(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) >= 0);
    perp_body box = perp_model_body(perp_scene_model(scene), "box");
    double lowest = perp_sim_body_position(sim, box).y;
    for (int k = 0; k < 200 && perp_sim_body_position(sim, box).y >= -0.2; k++) {
        assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        lowest = fmin(lowest, perp_sim_body_position(sim, box).y);
    }
    assert_true(v[2] == lowest / 0.001);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    perp_sweep_destroy(s);
}

// What is wrong with the parameters of one run is in its row.
static void failures_are_rows(void **state)
{
    (void)state;
    perp_sweep *s = load("{\"scene\": \"fall.json\", \"parameters\": {\"m\": [-1, 1], \"stop_at\": "
                         "[0.1, 1e30]}, \"run\": {\"until\": \"stop_at\"}, \"outputs\": {\"y\": "
                         "{\"final\": \"y[p]\"}}}");
    double v[3];
    perp_sweep_row row = {.value = v};
    static const perp_run_status due[] = {PERP_RUN_REFUSED, PERP_RUN_REFUSED, PERP_RUN_SOLVED,
                                          PERP_RUN_REFUSED};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(perp_sweep_run(s, k, NULL, NULL, &row), PERP_OK);
        assert_int_equal(row.status, due[k]);
        assert_true((row.status == PERP_RUN_SOLVED) == (row.reason[0] == '\0'));
        assert_true((row.status == PERP_RUN_SOLVED) == !isnan(v[2]));
        assert_true(v[0] == (k < 2 ? -1.0 : 1.0));
    }
    assert_non_null(strstr(row.reason, "cannot be run"));
    assert_int_equal(perp_sweep_run(s, 4, NULL, NULL, &row), PERP_ERR_ARGUMENT);
    perp_sweep_destroy(s);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void stopped_runs_are_rows(void **state)
{
    (void)state;
    perp_sweep *s = load("{\"scene\": \"fall.json\", \"parameters\": {\"m\": [1]}, \"outputs\": "
                         "{\"y\": {\"final\": \"y[p]\"}}, \"limits\": {\"seconds\": 2}}");
    double v[2];
    perp_sweep_row row = {.value = v};
    const perp_env env = {.stop = always};
    assert_int_equal(perp_sweep_run(s, 0, NULL, &env, &row), PERP_OK);
    assert_int_equal(row.status, PERP_RUN_TIME);
    assert_string_equal(row.reason, "longer than 2 s");
    perp_sweep_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_a_fall),
        cmocka_unit_test(events_have_their_own_times),
        cmocka_unit_test(runs_are_those_of_the_scene),
        cmocka_unit_test(failures_are_rows),
        cmocka_unit_test(stopped_runs_are_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
