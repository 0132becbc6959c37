// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of certify/: judges a step from its states, contacts and impulses alone. Shares nothing with
// the solvers, nor with the stages that wrote the rows of the step.
#pragma once

#include "certify/flown.h"
#include "constraint/constraint.h"

// Scales that errors are relative to. Bodies that rows or forces connect form an island; fixed and
// driven bodies connect nothing. Speeds and energies are those at the start of the step, with what
// the forces and given motions of the step add, so that a wrong step does not enlarge its own
// limits.                                                                              theory (K1)
typedef struct pp_scales {
    const perp_model *model;
    int *island;     // bodies: the lowest body of its island, -1: not free
    double *speed;   // islands: fastest point, with forces over h and a fall by its size [m/s]
    double *energy;  // islands: kinetic energy of the bodies at their speeds [J]
    double *place;   // islands: largest coordinate, for rounding [m]
    double *mass;    // islands: sum over the bodies [kg]
    double slack;    // of laws, relative to these scales
    double h;        // [s]
} pp_scales;

// In this order: start, one call for each connection, finish.
perp_status pp_scales_start(pp_scales *out, const perp_model *model, pp_arena *arena);
void pp_scales_tie(pp_scales *s, int body_a, int body_b);
// Reads frames, h and p_ext of kin. slack: of laws, from pp_slack_of.
void pp_scales_finish(pp_scales *s, const pp_kinematics *kin, const pp_frame *end, double slack);
// Positions are exact to 1e-12 of their coordinates: as a speed over h [m/s], and as an energy [J].
double pp_scale_rounding(const pp_scales *s, int island);
double pp_scale_rounding_energy(const pp_scales *s, int island);
// The error allowed to a rate, and the speed of the island [m/s].
double pp_scale_rate(const pp_scales *s, int island);
double pp_scale_speed(const pp_scales *s, int island);
// How deep two shapes may overlap [m].
double pp_scale_overlap(const perp_model *m, int a, int b);
// What the turning of bodies in a step may leave of a joint: a hundredth of a radian, and of its
// arm.
static const double PP_APART = 1e-2;
// Longest arm of a joint [m], and the error allowed to any of its equations [m, rad].
double pp_scale_arm(const perp_model *m, const pp_joint *j);
double pp_scale_apart(const perp_model *m, const pp_joint *j);
// Of the row of a coupling: its rate per speed of its bodies, so that units of its function do not count.
double pp_scale_coupling(const perp_model *m, const pp_row *row);
bool pp_scale_is_length(const perp_model *m, const pp_row *row);  // in metres, not in radians

// Pieces of all shapes and the pairs that are judged, which depend on the model alone: measuring a hull looks at all of its
// vertices, so that a sim does it once. NULL: out of memory.
typedef struct pp_judged_shapes pp_judged_shapes;
const pp_judged_shapes *pp_judged_shapes_create(const perp_model *model, pp_arena *arena);

// What was found of shapes and joints where a step ended. It depends on the model and the poses alone, so that the next step,
// which starts with the same numbers, need not find it again. NULL: out of memory.
typedef struct pp_judged_end pp_judged_end;
pp_judged_end *pp_judged_end_create(const perp_model *model, const pp_judged_shapes *shapes,
                                    pp_arena *arena);

// Two shapes that passed through each other on the way from one placement of the bodies to another; a < 0: none did.
typedef struct pp_crossing {
    int a, b;               // shapes
    double depth, allowed;  // [m]
} pp_crossing;
perp_status pp_judge_crossing(pp_crossing *out, const perp_model *m, const pp_frame *start,
                              const pp_frame *end, double h, pp_arena *arena);

// Extent of a shape along a unit vector d, by its support points, relative to `origin` [m]; false:
// the shape is a mesh or a half-space.
bool pp_shape_extent(const perp_model *m, const pp_frame *body, int shape, perp_vec3 origin,
                     perp_vec3 d, double reach[2]);
// How far a point is from the surface of a shape whose outward normal there is `out`, by the distance of the point moved
// along it; not for meshes [m].
double pp_shape_surface_error(const perp_model *m, const pp_frame *body, int shape, perp_vec3 point,
                              perp_vec3 out);
