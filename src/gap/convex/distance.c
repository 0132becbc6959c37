// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Distance and penetration depth of two cores, on their Minkowski difference.
//
// D = b - a = {y - x : x in a, y in b} holds the origin exactly where the cores overlap. Where they do not, its point
// closest to the origin, v, is the shortest way from a to b: v / |v| is the contact normal, from a to b. GJK (Gilbert,
// Johnson and Keerthi 1988) finds v, with the closest point of a simplex by signed volumes (Montanari, Petrinic
// and Barbieri 2017). With w the support point of D towards the origin, v.w / |v| <= distance <= |v|.
//
// Overlapping cores part along n by s(n) = min {n.w : w in D}. EPA (van den Bergen 2001) grows a polytope inside
// D: its face nearest to the origin is a lower bound of the depth, any n an upper bound. So the normal of that
// face is refined from time to time (normal.c), and once the two bounds are close, the refined one, which is right
// to roundoff, is the answer.
#include "gap/convex/narrow.h"

// ── GJK ──────────────────────────────────────────────────────────────────────────────────────────

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

// A corner itself.
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

// The nearer of two, the first of equals: faces are tried in a fixed order, which keeps GJK deterministic.
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
        // o: the origin projected to the plane of the triangle; parts are barycentric coordinates of o, of sum 1 up to
        // rounding
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
// the whole: the origin is inside, and the solids overlap. Else the closest point is on a face that simplex_has the
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

// By the number of corners, at most four.
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
static bool simplex_has(const pp_simplex *s, perp_vec3 w)
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

// v = sum weight w = y - x, with x and y the same combinations of the support points of a and b.
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
    const double touching = 1e-12 * (a->size + b->size);  // v below this simplex_has no direction
    s->count = 0;
    add_support(s, a, b, start);
    s->weight[0] = 1.0;
    s->v = s->w[0];
    for (int round = 0; round < 100; round++) {
        double length = sqrt(pp_dot3(s->v, s->v));
        if (length <= touching) {
            return PP_GJK_OVERLAP;
        }
        // the simplex is replaced only once the new one is known to be closer
        pp_simplex more = *s;
        add_support(&more, a, b, pp_scale(1.0 / length, s->v));
        perp_vec3 w = more.w[s->count];
        double bound = pp_dot3(s->v, w) / length;
        if (bound > most) {
            return PP_GJK_FAR;  // the plane across v separates them by more than `most`
        }
        if (length - bound <= tolerance * length || simplex_has(s, w)) {
            break;
        }
        near_point p = near_simplex(&more);
        if (p.mask == 15u) {
            return PP_GJK_OVERLAP;
        }
        // |v| falls strictly in exact arithmetic; where it does not, roundoff simplex_has been reached
        if (!(pp_dot3(p.v, p.v) < length * length)) {
            break;
        }
        reduce_simplex(&more, p.mask, p.weight);
        more.v = p.v;
        *s = more;
    }
    return PP_GJK_APART;
}

// ── EPA ──────────────────────────────────────────────────────────────────────────────────────────

enum {
    VERTEX_MAX = 96,
    FACE_MAX = 4 * VERTEX_MAX,
    HORIZON_MAX = 96,
    TRY_MAX = 24,
    FACE_TRY_MAX = 32
};

// Bounds of the depth that are this close are taken to be of the same place. Relative to small depths: where a
// corner is deeper in the other than its faces, several ways out differ by as little. With 1e-4 of the depth a flat
// cylinder in a flat prism got the second best of two normals, one degree and 3e-5 of the depth apart.
static double depth_slack(double s, double size)
{
    return 1e-6 * fabs(s) + fmin(1e-6 * size, 1e-3 * fabs(s)) + 1e-13 * size;
}

// A triangle of the polytope. height: signed distance of its plane from the origin, a lower bound of the depth.
typedef struct face {
    int v[3];
    perp_vec3 out;  // unit
    double height;  // out.w on it
} face;

// Triangles around a convex polytope inside the Minkowski difference D; corners counter-clockwise from outside.
typedef struct polytope {
    const pp_placed_solid *a, *b;
    bool overlap;
    double size;
    int vertices, faces;
    perp_vec3 w[VERTEX_MAX];
    face face[FACE_MAX];
} polytope;

// The point of D = b - a furthest along d.
static perp_vec3 minkowski_support(const polytope *p, perp_vec3 d)
{
    return pp_sub(pp_core_support(p->b, d), pp_core_support(p->a, pp_scale(-1.0, d)));
}

// Faces without area are never the nearest, and never seen.
static void add_polytope_face(polytope *p, int i, int j, int k)
{
    if (p->faces == FACE_MAX) {
        return;
    }
    perp_vec3 e = pp_sub(p->w[j], p->w[i]), f = pp_sub(p->w[k], p->w[i]), n = pp_cross(e, f);
    double length = sqrt(pp_dot3(n, n));
    face *new = &p->face[p->faces++];
    *new = (face){{i, j, k}, {0.0, 0.0, 1.0}, PP_INF};
    if (length > 1e-14 * sqrt(pp_dot3(e, e) * pp_dot3(f, f)) && length > 0.0) {
        new->out = pp_scale(1.0 / length, n);
        new->height = pp_dot3(new->out, p->w[i]);
    }
}

