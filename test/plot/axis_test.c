// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Ticks, scales and prefixes: few, round, inside the range, whatever the range.
#include "support/cmocka.h"
#include "support/random.h"

#include "plot/draw/axis.h"

#include <math.h>
#include <string.h>

static pp_range range(double low, double high)
{
    pp_range r = pp_range_none();
    pp_range_add(&r, low);
    pp_range_add(&r, high);
    return r;
}

static void ticks_known(void **state)
{
    (void)state;
    pp_ticks t = pp_ticks_linear(0.0, 1.0, 6);
    const double expected[] = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
    assert_int_equal(t.count, 6);
    assert_int_equal(t.decimals, 1);
    for (int k = 0; k < 6; k++) {
        assert_true(fabs(t.value[k] - expected[k]) < 1e-12);
    }
    t = pp_ticks_linear(-37.0, 112.0, 5);
    assert_int_equal(t.count, 3);
    assert_true(t.value[0] == 0.0 && t.value[1] == 50.0 && t.value[2] == 100.0);
    assert_int_equal(t.decimals, 0);
    t = pp_ticks_linear(0.0, 0.03, 4);
    assert_int_equal(t.decimals, 2);
}

static bool is_round(double step)
{
    double mantissa = step / pow(10.0, floor(log10(step) + 1e-9));
    return fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 || fabs(mantissa - 5) < 1e-6;
}

static void ticks_random(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 2000)
    {
        rng r = rng_seed(seed);
        double size = pow(10.0, rng_uniform(&r, -12, 12));
        double low = size * rng_uniform(&r, -5, 5), high = low + size * rng_uniform(&r, 0.01, 5);
        int most = 3 + (int)rng_uniform(&r, 0, 6);
        pp_ticks t = pp_ticks_linear(low, high, most);
        double span = high - low;
        CHECK(t.count >= 1 && t.count <= most + 1, seed);
        for (int k = 0; k < t.count; k++) {
            CHECK(t.value[k] >= low - 1e-5 * span && t.value[k] <= high + 1e-5 * span, seed);
            CHECK(k == 0 || is_round(t.value[k] - t.value[k - 1]), seed);
        }
        pp_range data = range(low, high);
        pp_ruler scale = pp_scale_linear(&data, true, most, 100.0, 0.0);
        CHECK(scale.low <= low && scale.high >= high, seed);
        CHECK(scale.high - scale.low <= 2.5 * span + 1e-300, seed);
    }
}

static void scales_of_odd_ranges(void **state)
{
    (void)state;
    const double odd[][2] = {{0, 0},          {5, 5},           {-3, -3},      {1e300, 1e300},
                             {-1e308, 1e308}, {1e-300, 2e-300}, {1, 1 + 1e-15}};
    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
        pp_range data = range(odd[k][0], odd[k][1]);
        pp_ruler scale = pp_scale_linear(&data, true, 5, 0.0, 100.0);
        assert_true(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
        double at = pp_scale_at(&scale, odd[k][0]);
        assert_true(at >= 0.0 && at <= 100.0);
        pp_prefix unit = pp_unit_for(scale.low, scale.high);
        pp_ticks t = pp_ticks_linear(scale.low / unit.factor, scale.high / unit.factor, 5);
        assert_true(t.count >= 1);
    }
    pp_range none = pp_range_none();
    pp_range_add(&none, NAN);
    pp_range_add(&none, INFINITY);
    pp_ruler scale = pp_scale_linear(&none, true, 5, 0.0, 100.0);
    assert_true(scale.low < scale.high);
    scale = pp_scale_log(&none, 16, 0.0, 100.0);
    assert_true(scale.low > 0.0 && scale.low < scale.high);
}

static void logarithmic(void **state)
{
    (void)state;
    pp_range data = range(3e-9, 0.02);
    pp_range_add(&data, 0.0);
    pp_ruler scale = pp_scale_log(&data, 16, 0.0, 70.0);
    assert_true(fabs(scale.low / 1e-9 - 1.0) < 1e-9 && fabs(scale.high / 0.1 - 1.0) < 1e-9);
    assert_true(fabs(pp_scale_at(&scale, 1e-5) - 35.0) < 1e-9);
    assert_true(pp_scale_at(&scale, 0.0) == 0.0);  // no place: the edge
    pp_ticks t = pp_ticks_log(scale.low, scale.high, 5);
    assert_true(t.count >= 3 && t.count <= 5);
    for (int k = 0; k < t.count; k++) {
        double power = log10(t.value[k]);
        assert_true(fabs(power - round(power)) < 1e-9);
    }
    data = range(1e-300, 1e10);
    scale = pp_scale_log(&data, 16, 0.0, 70.0);
    assert_true(scale.high / scale.low < 1e17);
}

static void prefixes(void **state)
{
    (void)state;
    const struct {
        double most;
        const char *prefix;
        double factor;
    } cases[] = {{1.0, "", 1.0},           {0.06, "", 1.0},   {0.004, "m", 1e-3}, {3e-7, "n", 1e-9},
                 {6e-7, "\xc2\xb5", 1e-6}, {4999.0, "", 1.0}, {2e4, "k", 1e3},    {0.0, "", 1.0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        pp_prefix unit = pp_unit_for(-cases[k].most, 0.1 * cases[k].most);
        assert_string_equal(unit.prefix, cases[k].prefix);
        assert_true(fabs(unit.factor / cases[k].factor - 1.0) < 1e-12);
    }
    assert_null(pp_unit_for(0.0, 1e-20).prefix);
    assert_int_equal(pp_unit_for(0.0, 1e-20).power, -21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ticks_known),
                                       cmocka_unit_test(ticks_random),
                                       cmocka_unit_test(scales_of_odd_ranges),
                                       cmocka_unit_test(logarithmic), cmocka_unit_test(prefixes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
