// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The stepper event against closed forms: times of events, impulses, modes.
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>
#include <perp/perp.h>
#include <string.h>

static const double G = 9.81;

typedef struct world {
    perp_builder *builder;
    perp_model *model;
    perp_sim *sim;
    perp_sim_def def;
} world;

static world start(void)
{
    world w = {.builder = perp_builder_create(NULL), .def = perp_sim_default()};
    w.def.stepper = PERP_STEPPER_EVENT;
    return w;
}

static void finish_model(world *w)
{
    perp_error error = {0};
    if (perp_model_create(w->builder, &w->model, &error) < 0 ||
        perp_sim_create(w->model, &w->def, NULL, &w->sim, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
}

static void stop(world *w)
{
    perp_sim_destroy(w->sim);
    perp_model_destroy(w->model);
    perp_builder_destroy(w->builder);
}

static perp_shape add_floor(world *w, double mu, double e, double angle)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_HALFPLANE;
    def.mu = mu;
    def.restitution = e;
    def.angle = angle;
    return perp_builder_add_shape(w->builder, (perp_body){0}, &def);
}

static perp_body add_disc(world *w, perp_vec3 at, perp_vec3 velocity, double mu)
{
    perp_body_def body = perp_body_default();
    body.position_W = at;
    body.velocity_W = velocity;
    body.mass = 1.0;
    body.inertia_zz = 0.5 * 0.01;
    perp_body b = perp_builder_add_body(w->builder, &body);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_DISC;
    shape.radius = 0.1;
    shape.mu = mu;
    perp_builder_add_shape(w->builder, b, &shape);
    return b;
}

static perp_body add_box(world *w, perp_body_def body, double width, double height, double mu)
{
    body.mass = 2.0;
    body.inertia_zz = body.mass * (width * width + height * height) / 12.0;
    perp_body b = perp_builder_add_body(w->builder, &body);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_BOX;
    shape.half = (perp_vec3){0.5 * width, 0.5 * height, 0.0};
    shape.mu = mu;
    perp_builder_add_shape(w->builder, b, &shape);
    return b;
}

static void run_to(world *w, double h, double end, perp_event *event, int most, int *count)
{
    while (perp_sim_time(w->sim) < end - 0.5 * h) {
        if (perp_sim_step(w->sim, h) != PERP_OK) {
            const perp_certificate *c = &perp_sim_info(w->sim)->certificate;
            print_error("%s %s: gap %g cone %g joint %g momentum %g energy %g residual %g\n",
                        perp_sim_error(w->sim)->text, perp_sim_info(w->sim)->remark, c->gap,
                        c->cone, c->joint, c->momentum, c->energy_created, c->residual);
            fail();
        }
        int n = 0;
        const perp_event *list = perp_sim_events(w->sim, &n);
        for (int i = 0; i < n && event; i++) {
            assert_true(*count < most);
            event[*count] = list[i];
            event[*count].q = event[*count].nu_before = event[*count].nu_after = NULL;
            ++*count;
        }
    }
}

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        print_error("got %.17g, want %.17g\n", got, want);
        fail();
    }
}

// Every impact of a ball with e = 1/2 in closed form, and the end of infinitely many.
static void test_bouncing_ball(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 0.0, 0.5, 0.0);
    perp_body ball = add_disc(&w, (perp_vec3){0.0, 1.1, 0.0}, (perp_vec3){0.3, 0.0, 0.0}, 0.0);
    finish_model(&w);
    perp_event event[64];
    int count = 0;
    run_to(&w, 0.02, 2.0, event, 64, &count);
    double first = sqrt(2.0 / G), speed = sqrt(2.0 * G), t = first;
    int k = 0;
    for (; k < count && event[k].kind == PERP_EVENT_IMPACT; k++) {
        near(event[k].t, t, 1e-9);
        near(event[k].rate_before, -speed, 1e-8);
        near(event[k].rate_after, 0.5 * speed, 1e-8);
        near(event[k].impulse, 1.5 * speed, 1e-8);
        speed *= 0.5;
        t += 2.0 * speed / G;
    }
    assert_true(k > 8);
    assert_int_equal(k, count - 1);
    assert_int_equal(event[k].kind, PERP_EVENT_ZENO);
    near(event[k].ratio, 0.5, 1e-4);
    near(event[k].t_end, 3.0 * first, 1e-8);
    near(perp_sim_body_position(w.sim, ball).y, 0.1, 1e-12);
    near(perp_sim_body_position(w.sim, ball).x, 0.6, 1e-10);
    stop(&w);
}

