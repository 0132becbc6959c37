// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a recording while its page is made.
#pragma once

#include "replay/column.h"

enum {
    PP_SERIES_MOST = 20000,    // moments of energy and certificate
    PP_EVENT_BYTES = 1000000,  // of events
    PP_JOINT_WIDTH = 11,
    PP_CERTIFICATE_WIDTH = 7,
};

// Every stride-th frame, and the last.
typedef struct pp_clock {
    int stride, count;
} pp_clock;

typedef struct pp_plan {
    pp_clock series, poses, contacts;
    int64_t contact_rows;
    bool coarse;  // 16 bits a number
    bool speeds;  // velocities are kept
} pp_plan;

typedef struct pp_tracks {
    int count, room, slots;
    int *slot;  // open addressing: number of the track, -1: free
    int32_t (*shapes)[2];
    uint32_t *feature;
    double *mu;
} pp_tracks;

typedef struct pp_reel {
    perp_recording *recording;
    const perp_recording_info *info;
    pp_arena *arena;
    int axes;            // 2 or 3
    int turns;           // numbers of a rotation: 1 or 4
    int spins;           // 1 or 3
    int moving;          // bodies that are not fixed
    int *row;            // of each body in the columns of poses, -1: fixed
    double *low, *high;  // of the positions, moving * axes
    double point_low[3], point_high[3];
    double
        relative[PP_CERTIFICATE_WIDTH];  // of the certificate: nearest to the limit, of all frames
    double limit[PP_CERTIFICATE_WIDTH];  // and the limit there
    int *contacts_of;                    // of each frame
    int64_t outline, corners, faces;
    size_t event_bytes;
    pp_plan plan;
    pp_tracks tracks;
    pp_column column[PP_COLUMNS];
} pp_reel;

bool pp_clock_keeps(pp_clock clock, int frame, int frames);
pp_clock pp_clock_make(int stride, int frames);
// plan.c: from what the first reading found; `bytes` are left for poses and contacts.
pp_plan pp_plan_make(const pp_reel *reel, double bytes);
size_t pp_pose_bytes(const pp_reel *reel, bool coarse, bool speeds);
size_t pp_contact_bytes(const pp_reel *reel, bool coarse);

// model.c: columns that do not depend on time, and sizes.
perp_status pp_reel_model(pp_reel *reel, perp_error *error);
// gather.c: the two readings.
perp_status pp_reel_scan(pp_reel *reel, perp_error *error);
perp_status pp_reel_fill(pp_reel *reel, perp_error *error);
// Room for a column; false: memory is out.
bool pp_reel_column(pp_reel *reel, pp_column_name name, pp_cell_type type, int width, int64_t rows);
// tracks.c: the number of the contact's track, -1: memory is out.
int pp_track_of(pp_tracks *tracks, const perp_contact *contact, pp_arena *arena);

// about.c
void pp_about_write(const pp_reel *reel, const perp_replay_def *def, pp_bytes *out);
