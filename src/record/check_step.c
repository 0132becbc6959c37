// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What two frames one step apart show: the position update, the balance of momentum, and the energy that
// contacts and joints made.
//
//   M (nu - nu^l) = p_ext + springs + sum of the impulses of contacts and joints, body by body
//   energy made   = sum over bodies of impulse . (mean of the velocities without and with it)
//                   + what belts add, - what pushing overlaps apart and closing joints may put in
//
// Impulses are added up as wrenches on bodies: no row, no matrix and no multiplier of the step is used.
#include "record/check.h"

#include <math.h>
#include <string.h>

// ── Positions ────────────────────────────────────────────────────────────────────────────────────

void pp_check_turn_back(pp_recheck *c)
{
    bool turned = c->info->stepper == PERP_MOREAU_JEAN && c->info->theta != 1.0;
    memcpy(c->nu, c->now->nu, (size_t)c->info->nv * sizeof *c->nu);
    for (int b = 0; b < c->info->bodies && turned; b++) {
        const perp_recorded_body *body = &c->recording->body[b].about;
        if (body->at < 0 || body->kind != PERP_SPATIAL_BODY) {
            continue;
        }
        const double *q0 = c->q0 + body->at_q + 3, *q = c->now->q + body->at_q + 3;
        double *w = c->nu + body->at + 3;
        perp_quat from = {q0[0], q0[1], q0[2], q0[3]}, to = {q[0], q[1], q[2], q[3]};
        pp_mat3 R = pp_quat_matrix(pp_quat_mul(to, pp_quat_conjugate(from)));
        perp_vec3 back = pp_mul_t(&R, pp_vec(w[0], w[1], w[2]));
        w[0] = back.x;
        w[1] = back.y;
        w[2] = back.z;
    }
}

// |q - q^l turned by h omega|, as an angle.
static double turn_error(const pp_recheck *c, const perp_recorded_body *body, double theta)
{
    const double *q0 = c->q0 + body->at_q + 3, *q = c->now->q + body->at_q + 3;
    const double *w0 = c->nu0 + body->at + 3, *w1 = c->nu + body->at + 3;
    double w[3], to[4];
    for (int k = 0; k < 3; k++) {
        w[k] = c->h * ((1.0 - theta) * w0[k] + theta * w1[k]);
    }
    double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    bool linear = c->info->rotation == PERP_ROTATION_LINEAR;
    double s = linear || angle == 0.0 ? 0.5 : sin(0.5 * angle) / angle;
    double e0 = linear ? 1.0 : cos(0.5 * angle), e1 = s * w[0], e2 = s * w[1], e3 = s * w[2];
    to[0] = e0 * q0[0] - e1 * q0[1] - e2 * q0[2] - e3 * q0[3];
    to[1] = e0 * q0[1] + e1 * q0[0] + e2 * q0[3] - e3 * q0[2];
    to[2] = e0 * q0[2] - e1 * q0[3] + e2 * q0[0] + e3 * q0[1];
    to[3] = e0 * q0[3] + e1 * q0[2] - e2 * q0[1] + e3 * q0[0];
    double norm = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
    double square = 0.0;
    for (int k = 0; k < 4; k++) {
        double d = q[k] - to[k] / norm;
        square += d * d;
    }
    return 2.0 * sqrt(square);
}

// What carries a tree and is driven goes where it is told, not along the velocity that the step has of it.
static double told(const pp_recheck *c, double span)
{
    double most = 0.0;
    for (int b = 1; c->model && b < c->model->bodies; b++) {
        const pp_body *body = &c->model->body[b];
        if (body->nv > 0) {
            continue;
        }
        pp_frame from = pp_driven_frame(body, c->t0), to = pp_driven_frame(body, c->now->t);
        perp_vec3 way = pp_sub(to.p, from.p);
        double shift =
            fmax(pp_length(pp_along(way, -c->h, from.v)), pp_length(pp_along(way, -c->h, to.v)));
        double arc = c->h * fmax(pp_length(from.w), pp_length(to.w));
        most += shift + span * (c->h * pp_length(pp_sub(to.w, from.w)) + arc * arc);
    }
    return most;
}

