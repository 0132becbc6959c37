// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The best separating axis of two convex pieces.
//
// Pieces apart: the point v of C = A - B nearest to the origin gives n = -v/|v| (Gilbert, Johnson
// and Keerthi 1988). Every axis that is tried on the way is a proof by itself, and the best one is
// kept.
//
// Pieces that overlap by d along n: B is moved by (d + lift) n, so that the pieces are `lift` apart
// along n, and the best separating axis n' is found there. With c = n.n',
//     separation(n') >= lift - (d + lift) c >= -d ,
// so that n' is never worse than n for the original position of B. It equals n only where d is a
// local minimum. The search starts from every face of both pieces, from the line of centres and
// from the known axes.
#include "certify/geometry/convex.h"

#include <float.h>
#include <math.h>

// Limits on iterations, for searches that rounding keeps from ending.
enum { ROUNDS = 64, LIFTS = 24 };
// Cores nearer than this share of their size: v is a difference of nearly equal vectors and has
// lost its direction, which is then found as for overlapping pieces.
static const double NEAR = 1e-4;
static const double CLOSE = 1e-13;  // relative: a nearest point that supports no longer improve

// Radii are taken off at the end: cores with a radius have the axes of their cores.
double pp_separation(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 n)
{
    perp_vec3 x = pp_placed_convex_support(a, n),
              y = pp_placed_convex_support(b, pp_scale(-1.0, n));
    return pp_dot3(n, pp_sub(y, x)) - a->convex->radius - b->convex->radius;
}

// A half-space is bounded along its outward normal only, which is z in its frame.
bool pp_forced_axis(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 *n)
{
    if (a->convex->kind == PP_CONVEX_PLANE) {
        *n = pp_mat3_column(&a->X.R, 2);
        return true;
    }
    if (b->convex->kind == PP_CONVEX_PLANE) {
        *n = pp_scale(-1.0, pp_mat3_column(&b->X.R, 2));
        return true;
    }
    return false;
}

// ── The nearest point of a simplex ───────────────────────────────────────────────────────────────

// Some vertices of the Minkowski difference. nearest_of reduces it to those that the nearest point
// needs.
typedef struct simplex {
    int count;
    perp_vec3 w[4];
} simplex;

// Nearest point of the origin on a segment.
static perp_vec3 nearest_2(simplex *s)
{
    perp_vec3 a = s->w[0], d = pp_sub(s->w[1], a);
    double length = pp_dot3(d, d), t = length > 0.0 ? -pp_dot3(a, d) / length : 0.0;
    if (t <= 0.0) {
        s->count = 1;
        return a;
    }
    if (t >= 1.0) {
        s->w[0] = s->w[1];
        s->count = 1;
        return s->w[0];
    }
    return pp_along(a, t, d);
}

// Nearest point on the boundary of a triangle; the simplex becomes the side or corner that holds
// it.
static perp_vec3 nearest_side(simplex *s)
{
    simplex best = {0};
    perp_vec3 nearest = {0};
    double least = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        simplex side = {2, {s->w[k], s->w[(k + 1) % 3]}};
        perp_vec3 x = nearest_2(&side);
        if (pp_dot3(x, x) < least) {
            least = pp_dot3(x, x);
            best = side;
            nearest = x;
        }
    }
    *s = best;
    return nearest;
}

// The origin projects into the triangle if it is on the inner side of all three sides.
static perp_vec3 nearest_3(simplex *s)
{
    perp_vec3 a = s->w[0], n = pp_cross(pp_sub(s->w[1], a), pp_sub(s->w[2], a));
    double area = pp_dot3(n, n);
    if (!(area > 0.0)) {
        return nearest_side(s);
    }
    for (int k = 0; k < 3; k++) {
        perp_vec3 x = s->w[k], side = pp_sub(s->w[(k + 1) % 3], x);
        if (!(pp_dot3(pp_cross(side, pp_scale(-1.0, x)), n) >= 0.0)) {
            return nearest_side(s);
        }
    }
    return pp_scale(pp_dot3(a, n) / area, n);
}

