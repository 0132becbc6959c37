// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// run.h5 as it is written: rows gather in memory and reach the file at flushes.
//
// The file is in HDF5's single-writer-multiple-reader mode from its first row on: what is on the
// disk is consistent at any moment. A flush writes all columns first, and then, apart from them,
// how many frames are good: a reader believes that number, so that a kill between two columns costs
// one flush and spoils nothing.
#pragma once

#include "record/layout.h"
#include "record/text.h"

// Rows of one column that wait for the next flush.
typedef struct pp_buffer {
    hid_t dataset;  // -1: the column has width 0
    size_t width;   // values a row
    char *rows;     // not yet in the file
    size_t count, room;
    hsize_t written;
} pp_buffer;

typedef struct pp_store {
    perp_env env;
    char path[PP_PATH_MAX];
    pp_h5_sizes sizes;
    hid_t file, progress;  // progress: the dataset of (frames, complete)
    pp_buffer column[PP_TABLES][PP_COLUMN_COUNT];
    pp_h5_table table;  // that rows are added to
    size_t pending;     // bytes in the buffers
    double flushed;     // when [s]
    bool failed;        // a flush ended half-way: the columns are not equally long
} pp_store;

// Nothing open yet: pp_store_close is fine from here on.
void pp_store_start(pp_store *store, const perp_env *env);
// The file with the model in it; `scene` is its text, or "".
perp_status pp_store_create(pp_store *store, const char *path, const perp_sim *sim,
                            const perp_record_def *def, perp_error *error);
// Datasets of the columns, then the switch to SWMR: nothing but rows is added from here on.
perp_status pp_store_begin(pp_store *store, perp_error *error);
// `count` new rows of a column, to be filled; NULL: out of memory. Width 0: a pointer not to be
// used.
void *pp_store_rows(pp_store *store, pp_h5_column column, size_t count);
perp_status pp_store_flush(pp_store *store, bool complete, perp_error *error);
// Closes the file; false: what was to be written has not all arrived.
bool pp_store_close(pp_store *store);

// What is written once (model_out.c).
perp_status pp_store_model(pp_store *store, const perp_sim *sim, const perp_record_def *def,
                           perp_error *error);
