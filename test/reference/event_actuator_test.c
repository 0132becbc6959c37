// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Actuators of the stepper `event` against closed forms, to 1e-9, whatever the step.
#include "support/cmocka.h"
#include "support/hinge.h"

#include <math.h>

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s: %.15g, expected %.15g, off by %.3g", what, got, want, got - want);
    }
}

static perp_actuator_def servo(double kp, double kv)
{
    perp_actuator_def def = perp_actuator_default();
    def.name = "drive";
    def.kind = PERP_ACTUATOR_POSITION;
    def.kp = kp;
    def.kv = kv;
    return def;
}

// Runs to t in steps of h and compares the coordinate and its rate.
static void expect(const char *what, const perp_actuator_def *def, double rate, double control,
                   double t, const double want[2])
{
    static const double steps[] = {0.5, 0.1};
    for (int k = 0; k < 2; k++) {
        hinge s;
        hinge_open(&s, PERP_JOINT_REVOLUTE, rate);
        s.actuator_def = *def;
        hinge_start(&s, PERP_STEPPER_EVENT);
        hinge_set(&s, control);
        hinge_run(&s, steps[k], t);
        near(hinge_coordinate(&s), want[0], 1e-9, what);
        near(hinge_rate(&s), want[1], 1e-9, what);
        assert_int_equal(s.p.inexact, 0);
        hinge_close(&s);
    }
}

static void linear_servos(void **state)
{
    (void)state;
    static const double ratios[] = {0.0, 0.2, 1.0, 3.0};
    for (int k = 0; k < 4; k++) {
        double kp = 10.0, kv = 2.0 * ratios[k] * sqrt(kp * 0.4), want[2] = {0.0, -0.5};
        perp_actuator_def def = servo(kp, kv);
        hinge_linear(0.4, kv, kp, kp * 0.7, 1.0, want);
        expect("servo", &def, -0.5, 0.7, 1.0, want);
    }
    perp_actuator_def velocity = servo(0.0, 1.5);
    velocity.kind = PERP_ACTUATOR_VELOCITY;
    double want[2] = {0.0, -0.5};
    hinge_linear(0.4, 1.5, 0.0, 3.0, 1.0, want);
    expect("velocity", &velocity, -0.5, 2.0, 1.0, want);
}

static void general_feedback(void **state)
{
    (void)state;
    static const double bias[][3] = {
        {0.1, -4.0, -0.3}, {-0.2, 3.0, 0.0}, {0.3, 0.0, 0.8}, {0.1, -4.0, 0.5}};
    for (int k = 0; k < 4; k++) {
        double g = -2.0, want[2] = {0.0, 0.4};
        perp_actuator_def def = servo(0.0, 0.0);
        def.kind = PERP_ACTUATOR_GENERAL;
        def.gain = -1.5;
        def.gear = g;
        for (int i = 0; i < 3; i++) {
            def.bias[i] = bias[k][i];
        }
        hinge_linear(0.4, -g * g * bias[k][2], -g * g * bias[k][1], g * (-0.75 + bias[k][0]), 0.5,
                     want);
        expect("general", &def, 0.4, 0.5, 0.5, want);
    }
}

// Constant acceleration, then the linear law; between them a corner of the effort.
static void saturated_servo(void **state)
{
    (void)state;
    const double I = 0.4, kp = 10.0, kv = 4.0, e = 2.0, target = 1.0, end = 1.5;
    double a = e / I, A = 0.5 * kp * a, B = kv * a, C = e - kp * target;
    double t = (-B + sqrt(B * B - 4.0 * A * C)) / (2.0 * A);
    double want[2] = {0.5 * a * t * t, a * t};
    hinge_linear(I, kv, kp, kp * target, end - t, want);
    perp_actuator_def def = servo(kp, kv);
    def.lower = -e;
    def.upper = e;
    expect("saturated", &def, 0.0, target, end, want);
}

// The effort reported of a step is its mean: impulse and momentum agree.
static void impulse_is_the_change_of_momentum(void **state)
{
    (void)state;
    hinge s;
    hinge_open(&s, PERP_JOINT_PRISMATIC, 0.3);
    s.actuator_def = servo(40.0, 3.0);
    s.actuator_def.lower = -5.0;
    s.actuator_def.upper = 2.0;
    s.actuator_def.gear = -2.0;
    s.joint_def.armature = 0.3;
    hinge_start(&s, PERP_STEPPER_EVENT);
    hinge_set(&s, 0.5);
    double before = 0.3, work = 0.0, m = s.inertia + 0.3;
    for (int i = 0; i < 40; i++) {
        plane_step(&s.p, 0.05);
        perp_actuator_state a = perp_sim_actuator(s.p.sim, s.actuator);
        near(a.impulse, m * (hinge_rate(&s) - before), 1e-9, "impulse");
        near(a.effort, a.impulse / 0.05, 1e-9, "effort");
        before = hinge_rate(&s);
        work += perp_sim_info(s.p.sim)->energy.work;
        near(work, 0.5 * m * (before * before - 0.09), 1e-9, "work");
        near(perp_sim_info(s.p.sim)->energy.kinetic, 0.5 * m * before * before, 1e-9, "kinetic");
    }
    assert_int_equal(s.p.inexact, 0);
    hinge_close(&s);
}

