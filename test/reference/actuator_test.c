// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Actuators on one joint against closed forms and against the recurrences of the schemes, for the steppers with steps
// of fixed length; those of `event` are in reference/event_actuator.
#include "support/cmocka.h"
#include "support/hinge.h"

#include <perp/tree.h>

#include <math.h>
#include <stdio.h>

static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA,
                                        PERP_STEPPER_MOREAU_JEAN};
enum { STEPPERS = 3 };

static void near(double got, double want, double tolerance, const char *what, int stepper)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s, %s: %.15g, expected %.15g, off by %.3g", what, perp_stepper_word(stepper),
                 got, want, got - want);
    }
}

// ── Convergence ──────────────────────────────────────────────────────────────────────────────────

typedef struct trial {
    const char *name;
    perp_joint_kind joint;
    double rate, control, t;
    perp_actuator_def def;
} trial;

static double error_of(const trial *c, perp_stepper stepper, double h, const double want[2])
{
    hinge s;
    hinge_open(&s, c->joint, c->rate);
    s.actuator_def = c->def;
    hinge_start(&s, stepper);
    hinge_set(&s, c->control);
    hinge_run(&s, h, c->t);
    assert_int_equal(s.p.inexact, 0);
    double error = fmax(fabs(hinge_coordinate(&s) - want[0]), fabs(hinge_rate(&s) - want[1]));
    hinge_close(&s);
    return error;
}

