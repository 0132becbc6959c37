// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes that are only shown: they reach scenes and recordings, and nothing of the motion depends on them. Meshes are
// simplified, and links of URDF that overlap at the start do not collide. The robots of examples/robots run.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const robots[] = {"arm.xml", "quadruped.xml", "gripper.xml", "hand.xml",
                                     "arm.urdf"};
enum { ROBOTS = sizeof robots / sizeof robots[0] };

static perp_import *import_of(const char *name, int triangles)
{
    char path[100];
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.visual_triangles = triangles;
    (void)snprintf(path, sizeof path, "examples/robots/%s", name);
    if (perp_import_load(path, &options, NULL, &import, &error) < 0) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    return import;
}

static perp_scene *scene_of(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("visual", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return scene;
}

static bool has_note(const perp_import *import, perp_import_note_kind kind, const char *text)
{
    int count = 0;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int k = 0; k < count; k++) {
        if (note[k].kind == kind && (strstr(note[k].what, text) || strstr(note[k].why, text))) {
            return true;
        }
    }
    return false;
}

// The hash of the state after some steps, each of them certified.
static uint64_t run(const perp_scene *scene, double seconds, const char *name)
{
    perp_error error = {0};
    perp_sim *sim = NULL;
    perp_sim_def def = perp_scene_sim_def(scene);
    double h = perp_scene_step(scene);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s: %s", name, error.text);
    }
    for (int k = 0; k < (int)(seconds / h + 0.5); k++) {
        perp_status status = perp_sim_step(sim, h);
        if (status != PERP_OK || !perp_sim_info(sim)->certificate.passed) {
            fail_msg("%s: step %d: %s %s", name, k, perp_sim_error(sim)->text,
                     perp_sim_info(sim)->remark);
        }
    }
    uint64_t hash = perp_sim_state_hash(sim);
    perp_sim_destroy(sim);
    return hash;
}

// With and without visuals the motion is the same to the last bit.
static void robots_run(void **state)
{
    (void)state;
    for (int k = 0; k < ROBOTS; k++) {
        perp_import *with = import_of(robots[k], 20000), *without = import_of(robots[k], 0);
        perp_scene *a = scene_of(perp_import_text(with, NULL));
        perp_scene *b = scene_of(perp_import_text(without, NULL));
        assert_true(perp_model_visuals(perp_scene_model(a)) >= 5);
        assert_int_equal(perp_model_visuals(perp_scene_model(b)), 0);
        assert_int_equal(perp_model_shapes(perp_scene_model(a)),
                         perp_model_shapes(perp_scene_model(b)));
        assert_true(run(a, 0.5, robots[k]) == run(b, 0.5, robots[k]));
        perp_scene_destroy(a);
        perp_scene_destroy(b);
        perp_import_destroy(with);
        perp_import_destroy(without);
    }
}

// The arm is drawn by its visuals: colours of materials, real meshes, hidden shapes; the table collides and is shown.
static void looks(void **state)
{
    (void)state;
    perp_import *import = import_of("arm.xml", 20000);
    const char *text = perp_import_text(import, NULL);
    assert_true(has_note(import, PERP_IMPORT_USED, "only shown"));
    assert_false(has_note(import, PERP_IMPORT_NOT_USED, "only shown"));
    assert_non_null(strstr(text, "\"kind\": \"mesh\""));
    const char *tip = strstr(text, "{\"name\": \"tip\"");
    assert_non_null(tip);
    assert_non_null(strstr(tip, "\"hidden\": true"));
    const char *table = strstr(text, "{\"name\": \"table\"");
    assert_non_null(table);
    const char *end = strchr(table, '}'), *colour = strstr(table, "\"colour\": \"#c79e6b\"");
    assert_true(colour && colour < end);
    const char *hidden = strstr(table, "\"hidden\"");
    assert_true(!hidden || hidden > end);
    perp_import_destroy(import);
}

