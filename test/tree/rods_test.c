// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Three rods with known numbers: Lagrange's equations, and those of a reference with constraints, limits and
// impacts.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/rods.h"

#include <jansson.h>
#include <math.h>

// The same from Lagrange's equations: with phi_i the angles to x and L_i, c_i the lengths to the end and to the
// centre, the mass matrix in phi is  M_ij = cos(phi_i - phi_j) K_ij,  K_ij = sum_k m_k l_ki l_kj,
// and the bias  sum_j K_ij sin(phi_i - phi_j) phi_j'^2 + g G_i cos(phi_i); q are differences of phi.
static void lagrange(const double *q, const double *qd, double *H, double *C)
{
    double phi[RODS], rate[RODS], M[RODS][RODS], b[RODS];
    for (int i = 0; i < RODS; i++) {
        phi[i] = q[i] + (i > 0 ? phi[i - 1] : 0.0);
        rate[i] = qd[i] + (i > 0 ? rate[i - 1] : 0.0);
    }
    for (int i = 0; i < RODS; i++) {
        b[i] = 0.0;
        for (int j = 0; j < RODS; j++) {
            double K = 0.0;
            for (int k = i > j ? i : j; k < RODS; k++) {
                double li = k == i ? 0.5 * ROD_LENGTH[i] : ROD_LENGTH[i];
                double lj = k == j ? 0.5 * ROD_LENGTH[j] : ROD_LENGTH[j];
                K += ROD_MASS[k] * li * lj;
            }
            double own = i == j ? ROD_MASS[i] * ROD_LENGTH[i] * ROD_LENGTH[i] / 12.0 : 0.0;
            M[i][j] = K * cos(phi[i] - phi[j]) + own;
            b[i] += K * sin(phi[i] - phi[j]) * rate[j] * rate[j];
        }
        for (int k = i; k < RODS; k++) {
            double l = k == i ? 0.5 * ROD_LENGTH[i] : ROD_LENGTH[i];
            b[i] += ROD_MASS[k] * 9.81 * l * cos(phi[i]);
        }
    }
    // phi = T q with T lower triangular of ones: H = T^T M T, C = T^T b
    for (int i = 0; i < RODS; i++) {
        C[i] = 0.0;
        for (int k = i; k < RODS; k++) {
            C[i] += b[k];
        }
        for (int j = 0; j < RODS; j++) {
            H[i + j * RODS] = 0.0;
            for (int k = i; k < RODS; k++) {
                for (int l = j; l < RODS; l++) {
                    H[i + j * RODS] += M[k][l];
                }
            }
        }
    }
}

static void rods_follow_lagrange(void **state)
{
    (void)state;
    static const double q[RODS] = {0.35, -0.57, -0.38}, qd[RODS] = {1.2, 2.0, -1.4};
    double H[RODS * RODS], C[RODS], want_H[RODS * RODS], want_C[RODS];
    rods r;
    rods_open(&r, false);
    assert_int_equal(perp_tree_set(r.tree, 0.0, q, qd), PERP_OK);
    perp_tree_mass(r.tree, H);
    perp_tree_bias(r.tree, C);
    lagrange(q, qd, want_H, want_C);
    for (int k = 0; k < RODS * RODS; k++) {
        rods_near(H[k], want_H[k], 1e-14);
    }
    for (int k = 0; k < RODS; k++) {
        rods_near(C[k], want_C[k], 1e-13);
    }
    rods_close(&r);
}

// A joint given from the child to the parent has the opposite angle and turns everything else with it.
static void direction_of_a_joint_is_its_own(void **state)
{
    (void)state;
    static const double q[RODS] = {0.35, -0.57, -0.38}, qd[RODS] = {1.2, 2.0, -1.4},
                        tau[RODS] = {1, -2, 3};
    double p[RODS], pd[RODS], qdd[2][RODS], back[RODS];
    rods r, s;
    rods_open(&r, false);
    rods_open(&s, true);
    for (int k = 0; k < RODS; k++) {
        p[k] = -q[k];
        pd[k] = -qd[k];
        back[k] = -tau[k];
    }
    assert_int_equal(perp_tree_set(r.tree, 0.0, q, qd), PERP_OK);
    assert_int_equal(perp_tree_set(s.tree, 0.0, p, pd), PERP_OK);
    assert_int_equal(perp_tree_forward(r.tree, tau, qdd[0]), PERP_OK);
    assert_int_equal(perp_tree_forward(s.tree, back, qdd[1]), PERP_OK);
    for (int k = 0; k < RODS; k++) {
        rods_near(qdd[0][k], -qdd[1][k], 1e-12);
        perp_vec3 a = perp_tree_pose(r.tree, r.body[k]).p, b = perp_tree_pose(s.tree, s.body[k]).p;
        rods_near(a.x, b.x, 1e-14);
        rods_near(a.y, b.y, 1e-14);
        perp_rate rate;
        double J[RODS];
        assert_int_equal(perp_tree_joint(s.tree, s.joint[k], &rate, J), PERP_OK);
        rods_near(rate.value, p[k], 1e-14);
        rods_near(J[k], 1.0, 1e-14);
        rods_near(rate.drift, 0.0, 1e-12);
    }
    rods_close(&r);
    rods_close(&s);
}