// Distance of a point from a shape, negative inside; not for meshes [m].
double pp_shape_distance(const perp_model *m, const pp_frame *body, int shape, perp_vec3 point);
// Separation of two shapes, negative where they overlap, at least that along n, which points from a to b; not for
// meshes [m].
double pp_shape_separation(const perp_model *m, const pp_frame *body, int a, int b, perp_vec3 n);

// The error of a joint that is worst relative to its limit, among its equations, its target and the
// limits of its coordinate [m, rad].
double pp_judge_joint(const perp_model *m, const pp_poses *at, int joint, double *limit);

typedef struct pp_step_evidence pp_step_evidence;
// Distance of the velocities of a step from those that the equations and targets of joints ask for:
// for each joint the row that is worst relative to its limit [m/s, rad/s]. Only the states of e are
// read. Which rule the scheme applied to errors of position (take them back, leave them, or close
// them where the step ends) is not known, so that the nearest one counts.
perp_status pp_judge_joint_rates(const pp_step_evidence *e, const pp_scales *s, double *off,
                                 double *limit, pp_arena *arena);

// What the order of a scheme may leave or add: the error of a contact or joint because bodies turn
// in a step instead of following tangents [m; over the arm of a joint: rad], and the energy that a
// spring may gain [J].                                                                 theory (K5)
double pp_drift_contact(const perp_model *m, const pp_frame *frame, double h, int a, int b);
// Velocity of a body with a given motion as contacts know it, the mean over the step; of moreau-jean it is that of the end.
//                                                                                      theory (P23)
perp_twist pp_own_given_velocity(const perp_model *m, const pp_frame *from, const pp_frame *to,
                                 double h);
// The same because bodies with a given motion accelerate.
double pp_drift_driven(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                       int a, int b);
double pp_drift_contact_end(const perp_model *m, const pp_frame *start, const pp_frame *end,
                            double h, int a, int b, double speed);  // of rows of the end
double pp_drift_joint(const perp_model *m, const pp_frame *frame, double h, const pp_joint *j);
// Of a coordinate, which its limits close [m, rad].
double pp_drift_coordinate(const perp_model *m, const pp_poses *at, double h, int joint);
// Energy that a spring may add across itself [J]. whole: length of the step that this is a part of.
double pp_drift_spring(const perp_model *m, const pp_frame *from, const pp_frame *to, double whole,
                       double theta, const pp_force *f);
// Whether a driven body ends elsewhere than where its velocity leads, at the start or at the end: by `off`, of which `most` is
// allowed [m]. It turns back within the step, or jumps, and its frames do not show where it was.   theory (K19)
bool pp_drive_is_unresolved(const perp_model *m, int i, const pp_frame *from, const pp_frame *to,
                            double h, double *off, double *most);
// Share of the angular momentum of a free solid that no moment explains: a step that turns a body
// far loses it where the moments of inertia differ. Velocities are those of the two frames.
//                                                                                     theory (K11)
double pp_angular_momentum_lost(const pp_body *body, const pp_frame *from, const pp_frame *to,
                                double h);
// The largest share allowed: beyond it the step does not resolve the turn.
static const double PP_SPIN_MOST = 0.01;
// Energy of a spring by which the invariant of the scheme is ahead of T + V, or behind it [J].
double pp_spring_lag(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                     double whole, double theta, const pp_force *f);
// Whether that holds: the whole step resolves an explicit spring, which does not turn over.
bool pp_spring_is_kept(const perp_model *m, const pp_frame *from, const pp_frame *to, double whole,
                       double theta, const pp_force *f);
