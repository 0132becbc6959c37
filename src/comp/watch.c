// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// When a first-order solver stops: residuals, limits, stall; and the best iterate it has seen.
#include "comp/first.h"

#include <math.h>
#include <string.h>

enum { FRESH = 20 };  // iterations for which the updates of the state have not drifted

// Measuring costs about as much as a sweep over well-behaved contacts: at most every tenth iteration.
static int next_measure(int iteration)
{
    return iteration + 1 + (iteration < 100 ? iteration / 10 : 10);
}

static double larger(pp_gauge gauge)
{
    double worst = fmax(gauge.plain, gauge.scaled);
    return isnan(gauge.plain) || isnan(gauge.scaled) ? PP_INF : worst;
}

static void keep(pp_watch *watch, const double *r, double residual, int iteration)
{
    if (residual < watch->residual) {
        if (residual < 0.9 * watch->residual_then) {  // else it creeps: the stall clock runs on
            watch->residual_then = residual;
            watch->improved_at = iteration;
        }
        watch->residual = residual;
        memcpy(watch->best, r, (size_t)watch->first->n * sizeof *r);
    }
}

static perp_status start(pp_watch *watch, const pp_first *first, const pp_job *job,
                         const double *guess, const pp_first_method *method)
{
    const perp_comp_options *options = job->options;
    *watch =
        (pp_watch){.first = first,
                   .job = job,
                   .limit = options->max_iterations ? options->max_iterations : method->iterations,
                   .stall = method->stall,
                   .next = 1,
                   .residual = PP_INF,
                   .residual_then = PP_INF,
                   .best = PP_ZEROS(job->arena, double, first->n),
                   .state = PP_ARRAY(job->arena, double, first->size)};
    if (!watch->best || !watch->state) {
        return PERP_ERR_MEMORY;
    }
    if (options->warm_start && pp_all_finite((size_t)first->n, guess)) {
        pp_first_import(first, guess, watch->best);
    }
    pp_first_state(first, watch->best, watch->state);
    watch->residual = larger(pp_first_gauge(first, watch->best, watch->state));
    watch->residual_then = watch->residual;
    watch->done = watch->residual <= options->tolerance;
    return PERP_OK;
}

bool pp_watch_done(pp_watch *watch, int iteration, const double *r, double *state)
{
    const pp_first *first = watch->first;
    double tolerance = watch->job->options->tolerance;
    bool late = iteration >= watch->limit || pp_job_is_over(watch->job);
    watch->iterations = iteration;
    if (iteration >= watch->next || late) {
        watch->next = next_measure(iteration);
        if (iteration > FRESH) {
            pp_first_state(first, r, state);
        }
        double residual = larger(pp_first_gauge(first, r, state));
        if (iteration <= FRESH && (residual <= tolerance || late)) {
            pp_first_state(first, r, state);
            residual = larger(pp_first_gauge(first, r, state));
        }
        keep(watch, r, residual, iteration);
        watch->done = residual <= tolerance;
    }
    watch->stalled = iteration - watch->improved_at > watch->stall;
    watch->done = watch->done || late || watch->stalled;
    return watch->done;
}

static perp_status finish(const pp_watch *watch, const char *unit, perp_status status, double *r,
                          double *v, pp_report *report)
{
    if (status < 0) {
        return status;
    }
    report->iterations = watch->iterations;
    status = pp_first_export(watch->first, watch->best, r, v);
    if (status < 0 || watch->residual <= watch->job->options->tolerance) {
        return status;
    }
    pp_print(report->reason, sizeof report->reason, "%s after %d %s with residual %.1e",
             watch->stalled ? "no progress" : "limit reached", watch->iterations, unit,
             watch->residual);
    return PERP_ERR_LIMIT;
}

perp_status pp_first_run(const pp_first_method *method, const perp_fcp *fcp, const pp_job *job,
                         double *r, double *v, pp_report *report)
{
    pp_first first;
    pp_watch watch;
    double begin = pp_seconds();
    perp_status status = pp_first_create(fcp, job->arena, &first);
    if (status < 0) {
        return status;
    }
    status = start(&watch, &first, job, r, method);
    if (status == PERP_OK && !watch.done) {
        status = method->iterate(&first, job, &watch);
    }
    status = finish(&watch, method->unit, status, r, v, report);
    pp_first_destroy(&first);
    report->seconds_sweeps = pp_seconds() - begin;
    return status;
}
