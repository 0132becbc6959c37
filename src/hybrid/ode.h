// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: smooth integration by multistep methods, one internal step at a time, with
// dense output.
#pragma once

#include "base/base.h"

// The right-hand side y_dot = f(t, y). A negative status makes the integrator try a shorter step,
// except PERP_ERR_MEMORY, which ends the integration.
typedef perp_status (*pp_ode_rate)(void *user, double t, const double *y, double *y_dot);

typedef struct pp_ode pp_ode;

// env outlives it.
perp_status pp_ode_create(pp_ode **out, int n, pp_ode_rate rate, void *user, double relative,
                          double absolute, const perp_env *env);
// The absolute tolerance is one of these units, number by number; they are not copied.
void pp_ode_set_units(pp_ode *ode, const double *unit);
void pp_ode_destroy(pp_ode *ode);
// Starts from y at t, without history; no step goes beyond stop.
perp_status pp_ode_start(pp_ode *ode, double t, const double *y, double stop);
// Bounds the length of the steps that follow [s]; infinite: no bound.
perp_status pp_ode_limit(pp_ode *ode, double longest);
// One internal step, from *t0 to *t1. Where the iteration of the Adams methods does not
// converge, since the machine is stiff, the integration goes on with backward
// differentiation formulas. A failure of the right-hand side is returned with its own
// status; PERP_ERR_LIMIT: no step was possible.
perp_status pp_ode_step(pp_ode *ode, double *t0, double *t1);
// Dense output: y at a time in the last step.
perp_status pp_ode_at(pp_ode *ode, double t, double *y);
// The integrator's estimate of the local error of the last step: the largest of the first n
// components of y, each times its weight.
double pp_ode_error(pp_ode *ode, int n, const double *weight);
// Whether it has gone on with backward differentiation formulas.
bool pp_ode_stiff(const pp_ode *ode);
