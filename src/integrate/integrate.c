// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The position update.
#include "integrate/integrate.h"

void pp_integrate(pp_state *next, const perp_model *model, const pp_state *now, const double *nu,
                  double h, double theta)
{
    next->t = now->t + h;
    for (int i = 0; i < model->nv; i++) {
        next->nu[i] = nu[i];
        double mean = theta == 1.0 ? nu[i] : (1.0 - theta) * now->nu[i] + theta * nu[i];
        next->q[i] = now->q[i] + h * mean;
    }
}
