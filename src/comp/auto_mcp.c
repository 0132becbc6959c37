// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The ladder for MCPs: solvers in an order that suits the structure, until the judge accepts.
//
//   positive diagonal, large   pivot, lemke, ssn        P and PSD problems: few block exchanges
//   otherwise                  lemke, pivot, ssn        friction, circuits, small problems
//   n <= 12                    enum at the end          a solution, or the proof that there is none
//
// Where none is accepted and the rows or columns differ much in size, the same in balanced units (equilibrate.c).
// An accepted answer with a residual above POLISH gets one chance to be improved by ssn.
#include "comp/auto.h"
#include "comp/problem/equilibrate.h"

#include <math.h>
#include <string.h>

static const double POLISH = 1e-10;

enum { ENUM_FAST = 8, ENUM_MOST = 12, LARGE = 60, RUNGS_MAX = 5 };

typedef struct mcp_rung {
    const char *name;
    pp_mcp_solver *solve;
    int limit;  // iterations, 0: its own choice
} mcp_rung;

// The best answer so far and what the others said.
typedef struct mcp_ladder {
    const perp_mcp *mcp;     // as posed: what is judged
    const perp_mcp *solved;  // the same, or in other units: what solvers see
    const pp_units *units;   // of the latter; NULL: those of the former
    const pp_job *job;
    double *z, *trial, *scratch;
    int8_t *basis;      // of trial; NULL: not wanted
    double residual;    // of z
    perp_status worst;  // the most telling failure
    int left;           // iterations of the caller's budget, 0: no limit, -1: none
    pp_report *report;
} mcp_ladder;

static bool has_positive_diagonal(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        bool equation = pp_mcp_lower(mcp, i) == -PP_INF && pp_mcp_upper(mcp, i) == PP_INF;
        if (!equation && !(pp_matrix_at(&mcp->A, i, i) > 0.0)) {
            return false;
        }
    }
    return true;
}

static double judge_attempt(mcp_ladder *c, double *z)
{
    perp_mcp_residuals residuals;
    if (!pp_all_finite((size_t)c->mcp->n, z)) {
        return PP_INF;
    }
    pp_mcp_judge_snapped(c->mcp, z, c->job->options, c->scratch, c->job->arena, &residuals);
    return pp_mcp_worst(&residuals);
}

static void clamp_to_bounds(const perp_mcp *mcp, double *z)
{
    for (int i = 0; i < mcp->n; i++) {
        z[i] = pp_clamp(z[i], pp_mcp_lower(mcp, i), pp_mcp_upper(mcp, i));
    }
}

// Where z rests: what a rung that fails leaves in the basis.
static void places_of(const perp_mcp *mcp, const double *z, int8_t *basis)
{
    for (int i = 0; i < mcp->n; i++) {
        bool low = z[i] <= pp_mcp_lower(mcp, i), high = z[i] >= pp_mcp_upper(mcp, i);
        basis[i] = (int8_t)(low ? PERP_BASIS_LOWER : high ? PERP_BASIS_UPPER : PERP_BASIS_BASIC);
    }
}

// The trial and the proof in the units of the problem as posed.
static void take_units_off(mcp_ladder *c, double *ray)
{
    for (int i = 0; c->units && i < c->mcp->n; i++) {
        c->trial[i] *= c->units->col[i];
        ray[i] *= c->units->row[i];
    }
}

// One rung from the given start (NULL: cold). Returns its status; keeps its answer when it is better.
static perp_status try_solver(mcp_ladder *c, mcp_rung r, const double *start)
{
    int n = c->mcp->n;
    perp_comp_options options = *c->job->options;
    pp_report report = {0};
    pp_job job = *c->job;
    job.options = &options;
    options.max_iterations = pp_auto_limit(r.limit, c->left);
    options.warm_start = start != NULL;
    options.basis = c->basis;
    pp_mark mark = pp_arena_mark(job.arena);
    if (start) {
        memcpy(c->trial, start, (size_t)n * sizeof *start);
    } else {
        memset(c->trial, 0, (size_t)n * sizeof(double));
        clamp_to_bounds(c->solved, c->trial);
    }
    if (c->basis && start) {
        memcpy(c->basis, c->job->options->basis, (size_t)n);
    } else if (c->basis) {
        places_of(c->solved, c->trial, c->basis);
    }
    perp_status status = r.solve(c->solved, &job, c->trial, &report);
    pp_arena_release(job.arena, mark);
    if (status == PERP_ERR_MEMORY) {
        return status;
    }
    c->report->rungs++;
    c->left = pp_auto_iterations_left(c->left, report.iterations);
    c->report->seconds_factor += report.seconds_factor;
    take_units_off(c, options.ray);
    clamp_to_bounds(c->mcp, c->trial);
    double residual = judge_attempt(c, c->trial);
    if (residual < c->residual) {
        c->residual = residual;
        memcpy(c->z, c->trial, (size_t)n * sizeof(double));
        c->report->solver = r.name;
        c->report->iterations = report.iterations;
        if (c->basis) {
            memcpy(c->job->options->basis, c->basis, (size_t)n);
        }
    }
    if (status == PERP_ERR_INFEASIBLE && !report.complete &&
        !(perp_mcp_farkas(c->mcp, options.ray) < -PP_FARKAS_MARGIN)) {
        status = PERP_ERR_RAY;  // claimed, not proved
    }
    c->worst = pp_auto_worse_failure(c->worst, status);
    c->report->complete = report.complete;
    pp_auto_append_reason(c->report, r.name, status, residual <= c->job->options->tolerance,
                          report.reason);
    return status;
}

