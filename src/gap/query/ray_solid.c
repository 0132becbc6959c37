// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rays against convex solids in closed form: the part of the line that is in the solid.
//
// A solid is an intersection of half-spaces and one quadric, so that its span is cut from the whole line by one after
// the other. Quadrics are a t^2 + 2 b t + c <= 0 in the distance t along the ray. The ray starts near the solid
// (ray.c): its origin is the point of the line nearest to the frame of the solid, or b and c would lose digits.
#include "gap/query/query.h"

#include <math.h>

// Clips the span to the half-space n . x <= c: the slab method, one plane at a time. A ray along the plane is inside or
// outside as a whole. span->in moves where the ray enters through the plane, whose normal is then that of the hit.
bool pp_span_plane(pp_ray_span *span, const pp_ray *ray, perp_vec3 n, double c)
{
    double speed = pp_dot3(n, ray->direction), over = pp_dot3(n, ray->origin) - c;
    if (speed == 0.0) {
        return over <= 0.0;
    }
    double t = -over / speed;
    if (speed > 0.0) {
        span->out = fmin(span->out, t);
    } else if (t > span->in) {
        span->in = t;
        span->n = n;
    }
    return span->in <= span->out;
}

// Roots of a t^2 + 2 b t + c, a != 0, in order; without cancellation. False: none.
static bool roots_of(double a, double b, double c, double t[2])
{
    double d = b * b - a * c;
    if (d < 0.0) {
        return false;
    }
    double q = b > 0.0 ? -b - sqrt(d) : -b + sqrt(d);
    double first = q / a, second = q != 0.0 ? c / q : first;
    t[0] = fmin(first, second);
    t[1] = fmax(first, second);
    return true;
}

// The point of the ray at the distance t [m]: its direction is a unit vector.
static perp_vec3 at(const pp_ray *ray, double t)
{
    return pp_along(ray->origin, t, ray->direction);
}

// |o + t d - centre|^2 = r^2, a quadratic equation with a = 1. At the centre the normal is not defined, and z serves.
bool pp_span_ball(pp_ray_span *span, const pp_ray *ray, perp_vec3 centre, double radius)
{
    perp_vec3 from = pp_sub(ray->origin, centre);
    double t[2], length = pp_length(from);
    // |from|^2 - r^2 as a product: the difference of squares would lose digits
    double c = (length - radius) * (length + radius);
    if (!roots_of(1.0, pp_dot3(from, ray->direction), c, t)) {
        return false;
    }
    span->out = fmin(span->out, t[1]);
    if (t[0] > span->in) {
        span->in = t[0];
        span->n = pp_unit(pp_sub(at(ray, t[0]), centre), pp_vec(0.0, 0.0, 1.0));
    }
    return span->in <= span->out;
}

// Around the z axis; a line along it is inside or outside as a whole.
static bool span_cylinder(pp_ray_span *span, const pp_ray *ray, double radius)
{
    perp_vec3 o = ray->origin, d = ray->direction;
    double t[2], a = d.x * d.x + d.y * d.y, away = pp_length2(o.x, o.y);
    double c = (away - radius) * (away + radius);
    if (a == 0.0) {
        return c <= 0.0;
    }
    if (!roots_of(a, o.x * d.x + o.y * d.y, c, t)) {
        return false;
    }
    span->out = fmin(span->out, t[1]);
    if (t[0] > span->in) {
        perp_vec3 x = at(ray, t[0]);
        span->in = t[0];
        span->n = pp_unit(pp_vec(x.x, x.y, 0.0), pp_vec(1.0, 0.0, 0.0));
    }
    return span->in <= span->out;
}

// The union of two spans that overlap, as those of the pieces of a convex solid do: first entry, last exit.
void pp_span_join(pp_ray_span *span, bool *any, const pp_ray_span *other)
{
    if (!*any) {
        *span = *other;
    } else {
        if (other->in < span->in) {
            span->in = other->in;
            span->n = other->n;
        }
        span->out = fmax(span->out, other->out);
    }
    *any = true;
}

// Balls first: where the cylinder is entered through its end it is entered through a ball as well.
static bool span_capsule(pp_ray_span *span, const pp_ray *ray, double radius, double half)
{
    bool any = false;
    for (int k = 0; k < 2; k++) {
        pp_ray_span ball = pp_ray_span_all();
        if (pp_span_ball(&ball, ray, pp_vec(0.0, 0.0, k == 0 ? -half : half), radius)) {
            pp_span_join(span, &any, &ball);
        }
    }
    pp_ray_span side = pp_ray_span_all();
    if (span_cylinder(&side, ray, radius) &&
        pp_span_plane(&side, ray, pp_vec(0.0, 0.0, 1.0), half) &&
        pp_span_plane(&side, ray, pp_vec(0.0, 0.0, -1.0), half)) {
        pp_span_join(span, &any, &side);
    }
    return any;
}

// The side of a cone: x^2 + y^2 <= k^2 (h - z)^2 with z <= h, k the radius over the height. Outward gradient.
static perp_vec3 cone_normal(perp_vec3 x, double k, double h)
{
    return pp_unit(pp_vec(x.x, x.y, k * k * (h - x.z)), pp_vec(0.0, 0.0, 1.0));
}

