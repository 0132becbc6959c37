// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The impulse of the forces over a step, p_ext = h f(q, nu, t), and their energy.      theory (P1)
#include "kinematics/gyroscopic.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

static const perp_vec3 NONE = {0.0, 0.0, 0.0};

// f at the world point `at`, and torque, on a body.
static void apply_force(const perp_model *m, pp_kinematics *k, int i, perp_vec3 f, perp_vec3 at,
                        perp_vec3 torque)
{
    const pp_body *body = &m->body[i];
    perp_vec3 tau = pp_add(torque, pp_cross(pp_sub(at, k->body[i].p), f));
    const double all[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
    if (body->nv == 0) {
        k->held[i].f_W = pp_along(k->held[i].f_W, k->h, f);
        k->held[i].tau_W = pp_along(k->held[i].tau_W, k->h, tau);
    }
    for (int c = 0; c < body->nv; c++) {
        k->p_ext[body->at + c] += k->h * all[body->axis[c]];
    }
}

static double evaluate_expression(const pp_expr *expr, const double *variables)
{
    return expr ? pp_expr_value(expr, variables) : 0.0;
}

// A force and torque given as expressions of time, pose and velocity of the body, in W or in the body's axes, at a point
// fixed to the body.
static void expression_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *f = &k->body[force->b];
    double x[PP_SPATIAL_VARS] = {k->t,   f->p.x, f->p.y, f->p.z,   f->v.x,   f->v.y,  f->v.z,
                                 f->w.x, f->w.y, f->w.z, f->rot.x, f->rot.y, f->rot.z};
    const double planar[PP_PLANAR_VARS] = {k->t, f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
    if (!m->spatial) {
        memcpy(x, planar, sizeof planar);
    }
    perp_vec3 value = {evaluate_expression(force->f[0], x), evaluate_expression(force->f[1], x),
                       evaluate_expression(force->f[2], x)};
    perp_vec3 torque = {evaluate_expression(force->torque[0], x),
                        evaluate_expression(force->torque[1], x),
                        evaluate_expression(force->torque[2], x)};
    perp_vec3 at = pp_point(f, force->r_B);
    if (force->body_axes) {
        value = pp_rotate(f, value);
        torque = pp_rotate(f, torque);
    }
    k->work_rate += pp_dot3(value, pp_point_velocity(f, at)) + pp_dot3(torque, f->w);
    apply_force(m, k, force->b, value, at, torque);
}

// f on b = -(K (L - L0) + C dL/dt) u, u from a to b; isotropic: -K (L - L0) u - C (v_b - v_a).
static void spring_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *fa = &k->body[force->a], *fb = &k->body[force->b];
    perp_vec3 pa = pp_point(fa, force->r_A), pb = pp_point(fb, force->r_B);
    double length = pp_length(pp_sub(pb, pa));
    if (length == 0.0) {
        return;  // no direction to pull in
    }
    perp_vec3 u = pp_scale(1.0 / length, pp_sub(pb, pa));
    perp_vec3 v = pp_sub(pp_point_velocity(fb, pb), pp_point_velocity(fa, pa));
    if (!force->isotropic) {
        v = pp_scale(pp_dot3(u, v), u);
    }
    double pull = force->stiffness * (length - force->rest), C = force->damping;
    perp_vec3 f = pp_along(pp_scale(C, v), pull, u);
    k->work_rate -= C * pp_dot3(v, v);
    apply_force(m, k, force->b, pp_scale(-1.0, f), pb, NONE);
    apply_force(m, k, force->a, f, pa, NONE);
}

static void twist_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *fa = &k->body[force->a], *fb = &k->body[force->b];
    double rate = fb->w.z - fa->w.z, damper = force->damping * rate;
    double torque = force->stiffness * (fb->angle - fa->angle - force->rest) + damper;
    k->work_rate -= damper * rate;
    apply_force(m, k, force->b, NONE, fb->p, pp_vec(0.0, 0.0, -torque));
    apply_force(m, k, force->a, NONE, fa->p, pp_vec(0.0, 0.0, torque));
}

static void drag_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *f = &k->body[force->b];
    perp_vec3 value = pp_scale(-force->damping, f->v), torque = pp_scale(-force->damping_w, f->w);
    k->work_rate += pp_dot3(value, f->v) + pp_dot3(torque, f->w);
    apply_force(m, k, force->b, value, f->p, torque);
}

