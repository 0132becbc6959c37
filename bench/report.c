// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The table, the CSV file, and the final summaries.
#include "report.h"
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bench_row *rows;
    int count, room;
    FILE *csv;
} report;

void bench_report_open(const bench_options *options)
{
    memset(&report, 0, sizeof report);
    if (options->csv != NULL) {
        report.csv = fopen(options->csv, "w");
        if (report.csv == NULL) {
            perror(options->csv);
            exit(1);
        }
        fprintf(report.csv, "suite,problem,family,size,solver,peer,status,residual_scaled,"
                            "residual_plain,residual_dynamics,iterations,seconds,repeats,ratio\n");
    }
}

void bench_report_suite(const bench_suite *suite)
{
    printf("\n== %s: %s (tolerance %.0e) ==\n", suite->name, suite->title, suite->tolerance);
    printf("%-40s %6s  %-22s %-11s %9s %9s %8s %12s %8s\n", "problem", "size", "solver", "status",
           "scaled", "plain", "iter", "time [ms]", "ratio");
}

static bench_row *new_row(void)
{
    if (report.count == report.room) {
        report.room = report.room > 0 ? 2 * report.room : 1024;
        bench_row *more = realloc(report.rows, (size_t)report.room * sizeof *more);
        if (more == NULL) {
            fprintf(stderr, "perp_bench: out of memory\n");
            exit(1);
        }
        report.rows = more;
    }
    return &report.rows[report.count++];
}

static const char *outcome_word(const bench_result *result, bool peer)
{
    static const char *const words[] = {
        [BENCH_SOLVED] = "solved", [BENCH_PLAIN] = "plain only", [BENCH_FAILED] = "failed",
        [BENCH_FALSE] = "FALSE",   [BENCH_NONE] = "none exists", [BENCH_TIMEOUT] = "time-out",
        [BENCH_CRASH] = "crash",
    };
    // the status word of perp is more specific: ray, limit, infeasible, refused
    bool own = !peer && result->outcome == BENCH_FAILED && result->word[0] != '\0';
    return own ? result->word : words[result->outcome];
}

static double best_peer(int count, const bench_solver *const *solvers, const bench_result *results)
{
    double best = INFINITY;
    for (int k = 0; k < count; k++) {
        if (solvers[k]->peer && bench_solved(&results[k], true)) {
            best = fmin(best, results[k].seconds);
        }
    }
    return best;
}

static void print_row(const bench_row *row, bool first, double ratio)
{
    const bench_result *r = &row->result;
    char time[16] = "", times[16] = "";
    if (isfinite(r->seconds)) {
        snprintf(time, sizeof time, "%.4f", 1e3 * r->seconds);
    }
    if (isfinite(ratio) && ratio > 0.0 && bench_solved(r, row->peer)) {
        snprintf(times, sizeof times, "%.3g", ratio);
    }
    const char *status = outcome_word(r, row->peer);
    char size[16] = "";
    if (first) {
        snprintf(size, sizeof size, "%d", row->n);
    }
    printf("%-40.40s %6s  %-22s %-11s %9.1e %9.1e %8d %12s %8s\n", first ? row->problem : "", size,
           row->solver, status, r->scaled, fmax(r->plain, r->dynamics), r->iterations, time, times);
    if (report.csv != NULL) {
        fprintf(report.csv, "%s,%s,%s,%d,%s,%d,%s,%.3e,%.3e,%.3e,%d,%.9g,%d,%s\n", row->suite,
                row->problem, row->family, row->n, row->solver, row->peer, status, r->scaled,
                r->plain, r->dynamics, r->iterations, r->seconds, r->repeats, times);
    }
}

void bench_report_problem(const bench_suite *suite, const bench_problem *problem, int count,
                          const bench_solver *const *solvers, const bench_result *results)
{
    double best = best_peer(count, solvers, results);
    for (int k = 0; k < count; k++) {
        bench_row *row = new_row();
        *row = (bench_row){.suite = suite->name,
                           .family = problem->family,
                           .solver = solvers[k]->name,
                           .peer = solvers[k]->peer,
                           .unsolvable = problem->unsolvable,
                           .n = problem->n,
                           .result = results[k]};
        memcpy(row->problem, problem->name, sizeof row->problem);
        print_row(row, k == 0, results[k].seconds / best);
    }
    fflush(stdout);
}

void bench_report_close(void)
{
    bench_summary_solvers(report.rows, report.count);
    bench_summary_targets(report.rows, report.count);
    if (report.csv != NULL) {
        fclose(report.csv);
    }
    free(report.rows);
}
