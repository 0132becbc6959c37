// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulation of a model: state, steps, and their results.
#pragma once

#include <perp/base.h>
#include <perp/comp.h>
#include <perp/model.h>
#include <perp/types.h>

typedef struct perp_sim perp_sim;

typedef enum perp_form {
    PERP_FORM_AUTO,  // chosen for the solver
    PERP_FORM_MCP,   // unknowns (nu, p_b, p_m, p_n, p_f, sigma)
    PERP_FORM_LCP,   // unknowns (p_m, p_n, p_f, sigma): nu and p_b eliminated
    PERP_FORM_CONE,  // contact problem u = W r + q, solved on the exact cones
} perp_form;

typedef enum perp_stepper {
    PERP_STEPPER_STEWART_TRINKLE,  // gaps at the end of the step: psi/h in the velocity problem
    PERP_STEPPER_ANITESCU_POTRA,   // velocity constraints at closed contacts only
    PERP_STEPPER_MOREAU_JEAN,      // theta method, Newton impacts
    PERP_STEPPER_QUASISTATIC,  // no inertia: forces balance, motion is imposed by kinematic bodies
    PERP_STEPPER_EVENT,        // smooth motion in joint coordinates between located events
    PERP_STEPPER_IMPLICIT,     // gaps, joints, normals and lever arms where the step ends
} perp_stepper;

// The stages of a step. Time is attributed to the stage that does the work, even if another stage requests it.
// PERP_STEPPER_EVENT has the last two only.
typedef enum perp_stage {
    PERP_STAGE_KINEMATICS,  // frames, masses, forces
    PERP_STAGE_GAP,         // contact detection, including that at the end of the step
    PERP_STAGE_CONSTRAINT,  // constraint rows
    PERP_STAGE_SOLVE,       // assembling and solving problems, repeatedly for exact positions
    PERP_STAGE_INTEGRATE,
    PERP_STAGE_CERTIFY,
    PERP_STAGE_COUNT,
} perp_stage;

typedef enum perp_friction_law {
    PERP_FRICTION_COULOMB,  // exact; in 2D this is the pyramid with two directions
    PERP_FRICTION_NONE,
    PERP_FRICTION_PYRAMID,  // in 3D: a polygon with `facets` directions replaces the disc
} perp_friction_law;

// Integration of quaternions.
typedef enum perp_rotation_update {
    PERP_ROTATION_EXPONENTIAL,  // turned by h omega
    PERP_ROTATION_LINEAR,       // q + h/2 omega q, normalised
} perp_rotation_update;

// Joints and gaps at the end of a step.
typedef enum perp_positions {
    PERP_POSITIONS_LINEAR,  // W_b^T nu + phi/h = 0: linearised, with a second-order error in rotations
    // stewart-trinkle: phi = 0 at the final positions, by Newton's method: joints do not dissipate energy.
    // moreau-jean: joints and gaps are closed after each step by the least move in the mass metric; of second order
    // where motion is smooth. So are gaps of stewart-trinkle and anitescu-potra in scenes without joints. Other
    // steppers: as linear
    PERP_POSITIONS_EXACT,
} perp_positions;

// The velocity coordinates of a step. In joint coordinates the same step has fewer unknowns, and the joints of the
// tree hold exactly, because positions are updated in their coordinates.
typedef enum perp_coordinates {
    PERP_COORDINATES_BODY,   // velocities of all bodies; joints are equations
    PERP_COORDINATES_JOINT,  // velocities of a tree of joints; joints that close loops are equations
    PERP_COORDINATES_AUTO,   // joint if that makes the problem at most half as large, else body
} perp_coordinates;

// The gyroscopic torque of spatial bodies.
typedef enum perp_gyroscopic {
    PERP_GYROSCOPIC_IMPLICIT,  // midpoint rule in body axes: conserves the energy of a free body
    PERP_GYROSCOPIC_EXPLICIT,  // -h omega x I omega at the start of the step, as in the lecture notes
} perp_gyroscopic;

typedef enum perp_impact_law {
    PERP_IMPACT_NEWTON,   // normal velocities reversed by the restitution coefficient
    PERP_IMPACT_POISSON,  // impulse of restitution = coefficient * impulse of compression
} perp_impact_law;

