// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// MJCF models as scenes: defaults, masses, joints, actuators; and models that are refused. Robots with reference
// values are in truth/import.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// ── Helpers ──────────────────────────────────────────────────────────────────────────────────────

static perp_scene *scene_of(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("model.xml", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return scene;
}

static perp_body body_named(const perp_model *model, const char *name)
{
    for (int i = 0; i < perp_model_bodies(model); i++) {
        if (strcmp(perp_model_body_name(model, (perp_body){i}), name) == 0) {
            return (perp_body){i};
        }
    }
    fail_msg("no body '%s'", name);
    return (perp_body){0};
}

static double mass_of(const char *text, const char *name)
{
    perp_scene *scene = scene_of(text);
    double mass =
        perp_model_mass(perp_scene_model(scene), body_named(perp_scene_model(scene), name));
    perp_scene_destroy(scene);
    return mass;
}

static void refused(const char *text, int line, const char *says)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_parse("model.xml", text, strlen(text), NULL, &scene, &error);
    if (status >= 0 || !strstr(error.text, says) || error.line != line) {
        fail_msg("'%s' was expected in line %d, not '%s' in line %d", says, line, error.text,
                 error.line);
    }
    assert_null(scene);
}

static void assert_near(double value, double expected, double limit)
{
    if (!(fabs(value - expected) <= limit)) {
        fail_msg("%.17g is not %.17g", value, expected);
    }
}

static bool reports(const char *text, perp_import_note_kind kind, const char *what)
{
    perp_import *import = NULL;
    perp_error error = {0};
    if (perp_import_parse("model.xml", text, strlen(text), NULL, NULL, &import, &error) < 0) {
        fail_msg("%s", error.text);
    }
    int count;
    const perp_import_note *note = perp_import_notes(import, &count);
    bool found = false;
    for (int k = 0; k < count; k++) {
        found = found || (note[k].kind == kind && strstr(note[k].what, what));
    }
    perp_import_destroy(import);
    return found;
}

#define BODY(inside)                                                                               \
    "<mujoco><worldbody><body name='b'><freejoint/>" inside "</body></worldbody></mujoco>"

// ── Masses ───────────────────────────────────────────────────────────────────────────────────────

static void masses(void **state)
{
    (void)state;
    assert_near(mass_of(BODY("<geom size='0.1'/>"), "b"), 1000.0 * 4.0 / 3.0 * PI * 1e-3, 1e-12);
    assert_near(mass_of(BODY("<geom type='box' size='.1 .2 .3' density='10'/>"), "b"), 0.48, 1e-15);
    assert_near(mass_of(BODY("<geom type='box' size='.1 .2 .3' mass='7'/>"), "b"), 7.0, 1e-15);
    // Caps of a capsule count; fromto is between their centres.
    assert_near(
        mass_of(BODY("<geom type='capsule' fromto='0 0 0 1 0 0' size='.1' density='1'/>"), "b"),
        PI * 0.01 + 4.0 / 3.0 * PI * 1e-3, 1e-15);
    // <inertial> wins, unless the compiler says otherwise.
    static const char inertial[] =
        "<geom size='0.1' mass='1'/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>";
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body name='b'><freejoint/>%s</body></worldbody></mujoco>",
             inertial);
    assert_near(mass_of(text, "b"), 3.0, 0.0);
    snprintf(text, sizeof text,
             "<mujoco><compiler inertiafromgeom='true'/><worldbody><body "
             "name='b'><freejoint/>%s</body></worldbody></mujoco>",
             inertial);
    assert_near(mass_of(text, "b"), 1.0, 1e-15);
    // A body without joints is part of its parent.
    assert_near(
        mass_of(BODY("<geom size='1' mass='2'/><body><geom size='1' mass='3'/></body>"), "b"), 5.0,
        1e-15);
    assert_near(mass_of("<mujoco><compiler settotalmass='10'/><worldbody><body "
                        "name='b'><freejoint/><geom size='1'/></body>"
                        "</worldbody></mujoco>",
                        "b"),
                10.0, 1e-12);
}

// ── Defaults ─────────────────────────────────────────────────────────────────────────────────────

