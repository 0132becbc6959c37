// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where two patches cover each other, seen along the normal.
//
// One convex outline is cut by the sides of the other (Sutherland and Hodgman). Corners of what is left are
// vertices of the one over the face of the other, and crossings of sides. Nothing is measured on the cut
// outline itself: a vertex keeps its exact place and is measured against the plane of the other face, a
// crossing is measured between the two sides, so that gaps are right to roundoff.
//
// The cutting outline is taken larger by a tolerance: boxes stacked edge on edge keep the vertices of one
// of them, instead of whatever crossings roundoff makes. Which one it is depends on the normal only, not on
// the order of the pair.
#include "gap/convex/narrow.h"

// One of two patches, in coordinates across the normal; turned so that it is counter-clockwise there.
typedef struct outline {
    const pp_patch *patch;
    bool is_a;
    int count;
    int index[PP_PATCH_MAX];  // in the patch
    double u[PP_PATCH_MAX], v[PP_PATCH_MAX];
} outline;

// A corner of the outline being cut. Edges are named by their first vertex: those of the cut outline 0..,
// those of the cutting one -1, -2, ...
typedef struct clip_corner {
    double u, v;
    double inside;  // the least distance from the sides that have cut so far
    int edge;       // that starts here
    int p, q;  // vertex q (p = -1); vertex p (q = -1); nothing (q = -2); crossing of edges p and q
} clip_corner;

enum { CORNER_MAX = 2 * PP_PATCH_MAX };

// Faces of a are counter-clockwise seen from outside, that is against n; those of b look the other way, so their order
// is turned round. Segments have no orientation.
static void project_patch(outline *o, const pp_patch *patch, bool is_a, const pp_manifold3 *m)
{
    o->patch = patch;
    o->is_a = is_a;
    o->count = patch->count;
    for (int k = 0; k < o->count; k++) {
        int i = is_a || patch->count == 2 ? k : o->count - 1 - k;
        o->index[k] = i;
        o->u[k] = pp_dot3(m->e, patch->x[i]);
        o->v[k] = pp_dot3(m->f, patch->x[i]);
    }
}

static int next_corner(const outline *o, int k)
{
    return k + 1 < o->count ? k + 1 : 0;
}

static perp_vec3 vertex_of(const outline *o, int k)
{
    return o->patch->x[o->index[k]];
}

static int id_of(const outline *o, int k)
{
    return o->patch->id[o->index[k]];
}

// ── Spots ────────────────────────────────────────────────────────────────────────────────────────

// A vertex of one over the face of the other: its partner is where the line through it along n meets the face's plane.
static void add_vertex(pp_manifold3 *m, const outline *of, int k, const outline *on, double stray)
{
    perp_vec3 x = vertex_of(of, k);
    double slope = pp_dot3(on->patch->n, m->n);
    double along = pp_dot3(on->patch->n, pp_sub(on->patch->x[0], x)) / slope;
    perp_vec3 y = pp_along(x, along, m->n);
    if (of->is_a) {
        pp_manifold3_add(
            m, x, y, stray,
            pp_manifold3_feature(PP_MANIFOLD_VERTEX_FACE, id_of(of, k), on->patch->face));
    } else {
        pp_manifold3_add(
            m, y, x, stray,
            pp_manifold3_feature(PP_MANIFOLD_FACE_VERTEX, on->patch->face, id_of(of, k)));
    }
}

// The point of edge k nearest to (u, v). Taken from the nearer end: an end itself comes out exactly.
static perp_vec3 edge_point(const outline *o, int k, double u, double v)
{
    int l = next_corner(o, k);
    double du = o->u[l] - o->u[k], dv = o->v[l] - o->v[k], length2 = du * du + dv * dv;
    double t = length2 > 0.0 ? ((u - o->u[k]) * du + (v - o->v[k]) * dv) / length2 : 0.0;
    perp_vec3 x = vertex_of(o, k), y = vertex_of(o, l);
    t = fmin(fmax(t, 0.0), 1.0);
    return t <= 0.5 ? pp_along(x, t, pp_sub(y, x)) : pp_along(y, 1.0 - t, pp_sub(x, y));
}

