// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The separating axis test, signed: the axis n of the largest separation s(n) of two cores (T1).
//
// The largest s(n) of two overlapping polyhedra is at a face normal of one of them or across an edge of
// each: 3 + 3 + 9 axes for boxes (Gottschalk, Lin and Manocha 1996). Every axis gives a true lower bound, so a
// segment may be a box without width and a point a box without extent. For boxes that are apart the same
// axes suffice unless a vertex is closest to an edge or to a vertex.
//
// Of hulls a pair of edges matters only where the arcs between the normals of their faces cross on the sphere (Gauss
// map, Gregorius 2013). As n.(y - x) of any points x of a and y of b is an upper bound of s(n), an axis that does not beat
// the best so far for the support points of other axes is not looked at; nor is an edge all of whose arc does not.
// What is left out cannot win: the result is that of all faces and all pairs of edges.
//
// Curved solids have infinitely many axes. The normals that resting ones mostly have, of a face or across the axes
// of round sides, are tried in closed form; one that the patches certify needs no search.
#include "gap/convex/narrow.h"

double pp_core_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n)
{
    perp_vec3 x = pp_core_support(a, n), y = pp_core_support(b, pp_scale(-1.0, n));
    return pp_dot3(n, pp_sub(y, x));
}

enum { CUT_MAX = 48 };

// Differences y - x of support points of b and a, each of which bounds s(n) by n.(y - x).
typedef struct cut_list {
    int count;
    perp_vec3 w[CUT_MAX];
} cut_list;

typedef struct axis_search {
    const pp_placed_solid *a, *b;
    double s, tie;  // best separation so far; one has to beat it by more than tie [m]
    perp_vec3 n;    // its axis, unit, from a to b, world axes
    cut_list cut;   // world axes
} axis_search;

// Beyond CUT_MAX the one that was of least use gives way.
static void add_cut(cut_list *cut, perp_vec3 w)
{
    cut->w[cut->count < CUT_MAX ? cut->count++ : CUT_MAX - 1] = w;
}

// Evaluates the true s(n) by support points.
static void try_axis(axis_search *w, perp_vec3 n)
{
    perp_vec3 x = pp_core_support(w->a, n), y = pp_core_support(w->b, pp_scale(-1.0, n));
    perp_vec3 between = pp_sub(y, x);
    double s = pp_dot3(n, between);
    add_cut(&w->cut, between);
    if (s > w->s + w->tie) {
        w->s = s;
        w->n = n;
    }
}

// ── Boxes ────────────────────────────────────────────────────────────────────────────────────────

typedef struct two_boxes {
    double C[3][3];       // R_A^T R_B: column j is axis j of b in the frame of a
    double ha[3], hb[3];  // half extents [m]
    double t[3];          // from the centre of a to that of b, in a
    double best;          // largest s(n) so far [m]; negative: they overlap along all axes so far
    double n[3];          // its axis, unit, in a, pointing from a to b
} two_boxes;

// A segment (capsule core) is a box with half extents (0, 0, h), a point one with none.
static void box_half_extents(const pp_placed_solid *s, double *half)
{
    const pp_solid *solid = s->solid;
    bool box = solid->kind == PP_SOLID_BOX;
    half[0] = box ? solid->half.x : 0.0;
    half[1] = box ? solid->half.y : 0.0;
    half[2] = solid->kind == PP_SOLID_SPHERE ? 0.0 : solid->half.z;
}

