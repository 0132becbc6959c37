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

#include "certify/geometry/convex.h"
#include "certify/geometry/filter.h"

// A claim that n separates two shapes: it points from a to b, a < b.
typedef struct pp_separating_axis {
    int a, b;
    perp_vec3 n;
} pp_separating_axis;

// Two shapes, a < b, that may collide.
typedef struct pp_judged_pair {
    int a, b;
} pp_judged_pair;

// What is known of the shapes of a model before any step.
typedef struct pp_judged_shapes {
    const pp_convex *piece;  // shapes; not of meshes
    pp_judged_pairs pairs;
    // All pairs that are judged; NULL: of so many shapes they are found by their boxes in every step.
    const pp_judged_pair *pair;
    int count;
} pp_judged_shapes;

// What the end of a step leaves to the next. Of all pairs in a list: since when and how far two shapes were found apart. A
// shape covers some way in every step, no point of it more than that; two shapes that were apart by d have not met while
// they have covered less than d together. Without a list: where shapes are.
typedef struct pp_kept_shapes {
    double *way;    // shapes: covered so far [m]
    double *until;  // pairs: apart while the ways of both sum up to less [m]
    perp_vec3
        *axis;  // pairs: it parted them when looked at last, in axes of a's body; 0: none is known
    // Pairs with less room than that both cover `horizon` are looked for in every step, the others when the largest ways of
    // the steps since sum up to it.
    int *close;
    int close_count;
    double covered, horizon;  // [m]
    double least;             // horizon: a thousandth of the largest shape [m]
    pp_placed_convex *piece;  // shapes, but meshes: relative to the origins of their bodies
    pp_box3 *box;             // shapes that have one
} pp_kept_shapes;

// NULL in *kept where memory is short: false.
bool pp_kept_shapes_open(pp_kept_shapes *kept, const perp_model *model,
                         const pp_judged_shapes *shapes, pp_arena *arena);

typedef struct pp_geometry_task {
    const perp_model *model;
    const pp_judged_shapes *shapes;  // of that model; NULL: found by the call
    const pp_frame *start;  // bodies at the start of the step; NULL: the end alone is judged
    const pp_frame *end;
    double h;  // length of the step, which shows full turns of bodies that spin [s]
    const pp_separating_axis *axis;  // offered axes, sorted by (a, b)
    int axes;
    double depth;  // overlap that is no violation [m]; on the path: see allowance in sweep.c
    // the same for a pair of shapes; NULL: depth
    double (*allowed)(const perp_model *model, int shape_a, int shape_b);
    double end_share;      // of what is allowed that is allowed at the end; 0: all of it
    pp_kept_shapes *last;  // in: those of an earlier call, out: those of this one; NULL: not kept
    bool starts_at_last;   // they are those of the start, of the same `shapes`
} pp_geometry_task;

typedef enum pp_path_state {
    PP_PATH_CLEAR,     // no shape can have passed through another
    PP_PATH_PASSED,    // some pair was deeper than at both ends, or passed through
    PP_PATH_UNKNOWN,   // some pairs are undecided
    PP_PATH_NOT_ASKED  // there was no start
} pp_path_state;

typedef struct pp_geometry {
    double gap;          // overlap at the end that is deepest relative to its limit; 0: none [m]
    double gap_allowed;  // its limit [m]
    int gap_a, gap_b;    // its shapes, -1: none
    int64_t judged;     // pairs that may collide; without a list of them, those whose boxes overlap
    int64_t undecided;  // of these, pairs whose overlap at the end could not be computed
    pp_path_state path;
    double path_depth;       // deepest overlap on the path of a pair that passed, else of all [m]
    double path_allowed;     // allowed to that pair [m]
    double path_part;        // part of the step at which it was found
    int path_a, path_b;      // its shapes, -1: none
    int64_t path_undecided;  // pairs
} pp_geometry;

// PERP_ERR_MEMORY, PERP_ERR_NUMERIC (a pose is not finite), or PERP_OK, whatever is found.
perp_status pp_judge_geometry(pp_geometry *out, const pp_geometry_task *task, pp_arena *arena);
