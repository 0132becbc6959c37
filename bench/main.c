// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench: perp compared with its peers on the same problems in the same run. See docs/benchmarks.md.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: perp_bench [--suite NAME] [--filter TEXT] [--tol R] [--seconds R] [--csv FILE] "
    "[--no-peers]\n"
    "\n"
    "  --suite NAME    one suite only; without it all run, in a few minutes:\n";

static const char usage_end[] =
    "  --filter TEXT   problems whose name contains TEXT\n"
    "  --tol R         tolerance, in place of the suite's\n"
    "  --seconds R     CPU limit of one solve, in place of the suite's\n"
    "  --csv FILE      the table as comma separated values too\n"
    "  --no-peers      perp's solvers only\n"
    "\n"
    "Problem files are looked for in $PERP_DATA_DIR/problems/ncx, else in "
    "../shared/problems/ncx.\n";

static void print_usage(FILE *out)
{
    int count;
    const bench_suite *suites = bench_suites(&count);
    fputs(usage, out);
    for (int k = 0; k < count; k++) {
        fprintf(out, "                    %-9s %s\n", suites[k].name, suites[k].title);
    }
    fputs(usage_end, out);
}

static double parse_positive(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0.0)) {
        fprintf(stderr, "perp_bench: '%s' is not a positive number\n", text);
        exit(2);
    }
    return value;
}

static bench_options parse(int argc, char **argv)
{
    bench_options options = {.peers = true};
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : NULL;
        bool has_value = true;
        if (strcmp(word, "--no-peers") == 0) {
            options.peers = has_value = false;
        } else if (strcmp(word, "--help") == 0) {
            print_usage(stdout);
            exit(0);
        } else if (value != NULL && strcmp(word, "--suite") == 0) {
            options.suite = value;
        } else if (value != NULL && strcmp(word, "--filter") == 0) {
            options.filter = value;
        } else if (value != NULL && strcmp(word, "--csv") == 0) {
            options.csv = value;
        } else if (value != NULL && strcmp(word, "--tol") == 0) {
            options.tolerance = parse_positive(value);
        } else if (value != NULL && strcmp(word, "--seconds") == 0) {
            options.seconds = parse_positive(value);
        } else {
            print_usage(stderr);
            exit(2);
        }
        k += has_value;
    }
    return options;
}

static const char *find_data(void)
{
    const char *data = getenv("PERP_DATA_DIR");
    static char path[2048];
    snprintf(path, sizeof path, "%s/problems/ncx", data != NULL ? data : "../shared");
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        path[strlen(path) - strlen("/problems/ncx")] = '\0';
        return path;
    }
    printf("no problem files (%s; set PERP_DATA_DIR): generated families only\n", path);
    return NULL;
}

// OpenBLAS reads this before main() runs, so the program starts itself again.
static void pin_blas(char **argv)
{
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    if (threads == NULL || strcmp(threads, "1") != 0) {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
}

bool bench_wanted(const bench_context *context, const char *name)
{
    return context->options->filter == NULL || strstr(name, context->options->filter) != NULL;
}

void bench_take(const bench_context *context, bench_problem *problem)
{
    const bench_suite *suite = context->suite;
    const bench_options *options = context->options;
    problem->tolerance = options->tolerance > 0.0 ? options->tolerance : suite->tolerance;
    problem->seconds = options->seconds > 0.0 ? options->seconds : suite->seconds;
    const bench_solver *solvers[BENCH_SOLVERS_MAX];
    bench_result results[BENCH_SOLVERS_MAX];
    int count = 0;
    for (int k = 0; k < BENCH_SOLVERS_MAX && suite->solvers[k] != NULL; k++) {
        const bench_solver *solver = bench_solver_find(suite->solvers[k]);
        if (solver != NULL && (options->peers || !solver->peer) &&
            bench_wanted(context, problem->name) && solver->accepts(solver, problem)) {
            results[count] = bench_run(solver, problem);
            solvers[count++] = solver;
        }
    }
    bench_report_problem(suite, problem, count, solvers, results);
    bench_problem_clear(problem);
}

int main(int argc, char **argv)
{
    bench_options options = parse(argc, argv);
    pin_blas(argv);
    printf("perp %s\n", perp_version());
    bench_peers_print();
    options.data = find_data();
    bench_report_open(&options);
    int count, ran = 0;
    const bench_suite *suites = bench_suites(&count);
    for (int k = 0; k < count; k++) {
        if (options.suite == NULL || strcmp(options.suite, suites[k].name) == 0) {
            bench_context context = {&options, &suites[k]};
            bench_report_suite(&suites[k]);
            suites[k].build(&context);
            ran++;
        }
    }
    bench_report_close();
    if (ran == 0) {
        print_usage(stderr);
        return 2;
    }
    return 0;
}
