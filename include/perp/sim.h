// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A model in motion: state, step, and what a step leaves behind.
#pragma once

#include <perp/base.h>
#include <perp/comp.h>
#include <perp/model.h>
#include <perp/types.h>

typedef struct perp_sim perp_sim;

typedef enum perp_form {
    PERP_FORM_AUTO,  // the one the solver likes best
    PERP_FORM_MCP,   // unknowns (nu, p_b, p_m, p_n, p_f, sigma)
    PERP_FORM_LCP,   // unknowns (p_m, p_n, p_f, sigma): nu and p_b eliminated
    PERP_FORM_CONE,  // contact problem u = W r + q, solved on the exact cones
} perp_form;

typedef enum perp_stepper {
    PERP_STEPPER_STEWART_TRINKLE,  // gaps at the end of the step: psi/h in the velocity problem
    PERP_STEPPER_ANITESCU_POTRA,   // velocities only, of contacts that touch
    PERP_STEPPER_MOREAU_JEAN,      // the theta method, Newton impacts
    PERP_STEPPER_QUASISTATIC,  // no inertia: forces in balance, motion imposed by what is driven
    PERP_STEPPER_EVENT,        // smooth motion in joint coordinates between located events
} perp_stepper;

// The stages of a step. Work is charged to the stage that it is of, whoever asks for it. Of PERP_STEPPER_EVENT: the last two.
typedef enum perp_stage {
    PERP_STAGE_KINEMATICS,  // frames, masses, forces
    PERP_STAGE_GAP,         // finding contacts, those where the step ends included
    PERP_STAGE_CONSTRAINT,  // rows
    PERP_STAGE_SOLVE,       // posing and solving problems, again where positions ask for it
    PERP_STAGE_INTEGRATE,
    PERP_STAGE_CERTIFY,
    PERP_STAGE_COUNT,
} perp_stage;

typedef enum perp_friction_law {
    PERP_FRICTION_COULOMB,  // exact; in the plane this is the pyramid with two directions
    PERP_FRICTION_NONE,
    PERP_FRICTION_PYRAMID,  // in space: polygons of `facets` directions in place of the disc
} perp_friction_law;

// How quaternions follow the angular velocity.
typedef enum perp_rotation_update {
    PERP_ROTATION_EXPONENTIAL,  // turned by h omega
    PERP_ROTATION_LINEAR,       // q + h/2 omega q, normalised
} perp_rotation_update;

// How joints are held at the end of a step.
typedef enum perp_positions {
    PERP_POSITIONS_LINEAR,  // W_b^T nu + phi/h = 0, as the notes have it: off by what turns in a step
    PERP_POSITIONS_EXACT,  // phi = 0 where the bodies end, by Newton's method: no energy is lost in
                           // joints. stewart-trinkle
} perp_positions;

// The velocities a step is written in. The step is the same; in joint coordinates it has fewer unknowns, and
// the joints of the tree hold exactly, since positions are moved in their coordinates.
typedef enum perp_coordinates {
    PERP_COORDINATES_BODY,  // of all bodies, joints as equations
    PERP_COORDINATES_JOINT,  // of a tree of joints; the other joints, which close loops, are equations
} perp_coordinates;

// The gyroscopic torque of spatial bodies.
typedef enum perp_gyroscopic {
    PERP_GYROSCOPIC_IMPLICIT,  // midpoint rule in body axes: keeps the energy of a free body
    PERP_GYROSCOPIC_EXPLICIT,  // -h omega x I omega at the start of the step, as the notes write it
} perp_gyroscopic;

typedef enum perp_impact_law {
    PERP_IMPACT_NEWTON,   // normal velocities reversed by the restitution coefficient
    PERP_IMPACT_POISSON,  // impulse of restitution = coefficient * impulse of compression
} perp_impact_law;

