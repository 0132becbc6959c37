// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A normal that is right to roundoff from one that is nearly right.
//
// Around a direction, the support function of a solid is that of one of its features, or has a kink where
// two of them meet: along an edge, n is across the edge; on the side of a cylinder or a cone, n has a fixed
// component along the axis; on a face, n is its normal. So features near the given normal are guessed, and for each pair of them the largest
//
//     s(n) = -h_a(n) - h_b(-n),   |n| = 1,   n.d = c for each kink,
//
// is found: in closed form where both are flat, else by Newton's method on the sphere (tangent Hessian
// P H P - (n.G) I with G = x_a - x_b and H = H_a + H_b) or on the circle that one kink leaves. The best
// true s(n) wins: as any n gives a lower bound, a wrong guess does no harm.
#include "gap/convex/narrow.h"

// What the support function of a feature is like: linear in n (FLAT), that of a circle (RIM), or smooth (ELLIPSOID).
typedef enum model { FLAT, RIM, ELLIPSOID } model;

// A feature: what the support function is near it, as a function of n (for b: of -n, signs included).
typedef struct guess {
    int kinks;  // 0: free; 1: n.d = c; 2: n = d
    perp_vec3 d;
    double c;
    model model;
    perp_vec3 x;     // FLAT: a point of it; RIM: centre
    perp_vec3 axis;  // RIM: unit
    double radius;   // RIM
    const pp_placed_solid *solid;
    double sign;  // outward direction is sign n: +1 for a, -1 for b
} guess;

enum { GUESS_MAX = 16 };

// The features of one solid within a turn of the outward direction.
typedef struct guesses {
    const pp_placed_solid *s;
    perp_vec3 out;      // outward direction, unit, world axes
    double sign, turn;  // turn [rad]
    int count;
    guess list[GUESS_MAX];
} guesses;

// d and c are given for the outward direction; n = sign out turns them. Beyond GUESS_MAX features are left out: the
// result is still a true lower bound, and pp_manifold3_refine_normal and EPA look again with other turns.
static void add_guess(guesses *g, int kinks, perp_vec3 d, double c, perp_vec3 x)
{
    if (g->count < GUESS_MAX) {
        perp_vec3 along = kinks == 2 ? pp_scale(g->sign, d) : d;
        g->list[g->count++] = (guess){.kinks = kinks,
                                      .d = along,
                                      .c = g->sign * c,
                                      .model = FLAT,
                                      .x = x,
                                      .solid = g->s,
                                      .sign = g->sign};
    }
}

// The edge of a round base: h(n) = centre.n + r |n across the axis|.
static void add_rim(guesses *g, perp_vec3 centre, perp_vec3 axis)
{
    const perp_vec3 none = {0.0, 0.0, 0.0};
    add_guess(g, 0, none, 0.0, centre);
    guess *last = &g->list[g->count - 1];
    last->model = RIM;
    last->axis = axis;
    last->radius = g->s->solid->radius;
}

// ── Features of each kind ────────────────────────────────────────────────────────────────────────

// Of edges and faces that the given normal may be on the wrong side of, both sides.
static void guess_box(guesses *g)
{
    const perp_vec3 none = {0.0, 0.0, 0.0}, h = g->s->solid->half;
    const perp_vec3 local = pp_mul_t(&g->s->R, g->out);
    const double side[3] = {local.x, local.y, local.z};
    for (int k = 0; k < 8; k++) {
        const double out[3] = {k & 1 ? -1.0 : 1.0, k & 2 ? -1.0 : 1.0, k & 4 ? -1.0 : 1.0};
        // a vertex may be the support point where d is in its octant, or within the turn of it
        bool near = true;
        for (int i = 0; i < 3; i++) {
            near = near && (out[i] * side[i] > 0.0 || fabs(side[i]) < g->turn);
        }
        if (!near) {
            continue;
        }
        perp_vec3 x = pp_vec(out[0] * h.x, out[1] * h.y, out[2] * h.z);
        x = pp_add(g->s->p, pp_mul(&g->s->R, x));
        for (int i = 0; i < 3; i++) {
            // the edge along axis i (once, from the vertex at +half), or the face of normal axis i
            perp_vec3 axis = pp_mat3_column(&g->s->R, i);
            if (fabs(side[i]) < g->turn && out[i] > 0.0) {
                add_guess(g, 1, axis, 0.0, x);
            } else if (out[i] * side[i] > 1.0 - g->turn * g->turn) {
                add_guess(g, 2, pp_scale(out[i], axis), 0.0, x);
            }
        }
        add_guess(g, 0, none, 0.0, x);
    }
}

