// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces that the equations of given modes do not determine: the lawful ones of least norm.
//                                                                                      theory (H19)
//
// For given modes the forces x of a motion solve M x = b. Where M is singular (a box on four
// corners, a face that slides on five) the shortest solution may pull, or need more friction than
// there is, although others do not. Where contacts slide, another choice is another motion, so
// the choice has to be a continuous function of the state for the integrator to follow. The
// forces of least norm in the intersection of {M x = b} with K, the cones of friction and the
// bounds, are such a choice. With x = x_0 + N z, x_0 the shortest solution and N an orthonormal
// basis of the null space of M,
//
//     min over z  delta/2 |x|^2 + 1/2 sum |x + w - P_K(x + w)|^2,       w <- x + w - P_K(x + w)
//
// is strongly convex and is solved by Newton's method with step halving. The multipliers w (method
// of multipliers) reduce the remaining distance to K by a factor of delta in each round. Where no x
// is in K, the result is close to the nearest one and still continuous. A jump would stop the
// integrator at the very point where the modes end.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// One condition: |x[tangent..]| <= mu x[normal] and x[normal] >= 0; without a normal
// |x[tangent..]| <= bound.
typedef struct cone {
    int normal;  // -1: none
    int tangent[2], tangents;
    double mu, bound;
    double w[3];  // multipliers of the normal and the tangents
    // Where x + w is outside: the derivative I - D of the distance, see outside_cone.
    bool outside;
    double K[3][3];
} cone;

// The problem and its work space. n: number of unknown forces, e.n.
typedef struct share {
    pp_equations e;
    int cones, free;  // free: the columns of N
    cone *cone;
    pp_least factors;  // of M
    double *N;         // n x free, orthonormal
    double *rows;      // free x n: rows of N
    double *x;         // n
    double *g;         // n: gradient of the objective in x
    double *B;         // free x free
    double *dz, *dx;   // free, n
    double *trial;     // n
} share;

// ── Conditions ───────────────────────────────────────────────────────────────────────────────────

// The first unknown of a law, which is the normal of a contact; -1: it has none.
static int first_of(const pp_equations *e, int law)
{
    for (int j = 0; j < e->n; j++) {
        if (e->owner[j] == law) {
            return j;
        }
    }
    return -1;
}

// Adds the condition of law i, if it has unknowns: cones of sticking contacts, half-lines of
// sliding ones (their friction is part of the column), bounds of efforts, discs of turning friction
// on the normal of its contact.
static void add_cone(const pp_laws *laws, int i, share *s)
{
    const pp_law *law = &laws->law[i];
    int at = first_of(&s->e, i);
    cone c = {.normal = at, .mu = law->mu, .bound = PP_INF};
    if (at < 0 || law->kind == PP_LAW_EQUAL) {
        return;
    }
    // A contact that sticks has its tangents after the normal; the others have tangents only.
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

// The nearest point P of a cone to own = (normal, t, o), which is outside of it, and the derivative
// D of P. With a = (own_n + mu |own_t|) / (1 + mu^2), P = a (1, mu d); for a <= 0 it is the tip. P
// and D are zero on entry.
static void project(const cone *c, const double own[3], double P[3], double D[3][3])
{
    double mu = c->mu, normal = own[0], size = pp_hypot(own[1], own[2]);
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

// The unknowns of a cone: normal and tangents, -1: none.
static void cone_unknowns(const cone *c, int index[3])
{
    index[0] = c->normal;
    index[1] = c->tangents > 0 ? c->tangent[0] : -1;
    index[2] = c->tangents > 1 ? c->tangent[1] : -1;
}

// Half the squared distance of x + w from a cone. The difference x + w - P goes into
// `beyond` (NULL: not wanted) and is added to the gradient g. curves: its derivative goes into K.
static double outside_cone(cone *c, const double *x, double *beyond, double *g, bool curves)
{
    int index[3];
    double own[3] = {0.0}, P[3] = {0.0}, D[3][3] = {{0.0}}, sum = 0.0;
    cone_unknowns(c, index);
    for (int k = 0; k < 3; k++) {
        own[k] = index[k] < 0 ? 0.0 : x[index[k]] + c->w[k];
    }
    // Components without an unknown are zero: planar friction has one tangent, sliding none.
    double most = c->normal < 0 ? c->bound : c->mu * own[0];
    bool inside = pp_hypot(own[1], own[2]) <= most && own[0] >= 0.0;
    if (!inside) {
        project(c, own, P, D);
    }
    for (int i = 0; i < 3; i++) {
        double out = inside ? 0.0 : own[i] - P[i];
        if (beyond) {
            beyond[i] = out;
        }
        // The gradient of half the squared distance is the difference itself.
        if (index[i] >= 0 && !inside) {
            g[index[i]] += out;
            sum += 0.5 * out * out;
        }
    }
    if (!curves) {
        return sum;
    }
    c->outside = !inside;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c->K[i][k] = (i == k ? 1.0 : 0.0) - D[i][k];
        }
    }
    return sum;
}

