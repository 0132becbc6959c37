// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Anderson acceleration of a fixed-point map z -> g(z), safeguarded
// (Anderson 1965; Walker, Ni 2011).
//
// With f = g(z) - z and the last differences dF, dG, the next point is g - dG c, c = argmin |f - dF
// c|, theory (C31). On a smooth piece of the map this is close to GMRES and turns a slow linear
// rate into a fast one. Contact maps have kinks, where the extrapolation overshoots: a point whose
// |f| is more than `growth` times the last accepted one is rejected. The iteration then goes on
// from the last image without acceleration for 2, 4, 8 … PAUSE_MAX steps, so that it is never much
// slower than the plain map. Cost: DEPTH + 1 dot products and DEPTH axpys a step.
#include "comp/sweeping/sweep.h"

#include <math.h>
#include <string.h>

enum {
    DEPTH = 5,       // differences kept
    PAUSE_MAX = 64,  // plain steps after a rejection, at most
    TRUSTED = 20,    // accepted points in a row after which pauses are short again
    WARM_UP = 4,     // plain steps at the start
};
#define FARTHEST 1e4  // sum |c|: above it the differences are parallel and the sum is rounding

struct pp_anderson {
    int n, size;      // the first n of `size` numbers make the norm
    double *dF, *dG;  // DEPTH columns each, n and size long
    double *f, *f_last, *g_last;
    int count;      // differences ever stored since the last reset
    int pause;      // plain steps still to make
    int pause_for;  // length of the next pause
    int trusted;    // extrapolations accepted in a row
    bool extrapolated;
    double growth;  // of |f| that is still accepted
    double last;    // |f| of the last accepted point, PP_INF: none
};

// DEPTH columns of differences, used as a ring.
pp_anderson *pp_anderson_create(int n, int size, double growth, pp_arena *arena)
{
    pp_anderson *a = PP_ZEROS(arena, pp_anderson, 1);
    if (!a) {
        return NULL;
    }
    *a = (pp_anderson){.n = n,
                       .size = size,
                       .growth = growth,
                       .dF = PP_ARRAY(arena, double, (size_t)n *DEPTH),
                       .dG = PP_ARRAY(arena, double, (size_t)size *DEPTH),
                       .f = PP_ARRAY(arena, double, n),
                       .f_last = PP_ARRAY(arena, double, n),
                       .g_last = PP_ARRAY(arena, double, size),
                       .pause = WARM_UP,
                       .pause_for = 2,
                       .last = PP_INF};
    return a->dF && a->dG && a->f && a->f_last && a->g_last ? a : NULL;
}

void pp_anderson_reset(pp_anderson *a)
{
    a->count = 0;
    a->extrapolated = false;
    a->last = PP_INF;
}

// Stores the differences to the last accepted point, in place of the
// oldest, and makes this point the last.
static void store_step(pp_anderson *a, const double *g, double norm)
{
    if (a->last < PP_INF) {
        // oldest column first
        int slot = a->count % DEPTH;
        double *dF = a->dF + (size_t)slot * (size_t)a->n;
        double *dG = a->dG + (size_t)slot * (size_t)a->size;
        for (int i = 0; i < a->n; i++) {
            dF[i] = a->f[i] - a->f_last[i];
        }
        for (int i = 0; i < a->size; i++) {
            dG[i] = g[i] - a->g_last[i];
        }
        a->count++;
    }
    memcpy(a->f_last, a->f, (size_t)a->n * sizeof *a->f);
    memcpy(a->g_last, g, (size_t)a->size * sizeof *g);
    a->last = norm;
}

// z = g - dG c by the normal equations; z = g and false where the differences are dependent.
static bool extrapolate(const pp_anderson *a, const double *g, double *z)
{
    int m = a->count < DEPTH ? a->count : DEPTH, pivot[DEPTH];
    double A[DEPTH * DEPTH], c[DEPTH], trace = 0.0;
    for (int i = 0; i < m; i++) {
        const double *dFi = a->dF + (size_t)i * (size_t)a->n;
        c[i] = pp_dot(a->n, dFi, a->f);
        for (int j = 0; j <= i; j++) {
            A[i + j * m] = A[j + i * m] = pp_dot(a->n, dFi, a->dF + (size_t)j * (size_t)a->n);
        }
        trace += A[i + i * m];
    }
    for (int i = 0; i < m; i++) {
        A[i + i * m] += 1e-12 * trace;  // the normal equations lose half of the 16 digits anyway
    }
    memcpy(z, g, (size_t)a->size * sizeof *z);
    if (m == 0 || pp_lu_factor(m, A, m, pivot, 0.0) != 0) {
        return false;
    }
    pp_lu_solve(m, A, m, pivot, c);
    double far = 0.0;
    for (int i = 0; i < m; i++) {
        far += fabs(c[i]);
    }
    if (!(far <= FARTHEST)) {
        return false;
    }
    for (int i = 0; i < m; i++) {
        pp_axpy(a->size, -c[i], a->dG + (size_t)i * (size_t)a->size, z);
    }
    return true;
}

void pp_anderson_next(pp_anderson *a, const double *g, double *z)
{
    double norm = 0.0;
    for (int i = 0; i < a->n; i++) {
        a->f[i] = g[i] - z[i];
        norm += a->f[i] * a->f[i];
    }
    norm = sqrt(norm);
    // plain steps after the start or a rejection
    if (a->pause > 0) {
        a->pause--;
        memcpy(z, g, (size_t)a->size * sizeof *z);
        return;
    }
    // overshot: back to the last image, and differences across the kink are dropped
    if (a->extrapolated && !(norm <= a->growth * a->last)) {
        memcpy(z, a->g_last, (size_t)a->size * sizeof *z);
        pp_anderson_reset(a);
        a->trusted = 0;
        a->pause = a->pause_for;
        a->pause_for = 2 * a->pause_for < PAUSE_MAX ? 2 * a->pause_for : PAUSE_MAX;
        return;
    }
    if (a->extrapolated && ++a->trusted > TRUSTED) {
        a->pause_for = 2;
    }
    store_step(a, g, norm);
    a->extrapolated = extrapolate(a, g, z);
}
