// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The first basis of "pivot": the caller's, or that of a cheap approximate solution.
//
// Some sweeps of projected Gauss–Seidel; then, for large symmetric A, rounds of conjugate gradients
// on the face of the variables that are free or about to be, each followed by a projection onto the
// box (after More and Toraldo 1991). Stopped early, conjugate gradients leave the components of
// small eigenvalues alone, which throw the first exact steps far out of the box. A round costs a
// fraction of a factorisation; a good basis saves several.
#include "comp/pivoting/pivot.h"

#include <math.h>
#include <string.h>

enum {
    SWEEPS = 4,      // of projected Gauss-Seidel
    FACES_FROM = 96  // conjugate gradients pay from this size on
};

void pp_pivot_place_from_z(pp_pivot *p, const double *z)
{
    for (int i = 0; i < p->n; i++) {
        if (z[i] <= p->lower[i]) {
            p->place[i] = PERP_BASIS_LOWER;
        } else {
            p->place[i] = z[i] >= p->upper[i] ? PERP_BASIS_UPPER : PERP_BASIS_BASIC;
        }
    }
}

void pp_pivot_place_from_basis(pp_pivot *p, const int8_t *basis)
{
    for (int i = 0; i < p->n; i++) {
        p->place[i] = PERP_BASIS_BASIC;
        if (basis[i] < 0 && isfinite(p->lower[i])) {
            p->place[i] = PERP_BASIS_LOWER;
        } else if (basis[i] > 0 && isfinite(p->upper[i])) {
            p->place[i] = PERP_BASIS_UPPER;
        }
    }
}

// ── Gauss-Seidel ─────────────────────────────────────────────────────────────────────────────────

// w += by A_j
static void move_column(const pp_pivot *p, int j, double by, double *w)
{
    if (!p->sparse) {
        pp_axpy(p->n, by, p->A.dense + (size_t)j * (size_t)p->n, w);
        return;
    }
    for (int t = p->A.p[j]; t < p->A.p[j + 1]; t++) {
        w[p->A.i[t]] += by * p->A.x[t];
    }
}

// One sweep with the diagonal D; w follows every change.
static void projected_gs_sweep(const pp_pivot *p, double *z, double *w)
{
    for (int i = 0; i < p->n; i++) {
        double to = pp_clamp(z[i] - w[i] * p->inverse[i] * p->inverse[i], p->lower[i], p->upper[i]);
        if (to != z[i]) {
            move_column(p, i, to - z[i], w);
            z[i] = to;
        }
    }
}

// ── Faces ────────────────────────────────────────────────────────────────────────────────────────

// The face: variables inside their bounds, or at one that w pushes them away from. Into free.
static void find_face(pp_pivot *p, const double *z, const double *w)
{
    p->count = 0;
    for (int i = 0; i < p->n; i++) {
        bool stays = (z[i] <= p->lower[i] && w[i] >= 0.0) || (z[i] >= p->upper[i] && w[i] <= 0.0);
        p->free[p->count] = i;
        p->count += !stays;
    }
}

// y = A_:F d over the face F
static void product_on_face(const pp_pivot *p, const double *d, double *y)
{
    memset(y, 0, (size_t)p->n * sizeof *y);
    pp_gemv_columns(p->n, p->count, p->free, p->A.dense, p->n, d, y);
}

// `steps` steps of conjugate gradients on the face from z,
// preconditioned by D. w follows on the face only.
static void minimise_on_face(pp_pivot *p, int steps, double *z, double *w)
{
    double *d = p->x, *Ad = p->work, size = 0.0;
    const double *D = p->D;
    for (int k = 0; k < p->count; k++) {
        int i = p->free[k];
        d[k] = -w[i] / D[i];
        size -= w[i] * d[k];
    }
    // size = w'D^-1 w over the face, the squared norm of the preconditioned residual
    for (int s = 0; s < steps && size > 0.0; s++) {
        double curvature = 0.0, before = size;
        product_on_face(p, d, Ad);
        for (int k = 0; k < p->count; k++) {
            curvature += d[k] * Ad[p->free[k]];
        }
        // singular or indefinite along d
        if (!(curvature > 0.0)) {
            return;
        }
        double step = size / curvature;
        size = 0.0;
        for (int k = 0; k < p->count; k++) {
            int i = p->free[k];
            z[i] += step * d[k];
            w[i] += step * Ad[i];
            size += w[i] * w[i] / D[i];
        }
        for (int k = 0; k < p->count; k++) {
            int i = p->free[k];
            d[k] = size / before * d[k] - w[i] / D[i];
        }
    }
}

// Clamps z, and computes w = A z + b anew.
static void project_to_bounds(pp_pivot *p, double *z, double *w)
{
    double *x = p->x;
    p->count = 0;
    for (int i = 0; i < p->n; i++) {
        z[i] = pp_clamp(z[i], p->lower[i], p->upper[i]);
        p->free[p->count] = i;
        x[p->count] = z[i];
        p->count += z[i] != 0.0;
    }
    product_on_face(p, x, w);
    for (int i = 0; i < p->n; i++) {
        w[i] += p->mcp->b[i];
    }
}

// Places from z; returns how many have changed.
static int update_places(pp_pivot *p, const double *z)
{
    int changes = 0;
    memcpy(p->target, p->place, (size_t)p->n * sizeof *p->place);
    pp_pivot_place_from_z(p, z);
    for (int i = 0; i < p->n; i++) {
        changes += p->target[i] != p->place[i];
    }
    return changes;
}

// Rounds until at most a hundredth of the places change. The first ones are short: far from the
// solution the face is a poor one.
static void search_faces(pp_pivot *p, double *z, double *w)
{
    enum { SHORT_ROUNDS = 2, SHORT = 5, LONG = 10 };
    int rounds = 3 + p->n / 250, few = p->n / 100;
    rounds = rounds < 8 ? rounds : 8;
    for (int k = 0; k < rounds; k++) {
        find_face(p, z, w);
        minimise_on_face(p, k < SHORT_ROUNDS ? SHORT : LONG, z, w);
        if (!pp_all_finite((size_t)p->n, z)) {
            // overflow on a singular face: the guess is zero
            memset(z, 0, (size_t)p->n * sizeof *z);
            project_to_bounds(p, z, w);
            return;
        }
        project_to_bounds(p, z, w);
        if (update_places(p, z) <= few) {
            return;
        }
    }
}

void pp_pivot_guess(pp_pivot *p, double *z)
{
    double *w = p->w;
    memcpy(w, p->mcp->b, (size_t)p->n * sizeof *w);
    // w = A z + b
    for (int i = 0; i < p->n; i++) {
        if (z[i] != 0.0) {
            move_column(p, i, z[i], w);
        }
    }
    for (int k = 0; k < SWEEPS; k++) {
        projected_gs_sweep(p, z, w);
    }
    pp_pivot_place_from_z(p, z);
    if (p->symmetric && p->n >= FACES_FROM) {
        search_faces(p, z, w);
    }
}
