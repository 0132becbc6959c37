// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The corrector: e with l_1 e + z_1 = h f(t, z_0 + e), by iteration for Adams methods, by Newton's method with a dense
// Jacobian from differences for backward differentiation formulas.
#include "hybrid/ode_state.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_ITERATIONS = 3,
    FACTOR_STEPS = 20,    // steps that LU factors serve at most
    JACOBIAN_STEPS = 51,  // steps that a Jacobian serves at most
};
static const double ITERATION_SHARE = 0.1;   // of the local error that the iteration may leave
static const double RATE_DECAY = 0.3;        // of the estimated rate of convergence, per iteration
static const double DIVERGING = 2.0;         // growth of corrections at which an iteration ends
static const double GAMMA_CHANGE = 0.3;      // relative change of gamma that LU factors bear
static const double LEAST_INCREMENT = 1000;  // of differences, in units of rounding

double pp_ode_norm(const pp_ode *ode, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < ode->n; i++) {
        double x = v[i] * ode->weight[i];
        sum += x * x;
    }
    return sqrt(sum / ode->n);
}

perp_status pp_ode_evaluate(pp_ode *ode, double t, const double *y, double *f)
{
    perp_status status = ode->rate(ode->user, t, y, f);
    if (status < 0) {
        ode->status = status;
    }
    return status;
}

// ── Convergence ──────────────────────────────────────────────────────────────────────────────────

typedef struct progress {
    int count;            // iterations so far
    double change, rate;  // norm of the last change; estimated rate of convergence
} progress;

typedef enum outcome { GO_ON, CONVERGED, FAILED } outcome;

// Whether the last change, of this norm, was small enough: the next ones shrink at the estimated rate.
static outcome judge(pp_ode *ode, progress *p, double change)
{
    if (p->count > 0) {
        p->rate = fmax(RATE_DECAY * p->rate, change / p->change);
    }
    if (change * fmin(1.0, p->rate) * ode->method.error <= ITERATION_SHARE) {
        ode->e_norm = p->count == 0 ? change : pp_ode_norm(ode, ode->e);
        return CONVERGED;
    }
    // Written so that a change that is no number fails.
    if (p->count > 0 && !(change <= DIVERGING * p->change)) {
        return FAILED;
    }
    p->change = change;
    p->count++;
    return p->count < MOST_ITERATIONS ? GO_ON : FAILED;
}

// ── Iteration ────────────────────────────────────────────────────────────────────────────────────

static perp_status iterate(pp_ode *ode, double t, bool *converged)
{
    progress p = {.rate = 1.0};
    outcome result = GO_ON;
    double share = 1.0 / ode->method.l[1];
    memset(ode->e, 0, (size_t)ode->n * sizeof *ode->e);
    while (result == GO_ON) {
        for (int i = 0; i < ode->n; i++) {
            ode->y[i] = ode->z[0][i] + ode->e[i];
        }
        perp_status status = pp_ode_evaluate(ode, t, ode->y, ode->f);
        if (status < 0) {
            return status;
        }
        for (int i = 0; i < ode->n; i++) {
            double e = share * (ode->h * ode->f[i] - ode->z[1][i]);
            ode->work[i] = e - ode->e[i];
            ode->e[i] = e;
        }
        result = judge(ode, &p, pp_ode_norm(ode, ode->work));
    }
    *converged = result == CONVERGED;
    return PERP_OK;
}

// ── Newton's method ──────────────────────────────────────────────────────────────────────────────

// df/dy by differences at ode->y, where f was evaluated last.
static perp_status evaluate_jacobian(pp_ode *ode, double t)
{
    size_t n = (size_t)ode->n;
    double size = pp_ode_norm(ode, ode->f);
    double least = size > 0.0 ? LEAST_INCREMENT * ode->h * DBL_EPSILON * ode->n * size : 1.0;
    for (size_t j = 0; j < n; j++) {
        double kept = ode->y[j];
        double increment = fmax(sqrt(DBL_EPSILON) * fabs(kept), least / ode->weight[j]);
        ode->y[j] = kept + increment;
        perp_status status = pp_ode_evaluate(ode, t, ode->y, ode->work);
        ode->y[j] = kept;
        if (status < 0) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            ode->jacobian[i + n * j] = (ode->work[i] - ode->f[i]) / increment;
        }
    }
    ode->jacobian_step = ode->steps;
    return PERP_OK;
}

