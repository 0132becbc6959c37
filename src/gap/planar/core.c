// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of two convex polygons by the separating axis test, and the contact manifold of facing sides.
//
// The separation along the outward normal n_i of a side of one is s_i = min_j n_i.(y_j - x_i) over the
// vertices y_j of the other. With s = max s_i over the sides of both,
//     overlapping: s <= 0 is minus the shortest translation that parts them, along n_i;
//     apart:       s <= distance, with equality when a vertex is closest to a side; else two vertices are
//                  closest, and then their distance is the answer.
// The side with the largest s is the reference. The side of the other polygon at the supporting vertex y_j
// that faces it most squarely is the incident one. They overlap along the reference on an interval, each
// end of which is a vertex of one of the two; the points stand there, with their gap along the
// reference normal. Which of two parallel sides is the reference decides nothing but the last digits:
// interval, gaps and features are the same.
//
// Two vertices that are closest are one point, with the line through them as its normal. Of the two pairs of
// sides that leave them on the same hand, the one that faces more squarely gives the other point: the
// far end of the stretch along which they do, as above. Without it a side that comes down flat would be
// seen to do so a step too late. So points come and go continuously: a stretch grows from length 0,
// and a point that tilts away leaves when its gap exceeds the margin.
#include "gap/planar/core.h"

#include <math.h>

// Relative to the largest length: differences that rounding can make.
static const double ROUNDING = 1e-12;
// Vertices of a and b this close along the side are called by a's name, whichever ends the interval.
static const double SAME_NAME = 1e-6;

void pp_core_set(pp_core *core, const pp_shape *shape, const pp_frame *frame, pp_vec2 origin)
{
    pp_vec2 from = pp_sub2(pp_vec2_of(frame->p), origin);
    core->radius = shape->radius;
    if (shape->kind == PERP_SHAPE_POLYGON) {
        core->count = shape->count;
        for (int k = 0; k < shape->count; k++) {
            core->v[k] = pp_add2(from, 1.0, pp_rotate2(frame, shape->vertex_B[k]));
            core->n[k] = pp_rotate2(frame, shape->normal_B[k]);
        }
        return;
    }
    pp_vec2 centre = pp_add2(from, 1.0, pp_rotate2(frame, shape->p_BS));
    if (shape->kind == PERP_SHAPE_SEGMENT || shape->kind == PERP_SHAPE_CAPSULE) {
        pp_vec2 axis = pp_rotate2(frame, shape->axis_B);
        core->count = 2;  // side 0 has the normal +y of the shape
        core->v[0] = pp_add2(centre, shape->half, axis);
        core->v[1] = pp_add2(centre, -shape->half, axis);
        core->n[0] = (pp_vec2){-axis.y, axis.x};
        core->n[1] = (pp_vec2){axis.y, -axis.x};
        return;
    }
    core->count = 1;
    core->v[0] = centre;
}

void pp_cores_set(pp_core *a, pp_core *b, const perp_model *model, const pp_frame *body,
                  const int shape[2])
{
    const pp_shape *sa = &model->shape[shape[0]], *sb = &model->shape[shape[1]];
    pp_vec2 origin = pp_vec2_of(body[sa->body].p);
    double skin = pp_skin(model, shape[0], shape[1]);
    pp_core_set(a, sa, &body[sa->body], origin);
    pp_core_set(b, sb, &body[sb->body], origin);
    a->radius += 0.5 * skin;
    b->radius += 0.5 * skin;
}

// Separation along one side, and the vertex that sets it.
typedef struct reach {
    double s;
    int side, vertex;
} reach;

static reach side_reach(const pp_core *of, const pp_core *to, int side)
{
    pp_vec2 n = of->n[side];
    reach r = {HUGE_VAL, side, 0};
    for (int j = 0; j < to->count; j++) {
        double s = pp_dot2(n, pp_sub2(to->v[j], of->v[side]));
        if (s < r.s) {
            r.s = s;
            r.vertex = j;
        }
    }
    return r;
}

