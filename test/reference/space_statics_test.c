// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial contact: loads, limits of equilibrium, mass ratios, impacts, discs, jams.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0},
                       Z = {0.0, 0.0, 1.0};

// ── Stacks ───────────────────────────────────────────────────────────────────────────────────────

enum { STACK_MOST = 10 };

typedef struct stack {
    plane p;
    int count;
    perp_shape floor, shape[STACK_MOST];
    perp_body box[STACK_MOST];
} stack;

// Boxes of 0.2 x 0.2 x 0.2 m and 1 kg, the top one of `top` kg.
static void open_stack(stack *s, int count, double top)
{
    *s = (stack){.count = count};
    plane_open(&s->p);
    perp_vec3 half = {0.1, 0.1, 0.1};
    for (int i = 0; i < count; i++) {
        double mass = i == count - 1 ? top : 1.0;
        perp_body_def def =
            space_body(mass, space_box_inertia(mass, half), (perp_vec3){0.0, 0.0, 0.1 + 0.2 * i});
        s->box[i] = perp_builder_add_body(s->p.builder, &def);
        s->shape[i] = space_box(&s->p, s->box[i], half, 0.5);
    }
    s->floor = space_halfspace(&s->p, PLANE_GROUND, Z, 0.0, 0.5);
}

static double drift(const stack *s)
{
    double most = 0.0;
    for (int i = 0; i < s->count; i++) {
        perp_vec3 x = perp_sim_body_position(s->p.sim, s->box[i]);
        most = fmax(most, space_length(space_sub(x, (perp_vec3){0.0, 0.0, 0.1 + 0.2 * i})));
    }
    return most;
}

// The force between two boxes is the weight above.
static void stack_forces(void **state)
{
    (void)state;
    static const double ratio[] = {1.0, 1e3, 1e6};
    for (int r = 0; r < 3; r++) {
        stack s;
        open_stack(&s, 5, ratio[r]);
        s.p.def.tolerance = ratio[r] > 1e4 ? 1e-8 : 1e-11;
        s.p.def.limits.complementarity = 1e-9 * ratio[r] + 1e-6;  // 1 J moves 1e6 kg by little
        plane_start(&s.p);
        plane_run(&s.p, 0.01, 20);
        for (int i = 0; i < 5; i++) {
            double above = (4 - i + ratio[r]) * G;
            double found = plane_pn(&s.p, i == 0 ? s.floor : s.shape[i - 1], s.shape[i]) / 0.01;
            space_near(found / above, 1.0, 1e-7, "force over weight");
        }
        print_message("stack of 5, top %g: overlap %.1e m, moved %.1e m\n", ratio[r], s.p.worst.gap,
                      drift(&s));
        assert_true(s.p.inexact == 0 && s.p.worst.gap < 1e-9 && !s.p.unique);
        plane_close(&s.p);
    }
}

static void heavy_on_light(void **state)
{
    (void)state;
    stack s;
    open_stack(&s, 2, 1e4);
    plane_start(&s.p);
    plane_run(&s.p, 0.01, 200);
    print_message("10 000 on 1 kg: overlap %.1e m, moved %.1e m in 2 s\n", s.p.worst.gap,
                  drift(&s));
    assert_true(s.p.worst.gap < 1e-9 && drift(&s) < 1e-9);
    plane_close(&s.p);
}

// Ten boxes, the top one a thousand times heavier; 60 s take a while, 5 s are looked at here.
static void heavy_stack_stands(void **state)
{
    (void)state;
    stack s;
    open_stack(&s, 10, 1e3);
    plane_start(&s.p);
    plane_run(&s.p, 0.01, 500);
    print_message("ten with 1000 on top: overlap %.1e m, moved %.1e m in 5 s\n", s.p.worst.gap,
                  drift(&s));
    assert_true(s.p.inexact == 0 && s.p.worst.gap < 1e-8 && drift(&s) < 1e-7);
    plane_close(&s.p);
}

