// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Semi-smooth Newton for frictional contact with the exact law: disc or polygon, sliding, torsion,
// rolling.
//
// Outer loop: the proximal point method. From r_k, solve (loosely) the problem with
//
//   u = W r + q + alpha (r - r_k)                                                    theory (C23)
//
// whose solutions are isolated where W is singular; then shrink alpha. Inner loop: Newton on the
// Alart–Curnier map F of that problem with rho = 1 / (1 + alpha), which in scaled units is the
// inverse of the mean diagonal of W + alpha I; Armijo backtracking on |F|, and the full step when
// backtracking finds nothing, since F is not smooth and |F| may have to grow on the way.
// When an inner solve fails and r did not get better, r stays and alpha grows tenfold. When the outer
// loop stalls, it starts again from elsewhere with a larger alpha.
//
// No proof of global convergence exists for Coulomb friction; the iterate with the smallest residual
// is what the caller gets.
#include "comp/ssn.h"

#include <math.h>
#include <string.h>

enum {
    INNER_MAX = 30,    // Newton steps of an inner solve
    TRIAL_MAX = 8,     // the same where a good guess is tried without ado,
    TRIAL_SOON = 3,    // steps after which |F| must have fallen tenfold there
    OUTER_MAX = 60,    // proximal steps of an attempt
    PATIENCE = 16,     // proximal steps in which the residual must halve
    BACKTRACKS = 8,    // halvings of a Newton step
    STEPS_MAX = 1500,  // Newton steps in all, when the caller does not say; more when small
    GS_SWEEPS = 100,   // of Gauss–Seidel, to start an attempt
};

#define ALPHA_LEAST 1e-9
#define ALPHA_FIRST 0.1  // from a cold start
#define ALPHA_MOST  1e4
#define ROUNDING    1e-13

typedef struct newton {
    const pp_ssn *ssn;
    const pp_job *job;
    pp_ssn_linear *linear;
    double *r;                       // the outer iterate
    double *x, *trial, *dx;          // the inner iterate, its trial and step
    double *q, *u, *F, *P;           // q - alpha r; W x + alpha x + q; the map; its blocks
    double *work;                    // n, for residuals
    double *best;                    // smallest residual seen
    pp_ssn_residuals at_r, at_best;  // residuals of r and best
    double stretch;                  // rho of the map in units of 1 / (1 + alpha)
    bool hasty;                      // give up soon
    int steps, steps_max;
    double seconds_factor;
    perp_status fatal;  // PERP_ERR_MEMORY ends everything
} newton;

static bool out_of_budget(const newton *s)
{
    return s->fatal < 0 || s->steps >= s->steps_max || pp_seconds() >= s->job->deadline;
}

static double worst(pp_ssn_residuals e)
{
    return fmax(e.plain, e.scaled);
}

// F at x with the proximal term; the Jacobian too when P is not NULL.
static double evaluate(newton *s, const double *x, double alpha, double *P)
{
    int n = s->ssn->n;
    for (int i = 0; i < n; i++) {
        s->u[i] = s->q[i] + alpha * x[i];
    }
    pp_blocks_mul(&s->ssn->W, x, s->u);
    return pp_ssn_map(s->ssn, s->stretch / (1.0 + alpha), x, s->u, s->F, P);
}

// dx = -J \ F at the P of the last evaluation.
static perp_status newton_direction(newton *s, double alpha)
{
    double start = pp_seconds();
    perp_status status = pp_ssn_linear_factor(s->linear, alpha, s->stretch / (1.0 + alpha), s->P);
    if (status == PERP_OK) {
        for (int i = 0; i < s->ssn->n; i++) {
            s->dx[i] = -s->F[i];
        }
        status = pp_ssn_linear_solve(s->linear, s->dx);
    }
    s->seconds_factor += pp_seconds() - start;
    s->fatal = status == PERP_ERR_MEMORY ? status : s->fatal;
    return status;
}

static void step_along(const newton *s, double t)
{
    for (int i = 0; i < s->ssn->n; i++) {
        s->trial[i] = s->x[i] + t * s->dx[i];
    }
}

static void line_search(newton *s, double alpha, double size)
{
    double t = 1.0;
    for (int k = 0; k < BACKTRACKS; k++) {
        step_along(s, t);
        if (evaluate(s, s->trial, alpha, NULL) < (1.0 - 1e-4 * t) * size) {
            return;
        }
        t *= 0.5;
    }
    step_along(s, 1.0);
}

