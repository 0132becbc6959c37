// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the figures show of a recording, in memory that does not grow with its length.
//
// The source is a recording, or a test's made-up run. What is kept of it here is all that the
// figures see: curves of at most PP_BINS_MOST bins, a few snapshots of the bodies, and a grid of
// points in the friction cone. So figures of a run of a million steps are as small as those of a
// run of a thousand.
//
// The frames are read twice. The first reading finds out what there is (contacts, ranges, how long
// things move) and fills the curves that every recording has; the second fills those of single
// contacts, the points in the friction cone, and the snapshots. Frame k falls into bin k * bins /
// frames.
#pragma once

#include <perp/record.h>

#include "plot/draw/trace.h"

enum {
    PP_BINS_MOST = 600,  // bins of a curve: a third of a point each, thinner than the pens
    PP_FEW = 8,          // curves in a panel; of more contacts, bodies, joints the worst is shown
    PP_ROWS = 24,        // rows of a strip
    PP_SNAPSHOTS = 6,
    PP_CONE_X = 200,  // points of the cone figure are kept once a bin of this grid
    PP_CONE_Y = 160,
    PP_MUS = 4,
    PP_EVENTS = 12,  // kinds
};

// A recording, or what a test puts in its place.
typedef struct pp_plot_source {
    const perp_recording_info *info;
    const perp_recorded_body *body;
    const perp_recorded_shape *shape;
    const perp_recorded_joint *joint;
    const perp_recorded_spring *spring;
    const perp_recorded_actuator *actuator;
    const perp_recorded_sensor *sensor;
    perp_status (*read)(void *context, int frame, perp_snapshot *out, perp_error *error);
    void *context;
    bool ends;           // snapshots: the first and the last frame, whatever moves
    const char *colour;  // of all bodies; NULL: one each
} pp_plot_source;

// Up to PP_FEW curves with names; `many`: there were more, and trace[0] is their maximum.
typedef struct pp_trace_bundle {
    int count;
    bool many;
    const char *name[PP_FEW];
    pp_trace trace[PP_FEW];
} pp_trace_bundle;

enum { PP_SHARES = PERP_JUDGED_COUNT };
extern const char *const pp_share_name[PP_SHARES];

// What a strip shows of a contact in a bin, in the order in which one covers another.
typedef enum pp_plot_mode {
    PP_PLOT_ABSENT,
    PP_PLOT_OPEN,
    PP_PLOT_STICK,
    PP_PLOT_SLIP
} pp_plot_mode;

// Bound: mu p_n; use: p_f / (mu p_n).
enum { PP_GAP, PP_PN, PP_PF, PP_BOUND, PP_USE, PP_CONTACT_TRACES };

// One contact point: the same shapes and the same feature in all frames.
typedef struct pp_contact_trace {  // one contact point
    perp_shape a, b;
    uint32_t feature;
    char name[96];
    pp_trace trace[PP_CONTACT_TRACES];
    unsigned char *mode;  // pp_plot_mode of each bin
} pp_contact_trace;

// Events of one kind.
typedef struct pp_event {
    char name[32];
    int count;
    unsigned char *mark;  // of each of PP_BINS_MOST parts of the time: it happened
} pp_event;

// The bodies at one time.
typedef struct pp_plot_snapshot {
    int frame;
    double t;
    perp_vec3 *position;
    double *angle;
    perp_quat *rotation;  // in space
} pp_plot_snapshot;

// Sums and extremes over all contacts of a frame.
typedef struct pp_contact_totals {
    pp_trace gap;                // smallest
    pp_trace pn_sum, pn_most;    // normal impulse
    pp_trace pf_most, use;       // largest |p_f|, largest |p_f| / (mu p_n)
    pp_trace slip, closed, all;  // how many contacts slip; slip or stick; there are
} pp_contact_totals;

// Everything that the figures of one run need. "Many" contacts, bodies or joints have no curve
// each, but the extremes and sums of all: contacts from PP_FEW + 1 on, which still have rows in the
// strip of modes up to PP_ROWS.
typedef struct pp_run_data {
    const pp_plot_source *source;
    const perp_env *env;
    pp_arena *arena;
    int frames, bins;
    double t_before;            // of the frame before
    double *bin_from, *bin_to;  // time that each bin covers [s]
    pp_range t;
    // bodies
    int path_points, path_stride;
    perp_vec3 **path;              // of each body, path_points each; NULL: it never moves
    double *motion;                // largest motion of a body up to each bin, in lengths [m]
    double *arm;                   // of each body: how far it reaches from its centre [m]
    double *pose;                  // x, y, angle, z of each body in the frame before
    perp_quat *turned;             // in space: its rotation then
    pp_trace_bundle vx, vy, spin;  // in space: |v|, v_z, |omega|
    pp_plot_snapshot snapshot[PP_SNAPSHOTS];
    int snapshots;
    // contacts
    int contacts;  // PP_ROWS + 1: more than a strip has rows
    pp_contact_trace contact[PP_ROWS];
    pp_contact_totals totals;
    double pn_most, pf_most, mu[PP_MUS];
    int mus;
    unsigned char *cone[2];  // PP_CONE_X by PP_CONE_Y: points that stick, points that slip
    int events;
    pp_event event[PP_EVENTS];
    // the rest
    pp_trace_bundle joint_error, joint_force;
    // joints with a coordinate: coordinate [rad, m], rate, effort of drives and actuators [N m, N],
    // and the power it gives [W]
    pp_trace_bundle coordinate, rate, effort, power;
    pp_trace kinetic, potential, total, work, dissipated;  // potential: since the start
    double potential_start, work_sum, dissipated_sum;
    pp_trace penetration, residual;     // as the certificate has them [m], [m/s]
    pp_trace step_error, motion_error;  // estimated [m]: of a step, of the motion so far
    bool error_unknown;                 // of the motion, in some frame
    pp_trace share[PP_SHARES];          // numbers of the certificate over their limits
    int violations;
    int sensors;             // that have a panel
    pp_trace *sensor_trace;  // their values, one sensor after the other
} pp_run_data;

// The data keeps pointers into the source. info->frames >= 1.
perp_status pp_run_data_collect(const pp_plot_source *source, pp_arena *arena, const perp_env *env,
                                pp_run_data *data, perp_error *error);
// events.c: reads the JSON lines of the recording; false: memory is out.
bool pp_run_data_events(pp_run_data *data);
// figure_sensor.c: room for curves, false: memory is out; the values of a frame.
bool pp_run_data_init_sensors(pp_run_data *data);
void pp_run_data_scan_sensors(pp_run_data *data, int bin, const perp_snapshot *frame);
bool pp_run_data_is_small(const pp_run_data *data);  // contacts: one curve each
