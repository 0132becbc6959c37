// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every joint of space: what it takes away and what it leaves, coordinates, drift, limits, motors, dry
// friction, springs, gears, reactions, redundancy; driven bodies.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0},
                       Z = {0.0, 0.0, 1.0};

static perp_vec3 random_vector(rng *r, double size)
{
    double x = rng_uniform(r, -size, size), y = rng_uniform(r, -size, size);
    return (perp_vec3){x, y, rng_uniform(r, -size, size)};
}

static perp_vec3 random_unit(rng *r)
{
    perp_vec3 a = random_vector(r, 1.0);
    while (space_length(a) < 0.1) {
        a = random_vector(r, 1.0);
    }
    return space_scale(1.0 / space_length(a), a);
}

static perp_vec3 part_along(perp_vec3 a, perp_vec3 unit)
{
    return space_scale(space_dot(a, unit), unit);
}

static void near3(perp_vec3 got, perp_vec3 want, double tolerance, const char *what)
{
    double off = space_length(space_sub(got, want));
    if (!(off <= tolerance)) {
        fail_msg("%s = (%g %g %g), should be (%g %g %g), off by %.3g", what, got.x, got.y, got.z,
                 want.x, want.y, want.z, off);
    }
}

static const struct {
    perp_joint_kind kind;
    const char *name;
    int rows;
} kinds[] = {
    {PERP_JOINT_SPHERICAL, "spherical", 3},
    {PERP_JOINT_REVOLUTE, "revolute", 5},
    {PERP_JOINT_UNIVERSAL, "universal", 4},
    {PERP_JOINT_CYLINDRICAL, "cylindrical", 4},
    {PERP_JOINT_SCREW, "screw", 5},
    {PERP_JOINT_PRISMATIC, "prismatic", 5},
    {PERP_JOINT_PLANAR, "plane", 3},
    {PERP_JOINT_WELD, "weld", 6},
    {PERP_JOINT_POINT_ON_LINE, "point on line", 2},
    {PERP_JOINT_DISTANCE, "distance", 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// ── What a joint takes away ──────────────────────────────────────────────────────────────────────

// A body with a round inertia (m 2, I 0.3), held at its centre by the ground, with the velocity (v, w): what
// is left of it is its projection on the free motions.
static void left_over(perp_joint_kind kind, perp_vec3 u, perp_vec3 across, perp_vec3 *v,
                      perp_vec3 *w)
{
    double s = space_dot(*v, u), turn = space_dot(*w, u);
    switch (kind) {
    case PERP_JOINT_SPHERICAL:
        *v = O;
        break;
    case PERP_JOINT_REVOLUTE:
        *v = O, *w = space_scale(turn, u);
        break;
    case PERP_JOINT_UNIVERSAL:
        *v = O;
        *w = space_sub(*w, part_along(*w, space_cross(u, across)));
        break;
    case PERP_JOINT_CYLINDRICAL:
        *v = space_scale(s, u), *w = space_scale(turn, u);
        break;
    case PERP_JOINT_SCREW: {  // s = pitch * turn with the pitch 0.25
        double rate = (2.0 * 0.25 * s + 0.3 * turn) / (2.0 * 0.0625 + 0.3);
        *v = space_scale(0.25 * rate, u), *w = space_scale(rate, u);
        break;
    }
    case PERP_JOINT_PRISMATIC:
        *v = space_scale(s, u), *w = O;
        break;
    case PERP_JOINT_PLANAR:
        *v = space_sub(*v, space_scale(s, u)), *w = space_scale(turn, u);
        break;
    case PERP_JOINT_WELD:
        *v = *w = O;
        break;
    case PERP_JOINT_POINT_ON_LINE:
        *v = space_scale(s, u);
        break;
    default:
        *v = space_sub(*v, part_along(*v, across));
        break;  // distance
    }
}

static void joints_project(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        for (int k = 0; k < KINDS; k++) {
            plane p = {0};
            plane_open(&p);
            perp_builder_set_gravity(p.builder, O);
            perp_vec3 u = random_unit(&r), at = random_vector(&r, 1.0);
            perp_vec3 across = space_cross(u, random_unit(&r));
            across = space_scale(1.0 / space_length(across), across);
            perp_body_def def = space_body(2.0, (perp_vec3){0.3, 0.3, 0.3}, at);
            def.rotation_WB = space_turn(random_unit(&r), rng_uniform(&r, -3.0, 3.0));
            def.velocity_W = random_vector(&r, 1.0);
            def.omega_W = random_vector(&r, 1.0);
            perp_body body = perp_builder_add_body(p.builder, &def);
            perp_joint_def joint = space_joint(kinds[k].kind, PLANE_GROUND, at, body, O, u);
            joint.pitch = 0.25;
            if (kinds[k].kind == PERP_JOINT_UNIVERSAL) {
                joint.axis_B = space_unrotate(def.rotation_WB, across);
            }
            if (kinds[k].kind == PERP_JOINT_DISTANCE) {
                joint.anchor_A = space_sub(at, space_scale(0.7, across));
                joint.length = 0.7;
            }
            perp_builder_add_joint(p.builder, &joint);
            plane_start(&p);
            perp_vec3 v = def.velocity_W, w = def.omega_W;
            left_over(kinds[k].kind, u, across, &v, &w);
            plane_step(&p, 1e-3);
            perp_twist V = perp_sim_body_twist(p.sim, body);
            assert_int_equal(perp_sim_info(p.sim)->joint_rows, kinds[k].rows);
            assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 0);
            near3(V.v_W, v, 1e-12, kinds[k].name);
            near3(V.w_W, w, 1e-12, kinds[k].name);
            plane_close(&p);
        }
    }
}

