// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings of runs: written while a sim steps, read back frame by frame, and verified.
//
// A recording is a directory: run.h5 (everything; docs/file-format.md), bodies.csv, contacts.csv,
// events.jsonl and summary.json. run.h5 can be read at any time, during the run or after the program was
// killed: up to the last flush, and marked as incomplete. The other files have the suffix .part until the run is
// finished, so a file without it is complete.
#pragma once

#include <perp/base.h>
#include <perp/scene.h>
#include <perp/sim.h>
#include <perp/types.h>

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

typedef struct perp_record perp_record;

// The CSV files of a recording; run.h5, events.jsonl and summary.json are always written.
typedef enum perp_csv {
    PERP_CSV_BODIES = 1,
    PERP_CSV_CONTACTS = 2,
    PERP_CSV_PARTS = 4,  // part_bodies.csv, part_contacts.csv
    PERP_CSV_JOINTS = 8,
    PERP_CSV_ACTUATORS = 16,
    PERP_CSV_SENSORS = 32,
    PERP_CSV_ALL = 63,
} perp_csv;

typedef struct perp_record_def {
    const char *name;  // of the scene
    // Text of the scene file, stored in run.h5 for perp_recording_check. NULL: that of the model (perp_scene_create), unless
    // a scene cannot express it; "": none.
    const char *scene;
    const perp_scene_file *file;  // the files it names (perp_scene_files), also stored
    int files;
    const char *report;    // of the import (perp_scene_report), written as report.json; NULL: none
    double h;              // step size [s]; 0: variable
    int every;             // record a frame every so many steps, and the last; default 1
    double flush_seconds;  // interval between flushes [s]; default 0.5
    unsigned csv;          // bits of perp_csv; default PERP_CSV_ALL
    bool summary_only;     // write no files and use no directory: the summary is all that is kept
    uint32_t cookie;
} perp_record_def;

PERP_API perp_record_def perp_record_default(void);
// Creates the directory and records the current state as frame 0. An existing recording in the directory is
// replaced. Fails if the directory contains other files and no recording, or if another record, in this process or
// another, is writing to it. The directory is locked until perp_record_destroy.
PERP_API PERP_MUST perp_status perp_record_create(const char *dir, const perp_sim *sim,
                                                  const perp_record_def *def, const perp_env *env,
                                                  perp_record **record, perp_error *error);
// Call after every perp_sim_step, whatever its status: a failed step leaves an event but no frame. After an error the
// recording stays marked as incomplete, and every further call returns the same error. PERP_ERR_ARGUMENT if the sim
// has another model, or the recording is finished.
PERP_API PERP_MUST perp_status perp_record_step(perp_record *record, const perp_sim *sim);
// Writes remaining data, closes the files and gives them their final names.
PERP_API PERP_MUST perp_status perp_record_finish(perp_record *record, const perp_sim *sim);
PERP_API void perp_record_destroy(perp_record *record);  // unfinished: stays marked as incomplete
PERP_API const perp_error *perp_record_error(const perp_record *record);

// Summary so far, over all steps (not only those recorded as frames).
typedef struct perp_summary {
    int64_t steps;  // successful steps
    int frames;     // frames written
    int contacts_max;
    int64_t violations;                   // steps that violate the certificate
    int64_t unique;                       // steps with a proved unique solution
    int64_t not_unique;                   // steps with a second solution found
    int64_t motion[3], impulses[3];       // steps by perp_uniqueness
    double motion_apart, impulses_apart;  // largest difference of two solutions [m/s, N s]
    perp_certificate worst;               // worst value of each item over all steps
    double step_error,
        motion_error;        // estimated, of a step and of the motion, the largest so far [m]
    double seconds;          // wall time since perp_record_create
    double step_seconds;     // median wall time of a step, to 1 %
    double seconds_steps;    // part of seconds: steps without their certificates,
    double seconds_certify;  // certificates,
    double seconds_record;   // and the functions of perp_record
    perp_status status;      // of the last step
} perp_summary;

PERP_API perp_summary perp_record_summary(const perp_record *record);
// The current text of summary.json; valid until the next call. NULL: out of memory.
PERP_API const char *perp_record_summary_text(perp_record *record, const perp_sim *sim);

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

typedef struct perp_recording perp_recording;

typedef struct perp_recording_info {
    const char *name, *scene;  // scene: its text; "": none
    const char *solver;        // as requested
    perp_stepper stepper;
    perp_form form;
    perp_friction_law friction;
    perp_impact_law impact;
    perp_rotation_update rotation;  // spatial
    perp_gyroscopic gyroscopic;     // spatial
    int facets;                     // spatial
    perp_coordinates coordinates;
    perp_positions positions;  // linear if not recorded
    bool spatial;
    double h, margin, theta, tolerance;
    perp_limits limits;
    int every;
    bool complete;  // the run finished and everything was written
    int frames;     // at least 1: the initial state
    int bodies, shapes, joints, nv, nq;
    int visuals;  // shapes that are only shown; 0 if not recorded
    int springs;  // between points of bodies; 0 if not recorded
    int inputs, actuators;
    int sites, sensors;
    int sensor_values;   // of all sensors
    int exclusions;      // pairs of bodies excluded from collision; 0 if not recorded
    const char *events;  // JSON lines
} perp_recording_info;

