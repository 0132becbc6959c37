// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: which pairs of shapes are judged.
#pragma once

#include "model/model.h"

// Items sorted into buckets: those of bucket k are item[first[k]] .. item[first[k + 1] - 1].
typedef struct pp_bucket_index {
    int *first, *item;  // NULL: no items
} pp_bucket_index;

typedef struct pp_judged_pairs {
    const perp_model *model;
    pp_bucket_index rules, listed;  // by the lower shape
    pp_bucket_index exclusions;     // by the lower body
} pp_judged_pairs;

// False: no memory.
bool pp_judged_pairs_open(pp_judged_pairs *pairs, const perp_model *model, pp_arena *arena);
bool pp_pair_is_judged(const pp_judged_pairs *pairs, int a, int b);
