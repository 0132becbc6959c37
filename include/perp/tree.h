// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A model in joint coordinates: H(q) qdd + C(q, qd) = B u + J^T lambda.
//
// The joints of a model are divided into a tree, whose coordinates q determine the poses of the bodies, and loops,
// which remain as equations phi(q) = 0. The coordinate of a link is that of its joint (angle or distance of b relative
// to a). Links that rotate freely have a unit quaternion (of the child in its parent, scalar first) as coordinates and
// the angular velocity relative to the parent, in the child's axes, as velocities, so there can be more coordinates
// than velocities. A body without a tree joint has its world position as coordinates.
//
// Matrices are column-major. A tree is used by one thread at a time; any number of trees can share a model.
#pragma once

#include <perp/base.h>
#include <perp/model.h>
#include <perp/types.h>

typedef struct perp_tree perp_tree;

// One body of the tree, parents before children.
typedef struct perp_link {
    perp_body body, parent;  // parent: the ground if the body is free
    perp_joint joint;        // {-1}: none, the body is free
    int nq, nv;              // number of coordinates and velocities
    int at_q, at_v;          // index of the first of them
} perp_link;

// joints: preferred joints of the tree, in order; the others follow in the order of the model. NULL: joints with the
// most equations first, among these those with an armature. PERP_ERR_ARGUMENT if a given joint cannot be in a tree; the error says which, and why. The tree
// starts in the initial state of the model, at t = 0; the model must outlive it.
PERP_API PERP_MUST perp_status perp_tree_create(const perp_model *model, const perp_joint *joints,
                                                int count, const perp_env *env, perp_tree **tree,
                                                perp_error *error);
PERP_API void perp_tree_destroy(perp_tree *tree);

PERP_API const perp_model *perp_tree_model(const perp_tree *tree);
PERP_API void perp_tree_size(const perp_tree *tree, int *nq, int *nv);
PERP_API const perp_link *perp_tree_links(const perp_tree *tree, int *count);
PERP_API const perp_joint *perp_tree_loops(const perp_tree *tree, int *count);
// "elbow.angle", "elbow.rate"; NULL past the last.
PERP_API const char *perp_tree_coordinate_name(const perp_tree *tree, int k);
PERP_API const char *perp_tree_velocity_name(const perp_tree *tree, int k);

// ── State ────────────────────────────────────────────────────────────────────────────────────────

// Sets coordinates and velocities at time t; all other functions refer to this state. Quaternions are normalised.
// On a negative status the state is unchanged.
PERP_API PERP_MUST perp_status perp_tree_set(perp_tree *tree, double t, const double *q,
                                             const double *qd);
PERP_API void perp_tree_get(const perp_tree *tree, double *t, double *q, double *qd);
// The same with positions and velocities of the bodies, in the format of perp_sim_state_get and perp_sim_state_set.
// The bodies need not satisfy the joints of the tree: lost receives the worst error [m, rad], lost_rate the worst
// velocity error [m/s, rad/s]; both may be NULL.
PERP_API PERP_MUST perp_status perp_tree_set_bodies(perp_tree *tree, double t, const double *q,
                                                    const double *nu, double *lost,
                                                    double *lost_rate);
PERP_API void perp_tree_get_bodies(const perp_tree *tree, double *t, double *q, double *nu);
// Time derivatives of the coordinates: qd, except for quaternions.
PERP_API void perp_tree_coordinate_rates(const perp_tree *tree, double *q_dot);
PERP_API perp_pose perp_tree_pose(const perp_tree *tree, perp_body body);
PERP_API perp_twist perp_tree_twist(const perp_tree *tree, perp_body body);

// ── Dynamics ─────────────────────────────────────────────────────────────────────────────────────

PERP_API void perp_tree_mass(perp_tree *tree, double *H);  // nv x nv, symmetric, positive
                                                           // definite; with armatures of the tree
PERP_API void perp_tree_bias(perp_tree *tree, double *C);  // gravity, Coriolis and gyroscopic terms
// B u: forces of the model except gravity (force elements, springs, dampers, actuators), and external wrenches:
// applied has one per body of the model, the ground first; NULL: none.
PERP_API PERP_MUST perp_status perp_tree_forces(perp_tree *tree, const perp_wrench *applied,
                                                double *tau);
// Inputs of the model, for forces and actuators, clamped to their ranges; at first as the model has them.
PERP_API PERP_MUST perp_status perp_tree_inputs_set(perp_tree *tree, const double *values,
                                                    int count);
