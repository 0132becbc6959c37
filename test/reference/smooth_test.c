// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines without contact against closed forms and accurate integrations, in the limit of small steps.
#include "support/cmocka.h"
#include "support/converge.h"
#include "support/plane.h"

#include <math.h>

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

// ── Pendulums ────────────────────────────────────────────────────────────────────────────────────

// A particle on a massless bar of 1 m, let go at (-1, 0); 1 s.
static void run_particle_pendulum(double h, double *out)
{
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_particle(1.0, -1.0, 0.0);
    perp_body mass = perp_builder_add_body(p.builder, &def);
    perp_joint_def bar = perp_joint_default();
    bar.kind = PERP_JOINT_DISTANCE;
    bar.b = mass;
    bar.length = 1.0;
    perp_builder_add_joint(p.builder, &bar);
    plane_start(&p);
    plane_run(&p, h, steps_to(1.0, h));
    out[0] = perp_sim_body_position(p.sim, mass).x;
    out[1] = perp_sim_body_position(p.sim, mass).y;
    plane_close(&p);
}

static void particle_pendulum(void **state)
{
    (void)state;
    static const double want[] = {0.9862917511318754, -0.165010853125541};
    converge_check("pendulum", run_particle_pendulum, 0.001, 2, want, 2e-3, 2e-6);
}

// A rod let go horizontally; angle from hanging, rate, reaction at the pin along and across, at 0.5 s.
static void run_rod_pendulum(double h, double *out)
{
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, 0.0);
    perp_body rod = perp_builder_add_body(p.builder, &def);
    perp_joint pin = plane_pin(&p, PLANE_GROUND, (perp_vec3){0}, rod, (perp_vec3){-0.5, 0.0, 0.0});
    plane_start(&p);
    plane_run(&p, h, steps_to(0.5, h));
    double angle = perp_sim_body_angle(p.sim, rod);
    perp_vec3 f = perp_sim_joint(p.sim, pin).impulse_b.f_W;
    out[0] = angle + 0.5 * PI;
    out[1] = plane_spin(&p, rod);
    out[2] = -(f.x * cos(angle) + f.y * sin(angle)) / h;
    out[3] = (-f.x * sin(angle) + f.y * cos(angle)) / h;
    plane_close(&p);
}

static void rod_pendulum(void **state)
{
    (void)state;
    static const double want[] = {-0.09035208995597252, -5.413866990753794, 24.42496316131129,
                                  -0.22128713402695177};
    converge_check("rod", run_rod_pendulum, 0.001, 4, want, 5e-2, 2e-5);
}

typedef struct chain {
    int count;
    double m[10], L[10], theta[10], omega[10];
} chain;

// Rods hung on each other, the first on the origin; angles and rates at the time t.
static void run_chain(const chain *c, double t, double h, double *out)
{
    plane p = {0};
    perp_body rod[10], above = PLANE_GROUND;
    perp_vec3 end = {0.0, 0.0, 0.0}, speed = {0.0, 0.0, 0.0}, hook = {0.0, 0.0, 0.0};
    plane_open(&p);
    for (int i = 0; i < c->count; i++) {
        double half = 0.5 * c->L[i], dx = half * cos(c->theta[i]), dy = half * sin(c->theta[i]);
        perp_body_def def = plane_rod(c->m[i], c->L[i], end.x, end.y, c->theta[i]);
        def.spin = c->omega[i];
        def.velocity_W = (perp_vec3){speed.x - c->omega[i] * dy, speed.y + c->omega[i] * dx, 0.0};
        rod[i] = perp_builder_add_body(p.builder, &def);
        plane_pin(&p, above, hook, rod[i], (perp_vec3){-half, 0.0, 0.0});
        end = (perp_vec3){end.x + 2.0 * dx, end.y + 2.0 * dy, 0.0};
        speed =
            (perp_vec3){speed.x - 2.0 * c->omega[i] * dy, speed.y + 2.0 * c->omega[i] * dx, 0.0};
        hook = (perp_vec3){half, 0.0, 0.0};
        above = rod[i];
    }
    plane_start(&p);
    plane_run(&p, h, steps_to(t, h));
    for (int i = 0; i < c->count; i++) {
        out[i] = perp_sim_body_angle(p.sim, rod[i]);
    }
    plane_close(&p);
}