// One proximal step from r into x. True when |F| fell as far as the outer iterate deserves.
static bool inner_solve(newton *s, double alpha)
{
    int n = s->ssn->n, most = s->hasty ? TRIAL_MAX : INNER_MAX;
    double first = PP_INF;
    double accuracy = 1e-2 * fmin(s->at_r.scaled, 1e-2) * fmin(1.0, alpha);
    double q_size = pp_norm2(n, s->ssn->q) / (1.0 + alpha);
    for (int i = 0; i < n; i++) {
        s->q[i] = s->ssn->q[i] - alpha * s->r[i];
    }
    memcpy(s->x, s->r, (size_t)n * sizeof *s->x);
    for (int k = 0; k < most && !out_of_budget(s); k++) {
        double size = evaluate(s, s->x, alpha, s->P);
        first = k == 0 ? size : first;
        if (size <= fmax(1e-13, accuracy) * fmax(pp_norm2(n, s->x), q_size)) {
            return true;
        }
        bool slow = s->hasty && k >= TRIAL_SOON && size > 0.1 * first;
        if (slow || newton_direction(s, alpha) < 0) {
            return false;
        }
        s->steps++;
        line_search(s, alpha, size);
        memcpy(s->x, s->trial, (size_t)n * sizeof *s->x);
    }
    return false;
}

static void remember(newton *s)
{
    if (worst(s->at_r) < worst(s->at_best)) {
        s->at_best = s->at_r;
        memcpy(s->best, s->r, (size_t)s->ssn->n * sizeof *s->best);
    }
}

// How an attempt goes about it.
typedef enum beginning { START_ZERO, START_GUESS, START_SWEEPS, START_BEST, START_STICK } beginning;

typedef struct plan {
    beginning start;
    double alpha;    // of the first proximal step
    double shrink;   // of alpha after a success
    double stretch;  // of rho
    enum {
        ABSOLUTE,
        RELATIVE,
        TRIAL
    } kind;  // RELATIVE: alpha is in units of the start's residual;
             // TRIAL: likewise, and the first failure ends it
} plan;

// Starts r: zero, the caller's guess (in x), the best so far, pressed on every contact, or some sweeps
// of Gauss–Seidel from zero.
static void start_at(newton *s, beginning start)
{
    int n = s->ssn->n, d = s->ssn->dim;
    const double *from = start == START_BEST ? s->best : start == START_GUESS ? s->x : NULL;
    if (from) {
        memcpy(s->r, from, (size_t)n * sizeof *s->r);
    } else {
        memset(s->r, 0, (size_t)n * sizeof *s->r);
    }
    for (int c = 0; start == START_STICK && c < s->ssn->nc; c++) {
        s->r[c * d] = 1.0;
    }
    if (start == START_SWEEPS) {
        pp_ssn_sweep(s->ssn, GS_SWEEPS, s->r, s->u);
    }
    s->at_r = pp_ssn_residual(s->ssn, s->r, s->work);
    remember(s);
}

// The outer loop from r. True when both residuals are at most the tolerance.
static bool attempt(newton *s, const plan *how)
{
    int n = s->ssn->n;
    double alpha = how->alpha, target = s->job->options->tolerance, mark = PP_INF;
    if (how->kind != ABSOLUTE) {
        alpha = fmin(fmax(alpha * s->at_r.scaled, ALPHA_LEAST), ALPHA_FIRST);
    }
    s->stretch = how->stretch;
    s->hasty = how->kind == TRIAL;
    for (int k = 0; k < OUTER_MAX && alpha <= ALPHA_MOST && !out_of_budget(s); k++) {
        if (worst(s->at_r) <= target) {
            return true;
        }
        if (k % PATIENCE == 0) {
            if (s->at_r.scaled > 0.5 * mark) {
                break;
            }
            mark = s->at_r.scaled;
        }
        bool solved = inner_solve(s, alpha);
        pp_ssn_residuals e = {PP_INF, PP_INF};
        if (pp_all_finite((size_t)n, s->x)) {
            e = pp_ssn_residual(s->ssn, s->x, s->work);
        }
        if (!isfinite(e.scaled) || (!solved && e.scaled > s->at_r.scaled)) {
            if (s->hasty) {
                break;
            }
            alpha *= 10.0;
            continue;
        }
        memcpy(s->r, s->x, (size_t)n * sizeof *s->r);
        s->at_r = e;
        remember(s);
        alpha = fmax(solved ? alpha * how->shrink : alpha, ALPHA_LEAST);
        if (s->hasty && !solved) {
            break;
        }
    }
    return worst(s->at_r) <= target;
}

