// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: smooth integration by SUNDIALS' CVODE, one internal step at a time, with dense output.
#pragma once

#include "base/base.h"

typedef perp_status (*pp_ode_rate)(void *user, double t, const double *y, double *y_dot);

typedef struct pp_ode pp_ode;

// env outlives it. PERP_ERR_REFUSED: perp was built without SUNDIALS.
perp_status pp_ode_create(pp_ode **out, int n, pp_ode_rate rate, void *user, double relative,
                          double absolute, const perp_env *env);
void pp_ode_destroy(pp_ode *ode);
// From y at t; no step goes beyond stop.
perp_status pp_ode_start(pp_ode *ode, double t, const double *y, double stop);
// No step from now on is longer; infinite: none is too long.
perp_status pp_ode_limit(pp_ode *ode, double longest);
// One internal step, from *t0 to *t1. Where Adams' methods do not converge, since the machine is stiff, it
// goes on with backward differences.
perp_status pp_ode_step(pp_ode *ode, double *t0, double *t1);
// y at a time in the last step.
perp_status pp_ode_at(pp_ode *ode, double t, double *y);
// The integrator's estimate of the error that the last step made, the largest of the first n numbers of y, each times
// its weight.
double pp_ode_error(pp_ode *ode, int n, const double *weight);
bool pp_ode_stiff(const pp_ode *ode);
