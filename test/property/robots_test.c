// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random robots: trees of links in the plane and in space, with actuators of every kind, effort limits, joint limits,
// friction, rotors, filters and a floor. Every step is certified or says why not; body and joint coordinates describe
// the same motion.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS_MOST = 10, STEPS = 50 };

typedef struct robot {
    plane p;
    bool spatial, floor;
    int links, actuators;
    perp_joint joint[LINKS_MOST];
} robot;

// ── Making them ──────────────────────────────────────────────────────────────────────────────────

static perp_vec3 up(const robot *m, double height)
{
    return m->spatial ? (perp_vec3){0.0, 0.0, height} : (perp_vec3){0.0, height, 0.0};
}

static perp_body add_link(robot *m, rng *r, perp_vec3 at)
{
    perp_body_def def = perp_body_default();
    def.kind = m->spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    def.position_W = at;
    def.mass = rng_uniform(r, 0.3, 2.0);
    def.inertia_zz = rng_uniform(r, 0.02, 0.1);
    for (int k = 0; m->spatial && k < 3; k++) {
        def.inertia_B[k] = rng_uniform(r, 0.04, 0.07);
    }
    perp_body body = perp_builder_add_body(m->p.builder, &def);
    if (rng_below(r, 2) == 0) {
        perp_shape_def ball = perp_shape_default();
        ball.kind = m->spatial ? PERP_SHAPE_SPHERE : PERP_SHAPE_DISC;
        ball.radius = 0.1;
        ball.mu = 0.5;
        ball.group = 1;
        ball.mask = 2;  // the floor only
        perp_builder_add_shape(m->p.builder, body, &ball);
    }
    return body;
}

static perp_joint add_joint(robot *m, rng *r, perp_body a, perp_vec3 anchor_a, perp_body b,
                            perp_vec3 anchor_b)
{
    perp_joint_def def = perp_joint_default();
    bool slides = rng_below(r, 4) == 0;
    def.kind = slides ? PERP_JOINT_PRISMATIC : PERP_JOINT_REVOLUTE;
    def.a = a;
    def.b = b;
    def.anchor_A = anchor_a;
    def.anchor_B = anchor_b;
    def.axis_angle = rng_uniform(r, -3.0, 3.0);
    def.axis_A = (perp_vec3){rng_normal(r), rng_normal(r), rng_normal(r)};
    def.armature = rng_below(r, 2) == 0 ? rng_uniform(r, 0.01, 0.3) : 0.0;
    def.friction = rng_below(r, 3) == 0 ? rng_uniform(r, 0.05, 0.5) : 0.0;
    def.damping = rng_uniform(r, 0.0, 0.5);
    if (rng_below(r, 3) == 0) {
        def.lower = slides ? -0.1 : -0.5;
        def.upper = slides ? 0.2 : 0.8;
    }
    return perp_builder_add_joint(m->p.builder, &def);
}

static void add_actuator(robot *m, rng *r, perp_joint joint)
{
    static const char *const controls[] = {"0.3*sin(9*t)", "goal", "0.5*goal - 0.2", "-0.4"};
    perp_actuator_def def = perp_actuator_default();
    def.kind = (perp_actuator_kind)rng_below(r, 4);
    def.joint = joint;
    def.control = controls[rng_below(r, 4)];
    def.gear = rng_below(r, 3) == 0 ? -2.0 : rng_uniform(r, 0.5, 2.0);
    def.kp = pow(10.0, rng_uniform(r, 0.0, 3.0));
    def.kv = def.kp * rng_uniform(r, 0.01, 0.1);
    def.damping_ratio = rng_below(r, 2) == 0 ? rng_uniform(r, 0.3, 1.5) : -1.0;
    def.gain = rng_uniform(r, -3.0, 3.0);
    def.bias[0] = rng_uniform(r, -1.0, 1.0);
    def.bias[1] = rng_uniform(r, -10.0, 2.0);
    def.bias[2] = rng_uniform(r, -2.0, 0.2);
    if (rng_below(r, 2) == 0) {
        def.lower = -rng_uniform(r, 0.0, 10.0);
        def.upper = rng_uniform(r, 0.0, 10.0);
    }
    def.time_constant = rng_below(r, 3) == 0 ? rng_uniform(r, 0.01, 0.1) : 0.0;
    perp_builder_add_actuator(m->p.builder, &def);
    m->actuators++;
}

