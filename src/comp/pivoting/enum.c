// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `enum`: complete enumeration of the complementary bases of an MCP with n <= 12, theory (C32).
//
// Proved: finds a solution or shows that there is none, up to rounding. It is the oracle of the
// tests: slow, simple, complete. The sets of basic variables are visited as binary numbers with
// variable 0 as the lowest bit, and within each the bounds of the boxed variables. Cost: 2^n small
// factorisations, 3^n with boxes.
#include "comp/pivoting/enum.h"

#include <math.h>
#include <string.h>

// Visits every cone; ends early on a negative status of the
// visitor, or where time or work is used up.
static perp_status visit_cones(const pp_small *s, const pp_job *job, int most, int *examined,
                               pp_candidate_visit *visit, void *context)
{
    unsigned chosen = 0;  // a subset of the bits of s->choice; the next one by subtraction
    do {
        perp_status status = pp_small_cone(s, chosen | s->free, visit, context);
        ++*examined;
        if (status < 0) {
            return status;
        }
        chosen = (chosen - s->choice) & s->choice;
        if (chosen != 0 && *examined >= most) {
            return PERP_ERR_LIMIT;
        }
        pp_meter_add(job->meter, (double)s->n * s->n * s->n);
        if (*examined % 64 == 0 && pp_job_is_over(job)) {
            return PERP_ERR_LIMIT;
        }
    } while (chosen != 0);
    return PERP_OK;
}

// ── The solver ───────────────────────────────────────────────────────────────────────────────────

// The best candidate so far.
typedef struct enumeration {
    pp_candidate best;
    bool found;  // best is a candidate
    bool doubt;  // there are doubtful ones; best is one of them when nothing is found
} enumeration;

// Residual and violation at which the enumeration ends.
static const double ENOUGH = 1e-12;

// The larger of violation and residual.
static double badness(const pp_candidate *c)
{
    return fmax(c->violation, c->residual);
}

// Visitor of the solver: keeps the best candidate; doubtful ones only where there is no other.
static perp_status keep_best(void *context, const pp_candidate *candidate)
{
    enumeration *found = context;
    if (candidate->doubtful) {
        if (!found->found && !found->doubt) {
            found->best = *candidate;
        }
        found->doubt = true;
        return PERP_OK;
    }
    if (!found->found || badness(candidate) < badness(&found->best)) {
        found->best = *candidate;
        found->found = true;
    }
    return badness(&found->best) <= ENOUGH ? PERP_ERR_LIMIT : PERP_OK;  // negative: ends the visit
}

static void write_basis(const pp_candidate *c, int n, int8_t *basis)
{
    if (!basis) {
        return;
    }
    for (int i = 0; i < n; i++) {
        basis[i] = (int8_t)PERP_BASIS_LOWER;
        if (c->basic >> i & 1u) {
            basis[i] = (int8_t)PERP_BASIS_BASIC;
        } else if (c->upper >> i & 1u) {
            basis[i] = (int8_t)PERP_BASIS_UPPER;
        }
    }
}

perp_status pp_enum_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    if (mcp->n > PP_ENUM_MAX) {
        pp_print(report->reason, sizeof report->reason,
                 "enumeration is limited to n <= %d: this problem has n = %d", PP_ENUM_MAX, mcp->n);
        return PERP_ERR_REFUSED;
    }
    pp_small s;
    enumeration found = {.found = false};
    int most = job->options->max_iterations > 0 ? job->options->max_iterations : INT32_MAX;
    pp_small_load(&s, mcp);
    perp_status status = visit_cones(&s, job, most, &report->iterations, keep_best, &found);
    if (found.found || found.doubt) {
        memcpy(z, found.best.z, (size_t)mcp->n * sizeof *z);
        write_basis(&found.best, mcp->n, job->options->basis);
    }
    // Without a candidate the problem is infeasible, unless the enumeration was cut short or a
    // candidate was too large to be checked in double.
    if (found.found) {
        return PERP_OK;
    }
    if (status < 0) {
        pp_print(report->reason, sizeof report->reason,
                 "stopped after %d complementary bases: no solution among them",
                 report->iterations);
        return PERP_ERR_LIMIT;
    }
    if (found.doubt) {
        pp_print(report->reason, sizeof report->reason,
                 "the only solutions are too large for the precision of A z + b");
        return PERP_ERR_SINGULAR;
    }
    pp_print(report->reason, sizeof report->reason,
             "no solution: all complementary bases examined (%d)", report->iterations);
    report->complete = true;
    return PERP_ERR_INFEASIBLE;
}

