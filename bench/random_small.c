// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_stress [count [seed]]: random small LCPs and MCPs through auto, lemke and pivot against the
// enumeration of all their solutions. Exit code 1 if a wrong answer was accepted, a solvable problem was
// called infeasible, or auto missed a solution.
#include "support/contest.h"

#include <perp/comp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_MAX = 12, SOLVERS = 3 };

static const char *const solvers[SOLVERS] = {"auto", "lemke", "pivot"};

// Small ones mostly: enumeration costs 2^n to 3^n.
static int random_size(random_kind kind, rng *r)
{
    int dice = rng_below(r, 1000);
    bool boxes = kind == RANDOM_MIXED || kind == RANDOM_MIXED_GENERAL;
    if (dice < 990) {
        return 1 + rng_below(r, boxes ? 4 : 5);
    }
    return dice < 999 ? 6 + rng_below(r, boxes ? 1 : 3) : boxes ? 8 : 9 + rng_below(r, 4);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int report(const char *solver, random_kind kind, const tally *t)
{
    bool is_auto = solver == solvers[0];
    bool bad = t->wrong > 0 || t->false_infeasible > 0 || (is_auto && t->missed > 0);
    printf("%-14s %-6s %9ld %9ld %7ld %8ld %5ld %8ld %6ld %6ld %7ld   %.0e%s\n",
           random_kind_name(kind), solver, t->problems, t->solved, t->inexact, t->none, t->doubtful,
           t->missed, t->false_infeasible, t->wrong, t->unsure, t->worst_backward,
           bad ? "  BAD" : "");
    if (t->wrong) {
        printf("    wrong: seed %llu\n", (unsigned long long)t->wrong_seed);
    }
    if (t->missed) {
        printf("    missed: seed %llu\n", (unsigned long long)t->missed_seed);
    }
    if (t->unsure) {
        printf("    unsure: seed %llu\n", (unsigned long long)t->unsure_seed);
    }
    return bad;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static tally tallies[RANDOM_KINDS][SOLVERS];
    problem *p = problem_create(N_MAX);
    perp_workspace *work = perp_workspace_create(NULL);
    double start = cpu_seconds();
    for (long k = 0; k < count; k++, seed++) {
        random_kind kind = (random_kind)(seed % RANDOM_KINDS);
        rng r = rng_seed(seed);
        int n = random_size(kind, &r);
        random_problem(p, n, kind, &r);
        answer_key key = contest_key(&p->mcp);
        for (int s = 0; s < SOLVERS; s++) {
            contest_enter(solvers[s], &p->mcp, &key, seed, work, &tallies[kind][s]);
        }
    }
    printf("%-14s %-6s %9s %9s %7s %8s %5s %8s %6s %6s %7s   %s\n", "family", "solver", "problems",
           "solved", "inexact", "none", "doubt", "missed", "false", "WRONG", "unsure", "backward");
    int bad = 0;
    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        for (int s = 0; s < SOLVERS; s++) {
            bad |= report(solvers[s], (random_kind)kind, &tallies[kind][s]);
        }
    }
    printf("%ld problems, %.1f s CPU\n", count, cpu_seconds() - start);
    perp_workspace_destroy(work);
    problem_destroy(p);
    return bad;
}