// In joint coordinates bodies move along arcs: by how much these may leave the tangent in a step. A body that
// slides on one that turns at a distance r has h^2 (omega^2 r / 2 + omega v) with a v of at most twice the
// fastest body's and omega r; nothing is farther than all bodies from each other, and an arm of 1 m.
static double bend(const pp_recheck *c)
{
    double turn = 0.0, way = 0.0, low[3] = {PP_INF, PP_INF, PP_INF},
           high[3] = {-PP_INF, -PP_INF, -PP_INF};
    if (c->info->coordinates != PERP_COORDINATES_JOINT) {
        return 0.0;
    }
    for (int b = 0; b < c->info->bodies; b++) {
        const perp_recorded_body *body = &c->recording->body[b].about;
        const double *nu = c->now->nu + body->at;
        bool spatial = body->kind == PERP_SPATIAL_BODY || body->kind == PERP_SPATIAL_PARTICLE;
        for (int k = 0; k < (spatial ? 3 : 2) && body->at >= 0; k++) {
            low[k] = fmin(low[k], c->now->q[body->at_q + k]);
            high[k] = fmax(high[k], c->now->q[body->at_q + k]);
        }
        if (body->at >= 0) {
            way = fmax(way, hypot(hypot(nu[0], nu[1]), spatial ? nu[2] : 0.0));
        }
        if (body->at >= 0 && body->kind == PERP_PLANAR_BODY) {
            turn = fmax(turn, fabs(nu[2]));
        } else if (body->at >= 0 && body->kind == PERP_SPATIAL_BODY) {
            turn = fmax(turn, hypot(hypot(nu[3], nu[4]), nu[5]));
        }
    }
    double span = 1.0;
    for (int k = 0; k < 3; k++) {
        span += fmax(0.0, high[k] - low[k]);
    }
    return c->h * c->h * turn * (2.0 * way + 1.5 * turn * span) + told(c, span);
}

void pp_check_motion(pp_recheck *c)
{
    static const int moved[] = {[PERP_PLANAR_BODY] = 3,
                                [PERP_PLANAR_PARTICLE] = 2,
                                [PERP_SPATIAL_BODY] = 3,
                                [PERP_SPATIAL_PARTICLE] = 3};
    double theta = c->info->stepper == PERP_MOREAU_JEAN ? c->info->theta : 1.0, free = bend(c);
    for (int b = 0; b < c->info->bodies; b++) {
        const perp_recorded_body *body = &c->recording->body[b].about;
        for (int k = 0; k < moved[body->kind] && body->at >= 0; k++) {
            double q0 = c->q0[body->at_q + k], q = c->now->q[body->at_q + k];
            double mean = (1.0 - theta) * c->nu0[body->at + k] + theta * c->now->nu[body->at + k];
            double error = fmax(0.0, fabs(q - q0 - c->h * mean) - free);
            pp_check_see(c, PERP_CHECK_MOTION, error / fmax(1.0, fabs(q0)), body->name, "");
        }
        if (body->at >= 0 && body->kind == PERP_SPATIAL_BODY) {
            pp_check_see(c, PERP_CHECK_MOTION, fmax(0.0, turn_error(c, body, theta) - free),
                         body->name, "");
        }
    }
}

// ── Impulses as wrenches on bodies ───────────────────────────────────────────────────────────────

void pp_check_add_at(perp_wrench *w, const pp_frame *body, double sign, perp_vec3 p, perp_vec3 at)
{
    w->f = pp_along(w->f, sign, p);
    w->tau = pp_along(w->tau, sign, pp_cross(pp_sub(at, body->p), p));
}

double pp_check_power(const perp_wrench *w, const perp_twist *v)
{
    return pp_dot3(w->f, v->v) + pp_dot3(w->tau, v->w);
}

