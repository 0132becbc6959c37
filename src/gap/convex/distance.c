// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The penetration depth of two overlapping cores, when one of them is curved, by the expanding polytope algorithm (EPA).
//
// The cores overlap where their difference D = b - a holds the origin, and part along n by s(n) = min {n.w : w in D}.
// A polytope inside D is grown (van den Bergen 2001): its face nearest to the origin is a lower bound of the
// depth, any n an upper bound. So the normal of that face is polished from time to time, and once the two
// bounds are close, the polished one, which is right to roundoff, is the answer.
#include "gap/convex/narrow.h"

enum { VERTEX_MAX = 96, FACE_MAX = 4 * VERTEX_MAX, RIM_MAX = 96, TRY_MAX = 24, FACE_TRY_MAX = 32 };

// Bounds of the depth that are this close are taken to be of the same place. Relative to small depths: where a
// corner is deeper in the other than its faces, several ways out differ by as little.
static double slack(double s, double size)
{
    return 1e-4 * fabs(s) + fmin(1e-6 * size, 1e-3 * fabs(s)) + 1e-13 * size;
}

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
static void add_face(polytope *p, int i, int j, int k)
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

// Of the support points along d and -d the one further from x, measured along d.
static perp_vec3 further(const polytope *p, perp_vec3 d, perp_vec3 x)
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
        perp_vec3 x = further(p, way, w[0]), off = pp_sub(x, w[0]);
        off = pp_along(off, -pp_dot3(off, d), d);
        if (pp_dot3(off, off) > widest) {
            widest = pp_dot3(off, off);
            w[2] = x;
        }
    }
    perp_vec3 n = pp_unit(pp_cross(d, pp_sub(w[2], w[0])), e);
    w[3] = further(p, n, w[0]);
    p->vertices = 4;
    double up = pp_dot3(n, pp_sub(w[3], w[0]));
    int i = up > 0.0 ? 1 : 2, j = 3 - i;  // such that all four faces look outward
    add_face(p, 0, j, i);
    add_face(p, 0, i, 3);
    add_face(p, i, j, 3);
    add_face(p, j, 0, 3);
    return fabs(up) > 1e-14 * p->size && widest > 0.0;
}

