// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The other steppers, where they agree with stewart-trinkle and where they must differ.
#include "support/berard.h"
#include "support/cmocka.h"

#include <math.h>

static const double G = 9.81;

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

static perp_body box_at(plane *p, perp_stepper stepper, double height, double vx, double mu)
{
    plane_open(p);
    p->def.stepper = stepper;
    p->def.limits.gap = 1.0;
    plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, 0.0, mu);
    perp_body_def def = plane_body(2.0, 2.0 * 1.25 / 12.0, 0.0, 0.25 + height, 0.0);
    def.velocity_W.x = vx;
    perp_body box = perp_builder_add_body(p->builder, &def);
    plane_box(p, box, 0.5, 0.25, mu);
    plane_start(p);
    return box;
}

// Friction on a floor that is touched: the same numbers from all.
static void same_sliding(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN};
    for (int i = 0; i < 3; i++) {
        plane p = {0};
        perp_body box = box_at(&p, steppers[i], 0.0, 2.0, 0.3);
        plane_run(&p, 0.01, 50);
        near(plane_vx(&p, box), 2.0 - 0.3 * G * 0.5, 1e-12, "speed");
        plane_run(&p, 0.01, 50);
        near(plane_vx(&p, box), 0.0, 1e-13, "speed");
        plane_close(&p);
    }
}

// Landing: stewart-trinkle closes the gap exactly; anitescu-potra and moreau-jean only see contacts that
// touch, and are late by a step at most.
static void landing(void **state)
{
    (void)state;
    double h = 0.01, height = 0.123, most = sqrt(2.0 * G * height) * h;
    plane p = {0};
    perp_body box = box_at(&p, PERP_STEPPER_STEWART_TRINKLE, height, 0.0, 0.0);
    plane_run(&p, h, 100);
    near(perp_sim_body_position(p.sim, box).y, 0.25, 1e-14, "height");
    plane_close(&p);
    box = box_at(&p, PERP_STEPPER_ANITESCU_POTRA, height, 0.0, 0.0);
    plane_run(&p, h, 100);
    double sunk = 0.25 - perp_sim_body_position(p.sim, box).y;
    assert_true(sunk > 1e-6 && sunk < most);
    near(plane_vy(&p, box), 0.0, 1e-14, "speed");
    plane_close(&p);
    box = box_at(&p, PERP_STEPPER_MOREAU_JEAN, height, 0.0, 0.0);
    plane_run(&p, h, 100);
    sunk = 0.25 - perp_sim_body_position(p.sim, box).y;
    assert_true(fabs(sunk) > 1e-6 && fabs(sunk) < most);
    near(plane_vy(&p, box), 0.0, 1e-14, "speed");
    plane_close(&p);
}

// With theta = 1/2 a free flight is the parabola, to rounding.
static void parabola(void **state)
{
    (void)state;
    plane p = {0};
    perp_body box = box_at(&p, PERP_STEPPER_MOREAU_JEAN, 10.0, 3.0, 0.5);
    plane_run(&p, 0.01, 100);
    near(perp_sim_body_position(p.sim, box).x, 3.0, 1e-13, "x");
    near(perp_sim_body_position(p.sim, box).y, 10.25 - 0.5 * G, 1e-12, "y");
    plane_close(&p);
}

// ── Quasistatic ──────────────────────────────────────────────────────────────────────────────────

// A pusher moves a box by 0.1 m and stops: without inertia the box stops with it, friction or not.
static void quasistatic_push(void **state)
{
    (void)state;
    static const double mu[] = {0.4, 0.0};
    for (int i = 0; i < 2; i++) {
        double h = 0.01;
        plane p = {0};
        plane_open(&p);
        p.def.stepper = PERP_STEPPER_QUASISTATIC;
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, mu[i]);
        perp_body_def def = plane_body(2.0, 2.0 * 1.25 / 12.0, 0.0, 0.25, 0.0);
        perp_body box = perp_builder_add_body(p.builder, &def);
        plane_box(&p, box, 0.5, 0.25, mu[i]);
        perp_body_def push = plane_particle(0.0, 0.0, 0.0);
        push.motion = PERP_MOTION_KINEMATIC;
        push.motion_x = "-0.5+min(0.2*t,0.1)";
        push.motion_y = "0.2";
        perp_body pusher = perp_builder_add_body(p.builder, &push);
        plane_point(&p, pusher, 0.0, 0.0);
        plane_start(&p);
        plane_run(&p, h, 20);
        near(plane_vx(&p, box), 0.2, 1e-7, "speed");
        near(perp_sim_body_drive_impulse(p.sim, pusher).f_W.x / h, mu[i] * 2.0 * G, 1e-5, "force");
        plane_run(&p, h, 80);
        near(plane_vx(&p, box), 0.0, 1e-7, "speed after");
        near(perp_sim_body_position(p.sim, box).x, 0.1, 3e-3, "way");
        plane_close(&p);
    }
}

// Berard 4.3 at h = 2 ms: velocity level drifts off its joint, position level does not.
static void drift(void **state)
{
    (void)state;
    double error[2];
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA};
    for (int i = 0; i < 2; i++) {
        berard b;
        berard_open(&b, 3);
        b.p.def.stepper = steppers[i];
        b.p.def.limits.joint = 1.0;
        berard_start(&b);
        plane_run(&b.p, b.h, 500);
        error[i] = perp_sim_joint(b.p.sim, b.joint_b).error;
        berard_close(&b);
    }
    assert_true(error[0] < 1e-4 && error[1] > 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_sliding),     cmocka_unit_test(landing), cmocka_unit_test(parabola),
        cmocka_unit_test(quasistatic_push), cmocka_unit_test(drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