// Compares the faces that have the origin on their outer side; all of them where the tetrahedron is
// flat. Without any the origin is inside: the simplex keeps its four vertices, and 0 is returned.
static perp_vec3 nearest_4(simplex *s)
{
    // Three vertices of a face, then the opposite one.
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    simplex best = *s;
    perp_vec3 nearest = {0};
    double least = HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        simplex f = {3, {s->w[face[k][0]], s->w[face[k][1]], s->w[face[k][2]]}};
        perp_vec3 n = pp_cross(pp_sub(f.w[1], f.w[0]), pp_sub(f.w[2], f.w[0]));
        double other = pp_dot3(n, pp_sub(s->w[face[k][3]], f.w[0])), origin = -pp_dot3(n, f.w[0]);
        double flat = 1e-12 * pp_length(n) * pp_length(pp_sub(s->w[face[k][3]], f.w[0]));
        if (fabs(other) > flat && origin * other > 0.0) {
            continue;
        }
        perp_vec3 x = nearest_3(&f);
        if (pp_dot3(x, x) < least) {
            least = pp_dot3(x, x);
            best = f;
            nearest = x;
        }
    }
    *s = best;
    return nearest;
}

static perp_vec3 nearest_of(simplex *s)
{
    switch (s->count) {
    case 1:
        return s->w[0];
    case 2:
        return nearest_2(s);
    case 3:
        return nearest_3(s);
    default:
        return nearest_4(s);
    }
}

// ── Apart ────────────────────────────────────────────────────────────────────────────────────────

// radii: sum of both. size: of the smaller piece, which tolerances are relative to [m].
typedef struct convex_pair {
    const pp_placed_convex *a, *b;
    double radii, size;
} convex_pair;

// Support point of the Minkowski difference A - (B + shift) along n.
static perp_vec3 difference_support(const convex_pair *p, perp_vec3 shift, perp_vec3 n)
{
    perp_vec3 x = pp_placed_convex_support(p->a, n),
              y = pp_placed_convex_support(p->b, pp_scale(-1.0, n));
    return pp_sub(pp_sub(x, y), shift);
}

// GJK. The best axis with B moved by `shift`, and its separation there. Starts at *n, which holds
// the best axis after.
static double best_separation(const convex_pair *p, perp_vec3 shift, double enough, perp_vec3 *n)
{
    simplex s = {1, {difference_support(p, shift, *n)}};
    perp_vec3 v = s.w[0];
    double best = -pp_dot3(*n, v);
    for (int round = 0; round < ROUNDS && best - p->radii < enough; round++) {
        double length = pp_length(v);
        if (!(length > CLOSE * p->size)) {
            break;  // the origin is inside, or on the surface
        }
        perp_vec3 m = pp_scale(-1.0 / length, v), w = difference_support(p, shift, m);
        double reached = -pp_dot3(m, w);
        if (reached > best) {
            best = reached;
            *n = m;
        }
        // A vertex that is found again, or one that gains nothing, ends the search: v is the
        // nearest point.
        bool known = false;
        for (int k = 0; k < s.count; k++) {
            known = known || (w.x == s.w[k].x && w.y == s.w[k].y && w.z == s.w[k].z);
        }
        if (known || length - reached <= CLOSE * length) {
            break;
        }
        s.w[s.count++] = w;
        v = nearest_of(&s);
        // The origin is inside, or rounding has stopped the descent.
        if (s.count == 4 || !(pp_length(v) < length)) {
            break;
        }
    }
    return best - p->radii;
}

// ── Overlapping ──────────────────────────────────────────────────────────────────────────────────

// Descends from one axis to a local minimum of the depth. A small lift finds the one nearby, a
// large one what is visible from a distance; each is used until it gains nothing.
static double local_minimum(const convex_pair *p, double enough, perp_vec3 *n)
{
    static const double lifts[] = {1e-2, 0.3, 1e-3};
    enum { LEVELS = sizeof lifts / sizeof *lifts };
    double s = pp_separation(p->a, p->b, *n);
    for (int k = 0, level = 0; k < LIFTS && level < LEVELS && s < enough; k++) {
        double lift = fmax(-s, lifts[level] * p->size), off = lift - s;
        perp_vec3 to = *n;
        best_separation(p, pp_scale(off, *n), HUGE_VAL, &to);
        double there = pp_separation(p->a, p->b, to);
        if (!(there > s + 1e-12 * p->size)) {
            level++;
            continue;
        }
        s = there;
        *n = to;
    }
    return s;
}

// Keeps the result of a descent if it is the best so far.
static void try_from(const convex_pair *p, double enough, perp_vec3 from, double *best,
                     perp_vec3 *n)
{
    double s = local_minimum(p, enough, &from);
    if (s > *best) {
        *best = s;
        *n = from;
    }
}

// Only the most promising starts, those with the least overlap, are followed.
enum { FOLLOWED = 12 };

