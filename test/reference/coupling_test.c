// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Couplings: coordinates that are functions of the coordinates of several joints. Closed forms of masses on a common
// rope, a cam, a constraint that depends on time, springs, limits and brakes over three joints, in all steppers.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81;

typedef struct machine {
    perp_scene *scene;
    perp_sim *sim;
    const perp_model *model;
} machine;

static machine open_text(const char *text)
{
    machine m = {0};
    perp_error error = {0};
    if (perp_scene_parse("coupling", text, strlen(text), NULL, &m.scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    m.model = perp_scene_model(m.scene);
    perp_sim_def def = perp_scene_sim_def(m.scene);
    if (perp_sim_create(m.model, &def, NULL, &m.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return m;
}

static void close_machine(machine *m)
{
    perp_sim_destroy(m->sim);
    perp_scene_destroy(m->scene);
}

static void run(machine *m, double h, int steps)
{
    for (int i = 0; i < steps; i++) {
        if (perp_sim_step(m->sim, h) < 0) {
            fail_msg("%s", perp_sim_error(m->sim)->text);
        }
        assert_true(perp_sim_info(m->sim)->certificate.passed);
    }
}

static perp_joint_state joint_of(const machine *m, const char *name)
{
    return perp_sim_joint(m->sim, perp_model_joint(m->model, name));
}

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s is %.17g, not %.17g, off by %.3g", what, got, want, got - want);
    }
}

// Every scheme and form; event is exact in time.
static const char *const schemes[] = {"\"form\": \"cone\"",
                                      "\"form\": \"lcp\"",
                                      "\"form\": \"mcp\"",
                                      "\"coordinates\": \"joint\"",
                                      "\"coordinates\": \"joint\", \"form\": \"lcp\"",
                                      "\"positions\": \"exact\"",
                                      "\"stepper\": \"anitescu-potra\"",
                                      "\"stepper\": \"moreau-jean\"",
                                      "\"stepper\": \"event\""};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

#define SLIDERS                                                                                    \
    "\"bodies\": [{\"name\": \"a\", \"position\": [0, 0], \"mass\": 1, \"inertia\": 1}, "          \
    "{\"name\": \"b\", \"position\": [1, 0], \"mass\": 2, \"inertia\": 1}, "                       \
    "{\"name\": \"c\", \"position\": [2, 0], \"mass\": 5, \"inertia\": 1}]"
#define SLIDE(name, x, more)                                                                       \
    "{\"name\": \"" name "\", \"kind\": \"prismatic\", \"b\": \"" name "\", \"at\": [" x           \
    ", 0], \"axis\": [0, 1]" more "}"
#define SLIDES SLIDE("a", "0", "") ", " SLIDE("b", "1", "") ", " SLIDE("c", "2", "")

// Masses on a rope over pulleys, x_a + 2 x_b + x_c constant: m_i x_i'' = -m_i g + c_i T, and sum c_i x_i'' = 0 gives
// T = 4 g / (1/1 + 4/2 + 1/5).
static void rope(void **state)
{
    (void)state;
    double T = 4.0 * G / (1.0 + 4.0 / 2.0 + 1.0 / 5.0);
    for (int k = 0; k < SCHEMES; k++) {
        char text[2048];
        (void)snprintf(
            text, sizeof text,
            "{\"step\": 0.01, %s, " SLIDERS ", \"joints\": [" SLIDES
            ", {\"name\": \"rope\", \"kind\": \"coupling\", \"coordinate\": \"q[a] + 2*q[b] + "
            "q[c]\", \"target\": 0}]}",
            schemes[k]);
        machine m = open_text(text);
        run(&m, 0.01, 100);
        near(joint_of(&m, "a").rate, T - G, 1e-9, "rate of a");
        near(joint_of(&m, "b").rate, 2.0 * T / 2.0 - G, 1e-9, "rate of b");
        near(joint_of(&m, "c").rate, T / 5.0 - G, 1e-9, "rate of c");
        near(joint_of(&m, "rope").coordinate, 0.0, 1e-9, "length of the rope");
        near(joint_of(&m, "rope").drive, 0.01 * T, 1e-8, "tension");
        close_machine(&m);
    }
}

// The rope may become slack but not longer: with everything in free fall from a shorter rope it is taut after the fall.
static void rope_with_slack(void **state)
{
    (void)state;
    for (int k = 0; k < SCHEMES; k++) {
        char text[2048];
        (void)snprintf(
            text, sizeof text,
            "{\"step\": 0.01, %s, " SLIDERS ", \"joints\": [" SLIDES
            ", {\"name\": \"rope\", \"kind\": \"coupling\", \"coordinate\": \"q[a] + 2*q[b] + "
            "q[c]\", \"lower\": -0.5}]}",
            schemes[k]);
        machine m = open_text(text);
        run(&m, 0.01, 10);
        near(joint_of(&m, "a").rate, -0.1 * G, 1e-9, "free fall");
        run(&m, 0.01, 90);
        near(joint_of(&m, "rope").coordinate, -0.5, 2e-2, "end of the rope");
        near(joint_of(&m, "rope").rate, 0.0, 1e-9, "rate of the rope");
        close_machine(&m);
    }
}

// Spring and damper along the sum: with u = sum c_i x_i and 1/m = sum c_i^2 / m_i, an oscillator about its sag.
static void spring(void **state)
{
    (void)state;
    double mass = 1.0 / (1.0 + 4.0 / 2.0 + 1.0 / 5.0), K = 50.0, load = -4.0 * G * mass;
    double omega = sqrt(K / mass), t = 1.0, want = load / K * (1.0 - cos(omega * t));
    machine m =
        open_text("{\"step\": 0.01, \"stepper\": \"event\", " SLIDERS ", \"joints\": [" SLIDES
                  ", {\"name\": \"sum\", \"kind\": \"coupling\", \"coordinate\": \"q[a] + 2*q[b] + "
                  "q[c]\", \"stiffness\": 50}]}");
    run(&m, 0.01, 100);
    near(joint_of(&m, "sum").coordinate, want, 1e-7, "oscillator");
    close_machine(&m);
}

// A cam: a wheel of inertia 0.2 lifts a mass of 2 kg by 0.1 sin of its angle. Energy stays, the follower follows.
static void cam(void **state)
{
    (void)state;
    for (int k = 0; k < SCHEMES; k++) {
        char text[2048];
        bool event = strstr(schemes[k], "event") != NULL;
        (void)snprintf(
            text, sizeof text,
            "{\"step\": 0.001, %s, \"bodies\": [{\"name\": \"wheel\", \"mass\": 1, \"inertia\": "
            "0.2, "
            "\"spin\": 3}, {\"name\": \"lift\", \"position\": [1, 0], \"mass\": 2, \"inertia\": 1, "
            "\"velocity\": [0, 0.3]}], \"joints\": [{\"name\": \"wheel\", \"kind\": \"revolute\", "
            "\"b\": \"wheel\"}, " SLIDE(
                "lift", "1", "") ", {\"name\": \"cam\", \"kind\": \"coupling\", \"coordinate\": "
                                 "\"q[lift] - 0.1*sin(q[wheel])\", \"target\": 0}]}",
            schemes[k]);
        machine m = open_text(text);
        run(&m, 0.001, 1000);
        double angle = joint_of(&m, "wheel").coordinate, rate = joint_of(&m, "wheel").rate;
        double speed = 0.1 * cos(angle) * rate, lift = 0.1 * sin(angle);
        double energy = 0.5 * 0.2 * rate * rate + 0.5 * 2.0 * speed * speed + 2.0 * G * lift;
        double first = 0.5 * 0.2 * 9.0 + 0.5 * 2.0 * 0.09;
        near(joint_of(&m, "lift").coordinate, lift, event ? 1e-9 : 3e-4, "follower");
        near(joint_of(&m, "lift").rate, speed, event ? 1e-8 : 5e-3, "its rate");
        near(energy, first, event ? 1e-7 : 2e-2, "energy");
        close_machine(&m);
    }
}

// phi(q, t) = q cos t - sin t / 10: q = tan t / 10.
static void depends_on_time(void **state)
{
    (void)state;
    for (int k = 0; k < SCHEMES; k++) {
        char text[2048];
        bool event = strstr(schemes[k], "event") != NULL;
        (void)snprintf(
            text, sizeof text,
            "{\"step\": 0.001, %s, \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1, "
            "\"velocity\": [0, 0.1]}], \"joints\": [" SLIDE(
                "a", "0", "") ", {\"name\": \"f\", \"kind\": \"coupling\", \"coordinate\": "
                              "\"q[a]*cos(t) - 0.1*sin(t)\", \"target\": 0}]}",
            schemes[k]);
        machine m = open_text(text);
        run(&m, 0.001, 1000);
        near(joint_of(&m, "a").coordinate, 0.1 * tan(1.0), event ? 1e-9 : 1e-3, "path");
        near(joint_of(&m, "a").rate, 0.1 / (cos(1.0) * cos(1.0)), event ? 1e-8 : 3e-3, "rate");
        close_machine(&m);
    }
}

// Dry friction of the sum holds what pulls less, in all forms and both coordinates.
static void brake(void **state)
{
    (void)state;
    for (int k = 0; k < SCHEMES; k++) {
        char text[2048];
        (void)snprintf(text, sizeof text,
                       "{\"step\": 0.01, %s, \"gravity\": [0, 0], " SLIDERS ", \"joints\": [" SLIDES
                       ", {\"name\": \"sum\", \"kind\": \"coupling\", \"coordinate\": \"q[a] + "
                       "q[b]\", \"friction\": "
                       "10}], \"forces\": [{\"kind\": \"force\", \"body\": \"a\", \"fy\": 4}, "
                       "{\"kind\": \"force\", "
                       "\"body\": \"b\", \"fy\": 4}]}",
                       schemes[k]);
        machine m = open_text(text);
        run(&m, 0.01, 50);
        near(joint_of(&m, "sum").coordinate, 0.0, 1e-9, "braked sum");
        // 4 - f = 1 a, 4 - f = -2 a: both forces are 4, so that nothing moves
        near(joint_of(&m, "a").rate, 0.0, 1e-9, "a");
        near(joint_of(&m, "sum").drive, -0.04, 1e-9, "friction of the sum");
        close_machine(&m);
    }
}

static void refuse(const char *joints, const char *want)
{
    char text[4096];
    perp_error error = {0};
    perp_scene *scene = NULL;
    (void)snprintf(text, sizeof text, "{\"step\": 0.01, " SLIDERS ", \"joints\": [" SLIDES ", %s]}",
                   joints);
    assert_true(perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0);
    assert_null(scene);
    assert_int_equal(error.line, 1);
    if (!strstr(error.text, want)) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, want);
    }
}

