// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees by hand: how a tree is chosen, names, states in and out, what holds, and what a caller can do wrong.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/plane.h"
#include "support/rods.h"
#include "support/space.h"

#include <math.h>
#include <string.h>

// ── How a tree is chosen ─────────────────────────────────────────────────────────────────────────

// A four-bar of three moving bars, a distance, a gear, and a free body.
typedef struct bars {
    perp_model *model;
    perp_joint joint[6];
} bars;

static void open_bars(bars *f)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_body body[5] = {{0}};
    for (int i = 1; i < 5; i++) {
        perp_body_def def = plane_body(1.0, 0.1, 0.3 * i, 0.2, 0.0);
        body[i] = perp_builder_add_body(b, &def);
    }
    for (int i = 0; i < 4; i++) {
        perp_joint_def pin = perp_joint_default();
        pin.kind = PERP_JOINT_REVOLUTE;
        pin.a = body[i];
        pin.b = body[(i + 1) % 4];
        pin.anchor_A = (perp_vec3){0.1, 0.0, 0.0};
        pin.anchor_B = (perp_vec3){-0.2, 0.0, 0.0};
        f->joint[i] = perp_builder_add_joint(b, &pin);
    }
    perp_joint_def rod = perp_joint_default();
    rod.kind = PERP_JOINT_DISTANCE;
    rod.a = body[1];
    rod.b = body[3];
    rod.length = 1.0;
    f->joint[4] = perp_builder_add_joint(b, &rod);
    perp_joint_def gear = perp_joint_default();
    gear.kind = PERP_JOINT_GEAR;
    gear.joint_a = f->joint[0];
    gear.joint_b = f->joint[1];
    gear.ratio = 2.0;
    f->joint[5] = perp_builder_add_joint(b, &gear);
    perp_error error = {0};
    if (perp_model_create(b, &f->model, &error) < 0) {
        fail_msg("bars: %s", error.text);
    }
    perp_builder_destroy(b);
}

static void loops_are_left_over(void **state)
{
    (void)state;
    bars f;
    open_bars(&f);
    perp_tree *tree = NULL;
    int count, nq, nv;
    assert_int_equal(perp_tree_create(f.model, NULL, 0, NULL, &tree, NULL), PERP_OK);
    perp_tree_size(tree, &nq, &nv);
    assert_true(nq == 6 && nv == 6);  // three pins and a free body
    const perp_joint *loop = perp_tree_loops(tree, &count);
    // breadth first: the loop is closed far from the ground
    assert_true(count == 3 && loop[0].i == f.joint[2].i && loop[1].i == f.joint[4].i &&
                loop[2].i == f.joint[5].i);
    const perp_link *link = perp_tree_links(tree, &count);
    assert_true(count == 4 && link[0].joint.i == 0 && link[1].joint.i == 3 &&
                link[3].joint.i == -1);
    assert_string_equal(perp_tree_coordinate_name(tree, 0), "joint0.angle");
    assert_string_equal(perp_tree_velocity_name(tree, 0), "joint0.rate");
    assert_string_equal(perp_tree_velocity_name(tree, 3), "body4.vx");
    assert_null(perp_tree_coordinate_name(tree, 6));
    assert_null(perp_tree_velocity_name(tree, -1));
    int rows;
    perp_rate rate[PERP_JOINT_MAX_ROWS];
    double J[PERP_JOINT_MAX_ROWS * 6];
    assert_int_equal(perp_tree_equations(tree, f.joint[2], &rows, rate, J), PERP_OK);
    assert_int_equal(rows, 2);
    assert_int_equal(perp_tree_equations(tree, f.joint[5], &rows, rate, J), PERP_OK);
    assert_int_equal(rows, 1);
    assert_int_equal(perp_tree_joint(tree, f.joint[5], rate, J), PERP_ERR_ARGUMENT);
    perp_tree_destroy(tree);
    perp_model_destroy(f.model);
}

