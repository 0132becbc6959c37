// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorted keys, and the curve that keeps neighbours together.
#include "math/math.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <stdlib.h>

static void keys_are_sorted(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 50)
    {
        rng r = rng_seed(seed);
        uint64_t key[300], scratch[300], sum = 0, after = 0;
        int n = rng_below(&r, 300);
        for (int i = 0; i < n; i++) {
            key[i] = rng_next(&r) >> (seed % 60);
            sum += key[i];
        }
        pp_sort_keys(n, key, scratch);
        for (int i = 0; i < n; i++) {
            after += key[i];
            CHECK(i == 0 || key[i - 1] <= key[i], seed);
        }
        CHECK(sum == after, seed);
    }
}

// It goes through every cell once, from neighbour to neighbour.
static void the_curve_is_connected(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        enum { BITS = 4, SIDE = 1 << BITS };
        static int place[SIDE * SIDE * SIDE];
        int cells = dim == 2 ? SIDE * SIDE : SIDE * SIDE * SIDE;
        for (int k = 0; k < cells; k++) {
            place[k] = -1;
        }
        for (int k = 0; k < cells; k++) {
            uint32_t x[3] = {(uint32_t)k % SIDE, (uint32_t)k / SIDE % SIDE,
                             (uint32_t)k / SIDE / SIDE};
            uint64_t code = pp_hilbert(dim, x, BITS);
            assert_true(code < (uint64_t)cells);
            assert_int_equal(place[code], -1);
            place[code] = k;
        }
        for (int k = 1; k < cells; k++) {
            int a = place[k - 1], b = place[k];
            int apart = abs(a % SIDE - b % SIDE) + abs(a / SIDE % SIDE - b / SIDE % SIDE) +
                        abs(a / SIDE / SIDE - b / SIDE / SIDE);
            assert_int_equal(apart, 1);
        }
    }
}

// As many bits as a key has room for.
static void the_curve_has_fine_cells(void **state)
{
    (void)state;
    const uint32_t most = (1U << 21) - 1;
    uint32_t x[3] = {0, 0, 0}, y[3] = {most, 0, 0}, z[2] = {UINT32_MAX, 0};
    assert_true(pp_hilbert(3, x, 21) == 0);
    assert_true(pp_hilbert(3, y, 21) == ((uint64_t)1 << 63) - 1);
    assert_true(pp_hilbert(2, z, 32) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(the_curve_is_connected),
        cmocka_unit_test(the_curve_has_fine_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
