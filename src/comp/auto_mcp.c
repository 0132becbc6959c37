// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The fallback ladder for MCPs. Rungs run in this order until the judge accepts an answer:
//
//   positive diagonal, n > 60   pivot, lemke, ssn   P and PSD matrices: few block exchanges
//   otherwise                   lemke, pivot, ssn   friction, circuits, small problems
//   n <= 12                     enum last           finds a solution or proves that there is none
//
// Where no rung is accepted and rows or columns differ much in size, the ladder runs again in
// equilibrated units (equilibrate.c). An accepted answer with a residual above POLISH gets one run
// of ssn from there, and the better of both is returned. A proof of infeasibility, theory (C9) or
// exhaustion, ends the ladder.
#include "comp/auto.h"
#include "comp/problem/equilibrate.h"

#include <math.h>
#include <string.h>

static const double POLISH = 1e-10;

enum {
    ENUM_FAST = 8,   // n up to which enumeration is faster than ssn
    ENUM_MOST = 12,  // n up to which enumeration is possible at all
    LARGE = 60,      // n above which pivot runs before lemke
    RUNGS_MAX = 5
};

// One rung: a solver and how long it may run.
typedef struct mcp_rung {
    const char *name;
    pp_mcp_solver *solve;
    int limit;  // iterations, 0: its own choice
} mcp_rung;

// The best answer so far, and the iterate of the rung that runs.
typedef struct mcp_ladder {
    const perp_mcp *mcp;     // as posed: what is judged
    const perp_mcp *solved;  // the same, or in other units: what solvers see
    const pp_units *units;   // of the latter; NULL: those of the former
    const pp_job *job;
    double *z, *trial, *scratch;
    int8_t *basis;      // of trial; NULL: not wanted
    double residual;    // of z
    perp_status worst;  // the most informative failure
    int left;           // iterations of the caller's budget, 0: no limit, -1: none
    pp_report *report;
} mcp_ladder;

// A cheap sign of a P or positive semidefinite matrix. Rows of free variables are equations and
// need no positive pivot.
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

// The worst residual of z; where it helps, the judge moves entries of
// z onto their bounds, theory (C40).
static double judge_and_snap(mcp_ladder *c, double *z)
{
    perp_mcp_residuals residuals;
    if (!pp_all_finite((size_t)c->mcp->n, z)) {
        return PP_INF;
    }
    pp_mcp_judge_snapped(c->mcp, z, c->job->options, c->scratch, c->job->arena, &residuals);
    return pp_mcp_worst(&residuals);
}

static void clamp_z(const perp_mcp *mcp, double *z)
{
    for (int i = 0; i < mcp->n; i++) {
        z[i] = pp_clamp(z[i], pp_mcp_lower(mcp, i), pp_mcp_upper(mcp, i));
    }
}

// Converts the trial and the proof to the units of the problem as posed: z = C z', y = R y'.
static void restore_units(mcp_ladder *c, double *ray)
{
    if (!c->units) {
        return;
    }
    for (int i = 0; i < c->mcp->n; i++) {
        c->trial[i] *= c->units->col[i];
        ray[i] *= c->units->row[i];
    }
}

// Runs one rung from the given start (NULL: cold), judges its answer and keeps
// it where its residual is the least so far. Returns the rung's status; an
// unproved infeasibility becomes PERP_ERR_RAY.
static perp_status run_mcp_rung(mcp_ladder *c, mcp_rung r, const double *start)
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
        clamp_z(c->solved, c->trial);
    }
    if (c->basis && start) {
        memcpy(c->basis, c->job->options->basis, (size_t)n);
    } else if (c->basis) {
        pp_mcp_basis_of(c->solved, c->trial, c->basis);  // a rung that fails may leave it as given
    }
    perp_status status = r.solve(c->solved, &job, c->trial, &report);
    pp_arena_release(job.arena, mark);
    if (pp_is_final(status)) {
        return status;
    }
    c->report->rungs++;
    c->left = pp_auto_iterations_left(c->left, report.iterations);
    c->report->seconds_factor += report.seconds_factor;
    restore_units(c, options.ray);
    clamp_z(c->mcp, c->trial);
    double residual = judge_and_snap(c, c->trial);
    if (residual < c->residual) {
        c->residual = residual;
        memcpy(c->z, c->trial, (size_t)n * sizeof(double));
        c->report->solver = r.name;
        c->report->iterations = report.iterations;
        if (c->basis) {
            memcpy(c->job->options->basis, c->basis, (size_t)n);
        }
    }
    if (status == PERP_ERR_INFEASIBLE && !report.complete && !pp_mcp_ray_proves(c->mcp, &options)) {
        status = PERP_ERR_RAY;  // claimed without a proof
    }
    c->worst = pp_auto_worse_failure(c->worst, status);
    c->report->complete = report.complete;
    pp_auto_append_reason(c->report, r.name, status, residual <= c->job->options->tolerance,
                          report.reason);
    return status;
}

// The rungs for a problem, in order; returns how many.
static int choose_mcp_rungs(const perp_mcp *mcp, mcp_rung *rungs)
{
    mcp_rung lemke = {"lemke", pp_lemke_mcp, 0}, pivot = {"pivot", pp_pivot_mcp, 0};
    bool monotone = has_positive_diagonal(mcp);
    int count = 0;
    lemke.limit = 100 + 10 * mcp->n;  // Murty's example takes 2^n - 1 pivots: left to other rungs
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

// Runs the rungs until one is accepted, infeasibility is proved, or the budget is used up. The
// first one starts from `start`.
static perp_status run_mcp_ladder(mcp_ladder *c, const double *start)
{
    mcp_rung rungs[RUNGS_MAX];
    int count = choose_mcp_rungs(c->solved, rungs);
    perp_status status = PERP_OK;
    for (int k = 0; k < count && c->residual > c->job->options->tolerance; k++) {
        // the first rung always runs, so that there is an iterate to return
        if (k > 0 && (c->left < 0 || pp_job_is_over(c->job))) {
            c->worst = PERP_ERR_LIMIT;
            break;
        }
        status = run_mcp_rung(c, rungs[k], k == 0 ? start : NULL);
        if (pp_is_final(status) || status == PERP_ERR_INFEASIBLE) {
            break;
        }
    }
    return status;
}

// Solvers stop by norms over all rows, too soon where rows and columns differ by
// many powers of ten. The ladder runs again in equilibrated units; answers and
// proofs are still judged in the units of `mcp`.
static perp_status run_mcp_ladder_equilibrated(mcp_ladder *c)
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
    status = run_mcp_ladder(c, NULL);
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
    perp_status status = run_mcp_ladder(&c, options->warm_start ? start : NULL);
    // no memory, or a proof: other units change neither
    bool ended = pp_is_final(status) || status == PERP_ERR_INFEASIBLE;
    if (!ended && c.residual > options->tolerance && c.left >= 0 && !pp_job_is_over(job)) {
        status = run_mcp_ladder_equilibrated(&c);
        ended = pp_is_final(status) || status == PERP_ERR_INFEASIBLE;
    }
    if (ended) {
        return status;
    }
    bool solved = c.residual <= options->tolerance;
    if (solved && c.residual > POLISH && c.left >= 0 && !pp_job_is_over(job)) {
        memcpy(start, z, (size_t)n * sizeof *z);
        status = run_mcp_rung(&c, (mcp_rung){"ssn", pp_ssn_mcp, 0}, start);
    }
    if (pp_is_final(status)) {
        return status;
    }
    if (solved) {
        return PERP_OK;
    }
    return c.worst < 0 ? c.worst : PERP_ERR_LIMIT;
}
