// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Witness points where the patches give none: a flat face along a tangent of a rim, or a feature thinner
// than roundoff.
#include "gap/convex/narrow.h"

// The distances below are lower bounds: exact next to a face, too small next to an edge or a vertex.

static double box_outside(perp_vec3 x, perp_vec3 h)
{
    return fmax(fabs(x.x) - h.x, fmax(fabs(x.y) - h.y, fabs(x.z) - h.z));
}

static double hull_outside(const pp_hull *hull, perp_vec3 x)
{
    double most = -PP_INF;
    for (int f = 0; f < hull->faces; f++) {
        perp_vec3 on = hull->vertex[hull->corner[hull->face_first[f]]];
        most = fmax(most, pp_dot3(hull->face_normal[f], pp_sub(x, on)));
    }
    return most;
}

// (|x/S| - 1) / |grad|: the distance to first order.
static double ellipsoid_outside(perp_vec3 x, perp_vec3 h)
{
    perp_vec3 t = pp_vec(x.x / h.x, x.y / h.y, x.z / h.z);
    double length = sqrt(pp_dot3(t, t));
    t = pp_vec(t.x / h.x, t.y / h.y, t.z / h.z);
    return length > 1.0 ? (length - 1.0) * length / sqrt(pp_dot3(t, t)) : 0.0;
}

// How far a point is outside a core, at least [m]; 0 or less: it is inside. point: in world axes, as s->p.
static double outside_core(const pp_placed_solid *s, perp_vec3 point)
{
    const pp_solid *solid = s->solid;
    perp_vec3 x = pp_mul_t(&s->R, pp_sub(point, s->p)), h = solid->half;
    double across = hypot(x.x, x.y), r = solid->radius;
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        return pp_length(x);
    case PP_SOLID_CAPSULE:
        return hypot(across, fmax(0.0, fabs(x.z) - h.z));
    case PP_SOLID_BOX:
        return box_outside(x, h);
    case PP_SOLID_CYLINDER:
        return fmax(across - r, fabs(x.z) - h.z);
    case PP_SOLID_CONE:  // base at z = -h, slanted side with the normal (2 h, r) / slant in (across, z)
        return fmax(-h.z - x.z, (2.0 * h.z * across + r * (x.z - h.z)) / hypot(2.0 * h.z, r));
    case PP_SOLID_ELLIPSOID:
        return ellipsoid_outside(x, h);
    case PP_SOLID_HULL:
        return hull_outside(solid->hull, x);
    case PP_SOLID_HALFSPACE:
        return x.z;
    }
    return 0.0;
}

// How far the points of a spot, which are on the rounded surfaces, are outside their solids.
static double off_of(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                     perp_vec3 x, double gap)
{
    return fmax(0.0, fmax(outside_core(a, x) - a->radius,
                          outside_core(b, pp_along(x, gap, m->n)) - b->radius));
}

// The closest spot; -1: there is none.
static int lowest(const pp_manifold3 *m)
{
    int best = -1;
    for (int k = 0; k < m->count; k++) {
        if (best < 0 || m->spot[k].gap < m->spot[best].gap) {
            best = k;
        }
    }
    return best;
}

double pp_manifold3_stray(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    int k = lowest(m);
    double bound = m->s - m->radius_a - m->radius_b;
    // s(n) is a lower bound of the gap: a spot above it is not a pair of closest points
    if (k < 0 || m->spot[k].gap > bound + 1e-13 * m->size + pp_meet_level(m)) {
        return PP_INF;
    }
    return off_of(m, a, b, m->spot[k].x, m->spot[k].gap);
}

double pp_manifold3_stray_tolerance(const pp_manifold3 *m)
{
    return 0.02 * m->merge + 1e-12 * m->size;
}

// Takes the place of the closest spot, and of those that are at the same place.
static void put_closest(pp_manifold3 *m, perp_vec3 x, double gap)
{
    int kept = 0, old = lowest(m);
    for (int k = 0; k < m->count; k++) {
        perp_vec3 d = pp_sub(x, m->spot[k].x);
        d = pp_along(d, -pp_dot3(d, m->n), m->n);
        if (k != old && pp_dot3(d, d) > m->merge * m->merge) {
            m->spot[kept++] = m->spot[k];
        }
    }
    m->count = kept;
    pp_manifold3_put(m, x, gap, 0.0, pp_manifold3_feature(PP_MANIFOLD_EDGES, 0, 0));
}

// Candidates for the witness point of a, each with its partner at the distance s along n: the support point of
// either, the common point of level faces, the points that GJK found. The one that is least outside the two
// solids is taken, if it is better than the spot there is.
void pp_manifold3_add_closest(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                              const pp_simplex *found)
{
    perp_vec3 n = m->n, x[4], y;
    double s = m->s - m->round_a - m->round_b, gap = s - a->radius - b->radius;
    double least = pp_manifold3_stray(m, a, b);
    int count = 2, best = -1;
    if (least <= pp_manifold3_stray_tolerance(m)) {
        return;
    }
    // all as points of a's core: those of b are moved back along n by s
    x[0] = pp_core_support(a, n);
    x[1] = pp_along(pp_core_support(b, pp_scale(-1.0, n)), -s, n);
    if (m->flat) {
        x[count++] = m->common;
    }
    if (found) {
        // GJK's points are apart by |v|, not s, and not exactly along n: take the middle, s / 2 to each side
        pp_simplex_points(found, &x[count], &y);
        x[count] = pp_along(pp_scale(0.5, pp_add(x[count], y)), -0.5 * s, n);
        count++;
    }
    for (int k = 0; k < count; k++) {
        x[k] = pp_along(x[k], a->radius, n);  // from the core to the rounded surface
        double off = off_of(m, a, b, x[k], gap);
        if (off < least) {
            least = off;
            best = k;
        }
    }
    if (best >= 0) {
        put_closest(m, x[best], gap);
    }
}
