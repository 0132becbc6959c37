// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The ladder for contact problems, until the judge accepts.
//
//   ssn without its loop   few contacts: from zero or a guess
//   ssn, some steps        a guess only: most steps of a simulation end here, many before the first step
//   gs, some sweeps        exact one-contact solves converge in a few sweeps more often than not
//   ssn                    from where that stopped, then cold
//   gs longer, ssn again   from where that stopped
//   lemke                  polygonal friction: the Stewart–Trinkle problem, when it is not too large
//   eg                     the last resort
//
// Where none is accepted and contacts differ much in size, the same in balanced units (equilibrate.c).
// The judge's word on the answer that is kept goes into the report, so that it is not asked again.
#include "comp/auto.h"
#include "comp/newton/ssn.h"
#include "comp/problem/equilibrate.h"

#include <math.h>
#include <string.h>

enum {
    FEW_CONTACTS = 3,
    SOME = 60,
    SOME_IN_SPACE = 8,
    MANY_CONTACTS = 100,
    GUESS_STEPS = 15,
    QUICK_ROWS = 36,
    LEMKE_MOST = 500,
    RUNGS_MAX = 8,
    PASSES = 3
};

static const double LOOSE = 1e-5;

// A guess is brought to this part of the tolerance where that is quick: impulses that are off move bodies a
// little, more each step, until they have to be brought back.
static const double CLOSER = 0.01, CLOSEST = 1e-13;

typedef struct fcp_rung {
    const char *name;
    pp_fcp_solver *solve;
    int limit;   // iterations, 0: its own choice
    bool warm;   // from the best answer so far
    bool close;  // to CLOSER of the tolerance
} fcp_rung;

typedef struct fcp_ladder {
    const perp_fcp *fcp;     // as posed: what is judged
    const perp_fcp *solved;  // the same, or in other units: what solvers see
    const pp_units *units;   // of the latter; NULL: those of the former
    const pp_job *job;
    double *r, *v;  // the best answer so far
    double *trial_r, *trial_v;
    double residual;  // of r, v
    perp_status worst;
    int left;  // iterations of the caller's budget, 0: no limit, -1: none
    pp_report *report;
} fcp_ladder;

static perp_status judge_attempt(const fcp_ladder *c, perp_fcp_residuals *residuals, double *worst)
{
    perp_status status = pp_fcp_judge(c->fcp, c->trial_r, c->trial_v, c->job->options->tolerance,
                                      c->job->arena, residuals);
    *worst = PP_INF;
    if (status >= 0) {
        *worst = pp_fcp_worst(c->fcp, residuals);
    }
    return status == PERP_ERR_MEMORY ? status : PERP_OK;
}

static perp_status lemke_on_pyramid(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                                    pp_report *report)
{
    return pp_solve_as_mcp(pp_lemke_mcp, fcp, job, r, v, report);
}

// The trial from the units that solvers see, or into them.
static void change_units(fcp_ladder *c, bool back)
{
    for (int i = 0; c->units && i < c->fcp->nc * c->fcp->dim; i++) {
        c->trial_r[i] *= back ? c->units->col[i] : 1.0 / c->units->col[i];
    }
    for (int k = 0; c->units && k < c->fcp->nv; k++) {
        c->trial_v[k] *= back ? c->units->body[k] : 1.0 / c->units->body[k];
    }
}

