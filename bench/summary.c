// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The two summaries: problems solved by each solver, and results for each target.
//
// A time target compares a solver of perp with the fastest of the named peers on the same problem in the same
// run. Only problems that both solved count; the worst ratio decides, median and geometric mean are shown.
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ── Solvers ──────────────────────────────────────────────────────────────────────────────────────

static bool first_of_solver(const bench_row *rows, int k)
{
    for (int i = k - 1; i >= 0 && rows[i].suite == rows[k].suite; i--) {
        if (rows[i].solver == rows[k].solver) {
            return false;
        }
    }
    return true;
}

static void print_solver(const bench_row *rows, int count, const bench_row *one)
{
    int run = 0, solved = 0, plain = 0, wrong = 0, none = 0, late = 0, crash = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].suite != one->suite || rows[i].solver != one->solver) {
            continue;
        }
        bench_outcome outcome = rows[i].result.outcome;
        run++;
        solved += outcome == BENCH_SOLVED;
        plain += outcome == BENCH_PLAIN;
        none += outcome == BENCH_NONE;
        late += outcome == BENCH_TIMEOUT;
        crash += outcome == BENCH_CRASH;
        // perp must satisfy both residuals
        wrong += outcome == BENCH_FALSE ||
                 (!one->peer && outcome == BENCH_PLAIN && rows[i].result.claims);
    }
    printf("%-9s %-22s %6d %7d %11d %12d %6d %9d %6d\n", one->suite, one->solver, run, solved,
           plain, none, wrong, late, crash);
}

void bench_summary_solvers(const bench_row *rows, int count)
{
    printf("\n%-9s %-22s %6s %7s %11s %12s %6s %9s %6s\n", "suite", "solver", "run", "solved",
           "plain only", "none exists", "FALSE", "time-out", "crash");
    for (int k = 0; k < count; k++) {
        if (first_of_solver(rows, k)) {
            print_solver(rows, count, &rows[k]);
        }
    }
}

// ── Targets ──────────────────────────────────────────────────────────────────────────────────────

typedef struct target {
    const char *suite, *text, *solver;
    const char *peers;     // names separated by '|': a time target; NULL: a count
    const char *families;  // names separated by '|'; NULL: all
    int low, high;         // sizes
    double value;          // largest ratio; for a count: unsolved problems allowed
    const char *begins;  // how names begin, separated by '|': the geometric mean decides; NULL: all
} target;

#define DANTZIG "Bullet Dantzig|DART Dantzig"
#define SMOOTH  "spd|boxSpd"
#define CONES   "Siconos NSGS|Siconos NSGS-quartic|Siconos NSN_AC|Siconos PROX|Siconos VI_EG"

static const target targets[] = {
    {"lcp", "every solvable LCP and boxed problem", "auto", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"mlcp", "every solvable mixed LCP", "auto", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"mlcp", "time, mixed LCPs", "lemke", "Siconos MLCP_LEMKE", NULL, 0, 1 << 30, 0.7, NULL},
    {"st", "every Stewart-Trinkle LCP", "lemke", NULL, NULL, 0, 700, 0, NULL},
    {"st", "time, n <= 60", "lemke", "Siconos LEMKE", NULL, 0, 60, 0.7, NULL},
    {"st", "time, n = 61..149", "lemke", "Siconos LEMKE", NULL, 61, 149, 0.7, NULL},
    {"st", "time, n = 150..700", "lemke", "Siconos LEMKE", NULL, 150, 700, 0.25, NULL},
    {"pivot", "every problem", "pivot", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"pivot", "time, SPD and boxed, n <= 50", "pivot", DANTZIG, SMOOTH, 0, 50, 1.2, NULL},
    {"pivot", "time, SPD and boxed, n = 500", "pivot", DANTZIG, SMOOTH, 500, 500, 0.15, NULL},
    {"pivot", "time, SPD and boxed, n = 1000", "pivot", DANTZIG, SMOOTH, 1000, 1000, 0.07, NULL},
    {"pivot", "time, PSD", "pivot", "Siconos NEWTON_FB", "psdDeg", 0, 1000, 1.0, NULL},
    {"box", "every box friction problem", "box", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"cone", "cones in space, local, all but one", "ssn", NULL, "space", 0, 1 << 30, 1, NULL},
    {"cone", "time, space, 200 contacts and more", "ssn", CONES, "space", 200, 1 << 30, 0.4, NULL},
    {"cone", "time, space, 200 contacts and more", "auto", CONES, "space", 200, 1 << 30, 0.4, NULL},
    {"cone", "time, space, 1..9 contacts", "auto", CONES, "space", 1, 9, 1.0, NULL},
    {"cone", "time, redundant", "auto", CONES, "space", 0, 1 << 30, 0.4, "OneObject|BoxesStack"},
    {"cone", "cones in the plane", "auto", NULL, "plane", 0, 1 << 30, 0, NULL},
    {"cone", "cones, global form", "auto", NULL, "global", 0, 1 << 30, 0, NULL},
    {"cone4", "cones in space at 1e-4", "auto", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"cone4", "time, 200 contacts and more", "gs", CONES, NULL, 200, 1 << 30, 0.6, NULL},
    {"cone4", "time, 200 contacts and more", "auto", CONES, NULL, 200, 1 << 30, 0.6, NULL},
    {"granular", "granular flow at 1e-6", "auto", NULL, NULL, 0, 1 << 30, 0, NULL},
    {"granular", "time", "auto", "Siconos 2D_NSGS", NULL, 0, 1 << 30, 1.0, NULL},
    {"warm", "warm / cold, lemke", "lemke warm", "lemke", NULL, 0, 1 << 30, 0.2, NULL},
    {"warm", "warm / cold, pivot", "pivot warm", "pivot", NULL, 0, 1 << 30, 0.2, NULL},
    {"warm", "warm / cold, ssn, exact cones", "ssn warm", "ssn", "space", 0, 1 << 30, 0.4, NULL},
};

