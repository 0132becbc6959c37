// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One contact solved exactly, theory (C26): the choice of the case,
// and the closed form in the plane.
//
// With q_n >= 0 the open contact r = 0 is a solution, the one of least norm, and is taken; a
// second, jammed one exists only where friction couples strongly into the normal (Painleve).
// Otherwise stick (W r = -q in the cone) is preferred to slip, and of several slips the one of
// least normal reaction. Every answer is checked by the natural map. Where a closed form fails on a
// nearly singular block, a Newton method (one_contact_newton.c) continues.
#include "comp/friction/cone.h"

#include <math.h>
#include <string.h>

// Gaussian elimination with partial pivoting on a copy of A.
bool pp_small_solve(int n, const double *A, int ld, double *x)
{
    double B[PP_DIM_MAX * PP_DIM_MAX];
    for (int j = 0; j < n; j++) {
        memcpy(B + j * n, A + j * ld, (size_t)n * sizeof *B);
    }
    // elimination, row exchanges applied to x at once
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(B[i + k * n]) > fabs(B[best + k * n]) ? i : best;
        }
        if (!(fabs(B[best + k * n]) > 0.0)) {
            return false;
        }
        for (int j = k; j < n && best != k; j++) {
            double t = B[k + j * n];
            B[k + j * n] = B[best + j * n];
            B[best + j * n] = t;
        }
        double t = x[k];
        x[k] = x[best];
        x[best] = t;
        for (int i = k + 1; i < n; i++) {
            double factor = B[i + k * n] / B[k + k * n];
            for (int j = k + 1; j < n; j++) {
                B[i + j * n] -= factor * B[k + j * n];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= B[k + j * n] * x[j];
        }
        x[k] /= B[k + k * n];
    }
    return pp_all_finite((size_t)n, x);
}

// The Euclidean norm, without the scaling against overflow of pp_norm2: n is at most 6.
static double small_norm(int n, const double *x)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        s += x[i] * x[i];
    }
    return sqrt(s);
}

// The natural map relative to |r| + rho |q|, infinite where a number is not finite.
double pp_one_contact_error(const pp_cone_law *law, const double *W, const double *q,
                            const double *r)
{
    int dim = law->dim;
    double u[PP_DIM_MAX] = {0}, e[PP_DIM_MAX], trace = 0.0;
    for (int i = 0; i < dim; i++) {
        u[i] = q[i];
        trace += W[i + i * dim];
    }
    for (int j = 0; j < dim; j++) {
        for (int i = 0; i < dim; i++) {
            u[i] += W[i + j * dim] * r[j];
        }
    }
    // rho of theory (C8) over all components, moments included
    double rho = trace > 0.0 ? dim / trace : 1.0;
    pp_cone_law_measure(law, rho, r, u, e);
    double size = small_norm(dim, r) + rho * small_norm(dim, q), error = small_norm(dim, e);
    if (error == 0.0) {
        return 0.0;
    }
    return isfinite(size) && isfinite(error) ? error / size : PP_INF;
}

// Keeps in r the better of r and candidate; returns its error.
static double keep_better(const pp_cone_law *law, const double *W, const double *q,
                          const double *candidate, double error, double *r)
{
    double other = pp_one_contact_error(law, W, q, candidate);
    if (other < error) {
        memcpy(r, candidate, (size_t)law->dim * sizeof *r);
        return other;
    }
    return error;
}

// Stick, then slip to either side, s = sign of the slip: r_t = -s mu
// r_n, u_n = 0. docs/theory.md section 10.
double pp_one_contact_plane(const pp_cone_law *law, const double *W, const double *q, double *r)
{
    double mu = law->disc[0].mu, det = W[0] * W[3] - W[1] * W[2], best = PP_INF;
    double stick[2] = {(q[1] * W[2] - q[0] * W[3]) / det, (q[0] * W[1] - q[1] * W[0]) / det};
    bool regular = det > 1e-6 * (fabs(W[0] * W[3]) + fabs(W[1] * W[2]));
    if (regular && fabs(stick[1]) <= mu * stick[0]) {
        memcpy(r, stick, sizeof stick);
        return 0.0;
    }
    double slip[2][2], least = PP_INF;
    for (int k = 0; k < 2; k++) {
        double s = k ? -1.0 : 1.0, den = W[0] - s * mu * W[2];
        slip[k][0] = den > 0.0 ? -q[0] / den : 0.0;
        slip[k][1] = -s * mu * slip[k][0];
        double ut = W[1] * slip[k][0] + W[3] * slip[k][1] + q[1];
        if (den > 1e-6 * W[0] && s * ut >= 0.0 && slip[k][0] < least) {
            least = slip[k][0];
            memcpy(r, slip[k], sizeof slip[k]);
            best = 0.0;
        }
    }
    // a slip that satisfies all conditions; on a regular block it needs no check
    if (best == 0.0 && regular) {
        return 0.0;
    }
    if (best == 0.0) {
        best = pp_one_contact_error(law, W, q, r);
    }
    if (best > pp_one_contact_ok(law)) {  // near the limits between cases, and on singular blocks
        best = keep_better(law, W, q, slip[0], best, r);
        best = keep_better(law, W, q, slip[1], best, r);
        if (pp_all_finite(2, stick)) {
            pp_cone_law_project(law, stick);
            best = keep_better(law, W, q, stick, best, r);
        }
    }
    return best;
}

// Whether all coefficients of friction are 0.
static bool frictionless(const pp_cone_law *law)
{
    for (int g = 0; g < law->groups; g++) {
        if (law->disc[g].mu > 0.0) {
            return false;
        }
    }
    return true;
}

double pp_one_contact(const pp_cone_law *law, const double *W, const double *q, double *r,
                      pp_meter *meter)
{
    int dim = law->dim;
    if (q[0] >= 0.0) {
        memset(r, 0, (size_t)dim * sizeof *r);
        return 0.0;
    }
    if (frictionless(law)) {
        memset(r, 0, (size_t)dim * sizeof *r);
        r[0] = W[0] > 0.0 ? -q[0] / W[0] : 0.0;
        return W[0] > 0.0 && isfinite(r[0]) ? 0.0 : pp_one_contact_error(law, W, q, r);
    }
    // closed (u_n = 0), with friction
    double guess[PP_DIM_MAX], error = PP_INF;
    memcpy(guess, r, (size_t)dim * sizeof *r);
    if (dim == 2) {
        error = pp_one_contact_plane(law, W, q, r);
    } else if (dim == 3) {
        error = law->disc[0].nd ? pp_one_contact_polygon(law, W, q, r)
                                : pp_one_contact_disc(law, W, q, r);
    }
    if (error <= pp_one_contact_ok(law)) {
        return error;
    }
    double other = pp_one_contact_newton(law, W, q, guess, meter);
    if (other < error || !pp_all_finite((size_t)dim, r)) {
        memcpy(r, guess, (size_t)dim * sizeof *r);
        error = other;
    }
    return error;
}
