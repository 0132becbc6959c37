// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads that the motion does not determine: a share of them that keeps the laws.          theory (H19)
//
// For given modes the forces x of a motion are those with M x = b. Where M is singular (a box on four corners) the
// shortest of them may pull, or ask for more friction than there is, although others do not. Those that keep the laws
// are a convex set: the meeting of the affine set {x_0 + N z}, N a basis of the null space of M, with cones of friction
// and bounds. It is found by Newton's method on the squared distance
//
//     f(z) = 1/2 sum |x - P_K(x)|^2,     x = x_0 + N z,     N' (I - DP_K) N dz = -N' (x - P_K(x)),
//
// which is convex and has a Lipschitz derivative: a step that lowers it by halving lengths always exists. Its least value
// is zero where there is such a share, and positive where there is none.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// One condition: x[tangent..] within mu times x[normal], which is not negative; or within +-bound.
typedef struct cone {
    int normal;  // -1: none
    int tangent[2], tangents;
    double mu, bound;
} cone;

typedef struct share {
    pp_equations e;
    int cones, free;  // free: the columns of N
    cone *cone;
    double *N;        // n x free, orthonormal
    double *x;        // n
    double *g;        // n: x - P(x), summed over the cones
    double *H, *B;    // n x n, free x free
    double *dz, *dx;  // free, n
    double *trial;    // n
} share;

// ── Conditions ───────────────────────────────────────────────────────────────────────────────────

// The first unknown of a law, -1: it has none.
static int first_of(const pp_equations *e, int law)
{
    for (int j = 0; j < e->n; j++) {
        if (e->owner[j] == law) {
            return j;
        }
    }
    return -1;
}

static void add_cone(const pp_laws *laws, int i, share *s)
{
    const pp_law *law = &laws->law[i];
    int at = first_of(&s->e, i);
    cone c = {.normal = at, .mu = law->mu, .bound = PP_INF};
    if (at < 0 || law->kind == PP_LAW_EQUAL) {
        return;
    }
    int from = at + 1, tangents = law->mode == PP_HELD ? law->size - 1 : 0;
    if (law->kind == PP_LAW_BOX || pp_law_is_turning(law)) {
        c.normal = pp_law_is_turning(law) ? first_of(&s->e, law->on) : -1;
        c.bound = law->kind == PP_LAW_BOX ? law->bound : PP_INF;
        from = at;
        tangents = law->size;
    }
    for (int k = 0; k < tangents; k++) {
        c.tangent[c.tangents++] = from + k;
    }
    s->cone[s->cones++] = c;
}

// The point P of a cone nearest to own = (normal, t), outside of it, and its derivative D.
static void project(const cone *c, double mu, const double own[3], double P[3], double D[3][3])
{
    double normal = own[0], size = hypot(own[1], own[2]);
    double along = c->normal < 0 ? c->bound : (normal + mu * size) / (1.0 + mu * mu);
    double radius = c->normal < 0 ? c->bound : mu * along, d[3] = {0.0};
    if (c->normal >= 0 && along <= 0.0) {
        return;  // the tip: P and D are zero
    }
    for (int k = 1; k < 3; k++) {
        d[k] = size > 0.0 ? own[k] / size : 0.0;
        P[k] = radius * d[k];
    }
    P[0] = c->normal < 0 ? 0.0 : along;
    // Along the generator (1, mu d) the projection keeps what is there; across d it turns with d.
    const double generator[3] = {1.0, mu * d[1], mu * d[2]};
    double keeps = c->normal < 0 ? 0.0 : 1.0 / (1.0 + mu * mu);
    double turns = size > 0.0 ? radius / size : 0.0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            D[i][k] = keeps * generator[i] * generator[k];
            if (i > 0 && k > 0) {
                D[i][k] += turns * ((i == k ? 1.0 : 0.0) - d[i] * d[k]);
            }
        }
    }
}

// Half the squared distance of x from a cone; x - P and its derivative are added to g and H. mu: of the cone.
static double outside_cone(const cone *c, double mu, const double *x, int n, double *g, double *H)
{
    const int index[3] = {c->normal, c->tangents > 0 ? c->tangent[0] : -1,
                          c->tangents > 1 ? c->tangent[1] : -1};
    double own[3] = {0.0}, P[3] = {0.0}, D[3][3] = {{0.0}}, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        own[k] = index[k] < 0 ? 0.0 : x[index[k]];
    }
    double most = c->normal < 0 ? c->bound : mu * own[0];
    if (hypot(own[1], own[2]) <= most && own[0] >= 0.0) {
        return 0.0;
    }
    project(c, mu, own, P, D);
    for (int i = 0; i < 3; i++) {
        if (index[i] < 0) {
            continue;
        }
        g[index[i]] += own[i] - P[i];
        sum += 0.5 * (own[i] - P[i]) * (own[i] - P[i]);
        for (int k = 0; H && k < 3; k++) {
            if (index[k] >= 0) {
                H[index[i] + index[k] * n] += (i == k ? 1.0 : 0.0) - D[i][k];
            }
        }
    }
    return sum;
}

