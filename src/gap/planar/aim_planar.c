// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Axes of two planar shapes: the sides of both, and the line through two vertices where it will be.
#include "gap/aim.h"
#include "gap/planar/core.h"

#include <math.h>

// The reference shape, whose sides are the axes, and the incident one, whose vertices are above them.
typedef struct planar_view {
    const pp_core *ref, *inc;
    bool ref_is_b;
} planar_view;

// Of a vertex of the incident core above a side of the reference [m].
static double height_of(const planar_view *v, int side, int vertex)
{
    return pp_dot2(v->ref->n[side], pp_sub2(v->inc->v[vertex], v->ref->v[side]));
}

// One vertex of the other shape above a side.
static void add_vertex_above_side(pp_aim_task *t, const planar_view *v, int side, int vertex,
                                  pp_aim *aim)
{
    double radii = v->ref->radius + v->inc->radius, height = height_of(v, side, vertex);
    pp_vec2 out = v->ref->n[side], x = v->inc->v[vertex];
    // Midway between the surfaces, as for points that are found.
    double down = 0.5 * (height + v->inc->radius - v->ref->radius);
    perp_vec3 n = pp_vec3_of(v->ref_is_b ? (pp_vec2){-out.x, -out.y} : out);
    pp_contact *c = &aim->point[aim->count++];
    *c = (pp_contact){.feature = v->ref_is_b ? pp_feature(PP_VERTEX_SIDE, vertex, side)
                                             : pp_feature(PP_SIDE_VERTEX, side, vertex),
                      .point = pp_vec3_of(pp_add2(x, -down, out)),
                      .n = n,
                      .gap = height - radii};
    c->feature = v->inc->count == 1 ? 0 : c->feature;
    aim->end = fmin(aim->end, pp_aim_end(t, c->point, n, c->gap));
}

// Whether the vertex is above the side, or can come there in the step: impacts may double its speed.
static bool comes_above(const pp_aim_task *t, const planar_view *v, int side, int vertex)
{
    int next = (side + 1) % v->ref->count;
    pp_vec2 n = v->ref->n[side], along = {-n.y, n.x}, x = v->inc->v[vertex];
    double place = pp_dot2(along, pp_sub2(x, v->ref->v[side]));
    double length = pp_dot2(along, pp_sub2(v->ref->v[next], v->ref->v[side]));
    double travel = 2.0 * pp_aim_travel(t, pp_vec3_of(x));
    return place >= -travel && place <= length + travel;
}

// The axis of one side: the lowest vertex of the other shape above it, and the neighbour of that which is lower, as for
// a shape on a half-plane.
static void offer_side_axis(pp_aim_task *t, const planar_view *v, int side)
{
    const pp_core *inc = v->inc;
    int low = 0;
    for (int k = 1; k < inc->count; k++) {
        if (height_of(v, side, k) < height_of(v, side, low)) {
            low = k;
        }
    }
    pp_aim aim = {.count = 0, .end = HUGE_VAL};
    aim.s = height_of(v, side, low) - v->ref->radius - inc->radius;
    if (!(aim.s >= fmin(t->best.s, 0.0) - t->touching)) {
        return;  // does not separate now
    }
    add_vertex_above_side(t, v, side, low, &aim);
    if (inc->count > 1) {
        int after = (low + 1) % inc->count, before = (low + inc->count - 1) % inc->count;
        int other = height_of(v, side, after) <= height_of(v, side, before) ? after : before;
        if (comes_above(t, v, side, other)) {
            add_vertex_above_side(t, v, side, other, &aim);
        }
        // in the order of the features, as detected points are
        if (aim.count == 2 && aim.point[1].feature < aim.point[0].feature) {
            pp_contact first = aim.point[0];
            aim.point[0] = aim.point[1];
            aim.point[1] = first;
        }
    }
    pp_aim_offer(t, &aim);
}