// ── Drift ────────────────────────────────────────────────────────────────────────────────────────

// Two free bodies, joined at places away from their centres, tumble: the joint stays closed to h^2 and
// linear momentum is kept.
static double drift(int k, double h, uint64_t seed, perp_positions positions)
{
    rng r = rng_seed(seed);
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, O);
    perp_body body[2];
    perp_body_def def[2];
    perp_vec3 at = {0.1, -0.2, 0.3}, u = random_unit(&r);
    for (int i = 0; i < 2; i++) {
        def[i] = space_body(1.0 + i, (perp_vec3){0.2, 0.3, 0.4}, random_vector(&r, 0.5));
        def[i].rotation_WB = space_turn(random_unit(&r), rng_uniform(&r, -3.0, 3.0));
        def[i].velocity_W = random_vector(&r, 1.0);
        def[i].omega_W = random_vector(&r, 2.0);
        body[i] = perp_builder_add_body(p.builder, &def[i]);
    }
    perp_joint_def joint =
        space_joint(kinds[k].kind, body[0],
                    space_unrotate(def[0].rotation_WB, space_sub(at, def[0].position_W)), body[1],
                    space_unrotate(def[1].rotation_WB, space_sub(at, def[1].position_W)),
                    space_unrotate(def[0].rotation_WB, u));
    joint.pitch = 0.1;
    if (kinds[k].kind == PERP_JOINT_DISTANCE) {
        joint.anchor_B = space_add(joint.anchor_B, space_unrotate(def[1].rotation_WB, u));
        joint.length = 1.0;
    }
    perp_joint handle = perp_builder_add_joint(p.builder, &joint);
    p.def.positions = positions;
    plane_start(&p);
    perp_vec3 momentum = space_add(def[0].velocity_W, space_scale(2.0, def[1].velocity_W));
    double worst = 0.0;
    for (int i = 0; i * h < 0.5; i++) {
        plane_step(&p, h);
        worst = fmax(worst, perp_sim_joint(p.sim, handle).error);
        perp_vec3 now = space_add(perp_sim_body_twist(p.sim, body[0]).v_W,
                                  space_scale(2.0, perp_sim_body_twist(p.sim, body[1]).v_W));
        CHECK(space_length(space_sub(now, momentum)) < 1e-12, seed);
    }
    assert_true(p.worst.momentum < 1e-12);
    plane_close(&p);
    return worst;
}

static void joints_stay_closed(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        double coarse = 0.0, fine = 0.0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            coarse = fmax(coarse, drift(k, 0.008, seed, PERP_POSITIONS_LINEAR));
            fine = fmax(fine, drift(k, 0.004, seed, PERP_POSITIONS_LINEAR));
        }
        print_message("%s: open by %.1e at 8 ms, %.1e at 4 ms\n", kinds[k].name, coarse, fine);
        assert_true(coarse < 2e-3);
        assert_true(fine < 0.35 * coarse || fine < 1e-12);
    }
}