// Energy that the forces on a body may add with theta < 1, where the old velocity moves it as well
// [J].
double pp_drift_forces(const perp_model *m, const pp_kinematics *kin, double theta, int i);
// Share of the energy that motion along arcs may add in a step: beyond it the step does not resolve
// the arcs.
static const double PP_ARCS_MOST = 1e-4;
// What explicit springs may add in a step, as far as the invariant of the scheme explains it.     theory (K5)
static const double PP_SPRUNG_MOST = 0.03;
// What closing joints may add with theta = 1, which takes most of it back.              theory (K5)
static const double PP_CLOSED_MOST = 1e-2;
// The same while drives that change rates lose as much.                               theory (K13)
static const double PP_JERKS_MOST = 1e-3;
double pp_spring_energy(const pp_force *f, const pp_frame *body);  // [J]

// Positions in joint coordinates. error: in, the error of each body with its own velocity [m]; out,
// the smallest error that a tree of joints explains. limit: what errors are relative to.
//                                                                                      theory (K9)
typedef struct pp_motion_of {
    const pp_frame *from,
        *to;  // bodies at the start and the end; of from the velocities of those not free
    const double *nu;
} pp_motion_of;
bool pp_arcs_carry(const pp_joint *j);  // whether it determines the place of one body on the other
perp_status pp_arcs_explain(const perp_model *m, double h, const pp_motion_of *of,
                            const double *limit, double *error, pp_arena *arena);

// Holds a value against its limit: the absolute one if the caller set it, else the relative one.
void pp_certificate_record(perp_certificate *c, const perp_limits *limits, perp_judged what,
                           double value, double relative);
// Keeps the worse of both, value by value.
void pp_certificate_worst(perp_certificate *into, const perp_certificate *from);
// Slack of laws, relative to the scales: 1e-6. A looser tolerance of the solvers is relative to all
// impulses together, so that one row may be off by a hundred times as much.
double pp_slack_of(double tolerance);

// Sums over steps of the energy that the scheme gave to groups of bodies on joints and springs (gains.c): of the groups,
// which have the number of their lowest body, the most energy that each had, less what it lost, and of the springs [J].
//                                                                                      theory (K18)
size_t pp_gains_size(const perp_model *m);  // numbers, all 0 where a run starts
// The group that is worst for its limit.
typedef struct pp_gains_worst {
    int body;            // the group
    double made, limit;  // [J]
    double over;         // made / limit
} pp_gains_worst;
// What a step adds. made: by the scheme, less what it took; present: energy there is; change: of kinetic and potential
// energy [J].
typedef struct pp_gains_step {
    const perp_model *model;
    const int *of;  // bodies: their groups, -1: not free
    double *made, *present, *change;
    double *spring;  // forces: made by springs, which are not in `made` [J]
    double *before,
        *behind;  // forces: energy that their forces are behind at both ends [J]; NaN: not known
} pp_gains_step;
// Share of the energy of a group that all steps together may add.
static const double PP_GAINS_MOST = 0.05;
// Groups of bodies that joints and forces connect; NULL: no memory.
const int *pp_gains_groups(const perp_model *m, pp_arena *arena);
bool pp_gains_open(pp_gains_step *out, const perp_model *m, const int *of, pp_arena *arena);
// *worst, zero at first, is replaced by what is worse. False: no memory.
bool pp_gains_add(pp_gains_step *step, double *sums, pp_gains_worst *worst, pp_arena *arena);
int pp_gains_of_pair(const pp_gains_step *step, int a, int b);
// The way of a body, with its velocities in the step.
typedef struct pp_gains_way {
    const pp_frame *from, *to;
    perp_twist before, after;
    double h, theta;
    bool turns;  // velocities of the end are those of the step, turned along joints
} pp_gains_way;
void pp_gains_add_body(pp_gains_step *step, int i, const pp_gains_way *way);
// A spring, with the velocities of its bodies a and b in the step.
typedef struct pp_gains_spring {
    const pp_frame *from, *to;  // bodies
    perp_twist before[2], after[2];
    double h, theta;
    bool kept;    // an explicit one has the invariant of its scheme: pp_spring_is_kept
    bool at_end;  // an implicit one pulls along its direction where the step ends
} pp_gains_spring;
void pp_gains_add_spring(pp_gains_step *step, int force, const pp_gains_spring *s);
// Work of a joint's equations between two bodies, of which no more than `most` counts [J]; HUGE_VAL: all of it.
void pp_gains_add_joint(pp_gains_step *step, int a, int b, double work, double most);

