// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The narrow phase: which method finds the normal of which pair.
//
//   half-space and any    the plane's normal
//   spheres, capsules     closest points of two segments
//   boxes (and a sphere   separating axis test; GJK where a vertex is closest to an edge or a vertex
//   or capsule)
//   hulls                 GJK where they are apart, separating axes where they overlap
//   cylinders, cones,     likely axes first, then the normal of a moment ago, then GJK where they are apart
//   ellipsoids            or EPA where they overlap; always ended by Newton's method (normal.c)
//
// Coordinates are world axes with the origin at one of the solids, so that nothing is lost far from the world's
// origin. Normals point from a to b.
#include "gap/convex/narrow.h"

static const perp_vec3 UP = {0.0, 0.0, 1.0};

// ── Half-spaces ──────────────────────────────────────────────────────────────────────────────────

// Every vertex of the patch against the plane, in closed form.
static void touch_halfspace(pp_manifold3 *m, const pp_placed_solid *s, const pp_placed_solid *plane,
                            bool plane_is_a, double margin)
{
    perp_vec3 up = pp_mat3_column(&plane->R, 2), down = pp_scale(-1.0, up);
    pp_patch patch;
    pp_patch_set(&patch, s, down);
    if (patch.facing < 0.5) {  // tilted by more than 60 degrees: its edge or vertex alone
        pp_patch_narrow(&patch, s, down);
    }
    if (plane_is_a) {
        pp_manifold3_begin(m, plane, s, up, margin);
        m->radius_b += patch.round;
    } else {
        pp_manifold3_begin(m, s, plane, down, margin);
        m->radius_a += patch.round;
    }
    m->merge = 1e-7 * s->size;  // a half-space has no size, which pp_manifold3_begin would take
    for (int k = 0; k < patch.count; k++) {
        perp_vec3 x = patch.x[k];
        double height = pp_dot3(up, pp_sub(x, plane->p));
        perp_vec3 y = pp_along(x, -height, up);
        if (plane_is_a) {
            pp_manifold3_add(m, y, x, 0.0,
                             pp_manifold3_feature(PP_MANIFOLD_FACE_VERTEX, 0, patch.id[k]));
        } else {
            pp_manifold3_add(m, x, y, 0.0,
                             pp_manifold3_feature(PP_MANIFOLD_VERTEX_FACE, patch.id[k], 0));
        }
    }
}

// ── Points and segments ──────────────────────────────────────────────────────────────────────────

// Half the segment a core is: nothing for a point.
static perp_vec3 segment_of(const pp_placed_solid *s)
{
    double half = s->solid->kind == PP_SOLID_CAPSULE ? s->solid->half.z : 0.0;
    return pp_scale(half, pp_mat3_column(&s->R, 2));
}

// Parameters of a segment run from -1 to 1, from its middle.
static double clamp(double x)
{
    return fmin(fmax(x, -1.0), 1.0);
}

// Closest points a->p + t d and b->p + r e of two segments, t and r in [-1, 1]. between = b->p - a->p.
// t of the infinite lines first, clamped; then r for that t, t for that r, each clamped (Ericson 2005, 5.1.9).
static void closest_of_segments(perp_vec3 between, perp_vec3 d, perp_vec3 e, double *t, double *r)
{
    double dd = pp_dot3(d, d), ee = pp_dot3(e, e), de = pp_dot3(d, e);
    double db = pp_dot3(d, between), eb = pp_dot3(e, between);
    perp_vec3 across = pp_cross(d, e);
    double det = pp_dot3(across, across);  // dd ee - de^2, without cancellation
    *t = 0.0;
    if (det > 1e-28 * dd * ee) {
        *t = clamp(pp_dot3(pp_cross(between, e), across) / det);
    } else if (dd > 0.0) {
        *t = clamp(db / dd);
    }
    *r = ee > 0.0 ? clamp((*t * de - eb) / ee) : 0.0;
    *t = dd > 0.0 ? clamp((db + *r * de) / dd) : 0.0;
    *r = ee > 0.0 ? clamp((*t * de - eb) / ee) : 0.0;
}

