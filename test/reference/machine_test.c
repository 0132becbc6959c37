// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Closed linkages: four-bar, parallel four-bars through their singular position, slider-crank driven and
// free, Andrews' squeezer, a redundant parallelogram.
#include "support/cmocka.h"
#include "support/converge.h"
#include "support/plane.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

static int steps_to(double t, double h)
{
    return (int)floor(t / h + 0.5);
}

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

static perp_vec3 at(double x, double y)
{
    return (perp_vec3){x, y, 0.0};
}

// A rod from p to q, moving with the velocities of its ends.
static perp_body add_link(plane *s, double mass, double extra, perp_vec3 p, perp_vec3 q,
                          perp_vec3 vp, perp_vec3 vq)
{
    double dx = q.x - p.x, dy = q.y - p.y, L = hypot(dx, dy);
    perp_body_def def = plane_rod(mass, L, p.x, p.y, atan2(dy, dx));
    def.inertia_zz += extra;
    def.velocity_W = at(0.5 * (vp.x + vq.x), 0.5 * (vp.y + vq.y));
    def.spin = (dx * (vq.y - vp.y) - dy * (vq.x - vp.x)) / (L * L);
    return perp_builder_add_body(s->builder, &def);
}

// ── Four-bar ─────────────────────────────────────────────────────────────────────────────────────

// Crank 0.3, coupler 0.7, rocker 0.6, ground 0.8 m; the crank starts at 1 rad with 2 rad/s; 0.4 s.
static void run_fourbar(double h, double *out)
{
    double a = 0.3, b = 0.7, c = 0.6, d = 0.8, th = 1.0, w = 2.0;
    perp_vec3 O = at(0.0, 0.0), A = at(a * cos(th), a * sin(th)), D = at(d, 0.0);
    // The other pin: at b from A and c from D, above.
    double ex = D.x - A.x, ey = D.y - A.y, f = hypot(ex, ey);
    double x = (f * f + b * b - c * c) / (2.0 * f), y = sqrt(b * b - x * x);
    perp_vec3 B = at(A.x + (x * ex - y * ey) / f, A.y + (x * ey + y * ex) / f);
    // Velocities: v_B is across DB, and v_B - v_A across AB.
    perp_vec3 v_A = at(-w * A.y, w * A.x);
    double ux = B.x - A.x, uy = B.y - A.y, nx = -(B.y - D.y), ny = B.x - D.x;
    double w3 = (v_A.x * ux + v_A.y * uy) / (nx * ux + ny * uy);
    perp_vec3 v_B = at(w3 * nx, w3 * ny), zero = at(0.0, 0.0);
    plane p = {0};
    plane_open(&p);
    perp_body crank = add_link(&p, 0.5, 0.5e-4, O, A, zero, v_A);
    perp_body coupler = add_link(&p, 1.0, 1e-4, A, B, v_A, v_B);
    perp_body rocker = add_link(&p, 0.8, 0.8e-4, B, D, v_B, zero);
    plane_pin(&p, PLANE_GROUND, O, crank, at(-0.5 * a, 0.0));
    plane_pin(&p, crank, at(0.5 * a, 0.0), coupler, at(-0.5 * b, 0.0));
    plane_pin(&p, coupler, at(0.5 * b, 0.0), rocker, at(-0.5 * c, 0.0));
    plane_pin(&p, PLANE_GROUND, D, rocker, at(0.5 * c, 0.0));
    plane_start(&p);
    plane_run(&p, h, steps_to(0.4, h));
    out[0] = perp_sim_body_angle(p.sim, crank);
    out[1] = plane_spin(&p, crank);
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 0);
    plane_close(&p);
}

static void fourbar(void **state)
{
    (void)state;
    static const double want[] = {0.9094795237233544, -2.834946859011296};
    converge_check("four-bar", run_fourbar, 0.001, 2, want, 3e-2, 1e-4);
}

