// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of hybrid/: smooth motion in joint coordinates between located events.           theory (H1)
//
//   H(q) qdd + C(q, qd) = B u + J^T lambda
//
// The forces lambda act through holds: loops, targets, rates, motors, dry friction, limits and
// contacts. While no hold changes its mode (held, sliding, off) the motion is smooth and lambda
// follows from linear equations. Where a mode ends, a complementarity problem on the same matrices
// gives the next one. Where velocities have to jump, the same problem with impulses gives the jump.
#pragma once

#include "tree/tree.h"

// ── The machine ──────────────────────────────────────────────────────────────────────────────────

typedef struct pp_hybrid_options {
    double eps;                 // stabilisation [s]: phi_dd = -2/eps phi_d - phi/eps^2      (H4)
    double relative, absolute;  // tolerances of the integration
    double events;              // most of them in a second of simulated time
    perp_impact_law impact;
    bool frictionless;
} pp_hybrid_options;

typedef struct pp_machine {
    const perp_model *model;
    const pp_tree *tree;
    const perp_env *env;
    pp_hybrid_options options;
    const perp_wrench *applied;  // bodies, or NULL
    const pp_drive *drive;       // inputs and actuators, held over the step; NULL: none
    double *turn;                // joints: coordinates when last seen
    const struct pp_rims *rims;  // points of round faces that manifolds have to have; NULL: none
    double length;               // [m], for tolerances
} pp_machine;

// ── Consistent states ────────────────────────────────────────────────────────────────────────────

// Moves q onto loops, targets, limits and contacts that are violated, and qd onto the rates of
// loops and targets, of a start also of drives, by the least motion in the metric of H. moved: the largest change of a
// coordinate, moved_rate: of a rate.                                                   theory (H12)
perp_status pp_hybrid_project(const pp_machine *machine, double t, bool start, double *q,
                              double *qd, double *moved, double *moved_rate, pp_arena *arena);

// ── A step through events ────────────────────────────────────────────────────────────────────────

// The impulses of one contact in a passage, while its normal turns by no more than 1e-3 rad; a
// contact whose normal turns further has several of them. Moments are about the world's origin,
// impulses act on the body of shape b.
typedef struct pp_contact_sum {
    int a, b, listed;
    uint32_t feature;
    pp_contact first;    // geometry when it began
    pp_contact last;     // and when it was last closed
    double restitution;  // that acted; 0 but in impacts
    perp_contact_mode mode;
    bool closed;     // at the end of the step
    double load;     // sum of the normal impulses [N s]
    perp_vec3 pn_W;  // impulse on b along the normals as they were [N s]
    perp_vec3 p_W;   // whole impulse on b
    perp_vec3 at_W;  // sum of normal impulses times their points [N s m]
    perp_vec3 m_W;  // moment of p_W about the world's origin, and of torsional and rolling friction
    perp_vec3 own_W;  // of torsional and rolling friction alone [N m s]
} pp_contact_sum;

// The impulses of one joint in a passage [N s, N m s].
typedef struct pp_joint_sum {
    double drive;      // along the coordinate: of drives, actuators and dry friction
    double limit;      // of limits, >= 0 away from the bound
    perp_wrench on_b;  // on b, about its centre of mass as it moves
    bool redundant;
} pp_joint_sum;

// What a passage is, and by which law of impact.
typedef enum pp_jump {
    PP_JUMP_NONE,   // smooth motion
    PP_JUMP_LAW,    // an impact by the chosen law: velocities jump, nothing moves
    PP_JUMP_OTHER,  // an impact by the other law, since that one would have created energy
} pp_jump;

// A passage: smooth motion up to an impact or the end of the step, or an impact. It starts where
// the one before ends, and holds all impulses and energies exchanged in it.            theory (H15)
typedef struct pp_passage {
    double t;  // at its end
    pp_jump jump;
    int contacts;          // of the result, with those of the passages before
    double *q, *nu;        // bodies at its end
    double *turn;          // joints
    pp_joint_sum *joint;   // joints
    double *actuator;      // actuators: impulse along the coordinate [N s, N m s]
    perp_wrench *element;  // bodies: impulse of force elements, gears and wrenches from the caller
    double work;           // of drives, driven bodies, belts and forces without a potential [J]
    double lost;           // to friction, dampers and impacts [J]
    double error;          // sum of the integrator's estimates of its local errors [m]
} pp_passage;

// The result of a step. Lists of events, contacts and passages are in the order of time.
typedef struct pp_hybrid_result {
    double t;        // [s] the end
    double *q, *qd;  // of the tree, at the end
    int events, event_room;
    perp_event *event;
    int contacts, contact_room;
    pp_contact_sum *contact;
    int passages, passage_room;
    pp_passage *passage;
    pp_joint_sum *joint;   // joints: of all passages
    perp_wrench *held;     // bodies that are not free: impulse of force elements on them
    double *actuator;      // actuators: impulse along the coordinate, of all passages [N s, N m s]
    int joint_rows, rows;  // rows of equations, and of all holds, at the end
    double residual;       // worst rate of a held row at the end [m/s, rad/s]
    int redundant;         // most rows that followed from others
    bool unique;           // the motion is proved to be unique: only equations acted
    bool tempered;         // an impact used another law, or less restitution, than asked for
    bool stiff;            // the integrator went on with backward differentiation formulas
    int steps;             // of the integrator
    char remark[200];
} pp_hybrid_result;

// The configuration q and the velocities nu of a sim whose bodies have the given frames.
void pp_hybrid_state(const perp_model *model, const pp_frame *body, double *q, double *nu);
// One step from (t, q, qd) to t + h, through all events in it. The arrays of *out live in the arena
// `keep`; q and qd are not changed. After a failure out->remark gives the reason.
perp_status pp_hybrid_run(pp_hybrid_result *out, const pp_machine *machine, double t, double h,
                          const double *q, const double *qd, pp_arena *keep, pp_arena *scratch);