// A block slides, stops after v/(mu g), and stays.
static void test_block_stops(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 0.3, 0.0, 0.0);
    perp_body_def def = perp_body_default();
    def.position_W.y = 0.1;
    def.velocity_W.x = 2.0;
    perp_body block = add_box(&w, def, 0.4, 0.2, 0.3);
    finish_model(&w);
    perp_event event[8];
    int count = 0;
    run_to(&w, 0.05, 1.0, event, 8, &count);
    assert_int_equal(count, 2);  // both corners
    for (int i = 0; i < 2; i++) {
        assert_int_equal(event[i].kind, PERP_EVENT_SLIP_TO_STICK);
        near(event[i].t, 2.0 / (0.3 * G), 1e-11);
    }
    near(perp_sim_body_position(w.sim, block).x, 4.0 / (2.0 * 0.3 * G), 1e-11);
    near(perp_sim_body_twist(w.sim, block).v_W.x, 0.0, 1e-14);
    stop(&w);
}

// A push that grows with time moves a block when it passes mu m g.
static void test_push_starts_sliding(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 0.5, 0.0, 0.0);
    perp_body_def def = perp_body_default();
    def.position_W.y = 0.1;
    perp_body block = add_box(&w, def, 0.4, 0.2, 0.5);
    perp_force_def push = perp_force_default();
    push.kind = PERP_FORCE_WRENCH;
    push.b = block;
    push.fx = "20*t";
    perp_builder_add_force(w.builder, &push);
    finish_model(&w);
    perp_event event[8];
    int count = 0;
    run_to(&w, 0.05, 0.8, event, 8, &count);
    assert_true(count >= 1);
    double t0 = 0.5 * 2.0 * G / 20.0, past = 0.8 - t0;
    assert_int_equal(event[0].kind, PERP_EVENT_STICK_TO_SLIP);
    near(event[0].t, t0, 1e-9);
    near(perp_sim_body_twist(w.sim, block).v_W.x, 0.5 * 20.0 / 2.0 * past * past, 1e-9);
    stop(&w);
}

static double incline_speed(double angle, double mu)
{
    world w = start();
    add_floor(&w, mu, 0.0, angle);
    perp_body_def def = perp_body_default();
    def.position_W = (perp_vec3){-0.1 * sin(angle), 0.1 * cos(angle), 0.0};
    def.angle = angle;
    perp_body block = add_box(&w, def, 0.6, 0.2, mu);
    finish_model(&w);
    run_to(&w, 0.1, 1.0, NULL, 0, NULL);
    perp_vec3 v = perp_sim_body_twist(w.sim, block).v_W;
    stop(&w);
    return hypot(v.x, v.y);
}

static void test_incline_threshold(void **state)
{
    (void)state;
    double critical = atan(0.5);
    near(incline_speed(critical - 1e-6, 0.5), 0.0, 1e-12);
    near(incline_speed(critical + 1e-4, 0.5),
         G * (sin(critical + 1e-4) - 0.5 * cos(critical + 1e-4)), 1e-10);
    near(incline_speed(0.3, 0.0), G * sin(0.3), 1e-10);
}

// A disc with spin slides until it rolls: v/(3/2), at v k2 / ((1 + k2) mu g).
static void test_slip_to_roll(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 0.2, 0.0, 0.0);
    perp_body disc = add_disc(&w, (perp_vec3){0.0, 0.1, 0.0}, (perp_vec3){3.0, 0.0, 0.0}, 0.2);
    finish_model(&w);
    perp_event event[4];
    int count = 0;
    run_to(&w, 0.1, 1.0, event, 4, &count);
    assert_int_equal(count, 1);
    assert_int_equal(event[0].kind, PERP_EVENT_SLIP_TO_STICK);
    near(event[0].t, 3.0 / 3.0 / (0.2 * G), 1e-11);
    near(perp_sim_body_twist(w.sim, disc).v_W.x, 2.0, 1e-10);
    near(perp_sim_body_twist(w.sim, disc).w_W.z, -20.0, 1e-9);
    stop(&w);
}