// Overlaps, open joints and crossed limits of the start.
typedef enum perp_start {
    PERP_START_MENDED,  // removed before the first step by moving bodies, the least way in the metric of the
    // masses; a remark says how far. Impossible, or too far: perp_sim_create fails
    PERP_START_AS_GIVEN,  // kept: worked off after each step by moving bodies a twentieth of their thickness at
    // most, which adds no velocity; the certificate counts what that creates. PERP_STEPPER_EVENT refuses it
} perp_start;

// PERP_STEPPER_EVENT: how the motion between events is integrated.
typedef struct perp_event_options {
    double eps;  // joints and contacts come back by phi'' = -2/eps phi' - phi/eps^2 [s]; 0.01
    double tolerance_relative;     // tolerance of the integration; default 1e-13
    double tolerance_absolute;     // the same, in metres, radians and per second; default 1e-14
    double max_events_per_second;  // events in a second of simulated time; default 1e5
} perp_event_options;

// What the certificate judges.                                              docs/certificate.md
typedef enum perp_judged {
    PERP_JUDGED_GAP,              // deepest overlap at the end of the step
    PERP_JUDGED_COMPLEMENTARITY,  // p_n rho_n
    PERP_JUDGED_CONE,             // friction beyond its cone
    PERP_JUDGED_JOINT,            // joints and limits of their coordinates
    PERP_JUDGED_MOMENTUM,         // M dnu - p_ext - W p
    PERP_JUDGED_ENERGY,           // energy that the step created
    PERP_JUDGED_RESIDUAL,         // natural map of the problem as posed
    PERP_JUDGED_MOTION,           // positions against velocities
    PERP_JUDGED_PATH,             // deepest overlap on the way
    PERP_JUDGED_COUNT,
} perp_judged;

// Limits of the certificate. 0, the default: relative to the scene, as docs/certificate.md lists them; a positive
// number is a limit in the unit given here, INFINITY is none. A step past a limit returns PERP_INEXACT and is
// counted. With a tolerance T above 1e-8 the relative limits of the law follow it.
typedef struct perp_limits {
    double gap;              // deepest penetration [m]
    double complementarity;  // worst p_n rho_n [J]
    double cone;             // worst friction beyond mu p_n [N s]
    double joint;            // worst joint error [m, rad]
    double momentum;         // worst |M dnu - p_ext - W p| [N s, N m s]
    double energy;           // energy that the step created [J]
    double residual;         // natural map of the problem as posed [m/s]
    double motion;           // worst |q+ - q - h G nu| [m]
    double path;             // deepest penetration on the way [m]
} perp_limits;

