// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact problems with polygonal friction to rounding: an active set method.          theory (C38)
//
// For given modes of the contacts the law is linear,
//
//   open     r = 0                                  edge     u_n = 0,  e.u_t = 0,  n.r_t = cos(pi/nd) mu r_n
//   stick    u = 0                                  vertex   u_n = 0,  r_t = mu r_n d
//
// (e along an edge of the polygon, n across it, d a vertex), and the modes follow from r - rho u.
// Correct modes give the answer in one linear solve, up to rounding. Wrong ones are exchanged all
// at once, by the r that the solve leads to. A small proximal term about the last r makes the system regular where contacts are
// redundant. The result is Q(r - rho u), which lies exactly on the bounds of its modes. It replaces
// r where the larger residual does not grow. Cost: one factorisation a solve.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum {
    TRIES = 3,
    EXCHANGES = 6,  // linear solves of one try
    SLOW_MOST = 2,  // solves in a row that do not halve |F| and end a try
};

// The proximal term of each try: a large one suits redundant contacts whose modes are right, a
// small one lets modes change.
static const double PROXIMAL[TRIES] = {1e-2, 1e-6, 1e-9};
static const double ROUNDING = 3e-14, NEAR = 1e-11;  // |F| in units of |r|

typedef struct exchange_state {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double *x, *u, *F, *dx, *Wdx;  // n: the iterate, W x + q, the map, the step, W dx
    double *P, *A, *B;             // blocks: the modes as a Jacobian, and the system
    double *best;                  // n: the iterate of least |F|
    double least;                  // |F| there
    double alpha;                  // the proximal term
} exchange_state;

// One array for all vectors and blocks. False: no memory.
static bool allocate_exchange(exchange_state *s, pp_arena *arena)
{
    size_t n = (size_t)s->ssn->n, blocks = n * (size_t)s->ssn->dim;
    double **vectors[] = {&s->x, &s->u, &s->F, &s->dx, &s->Wdx, &s->best};
    double *reals = PP_ZEROS(arena, double, 6 * n + 3 * blocks);
    if (!reals) {
        return false;
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = reals + k * n;
    }
    s->P = reals + 6 * n;
    s->A = s->P + blocks;
    s->B = s->A + blocks;
    return true;
}

// u = W r + q
static void velocities(const exchange_state *s, const double *r)
{
    pp_ssn_mul(s->ssn, r, s->u);
    pp_axpy(s->ssn->n, 1.0, s->ssn->q, s->u);
}

// |F| at x. The modes of x are left in P.
static double evaluate_modes(exchange_state *s)
{
    velocities(s, s->x);
    return pp_ssn_map(s->ssn, 1.0 / (1.0 + s->alpha), s->x, s->u, s->F, s->P);
}

// Solves the linear system of the modes in P: x += dx.
static perp_status solve_modes(exchange_state *s)
{
    int n = s->ssn->n;
    pp_ssn_newton_blocks(s->ssn, 1.0 / (1.0 + s->alpha), s->alpha, s->P, s->A, s->B);
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < n; i++) {
        s->dx[i] = -s->F[i];
    }
    status = pp_ssn_linear_solve(s->linear, s->dx, s->Wdx);
    if (status >= 0) {
        pp_axpy(n, 1.0, s->dx, s->x);
    }
    return status;
}

// Whether the least |F| is below a part of |r|.
static bool is_within(const exchange_state *s, double part)
{
    return s->least <= part * pp_norm2(s->ssn->n, s->best);
}

// Keeps x as the best iterate, |F| = size.
static void store_least(exchange_state *s, double size)
{
    s->least = size;
    memcpy(s->best, s->x, (size_t)s->ssn->n * sizeof *s->x);
}

// Solves and exchanges modes from the best x, until |F| is rounding. |F| may grow at first where
// modes have to change, but not with the first proximal term or near the end.
static perp_status exchange_at_once(exchange_state *s, double alpha, int *steps)
{
    int slow = 0;
    s->alpha = alpha;
    memcpy(s->x, s->best, (size_t)s->ssn->n * sizeof *s->x);
    for (int k = 0; k <= EXCHANGES && slow < SLOW_MOST; k++) {
        // the modes at x decide the next system
        double size = evaluate_modes(s), before = s->least;
        if (size < before) {
            slow = size > 0.5 * before ? slow + 1 : 0;
            store_least(s, size);
        }
        bool away = k > 0 && size > before && (alpha == PROXIMAL[0] || is_within(s, NEAR));
        if (is_within(s, ROUNDING) || away || k == EXCHANGES || !isfinite(size)) {
            break;
        }
        perp_status status = solve_modes(s);
        if (status < 0) {
            return status;
        }
        (*steps)++;
    }
    return PERP_OK;
}

perp_status pp_ssn_exchange(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena, double *r,
                            int *steps)
{
    exchange_state s = {.ssn = ssn, .linear = linear, .least = PP_INF};
    size_t bytes = (size_t)ssn->n * sizeof *r;
    if (!allocate_exchange(&s, arena)) {
        return PERP_ERR_MEMORY;
    }
    velocities(&s, r);
    pp_ssn_residuals before = pp_ssn_residual(ssn, r, s.u);
    memcpy(s.best, r, bytes);
    for (int k = 0; k < TRIES && !is_within(&s, ROUNDING); k++) {
        perp_status status = exchange_at_once(&s, PROXIMAL[k], steps);
        if (pp_is_final(status)) {
            return status;
        }
    }
    // Q(x - rho u) of the best x, kept where it is no worse than the caller's r
    memcpy(s.x, s.best, bytes);
    evaluate_modes(&s);
    pp_axpy(ssn->n, -1.0, s.F, s.x);  // Q(x - rho u)
    velocities(&s, s.x);
    pp_ssn_residuals after = pp_ssn_residual(ssn, s.x, s.u);
    if (fmax(after.plain, after.scaled) <= fmax(before.plain, before.scaled)) {
        memcpy(r, s.x, bytes);
    }
    return PERP_OK;
}
