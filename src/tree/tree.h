// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of tree/: the machine in joint coordinates.                                     theory (J1)
//
//   H(q) qdd + C(q, qd) = B u + J^T lambda
//
// A model's joints are sorted into a tree, which moves its bodies by coordinates q, and loops, which are
// left as equations phi(q) = 0 on top of it. Velocities of the bodies follow from rates of the
// coordinates:
//
//   nu = S(q) qd + nu_0(t),   nu_dot = S qdd + sigma(q, qd)                              theory (J2)
//
// nu_0 is what driven bodies impose, sigma the acceleration at qdd = 0. A row J nu + rate of constraint/
// is J S in joint coordinates. Planar models are the special case of axes along z.
#pragma once

#include "constraint/constraint.h"

// How a link moves on its parent; velocities in brackets. Angular velocities of three components are those
// of the child relative to the parent in the child's axes, with a unit quaternion R_PC as coordinates.
typedef enum pp_link_kind {
    PP_LINK_WELD,         // none
    PP_LINK_REVOLUTE,     // angle about u
    PP_LINK_PRISMATIC,    // distance along u
    PP_LINK_SCREW,        // angle about u, pitch * angle along it
    PP_LINK_CYLINDRICAL,  // distance along u, angle about it
    PP_LINK_UNIVERSAL,    // angle about u of the parent, angle about u_b of the child
    PP_LINK_PLANE,        // x, y across u in the joint's a, angle about u
    PP_LINK_SPHERICAL,    // quaternion [omega]
    PP_LINK_FLAT,         // planar free body: x, y of the centre of mass, angle
    PP_LINK_POINT,        // particle: x, y or x, y, z
    PP_LINK_FREE,  // spatial free body: position of the centre of mass in the world, quaternion
                   // [v in world axes, omega in body axes]
} pp_link_kind;

typedef struct pp_link {
    int body;
    int parent;   // link that carries it; -1: a body that is not free, root_body
    int carrier;  // the parent's body
    int joint;    // of the model; -1: free
    bool turned;  // the body is the joint's a, the parent its b
    pp_link_kind kind;
    int nq, nv;
    int at_q, at_v;  // first of its coordinates and of its velocities
} pp_link;

typedef struct pp_tree {
    const perp_model *model;
    int links, nq, nv;
    pp_link *link;  // parents before children
    int *of_body;   // bodies: link that moves it, -1: none
    int loops;
    int *loop;      // joints of the model that are equations: loops, distances, gears, …
    int *parent_v;  // nv: velocity before this one on the way to the root, -1: none (sparsity of H)
    struct pp_hinge *hinge;  // links: constants of their motion, private to tree/
} pp_tree;

// joints: which joints the tree is to be made of, in order of preference (count of them); the rest follow
// in the order of the model. NULL: the joints that hold most first, breadth first from what is not free.
// Lives in the arena. PERP_ERR_ARGUMENT where a named joint cannot be in a tree (a distance, a gear, a
// second way to the same body); error says which.
perp_status pp_tree_create(pp_tree *out, const perp_model *model, const int *joints, int count,
                           pp_arena *arena, perp_error *error);

void pp_tree_name_q(const pp_tree *tree, int k, char *text, size_t size);  // "crank.angle"
void pp_tree_name_v(const pp_tree *tree, int k, char *text, size_t size);  // "crank.rate"

// ── Coordinates ──────────────────────────────────────────────────────────────────────────────────
// Coordinates and rates nearest to frames of bodies (which may be apart at the joints: `lost` gets the
// worst distance or angle, `lost_rate` the worst difference of velocities that no rates give).
void pp_tree_from_frames(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                         double *q, double *qd, double *lost, double *lost_rate);
// Frames of all bodies, velocities included, with those that are not free as their motions say.
void pp_tree_frames(const pp_tree *tree, double t, const double *q, const double *qd,
                    pp_frame *body);
// These bodies with the velocities that their rates give them here, in the arena; NULL: no memory.
pp_frame *pp_tree_bodies_at(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                            pp_arena *arena);
// q_dot = G(q) qd; and q moved by h qd (quaternions by the exponential map).
void pp_tree_q_dot(const pp_tree *tree, const double *q, const double *qd, double *q_dot);
void pp_tree_move(const pp_tree *tree, const double *q, const double *qd, double h, double *moved);

// ── One configuration ────────────────────────────────────────────────────────────────────────────