static perp_status try_solver(fcp_ladder *c, fcp_rung k)
{
    size_t n = (size_t)(c->fcp->nc * c->fcp->dim), nv = (size_t)c->fcp->nv;
    perp_comp_options options = *c->job->options;
    pp_report report = {0};
    pp_job job = *c->job;
    job.options = &options;
    options.max_iterations = pp_auto_limit(k.limit, c->left);
    options.warm_start = k.warm;
    options.tolerance *= k.close ? CLOSER : 1.0;
    memset(c->trial_r, 0, n * sizeof(double));
    if (nv > 0) {
        memset(c->trial_v, 0, nv * sizeof(double));
    }
    if (k.warm) {
        memcpy(c->trial_r, c->r, n * sizeof(double));
        change_units(c, false);
    }
    perp_fcp_residuals residuals;
    double residual;
    perp_status status = PERP_OK;
    for (int pass = 0; pass < PASSES; pass++) {
        pp_mark mark = pp_arena_mark(job.arena);
        status = k.solve(c->solved, &job, c->trial_r, c->trial_v, &report);
        pp_arena_release(job.arena, mark);
        change_units(c, true);
        if (status == PERP_ERR_MEMORY || judge_attempt(c, &residuals, &residual) < 0) {
            return PERP_ERR_MEMORY;
        }
        if (pass + 1 == PASSES || !pp_auto_tighten(&residuals, residual, &job, &options)) {
            break;
        }
        change_units(c, false);
    }
    c->report->rungs++;
    c->left = pp_auto_iterations_left(c->left, report.iterations);
    c->report->seconds_factor += report.seconds_factor;
    c->report->factorisations += report.factorisations;
    c->report->fill = fmax(c->report->fill, report.fill);
    c->report->flops = fmax(c->report->flops, report.flops);
    c->report->seconds_sweeps += report.seconds_sweeps;
    if (residual < c->residual) {
        c->residual = residual;
        memcpy(c->r, c->trial_r, n * sizeof(double));
        if (nv > 0) {
            memcpy(c->v, c->trial_v, nv * sizeof(double));
        }
        c->report->judged = true;
        c->report->residuals = residuals;
        c->report->solver = k.name;
        c->report->iterations = report.iterations;
    }
    c->worst = pp_auto_worse_failure(c->worst, status);
    pp_auto_append_reason(c->report, k.name, status, residual <= c->job->options->tolerance,
                          report.reason);
    return status;
}

// Sweeps of the first gs: what costs about a third of ssn, whose steps grow faster with the contacts.
static int sweeps(const perp_fcp *fcp, const perp_comp_options *options)
{
    if (fcp->nc <= FEW_CONTACTS || options->tolerance >= LOOSE) {
        return fcp->nc > MANY_CONTACTS ? 1000 : 200;
    }
    if (fcp->dim == 3 &&
        fcp->nc > MANY_CONTACTS) {  // W is not sparse in general: its factors cost nc^3
        double size = fcp->nv == 0 ? pp_clamp(fcp->nc / 250.0, 1.0, 3.0) : 1.0;
        return (int)(40.0 * size * size);
    }
    return fcp->dim == 2 ? 100 + fcp->nc / 6 : 50 + fcp->nc / 4;
}

static int choose_rungs(const perp_fcp *fcp, const perp_comp_options *options, fcp_rung *rungs)
{
    int count = 0;
    if (options->warm_start && fcp->nc > (fcp->dim == 2 ? SOME : SOME_IN_SPACE)) {
        rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, GUESS_STEPS, true, true};
    }
    rungs[count++] = (fcp_rung){"gs", pp_gs_fcp, sweeps(fcp, options), options->warm_start, false};
    rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, 0, true, false};
    if (fcp->nc <= MANY_CONTACTS) {
        rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, 0, false, false};
    }
    rungs[count++] =
        (fcp_rung){"gs", pp_gs_fcp, fcp->nc <= MANY_CONTACTS ? 5000 : 1500, false, false};
    rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, 0, true, false};
    if (pp_fcp_is_polygonal(fcp) && fcp->nc <= LEMKE_MOST) {
        rungs[count++] = (fcp_rung){"lemke", lemke_on_pyramid, 0, false, false};
    }
    rungs[count++] =
        (fcp_rung){"eg", pp_eg_fcp, fcp->nc <= MANY_CONTACTS ? 20000 : 2000, true, false};
    return count;
}

// Few contacts, or many of them moved by each: then Newton's steps cost less than sweeps.
static bool is_full(const perp_fcp *fcp)
{
    size_t n = (size_t)(fcp->nc * fcp->dim);
    return n <= QUICK_ROWS || 8 * pp_matrix_entries(&fcp->W) > n * n;
}

