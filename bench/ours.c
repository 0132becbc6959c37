// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The solvers of perp behind the interface of the benchmark. The whole public call is timed: checks, solving
// and judging. Like the peers they keep their workspace between repeats, and nothing else.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLD, WARM };  // bench_solver.id

typedef struct state {
    const char *solver;
    const bench_problem *problem;
    perp_comp_options options;
    bool warm;
    double *guess;        // z of the problem before, warm start only
    int8_t *guess_basis;  // its basis
} state;

static unsigned classes_of(const bench_problem *problem)
{
    if (problem->contact) {
        unsigned form = problem->fcp.nv > 0 ? PERP_CLASS_FCP_GLOBAL : PERP_CLASS_FCP_LOCAL;
        return form | (problem->fcp.dim > 3 ? PERP_CLASS_FCP_ROLLING : 0u);
    }
    const perp_mcp *mcp = &problem->mcp;
    return mcp->lower == NULL && mcp->upper == NULL ? PERP_CLASS_LCP : PERP_CLASS_MCP;
}

// "lemke warm" is the solver "lemke".
static const perp_solver_card *card_of(const bench_solver *solver)
{
    char name[32];
    snprintf(name, sizeof name, "%s", solver->name);
    char *space = strchr(name, ' ');
    if (space != NULL) {
        *space = '\0';
    }
    return perp_solver_find(name);
}

static bool accepts(const bench_solver *solver, const bench_problem *problem)
{
    const perp_solver_card *card = card_of(solver);
    if (card == NULL || problem->box || (solver->id == WARM && problem->b_before == NULL)) {
        return false;
    }
    if (strcmp(card->name, "enum") == 0 && problem->n > BENCH_ENUM_SIZE) {
        return false;
    }
    bool pivoting = strcmp(card->name, "lemke") == 0 || strcmp(card->name, "pivot") == 0;
    if (problem->contact && problem->fcp.nd == NULL && pivoting) {
        return false;  // they accept polygonal contact only
    }
    unsigned needed = classes_of(problem);
    return (card->classes & needed) == needed;
}

static perp_status call(const state *s, const bench_problem *problem, double *z, double *v,
                        perp_comp_info *info)
{
    if (problem->contact) {
        return perp_fcp_solve(s->solver, &problem->fcp, &s->options, NULL, z, v, info);
    }
    return perp_mcp_solve(s->solver, &problem->mcp, &s->options, NULL, z, info);
}

// The previous step: the same problem with the other right-hand side.
static void solve_before(state *s)
{
    bench_problem before = *s->problem;
    if (before.contact) {
        before.fcp.q = before.b_before;
    } else {
        before.mcp.b = before.b_before;
    }
    perp_comp_info info;
    double *v = calloc((size_t)before.fcp.nv + 1, sizeof *v);
    perp_status status = call(s, &before, s->guess, v, &info);
    (void)status;  // the guess is the best iterate in any case
    free(v);
    memcpy(s->guess_basis, s->options.basis, (size_t)bench_size(s->problem));
}

static void *open_state(const bench_solver *solver, const bench_problem *problem)
{
    state *s = calloc(1, sizeof *s);
    size_t n = (size_t)bench_size(problem);
    s->solver = card_of(solver)->name;
    s->problem = problem;
    s->options = perp_comp_options_default();
    s->options.tolerance = problem->tolerance;
    s->options.max_seconds = problem->seconds;
    s->options.work = perp_workspace_create(NULL);
    s->warm = solver->id == WARM;
    if (s->warm) {
        s->guess = calloc(n, sizeof *s->guess);
        s->guess_basis = calloc(n, 1);
        s->options.basis = calloc(n, 1);
        solve_before(s);
        s->options.warm_start = true;
    }
    return s;
}

static void reset(void *opaque)
{
    state *s = opaque;
    if (s->warm) {
        memcpy(s->options.basis, s->guess_basis, (size_t)bench_size(s->problem));
    }
}

static void solve(void *opaque, bench_answer *answer)
{
    state *s = opaque;
    perp_comp_info info = {0};
    if (s->warm) {
        memcpy(answer->z, s->guess, (size_t)bench_size(s->problem) * sizeof(double));
    }
    perp_status status = call(s, s->problem, answer->z, answer->v, &info);
    answer->claims = status == PERP_OK;
    answer->iterations = info.iterations;
    answer->word = perp_status_word(status);
}

// ── Box friction ─────────────────────────────────────────────────────────────────────────────────

typedef struct box_state {
    perp_box_friction box;
    perp_comp_options options;
} box_state;

static bool accepts_box(const bench_solver *solver, const bench_problem *problem)
{
    (void)solver;
    return problem->box;
}

static void *open_box(const bench_solver *solver, const bench_problem *problem)
{
    (void)solver;
    box_state *s = calloc(1, sizeof *s);
    s->box = bench_box_of(problem);
    s->options = perp_comp_options_default();
    s->options.tolerance = problem->tolerance;
    s->options.max_seconds = problem->seconds;
    s->options.work = perp_workspace_create(NULL);
    return s;
}

static void reset_box(void *opaque)
{
    (void)opaque;
}

static void solve_box(void *opaque, bench_answer *answer)
{
    box_state *s = opaque;
    perp_comp_info info = {0};
    perp_status status = perp_box_friction_solve(&s->box, &s->options, NULL, answer->z, &info);
    answer->claims = status == PERP_OK;
    answer->iterations = info.iterations;
    answer->word = perp_status_word(status);
}

#define OURS(name, id)                                                                             \
    {                                                                                              \
        name, false, id, accepts, open_state, reset, solve                                         \
    }

static const bench_solver table[] = {
    OURS("auto", COLD),
    OURS("lemke", COLD),
    OURS("pivot", COLD),
    OURS("ssn", COLD),
    OURS("gs", COLD),
    OURS("eg", COLD),
    OURS("enum", COLD),
    OURS("lemke warm", WARM),
    OURS("pivot warm", WARM),
    OURS("ssn warm", WARM),
    {"box", false, 0, accepts_box, open_box, reset_box, solve_box},
};

const bench_solver *bench_ours(int *count)
{
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}
