// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of two shapes by the hull of their differences, and checks of contact points.
#include "support/gap_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct spot {
    long double x, y;
} spot;

typedef struct outline {
    int count;
    spot v[GAP_SCENE_VERTICES];
    long double radius;
    spot out;  // of a half-plane; v[0] is on its line
} outline;

bool gap_scene_create(gap_scene *s, const perp_shape_def *a, const perp_shape_def *b)
{
    perp_builder *builder = perp_builder_create(NULL);
    const perp_shape_def *defs[2] = {a, b};
    memset(s, 0, sizeof *s);
    for (int k = 0; k < 2; k++) {
        perp_body_def body = perp_body_default();
        body.mass = body.inertia_zz = 1.0;
        s->def[k] = *defs[k];
        if (defs[k]->kind == PERP_SHAPE_POLYGON) {
            memcpy(s->vertex[k], defs[k]->vertices_S,
                   (size_t)defs[k]->vertex_count * sizeof(perp_vec3));
            s->def[k].vertices_S = s->vertex[k];
        }
        perp_builder_add_shape(builder, perp_builder_add_body(builder, &body), &s->def[k]);
    }
    perp_status status = perp_model_create(builder, &s->model, NULL);
    perp_builder_destroy(builder);
    for (int k = 0; k < 3; k++) {
        s->body[k] = gap_scene_frame(0.0, 0.0, 0.0);
    }
    return status == PERP_OK;
}

void gap_scene_destroy(gap_scene *s)
{
    perp_model_destroy(s->model);
    s->model = NULL;
}

pp_frame gap_scene_frame(double x, double y, double angle)
{
    double c = cos(angle), s = sin(angle);
    return (pp_frame){
        .p = {x, y, 0.0}, .angle = angle, .R = {{c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}}};
}

// ── Truth ────────────────────────────────────────────────────────────────────────────────────────

static spot place(const gap_scene *s, int k, long double x, long double y)
{
    const perp_shape_def *d = &s->def[k];
    const pp_frame *f = &s->body[k + 1];
    long double c = cos(d->angle), n = sin(d->angle);
    long double bx = d->position_B.x + c * x - n * y, by = d->position_B.y + n * x + c * y;
    const double *R = f->R.m;
    return (spot){(long double)f->p.x - s->body[1].p.x + R[0] * bx + R[1] * by,
                  (long double)f->p.y - s->body[1].p.y + R[3] * bx + R[4] * by};
}

static outline set_outline(const gap_scene *s, int k)
{
    const perp_shape_def *d = &s->def[k];
    long double x = d->half.x, y = d->half.y;
    outline o = {.count = 1, .v = {place(s, k, 0.0L, 0.0L)}};
    switch (d->kind) {
    case PERP_SHAPE_POINT:
        break;
    case PERP_SHAPE_DISC:
        o.radius = d->radius;
        break;
    case PERP_SHAPE_BOX:
        o.count = 4;
        o.v[0] = place(s, k, -x, -y), o.v[1] = place(s, k, x, -y);
        o.v[2] = place(s, k, x, y), o.v[3] = place(s, k, -x, y);
        break;
    case PERP_SHAPE_POLYGON:
        o.count = d->vertex_count;
        for (int i = 0; i < o.count; i++) {
            o.v[i] = place(s, k, d->vertices_S[i].x, d->vertices_S[i].y);
        }
        break;
    case PERP_SHAPE_CAPSULE:
        o.radius = d->radius;
        // fall through
    case PERP_SHAPE_SEGMENT:
        o.count = 2;
        o.v[0] = place(s, k, -x, 0.0L), o.v[1] = place(s, k, x, 0.0L);
        break;
    case PERP_SHAPE_HALFPLANE: {
        spot up = place(s, k, 0.0L, 1.0L);
        o.out = (spot){up.x - o.v[0].x, up.y - o.v[0].y};
        break;
    }
    default:
        break;
    }
    return o;
}