// s(n) of two segments of half lengths d and e: in closed form, h(n) = |n.d| around the middle.
static double part_segments(perp_vec3 between, perp_vec3 d, perp_vec3 e, perp_vec3 n)
{
    return pp_dot3(n, between) - fabs(pp_dot3(n, d)) - fabs(pp_dot3(n, e));
}

// The normal of segments that all but touch, where the way from one closest point to the other is roundoff: across
// both of them, or across the longer one where they are parallel.
static double part_touching(perp_vec3 between, perp_vec3 d, perp_vec3 e, perp_vec3 *n)
{
    perp_vec3 across = pp_cross(d, e), longer = pp_dot3(d, d) >= pp_dot3(e, e) ? d : e, way = UP;
    if (pp_dot3(across, across) > 1e-24 * pp_dot3(d, d) * pp_dot3(e, e)) {
        way = pp_unit(across, UP);
        way = pp_unit(pp_along(way, -pp_dot3(way, longer) / pp_dot3(longer, longer), longer), UP);
    } else if (pp_dot3(longer, longer) > 0.0) {
        way = pp_across(pp_unit(longer, UP));
    }
    if (pp_dot3(way, between) < 0.0) {
        way = pp_scale(-1.0, way);
    }
    double s = part_segments(between, d, e, way), given = part_segments(between, d, e, *n);
    if (s >= given) {
        *n = way;
    }
    // segments have no inside: their distance is 0 at least
    return fmax(0.0, fmax(s, given));
}

// The way between the closest points is the normal where it is long enough to have a direction. Where the segments
// cross between their ends, d x e is the same normal without cancellation.
static void touch_segments(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                           double margin)
{
    perp_vec3 d = segment_of(a), e = segment_of(b), between = pp_sub(b->p, a->p);
    double t, r;
    closest_of_segments(between, d, e, &t, &r);
    perp_vec3 x = pp_along(a->p, t, d), y = pp_along(b->p, r, e);
    perp_vec3 apart = pp_sub(pp_along(between, r, e), pp_scale(t, d));
    perp_vec3 across = pp_cross(d, e), n = pp_unit(apart, UP);
    double distance = pp_length(apart), size = a->size + b->size;
    bool inner = fabs(t) < 1.0 && fabs(r) < 1.0;
    if (inner && pp_dot3(across, across) > 1e-12 * pp_dot3(d, d) * pp_dot3(e, e)) {
        n = pp_unit(across, UP);
        distance = pp_dot3(n, apart);
        // from a to b; of segments that touch, to the side on which the middle of b is
        if (distance < 0.0 || (distance == 0.0 && pp_dot3(n, between) < 0.0)) {
            n = pp_scale(-1.0, n);
        }
        distance = fabs(distance);
    } else if (distance <= 1e-12 * (size + pp_length(between))) {
        distance = part_touching(between, d, e, &n);
    }
    if (distance - a->radius - b->radius > margin) {
        m->count = 0;
        return;
    }
    // parallel capsules get two points here; any other pair at least the closest one
    pp_manifold3_build(m, a, b, n, distance, margin);
    pp_manifold3_ensure(m, x, y, pp_manifold3_feature(PP_MANIFOLD_EDGES, 1, 1));
}

// ── Boxes ────────────────────────────────────────────────────────────────────────────────────────

// Of a point: the nearest point of the box, or inside it the nearest face. n from the box to the point.
static double point_box_axis(const pp_placed_solid *point, const pp_placed_solid *box, perp_vec3 *n)
{
    perp_vec3 c = pp_mul_t(&box->R, pp_sub(point->p, box->p)), h = box->solid->half;
    // c: the point in the frame of the box; out: what is left of it beyond the box
    perp_vec3 out = pp_vec(c.x - fmin(fmax(c.x, -h.x), h.x), c.y - fmin(fmax(c.y, -h.y), h.y),
                           c.z - fmin(fmax(c.z, -h.z), h.z));
    double distance = sqrt(pp_dot3(out, out));
    if (distance > 0.0) {
        *n = pp_mul(&box->R, pp_scale(1.0 / distance, out));
        return distance;
    }
    double x = fabs(c.x) - h.x, y = fabs(c.y) - h.y, z = fabs(c.z) - h.z;
    // inside: the face with the least depth, all three being negative; z before y before x in a tie
    if (z >= x && z >= y) {
        *n = pp_scale(copysign(1.0, c.z), pp_mat3_column(&box->R, 2));
        return z;
    }
    if (y >= x) {
        *n = pp_scale(copysign(1.0, c.y), pp_mat3_column(&box->R, 1));
        return y;
    }
    *n = pp_scale(copysign(1.0, c.x), pp_mat3_column(&box->R, 0));
    return x;
}

