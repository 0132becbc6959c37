// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of cli/: declarations shared by the verbs of the perp command.
#pragma once

#include <perp/io.h>

#include <stdbool.h>
#include <stdio.h>

// Exit codes.
typedef enum cli_exit {
    CLI_FINE = 0,
    CLI_OUTPUT = 1,  // the output could not be written
    CLI_INPUT = 2,   // bad command line or file
    CLI_UNSOLVED = 3,
    CLI_VIOLATED = 4,       // solved, but the certificate does not hold
    CLI_INTERRUPTED = 130,  // by a signal; recorded up to that point
    CLI_LISTED = -1,        // completions were printed
} cli_exit;

// A verb gets the words that follow it on the command line.
typedef cli_exit cli_verb(int count, char **words);
cli_verb cli_sweep, cli_view, cli_render, cli_run, cli_explain, cli_check, cli_plot, cli_compare,
    cli_scene;
cli_verb cli_solve, cli_info, cli_info_scene, cli_help, cli_complete, cli_doctor, cli_import;
const char *cli_verb_name(int k);  // NULL past the last
cli_exit cli_verb_run(const char *name, int count, char **words);

// Prints "perp: …" on stderr, escaped to a single line; returns CLI_INPUT.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
cli_exit
cli_complain(const char *format, ...);

// The name with control characters escaped, safe for a terminal. Valid for a few more calls.
const char *cli_plain(const char *name);

// Installs `handle` for the signals that end a program, except ignored ones (nohup).
void cli_catch(void (*handle)(int number));

// The candidate closest to word (within a few typing errors), or NULL.
const char *cli_suggest(const char *word, const char *const *candidates, int count);

// ── Options of a verb (options.c) ─────────────────────────────────────────────────

typedef enum cli_option_kind {
    CLI_FLAG,      // bool
    CLI_TEXT,      // const char *, not empty
    CLI_REAL,      // double >= 0
    CLI_POSITIVE,  // double > 0
    CLI_COUNT,     // int >= 1
    CLI_WORD,      // int: index of one of the words
    CLI_SOLVER,    // const char *, the name of a solver
    CLI_SET,       // perp_scene_load_options: name=value, any number of times
} cli_option_kind;

typedef struct cli_option {
    const char *name;  // "--step"
    cli_option_kind kind;
    void *value;
    const char *(*word)(int);  // CLI_WORD: NULL past the last
} cli_option;

// Stores the file names among the words, exactly `files` of them. CLI_FINE, or CLI_INPUT after an error message.
cli_exit cli_options_parse(const char *verb, int count, char **words, const cli_option *options,
                           int option_count, const char **file, int files);
// The same with up to `most` words. name: completions of the words after the first, or NULL.
typedef struct cli_words {
    const char **word;
    int most;
    int *count;
    const char *(*name)(int);
} cli_words;
cli_exit cli_options_parse_words(const char *verb, int count, char **words,
                                 const cli_option *options, int option_count,
                                 const cli_words *room);
// Prints the help page if the first word asks for it.
bool cli_wants_help(const char *verb, int count, char **words);
// The selectable solver of this name; NULL: none.
const perp_solver_card *cli_solver_by_name(const char *name);
cli_exit cli_solver_check(const char *option, const char *name, const char *also);

// ── Completion (complete.c) ─────────────────────────────────────────────────────────────────

bool cli_completes(int count, char **words);  // the first word requests completion
cli_exit cli_complete_options(int count, char **words, const cli_option *options, int n,
                              const char *(*name)(int));
void cli_complete_solvers(void);

// ── Scenes and recordings (open.c): error messages name file, line and column ───────────────────────────

// The reading options of every verb that takes a scene.
#define CLI_READING(reading)                                                                       \
    {"--max-mb", CLI_POSITIVE, &(reading).max_mb, NULL}, {"--set", CLI_SET, &(reading), NULL},     \
        {"--allow-outside", CLI_FLAG, &(reading).outside, NULL}, CLI_ROBOT((reading).import)
// Those of robots.
#define CLI_ROBOT(robot)                                                                           \
    {"--missing-mesh", CLI_WORD, &(robot).missing, perp_import_missing_word},                      \
        {"--package-path", CLI_TEXT, (void *)&(robot).package_path, NULL},                         \
        {"--free-base", CLI_FLAG, &(robot).free_base, NULL},                                       \
        {"--keep-fixed", CLI_FLAG, &(robot).keep_fixed, NULL},                                     \
    {                                                                                              \
        "--strict", CLI_FLAG, &(robot).strict, NULL                                                \
    }
// The keyframe of this name; complains with those that the scene has. name: NULL: *to stays.
cli_exit cli_keyframe_find(const char *path, const perp_scene *scene, const char *name,
                           perp_keyframe *to);
cli_exit cli_scene_open(const char *path, const perp_scene_load_options *reading,
                        perp_scene **scene);
cli_exit cli_recording_open(const char *path, perp_recording **recording);

// ── The viewer (page.c) ──────────────────────────────────────────────────────────────────────────

const char *cli_page(size_t *size);  // NULL: built without the viewer
cli_exit cli_no_page(const char *verb);
// Writes DIR/replay.html.
cli_exit cli_replay_write(const char *verb, perp_recording *recording, const char *dir,
                          double megabytes, bool quiet);
// Writes a page that plays recordings given by their names: the first, with up to REPLAY_RUNS - 1 others to compare with.
enum { REPLAY_RUNS = 8 };
cli_exit cli_replay_write_of(const char *verb, const char *const *file, int count, const char *path,
                             double megabytes, bool quiet);
// The directory of a recording given by its directory or by the path of its run.h5.
void cli_recording_dir(const char *path, char *dir, size_t size);