// A table on four legs: each load may be anything from 0 to half the weight.
static void table_loads(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_body(4.0, (perp_vec3){1.0, 1.0, 1.0}, (perp_vec3){0.0, 0.0, 0.7});
    perp_body table = perp_builder_add_body(p.builder, &def);
    perp_shape ground = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        perp_vec3 foot = {i % 2 == 0 ? -0.5 : 0.5, i < 2 ? -0.5 : 0.5, -0.7};
        space_contact(&p, ground, space_point(&p, table, foot), 0.5, 0, O);
    }
    perp_builder_set_listed_only(p.builder, true);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_step(&p, 0.01);
    int count;
    const perp_contact *c = perp_sim_contacts(p.sim, &count);
    assert_int_equal(count, 4);
    assert_false(perp_sim_info(p.sim)->unique);
    int columns, rank;
    assert_int_equal(perp_sim_active_set(p.sim, &columns, &rank), PERP_OK);
    assert_int_equal(columns, 12);
    assert_int_equal(rank, 6);
    for (int i = 0; i < 4; i++) {
        double least, most;
        assert_int_equal(perp_sim_load_range(p.sim, i, &least, &most), PERP_OK);
        space_near(least, 0.0, 1e-9, "least load");
        space_near(most, 0.5 * 4.0 * G * 0.01, 1e-9, "largest load");
        assert_true(c[i].pn >= least - 1e-9 && c[i].pn <= most + 1e-9);
    }
    plane_close(&p);
}

// Three legs determine the load: the ranges are points.
static void tripod_loads(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_body(3.0, (perp_vec3){1.0, 1.0, 1.0}, (perp_vec3){0.1, 0.0, 0.7});
    perp_body stool = perp_builder_add_body(p.builder, &def);
    perp_shape ground = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    for (int i = 0; i < 3; i++) {
        double angle = 2.0 * PI * i / 3.0;
        space_contact(&p, ground,
                      space_point(&p, stool, (perp_vec3){cos(angle) - 0.1, sin(angle), -0.7}), 0.0,
                      0, O);
    }
    perp_builder_set_listed_only(p.builder, true);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_step(&p, 0.01);
    int count;
    const perp_contact *c = perp_sim_contacts(p.sim, &count);
    // Moments about the centre of the feet: 0.1 m towards the first.
    const double want[] = {(1.0 + 0.2) / 3.0, (1.0 - 0.1) / 3.0, (1.0 - 0.1) / 3.0};
    for (int i = 0; i < 3; i++) {
        double least, most;
        assert_int_equal(perp_sim_load_range(p.sim, i, &least, &most), PERP_OK);
        space_near(c[i].pn, want[i] * 3.0 * G * 0.01, 1e-10, "load");
        space_near(least, c[i].pn, 1e-9, "least");
        space_near(most, c[i].pn, 1e-9, "most");
    }
    assert_true(perp_sim_info(p.sim)->unique);
    plane_close(&p);
}

// ── Limits of equilibrium ────────────────────────────────────────────────────────────────────────

// A rod that leans against a wall, in a vertical plane turned by `turn`; speed after some steps.
static double ladder_speed(double theta, double mu_floor, double mu_wall, double turn)
{
    plane p = {0};
    plane_open(&p);
    perp_vec3 out = {cos(turn), sin(turn), 0.0};  // away from the wall
    perp_body_def def =
        space_body(1.0, (perp_vec3){1e-4, 1.0 / 12.0, 1.0 / 12.0},
                   space_add(space_scale(0.5 * cos(theta), out), space_scale(0.5 * sin(theta), Z)));
    // x of the rod points from the foot to the top.
    def.rotation_WB =
        space_mul(space_turn(Z, turn), space_mul(space_turn(Z, PI), space_turn(Y, -theta)));
    perp_body rod = perp_builder_add_body(p.builder, &def);
    perp_shape ground = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    perp_shape wall = space_halfspace(&p, PLANE_GROUND, out, 0.0, 0.0);
    space_contact(&p, ground, space_point(&p, rod, (perp_vec3){-0.5, 0.0, 0.0}), mu_floor, 0, O);
    space_contact(&p, wall, space_point(&p, rod, (perp_vec3){0.5, 0.0, 0.0}), mu_wall, 0, O);
    perp_builder_set_listed_only(p.builder, true);
    p.def.tolerance = 1e-13;
    plane_start(&p);
    plane_run(&p, 0.005, 4);
    double speed = space_length(perp_sim_body_twist(p.sim, rod).v_W);
    plane_close(&p);
    return speed;
}

