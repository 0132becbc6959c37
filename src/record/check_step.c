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

// ── Positions ────────────────────────────────────────────────────────────────────────────────────

void pp_check_motion(pp_recheck *c)
{
    double theta = c->info->stepper == PERP_MOREAU_JEAN ? c->info->theta : 1.0;
    for (int b = 0; b < c->info->bodies; b++) {
        const perp_recorded_body *body = &c->recording->body[b].about;
        int nv = body->at < 0 ? 0 : body->kind == PERP_PLANAR_PARTICLE ? 2 : 3;
        for (int k = body->at; k < body->at + nv; k++) {
            double mean = (1.0 - theta) * c->nu0[k] + theta * c->now->nu[k];
            double error = fabs(c->now->q[k] - c->q0[k] - c->h * mean);
            pp_check_see(c, PERP_CHECK_MOTION, error / fmax(1.0, fabs(c->q0[k])), body->name, "");
        }
    }
}

// ── Impulses as wrenches on bodies ───────────────────────────────────────────────────────────────

void pp_check_add_at(pp_wrench2 *w, const pp_frame *body, double sign, pp_vec2 p, pp_vec2 at)
{
    w->x += sign * p.x;
    w->y += sign * p.y;
    w->turn += sign * ((at.x - body->p.x) * p.y - (at.y - body->p.y) * p.x);
}

pp_wrench2 pp_check_velocity(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    const pp_frame *f = &c->before[body];
    const double *nu = c->now->nu + of->at;
    if (of->nv == 0) {
        return (pp_wrench2){f->v.x, f->v.y, f->w.z};
    }
    return (pp_wrench2){nu[0], nu[1], of->nv == 3 ? nu[2] : 0.0};
}

// Returns the energy that the contact's belt gave, less what undoing an overlap may.
static double add_contact(pp_recheck *c, const perp_contact *contact)
{
    const perp_model *m = c->model;
    int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
    pp_vec2 n = {contact->normal_W.x, contact->normal_W.y}, t = {n.y, -n.x};
    pp_vec2 at = {contact->point_W.x, contact->point_W.y};
    pp_vec2 p = {contact->pn * n.x + contact->pf_W.x, contact->pn * n.y + contact->pf_W.y};
    pp_check_add_at(&c->impulse[b], &c->before[b], 1.0, p, at);
    pp_check_add_at(&c->impulse[a], &c->before[a], -1.0, p, at);
    double pt = contact->pf_W.x * t.x + contact->pf_W.y * t.y;
    double surface_a = m->shape[contact->a.i].surface_speed
                           ? pp_expr_value(m->shape[contact->a.i].surface_speed, &c->t0)
                           : 0.0;
    double surface_b = m->shape[contact->b.i].surface_speed
                           ? pp_expr_value(m->shape[contact->b.i].surface_speed, &c->t0)
                           : 0.0;
    return -pt * (surface_a + surface_b) + contact->pn * fmin(0.0, contact->gap) / c->h;
}

// What springs evaluated at the end of the step did, from the state there.
static perp_status add_springs(pp_recheck *c, double *left)
{
    pp_rows rows = {0};
    pp_gaps none = {0};
    pp_scheme scheme = {c->info->stepper, c->info->friction, c->info->impact, 8};
    perp_status status = pp_rows_run(&rows, c->model, &c->kin, &none, scheme, c->arena);
    for (int i = 0; i < rows.nb && status >= 0; i++) {
        const pp_row *row = &rows.b[i];
        if (row->force >= 0) {
            double p = -(pp_row_rate(c->model, row, c->now->nu) + row->bias) / row->gamma;
            pp_row_add(c->model, row, -p, NULL, left);
        }
    }
    return status;
}

// ── Balances ─────────────────────────────────────────────────────────────────────────────────────

static void see_momentum(pp_recheck *c, const double *left)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        const double w[3] = {c->impulse[i].x, c->impulse[i].y, c->impulse[i].turn};
        for (int k = 0; k < body->nv; k++) {
            pp_check_see(c, PERP_CHECK_MOMENTUM, fabs(left[body->at + k] - w[k]), body->name, "");
        }
    }
}

static void see_energy(pp_recheck *c, double given)
{
    double made = given;
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        const pp_frame *f = &c->kin.body[i];
        double v[3] = {f->v.x, f->v.y, f->w.z}, free[PP_BODY_NV];
        pp_body_solve(body, &c->kin.mass[i], c->kin.p_ext + body->at, free);  // of what is driven
        for (int k = 0; k < body->nv; k++) {
            int at = body->at + k;
            v[k] = 0.5 * (c->start[at] + free[k] + c->now->nu[at]);
        }
        made += c->impulse[i].x * v[0] + c->impulse[i].y * v[1] + c->impulse[i].turn * v[2];
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
                      .nu = (double *)(uintptr_t)c->nu0};
    perp_status status =
        pp_kinematics_run(&c->kin, m, &state, c->h, PERP_GYRO_IMPLICIT, NULL, c->arena);
    double *left = PP_ARRAY(c->arena, double, m->nv);
    double *none = PP_ZEROS(c->arena, double, m->nv);
    c->impulse = PP_ZEROS(c->arena, pp_wrench2, m->bodies);
    if (status < 0 || !left || !none || !c->impulse) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    bool inertia = c->info->stepper != PERP_QUASISTATIC;
    double given = 0.0;
    c->start = inertia ? c->nu0 : none;
    for (int i = 0; i < m->nv; i++) {
        double change = c->now->nu[i] - c->start[i];
        left[i] = inertia ? change : no_inertia(change);
    }
    pp_masses_mul(m, c->kin.mass, left, left);
    pp_axpy(m->nv, -1.0, c->kin.p_ext, left);
    for (int i = 0; i < c->now->contacts; i++) {
        given += add_contact(c, &c->now->contact[i]);
    }
    for (int i = 0; i < m->joints; i++) {
        given += pp_check_add_joint(c, i);
    }
    status = add_springs(c, left);
    if (status >= 0) {
        see_momentum(c, left);
        see_energy(c, given);
    }
    return status;
}
