// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: rows of joints, drives, limits and springs, and the impulse of the forces,
// written a second time from the equations; so are points and velocities of bodies, friction and
// mobilities. No function of the folders that made the step is called (tools/check_layers). Only
// types are shared, among them pp_row, in which both sides are written.
//
// A scalar of a joint is a function of vectors that are fixed in its bodies: anchors p and axes e.
// With its gradients g_p and g_e, virtual power gives the row of either body, without a derivation
// for each kind of joint:
//
//   force g_p,   moment (p - o) x g_p + sum e x g_e                                       theory (K12)
#pragma once

#include "certify/certify.h"
#include "certify/geometry/geometry.h"

// World position of a point fixed in a body, and velocity of the body's point at a world position.
static inline perp_vec3 pp_own_point(const pp_frame *f, perp_vec3 r_B)
{
    return pp_add(f->p, pp_mul(&f->R, r_B));
}

static inline perp_vec3 pp_own_velocity(const pp_frame *f, perp_vec3 at)
{
    return pp_add(f->v, pp_cross(f->w, pp_sub(at, f->p)));
}

// Whether the rows of the step are those of its end: the implicit step, but for starts that are kept as given.
//                                                                                      theory (I1)
static inline bool pp_own_at_end(const pp_step_evidence *e)
{
    return e->stepper == PERP_STEPPER_IMPLICIT && e->middle != NULL;
}

// The nearest friction impulse within a limit: of one row, of the disc, or of the polygon of the
// group's directions (law.c).
void pp_own_project(const pp_friction *group, bool polygons, double limit, double p[2]);
// Change of the relative velocity along d at a contact by a unit impulse along d; moment: of the
// relative rotation about d. 1 where nothing can move.
double pp_own_mobility(const pp_step_evidence *e, const pp_contact *c, perp_vec3 d, bool moment);

// A row of a joint between two bodies: a unit impulse is a force f on b and -f on a, with moments about their centres of
// mass. Most rows of a machine are of this kind, and a sixth of the size of a pp_row.
typedef struct pp_own_pair {
    int a, b;
    perp_vec3 f, tau_a, tau_b;
    double value;  // phi [m, rad]
    double rate;   // what bodies that are not free add [m/s, rad/s]
    double v_pre;  // rate of phi with the velocities of the frames
} pp_own_pair;

// Anchors and axes of a joint at one placement of its two bodies, in world coordinates (joint.c).
typedef struct pp_own_anchors {
    const perp_model *m;
    const pp_frame *body;
    const pp_joint *j;
    perp_vec3 pa, pb, apart;  // anchors, and p_b - p_a
    perp_vec3 a[4], b[2];     // axes that are fixed in either body
} pp_own_anchors;

// A scalar phi of a joint: its gradient by the anchor of b, which by the anchor of a is opposite, and the
// moments sum e x g_e of its gradients by the axes of either body.
typedef struct pp_own_scalar {
    double value;
    perp_vec3 g;
    perp_vec3 on_a, on_b;
} pp_own_scalar;

// An equation of a joint between two bodies, with the impulse that the problem found for it.
typedef struct pp_own_equation {
    double value;  // phi where the step starts [m, rad]
    double after;  // its rate with the velocities at the end of the step [m/s, rad/s]
    double given;  // what of that bodies add that are not free
    double bias;   // what the scheme adds to the rate [m/s, rad/s]
    double p;      // [N s, N m s]
    bool length;   // in metres
} pp_own_equation;

// The coordinate of a joint, its rate with the velocities of the frames, and what of that is given.
typedef struct pp_own_place {
    double value, v_pre, rate;  // [m, rad], [m/s, rad/s]
    bool known;
} pp_own_place;

// A joint between two bodies, and the impulses of its equations together: a force on b at its anchor and the opposite one
// on a, and what their gradients by the axes add to the moments of either.                       theory (K12)
typedef struct pp_own_joint {
    pp_own_pair along;       // its coordinate where rows of the step act, if there may be such rows
    double arm;              // pp_scale_arm [m]
    int first, count;        // equations
    perp_vec3 arm_a, arm_b;  // from the centres of mass to the anchors [m]
    perp_vec3 f, on_a, on_b;
} pp_own_joint;

