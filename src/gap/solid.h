// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Convex solids of space, and where two of them are nearest or touch.
//
// Sign: the normal n points from a to b; the gap is positive when they are apart and negative when they
// overlap (then: the shortest translation that parts them). Two faces that face each other give up to
// PP_TOUCH_MAX points, an edge along a face two, everything else one. Every point is a pair of witness
// points with a gap of its own along the common normal, x_b = x_a + gap n; the closest one comes first.
#pragma once

#include "base/base.h"
#include "math/space.h"

// A polyhedron with outward faces, made once from points (pp_hull_create) and never changed.
typedef struct pp_hull {
    int vertices, faces, edges;
    const perp_vec3 *vertex;
    const int *face_first;         // faces + 1: corners of each face in `corner`, counter-clockwise
    const int *corner;             // indices of vertices
    const perp_vec3 *face_normal;  // outward, unit
    const int (*edge)[4];          // vertex, vertex, face, face: each edge once
} pp_hull;

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

typedef struct pp_solid {
    pp_solid_kind kind;
    double radius;       // [m]
    perp_vec3 half;      // [m]
    const pp_hull *hull; // of PP_SOLID_HULL
} pp_solid;

enum { PP_TOUCH_MAX = 8 };

// One point of a manifold.
typedef struct pp_touch {
    perp_vec3 x_a, x_b;  // on the surfaces, in the world [m]
    perp_vec3 n;         // unit, from a to b; the same for all points of a pair
    double gap;          // [m]
    uint32_t feature;    // which point it is: the same in the next step while it slides; 0: the only one
} pp_touch;

// Points with a gap up to margin (INFINITY: the closest in any case), at most PP_TOUCH_MAX. Deterministic;
// swapping a and b turns the normal and leaves the rest. Poses are of the solids in the world.
int pp_solid_touch(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                   double margin, pp_touch out[PP_TOUCH_MAX]);

// The point of the solid that is furthest along d (own frame).
perp_vec3 pp_solid_support(const pp_solid *solid, perp_vec3 d);
// The box around a solid in its own frame; half-spaces have none (infinite).
void pp_solid_bounds(const pp_solid *solid, perp_vec3 *low, perp_vec3 *high);

// The convex hull of points, in the arena. PERP_ERR_ARGUMENT: fewer than four, or all in one plane (but
// a flat hull, a triangle with two faces, is made by pp_hull_triangle).
perp_status pp_hull_create(const perp_vec3 *point, int count, pp_arena *arena, const pp_hull **hull,
                           perp_error *error);