// The velocities of a free body into the places they have in a twist.
static perp_twist spread(const pp_body *body, const double *nu)
{
    double all[PP_BODY_NV] = {0.0};
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = nu[k];
    }
    return (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

perp_twist pp_check_velocity(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    const pp_frame *f = &c->before[body];
    return of->nv == 0 ? (perp_twist){f->v, f->w} : spread(of, c->nu + of->at);
}

perp_twist pp_check_start(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    return of->nv == 0 ? pp_check_velocity(c, body) : spread(of, c->start + of->at);
}

perp_twist pp_check_mean(const pp_recheck *c, int body)
{
    perp_twist a = pp_check_start(c, body), b = pp_check_velocity(c, body);
    return (perp_twist){pp_scale(0.5, pp_add(a.v, b.v)), pp_scale(0.5, pp_add(a.w, b.w))};
}

perp_twist pp_check_middle(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    double v[PP_BODY_NV];
    if (of->nv == 0) {
        return pp_check_velocity(c, body);
    }
    pp_body_solve(of, &c->kin.mass[body], c->kin.p_ext + of->at, v);
    for (int k = 0; k < of->nv; k++) {
        v[k] = 0.5 * (c->start[of->at + k] + v[k] + c->nu[of->at + k]);
    }
    return spread(of, v);
}

static double value_at(const pp_expr *expr, double t)
{
    return expr ? pp_expr_value(expr, &t) : 0.0;
}

static perp_vec3 surface_of(const pp_recheck *c, int index, perp_vec3 point, perp_vec3 along)
{
    const pp_shape *s = &c->model->shape[index];
    const pp_frame *f = &c->before[s->body];
    if (!c->model->spatial) {
        return pp_scale(value_at(s->surface_speed, c->t0), along);
    }
    perp_vec3 v = {value_at(s->surface[0], c->t0), value_at(s->surface[1], c->t0),
                   value_at(s->surface[2], c->t0)};
    perp_vec3 arm = pp_mul_t(&s->X_BS.R, pp_sub(pp_mul_t(&f->R, pp_sub(point, f->p)), s->X_BS.p));
    double spin = value_at(s->surface[3], c->t0);
    v = pp_add(v, pp_vec(-spin * arm.y, spin * arm.x, 0.0));
    return pp_rotate(f, pp_mul(&s->X_BS.R, v));
}

// In the plane a surface moves along its outward normal turned by -90 degrees.
perp_vec3 pp_check_surface(const pp_recheck *c, const perp_contact *contact)
{
    perp_vec3 n = contact->normal_W, t = {n.y, -n.x, 0.0};
    return pp_sub(surface_of(c, contact->b.i, contact->point_W, pp_scale(-1.0, t)),
                  surface_of(c, contact->a.i, contact->point_W, t));
}

// Returns the energy that the contact's belt gave, less what undoing an overlap may.
static double add_contact(pp_recheck *c, const perp_contact *contact)
{
    const perp_model *m = c->model;
    int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
    perp_vec3 at = contact->point_W;
    perp_vec3 p = pp_along(contact->pf_W, contact->pn, contact->normal_W);
    pp_check_add_at(&c->impulse[b], &c->before[b], 1.0, p, at);
    pp_check_add_at(&c->impulse[a], &c->before[a], -1.0, p, at);
    c->impulse[b].tau = pp_along(c->impulse[b].tau, 1.0, contact->moment_W);
    c->impulse[a].tau = pp_along(c->impulse[a].tau, -1.0, contact->moment_W);
    return pp_dot3(contact->pf_W, pp_check_surface(c, contact)) +
           contact->pn * fmin(0.0, contact->gap) / c->h;
}

// What springs evaluated at the end of the step did, from the state there.
static perp_status add_springs(pp_recheck *c, double *left)
{
    pp_rows rows = {0};
    pp_gaps none = {0};
    pp_scheme scheme = {c->info->stepper, c->info->friction, c->info->impact, 8, c->info->theta};
    perp_status status = pp_rows_run(&rows, c->model, &c->kin, &c->kin, &none, scheme, c->arena);
    for (int i = 0; i < rows.nb && status >= 0; i++) {
        const pp_row *row = &rows.b[i];
        double p =
            row->gamma > 0.0 ? -(pp_row_rate(c->model, row, c->nu) + row->bias) / row->gamma : 0.0;
        if (row->force >= 0) {
            pp_row_add(c->model, row, -p, NULL, left);
        } else if (row->spring && row->joint >= 0) {
            c->spring[row->joint] += p;  // in the joint's impulse
        }
    }
    return status;
}

// ── Balances ─────────────────────────────────────────────────────────────────────────────────────

static void see_momentum(pp_recheck *c, const double *left)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        perp_vec3 f = c->impulse[i].f, tau = c->impulse[i].tau;
        const double w[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
        for (int k = 0; k < body->nv; k++) {
            pp_check_see(c, PERP_CHECK_MOMENTUM, fabs(left[body->at + k] - w[body->axis[k]]),
                         body->name, "");
        }
    }
}