// A rod pendulum let go level meets a stop at -0.3 rad, or rests on one at +0.3 rad.
static world pendulum(double lower, double e)
{
    world w = start();
    perp_body_def def = perp_body_default();
    def.position_W.x = 0.5;
    def.mass = 1.0;
    def.inertia_zz = 1.0 / 12.0;
    perp_body rod = perp_builder_add_body(w.builder, &def);
    perp_joint_def pin = perp_joint_default();
    pin.b = rod;
    pin.anchor_B.x = -0.5;
    pin.angle = -1.5707963267948966;
    pin.lower = lower;
    pin.upper = HUGE_VAL;
    pin.limit_restitution = e;
    perp_builder_add_joint(w.builder, &pin);
    finish_model(&w);
    return w;
}

static void test_joint_limit(void **state)
{
    (void)state;
    perp_event event[8];
    int count = 0;
    world w = pendulum(-0.3, 0.0);
    run_to(&w, 0.01, 1.0, event, 8, &count);
    assert_int_equal(event[0].kind, PERP_EVENT_LIMIT_REACHED);
    near(event[0].t, 0.5390552657221818, 1e-11);
    near(event[0].rate_before, -5.302410100602044, 1e-9);
    near(event[0].rate_after, 0.0, 1e-12);
    near(event[0].impulse, 1.7674700335340146, 1e-9);
    for (int i = 1; i < count; i++) {
        near(event[i].t, event[0].t, 1e-9);  // it leaves the stop at once
        assert_int_equal(event[i].kind, PERP_EVENT_LIMIT_LEFT);
    }
    stop(&w);
    w = pendulum(0.3, 0.0);
    count = 0;
    run_to(&w, 0.01, 1.0, event, 8, &count);
    assert_int_equal(count, 1);
    near(perp_sim_joint(w.sim, (perp_joint){0}).limit / 0.01, 1.4495266136738705, 1e-9);
    near(perp_sim_joint(w.sim, (perp_joint){0}).coordinate, 0.3, 1e-12);
    stop(&w);
}

// Housner: a block that rocks from one corner to the other keeps 1 - 3/2 sin^2(alpha) of its rate.
static void test_rocking_block(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 2.0, 0.0, 0.0);
    double b = 0.2, h = 1.0, tilt = 0.05, alpha = atan2(b, h), r = hypot(b, h);
    perp_body_def def = perp_body_default();
    def.angle = tilt;
    // On its right... the corner (-b, -h) stays at the origin.
    def.position_W = (perp_vec3){r * sin(alpha - tilt), r * cos(alpha - tilt), 0.0};
    add_box(&w, def, 2.0 * b, 2.0 * h, 2.0);
    finish_model(&w);
    double before = 0.0, after = 0.0;
    while (after == 0.0 && perp_sim_time(w.sim) < 2.0) {
        int n = 0;
        assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
        const perp_event *list = perp_sim_events(w.sim, &n);
        for (int i = 0; i < n && after == 0.0; i++) {
            if (list[i].kind == PERP_EVENT_IMPACT) {
                before = list[i].nu_before[2];
                after = list[i].nu_after[2];
            }
        }
    }
    near(after / before, 1.0 - 1.5 * sin(alpha) * sin(alpha), 1e-9);
    stop(&w);
}

static world rod(double mu, double slip)
{
    world w = start();
    perp_shape floor = add_floor(&w, mu, 0.0, 0.0);
    double theta = atan(2.0);
    perp_body_def def = perp_body_default();
    def.position_W = (perp_vec3){cos(theta), sin(theta), 0.0};
    def.angle = theta;
    def.velocity_W.x = slip;
    def.mass = 1.0;
    def.inertia_zz = 1.0 / 3.0;
    perp_body b = perp_builder_add_body(w.builder, &def);
    perp_shape_def end = perp_shape_default();
    end.kind = PERP_SHAPE_POINT;
    end.position_B.x = -1.0;
    perp_shape point = perp_builder_add_shape(w.builder, b, &end);
    perp_contact_def contact = perp_contact_default();
    contact.a = floor;
    contact.b = point;
    contact.mu = mu;
    perp_builder_add_contact(w.builder, &contact);
    perp_builder_set_listed_only(w.builder, true);
    finish_model(&w);
    return w;
}

