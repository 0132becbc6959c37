// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The work meter: operations counted, and the limits of a job.                     theory (C50)
#include "comp/comp.h"

// The least unit of work [operations]: LEAST is a dense LU of 165 rows, since small problems take
// thousands of factorisations within a millisecond; OF_ROW for each row is about a sparse one.
static const double LEAST = 3e6, OF_ROW = 5e3;
// Operations of a sparse LU in a second, on a fast machine: what is refused would hardly have ended in time.
static const double FAST = 2e9;

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

// The meter remembers it, so that the job ends whatever the host answers later.
static bool is_stopped(const pp_job *job)
{
    bool stopped = (job->meter && job->meter->stopped) || pp_stopped(job->env);
    if (job->meter) {
        job->meter->stopped = stopped;
    }
    return stopped;
}

bool pp_job_is_over(const pp_job *job)
{
    return is_worked_off(job) || is_late(job) || is_stopped(job);
}

bool pp_job_ends_before(const pp_job *job, double operations)
{
    return is_stopped(job) ||
           (job->deadline < PP_INF && pp_seconds() + operations / FAST >= job->deadline);
}

const char *pp_job_limit(const pp_job *job)
{
    if (is_worked_off(job)) {
        return "work limit";
    }
    if (is_late(job)) {
        return "time limit";
    }
    return is_stopped(job) ? "stop" : NULL;
}