// The six face normals. s = |t.n| - (projected half extents of a) - (those of b). A face of a wins
// over a face of b unless the latter is better by more than roundoff: the axis must not jump between
// the two from step to step while they lie flat on each other.
static void try_box_faces(two_boxes *w, double tie)
{
    // faces of a: the axis is e_i, so a projects to ha[i] and b to sum_j |C_ij| hb[j]
    for (int i = 0; i < 3; i++) {
        double s = fabs(w->t[i]) - w->ha[i];
        for (int j = 0; j < 3; j++) {
            s -= fabs(w->C[i][j]) * w->hb[j];
        }
        if (s > w->best) {
            w->best = s;
            for (int k = 0; k < 3; k++) {
                w->n[k] = k == i ? copysign(1.0, w->t[i]) : 0.0;
            }
        }
    }
    // faces of b: the axis is column j of C
    for (int j = 0; j < 3; j++) {
        double along = 0.0, s = -w->hb[j];
        for (int i = 0; i < 3; i++) {
            along += w->t[i] * w->C[i][j];
            s -= fabs(w->C[i][j]) * w->ha[i];
        }
        s += fabs(along);
        if (s > w->best + tie) {
            w->best = s;
            for (int k = 0; k < 3; k++) {
                w->n[k] = copysign(1.0, along) * w->C[k][j];
            }
        }
    }
}

// Evaluates s(n) of the unit axis n = l / length across an edge of each, and keeps it if it is the best. The
// screening in try_box_edges works on sums that are not normalised; this is the value that is returned.
static void try_box_edge_pair(two_boxes *w, const double *l, double length, double tie)
{
    double n[3], along = 0.0, s = 0.0;
    for (int k = 0; k < 3; k++) {
        n[k] = l[k] / length;
        along += n[k] * w->t[k];
        s -= fabs(n[k]) * w->ha[k];
    }
    for (int j = 0; j < 3; j++) {
        s -= w->hb[j] * fabs(n[0] * w->C[0][j] + n[1] * w->C[1][j] + n[2] * w->C[2][j]);
    }
    s += fabs(along);
    if (s > w->best + tie) {
        w->best = s;
        for (int k = 0; k < 3; k++) {
            w->n[k] = along >= 0.0 ? n[k] : -n[k];
        }
    }
}

// The nine edge-edge axes l = e_i x C_j, not normalised. With (i, p, q) cyclic, l has the components
// l_i = 0, l_p = -C_qj, l_q = C_pj, and l . C_r = C_is, l . C_s = -C_ir with (j, r, s) cyclic: half the
// terms of the projections vanish. Faces win ties: their manifolds have more points than one.
static void try_box_edges(two_boxes *w, double tie)
{
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        if (!(w->ha[i] > 0.0)) {
            continue;  // no edge along this axis: a segment or a point
        }
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3;
            double lp = -w->C[q][j], lq = w->C[p][j], length2 = lp * lp + lq * lq;
            double reach = fabs(lp) * w->ha[p] + fabs(lq) * w->ha[q] + fabs(w->C[i][s]) * w->hb[r] +
                           fabs(w->C[i][r]) * w->hb[s];
            double room = fabs(lp * w->t[p] + lq * w->t[q]) - reach, length = sqrt(length2);
            // parallel edges add nothing to the face normals; nor does an edge of b without length
            if (length < 1e-8 || w->hb[j] == 0.0 || room <= (w->best - tie) * length) {
                continue;
            }
            double l[3] = {0.0, 0.0, 0.0};
            l[p] = lp;
            l[q] = lq;
            try_box_edge_pair(w, l, length, tie);
        }
    }
}

double pp_box_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double most,
                              perp_vec3 *n)
{
    two_boxes w = {.best = -PP_INF};
    pp_mat3 Rt = pp_transpose3(&a->R), C = pp_mat_mul(&Rt, &b->R);
    perp_vec3 t = pp_mul_t(&a->R, pp_sub(b->p, a->p));
    double tie = 2e-15 * (a->size + b->size);
    for (int k = 0; k < 9; k++) {
        w.C[k / 3][k % 3] = C.m[k];
    }
    w.t[0] = t.x;
    w.t[1] = t.y;
    w.t[2] = t.z;
    box_half_extents(a, w.ha);
    box_half_extents(b, w.hb);
    try_box_faces(&w, tie);
    // further apart than asked for already: the pair is culled, whichever axis parts it best
    if (w.best <= most) {
        try_box_edges(&w, tie);
    }
    *n = pp_unit(pp_mul(&a->R, pp_vec(w.n[0], w.n[1], w.n[2])), pp_vec(0.0, 0.0, 1.0));
    return w.best;
}

