// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that mean harm, and the completeness of the report: an attribute that no reader knows is in it, wherever it
// stands.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ── Helpers ──────────────────────────────────────────────────────────────────────────────────────

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Refused with this text in less than a second of CPU time.
static void refused(const char *path, const char *says)
{
    perp_import *import = NULL;
    perp_error error = {0};
    clock_t start = clock();
    perp_status status = perp_import_load(path, NULL, NULL, &import, &error);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status >= 0 || !strstr(error.text, says) || seconds > 1.0) {
        fail_msg("'%s' was expected in %.2g s, not '%s'", says, seconds, error.text);
    }
    assert_null(import);
}

// ── The report ───────────────────────────────────────────────────────────────────────────────────

// Elements that are reported as a whole, with all that is in them.
static bool reported_whole(const char *name)
{
    static const char *const whole[] = {"visual",      "global",       "headlight",
                                        "map",         "rgba",         "quality",
                                        "scale",       "statistic",    "size",
                                        "custom",      "numeric",      "text",
                                        "tuple",       "texture",      "material",
                                        "camera",      "light",        "skin",
                                        "gazebo",      "transmission", "safety_controller",
                                        "calibration", "color"};
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
        if (strcmp(whole[k], name) == 0) {
            return true;
        }
    }
    return false;
}

// Whether a place is in a <visual> element.
static bool in_visual(const char *text, const char *at)
{
    const char *open = NULL;
    for (const char *k = strstr(text, "<visual"); k && k < at; k = strstr(k + 1, "<visual")) {
        open = k;
    }
    const char *end = open ? strstr(open, "</visual>") : NULL;
    return end && end > at;
}

static bool has_note(const perp_import *import, const char *text)
{
    int count;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int k = 0; k < count; k++) {
        if (note[k].kind == PERP_IMPORT_NOT_USED && strstr(note[k].what, text)) {
            return true;
        }
    }
    return false;
}

// Adds an attribute to one element after the other; returns how many have it in the report.
static int mutate(const char *path, bool whole)
{
    char *text = text_of(path);
    char *changed = calloc(1, strlen(text) + 100);
    int found = 0;
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        char name[64] = "";
        if (sscanf(at, "<%63[a-zA-Z_:]", name) != 1) {
            continue;
        }
        size_t head = (size_t)(at - text) + 1 + strlen(name);
        sprintf(changed, "%.*s zz_unknown='1'%s", (int)head, text, text + head);
        perp_import *import = NULL;
        perp_error error = {0};
        perp_import_options options = perp_import_options_default();
        perp_status status =
            perp_import_parse(path, changed, strlen(changed), &options, NULL, &import, &error);
        if (status < 0) {
            fail_msg("%s <%s>: %s", path, name, error.text);
        }
        // An element that is unknown itself is listed with all that is in it.
        char element[80];
        snprintf(element, sizeof element, "<%s>", name);
        bool listed = has_note(import, "zz_unknown") || has_note(import, element);
        if (!listed && !(whole && (reported_whole(name) || in_visual(text, at)))) {
            fail_msg("%s: an unknown attribute of <%s> is not in the report", path, name);
        }
        found += listed;
        perp_import_destroy(import);
    }
    free(changed);
    free(text);
    return found;
}

static void unknown_everywhere(void **state)
{
    (void)state;
    assert_true(mutate("test/data/robots/mjcf/small/compiler.xml", false) >= 20);
    assert_true(mutate("test/data/robots/mjcf/small/actuators.xml", false) >= 20);
    assert_true(mutate("test/data/robots/mjcf/small/attach.xml", false) >= 10);
    assert_true(mutate("test/data/robots/mjcf/small/replicate.xml", false) >= 10);
    assert_true(mutate("test/data/robots/mjcf/small/field.xml", false) >= 5);
    assert_true(mutate("fuzz/corpus/import/pendulum.xml", true) >= 3);
    assert_true(mutate("fuzz/corpus/import/arm.urdf", true) >= 10);
}

// With strict, all that is not used is an error at its place.
static void strict(void **state)
{
    (void)state;
    static const char model[] = "<mujoco><worldbody><body><freejoint/>\n<geom size='1' "
                                "wobble='2'/></body></worldbody></mujoco>";
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.strict = true;
    assert_int_equal(
        perp_import_parse("m.xml", model, strlen(model), &options, NULL, &import, &error),
        PERP_ERR_FORMAT);
    assert_string_equal(error.text,
                        "<geom>: not used: <geom wobble>: not known to the reader (--strict)");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 1);
    static const char good[] =
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>";
    assert_int_equal(
        perp_import_parse("m.xml", good, strlen(good), &options, NULL, &import, &error), PERP_OK);
    perp_import_destroy(import);
}