static void run_double(double h, double *out)
{
    static const chain c = {
        .count = 2, .m = {1.0, 0.8}, .L = {1.0, 0.7}, .theta = {0.0, -0.5}, .omega = {0.0, 0.5}};
    run_chain(&c, 1.0, h, out);
}

static void run_five(double h, double *out)
{
    chain c = {.count = 5};
    for (int i = 0; i < 5; i++) {
        c.m[i] = 1.0;
        c.L[i] = 0.4;
    }
    run_chain(&c, 0.375, h, out);
}

static void run_ten(double h, double *out)
{
    chain c = {.count = 10};
    for (int i = 0; i < 10; i++) {
        c.m[i] = 0.5;
        c.L[i] = 0.2;
        c.theta[i] = 0.3 - 0.6 * i / 9.0;
    }
    run_chain(&c, 0.25, h, out);
}

static void pendulum_chains(void **state)
{
    (void)state;
    static const double two[] = {-2.884502859407599, -2.3984572725816133};
    static const double five[] = {-0.9174516221136045, -0.7562046707410908, -0.33251064150615756,
                                  0.0980061417667422, -0.021434390742770922};
    static const double ten[] = {-0.5380105918381574,  -0.38922706776027155, -0.10797938192605097,
                                 0.19135858198228287,  0.06102321527203933,  -0.02353913625659999,
                                 -0.07603525668426556, -0.14866130262081592, -0.21453214271260934,
                                 -0.2775396874149439};
    converge_check("two rods", run_double, 0.001, 2, two, 1e-3, 2e-5);
    converge_check("five rods", run_five, 0.0005, 5, five, 2e-3, 2e-5);
    converge_check("ten rods", run_ten, 0.0005, 10, ten, 5e-3, 2e-4);
}

// ── Joint limits ─────────────────────────────────────────────────────────────────────────────────

// A rod let go at 90 degrees with a stop, angles from hanging.
static perp_joint rod_with_stop(plane *p, perp_body *rod, double lower, double restitution)
{
    plane_open(p);
    perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, 0.0);
    *rod = perp_builder_add_body(p->builder, &def);
    perp_joint_def pin = perp_joint_default();
    pin.kind = PERP_JOINT_REVOLUTE;
    pin.b = *rod;
    pin.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
    pin.angle = -0.5 * PI;
    pin.lower = lower;
    pin.upper = 10.0;
    pin.limit_restitution = restitution;
    perp_joint joint = perp_builder_add_joint(p->builder, &pin);
    plane_start(p);
    return joint;
}

static void joint_limit(void **state)
{
    (void)state;
    double h = 1e-5;
    plane p = {0};
    perp_body rod;
    perp_joint pin = rod_with_stop(&p, &rod, -0.3, 0.0);
    int steps = 0;
    double before = 0.0, impulse = 0.0;
    while (impulse == 0.0 && steps < 100000) {
        before = plane_spin(&p, rod);
        plane_step(&p, h);
        impulse = perp_sim_joint(p.sim, pin).limit;
        steps++;
    }
    plane_step(&p, h);
    impulse += perp_sim_joint(p.sim, pin).limit;  // the first step closes the gap, the second stops
    near(steps * h, 0.5390552657221818, 1e-4, "time of impact");
    near(before, -5.302410100602044, 1e-3, "rate before");
    near(impulse, 1.7674700335340146, 1e-3, "impulse");
    near(plane_spin(&p, rod), 0.0, 1e-3, "rate after");
    plane_close(&p);

    pin = rod_with_stop(&p, &rod, 0.3, 0.0);  // stays on the stop
    plane_run(&p, 1e-3, 2000);
    near(perp_sim_joint(p.sim, pin).limit / 1e-3, 0.5 * G * sin(0.3), 1e-6, "torque of the stop");
    near(perp_sim_joint(p.sim, pin).coordinate, 0.3, 1e-12, "angle on the stop");
    plane_close(&p);
}