// A finished step. Everything is read only.
struct pp_step_evidence {
    const perp_model *model;
    const pp_kinematics *kin;  // at the start of the step
    const double *p_ext;     // impulse of the forces; differs from that of kin in the theta method
    const pp_frame *middle;  // where the theta method has rows of joints; NULL: at the start
    const pp_gaps *gaps;     // contacts of the rows, at the places where they act
    const pp_gaps *found;    // the same as they were found at the start; NULL: not known
    const pp_rows *rows;
    const double *nu_old;  // velocities at the start
    const double *nu;      // and at the end
    // impulses of the rows: bilateral, boxed, unilateral, friction [N s, N m s]
    const double *pb, *pm, *pn, *pt;
    const pp_poses *end;             // where the step ends
    const pp_gaps *gaps_end;         // contacts detected there
    const pp_team *team;             // NULL: one thread
    const pp_judged_shapes *shapes;  // of the model; NULL: found for this step
    pp_judged_end *last;             // of the step before, then of this one; NULL: not kept
    bool starts_at_last;             // set by pp_certify: it is what is found at the start
    bool polygons;                   // friction pyramids stand for the discs
    const pp_impact *impact;         // two phases of Poisson's law; NULL: one phase
    perp_stepper stepper;
    perp_rotation_update rotation;
    perp_gyroscopic gyroscopic;
    double whole;  // length of the step that this is a part of [s]
    bool rates;    // rows ask for rates only: errors of position are worked off elsewhere
    bool exact;    // joints are closed where the step ends, and have the biases that this takes
    bool along_joints;  // positions moved in joint coordinates
    double theta;       // q+ = q + h ((1 - theta) nu_old + theta nu)
    double inertia;     // share of the masses in the step: 1, or nearly 0 for quasistatic steps
    double slack;       // of laws, relative to the scales of the scene
    const perp_wrench *applied;  // bodies: wrenches of the caller [N, N m]; NULL: none
    perp_certificate *
        smooth;  // out: energy created by groups in which no contact or limit pushes; NULL: not wanted
    const int *groups;                   // of pp_gains_groups; NULL: sums are not judged
    double *gains;                       // in: sums where the step starts, out: where it ends
    pp_gains_worst *gained;              // out
    const struct pp_own_joints *joints;  // set by pp_certify: equations that are not among the rows
};

// ledger: kinetic and potential energy after the step, work and dissipation in it [J].
perp_status pp_certify(perp_certificate *out, perp_energy *ledger, const pp_step_evidence *e,
                       const perp_limits *limits, pp_arena *arena);
// A closing: bodies that were moved without a change of their velocities, until joints, limits and gaps are closed. With
// no rows nothing was moved, and only places are judged. A start that is kept as given is closed a part at a time: what pushes
// was overlapping or touches, and nothing is moved farther than to touch.              theory (I9), (K16), (K8)
typedef struct pp_closing_evidence {
    const perp_model *model;
    const pp_frame *start;      // bodies at the start of the step
    const pp_poses *from, *to;  // and on both ends of the way
    double h;                   // of the step [s]
    const pp_gaps *gaps;        // contacts of the rows
    const pp_rows *rows;        // of which only joints and contacts are read, not their numbers
    const double *pb, *pn;      // multipliers: M times the way that they move bodies [kg m, kg m^2]
    double slack;               // relative
    double share;  // of a start as given: part of a step whose errors may be closed; 0: all are
    bool light;    // bodies without inertia: there is no balance of energy
} pp_closing_evidence;
perp_status pp_certify_closing(perp_certificate *out, const pp_closing_evidence *e,
                               const perp_limits *limits, pp_arena *arena);
// What a closing adds to the sums of gains: weights and springs along the way. False: no memory.     theory (K18)
bool pp_gains_of_closing(const int *groups, const pp_closing_evidence *e, double *sums,
                         pp_gains_worst *worst, pp_arena *arena);
// Whether every value is within its limit.
bool pp_certificate_passes(const perp_certificate *c);