// The side of `of` with the largest separation; a single vertex has none.
static reach best_reach(const pp_core *of, const pp_core *to)
{
    reach best = {-HUGE_VAL, 0, 0};
    if (of->count == 1) {
        return best;
    }
    for (int i = 0; i < of->count; i++) {
        reach r = side_reach(of, to, i);
        if (r.s > best.s) {
            best = r;
        }
    }
    return best;
}

// Largest coordinate, which sets what rounding can do: positions are relative to a nearby origin.
static double size(const pp_core *core)
{
    double most = core->radius;
    for (int k = 0; k < core->count; k++) {
        most = fmax(most, fmax(fabs(core->v[k].x), fabs(core->v[k].y)));
    }
    return most;
}

// ── Facing sides ─────────────────────────────────────────────────────────────────────────────────

// Index 0: the end that comes first along the reference side, counter-clockwise; 1: the other.
typedef struct clip {
    const pp_core *ref, *inc;
    bool ref_is_b;
    int side, inc_side;
    int vertex[2], inc_vertex[2];
    double t[2];  // ends of the reference side: 0 and its length
    double inc_t[2],
        inc_h[2];  // of the incident vertices: place along the reference, height above it
} clip;

// Of the sides at the supporting vertex, the one that faces the reference more squarely.
static int incident_side(const pp_core *ref, const pp_core *inc, const reach *r)
{
    int k = r->vertex, before = (k + inc->count - 1) % inc->count;
    pp_vec2 n = ref->n[r->side];
    return inc->count > 1 && pp_dot2(n, inc->n[before]) < pp_dot2(n, inc->n[k]) ? before : k;
}

// Reference side i and incident side k, measured along the reference: t along it, counter-clockwise, h above it.
static void set_clip(clip *c, int i, int k)
{
    const pp_core *ref = c->ref, *inc = c->inc;
    pp_vec2 n = ref->n[i], along = {-n.y, n.x}, start = ref->v[i];
    c->side = i;
    c->inc_side = k;
    c->vertex[0] = i;
    c->vertex[1] = (i + 1) % ref->count;
    c->t[0] = 0.0;
    c->t[1] = pp_dot2(along, pp_sub2(ref->v[c->vertex[1]], start));
    int next = (k + 1) % inc->count;  // facing sides run against each other
    bool turned = pp_dot2(along, inc->v[next]) <= pp_dot2(along, inc->v[k]);
    c->inc_vertex[0] = turned ? next : k;
    c->inc_vertex[1] = turned ? k : next;
    for (int e = 0; e < 2; e++) {
        pp_vec2 x = pp_sub2(inc->v[c->inc_vertex[e]], start);
        c->inc_t[e] = pp_dot2(along, x);
        c->inc_h[e] = pp_dot2(n, x);
    }
}

// Height of the incident side above the place t of the reference.
static double height_at(const clip *c, double t)
{
    double width = c->inc_t[1] - c->inc_t[0];
    if (!(width > 0.0)) {
        return fmin(c->inc_h[0], c->inc_h[1]);
    }
    double part = fmin(fmax((t - c->inc_t[0]) / width, 0.0), 1.0);
    return (1.0 - part) * c->inc_h[0] + part * c->inc_h[1];
}

// Which vertex and side end e is named by. of_ref: the end is a vertex of the reference.
static uint32_t end_feature(const clip *c, int e, bool of_ref)
{
    if (c->inc->count == 1) {
        return 0;
    }
    if (fabs(c->t[e] - c->inc_t[e]) <= SAME_NAME * c->t[1]) {
        of_ref = !c->ref_is_b;
    }
    int vertex = of_ref ? c->vertex[e] : c->inc_vertex[e];
    int side = of_ref ? c->inc_side : c->side;
    return of_ref == c->ref_is_b ? pp_feature(PP_SIDE_VERTEX, side, vertex)
                                 : pp_feature(PP_VERTEX_SIDE, vertex, side);
}

