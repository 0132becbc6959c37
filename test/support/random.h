// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Seeded random numbers for property tests: the same on every machine.
#pragma once

#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

rng rng_seed(uint64_t seed);
uint64_t rng_next(rng *r);  // 64 random bits
double rng_uniform(rng *r, double low, double high);
double rng_normal(rng *r);
int rng_below(rng *r, int n);  // 0..n-1

// The seed of a test: PERP_SEED from the environment, or the given default. Tests print it on failure:
//   FOR_SEEDS(seed, 100) { rng r = rng_seed(seed); … CHECK(condition, seed); }
uint64_t rng_test_seed(uint64_t fallback);

#define FOR_SEEDS(seed, count)                                                                     \
    for (uint64_t seed = rng_test_seed(1), seed##_end = seed + (count); seed < seed##_end; seed++)

// cmocka assertion that prints the seed with which to repeat: PERP_SEED=<seed> ctest -R <name>.
#define CHECK(condition, seed)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("PERP_SEED=%llu: %s\n", (unsigned long long)(seed), #condition);           \
            fail();                                                                                \
        }                                                                                          \
    } while (0)