// The segment as an edge where it is across, with both of its ends; else the end that looks along d.
static void guess_segment(guesses *g)
{
    const perp_vec3 none = {0.0, 0.0, 0.0}, axis = pp_mat3_column(&g->s->R, 2);
    double up = pp_dot3(axis, g->out), half = g->s->solid->half.z;
    if (fabs(up) < g->turn) {
        add_guess(g, 1, axis, 0.0, g->s->p);
        add_guess(g, 0, none, 0.0, pp_along(g->s->p, -copysign(half, up), axis));
    }
    add_guess(g, 0, none, 0.0, pp_along(g->s->p, copysign(half, up), axis));
}

enum { NEAR_FACES = 3, NEAR_EDGES = GUESS_MAX - 5, NEAR_VERTICES = GUESS_MAX - 1 };

// The first features of a hull, by their numbers, that are near its support plane.
typedef struct hull_near {
    const pp_hull *hull;
    perp_vec3 local, vertex;  // outward direction and support vertex, in its frame
    double turn, low;         // [rad]; vertices from here on along it are near [m]
    int faces, edges, vertices;
    int face[NEAR_FACES], edge[NEAR_EDGES], near[NEAR_VERTICES];
} hull_near;

// Adds a number to the `most` smallest, in order, each once.
static void keep_number(int *list, int *count, int most, int number)
{
    int at = *count;
    while (at > 0 && list[at - 1] > number) {
        at--;
    }
    if (at == most || (at > 0 && list[at - 1] == number)) {
        return;
    }
    for (int k = *count < most ? (*count)++ : most - 1; k > at; k--) {
        list[k] = list[k - 1];
    }
    list[at] = number;
}

// A cosine above 1 - turn^2 is an angle below about 1.4 turn.
static void keep_near_face(hull_near *w, int face)
{
    if (pp_dot3(w->hull->face_normal[face], w->local) > 1.0 - w->turn * w->turn) {
        keep_number(w->face, &w->faces, NEAR_FACES, face);
    }
}

static perp_vec3 edge_way(const pp_hull *hull, int edge, perp_vec3 local)
{
    const int *of = hull->edge[edge];
    return pp_unit(pp_sub(hull->vertex[of[1]], hull->vertex[of[0]]), local);
}

static void keep_near_edge(hull_near *w, int edge)
{
    if (pp_dot3(w->hull->vertex[w->hull->edge[edge][0]], w->local) >= w->low &&
        fabs(pp_dot3(edge_way(w->hull, edge, w->local), w->local)) < w->turn) {
        keep_number(w->edge, &w->edges, NEAR_EDGES, edge);
    }
}

// Other than the support vertex.
static void keep_near_vertex(hull_near *w, int k)
{
    perp_vec3 x = w->hull->vertex[k];
    if (pp_dot3(w->local, x) >= w->low && pp_length(pp_sub(x, w->vertex)) > 0.0) {
        keep_number(w->near, &w->vertices, NEAR_VERTICES, k);
    }
}

// In the order of their numbers: once enough are found, nothing more is looked at.
static void near_of_all(hull_near *w)
{
    for (int k = 0; k < w->hull->faces && w->faces < NEAR_FACES; k++) {
        keep_near_face(w, k);
    }
    for (int k = 0; k < w->hull->edges && w->edges < NEAR_EDGES; k++) {
        keep_near_edge(w, k);
    }
    for (int k = 0; k < w->hull->vertices && w->vertices < NEAR_VERTICES; k++) {
        keep_near_vertex(w, k);
    }
}