// Halving the step halves the error, or quarters it under the theta method with gains of the right sign.
static void converges(const trial *c, const double want[2], int theta_order)
{
    for (int k = 0; k < STEPPERS; k++) {
        int order = steppers[k] == PERP_STEPPER_MOREAU_JEAN ? theta_order : 1;
        double h = c->t / 512.0, far = error_of(c, steppers[k], h, want);
        double close = error_of(c, steppers[k], 0.5 * h, want);
        double most = order == 2 ? 0.3 : 0.6;
        if (!(close <= most * far) || !(close < (order == 2 ? 1e-3 : 5e-2))) {
            fail_msg("%s, %s: errors %.3g and %.3g: not of order %d", c->name,
                     perp_stepper_word((int)steppers[k]), far, close, order);
        }
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

// I x'' = kp (c - x) - kv x', damped less than critically, critically, and more.
static void position_servo(void **state)
{
    (void)state;
    static const perp_joint_kind kinds[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC};
    static const double mass[] = {0.4, 1.2}, ratios[] = {0.0, 0.2, 1.0, 3.0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) {
            double kp = 10.0, kv = 2.0 * ratios[i] * sqrt(kp * mass[k]);
            trial c = {"servo", kinds[k], -0.5, 0.7, 1.0, servo(kp, kv)};
            double want[2] = {0.0, c.rate};
            hinge_linear(mass[k], kv, kp, kp * c.control, c.t, want);
            converges(&c, want, 2);
        }
    }
}

static void velocity_servo(void **state)
{
    (void)state;
    trial c = {"velocity", PERP_JOINT_REVOLUTE, -0.5, 2.0, 1.0, servo(0.0, 1.5)};
    c.def.kind = PERP_ACTUATOR_VELOCITY;
    double want[2] = {0.0, c.rate};
    hinge_linear(0.4, 1.5, 0.0, 1.5 * c.control, c.t, want);
    converges(&c, want, 2);
}

// f = gain c + bias: feedback that drives the coordinate away, or feeds its rate, is posed explicitly.
static void general_feedback(void **state)
{
    (void)state;
    static const double bias[][3] = {
        {0.1, -4.0, -0.3}, {-0.2, 3.0, 0.0}, {0.3, 0.0, 0.8}, {0.1, -4.0, 0.5}, {0.1, 3.0, -0.5}};
    for (int k = 0; k < 5; k++) {
        trial c = {"general", PERP_JOINT_REVOLUTE, 0.4, 0.5, 1.0, servo(0.0, 0.0)};
        bool helps = bias[k][1] <= 0.0 && bias[k][2] <= 0.0;
        c.def.kind = PERP_ACTUATOR_GENERAL;
        c.def.gain = -1.5;
        for (int i = 0; i < 3; i++) {
            c.def.bias[i] = bias[k][i];
        }
        double want[2] = {0.0, c.rate};
        hinge_linear(0.4, -bias[k][2], -bias[k][1], -1.5 * 0.5 + bias[k][0], c.t, want);
        converges(&c, want, helps ? 2 : 1);
    }
}

// l = gear x: the effort has the gear once, stiffness and damping twice. A negative gear turns the control.
static void gears(void **state)
{
    (void)state;
    static const double gear[] = {3.0, -0.5};
    for (int k = 0; k < 2; k++) {
        double g = gear[k], kp = 4.0, kv = 0.3;
        trial c = {"gear", PERP_JOINT_REVOLUTE, 0.2, 0.6, 1.0, servo(kp, kv)};
        c.def.gear = g;
        double want[2] = {0.0, c.rate};
        hinge_linear(0.4, g * g * kv, g * g * kp, g * kp * c.control, c.t, want);
        converges(&c, want, 2);
    }
}

// A servo that starts at its limit: constant acceleration until kp (c - x) - kv x' = e, then the linear law.
static void saturated_servo(void **state)
{
    (void)state;
    const double I = 0.4, kp = 10.0, kv = 4.0, e = 2.0, target = 1.0, end = 1.5;
    // kp (c - a t^2/2) - kv a t = e,  a = e/I
    double a = e / I, A = 0.5 * kp * a, B = kv * a, C = e - kp * target;
    double t = (-B + sqrt(B * B - 4.0 * A * C)) / (2.0 * A);
    double want[2] = {0.5 * a * t * t, a * t};
    assert_true(t > 0.1 && t < 0.5 * end);
    for (int k = 1; k <= 100; k++) {  // never at a limit again
        double at[2] = {want[0], want[1]};
        hinge_linear(I, kv, kp, kp * target, (end - t) * k / 100.0, at);
        assert_true(fabs(kp * (target - at[0]) - kv * at[1]) < e);
    }
    hinge_linear(I, kv, kp, kp * target, end - t, want);
    trial c = {"saturated", PERP_JOINT_REVOLUTE, 0.0, target, end, servo(kp, kv)};
    c.def.lower = -3.0;
    c.def.upper = e;
    converges(&c, want, 1);
}

// ── Exact in every step ──────────────────────────────────────────────────────────────────────────

// An effort that does not depend on the motion gives the same impulse in every step.
static void motor_is_exact(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        hinge s;
        hinge_open(&s, PERP_JOINT_PRISMATIC, 0.3);
        s.actuator_def.gear = -2.0;
        hinge_start(&s, steppers[k]);
        hinge_set(&s, 0.7);
        double h = 0.01;
        for (int i = 1; i <= 50; i++) {
            plane_step(&s.p, h);
            perp_actuator_state a = perp_sim_actuator(s.p.sim, s.actuator);
            near(a.effort, -1.4, 1e-12, "effort", (int)steppers[k]);
            near(a.impulse, -1.4 * h, 1e-14, "impulse", (int)steppers[k]);
            near(a.control, 0.7, 0.0, "control", (int)steppers[k]);
            assert_false(a.limited);
            near(hinge_rate(&s), 0.3 - 1.4 * h * i / s.inertia, 1e-12, "rate", (int)steppers[k]);
            near(perp_sim_joint(s.p.sim, s.joint).drive, a.impulse, 1e-14, "drive",
                 (int)steppers[k]);
        }
        assert_int_equal(s.p.inexact, 0);
        hinge_close(&s);
    }
}