static void open_robot(robot *m, uint64_t seed, perp_coordinates coordinates, bool floor)
{
    rng r = rng_seed(seed);
    perp_body body[LINKS_MOST];
    perp_vec3 at[LINKS_MOST];
    *m = (robot){.spatial = seed % 2 == 0, .floor = floor};
    m->links = 3 + rng_below(&r, LINKS_MOST - 2);
    plane_open(&m->p);
    perp_input_def goal = perp_input_default();
    goal.name = "goal";
    goal.lower = -0.5;
    goal.upper = 0.5;
    perp_input u = perp_builder_add_input(m->p.builder, &goal);
    for (int i = 0; i < m->links; i++) {
        int from = i == 0 ? -1 : rng_below(&r, i);
        perp_vec3 arm = {rng_uniform(&r, 0.1, 0.3), rng_uniform(&r, -0.3, 0.3),
                         m->spatial ? rng_uniform(&r, -0.3, 0.3) : 0.0};
        perp_vec3 root = up(m, 1.0), start = from < 0 ? root : at[from];
        at[i] = space_add(start, space_scale(2.0, arm));
        body[i] = add_link(m, &r, at[i]);
        m->joint[i] =
            add_joint(m, &r, from < 0 ? PLANE_GROUND : body[from],
                      from < 0 ? space_add(root, arm) : arm, body[i], space_scale(-1.0, arm));
    }
    for (int i = 0; i < m->links; i++) {
        for (int k = rng_below(&r, 3); k > 0; k--) {
            add_actuator(m, &r, m->joint[i]);
        }
    }
    perp_builder_set_input_source(m->p.builder, u, "sin(7*t) - q[joint0] - 0.1*dq[joint1]");
    double lowest = 1.0;
    for (int i = 0; i < m->links; i++) {
        lowest = fmin(lowest, m->spatial ? at[i].z : at[i].y);
    }
    if (floor) {
        perp_shape_def def = perp_shape_default();
        def.kind = m->spatial ? PERP_SHAPE_HALFSPACE : PERP_SHAPE_HALFPLANE;
        def.position_B = up(m, lowest - 0.12);
        def.mu = 0.5;
        def.group = 2;
        perp_builder_add_shape(m->p.builder, PLANE_GROUND, &def);
    }
    m->p.def.coordinates = coordinates;
}

// ── What holds ───────────────────────────────────────────────────────────────────────────────────

// Numbers are finite, and the input is within its range.
static void judge_efforts(const robot *m, uint64_t seed)
{
    for (int i = 0; i < m->actuators; i++) {
        perp_actuator_state a = perp_sim_actuator(m->p.sim, (perp_actuator){i});
        CHECK(isfinite(a.effort) && isfinite(a.control) && isfinite(a.impulse), seed);
    }
    double goal = perp_sim_input(m->p.sim, (perp_input){0});
    CHECK(goal >= -0.5 && goal <= 0.5, seed);
}

typedef struct outcome {
    int steps, certified;
    char why[256];
} outcome;

// A step may fail or be inexact, but then says so; one that fails leaves the state as it was.
static outcome run(robot *m, double h, uint64_t seed)
{
    outcome out = {0};
    for (int i = 0; i < STEPS; i++) {
        uint64_t before = perp_sim_state_hash(m->p.sim);
        perp_status status = perp_sim_step(m->p.sim, h);
        const perp_step_info *info = perp_sim_info(m->p.sim);
        if (status < 0) {
            CHECK(perp_sim_error(m->p.sim)->text[0], seed);
            CHECK(perp_sim_state_hash(m->p.sim) == before, seed);
            snprintf(out.why, sizeof out.why, "%s", perp_sim_error(m->p.sim)->text);
            return out;
        }
        CHECK((status == PERP_OK) == info->certificate.passed, seed);
        judge_efforts(m, seed);
        out.steps++;
        out.certified += info->certificate.passed;
    }
    return out;
}

