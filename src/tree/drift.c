// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Second derivatives of the equations and coordinates of joints, exact.                 theory (J6)
//
// Points and axes fixed to bodies are carried with their first two derivatives along the motion, as
// jets (value, first, second derivative); products follow Leibniz' rule. The order of the rows is
// that of constraint/joint_*.c. Everything is in world axes.
#include "tree/tree.h"

#include <math.h>

static const perp_vec3 EX = {1.0, 0.0, 0.0}, EY = {0.0, 1.0, 0.0}, EZ = {0.0, 0.0, 1.0};

// A number and a vector with their first two derivatives by time.
typedef struct joint_jet {
    double v, d, dd;
} joint_jet;

typedef struct jet3 {
    perp_vec3 v, d, dd;
} jet3;

// An axis r fixed to a body: r' = w x r, r'' = alpha x r + w x (w x r).
static jet3 fixed_to(const pp_tree_pass *pass, int body, perp_vec3 r_B)
{
    const pp_frame *f = &pass->body[body];
    perp_vec3 r = pp_rotate(f, r_B), d = pp_cross(f->w, r);
    return (jet3){r, d, pp_add(pp_cross(pass->sigma[body].w_W, r), pp_cross(f->w, d))};
}

// A point fixed to a body.
static jet3 jet_of_point(const pp_tree_pass *pass, int body, perp_vec3 r_B)
{
    const pp_frame *f = &pass->body[body];
    jet3 r = fixed_to(pass, body, r_B);
    return (jet3){pp_add(f->p, r.v), pp_add(f->v, r.d), pp_add(pass->sigma[body].v_W, r.dd)};
}

static jet3 minus(jet3 a, jet3 b)
{
    return (jet3){pp_sub(a.v, b.v), pp_sub(a.d, b.d), pp_sub(a.dd, b.dd)};
}

// Leibniz' rule: (a x b)'' = a'' x b + 2 a' x b' + a x b''.
static jet3 jet_cross(jet3 a, jet3 b)
{
    perp_vec3 dd = pp_add(pp_cross(a.dd, b.v), pp_cross(a.v, b.dd));
    return (jet3){pp_cross(a.v, b.v), pp_add(pp_cross(a.d, b.v), pp_cross(a.v, b.d)),
                  pp_along(dd, 2.0, pp_cross(a.d, b.d))};
}

static joint_jet dot(jet3 a, jet3 b)
{
    return (joint_jet){pp_dot3(a.v, b.v), pp_dot3(a.d, b.v) + pp_dot3(a.v, b.d),
                       pp_dot3(a.dd, b.v) + 2.0 * pp_dot3(a.d, b.d) + pp_dot3(a.v, b.dd)};
}

// Second derivative of L = |d|: L L' = d . d',  L'^2 + L L'' = d' . d' + d . d''.      theory (J6)
static double distance_drift(jet3 d)
{
    double L = pp_length(d.v);
    if (L == 0.0) {
        return d.dd.x;  // as if along x: so is its row
    }
    double rate = pp_dot3(d.v, d.d) / L;
    return (pp_dot3(d.d, d.d) + pp_dot3(d.v, d.dd) - rate * rate) / L;
}

// Second derivative of atan2(s, c).                                                    theory (J6)
static double angle_drift(joint_jet s, joint_jet c)
{
    double r2 = c.v * c.v + s.v * s.v;
    if (r2 == 0.0) {
        return 0.0;
    }
    double rate = (c.v * s.d - s.v * c.d) / r2;
    return (c.v * s.dd - s.v * c.dd - 2.0 * rate * (c.v * c.d + s.v * s.d)) / r2;
}

// The geometry of a joint in motion.
typedef struct jet_triad {
    jet3 d;          // from anchor a to anchor b
    jet3 u, x, y;    // fixed in a
    jet3 ub, zb;     // fixed in b
    perp_vec3 spin;  // angular acceleration of b relative to a
} jet_triad;

// Anchors, axes and their first two derivatives at qdd = 0.
static jet_triad joint_triad(const pp_tree_pass *pass, const pp_joint *j)
{
    jet_triad w;
    w.d = minus(jet_of_point(pass, j->b, j->r_B), jet_of_point(pass, j->a, j->r_A));
    w.u = fixed_to(pass, j->a, j->axis_A);
    if (pass->tree->model->spatial) {
        w.x = fixed_to(pass, j->a, j->zero_A);
        w.y = jet_cross(w.u, w.x);
        w.ub = fixed_to(pass, j->b, j->axis_B);
        w.zb = j->kind == PERP_JOINT_UNIVERSAL ? w.ub : fixed_to(pass, j->b, j->zero_B);
    } else {
        w.x = fixed_to(pass, j->a, pp_vec(-j->axis_A.y, j->axis_A.x, 0.0));  // the left normal
        w.y = w.ub = w.zb = w.u;
    }
    w.spin = pp_sub(pass->sigma[j->b].w_W, pass->sigma[j->a].w_W);
    return w;
}

