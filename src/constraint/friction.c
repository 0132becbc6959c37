// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The set that a group's impulse stays in: an interval, a disc, or a regular polygon with a vertex along
// the first row.
#include "constraint/constraint.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

void pp_friction_slip(const perp_model *model, const pp_rows *rows, const pp_friction *group,
                      const double *nu, double slip[2])
{
    const pp_row *row = &rows->t[group->t];
    slip[0] = pp_row_rate(model, row, nu) + row->bias;
    slip[1] = group->size == 2 ? pp_row_rate(model, &row[1], nu) + row[1].bias : 0.0;
}

// Unit vector j of the polygon, in the rows of the group. Vertices on the axes are exact, so that a polygon of four or
// eight directions is symmetric to the last bit.
void pp_friction_direction(const pp_friction *group, int j, double d[2])
{
    if (group->size == 1) {
        d[0] = j == 0 ? 1.0 : -1.0;
        d[1] = 0.0;
        return;
    }
    double angle = TWO_PI * j / group->directions;
    d[0] = pp_cos(angle);
    d[1] = pp_sin(angle);
    for (int k = 0; k < 2; k++) {  // quarter turns exactly
        if (fabs(d[k]) < 1e-15) {
            d[k] = 0.0;
        } else if (fabs(d[k]) > 1.0 - 1e-15) {
            d[k] = copysign(1.0, d[k]);
        }
    }
}

static bool is_polygon(const pp_friction *group, bool polygons)
{
    return group->size == 2 && (polygons || group->facets > 0);
}

// max -d . slip over the unit set: the power that friction of unit size takes from a slip [m/s]. For a polygon the
// maximum is at a vertex.
double pp_friction_support(const pp_friction *group, bool polygons, const double slip[2])
{
    if (!is_polygon(group, polygons)) {
        return group->size == 1 ? fabs(slip[0]) : pp_length2(slip[0], slip[1]);
    }
    double most = 0.0;
    for (int j = 0; j < group->directions; j++) {
        double d[2];
        pp_friction_direction(group, j, d);
        most = fmax(most, -(d[0] * slip[0] + d[1] * slip[1]));
    }
    return most;
}

// Onto the side between vertices j and j + 1 that p lies beyond, if any does.
static void project_polygon(int sides, double limit, double p[2])
{
    double step = TWO_PI / sides, inner = limit * pp_cos(0.5 * step),
           half = limit * pp_sin(0.5 * step);
    double around = pp_atan2(p[1], p[0]), middle = step * (floor(around / step) + 0.5);
    double n[2] = {pp_cos(middle), pp_sin(middle)};
    double out = n[0] * p[0] + n[1] * p[1], along = -n[1] * p[0] + n[0] * p[1];
    if (out <= inner) {
        return;
    }
    // Within the wedge of this side the nearest point is on this side.
    along = pp_clamp(along, -half, half);
    p[0] = inner * n[0] - along * n[1];
    p[1] = inner * n[1] + along * n[0];
}

// The nearest point of the set of radius `limit` = mu p_n [N s]. A negative limit, from a normal impulse that
// pulls, is taken as 0.
void pp_friction_project(const pp_friction *group, bool polygons, double limit, double p[2])
{
    limit = limit > 0.0 ? limit : 0.0;
    if (group->size == 1) {
        p[0] = pp_clamp(p[0], -limit, limit);
    } else if (is_polygon(group, polygons)) {
        project_polygon(group->directions, limit, p);
    } else {
        double size = pp_length2(p[0], p[1]);
        if (size > limit) {
            p[0] *= limit / size;
            p[1] *= limit / size;
        }
    }
}

// p as a sum of two neighbouring directions with weights >= 0, which is unique; returns their sum, the radius of the
// polygon through p. Directions are 2 pi / n apart, hence det = sin(2 pi / n) > 0.
double pp_friction_split(const pp_friction *group, const double *p, double *part)
{
    static const double ROUNDING = 1e-13;  // of the sum: less is nothing
    int n = group->directions, first = p[0] > 0.0 ? 0 : 1, second = 1 - first;
    double a = fabs(p[0]), b = 0.0;
    memset(part, 0, (size_t)n * sizeof *part);
    if (group->size == 2) {
        double step = TWO_PI / n, around = pp_atan2(p[1], p[0]), c[2], d[2];
        around += around < 0.0 ? TWO_PI : 0.0;
        first = (int)(around / step) % n;
        second = (first + 1) % n;
        pp_friction_direction(group, first, c);
        pp_friction_direction(group, second, d);
        double det = c[0] * d[1] - c[1] * d[0];
        a = fmax((p[0] * d[1] - p[1] * d[0]) / det, 0.0);
        b = fmax((c[0] * p[1] - c[1] * p[0]) / det, 0.0);
        a = a > ROUNDING * b ? a : 0.0;
        b = b > ROUNDING * a ? b : 0.0;
    }
    part[first] = a;
    part[second] = group->size == 2 || b > 0.0 ? b : part[second];
    return a + b;
}

// The nearest point of an ellipse with the semi-axes a: p_i a_i^2 / (a_i^2 + s) with the s >= 0 for which it is on the ellipse: Newton's method on its equation, which is convex
// and falls, from s = 0 where it starts too large.
static void project_onto_ellipse(const double axes[2], double p[2])
{
    double s = 0.0, a = axes[0] * axes[0], b = axes[1] * axes[1];
    if (!(a > 0.0) || !(b > 0.0)) {
        p[0] = p[1] = 0.0;
        return;
    }
    for (int k = 0; k < 100; k++) {
        double x = axes[0] * p[0] / (a + s), y = axes[1] * p[1] / (b + s);
        double value = x * x + y * y - 1.0, slope = x * x / (a + s) + y * y / (b + s);
        double step = slope > 0.0 ? 0.5 * value / slope : 0.0;
        if (!(step > 1e-15 * (s + fmin(a, b)))) {
            break;
        }
        s += step;
    }
    p[0] *= a / (a + s);
    p[1] *= b / (b + s);
}

bool pp_friction_is_elliptic(const pp_friction *group, bool polygons)
{
    return group->stretch != 1.0 && group->facets == 0 && !polygons;
}

// m |p - P(p - u / m)|. Rows of two coefficients are scaled, by 1e7 and more, such that one disc holds for both: the map is taken
// on the ellipse of the impulses themselves, since the small limit of one direction would bound any error of the other.
double pp_friction_error(const pp_friction *group, bool polygons, double limit, double mobility,
                         const double p[2], const double slip[2])
{
    bool elliptic = pp_friction_is_elliptic(group, polygons);
    const double scale[2] = {1.0, elliptic ? group->stretch : 1.0};
    double to[2] = {0.0, 0.0}, error = 0.0;
    for (int k = 0; k < group->size; k++) {
        to[k] = scale[k] * p[k] - slip[k] / (scale[k] * mobility);
    }
    if (elliptic) {
        const double axes[2] = {limit, group->stretch * limit};
        project_onto_ellipse(axes, to);
    } else {
        pp_friction_project(group, polygons, limit, to);
    }
    for (int k = 0; k < group->size; k++) {
        error = pp_length2(error, scale[k] * p[k] - to[k]);
    }
    return mobility * error;
}