static void filtered_motor(void **state)
{
    (void)state;
    hinge s;
    hinge_open(&s, PERP_JOINT_PRISMATIC, 0.0);
    s.actuator_def.time_constant = 0.07;
    hinge_start(&s, PERP_STEPPER_EVENT);
    hinge_set(&s, 2.0);
    const double T = 0.07;
    for (int i = 1; i <= 10; i++) {
        double t = 0.05 * i;
        plane_step(&s.p, 0.05);
        double v = 2.0 * (t + T * expm1(-t / T)) / s.inertia;
        double x = 2.0 * (0.5 * t * t - T * t - T * T * expm1(-t / T)) / s.inertia;
        near(hinge_rate(&s), v, 1e-10, "rate");
        near(hinge_coordinate(&s), x, 1e-10, "coordinate");
    }
    hinge_close(&s);
}

// A rotor is inertia about its hinge, in gravity, with a limited servo.
static void rotor_is_inertia(void **state)
{
    (void)state;
    double got[2][2];
    for (int i = 0; i < 2; i++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def def = plane_body(1.0, i == 0 ? 0.2 : 0.5, 0.3, 0.0, 0.0);
        perp_joint_def joint = perp_joint_default();
        joint.b = perp_builder_add_body(p.builder, &def);
        joint.anchor_B = (perp_vec3){-0.3, 0.0, 0.0};
        joint.armature = i == 0 ? 0.3 : 0.0;
        perp_actuator_def drive = servo(8.0, 0.5);
        drive.joint = perp_builder_add_joint(p.builder, &joint);
        drive.control = "0.5*sin(3*t)";
        drive.upper = 1.0;
        drive.lower = -1.0;
        perp_builder_add_actuator(p.builder, &drive);
        p.def.stepper = PERP_STEPPER_EVENT;
        plane_start(&p);
        plane_run(&p, 0.1, 20);
        got[i][0] = perp_sim_joint(p.sim, drive.joint).coordinate;
        got[i][1] = perp_sim_joint(p.sim, drive.joint).rate;
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
    near(got[0][0], got[1][0], 1e-9, "coordinate");
    near(got[0][1], got[1][1], 1e-9, "rate");
}

// ── Rotors on what moves ─────────────────────────────────────────────────────────────────────────

// A bead on a spoke of a wheel that turns: x'' has a part that no force explains, w^2 r.
static perp_joint open_spoke(plane *p)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body_def def = plane_body(1.0, 0.5, 0.0, 0.0, 0.0);
    def.spin = 3.0;
    perp_body wheel = perp_builder_add_body(p->builder, &def);
    def = plane_body(0.2, 0.01, 0.3, 0.0, 0.0);
    def.spin = 3.0;
    def.velocity_W = (perp_vec3){0.2, 0.9, 0.0};
    perp_joint_def spoke = perp_joint_default();
    spoke.kind = PERP_JOINT_PRISMATIC;
    spoke.a = wheel;
    spoke.b = perp_builder_add_body(p->builder, &def);
    spoke.anchor_A = (perp_vec3){0.3, 0.0, 0.0};
    spoke.armature = 0.1;
    plane_pin(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 0.0}, wheel, (perp_vec3){0.0, 0.0, 0.0});
    return perp_builder_add_joint(p->builder, &spoke);
}

// An arm on a base whose given motion accelerates, in rotation or along a line.
static perp_joint open_base(plane *p, bool slides)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body_def def = perp_body_default();
    def.motion = PERP_MOTION_KINEMATIC;
    def.motion_angle = slides ? "0" : "sin(5*t)";
    def.motion_x = "0.3*sin(5*t)";
    perp_joint_def joint = perp_joint_default();
    joint.a = perp_builder_add_body(p->builder, &def);
    def = plane_body(1.0, 0.1, 0.0, 0.0, 0.0);
    def.velocity_W = (perp_vec3){1.5, 0.0, 0.0};
    joint.b = perp_builder_add_body(p->builder, &def);
    joint.kind = slides ? PERP_JOINT_PRISMATIC : PERP_JOINT_REVOLUTE;
    joint.armature = 0.2;
    joint.stiffness = 1.0;
    return perp_builder_add_joint(p->builder, &joint);
}

