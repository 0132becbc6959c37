// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/truth.h"

#include <math.h>

static long double entry(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return (long double)A->dense[(size_t)j * (size_t)A->rows + (size_t)i];
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        if (A->i[k] == i) {
            return (long double)A->x[k];
        }
    }
    return 0.0L;
}

static long double lower_of(const perp_mcp *mcp, int i)
{
    return mcp->lower ? (long double)mcp->lower[i] : 0.0L;
}

static long double upper_of(const perp_mcp *mcp, int i)
{
    return mcp->upper ? (long double)mcp->upper[i] : (long double)HUGE_VAL;
}

// w_i and the sum of the absolute values of its terms.
static long double row(const perp_mcp *mcp, const double *z, int i, long double *terms)
{
    long double w = (long double)mcp->b[i];
    *terms = fabsl(w);
    for (int j = 0; j < mcp->n; j++) {
        long double part = entry(&mcp->A, i, j) * (long double)z[j];
        w += part;
        *terms += fabsl(part);
    }
    return w;
}

// w_i where every z is the point of its bounds nearest to 0.
static long double at_rest(const perp_mcp *mcp, int i)
{
    long double w = (long double)mcp->b[i];
    for (int j = 0; j < mcp->n; j++) {
        long double l = lower_of(mcp, j), u = upper_of(mcp, j);
        long double rest = l > 0.0L ? l : u < 0.0L ? u : 0.0L;
        w += rest != 0.0L ? entry(&mcp->A, i, j) * rest : 0.0L;
    }
    return w;
}

// max_i |z_i - clamp(z_i - w_i)|
static long double natural_map(const perp_mcp *mcp, const double *z)
{
    long double worst = 0.0L, terms;
    for (int i = 0; i < mcp->n; i++) {
        long double x = (long double)z[i], l = lower_of(mcp, i), u = upper_of(mcp, i);
        long double to = x - row(mcp, z, i, &terms);
        to = to < l ? l : to > u ? u : to;
        if (!isfinite(z[i]) || x < l || x > u || isnan(to)) {
            return (long double)HUGE_VAL;
        }
        worst = fmaxl(worst, fabsl(x - to));
    }
    return worst;
}

double truth_plain(const perp_mcp *mcp, const double *z)
{
    long double worst = natural_map(mcp, z), b = 0.0L;
    for (int i = 0; i < mcp->n; i++) {
        if (lower_of(mcp, i) < upper_of(mcp, i)) {  // else any w will do
            b = fmaxl(b, fabsl(at_rest(mcp, i)));
            b = fmaxl(b, fabsl((long double)mcp->b[i]));
        }
    }
    return (double)(b > 0.0L ? worst / b : worst);
}

double truth_scaled(const perp_mcp *lcp, const double *z)
{
    long double map[2] = {0.0L, 0.0L}, wide[2] = {0.0L, 0.0L}, terms;
    for (int i = 0; i < lcp->n; i++) {
        long double d = entry(&lcp->A, i, i), w = row(lcp, z, i, &terms);
        long double size = fmaxl(fabsl(w), fabsl((long double)lcp->b[i]));
        long double least = fabsl(fminl(d * (long double)z[i], w));
        for (int k = 0; k < 2; k++) {
            long double weight = k == 0 ? 1.0L : 1.0L / sqrtl(d);
            map[k] = fmaxl(map[k], weight * least);
            wide[k] = fmaxl(wide[k], weight * size);
        }
    }
    return (double)fmaxl(map[0] / wide[0], map[1] / wide[1]);
}

bool truth_solves(const perp_mcp *mcp, const double *z)
{
    long double b = 0.0L;
    for (int i = 0; i < mcp->n; i++) {
        b = fmaxl(b, fabsl((long double)mcp->b[i]));
    }
    return natural_map(mcp, z) <= 1e-10L * b;
}

// What moving z_j by `distance` does to the rows, relative to their terms.
static long double effect(const perp_mcp *mcp, const double *z, int j, long double distance,
                          long double least)
{
    long double worst = 0.0L, terms;
    for (int i = 0; i < mcp->n && distance != 0.0L; i++) {
        row(mcp, z, i, &terms);
        long double change = fabsl(entry(&mcp->A, i, j)) * distance;
        worst = fmaxl(worst, change > 0.0L ? change / fmaxl(terms, least) : 0.0L);
    }
    return worst;
}

double truth_backward(const perp_mcp *mcp, const double *z)
{
    long double worst = 0.0L, least = 0.0L;
    for (int i = 0; i < mcp->n; i++) {  // rows of nothing but rounding
        long double terms;
        row(mcp, z, i, &terms);
        least = fmaxl(least, 1e-7L * terms);
    }
    for (int i = 0; i < mcp->n; i++) {
        long double terms, w = row(mcp, z, i, &terms), x = (long double)z[i];
        long double l = lower_of(mcp, i), u = upper_of(mcp, i);
        if (!isfinite(z[i]) || x < l || x > u || isnan(w)) {
            return HUGE_VAL;
        }
        long double best = terms > 0.0L ? fabsl(w) / fmaxl(terms, least) : 0.0L;
        if (isfinite(l) && w >= 0.0L) {
            best = fminl(best, effect(mcp, z, i, x - l, least));
        }
        if (isfinite(u) && w <= 0.0L) {
            best = fminl(best, effect(mcp, z, i, u - x, least));
        }
        worst = fmaxl(worst, best);
    }
    return (double)worst;
}

// |x| of a group in the cone's norm (the gauge of its ball) or in the dual one (the support).
static double gauge(const double *x, int size, int nd, int dual)
{
    double best = 0.0;
    if (size == 1 || nd == 0) {
        return size == 1 ? fabs(x[0]) : hypot(x[0], x[1]);
    }
    for (int j = 0; j < nd; j++) {
        double middle = 3.141592653589793 * (2 * j + (dual ? 0 : 1)) / nd;
        double value = cos(middle) * x[0] + sin(middle) * x[1];
        best = fmax(best, dual ? -value : value / cos(3.141592653589793 / nd));
    }
    return best;
}

double truth_contact(const perp_fcp *fcp, int contact, const double *r, const double *u,
                     double r_unit, double u_unit)
{
    static const int first[7][3] = {{0}, {0}, {1}, {1}, {1, 3}, {1, 3}, {1, 3, 4}};
    static const int size[7][3] = {{0}, {0}, {1}, {2}, {2, 1}, {2, 2}, {2, 1, 2}};
    int nd = fcp->nd ? fcp->nd[contact] : 0;
    double product = 0.0, shift = 0.0, worst = fmax(0.0, -r[0]);
    for (int k = 0; k < fcp->dim; k++) {
        product += r[k] * u[k];
    }
    for (int g = 0; g < 3 && size[fcp->dim][g] > 0; g++) {
        int at = first[fcp->dim][g], two = size[fcp->dim][g];
        const double *coefficient = g == 0 ? fcp->mu : two == 1 ? fcp->mu_spin : fcp->mu_roll;
        double mu = coefficient[contact];
        worst = fmax(worst, gauge(r + at, two, nd, 0) - mu * r[0]);
        shift += mu * gauge(u + at, two, nd, 1);
    }
    // u~ = u + shift e_n lies in K* exactly when u_n >= 0, since shift is the support itself.
    worst = fmax(worst / r_unit, fmax(0.0, -u[0]) / u_unit);
    return fmax(worst, fabs(product + shift * r[0]) / (r_unit * u_unit));
}
