// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: do shapes overlap at the end of a step, and did any pass through another on
// the way?
//
// The code shares nothing with gap/: it has its own pairs, boxes, support functions and axes. A
// pair overlaps by no more than a depth if there is an axis along which its support points show it.
// The axes that the step used are only offered; they are tried first because a test takes two
// supports.
#pragma once

#include "kinematics/kinematics.h"

// A claim that n separates two shapes: it points from a to b, a < b.
typedef struct pp_separating_axis {
    int a, b;
    perp_vec3 n;
} pp_separating_axis;

typedef struct pp_geometry_task {
    const perp_model *model;
    const pp_frame *start;  // bodies at the start of the step; NULL: the end alone is judged
    const pp_frame *end;
    double h;  // with the spin, how often a body has turned around [s]
    const pp_separating_axis *axis;
    int axes;      // sorted by (a, b)
    double depth;  // overlap that is no violation [m]; in the path: see pp_sweep
    double (*allowed)(const perp_model *model, int shape_a,
                      int shape_b);  // the same of a pair; NULL: depth
} pp_geometry_task;

typedef enum pp_path_state {
    PP_PATH_CLEAR,     // nothing can have passed through anything
    PP_PATH_PASSED,    // something went deeper than it was at both ends, or through
    PP_PATH_UNKNOWN,   // not decided for some pairs
    PP_PATH_NOT_ASKED  // there was no start
} pp_path_state;

typedef struct pp_geometry {
    double gap;          // overlap at the end that is deepest for what is allowed; 0: none [m]
    double gap_allowed;  // there [m]
    int gap_a, gap_b;    // its shapes, -1: none
    int64_t judged;      // pairs whose boxes meet and that may collide
    int64_t undecided;   // of them: the overlap at the end could not be computed
    pp_path_state path;
    double path_depth;       // deepest seen on the way of a pair that passed, else of all [m]
    double path_allowed;     // what was let pass for that pair [m]
    double path_part;        // of the step, where it was seen
    int path_a, path_b;      // its shapes, -1: none
    int64_t path_undecided;  // pairs
} pp_geometry;

// PERP_ERR_MEMORY, PERP_ERR_NUMERIC (a pose is not finite), or PERP_OK, whatever is found.
perp_status pp_judge_geometry(pp_geometry *out, const pp_geometry_task *task, pp_arena *arena);
