// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Things at rest, and where rest ends: ladders, tipping, stacks, creep, mass ratios, jams.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81, HALF_PI = 1.57079632679489661923;

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

// ── Ladder ───────────────────────────────────────────────────────────────────────────────────────

// Foot on the floor at (cos theta, 0), head on the wall at (0, sin theta).
static perp_body ladder(plane *p, double theta, double mu_floor, double mu_wall)
{
    double L = 1.0;
    plane_open(p);
    perp_builder_set_listed_only(p->builder, true);
    perp_shape floor = plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
    perp_shape wall = plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, -HALF_PI, 0.0);
    perp_body_def def =
        plane_body(1.0, L * L / 12.0, 0.5 * L * cos(theta), 0.5 * L * sin(theta), -theta);
    perp_body rod = perp_builder_add_body(p->builder, &def);
    plane_contact(p, floor, plane_point(p, rod, 0.5 * L, 0.0), mu_floor);
    plane_contact(p, wall, plane_point(p, rod, -0.5 * L, 0.0), mu_wall);
    plane_start(p);
    return rod;
}

// Slips below tan(theta) = (1 - mu_f mu_w)/(2 mu_f).
static void ladder_slips(void **state)
{
    (void)state;
    static const double mu[][2] = {{0.4, 0.0}, {0.3, 0.3}, {0.5, 0.2}};
    for (int i = 0; i < 3; i++) {
        double critical = atan((1.0 - mu[i][0] * mu[i][1]) / (2.0 * mu[i][0]));
        plane p = {0};
        perp_body rod = ladder(&p, critical + 1e-5, mu[i][0], mu[i][1]);
        plane_run(&p, 0.01, 50);
        near(plane_spin(&p, rod), 0.0, 1e-13, "spin of a ladder that stands");
        plane_close(&p);
        rod = ladder(&p, critical - 1e-5, mu[i][0], mu[i][1]);
        plane_run(&p, 0.01, 50);
        assert_true(plane_spin(&p, rod) > 1e-6);
        plane_close(&p);
    }
}

// Without friction from 1.2 rad: leaves the wall when sin(theta) = 2/3 sin(theta0).
static void ladder_leaves_wall(void **state)
{
    (void)state;
    double t[2], theta[2];
    for (int i = 0; i < 2; i++) {
        double h = 0.002 / (1 << i);
        int steps = 0, count;
        plane p = {0};
        perp_body rod = ladder(&p, 1.2, 0.0, 0.0);
        do {
            plane_step(&p, h);
            steps++;
        } while (perp_sim_contacts(p.sim, &count)[1].pn > 0.0 && steps < 1000);
        t[i] = steps * h;
        theta[i] = -perp_sim_body_angle(p.sim, rod);
        plane_close(&p);
    }
    near(theta[0], 0.6604710081463036, 1e-9, "angle of the scheme, h = 2 ms");
    near(theta[1], 0.6650406190491759, 1e-9, "angle of the scheme, h = 1 ms");
    near(t[1], 0.407707335855738, 2e-3, "time");
    near(2.0 * theta[1] - theta[0], 0.6704764784266558, 2e-3, "angle");
}

// omega^2 = (12 g/L) (sin th0 - sin th)/(1 + 3 cos^2 th); the centre falls straight down.
static void rod_falls(void **state)
{
    (void)state;
    double omega[2], t[2];
    for (int i = 0; i < 2; i++) {
        double h = 2e-4 / (1 << i), last = 0.0;
        int steps = 0;
        plane p = {0};
        perp_body rod;
        plane_open(&p);
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
        perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, 1.0);
        double x = def.position_W.x;
        rod = perp_builder_add_body(p.builder, &def);
        perp_shape_def segment = perp_shape_default();
        segment.kind = PERP_SHAPE_SEGMENT;
        segment.half.x = 0.5;
        segment.mu = 0.0;
        perp_builder_add_shape(p.builder, rod, &segment);
        plane_start(&p);
        while (perp_sim_body_angle(p.sim, rod) > 0.0 && steps < 10000) {
            last = plane_spin(&p, rod);
            plane_step(&p, h);
            steps++;
            if (perp_sim_body_angle(p.sim, rod) < 1e-6) {
                break;
            }
        }
        near(perp_sim_body_position(p.sim, rod).x, x, 1e-12, "centre");
        omega[i] = -last;
        t[i] = steps * h;
        plane_close(&p);
    }
    near(t[1], 0.3737770675882817, 3e-4, "time to fall");
    near(2.0 * omega[1] - omega[0], 4.976393381043785, 5e-3, "spin at the floor");
}

// ── Tipping ──────────────────────────────────────────────────────────────────────────────────────

