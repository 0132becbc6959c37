// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp compare as a user runs it: where runs part, distances over time, modes, and figures of both.
#include "support/cmocka.h"
#include "support/shell.h"
#include "support/xml.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static folder place;

static const char *says(const char *command, int code, const char *text)
{
    return shell_says(&place, PERP_CLI, command, code, text);
}

static json_t *told(const char *command, int code)
{
    json_error_t error;
    json_t *root = json_loads(says(command, code, NULL), 0, &error);
    if (!root) {
        fail_msg("%s: %s", command, error.text);
    }
    return root;
}

// A box on a floor with mu = 0.5: it slides or stands.
static const char sliding[] =
    "{\"name\": \"slide\", \"step\": 0.01, \"until\": 0.1, \"gravity\": [0, -9.81],\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.5}],\n"
    " \"bodies\": [{\"name\": \"box\", \"position\": [0, 0.5], \"velocity\": [%s, 0],\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1], \"density\": 1, \"mu\": 0.5}]}]}\n";

static void write_scene(const char *name, const char *speed)
{
    char text[1024];
    snprintf(text, sizeof text, sliding, speed);
    shell_file(&place, name, text);
}

static double number(const json_t *at, const char *key)
{
    return json_number_value(json_object_get(at, key));
}

// Distances have a closed form: x = v t - mu g t^2 / 2 against 0, with Stewart-Trinkle's implicit Euler.
static void distances_and_modes(void **state)
{
    (void)state;
    write_scene("still.json", "0");
    write_scene("moves.json", "1");
    says("PERP run @/still.json -o @/s -q --no-figures", 0, NULL);
    says("PERP run @/moves.json -o @/m -q --no-figures", 0, NULL);
    says("PERP compare @/s @/m", 0,
         "the runs diverge at t = 0.01 s: 'box' differs by more than 1e-06");
    says("PERP compare @/s @/m", 0, "distance [m] over time\n");
    says("PERP compare @/s @/m", 0, "contacts in different modes");
    json_t *root = told("PERP compare @/s @/m --json --tol 1e-6", 4);
    const json_t *box = json_object_get(json_object_get(root, "bodies"), "box");
    const json_t *places = json_object_get(box, "places_m");
    assert_int_equal(json_array_size(places), 11);
    double h = 0.01, v = 1.0, x = 0.0;
    for (size_t k = 1; k < 11; k++) {
        v -= 0.5 * 9.81 * h;
        x += v * h;
        assert_true(fabs(json_number_value(json_array_get(places, k)) - x) < 1e-9);
    }
    assert_true(fabs(number(box, "place_m") - x) < 1e-9);
    const json_t *modes = json_object_get(root, "modes");
    assert_int_equal(json_array_size(modes), 1);
    const json_t *mode = json_array_get(modes, 0);
    assert_string_equal(json_string_value(json_object_get(mode, "a")), "stick");
    assert_string_equal(json_string_value(json_object_get(mode, "b")), "slip");
    assert_int_equal(json_integer_value(json_object_get(mode, "moments")), 10);
    assert_non_null(strstr(json_string_value(json_object_get(mode, "contact")), "floor"));
    json_decref(root);
}

static void a_run_beside_itself(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.4.json -o @/p -q --no-figures --until 0.2", 0, NULL);
    assert_null(
        strstr(says("PERP compare @/p @/p --tol 0", 0, "the runs agree"), "different modes"));
}

static void is_figure(const char *name, const char *word)
{
    char path[400];
    xml x;
    snprintf(path, sizeof path, "%s/%s", place.path, name);
    if (!xml_read_file(&x, path) || (word && !strstr(x.words, word))) {
        fail_msg("%s: %s", path, x.fault[0] ? x.fault : "a word is missing");
    }
}

static void figures_of_both(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.4.json -o @/q -q --no-figures --until 0.2 --step 0.004", 0,
         NULL);
    says("PERP compare @/p @/q -o @/both", 0, "/both/index.html\n");
    is_figure("both/overlay.svg", "run B");
    is_figure("both/distance.svg", "rod A");
    is_figure("both/curves.svg", "residual");
    is_figure("both/modes.svg", "floor");
    char *page = text_of(folder_at(&place, "both/index.html"));
    assert_non_null(strstr(page, "overlay.svg"));
    assert_non_null(strstr(page, "distance.svg"));
    free(page);
    says("PERP compare @/p @/q -o @/no/such/parent", 1, "cannot write");
    assert_non_null(strchr(says("PERP compare @/p @/q --json -o @/both", 0, NULL), '{'));
}

static void figures_in_space(void **state)
{
    (void)state;
    says("PERP scene pile3 --bodies 10 -o @/pile.json", 0, NULL);
    says("PERP run @/pile.json -o @/p1 -q --no-figures --until 0.1", 0, NULL);
    says("PERP run @/pile.json -o @/p2 -q --no-figures --until 0.08 --step 0.002", 0, NULL);
    says("PERP compare @/p1 @/p2 -o @/space", 0, "largest  body\n");
    is_figure("space/overlay.svg", "run A");
    is_figure("space/distance.svg", "of all bodies");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    says("PERP compare @/p", 2, "two recordings are needed");
    says("PERP compare @/p @/p @/p", 2, "unexpected argument");
    says("PERP compare @/p @/s", 2, "no body with the same name");
    says("PERP compare @/p @/nothing", 2, "cannot open");
    says("PERP compare @/p @/q --tal 1", 2, "did you mean '--tol'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_and_modes), cmocka_unit_test(a_run_beside_itself),
        cmocka_unit_test(figures_of_both),     cmocka_unit_test(figures_in_space),
        cmocka_unit_test(mistakes_are_named),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
