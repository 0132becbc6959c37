// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits, impacts, friction and paradoxes, integrated between events: closed
// forms at any time, to 1e-9.
#include "support/cmocka.h"
#include "support/shot.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

static shot begin(const char *name, double h)
{
    shot s;
    shot_open(&s, name);
    s.def.stepper = PERP_STEPPER_EVENT;
    s.h = h;
    shot_start(&s);
    return s;
}

static void near(const shot *s, const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s, t = %.9g: %s = %.17g, should be %.17g, off by %.3g",
                 perp_scene_name(s->scene), perp_sim_time(s->sim), what, got, want, got - want);
    }
}

static void value_near(const shot *s, const char *body, char what, double want, double tolerance)
{
    char text[2] = {what, '\0'};
    near(s, text, shot_value(s, body, what), want, tolerance);
}

// Runs to t and sums what a joint's limit gave on the way [N s, N m s].
static double limit_impulse(shot *s, const char *joint, double t)
{
    double sum = 0.0, h = s->h;
    while (perp_sim_time(s->sim) < t - 1e-12) {
        shot_run(s, fmin(t, perp_sim_time(s->sim) + h));
        sum += shot_joint(s, joint).limit;
    }
    return sum;
}

// ── Limits ───────────────────────────────────────────────────────────────────────────────────────

// A stop that is met and left at once; the angle afterwards by an integration
// with 25 digits.
static void stop_and_release(void **state)
{
    (void)state;
    shot s = begin("tedrake-limit", 0.01);
    near(&s, "impulse", limit_impulse(&s, "pin", 0.6), 1.7674700335340146, 1e-9);
    shot_run(&s, 1.0);
    near(&s, "angle", shot_joint(&s, "pin").coordinate, 0.056008813265998793, 1e-9);
    near(&s, "rate", shot_joint(&s, "pin").rate, 1.1261875620008876, 1e-8);
    shot_run(&s, 1.5);
    near(&s, "angle", shot_joint(&s, "pin").coordinate, 0.25988792068568304, 1e-9);
    shot_close(&s);
}

static void stop_and_rest(void **state)
{
    (void)state;
    shot s = begin("tedrake-limit-rest", 0.01);
    double press = 0.5 * G * sin(0.3), hit = 0.42761216146456154;
    near(&s, "impulse", limit_impulse(&s, "pin", 1.0),
         sqrt(3.0 * G * cos(0.3)) / 3.0 + press * (1.0 - hit), 1e-9);
    near(&s, "angle", shot_joint(&s, "pin").coordinate, 0.3, 1e-10);
    near(&s, "torque", shot_joint(&s, "pin").limit / 0.01, press, 1e-8);
    shot_close(&s);
}

static void stop_and_leave(void **state)
{
    (void)state;
    shot s = begin("tedrake-block-limit", 0.01);
    // 1 kg meets the stop with 2 sin(pi/3) m/s; 4 cos 2t presses it until pi/4.
    near(&s, "impulse", limit_impulse(&s, "rail", 0.8), sqrt(3.0) + 2.0 * (1.0 - sin(PI / 3.0)),
         1e-8);
    shot_run(&s, 1.5);
    double t = 1.5 - 0.25 * PI;
    value_near(&s, "block", 'x', 0.5 + sin(2.0 * t) - 2.0 * t, 1e-9);
    shot_close(&s);
}

static void two_stops_at_once(void **state)
{
    (void)state;
    shot s = begin("tedrake-two-limits", 0.005);
    shot_run(&s, 0.5);
    value_near(&s, "fore", 'a', -2.5113251229013, 1e-9);
    value_near(&s, "fore", 'o', -11.958682015435198, 1e-8);
    shot_run(&s, 0.6);
    value_near(&s, "fore", 'a', -3.569431747707193, 1e-9);
    value_near(&s, "upper", 'a', -PI / 3.0, 1e-10);
    shot_close(&s);
}

// ── Equations ────────────────────────────────────────────────────────────────────────────────────

