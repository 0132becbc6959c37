// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The fallback ladder for contact problems. Rungs run in this order
// until the judge accepts an answer:
//
//   ssn, 15 steps     from a guess only: enough for most steps of a simulation
//   gs, some sweeps   exact one-contact solves; often enough by themselves
//   ssn               from the iterate of gs, then (up to 100 contacts) from zero: units of very
//                     different size, where the iterate of gs is good in norms and bad in one row
//   lemke             polygonal friction: the Stewart–Trinkle LCP, up to 500 contacts
//
// Where no rung is accepted and the contacts differ much in size, the ladder runs again in
// equilibrated units (equilibrate.c). Proved is what its rungs prove; docs/solvers.md has the
// ablation. The residuals of the answer that is kept go into the report, so that dispatch.c does
// not judge it twice.
#include "comp/auto.h"
#include "comp/problem/equilibrate.h"

#include <math.h>
#include <string.h>

enum {
    GUESS_FROM = 8,     // contacts from which a guess goes to ssn first
    GUESS_STEPS = 15,   // Newton steps from a guess
    SWEEPS_LEAST = 50,  // of gs, and one more for each SWEEPS_PER contacts
    SWEEPS_PER = 4,
    SWEEPS_LOOSE = 1000,  // where the tolerance is LOOSE or looser
    LEMKE_MOST = 500,     // contacts of a polygonal problem that lemke is tried on
    COLD_MOST = 100,      // contacts up to which ssn also starts from zero
    RUNGS = 5,
    PASSES = 3  // runs of a rung, until each contact is accurate by itself
};

static const double LOOSE = 1e-5;  // at this tolerance gs is worth many sweeps

// From a guess the iterate is brought to this part of the tolerance, where that is quick: impulses that are off by the whole tolerance move the bodies of a simulation a little
// more in every step.
static const double CLOSER = 0.01;

// One rung: a solver, how long it may run, and from where.
typedef struct fcp_rung {
    const char *name;
    pp_fcp_solver *solve;
    int limit;   // iterations, 0: its own choice
    bool warm;   // from the best answer so far
    bool close;  // to CLOSER of the tolerance
} fcp_rung;

// The best answer so far, and the iterate of the rung that runs.
typedef struct fcp_ladder {
    const perp_fcp *fcp;     // as posed: what is judged
    const perp_fcp *solved;  // the same, or in other units: what solvers see
    const pp_units *units;   // of the latter; NULL: those of the former
    const pp_job *job;
    double *r, *v;              // the best answer so far
    double *trial_r, *trial_v;  // in the units of `fcp`, but while a solver runs
    double residual;            // of r, v
    perp_status worst;          // the most informative failure
    int left;                   // iterations of the caller's budget, 0: no limit, -1: none
    pp_report *report;
} fcp_ladder;

// Residuals of the trial. Fails for want of memory only: a judge that cannot measure (a singular M)
// means an infinite residual.
static perp_status judge_trial(const fcp_ladder *c, perp_fcp_residuals *residuals, double *worst)
{
    perp_status status = pp_fcp_judge(c->fcp, c->trial_r, c->trial_v, c->job->options->tolerance,
                                      c->job->arena, residuals);
    *worst = PP_INF;
    if (status >= 0) {
        *worst = pp_fcp_worst(c->fcp, residuals);
    }
    return pp_is_final(status) ? status : PERP_OK;
}

// Lemke's method on the Stewart–Trinkle problem, as a solver of contact problems.
static perp_status lemke_on_pyramid(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                                    pp_report *report)
{
    return pp_solve_as_mcp(pp_lemke_mcp, fcp, job, r, v, report);
}

// Converts the trial from the units of `fcp` to those of `solved`, or back. The factors are powers
// of two: nothing is rounded.
static void change_units(fcp_ladder *c, bool back)
{
    if (!c->units) {
        return;
    }
    for (int i = 0; i < c->fcp->nc * c->fcp->dim; i++) {
        c->trial_r[i] *= back ? c->units->col[i] : 1.0 / c->units->col[i];
    }
    for (int k = 0; k < c->fcp->nv; k++) {
        c->trial_v[k] *= back ? c->units->body[k] : 1.0 / c->units->body[k];
    }
}

