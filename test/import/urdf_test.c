// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// URDF models as scenes: joints, masses, repairs, packages, COLLADA meshes; and models that are refused. Robots with
// reference values are in truth/import.
#include "support/cmocka.h"
#include "support/dae_check.h"
#include "support/folder.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINK(name) "<link name='" name "'/>"
#define HEAVY(name)                                                                                \
    "<link name='" name                                                                            \
    "'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
#define HINGE(a, b)                                                                                \
    "<joint name='j' type='revolute'><parent link='" a "'/><child link='" b                        \
    "'/><axis xyz='0 1 0'/></joint>"
#define ROBOT(inside) "<robot name='r'>" inside "</robot>"

static perp_import *import_of(const char *text, bool free_base)
{
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.free_base = free_base;
    if (perp_import_parse("model.urdf", text, strlen(text), &options, NULL, &import, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    // What is imported is a scene.
    size_t size;
    const char *scene_text = perp_import_text(import, &size);
    perp_scene *scene = NULL;
    if (perp_scene_parse("model.urdf", scene_text, size, NULL, &scene, &error) < 0) {
        fail_msg("%s\n%s", error.text, scene_text);
    }
    perp_scene_destroy(scene);
    return import;
}

static bool has_note(const perp_import *import, perp_import_note_kind kind, const char *what)
{
    int count;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int k = 0; k < count; k++) {
        if (note[k].kind == kind && strstr(note[k].what, what)) {
            return true;
        }
    }
    return false;
}

static void refused(const char *text, int line, const char *says)
{
    perp_import *import = NULL;
    perp_error error = {0};
    perp_status status =
        perp_import_parse("model.urdf", text, strlen(text), NULL, NULL, &import, &error);
    if (status >= 0 || !strstr(error.text, says) || error.line != line) {
        fail_msg("'%s' was expected in line %d, not '%s' in line %d", says, line, error.text,
                 error.line);
    }
    assert_null(import);
}

static void arm(void **state)
{
    (void)state;
    char *text = text_of("fuzz/corpus/import/arm.urdf");
    perp_import *import = import_of(text, false);
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "axes that are not of unit length"));
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "reverse order"));
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "triangle inequality"));
    assert_true(has_note(import, PERP_IMPORT_REPAIRED, "have no mass"));
    assert_true(has_note(import, PERP_IMPORT_ASSUMED, "fixed to the ground"));
    static const char *const unused[] = {
        "<transmission>",  "<gazebo>",   "<safety_controller>", "<xacro:nothing>",
        "velocity limits", "only shown", "<stiffness>"};
    for (size_t k = 0; k < sizeof unused / sizeof unused[0]; k++) {
        if (!has_note(import, PERP_IMPORT_NOT_USED, unused[k])) {
            fail_msg("'%s' is not in the report", unused[k]);
        }
    }
    const char *scene = perp_import_text(import, NULL);
    assert_non_null(strstr(scene, "\"massless\": true"));               // the wrist
    assert_non_null(strstr(scene, "q[grip_2] - 0 - 1*(q[grip] - 0)"));  // the mimic joint
    assert_non_null(strstr(scene, "\"lower\": -1, \"upper\": 2"));
    assert_non_null(strstr(scene, "\"mu\": 0.7"));
    perp_import_destroy(import);
    free(text);
}

static void bases(void **state)
{
    (void)state;
    perp_import *import = import_of(ROBOT(HEAVY("a")), true);
    assert_non_null(strstr(perp_import_text(import, NULL), "\"name\": \"a\""));
    perp_import_destroy(import);
    // A model in which nothing moves is a scene of its own.
    import = import_of(ROBOT(HEAVY("a")), false);
    assert_true(has_note(import, PERP_IMPORT_ASSUMED, "no body that moves"));
    perp_import_destroy(import);
    import = import_of(ROBOT(HEAVY("a") HEAVY(
                           "b") "<joint name='p' type='planar'><parent link='a'/><child link='b'/>"
                                "<axis xyz='0 0 1'/></joint>"),
                       false);
    assert_non_null(strstr(perp_import_text(import, NULL), "p_angle"));
    perp_import_destroy(import);
}