// A box 0.4 m x 1 m, 2 kg, mu 0.3, pushed at height z with a force: where it is after a while.
static void push_box(double z, double F, double *way, double *angle)
{
    char fx[40];
    snprintf(fx, sizeof fx, "%.17g", F);
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.3);
    perp_body_def def = plane_body(2.0, 2.0 * (0.16 + 1.0) / 12.0, 0.0, 0.5, 0.0);
    perp_body box = perp_builder_add_body(p.builder, &def);
    plane_box(&p, box, 0.2, 0.5, 0.3);
    perp_force_def force = perp_force_default();
    force.kind = PERP_FORCE_WRENCH;
    force.b = box;
    force.anchor_B = (perp_vec3){-0.2, z - 0.5, 0.0};
    force.fx = fx;
    perp_builder_add_force(p.builder, &force);
    plane_start(&p);
    plane_run(&p, 0.01, 30);
    *way = perp_sim_body_position(p.sim, box).x;
    *angle = perp_sim_body_angle(p.sim, box);
    plane_close(&p);
}

// Slides at F = mu m g below z = w/(2 mu), tips at F = m g w/(2 z) above.
static void tip_or_slide(void **state)
{
    (void)state;
    double way, angle, slide = 0.3 * 2.0 * G, tip = 2.0 * G * 0.4 / 2.0;  // tip: at z = 1
    push_box(0.3, slide * (1.0 - 1e-6), &way, &angle);
    assert_true(fabs(way) < 1e-12 && fabs(angle) < 1e-12);
    push_box(0.3, slide * (1.0 + 1e-3), &way, &angle);
    assert_true(way > 1e-5 && fabs(angle) < 1e-12);
    push_box(1.0, tip * (1.0 - 1e-6), &way, &angle);
    assert_true(fabs(way) < 1e-12 && fabs(angle) < 1e-12);
    push_box(1.0, tip * (1.0 + 1e-3), &way, &angle);
    assert_true(angle < -1e-5);
}

// On a slope: the 0.4 m x 1 m box tips at tan = 0.4, rough enough not to slide.
static void tips_on_slope(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        double slope = atan(0.4) + side * 1e-4;
        plane p = {0};
        plane_open(&p);
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, slope, 0.9);
        perp_body_def def =
            plane_body(2.0, 2.0 * 1.16 / 12.0, -0.5 * sin(slope), 0.5 * cos(slope), slope);
        perp_body box = perp_builder_add_body(p.builder, &def);
        plane_box(&p, box, 0.2, 0.5, 0.9);
        plane_start(&p);
        plane_run(&p, 0.01, 50);
        double turned = perp_sim_body_angle(p.sim, box) - slope;
        assert_true(side < 0 ? fabs(turned) < 1e-12 : turned > 1e-6);
        plane_close(&p);
    }
}

// ── Stacks ───────────────────────────────────────────────────────────────────────────────────────

static void stack(plane *p, int count, double top_mass, perp_body *box, perp_shape *shape)
{
    plane_open(p);
    shape[0] = plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.5);
    for (int i = 0; i < count; i++) {
        double m = i + 1 == count ? top_mass : 1.0;
        perp_body_def def = plane_body(m, m * 2.0 / 12.0, 0.0, 0.5 + i, 0.0);
        box[i] = perp_builder_add_body(p->builder, &def);
        shape[i + 1] = plane_box(p, box[i], 0.5, 0.5, 0.5);
    }
    plane_start(p);
}

// Each joint carries the weight above it, whatever the ratio of masses.
static void stack_forces(void **state)
{
    (void)state;
    static const double ratio[] = {1.0, 1e3, 1e6, 1e9};
    static const double tolerance[] = {1e-11, 1e-10, 1e-8, 1e-5};
    for (int r = 0; r < 4; r++) {
        plane p = {0};
        perp_body box[5];
        perp_shape shape[6];
        double h = 0.01;
        stack(&p, 5, ratio[r], box, shape);
        plane_run(&p, h, 20);
        for (int i = 0; i < 5; i++) {
            double weight = (4.0 - i + ratio[r]) * G;
            near(plane_pn(&p, shape[i], shape[i + 1]) / h / weight, 1.0, tolerance[r], "force");
        }
        plane_close(&p);
    }
}

