// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Touching points of a mesh: equals merged, many reduced to a few that span the same.
//
// Every triangle near a solid may add points, and neighbours add the same ones along their common edge. A contact that
// rests needs the corners of the polygon that its points span: points inside carry nothing that the corners cannot, and
// would only make the impulses less unique.
#include "gap/mesh/mesh_spots.h"

enum { KEEP = PP_SPOTS_MAX / 3 };  // of a full list: room for what the next triangles add

// How different two points are [m]: apart in place, or in direction, a right angle counting as the size of the solid.
static double spot_distance(const pp_mesh_manifold *s, const pp_touch_point *a,
                            const pp_touch_point *b)
{
    return pp_length(pp_sub(a->x_a, b->x_a)) + s->size * pp_length(pp_sub(a->n, b->n));
}

// Brings to the front `keep` points: the closest, then again and again the one that is most different from those taken.
static void select_spread_points(pp_mesh_manifold *s, int keep)
{
    double from[PP_SPOTS_MAX];  // how different a point is from the nearest of those taken
    int most = s->count < keep ? s->count : keep;
    for (int taken = 0; taken < most; taken++) {
        int best = taken;
        for (int k = taken; k < s->count; k++) {
            bool better = taken == 0 ? s->spot[k].gap < s->spot[best].gap : from[k] > from[best];
            if (better) {
                best = k;
            }
        }
        pp_touch_point touch = s->spot[best];
        s->spot[best] = s->spot[taken];
        s->spot[taken] = touch;
        if (taken > 0) {
            from[best] = from[taken];
        }
        for (int k = taken + 1; k < s->count; k++) {
            double d = spot_distance(s, &touch, &s->spot[k]);
            from[k] = taken == 0 ? d : fmin(from[k], d);
        }
    }
    s->count = most;
}

// The same place and direction to a millionth of the size: a point of a common edge, found from both sides.
void pp_mesh_manifold_add(pp_mesh_manifold *s, const pp_touch_point *touch)
{
    const double same = 1e-6;
    for (int k = 0; k < s->count; k++) {
        if (spot_distance(s, &s->spot[k], touch) <= same * s->size) {
            return;
        }
    }
    if (s->count == PP_SPOTS_MAX) {
        select_spread_points(s, KEEP);
    }
    s->spot[s->count++] = *touch;
}

// ── Points with one normal: those inside the others bear nothing of their own ────────────────────

typedef struct flat_spot {
    double x, y, gap;  // across the normal, from one of the points [m]
    int of;            // index in pp_mesh_manifold
} flat_spot;

// How far b is to the right of the way from a to c: what a polygon loses without b.
static double bulge(const flat_spot *a, const flat_spot *b, const flat_spot *c)
{
    double x = c->x - a->x, y = c->y - a->y, length = pp_hypot(x, y);
    double cross = (b->x - a->x) * y - (b->y - a->y) * x;
    return length > 0.0 ? cross / length : pp_hypot(b->x - a->x, b->y - a->y);
}

// Points of the same normal as spot k that are not done yet, in the plane across it.
static int project_to_plane(const pp_mesh_manifold *s, int k, const bool *done, flat_spot *p)
{
    const double same = 1e-6;
    perp_vec3 n = s->spot[k].n, e = pp_across(n), f = pp_cross(n, e);
    int count = 0;
    for (int i = k; i < s->count; i++) {
        if (done[i] || pp_length(pp_sub(s->spot[i].n, n)) > same) {
            continue;
        }
        perp_vec3 d = pp_sub(s->spot[i].x_a, s->spot[k].x_a);
        p[count++] = (flat_spot){pp_dot3(d, e), pp_dot3(d, f), s->spot[i].gap, i};
    }
    return count;
}

// The spot furthest from spot `from`, or that one itself where all are in one place.
static int furthest_spot(const flat_spot *p, int count, int from)
{
    int best = from;
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        double d = pp_hypot(p[k].x - p[from].x, p[k].y - p[from].y);
        if (d > most) {
            best = k;
        }
        most = fmax(most, d);
    }
    return best;
}

// Marks the corners of the polygon around the points. It begins as the longest way across, there and back; every
// side takes in the point that is furthest outside, until none is (quickhull in the plane).
static void mark_corners(const flat_spot *p, int count, double slack, bool *corner)
{
    int polygon[PP_SPOTS_MAX + 1] = {furthest_spot(p, count, 0)}, length = 1;
    int other = furthest_spot(p, count, polygon[0]);
    if (other != polygon[0]) {
        polygon[length++] = other;
    }
    int k = 0;  // the side from polygon[k] to the next
    while (k < length && length < count) {
        const flat_spot *from = &p[polygon[k]], *to = &p[polygon[(k + 1) % length]];
        int best = -1;
        double most = slack;
        for (int i = 0; i < count; i++) {
            double out = bulge(from, &p[i], to);
            if (out > most) {
                best = i;
            }
            most = fmax(most, out);
        }
        if (best < 0) {
            k++;  // nothing is outside this side
            continue;
        }
        // the point becomes a corner after k, and both new sides are looked at in turn
        for (int i = length++; i > k + 1; i--) {
            polygon[i] = polygon[i - 1];
        }
        polygon[k + 1] = best;
    }
    for (int i = 0; i < length; i++) {
        corner[polygon[i]] = true;
    }
}

// Drops points inside or on the sides of the polygon of those with the same normal, but for one that is closer than
// its corners.
static void drop_inner(pp_mesh_manifold *s)
{
    const double slack = 1e-6 * s->size, closer = 1e-9 * s->size;
    bool done[PP_SPOTS_MAX] = {false}, drop[PP_SPOTS_MAX] = {false};
    for (int k = 0; k < s->count; k++) {
        flat_spot p[PP_SPOTS_MAX];
        bool corner[PP_SPOTS_MAX] = {false};
        if (done[k]) {
            continue;
        }
        // all points with the normal of spot k, and the corners of the polygon around them
        int count = project_to_plane(s, k, done, p);
        mark_corners(p, count, slack, corner);
        double least = PP_INF;
        for (int i = 0; i < count; i++) {
            done[p[i].of] = true;
            if (corner[i]) {
                least = fmin(least, p[i].gap);
            }
        }
        for (int i = 0; i < count; i++) {
            drop[p[i].of] = !corner[i] && p[i].gap >= least - closer;
        }
    }
    int kept = 0;
    for (int k = 0; k < s->count; k++) {
        if (!drop[k]) {
            s->spot[kept++] = s->spot[k];
        }
    }
    s->count = kept;
}

// At most PP_TOUCH_MAX - 1 points, the closest first.
int pp_mesh_manifold_write(pp_mesh_manifold *s, pp_touch_point out[PP_TOUCH_MAX])
{
    drop_inner(s);
    select_spread_points(s, PP_TOUCH_MAX - 1);
    // features are hashes: equal ones are counted up, in the order of the points
    for (int k = 0; k < s->count; k++) {
        out[k] = s->spot[k];
        for (int i = 0; i < k; i++) {
            if (out[i].feature == out[k].feature) {
                out[k].feature++;
                i = -1;  // look at all of them again
            }
        }
    }
    return s->count;
}
