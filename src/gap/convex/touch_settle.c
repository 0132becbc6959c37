// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A better normal where the closest points that belong to one are beside their solids.
//
// With D = b - a, the normal n of the gap is right where the origin's nearest point of the boundary of D is s n: in words,
// once b is moved along n until the two are apart by some lift, n is also the normal of their distance. So
//
//     n <- normal of the distance of a and b + (lift - s(n)) n                                        (T2)
//
// has the right normals as its fixed points. Each round solves a pair that is apart, which is convex and has one
// answer. It does not lower s(n): with m the new normal and the distance delta >= lift, s(m) = delta - (lift - s(n)) m.n,
// which is s(n) at least. Where D is flat or has kinks one round is enough; where it is curved with a
// radius R, errors shrink by (lift - s) / (lift + R) a round, until the features are known and Newton's method ends it.
#include "gap/convex/narrow.h"

// |v|, the distance that GJK found to 1e-6, is an upper bound of s(n). A polished normal that falls short of it
// has missed a feature: look within a wider turn, then search by EPA.
double pp_curved_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 v,
                            perp_vec3 *n)
{
    double length = pp_length(v), slack = 1e-5 * length + 1e-11 * (a->size + b->size);
    *n = pp_unit(v, *n);
    double s = pp_refine_axis(a, b, false, 0.03, n);
    if (s < length - slack) {
        s = pp_refine_axis(a, b, false, 0.2, n);
    }
    if (s < length - slack) {
        s = pp_epa(a, b, false, true, n);
    }
    return s;
}

// The best of what features within several angles allow: of those within a wide one there may be too many to look at.
static perp_vec3 polish_again(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap,
                              perp_vec3 n)
{
    static const double TURN[4] = {1e-6, 1e-4, 3e-3, 0.1};  // [rad]
    perp_vec3 best = n;
    double most = -PP_INF;
    for (int k = 0; k < 4; k++) {
        perp_vec3 try = n;
        double s = pp_refine_axis(a, b, overlap, TURN[k], &try);
        if (s > most + 1e-15 * (a->size + b->size)) {
            most = s;
            best = try;
        }
    }
    return best;
}

// The spots of the pair along n, and how good they are.
typedef struct settled {
    pp_manifold3 m;
    double s, off;
} settled;

static void meet_along(settled *w, const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n,
                       double margin, const pp_simplex *found)
{
    w->s = pp_core_separation(a, b, n);
    pp_manifold3_build(&w->m, a, b, n, w->s, margin);
    pp_manifold3_add_closest(&w->m, a, b, found);
    w->off = pp_manifold3_stray(&w->m, a, b);
}

// One round of (T2). False: they are not apart even so.
static bool lift_off(const pp_placed_solid *a, const pp_placed_solid *b, double s, perp_vec3 *n,
                     pp_simplex *simplex)
{
    double small = fmin(a->size, b->size), size = a->size + b->size;
    double lift = fmax(s, fmax(1e-3 * small, 1e-5 * size));
    pp_placed_solid up = *b;
    up.p = pp_along(b->p, lift - s, *n);
    if (pp_gjk(simplex, a, &up, *n, PP_INF, 1e-13) != PP_GJK_APART) {
        return false;
    }
    // the simplex is of the lifted b: bring its points of b back to where b is
    perp_vec3 back = pp_scale(s - lift, *n);
    for (int k = 0; k < simplex->count; k++) {
        simplex->y[k] = pp_add(simplex->y[k], back);
    }
    *n = polish_again(a, &up, false, pp_unit(simplex->v, *n));
    if (s < 0.0) {
        *n = polish_again(a, b, true, *n);
    }
    return true;
}

void pp_manifold3_refine_normal(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    const double size = a->size + b->size, tie = 1e-13 * size;
    settled now;
    perp_vec3 n = m->n;
    double s = m->s - m->round_a - m->round_b, off = pp_manifold3_stray(m, a, b);
    double most = m->margin + a->radius + b->radius;
    for (int round = 0; round < 24; round++) {
        if (!(s <= most && off > pp_manifold3_stray_tolerance(m))) {
            return;  // beyond the margin, or the witness points are on their solids
        }
        pp_simplex simplex;
        if (!lift_off(a, b, s, &n, &simplex)) {
            return;
        }
        meet_along(&now, a, b, n, m->margin, &simplex);
        // a better axis, or an equal one with better witness points
        if (now.s > s + tie || (now.s > s - tie && now.off < off)) {
            *m = now.m;
            off = now.off;
        }
        s = fmax(s, now.s);
    }
}