// Up to 3 faces, then edges, then vertices, those near the support plane: room is kept for the vertices, of which the
// support vertex comes first.
static void guess_hull(guesses *g)
{
    const perp_vec3 none = {0.0, 0.0, 0.0}, local = pp_mul_t(&g->s->R, g->out);
    const pp_hull *hull = g->s->solid->hull;
    int cap[PP_CAP_MOST], count = -1;
    hull_near w = {.hull = hull, .local = local, .turn = g->turn};
    w.vertex = hull->vertex[pp_hull_support(hull, local)];
    w.low = pp_dot3(local, w.vertex) - g->turn * g->s->size;
    // A face whose normal is turned from d by t has its corners at most 2 size sin t below the support plane: those that
    // count have t < 1.5 turn.
    if (hull->ring) {
        count = pp_hull_cap(hull, local, 3.0 * g->turn * g->s->size, cap);
    }
    for (int i = 0; i < count; i++) {
        keep_near_vertex(&w, cap[i]);
        for (int k = hull->ring_first[cap[i]]; k < hull->ring_first[cap[i] + 1]; k++) {
            const int *edge = hull->edge[hull->ring_edge[k]];
            keep_near_edge(&w, hull->ring_edge[k]);
            keep_near_face(&w, edge[2]);
            keep_near_face(&w, edge[3]);
        }
    }
    if (count < 0) {
        near_of_all(&w);
    }
    for (int k = 0; k < w.faces; k++) {
        add_guess(g, 2, pp_mul(&g->s->R, hull->face_normal[w.face[k]]), 0.0, w.vertex);
    }
    for (int k = 0; k < w.edges && g->count < GUESS_MAX - 5; k++) {
        perp_vec3 x = hull->vertex[hull->edge[w.edge[k]][0]], d = edge_way(hull, w.edge[k], local);
        add_guess(g, 1, pp_mul(&g->s->R, d), 0.0, pp_add(g->s->p, pp_mul(&g->s->R, x)));
    }
    add_guess(g, 0, none, 0.0, pp_add(g->s->p, pp_mul(&g->s->R, w.vertex)));
    for (int k = 0; k < w.vertices && g->count < GUESS_MAX; k++) {
        perp_vec3 x = hull->vertex[w.near[k]];
        add_guess(g, 0, none, 0.0, pp_add(g->s->p, pp_mul(&g->s->R, x)));
    }
}

// A base, the side (n across the axis), and the rims at its ends.
static void guess_cylinder(guesses *g)
{
    perp_vec3 axis = pp_mat3_column(&g->s->R, 2);
    double up = pp_dot3(axis, g->out), half = g->s->solid->half.z;
    if (fabs(up) > 1.0 - g->turn * g->turn) {
        add_guess(g, 2, pp_scale(copysign(1.0, up), axis), 0.0, g->s->p);
    }
    if (fabs(up) < g->turn) {
        add_guess(g, 1, axis, 0.0, g->s->p);
        add_rim(g, pp_along(g->s->p, -copysign(half, up), axis), axis);
    }
    add_rim(g, pp_along(g->s->p, copysign(half, up), axis), axis);
}

// The base, the slanted side (n.axis = r / slant), the apex and the rim of the base.
static void guess_cone(guesses *g)
{
    const perp_vec3 none = {0.0, 0.0, 0.0}, axis = pp_mat3_column(&g->s->R, 2);
    const pp_solid *solid = g->s->solid;
    double up = pp_dot3(axis, g->out),
           side = solid->radius / pp_hypot(2.0 * solid->half.z, solid->radius);
    perp_vec3 apex = pp_along(g->s->p, solid->half.z, axis);
    if (up < -1.0 + g->turn * g->turn) {
        add_guess(g, 2, pp_scale(-1.0, axis), 0.0, g->s->p);
    }
    if (fabs(up - side) < g->turn) {
        add_guess(g, 1, axis, side, apex);
    }
    add_guess(g, 0, none, 0.0, apex);
    add_rim(g, pp_along(g->s->p, -solid->half.z, axis), axis);
}

// The features of s near its outward direction sign n, by the kind of solid.
static void guess_features(guesses *g, const pp_placed_solid *s, perp_vec3 n, double sign,
                           double turn)
{
    const perp_vec3 none = {0.0, 0.0, 0.0};
    g->s = s;
    g->out = pp_scale(sign, n);
    g->sign = sign;
    g->turn = turn;
    g->count = 0;
    // an ellipsoid is one smooth feature; the core of a sphere is a point
    switch (s->solid->kind) {
    case PP_SOLID_BOX:
        guess_box(g);
        break;
    case PP_SOLID_CAPSULE:
        guess_segment(g);
        break;
    case PP_SOLID_HULL:
        guess_hull(g);
        break;
    case PP_SOLID_CYLINDER:
        guess_cylinder(g);
        break;
    case PP_SOLID_CONE:
        guess_cone(g);
        break;
    case PP_SOLID_ELLIPSOID:
        add_guess(g, 0, none, 0.0, s->p);
        g->list[0].model = ELLIPSOID;
        break;
    default:
        add_guess(g, 0, none, 0.0, s->p);
        break;
    }
}

// ── Newton ───────────────────────────────────────────────────────────────────────────────────────

// Gradient of the support function of the outward direction: the point.
static perp_vec3 guess_point(const guess *g, perp_vec3 n)
{
    perp_vec3 out = pp_scale(g->sign, n);
    if (g->model == ELLIPSOID) {
        return pp_core_support(g->solid, out);
    }
    if (g->model == RIM) {
        return pp_along(g->x, g->radius, pp_radial(out, g->axis));
    }
    return g->x;
}

