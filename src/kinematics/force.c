// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The impulse of the forces over a step, p_ext = h f(q, nu, t), and their energy.      theory (P1)
//
// Forces are taken where the step starts and act as constant over it: explicit Euler, first order. What is too stiff for
// that is marked implicit and becomes a row of constraint/. On bodies that are not free forces change no velocity; their
// impulses are kept in `held`, since what moves such a body has to supply them.
#include "kinematics/gyroscopic.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

static const perp_vec3 NONE = {0.0, 0.0, 0.0};

// Where forces are taken, and where their impulses over h go.
typedef struct force_sum {
    const perp_model *model;
    const pp_poses *at;
    double h;  // [s]
    pp_loads *out;
} force_sum;

// f [N] at the world point `at`, and torque [N m], on a body: the moment about its centre of mass is torque + r x f.
static void apply_force(const force_sum *s, int i, perp_vec3 f, perp_vec3 at, perp_vec3 torque)
{
    const pp_body *body = &s->model->body[i];
    perp_vec3 tau = pp_add(torque, pp_cross(pp_sub(at, s->at->body[i].p), f));
    const double all[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
    if (body->nv == 0) {
        perp_wrench *held = &s->out->held[i];
        held->f_W = pp_along(held->f_W, s->h, f);
        held->tau_W = pp_along(held->tau_W, s->h, tau);
    }
    for (int c = 0; c < body->nv; c++) {
        s->out->p_ext[body->at + c] += s->h * all[body->axis[c]];
    }
}

// An expression that is not given is 0.
static double evaluate_expression(const pp_poses *at, const pp_expr *expr, const double *variables)
{
    const double *input = at->drive ? at->drive->input : NULL;
    return expr ? pp_expr_value_in(expr, variables, input) : 0.0;
}

// A force and torque given as expressions of time, pose and velocity of the body, in W or in the body's axes.
static void evaluate_force(const perp_model *model, const pp_poses *at, const pp_force *force,
                           perp_vec3 *value, perp_vec3 *torque)
{
    const pp_frame *f = &at->body[force->b];
    double x[PP_SPATIAL_VARS] = {at->t,  f->p.x, f->p.y, f->p.z,   f->v.x,   f->v.y,  f->v.z,
                                 f->w.x, f->w.y, f->w.z, f->rot.x, f->rot.y, f->rot.z};
    const double planar[PP_PLANAR_VARS] = {at->t, f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
    if (!model->spatial) {
        memcpy(x, planar, sizeof planar);
    }
    *value = (perp_vec3){evaluate_expression(at, force->f[0], x),
                         evaluate_expression(at, force->f[1], x),
                         evaluate_expression(at, force->f[2], x)};
    *torque = (perp_vec3){evaluate_expression(at, force->torque[0], x),
                          evaluate_expression(at, force->torque[1], x),
                          evaluate_expression(at, force->torque[2], x)};
}

bool pp_force_is_finite(const perp_model *model, const pp_poses *at, int force)
{
    perp_vec3 value, torque;
    if (model->force[force].kind != PERP_FORCE_WRENCH) {
        return true;
    }
    evaluate_force(model, at, &model->force[force], &value, &torque);
    return pp_finite3(value) && pp_finite3(torque);
}

// It acts at a point fixed to the body.
static void expression_force(const force_sum *s, const pp_force *force)
{
    const pp_frame *f = &s->at->body[force->b];
    perp_vec3 value, torque;
    evaluate_force(s->model, s->at, force, &value, &torque);
    perp_vec3 at = pp_point(f, force->r_B);
    if (force->body_axes) {
        value = pp_rotate(f, value);
        torque = pp_rotate(f, torque);
    }
    s->out->work_rate += pp_dot3(value, pp_point_velocity(f, at)) + pp_dot3(torque, f->w);
    apply_force(s, force->b, value, at, torque);
}

// f on b = -(K (L - L0) + C dL/dt) u, u from a to b; isotropic: -K (L - L0) u - C (v_b - v_a).
static void spring_force(const force_sum *s, const pp_force *force)
{
    const pp_frame *fa = &s->at->body[force->a], *fb = &s->at->body[force->b];
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
    s->out->work_rate -= C * pp_dot3(v, v);
    apply_force(s, force->b, pp_scale(-1.0, f), pb, NONE);
    apply_force(s, force->a, f, pa, NONE);
}

// Between two planar bodies: -(K (angle - rest) + C rate) on b, the opposite on a.
static void twist_force(const force_sum *s, const pp_force *force)
{
    const pp_frame *fa = &s->at->body[force->a], *fb = &s->at->body[force->b];
    double rate = fb->w.z - fa->w.z, damper = force->damping * rate;
    double torque = force->stiffness * (fb->angle - fa->angle - force->rest) + damper;
    s->out->work_rate -= damper * rate;
    apply_force(s, force->b, NONE, fb->p, pp_vec(0.0, 0.0, -torque));
    apply_force(s, force->a, NONE, fa->p, pp_vec(0.0, 0.0, torque));
}

// -C v at the centre of mass and -C_w omega, which between two bodies is their relative one.
static void drag_force(const force_sum *s, const pp_force *force)
{
    const pp_frame *f = &s->at->body[force->b], *a = &s->at->body[force->a];
    perp_vec3 w = force->a > 0 ? pp_sub(f->w, a->w) : f->w;
    perp_vec3 value = pp_scale(-force->damping, f->v), torque = pp_scale(-force->damping_w, w);
    s->out->work_rate += pp_dot3(value, f->v) + pp_dot3(torque, w);
    apply_force(s, force->b, value, f->p, torque);
    if (force->a > 0) {
        apply_force(s, force->a, NONE, a->p, pp_scale(-1.0, torque));
    }
}

static void add_force(const force_sum *s, const pp_force *force)
{
    switch (force->kind) {
    case PERP_FORCE_WRENCH:
        expression_force(s, force);
        break;
    case PERP_FORCE_SPRING:
        spring_force(s, force);
        break;
    case PERP_FORCE_TORSION_SPRING:
        twist_force(s, force);
        break;
    case PERP_FORCE_DRAG:
        drag_force(s, force);
        break;
    }
}

// -m g . p of the free bodies and k x^2 / 2 of the springs [J]; the zero is at the origin of W.
double pp_potential(const perp_model *model, const pp_frame *body)
{
    double energy = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        if (model->body[i].nv > 0) {
            const pp_body *b = &model->body[i];
            energy -= b->mass * pp_dot3(pp_body_gravity(model, b), body[i].p);
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
static void own_impulses(const force_sum *s, perp_gyroscopic how)
{
    const perp_model *m = s->model;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        perp_vec3 pull = pp_body_gravity(m, body);
        const double g[3] = {pull.x, pull.y, pull.z};
        double *p = s->out->p_ext + body->at;
        for (int c = 0; c < body->nv; c++) {
            p[c] = body->axis[c] < 3 ? s->h * body->mass * g[body->axis[c]] : 0.0;
        }
        bool spins = body->nv > 0 && body->kind == PERP_BODY_SPATIAL && !body->massless;
        if (spins && how != PP_GYRO_NONE) {
            perp_vec3 turn = pp_gyroscopic_impulse(&body->I_B, &s->at->body[i], s->h, how);
            p[3] += turn.x;
            p[4] += turn.y;
            p[5] += turn.z;
        }
    }
}

// Wrenches that the caller applies for this step, in W at the centres of mass; NULL: none.
static void add_applied(const force_sum *s, const perp_wrench *applied)
{
    if (!applied) {
        return;
    }
    for (int i = 0; i < s->model->bodies; i++) {
        const perp_wrench *w = &applied[i];
        const pp_frame *f = &s->at->body[i];
        s->out->work_rate += pp_dot3(w->f_W, f->v) + pp_dot3(w->tau_W, f->w);
        apply_force(s, i, w->f_W, f->p, w->tau_W);
    }
}

void pp_forces_add(pp_loads *out, const perp_model *model, const pp_poses *at, double h,
                   const perp_wrench *applied)
{
    const force_sum sum = {model, at, h, out};
    for (int i = 0; i < model->forces; i++) {
        add_force(&sum, &model->force[i]);
    }
    add_applied(&sum, applied);
}

// Everything about bodies that the later stages of a step read. p_ext = h (gravity + explicit forces + gyroscopic
// torque) [N s, N m s]; implicit forces become rows in constraint/ instead. A force that is not finite ends the step.
perp_status pp_kinematics_run(pp_kinematics *out, const perp_model *model, const pp_state *state,
                              double h, perp_gyroscopic gyroscopic, const perp_wrench *applied,
                              pp_arena *arena)
{
    pp_frame *body = PP_ARRAY(arena, pp_frame, model->bodies);
    *out = (pp_kinematics){
        .poses = {.t = state->t, .body = body, .turn = state->turn, .drive = state->drive}, .h = h};
    out->mass = PP_ARRAY(arena, pp_inertia, model->bodies);
    out->loads.p_ext = PP_ZEROS(arena, double, model->nv);
    out->loads.held = PP_ZEROS(arena, perp_wrench, model->bodies);
    if (!body || !out->mass || !out->loads.p_ext || !out->loads.held) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(model, state, body);
    pp_masses(model, body, out->mass);
    const force_sum sum = {model, &out->poses, h, &out->loads};
    own_impulses(&sum, gyroscopic);
    for (int i = 0; i < model->forces; i++) {
        if (!model->force[i].implicit) {
            add_force(&sum, &model->force[i]);
        }
    }
    add_applied(&sum, applied);
    out->loads.potential = pp_potential(model, body);
    return pp_all_finite((size_t)model->nv, out->loads.p_ext) ? PERP_OK : PERP_ERR_NUMERIC;
}
