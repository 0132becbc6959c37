// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `eg`: self-adaptive extragradient on the cones, with Anderson acceleration.
//
//   F(r)  = u + shift(u) e_n,  u = W r + q                                 the field of (C2)
//   y     = P_K(r - tau rho_c F(r))                                        predictor  theory (C29)
//   r     = P_K(r - tau rho_c F(y))                                        corrector
//
// with rho_c = 1 / mean diag W_cc, so that tau has no unit and starts at 1. Khobotov's rule,
// theory (C30): tau shrinks until tau |F(r) - F(y)| <= 0.9 |r - y| in the norm of energy, and grows again
// when the ratio is small. Convergent for monotone F (no friction, or a fixed shift); with friction
// the residuals decide. Two products with W an iteration, no solves, nothing sequential in the
// contacts.
#include "comp/first.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 20000, STALL = 10000, SHRINKS = 40 };
#define RATIO_MAX 0.9
#define RATIO_MIN 0.3

static void field(const pp_first *first, const double *state, double *F)
{
    for (int c = 0; c < first->nc; c++) {
        double *u = F + (size_t)c * (size_t)first->dim;
        pp_first_at(first, state, c, u);
        u[0] += pp_law_shift(&first->law[c], u);
    }
}

// y = P_K(x - tau rho F); x and y may be the same.
static void project_step(const pp_first *first, double tau, const double *x, const double *F,
                         double *y)
{
    for (int c = 0; c < first->nc; c++) {
        size_t at = (size_t)c * (size_t)first->dim;
        double step = tau * first->rho[c];
        for (size_t i = at; i < at + (size_t)first->dim; i++) {
            y[i] = x[i] - step * F[i];
        }
        pp_law_project(&first->law[c], y + at);
    }
}

// tau |F(x) - F(y)| / |x - y|, velocities and impulses in the norm of energy.
static double lipschitz(const pp_first *first, const double *weight, const double *x,
                        const double *y, const double *Fx, const double *Fy)
{
    double force = 0.0, speed = 0.0;
    for (int i = 0; i < first->n; i++) {
        double dx = (x[i] - y[i]) * weight[i], dF = (Fx[i] - Fy[i]) / weight[i];
        force += dx * dx;
        speed += dF * dF;
    }
    return force > 0.0 ? sqrt(speed / force) : 0.0;
}

typedef struct work {
    double *x, *y, *g;  // point, predictor, image
    double *F, *G;      // field at x and y
    double *state;
    double *weight;
    double tau;
} work;

// g = the image of x; F holds the field there. True when tau had to change.
static bool extragradient(const pp_first *first, work *w, pp_meter *meter)
{
    double before = w->tau, ratio = 0.0;
    for (int k = 0; k < SHRINKS; k++) {
        project_step(first, w->tau, w->x, w->F, w->y);
        pp_first_state(first, w->y, w->state);
        field(first, w->state, w->G);
        pp_meter_add(meter, pp_first_cost(first));
        ratio = w->tau * lipschitz(first, w->weight, w->x, w->y, w->F, w->G);
        if (ratio <= RATIO_MAX) {
            break;
        }
        w->tau *= fmin(2.0 / 3.0, 0.8 / ratio);
    }
    project_step(first, w->tau, w->x, w->G, w->g);
    w->tau *= ratio < RATIO_MIN ? 1.5 : 1.0;
    return w->tau != before;
}

static perp_status iterate(const pp_first *first, const pp_job *job, pp_watch *watch)
{
    int n = first->n;
    work w = {.x = PP_ARRAY(job->arena, double, n),
              .y = PP_ARRAY(job->arena, double, n),
              .g = PP_ARRAY(job->arena, double, n),
              .F = PP_ARRAY(job->arena, double, n),
              .G = PP_ARRAY(job->arena, double, n),
              .state = PP_ARRAY(job->arena, double, first->size),
              .weight = pp_first_weights(first),
              .tau = 1.0};
    pp_anderson *anderson = pp_anderson_create(n, n, w.weight, 1.0, job->arena);
    if (!w.x || !w.y || !w.g || !w.F || !w.G || !w.state || !w.weight || !anderson) {
        return PERP_ERR_MEMORY;
    }
    memcpy(w.x, watch->best, (size_t)n * sizeof *w.x);
    for (int k = 1;; k++) {
        for (int c = 0; c < first->nc; c++) {  // an extrapolated point may have left the cones
            pp_law_project(&first->law[c], w.x + (size_t)c * (size_t)first->dim);
        }
        pp_first_state(first, w.x, w.state);
        if (pp_watch_done(watch, k, w.x, w.state)) {
            return PERP_OK;
        }
        field(first, w.state, w.F);
        pp_meter_add(job->meter, pp_first_cost(first));
        if (extragradient(first, &w, job->meter)) {
            pp_anderson_reset(anderson);
        }
        pp_anderson_next(anderson, w.g, w.x);
    }
}

perp_status pp_eg_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                      pp_report *report)
{
    static const pp_first_method method = {iterate, "iterations", ITERATIONS, STALL};
    return pp_first_run(&method, fcp, job, r, v, report);
}
