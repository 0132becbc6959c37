// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of solid/: convex solids in space, their extents, hulls and mass properties; and surfaces of
// triangles.
#pragma once

#include "base/base.h"
#include "math/space.h"

// A convex polyhedron, made once from points (pp_hull_create) and never changed.
typedef struct pp_hull {
    int vertices, faces, edges;
    const perp_vec3 *vertex;
    const int *face_first;         // faces + 1: corners of each face in `corner`, counter-clockwise
    const int *corner;             // indices of vertices
    const perp_vec3 *face_normal;  // outward, unit
    const int (
        *edge)[4];  // vertex a < b, face in which a precedes b, the other face: each edge once
    // For the search of support points along edges; NULL and unset where there are few vertices.
    const int *ring_first;  // vertices + 1: neighbours of each vertex along its edges, in `ring`
    const int *ring;
    const int *ring_edge;  // the edge to each of them
    const int *start;      // PP_HULL_STARTS: where walks along edges begin, see pp_hull_start
    double slack;          // corners of a face may be this far from its plane, with rounding [m]
    double reach;          // of the vertices from the origin [m]
} pp_hull;

// Directions by the face of a cube that they leave it through, each divided into cells.
enum { PP_HULL_CELLS = 8, PP_HULL_STARTS = 6 * PP_HULL_CELLS * PP_HULL_CELLS };

static inline int pp_hull_cell(double along, double most)
{
    double x = 0.5 * PP_HULL_CELLS * (along / most + 1.0);
    if (!(x > 0.0)) {  // also where it is no number
        return 0;
    }
    return x < PP_HULL_CELLS ? (int)x : PP_HULL_CELLS - 1;
}

// The place in `start` of a direction; its vertex is the farthest along the middle of the cell.
static inline int pp_hull_start(perp_vec3 d)
{
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    int face = 4 + (d.z < 0.0), row = pp_hull_cell(d.x, z), column = pp_hull_cell(d.y, z);
    if (x >= y && x >= z) {
        face = d.x < 0.0;
        row = pp_hull_cell(d.y, x);
        column = pp_hull_cell(d.z, x);
    } else if (y >= z) {
        face = 2 + (d.y < 0.0);
        row = pp_hull_cell(d.x, y);
        column = pp_hull_cell(d.z, y);
    }
    return (face * PP_HULL_CELLS + row) * PP_HULL_CELLS + column;
}

typedef enum pp_solid_kind {
    PP_SOLID_SPHERE,     // radius; a point has radius 0
    PP_SOLID_CAPSULE,    // segment from -half.z to +half.z along z, rounded by radius
    PP_SOLID_BOX,        // half
    PP_SOLID_CYLINDER,   // radius, half.z along z
    PP_SOLID_CONE,       // base of the given radius at z = -half.z, apex at z = +half.z
    PP_SOLID_ELLIPSOID,  // half: semi-axes
    PP_SOLID_HULL,       // hull (also the triangles of meshes and height fields)
    PP_SOLID_HALFSPACE,  // z <= 0; outward normal +z
} pp_solid_kind;

// A solid in its own frame. Which members count depends on the kind.
typedef struct pp_solid {
    pp_solid_kind kind;
    double radius;        // [m]
    perp_vec3 half;       // [m]
    const pp_hull *hull;  // of PP_SOLID_HULL
} pp_solid;

// Triangles with a tree of boxes over them (mesh.c).
typedef struct pp_mesh pp_mesh;

