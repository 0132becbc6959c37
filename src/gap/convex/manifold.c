// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Stage two of the narrow phase: from a normal to the points of the contact manifold.
//
// The patches (vertex, edge or face) of the two cores that face each other along n are clipped against each other,
// seen along n. Every corner of the overlap is a spot: a pair of witness points with a gap of its own along n. At most
// PP_TOUCH_MAX of them are written.
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

// ── Spots ────────────────────────────────────────────────────────────────────────────────────────

// The closest spot; -1: there is none.
static int lowest_spot(const pp_manifold3 *m)
{
    int best = -1;
    for (int k = 0; k < m->count; k++) {
        if (best < 0 || m->spot[k].gap < m->spot[best].gap) {
            best = k;
        }
    }
    return best;
}

// The points of a level round face may leave out of its gap the arc between two of them (patch.c).
static double rim_chord_allowance(const pp_manifold3 *m)
{
    return m->flat ? 1e-10 * m->size : 0.0;
}

// Closer than m->merge, seen along n.
static bool same_place(const pp_manifold3 *m, perp_vec3 x, const pp_manifold_point *spot)
{
    perp_vec3 d = pp_sub(x, spot->x);
    double along = pp_dot3(d, m->n);
    return pp_dot3(d, d) - along * along <= m->merge * m->merge;
}

// The same place twice: the lower one, the first of equals.
static void put_spot(pp_manifold3 *m, perp_vec3 x, double gap, double stray, uint32_t feature)
{
    int at = -1, kept = 0;
    if (!(gap <= m->margin)) {
        return;
    }
    // one there is as low, up to roundoff: the old one stays, and with it its feature id
    for (int k = 0; k < m->count; k++) {
        if (same_place(m, x, &m->spot[k]) && gap >= m->spot[k].gap - 1e-14 * m->size) {
            return;
        }
    }
    // it takes the slot of the first at the same place; the others there go
    for (int k = 0; k < m->count; k++) {
        bool same = same_place(m, x, &m->spot[k]);
        if (same && at < 0) {
            at = kept;
        }
        if (!same || at == kept) {
            m->spot[kept++] = m->spot[k];
        }
    }
    m->count = kept;
    if (at < 0 && kept < PP_SPOT_MAX) {
        at = m->count++;
    }
    if (at >= 0) {
        m->spot[at] = (pp_manifold_point){x, gap, stray, feature};
    }
}

// With core points beside each other by w across n, rounded surfaces of radii r_a and r_b face each other
// along n at the share r_a / (r_a + r_b) of w, both lower there by the same factor:
//     gap = n.(core_b - core_a) - sqrt((r_a + r_b)^2 - w^2).
void pp_manifold3_add(pp_manifold3 *m, perp_vec3 core_a, perp_vec3 core_b, double stray,
                      uint32_t feature)
{
    perp_vec3 between = pp_sub(core_b, core_a), x = core_a;
    double gap = pp_dot3(m->n, between), radius = m->radius_a + m->radius_b;
    if (radius > 0.0) {
        perp_vec3 beside = pp_along(between, -gap, m->n);
        double w2 = pp_dot3(beside, beside), share = m->radius_a / radius;
        double drop = sqrt(fmax(0.0, radius * radius - w2));
        x = pp_along(pp_along(x, share, beside), share * drop, m->n);
        gap -= drop;
    }
    put_spot(m, x, gap, stray, feature);
}

// s(n) bounds the distance from below, a pair of points of the two solids from above: where the two agree to
// roundoff, and the points are inside their patches, n and the gap are those of the true distance.
bool pp_manifold3_is_certified(const pp_manifold3 *m)
{
    double slack = 4e-15 * m->size, bound = m->s - m->radius_a - m->radius_b;
    slack += 1e-14 * fabs(bound);
    for (int k = 0; k < m->count; k++) {
        if (m->spot[k].gap <= bound + slack + rim_chord_allowance(m) && m->spot[k].stray <= slack) {
            return true;
        }
    }
    return false;
}