typedef struct perp_recorded_body {
    const char *name;
    perp_body_kind kind;
    perp_motion motion;
    int at_nu;                // index of its first value in nu; -1: not dynamic
    int at_q;                 // the same in q
    double mass, inertia_zz;  // [kg], [kg m^2] about z
    double inertia_B[6];      // spatial, in body axes: xx yy zz xy xz yz [kg m^2]
    double gravity_scale;     // factor of gravity; 1 if not recorded
} perp_recorded_body;

typedef struct perp_recorded_shape {
    const char *name;
    perp_body body;
    perp_shape_kind kind;
    double mu, restitution;    // [-]
    double radius;             // rounding radius of the outline, or radius of a solid [m]
    const perp_vec3 *outline;  // in the body frame [m]: vertices; half-plane: point and normal
    int outline_count;
    // Spatial; outline: the vertices of a hull, mesh or height field.
    perp_pose X_BS;         // of the shape frame in the body frame
    perp_vec3 half;         // half extents along its axes [m]
    int faces;              // of a hull, mesh or height field;
    const int *corner_end;  // end of each face in corner; the first face starts at corner_first
    const int *corner;      // indices into outline, counter-clockwise
    int corner_first;
    // Absent in older recordings: 0, 0, default, 0, 1, 1, -1.
    double mu_spin, mu_roll;  // [m]
    perp_combine combine;
    int32_t priority;
    uint32_t group, mask;
    int32_t colour;  // 0xRRGGBB; -1: none chosen
    bool hidden;     // visuals are shown in its place; false if not recorded
} perp_recorded_shape;

typedef struct perp_recorded_joint {
    const char *name;
    perp_joint_kind kind;
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in the body frames [m]
    perp_vec3 axis_A;              // spatial: in the frame of a
} perp_recorded_joint;

typedef struct perp_recorded_spring {
    const char *name;
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in the body frames [m]
    double rest;                   // rest length [m]
} perp_recorded_spring;

typedef struct perp_recorded_actuator {
    const char *name;
    perp_joint joint;  // along whose coordinate it acts
} perp_recorded_actuator;

typedef struct perp_recorded_site {
    const char *name;
    perp_body body;
    perp_pose X_BS;  // in the body frame
} perp_recorded_site;

typedef struct perp_recorded_sensor {
    const char *name, *unit;
    perp_sensor_kind kind;
    int first, size;  // its values in perp_snapshot.sensor
    // What it is attached to; {-1}: nothing of this kind.
    perp_site site;
    perp_body body;  // also that of its site
    perp_joint joint;
    perp_actuator actuator;
} perp_recorded_sensor;

// One instant; frame 0 is the initial state, without contacts. Valid until the next perp_recording_read.
typedef struct perp_snapshot {
    double t;                             // [s]
    int64_t step;                         // number of steps taken
    const double *q, *nu;                 // nq and nv values
    const perp_vec3 *position_W;          // of each body [m]
    const double *angle;                  // planar [rad]
    const perp_quat *rotation_WB;         // of each body
    const perp_vec3 *velocity_W;          // [m/s]
    const double *spin;                   // about z [rad/s]
    const perp_vec3 *omega_W;             // [rad/s]
    int contacts;                         // of the last step before t
    const perp_contact *contact;          // array of them
    const perp_joint_state *joint;        // one per joint
    const double *input;                  // one per input: held over the last step; part: NULL
    const perp_actuator_state *actuator;  // one per actuator; part: NULL
    const double *filter;                 // one per actuator: filtered control at t; part: NULL
    const double *sensor;                 // info.sensor_values; part: NULL
    const perp_wrench *applied;    // one per body: perp_sim_body_apply of the last step; part: NULL
    perp_certificate certificate;  // worst values of the steps since the previous frame
    perp_energy energy;            // work, dissipated: summed over these steps
    perp_status status;            // of the last step
    int iterations, problem_size, redundant_rows;
    int parts;            // parts of the last step; 1: not divided
    bool placed;          // the program set the state since the previous frame
    double error;         // estimated error of the last step [m]; 0: the run has no accuracy
    double motion_error;  // estimated error of the motion so far [m]; INFINITY: unknown
    int kept;             // parts that perp_recording_read_part can read
    perp_part_kind part;  // for a part: its kind,
    double h;             // and duration [s]; 0 for frames
    bool unique;
    perp_uniqueness motion, impulses;  // unknown in older recordings
    double step_seconds;               // of the last step
} perp_snapshot;