typedef struct perp_sim_def {
    perp_stepper stepper;        // default PERP_STEPPER_STEWART_TRINKLE
    perp_form form;              // default PERP_FORM_AUTO
    perp_friction_law friction;  // default PERP_FRICTION_COULOMB
    perp_impact_law impact;      // default PERP_IMPACT_NEWTON
    const char *solver;          // default NULL: "auto"
    double tolerance;            // of the solver; default 1e-8
    double max_seconds;  // of solving in a step; 0: none. When it is over the best answer is taken,
        // and the step is PERP_INEXACT with its residual in the certificate. Not of
        // PERP_STEPPER_EVENT
    int max_iterations;  // likewise, of all solvers of a step together; the same bits in every run
    double max_work;  // of all solvers, islands and parts of a step together, in factorisations of
                      // its largest system or of 3e6 operations; default 2000, 0: no limit. When
                      // it is used up the step fails with PERP_ERR_LIMIT. Not of PERP_STEPPER_EVENT
    double margin;    // shapes closer than this are contacts [m]; default 0.01
    double theta;     // PERP_STEPPER_MOREAU_JEAN; default 0.5
    int facets;       // PERP_FRICTION_PYRAMID, and exact cones in the forms MCP and LCP; default 8
    perp_rotation_update rotation;  // default PERP_ROTATION_EXPONENTIAL
    perp_gyroscopic gyroscopic;     // default PERP_GYROSCOPIC_IMPLICIT
    perp_positions positions;       // default PERP_POSITIONS_LINEAR
    perp_coordinates coordinates;   // default PERP_COORDINATES_BODY; joint coordinates:
                                    // stewart-trinkle, anitescu-potra, quasistatic
    const perp_joint *tree;  // joint coordinates: joints that the tree is to have; NULL: chosen
    int tree_count;
    perp_start start;  // default PERP_START_MENDED
    perp_event_options event;
    perp_limits limits;
    int threads;  // islands, pairs and fronts at the same time; 0 and 1: one after the other. The bits
                  // are the same. Memory of a perp_env is then asked for by several at once
    void (*on_stage)(void *user, const perp_sim *sim, perp_stage done);
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
    uint32_t feature;        // which point of the pair: the same in the next step
    perp_vec3 point_W;       // [m]
    perp_vec3 normal_W;      // unit, from a to b
    double gap;              // before the step, negative: penetration [m]
    double mu, restitution;  // [-]
    double pn;               // normal impulse on b [N s]
    perp_vec3 pf_W;          // friction impulse on b [N s]
    double rate_n;           // normal velocity of b relative to a after the step [m/s]
    double slip;             // tangential velocity, surface motion included [m/s]; in space: speed
    perp_vec3 tangent_W;     // first tangent t; the second is o = n x t
    perp_vec3 slip_W;        // tangential velocity [m/s]
    perp_vec3 hold_W;    // added to it in the friction law: what the step before left of a contact
                         // that sticks to what turns, worked off in this one [m/s]
    perp_vec3 moment_W;  // impulse of torsional and rolling friction on b [N m s]
    int facets;          // of the friction polygon, 0: exact cone
    perp_contact_mode mode;
} perp_contact;

// One joint of the last step.
typedef struct perp_joint_state {
    double coordinate, rate;  // [rad or m]
    double error;             // worst |phi| after the step [m, rad]
    perp_wrench impulse_b;    // on body b, about its centre of mass [N s, N m s]
    double drive;             // impulse of target, rate drive and dry friction along the coordinate
    double limit;             // impulse of the limits
    bool redundant;           // one of its rows follows from others
} perp_joint_state;

// What independent code found after the last step; units as in perp_limits.
typedef struct perp_certificate {
    double gap, complementarity, cone, slip_opposed, joint, momentum, energy_created, residual;
    double motion;    // positions against velocities, by the rule of the stepper [m]
    double path;      // deepest overlap on the way that was found [m]
    bool path_clear;  // nothing went through anything; false: it was not checked, or something did
    int pairs;  // of shapes that were near each other, judged; perp_model_excluded_pairs: never looked at
    double relative[PERP_JUDGED_COUNT];  // each value over its limit; above 1: violated
    bool passed;
} perp_certificate;

typedef struct perp_energy {
    double kinetic, potential;  // [J]; potential: gravity and springs
    double work;                // done by forces and driven bodies during the step [J]
    double dissipated;          // by contact, joints and the scheme during the step [J]
} perp_energy;

// What solving a step took.
typedef struct perp_effort {
    int solvers;         // tried, one after the other
    int factorisations;  // of Newton's system
    double
        work;  // of all of the step, in factorisations: sweeps, pivots and what was abandoned too
    double fill;   // numbers in the factors of the largest, where known
    double flops;  // operations of the largest, where known
    // Wall time. The phases of solving, the rest of the stage is posing and unpacking problems:
    double seconds_joints;  // factoring the joints' system
    double seconds_modes;   // contacts from their last impulses
    double seconds_sweeps;  // first-order solvers
    double seconds_exact;   // the other solvers
    double seconds_judge;   // judging what solvers found
    double seconds_spread;  // spreading load over redundant contacts
    double seconds_factor;  // of seconds_exact: factoring and solving with the factors
    int warm_started;       // contacts that start with their impulses of the step before
    int islands;            // groups of bodies that rows tie together, each solved on its own
} perp_effort;

