// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scenes of Tedrake's note and of mechanisms, run as their files say: where things end, against closed
// forms and accurate integrations. Every step must pass its certificate.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81, PI = 3.14159265358979323846;

typedef struct run {
    perp_scene *scene;
    plane p;
    double h;
} run;

static run start(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "scenes/%s.json", name);
    run r = {0};
    perp_error error;
    if (perp_scene_load(path, NULL, &r.scene, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    assert_int_equal(perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.p.sim, &error),
                     PERP_OK);
    r.h = perp_scene_step(r.scene);
    return r;
}

static void run_to(run *r, double t)
{
    plane_run(&r->p, r->h, (int)lround((t - perp_sim_time(r->p.sim)) / r->h));
    assert_int_equal(r->p.inexact, 0);
}

static run finish(const char *name)
{
    run r = start(name);
    run_to(&r, perp_scene_until(r.scene));
    return r;
}

static void end(run *r)
{
    perp_sim_destroy(r->p.sim);
    perp_scene_destroy(r->scene);
}

static perp_body body(const run *r, const char *name)
{
    perp_body b = perp_model_body(perp_scene_model(r->scene), name);
    assert_true(b.i >= 0);
    return b;
}

static perp_joint_state joint(const run *r, const char *name)
{
    perp_joint j = perp_model_joint(perp_scene_model(r->scene), name);
    assert_true(j.i >= 0);
    return perp_sim_joint(r->p.sim, j);
}

static void angle_near(const run *r, const char *name, double want, double tolerance)
{
    space_near(perp_body_angle(r->p.sim, body(r, name)), want, tolerance, name);
}

// ── Limits ───────────────────────────────────────────────────────────────────────────────────────

static void limits(void **state)
{
    (void)state;
    run r = start("tedrake-limit");
    run_to(&r, 0.538);
    space_near(joint(&r, "pin").limit, 0.0, 0.0, "impulse before the stop");
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        plane_step(&r.p, r.h);
        sum += joint(&r, "pin").limit;
    }
    space_near(sum, 5.302410100602044 / 3.0, 5e-3, "impulse of the stop");
    run_to(&r, 1.5);
    space_near(joint(&r, "pin").coordinate, 0.25988792068568304, 1e-3, "angle at 1.5 s");
    end(&r);

    r = finish("tedrake-limit-rest");
    space_near(joint(&r, "pin").coordinate, 0.3, 1e-12, "angle on the stop");
    space_near(joint(&r, "pin").limit / r.h, 0.5 * G * sin(0.3), 1e-9, "torque of the stop");
    end(&r);

    r = finish("tedrake-block-limit");  // x = 1 - cos 2t, then 0.5, then leaves it at pi/4
    double t = perp_sim_time(r.p.sim) - 0.25 * PI;
    space_near(perp_body_position(r.p.sim, body(&r, "block")).x, 0.5 + sin(2.0 * t) - 2.0 * t,
               2.0 * r.h, "block");
    end(&r);
}

// E15: the projection of the note would stop both joints and have the elbow's stop pull.
static void two_limits_at_once(void **state)
{
    (void)state;
    run r = start("tedrake-two-limits");
    double rate = sqrt(3.0 * G * sin(PI / 3.0));
    run_to(&r, 0.384);
    assert_true(joint(&r, "elbow").limit > 0.0);
    space_near(joint(&r, "shoulder").rate, -rate, 2e-2, "rate before");
    run_to(&r, 0.386);
    space_near(joint(&r, "shoulder").rate, 0.0, 1e-9, "shoulder after");
    space_near(joint(&r, "elbow").rate, -2.5 * rate, 5e-2, "elbow after");
    run_to(&r, 0.6);
    angle_near(&r, "fore", -3.569431747707193, 3e-3);
    angle_near(&r, "upper", -PI / 3.0, 1e-12);
    end(&r);
}

// ── Constraints ──────────────────────────────────────────────────────────────────────────────────

static void bilateral(void **state)
{
    (void)state;
    run r = finish("tedrake-arm");
    angle_near(&r, "upper", -0.3127561005631423, 2e-3);
    angle_near(&r, "fore", 0.5369845116009978, 2e-3);
    angle_near(&r, "hand", 0.9720170401009895, 2e-3);
    end(&r);
    r = finish("tedrake-driven");
    space_near(joint(&r, "shoulder").rate, 1.0 + 2.0 * sin(6.0), 7.0 * r.h, "driven rate");
    angle_near(&r, "upper", 0.8265531422331036, 1e-3);
    angle_near(&r, "fore", -1.6282617278605718, 1e-3);
    angle_near(&r, "hand", -1.2796049154014841, 1e-2);
    end(&r);
    r = finish("tedrake-rolling");
    perp_vec3 v = perp_body_twist(r.p.sim, body(&r, "wheel")).v;
    space_near(hypot(v.x, v.y), 2.0 / 3.0 * G * sin(0.3), 1e-9, "rolling");
    end(&r);
    r = finish("tedrake-skate");
    perp_vec3 x = perp_body_position(r.p.sim, body(&r, "sleigh"));
    space_near(x.x, 1.0449070352343304, 3e-3, "sleigh x");
    space_near(x.y, 2.5301297958512667, 3e-3, "sleigh y");
    end(&r);
}

// ── Mechanisms ───────────────────────────────────────────────────────────────────────────────────

static void mechanisms(void **state)
{
    (void)state;
    run r = start("pendulum-5");
    run_to(&r, 0.375);
    angle_near(&r, "rod 1", -0.9174516221136045, 2e-3);
    angle_near(&r, "rod 5", -0.021434390742770922, 2e-3);
    end(&r);
    r = start("pendulum-10");
    run_to(&r, 0.25);
    angle_near(&r, "rod 1", -0.5380105918381574, 3e-3);
    angle_near(&r, "rod 10", -0.2775396874149439, 1e-3);
    end(&r);
    r = start("windows-2");
    run_to(&r, 1.9425);  // once round
    angle_near(&r, "post 1", 0.5 * PI - 2.0 * PI, 5e-3);
    end(&r);
    r = finish("four-bar-spatial");
    assert_int_equal(perp_sim_info(r.p.sim)->redundant_rows, 3);
    perp_quat q = perp_body_pose(r.p.sim, body(&r, "crank")).rot;
    space_near(2.0 * atan2(q.z, q.w), 0.9094795237233544, 2e-3, "crank");
    end(&r);
    r = finish("heavy-top");
    perp_vec3 x = perp_body_position(r.p.sim, body(&r, "top"));
    space_near(x.x, -0.7024682970566191, 3e-2, "top x");
    space_near(x.y, -0.02116518470182701, 1e-2, "top y");
    space_near(x.z, -0.7114002576517036, 3e-2, "top z");
    end(&r);
}

// Meets the floor, sticks and slips, lands on its other end, and slides to rest.
static void rod_falls(void **state)
{
    (void)state;
    run r = finish("rod-falls");
    perp_twist v = perp_body_twist(r.p.sim, body(&r, "rod"));
    space_near(hypot(v.v.x, v.v.y), 0.0, 1e-12, "speed");
    space_near(perp_body_position(r.p.sim, body(&r, "rod")).x,
               0.6902990842002126 + 0.14916859977293861 * 0.14916859977293861 / (0.6 * G), 1e-4,
               "rod");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),    cmocka_unit_test(two_limits_at_once),
        cmocka_unit_test(bilateral), cmocka_unit_test(mechanisms),
        cmocka_unit_test(rod_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