static int choose_rungs(const perp_mcp *mcp, mcp_rung *rungs)
{
    mcp_rung lemke = {"lemke", pp_lemke_mcp, 0}, pivot = {"pivot", pp_pivot_mcp, 0};
    bool monotone = has_positive_diagonal(mcp);
    int count = 0;
    lemke.limit = 100 + 10 * mcp->n;  // the exponential examples are for the others
    if (monotone && mcp->n > LARGE) {
        rungs[count++] = pivot;
        rungs[count++] = lemke;
    } else {
        rungs[count++] = lemke;
        rungs[count++] = pivot;
    }
    if (mcp->n > ENUM_FAST) {
        rungs[count++] = (mcp_rung){"ssn", pp_ssn_mcp, 0};
    }
    if (mcp->n <= ENUM_MOST) {
        rungs[count++] = (mcp_rung){"enum", pp_enum_mcp, 0};
    }
    return count;
}

// All rungs, until the judge accepts.
static perp_status run_ladder(mcp_ladder *c, const double *start)
{
    mcp_rung rungs[RUNGS_MAX];
    int count = choose_rungs(c->solved, rungs);
    perp_status status = PERP_OK;
    for (int k = 0; k < count && c->residual > c->job->options->tolerance; k++) {
        if (k > 0 && (c->left < 0 || pp_job_is_over(c->job))) {
            c->worst = PERP_ERR_LIMIT;
            break;
        }
        status = try_solver(c, rungs[k], k == 0 ? start : NULL);
        if (status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE) {
            break;
        }
    }
    return status;
}

// Where rows and columns are of very different sizes solvers stop too soon, since what they stop by compares them all: then
// in balanced units.
static perp_status run_ladder_equilibrated(mcp_ladder *c)
{
    perp_mcp balanced;
    pp_units units;
    bool helps;
    perp_status status = pp_mcp_equilibrate(c->mcp, c->job->arena, &balanced, &units, &helps);
    if (status < 0 || !helps) {
        return status;
    }
    c->solved = &balanced;
    c->units = &units;
    status = run_ladder(c, NULL);
    c->solved = c->mcp;
    c->units = NULL;
    return status;
}

perp_status pp_auto_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    int n = mcp->n;
    const perp_comp_options *options = job->options;
    mcp_ladder c = {
        .mcp = mcp, .solved = mcp, .job = job, .z = z, .residual = PP_INF, .report = report};
    c.left = options->max_iterations;
    c.trial = PP_ARRAY(job->arena, double, (2 + PP_JUDGE_SCRATCH) * (size_t)n);
    c.basis = options->basis ? PP_ARRAY(job->arena, int8_t, n) : NULL;
    if (!c.trial || (options->basis && !c.basis)) {
        return PERP_ERR_MEMORY;
    }
    double *start = c.trial + n;
    c.scratch = start + n;
    report->solver = "auto";
    if (options->warm_start) {
        memcpy(start, z, (size_t)n * sizeof *z);
    }
    perp_status status = run_ladder(&c, options->warm_start ? start : NULL);
    bool ended = status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE;
    if (!ended && c.residual > options->tolerance && c.left >= 0 && !pp_job_is_over(job)) {
        status = run_ladder_equilibrated(&c);
        ended = status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE;
    }
    if (ended) {
        return status;
    }
    bool solved = c.residual <= options->tolerance;
    if (solved && c.residual > POLISH && c.left >= 0 && !pp_job_is_over(job)) {
        memcpy(start, z, (size_t)n * sizeof *z);
        status = try_solver(&c, (mcp_rung){"ssn", pp_ssn_mcp, 0}, start);
    }
    if (status == PERP_ERR_MEMORY) {
        return status;
    }
    return solved ? PERP_OK : c.worst < 0 ? c.worst : PERP_ERR_LIMIT;
}
