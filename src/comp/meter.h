// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The work meter, a part of the door of comp/.
#pragma once

#include <stdbool.h>

// Work of solvers in operations, counted from the sizes of
// factorisations, sweeps and pivots. A limit
// on it ends a solve at the same iterate in every run and on every machine.     theory (C50)
typedef struct pp_meter {
    double operations;  // multiplications with their additions, so far
    double unit;        // operations that count as one factorisation
    double most;        // factorisations; PP_INF: no limit
    bool stopped;       // the host has ended the job
} pp_meter;

pp_meter pp_meter_start(int rows, double most);         // of a problem of so many rows
void pp_meter_add(pp_meter *meter, double operations);  // sweeps, products; NULL: not counted
// A factorisation of the Newton system of contacts. The largest one becomes the unit.
void pp_meter_factor(pp_meter *meter, double operations);
double pp_meter_spent(const pp_meter *meter);  // in factorisations

// Whether time or work of a job is used up, or the host wants it to end. A solver then returns its best iterate.
struct pp_job;
bool pp_job_is_over(const struct pp_job *job);
// Whether a computation of so many operations that cannot be interrupted should not begin: the host wants the job to
// end, or the time that is left is too short.
bool pp_job_ends_before(const struct pp_job *job, double operations);
const char *pp_job_limit(const struct pp_job *job);  // which of them, in words; NULL: none