static void broken(void **state)
{
    (void)state;
    refused("<robot>\n<link/></robot>", 2, "needs a name");
    refused("<robot><link name='a'/>\n<link name='a'/></robot>", 2, "two links");
    refused("<robot><link name='a'/><joint name='j' type='fixed'>\n<parent link='world'/><child "
            "link='a'/></joint></robot>",
            2, "'world' does not exist");
    refused("<robot><link name='a'/><link name='b'/>\n<joint name='j' type='wobbly'><parent "
            "link='a'/><child link='b'/></joint></robot>",
            2, "wobbly");
    refused(
        "<robot><link name='a'/><link name='b'/>" HINGE("a", "b") "\n" HINGE("a", "b") "</robot>",
        2, "already has a parent");
    refused("<robot><link name='a'/><link name='b'/>" HINGE("a", "b") HINGE("b", "a") "</robot>", 0,
            "loop");
    refused("<robot><link name='a'/>\n<link name='b'><inertial><mass "
            "value='${m}'/></inertial></link>" HINGE("a", "b") "</robot>",
            2, "xacro");
    refused("<robot><link name='a'/>\n<link name='b'><inertial><mass "
            "value='nan'/></inertial></link>" HINGE("a", "b") "</robot>",
            2, "value must be 1 number");
    refused("<robot><link name='a'/>\n<link name='b'><collision><geometry><mesh "
            "filename='../../../../../../etc/passwd'/></geometry>"
            "</collision></link>" HINGE("a", "b") "</robot>",
            2, "outside the directory");
}

// ── Packages and COLLADA ─────────────────────────────────────────────────────────────────────────

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// A tetrahedron in centimetres, moved by (1, 0, 0) m.
#define DAE(vertices)                                                                              \
    "<COLLADA><asset><unit "                                                                       \
    "meter='0.01'/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id='g'><mesh>"     \
    "<source id='p'><float_array id='f' count='12'>0 0 0 10 0 0 0 10 0 0 0 "                       \
    "10</float_array></source>"                                                                    \
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>"                         \
    "<polylist count='2'><input semantic='VERTEX' source='#v' offset='0'/><input "                 \
    "semantic='NORMAL' source='#n' offset='1'/>"                                                   \
    "<vcount>3 3</vcount><p>" vertices "</p></polylist></mesh></geometry></library_geometries>"    \
    "<library_visual_scenes><visual_scene><node><translate>100 0 0</translate><instance_geometry " \
    "url='#g'/></node>"                                                                            \
    "</visual_scene></library_visual_scenes></COLLADA>"

static void packages(void **state)
{
    (void)state;
    folder f = folder_create();
    char path[400];
    perp_error error = {0};
    perp_import *import = NULL;
    mkdir(folder_at(&f, "robot_description"), 0700);
    mkdir(folder_at(&f, "robot_description/urdf"), 0700);
    mkdir(folder_at(&f, "robot_description/meshes"), 0700);
    snprintf(path, sizeof path, "%s", folder_at(&f, "robot_description/urdf/r.urdf"));
    put(path, ROBOT(LINK("a") "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                              "izz='1'/></inertial>"
                              "<collision><geometry><mesh "
                              "filename='package://robot_description/meshes/m.dae' scale='1 1 2'/>"
                              "</geometry></collision></link>" HINGE("a", "b")));
    // Without the file.
    assert_int_equal(perp_import_load(path, NULL, NULL, &import, &error), PERP_OK);
    assert_true(has_note(import, PERP_IMPORT_NOT_USED, "shapes of mesh"));
    perp_import_destroy(import);
    perp_import_options options = perp_import_options_default();
    options.missing = PERP_IMPORT_MISSING_ERROR;
    assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_ERR_FORMAT);
    // With it: the model is in the package, so that its files are inside.
    put(folder_at(&f, "robot_description/meshes/m.dae"), DAE("0 0 1 0 2 0 0 0 2 0 3 0"));
    assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_OK);
    const char *text = perp_import_text(import, NULL);
    assert_non_null(strstr(text, "\"kind\": \"hull\""));
    assert_non_null(strstr(text, "0.2"));  // 10 cm, twice
    perp_import_destroy(import);
    // A vertex that does not exist.
    put(folder_at(&f, "robot_description/meshes/m.dae"), DAE("0 0 1 0 2 0 0 0 2 0 7 0"));
    assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "vertex 7 does not exist"));
    // A node that contains itself.
    put(folder_at(&f, "robot_description/meshes/m.dae"),
        "<COLLADA><library_visual_scenes><visual_scene><node id='n'><instance_node "
        "url='#n'/><instance_node url='#n'/></node>"
        "</visual_scene></library_visual_scenes></COLLADA>");
    assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "nested too deeply"));
    folder_remove(&f);
}