// ── The same rods with numbers of somebody else ──────────────────────────────────────────────────

static double number(const json_t *array, int k)
{
    return json_number_value(json_array_get(array, (size_t)k));
}

static void check_tip(const rods *r, const json_t *tip)
{
    double J[6 * RODS];
    perp_twist drift;
    perp_vec3 end = {0.5 * ROD_LENGTH[RODS - 1], 0.0, 0.0};
    assert_int_equal(perp_tree_point(r->tree, r->body[RODS - 1], end, NULL, &drift, J), PERP_OK);
    for (int i = 0; i < 2; i++) {
        const json_t *row = json_array_get(json_object_get(tip, "J"), (size_t)i);
        for (int k = 0; k < RODS; k++) {
            rods_near(J[i + 6 * k], number(row, k), 1e-10);
        }
    }
    rods_near(drift.v_W.x, number(json_object_get(tip, "Jdot_qd"), 0), 1e-10);
    rods_near(drift.v_W.y, number(json_object_get(tip, "Jdot_qd"), 1), 1e-10);
}

// b of rows with drift and errors given, at velocities qd, and what it leads to.
static void check_held(const rods *r, const perp_tree_rows *hold, const double *u,
                       const json_t *want, int rank)
{
    double qdd[RODS], lambda[4];
    int found = -1, rows = hold->equalities + hold->inequalities;
    assert_int_equal(perp_tree_accelerate(r->tree, u, hold, qdd, lambda, &found), PERP_OK);
    assert_true(rank < 0 || found == rank);
    for (int k = 0; k < RODS; k++) {
        rods_near(qdd[k], number(json_object_get(want, "qdd"), k), 1e-10);
    }
    for (int k = 0; k < rows; k++) {
        rods_near(lambda[k], number(json_object_get(want, "lam"), k), 1e-10);
    }
}

// The end of the last rod held at its place: plain, stabilised, and twice over.
static void check_loop(const rods *r, const json_t *given, const double *qd, const double *u)
{
    double all[6 * RODS], J[4 * RODS], plain[4], stable[2];
    perp_twist drift;
    perp_vec3 end = {0.5 * ROD_LENGTH[RODS - 1], 0.0, 0.0};
    const json_t *tip = json_object_get(given, "tip_baumgarte"), *phi = json_object_get(tip, "phi");
    double eps = json_number_value(json_object_get(tip, "eps"));
    assert_int_equal(perp_tree_point(r->tree, r->body[RODS - 1], end, NULL, &drift, all), PERP_OK);
    const double a[2] = {drift.v_W.x, drift.v_W.y};
    for (int i = 0; i < 2; i++) {
        double rate = 0.0;
        for (int k = 0; k < RODS; k++) {
            rate += all[i + 6 * k] * qd[k];
            J[i + 4 * k] = J[i + 2 + 4 * k] = all[i + 6 * k];
        }
        plain[i] = plain[i + 2] = -a[i];
        stable[i] = -a[i] - 2.0 / eps * rate - number(phi, i) / (eps * eps);
    }
    perp_tree_rows twice = {4, 0, J, plain};
    check_held(r, &twice, u, json_object_get(given, "tip_duplicated"), 2);
    double once[2 * RODS];
    for (int k = 0; k < RODS; k++) {
        once[2 * k] = J[4 * k];
        once[1 + 2 * k] = J[1 + 4 * k];
    }
    perp_tree_rows hold = {2, 0, once, plain};
    check_held(r, &hold, u, json_object_get(given, "tip_plain"), 2);
    hold.b = stable;
    check_held(r, &hold, u, tip, 2);
}

