// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact problems that fit in a few lines.
#include "support/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

problem *family_painleve(double angle, double mu, double omega, double length, double mass)
{
    problem *p = problem_create(1);
    double s = sin(angle), c = cos(angle), gravity = 9.81;
    p->A[0] = (1.0 + 3.0 * c * c - 3.0 * mu * s * c) / mass;
    p->b[0] = length * omega * omega * s - gravity;
    return p;
}

// Links of length 1 and mass 1, horizontal, hinged to the ground and to each other: velocities
// (vx, vy, spin) each. Rows: M v - J' f - G' t = p, J v = 0 with f free, G v _|_ t in a box:
// friction torque t = -limit where the joint turns forward.
problem *family_joint_friction(double torque_limit, double drive)
{
    enum { V = 6, J = 4, G = 2 };
    static const double joint[J][V] = {
        {1, 0, 0, 0, 0, 0},
        {0, 1, -0.5, 0, 0, 0},  // ground end of link 1
        {1, 0, 0, -1, 0, 0},
        {0, 1, 0.5, 0, -1, 0.5},  // end of link 1 against start of link 2
    };
    static const double turn[G][V] = {{0, 0, 1, 0, 0, 0}, {0, 0, -1, 0, 0, 1}};
    const double impulse[V] = {0, -0.0981, 0, 0, -0.0981, drive};
    problem *p = problem_create(V + J + G);
    for (int k = 0; k < V; k++) {
        ENTRY(p, k, k) = k % 3 == 2 ? 1.0 / 12.0 : 1.0;
        p->b[k] = -impulse[k];
        for (int j = 0; j < J; j++) {
            ENTRY(p, k, V + j) = -joint[j][k];
            ENTRY(p, V + j, k) = joint[j][k];
        }
        for (int g = 0; g < G; g++) {
            ENTRY(p, k, V + J + g) = -turn[g][k];
            ENTRY(p, V + J + g, k) = turn[g][k];
        }
    }
    for (int k = 0; k < V + J; k++) {
        p->lower[k] = -HUGE_VAL;
    }
    for (int g = 0; g < G; g++) {
        p->lower[V + J + g] = -torque_limit;
        p->upper[V + J + g] = torque_limit;
    }
    return p;
}

// Row of the velocity of point r (from the body's centre) along axis d, for (v, omega).
static void velocity_row(int d, const double r[3], double row[6])
{
    memset(row, 0, 6 * sizeof *row);
    row[d] = 1.0;  // d . (v + omega x r) = v_d + omega . (r x d)
    row[3 + (d + 1) % 3] = r[(d + 2) % 3];
    row[3 + (d + 2) % 3] = -r[(d + 1) % 3];
}

// Components n = z, t = x, o = y of the upper body against the lower at point angle a of interface k.
static void fill_contact(double *H, int nv, int column, int level, double angle)
{
    static const int axis[3] = {2, 0, 1};
    for (int k = 0; k < 3; k++) {
        double row[6];
        const double below[3] = {0.5 * cos(angle), 0.4 * sin(angle), -0.5};
        const double above[3] = {0.5 * cos(angle), 0.4 * sin(angle), 0.5};
        double *h = H + (size_t)(column + k) * (size_t)nv;
        velocity_row(axis[k], below, row);
        memcpy(h + 6 * level, row, sizeof row);
        if (level > 0) {
            velocity_row(axis[k], above, row);
            for (int j = 0; j < 6; j++) {
                h[6 * (level - 1) + j] = -row[j];
            }
        }
    }
}

pile *family_pile(int boxes, int contacts, double ratio, double mu, const double push[3])
{
    int nc = boxes * contacts, n = 3 * nc, nv = 6 * boxes;
    size_t sizes[] = {(size_t)n * (size_t)n,
                      (size_t)n,
                      (size_t)nv * (size_t)nv,
                      (size_t)nv * (size_t)n,
                      (size_t)nv,
                      (size_t)n,
                      (size_t)nc};
    size_t total = 0;
    for (int k = 0; k < 7; k++) {
        total += sizes[k];
    }
    pile *p = calloc(1, sizeof *p);
    if (!p || !(p->memory = calloc(total, sizeof(double)))) {
        abort();
    }
    double *W = p->memory, *q = W + sizes[0], *M = q + sizes[1], *H = M + sizes[2];
    double *f = H + sizes[3], *w = f + sizes[4], *friction = w + sizes[5];
    for (int level = 0; level < boxes; level++) {
        double mass = pow(ratio, level), h = 0.01;
        for (int k = 0; k < 6; k++) {
            M[(6 * level + k) * (nv + 1)] = k < 3 ? mass : mass / 6.0;
        }
        for (int k = 0; k < 3; k++) {  // the top box is pushed
            f[6 * level + k] = level == boxes - 1 ? mass * push[k] * h : 0.0;
        }
        f[6 * level + 2] -= 9.81 * h * mass;
        for (int c = 0; c < contacts; c++) {
            double angle = 6.283185307179586 * (c + 0.5) / contacts;
            fill_contact(H, nv, 3 * (level * contacts + c), level, angle);
        }
    }
    for (int c = 0; c < nc; c++) {
        friction[c] = mu;
    }
    for (int j = 0; j < n; j++) {  // W = H' M^-1 H, q = H' M^-1 f, M diagonal
        for (int k = 0; k < nv; k++) {
            double over = H[k + j * nv] / M[k * (nv + 1)];
            q[j] += over * f[k];
            for (int i = 0; over != 0.0 && i < n; i++) {
                W[i + j * n] += H[k + i * nv] * over;
            }
        }
    }
    p->local =
        (perp_fcp){.nc = nc, .dim = 3, .mu = friction, .W = perp_matrix_dense(n, n, W), .q = q};
    p->global = (perp_fcp){.nc = nc, .dim = 3, .nv = nv, .mu = friction, .f = f, .w = w};
    p->global.M = perp_matrix_dense(nv, nv, M);
    p->global.H = perp_matrix_dense(nv, n, H);
    return p;
}

void pile_destroy(pile *p)
{
    if (p) {
        free(p->memory);
        free(p);
    }
}
