// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Massless bodies, frames between joints in series. Two hinges are a universal joint, a slide and a hinge a cylindrical
// one, and the motion is the same; three hinges turn as small bodies between them do.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct machine {
    perp_scene *scene;
    perp_sim *sim;
} machine;

// The arm, the settings and a list of joints; frames: bodies before the arm.
static machine open_arm(const char *settings, const char *frames, const char *joints)
{
    static const char arm[] =
        "{\"name\": \"arm\", \"kind\": \"solid\", \"mass\": 1.5, \"position\": [0.3, 0.05, 0.9], "
        "\"velocity\": [0, 0, 0], \"inertia\": [0.02, 0.03, 0.015, 0.002, 0, 0.001]}";
    char text[4096];
    perp_error error = {0};
    machine m = {0};
    (void)snprintf(text, sizeof text, "{\"step\": 0.002, %s, \"bodies\": [%s%s], \"joints\": [%s]}",
                   settings, frames, arm, joints);
    if (perp_scene_parse("arm", text, strlen(text), NULL, &m.scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(m.scene);
    if (perp_sim_create(perp_scene_model(m.scene), &def, NULL, &m.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return m;
}

static void close_arm(machine *m)
{
    perp_sim_destroy(m->sim);
    perp_scene_destroy(m->scene);
}

static void run(machine *m, int steps)
{
    for (int i = 0; i < steps; i++) {
        assert_int_equal(perp_sim_step(m->sim, 0.002), PERP_OK);
        assert_true(perp_sim_info(m->sim)->certificate.passed);
    }
}

// Distance of the arms and of their orientations.
static double apart(const machine *a, const machine *b)
{
    perp_body x = perp_model_body(perp_scene_model(a->scene), "arm");
    perp_body y = perp_model_body(perp_scene_model(b->scene), "arm");
    perp_pose p = perp_sim_body_pose(a->sim, x), q = perp_sim_body_pose(b->sim, y);
    double dot = p.rot.w * q.rot.w + p.rot.x * q.rot.x + p.rot.y * q.rot.y + p.rot.z * q.rot.z;
    return fmax(hypot(hypot(p.p.x - q.p.x, p.p.y - q.p.y), p.p.z - q.p.z), fabs(1.0 - fabs(dot)));
}

#define FRAME(name)                                                                                \
    "{\"name\": \"" name "\", \"kind\": \"solid\", \"massless\": true, \"position\": [0, 0, 1]}, "
#define HINGE(name, a, b, axis, more)                                                              \
    "{\"name\": \"" name "\", \"kind\": \"revolute\", " a "\"b\": \"" b                            \
    "\", \"at\": [0, 0, 1], \"axis\": " axis more "}"

static const char *const steppers[] = {
    "\"coordinates\": \"joint\"", "\"coordinates\": \"joint\", \"form\": \"mcp\"",
    "\"coordinates\": \"joint\", \"form\": \"lcp\"", "\"stepper\": \"event\""};

static void two_hinges(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof steppers / sizeof *steppers; k++) {
        machine one = open_arm(steppers[k], "",
                               "{\"name\": \"u\", \"kind\": \"universal\", \"b\": \"arm\", \"at\": "
                               "[0, 0, 1], \"axis\": "
                               "[1, 0, 0], \"axis_b\": [0, 1, 0], \"damping\": 0.1}");
        machine two = open_arm(steppers[k], FRAME("f"),
                               HINGE("x", "", "f", "[1, 0, 0]", ", \"damping\": 0.1") ", " HINGE(
                                   "y", "\"a\": \"f\", ", "arm", "[0, 1, 0]", ""));
        run(&one, 500);
        run(&two, 500);
        assert_true(apart(&one, &two) < 1e-9);
        close_arm(&one);
        close_arm(&two);
    }
}

static void slide_and_hinge(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof steppers / sizeof *steppers; k++) {
        machine one = open_arm(steppers[k], "",
                               "{\"name\": \"c\", \"kind\": \"cylindrical\", \"b\": \"arm\", "
                               "\"at\": [0, 0, 1], \"axis\": "
                               "[0.6, 0, 0.8], \"stiffness\": 300, \"damping\": 4}");
        machine two = open_arm(steppers[k], FRAME("f"),
                               "{\"name\": \"s\", \"kind\": \"prismatic\", \"b\": \"f\", \"at\": "
                               "[0, 0, 1], \"axis\": [0.6, 0, 0.8], "
                               "\"stiffness\": 300, \"damping\": 4}, " HINGE(
                                   "h", "\"a\": \"f\", ", "arm", "[0.6, 0, 0.8]", ""));
        run(&one, 500);
        run(&two, 500);
        assert_true(apart(&one, &two) < 1e-9);
        close_arm(&one);
        close_arm(&two);
    }
}

// Everything that acts along coordinates: rotors, dry friction, limits, springs. Bodies of 1e-7 kg in place of the massless
// ones change the motion by about as little.
static void three_hinges(void **state)
{
    (void)state;
#define SMALL(name)                                                                                \
    "{\"name\": \"" name "\", \"kind\": \"solid\", \"mass\": 1e-7, \"inertia\": [1e-9, 1e-9, "     \
    "1e-9], \"position\": [0, 0, 1]}, "
#define SERIES                                                                                     \
    HINGE("x", "", "f", "[1, 0, 0]",                                                               \
          ", \"armature\": 0.01, \"friction\": 0.02, \"lower\": -0.3, \"upper\": 0.3")             \
    ", " HINGE("y", "\"a\": \"f\", ", "g", "[0, 1, 0]",                                            \
               ", \"friction\": 0.1, \"upper\": 0.4") ", " HINGE("z", "\"a\": \"g\", ", "arm",     \
                                                                 "[0, 0, 1]",                      \
                                                                 ", \"stiffness\": 2")
    static const char *const forms[] = {"mcp", "lcp", "cone"};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char settings[80];
        (void)snprintf(settings, sizeof settings, "\"coordinates\": \"joint\", \"form\": \"%s\"",
                       forms[k]);
        machine none = open_arm(settings, FRAME("f") FRAME("g"), SERIES);
        machine small = open_arm(settings, SMALL("f") SMALL("g"), SERIES);
        run(&none, 400);
        run(&small, 400);
        assert_true(apart(&none, &small) < 1e-6);
        close_arm(&none);
        close_arm(&small);
    }
}

static void refuse(const char *settings, const char *frames, const char *joints, const char *want)
{
    char text[4096];
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    (void)snprintf(text, sizeof text,
                   "{\"step\": 0.002, %s, \"bodies\": [%s{\"name\": \"arm\", \"kind\": \"solid\", "
                   "\"mass\": 1, \"inertia\": [1, 1, 1]}], "
                   "\"joints\": [%s]}",
                   settings, frames, joints);
    if (perp_scene_parse("arm", text, strlen(text), NULL, &scene, &error) >= 0) {
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_true(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0);
    }
    assert_null(sim);
    if (!strstr(error.text, want)) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, want);
    }
    perp_scene_destroy(scene);
}

