// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees by hand: three rods with known numbers, how a tree is chosen, names, states in and out, and what a
// caller can do wrong.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/fault.h"
#include "support/plane.h"
#include "support/space.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1.0 + fabs(want)))) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

// ── Three rods ───────────────────────────────────────────────────────────────────────────────────

enum { N = 3 };
static const double MASS[N] = {1.2, 0.9, 0.5}, LENGTH[N] = {0.8, 0.6, 0.4};

typedef struct rods {
    perp_model *model;
    perp_tree *tree;
    perp_body body[N];
    perp_joint joint[N];
} rods;

// Rods along their x axes, each pinned with its end -L/2 to the end of the one before; the joints of the
// reversed machine are given the other way around.
static void open_rods(rods *r, bool reversed)
{
    perp_error error = {0};
    perp_builder *b = perp_builder_create(NULL);
    perp_body before = {0};
    double end = 0.0;
    for (int i = 0; i < N; i++) {
        perp_body_def def = perp_body_default();
        def.mass = MASS[i];
        def.inertia = MASS[i] * LENGTH[i] * LENGTH[i] / 12.0;
        r->body[i] = perp_add_body(b, &def);
        perp_joint_def pin = perp_joint_default();
        perp_vec3 far = {end, 0.0, 0.0}, own = {-0.5 * LENGTH[i], 0.0, 0.0};
        pin.kind = PERP_REVOLUTE;
        pin.a = reversed ? r->body[i] : before;
        pin.b = reversed ? before : r->body[i];
        pin.anchor_a = reversed ? own : far;
        pin.anchor_b = reversed ? far : own;
        r->joint[i] = perp_add_joint(b, &pin);
        before = r->body[i];
        end = 0.5 * LENGTH[i];
    }
    perp_status status = perp_model_create(b, &r->model, &error);
    if (status >= 0) {
        status = perp_tree_create(r->model, NULL, 0, NULL, &r->tree, &error);
    }
    if (status < 0) {
        fail_msg("rods: %s", error.text);
    }
    perp_builder_destroy(b);
}

static void close_rods(rods *r)
{
    perp_tree_destroy(r->tree);
    perp_model_destroy(r->model);
}

// The same from Lagrange's equations: with phi_i the angles to x and L_i, c_i the lengths to the end and to the
// centre, the mass matrix in phi is  M_ij = cos(phi_i - phi_j) K_ij,  K_ij = sum_k m_k l_ki l_kj,
// and the bias  sum_j K_ij sin(phi_i - phi_j) phi_j'^2 + g G_i cos(phi_i); q are differences of phi.
static void lagrange(const double *q, const double *qd, double *H, double *C)
{
    double phi[N], rate[N], M[N][N], b[N];
    for (int i = 0; i < N; i++) {
        phi[i] = q[i] + (i > 0 ? phi[i - 1] : 0.0);
        rate[i] = qd[i] + (i > 0 ? rate[i - 1] : 0.0);
    }
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int j = 0; j < N; j++) {
            double K = 0.0;
            for (int k = i > j ? i : j; k < N; k++) {
                double li = k == i ? 0.5 * LENGTH[i] : LENGTH[i];
                double lj = k == j ? 0.5 * LENGTH[j] : LENGTH[j];
                K += MASS[k] * li * lj;
            }
            double own = i == j ? MASS[i] * LENGTH[i] * LENGTH[i] / 12.0 : 0.0;
            M[i][j] = K * cos(phi[i] - phi[j]) + own;
            b[i] += K * sin(phi[i] - phi[j]) * rate[j] * rate[j];
        }
        for (int k = i; k < N; k++) {
            double l = k == i ? 0.5 * LENGTH[i] : LENGTH[i];
            b[i] += MASS[k] * 9.81 * l * cos(phi[i]);
        }
    }
    // phi = T q with T lower triangular of ones: H = T^T M T, C = T^T b
    for (int i = 0; i < N; i++) {
        C[i] = 0.0;
        for (int k = i; k < N; k++) {
            C[i] += b[k];
        }
        for (int j = 0; j < N; j++) {
            H[i + j * N] = 0.0;
            for (int k = i; k < N; k++) {
                for (int l = j; l < N; l++) {
                    H[i + j * N] += M[k][l];
                }
            }
        }
    }
}

