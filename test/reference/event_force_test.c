// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Force elements in closed form: torsion springs between bodies, forces in body axes, springs without length; and
// what the drive of a kinematic body has to supply where springs, joints and contacts act on it.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81;

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s: %.12g, should be %.12g", what, got, want);
    }
}

// Two discs that float, a torsion spring and damper between them. The relative angle obeys
//   I theta'' + C theta' + K (theta - rest) = 0,  1/I = 1/I_a + 1/I_b,
// and the angular momentum of both together stays 0.
static void torsion_between_bodies(void **state)
{
    (void)state;
    const double Ia = 0.2, Ib = 0.5, K = 3.0, rest = 0.3, start = 1.1, t = 2.0;
    const double I = Ia * Ib / (Ia + Ib);
    for (int damped = 0; damped < 2; damped++) {
        double C = damped ? 0.25 : 0.0;
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
        perp_body_def a = plane_body(1.0, Ia, -1.0, 0.0, 0.0),
                      b = plane_body(2.0, Ib, 1.0, 0.0, start);
        perp_body first = perp_builder_add_body(p.builder, &a),
                  second = perp_builder_add_body(p.builder, &b);
        perp_force_def spring = perp_force_default();
        spring.kind = PERP_FORCE_TORSION_SPRING;
        spring.a = first;
        spring.b = second;
        spring.stiffness = K;
        spring.damping = C;
        spring.rest = rest;
        perp_builder_add_force(p.builder, &spring);
        p.def.stepper = PERP_STEPPER_EVENT;
        plane_start(&p);
        plane_run(&p, 0.1, 20);
        double decay = 0.5 * C / I, omega = sqrt(K / I - decay * decay);
        double wave = (start - rest) * exp(-decay * t);
        double theta = rest + wave * (cos(omega * t) + decay / omega * sin(omega * t));
        double rate = -wave * (omega + decay * decay / omega) * sin(omega * t);
        near(perp_sim_body_angle(p.sim, second) - perp_sim_body_angle(p.sim, first), theta, 1e-7,
             "relative angle");
        near(plane_spin(&p, second) - plane_spin(&p, first), rate, 1e-6, "its rate");
        near(Ia * plane_spin(&p, first) + Ib * plane_spin(&p, second), 0.0, 1e-9, "momentum");
        near(perp_sim_body_position(p.sim, first).x, -1.0, 1e-12, "place");
        plane_close(&p);
    }
}

// The same with the spring on the ground, by the time-stepper: the explicit impulse of one step from rest.
static void torsion_on_the_ground(void **state)
{
    (void)state;
    const double I = 0.4, K = 2.0, angle = 0.5, h = 0.01;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_body(1.0, I, 0.0, 0.0, angle);
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_TORSION_SPRING;
    spring.b = body;
    spring.stiffness = K;
    perp_builder_add_force(p.builder, &spring);
    plane_start(&p);
    plane_step(&p, h);
    near(plane_spin(&p, body), -h * K * angle / I, 1e-14, "spin");
    near(plane_vy(&p, body), -h * G, 1e-14, "fall");
    plane_close(&p);
}

// A thrust along the body's x axis, with a torque: the world sees it turned by the angle.
static void force_in_body_axes(void **state)
{
    (void)state;
    const double m = 2.0, I = 0.3, angle = 0.7, F = 5.0, tau = 0.6, h = 0.02;
    for (int own = 0; own < 2; own++) {
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
        perp_body_def def = plane_body(m, I, 0.0, 0.0, angle);
        perp_body rocket = perp_builder_add_body(p.builder, &def);
        perp_force_def thrust = perp_force_default();
        thrust.b = rocket;
        thrust.fx = "5";
        thrust.torque = "0.6";
        thrust.body_axes = own;
        perp_builder_add_force(p.builder, &thrust);
        plane_start(&p);
        plane_step(&p, h);
        near(plane_vx(&p, rocket), h * F / m * (own ? cos(angle) : 1.0), 1e-14, "vx");
        near(plane_vy(&p, rocket), h * F / m * (own ? sin(angle) : 0.0), 1e-14, "vy");
        near(plane_spin(&p, rocket), h * tau / I, 1e-14, "spin");
        plane_close(&p);
    }
}