// The Hessian of the support function times v: even in the direction, so the sign does not matter.
static perp_vec3 guess_curve(const guess *g, perp_vec3 n, perp_vec3 v)
{
    if (g->model == ELLIPSOID) {  // (S^2 - x x^T) / h
        const pp_mat3 *R = &g->solid->R;
        perp_vec3 s = g->solid->solid->half, d = pp_mul_t(R, n), w = pp_mul_t(R, v);
        perp_vec3 sd = pp_vec(s.x * d.x, s.y * d.y, s.z * d.z);
        double h = sqrt(pp_dot3(sd, sd));
        perp_vec3 x = pp_vec(s.x * sd.x / h, s.y * sd.y / h, s.z * sd.z / h);
        double xw = pp_dot3(x, w);
        perp_vec3 y = pp_vec(s.x * s.x * w.x - xw * x.x, s.y * s.y * w.y - xw * x.y,
                             s.z * s.z * w.z - xw * x.z);
        return pp_mul(R, pp_scale(1.0 / h, y));
    }
    if (g->model == RIM) {  // r / |n across| t t^T, t along the rim
        perp_vec3 t = pp_cross(g->axis, n);
        double length2 = pp_dot3(t, t);
        double s = length2 > 0.0 ? pp_dot3(t, v) * g->radius / (length2 * sqrt(length2)) : 0.0;
        return pp_scale(s, t);
    }
    return pp_vec(0.0, 0.0, 0.0);
}

// H v with H = H_a + H_b.
static perp_vec3 pair_curve(const guess *a, const guess *b, perp_vec3 n, perp_vec3 v)
{
    return pp_add(guess_curve(a, n, v), guess_curve(b, n, v));
}

static const double NEWTON_STEP_MAX = 0.3;  // turn of one Newton step

// How far to look for a normal: given up once n.G is sure not to get below `most`, or further from the start
// than that cosine.
typedef struct normal_search {
    double most, cosine;
    int rounds;
    bool smooth;  // given up at kinks
} normal_search;

// Steps that no longer get shorter are roundoff.
static bool newton_has_converged(double length, double last)
{
    return length < 1e-15 || (length < 1e-12 && length > 0.5 * last);
}

// G = x_a - x_b, the gradient of h_a(n) + h_b(-n).
static perp_vec3 pair_gradient(const guess *a, const guess *b, perp_vec3 n)
{
    return pp_sub(guess_point(a, n), guess_point(b, n));
}

// A line search: a step in the tangent plane, shortened until it does not raise n.G. Short ones are near the end, where n.G
// is flat to roundoff and Newton's step is good. descends: false where a longer step had to be cut down to a short one.
static perp_vec3 newton_step_on_sphere(const guess *a, const guess *b, perp_vec3 n, perp_vec3 way,
                                       bool *descends)
{
    double before = pp_dot3(n, pair_gradient(a, b, n));
    perp_vec3 next = pp_unit(pp_add(n, way), n);
    *descends = true;
    for (int k = 0; k < 16; k++) {
        if (!(pp_dot3(way, way) > 1e-9)) {
            *descends = k == 0;
            break;
        }
        if (pp_dot3(next, pair_gradient(a, b, next)) <= before) {
            break;
        }
        way = pp_scale(0.3, way);
        next = pp_unit(pp_add(n, way), n);
    }
    return next;
}

// Minimises n.G(n) = h_a(n) + h_b(-n) = -s(n) over the unit sphere by Newton's method. In the tangent basis (e, f) the
// pair_gradient is (G.e, G.f) and the Hessian that of the support functions less (n.G) I, which is the curvature of the
// sphere. The Hessian is shifted where it is not positive: a rim seen along its axis is a cone's tip.
static perp_vec3 newton_sphere(const guess *a, const guess *b, perp_vec3 n, normal_search to)
{
    double last = PP_INF;
    perp_vec3 from = n;
    for (int round = 0; round < to.rounds; round++) {
        if (!(pp_dot3(n, from) >= to.cosine)) {
            break;  // has wandered off
        }
        perp_vec3 e = pp_across(n), f = pp_cross(n, e), G = pair_gradient(a, b, n);
        perp_vec3 He = pair_curve(a, b, n, e), Hf = pair_curve(a, b, n, f);
        double inner = pp_dot3(G, n), ee = pp_dot3(e, He) - inner, ff = pp_dot3(f, Hf) - inner;
        double ef = pp_dot3(e, Hf), ge = pp_dot3(G, e), gf = pp_dot3(G, f);
        // low: the smaller eigenvalue of the 2 x 2 Hessian
        double middle = 0.5 * (ee + ff), low = middle - pp_hypot(0.5 * (ee - ff), ef);
        double least = 0.05 * (fabs(middle) + fabs(inner)), shift = low < 0.0 ? least - low : 0.0;
        ee += shift;
        ff += shift;
        double det = ee * ff - ef * ef;
        if (!(det > 0.0)) {
            return n;
        }
        double p = (ef * gf - ff * ge) / det, q = (ef * ge - ee * gf) / det;
        double length = sqrt(p * p + q * q),
               cut = length > NEWTON_STEP_MAX ? NEWTON_STEP_MAX / length : 1.0;
        // near the end: four times the decrease that the quadratic model predicts would not beat the best so far
        if (length < 0.1 && inner - 2.0 * fabs(p * ge + q * gf) > to.most) {
            return n;
        }
        bool descends;
        n = newton_step_on_sphere(a, b, n, pp_along(pp_scale(cut * p, e), cut * q, f), &descends);
        // no descent along Newton's direction: the minimum is at a kink, which is a guess of its own
        if (to.smooth && !descends) {
            return n;
        }
        if (newton_has_converged(length, last)) {
            break;
        }
        last = length;
    }
    return n;
}

