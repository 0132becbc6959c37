// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings used as they are not meant to be: nothing crashes, nothing false is written.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/xml.h"

#include <perp/io.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

typedef struct world {
    perp_model *model;
    perp_sim *sim;
} world;

// A row of discs that fall on a floor, named with bytes that are no text.
static world make_world(int discs)
{
    static const char *const odd[] = {"\xff\xfe", "a\xc3",     "\xed\xa0\x80",
                                      "\xf8",     "d\xc0\x80", "\n\t"};
    world w = {NULL, NULL};
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_HALFPLANE;
    perp_builder_add_shape(builder, (perp_body){0}, &shape);
    for (int i = 0; i < discs; i++) {
        perp_body_def body = perp_body_default();
        body.name = i < 6 ? odd[i] : NULL;
        body.position_W = (perp_vec3){3.0 * i, 1.0, 0.0};
        shape = perp_shape_default();
        shape.kind = PERP_SHAPE_DISC;
        shape.radius = 1.0;
        shape.density = 1.0;
        perp_builder_add_shape(builder, perp_builder_add_body(builder, &body), &shape);
    }
    assert_int_equal(perp_model_create(builder, &w.model, NULL), PERP_OK);
    perp_builder_destroy(builder);
    assert_int_equal(perp_sim_create(w.model, NULL, NULL, &w.sim, NULL), PERP_OK);
    return w;
}

static void end_world(world w)
{
    perp_sim_destroy(w.sim);
    perp_model_destroy(w.model);
}

static perp_record *begin(const world *w, const char *name, perp_record_def def)
{
    perp_record *record = NULL;
    perp_error error = {0};
    if (perp_record_create(folder_at(&place, name), w->sim, &def, NULL, &record, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return record;
}

static void definitions_are_checked(void **state)
{
    (void)state;
    world w = make_world(1);
    perp_record *record = NULL;
    perp_error error;
    static const double bad[] = {(double)NAN, -1.0, (double)INFINITY};
    for (int k = 0; k < 3; k++) {
        perp_record_def def = perp_record_default();
        def.h = bad[k];
        assert_int_equal(
            perp_record_create(folder_at(&place, "bad"), w.sim, &def, NULL, &record, &error),
            PERP_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "h must be"));
        assert_null(record);
    }
    perp_record_def odd = perp_record_default();
    odd.every = 0;
    assert_int_equal(
        perp_record_create(folder_at(&place, "bad"), w.sim, &odd, NULL, &record, &error),
        PERP_ERR_ARGUMENT);
    assert_string_equal(error.text,
                        "record: every must be at least 1, flush_seconds must not be negative");
    odd = perp_record_default();
    odd.files = 1;
    assert_int_equal(
        perp_record_create(folder_at(&place, "bad"), w.sim, &odd, NULL, &record, &error),
        PERP_ERR_ARGUMENT);
    assert_string_equal(error.text, "record: a file of the scene is missing");
    perp_record_def def = {0};
    assert_int_equal(perp_record_create("x", w.sim, &def, NULL, &record, &error), PERP_ERR_DEF);
    assert_int_equal(perp_record_create(NULL, w.sim, NULL, NULL, &record, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_create("x", NULL, NULL, NULL, &record, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_create("x", w.sim, NULL, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_false(folder_has(&place, "bad"));
    end_world(w);
}

// A sim with more bodies than the recording has room for must not be written into it.
static void sims_of_other_models_are_refused(void **state)
{
    (void)state;
    world small = make_world(1), large = make_world(40);
    perp_record *record = begin(&small, "other", perp_record_default());
    assert_true(perp_sim_step(large.sim, 0.01) >= 0 && perp_sim_step(small.sim, 0.01) >= 0);
    assert_int_equal(perp_record_step(record, large.sim), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_step(record, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_step(NULL, small.sim), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_finish(record, large.sim), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_finish(record, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_step(record, small.sim), PERP_OK);  // nothing stuck
    assert_int_equal(perp_record_finish(record, small.sim), PERP_OK);
    assert_int_equal(perp_record_finish(record, small.sim), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_record_step(record, small.sim), PERP_ERR_ARGUMENT);
    perp_record_destroy(record);
    perp_recording *recording = NULL;
    perp_check check;
    perp_snapshot frame;
    assert_int_equal(perp_recording_open(folder_at(&place, "other"), NULL, &recording, NULL),
                     PERP_OK);
    assert_int_equal(perp_recording_about(recording)->frames, 2);
    assert_true(perp_recording_about(recording)->complete);
    assert_int_equal(perp_recording_read(recording, 2, &frame, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_read(recording, 0, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_read(NULL, 0, &frame, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_check(recording, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_check(NULL, NULL, &check, NULL), PERP_ERR_ARGUMENT);
    perp_recording_close(recording);
    end_world(small);
    end_world(large);
}

// Names that are no UTF-8, and steps of different lengths: JSON stays JSON, figures stay XML.
static void odd_names_and_steps(void **state)
{
    (void)state;
    world w = make_world(6);
    perp_record_def def = perp_record_default();
    def.name = "\x80 <&>";
    perp_record *record = begin(&w, "odd", def);
    for (int k = 1; k <= 20; k++) {
        assert_true(perp_sim_step(w.sim, 0.001 * k) >= 0);
        assert_int_equal(perp_record_step(record, w.sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(record, w.sim), PERP_OK);
    perp_record_destroy(record);
    json_t *summary = json_load_file(folder_at(&place, "odd/summary.json"), 0, NULL);
    assert_non_null(summary);
    assert_int_equal(json_object_size(json_object_get(summary, "final")), 6);
    json_decref(summary);
    perp_recording *recording = NULL;
    perp_error error = {0};
    if (perp_recording_open(folder_at(&place, "odd"), NULL, &recording, &error) < 0 ||
        perp_plot_write(recording, folder_at(&place, "odd"), NULL, NULL, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_recording_close(recording);
    for (int k = 0; perp_plot_name(k); k++) {
        xml x;
        char name[64];
        snprintf(name, sizeof name, "odd/%s.svg", perp_plot_name(k));
        if (folder_has(&place, name) && !xml_read_file(&x, folder_at(&place, name))) {
            fail_msg("%s: %s", name, x.fault);
        }
    }
    end_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(sims_of_other_models_are_refused),
        cmocka_unit_test(odd_names_and_steps),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
