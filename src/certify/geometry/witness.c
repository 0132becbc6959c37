// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Normals of the contacts of a step, offered to the judge of its geometry, which checks each of
// them; and two measurements of single shapes.
#include "certify/geometry/witness.h"

#include "certify/certify.h"
#include "certify/geometry/convex.h"

#include <math.h>

bool pp_shape_extent(const perp_model *m, const pp_frame *body, int shape, perp_vec3 origin,
                     perp_vec3 d, double reach[2])
{
    const pp_shape *of = &m->shape[shape];
    const pp_frame *f = &body[of->body];
    pp_convex convex;
    if (of->mesh) {
        return false;
    }
    pp_convex_shape(&convex, m, of);
    if (convex.kind == PP_CONVEX_PLANE) {
        return false;
    }
    reach[0] = -pp_piece_extent(&convex, f, origin, pp_scale(-1.0, d));
    reach[1] = pp_piece_extent(&convex, f, origin, d);
    return true;
}

// Relative to `origin`, so that coordinates stay small and nothing is lost to rounding.
double pp_piece_extent(const pp_convex *convex, const pp_frame *f, perp_vec3 origin, perp_vec3 d)
{
    pp_pose X = {pp_sub(f->p, origin), f->R};
    pp_placed_convex placed = pp_convex_place(convex, &X);
    return pp_dot3(d, pp_placed_convex_support(&placed, d)) + convex->radius;
}

// Separation of the shape and a piece that is a single point, seen from that point.
double pp_shape_distance(const perp_model *m, const pp_frame *body, int shape, perp_vec3 point)
{
    const pp_shape *of = &m->shape[shape];
    const pp_frame *f = &body[of->body];
    pp_convex convex, spot = {.kind = PP_CONVEX_POINTS, .planar = !m->spatial, .count = 1};
    perp_vec3 n = {0.0, 0.0, 0.0};
    pp_pose X = {pp_sub(f->p, point), f->R}, here = {.R = pp_identity3()};
    spot.X_B = here;
    pp_convex_shape(&convex, m, of);
    pp_placed_convex a = pp_convex_place(&convex, &X), b = pp_convex_place(&spot, &here);
    if (pp_forced_axis(&a, &b, &n)) {
        return pp_separation(&a, &b, n);
    }
    return pp_axis_search(&a, &b, HUGE_VAL, &n);
}

double pp_shape_separation(const perp_model *m, const pp_frame *body, int a, int b, perp_vec3 n)
{
    const int shape[2] = {a, b};
    pp_convex convex[2];
    pp_placed_convex placed[2];
    for (int k = 0; k < 2; k++) {
        const pp_shape *of = &m->shape[shape[k]];
        const pp_frame *f = &body[of->body];
        // relative to the body of a, so that coordinates stay small
        pp_pose X = {pp_sub(f->p, body[m->shape[a].body].p), f->R};
        pp_convex_shape(&convex[k], m, of);
        placed[k] = pp_convex_place(&convex[k], &X);
    }
    return pp_axis_search(&placed[0], &placed[1], HUGE_VAL, &n) - pp_skin(m, a, b);
}

// Distance of a point x outside a polygon from it, all in its own axes: that from the nearest side. False: inside.
static bool polygon_distance(const pp_vec2 *vertex, int count, perp_vec3 x, double *distance)
{
    double least = HUGE_VAL;
    int left = 0, right = 0;
    for (int k = 0; k < count; k++) {
        const pp_vec2 *a = &vertex[k], *b = &vertex[k + 1 < count ? k + 1 : 0];
        double dx = b->x - a->x, dy = b->y - a->y, px = x.x - a->x, py = x.y - a->y;
        double square = dx * dx + dy * dy, t = square > 0.0 ? (px * dx + py * dy) / square : 0.0;
        t = pp_clamp(t, 0.0, 1.0);
        double x_off = px - t * dx, y_off = py - t * dy, off = x_off * x_off + y_off * y_off;
        least = off < least ? off : least;
        left += dx * py - dy * px > 0.0;
        right += dx * py - dy * px < 0.0;
    }
    // inside all sides have the point on one side, whichever way they go round
    *distance = sqrt(least);
    return count < 3 || (left > 0 && right > 0);
}

// Distance of a point x outside a core with a closed form from it, in its own axes. False: inside, or no such core.
static bool core_distance(const pp_convex *c, perp_vec3 x, double *distance)
{
    if (c->kind == PP_CONVEX_BOX && !c->planar) {
        perp_vec3 out = pp_vec(fmax(fabs(x.x) - c->half.x, 0.0), fmax(fabs(x.y) - c->half.y, 0.0),
                               fmax(fabs(x.z) - c->half.z, 0.0));
        *distance = pp_length(out);
        return *distance > 0.0;
    }
    enum { FEW = 12 };  // sides, up to which comparing all of them is quick
    bool few = c->kind == PP_CONVEX_POINTS && c->flat && c->count <= FEW;
    return few && polygon_distance(c->flat, c->count, x, distance);
}

double pp_piece_surface_error(const pp_convex *convex, const pp_frame *f, double length,
                              perp_vec3 point, perp_vec3 out)
{
    // well outside the shape the distance takes one search, which starts from its axis
    double lift = 1e-3 * (convex->size > 0.0 ? convex->size : length), apart;
    perp_vec3 lifted = pp_along(point, lift, out);
    perp_vec3 x_B = pp_mul_t(&f->R, pp_sub(lifted, f->p));
    if (core_distance(convex, pp_mul_t(&convex->X_B.R, pp_sub(x_B, convex->X_B.p)), &apart)) {
        return apart - convex->radius - lift;
    }
    pp_pose here = {.R = pp_identity3()}, X = {pp_sub(f->p, lifted), f->R};
    pp_convex spot = {.kind = PP_CONVEX_POINTS, .planar = convex->planar, .count = 1, .X_B = here};
    pp_placed_convex a = pp_convex_place(convex, &X), b = pp_convex_place(&spot, &here);
    perp_vec3 n = out;
    double distance = pp_forced_axis(&a, &b, &n) ? pp_separation(&a, &b, n)
                                                 : pp_axis_search(&a, &b, HUGE_VAL, &n);
    return distance - lift;
}

double pp_shape_surface_error(const perp_model *m, const pp_frame *body, int shape, perp_vec3 point,
                              perp_vec3 out)
{
    const pp_shape *of = &m->shape[shape];
    pp_convex convex;
    pp_convex_shape(&convex, m, of);
    return pp_piece_surface_error(&convex, &body[of->body], m->length_scale, point, out);
}

// Contacts listed in the scene are left out: they are not sorted by shapes, as the search of an
// axis needs.
pp_separating_axis *pp_geometry_axes(const pp_gaps *gaps, pp_arena *arena, int *count)
{
    pp_separating_axis *axis = PP_ARRAY(arena, pp_separating_axis, gaps->count);
    *count = 0;
    if (!axis) {
        return NULL;
    }
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        if (c->listed < 0) {
            axis[(*count)++] = (pp_separating_axis){c->a, c->b, c->n};
        }
    }
    return axis;
}