// On the circle n.d = c, exactly.
static perp_vec3 on_circle(perp_vec3 n, perp_vec3 d, double c)
{
    n = pp_radial(n, d);
    return c == 0.0 ? n : pp_along(pp_scale(c, d), sqrt(fmax(0.0, 1.0 - c * c)), n);
}

// The same on the circle n.d = c that one kink leaves: n turns about d by an angle, dn = angle (d x n).
static perp_vec3 newton_circle(const guess *a, const guess *b, const guess *kink, perp_vec3 n,
                               normal_search to)
{
    const perp_vec3 d = kink->d, from = n;
    const double c = kink->c;
    double last = PP_INF;
    n = on_circle(n, d, c);
    for (int round = 0; round < 12 && pp_dot3(n, from) >= to.cosine; round++) {
        perp_vec3 turn = pp_cross(d, n), radial = pp_along(n, -c, d), G = pair_gradient(a, b, n);
        double first = pp_dot3(G, turn);
        double second = pp_dot3(turn, pair_curve(a, b, n, turn)) - pp_dot3(G, radial);
        if (!(second > 0.0)) {
            return n;
        }
        double angle = fmin(fmax(-first / second, -NEWTON_STEP_MAX), NEWTON_STEP_MAX);
        n = on_circle(pp_along(n, angle, turn), d, c);
        if (newton_has_converged(fabs(angle), last)) {
            break;
        }
        last = fabs(angle);
    }
    return n;
}

// Near the axis of a rim Newton's model is good on the right side only: start there, where the other is.
static bool rim_start(const guess *rim, const guess *other, double turn, perp_vec3 *n)
{
    double up = pp_dot3(*n, rim->axis);
    if (rim->model != RIM || 1.0 - up * up > turn * turn) {
        return false;
    }
    perp_vec3 along = pp_scale(copysign(1.0, up), rim->axis);
    perp_vec3 to = pp_scale(rim->sign, pp_sub(guess_point(other, along), rim->x));
    *n = pp_unit(pp_along(along, 1e-3, pp_radial(to, rim->axis)), along);
    return true;
}

// ── Pairs of guesses ─────────────────────────────────────────────────────────────────────────────

// n.d = c for both; the one of two solutions that is nearer to n. False: all but parallel.
static bool meet_both_kinks(const guess *a, const guess *b, perp_vec3 *n)
{
    perp_vec3 across = pp_cross(a->d, b->d);
    double cos = pp_dot3(a->d, b->d), sin2 = pp_dot3(across, across);
    if (sin2 < 1e-14) {
        return false;
    }
    double at_a = (a->c - cos * b->c) / sin2, at_b = (b->c - cos * a->c) / sin2;
    perp_vec3 flat = pp_along(pp_scale(at_a, a->d), at_b, b->d);
    double left = (1.0 - pp_dot3(flat, flat)) / sin2;
    if (left < 0.0) {
        return false;
    }
    double up = copysign(sqrt(left), pp_dot3(across, *n));
    *n = pp_unit(pp_along(flat, up, across), *n);
    return true;
}

// The stationary n of one pair of features, near n. One kink of each fixes it; flat features need no iteration.
static perp_vec3 solve_pair(const guess *a, const guess *b, perp_vec3 n, normal_search to)
{
    const guess *kink = a->kinks ? a : b;
    if (a->kinks && b->kinks && meet_both_kinks(a, b, &n)) {
        return n;
    }
    bool flat = a->model == FLAT && b->model == FLAT;
    perp_vec3 between = flat ? pp_sub(b->x, a->x) : n;
    if (kink->kinks) {
        return flat ? on_circle(between, kink->d, kink->c) : newton_circle(a, b, kink, n, to);
    }
    return flat ? pp_unit(between, n) : newton_sphere(a, b, n, to);
}

