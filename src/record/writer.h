// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A run being recorded: the files, and the memory from step to step.
#pragma once

#include "record/store.h"
#include "record/text.h"
#include "sim/sim.h"

// Times of steps in bins of 1 %, from 10 ns up: a median in constant memory.
enum { PP_TIME_BINS = 2800 };

// A contact of the step before, for the events; sorted by (a, b, feature).
typedef struct pp_known_contact {
    int a, b;
    uint32_t feature;
    perp_contact_mode mode;
    perp_vec3 point;
} pp_known_contact;

// What the events of a step are compared with: contacts that carried load, limits that were
// reached, and whether the step before was violated or had several answers.
typedef struct pp_event_memory {
    // Both lists have the same room and change places after each step.
    pp_known_contact *before, *now;
    int before_count, now_count, room;
    bool *at_limit;  // joints
    bool violated, many_answers;
} pp_event_memory;

// The text files; those of parts, joints, actuators and sensors appear when there is one.
typedef enum pp_csv {
    PP_CSV_BODIES,
    PP_CSV_CONTACTS,
    PP_CSV_EVENTS,
    PP_CSV_PART_BODIES,
    PP_CSV_PART_CONTACTS,
    PP_CSV_JOINTS,
    PP_CSV_ACTUATORS,
    PP_CSV_SENSORS,
    PP_CSV_COUNT,
} pp_csv;

// The directory, locked as long as it is written to (place.c).
typedef struct pp_directory_lock {
    int dir, lock;  // descriptors; -1: none
} pp_directory_lock;

struct perp_record {
    perp_env env;
    perp_record_def def;
    char *name;               // def.name's copy
    const perp_model *model;  // of the sim it was begun with: all rows have its sizes
    pp_arena *arena;
    char dir[PP_PATH_MAX];
    pp_directory_lock place;
    bool prepared, finished;
    perp_error error;
    pp_store store;
    pp_part_file file[PP_CSV_COUNT];
    pp_text lines[PP_CSV_COUNT], summary;  // lines: not yet in the files
    pp_event_memory memory;
    int facets;                       // of friction polygons, where the contact does not say
    perp_joint_state *joint;          // of the frame being written
    perp_actuator_state *actuator;    // the same
    double *sensor;                   // values of all sensors, the same
    int64_t contact_rows[PP_TABLES];  // of all frames and parts so far
    int64_t part_rows, wrench_rows, change_rows;
    perp_summary sum;
    int64_t framed;              // step of the last frame
    uint64_t placed;             // of the sim, at the last call (perp_sim.placed)
    bool placed_since;           // a state was set since the last frame
    perp_certificate since;      // worst since the last frame
    double work, dissipated;     // since the last frame [J]
    double began;                // [s]
    int64_t time[PP_TIME_BINS];  // steps by duration
};

// Worst of two certificates, number by number; a NaN is the worst there is.
void pp_certificate_merge(perp_certificate *into, const perp_certificate *from);

// Makes and locks the directory and removes an earlier recording; leave it also after a failure.
perp_status pp_directory_take_lock(pp_directory_lock *place, const char *dir, perp_error *error);
// Files of an earlier run must not be taken for this one's.
perp_status pp_directory_clear(const char *dir, perp_error *error);
void pp_directory_unlock(pp_directory_lock *place);

// ── The summary (summary.c) ──────────────────────────────────────────────────────────────────────
void pp_summary_time(perp_record *record, double seconds);

// ── Frames (frame_out.c) ─────────────────────────────────────────────────────────────────────────
perp_status pp_record_frame(perp_record *record, const perp_sim *sim);
void pp_csv_heads(perp_record *record, bool parts);
bool pp_csv_is_wanted(const perp_record *record, pp_csv file);  // perp_record_def.csv

// ── Events (events.c): lines for what changed in the last step ───────────────────────────────────
perp_status pp_event_memory_create(perp_record *record, const perp_sim *sim);
void pp_event_memory_destroy(perp_record *record);
void pp_events_start(perp_record *record, const perp_sim *sim);
perp_status pp_events_step(perp_record *record, const perp_sim *sim);
void pp_events_failure(perp_record *record, const perp_sim *sim);
