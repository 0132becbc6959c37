// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impacts against closed forms: rocking block, bouncing ball, Newton's cradle, Painlevé's rod.
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

// A block of half width b, half height a, turning about its right corner, lands on its left one:
// omega+/omega- = 1 - 1.5 sin^2(alpha), tan(alpha) = b/a, or 0 where that is negative (Housner).
static void rocking_block(void **state)
{
    (void)state;
    static const double b[] = {0.2, 0.5, 1.0, 1.6};
    for (int i = 0; i < 4; i++) {
        double m = 3.0, a = 1.0, omega = 0.7, sine = sin(atan(b[i] / a));
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 50.0);
        perp_body_def def = plane_body(m, m * (a * a + b[i] * b[i]) / 3.0, 0.0, a, 0.0);
        def.spin = omega;  // the right corner (b, -a) rests: v = -omega x r
        def.velocity_W = (perp_vec3){-omega * a, -omega * b[i], 0.0};
        perp_body block = perp_builder_add_body(p.builder, &def);
        plane_box(&p, block, b[i], a, 50.0);
        plane_start(&p);
        plane_step(&p, 1e-3);
        near(plane_spin(&p, block) / omega, fmax(0.0, 1.0 - 1.5 * sine * sine), 1e-12, "ratio");
        plane_close(&p);
    }
}

// Falls 1 m, e = 0.5: rests after t1 (1 + e)/(1 - e), having gone (1 + e^2)/(1 - e^2) m.
static void bouncing_ball(perp_stepper stepper, perp_impact_law law, double h)
{
    plane p = {0};
    plane_open(&p);
    p.def.impact = law;
    p.def.stepper = stepper;
    p.def.theta = 1.0;
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
    perp_body_def def = plane_body(1.0, 0.004, 0.0, 1.1, 0.0);
    perp_body ball = perp_builder_add_body(p.builder, &def);
    perp_shape_def disc = perp_shape_default();
    disc.kind = PERP_SHAPE_DISC;
    disc.radius = 0.1;
    disc.restitution = 0.5;
    perp_builder_add_shape(p.builder, ball, &disc);
    plane_start(&p);
    double path = 0.0, y = 1.1, before = 0.0, top[3] = {0.0, 0.0, 0.0};
    int bounces = 0, steps = (int)(1.5 / h), rest = 0;
    for (int k = 0; k < steps; k++) {
        plane_step(&p, h);
        double now = perp_sim_body_position(p.sim, ball).y, v = plane_vy(&p, ball);
        path += fabs(now - y);
        y = now;
        bounces += before < 0.0 && v > 0.0;
        if (bounces >= 1 && bounces <= 3) {
            top[bounces - 1] = fmax(top[bounces - 1], y - 0.1);
        }
        if (fabs(v) > 1e-9) {
            rest = k + 1;
        }
        before = v;
    }
    double t1 = sqrt(2.0 / G);
    near(rest * h, 3.0 * t1, 400.0 * h, "time to rest");
    near(path, 5.0 / 3.0, 100.0 * h, "path");
    near(top[0], 0.25, 20.0 * h, "first height");
    near(top[1], 0.0625, 20.0 * h, "second height");
    near(top[2], 0.015625, 20.0 * h, "third height");
    near(y, 0.1, stepper == PERP_STEPPER_MOREAU_JEAN ? 1e-6 : 1e-9, "rest");
    assert_true(bounces > 5);
    plane_close(&p);
}

static void ball_newton(void **state)
{
    (void)state;
    bouncing_ball(PERP_STEPPER_STEWART_TRINKLE, PERP_IMPACT_NEWTON, 1e-4);
}

// The height of the first rebound follows the parabola through the points of the steps, so that it hardly
// depends on h; what is left is where the highest point lies between two steps, a (h/2)^2/2 at most.
static void ball_height(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        double h = 0.02 * pow(0.6, i);
        plane p = {0};
        plane_open(&p);
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
        perp_body_def def = plane_body(1.0, 0.004, 0.0, 1.1, 0.0);
        perp_body ball = perp_builder_add_body(p.builder, &def);
        perp_shape_def disc = perp_shape_default();
        disc.kind = PERP_SHAPE_DISC;
        disc.radius = 0.1;
        disc.restitution = 0.8;
        perp_builder_add_shape(p.builder, ball, &disc);
        plane_start(&p);
        double top = 0.0;
        for (int k = 0; k < (int)(1.1 / h); k++) {
            plane_step(&p, h);
            if (k * h > 0.5) {
                top = fmax(top, perp_sim_body_position(p.sim, ball).y - 0.1);
            }
        }
        near(top, 0.64, G * h * h / 4.0 + 1e-9, "height of the first rebound");
        plane_close(&p);
    }
}