// A vertex is closest to an edge or a vertex: none of the axes of the separating axis test is the normal. GJK
// finds it; the manifold of the best axis stays where GJK's normal is no better.
static void touch_apart(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        double margin)
{
    pp_simplex simplex;
    double most = margin + a->radius + b->radius;
    pp_gjk_end end = pp_gjk(&simplex, a, b, m->n, most, 1e-13);
    if (end == PP_GJK_FAR) {
        m->count = 0;
    } else if (end == PP_GJK_APART) {
        perp_vec3 n = pp_unit(simplex.v, m->n);
        double s = pp_refine_axis(a, b, false, pp_length(simplex.v), 1e-2, &n);
        if (s < m->s) {
            return;
        }
        pp_manifold3_build(m, a, b, n, s, margin);
        pp_manifold3_add_closest(m, a, b, &simplex);
    }
}

// Boxes against boxes, capsules and spheres.
static void touch_boxes(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        double margin)
{
    perp_vec3 n;
    double most = margin + a->radius + b->radius, s;
    bool point_a = a->solid->kind == PP_SOLID_SPHERE, point_b = b->solid->kind == PP_SOLID_SPHERE;
    if (point_a) {
        s = point_box_axis(a, b, &n);
        n = pp_scale(-1.0, n);
    } else if (point_b) {
        s = point_box_axis(b, a, &n);
    } else {
        s = pp_box_separating_axis(a, b, most, &n);
    }
    m->count = 0;
    if (!(s <= most)) {
        return;
    }
    pp_manifold3_build(m, a, b, n, s, margin);
    if (s > 0.0 && !pp_manifold3_is_certified(m)) {
        touch_apart(m, a, b, margin);
    } else {
        pp_manifold3_add_closest(m, a, b, NULL);
        pp_manifold3_refine_normal(m, a, b);
    }
}

// ── Polyhedra ────────────────────────────────────────────────────────────────────────────────────

// At least one is a hull. Apart, GJK's normal is right once its points certify it; overlapping, or where they do
// not, the separating axis test goes through all faces and pairs of edges.
static void touch_hulls(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        double margin)
{
    pp_simplex simplex;
    perp_vec3 n = pp_unit(pp_sub(b->p, a->p), UP);
    double most = margin + a->radius + b->radius, s = -PP_INF;
    pp_gjk_end end = pp_gjk(&simplex, a, b, n, most, 1e-13);
    m->count = 0;
    if (end == PP_GJK_FAR) {
        return;
    }
    if (end == PP_GJK_APART) {
        n = pp_unit(simplex.v, n);
        s = pp_refine_axis(a, b, false, pp_length(simplex.v), 1e-2, &n);
        pp_manifold3_build(m, a, b, n, s, margin);
        if (pp_manifold3_is_certified(m)) {
            return;
        }
    }
    // GJK's points are |v| apart, and no axis separates by more: an axis that does needs no search
    if (!(end == PP_GJK_APART && s >= pp_length(simplex.v) - 1e-15 * (a->size + b->size))) {
        s = pp_hull_separating_axis(a, b, s, &n);
    }
    pp_manifold3_build(m, a, b, n, s, margin);
    pp_manifold3_add_closest(m, a, b, &simplex);
    pp_manifold3_refine_normal(m, a, b);
}

// ── Curved solids ────────────────────────────────────────────────────────────────────────────────

static const double SHALLOW = 1e-4;  // of the smaller one: overlap that has one normal only

