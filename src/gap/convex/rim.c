// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact outline of what two faces share where one of them is round.
//
// A manifold has eight points of a rim at most. A body that tips over the rim of its base does so about a point
// between them, and which one that is depends on the motion. This finds it: of the region that two faces share, seen
// along their normal, the point furthest along a direction, or the point of its edge nearest to another one. The region
// is convex and bounded by arcs and straight sides, so that point is one of an arc, of a side, a corner of a polygon,
// or a place where the two outlines cross.
#include "gap/convex/narrow.h"

// Cosine short of 1, and sine: faces that are less out of parallel are flat on each other.
static const double LEVEL = 1e-8;

// A face seen along n: a disc, a convex polygon, or a whole plane.
typedef struct rim_face {
    bool endless;
    pp_patch patch;
} rim_face;

// The face of s that looks along d, if it is flat on it. d: unit, outward.
static bool set_face(rim_face *out, const pp_placed_solid *s, perp_vec3 d)
{
    out->endless = s->solid->kind == PP_SOLID_HALFSPACE;
    if (out->endless) {
        return pp_dot3(pp_mat3_column(&s->R, 2), d) > 1.0 - LEVEL;
    }
    pp_patch_set(&out->patch, s, d);
    if (out->patch.count < 3) {
        return false;
    }
    perp_vec3 off = pp_cross(out->patch.n, d);
    return pp_dot3(off, off) < LEVEL * LEVEL;
}

// Across n only.
static perp_vec3 seen(perp_vec3 v, perp_vec3 n)
{
    return pp_along(v, -pp_dot3(v, n), n);
}

// Whether x, seen along n, is on the face or beside it by no more than slack [m].
static bool is_inside(const rim_face *f, perp_vec3 x, perp_vec3 n, double slack)
{
    const pp_patch *p = &f->patch;
    if (f->endless) {
        return true;
    }
    if (p->disc > 0.0) {
        return pp_length(seen(pp_sub(x, p->centre), n)) <= p->disc + slack;
    }
    for (int k = 0; k < p->count; k++) {
        perp_vec3 y = p->x[k], z = p->x[k + 1 < p->count ? k + 1 : 0];
        perp_vec3 out = pp_unit(pp_cross(pp_sub(z, y), p->n), n);
        if (pp_dot3(out, pp_sub(x, y)) > slack) {
            return false;
        }
    }
    return true;
}

// What is searched for, and what was found.
typedef struct search {
    perp_vec3 n;
    bool nearest;   // to a place; else furthest along a direction
    perp_vec3 aim;  // the place, or the direction (unit, across n)
    double slack;   // [m]
    bool found;
    perp_vec3 x;
    double good;
} search;

// Candidates are points on the edge of the shared region; the best one is kept, the first of equals.
static void offer_point(search *s, perp_vec3 x)
{
    double good = s->nearest ? -pp_length(seen(pp_sub(x, s->aim), s->n)) : pp_dot3(s->aim, x);
    if (!s->found || good > s->good) {
        s->found = true;
        s->x = x;
        s->good = good;
    }
}

// Where the side from y along `side` crosses the disc's rim.
static void offer_rim_crossings(search *s, const pp_patch *disc, perp_vec3 y, perp_vec3 side)
{
    perp_vec3 from = seen(pp_sub(y, disc->centre), s->n), way = seen(side, s->n);
    double ww = pp_dot3(way, way), fw = pp_dot3(from, way);
    double left = fw * fw - ww * (pp_dot3(from, from) - disc->disc * disc->disc);
    if (!(left >= 0.0 && ww > 0.0)) {
        return;  // passes by
    }
    // |from + t way| = radius, the two roots
    for (int sign = -1; sign <= 1; sign += 2) {
        double t = (-fw + sign * sqrt(left)) / ww;
        if (t >= 0.0 && t <= 1.0) {
            offer_point(s, pp_along(pp_add(disc->centre, from), t, way));
        }
    }
}