static long double cross(spot o, spot a, spot b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

static int by_place(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return p->y < q->y ? -1 : p->y > q->y;
}

// Monotone chain, counter-clockwise; h has room for n + 1. Straight runs lose their middle.
static int hull(int n, spot *p, spot *h)
{
    int m = 0;
    qsort(p, (size_t)n, sizeof *p, by_place);
    for (int i = 0; i < n; i++) {
        while (m >= 2 && cross(h[m - 2], h[m - 1], p[i]) <= 0.0L) {
            m--;
        }
        h[m++] = p[i];
    }
    for (int i = n - 2, lower = m + 1; i >= 0; i--) {
        while (m >= lower && cross(h[m - 2], h[m - 1], p[i]) <= 0.0L) {
            m--;
        }
        h[m++] = p[i];
    }
    return m > 1 ? m - 1 : m;
}

static long double side_distance(spot a, spot b)  // of the origin from the segment
{
    long double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    long double t = square > 0.0L ? -(a.x * dx + a.y * dy) / square : 0.0L;
    t = fminl(fmaxl(t, 0.0L), 1.0L);
    return hypotl(a.x + t * dx, a.y + t * dy);
}

static long double core_distance(const outline *a, const outline *b)
{
    enum { MOST = GAP_SCENE_VERTICES * GAP_SCENE_VERTICES };
    spot d[MOST], h[2 * MOST];
    int n = 0;
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            d[n++] = (spot){b->v[j].x - a->v[i].x, b->v[j].y - a->v[i].y};
        }
    }
    int m = hull(n, d, h);
    long double nearest = HUGE_VALL, around = 0.0L, area = 0.0L;
    bool inside = m > 2;
    for (int i = 0; i < m; i++) {
        spot p = h[i], q = h[(i + 1) % m];
        nearest = fminl(nearest, side_distance(p, q));
        around += hypotl(q.x - p.x, q.y - p.y);
        area += 0.5L * cross(h[0], p, q);
        inside = inside && cross(p, q, (spot){0.0L, 0.0L}) >= 0.0L;
    }
    // Of segments along one line the difference is a sliver of rounding, and signs tell nothing. With a box or a polygon it
    // is not, however thin they are.
    bool lines = a->count < 3 && b->count < 3;
    inside = inside && (!lines || area > 1e-15L * around * around);
    return inside ? -nearest : nearest;
}

static long double plane_distance(const outline *plane, const outline *o)
{
    long double least = HUGE_VALL;
    for (int i = 0; i < o->count; i++) {
        least = fminl(least, plane->out.x * (o->v[i].x - plane->v[0].x) +
                                 plane->out.y * (o->v[i].y - plane->v[0].y));
    }
    return least;
}

double gap_scene_truth(const gap_scene *s)
{
    outline a = set_outline(s, 0), b = set_outline(s, 1);
    long double gap = s->def[0].kind == PERP_SHAPE_HALFPLANE   ? plane_distance(&a, &b)
                      : s->def[1].kind == PERP_SHAPE_HALFPLANE ? plane_distance(&b, &a)
                                                               : core_distance(&a, &b);
    // two shapes without an inside touch at a millionth of the longer one
    double half = 0.0;
    for (int k = 0; k < 2 && gap_scene_thin(s); k++) {
        half = s->def[k].kind == PERP_SHAPE_SEGMENT ? fmax(half, s->def[k].half.x) : half;
    }
    return (double)(gap - a.radius - b.radius - 2e-6 * half);
}

double gap_scene_size(const gap_scene *s)
{
    double most = 0.0;
    for (int k = 0; k < 2; k++) {
        outline o = set_outline(s, k);
        for (int i = 0; i < o.count; i++) {
            most = fmax(most, (double)(fmaxl(fabsl(o.v[i].x), fabsl(o.v[i].y)) + o.radius));
        }
        most = fmax(most, fabs(s->def[k].position_B.x) + fabs(s->def[k].position_B.y));
    }
    return fmax(most, hypot(s->body[2].p.x - s->body[1].p.x, s->body[2].p.y - s->body[1].p.y));
}

bool gap_scene_thin(const gap_scene *s)
{
    perp_shape_kind a = s->def[0].kind, b = s->def[1].kind;
    bool thin_a = a == PERP_SHAPE_POINT || a == PERP_SHAPE_SEGMENT,
         thin_b = b == PERP_SHAPE_POINT || b == PERP_SHAPE_SEGMENT;
    return thin_a && thin_b && (a == PERP_SHAPE_SEGMENT || b == PERP_SHAPE_SEGMENT);
}

