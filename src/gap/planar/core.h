// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every shape but the half-plane is a core, a convex polygon of 1, 2 or more vertices, with a radius
// around it: point and disc have one vertex, segment and capsule two (and two sides, back to back).
#pragma once

#include "gap/gap.h"

enum { PP_CORE_MAX = 256 };

typedef struct pp_core {
    int count;  // vertices; one vertex has no sides
    double radius;
    pp_vec2 v[PP_CORE_MAX];  // counter-clockwise, in world axes from a chosen origin
    pp_vec2 n[PP_CORE_MAX];  // outward, of the side from vertex k to k + 1
} pp_core;

// One end of the stretch along which two sides face each other, or two vertices.
typedef struct pp_manifold2_point {
    pp_vec2 x;         // the vertex that ends it
    pp_vec2 n;         // unit, from a to b
    bool of_a;         // a vertex of a
    double gap;        // between the cores there, along the normal
    uint32_t feature;  // pp_feature, the same whichever side the normal is taken from
} pp_manifold2_point;

typedef struct pp_manifold2 {
    int count;
    pp_manifold2_point spot[PP_POINTS_MAX];
} pp_manifold2;

// Which features make a point: a vertex of a and a side of b, a side of a and a vertex of b, or two
// vertices. 0 for pairs that have one point only: it stays the same point when it rolls on.
typedef enum pp_feature_kind { PP_VERTEX_SIDE, PP_SIDE_VERTEX, PP_VERTEX_VERTEX } pp_feature_kind;

static inline uint32_t pp_feature(pp_feature_kind kind, int of_a, int of_b)
{
    return ((uint32_t)kind << 16) | ((uint32_t)of_a << 8) | (uint32_t)of_b;
}

static inline double pp_dot2(pp_vec2 x, pp_vec2 y)
{
    return x.x * y.x + x.y * y.y;
}

static inline pp_vec2 pp_sub2(pp_vec2 x, pp_vec2 y)
{
    return (pp_vec2){x.x - y.x, x.y - y.y};
}

static inline pp_vec2 pp_add2(pp_vec2 x, double s, pp_vec2 y)  // x + s y
{
    return (pp_vec2){x.x + s * y.x, x.y + s * y.y};
}

// World axes, from `origin`: differences of nearby positions lose nothing far from the world's origin.
void pp_core_set(pp_core *core, const pp_shape *shape, const pp_frame *frame, pp_vec2 origin);
// Both cores of a pair, from the origin of a's body. Two shapes without an inside share their skin, pp_skin().
void pp_cores_set(pp_core *a, pp_core *b, const perp_model *model, const pp_frame *body,
                  const int shape[2]);

// Signed distance of the cores with the points where it is taken, and points of facing sides. False:
// the cores are clearly further apart than `most`. axis: the normal where all directions are alike.
bool pp_core_manifold(const pp_core *a, const pp_core *b, pp_vec2 axis, double most,
                      pp_manifold2 *m);