// Exact positions: closed where the step ends, whatever the step.
static void joints_close_exactly(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        double worst = 0.0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            worst = fmax(worst, drift(k, 0.02, seed, PERP_POSITIONS_EXACT));
        }
        print_message("%s: open by %.1e at 20 ms with exact positions\n", kinds[k].name, worst);
        assert_true(worst < 1e-9);
    }
}

// ── Coordinates ──────────────────────────────────────────────────────────────────────────────────

typedef struct machine {
    plane p;
    perp_body body;
    perp_joint joint;
} machine;

// A body on the ground by one joint about or along z, at the origin; m 2, I 0.3 about every axis.
static perp_joint_def open_machine(machine *m, perp_joint_kind kind, perp_vec3 v, perp_vec3 w)
{
    *m = (machine){0};
    plane_open(&m->p);
    perp_builder_set_gravity(m->p.builder, O);
    perp_body_def def = space_body(2.0, (perp_vec3){0.3, 0.3, 0.3}, O);
    def.velocity_W = v;
    def.omega_W = w;
    m->body = perp_builder_add_body(m->p.builder, &def);
    return space_joint(kind, PLANE_GROUND, O, m->body, O, Z);
}

static void start_machine(machine *m, const perp_joint_def *joint)
{
    m->joint = perp_builder_add_joint(m->p.builder, joint);
    m->p.def.tolerance = 1e-12;
    plane_start(&m->p);
}

static void check_coordinate(perp_joint_kind kind, perp_vec3 v, perp_vec3 w, double rate)
{
    machine m;
    perp_joint_def joint = open_machine(&m, kind, v, w);
    joint.pitch = 0.25;
    joint.axis_B = kind == PERP_JOINT_UNIVERSAL ? X : O;
    start_machine(&m, &joint);
    space_near(perp_sim_joint(m.p.sim, m.joint).coordinate, 0.0, 1e-12, "coordinate at the start");
    plane_run(&m.p, 0.01, 500);  // many turns
    perp_joint_state s = perp_sim_joint(m.p.sim, m.joint);
    space_near(s.coordinate, 5.0 * rate, 1e-9, "coordinate");
    space_near(s.rate, rate, 1e-10, "rate");
    plane_close(&m.p);
}

static void coordinates(void **state)
{
    (void)state;
    perp_vec3 v = {0.0, 0.0, 0.4}, w = {0.0, 0.0, 3.0};
    check_coordinate(PERP_JOINT_REVOLUTE, O, w, 3.0);
    check_coordinate(PERP_JOINT_PRISMATIC, v, O, 0.4);
    check_coordinate(PERP_JOINT_CYLINDRICAL, v, w, 0.4);
    check_coordinate(PERP_JOINT_POINT_ON_LINE, v, O, 0.4);
    check_coordinate(PERP_JOINT_UNIVERSAL, O, w, 3.0);
    check_coordinate(PERP_JOINT_PLANAR, O, w, 3.0);
    check_coordinate(PERP_JOINT_SCREW, space_scale(0.25, w), w, 3.0);
}

// ── Limits, motors, dry friction, springs, gears ─────────────────────────────────────────────────

static void limits(void **state)
{
    (void)state;
    static const perp_joint_kind kind[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC,
                                           PERP_JOINT_CYLINDRICAL, PERP_JOINT_SCREW};
    for (int k = 0; k < 4; k++) {
        for (int bounce = 0; bounce < 2; bounce++) {
            machine m;
            perp_joint_def joint = open_machine(&m, kind[k], Z, space_scale(4.0, Z));
            joint.pitch = 0.25;
            joint.lower = -0.2;
            joint.upper = 0.5;
            joint.limit_restitution = bounce == 1 ? 1.0 : 0.0;
            start_machine(&m, &joint);
            double most = 0.0, least = 0.0, rate = 0.0;
            for (int i = 0; i < 400; i++) {
                plane_step(&m.p, 0.005);
                perp_joint_state s = perp_sim_joint(m.p.sim, m.joint);
                most = fmax(most, s.coordinate);
                least = fmin(least, s.coordinate);
                rate = s.rate;
            }
            assert_true(most < 0.5 + 1e-9 && least > -0.2 - 1e-9);
            if (bounce == 1) {  // runs to and fro for ever
                double first =
                    kind[k] == PERP_JOINT_REVOLUTE || kind[k] == PERP_JOINT_SCREW ? 4.0 : 1.0;
                space_near(fabs(rate), first, 1e-8, "rate after bounces");
            } else {
                space_near(rate, 0.0, 1e-9, "rate at the limit");
                space_near(most, 0.5, 1e-9, "limit reached");
            }
            plane_close(&m.p);
        }
    }
}

