// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Without inertia: what rounding of the impulses leaves over is not a velocity. A wall pushes boxes of very different mass, with
// every step's certificate.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

static const char planar[] =
    "{\"stepper\": \"quasistatic\", \"step\": 0.01, \"until\": 0.64, \"form\": \"mcp\","
    " \"shapes\": [{\"kind\": \"halfplane\", \"mu\": 0.519}], \"bodies\": ["
    "{\"name\": \"wall\", \"position\": [0, 3370], \"drive\": {\"x\": \"512.708*t\"},"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [1350, 6740], \"mu\": 0}]},"
    "{\"name\": \"b0\", \"position\": [2370, 1695], \"mass\": 760, \"inertia\": 5.69e8,"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [3390, 3390], \"mu\": 0.3}]},"
    "{\"name\": \"b1\", \"position\": [6095, 2030], \"mass\": 0.421, \"inertia\": 4.41e5,"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [4060, 4060], \"mu\": 0.369}]}]}";

static const char spatial[] =
    "{\"stepper\": \"quasistatic\", \"step\": 0.00878, \"until\": 0.641, \"form\": \"mcp\","
    " \"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.529}], \"bodies\": ["
    "{\"name\": \"wall\", \"kind\": \"solid\", \"position\": [0, 0, 4.18],"
    " \"drive\": {\"x\": \"8.35319*sin(0.417251*t)\"},"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [1.67, 8.35, 8.35], \"mu\": 1.45}]},"
    "{\"name\": \"b0\", \"kind\": \"solid\", \"position\": [3.98, 0, 3.14], \"mass\": 0.95,"
    " \"inertia\": [2.72, 2.76, 2.39],"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [6.28, 6.28, 6.28], \"mu\": 0.3}]}]}";

// Steps whose certificate is violated; the wall ends where the first box begins.
static int push(const char *text, int body, double reach, double *apart)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    if (perp_scene_parse("pusher", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    double h = perp_scene_step(scene);
    int steps = (int)(perp_scene_until(scene) / h), violated = 0;
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, h) >= 0);
        violated += !perp_sim_info(sim)->certificate.passed;
    }
    *apart = perp_sim_body_position(sim, (perp_body){body}).x -
             perp_sim_body_position(sim, (perp_body){1}).x - reach;
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return violated;
}

static void pushed_boxes_obey_the_law(void **state)
{
    (void)state;
    double apart;
    assert_int_equal(push(planar, 2, 0.5 * (1350.0 + 3390.0), &apart), 0);
    assert_true(fabs(apart) < 1e-6 * 3390.0);
    assert_int_equal(push(spatial, 2, 0.5 * (1.67 + 6.28), &apart), 0);
    assert_true(fabs(apart) < 1e-5 * 6.28);  // the wall is as far ahead as it slows down in a step
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pushed_boxes_obey_the_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
