// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

rng rng_seed(uint64_t seed)
{
    rng r = {seed + 0x632BE59BD9B4E019ull};
    r.state = rng_next(&r);  // hashed: neighbouring seeds share no numbers
    return r;
}

// splitmix64
uint64_t rng_next(rng *r)
{
    uint64_t z = (r->state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

double rng_uniform(rng *r, double low, double high)
{
    double unit = (double)(rng_next(r) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

double rng_normal(rng *r)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(r, 0.0, 1.0)));
    return radius * cos(6.283185307179586 * rng_uniform(r, 0.0, 1.0));
}

int rng_below(rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

uint64_t rng_test_seed(uint64_t fallback)
{
    const char *text = getenv("PERP_SEED");
    return text ? strtoull(text, NULL, 10) : fallback;
}
