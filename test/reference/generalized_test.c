// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// An arm of three rods in joint coordinates: H, C, free accelerations, energies, the tip's J and J_dot qd,
// and the force that holds the tip, against numbers of an independent program, relative 1e-10.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/plane.h"

#include "constraint/constraint.h"
#include "tree/tree.h"

#include <jansson.h>
#include <math.h>

enum { N = 3 };

typedef struct expected {
    double q[N], qd[N], u[N];
    double H[N][N], C[N], qdd[N], kinetic, potential;
    double phi[2], J[2][N], drift[2], lambda[2];
} expected;

// Length 0.8, 0.6, 0.4 m, 1.2, 0.9, 0.5 kg; the tip is to be held where it is but for phi.
static const expected stored = {
    {0.3516626759625636, -0.5713535975234847, -0.3810959382366166},
    {1.1978643870993326, 1.9832083954618671, -1.4310727388797928},
    {-2.527646797428006, -1.9150571178188722, -0.8421186498638944},
    {{2.437954612934425, 0.8560060941224793, 0.12873722946665447},
     {0.8560060941224793, 0.426057575310533, 0.08236212098859984},
     {0.12873722946665447, 0.08236212098859984, 0.026666666666666665}},
    {23.092052658488008, 5.661676268669313, 0.48985918310687876},
    {-16.78176844939117, 24.63830653177839, -45.03009902886681},
    4.193360239064651,
    3.6334925985126914,
    {-0.0006607615005859034, 0.00017751863107946038},
    {{0.08130611490148537, 0.3568734790586512, 0.22611668877766103},
     {1.6665763670481804, 0.915535337668645, 0.3299564259962615}},
    {-8.013748878726748, 1.6202338019130855},
    {-2.994371142412652, 6.311644621928009},
};

static const double length[N] = {0.8, 0.6, 0.4}, mass[N] = {1.2, 0.9, 0.5};

static void near(double got, double want, double size, const char *what)
{
    if (!(fabs(got - want) <= 1e-10 * size)) {
        fail_msg("%s = %.17g, should be %.17g", what, got, want);
    }
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static void all_near(const double *got, const double *want, int n, const char *what)
{
    for (int i = 0; i < n; i++) {
        near(got[i], want[i], largest(want, n), what);
    }
}

// The arm level, and its tip joined to the ground where phi says.
static void build(plane *p, const expected *e)
{
    perp_body above = PLANE_GROUND;
    perp_vec3 hook = {0.0, 0.0, 0.0}, tip = {-e->phi[0], -e->phi[1], 0.0};
    double x = 0.0, angle = 0.0;
    plane_open(p);
    for (int i = 0; i < N; i++) {
        perp_body_def def = plane_rod(mass[i], length[i], x, 0.0, 0.0);
        perp_body rod = perp_builder_add_body(p->builder, &def);
        plane_pin(p, above, hook, rod, (perp_vec3){-0.5 * length[i], 0.0, 0.0});
        hook = (perp_vec3){0.5 * length[i], 0.0, 0.0};
        above = rod;
        x += length[i];
        angle += e->q[i];
        tip.x += length[i] * cos(angle);
        tip.y += length[i] * sin(angle);
    }
    plane_pin(p, PLANE_GROUND, tip, above, hook);
    plane_start(p);
}

// lambda = -(J H^-1 J^T)^-1 (J H^-1 (u - C) + J_dot qd), qdd free as given.
static void hold(const pp_tree *tree, const double *L, double J[2][N], const double *qdd,
                 const double *drift, double *lambda)
{
    double Y[2][N], A[2][2], b[2];
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < N; i++) {
            Y[r][i] = J[r][i];
        }
        pp_tree_solve(tree, L, Y[r]);
    }
    for (int r = 0; r < 2; r++) {
        b[r] = -drift[r];
        for (int i = 0; i < N; i++) {
            b[r] -= J[r][i] * qdd[i];
        }
        for (int c = 0; c < 2; c++) {
            A[r][c] = J[r][0] * Y[c][0] + J[r][1] * Y[c][1] + J[r][2] * Y[c][2];
        }
    }
    double det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    lambda[0] = (b[0] * A[1][1] - b[1] * A[0][1]) / det;
    lambda[1] = (b[1] * A[0][0] - b[0] * A[1][0]) / det;
}