// Treatment of overlaps, open joints and exceeded limits in the initial state.
typedef enum perp_start {
    PERP_START_MENDED,  // removed before the first step by moving bodies as little as possible in the mass
    // metric; a remark says how far. If impossible or too far, perp_sim_create fails
    PERP_START_AS_GIVEN,  // kept, and reduced after each step by moving bodies at most a twentieth of their
    // thickness, without adding velocity; the certificate counts the energy created. Not with PERP_STEPPER_EVENT
} perp_start;

// PERP_STEPPER_EVENT: integration between events.
typedef struct perp_event_options {
    double eps;                 // stabilization [s]: phi'' = -2/eps phi' - phi/eps^2; default 0.01
    double tolerance_relative;  // of the integrator; default 1e-13
    double tolerance_absolute;  // of the integrator [m, rad, m/s, rad/s]; default 1e-14
    double max_events_per_second;  // limit on events per second of simulated time; default 1e5
} perp_event_options;

// Items of the certificate.                                                 docs/certificate.md
typedef enum perp_judged {
    PERP_JUDGED_GAP,              // deepest overlap at the end of the step
    PERP_JUDGED_COMPLEMENTARITY,  // p_n rho_n
    PERP_JUDGED_CONE,             // friction beyond its cone
    PERP_JUDGED_JOINT,            // errors of joints and joint limits
    PERP_JUDGED_MOMENTUM,         // M dnu - p_ext - W p
    PERP_JUDGED_ENERGY,           // energy created by the step
    PERP_JUDGED_RESIDUAL,         // natural map of the problem as posed
    PERP_JUDGED_MOTION,           // consistency of positions with velocities
    PERP_JUDGED_PATH,             // deepest overlap during the step
    PERP_JUDGED_COUNT,
} perp_judged;

// Limits of the certificate. 0 (default): relative to the scene, see docs/certificate.md; a positive value is an
// absolute limit in the unit given here; INFINITY: no limit. A step beyond a limit returns PERP_INEXACT and is counted
// as a violation. With a tolerance above 1e-8, the relative limits of the contact law scale with it.
typedef struct perp_limits {
    double gap;              // deepest penetration [m]
    double complementarity;  // worst p_n rho_n [J]
    double cone;             // worst friction beyond mu p_n [N s]
    double joint;            // worst joint error [m, rad]
    double momentum;         // worst |M dnu - p_ext - W p| [N s, N m s]
    double energy;           // energy created by the step [J]
    double residual;         // natural map of the problem as posed [m/s]
    double motion;           // worst |q+ - q - h G nu| [m]
    double path;             // deepest penetration during the step [m]
} perp_limits;

typedef struct perp_sim_def {
    perp_stepper stepper;        // default PERP_STEPPER_STEWART_TRINKLE
    perp_form form;              // default PERP_FORM_AUTO
    perp_friction_law friction;  // default PERP_FRICTION_COULOMB
    perp_impact_law impact;      // default PERP_IMPACT_NEWTON
    const char *solver;          // default NULL: "auto"
    double tolerance;            // of the solver; default 1e-8
    double max_seconds;  // time limit for solving a step; 0: none. When it is reached, the best
                         // answer so far is used, and the step is PERP_INEXACT with its residual
                         // in the certificate. A step that takes as long again (at least 0.5 s),
                         // and any step of PERP_STEPPER_EVENT that long, is PERP_ERR_LIMIT
    int max_iterations;  // the same for the iterations of all solvers of a step; reproducible
    double max_work;  // work limit of a step (all solvers, islands and parts), in factorisations of
                      // its largest system (or of 3e6 operations, if more); default 2000, 0: none.
                      // When it is reached, PERP_ERR_LIMIT. Not for PERP_STEPPER_EVENT
    // Largest estimated error of the motion per second [m/s], 0 (default): not estimated. Steps are divided into parts until
    // halves of them agree to it, perp_step_info.error and motion_error have the estimate. Takes about five times the time
    // of the same steps without it. Not for PERP_STEPPER_EVENT, whose integrator has tolerances of its own
    double accuracy;
    // Shapes closer than this are in contact [m], as are all that the step may bring together. 0 (default): by size, a
    // hundredth of the reach of the smaller body and no more than 0.01 m
    double margin;
    double theta;  // PERP_STEPPER_MOREAU_JEAN; default 0.5
    int facets;    // for PERP_FRICTION_PYRAMID, and for cones in the forms MCP and LCP; default 8
    perp_rotation_update rotation;  // default PERP_ROTATION_EXPONENTIAL
    perp_gyroscopic gyroscopic;     // default PERP_GYROSCOPIC_IMPLICIT
    perp_positions positions;       // default PERP_POSITIONS_LINEAR
    perp_coordinates coordinates;   // default PERP_COORDINATES_BODY; PERP_STEPPER_MOREAU_JEAN has
                                    // no joint coordinates
    const perp_joint *tree;         // joint coordinates: preferred joints of the tree; NULL: chosen
    int tree_count;
    perp_start start;        // default PERP_START_MENDED
    perp_keyframe keyframe;  // where the sim starts; default {-1}: the initial state of the model
    perp_event_options event;
    perp_limits limits;
    int threads;  // for islands, pairs and fronts; 0 and 1: serial. Does not change results. With
                  // several, the allocator of perp_env is called concurrently
    void (*on_stage)(void *user, const perp_sim *sim, perp_stage done);
    // Called at the start of every step of length h, before inputs are read: a controller. It may set inputs, apply
    // wrenches and make changes; a step that fails takes all of it back. It may not step, set, restore or reset the sim.
    void (*on_control)(void *user, perp_sim *sim, double h);
    void *user;
    uint32_t cookie;
} perp_sim_def;