static void motors(void **state)
{
    (void)state;
    machine m;  // torque 0.6 N m on 0.3 kg m^2: 2 rad/s^2 until 1.5 rad/s
    perp_joint_def joint = open_machine(&m, PERP_JOINT_REVOLUTE, O, O);
    joint.rate = "1.5";
    joint.rate_effort = 0.6;
    start_machine(&m, &joint);
    plane_run(&m.p, 0.01, 50);
    space_near(perp_sim_body_twist(m.p.sim, m.body).w_W.z, 1.0, 1e-10, "rate after 0.5 s");
    space_near(perp_sim_joint(m.p.sim, m.joint).drive, 0.006, 1e-12, "impulse");
    plane_run(&m.p, 0.01, 50);
    space_near(perp_sim_body_twist(m.p.sim, m.body).w_W.z, 1.5, 1e-10, "rate after 1 s");
    space_near(perp_sim_joint(m.p.sim, m.joint).drive, 0.0, 1e-10, "impulse when there");
    plane_close(&m.p);

    joint = open_machine(&m, PERP_JOINT_PRISMATIC, O, O);  // a path
    joint.target = "0.3*sin(2*t)";
    start_machine(&m, &joint);
    plane_run(&m.p, 0.001, 700);
    double at = perp_sim_joint(m.p.sim, m.joint).coordinate;
    space_near(at, 0.3 * sin(1.4), 1e-5, "target");
    // m s'' along the axis, carried by the joint.
    perp_wrench impulse = perp_sim_joint(m.p.sim, m.joint).impulse_b;
    space_near(impulse.f_W.z / 0.001, -2.0 * 0.3 * 4.0 * sin(1.4), 1e-2, "force of the drive");
    plane_close(&m.p);
}

static void dry_friction(void **state)
{
    (void)state;
    machine m;  // 0.15 N m on 0.3 kg m^2: -0.5 rad/s^2
    perp_joint_def joint = open_machine(&m, PERP_JOINT_REVOLUTE, O, Z);
    joint.friction = 0.15;
    start_machine(&m, &joint);
    plane_run(&m.p, 0.01, 100);
    space_near(perp_sim_body_twist(m.p.sim, m.body).w_W.z, 0.5, 1e-10, "rate after 1 s");
    plane_run(&m.p, 0.01, 150);
    space_near(perp_sim_body_twist(m.p.sim, m.body).w_W.z, 0.0, 1e-12, "at rest");
    plane_close(&m.p);
}

static void springs_on_coordinates(void **state)
{
    (void)state;
    machine m;  // hangs at m g / k below where the spring is free
    perp_joint_def joint = open_machine(&m, PERP_JOINT_PRISMATIC, O, O);
    perp_builder_set_gravity(m.p.builder, (perp_vec3){0.0, 0.0, -G});
    joint.stiffness = 400.0;
    joint.damping = 30.0;
    joint.rest = 0.1;
    start_machine(&m, &joint);
    plane_run(&m.p, 0.01, 500);
    space_near(perp_sim_joint(m.p.sim, m.joint).coordinate, 0.1 - 2.0 * G / 400.0, 1e-9, "hangs");
    plane_close(&m.p);

    joint = open_machine(&m, PERP_JOINT_REVOLUTE, O, Z);  // oscillates with sqrt(k / I) = 2 rad/s
    joint.stiffness = 1.2;
    start_machine(&m, &joint);
    plane_run(&m.p, 1e-4, 5000);
    space_near(perp_sim_joint(m.p.sim, m.joint).coordinate, 0.5 * sin(1.0), 2e-4, "swings");
    plane_close(&m.p);
}