// Work of all impulses along some velocities.
static double work_along(const pp_recheck *c, pp_check_velocities *velocity)
{
    double made = 0.0;
    for (int i = 0; i < c->model->bodies; i++) {
        perp_twist v = velocity(c, i);
        made += pp_check_power(&c->impulse[i], &v);
    }
    for (int i = 0; i < c->model->joints; i++) {
        made -= pp_check_drive_work(c, i, velocity);
    }
    return made;
}

// What the forces did within the step is counted along the velocities they alone would give, or along the
// motion as it was: energy is made where both ways show it.
static void see_energy(pp_recheck *c, double given)
{
    double made = given + work_along(c, pp_check_middle);
    if (made > 0.0) {
        made = fmin(made, given + work_along(c, pp_check_mean));
    }
    pp_check_see(c, PERP_CHECK_ENERGY, isnan(made) ? made : fmax(0.0, made), "", "");
}

// Without inertia a billionth of it is left, so that what nothing holds has a velocity; a body that flies
// off is held by nothing, and not in balance.
static double no_inertia(double change)
{
    return 1e-9 * fmax(-100.0, fmin(100.0, change));
}

perp_status pp_check_balance(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_state state = {.t = c->t0,
                      .q = (double *)(uintptr_t)c->q0,  // read only
                      .nu = (double *)(uintptr_t)c->nu0,
                      .turn = (double *)(uintptr_t)c->turn0};
    perp_status status =
        pp_kinematics_run(&c->kin, m, &state, c->h, c->info->gyroscopic, NULL, c->arena);
    double *left = PP_ARRAY(c->arena, double, m->nv);
    double *none = PP_ZEROS(c->arena, double, m->nv);
    c->impulse = PP_ZEROS(c->arena, perp_wrench, m->bodies);
    c->spring = PP_ZEROS(c->arena, double, m->joints);
    if (status < 0 || !left || !none || !c->impulse || !c->spring) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    bool inertia = c->info->stepper != PERP_QUASISTATIC;
    double given = 0.0;
    c->start = inertia ? c->nu0 : none;
    for (int i = 0; i < m->nv; i++) {
        double change = c->nu[i] - c->start[i];
        left[i] = inertia ? change : no_inertia(change);
    }
    pp_masses_mul(m, c->kin.mass, left, left);
    pp_axpy(m->nv, -1.0, c->kin.p_ext, left);
    status = add_springs(c, left);
    for (int i = 0; i < c->now->contacts; i++) {
        given += add_contact(c, &c->now->contact[i]);
    }
    for (int i = 0; i < m->joints; i++) {
        given += pp_check_add_joint(c, i);
    }
    if (status >= 0) {
        pp_check_joints(c);
        see_momentum(c, left);
        see_energy(c, given);
    }
    return status;
}