static void rods_follow_lagrange(void **state)
{
    (void)state;
    static const double q[N] = {0.35, -0.57, -0.38}, qd[N] = {1.2, 2.0, -1.4};
    double H[N * N], C[N], want_H[N * N], want_C[N];
    rods r;
    open_rods(&r, false);
    assert_int_equal(perp_tree_set(r.tree, 0.0, q, qd), PERP_OK);
    perp_tree_mass(r.tree, H);
    perp_tree_bias(r.tree, C);
    lagrange(q, qd, want_H, want_C);
    for (int k = 0; k < N * N; k++) {
        near(H[k], want_H[k], 1e-14);
    }
    for (int k = 0; k < N; k++) {
        near(C[k], want_C[k], 1e-13);
    }
    close_rods(&r);
}

// A joint given from the child to the parent has the opposite angle and turns everything else with it.
static void direction_of_a_joint_is_its_own(void **state)
{
    (void)state;
    static const double q[N] = {0.35, -0.57, -0.38}, qd[N] = {1.2, 2.0, -1.4}, tau[N] = {1, -2, 3};
    double p[N], pd[N], qdd[2][N], back[N];
    rods r, s;
    open_rods(&r, false);
    open_rods(&s, true);
    for (int k = 0; k < N; k++) {
        p[k] = -q[k];
        pd[k] = -qd[k];
        back[k] = -tau[k];
    }
    assert_int_equal(perp_tree_set(r.tree, 0.0, q, qd), PERP_OK);
    assert_int_equal(perp_tree_set(s.tree, 0.0, p, pd), PERP_OK);
    assert_int_equal(perp_tree_forward(r.tree, tau, qdd[0]), PERP_OK);
    assert_int_equal(perp_tree_forward(s.tree, back, qdd[1]), PERP_OK);
    for (int k = 0; k < N; k++) {
        near(qdd[0][k], -qdd[1][k], 1e-12);
        perp_vec3 a = perp_tree_pose(r.tree, r.body[k]).p, b = perp_tree_pose(s.tree, s.body[k]).p;
        near(a.x, b.x, 1e-14);
        near(a.y, b.y, 1e-14);
        perp_rate rate;
        double J[N];
        assert_int_equal(perp_tree_joint(s.tree, s.joint[k], &rate, J), PERP_OK);
        near(rate.value, p[k], 1e-14);
        near(J[k], 1.0, 1e-14);
        near(rate.drift, 0.0, 1e-12);
    }
    close_rods(&r);
    close_rods(&s);
}

// ── The same rods with numbers of somebody else ──────────────────────────────────────────────────

static double number(const json_t *array, int k)
{
    return json_number_value(json_array_get(array, (size_t)k));
}

static void check_tip(const rods *r, const json_t *tip)
{
    double J[6 * N];
    perp_twist drift;
    perp_vec3 end = {0.5 * LENGTH[N - 1], 0.0, 0.0};
    assert_int_equal(perp_tree_point(r->tree, r->body[N - 1], end, NULL, &drift, J), PERP_OK);
    for (int i = 0; i < 2; i++) {
        const json_t *row = json_array_get(json_object_get(tip, "J"), (size_t)i);
        for (int k = 0; k < N; k++) {
            near(J[i + 6 * k], number(row, k), 1e-10);
        }
    }
    near(drift.v.x, number(json_object_get(tip, "Jdot_qd"), 0), 1e-10);
    near(drift.v.y, number(json_object_get(tip, "Jdot_qd"), 1), 1e-10);
}

static void check_state(const rods *r, const json_t *given)
{
    double q[N], qd[N], u[N], H[N * N], C[N], qdd[N], back[N];
    for (int k = 0; k < N; k++) {
        q[k] = number(json_object_get(given, "q"), k);
        qd[k] = number(json_object_get(given, "qd"), k);
        u[k] = number(json_object_get(given, "u"), k);
    }
    assert_int_equal(perp_tree_set(r->tree, 0.0, q, qd), PERP_OK);
    perp_tree_mass(r->tree, H);
    perp_tree_bias(r->tree, C);
    assert_int_equal(perp_tree_forward(r->tree, u, qdd), PERP_OK);
    assert_int_equal(perp_tree_inverse(r->tree, qdd, back), PERP_OK);
    for (int i = 0; i < N; i++) {
        const json_t *row = json_array_get(json_object_get(given, "H"), (size_t)i);
        for (int k = 0; k < N; k++) {
            near(H[i + N * k], number(row, k), 1e-10);
        }
        near(C[i], number(json_object_get(given, "C"), i), 1e-10);
        near(qdd[i], number(json_object_get(given, "qdd_free"), i), 1e-10);
        near(back[i], u[i], 1e-10);
    }
    near(perp_tree_kinetic(r->tree), json_number_value(json_object_get(given, "kinetic")), 1e-10);
    near(perp_tree_potential(r->tree), json_number_value(json_object_get(given, "potential")),
         1e-10);
    check_tip(r, json_object_get(given, "tip_plain"));
}

