// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial contact with friction against closed forms: rolling, sliding across polygons and cones, slopes,
// anisotropy, torsion, rolling resistance, moving surfaces.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81, PI = 3.14159265358979323846;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0},
                       Z = {0.0, 0.0, 1.0};

// ── Balls ────────────────────────────────────────────────────────────────────────────────────────

// A ball of 0.1 m, 1 kg on the floor, detected; heading [rad] of v, spin about the horizontal axis across.
static perp_body open_ball(plane *p, double mu, double v, double omega, double heading)
{
    plane_open(p);
    perp_body_def def = space_body(1.0, (perp_vec3){0.004, 0.004, 0.004}, (perp_vec3){0, 0, 0.1});
    def.velocity_W = (perp_vec3){v * cos(heading), v * sin(heading), 0.0};
    def.omega_W = (perp_vec3){-omega * sin(heading), omega * cos(heading), 0.0};
    perp_body ball = perp_builder_add_body(p->builder, &def);
    space_sphere(p, ball, 0.1, mu);
    space_halfspace(p, PLANE_GROUND, Z, 0.0, mu);
    return ball;
}

// v_f = (5 v0 + 2 R w0) / 7 in the direction of the start, whichever that is.
static void slip_to_roll(void **state)
{
    (void)state;
    static const double spin[] = {0.0, -40.0, -75.0, -100.0};
    for (int i = 0; i < 4; i++) {
        plane p = {0};
        double heading = 0.3 + i;
        perp_body ball = open_ball(&p, 0.2, 3.0, spin[i], heading);
        p.def.tolerance = 1e-12;
        plane_start(&p);
        double rolls = 2.0 * fabs(3.0 - 0.1 * spin[i]) / (7.0 * 0.2 * G), t = 0.0, slip = 1.0;
        while (slip > 1e-9 && t < 3.0) {
            plane_step(&p, 0.001);
            t += 0.001;
            slip = space_length(space_speed_at(
                &p, ball,
                space_unrotate(perp_sim_body_pose(p.sim, ball).rot, (perp_vec3){0.0, 0.0, -0.1})));
        }
        space_near(t, rolls, 0.0011, "time until it rolls");
        plane_run(&p, 0.001, 100);
        double want = (15.0 + 0.2 * spin[i]) / 7.0;
        perp_twist V = perp_sim_body_twist(p.sim, ball);
        space_near(V.v_W.x, want * cos(heading), 1e-10, "v_x");
        space_near(V.v_W.y, want * sin(heading), 1e-10, "v_y");
        space_near(0.1 * V.w_W.y, want * cos(heading), 1e-10, "R w_y");
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

// a = 5/7 g sin(theta), friction 2/7 m g sin(theta), while tan(theta) <= 7/2 mu.
static void ball_rolls_down(void **state)
{
    (void)state;
    plane p = {0};
    perp_body ball = open_ball(&p, 0.5, 0.0, 0.0, 0.0);
    perp_builder_set_gravity(p.builder, (perp_vec3){G * sin(0.3), 0.0, -G * cos(0.3)});
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.01, 100);
    int count;
    const perp_contact *c = perp_sim_contacts(p.sim, &count);
    assert_int_equal(count, 1);
    space_near(perp_sim_body_twist(p.sim, ball).v_W.x, 2.0707523052483867, 1e-9, "v after 1 s");
    // The ball is a of the contact: the floor is pulled down the slope.
    space_near(c[0].pf_W.x, 2.0 / 7.0 * G * sin(0.3) * 0.01, 1e-11, "friction on the floor");
    assert_int_equal(c[0].mode, PERP_CONTACT_STICK);
    plane_close(&p);
}

// Spin about the normal: J w' = -mu_spin m g. A rolling ball: v' = -5/7 mu_roll g / R.
static void torsion_and_rolling(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_AUTO, PERP_FORM_AUTO, PERP_FORM_MCP, PERP_FORM_LCP};
    for (int k = 0; k < 4; k++) {
        int facets = k == 0 ? 0 : 6;
        plane p = {0};
        double mu_spin = 1e-3, mu_roll = 2e-3;
        plane_open(&p);
        perp_body_def def =
            space_body(1.0, (perp_vec3){0.004, 0.004, 0.004}, (perp_vec3){0, 0, 0.1});
        def.velocity_W = X;
        def.omega_W = (perp_vec3){0.0, 10.0, 8.0};
        perp_body ball = perp_builder_add_body(p.builder, &def);
        perp_contact_def contact = perp_contact_default();
        contact.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
        contact.b = space_sphere(&p, ball, 0.1, 0.0);
        contact.mu = 0.5;
        contact.mu_spin = mu_spin;
        contact.mu_roll = mu_roll;
        contact.facets = facets;
        contact.tangent_A = Y;  // rolling is about y: the polygon has a corner there
        perp_builder_add_contact(p.builder, &contact);
        p.def.tolerance = 1e-12;
        p.def.form = forms[k];
        plane_start(&p);
        plane_run(&p, 0.005, 200);
        perp_twist V = perp_sim_body_twist(p.sim, ball);
        space_near(V.v_W.x, 1.0 - 5.0 / 7.0 * mu_roll * G / 0.1, 1e-9, "v");
        space_near(V.w_W.y, 10.0 * V.v_W.x, 1e-8, "w_y");
        space_near(V.w_W.z, 8.0 - mu_spin * G / 0.004, 1e-8, "w_z");
        int count;
        const perp_contact *c = perp_sim_contacts(p.sim, &count);
        space_near(c[0].moment_W.z, -mu_spin * c[0].pn, 1e-12, "torsion");
        space_near(c[0].moment_W.y, -mu_roll * c[0].pn, 1e-12, "rolling");
        plane_run(&p, 0.005, 1400);
        V = perp_sim_body_twist(p.sim, ball);  // both stop, and stay stopped
        assert_true(space_length(V.v_W) < 1e-10 && space_length(V.w_W) < 1e-9);
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

// ── Blocks across polygons and cones ─────────────────────────────────────────────────────────────

typedef struct slide {
    double turned;    // heading of the whole way less that of the start [rad]
    double distance;  // [m]
    double stopped;   // [s]
    double spin;      // largest [rad/s]
} slide;

// A box of 0.4 x 0.4 x 0.2 m, v0 = 2 m/s at the heading phi from the tangent x; facets 0: cone.
static slide run_slide(int facets, double phi, double h)
{
    plane p = {0};
    slide out = {0};
    plane_open(&p);
    perp_vec3 half = {0.2, 0.2, 0.1};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), (perp_vec3){0, 0, 0.1});
    def.velocity_W = (perp_vec3){2.0 * cos(phi), 2.0 * sin(phi), 0.0};
    perp_body box = perp_builder_add_body(p.builder, &def);
    perp_pair_def pair = perp_pair_default();
    pair.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.3);
    pair.b = space_box(&p, box, half, 0.3);
    pair.mu = 0.3;
    pair.facets = facets;
    pair.tangent_A = X;
    perp_builder_add_pair(p.builder, &pair);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    for (int i = 1; i * h < 1.5; i++) {
        plane_step(&p, h);
        perp_twist V = perp_sim_body_twist(p.sim, box);
        out.stopped = space_length(V.v_W) > 1e-9 ? i * h : out.stopped;
        out.spin = fmax(out.spin, space_length(V.w_W));
    }
    assert_int_equal(p.inexact, 0);
    perp_vec3 x = perp_sim_body_position(p.sim, box);
    out.distance = hypot(x.x, x.y);
    out.turned = atan2(x.y, x.x) - phi;
    plane_close(&p);
    return out;
}

