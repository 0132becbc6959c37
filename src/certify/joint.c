// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equations and coordinates of joints from the poses of their bodies. Each is a scalar with its
// gradients by anchors and axes, from which one function writes the row for any kind of joint; the
// stage that made the step has rows derived by hand instead.              theory (P4), (S5), (K12)
#include "certify/own.h"

#include <math.h>

static const double TWO_PI = 6.283185307179586;

// Axes of a joint, in world coordinates. In space: x, y = u x x and u are fixed in a, z and u_b in
// b. In the plane: x and y are the axes of a, z the first axis of b, u the axis of the joint and N
// its left normal, both fixed in a.
enum { X, Y, U, N, OF_A, Z = 0, UB, OF_B };

typedef struct joint_anchors {
    const perp_model *m;
    const pp_frame *body;
    const pp_joint *j;
    perp_vec3 pa, pb, apart;  // anchors, and p_b - p_a
    perp_vec3 a[OF_A], b[OF_B];
} joint_anchors;

// A scalar phi of a joint and its gradients by the anchors and by each axis.
typedef struct scalar {
    double value;
    perp_vec3 pa, pb;
    perp_vec3 a[OF_A], b[OF_B];
} scalar;

static joint_anchors anchors_of(const perp_model *m, const pp_frame *body, const pp_joint *j)
{
    const pp_mat3 *A = &body[j->a].R, *B = &body[j->b].R;
    joint_anchors at = {.m = m, .body = body, .j = j};
    at.pa = pp_add(body[j->a].p, pp_mul(A, j->r_A));
    at.pb = pp_add(body[j->b].p, pp_mul(B, j->r_B));
    at.apart = pp_sub(at.pb, at.pa);
    at.a[U] = pp_mul(A, j->axis_A);
    if (m->spatial) {
        at.a[X] = pp_mul(A, j->zero_A);
        at.a[Y] = pp_cross(at.a[U], at.a[X]);
        at.b[UB] = pp_mul(B, j->axis_B);
        // The second axis of a universal joint is across the first; its angle is measured about u.
        at.b[Z] = j->kind == PERP_JOINT_UNIVERSAL ? at.b[UB] : pp_mul(B, j->zero_B);
    } else {
        at.a[X] = pp_mat3_column(A, 0);
        at.a[Y] = pp_mat3_column(A, 1);
        at.a[N] = pp_vec(-at.a[U].y, at.a[U].x, 0.0);
        at.b[Z] = pp_mat3_column(B, 0);
    }
    return at;
}

// ── Scalars ──────────────────────────────────────────────────────────────────────────────────────

// d . (p_b - p_a) along a direction d fixed in the world. Coincidence of anchors needs no gradient
// by axes.
static scalar along_world(const joint_anchors *at, perp_vec3 d)
{
    return (scalar){.value = pp_dot3(d, at->apart), .pa = pp_scale(-1.0, d), .pb = d};
}

// e . (p_b - p_a) along an axis e of a. The gradient by e is p_b - p_a.
static scalar along(const joint_anchors *at, int e)
{
    scalar s = along_world(at, at->a[e]);
    s.a[e] = at->apart;
    return s;
}

// e . f of an axis of a and one of b: 0 where they are perpendicular.
static scalar cosine(const joint_anchors *at, int e, int f)
{
    scalar s = {.value = pp_dot3(at->a[e], at->b[f])};
    s.a[e] = at->b[f];
    s.b[f] = at->a[e];
    return s;
}

static scalar anchor_distance(const joint_anchors *at)
{
    double length = pp_length(at->apart);
    // Anchors that coincide have no direction; any unit vector serves.
    perp_vec3 u = length > 0.0 ? pp_scale(1.0 / length, at->apart) : pp_vec(1.0, 0.0, 0.0);
    scalar s = along_world(at, u);
    s.value = length;
    return s;
}

