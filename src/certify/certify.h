// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of certify/: what is true of a step, computed from its states, contacts and impulses alone. Shares
// nothing with the solvers, nor with what wrote the rows of the step.
#pragma once

#include "certify/flown.h"
#include "constraint/constraint.h"

// What values are held against. Bodies that rows or forces tie together form an island; what is fixed or driven ties
// nothing. Speeds and energies are those at the start of the step, with what the forces of the step and
// given motions add: a wrong step does not justify itself.                              theory (K1)
typedef struct pp_scales {
    const perp_model *model;
    int *island;     // bodies: the lowest body of its island, -1: not free
    double *speed;   // by that number: fastest point, forces over h, free fall over its size [m/s]
    double *energy;  // kinetic at those speeds, body by body [J]
    double *place;   // largest coordinate, for rounding [m]
    double *mass;    // of all its bodies [kg]
    double slack;    // of laws, relative to these
    double h;
} pp_scales;

perp_status pp_scales_start(pp_scales *out, const perp_model *model, pp_arena *arena);
void pp_scales_tie(pp_scales *s, int body_a, int body_b);
void pp_scales_finish(pp_scales *s, const pp_kinematics *kin, const pp_frame *end, double slack);
// Positions count to a part in 1e12 of their coordinates: the speed that makes over h [m/s], and the energy [J].
double pp_scale_rounding(const pp_scales *s, int island);
double pp_scale_rounding_energy(const pp_scales *s, int island);
// What a rate may be off by, and the speed it is relative to [m/s].
double pp_scale_rate(const pp_scales *s, int island);
double pp_scale_speed(const pp_scales *s, int island);
// How deep two shapes may overlap [m].
double pp_scale_overlap(const perp_model *m, int a, int b);
// A hundredth of a radian, and of the arms of a joint: what turning in a step may leave.
static const double PP_APART = 1e-2;
// Longest arm of a joint [m], and how far it may be apart [m, rad].
double pp_scale_arm(const perp_model *m, const pp_joint *j);
double pp_scale_apart(const perp_model *m, const pp_joint *j);
bool pp_scale_is_length(const perp_model *m, const pp_row *row);  // in metres, not in radians

// From where to where a shape reaches along a unit vector d, by its support points, seen from `origin` [m]; false: it is a
// mesh or has no end.
bool pp_shape_extent(const perp_model *m, const pp_frame *body, int shape, perp_vec3 origin,
                     perp_vec3 d, double reach[2]);
// How far a point is outside a shape, negative within it; not for meshes [m].
double pp_shape_distance(const perp_model *m, const pp_frame *body, int shape, perp_vec3 point);

// The error of a joint, target and limits of its coordinate included, that is worst for its limit [m, rad].
double pp_judge_joint(const perp_model *m, const pp_poses *at, int joint, double *limit);

typedef struct pp_step_evidence pp_step_evidence;
// How far the velocities of a step are from those that the equations and targets of joints ask for, of each joint the row that
// is worst for its limit [m/s, rad/s]. Of e the states are read; which of its rules the scheme took (errors of position
// taken back, left alone, or closed where the step ends) is not known: the nearest counts.
perp_status pp_judge_joint_rates(const pp_step_evidence *e, const pp_scales *s, double *off,
                                 double *limit, pp_arena *arena);

// What the order of a scheme may leave or add: how far a contact or joint may be off because bodies turn in a
// step instead of going along tangents [m; over the arm of a joint: rad], and what a spring may gain [J].        theory (K5)
double pp_drift_contact(const perp_model *m, const pp_frame *frame, double h, int a, int b);
double pp_drift_joint(const perp_model *m, const pp_frame *frame, double h, const pp_joint *j);
double pp_drift_spring(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                       double theta, const pp_force *f);
// Angular momentum of a free solid that no moment explains, as a part of what it has: a step that turns a body far leaves
// it behind where its moments of inertia differ. Velocities are those of the two frames.   theory (K11)
double pp_angular_momentum_lost(const pp_body *body, const pp_frame *from, const pp_frame *to,
                                double h);
// What of it a step may leave behind: more, and the turn is not resolved.
static const double PP_SPIN_MOST = 0.1;
// What steps have of a spring ahead of, or behind, the places [J].
double pp_spring_lag(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                     double theta, const pp_force *f);
// What the forces on a body may add where the old velocity moves it as well, theta < 1 [J].
double pp_drift_forces(const perp_model *m, const pp_kinematics *kin, double theta, int i);
// Of the energy there is, what arcs may add in a step: more, and the step does not resolve them.
static const double PP_ARCS_MOST = 1e-4;
// What arcs may make of the energy there is while drives that change rates lose as much.   theory (K13)
static const double PP_JERKS_MOST = 1e-3;
double pp_spring_energy(const pp_force *f, const pp_frame *body);  // [J]

// Positions in joint coordinates: error has what bodies are off by with velocities of their own [m], and gets the
// least that a tree of joints explains, within limit.                                  theory (K9)
typedef struct pp_motion_of {
    const pp_frame *from,
        *to;  // bodies at the start and the end; of from the velocities of those not free
    const double *nu;
} pp_motion_of;
perp_status pp_arcs_explain(const perp_model *m, double h, const pp_motion_of *of,
                            const double *limit, double *error, pp_arena *arena);

// Holds a value against its limit: an absolute one where it was set, else the relative one.
void pp_certificate_record(perp_certificate *c, const perp_limits *limits, perp_judged what,
                           double value, double relative);
// The worst of both, value by value.
void pp_certificate_worst(perp_certificate *into, const perp_certificate *from);
// Laws hold to a millionth of what moves. A looser tolerance of the solvers is relative to all impulses
// together, and one row may be off by a hundred times as much.
double pp_slack_of(double tolerance);

// A finished step, read only.
struct pp_step_evidence {
    const perp_model *model;
    const pp_kinematics *kin;
    const double *p_ext;     // impulse of the forces; of the theta method in space kin has another
    const pp_frame *middle;  // of the theta method, where rows of joints act; NULL: at kin
    const pp_gaps *gaps;     // contacts of the step, that the rows come from, where they act
    const pp_rows *rows;
    const double *nu_old;
    const double *nu;  // after
    const double *pb, *pm, *pn, *pt;
    const pp_poses *end;      // where the step ends
    const pp_gaps *gaps_end;  // found there anew
    const pp_team *team;      // NULL: one thread
    bool polygons;            // the form had polygons in place of discs
    const pp_impact *impact;  // NULL: one phase
    perp_stepper stepper;
    perp_rotation_update rotation;
    perp_gyroscopic gyroscopic;
    double whole;       // the step that this is a part of [s]
    bool rates;         // rows ask for rates alone: a start that is worked off elsewhere
    bool exact;         // joints were closed where the step ends: their biases are what that takes
    bool along_joints;  // positions were moved in joint coordinates
    double theta;       // q+ = q + h ((1 - theta) nu_old + theta nu)
    double inertia;     // share of the masses that the step has: 1, quasistatic next to none
    double slack;       // of laws, relative to the scales of the scene
    const perp_wrench *applied;  // bodies: from the caller, NULL: none
};

// ledger: kinetic and potential energy after, work and dissipation of the step.
perp_status pp_certify(perp_certificate *out, perp_energy *ledger, const pp_step_evidence *e,
                       const perp_limits *limits, pp_arena *arena);
// Whether every value is within its limit.
bool pp_certificate_passes(const perp_certificate *c);
