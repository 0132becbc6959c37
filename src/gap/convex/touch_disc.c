// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Round faces: eight points of the rim stand for a disc when faces are cut, which leaves out what is
// between them and the rim. Here is a point of what two faces share for when that is all they share.
#include "gap/convex/narrow.h"

// The point of a segment or convex polygon nearest to c, all seen along n (distances across n only). It is on the
// patch, so it has the height of the patch along n, not that of c.
static perp_vec3 nearest_point(const pp_patch *patch, perp_vec3 c, perp_vec3 n)
{
    perp_vec3 best = patch->x[0];
    double least = PP_INF;
    bool inside = patch->count > 2;
    // sides are counter-clockwise from outside: clockwise where the face looks against n
    double turn = patch->count > 2 && pp_dot3(patch->n, n) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < patch->count; k++) {
        perp_vec3 x = patch->x[k], side = pp_sub(patch->x[k + 1 < patch->count ? k + 1 : 0], x);
        perp_vec3 seen = pp_along(side, -pp_dot3(side, n), n), d = pp_sub(c, x);
        double length2 = pp_dot3(seen, seen);
        double t = length2 > 0.0 ? fmin(fmax(pp_dot3(d, seen) / length2, 0.0), 1.0) : 0.0;
        perp_vec3 off = pp_along(d, -t, side);
        off = pp_along(off, -pp_dot3(off, n), n);
        inside = inside && turn * pp_dot3(n, pp_cross(seen, d)) >= 0.0;
        if (pp_dot3(off, off) < least) {
            least = pp_dot3(off, off);
            best = pp_along(x, t, side);
        }
    }
    if (inside) {
        // c itself, moved along n to the plane of the face
        double along = pp_dot3(patch->n, pp_sub(patch->x[0], c)) / pp_dot3(patch->n, n);
        best = pp_along(c, along, n);
    }
    return best;
}

// Of two discs: the middle of what they share of the line between their centres.
static perp_vec3 between_discs(const pp_patch *a, const pp_patch *b, perp_vec3 n)
{
    perp_vec3 d = pp_sub(b->centre, a->centre);
    d = pp_along(d, -pp_dot3(d, n), n);
    double length = sqrt(pp_dot3(d, d));
    double low = fmax(0.0, length - b->disc), high = fmin(a->disc, length);
    return pp_along(a->centre, length > 0.0 ? 0.5 * (low + high) / length : 0.0, d);
}

// m->common is a point on the core of a, with b right across it at the distance s(n). A point found on b is moved
// back along n by that distance. m->s includes the rounds of both patches here.
bool pp_clip_common(pp_manifold3 *m, const pp_patch *a, const pp_patch *b)
{
    if (a->disc > 0.0 && b->disc > 0.0) {
        m->common = between_discs(a, b, m->n);
    } else if (a->disc > 0.0 && b->count > 1) {
        m->common = pp_along(nearest_point(b, a->centre, m->n), m->round_a - m->s, m->n);
    } else if (b->disc > 0.0 && a->count > 1) {
        m->common = pp_along(nearest_point(a, b->centre, m->n), m->round_a, m->n);
    } else {
        return false;
    }
    return true;
}
