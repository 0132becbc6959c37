// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The distance of two cores by Gilbert, Johnson and Keerthi (1988), on the difference b - a, with the
// closest point of a simplex by signed volumes (Montanari, Petrinic and Barbieri 2017).
//
// v is the closest point of the simplex to the origin, w the support point of b - a towards the origin:
// v.w / |v| <= distance <= |v|.
//
// The difference b - a = {y - x : x in a, y in b} is the Minkowski difference. It holds the origin exactly
// where the cores overlap, and its point closest to the origin, v, is the shortest way from a to b: v / |v| is
// the contact normal, from a to b.
#include "gap/convex/narrow.h"

// Keeps the corners k of s for which bit k of `mask` is set. They are the face, edge or vertex of the simplex
// that holds its point closest to the origin; `weight` are the barycentric coordinates of that point.
static void reduce_simplex(pp_simplex *s, unsigned mask, const double *weight)
{
    int count = 0;
    for (int k = 0; k < s->count; k++) {
        if (mask & (1u << k)) {
            s->w[count] = s->w[k];
            s->x[count] = s->x[k];
            s->y[count] = s->y[k];
            s->weight[count++] = weight[k];
        }
    }
    s->count = count;
}

// The point of a simplex, or of a part of it, that is closest to the origin.
typedef struct near_point {
    perp_vec3 v;
    unsigned mask;     // corners it is a combination of
    double weight[4];  // barycentric, of all four corners of the simplex; 0 for those not in mask
} near_point;

static near_point near_vertex(const perp_vec3 *w, int i)
{
    near_point p = {w[i], 1u << i, {0.0, 0.0, 0.0, 0.0}};
    p.weight[i] = 1.0;
    return p;
}

// The origin projected to the line is at w_i + (at_i / sum) d, with sum = |d|^2; beyond an end it is that end.
static near_point near_edge(const perp_vec3 *w, int i, int j)
{
    perp_vec3 d = pp_sub(w[j], w[i]);
    double at_i = -pp_dot3(w[i], d), at_j = pp_dot3(w[j], d), sum = at_i + at_j;
    if (at_i <= 0.0 || !(sum > 0.0)) {
        return near_vertex(w, i);
    }
    if (at_j <= 0.0) {
        return near_vertex(w, j);
    }
    near_point p = {pp_along(w[i], at_i / sum, d), (1u << i) | (1u << j), {0.0, 0.0, 0.0, 0.0}};
    p.weight[i] = at_j / sum;
    p.weight[j] = at_i / sum;
    return p;
}

static near_point nearer_of(near_point p, near_point q)
{
    return pp_dot3(q.v, q.v) < pp_dot3(p.v, p.v) ? q : p;
}

// Twice the signed area of a triangle projected along coordinate axis `drop`. The caller drops the axis of the
// largest component of the normal: the projection is largest there, and ratios of areas lose least to roundoff.
static double projected_area(perp_vec3 a, perp_vec3 b, perp_vec3 c, int drop)
{
    perp_vec3 p = pp_sub(b, a), q = pp_sub(c, a);
    if (drop == 0) {
        return p.y * q.z - p.z * q.y;
    }
    if (drop == 1) {
        return p.z * q.x - p.x * q.z;
    }
    return p.x * q.y - p.y * q.x;
}

// Signed areas: part[k] > 0 for all k where the origin projects into the triangle. Where part[k] <= 0 it is
// beyond the side opposite to corner k, and only such sides can hold the closest point.
static near_point near_triangle(const perp_vec3 *w, int i, int j, int k)
{
    perp_vec3 n = pp_cross(pp_sub(w[j], w[i]), pp_sub(w[k], w[i]));
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z), length2 = pp_dot3(n, n);
    int drop = 0;
    double whole = n.x, part[3] = {0.0, 0.0, 0.0};
    if (z >= x && z >= y) {
        drop = 2;
        whole = n.z;
    } else if (y >= x) {
        drop = 1;
        whole = n.y;
    }
    if (length2 > 0.0) {
        // o: the origin projected to the plane of the triangle
        perp_vec3 o = pp_scale(pp_dot3(w[i], n) / length2, n);
        part[0] = projected_area(o, w[j], w[k], drop) / whole;
        part[1] = projected_area(w[i], o, w[k], drop) / whole;
        part[2] = projected_area(w[i], w[j], o, drop) / whole;
        if (part[0] > 0.0 && part[1] > 0.0 && part[2] > 0.0) {
            near_point p = {o, (1u << i) | (1u << j) | (1u << k), {0.0, 0.0, 0.0, 0.0}};
            double sum = part[0] + part[1] + part[2];
            p.weight[i] = part[0] / sum;
            p.weight[j] = part[1] / sum;
            p.weight[k] = part[2] / sum;
            return p;
        }
    }
    // outside, or without projected_area (all parts 0): the best of the sides that the origin is beyond
    near_point best = near_vertex(w, i);
    if (part[0] <= 0.0) {
        best = nearer_of(best, near_edge(w, j, k));
    }
    if (part[1] <= 0.0) {
        best = nearer_of(best, near_edge(w, i, k));
    }
    return part[2] <= 0.0 ? nearer_of(best, near_edge(w, i, j)) : best;
}

