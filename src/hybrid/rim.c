// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Round faces: a semi-infinite complementarity problem by exchange of points.            theory (H18)
//
// A disc that lies on a face touches it in infinitely many points; a manifold has eight of its rim. What holds at those
// (normal rates and accelerations are not negative) need not hold between them: a cylinder that tips would do so about
// the chord between two of them, and its rim would go into the floor. While faces lie flat on each other their normal
// rates and accelerations are affine in the place. So their least value over the region that the faces share, and where
// it is taken, follow from those of three points; where it is negative that place becomes a point of the manifold, and
// the problem is solved again.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// u(x) = at + g . (x - centre) over the points of a pair.
typedef struct field {
    perp_vec3 centre, n, g;
    double at, least;  // least: at the points themselves
    bool known;
} field;

static bool is_of(const pp_instant *instant, const pp_holds *holds, int i, int a, int b)
{
    const pp_hold *h = &holds->hold[i];
    return h->kind == PP_HOLD_CONTACT && h->listed < 0 && instant->size[i] > 0 && h->a == a &&
           h->b == b;
}

// By least squares. Fewer than three points, or points on a line, are no face.
static field field_of(const pp_instant *instant, const pp_holds *holds, int a, int b,
                      const double *u)
{
    field f = {.least = PP_INF};
    int count = 0;
    for (int i = 0; i < holds->count; i++) {
        if (is_of(instant, holds, i, a, b)) {
            const pp_contact *c = &instant->contact[i];
            f.centre = pp_add(f.centre, c->point);
            f.at += u[instant->at[i]];
            f.least = fmin(f.least, u[instant->at[i]]);
            f.n = c->n;
            count++;
        }
    }
    if (count < 3) {
        return f;
    }
    f.centre = pp_scale(1.0 / count, f.centre);
    f.at /= count;
    perp_vec3 e1 = pp_across(f.n), e2 = pp_cross(f.n, e1);
    double xx = 0.0, xy = 0.0, yy = 0.0, xu = 0.0, yu = 0.0;
    for (int i = 0; i < holds->count; i++) {
        if (is_of(instant, holds, i, a, b)) {
            perp_vec3 d = pp_sub(instant->contact[i].point, f.centre);
            double x = pp_dot3(e1, d), y = pp_dot3(e2, d), v = u[instant->at[i]] - f.at;
            xx += x * x;
            xy += x * y;
            yy += y * y;
            xu += x * v;
            yu += y * v;
        }
    }
    double det = xx * yy - xy * xy;
    f.known = det > 1e-6 * (xx + yy) * (xx + yy);
    if (f.known) {
        f.g = pp_along(pp_scale((yy * xu - xy * yu) / det, e1), (xx * yu - xy * xu) / det, e2);
    }
    return f;
}

static bool is_round(const perp_model *m, int shape)
{
    return m->shape[shape].kind == PERP_SHAPE_CYLINDER || m->shape[shape].kind == PERP_SHAPE_CONE;
}

// Whether a point is on the rim of a round shape.
static bool is_on_rim(const perp_model *m, const pp_frame *body, int shape, perp_vec3 x)
{
    const pp_shape *s = &m->shape[shape];
    pp_pose X = {body[s->body].p, body[s->body].R};
    X = pp_pose_mul(&X, &s->X_BS);
    perp_vec3 local = pp_mul_t(&X.R, pp_sub(x, X.p));
    return is_round(m, shape) &&
           fabs(hypot(local.x, local.y) - s->solid.radius) < 1e-9 * s->solid.radius;
}

static perp_status put_rim(pp_flight *flight, const pp_frame *body, int a, int b, perp_vec3 x)
{
    const perp_model *m = flight->machine->model;
    const pp_frame *fa = &body[m->shape[a].body], *fb = &body[m->shape[b].body];
    pp_rims *rims = &flight->rims;
    int at = 0;
    while (at < rims->count && (rims->rim[at].a != a || rims->rim[at].b != b)) {
        at++;
    }
    if (at == rims->room) {
        int room = 2 * rims->room + 4;
        pp_rim *more = PP_ARRAY(flight->keep, pp_rim, room);
        if (!more) {
            return PERP_ERR_MEMORY;
        }
        if (rims->count > 0) {
            memcpy(more, rims->rim, (size_t)rims->count * sizeof *more);
        }
        rims->rim = more;
        rims->room = room;
    }
    rims->count = at == rims->count ? at + 1 : rims->count;
    rims->rim[at] =
        (pp_rim){.a = a,
                 .b = b,
                 .on = {pp_mul_t(&fa->R, pp_sub(x, fa->p)), pp_mul_t(&fb->R, pp_sub(x, fb->p))},
                 .of_b = !is_on_rim(m, body, a, x)};
    return PERP_OK;
}