static void rods_have_the_reference_numbers(void **state)
{
    (void)state;
    char path[512];
    if (!data_path("reference/D_generalized/generalized.json", path, sizeof path)) {
        print_message("no reference data: skipped\n");
        skip();
    }
    json_t *file = json_load_file(path, 0, NULL);
    const json_t *states = json_object_get(file, "states");
    assert_true(json_array_size(states) > 0);
    rods r;
    open_rods(&r, false);
    for (size_t k = 0; k < json_array_size(states); k++) {
        check_state(&r, json_array_get(states, k));
    }
    close_rods(&r);
    json_decref(file);
}

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
        body[i] = perp_add_body(b, &def);
    }
    for (int i = 0; i < 4; i++) {
        perp_joint_def pin = perp_joint_default();
        pin.kind = PERP_REVOLUTE;
        pin.a = body[i];
        pin.b = body[(i + 1) % 4];
        pin.anchor_a = (perp_vec3){0.1, 0.0, 0.0};
        pin.anchor_b = (perp_vec3){-0.2, 0.0, 0.0};
        f->joint[i] = perp_add_joint(b, &pin);
    }
    perp_joint_def rod = perp_joint_default();
    rod.kind = PERP_DISTANCE;
    rod.a = body[1];
    rod.b = body[3];
    rod.length = 1.0;
    f->joint[4] = perp_add_joint(b, &rod);
    perp_joint_def gear = perp_joint_default();
    gear.kind = PERP_GEAR;
    gear.joint_a = f->joint[0];
    gear.joint_b = f->joint[1];
    gear.ratio = 2.0;
    f->joint[5] = perp_add_joint(b, &gear);
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
    perp_rate rate[PERP_JOINT_ROWS];
    double J[PERP_JOINT_ROWS * 6];
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

// ── States ───────────────────────────────────────────────────────────────────────────────────────