// Signed volumes: part[k] is (six times) the volume with corner k replaced by the origin. All of the sign of
// the whole: the origin is inside, and the solids overlap. Else the closest point is on a face that has the
// origin on its outer side; a flat tetrahedron (whole = 0) tries all four.
static near_point near_tetrahedron(const perp_vec3 *w)
{
    static const int FACE[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    double part[4], whole = 0.0;
    for (int k = 0; k < 4; k++) {
        const int *f = FACE[k];
        part[k] = -pp_dot3(w[f[0]], pp_cross(w[f[1]], w[f[2]]));
    }
    whole = pp_dot3(pp_sub(w[1], w[0]), pp_cross(pp_sub(w[2], w[0]), pp_sub(w[3], w[0])));
    near_point best = near_vertex(w, 0);
    bool inside = whole != 0.0;
    for (int k = 0; k < 4; k++) {
        const int *f = FACE[k];
        if (!(part[k] * whole > 0.0)) {
            best = nearer_of(best, near_triangle(w, f[0], f[1], f[2]));
            inside = false;
        }
    }
    return inside ? (near_point){{0.0, 0.0, 0.0}, 15u, {0.25, 0.25, 0.25, 0.25}} : best;
}

static near_point near_simplex(const pp_simplex *s)
{
    switch (s->count) {
    case 1:
        return near_vertex(s->w, 0);
    case 2:
        return near_edge(s->w, 0, 1);
    case 3:
        return near_triangle(s->w, 0, 1, 2);
    default:
        return near_tetrahedron(s->w);
    }
}

// The support point is a corner already: no progress is possible, whatever the bounds say.
static bool has(const pp_simplex *s, perp_vec3 w)
{
    for (int k = 0; k < s->count; k++) {
        if (s->w[k].x == w.x && s->w[k].y == w.y && s->w[k].z == w.z) {
            return true;
        }
    }
    return false;
}

// The point of b - a furthest along -d, with the witness points it comes from.
static void add_support(pp_simplex *s, const pp_placed_solid *a, const pp_placed_solid *b,
                        perp_vec3 d)
{
    int k = s->count++;
    s->x[k] = pp_core_support(a, d);
    s->y[k] = pp_core_support(b, pp_scale(-1.0, d));
    s->w[k] = pp_sub(s->y[k], s->x[k]);
    s->weight[k] = 0.0;
}

void pp_simplex_points(const pp_simplex *s, perp_vec3 *x, perp_vec3 *y)
{
    *x = *y = pp_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < s->count; k++) {
        *x = pp_along(*x, s->weight[k], s->x[k]);
        *y = pp_along(*y, s->weight[k], s->y[k]);
    }
}

pp_gjk_end pp_gjk(pp_simplex *s, const pp_placed_solid *a, const pp_placed_solid *b,
                  perp_vec3 start, double most, double tolerance)
{
    const double touching = 1e-12 * (a->size + b->size);  // v below this has no direction
    s->count = 0;
    add_support(s, a, b, start);
    s->weight[0] = 1.0;
    s->v = s->w[0];
    for (int round = 0; round < 100; round++) {
        double length = sqrt(pp_dot3(s->v, s->v));
        if (length <= touching) {
            return PP_GJK_OVERLAP;
        }
        pp_simplex more = *s;
        add_support(&more, a, b, pp_scale(1.0 / length, s->v));
        perp_vec3 w = more.w[s->count];
        double bound = pp_dot3(s->v, w) / length;
        if (bound > most) {
            return PP_GJK_FAR;  // the plane across v separates them by more than `most`
        }
        if (length - bound <= tolerance * length || has(s, w)) {
            break;
        }
        near_point p = near_simplex(&more);
        if (p.mask == 15u) {
            return PP_GJK_OVERLAP;
        }
        // |v| falls strictly in exact arithmetic; where it does not, roundoff has been reached
        if (!(pp_dot3(p.v, p.v) < length * length)) {
            break;
        }
        reduce_simplex(&more, p.mask, p.weight);
        more.v = p.v;
        *s = more;
    }
    return PP_GJK_APART;
}