// Painleve: beyond mu = 4/3 a rod at tan(theta) = 2 cannot slide towards its top; an impulse stops it.
static void test_painleve(void **state)
{
    (void)state;
    for (int k = 2; k < 6; k++) {
        for (int side = -1; side < 2; side += 2) {
            double mu = 0.5 * k, slip = side;
            world w = rod(mu, slip);
            int n = 0;
            assert_int_equal(perp_sim_step(w.sim, 1e-3), PERP_OK);
            const perp_event *list = perp_sim_events(w.sim, &n);
            bool jammed = mu > 4.0 / 3.0 && slip < 0.0;
            assert_int_equal(n > 0 && list[0].kind == PERP_EVENT_PAINLEVE, jammed);
            if (jammed) {
                near(list[0].impulse, 0.3, 1e-12);
                near(list[0].pf_W.x, 0.4, 1e-12);
                near(list[0].nu_after[0], -0.6, 1e-12);
                assert_false(perp_sim_info(w.sim)->unique);
            } else {
                double pn = G / (1.6 + mu * 1.2 * slip) * 1e-3;  // g h / (A_nn - mu d A_nt)
                near(perp_sim_contacts(w.sim, NULL)->pn, pn, 5e-3 * pn);
            }
            stop(&w);
        }
    }
}

// A rod that falls on a floor without friction: its middle goes straight down.
static void test_rod_falls(void **state)
{
    (void)state;
    world w = start();
    add_floor(&w, 0.0, 0.0, 0.0);
    perp_body_def def = perp_body_default();
    def.angle = 1.0;
    def.position_W.y = 0.5 * sin(1.0);
    def.mass = 1.0;
    def.inertia_zz = 1.0 / 12.0;
    perp_body b = perp_builder_add_body(w.builder, &def);
    perp_shape_def segment = perp_shape_default();
    segment.kind = PERP_SHAPE_SEGMENT;
    segment.half.x = 0.5;
    perp_builder_add_shape(w.builder, b, &segment);
    finish_model(&w);
    perp_event event[8];
    int count = 0;
    run_to(&w, 0.05, 0.5, event, 8, &count);
    assert_true(count >= 1);
    assert_int_equal(event[0].kind, PERP_EVENT_IMPACT);
    near(event[0].t, 0.3737770675882817, 1e-10);
    near(perp_sim_body_position(w.sim, b).x, 0.0, 1e-12);
    stop(&w);
}

// In space: a ball with a side wind of spin slides along a curve until it rolls, on the exact cone.
static void test_sphere_rolls(void **state)
{
    (void)state;
    world w = start();
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFSPACE;
    floor.mu = 0.2;
    perp_builder_add_shape(w.builder, (perp_body){0}, &floor);
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL;
    def.position_W.z = 0.1;
    def.velocity_W = (perp_vec3){3.0, 0.0, 0.0};
    def.omega_W = (perp_vec3){20.0, 0.0, 0.0};
    def.mass = 1.0;
    def.inertia_B[0] = def.inertia_B[1] = def.inertia_B[2] = 0.4 * 0.01;
    perp_body ball = perp_builder_add_body(w.builder, &def);
    perp_shape_def sphere = perp_shape_default();
    sphere.kind = PERP_SHAPE_SPHERE;
    sphere.radius = 0.1;
    sphere.mu = 0.2;
    perp_builder_add_shape(w.builder, ball, &sphere);
    finish_model(&w);
    perp_event event[8];
    int count = 0;
    run_to(&w, 0.05, 1.0, event, 8, &count);
    assert_int_equal(count, 1);
    // Slip (3, 2) keeps its direction and loses 7/2 mu g a second.
    near(event[0].t, hypot(3.0, 2.0) / (3.5 * 0.2 * G), 1e-9);
    perp_vec3 v = perp_sim_body_twist(w.sim, ball).v_W;
    near(v.x, 3.0 - 3.0 * 2.0 / 7.0, 1e-9);
    near(v.y, -2.0 * 2.0 / 7.0, 1e-9);
    stop(&w);
}

