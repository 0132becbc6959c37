// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target of solids: bytes make two of them and their poses; whatever they are, witness points must be on
// their solids, the gap the one that the normal parts by, and no other direction better (touch_flaw).
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
