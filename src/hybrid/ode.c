// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Smooth integration: Adams methods of order 1 to 12 with an iterated corrector; backward differentiation formulas of
// order 1 to 5 with Newton's method where those fail. Steps and orders are chosen as in VODE (multistep.c has the
// references), so that the estimated local error stays below the tolerances. All functions used have the same bits on
// every machine.
#include "hybrid/ode_state.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_FAILURES = 40,  // in a step: steps can shrink far enough at a jump of the accelerations
    LONG_WAIT = 10,      // steps without another order after a return to order 1
    START_TRIALS = 4,    // of the length of the first step
};
static const double FIRST_GROWTH = 1e4, GROWTH = 10.0;  // of steps, at most; after the first one
static const double WORTH = 1.5;                        // growth that is worth a change of the step
static const double LEAST_SHRINK = 0.2, MOST_SHRINK = 0.1;  // of a step that is not accurate enough
static const double CORRECTOR_SHRINK = 0.25;                // of one whose corrector fails
static const double SAFETY = 6.0, SAFETY_UPPER = 10.0;      // factors of errors; of one order more

// ── Creation ─────────────────────────────────────────────────────────────────────────────────────

static size_t block_size(int n)
{
    return (size_t)n * (2 * PP_ORDERS + 6) * sizeof(double);
}

static size_t stiff_size(int n)
{
    return 2 * (size_t)n * (size_t)n * sizeof(double) + (size_t)n * sizeof(int);
}

void pp_ode_set_units(pp_ode *ode, const double *unit)
{
    ode->unit = unit;
}

perp_status pp_ode_create(pp_ode **out, int n, pp_ode_rate rate, void *user, double relative,
                          double absolute, const perp_env *env)
{
    pp_ode *ode = pp_alloc(env, sizeof *ode);
    *out = NULL;
    if (!ode) {
        return PERP_ERR_MEMORY;
    }
    *ode = (pp_ode){
        .n = n, .rate = rate, .user = user, .relative = relative, .absolute = absolute, .env = env};
    ode->block = pp_alloc(env, block_size(n));
    if (!ode->block) {
        pp_ode_destroy(ode);
        return PERP_ERR_MEMORY;
    }
    memset(ode->block, 0, block_size(n));
    // One block, cut into vectors of n numbers.
    double *next = ode->block;
    for (int j = 0; j < PP_ORDERS; j++) {
        ode->z[j] = next;
        ode->z_before[j] = next + n;
        next += 2 * n;
    }
    double **others[] = {&ode->e, &ode->e_before, &ode->weight, &ode->y, &ode->f, &ode->work};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        *others[k] = next;
        next += n;
    }
    *out = ode;
    return PERP_OK;
}

void pp_ode_destroy(pp_ode *ode)
{
    if (ode) {
        pp_free(ode->env, ode->stiff_block, stiff_size(ode->n));
        pp_free(ode->env, ode->block, block_size(ode->n));
        pp_free(ode->env, ode, sizeof *ode);
    }
}

perp_status pp_ode_limit(pp_ode *ode, double longest)
{
    ode->longest = longest;
    return PERP_OK;
}

perp_status pp_ode_start(pp_ode *ode, double t, const double *y, double stop)
{
    memmove(ode->z[0], y, (size_t)ode->n * sizeof *y);
    memset(ode->past, 0, sizeof ode->past);
    ode->t = t;
    ode->stop = stop;
    ode->longest = PP_INF;
    ode->steps = ode->failures = 0;
    ode->q = ode->q_next = 1;
    ode->wait = 2;
    ode->most = FIRST_GROWTH;
    ode->history = 0.0;
    ode->jacobian_step = ode->factor_step = -1;
    return PERP_OK;
}

// ── The first step ───────────────────────────────────────────────────────────────────────────────