// ── Polyhedra ────────────────────────────────────────────────────────────────────────────────────

// A polyhedron in its own frame.
typedef struct facets {
    int faces, edges;
    const perp_vec3 *normal, *vertex;
    const int (*edge)[4];
    bool has_faces;
    perp_vec3 box_normal[6], box_vertex[8];
} facets;

// Vertex pair and face pair of each edge of a box; numbers as in patch.c.
static const int BOX_EDGE[12][4] = {{0, 1, 2, 4}, {2, 3, 3, 4}, {4, 5, 2, 5}, {6, 7, 3, 5},
                                    {0, 2, 0, 4}, {1, 3, 1, 4}, {4, 6, 0, 5}, {5, 7, 1, 5},
                                    {0, 4, 0, 2}, {1, 5, 1, 2}, {2, 6, 0, 3}, {3, 7, 1, 3}};
static const int SEGMENT_EDGE[1][4] = {{0, 1, 0, 0}};

// The hull's own arrays, or those of a box or segment made on the spot; a point has neither faces nor edges.
static void set_facets(facets *f, const pp_solid *s)
{
    perp_vec3 h = s->half;
    f->vertex = f->box_vertex;
    f->normal = f->box_normal;
    f->faces = f->edges = 0;
    f->has_faces = true;
    if (s->kind == PP_SOLID_HULL) {
        f->faces = s->hull->faces;
        f->edges = s->hull->edges;
        f->normal = s->hull->face_normal;
        f->vertex = s->hull->vertex;
        f->edge = s->hull->edge;
    } else if (s->kind == PP_SOLID_BOX) {
        f->faces = 6;
        f->edges = 12;
        f->edge = BOX_EDGE;
        for (int k = 0; k < 8; k++) {
            double x = k & 1 ? h.x : -h.x;
            double y = k & 2 ? h.y : -h.y;
            double z = k & 4 ? h.z : -h.z;
            f->box_vertex[k] = pp_vec(x, y, z);
        }
        // faces 2 i and 2 i + 1 look along -axis i and +axis i
        f->box_normal[0] = pp_vec(-1.0, 0.0, 0.0);
        f->box_normal[1] = pp_vec(1.0, 0.0, 0.0);
        f->box_normal[2] = pp_vec(0.0, -1.0, 0.0);
        f->box_normal[3] = pp_vec(0.0, 1.0, 0.0);
        f->box_normal[4] = pp_vec(0.0, 0.0, -1.0);
        f->box_normal[5] = pp_vec(0.0, 0.0, 1.0);
    } else if (s->kind == PP_SOLID_CAPSULE) {
        f->edges = 1;
        f->edge = SEGMENT_EDGE;
        f->has_faces = false;
        f->box_vertex[0] = pp_vec(0.0, 0.0, -h.z);
        f->box_vertex[1] = pp_vec(0.0, 0.0, h.z);
    }
}

// Cuts for the outward normals of a solid, in its frame. sign: from the outward normal to n, +1 for a and -1 for b.
static cut_list cuts_of(const axis_search *w, const pp_placed_solid *of, double sign)
{
    cut_list local = {.count = w->cut.count};
    for (int k = 0; k < w->cut.count; k++) {
        local.w[k] = pp_scale(sign, pp_mul_t(&of->R, w->cut.w[k]));
    }
    return local;
}

// Whether one of the cuts is at most `most` for both p and q, and so for all of the arc between them. It moves to the front.
static bool is_cut(cut_list *cut, perp_vec3 p, perp_vec3 q, double most)
{
    for (int k = 0; k < cut->count; k++) {
        if (pp_dot3(p, cut->w[k]) <= most && pp_dot3(q, cut->w[k]) <= most) {
            perp_vec3 found = cut->w[k];
            cut->w[k] = cut->w[k / 2];
            cut->w[k / 2] = found;
            return true;
        }
    }
    return false;
}

// What an axis must be above to count. Half of the tie covers rounding.
static double to_beat(const axis_search *w)
{
    return w->s + 0.5 * w->tie;
}