// atan2(y . z, x . z), in the turn nearest to `near` (NaN: between -pi and pi). With c = x . z and
// s = y . z its derivatives are c / (c^2 + s^2) by s and -s / (c^2 + s^2) by c.
static scalar angle(const joint_anchors *at, double near)
{
    scalar c = cosine(at, X, Z), s = cosine(at, Y, Z), out = {0};
    double square = c.value * c.value + s.value * s.value;
    out.value = pp_atan2(s.value, c.value);
    out.value += isfinite(near) ? TWO_PI * round((near - out.value) / TWO_PI) : 0.0;
    double by_s = square > 0.0 ? c.value / square : 0.0;
    double by_c = square > 0.0 ? -s.value / square : 0.0;
    out.a[X] = pp_scale(by_c, c.a[X]);
    out.a[Y] = pp_scale(by_s, s.a[Y]);
    out.b[Z] = pp_along(pp_scale(by_c, c.b[Z]), by_s, s.b[Z]);
    return out;
}

// The row of a scalar by virtual power: force g_p, moment (p - o) x g_p + sum e x g_e.
//                                                                                     theory (K12)
static void write_row(const joint_anchors *at, const scalar *s, pp_row *row)
{
    const pp_frame *a = &at->body[at->j->a], *b = &at->body[at->j->b];
    perp_vec3 on_a = pp_cross(pp_sub(at->pa, a->p), s->pa);
    perp_vec3 on_b = pp_cross(pp_sub(at->pb, b->p), s->pb);
    for (int k = 0; k < OF_A; k++) {
        on_a = pp_add(on_a, pp_cross(at->a[k], s->a[k]));
    }
    for (int k = 0; k < OF_B; k++) {
        on_b = pp_add(on_b, pp_cross(at->b[k], s->b[k]));
    }
    pp_own_start(row);
    row->value = s->value;
    pp_own_add(at->m, at->body, at->j->b, s->pb, on_b, row);
    pp_own_add(at->m, at->body, at->j->a, s->pa, on_a, row);
}

// The angle of a joint as a row. Where z is along the axis the angle is undefined and its gradient
// 0: the relative rotation about u takes its place.
static void write_angle(const joint_anchors *at, const double *turn, int joint, pp_row *row)
{
    scalar s = angle(at, turn ? turn[joint] : (double)NAN);
    double c = pp_dot3(at->a[X], at->b[Z]), d = pp_dot3(at->a[Y], at->b[Z]);
    write_row(at, &s, row);
    if (c == 0.0 && d == 0.0) {
        const perp_vec3 none = {0.0, 0.0, 0.0};
        pp_own_add(at->m, at->body, at->j->b, none, at->a[U], row);
        pp_own_add(at->m, at->body, at->j->a, none, pp_scale(-1.0, at->a[U]), row);
    }
}

