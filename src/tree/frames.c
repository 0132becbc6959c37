// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From coordinates to frames, and coordinates moved along a velocity.
#include "tree/hinge.h"

#include <string.h>

// Bodies whose poses are given functions of t are the roots that no coordinate moves.
static void place_driven(const perp_model *m, double t, pp_frame *body)
{
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0) {
            body[i] = pp_driven_frame(&m->body[i], t);
        }
    }
}

// Poses and velocities from the roots to the leaves. Links are numbered parents first, so that the
// carrier of a link has its frame already.
void pp_tree_frames(const pp_tree *tree, double t, const double *q, const double *qd,
                    pp_frame *body)
{
    place_driven(tree->model, t, body);
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        const pp_frame *parent = &body[l->carrier];
        pp_frame *child = &body[l->body];
        perp_twist column[PP_LINK_NV], V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        pp_hinge_place(tree, i, q + l->at_q, parent, child);
        pp_hinge_columns(tree, i, parent, child, column);
        if (l->joint >= 0) {  // free bodies do not ride on their carrier, the ground
            V = pp_twist_at(pp_frame_twist(parent), pp_sub(child->p, parent->p));
        }
        int moving = qd ? l->nv : 0;
        for (int k = 0; k < moving; k++) {
            V = pp_twist_add(V, qd[l->at_v + k], &column[k]);
        }
        child->v = V.v_W;
        child->w = V.w_W;
    }
}

void pp_tree_places(const pp_tree *tree, double t, const double *q, pp_frame *body)
{
    place_driven(tree->model, t, body);
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        pp_hinge_place(tree, i, q + l->at_q, &body[l->carrier], &body[l->body]);
    }
}

// Places of a link's quaternion in q and of its angular velocity in qd; false: it has none. Both
// come after the translations.
static bool quaternion_at(const pp_link *l, int *at_q, int *at_v)
{
    if (l->nq == l->nv) {
        return false;
    }
    int shifts = l->nv - 3;
    *at_q = l->at_q + shifts;
    *at_v = l->at_v + shifts;
    return true;
}

// Rates of coordinates are velocities, except those of quaternions: rot_dot = rot (0, w / 2) with w
// in the child's axes.
void pp_tree_q_dot(const pp_tree *tree, const double *q, const double *qd, double *q_dot)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        int at, w;
        memcpy(q_dot + l->at_q, qd + l->at_v, (size_t)l->nv * sizeof *qd);
        if (quaternion_at(l, &at, &w)) {
            perp_quat rot = {q[at], q[at + 1], q[at + 2], q[at + 3]};
            perp_quat half = {0.0, 0.5 * qd[w], 0.5 * qd[w + 1], 0.5 * qd[w + 2]};
            perp_quat rate = pp_quat_mul(rot, half);
            memcpy(q_dot + at, &rate, sizeof rate);
        }
    }
}

// q moved along qd for the time h. Quaternions move by the exponential map, rot exp(h w), which
// stays on the unit sphere.
void pp_tree_move(const pp_tree *tree, const double *q, const double *qd, double h, double *moved)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        int at, w, shifts = l->nv;
        if (quaternion_at(l, &at, &w)) {
            perp_quat rot = {q[at], q[at + 1], q[at + 2], q[at + 3]};
            perp_quat turn = pp_quat_exp(pp_vec(h * qd[w], h * qd[w + 1], h * qd[w + 2]));
            rot = pp_quat_unit(pp_quat_mul(rot, turn));
            memcpy(moved + at, &rot, sizeof rot);
            shifts -= 3;
        }
        for (int k = 0; k < shifts; k++) {
            moved[l->at_q + k] = q[l->at_q + k] + h * qd[l->at_v + k];
        }
    }
}
