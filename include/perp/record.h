// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings of runs: written while a sim steps, read back frame by frame, and judged again.
//
// A recording is a directory: run.h5 (everything; docs/file-format.md), bodies.csv, contacts.csv,
// events.jsonl and summary.json. run.h5 grows while the run goes on and can be read at any moment, also
// after the program was killed: up to the last flush, and marked as incomplete. The other files bear the
// ending .part until the run is finished, so that a file without it is whole.
#pragma once

#include <perp/base.h>
#include <perp/scene.h>
#include <perp/sim.h>
#include <perp/types.h>

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

typedef struct perp_record perp_record;

typedef struct perp_record_def {
    const char *name;   // of the scene
    const char *scene;  // text of the scene file, kept in run.h5: perp_recording_check needs it
    const perp_scene_file *file;  // and the files it names (perp_scene_files), kept likewise
    int files;
    double h;              // the step [s]; 0: not the same for all
    int every;             // a frame every so many steps, and the last; default 1
    double flush_seconds;  // longest time that a kill can cost [s]; default 0.5
    uint32_t cookie;
} perp_record_def;

PERP_API perp_record_def perp_record_default(void);
// Makes the directory and records the present state as frame 0. A recording that is in the directory
// already is replaced; a directory that holds other things and no recording, or that another record is
// writing to, in this process or another, is refused. The directory is locked until perp_record_destroy.
PERP_API PERP_MUST perp_status perp_record_create(const char *dir, const perp_sim *sim,
                                                  const perp_record_def *def, const perp_env *env,
                                                  perp_record **record, perp_error *error);
// After every perp_sim_step, whatever its status: a failed step leaves an event, no frame. After an error
// the recording stays marked as incomplete, and every further call returns the same error. A sim of
// another model, and a recording that is finished, are refused: PERP_ERR_ARGUMENT.
PERP_API PERP_MUST perp_status perp_record_step(perp_record *record, const perp_sim *sim);
// Writes what is left, closes the files and gives them their names.
PERP_API PERP_MUST perp_status perp_record_finish(perp_record *record, const perp_sim *sim);
PERP_API void perp_record_destroy(perp_record *record);  // unfinished: stays marked as incomplete
PERP_API const perp_error *perp_record_error(const perp_record *record);

// What has been seen so far, over all steps and not only those that became frames.
typedef struct perp_summary {
    int64_t steps;  // that succeeded
    int frames;     // written
    int contacts_max;
    int64_t violations;                   // steps past a limit of the certificate
    int64_t unique;                       // steps proved to have one answer only
    int64_t not_unique;                   // steps of which a second answer was found
    int64_t motion[3], impulses[3];       // steps by perp_uniqueness
    double motion_apart, impulses_apart;  // largest of second answers [m/s, N s]
    perp_certificate worst;               // each number the worst of all steps
    double seconds;                       // wall, since perp_record_create
    double step_seconds;                  // median of a step, to 1 %
    perp_status status;                   // of the last step
} perp_summary;

PERP_API perp_summary perp_record_summary(const perp_record *record);
// The text of summary.json, as of now; valid until the next call. NULL: out of memory.
PERP_API const char *perp_record_summary_text(perp_record *record, const perp_sim *sim);

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

typedef struct perp_recording perp_recording;

typedef struct perp_recording_info {
    const char *name, *scene;  // scene: the text, "" when there is none
    const char *solver;        // as asked for
    perp_stepper stepper;
    perp_form form;
    perp_friction_law friction;
    perp_impact_law impact;
    perp_rotation_update rotation;  // in space
    perp_gyroscopic gyroscopic;     // in space
    int facets;                     // in space
    perp_coordinates coordinates;
    bool spatial;
    double h, margin, theta, tolerance;
    perp_limits limits;
    int every;
    bool complete;  // the run came to its end, and everything was written
    int frames;     // at least 1: the start
    int bodies, shapes, joints, nv, nq;
    int springs;         // between points of bodies; 0 where the recording does not tell
    const char *events;  // JSON lines
} perp_recording_info;

typedef struct perp_recorded_body {
    const char *name;
    perp_body_kind kind;
    perp_motion motion;
    int at_nu;                // of its first value in nu, -1: not free
    int at_q;                 // the same in q
    double mass, inertia_zz;  // [kg], [kg m^2] about z
    double inertia_B[6];      // space, in body axes: xx yy zz xy xz yz [kg m^2]
} perp_recorded_body;

typedef struct perp_recorded_shape {
    const char *name;
    perp_body body;
    perp_shape_kind kind;
    double mu, restitution;    // [-]
    double radius;             // the outline is rounded by this; of a solid [m]
    const perp_vec3 *outline;  // in the body frame [m]: vertices; half-plane: a point, its normal
    int outline_count;
    // In space; outline: the vertices of a hull, mesh or height field.
    perp_pose X_BS;         // of the shape frame in the body frame
    perp_vec3 half;         // half extents along its axes [m]
    int faces;              // of a hull, mesh or height field,
    const int *corner_end;  // each from where the one before ends (from corner_first) to here,
    const int *corner;      // counter-clockwise by vertices of the outline
    int corner_first;
} perp_recorded_shape;

typedef struct perp_recorded_joint {
    const char *name;
    perp_joint_kind kind;
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in the body frames [m]
    perp_vec3 axis_A;              // space: in the frame of a
} perp_recorded_joint;

