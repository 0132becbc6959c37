// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of solvers, and when it is enough.                                              theory (C50)
#include "comp/comp.h"

// One factorisation is at least so much, that of a dense system of 165 rows: small problems have smaller ones by the
// thousand. And so much a row, about what a sparse one takes.
static const double LEAST = 3e6, OF_ROW = 5e3;

pp_meter pp_meter_start(int rows, double most)
{
    return (pp_meter){.unit = fmax(LEAST, OF_ROW * rows), .most = most};
}

void pp_meter_add(pp_meter *meter, double operations)
{
    if (meter) {
        meter->operations += operations;
    }
}

void pp_meter_factor(pp_meter *meter, double operations)
{
    pp_meter_add(meter, operations);
    if (meter && operations > meter->unit) {
        meter->unit = operations;
    }
}

double pp_meter_spent(const pp_meter *meter)
{
    return meter ? meter->operations / meter->unit : 0.0;
}

static bool is_worked_off(const pp_job *job)
{
    return job->meter && job->meter->most < PP_INF &&
           pp_meter_spent(job->meter) >= job->meter->most;
}

static bool is_late(const pp_job *job)
{
    return job->deadline < PP_INF && pp_seconds() >= job->deadline;
}

bool pp_job_is_over(const pp_job *job)
{
    return is_worked_off(job) || is_late(job);
}

const char *pp_job_limit(const pp_job *job)
{
    if (is_worked_off(job)) {
        return "work limit";
    }
    return is_late(job) ? "time limit" : NULL;
}