// What a part of a step is that recordings have one by one (perp_recording_read_part).
typedef enum perp_part_kind {
    PERP_PART_STEP,    // a step of the scheme, shorter than the whole
    PERP_PART_IMPACT,  // an instant: velocities jump, impulses act where bodies are
    PERP_PART_SMOOTH,  // motion between two events: impulses are integrals
    PERP_PART_OTHER,   // an impact by the law that was not asked for, which would create energy
    PERP_PART_COUNT,
} perp_part_kind;

// Whether the problem of a step has one answer only. A word needs a proof.     theory (U1) to (U8)
typedef enum perp_uniqueness {
    PERP_UNIQUENESS_UNKNOWN,    // neither was proved
    PERP_UNIQUENESS_PROVED,     // proved: there is no other
    PERP_UNIQUENESS_DISPROVED,  // a second answer was found, and obeys the laws as well
} perp_uniqueness;

typedef struct perp_step_info {
    perp_status status;
    int contacts, joint_rows, problem_size, redundant_rows;
    bool unique;  // both of the next two are proved to be
    perp_uniqueness motion, impulses;
    double motion_apart;    // of a second answer: largest difference of velocities [m/s, rad/s]
    double impulses_apart;  // and of impulses [N s, N m s]; 0: none was found
    const char *solver;     // that gave the answer
    perp_form form;
    int iterations;
    perp_certificate certificate;
    perp_energy energy;
    double seconds[PERP_STAGE_COUNT];  // wall time, attempts that were given up included
    perp_effort effort;
    int parts;         // steps of the scheme it was divided into, at impacts; 1: it was not
    bool tempered;     // less restitution acted than given, since all of it would create energy
    char remark[200];  // a jam, a fallback, a limit passed
} perp_step_info;

PERP_API perp_sim_def perp_sim_default(void);
PERP_API PERP_MUST perp_status perp_sim_create(const perp_model *model, const perp_sim_def *def,
                                               const perp_env *env, perp_sim **sim,
                                               perp_error *error);
PERP_API void perp_sim_destroy(perp_sim *sim);

// Advance from t to t + h. On a negative status the state is exactly what it was before the call.
PERP_API PERP_MUST perp_status perp_sim_step(perp_sim *sim, double h);

PERP_API const perp_model *perp_sim_model(const perp_sim *sim);
PERP_API const perp_step_info *perp_sim_info(const perp_sim *sim);
PERP_API const perp_error *perp_sim_error(const perp_sim *sim);
PERP_API perp_limits perp_sim_limits(const perp_sim *sim);  // that its certificates are held to
PERP_API double perp_sim_time(const perp_sim *sim);
PERP_API perp_vec3 perp_sim_body_position(const perp_sim *sim, perp_body body);
PERP_API double perp_sim_body_angle(const perp_sim *sim, perp_body body);
PERP_API perp_pose perp_sim_body_pose(const perp_sim *sim, perp_body body);
PERP_API perp_twist perp_sim_body_twist(const perp_sim *sim, perp_body body);
PERP_API void perp_sim_body_apply(perp_sim *sim, perp_body body,
                                  perp_wrench F_W);  // for the next step
// What a driven body needed during the last step: impulse on the body, about its origin.
PERP_API perp_wrench perp_sim_body_drive_impulse(const perp_sim *sim, perp_body body);
PERP_API const perp_contact *perp_sim_contacts(const perp_sim *sim, int *count);
PERP_API perp_joint_state perp_sim_joint(const perp_sim *sim, perp_joint joint);
// The active set of the last step: impulses that touching contacts, sticking friction and joints can
// have, and how many of them act independently on the bodies. Where rank < columns impulses are not unique.
PERP_API PERP_MUST perp_status perp_sim_active_set(const perp_sim *sim, int *columns, int *rank);
// Where impulses are not unique: the least and largest normal impulse that contact can carry in any
// answer with the same velocities [N s]. Both are pn where it is determined.
PERP_API PERP_MUST perp_status perp_sim_load_range(const perp_sim *sim, int contact, double *least,
                                                   double *most);

