// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rays against one shape of a model, and against the triangles of a mesh.
//
// The ray is taken to the frame of the shape, and its origin along the line to the point nearest to that frame: far
// away coordinates would cost the quadrics of round shapes their digits.
#include "gap/query/query.h"

#include <float.h>
#include <math.h>

// Component by component: a direction of 0 along an axis is inside or outside all along.
bool pp_ray_box(const pp_ray *ray, const pp_box3 *box, double more, double most, double *at)
{
    const double o[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const double d[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    double in = 0.0, out = most;
    for (int k = 0; k < 3; k++) {
        double slack = more + 4.0 * DBL_EPSILON * fabs(o[k]);  // rounding of the differences
        double before = low[k] - slack - o[k], after = high[k] + slack - o[k];
        if (d[k] == 0.0) {
            if (before > 0.0 || after < 0.0) {
                return false;
            }
            continue;
        }
        double first = (d[k] > 0.0 ? before : after) / d[k];
        double last = (d[k] > 0.0 ? after : before) / d[k];
        in = fmax(in, first);
        out = fmin(out, last);
    }
    *at = in;
    return in <= out;
}

// ── Meshes ───────────────────────────────────────────────────────────────────────────────────────

// The signed volumes of the direction with the three sides. Seen from the neighbour, a side has exactly the opposite
// one: no ray passes between two triangles.
static bool ray_triangle(const pp_mesh *mesh, int t, const pp_ray *ray, double *distance)
{
    const int *k = mesh->triangle[t];
    perp_vec3 a = pp_sub(mesh->vertex[k[0]], ray->origin);
    perp_vec3 b = pp_sub(mesh->vertex[k[1]], ray->origin);
    perp_vec3 c = pp_sub(mesh->vertex[k[2]], ray->origin);
    double u = pp_dot3(ray->direction, pp_cross(a, b));
    double v = pp_dot3(ray->direction, pp_cross(b, c));
    double w = pp_dot3(ray->direction, pp_cross(c, a));
    bool through = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    double speed = pp_dot3(mesh->normal[t], ray->direction);
    if (!through || speed == 0.0) {
        return false;
    }
    *distance = pp_dot3(mesh->normal[t], a) / speed;
    return *distance >= 0.0;
}

// Boxes are grown by what rounding of the origin may cost.
bool pp_ray_mesh(const pp_mesh *mesh, const pp_ray *ray, pp_ray_hit *hit)
{
    const pp_box3 *root = &mesh->node[1];
    double more = 16.0 * DBL_EPSILON *
                  (pp_length(ray->origin) + pp_length(root->low) + pp_length(root->high));
    double most = ray->most, at;
    int stack[64], depth = 0, found = -1;  // each of at most 32 levels leaves one node behind
    stack[depth++] = 1;
    while (depth > 0) {
        int k = stack[--depth];
        if (!pp_ray_box(ray, &mesh->node[k], more, most, &at)) {
            continue;
        }
        if (k < mesh->leaves) {
            stack[depth++] = 2 * k + 1;
            stack[depth++] = 2 * k;
            continue;
        }
        int t = k - mesh->leaves;
        double distance;
        if (t < mesh->triangles && ray_triangle(mesh, t, ray, &distance) &&
            (distance < most || (distance <= most && found < 0))) {
            most = distance;
            found = t;
        }
    }
    if (found < 0) {
        return false;
    }
    perp_vec3 n = mesh->normal[found];
    *hit = (pp_ray_hit){.distance = most, .n = n, .inside = pp_dot3(n, ray->direction) > 0.0};
    return true;
}

// ── Planar shapes ────────────────────────────────────────────────────────────────────────────────

// Two discs and the rectangle between them.
static bool span_rod(const pp_shape *s, const pp_ray *ray, pp_ray_span *span)
{
    perp_vec3 c = {s->p_BS.x, s->p_BS.y, 0.0}, e = {s->axis_B.x, s->axis_B.y, 0.0};
    perp_vec3 side = {-e.y, e.x, 0.0};
    bool any = false;
    for (int k = 0; k < 2; k++) {
        pp_ray_span disc = pp_ray_span_all();
        if (pp_span_ball(&disc, ray, pp_along(c, k == 0 ? -s->half : s->half, e), s->radius)) {
            pp_span_join(span, &any, &disc);
        }
    }
    pp_ray_span bar = pp_ray_span_all();
    double along = pp_dot3(e, c), up = pp_dot3(side, c);
    if (pp_span_plane(&bar, ray, side, up + s->radius) &&
        pp_span_plane(&bar, ray, pp_scale(-1.0, side), s->radius - up) &&
        pp_span_plane(&bar, ray, e, along + s->half) &&
        pp_span_plane(&bar, ray, pp_scale(-1.0, e), s->half - along)) {
        pp_span_join(span, &any, &bar);
    }
    return any;
}

// In the frame of the body, where planar shapes are given.
static bool span_planar(const pp_shape *s, const pp_ray *ray, pp_ray_span *span)
{
    *span = pp_ray_span_all();
    if (s->kind == PERP_SHAPE_DISC) {
        return pp_span_ball(span, ray, pp_vec(s->p_BS.x, s->p_BS.y, 0.0), s->radius);
    }
    if (s->kind == PERP_SHAPE_CAPSULE) {
        return span_rod(s, ray, span);
    }
    if (s->kind == PERP_SHAPE_HALFPLANE) {
        perp_vec3 n = {-s->axis_B.y, s->axis_B.x, 0.0};
        return pp_span_plane(span, ray, n, n.x * s->p_BS.x + n.y * s->p_BS.y);
    }
    for (int k = 0; k < s->count; k++) {
        perp_vec3 n = {s->normal_B[k].x, s->normal_B[k].y, 0.0};
        double c = n.x * s->vertex_B[k].x + n.y * s->vertex_B[k].y;
        if (!pp_span_plane(span, ray, n, c)) {
            return false;
        }
    }
    return s->count > 0;
}

// Without an inside: the normal is that of the side that is hit.
static bool ray_segment(const pp_shape *s, const pp_ray *ray, pp_ray_hit *hit)
{
    perp_vec3 c = {s->p_BS.x, s->p_BS.y, 0.0}, e = {s->axis_B.x, s->axis_B.y, 0.0};
    perp_vec3 side = {-e.y, e.x, 0.0}, to = pp_sub(c, ray->origin);
    double speed = pp_dot3(side, ray->direction);
    if (speed == 0.0) {
        return false;
    }
    double t = pp_dot3(side, to) / speed;
    double along = pp_dot3(e, pp_sub(pp_scale(t, ray->direction), to));
    *hit = (pp_ray_hit){.distance = t, .n = pp_scale(speed < 0.0 ? 1.0 : -1.0, side)};
    return t >= 0.0 && t <= ray->most && fabs(along) <= s->half;
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// shift: from the origin of the ray to that of the span.
static bool hit_of_span(const pp_ray_span *span, const pp_ray *ray, double shift, pp_ray_hit *hit)
{
    double in = span->in + shift, out = span->out + shift;
    if (out <= 0.0 || in > ray->most) {
        return false;
    }
    *hit = (pp_ray_hit){.distance = in, .n = span->n};
    if (in < 0.0) {  // the origin is inside
        *hit = (pp_ray_hit){.n = pp_scale(-1.0, ray->direction), .inside = true};
    }
    return true;
}

bool pp_gap_ray(const perp_model *model, const pp_frame *body, int shape, const pp_ray *ray,
                pp_ray_hit *hit)
{
    const pp_shape *s = &model->shape[shape];
    const pp_frame *f = &body[s->body];
    pp_pose X = {f->p, f->R};
    X = model->spatial ? pp_pose_mul(&X, &s->X_BS) : X;
    pp_ray local = {pp_pose_local(&X, ray->origin), pp_mul_t(&X.R, ray->direction), ray->most};
    bool found = false;
    if (s->kind == PERP_SHAPE_POINT) {
        return false;
    }
    if (s->mesh) {
        found = pp_ray_mesh(s->mesh, &local, hit);
    } else if (s->kind == PERP_SHAPE_SEGMENT) {
        found = ray_segment(s, &local, hit);
    } else {
        // from the point of the line nearest to the frame; the span is moved back by hit_of_span
        pp_ray_span span;
        double shift = -pp_dot3(local.origin, local.direction);
        pp_ray near = local;
        near.origin = pp_along(local.origin, shift, local.direction);
        found = (model->spatial ? pp_span_solid(&s->solid, &near, &span)
                                : span_planar(s, &near, &span)) &&
                hit_of_span(&span, &local, shift, hit);
    }
    if (found) {
        hit->n = pp_mul(&X.R, hit->n);
    }
    return found;
}