// What an included or an attached file holds has the place in that file, in errors and in the report.
static void strict_elsewhere(void **state)
{
    (void)state;
    static const char *const main_files[] = {
        "<mujoco>\n\n<worldbody><include file='part.xml'/></worldbody></mujoco>",
        "<mujoco>\n\n<asset><model name='m' file='part.xml'/></asset><worldbody><attach model='m' "
        "body='b' prefix='x_'/></worldbody></mujoco>"};
    static const char *const parts[] = {
        "<mujocoinclude>\n<body name='b'><freejoint/>\n  <geom name='g' size='1' "
        "wobble='2'/></body></mujocoinclude>",
        "<mujoco><worldbody>\n<body name='b'><joint/>\n  <geom name='g' size='1' pos='1 0 0' "
        "wobble='2'/></body></worldbody></mujoco>"};
    folder f = folder_create();
    char path[400];
    snprintf(path, sizeof path, "%s", folder_at(&f, "main.xml"));
    for (int k = 0; k < 2; k++) {
        put(path, main_files[k]);
        put(folder_at(&f, "part.xml"), parts[k]);
        perp_import *import = NULL;
        perp_error error = {0};
        perp_import_options options = perp_import_options_default();
        assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_OK);
        int count = 0, line = 0;
        const perp_import_note *note = perp_import_notes(import, &count);
        for (int i = 0; i < count; i++) {
            if (strstr(note[i].what, "wobble")) {
                assert_string_equal(note[i].file, "part.xml");
                line = note[i].line;
            }
        }
        assert_int_equal(line, 3);
        perp_import_destroy(import);
        options.strict = true;
        assert_int_equal(perp_import_load(path, &options, NULL, &import, &error), PERP_ERR_FORMAT);
        assert_non_null(strstr(error.text, "part.xml:3:3: <geom> 'g': not used: <geom wobble>"));
        assert_int_equal(error.line, 0);  // the line is not one of the main file
    }
    folder_remove(&f);
}

// ── Files that mean harm ─────────────────────────────────────────────────────────────────────────

#define BODY(text) "<mujoco><worldbody><body><freejoint/>" text "</body></worldbody></mujoco>"

#define MESH(text)                                                                                 \
    "<mujoco><asset><mesh name='m' " text "/></asset><worldbody><body><freejoint/><geom "          \
    "type='mesh' mesh='m'/></body></worldbody></mujoco>"

static void harmful(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } list[] = {
        {"<!DOCTYPE l [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;'>]><mujoco model='&b;'/>",
         "document types"},
        {"<!DOCTYPE r SYSTEM 'file:///etc/passwd'><robot/>", "document types"},
        {BODY("<geom size='inf'/>"), "size=\"inf\""},
        {BODY("<geom size='1' pos='nan 0 0'/>"), "pos=\"nan 0 0\""},
        {BODY("<geom size='1' mass='-1'/>"), "must be >= 0"},
        {"<mujoco><compiler settotalmass='inf'/></mujoco>", "settotalmass"},
        {"<mujoco><option timestep='nan'/></mujoco>", "timestep"},
        {"<mujoco><option timestep='-1'/></mujoco>", "timestep"},
        {"<mujoco><worldbody><replicate count='2147483648'/></worldbody></mujoco>", "count"},
        {"<mujoco><worldbody><replicate count='-3'/></worldbody></mujoco>", "count"},
        {"<mujoco><worldbody><attach model='none'/></worldbody></mujoco>", "no <model> 'none'"},
        {"<mujoco><asset><model name='m' file='../../../../etc/passwd'/></asset><worldbody><attach "
         "model='m'/></worldbody></mujoco>",
         "outside the directory"},
        {"<mujoco><asset><hfield name='h' nrow='99999' ncol='99999' size='1 1 1 "
         "1'/></asset></mujoco>",
         "nrow and ncol"},
        {"<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 nan "
         "4'/></asset></mujoco>",
         "elevation"},
        {"<mujoco><asset><hfield name='h' file='/etc/passwd' size='1 1 1 1'/></asset></mujoco>",
         "outside the directory"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0'"), "at least 4 points"},
        {MESH(""), "at least 4 points"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1 7'"), "three for each point"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 nan'"), "three for each point"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1e300'"), "not finite"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 1 1 0'"), "no convex hull"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1'"), "three for each triangle"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'"), "the vertices 0 to 3"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 -1'"), "the vertices 0 to 3"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 1.5'"), "the vertices 0 to 3"},
        {MESH("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 1e300'"), "the vertices 0 to 3"},
        {MESH("builtin='sphere'"), "MuJoCo makes itself"},
        {"<mujoco><tendon><spatial><pulley divisor='0'/></spatial></tendon></mujoco>", "divisor"},
        {"<mujoco><tendon><spatial><site site='none'/></spatial></tendon></mujoco>",
         "no such object"},
        {"<mujoco><worldbody><site name='s'/></worldbody><tendon><spatial><site "
         "site='s'/></spatial></tendon></mujoco>",
         "two sites"},
        {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent "
         "link='a'/><child link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child "
         "link='a'/></joint></robot>",
         "loop"},
        {"<robot><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent "
         "link='a'/><child link='b'/><mimic joint='j'/></joint></robot>",
         "mimic itself"},
        {"<robot><link name='a'><inertial><mass value='1e400'/></inertial></link></robot>",
         "value"},
        {"<robot><link name='a'><collision><geometry><mesh filename='package://../../etc/passwd'/>"
         "</geometry></collision></link></robot>",
         "is no package"},
        {"<robot><link name='a'><collision><geometry><mesh filename='file:///etc/passwd'/>"
         "</geometry></collision></link></robot>",
         "outside the directory"},
    };
    folder f = folder_create();
    char path[400];
    snprintf(path, sizeof path, "%s", folder_at(&f, "model.xml"));
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        put(path, list[k].text);
        refused(path, list[k].says);
    }
    folder_remove(&f);
}