// State: q (positions and angles of the free bodies in order; a spatial body: position and unit
// quaternion, 7 numbers), nu (their velocities). perp_sim_state_set forgets full turns: angles of spatial joints
// start over between -pi and pi, and contacts hold nothing (perp_sim_state_restore keeps both).
PERP_API void perp_sim_state_size(const perp_sim *sim, int *nq, int *nv);
PERP_API PERP_MUST perp_status perp_sim_state_get(const perp_sim *sim, double *t, double *q,
                                                  double *nu);
PERP_API PERP_MUST perp_status perp_sim_state_set(perp_sim *sim, double t, const double *q,
                                                  const double *nu);
PERP_API uint64_t perp_sim_state_hash(const perp_sim *sim);
// Everything the next step depends on, warm starts too: a restored sim continues bit for bit.
PERP_API size_t perp_sim_state_save_size(const perp_sim *sim);
PERP_API PERP_MUST perp_status perp_sim_state_save(const perp_sim *sim, void *block, size_t size);
PERP_API PERP_MUST perp_status perp_sim_state_restore(perp_sim *sim, const void *block,
                                                      size_t size);

// ── Events of the last step (PERP_STEPPER_EVENT) ─────────────────────────────────────────────────

typedef enum perp_event_kind {
    PERP_EVENT_IMPACT,         // bodies met, or a new contact changed velocities
    PERP_EVENT_SEPARATION,     // a contact lets go
    PERP_EVENT_STICK_TO_SLIP,  // of a contact, or of dry friction in a joint
    PERP_EVENT_SLIP_TO_STICK,
    PERP_EVENT_LIMIT_REACHED,
    PERP_EVENT_LIMIT_LEFT,
    PERP_EVENT_EFFORT_BOUND,   // a motor has come to its largest effort
    PERP_EVENT_EFFORT_WITHIN,  // and keeps its rate again
    PERP_EVENT_ZENO,      // infinitely many impacts until t_end: the contact stays closed from here
    PERP_EVENT_PAINLEVE,  // sliding without, or with several, accelerations: ended by an impulse
    PERP_EVENT_PROJECTED,  // the state did not fit the joints and was moved
    PERP_EVENT_CAPTURED,   // until t_end short steps by impulses took the place of modes
} perp_event_kind;

typedef struct perp_event {
    double t;  // [s]
    perp_event_kind kind;
    perp_shape a, b;  // contact, else {-1}
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

// In the order of time; readable until the next step.
PERP_API const perp_event *perp_sim_events(const perp_sim *sim, int *count);
PERP_API const char *perp_event_kind_word(int kind);  // impact separation stick-to-slip …

// ── The problem of the last step, as the papers write it ─────────────────────────────────────────
// Blocks in the order nu, p_b, p_m, p_n, p_f, sigma; a block that the form eliminates has size 0.
typedef struct perp_step_problem {
    perp_form form;
    int n_nu, n_b, n_m, n_n, n_f, n_sigma;
    int nv, nb;                       // velocities and joint rows, eliminated or not
    const double *M;                  // nv x nv, column-major
    const double *p_ext;              // nv
    const double *Wb, *Wm, *Wn, *Wf;  // nv rows, column-major
    const double *E, *U;              // n_f x n_sigma, n_sigma x n_n
    perp_mcp mcp;                     // A b lower upper, of the form asked for
    const double *z, *w;              // solution and slack
    const char *const *names;         // of nv + nb + n_m + n_n + n_f + n_sigma unknowns
} perp_step_problem;
// The problem of the last step, posed in the given form with its answer. Owned by the caller.
PERP_API PERP_MUST perp_status perp_sim_problem(const perp_sim *sim, perp_form form,
                                                perp_step_problem **problem);
PERP_API void perp_step_problem_destroy(perp_step_problem *problem);

// ── Words, as scene files, recordings and options spell them; NULL past the last ─────────────────
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