// ── Flaws ────────────────────────────────────────────────────────────────────────────────────────

static const char *number_flaw(int count, const pp_contact *c)
{
    for (int k = 0; k < count; k++) {
        if (!isfinite(c[k].gap) || !isfinite(c[k].point.x) || !isfinite(c[k].point.y)) {
            return "a gap or point is not finite";
        }
        if (!(fabs(hypot(c[k].n.x, c[k].n.y) - 1.0) <= 1e-14)) {
            return "a normal is not a unit vector";
        }
        if (c[k].n.x * c[0].n.x + c[k].n.y * c[0].n.y < 0.0 ||
            ((c[k].n.x != c[0].n.x || c[k].n.y != c[0].n.y) && c[1].feature >> 16 != 2)) {
            return "the points have different normals";  // vertices have one of their own
        }
    }
    if (count == 2 && c[0].feature >= c[1].feature) {
        return "features are not in order";
    }
    if (count == 2 && c[0].point.x == c[1].point.x && c[0].point.y == c[1].point.y) {
        return "two points in one place";
    }
    return NULL;
}

static const char *swap_flaw(const gap_scene *s, int count, const pp_contact *c)
{
    pp_contact turned[PP_POINTS_MAX];
    if (pp_gap_pair(s->model, s->body, 1, 0, HUGE_VAL, turned) != count) {
        return "swapped, there are more or fewer points";
    }
    for (int k = 0; k < count; k++) {
        const pp_contact *x = &c[k], *y = &turned[k];
        if (x->gap != y->gap || x->feature != y->feature || x->point.x != y->point.x ||
            x->point.y != y->point.y || x->n.x != -y->n.x || x->n.y != -y->n.y || y->a != 1 ||
            y->b != 0) {
            return "swapped, a point differs";
        }
    }
    return NULL;
}

static const char *margin_flaw(const gap_scene *s, int count, const pp_contact *c)
{
    for (int k = 0; k < count; k++) {  // the margin at one of the gaps: it and what is closer stay
        pp_contact some[PP_POINTS_MAX];
        int kept = 0, found = pp_gap_pair(s->model, s->body, 0, 1, c[k].gap, some);
        for (int i = 0; i < count; i++) {
            kept += c[i].gap <= c[k].gap;
        }
        for (int i = 0, at = 0; i < count && found == kept; i++) {
            if (c[i].gap <= c[k].gap && some[at++].gap != c[i].gap) {
                return "the margin changes a gap";
            }
        }
        if (found != kept) {
            return "the margin keeps the wrong points";
        }
    }
    return NULL;
}

static const char *distance_flaw(const gap_scene *s, int count, const pp_contact *c)
{
    const pp_contact *closest = count == 2 && c[1].gap < c[0].gap ? &c[1] : &c[0];
    double truth = gap_scene_truth(s), tolerance = 1e-11 * gap_scene_size(s);
    if (!(fabs(closest->gap - truth) <= tolerance)) {
        return "the closest gap is not the distance";
    }
    gap_scene parted = *s;
    parted.body[2].p.x -= closest->gap * closest->n.x;
    parted.body[2].p.y -= closest->gap * closest->n.y;
    tolerance += 1e-15 * hypot(s->body[2].p.x, s->body[2].p.y);  // rounding of the move itself
    return fabs(gap_scene_truth(&parted)) <= tolerance
               ? NULL
               : "moving by the gap does not make them touch";
}

const char *gap_scene_flaw(const gap_scene *s)
{
    pp_contact c[PP_POINTS_MAX];
    int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
    if (!pp_gap_possible(&s->model->shape[0], &s->model->shape[1])) {
        return count == 0 ? NULL : "these never touch";
    }
    if (count < 1 || count > PP_POINTS_MAX) {
        return "not one or two points";
    }
    const char *flaw = number_flaw(count, c);
    flaw = flaw ? flaw : swap_flaw(s, count, c);
    flaw = flaw ? flaw : margin_flaw(s, count, c);
    return flaw ? flaw : distance_flaw(s, count, c);
}