static void set_weights(pp_ode *ode)
{
    for (int i = 0; i < ode->n; i++) {
        double least = ode->absolute * (ode->unit ? ode->unit[i] : 1.0);
        ode->weight[i] = 1.0 / (ode->relative * fabs(ode->z[0][i]) + least);
    }
}

// Norm of the second derivative, by a difference over h; z_1 is f.
static perp_status second_derivative(pp_ode *ode, double h, double *norm)
{
    for (int i = 0; i < ode->n; i++) {
        ode->y[i] = ode->z[0][i] + h * ode->z[1][i];
    }
    perp_status status = pp_ode_evaluate(ode, ode->t + h, ode->y, ode->f);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < ode->n; i++) {
        ode->work[i] = (ode->f[i] - ode->z[1][i]) / h;
    }
    *norm = pp_ode_norm(ode, ode->work);
    return PERP_OK;
}

// The first try, shortened while the right-hand side fails.
static perp_status try_second_derivative(pp_ode *ode, double *h, double *norm)
{
    perp_status status = PERP_OK;
    for (int k = 0; k < START_TRIALS; k++) {
        status = second_derivative(ode, *h, norm);
        if (status >= 0 || pp_is_final(status)) {
            return status;
        }
        *h *= 0.2;
    }
    return status;
}

// h such that h^2 |y''| / 2 is the tolerance, about; between bounds, halved for safety.
static perp_status choose_first_step(pp_ode *ode, double *first)
{
    double rest = ode->stop - ode->t;
    double shortest = 100.0 * DBL_EPSILON * fmax(fabs(ode->t), fabs(ode->stop));
    double rate = 10.0 / rest;
    // No component changes by more than a tenth, or its tolerance.
    for (int i = 0; i < ode->n; i++) {
        double room = 0.1 * fabs(ode->z[0][i]) + 1.0 / ode->weight[i];
        rate = fmax(rate, fabs(ode->z[1][i]) / room);
    }
    double longest = 1.0 / rate;
    double h = sqrt(shortest * longest), tried = h;
    *first = h;
    if (longest < shortest) {
        return PERP_OK;
    }
    for (int k = 0; k < START_TRIALS; k++) {
        double norm = 0.0;
        perp_status status = try_second_derivative(ode, &h, &norm);
        if (status < 0) {
            // A length that was tried before will do.
            if (k < 2 || pp_is_final(status)) {
                return status;
            }
            *first = tried;
            break;
        }
        tried = h;
        double better = norm * longest * longest > 2.0 ? sqrt(2.0 / norm) : sqrt(h * longest);
        *first = k > 0 && better > 2.0 * h ? h : better;
        if (*first <= 2.0 * h && *first > 0.5 * h) {
            break;
        }
        h = better;
    }
    *first = fmin(fmax(0.5 * *first, shortest), longest);
    return PERP_OK;
}

static perp_status begin(pp_ode *ode)
{
    double h = 0.0;
    // Too near to the end for a step.
    if (ode->stop - ode->t < 2.0 * DBL_EPSILON * fmax(fabs(ode->t), fabs(ode->stop))) {
        return PERP_ERR_LIMIT;
    }
    set_weights(ode);
    perp_status status = pp_ode_evaluate(ode, ode->t, ode->z[0], ode->z[1]);
    if (status < 0) {
        return status;
    }
    status = choose_first_step(ode, &h);
    if (status < 0) {
        return status;
    }
    h = fmin(h, ode->longest);
    if (ode->t + h > ode->stop) {
        h = (ode->stop - ode->t) * (1.0 - 4.0 * DBL_EPSILON);
    }
    for (int i = 0; i < ode->n; i++) {
        ode->z[1][i] *= h;
    }
    ode->h = ode->h_next = h;
    return PERP_OK;
}

// ── Changes of step and order ────────────────────────────────────────────────────────────────────

static void rescale(pp_ode *ode, double h)
{
    double ratio = h / ode->h, factor = 1.0;
    for (int j = 1; j <= ode->q; j++) {
        factor *= ratio;
        for (int i = 0; i < ode->n; i++) {
            ode->z[j][i] *= factor;
        }
    }
    ode->h = h;
}

