// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// compare: what is found in two recordings (compare.c), and how it is told (compare_tell.c).
#pragma once

#include "cli.h"

typedef struct body_apart {
    perp_compared_body body;
    double place, turn, speed;  // largest: [m], [rad], [m/s]
    double when;                // of the largest place [s]
} body_apart;

typedef struct mode_apart {
    perp_compared_mode mode;  // when it was seen first
    double when;              // [s]
    int moments;
} mode_apart;

enum { COMPARE_ROWS = 11 };  // of the distances over time

typedef struct comparison {
    perp_recording *a, *b;
    body_apart *body;
    int bodies, only_a, only_b;
    double tolerance;
    int moments;
    double end_a, end_b;  // [s]
    bool part;            // the first time a body is farther apart than the tolerance
    double part_time;
    const char *part_name;
    double row_t[COMPARE_ROWS];
    double *row;  // COMPARE_ROWS times bodies: places
    int rows;
    mode_apart *mode;  // by shapes
    int modes, mode_room;
} comparison;

void compare_text(const comparison *c);
void compare_json(const comparison *c);
