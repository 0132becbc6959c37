// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The separating axis test of two polyhedra: hulls, boxes, segments and points.
//
// As for boxes (touch_box.c), but with any faces and edges. A pair of edges matters only where the arcs
// between the normals of their faces cross on the sphere (Gauss map); as n.(y - x) of any points x of a and y of
// b is an upper bound of s(n), one that does not beat the best axis so far is not looked at further.
#include "gap/convex/narrow.h"

// A polyhedron in its own frame.
typedef struct facets {
    int faces, edges;
    const perp_vec3 *normal, *vertex;
    const int (*edge)[4];
    bool has_faces;
    perp_vec3 box_normal[6], box_vertex[8];
} facets;

// Vertex pair and face pair of each edge of a box; numbers as in patch.c.
static const int BOX_EDGE[12][4] = {{0, 1, 2, 4}, {2, 3, 3, 4}, {4, 5, 2, 5}, {6, 7, 3, 5},
                                    {0, 2, 0, 4}, {1, 3, 1, 4}, {4, 6, 0, 5}, {5, 7, 1, 5},
                                    {0, 4, 0, 2}, {1, 5, 1, 2}, {2, 6, 0, 3}, {3, 7, 1, 3}};
static const int SEGMENT_EDGE[1][4] = {{0, 1, 0, 0}};

// The hull's own arrays, or those of a box or segment made on the spot; a point has neither faces nor edges.
static void set_facets(facets *f, const pp_solid *s)
{
    perp_vec3 h = s->half;
    f->vertex = f->box_vertex;
    f->normal = f->box_normal;
    f->faces = f->edges = 0;
    f->has_faces = true;
    if (s->kind == PP_SOLID_HULL) {
        f->faces = s->hull->faces;
        f->edges = s->hull->edges;
        f->normal = s->hull->face_normal;
        f->vertex = s->hull->vertex;
        f->edge = s->hull->edge;
    } else if (s->kind == PP_SOLID_BOX) {
        f->faces = 6;
        f->edges = 12;
        f->edge = BOX_EDGE;
        for (int k = 0; k < 8; k++) {
            double x = k & 1 ? h.x : -h.x;
            double y = k & 2 ? h.y : -h.y;
            double z = k & 4 ? h.z : -h.z;
            f->box_vertex[k] = pp_vec(x, y, z);
        }
        // faces 2 i and 2 i + 1 look along -axis i and +axis i
        f->box_normal[0] = pp_vec(-1.0, 0.0, 0.0);
        f->box_normal[1] = pp_vec(1.0, 0.0, 0.0);
        f->box_normal[2] = pp_vec(0.0, -1.0, 0.0);
        f->box_normal[3] = pp_vec(0.0, 1.0, 0.0);
        f->box_normal[4] = pp_vec(0.0, 0.0, -1.0);
        f->box_normal[5] = pp_vec(0.0, 0.0, 1.0);
    } else if (s->kind == PP_SOLID_CAPSULE) {
        f->edges = 1;
        f->edge = SEGMENT_EDGE;
        f->has_faces = false;
        f->box_vertex[0] = pp_vec(0.0, 0.0, -h.z);
        f->box_vertex[1] = pp_vec(0.0, 0.0, h.z);
    }
}

typedef struct axis_search {
    const pp_placed_solid *a, *b;
    double s, tie;  // best separation so far; one has to beat it by more than tie [m]
    perp_vec3 n;    // its axis, unit, from a to b, world axes
} axis_search;

// Evaluates the true s(n) by support points.
static void offer_normal(axis_search *w, perp_vec3 n)
{
    double s = pp_core_separation(w->a, w->b, n);
    if (s > w->s + w->tie) {
        w->s = s;
        w->n = n;
    }
}

// sign: from the outward normal to n, +1 for a and -1 for b.
static void try_faces(axis_search *w, const facets *f, const pp_placed_solid *of, double sign)
{
    for (int k = 0; k < f->faces; k++) {
        offer_normal(w, pp_scale(sign, pp_mul(&of->R, f->normal[k])));
    }
}

// An edge in the frame of the other polyhedron: a point of it, its direction and the normals beside it,
// turned towards the other.
typedef struct facing_edge {
    perp_vec3 x, d, c, e;
    bool
        arc;  // c and e are not opposite, so that the arc between them is known; false for flat hulls
    bool turned;  // d runs against e x c
} facing_edge;

