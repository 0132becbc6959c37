// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Torsional, rolling and anisotropic friction between events, against closed forms: a ball that spins, one that rolls, one
// that does both, one that lands spinning, one that is held on a slope, and a skid whose friction differs across.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81, MASS = 2.0, RADIUS = 0.1, INERTIA = 0.008;

static void near(double got, double want, double room)
{
    if (!(fabs(got - want) <= room)) {
        fail_msg("%.15g is not %.15g", got, want);
    }
}

typedef struct run {
    perp_scene *scene;
    perp_sim *sim;
} run;

// Quotes in the text are single ones.
static run start(const char *text)
{
    run r = {0};
    perp_error error = {0};
    char json[4096];
    size_t n = strlen(text);
    assert_true(n < sizeof json);
    for (size_t i = 0; i < n; i++) {
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    if (perp_scene_parse("turning", json, n, NULL, &r.scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    def.stepper = PERP_STEPPER_EVENT;
    if (perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return r;
}

// A ball on the floor, gravity g along a slope about y; friction: of the floor.
static run ball(const char *friction, double slope, double height, const char *motion)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{'name': 'turning', 'gravity': [%.17g, 0, %.17g], 'shapes': [{'name': 'floor',"
             " 'kind': 'halfspace', %s}], 'bodies': [{'name': 'ball', 'kind': 'solid', 'position':"
             " [0, 0, %.17g], 'mass': 2, 'inertia': [0.008, 0.008, 0.008], %s, 'shapes': [{'kind':"
             " 'sphere', 'radius': 0.1, 'mu': 0.5}]}]}",
             G * sin(slope), -G * cos(slope), friction, RADIUS + height, motion);
    return start(text);
}

static void end(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

static void step(run *r, double h)
{
    perp_status status = perp_sim_step(r->sim, h);
    if (status != PERP_OK) {
        fail_msg("t = %g: %d %s", perp_sim_time(r->sim), (int)status,
                 status < 0 ? perp_sim_error(r->sim)->text : perp_sim_info(r->sim)->remark);
    }
}

// The time of the first event of a kind in steps of 0.01 s.
static double first(run *r, perp_event_kind kind, double until)
{
    while (perp_sim_time(r->sim) < until) {
        step(r, 0.01);
        int count = 0;
        const perp_event *event = perp_sim_events(r->sim, &count);
        for (int i = 0; i < count; i++) {
            if (event[i].kind == kind) {
                return event[i].t;
            }
        }
    }
    return -1.0;
}

static perp_twist motion_of(const run *r)
{
    return perp_sim_body_twist(r->sim, (perp_body){1});
}

// I w_0 = mu_spin m g t
static void spinning_stops(void **state)
{
    (void)state;
    run r = ball("'mu': 0.5, 'mu_spin': 0.02", 0.0, 0.0, "'spin': [0, 0, 20]");
    step(&r, 0.01);
    double rate = 0.02 * MASS * G / INERTIA;
    near(motion_of(&r).w_W.z, 20.0 - rate * 0.01, 1e-10);
    int count = 0;
    const perp_contact *c = perp_sim_contacts(r.sim, &count);
    assert_int_equal(count, 1);
    near(c->moment_W.z, -0.02 * MASS * G * 0.01, 1e-12);
    double t = first(&r, PERP_EVENT_SLIP_TO_STICK, 1.0);
    print_message("spin: stops at %.15g, closed form %.15g\n", t, 20.0 / rate);
    near(t, 20.0 / rate, 1e-11);
    step(&r, 0.5);
    near(motion_of(&r).w_W.z, 0.0, 1e-12);
    end(&r);
}

// (m r^2 + I) a = mu_roll m g r
static void rolling_slows_down(void **state)
{
    (void)state;
    run r =
        ball("'mu': 0.5, 'mu_roll': 0.01", 0.0, 0.0, "'velocity': [1, 0, 0], 'spin': [0, 10, 0]");
    double a = 0.01 * MASS * G * RADIUS / (MASS * RADIUS * RADIUS + INERTIA);
    step(&r, 0.5);
    near(motion_of(&r).v_W.x, 1.0 - 0.5 * a, 1e-9);
    double t = first(&r, PERP_EVENT_SLIP_TO_STICK, 2.0);
    print_message("roll: stops at %.15g, closed form %.15g\n", t, 1.0 / a);
    near(t, 1.0 / a, 1e-10);
    near(perp_sim_body_position(r.sim, (perp_body){1}).x, 0.5 / a, 1e-9);
    end(&r);
}

// Both at once: they do not see each other.
static void rolling_and_spinning(void **state)
{
    (void)state;
    run r = ball("'mu': 0.5, 'mu_spin': 0.004, 'mu_roll': 0.01", 0.0, 0.0,
                 "'velocity': [0.6, 0.8, 0], 'spin': [-8, 6, 15]");
    double a = 0.01 * MASS * G * RADIUS / (MASS * RADIUS * RADIUS + INERTIA);
    step(&r, 0.7);
    perp_twist v = motion_of(&r);
    near(hypot(v.v_W.x, v.v_W.y), 1.0 - 0.7 * a, 1e-8);
    near(v.v_W.y / v.v_W.x, 0.8 / 0.6, 1e-8);
    near(v.w_W.z, 15.0 - 0.7 * 0.004 * MASS * G / INERTIA, 1e-8);
    end(&r);
}

// A slope holds a ball up to tan = mu_roll / r; beyond it rolls with (m r^2 + I) a = m g r (r sin - mu_roll cos).
static void a_slope_holds_up_to_its_angle(void **state)
{
    (void)state;
    double edge = atan(0.01 / RADIUS);
    run held = ball("'mu': 0.5, 'mu_roll': 0.01", 0.99 * edge, 0.0, "'spin': [0, 0, 0]");
    step(&held, 0.5);
    near(motion_of(&held).v_W.x, 0.0, 1e-12);
    end(&held);
    double slope = 2.0 * edge;
    run rolls = ball("'mu': 0.5, 'mu_roll': 0.01", slope, 0.0, "'spin': [0, 0, 0]");
    step(&rolls, 0.5);
    double a = MASS * G * RADIUS * (RADIUS * sin(slope) - 0.01 * cos(slope)) /
               (MASS * RADIUS * RADIUS + INERTIA);
    near(motion_of(&rolls).v_W.x, 0.5 * a, 1e-8);
    end(&rolls);
}

// An impact takes mu_spin p_n of the spin.
static void an_impact_brakes_the_spin(void **state)
{
    (void)state;
    run r = ball("'mu': 0.5, 'mu_spin': 0.02, 'restitution': 0.5", 0.0, 0.2, "'spin': [0, 0, 100]");
    double t = sqrt(2.0 * 0.2 / G), before = G * t, p = 1.5 * MASS * before;
    step(&r, t + 0.01);
    print_message("impact: spin %.12g, closed form %.12g\n", motion_of(&r).w_W.z,
                  100.0 - 0.02 * p / INERTIA);
    near(motion_of(&r).w_W.z, 100.0 - 0.02 * p / INERTIA, 1e-9);
    near(motion_of(&r).v_W.z, 0.5 * before - 0.01 * G, 1e-9);
    end(&r);
}

// Friction of the ellipse with the axes mu, mu_2 is most against the slip: v_y / v_x^k is kept, k = (mu_2/mu)^2.
static void a_skid_with_other_friction_across(void **state)
{
    (void)state;
    const double mu = 0.3, mu_2 = 0.15, h = 0.01;
    static const double from[3][2] = {{1.0, 0.0}, {0.0, 1.0}, {1.0, 0.7}};
    for (int i = 0; i < 3; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{'name': 'skid', 'gravity': [0, 0, -9.81], 'shapes': [{'name': 'floor', 'kind':"
                 " 'halfspace'}], 'bodies': [{'name': 'p', 'kind': 'point_mass', 'position': [0, 0,"
                 " 0.1], 'mass': 2, 'velocity': [%.17g, %.17g, 0], 'shapes': [{'name': 'tip',"
                 " 'kind': 'sphere', 'radius': 0.1}]}], 'pairs': [{'a': 'floor', 'b': 'tip', 'mu':"
                 " %.17g, 'mu_2': %.17g, 'tangent': [1, 0, 0]}]}",
                 from[i][0], from[i][1], mu, mu_2);
        run r = start(text);
        for (int k = 0; k < 15; k++) {
            step(&r, h);
        }
        perp_vec3 v = motion_of(&r).v_W;
        double t = perp_sim_time(r.sim);
        if (from[i][1] == 0.0) {
            near(v.x, 1.0 - mu * G * t, 1e-10);
        } else if (from[i][0] == 0.0) {
            near(v.y, 1.0 - mu_2 * G * t, 1e-10);
        } else {
            double power = (mu_2 / mu) * (mu_2 / mu);
            print_message("skid: %.12g, kept %.12g\n", v.y / pow(v.x, power), 0.7);
            near(v.y / pow(v.x, power), 0.7, 1e-8);
        }
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinning_stops),
        cmocka_unit_test(rolling_slows_down),
        cmocka_unit_test(rolling_and_spinning),
        cmocka_unit_test(a_slope_holds_up_to_its_angle),
        cmocka_unit_test(an_impact_brakes_the_spin),
        cmocka_unit_test(a_skid_with_other_friction_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