// One end of the interval; returns its place along the reference.
static double set_end(const clip *c, int e, pp_manifold2_point *spot)
{
    bool of_ref = e == 0 ? c->t[e] > c->inc_t[e] : c->t[e] < c->inc_t[e];
    pp_vec2 n = c->ref->n[c->side];
    spot->n = c->ref_is_b ? (pp_vec2){-n.x, -n.y} : n;  // from a to b
    spot->of_a = of_ref != c->ref_is_b;
    spot->feature = end_feature(c, e, of_ref);
    if (of_ref) {
        spot->x = c->ref->v[c->vertex[e]];
        spot->gap = height_at(c, c->t[e]);
        return c->t[e];
    }
    spot->x = c->inc->v[c->inc_vertex[e]];
    spot->gap = c->inc_h[e];
    return c->inc_t[e];
}

// False when the sides do not face each other where the separation is taken: two vertices are closest.
static bool facing(const pp_core *ref, const pp_core *inc, bool ref_is_b, const reach *r,
                   double rounding, pp_manifold2 *m)
{
    clip c = {.ref = ref, .inc = inc, .ref_is_b = ref_is_b};
    set_clip(&c, r->side, incident_side(ref, inc, r));
    double first = set_end(&c, 0, &m->spot[0]), last = set_end(&c, 1, &m->spot[1]);
    double lowest = fmin(m->spot[0].gap, m->spot[1].gap);
    // no overlap along the reference, or the supporting vertex is not above it
    if (last < first - rounding || lowest > r->s + rounding) {
        return false;
    }
    m->count = 2;
    if (inc->count == 1 || last <= first + rounding) {  // one place: one point
        m->count = 1;
        if (m->spot[1].gap < m->spot[0].gap) {
            m->spot[0] = m->spot[1];
        }
    } else if (m->spot[1].feature < m->spot[0].feature) {
        pp_manifold2_point spot = m->spot[0];
        m->spot[0] = m->spot[1];
        m->spot[1] = spot;
    }
    return true;
}

// ── Vertices ─────────────────────────────────────────────────────────────────────────────────────

// All pairs, by squared distance; the first of equals.
static double closest_vertices(const pp_core *a, const pp_core *b, int *at_a, int *at_b)
{
    double least = HUGE_VAL;
    *at_a = *at_b = 0;
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            pp_vec2 d = pp_sub2(b->v[j], a->v[i]);
            double square = pp_dot2(d, d);
            if (square < least) {
                least = square;
                *at_a = i;
                *at_b = j;
            }
        }
    }
    pp_vec2 d = pp_sub2(b->v[*at_b], a->v[*at_a]);
    return pp_hypot(d.x, d.y);
}

// The far end of the stretch along which sides of a and b, which leave the closest vertices on the same
// hand, face each other. False when they do not, or stay as close as the vertices are.
static bool far_end(const pp_core *a, const pp_core *b, int side_a, int side_b, bool left,
                    double rounding, const pp_manifold2_point *closest, pp_manifold2_point *spot)
{
    pp_vec2 na = a->n[side_a], nb = b->n[side_b];
    double of_a = pp_dot2(na, closest->n), of_b = -pp_dot2(nb, closest->n);
    // the reference is the side that is more squarely across the closest normal; a in a tie
    bool ref_is_b = (of_b - of_a) * closest->gap > rounding;
    clip c = {.ref = a, .inc = b, .ref_is_b = ref_is_b};
    if (ref_is_b) {
        c.ref = b;
        c.inc = a;
        set_clip(&c, side_b, side_a);
    } else {
        set_clip(&c, side_a, side_b);
    }
    int e = left != ref_is_b ? 1 : 0;  // on the left a's side leaves its vertex, b's comes to it
    double near = c.t[1 - e], far = set_end(&c, e, spot);
    double length = e == 1 ? far - near : near - far;
    return length > rounding && spot->gap > closest->gap + rounding;
}

