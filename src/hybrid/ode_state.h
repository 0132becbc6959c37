// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/ode*.c: the state of the integrator.
#pragma once

#include "hybrid/multistep.h"
#include "hybrid/ode.h"

struct pp_ode {
    int n;
    pp_ode_rate rate;
    void *user;
    double relative, absolute;
    const perp_env *env;
    double *block;       // all vectors below but those of stiff machines
    perp_status status;  // of the last failed evaluation

    // The polynomial of the last step: y(t + x h) = sum of z_j x^j, z_j of n numbers.
    double *z[PP_ORDERS], *z_before[PP_ORDERS];
    double t,
        h;  // [s] end of the last step; length that z is scaled with, after the first step its length
    int q;                   // order
    double past[PP_ORDERS];  // [s] lengths of the last steps, the last one first

    pp_multistep method;  // at this order and these steps
    double *e;            // correction of the step, then its local error
    double *e_before;     // of the step before, kept where an order change is considered next
    double history;       // method.history of that step; 0: there is none
    const double *unit;   // of each number, in which the absolute tolerance is; NULL: 1
    double *weight;       // 1 / (relative |y| + absolute unit)
    double *y, *f, *work;

    double stop, longest;  // [s] end of the integration; longest step, infinite: no bound
    double h_next, most;   // [s] length of the next step; the ratio of the two is at most this
    int q_next, wait;      // order of the next step; steps until another order is considered
    int64_t steps,
        failures;   // since the start: steps, and corrector iterations that did not converge
    double e_norm;  // |e|

    // Newton's method of the backward differentiation formulas.
    bool stiff;
    double *stiff_block, *jacobian, *factor;  // df/dy; LU factors of 1 - gamma df/dy
    int *pivot;
    double gamma, gamma_factor;          // h / l_1 of this step, and in the factors
    int64_t jacobian_step, factor_step;  // when they were made; -1: never
};

// Root mean square of v, weighted.
double pp_ode_norm(const pp_ode *ode, const double *v);
// The right-hand side; a failure is also kept in ode->status.
perp_status pp_ode_evaluate(pp_ode *ode, double t, const double *y, double *f);

// What was before an attempt to take a step.
typedef enum pp_attempt { PP_ATTEMPT_FIRST, PP_ATTEMPT_INACCURATE, PP_ATTEMPT_DIVERGED } pp_attempt;

// Finds e at ode->t + h from the prediction in z. *converged: false after a failure that shorter steps may help.
perp_status pp_ode_correct(pp_ode *ode, double t, pp_attempt before, bool *converged);