// s(n) = -h_a(n) - h_b(-n), with the radii.
static double separation_planar(const pp_core *a, const pp_core *b, pp_vec2 n)
{
    double top = -HUGE_VAL, low = HUGE_VAL;
    for (int k = 0; k < a->count; k++) {
        top = fmax(top, pp_dot2(n, a->v[k]));
    }
    for (int k = 0; k < b->count; k++) {
        low = fmin(low, pp_dot2(n, b->v[k]));
    }
    return low - top - a->radius - b->radius;
}

// The vertex that is farthest along n.
static pp_vec2 farthest_vertex(const pp_core *core, pp_vec2 n)
{
    pp_vec2 far = core->v[0];
    for (int k = 1; k < core->count; k++) {
        far = pp_dot2(n, core->v[k]) > pp_dot2(n, far) ? core->v[k] : far;
    }
    return far;
}

// Where two shapes act on each other along an axis n that separates them by s: half of s from the one whose closest
// point is the farthest one along n as well; else from the farthest vertex of a.
static perp_vec3 point_along(const pp_aim_task *t, const pp_core *a, const pp_core *b, perp_vec3 n,
                             double s)
{
    const pp_contact *c = &t->best.point[0];
    double half = 0.5 * c->gap;
    perp_vec3 x = pp_along(c->point, -half - a->radius, c->n),
              y = pp_along(c->point, half + b->radius, c->n);
    perp_vec3 far_x = pp_vec3_of(farthest_vertex(a, pp_vec2_of(n))),
              far_y = pp_vec3_of(farthest_vertex(b, pp_vec2_of(pp_scale(-1.0, n))));
    if (pp_dot3(n, pp_sub(y, far_y)) <= t->rounding && pp_dot3(n, pp_sub(far_x, x)) > t->rounding) {
        return pp_along(y, -b->radius - 0.5 * s, n);
    }
    bool same = pp_dot3(n, pp_sub(far_x, x)) <= t->rounding;
    return pp_along(same ? x : far_x, a->radius + 0.5 * s, n);
}

// Two vertices apart: the direction from one to the other at the end of the step.
static void offer_vertices(pp_aim_task *t, const pp_core *a, const pp_core *b)
{
    const pp_contact *c = &t->best.point[0];
    if (t->changed || t->best.count != 1 || !(c->gap > 0.0)) {
        return;
    }
    // D: from a's vertex to b's at the end of the step, in the basis (n, across)
    double radii = a->radius + b->radius, distance = c->gap + radii;
    perp_vec3 across = {-c->n.y, c->n.x, 0.0};
    double far = pp_aim_end(t, c->point, c->n, distance),
           aside = pp_aim_end(t, c->point, across, 0.0);
    perp_vec3 D = pp_along(pp_scale(far, c->n), aside, across), n = pp_unit(D, c->n);
    pp_aim aim = {.count = 1, .end = HUGE_VAL};
    aim.point[0] = *c;
    aim.point[0].n = n;
    aim.s = aim.point[0].gap = separation_planar(a, b, pp_vec2_of(n));
    aim.point[0].point = point_along(t, a, b, n, aim.s);
    aim.end = pp_aim_end(t, aim.point[0].point, n, aim.s);
    if (aim.s > 0.0) {
        pp_aim_offer(t, &aim);
    }
}

void pp_aim_planar(pp_aim_task *t)
{
    pp_core a, b;
    pp_cores_set(&a, &b, t->model, t->kin->poses.body, (const int[2]){t->a, t->b});
    // a single vertex has no sides
    int sides_a = a.count > 1 ? a.count : 0;
    int sides_b = b.count > 1 ? b.count : 0;
    for (int side = 0; side < sides_a; side++) {
        offer_side_axis(t, &(planar_view){&a, &b, false}, side);
    }
    for (int side = 0; side < sides_b; side++) {
        offer_side_axis(t, &(planar_view){&b, &a, true}, side);
    }
    offer_vertices(t, &a, &b);
}
