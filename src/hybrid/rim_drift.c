// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Drift of the contact of a rim with a plane face, in closed form.                      theory (H6a)
//
// A round face that all but lies on a plane touches it in one point of its rim. With the axis u and
// the normal n of the plane, m = n - (n.u) u, that point is c = o -+ r m/|m|. It runs round the rim
// at a speed of r |m'|/|m|, which is thousands of times that of the bodies where the sine |m| of the
// tilt is small. Differences along the motion would need times as short as that, and their rounding
// would then keep the integrator at steps of 1e-7 s.
#include "hybrid/moment.h"

#include <math.h>

static const double FIXED = 1e-9;  // normals this close are the same one [rad]
static const double FOUND = 1e-6;  // of the radius: the point of the formula is that of the contact

// A rim on a plane: which shape has which, and the circle.
typedef struct rim_contact {
    int plane, round;  // bodies
    double side;       // -1: the rim is lowest along n (of shape b), +1: highest (of a)
    double radius;
    perp_vec3 u, o;  // axis and centre in the world
} rim_contact;

// The pose of a shape in the world.
static pp_pose placed(const pp_instant *instant, const pp_shape *s)
{
    const pp_frame *f = &instant->pass.body[s->body];
    pp_pose X = {f->p, f->R};
    return pp_pose_mul(&X, &s->X_BS);
}

static bool is_same_axis(perp_vec3 a, perp_vec3 n)
{
    return pp_length(pp_sub(a, n)) < FIXED;
}

// Whether a face of the solid looks along n (outward, unit): then n is fixed to its body.
static bool has_face(const pp_shape *s, const pp_pose *X, perp_vec3 n)
{
    perp_vec3 local = pp_mul_t(&X->R, n);
    const perp_vec3 ends[2] = {{0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}};
    switch (s->kind) {
    case PERP_SHAPE_HALFSPACE:
        return is_same_axis(ends[0], local);
    case PERP_SHAPE_CYLINDER:
        return is_same_axis(ends[0], local) || is_same_axis(ends[1], local);
    case PERP_SHAPE_CONE:  // its base looks down
        return is_same_axis(ends[1], local);
    case PERP_SHAPE_BOX:
        return is_same_axis(pp_vec(round(local.x), round(local.y), round(local.z)), local);
    default:
        return false;
    }
}

// Whether shape `round` touches the shape `plane` with its rim; n: outward of the plane.
static bool find_rim(const pp_machine *machine, const pp_instant *instant, const pp_contact *c,
                     bool round_is_b, rim_contact *out)
{
    const perp_model *m = machine->model;
    const pp_shape *flat = &m->shape[round_is_b ? c->a : c->b];
    const pp_shape *round = &m->shape[round_is_b ? c->b : c->a];
    double side = round_is_b ? -1.0 : 1.0;
    bool has_rim = round->kind == PERP_SHAPE_CYLINDER || round->kind == PERP_SHAPE_CONE;
    pp_pose X = placed(instant, round), Y = placed(instant, flat);
    if (!has_rim || !has_face(flat, &Y, pp_scale(-side, c->n))) {
        return false;
    }
    // The point has to be on the rim: one on the side of the solid moves along it.
    perp_vec3 local = pp_mul_t(&X.R, pp_sub(c->point, X.p));
    double end = local.z > 0.0 && round->kind == PERP_SHAPE_CYLINDER ? round->solid.half.z
                                                                     : -round->solid.half.z;
    if (fabs(local.z - end) > FOUND * round->solid.radius + fabs(c->gap)) {
        return false;
    }
    *out = (rim_contact){.plane = flat->body,
                         .round = round->body,
                         .side = side,
                         .radius = round->solid.radius,
                         .u = pp_mat3_column(&X.R, 2)};
    out->o = pp_along(X.p, end, out->u);
    return true;
}

// Velocity of a unit vector x/|x| while x moves at dx.
static perp_vec3 turn_of(perp_vec3 x, perp_vec3 dx)
{
    double length = pp_length(x);
    perp_vec3 e = pp_scale(1.0 / length, x);
    return pp_scale(1.0 / length, pp_along(dx, -pp_dot3(e, dx), e));
}

