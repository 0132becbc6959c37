// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Geometric stiffness of the implicit step: the derivative of W(q) p by the turns of bodies that joints pull, added to their
// inertia.                                                                               theory (I3)
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

static const double LEAST_TURN =
    1e-9;  // of a body's inertia, which the stiffness may not take away

// Eigenvalues of a symmetric matrix below 0 become 0, by Jacobi's rotations.
static void drop_negative(pp_mat3 *A)
{
    double V[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, *a = A->m;
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (a[3 * p + q] == 0.0) {
                    continue;
                }
                // the rotation by which entry (p, q) vanishes: t = tan of its angle, the smaller of two
                double by = (a[4 * q] - a[4 * p]) / (2.0 * a[3 * p + q]);
                double t = (by < 0.0 ? -1.0 : 1.0) / (fabs(by) + sqrt(by * by + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[3 * k + p], y = a[3 * k + q];
                    a[3 * k + p] = c * x - s * y;
                    a[3 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[3 * p + k], y = a[3 * q + k];
                    a[3 * p + k] = c * x - s * y;
                    a[3 * q + k] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = V[3 * k + p], y = V[3 * k + q];
                    V[3 * k + p] = c * x - s * y;
                    V[3 * k + q] = s * x + c * y;
                }
            }
        }
    }
    double value[3] = {fmax(a[0], 0.0), fmax(a[4], 0.0), fmax(a[8], 0.0)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += value[k] * V[3 * i + k] * V[3 * j + k];
            }
            a[3 * i + j] = sum;
        }
    }
}

// Joints that hold a point fixed in a to one fixed in b: their impulse keeps its direction while its arms turn with the bodies.
static bool joins_points(const pp_joint *j)
{
    return j->kind == PERP_JOINT_REVOLUTE || j->kind == PERP_JOINT_SPHERICAL ||
           j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD;
}

// The force part of J' p of a row on one of its bodies.
static perp_vec3 row_force(const perp_model *m, const pp_row *row, double p, int body)
{
    double all[PP_BODY_NV] = {0.0};
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        if (row->body[k] != body) {
            continue;
        }
        for (int c = 0; c < b->nv; c++) {
            all[b->axis[c]] += p * row->J[k][c];
        }
    }
    return pp_vec(all[0], all[1], all[2]);
}

// G += h ((r . f) 1 - (r f' + f r')/2): how the moment r x f of an impulse f at the arm r, which turns with its body, resists
// a turn. In the plane h r . f.                                                                        theory (I3)
static void add_stiffness(double h, perp_vec3 r, perp_vec3 f, bool planar, pp_mat3 *G)
{
    double along = h * pp_dot3(r, f);
    if (planar) {
        G->m[8] += along;
        return;
    }
    const double a[3] = {r.x, r.y, r.z}, b[3] = {f.x, f.y, f.z};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            G->m[3 * i + k] += (i == k ? along : 0.0) - 0.5 * h * (a[i] * b[k] + a[k] * b[i]);
        }
    }
}

// Stiffness of all bodies from the impulses of the answer, with arms at the poses where its rows were taken. What would
// take inertia away is left out: the linear problem has to stay one of a positive mass matrix.
void pp_sim_find_stiffness(const perp_sim *sim, const pp_poses *at, double h, pp_mat3 *G)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    memset(G, 0, (size_t)m->bodies * sizeof *G);
    for (int i = 0; i < s->row.nb; i++) {
        const pp_row *row = &s->row.b[i];
        if (row->joint < 0 || row->drives || row->spring || !joins_points(&m->joint[row->joint])) {
            continue;
        }
        // the row's force on either body, at that body's anchor
        const pp_joint *j = &m->joint[row->joint];
        const int body[2] = {j->a, j->b};
        const perp_vec3 arm[2] = {j->r_A, j->r_B};
        for (int k = 0; k < 2; k++) {
            if (m->body[body[k]].nv > 0) {
                perp_vec3 f = row_force(m, row, s->answer.pb[i], body[k]);
                add_stiffness(h, pp_rotate(&at->body[body[k]], arm[k]), f, !m->spatial,
                              &G[body[k]]);
            }
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0 || !pp_body_turns(&m->body[i]) || m->body[i].massless) {
            memset(&G[i], 0, sizeof G[i]);
        } else if (m->spatial) {
            drop_negative(&G[i]);
        } else {
            G[i].m[8] = fmax(G[i].m[8], 0.0);
        }
    }
}

// The largest stiffness over the inertia that it adds to, by their traces.
double pp_sim_largest_stiffness(const perp_sim *sim, const pp_mat3 *G)
{
    double most = 0.0;
    for (int i = 0; i < sim->model->bodies; i++) {
        const double *I = sim->step.mass_l[i].I.m, *g = G[i].m;
        double inertia = I[0] + I[4] + I[8];
        if (inertia > 0.0) {
            most = fmax(most, (g[0] + g[4] + g[8]) / inertia);
        }
    }
    return most;
}

// Inverse of a symmetric positive definite matrix by its cofactors.
static pp_mat3 invert(const pp_mat3 *A)
{
    const double *a = A->m;
    double x = a[4] * a[8] - a[5] * a[7], y = a[5] * a[6] - a[3] * a[8];
    double z = a[3] * a[7] - a[4] * a[6], det = a[0] * x + a[1] * y + a[2] * z;
    return (pp_mat3){{x / det, (a[2] * a[7] - a[1] * a[8]) / det, (a[1] * a[5] - a[2] * a[4]) / det,
                      y / det, (a[0] * a[8] - a[2] * a[6]) / det, (a[2] * a[3] - a[0] * a[5]) / det,
                      z / det, (a[1] * a[6] - a[0] * a[7]) / det,
                      (a[0] * a[4] - a[1] * a[3]) / det}};
}

// Masses and impulses of forces of the linear problem: M + G, and p_ext + G (nu_k - nu_l), so that G has no effect where
// nu = nu_k. at_k: velocities of the place that the rows are taken at; NULL: the start, where they are zero.
void pp_sim_stiffen(perp_sim *sim, const pp_mat3 *G, const double *nu_l, const double *at_k)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    memcpy(s->kin.mass, s->mass_l, (size_t)m->bodies * sizeof *s->mass_l);
    memcpy(s->kin.loads.p_ext, s->push_l, (size_t)m->nv * sizeof *s->push_l);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const double *g = G[i].m;
        pp_inertia *mass = &s->kin.mass[i];
        if (!(g[0] + g[4] + g[8] > LEAST_TURN * (mass->I.m[0] + mass->I.m[4] + mass->I.m[8]))) {
            continue;
        }
        // turn = omega_k - omega_l
        double turn[3] = {0.0, 0.0, 0.0}, *push = s->kin.loads.p_ext + body->at;
        for (int k = 0; k < body->nv; k++) {
            int axis = body->axis[k], at = body->at + k;
            if (axis >= 3) {
                turn[axis - 3] = (at_k ? at_k[at] : 0.0) - nu_l[at];
            }
        }
        for (int k = 0; k < body->nv; k++) {
            int row = body->axis[k] - 3;
            if (row >= 0) {
                push[k] +=
                    g[3 * row] * turn[0] + g[3 * row + 1] * turn[1] + g[3 * row + 2] * turn[2];
            }
        }
        for (int k = 0; k < 9; k++) {
            mass->I.m[k] += g[k];
        }
        if (m->spatial) {
            mass->inverse_I = invert(&mass->I);
        } else {
            mass->divisor_Izz += g[8];
        }
    }
}
