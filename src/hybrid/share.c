// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces that the equations of given modes do not determine: of those that keep the laws, the least.  theory (H19)
//
// For given modes the forces x of a motion are those with M x = b. Where M is singular (a box on four corners, a face
// that slides on five) the shortest of them may pull, or ask for more friction than there is, although others do not.
// Where contacts slide, another choice is another motion, so the choice has to be a continuous function of the state:
// an integrator follows it. The forces of least norm in the convex set {M x = b} and K, the cones of friction and bounds,
// are one. With x = x_0 + N z, x_0 the shortest solution, N an orthonormal basis of the null space of M,
//
//     min  delta/2 |x|^2 + 1/2 sum |x + w - P_K(x + w)|^2       w <- x + w - P_K(x + w)
//
// is strongly convex in z, and is solved by Newton's method with halved steps; the multipliers w (method of multipliers)
// take what is left of the distance to K to rounding in a few rounds, a factor of delta each. Where no x is in K the
// result is near the one that is closest to it, without a jump. A jump would stop the integrator at the very place
// where the modes end.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// One condition: x[tangent..] within mu times x[normal], which is not negative; or within +-bound.
typedef struct cone {
    int normal;  // -1: none
    int tangent[2], tangents;
    double mu, bound;
    double w[3];  // multipliers of the normal and the tangents
} cone;

typedef struct share {
    pp_equations e;
    int cones, free;  // free: the columns of N
    cone *cone;
    double *N;        // n x free, orthonormal
    double *x;        // n
    double *g;        // n: gradient of the objective in x
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
static void project(const cone *c, const double own[3], double P[3], double D[3][3])
{
    double mu = c->mu, normal = own[0], size = hypot(own[1], own[2]);
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

// Half the squared distance of x + w from a cone. What is beyond it, x + w - P, goes into beyond (NULL: not wanted), is
// added to g, and its derivative to H (NULL: not wanted).
static double outside_cone(const cone *c, const double *x, int n, double *beyond, double *g,
                           double *H)
{
    const int index[3] = {c->normal, c->tangents > 0 ? c->tangent[0] : -1,
                          c->tangents > 1 ? c->tangent[1] : -1};
    double own[3] = {0.0}, P[3] = {0.0}, D[3][3] = {{0.0}}, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        own[k] = index[k] < 0 ? 0.0 : x[index[k]] + c->w[k];
    }
    double most = c->normal < 0 ? c->bound : c->mu * own[0];
    bool inside = hypot(own[1], own[2]) <= most && own[0] >= 0.0;
    if (!inside) {
        project(c, own, P, D);
    }
    for (int i = 0; i < 3; i++) {
        double out = inside ? 0.0 : own[i] - P[i];
        if (beyond) {
            beyond[i] = out;
        }
        if (index[i] < 0 || inside) {
            continue;
        }
        g[index[i]] += out;
        sum += 0.5 * out * out;
        for (int k = 0; H && k < 3; k++) {
            if (index[k] >= 0) {
                H[index[i] + index[k] * n] += (i == k ? 1.0 : 0.0) - D[i][k];
            }
        }
    }
    return sum;
}

static const double DELTA = 1e-6;  // what the norm counts beside the distance from the cones

// The objective, its gradient g in x, and with H the derivative of that.
static double objective(const share *s, const double *x, double *g, double *H)
{
    int n = s->e.n;
    double sum = 0.5 * DELTA * pp_dot(n, x, x);
    for (int i = 0; i < n; i++) {
        g[i] = DELTA * x[i];
    }
    if (H) {
        memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    }
    for (int i = 0; i < s->cones; i++) {
        sum += outside_cone(&s->cone[i], x, n, NULL, g, H);
    }
    return sum;
}

// New multipliers; the largest change of one, which is how far x is from the cones.
static double renew_multipliers(share *s)
{
    double most = 0.0;
    for (int i = 0; i < s->cones; i++) {
        cone *c = &s->cone[i];
        double beyond[3];
        outside_cone(c, s->x, s->e.n, beyond, s->g, NULL);
        for (int k = 0; k < 3; k++) {
            most = fmax(most, fabs(beyond[k] - c->w[k]));
            c->w[k] = beyond[k];
        }
    }
    return most;
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

enum { STEPS = 60, HALVINGS = 30, MULTIPLIERS = 4 };

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
        s->B[i + i * m] += DELTA;
    }
    if (most <= 1e-16 * size || pp_chol_factor(m, s->B, m, 0.0) != 0) {
        return false;
    }
    pp_chol_solve(m, s->B, m, s->dz);
    memset(s->dx, 0, (size_t)n * sizeof *s->dx);
    pp_gemv(n, m, 1.0, s->N, n, s->dz, s->dx);
    return true;
}

static void minimise(share *s, double size)
{
    int n = s->e.n;
    double f = objective(s, s->x, s->g, s->H);
    for (int k = 0; k < STEPS && direction(s, size); k++) {
        double slope = pp_dot(n, s->g, s->dx), step = 1.0, next = f;
        for (int halving = 0; halving < HALVINGS; halving++, step *= 0.5) {
            for (int i = 0; i < n; i++) {
                s->trial[i] = s->x[i] + step * s->dx[i];
            }
            next = objective(s, s->trial, s->g, NULL);
            if (next <= f + 1e-4 * step * slope) {
                break;
            }
        }
        if (!(next < f)) {
            break;
        }
        memcpy(s->x, s->trial, (size_t)n * sizeof *s->x);
        f = objective(s, s->x, s->g, s->H);
    }
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

// x becomes the shortest solution of the equations; the rank of M.
static int shortest(share *s, pp_arena *arena)
{
    int n = s->e.n;
    double *M = PP_ARRAY(arena, double, (size_t)n *(size_t)n), *b = PP_ARRAY(arena, double, n);
    if (!M || !b) {
        return -1;
    }
    memcpy(M, s->e.M, (size_t)n * (size_t)n * sizeof *M);
    memcpy(b, s->e.b, (size_t)n * sizeof *b);
    return pp_least_solve(n, M, b, s->x, s->e.scale, PP_LAW_RANK, arena);
}

// From the shortest solution to the least one within the cones.
static perp_status move_into_cones(share *s, int rank, pp_arena *arena)
{
    double size = pp_norm_inf(s->e.n, s->x);
    perp_status status = find_null(s, rank, arena);
    for (int k = 0; k < MULTIPLIERS && status >= 0; k++) {
        minimise(s, size);
        if (renew_multipliers(s) <= 1e-15 * size) {
            break;
        }
    }
    return status;
}

perp_status pp_law_forces(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    share s = {.cones = 0};
    perp_status status = begin(&s, laws, r, arena);
    int rank = status < 0 ? -1 : shortest(&s, arena);
    if (rank < 0) {
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    info->rank = rank;
    info->equations = s.e.n;
    double small = 1e-13 * pp_norm_inf(s.e.n, s.x), squares = 0.0;
    for (int i = 0; i < s.cones; i++) {
        squares += 2.0 * outside_cone(&s.cone[i], s.x, s.e.n, NULL, s.g, NULL);
    }
    if (rank < s.e.n && squares > small * small) {
        status = move_into_cones(&s, rank, arena);
    }
    for (int j = 0; j < s.e.n; j++) {
        pp_push_add(&s.e.acts[j], s.x[j], r);
    }
    pp_arena_release(arena, mark);
    if (status < 0) {
        return status;
    }
    return pp_all_finite((size_t)laws->rows, r) ? PERP_OK : PERP_ERR_NUMERIC;
}
