// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: convex pieces, and axes that separate two of them. Shares nothing with gap/: support functions
// are written from what the shapes are defined to be, and an axis is searched for by other means.
//
// Two convex sets overlap by at most d if there is one unit vector n with
//     separation(n) = min_{y in B} n.y - max_{x in A} n.x >= -d ,
// so that an axis is a proof that a few products check, whoever found it. n points from A to B.
#pragma once

#include "kinematics/kinematics.h"

typedef enum pp_convex_kind {
    PP_CONVEX_POINTS,     // hull of points
    PP_CONVEX_BOX,        // half
    PP_CONVEX_CYLINDER,   // half.x: radius, half.z along z
    PP_CONVEX_CONE,       // base of radius half.x at z = -half.z, apex at +half.z
    PP_CONVEX_ELLIPSOID,  // half: semi-axes
    PP_CONVEX_PLANE,      // z <= 0, in the plane y <= 0: the only axis is the outward normal
} pp_convex_kind;

// A core, with a radius around it; in the frame of the shape (in the plane: of the body).
typedef struct pp_convex {
    pp_convex_kind kind;
    bool planar;  // axes are in the plane z = 0
    int body;
    pp_pose X_B;  // its frame in the body's
    double radius;
    perp_vec3 half;
    int count;
    const perp_vec3 *point;   // PP_CONVEX_POINTS, in space
    const pp_vec2 *flat;      // the same in the plane
    perp_vec3 own[3];         // of points, segments, triangles
    const perp_vec3 *normal;  // outward, of faces: axes worth a try
    const pp_vec2 *flat_normal;
    int normals;
    double core_reach;  // no point of the core is further from the body's origin [m]
    double size;        // nor from its own first point, with the radius [m]
} pp_convex;

// A piece somewhere, seen from an origin nearby.
typedef struct pp_placed_convex {
    const pp_convex *convex;
    pp_pose X;  // its frame in world axes
} pp_placed_convex;

// The piece that a shape is; not for meshes.
void pp_convex_shape(pp_convex *out, const perp_model *model, const pp_shape *shape);
// A triangle of a mesh, with the outward normal first in the list of its normals.
void pp_convex_triangle(pp_convex *out, const pp_shape *shape, int triangle);

pp_placed_convex pp_convex_place(const pp_convex *convex, const pp_pose *X_WB);
// The point of the core furthest along d.
perp_vec3 pp_placed_convex_support(const pp_placed_convex *piece, perp_vec3 d);
// Least width of the piece over its own axes: what something must get through to be on the other side; 0 for sheets,
// infinite for half-spaces.
double pp_convex_width(const pp_convex *convex);
// Axes of the piece worth a try, in world axes: the k-th of them; false: no more.
bool pp_placed_convex_axis(const pp_placed_convex *piece, int k, perp_vec3 *n);

// ── Axes (axis.c) ────────────────────────────────────────────────────────────────────────────────

// n.(b - a) of the supports, less the radii.
double pp_separation(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 n);
// The one axis that a half-space leaves; false: there is none among the two.
bool pp_forced_axis(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 *n);
// The best axis that can be found, from *n on (0: none known): exactly the best one where the pieces are apart, the
// best of several local ones where they overlap. Ends early when the separation is `enough`. Returns the separation.
double pp_axis_search(const pp_placed_convex *a, const pp_placed_convex *b, double enough,
                      perp_vec3 *n);