// Models that attach themselves, once and twice in each.
static void attach_cycles(void **state)
{
    (void)state;
    folder f = folder_create();
    char path[400];
    snprintf(path, sizeof path, "%s", folder_at(&f, "a.xml"));
    put(path,
        "<mujoco><asset><model name='m' file='a.xml'/></asset><worldbody><body><freejoint/><geom "
        "size='1'/><attach model='m' prefix='x'/></body></worldbody></mujoco>");
    refused(path, "child of the world");
    put(path, "<mujoco><asset><model name='m' file='a.xml'/></asset><worldbody><body><joint/><geom "
              "size='1'/><attach model='m' prefix='x'/><attach model='m' "
              "prefix='y'/></body></worldbody></mujoco>");
    refused(path, "attached more than");
    folder_remove(&f);
}

// Files that include each other, a symbolic link that leads out, and deep nesting.
static void ways_out(void **state)
{
    (void)state;
    folder f = folder_create();
    char path[400];
    snprintf(path, sizeof path, "%s", folder_at(&f, "a.xml"));
    put(path, "<mujoco><include file='b.xml'/></mujoco>");
    put(folder_at(&f, "b.xml"), "<mujoco><include file='c.xml'/></mujoco>");
    put(folder_at(&f, "c.xml"), "<mujoco><include file='b.xml'/></mujoco>");
    refused(path, "included twice");
    put(path, "<mujoco><include file='link.xml'/></mujoco>");
    assert_int_equal(symlink("/etc/passwd", folder_at(&f, "link.xml")), 0);
    refused(path, "outside the directory");
    put(path, "<mujoco><include file='/dev/zero'/></mujoco>");
    refused(path, "outside the directory");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("<mujoco><worldbody>", file);
    for (int k = 0; k < 100000; k++) {
        fputs("<body>", file);
    }
    fclose(file);
    refused(path, "400 levels");
    folder_remove(&f);
}

// Text of many copies of a piece, in which # is the number of the copy; the caller frees it.
static char *copies(const char *before, const char *piece, int count, const char *after)
{
    size_t room = strlen(before) + (strlen(piece) + 20) * (size_t)count + strlen(after) + 1, n = 0;
    char *text = calloc(1, room);
    assert_non_null(text);
    n += (size_t)snprintf(text, room, "%s", before);
    for (int k = 0; k < count; k++) {
        for (const char *c = piece; *c; c++) {
            n += (size_t)(*c == '#' ? snprintf(text + n, room - n, "%d", k)
                                    : snprintf(text + n, room - n, "%c", *c));
        }
    }
    snprintf(text + n, room - n, "%s", after);
    return text;
}

// Much of one kind costs no more than in proportion, or is refused: seconds of CPU time.
static void large(void **state)
{
    (void)state;
    static const struct {
        const char *before, *piece, *after;
        int count;
        const char *says;  // NULL: it is read
    } list[] = {
        {"<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody><keyframe>",
         "<key qpos='#'/>", "</keyframe></mujoco>", 20000, NULL},
        {"<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody><keyframe>",
         "<key qpos='#'/>", "</keyframe></mujoco>", 150000, "more than 200000 values"},
        {"<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody>", "<u# a='1'/>",
         "</mujoco>", 50000, NULL},
        {"<robot><link name='base'/>",
         "<link name='l#'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
         "<collision><geometry><sphere radius='1'/></geometry></collision></link><joint name='j#' "
         "type='continuous'><parent link='base'/><child link='l#'/></joint>",
         "</robot>", 1000, "pairs of links overlap"},
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        char *text = copies(list[k].before, list[k].piece, list[k].count, list[k].after);
        perp_scene *scene = NULL;
        perp_error error = {0};
        clock_t start = clock();
        perp_status status =
            perp_scene_parse("model.xml", text, strlen(text), NULL, &scene, &error);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        bool expected = list[k].says ? status < 0 && strstr(error.text, list[k].says) : status >= 0;
        if (!expected || seconds > 2.0) {
            fail_msg("%d of %s: %.2g s, '%s'", list[k].count, list[k].piece, seconds, error.text);
        }
        print_message("%d of %s: %.2g s\n", list[k].count, list[k].piece, seconds);
        perp_scene_destroy(scene);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_everywhere),
        cmocka_unit_test(strict),
        cmocka_unit_test(strict_elsewhere),
        cmocka_unit_test(harmful),
        cmocka_unit_test(attach_cycles),
        cmocka_unit_test(ways_out),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