static void closed_and_driven_arms(void **state)
{
    (void)state;
    shot s = begin("tedrake-arm", 0.1);
    shot_run(&s, 1.0);
    value_near(&s, "upper", 'a', -0.3445013188979901, 1e-8);
    value_near(&s, "fore", 'a', 0.752417509882402, 1e-8);
    shot_run(&s, 2.0);
    value_near(&s, "hand", 'a', 0.9720170401009895, 1e-8);
    assert_true(s.energy_off <= 1e-9 * s.energy_scale);
    shot_close(&s);
    s = begin("tedrake-driven", 0.1);
    shot_run(&s, 2.0);
    value_near(&s, "upper", 'a', 0.8265531422331036, 1e-8);
    value_near(&s, "upper", 'o', 1.0 + 2.0 * sin(6.0), 1e-8);
    value_near(&s, "fore", 'a', -1.6282617278605718, 1e-8);
    value_near(&s, "hand", 'a', -1.2796049154014841, 2e-8);
    shot_close(&s);
    s = begin("tedrake-rolling", 0.1);
    shot_run(&s, 1.0);
    near(&s, "speed", hypot(shot_value(&s, "wheel", 'u'), shot_value(&s, "wheel", 'v')),
         2.0 / 3.0 * G * sin(0.3), 1e-9);
    shot_close(&s);
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Bounces at t1 (1, 2, 2.5, …), their sum is 3 t1: flight between them, rest
// after them.
static void bouncing_ball(void **state)
{
    (void)state;
    shot s = begin("bouncing-ball", 0.01);
    double first = sqrt(2.0 / G), from = first, speed = G * first;
    shot_run(&s, 0.4);
    value_near(&s, "ball", 'y', 1.1 - 0.5 * G * 0.16, 1e-10);
    for (int k = 0; k < 5; k++) {
        speed *= 0.5;
        double t = from + 0.7 * speed / G, since = t - from;
        shot_run(&s, t);
        value_near(&s, "ball", 'y', 0.1 + speed * since - 0.5 * G * since * since, 1e-9);
        value_near(&s, "ball", 'v', speed - G * since, 1e-8);
        from += 2.0 * speed / G;
    }
    shot_run(&s, 1.36);  // 3 t1 = 1.35457 s
    value_near(&s, "ball", 'y', 0.1, 1e-9);
    value_near(&s, "ball", 'v', 0.0, 1e-9);
    shot_run(&s, 2.0);
    value_near(&s, "ball", 'y', 0.1, 1e-9);
    shot_close(&s);
}

// Each landing leaves Housner's share of the spin, and so its square of the
// energy.
static void rocking_block(void **state)
{
    (void)state;
    shot s = begin("rocking-block", 0.01);
    double r = 1.0 - 1.5 * 0.2 * 0.2 / 1.04, start = 3.0 * G * (1.008746094249102 - 1.0);
    int impacts = 0;
    for (int k = 1; k < 200; k++) {
        shot_run(&s, 0.01 * k);
        double w = shot_value(&s, "block", 'o'), u = shot_value(&s, "block", 'u'),
               v = shot_value(&s, "block", 'v');
        double all = 0.5 * (3.0 * (u * u + v * v) + 1.04 * w * w) +
                     3.0 * G * (shot_value(&s, "block", 'y') - 1.0);
        double share = log(all / start) / (2.0 * log(r));
        near(&s, "impacts by energy", share, round(share), 1e-6);
        assert_true(lround(share) >= impacts && lround(share) <= impacts + 1);
        impacts = (int)lround(share);
    }
    assert_true(impacts >= 3);
    shot_close(&s);
}

// No sliding motion exists for mu = 2: an impulse of (0.3, 0.4) per unit of
// slip ends the slip at once.
static void painleve_rod(void **state)
{
    (void)state;
    shot s = begin("painleve-rod", 1e-6);
    shot_run(&s, 1e-6);
    value_near(&s, "rod", 'u', -0.6, 2e-5);
    value_near(&s, "rod", 'v', 0.3, 2e-5);
    value_near(&s, "rod", 'o', 0.3 * sqrt(5.0), 5e-5);
    shot_close(&s);
}

// ── Friction ─────────────────────────────────────────────────────────────────────────────────────

static void sliding_ends(void **state)
{
    (void)state;
    shot s = begin("block-stops", 0.01);
    shot_run(&s, 0.5);
    value_near(&s, "block", 'x', 2.0 * 0.5 - 0.5 * 0.3 * G * 0.25, 1e-10);
    shot_run(&s, 1.0);
    value_near(&s, "block", 'x', 4.0 / (0.6 * G), 1e-9);
    value_near(&s, "block", 'u', 0.0, 1e-10);
    shot_close(&s);
    s = begin("conveyor", 0.01);
    double slips = 1.5 / (0.25 * G);
    shot_run(&s, 1.0);
    value_near(&s, "block", 'x', 0.75 * slips + 1.5 * (1.0 - slips), 1e-9);
    shot_close(&s);
}

static void sliding_becomes_rolling(void **state)
{
    (void)state;
    shot s = begin("disc-rolls", 0.01);
    shot_run(&s, perp_scene_until(s.scene));
    value_near(&s, "disc", 'u', 2.0, 1e-9);
    value_near(&s, "disc", 'o', -20.0, 1e-8);
    shot_close(&s);
    s = begin("ball-rolls", 0.01);
    shot_run(&s, perp_scene_until(s.scene));
    value_near(&s, "ball", 'u', 1.8 * 5.0 / 7.0, 1e-8);
    value_near(&s, "ball", 'v', 2.4 * 5.0 / 7.0, 1e-8);
    shot_close(&s);
}

// Impact, slip backwards, rest, slip forwards, landing on the other end, stop:
// by an integration of its own.
static void rod_falls(void **state)
{
    (void)state;
    shot s = begin("rod-falls", 0.005);
    shot_run(&s, 0.2);
    value_near(&s, "rod", 'o', -3.0903, 1e-2);
    shot_run(&s, 0.375467);
    value_near(&s, "rod", 'u', 0.9155383370633348, 1e-4);
    shot_run(&s, 0.38);
    value_near(&s, "rod", 'u', 0.14916859977293861 - 0.3 * G * (0.38 - 0.3754674376083106), 1e-8);
    value_near(&s, "rod", 'a', 0.0, 1e-9);
    shot_run(&s, 0.6);
    value_near(&s, "rod", 'x', 0.6940794564663049, 1e-8);
    value_near(&s, "rod", 'u', 0.0, 1e-10);
    shot_close(&s);
}

static shot begin_text(const char *text)
{
    shot s = {0};
    perp_error error;
    if (perp_scene_parse("text", text, strlen(text), NULL, &s.scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    s.def = perp_scene_sim_def(s.scene);
    s.def.stepper = PERP_STEPPER_EVENT;
    s.h = 0.01;
    shot_start(&s);
    return s;
}

// States that break a limit or overlap are moved to where they do not, once, and that is told.
static void broken_starts(void **state)
{
    (void)state;
    static const char limit[] =
        "{\"bodies\": [{\"name\": \"rod\", \"position\": [-0.19470917115432526, "
        "-0.46053049700144255], \"angle\": -1.9707963267948965, \"mass\": 1, "
        "\"inertia\": 0.08333333333333333}], \"joints\": [{\"name\": \"pin\", "
        "\"kind\": \"revolute\", \"b\": \"rod\", \"anchor_b\": [-0.5, 0], "
        "\"angle\": \"-90 deg\", \"lower\": -0.3}]}";
    static const char overlap[] =
        "{\"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": [{\"name\": \"ball\", "
        "\"position\": [0, 0.099], \"mass\": 1, \"inertia\": 0.004, "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1}]}]}";
    shot s = begin_text(limit);  // 0.1 rad past the stop
    assert_non_null(strstr(perp_sim_info(s.sim)->remark, "was beyond a limit by 0.1"));
    shot_run(&s, 0.01);
    assert_true(perp_sim_info(s.sim)->certificate.passed);
    near(&s, "angle", shot_joint(&s, "pin").coordinate, -0.3 + 0.75 * G * sin(0.3) * 1e-4, 1e-7);
    shot_close(&s);
    s = begin_text(overlap);
    shot_run(&s, 0.5);
    value_near(&s, "ball", 'y', 0.1, 1e-12);
    value_near(&s, "ball", 'v', 0.0, 1e-12);
    shot_close(&s);
}

