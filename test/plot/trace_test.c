// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves of bounded size: extremes stay, order stays, NaN breaks.
#include "support/cmocka.h"
#include "support/random.h"

#include "plot/draw/trace.h"

#include <math.h>

enum { CELLS = 100 };

static int samples_of(const pp_trace *trace, pp_sample *out)
{
    int count = 0;
    for (int k = 0; k < trace->bins; k++) {
        count += pp_trace_bin_samples(&trace->bin[k], out + count);
    }
    return count;
}

// A random walk of many samples with a spike one sample long: both ends, the spike and the extremes of
// every bin are kept, in order of time, and there are at most four samples a bin.
static void extremes_stay(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        pp_arena *arena = pp_arena_create(NULL);
        pp_trace trace;
        assert_true(pp_trace_init(&trace, arena, CELLS));
        int n = 1000 + rng_below(&r, 100000), spike = rng_below(&r, n);
        double y = 0.0, low = INFINITY, high = -INFINITY;
        for (int k = 0; k < n; k++) {
            y += rng_normal(&r);
            double value = k == spike ? 1e6 : y;
            low = fmin(low, value);
            high = fmax(high, value);
            pp_trace_add(&trace, (int)((int64_t)k * CELLS / n), 0.001 * k, value);
        }
        pp_sample out[4 * CELLS];
        int count = samples_of(&trace, out);
        CHECK(count <= 4 * CELLS, seed);
        CHECK(out[0].t == 0.0 && out[count - 1].t == 0.001 * (n - 1), seed);
        CHECK(trace.range.low == low && trace.range.high == high && high == 1e6, seed);
        bool seen = false;
        double least = INFINITY;
        for (int k = 0; k < count; k++) {
            CHECK(k == 0 || out[k].t > out[k - 1].t, seed);
            seen = seen || (out[k].y == 1e6 && out[k].t == 0.001 * spike);
            least = fmin(least, out[k].y);
        }
        CHECK(seen && least == low, seed);
        pp_arena_destroy(arena);
    }
}

static void one_a_cell_is_exact(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    pp_trace trace;
    assert_true(pp_trace_init(&trace, arena, CELLS));
    for (int k = 0; k < CELLS; k++) {
        pp_trace_add(&trace, k, k, sin(k));
    }
    pp_sample out[4 * CELLS];
    assert_int_equal(samples_of(&trace, out), CELLS);
    for (int k = 0; k < CELLS; k++) {
        assert_true(out[k].t == k && out[k].y == sin(k));
    }
    pp_arena_destroy(arena);
}

static void nan_breaks(void **state)
{
    (void)state;
    const double values[] = {1.0, 2.0, NAN, INFINITY, 3.0, 4.0};
    pp_arena *arena = pp_arena_create(NULL);
    pp_trace trace;
    assert_true(pp_trace_init(&trace, arena, 6));
    for (int k = 0; k < 6; k++) {
        pp_trace_add(&trace, k, k, values[k]);
    }
    const bool used[] = {true, true, false, false, true, true};
    const bool broken[] = {true, false, false, false, true, false};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(trace.bin[k].used, used[k]);
        assert_int_equal(trace.bin[k].broken, broken[k]);
    }
    assert_true(trace.range.low == 1.0 && trace.range.high == 4.0);
    pp_arena_destroy(arena);
}

static void empty(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    pp_trace trace;
    pp_sample out[4];
    assert_true(pp_trace_init(&trace, arena, 1));
    assert_int_equal(pp_trace_bin_samples(&trace.bin[0], out), 0);
    assert_true(trace.range.low > trace.range.high);
    pp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(extremes_stay),
                                       cmocka_unit_test(one_a_cell_is_exact),
                                       cmocka_unit_test(nan_breaks), cmocka_unit_test(empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
