// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: convex pieces, and axes that separate two of them. Shares nothing with gap/:
// support functions are written from the definitions of the shapes, and axes are searched for by
// other means.
//
// Two convex sets overlap by at most d if there is a unit vector n with
//     separation(n) = min_{y in B} n.y - max_{x in A} n.x >= -d .
// An axis is therefore a proof that a few products check, whoever found it. n points from A to B.
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
    const pp_hull *hull;      // that the points belong to, with the neighbours of each; or NULL
    const pp_vec2 *flat;      // the same in the plane
    perp_vec3 own[3];         // vertices of points, segments and triangles
    const perp_vec3 *normal;  // outward normals of faces: candidates for axes
    const pp_vec2 *flat_normal;
    int normals;
    double core_reach;  // distance of the farthest point of the core from the body's origin [m]
    double size;        // for tolerances, with the radius [m]
} pp_convex;

// A piece at a place. Positions are relative to an origin nearby, axes are those of the world.
typedef struct pp_placed_convex {
    const pp_convex *convex;
    pp_pose X;  // its frame in world axes
} pp_placed_convex;

// The piece of a shape that is not a mesh.
void pp_convex_shape(pp_convex *out, const perp_model *model, const pp_shape *shape);
// A triangle of a mesh, with the outward normal first in the list of its normals.
void pp_convex_triangle(pp_convex *out, const pp_shape *shape, int triangle);

pp_placed_convex pp_convex_place(const pp_convex *convex, const pp_pose *X_WB);
// The point of the core farthest along d.
perp_vec3 pp_placed_convex_support(const pp_placed_convex *piece, perp_vec3 d);
// Least width of the piece over its own axes [m]: the distance something must cover to get through.
// 0 for sheets, infinite for half-spaces.
// Of a hull it looks at all faces.
double pp_convex_width(const pp_convex *convex);
bool pp_convex_is_sheet(const pp_convex *convex);  // its width is 0
// Candidates for separating axes: the k-th of the piece, in world axes; false: no more.
bool pp_placed_convex_axis(const pp_placed_convex *piece, int k, perp_vec3 *n);

// ── Axes (axis.c) ────────────────────────────────────────────────────────────────────────────────

// n.(b - a) of the support points, less the radii [m].
double pp_separation(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 n);
// The only axis that a half-space allows; false: neither piece is one.
bool pp_forced_axis(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 *n);
// The best axis that can be found, starting at *n (0: unknown): exactly the best one where the
// pieces are apart, the best of several local minima of the depth where they overlap. Ends early
// when the separation is `enough`. Returns the separation.
double pp_axis_search(const pp_placed_convex *a, const pp_placed_convex *b, double enough,
                      perp_vec3 *n);
// The same for pieces that are apart; of others any axis.
double pp_axis_apart(const pp_placed_convex *a, const pp_placed_convex *b, double enough,
                     perp_vec3 *n);