// A line that is steeper than the side (a < 0) meets both nappes; the part in the lower one is unbounded.
static bool span_cone(pp_ray_span *span, const pp_ray *ray, double radius, double half)
{
    perp_vec3 o = ray->origin, d = ray->direction;
    // Apex at z = half, base at z = -half; a t^2 + 2 b t + c <= 0 on the line is the inside of both nappes.
    double k = radius / (2.0 * half), w = half - o.z;
    double across = d.x * d.x + d.y * d.y, steep = k * k * d.z * d.z;
    double a = across - steep, b = o.x * d.x + o.y * d.y + k * k * w * d.z;
    double away = pp_length2(o.x, o.y), c = (away - k * w) * (away + k * w);
    double t[2] = {-PP_INF, PP_INF};
    if (!pp_span_plane(span, ray, pp_vec(0.0, 0.0, -1.0), half) ||
        !pp_span_plane(span, ray, pp_vec(0.0, 0.0, 1.0), half)) {
        return false;
    }
    if (fabs(a) <= 1e-15 * (across + steep)) {
        // along a line of the side: 2 b t + c <= 0
        if (b == 0.0) {
            return c <= 0.0;
        }
        t[b > 0.0] = -0.5 * c / b;
    } else if (a > 0.0) {
        if (!roots_of(a, b, c, t)) {
            return false;
        }
    } else {
        double both[2] = {-b / a, -b / a};  // a double root, at the apex
        roots_of(a, b, c, both);
        t[d.z > 0.0] = both[d.z > 0.0 ? 0 : 1];
    }
    span->out = fmin(span->out, t[1]);
    if (t[0] > span->in) {
        span->in = t[0];
        span->n = cone_normal(at(ray, t[0]), k, half);
    }
    return span->in <= span->out;
}

// As the unit ball of stretched space, in which t is the same.
static bool span_ellipsoid(pp_ray_span *span, const pp_ray *ray, perp_vec3 half)
{
    perp_vec3 o = {ray->origin.x / half.x, ray->origin.y / half.y, ray->origin.z / half.z};
    perp_vec3 d = {ray->direction.x / half.x, ray->direction.y / half.y, ray->direction.z / half.z};
    double t[2], length = pp_length(o);
    if (!roots_of(pp_dot3(d, d), pp_dot3(o, d), (length - 1.0) * (length + 1.0), t)) {
        return false;
    }
    // The gradient of sum (x_k / h_k)^2 in the space that is not stretched.
    perp_vec3 x = pp_along(o, t[0], d);
    perp_vec3 n = {x.x / half.x, x.y / half.y, x.z / half.z};
    *span = (pp_ray_span){t[0], t[1], pp_unit(n, pp_vec(0.0, 0.0, 1.0))};
    return true;
}

// Three slabs. A hit on an edge has the normal of the face that was tried first.
static bool span_box(pp_ray_span *span, const pp_ray *ray, perp_vec3 half)
{
    const double h[3] = {half.x, half.y, half.z};
    for (int k = 0; k < 3; k++) {
        perp_vec3 n = {k == 0, k == 1, k == 2};
        if (!pp_span_plane(span, ray, n, h[k]) ||
            !pp_span_plane(span, ray, pp_scale(-1.0, n), h[k])) {
            return false;
        }
    }
    return true;
}

// The planes of all faces (Cyrus and Beck), O(faces).
static bool span_hull(pp_ray_span *span, const pp_ray *ray, const pp_hull *hull)
{
    for (int k = 0; k < hull->faces; k++) {
        perp_vec3 n = hull->face_normal[k];
        perp_vec3 corner = hull->vertex[hull->corner[hull->face_first[k]]];
        if (!pp_span_plane(span, ray, n, pp_dot3(n, corner))) {
            return false;
        }
    }
    return true;
}

// In the frame of the solid. Clipping begins with the whole line, also behind the origin: a ray that starts inside is
// recognised by span->in < 0 < span->out.
bool pp_span_solid(const pp_solid *solid, const pp_ray *ray, pp_ray_span *span)
{
    const perp_vec3 up = {0.0, 0.0, 1.0};
    double r = solid->radius, h = solid->half.z;
    *span = pp_ray_span_all();
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        return pp_span_ball(span, ray, pp_vec(0.0, 0.0, 0.0), r);
    case PP_SOLID_CAPSULE:
        return span_capsule(span, ray, r, h);
    case PP_SOLID_BOX:
        return span_box(span, ray, solid->half);
    // The flat ends first: on the edge the normal is that of the side.
    case PP_SOLID_CYLINDER:
        return pp_span_plane(span, ray, up, h) && pp_span_plane(span, ray, pp_scale(-1.0, up), h) &&
               span_cylinder(span, ray, r);
    case PP_SOLID_CONE:
        return span_cone(span, ray, r, h);
    case PP_SOLID_ELLIPSOID:
        return span_ellipsoid(span, ray, solid->half);
    case PP_SOLID_HULL:
        return span_hull(span, ray, solid->hull);
    case PP_SOLID_HALFSPACE:
        return pp_span_plane(span, ray, up, 0.0);
    }
    return false;
}
