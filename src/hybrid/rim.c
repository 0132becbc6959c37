// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Round faces: a semi-infinite complementarity problem, solved by exchange of points.  theory (H18)
//
// A disc that lies on a face touches it in infinitely many points; its manifold has eight points of
// the rim. Normal rates and accelerations that are not negative at these points may be negative
// between them: a tipping cylinder would turn about the chord between two points and its rim would
// penetrate the floor. While the faces lie flat on each other, normal rates and accelerations are
// affine in the position. Their minimum over the common region of the faces therefore follows from
// the values at three points. Where it is negative, the minimiser becomes a point of the manifold
// and the problem is solved again.
#include "hybrid/flight.h"

#include <math.h>

// u(x) = at + g . (x - centre) over the points of a pair; g is tangential.
typedef struct field {
    perp_vec3 centre, n, g;
    double at, least;  // least: at the points themselves
    bool known;
} field;

// Whether hold i is a closed point of the contact of shapes a and b.
static bool is_point_of(const pp_instant *instant, const pp_holds *holds, int i, int a, int b)
{
    const pp_hold *h = &holds->hold[i];
    return h->kind == PP_HOLD_CONTACT && h->listed < 0 && instant->size[i] > 0 && h->a == a &&
           h->b == b;
}

// Fits the affine field u to the points of a pair by least squares. Fewer than three points, or
// points on a line, are no face: the field is then not known.
static field field_of(const pp_instant *instant, const pp_holds *holds, int a, int b,
                      const double *u)
{
    field f = {.least = PP_INF};
    int count = 0;
    for (int i = 0; i < holds->count; i++) {
        // The mean of places and values.
        if (is_point_of(instant, holds, i, a, b)) {
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
    // Normal equations of the fit in the tangent axes e1, e2: [xx xy; xy yy] g = [xu; yu]. The
    // determinant relative to the squared trace is small for points on a line.
    double xx = 0.0, xy = 0.0, yy = 0.0, xu = 0.0, yu = 0.0;
    for (int i = 0; i < holds->count; i++) {
        if (is_point_of(instant, holds, i, a, b)) {
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

// Cylinders and cones have round faces.
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
    // In the frame of the solid the axis is z.
    perp_vec3 local = pp_mul_t(&X.R, pp_sub(x, X.p));
    return is_round(m, shape) &&
           fabs(pp_hypot(local.x, local.y) - s->solid.radius) < 1e-9 * s->solid.radius;
}

// The rim point of a pair; NULL: it has none.
static pp_rim *rim_of(const pp_flight *flight, int a, int b)
{
    for (int i = 0; i < flight->rims.count; i++) {
        pp_rim *rim = &flight->rims.rim[i];
        if (rim->a == a && rim->b == b) {
            return rim;
        }
    }
    return NULL;
}

// Where the rim point of a pair is now: it has moved with the body of the round face.
static perp_vec3 rim_place(const pp_flight *flight, const pp_frame *body, const pp_rim *rim)
{
    const perp_model *m = flight->machine->model;
    return pp_point(&body[m->shape[rim->of_b ? rim->b : rim->a].body], rim->on[rim->of_b]);
}

// Makes x (world) the rim point of a pair, in place of the one it had. Its exchange starts anew.
static perp_status put_rim(pp_flight *flight, const pp_frame *body, int a, int b, perp_vec3 x)
{
    const perp_model *m = flight->machine->model;
    const pp_frame *fa = &body[m->shape[a].body], *fb = &body[m->shape[b].body];
    pp_rims *rims = &flight->rims;
    pp_rim *rim = rim_of(flight, a, b);
    if (!rim) {
        pp_rim *list =
            pp_list_grow(rims->rim, rims->count, &rims->room, sizeof *list, flight->keep);
        if (!list) {
            return PERP_ERR_MEMORY;
        }
        rims->rim = list;
        rim = &list[rims->count++];
    }
    // The point is kept in the frames of both bodies; the one with the round face carries it on.
    *rim = (pp_rim){.a = a,
                    .b = b,
                    .on = {pp_mul_t(&fa->R, pp_sub(x, fa->p)), pp_mul_t(&fb->R, pp_sub(x, fb->p))},
                    .of_b = !is_on_rim(m, body, a, x),
                    .part = 1.0};
    return PERP_OK;
}

static const double LEAST_PART = 0.05;  // of the way to the point that is asked for

// Exchanges the rim point of a pair for x, where the other points leave the least rate. The point
// for which x is the point itself is sought. A full step may run round in circles, so from the third
// exchange of an instant on a part of the way is gone, which the last two ways give (Aitken).
static perp_status exchange_rim(pp_flight *flight, const pp_frame *body, int a, int b, perp_vec3 n,
                                perp_vec3 x)
{
    const pp_rim *rim = rim_of(flight, a, b);
    perp_vec3 way = {0.0, 0.0, 0.0};
    double part = 1.0;
    if (rim) {
        perp_vec3 from = rim_place(flight, body, rim), nearest;
        way = pp_sub(x, from);
        perp_vec3 change = pp_sub(way, rim->way);
        double square = pp_dot3(change, change);
        if (flight->exchange >= 2 && square > 0.0) {
            part = pp_clamp(-rim->part * pp_dot3(rim->way, change) / square, LEAST_PART, 1.0);
        }
        if (part < 1.0 && pp_gap_rim(flight->machine->model, body, a, b, n, true,
                                     pp_along(from, part, way), &nearest)) {
            x = nearest;
        }
    }
    perp_status status = put_rim(flight, body, a, b, x);
    if (status >= 0) {
        pp_rim *now = rim_of(flight, a, b);
        now->way = way;
        now->part = part;
    }
    return status;
}

// Whether hold i is the first contact of a pair with a round face; it represents the pair.
static bool is_first(const perp_model *m, const pp_instant *instant, const pp_holds *holds, int i)
{
    const pp_hold *h = &holds->hold[i];
    if (!is_point_of(instant, holds, i, h->a, h->b) || h->a > h->b ||
        !(is_round(m, h->a) || is_round(m, h->b))) {
        return false;
    }
    for (int k = 0; k < i; k++) {
        if (is_point_of(instant, holds, k, h->a, h->b)) {
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
    if (!m->spatial) {
        return PERP_OK;
    }
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (!is_first(m, instant, holds, i)) {
            continue;
        }
        // The minimiser of u over the common region is its extreme point along -g.
        field f = field_of(instant, holds, h->a, h->b, u);
        perp_vec3 x;
        if (!f.known || !pp_gap_rim(m, body, h->a, h->b, f.n, false, pp_scale(-1.0, f.g), &x)) {
            continue;
        }
        // Worse than at the points that are there by more than the tolerance: otherwise
        // the exchange has converged.
        double there = f.at + pp_dot3(f.g, pp_sub(x, f.centre));
        if (there < fmin(0.0, f.least) - tolerance) {
            *again = true;
            perp_status status = exchange_rim(flight, body, h->a, h->b, f.n, x);
            if (status < 0) {
                return status;
            }
        }
    }
    return PERP_OK;
}

// Whether the rim point of a pair is at x already.
static bool has_rim(const pp_flight *flight, const pp_frame *body, int a, int b, perp_vec3 x)
{
    const pp_rim *rim = rim_of(flight, a, b);
    return rim &&
           pp_length(pp_sub(rim_place(flight, body, rim), x)) < 1e-10 * flight->machine->length;
}

static const double EDGE = 1e-6;  // of the length: a load this close to the edge is on it

// Whether all points of a pair are on one side of the line through `from`
// along which `in` is constant.
static bool is_hull_edge(const pp_instant *instant, const pp_holds *holds, int a, int b,
                         perp_vec3 from, perp_vec3 in, double slack)
{
    for (int j = 0; j < holds->count; j++) {
        if (is_point_of(instant, holds, j, a, b) &&
            !(pp_dot3(in, pp_sub(instant->contact[j].point, from)) >= -slack)) {
            return false;
        }
    }
    return true;
}

// How far x is inside the convex hull of the points of a pair [m]; negative: outside. slack:
// rounding [m]. Every ordered pair of points is tried as an edge of the hull, which is cheap for
// manifolds of at most a few points.
static double inside_of(const pp_instant *instant, const pp_holds *holds, int a, int b, perp_vec3 x,
                        double slack)
{
    double inside = PP_INF;
    for (int i = 0; i < holds->count; i++) {
        if (!is_point_of(instant, holds, i, a, b)) {
            continue;
        }
        perp_vec3 from = instant->contact[i].point;
        for (int k = 0; k < holds->count; k++) {
            if (k == i || !is_point_of(instant, holds, k, a, b)) {
                continue;
            }
            // n x side points to the left of the edge, into a hull that is traversed
            // counterclockwise about n.
            perp_vec3 side = pp_sub(instant->contact[k].point, from);
            perp_vec3 in = pp_unit(pp_cross(instant->contact[i].n, side), side);
            if (is_hull_edge(instant, holds, a, b, from, in, slack)) {
                inside = fmin(inside, pp_dot3(in, pp_sub(x, from)));
            }
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
    if (!m->spatial) {
        return PERP_OK;
    }
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        perp_vec3 load = {0.0, 0.0, 0.0}, x;
        double sum = 0.0;
        if (!is_first(m, instant, holds, i)) {
            continue;
        }
        for (int k = i; k < holds->count; k++) {
            if (is_point_of(instant, holds, k, h->a, h->b)) {
                load = pp_along(load, r[instant->at[k]], instant->contact[k].point);
                sum += r[instant->at[k]];
            }
        }
        // The centre of pressure. Well inside the manifold it needs no further point.
        perp_vec3 at = pp_scale(sum > 0.0 ? 1.0 / sum : 0.0, load);
        if (!(sum > 0.0) ||
            inside_of(instant, holds, h->a, h->b, at, 1e-12 * length) > EDGE * length ||
            !pp_gap_rim(m, body, h->a, h->b, instant->contact[i].n, true, at, &x)) {
            continue;
        }
        // The point next to the load may also be a corner of a polygon, which
        // the manifold has already.
        bool on_rim = is_on_rim(m, body, h->a, x) || is_on_rim(m, body, h->b, x);
        if (on_rim && !has_rim(flight, body, h->a, h->b, x)) {
            *again = true;
            perp_status status = put_rim(flight, body, h->a, h->b, x);
            if (status < 0) {
                return status;
            }
        }
    }
    return PERP_OK;
}