// A failed step leaves everything as it was; nothing hangs.
static void test_bound_on_events(void **state)
{
    (void)state;
    world w = start();
    w.def.event.max_events_per_second = 1.0;
    add_floor(&w, 0.0, 0.99, 0.0);
    add_disc(&w, (perp_vec3){0.0, 0.1 + 1e-6, 0.0}, (perp_vec3){0.0, 0.0, 0.0}, 0.0);
    finish_model(&w);
    double q[3], nu[3], q_after[3], nu_after[3], t;
    assert_int_equal(perp_sim_state_get(w.sim, &t, q, nu), PERP_OK);
    assert_int_equal(perp_sim_step(w.sim, 1.0), PERP_ERR_LIMIT);
    assert_non_null(strstr(perp_sim_error(w.sim)->text, "events"));
    assert_int_equal(perp_sim_state_get(w.sim, &t, q_after, nu_after), PERP_OK);
    assert_memory_equal(q, q_after, sizeof q);
    assert_memory_equal(nu, nu_after, sizeof nu);
    assert_true(t == 0.0);
    stop(&w);
}

// Random boxes thrown at a floor and at each other: impacts never create energy, whatever e and mu.
static void test_energy(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        world w = start();
        w.def.impact = seed % 2 ? PERP_IMPACT_NEWTON : PERP_IMPACT_POISSON;
        double mu = rng_uniform(&r, 0.0, 1.0);
        add_floor(&w, mu, rng_uniform(&r, 0.0, 1.0), 0.0);
        for (int i = 0; i < 2; i++) {
            perp_body_def def = perp_body_default();
            def.position_W = (perp_vec3){0.3 * i, 0.5 + 0.6 * i, 0.0};
            def.angle = rng_uniform(&r, -3.0, 3.0);
            def.velocity_W =
                (perp_vec3){rng_uniform(&r, -1.0, 1.0), rng_uniform(&r, -2.0, 0.0), 0.0};
            def.spin = rng_uniform(&r, -4.0, 4.0);
            add_box(&w, def, 0.4, 0.3, mu);
        }
        finish_model(&w);
        double last = HUGE_VAL;
        for (int k = 0; k < 40; k++) {
            perp_status status = perp_sim_step(w.sim, 0.02);
            if (status < 0) {
                print_error("%s\n", perp_sim_error(w.sim)->text);
            }
            CHECK(status >= 0, seed);
            const perp_step_info *info = perp_sim_info(w.sim);
            double energy = info->energy.kinetic + info->energy.potential;
            CHECK(energy <= last + 1e-9, seed);
            CHECK(info->certificate.gap <= 1e-8, seed);
            CHECK(info->certificate.cone <= 1e-9, seed);
            last = energy;
        }
        stop(&w);
    }
}

// Nothing moves, and the weld carries the weight: the certificate finds the momentum balanced.
static void test_all_welded(void **state)
{
    (void)state;
    world w = start();
    perp_body_def def = perp_body_default();
    def.position_W = (perp_vec3){0.5, 0.0, 0.0};
    perp_body b = add_box(&w, def, 1.0, 0.1, 0.0);
    perp_joint_def weld = perp_joint_default();
    weld.kind = PERP_JOINT_WELD;
    weld.b = b;
    weld.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
    perp_joint joint = perp_builder_add_joint(w.builder, &weld);
    finish_model(&w);
    run_to(&w, 0.01, 0.1, NULL, 0, NULL);
    perp_joint_state s = perp_sim_joint(w.sim, joint);
    near(s.impulse_b.f_W.y, 0.01 * 2.0 * G, 1e-12);
    near(s.impulse_b.tau_W.z, 0.0, 1e-12);
    stop(&w);
}

