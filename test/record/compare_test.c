// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two recordings from C: moments in between, bodies and shapes in another order, and memory that runs out.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

// A particle that flies level at the given speed and a disc that stands, in either order.
static void record_flight(const char *name, double speed, double h, bool swapped)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_HALFPLANE;
    perp_builder_add_shape(builder, (perp_body){0}, &shape);
    for (int k = 0; k < 2; k++) {
        bool flies = (k == 0) != swapped;
        perp_body_def body = perp_body_default();
        body.name = flies ? "flies" : "stands";
        body.kind = flies ? PERP_BODY_PLANAR_PARTICLE : PERP_BODY_PLANAR;
        body.position_W = (perp_vec3){0.0, flies ? 10.0 : 0.5, 0.0};
        body.velocity_W = (perp_vec3){flies ? speed : 0.0, 0.0, 0.0};
        body.mass = flies ? 1.0 : 0.0;
        perp_body made = perp_builder_add_body(builder, &body);
        if (!flies) {
            shape = perp_shape_default();
            shape.kind = PERP_SHAPE_DISC;
            shape.radius = 0.5;
            shape.density = 1.0;
            perp_builder_add_shape(builder, made, &shape);
        }
    }
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_error error = {0};
    if (perp_model_create(builder, &model, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_builder_destroy(builder);
    assert_int_equal(perp_sim_create(model, NULL, NULL, &sim, NULL), PERP_OK);
    perp_record_def def = perp_record_default();
    def.h = h;
    assert_int_equal(perp_record_create(folder_at(&place, name), sim, &def, NULL, &record, NULL),
                     PERP_OK);
    for (int k = 0; k < (int)lround(0.12 / h); k++) {
        assert_true(perp_sim_step(sim, h) >= 0);
        assert_int_equal(perp_record_step(record, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    perp_model_destroy(model);
}

static perp_recording *opened(const char *name)
{
    perp_recording *recording = NULL;
    assert_int_equal(perp_recording_open(folder_at(&place, name), NULL, &recording, NULL), PERP_OK);
    return recording;
}

// x differs by (v_a - v_b) t; between frames of b the straight line is exact for a level flight.
static void moments_between_frames(void **state)
{
    (void)state;
    record_flight("a", 2.0, 0.01, false);
    record_flight("b", 1.0, 0.03, true);
    perp_recording *a = opened("a"), *b = opened("b");
    perp_comparison *c = NULL;
    assert_int_equal(perp_comparison_create(a, b, NULL, &c, NULL), PERP_OK);
    assert_int_equal(perp_comparison_bodies(c), 2);
    assert_string_equal(perp_comparison_body(c, 0).name, "flies");
    assert_int_equal(perp_comparison_body(c, 0).b.i, 2);
    assert_int_equal(perp_comparison_body(c, 2).a.i, -1);
    int moments = 0;
    for (bool more = true; more; moments += more) {
        perp_compared_instant m = {0};
        assert_int_equal(perp_comparison_next(c, &m, &more, NULL), PERP_OK);
        if (more) {
            assert_true(m.distance[0] >= m.t - 1e-12);  // they fall apart, too: steps differ
            assert_true(fabs(m.distance[1]) < 1e-12 && m.angle[1] < 1e-12);
            assert_int_equal(m.modes, 0);  // the disc rests on the floor in both
        }
    }
    assert_int_equal(moments, 13);
    perp_comparison_destroy(c);
    perp_recording_close(a);
    perp_recording_close(b);
}

static void what_cannot_be_compared(void **state)
{
    (void)state;
    perp_recording *a = opened("a");
    perp_comparison *c = NULL;
    perp_error error = {0};
    assert_int_equal(perp_comparison_create(NULL, a, NULL, &c, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_comparison_create(a, a, NULL, &c, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_plot_write_comparison(a, NULL, "x", NULL, &error), PERP_ERR_ARGUMENT);
    assert_null(c);
    perp_comparison_destroy(NULL);
    perp_recording_close(a);
}

static void remove_figures(const char *dir)
{
    static const char *const files[] = {"overlay", "distance", "curves", "modes", "index"};
    static const char *const endings[] = {"svg", "gp", "dat", "html"};
    char path[400];
    for (int k = 0; k < 20; k++) {
        snprintf(path, sizeof path, "%s/%s.%s", dir, files[k / 4], endings[k % 4]);
        remove(path);
    }
    remove(dir);
}

static void memory_runs_out(void **state)
{
    (void)state;
    char dir[300];
    snprintf(dir, sizeof dir, "%s", folder_at(&place, "figures"));
    bool done = false;
    int k = 1;
    for (; !done && k < 3000; k += 1 + k / 16) {
        perp_recording *a = opened("a"), *b = opened("b");
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_error error = {0};
        perp_status status = perp_plot_write_comparison(a, b, dir, &env, &error);
        assert_int_equal(f.live, 0);
        assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        done = !f.happened;
        perp_recording_close(a);
        perp_recording_close(b);
    }
    assert_true(done && k > 5);
    remove_figures(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_between_frames),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(memory_runs_out),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