typedef struct starts {
    int count;
    perp_vec3 n[FOLLOWED];
    double s[FOLLOWED];
} starts;

// Inserts an axis into the list, which is sorted by separation, the best first.
static void add_start(starts *list, const convex_pair *p, perp_vec3 n)
{
    double s = pp_separation(p->a, p->b, n);
    if (list->count == FOLLOWED && !(s > list->s[FOLLOWED - 1])) {
        return;
    }
    int at = list->count < FOLLOWED ? list->count++ : FOLLOWED - 1;
    for (; at > 0 && list->s[at - 1] < s; at--) {
        list->s[at] = list->s[at - 1];
        list->n[at] = list->n[at - 1];
    }
    list->s[at] = s;
    list->n[at] = n;
}

// The axis itself and its neighbours, tilted by 0.3 rad or so in all directions across it.
static void add_around(starts *list, const convex_pair *p, perp_vec3 n)
{
    bool planar = p->a->convex->planar;
    perp_vec3 t = planar ? pp_vec(-n.y, n.x, 0.0) : pp_across(n), o = pp_cross(n, t);
    for (int i = -1; i <= 1; i++) {
        for (int k = planar ? 0 : -1; k <= (planar ? 0 : 1); k++) {
            add_start(list, p, pp_unit(pp_along(pp_along(n, 0.3 * i, t), 0.3 * k, o), n));
        }
    }
}

static void descend_from_starts(const starts *list, const convex_pair *p, double enough,
                                double *best, perp_vec3 *n)
{
    for (int k = 0; k < list->count && *best < enough; k++) {
        try_from(p, enough, list->n[k], best, n);
    }
}

// Faces of both pieces first; then the neighbourhood of the best axis so far, in case its descent
// stopped at an edge.
static double least_overlap(const convex_pair *p, double enough, double best, perp_vec3 *n)
{
    starts faces = {.count = 0}, around = {.count = 0};
    perp_vec3 axis = {0};
    for (int side = 0; side < 2; side++) {
        const pp_placed_convex *of = side == 0 ? p->a : p->b;
        // Each axis in both directions: k counts half of them.
        for (int k = 0; pp_placed_convex_axis(of, k / 2, &axis); k++) {
            add_start(&faces, p, pp_scale(k % 2 ? -1.0 : 1.0, axis));
        }
    }
    descend_from_starts(&faces, p, enough, &best, n);
    add_around(&around, p, *n);
    descend_from_starts(&around, p, enough, &best, n);
    return best;
}

static convex_pair pair_of(const pp_placed_convex *a, const pp_placed_convex *b)
{
    convex_pair p = {a, b, a->convex->radius + b->convex->radius, 0.0};
    p.size = fmin(a->convex->size, b->convex->size);
    p.size = p.size > 0.0 ? p.size : fmax(a->convex->size, b->convex->size);
    return p;
}

// From the known axis, which in most steps is still the best one, or nearly so; else from the line of centres.
static double search_apart(const convex_pair *p, perp_vec3 between, double enough, perp_vec3 *n)
{
    *n = pp_dot3(*n, *n) > 0.0 ? *n : between;
    return best_separation(p, pp_vec(0.0, 0.0, 0.0), enough, n);
}

static perp_vec3 centres(const pp_placed_convex *a, const pp_placed_convex *b)
{
    return pp_unit(pp_sub(b->X.p, a->X.p), pp_vec(1.0, 0.0, 0.0));
}

double pp_axis_apart(const pp_placed_convex *a, const pp_placed_convex *b, double enough,
                     perp_vec3 *n)
{
    if (pp_forced_axis(a, b, n)) {
        return pp_separation(a, b, *n);
    }
    convex_pair p = pair_of(a, b);
    return search_apart(&p, centres(a, b), enough, n);
}

double pp_axis_search(const pp_placed_convex *a, const pp_placed_convex *b, double enough,
                      perp_vec3 *n)
{
    if (pp_forced_axis(a, b, n)) {
        return pp_separation(a, b, *n);
    }
    convex_pair p = pair_of(a, b);
    perp_vec3 between = centres(a, b);
    double best = search_apart(&p, between, enough, n);
    // Cores that are apart: GJK has found the best axis there is.
    if (best + p.radii > NEAR * p.size || best >= enough) {
        return best;
    }
    try_from(&p, enough, *n, &best, n);
    if (best < enough) {
        try_from(&p, enough, between, &best, n);
    }
    return best + p.radii > CLOSE * p.size ? best : least_overlap(&p, enough, best, n);
}