// A joint that must turn and a pin that lets it not: told as what it is, and nothing moves.
static void test_contradiction(void **state)
{
    (void)state;
    world w = start();
    perp_joint_def pin = perp_joint_default();
    pin.b = add_box(&w, perp_body_default(), 1.0, 0.1, 0.0);
    pin.rate = "1";
    perp_builder_add_joint(w.builder, &pin);
    pin.rate = NULL;
    pin.anchor_A = pin.anchor_B = (perp_vec3){0.2, 0.0, 0.0};
    perp_builder_add_joint(w.builder, &pin);
    finish_model(&w);
    assert_true(perp_sim_step(w.sim, 0.01) < 0);
    assert_non_null(strstr(perp_sim_error(w.sim)->text, "contradict"));
    assert_true(perp_sim_time(w.sim) == 0.0);
    stop(&w);
}

static world floor_and_box(perp_pair_def pair, perp_vec3 velocity, perp_vec3 omega)
{
    world w = start();
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFSPACE;
    pair.a = perp_builder_add_shape(w.builder, (perp_body){0}, &floor);
    perp_body_def body = perp_body_default();
    body.kind = PERP_BODY_SPATIAL;
    body.position_W = (perp_vec3){0.0, 0.0, 0.1};
    body.velocity_W = velocity;
    body.omega_W = omega;
    perp_shape_def box = perp_shape_default();
    box.kind = PERP_SHAPE_BOX;
    box.half = (perp_vec3){0.3, 0.2, 0.1};
    box.density = 100.0;
    pair.b = perp_builder_add_shape(w.builder, perp_builder_add_body(w.builder, &body), &box);
    perp_builder_add_pair(w.builder, &pair);
    return w;
}

// Friction that differs along x and y: a box slides v^2 / (2 mu g) along each.
static void test_friction_across(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        perp_pair_def pair = perp_pair_default();
        pair.mu = 0.1;
        pair.mu_2 = 0.4;
        pair.tangent_A = (perp_vec3){1.0, 0.0, 0.0};
        world w = floor_and_box(pair, (perp_vec3){k == 0 ? 0.5 : 0.0, k == 0 ? 0.0 : 0.5, 0.0},
                                (perp_vec3){0.0, 0.0, 0.0});
        finish_model(&w);
        run_to(&w, 0.01, 0.8, NULL, 0, NULL);
        perp_vec3 at = perp_sim_body_position(w.sim, (perp_body){1});
        near(k == 0 ? at.x : at.y, 0.25 / (2.0 * (k == 0 ? 0.1 : 0.4) * G), 1e-9);
        near(k == 0 ? at.y : at.x, 0.0, 1e-9);
        stop(&w);
    }
}

// A box that turns on its base: torsional friction at four points.
static void test_torsion_of_a_face(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        perp_pair_def pair = perp_pair_default();
        pair.mu_spin = 0.01;
        world w = floor_and_box(pair, (perp_vec3){0.0, 0.0, 0.0}, (perp_vec3){0.0, 0.0, 1.0});
        w.def.friction = k == 0 ? PERP_FRICTION_COULOMB : PERP_FRICTION_NONE;
        perp_error error = {0};
        assert_int_equal(perp_model_create(w.builder, &w.model, &error), PERP_OK);
        assert_int_equal(perp_sim_create(w.model, &w.def, NULL, &w.sim, &error), PERP_OK);
        assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
        double spin = perp_sim_body_twist(w.sim, (perp_body){1}).w_W.z;
        assert_true(k == 0 ? spin < 0.999 && spin >= 0.0 : fabs(spin - 1.0) < 1e-12);
        stop(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bouncing_ball),       cmocka_unit_test(test_block_stops),
        cmocka_unit_test(test_push_starts_sliding), cmocka_unit_test(test_incline_threshold),
        cmocka_unit_test(test_slip_to_roll),        cmocka_unit_test(test_joint_limit),
        cmocka_unit_test(test_rocking_block),       cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_rod_falls),           cmocka_unit_test(test_sphere_rolls),
        cmocka_unit_test(test_bound_on_events),     cmocka_unit_test(test_energy),
        cmocka_unit_test(test_all_welded),          cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_friction_across),     cmocka_unit_test(test_torsion_of_a_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