// Support point: the point of the solid farthest along d, in its own frame.
perp_vec3 pp_solid_support(const pp_solid *solid, perp_vec3 d);
// How far a hull with rings reaches along the unit vector d, or more by no more than its slack and rounding.
double pp_hull_reach(const pp_hull *hull, perp_vec3 d);
// The vertex of a hull farthest along d, of equal ones the first.
int pp_hull_support(const pp_hull *hull, perp_vec3 d);
// Vertices of a hull with neighbours (`ring`) that are at most `depth` below its support plane along the unit vector d, and
// a few beyond, in no order. Returns how many; -1: more than PP_CAP_MOST.
enum { PP_CAP_MOST = 256 };
int pp_hull_cap(const pp_hull *hull, perp_vec3 d, double depth, int vertex[PP_CAP_MOST]);
// Bounding box in the solid's own frame; infinite for half-spaces.
void pp_solid_bounds(const pp_solid *solid, perp_vec3 *low, perp_vec3 *high);
// Bounding box in the world for the pose X: as tight as the solid allows.
void pp_solid_box(const pp_solid *solid, const pp_pose *X, perp_vec3 *low, perp_vec3 *high);

// The convex hull of points, in the arena. Coplanar facets are one face; vertices are some of the
// points, in their order. PERP_ERR_ARGUMENT: a point is not finite, there are fewer than four, or
// all are in one plane. PERP_ERR_REFUSED: built without qhull.
perp_status pp_hull_create(const perp_vec3 *point, int count, pp_arena *arena, const pp_hull **hull,
                           perp_error *error);
// A copy in another arena; NULL: out of memory.
const pp_hull *pp_hull_copy(const pp_hull *hull, pp_arena *arena);

// Hull of one triangle: flat, with two faces; from outside face 0 the corners a, b, c are
// counter-clockwise.
typedef struct pp_flat_hull {
    pp_hull hull;  // points into this struct: valid while it stays where it is
    perp_vec3 vertex[3], normal[2];
} pp_flat_hull;

// False where the triangle has no area, and so no normal.
bool pp_hull_triangle(perp_vec3 a, perp_vec3 b, perp_vec3 c, pp_flat_hull *flat);

// Volume [m^3], centroid [m] and inertia tensor about it for density 1 [m^5], in the own frame.
// False without a volume (point, half-space).
bool pp_solid_mass(const pp_solid *solid, double *volume, perp_vec3 *centroid, pp_mat3 *inertia);

// ── Meshes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct pp_box3 {
    perp_vec3 low, high;
} pp_box3;

// A surface of triangles, solid on the inner side; not convex. Triangles are numbered along a
// Hilbert curve, which keeps neighbours together, so that a complete binary tree of boxes stands on
// them: node k has the children 2 k and 2 k + 1, and leaf k is node leaves + k.
struct pp_mesh {
    int vertices, triangles;
    const perp_vec3 *vertex;    // each place once
    const int (*triangle)[3];   // counter-clockwise, seen from outside
    const int *source;          // which of the given triangles it is
    const perp_vec3 *normal;    // outward, unit
    const int (*neighbour)[3];  // across the side from corner k to k + 1; -1: none
    const bool (*sharp)
        [3];  // that side is a convex edge or a border: what is flat or concave has no normals
              // of its own
    const int *region;             // lowest triangle of the flat stretch it is part of
    const int *star_first, *star;  // triangles around each vertex
    int leaves;                    // a power of two >= triangles
    const pp_box3 *node;           // 1 is the root
};

// A mesh of given triangles, three vertices each, in the arena. Vertices at the same place are
// merged, triangles without area are left out. PERP_ERR_ARGUMENT: nothing is left, or a number or
// index is invalid.
perp_status pp_mesh_create(const perp_vec3 *vertex, int vertices, const int *triangle,
                           int triangles, pp_arena *arena, const pp_mesh **mesh, perp_error *error);
// The surface over a grid of nx by ny heights (x fastest) that covers -half to +half in x and y.
// Outside is up.
perp_status pp_mesh_heights(const double *height, int nx, int ny, double half_x, double half_y,
                            pp_arena *arena, const pp_mesh **mesh, perp_error *error);
// A copy in another arena; NULL: out of memory.
const pp_mesh *pp_mesh_copy(const pp_mesh *mesh, pp_arena *arena);
// The first triangle, from number `from` on, whose box overlaps the given one; -1: none. Called in
// a loop it enumerates all of them.
int pp_mesh_next(const pp_mesh *mesh, const pp_box3 *box, int from);