// Anchors that coincide give a spring no direction: it does not pull, whatever its rest length.
static void spring_without_length(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_body(1.0, 0.1, 0.0, 0.0, 0.0);
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.b = body;
    spring.stiffness = 100.0;
    spring.rest = 0.5;
    perp_builder_add_force(p.builder, &spring);
    plane_start(&p);
    plane_step(&p, 0.01);
    near(plane_vx(&p, body), 0.0, 1e-15, "vx");
    near(plane_vy(&p, body), -0.01 * G, 1e-15, "vy");
    plane_close(&p);
}

typedef struct crane_case {
    perp_stepper stepper;
    bool implicit;
    double tolerance;
} crane_case;

// A crane at rest carries a load by a rod, a lamp by a spring in equilibrium, and a box on its deck. Its drive
// supplies their weights, and the moment of the box, which stands aside.
static void drive_of_a_crane(void **state)
{
    (void)state;
    static const crane_case cases[] = {
        {PERP_STEPPER_STEWART_TRINKLE, false, 1e-9},
        {PERP_STEPPER_STEWART_TRINKLE, true, 1e-9},
        {PERP_STEPPER_EVENT, false, 1e-9},
        {PERP_STEPPER_EVENT, true, 1e-9},
    };
    const double load = 2.0, lamp = 1.0, box = 3.0, aside = 0.5, h = 0.01;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def def = plane_body(1.0, 1.0, 0.0, 0.0, 0.0);
        def.motion = PERP_MOTION_KINEMATIC;
        perp_body crane = perp_builder_add_body(p.builder, &def);
        plane_box(&p, crane, 1.0, 0.1, 0.5);
        def = plane_particle(load, 0.0, -1.0);
        perp_body first = perp_builder_add_body(p.builder, &def);
        def = plane_particle(lamp, 0.0, -2.0);
        perp_body second = perp_builder_add_body(p.builder, &def);
        def = plane_body(box, 0.1, aside, 0.3, 0.0);
        perp_body third = perp_builder_add_body(p.builder, &def);
        plane_box(&p, third, 0.2, 0.2, 0.5);
        perp_joint_def rod = perp_joint_default();
        rod.kind = PERP_JOINT_DISTANCE;
        rod.a = crane;
        rod.b = first;
        rod.length = 1.0;
        perp_builder_add_joint(p.builder, &rod);
        perp_force_def spring = perp_force_default();
        spring.kind = PERP_FORCE_SPRING;
        spring.a = crane;
        spring.b = second;
        spring.stiffness = lamp * G;  // 1 m longer than at rest
        spring.rest = 1.0;
        spring.implicit = cases[k].implicit;
        perp_builder_add_force(p.builder, &spring);
        p.def.stepper = cases[k].stepper;
        plane_start(&p);
        plane_run(&p, h, 2);
        perp_wrench drive = perp_sim_body_drive_impulse(p.sim, crane);
        near(drive.f_W.x, 0.0, cases[k].tolerance, "drive x");
        near(drive.f_W.y, h * G * (load + lamp + box), cases[k].tolerance, "drive y");
        near(drive.tau_W.z, h * G * box * aside, cases[k].tolerance, "its moment");
        perp_wrench none = perp_sim_body_drive_impulse(p.sim, third);
        near(none.f_W.y, 0.0, 0.0, "drive of a free body");
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torsion_between_bodies), cmocka_unit_test(torsion_on_the_ground),
        cmocka_unit_test(force_in_body_axes),     cmocka_unit_test(spring_without_length),
        cmocka_unit_test(drive_of_a_crane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