// Friction is along the nearest corner of the polygon until the slip is along the middle of a side, then
// along that: two straight decelerations.
static slide theory_of_slide(int facets, double phi, double mu)
{
    double side = PI / facets, corner = 2.0 * side * floor(phi / (2.0 * side) + 0.5);
    double middle = corner + (phi > corner ? side : -side), f = mu * G;
    // In axes along the corner: the slip across is kept while the slip along falls.
    double along = 2.0 * cos(phi - corner), across = 2.0 * sin(phi - corner);
    double left = fabs(across) / tan(side), t1 = (along - left) / f;
    double x = (along * along - left * left) / (2.0 * f), y = across * t1;
    double v = hypot(left, across), a = f * cos(side), way = v * v / (2.0 * a);
    x += way * cos(middle - corner);
    y += way * sin(middle - corner);
    return (slide){
        .turned = atan2(y, x) + corner - phi, .distance = hypot(x, y), .stopped = t1 + v / a};
}

static void heading_across_polygons(void **state)
{
    (void)state;
    static const int facets[] = {4, 8, 16};
    double phi = 17.0 * PI / 180.0;
    for (int i = 0; i < 3; i++) {
        slide found = run_slide(facets[i], phi, 0.001), want = theory_of_slide(facets[i], phi, 0.3);
        print_message("n_d = %d: turned by %.3f deg (theory %.3f), %.4f m (%.4f), %.3f s (%.4f)\n",
                      facets[i], found.turned * 180.0 / PI, want.turned * 180.0 / PI,
                      found.distance, want.distance, found.stopped, want.stopped);
        space_near(found.turned, want.turned, 1e-3, "heading error");
        space_near(found.distance, want.distance, 2e-3, "distance");
        space_near(found.stopped, want.stopped, 1e-3, "time");
    }
}