// The recurrence of the scheme, with u = (1 - theta) x'_l + theta x':
//   m (x' - x'_l) = h clamp(kp (c - x_l - theta h u) - kv u),   x = x_l + h u.
// Implicit Euler is theta = 1; what is limited has the limit.
static void recurrence_of_a_limited_servo(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        hinge s;
        hinge_open(&s, PERP_JOINT_PRISMATIC, -1.0);
        s.actuator_def = servo(200.0, 3.0);
        s.actuator_def.lower = -2.0;
        s.actuator_def.upper = 5.0;
        hinge_start(&s, steppers[k]);
        hinge_set(&s, 0.3);
        double th = steppers[k] == PERP_STEPPER_MOREAU_JEAN ? 0.5 : 1.0;
        double h = 0.01, x = 0.0, v = -1.0, m = s.inertia;
        int limited[2] = {0, 0};
        for (int i = 0; i < 200; i++) {
            // f = f_0 - slope theta x'
            double slope = 200.0 * th * h + 3.0, old = (1.0 - th) * v;
            double f0 = 200.0 * (0.3 - x) - slope * old;
            double f = (f0 - slope * th * v) / (1.0 + h * slope * th / m);
            bool beyond = f < -2.0 || f > 5.0;
            f = fmin(fmax(f, -2.0), 5.0);
            double next = v + h * f / m;
            x += h * ((1.0 - th) * v + th * next);
            v = next;
            plane_step(&s.p, h);
            perp_actuator_state a = perp_sim_actuator(s.p.sim, s.actuator);
            near(a.effort, f, 1e-8, "effort", (int)steppers[k]);
            near(hinge_rate(&s), v, 1e-9, "rate", (int)steppers[k]);
            near(hinge_coordinate(&s), x, 1e-9, "coordinate", (int)steppers[k]);
            assert_int_equal(a.limited, beyond);
            limited[f > 0.0] += beyond;
        }
        assert_true(limited[0] > 5 && limited[1] > 5);
        assert_int_equal(s.p.inexact, 0);
        hinge_close(&s);
    }
}

// Without inertia: kv (x - x_l) / h = kp (c - x). A rotor has no inertia either.
static void quasistatic_servo(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        hinge s;
        hinge_open(&s, k < 2 ? PERP_JOINT_PRISMATIC : PERP_JOINT_REVOLUTE, 0.0);
        s.actuator_def = servo(5.0, 2.0);
        s.joint_def.armature = k % 2 == 0 ? 0.0 : 0.5;
        hinge_start(&s, PERP_STEPPER_QUASISTATIC);
        hinge_set(&s, 0.4);
        double x = 0.0, h = 0.005;
        for (int i = 0; i < 60; i++) {
            x = (2.0 * x + h * 5.0 * 0.4) / (2.0 + h * 5.0);
            plane_step(&s.p, h);
            near(hinge_coordinate(&s), x, 1e-6, "coordinate", PERP_STEPPER_QUASISTATIC);
        }
        assert_int_equal(s.p.inexact, 0);
        hinge_close(&s);
    }
}

// A motor behind a filter: its mean over a step is that of the exponential, so that the rate is exact.
static void filter_is_exact(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        hinge s;
        hinge_open(&s, PERP_JOINT_PRISMATIC, 0.0);
        s.actuator_def.time_constant = 0.07;
        hinge_start(&s, steppers[k]);
        hinge_set(&s, 2.0);
        double h = 0.01, T = 0.07;
        for (int i = 1; i <= 40; i++) {
            double t = h * i, want = 2.0 * (t + T * expm1(-t / T)) / s.inertia;
            plane_step(&s.p, h);
            near(hinge_rate(&s), want, 1e-12, "rate", (int)steppers[k]);
        }
        hinge_set(&s, -1.0);  // from where the filter is
        double from = hinge_rate(&s), off = -2.0 * expm1(-0.4 / T) + 1.0;
        for (int i = 1; i <= 40; i++) {
            double t = h * i, want = from + (-t - off * T * expm1(-t / T)) / s.inertia;
            plane_step(&s.p, h);
            near(hinge_rate(&s), want, 1e-12, "rate", (int)steppers[k]);
        }
        hinge_close(&s);
    }
}