// The directory with docs/, scenes/ and examples/: relative to the installed program, in the source tree, or at the
// configured install path. false: not found (place.c).
bool cli_data_folder(char *folder, size_t size);

// Prints what the import of a robot left out, repaired and assumed, in numbers; nothing for other scenes (left_out.c).
void cli_import_line(const perp_scene *scene, const char *see);
// Prints the number of excluded pairs of shapes (left_out.c).
void cli_left_out(const perp_model *model);

// ── JSON on stdout (json.c) ──────────────────────────────────────────────────────────────────────

void cli_json_string(FILE *out, const char *text);
void cli_json_number(FILE *out, double value);  // null if not finite

// ── run: the progress line (progress.c) ───────────────────────────────────────────────────

typedef struct progress {
    bool shown;  // stderr is a terminal, and -q was not given
    double began, next;
    double start, end;  // simulated time
} progress;

double cli_seconds(void);  // monotonic clock [s]
progress progress_begin(bool wanted, double start, double end);
void progress_step(progress *p, const perp_sim *sim, double residual);
void progress_end(progress *p);

// ── explain: a problem as text, JSON or LaTeX (explain_*.c) ──────────────────────────────────────────

typedef struct explained {
    const char *scene;
    double t, h;
    const perp_step_problem *problem;
    const char *status;  // of the step
    bool spatial;
    const perp_step_info *info;
} explained;

// The matrices in the order of the literature; returns how many. W_m only if there are motors.
typedef struct shown_matrix {
    const char *key, *symbol, *unit, *what;
    int rows, cols;
    perp_matrix A;
    const char *const *row_name, *const *col_name;
} shown_matrix;
enum { SHOWN_MOST = 9 };
int explained_matrices(const explained *e, shown_matrix out[SHOWN_MOST]);
double shown_entry(const shown_matrix *m, int row, int col);

typedef struct shown_block {
    const char *key, *symbol, *unit, *slack_unit, *what;
    int size;
} shown_block;
enum { SHOWN_BLOCKS = 6 };
void explained_blocks(const explained *e, shown_block out[SHOWN_BLOCKS]);
const char *const *explained_names(const explained *e);  // of z, in its order

void explain_matrix(FILE *out, const shown_matrix *m);
void explain_text(FILE *out, const explained *e);
void explain_json(FILE *out, const explained *e);
void explain_latex(FILE *out, const explained *e);
// The equations of motion in joint coordinates at the state of the sim.
cli_exit explain_tree(FILE *out, const char *scene, const perp_sim *sim, const perp_sim_def *def,
                      double epsilon, bool as_json);
// The contact loads of the last step; false: out of memory, or too many contacts.
bool explain_loads(FILE *out, const perp_sim *sim, double h, bool json);

// ── solve: options (solve_options.c) ─────────────────────────────────────────────────────────────

typedef struct solve_options {
    char **files;  // borrowed from the command line, in order
    int file_count;
    const char *solver;  // "all": every one that accepts the problem
    perp_comp_options comp;
    int facets;  // 0: the friction law of the file
    bool as_lcp;
    bool json, quiet;
    const char *output;  // CSV of z, or NULL
} solve_options;

// Moves the file names to the front of words. CLI_FINE, or CLI_INPUT after an error message.
cli_exit solve_options_parse(int count, char **words, solve_options *options);

// ── solve: one problem, one solver (solve_task.c) ────────────────────────────────────────────────

// The problem to solve: that of the file, changed by --facets and --form.
typedef struct task {
    perp_problem *problem;
    perp_pyramid *pyramid;
    int *nd;
    const perp_mcp *mcp;  // exactly one of mcp, fcp and ncp is set
    const perp_fcp *fcp;
    const perp_ncp *ncp;
    perp_fcp faceted;
    const char *name, *kind;
    int n, contacts;
} task;

typedef struct result {
    const char *name, *kind;
    bool contact;                 // residuals of a contact problem
    const perp_problem *problem;  // that names its variables
    int n, contacts;
    const char *solver;  // as requested; info.solver found the answer
    perp_comp_info info;
    const double *z;  // n values, or NULL
} result;

// Reads the file and applies the options; error messages name file, line and column.
cli_exit task_open(const char *path, const solve_options *options, task *task);
void task_close(task *task);
bool task_takes(const task *task, const perp_solver_card *card);
// z must have room for task->n values.
result task_run(const task *task, const char *solver, const solve_options *options, double *z);
bool result_solved(const result *result);

// ── solve: output (solve_table.c, solve_json.c) ──────────────────────────────────────────────────

void block_print(FILE *out, const result *result);
void table_head(FILE *out, int name_width);
void table_row(FILE *out, int name_width, const result *result);
int table_name_width(const solve_options *options);

void json_print(FILE *out, const result *result);
void json_print_unreadable(FILE *out, const char *path);

// One value per line; for several results one line each: name, solver, values.
typedef struct csv_file {
    FILE *file;
    const char *path;
    bool single;
} csv_file;
cli_exit csv_open(const solve_options *options, csv_file *csv);
void csv_row(csv_file *csv, const result *result);
cli_exit csv_close(csv_file *csv);

// ── run --profile (profile.c) ────────────────────────────────────────────────────────────────────

// Sums over the steps of a run; zero-initialised.
typedef struct cli_profile {
    double seconds[PERP_STAGE_COUNT], longest;
    perp_effort effort;  // seconds summed; fill and flops of the largest
    int64_t steps, repeated, touching, unfactored, contacts, guessed, islands, solvers,
        factorisations;
    int most, apart;       // most factorisations and islands in one step
    double work, hardest;  // in factorisations: total, and most in one step
} cli_profile;

void cli_profile_step(cli_profile *profile, const perp_step_info *info);
void cli_profile_print(const cli_profile *profile, FILE *out);