// A stop with restitution 0.5 sends the rod back with half its rate, by either law.
static void joint_limit_bounces(void **state)
{
    (void)state;
    for (int law = 0; law < 2; law++) {
        plane p = {0};
        perp_body rod;
        perp_joint pin;
        plane_open(&p);
        perp_builder_destroy(p.builder);
        pin = rod_with_stop(&p, &rod, -0.3, 0.5);
        perp_sim_destroy(p.sim);
        p.def.impact = law == 0 ? PERP_IMPACT_NEWTON : PERP_IMPACT_POISSON;
        assert_int_equal(perp_sim_create(p.model, &p.def, NULL, &p.sim, NULL), PERP_OK);
        int steps = 0;
        do {
            plane_step(&p, 1e-4);
            steps++;
        } while (plane_spin(&p, rod) <= 0.0 && steps < 10000);
        near(plane_spin(&p, rod), 0.5 * 5.302410100602044, 5e-3, "rate after a bounce");
        assert_true(perp_sim_joint(p.sim, pin).limit > 0.0);
        plane_close(&p);
    }
}

// ── Springs ──────────────────────────────────────────────────────────────────────────────────────

// m = 1, K = 100, C = 2, 0.1 m from rest; 1 s.
static double run_spring(double h, double K, double C, bool implicit)
{
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body_def def = plane_particle(1.0, 1.1, 0.0);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.b = perp_builder_add_body(p.builder, &def);
    spring.stiffness = K;
    spring.damping = C;
    spring.rest = 1.0;
    spring.implicit = implicit;
    perp_builder_add_force(p.builder, &spring);
    plane_start(&p);
    plane_run(&p, h, steps_to(1.0, h));
    double x = perp_sim_body_position(p.sim, spring.b).x - 1.0;
    plane_close(&p);
    return x;
}

static void run_explicit(double h, double *out)
{
    out[0] = run_spring(h, 100.0, 2.0, false);
}

static void run_implicit(double h, double *out)
{
    out[0] = run_spring(h, 100.0, 2.0, true);
}

static void spring_damper(void **state)
{
    (void)state;
    static const double want[] = {-0.033685168059041336};
    converge_check("explicit spring", run_explicit, 0.001, 1, want, 1e-3, 1e-6);
    converge_check("implicit spring", run_implicit, 0.001, 1, want, 1e-3, 1e-6);
    // A spring far too stiff for its step: the implicit one comes to rest.
    near(run_spring(0.01, 1e8, 0.0, true), 0.0, 1e-9, "stiff spring");
    near(run_spring(0.01, 0.0, 1e8, true), 0.1, 1e-9, "stiff damper");
}

// x'' = -C x': v = v0 e^{-C t/m}; implicit drag does the same, and stays stable however large.
static void drag(void **state)
{
    (void)state;
    for (int implicit = 0; implicit < 2; implicit++) {
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
        perp_body_def def = plane_body(2.0, 0.5, 0.0, 0.0, 0.0);
        def.velocity_W = (perp_vec3){3.0, -1.0, 0.0};
        def.spin = 4.0;
        perp_body body = perp_builder_add_body(p.builder, &def);
        perp_force_def air = perp_force_default();
        air.kind = PERP_FORCE_DRAG;
        air.b = body;
        air.damping = 1.0;
        air.damping_w = 0.5;
        air.implicit = implicit == 1;
        perp_builder_add_force(p.builder, &air);
        plane_start(&p);
        double h = 1e-3, factor = implicit ? 1.0 / (1.0 + 0.5 * h) : 1.0 - 0.5 * h;
        plane_run(&p, h, 1000);
        near(plane_vx(&p, body), 3.0 * pow(factor, 1000), 1e-12, "vx");
        near(plane_vy(&p, body), -pow(factor, 1000), 1e-12, "vy");
        factor = implicit ? 1.0 / (1.0 + h) : 1.0 - h;
        near(plane_spin(&p, body), 4.0 * pow(factor, 1000), 1e-12, "spin");
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particle_pendulum),
        cmocka_unit_test(rod_pendulum),
        cmocka_unit_test(pendulum_chains),
        cmocka_unit_test(joint_limit),
        cmocka_unit_test(joint_limit_bounces),
        cmocka_unit_test(spring_damper),
        cmocka_unit_test(drag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