enum { CUT_MAX = 12 };

// The best normal so far, and how far searches go.
typedef struct best_normal {
    const pp_placed_solid *a, *b;
    bool overlap;
    double most;    // upper bound of s(n) [m]
    double s, tie;  // largest true s(n) so far; one has to beat it by more than tie [m]
    perp_vec3 n;
    double cosine;  // of the turn beyond which a search is given up
    int rounds;
    bool
        smooth;  // searches end at kinks: the normal is nearly right, and if not, a wider search follows
    // Differences y - x of points of b and a that ended normals before: no n separates by more than n.(y - x). Those that
    // fail mostly fail by the same points, so that few need support points of their own.
    int cuts;
    perp_vec3 cut[CUT_MAX];
} best_normal;

// A start that cannot beat the best s(n) so far is not followed to its end.
static normal_search search_limits(const best_normal *w)
{
    return (normal_search){-w->s, w->cosine, w->rounds, w->smooth};
}

// Whether no other normal can beat the best one so far.
static bool is_best(const best_normal *w)
{
    return w->s >= w->most - w->tie;
}

// Whether points met before show that n does not beat the best so far. Half of the tie covers rounding. The points that
// did come to the front.
static bool is_cut(best_normal *w, perp_vec3 n)
{
    for (int k = 0; k < w->cuts; k++) {
        if (pp_dot3(n, w->cut[k]) <= w->s + 0.5 * w->tie) {
            perp_vec3 found = w->cut[k];
            w->cut[k] = w->cut[k / 2];
            w->cut[k / 2] = found;
            return true;
        }
    }
    return false;
}

// Beyond CUT_MAX the one that was of least use gives way.
static void add_cut(best_normal *w, perp_vec3 between)
{
    w->cut[w->cuts < CUT_MAX ? w->cuts++ : CUT_MAX - 1] = between;
}

// Evaluates the true s(n), of the whole solids and not of the guessed features, and keeps the best.
static void offer_normal(best_normal *w, perp_vec3 n)
{
    n = pp_unit(n, w->n);
    if (is_cut(w, n)) {
        return;
    }
    perp_vec3 x = pp_core_support(w->a, n), y = pp_core_support(w->b, pp_scale(-1.0, n));
    perp_vec3 between = pp_sub(y, x);
    double s = pp_dot3(n, between);
    add_cut(w, between);
    if (s > w->s + w->tie) {
        w->s = s;
        w->n = n;
    }
}

// The same for the normal that a pair of features asks for. Their points x and y are points of a and b, so that n.(y - x)
// is at least s(n): one that does not beat the best so far needs no support points. Half of the tie covers rounding.
static void offer_normal_of(best_normal *w, const guess *a, const guess *b, perp_vec3 n)
{
    n = pp_unit(n, w->n);
    bool flat = a->model == FLAT && b->model == FLAT;
    if (flat && pp_dot3(n, pp_sub(b->x, a->x)) <= w->s + 0.5 * w->tie) {
        return;
    }
    offer_normal(w, n);
}

// Where the surface of a feature that n supports comes nearest to a point: itself, or on the line that a kink leaves.
static perp_vec3 point_facing(const guess *g, perp_vec3 n, perp_vec3 to)
{
    if (!g->kinks) {
        return guess_point(g, n);
    }
    perp_vec3 x = pp_core_support(g->solid, pp_scale(g->sign, n));
    perp_vec3 way = pp_radial(g->d, n);
    return pp_along(x, pp_dot3(way, pp_sub(to, x)), way);
}

// No normal separates by more than two points of the solids are apart: once the points that face each other along the
// best normal are as near as that, it is the best of all, and no other pair of features has to be solved. Points on the
// line of an edge or a side may be beyond its ends; then they prove nothing.
static void bound_by_points(best_normal *w, const guess *a, const guess *b)
{
    if (w->overlap || !(w->s > 0.0) || (a->kinks && b->kinks)) {
        return;
    }
    perp_vec3 n = w->n, x, y;
    double outside = 0.0;
    if (a->kinks) {
        y = point_facing(b, n, n);
        x = point_facing(a, n, y);
        outside = pp_outside_core(w->a, x);
    } else {
        x = point_facing(a, n, n);
        y = point_facing(b, n, x);
        outside = b->kinks ? pp_outside_core(w->b, y) : 0.0;
    }
    if (outside <= w->tie) {
        w->most = fmin(w->most, pp_length(pp_sub(y, x)));
    }
}

