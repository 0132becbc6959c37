// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: whether two convex pieces that move pass through each other.
#pragma once

#include "certify/geometry/convex.h"

// Motion of a body in a step: its origin along a straight line, its orientation about one axis at a
// constant rate.
typedef struct pp_travel {
    pp_pose start, end;
    perp_vec3 move;  // of the origin [m]
    perp_vec3 turn;  // rotation vector, of any length [rad]
    double angle;    // its length
    perp_quat rot;   // at the start
} pp_travel;

pp_travel pp_travel_between(const pp_frame *start, const pp_frame *end, double h, bool spatial);
// At a part of the step between 0 and 1.
pp_pose pp_travel_at(const pp_travel *travel, double part);

typedef struct pp_swept_pair {
    const pp_convex *a, *b;
    const pp_travel *of_a, *of_b;
    pp_placed_convex start[2], end[2];  // a and b at both ends, seen from a's body
    double depth;                       // allowed [m]
    perp_vec3 hint;                     // an axis to try first; 0: none
} pp_swept_pair;

typedef enum pp_swept_state { PP_SWEPT_CLEAR, PP_SWEPT_PASSED, PP_SWEPT_UNKNOWN } pp_swept_state;

typedef struct pp_swept_path {
    pp_swept_state state;
    double depth;    // deepest seen on the way; more than allowed where something passed [m]
    double allowed;  // what was let pass [m]
    double part;     // of the step, where it went too deep
} pp_swept_path;

// Where the pieces are at a part of the step, seen from a's body.
void pp_swept_place(const pp_swept_pair *pair, double part, pp_placed_convex out[2]);
// Tries one axis for the whole step, which settles most pairs: true when the path is clear.
bool pp_swept_quick(const pp_swept_pair *pair, perp_vec3 n, pp_swept_path *out);
// The complete answer, in as many stretches as it takes.
void pp_swept_run(const pp_swept_pair *pair, pp_swept_path *out);
