// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers from a fuzzer's bytes. Past the end every byte is 0.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size, at;
} bytes;

static inline int take_byte(bytes *b)
{
    return b->at < b->size ? b->data[b->at++] : 0;
}

// Mostly small whole numbers, so that zeros, ties and dependent rows are met often; one in eight has
// an exponent of up to 2^40 either way.
static inline double take_number(bytes *b)
{
    int byte = take_byte(b);
    if (byte >= 224) {
        int exponent = take_byte(b) % 81 - 40;
        return ldexp(take_byte(b) - 128, exponent - 7);
    }
    return (byte >> 3) - 14;
}

static inline double take_fraction(bytes *b)  // 0..1
{
    return take_byte(b) / 255.0;
}
