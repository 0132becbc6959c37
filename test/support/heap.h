// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random heaps of balls in contact, of every contact law, in both forms.
#pragma once

#include "support/random.h"

#include <perp/comp.h>

typedef struct heap {
    perp_fcp global, local;
    void *arena;
} heap;

// Balls (discs in the plane) on `supports` lower ones or the ground each; every law: dim 2..6, nd = 0 or
// facets. Normals lean at most 25 degrees, so that lifting all balls opens every contact: solvable.
heap *heap_create(int balls, int supports, int dim, int nd, uint64_t seed);
void heap_destroy(heap *h);
