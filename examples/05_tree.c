// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// An arm in joint coordinates: its mass matrix, the gravity torques, and the Jacobian of its tip. Then it is
// released, and a fourth-order Runge-Kutta method integrates q'' = H^-1 (B u - C).
#include <perp/perp.h>

#include <stdio.h>

enum { N = 3 };

// q'' under gravity alone at (q, qd).
static perp_status accelerate(perp_tree *arm, const double *q, const double *qd, double *qdd)
{
    static const double tau[N] = {0.0};
    perp_status status = perp_tree_set(arm, 0.0, q, qd);
    return status < 0 ? status : perp_tree_forward(arm, tau, qdd);
}

static perp_status runge_kutta(perp_tree *arm, double h, double *q, double *qd)
{
    static const double before[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double v[4][N], a[4][N], at[N];
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < N; k++) {
            at[k] = q[k] + (s > 0 ? before[s] * h * v[s - 1][k] : 0.0);
            v[s][k] = qd[k] + (s > 0 ? before[s] * h * a[s - 1][k] : 0.0);
        }
        if (accelerate(arm, at, v[s], a[s]) < 0) {
            return PERP_ERR_NUMERIC;
        }
    }
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < N; k++) {
            q[k] += h / 6.0 * weight[s] * v[s][k];
            qd[k] += h / 6.0 * weight[s] * a[s][k];
        }
    }
    return perp_tree_set(arm, 0.0, q, qd);
}

static perp_model *build(perp_body *hand, perp_error *error)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_body_def rod = perp_body_default();
    perp_joint_def hinge = perp_joint_default();
    const perp_vec3 axis[N] = {{0.0, 0.0, 1.0}, {0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}};
    for (int k = 0; k < N; k++) {
        rod.kind = PERP_BODY_SPATIAL;
        rod.position_W = (perp_vec3){0.25 + 0.5 * k, 0.0, 0.0};
        rod.mass = 1.0;
        rod.inertia_B[0] = 0.001;
        rod.inertia_B[1] = rod.inertia_B[2] = 0.021;
        *hand = perp_builder_add_body(builder, &rod);
        hinge.kind = PERP_JOINT_REVOLUTE;
        hinge.b = *hand;
        hinge.axis_A = axis[k];
        hinge.anchor_A = (perp_vec3){k > 0 ? 0.25 : 0.0, 0.0, 0.0};
        hinge.anchor_B = (perp_vec3){-0.25, 0.0, 0.0};
        perp_builder_add_joint(builder, &hinge);
        hinge.a = *hand;
    }
    perp_model *model = NULL;
    if (perp_model_create(builder, &model, error) < 0) {
        model = NULL;
    }
    perp_builder_destroy(builder);
    return model;
}

int main(void)
{
    perp_error error;
    perp_body hand;
    perp_tree *arm = NULL;
    perp_model *model = build(&hand, &error);
    if (!model || perp_tree_create(model, NULL, 0, NULL, &arm, &error) < 0) {
        fprintf(stderr, "tree: %s\n", error.text);
        return 1;
    }
    double q[N] = {0.2, -0.6, 0.9}, qd[N] = {1.0, 0.0, 0.0}, H[N * N], C[N], J[6 * N];
    perp_vec3 tip = {0.25, 0.0, 0.0};
    perp_status status = perp_tree_set(arm, 0.0, q, qd);
    perp_tree_mass(arm, H);
    perp_tree_bias(arm, C);
    status = status < 0 ? status : perp_tree_point(arm, hand, tip, NULL, NULL, J);
    puts("coordinate       H                          C [N m]  tip moves by [m/rad]");
    for (int k = 0; k < N; k++) {
        printf("%-12s %8.4f %8.4f %8.4f %8.3f  (%6.3f, %6.3f, %6.3f)\n",
               perp_tree_coordinate_name(arm, k), H[k], H[k + N], H[k + 2 * N], C[k], J[6 * k],
               J[6 * k + 1], J[6 * k + 2]);
    }
    double start = perp_tree_kinetic(arm) + perp_tree_potential(arm);
    for (int k = 1; k <= 2000 && status >= 0; k++) {
        status = runge_kutta(arm, 1e-3, q, qd);
        if (k % 500 == 0) {
            double energy = perp_tree_kinetic(arm) + perp_tree_potential(arm);
            printf("t = %.1f s: q = (%6.3f, %6.3f, %6.3f), energy lost %s\n", 1e-3 * k, q[0], q[1],
                   q[2], energy - start < 1e-6 && start - energy < 1e-6 ? "< 1e-6 J" : "too much");
        }
    }
    perp_tree_destroy(arm);
    perp_model_destroy(model);
    return status < 0;
}