// The rounds of the patches are taken off, because the points given are on the cores, not on their axes.
void pp_manifold3_ensure(pp_manifold3 *m, perp_vec3 core_a, perp_vec3 core_b, uint32_t feature)
{
    double bound = m->s - m->radius_a - m->radius_b;
    for (int k = 0; k < m->count; k++) {
        if (m->spot[k].gap <= bound + 1e-13 * m->size && m->spot[k].stray <= m->merge) {
            return;
        }
    }
    pp_manifold3_add(m, pp_along(core_a, -m->round_a, m->n), pp_along(core_b, m->round_b, m->n),
                     0.0, feature);
}

// ── Outlines ─────────────────────────────────────────────────────────────────────────────────────

// One of two patches, in coordinates across the normal; turned so that it is counter-clockwise there.
typedef struct outline {
    const pp_patch *patch;
    bool is_a;
    int count;
    int index[PP_PATCH_MAX];  // in the patch
    double u[PP_PATCH_MAX], v[PP_PATCH_MAX];
} outline;

// A corner of the outline being cut_corner. Edges are named by their first vertex: those of the cut_corner outline 0..,
// those of the cutting one -1, -2, ...
typedef struct clip_corner {
    double u, v;
    double inside;  // the least distance from the sides that have cut_corner so far
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

// Corners, their positions and their ids, in the order of the outline.
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

// ── Spots of clipped outlines ────────────────────────────────────────────────────────────────────

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
    t = pp_clamp(t, 0.0, 1.0);
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

// A corner of the clipped outline as a spot, by what it is; corners that were cut off by sides of p are none.
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

// ── Clipping ─────────────────────────────────────────────────────────────────────────────────────

// The corner where the outline from c to d crosses side i of p; on the side itself, not on the widened one.
static clip_corner cut_corner(const outline *p, int i, const clip_corner *c, const clip_corner *d,
                              double at_c, double at_d)
{
    double t = at_c / (at_c - at_d);
    t = pp_clamp(t, 0.0, 1.0);
    clip_corner new = {
        c->u + t * (d->u - c->u), c->v + t * (d->v - c->v), 0.0, c->edge, i, c->edge};
    new.inside = pp_min(0.0, pp_min(c->inside, d->inside));
    if (c->edge <
        0) {  // two sides of p: the vertex where they meet, or outside p, to be cut_corner off later
        int other = -1 - c->edge;
        bool before = next_corner(p, i) == other, after = next_corner(p, other) == i;
        new.q = before || after ? -1 : -2;
        new.p = before ? other : i;
        new.u = before || after ? p->u[new.p] : new.u;
        new.v = before || after ? p->v[new.p] : new.v;
    }
    return new;
}

// Distances of the corners of an outline from side i of p, positive inside. Whether none of them is beyond the side,
// widened by the tolerance; a side without length cuts nothing.
static bool is_inside(const outline *p, int i, double tolerance, const clip_corner *in, int count,
                      double *distance)
{
    double du = p->u[next_corner(p, i)] - p->u[i], dv = p->v[next_corner(p, i)] - p->v[i];
    double length = sqrt(du * du + dv * dv);
    bool inside = true;
    for (int k = 0; k < count; k++) {
        distance[k] = PP_INF;
        if (length != 0.0) {
            distance[k] = (du * (in[k].v - p->v[i]) - dv * (in[k].u - p->u[i])) / length;
        }
        inside = inside && distance[k] >= -tolerance;
    }
    return inside;
}

// One pass of Sutherland and Hodgman: what is left of the outline `in` on the inner side of side i of p. Returns the
// number of corners in `out`.
static int cut_side(const outline *p, int i, double tolerance, const clip_corner *in, int count,
                    const double *distance, clip_corner *out)
{
    int made = 0;
    for (int k = 0; k < count; k++) {
        int l = k + 1 < count ? k + 1 : 0;
        bool in_k = distance[k] >= -tolerance, in_l = distance[l] >= -tolerance;
        if (in_k && made < CORNER_MAX) {
            out[made] = in[k];
            out[made++].inside = pp_min(in[k].inside, distance[k]);
        }
        if (in_k != in_l && made < CORNER_MAX) {
            out[made] = cut_corner(p, i, &in[k], &in[l], distance[k], distance[l]);
            if (in_k) {
                out[made].edge = -1 - i;  // leaves: from here on the outline follows side i of p
            }
            made++;
        }
    }
    return made;
}

// p cuts, q is cut_corner. p is a where the leading component of n is positive: swapping the pair turns n, and so leaves the
// roles to the same solids.
static void clip_faces(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
{
    outline p, q;
    clip_corner one[CORNER_MAX], two[CORNER_MAX], *from = one, *to = two;
    double distance[CORNER_MAX];
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
        if (is_inside(&p, i, tolerance, from, count, distance)) {
            for (int k = 0; k < count; k++) {
                from[k].inside = pp_min(from[k].inside, distance[k]);
            }
            continue;
        }
        count = cut_side(&p, i, tolerance, from, count, distance, to);
        clip_corner *swap = from;
        from = to;
        to = swap;
    }
    for (int k = 0; k < count; k++) {
        add_corner(m, &p, &q, &from[k]);
    }
}

// How far x is outside a face, seen along n: a side of it is seen shifted by its slope.
static double stray_from_face(const pp_patch *face, perp_vec3 x, perp_vec3 n)
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
static void clip_point(pp_manifold3 *m, const pp_patch *point, const pp_patch *other,
                       bool point_is_a)
{
    perp_vec3 x = point->x[0], y = other->x[0];
    double along, stray = 0.0;
    if (other->count > 2) {
        // along n to the plane of the face
        along = pp_dot3(other->n, pp_sub(y, x)) / pp_dot3(other->n, m->n);
        stray = stray_from_face(other, x, m->n);
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
// (Cyrus and Beck). An end that no side has cut_corner is a vertex, the others are crossings.
static void clip_segment(pp_manifold3 *m, const pp_patch *segment, const pp_patch *face,
                         bool face_is_a, double tolerance)
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
    const int by[2] = {cut_low, cut_high};  // side that cut_corner the end off; -1: none
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
static void add_segment_end(pp_manifold3 *m, const outline *p, const outline *q, int k,
                            double tolerance)
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
        put_spot(m, pp_along(on_a, low, m->n), gap, 0.0, feature);
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
static void clip_segments(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
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
            add_segment_end(m, &p, &q, k, tolerance);
            add_segment_end(m, &q, &p, k, tolerance);
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

// ── Round faces ──────────────────────────────────────────────────────────────────────────────────
// Eight points of the rim stand for a disc when faces are cut, which leaves out what is between them and the
// rim. Here is a point of what two faces share for when that is all they share.

// The point of a segment or convex polygon nearest to c, all seen along n (distances across n only). It is on the
// patch, so it has the height of the patch along n, not that of c.
static perp_vec3 nearest_point_of_patch(const pp_patch *patch, perp_vec3 c, perp_vec3 n)
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
static bool find_common_point(pp_manifold3 *m, const pp_patch *a, const pp_patch *b)
{
    if (a->disc > 0.0 && b->disc > 0.0) {
        m->common = between_discs(a, b, m->n);
    } else if (a->disc > 0.0 && b->count > 1) {
        m->common = pp_along(nearest_point_of_patch(b, a->centre, m->n), m->round_a - m->s, m->n);
    } else if (b->disc > 0.0 && a->count > 1) {
        m->common = pp_along(nearest_point_of_patch(a, b->centre, m->n), m->round_a, m->n);
    } else {
        return false;
    }
    return true;
}

// ── Patches ──────────────────────────────────────────────────────────────────────────────────────

// Faces steeper than this to the normal, both together, do not face each other.
static const double FACING = 0.45;

// A face that faces the normal more than this is alone.
static const double ALONG = 0.9999;

// a's and b's patches are points (1 vertex), segments (2) or faces (3 and more).
static void clip_patches(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
{
    if (a->count == 1) {
        clip_point(m, a, b, true);
    } else if (b->count == 1) {
        clip_point(m, b, a, false);
    } else if (a->count == 2 && b->count == 2) {
        clip_segments(m, a, b, tolerance);
    } else if (a->count == 2) {
        clip_segment(m, a, b, false, tolerance);
    } else if (b->count == 2) {
        clip_segment(m, b, a, true, tolerance);
    } else {
        clip_faces(m, a, b, tolerance);
    }
}

// An edge of one nearly along an edge of the other passes from one of its faces to the next: these
// faces are clipped as well.
static void clip_other_faces(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                             const pp_patch *pa, const pp_patch *pb, double tolerance)
{
    pp_patch oa, ob;
    oa.face = pa->face;
    ob.face = pb->face;
    bool other_a = pa->count > 2 && pa->facing < ALONG && pp_patch_other(&oa, a, m->n);
    bool other_b =
        pb->count > 2 && pb->facing < ALONG && pp_patch_other(&ob, b, pp_scale(-1.0, m->n));
    if (other_a && oa.facing * pb->facing >= FACING) {
        clip_patches(m, &oa, pb, tolerance);
    }
    if (other_b && pa->facing * ob.facing >= FACING) {
        clip_patches(m, pa, &ob, tolerance);
    }
    if (other_a && other_b && oa.facing * ob.facing >= FACING) {
        clip_patches(m, &oa, &ob, tolerance);
    }
}

static double uneven_of(const pp_placed_solid *s)
{
    return s->solid->kind == PP_SOLID_HULL ? s->solid->hull->slack : 0.0;
}

// merge: spots of one place, seen along n. Their distance is a share of the smaller solid, which the contact fits in.
void pp_manifold3_begin(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        perp_vec3 n, double margin)
{
    m->n = n;
    m->e = pp_across(n);
    m->f = pp_cross(n, m->e);
    m->radius_a = a->radius;
    m->radius_b = b->radius;
    m->size = fmax(a->size, b->size) + a->radius + b->radius;
    m->merge = 1e-7 * fmin(a->size, b->size);
    m->uneven = uneven_of(a) + uneven_of(b);
    m->margin = margin;
    m->round_a = m->round_b = 0.0;
    m->flat = false;
    m->rim = a->rim;
    m->count = 0;
}

void pp_manifold3_build(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        perp_vec3 n, double s, double margin)
{
    perp_vec3 back = pp_scale(-1.0, n);
    pp_patch pa, pb;
    double small = fmin(a->size, b->size), large = fmax(a->size, b->size);
    pp_manifold3_begin(m, a, b, n, margin);
    m->s = s;
    pp_patch_set(&pa, a, n);
    pp_patch_set(&pb, b, back);
    // the product of the cosines between n and the face normals: faces that are this steep meet in an edge or a
    // vertex of one of them at least
    if (pa.facing * pb.facing < FACING) {
        if (pa.facing < 0.99) {
            pp_patch_narrow(&pa, a, n);
        }
        if (pb.facing < 0.99) {
            pp_patch_narrow(&pb, b, back);
        }
    }
    // The line of a cylinder's side is clipped as its axis with the radius added: s(n) and the radii of the
    // meeting are those of the axes from here on.
    m->round_a = pa.round;
    m->round_b = pb.round;
    m->radius_a += pa.round;
    m->radius_b += pb.round;
    m->s += pa.round + pb.round;
    // [m], by which clipping outlines are widened: more than bodies at rest move, so that edges that coincide keep their
    // corners and do not cross anywhere along their length
    double tolerance = 1e-7 * small + 4e-16 * large;
    clip_patches(m, &pa, &pb, tolerance);
    m->flat = find_common_point(m, &pa, &pb);
    if (pa.count > 1 && pb.count > 1 && (pa.facing < ALONG || pb.facing < ALONG)) {
        clip_other_faces(m, a, b, &pa, &pb, tolerance);
    }
}

// ── Witness points where the patches give none ───────────────────────────────────────────────────
// A flat face along a tangent of a rim, or a feature thinner than roundoff.
//
// The distances below are lower bounds: exact next to a face, too small next to an edge or a vertex.

// The largest signed distance from the planes of the faces.
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

double pp_outside_core(const pp_placed_solid *s, perp_vec3 point)
{
    const pp_solid *solid = s->solid;
    perp_vec3 x = pp_mul_t(&s->R, pp_sub(point, s->p)), h = solid->half;
    double r = solid->radius;
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        return pp_length(x);
    case PP_SOLID_CAPSULE:
        return pp_hypot(pp_hypot(x.x, x.y), fmax(0.0, fabs(x.z) - h.z));
    case PP_SOLID_BOX:
        return pp_max(fabs(x.x) - h.x, pp_max(fabs(x.y) - h.y, fabs(x.z) - h.z));
    case PP_SOLID_CYLINDER:
        return pp_max(pp_hypot(x.x, x.y) - r, fabs(x.z) - h.z);
    case PP_SOLID_CONE:  // base at z = -h, slanted side with the normal (2 h, r) / slant in (across, z)
        return fmax(-h.z - x.z,
                    (2.0 * h.z * pp_hypot(x.x, x.y) + r * (x.z - h.z)) / pp_hypot(2.0 * h.z, r));
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
static double spot_outside(const pp_manifold3 *m, const pp_placed_solid *a,
                           const pp_placed_solid *b, perp_vec3 x, double gap)
{
    return fmax(0.0, fmax(pp_outside_core(a, x) - a->radius,
                          pp_outside_core(b, pp_along(x, gap, m->n)) - b->radius));
}

double pp_manifold3_stray(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    int k = lowest_spot(m);
    double bound = m->s - m->radius_a - m->radius_b;
    // s(n) is a lower bound of the gap: a spot above it is not a pair of closest points
    if (k < 0 || m->spot[k].gap > bound + 1e-13 * m->size + rim_chord_allowance(m)) {
        return PP_INF;
    }
    return spot_outside(m, a, b, m->spot[k].x, m->spot[k].gap);
}

// Rounding of positions, a little of what clipping widened outlines by, and what corners of hulls are off the planes of
// their faces: meshes in single precision have faces that are flat to 1e-9 of their size, and no normal changes that.
double pp_manifold3_stray_tolerance(const pp_manifold3 *m)
{
    return 0.02 * m->merge + 1e-12 * m->size + m->uneven;
}

// Takes the place of the closest spot, and of those that are at the same place.
static void replace_lowest_spot(pp_manifold3 *m, perp_vec3 x, double gap)
{
    int kept = 0, old = lowest_spot(m);
    for (int k = 0; k < m->count; k++) {
        perp_vec3 d = pp_sub(x, m->spot[k].x);
        d = pp_along(d, -pp_dot3(d, m->n), m->n);
        if (k != old && pp_dot3(d, d) > m->merge * m->merge) {
            m->spot[kept++] = m->spot[k];
        }
    }
    m->count = kept;
    put_spot(m, x, gap, 0.0, pp_manifold3_feature(PP_MANIFOLD_EDGES, 0, 0));
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
        double off = spot_outside(m, a, b, x[k], gap);
        if (off < least) {
            least = off;
            best = k;
        }
    }
    if (best >= 0) {
        replace_lowest_spot(m, x[best], gap);
    }
}

// ── Result ───────────────────────────────────────────────────────────────────────────────────────

enum { DIRECTIONS = 8 };

static const double TIE = 1e-10;    // of the size: spots that are equally far out
static const double LEVEL = 1e-12;  // of the size: spots that are equally close

// The extremes along eight directions fixed to the normal, none of them along a likely edge; the closest
// takes the place of its nearest neighbour among them. Mirrored with the normal when the pair is swapped.
// Edges of the octagon of an aligned rim are across these directions: of equal spots the first one is taken, and of level
// faces no spot is the closest, so that rounding does not choose another one in each evaluation.
static int keep_extremes(const pp_manifold3 *m, int first, int *keep)
{
    static const double C = 0.9238795325112867, S = 0.3826834323650898;
    const double way[DIRECTIONS][2] = {{C, S},   {S, C},   {-S, C}, {-C, S},
                                       {-C, -S}, {-S, -C}, {S, -C}, {C, -S}};
    int count = 0;
    bool has_first = false;
    // extreme spots span what the support polygon of all of them spans, nearly
    for (int w = 0; w < DIRECTIONS; w++) {
        perp_vec3 d = pp_along(pp_scale(way[w][0], m->e), way[w][1], m->f);
        int best = 0;
        for (int k = 1; k < m->count; k++) {
            if (pp_dot3(d, pp_sub(m->spot[k].x, m->spot[best].x)) > TIE * m->size) {
                best = k;
            }
        }
        bool new = true;
        for (int k = 0; k < count; k++) {
            new = new &&keep[k] != best;
        }
        if (new) {
            keep[count++] = best;
            has_first = has_first || m->spot[best].gap <= m->spot[first].gap + LEVEL * m->size;
        }
    }
    if (!has_first && count < DIRECTIONS) {
        keep[count++] = first;
    } else if (!has_first) {
        int nearest = 0;
        double least = PP_INF;
        for (int k = 0; k < count; k++) {
            perp_vec3 d = pp_sub(m->spot[keep[k]].x, m->spot[first].x);
            if (pp_dot3(d, d) < least) {
                least = pp_dot3(d, d);
                nearest = k;
            }
        }
        keep[nearest] = first;
    }
    return count;
}

// The spot next to the place that was asked for, beside those that are kept.
static int keep_asked(const pp_manifold3 *m, int *keep, int count)
{
    int nearest = 0;
    double least = PP_INF;
    for (int k = 0; k < m->count && m->rim; k++) {
        double way = pp_length(pp_sub(m->spot[k].x, *m->rim));
        if (way < least) {
            least = way;
            nearest = k;
        }
    }
    for (int k = 0; k < count; k++) {
        if (!m->rim || keep[k] == nearest) {
            return count;
        }
    }
    keep[count++] = nearest;
    return count;
}

// The closest of the spots that are kept.
static int lowest_kept(const pp_manifold3 *m, const int *keep, int count)
{
    int lowest = keep[0];
    for (int k = 1; k < count; k++) {
        lowest = m->spot[keep[k]].gap < m->spot[lowest].gap ? keep[k] : lowest;
    }
    return lowest;
}

int pp_manifold3_write(const pp_manifold3 *m, bool single, perp_vec3 origin, pp_touch_point *out)
{
    int keep[PP_SPOT_MAX], count = m->count, made = 0, first = lowest_spot(m);
    for (int k = 0; k < count; k++) {
        keep[k] = k;
    }
    if (count > (m->rim ? PP_TOUCH_MAX : DIRECTIONS)) {
        count = keep_asked(m, keep, keep_extremes(m, first, keep));
        first = lowest_kept(m, keep, count);
    }
    // pass 0 writes the closest, pass 1 the others in their order
    for (int pass = 0; pass < (single ? 1 : 2); pass++) {
        for (int k = 0; k < count; k++) {
            if ((keep[k] == first) == (pass == 0)) {
                const pp_manifold_point *s = &m->spot[keep[k]];
                perp_vec3 x = pp_add(origin, s->x);
                out[made++] = (pp_touch_point){x, pp_along(x, s->gap, m->n), m->n, s->gap,
                                               single ? 0 : s->feature};
            }
        }
    }
    return made;
}