// f, its gradient in x, and with H the derivative of that. tight: part by which cones are taken narrower.
static double outside(const share *s, double tight, const double *x, double *g, double *H)
{
    double sum = 0.0;
    int n = s->e.n;
    memset(g, 0, (size_t)n * sizeof *g);
    if (H) {
        memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    }
    for (int i = 0; i < s->cones; i++) {
        sum += outside_cone(&s->cone[i], (1.0 - tight) * s->cone[i].mu, x, n, g, H);
    }
    return sum;
}

// ── The null space ───────────────────────────────────────────────────────────────────────────────

static void clear_of(int n, int count, const double *Q, double *v)
{
    for (int twice = 0; twice < 2; twice++) {
        for (int k = 0; k < count; k++) {
            const double *q = Q + (size_t)k * (size_t)n;
            pp_axpy(n, -pp_dot(n, q, v), q, v);
        }
    }
}

// Of n vectors (columns of V, overwritten) `count` orthonormal ones: the longest remainder first, by Gram and Schmidt.
static void orthonormal(int n, int count, double *V, double *Q, int first)
{
    for (int k = 0; k < count; k++) {
        int best = 0;
        double most = -1.0;
        for (int j = 0; j < n; j++) {
            double length = pp_dot(n, V + (size_t)j * (size_t)n, V + (size_t)j * (size_t)n);
            if (length > most) {
                most = length;
                best = j;
            }
        }
        double *q = Q + (size_t)(first + k) * (size_t)n;
        memcpy(q, V + (size_t)best * (size_t)n, (size_t)n * sizeof *q);
        clear_of(n, first + k, Q, q);
        double length = sqrt(pp_dot(n, q, q));
        for (int i = 0; i < n; i++) {
            q[i] /= length > 0.0 ? length : 1.0;
        }
        for (int j = 0; j < n; j++) {
            double *v = V + (size_t)j * (size_t)n;
            pp_axpy(n, -pp_dot(n, q, v), q, v);
        }
    }
}

// rank: of M, as the solution of the equations found it.
static perp_status find_null(share *s, int rank, pp_arena *arena)
{
    int n = s->e.n;
    size_t square = (size_t)n * (size_t)n;
    double *V = PP_ARRAY(arena, double, 2 * square), *Q = V + square;
    if (!V) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        double size = 0.0;
        for (int j = 0; j < n; j++) {
            size = hypot(size, s->e.M[i + j * n]);
        }
        for (int j = 0; j < n; j++) {
            V[j + i * n] = size > 0.0 ? s->e.M[i + j * n] / size : 0.0;
        }
    }
    orthonormal(n, rank, V, Q, 0);
    memset(V, 0, square * sizeof *V);
    for (int j = 0; j < n; j++) {
        V[j + j * n] = 1.0;
        clear_of(n, rank, Q, V + (size_t)j * (size_t)n);
    }
    orthonormal(n, n - rank, V, Q, rank);
    s->N = Q + (size_t)rank * (size_t)n;
    s->free = n - rank;
    return PERP_OK;
}

// ── Newton's method ──────────────────────────────────────────────────────────────────────────────

enum { STEPS = 60, HALVINGS = 30 };

// A direction dx in the null space; false: the gradient there is rounding.
static bool direction(share *s, double size)
{
    int n = s->e.n, m = s->free;
    double most = 0.0;
    for (int i = 0; i < m; i++) {
        const double *a = s->N + (size_t)i * (size_t)n;
        s->dz[i] = -pp_dot(n, a, s->g);
        most = fmax(most, fabs(s->dz[i]));
        memset(s->dx, 0, (size_t)n * sizeof *s->dx);
        pp_gemv(n, n, 1.0, s->H, n, a, s->dx);
        for (int k = 0; k < m; k++) {
            s->B[k + i * m] = pp_dot(n, s->N + (size_t)k * (size_t)n, s->dx);
        }
    }
    for (int i = 0; i < m; i++) {
        s->B[i + i * m] += 1e-8;  // cones that hold leave directions free
    }
    if (most <= 1e-13 * size || pp_chol_factor(m, s->B, m, 0.0) != 0) {
        return false;
    }
    pp_chol_solve(m, s->B, m, s->dz);
    memset(s->dx, 0, (size_t)n * sizeof *s->dx);
    pp_gemv(n, m, 1.0, s->N, n, s->dz, s->dx);
    return true;
}