static void try_hull_faces(axis_search *w, const facets *f, const pp_placed_solid *of, double sign)
{
    cut_list local = cuts_of(w, of, sign);
    for (int k = 0; k < f->faces; k++) {
        perp_vec3 normal = f->normal[k];
        if (is_cut(&local, normal, normal, to_beat(w))) {
            continue;
        }
        try_axis(w, pp_scale(sign, pp_mul(&of->R, normal)));
        perp_vec3 last = w->cut.w[w->cut.count - 1];
        add_cut(&local, pp_scale(sign, pp_mul_t(&of->R, last)));
    }
}

// Whether no axis on the arc from p to q, the normals beside an edge, can win. Such an axis is n = (l p + m q) / |l p + m q|
// with l, m >= 0, and |l p + m q| is between (l + m) cos and l + m, with cos = |p + q| / 2 of half the arc. So with p.w <= c
// and q.w <= c, n.w is at most c where c < 0, and at most c / cos else.
static bool is_arc_cut(const axis_search *w, cut_list *local, perp_vec3 p, perp_vec3 q)
{
    double most = to_beat(w);
    if (most > 0.0) {
        most *= 0.5 * pp_length(pp_add(p, q));
    }
    return is_cut(local, p, q, most);
}

// Normals beside an edge that are all but opposite, as those of flat hulls, do not say which arc is between them.
static bool has_arc(perp_vec3 p, perp_vec3 q)
{
    return pp_dot3(p, q) > -0.999;
}

// An edge in the frame of the other polyhedron: a point of it, its direction and the normals beside it,
// turned towards the other.
typedef struct facing_edge {
    perp_vec3 x, d, c, e;
    // c and e are not opposite, so that the arc between them is known; false for flat hulls
    bool arc;
    bool turned;  // d runs against e x c
} facing_edge;

static facing_edge edge_in_other_frame(const facets *f, int k, const pp_pose *X)
{
    const int *edge = f->edge[k];
    perp_vec3 x = pp_pose_point(X, f->vertex[edge[0]]), y = pp_pose_point(X, f->vertex[edge[1]]);
    facing_edge e = {x, pp_sub(y, x), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, false, false};
    if (f->has_faces) {
        e.c = pp_scale(-1.0, pp_mul(&X->R, f->normal[edge[2]]));
        e.e = pp_scale(-1.0, pp_mul(&X->R, f->normal[edge[3]]));
        e.arc = has_arc(e.c, e.e);
        e.turned = pp_dot3(e.d, pp_cross(e.e, e.c)) < 0.0;
    }
    return e;
}

// Whether the arcs from p to q (normals beside an edge along d) and from e->c to e->e cross: each has its ends on
// both sides of the other's plane, and they are not on opposite sides of the sphere.
static bool gauss_arcs_cross(perp_vec3 p, perp_vec3 q, perp_vec3 d, const facing_edge *e)
{
    double c = pp_dot3(e->c, d), f = pp_dot3(e->e, d), g = pp_dot3(p, e->d), h = pp_dot3(q, e->d);
    if (c * f > 0.0 || g * h > 0.0) {
        return false;
    }
    bool turned = (pp_dot3(d, pp_cross(q, p)) < 0.0) != e->turned;
    return turned ? c * h <= 0.0 && f * g <= 0.0 : c * h >= 0.0 && f * g >= 0.0;
}

// An edge of a, in its frame.
typedef struct own_edge {
    perp_vec3 x, d;  // a point and the direction
    perp_vec3 p, q;  // normals of the faces beside it
    bool arc;        // known to be between them
} own_edge;

