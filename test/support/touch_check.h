// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What contact points of two solids must satisfy, whatever made them: a judge that shares nothing with the
// narrow phase but the shapes.
#pragma once

#include "gap/convex/convex.h"
#include "support/random.h"

typedef struct touch_pair {
    pp_solid a, b;
    pp_pose X_WA, X_WB;
} touch_pair;

// The kinds in the order of pp_solid_kind; a hull is one of `hull` (touch_hull).
enum { TOUCH_KINDS = PP_SOLID_HALFSPACE + 1 };

// A cube, a tetrahedron, a wedge, an octahedron, a prism or a triangle, stretched to the given half extents.
typedef struct touch_hull {
    pp_hull hull;
    perp_vec3 vertex[16], normal[16];
    int first[17], corner[64], edge[32][4];
} touch_hull;
void touch_hull_set(touch_hull *h, int which, perp_vec3 half);

pp_pose touch_random_pose(rng *r, double reach);
// hull: memory for a hull, of which the solid keeps the address.
pp_solid touch_random_solid(rng *r, pp_solid_kind kind, touch_hull *hull);

// Independent support function and membership, with the extent of a solid for tolerances.
double touch_reach(const pp_solid *s, perp_vec3 d);
double touch_extent(const pp_solid *s);
// How far a point is outside, at most (0: inside); own frame.
double touch_outside(const pp_solid *s, perp_vec3 x);
// s(n) of the pair: how far n parts it.
double touch_parting(const touch_pair *pair, perp_vec3 n);

// NULL, or what is wrong with the points of a pair at margin INFINITY: witness points are on the solids, x_b = x_a +
// gap n, n parts the solids by exactly the least gap (which proves a positive gap to be the distance), and no
// direction of many parts overlapping ones better. Places may be 3e-9 of the extents beside their face, where edges
// are met (gap/convex/manifold.c). tolerance: of lengths, relative to the extents.
const char *touch_flaw(const touch_pair *pair, double tolerance, rng *r);
// The same for the pair swapped, and moved as a whole: gaps and normals must agree.
const char *touch_asymmetry(const touch_pair *pair, double tolerance, rng *r);
