// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of sweep/: a sweep file as it was read, and tables of results, for figures.
//
// Words: a factor is a parameter that is varied, its levels are the values of a grid or list; a factor without levels is
// drawn from a distribution, or derived from others. An output reduces a signal, an expression over the state of the
// run, to one number.
#pragma once

#include "expr/expr.h"
#include "scene/scene.h"

#include <perp/sweep.h>

typedef enum pp_factor_kind {
    PP_FACTOR_LEVELS,       // a grid or a list
    PP_FACTOR_UNIFORM,      // a, b: lower and upper bound
    PP_FACTOR_LOG_UNIFORM,  // likewise, uniform in the logarithm
    PP_FACTOR_NORMAL,       // a, b: mean and standard deviation
    PP_FACTOR_DERIVED,      // an expression of the factors before it
} pp_factor_kind;

// Where the value of a factor goes.
typedef enum pp_factor_use {
    PP_USE_NONE,   // into expressions of the sweep file only
    PP_USE_SCENE,  // a parameter of the scene
    PP_USE_OPTION  // an option of the generator
} pp_factor_use;

typedef struct pp_factor {
    const char *name, *unit;
    pp_measure measure;  // of the unit
    pp_factor_kind kind;
    pp_factor_use use;
    bool log;  // levels and distributions that are even in the logarithm
    const double *level;
    int levels;
    double a, b;
    const pp_expr *expr;
} pp_factor;

typedef enum pp_sampling { PP_SAMPLING_RANDOM, PP_SAMPLING_LATIN, PP_SAMPLING_SOBOL } pp_sampling;

typedef enum pp_reducer {
    PP_REDUCE_FINAL,
    PP_REDUCE_INITIAL,
    PP_REDUCE_LOWEST,
    PP_REDUCE_HIGHEST,
    PP_REDUCE_MEAN,      // over time
    PP_REDUCE_INTEGRAL,  // over time
    PP_REDUCE_SUM,       // over the steps
    PP_REDUCE_FIRST,     // the time at which a condition holds first [s]
    PP_REDUCE_EVENT,     // the time of the first event of a kind [s]
    PP_REDUCE_VALUE,     // an expression of parameters and outputs before it
} pp_reducer;

typedef struct pp_output {
    const char *name, *unit;
    pp_measure measure;
    pp_reducer reducer;
    const char *text;
    const pp_expr *expr;
    int event;  // PP_REDUCE_EVENT: a perp_event_kind
} pp_output;

// A figure that the file asks for. Columns by number; y < 0: response curves over x.
typedef struct pp_sweep_curve {
    const char *label;
    const pp_expr *expr;  // of all parameters, in SI, of which that of x varies
} pp_sweep_curve;
typedef struct pp_sweep_figure {
    const char *title;
    int x, y, output;
    const pp_sweep_curve *curve;
    int curves;
} pp_sweep_figure;

// What stands for a number in the file: a number, or an expression of the factors.
typedef struct pp_sweep_value {
    const char *name;
    const pp_expr *expr;
} pp_sweep_value;

// ── Signals (signal.c): what outputs are expressions of ──────────────────────────────────────────

typedef struct pp_signal {
    int kind, part;      // private to signal.c
    const char *object;  // NULL: none
} pp_signal;

typedef struct pp_signals {
    const char **name;
    pp_signal *signal;
    int count;
    bool *used;
} pp_signals;

struct perp_sweep {
    perp_env env;
    pp_arena *arena;
    const char *text;  // of the file
    size_t size;
    const char *name, *description;
    pp_factor *factor;
    int factors;
    pp_sampling sampling;
    int64_t samples;  // of the distributions; 1: there are none
    int64_t runs;
    uint64_t seed;
    bool seeded;
    uint32_t **order;  // Latin hypercube: a permutation of the samples for each distribution
    pp_output *output;
    int outputs;
    perp_sweep_column *column;
    int columns;
    perp_sweep_limits limits;
    // the runs
    const pp_expr *step, *until;  // NULL: of the scene
    const pp_expr *stop;          // of signals; NULL: none
    const char *stop_text;
    pp_sweep_value *input;
    int inputs;
    // recordings
    const int64_t *recorded;
    int recordeds;
    int64_t every;         // 0: none
    const pp_expr *where;  // of parameters and outputs; NULL: none
    // figures
    pp_sweep_figure *figure;
    int figures;
    // the scene
    const char *scene_name;  // its file, or the name of a generator
    bool generated;
    perp_generator_option *option;  // of the generator, as given
    int options;
    const char *scene_path, *scene_text;
    size_t scene_size;
    const perp_scene_file *file;
    int files;
    perp_scene_load_options reading;
    pp_signals signals;
    uint64_t identity;
};

// Reads the text of a sweep without its scene: enough for tables and figures (file.c).
perp_status pp_sweep_read(const char *text, size_t size, const perp_env *env, perp_sweep **out,
                          perp_error *error);
// The value of a factor or output in SI from that in its unit, and back.
double pp_sweep_to_si(const pp_measure *measure, double value);
double pp_sweep_from_si(const pp_measure *measure, double value);

// sweep.h5 read back: the sweep, and columns of numbers.
typedef struct pp_sweep_results {
    perp_sweep *sweep;
    int64_t runs;
    double **column;  // runs values each
    unsigned char *status;
} pp_sweep_results;
perp_status pp_sweep_results_read(const char *path, const perp_env *env, pp_arena *arena,
                                  pp_sweep_results *out, perp_error *error);
