// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of kinematics/: where the bodies are at the start of a step, how they move, what they weigh, and
// what pushes them.
#pragma once

#include "model/model.h"

#include <perp/sim.h>

// What drives a model over a step: inputs are held from its start on.
typedef struct pp_drive {
    double t;               // start of the step [s]
    const double *input;    // of every input
    const double *filter;   // of every actuator: its filtered control at t; without a filter unused
    const double *control;  // of every actuator: mean of its control over the step
} pp_drive;

// The control c of an actuator with a filter, from its value at drive->t; and without one, as the inputs give it.
double pp_actuator_control(const perp_model *model, const pp_drive *drive, int actuator, double t);
// Its mean from drive->t to drive->t + h, and the filtered control then.                 theory (A2)
double pp_actuator_mean_control(const perp_model *model, const pp_drive *drive, int actuator,
                                double h, double *end);

// State of a sim: positions and velocities of the free bodies.
typedef struct pp_state {
    double t;
    double *q;   // model->nq
    double *nu;  // model->nv
    // joints: their coordinates when last seen, which show how often an axis went around
    double *turn;
    const pp_drive *drive;  // NULL: the model has no inputs and no actuators
} pp_state;

// Pose and velocity of one body.
typedef struct pp_frame {
    perp_vec3 p;    // of the origin [m]
    pp_mat3 R;      // R_WB
    perp_vec3 v;    // [m/s]
    perp_vec3 w;    // [rad/s], world axes
    double angle;   // planar, not wrapped [rad]
    perp_quat rot;  // R_WB as a quaternion
} pp_frame;

// Mass and inertia tensor of a body, in world axes. Not dynamic: zero.
typedef struct pp_inertia {
    double m;                       // [kg]
    double divisor_m, divisor_Izz;  // of M^-1 in place of m and, in the plane, I_zz: see pp_body
    pp_mat3 I, inverse_I;           // [kg m^2], [1/(kg m^2)]; planar: entry zz only
} pp_inertia;

// Where all bodies are at one time, and how they move. The arrays belong to whoever made them.
typedef struct pp_poses {
    double t;              // [s]
    const pp_frame *body;  // every body, the ground included
    // joints: coordinates when last seen (pp_state); NULL: angles between -pi and pi
    const double *turn;
    bool turned;            // these are the coordinates at these places
    const pp_drive *drive;  // NULL: the model has no inputs and no actuators
} pp_poses;

// Value of an expression of time and inputs, such as the rate of a joint.
static inline double pp_signal_value(const pp_expr *expr, const pp_poses *at)
{
    return pp_expr_value_in(expr, &at->t, at->drive ? at->drive->input : NULL);
}

// What pushes the bodies over a step.
typedef struct pp_loads {
    double *p_ext;      // nv: impulse of all explicit forces over h [N s, N m s]        theory (P1)
    perp_wrench *held;  // bodies that are not free: impulse of springs and forces on them
    double potential;   // gravity and springs [J]
    double work_rate;   // power of the explicit forces other than gravity and springs [W]
} pp_loads;

// Where a step starts: M and p_ext of (P1), and the poses they are taken at.
typedef struct pp_kinematics {
    pp_poses poses;
    double h;          // length of the step [s]
    pp_inertia *mass;  // every body
    pp_loads loads;
    // bodies: velocities over the step of those that are not free, as contacts know them; NULL: those of the poses  (P23)
    const perp_twist *given;
} pp_kinematics;

// q and nu at t = 0.
void pp_state_start(const perp_model *model, pp_state *state);
// Frames of all bodies at a state.
void pp_frames(const perp_model *model, const pp_state *state, pp_frame *body);
// Frame of a body that is not free, and its acceleration (of the centre, angular).
pp_frame pp_driven_frame(const pp_body *body, double t);
perp_twist pp_driven_acceleration(const pp_body *body, double t);
// R, rot and angle of a frame.
void pp_frame_set_angle(pp_frame *f, double angle);
void pp_frame_set_rotation(pp_frame *f, perp_quat rot);