static void heading_with_the_cone(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        double h = 0.01, phi = (17.0 + 31.0 * i) * PI / 180.0;
        slide found = run_slide(0, phi, h);
        int n = (int)floor(2.0 / (0.3 * G * h));
        double exact = h * (2.0 * n - 0.3 * G * h * n * (n + 1) / 2.0);  // the scheme's own sum
        print_message("cone: turned by %.1e rad, distance off by %.1e m, spin %.1e rad/s\n",
                      found.turned, found.distance - exact, found.spin);
        space_near(found.turned, 0.0, 1e-6, "heading error");
        space_near(found.distance, exact, 1e-8, "distance");
    }
}

// ── Slopes ───────────────────────────────────────────────────────────────────────────────────────

// Speed down a slope of tan(theta) that turns by phi in the plane, after 20 steps.
static double speed_on_slope(double slope, double phi, int facets)
{
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.2, 0.2, 0.05};
    double theta = atan(slope);
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), (perp_vec3){0, 0, 0.05});
    perp_body box = perp_builder_add_body(p.builder, &def);
    perp_pair_def pair = perp_pair_default();
    pair.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.5);
    pair.b = space_box(&p, box, half, 0.5);
    pair.mu = 0.5;
    pair.facets = facets;
    pair.tangent_A = X;
    perp_builder_add_pair(p.builder, &pair);
    perp_builder_set_gravity(p.builder, (perp_vec3){G * sin(theta) * cos(phi),
                                                    G * sin(theta) * sin(phi), -G * cos(theta)});
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.01, 20);
    double speed = space_length(perp_sim_body_twist(p.sim, box).v_W);
    plane_close(&p);
    return speed;
}

static void slopes_hold_as_far_as_they_should(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        double phi = 0.4 * i;
        assert_true(speed_on_slope(0.5 * (1.0 - 1e-6), phi, 0) < 1e-10);
        assert_true(speed_on_slope(0.5 * (1.0 + 1e-6), phi, 0) > 1e-7);
        static const int facets[] = {3, 4, 6, 8, 16};
        int n = facets[i];  // the polygon is weaker where a side faces the slope
        double most = 0.0;
        for (int k = 0; k < n; k++) {
            most = fmax(most, cos(phi + PI - (2 * k + 1) * PI / n));  // friction is uphill
        }
        double limit = 0.5 * cos(PI / n) / most;
        assert_true(speed_on_slope(limit * (1.0 - 1e-6), phi, n) < 1e-10);
        assert_true(speed_on_slope(limit * (1.0 + 1e-6), phi, n) > 1e-7);
    }
}

