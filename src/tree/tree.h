// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of tree/: the machine in joint coordinates.                                     theory (J1)
//
//   H(q) qdd + C(q, qd) = B u + J^T lambda
//
// The joints of a model are sorted into a tree, whose coordinates q move the bodies, and loops,
// which remain as equations phi(q) = 0. Velocities of the bodies follow from rates of the
// coordinates:
//
//   nu = S(q) qd + nu_0(t),   nu_dot = S qdd + sigma(q, qd)                              theory (J2)
//
// nu_0 is the motion that driven bodies impose, sigma the acceleration at qdd = 0. A row
// J nu + rate of constraint/ is J S in joint coordinates. Planar models are the special case of
// axes along z.
//
// All spatial vectors are in world axes, taken at the centre of mass of their link, linear part
// first. Textbooks take them at one origin; at centres of mass a long chain far away loses no
// digits.
#pragma once

#include "constraint/constraint.h"

// How a link moves on its parent; velocities in brackets where they are not the rates of the
// coordinates. An angular velocity of three components is that of the child relative to the parent
// in the child's axes, with the unit quaternion R_PC as coordinates.
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

// A body that the tree moves, and its place in q and qd.
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

// The tree of a model. Links are numbered parents first: recursions run through them upwards from
// the roots or downwards from the leaves.
typedef struct pp_tree {
    const perp_model *model;
    int links, nq, nv;
    pp_link *link;  // parents before children
    int *of_body;   // bodies: link that moves it, -1: none
    int loops;
    int *loop;  // joints of the model that are equations: loops, distances, gears, …
    int *
        parent_v;  // nv: velocity before this one on the path to the root, -1: none (sparsity of H)
    double *rotor;           // nv: armature of the joint that has this velocity [kg m^2 or kg]
    struct pp_hinge *hinge;  // links: constants of their motion, private to tree/
} pp_tree;

// joints: those that the tree is to be made of, in order of preference; the others follow in the
// order of the model. NULL: joints with most equations first, breadth first from bodies that are
// not free. Lives in the arena. PERP_ERR_ARGUMENT, with the reason in error, where a named joint
// cannot be in a tree: a distance, a gear, or a second connection of the same body.
perp_status pp_tree_create(pp_tree *out, const perp_model *model, const int *joints, int count,
                           pp_arena *arena, perp_error *error);

void pp_tree_name_q(const pp_tree *tree, int k, char *text, size_t size);  // "crank.angle"
void pp_tree_name_v(const pp_tree *tree, int k, char *text, size_t size);  // "crank.rate"

// ── Coordinates ──────────────────────────────────────────────────────────────────────────────────
// Coordinates and rates nearest to given frames of bodies. The joints may be open: `lost` gets the
// worst distance or angle, `lost_rate` the worst difference of velocities that no rates explain; both NULL: not asked.
void pp_tree_from_frames(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                         double *q, double *qd, double *lost, double *lost_rate);
// The same of bodies that the tree has placed; turn: the coordinates of joints at these frames, which those of hinges in space
// are taken from.
void pp_tree_from_places(const pp_tree *tree, const pp_frame *body, const double *turn, double *q,
                         double *qd);
// Where a joint has its angle in q, if it is a hinge in space that moves a link; else -1.
int pp_tree_hinge_at(const pp_tree *tree, int joint);
// Frames and velocities of all bodies; bodies that are not free follow their motions.
void pp_tree_frames(const pp_tree *tree, double t, const double *q, const double *qd,
                    pp_frame *body);
// Where the bodies are, without their velocities.
void pp_tree_places(const pp_tree *tree, double t, const double *q, pp_frame *body);
// The given bodies with the velocities that their rates give at this place, in the arena; NULL: no
// memory.
pp_frame *pp_tree_bodies_at(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                            pp_arena *arena);
// The same with the velocities of `moved`, which are those of their rates.
pp_frame *pp_tree_velocities_taken(const pp_tree *tree, const pp_frame *body, const pp_frame *moved,
                                   pp_arena *arena);
// q_dot = G(q) qd; and q moved by h qd (quaternions by the exponential map).
void pp_tree_q_dot(const pp_tree *tree, const double *q, const double *qd, double *q_dot);
void pp_tree_move(const pp_tree *tree, const double *q, const double *qd, double h, double *moved);

// ── One configuration ────────────────────────────────────────────────────────────────────────────

// Everything at (t, q, qd) that the algorithms share: computed once, used by all of them.
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
    // For functions of couplings, set after the run: coordinates of joints with their turns, inputs; NULL: as in pp_poses.
    const double *turn, *input;
    bool rotors;  // armatures are part of H; time steps have them as rows instead
} pp_tree_pass;