static const double DELTA = 1e-6;  // weight of the norm relative to the distance from the cones

// The objective and its gradient g in x. curves: also the second derivatives of the cones.
static double objective(const share *s, const double *x, double *g, bool curves)
{
    int n = s->e.n;
    double sum = 0.5 * DELTA * pp_dot(n, x, x);
    for (int i = 0; i < n; i++) {
        g[i] = DELTA * x[i];
    }
    for (int i = 0; i < s->cones; i++) {
        sum += outside_cone(&s->cone[i], x, NULL, g, curves);
    }
    return sum;
}

// New multipliers. Returns the largest change of one, which is how far x is from the cones.
static double renew_multipliers(share *s)
{
    double most = 0.0;
    for (int i = 0; i < s->cones; i++) {
        cone *c = &s->cone[i];
        double beyond[3];
        // g is work space here.
        outside_cone(c, s->x, beyond, s->g, false);
        for (int k = 0; k < 3; k++) {
            most = fmax(most, fabs(beyond[k] - c->w[k]));
            c->w[k] = beyond[k];
        }
    }
    return most;
}

// ── The null space ───────────────────────────────────────────────────────────────────────────────

// An orthonormal basis N of the null space of M, from the factors that gave the shortest solution,
// by columns and by rows.
static perp_status find_null(share *s, pp_arena *arena)
{
    int n = s->e.n, m = n - s->factors.rank;
    s->free = m;
    s->N = PP_ARRAY(arena, double, 2 * (size_t)n * (size_t)m);
    if (!s->N) {
        return PERP_ERR_MEMORY;
    }
    s->rows = s->N + n * m;
    pp_least_null(&s->factors, s->N, s->dx);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            s->rows[j + i * m] = s->N[i + j * n];
        }
    }
    return PERP_OK;
}

// ── Newton's method ──────────────────────────────────────────────────────────────────────────────

enum { STEPS = 60, HALVINGS = 30, MULTIPLIERS = 4 };  // most Newton steps, halvings, rounds

// B = N^T H N + delta I, its lower triangle. H has a block of three rows for each cone that x is
// outside of, and these are few. dz is work space.
static void reduce_hessian(share *s)
{
    int m = s->free;
    memset(s->B, 0, (size_t)m * (size_t)m * sizeof *s->B);
    for (int i = 0; i < m; i++) {
        s->B[i + i * m] = DELTA;
    }
    for (int c = 0; c < s->cones; c++) {
        const cone *own = &s->cone[c];
        int index[3];
        cone_unknowns(own, index);
        for (int i = 0; i < 3; i++) {
            if (!own->outside || index[i] < 0) {
                continue;
            }
            // Row i of K times the rows of N, then its product with row i of N.
            memset(s->dz, 0, (size_t)m * sizeof *s->dz);
            for (int k = 0; k < 3; k++) {
                if (index[k] >= 0) {
                    pp_axpy(m, own->K[i][k], s->rows + (size_t)index[k] * (size_t)m, s->dz);
                }
            }
            const double *a = s->rows + (size_t)index[i] * (size_t)m;
            for (int j = 0; j < m; j++) {
                pp_axpy(m - j, s->dz[j], a + j, s->B + j + j * m);
            }
        }
    }
}

