// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From a scene file to figures: what a recipe's recording shows is what its contacts did.
#include "support/cmocka.h"
#include "support/xml.h"

#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void record(const char *scene_path, const char *dir, int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    assert_int_equal(perp_scene_load(scene_path, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    perp_record_def how = perp_record_default();
    how.name = perp_scene_name(scene);
    how.scene = perp_scene_text(scene, NULL);
    how.h = perp_scene_step(scene);
    assert_int_equal(perp_record_create(dir, sim, &how, NULL, &out, NULL), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, how.h) >= 0);
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void discard(const char *dir)
{
    static const char *const files[] = {"run.h5",       "bodies.csv",   "contacts.csv",
                                        "events.jsonl", "summary.json", "index.html"};
    char path[160];
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[k]);
        remove(path);
    }
    for (int k = 0; perp_plot_name(k); k++) {
        static const char *const endings[] = {"svg", "gp", "dat"};
        for (int e = 0; e < 3; e++) {
            snprintf(path, sizeof path, "%s/%s.%s", dir, perp_plot_name(k), endings[e]);
            remove(path);
        }
    }
    assert_int_equal(rmdir(dir), 0);
}

// Example 4.4: a block on a floor, two rods, a pusher. Every figure has something to show.
static void recipe(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
    perp_recording *recording = NULL;
    perp_error error = {0};
    assert_non_null(mkdtemp(dir));
    record("scenes/berard-4.4.json", dir, 120);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_plot_write(recording, dir, NULL, NULL, &error), PERP_OK);
    static const char *const shown[][2] = {{"paths", "rod A"},      {"gaps", "penetration"},
                                           {"forces", "floor"},     {"cones", "slip"},
                                           {"modes", "pusher"},     {"energy", "dissipated"},
                                           {"residual", "limit"},   {"joints", "elbow"},
                                           {"velocities", "block"}, {"events", "stick-to-slip"}};
    for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
        xml x;
        snprintf(path, sizeof path, "%s/%s.svg", dir, shown[k][0]);
        if (!xml_read_file(&x, path) || !strstr(x.words, shown[k][1])) {
            print_error("%s: %s\n", path, x.fault[0] ? x.fault : "a word is missing");
            fail();
        }
    }
    perp_recording_close(recording);
    discard(dir);
}

// Example 4.6 has a spring from the end of rod A to the particle: recorded, and drawn as a zigzag.
static void springs(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
    perp_recording *recording = NULL;
    perp_error error = {0};
    xml x;
    assert_non_null(mkdtemp(dir));
    record("scenes/berard-4.6.json", dir, 5);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_recording_about(recording)->springs, 1);
    perp_recorded_spring spring = perp_recording_spring(recording, 0);
    assert_string_equal(spring.name, "spring");
    assert_string_equal(perp_recording_body(recording, spring.a).name, "rod A");
    assert_string_equal(perp_recording_body(recording, spring.b).name, "particle");
    assert_true(spring.anchor_A.x == 0.3 && spring.anchor_B.x == 0.0 && spring.rest == 0.4);
    assert_string_equal(perp_recording_spring(recording, 1).name, "");
    assert_int_equal(perp_plot_write(recording, dir, "paths", NULL, &error), PERP_OK);
    snprintf(path, sizeof path, "%s/paths.svg", dir);
    assert_true(xml_read_file(&x, path));
    snprintf(path, sizeof path, "grep -q 'fill=\"none\" stroke=\"#555555\"' %s/paths.svg", dir);
    assert_int_equal(system(path), 0);
    perp_recording_close(recording);
    discard(dir);
}

static void arguments(void **state)
{
    (void)state;
    perp_error error = {0};
    assert_int_equal(perp_plot_write(NULL, "x", NULL, NULL, &error), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_plot_name(0), "paths");
    assert_null(perp_plot_name(-1));
    assert_null(perp_plot_name(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recipe), cmocka_unit_test(springs),
                                       cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
