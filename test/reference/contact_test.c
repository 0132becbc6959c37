// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Dry friction against closed forms: stopping, inclines, belts, pushing, rolling. Formulas in each test.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>

static const double G = 9.81;

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

// A block, 1 m x 0.5 m, on a plane turned by `angle`, moving down along it with speed v0.
static perp_body block_on_plane(plane *p, double angle, double mu, double v0)
{
    plane_open(p);
    plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, angle, mu);
    perp_body_def def =
        plane_body(2.0, 2.0 * 1.25 / 12.0, -0.25 * sin(angle), 0.25 * cos(angle), angle);
    def.velocity_W = (perp_vec3){-v0 * cos(angle), -v0 * sin(angle), 0.0};
    perp_body block = perp_builder_add_body(p->builder, &def);
    plane_box(p, block, 0.5, 0.25, mu);
    plane_start(p);
    return block;
}

// Distance gone down the plane.
static double gone(const plane *p, perp_body block, double angle)
{
    perp_vec3 x = perp_sim_body_position(p->sim, block);
    return -(x.x + 0.25 * sin(angle)) * cos(angle) - (x.y - 0.25 * cos(angle)) * sin(angle);
}

// t = v0/(mu g), d = v0^2/(2 mu g); the scheme: the sum of h (v0 - k mu g h) while it is positive.
static void block_stops(void **state)
{
    (void)state;
    double mu = 0.3, v0 = 2.0, errors[3];
    for (int i = 0; i < 3; i++) {
        double h = 0.02 / (1 << i), sum = 0.0;
        plane p = {0};
        perp_body block = block_on_plane(&p, 0.0, mu, v0);
        for (int k = 1; v0 - k * mu * G * h > 0.0; k++) {
            sum += h * (v0 - k * mu * G * h);
        }
        plane_run(&p, h, (int)(0.8 / h));
        near(gone(&p, block, 0.0), sum, 1e-13, "stopping distance");
        near(plane_vx(&p, block), 0.0, 1e-14, "speed");
        errors[i] = v0 * v0 / (2.0 * mu * G) - gone(&p, block, 0.0);
        plane_close(&p);
    }
    near(errors[0] / errors[1], 2.0, 0.01, "order");
    near(errors[1] / errors[2], 2.0, 0.01, "order");
}

// Sticks up to tan(angle) = mu, then a = g (sin - mu cos).
static void incline(void **state)
{
    (void)state;
    double mu = 0.5, critical = atan(mu), h = 0.01;
    plane p = {0};
    perp_body block = block_on_plane(&p, critical - 1e-6, mu, 0.0);
    plane_run(&p, h, 100);
    near(gone(&p, block, critical - 1e-6), 0.0, 1e-13, "creep");
    plane_close(&p);

    block = block_on_plane(&p, critical + 1e-6, mu, 0.0);
    plane_run(&p, h, 100);
    double a = G * (sin(critical + 1e-6) - mu * cos(critical + 1e-6));
    near(hypot(plane_vx(&p, block), plane_vy(&p, block)), a, 1e-12, "speed after 1 s");
    plane_close(&p);

    block = block_on_plane(&p, 0.7, mu, 0.0);
    plane_run(&p, h, 100);
    near(hypot(plane_vx(&p, block), plane_vy(&p, block)), 2.568224583171333, 1e-12, "speed");
    plane_close(&p);
}

static perp_body box_on_belt(plane *p, const char *speed, double mu)
{
    plane_open(p);
    perp_shape_def belt = perp_shape_default();
    belt.kind = PERP_SHAPE_HALFPLANE;
    belt.mu = mu;
    belt.surface_speed = speed;
    perp_builder_add_shape(p->builder, PLANE_GROUND, &belt);
    perp_body_def def = plane_body(2.0, 2.0 * 1.25 / 12.0, 0.0, 0.25, 0.0);
    perp_body box = perp_builder_add_body(p->builder, &def);
    plane_box(p, box, 0.5, 0.25, mu);
    plane_start(p);
    return box;
}

// t = u/(mu g) until the box moves with the belt, on which it has slipped u^2/(2 mu g).
static void conveyor(void **state)
{
    (void)state;
    double u = 1.5, mu = 0.25, h = 1e-4, t = u / (mu * G);
    plane p = {0};
    perp_body box = box_on_belt(&p, "1.5", mu);
    int steps = 0;
    while (plane_vx(&p, box) < u - 1e-12 && steps < 10000) {
        plane_step(&p, h);
        steps++;
    }
    near(steps * h, t, h, "time to the belt's speed");
    near(perp_sim_body_position(p.sim, box).x, 0.5 * u * t, 2.0 * u * h, "way");
    plane_run(&p, h, 1000);
    near(plane_vx(&p, box), u, 1e-13, "speed on the belt");
    plane_close(&p);
}

// A belt u = 0.2 t carries without slip while 0.2 < mu g; u = 5 t does not.
static void conveyor_speeding_up(void **state)
{
    (void)state;
    double h = 0.01;
    plane p = {0};
    perp_body box = box_on_belt(&p, "0.2*t", 0.25);
    plane_run(&p, h, 100);
    near(plane_vx(&p, box), 0.2 * 99.5 * h, 1e-13, "speed of a box that sticks");  // mean of u
    plane_close(&p);
    box = box_on_belt(&p, "5*t", 0.25);
    plane_run(&p, h, 100);
    near(plane_vx(&p, box), 0.25 * G * 100 * h, 1e-12, "speed of a box that slips");
    plane_close(&p);
}