typedef enum perp_contact_mode {
    PERP_CONTACT_OPEN,
    PERP_CONTACT_STICK,
    PERP_CONTACT_SLIP,
} perp_contact_mode;

// One contact point of the last step.
typedef struct perp_contact {
    perp_shape a, b;
    uint32_t feature;        // identifies the point of the pair from step to step
    perp_vec3 point_W;       // [m]
    perp_vec3 normal_W;      // unit, from a to b
    double gap;              // before the step; negative: penetration [m]
    double mu, restitution;  // [-]
    double pn;               // normal impulse on b [N s]
    perp_vec3 pf_W;          // friction impulse on b [N s]
    double rate_n;           // normal velocity of b relative to a after the step [m/s]
    double slip;             // tangential velocity including surface motion [m/s]; 3D: speed
    perp_vec3 tangent_W;     // first tangent t; the second is o = n x t
    perp_vec3 slip_W;        // tangential velocity [m/s]
    perp_vec3 hold_W;    // added to slip_W in the friction law: drift of a sticking contact on a
                         // rotating body left by the previous step, corrected in this one [m/s]
    perp_vec3 moment_W;  // impulse of torsional and rolling friction on b [N m s]
    int facets;          // of the friction polygon; 0: exact cone
    perp_contact_mode mode;
} perp_contact;

// One joint of the last step.
typedef struct perp_joint_state {
    double coordinate, rate;  // [rad or m]
    double error;             // worst |phi| after the step [m, rad]
    perp_wrench impulse_b;    // on body b, about its centre of mass [N s, N m s]
    double drive;             // impulse of target, rate drive and dry friction along the coordinate
    double limit;             // impulse of the limits
    bool redundant;           // one of its rows depends on others
} perp_joint_state;

// One actuator in the last step.
typedef struct perp_actuator_state {
    double control;  // c, filtered, mean over the step
    double impulse;  // along the coordinate of its joint [N s, N m s]
    double effort;   // the same over the length of the step: mean force or torque [N, N m]
    bool limited;    // the effort is at one of its limits
} perp_actuator_state;

// Results of the independent checks of the last step; units as in perp_limits.
typedef struct perp_certificate {
    double gap, complementarity, cone, slip_opposed, joint, momentum, energy_created, residual;
    double motion;    // consistency of positions with velocities, by the rule of the stepper [m]
    double path;      // deepest overlap found during the step [m]
    bool path_clear;  // no body passed through another; false: not checked, or one did
    int pairs;  // pairs of shapes judged, of models of more than 128 shapes those nearby (perp_model_excluded_pairs: not considered)
    double relative[PERP_JUDGED_COUNT];  // value / limit of each item; above 1: violated
    bool passed;
} perp_certificate;

typedef struct perp_energy {
    double kinetic, potential;  // [J]; potential: gravity and springs
    double work;                // done by forces and kinematic bodies during the step [J]
    double dissipated;          // by contacts, joints and the scheme during the step [J]
} perp_energy;