// qd NULL: at rest.
perp_status pp_tree_run(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                        const double *qd, pp_arena *arena);
// For a step, which has the places and masses of all bodies, and asks for no accelerations: sigma is NULL.
perp_status pp_tree_run_step(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                             const double *qd, const pp_frame *body, pp_inertia *mass,
                             pp_arena *arena);
// Coordinates of all joints with their full turns: joints of the tree as q has them, others in the
// turn nearest to the value in `turn` (NaN: between -pi and pi).
void pp_tree_turns(const pp_tree_pass *pass, double *turn);

// nu = S qd + nu_0 of all free bodies (model->nv numbers), for any qd; relative: without nu_0.
void pp_tree_velocities(const pp_tree_pass *pass, const double *qd, bool relative, double *nu);
// The reverse: qd of velocities nu = S qd, relative ones. Angular velocities determine the rates of columns that turn,
// and what these leave of the velocity of the link those of the others.
void pp_tree_rates(const pp_tree_pass *pass, const double *nu, double *qd);
// tau = S^T f for impulses or forces on the free bodies (model->nv numbers).
void pp_tree_gather(const pp_tree_pass *pass, const double *f, double *tau);
// A row of constraint/ in joint coordinates: J = J_row S, with entries below rounding set to 0. Its
// rate is J qd plus the returned value.
double pp_tree_row(const pp_tree_pass *pass, const pp_row *row, double *J);

// ── Algorithms ───────────────────────────────────────────────────────────────────────────────────

// H by the composite-rigid-body algorithm: nv x nv, column-major, both triangles.       theory (J3)
void pp_tree_mass(const pp_tree_pass *pass, double *H);
// H = L^T D L with the sparsity of the tree, in place in H; O(nv depth^2). False: H is not positive
// definite.
bool pp_tree_factor(const pp_tree *tree, double *H);
void pp_tree_solve(const pp_tree *tree, const double *L, double *x);  // x = H^-1 x
// Entry (k, k) of H^-1: the rate that a unit impulse along coordinate k makes of its own. x: nv numbers of scratch.
double pp_tree_mobility(const pp_tree *tree, const double *L, int k, double *x);
// Solves with H without forming it, O(nv) per right-hand side: articulated inertias are computed
// once. The pass must stay valid.
typedef struct pp_articulation pp_articulation;
// soft: nv, added to the diagonal of H; NULL: nothing.
perp_status pp_tree_articulate(const pp_tree_pass *pass, const double *soft, pp_arena *arena,
                               pp_articulation **out);
void pp_tree_articulated(const pp_articulation *s, double *x);
// C by the recursive Newton-Euler algorithm: the forces that hold qdd = 0 against gravity, Coriolis
// and centrifugal forces.                                                              theory (J4)
void pp_tree_bias(const pp_tree_pass *pass, double *C);
// tau = H qdd + C, without H.
perp_status pp_tree_inverse(const pp_tree_pass *pass, const double *qdd, double *tau,
                            pp_arena *arena);
// qdd = H^-1 (tau - C) by the articulated-body algorithm, O(nv).                         theory (J5)
perp_status pp_tree_forward(const pp_tree_pass *pass, const double *tau, double *qdd,
                            pp_arena *arena);
// B u: generalized forces of everything that the model applies except gravity: force elements,
// springs (explicit and implicit alike, at this configuration), springs and dampers of joint
// coordinates, actuators as `drive` has them. Motors with limited effort and dry friction are not
// included. applied: a wrench on each body from the caller; NULL: none.
perp_status pp_tree_forces(const pp_tree_pass *pass, const double *turn, const pp_drive *drive,
                           const perp_wrench *applied, double *tau, pp_arena *arena);
// Effort of an actuator along the coordinate of its joint, whose row with value and rate v_pre is given [N, N m].
double pp_actuator_effort(const perp_model *m, const pp_poses *at, int actuator, const pp_row *row);
double pp_tree_kinetic(const pp_tree_pass *pass);                        // [J]
double pp_tree_potential(const pp_tree_pass *pass, const double *turn);  // gravity and springs [J]
perp_twist pp_tree_momentum(const pp_tree_pass *pass);  // linear (v) and angular about the world's
                                                        // origin (w) [N s, N m s]

// ── Equations of joints ──────────────────────────────────────────────────────────────────────────

// J_dot nu + d rate/dt of a joint's rows: the second derivative of its equations, or of its
// coordinate, at qdd = 0, for bodies with the accelerations pass->sigma. Exact. Returns their
// number, in the order of pp_joint_equations; the coordinate has one.                  theory (J6)
int pp_joint_drift(const pp_tree_pass *pass, int joint, double *drift);
double pp_joint_coordinate_drift(const pp_tree_pass *pass, int joint);
