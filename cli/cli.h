// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of cli/: what the verbs of the perp command share.
#pragma once

#include <perp/perp.h>

#include <stdbool.h>
#include <stdio.h>

// What perp tells the shell.
typedef enum cli_exit {
    CLI_FINE = 0,
    CLI_OUTPUT = 1,  // what was computed could not be written
    CLI_INPUT = 2,   // bad command line or bad file
    CLI_UNSOLVED = 3,
} cli_exit;

// A verb gets what follows it on the command line.
typedef cli_exit cli_verb(int count, char **words);
cli_verb cli_solve, cli_info, cli_help;

// "perp: …" on stderr; returns CLI_INPUT.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
cli_exit
cli_complain(const char *format, ...);

// The candidate nearest to word (few typing errors away), or NULL.
const char *cli_suggest(const char *word, const char *const *candidates, int count);

// ── solve: options (options.c) ───────────────────────────────────────────────────────────────────

typedef struct solve_options {
    char **files;  // borrowed from the command line, in order
    int file_count;
    const char *solver;  // "all": every one that takes the problem
    perp_comp_options comp;
    int facets;  // 0: the law of the file
    bool as_lcp;
    bool json, quiet;
    const char *output;  // CSV of z, or NULL
} solve_options;

// Reorders words so that the files stand together. CLI_FINE, or CLI_INPUT after a complaint.
cli_exit solve_options_parse(int count, char **words, solve_options *options);

// ── solve: one problem, one solver (run.c) ───────────────────────────────────────────────────────

// A problem as it is going to be solved: the file's, or what --facets and --form make of it.
typedef struct task {
    perp_problem *problem;
    perp_pyramid *pyramid;
    int *nd;
    const perp_mcp *mcp;  // one of both
    const perp_fcp *fcp;
    perp_fcp faceted;
    const char *name, *kind;
    int n, contacts;
} task;

typedef struct result {
    const char *name, *kind;
    bool contact;  // residuals are those of a contact problem
    int n, contacts;
    const char *solver;  // as asked for; info.solver gave the answer
    perp_comp_info info;
    const double *z;  // n values, or NULL
} result;

// Reads the file and applies the options; complains with file, line and column.
cli_exit task_open(const char *path, const solve_options *options, task *task);
void task_close(task *task);
bool task_takes(const task *task, const perp_solver_card *card);
// z has room for task->n values.
result task_run(const task *task, const char *solver, const solve_options *options, double *z);
bool result_solved(const result *result);

// ── solve: output ────────────────────────────────────────────────────────────────────────────────

void block_print(FILE *out, const result *result);
void table_head(FILE *out, int name_width);
void table_row(FILE *out, int name_width, const result *result);
int table_name_width(const solve_options *options);

void json_print(FILE *out, const result *result);
void json_print_unreadable(FILE *out, const char *path);

// One value a line, or for several results one line each: name, solver, values.
typedef struct csv_file {
    FILE *file;
    const char *path;
    bool single;
} csv_file;
cli_exit csv_open(const solve_options *options, csv_file *csv);
void csv_row(csv_file *csv, const result *result);
cli_exit csv_close(csv_file *csv);
