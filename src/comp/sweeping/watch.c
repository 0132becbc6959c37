// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The frame of a first-order solver: when it measures residuals and when it stops (tolerance,
// limits, stall), and the iterate of least residual, which is what the caller gets.
#include "comp/sweeping/first.h"

#include <math.h>
#include <string.h>

enum { FRESH = 20 };  // iterations for which the updated state has not drifted by rounding

// The larger residual; infinite where one is no number.
static double larger(pp_ssn_residuals residuals)
{
    double worst = fmax(residuals.plain, residuals.scaled);
    return isnan(residuals.plain) || isnan(residuals.scaled) ? PP_INF : worst;
}

// The larger residual of r, at its state.
static double measure(const pp_best_iterate *best, const double *r, const double *state)
{
    for (int c = 0; c < best->ssn->nc; c++) {
        pp_ssn_velocity_at(best->ssn, state, c, best->u + c * best->ssn->dim);
    }
    return larger(pp_ssn_residual(best->ssn, r, best->u));
}

// Keeps r where its residual is the least so far. An improvement below
// a tenth does not count as progress.
static void store_if_better(pp_best_iterate *best, const double *r, double residual, int iteration)
{
    if (residual < best->residual) {
        if (residual < 0.9 * best->residual_then) {
            best->residual_then = residual;
            best->improved_at = iteration;
        }
        best->residual = residual;
        memcpy(best->best, r, (size_t)best->ssn->n * sizeof *r);
    }
}

// Sets the limits and measures the start, the caller's guess or zero.
static perp_status watch_start(pp_best_iterate *best, const pp_ssn *ssn, const pp_job *job,
                               const double *guess, const pp_first_order_method *method)
{
    const perp_comp_options *options = job->options;
    *best = (pp_best_iterate){.ssn = ssn,
                              .job = job,
                              .limit = options->max_iterations ? options->max_iterations
                                                               : method->iterations,
                              .stall = method->stall,
                              .next = 1,
                              .residual = PP_INF,
                              .residual_then = PP_INF,
                              .best = PP_ZEROS(job->arena, double, ssn->n),
                              .u = PP_ARRAY(job->arena, double, ssn->n),
                              .state = PP_ARRAY(job->arena, double, pp_ssn_state_size(ssn))};
    if (!best->best || !best->u || !best->state) {
        return PERP_ERR_MEMORY;
    }
    // a guess that is not finite is ignored
    if (options->warm_start && pp_all_finite((size_t)ssn->n, guess)) {
        for (int i = 0; i < ssn->n; i++) {
            best->best[i] = guess[i] / ssn->scale[i];
        }
    }
    // a guess within the tolerance needs no iteration
    pp_ssn_state(ssn, best->best, best->state);
    best->residual = measure(best, best->best, best->state);
    best->residual_then = best->residual;
    best->done = best->residual <= options->tolerance;
    return PERP_OK;
}

bool pp_best_iterate_done(pp_best_iterate *best, int iteration, const double *r, double *state)
{
    double tolerance = best->job->options->tolerance;
    bool late = iteration >= best->limit || pp_job_is_over(best->job);
    best->iterations = iteration;
    if (iteration >= best->next || late) {
        // measuring costs about as much as a sweep: every tenth iteration in the long run
        best->next = iteration + 1 + (iteration < 100 ? iteration / 10 : 10);
        if (iteration > FRESH) {
            pp_ssn_state(best->ssn, r, state);
        }
        double residual = measure(best, r, state);
        // the residual that decides is measured at a state computed anew
        if (iteration <= FRESH && (residual <= tolerance || late)) {
            pp_ssn_state(best->ssn, r, state);
            residual = measure(best, r, state);
        }
        store_if_better(best, r, residual, iteration);
        best->done = residual <= tolerance;
    }
    best->stalled = iteration - best->improved_at > best->stall;
    best->done = best->done || late || best->stalled;
    return best->done;
}

// Exports the best iterate and writes the report.
static perp_status watch_finish(const pp_best_iterate *best, const char *unit, double *r, double *v,
                                pp_report *report)
{
    report->iterations = best->iterations;
    perp_status status = pp_ssn_export(best->ssn, best->best, r, v);
    if (status < 0 || best->residual <= best->job->options->tolerance) {
        return status;
    }
    pp_print(report->reason, sizeof report->reason, "%s after %d %s with residual %.1e",
             best->stalled ? "no progress" : "limit reached", best->iterations, unit,
             best->residual);
    return PERP_ERR_LIMIT;
}

// seconds_sweeps includes the set-up.
perp_status pp_first_order_run(const pp_first_order_method *method, const perp_fcp *fcp,
                               const pp_job *job, double *r, double *v, pp_report *report)
{
    pp_ssn *ssn;
    pp_best_iterate best;
    double begin = pp_seconds();
    perp_status status = pp_ssn_open(fcp, job->arena, &ssn);
    if (status < 0) {
        return status;
    }
    status = pp_ssn_prepare_sweeps(ssn, job->arena);
    if (status == PERP_OK) {
        status = watch_start(&best, ssn, job, r, method);
    }
    if (status == PERP_OK && !best.done) {
        status = method->iterate(ssn, job, &best);
    }
    if (status >= 0) {
        status = watch_finish(&best, method->unit, r, v, report);
    }
    pp_ssn_close(ssn);
    report->seconds_sweeps = pp_seconds() - begin;
    return status;
}