// Keeps spot 0, the vertices, and puts the far end before it where there is one. The normals of facing sides have a
// negative scalar product.
static void add_far_end(const pp_core *a, const pp_core *b, int i, int j, double rounding,
                        pp_manifold2 *m)
{
    if (a->count == 1 || b->count == 1) {
        return;
    }
    int before_i = (i + a->count - 1) % a->count, before_j = (j + b->count - 1) % b->count;
    double on_left = pp_dot2(a->n[i], b->n[before_j]), on_right = pp_dot2(a->n[before_i], b->n[j]);
    bool left = on_left <= on_right;
    m->spot[1] = m->spot[0];
    int side_a = left ? i : before_i;
    int side_b = left ? before_j : j;
    if (fmin(on_left, on_right) < 0.0 &&
        far_end(a, b, side_a, side_b, left, rounding, &m->spot[1], &m->spot[0])) {
        m->count = 2;  // vertices have the highest of features
    } else {
        m->spot[0] = m->spot[1];
    }
}

// ── Both ─────────────────────────────────────────────────────────────────────────────────────────

// Any other side that rounding alone keeps from being the best.
static bool any_facing(const pp_core *ref, const pp_core *inc, bool ref_is_b, double least,
                       double rounding, pp_manifold2 *m)
{
    if (ref->count == 1) {
        return false;
    }
    for (int i = 0; i < ref->count; i++) {
        reach r = side_reach(ref, inc, i);
        if (r.s >= least && facing(ref, inc, ref_is_b, &r, rounding, m)) {
            return true;
        }
    }
    return false;
}

bool pp_core_manifold(const pp_core *a, const pp_core *b, pp_vec2 axis, double most,
                      pp_manifold2 *m)
{
    double rounding = ROUNDING * fmax(size(a), size(b));
    reach of_a = best_reach(a, b), of_b = best_reach(b, a);
    double s = fmax(of_a.s, of_b.s);
    if (s - rounding > most) {
        return false;
    }
    // the reference side is of a unless one of b is better by more than rounding
    bool a_first = of_a.s >= of_b.s - rounding;
    const pp_core *ref = a, *inc = b;
    const reach *first = &of_a;
    if (!a_first) {
        ref = b;
        inc = a;
        first = &of_b;
    }
    if (ref->count > 1 && facing(ref, inc, !a_first, first, rounding, m)) {
        return true;
    }
    if (any_facing(a, b, false, s - rounding, rounding, m) ||
        any_facing(b, a, true, s - rounding, rounding, m)) {
        return true;
    }
    // no sides face each other: two vertices are closest
    int i, j;
    double distance = closest_vertices(a, b, &i, &j);
    bool rolls = a->count == 1 || b->count == 1;
    m->count = 1;
    m->spot[0].x = a->v[i];
    m->spot[0].of_a = true;
    m->spot[0].feature = rolls ? 0 : pp_feature(PP_VERTEX_VERTEX, i, j);
    m->spot[0].gap = distance;
    if (distance > rounding && !(ref->count > 1 && s < -rounding)) {
        pp_vec2 d = pp_sub2(b->v[j], a->v[i]);
        m->spot[0].n = (pp_vec2){d.x / distance, d.y / distance};
        add_far_end(a, b, i, j, rounding, m);
        return true;
    }
    // Vertices in one place, or overlap by rounding alone: the normal of the best side.
    m->spot[0].n = axis;
    if (ref->count > 1) {
        pp_vec2 n = ref->n[first->side];
        m->spot[0].n = a_first ? n : (pp_vec2){-n.x, -n.y};
        m->spot[0].x = inc->v[first->vertex];
        m->spot[0].of_a = !a_first;
        m->spot[0].gap = first->s;
    }
    return true;
}
