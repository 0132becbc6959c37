// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Broad phase: the pairs of shapes that are worth a closer look.
#pragma once

#include "gap/gap.h"

typedef struct pp_broad {
    int count;
    uint64_t *pair;  // a << 32 | b with a < b, sorted
    int *known;      // of each pair: its number in the memory; NULL: there is none
    int capacity;
    int64_t tests;  // of boxes, what the search cost
    const pp_box3 *
        box;  // shapes: their boxes, each grown by half the margin; not of half-planes and half-spaces
} pp_broad;

static inline int pp_broad_a(uint64_t pair)
{
    return (int)(pair >> 32);
}

static inline int pp_broad_b(uint64_t pair)
{
    return (int)(pair & 0xffffffffU);
}

// Every pair with a gap up to margin that the model lets meet is among them. memory: NULL: none.
perp_status pp_broad_run(pp_broad *out, const perp_model *model, const pp_frame *body,
                         double margin, pp_gap_memory *memory, pp_arena *arena);

// A lower bound of the gap of one of these pairs [m]: that of their boxes, or of a box and a plane.
double pp_broad_apart(const pp_broad *broad, const perp_model *model, const pp_frame *body,
                      double margin, int a, int b);

// Drops pairs that the bodies around them cannot close in the step (group.c). reach: of each pair that is left, up to which
// gap it is looked at [m].
perp_status pp_broad_group(pp_broad *broad, const perp_model *model, const pp_frame *body,
                           const pp_gap_search *search, pp_arena *arena, const double **reach);