// One pair of edges, in the frame of a. Most pairs fall to the test of the Gauss map, most of the rest to the bound by one
// point of each edge; few reach the support points in try_axis().
static void try_edge_pair(axis_search *w, const own_edge *o, const facing_edge *e)
{
    bool arc = o->arc && e->arc;
    if (arc && !gauss_arcs_cross(o->p, o->q, o->d, e)) {
        return;
    }
    perp_vec3 n = pp_cross(o->d, e->d);
    double length2 = pp_dot3(n, n), both = pp_dot3(o->d, o->d) * pp_dot3(e->d, e->d);
    if (!(length2 > 1e-16 * both)) {
        return;  // parallel edges: a face normal is as good
    }
    n = pp_scale(1.0 / sqrt(length2), n);
    double along = pp_dot3(n, pp_sub(e->x, o->x));
    // With arcs the side of n is known: that of the faces of a. Without, both are tried.
    double side = arc ? copysign(1.0, pp_dot3(n, pp_add(o->p, o->q))) : copysign(1.0, along);
    if (side * along > w->s + w->tie) {
        try_axis(w, pp_mul(&w->a->R, pp_scale(side, n)));
    }
    if (!arc && -side * along > w->s + w->tie) {
        try_axis(w, pp_mul(&w->a->R, pp_scale(-side, n)));
    }
}

enum { EDGES_MOST = 256 };  // of a that are taken at a time

// The edges of a from `from` on whose arcs are not cut, at most EDGES_MOST. Returns where it ended.
static int gather_edges(const axis_search *w, const facets *f, int from, own_edge *out, int *count)
{
    cut_list local = cuts_of(w, w->a, 1.0);
    *count = 0;
    for (; from < f->edges && *count < EDGES_MOST; from++) {
        const int *edge = f->edge[from];
        perp_vec3 x = f->vertex[edge[0]], d = pp_sub(f->vertex[edge[1]], x);
        own_edge o = {x, d, d, d, false};
        if (f->has_faces) {
            o.p = f->normal[edge[2]];
            o.q = f->normal[edge[3]];
            o.arc = has_arc(o.p, o.q);
        }
        if (!o.arc || !is_arc_cut(w, &local, o.p, o.q)) {
            out[(*count)++] = o;
        }
    }
    return from;
}

// All pairs of edges of which neither is cut: edges of b are moved to the frame of a once each.
static void try_hull_edges(axis_search *w, const facets *fa, const facets *fb)
{
    pp_mat3 Rt = pp_transpose3(&w->a->R);
    pp_pose X_AB = {pp_pose_local(&(pp_pose){w->a->p, w->a->R}, w->b->p),
                    pp_mat_mul(&Rt, &w->b->R)};
    own_edge own[EDGES_MOST];
    int from = 0, count;
    while (from < fa->edges) {
        from = gather_edges(w, fa, from, own, &count);
        cut_list local = cuts_of(w, w->b, -1.0);
        for (int j = 0; j < fb->edges; j++) {
            if (fb->has_faces) {
                perp_vec3 p = fb->normal[fb->edge[j][2]], q = fb->normal[fb->edge[j][3]];
                if (has_arc(p, q) && is_arc_cut(w, &local, p, q)) {
                    continue;
                }
            }
            facing_edge e = edge_in_other_frame(fb, j, &X_AB);
            for (int i = 0; i < count; i++) {
                try_edge_pair(w, &own[i], &e);
            }
        }
    }
}

// From how many faces of both on it pays to look for a good axis before all of them are gone through.
enum { SEEDED_FROM = 100 };