// From the normal of a moment ago and the features within a turn of it. Apart, a normal that is certified is the only
// one; overlapping by so little, no other one parts them by much less.
static bool touch_within(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                         double margin, double turn, perp_vec3 n)
{
    double s = pp_refine_axis_near(a, b, turn, &n);
    m->count = 0;
    if (!(s > -SHALLOW * fmin(a->size, b->size)) || s > margin + a->radius + b->radius) {
        return false;
    }
    // where a rim meets a face or an edge, outlines have no corner at the closest points: these are the support points
    pp_manifold3_build(m, a, b, n, s, margin);
    pp_manifold3_add_closest(m, a, b, NULL);
    return pp_manifold3_is_certified(m) &&
           pp_manifold3_stray(m, a, b) <= pp_manifold3_stray_tolerance(m);
}

// A moment later the features are mostly the same, and few are that close: searches among all within the wide turn
// took half the time of a run.
static bool touch_as_before(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                            double margin, perp_vec3 n)
{
    return touch_within(m, a, b, margin, 1e-5, n) || touch_within(m, a, b, margin, 1e-3, n);
}

static const double NARROW = 1e-3;  // turn of a likely axis that is all but the normal [rad]

// From a likely axis, to which the normal is mostly close, where nothing beyond the turn parts them further. That their
// points certify a normal is not enough far from it: how far these are beside the solids is known from below only.
static bool touch_next_to(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                          double margin, perp_vec3 n)
{
    if (touch_within(m, a, b, margin, NARROW, n)) {
        double s = m->s - m->round_a - m->round_b;
        if (pp_deepest_within(a, b, m->n, s, NARROW)) {
            return true;
        }
    }
    m->count = 0;
    return false;
}

// Whether an axis whose points certify it is the normal of a moment ago, in an overlap that has one normal only. It is
// then not sought again: a rim on a face is as common as it is dear to search.
static bool is_as_before(const pp_placed_solid *a, const pp_placed_solid *b, double s, perp_vec3 n,
                         const perp_vec3 *near)
{
    return near && s > -SHALLOW * fmin(a->size, b->size) && pp_length(pp_sub(n, *near)) < 1e-5;
}

// At least one is a cylinder, a cone or an ellipsoid. From the cheap to the dear: each way ends the search only
// where the points it gives prove that no other normal is better (in a shallow overlap: not much better).
// near: the normal of a moment ago, or NULL.
static void touch_curved(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                         double margin, const perp_vec3 *near)
{
    pp_simplex simplex;
    perp_vec3 n = pp_unit(pp_sub(b->p, a->p), UP);
    double most = margin + a->radius + b->radius, s = pp_quick_separating_axis(a, b, &n);
    m->count = 0;
    if (s > most) {
        return;
    }
    // resting on a face or side by side: points at the distance s are a proof where they are apart; where they
    // overlap, the face has to be wide against the depth as well
    if (s > -1e-3 * fmin(a->size, b->size)) {
        pp_manifold3_build(m, a, b, n, s, margin);
        if (pp_manifold3_is_certified(m) &&
            pp_manifold3_stray(m, a, b) <= pp_manifold3_stray_tolerance(m) &&
            (s > 0.0 || pp_quick_deepest(m, a, b) || is_as_before(a, b, s, n, near))) {
            return;
        }
        // Rims that all but coincide have no corner at the deepest points, which are the support points then. That no other
        // axis is better does not depend on them.
        if (s <= 0.0 && pp_quick_deepest(m, a, b)) {
            pp_manifold3_add_closest(m, a, b, NULL);
            if (pp_manifold3_stray(m, a, b) <= pp_manifold3_stray_tolerance(m)) {
                return;
            }
        }
        m->count = 0;
    }
    if (near && touch_as_before(m, a, b, margin, *near)) {
        return;
    }
    if (touch_next_to(m, a, b, margin, n)) {
        return;
    }
    m->count = 0;
    pp_gjk_end end = pp_gjk(&simplex, a, b, n, most, 1e-6);
    if (end == PP_GJK_FAR) {
        return;
    }
    if (end == PP_GJK_APART) {
        s = pp_curved_separation(a, b, simplex.v, &n);
    } else {
        s = pp_epa(a, b, true, s > -PP_INF, &n);
    }
    if (s > most) {
        return;
    }
    pp_manifold3_build(m, a, b, n, s, margin);
    pp_manifold3_add_closest(m, a, b, &simplex);
    pp_manifold3_refine_normal(m, a, b);
}

