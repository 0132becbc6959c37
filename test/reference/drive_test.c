// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints that are driven, geared, rubbed and stopped, against closed forms.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>

static const double G = 9.81, PI = 3.14159265358979323846;

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

// A wheel of inertia I on the ground's pin at (x, 0), no gravity.
static perp_joint_def wheel(plane *p, double I, double x)
{
    perp_body_def def = plane_body(1.0, I, x, 0.0, 0.0);
    perp_joint_def pin = perp_joint_default();
    pin.kind = PERP_JOINT_REVOLUTE;
    pin.b = perp_builder_add_body(p->builder, &def);
    pin.anchor_A = (perp_vec3){x, 0.0, 0.0};
    return pin;
}

static perp_joint_def slider(plane *p, double mass, double axis, double speed)
{
    perp_body_def def = plane_body(mass, 0.1, 0.0, 0.0, 0.0);
    def.velocity_W = (perp_vec3){speed * cos(axis), speed * sin(axis), 0.0};
    perp_joint_def guide = perp_joint_default();
    guide.kind = PERP_JOINT_PRISMATIC;
    guide.b = perp_builder_add_body(p->builder, &def);
    guide.axis_angle = axis;
    return guide;
}

static void open_weightless(plane *p)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
}

static void push(plane *p, perp_body body, const char *fx, const char *torque)
{
    perp_force_def force = perp_force_default();
    force.kind = PERP_FORCE_WRENCH;
    force.b = body;
    force.fx = fx;
    force.torque = torque;
    perp_builder_add_force(p->builder, &force);
}

// psi(q, q') = omega - (1 + t) = 0: the torque is I.
static void rate_constraint(void **state)
{
    (void)state;
    double h = 0.01;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def pin = wheel(&p, 0.5, 0.0);
    pin.rate = "1+t";
    perp_joint joint = perp_builder_add_joint(p.builder, &pin);
    plane_start(&p);
    plane_run(&p, h, 100);
    near(plane_spin(&p, pin.b), 1.0 + 99 * h, 1e-13, "rate");  // of the start of the step
    near(perp_sim_joint(p.sim, joint).drive / h, 0.5, 1e-9, "torque");
    plane_close(&p);
}

// A motor of 1 N m on I = 0.5 reaches 3 rad/s in 1.5 s, then needs no torque.
static void motor(void **state)
{
    (void)state;
    double h = 0.001;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def pin = wheel(&p, 0.5, 0.0);
    pin.rate = "3";
    pin.rate_effort = 1.0;
    perp_joint joint = perp_builder_add_joint(p.builder, &pin);
    plane_start(&p);
    plane_run(&p, h, 1000);
    near(plane_spin(&p, pin.b), 2.0, 1e-11, "rate after 1 s");
    near(perp_sim_joint(p.sim, joint).drive / h, 1.0, 1e-11, "torque");
    plane_run(&p, h, 1000);
    near(plane_spin(&p, pin.b), 3.0, 1e-11, "rate after 2 s");
    near(perp_sim_joint(p.sim, joint).drive / h, 0.0, 1e-9, "torque");
    plane_close(&p);
}

// Loaded beyond its effort a motor gives way: (2.5 - 1)/0.5 = 3 rad/s^2 backwards.
static void motor_overloaded(void **state)
{
    (void)state;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def pin = wheel(&p, 0.5, 0.0);
    pin.rate = "3";
    pin.rate_effort = 1.0;
    perp_builder_add_joint(p.builder, &pin);
    push(&p, pin.b, NULL, "-2.5");
    plane_start(&p);
    plane_run(&p, 0.001, 1000);
    near(plane_spin(&p, pin.b), -3.0, 1e-10, "rate");
    plane_close(&p);
}