// The cost of solving a step.
typedef struct perp_effort {
    int solvers;         // number of solvers tried
    int factorisations;  // of Newton systems
    double work;         // of the whole step, in factorisations, with sweeps, pivots and failures
    double fill;         // nonzeros in the largest factors, if known
    double flops;        // operations of the largest factorisation, if known
    // Wall time of the solver phases; the rest of the stage is assembling and unpacking problems:
    double seconds_joints;  // factoring the joint system
    double seconds_modes;   // active-set solver, warm-started
    double seconds_sweeps;  // first-order solvers
    double seconds_exact;   // the other solvers
    double seconds_judge;   // judging solutions
    double seconds_spread;  // distributing load over redundant contacts
    double seconds_factor;  // part of seconds_exact: factoring and solving with the factors
    int warm_started;       // contacts that start from their impulses of the previous step
    int islands;            // groups of coupled bodies, each solved separately
} perp_effort;

// The kind of a recorded part of a step (perp_recording_read_part).
typedef enum perp_part_kind {
    PERP_PART_STEP,    // a step of the scheme, shorter than the whole step
    PERP_PART_IMPACT,  // an instant: velocities jump, positions do not change
    PERP_PART_SMOOTH,  // motion between two events: impulses are integrals
    PERP_PART_OTHER,  // an impact by the other impact law, because the one selected would create energy
    PERP_PART_CLOSE,  // an instant: positions are closed, velocities do not change. Impulses in it are
                      // M times the way they move bodies [kg m, kg m^2]
    PERP_PART_COUNT,
} perp_part_kind;

// Whether the problem of a step has a unique solution.                         theory (U1) to (U8)
typedef enum perp_uniqueness {
    PERP_UNIQUENESS_UNKNOWN,    // undecided
    PERP_UNIQUENESS_PROVED,     // proved unique
    PERP_UNIQUENESS_DISPROVED,  // a second solution was found
} perp_uniqueness;

typedef struct perp_step_info {
    perp_status status;
    int contacts, joint_rows, problem_size, redundant_rows;
    bool unique;  // motion and impulses are proved unique
    perp_uniqueness motion, impulses;
    double motion_apart;    // largest velocity difference to a second solution [m/s, rad/s]
    double impulses_apart;  // and impulse difference [N s, N m s]; 0: none found
    const char *solver;     // that found the solution
    perp_form form;
    int iterations;
    perp_certificate certificate;
    perp_energy energy;
    double seconds[PERP_STAGE_COUNT];  // wall time, including failed attempts
    perp_effort effort;
    int parts;     // steps of the scheme it was divided into at impacts; 1: not divided
    double error;  // accuracy: estimated error of the step [m]; INFINITY: unknown
    double
        motion_error;  // accuracy: estimated error of all bodies' places since the state was set [m]
    int rounds;        // PERP_STEPPER_IMPLICIT: linear problems after the first, of the last part
    bool
        repeats;  // ends, bit for bit, where it began, as the step before did: nothing was computed
    bool
        tempered;  // restitution was reduced: all of it would create energy, or impacts were too many
    char remark[200];  // a jam, a fallback, an exceeded limit
} perp_step_info;

PERP_API perp_sim_def perp_sim_default(void);
PERP_API PERP_MUST perp_status perp_sim_create(const perp_model *model, const perp_sim_def *def,
                                               const perp_env *env, perp_sim **sim,
                                               perp_error *error);
// NULL, and a sim whose step is under way, in one of its callbacks: nothing happens.
PERP_API void perp_sim_destroy(perp_sim *sim);

// Advances from t to t + h. On a negative status the state is exactly that before the call.
PERP_API PERP_MUST perp_status perp_sim_step(perp_sim *sim, double h);

PERP_API const perp_model *perp_sim_model(const perp_sim *sim);
PERP_API const perp_step_info *perp_sim_info(const perp_sim *sim);
PERP_API const perp_error *perp_sim_error(const perp_sim *sim);
// The coordinates of its steps, body or joint, and why PERP_COORDINATES_AUTO chose them; *why (which may be NULL) is ""
// if they were given.
PERP_API perp_coordinates perp_sim_coordinates(const perp_sim *sim, const char **why);
PERP_API perp_limits perp_sim_limits(const perp_sim *sim);  // limits of its certificates
PERP_API double perp_sim_time(const perp_sim *sim);
PERP_API perp_vec3 perp_sim_body_position(const perp_sim *sim, perp_body body);
PERP_API double perp_sim_body_angle(const perp_sim *sim, perp_body body);
PERP_API perp_pose perp_sim_body_pose(const perp_sim *sim, perp_body body);
PERP_API perp_twist perp_sim_body_twist(const perp_sim *sim, perp_body body);
PERP_API void perp_sim_body_apply(perp_sim *sim, perp_body body,
                                  perp_wrench F_W);  // for the next step