// The angle of a joint. In the plane it is a difference of angles, whose second derivative is one
// of angular accelerations.
static double own_angle_drift(const pp_tree_pass *pass, const jet_triad *w)
{
    return pass->tree->model->spatial ? angle_drift(dot(w->y, w->zb), dot(w->x, w->zb)) : w->spin.z;
}

// Second derivative of p_b - p_a along the axes of the world.
static int along_axes(perp_vec3 a, bool spatial, double *drift)
{
    drift[0] = pp_dot3(EX, a);
    drift[1] = pp_dot3(EY, a);
    if (spatial) {
        drift[2] = pp_dot3(EZ, a);
    }
    return spatial ? 3 : 2;
}

// Second derivative of p_b - p_a along axes that are those of the world now and turn with a.
static int coincide(const pp_tree_pass *pass, const pp_joint *j, const jet_triad *w, double *drift)
{
    const perp_vec3 axis[3] = {EX, EY, EZ};
    const pp_frame *a = &pass->body[j->a];
    for (int k = 0; k < 3; k++) {
        drift[k] = dot(fixed_to(pass, j->a, pp_mul_t(&a->R, axis[k])), w->d).dd;
    }
    return 3;
}

// Along the two axes across u, which are fixed in a.
static int across(jet3 a, const jet_triad *w, double *drift)
{
    drift[0] = dot(w->x, a).dd;
    drift[1] = dot(w->y, a).dd;
    return 2;
}

// phi'' at qdd = 0, in the order of pp_joint_equations_planar.
static int planar_drift(const pp_joint *j, const jet_triad *w, double *drift)
{
    switch (j->kind) {
    case PERP_JOINT_REVOLUTE:
        return along_axes(w->d.dd, false, drift);
    case PERP_JOINT_WELD:
        along_axes(w->d.dd, false, drift);
        drift[2] = w->spin.z;
        return 3;
    case PERP_JOINT_PRISMATIC:
        drift[0] = dot(w->x, w->d).dd;
        drift[1] = w->spin.z;
        return 2;
    case PERP_JOINT_POINT_ON_LINE:
        drift[0] = dot(w->x, w->d).dd;
        return 1;
    default:
        return 0;
    }
}

static int spatial_drift(const pp_tree_pass *pass, const pp_joint *j, const jet_triad *w,
                         double *drift)
{
    // One number for each row of pp_joint_equations_spatial, in its order.
    int n = 0;
    switch (j->kind) {
    case PERP_JOINT_SPHERICAL:
        return coincide(pass, j, w, drift);
    case PERP_JOINT_REVOLUTE:
        n = coincide(pass, j, w, drift);
        return n + across(w->ub, w, drift + n);
    case PERP_JOINT_UNIVERSAL:
        n = coincide(pass, j, w, drift);
        drift[n] = dot(w->u, w->ub).dd;
        return n + 1;
    case PERP_JOINT_WELD:
        n = coincide(pass, j, w, drift);
        return n + along_axes(w->spin, true, drift + n);
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_SCREW:
        n = across(w->d, w, drift);
        n += across(w->ub, w, drift + n);
        if (j->kind == PERP_JOINT_SCREW) {
            drift[n++] = dot(w->u, w->d).dd - j->pitch * own_angle_drift(pass, w);
        }
        return n;
    case PERP_JOINT_PRISMATIC:
        n = across(w->d, w, drift);
        return n + along_axes(w->spin, true, drift + n);
    case PERP_JOINT_PLANAR:
        drift[0] = dot(w->u, w->d).dd;
        return 1 + across(w->ub, w, drift + 1);
    case PERP_JOINT_POINT_ON_LINE:
        return across(w->d, w, drift);
    default:
        return 0;
    }
}