static void add_scaled(pp_ode *ode, double factor, const double *v, double *to)
{
    for (int i = 0; i < ode->n; i++) {
        to[i] += factor * v[i];
    }
}

static void lower_order(pp_ode *ode)
{
    double d[PP_ORDERS];
    if (ode->stiff) {
        pp_bdf_lower(ode->q, ode->h, ode->past, d);
    } else {
        pp_adams_lower(ode->q, ode->h, ode->past, d);
    }
    for (int j = 2; j < ode->q; j++) {
        add_scaled(ode, -d[j], ode->z[ode->q], ode->z[j]);
    }
    ode->q--;
    ode->wait = ode->q + 1;
}

static void raise_order(pp_ode *ode)
{
    double d[PP_ORDERS];
    int q = ode->q;
    memset(ode->z[q + 1], 0, (size_t)ode->n * sizeof(double));
    // The polynomial of an Adams method already fits: its next coefficient is zero.
    if (ode->stiff) {
        double a = pp_bdf_raise(q, ode->h, ode->past, d);
        add_scaled(ode, a, ode->e_before, ode->z[q + 1]);
        for (int j = 2; j <= q; j++) {
            add_scaled(ode, d[j], ode->z[q + 1], ode->z[j]);
        }
    }
    ode->q++;
    ode->wait = ode->q + 1;
}

static void change_step(pp_ode *ode)
{
    if (ode->h_next == ode->h) {
        return;
    }
    if (ode->q_next > ode->q) {
        raise_order(ode);
    } else if (ode->q_next < ode->q) {
        lower_order(ode);
    }
    rescale(ode, ode->h_next);
}

// Ratio of the steps at which an error becomes the tolerance, at an order.
static double ratio_for(double error, int order)
{
    return 1.0 / (pp_pow(error, 1.0 / (order + 1)) + 1e-6);
}

// Of order q + 1: |e - c e_before| estimates the next derivative.
static double upper_error(pp_ode *ode)
{
    double ratio = ode->h / ode->past[1], power = 1.0;
    for (int j = 0; j <= ode->q; j++) {
        power *= ratio;
    }
    double c = ode->method.history / ode->history * power;
    for (int i = 0; i < ode->n; i++) {
        ode->work[i] = ode->e[i] - c * ode->e_before[i];
    }
    return pp_ode_norm(ode, ode->work) * ode->method.error_upper;
}

// The order that allows the longest step; its ratio to this one.
static double choose_order(pp_ode *ode, double same)
{
    int highest = ode->stiff ? PP_BDF_ORDER : PP_ADAMS_ORDER;
    double lower = 0.0, upper = 0.0;
    ode->wait = 2;
    if (ode->q > 1) {
        double error = pp_ode_norm(ode, ode->z[ode->q]) * ode->method.error_lower;
        lower = ratio_for(SAFETY * error, ode->q - 1);
    }
    if (ode->q < highest && ode->history > 0.0) {
        upper = ratio_for(SAFETY_UPPER * upper_error(ode), ode->q + 1);
    }
    double most = fmax(lower, fmax(same, upper));
    if (most < WORTH || most == same) {
        return most < WORTH ? 1.0 : same;
    }
    if (most == lower) {
        ode->q_next = ode->q - 1;
        return lower;
    }
    ode->q_next = ode->q + 1;
    memcpy(ode->e_before, ode->e, (size_t)ode->n * sizeof *ode->e);
    return upper;
}