// The impulse that moved a kinematic body during the last step, about its origin.
PERP_API perp_wrench perp_sim_body_drive_impulse(const perp_sim *sim, perp_body body);
PERP_API const perp_contact *perp_sim_contacts(const perp_sim *sim, int *count);
PERP_API perp_joint_state perp_sim_joint(const perp_sim *sim, perp_joint joint);
// Inputs are clamped to their range and held until they are set again. A value that is set takes the place of the
// input's source until it is released.
PERP_API double perp_sim_input(const perp_sim *sim, perp_input input);
PERP_API PERP_MUST perp_status perp_sim_input_set(perp_sim *sim, perp_input input, double value);
PERP_API PERP_MUST perp_status perp_sim_inputs_set(perp_sim *sim, const double *values, int count);
PERP_API void perp_sim_input_release(perp_sim *sim, perp_input input);
PERP_API perp_actuator_state perp_sim_actuator(const perp_sim *sim, perp_actuator actuator);
// A site where its body is now.
PERP_API perp_pose perp_sim_site_pose(const perp_sim *sim, perp_site site);
// The values of a sensor now; perp_model_sensor_size of them are written. What is a mean over the last step is 0 before
// the first step and after a state was set or restored; a failed step leaves it as it was. PERP_ERR_ARGUMENT: no such
// sensor, or n is too small.
PERP_API PERP_MUST perp_status perp_sim_sensor(const perp_sim *sim, perp_sensor sensor,
                                               double *values, int n);
// The active set of the last step: the number of impulses of closed contacts, sticking friction and joints, and the
// rank of their effect on the bodies. If rank < columns, the impulses are not unique.
PERP_API PERP_MUST perp_status perp_sim_active_set(const perp_sim *sim, int *columns, int *rank);
// The smallest and largest normal impulse of a contact over all solutions with the same velocities [N s]. Both equal
// pn if it is unique.
PERP_API PERP_MUST perp_status perp_sim_load_range(const perp_sim *sim, int contact, double *least,
                                                   double *most);

// State: q (positions and angles of the dynamic bodies in order; for a spatial body, position and unit quaternion, 7
// numbers) and nu (their velocities). perp_sim_state_set resets the number of turns of spatial joints, whose angles
// restart between -pi and pi, and the history of contacts; perp_sim_state_restore keeps both. Inputs and filters of
// actuators stay as they are when a state is set.
PERP_API void perp_sim_state_size(const perp_sim *sim, int *nq, int *nv);
PERP_API PERP_MUST perp_status perp_sim_state_get(const perp_sim *sim, double *t, double *q,
                                                  double *nu);
PERP_API PERP_MUST perp_status perp_sim_state_set(perp_sim *sim, double t, const double *q,
                                                  const double *nu);
PERP_API uint64_t perp_sim_state_hash(const perp_sim *sim);
// Starts again at a keyframe of the model ({-1}: its initial state), as a new sim with this keyframe does: overlaps,
// open joints and exceeded limits are treated as `start` of the definition says, with a remark in perp_sim_info; inputs
// and filters are those of the keyframe, and nothing is left of earlier steps. On a negative status the state is exactly
// that before the call.
PERP_API PERP_MUST perp_status perp_sim_reset(perp_sim *sim, perp_keyframe keyframe);
// The state in the coordinates of a tree of joints, for sims of either coordinates: in the order of perp_tree_create with
// `tree` of the definition. Angles keep their turns. Bodies that are off the tree are read as the nearest coordinates.
// perp_sim_tree_state_set differs from perp_sim_state_set only in this; on PERP_ERR_ARGUMENT nothing changes.
PERP_API PERP_MUST perp_status perp_sim_tree_size(const perp_sim *sim, int *nq, int *nv);
PERP_API PERP_MUST perp_status perp_sim_tree_state_get(const perp_sim *sim, double *t, double *q,
                                                       double *qd);
PERP_API PERP_MUST perp_status perp_sim_tree_state_set(perp_sim *sim, double t, const double *q,
                                                       const double *qd);
