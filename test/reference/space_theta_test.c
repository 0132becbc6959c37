// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The theta method (moreau-jean) in space: impulses in world axes, second order on tops and in contact, energy
// that does not grow.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0},
                       Z = {0.0, 0.0, 1.0};

static void open_theta(plane *p)
{
    *p = (plane){0};
    plane_open(p);
    p->def.stepper = PERP_STEPPER_MOREAU_JEAN;
}

// ── Momentum and energy ──────────────────────────────────────────────────────────────────────────

// A billiard ball struck with all three spins: friction at its lowest point has no torque about the vertical.
// Once it rolls nothing pushes it any more.
static void spin_about_the_normal_stays(void **state)
{
    (void)state;
    plane p;
    open_theta(&p);
    double r = 0.0286, I = 0.4 * 0.17 * r * r;
    perp_body_def def = space_body(0.17, (perp_vec3){I, I, I}, (perp_vec3){0.0, 0.0, r});
    def.velocity_W = (perp_vec3){2.0, 0.3, 0.0};
    def.omega_W = (perp_vec3){-60.0, -90.0, 25.0};
    perp_body ball = perp_builder_add_body(p.builder, &def);
    space_sphere(&p, ball, r, 0.2);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.2);
    plane_start(&p);
    for (int k = 0; k < 120; k++) {
        plane_step(&p, 0.01);  // turns by more than a radian a step
        space_near(perp_sim_body_twist(p.sim, ball).w_W.z, 25.0, 1e-9, "spin about the vertical");
    }
    perp_twist V = perp_sim_body_twist(p.sim, ball);
    // v + w x (-r z) = 0, and v from (I + m r^2) v = m r^2 v_0 + I r (w_0 x z)
    space_near(V.v_W.x, (5.0 * 2.0 + 2.0 * r * -90.0) / 7.0, 1e-9, "vx");
    space_near(V.v_W.y, (5.0 * 0.3 - 2.0 * r * -60.0) / 7.0, 1e-9, "vy");
    space_near(V.w_W.y, V.v_W.x / r, 1e-7, "wy");
    space_near(V.w_W.x, -V.v_W.y / r, 1e-7, "wx");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// Both kinds of turn keep momentum and energy of a free body to rounding, at any step.
static void free_bodies_keep_momentum_and_energy(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        plane p;
        open_theta(&p);
        perp_builder_set_gravity(p.builder, O);
        perp_body_def def = space_body(1.0, (perp_vec3){1.0, 2.0, 2.7}, O);
        def.omega_W = (perp_vec3){0.4, 2.0, -0.3};
        perp_body body = perp_builder_add_body(p.builder, &def);
        p.def.rotation = k == 0 ? PERP_ROTATION_EXPONENTIAL : PERP_ROTATION_LINEAR;
        plane_start(&p);
        perp_vec3 L = space_momentum(&p, body);
        double T = space_kinetic(&p, body);
        for (int i = 0; i < 400; i++) {
            plane_step(&p, 0.25);
            perp_vec3 off = space_sub(space_momentum(&p, body), L);
            space_near(space_length(off), 0.0, 1e-12 * space_length(L), "angular momentum");
            space_near(space_kinetic(&p, body), T, 1e-12 * T, "energy");
        }
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

// ── Orders ───────────────────────────────────────────────────────────────────────────────────────

enum { VALUES = 6 };
typedef void scene(double h, double out[VALUES]);

static void end_of(plane *p, perp_body body, double h, double until, double out[VALUES])
{
    plane_run(p, h, (int)lround(until / h));
    perp_vec3 a = space_point_at(p, body, X), b = space_point_at(p, body, Y);
    const double all[VALUES] = {a.x, a.y, a.z, b.x, b.y, b.z};
    for (int k = 0; k < VALUES; k++) {
        out[k] = all[k];
    }
    plane_close(p);
}

// The observed order from h to h/4, against steps of h/32 whose own error is 1/256 of it.
static void second_order(const char *what, scene *run, double h)
{
    double want[VALUES], got[VALUES], error[2] = {0.0, 0.0};
    run(h / 32.0, want);
    for (int k = 0; k < 2; k++) {
        run(k == 0 ? h : 0.25 * h, got);
        for (int i = 0; i < VALUES; i++) {
            error[k] = fmax(error[k], fabs(got[i] - want[i]));
        }
    }
    double order = log2(error[0] / error[1]) / 2.0;
    if (!(order > 1.8) || !(error[0] < 0.1)) {
        fail_msg("%s: errors %.3g and %.3g, order %.2f", what, error[0], error[1], order);
    }
}

// A top on its tip, of three different inertias or of two.
static void top(double h, perp_vec3 inertia, double out[VALUES])
{
    plane p;
    open_theta(&p);
    perp_quat lean = space_turn(X, 0.5);
    perp_body_def def = space_body(1.0, inertia, space_rotate(lean, (perp_vec3){0.0, 0.0, 0.3}));
    def.rotation_WB = lean;
    def.omega_W = space_rotate(lean, (perp_vec3){0.5, 0.0, 30.0});
    def.velocity_W = space_cross(def.omega_W, def.position_W);
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_joint_def tip =
        space_joint(PERP_JOINT_SPHERICAL, PLANE_GROUND, O, body, (perp_vec3){0.0, 0.0, -0.3}, Z);
    perp_builder_add_joint(p.builder, &tip);
    plane_start(&p);
    end_of(&p, body, h, 0.512, out);
}

static void symmetric_top(double h, double out[VALUES])
{
    top(h, (perp_vec3){0.02, 0.02, 0.03}, out);
}

static void uneven_top(double h, double out[VALUES])
{
    top(h, (perp_vec3){0.02, 0.025, 0.03}, out);
}

static void free_body(double h, double out[VALUES])
{
    plane p;
    open_theta(&p);
    perp_body_def def = space_body(1.0, (perp_vec3){1.0, 2.0, 2.7}, O);
    def.omega_W = (perp_vec3){0.4, 2.0, -0.3};
    perp_body body = perp_builder_add_body(p.builder, &def);
    plane_start(&p);
    end_of(&p, body, h, 5.12, out);
}

// A ball that slides, with spin about the normal, and begins to roll.
static void sliding_ball(double h, double out[VALUES])
{
    plane p;
    open_theta(&p);
    perp_body_def def =
        space_body(1.0, (perp_vec3){0.004, 0.004, 0.004}, (perp_vec3){0.0, 0.0, 0.1});
    def.velocity_W = (perp_vec3){1.0, 0.2, 0.0};
    def.omega_W = (perp_vec3){-3.0, -5.0, 8.0};
    perp_body ball = perp_builder_add_body(p.builder, &def);
    space_sphere(&p, ball, 0.1, 0.2);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.2);
    plane_start(&p);
    end_of(&p, ball, h, 0.256, out);
}