static void ladder(void **state)
{
    (void)state;
    static const double mu[][2] = {{0.4, 0.0}, {0.3, 0.3}, {0.5, 0.2}};
    for (int i = 0; i < 3; i++) {
        double limit = atan((1.0 - mu[i][0] * mu[i][1]) / (2.0 * mu[i][0]));
        double turn = 0.7 * i;
        double above = ladder_speed(limit + 1e-4, mu[i][0], mu[i][1], turn);
        double below = ladder_speed(limit - 1e-4, mu[i][0], mu[i][1], turn);
        print_message("ladder %.4f deg: %.1e m/s above, %.1e m/s below\n", limit * 180.0 / PI,
                      above, below);
        assert_true(above < 1e-10 && below > 1e-7);
    }
}

// Two soft fingers hold a bar 0.02 m from its centre of mass. Sliding and torsion have limits of their own:
// F >= m g / (2 mu) and F >= m g d / (2 mu_spin).
static double bar_speed(double force, double d)
{
    plane p = {0};
    char push[2][40];
    plane_open(&p);
    perp_body_def def =
        space_body(0.5, (perp_vec3){0.002, 0.0001, 0.002}, (perp_vec3){d, 0.0, 0.0});
    perp_body bar = perp_builder_add_body(p.builder, &def);
    for (int i = 0; i < 2; i++) {
        double side = i == 0 ? 1.0 : -1.0;
        perp_body_def tip =
            space_body(0.1, (perp_vec3){1e-4, 1e-4, 1e-4}, (perp_vec3){0.0, 0.0, 0.0});
        tip.position_W.y = 0.03 * side;
        perp_body finger = perp_builder_add_body(p.builder, &tip);
        perp_joint_def slide = space_joint(PERP_JOINT_PRISMATIC, PLANE_GROUND, O, finger, O, Y);
        slide.anchor_A = tip.position_W;
        perp_builder_add_joint(p.builder, &slide);
        perp_contact_def contact = perp_contact_default();
        contact.a = space_halfspace(&p, bar, (perp_vec3){0.0, side, 0.0}, 0.01, 0.0);
        perp_shape_def sphere = perp_shape_default();
        sphere.kind = PERP_SHAPE_SPHERE;
        sphere.radius = 0.02;
        contact.b = perp_builder_add_shape(p.builder, finger, &sphere);
        contact.mu = 0.6;
        contact.mu_spin = 0.006;
        contact.facets = 0;
        perp_builder_add_contact(p.builder, &contact);
        perp_force_def squeeze = perp_force_default();
        squeeze.kind = PERP_FORCE_WRENCH;
        squeeze.b = finger;
        snprintf(push[i], sizeof push[i], "%.17g", -side * force);
        squeeze.fy = push[i];
        perp_builder_add_force(p.builder, &squeeze);
    }
    perp_builder_set_listed_only(p.builder, true);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.002, 10);
    perp_twist V = perp_sim_body_twist(p.sim, bar);
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
    return space_length(V.v_W) + 0.02 * space_length(V.w_W);
}

static void gripper(void **state)
{
    (void)state;
    double slide = 0.5 * G / (2.0 * 0.6), turn = 0.5 * G * 0.02 / (2.0 * 0.006);
    print_message("gripper: %.4f N against sliding, %.4f N against turning\n", slide, turn);
    assert_true(bar_speed(turn * (1.0 + 1e-5), 0.02) < 1e-9);
    assert_true(bar_speed(turn * (1.0 - 1e-3), 0.02) > 1e-6);
    assert_true(bar_speed(slide * (1.0 + 1e-5), 0.0) < 1e-9);
    assert_true(bar_speed(slide * (1.0 - 1e-3), 0.0) > 1e-6);
}