// x'' = sum f_k x_k'' + the second derivative of f along the rates of its variables, those of the terms and 1 of time.
//                                                                                       theory (A4)
static double coupling_drift(const pp_tree_pass *pass, const pp_joint *j)
{
    const perp_model *m = pass->tree->model;
    pp_poses at = {.t = pass->t, .body = pass->body, .turn = pass->turn};
    double x[1 + PP_COUPLING_TERMS] = {pass->t}, rate[1 + PP_COUPLING_TERMS] = {1.0};
    double along[1 + PP_COUPLING_TERMS] = {0.0}, first, bend, drift = 0.0;
    for (int i = 0; i < j->terms; i++) {
        pp_row row;
        pp_joint_coordinate(m, &at, j->term[i], &row);
        x[1 + i] = row.value;
        rate[1 + i] = row.v_pre;
    }
    for (int i = 0; i < j->terms; i++) {
        along[1 + i] = 1.0;
        pp_expr_rate(j->function, x, along, &first);
        along[1 + i] = 0.0;
        drift += first * pp_joint_coordinate_drift(pass, j->term[i]);
    }
    pp_expr_rate2(j->function, x, rate, &first, &bend);
    return drift + bend;
}

// d/dt psi(t, x, x') with x'' of the terms at qdd = 0, inputs held.                       theory (A9)
static double velocity_drift(const pp_tree_pass *pass, const pp_joint *j)
{
    pp_poses at = {.t = pass->t, .body = pass->body, .turn = pass->turn};
    double x[1 + 2 * PP_COUPLING_TERMS] = {pass->t}, rate[1 + 2 * PP_COUPLING_TERMS] = {1.0};
    double drift;
    for (int i = 0; i < j->terms; i++) {
        pp_row row;
        pp_joint_coordinate(pass->tree->model, &at, j->term[i], &row);
        x[1 + i] = row.value;
        x[1 + j->terms + i] = rate[1 + i] = row.v_pre;
        rate[1 + j->terms + i] = pp_joint_coordinate_drift(pass, j->term[i]);
    }
    pp_expr_rate_in(j->velocity, x, pass->input, rate, &drift);
    return drift;
}

// d/dt of the power of force f and torque tau, fixed in a body that turns with w: f . a + (w x f) . v + tau . w'.
static double site_drift(const pp_tree_pass *pass, const pp_joint *j)
{
    const pp_frame *body = &pass->body[j->b];
    const perp_twist *sigma = &pass->sigma[j->b];
    perp_vec3 r = pp_mul(&body->R, j->r_B), f = pp_mul(&body->R, j->force_B), w = body->w;
    perp_vec3 v = pp_add(body->v, pp_cross(w, r));
    perp_vec3 a = pp_add(sigma->v_W, pp_add(pp_cross(sigma->w_W, r), pp_cross(w, pp_cross(w, r))));
    return pp_dot3(f, a) + pp_dot3(pp_cross(w, f), v) +
           pp_dot3(pp_mul(&body->R, j->torque_B), sigma->w_W);
}

// Second derivative of the joint's coordinate at qdd = 0 [m/s^2, rad/s^2].
double pp_joint_coordinate_drift(const pp_tree_pass *pass, int joint)
{
    const pp_joint *j = &pass->tree->model->joint[joint];
    if (!pp_joint_has_coordinate(j)) {
        return 0.0;
    }
    if (j->site > 0) {
        return site_drift(pass, j);
    }
    if (j->velocity) {
        return velocity_drift(pass, j);
    }
    if (j->kind == PERP_JOINT_COUPLING) {
        return coupling_drift(pass, j);
    }
    jet_triad w = joint_triad(pass, j);
    switch (j->kind) {
    case PERP_JOINT_PRISMATIC:
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_POINT_ON_LINE:
        return dot(w.u, w.d).dd;
    case PERP_JOINT_DISTANCE:
        return distance_drift(w.d);
    default:
        return own_angle_drift(pass, &w);
    }
}

// J_dot qd of the equations of a joint; returns their number.
int pp_joint_drift(const pp_tree_pass *pass, int joint, double *drift)
{
    const perp_model *m = pass->tree->model;
    const pp_joint *j = &m->joint[joint];
    if (j->kind == PERP_JOINT_GEAR) {
        drift[0] = j->ratio * pp_joint_coordinate_drift(pass, j->joint_a) +
                   pp_joint_coordinate_drift(pass, j->joint_b);
        return 1;
    }
    if (j->kind == PERP_JOINT_COUPLING) {
        return 0;
    }
    if (j->kind == PERP_JOINT_DISTANCE) {
        drift[0] = pp_joint_coordinate_drift(pass, joint);
        return pp_joint_keeps_length(j) ? 1 : 0;
    }
    jet_triad w = joint_triad(pass, j);
    return m->spatial ? spatial_drift(pass, j, &w, drift) : planar_drift(j, &w, drift);
}