// Of 200 robots of 50 steps each, none fails; nearly all steps are certified (all of them when this was written).
static void every_step_is_certified_or_says_why(void **state)
{
    (void)state;
    int failed = 0, steps = 0, certified = 0;
    FOR_SEEDS(seed, 200)
    {
        robot m;
        open_robot(&m, seed, seed % 3 == 0 ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY, true);
        plane_start(&m.p);
        outcome out = run(&m, 0.002, seed);
        steps += out.steps;
        certified += out.certified;
        if (out.why[0]) {
            print_error("PERP_SEED=%llu: %s\n", (unsigned long long)seed, out.why);
            failed++;
        }
        plane_close(&m.p);
    }
    assert_int_equal(failed, 0);
    assert_true(certified >= 0.98 * steps);
}

// Whether all steps of the stepper event are certified.
static bool events_are_certified(uint64_t seed)
{
    robot m;
    open_robot(&m, seed, PERP_COORDINATES_JOINT, true);
    m.p.def.stepper = PERP_STEPPER_EVENT;
    plane_start(&m.p);
    outcome out = run(&m, 0.002, seed);
    plane_close(&m.p);
    if (out.certified < STEPS) {
        print_error("PERP_SEED=%llu: %d of %d steps, %s\n", (unsigned long long)seed, out.certified,
                    STEPS, out.why);
    }
    return out.certified == STEPS;
}

// In the 36th, dry friction in three joints and two contacts on exact cones have to be found together.
// In the last three short steps reach the end of a step while joints with dry friction turn.
static void every_event_is_certified(void **state)
{
    static const uint64_t more[] = {99, 187, 190};
    (void)state;
    int failed = 0;
    FOR_SEEDS(seed, 60)
    {
        failed += !events_are_certified(seed);
    }
    for (int k = 0; k < 3; k++) {
        failed += !events_are_certified(more[k]);
    }
    assert_int_equal(failed, 0);
}

// The same robot in both coordinates: they differ by the order of the scheme, and half of that with half the step.
static double apart(uint64_t seed, double h)
{
    double x[2][LINKS_MOST], worst = 0.0;
    int links = 0;
    for (int k = 0; k < 2; k++) {
        robot m;
        open_robot(&m, seed, k == 0 ? PERP_COORDINATES_BODY : PERP_COORDINATES_JOINT, false);
        plane_start(&m.p);
        plane_run(&m.p, h, (int)lround(0.05 / h));
        links = m.links;
        for (int i = 0; i < links; i++) {
            x[k][i] = perp_sim_joint(m.p.sim, m.joint[i]).coordinate;
        }
        plane_close(&m.p);
    }
    for (int i = 0; i < links; i++) {
        worst = fmax(worst, fabs(x[0][i] - x[1][i]));
    }
    return worst;
}

static void coordinates_agree(void **state)
{
    (void)state;
    double before = 0.0, after = 0.0;
    FOR_SEEDS(seed, 30)
    {
        double far = apart(seed, 1e-3), close = apart(seed, 2.5e-4);
        if (!(close <= 0.01)) {
            fail_msg("PERP_SEED=%llu: %.3g apart at 1 ms, %.3g at 0.25 ms",
                     (unsigned long long)seed, far, close);
        }
        before += far;
        after += close;
    }
    if (!(after <= 0.4 * before)) {
        fail_msg("on average %.3g apart at 1 ms, %.3g at 0.25 ms", before / 30, after / 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_certified_or_says_why),
        cmocka_unit_test(coordinates_agree),
        cmocka_unit_test(every_event_is_certified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
