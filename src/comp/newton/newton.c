// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Newton's method of Josephy for nonlinear MCPs: each iterate solves the linear MCP (N2) of the last one.
//
//   crash       Newton steps on the variables that F does not hold at a bound, projected onto the bounds (Dirkse,
//               Ferris 1997): most of the active set is found by a few linear systems
//   step        towards the solution of (N2), halved until the merit function theta of (N3) falls below the largest of
//               its last MEMORY values (Grippo, Lampariello, Lucidi 1986)
//   proximal    where (N2) has no solution, or no step towards it is accepted, lambda grows; it shrinks after a step
//   restart     where that does not help either, from other points in a fixed order
//
// Proved: local quadratic convergence at strongly regular solutions (Josephy 1979; Robinson 1980). Globally nothing:
// theta has local minima that are no solutions. The iterate of least residual is returned.
#include "comp/newton/newton.h"

#include <math.h>
#include <string.h>

enum {
    MEMORY = 6,        // values of theta of which a step may reach the largest
    CRASH_MAX = 20,    // Newton steps of the crash start
    SEARCH_MAX = 120,  // steps from one start
    PATIENCE = 20,     // steps in which theta must halve, while there are other starts
    HALVINGS = 12,     // of a step towards the solution of (N2)
    POLISH = 3,        // steps within the tolerance that may still improve the residual
    STARTS = 16,       // starting points
    STEPS_MAX = 1000,  // steps in all, where the caller sets no limit
};
// theta falls by this part of itself for each unit of the step length; Armijo's constant.
static const double DECREASE = 1e-4;
// Proximal terms: the first that is tried, the factor to the next, the largest, the least that is kept. J is
// equilibrated: its entries are near 1.
static const double PROX_FIRST = 1e-4, PROX_GROWTH = 30.0, PROX_MOST = 1e4, PROX_LEAST = 1e-9;
static const double PROX_SHRINK = 0.1;  // after a step
// Of the size of a variable, as the steps of differences (N5): what is nearer to a bound or to 0 tends to it.
static const double NEAR = 0x1p-26;

// Whether time, work or steps are used up, or a callback has failed.
static bool is_over(const pp_newton *s)
{
    return s->fatal < 0 || s->iterations >= s->limit || pp_job_is_over(s->job);
}

// The residual at which nothing is left to gain.
static bool is_exact(const pp_newton *s)
{
    return s->at_best <= 1e-3 * s->job->options->tolerance;
}

static bool is_accepted(const pp_newton *s)
{
    return s->at_best <= 0.5 * s->job->options->tolerance;
}

// ── Steps ────────────────────────────────────────────────────────────────────────────────────────

// Towards goal, projected onto the bounds and halved until theta falls below `highest` by its part. The first point at
// which F and J are defined and theta is low enough becomes the iterate.
static bool step_towards_goal(pp_newton *s, double highest, int halvings)
{
    int n = s->e.n;
    double t = 1.0;
    for (int k = 0; k <= halvings; k++, t *= 0.5) {
        for (int i = 0; i < n; i++) {
            double z = k == 0 ? s->goal[i] : s->at.z[i] + t * (s->goal[i] - s->at.z[i]);
            s->trial.z[i] = pp_clamp(z, s->fb.lower[i], s->fb.upper[i]);
        }
        bool low = pp_newton_function(s) && s->trial.theta <= (1.0 - DECREASE * t) * highest;
        if (low && pp_newton_accept(s)) {
            return true;
        }
        if (s->fatal < 0) {
            return false;
        }
    }
    return false;
}

// One iterate: the linear problem with the last proximal term, then with larger ones.
static bool advance(pp_newton *s, double highest)
{
    double lambda = s->lambda;
    while (lambda <= PROX_MOST) {
        if (pp_newton_linear(s, lambda) && step_towards_goal(s, highest, HALVINGS)) {
            s->lambda = lambda * PROX_SHRINK > PROX_LEAST ? lambda * PROX_SHRINK : 0.0;
            return true;
        }
        if (is_over(s)) {
            return false;
        }
        lambda = lambda > 0.0 ? lambda * PROX_GROWTH : PROX_FIRST;
    }
    s->warm = false;
    return false;
}

// ── Searches ─────────────────────────────────────────────────────────────────────────────────────