// 2 N of dry friction stop 1 kg at 1 m/s after 0.5 s and 0.25 m, hold 1.9 N, let 2.5 N go.
static void dry_friction(void **state)
{
    (void)state;
    double h = 1e-3;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def guide = slider(&p, 1.0, 0.0, 1.0);
    guide.friction = 2.0;
    perp_joint joint = perp_builder_add_joint(p.builder, &guide);
    push(&p, guide.b, "1.9*step(t-1)+0.6*step(t-2)", NULL);
    plane_start(&p);
    plane_run(&p, h, 1000);
    near(perp_sim_body_position(p.sim, guide.b).x, 0.25, 1e-3, "way");
    near(plane_vx(&p, guide.b), 0.0, 1e-14, "speed");
    plane_run(&p, h, 900);
    near(plane_vx(&p, guide.b), 0.0, 1e-14, "held speed");
    near(perp_sim_joint(p.sim, joint).drive / h, -1.9, 1e-9, "friction");
    plane_run(&p, h, 1100);
    near(plane_vx(&p, guide.b), 0.5, 2e-3, "speed when it gives way");
    plane_close(&p);
}

// ratio qa + qb = 0: tau = (Ia + ratio^2 Ib) alpha_a.
static void gear(void **state)
{
    (void)state;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def first = wheel(&p, 0.5, 0.0), second = wheel(&p, 0.2, 1.0);
    perp_joint a = perp_builder_add_joint(p.builder, &first),
               b = perp_builder_add_joint(p.builder, &second);
    perp_joint_def mesh = perp_joint_default();
    mesh.kind = PERP_JOINT_GEAR;
    mesh.joint_a = a;
    mesh.joint_b = b;
    mesh.ratio = 3.0;
    perp_joint teeth = perp_builder_add_joint(p.builder, &mesh);
    push(&p, first.b, NULL, "4.6");
    plane_start(&p);
    plane_run(&p, 0.01, 100);
    near(plane_spin(&p, first.b), 4.6 / (0.5 + 9.0 * 0.2), 1e-12, "first wheel");
    near(plane_spin(&p, second.b), -3.0 * plane_spin(&p, first.b), 1e-12, "second wheel");
    assert_true(perp_sim_joint(p.sim, teeth).error < 1e-12);
    plane_close(&p);
}

// A rack: the wheel's angle and the slider's way, coupled.
static void rack_and_pinion(void **state)
{
    (void)state;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def pinion = wheel(&p, 0.5, 0.0), rack = slider(&p, 2.0, 0.0, 0.0);
    perp_joint a = perp_builder_add_joint(p.builder, &pinion),
               b = perp_builder_add_joint(p.builder, &rack);
    perp_joint_def mesh = perp_joint_default();
    mesh.kind = PERP_JOINT_GEAR;
    mesh.joint_a = a;
    mesh.joint_b = b;
    mesh.ratio = 0.1;  // the radius: x + 0.1 theta = 0
    perp_builder_add_joint(p.builder, &mesh);
    push(&p, pinion.b, NULL, "1");
    plane_start(&p);
    plane_run(&p, 0.01, 100);
    double alpha = 1.0 / (0.5 + 0.01 * 2.0);
    near(plane_spin(&p, pinion.b), alpha, 1e-12, "pinion");
    near(plane_vx(&p, rack.b), -0.1 * alpha, 1e-12, "rack");
    plane_close(&p);
}

// phi(q, t) = x - 0.1 sin(2 pi t): followed to h^2, force m x''.
static void target(void **state)
{
    (void)state;
    double h = 1e-4, w = 2.0 * PI;
    plane p = {0};
    open_weightless(&p);
    perp_joint_def guide = slider(&p, 2.0, 0.3, 0.1 * 2.0 * PI);
    guide.target = "0.1*sin(2*pi*t)";
    perp_joint joint = perp_builder_add_joint(p.builder, &guide);
    plane_start(&p);
    for (int k = 1; k <= 10000; k++) {
        plane_step(&p, h);
        double error = perp_sim_joint(p.sim, joint).coordinate - 0.1 * sin(w * k * h);
        assert_true(fabs(error) <= 0.5 * h * h * 0.1 * w * w * 1.01 + 1e-15);
    }
    plane_run(&p, h, 2500);
    near(perp_sim_joint(p.sim, joint).drive / h, -2.0 * 0.1 * w * w, 1e-2, "force");
    plane_close(&p);
}