// Links on fixed joints as bodies of their own: the one on the ground is fixed, the one on the arm welded.
static void fixed_links(void **state)
{
    (void)state;
    static const char text[] = "<robot name='r'>" HEAVY("a") HEAVY("b") HEAVY("c")
        HINGE("a", "b") "<joint name='f' type='fixed'><parent link='b'/><child link='c'/><axis "
                        "xyz='0 0 1'/></joint></robot>";
    perp_import *import = NULL;
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    for (int kept = 0; kept < 2; kept++) {
        options.keep_fixed = kept == 1;
        assert_int_equal(
            perp_import_parse("r.urdf", text, strlen(text), &options, NULL, &import, &error),
            PERP_OK);
        assert_true(has_note(import, PERP_IMPORT_NOT_USED, "of fixed joints"));
        size_t size;
        const char *made = perp_import_text(import, &size);
        assert_int_equal(strstr(made, "\"kind\": \"weld\"") != NULL, kept == 1);
        assert_int_equal(strstr(made, "\"drive\": \"fixed\"") != NULL, kept == 1);
        if (perp_scene_parse("r.json", made, size, NULL, &scene, &error) < 0) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(perp_model_bodies(perp_scene_model(scene)), kept == 1 ? 4 : 2);
        perp_scene_destroy(scene);
        perp_import_destroy(import);
    }
}

// A box of 12 kg m^2 (b^2 + c^2)/12 and so on, in place of a mesh that does not exist.
static void boxes(void **state)
{
    (void)state;
    static const char text[] = "<robot name='r'>" LINK(
        "a") "<link name='b'><inertial><mass value='12'/><inertia ixx='0.13' "
             "iyy='0.1' izz='0.05'/></inertial><collision><geometry><mesh "
             "filename='none.stl'/></geometry>"
             "</collision></link>" HINGE("a", "b") "</robot>";
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.missing = PERP_IMPORT_MISSING_BOX;
    options.no_files = true;
    assert_int_equal(
        perp_import_parse("r.urdf", text, strlen(text), &options, NULL, &import, &error), PERP_OK);
    // b^2 + c^2 = 0.13 and so on: sides 0.1, 0.2 and 0.3 m.
    const char *size = strstr(perp_import_text(import, NULL), "\"kind\": \"box\", \"size\": [");
    assert_non_null(size);
    const char *at = strchr(size, '[') + 1;
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        assert_true(fabs(strtod(at, &end) - 0.1 * (k + 1)) < 1e-12);
        at = end + 1;  // beyond the comma
    }
    assert_true(has_note(import, PERP_IMPORT_ASSUMED, "boxes in place"));
    perp_import_destroy(import);
}

// The seeds of the fuzz target.
static void seeds(void **state)
{
    (void)state;
    char *text = text_of("fuzz/corpus/dae/tetrahedron.dae");
    assert_null(dae_flaw(text, strlen(text)));
    // And every beginning of it.
    for (size_t k = 0; k < strlen(text); k += 7) {
        assert_null(dae_flaw(text, k));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm),      cmocka_unit_test(bases), cmocka_unit_test(broken),
        cmocka_unit_test(packages), cmocka_unit_test(seeds), cmocka_unit_test(fixed_links),
        cmocka_unit_test(boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
