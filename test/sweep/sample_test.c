// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From the index of a run to its parameters: order of grids, strata of Latin hypercubes, elementary intervals of
// Sobol's sequence, quantiles; and that all of it is a pure function.
#include "support/cmocka.h"
#include "sweep/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char scene[] =
    "{\"parameters\": {\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4},"
    " \"bodies\": [{\"name\": \"p\", \"position\": [\"a\", \"b + c + d\"], \"mass\": 1, "
    "\"inertia\": 1}]}";

static perp_sweep *load(const char *middle)
{
    char text[2000];
    perp_scene_load_options reading = perp_scene_load_options_default();
    const perp_scene_file file = {"s.json", scene, sizeof scene - 1};
    perp_sweep *sweep = NULL;
    perp_error error = {0};
    reading.file = &file;
    reading.files = 1;
    reading.given_only = true;
    snprintf(text, sizeof text,
             "{\"scene\": \"s.json\", %s, \"outputs\": {\"x\": {\"final\": \"x[p]\"}}}", middle);
    if (perp_sweep_parse("test", text, strlen(text), &reading, NULL, &sweep, &error) < 0) {
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.text, text);
    }
    return sweep;
}

// The last parameter with levels varies fastest; ends of grids are exact; derived ones follow.
static void grids_are_in_order(void **state)
{
    (void)state;
    perp_sweep *s = load("\"parameters\": {\"a\": {\"from\": 0.1, \"to\": 0.7, \"count\": 3}, "
                         "\"b\": [5, 1], \"c\": {\"from\": 1, \"to\": 100, \"count\": 3, "
                         "\"scale\": \"log\"}, \"d\": {\"value\": \"2*a + b\"}}");
    double v[4];
    assert_int_equal(perp_sweep_runs(s), 18);
    for (int k = 0; k < 18; k++) {
        static const double a[] = {0.1, 0.4, 0.7}, b[] = {5, 1}, c[] = {1, 10, 100};
        assert_int_equal(perp_sweep_point(s, k, v), PERP_OK);
        assert_true(fabs((v[0]) - (a[k / 6])) <= 1e-15);
        assert_true(v[1] == b[k / 3 % 2]);
        assert_true(fabs((v[2]) - (c[k % 3])) <= 1e-13);
        assert_true(v[3] == 2.0 * v[0] + v[1]);
    }
    assert_int_equal(perp_sweep_point(s, 0, v), PERP_OK);
    assert_true(v[0] == 0.1);
    assert_int_equal(perp_sweep_point(s, 17, v), PERP_OK);
    assert_true(v[0] == 0.7 && v[2] == 100.0);
    assert_int_equal(perp_sweep_point(s, 18, v), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sweep_point(s, -1, v), PERP_ERR_ARGUMENT);
    perp_sweep_destroy(s);
}

// One point in each of n strata of each axis, and the axes are permuted independently.
static void hypercubes_fill_strata(void **state)
{
    (void)state;
    perp_sweep *s = load("\"parameters\": {\"a\": {\"uniform\": [0, 1]}, \"b\": {\"uniform\": [2, "
                         "4]}, \"c\": [7, 8]}, \"sampling\": {\"method\": \"latin-hypercube\", "
                         "\"count\": 500, \"seed\": 9}");
    bool a[500] = {false}, b[500] = {false};
    int same = 0;
    assert_int_equal(perp_sweep_runs(s), 1000);
    for (int k = 0; k < 500; k++) {
        double v[3], w[3];
        assert_int_equal(perp_sweep_point(s, k, v), PERP_OK);
        assert_int_equal(perp_sweep_point(s, k + 500, w), PERP_OK);  // the other level of c
        assert_true(v[0] == w[0] && v[1] == w[1] && v[2] == 7.0 && w[2] == 8.0);
        int i = (int)(500.0 * v[0]), j = (int)(500.0 * (v[1] - 2.0) / 2.0);
        assert_true(i >= 0 && i < 500 && j >= 0 && j < 500 && !a[i] && !b[j]);
        a[i] = b[j] = true;
        same += i == j;
    }
    assert_true(same < 10);  // 1 is expected of independent permutations
    perp_sweep_destroy(s);
}