// A ball on a rope of 2.5 m that runs over two points 2 m apart: it hangs 0.75 m below them.
static void rope_over_points(void **state)
{
    (void)state;
    machine m = open_text("{\"step\": 0.001, \"bodies\": [{\"name\": \"ball\", \"kind\": "
                          "\"solid\", \"position\": [0, 0, -0.7], "
                          "\"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}], \"joints\": ["
                          "{\"name\": \"left\", \"kind\": \"distance\", \"b\": \"ball\", "
                          "\"anchor_a\": [-1, 0, 0], \"length\": \"inf\"}, "
                          "{\"name\": \"right\", \"kind\": \"distance\", \"b\": \"ball\", "
                          "\"anchor_a\": [1, 0, 0], \"length\": \"inf\"}, "
                          "{\"name\": \"rope\", \"kind\": \"coupling\", \"coordinate\": \"q[left] "
                          "+ q[right]\", \"upper\": 2.5}]}");
    run(&m, 0.001, 400);
    near(joint_of(&m, "left").coordinate, 1.25, 1e-9, "half of the rope");
    near(joint_of(&m, "rope").coordinate, 2.5, 1e-9, "the rope");
    close_machine(&m);
}

// Two spheres on a ball joint with a damper: the relative spin decays by exp(-d (1/Ia + 1/Ib) t).
static void ball_damper(void **state)
{
    (void)state;
    static const char *const implicit[] = {"true", "false"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "{\"stepper\": \"event\", \"gravity\": [0, 0, 0], \"bodies\": ["
            "{\"name\": \"a\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}, "
            "{\"name\": \"b\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [0.2, 0.2, 0.2], "
            "\"spin\": [0, 0, 3]}], "
            "\"joints\": [{\"name\": \"ball\", \"kind\": \"spherical\", \"a\": \"a\", \"b\": "
            "\"b\"}, "
            "{\"name\": \"angle\", \"kind\": \"angle\", \"a\": \"a\", \"b\": \"b\"}], "
            "\"forces\": [{\"kind\": \"drag\", \"a\": \"a\", \"body\": \"b\", \"damping_w\": 0.3, "
            "\"implicit\": %s}]}",
            implicit[k]);
        machine m = open_text(text);
        run(&m, 0.01, 100);
        double decay = 0.3 * (1.0 / 0.1 + 1.0 / 0.2);
        near(joint_of(&m, "angle").rate, 3.0 * exp(-decay), 1e-7, "relative spin");
        near(joint_of(&m, "angle").coordinate, 3.0 / decay * (1.0 - exp(-decay)), 1e-7, "angle");
        close_machine(&m);
    }
}

