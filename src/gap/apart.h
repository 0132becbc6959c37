// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to gap/: which pairs of shapes are known to be apart, from one search to the next.
//
// Between two searches no point of a shape comes farther than its way
//
//   |dp| + 2 sin(angle / 2) reach ,
//
// and the ways sum up, whatever is searched in between and in whatever order. Two shapes, or their boxes, that were apart by
// d when their ways were w_a and w_b, are farther apart than a margin while w_a' + w_b' + margin < w_a + w_b + d. What is
// skipped so is what a search would have found to be nothing: results are those without a memory.
#pragma once

#include "gap/gap.h"

typedef struct pp_apart_pair {
    int a, b;      // shapes, a < b
    bool plane;    // one of them is endless
    bool curved;   // neither a mesh nor endless: an axis can be asked for
    double boxes;  // their boxes are apart, and
    double until;  // they are apart themselves, while the ways and a margin sum up to less [m]
    perp_vec3 n;   // that parted them last, in axes of a's body; 0: none is known
} pp_apart_pair;

struct pp_gap_memory {
    int count;
    pp_apart_pair *pair;  // all that may collide, sorted; NULL: there are too many shapes
    const double *reach;  // shapes: distance of the farthest point from the origin of the body [m]
    bool known;           // there was a search
    pp_pose *at;          // bodies: where they were then
    double *way;          // shapes [m]
    // Pairs with less room than that both cover `horizon` and more than this margin are looked for in every search, the others
    // when the largest ways since then sum up to that.
    int *close;
    int close_count;
    double least;  // horizon: a thousandth of the largest shape [m]
    double covered, horizon, margin,
        step;  // horizon < 0: nothing is sorted yet; step: the largest way of the last search [m]
};

// Before a search: the ways since the last one. True: all pairs are to be looked for, not only the close ones.
bool pp_apart_move(pp_gap_memory *memory, const perp_model *model, const pp_frame *body,
                   double margin);
// After all pairs were looked for: which are close.
void pp_apart_sort(pp_gap_memory *memory, double margin);
// Whether the boxes of a pair, or the shapes, are farther apart than the margin.
bool pp_apart_boxes(const pp_gap_memory *memory, int pair, double margin);
bool pp_apart_shapes(const pp_gap_memory *memory, int pair, double margin);
void pp_apart_set_boxes(pp_gap_memory *memory, int pair, double apart);
// Tries the axis that parted the pair last. True: it does, by more than the margin.
bool pp_apart_again(pp_gap_memory *memory, const perp_model *model, const pp_frame *body, int pair,
                    double margin);
// Looks for an axis that parts the pair by more than the margin, and keeps it.
void pp_apart_find(pp_gap_memory *memory, const perp_model *model, const pp_frame *body, int pair,
                   double margin);