static void gears(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, O);
    perp_body wheel[2];
    perp_joint axle[2];
    for (int i = 0; i < 2; i++) {
        double I = i == 0 ? 0.3 : 0.05;
        perp_body_def def = space_body(1.0, (perp_vec3){I, I, I}, space_scale(i, X));
        def.omega_W = i == 0 ? space_scale(2.0, Z) : O;
        wheel[i] = perp_builder_add_body(p.builder, &def);
        perp_joint_def joint =
            space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, def.position_W, wheel[i], O, Z);
        axle[i] = perp_builder_add_joint(p.builder, &joint);
    }
    perp_joint_def gear = perp_joint_default();
    gear.kind = PERP_JOINT_GEAR;
    gear.joint_a = axle[0];
    gear.joint_b = axle[1];
    gear.ratio = 3.0;
    perp_builder_add_joint(p.builder, &gear);
    plane_start(&p);
    plane_run(&p, 0.01, 700);  // past a whole turn of either
    double a = 0.3 * 2.0 / (0.3 + 9.0 * 0.05);
    space_near(perp_sim_body_twist(p.sim, wheel[0]).w_W.z, a, 1e-10, "first wheel");
    space_near(perp_sim_body_twist(p.sim, wheel[1]).w_W.z, -3.0 * a, 1e-10, "second wheel");
    space_near(3.0 * perp_sim_joint(p.sim, axle[0]).coordinate +
                   perp_sim_joint(p.sim, axle[1]).coordinate,
               0.0, 1e-9, "angles");
    plane_close(&p);
}

// A nut on a vertical screw: a = g m p^2 / (m p^2 + I).
static void screw_falls(void **state)
{
    (void)state;
    machine m;
    perp_joint_def joint = open_machine(&m, PERP_JOINT_SCREW, O, O);
    perp_builder_set_gravity(m.p.builder, (perp_vec3){0.0, 0.0, -G});
    joint.pitch = 0.2;
    start_machine(&m, &joint);
    plane_run(&m.p, 0.01, 100);
    double a = G * 2.0 * 0.04 / (2.0 * 0.04 + 0.3);
    space_near(perp_sim_body_twist(m.p.sim, m.body).v_W.z, -a, 1e-9, "speed after 1 s");
    space_near(perp_sim_body_position(m.p.sim, m.body).z,
               0.2 * perp_sim_joint(m.p.sim, m.joint).coordinate, 1e-9, "pitch");
    plane_close(&m.p);
}

// ── Reactions and redundancy ─────────────────────────────────────────────────────────────────────

// A bar welded to the ground at its end carries its weight and m g L / 2.
static void cantilever(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_body(2.0, (perp_vec3){0.01, 0.2, 0.2}, (perp_vec3){0.5, 0.0, 0.0});
    perp_body bar = perp_builder_add_body(p.builder, &def);
    perp_joint_def weld =
        space_joint(PERP_JOINT_WELD, PLANE_GROUND, O, bar, (perp_vec3){-0.5, 0.0, 0.0}, Z);
    perp_joint wall = perp_builder_add_joint(p.builder, &weld);
    plane_start(&p);
    plane_run(&p, 0.01, 20);
    perp_wrench r = perp_sim_joint(p.sim, wall).impulse_b;
    near3(r.f_W, (perp_vec3){0.0, 0.0, 2.0 * G * 0.01}, 1e-12, "force");
    // About the centre of mass: the couple of the wall, -m g L/2 about y, and the force at the end
    // cancel, for nothing turns.
    near3(r.tau_W, O, 1e-12, "torque about the centre of mass");
    plane_close(&p);
}

// The same joint twice: all its rows are redundant, both carry half.
static void redundant_joints(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_body(2.0, (perp_vec3){0.1, 0.2, 0.2}, O);
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_joint joint[2];
    for (int i = 0; i < 2; i++) {
        perp_joint_def weld = space_joint(PERP_JOINT_WELD, PLANE_GROUND, O, body, O, Z);
        joint[i] = perp_builder_add_joint(p.builder, &weld);
    }
    plane_start(&p);
    plane_run(&p, 0.01, 3);
    assert_int_equal(perp_sim_info(p.sim)->joint_rows, 12);
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 6);
    bool named = false;
    for (int i = 0; i < 2; i++) {
        perp_joint_state s = perp_sim_joint(p.sim, joint[i]);
        space_near(s.impulse_b.f_W.z, G * 0.01, 1e-10, "half of the weight");
        named = named || s.redundant;
    }
    assert_true(named);
    plane_close(&p);
}

// ── Driven bodies ────────────────────────────────────────────────────────────────────────────────