// ── All solutions ────────────────────────────────────────────────────────────────────────────────

// All solutions found.
typedef struct collection {
    const pp_small *s;
    pp_arena *arena;
    pp_candidate *solution;
    int count, capacity;
} collection;

static const double SOLUTION = 1e-11;  // largest violation of a solution
static const double WRONG = 1e-6;      // of max|b|: a row off by more is wrong whatever its terms
static const double SAME = 1e-8;  // solutions closer than this, relative to their size, are one

// Whether two candidates are one point, in scaled columns, in which
// variables of all units count alike.
static bool same_point(const pp_small *s, const pp_candidate *a, const pp_candidate *b)
{
    double size = 0.0, distance = 0.0;
    for (int i = 0; i < s->n; i++) {
        double x = ldexp(a->z[i], -s->column_exponent[i]);
        double y = ldexp(b->z[i], -s->column_exponent[i]);
        size = fmax(size, fmax(fabs(x), fabs(y)));
        distance = fmax(distance, fabs(x - y));
    }
    return distance <= SAME * size;
}

// Visitor of perp_mcp_enumerate: collects distinct solutions.
static perp_status collect_candidate(void *context, const pp_candidate *candidate)
{
    collection *all = context;
    if (candidate->violation > SOLUTION || candidate->doubtful || candidate->marginal ||
        candidate->residual > WRONG) {
        return PERP_OK;
    }
    // a degenerate point may be the solution of several bases: the most accurate one is kept
    int known_count = candidate->degenerate ? all->count : 0;
    for (int k = 0; k < known_count; k++) {
        pp_candidate *known = &all->solution[k];
        if (known->degenerate && same_point(all->s, known, candidate)) {
            if (candidate->violation < known->violation) {
                *known = *candidate;
            }
            return PERP_OK;
        }
    }
    if (all->count == all->capacity) {
        int capacity = all->capacity ? 2 * all->capacity : 8;
        pp_candidate *more = PP_ARRAY(all->arena, pp_candidate, capacity);
        if (!more) {
            return PERP_ERR_MEMORY;
        }
        if (all->count > 0) {
            memcpy(more, all->solution, (size_t)all->count * sizeof *more);
        }
        all->solution = more;
        all->capacity = capacity;
    }
    all->solution[all->count++] = *candidate;
    return PERP_OK;
}

perp_status perp_mcp_enumerate(const perp_mcp *mcp, const perp_env *env, int most, double *z,
                               int *count)
{
    char reason[8];
    if (!count || most < 0 || (most > 0 && !z) || pp_mcp_check(mcp, reason, sizeof reason) < 0) {
        return PERP_ERR_ARGUMENT;
    }
    *count = 0;
    if (mcp->n > PP_ENUM_MAX) {
        return PERP_ERR_REFUSED;
    }
    pp_small s;
    pp_small_load(&s, mcp);
    collection all = {.s = &s, .arena = pp_arena_create(env)};
    int examined = 0;
    const pp_job unlimited = {.deadline = PP_INF};
    perp_status status = PERP_ERR_MEMORY;
    if (all.arena) {
        status = visit_cones(&s, &unlimited, INT32_MAX, &examined, collect_candidate, &all);
    }
    // the first `most` are written; count is of all
    if (status >= 0) {
        *count = all.count;
        int written = all.count < most ? all.count : most;
        for (int k = 0; k < written; k++) {
            memcpy(z + (size_t)k * (size_t)mcp->n, all.solution[k].z, (size_t)mcp->n * sizeof *z);
        }
    }
    pp_arena_destroy(all.arena);
    return status;
}