// A box that sticks does not creep.
static void no_creep(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.2, 0.2, 0.1};
    double theta = 20.0 * PI / 180.0;
    perp_vec3 n = {-sin(theta), 0.0, cos(theta)};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), space_scale(0.1, n));
    def.rotation_WB = space_z_to(n);
    perp_body box = perp_builder_add_body(p.builder, &def);
    space_box(&p, box, half, 0.5);
    space_halfspace(&p, PLANE_GROUND, n, 0.0, 0.5);
    plane_start(&p);
    plane_run(&p, 0.01, 5000);
    double moved = space_length(space_sub(perp_sim_body_position(p.sim, box), def.position_W));
    print_message("crept %.1e m in 5000 steps\n", moved);
    assert_true(moved < 1e-12);
    assert_true(p.inexact == 0 && p.worst.gap < 1e-12);
    plane_close(&p);
}

// ── Friction that differs along two directions ───────────────────────────────────────────────────

// A skate: nothing along the blade, everything across it.
static void skate(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_particle(2.0, O);
    perp_vec3 blade = {cos(0.4), sin(0.4), 0.0};
    def.velocity_W = (perp_vec3){1.0, 0.7, 0.0};
    perp_body mass = perp_builder_add_body(p.builder, &def);
    perp_contact_def contact = perp_contact_default();
    contact.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    contact.b = space_point(&p, mass, O);
    contact.mu = 0.0;
    contact.mu_2 = 100.0;
    contact.facets = 0;
    contact.tangent_A = blade;
    perp_builder_add_contact(p.builder, &contact);
    plane_start(&p);
    double along = space_dot(def.velocity_W, blade);
    plane_run(&p, 0.01, 20);
    perp_vec3 v = perp_sim_body_twist(p.sim, mass).v_W;
    space_near(space_dot(v, blade), along, 1e-12, "glides");
    space_near(space_dot(v, space_cross(Z, blade)), 0.0, 1e-9, "held across");
    plane_close(&p);
}

static void anisotropic(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_particle(2.0, O);
    def.velocity_W = (perp_vec3){1.0, 0.7, 0.0};
    perp_body mass = perp_builder_add_body(p.builder, &def);
    perp_contact_def contact = perp_contact_default();
    contact.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    contact.b = space_point(&p, mass, O);
    contact.mu = 0.6;
    contact.mu_2 = 0.2;
    contact.facets = 0;
    contact.tangent_A = (perp_vec3){cos(0.4), sin(0.4), 0.0};
    perp_builder_add_contact(p.builder, &contact);
    p.def.tolerance = 1e-13;
    plane_start(&p);
    perp_vec3 o = space_cross(Z, contact.tangent_A);
    for (int i = 0; i < 15; i++) {  // while it slides: on the ellipse, the slip along its normal
        plane_step(&p, 0.01);
        int count;
        const perp_contact *c = perp_sim_contacts(p.sim, &count);
        double ft = space_dot(c[0].pf_W, contact.tangent_A) / c[0].pn / 0.6;
        double fo = space_dot(c[0].pf_W, o) / c[0].pn / 0.2;
        perp_vec3 v = perp_sim_body_twist(p.sim, mass).v_W;
        double vt = space_dot(v, contact.tangent_A) * 0.6, vo = space_dot(v, o) * 0.2;
        space_near(ft * ft + fo * fo, 1.0, 1e-9, "ellipse");
        space_near(ft * vo - fo * vt, 0.0, 1e-9, "normal to the ellipse");
        assert_true(ft * vt + fo * vo < 0.0);
        space_near(c[0].slip, space_length(v), 1e-12, "slip");
    }
    plane_run(&p, 0.01, 60);
    assert_true(space_length(perp_sim_body_twist(p.sim, mass).v_W) < 1e-10);
    plane_close(&p);
}

// ── Moving surfaces ──────────────────────────────────────────────────────────────────────────────

// A belt at 1.5 m/s along (0.6, 0.8): t = u / (mu g); then it is carried without slip.
static void belt(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.1, 0.1, 0.1};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), (perp_vec3){0, 0, 0.1});
    perp_body box = perp_builder_add_body(p.builder, &def);
    space_box(&p, box, half, 0.25);
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFSPACE;
    floor.mu = 0.25;
    floor.surface_x = "0.9";
    floor.surface_y = "1.2";
    perp_builder_add_shape(p.builder, PLANE_GROUND, &floor);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    double t = 0.0;
    while (t < 1.0 && space_length(perp_sim_body_twist(p.sim, box).v_W) < 1.5 - 1e-9) {
        plane_step(&p, 0.005);
        t += 0.005;
    }
    space_near(t, 0.6116207951070336, 0.0051, "time until carried");
    plane_run(&p, 0.005, 100);
    perp_vec3 v = perp_sim_body_twist(p.sim, box).v_W;
    space_near(v.x, 0.9, 1e-10, "v_x");
    space_near(v.y, 1.2, 1e-10, "v_y");
    plane_close(&p);
}

