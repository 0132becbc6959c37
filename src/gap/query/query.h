// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to gap/: rays against one shape in its own frame.
#pragma once

#include "gap/gap.h"

// The part of a line that is in a convex set, in distances along the ray.
typedef struct pp_ray_span {
    double in, out;
    perp_vec3 n;  // outward normal where the line enters
} pp_ray_span;

// All of the line.
static inline pp_ray_span pp_ray_span_all(void)
{
    return (pp_ray_span){-PP_INF, PP_INF, {0.0, 0.0, 0.0}};
}

// Cuts the span to n.x <= c, to a ball, and to a cylinder around the z axis. False: nothing is left.
bool pp_span_plane(pp_ray_span *span, const pp_ray *ray, perp_vec3 n, double c);
bool pp_span_ball(pp_ray_span *span, const pp_ray *ray, perp_vec3 centre, double radius);
// The span of the convex hull of two overlapping convex sets that cover it: from the first entry to the last exit.
void pp_span_join(pp_ray_span *span, bool *any, const pp_ray_span *other);
// The span in a convex solid, in its own frame. False: the line misses it.
bool pp_span_solid(const pp_solid *solid, const pp_ray *ray, pp_ray_span *span);

// Whether the ray meets a box that is grown by `more` on every side, no further than `most`; *at: where it enters.
bool pp_ray_box(const pp_ray *ray, const pp_box3 *box, double more, double most, double *at);
// The first triangle of a mesh, in its own frame.
bool pp_ray_mesh(const pp_mesh *mesh, const pp_ray *ray, pp_ray_hit *hit);