static double end_of_rotor(int scene, perp_stepper stepper, perp_coordinates coordinates, double h)
{
    plane p = {0};
    perp_joint joint = scene == 0 ? open_spoke(&p) : open_base(&p, scene == 2);
    p.def.stepper = stepper;
    p.def.coordinates = coordinates;
    plane_start(&p);
    plane_run(&p, h, (int)lround(0.2 / h));
    double x = perp_sim_joint(p.sim, joint).coordinate;
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
    return x;
}

// The rate at the end of a step is that of its end, also where the coordinate changes without a force.
static void rotors_on_what_moves(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_STEWART_TRINKLE};
    for (int scene = 0; scene < 3; scene++) {
        double want = end_of_rotor(scene, PERP_STEPPER_EVENT, PERP_COORDINATES_BODY, 0.02);
        for (int k = 0; k < 4; k++) {
            perp_coordinates which = k == 3 ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
            double far = fabs(end_of_rotor(scene, steppers[k], which, 2e-3) - want);
            double close = fabs(end_of_rotor(scene, steppers[k], which, 5e-4) - want);
            if (!(close <= 0.3 * far + 1e-9) || !(close <= 1e-3)) {
                fail_msg("scene %d, %s, %s: off by %.3g at 2 ms, %.3g at 0.5 ms", scene,
                         perp_stepper_word((int)steppers[k]), perp_coordinates_word((int)which),
                         far, close);
            }
        }
    }
}

// ── A four-bar linkage ───────────────────────────────────────────────────────────────────────────

static perp_body add_bar(plane *p, double mass, double length, double x, double y, double angle)
{
    perp_body_def def =
        plane_body(mass, mass * length * length / 12.0, x + 0.5 * length * cos(angle),
                   y + 0.5 * length * sin(angle), angle);
    return perp_builder_add_body(p->builder, &def);
}

// A four-bar linkage with a motor at its crank. armature: bits, of the joints with a rotor of 0.2 kg m^2.
static perp_actuator open_linkage(plane *p, const perp_actuator_def *motor, unsigned armature)
{
    const double up = 1.57079632679489662, slope = atan2(0.2, 0.4), l = hypot(0.4, 0.2);
    plane_open(p);
    perp_body crank = add_bar(p, 0.8, 0.2, 0.0, 0.0, up);
    perp_body coupler = add_bar(p, 1.8, l, 0.0, 0.2, slope);
    perp_body rocker = add_bar(p, 1.6, 0.4, 0.4, 0.0, up);
    const perp_body a[] = {PLANE_GROUND, crank, coupler, PLANE_GROUND};
    const perp_body b[] = {crank, coupler, rocker, rocker};
    const double at_a[] = {0.0, 0.1, 0.5 * l, 0.4}, at_b[] = {-0.1, -0.5 * l, 0.2, -0.2};
    perp_actuator_def drive = *motor;
    for (int k = 0; k < 4; k++) {
        perp_joint_def pin = perp_joint_default();
        pin.a = a[k];
        pin.b = b[k];
        pin.anchor_A.x = at_a[k];
        pin.anchor_B.x = at_b[k];
        pin.armature = (armature >> k & 1) != 0 ? 0.2 : 0.0;
        perp_joint joint = perp_builder_add_joint(p->builder, &pin);
        drive.joint = k == 0 ? joint : drive.joint;
    }
    return perp_builder_add_actuator(p->builder, &drive);
}

// Work and end of a linkage whose crank a limited motor turns, in steps of h.
static void drive_linkage(perp_stepper stepper, perp_coordinates coordinates, double h,
                          double out[3])
{
    plane p = {0};
    perp_actuator_def drive = servo(0.0, 20.0);
    drive.kind = PERP_ACTUATOR_VELOCITY;
    drive.control = "min(t/0.2, 1)*4*pi";
    drive.lower = -5.0;
    drive.upper = 5.0;
    perp_actuator a = open_linkage(&p, &drive, 0);
    p.def.stepper = stepper;
    p.def.coordinates = coordinates;
    plane_start(&p);
    out[0] = out[1] = out[2] = 0.0;
    int steps = (int)lround(0.3 / h), limited = 0;
    for (int i = 0; i < steps; i++) {
        plane_step(&p, h);
        out[1] += perp_sim_info(p.sim)->energy.work;
        limited += perp_sim_actuator(p.sim, a).limited;
    }
    out[0] = perp_sim_joint(p.sim, (perp_joint){0}).coordinate;
    out[2] = perp_sim_joint(p.sim, (perp_joint){0}).rate;
    assert_true(limited > 0);
    plane_close(&p);
}