// Limits apply to f, before the gear; a negative gear exchanges the signs of their efforts.
static void limits_before_the_gear(void **state)
{
    (void)state;
    static const double gear[] = {2.0, -2.0}, control[] = {9.0, -9.0, 0.5};
    for (int k = 0; k < STEPPERS * 6; k++) {
        perp_stepper stepper = steppers[k / 6];
        double g = gear[k % 2], c = control[k / 2 % 3], want = g * fmin(fmax(c, -1.0), 3.0);
        hinge s;
        hinge_open(&s, PERP_JOINT_REVOLUTE, 0.0);
        s.actuator_def.gear = g;
        s.actuator_def.lower = -1.0;
        s.actuator_def.upper = 3.0;
        hinge_start(&s, stepper);
        hinge_set(&s, c);
        plane_run(&s.p, 0.01, 3);
        perp_actuator_state a = perp_sim_actuator(s.p.sim, s.actuator);
        near(a.effort, want, 1e-10, "effort", (int)stepper);
        assert_int_equal(a.limited, fabs(c) > 1.0);
        hinge_close(&s);
    }
}

// ── Damping ratios ───────────────────────────────────────────────────────────────────────────────

// The effort of a servo in its first step from x = 0 with a rate shows its kv: motion of both must be the same.
static void same_damping(hinge *one, hinge *two, const char *what)
{
    hinge_set(one, 0.2);
    hinge_set(two, 0.2);
    plane_run(&one->p, 0.01, 20);
    plane_run(&two->p, 0.01, 20);
    near(hinge_rate(one), hinge_rate(two), 1e-11, what, PERP_STEPPER_STEWART_TRINKLE);
    hinge_close(one);
    hinge_close(two);
}

static void damping_ratio_of_one_joint(void **state)
{
    (void)state;
    static const perp_joint_kind kinds[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC};
    for (int k = 0; k < 2; k++) {
        hinge s[2];
        for (int i = 0; i < 2; i++) {
            hinge_open(&s[i], kinds[k], 0.5);
            s[i].joint_def.armature = 0.05;
            s[i].actuator_def = servo(20.0, 0.0);
            s[i].actuator_def.gear = 3.0;
        }
        // gear^2 kv = 2 ratio sqrt(gear^2 kp m)
        s[0].actuator_def.damping_ratio = 0.7;
        s[1].actuator_def.kv = 2.0 * 0.7 * sqrt(20.0 * (s[1].inertia + 0.05)) / 3.0;
        hinge_start(&s[0], PERP_STEPPER_STEWART_TRINKLE);
        hinge_start(&s[1], PERP_STEPPER_STEWART_TRINKLE);
        perp_actuator_law law[2] = {perp_sim_actuator_law(s[0].p.sim, (perp_actuator){0}),
                                    perp_sim_actuator_law(s[1].p.sim, (perp_actuator){0})};
        assert_true(fabs(law[0].bias[2] - law[1].bias[2]) < 1e-14 && law[1].bias[2] < 0.0);
        assert_true(law[0].bias[1] == -20.0 && law[0].gain == 20.0 && law[0].gear == 3.0);
        same_damping(&s[0], &s[1], "damping ratio");
    }
}

// A shoulder moves the upper arm and, with the elbow locked, the bent forearm.
static void damping_ratio_of_an_arm(void **state)
{
    (void)state;
    hinge s[2];
    for (int i = 0; i < 2; i++) {
        hinge_open(&s[i], PERP_JOINT_REVOLUTE, 0.0);
        perp_body_def def = plane_body(0.5, 0.02, 1.0, 0.3, 1.57079632679489662);
        perp_body fore = perp_builder_add_body(s[i].p.builder, &def);
        plane_pin(&s[i].p, s[i].body, (perp_vec3){0.5, 0.0, 0.0}, fore,
                  (perp_vec3){-0.3, 0.0, 0.0});
        s[i].actuator_def = servo(20.0, 0.0);
    }
    double moved = s[1].inertia + 0.02 + 0.5 * (1.0 + 0.09);
    s[0].actuator_def.damping_ratio = 1.0;
    s[1].actuator_def.kv = 2.0 * sqrt(20.0 * moved);
    hinge_start(&s[0], PERP_STEPPER_STEWART_TRINKLE);
    hinge_start(&s[1], PERP_STEPPER_STEWART_TRINKLE);
    same_damping(&s[0], &s[1], "two links");
}