static void ball_poisson(void **state)
{
    (void)state;
    bouncing_ball(PERP_STEPPER_STEWART_TRINKLE, PERP_IMPACT_POISSON, 1e-4);
}

static void ball_moreau(void **state)
{
    (void)state;
    bouncing_ball(PERP_STEPPER_MOREAU_JEAN, PERP_IMPACT_NEWTON, 1e-4);
}

// Three balls in touch, the first with speed 1.
static void cradle(double e, perp_impact_law law, const double want[3])
{
    perp_body ball[3];
    plane p = {0};
    plane_open(&p);
    p.def.impact = law;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
    for (int i = 0; i < 3; i++) {
        perp_body_def def = plane_body(1.0, 0.005, 0.2 * i, 0.0, 0.0);
        def.velocity_W.x = i == 0 ? 1.0 : 0.0;
        ball[i] = perp_builder_add_body(p.builder, &def);
        perp_shape_def disc = perp_shape_default();
        disc.kind = PERP_SHAPE_DISC;
        disc.radius = 0.1;
        disc.restitution = e;
        perp_builder_add_shape(p.builder, ball[i], &disc);
    }
    plane_start(&p);
    plane_step(&p, 0.001);
    for (int i = 0; i < 3; i++) {
        near(plane_vx(&p, ball[i]), want[i], 1e-12, "speed");
    }
    plane_close(&p);
}

// Simultaneous impacts: e = 0 leaves one speed; e = 1 sends the first back, energy kept, for both laws.
static void newtons_cradle(void **state)
{
    (void)state;
    static const double together[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    static const double apart[3] = {-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0};
    cradle(0.0, PERP_IMPACT_NEWTON, together);
    cradle(1.0, PERP_IMPACT_NEWTON, apart);
    cradle(0.0, PERP_IMPACT_POISSON, together);
    cradle(1.0, PERP_IMPACT_POISSON, apart);
}

// ── Painlevé's rod ───────────────────────────────────────────────────────────────────────────────

typedef struct sliding_rod {
    double mu, slip, h, vx, vy, omega;
} sliding_rod;

static void slide_rod(const sliding_rod *r)
{
    double theta = atan(2.0), l = 1.0, m = 1.0;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_listed_only(p.builder, true);
    perp_shape floor = plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
    perp_body_def def = plane_rod(m, 2.0 * l, 0.0, 0.0, theta);
    def.velocity_W.x = r->slip;
    perp_body rod = perp_builder_add_body(p.builder, &def);
    plane_contact(&p, floor, plane_point(&p, rod, -l, 0.0), r->mu);
    plane_start(&p);
    plane_step(&p, r->h);
    near(plane_vx(&p, rod), r->vx, 1e-12, "vx");
    near(plane_vy(&p, rod), r->vy, 1e-12, "vy");
    near(plane_spin(&p, rod), r->omega, 1e-12, "omega");
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// A rod on its lower end at tan(theta) = 2 slides either way; above mu = 4/3 it cannot slide on towards
// its top: the step answers with an impulse that stops the slip, however small h is.
static void painleve(void **state)
{
    (void)state;
    static const sliding_rod rods[] = {
        {1.0, -1.0, 0.01, -0.75475, 0.14715, 0.3290374028890936},
        {1.0, -1.0, 1e-5, -0.99975475, 0.00014715, 0.000329037402889},
        {1.0, 1.0, 0.01, 0.9649642857142857, -0.06306428571428573, -0.14101602980961173},
        {1.5, 1.0, 0.01, 0.9567205882352942, -0.06924705882352943, -0.15484113077133838},
        {2.0, 1.0, 0.01, 0.95095, -0.073575, -0.164518701444547},
        {1.5, -1.0, 0.01, -0.57057, 0.285285, 0.6379166529610275},
        {1.5, -1.0, 1e-5, -0.59997057, 0.299985285, 0.670787489509648},
        {2.0, -1.0, 0.01, -0.57057, 0.285285, 0.6379166529610275},
        {2.0, -1.0, 1e-5, -0.59997057, 0.299985285, 0.670787489509648},
    };
    for (size_t i = 0; i < sizeof rods / sizeof rods[0]; i++) {
        slide_rod(&rods[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocking_block), cmocka_unit_test(ball_newton),
        cmocka_unit_test(ball_height),   cmocka_unit_test(ball_poisson),
        cmocka_unit_test(ball_moreau),   cmocka_unit_test(newtons_cradle),
        cmocka_unit_test(painleve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