static perp_status newton_create(const pp_ssn *ssn, const perp_fcp *bodies, const pp_job *job,
                                 newton *s)
{
    int n = ssn->n, limit = job->options->max_iterations;
    *s = (newton){.ssn = ssn, .job = job, .at_best = {PP_INF, PP_INF}};
    double **vectors[] = {&s->r, &s->x, &s->trial, &s->dx, &s->q, &s->u, &s->F, &s->best, &s->work};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(job->arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    s->P = PP_ZEROS(job->arena, double, (size_t)n *(size_t)ssn->dim);
    s->steps_max = limit > 0 ? limit : n > 1000 ? STEPS_MAX : 3 * STEPS_MAX;
    return s->P ? pp_ssn_linear_create(ssn, bodies, job->arena, &s->linear) : PERP_ERR_MEMORY;
}

static bool solve_scaled(newton *s, bool warm)
{
    static const plan plans[] = {
        {START_GUESS, 1e-4, 0.1, 1.0, TRIAL},          {START_BEST, 1.0, 0.1, 1.0, RELATIVE},
        {START_ZERO, ALPHA_FIRST, 0.1, 1.0, ABSOLUTE}, {START_SWEEPS, 1.0, 0.3, 1.0, ABSOLUTE},
        {START_SWEEPS, 0.1, 0.1, 0.2, ABSOLUTE},       {START_STICK, 0.1, 0.1, 1.0, ABSOLUTE},
        {START_SWEEPS, 1.0, 0.1, 5.0, ABSOLUTE},       {START_ZERO, 10.0, 0.3, 1.0, ABSOLUTE},
        {START_BEST, 1e-3, 0.1, 1.0, ABSOLUTE},        {START_STICK, 1.0, 0.3, 0.2, ABSOLUTE},
        {START_ZERO, 1e-2, 0.1, 3.0, ABSOLUTE},
    };
    enum { COLD = 2 };  // the first two are for a guess
    for (size_t k = warm ? 0 : COLD; k < sizeof plans / sizeof plans[0] && !out_of_budget(s); k++) {
        start_at(s, plans[k].start);
        if (attempt(s, &plans[k])) {
            return true;
        }
        if (s->at_best.scaled <= ROUNDING) {
            break;  // rho = 1 is so far from the units of W that (C7) is rounding
        }
    }
    return false;
}

static perp_status conclude(const newton *s, bool solved, pp_report *report)
{
    report->iterations = s->steps;
    report->seconds_factor = s->seconds_factor;
    if (s->fatal < 0) {
        return s->fatal;
    }
    if (solved) {
        return PERP_OK;
    }
    const char *why = s->steps >= s->steps_max           ? "step limit"
                      : pp_seconds() >= s->job->deadline ? "time limit"
                                                         : "every start stalled";
    pp_print(report->reason, sizeof report->reason,
             "%s after %d Newton steps; best residuals %.1e (rho 1), %.1e (scaled)", why, s->steps,
             s->at_best.plain, s->at_best.scaled);
    return PERP_ERR_LIMIT;
}

// bodies: the global problem it was condensed from, NULL: none.
static perp_status solve_local(const perp_fcp *fcp, const perp_fcp *bodies, const pp_job *job,
                               double *r, pp_report *report)
{
    pp_ssn *ssn = NULL;
    newton s = {0};
    perp_status status = pp_ssn_create(fcp, job->arena, &ssn);
    status = status < 0 ? status : newton_create(ssn, bodies, job, &s);
    if (status == PERP_OK) {
        for (int i = 0; i < ssn->n; i++) {
            s.x[i] = r[i] / ssn->scale[i];
        }
        bool warm = job->options->warm_start && pp_all_finite((size_t)ssn->n, s.x);
        bool solved = solve_scaled(&s, warm);
        status = conclude(&s, solved, report);
        for (int i = 0; i < ssn->n; i++) {
            r[i] = ssn->scale[i] * s.best[i];
        }
    }
    pp_ssn_linear_destroy(s.linear);
    return status;
}

perp_status pp_ssn_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                       pp_report *report)
{
    if (fcp->nv == 0) {
        return solve_local(fcp, NULL, job, r, report);
    }
    perp_fcp local;
    pp_mass *mass = NULL;
    perp_status status = pp_mass_create(&fcp->M, job->arena, &mass);
    if (status == PERP_ERR_SINGULAR) {
        pp_print(report->reason, sizeof report->reason, "M is not positive definite");
    }
    status = status < 0 ? status : pp_fcp_condense(fcp, mass, job->arena, &local);
    if (status == PERP_OK) {
        status = solve_local(&local, fcp, job, r, report);
        perp_status end = v ? pp_fcp_velocity(fcp, mass, r, v) : PERP_OK;
        status = end < 0 ? end : status;
    }
    pp_mass_destroy(mass);
    return status;
}