// The work of a limited motor is the same number in every stepper, in the limit of short steps.
static void work_in_a_linkage(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_STEWART_TRINKLE};
    double want[3], far[3], close[3];
    drive_linkage(PERP_STEPPER_EVENT, PERP_COORDINATES_BODY, 0.01, want);
    for (int k = 0; k < 4; k++) {
        perp_coordinates which = k == 3 ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
        drive_linkage(steppers[k], which, 5e-4, far);
        drive_linkage(steppers[k], which, 1.25e-4, close);
        for (int i = 0; i < 3; i++) {
            double first = fabs(far[i] - want[i]), then = fabs(close[i] - want[i]);
            if (!(then <= 0.3 * first) || !(then <= 0.03 * (1.0 + fabs(want[i])))) {
                fail_msg("%s, %s: item %d: %.9g at 0.5 ms, %.9g at 0.125 ms, event %.9g",
                         perp_stepper_word((int)steppers[k]), perp_coordinates_word((int)which), i,
                         far[i], close[i], want[i]);
            }
        }
    }
}

// A rotor at any joint of a loop: the tree takes it, and the motion is that of the theta method.
static void rotors_in_a_loop(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        double x[2];
        for (int i = 0; i < 2; i++) {
            plane p = {0};
            perp_actuator_def drive = servo(0.0, 0.0);
            drive.kind = PERP_ACTUATOR_MOTOR;
            drive.control = "-3";
            open_linkage(&p, &drive, 1u << k);
            p.def.stepper = i == 0 ? PERP_STEPPER_EVENT : PERP_STEPPER_MOREAU_JEAN;
            plane_start(&p);
            plane_run(&p, i == 0 ? 0.02 : 1e-3, i == 0 ? 10 : 200);
            x[i] = perp_sim_joint(p.sim, (perp_joint){0}).coordinate;
            assert_int_equal(p.inexact, 0);
            plane_close(&p);
        }
        near(x[0], x[1], 2e-5, "crank");
    }
}

// Rotors at all joints of a loop: one of them is not in the tree.
static void rotor_of_a_loop_is_refused(void **state)
{
    (void)state;
    plane p = {0};
    perp_actuator_def drive = servo(0.0, 1.0);
    perp_error error = {0};
    open_linkage(&p, &drive, 15);
    p.def.stepper = PERP_STEPPER_EVENT;
    assert_int_equal(perp_model_create(p.builder, &p.model, &error), PERP_OK);
    assert_int_equal(perp_sim_create(p.model, &p.def, NULL, &p.sim, &error), PERP_ERR_ARGUMENT);
    assert_string_equal(error.text,
                        "joint 'joint2': the stepper event has no armature of a joint that closes "
                        "a loop; name the joint in the tree, or use another stepper");
    assert_null(p.sim);
    plane_close(&p);
}

// A servo presses a box on the floor: rest, and N = m g + kp (x - c).
static void presses_a_box(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_body(2.0, 0.1, 0.0, 0.1, 0.0);
    perp_body box = perp_builder_add_body(p.builder, &def);
    perp_shape shape = plane_box(&p, box, 0.1, 0.1, 0.5);
    perp_shape floor = plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.5);
    perp_joint_def rail = perp_joint_default();
    rail.kind = PERP_JOINT_PRISMATIC;
    rail.axis_angle = 1.57079632679489662;
    rail.b = box;
    rail.collide = PERP_COLLIDE_ALWAYS;
    perp_actuator_def drive = servo(500.0, 20.0);
    drive.joint = perp_builder_add_joint(p.builder, &rail);
    drive.control = "0.05 + 0.1*step(t - 0.095)";  // presses, then lifts
    perp_actuator a = perp_builder_add_actuator(p.builder, &drive);
    p.def.stepper = PERP_STEPPER_EVENT;
    plane_start(&p);
    for (int i = 0; i < 9; i++) {
        plane_step(&p, 0.01);
        near(perp_sim_actuator(p.sim, a).effort, -25.0, 1e-8, "effort");
        near(plane_pn(&p, floor, shape), 0.01 * (19.62 + 25.0), 1e-9, "normal impulse");
    }
    plane_run(&p, 0.05, 2);
    assert_true(plane_pn(&p, floor, shape) == 0.0);
    plane_run(&p, 0.25, 8);
    near(perp_sim_joint(p.sim, drive.joint).coordinate, 0.15 - 19.62 / 500.0, 1e-3, "height");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_servos),        cmocka_unit_test(general_feedback),
        cmocka_unit_test(saturated_servo),      cmocka_unit_test(impulse_is_the_change_of_momentum),
        cmocka_unit_test(filtered_motor),       cmocka_unit_test(rotor_is_inertia),
        cmocka_unit_test(rotors_on_what_moves), cmocka_unit_test(work_in_a_linkage),
        cmocka_unit_test(rotors_in_a_loop),     cmocka_unit_test(rotor_of_a_loop_is_refused),
        cmocka_unit_test(presses_a_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