// F = mu m g at constant speed; the first step adds m v/h.
static void pusher_force(void **state)
{
    (void)state;
    double mu = 0.4, m = 2.0, h = 0.01;
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, mu);
    perp_body_def def = plane_body(m, m * 1.25 / 12.0, 0.0, 0.25, 0.0);
    perp_body box = perp_builder_add_body(p.builder, &def);
    plane_box(&p, box, 0.5, 0.25, mu);
    perp_body_def push = plane_particle(0.0, 0.0, 0.0);
    push.motion = PERP_MOTION_KINEMATIC;
    push.motion_x = "-0.5+0.2*t";
    push.motion_y = "0.25";
    perp_body pusher = perp_builder_add_body(p.builder, &push);
    plane_point(&p, pusher, 0.0, 0.0);
    plane_start(&p);
    plane_step(&p, h);
    near(perp_sim_body_drive_impulse(p.sim, pusher).f_W.x / h, mu * m * G + m * 0.2 / h, 1e-9,
         "first F");
    plane_run(&p, h, 100);
    near(perp_sim_body_drive_impulse(p.sim, pusher).f_W.x / h, mu * m * G, 1e-9, "F");
    near(plane_vx(&p, box), 0.2, 1e-13, "speed");
    plane_close(&p);
}

// ── Rolling ──────────────────────────────────────────────────────────────────────────────────────

static perp_body disc_on_plane(plane *p, double angle, double mu, double k2, double v0, double w0)
{
    double m = 1.5, R = 0.1;
    plane_open(p);
    plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, angle, 1.0);
    perp_body_def def = plane_body(m, k2 * m * R * R, -R * sin(angle), R * cos(angle), 0.0);
    def.velocity_W = (perp_vec3){v0, 0.0, 0.0};
    def.spin = -w0;  // rolling to +x turns clockwise
    perp_body disc = perp_builder_add_body(p->builder, &def);
    plane_disc(p, disc, R, mu * mu);  // the mean with the plane's 1 is mu
    plane_start(p);
    return disc;
}

// v = v0/(1 + k2), t = v0 k2/((1 + k2) mu g), x = (v0^2 - v^2)/(2 mu g).
static void slip_to_roll(void **state)
{
    (void)state;
    static const double k2[] = {0.4, 0.5, 1.0};
    double mu = 0.2, v0 = 3.0, R = 0.1, h = 1e-4;
    for (int i = 0; i < 3; i++) {
        plane p = {0};
        perp_body disc = disc_on_plane(&p, 0.0, mu, k2[i], v0, 0.0);
        double v = v0 / (1.0 + k2[i]), t = v0 * k2[i] / ((1.0 + k2[i]) * mu * G);
        int steps = 0;
        while (fabs(plane_vx(&p, disc) + R * plane_spin(&p, disc)) > 1e-12 && steps < 20000) {
            plane_step(&p, h);
            steps++;
        }
        near(steps * h, t, h, "time to roll");
        near(perp_sim_body_position(p.sim, disc).x, (v0 * v0 - v * v) / (2.0 * mu * G), v0 * h,
             "way");
        plane_run(&p, h, 500);
        near(plane_vx(&p, disc), v, 1e-12, "speed");
        near(-R * plane_spin(&p, disc), v, 1e-12, "rim speed");
        plane_close(&p);
    }
}

// v = (5 v0 + 2 R w0)/7: stops dead at R w0 = -2.5 v0, comes back beyond.
static void backspin(void **state)
{
    (void)state;
    static const double w0[] = {-40.0, -75.0, -100.0};
    double R = 0.1, v0 = 3.0;
    for (int i = 0; i < 3; i++) {
        plane p = {0};
        perp_body disc = disc_on_plane(&p, 0.0, 0.2, 0.4, v0, w0[i]);
        plane_run(&p, 0.001, 2000);
        near(plane_vx(&p, disc), (5.0 * v0 + 2.0 * R * w0[i]) / 7.0, 1e-12, "speed");
        plane_close(&p);
    }
}

// Rolls down with 5/7 g sin while tan <= 3.5 mu; slips beyond.
static void rolls_down(void **state)
{
    (void)state;
    double mu = 0.5, h = 0.001, critical = atan(3.5 * mu);
    plane p = {0};
    perp_body disc = disc_on_plane(&p, 0.3, mu, 0.4, 0.0, 0.0);
    plane_run(&p, h, 1000);
    double v = hypot(plane_vx(&p, disc), plane_vy(&p, disc));
    near(v, 2.0707523052483867, 1e-11, "speed after 1 s");
    near(0.1 * plane_spin(&p, disc), v, 1e-11, "rim speed");
    plane_close(&p);
    for (int side = -1; side <= 1; side += 2) {
        disc = disc_on_plane(&p, critical + side * 1e-3, mu, 0.4, 0.0, 0.0);
        plane_run(&p, h, 100);
        double slip = hypot(plane_vx(&p, disc), plane_vy(&p, disc)) - 0.1 * plane_spin(&p, disc);
        assert_true(side < 0 ? fabs(slip) < 1e-12 : slip > 1e-6);
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_stops),  cmocka_unit_test(incline),
        cmocka_unit_test(conveyor),     cmocka_unit_test(conveyor_speeding_up),
        cmocka_unit_test(pusher_force), cmocka_unit_test(slip_to_roll),
        cmocka_unit_test(backspin),     cmocka_unit_test(rolls_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