// A ball whose centre of mass is off its middle, on a smooth floor: the contact point travels, the body nods.
static void nodding_ball(double h, double out[VALUES])
{
    plane p;
    open_theta(&p);
    perp_body_def def =
        space_body(1.0, (perp_vec3){0.002, 0.003, 0.004}, (perp_vec3){0.0, 0.0, 0.08});
    def.omega_W = (perp_vec3){3.0, 1.0, 20.0};
    perp_body ball = perp_builder_add_body(p.builder, &def);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_SPHERE;
    shape.radius = 0.1;
    shape.position_B = (perp_vec3){0.0, 0.0, 0.02};
    shape.mu = 0.0;
    perp_builder_add_shape(p.builder, ball, &shape);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    plane_start(&p);
    end_of(&p, ball, h, 0.512, out);
}

// The rim of a wheel of the radius r whose axis is z.
static void add_rim(plane *p, perp_body body, double r, perp_quat turn)
{
    perp_shape_def rim = perp_shape_default();
    rim.kind = PERP_SHAPE_CYLINDER;
    rim.radius = r;
    rim.half = (perp_vec3){0.0, 0.0, 1e-5};
    rim.rotation_BS = turn;
    rim.mu = 5.0;
    perp_builder_add_shape(p->builder, body, &rim);
}

// A disc that leans and rolls along its circle, without slip from the start.
static perp_body add_disc(plane *p)
{
    double lean = 0.2, r = 0.1, half = 1e-5;
    perp_quat turn = space_turn(X, lean - 1.5707963267948966);
    perp_vec3 axis = space_rotate(turn, Z);
    perp_vec3 centre = {0.0, 0.0, r * cos(lean) + half * sin(lean)};
    perp_body_def def = space_body(1.0, (perp_vec3){0.0025, 0.0025, 0.005}, centre);
    def.rotation_WB = turn;
    def.velocity_W = (perp_vec3){1.0, 0.0, 0.0};
    def.omega_W = space_scale(1.0 / r, axis);
    perp_body disc = perp_builder_add_body(p->builder, &def);
    add_rim(p, disc, r, (perp_quat){1.0, 0.0, 0.0, 0.0});
    space_halfspace(p, PLANE_GROUND, Z, 0.0, 5.0);
    return disc;
}

static void rolling_disc(double h, double out[VALUES])
{
    plane p;
    open_theta(&p);
    perp_body disc = add_disc(&p);
    plane_start(&p);
    end_of(&p, disc, h, 0.512, out);
}

