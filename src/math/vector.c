// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector kernels. Sums run in a fixed order that does not depend on the machine.
#include "math/math.h"

#include <math.h>

double pp_dot(int n, const double *x, const double *y)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += x[k] * y[k];
        s1 += x[k + 1] * y[k + 1];
        s2 += x[k + 2] * y[k + 2];
        s3 += x[k + 3] * y[k + 3];
    }
    for (; k < n; k++) {
        s0 += x[k] * y[k];
    }
    return (s0 + s1) + (s2 + s3);
}

void pp_axpy(int n, double a, const double *restrict x, double *restrict y)
{
    for (int k = 0; k < n; k++) {
        y[k] += a * x[k];
    }
}

double pp_norm_inf(int n, const double *x)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++) {
        double size = fabs(x[k]);
        if (!(size <= worst)) {
            worst = size;
            if (isnan(size)) {
                return size;
            }
        }
    }
    return worst;
}

double pp_norm2(int n, const double *x)
{
    double big = pp_norm_inf(n, x);
    if (big == 0.0 || !isfinite(big)) {
        return big;
    }
    if (big > 1e-140 && big < 1e140) {
        return sqrt(pp_dot(n, x, x));
    }
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        double part = x[k] / big;
        sum += part * part;
    }
    return big * sqrt(sum);
}

bool pp_all_finite(size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}