// No gyroscopic impulse: the scheme has it in another way.                              theory (S9)
static const perp_gyroscopic PP_GYRO_NONE = (perp_gyroscopic)2;

// One wrench a body for this step from outside (perp_sim_body_apply), NULL: none.
perp_status pp_kinematics_run(pp_kinematics *out, const perp_model *model, const pp_state *state,
                              double h, perp_gyroscopic gyroscopic, const perp_wrench *applied,
                              pp_arena *arena);

// Adds the impulses over h of all forces, implicit ones as well, and of `applied` (NULL: none) to p_ext and held, and
// their power to work_rate.
void pp_forces_add(pp_loads *out, const perp_model *model, const pp_poses *at, double h,
                   const perp_wrench *applied);

// Whether the expressions of a force have values; true for springs and drags.
bool pp_force_is_finite(const perp_model *model, const pp_poses *at, int force);

// Potential energy of gravity and springs at a state [J].
double pp_potential(const perp_model *model, const pp_frame *body);

// ── Mass ─────────────────────────────────────────────────────────────────────────────────────────

void pp_masses(const perp_model *model, const pp_frame *body, pp_inertia *mass);
void pp_inertia_scale(pp_inertia *weight, double s);
// y = M x or y = M^-1 x for the velocities of one body; y may be x.
void pp_body_mul(const pp_body *body, const pp_inertia *mass, const double *x, double *y);
void pp_body_solve(const pp_body *body, const pp_inertia *mass, const double *x, double *y);
// The same for all velocities.
void pp_masses_mul(const perp_model *model, const pp_inertia *mass, const double *x, double *y);
void pp_masses_solve(const perp_model *model, const pp_inertia *mass, const double *x, double *y);
// nu^T M nu / 2 [J].
double pp_kinetic(const perp_model *model, const pp_inertia *mass, const double *nu);

// y += s x for the velocities of a body of space; all of x is read before y is written.
static inline void pp_add6(double s, const double *x, double *y)
{
    double a = s * x[0], b = s * x[1], c = s * x[2], d = s * x[3], e = s * x[4], f = s * x[5];
    y[0] += a;
    y[1] += b;
    y[2] += c;
    y[3] += d;
    y[4] += e;
    y[5] += f;
}

// ── Points of bodies ─────────────────────────────────────────────────────────────────────────────

// R_WB r for a vector in the body frame; and the world position of a body-fixed point.
static inline perp_vec3 pp_rotate(const pp_frame *f, perp_vec3 r_B)
{
    return pp_mul(&f->R, r_B);
}

static inline perp_vec3 pp_point(const pp_frame *f, perp_vec3 r_B)
{
    return pp_add(f->p, pp_mul(&f->R, r_B));
}

// Velocity of the body-fixed point at a world position.
static inline perp_vec3 pp_point_velocity(const pp_frame *f, perp_vec3 at)
{
    return pp_add(f->v, pp_cross(f->w, pp_sub(at, f->p)));
}

// The same in the plane.
static inline pp_vec2 pp_vec2_of(perp_vec3 v)
{
    return (pp_vec2){v.x, v.y};
}

static inline perp_vec3 pp_vec3_of(pp_vec2 v)
{
    return (perp_vec3){v.x, v.y, 0.0};
}

static inline pp_vec2 pp_rotate2(const pp_frame *f, pp_vec2 r_B)
{
    const double *m = f->R.m;
    return (pp_vec2){m[0] * r_B.x + m[1] * r_B.y, m[3] * r_B.x + m[4] * r_B.y};
}

static inline pp_vec2 pp_point2(const pp_frame *f, pp_vec2 r_B)
{
    pp_vec2 r = pp_rotate2(f, r_B);
    return (pp_vec2){f->p.x + r.x, f->p.y + r.y};
}