// Everything that the next step depends on, including warm starts: a restored sim continues bit for bit. The size of a
// block is that of the model, and some bytes for each contact of the last step and for each change: ask before each save.
// PERP_ERR_ARGUMENT: a block of another model, or one that was damaged; nothing changes.
PERP_API size_t perp_sim_state_save_size(const perp_sim *sim);
PERP_API PERP_MUST perp_status perp_sim_state_save(const perp_sim *sim, void *block, size_t size);
PERP_API PERP_MUST perp_status perp_sim_state_restore(perp_sim *sim, const void *block,
                                                      size_t size);

// ── Changes between steps ────────────────────────────────────────────────────────────────────────
// They hold for this sim, from the next step on; the model and other sims do not change. on_control may make them; a
// step that fails takes back those of its on_control. They are part of saved states and recordings; perp_sim_state_set
// keeps them, perp_sim_reset takes all of them back. On a negative status nothing changes.

PERP_API PERP_MUST perp_status perp_sim_gravity_set(perp_sim *sim, perp_vec3 gravity_W);
PERP_API perp_vec3 perp_sim_gravity(const perp_sim *sim);
// Coefficients of friction of a contact; in the plane mu alone.
typedef struct perp_friction {
    double mu;       // [-]
    double mu_2;     // perpendicular to the tangent; negative: the same as mu
    double mu_spin;  // [m]
    double mu_roll;  // [m]
} perp_friction;
// Of a shape, to be combined with that of the other shape; in the plane mu_spin and mu_roll are 0.
PERP_API PERP_MUST perp_status perp_sim_shape_friction_set(perp_sim *sim, perp_shape shape,
                                                           double mu, double mu_spin,
                                                           double mu_roll);
// Of two shapes for which the model has a rule (perp_builder_add_pair) or a listed contact; PERP_ERR_ARGUMENT: neither.
PERP_API PERP_MUST perp_status perp_sim_pair_friction_set(perp_sim *sim, perp_shape a, perp_shape b,
                                                          perp_friction friction);
// Of a detected contact of two shapes, by their rule or combined from both.
PERP_API perp_friction perp_sim_pair_friction(const perp_sim *sim, perp_shape a, perp_shape b);
// gain and bias of f = gain c + bias[0] + bias[1] l + bias[2] l', for actuators of any kind; limits of f, both infinite:
// none.
PERP_API PERP_MUST perp_status perp_sim_actuator_gains_set(perp_sim *sim, perp_actuator actuator,
                                                           double gain, const double bias[3]);
PERP_API PERP_MUST perp_status perp_sim_actuator_limits_set(perp_sim *sim, perp_actuator actuator,
                                                            double lower, double upper);
// The law as it acts now, with kv of a damping ratio worked out: effort gear f on its joint, f as above with l = gear x,
// at least lower and at most upper. No such actuator: all 0 and joint {-1}.
typedef struct perp_actuator_law {
    double gear, gain, bias[3];
    double lower, upper;
    perp_joint joint;
} perp_actuator_law;
PERP_API perp_actuator_law perp_sim_actuator_law(const perp_sim *sim, perp_actuator actuator);
// The target of a joint that has one: from now on position + rate (t - now). A position away from the coordinate is
// reached within the next step. Steppers that close velocities alone, PERP_STEPPER_ANITESCU_POTRA and
// PERP_STEPPER_MOREAU_JEAN, cannot do that: the joint stays off, and the certificate is violated.
// PERP_STEPPER_EVENT refuses it unless the joint has an epsilon, with which the error decays.
PERP_API PERP_MUST perp_status perp_sim_joint_target_set(perp_sim *sim, perp_joint joint,
                                                         double position, double rate);
// The rate of a joint that the model drives by `rate`, and its largest effort, in place of those of the model.
PERP_API PERP_MUST perp_status perp_sim_joint_rate_set(perp_sim *sim, perp_joint joint, double rate,
                                                       double effort);
// From now on a kinematic body moves with constant velocity from a pose, in place of its functions of time. X_WB: NULL:
// from where it is; V_W: NULL: it stands still. A pose other than that of now is a jump before the next step.
PERP_API PERP_MUST perp_status perp_sim_body_motion_set(perp_sim *sim, perp_body body,
                                                        const perp_pose *X_WB,
                                                        const perp_twist *V_W);

// Forces for the next step, which add up like those of perp_sim_body_apply. A force at a point of the world; and an
// effort along the coordinate of a joint [N, N m], as wrenches on both bodies where they are now.
PERP_API void perp_sim_body_apply_at(perp_sim *sim, perp_body body, perp_vec3 force_W,
                                     perp_vec3 point_W);