static void defaults(void **state)
{
    (void)state;
    static const char head[] =
        "<mujoco><default><geom mass='1'/><default class='heavy'><geom mass='2'/>"
        "<default class='heavier'><geom mass='3'/></default></default></default><worldbody>";
    static const struct {
        const char *body;
        double mass;
    } cases[] = {
        {"<body name='b'><freejoint/><geom size='1'/></body>", 1.0},
        {"<body name='b' childclass='heavy'><freejoint/><geom size='1'/></body>", 2.0},
        {"<body name='b' childclass='heavy'><freejoint/><geom size='1' class='heavier'/></body>",
         3.0},
        {"<body name='b' childclass='heavy'><freejoint/><geom size='1' class='heavier' "
         "mass='4'/></body>",
         4.0},
        {"<body name='b' childclass='heavier'><freejoint/><body><geom size='1'/></body></body>",
         3.0},
        {"<body name='b'><freejoint/><frame childclass='heavy'><geom size='1'/></frame></body>",
         2.0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[700];
        snprintf(text, sizeof text, "%s%s</worldbody></mujoco>", head, cases[k].body);
        assert_near(mass_of(text, "b"), cases[k].mass, 1e-15);
    }
}

// ── Joints and actuators ─────────────────────────────────────────────────────────────────────────

// A pendulum that starts at 30 degrees: the joint coordinate is that of the keyframe.
static void coordinates(void **state)
{
    (void)state;
    perp_scene *scene = scene_of(
        "<mujoco><worldbody><body name='rod' pos='0 0 2'><joint name='pin' axis='0 1 0' range='-90 "
        "90'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -1' size='.02' mass='1'/></body></worldbody>"
        "<keyframe><key qpos='0.5'/></keyframe></mujoco>");
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_error error;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_near(perp_sim_joint(sim, (perp_joint){0}).coordinate, 0.5, 1e-14);
    perp_vec3 p = perp_sim_body_position(sim, body_named(perp_scene_model(scene), "rod"));
    assert_near(p.x, -0.5 * sin(0.5), 1e-14);
    assert_near(p.z, 2.0 - 0.5 * cos(0.5), 1e-14);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// <position kp> in a class also changes a <general> of that class.
static void actuator_defaults(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><default><position kp='50' kv='2'/></default><worldbody><body><joint name='j'/>"
        "<geom size='1'/></body></worldbody><actuator><general name='g' "
        "joint='j'/></actuator></mujoco>";
    perp_import *import = NULL;
    assert_int_equal(perp_import_parse("m.xml", text, strlen(text), NULL, NULL, &import, NULL),
                     PERP_OK);
    const char *scene = perp_import_text(import, NULL);
    assert_non_null(strstr(scene, "\"gain\": 50, \"bias\": [0, -50, -2]"));
    perp_import_destroy(import);
}

static void everything(void **state)
{
    (void)state;
    char *text = text_of("fuzz/corpus/import/everything.xml");
    static const char *const unused[] = {"softness", "looks", "<size>", "inactive equalities"};
    for (size_t k = 0; k < sizeof unused / sizeof unused[0]; k++) {
        if (!reports(text, PERP_IMPORT_NOT_USED, unused[k])) {
            fail_msg("'%s' is not in the report", unused[k]);
        }
    }
    assert_true(reports(text, PERP_IMPORT_USED, "keyframe 'home'"));
    assert_true(reports(text, PERP_IMPORT_ASSUMED, "mocap"));
    perp_scene *scene = scene_of(text);
    assert_non_null(strstr(perp_scene_text(scene, NULL), "\"kind\": \"gyro\", \"site\": \"imu\""));
    assert_non_null(strstr(perp_scene_text(scene, NULL), "\"kind\": \"joint-position\""));
    const perp_model *model = perp_scene_model(scene);
    double total = 0.0;
    for (int i = 1; i < perp_model_bodies(model); i++) {
        total += perp_model_mass(model, (perp_body){i});
    }
    // settotalmass, of which boundmass takes 1 g for the body that rests.
    assert_true(total < 12.0 && total > 11.9);
    perp_scene_destroy(scene);
    free(text);
}

// An attribute that no reader knows is in the report.
static void unknown_is_reported(void **state)
{
    (void)state;
    assert_true(
        reports(BODY("<geom size='1' wobble='2'/>"), PERP_IMPORT_NOT_USED, "<geom wobble>"));
    assert_true(reports(BODY("<geom size='1'/><gizmo a='1'/>"), PERP_IMPORT_NOT_USED, "<gizmo>"));
    assert_false(reports(BODY("<geom size='1' density='3'/>"), PERP_IMPORT_NOT_USED, "density"));
}

// ── Errors ───────────────────────────────────────────────────────────────────────────────────────

static void broken(void **state)
{
    (void)state;
    refused("<robotics/>", 1, "is no model");
    refused("<mujoco>\n<worldbody><body><freejoint/>\n<joint/><geom "
            "size='1'/></body></worldbody></mujoco>",
            3, "a free joint must be the only joint of its body");
    refused("<mujoco>\n<worldbody><body><joint/>\n<freejoint/><geom "
            "size='1'/></body></worldbody></mujoco>",
            3, "a free joint must be the only joint of its body");
    refused("<mujoco>\n<worldbody><body><freejoint/>\n<geom size='x'/></body></worldbody></mujoco>",
            3, "size=\"x\"");
    refused("<mujoco>\n<worldbody><body><freejoint/>\n<geom/></body></worldbody></mujoco>", 3,
            "1 positive number");
    refused("<mujoco>\n<worldbody><body><freejoint/>\n<geom size='1' "
            "mass='nan'/></body></worldbody></mujoco>",
            3, "mass=\"nan\"");
    refused("<mujoco>\n<worldbody><body><freejoint/>\n<geom size='1' "
            "type='blob'/></body></worldbody></mujoco>",
            3, "is not one of");
    refused("<mujoco><worldbody>\n<body name='a'><freejoint/></body></worldbody></mujoco>", 2,
            "has no mass");
    refused("<mujoco><worldbody>\n<body childclass='none'/></worldbody></mujoco>", 2,
            "no default class 'none'");
    refused("<mujoco><worldbody><body name='a'/>\n<body name='a'/></worldbody></mujoco>", 2,
            "two of this name");
    refused("<mujoco><worldbody>\n<joint/></worldbody></mujoco>", 2, "the world has no joints");
    refused("<mujoco><worldbody><body>\n<joint axis='0 0 0'/></body></worldbody></mujoco>", 2,
            "no direction");
    refused("<mujoco><worldbody><body>\n<joint range='2 1'/></body></worldbody></mujoco>", 2,
            "must be less");
    refused("<mujoco><worldbody><body><body>\n<freejoint/></body></body></worldbody></mujoco>", 2,
            "child of the world");
    refused("<mujoco>\n<include file='model.xml'/></mujoco>", 2, "model.xml");
    refused("<mujoco>\n<include file='../../../../../etc/passwd'/></mujoco>", 2,
            "outside the directory");
    refused("<mujoco>\n<include file='/etc/passwd'/></mujoco>", 2, "outside the directory");
    refused("<mujoco><actuator>\n<motor/></actuator></mujoco>", 2, "no joint, tendon or site");
    refused("<mujoco><actuator>\n<motor joint='none'/></actuator></mujoco>", 2, "no such object");
    refused("<mujoco><worldbody><body><freejoint/><geom size='1e308'/></body></worldbody></mujoco>",
            0, "too large");
    refused("<mujoco><compiler\neulerseq='abc'/></mujoco>", 1, "three of xyzXYZ");
    refused("<mujoco><keyframe>\n<key qpos='1 2 3'/></keyframe></mujoco>", 2,
            "must have 0 numbers");
}

// Two connects that the file rounds differently: no pose would close both.
static void rounded_loops(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/><geom size='0.1'/>"
        "<site name='a1' pos='0.3 0 0'/><site name='a2' pos='0.3 0.1 0'/></body>"
        "<body name='b' pos='0.6 0 0'><joint axis='0 1 0'/><geom size='0.1'/>"
        "<site name='b1' pos='-0.30000003 0 0'/><site name='b2' pos='-0.3 0.10000002 "
        "0'/></body></worldbody>"
        "<equality><connect site1='a1' site2='b1'/><connect site1='a2' "
        "site2='b2'/></equality></mujoco>";
    perp_scene *scene = scene_of(model);
    perp_sim *sim = NULL;
    perp_error error = {0};
    perp_sim_def def = perp_scene_sim_def(scene);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// An actuator at a site is one of the scene: its gear is in the axes of the site, its bias sees the velocity there, and
// forcerange limits its effort.
static void thruster(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><option gravity='0 0 0' timestep='0.01'/><worldbody><body name='b'><freejoint/>"
        "<geom size='0.1' mass='2'/><site name='s' axisangle='0 1 0 90'/></body></worldbody>"
        "<actuator><general name='jet' site='s' gear='0 0 2 0 0 0' gainprm='1' biastype='affine' "
        "biasprm='0.5 7 -0.25' forcerange='-10 %d'/></actuator><keyframe><key "
        "ctrl='3'/></keyframe></mujoco>";
    for (int limit = 2; limit <= 10; limit += 8) {
        char text[600];
        (void)snprintf(text, sizeof text, model, limit);
        perp_scene *scene = scene_of(text);
        perp_sim *sim = NULL;
        perp_error error = {0};
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(perp_model_actuators(perp_scene_model(scene)), 1);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        for (int k = 0; k < 100; k++) {
            assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        }
        // 2 v' = 2 f with f = 3.5 - 0.25 (2 v), at the end of each step: v+ = (v + 3.5 h) / (1 + 0.5 h).
        double v = 0.0;
        for (int k = 0; k < 100; k++) {
            double next = (v + 0.035) / 1.005;
            v = fmin(next, v + 0.01 * limit);
        }
        perp_vec3 fast = perp_sim_body_twist(sim, body_named(perp_scene_model(scene), "b")).v_W;
        assert_near(fast.x, v, 1e-9);
        assert_near(fast.z, 0.0, 1e-12);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// An arm on a fixed base whose shapes overlap in every position of the joint does not collide with it; one that the
// joint parts does, and one that the model excludes is not reported.
static void mounts(void **state)
{
    (void)state;
#define ARM(place, more)                                                                           \
    "<mujoco><worldbody><geom type='plane' size='1 1 1' pos='0 0 -1'/><body name='base'><geom "    \
    "size='.1'/><body name='arm' pos='0 0 " place "'><joint name='j' axis='1 0 0'/><geom "         \
    "type='capsule' fromto='0 0 0 0 0 .3' size='.05'/></body></body></worldbody>" more "</mujoco>"
    const char *held = "'base' and 'arm' overlap by";
    assert_true(reports(ARM(".1", ""), PERP_IMPORT_REPAIRED, held));
    assert_false(reports(ARM("-.2", ""), PERP_IMPORT_REPAIRED, held));
    assert_false(reports(ARM(".1", "<contact><exclude body1='arm' body2='base'/></contact>"),
                         PERP_IMPORT_REPAIRED, held));
#undef ARM
}

// Copies of copies: refused before they fill the memory.
static void many_copies(void **state)
{
    (void)state;
    refused(
        "<mujoco><worldbody><body><freejoint/>\n<replicate count='9999'><replicate count='9999'>\n"
        "<replicate count='9999'><geom "
        "size='1'/></replicate></replicate></replicate></body></worldbody></mujoco>",
        3, "more than 50000");
    // A tetrahedron in the text of the model: 1/6 m^3 of 1000 kg/m^3.
    assert_near(mass_of("<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 "
                        "1'/></asset><worldbody><body name='b'>\n"
                        "<freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
                        "b"),
                1000.0 / 6.0, 1e-10);
    refused("<mujoco><worldbody>\n<replicate count='1e9'/></worldbody></mujoco>", 2, "count");
}

// A file that includes itself.
static void include_cycle(void **state)
{
    (void)state;
    folder f = folder_create();
    char path[400];
    snprintf(path, sizeof path, "%s", folder_at(&f, "a.xml"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("<mujoco>\n<include file='a.xml'/></mujoco>", file);
    fclose(file);
    perp_scene *scene = NULL;
    perp_error error = {0};
    assert_int_equal(perp_scene_load(path, NULL, &scene, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "included twice"));
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses),        cmocka_unit_test(defaults),
        cmocka_unit_test(coordinates),   cmocka_unit_test(actuator_defaults),
        cmocka_unit_test(everything),    cmocka_unit_test(unknown_is_reported),
        cmocka_unit_test(broken),        cmocka_unit_test(many_copies),
        cmocka_unit_test(include_cycle), cmocka_unit_test(rounded_loops),
        cmocka_unit_test(thruster),      cmocka_unit_test(mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