// Newton's direction dx = N dz, (N^T H N + delta I) dz = -N^T g. False: the gradient is rounding.
static bool direction(share *s, double size)
{
    int n = s->e.n, m = s->free;
    reduce_hessian(s);
    for (int i = 0; i < m; i++) {
        s->dz[i] = -pp_dot(n, s->N + (size_t)i * (size_t)n, s->g);
    }
    // Positive definite by DELTA, so a failure of Cholesky is rounding.
    if (pp_norm_inf(m, s->dz) <= 1e-16 * size || pp_chol_factor(m, s->B, m, 0.0) != 0) {
        return false;
    }
    pp_chol_solve(m, s->B, m, s->dz);
    memset(s->dx, 0, (size_t)n * sizeof *s->dx);
    pp_gemv(n, m, 1.0, s->N, n, s->dz, s->dx);
    return true;
}

// Newton's method with step halving, to sufficient decrease (Armijo) or to where the
// objective no longer falls.
static void minimise(share *s, double size)
{
    int n = s->e.n;
    double f = objective(s, s->x, s->g, true);
    for (int k = 0; k < STEPS && direction(s, size); k++) {
        double slope = pp_dot(n, s->g, s->dx), step = 1.0, next = f;
        // Halve the step until the objective falls by a part of what the slope promises.
        for (int halving = 0; halving < HALVINGS; halving++, step *= 0.5) {
            for (int i = 0; i < n; i++) {
                s->trial[i] = s->x[i] + step * s->dx[i];
            }
            next = objective(s, s->trial, s->g, false);
            if (next <= f + 1e-4 * step * slope) {
                break;
            }
        }
        if (!(next < f)) {
            break;
        }
        memcpy(s->x, s->trial, (size_t)n * sizeof *s->x);
        f = objective(s, s->x, s->g, true);
    }
}

// Poses the equations and the cones, and allocates the work space. known: forces that are known.
static perp_status begin(share *s, const pp_laws *laws, double *known, pp_arena *arena)
{
    perp_status status = pp_law_equations(laws, &s->e, known, arena);
    if (status < 0) {
        return status;
    }
    size_t n = (size_t)s->e.n;
    s->cone = PP_ARRAY(arena, cone, laws->count);
    s->x = PP_ARRAY(arena, double, 5 * n + n * n);
    if (!s->cone || !s->x) {
        return PERP_ERR_MEMORY;
    }
    // One block for all vectors and matrices.
    s->g = s->x + n;
    s->dz = s->g + n;
    s->dx = s->dz + n;
    s->trial = s->dx + n;
    s->B = s->trial + n;
    for (int i = 0; i < laws->count; i++) {
        add_cone(laws, i, s);
    }
    return PERP_OK;
}

// x becomes the shortest solution of the equations. Returns the rank of M, -1: out of memory.
static int shortest(share *s, pp_arena *arena)
{
    int n = s->e.n;
    double *M = PP_ARRAY(arena, double, (size_t)n *(size_t)n), *b = PP_ARRAY(arena, double, n);
    if (!M || !b) {
        return -1;
    }
    memcpy(M, s->e.M, (size_t)n * (size_t)n * sizeof *M);
    memcpy(b, s->e.b, (size_t)n * sizeof *b);
    return pp_least_factor(n, M, b, s->x, s->e.scale, PP_LAW_RANK, &s->factors, arena);
}

// From the shortest solution to the least one within the cones.
static perp_status move_into_cones(share *s, pp_arena *arena)
{
    double size = pp_norm_inf(s->e.n, s->x);
    perp_status status = find_null(s, arena);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < MULTIPLIERS; k++) {
        minimise(s, size);
        if (renew_multipliers(s) <= 1e-15 * size) {
            break;
        }
    }
    return PERP_OK;
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
    // The shortest solution is the answer where it is the only one, or within the cones.
    double small = 1e-13 * pp_norm_inf(s.e.n, s.x), squares = 0.0;
    for (int i = 0; i < s.cones; i++) {
        squares += 2.0 * outside_cone(&s.cone[i], s.x, NULL, s.g, false);
    }
    if (rank < s.e.n && squares > small * small) {
        status = move_into_cones(&s, arena);
    }
    // r holds the known forces: those of the unknowns are added in their directions.
    for (int j = 0; j < s.e.n; j++) {
        pp_push_add(&s.e.acts[j], s.x[j], r);
    }
    pp_arena_release(arena, mark);
    if (status < 0) {
        return status;
    }
    return pp_all_finite((size_t)laws->rows, r) ? PERP_OK : PERP_ERR_NUMERIC;
}