// A tall box on a slope tips at tan = width / height and slides at tan = mu.
static void tips_or_slides(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        double mu = k < 2 ? 0.6 : 0.3, limit = k < 2 ? 0.4 : 0.3;
        double slope = atan(limit) * (k % 2 == 0 ? 0.999 : 1.001);
        plane p = {0};
        plane_open(&p);
        perp_vec3 half = {0.2, 0.3, 0.5};
        perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), (perp_vec3){0, 0, 0.5});
        perp_body box = perp_builder_add_body(p.builder, &def);
        space_box(&p, box, half, mu);
        space_halfspace(&p, PLANE_GROUND, Z, 0.0, mu);
        perp_builder_set_gravity(p.builder, (perp_vec3){G * sin(slope), 0.0, -G * cos(slope)});
        p.def.tolerance = 1e-12;
        plane_start(&p);
        plane_run(&p, 0.005, 40);
        perp_twist V = perp_sim_body_twist(p.sim, box);
        if (k % 2 == 0) {
            assert_true(space_length(V.v_W) < 1e-10 && space_length(V.w_W) < 1e-10);
        } else if (k == 1) {
            assert_true(V.w_W.y > 1e-4);
        } else {
            assert_true(V.v_W.x > 1e-4 && fabs(V.w_W.y) < 1e-8);
        }
        plane_close(&p);
    }
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// A block lands on two more corners from rocking about two: Housner's 1 - 3/2 sin^2 alpha.
static void rocking_block(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    double b = 0.2, height = 1.0, alpha = atan(b / height), tilt = 1e-6, r = hypot(b, height);
    perp_vec3 half = {b, 0.3, height};
    // Tilted about the y edge at x = +b, falling back: omega about y is negative.
    perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), O);
    def.rotation_WB = space_turn(Y, tilt);
    def.position_W = (perp_vec3){-r * sin(alpha - tilt), 0.0, r * cos(alpha - tilt)};
    def.omega_W = (perp_vec3){0.0, -1.0, 0.0};
    def.velocity_W = space_cross(def.omega_W, def.position_W);
    perp_body block = perp_builder_add_body(p.builder, &def);
    space_box(&p, block, half, 5.0);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 5.0);
    perp_builder_set_gravity(p.builder, O);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 1e-4, 3);
    perp_twist V = perp_sim_body_twist(p.sim, block);
    space_near(-V.w_W.y, 1.0 - 1.5 * sin(alpha) * sin(alpha), 1e-3, "rate after landing");
    plane_close(&p);
}

// Restitution between spheres, head on along a skew line: momentum and e.
static void bounce(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, O);
    perp_vec3 n = {2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0};
    perp_body ball[2];
    for (int i = 0; i < 2; i++) {
        double mass = i == 0 ? 1.0 : 3.0, I = 0.4 * mass * 0.01;
        perp_body_def def =
            space_body(mass, (perp_vec3){I, I, I}, space_scale(i == 0 ? -0.105 : 0.105, n));
        def.velocity_W = i == 0 ? space_scale(2.0, n) : O;
        ball[i] = perp_builder_add_body(p.builder, &def);
        perp_shape_def sphere = perp_shape_default();
        sphere.kind = PERP_SHAPE_SPHERE;
        sphere.radius = 0.1;
        sphere.restitution = 0.5;
        perp_builder_add_shape(p.builder, ball[i], &sphere);
    }
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.001, 30);
    perp_vec3 v0 = perp_sim_body_twist(p.sim, ball[0]).v_W,
              v1 = perp_sim_body_twist(p.sim, ball[1]).v_W;
    space_near(space_dot(space_sub(v1, v0), n), 0.5 * 2.0, 1e-9, "parting speed");
    space_near(space_dot(space_add(v0, space_scale(3.0, v1)), n), 2.0, 1e-9, "momentum");
    plane_close(&p);
}

// ── Discs ────────────────────────────────────────────────────────────────────────────────────────

// A disc or hoop made of equal particles, each of which carries its own weight: they move up and down on a
// light frame. Returns v / (R w) just before both stop.
static double last_ratio(int rings, double R)
{
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_body(1e-3, (perp_vec3){1e-6, 1e-6, 1e-6}, O);
    def.velocity_W = X;
    def.omega_W = (perp_vec3){0.0, 0.0, 8.0};
    perp_body frame = perp_builder_add_body(p.builder, &def);
    perp_joint_def flat = space_joint(PERP_JOINT_PLANAR, PLANE_GROUND, O, frame, O, Z);
    perp_builder_add_joint(p.builder, &flat);
    perp_shape ground = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    for (int ring = rings == 0 ? 0 : 1; ring <= rings; ring++) {
        // Rings of equal width, points in proportion to the area, at the radius of gyration; rings 0: the rim.
        double r = rings == 0 ? R : R * sqrt(0.5 * (ring * ring + (ring - 1) * (ring - 1))) / rings;
        int points = rings == 0 ? 16 : 6 * ring - 3;
        for (int i = 0; i < points; i++) {
            double angle = 2.0 * PI * (i + 0.5 * ring) / points;
            perp_vec3 at = {r * cos(angle), r * sin(angle), 0.0};
            perp_body_def grain = space_particle(0.05, at);
            grain.velocity_W = space_add(X, space_cross(def.omega_W, at));
            perp_body body = perp_builder_add_body(p.builder, &grain);
            perp_joint_def guide = space_joint(PERP_JOINT_POINT_ON_LINE, frame, at, body, O, Z);
            perp_builder_add_joint(p.builder, &guide);
            space_contact(&p, ground, space_point(&p, body, O), 0.25, 0, O);
        }
    }
    perp_builder_set_listed_only(p.builder, true);
    plane_start(&p);
    double ratio = 0.0;
    for (int i = 0; i < 500 && ratio == 0.0; i++) {
        plane_step(&p, 0.004);
        perp_twist V = perp_sim_body_twist(p.sim, frame);
        double v = hypot(V.v_W.x, V.v_W.y);
        ratio = v < 0.02 ? v / (R * V.w_W.z) : 0.0;
    }
    plane_close(&p);
    return ratio;
}

