// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to tree/: how one link moves on its parent.
//
// With triads F_a = (x, y, u) of the joint's a and F_b of its b, and the joint's own motion X_J(q),
//   R_AB = F_a R_J(q) F_b^T,   p_b = p_a + d(q) in a's axes,
// whichever of a and b is the child. The quaternion of R_AB is linear in the sine and cosine of
// half the angles, so that its constants are computed once:
//   rot_AB = c K_0 + s K_1 (+ c_2, s_2 for a second angle).
#pragma once

#include "tree/tree.h"

// The body in which an axis of a joint is fixed: the axis moves with it.
typedef enum pp_axis_owner {
    PP_AXIS_OWNER_NONE,
    PP_AXIS_OWNER_PARENT,
    PP_AXIS_OWNER_CHILD
} pp_axis_owner;

enum { PP_LINK_NV = 6 };

// Constants of a link's motion, from its joint.
typedef struct pp_hinge {
    perp_vec3 r_A, r_B;              // anchors
    perp_vec3 u, x, y;               // triad of a, in a's axes
    perp_vec3 u_b, z_b;              // axis of b and its direction of angle 0, in b's axes
    perp_quat K[4];                  // of c c_2, s c_2, c s_2, s s_2
    double pitch, angle;             // angle: planar, of b relative to a where the coordinate is 0
    pp_axis_owner ride[PP_LINK_NV];  // which body each column is fixed to
} pp_hinge;

// From the joint of the link; free links have unit axes.
void pp_hinge_make(const pp_tree *tree, const pp_link *link, pp_hinge *hinge);
// Pose of the child from its parent's.
void pp_hinge_place(const pp_tree *tree, int link, const double *q, const pp_frame *parent,
                    pp_frame *child);
// Columns of S: twist of the child relative to its parent per unit rate, in W at the child's centre
// of mass, at the given frames.
void pp_hinge_columns(const pp_tree *tree, int link, const pp_frame *parent, const pp_frame *child,
                      perp_twist *column);
// Number of coordinates and of velocities. They differ where a quaternion has three velocities.
int pp_link_nq(const perp_model *model, int body, pp_link_kind kind);
int pp_link_nv(const perp_model *model, int body, pp_link_kind kind);

// ── Twists and wrenches: (v, f) at one point, (w, tau) about it ──────────────────────────────────

// A twist of a rigid body at the point that is r from where it is given.
static inline perp_twist pp_twist_at(perp_twist t, perp_vec3 r)
{
    return (perp_twist){pp_add(t.v_W, pp_cross(t.w_W, r)), t.w_W};
}

// t plus s times a column, both at the same point.
static inline perp_twist pp_twist_add(perp_twist t, double s, const perp_twist *column)
{
    return (perp_twist){pp_along(t.v_W, s, column->v_W), pp_along(t.w_W, s, column->w_W)};
}

// Rate of change of a column at a fixed point of space, when it is fixed to a body with twist V
// there: the cross product of motion vectors in Featherstone's notation.
static inline perp_twist pp_twist_carried(perp_twist V, const perp_twist *S)
{
    return (perp_twist){pp_add(pp_cross(V.w_W, S->v_W), pp_cross(V.v_W, S->w_W)),
                        pp_cross(V.w_W, S->w_W)};
}

static inline double pp_twist_power(const perp_twist *t, const perp_wrench *f)
{
    return pp_dot3(t->v_W, f->f_W) + pp_dot3(t->w_W, f->tau_W);
}

// Adds a wrench that is given at the distance r from here.
static inline void pp_wrench_gather(perp_wrench *sum, const perp_wrench *f, perp_vec3 r)
{
    sum->f_W = pp_add(sum->f_W, f->f_W);
    sum->tau_W = pp_add(sum->tau_W, pp_add(f->tau_W, pp_cross(r, f->f_W)));
}

static inline perp_twist pp_frame_twist(const pp_frame *f)
{
    return (perp_twist){f->v, f->w};
}

// Composite rigid body: a link and all that it carries, frozen. Mass, first moment and inertia
// about the centre of mass of the link, in world axes.
typedef struct pp_composite_inertia {
    double m;
    perp_vec3 h;
    pp_mat3 I;
} pp_composite_inertia;

// tau = S^T load: the wrenches in pass->load are summed towards the roots, and overwritten.
void pp_tree_gather_loads(const pp_tree_pass *pass, double *tau);
// Inertial wrench of a link at qdd = 0: what its sigma, the gyroscopic torque and gravity ask for,
// about its centre of mass.
perp_wrench pp_tree_inertial_wrench(const pp_tree_pass *pass, int link);