static void refused(void **state)
{
    (void)state;
    refuse("{\"kind\": \"coupling\"}", "coordinate");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"q[z]\"}", "q[z]");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"q[a] + \"}", "the expression ends");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"dq[a]\"}", "dq[a]");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"t\"}", "needs a joint of a free body");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"q[a]\", \"armature\": 1}", "armature");
    refuse("{\"name\": \"w\", \"kind\": \"weld\", \"b\": \"a\"}, {\"kind\": \"coupling\", "
           "\"coordinate\": \"q[w]\"}",
           "'w' has none");
    refuse("{\"kind\": \"coupling\", \"coordinate\": \"q[a]\", \"b\": \"a\"}", "'b'");
}

// Two hinged bars, the second of which follows the first by a function that the scene gives.
static machine follower(const char *stepper, const char *function)
{
    char text[1200];
    (void)snprintf(
        text, sizeof text,
        "{\"stepper\": \"%s\", \"step\": 0.01, \"bodies\": ["
        "{\"name\": \"l\", \"position\": [0.25, 0], \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[0.5, 0.05], \"density\": 10}]},"
        "{\"name\": \"m\", \"position\": [1.25, 0], \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[0.5, 0.05], \"density\": 10}]}], \"joints\": ["
        "{\"name\": \"h\", \"kind\": \"revolute\", \"a\": \"ground\", \"b\": \"l\", \"at\": [0, "
        "0]},"
        "{\"name\": \"g\", \"kind\": \"revolute\", \"a\": \"ground\", \"b\": \"m\", \"at\": [1, "
        "0]},"
        "{\"name\": \"cam\", \"kind\": \"coupling\", \"coordinate\": \"q[g] - %s\", \"target\": "
        "0}]}",
        stepper, function);
    return open_text(text);
}