// Of the support points along d and -d the one further_support from x, measured along d.
static perp_vec3 further_support(const polytope *p, perp_vec3 d, perp_vec3 x)
{
    perp_vec3 up = minkowski_support(p, d), down = minkowski_support(p, pp_scale(-1.0, d));
    return pp_dot3(d, pp_sub(up, x)) >= pp_dot3(d, pp_sub(x, down)) ? up : down;
}

// A tetrahedron of extreme points of D: a long edge, the point furthest from it, the point furthest from the plane of
// these. It need not hold the origin: growing towards the face nearest to the origin (least signed height) brings it
// in. False: D is all but flat.
static bool initial_tetrahedron(polytope *p)
{
    const pp_placed_solid *large = p->a->size >= p->b->size ? p->a : p->b;
    perp_vec3 *w = p->w, d = pp_mat3_column(&large->R, 0);
    double longest = -1.0;
    for (int k = 0; k < 3; k++) {
        perp_vec3 e = pp_mat3_column(&large->R, k);
        perp_vec3 up = minkowski_support(p, e), down = minkowski_support(p, pp_scale(-1.0, e)),
                  along = pp_sub(up, down);
        if (pp_dot3(along, along) > longest) {
            longest = pp_dot3(along, along);
            w[0] = down;
            w[1] = up;
        }
    }
    d = pp_unit(pp_sub(w[1], w[0]), d);
    perp_vec3 e = pp_across(d), f = pp_cross(d, e);
    double widest = -1.0;
    for (int k = 0; k < 4; k++) {
        // e, f, e + f, e - f: four directions across the edge, 45 degrees apart
        static const double ALONG_E[4] = {1.0, 0.0, 1.0, 1.0}, ALONG_F[4] = {0.0, 1.0, 1.0, -1.0};
        perp_vec3 way = pp_along(pp_scale(ALONG_E[k], e), ALONG_F[k], f);
        perp_vec3 x = further_support(p, way, w[0]), off = pp_sub(x, w[0]);
        off = pp_along(off, -pp_dot3(off, d), d);
        if (pp_dot3(off, off) > widest) {
            widest = pp_dot3(off, off);
            w[2] = x;
        }
    }
    perp_vec3 n = pp_unit(pp_cross(d, pp_sub(w[2], w[0])), e);
    w[3] = further_support(p, n, w[0]);
    p->vertices = 4;
    double up = pp_dot3(n, pp_sub(w[3], w[0]));
    int i = up > 0.0 ? 1 : 2, j = 3 - i;  // such that all four faces look outward
    add_polytope_face(p, 0, j, i);
    add_polytope_face(p, 0, i, 3);
    add_polytope_face(p, i, j, 3);
    add_polytope_face(p, j, 0, 3);
    return fabs(up) > 1e-14 * p->size && widest > 0.0;
}

// Takes the faces that w sees away and joins their boundary (the horizon) to w. False: no room left, or nothing seen; p is
// then of no further_support use to grow.
static bool expand_polytope(polytope *p, perp_vec3 w)
{
    int horizon[HORIZON_MAX][2], count = 0, kept = 0, new = p->vertices;
    if (p->vertices == VERTEX_MAX) {
        return false;
    }
    for (int k = 0; k < p->faces; k++) {
        face f = p->face[k];
        // faces that w is beyond are visible from it; the others stay
        if (!(pp_dot3(f.out, w) > f.height + 1e-15 * p->size)) {
            p->face[kept++] = f;
            continue;
        }
        for (int i = 0; i < 3; i++) {  // an edge that comes back the other way is inside
            int from = f.v[i], to = f.v[i == 2 ? 0 : i + 1], l = 0;
            while (l < count && !(horizon[l][0] == to && horizon[l][1] == from)) {
                l++;
            }
            if (l < count) {
                count--;
                horizon[l][0] = horizon[count][0];
                horizon[l][1] = horizon[count][1];
            } else if (count < HORIZON_MAX) {
                horizon[count][0] = from;
                horizon[count++][1] = to;
            }
        }
    }
    // HORIZON_MAX edges or more: some may have been dropped above, and the new faces would leave a hole
    bool room = kept + count <= FACE_MAX && count < HORIZON_MAX;
    if (kept == p->faces || !room) {
        return false;
    }
    p->w[p->vertices++] = w;
    p->faces = kept;
    for (int l = 0; l < count; l++) {
        add_polytope_face(p, horizon[l][0], horizon[l][1], new);
    }
    return true;
}

// The face of least signed height above the origin.
static int nearest_face(const polytope *p)
{
    int best = 0;
    for (int k = 1; k < p->faces; k++) {
        if (p->face[k].height < p->face[best].height) {
            best = k;
        }
    }
    return best;
}

