// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables: functions through given points.
//
// Between x_k and x_{k+1}, with d = x_{k+1} - x_k and s = (x - x_k)/d, the natural cubic spline is
//   y = (1-s) y_k + s y_{k+1} - d^2/6 s (1-s) ((2-s) b_k + (1+s) b_{k+1}),
// where the bends b are the second derivatives at the points. They make the slope continuous, which
// is a tridiagonal system with b_0 = b_{n-1} = 0. It is diagonally dominant, so that elimination
// without pivoting is stable.
//
// The monotone interpolation is the cubic with given slopes m_k at the points,
//   y = y_k + d m_k s + (3 D - 2 d m_k - d m_{k+1}) s^2 + (d m_k + d m_{k+1} - 2 D) s^3,
// with D = y_{k+1} - y_k. The slopes are those of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5,
// 1984): 0 at a local extremum, else a weighted harmonic mean of the slopes on both sides. Then y is
// monotone between two points and stays between their values.
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

static double sign(double x)
{
    return (double)((x > 0.0) - (x < 0.0));
}

// Slope at an end, from the slopes on the first and second interval next to it, of lengths h and g:
// that of the parabola through three points, limited so that the end stays monotone.
static double end_slope(double h, double g, double first, double second)
{
    double slope = ((2.0 * h + g) * first - h * second) / (h + g);
    if (sign(slope) != sign(first)) {
        return 0.0;
    }
    bool turns = sign(first) != sign(second);
    return turns && fabs(slope) > 3.0 * fabs(first) ? 3.0 * first : slope;
}

// Slopes at the points. mean: scratch, the slopes of the straight lines between points.
static void find_slopes(const double *x, const double *y, int n, double *slope, double *mean)
{
    for (int k = 0; k + 1 < n; k++) {
        mean[k] = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    }
    if (n == 2) {
        slope[0] = slope[1] = mean[0];
        return;
    }
    slope[0] = end_slope(x[1] - x[0], x[2] - x[1], mean[0], mean[1]);
    slope[n - 1] = end_slope(x[n - 1] - x[n - 2], x[n - 2] - x[n - 3], mean[n - 2], mean[n - 3]);
    for (int k = 1; k + 1 < n; k++) {
        double a = x[k] - x[k - 1], c = x[k + 1] - x[k];
        double wa = 2.0 * c + a, wc = c + 2.0 * a;
        bool turns = sign(mean[k - 1]) * sign(mean[k]) <= 0.0;
        slope[k] = turns ? 0.0 : (wa + wc) / (wa / mean[k - 1] + wc / mean[k]);
    }
}

// Points whose spline overflows are refused here, with a reason, and not evaluated to NaN later.
perp_status pp_table_build(pp_interpolation kind, const double *x, const double *y, int count,
                           pp_arena *arena, pp_table *table, const char **why)
{
    *why = fault(x, y, count);
    if (*why) {
        return PERP_ERR_FORMAT;
    }
    size_t n = (size_t)count;
    double *copy_x = PP_ARRAY(arena, double, n), *copy_y = PP_ARRAY(arena, double, n);
    double *shape = PP_ZEROS(arena, double, n), *scratch = PP_ARRAY(arena, double, n);
    if (!copy_x || !copy_y || !shape || !scratch) {
        return PERP_ERR_MEMORY;
    }
    memcpy(copy_x, x, n * sizeof *x);
    memcpy(copy_y, y, n * sizeof *y);
    if (kind == PP_INTERPOLATION_SPLINE) {
        solve_bends(x, y, count, shape, scratch);
    } else if (kind == PP_INTERPOLATION_MONOTONE) {
        find_slopes(x, y, count, shape, scratch);
    }
    *table = (pp_table){kind, count, copy_x, copy_y, shape};
    for (int k = 0; k < count; k++) {
        // A line through two points may overflow as well.
        bool steep = k > 0 && !isfinite((y[k] - y[k - 1]) / (x[k] - x[k - 1]));
        if (!isfinite(shape[k]) || steep) {
            *why = "the points of a table are too close, or their values too large";
            return PERP_ERR_FORMAT;
        }
    }
    return PERP_OK;
}

// Index of the last point at or before x, which is within the table: binary search.
static int point_before(const pp_table *table, double x)
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

// A place between two points: coefficients of the cubic with given slopes, in powers of s.
typedef struct place {
    double d, s, y0, rise, c1, c2, c3;
} place;

static place find_place(const pp_table *table, double x)
{
    int k = point_before(table, x);
    double d = table->x[k + 1] - table->x[k], rise = table->y[k + 1] - table->y[k];
    double a = d * table->shape[k], b = d * table->shape[k + 1];
    return (place){d, (x - table->x[k]) / d,    table->y[k],       rise,
                   a, 3.0 * rise - 2.0 * a - b, a + b - 2.0 * rise};
}

// 0 outside, where the function is constant; for a spline linear between the points.
double pp_table_second(const pp_table *table, double x)
{
    if (!(x >= table->x[0] && x < table->x[table->count - 1])) {
        return 0.0;
    }
    if (table->kind == PP_INTERPOLATION_MONOTONE) {
        place at = find_place(table, x);
        return (2.0 * at.c2 + 6.0 * at.c3 * at.s) / at.d / at.d;
    }
    if (table->kind != PP_INTERPOLATION_SPLINE) {
        return 0.0;
    }
    int k = point_before(table, x);
    double s = (x - table->x[k]) / (table->x[k + 1] - table->x[k]);
    return (1.0 - s) * table->shape[k] + s * table->shape[k + 1];
}

// The slope is the derivative of the formula at the head of this file.
static double spline_value(const pp_table *table, double x, double *slope)
{
    int low = point_before(table, x), high = low + 1;
    double d = table->x[high] - table->x[low], s = (x - table->x[low]) / d, r = 1.0 - s;
    double y0 = table->y[low], y1 = table->y[high];
    double b0 = table->shape[low], b1 = table->shape[high];
    *slope = (y1 - y0) / d + d / 6.0 * ((3.0 * s * s - 1.0) * b1 - (3.0 * r * r - 1.0) * b0);
    return r * y0 + s * y1 - d * d / 6.0 * s * r * ((1.0 + r) * b0 + (1.0 + s) * b1);
}

// Constant outside the points. NaN stays NaN.
double pp_table_value(const pp_table *table, double x, double *slope)
{
    *slope = 0.0;
    if (!(x >= table->x[0])) {
        return isnan(x) ? x : table->y[0];
    }
    if (x >= table->x[table->count - 1]) {
        return table->y[table->count - 1];
    }
    if (table->kind == PP_INTERPOLATION_SPLINE) {
        return spline_value(table, x, slope);
    }
    place at = find_place(table, x);
    if (table->kind == PP_INTERPOLATION_HOLD) {
        return at.y0;
    }
    if (table->kind == PP_INTERPOLATION_LINEAR) {
        *slope = at.rise / at.d;
        return at.y0 + at.s * at.rise;
    }
    *slope = (at.c1 + at.s * (2.0 * at.c2 + 3.0 * at.s * at.c3)) / at.d;
    return at.y0 + at.s * (at.c1 + at.s * (at.c2 + at.s * at.c3));
}