// A good axis, and cuts around it: the best of the directions to the corners, edges and faces of a cube, then better ones
// beside it, by steps that become shorter.
static void seed_axes(axis_search *w)
{
    for (int k = 0; k < 27; k++) {
        int digit[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        perp_vec3 d = pp_vec(digit[0], digit[1], digit[2]);
        try_axis(w, pp_unit(d, w->n));
    }
    double step = 0.3;  // [rad]
    while (step > 1e-4) {
        perp_vec3 e = pp_across(w->n), f = pp_cross(w->n, e), from = w->n;
        double before = w->s;
        try_axis(w, pp_unit(pp_along(from, step, e), from));
        try_axis(w, pp_unit(pp_along(from, -step, e), from));
        try_axis(w, pp_unit(pp_along(from, step, f), from));
        try_axis(w, pp_unit(pp_along(from, -step, f), from));
        step = w->s > before ? step : 0.4 * step;
    }
}

double pp_hull_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double best,
                               perp_vec3 *n)
{
    facets fa, fb;
    axis_search w = {.a = a, .b = b, .s = best, .tie = 1e-15 * (a->size + b->size), .n = *n};
    set_facets(&fa, a->solid);
    set_facets(&fb, b->solid);
    if (fa.faces + fb.faces > SEEDED_FROM) {
        seed_axes(&w);
        // an axis of a face or of two edges that is as good wins
        w.s -= w.s > best ? 4.0 * w.tie : 0.0;
    }
    try_hull_faces(&w, &fa, a, 1.0);
    try_hull_faces(&w, &fb, b, -1.0);
    try_hull_edges(&w, &fa, &fb);
    *n = w.n;
    return w.s;
}

// ── Likely axes of any pair ──────────────────────────────────────────────────────────────────────

enum { LIKELY_FACES_MAX = 32 };

// Face normals. sign: n is sign times the outward normal, +1 for a and -1 for b. A box and a cylinder have a face on
// either side, so their sign does not matter. LIKELY_FACES_MAX bounds the cost.
static void try_likely_faces(axis_search *t, const pp_placed_solid *s, double sign)
{
    const pp_solid *solid = s->solid;
    perp_vec3 axis = pp_mat3_column(&s->R, 2);
    if (solid->kind == PP_SOLID_BOX) {
        for (int k = 0; k < 6; k++) {
            try_axis(t, pp_scale(k & 1 ? 1.0 : -1.0, pp_mat3_column(&s->R, k / 2)));
        }
    } else if (solid->kind == PP_SOLID_CYLINDER) {
        try_axis(t, axis);
        try_axis(t, pp_scale(-1.0, axis));
    } else if (solid->kind == PP_SOLID_CONE) {
        try_axis(t, pp_scale(-sign, axis));
    } else if (solid->kind == PP_SOLID_HULL) {
        int faces = solid->hull->faces < LIKELY_FACES_MAX ? solid->hull->faces : LIKELY_FACES_MAX;
        for (int f = 0; f < faces; f++) {
            try_axis(t, pp_scale(sign, pp_mul(&s->R, solid->hull->face_normal[f])));
        }
    }
}

// What the round side of a solid is around. 0: none; 1: a point; 2: a straight axis.
static int round_side_axis(const pp_placed_solid *s, perp_vec3 *axis)
{
    pp_solid_kind kind = s->solid->kind;
    *axis = pp_mat3_column(&s->R, 2);
    if (kind == PP_SOLID_SPHERE) {
        return 1;
    }
    return kind == PP_SOLID_CAPSULE || kind == PP_SOLID_CYLINDER ? 2 : 0;
}

// Round sides lying on each other: from one axis to the other's middle, or across both.
static void try_round_sides(axis_search *t)
{
    perp_vec3 d, e, between = pp_sub(t->b->p, t->a->p);
    int of_a = round_side_axis(t->a, &d), of_b = round_side_axis(t->b, &e);
    if (of_a == 0 || of_b == 0) {
        return;
    }
    if (of_a == 2) {
        try_axis(t, pp_radial(between, d));
    }
    if (of_b == 2) {
        try_axis(t, pp_radial(between, e));
    }
    perp_vec3 across = pp_cross(d, e);
    if (of_a == 2 && of_b == 2 && pp_dot3(across, across) > 1e-12) {
        across = pp_unit(across, d);
        try_axis(t, pp_scale(pp_dot3(across, between) < 0.0 ? -1.0 : 1.0, across));
    }
}

double pp_quick_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 *n)
{
    axis_search t = {.a = a, .b = b, .s = -PP_INF, .n = *n};
    try_likely_faces(&t, a, 1.0);
    try_likely_faces(&t, b, -1.0);
    try_round_sides(&t);
    *n = t.n;
    return t.s;
}