// Joints from the body to the ground have the body on their other side.
static void damping_ratio_of_a_turned_joint(void **state)
{
    (void)state;
    hinge s[2];
    for (int i = 0; i < 2; i++) {
        hinge_open(&s[i], PERP_JOINT_REVOLUTE, 0.5);
        s[i].joint_def.a = s[i].body;
        s[i].joint_def.b = PLANE_GROUND;
        s[i].joint_def.anchor_A = s[i].joint_def.anchor_B;
        s[i].joint_def.anchor_B = (perp_vec3){0.0, 0.0, 0.0};
        s[i].actuator_def = servo(20.0, 0.0);
    }
    s[0].actuator_def.damping_ratio = 0.7;
    s[1].actuator_def.kv = 2.0 * 0.7 * sqrt(20.0 * s[1].inertia);
    hinge_start(&s[0], PERP_STEPPER_STEWART_TRINKLE);
    hinge_start(&s[1], PERP_STEPPER_STEWART_TRINKLE);
    same_damping(&s[0], &s[1], "turned joint");
}

// A screw moves its body along the axis also: I + m pitch^2.
static void damping_ratio_of_a_screw(void **state)
{
    (void)state;
    double rate[2];
    for (int i = 0; i < 2; i++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def def = perp_body_default();
        def.kind = PERP_BODY_SPATIAL;
        def.mass = 2.0;
        def.inertia_B[0] = def.inertia_B[1] = def.inertia_B[2] = 0.1;
        perp_body body = perp_builder_add_body(p.builder, &def);
        perp_joint_def joint = perp_joint_default();
        joint.kind = PERP_JOINT_SCREW;
        joint.b = body;
        joint.pitch = 0.4;
        perp_actuator_def drive = servo(20.0, 2.0 * 0.7 * sqrt(20.0 * (0.1 + 2.0 * 0.16)));
        drive.damping_ratio = i == 0 ? 0.7 : -1.0;
        drive.joint = perp_builder_add_joint(p.builder, &joint);
        drive.control = "0.5";
        perp_builder_add_actuator(p.builder, &drive);
        plane_start(&p);
        plane_run(&p, 0.01, 20);
        rate[i] = perp_sim_joint(p.sim, drive.joint).rate;
        plane_close(&p);
    }
    near(rate[0], rate[1], 1e-11, "screw", PERP_STEPPER_STEWART_TRINKLE);
}

static void damping_ratio_in_a_loop(void **state)
{
    (void)state;
    hinge s;
    perp_error error = {0};
    perp_model *model = NULL;
    hinge_open(&s, PERP_JOINT_REVOLUTE, 0.0);
    perp_joint_def slot = perp_joint_default();
    slot.kind = PERP_JOINT_POINT_ON_LINE;
    slot.b = s.body;
    perp_joint joint = perp_builder_add_joint(s.p.builder, &s.joint_def);
    perp_builder_add_joint(s.p.builder, &slot);
    perp_actuator_def def = servo(1.0, 0.0);
    def.damping_ratio = 1.0;
    def.joint = joint;
    perp_builder_add_actuator(s.p.builder, &def);
    assert_int_equal(perp_model_create(s.p.builder, &model, &error), PERP_ERR_MODEL);
    assert_string_equal(error.text,
                        "actuator 'drive': a damping ratio needs the inertia that joint 'joint' "
                        "moves, which is not defined in a loop; give kv");
    assert_null(model);
    hinge_close(&s);
}

// ── Rotors ───────────────────────────────────────────────────────────────────────────────────────

