// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Broad phase: the pairs of shapes that are worth a closer look.
#pragma once

#include "gap/gap.h"

typedef struct pp_broad {
    int count;
    uint64_t *pair;  // a << 32 | b with a < b, sorted
    int capacity;
    int64_t tests;  // of boxes, what the search cost
} pp_broad;

static inline int pp_broad_a(uint64_t pair)
{
    return (int)(pair >> 32);
}

static inline int pp_broad_b(uint64_t pair)
{
    return (int)(pair & 0xffffffffU);
}

// Every pair with a gap up to margin that the model lets meet is among them.
perp_status pp_broad_run(pp_broad *out, const perp_model *model, const pp_frame *body,
                         double margin, pp_arena *arena);
