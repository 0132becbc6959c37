// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Robots that strike: every step is solved by modes, in few factorisations.
#include "support/cmocka.h"

#include <perp/import.h>
#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FINGERS = 5, PARTS = 3, TEXT = 20000, FACTORISATIONS_MOST = 60 };

typedef struct text {
    char s[TEXT];
    size_t used;
} text;

#define ADD(t, ...)                                                                                \
    ((t)->used += (size_t)snprintf((t)->s + (t)->used, sizeof(t)->s - (t)->used, __VA_ARGS__))

// A finger is a chain of capsules on hinges; the first part also spreads.
static void add_finger(text *t, int k)
{
    for (int part = 0; part < PARTS; part++) {
        if (part == 0) {
            ADD(t, "<body pos='0.03 %g 0.1'><joint name='f%d_s' axis='1 0 0' range='-0.3 0.3'/>",
                0.03 * (k - 2), k);
        } else {
            ADD(t, "<body pos='0 0 0.035'>");
        }
        ADD(t,
            "<joint name='f%d_%d' axis='0 1 0' range='-0.2 1.6'/><geom type='capsule' size='%g' "
            "fromto='0 0 0.008 0 0 0.03' contype='2' conaffinity='1'/>",
            k, part, 0.009 - 0.001 * part);
    }
    for (int part = 0; part < PARTS; part++) {
        ADD(t, "</body>");
    }
}

static void write_hand(text *t)
{
    ADD(t,
        "<mujoco><compiler angle='radian'/><option timestep='0.002'/><default><joint "
        "damping='0.02' "
        "armature='0.0005'/><geom friction='0.8' density='900'/></default><worldbody>"
        "<geom type='plane' size='50 50 0.1'/><body pos='0 0 0.3' euler='0 -1.5707963267948966 0'>"
        "<geom type='box' size='0.015 0.07 0.05' pos='0.02 0 0.05' contype='2' conaffinity='1'/>");
    for (int k = 0; k < FINGERS; k++) {
        add_finger(t, k);
    }
    ADD(t, "</body><body pos='-0.1 0 0.3745'><freejoint/><geom type='sphere' size='0.035' "
           "density='300'/></body></worldbody><actuator>");
    for (int k = 0; k < FINGERS; k++) {
        ADD(t, "<position joint='f%d_s' kp='2' kv='0.05' forcerange='-1 1'/>", k);
        for (int part = 0; part < PARTS; part++) {
            ADD(t, "<position joint='f%d_%d' kp='2' kv='0.05' forcerange='-1 1'/>", k, part);
        }
    }
    ADD(t, "</actuator><keyframe><key qpos='");
    for (int i = 0; i < FINGERS * (PARTS + 1); i++) {
        ADD(t, "0 ");
    }
    ADD(t, "-0.1 0 0.3745 1 0 0 0' ctrl='");
    for (int k = 0; k < FINGERS; k++) {
        ADD(t, "0 0.9 0.9 0.9 ");
    }
    ADD(t, "'/></keyframe></mujoco>");
    assert_true(t->used < sizeof t->s);
}

// A trunk with four legs of a hip and a knee, falling.
static void write_quadruped(text *t)
{
    ADD(t,
        "<mujoco><compiler angle='radian'/><option timestep='0.002'/><default><joint damping='0.5' "
        "armature='0.01' frictionloss='0.1'/><geom friction='0.8' density='900' contype='2' "
        "conaffinity='1'/></default><worldbody><geom type='plane' size='50 50 0.1' contype='1'/>"
        "<body pos='0 0 0.7' quat='0.2 0.9 0.1 0.4'><freejoint/><geom type='box' size='0.2 0.08 "
        "0.05'/>");
    for (int i = 0; i < 4; i++) {
        ADD(t,
            "<body pos='%g %g 0' euler='0 0.6 0'><joint name='hip%d' axis='0 1 0' range='-1.2 "
            "1.2'/>"
            "<geom type='capsule' size='0.02' fromto='0 0 -0.02 0 0 -0.18'/>"
            "<body pos='0 0 -0.2' euler='0 -1.2 0'><joint name='knee%d' axis='0 1 0' range='-1 1'/>"
            "<geom type='capsule' size='0.015' fromto='0 0 -0.02 0 0 -0.18'/>"
            "<geom type='sphere' size='0.02' pos='0 0 -0.2'/></body></body>",
            i < 2 ? 0.18 : -0.18, i % 2 ? -0.1 : 0.1, i, i);
    }
    ADD(t, "</body></worldbody><actuator>");
    for (int i = 0; i < 4; i++) {
        ADD(t,
            "<position joint='hip%d' kp='120' kv='4' forcerange='-25 25'/>"
            "<position joint='knee%d' kp='120' kv='4' forcerange='-25 25'/>",
            i, i);
    }
    ADD(t, "</actuator></mujoco>");
    assert_true(t->used < sizeof t->s);
}

