// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Stored trajectories: rows of step, q, v, impulses, and how closely they must be met.
#pragma once

#include <jansson.h>
#include <stdbool.h>

typedef struct golden {
    json_t *root, *rows;
    double h, tolerance;  // 1e-9 + 1e-12 x growth of a small disturbance
    int until;            // last step to compare
} golden;

// False when the file is not there.
bool golden_open(golden *g, const char *name);
// The run with exact cones; how far and how closely to compare is taken from its twin with polygons.
bool golden_open_cone(golden *g, const char *name);
void golden_close(golden *g);
int golden_rows(const golden *g);
int golden_step(const golden *g, int row);
// Numbers of a field of a row into out (at most most); how many there are, 0: no such field.
int golden_numbers(const golden *g, int row, const char *field, double *out, int most);
// A number of the file's checks.
double golden_check(const golden *g, const char *name);
