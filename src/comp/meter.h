// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of solvers, counted; part of the door of comp/.
#pragma once

#include <stdbool.h>

// Work of solvers, counted from the sizes of what they do, so that a limit on it ends at the same place in every
// run and on every machine.                                                            theory (C50)
typedef struct pp_meter {
    double operations;  // multiplications with their additions, so far
    double unit;        // operations that count as one factorisation
    double most;        // factorisations; PP_INF: no limit
} pp_meter;

pp_meter pp_meter_start(int rows, double most);         // of a problem of so many rows
void pp_meter_add(pp_meter *meter, double operations);  // sweeps, products; NULL: not counted
// A factorisation of Newton's system of contacts: where it is larger it is the unit from then on.
void pp_meter_factor(pp_meter *meter, double operations);
double pp_meter_spent(const pp_meter *meter);  // in factorisations

// Time or work of a job is up: the best iterate is returned.
struct pp_job;
bool pp_job_is_over(const struct pp_job *job);
const char *pp_job_limit(const struct pp_job *job);  // which of them, in words; NULL: neither
