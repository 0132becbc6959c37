// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables: the natural cubic spline through given points.
//
// Between x_k and x_{k+1}, with d = x_{k+1} - x_k and s = (x - x_k)/d,
//   y = (1-s) y_k + s y_{k+1} - d^2/6 s (1-s) ((2-s) b_k + (1+s) b_{k+1}),
// where the bends b are the second derivatives at the points. They make the slope continuous, which
// is a tridiagonal system with b_0 = b_{n-1} = 0. It is diagonally dominant, so that elimination
// without pivoting is stable.
#include "expr/node.h"

#include <math.h>
#include <string.h>

// What is wrong with the points of a table; NULL: nothing.
static const char *fault(const double *x, const double *y, int count)
{
    if (count < 2) {
        return "a table has at least 2 points";
    }
    if (count > PP_EXPR_POINTS) {
        return "a table has at most 100000 points";
    }
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k]) || !isfinite(y[k])) {
            return "the numbers of a table must be finite";
        }
        if (k > 0 && !(x[k] > x[k - 1])) {
            return "the first numbers (times) of a table must increase";
        }
    }
    return NULL;
}

// Second derivatives at the points, by Thomas' algorithm: elimination downwards, substitution
// upwards. upper: scratch.
static void solve_bends(const double *x, const double *y, int n, double *bend, double *upper)
{
    // The first and last bend are 0: this makes the spline a natural one.
    bend[0] = bend[n - 1] = upper[0] = 0.0;
    for (int k = 1; k + 1 < n; k++) {
        double a = x[k] - x[k - 1], c = x[k + 1] - x[k];
        double right = 6.0 * ((y[k + 1] - y[k]) / c - (y[k] - y[k - 1]) / a);
        double pivot = 2.0 * (a + c) - a * upper[k - 1];
        upper[k] = c / pivot;
        bend[k] = (right - a * bend[k - 1]) / pivot;
    }
    for (int k = n - 2; k > 0; k--) {
        bend[k] -= upper[k] * bend[k + 1];
    }
}

// Points whose spline overflows are refused here, with a reason, and not evaluated to NaN later.
perp_status pp_spline_table_build(const double *x, const double *y, int count, pp_arena *arena,
                                  pp_spline_table *table, const char **why)
{
    *why = fault(x, y, count);
    if (*why) {
        return PERP_ERR_FORMAT;
    }
    size_t n = (size_t)count;
    double *copy_x = PP_ARRAY(arena, double, n), *copy_y = PP_ARRAY(arena, double, n);
    double *bend = PP_ARRAY(arena, double, n), *upper = PP_ARRAY(arena, double, n);
    if (!copy_x || !copy_y || !bend || !upper) {
        return PERP_ERR_MEMORY;
    }
    memcpy(copy_x, x, n * sizeof *x);
    memcpy(copy_y, y, n * sizeof *y);
    solve_bends(x, y, count, bend, upper);
    *table = (pp_spline_table){count, copy_x, copy_y, bend};
    for (int k = 0; k < count; k++) {
        if (!isfinite(bend[k])) {
            *why = "the points of a table are too close, or their values too large";
            return PERP_ERR_FORMAT;
        }
    }
    return PERP_OK;
}

// Index of the last point at or before x, which is within the table: binary search.
static int point_before(const pp_spline_table *table, double x)
{
    int low = 0, high = table->count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (table->x[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Linear between the points; 0 outside, where the spline is constant.
double pp_spline_table_second(const pp_spline_table *table, double x)
{
    if (!(x >= table->x[0] && x < table->x[table->count - 1])) {
        return 0.0;
    }
    int k = point_before(table, x);
    double s = (x - table->x[k]) / (table->x[k + 1] - table->x[k]);
    return (1.0 - s) * table->bend[k] + s * table->bend[k + 1];
}

// The spline between its points, constant outside. NaN stays NaN.
double pp_spline_table_value(const pp_spline_table *table, double x, double *slope)
{
    *slope = 0.0;
    if (!(x >= table->x[0])) {
        return isnan(x) ? x : table->y[0];
    }
    if (x >= table->x[table->count - 1]) {
        return table->y[table->count - 1];
    }
    // The slope is the derivative of the formula at the head of this file.
    int low = point_before(table, x), high = low + 1;
    double d = table->x[high] - table->x[low], s = (x - table->x[low]) / d, r = 1.0 - s;
    double y0 = table->y[low], y1 = table->y[high];
    double b0 = table->bend[low], b1 = table->bend[high];
    *slope = (y1 - y0) / d + d / 6.0 * ((3.0 * s * s - 1.0) * b1 - (3.0 * r * r - 1.0) * b0);
    return r * y0 + s * y1 - d * d / 6.0 * s * r * ((1.0 + r) * b0 + (1.0 + s) * b1);
}
