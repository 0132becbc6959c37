// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sweep/: points of a sample, signals of a run, and the two stages of reading.
#pragma once

#include "sweep/sweep.h"

enum {
    PP_SOBOL_MOST = 32,        // dimensions
    PP_SWEEP_NAMES = 200,      // parameters, outputs, inputs at most
    PP_SWEEP_LEVELS = 100000,  // of a factor
    PP_SWEEP_NAME = 100,       // characters of a name
    PP_SWEEP_UNIT = 24,        // and of a unit
};
#define PP_SWEEP_RUNS 100000000  // at most: each has a place in memory

// Coordinate d of point k of Sobol's sequence, as 32 bits after the binary point (sobol.c).
uint32_t pp_sobol(int d, uint32_t k);
// 64 random bits for a place of a table: the same for the same place (sample.c).
uint64_t pp_sweep_bits(uint64_t seed, uint64_t row, uint64_t column);
// x with P(X <= x) = p, 0 < p < 1, for a standard normal X (sample.c).
double pp_normal_quantile(double p);
// Permutations of Latin hypercubes, in the arena of the sweep (sample.c).
perp_status pp_sample_prepare(perp_sweep *sweep, perp_error *error);
// The factors of a run, in their units and in SI (sample.c).
void pp_sample_point(const perp_sweep *sweep, int64_t index, double *value, double *si);

// A path into the file, for messages with line and column (file.c).
typedef struct pp_sweep_place {
    const char *text;  // without comments
    size_t size;
    perp_error *error;
    pp_arena *arena;
    pp_json_step path[8];
    int depth;
} pp_sweep_place;
perp_status pp_sweep_fail(pp_sweep_place *p, const char *format, ...) PP_FORMAT(2, 3);
perp_status pp_sweep_fail_inside(pp_sweep_place *p, int column, const char *format, ...)
    PP_FORMAT(3, 4);
perp_status pp_sweep_fail_key(pp_sweep_place *p, const char *format, ...) PP_FORMAT(2, 3);
perp_status pp_sweep_memory(perp_error *error);
// Parses an expression to which the path leads; what: its key, for messages.
perp_status pp_sweep_expression(pp_sweep_place *p, const char *what, const char *text,
                                const char *const *names, int count, const pp_expr **expr);

// The second stage: the scene, and what depends on it (bind.c).
perp_status pp_sweep_bind(perp_sweep *sweep, const char *name,
                          const perp_scene_load_options *reading, perp_error *error);
// The scene of a run; value: of the factors, in their units (bind.c).
perp_status pp_sweep_scene(const perp_sweep *sweep, const double *value, const double *si,
                           const perp_env *env, perp_scene **scene, perp_error *error);

// Names of all signals of a model (signal.c).
perp_status pp_signals_list(pp_signals *signals, const perp_model *model, pp_arena *arena);
// A run: the objects that the used signals refer to, and their values.
typedef struct pp_signal_reader {
    const pp_signals *signals;
    int *handle;
    double *value;  // of all signals; only those in use are set
    int *index;     // signals in use
    int count;
    double work, dissipated;  // sums [J]
    double *scratch;          // values of a sensor
} pp_signal_reader;
perp_status pp_signal_reader_start(pp_signal_reader *r, const pp_signals *signals,
                                   const perp_model *model, pp_arena *arena, perp_error *error);
// Reads the sim: after a step of length h, or with h = 0 before the first one.
perp_status pp_signal_reader_read(pp_signal_reader *r, const perp_sim *sim, double h);

// ── The file (file.c, file_more.c) ───────────────────────────────────────────────────────────────

typedef struct json_t json_t;  // scene/read/json_tree.h

typedef struct pp_sweep_reader {
    pp_sweep_place at;
    perp_sweep *sweep;
    const char *names[2 * PP_SWEEP_NAMES];  // of factors, then of outputs
    int count;
} pp_sweep_reader;

void pp_sweep_enter(pp_sweep_reader *r, const char *key, int index);  // key NULL: element
void pp_sweep_leave(pp_sweep_reader *r);
// All keys of an object are among the words; the path leads to the object.
perp_status pp_sweep_keys(pp_sweep_reader *r, const json_t *object, const char *const *words,
                          int count);
const char *pp_sweep_copy(pp_sweep_reader *r, const char *text);  // in the arena; NULL: no memory
// A text of the file, or NULL if the key is absent.
perp_status pp_sweep_text(pp_sweep_reader *r, const json_t *object, const char *key,
                          const char **text);
// A number at the place of the path.
perp_status pp_sweep_number(pp_sweep_reader *r, const json_t *json, const char *what, double *to);
perp_status pp_sweep_unit(pp_sweep_reader *r, const json_t *object, const char **unit,
                          pp_measure *measure);
// A number, or an expression of the first `count` names.
perp_status pp_sweep_formula(pp_sweep_reader *r, const json_t *json, const char *what, int count,
                             const pp_expr **expr);
// A name that nothing before it has, and that expressions can use.
perp_status pp_sweep_new_name(pp_sweep_reader *r, const char *name);

perp_status pp_sweep_read_outputs(pp_sweep_reader *r, const json_t *root);
perp_status pp_sweep_read_run(pp_sweep_reader *r, const json_t *root);
perp_status pp_sweep_read_record(pp_sweep_reader *r, const json_t *root);
perp_status pp_sweep_read_figures(pp_sweep_reader *r, const json_t *root);
