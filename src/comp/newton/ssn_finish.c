// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact end of a contact problem whose friction is polygonal: an active set method.  theory (C38)
//
// There the law is linear for given modes of the contacts,
//
//   open     r = 0                                  edge     u_n = 0,  e.u_t = 0,  n.r_t = cos(pi/nd) mu r_n
//   stick    u = 0                                  vertex   u_n = 0,  r_t = mu r_n d
//
// (e along an edge of the polygon, n across it, d a vertex), and the modes are those of r - rho u. Right
// modes give the answer in one linear system, up to rounding; wrong ones are exchanged by where it leads, a
// few times, all at once and then one by one (ssn_walk.c). A small proximal term about the last r keeps redundant contacts apart. The end is
// Q(r - rho u), which is exactly on the bounds of its modes.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum { TRIES = 3, EXCHANGES = 6, SLOW_MOST = 2, PIECES_MOST = 120 };

// The proximal term: what suits redundant contacts where modes are right, then what lets modes change.
static const double PROXIMAL[TRIES] = {1e-2, 1e-6, 1e-9};
static const double ROUNDING = 3e-14, NEAR = 1e-11;  // of |r|

typedef struct exchange_state {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double *x, *u, *F, *dx, *Wdx;
    double *P, *A, *B;
    double *best;
    double least;  // |F| there
    double alpha;
} exchange_state;

static bool allocate_exchange(exchange_state *s, pp_arena *arena)
{
    size_t n = (size_t)s->ssn->n, blocks = n * (size_t)s->ssn->dim;
    double **vectors[] = {&s->x, &s->u, &s->F, &s->dx, &s->Wdx, &s->best};
    double *reals = PP_ZEROS(arena, double, 6 * n + 3 * blocks);
    for (size_t k = 0; reals && k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = reals + k * n;
    }
    s->P = reals + 6 * n;
    s->A = s->P + blocks;
    s->B = s->A + blocks;
    return reals != NULL;
}

static void velocities(const exchange_state *s, const double *r)
{
    pp_ssn_mul(s->ssn, r, s->u);
    pp_axpy(s->ssn->n, 1.0, s->ssn->q, s->u);
}

// |F| at x, with the modes in P.
static double evaluate_modes(exchange_state *s)
{
    velocities(s, s->x);
    return pp_ssn_map(s->ssn, 1.0 / (1.0 + s->alpha), s->x, s->u, s->F, s->P);
}

// x += dx of the linear system of the modes.
static perp_status exchange_modes(exchange_state *s)
{
    double rho = 1.0 / (1.0 + s->alpha);
    int n = s->ssn->n, d = s->ssn->dim;
    for (int k = 0; k < n * d; k++) {
        double identity = k % (d * d) % (d + 1) == 0 ? 1.0 : 0.0;
        s->A[k] = rho * s->P[k];
        s->B[k] = identity - (1.0 - rho * s->alpha) * s->P[k];
    }
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    for (int i = 0; i < n; i++) {
        s->dx[i] = -s->F[i];
    }
    status = status < 0 ? status : pp_ssn_linear_solve(s->linear, s->dx, s->Wdx);
    if (status >= 0) {
        pp_axpy(n, 1.0, s->dx, s->x);
    }
    return status;
}

static bool is_within(const exchange_state *s, double part)
{
    return s->least <= part * pp_norm2(s->ssn->n, s->best);
}

static void store_if_better(exchange_state *s, double size)
{
    s->least = size;
    memcpy(s->best, s->x, (size_t)s->ssn->n * sizeof *s->x);
}

// Exchanges from the best x until |F| is rounding; where modes are to change, they may lead away at first.
static perp_status exchanges(exchange_state *s, double alpha, int *steps)
{
    int slow = 0;
    s->alpha = alpha;
    memcpy(s->x, s->best, (size_t)s->ssn->n * sizeof *s->x);
    for (int k = 0; k <= EXCHANGES && slow < SLOW_MOST; k++) {
        double size = evaluate_modes(s), before = s->least;
        if (size < before) {
            slow = size > 0.5 * before ? slow + 1 : 0;
            store_if_better(s, size);
        }
        bool away = k > 0 && size > before && (alpha == PROXIMAL[0] || is_within(s, NEAR));
        if (is_within(s, ROUNDING) || away || k == EXCHANGES || !isfinite(size)) {
            break;
        }
        perp_status status = exchange_modes(s);
        if (status < 0) {
            return status;
        }
        (*steps)++;
    }
    return PERP_OK;
}

// Where exchanges of many modes at once lead nowhere: one at a time, along a path. Answers that are nearly
// there may be far from one that is: the proximal term falls, until it does not hold the path back.
static perp_status walks(exchange_state *s, pp_arena *arena, int *steps)
{
    static const double ALPHA[] = {1e-8, 1e-8, 1e-10, 1e-12};
    pp_ssn_homotopy *walk;
    perp_status status = pp_ssn_homotopy_create(s->ssn, s->linear, arena, &walk);
    for (size_t k = 0; status >= 0 && k < sizeof ALPHA / sizeof *ALPHA; k++) {
        pp_ssn_homotopy_begin(walk, ALPHA[k], s->best);
        status = pp_ssn_homotopy_run(walk, PIECES_MOST, steps, s->x);
        double size = status == PERP_OK ? evaluate_modes(s) : PP_INF;
        if (size < s->least) {
            store_if_better(s, size);
        }
        if (status == PERP_ERR_MEMORY || is_within(s, NEAR)) {
            return status;
        }
        status = PERP_OK;
    }
    return status;
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
        perp_status status = exchanges(&s, PROXIMAL[k], steps);
        if (status == PERP_ERR_MEMORY) {
            return status;
        }
    }
    if (!is_within(&s, NEAR)) {
        perp_status status = walks(&s, arena, steps);
        status = status < 0 ? status : exchanges(&s, PROXIMAL[0], steps);
        if (status == PERP_ERR_MEMORY) {
            return status;
        }
    }
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