static void step_by_modes(const text *t, int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    assert_int_equal(perp_scene_parse("robot.xml", t->s, t->used, NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_int_equal(perp_sim_step(sim, 0.002), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        assert_string_equal(info->solver, "modes");
        assert_true(info->effort.factorisations <= FACTORISATIONS_MOST);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Damping is part of H, and what it gives was added again wherever convex problems closed joints, so that they never ended.
static void fingers_strike(void **state)
{
    (void)state;
    static text t;
    t.used = 0;
    write_hand(&t);
    step_by_modes(&t, 100);
}

// Its first step has rates of zero beside the speed of the fall; later its feet strike one after the other, and slide.
static void a_quadruped_falls(void **state)
{
    (void)state;
    static text t;
    t.used = 0;
    write_quadruped(&t);
    step_by_modes(&t, 500);
}

// A planar loop at the end of an arm that turns: the equation across the plane of the loop is implied by the others. With
// rates along axes that do not turn, errors of the loop made it independent in some steps, in which it stopped the arm.
static void loops_turn_with_their_arm(void **state)
{
    (void)state;
    static const char scene_text[] =
        "{\"gravity\": [0, 0, 0], \"bodies\": [\n"
        " {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [0.5, 0, 0], \"mass\": 4,\n"
        "  \"inertia\": [0.02, 0.4, 0.4], \"spin\": [0, 0, 3], \"velocity\": [0, 1.5, 0]},\n"
        " {\"name\": \"crank\", \"kind\": \"solid\", \"position\": [1, 0, 0.025], \"mass\": 0.02,\n"
        "  \"inertia\": [1e-5, 1e-5, 1e-5], \"spin\": [0, 0, 3], \"velocity\": [0, 3, 0]},\n"
        " {\"name\": \"rocker\", \"kind\": \"solid\", \"position\": [1.1, 0, 0.05], \"mass\": "
        "0.03,\n"
        "  \"inertia\": [3e-5, 3e-5, 3e-5], \"spin\": [0, 0, 3], \"velocity\": [0, 3.3, 0]},\n"
        " {\"name\": \"coupler\", \"kind\": \"solid\", \"position\": [1.05, 0, 0.075], \"mass\": "
        "0.02,\n"
        "  \"inertia\": [3e-5, 3e-5, 3e-5], \"spin\": [0, 0, 3], \"velocity\": [0, 3.15, 0]}],\n"
        " \"joints\": [\n"
        " {\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [0, 0, 0]},\n"
        " {\"name\": \"drive\", \"kind\": \"revolute\", \"a\": \"arm\", \"b\": \"crank\",\n"
        "  \"at\": [1, 0, 0], \"axis\": [0, 1, 0]},\n"
        " {\"kind\": \"revolute\", \"a\": \"arm\", \"b\": \"rocker\", \"at\": [1.1, 0, 0],\n"
        "  \"axis\": [0, 1, 0]},\n"
        " {\"kind\": \"revolute\", \"a\": \"crank\", \"b\": \"coupler\", \"at\": [1, 0, 0.05],\n"
        "  \"axis\": [0, 1, 0]},\n"
        " {\"kind\": \"spherical\", \"a\": \"rocker\", \"b\": \"coupler\", \"at\": [1.1, 0, "
        "0.1]}],\n"
        " \"actuators\": [{\"kind\": \"velocity\", \"joint\": \"drive\", \"control\": 20, \"kv\": "
        "0.05}]}";
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("loop", scene_text, strlen(scene_text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    for (int joint = 0; joint < 2; joint++) {
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim = NULL;
        def.coordinates = joint ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        for (int k = 0; k < 1000; k++) {
            assert_true(perp_sim_step(sim, 0.002) >= 0);
            assert_true(perp_sim_info(sim)->certificate.passed);
            // what turns with the arm changes its inertia by a hundredth
            double rate = perp_sim_joint(sim, (perp_joint){0}).rate;
            assert_true(fabs(rate - 3.0) < 0.1);
        }
        perp_sim_destroy(sim);
    }
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fingers_strike),
                                       cmocka_unit_test(a_quadruped_falls),
                                       cmocka_unit_test(loops_turn_with_their_arm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