static void orders_are_two(void **state)
{
    (void)state;
    second_order("free body", free_body, 0.08);
    second_order("symmetric top", symmetric_top, 0.004);
    second_order("uneven top", uneven_top, 0.004);
    second_order("sliding ball", sliding_ball, 0.004);
    second_order("nodding ball", nodding_ball, 0.004);
    second_order("rolling disc", rolling_disc, 0.004);
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

static double energy_of(const plane *p, int bodies)
{
    double sum = 0.0;
    for (int k = 1; k <= bodies; k++) {
        perp_body body = {k};
        double weight = G * perp_model_mass(p->model, body);
        sum += space_kinetic(p, body) + weight * perp_sim_body_position(p->sim, body).z;
    }
    return sum;
}

// It nods, and its energy with it, by the square of the step; it does not grow.
static void rolling_discs_gain_no_energy(void **state)
{
    static const double steps[] = {4e-3, 1e-3, 2.5e-4};
    (void)state;
    for (int k = 0; k < 3; k++) {
        plane p;
        open_theta(&p);
        add_disc(&p);
        plane_start(&p);
        double first = energy_of(&p, 1);
        while (perp_sim_time(p.sim) < 4.0) {
            plane_step(&p, steps[k]);
            space_near(energy_of(&p, 1), first, 1.5 * steps[k] * steps[k] * first, "energy");
        }
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

// The bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007), z up: rear wheel, frame, fork and front wheel.
// Between 4.29 and 6.02 m/s it keeps itself upright.
static void add_bicycle(plane *p, double v, double lean_rate)
{
    static const struct {
        double m, x, z, I[6];
    } part[4] = {{2.0, 0.0, 0.3, {0.0603, 0.12, 0.0603, 0.0, 0.0, 0.0}},
                 {85.0, 0.3, 0.9, {9.2, 11.0, 2.8, 0.0, -2.4, 0.0}},
                 {4.0, 0.9, 0.7, {0.05892, 0.06, 0.00708, 0.0, 0.00756, 0.0}},
                 {3.0, 1.02, 0.35, {0.1405, 0.28, 0.1405, 0.0, 0.0, 0.0}}};
    perp_body body[4];
    for (int k = 0; k < 4; k++) {
        perp_body_def def = perp_body_default();
        def.kind = PERP_BODY_SPATIAL;
        def.mass = part[k].m;
        for (int i = 0; i < 6; i++) {
            def.inertia_B[i] = part[k].I[i];
        }
        def.position_W = (perp_vec3){part[k].x, 0.0, part[k].z};
        double spin = k == 0 ? v / 0.3 : k == 3 ? v / 0.35 : 0.0;
        def.omega_W = (perp_vec3){lean_rate, spin, 0.0};
        def.velocity_W = (perp_vec3){v, -lean_rate * part[k].z, 0.0};
        body[k] = perp_builder_add_body(p->builder, &def);
    }
    perp_quat flat = space_turn(X, 1.5707963267948966);
    add_rim(p, body[0], 0.3, flat);
    add_rim(p, body[3], 0.35, flat);
    // The steering axis meets the ground 0.08 m before the front wheel does, tilted by 18 degrees.
    double tilt = 0.3141592653589793, foot = 1.02 + 0.08, up = 0.8;
    perp_vec3 axis = {-sin(tilt), 0.0, cos(tilt)}, head = {foot - up * tan(tilt), 0.0, up};
    const struct {
        int a, b;
        perp_vec3 at, axis;
    } joint[3] = {{1, 0, {0.0, 0.0, 0.3}, Y}, {1, 2, head, axis}, {2, 3, {1.02, 0.0, 0.35}, Y}};
    for (int k = 0; k < 3; k++) {
        perp_vec3 pa = {part[joint[k].a].x, 0.0, part[joint[k].a].z},
                  pb = {part[joint[k].b].x, 0.0, part[joint[k].b].z};
        perp_joint_def def =
            space_joint(PERP_JOINT_REVOLUTE, body[joint[k].a], space_sub(joint[k].at, pa),
                        body[joint[k].b], space_sub(joint[k].at, pb), joint[k].axis);
        perp_builder_add_joint(p->builder, &def);
    }
    space_halfspace(p, PLANE_GROUND, Z, 0.0, 5.0);
}

static double lean_of(const plane *p)
{
    perp_vec3 side = space_rotate(perp_sim_body_pose(p->sim, (perp_body){2}).rot, Y);
    return asin(side.z);
}

// Pushed sideways it comes upright again at 5 m/s, by weave and capsize of -0.78 and -0.32 1/s, and falls at
// 2 m/s; at neither does it gain energy.
static void bicycles_steer_into_the_fall(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double v = k == 0 ? 5.0 : 2.0, most = 0.0, late = 0.0;
        plane p;
        open_theta(&p);
        add_bicycle(&p, v, 0.05);
        p.def.limits.gap = 1e-3;  // of wheels that are next to nothing thick
        plane_start(&p);
        double first = energy_of(&p, 4);
        while (perp_sim_time(p.sim) < (k == 0 ? 5.0 : 1.7)) {
            plane_step(&p, 0.002);
            assert_true(energy_of(&p, 4) <= first * (1.0 + 1e-7));
            double lean = fabs(lean_of(&p));
            most = fmax(most, lean);
            late = perp_sim_time(p.sim) > (k == 0 ? 4.0 : 1.5) ? fmax(late, lean) : late;
        }
        assert_int_equal(p.inexact, 0);
        assert_true(k == 0 ? late < 0.3 * most : late > 0.1);
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_about_the_normal_stays),
        cmocka_unit_test(free_bodies_keep_momentum_and_energy),
        cmocka_unit_test(orders_are_two),
        cmocka_unit_test(rolling_discs_gain_no_energy),
        cmocka_unit_test(bicycles_steer_into_the_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
