// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scenes of Tedrake's note and of mechanisms, run as their files say: where things end, against closed
// forms and accurate integrations. Every step must pass its certificate.
#include "support/cmocka.h"
#include "support/shot.h"
#include "support/space.h"

#include <math.h>

static const double G = 9.81, PI = 3.14159265358979323846;

static shot start(const char *name)
{
    shot s;
    shot_open(&s, name);
    shot_start(&s);
    return s;
}

static void run_to(shot *s, double t)
{
    shot_run(s, t);
    assert_int_equal(s->inexact, 0);
}

static shot finish(const char *name)
{
    shot s = start(name);
    run_to(&s, perp_scene_until(s.scene));
    return s;
}

static void angle_near(const shot *s, const char *name, double want, double tolerance)
{
    space_near(shot_value(s, name, 'a'), want, tolerance, name);
}

// ── Limits ───────────────────────────────────────────────────────────────────────────────────────

static void limits(void **state)
{
    (void)state;
    shot r = start("tedrake-limit");
    run_to(&r, 0.538);
    space_near(shot_joint(&r, "pin").limit, 0.0, 0.0, "impulse before the stop");
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        shot_run(&r, perp_sim_time(r.sim) + r.h);
        sum += shot_joint(&r, "pin").limit;
    }
    space_near(sum, 5.302410100602044 / 3.0, 5e-3, "impulse of the stop");
    run_to(&r, 1.5);
    space_near(shot_joint(&r, "pin").coordinate, 0.25988792068568304, 1e-3, "angle at 1.5 s");
    shot_close(&r);

    r = finish("tedrake-limit-rest");
    space_near(shot_joint(&r, "pin").coordinate, 0.3, 1e-12, "angle on the stop");
    space_near(shot_joint(&r, "pin").limit / r.h, 0.5 * G * sin(0.3), 1e-9, "torque of the stop");
    shot_close(&r);

    r = finish("tedrake-block-limit");  // x = 1 - cos 2t, then 0.5, then leaves it at pi/4
    double t = perp_sim_time(r.sim) - 0.25 * PI;
    space_near(shot_value(&r, "block", 'x'), 0.5 + sin(2.0 * t) - 2.0 * t, 2.0 * r.h, "block");
    shot_close(&r);
}

// E15: the projection of the note would stop both joints and have the elbow's stop pull.
static void two_limits_at_once(void **state)
{
    (void)state;
    shot r = start("tedrake-two-limits");
    double rate = sqrt(3.0 * G * sin(PI / 3.0));
    run_to(&r, 0.384);
    assert_true(shot_joint(&r, "elbow").limit > 0.0);
    space_near(shot_joint(&r, "shoulder").rate, -rate, 2e-2, "rate before");
    run_to(&r, 0.386);
    space_near(shot_joint(&r, "shoulder").rate, 0.0, 1e-9, "shoulder after");
    space_near(shot_joint(&r, "elbow").rate, -2.5 * rate, 5e-2, "elbow after");
    run_to(&r, 0.6);
    angle_near(&r, "fore", -3.569431747707193, 3e-3);
    angle_near(&r, "upper", -PI / 3.0, 1e-12);
    shot_close(&r);
}

// ── Constraints ──────────────────────────────────────────────────────────────────────────────────

static void bilateral(void **state)
{
    (void)state;
    shot r = finish("tedrake-arm");
    angle_near(&r, "upper", -0.3127561005631423, 2e-3);
    angle_near(&r, "fore", 0.5369845116009978, 2e-3);
    angle_near(&r, "hand", 0.9720170401009895, 2e-3);
    shot_close(&r);
    r = finish("tedrake-driven");
    space_near(shot_joint(&r, "shoulder").rate, 1.0 + 2.0 * sin(6.0), 7.0 * r.h, "driven rate");
    angle_near(&r, "upper", 0.8265531422331036, 1e-3);
    angle_near(&r, "fore", -1.6282617278605718, 1e-3);
    angle_near(&r, "hand", -1.2796049154014841, 1e-2);
    shot_close(&r);
    r = finish("tedrake-rolling");
    space_near(hypot(shot_value(&r, "wheel", 'u'), shot_value(&r, "wheel", 'v')),
               2.0 / 3.0 * G * sin(0.3), 1e-9, "rolling");
    shot_close(&r);
    r = finish("tedrake-skate");
    space_near(shot_value(&r, "sleigh", 'x'), 1.0449070352343304, 3e-3, "sleigh x");
    space_near(shot_value(&r, "sleigh", 'y'), 2.5301297958512667, 3e-3, "sleigh y");
    shot_close(&r);
}

// ── Mechanisms ───────────────────────────────────────────────────────────────────────────────────

static void mechanisms(void **state)
{
    (void)state;
    shot r = start("pendulum-5");
    run_to(&r, 0.375);
    angle_near(&r, "rod 1", -0.9174516221136045, 2e-3);
    angle_near(&r, "rod 5", -0.021434390742770922, 2e-3);
    shot_close(&r);
    r = start("pendulum-10");
    run_to(&r, 0.25);
    angle_near(&r, "rod 1", -0.5380105918381574, 3e-3);
    angle_near(&r, "rod 10", -0.2775396874149439, 1e-3);
    shot_close(&r);
    r = start("windows-2");
    run_to(&r, 1.9425);  // once round
    angle_near(&r, "post 1", 0.5 * PI - 2.0 * PI, 5e-3);
    shot_close(&r);
    r = finish("four-bar-spatial");
    assert_int_equal(perp_sim_info(r.sim)->redundant_rows, 3);
    space_near(shot_value(&r, "crank", 'a'), 0.9094795237233544, 2e-3, "crank");
    shot_close(&r);
    r = finish("heavy-top");
    space_near(shot_value(&r, "top", 'x'), -0.7024682970566191, 3e-2, "top x");
    space_near(shot_value(&r, "top", 'y'), -0.02116518470182701, 1e-2, "top y");
    space_near(shot_value(&r, "top", 'z'), -0.7114002576517036, 3e-2, "top z");
    shot_close(&r);
}

static void ball_lands(void **state)
{
    (void)state;
    shot r = finish("ball-lands");
    space_near(shot_value(&r, "ball", 'x'), 0.5, 1e-9, "ball x");
    space_near(shot_value(&r, "ball", 'y'), 0.1, 1e-12, "ball y");
    shot_close(&r);
}

static void free_crank(void **state)
{
    (void)state;
    shot r = start("slider-crank-free");
    run_to(&r, 0.2);
    space_near(shot_value(&r, "crank", 'a'), -0.2889048719573906, 5e-3, "crank");
    shot_close(&r);
}

// Meets the floor, sticks and slips, lands on its other end, and slides to rest.
static void rod_falls(void **state)
{
    (void)state;
    shot r = finish("rod-falls");
    space_near(hypot(shot_value(&r, "rod", 'u'), shot_value(&r, "rod", 'v')), 0.0, 1e-12, "speed");
    space_near(shot_value(&r, "rod", 'x'),
               0.6902990842002126 + 0.14916859977293861 * 0.14916859977293861 / (0.6 * G), 1e-4,
               "rod");
    shot_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),     cmocka_unit_test(two_limits_at_once),
        cmocka_unit_test(bilateral),  cmocka_unit_test(mechanisms),
        cmocka_unit_test(rod_falls),  cmocka_unit_test(ball_lands),
        cmocka_unit_test(free_crank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
