// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The impulse of the forces of a step, from the state at its start. Written a second time, so that
// an error in the forces of the step shows in the balance of momentum.           theory (P1), (S2)
#include "certify/own.h"

#include <math.h>
#include <string.h>

// An expression that the scene leaves out is 0.
static double expression_value(const pp_step_evidence *e, const pp_expr *expr, const double *x)
{
    const pp_drive *drive = e->kin->poses.drive;
    const double *input = drive ? drive->input : NULL;
    return expr ? pp_expr_value_in(expr, x, input) : 0.0;
}

// Adds a force that acts at `arm` from the centre of mass, and a torque, in world axes.
static void add_force(perp_wrench *on, perp_vec3 f, perp_vec3 arm, perp_vec3 torque)
{
    on->f_W = pp_add(on->f_W, f);
    on->tau_W = pp_add(on->tau_W, pp_add(torque, pp_cross(arm, f)));
}

// A wrench given by expressions of time and of the state of its body. The order of the variables is
// that of the parser: in space t, p, v, omega, vector part of the quaternion; in the plane t, x, y,
// angle, and their rates.
static void expression(const pp_step_evidence *e, const pp_force *force, perp_wrench *on_b)
{
    const pp_frame *f = &e->kin->poses.body[force->b];
    double x[PP_SPATIAL_VARS] = {e->kin->poses.t, f->p.x,   f->p.y,  f->p.z, f->v.x,
                                 f->v.y,          f->v.z,   f->w.x,  f->w.y, f->w.z,
                                 f->rot.x,        f->rot.y, f->rot.z};
    const double planar[PP_PLANAR_VARS] = {e->kin->poses.t, f->p.x, f->p.y, f->angle,
                                           f->v.x,          f->v.y, f->w.z};
    if (!e->model->spatial) {
        memcpy(x, planar, sizeof planar);
    }
    perp_vec3 along = {expression_value(e, force->f[0], x), expression_value(e, force->f[1], x),
                       expression_value(e, force->f[2], x)};
    perp_vec3 about = {expression_value(e, force->torque[0], x),
                       expression_value(e, force->torque[1], x),
                       expression_value(e, force->torque[2], x)};
    if (force->body_axes) {
        along = pp_mul(&f->R, along);
        about = pp_mul(&f->R, about);
    }
    add_force(on_b, along, pp_mul(&f->R, force->r_B), about);
}

// Spring and damper between two anchors. An isotropic damper acts on the whole relative velocity,
// not on its part along the spring alone.
static void spring(const pp_step_evidence *e, const pp_force *force, perp_wrench *on_a,
                   perp_wrench *on_b)
{
    const pp_frame *a = &e->kin->poses.body[force->a], *b = &e->kin->poses.body[force->b];
    perp_vec3 ra = pp_mul(&a->R, force->r_A), rb = pp_mul(&b->R, force->r_B);
    perp_vec3 d = pp_sub(pp_add(b->p, rb), pp_add(a->p, ra)), none = {0.0, 0.0, 0.0};
    perp_vec3 v = pp_sub(pp_add(b->v, pp_cross(b->w, rb)), pp_add(a->v, pp_cross(a->w, ra)));
    double length = pp_length(d);
    if (length == 0.0) {
        return;
    }
    perp_vec3 u = pp_scale(1.0 / length, d);
    v = force->isotropic ? v : pp_scale(pp_dot3(u, v), u);
    // pull: force on a, towards b where the spring is stretched.
    perp_vec3 pull =
        pp_along(pp_scale(force->damping, v), force->stiffness * (length - force->rest), u);
    add_force(on_b, pp_scale(-1.0, pull), rb, none);
    add_force(on_a, pull, ra, none);
}

void pp_own_force(const pp_step_evidence *e, const pp_force *f, perp_wrench *on_a,
                  perp_wrench *on_b)
{
    const pp_frame *a = &e->kin->poses.body[f->a], *b = &e->kin->poses.body[f->b];
    const perp_vec3 none = {0.0, 0.0, 0.0};
    *on_a = *on_b = (perp_wrench){none, none};
    if (f->kind == PERP_FORCE_WRENCH) {
        expression(e, f, on_b);
    } else if (f->kind == PERP_FORCE_SPRING) {
        spring(e, f, on_a, on_b);
    } else if (f->kind == PERP_FORCE_TORSION_SPRING) {
        double torque = f->stiffness * (b->angle - a->angle - f->rest);
        torque += f->damping * (b->w.z - a->w.z);
        add_force(on_b, none, none, pp_vec(0.0, 0.0, -torque));
        add_force(on_a, none, none, pp_vec(0.0, 0.0, torque));
    } else if (f->a > 0) {  // drag between two bodies: opposite to their relative spin
        perp_vec3 torque = pp_scale(f->damping_w, pp_sub(b->w, a->w));
        add_force(on_b, none, none, pp_scale(-1.0, torque));
        add_force(on_a, none, none, torque);
    } else {  // drag: opposite to the velocities of the centre of mass
        add_force(on_b, pp_scale(-f->damping, b->v), none, pp_scale(-f->damping_w, b->w));
    }
}

// ── Bodies that spin ─────────────────────────────────────────────────────────────────────────────

// Solves A x = b by Cramer's rule, A given by columns; false where A is singular.
static bool solve_cramer(const perp_vec3 column[3], perp_vec3 b, perp_vec3 *x)
{
    perp_vec3 bc = pp_cross(column[1], column[2]), ca = pp_cross(column[2], column[0]);
    double det = pp_dot3(column[0], bc);
    *x = pp_vec(pp_dot3(b, bc) / det, pp_dot3(b, ca) / det,
                pp_dot3(b, pp_cross(column[0], column[1])) / det);
    return isfinite(x->x) && isfinite(x->y) && isfinite(x->z);
}