// A rotor geared to a hinge is inertia about it, as the centre of mass lies on the axis or not.
static void rotor_is_inertia(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        double got[2][2];
        for (int i = 0; i < 2; i++) {
            plane p = {0};
            plane_open(&p);
            perp_body_def def = plane_body(1.0, i == 0 ? 0.2 : 0.5, 0.3, 0.0, 0.0);
            perp_body body = perp_builder_add_body(p.builder, &def);
            perp_joint_def joint = perp_joint_default();
            joint.b = body;
            joint.anchor_B = (perp_vec3){-0.3, 0.0, 0.0};
            joint.armature = i == 0 ? 0.3 : 0.0;
            perp_actuator_def drive = servo(8.0, 0.5);
            drive.joint = perp_builder_add_joint(p.builder, &joint);
            drive.control = "0.5";
            drive.upper = 1.0;
            drive.lower = -1.0;
            perp_builder_add_actuator(p.builder, &drive);
            p.def.stepper = steppers[k];
            plane_start(&p);
            plane_run(&p, 0.01, 60);
            got[i][0] = perp_sim_joint(p.sim, drive.joint).coordinate;
            got[i][1] = perp_sim_joint(p.sim, drive.joint).rate;
            assert_int_equal(p.inexact, 0);
            plane_close(&p);
        }
        near(got[0][0], got[1][0], 1e-9, "coordinate", (int)steppers[k]);
        near(got[0][1], got[1][1], 1e-9, "rate", (int)steppers[k]);
    }
}

// H of a tree: with the armature on the diagonal, and nowhere else.
static void rotor_in_the_mass_matrix(void **state)
{
    (void)state;
    double H[2][4];
    for (int i = 0; i < 2; i++) {
        plane p = {0};
        plane_open(&p);
        perp_joint_def joint = perp_joint_default();
        perp_body before = PLANE_GROUND;
        for (int k = 0; k < 2; k++) {
            perp_body_def def = plane_body(1.0, 0.1, 0.5 + k, 0.0, 0.0);
            perp_body body = perp_builder_add_body(p.builder, &def);
            joint.a = before;
            joint.b = body;
            joint.anchor_A = (perp_vec3){k == 0 ? 0.0 : 0.5, 0.0, 0.0};
            joint.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
            joint.armature = i == 0 ? 0.0 : 0.25 + k;
            perp_builder_add_joint(p.builder, &joint);
            before = body;
        }
        plane_start(&p);
        perp_tree *tree = NULL;
        assert_int_equal(perp_tree_create(p.model, NULL, 0, NULL, &tree, NULL), PERP_OK);
        const double q[2] = {0.3, -0.8}, qd[2] = {1.0, 2.0}, qdd[2] = {0.5, -1.5};
        double tau[2], back[2];
        assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
        perp_tree_mass(tree, H[i]);
        assert_int_equal(perp_tree_inverse(tree, qdd, tau), PERP_OK);
        assert_int_equal(perp_tree_forward(tree, tau, back), PERP_OK);
        near(back[0], qdd[0], 1e-11, "forward", PERP_STEPPER_EVENT);
        near(back[1], qdd[1], 1e-11, "forward", PERP_STEPPER_EVENT);
        double T = 0.5 * (H[i][0] + 2.0 * 2.0 * H[i][1] + 4.0 * H[i][3]);
        near(perp_tree_kinetic(tree), T, 1e-12, "kinetic", PERP_STEPPER_EVENT);
        perp_tree_destroy(tree);
        plane_close(&p);
    }
    near(H[1][0] - H[0][0], 0.25, 1e-14, "H", PERP_STEPPER_EVENT);
    near(H[1][3] - H[0][3], 1.25, 1e-14, "H", PERP_STEPPER_EVENT);
    near(H[1][1], H[0][1], 1e-15, "H", PERP_STEPPER_EVENT);
}

// ── Several, stiff, and in contact ───────────────────────────────────────────────────────────────

