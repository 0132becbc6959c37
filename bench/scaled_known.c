// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_stress_units [count [seed [powers]]]: problems with known solutions in units up to 2^powers apart, through auto
// and the other solvers. Accepted answers are compared with the solution, not with a residual. Exit code 1 if a wrong
// answer was accepted, or a solvable problem was called infeasible.
#include "support/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WRONG = 1e-6;  // part of the largest number of the answer

enum { SOLVERS = 7 };

static const char *const solvers[SOLVERS] = {"auto", "lemke", "pivot", "ssn", "gs", "eg", "enum"};

typedef struct counts {
    long problems, solved, inexact, inexact_wrong, failed, infeasible, wrong;
    double worst;
    uint64_t seed;
} counts;

static bool takes(int solver, known_kind kind, const known *p)
{
    bool contact = kind >= KNOWN_PLANE, of_mcp = solver == 1 || solver == 2 || solver == 6;
    bool of_contact = solver == 4 || solver == 5;
    (void)p;
    return contact ? !of_mcp : !of_contact;
}

static void enter(const known *p, int solver, uint64_t seed, perp_workspace *work, counts *t)
{
    double error;
    perp_comp_info info;
    perp_status status = known_solve(p, solvers[solver], work, &error, &info);
    t->problems++;
    t->solved += status == PERP_OK;
    t->inexact += status == PERP_INEXACT;
    t->inexact_wrong += status == PERP_INEXACT && !(error <= 1e-3);
    t->failed += status < 0;
    t->infeasible += status == PERP_ERR_INFEASIBLE;
    if (status == PERP_OK && !(error <= t->worst)) {
        t->worst = error;
    }
    bool wrong = status == PERP_OK && !(error <= WRONG);
    t->wrong += wrong;
    if (wrong || status == PERP_ERR_INFEASIBLE) {
        t->seed = seed;
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int powers = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 40;
    int every = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 10;
    static counts all[KNOWN_KINDS][KNOWN_UNITS][SOLVERS];
    static known p;
    perp_workspace *work = perp_workspace_create(NULL);
    for (long k = 0; k < count; k++, seed++) {
        known_kind kind = (known_kind)(seed % KNOWN_KINDS);
        known_units units = (known_units)(seed / KNOWN_KINDS % KNOWN_UNITS);
        rng random = rng_seed(seed);
        known_make(&p, kind, units, powers, &random);
        for (int s = 0; s < SOLVERS; s++) {
            if (takes(s, kind, &p) && (s == 0 || k / (KNOWN_KINDS * KNOWN_UNITS) % every == 0)) {
                enter(&p, s, seed, work, &all[kind][units][s]);
            }
        }
    }
    perp_workspace_destroy(work);
    bool bad = false;
    printf("%-7s %-8s %-6s %9s %9s %8s %8s %8s %6s %6s   %s\n", "kind", "units", "solver",
           "problems", "solved", "inexact", "and off", "failed", "false", "WRONG", "worst");
    for (int kind = 0; kind < KNOWN_KINDS; kind++) {
        for (int u = 0; u < KNOWN_UNITS; u++) {
            for (int s = 0; s < SOLVERS; s++) {
                const counts *t = &all[kind][u][s];
                if (t->problems > 0) {
                    printf("%-7s %-8s %-6s %9ld %9ld %8ld %8ld %8ld %6ld %6ld   %.0e",
                           known_kind_name((known_kind)kind), known_units_name((known_units)u),
                           solvers[s], t->problems, t->solved, t->inexact, t->inexact_wrong,
                           t->failed, t->infeasible, t->wrong, t->worst);
                    printf(t->wrong || t->infeasible ? "   seed %llu\n" : "\n",
                           (unsigned long long)t->seed);
                    bad = bad || t->wrong || t->infeasible;
                }
            }
        }
    }
    return bad;
}