// Where two rims cross.
static void offer_rims(search *s, const pp_patch *p, const pp_patch *q)
{
    perp_vec3 between = seen(pp_sub(q->centre, p->centre), s->n);
    double c = pp_length(between);
    // c^2 - 2 c along = r_q^2 - r_p^2: the chord through both crossings is at this distance from p's centre
    double along = c > 0.0 ? 0.5 * (c + (p->disc - q->disc) * (p->disc + q->disc) / c) : 0.0;
    double up2 = p->disc * p->disc - along * along;
    if (!(c > 0.0) || up2 < 0.0) {
        return;
    }
    perp_vec3 e = pp_scale(1.0 / c, between), f = pp_cross(s->n, e);
    for (int sign = -1; sign <= 1; sign += 2) {
        offer_point(s, pp_along(pp_along(p->centre, along, e), sign * sqrt(up2), f));
    }
}

// The point of a rim that is furthest along the aim, or nearest to it.
static perp_vec3 best_of_rim(const search *s, const pp_patch *disc)
{
    perp_vec3 way = s->nearest ? seen(pp_sub(s->aim, disc->centre), s->n) : s->aim;
    return pp_along(disc->centre, disc->disc, pp_unit(way, pp_across(s->n)));
}

// The same of a side from x; the furthest point of a polygon is a corner.
static perp_vec3 best_of_side(const search *s, perp_vec3 x, perp_vec3 side)
{
    perp_vec3 way = seen(side, s->n);
    double ww = pp_dot3(way, way), t = ww > 0.0 ? pp_dot3(way, pp_sub(s->aim, x)) / ww : 0.0;
    return s->nearest ? pp_along(x, fmin(fmax(t, 0.0), 1.0), side) : x;
}

// Points of the outline of f that are on the other face, and crossings of its sides with the other's rim.
static void offer_outline(search *s, const rim_face *f, const rim_face *other)
{
    const pp_patch *p = &f->patch;
    if (f->endless) {
        return;  // a plane has no outline
    }
    int sides = p->disc > 0.0 ? 1 : p->count;
    for (int k = 0; k < sides; k++) {
        perp_vec3 side = pp_sub(p->x[k + 1 < p->count ? k + 1 : 0], p->x[k]);
        perp_vec3 x = p->disc > 0.0 ? best_of_rim(s, p) : best_of_side(s, p->x[k], side);
        if (is_inside(other, x, s->n, s->slack)) {
            offer_point(s, x);
        }
        if (p->disc == 0.0 && !other->endless && other->patch.disc > 0.0) {
            offer_rim_crossings(s, &other->patch, p->x[k], side);
        }
    }
}

static bool is_disc(const rim_face *f)
{
    return !f->endless && f->patch.disc > 0.0;
}

bool pp_solid_rim(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                  perp_vec3 n, bool nearest, perp_vec3 aim, perp_vec3 *x)
{
    perp_vec3 origin = a->kind == PP_SOLID_HALFSPACE ? X_WB->p : X_WA->p;
    pp_placed_solid pa = pp_place_solid(a, X_WA, origin), pb = pp_place_solid(b, X_WB, origin);
    search s = {.n = n, .nearest = nearest};
    rim_face fa, fb;
    pa.size = pp_core_size(a);
    pb.size = pp_core_size(b);
    s.slack = 1e-12 * (pa.size + pb.size);
    s.aim = nearest ? pp_sub(aim, origin) : pp_unit(seen(aim, n), pp_across(n));
    // polygons alone need no search: the corners of what they share are in the manifold
    if (!set_face(&fa, &pa, n) || !set_face(&fb, &pb, pp_scale(-1.0, n)) ||
        !(is_disc(&fa) || is_disc(&fb))) {
        return false;
    }
    offer_outline(&s, &fa, &fb);
    offer_outline(&s, &fb, &fa);
    if (is_disc(&fa) && is_disc(&fb)) {
        offer_rims(&s, &fa.patch, &fb.patch);
    }
    *x = pp_add(origin, s.x);
    return s.found;
}