bool pp_rim_motion(const pp_machine *machine, const pp_instant *instant, const pp_contact *c,
                   pp_contact_motion *out)
{
    rim_contact rim;
    // Surfaces that move and given tangents have derivatives of their own.
    if (!machine->model->spatial || c->listed >= 0 || pp_length(c->surface) > 0.0 ||
        !(find_rim(machine, instant, c, true, &rim) ||
          find_rim(machine, instant, c, false, &rim))) {
        return false;
    }
    const pp_frame *plane = &instant->pass.body[rim.plane], *round = &instant->pass.body[rim.round];
    // m = n - (n.u) u and its derivative; n turns with the plane, u with the round body.
    perp_vec3 n = c->n, u = rim.u, dn = pp_cross(plane->w, n), du = pp_cross(round->w, u);
    double along = pp_dot3(n, u), along_d = pp_dot3(dn, u) + pp_dot3(n, du);
    perp_vec3 m = pp_along(n, -along, u);
    perp_vec3 dm = pp_along(pp_along(dn, -along_d, u), -along, du);
    double sine = pp_length(m);
    if (!(sine > 0.0)) {
        return false;
    }
    perp_vec3 at = pp_along(rim.o, rim.side * rim.radius / sine, m);
    if (pp_length(pp_sub(at, c->point)) > FOUND * rim.radius + fabs(c->gap)) {
        return false;  // a point of a level face, or one where two outlines cross
    }
    out->point = pp_along(pp_point_velocity(round, rim.o), rim.side * rim.radius, turn_of(m, dm));
    out->n = dn;
    // t is the part of a fixed axis across n (pp_across).
    perp_vec3 e = fabs(n.x) < 0.9 ? pp_vec(1.0, 0.0, 0.0) : pp_vec(0.0, 1.0, 0.0);
    perp_vec3 x = pp_along(e, -pp_dot3(e, n), n);
    perp_vec3 dx = pp_along(pp_scale(-pp_dot3(e, dn), n), -pp_dot3(e, n), dn);
    out->t = turn_of(x, dx);
    return true;
}

// Acceleration of the point of a body that is now at x, seen from the contact, which moves on at dx:
// d/dt (v + w x (x - p)) with the accelerations at qdd = 0.
static perp_vec3 carried(const pp_instant *instant, int body, perp_vec3 x, perp_vec3 dx)
{
    const pp_frame *f = &instant->pass.body[body];
    const perp_twist *s = &instant->pass.sigma[body];
    perp_vec3 a = pp_add(s->v_W, pp_cross(s->w_W, pp_sub(x, f->p)));
    return pp_add(a, pp_cross(f->w, pp_sub(dx, f->v)));
}

void pp_motion_drift(const pp_machine *machine, const pp_instant *instant, const pp_contact *c,
                     const pp_contact_motion *motion, pp_hold_kind kind, double drift[3])
{
    const perp_model *m = machine->model;
    int a = m->shape[c->a].body, b = m->shape[c->b].body;
    const pp_frame *fa = &instant->pass.body[a], *fb = &instant->pass.body[b];
    const perp_twist *sa = &instant->pass.sigma[a], *sb = &instant->pass.sigma[b];
    const perp_vec3 axis[3] = {c->n, c->t, pp_cross(c->n, c->t)};
    const perp_vec3 turn[3] = {motion->n, motion->t,
                               pp_add(pp_cross(motion->n, c->t), pp_cross(c->n, motion->t))};
    // The rate d.v of a row has the derivative d'.v + d.v'.
    perp_vec3 v, dv;
    double size = 1.0;
    int first = 0;
    if (kind == PP_HOLD_CONTACT) {
        v = pp_sub(pp_point_velocity(fb, c->point), pp_point_velocity(fa, c->point));
        dv = pp_sub(carried(instant, b, c->point, motion->point),
                    carried(instant, a, c->point, motion->point));
    } else {
        v = pp_sub(fb->w, fa->w);
        dv = pp_sub(sb->w_W, sa->w_W);
        size = machine->length;
        first = kind == PP_HOLD_ROLL ? 1 : 0;  // rolling is about t and o
    }
    for (int k = 0; k + first < 3; k++) {
        drift[k] = size * (pp_dot3(turn[k + first], v) + pp_dot3(axis[k + first], dv));
    }
}