// name is one of the words of list.
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        bool starts = at == list || at[-1] == '|';
        if (starts && (at[length] == '\0' || at[length] == '|')) {
            return true;
        }
    }
    return false;
}

// name begins with one of the words of list.
static bool begins(const char *list, const char *name)
{
    for (const char *at = list; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, strcspn(at, "|")) == 0) {
            return true;
        }
    }
    return false;
}

static bool in_target(const target *t, const bench_row *row)
{
    return strcmp(t->suite, row->suite) == 0 && row->n >= t->low && row->n <= t->high &&
           (t->families == NULL || listed(t->families, row->family)) &&
           (t->begins == NULL || begins(t->begins, row->problem));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Fastest named peer that solved the problem of rows[k]; the rows of one problem are neighbours.
static double peer_seconds(const target *t, const bench_row *rows, int count, int k)
{
    double best = INFINITY;
    int from = k, to = k;
    while (from > 0 && strcmp(rows[from - 1].problem, rows[k].problem) == 0 &&
           rows[from - 1].suite == rows[k].suite && rows[from - 1].n == rows[k].n) {
        from--;
    }
    while (to + 1 < count && strcmp(rows[to + 1].problem, rows[k].problem) == 0 &&
           rows[to + 1].suite == rows[k].suite && rows[to + 1].n == rows[k].n) {
        to++;
    }
    for (int i = from; i <= to; i++) {
        if (listed(t->peers, rows[i].solver) && bench_solved(&rows[i].result, rows[i].peer)) {
            best = fmin(best, rows[i].result.seconds);
        }
    }
    return best;
}

static void print_time_target(const target *t, const bench_row *rows, int count)
{
    double *ratio = calloc((size_t)count + 1, sizeof *ratio);
    int pairs = 0, worst = -1;
    for (int k = 0; k < count && ratio != NULL; k++) {
        if (in_target(t, &rows[k]) && strcmp(rows[k].solver, t->solver) == 0 &&
            bench_solved(&rows[k].result, false)) {
            double value = rows[k].result.seconds / peer_seconds(t, rows, count, k);
            if (value > 0.0) {
                ratio[pairs++] = value;
                bool leads = worst < 0 || value > rows[worst].result.seconds /
                                                      peer_seconds(t, rows, count, worst);
                worst = leads ? k : worst;
            }
        }
    }
    if (pairs > 0) {
        qsort(ratio, (size_t)pairs, sizeof *ratio, by_value);
        double median = 0.5 * (ratio[(pairs - 1) / 2] + ratio[pairs / 2]);
        double last = ratio[pairs - 1], sum = 0.0;
        for (int k = 0; k < pairs; k++) {
            sum += log(ratio[k]);
        }
        double mean = exp(sum / pairs);
        const char *verdict = last <= t->value     ? "met"
                              : t->begins != NULL  ? (mean <= t->value ? "mean met" : "NOT MET")
                              : median <= t->value ? "median met"
                                                   : "NOT MET";
        printf("%-9s %-36s %-11s median %6.3g mean %6.3g worst %6.3g of %3d, target %5.3g  %-10s "
               "(%s)\n",
               t->suite, t->text, t->solver, median, mean, last, pairs, t->value, verdict,
               rows[worst].problem);
    }
    free(ratio);
}

static void print_count_target(const target *t, const bench_row *rows, int count)
{
    int run = 0, solved = 0, wrong = 0;
    for (int k = 0; k < count; k++) {
        if (in_target(t, &rows[k]) && strcmp(rows[k].solver, t->solver) == 0) {
            bench_outcome outcome = rows[k].result.outcome;
            bool claimed =
                outcome == BENCH_FALSE || (outcome == BENCH_PLAIN && rows[k].result.claims);
            run += !rows[k].unsolvable;
            solved += outcome == BENCH_SOLVED;
            wrong += claimed;
        }
    }
    if (run > 0) {
        bool met = run - solved <= (int)t->value && wrong == 0;
        printf("%-9s %-36s %-11s solved %d of %d, %d false%*s target %d  %s\n", t->suite, t->text,
               t->solver, solved, run, wrong, run < 10 ? 12 : 11, "", run - (int)t->value,
               met ? "met" : "NOT MET");
    }
}

void bench_summary_targets(const bench_row *rows, int count)
{
    printf("\ntargets\n");
    for (size_t k = 0; k < sizeof targets / sizeof targets[0]; k++) {
        if (targets[k].peers != NULL) {
            print_time_target(&targets[k], rows, count);
        } else {
            print_count_target(&targets[k], rows, count);
        }
    }
}