// In base 2: each interval of length 2^-m of every axis holds exactly one of the first 2^m points; and so does each
// elementary rectangle of the first two axes, which are a (0, 2)-sequence.
static void sobol_fills_elementary_intervals(void **state)
{
    (void)state;
    enum { M = 10, N = 1 << M };
    static bool seen[N];
    for (int d = 0; d < PP_SOBOL_MOST; d++) {
        for (uint32_t block = 0; block < 3; block++) {  // any block of 2^m points will do
            memset(seen, 0, sizeof seen);
            for (uint32_t k = 0; k < N; k++) {
                uint32_t cell = pp_sobol(d, block * N + k) >> (32 - M);
                assert_false(seen[cell]);
                seen[cell] = true;
            }
        }
    }
    for (int p = 1; p < M; p++) {
        memset(seen, 0, sizeof seen);
        for (uint32_t k = 0; k < N; k++) {
            uint32_t cell =
                (pp_sobol(0, k) >> (32 - p)) << (M - p) | pp_sobol(1, k) >> (32 - M + p);
            assert_false(seen[cell]);
            seen[cell] = true;
        }
    }
    // Pairs of other axes: no cell of 2^8 holds more than 2^4 of 2^10 points, so that none is a line.
    for (int d = 0; d < PP_SOBOL_MOST; d++) {
        for (int e = 0; e < d; e++) {
            int count[256] = {0};
            for (uint32_t k = 0; k < N; k++) {
                count[(pp_sobol(d, k) >> 28) << 4 | pp_sobol(e, k) >> 28]++;
            }
            for (int k = 0; k < 256; k++) {
                assert_true(count[k] <= 16);
            }
        }
    }
}

// A seed shifts the digits, which keeps the intervals; values stay inside of the bounds.
static void seeds_shift_sobol(void **state)
{
    (void)state;
    static const char *const seeds[] = {"", ", \"seed\": 0", ", \"seed\": 5"};
    double first[3];
    for (int j = 0; j < 3; j++) {
        char text[300];
        bool seen[256] = {false};
        snprintf(text, sizeof text,
                 "\"parameters\": {\"a\": {\"uniform\": [0, 1]}, \"b\": {\"normal\": [0, 1]}}, "
                 "\"sampling\": {\"method\": \"sobol\", \"count\": 256%s}",
                 seeds[j]);
        perp_sweep *s = load(text);
        double sum = 0.0, square = 0.0;
        for (int k = 0; k < 256; k++) {
            double v[2];
            assert_int_equal(perp_sweep_point(s, k, v), PERP_OK);
            int cell = (int)(256.0 * v[0]);
            assert_true(v[0] > 0.0 && v[0] < 1.0 && isfinite(v[1]) && !seen[cell]);
            seen[cell] = true;
            sum += v[1] / 256.0;
            square += v[1] * v[1] / 256.0;
            first[j] = k == 0 ? v[0] : first[j];
        }
        assert_true(fabs(sum) < 0.05 && fabs(square - 1.0) < 0.15);
        perp_sweep_destroy(s);
    }
    assert_true(first[0] != first[1] && first[1] != first[2]);
}

static void quantiles_invert_the_distribution(void **state)
{
    (void)state;
    for (int k = 1; k < 400; k++) {
        double p = k < 200 ? pow(10.0, -0.08 * (200 - k)) * 0.5 : 0.5 + 0.0024 * (k - 200);
        double back = 0.5 * erfc(-pp_normal_quantile(p) / sqrt(2.0));
        assert_true(fabs(back - p) < 4e-15 * (p < 0.5 ? p * 50.0 : 50.0));
    }
    assert_true(pp_normal_quantile(0.5) == 0.0 || fabs(pp_normal_quantile(0.5)) < 1e-16);
    assert_true(fabs((pp_normal_quantile(0.975)) - (1.959963984540054)) <= 1e-14);
}

// Random points: moments, and the same whatever the order of the questions.
static void random_points_are_pure(void **state)
{
    (void)state;
    perp_sweep *s = load("\"parameters\": {\"a\": {\"log-uniform\": [0.01, 100]}, \"b\": "
                         "{\"normal\": [3, 2]}, \"c\": {\"uniform\": [-1, 1]}}, \"sampling\": "
                         "{\"count\": 4000, \"seed\": 1}");
    static double v[4000][3];
    double mean[3] = {0}, cross = 0.0;
    for (int k = 0; k < 4000; k++) {
        assert_int_equal(perp_sweep_point(s, k, v[k]), PERP_OK);
        mean[0] += log(v[k][0]) / 4000.0;
        mean[1] += v[k][1] / 4000.0;
        mean[2] += v[k][2] / 4000.0;
        cross += v[k][2] * (v[k][1] - 3.0) / 4000.0;
    }
    assert_true(fabs(mean[0]) < 0.15 && fabs(mean[1] - 3.0) < 0.1 && fabs(mean[2]) < 0.04 &&
                fabs(cross) < 0.1);
    for (int k = 3999; k >= 0; k -= 7) {
        double w[3];
        assert_int_equal(perp_sweep_point(s, k, w), PERP_OK);
        assert_memory_equal(w, v[k], sizeof w);
    }
    perp_sweep_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_in_order),
        cmocka_unit_test(hypercubes_fill_strata),
        cmocka_unit_test(sobol_fills_elementary_intervals),
        cmocka_unit_test(seeds_shift_sobol),
        cmocka_unit_test(quantiles_invert_the_distribution),
        cmocka_unit_test(random_points_are_pure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
