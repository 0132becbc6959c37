// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps: many runs of one scene with different parameters (docs/sweeps.md, scenes/sweep.schema.json).
//
// The parameters of run `index` are a pure function of the sweep file, and the outputs of a run are a pure function of
// its parameters, so that runs can be made in any order, by any number of processes, and again. Rows of finished runs
// are appended to shards, files that survive a kill at any moment; a table reads all shards of a directory and writes
// sweep.csv and sweep.h5. The library starts no processes: `perp sweep` does.
#pragma once

#include <perp/base.h>
#include <perp/scene.h>

typedef struct perp_sweep perp_sweep;

// How a run ended. Outputs are there for the first two only.
typedef enum perp_run_status {
    PERP_RUN_SOLVED,
    PERP_RUN_VIOLATED,  // solved, but the certificate was violated in some steps
    PERP_RUN_UNSOLVED,  // a step was not solved
    PERP_RUN_REFUSED,   // no scene, or no sim, for these parameters
    PERP_RUN_TIME,      // longer than the time limit
    PERP_RUN_MEMORY,    // more than the memory limit
    PERP_RUN_CRASHED,   // its process was ended by a signal
    PERP_RUN_MISSING,   // not run yet
    PERP_RUN_COUNT,
} perp_run_status;

PERP_API const char *
perp_run_status_word(int status);  // solved violated … missing; NULL past the last

// A column of the results: the parameters in the order of the file, then the outputs.
typedef struct perp_sweep_column {
    const char *name;
    const char *unit;  // of its values; "": none
    bool output;
} perp_sweep_column;

// The result of a run.
typedef struct perp_sweep_row {
    int64_t index;
    perp_run_status status;
    double *value;     // one per column, in the order of the columns; NaN: none
    char reason[200];  // one line; "": solved
} perp_sweep_row;

// Limits of a run, for whoever starts processes.
typedef struct perp_sweep_limits {
    double seconds;    // of processor time [s]; default 3600
    double megabytes;  // of memory beyond that of the process [10^6 bytes]; default 4000
} perp_sweep_limits;

// Reads a sweep file and its scene, and checks both. On failure *sweep is NULL and error has line, column and remedy.
// reading: NULL: the default; `set` is not allowed.
PERP_API PERP_MUST perp_status perp_sweep_load(const char *path,
                                               const perp_scene_load_options *reading,
                                               const perp_env *env, perp_sweep **sweep,
                                               perp_error *error);
// The same from memory; files are looked for in the directory of `name`.
PERP_API PERP_MUST perp_status perp_sweep_parse(const char *name, const char *text, size_t size,
                                                const perp_scene_load_options *reading,
                                                const perp_env *env, perp_sweep **sweep,
                                                perp_error *error);
PERP_API void perp_sweep_destroy(perp_sweep *sweep);

// Borrowed from the sweep.
PERP_API const char *perp_sweep_name(const perp_sweep *sweep);
PERP_API const char *perp_sweep_description(const perp_sweep *sweep);
PERP_API int64_t perp_sweep_runs(const perp_sweep *sweep);
PERP_API const perp_sweep_column *perp_sweep_columns(const perp_sweep *sweep, int *count);
PERP_API int perp_sweep_parameters(const perp_sweep *sweep);  // the first columns
PERP_API perp_sweep_limits perp_sweep_limit(const perp_sweep *sweep);
// Changes with the sweep file, the scene, the files it names and the version of perp: rows of different sweeps do not mix.
PERP_API uint64_t perp_sweep_identity(const perp_sweep *sweep);

// The parameters of a run, in the units of their columns; perp_sweep_parameters values.
PERP_API PERP_MUST perp_status perp_sweep_point(const perp_sweep *sweep, int64_t index,
                                                double *value);
// Simulates a run and fills the row; row->value has room for all columns. Everything that can go wrong in a run is in
// the status of the row; the status returned is negative only for wrong arguments. dir: the run is recorded there; NULL:
// it is not. Several threads and processes may call it for the same sweep.
PERP_API PERP_MUST perp_status perp_sweep_run(const perp_sweep *sweep, int64_t index,
                                              const char *dir, const perp_env *env,
                                              perp_sweep_row *row);
// Fills a row for a run that ended without its own words: a time limit, a crash.
PERP_API void perp_sweep_row_failed(const perp_sweep *sweep, int64_t index, perp_run_status status,
                                    const char *reason, perp_sweep_row *row);
// Whether the sweep file wants a recording of the run: before it was run, and after it.
PERP_API bool perp_sweep_recorded_always(const perp_sweep *sweep, int64_t index);
PERP_API bool perp_sweep_recorded_after(const perp_sweep *sweep, const perp_sweep_row *row);

// ── Rows as bytes: between processes, and in shards ──────────────────────────────────────────────

// Largest size of a row in bytes. The bytes have a checksum.
PERP_API size_t perp_sweep_row_room(const perp_sweep *sweep);
PERP_API size_t perp_sweep_row_pack(const perp_sweep *sweep, const perp_sweep_row *row, void *bytes,
                                    size_t size);
// Bytes that the row at the front takes; 0: it is not complete yet; SIZE_MAX: these bytes are no row of this sweep.
PERP_API size_t perp_sweep_row_size(const perp_sweep *sweep, const void *bytes, size_t size);
// false: the checksum is wrong, or the bytes are no row of this sweep. row->value has room for all columns.
PERP_API bool perp_sweep_row_unpack(const perp_sweep *sweep, const void *bytes, size_t size,
                                    perp_sweep_row *row);

// ── Shards and the table of all runs ─────────────────────────────────────────────────────────────

typedef struct perp_shard perp_shard;

// Opens DIR/shards/NAME.shard for appending and creates what is missing. A row that was cut off by a kill is removed.
// Locked until it is closed. Fails if DIR has other files and no sweep, the shard belongs to another sweep, or, without
// `resume`, it has rows.
PERP_API PERP_MUST perp_status perp_shard_open(const perp_sweep *sweep, const char *dir,
                                               const char *name, bool resume, perp_shard **shard,
                                               perp_error *error);
PERP_API PERP_MUST perp_status perp_shard_append(perp_shard *shard, const void *row, size_t size,
                                                 perp_error *error);
PERP_API PERP_MUST perp_status perp_shard_close(perp_shard *shard, perp_error *error);

typedef struct perp_sweep_table perp_sweep_table;

// Reads all shards of a directory. Of several rows of a run it keeps a solved one, otherwise the first by name of the
// shard; damaged rows count as missing.
PERP_API PERP_MUST perp_status perp_sweep_table_read(const perp_sweep *sweep, const char *dir,
                                                     const perp_env *env, perp_sweep_table **table,
                                                     perp_error *error);
PERP_API void perp_sweep_table_destroy(perp_sweep_table *table);
PERP_API bool perp_sweep_table_has(const perp_sweep_table *table, int64_t index);
PERP_API void perp_sweep_table_row(const perp_sweep_table *table, int64_t index,
                                   perp_sweep_row *row);
PERP_API int64_t perp_sweep_table_count(const perp_sweep_table *table, perp_run_status status);
// Writes DIR/sweep.csv and DIR/sweep.h5; their bytes depend on the rows only.
PERP_API PERP_MUST perp_status perp_sweep_table_write(const perp_sweep_table *table,
                                                      const char *dir, perp_error *error);