#define LINK(name, x, more)                                                                        \
    "{\"name\": \"" name "\", \"position\": [" x ", 0.5], \"inertia\": 0.1, \"mass\": " more "}"
#define PIN(name, bodies, at)                                                                      \
    "{\"name\": \"" name "\", \"kind\": \"revolute\", " bodies ", \"at\": [" at "]}"

// Angle of the crank of a four-bar linkage after 0.3 s; between its links a body or a distance.
static double crank_after(const char *between, const char *joints)
{
    char text[2048];
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    (void)snprintf(
        text, sizeof text,
        "{\"step\": 0.001, \"gravity\": [4, -9.81], \"coordinates\": \"joint\", \"bodies\": [" LINK(
            "crank", "0",
            "1") ", %s" LINK("rocker", "1",
                             "2") "], \"joints\": [" PIN("j1", "\"b\": \"crank\"",
                                                         "0, 0") ", " PIN("j4", "\"b\": \"rocker\"",
                                                                          "1, 0") ", %s]}",
        between, joints);
    if (perp_scene_parse("four-bar", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_body crank = perp_model_body(perp_scene_model(scene), "crank");
    for (int i = 0; i < 300; i++) {
        perp_status status = perp_sim_step(sim, 0.001);
        assert_true(status == PERP_OK && perp_sim_info(sim)->certificate.passed);
    }
    perp_vec3 p = perp_sim_body_pose(sim, crank).p;
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return atan2(p.x, p.y);
}

// A massless coupler of a four-bar linkage carries the rocker, though both links are hinged to the ground and no tree is
// given: it acts as a rod of fixed length.
static void massless_coupler(void **state)
{
    (void)state;
    double body = crank_after("{\"name\": \"coupler\", \"massless\": true, \"position\": [0.5, "
                              "1]}, ",
                              PIN("j2", "\"a\": \"crank\", \"b\": \"coupler\"", "0, 1") ", " PIN(
                                  "j3", "\"a\": \"coupler\", \"b\": \"rocker\"", "1, 1"));
    double rod = crank_after("", "{\"name\": \"rod\", \"kind\": \"distance\", \"a\": \"crank\", "
                                 "\"b\": \"rocker\", \"anchor_a\": [0, 0.5], \"anchor_b\": [0, "
                                 "0.5], \"length\": 1}");
    assert_true(fabs(body) > 0.1);
    if (!(fabs(body - rod) < 1e-3)) {
        fail_msg("%.9g rad with a body, %.9g with a rod", body, rod);
    }
}

static void refused(void **state)
{
    (void)state;
    const char *joints = HINGE("x", "", "f", "[1, 0, 0]", "") ", " HINGE("y", "\"a\": \"f\", ",
                                                                         "arm", "[0, 1, 0]", "");
    refuse("\"coordinates\": \"body\"", FRAME("f"), joints,
           "body 'f' has no mass; set coordinates to joint or auto");
    refuse("\"stepper\": \"moreau-jean\"", FRAME("f"), joints, "use stewart-trinkle");
    refuse("\"coordinates\": \"joint\"", FRAME("f"), HINGE("x", "", "arm", "[1, 0, 0]", ""),
           "body 'f': a massless body must be joined to a body with mass");
    refuse("\"coordinates\": \"joint\"", FRAME("f"),
           HINGE("x", "", "arm", "[1, 0, 0]", "") ", " HINGE("y", "\"a\": \"arm\", ", "f",
                                                             "[0, 1, 0]", ""),
           "body 'f': a massless body must be between");
    refuse("\"coordinates\": \"joint\"",
           "{\"name\": \"f\", \"kind\": \"solid\", \"massless\": true, \"mass\": 1}, ", joints,
           "neither mass nor inertia");
    refuse("\"coordinates\": \"joint\"",
           "{\"name\": \"f\", \"kind\": \"solid\", \"massless\": true, \"shapes\": [{\"kind\": "
           "\"sphere\", \"radius\": 1}]}, ",
           joints, "a massless body has no shapes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hinges),   cmocka_unit_test(slide_and_hinge),
        cmocka_unit_test(three_hinges), cmocka_unit_test(massless_coupler),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