typedef struct perp_recorded_spring {
    const char *name;
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in the body frames [m]
    double rest;                   // length without force [m]
} perp_recorded_spring;

// One moment; frame 0 is the start, without contacts. Valid until the next perp_recording_read.
typedef struct perp_snapshot {
    double t;                       // [s]
    int64_t step;                   // how many have been done
    const double *q, *nu;           // nq and nv
    const perp_vec3 *position_W;    // of each body [m]
    const double *angle;            // in the plane [rad]
    const perp_quat *rotation_WB;   // of each body
    const perp_vec3 *velocity_W;    // [m/s]
    const double *spin;             // about z [rad/s]
    const perp_vec3 *omega_W;       // [rad/s]
    int contacts;                   // of the last step before t
    const perp_contact *contact;    // contacts of them
    const perp_joint_state *joint;  // one a joint
    const perp_wrench *applied;  // one a body: perp_sim_body_apply of the last step; of a part NULL
    perp_certificate certificate;  // the worst of the steps since the frame before
    perp_energy energy;            // work, dissipated: summed over the steps since then
    perp_status status;            // of the last step
    int iterations, problem_size, redundant_rows;
    int parts;            // of the last step; 1: it was not divided
    int kept;             // parts of the last step that perp_recording_read_part reads
    perp_part_kind part;  // of a part: what it is,
    double h;             // and how long; 0 in frames [s]
    bool unique;
    perp_uniqueness motion, impulses;  // recordings of before this was kept: unknown
    double step_seconds;               // of the last step
} perp_snapshot;

// path: the directory or its run.h5. A recording that is being written, or whose writer was killed, is
// read up to its last flush.
PERP_API PERP_MUST perp_status perp_recording_open(const char *path, const perp_env *env,
                                                   perp_recording **recording, perp_error *error);
PERP_API void perp_recording_close(perp_recording *recording);
PERP_API const perp_recording_info *perp_recording_about(const perp_recording *recording);
PERP_API perp_recorded_body perp_recording_body(const perp_recording *recording, perp_body body);
PERP_API perp_recorded_shape perp_recording_shape(const perp_recording *recording,
                                                  perp_shape shape);
PERP_API perp_recorded_joint perp_recording_joint(const perp_recording *recording,
                                                  perp_joint joint);
PERP_API perp_recorded_spring perp_recording_spring(const perp_recording *recording, int k);
// Frames in order are read in blocks; jumping about costs a block each.
PERP_API PERP_MUST perp_status perp_recording_read(perp_recording *recording, int frame,
                                                   perp_snapshot *out, perp_error *error);
// A part of the last step before a frame, 0 .. kept - 1: the state where it ends, with contacts, impulses and energies
// of the part alone. The last one ends where the frame is. Replaces what perp_recording_read gave.
PERP_API PERP_MUST perp_status perp_recording_read_part(perp_recording *recording, int frame,
                                                        int part, perp_snapshot *out,
                                                        perp_error *error);

// ── Judging a recording again ────────────────────────────────────────────────────────────────────

// What is recomputed from the recorded states and impulses, and the model in the recording.
typedef enum perp_check_item {
    PERP_CHECK_GAP,       // deepest penetration [m]
    PERP_CHECK_PULL,      // contact that pulls: largest -p_n [N s]
    PERP_CHECK_PUSH,      // contact that pushes from afar: |p_n rho_n| [J]
    PERP_CHECK_CLOSE,     // contact that is let through: largest -rho_n [m/s]
    PERP_CHECK_CONE,      // friction beyond mu p_n [N s]
    PERP_CHECK_SLIP,      // what sliding friction should have taken and did not [J]
    PERP_CHECK_JOINT,     // joint error, coordinates beyond their limits [m, rad]
    PERP_CHECK_RATE,      // joint velocities beside their equations [m/s, rad/s]
    PERP_CHECK_DRIVE,     // drives and dry friction of joints beyond what they can do [N s, N m s]
    PERP_CHECK_MOMENTUM,  // |M dnu - p_ext - all recorded impulses| [N s, N m s]
    PERP_CHECK_MOTION,    // |q - q^l - h nu| as the stepper has it [m, rad]
    PERP_CHECK_ENERGY,    // energy that appears from nowhere in a step [J]
    PERP_CHECK_CONTACT,  // gap, point, normal, rates, coefficients of contacts as recorded [m, m/s]
    PERP_CHECK_RECORD,   // joints, driven bodies, energies, times as recorded [m, J, s]
    PERP_CHECK_COUNT,
} perp_check_item;

typedef struct perp_check_result {
    const char *name;   // "gap"
    const char *unit;   // "m"
    bool done;          // false: the recording does not hold what it takes, see why
    const char *why;    // "" when done
    double worst;       // where it comes nearest to its limit; NaN in the recording: INFINITY
    double limit;       // there; relative to the scene unless it was set
    double over;        // worst over limit; above 1: a violation
    double t;           // when the worst was seen [s]
    const char *where;  // names of what it was seen at
} perp_check_result;

typedef struct perp_check {
    perp_check_result item[PERP_CHECK_COUNT];
    int divided;  // frames of steps in parts that the recording does not have: places were judged
    bool passed;  // nothing that was judged is past its limit
    bool partly;  // something could not be judged
} perp_check;

// limits: NULL, relative to the scene; never what the recording says of itself.
PERP_API PERP_MUST perp_status perp_recording_check(perp_recording *recording,
                                                    const perp_limits *limits, perp_check *check,
                                                    perp_error *error);
