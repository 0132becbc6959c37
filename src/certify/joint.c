// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equations and coordinates of joints from the poses of their bodies. Each is a scalar with its
// gradients by anchors and axes, from which one function writes the row for any kind of joint; the
// stage that made the step has rows derived by hand instead.              theory (P4), (S5), (K12)
#include "certify/own.h"

#include <math.h>

static const double TWO_PI = 6.283185307179586;

// Axes of pp_own_anchors. In space: x, y = u x x and u are fixed in a, z and u_b in b. In the plane: x and y are the axes of
// a, z the first axis of b, u the axis of the joint and N its left normal, both fixed in a.
enum { X, Y, U, N, Z = 0, UB };

pp_own_anchors pp_own_anchors_of(const perp_model *m, const pp_frame *body, const pp_joint *j)
{
    const pp_mat3 *A = &body[j->a].R, *B = &body[j->b].R;
    pp_own_anchors at;  // field by field: axes that the kind of model does not have are not read
    at.m = m;
    at.body = body;
    at.j = j;
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
static pp_own_scalar along_world(const pp_own_anchors *at, perp_vec3 d)
{
    return (pp_own_scalar){.value = pp_dot3(d, at->apart), .g = d};
}

// e . (p_b - p_a) along an axis e of a. The gradient by e is p_b - p_a.
static pp_own_scalar along(const pp_own_anchors *at, int e)
{
    pp_own_scalar s = along_world(at, at->a[e]);
    s.on_a = pp_cross(at->a[e], at->apart);
    return s;
}

// e . f of an axis of a and one of b: 0 where they are perpendicular. The gradient by either is the other.
static pp_own_scalar cosine(const pp_own_anchors *at, int e, int f)
{
    pp_own_scalar s = {.value = pp_dot3(at->a[e], at->b[f])};
    s.on_a = pp_cross(at->a[e], at->b[f]);
    s.on_b = pp_scale(-1.0, s.on_a);
    return s;
}

static pp_own_scalar anchor_distance(const pp_own_anchors *at)
{
    double length = pp_length(at->apart);
    // Anchors that coincide have no direction; any unit vector serves.
    perp_vec3 u = length > 0.0 ? pp_scale(1.0 / length, at->apart) : pp_vec(1.0, 0.0, 0.0);
    pp_own_scalar s = along_world(at, u);
    s.value = length;
    return s;
}

// atan2(y . z, x . z), in the turn nearest to `near` (NaN: between -pi and pi). With c = x . z and
// s = y . z its derivatives are c / (c^2 + s^2) by s and -s / (c^2 + s^2) by c. Where z is along the axis the angle is
// undefined and its gradient 0: the relative rotation about u takes its place.
static pp_own_scalar angle(const pp_own_anchors *at, double near)
{
    pp_own_scalar c = cosine(at, X, Z), s = cosine(at, Y, Z), out = {0};
    double square = c.value * c.value + s.value * s.value;
    out.value = pp_atan2(s.value, c.value);
    out.value += isfinite(near) ? TWO_PI * round((near - out.value) / TWO_PI) : 0.0;
    if (square > 0.0) {
        double by_s = c.value / square, by_c = -s.value / square;
        out.on_a = pp_along(pp_scale(by_c, c.on_a), by_s, s.on_a);
        out.on_b = pp_along(pp_scale(by_c, c.on_b), by_s, s.on_b);
    } else if (at->m->spatial) {
        out.on_b = at->a[U];
        out.on_a = pp_scale(-1.0, at->a[U]);
    }
    return out;
}

// The row of a scalar by virtual power: force g_p, moment (p - o) x g_p + sum e x g_e.
//                                                                                     theory (K12)
static void write_pair(const pp_own_anchors *at, const pp_own_scalar *s, pp_own_pair *out)
{
    const pp_joint *j = at->j;
    const pp_frame *a = &at->body[j->a], *b = &at->body[j->b];
    out->a = j->a;
    out->b = j->b;
    out->value = s->value;
    out->f = s->g;
    out->tau_b = pp_add(pp_cross(pp_sub(at->pb, b->p), s->g), s->on_b);
    out->tau_a = pp_sub(s->on_a, pp_cross(pp_sub(at->pa, a->p), s->g));
    double of_a = pp_dot3(out->tau_a, a->w) - pp_dot3(out->f, a->v);
    double of_b = pp_dot3(out->tau_b, b->w) + pp_dot3(out->f, b->v);
    out->v_pre = of_a + of_b;
    // The velocity of a body that is not free is given.
    out->rate = 0.0;
    if (at->m->body[j->a].nv == 0) {
        out->rate += of_a;
    }
    if (at->m->body[j->b].nv == 0) {
        out->rate += of_b;
    }
}

// The angle of a joint in space, in the turn of the last coordinates.
static pp_own_scalar solid_angle(const pp_own_anchors *at, const double *turn, int joint)
{
    return angle(at, turn ? turn[joint] : (double)NAN);
}

// The angle of a planar joint. Angles of planar bodies are not wrapped, and their difference
// selects the turn.
static pp_own_scalar flat_angle(const pp_own_anchors *at)
{
    pp_own_scalar s = angle(at, at->body[at->j->b].angle - at->body[at->j->a].angle);
    s.value -= at->j->angle;
    return s;
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

void pp_own_widen(const perp_model *m, const pp_own_pair *pair, pp_row *row)
{
    const int body[2] = {pair->b, pair->a};
    const perp_vec3 f[2] = {pair->f, pp_scale(-1.0, pair->f)}, tau[2] = {pair->tau_b, pair->tau_a};
    pp_own_start(row);
    row->value = pair->value;
    row->rate = pair->rate;
    row->v_pre = pair->v_pre;
    for (int i = 0; i < 2; i++) {
        const pp_body *b = &m->body[body[i]];
        const double all[PP_BODY_NV] = {f[i].x, f[i].y, f[i].z, tau[i].x, tau[i].y, tau[i].z};
        if (b->nv > 0) {
            double *J = row->J[row->count];
            row->body[row->count++] = body[i];
            for (int k = 0; k < PP_BODY_NV; k++) {
                J[k] = k < b->nv ? all[b->axis[k]] : 0.0;
            }
        }
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

static pp_own_scalar coordinate_of(const pp_own_anchors *at, const double *turn, int joint)
{
    if (at->j->kind == PERP_JOINT_DISTANCE) {
        return anchor_distance(at);
    }
    if (slides(at->j->kind)) {
        return along(at, U);
    }
    return at->m->spatial ? solid_angle(at, turn, joint) : flat_angle(at);
}

bool pp_own_pair_coordinate_at(const pp_own_anchors *at, const double *turn, int joint,
                               pp_own_pair *pair)
{
    if (!has_coordinate(at->j->kind) || at->j->kind == PERP_JOINT_COUPLING) {
        return false;
    }
    pp_own_scalar s = coordinate_of(at, turn, joint);
    write_pair(at, &s, pair);
    return true;
}

bool pp_own_pair_coordinate(const perp_model *m, const pp_poses *where, int joint,
                            pp_own_pair *pair)
{
    const pp_joint *j = &m->joint[joint];
    if (pp_joint_couples(j)) {
        return false;
    }
    pp_own_anchors at = pp_own_anchors_of(m, where->body, j);
    return pp_own_pair_coordinate_at(&at, where->turn, joint, pair);
}

bool pp_own_coordinate(const perp_model *m, const pp_poses *where, int joint, pp_row *row)
{
    const pp_frame *body = where->body;
    const pp_joint *j = &m->joint[joint];
    if (!has_coordinate(j->kind)) {
        pp_own_start(row);
        return false;
    }
    if (j->kind == PERP_JOINT_COUPLING) {
        pp_own_start(row);
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
    pp_own_pair pair;
    pp_own_pair_coordinate(m, where, joint, &pair);
    pp_own_widen(m, &pair, row);
    row->joint = joint;
    return true;
}

// p_b = p_a, in the plane along the axes of the world, in space along axes that turn with a and are those of the world now.
static int coincidence(const pp_own_anchors *at, pp_own_scalar *out)
{
    int count = at->m->spatial ? 3 : 2;
    for (int k = 0; k < count; k++) {
        out[k] = along_world(at, pp_vec(k == 0, k == 1, k == 2));
        if (at->m->spatial) {
            out[k].on_a = pp_cross(out[k].g, at->apart);
        }
    }
    return count;
}

// The anchor of b is on the axis of a.
static int on_axis(const pp_own_anchors *at, pp_own_scalar *out)
{
    out[0] = along(at, X);
    out[1] = along(at, Y);
    return 2;
}

// The axis of b is parallel to that of a.
static int parallel(const pp_own_anchors *at, pp_own_scalar *out)
{
    out[0] = cosine(at, X, UB);
    out[1] = cosine(at, Y, UB);
    return 2;
}

// No relative rotation. The rotation from the triad of a to that of b is a vector, axis times
// angle: sum a_k x b_k = 2 sin(angle) axis, and the trace of the rotation is 1 + 2 cos(angle). Its
// rows are relative rotations about the axes of the world, which are its rates where it is 0.
static int fixed(const pp_own_anchors *at, pp_own_scalar *out)
{
    const perp_vec3 a[3] = {at->a[X], at->a[Y], at->a[U]};
    const perp_vec3 b[3] = {at->b[Z], pp_cross(at->b[UB], at->b[Z]), at->b[UB]};
    perp_vec3 turn = {0.0, 0.0, 0.0};
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
        out[k] = (pp_own_scalar){.value = value[k], .on_a = pp_scale(-1.0, d), .on_b = d};
    }
    return 3;
}

// Equations of planar joints; gears and couplings are written by the caller.
static int equations_flat(const pp_own_anchors *at, pp_own_scalar *out)
{
    int n = 0;
    switch (at->j->kind) {
    case PERP_JOINT_REVOLUTE:
        return coincidence(at, out);
    case PERP_JOINT_WELD:
        n = coincidence(at, out);
        out[n] = flat_angle(at);
        return n + 1;
    case PERP_JOINT_PRISMATIC:
        out[0] = along(at, N);
        out[1] = flat_angle(at);
        return 2;
    case PERP_JOINT_POINT_ON_LINE:
        out[0] = along(at, N);
        return 1;
    default:
        return 0;
    }
}

// Thread of a screw: u . (p_b - p_a) = pitch times angle, the pitch in metres per radian.
static pp_own_scalar thread(const pp_own_anchors *at, const double *turn, int joint)
{
    pp_own_scalar s = along(at, U), turned = solid_angle(at, turn, joint);
    s.value -= at->j->pitch * turned.value;
    s.on_a = pp_along(s.on_a, -at->j->pitch, turned.on_a);
    s.on_b = pp_along(s.on_b, -at->j->pitch, turned.on_b);
    return s;
}

// Equations of joints in space.                                                        theory (S5)
static int equations_solid(const pp_own_anchors *at, const double *turn, int joint,
                           pp_own_scalar *out)
{
    int n = 0;
    switch (at->j->kind) {
    case PERP_JOINT_SPHERICAL:
        return coincidence(at, out);
    case PERP_JOINT_REVOLUTE:
        n = coincidence(at, out);
        return n + parallel(at, &out[n]);
    case PERP_JOINT_UNIVERSAL:
        // its two axes stay perpendicular
        n = coincidence(at, out);
        out[n] = cosine(at, U, UB);
        return n + 1;
    case PERP_JOINT_WELD:
        n = coincidence(at, out);
        return n + fixed(at, &out[n]);
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_SCREW:
        n = on_axis(at, out);
        n += parallel(at, &out[n]);
        if (at->j->kind == PERP_JOINT_SCREW) {
            out[n++] = thread(at, turn, joint);
        }
        return n;
    case PERP_JOINT_PRISMATIC:
        n = on_axis(at, out);
        return n + fixed(at, &out[n]);
    case PERP_JOINT_PLANAR:
        out[0] = along(at, U);
        return 1 + parallel(at, &out[1]);
    case PERP_JOINT_POINT_ON_LINE:
        return on_axis(at, out);
    default:
        return 0;
    }
}

int pp_own_scalars(const pp_own_anchors *at, const double *turn, int joint,
                   pp_own_scalar out[PP_JOINT_EQUATIONS])
{
    const pp_joint *j = at->j;
    if (j->kind == PERP_JOINT_DISTANCE) {
        // a distance with a target has the target as its equation, which rows.c writes; an infinite length is none
        out[0] = anchor_distance(at);
        out[0].value -= j->length;
        return j->target || isinf(j->length) ? 0 : 1;
    }
    return at->m->spatial ? equations_solid(at, turn, joint, out) : equations_flat(at, out);
}

int pp_own_values(pp_own_joint_end *end, const double *turn, int joint, bool asked,
                  pp_own_value value[PP_JOINT_EQUATIONS + 1])
{
    const pp_own_anchors *at = &end->at;
    const pp_joint *j = at->j;
    pp_own_scalar s[PP_JOINT_EQUATIONS + 1];
    bool moves = at->m->body[j->a].nv > 0 || at->m->body[j->b].nv > 0;
    int count = pp_own_scalars(at, turn, joint, s), equations = count;
    bool judged = (j->target || j->lower <= j->upper) && has_coordinate(j->kind);
    end->has_along = asked && has_coordinate(j->kind);
    if (judged || end->has_along) {
        s[count] = coordinate_of(at, turn, joint);
        count += judged;
    }
    if (end->has_along) {
        write_pair(at, &s[equations], &end->along);
    }
    for (int k = 0; k < count; k++) {
        perp_vec3 g = s[k].g;
        value[k] = (pp_own_value){.value = s[k].value,
                                  .length = moves && (g.x != 0.0 || g.y != 0.0 || g.z != 0.0),
                                  .coordinate = k == equations};
    }
    return count;
}

int pp_own_equations(const perp_model *m, const pp_poses *where, int joint,
                     pp_row row[PP_JOINT_EQUATIONS])
{
    const pp_joint *j = &m->joint[joint];
    int n = 0;
    if (!pp_joint_couples(j)) {
        pp_own_scalar s[PP_JOINT_EQUATIONS];
        pp_own_anchors at = pp_own_anchors_of(m, where->body, j);
        n = pp_own_scalars(&at, where->turn, joint, s);
        for (int k = 0; k < n; k++) {
            pp_own_pair pair;
            write_pair(&at, &s[k], &pair);
            pp_own_widen(m, &pair, &row[k]);
        }
    }
    if (j->kind == PERP_JOINT_GEAR) {
        // Coordinate b plus ratio times coordinate a is constant.
        pp_row first;
        pp_own_coordinate(m, where, j->joint_b, &row[0]);
        pp_own_coordinate(m, where, j->joint_a, &first);
        add_times(j->ratio, &first, &row[0]);
        row[0].value -= j->angle;
        n = 1;
    }
    for (int k = 0; k < n; k++) {
        row[k].joint = joint;
    }
    return n;
}