// What several judges ask of a row.
typedef struct pp_own_sums {
    double after;   // J nu at the end of the step [m/s, rad/s]
    double square;  // J M^-1 J^T
    double lever;   // what a slack is divided by in its unit: pp_scale_lever
    double along;  // 1 or -1: times the coordinate of its joint, between two bodies; 0: another row
} pp_own_sums;

typedef struct pp_own_joints {
    int count;  // equations
    pp_own_equation *equation;
    pp_own_joint *of;  // joints; of couplings without equations
    pp_own_place *start,
        *end;  // joints: their coordinates at both ends of the step, where they are known
    pp_own_sums *b, *m, *limit;  // of the rows with these names, limits those of joints
} pp_own_joints;

// A joint between two bodies at the end of a step.
typedef struct pp_own_joint_end {
    pp_own_anchors at;
    pp_own_pair along;  // its coordinate,
    bool has_along;     // where it has one that was asked for
} pp_own_joint_end;

struct pp_judged_end {
    bool valid;
    pp_frame *body;           // bodies: the poses that all of it belongs to,
    double *turn;             // and turns of joints
    pp_own_joint_end *joint;  // joints; not of couplings
    pp_kept_shapes shapes;
};

// Whether there may be a row along the coordinate of a joint, beside limits, or the energy depends on where it is.
static inline bool pp_own_follows_coordinate(const pp_joint *j)
{
    return j->target || j->rate || j->friction > 0.0 || j->first_actuator > 0 ||
           j->armature > 0.0 || j->stiffness > 0.0 || j->damping > 0.0;
}

// Not of gears and couplings, which may act on more bodies.
pp_own_anchors pp_own_anchors_of(const perp_model *m, const pp_frame *body, const pp_joint *j);
// The equations of a joint; turn: as in pp_own_equations. Returns their number.
int pp_own_scalars(const pp_own_anchors *at, const double *turn, int joint,
                   pp_own_scalar out[PP_JOINT_EQUATIONS]);
// The coordinate of a joint as such a row. false: it has none, or acts on more than two bodies.
bool pp_own_pair_coordinate_at(const pp_own_anchors *at, const double *turn, int joint,
                               pp_own_pair *pair);
bool pp_own_pair_coordinate(const perp_model *m, const pp_poses *where, int joint,
                            pp_own_pair *pair);
// What is judged of a joint's place: the values of its equations, then its coordinate where it has a target or limits.
typedef struct pp_own_value {
    double value;     // [m, rad]
    bool length;      // in metres
    bool coordinate;  // that of the joint, not an error
} pp_own_value;
// asked: whether its coordinate is also wanted as a row.
int pp_own_values(pp_own_joint_end *end, const double *turn, int joint, bool asked,
                  pp_own_value value[PP_JOINT_EQUATIONS + 1]);
// The same row in the form that all rows have.
void pp_own_widen(const perp_model *m, const pp_own_pair *pair, pp_row *row);

// The equations of a joint at the given poses: value, J, rate, and v_pre with the velocities of the
// frames. turn: last coordinates of joints, which select the turn of an angle; NULL: angles between
// -pi and pi. Returns the number of equations.
int pp_own_equations(const perp_model *m, const pp_poses *where, int joint,
                     pp_row row[PP_JOINT_EQUATIONS]);
// The coordinate of a joint likewise; false: it has none.
bool pp_own_coordinate(const perp_model *m, const pp_poses *where, int joint, pp_row *row);
// Rows are built by pp_own_start, then pp_own_add for each body with its force and moment.
void pp_own_start(pp_row *row);
void pp_own_add(const perp_model *m, const pp_frame *body, int i, perp_vec3 f, perp_vec3 tau,
                pp_row *row);

// The evidence with rows of certify/ in place of those of the problem, except those of contacts: equations of joints
// between two bodies in own->joints, all others in own->rows with their impulses. *same: in number and kind they are the
// rows that the problem had.
perp_status pp_own_rows(pp_step_evidence *own, bool *same, const pp_step_evidence *e,
                        pp_arena *arena);

// Wrenches of a force of the scene on its bodies at the start of the step, about their centres of
// mass [N, N m].
void pp_own_force(const pp_step_evidence *e, const pp_force *f, perp_wrench *on_a,
                  perp_wrench *on_b);
// nv: impulse of gravity, explicit forces, applied wrenches and the gyroscopic torque. NULL: no
// memory.                                                                        theory (P1), (S2)
double *pp_own_push(const pp_step_evidence *e, pp_arena *arena);
