// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Stage two of the narrow phase: from a normal to the points of the contact manifold.
//
// The patches (vertex, edge or face) of the two cores that face each other along n are clipped against each other,
// seen along n (manifold.c). Every corner of the overlap is a spot: a pair of witness points with a gap of its
// own along n. At most PP_TOUCH_MAX of them are written.
#include "gap/convex/narrow.h"

double pp_core_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n)
{
    perp_vec3 x = pp_core_support(a, n), y = pp_core_support(b, pp_scale(-1.0, n));
    return pp_dot3(n, pp_sub(y, x));
}

// ── Spots ────────────────────────────────────────────────────────────────────────────────────────

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
    pp_manifold3_put(m, x, gap, stray, feature);
}

// Closer than m->merge, seen along n.
static bool same_place(const pp_manifold3 *m, perp_vec3 x, const pp_manifold_point *spot)
{
    perp_vec3 d = pp_sub(x, spot->x);
    double along = pp_dot3(d, m->n);
    return pp_dot3(d, d) - along * along <= m->merge * m->merge;
}

// The same place twice: the lower one, the first of equals.
void pp_manifold3_put(pp_manifold3 *m, perp_vec3 x, double gap, double stray, uint32_t feature)
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

// s(n) bounds the distance from below, a pair of points of the two solids from above: where the two agree to
// roundoff, and the points are inside their patches, n and the gap are those of the true distance.
bool pp_manifold3_is_certified(const pp_manifold3 *m)
{
    double slack = 4e-15 * m->size, bound = m->s - m->radius_a - m->radius_b;
    slack += 1e-14 * fabs(bound);
    for (int k = 0; k < m->count; k++) {
        if (m->spot[k].gap <= bound + slack + pp_meet_level(m) && m->spot[k].stray <= slack) {
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

// ── Patches ──────────────────────────────────────────────────────────────────────────────────────

// Faces steeper than this to the normal, both together, do not face each other.
static const double FACING = 0.45;

// A face that faces the normal more than this is alone.
static const double ALONG = 0.9999;

// a's and b's patches are points (1 vertex), segments (2) or faces (3 and more).
static void meet_patches(pp_manifold3 *m, const pp_patch *a, const pp_patch *b, double tolerance)
{
    if (a->count == 1) {
        pp_clip_point(m, a, b, true);
    } else if (b->count == 1) {
        pp_clip_point(m, b, a, false);
    } else if (a->count == 2 && b->count == 2) {
        pp_clip_segments(m, a, b, tolerance);
    } else if (a->count == 2) {
        pp_clip_segment(m, a, b, false, tolerance);
    } else if (b->count == 2) {
        pp_clip_segment(m, b, a, true, tolerance);
    } else {
        pp_clip_faces(m, a, b, tolerance);
    }
}

// An edge of one nearly along an edge of the other passes from one of its faces to the next: these
// faces are clipped as well.
static void meet_others(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        const pp_patch *pa, const pp_patch *pb, double tolerance)
{
    pp_patch oa, ob;
    oa.face = pa->face;
    ob.face = pb->face;
    bool other_a = pa->count > 2 && pa->facing < ALONG && pp_patch_other(&oa, a, m->n);
    bool other_b =
        pb->count > 2 && pb->facing < ALONG && pp_patch_other(&ob, b, pp_scale(-1.0, m->n));
    if (other_a && oa.facing * pb->facing >= FACING) {
        meet_patches(m, &oa, pb, tolerance);
    }
    if (other_b && pa->facing * ob.facing >= FACING) {
        meet_patches(m, pa, &ob, tolerance);
    }
    if (other_a && other_b && oa.facing * ob.facing >= FACING) {
        meet_patches(m, &oa, &ob, tolerance);
    }
}

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
    double tolerance = 1e-9 * small + 4e-16 * large;  // [m], by which clipping outlines are widened
    meet_patches(m, &pa, &pb, tolerance);
    m->flat = pp_clip_common(m, &pa, &pb);
    if (pa.count > 1 && pb.count > 1 && (pa.facing < ALONG || pb.facing < ALONG)) {
        meet_others(m, a, b, &pa, &pb, tolerance);
    }
}

// ── Result ───────────────────────────────────────────────────────────────────────────────────────

static int closest(const pp_manifold3 *m)
{
    int best = 0;
    for (int k = 1; k < m->count; k++) {
        if (m->spot[k].gap < m->spot[best].gap) {
            best = k;
        }
    }
    return best;
}

enum { DIRECTIONS = 8 };

// The extremes along eight directions fixed to the normal, none of them along a likely edge; the closest
// takes the place of its nearest neighbour among them. Mirrored with the normal when the pair is swapped.
static int thin_out(const pp_manifold3 *m, int first, int *keep)
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
            if (pp_dot3(d, pp_sub(m->spot[k].x, m->spot[best].x)) > 0.0) {
                best = k;
            }
        }
        bool new = true;
        for (int k = 0; k < count; k++) {
            new = new &&keep[k] != best;
        }
        if (new) {
            keep[count++] = best;
            has_first = has_first || best == first;
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

int pp_manifold3_write(const pp_manifold3 *m, bool single, perp_vec3 origin, pp_touch_point *out)
{
    int keep[PP_SPOT_MAX], count = m->count, made = 0, first = closest(m);
    for (int k = 0; k < count; k++) {
        keep[k] = k;
    }
    if (count > (m->rim ? PP_TOUCH_MAX : DIRECTIONS)) {
        count = keep_asked(m, keep, thin_out(m, first, keep));
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