// Two windows of rods of 1 kg and 1 m, upright, pushed with 1 m/s; through the flat position to 1 s.
static void run_windows(double h, double *out)
{
    enum { N = 2 };
    plane p = {0};
    perp_body post[N + 1], beam[N];
    plane_open(&p);
    for (int i = 0; i <= N; i++) {
        post[i] = add_link(&p, 1.0, 0.0, at(i, 0.0), at(i, 1.0), at(0.0, 0.0), at(1.0, 0.0));
        plane_pin(&p, PLANE_GROUND, at(i, 0.0), post[i], at(-0.5, 0.0));
    }
    for (int i = 0; i < N; i++) {
        beam[i] = add_link(&p, 1.0, 0.0, at(i, 1.0), at(i + 1.0, 1.0), at(1.0, 0.0), at(1.0, 0.0));
        plane_pin(&p, post[i], at(0.5, 0.0), beam[i], at(-0.5, 0.0));
        plane_pin(&p, post[i + 1], at(0.5, 0.0), beam[i], at(0.5, 0.0));
    }
    plane_start(&p);
    plane_run(&p, h, steps_to(1.0, h));
    out[0] = 0.5 * PI - perp_sim_body_angle(p.sim, post[0]);
    out[1] = 0.5 * PI - perp_sim_body_angle(p.sim, post[N]);
    plane_close(&p);
}

static void windows(void **state)
{
    (void)state;
    static const double want[] = {3.3378708031051825, 3.3378708031051825};
    converge_check("two windows", run_windows, 0.001, 2, want, 1e-2, 1e-3);
}

// ── Slider-crank ─────────────────────────────────────────────────────────────────────────────────

typedef struct slider_crank {
    plane p;
    perp_body crank, slider;
    perp_joint drive;
} slider_crank;

static void make_slider_crank(slider_crank *s, double angle, double rate, const char *target)
{
    double l1 = 0.15, l2 = 0.30, c = cos(angle);
    perp_vec3 A = at(l1 * c, l1 * sin(angle)), v_A = at(-rate * A.y, rate * A.x);
    perp_vec3 B = at(A.x + sqrt(l2 * l2 - A.y * A.y), 0.0);
    perp_vec3 v_B = at(v_A.x + v_A.y * (A.y - B.y) / (A.x - B.x), 0.0);
    *s = (slider_crank){0};
    plane_open(&s->p);
    if (target) {
        perp_builder_set_gravity(s->p.builder, at(0.0, 0.0));
    }
    s->crank = add_link(&s->p, 0.36, 0.0, at(0.0, 0.0), A, at(0.0, 0.0), v_A);
    perp_body rod = add_link(&s->p, 0.151104, 0.0, A, B, v_A, v_B);
    perp_body_def def = plane_body(0.075552, 1e-3, B.x, 0.0, 0.0);
    def.velocity_W = v_B;
    s->slider = perp_builder_add_body(s->p.builder, &def);
    perp_joint_def pin = perp_joint_default();
    pin.kind = PERP_JOINT_REVOLUTE;
    pin.b = s->crank;
    pin.anchor_B = at(-0.5 * l1, 0.0);
    pin.target = target;
    s->drive = perp_builder_add_joint(s->p.builder, &pin);
    plane_pin(&s->p, s->crank, at(0.5 * l1, 0.0), rod, at(-0.5 * l2, 0.0));
    plane_pin(&s->p, rod, at(0.5 * l2, 0.0), s->slider, at(0.0, 0.0));
    perp_joint_def guide = perp_joint_default();
    guide.kind = PERP_JOINT_PRISMATIC;
    guide.b = s->slider;
    perp_builder_add_joint(s->p.builder, &guide);
    plane_start(&s->p);
}

// The crank turns with 150 rad/s: where the slider is, and the torque it takes, after 5.236 ms.
static void run_driven_crank(double h, double *out)
{
    slider_crank s;
    make_slider_crank(&s, 0.0, 150.0, "150*t");
    plane_run(&s.p, h, steps_to(0.005235987755982988, h));
    out[0] = perp_sim_body_position(s.p.sim, s.slider).x;
    out[1] = perp_sim_joint(s.p.sim, s.drive).drive / h;
    plane_close(&s.p);
}

static void driven_crank(void **state)
{
    (void)state;
    static const double want[] = {0.38669032118602775, 61.795049020929575};
    converge_check("driven crank", run_driven_crank, 0.005235987755982988 / 500.0, 2, want, 1.0,
                   2e-3);
}

// Let go at 45 degrees: crank angle after 0.2 s.
static void run_free_crank(double h, double *out)
{
    slider_crank s;
    make_slider_crank(&s, 0.25 * PI, 0.0, NULL);
    plane_run(&s.p, h, steps_to(0.2, h));
    out[0] = perp_sim_body_angle(s.p.sim, s.crank);
    out[1] = plane_spin(&s.p, s.crank);
    plane_close(&s.p);
}

