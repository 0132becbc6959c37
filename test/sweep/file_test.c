// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Malformed sweep files: line, column and remedy of each message.
#include "support/cmocka.h"

#include <perp/io.h>
#include <stdio.h>
#include <string.h>

static const char scene[] =
    "{\"parameters\": {\"mu\": 0.5, \"width\": \"10 mm\"},\n"
    " \"inputs\": [{\"name\": \"push\"}],\n"
    " \"bodies\": [{\"name\": \"p\", \"position\": [\"mu\", \"width\"], "
    "\"mass\": 1, \"inertia\": 1}],\n"
    " \"forces\": [{\"kind\": \"force\", \"body\": \"p\", \"fx\": \"push\"}]}";

#define HEAD  "{\"scene\": \"s.json\",\n"
#define OUT   "\"outputs\": {\"x\": {\"final\": \"x[p]\"}}"
#define PARAM "\"parameters\": {\"mu\": [0.1, 0.2]}"

static const struct {
    const char *text;
    int line, column;
    const char *words;
} wrong[] = {
    {"", 0, 0, "empty"},
    {"{", 1, 2, ""},
    {"[]", 1, 1, "must be an object"},
    {"{}", 1, 1, "'scene' is missing"},
    {"{\"scene\": 7}", 1, 11, "name of a file"},
    {"{\"scene\": {\"blocks\": 3}}", 1, 11, "generate"},
    {"{\"scene\": {\"generate\": \"arch\", \"blocks\": \"x\"}}", 1, 42, "must be a number"},
    {"{\"scene\": \"s.json\", \"outptus\": {}}", 1, 21, "did you mean 'outputs'"},
    {HEAD OUT "}", 1, 1, "'parameters' is missing"},
    {HEAD "\"parameters\": [1]," OUT "}", 2, 15, "must be an object"},
    {HEAD "\"parameters\": {}," OUT "}", 2, 15, "1 to 200"},
    {HEAD "\"parameters\": {\"mu\": \"x\"}," OUT "}", 2, 22, "must be a number, a list"},
    {HEAD "\"parameters\": {\"mu\": []}," OUT "}", 2, 22, "list of numbers"},
    {HEAD "\"parameters\": {\"mu\": [1, \"2\"]}," OUT "}", 2, 26, "must be a number"},
    {HEAD "\"parameters\": {\"mu\": {}}," OUT "}", 2, 22, "no values"},
    {HEAD "\"parameters\": {\"mu\": {\"from\": 1, \"to\": 2}}," OUT "}", 2, 22,
     "'count' is missing"},
    {HEAD "\"parameters\": {\"mu\": {\"from\": 1, \"count\": 2}}," OUT "}", 2, 22,
     "'to' is missing"},
    {HEAD
     "\"parameters\": {\"mu\": {\"from\": 0, \"to\": 2, \"count\": 3, \"scale\": \"log\"}}," OUT
     "}",
     2, 22, "above 0"},
    {HEAD "\"parameters\": {\"mu\": {\"from\": 0, \"to\": 2, \"count\": 0}}," OUT "}", 2, 52,
     "whole number from 1"},
    {HEAD "\"parameters\": {\"mu\": {\"list\": [1], \"uniform\": [0, 1]}}," OUT "}", 2, 23,
     "unknown key 'list'"},
    {HEAD "\"parameters\": {\"mu\": {\"uniform\": [1, 0]}}," OUT "}", 2, 34, "below the upper"},
    {HEAD "\"parameters\": {\"mu\": {\"normal\": [1, -1]}}," OUT "}", 2, 33, "negative"},
    {HEAD "\"parameters\": {\"mu\": {\"uniform\": [0, 1]}}," OUT "}", 1, 1,
     "'sampling' is missing"},
    {HEAD PARAM ", \"sampling\": {\"count\": 3}," OUT "}", 2, 47,
     "no parameter has a distribution"},
    {HEAD "\"parameters\": {\"mu\": {\"uniform\": [0, 1]}}, \"sampling\": {\"method\": \"sobl\", "
          "\"count\": 3}," OUT "}",
     2, 67, "random, latin-hypercube or sobol"},
    {HEAD "\"parameters\": {\"width\": {\"list\": [1], \"unit\": \"mmm\"}}," OUT "}", 2, 48,
     "did you mean"},
    {HEAD "\"parameters\": {\"wide\": [1]}," OUT "}", 2, 16, "it; the scene has mu, width"},
    {HEAD "\"parameters\": {\"t\": [1]}," OUT "}", 2, 16, "name of a signal"},
    {HEAD "\"parameters\": {\"pi\": [1]}," OUT "}", 2, 16, "word of expressions"},
    {HEAD "\"parameters\": {\"a b\": [1]}," OUT "}", 2, 16, "letters"},
    {HEAD "\"parameters\": {\"mu\": {\"value\": \"2*nu\"}}," OUT "}", 2, 35, "unknown name"},
    {HEAD PARAM "}", 1, 1, "'outputs' is missing"},
    {HEAD PARAM ", \"outputs\": {\"x\": 3}}", 2, 52, "must be an object"},
    {HEAD PARAM ", \"outputs\": {\"x\": {}}}", 2, 52, "needs one of"},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"final\": \"x[p]\", \"mean\": \"x[p]\"}}}", 2, 52,
     "has both"},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"final\": \"x[q]\"}}}", 2, 63, "x[q]"},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"final\": \"x[p] +\"}}}", 2, 69, ""},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"final\": 3}}}", 2, 62, "in quotes"},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"event\": \"impakt\"}}}", 2, 62, "did you mean 'impact'"},
    {HEAD PARAM ", \"outputs\": {\"x\": {\"event\": \"impact\"}}}", 2, 62, "stepper event"},
    {HEAD PARAM ", \"outputs\": {\"mu\": {\"final\": \"x[p]\"}}}", 2, 47, "is taken"},
    {HEAD PARAM ", \"run\": {\"step\": \"h\"}, " OUT "}", 2, 52, "unknown name"},
    {HEAD PARAM ", \"run\": {\"stop\": \"y > 1\"}, " OUT "}", 2, 52, "y"},
    {HEAD PARAM ", \"inputs\": {\"pull\": 1}, " OUT "}", 2, 46, "no input 'pull'"},
    {HEAD PARAM ", \"record\": {\"runs\": [2]}, " OUT "}", 2, 54, "there is no run 2"},
    {HEAD PARAM ", \"record\": {\"where\": \"y > 1\"}, " OUT "}", 2, 56, "y"},
    {HEAD PARAM ", \"limits\": {\"seconds\": 0}, " OUT "}", 2, 57, "above 0"},
    {HEAD PARAM "," OUT ", \"figures\": [{\"x\": \"mu\", \"output\": \"z\"}]}", 2, 105,
     "no output 'z'"},
    {HEAD PARAM "," OUT ", \"figures\": [{\"x\": \"mu\"}]}", 2, 83, "needs a parameter"},
    {HEAD
     "\"parameters\": {\"width\": {\"list\": [1], \"unit\": \"m*m*m/m/m*s/s*s/s*s/s*s/s\"}}," OUT
     "}",
     2, 47, "at most 24"},
    {HEAD PARAM ", \"outputs\": "
                "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": {\"final\": \"t\"}}}",
     2, 47, "at most 100"},
    {"{\"scene\": \"other.json\"," PARAM "," OUT "}", 1, 11, "not among those given"},
    {"{\"scene\": {\"generate\": \"arhc\"}," PARAM "," OUT "}", 1, 11, "arch"},
    {"{\"scene\": \"bad.json\"," PARAM "," OUT "}", 1, 11, "bad.json:1:12: "},
};