// ── All pairs ────────────────────────────────────────────────────────────────────────────────────

// Kinds of cores: with curved sides; points and segments with a radius; the others are polyhedra.
static bool is_curved(const pp_solid *s)
{
    return s->kind == PP_SOLID_CYLINDER || s->kind == PP_SOLID_CONE ||
           s->kind == PP_SOLID_ELLIPSOID;
}

static bool is_round(const pp_solid *s)
{
    return s->kind == PP_SOLID_SPHERE || s->kind == PP_SOLID_CAPSULE;
}

// Pairs that have one point at most need no name for it.
static bool is_single(const pp_solid *s)
{
    return s->kind == PP_SOLID_SPHERE || s->kind == PP_SOLID_ELLIPSOID;
}

// Without anything known of the pair.
int pp_solid_touch(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                   double margin, pp_touch_point out[PP_TOUCH_MAX])
{
    return pp_solid_touch_near(a, X_WA, b, X_WB, margin, (pp_touch_hint){NULL, NULL}, out);
}

int pp_solid_touch_near(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b,
                        const pp_pose *X_WB, double margin, pp_touch_hint hint,
                        pp_touch_point out[PP_TOUCH_MAX])
{
    bool plane_a = a->kind == PP_SOLID_HALFSPACE, plane_b = b->kind == PP_SOLID_HALFSPACE;
    // differences of positions are taken near the solids; a half-space may be placed anywhere in its plane
    perp_vec3 origin = plane_a ? X_WB->p : X_WA->p;
    pp_placed_solid pa = pp_place_solid(a, X_WA, origin), pb = pp_place_solid(b, X_WB, origin);
    pp_manifold3 m;
    if (plane_a && plane_b) {
        return 0;
    }
    perp_vec3 rim = hint.rim ? pp_sub(*hint.rim, origin) : origin;
    pa.size = pp_core_size(a);
    pb.size = pp_core_size(b);
    pa.rim = pb.rim = hint.rim ? &rim : NULL;
    if (plane_a) {
        touch_halfspace(&m, &pb, &pa, true, margin);
    } else if (plane_b) {
        touch_halfspace(&m, &pa, &pb, false, margin);
    } else if (is_round(a) && is_round(b)) {
        touch_segments(&m, &pa, &pb, margin);
    } else if (is_curved(a) || is_curved(b)) {
        touch_curved(&m, &pa, &pb, margin, hint.n);
    } else if (a->kind == PP_SOLID_HULL || b->kind == PP_SOLID_HULL) {
        touch_hulls(&m, &pa, &pb, margin);
    } else {
        touch_boxes(&m, &pa, &pb, margin);
    }
    return m.count > 0 ? pp_manifold3_write(&m, is_single(a) || is_single(b), origin, out) : 0;
}

double pp_solid_separation(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b,
                           const pp_pose *X_WB, perp_vec3 n)
{
    pp_placed_solid pa = pp_place_solid(a, X_WA, X_WA->p), pb = pp_place_solid(b, X_WB, X_WA->p);
    return pp_core_separation(&pa, &pb, n) - pa.radius - pb.radius;
}

// What GJK says of the distance is not used: the axis is a proof by itself.
double pp_solid_part(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                     double most, perp_vec3 *n)
{
    pp_placed_solid pa = pp_place_solid(a, X_WA, X_WA->p), pb = pp_place_solid(b, X_WB, X_WA->p);
    pp_simplex simplex;
    pa.size = pp_core_size(a);
    pb.size = pp_core_size(b);
    *n = pp_unit(pp_sub(pb.p, pa.p), UP);
    if (pp_gjk(&simplex, &pa, &pb, *n, most + pa.radius + pb.radius, 1e-6) != PP_GJK_OVERLAP) {
        *n = pp_unit(simplex.v, *n);
    }
    return pp_core_separation(&pa, &pb, *n) - pa.radius - pb.radius;
}