static void free_crank(void **state)
{
    (void)state;
    static const double want[] = {-0.2889048719573906, -12.910045897485782};
    converge_check("free crank", run_free_crank, 0.0005, 2, want, 5e-2, 5e-4);
}

// ── Andrews' squeezer ────────────────────────────────────────────────────────────────────────────

// A body whose frame has its origin at `pivot` and the given angle; its centre of mass at r in that frame.
typedef struct piece {
    perp_body body;
    perp_vec3 r;
} piece;

static piece add_piece(plane *p, double m, double I, perp_vec3 pivot, double angle, perp_vec3 r)
{
    double c = cos(angle), s = sin(angle);
    perp_body_def def =
        plane_body(m, I, pivot.x + c * r.x - s * r.y, pivot.y + s * r.x + c * r.y, angle);
    return (piece){perp_builder_add_body(p->builder, &def), r};
}

// Joins the points a and b of two pieces, in the pieces' frames.
static void join(plane *p, piece a, perp_vec3 pa, piece b, perp_vec3 pb)
{
    plane_pin(p, a.body, at(pa.x - a.r.x, pa.y - a.r.y), b.body, at(pb.x - b.r.x, pb.y - b.r.y));
}

static const double SQUEEZER[7] = {-0.06171389001427645, 0.0,
                                   0.45527981916307037,  0.22266839016588588,
                                   0.48736497954384256,  -0.22266839016588588,
                                   1.2305474445498212};

// Seven bodies, ten pins, a spring and a torque: frames as in the IVP test set. Angles 20 ms later.
static void run_squeezer(double h, double *out)
{
    const double *q = SQUEEZER;
    double beta = q[0], fe = q[0] + q[1], gamma = q[2], eg = q[3] + q[4], delta = q[4];
    double eh = q[5] + q[6], epsilon = q[6], d = 0.028, rr = 0.007;
    perp_vec3 O = at(0.0, 0.0), F = at(rr * cos(beta), rr * sin(beta)), pin = at(0.0, 0.0);
    perp_vec3 A = at(-0.06934, -0.00227), B = at(-0.03635, 0.03273), C = at(0.014, 0.072);
    perp_vec3 Gp = at(A.x + 0.04 * cos(delta), A.y + 0.04 * sin(delta));
    perp_vec3 H = at(A.x + 0.04 * sin(epsilon), A.y - 0.04 * cos(epsilon));
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, at(0.0, 0.0));
    piece ground = {PLANE_GROUND, at(0.0, 0.0)};
    piece k1 = add_piece(&p, 0.04325, 2.194e-6, O, beta, at(0.00092, 0.0));
    piece k2 = add_piece(&p, 0.00365, 4.410e-7, F, fe, at(-0.0115, 0.0));
    piece k3 = add_piece(&p, 0.02373, 5.255e-6, B, gamma, at(0.01043, -0.01874));
    piece k4 = add_piece(&p, 0.00706, 5.667e-7, Gp, eg, at(0.0, -(0.02 - 0.01421)));
    piece k5 = add_piece(&p, 0.07050, 1.169e-5, A, delta, at(0.02308, 0.00916));
    piece k6 = add_piece(&p, 0.00706, 5.667e-7, H, eh, at(0.02 - 0.01421, 0.0));
    piece k7 = add_piece(&p, 0.05498, 1.912e-5, A, epsilon, at(0.00449, -0.01228));
    join(&p, ground, O, k1, pin);
    join(&p, k1, at(rr, 0.0), k2, pin);
    join(&p, ground, B, k3, pin);
    join(&p, ground, A, k5, pin);
    join(&p, ground, A, k7, pin);
    join(&p, k5, at(0.04, 0.0), k4, pin);
    join(&p, k7, at(0.0, -0.04), k6, pin);
    join(&p, k2, at(-d, 0.0), k3, at(0.0, -0.035));
    join(&p, k2, at(-d, 0.0), k4, at(0.0, -0.02));
    join(&p, k2, at(-d, 0.0), k6, at(0.02, 0.0));
    perp_force_def torque = perp_force_default();
    torque.kind = PERP_FORCE_WRENCH;
    torque.b = k1.body;
    torque.torque = "0.033";
    perp_builder_add_force(p.builder, &torque);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.anchor_A = C;
    spring.b = k3.body;
    spring.anchor_B = at(0.02 - k3.r.x, -0.018 - k3.r.y);
    spring.stiffness = 4530.0;
    spring.rest = 0.07785;
    perp_builder_add_force(p.builder, &spring);
    plane_start(&p);
    plane_run(&p, h, steps_to(0.02, h));
    double k1_angle = perp_sim_body_angle(p.sim, k1.body);
    out[0] = k1_angle;
    out[1] = perp_sim_body_angle(p.sim, k2.body) - k1_angle;
    out[2] = perp_sim_body_angle(p.sim, k3.body);
    out[4] = perp_sim_body_angle(p.sim, k5.body);
    out[3] = perp_sim_body_angle(p.sim, k4.body) - out[4];
    out[6] = perp_sim_body_angle(p.sim, k7.body);
    out[5] = perp_sim_body_angle(p.sim, k6.body) - out[6];
    plane_close(&p);
}