// path: the directory or its run.h5. A recording that is still being written, or whose writer was killed, is
// read up to the last flush.
PERP_API PERP_MUST perp_status perp_recording_open(const char *path, const perp_env *env,
                                                   perp_recording **recording, perp_error *error);
PERP_API void perp_recording_close(perp_recording *recording);
PERP_API const perp_recording_info *perp_recording_about(const perp_recording *recording);
PERP_API perp_recorded_body perp_recording_body(const perp_recording *recording, perp_body body);
PERP_API perp_recorded_shape perp_recording_shape(const perp_recording *recording,
                                                  perp_shape shape);
// The same of a shape that is only shown; it has no surface properties.
PERP_API perp_recorded_shape perp_recording_visual(const perp_recording *recording,
                                                   perp_visual visual);
PERP_API perp_recorded_joint perp_recording_joint(const perp_recording *recording,
                                                  perp_joint joint);
PERP_API perp_recorded_spring perp_recording_spring(const perp_recording *recording, int k);
PERP_API const char *perp_recording_input_name(const perp_recording *recording, perp_input input);
PERP_API perp_recorded_actuator perp_recording_actuator(const perp_recording *recording,
                                                        perp_actuator actuator);
PERP_API perp_recorded_site perp_recording_site(const perp_recording *recording, perp_site site);
PERP_API perp_recorded_sensor perp_recording_sensor(const perp_recording *recording,
                                                    perp_sensor sensor);
// The k-th excluded pair of bodies; {-1}: there is none.
PERP_API void perp_recording_exclusion(const perp_recording *recording, int k, perp_body *a,
                                       perp_body *b);
// Frames are read in blocks: sequential access is fast, random access reads a block per call.
PERP_API PERP_MUST perp_status perp_recording_read(perp_recording *recording, int frame,
                                                   perp_snapshot *out, perp_error *error);
// A part of the last step before a frame, 0 .. kept - 1: the state at its end, with the contacts, impulses and energies
// of this part alone. The last part ends at the frame. Invalidates the result of perp_recording_read.
PERP_API PERP_MUST perp_status perp_recording_read_part(perp_recording *recording, int frame,
                                                        int part, perp_snapshot *out,
                                                        perp_error *error);

// ── Verifying a recording ────────────────────────────────────────────────────────────────────────

// Items recomputed from the recorded states and impulses, and the model in the recording.
typedef enum perp_check_item {
    PERP_CHECK_GAP,       // deepest penetration [m]
    PERP_CHECK_PULL,      // pulling contact: largest -p_n [N s]
    PERP_CHECK_PUSH,      // force at an open gap: |p_n rho_n| [J]
    PERP_CHECK_CLOSE,     // unresolved approach: largest -rho_n [m/s]
    PERP_CHECK_CONE,      // friction beyond mu p_n [N s]
    PERP_CHECK_SLIP,      // missing dissipation of sliding friction [J]
    PERP_CHECK_JOINT,     // joint errors, coordinates beyond their limits [m, rad]
    PERP_CHECK_RATE,      // violation of joint equations by the velocities [m/s, rad/s]
    PERP_CHECK_DRIVE,     // drives and dry joint friction beyond their limits [N s, N m s]
    PERP_CHECK_MOMENTUM,  // |M dnu - p_ext - all recorded impulses| [N s, N m s]
    PERP_CHECK_MOTION,    // |q - q^l - h nu|, by the rule of the stepper [m, rad]
    PERP_CHECK_ENERGY,    // energy created in a step [J]
    PERP_CHECK_CONTACT,   // recorded gap, point, normal, rates, coefficients of contacts [m, m/s]
    PERP_CHECK_RECORD,    // recorded joints, kinematic bodies, energies, times [m, J, s]
    PERP_CHECK_COUNT,
} perp_check_item;

typedef struct perp_check_result {
    const char *name;   // "gap"
    const char *unit;   // "m"
    bool done;          // false: the recording lacks the data, see why
    const char *why;    // "" if done
    double worst;       // value closest to its limit; INFINITY if the recording contains NaN
    double limit;       // limit of this value; relative to the scene unless set
    double over;        // worst / limit; above 1: violated
    double t;           // time of the worst value [s]
    const char *where;  // names of the objects concerned
} perp_check_result;

typedef struct perp_check {
    perp_check_result item[PERP_CHECK_COUNT];
    int divided;  // divided steps whose parts are not recorded: only positions are judged
    int placed;   // steps from a state that the program set: only positions are judged
    bool passed;  // all items judged are within their limits
    bool partly;  // some items could not be judged
} perp_check;

// limits: NULL: relative to the scene; the limits stored in the recording are not used.
PERP_API PERP_MUST perp_status perp_recording_check(perp_recording *recording,
                                                    const perp_limits *limits, perp_check *check,
                                                    perp_error *error);