// psi = qd1 + sin(q2) qd3 / 2 - 0.3
static void check_rate(const rods *r, const json_t *given, const double *q, const double *qd,
                       const double *u)
{
    const json_t *want = json_object_get(given, "velocity_constraint");
    double eps = json_number_value(json_object_get(want, "eps"));
    double psi = qd[0] + 0.5 * sin(q[1]) * qd[2] - 0.3;
    const double J[RODS] = {1.0, 0.0, 0.5 * sin(q[1])};
    const double b[1] = {-0.5 * cos(q[1]) * qd[1] * qd[2] - psi / eps};
    rods_near(psi, number(json_object_get(want, "psi"), 0), 1e-12);
    perp_tree_rows hold = {1, 0, J, b};
    check_held(r, &hold, u, want, 1);
}

// Three limits at once, and an impact on them.
static void check_limits(const rods *r, const json_t *given, const double *q, const double *qd,
                         const double *u)
{
    const json_t *want = json_object_get(given, "limits"), *hit = json_object_get(given, "impact");
    double eps = json_number_value(json_object_get(want, "eps")), slow[RODS], b[RODS], after[RODS],
           p[RODS];
    const double J[RODS * RODS] = {1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0},
                          zero[RODS] = {0.0};
    for (int k = 0; k < RODS; k++) {
        slow[k] = number(json_object_get(want, "qd"), k);
        b[k] = -2.0 / eps * J[k + RODS * k] * slow[k] -
               number(json_object_get(want, "phi"), k) / (eps * eps);
    }
    perp_tree_rows hold = {0, RODS, J, b};
    assert_int_equal(perp_tree_set(r->tree, 0.0, q, slow), PERP_OK);
    check_held(r, &hold, u, want, -1);
    assert_int_equal(perp_tree_set(r->tree, 0.0, q, qd), PERP_OK);
    hold.b = zero;
    assert_int_equal(perp_tree_impact(r->tree, &hold, after, p, NULL), PERP_OK);
    for (int k = 0; k < RODS; k++) {
        rods_near(after[k], number(json_object_get(hit, "qd_after"), k), 1e-10);
        rods_near(p[k], number(json_object_get(hit, "impulse"), k), 1e-10);
    }
}

static void check_state(const rods *r, const json_t *given)
{
    double q[RODS], qd[RODS], u[RODS], H[RODS * RODS], C[RODS], qdd[RODS], back[RODS];
    for (int k = 0; k < RODS; k++) {
        q[k] = number(json_object_get(given, "q"), k);
        qd[k] = number(json_object_get(given, "qd"), k);
        u[k] = number(json_object_get(given, "u"), k);
    }
    assert_int_equal(perp_tree_set(r->tree, 0.0, q, qd), PERP_OK);
    perp_tree_mass(r->tree, H);
    perp_tree_bias(r->tree, C);
    assert_int_equal(perp_tree_forward(r->tree, u, qdd), PERP_OK);
    assert_int_equal(perp_tree_inverse(r->tree, qdd, back), PERP_OK);
    for (int i = 0; i < RODS; i++) {
        const json_t *row = json_array_get(json_object_get(given, "H"), (size_t)i);
        for (int k = 0; k < RODS; k++) {
            rods_near(H[i + RODS * k], number(row, k), 1e-10);
        }
        rods_near(C[i], number(json_object_get(given, "C"), i), 1e-10);
        rods_near(qdd[i], number(json_object_get(given, "qdd_free"), i), 1e-10);
        rods_near(back[i], u[i], 1e-10);
    }
    rods_near(perp_tree_kinetic(r->tree), json_number_value(json_object_get(given, "kinetic")),
              1e-10);
    rods_near(perp_tree_potential(r->tree), json_number_value(json_object_get(given, "potential")),
              1e-10);
    check_tip(r, json_object_get(given, "tip_plain"));
    check_loop(r, given, qd, u);
    check_rate(r, given, q, qd, u);
    check_limits(r, given, q, qd, u);
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
    rods_open(&r, false);
    for (size_t k = 0; k < json_array_size(states); k++) {
        check_state(&r, json_array_get(states, k));
    }
    rods_close(&r);
    json_decref(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rods_follow_lagrange),
        cmocka_unit_test(direction_of_a_joint_is_its_own),
        cmocka_unit_test(rods_have_the_reference_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