// Velocities that a joint does not allow: what is left of them has the same momentum about the pin,
// (0.1 + 0.5^2) w = 0.5 * 2.
static void broken_velocities(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], \"velocity\": [1, 2], "
        "\"mass\": 1, \"inertia\": 0.1}], \"joints\": [{\"name\": \"pin\", "
        "\"kind\": \"revolute\", \"b\": \"rod\", \"anchor_b\": [-0.5, 0]}]}";
    shot s = begin_text(text);
    assert_non_null(strstr(perp_sim_info(s.sim)->remark, "the initial state was changed by up to"));
    near(&s, "rate", shot_joint(&s, "pin").rate, 1.0 / 0.35, 1e-12);
    value_near(&s, "rod", 'u', 0.0, 1e-12);
    shot_run(&s, 0.1);
    assert_true(perp_sim_info(s.sim)->certificate.passed);
    shot_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_and_release),
        cmocka_unit_test(stop_and_rest),
        cmocka_unit_test(stop_and_leave),
        cmocka_unit_test(two_stops_at_once),
        cmocka_unit_test(broken_starts),
        cmocka_unit_test(broken_velocities),
        cmocka_unit_test(closed_and_driven_arms),
        cmocka_unit_test(bouncing_ball),
        cmocka_unit_test(rocking_block),
        cmocka_unit_test(painleve_rod),
        cmocka_unit_test(sliding_ends),
        cmocka_unit_test(sliding_becomes_rolling),
        cmocka_unit_test(rod_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