PERP_API PERP_MUST perp_status perp_sim_joint_apply(perp_sim *sim, perp_joint joint, double effort);

// ── Events of the last step (PERP_STEPPER_EVENT) ─────────────────────────────────────────────────

typedef enum perp_event_kind {
    PERP_EVENT_IMPACT,         // bodies collided, or a new contact changed velocities
    PERP_EVENT_SEPARATION,     // a contact opened
    PERP_EVENT_STICK_TO_SLIP,  // of a contact, or of dry friction in a joint
    PERP_EVENT_SLIP_TO_STICK,
    PERP_EVENT_LIMIT_REACHED,
    PERP_EVENT_LIMIT_LEFT,
    PERP_EVENT_EFFORT_BOUND,   // a motor reached its largest effort
    PERP_EVENT_EFFORT_WITHIN,  // a motor maintains its rate again
    PERP_EVENT_ZENO,      // infinitely many impacts until t_end: the contact stays closed from here
    PERP_EVENT_PAINLEVE,  // sliding with no or several consistent accelerations: ended by an impulse
    PERP_EVENT_PROJECTED,  // the state violated joints and was projected
    PERP_EVENT_CAPTURED,   // short impulse-based steps until t_end, because modes failed
} perp_event_kind;

typedef struct perp_event {
    double t;  // [s]
    perp_event_kind kind;
    perp_shape a, b;  // of a contact; otherwise {-1}
    uint32_t feature;
    perp_joint joint;                // {-1}: none
    perp_vec3 point_W;               // of a contact [m]
    perp_vec3 normal_W;              // from a to b
    double rate_before, rate_after;  // normal velocity, or rate of the joint [m/s, rad/s]
    double impulse;                  // normal, or of the limit [N s, N m s]
    perp_vec3 pf_W;                  // friction on b [N s]
    double t_end, ratio;             // PERP_EVENT_ZENO: end of the sequence, ratio of its intervals
    const double *q;                 // state of the sim at the event
    const double *nu_before;         // velocities before
    const double *nu_after;          // and after it
    char remark[120];
} perp_event;

// In chronological order; valid until the next step.
PERP_API const perp_event *perp_sim_events(const perp_sim *sim, int *count);
PERP_API const char *perp_event_kind_word(int kind);  // impact separation stick-to-slip …

// ── The problem of the last step, in the notation of the literature ──────────────────────────────
// Blocks in the order nu, p_b, p_m, p_n, p_f, sigma; blocks eliminated by the form have size 0.
typedef struct perp_step_problem {
    perp_form form;
    int n_nu, n_b, n_m, n_n, n_f, n_sigma;
    int nv, nb;                       // velocities and joint rows, eliminated or not
    const double *M;                  // nv x nv, column-major
    const double *p_ext;              // nv
    const double *Wb, *Wm, *Wn, *Wf;  // nv rows, column-major
    const double *E, *U;              // n_f x n_sigma, n_sigma x n_n
    perp_mcp mcp;                     // A b lower upper, in the requested form
    const double *z, *w;              // solution and slack
    const char *const *names;         // of nv + nb + n_m + n_n + n_f + n_sigma unknowns
} perp_step_problem;
// The problem of the last step in the given form, with its solution. Owned by the caller.
PERP_API PERP_MUST perp_status perp_sim_problem(const perp_sim *sim, perp_form form,
                                                perp_step_problem **problem);
PERP_API void perp_step_problem_destroy(perp_step_problem *problem);

// ── Words used in scene files, recordings and options; NULL past the last ────────────────────────
PERP_API const char *
perp_stepper_word(int stepper);                 // stewart-trinkle anitescu-potra moreau-jean …
PERP_API const char *perp_form_word(int form);  // auto mcp lcp cone
PERP_API const char *perp_friction_law_word(int law);        // coulomb none pyramid
PERP_API const char *perp_impact_law_word(int law);          // newton poisson
PERP_API const char *perp_contact_mode_word(int mode);       // open stick slip
PERP_API const char *perp_rotation_update_word(int update);  // exponential linear
PERP_API const char *perp_uniqueness_word(int which);        // unknown, unique, not unique
PERP_API const char *perp_gyroscopic_word(int how);          // implicit explicit
PERP_API const char *perp_positions_word(int how);           // linear exact
PERP_API const char *perp_start_word(int how);               // mended, as given
PERP_API const char *perp_coordinates_word(int which);       // body joint