static void check_tip(const pp_tree_pass *pass, const double *L, const double *qdd,
                      const expected *e)
{
    const perp_model *model = pass->tree->model;
    pp_poses at = {.body = pass->body};
    pp_row row[6];
    double J[2][N], drift[6], lambda[2];
    int tip = pass->tree->loop[0];
    assert_int_equal(pp_joint_equations(model, &at, tip, row), 2);
    assert_int_equal(pp_joint_drift(pass, tip, drift), 2);
    // The sign of a joint's equations is free.
    double sign = row[0].value * e->phi[0] < 0.0 ? -1.0 : 1.0;
    for (int r = 0; r < 2; r++) {
        near(sign * row[r].value, e->phi[r], 1.0, "phi");
        assert_true(pp_tree_row(pass, &row[r], J[r]) == 0.0);
        drift[r] *= sign;
        for (int i = 0; i < N; i++) {
            J[r][i] *= sign;
        }
        all_near(J[r], e->J[r], N, "J");
    }
    all_near(drift, e->drift, 2, "J_dot qd");
    hold(pass->tree, L, J, qdd, drift, lambda);
    all_near(lambda, e->lambda, 2, "lambda");
}

static void check(const expected *e)
{
    plane p = {0};
    pp_tree tree;
    pp_tree_pass pass;
    double H[N * N], C[N], qdd[N], tau[N];
    build(&p, e);
    pp_arena *arena = pp_arena_create(NULL);
    static const int joints[N] = {0, 1, 2};
    assert_int_equal(pp_tree_create(&tree, p.model, joints, N, arena, NULL), PERP_OK);
    assert_int_equal(tree.nv, N);
    assert_int_equal(tree.loops, 1);
    assert_int_equal(pp_tree_run(&pass, &tree, 0.0, e->q, e->qd, arena), PERP_OK);
    pp_tree_mass(&pass, H);
    pp_tree_bias(&pass, C);
    all_near(H, &e->H[0][0], N * N, "H");
    all_near(C, e->C, N, "C");
    near(pp_tree_kinetic(&pass), e->kinetic, e->kinetic, "kinetic energy");
    near(pp_tree_potential(&pass, NULL), e->potential, 20.0, "potential energy");
    assert_int_equal(pp_tree_forward(&pass, e->u, qdd, arena), PERP_OK);
    all_near(qdd, e->qdd, N, "qdd");
    assert_int_equal(pp_tree_inverse(&pass, e->qdd, tau, arena), PERP_OK);
    all_near(tau, e->u, N, "inverse dynamics");
    assert_true(pp_tree_factor(&tree, H));
    for (int i = 0; i < N; i++) {
        qdd[i] = e->u[i] - C[i];
    }
    pp_tree_solve(&tree, H, qdd);
    all_near(qdd, e->qdd, N, "H^-1 (u - C)");
    check_tip(&pass, H, qdd, e);
    pp_arena_destroy(arena);
    plane_close(&p);
}

static void one_state(void **state)
{
    (void)state;
    check(&stored);
}

// ── Stored states ────────────────────────────────────────────────────────────────────────────────

static void read_row(const json_t *list, double *x)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        x[i] = json_number_value(json_array_get(list, i));
    }
}

static void all_states(void **state)
{
    (void)state;
    char path[600];
    if (!data_path("reference/D_generalized/generalized.json", path, sizeof path)) {
        print_message("no stored states here\n");
        skip();
    }
    json_t *root = json_load_file(path, 0, NULL), *states = json_object_get(root, "states");
    assert_true(json_array_size(states) > 0);
    for (size_t k = 0; k < json_array_size(states); k++) {
        json_t *s = json_array_get(states, k), *tip = json_object_get(s, "tip_plain");
        expected e = {.kinetic = json_number_value(json_object_get(s, "kinetic")),
                      .potential = json_number_value(json_object_get(s, "potential"))};
        read_row(json_object_get(s, "q"), e.q);
        read_row(json_object_get(s, "qd"), e.qd);
        read_row(json_object_get(s, "u"), e.u);
        read_row(json_object_get(s, "C"), e.C);
        read_row(json_object_get(s, "qdd_free"), e.qdd);
        read_row(json_object_get(tip, "phi"), e.phi);
        read_row(json_object_get(tip, "Jdot_qd"), e.drift);
        read_row(json_object_get(tip, "lam"), e.lambda);
        for (size_t i = 0; i < N; i++) {
            read_row(json_array_get(json_object_get(s, "H"), i), e.H[i]);
        }
        for (size_t r = 0; r < 2; r++) {
            read_row(json_array_get(json_object_get(tip, "J"), r), e.J[r]);
        }
        check(&e);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_state), cmocka_unit_test(all_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
