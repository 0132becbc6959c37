// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The impulse of the forces over a step, p_ext = h f(q, nu, t), and their energy.      theory (P1)
#include "kinematics/kinematics.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

// f at the world point `at`, and torque, on a body.
static void push(const perp_model *m, pp_kinematics *k, int i, pp_vec2 f, pp_vec2 at, double torque)
{
    const pp_body *body = &m->body[i];
    double *p = k->p_ext + body->at;
    if (body->nv == 0) {
        return;
    }
    p[0] += k->h * f.x;
    p[1] += k->h * f.y;
    if (body->nv == 3) {
        const pp_frame *frame = &k->body[i];
        p[2] += k->h * (torque + (at.x - frame->p.x) * f.y - (at.y - frame->p.y) * f.x);
    }
}

static double evaluate(const pp_expr *expr, const double *variables)
{
    return expr ? pp_expr_value(expr, variables) : 0.0;
}

static void expression_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *f = &k->body[force->b];
    const double variables[PP_VARS] = {k->t, f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w};
    pp_vec2 value = {evaluate(force->fx, variables), evaluate(force->fy, variables)};
    double torque = evaluate(force->torque, variables);
    pp_vec2 at = pp_point(f, force->r_B);
    if (force->body_axes) {
        value = pp_rotate(f, value);
    }
    pp_vec2 v = pp_point_velocity(f, at);
    k->work_rate += value.x * v.x + value.y * v.y + torque * f->w;
    push(m, k, force->b, value, at, torque);
}

// f on b = -(K (L - L0) + C dL/dt) u, u from a to b; isotropic: -K (L - L0) u - C (v_b - v_a).
static void spring_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *fa = &k->body[force->a], *fb = &k->body[force->b];
    pp_vec2 pa = pp_point(fa, force->r_A), pb = pp_point(fb, force->r_B);
    double dx = pb.x - pa.x, dy = pb.y - pa.y, length = hypot(dx, dy);
    if (length == 0.0) {
        return;  // no direction to pull in
    }
    pp_vec2 u = {dx / length, dy / length};
    pp_vec2 va = pp_point_velocity(fa, pa), vb = pp_point_velocity(fb, pb);
    pp_vec2 v = {vb.x - va.x, vb.y - va.y};
    if (!force->isotropic) {
        double rate = u.x * v.x + u.y * v.y;
        v = (pp_vec2){rate * u.x, rate * u.y};
    }
    double pull = force->stiffness * (length - force->rest), C = force->damping;
    pp_vec2 f = {pull * u.x + C * v.x, pull * u.y + C * v.y};
    k->work_rate -= C * (v.x * v.x + v.y * v.y);
    push(m, k, force->b, (pp_vec2){-f.x, -f.y}, pb, 0.0);
    push(m, k, force->a, f, pa, 0.0);
}

static void twist_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *fa = &k->body[force->a], *fb = &k->body[force->b];
    double rate = fb->w - fa->w, damper = force->damping * rate;
    double torque = force->stiffness * (fb->angle - fa->angle - force->rest) + damper;
    k->work_rate -= damper * rate;
    push(m, k, force->b, (pp_vec2){0.0, 0.0}, fb->p, -torque);
    push(m, k, force->a, (pp_vec2){0.0, 0.0}, fa->p, torque);
}

static void drag_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    const pp_frame *f = &k->body[force->b];
    pp_vec2 value = {-force->damping * f->v.x, -force->damping * f->v.y};
    double torque = -force->damping_w * f->w;
    k->work_rate += value.x * f->v.x + value.y * f->v.y + torque * f->w;
    push(m, k, force->b, value, f->p, torque);
}

static void add_force(const perp_model *m, pp_kinematics *k, const pp_force *force)
{
    switch (force->kind) {
    case PERP_FORCE:
        expression_force(m, k, force);
        break;
    case PERP_SPRING:
        spring_force(m, k, force);
        break;
    case PERP_TWIST_SPRING:
        twist_force(m, k, force);
        break;
    case PERP_DRAG:
        drag_force(m, k, force);
        break;
    }
}

double pp_potential(const perp_model *model, const pp_frame *body)
{
    double energy = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        if (model->body[i].nv > 0) {
            energy -= model->body[i].mass *
                      (model->gravity.x * body[i].p.x + model->gravity.y * body[i].p.y);
        }
    }
    for (int i = 0; i < model->forces; i++) {
        const pp_force *f = &model->force[i];
        double stretch = 0.0;
        if (f->kind == PERP_SPRING) {
            pp_vec2 pa = pp_point(&body[f->a], f->r_A), pb = pp_point(&body[f->b], f->r_B);
            stretch = hypot(pb.x - pa.x, pb.y - pa.y) - f->rest;
        } else if (f->kind == PERP_TWIST_SPRING) {
            stretch = body[f->b].angle - body[f->a].angle - f->rest;
        }
        energy += 0.5 * f->stiffness * stretch * stretch;
    }
    return energy;
}

static void fill_masses(const perp_model *m, pp_kinematics *k)
{
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double *M = k->M + body->at;
        if (body->nv > 0) {
            M[0] = M[1] = body->mass;
            k->p_ext[body->at] = k->h * body->mass * m->gravity.x;
            k->p_ext[body->at + 1] = k->h * body->mass * m->gravity.y;
        }
        if (body->nv == 3) {
            M[2] = body->inertia;
        }
    }
}

perp_status pp_kinematics_run(pp_kinematics *out, const perp_model *model, const pp_state *state,
                              double h, const perp_wrench *applied, pp_arena *arena)
{
    *out = (pp_kinematics){.t = state->t, .h = h};
    out->body = PP_ARRAY(arena, pp_frame, model->bodies);
    out->M = PP_ARRAY(arena, double, model->nv);
    out->p_ext = PP_ZEROS(arena, double, model->nv);
    if (!out->body || !out->M || !out->p_ext) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(model, state, out->body);
    fill_masses(model, out);
    for (int i = 0; i < model->forces; i++) {
        if (!model->force[i].implicit) {
            add_force(model, out, &model->force[i]);
        }
    }
    for (int i = 0; applied && i < model->bodies; i++) {
        const perp_wrench *w = &applied[i];
        const pp_frame *f = &out->body[i];
        out->work_rate += w->f.x * f->v.x + w->f.y * f->v.y + w->tau.z * f->w;
        push(model, out, i, (pp_vec2){w->f.x, w->f.y}, f->p, w->tau.z);
    }
    out->potential = pp_potential(model, out->body);
    return pp_all_finite((size_t)model->nv, out->p_ext) ? PERP_OK : PERP_ERR_NUMERIC;
}