// The first contact of a pair with a round face, which stands for the pair.
static bool is_first(const perp_model *m, const pp_instant *instant, const pp_holds *holds, int i)
{
    const pp_hold *h = &holds->hold[i];
    if (!is_of(instant, holds, i, h->a, h->b) || h->a > h->b ||
        !(is_round(m, h->a) || is_round(m, h->b))) {
        return false;
    }
    for (int k = 0; k < i; k++) {
        if (is_of(instant, holds, k, h->a, h->b)) {
            return false;
        }
    }
    return true;
}

perp_status pp_flight_refine_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *u, double tolerance,
                                  bool *again)
{
    const perp_model *m = flight->machine->model;
    const pp_frame *body = instant->pass.body;
    perp_status status = PERP_OK;
    for (int i = 0; status >= 0 && m->spatial && i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (!is_first(m, instant, holds, i)) {
            continue;
        }
        field f = field_of(instant, holds, h->a, h->b, u);
        perp_vec3 x;
        if (!f.known || !pp_gap_rim(m, body, h->a, h->b, f.n, false, pp_scale(-1.0, f.g), &x)) {
            continue;
        }
        double there = f.at + pp_dot3(f.g, pp_sub(x, f.centre));
        if (there < fmin(0.0, f.least) - tolerance) {
            *again = true;
            status = put_rim(flight, body, h->a, h->b, x);
        }
    }
    return status;
}

// Whether a pair has its point of the rim there already.
static bool has_rim(const pp_flight *flight, const pp_frame *body, int a, int b, perp_vec3 x)
{
    const perp_model *m = flight->machine->model;
    for (int i = 0; i < flight->rims.count; i++) {
        const pp_rim *rim = &flight->rims.rim[i];
        perp_vec3 at = pp_point(&body[m->shape[rim->of_b ? b : a].body], rim->on[rim->of_b]);
        if (rim->a == a && rim->b == b) {
            return pp_length(pp_sub(at, x)) < 1e-10 * flight->machine->length;
        }
    }
    return false;
}

static const double EDGE = 1e-6;  // of the length: a load as near the edge of a manifold is on it

// How far a place is inside the convex hull of the points of a pair [m]; negative: outside. slack: of rounding [m].
static double inside_of(const pp_instant *instant, const pp_holds *holds, int a, int b, perp_vec3 x,
                        double slack)
{
    double inside = PP_INF;
    for (int i = 0; i < holds->count; i++) {
        for (int k = 0; k < holds->count && is_of(instant, holds, i, a, b); k++) {
            if (k == i || !is_of(instant, holds, k, a, b)) {
                continue;
            }
            perp_vec3 from = instant->contact[i].point,
                      side = pp_sub(instant->contact[k].point, from);
            perp_vec3 in = pp_unit(pp_cross(instant->contact[i].n, side), side);
            bool edge = true;
            for (int j = 0; j < holds->count && edge; j++) {
                edge = !is_of(instant, holds, j, a, b) ||
                       pp_dot3(in, pp_sub(instant->contact[j].point, from)) >= -slack;
            }
            inside = edge ? fmin(inside, pp_dot3(in, pp_sub(x, from))) : inside;
        }
    }
    return inside;
}

perp_status pp_flight_follow_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *r, bool *again)
{
    const perp_model *m = flight->machine->model;
    const pp_frame *body = instant->pass.body;
    double length = flight->machine->length;
    perp_status status = PERP_OK;
    for (int i = 0; status >= 0 && m->spatial && i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        perp_vec3 load = {0.0, 0.0, 0.0}, x;
        double sum = 0.0;
        if (!is_first(m, instant, holds, i)) {
            continue;
        }
        for (int k = i; k < holds->count; k++) {
            if (is_of(instant, holds, k, h->a, h->b)) {
                load = pp_along(load, r[instant->at[k]], instant->contact[k].point);
                sum += r[instant->at[k]];
            }
        }
        // the centre of pressure
        perp_vec3 at = pp_scale(sum > 0.0 ? 1.0 / sum : 0.0, load);
        if (!(sum > 0.0) ||
            inside_of(instant, holds, h->a, h->b, at, 1e-12 * length) > EDGE * length ||
            !pp_gap_rim(m, body, h->a, h->b, instant->contact[i].n, true, at, &x)) {
            continue;
        }
        bool on_rim = is_on_rim(m, body, h->a, x) || is_on_rim(m, body, h->b, x);
        if (on_rim && !has_rim(flight, body, h->a, h->b, x)) {
            *again = true;
            status = put_rim(flight, body, h->a, h->b, x);
        }
    }
    return status;
}
