// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the figures show of a recording, in memory that does not grow with its length.
//
// The frames are read twice. The first reading finds out what there is (contacts, ranges, how long things
// move) and fills the curves that every recording has; the second fills those of single contacts, the
// points in the friction cone, and the snapshots. Frame k falls into cell k * cells / frames.
#pragma once

#include <perp/record.h>

#include "plot/lane.h"

enum {
    PP_CELL_MOST = 600,  // cells of a curve: a third of a point each, thinner than the pens
    PP_FEW = 8,          // curves in a panel; of more contacts, bodies, joints the worst is shown
    PP_ROWS = 24,        // rows of a strip
    PP_SHOTS = 6,
    PP_CONE_X = 200,  // points of the cone figure are kept once a cell of this grid
    PP_CONE_Y = 160,
    PP_MUS = 4,
    PP_EVENTS = 12,  // kinds
};

// A recording, or what a test puts in its place.
typedef struct pp_film {
    const perp_recording_info *info;
    const perp_recorded_body *body;
    const perp_recorded_shape *shape;
    const perp_recorded_joint *joint;
    const perp_recorded_spring *spring;
    perp_status (*read)(void *source, int frame, perp_frame *out, perp_error *error);
    void *source;
    bool ends;           // snapshots: the first and the last frame, whatever moves
    const char *colour;  // of all bodies; NULL: one each
} pp_film;

// Up to PP_FEW curves with names; `many`: there were more, and lane[0] is their maximum.
typedef struct pp_sheaf {
    int count;
    bool many;
    const char *name[PP_FEW];
    pp_lane lane[PP_FEW];
} pp_sheaf;

enum { PP_SHARES = PERP_JUDGED_COUNT };
extern const char *const pp_share_name[PP_SHARES];

typedef enum pp_mode { PP_ABSENT, PP_MODE_OPEN, PP_MODE_STICK, PP_MODE_SLIP } pp_mode;

// Bound: mu p_n; use: p_f / (mu p_n).
enum { PP_GAP, PP_PN, PP_PF, PP_BOUND, PP_USE, PP_TRACK_LANES };

typedef struct pp_track {  // one contact point
    perp_shape a, b;
    uint32_t feature;
    char name[96];
    pp_lane lane[PP_TRACK_LANES];
    unsigned char *mode;  // pp_mode of each cell
} pp_track;

typedef struct pp_event {
    char name[32];
    int count;
    unsigned char *mark;  // of each of PP_CELL_MOST parts of the time: it happened
} pp_event;

typedef struct pp_shot {
    int frame;
    double t;
    perp_vec3 *position;
    double *angle;
    perp_quat *rotation;  // in space
} pp_shot;

// Sums and extremes over all contacts of a frame.
typedef struct pp_crowd {
    pp_lane gap;                // smallest
    pp_lane pn_sum, pn_most;    // normal impulse
    pp_lane pf_most, use;       // largest |p_f|, largest |p_f| / (mu p_n)
    pp_lane slip, closed, all;  // how many contacts slip; slip or stick; there are
} pp_crowd;

typedef struct pp_story {
    const pp_film *film;
    const perp_env *env;
    pp_arena *arena;
    int frames, cells;
    double t_before;              // of the frame before
    double *cell_from, *cell_to;  // time that each cell covers [s]
    pp_range t;
    // bodies
    int path_points, path_stride;
    perp_vec3 **path;       // of each body, path_points each; NULL: it never moves
    double *motion;         // largest motion of a body up to each cell, in lengths [m]
    double *arm;            // of each body: how far it reaches from its centre [m]
    double *pose;           // x, y, angle, z of each body in the frame before
    perp_quat *turned;      // in space: its rotation then
    pp_sheaf vx, vy, spin;  // in space: |v|, v_z, |omega|
    pp_shot shot[PP_SHOTS];
    int shots;
    // contacts
    int tracks;  // PP_ROWS + 1: more than a strip has rows
    pp_track track[PP_ROWS];
    pp_crowd crowd;
    double pn_most, pf_most, mu[PP_MUS];
    int mus;
    unsigned char *cone[2];  // PP_CONE_X by PP_CONE_Y: points that stick, points that slip
    int events;
    pp_event event[PP_EVENTS];
    // the rest
    pp_sheaf joint_error, joint_force;
    pp_lane kinetic, potential, total, work, dissipated;  // potential: since the start
    double potential_start, work_sum, dissipated_sum;
    pp_lane penetration, residual;  // as the certificate has them [m], [m/s]
    pp_lane share[PP_SHARES];       // numbers of the certificate over their limits
    int violations;
} pp_story;

// The story keeps pointers into the film. info->frames >= 1.
perp_status pp_story_make(const pp_film *film, pp_arena *arena, const perp_env *env,
                          pp_story *story, perp_error *error);
// events.c: reads the JSON lines of the film; false: memory is out.
bool pp_story_events(pp_story *story);
bool pp_story_few(const pp_story *story);  // contacts: one curve each
