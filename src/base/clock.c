// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Wall clock and hash.
#include "base/base.h"

#include <time.h>

// Monotonic where the system has such a clock: adjustments of the time of day do not show.
double pp_seconds(void)
{
    struct timespec t;
#if defined(CLOCK_MONOTONIC)
    clock_gettime(CLOCK_MONOTONIC, &t);
#else
    timespec_get(&t, TIME_UTC);
#endif
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// FNV-1a. Not for secrets: it is for hash tables and for comparing states.
uint64_t pp_hash(uint64_t seed, const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t hash = seed ^ 14695981039346656037ull;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ byte[k]) * 1099511628211ull;
    }
    return hash;
}
