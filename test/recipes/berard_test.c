// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The planar recipes against golden numbers of programs that share no code with perp: same scheme, same
// step. Tolerance per component 1e-9 + 1e-12 * (growth of a disturbance). Impulses are compared where they
// are unique.
#include "support/cmocka.h"
#include "support/data.h"

#include <perp/io.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct recipe {
    const char *scene, *golden;
    int size;  // of the mixed problem
} recipe;

static const recipe recipes[] = {
    {"berard-4.1", "berard_4_1_double_pendulum", 10},
    {"berard-4.2", "berard_4_2_block", 15},
    {"berard-4.3", "berard_4_3_friction", 21},
    {"berard-4.4", "berard_4_4_pusher", 25},
    {"berard-4.5", "berard_4_5_moving_floor", 25},
    {"berard-4.6", "berard_4_6_full", 22},
    {"trinkle-prismatic-planar", "trinkle_5_prismatic_planar", 10},
};
enum { RECIPES = sizeof recipes / sizeof recipes[0], VALUES = 16 };

static json_t *load_golden(const char *name)
{
    char relative[128], path[512];
    snprintf(relative, sizeof relative, "reference/C_seeds/golden/%s.json", name);
    if (!data_path(relative, path, sizeof path)) {
        return NULL;
    }
    json_t *golden = json_load_file(path, 0, NULL);
    assert_non_null(golden);
    return golden;
}

static perp_scene *load_scene(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "scenes/%s.json", name);
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        print_error("%s:%d:%d: %s\n", path, error.line, error.column, error.text);
        fail();
    }
    return scene;
}

static void compare(const char *what, const recipe *r, int step, const json_t *expected,
                    const double *found, double tolerance)
{
    for (size_t k = 0; k < json_array_size(expected); k++) {
        double e = json_number_value(json_array_get(expected, k)), f = found[k];
        if (!(fabs(f - e) <= tolerance)) {
            print_error("%s step %d: %s[%zu] = %.17g, golden %.17g (%.1e)\n", r->scene, step, what,
                        k, f, e, f - e);
            fail();
        }
    }
}

static void compare_impulses(const recipe *r, const perp_sim *sim, int step, const json_t *row,
                             double tolerance)
{
    int count;
    double pn[VALUES];
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    const json_t *expected = json_object_get(row, "pn");
    assert_int_equal(count, json_array_size(expected));
    for (int k = 0; k < count; k++) {
        pn[k] = contact[k].pn;
    }
    compare("pn", r, step, expected, pn, tolerance);
}

static void run(const recipe *r, perp_form form)
{
    json_t *golden = load_golden(r->golden);
    if (!golden) {
        print_message("no data: skipped\n");
        skip();
    }
    perp_scene *scene = load_scene(r->scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.form = form;
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    const json_t *checks = json_object_get(golden, "checks"),
                 *rows = json_object_get(golden, "rows");
    double growth = json_number_value(json_object_get(checks, "perturbation_growth"));
    double spread = json_number_value(json_object_get(checks, "max_normal_force_spread_N"));
    double tolerance = 1e-9 + 1e-12 * growth, h = perp_scene_step(scene);
    int until = (int)json_integer_value(json_object_get(golden, "compare_until_step")), step = 0;
    assert_true(h == json_number_value(json_object_get(golden, "h")));
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        int at = (int)json_integer_value(json_object_get(row, "step"));
        double t, q[VALUES], nu[VALUES];
        for (; step < at; step++) {
            assert_int_equal(perp_sim_step(sim, h), PERP_OK);
        }
        assert_int_equal(perp_sim_state_get(sim, &t, q, nu), PERP_OK);
        if (at <= until) {
            compare("q", r, at, json_object_get(row, "q"), q, tolerance);
            compare("v", r, at, json_object_get(row, "v"), nu, tolerance);
        }
        if (at > 0 && at <= until && spread < 1e-8 && json_object_get(row, "pn")) {
            compare_impulses(r, sim, at, row, tolerance);
        }
    }
    if (form == PERP_FORM_MCP) {
        assert_int_equal(perp_sim_info(sim)->problem_size, r->size);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    json_decref(golden);
}

static void mixed_form(void **state)
{
    run(*state, PERP_FORM_MCP);
}

static void reduced_form(void **state)
{
    run(*state, PERP_FORM_LCP);
}

static void as_the_scene_says(void **state)
{
    run(*state, PERP_FORM_AUTO);
}

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } ways[] = {{"mcp", mixed_form}, {"lcp", reduced_form}, {"auto", as_the_scene_says}};
    static char names[3 * RECIPES][64];
    struct CMUnitTest tests[3 * RECIPES];
    for (int k = 0; k < 3 * RECIPES; k++) {
        const recipe *r = &recipes[k / 3];
        snprintf(names[k], sizeof names[k], "%s as %s", r->scene, ways[k % 3].name);
        tests[k] = (struct CMUnitTest){names[k], ways[k % 3].run, NULL, NULL, (void *)(uintptr_t)r};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