// The first rung where contacts are few: in place, since a failure leaves r alone and the fixed cost counts.
static perp_status begin_quickly(const perp_fcp *fcp, const pp_job *job, double *r,
                                 pp_report *report)
{
    const perp_comp_options *asked = job->options;
    perp_comp_options options;
    perp_fcp_residuals *residuals = &report->residuals;
    pp_job own = *job;
    if (asked->warm_start) {
        options = *asked;
        options.tolerance = fmin(asked->tolerance, fmax(CLOSER * asked->tolerance, CLOSEST));
        own.options = &options;
    }
    pp_mark mark = pp_arena_mark(job->arena);
    perp_status status = pp_ssn_quick(fcp, &own, r, NULL, report);
    pp_arena_release(job->arena, mark);
    report->rungs = 1;
    if (status >= 0) {
        status = pp_fcp_judge(fcp, r, NULL, asked->tolerance, job->arena, residuals);
    }
    bool solved = status >= 0 && pp_fcp_worst(fcp, residuals) <= asked->tolerance;
    if (solved) {
        report->judged = true;
        report->solver = "ssn";
    }
    pp_auto_append_reason(report, "ssn", status, solved, "");
    return solved || status == PERP_ERR_MEMORY ? status : PERP_ERR_LIMIT;
}

// All rungs, until the judge accepts.
static perp_status run_ladder(fcp_ladder *c, bool guess)
{
    perp_comp_options options = *c->job->options;
    options.warm_start = guess;
    fcp_rung rungs[RUNGS_MAX];
    int count = choose_rungs(c->solved, &options, rungs);
    perp_status status = PERP_OK;
    for (int k = 0; k < count && c->residual > options.tolerance; k++) {
        if (k > 0 && (c->left < 0 || pp_job_is_over(c->job))) {
            c->worst = PERP_ERR_LIMIT;
            break;
        }
        status = try_solver(c, rungs[k]);
        if (status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE) {
            break;
        }
    }
    return status;
}

// Where contacts are of very different sizes solvers stop too soon, since what they stop by is a norm over all of them: then
// in balanced units.
static perp_status run_ladder_equilibrated(fcp_ladder *c)
{
    perp_fcp balanced;
    pp_units units;
    bool helps;
    perp_status status = pp_fcp_equilibrate(c->fcp, c->job->arena, &balanced, &units, &helps);
    if (status < 0 || !helps) {
        return status;
    }
    const perp_fcp *plain = c->solved;
    const pp_units *none = c->units;
    c->solved = &balanced;
    c->units = &units;
    status = run_ladder(c, false);
    c->solved = plain;
    c->units = none;
    return status;
}

perp_status pp_auto_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                        pp_report *report)
{
    size_t n = (size_t)(fcp->nc * fcp->dim);
    if (pp_ssn_quick_fits(fcp, job->options) && is_full(fcp)) {
        perp_status status = begin_quickly(fcp, job, r, report);
        if (status != PERP_ERR_LIMIT) {
            return status;
        }
    }
    fcp_ladder c = {.fcp = fcp, .solved = fcp, .job = job, .r = r, .v = v, .residual = PP_INF};
    c.report = report;
    c.left = job->options->max_iterations;
    c.trial_r = PP_ARRAY(job->arena, double, n);
    c.trial_v = PP_ARRAY(job->arena, double, fcp->nv);
    if (!c.trial_r || !c.trial_v) {
        return PERP_ERR_MEMORY;
    }
    report->solver = "auto";
    perp_status status = run_ladder(&c, job->options->warm_start);
    bool ended = status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE;
    if (!ended && c.residual > job->options->tolerance && c.left >= 0 && !pp_job_is_over(job)) {
        status = run_ladder_equilibrated(&c);
        ended = status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE;
    }
    if (ended) {
        return status;
    }
    if (c.residual <= job->options->tolerance) {
        return PERP_OK;
    }
    return c.worst < 0 ? c.worst : PERP_ERR_LIMIT;
}
