// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From a scene file to figures: what a recipe's recording shows is what its contacts did.
#include "support/cmocka.h"
#include "support/xml.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double wanted_accuracy;  // of the runs that are recorded [m/s]; 0: not estimated

static void record(const char *scene_path, const char *dir, int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    assert_int_equal(perp_scene_load(scene_path, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.accuracy = wanted_accuracy;
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
    static const char *const files[] = {"run.h5",          "bodies.csv",       "contacts.csv",
                                        "joints.csv",      "events.jsonl",     "summary.json",
                                        "index.html",      "sensors.csv",      "actuators.csv",
                                        "part_bodies.csv", "part_contacts.csv"};
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
    static const char *const shown[][2] = {
        {"paths", "rod A"},      {"gaps", "penetration"},    {"forces", "floor"},
        {"cones", "slip"},       {"modes", "pusher"},        {"energy", "dissipated"},
        {"residual", "limit"},   {"joints", "elbow"},        {"coordinates", "elbow"},
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

// Estimated errors have a figure where the run had an accuracy, and none where it had not.
static void accuracy(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
        perp_recording *recording = NULL;
        perp_error error = {0};
        xml x;
        assert_non_null(mkdtemp(dir));
        wanted_accuracy = k == 0 ? 1e-3 : 0.0;
        record("scenes/pendulum.json", dir, 20);
        wanted_accuracy = 0.0;
        assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
        assert_int_equal(perp_plot_write(recording, dir, NULL, NULL, &error), PERP_OK);
        snprintf(path, sizeof path, "%s/accuracy.svg", dir);
        bool drawn = xml_read_file(&x, path);
        assert_true(drawn == (k == 0));
        if (drawn) {
            assert_non_null(strstr(x.words, "estimated error"));
            assert_non_null(strstr(x.words, "motion"));
        }
        perp_recording_close(recording);
        discard(dir);
    }
}

// Eight of the ten sensors have a panel, with name and unit; a recording without sensors has no such figure.
static void sensors(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
    perp_recording *recording = NULL;
    perp_error error = {0};
    xml x;
    assert_non_null(mkdtemp(dir));
    record("scenes/sensor-arm.json", dir, 60);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_plot_write(recording, dir, NULL, NULL, &error), PERP_OK);
    snprintf(path, sizeof path, "%s/sensors.svg", dir);
    assert_true(xml_read_file(&x, path));
    static const char *const words[] = {
        "angle [", "servo effort", "wrist force", "wrist torque", "force [", "torque [",
        "imu",     "gyro",         "accel. [m/s", "touch",        "(h)"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (!strstr(x.words, words[k])) {
            fail_msg("'%s' is missing", words[k]);
        }
    }
    assert_null(strstr(x.words, "height"));
    perp_recording_close(recording);
    record("scenes/berard-4.6.json", dir, 2);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_plot_write(recording, dir, NULL, NULL, &error), PERP_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(perp_plot_write(recording, dir, "sensors", NULL, &error), PERP_OK);
    assert_true(xml_read_file(&x, path));
    assert_non_null(strstr(x.words, "no sensors"));
    perp_recording_close(recording);
    discard(dir);
}

// An arm with actuators: coordinates, rates, efforts and powers of its joints.
static void motors(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
    perp_recording *recording = NULL;
    perp_error error = {0};
    xml x;
    assert_non_null(mkdtemp(dir));
    record("scenes/arm-pushes.json", dir, 30);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_plot_write(recording, dir, "coordinates", NULL, &error), PERP_OK);
    snprintf(path, sizeof path, "%s/coordinates.svg", dir);
    assert_true(xml_read_file(&x, path));
    static const char *const words[] = {"rate", "effort", "power", "rad, m", "W"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        assert_non_null(strstr(x.words, words[k]));
    }
    // the power of the last frame, as in actuators.csv: effort times rate
    perp_snapshot last;
    assert_int_equal(perp_recording_read(recording, 30, &last, &error), PERP_OK);
    perp_recorded_actuator servo = perp_recording_actuator(recording, (perp_actuator){1});
    assert_true(last.actuator[1].effort * last.joint[servo.joint.i].rate != 0.0);
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

// Strokes of the hatching path that starts at text: at 45 degrees, with both ends on the outline of a rectangle
// of the given ratio of width to height. Returns their number.
static int hatched_box(const char *text, double ratio)
{
    double x[400][2], y[400][2], low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
    int count = 0;
    for (; count < 400 && *text == 'M'; count++) {
        for (int k = 0; k < 2; k++) {  // "M1 2L3 4"
            char *end;
            x[count][k] = strtod(text + 1, &end);
            assert_true(end > text + 1);
            text = end;
            y[count][k] = strtod(text, &end);
            assert_true(end > text);
            text = end;
        }
        for (int k = 0; k < 2; k++) {
            low[0] = fmin(low[0], x[count][k]), high[0] = fmax(high[0], x[count][k]);
            low[1] = fmin(low[1], y[count][k]), high[1] = fmax(high[1], y[count][k]);
        }
    }
    for (int i = 0; i < count; i++) {
        assert_true(fabs(x[i][1] - x[i][0] + y[i][1] - y[i][0]) < 0.03);
        for (int k = 0; k < 2; k++) {
            double off = fmin(fmin(x[i][k] - low[0], high[0] - x[i][k]),
                              fmin(y[i][k] - low[1], high[1] - y[i][k]));
            assert_true(fabs(off) < 0.03);
        }
    }
    assert_true(fabs((high[0] - low[0]) / (high[1] - low[1]) / ratio - 1.0) < 0.01);
    return count;
}

// Shapes that stand still are hatched: inside a block, under a shelf and a slope; of a long floor only the part
// that is seen. The view shows what is near the ball, and its paths do not leave the page.
static void still_shapes(void **state)
{
    (void)state;
    static const char yard[] =
        "{\"name\": \"yard\", \"step\": 0.01, \"shapes\": [\n"
        "  {\"name\": \"block\", \"kind\": \"box\", \"size\": [0.6, 0.4], \"position\": [1, "
        "0.2]},\n"
        "  {\"name\": \"shelf\", \"kind\": \"segment\", \"length\": 0.3, \"position\": [-0.5, "
        "0.5]},\n"
        "  {\"name\": \"floor\", \"kind\": \"box\", \"size\": [40, 1], \"position\": [0, -0.5]},\n"
        "  {\"name\": \"slope\", \"kind\": \"halfplane\", \"position\": [0, -0.1], \"angle\": "
        "0.2}],\n"
        " \"bodies\": [{\"name\": \"ball\", \"position\": [0, 0.6], \"velocity\": [1, 1],\n"
        "  \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"density\": 1}]}]}";
    char dir[] = "/tmp/perp-plot-XXXXXX", path[160];
    static char text[400000];
    perp_recording *recording = NULL;
    xml x;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s.json", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(yard, file) >= 0);
    assert_int_equal(fclose(file), 0);
    record(path, dir, 20);
    remove(path);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, NULL), PERP_OK);
    assert_int_equal(perp_plot_write(recording, dir, "paths", NULL, NULL), PERP_OK);
    snprintf(path, sizeof path, "%s/paths.svg", dir);
    assert_true(xml_read_file(&x, path));
    file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    static const char pen[] = "<path stroke=\"#9a9a9a\" stroke-width=\"0.5\" d=\"";
    const char *at = strstr(text, pen);
    assert_non_null(at);
    assert_true(hatched_box(at + strlen(pen), 1.5) > 5);
    int hatched = 0;
    for (; at; at = strstr(at + 1, pen)) {
        hatched++;
    }
    assert_int_equal(hatched, 4);
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
    assert_null(perp_plot_name(13));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recipe),   cmocka_unit_test(motors),
                                       cmocka_unit_test(accuracy), cmocka_unit_test(sensors),
                                       cmocka_unit_test(springs),  cmocka_unit_test(still_shapes),
                                       cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