// LU factors of 1 - gamma df/dy; false: it is singular.
static bool factor_matrix(pp_ode *ode)
{
    size_t n = (size_t)ode->n;
    for (size_t k = 0; k < n * n; k++) {
        ode->factor[k] = -ode->gamma * ode->jacobian[k];
    }
    for (size_t i = 0; i < n; i++) {
        ode->factor[i + n * i] += 1.0;
    }
    ode->gamma_factor = ode->gamma;
    ode->factor_step = ode->steps;
    return pp_lu_factor(ode->n, ode->factor, ode->n, ode->pivot, 0.0) == 0;
}

// y = z_0 + e and f there.
static perp_status evaluate_at_correction(pp_ode *ode, double t)
{
    for (int i = 0; i < ode->n; i++) {
        ode->y[i] = ode->z[0][i] + ode->e[i];
    }
    return pp_ode_evaluate(ode, t, ode->y, ode->f);
}

// From f at e, until the changes of e are small.
static perp_status newton_iterations(pp_ode *ode, double t, bool *converged)
{
    progress p = {.rate = 1.0};
    // Factors of another gamma give changes that are too long or too short by this.
    double scale = 2.0 / (1.0 + ode->gamma / ode->gamma_factor);
    for (;;) {
        for (int i = 0; i < ode->n; i++) {
            ode->work[i] = ode->gamma * ode->f[i] - ode->z[1][i] / ode->method.l[1] - ode->e[i];
        }
        pp_lu_solve(ode->n, ode->factor, ode->n, ode->pivot, ode->work);
        for (int i = 0; i < ode->n; i++) {
            ode->work[i] *= scale;
            ode->e[i] += ode->work[i];
        }
        outcome result = judge(ode, &p, pp_ode_norm(ode, ode->work));
        *converged = result == CONVERGED;
        if (result != GO_ON) {
            return PERP_OK;
        }
        perp_status status = evaluate_at_correction(ode, t);
        if (status < 0) {
            return status;
        }
    }
}

static perp_status newton(pp_ode *ode, double t, pp_attempt before, bool *converged)
{
    ode->gamma = ode->h / ode->method.l[1];
    bool fresh = ode->jacobian_step < 0 || ode->steps >= ode->jacobian_step + JACOBIAN_STEPS ||
                 before == PP_ATTEMPT_DIVERGED;
    bool factor = fresh || before != PP_ATTEMPT_FIRST ||
                  ode->steps >= ode->factor_step + FACTOR_STEPS ||
                  fabs(ode->gamma / ode->gamma_factor - 1.0) > GAMMA_CHANGE;
    // Where it fails with an old Jacobian, once more with a new one.
    for (;;) {
        memset(ode->e, 0, (size_t)ode->n * sizeof *ode->e);
        perp_status status = evaluate_at_correction(ode, t);
        if (status >= 0 && fresh) {
            status = evaluate_jacobian(ode, t);
        }
        if (status < 0) {
            return status;
        }
        if (factor && !factor_matrix(ode)) {
            *converged = false;
            return PERP_OK;
        }
        status = newton_iterations(ode, t, converged);
        if ((status >= 0 && *converged) || fresh || pp_is_final(status)) {
            return status;
        }
        fresh = factor = true;
    }
}

perp_status pp_ode_correct(pp_ode *ode, double t, pp_attempt before, bool *converged)
{
    *converged = false;
    perp_status status =
        ode->stiff ? newton(ode, t, before, converged) : iterate(ode, t, converged);
    if (status >= 0) {
        ode->failures += !*converged;
        return status;
    }
    *converged = false;
    ode->failures++;
    return pp_is_final(status) ? status : PERP_OK;
}