// The angle of a planar joint. Angles of planar bodies are not wrapped, and their difference
// selects the turn.
static void write_flat_angle(const joint_anchors *at, pp_row *row)
{
    scalar s = angle(at, at->body[at->j->b].angle - at->body[at->j->a].angle);
    s.value -= at->j->angle;
    write_row(at, &s, row);
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

// A row without bodies and with any impulse allowed.
void pp_own_start(pp_row *row)
{
    *row = (pp_row){.lower = -PP_INF, .upper = PP_INF, .joint = -1, .force = -1, .actuator = -1};
}

// Adds force f and moment tau on body i, in world axes, to a row. The velocity of a body that is
// not free is given, and goes into the rate.
void pp_own_add(const perp_model *m, const pp_frame *body, int i, perp_vec3 f, perp_vec3 tau,
                pp_row *row)
{
    const pp_body *b = &m->body[i];
    const double all[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
    double rate = pp_dot3(f, body[i].v) + pp_dot3(tau, body[i].w);
    row->v_pre += rate;
    if (b->nv == 0) {
        row->rate += rate;
        return;
    }
    // A body that the row has already gets the sum: gears join two joints that may share one.
    int at = 0;
    while (at < row->count && row->body[at] != i) {
        at++;
    }
    row->count += at == row->count;
    row->body[at] = i;
    for (int k = 0; k < b->nv; k++) {
        row->J[at][k] += all[b->axis[k]];
    }
}

// Adds s times one row to another, body by body.
static void add_times(double s, const pp_row *from, pp_row *to)
{
    to->value += s * from->value;
    to->rate += s * from->rate;
    to->v_pre += s * from->v_pre;
    for (int i = 0; i < from->count; i++) {
        int at = 0;
        while (at < to->count && to->body[at] != from->body[i]) {
            at++;
        }
        to->count += at == to->count;
        to->body[at] = from->body[i];
        for (int k = 0; k < PP_BODY_NV; k++) {
            to->J[at][k] += s * from->J[i][k];
        }
    }
}

// Gears constrain coordinates of other joints; welds and spherical joints have none.
static bool has_coordinate(perp_joint_kind kind)
{
    return kind != PERP_JOINT_GEAR && kind != PERP_JOINT_WELD && kind != PERP_JOINT_SPHERICAL;
}

static bool slides(perp_joint_kind kind)
{
    return kind == PERP_JOINT_PRISMATIC || kind == PERP_JOINT_CYLINDRICAL ||
           kind == PERP_JOINT_POINT_ON_LINE;
}

// f(t, x_1, x_2, …) of a coupling, with slopes by the variables one at a time.
static void write_coupling(const perp_model *m, const pp_poses *where, const pp_joint *j,
                           pp_row *row)
{
    double x[1 + PP_COUPLING_TERMS] = {where->t}, unit[1 + PP_COUPLING_TERMS], slope = 0.0;
    pp_row term[PP_COUPLING_TERMS];
    for (int i = 0; i < j->terms; i++) {
        pp_own_coordinate(m, where, j->term[i], &term[i]);
        x[1 + i] = term[i].value;
    }
    double value = pp_expr_value(j->function, x);
    for (int i = 0; i <= j->terms; i++) {
        for (int k = 0; k <= j->terms; k++) {
            unit[k] = k == i ? 1.0 : 0.0;
        }
        pp_expr_rate(j->function, x, unit, &slope);
        if (i == 0) {
            row->rate += slope;
            row->v_pre += slope;
        } else {
            add_times(slope, &term[i - 1], row);
        }
    }
    row->value = value;
}

// psi(t, x, x') of a coupling of velocities. Its row follows from the slopes by the rates x', and its rate from psi at x':
// psi + sum psi_k' (row_k nu + rate_k - x_k').
static void write_velocity(const perp_model *m, const pp_poses *where, const pp_joint *j,
                           pp_row *row)
{
    const double *input = where->drive ? where->drive->input : NULL;
    double x[1 + 2 * PP_COUPLING_TERMS] = {where->t}, unit[1 + 2 * PP_COUPLING_TERMS] = {0.0};
    pp_row term[PP_COUPLING_TERMS];
    for (int i = 0; i < j->terms; i++) {
        pp_own_coordinate(m, where, j->term[i], &term[i]);
        x[1 + i] = term[i].value;
        x[1 + i + j->terms] = term[i].v_pre;
    }
    double psi = pp_expr_value_in(j->velocity, x, input), known = psi;
    for (int i = 0; i < j->terms; i++) {
        double slope = 0.0;
        unit[1 + i + j->terms] = 1.0;
        pp_expr_rate_in(j->velocity, x, input, unit, &slope);
        unit[1 + i + j->terms] = 0.0;
        known -= slope * (term[i].v_pre - term[i].rate);
        if (slope != 0.0) {
            add_times(slope, &term[i], row);
        }
    }
    row->rate = known;
    row->v_pre = psi;
    row->value = 0.0;
}

bool pp_own_coordinate(const perp_model *m, const pp_poses *where, int joint, pp_row *row)
{
    const pp_frame *body = where->body;
    const double *turn = where->turn;
    const pp_joint *j = &m->joint[joint];
    pp_own_start(row);
    if (!has_coordinate(j->kind)) {
        return false;
    }
    if (j->kind == PERP_JOINT_COUPLING) {
        if (j->site > 0) {
            // force at the site and torque, both in body axes: moment about the centre of mass
            const pp_mat3 *R = &body[j->b].R;
            perp_vec3 tau = pp_add(pp_cross(j->r_B, j->force_B), j->torque_B);
            pp_own_add(m, body, j->b, pp_mul(R, j->force_B), pp_mul(R, tau), row);
        } else if (j->velocity) {
            write_velocity(m, where, j, row);
        } else {
            write_coupling(m, where, j, row);
        }
        row->joint = joint;
        return true;
    }
    joint_anchors at = anchors_of(m, body, j);
    if (j->kind == PERP_JOINT_DISTANCE || slides(j->kind)) {
        scalar s = j->kind == PERP_JOINT_DISTANCE ? anchor_distance(&at) : along(&at, U);
        write_row(&at, &s, row);
    } else if (m->spatial) {
        write_angle(&at, turn, joint, row);
    } else {
        write_flat_angle(&at, row);
    }
    row->joint = joint;
    return true;
}

// Writes one row and returns 1, to be added to the number of rows.
static int write_scalar_row(const joint_anchors *at, scalar s, pp_row *row)
{
    write_row(at, &s, row);
    return 1;
}

// p_b = p_a, along the axes of the world.
static int write_coincidence(const joint_anchors *at, pp_row *row)
{
    int n = write_scalar_row(at, along_world(at, pp_vec(1.0, 0.0, 0.0)), &row[0]);
    n += write_scalar_row(at, along_world(at, pp_vec(0.0, 1.0, 0.0)), &row[n]);
    if (at->m->spatial) {
        n += write_scalar_row(at, along_world(at, pp_vec(0.0, 0.0, 1.0)), &row[n]);
    }
    return n;
}

// The anchor of b is on the axis of a.
static int on_axis(const joint_anchors *at, pp_row *row)
{
    int n = write_scalar_row(at, along(at, X), &row[0]);
    return n + write_scalar_row(at, along(at, Y), &row[n]);
}

// The axis of b is parallel to that of a.
static int parallel(const joint_anchors *at, pp_row *row)
{
    int n = write_scalar_row(at, cosine(at, X, UB), &row[0]);
    return n + write_scalar_row(at, cosine(at, Y, UB), &row[n]);
}

// No relative rotation. The rotation from the triad of a to that of b is a vector, axis times
// angle: sum a_k x b_k = 2 sin(angle) axis, and the trace of the rotation is 1 + 2 cos(angle). Its
// rows are relative rotations about the axes of the world, which are its rates where it is 0.
static int fixed(const joint_anchors *at, pp_row *row)
{
    const perp_vec3 a[3] = {at->a[X], at->a[Y], at->a[U]};
    const perp_vec3 b[3] = {at->b[Z], pp_cross(at->b[UB], at->b[Z]), at->b[UB]};
    perp_vec3 turn = {0.0, 0.0, 0.0}, none = {0.0, 0.0, 0.0};
    double trace = 0.0;
    for (int k = 0; k < 3; k++) {
        turn = pp_along(turn, 0.5, pp_cross(a[k], b[k]));
        trace += pp_dot3(a[k], b[k]);
    }
    double sine = pp_length(turn),
           by = sine > 0.0 ? pp_atan2(sine, 0.5 * (trace - 1.0)) / sine : 1.0;
    const double value[3] = {by * turn.x, by * turn.y, by * turn.z};
    for (int k = 0; k < 3; k++) {
        perp_vec3 d = pp_vec(k == 0, k == 1, k == 2);
        pp_own_start(&row[k]);
        row[k].value = value[k];
        pp_own_add(at->m, at->body, at->j->b, none, d, &row[k]);
        pp_own_add(at->m, at->body, at->j->a, none, pp_scale(-1.0, d), &row[k]);
    }
    return 3;
}

// Equations of planar joints; distances and gears are written by the caller.
static int equations_flat(const joint_anchors *at, pp_row *row)
{
    int n = 0;
    switch (at->j->kind) {
    case PERP_JOINT_REVOLUTE:
        return write_coincidence(at, row);
    case PERP_JOINT_WELD:
        n = write_coincidence(at, row);
        write_flat_angle(at, &row[n]);
        return n + 1;
    case PERP_JOINT_PRISMATIC:
        n = write_scalar_row(at, along(at, N), &row[0]);
        write_flat_angle(at, &row[n]);
        return n + 1;
    case PERP_JOINT_POINT_ON_LINE:
        return write_scalar_row(at, along(at, N), &row[0]);
    default:
        return 0;
    }
}

// Equations of joints in space.                                                        theory (S5)
static int equations_solid(const joint_anchors *at, const double *turn, int joint, pp_row *row)
{
    int n = 0;
    pp_row thread;
    switch (at->j->kind) {
    case PERP_JOINT_SPHERICAL:
        return write_coincidence(at, row);
    case PERP_JOINT_REVOLUTE:
        n = write_coincidence(at, row);
        return n + parallel(at, &row[n]);
    case PERP_JOINT_UNIVERSAL:
        n = write_coincidence(at, row);
        return n + write_scalar_row(at, cosine(at, U, UB), &row[n]);
    case PERP_JOINT_WELD:
        n = write_coincidence(at, row);
        return n + fixed(at, &row[n]);
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_SCREW:
        n = on_axis(at, row);
        n += parallel(at, &row[n]);
        if (at->j->kind == PERP_JOINT_SCREW) {
            // Thread: u . (p_b - p_a) = pitch times angle, the pitch in metres per radian.
            write_angle(at, turn, joint, &thread);
            n += write_scalar_row(at, along(at, U), &row[n]);
            add_times(-at->j->pitch, &thread, &row[n - 1]);
        }
        return n;
    case PERP_JOINT_PRISMATIC:
        n = on_axis(at, row);
        return n + fixed(at, &row[n]);
    case PERP_JOINT_PLANAR:
        n = write_scalar_row(at, along(at, U), &row[0]);
        return n + parallel(at, &row[n]);
    case PERP_JOINT_POINT_ON_LINE:
        return on_axis(at, row);
    default:
        return 0;
    }
}

int pp_own_equations(const perp_model *m, const pp_poses *where, int joint,
                     pp_row row[PP_JOINT_EQUATIONS])
{
    const pp_frame *body = where->body;
    const double *turn = where->turn;
    const pp_joint *j = &m->joint[joint];
    int n = 0;
    if (j->kind == PERP_JOINT_GEAR) {
        // Coordinate b plus ratio times coordinate a is constant.
        pp_row first;
        pp_own_coordinate(m, where, j->joint_b, &row[0]);
        pp_own_coordinate(m, where, j->joint_a, &first);
        add_times(j->ratio, &first, &row[0]);
        row[0].value -= j->angle;
        n = 1;
    } else if (j->kind != PERP_JOINT_COUPLING) {  // whose target is its equation
        joint_anchors at = anchors_of(m, body, j);
        if (j->kind == PERP_JOINT_DISTANCE) {
            // a distance with a target has the target as its equation, which rows.c writes; an infinite length is none
            scalar s = anchor_distance(&at);
            s.value -= j->length;
            n = j->target || isinf(j->length) ? 0 : write_scalar_row(&at, s, &row[0]);
        } else {
            n = m->spatial ? equations_solid(&at, turn, joint, row) : equations_flat(&at, row);
        }
    }
    for (int k = 0; k < n; k++) {
        row[k].joint = joint;
    }
    return n;
}