static void bad_states_change_nothing(void **state)
{
    (void)state;
    static const double q[N] = {0.3, 0.2, 0.1}, qd[N] = {1.0, 2.0, 3.0};
    const double bad[N] = {0.0, (double)NAN, 0.0};
    double t, now[N], rate[N];
    rods r;
    open_rods(&r, false);
    assert_int_equal(perp_tree_set(r.tree, 1.5, q, qd), PERP_OK);
    assert_int_equal(perp_tree_set(r.tree, 2.0, bad, qd), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_set(r.tree, 2.0, q, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_set(r.tree, (double)INFINITY, q, qd), PERP_ERR_ARGUMENT);
    perp_tree_get(r.tree, &t, now, rate);
    assert_true(t == 1.5);
    for (int k = 0; k < N; k++) {
        assert_true(now[k] == q[k] && rate[k] == qd[k]);
    }
    perp_vec3 origin = {0.0, 0.0, 0.0};
    perp_joint none = {9};
    perp_body nobody = {-1};
    assert_int_equal(perp_tree_joint(r.tree, none, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_equations(r.tree, none, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_point(r.tree, nobody, origin, NULL, NULL, NULL), PERP_ERR_ARGUMENT);
    close_rods(&r);
}

// From a sim and back, with turns of more than a circle.
static void states_come_from_a_sim(void **state)
{
    (void)state;
    static const double q[N] = {7.3, -9.2, 0.1}, qd[N] = {1.0, 2.0, 3.0};
    double bodies[3 * N], nu[3 * N], now[N], rate[N], t, lost, lost_rate;
    rods r;
    open_rods(&r, false);
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(r.model, NULL, NULL, &sim, NULL), PERP_OK);
    assert_int_equal(perp_tree_set(r.tree, 0.5, q, qd), PERP_OK);
    perp_tree_get_bodies(r.tree, &t, bodies, nu);
    assert_int_equal(perp_state_set(sim, t, bodies, nu), PERP_OK);
    for (int k = 0; k < N; k++) {
        near(perp_sim_joint(sim, r.joint[k]).coordinate, q[k], 1e-14);
        near(perp_sim_joint(sim, r.joint[k]).rate, qd[k], 1e-13);
    }
    assert_int_equal(perp_state_get(sim, &t, bodies, nu), PERP_OK);
    bodies[0] += 1e-3;
    assert_int_equal(perp_tree_set_bodies(r.tree, t, bodies, nu, &lost, &lost_rate), PERP_OK);
    near(lost, 1e-3, 1e-12);
    perp_tree_get(r.tree, NULL, now, rate);
    for (int k = 0; k < N; k++) {
        near(now[k], q[k], 1e-13);
        near(rate[k], qd[k], 1e-13);
    }
    perp_sim_destroy(sim);
    close_rods(&r);
}

// A spinning top: quaternions are normalised, rates of coordinates are tangent.
static void quaternions_stay_unit(void **state)
{
    (void)state;
    perp_error error = {0};
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def def = space_body(2.0, (perp_vec3){0.1, 0.1, 0.05}, (perp_vec3){0.0, 0.0, 0.5});
    perp_body top = perp_add_body(b, &def);
    perp_joint_def tip = perp_joint_default();
    tip.kind = PERP_SPHERICAL;
    tip.b = top;
    tip.anchor_b = (perp_vec3){0.0, 0.0, -0.5};
    perp_add_joint(b, &tip);
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
    near(now[0], 2.0 / 3.0, 1e-15);
    near(now[0] * rate[0] + now[1] * rate[1] + now[2] * rate[2] + now[3] * rate[3], 0.0, 1e-14);
    // Euler's equations about the tip: I w' + w x I w = torque of gravity, in body axes
    assert_int_equal(perp_tree_forces(tree, NULL, tau), PERP_OK);
    assert_int_equal(perp_tree_forward(tree, tau, qdd), PERP_OK);
    double A = 0.1 + 2.0 * 0.25, C = 0.05;
    perp_vec3 up =
        space_unrotate((perp_quat){now[0], now[1], now[2], now[3]}, (perp_vec3){0.0, 0.0, 1.0});
    double weight = 2.0 * 9.81 * 0.5;  // torque r x (-m g up) with r = 0.5 z
    near(A * qdd[0], (A - C) * qd[1] * qd[2] + weight * up.y, 1e-12);
    near(A * qdd[1], (C - A) * qd[0] * qd[2] - weight * up.x, 1e-12);
    near(C * qdd[2], 0.0, 1e-12);
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
            weld.kind = PERP_WELD;
            weld.b = perp_add_body(b, &def);
            weld.anchor_a = def.position;
            perp_add_joint(b, &weld);
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
        near(perp_tree_potential(tree), bodies * 3.0 * 9.81, 1e-14);
        perp_builder_destroy(b);
        perp_tree_destroy(tree);
        perp_model_destroy(model);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    rods r;
    open_rods(&r, false);
    static const double q[N] = {0.3, 0.2, 0.1}, qd[N] = {1.0, 2.0, 3.0};
    bool done = false;
    for (int k = 1; k < 200 && !done; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_tree *tree = NULL;
        double x[N];
        perp_error error = {0};
        perp_status status = perp_tree_create(r.model, NULL, 0, &env, &tree, &error);
        if (status == PERP_OK) {
            status = perp_tree_set(tree, 0.0, q, qd);
        }
        if (status == PERP_OK) {
            status = perp_tree_forward(tree, qd, x);
        }
        assert_true(status == PERP_OK || status == PERP_ERR_MEMORY);
        done = status == PERP_OK;
        perp_tree_destroy(tree);
        assert_true(f.live == 0 && f.confused == 0 && f.happened == !done);
    }
    assert_true(done);
    close_rods(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rods_follow_lagrange),
        cmocka_unit_test(direction_of_a_joint_is_its_own),
        cmocka_unit_test(rods_have_the_reference_numbers),
        cmocka_unit_test(loops_are_left_over),
        cmocka_unit_test(a_user_names_the_tree),
        cmocka_unit_test(bad_states_change_nothing),
        cmocka_unit_test(states_come_from_a_sim),
        cmocka_unit_test(quaternions_stay_unit),
        cmocka_unit_test(machines_may_have_no_coordinates),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
