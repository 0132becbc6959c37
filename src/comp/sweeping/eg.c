// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `eg`: the self-adaptive extragradient method on the friction cones (Korpelevich 1976; Khobotov
// 1987), with Anderson acceleration.
//
//   F(r)  = u + shift(u) e_n,  u = W r + q                                 the field of (C2)
//   y     = P_K(r - tau F(r))                                              predictor  theory (C29)
//   r     = P_K(r - tau F(y))                                              corrector
//
// in the scaled units of ssn.h, in which W_cc has the mean diagonal 1 and tau starts at 1. By Khobotov's rule,
// theory (C30), tau shrinks until tau |F(r) - F(y)| <= 0.9 |r - y| in the norm of energy; it grows
// by half where the ratio is below 0.3. Proved to converge for monotone F (no friction, or a fixed
// shift); with friction nothing is proved. Cost: two products with W and two projections an
// iteration; no solves, and no order among the contacts.
#include "comp/sweeping/first.h"
#include "comp/sweeping/sweep.h"

#include <math.h>
#include <string.h>

enum {
    ITERATIONS = 20000,  // without a limit of the caller
    STALL = 10000,       // iterations without an improvement of a tenth that end it
    SHRINKS = 40,        // reductions of tau in one iteration
};
#define RATIO_MAX 0.9
#define RATIO_MIN 0.3

// F(r) from the state of r.
static void field(const pp_ssn *ssn, const double *state, double *F)
{
    for (int c = 0; c < ssn->nc; c++) {
        double *u = F + (size_t)c * (size_t)ssn->dim;
        pp_ssn_velocity_at(ssn, state, c, u);
        u[0] += pp_cone_law_shift(&ssn->law[c], u);
    }
}

// y = P_K(x - tau rho F); x and y may be the same.
static void project_step(const pp_ssn *ssn, double tau, const double *x, const double *F, double *y)
{
    for (int c = 0; c < ssn->nc; c++) {
        size_t at = (size_t)c * (size_t)ssn->dim;
        for (size_t i = at; i < at + (size_t)ssn->dim; i++) {
            y[i] = x[i] - tau * F[i];
        }
        pp_cone_law_project(&ssn->law[c], y + at);
    }
}

// |F(x) - F(y)| / |x - y| with velocities and impulses in the norm of
// energy: a local Lipschitz constant.
static double lipschitz(int n, const double *x, const double *y, const double *Fx, const double *Fy)
{
    double force = 0.0, speed = 0.0;
    for (int i = 0; i < n; i++) {
        double dx = x[i] - y[i], dF = Fx[i] - Fy[i];
        force += dx * dx;
        speed += dF * dF;
    }
    return force > 0.0 ? sqrt(speed / force) : 0.0;
}

typedef struct eg_work {
    double *x, *y, *g;  // n: point, predictor, image
    double *F, *G;      // n: field at x and y
    double *state;      // of x, then of y
    double tau;
} eg_work;

// g becomes the image of x; F holds the field at x. True: tau has changed, and with it the map.
static bool extragradient(const pp_ssn *ssn, eg_work *w, pp_meter *meter)
{
    double before = w->tau, ratio = 0.0;
    for (int k = 0; k < SHRINKS; k++) {
        project_step(ssn, w->tau, w->x, w->F, w->y);
        pp_ssn_state(ssn, w->y, w->state);
        field(ssn, w->state, w->G);
        pp_meter_add(meter, pp_ssn_sweep_cost(ssn));
        // Khobotov's condition; a new tau from the measured Lipschitz constant
        ratio = w->tau * lipschitz(ssn->n, w->x, w->y, w->F, w->G);
        if (ratio <= RATIO_MAX) {
            break;
        }
        w->tau *= fmin(2.0 / 3.0, 0.8 / ratio);
    }
    project_step(ssn, w->tau, w->x, w->G, w->g);
    w->tau *= ratio < RATIO_MIN ? 1.5 : 1.0;
    return w->tau != before;
}

// The iteration from best->best.
static perp_status eg_iterate(const pp_ssn *ssn, const pp_job *job, pp_best_iterate *best)
{
    int n = ssn->n;
    eg_work w = {.x = PP_ARRAY(job->arena, double, n),
                 .y = PP_ARRAY(job->arena, double, n),
                 .g = PP_ARRAY(job->arena, double, n),
                 .F = PP_ARRAY(job->arena, double, n),
                 .G = PP_ARRAY(job->arena, double, n),
                 .state = PP_ARRAY(job->arena, double, pp_ssn_state_size(ssn)),
                 .tau = 1.0};
    pp_anderson *anderson = pp_anderson_create(n, n, 1.0, job->arena);
    if (!w.x || !w.y || !w.g || !w.F || !w.G || !w.state || !anderson) {
        return PERP_ERR_MEMORY;
    }
    memcpy(w.x, best->best, (size_t)n * sizeof *w.x);
    for (int k = 1;; k++) {
        for (int c = 0; c < ssn->nc; c++) {  // an extrapolated point may have left the cones
            pp_cone_law_project(&ssn->law[c], w.x + (size_t)c * (size_t)ssn->dim);
        }
        pp_ssn_state(ssn, w.x, w.state);
        if (pp_best_iterate_done(best, k, w.x, w.state)) {
            return PERP_OK;
        }
        field(ssn, w.state, w.F);
        pp_meter_add(job->meter, pp_ssn_sweep_cost(ssn));
        // differences of another map are no use to Anderson acceleration
        if (extragradient(ssn, &w, job->meter)) {
            pp_anderson_reset(anderson);
        }
        pp_anderson_next(anderson, w.g, w.x);
    }
}

perp_status pp_eg_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                      pp_report *report)
{
    static const pp_first_order_method method = {eg_iterate, "iterations", ITERATIONS, STALL};
    return pp_first_order_run(&method, fcp, job, r, v, report);
}