// The filtered control of an actuator with a time constant; NaN, as at first: that of a filter that has settled.
PERP_API void perp_tree_filter_set(perp_tree *tree, perp_actuator actuator, double value);
// tau = H qdd + C by the recursive Newton-Euler algorithm, O(n).
PERP_API PERP_MUST perp_status perp_tree_inverse(perp_tree *tree, const double *qdd, double *tau);
// qdd = H^-1 (tau - C) by the articulated-body algorithm, O(n). Loops, limits and contacts are not included.
PERP_API PERP_MUST perp_status perp_tree_forward(perp_tree *tree, const double *tau, double *qdd);
PERP_API double perp_tree_kinetic(const perp_tree *tree);    // [J]
PERP_API double perp_tree_potential(const perp_tree *tree);  // of gravity and springs [J]
// Linear momentum (v) and angular momentum about the world origin (w) [N s, N m s].
PERP_API perp_twist perp_tree_momentum(const perp_tree *tree);

// ── Jacobians ────────────────────────────────────────────────────────────────────────────────────
// Each function gives a rate, J qd + rate, and its derivative J qdd + drift: rate is the contribution of kinematic
// bodies, drift is J_dot qd plus theirs. Outputs that are not needed may be NULL.

typedef struct perp_rate {
    double value;  // of the quantity itself [m, rad]
    double rate;   // at qd = 0
    double drift;  // second derivative at qdd = 0
} perp_rate;

// The coordinate of a joint, in the tree or not; J: nv values. PERP_ERR_ARGUMENT if it has none.
PERP_API PERP_MUST perp_status perp_tree_joint(perp_tree *tree, perp_joint joint, perp_rate *rate,
                                               double *J);
enum { PERP_JOINT_MAX_ROWS = 6 };  // largest number of equations of a joint
// The equations phi = 0 of a joint; J: rows x nv. Those of tree joints vanish.
PERP_API PERP_MUST perp_status perp_tree_equations(perp_tree *tree, perp_joint joint, int *rows,
                                                   perp_rate rate[PERP_JOINT_MAX_ROWS], double *J);
// Velocity of a point of a body and the angular velocity of the body; J: 6 x nv. rate: at qd = 0, drift:
// acceleration of the point and angular acceleration at qdd = 0.
PERP_API PERP_MUST perp_status perp_tree_point(perp_tree *tree, perp_body body, perp_vec3 point_B,
                                               perp_twist *rate, perp_twist *drift, double *J);

// ── Constraints ──────────────────────────────────────────────────────────────────────────────────

// The active constraints at this state: loops, targets and rates in the order of the joints, then joint limits that
// are reached and not being left. A loop or target is phi = 0; a rate is psi = J qd + rate = 0, with value 0; a limit
// is phi >= 0.
typedef struct perp_constraints {
    int rows;
    int limits;               // number of limits, which are the last rows
    const double *J;          // rows x nv
    const perp_rate *rate;    // rows
    const perp_joint *joint;  // rows: the joint of each row
    const bool *is_rate;      // rows: psi, not phi
    const char *const *name;  // rows: "elbow 1", "crank.target", "elbow.lower"
    const double *epsilon;    // rows: perp_joint_def.epsilon of targets and rates, 0 of others [s]
} perp_constraints;
// Valid until the state changes.
PERP_API PERP_MUST perp_status perp_tree_constraints(perp_tree *tree, perp_constraints *out);
// The value of J qdd that maintains the constraints: -drift, and with eps > 0 a stabilization with time constant eps
// [s], phi'' = -2/eps phi' - phi/eps^2 and psi' = -psi/eps. eps < 0: of each row its own `epsilon`.
PERP_API void perp_tree_stabilise(const perp_tree *tree, const perp_constraints *constraints,
                                  double eps, double *b);

// Constraints on x: J x = b for the first `equalities` rows, J x >= b for the `inequalities` that follow.
typedef struct perp_tree_rows {
    int equalities, inequalities;
    const double *J;  // all rows x nv
    const double *b;
} perp_tree_rows;

// Solves H qdd + C = tau + J^T lambda with the constraints on x = qdd; for inequalities lambda >= 0 is complementary.
// For dependent rows, lambda has the least norm; rank: number of independent active rows.
PERP_API PERP_MUST perp_status perp_tree_accelerate(perp_tree *tree, const double *tau,
                                                    const perp_tree_rows *hold, double *qdd,
                                                    double *lambda, int *rank);
// An impact: H (qd_after - qd) = J^T impulse with the constraints on x = qd_after.
PERP_API PERP_MUST perp_status perp_tree_impact(perp_tree *tree, const perp_tree_rows *hold,
                                                double *qd_after, double *impulse, int *rank);