// After a step with this error, relative to the tolerance.
static void plan_next_step(pp_ode *ode, double error)
{
    ode->q_next = ode->q;
    ode->h_next = ode->h;
    // After a failure neither changes.
    if (ode->most == 1.0) {
        ode->wait = ode->wait > 2 ? ode->wait : 2;
        return;
    }
    double ratio = ratio_for(SAFETY * error, ode->q);
    if (ode->wait == 0) {
        ratio = choose_order(ode, ratio);
    }
    if (ratio >= WORTH) {
        ratio = fmin(ratio, ode->most);
        ode->h_next = ode->h * ratio;
    }
    ode->h_next = fmin(ode->h_next, ode->longest);
    // Both change, or none: the coefficients of a new order belong to a new step.
    if (ode->h_next == ode->h) {
        ode->q_next = ode->q;
    }
}

// ── A step ───────────────────────────────────────────────────────────────────────────────────────

static void save_or_restore(pp_ode *ode, bool save)
{
    for (int j = 0; j <= ode->q; j++) {
        double *from = save ? ode->z[j] : ode->z_before[j];
        memcpy(save ? ode->z_before[j] : ode->z[j], from, (size_t)ode->n * sizeof *from);
    }
}

// Pascal's triangle: the polynomial at t + h.
static void predict(pp_ode *ode)
{
    for (int k = 1; k <= ode->q; k++) {
        for (int j = ode->q; j >= k; j--) {
            add_scaled(ode, 1.0, ode->z[j], ode->z[j - 1]);
        }
    }
}

// After a step whose error is too large: shorter, later of a lower order.
static perp_status retry_shorter(pp_ode *ode, int failures, double error)
{
    ode->most = 1.0;
    if (failures <= 3) {
        double ratio = fmax(MOST_SHRINK, ratio_for(SAFETY * error, ode->q));
        rescale(ode, ode->h * (failures >= 2 ? fmin(ratio, LEAST_SHRINK) : ratio));
        return PERP_OK;
    }
    if (ode->q > 1) {
        lower_order(ode);
        rescale(ode, MOST_SHRINK * ode->h);
        return PERP_OK;
    }
    // Anew from y, at order 1.
    ode->h *= MOST_SHRINK;
    ode->wait = LONG_WAIT;
    perp_status status = pp_ode_evaluate(ode, ode->t, ode->z[0], ode->f);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < ode->n; i++) {
        ode->z[1][i] = ode->h * ode->f[i];
    }
    return PERP_OK;
}

static void complete_step(pp_ode *ode, double t)
{
    memmove(ode->past + 1, ode->past, (PP_ORDERS - 1) * sizeof ode->past[0]);
    ode->past[0] = ode->h;
    for (int j = 0; j <= ode->q; j++) {
        add_scaled(ode, ode->method.l[j], ode->e, ode->z[j]);
    }
    ode->t = t;
    ode->steps++;
    ode->wait--;
    if (ode->wait == 1) {
        memcpy(ode->e_before, ode->e, (size_t)ode->n * sizeof *ode->e);
        ode->history = ode->method.history;
    }
}

// The end of a step from t, on the end of the integration where that is a rounding error away.
static double end_of_step(const pp_ode *ode)
{
    double t = fmin(ode->t + ode->h, ode->stop);
    bool there = ode->stop - t <= 100.0 * DBL_EPSILON * (fabs(t) + ode->h);
    return there ? ode->stop : t;
}

// One step of the present method; PERP_ERR_LIMIT after too many failures.
static perp_status take_step(pp_ode *ode)
{
    int inaccurate = 0, diverged = 0;
    pp_attempt before = PP_ATTEMPT_FIRST;
    change_step(ode);
    for (;;) {
        bool converged = false;
        double t = end_of_step(ode);
        save_or_restore(ode, true);
        predict(ode);
        if (ode->stiff) {
            pp_bdf_coefficients(ode->q, ode->h, ode->past, &ode->method);
        } else {
            pp_adams_coefficients(ode->q, ode->h, ode->past, &ode->method);
        }
        perp_status status = pp_ode_correct(ode, t, before, &converged);
        double error = ode->e_norm * ode->method.error;
        if (status >= 0 && converged && error <= 1.0) {
            complete_step(ode, t);
            plan_next_step(ode, error);
            ode->most = GROWTH;
            return PERP_OK;
        }
        // The step is rejected: back to its start, and shorter.
        save_or_restore(ode, false);
        if (status < 0) {
            return status;
        }
        if (!converged) {
            before = PP_ATTEMPT_DIVERGED;
            ode->most = 1.0;
            rescale(ode, CORRECTOR_SHRINK * ode->h);
            diverged++;
        } else {
            before = PP_ATTEMPT_INACCURATE;
            inaccurate++;
            status = retry_shorter(ode, inaccurate, error);
        }
        if (status < 0 || diverged == MOST_FAILURES || inaccurate == MOST_FAILURES) {
            return status < 0 ? status : PERP_ERR_LIMIT;
        }
    }
}