static void add_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    switch (force->kind) {
    case PERP_FORCE_WRENCH:
        expression_force(m, k, force);
        break;
    case PERP_FORCE_SPRING:
        spring_force(m, k, force);
        break;
    case PERP_FORCE_TORSION_SPRING:
        twist_force(m, k, force);
        break;
    case PERP_FORCE_DRAG:
        drag_force(m, k, force);
        break;
    }
}

// -m g . p of the free bodies and k x^2 / 2 of the springs [J]; the zero is at the origin of W.
double pp_potential(const perp_model *model, const pp_frame *body)
{
    double energy = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        if (model->body[i].nv > 0) {
            energy -= model->body[i].mass * pp_dot3(model->gravity, body[i].p);
        }
    }
    for (int i = 0; i < model->forces; i++) {
        const pp_force *f = &model->force[i];
        double stretch = 0.0;
        if (f->kind == PERP_FORCE_SPRING) {
            perp_vec3 pa = pp_point(&body[f->a], f->r_A), pb = pp_point(&body[f->b], f->r_B);
            stretch = pp_length(pp_sub(pb, pa)) - f->rest;
        } else if (f->kind == PERP_FORCE_TORSION_SPRING) {
            stretch = body[f->b].angle - body[f->a].angle - f->rest;
        }
        energy += 0.5 * f->stiffness * stretch * stretch;
    }
    return energy;
}

// Gravity, and what spinning bodies do to themselves.
static void own_impulses(const perp_model *m, pp_kinematics *k, perp_gyroscopic how)
{
    const double g[3] = {m->gravity.x, m->gravity.y, m->gravity.z};
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double *p = k->p_ext + body->at;
        for (int c = 0; c < body->nv; c++) {
            p[c] = body->axis[c] < 3 ? k->h * body->mass * g[body->axis[c]] : 0.0;
        }
        if (body->nv > 0 && body->kind == PERP_BODY_SPATIAL && how != PP_GYRO_NONE) {
            perp_vec3 turn = pp_gyroscopic_impulse(&body->I_B, &k->body[i], k->h, how);
            p[3] += turn.x;
            p[4] += turn.y;
            p[5] += turn.z;
        }
    }
}

// Wrenches that the caller applies for this step, in W at the centres of mass; NULL: none.
static void add_applied(const perp_model *m, pp_kinematics *k, const perp_wrench *applied)
{
    if (!applied) {
        return;
    }
    for (int i = 0; i < m->bodies; i++) {
        const perp_wrench *w = &applied[i];
        const pp_frame *f = &k->body[i];
        k->work_rate += pp_dot3(w->f_W, f->v) + pp_dot3(w->tau_W, f->w);
        apply_force(m, k, i, w->f_W, f->p, w->tau_W);
    }
}

void pp_forces_add(pp_kinematics *kin, const perp_model *model, const perp_wrench *applied)
{
    for (int i = 0; i < model->forces; i++) {
        add_force(model, kin, &model->force[i]);
    }
    add_applied(model, kin, applied);
}

// Everything about bodies that the later stages of a step read. p_ext = h (gravity + explicit forces + gyroscopic
// torque) [N s, N m s]; implicit forces become rows in constraint/ instead. A force that is not finite ends the step.
perp_status pp_kinematics_run(pp_kinematics *out, const perp_model *model, const pp_state *state,
                              double h, perp_gyroscopic gyroscopic, const perp_wrench *applied,
                              pp_arena *arena)
{
    *out = (pp_kinematics){.t = state->t, .h = h, .turn = state->turn};
    out->body = PP_ARRAY(arena, pp_frame, model->bodies);
    out->mass = PP_ARRAY(arena, pp_inertia, model->bodies);
    out->p_ext = PP_ZEROS(arena, double, model->nv);
    out->held = PP_ZEROS(arena, perp_wrench, model->bodies);
    if (!out->body || !out->mass || !out->p_ext || !out->held) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(model, state, out->body);
    pp_masses(model, out->body, out->mass);
    own_impulses(model, out, gyroscopic);
    for (int i = 0; i < model->forces; i++) {
        if (!model->force[i].implicit) {
            add_force(model, out, &model->force[i]);
        }
    }
    add_applied(model, out, applied);
    out->potential = pp_potential(model, out->body);
    return pp_all_finite((size_t)model->nv, out->p_ext) ? PERP_OK : PERP_ERR_NUMERIC;
}