// 10 000 kg on 1 kg on the floor.
static void heavy_on_light(void **state)
{
    (void)state;
    plane p = {0};
    perp_body box[2];
    perp_shape shape[3];
    stack(&p, 2, 1e4, box, shape);
    plane_run(&p, 0.01, 500);
    assert_true(p.worst.gap < 1e-9);
    near(perp_sim_body_position(p.sim, box[0]).y, 0.5, 1e-9, "light box");
    near(perp_sim_body_position(p.sim, box[1]).y, 1.5, 1e-9, "heavy box");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// n bricks of length 1, each shifted by 1/(2k) over the one below, k from the top: just stable.
static double lean(double factor, int n)
{
    plane p = {0};
    perp_body brick[8];
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.6);
    // The lowest brick overhangs a ledge: everything is placed from the edge at x = 0.
    perp_body_def ledge = plane_body(0.0, 0.0, -2.0, 0.5, 0.0);
    ledge.motion = PERP_MOTION_STATIC;
    plane_box(&p, perp_builder_add_body(p.builder, &ledge), 2.0, 0.5, 0.6);
    double x = -0.5;
    for (int i = n; i >= 1; i--) {
        x += factor / (2.0 * i);
        perp_body_def def = plane_body(1.0, (1.0 + 0.04) / 12.0, x, 1.1 + 0.2 * (n - i), 0.0);
        brick[i] = perp_builder_add_body(p.builder, &def);
        plane_box(&p, brick[i], 0.5, 0.1, 0.6);
    }
    plane_start(&p);
    plane_run(&p, 0.01, 100);
    double angle = 0.0;
    for (int i = 1; i <= n; i++) {
        angle = fmax(angle, fabs(perp_sim_body_angle(p.sim, brick[i])));
    }
    plane_close(&p);
    return angle;
}

static void brick_overhang(void **state)
{
    (void)state;
    for (int n = 1; n <= 7; n += 3) {
        assert_true(lean(0.9999, n) < 1e-10);
        assert_true(lean(1.001, n) > 1e-4);
    }
}

// ── Creep ────────────────────────────────────────────────────────────────────────────────────────

// A block that sticks on a slope does not move: 100 000 steps here, 3.6 million in docs/validation.md.
static void no_creep(void **state)
{
    (void)state;
    double slope = 0.4, x0 = -0.25 * sin(slope), y0 = 0.25 * cos(slope);
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, slope, 0.5);
    perp_body_def def = plane_body(2.0, 2.0 * 1.25 / 12.0, x0, y0, slope);
    perp_body block = perp_builder_add_body(p.builder, &def);
    plane_box(&p, block, 0.5, 0.25, 0.5);
    plane_start(&p);
    plane_run(&p, 0.01, 100000);
    perp_vec3 x = perp_sim_body_position(p.sim, block);
    near(hypot(x.x - x0, x.y - y0), 0.0, 1e-12, "creep");
    near(perp_sim_body_angle(p.sim, block), slope, 1e-12, "turn");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// ── Jam ──────────────────────────────────────────────────────────────────────────────────────────

// A block between a wall and a pusher that advances: no velocity will do. Proved, named, nothing moved.
static void jam(void **state)
{
    (void)state;
    double h = 0.01;
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.3);
    plane_halfplane(&p, PLANE_GROUND, 1.0, 0.0, HALF_PI, 0.0);
    perp_body_def def = plane_body(2.0, 2.0 / 6.0, 0.5, 0.5, 0.0);
    def.name = "crate";
    perp_body box = perp_builder_add_body(p.builder, &def);
    plane_box(&p, box, 0.5, 0.5, 0.3);
    perp_body_def push = plane_body(0.0, 0.0, 0.0, 0.0, 0.0);
    push.name = "ram";
    push.motion = PERP_MOTION_KINEMATIC;
    push.motion_x = "-0.3+0.1*(t-0.2)*step(t-0.2)";
    push.motion_y = "0.5";
    perp_body ram = perp_builder_add_body(p.builder, &push);
    plane_box(&p, ram, 0.3, 0.2, 0.0);
    plane_start(&p);
    int steps = 0;
    perp_status status = PERP_OK;
    uint64_t hash = 0;
    while (status >= 0 && steps < 100) {
        hash = perp_sim_state_hash(p.sim);
        status = perp_sim_step(p.sim, h);
        steps++;
    }
    assert_int_equal(status, PERP_ERR_INFEASIBLE);
    assert_true(steps >= 21 && steps <= 23);
    assert_true(perp_sim_state_hash(p.sim) == hash);
    assert_non_null(strstr(perp_sim_error(p.sim)->text, "crate"));
    assert_non_null(strstr(perp_sim_error(p.sim)->text, "ram"));
    assert_non_null(strstr(perp_sim_info(p.sim)->remark, "jam"));
    near(perp_sim_body_position(p.sim, box).x, 0.5, 1e-12, "crate");
    assert_int_equal(perp_sim_step(p.sim, h), PERP_ERR_INFEASIBLE);  // still so
    assert_true(perp_sim_state_hash(p.sim) == hash);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ladder_slips),   cmocka_unit_test(ladder_leaves_wall),
        cmocka_unit_test(rod_falls),      cmocka_unit_test(tip_or_slide),
        cmocka_unit_test(tips_on_slope),  cmocka_unit_test(stack_forces),
        cmocka_unit_test(heavy_on_light), cmocka_unit_test(brick_overhang),
        cmocka_unit_test(no_creep),       cmocka_unit_test(jam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