// The best normal so far, and where Newton's method has started already: it need not start there again.
typedef struct epa_result {
    double s;
    perp_vec3 n;
    int tried;
    perp_vec3 from[TRY_MAX];  // directions that Newton's method has started from
} epa_result;

// Newton's method from the normal of a face of D: n points from a to b, against the outward direction of D.
static void refine_from(const polytope *p, epa_result *best, perp_vec3 out)
{
    perp_vec3 n = pp_scale(-1.0, out);
    double s = pp_refine_axis(p->a, p->b, p->overlap, PP_INF, 0.15, &n);
    if (best->tried < TRY_MAX) {
        best->from[best->tried++] = out;
    }
    if (s > best->s) {
        best->s = s;
        best->n = n;
    }
}

// Whether no normal within this cosine has been a start already.
static bool is_new_direction(const epa_result *best, perp_vec3 out, double cosine)
{
    for (int l = 0; l < best->tried; l++) {
        if (pp_dot3(out, best->from[l]) > cosine) {
            return false;
        }
    }
    return true;
}

// Other faces that might still hide a smaller depth, one of each direction.
static void refine_other_faces(const polytope *p, epa_result *best)
{
    for (int k = 0; k < p->faces; k++) {
        if (best->tried == TRY_MAX) {
            return;
        }
        if (p->face[k].height < -best->s - 1e-9 * p->size &&
            is_new_direction(best, p->face[k].out, 0.998)) {
            refine_from(p, best, p->face[k].out);
        }
    }
}

// Towards the base, the sides and, for a cone, the slanted sides.
static void refine_from_axes(const polytope *p, epa_result *best, const pp_placed_solid *s,
                             double sign)
{
    const pp_solid *solid = s->solid;
    double up = 0.0, across = 1.0;
    if (solid->kind == PP_SOLID_CONE) {
        up = solid->radius / pp_hypot(2.0 * solid->half.z, solid->radius);
        across = sqrt(1.0 - up * up);
    }
    for (int k = 0; k < 6; k++) {
        double side = k & 1 ? sign : -sign;
        perp_vec3 out = pp_scale(side, pp_mat3_column(&s->R, k / 2));
        if (k < 4) {
            out = pp_along(pp_scale(across, out), sign * up, pp_mat3_column(&s->R, 2));
        }
        refine_from(p, best, out);
    }
}

// A deep overlap has many ways out that are nearly alike: the axes and faces of the solids are good starts.
static void refine_from_solids(const polytope *p, epa_result *best)
{
    for (int side = 0; side < 2; side++) {
        const pp_placed_solid *s = side ? p->b : p->a;
        double sign = side ? 1.0 : -1.0;
        if (-best->s < 0.1 * fmin(p->a->size, p->b->size)) {
            return;
        }
        refine_from_axes(p, best, s, sign);
        int faces = s->solid->kind == PP_SOLID_HULL ? s->solid->hull->faces : 0;
        faces = faces < FACE_TRY_MAX ? faces : FACE_TRY_MAX;
        for (int f = 0; f < faces; f++) {
            refine_from(p, best, pp_scale(sign, pp_mul(&s->R, s->solid->hull->face_normal[f])));
        }
    }
}

double pp_epa(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap, bool known,
              perp_vec3 *n)
{
    polytope p;
    epa_result best = {.s = -PP_INF, .n = *n, .tried = 0};
    p.a = a;
    p.overlap = overlap;
    p.b = b;
    p.size = a->size + b->size;
    p.faces = 0;
    // growing: there is more of D beyond the polytope; open: the bounds of the depth have not met
    bool growing = initial_tetrahedron(&p), open = true;
    if (known) {
        refine_from(&p, &best, pp_scale(-1.0, *n));
    }
    for (int round = 0; round < VERTEX_MAX && growing; round++) {
        const face *f = &p.face[nearest_face(&p)];
        perp_vec3 out = f->out, w = minkowski_support(&p, out);
        // height is a lower bound of the depth, -best.s an upper one; short_of: how far D is beyond this face
        double height = f->height, short_of = pp_dot3(out, w) - height;
        growing = isfinite(height) && short_of > 1e-9 * p.size;
        if (!growing || (short_of < 3e-3 * p.size && is_new_direction(&best, out, 0.99))) {
            refine_from(&p, &best, out);
        }
        open = best.tried == 0 || -best.s - height > depth_slack(best.s, p.size);
        growing = growing && open && expand_polytope(&p, w);
    }
    // not closed (out of room, or flat): the best face there is, then starts all over the solids
    if (open) {
        refine_from(&p, &best, p.face[nearest_face(&p)].out);
    }
    refine_other_faces(&p, &best);
    if (open) {
        refine_from_solids(&p, &best);
    }
    if (best.tried == 0) {
        best.s = pp_refine_axis(a, b, overlap, PP_INF, 0.15, &best.n);
    }
    *n = best.n;
    return best.s;
}