static void a_user_names_the_tree(void **state)
{
    (void)state;
    bars f;
    open_bars(&f);
    perp_tree *tree = NULL;
    perp_error error;
    int count;
    const perp_joint around[] = {f.joint[3], f.joint[2]};
    assert_int_equal(perp_tree_create(f.model, around, 2, NULL, &tree, &error), PERP_OK);
    const perp_joint *loop = perp_tree_loops(tree, &count);
    assert_true(count == 3 && loop[0].i == f.joint[1].i);
    perp_tree_destroy(tree);
    const perp_joint rod[] = {f.joint[4]}, gear[] = {f.joint[5]}, none[] = {{17}};
    const perp_joint all[] = {f.joint[0], f.joint[1], f.joint[2], f.joint[3]};
    const perp_joint twice[] = {f.joint[1], f.joint[1]};
    assert_int_equal(perp_tree_create(f.model, rod, 1, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "joint4"));
    assert_null(tree);
    assert_int_equal(perp_tree_create(f.model, gear, 1, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_create(f.model, none, 1, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_create(f.model, all, 4, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "joint3"));
    assert_int_equal(perp_tree_create(f.model, twice, 2, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "twice"));
    assert_int_equal(perp_tree_create(NULL, NULL, 0, NULL, &tree, &error), PERP_ERR_ARGUMENT);
    perp_model_destroy(f.model);
}

// ── What holds ───────────────────────────────────────────────────────────────────────────────────

// A four-bar that is driven: loops and the drive are held, and stay held where a small step leads.
static void loops_and_drives_are_held(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    perp_body body[4] = {{0}};
    static const double x[4] = {0.0, 0.0, 1.0, 2.0}, y[4] = {0.0, 0.5, 1.0, 0.5};
    static const double angle[4] = {0.0, 1.5707963267948966, 0.0, -1.5707963267948966};
    static const double half[4] = {0.0, 0.5, 1.0, 0.5};
    for (int i = 1; i < 4; i++) {
        perp_body_def def = plane_body(1.0, 0.1, x[i], y[i], angle[i]);
        body[i] = perp_builder_add_body(b, &def);
    }
    for (int i = 0; i < 4; i++) {
        perp_joint_def pin = perp_joint_default();
        pin.kind = PERP_JOINT_REVOLUTE;
        pin.a = body[i];
        pin.b = body[(i + 1) % 4];
        pin.anchor_A = (perp_vec3){i > 0 ? half[i] : 0.0, 0.0, 0.0};
        pin.anchor_B = (perp_vec3){i < 3 ? -half[i + 1] : 2.0, 0.0, 0.0};
        pin.target = i == 0 ? "1.5707963267948966 + 0.4*sin(2*t)" : NULL;
        pin.rate = i == 3 ? "-0.8*cos(2*t)" : NULL;
        perp_builder_add_joint(b, &pin);
    }
    perp_error error = {0};
    perp_model *model = NULL;
    perp_tree *tree = NULL;
    perp_constraints c;
    if (perp_model_create(b, &model, &error) < 0 ||
        perp_tree_create(model, NULL, 0, NULL, &tree, &error) < 0) {
        fail_msg("four-bar: %s", error.text);
    }
    double q[3], qd[3], rhs[4], qdd[3], tau[3], lambda[4], zero[4] = {0.0};
    int rank;
    // velocities as the constraints have them: an impact on J qd + rate = 0
    assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
    assert_int_equal(c.rows, 4);
    assert_string_equal(c.name[0], "joint0.target");
    assert_true(!c.is_rate[0] && c.is_rate[3]);
    for (int i = 0; i < 4; i++) {
        rods_near(c.rate[i].value, 0.0, 1e-15);
        rhs[i] = -c.rate[i].rate;
    }
    perp_tree_rows hold = {4, 0, c.J, rhs};
    assert_int_equal(perp_tree_impact(tree, &hold, qd, lambda, &rank), PERP_OK);
    assert_int_equal(rank, 3);  // the rate follows from the target
    perp_tree_get(tree, NULL, q, NULL);
    assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
    // one step of h leaves errors of third order where accelerations are right
    double worst[2];
    for (int k = 0; k < 2; k++) {
        double h = k == 0 ? 1e-2 : 5e-3, next[3];
        assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
        assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
        perp_tree_stabilise(tree, &c, 0.0, rhs);
        assert_int_equal(perp_tree_forces(tree, NULL, tau), PERP_OK);
        hold = (perp_tree_rows){4, 0, c.J, rhs};
        assert_int_equal(perp_tree_accelerate(tree, tau, &hold, qdd, lambda, &rank), PERP_OK);
        for (int i = 0; i < 3; i++) {
            next[i] = q[i] + h * qd[i] + 0.5 * h * h * qdd[i];
        }
        assert_int_equal(perp_tree_set(tree, h, next, qd), PERP_OK);
        assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
        worst[k] = 0.0;
        for (int i = 0; i < 3; i++) {
            worst[k] = fmax(worst[k], fabs(c.rate[i].value));
        }
        // and pull back where they are stabilised
        perp_tree_stabilise(tree, &c, 0.1, rhs);
        perp_tree_stabilise(tree, &c, 0.0, zero);
        rods_near(rhs[0] - zero[0] + c.rate[0].value * 100.0, -20.0 * (qd[0] + c.rate[0].rate),
                  1e-9);
    }
    assert_true(worst[0] > 0.0 && worst[0] / worst[1] > 6.0 && worst[0] / worst[1] < 10.0);
    perp_tree_rows bad = {-1, 0, NULL, NULL}, empty = {0, 0, NULL, NULL},
                   missing = {2, 0, NULL, rhs};
    assert_int_equal(perp_tree_accelerate(tree, tau, &bad, qdd, lambda, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_impact(tree, &missing, qdd, lambda, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_accelerate(tree, tau, &empty, qdd, NULL, NULL), PERP_OK);
    assert_int_equal(perp_tree_accelerate(tree, tau, NULL, qdd, NULL, NULL), PERP_OK);
    perp_builder_destroy(b);
    perp_tree_destroy(tree);
    perp_model_destroy(model);
}

// A pendulum on its stop: the stop holds it, until something lifts it.
static void limits_hold_where_they_are_reached(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def rod = plane_body(2.0, 0.1, 0.5, 0.0, 0.0);
    perp_joint_def pin = perp_joint_default();
    pin.kind = PERP_JOINT_REVOLUTE;
    pin.b = perp_builder_add_body(b, &rod);
    pin.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
    pin.lower = 0.0;
    pin.upper = 2.0;
    perp_builder_add_joint(b, &pin);
    perp_model *model = NULL;
    perp_tree *tree = NULL;
    perp_constraints c;
    assert_int_equal(perp_model_create(b, &model, NULL), PERP_OK);
    assert_int_equal(perp_tree_create(model, NULL, 0, NULL, &tree, NULL), PERP_OK);
    assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
    assert_true(c.rows == 1 && c.limits == 1);
    assert_string_equal(c.name[0], "joint0.lower");
    double rhs, qdd, lambda, up = 20.0, down = 0.0, q = 2.0, qd = 1.0, after;
    perp_tree_stabilise(tree, &c, 0.0, &rhs);
    perp_tree_rows hold = {0, 1, c.J, &rhs};
    assert_int_equal(perp_tree_accelerate(tree, &down, &hold, &qdd, &lambda, NULL), PERP_OK);
    rods_near(qdd, 0.0, 1e-14);
    rods_near(lambda, 2.0 * 9.81 * 0.5, 1e-13);
    assert_int_equal(perp_tree_accelerate(tree, &up, &hold, &qdd, &lambda, NULL), PERP_OK);
    assert_true(lambda == 0.0 && qdd > 0.0);
    // the other stop, with an impact
    assert_int_equal(perp_tree_set(tree, 0.0, &q, &qd), PERP_OK);
    assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
    assert_true(c.limits == 1 && c.J[0] == -1.0);
    hold.J = c.J;
    assert_int_equal(perp_tree_impact(tree, &hold, &after, &lambda, NULL), PERP_OK);
    rods_near(after, 0.0, 1e-14);
    rods_near(lambda, 0.6, 1e-13);
    qd = -1.0;
    assert_int_equal(perp_tree_set(tree, 0.0, &q, &qd), PERP_OK);
    assert_int_equal(perp_tree_constraints(tree, &c), PERP_OK);
    assert_int_equal(c.rows, 0);
    perp_builder_destroy(b);
    perp_tree_destroy(tree);
    perp_model_destroy(model);
}

// ── States ───────────────────────────────────────────────────────────────────────────────────────

static void bad_states_change_nothing(void **state)
{
    (void)state;
    static const double q[RODS] = {0.3, 0.2, 0.1}, qd[RODS] = {1.0, 2.0, 3.0};
    const double bad[RODS] = {0.0, (double)NAN, 0.0};
    double t, now[RODS], rate[RODS];
    rods r;
    rods_open(&r, false);
    assert_int_equal(perp_tree_set(r.tree, 1.5, q, qd), PERP_OK);
    assert_int_equal(perp_tree_set(r.tree, 2.0, bad, qd), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_set(r.tree, 2.0, q, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_set(r.tree, (double)INFINITY, q, qd), PERP_ERR_ARGUMENT);
    const double fast[RODS] = {1e200, 1e200, 1e200};
    assert_int_equal(perp_tree_set(r.tree, 2.0, q, fast), PERP_ERR_NUMERIC);
    assert_int_equal(perp_tree_forward(r.tree, bad, rate), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_inverse(r.tree, bad, rate), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_accelerate(r.tree, bad, NULL, rate, NULL, NULL), PERP_ERR_ARGUMENT);
    perp_wrench push[RODS + 1] = {[1] = {{(double)NAN, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    assert_int_equal(perp_tree_forces(r.tree, push, rate), PERP_ERR_NUMERIC);
    perp_tree_get(r.tree, &t, now, rate);
    assert_true(t == 1.5);
    for (int k = 0; k < RODS; k++) {
        assert_true(now[k] == q[k] && rate[k] == qd[k]);
    }
    perp_vec3 origin = {0.0, 0.0, 0.0};
    perp_joint none = {9};
    perp_body nobody = {-1};
    assert_int_equal(perp_tree_joint(r.tree, none, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_equations(r.tree, none, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_point(r.tree, nobody, origin, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    rods_close(&r);
}

// From a sim and back, with turns of more than a circle.
static void states_come_from_a_sim(void **state)
{
    (void)state;
    static const double q[RODS] = {7.3, -9.2, 0.1}, qd[RODS] = {1.0, 2.0, 3.0};
    double bodies[3 * RODS], nu[3 * RODS], now[RODS], rate[RODS], t, lost, lost_rate;
    rods r;
    rods_open(&r, false);
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(r.model, NULL, NULL, &sim, NULL), PERP_OK);
    assert_int_equal(perp_tree_set(r.tree, 0.5, q, qd), PERP_OK);
    perp_tree_get_bodies(r.tree, &t, bodies, nu);
    assert_int_equal(perp_sim_state_set(sim, t, bodies, nu), PERP_OK);
    for (int k = 0; k < RODS; k++) {
        rods_near(perp_sim_joint(sim, r.joint[k]).coordinate, q[k], 1e-14);
        rods_near(perp_sim_joint(sim, r.joint[k]).rate, qd[k], 1e-13);
    }
    assert_int_equal(perp_sim_state_get(sim, &t, bodies, nu), PERP_OK);
    bodies[0] += 1e-3;
    assert_int_equal(perp_tree_set_bodies(r.tree, t, bodies, nu, &lost, &lost_rate), PERP_OK);
    rods_near(lost, 1e-3, 1e-12);
    perp_tree_get(r.tree, NULL, now, rate);
    for (int k = 0; k < RODS; k++) {
        rods_near(now[k], q[k], 1e-13);
        rods_near(rate[k], qd[k], 1e-13);
    }
    perp_sim_destroy(sim);
    rods_close(&r);
}

// A spinning top: quaternions are normalised, rates of coordinates are tangent.
static void quaternions_stay_unit(void **state)
{
    (void)state;
    perp_error error = {0};
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def def = space_body(2.0, (perp_vec3){0.1, 0.1, 0.05}, (perp_vec3){0.0, 0.0, 0.5});
    perp_body top = perp_builder_add_body(b, &def);
    perp_joint_def tip = perp_joint_default();
    tip.kind = PERP_JOINT_SPHERICAL;
    tip.b = top;
    tip.anchor_B = (perp_vec3){0.0, 0.0, -0.5};
    perp_builder_add_joint(b, &tip);
    perp_model *model = NULL;
    perp_tree *tree = NULL;
    assert_int_equal(perp_model_create(b, &model, &error), PERP_OK);
    assert_int_equal(perp_tree_create(model, NULL, 0, NULL, &tree, &error), PERP_OK);
    const double q[4] = {2.0, 0.0, 1.0, -2.0}, qd[3] = {1.0, 0.5, 20.0}, zero[4] = {0.0};
    double now[4], rate[4], qdd[3], tau[3];
    assert_int_equal(perp_tree_set(tree, 0.0, zero, qd), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
    perp_tree_get(tree, NULL, now, NULL);
    perp_tree_coordinate_rates(tree, rate);
    rods_near(now[0], 2.0 / 3.0, 1e-15);
    rods_near(now[0] * rate[0] + now[1] * rate[1] + now[2] * rate[2] + now[3] * rate[3], 0.0,
              1e-14);
    // Euler's equations about the tip: I w' + w x I w = torque of gravity, in body axes
    assert_int_equal(perp_tree_forces(tree, NULL, tau), PERP_OK);
    assert_int_equal(perp_tree_forward(tree, tau, qdd), PERP_OK);
    double A = 0.1 + 2.0 * 0.25, C = 0.05;
    perp_vec3 up =
        space_unrotate((perp_quat){now[0], now[1], now[2], now[3]}, (perp_vec3){0.0, 0.0, 1.0});
    double weight = 2.0 * 9.81 * 0.5;  // torque r x (-m g up) with r = 0.5 z
    rods_near(A * qdd[0], (A - C) * qd[1] * qd[2] + weight * up.y, 1e-12);
    rods_near(A * qdd[1], (C - A) * qd[0] * qd[2] - weight * up.x, 1e-12);
    rods_near(C * qdd[2], 0.0, 1e-12);
    perp_builder_destroy(b);
    perp_tree_destroy(tree);
    perp_model_destroy(model);
}

// Nothing but the ground, and nothing but the ground and what it carries rigidly.
static void machines_may_have_no_coordinates(void **state)
{
    (void)state;
    for (int bodies = 0; bodies < 2; bodies++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_body_def def = space_body(1.0, (perp_vec3){1.0, 1.0, 1.0}, (perp_vec3){1.0, 2.0, 3.0});
        for (int k = 0; k < bodies; k++) {
            perp_joint_def weld = perp_joint_default();
            weld.kind = PERP_JOINT_WELD;
            weld.b = perp_builder_add_body(b, &def);
            weld.anchor_A = def.position_W;
            perp_builder_add_joint(b, &weld);
        }
        perp_model *model = NULL;
        perp_tree *tree = NULL;
        int nq, nv;
        double none[1] = {0.0};
        assert_int_equal(perp_model_create(b, &model, NULL), PERP_OK);
        assert_int_equal(perp_tree_create(model, NULL, 0, NULL, &tree, NULL), PERP_OK);
        perp_tree_size(tree, &nq, &nv);
        assert_true(nq == 0 && nv == 0);
        assert_int_equal(perp_tree_set(tree, 1.0, NULL, NULL), PERP_OK);
        perp_tree_mass(tree, none);
        perp_tree_bias(tree, none);
        assert_int_equal(perp_tree_forces(tree, NULL, none), PERP_OK);
        assert_int_equal(perp_tree_forward(tree, none, none), PERP_OK);
        assert_int_equal(perp_tree_inverse(tree, none, none), PERP_OK);
        rods_near(perp_tree_potential(tree), bodies * 3.0 * 9.81, 1e-14);
        perp_builder_destroy(b);
        perp_tree_destroy(tree);
        perp_model_destroy(model);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    rods r;
    rods_open(&r, false);
    static const double q[RODS] = {0.3, 0.2, 0.1}, qd[RODS] = {1.0, 2.0, 3.0};
    bool done = false;
    for (int k = 1; k < 200 && !done; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_tree *tree = NULL;
        double x[RODS];
        perp_error error = {0};
        perp_status status = perp_tree_create(r.model, NULL, 0, &env, &tree, &error);
        if (status == PERP_OK) {
            status = perp_tree_set(tree, 0.0, q, qd);
        }
        if (status == PERP_OK) {
            status = perp_tree_forward(tree, qd, x);
        }
        const double J[2 * RODS] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0}, rhs[2] = {0.0, 1.0};
        perp_tree_rows hold = {1, 1, J, rhs};
        perp_constraints c;
        double lambda[2];
        if (status == PERP_OK) {
            status = perp_tree_constraints(tree, &c);
        }
        if (status == PERP_OK) {
            status = perp_tree_accelerate(tree, qd, &hold, x, lambda, NULL);
        }
        assert_true(status == PERP_OK || status == PERP_ERR_MEMORY);
        done = status == PERP_OK;
        perp_tree_destroy(tree);
        assert_true(f.live == 0 && f.confused == 0 && f.happened == !done);
    }
    assert_true(done);
    rods_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_left_over),
        cmocka_unit_test(a_user_names_the_tree),
        cmocka_unit_test(loops_and_drives_are_held),
        cmocka_unit_test(limits_hold_where_they_are_reached),
        cmocka_unit_test(bad_states_change_nothing),
        cmocka_unit_test(states_come_from_a_sim),
        cmocka_unit_test(quaternions_stay_unit),
        cmocka_unit_test(machines_may_have_no_coordinates),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