// Edge i of p crosses edge j of q, seen along n; x and y are the points of the two there.
static void add_crossing(pp_manifold3 *m, const outline *p, int i, const outline *q, int j,
                         const clip_corner *at)
{
    perp_vec3 x = edge_point(p, i, at->u, at->v), y = edge_point(q, j, at->u, at->v);
    int id_p = pp_edge_id(id_of(p, i), id_of(p, next_corner(p, i)));
    int id_q = pp_edge_id(id_of(q, j), id_of(q, next_corner(q, j)));
    perp_vec3 on_a = x, on_b = y;
    uint32_t feature = pp_manifold3_feature(PP_MANIFOLD_EDGES, id_p, id_q);
    if (!p->is_a) {
        on_a = y;
        on_b = x;
        feature = pp_manifold3_feature(PP_MANIFOLD_EDGES, id_q, id_p);
    }
    // Roundoff aside x and y are beside each other along n; keep them exactly so.
    double along = pp_dot3(m->n, pp_sub(on_b, on_a));
    pp_manifold3_add(m, on_a, pp_along(on_a, along, m->n), fmax(0.0, -at->inside), feature);
}

static void add_corner(pp_manifold3 *m, const outline *p, const outline *q, const clip_corner *c)
{
    if (c->p < 0) {
        add_vertex(m, q, c->q, p, fmax(0.0, -c->inside));
    } else if (c->q == -1) {
        add_vertex(m, p, c->p, q, 0.0);
    } else if (c->q >= 0) {
        add_crossing(m, p, c->p, q, c->q, c);
    }
}

// ── Cutting ──────────────────────────────────────────────────────────────────────────────────────

// The corner where the outline from c to d crosses side i of p; on the side itself, not on the widened one.
static clip_corner cut(const outline *p, int i, const clip_corner *c, const clip_corner *d,
                       double at_c, double at_d)
{
    double t = at_c / (at_c - at_d);
    t = fmin(fmax(t, 0.0), 1.0);
    clip_corner new = {
        c->u + t * (d->u - c->u), c->v + t * (d->v - c->v), 0.0, c->edge, i, c->edge};
    new.inside = fmin(0.0, fmin(c->inside, d->inside));
    if (c->edge <
        0) {  // two sides of p: the vertex where they meet, or outside p, to be cut off later
        int other = -1 - c->edge;
        bool before = next_corner(p, i) == other, after = next_corner(p, other) == i;
        new.q = before || after ? -1 : -2;
        new.p = before ? other : i;
        new.u = before || after ? p->u[new.p] : new.u;
        new.v = before || after ? p->v[new.p] : new.v;
    }
    return new;
}

// One pass of Sutherland and Hodgman: what is left of the outline `in` on the inner side of side i of p, widened by the
// tolerance. Distances are signed, positive inside. Returns the number of corners in `out`.
static int cut_side(const outline *p, int i, double tolerance, const clip_corner *in, int count,
                    clip_corner *out)
{
    double du = p->u[next_corner(p, i)] - p->u[i], dv = p->v[next_corner(p, i)] - p->v[i];
    double length = sqrt(du * du + dv * dv), distance[CORNER_MAX];
    int made = 0;
    if (length == 0.0) {  // a side without length cuts nothing
        for (int k = 0; k < count; k++) {
            out[k] = in[k];
        }
        return count;
    }
    for (int k = 0; k < count; k++) {
        distance[k] = (du * (in[k].v - p->v[i]) - dv * (in[k].u - p->u[i])) / length;
    }
    for (int k = 0; k < count; k++) {
        int l = k + 1 < count ? k + 1 : 0;
        bool in_k = distance[k] >= -tolerance, in_l = distance[l] >= -tolerance;
        if (in_k && made < CORNER_MAX) {
            out[made] = in[k];
            out[made++].inside = fmin(in[k].inside, distance[k]);
        }
        if (in_k != in_l && made < CORNER_MAX) {
            out[made] = cut(p, i, &in[k], &in[l], distance[k], distance[l]);
            if (in_k) {
                out[made].edge = -1 - i;  // leaves: from here on the outline follows side i of p
            }
            made++;
        }
    }
    return made;
}