// Everything at (t, q, qd) that the algorithms share.
typedef struct pp_tree_pass {
    const pp_tree *tree;
    double t, *size;  // size: nv, room as `load` is, for sizes of what is summed
    const double *q, *qd;
    pp_frame *body;      // all bodies
    pp_inertia *mass;    // all bodies, world axes
    perp_twist *column;  // nv: velocity of the centre of mass and angular velocity of the link it
                         // moves, relative to its parent, per unit rate
    perp_twist *sigma;   // all bodies: accelerations at qdd = 0; of driven ones their own
    perp_wrench *load;   // links: room for sums towards the root; so a pass belongs to one thread
    struct pp_composite_inertia *compound;  // links: the same, for inertias
} pp_tree_pass;

// qd: NULL: taken as 0.
perp_status pp_tree_run(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                        const double *qd, pp_arena *arena);
// Coordinates of all joints at a pass, with their full turns: of the tree's joints as q has them, of others
// in the turn nearest to what `turn` holds (NaN: between -pi and pi).
void pp_tree_turns(const pp_tree_pass *pass, double *turn);

// nu = S qd + nu_0 of all free bodies (model->nv numbers), qd as given here; `relative`: without nu_0.
void pp_tree_velocities(const pp_tree_pass *pass, const double *qd, bool relative, double *nu);
// tau = S^T f for impulses or forces on the free bodies (model->nv numbers).
void pp_tree_gather(const pp_tree_pass *pass, const double *f, double *tau);
// A row of constraint/ in joint coordinates: J = J_row S, rounding left out; its rate is J qd + returned.
double pp_tree_row(const pp_tree_pass *pass, const pp_row *row, double *J);

// ── Algorithms ───────────────────────────────────────────────────────────────────────────────────

// H by the composite-rigid-body algorithm: nv x nv, column-major, both triangles.       theory (J3)
void pp_tree_mass(const pp_tree_pass *pass, double *H);
// H = L^T D L with the sparsity of the tree, in place in H; O(nv depth^2). False: not positive definite.
bool pp_tree_factor(const pp_tree *tree, double *H);
void pp_tree_solve(const pp_tree *tree, const double *L, double *x);  // x = H^-1 x
// The same without H, O(nv) each: articulated inertias once, then any x. The pass must stay.
typedef struct pp_articulation pp_articulation;
perp_status pp_tree_articulate(const pp_tree_pass *pass, pp_arena *arena, pp_articulation **out);
void pp_tree_articulated(const pp_articulation *s, double *x);
// C by the recursive Newton-Euler algorithm: what holds qdd = 0 against gravity and gyroscopic
// forces.                                                                               theory (J4)
void pp_tree_bias(const pp_tree_pass *pass, double *C);
// tau = H qdd + C, without H.
perp_status pp_tree_inverse(const pp_tree_pass *pass, const double *qdd, double *tau,
                            pp_arena *arena);
// qdd = H^-1 (tau - C) by the articulated-body algorithm, O(nv).                         theory (J5)
perp_status pp_tree_forward(const pp_tree_pass *pass, const double *tau, double *qdd,
                            pp_arena *arena);
// B u: generalized forces of everything the model applies but gravity: force elements, springs (explicit
// and implicit alike, at this configuration), springs and dampers of joint coordinates. Motors with a
// limited effort and dry friction are not in it. applied: one wrench a body from outside, NULL: none.
perp_status pp_tree_forces(const pp_tree_pass *pass, const double *turn, const perp_wrench *applied,
                           double *tau, pp_arena *arena);
double pp_tree_kinetic(const pp_tree_pass *pass);                        // [J]
double pp_tree_potential(const pp_tree_pass *pass, const double *turn);  // gravity and springs [J]
perp_twist pp_tree_momentum(const pp_tree_pass *pass);  // linear (v) and angular about the world's
                                                        // origin (w) [N s, N m s]

// ── Equations of joints ──────────────────────────────────────────────────────────────────────────

// J_dot nu + d rate/dt of a joint's rows at qdd = 0: the second derivative of its equations, or of its
// coordinate, along the motion with qdd = 0, for bodies that accelerate as pass->sigma says. Exact.
// Returns how many, in the order of pp_joint_equations; coordinate: one number.         theory (J6)
int pp_joint_drift(const pp_tree_pass *pass, int joint, double *drift);
double pp_joint_coordinate_drift(const pp_tree_pass *pass, int joint);