static void discs_stop(void **state)
{
    (void)state;
    double hoop = last_ratio(0, 0.2), disc = last_ratio(4, 0.2);
    print_message("terminal ratio: hoop %.4f (1), disc %.4f (0.653)\n", hoop, disc);
    space_near(hoop, 1.0, 0.001, "hoop");
    space_near(disc, 0.653, 0.012, "disc");
}

// ── Drives ───────────────────────────────────────────────────────────────────────────────────────

// A block pushed at constant speed by a frictionless driven particle: m v / h, then mu m g.
static void pushing_force(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.2, 0.2, 0.1};
    perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), (perp_vec3){0, 0, 0.1});
    perp_body box = perp_builder_add_body(p.builder, &def);
    space_box(&p, box, half, 0.4);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.4);
    perp_body_def finger = space_particle(0.0, O);
    finger.motion = PERP_MOTION_KINEMATIC;
    finger.motion_x = "-0.2 + 0.12*t";
    finger.motion_y = "0.16*t";
    finger.motion_z = "0.02";
    perp_body pusher = perp_builder_add_body(p.builder, &finger);
    space_point(&p, pusher, O);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_step(&p, 0.01);
    // Only the part along the face's normal x is pushed: the point is frictionless.
    space_near(-perp_sim_body_drive_impulse(p.sim, pusher).f_W.x / 0.01,
               -(2.0 * 0.12 / 0.01 + 0.8 * G), 1e-6, "first force");
    for (int i = 0; i < 20; i++) {
        plane_step(&p, 0.01);
    }
    perp_twist V = perp_sim_body_twist(p.sim, box);
    space_near(V.v_W.x, 0.12, 1e-2, "speed");
    plane_close(&p);
}

// Between a wall and an advancing ram there is no answer: said, and the state kept.
static void jam(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.1, 0.1, 0.1};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), (perp_vec3){0, 0, 0.1});
    def.name = "crate";
    space_box(&p, perp_builder_add_body(p.builder, &def), half, 0.3);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.3);
    space_halfspace(&p, PLANE_GROUND, (perp_vec3){-1.0, 0.0, 0.0}, -0.1, 0.3);
    perp_body_def ram = perp_body_default();
    ram.kind = PERP_BODY_SPATIAL;
    ram.motion = PERP_MOTION_KINEMATIC;
    ram.name = "ram";
    ram.motion_x = "-0.205 + 0.1*t";
    ram.motion_z = "0.1";
    perp_body body = perp_builder_add_body(p.builder, &ram);
    space_box(&p, body, half, 0.3);
    plane_start(&p);
    perp_status status = PERP_OK;
    uint64_t before = 0;
    int steps = 0;
    for (; steps < 40 && status >= 0; steps++) {
        before = perp_sim_state_hash(p.sim);
        status = perp_sim_step(p.sim, 0.01);
    }
    print_message("jam after %d steps: %s\n", steps, perp_sim_error(p.sim)->text);
    assert_true(steps > 3);
    assert_int_equal(status, PERP_ERR_INFEASIBLE);
    assert_non_null(strstr(perp_sim_error(p.sim)->text, "crate - ram"));
    assert_true(perp_sim_state_hash(p.sim) == before);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_forces),
        cmocka_unit_test(heavy_on_light),
        cmocka_unit_test(heavy_stack_stands),
        cmocka_unit_test(table_loads),
        cmocka_unit_test(tripod_loads),
        cmocka_unit_test(ladder),
        cmocka_unit_test(gripper),
        cmocka_unit_test(tips_or_slides),
        cmocka_unit_test(rocking_block),
        cmocka_unit_test(bounce),
        cmocka_unit_test(discs_stop),
        cmocka_unit_test(pushing_force),
        cmocka_unit_test(jam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