// p cuts, q is cut. p is a where the leading component of n is positive: swapping the pair turns n, and so leaves the
// roles to the same solids.
void pp_clip_faces(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
{
    outline p, q;
    clip_corner one[CORNER_MAX], two[CORNER_MAX], *from = one, *to = two;
    double x = fabs(m->n.x), y = fabs(m->n.y), z = fabs(m->n.z);
    double lead = m->n.x;
    if (z >= x && z >= y) {
        lead = m->n.z;
    } else if (y >= x) {
        lead = m->n.y;
    }
    if (lead > 0.0) {
        project_patch(&p, a, true, m);
        project_patch(&q, b, false, m);
    } else {
        project_patch(&q, a, true, m);
        project_patch(&p, b, false, m);
    }
    int count = q.count;
    for (int k = 0; k < count; k++) {
        from[k] = (clip_corner){q.u[k], q.v[k], PP_INF, k, -1, k};
    }
    for (int i = 0; i < p.count; i++) {
        if (count == 0) {
            return;  // nothing is shared
        }
        count = cut_side(&p, i, tolerance, from, count, to);
        clip_corner *swap = from;
        from = to;
        to = swap;
    }
    for (int k = 0; k < count; k++) {
        add_corner(m, &p, &q, &from[k]);
    }
}

// How far x is outside a face, seen along n: a side of it is seen shifted by its slope.
static double stray_of(const pp_patch *face, perp_vec3 x, perp_vec3 n)
{
    double worst = 0.0;
    for (int k = 0; k < face->count; k++) {
        perp_vec3 y = face->x[k], z = face->x[k + 1 < face->count ? k + 1 : 0];
        perp_vec3 out = pp_unit(pp_cross(pp_sub(z, y), face->n), n);
        double slope = pp_dot3(out, n) / pp_dot3(face->n, n);
        worst = fmax(worst, pp_dot3(pp_along(out, -slope, face->n), pp_sub(x, y)));
    }
    return worst;
}

// A vertex (of a where point_is_a) against a face, a segment or another vertex.
void pp_clip_point(pp_manifold3 *m, const pp_patch *point, const pp_patch *other, bool point_is_a)
{
    perp_vec3 x = point->x[0], y = other->x[0];
    double along, stray = 0.0;
    if (other->count > 2) {
        // along n to the plane of the face
        along = pp_dot3(other->n, pp_sub(y, x)) / pp_dot3(other->n, m->n);
        stray = stray_of(other, x, m->n);
    } else {
        // to the point of the segment (or the vertex) that is nearest, seen along n
        perp_vec3 d = pp_sub(x, y), side = {0.0, 0.0, 0.0}, seen = side;
        if (other->count == 2) {
            side = pp_sub(other->x[1], y);
            seen = pp_along(side, -pp_dot3(side, m->n), m->n);
        }
        double length2 = pp_dot3(seen, seen);
        double t = length2 > 0.0 ? fmin(fmax(pp_dot3(d, seen) / length2, 0.0), 1.0) : 0.0;
        d = pp_along(d, -t, side);
        along = -pp_dot3(d, m->n);
        d = pp_along(d, along, m->n);
        stray = sqrt(pp_dot3(d, d));
        x = other->count == 1 ? pp_along(x, -0.5, d) : x;  // both to half of their roundoff
    }
    perp_vec3 across = pp_along(x, along, m->n);
    if (stray > m->merge + 1e-12 * m->size) {
        return;  // beside the other: its plane goes on there, but not the solid
    }
    if (point_is_a) {
        pp_manifold3_add(m, x, across, stray,
                         pp_manifold3_feature(PP_MANIFOLD_VERTEX_FACE, point->id[0], other->face));
    } else {
        pp_manifold3_add(m, across, x, stray,
                         pp_manifold3_feature(PP_MANIFOLD_FACE_VERTEX, other->face, point->id[0]));
    }
}

// ── Segments ─────────────────────────────────────────────────────────────────────────────────────

// The stretch [low, high] of a segment (parameter 0 to 1) that is over a face, by clipping with each side in turn
// (Cyrus and Beck). An end that no side has cut is a vertex, the others are crossings.
void pp_clip_segment(pp_manifold3 *m, const pp_patch *segment, const pp_patch *face, bool face_is_a,
                     double tolerance)
{
    outline p, q;
    project_patch(&p, face, face_is_a, m);
    project_patch(&q, segment, !face_is_a, m);
    double low = 0.0, high = 1.0, stray[2] = {PP_INF, PP_INF};
    int cut_low = -1, cut_high = -1;
    for (int i = 0; i < p.count; i++) {
        double du = p.u[next_corner(&p, i)] - p.u[i], dv = p.v[next_corner(&p, i)] - p.v[i];
        double length = sqrt(du * du + dv * dv), d[2] = {0.0, 0.0};
        for (int k = 0; k < 2; k++) {
            if (!(length > 0.0)) {
                break;
            }
            d[k] = (du * (q.v[k] - p.v[i]) - dv * (q.u[k] - p.u[i])) / length;
            stray[k] = fmin(stray[k], d[k]);
        }
        if (d[0] >= -tolerance && d[1] >= -tolerance) {
            continue;
        }
        if (d[0] < -tolerance && d[1] < -tolerance) {
            return;  // all of it is outside this side
        }
        double t = fmin(fmax(d[0] / (d[0] - d[1]), 0.0), 1.0);
        if (d[0] < d[1] && t > low) {
            low = t;
            cut_low = i;
        } else if (d[0] > d[1] && t < high) {
            high = t;
            cut_high = i;
        }
    }
    if (low > high) {
        return;
    }
    const double at[2] = {low, high};
    const int by[2] = {cut_low, cut_high};  // side that cut the end off; -1: none
    for (int k = 0; k < 2; k++) {
        clip_corner c = {.u = q.u[0] + at[k] * (q.u[1] - q.u[0]),
                         .v = q.v[0] + at[k] * (q.v[1] - q.v[0]),
                         .p = by[k]};
        if (by[k] < 0) {
            c.q = k;
            c.inside = stray[k];
        }
        add_corner(m, &p, &q, &c);
    }
}

// Where the line d + t q leaves the ball (or, seen along an axis, the cylinder) of the given radius around 0: the
// later t (sign 1) or the earlier. False: it passes by.
static bool leave_ball(perp_vec3 d, perp_vec3 q, double radius, double sign, double *t)
{
    double qq = pp_dot3(q, q), dq = pp_dot3(d, q);
    double left = dq * dq - qq * (pp_dot3(d, d) - radius * radius);
    *t = (-dq + sign * sqrt(fmax(0.0, left))) / qq;
    return left >= 0.0 && qq > 0.0;
}

// The same for a segment with a radius around it: the cylinder, or for a capsule the ball around an end.
static bool exit_cylinder(const pp_patch *segment, double radius, perp_vec3 x, perp_vec3 n,
                          double sign, double *t)
{
    perp_vec3 side = pp_sub(segment->x[1], segment->x[0]), axis = pp_unit(side, n);
    perp_vec3 d = pp_sub(x, segment->axis);
    perp_vec3 p = pp_along(d, -pp_dot3(d, axis), axis), q = pp_along(n, -pp_dot3(n, axis), axis);
    if (!leave_ball(p, q, radius, sign, t)) {
        return false;
    }
    double along = pp_dot3(axis, pp_along(d, *t, n)), half = 0.5 * pp_length(side);
    if (segment->round > 0.0 || fabs(along) <= half) {
        return true;
    }
    return leave_ball(pp_along(d, -copysign(half, along), axis), n, radius, sign, t);
}

// Sine of the angle between the segment and the plane across n.
static double segment_slope(const outline *segment, perp_vec3 n)
{
    perp_vec3 side = pp_sub(segment->patch->x[1], segment->patch->x[0]);
    return fabs(pp_dot3(side, n)) / pp_length(side);
}

// An end of q beside the segment p: their gap there, if they are beside each other.
static void add_end(pp_manifold3 *m, const outline *p, const outline *q, int k, double tolerance)
{
    double du = p->u[1] - p->u[0], dv = p->v[1] - p->v[0], length = sqrt(du * du + dv * dv);
    double along = ((q->u[k] - p->u[0]) * du + (q->v[k] - p->v[0]) * dv) / length;
    double beside = (du * (q->v[k] - p->v[0]) - dv * (q->u[k] - p->u[0])) / length;
    double radius = m->radius_a + m->radius_b, low = 0.0, high = 0.0;
    // Rounded sides (capsules, rolling cylinders) face each other over a strip of 0.3 times their radii; `bare` lines and
    // steep ones only where they are right above each other.
    double room = p->patch->bare || q->patch->bare ? tolerance : 0.3 * radius + tolerance;
    bool steep = segment_slope(p, m->n) > 0.02 || segment_slope(q, m->n) > 0.02;
    if (along < -tolerance || along > length + tolerance ||
        fabs(beside) > (steep ? tolerance : room)) {
        return;
    }
    perp_vec3 x = edge_point(p, 0, q->u[k], q->v[k]), y = vertex_of(q, k);
    perp_vec3 on_a = x, on_b = y;
    uint32_t feature = pp_manifold3_feature(PP_MANIFOLD_FACE_VERTEX, 0, id_of(q, k));
    if (!p->is_a) {
        on_a = y;
        on_b = x;
        feature = pp_manifold3_feature(PP_MANIFOLD_VERTEX_FACE, id_of(q, k), 0);
    }
    perp_vec3 between = pp_sub(on_b, on_a);
    if (fabs(beside) <= tolerance || radius == 0.0) {
        pp_manifold3_add(m, on_a, pp_along(on_a, pp_dot3(between, m->n), m->n), fabs(beside),
                         feature);
        return;
    }
    // Rounded sides: along a line between the two axes.
    const pp_patch *a = p->is_a ? p->patch : q->patch;
    const pp_patch *b = p->is_a ? q->patch : p->patch;
    between = pp_along(between, -pp_dot3(between, m->n), m->n);
    on_a = pp_along(on_a, m->radius_a / radius, between);
    if ((m->radius_a == 0.0 || exit_cylinder(a, m->radius_a, on_a, m->n, 1.0, &low)) &&
        (m->radius_b == 0.0 || exit_cylinder(b, m->radius_b, on_a, m->n, -1.0, &high))) {
        if (m->radius_b == 0.0) {  // b is not rounded: its point is the one of its line itself
            high = pp_dot3(m->n, pp_sub(on_b, on_a));
        }
        double gap = fmax(high - low, m->s - radius);
        pp_manifold3_put(m, pp_along(on_a, low, m->n), gap, 0.0, feature);
    }
}

// Of lines parallel to roundoff the ends say it all: drops the crossing, the last spot, unless it is lower.
static void drop_crossing(pp_manifold3 *m)
{
    int last = m->count - 1, lowest = 0;
    for (int k = 1; k < last; k++) {
        if (m->spot[k].gap < m->spot[lowest].gap) {
            lowest = k;
        }
    }
    if (m->spot[last].gap >= m->spot[lowest].gap - 2e-15 * m->size) {
        m->spot[lowest].stray = fmin(m->spot[lowest].stray, m->spot[last].stray);
        m->count = last;
    }
}

// Where they cross, and the ends of the stretch along which they are beside each other.
void pp_clip_segments(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
{
    outline p, q;
    project_patch(&p, a, true, m);
    project_patch(&q, b, false, m);
    double pu = p.u[1] - p.u[0], pv = p.v[1] - p.v[0], qu = q.u[1] - q.u[0], qv = q.v[1] - q.v[0];
    double cross = pu * qv - pv * qu, both = sqrt((pu * pu + pv * pv) * (qu * qu + qv * qv));
    if (both == 0.0) {
        return;
    }
    // cross / both is the sine of the angle between them: below 12 degrees they are a pair of sides, with a point at
    // each end of the stretch they share
    if (fabs(cross) < 0.2 * both) {
        for (int k = 0; k < 2; k++) {
            add_end(m, &p, &q, k, tolerance);
            add_end(m, &q, &p, k, tolerance);
        }
    }
    if (fabs(cross) > 1e-12 * both) {
        // p0 + t dp = q0 + r dq, by Cramer's rule; both parameters in [0, 1] up to the tolerance
        double t = ((q.u[0] - p.u[0]) * qv - (q.v[0] - p.v[0]) * qu) / cross;
        double r = ((q.u[0] - p.u[0]) * pv - (q.v[0] - p.v[0]) * pu) / cross;
        double slack_t = tolerance / sqrt(pu * pu + pv * pv);
        double slack_r = tolerance / sqrt(qu * qu + qv * qv);
        if (fabs(t - 0.5) <= 0.5 + slack_t && fabs(r - 0.5) <= 0.5 + slack_r) {
            clip_corner c = {p.u[0] + t * pu, p.v[0] + t * pv, 0.0, 0, 0, 0};
            c.inside = fmin(0.0, 0.5 - fabs(t - 0.5)) * sqrt(pu * pu + pv * pv) +
                       fmin(0.0, 0.5 - fabs(r - 0.5)) * sqrt(qu * qu + qv * qv);
            int ends = m->count;
            add_crossing(m, &p, 0, &q, 0, &c);
            if (ends > 1 && m->count > ends) {
                drop_crossing(m);
            }
        }
    }
}