// Projected Newton steps while they reduce theta and change the active set.
static void crash(pp_newton *s)
{
    memset(s->basis, PERP_BASIS_BASIC, (size_t)s->e.n);
    for (int k = 0; k < CRASH_MAX && !is_over(s) && !is_accepted(s); k++) {
        int changes = 0;
        bool found = pp_newton_active(s, 0.0, &changes);
        if (!found && s->fatal >= 0) {
            found = pp_newton_active(s, PROX_FIRST, &changes);
        }
        // the same set twice: the linear problem does better from here
        if (!found || (k > 0 && changes == 0) || !step_towards_goal(s, s->at.theta, HALVINGS / 2)) {
            break;
        }
        s->iterations++;
        pp_newton_rate(s);
    }
    s->warm = false;
}

// Steps from `at`, at most `most`, until the residual is within the tolerance and falls no further, or theta does not fall
// as it should in so many steps.
static void search(pp_newton *s, int most, int patience)
{
    double history[MEMORY], mark = s->at.theta, last = PP_INF;
    int polished = 0;
    for (int k = 0; k < most && !is_over(s) && !is_exact(s); k++) {
        history[k % MEMORY] = s->at.theta;
        double highest = s->at.theta;
        for (int m = 0; m < MEMORY && m <= k; m++) {
            highest = fmax(highest, history[m]);
        }
        // within the tolerance only steps that still gain are taken
        if (is_accepted(s)) {
            polished++;
            if (polished > POLISH || s->residual > 0.1 * last) {
                return;
            }
        }
        last = s->residual;
        if (k > 0 && k % patience == 0) {
            if (s->at.theta > 0.5 * mark) {
                return;
            }
            mark = s->at.theta;
        }
        s->iterations++;
        if (!advance(s, highest)) {
            return;
        }
        pp_newton_rate(s);
    }
}

// What variable i of z (in the caller's units) tends to, a bound or 0; where it tends to neither, or is there, itself.
static double limit_of(const pp_newton *s, int i, double z)
{
    double near = NEAR * pp_ncp_size(s->e.ncp, i), l = s->e.lower[i], u = s->e.upper[i];
    if (z - l <= near || u - z <= near) {
        return z - l <= u - z ? l : u;
    }
    return fabs(z) <= near ? 0.0 : z;
}

// Where F and its derivative vanish together iterates come nearer by the same factor in each step, without end, and of a
// variable that tends to 0 all that is left of it remains an error. What they tend to may be a solution: it is tried.
static void try_limit(pp_newton *s)
{
    bool any = false;
    for (int i = 0; i < s->e.n; i++) {
        double z = s->at.z[i] * s->column[i], to = limit_of(s, i, z);
        any = any || to != z;
        s->trial.z[i] = to != z ? to / s->column[i] : s->at.z[i];
    }
    if (any && pp_newton_function(s) && pp_newton_accept(s)) {
        pp_newton_rate(s);
    }
}

// Starting point k >= 1 in the caller's units: the start moved into the interior by a small part, then random points
// of several sizes about the bounds and the start, from a fixed seed.
static void restart_point(const pp_newton *s, int k, const double *start, double *z)
{
    static const double SIZE[] = {0.1, 1.0, 10.0, 1.0, 100.0};
    uint64_t seed = 0x9E3779B97F4A7C15u + (uint64_t)k * 0x632BE59BD9B4E019u;
    for (int i = 0; i < s->e.n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        // 53 bits of a linear congruential generator (Knuth's multiplier), in [0, 1)
        double random = (double)(seed >> 11) * 0x1p-53, l = s->e.lower[i], u = s->e.upper[i];
        double size = pp_ncp_size(s->e.ncp, i) * (k == 1 ? 1e-3 : SIZE[(k - 2) % 5]);
        // free variables: every other round of sizes is about 0
        double from = k >= 7 && k < 12 ? 0.0 : start[i], reach = (2.0 * random - 1.0) * size;
        if (k == 1) {
            from = pp_clamp(start[i], l, u);
            reach = from + size > u ? -size : size;
            reach = from - size < l ? size : reach;
        } else if (l > -PP_INF) {
            from = l;
            reach = random * fmin(size, u - l);
        } else if (u < PP_INF) {
            from = u;
            reach = -random * size;
        }
        z[i] = pp_clamp(from + reach, l, u);
    }
}