// Two servos of one joint are one servo of their sum.
static double rate_of_two(perp_stepper stepper, const perp_actuator_def *defs, int count)
{
    hinge s;
    hinge_open(&s, PERP_JOINT_REVOLUTE, 0.4);
    s.joint = perp_builder_add_joint(s.p.builder, &s.joint_def);
    for (int i = 0; i < count; i++) {
        perp_actuator_def def = defs[i];
        def.joint = s.joint;
        perp_builder_add_actuator(s.p.builder, &def);
    }
    s.p.def.stepper = stepper;
    plane_start(&s.p);
    plane_run(&s.p, 0.01, 40);
    double sum = 0.0, rate = hinge_rate(&s);
    for (int i = 0; i < count; i++) {
        sum += perp_sim_actuator(s.p.sim, (perp_actuator){i}).impulse;
    }
    near(perp_sim_joint(s.p.sim, s.joint).drive, sum, 1e-13, "drive", (int)stepper);
    assert_int_equal(s.p.inexact, 0);
    hinge_close(&s);
    return rate;
}

static void two_on_one_joint(void **state)
{
    (void)state;
    perp_actuator_def two[2] = {servo(3.0, 0.2), servo(5.0, 0.5)}, one = servo(8.0, 0.7);
    two[0].control = "0.5";
    two[1].control = "0.9";
    two[1].name = "second";
    one.control = "(3*0.5 + 5*0.9)/8";
    for (int k = 0; k < STEPPERS; k++) {
        near(rate_of_two(steppers[k], two, 2), rate_of_two(steppers[k], &one, 1), 1e-10, "rate",
             (int)steppers[k]);
    }
}

// 1e6 N m/rad at steps of 10 ms: h sqrt(kp/I) = 16 is far beyond what explicit steps bear.
static void stiff_gains_are_stable(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS * 4; k++) {
        perp_stepper stepper = steppers[k / 4];
        bool slides = k / 2 % 2 == 1;
        double goal =
            slides ? 0.5 : 0.02;  // a hinge of a linearised scheme turns by little in a step
        hinge s;
        hinge_open(&s, slides ? PERP_JOINT_PRISMATIC : PERP_JOINT_REVOLUTE, 0.0);
        s.actuator_def = servo(1e6, 1e3);
        if (k % 2 == 1) {
            s.actuator_def.lower = -20.0;
            s.actuator_def.upper = 20.0;
        }
        hinge_start(&s, stepper);
        hinge_set(&s, goal);
        plane_run(&s.p, 0.01, 300);
        // The trapezoidal rule keeps an oscillation that it does not resolve, without letting it grow.
        bool damps = stepper != PERP_STEPPER_MOREAU_JEAN;
        near(hinge_coordinate(&s), goal, damps ? 1e-3 : 1.001 * goal, "coordinate", (int)stepper);
        if (damps) {
            near(hinge_rate(&s), 0.0, 1e-3, "rate", (int)stepper);
        }
        assert_int_equal(s.p.inexact, 0);
        hinge_close(&s);
    }
}

// What dies out underflows in the end: the problem is still solved.
static void servo_at_rest_stays_solved(void **state)
{
    (void)state;
    for (int form = PERP_FORM_MCP; form <= PERP_FORM_CONE; form++) {
        for (int k = 0; k < 4; k++) {
            hinge s;
            hinge_open(&s, PERP_JOINT_REVOLUTE, k < 2 ? 0.1 : 0.0);
            s.actuator_def = servo(1e6, 1e3);
            if (k % 2 == 0) {
                s.actuator_def.lower = -20.0;
                s.actuator_def.upper = 20.0;
            }
            s.p.def.form = (perp_form)form;
            hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
            hinge_set(&s, k < 2 ? 0.0 : 0.02);
            plane_run(&s.p, 0.01, 400);
            assert_int_equal(s.p.inexact, 0);
            hinge_close(&s);
        }
    }
}

