// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector kernels. Sums run in an order that is fixed by the source: eight partial sums, then their
// sum.
#include "math/math.h"
#include "math/simd.h"

#include <math.h>

// Two vectors of partial sums, so that additions overlap. The remainder goes to one lane.
PP_CLONES
double pp_dot(int n, const double *x, const double *y)
{
    pp_v4 s = {0}, t = {0};
    int k = 0;
    for (; k + 8 <= n; k += 8) {
        s += PP_LOAD(x + k) * PP_LOAD(y + k);
        t += PP_LOAD(x + k + 4) * PP_LOAD(y + k + 4);
    }
    for (; k + 4 <= n; k += 4) {
        s += PP_LOAD(x + k) * PP_LOAD(y + k);
    }
    for (; k < n; k++) {
        t[0] += x[k] * y[k];
    }
    s += t;
    return PP_SUM(s);
}

PP_CLONES
void pp_axpy(int n, double a, const double *restrict x, double *restrict y)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        PP_STORE(y + k) = PP_LOAD(y + k) + a * PP_LOAD(x + k);
    }
    for (; k < n; k++) {
        y[k] += a * x[k];
    }
}

// NaN is larger than any number, and ends the search.
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

// Scaled by the largest entry where squares would overflow or underflow.
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

PP_CLONES
bool pp_all_finite(size_t n, const double *x)
{
    pp_v4 s = {0}, t = {0};  // 0 x is 0 for a finite x and NaN otherwise, and NaN persists
    size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        s += 0.0 * PP_LOAD(x + k);
        t += 0.0 * PP_LOAD(x + k + 4);
    }
    s += t;
    double sum = PP_SUM(s);
    for (; k < n; k++) {
        sum += 0.0 * x[k];
    }
    return sum == 0.0;
}
