// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes around solids, in their own frame and in the world.
#include "solid/solid.h"

// Half widths of a solid of revolution whose axis has the world direction e: `half` along the axis,
// and a disc of the given radius across it. A disc extends by radius sqrt(1 - e_i^2) along the axis
// i.
static perp_vec3 turned_disc(perp_vec3 e, double half, double radius)
{
    return pp_vec(half * fabs(e.x) + radius * pp_hypot(e.y, e.z),
                  half * fabs(e.y) + radius * pp_hypot(e.x, e.z),
                  half * fabs(e.z) + radius * pp_hypot(e.x, e.y));
}

// Half widths of a rotated box: row i of |R| times half.
static perp_vec3 turned_box(const pp_mat3 *R, perp_vec3 half)
{
    const double *m = R->m;
    return pp_vec(fabs(m[0]) * half.x + fabs(m[1]) * half.y + fabs(m[2]) * half.z,
                  fabs(m[3]) * half.x + fabs(m[4]) * half.y + fabs(m[5]) * half.z,
                  fabs(m[6]) * half.x + fabs(m[7]) * half.y + fabs(m[8]) * half.z);
}

// Support function along the world axes: h(e_i) = |S R^T e_i| with S = diag(half).
static perp_vec3 turned_ellipsoid(const pp_mat3 *R, perp_vec3 half)
{
    const double *m = R->m;
    return pp_vec(pp_length(pp_vec(m[0] * half.x, m[1] * half.y, m[2] * half.z)),
                  pp_length(pp_vec(m[3] * half.x, m[4] * half.y, m[5] * half.z)),
                  pp_length(pp_vec(m[6] * half.x, m[7] * half.y, m[8] * half.z)));
}

// Enlarges a box so that it contains a point.
static void box_extend(perp_vec3 x, perp_vec3 *low, perp_vec3 *high)
{
    *low = pp_vec(fmin(low->x, x.x), fmin(low->y, x.y), fmin(low->z, x.z));
    *high = pp_vec(fmax(high->x, x.x), fmax(high->y, x.y), fmax(high->z, x.z));
}

// A hull, by its vertices.
static void around_points(const pp_pose *X, int count, const perp_vec3 *point, perp_vec3 *low,
                          perp_vec3 *high)
{
    *low = pp_vec(PP_INF, PP_INF, PP_INF);
    *high = pp_vec(-PP_INF, -PP_INF, -PP_INF);
    for (int k = 0; k < count; k++) {
        box_extend(pp_pose_point(X, point[k]), low, high);
    }
}

// A hull of many vertices, by how far it reaches along the world axes, which are the rows of R in its own frame.
static void around_hull(const pp_solid *solid, const pp_pose *X, perp_vec3 *low, perp_vec3 *high)
{
    const double *m = X->R.m;
    double end[2][3];
    for (int i = 0; i < 3; i++) {
        perp_vec3 row = pp_vec(m[3 * i], m[3 * i + 1], m[3 * i + 2]);
        end[0][i] = -pp_hull_reach(solid->hull, pp_scale(-1.0, row));
        end[1][i] = pp_hull_reach(solid->hull, row);
    }
    *low = pp_add(X->p, pp_vec(end[0][0], end[0][1], end[0][2]));
    *high = pp_add(X->p, pp_vec(end[1][0], end[1][1], end[1][2]));
}

// The apex and the disc of the base.
static void around_cone(const pp_solid *solid, const pp_pose *X, perp_vec3 *low, perp_vec3 *high)
{
    perp_vec3 e = pp_mat3_column(&X->R, 2), base = pp_along(X->p, -solid->half.z, e);
    perp_vec3 half = turned_disc(e, 0.0, solid->radius);
    *low = pp_sub(base, half);
    *high = pp_add(base, half);
    box_extend(pp_along(X->p, solid->half.z, e), low, high);
}

void pp_solid_box(const pp_solid *solid, const pp_pose *X, perp_vec3 *low, perp_vec3 *high)
{
    // Most solids are symmetric about their origin, and half widths are enough.
    double r = solid->radius;
    perp_vec3 half = pp_vec(PP_INF, PP_INF, PP_INF), e = pp_mat3_column(&X->R, 2);
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        half = pp_vec(r, r, r);
        break;
    case PP_SOLID_CAPSULE:
        half = pp_add(turned_disc(e, solid->half.z, 0.0), pp_vec(r, r, r));
        break;
    case PP_SOLID_BOX:
        half = turned_box(&X->R, solid->half);
        break;
    case PP_SOLID_CYLINDER:
        half = turned_disc(e, solid->half.z, r);
        break;
    case PP_SOLID_ELLIPSOID:
        half = turned_ellipsoid(&X->R, solid->half);
        break;
    case PP_SOLID_CONE:
        around_cone(solid, X, low, high);
        return;
    case PP_SOLID_HULL:
        if (solid->hull->ring) {
            around_hull(solid, X, low, high);
            return;
        }
        around_points(X, solid->hull->vertices, solid->hull->vertex, low, high);
        return;
    case PP_SOLID_HALFSPACE:
        break;
    }
    *low = pp_sub(X->p, half);
    *high = pp_add(X->p, half);
}

// In its own frame: the pose is the identity.
void pp_solid_bounds(const pp_solid *solid, perp_vec3 *low, perp_vec3 *high)
{
    const pp_pose here = {.R = pp_identity3()};
    pp_solid_box(solid, &here, low, high);
}