// A slider that presses a box on the floor: N = m g + kp (x - c), whatever the form and the coordinates.
static void presses_a_box(void **state)
{
    (void)state;
    for (int form = PERP_FORM_MCP; form <= PERP_FORM_CONE; form++) {
        for (int joint = 0; joint < 2; joint++) {
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
            drive.control = "0.05";
            perp_actuator a = perp_builder_add_actuator(p.builder, &drive);
            p.def.form = (perp_form)form;
            p.def.coordinates = joint ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
            plane_start(&p);
            plane_run(&p, 0.01, 20);
            near(perp_sim_actuator(p.sim, a).effort, -25.0, 1e-6, "effort", 0);
            near(plane_pn(&p, floor, shape), 0.01 * (19.62 + 25.0), 1e-8, "normal impulse", 0);
            assert_int_equal(p.inexact, 0);
            plane_close(&p);
        }
    }
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// Change of energy is work less what is lost; nothing is created. The work converges to that of f x'.
static double work_of(perp_stepper stepper, double h, double *kinetic)
{
    hinge s;
    hinge_open(&s, PERP_JOINT_REVOLUTE, -0.5);
    s.actuator_def = servo(10.0, 4.0);
    s.actuator_def.lower = -2.0;
    s.actuator_def.upper = 2.0;
    hinge_start(&s, stepper);
    hinge_set(&s, 1.0);
    double work = 0.0, before = 0.5 * s.inertia * 0.25;
    int steps = (int)lround(1.5 / h);
    for (int i = 0; i < steps; i++) {
        plane_step(&s.p, h);
        const perp_energy *e = &perp_sim_info(s.p.sim)->energy;
        double after = e->kinetic + e->potential;
        near(after - before, e->work - e->dissipated, 1e-12, "ledger", (int)stepper);
        assert_true(e->dissipated > -1e-8);
        before = after;
        work += e->work;
    }
    assert_int_equal(s.p.inexact, 0);
    *kinetic = before;
    hinge_close(&s);
    return work;
}

static void work_of_a_saturated_servo(void **state)
{
    (void)state;
    // the true motion, by the fourth-order Runge-Kutta method in steps that are short at the corner
    double x = 0.0, v = -0.5, want = 0.0;
    const double h = 1e-5;
    for (int i = 0; i < 150000; i++) {
        double a = fmin(fmax(10.0 * (1.0 - x) - 4.0 * v, -2.0), 2.0) / 0.4;
        double xm = x + 0.5 * h * v, vm = v + 0.5 * h * a;
        double f = fmin(fmax(10.0 * (1.0 - xm) - 4.0 * vm, -2.0), 2.0);
        x += h * vm;
        v += h * f / 0.4;
        want += h * f * vm;
    }
    for (int k = 0; k < STEPPERS; k++) {
        double kinetic, far = work_of(steppers[k], 4e-3, &kinetic) - want;
        double close = work_of(steppers[k], 1e-3, &kinetic) - want;
        if (!(fabs(close) < 0.35 * fabs(far) + 1e-4) || !(fabs(close) < 0.02)) {
            fail_msg("%s: work off by %.3g and %.3g J of %.3g", perp_stepper_word((int)steppers[k]),
                     far, close, want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(position_servo),
        cmocka_unit_test(velocity_servo),
        cmocka_unit_test(general_feedback),
        cmocka_unit_test(gears),
        cmocka_unit_test(saturated_servo),
        cmocka_unit_test(motor_is_exact),
        cmocka_unit_test(recurrence_of_a_limited_servo),
        cmocka_unit_test(quasistatic_servo),
        cmocka_unit_test(filter_is_exact),
        cmocka_unit_test(limits_before_the_gear),
        cmocka_unit_test(damping_ratio_of_one_joint),
        cmocka_unit_test(damping_ratio_of_an_arm),
        cmocka_unit_test(damping_ratio_of_a_turned_joint),
        cmocka_unit_test(damping_ratio_of_a_screw),
        cmocka_unit_test(damping_ratio_in_a_loop),
        cmocka_unit_test(rotor_is_inertia),
        cmocka_unit_test(rotor_in_the_mass_matrix),
        cmocka_unit_test(two_on_one_joint),
        cmocka_unit_test(stiff_gains_are_stable),
        cmocka_unit_test(servo_at_rest_stays_solved),
        cmocka_unit_test(presses_a_box),
        cmocka_unit_test(work_of_a_saturated_servo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