// The least manifold_width of the spots that are no more than the depth above the closest, of four directions.
static double manifold_width(const pp_manifold3 *m, double depth)
{
    static const double C = 0.9238795325112867, S = 0.3826834323650898;
    const double way[4][2] = {{C, S}, {S, C}, {-S, C}, {-C, S}};
    double least = PP_INF, lowest = PP_INF;
    for (int k = 0; k < m->count; k++) {
        lowest = fmin(lowest, m->spot[k].gap);
    }
    for (int w = 0; w < 4; w++) {
        perp_vec3 d = pp_along(pp_scale(way[w][0], m->e), way[w][1], m->f);
        double low = PP_INF, high = -PP_INF;
        for (int k = 0; k < m->count; k++) {
            if (m->spot[k].gap <= lowest + depth) {
                low = fmin(low, pp_dot3(d, m->spot[k].x));
                high = fmax(high, pp_dot3(d, m->spot[k].x));
            }
        }
        least = fmin(least, high - low);
    }
    return least;
}

// The difference D = b - a of the cores has a flat stretch across n at the depth h below the origin. Its inner
// radius rho is a third of its manifold_width at least (Steinhagen), and D is t thick there, and nowhere wider than
// its size. A plane that supports D and is turned from n by an angle up to a right one then is
// at least h cos + rho sin away from the origin, one on the other side about t rho / size: further than h, if h is
// small against rho, t and t rho / size.
bool pp_quick_deepest(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    double depth = fmax(0.0, m->round_a + m->round_b - m->s);
    double rho = 0.3 * manifold_width(m, depth), size = a->size + b->size;
    double thick = -pp_core_separation(a, b, pp_scale(-1.0, m->n));
    return m->count > 2 && fmin(fmin(rho, thick), 0.25 * thick * rho / size) >= 4.0 * depth;
}

// Points p of D = b - a around n, each where a plane that is turned from n by a quarter of the turn supports D. With q the
// parts of the p across n, z = n.p <= s + up, and rho the radius of a circle around 0 within all q, a unit vector u at
// the angle phi to n has a p with
//
//   s(u) <= u.p <= (s + up) cos phi - rho sin phi ,
//
// which is less than s from phi = turn on where rho turn is large against up, and rho against -s. Beyond a right angle
// it is negative, and where the cores overlap the thickness of D bounds it, as in pp_quick_deepest.
bool pp_deepest_within(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n, double s,
                       double turn)
{
    static const double C = 0.70710678118654752;
    const double way[8][2] = {{1, 0}, {C, C}, {0, 1}, {-C, C}, {-1, 0}, {-C, -C}, {0, -1}, {C, -C}};
    perp_vec3 e = pp_across(n), f = pp_cross(n, e);
    double q[8][2];
    double depth = fmax(0.0, -s), up = 0.0, rho = PP_INF, size = a->size + b->size;
    for (int k = 0; k < 8; k++) {
        perp_vec3 d = pp_along(pp_scale(way[k][0], e), way[k][1], f);
        perp_vec3 u = pp_unit(pp_along(n, 0.25 * turn, d), n);
        perp_vec3 p = pp_sub(pp_core_support(b, pp_scale(-1.0, u)), pp_core_support(a, u));
        q[k][0] = pp_dot3(p, e);
        q[k][1] = pp_dot3(p, f);
        up = fmax(up, pp_dot3(p, n) - s);
    }
    // q goes around 0 counter-clockwise, and so does every side of it: rho is negative where one does not
    for (int k = 0; k < 8; k++) {
        const double *x = q[k], *y = q[(k + 1) % 8];
        double length = pp_length2(y[0] - x[0], y[1] - x[1]);
        if (length > 1e-9 * size) {
            rho = fmin(rho, (x[0] * y[1] - x[1] * y[0]) / length);
        }
    }
    double thick = -pp_core_separation(a, b, pp_scale(-1.0, n));
    return rho > 0.0 && rho < PP_INF && rho * turn >= 2.0 * up &&
           fmin(fmin(rho, thick), 0.25 * thick * rho / size) >= 4.0 * depth;
}
