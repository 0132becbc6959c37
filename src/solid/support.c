// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Support functions of convex solids: the point farthest along a direction d, in the solid's own
// frame. d need not have unit length.
#include "solid/hull.h"

#include <string.h>

int pp_hull_farthest(const pp_hull *hull, perp_vec3 d)
{
    int best = 0;
    double most = pp_dot3(hull->vertex[0], d);
    for (int k = 1; k < hull->vertices; k++) {
        double reach = pp_dot3(hull->vertex[k], d);
        if (reach > most) {
            most = reach;
            best = k;
        }
    }
    return best;
}

enum { PLATEAU_MOST = 12 };  // vertices; beyond, all of the hull are compared

// Vertices that a direction has met with nearly the same reach.
typedef struct plateau {
    int count;
    int vertex[PLATEAU_MOST];
} plateau;

static bool is_on_plateau(const plateau *p, int vertex)
{
    for (int k = 0; k < p->count; k++) {
        if (p->vertex[k] == vertex) {
            return true;
        }
    }
    return false;
}

// Uphill along edges to a vertex that is farther along d than all of its neighbours.
static int ascend(const pp_hull *hull, perp_vec3 d, double *most)
{
    int at = hull->start[pp_hull_start(d)], from;
    *most = pp_dot3(hull->vertex[at], d);
    do {
        from = at;
        for (int k = hull->ring_first[from]; k < hull->ring_first[from + 1]; k++) {
            double reach = pp_dot3(hull->vertex[hull->ring[k]], d);
            if (reach > *most) {
                *most = reach;
                at = hull->ring[k];
            }
        }
    } while (at != from);
    return at;
}

double pp_hull_reach(const pp_hull *hull, perp_vec3 d)
{
    double most;
    (void)ascend(hull, d, &most);
    return most + hull->slack;
}

// Hill climbing along edges: a vertex that is farther along d than all of its neighbours is the farthest, because the
// hull is convex. Faces are flat up to hull->slack only, and faces across d have many vertices of equal reach; the
// vertices within that of the best are connected by edges, and all of them are compared. The result is the same as that
// of pp_hull_farthest.
static int climb(const pp_hull *hull, perp_vec3 d)
{
    double most;
    int at = ascend(hull, d, &most);
    // the plateau: vertices within the slack, met along edges
    double low = most - hull->slack * pp_length(d);
    plateau met = {1, {at}};
    for (int i = 0; i < met.count; i++) {
        for (int k = hull->ring_first[met.vertex[i]]; k < hull->ring_first[met.vertex[i] + 1];
             k++) {
            int vertex = hull->ring[k];
            double reach = pp_dot3(hull->vertex[vertex], d);
            if (!(reach >= low) || is_on_plateau(&met, vertex)) {
                continue;
            }
            if (met.count == PLATEAU_MOST) {
                return pp_hull_farthest(hull, d);
            }
            met.vertex[met.count++] = vertex;
            if (reach > most || (reach == most && vertex < at)) {
                most = reach;
                at = vertex;
            }
        }
    }
    return at;
}

int pp_hull_support(const pp_hull *hull, perp_vec3 d)
{
    return hull->ring ? climb(hull, d) : pp_hull_farthest(hull, d);
}

enum { MARKED_MOST = 16384 };  // vertices: 2 KiB of marks

// The vertices of a convex polyhedron above a plane are connected by edges above it. As its faces are flat up to the slack
// only, the plane is lowered by that.
int pp_hull_cap(const pp_hull *hull, perp_vec3 d, double depth, int vertex[PP_CAP_MOST])
{
    uint64_t marked[MARKED_MOST / 64];
    if (hull->vertices > MARKED_MOST) {
        return -1;
    }
    memset(marked, 0, ((size_t)hull->vertices / 64 + 1) * sizeof *marked);
    int top = climb(hull, d), count = 1;
    double low = pp_dot3(hull->vertex[top], d) - depth - 2.0 * hull->slack;
    vertex[0] = top;
    marked[top / 64] |= 1ULL << (top % 64);
    for (int i = 0; i < count; i++) {
        for (int k = hull->ring_first[vertex[i]]; k < hull->ring_first[vertex[i] + 1]; k++) {
            int next = hull->ring[k];
            uint64_t bit = 1ULL << (next % 64);
            if ((marked[next / 64] & bit) || !(pp_dot3(hull->vertex[next], d) >= low)) {
                continue;
            }
            if (count == PP_CAP_MOST) {
                return -1;
            }
            marked[next / 64] |= bit;
            vertex[count++] = next;
        }
    }
    return count;
}

// On the circle of the given radius around z at height z; its centre where d is along z.
static perp_vec3 support_circle(double radius, perp_vec3 d, double z)
{
    double across = pp_hypot(d.x, d.y), s = across > 0.0 ? radius / across : 0.0;
    return pp_vec(s * d.x, s * d.y, z);
}

// The support function is h(d) = |S d| with S = diag(half), so that the point is S^2 d / |S d|.
static perp_vec3 support_ellipsoid(perp_vec3 half, perp_vec3 d)
{
    perp_vec3 e = pp_vec(half.x * d.x, half.y * d.y, half.z * d.z);
    e = pp_unit(e, pp_vec(0.0, 0.0, 1.0));
    return pp_vec(half.x * e.x, half.y * e.y, half.z * e.z);
}

// Zero counts as positive, so that every direction has one answer.
perp_vec3 pp_solid_support(const pp_solid *solid, perp_vec3 d)
{
    const perp_vec3 half = solid->half, origin = {0.0, 0.0, 0.0};
    double up = d.z >= 0.0 ? half.z : -half.z;
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        return pp_scale(solid->radius, pp_unit(d, origin));
    case PP_SOLID_CAPSULE:
        return pp_along(pp_vec(0.0, 0.0, up), solid->radius, pp_unit(d, origin));
    case PP_SOLID_BOX: {
        double x = d.x >= 0.0 ? half.x : -half.x;
        double y = d.y >= 0.0 ? half.y : -half.y;
        return pp_vec(x, y, up);
    }
    case PP_SOLID_CYLINDER:
        return support_circle(solid->radius, d, up);
    case PP_SOLID_CONE:  // apex or rim, whichever is farther along d
        if (2.0 * half.z * d.z >= solid->radius * pp_hypot(d.x, d.y)) {
            return pp_vec(0.0, 0.0, half.z);
        }
        return support_circle(solid->radius, d, -half.z);
    case PP_SOLID_ELLIPSOID:
        return support_ellipsoid(half, d);
    case PP_SOLID_HULL:
        return solid->hull->vertex[pp_hull_support(solid->hull, d)];
    case PP_SOLID_HALFSPACE:
        return origin;  // it has none
    }
    return origin;
}
