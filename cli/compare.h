// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// compare: comparison of two recordings (compare.c) and its output (compare_tell.c).
#pragma once

#include "cli.h"

typedef struct body_apart {
    perp_compared_body body;
    double place, turn, speed;  // largest: [m], [rad], [m/s]
    double when;                // time of the largest place [s]
} body_apart;

typedef struct mode_apart {
    perp_compared_mode mode;  // at the first difference
    double when;              // of the first difference [s]
    int moments;
} mode_apart;

enum { COMPARE_ROWS = 11 };  // rows of the table of distances over time

typedef struct comparison {
    perp_recording *a, *b;
    body_apart *body;
    int bodies, only_a, only_b;
    double tolerance;
    int moments;
    double end_a, end_b;  // [s]
    bool part;            // some body differs by more than the tolerance
    double part_time;     // the first time it does [s]
    const char *part_name;
    double row_t[COMPARE_ROWS];
    double *row;  // distances, COMPARE_ROWS x bodies
    int rows;
    mode_apart *mode;  // sorted by shapes
    int modes, mode_room;
} comparison;

void compare_text(const comparison *c);
void compare_json(const comparison *c);