// A cable being wound in: distance with a target. Lifts 1 kg with g + a.
static void winch(void **state)
{
    (void)state;
    double h = 1e-3;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_particle(1.0, 0.0, -2.0);
    perp_joint_def cable = perp_joint_default();
    cable.kind = PERP_JOINT_DISTANCE;
    cable.b = perp_builder_add_body(p.builder, &def);
    cable.target = "2-0.5*t^2";
    perp_joint joint = perp_builder_add_joint(p.builder, &cable);
    plane_start(&p);
    plane_run(&p, h, 1000);
    near(perp_sim_body_position(p.sim, cable.b).y, -1.5, 1e-5, "height");
    near(-perp_sim_joint(p.sim, joint).drive / h, G + 1.0, 1e-6, "tension");
    plane_close(&p);
}

// A beam welded to the ground by its end: the reaction carries the weight and its moment.
static void cantilever(void **state)
{
    (void)state;
    double h = 0.01;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_rod(3.0, 2.0, 0.0, 0.0, 0.2);
    perp_joint_def weld = perp_joint_default();
    weld.kind = PERP_JOINT_WELD;
    weld.b = perp_builder_add_body(p.builder, &def);
    weld.anchor_B = (perp_vec3){-1.0, 0.0, 0.0};
    weld.angle = 0.2;
    perp_joint joint = perp_builder_add_joint(p.builder, &weld);
    plane_start(&p);
    plane_run(&p, h, 100);
    perp_wrench on_b = perp_sim_joint(p.sim, joint).impulse_b;
    near(on_b.f_W.y / h, 3.0 * G, 1e-10, "weight");
    near(on_b.f_W.x, 0.0, 1e-12, "side force");
    near(on_b.tau_W.z, 0.0, 1e-12, "moment about the centre");
    near(perp_sim_body_angle(p.sim, weld.b), 0.2, 1e-12, "angle");
    plane_close(&p);
}

// Both stops of a slider on a slope: runs down to one, is pulled up to the other.
static void two_stops(void **state)
{
    (void)state;
    double h = 0.01, slope = 0.5;
    plane p = {0};
    plane_open(&p);
    perp_joint_def guide = slider(&p, 2.0, slope, 0.0);
    guide.lower = -0.4;
    guide.upper = 0.3;
    perp_joint joint = perp_builder_add_joint(p.builder, &guide);
    push(&p, guide.b, "40*step(t-2)", NULL);
    plane_start(&p);
    plane_run(&p, h, 190);
    near(perp_sim_joint(p.sim, joint).coordinate, -0.4, 1e-12, "lower stop");
    near(perp_sim_joint(p.sim, joint).limit / h, 2.0 * G * sin(slope), 1e-9, "force");
    plane_run(&p, h, 200);
    near(perp_sim_joint(p.sim, joint).coordinate, 0.3, 1e-12, "upper stop");
    near(perp_sim_joint(p.sim, joint).limit / h, 40.0 * cos(slope) - 2.0 * G * sin(slope), 1e-9,
         "force");
    plane_close(&p);
}

// A turntable whose angle follows t^2 carries a disc that sticks to it by its own drive.
static void angle_target(void **state)
{
    (void)state;
    plane p = {0};
    open_weightless(&p);
    perp_body_def def = plane_body(1.0, 0.4, 1.0, 2.0, 0.0);
    perp_joint_def turn = perp_joint_default();
    turn.kind = PERP_JOINT_ANGLE;
    turn.b = perp_builder_add_body(p.builder, &def);
    turn.target = "t^2";
    perp_joint joint = perp_builder_add_joint(p.builder, &turn);
    plane_start(&p);
    plane_run(&p, 1e-3, 1000);
    near(perp_sim_body_angle(p.sim, turn.b), 1.0, 1e-5, "angle");
    near(perp_sim_joint(p.sim, joint).drive / 1e-3, 0.8, 1e-8, "torque");
    near(perp_sim_body_position(p.sim, turn.b).x, 1.0, 1e-15, "place");
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_constraint),
        cmocka_unit_test(motor),
        cmocka_unit_test(motor_overloaded),
        cmocka_unit_test(dry_friction),
        cmocka_unit_test(gear),
        cmocka_unit_test(rack_and_pinion),
        cmocka_unit_test(target),
        cmocka_unit_test(winch),
        cmocka_unit_test(cantilever),
        cmocka_unit_test(two_stops),
        cmocka_unit_test(angle_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