// All of a narrow circle is near, as around a flat cone: starts on its other sides.
static void offer_narrow_circle(best_normal *w, const guess *a, const guess *b, perp_vec3 n,
                                double turn)
{
    const guess *kink = a->kinks ? a : b;
    if (kink->kinks != 1 || 1.0 - kink->c * kink->c > turn * turn) {
        return;
    }
    perp_vec3 way = pp_radial(n, kink->d);
    for (int k = 0; k < 3; k++) {
        way = pp_cross(kink->d, way);
        perp_vec3 start = pp_along(pp_scale(kink->c, kink->d), turn, way);
        offer_normal_of(w, a, b, solve_pair(a, b, start, search_limits(w)));
    }
}

// All starts for one pair of features: n itself, round a narrow circle, and beside the axis of a rim of either.
static void offer_pair(best_normal *w, const guess *a, const guess *b, perp_vec3 n, double turn)
{
    perp_vec3 from = n;
    // Overlapping, a vertex is not parted soonest by a vertex or a rim: turning n helps.
    bool open = !a->kinks && !b->kinks && a->model != ELLIPSOID && b->model != ELLIPSOID;
    if (w->overlap && open && (a->model == FLAT || b->model == FLAT)) {
        return;
    }
    const double before = w->s;
    offer_normal_of(w, a, b, solve_pair(a, b, n, search_limits(w)));
    if (w->s > before) {
        bound_by_points(w, a, b);
    }
    offer_narrow_circle(w, a, b, n, turn);
    if (rim_start(a, b, turn, &from)) {
        offer_normal_of(w, a, b, solve_pair(a, b, from, search_limits(w)));
    }
    from = n;
    if (rim_start(b, a, turn, &from)) {
        offer_normal_of(w, a, b, solve_pair(a, b, from, search_limits(w)));
    }
}

// All pairs of features near n.
static void refine_within(best_normal *w, perp_vec3 n, double turn)
{
    guesses ga, gb;
    guess_features(&ga, w->a, n, 1.0, turn);
    guess_features(&gb, w->b, n, -1.0, turn);
    for (int side = 0; side < 2; side++) {
        const guesses *g = side ? &gb : &ga;
        for (int k = 0; k < g->count; k++) {
            if (g->list[k].kinks == 2) {  // a face: its normal, whatever the other has
                offer_normal(w, g->list[k].d);
            }
        }
    }
    // where n is as good as any can be, as that of GJK mostly is, no pair of features has to be solved
    if (isfinite(w->most)) {
        offer_normal(w, n);
    }
    for (int kinks = 2; kinks >= 0; kinks--) {  // the most kinks first: it is what wins a tie
        for (int i = 0; i < ga.count; i++) {
            for (int j = 0; j < gb.count; j++) {
                if (is_best(w)) {
                    return;
                }
                const guess *a = &ga.list[i], *b = &gb.list[j];
                if (a->kinks < 2 && b->kinks < 2 && a->kinks + b->kinks == kinks) {
                    offer_pair(w, a, b, n, turn);
                }
            }
        }
    }
}

// Repeats from the best normal with half the turn while that gains: its features may not be those of the start, unless it
// is so near the start that all of them were seen from there.
static double refine_repeatedly(best_normal *w, double turn, perp_vec3 *n)
{
    perp_vec3 start = *n;
    w->s = -PP_INF;
    w->tie = 1e-15 * (w->a->size + w->b->size);
    w->n = start;
    for (int round = 0; round < 4; round++) {
        double before = w->s;
        if (round == 0) {
            refine_within(w, start, turn);
        } else {
            refine_within(w, w->n, 0.5 * turn);
        }
        bool seen = pp_length(pp_sub(w->n, start)) <= 0.5 * turn;
        if (w->s <= before + w->tie || is_best(w) || seen) {
            break;
        }
    }
    offer_normal(w, start);
    *n = w->n;
    return w->s;
}

double pp_refine_axis(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap, double most,
                      double turn, perp_vec3 *n)
{
    best_normal w = {
        .a = a, .b = b, .overlap = overlap, .most = most, .cosine = -2.0, .rounds = 40};
    return refine_repeatedly(&w, turn, n);
}

double pp_refine_axis_near(const pp_placed_solid *a, const pp_placed_solid *b, double turn,
                           perp_vec3 *n)
{
    best_normal w = {
        .a = a, .b = b, .most = PP_INF, .cosine = 1.0 - 1e-3, .rounds = 12, .smooth = true};
    return refine_repeatedly(&w, turn, n);
}