// ── Stiffness ────────────────────────────────────────────────────────────────────────────────────

// Adams methods are limited by stability where the iteration fails in more than one of six steps.
static bool looks_stiff(const pp_ode *ode)
{
    return !ode->stiff && ode->steps >= 60 && ode->failures > ode->steps / 6;
}

// Goes on with backward differentiation formulas from the present y and t.
static perp_status go_stiff(pp_ode *ode)
{
    size_t square = (size_t)ode->n * (size_t)ode->n;
    double longest = ode->longest;
    ode->stiff_block = pp_alloc(ode->env, stiff_size(ode->n));
    if (!ode->stiff_block) {
        return PERP_ERR_MEMORY;
    }
    ode->jacobian = ode->stiff_block;
    ode->factor = ode->jacobian + square;
    ode->pivot = (int *)(void *)(ode->factor + square);
    ode->stiff = true;
    perp_status status = pp_ode_start(ode, ode->t, ode->z[0], ode->stop);
    ode->longest = longest;
    return status;
}

static perp_status step_once(pp_ode *ode)
{
    perp_status status = PERP_OK;
    if (ode->steps == 0) {
        status = begin(ode);
    } else {
        set_weights(ode);
        if (ode->t + ode->h_next > ode->stop) {
            ode->h_next = (ode->stop - ode->t) * (1.0 - 4.0 * DBL_EPSILON);
        }
    }
    return status < 0 ? status : take_step(ode);
}

perp_status pp_ode_step(pp_ode *ode, double *t0, double *t1)
{
    *t0 = ode->t;
    ode->status = PERP_OK;
    // The switch to backward differences is final: a machine that was stiff once will be again.
    if (looks_stiff(ode)) {
        perp_status status = go_stiff(ode);
        if (status < 0) {
            return status;
        }
    }
    // After many failures backward differences are tried once.
    perp_status status = step_once(ode);
    if (status < 0 && !ode->stiff && !pp_is_final(status)) {
        status = go_stiff(ode);
        status = status < 0 ? status : step_once(ode);
    }
    if (status < 0) {
        // The reason of the right-hand side, where that failed.
        return status == PERP_ERR_LIMIT && ode->status < 0 ? ode->status : status;
    }
    *t1 = ode->t;
    return *t1 > *t0 ? PERP_OK : PERP_ERR_LIMIT;
}

perp_status pp_ode_at(pp_ode *ode, double t, double *y)
{
    double x = (t - ode->t) / ode->h;
    memcpy(y, ode->z[ode->q], (size_t)ode->n * sizeof *y);
    for (int j = ode->q - 1; j >= 0; j--) {
        for (int i = 0; i < ode->n; i++) {
            y[i] = y[i] * x + ode->z[j][i];
        }
    }
    return PERP_OK;
}

double pp_ode_error(pp_ode *ode, int n, const double *weight)
{
    double most = 0.0;
    // Before the first step there is no estimate.
    if (ode->steps == 0) {
        return PP_INF;
    }
    for (int i = 0; i < n; i++) {
        most = fmax(most, weight[i] * fabs(ode->method.error * ode->e[i]));
    }
    return most;
}

bool pp_ode_stiff(const pp_ode *ode)
{
    return ode->stiff;
}