// Runs one rung, judges its answer and keeps it where its residual is the
// least so far. Returns the rung's status.
static perp_status run_rung(fcp_ladder *c, fcp_rung k)
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
    // Norms over all contacts may accept what the backward error of a contact does not: the rung
    // then goes on from its answer with a smaller tolerance.
    for (int pass = 0; pass < PASSES; pass++) {
        pp_mark mark = pp_arena_mark(job.arena);
        status = k.solve(c->solved, &job, c->trial_r, c->trial_v, &report);
        pp_arena_release(job.arena, mark);
        change_units(c, true);
        if (pp_is_final(status) || judge_trial(c, &residuals, &residual) < 0) {
            return PERP_ERR_MEMORY;
        }
        if (pass + 1 == PASSES || !pp_auto_tighten(&residuals, residual, &job, &options)) {
            break;
        }
        change_units(c, false);
    }
    // effort adds up over the rungs; iterations and solver are those of the answer that is kept
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

// The rungs for a problem, in order; returns how many.
static int choose_fcp_rungs(const perp_fcp *fcp, const perp_comp_options *options,
                            fcp_rung rungs[RUNGS])
{
    int count = 0, sweeps = SWEEPS_LEAST + fcp->nc / SWEEPS_PER;
    if (options->warm_start && fcp->nc > GUESS_FROM) {
        rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, GUESS_STEPS, true, true};
    }
    sweeps = options->tolerance >= LOOSE && sweeps < SWEEPS_LOOSE ? SWEEPS_LOOSE : sweeps;
    rungs[count++] = (fcp_rung){"gs", pp_gs_fcp, sweeps, options->warm_start, false};
    rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, 0, true, false};
    if (fcp->nc <= COLD_MOST) {
        rungs[count++] = (fcp_rung){"ssn", pp_ssn_fcp, 0, false, false};
    }
    if (pp_fcp_is_polygonal(fcp) && fcp->nc <= LEMKE_MOST) {
        rungs[count++] = (fcp_rung){"lemke", lemke_on_pyramid, 0, false, false};
    }
    return count;
}

// Runs the rungs until one is accepted, infeasibility is proved, or the budget is used up.
static perp_status run_fcp_ladder(fcp_ladder *c, bool guess)
{
    perp_comp_options options = *c->job->options;
    options.warm_start = guess;
    fcp_rung rungs[RUNGS];
    int count = choose_fcp_rungs(c->solved, &options, rungs);
    perp_status status = PERP_OK;
    for (int k = 0; k < count && c->residual > options.tolerance; k++) {
        // the first rung always runs, so that there is an iterate to return
        if (k > 0 && (c->left < 0 || pp_job_is_over(c->job))) {
            c->worst = PERP_ERR_LIMIT;
            break;
        }
        status = run_rung(c, rungs[k]);
        if (pp_is_final(status) || status == PERP_ERR_INFEASIBLE) {
            break;
        }
    }
    return status;
}

// Solvers stop by norms over all contacts, too soon where contacts differ by many powers of ten.
// The ladder runs again in equilibrated units; answers are still judged in the units of `fcp`.
static perp_status run_fcp_ladder_equilibrated(fcp_ladder *c)
{
    perp_fcp balanced;
    pp_units units;
    bool helps;
    perp_status status = pp_fcp_equilibrate(c->fcp, c->job->arena, &balanced, &units, &helps);
    if (status < 0 || !helps) {
        return status;
    }
    // units change between rungs, the best answer stays in those of `fcp`
    const perp_fcp *plain = c->solved;
    const pp_units *none = c->units;
    c->solved = &balanced;
    c->units = &units;
    status = run_fcp_ladder(c, false);
    c->solved = plain;
    c->units = none;
    return status;
}

perp_status pp_auto_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                        pp_report *report)
{
    size_t n = (size_t)(fcp->nc * fcp->dim);
    fcp_ladder c = {.fcp = fcp, .solved = fcp, .job = job, .r = r, .v = v, .residual = PP_INF};
    c.report = report;
    c.left = job->options->max_iterations;
    c.trial_r = PP_ARRAY(job->arena, double, n);
    c.trial_v = PP_ARRAY(job->arena, double, fcp->nv);
    if (!c.trial_r || !c.trial_v) {
        return PERP_ERR_MEMORY;
    }
    report->solver = "auto";
    perp_status status = run_fcp_ladder(&c, job->options->warm_start);
    // no memory, or a proof: other units change neither
    bool ended = pp_is_final(status) || status == PERP_ERR_INFEASIBLE;
    if (!ended && c.residual > job->options->tolerance && c.left >= 0 && !pp_job_is_over(job)) {
        status = run_fcp_ladder_equilibrated(&c);
        ended = pp_is_final(status) || status == PERP_ERR_INFEASIBLE;
    }
    if (ended) {
        return status;
    }
    if (c.residual <= job->options->tolerance) {
        return PERP_OK;
    }
    return c.worst < 0 ? c.worst : PERP_ERR_LIMIT;
}