// A turntable carries a ball around: a ball that rolls on it goes in circles at 2/7 of its rate.
static void turntable(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def table = perp_body_default();
    table.kind = PERP_BODY_SPATIAL;
    table.motion = PERP_MOTION_KINEMATIC;
    table.motion_angle = "3*t";
    perp_body disc = perp_builder_add_body(p.builder, &table);
    space_halfspace(&p, disc, Z, 0.0, 1.0);
    perp_body_def def = space_body(1.0, (perp_vec3){0.004, 0.004, 0.004}, (perp_vec3){0.5, 0, 0.1});
    def.velocity_W = (perp_vec3){0.0, 0.2, 0.0};
    // Rolls from the start: v - (table at the contact) = -w x (-R z).
    def.omega_W = (perp_vec3){(1.5 - 0.2) / 0.1, 0.0, 0.0};
    perp_body ball = perp_builder_add_body(p.builder, &def);
    space_sphere(&p, ball, 0.1, 1.0);
    plane_start(&p);
    double h = 0.0005, omega = 2.0 / 7.0 * 3.0;
    plane_run(&p, h, 2000);
    perp_vec3 v = perp_sim_body_twist(p.sim, ball).v_W;
    space_near(atan2(v.y, v.x) - 0.5 * PI, omega, 2e-3, "angle of the velocity after 1 s");
    space_near(space_length(v), 0.2, 2e-3, "speed");
    plane_close(&p);
}

// Two driven wheels and a caster: the wheels do not slip, the robot turns by (v_r - v_l) / track.
static void driven_wheels(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.2, 0.15, 0.05};
    perp_body_def def = space_body(5.0, space_box_inertia(5.0, half), (perp_vec3){0, 0, 0.1});
    perp_body robot = perp_builder_add_body(p.builder, &def);
    perp_shape ground = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    for (int i = 0; i < 2; i++) {
        perp_shape_def wheel = perp_shape_default();
        wheel.kind = PERP_SHAPE_POINT;
        wheel.position_B = (perp_vec3){-0.05, i == 0 ? 0.2 : -0.2, -0.1};
        wheel.surface_x = i == 0 ? "-0.3" : "-0.5";
        space_contact(&p, ground, perp_builder_add_shape(p.builder, robot, &wheel), 0.8, 0, O);
    }
    space_contact(&p, ground, space_point(&p, robot, (perp_vec3){0.15, 0.0, -0.1}), 0.0, 0, O);
    perp_builder_set_listed_only(p.builder, true);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.005, 400);
    perp_twist V = perp_sim_body_twist(p.sim, robot);
    space_near(V.w_W.z, (0.5 - 0.3) / 0.4, 1e-9, "rate of turning");
    perp_vec3 middle = space_speed_at(&p, robot, (perp_vec3){-0.05, 0.0, -0.1});
    perp_vec3 ahead = space_rotate(perp_sim_body_pose(p.sim, robot).rot, X);
    space_near(space_length(middle), 0.4, 1e-4, "speed of the axle");
    space_near(space_length(space_cross(middle, ahead)), 0.0, 1e-2, "across the wheels");
    plane_close(&p);
}