// 640 triangles become at most 100 of each mesh, and the report says so.
static void few_triangles(void **state)
{
    (void)state;
    perp_import *import = import_of("quadruped.xml", 150);
    assert_true(has_note(import, PERP_IMPORT_ASSUMED, "triangles"));
    assert_true(has_note(import, PERP_IMPORT_NOT_USED, "too many"));
    int triangles = 0;
    const char *list = strstr(perp_import_text(import, NULL), "\"visuals\"");
    for (const char *at = strstr(list, "\"triangles\": ["); at;
         at = strstr(at, "\"triangles\": [")) {
        at += strlen("\"triangles\": [");
        for (; *at != ']' || at[1] == ','; at++) {
            triangles += *at == '[';
        }
    }
    assert_true(triangles >= 20 && triangles <= 150);
    perp_scene_destroy(scene_of(perp_import_text(import, NULL)));
    perp_import_destroy(import);
}

static const char boxes[] =
    "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"hidden\": true}],\n"
    " \"visuals\": [{\"name\": \"sky\", \"kind\": \"sphere\", \"radius\": 9},\n"
    "  {\"name\": \"hat\", \"body\": \"box\", \"kind\": \"cone\", \"radius\": 0.1, \"length\": "
    "0.2,\n"
    "   \"position\": [0, 0, 0.5], \"colour\": \"#ff8000\"}],\n"
    " \"bodies\": [{\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, 0, 0.5],\n"
    "  \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1}],\n"
    "  \"visuals\": [{\"kind\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\n"
    "   \"triangles\": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}]}]}\n";

// A scene with visuals: masses are those of shapes; the recording and the scene written from the model have them.
static void recorded(void **state)
{
    (void)state;
    perp_scene *scene = scene_of(boxes), *again = NULL;
    const perp_model *model = perp_scene_model(scene);
    assert_int_equal(perp_model_visuals(model), 3);
    assert_true(fabs(perp_model_mass(model, perp_model_body(model, "box")) - 1.0) < 1e-12);
    assert_string_equal(perp_model_visual_name(model, (perp_visual){2}), "hat");
    perp_error error = {0};
    assert_int_equal(perp_scene_create(model, NULL, NULL, &again, &error), PERP_OK);
    assert_int_equal(perp_model_visuals(perp_scene_model(again)), 3);
    perp_scene_destroy(again);
    folder made = folder_create();
    const char *dir = folder_at(&made, "run");
    perp_sim *sim = NULL;
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record *record = NULL;
    perp_recording *recording = NULL;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(dir, sim, NULL, NULL, &record, &error), PERP_OK);
    assert_true(perp_sim_step(sim, 0.01) == PERP_OK && perp_record_step(record, sim) == PERP_OK);
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, &error), PERP_OK);
    assert_int_equal(perp_recording_about(recording)->visuals, 3);
    perp_recorded_shape hat = perp_recording_visual(recording, (perp_visual){2});
    assert_string_equal(hat.name, "hat");
    assert_true(hat.kind == PERP_SHAPE_CONE && hat.colour == 0xff8000 && hat.body.i == 1);
    assert_true(hat.radius == 0.1 && hat.half.z == 0.1 && hat.X_BS.p.z == 0.5);
    perp_recorded_shape mesh = perp_recording_visual(recording, (perp_visual){0});
    assert_true(mesh.faces == 4 && mesh.outline_count == 4 && mesh.radius == 0.0);
    assert_true(perp_recording_shape(recording, (perp_shape){0}).hidden);
    assert_string_equal(perp_recording_visual(recording, (perp_visual){3}).name, "");
    perp_recording_close(recording);
    folder_remove(&made);
    perp_scene_destroy(scene);
}

static void refuses(const char *text, const char *says)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    assert_true(perp_scene_parse("visual", text, strlen(text), NULL, &scene, &error) < 0);
    if (!strstr(error.text, says)) {
        fail_msg("'%s' was expected, not '%s'", says, error.text);
    }
}

static void refused(void **state)
{
    (void)state;
    refuses("{\"visuals\": [{\"kind\": \"disc\", \"radius\": 1, \"mu\": 1}]}", "'mu'");
    refuses("{\"visuals\": [{\"kind\": \"disc\", \"radius\": -1}]}", "radius");
    refuses("{\"visuals\": [{\"kind\": \"disc\", \"radius\": 1, \"body\": \"b\"}]}", "'b'");
    refuses("{\"visuals\": [{\"name\": \"a\", \"kind\": \"disc\", \"radius\": 1},"
            "{\"name\": \"a\", \"kind\": \"disc\", \"radius\": 1}]}",
            "already used");
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_SPHERE;
    assert_int_equal(perp_builder_add_visual(builder, (perp_body){7}, &def).i, -1);
    assert_true(perp_builder_status(builder, NULL) < 0);
    perp_builder_destroy(builder);
    assert_int_equal(perp_builder_add_visual(NULL, (perp_body){0}, &def).i, -1);
}

