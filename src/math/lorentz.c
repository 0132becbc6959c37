// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Lorentz cone x_0 >= |x_t| of two or three dimensions (or the half-line, d = 1) and the scaling of Nesterov and Todd, which
// interior point methods on friction cones share.                                          theory (C37), (S22)
#include "math/math.h"

#include <math.h>

double pp_lorentz_det(int d, const double *x)
{
    double sum = x[0] * x[0];
    for (int k = 1; k < d; k++) {
        sum -= x[k] * x[k];
    }
    return sum;
}

// det(x + t dx) = a t^2 + 2 b t + c has its first positive root at c / (sqrt(b^2 - a c) - b), written without cancellation.
double pp_lorentz_boundary(int d, const double *x, const double *dx, double most)
{
    double a = pp_lorentz_det(d, dx), c = pp_lorentz_det(d, x), b = x[0] * dx[0];
    for (int k = 1; k < d; k++) {
        b -= x[k] * dx[k];
    }
    double root = b * b - a * c;
    if (root >= 0.0 && sqrt(root) > b) {
        most = fmin(most, c / (sqrt(root) - b));
    }
    return dx[0] < 0.0 ? fmin(most, -x[0] / dx[0]) : most;
}

// y = factor times the root of 2 w w' - J, or of its inverse (sign = -1)
static void apply_root(int d, const double *w, double factor, double sign, const double *x,
                       double *y)
{
    double sum = 0.0;
    for (int k = 1; k < d; k++) {
        sum += w[k] * x[k];
    }
    y[0] = factor * (w[0] * x[0] + sign * sum);
    for (int k = 1; k < d; k++) {
        y[k] = factor * (x[k] + w[k] * (sign * x[0] + sum / (1.0 + w[0])));
    }
}

void pp_lorentz_second_order(const pp_lorentz_step *s, double *second)
{
    int d = s->d;
    double a[3], b[3], l[3], v[3] = {0.0}, z[3], sum = 0.0;
    apply_root(d, s->w, 1.0 / s->eta, -1.0, s->dr, a);
    apply_root(d, s->w, s->eta, 1.0, s->dv, b);
    apply_root(d, s->w, s->eta, 1.0, s->v, l);
    // the Jordan product a o b = (a . b, a_0 b_t + b_0 a_t)
    for (int k = 0; k < d; k++) {
        v[0] += a[k] * b[k];
        v[k] = k > 0 ? a[0] * b[k] + b[0] * a[k] : v[k];
    }
    for (int k = 1; k < d; k++) {
        sum += l[k] * v[k];
    }
    // l \ v by the arrow matrix of l
    z[0] = (l[0] * v[0] - sum) / pp_lorentz_det(d, l);
    for (int k = 1; k < d; k++) {
        z[k] = (v[k] - l[k] * z[0]) / l[0];
    }
    apply_root(d, s->w, s->eta, 1.0, z, second);
}