static const char *const STEPPERS[] = {"event", "stewart-trinkle", "moreau-jean", "implicit"};

// The root ends where the first bar has sunk by 0.3 rad, and both logarithms where both bars have: the step fails with the
// name of the coupling, and nothing is recorded that is not a number.
static void undefined_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        machine m = follower(STEPPERS[k % 4], k < 4 ? "sqrt(0.3 + q[h])"
                                                    : "q[g] - log(0.3 + q[g]) + log(0.3 + q[h])");
        perp_status status = PERP_OK;
        for (int i = 0; i < 40 && status >= 0; i++) {
            status = perp_sim_step(m.sim, 0.01);
        }
        assert_true(status < 0);
        assert_non_null(strstr(perp_sim_error(m.sim)->text, "coupling 'cam'"));
        double angle = perp_sim_joint(m.sim, perp_model_joint(m.model, "h")).coordinate;
        assert_true(angle > -0.3 && angle < -0.2);
        close_machine(&m);
    }
}

// A function that jumps by 0.1: the step in which it does is violated, and its remark names the coupling.
static void jump_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        machine m = follower(STEPPERS[k], "if(q[h] < -0.3, q[h] + 0.1, q[h])");
        int named = 0, violated = 0;
        for (int i = 0; i < 40; i++) {
            assert_true(perp_sim_step(m.sim, 0.01) >= 0);
            const perp_step_info *info = perp_sim_info(m.sim);
            violated += !info->certificate.passed;
            named += strstr(info->remark, "coupling 'cam'") != NULL;
        }
        assert_true(violated >= 1 && named >= 1);
        close_machine(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rope),
        cmocka_unit_test(rope_with_slack),
        cmocka_unit_test(spring),
        cmocka_unit_test(cam),
        cmocka_unit_test(depends_on_time),
        cmocka_unit_test(brake),
        cmocka_unit_test(refused),
        cmocka_unit_test(undefined_is_named),
        cmocka_unit_test(jump_is_named),
        cmocka_unit_test(rope_over_points),
        cmocka_unit_test(ball_damper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
