// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// run.h5 as it is read. Nothing in the file is believed: links must be hard, types and sizes are
// compared with what is expected and with what the file stores before memory is asked for.
#pragma once

#include "model/model.h"
#include "record/layout.h"
#include "record/text.h"

typedef struct pp_body_row {
    perp_recorded_body about;
    double start[7];  // x, y, angle of bodies that are fixed; space: position, quaternion
    int driven;       // index in the column of driven bodies, -1: not driven
} pp_body_row;

// One of the tables, and the block of it in memory: rows first .. first + count.
typedef struct pp_h5_table_in {
    int rows;
    hid_t column[PP_COLUMN_COUNT];  // -1: not there
    const int64_t *contact_end;     // rows
    pp_arena *arena;                // of the block
    int first, count;
    int64_t contact_first;
    const void *data[PP_COLUMN_COUNT];
    int64_t applied_first, change_first;
} pp_h5_table_in;

struct perp_recording {
    perp_env env;
    char path[PP_PATH_MAX];  // of run.h5
    pp_arena *arena;         // lives as long as the recording
    hid_t file;
    pp_h5_table_in table[PP_TABLES];
    const int64_t *applied_end;  // the same of wrenches
    const int64_t *change_end;   // and of changes
    const int64_t *part_end;     // info.frames; zeros in recordings of before there were parts
    pp_h5_sizes sizes;
    perp_recording_info info;
    pp_body_row *body;
    perp_recorded_shape *shape, *visual;
    perp_recorded_joint *joint;
    perp_recorded_spring *spring;
    const char **input_name, **actuator_name;
    const int32_t *actuator_joint;
    perp_recorded_site *site;
    perp_recorded_sensor *sensor;
    const int32_t *exclusion;  // info.exclusions pairs of bodies
    // The frame that was read last.
    perp_vec3 *position, *velocity, *omega;
    perp_quat *rotation;
    double *angle, *spin;
    perp_contact *contact;
    int contact_room;
    perp_joint_state *joint_state;
    perp_actuator_state *actuator_state;
    perp_wrench *applied;
    pp_change *change;  // of the last step
    int changes, change_room;
};

// An error of the format: the file, the dataset or attribute `what`, and the reason.
perp_status pp_load_fail(const perp_recording *r, perp_error *error, const char *what,
                         const char *why);
// A whole dataset of `rank` dimensions in r->arena; size[k] < 0 takes any size and receives it.
// *data is NULL-terminated text for bytes.
perp_status pp_load_array(perp_recording *r, const char *path, pp_h5_cell cell, int rank, int *size,
                          const void **data, perp_error *error);
// Strings of one size.
perp_status pp_load_names(perp_recording *r, const char *path, int count, const char ***names,
                          perp_error *error);
// A text attribute of an object; it lives as long as the recording.
perp_status pp_load_word(perp_recording *r, const char *object, const char *name, const char **word,
                         perp_error *error);
// A number, of any integer or floating type.
perp_status pp_load_number(perp_recording *r, const char *object, const char *name, double *value,
                           perp_error *error);
// The column's dataset, checked to be one and to have at least `rows` rows.
perp_status pp_load_column(perp_recording *r, pp_h5_table table, pp_h5_column column, int64_t rows,
                           perp_error *error);
// Rows first .. first + count of an open column, in `arena`; zeros where there is no such column.
perp_status pp_load_rows(perp_recording *r, pp_h5_table table, pp_h5_column column, int64_t first,
                         int64_t count, pp_arena *arena, const void **data, perp_error *error);

// The files that the scene names, which the recording holds (recording.c).
perp_status pp_load_files(perp_recording *r, perp_scene_load_options *reading, perp_error *error);

// Everything under /model (model_in.c).
perp_status pp_load_model(perp_recording *r, perp_error *error);