// ── A normal whose witness points are beside their solids ────────────────────────────────────────
//
// With D = b - a, the normal n of the gap is right where the origin's nearest point of the boundary of D is s n: in words,
// once b is moved along n until the two are apart by some lift, n is also the normal of their distance. So
//
//     n <- normal of the distance of a and b + (lift - s(n)) n                                        (T2)
//
// has the right normals as its fixed points. Each round solves a pair that is apart, which is convex and has one
// answer. It does not lower s(n): with m the new normal and the distance delta >= lift, s(m) = delta - (lift - s(n)) m.n,
// which is s(n) at least. Where D is flat or has kinks one round is enough; where it is curved with a
// radius R, errors shrink by (lift - s) / (lift + R) a round, until the features are known and Newton's method ends it.

// |v|, the distance that GJK found to 1e-6, is an upper bound of s(n). A refined normal that falls short of it
// has missed a feature: look within a wider turn, then search by EPA.
double pp_curved_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 v,
                            perp_vec3 *n)
{
    double length = pp_length(v), slack = 1e-5 * length + 1e-11 * (a->size + b->size);
    *n = pp_unit(v, *n);
    double s = pp_refine_axis(a, b, false, length, 0.03, n);
    if (s < length - slack) {
        s = pp_refine_axis(a, b, false, length, 0.2, n);
    }
    if (s < length - slack) {
        s = pp_epa(a, b, false, true, n);
    }
    return s;
}

// The best of what features within several angles allow: of those within a wide one there may be too many to look at.
static perp_vec3 refine_at_turns(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap,
                                 double bound, perp_vec3 n)
{
    static const double TURN[4] = {1e-6, 1e-4, 3e-3, 0.1};  // [rad]
    perp_vec3 best = n;
    double most = -PP_INF;
    for (int k = 0; k < 4; k++) {
        perp_vec3 try = n;
        double s = pp_refine_axis(a, b, overlap, bound, TURN[k], &try);
        if (s > most + 1e-15 * (a->size + b->size)) {
            most = s;
            best = try;
        }
        if (most >= bound) {
            break;
        }
    }
    return best;
}

// One round of (T2). False: they are not apart even so.
static bool refine_lifted(const pp_placed_solid *a, const pp_placed_solid *b, double s,
                          perp_vec3 *n, pp_simplex *simplex)
{
    double small = fmin(a->size, b->size), size = a->size + b->size;
    double lift = fmax(s, fmax(1e-3 * small, 1e-5 * size));
    pp_placed_solid up = *b;
    up.p = pp_along(b->p, lift - s, *n);
    if (pp_gjk(simplex, a, &up, *n, PP_INF, 1e-13) != PP_GJK_APART) {
        return false;
    }
    // the simplex is of the lifted b: bring its points of b back to where b is
    perp_vec3 back = pp_scale(s - lift, *n);
    for (int k = 0; k < simplex->count; k++) {
        simplex->y[k] = pp_add(simplex->y[k], back);
    }
    *n = refine_at_turns(a, &up, false, pp_length(simplex->v), pp_unit(simplex->v, *n));
    if (s < 0.0) {
        *n = refine_at_turns(a, b, true, PP_INF, *n);
    }
    return true;
}

// Rounding of a unit vector.
static const double NORMAL_ROUNDING = 1e-15;

void pp_manifold3_refine_normal(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    const double size = a->size + b->size, tie = 1e-13 * size;
    pp_manifold3 now;
    perp_vec3 n = m->n;
    double s = m->s - m->round_a - m->round_b, off = pp_manifold3_stray(m, a, b);
    double most = m->margin + a->radius + b->radius;
    for (int round = 0; round < 24; round++) {
        if (!(s <= most && off > pp_manifold3_stray_tolerance(m))) {
            return;  // beyond the margin, or the witness points are on their solids
        }
        pp_simplex simplex;
        perp_vec3 before = n;
        if (!refine_lifted(a, b, s, &n, &simplex)) {
            return;
        }
        double now_s = pp_core_separation(a, b, n);
        pp_manifold3_build(&now, a, b, n, now_s, m->margin);
        pp_manifold3_add_closest(&now, a, b, &simplex);
        double now_off = pp_manifold3_stray(&now, a, b);
        // a better axis, or an equal one with better witness points
        if (now_s > s + tie || (now_s > s - tie && now_off < off)) {
            *m = now;
            off = now_off;
        }
        s = fmax(s, now_s);
        // a fixed point of (T2): more rounds would give the same normal again
        if (pp_length(pp_sub(n, before)) <= NORMAL_ROUNDING) {
            return;
        }
    }
}
