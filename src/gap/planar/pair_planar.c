// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points of one pair of planar shapes: the manifold of the cores, with the radii taken off.
#include "gap/pair.h"
#include "gap/planar/core.h"

#include <math.h>

// A half-plane y <= 0 of its own frame, seen from the same origin as a core.
typedef struct plane {
    pp_vec2 x, out;  // a point of its edge; outward normal, unit
} plane;

// {0.0 - axis.y, ...}: not -axis.y, which is -0 for a level floor.
static plane set_plane(const pp_shape *shape, const pp_frame *frame, pp_vec2 origin)
{
    pp_vec2 axis = pp_rotate2(frame, shape->axis_B);
    pp_vec2 from = pp_sub2(pp_vec2_of(frame->p), origin);
    return (plane){pp_add2(from, 1.0, pp_rotate2(frame, shape->p_BS)), {0.0 - axis.y, axis.x}};
}

// The lowest vertex, and its lower neighbour: the ends of the side that lies on the plane or is next to.
static int lowest_side(const pp_core *core, const plane *p, int vertex[2], double height[2])
{
    int low = 0;
    double least = HUGE_VAL;
    for (int k = 0; k < core->count; k++) {
        double h = pp_dot2(p->out, pp_sub2(core->v[k], p->x));
        if (h < least) {
            least = h;
            low = k;
        }
    }
    vertex[0] = low;
    height[0] = least;
    if (core->count == 1) {
        return 1;
    }
    // the lower of its two neighbours is the other end of the side
    int after = (low + 1) % core->count, before = (low + core->count - 1) % core->count;
    double h_after = pp_dot2(p->out, pp_sub2(core->v[after], p->x));
    double h_before = pp_dot2(p->out, pp_sub2(core->v[before], p->x));
    bool ahead = h_after <= h_before;
    vertex[1] = ahead ? after : before;
    height[1] = ahead ? h_after : h_before;
    if (vertex[1] < vertex[0]) {  // in the order of the features
        int v = vertex[0];
        double h = height[0];
        vertex[0] = vertex[1], height[0] = height[1];
        vertex[1] = v, height[1] = h;
    }
    return 2;
}

// The point is the witness on the core's shape, the one that moves with what lies on the plane.
static int plane_points(const plane *p, const pp_core *core, bool plane_is_a, double margin,
                        pp_contact out[PP_POINTS_MAX])
{
    int vertex[2], count = 0;
    double height[2];
    perp_vec3 n = plane_is_a ? pp_vec3_of(p->out) : (perp_vec3){-p->out.x, -p->out.y, 0.0};
    // n: out of the plane, from a to b whichever of them the plane is
    int ends = lowest_side(core, p, vertex, height);
    for (int e = 0; e < ends; e++) {
        double gap = height[e] - core->radius;
        if (!(gap <= margin)) {
            continue;
        }
        uint32_t feature = 0;  // what rolls has one point, without a name
        if (core->count > 1) {
            feature = plane_is_a ? pp_feature(PP_SIDE_VERTEX, 0, vertex[e])
                                 : pp_feature(PP_VERTEX_SIDE, vertex[e], 0);
        }
        out[count++] = (pp_contact){
            .feature = feature,
            .point = pp_vec3_of(pp_add2(core->v[vertex[e]], -core->radius, p->out)),
            .n = n,
            .gap = gap,
        };
    }
    return count;
}

// The manifold of the cores with the radii taken off. The point is midway between the two surfaces.
static int core_points(const pp_core *a, const pp_core *b, pp_vec2 axis, double margin,
                       pp_contact out[PP_POINTS_MAX])
{
    pp_manifold2 m;
    int count = 0;
    if (!pp_core_manifold(a, b, axis, margin + a->radius + b->radius, &m)) {
        return 0;
    }
    for (int e = 0; e < m.count; e++) {
        const pp_manifold2_point *spot = &m.spot[e];
        double gap = spot->gap - a->radius - b->radius;
        // Midway between x_a + r_a n and x_b - r_b n, where x_b = x_a + spot->gap n.
        double from = 0.5 * ((spot->of_a ? spot->gap : -spot->gap) + a->radius - b->radius);
        if (gap <= margin) {
            out[count++] = (pp_contact){
                .feature = spot->feature,
                .point = pp_vec3_of(pp_add2(spot->x, from, spot->n)),
                .n = pp_vec3_of(spot->n),
                .gap = gap,
            };
        }
    }
    return count;
}

// a < b: the same pair is always looked at from the same side, so that swapping only turns the normal.
int pp_gap_planar(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                  pp_contact out[PP_POINTS_MAX])
{
    const pp_shape *sa = &model->shape[a], *sb = &model->shape[b];
    const pp_frame *fa = &body[sa->body], *fb = &body[sb->body];
    pp_vec2 origin = pp_vec2_of(fa->p);
    bool plane_a = sa->kind == PERP_SHAPE_HALFPLANE, plane_b = sb->kind == PERP_SHAPE_HALFPLANE;
    pp_core ca, cb;
    if (plane_a) {
        plane p = set_plane(sa, fa, origin);
        pp_core_set(&cb, sb, fb, origin);
        return plane_points(&p, &cb, true, margin, out);
    }
    if (plane_b) {
        plane p = set_plane(sb, fb, origin);
        pp_core_set(&ca, sa, fa, origin);
        return plane_points(&p, &ca, false, margin, out);
    }
    pp_cores_set(&ca, &cb, model, body, (const int[2]){a, b});
    // two points in one place have no direction: a's x axis stands in
    return core_points(&ca, &cb, pp_rotate2(fa, sa->axis_B), margin, out);
}
