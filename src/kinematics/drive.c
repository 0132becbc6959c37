// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Controls of actuators over a step. Inputs are held, so that the filter T c_f' = c - c_f has an exponential as its
// solution where c does not depend on time; where it does, c is taken at the start of the step.   theory (A2)
#include "kinematics/kinematics.h"

#include <math.h>

// c as the inputs give it at a time.
static double plain_control(const pp_actuator *a, const pp_drive *drive, double t)
{
    return pp_expr_value_in(a->control, &t, drive->input);
}

double pp_actuator_control(const perp_model *model, const pp_drive *drive, int actuator, double t)
{
    const pp_actuator *a = &model->actuator[actuator];
    if (!(a->time_constant > 0.0)) {
        return plain_control(a, drive, t);
    }
    double c = plain_control(a, drive, drive->t);
    return c + (drive->filter[actuator] - c) * pp_exp(-(t - drive->t) / a->time_constant);
}

double pp_actuator_mean_control(const perp_model *model, const pp_drive *drive, int actuator,
                                double h, double *end)
{
    const pp_actuator *a = &model->actuator[actuator];
    double c = plain_control(a, drive, drive->t), T = a->time_constant;
    *end = c;
    if (!(T > 0.0)) {
        return c;
    }
    // c_f = c + (f - c) e^(-s/T); its mean is c + (f - c) (1 - e^(-h/T)) T/h.
    double off = drive->filter[actuator] - c, gone = -pp_expm1(-h / T);
    *end = c + off * (1.0 - gone);
    return c + off * gone * T / h;
}