static void squeezer(void **state)
{
    (void)state;
    static const double want[] = {8.184905889661726,    -7.890505363730514, 0.20953691338467384,
                                  -0.23832559659589356, 0.5225369171559963, 0.2383255965958935,
                                  1.086275108599868};
    converge_check("squeezer", run_squeezer, 1e-5, 7, want, 0.05, 1e-3);
}

// ── Redundant ────────────────────────────────────────────────────────────────────────────────────

// A beam on three parallel cranks: twelve rows for eleven constraints. One row is reported, and the motion
// is that of one coordinate: (3 m/3 + M) L^2 theta'' = -(3 m/2 + M) g L cos(theta).
static void redundant_parallelogram(void **state)
{
    (void)state;
    double m = 0.5, M = 2.0, h = 1e-4, theta = 1.0;
    perp_vec3 zero = at(0.0, 0.0), tip = at(cos(theta), sin(theta));
    plane p = {0};
    perp_joint pin[6];
    plane_open(&p);
    perp_body beam = add_link(&p, M, 0.0, tip, at(tip.x + 2.0, tip.y), zero, zero), crank[3];
    for (int i = 0; i < 3; i++) {
        crank[i] = add_link(&p, m, 0.0, at(i, 0.0), at(i + tip.x, tip.y), zero, zero);
        pin[2 * i] = plane_pin(&p, PLANE_GROUND, at(i, 0.0), crank[i], at(-0.5, 0.0));
        pin[2 * i + 1] = plane_pin(&p, crank[i], at(0.5, 0.0), beam, at(i - 1.0, 0.0));
    }
    plane_start(&p);
    plane_step(&p, h);
    double alpha = -(1.5 * m + M) * G * cos(theta) / (m + M);
    near(plane_spin(&p, crank[0]) / h, alpha, 1e-7, "angular acceleration");
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 1);
    assert_false(perp_sim_info(p.sim)->unique);
    int named = 0;
    for (int i = 0; i < 6; i++) {
        named += perp_sim_joint(p.sim, pin[i]).redundant;
    }
    assert_int_equal(named, 1);
    plane_run(&p, h, 5000);
    near(perp_sim_body_angle(p.sim, crank[2]), perp_sim_body_angle(p.sim, crank[0]), 1e-9,
         "parallel");
    near(perp_sim_body_angle(p.sim, beam), 0.0, 1e-9, "beam");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// The same pin twice: each carries half.
static void same_pin_twice(void **state)
{
    (void)state;
    double h = 0.01;
    plane p = {0};
    plane_open(&p);
    perp_body rod = add_link(&p, 1.0, 0.0, at(0.0, 0.0), at(0.0, -1.0), at(0.0, 0.0), at(0.0, 0.0));
    perp_joint first = plane_pin(&p, PLANE_GROUND, at(0.0, 0.0), rod, at(-0.5, 0.0));
    perp_joint second = plane_pin(&p, PLANE_GROUND, at(0.0, 0.0), rod, at(-0.5, 0.0));
    plane_start(&p);
    plane_run(&p, h, 10);
    near(perp_sim_joint(p.sim, first).impulse_b.f_W.y / h, 0.5 * G, 1e-10, "first half");
    near(perp_sim_joint(p.sim, second).impulse_b.f_W.y / h, 0.5 * G, 1e-10, "second half");
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 2);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fourbar),        cmocka_unit_test(windows),
        cmocka_unit_test(driven_crank),   cmocka_unit_test(free_crank),
        cmocka_unit_test(squeezer),       cmocka_unit_test(redundant_parallelogram),
        cmocka_unit_test(same_pin_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