static facing_edge move_edge(const facets *f, int k, const pp_pose *X)
{
    const int *edge = f->edge[k];
    perp_vec3 x = pp_pose_point(X, f->vertex[edge[0]]), y = pp_pose_point(X, f->vertex[edge[1]]);
    facing_edge e = {x, pp_sub(y, x), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, false, false};
    if (f->has_faces) {
        e.c = pp_scale(-1.0, pp_mul(&X->R, f->normal[edge[2]]));
        e.e = pp_scale(-1.0, pp_mul(&X->R, f->normal[edge[3]]));
        e.arc = pp_dot3(e.c, e.e) > -0.999;
        e.turned = pp_dot3(e.d, pp_cross(e.e, e.c)) < 0.0;
    }
    return e;
}

// Whether the arcs from p to q (normals beside an edge along d) and from e->c to e->e cross: each has its ends on
// both sides of the other's plane, and they are not on opposite sides of the sphere.
static bool arcs_cross(perp_vec3 p, perp_vec3 q, perp_vec3 d, const facing_edge *e)
{
    double c = pp_dot3(e->c, d), f = pp_dot3(e->e, d), g = pp_dot3(p, e->d), h = pp_dot3(q, e->d);
    if (c * f > 0.0 || g * h > 0.0) {
        return false;
    }
    bool turned = (pp_dot3(d, pp_cross(q, p)) < 0.0) != e->turned;
    return turned ? c * h <= 0.0 && f * g <= 0.0 : c * h >= 0.0 && f * g >= 0.0;
}

// All pairs of edges, in the frame of a: edges of b are moved there once each. Most pairs fall to the test of the Gauss
// map, most of the rest to the bound by one point of each edge; few reach the support points in offer_normal().
static void try_edges(axis_search *w, const facets *fa, const facets *fb)
{
    pp_mat3 Rt = pp_transpose3(&w->a->R);
    pp_pose X_AB = {pp_pose_local(&(pp_pose){w->a->p, w->a->R}, w->b->p),
                    pp_mat_mul(&Rt, &w->b->R)};
    for (int j = 0; j < fb->edges; j++) {
        facing_edge e = move_edge(fb, j, &X_AB);
        for (int i = 0; i < fa->edges; i++) {
            const int *edge = fa->edge[i];
            perp_vec3 x = fa->vertex[edge[0]], d = pp_sub(fa->vertex[edge[1]], x);
            perp_vec3 p = fa->has_faces ? fa->normal[edge[2]] : d;
            perp_vec3 q = fa->has_faces ? fa->normal[edge[3]] : d;
            bool arc = fa->has_faces && e.arc && pp_dot3(p, q) > -0.999;
            if (arc && !arcs_cross(p, q, d, &e)) {
                continue;
            }
            perp_vec3 n = pp_cross(d, e.d);
            double length2 = pp_dot3(n, n), both = pp_dot3(d, d) * pp_dot3(e.d, e.d);
            if (!(length2 > 1e-16 * both)) {
                continue;  // parallel edges: a face normal is as good
            }
            n = pp_scale(1.0 / sqrt(length2), n);
            double along = pp_dot3(n, pp_sub(e.x, x));
            // With arcs the side of n is known: that of the faces of a. Without, both are tried.
            double side = arc ? copysign(1.0, pp_dot3(n, pp_add(p, q))) : copysign(1.0, along);
            if (side * along > w->s + w->tie) {
                offer_normal(w, pp_mul(&w->a->R, pp_scale(side, n)));
            }
            if (!arc && -side * along > w->s + w->tie) {
                offer_normal(w, pp_mul(&w->a->R, pp_scale(-side, n)));
            }
        }
    }
}

double pp_hull_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double best,
                               perp_vec3 *n)
{
    facets fa, fb;
    axis_search w = {a, b, best, 1e-15 * (a->size + b->size), *n};
    set_facets(&fa, a->solid);
    set_facets(&fb, b->solid);
    try_faces(&w, &fa, a, 1.0);
    try_faces(&w, &fb, b, -1.0);
    try_edges(&w, &fa, &fb);
    *n = w.n;
    return w.s;
}