static perp_status parse(const char *text, perp_sweep **sweep, perp_error *error)
{
    perp_scene_load_options reading = perp_scene_load_options_default();
    static const char bad[] = "{\"bodies\": 3}";
    const perp_scene_file file[] = {{"s.json", scene, sizeof scene - 1},
                                    {"bad.json", bad, sizeof bad - 1}};
    reading.file = file;
    reading.files = 2;
    reading.given_only = true;
    return perp_sweep_parse("test", text, strlen(text), &reading, NULL, sweep, error);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        perp_sweep *sweep = NULL;
        perp_error error = {0};
        perp_status status = parse(wrong[k].text, &sweep, &error);
        bool good = status < 0 && !sweep && error.line == wrong[k].line &&
                    error.column == wrong[k].column && strstr(error.text, wrong[k].words);
        if (!good) {
            failures++;
            print_error("case %zu, %d:%d expected, '%s':\n%s\n  %d:%d: %s\n", k, wrong[k].line,
                        wrong[k].column, wrong[k].words, wrong[k].text, error.line, error.column,
                        error.text);
        }
        perp_sweep_destroy(sweep);
    }
    assert_int_equal(failures, 0);
}

// What the messages above ask for.
static void right_files_are_read(void **state)
{
    (void)state;
    static const char *const right[] = {
        HEAD PARAM "," OUT "}",
        HEAD
        "// a comment\n\"parameters\": {\"mu\": 0.3, \"h\": [0.1],},\"run\": {\"step\": \"h\", "
        "\"until\": 1}, " OUT ",}",
        HEAD
        "\"parameters\": {\"f\": {\"normal\": [1, 0]}}, \"sampling\": {\"count\": 3}, \"inputs\": "
        "{\"push\": \"f\"}, \"record\": {\"every\": 2, \"where\": \"x > f\"}," OUT "}",
    };
    for (size_t k = 0; k < sizeof right / sizeof right[0]; k++) {
        perp_sweep *sweep = NULL;
        perp_error error = {0};
        if (parse(right[k], &sweep, &error) < 0) {
            fail_msg("%d:%d: %s\n%s", error.line, error.column, error.text, right[k]);
        }
        perp_sweep_destroy(sweep);
    }
}

// Every prefix of a file, and every byte replaced: an error with words, never a crash.
static void damaged_files_are_refused(void **state)
{
    (void)state;
    char text[] =
        HEAD "\"parameters\": {\"mu\": {\"from\": 0.1, \"to\": 1, \"count\": 3, \"unit\": \"m\"}, "
             "\"width\": {\"value\": \"mu/2\"}}," OUT "}";
    size_t n = strlen(text);
    for (size_t k = 0; k < 2 * n; k++) {
        char old = text[k % n];
        text[k % n] = k < n ? '\0' : '}';
        perp_sweep *sweep = NULL;
        perp_error error = {0};
        perp_status status = parse(text, &sweep, &error);
        assert_true((status < 0) == (sweep == NULL));
        assert_true(status >= 0 || error.text[0]);
        perp_sweep_destroy(sweep);
        text[k % n] = old;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(right_files_are_read),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