// The start with a crash, the start without, other points with a crash, and the best point of all.
static int run_searches(pp_newton *s, const double *start, double *z)
{
    int begun = 0;
    bool warm = s->job->options->warm_start;
    for (int k = warm ? -1 : 0; k < STARTS && !is_over(s) && !is_accepted(s); k++) {
        if (k < 1) {
            memcpy(z, start, (size_t)s->e.n * sizeof *z);
        } else {
            restart_point(s, k, start, z);
        }
        if (!pp_newton_begin(s, z)) {
            continue;
        }
        begun++;
        pp_newton_rate(s);
        if (k >= 0 && k != 1) {
            crash(s);
        }
        search(s, SEARCH_MAX, PATIENCE);
        if (!is_over(s) && !is_accepted(s)) {
            try_limit(s);
        }
        // the basis of the caller belongs to the first search
        s->warm = false;
    }
    // No other start is left: the best point may be on its way, as slowly as it is. Steep monotone functions turn one
    // variable after the other.
    if (begun > 0 && !is_over(s) && !is_accepted(s)) {
        memcpy(z, s->best, (size_t)s->e.n * sizeof *z);
        if (pp_newton_begin(s, z)) {
            pp_newton_rate(s);
            search(s, s->limit, s->limit);
        }
    }
    return begun;
}

// ── The solver ───────────────────────────────────────────────────────────────────────────────────

// The first variable without a typical size that tends to a bound or 0, at the best point; -1: none.
static int first_without_size(const pp_newton *s)
{
    if (s->e.ncp->typical) {
        return -1;
    }
    for (int i = 0; i < s->e.n; i++) {
        if (limit_of(s, i, s->best[i]) != s->best[i]) {
            return i;
        }
    }
    return -1;
}

static void write_report(const pp_newton *s, int begun, pp_report *report)
{
    const char *limit = pp_job_limit(s->job);
    // residuals of what tends to 0 are relative to it, and do not fall
    int tends = first_without_size(s);
    char advice[80] = "Try another start";
    if (tends >= 0) {
        pp_print(advice, sizeof advice, "Variable %d tends to %g: give typical sizes", tends,
                 limit_of(s, tends, s->best[tends]));
    }
    report->solver = "newton";
    report->rungs = begun;
    report->iterations = s->iterations;
    report->evaluations = s->e.evaluations;
    report->jacobians = s->e.jacobians;
    if (s->e.fatal < 0) {
        pp_print(report->reason, sizeof report->reason, "%s", s->e.reason);
    } else if (is_accepted(s) || s->fatal < 0) {
        return;
    } else if (begun == 0) {
        pp_print(report->reason, sizeof report->reason,
                 "F or its Jacobian is not defined, or F is above 1e150, at the start and at %d "
                 "other points: choose a start inside the domain of F",
                 STARTS - 1);
    } else if (limit || s->iterations >= s->limit) {
        pp_print(report->reason, sizeof report->reason, "%s after %d steps; best residual %.1e. %s",
                 limit ? limit : "step limit", s->iterations, s->at_best, advice);
    } else {
        pp_print(report->reason, sizeof report->reason,
                 "not solved from %d starting points; best residual %.1e. %s", begun, s->at_best,
                 advice);
    }
}

perp_status pp_newton_ncp(const perp_ncp *ncp, const pp_job *job, double *z, pp_report *report)
{
    pp_newton s;
    int n = ncp->n, begun = 0;
    perp_status status = pp_newton_create(ncp, job, &s);
    double *start = PP_ARRAY(job->arena, double, 2 * (size_t)n);
    if (status >= 0 && !start) {
        status = PERP_ERR_MEMORY;
    }
    if (status < 0) {
        pp_newton_destroy(&s);
        return status;
    }
    // the best point is the start until one has been evaluated
    memcpy(start, z, (size_t)n * sizeof *z);
    memcpy(s.best, z, (size_t)n * sizeof *z);
    s.limit = job->options->max_iterations > 0 ? job->options->max_iterations : STEPS_MAX;
    if (job->options->basis && job->options->warm_start) {
        memcpy(s.basis, job->options->basis, (size_t)n);
        s.warm = true;
    }
    begun = run_searches(&s, start, start + n);
    write_report(&s, begun, report);
    memcpy(z, s.best, (size_t)n * sizeof *z);
    if (job->options->basis) {
        perp_mcp bounds = {.n = n, .lower = s.e.lower, .upper = s.e.upper};
        pp_mcp_basis_of(&bounds, z, job->options->basis);
    }
    pp_newton_destroy(&s);
    report->aborted = s.e.fatal < 0;
    if (s.fatal < 0) {
        return s.fatal;
    }
    return is_accepted(&s) ? PERP_OK : PERP_ERR_LIMIT;
}
