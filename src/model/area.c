// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Area, centroid and second moment of planar shapes, from which density gives mass properties.
#include "model/builder.h"

#include <math.h>

static const double PI = 3.141592653589793;

// A fan of triangles around the first vertex: sums of cross products, by Green's theorem. Moments
// are relative to that vertex, so that shapes far from the origin lose no digits; the parallel-axis
// theorem moves the last one to the centroid.
static void polygon_area(const pp_shape *shape, double *area, pp_vec2 *centroid, double *moment)
{
    pp_vec2 o = shape->vertex_B[0];
    double A = 0.0, sx = 0.0, sy = 0.0, J = 0.0;
    for (int k = 1; k + 1 < shape->count; k++) {
        double px = shape->vertex_B[k].x - o.x, py = shape->vertex_B[k].y - o.y;
        double qx = shape->vertex_B[k + 1].x - o.x, qy = shape->vertex_B[k + 1].y - o.y;
        double cross = px * qy - py * qx;
        A += 0.5 * cross;
        sx += cross * (px + qx) / 6.0;
        sy += cross * (py + qy) / 6.0;
        J += cross * (px * px + px * qx + qx * qx + py * py + py * qy + qy * qy) / 12.0;
    }
    *area = A;
    *centroid = (pp_vec2){o.x + sx / A, o.y + sy / A};
    *moment = J - (sx * sx + sy * sy) / A;
}

// The moment is the polar one, which a planar body turns with.
bool pp_shape_area(const pp_shape *shape, double *area, pp_vec2 *centroid, double *moment)
{
    double r = shape->radius, l = shape->half;
    *centroid = shape->p_BS;
    switch (shape->kind) {
    case PERP_SHAPE_DISC:
        *area = PI * r * r;
        *moment = 0.5 * *area * r * r;
        return true;
    case PERP_SHAPE_POLYGON:
        polygon_area(shape, area, centroid, moment);
        return true;
    case PERP_SHAPE_CAPSULE: {
        // A rectangle and two half discs, whose centroids are 4 r / 3 pi from their diameters.
        double box = 4.0 * l * r, caps = PI * r * r, off = 4.0 * r / (3.0 * PI);
        *area = box + caps;
        *moment = box * (l * l + r * r) / 3.0 + 0.5 * caps * r * r - caps * off * off +
                  caps * (l + off) * (l + off);
        return true;
    }
    default:
        break;
    }
    return false;
}