// Midpoint rule for Euler's equations of a free body in body axes, solved for the mean velocity m:
//
//   (J + h/2 [m]x J) m = J w,   w+ = 2 m - w                                               theory (S2)
//
// Fixed-point iteration with the last m in the bracket, from a guess of m. It contracts for turns of a quarter radian,
// to which gyroscopic() limits h, so that where it begins does not decide where it ends.
static bool midpoint(const pp_mat3 *J, double h, perp_vec3 guess, perp_vec3 *w)
{
    enum { ROUNDS = 200 };
    perp_vec3 m = guess, had = pp_mul(J, *w);
    for (int round = 0; round < ROUNDS; round++) {
        perp_vec3 column[3], next;
        for (int k = 0; k < 3; k++) {
            perp_vec3 Jk = pp_mat3_column(J, k);
            column[k] = pp_along(Jk, 0.5 * h, pp_cross(m, Jk));
        }
        if (!solve_cramer(column, had, &next)) {
            return false;
        }
        perp_vec3 off = pp_sub(next, m);
        m = next;
        if (pp_dot3(off, off) <= 1e-31 * pp_dot3(m, m)) {
            *w = pp_sub(pp_scale(2.0, m), *w);
            return true;
        }
    }
    return false;
}

// Where the rule above does not resolve the turn, the change that the problem had is accepted if it
// keeps kinetic energy and the size of the angular momentum, as a free rotation does.
static bool keeps(const pp_mat3 *J, perp_vec3 w, perp_vec3 change)
{
    const double same = 1e-9;
    perp_vec3 had = pp_mul(J, w), has = pp_add(had, change), now;
    const perp_vec3 column[3] = {pp_mat3_column(J, 0), pp_mat3_column(J, 1), pp_mat3_column(J, 2)};
    if (!solve_cramer(column, has, &now)) {
        return false;
    }
    double T = pp_dot3(w, had), L = pp_dot3(had, had);
    return fabs(pp_dot3(now, has) - T) <= same * T && fabs(pp_dot3(has, has) - L) <= same * L;
}

// Angular impulse of the gyroscopic torque in the step, in world axes [N m s]. given: that of the
// problem. The midpoint rule is applied in parts of at most a quarter radian.
static perp_vec3 gyroscopic(const pp_step_evidence *e, int i, perp_vec3 given)
{
    const double most = 0.25;  // of a turn at once [rad]
    enum { PARTS = 64 };
    const pp_mat3 *R = &e->kin->poses.body[i].R, *J = &e->model->body[i].I_B;
    perp_vec3 w = pp_mul_t(R, e->kin->poses.body[i].w), had = pp_mul(J, w), first = w;
    if (e->gyroscopic == PERP_GYROSCOPIC_EXPLICIT) {
        return pp_mul(R, pp_scale(-e->kin->h, pp_cross(w, had)));
    }
    double turn = e->kin->h * pp_length(w) / most;
    int parts = turn < PARTS ? (int)turn + 1 : PARTS;
    bool found = turn < PARTS;
    if (found) {
        // of a whole step the problem's impulse is a guess; one that is not of the size of w is none
        const pp_mat3 *inverse = &e->model->body[i].inverse_IB;
        perp_vec3 half = pp_scale(0.5, pp_mul(inverse, pp_mul_t(R, given))), guess = w;
        if (parts == 1 && pp_dot3(half, half) <= pp_dot3(w, w)) {
            guess = pp_add(w, half);
        }
        for (int k = 0; k < parts; k++) {
            found = midpoint(J, e->kin->h / parts, k == 0 ? guess : w, &w);
            if (!found) {
                break;
            }
        }
    }
    // NaN fails the certificate: an impulse that cannot be confirmed must not pass.
    if (!found) {
        return keeps(J, first, pp_mul_t(R, given)) ? given : pp_vec(NAN, NAN, NAN);
    }
    return pp_mul(R, pp_sub(pp_mul(J, w), had));
}

// The theta method in space has its gyroscopic term in the balance of momentum instead.
static bool spins(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    return body->nv > 0 && body->kind == PERP_BODY_SPATIAL && !body->massless &&
           e->stepper != PERP_STEPPER_MOREAU_JEAN;
}

double *pp_own_push(const pp_step_evidence *e, pp_arena *arena)
{
    const perp_model *m = e->model;
    double h = e->kin->h;
    perp_wrench *on = PP_ZEROS(arena, perp_wrench, m->bodies), a, b;
    double *p = PP_ZEROS(arena, double, m->nv);
    if (!on || !p) {
        return NULL;
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        if (!f->implicit) {
            pp_own_force(e, f, &a, &b);
            add_force(&on[f->a], a.f_W, pp_vec(0.0, 0.0, 0.0), a.tau_W);
            add_force(&on[f->b], b.f_W, pp_vec(0.0, 0.0, 0.0), b.tau_W);
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        perp_vec3 f = pp_along(on[i].f_W, body->mass * body->gravity_scale, m->gravity),
                  tau = on[i].tau_W;
        if (e->applied) {
            f = pp_add(f, e->applied[i].f_W);
            tau = pp_add(tau, e->applied[i].tau_W);
        }
        f = pp_scale(h, f);
        tau = pp_scale(h, tau);
        if (spins(e, i)) {
            // of the problem's moment impulse, what other torques leave is its gyroscopic part
            const double *all = e->p_ext + body->at + 3;
            tau = pp_add(tau, gyroscopic(e, i, pp_sub(pp_vec(all[0], all[1], all[2]), tau)));
        }
        const double wrench[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
        for (int k = 0; k < body->nv; k++) {
            p[body->at + k] = wrench[body->axis[k]];
        }
    }
    return p;
}
