// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From the facets of a hull to a pp_hull.
#pragma once

#include "solid/solid.h"

// Polygons over points: facet f has the corners corner[first[f]] .. corner[first[f + 1] - 1],
// counter-clockwise seen from outside.
typedef struct pp_facets {
    int count;
    int *first;   // count + 1
    int *corner;  // indices of points
} pp_facets;

// The hull that convex facets make, in an order that depends on the points alone: vertices in the
// order of the points, faces and edges by the numbers of their vertices. Corners in the middle of
// an edge are left out. PERP_ERR_NUMERIC: the facets do not close.
perp_status pp_hull_build(const perp_vec3 *point, int count, const pp_facets *facets,
                          pp_arena *arena, const pp_hull **hull, perp_error *error);

// The vertex farthest along d, of equal ones the first: all vertices are compared.
int pp_hull_farthest(const pp_hull *hull, perp_vec3 d);

// Twice the area of a triangle times its normal: the cross product of its two shorter sides, which
// keeps its digits where the triangle is long and thin.
static inline perp_vec3 pp_triangle_area(perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    perp_vec3 ab = pp_sub(b, a), bc = pp_sub(c, b), ca = pp_sub(a, c);
    double x = pp_dot3(ab, ab), y = pp_dot3(bc, bc), z = pp_dot3(ca, ca);
    if (x >= y && x >= z) {
        return pp_cross(bc, ca);
    }
    return y >= z ? pp_cross(ca, ab) : pp_cross(ab, bc);
}

// Unit vector along area; 0 where it vanishes. Divided, not multiplied by 1 / length, so that a
// vector along an axis stays exactly along it.
static inline perp_vec3 pp_normal_of(perp_vec3 area)
{
    double length = pp_length(area);
    return length > 0.0 ? pp_vec(area.x / length, area.y / length, area.z / length)
                        : (perp_vec3){0};
}
