// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for solids: the bytes define two solids and their poses; witness points must be on their solids, the
// gap must be the separation along the normal, and no other direction may separate more (touch_flaw).
#include "support/touch_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    touch_hull hull[2];
    touch_pair pair;
    rng r = rng_seed(1);
    if (touch_from_bytes(&pair, hull, data, size) && touch_flaw(&pair, 1e-9, &r)) {
        __builtin_trap();
    }
    return 0;
}