// Links 1 and 3 overlap where they start: they do not collide, and the model starts. 'far' does not.
static void overlaps(void **state)
{
    (void)state;
    static const char *const link =
        "<link name='%s'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='0.3'/></geometry>"
        "</collision></link>";
    static const char *const joint =
        "<joint name='%s' type='revolute'><parent link='%s'/><child link='%s'/>"
        "<origin xyz='%s'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' "
        "velocity='1'/></joint>";
    char text[4000] = "<robot name='r'>";
    static const char *const names[] = {"base", "one", "two", "three", "far"};
    static const char *const at[] = {"0 0 1", "0 0 0.1", "0 0 0.1", "0 0 5"};
    for (int k = 0; k < 5; k++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), link, names[k]);
    }
    for (int k = 0; k < 4; k++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), joint, names[k + 1],
                       names[k], names[k + 1], at[k]);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "</robot>");
    perp_import *import = NULL;
    perp_error error = {0};
    assert_int_equal(
        perp_import_parse("model.urdf", text, strlen(text), NULL, NULL, &import, &error), PERP_OK);
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "'one' and 'three' overlap"));
    assert_false(has_note(import, PERP_IMPORT_REPAIRED, "'far'"));
    perp_scene *scene = scene_of(perp_import_text(import, NULL));
    run(scene, 0.1, "overlaps");
    perp_scene_destroy(scene);
    perp_import_destroy(import);
}

// Two rollers that touch by design and overlap by the digits of the file: their hinges keep them where they are, and no
// start would part them.
static void touching(void **state)
{
    (void)state;
#define ROLLER(name, x)                                                                            \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "   \
    "ixz='0' iyz='0'/></inertial><collision><geometry><cylinder radius='0.05' length='0.1'/>"      \
    "</geometry></collision></link><joint name='at " name                                          \
    "' type='continuous'><parent link='base'/><child link='" name "'/><origin xyz='" x             \
    " 0 0'/><axis xyz='0 0 1'/></joint>"
    static const char model[] = "<robot name='r'><link name='base'/>" ROLLER("left", "-0.05")
        ROLLER("right", "0.04999998") "</robot>";
    perp_import *import = NULL;
    perp_error error = {0};
    assert_int_equal(
        perp_import_parse("model.urdf", model, strlen(model), NULL, NULL, &import, &error),
        PERP_OK);
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "'left' and 'right' overlap"));
    perp_scene *scene = scene_of(perp_import_text(import, NULL));
    run(scene, 0.1, "touching");
    perp_scene_destroy(scene);
    perp_import_destroy(import);
}

// A mesh without area is left out, and the model is read.
static void no_area(void **state)
{
    (void)state;
    folder made = folder_create();
    char path[300];
    (void)snprintf(path, sizeof path, "%s", folder_at(&made, "line.obj"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", file) >= 0 && fclose(file) == 0);
    static const char text[] =
        "<mujoco><asset><mesh name='line' file='line.obj'/></asset><worldbody><body><freejoint/>"
        "<geom size='1'/><geom type='mesh' mesh='line' contype='0' conaffinity='0' mass='0'/>"
        "</body></worldbody></mujoco>";
    perp_import *import = NULL;
    perp_error error = {0};
    (void)snprintf(path, sizeof path, "%s", folder_at(&made, "model.xml"));
    assert_int_equal(perp_import_parse(path, text, strlen(text), NULL, NULL, &import, &error),
                     PERP_OK);
    assert_true(has_note(import, PERP_IMPORT_NOT_USED, "no triangles"));
    perp_scene_destroy(scene_of(perp_import_text(import, NULL)));
    perp_import_destroy(import);
    folder_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(robots_run),    cmocka_unit_test(looks),
                                       cmocka_unit_test(few_triangles), cmocka_unit_test(recorded),
                                       cmocka_unit_test(refused),       cmocka_unit_test(overlaps),
                                       cmocka_unit_test(touching),      cmocka_unit_test(no_area)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