// Euler's disc in steady motion: its centre at rest, its rim rolling on the floor, precession
// sqrt(4 g / (R sin a)).
static void euler_disc(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    double R = 0.1, thin = 1e-5, tilt = PI / 6.0, rate = sqrt(4.0 * G / (R * sin(tilt)));
    perp_body_def def = space_body(1.0, (perp_vec3){0.25 * R * R, 0.25 * R * R, 0.5 * R * R},
                                   (perp_vec3){0.0, 0.0, R * sin(tilt) + thin * cos(tilt)});
    def.rotation_WB = space_turn(X, tilt);
    // Centre and contact point are at rest: omega is along the line between them.
    def.omega_W = space_scale(rate * sin(tilt), (perp_vec3){0.0, cos(tilt), sin(tilt)});
    perp_body disc = perp_builder_add_body(p.builder, &def);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_CYLINDER;
    shape.radius = R;
    shape.half = (perp_vec3){0.0, 0.0, thin};
    shape.mu = 5.0;
    perp_builder_add_shape(p.builder, disc, &shape);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 5.0);
    plane_start(&p);
    double h = 5e-5, worst = 0.0, leaned = 0.0, turned = 0.0, before = -0.5 * PI;
    for (int i = 0; i < 2000; i++) {
        plane_step(&p, h);
        perp_vec3 n = space_rotate(perp_sim_body_pose(p.sim, disc).rot, Z);
        double azimuth = atan2(n.y, n.x), step = azimuth - before;
        turned += step - 2.0 * PI * floor(step / (2.0 * PI) + 0.5);
        before = azimuth;
        leaned = fmax(leaned, fabs(acos(n.z) - tilt));
        perp_vec3 x = perp_sim_body_position(p.sim, disc);
        worst = fmax(worst, hypot(x.x, x.y));
    }
    print_message("Euler's disc: %.3f rad in 0.1 s (%.3f), tilt off by %.4f, centre by %.1e m\n",
                  turned, 0.1 * rate, leaned, worst);
    space_near(turned, 0.1 * rate, 1e-3 * 0.1 * rate, "precession");
    assert_true(leaned < 1e-3 && worst < 2e-4);
    plane_close(&p);
}

// A rattleback: an ellipsoid whose axes of inertia are skewed by 0.1 rad. Spun one way it goes on, spun the
// other way it rattles and turns round.
static double rattleback(double spin, double t)
{
    plane p = {0};
    plane_open(&p);
    double skew = 0.1, Ix = 6e-4, Iy = 9.6e-3, Iz = 1.02e-2, c = cos(skew), s = sin(skew);
    perp_body_def def =
        space_body(1.0, (perp_vec3){Ix * c * c + Iy * s * s, Ix * s * s + Iy * c * c, Iz},
                   (perp_vec3){0.0, 0.0, 0.02});
    def.inertia_B[3] = (Ix - Iy) * c * s;
    def.omega_W = (perp_vec3){0.01, 0.01, spin};
    perp_body stone = perp_builder_add_body(p.builder, &def);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_ELLIPSOID;
    shape.half = (perp_vec3){0.2, 0.03, 0.02};
    shape.mu = 10.0;
    perp_builder_add_shape(p.builder, stone, &shape);
    space_halfspace(&p, PLANE_GROUND, Z, 0.0, 10.0);
    plane_start(&p);
    plane_run(&p, 0.001, (int)lround(t / 0.001));
    double rate = perp_sim_body_twist(p.sim, stone).w_W.z;
    plane_close(&p);
    return rate;
}

static void rattleback_turns_round(void **state)
{
    (void)state;
    double one = rattleback(5.0, 2.0), other = rattleback(-5.0, 2.0);
    print_message("rattleback after 2 s: +5 rad/s is %.3f, -5 rad/s is %.3f\n", one, other);
    space_near(one, 5.0, 0.01, "goes on");
    space_near(other, 4.5, 0.2, "turned round");  // 4.47, 4.44, 4.54 at 1, 0.5, 0.2 ms
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slip_to_roll),
        cmocka_unit_test(ball_rolls_down),
        cmocka_unit_test(torsion_and_rolling),
        cmocka_unit_test(heading_across_polygons),
        cmocka_unit_test(heading_with_the_cone),
        cmocka_unit_test(slopes_hold_as_far_as_they_should),
        cmocka_unit_test(no_creep),
        cmocka_unit_test(anisotropic),
        cmocka_unit_test(skate),
        cmocka_unit_test(belt),
        cmocka_unit_test(turntable),
        cmocka_unit_test(driven_wheels),
        cmocka_unit_test(euler_disc),
        cmocka_unit_test(rattleback_turns_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
