// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorting of keys, and an order of cells that keeps neighbours together.
#include "math/math.h"

#include <string.h>

enum {
    FEW = 80
};  // keys; a pass of the radix sort costs about 1 500 instructions however few there are

// Insertion sort for few keys, radix sort by bytes for many. A byte that all keys share costs one
// pass of counting.
void pp_sort_keys(int n, uint64_t *key, uint64_t *scratch)
{
    if (n <= FEW) {
        for (int i = 1; i < n; i++) {
            uint64_t moved = key[i];
            int k = i;
            for (; k > 0 && key[k - 1] > moved; k--) {
                key[k] = key[k - 1];
            }
            key[k] = moved;
        }
        return;
    }
    // 256 buckets from the lowest byte up; each pass is stable, so that the keys end in order.
    uint64_t *from = key, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        int start[257] = {0};
        for (int i = 0; i < n; i++) {
            start[1 + ((from[i] >> shift) & 255)]++;
        }
        if (start[1 + ((from[0] >> shift) & 255)] == n) {
            continue;
        }
        for (int d = 0; d < 256; d++) {
            start[d + 1] += start[d];
        }
        for (int i = 0; i < n; i++) {
            to[start[(from[i] >> shift) & 255]++] = from[i];
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != key) {
        memcpy(key, from, (size_t)n * sizeof *key);
    }
}

// From the coarsest level to the finest: the curve inside a cell is that of the level above,
// mirrored or with axes exchanged; then a Gray code of the halves, coarsest bits first. J.
// Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707 (2004).
uint64_t pp_hilbert(int dim, uint32_t *x, int bits)
{
    uint32_t top = (uint32_t)1 << (bits - 1), flip = 0;
    for (uint32_t q = top; q > 1; q >>= 1) {
        uint32_t below = q - 1;
        for (int i = 0; i < dim; i++) {
            uint32_t differ = x[i] & q ? 0 : (x[0] ^ x[i]) & below;
            x[0] ^= x[i] & q ? below : differ;
            x[i] ^= differ;
        }
    }
    for (int i = 1; i < dim; i++) {
        x[i] ^= x[i - 1];
    }
    for (uint32_t q = top; q > 1; q >>= 1) {
        flip ^= x[dim - 1] & q ? q - 1 : 0;
    }
    uint64_t code = 0;
    for (int k = bits - 1; k >= 0; k--) {
        for (int i = 0; i < dim; i++) {
            code = 2 * code + (((x[i] ^ flip) >> k) & 1);
        }
    }
    return code;
}
