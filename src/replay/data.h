// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a recording while its page is made.
//
// The frames are read twice. The first reading finds the ranges of positions, counts contacts, and
// fills the series of energy and certificate. Then the plan is made: the bytes that are left decide
// which frames are kept. The second reading fills poses, joints and contacts of these.
#pragma once

#include "replay/column.h"

enum {
    PP_SERIES_MOST = 20000,    // moments of energy and certificate
    PP_EVENT_BYTES = 1000000,  // of events
    PP_JOINT_WIDTH = 11,
    PP_CERTIFICATE_WIDTH = 7,
};

// Every stride-th frame, and the last.
typedef struct pp_decimation {
    int stride, count;
} pp_decimation;

// What is kept of a run, and in how many bits.
typedef struct pp_plan {
    pp_decimation series, poses, contacts;
    int64_t contact_rows;
    bool coarse;  // 16 bits a number
    bool speeds;  // velocities are kept
} pp_plan;

// Contact points by id: shapes, feature and coefficient of friction of each.
typedef struct pp_contact_ids {
    int count, room, slots;
    int *slot;  // hash table with open addressing: an id, -1: free
    int32_t (*shapes)[2];
    uint32_t *feature;
    double *mu;
} pp_contact_ids;

// Everything about one replay while it is made.
typedef struct pp_replay_data {
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
    double
        motion_error;  // estimated, the largest of all frames [m]; 0: not estimated, infinite: unknown
    double limit[PP_CERTIFICATE_WIDTH];  // and the limit there
    int *contacts_of;                    // of each frame
    int64_t outline, corners, faces;
    size_t event_bytes;
    pp_plan plan;
    pp_contact_ids ids;
    pp_page_column column[PP_PAGE_COLUMNS];
} pp_replay_data;

bool pp_decimation_keeps(pp_decimation decimation, int frame, int frames);
pp_decimation pp_decimation_make(int stride, int frames);
// plan.c: from what the first reading found; `bytes` are left for poses and contacts.
pp_plan pp_plan_make(const pp_replay_data *data, double bytes);
size_t pp_pose_bytes(const pp_replay_data *data, bool coarse, bool speeds);
size_t pp_contact_bytes(const pp_replay_data *data, bool coarse);

perp_status pp_replay_no_memory(perp_error *error);

// model.c: columns that do not depend on time, and sizes.
perp_status pp_replay_data_model(pp_replay_data *data, perp_error *error);
// gather.c: the two readings.
perp_status pp_replay_data_scan(pp_replay_data *data, perp_error *error);
perp_status pp_replay_data_fill(pp_replay_data *data, perp_error *error);
// Room for a column; false: memory is out.
bool pp_replay_data_column(pp_replay_data *data, pp_page_column_name name, pp_cell_type type,
                           int width, int64_t rows);
// contact_ids.c: the id of a contact point, a new one for one not seen before; -1: memory is out.
int pp_contact_id_of(pp_contact_ids *ids, const perp_contact *contact, pp_arena *arena);

// about.c
void pp_about_write(const pp_replay_data *data, const perp_replay_def *def, pp_bytes *out);