// Takes the faces that w sees away and joins their rim (the horizon) to w. False: no room left, or nothing seen; p is
// then of no further use to grow.
static bool expand_polytope(polytope *p, perp_vec3 w)
{
    int rim[RIM_MAX][2], count = 0, kept = 0, new = p->vertices;
    if (p->vertices == VERTEX_MAX) {
        return false;
    }
    for (int k = 0; k < p->faces; k++) {
        face f = p->face[k];
        if (!(pp_dot3(f.out, w) > f.height + 1e-15 * p->size)) {
            p->face[kept++] = f;
            continue;
        }
        for (int i = 0; i < 3; i++) {  // an edge that comes back the other way is inside
            int from = f.v[i], to = f.v[i == 2 ? 0 : i + 1], l = 0;
            while (l < count && !(rim[l][0] == to && rim[l][1] == from)) {
                l++;
            }
            if (l < count) {
                count--;
                rim[l][0] = rim[count][0];
                rim[l][1] = rim[count][1];
            } else if (count < RIM_MAX) {
                rim[count][0] = from;
                rim[count++][1] = to;
            }
        }
    }
    // RIM_MAX edges or more: some may have been dropped above, and the new faces would leave a hole
    bool room = kept + count <= FACE_MAX && count < RIM_MAX;
    if (kept == p->faces || !room) {
        return false;
    }
    p->w[p->vertices++] = w;
    p->faces = kept;
    for (int l = 0; l < count; l++) {
        add_face(p, rim[l][0], rim[l][1], new);
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

typedef struct epa_result {
    double s;
    perp_vec3 n;
    int tried;
    perp_vec3 from[TRY_MAX];  // normals that have been polished
} epa_result;

// Newton's method from the normal of a face of D: n points from a to b, against the outward direction of D.
static void refine_normal(const polytope *p, epa_result *best, perp_vec3 out)
{
    perp_vec3 n = pp_scale(-1.0, out);
    double s = pp_refine_axis(p->a, p->b, p->overlap, 0.15, &n);
    if (best->tried < TRY_MAX) {
        best->from[best->tried++] = out;
    }
    if (s > best->s) {
        best->s = s;
        best->n = n;
    }
}

// Whether no normal within this cosine has been polished already.
static bool is_new(const epa_result *best, perp_vec3 out, double cosine)
{
    for (int l = 0; l < best->tried; l++) {
        if (pp_dot3(out, best->from[l]) > cosine) {
            return false;
        }
    }
    return true;
}

// Other faces that might still hide a smaller depth, one of each direction.
static void polish_rest(const polytope *p, epa_result *best)
{
    for (int k = 0; k < p->faces; k++) {
        if (best->tried == TRY_MAX) {
            return;
        }
        if (p->face[k].height < -best->s - 1e-9 * p->size && is_new(best, p->face[k].out, 0.998)) {
            refine_normal(p, best, p->face[k].out);
        }
    }
}

// Towards the base, the sides and, for a cone, the slanted sides.
static void polish_axes(const polytope *p, epa_result *best, const pp_placed_solid *s, double sign)
{
    const pp_solid *solid = s->solid;
    double up = 0.0, across = 1.0;
    if (solid->kind == PP_SOLID_CONE) {
        up = solid->radius / hypot(2.0 * solid->half.z, solid->radius);
        across = sqrt(1.0 - up * up);
    }
    for (int k = 0; k < 6; k++) {
        double side = k & 1 ? sign : -sign;
        perp_vec3 out = pp_scale(side, pp_mat3_column(&s->R, k / 2));
        if (k < 4) {
            out = pp_along(pp_scale(across, out), sign * up, pp_mat3_column(&s->R, 2));
        }
        refine_normal(p, best, out);
    }
}

// A deep overlap has many ways out that are nearly alike: the axes and faces of the solids are good starts.
static void polish_deep(const polytope *p, epa_result *best)
{
    for (int side = 0; side < 2; side++) {
        const pp_placed_solid *s = side ? p->b : p->a;
        double sign = side ? 1.0 : -1.0;
        if (-best->s < 0.1 * fmin(p->a->size, p->b->size)) {
            return;
        }
        polish_axes(p, best, s, sign);
        int faces = s->solid->kind == PP_SOLID_HULL ? s->solid->hull->faces : 0;
        faces = faces < FACE_TRY_MAX ? faces : FACE_TRY_MAX;
        for (int f = 0; f < faces; f++) {
            refine_normal(p, best, pp_scale(sign, pp_mul(&s->R, s->solid->hull->face_normal[f])));
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
        refine_normal(&p, &best, pp_scale(-1.0, *n));
    }
    for (int round = 0; round < VERTEX_MAX && growing; round++) {
        const face *f = &p.face[nearest_face(&p)];
        perp_vec3 out = f->out, w = minkowski_support(&p, out);
        // height is a lower bound of the depth, -best.s an upper one; short_of: how far D is beyond this face
        double height = f->height, short_of = pp_dot3(out, w) - height;
        growing = isfinite(height) && short_of > 1e-9 * p.size;
        if (!growing || (short_of < 3e-3 * p.size && is_new(&best, out, 0.99))) {
            refine_normal(&p, &best, out);
        }
        open = best.tried == 0 || -best.s - height > slack(best.s, p.size);
        growing = growing && open && expand_polytope(&p, w);
    }
    // not closed (out of room, or flat): the best face there is, then starts all over the solids
    if (open) {
        refine_normal(&p, &best, p.face[nearest_face(&p)].out);
    }
    polish_rest(&p, &best);
    if (open) {
        polish_deep(&p, &best);
    }
    if (best.tried == 0) {
        best.s = pp_refine_axis(a, b, overlap, 0.15, &best.n);
    }
    *n = best.n;
    return best.s;
}
