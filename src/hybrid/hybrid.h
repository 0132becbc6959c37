// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of hybrid/: smooth motion in joint coordinates between located events.           theory (H1)
//
//   H(q) qdd + C(q, qd) = B u + J^T lambda
//
// What acts through lambda is a hold: a loop, a target, a rate, a motor, dry friction, a limit, a contact.
// While no hold changes its mode (held, slipping, off) the motion is smooth and lambda follows from linear
// equations; where a mode ends, a complementarity problem on the same matrices tells the next one, and
// where velocities must jump, the same problem with impulses tells by how much.
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
    double *turn;                // joints: coordinates when last seen
    const struct pp_rims *rims;  // points of round faces that manifolds have to have; NULL: none
    double length;               // [m], for tolerances
} pp_machine;

// ── Consistent states ────────────────────────────────────────────────────────────────────────────

// Moves q onto loops and targets and qd onto their rates, by the least motion in the metric of H. moved:
// the largest change of a coordinate, moved_rate: of a rate.                           theory (H12)
perp_status pp_hybrid_project(const pp_machine *machine, double t, double *q, double *qd,
                              double *moved, double *moved_rate, pp_arena *arena);

// ── A step through events ────────────────────────────────────────────────────────────────────────

// What one contact did in a passage, along a normal that hardly turns: one whose normal turns has several.
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

typedef struct pp_joint_sum {
    double drive, limit;
    perp_wrench on_b;  // about the centre of mass of b as it moves
    bool redundant;
} pp_joint_sum;

// How a passage ends.
typedef enum pp_jump {
    PP_JUMP_NONE,   // it is smooth motion
    PP_JUMP_LAW,    // it is an impact by the law that was asked for: velocities jump, nothing moves
    PP_JUMP_OTHER,  // by the other law, since that one would have created energy
} pp_jump;

// A stretch of smooth motion up to an impact or the end of the step, or an impact. It starts where the one before
// ends; all that was exchanged in it is here.                                             theory (H15)
typedef struct pp_passage {
    double t;  // at its end
    pp_jump jump;
    int contacts;          // of the result, with those of the passages before
    double *q, *nu;        // bodies at its end
    double *turn;          // joints
    pp_joint_sum *joint;   // joints
    perp_wrench *element;  // bodies: impulse of force elements, gears and wrenches from the caller
    double work;           // of drives, driven bodies, belts and forces without a potential [J]
    double lost;           // to friction, dampers and impacts [J]
    double error;          // sum of the integrator's estimates of its local errors [m]
} pp_passage;

typedef struct pp_hybrid_result {
    double t;
    double *q, *qd;  // at the end
    int events, event_room;
    perp_event *event;
    int contacts, contact_room;
    pp_contact_sum *contact;
    int passages, passage_room;
    pp_passage *passage;
    pp_joint_sum *joint;   // joints: of all passages
    int joint_rows, rows;  // of equations, and of all holds, at the end
    double residual;       // worst rate of a held row at the end [m/s, rad/s]
    int redundant;         // rows that follow from others, at most
    bool unique;           // proved: nothing but equations acted
    bool tempered;         // an impact took another law, or less restitution, than was asked for
    bool stiff;
    int steps;  // of the integrator
    char remark[200];
} pp_hybrid_result;

// The state of a sim with the given frames.
void pp_hybrid_state(const perp_model *model, const pp_frame *body, double *q, double *nu);
// From (t, q, qd) to t + h. What is in *out lives in the arena `keep`. q and qd are not changed.
perp_status pp_hybrid_run(pp_hybrid_result *out, const pp_machine *machine, double t, double h,
                          const double *q, const double *qd, pp_arena *keep, pp_arena *scratch);