// Minimises f from x on; small: what is zero.
static void minimise(share *s, double tight, double size)
{
    int n = s->e.n;
    double f = outside(s, tight, s->x, s->g, s->H), small = 1e-15 * size;
    for (int k = 0; k < STEPS && f > small * small && direction(s, size); k++) {
        double slope = pp_dot(n, s->g, s->dx), step = 1.0, next = f;
        for (int halving = 0; halving < HALVINGS; halving++, step *= 0.5) {
            for (int i = 0; i < n; i++) {
                s->trial[i] = s->x[i] + step * s->dx[i];
            }
            next = outside(s, tight, s->trial, s->g, NULL);
            if (next <= f + 1e-4 * step * slope) {
                break;
            }
        }
        if (!(next < f)) {
            break;
        }
        memcpy(s->x, s->trial, (size_t)n * sizeof *s->x);
        f = outside(s, tight, s->x, s->g, s->H);
    }
}

// Forces of all rows from those of the unknowns; known: those that are given.
static void spread(const share *s, int rows, const double *known, double *r)
{
    memcpy(r, known, (size_t)rows * sizeof *r);
    for (int j = 0; j < s->e.n; j++) {
        pp_push_add(&s->e.acts[j], s->x[j], r);
    }
}

// x becomes the solution of the equations that is nearest to `others` (rows).
static int nearest(share *s, const double *others, pp_arena *arena)
{
    int n = s->e.n;
    double *M = PP_ARRAY(arena, double, (size_t)n *(size_t)n), *b = PP_ARRAY(arena, double, n);
    if (!M || !b) {
        return -1;
    }
    memcpy(M, s->e.M, (size_t)n * (size_t)n * sizeof *M);
    memcpy(b, s->e.b, (size_t)n * sizeof *b);
    for (int j = 0; j < n; j++) {
        double guess = others ? others[s->e.zero[j].row[0]] : 0.0;
        pp_axpy(n, -guess, M + (size_t)j * (size_t)n, b);
        s->x[j] = guess;
    }
    int rank = pp_least_solve(n, M, b, s->trial, s->e.scale, PP_LAW_RANK, arena);
    for (int j = 0; rank >= 0 && j < n; j++) {
        s->x[j] += s->trial[j];
    }
    return rank;
}

static perp_status begin(share *s, const pp_laws *laws, double *known, pp_arena *arena)
{
    perp_status status = pp_law_equations(laws, &s->e, known, arena);
    if (status < 0) {
        return status;
    }
    size_t n = (size_t)s->e.n;
    s->cone = PP_ARRAY(arena, cone, laws->count);
    s->x = PP_ARRAY(arena, double, 5 * n + 2 * n * n);
    if (!s->cone || !s->x) {
        return PERP_ERR_MEMORY;
    }
    s->g = s->x + n;
    s->dz = s->g + n;
    s->dx = s->dz + n;
    s->trial = s->dx + n;
    s->H = s->trial + n;
    s->B = s->H + n * n;
    for (int i = 0; i < laws->count; i++) {
        add_cone(laws, i, s);
    }
    return PERP_OK;
}

// No room for it: it is not kept.
static void remember(pp_share *last, int rows, const double *r)
{
    if (rows > last->room) {
        last->r = PP_ARRAY(last->keep, double, rows);
        last->room = last->r ? rows : 0;
    }
    last->rows = last->r ? rows : 0;
    if (last->r) {
        memcpy(last->r, r, (size_t)rows * sizeof *r);
    }
}

perp_status pp_law_redistribute(const pp_laws *laws, double most, pp_share *last, double *other,
                                bool *kept, pp_arena *arena)
{
    static const double TIGHT[2] = {0.05, 0.0};  // well inside of the cones first: that lasts
    pp_mark mark = pp_arena_mark(arena);
    double *known = PP_ARRAY(arena, double, laws->rows);
    share s = {.cones = 0};
    perp_status status = known ? begin(&s, laws, known, arena) : PERP_ERR_MEMORY;
    *kept = false;
    if (status < 0) {
        return status;
    }
    bool has_last = last && last->rows == laws->rows;
    int rank = nearest(&s, has_last ? last->r : NULL, arena);
    if (rank < 0) {
        return PERP_ERR_MEMORY;
    }
    spread(&s, laws->rows, known, other);
    *kept = pp_law_residual(laws, other, arena) <= most;
    if (!*kept && rank < s.e.n) {
        status = find_null(&s, rank, arena);
        for (int k = 0; k < 2 && status >= 0 && !*kept; k++) {
            minimise(&s, TIGHT[k], pp_norm_inf(s.e.n, s.x));
            spread(&s, laws->rows, known, other);
            *kept = pp_law_residual(laws, other, arena) <= most;
        }
        if (*kept && last) {
            remember(last, laws->rows, other);
        }
    }
    pp_arena_release(arena, mark);
    return status;
}