static const char *const path[] = {"0.3*sin(t)", "0.1*t^2",      "0.2*cos(3*t)",
                                   "0.5*t",      "0.4*sin(2*t)", "t^2"};

static perp_body add_driven(plane *p)
{
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL;
    def.motion = PERP_MOTION_KINEMATIC;
    def.rotation_WB = space_turn((perp_vec3){1.0, 2.0, -1.0}, 0.8);
    def.motion_x = path[0];
    def.motion_y = path[1];
    def.motion_z = path[2];
    def.motion_rx = path[3];
    def.motion_ry = path[4];
    def.motion_angle = path[5];
    return perp_builder_add_body(p->builder, &def);
}

static perp_quat path_rotation(double t)
{
    perp_quat x = space_turn(X, 0.5 * t), y = space_turn(Y, 0.4 * sin(2.0 * t)),
              z = space_turn(Z, t * t);
    return space_mul(space_mul(z, space_mul(y, x)), space_turn((perp_vec3){1.0, 2.0, -1.0}, 0.8));
}

// Pose as written, velocity its derivative; a body welded to it goes along, and the drive feels it.
static void driven_pose(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body hand = add_driven(&p);
    perp_pose X0 = {{0.0, 0.0, 0.2}, path_rotation(0.0)};
    perp_body_def def = space_body(0.7, (perp_vec3){0.01, 0.02, 0.03},
                                   space_add(X0.p, space_rotate(X0.rot, (perp_vec3){0.1, 0, 0})));
    def.rotation_WB = X0.rot;
    perp_body tool = perp_builder_add_body(p.builder, &def);
    perp_joint_def weld =
        space_joint(PERP_JOINT_WELD, hand, (perp_vec3){0.1, 0.0, 0.0}, tool, O, Z);
    perp_builder_add_joint(p.builder, &weld);
    plane_start(&p);
    double h = 1e-4;
    plane_run(&p, h, 6999);
    perp_vec3 before = perp_sim_body_twist(p.sim, tool).v_W;
    plane_step(&p, h);
    double t = 0.7, eps = 1e-5;
    perp_pose pose = perp_sim_body_pose(p.sim, hand);
    perp_twist V = perp_sim_body_twist(p.sim, hand);
    near3(pose.p, (perp_vec3){0.3 * sin(t), 0.1 * t * t, 0.2 * cos(3.0 * t)}, 1e-9, "position");
    near3(V.v_W, (perp_vec3){0.3 * cos(t), 0.2 * t, -0.6 * sin(3.0 * t)}, 1e-9, "velocity");
    for (int i = 0; i < 3; i++) {
        perp_vec3 e = {i == 0, i == 1, i == 2};
        near3(space_rotate(pose.rot, e), space_rotate(path_rotation(t), e), 1e-9, "rotation");
        perp_vec3 rate = space_scale(0.5 / eps, space_sub(space_rotate(path_rotation(t + eps), e),
                                                          space_rotate(path_rotation(t - eps), e)));
        near3(space_cross(V.w_W, space_rotate(pose.rot, e)), rate, 1e-8, "angular velocity");
    }
    near3(perp_sim_body_position(p.sim, tool), space_point_at(&p, hand, (perp_vec3){0.1, 0, 0}),
          1e-6, "the tool");
    // The hand is pushed by what accelerates the tool and carries its weight.
    perp_vec3 a = space_scale(1.0 / h, space_sub(perp_sim_body_twist(p.sim, tool).v_W, before));
    perp_vec3 need = space_scale(0.7, space_add(a, (perp_vec3){0.0, 0.0, G}));
    near3(space_scale(1.0 / h, perp_sim_body_drive_impulse(p.sim, hand).f_W), need, 1e-6,
          "force needed");
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_project),
        cmocka_unit_test(joints_stay_closed),
        cmocka_unit_test(joints_close_exactly),
        cmocka_unit_test(coordinates),
        cmocka_unit_test(limits),
        cmocka_unit_test(motors),
        cmocka_unit_test(dry_friction),
        cmocka_unit_test(springs_on_coordinates),
        cmocka_unit_test(gears),
        cmocka_unit_test(screw_falls),
        cmocka_unit_test(cantilever),
        cmocka_unit_test(redundant_joints),
        cmocka_unit_test(driven_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
