// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the stepper event shows: smooth motion up to an impact or the end of a step, and impacts,
// each recorded with all that it exchanged.
//
//   smooth:  m (v - v^l) = m g h + sum p              E - E^l <= work
//   impact:  M (nu - nu^l) = sum of the wrenches      0 <= p_n _|_ u_n + e min(0, u_n^l) >= 0,  |p_t| <= mu p_n against u_t
//
// In smooth motion arms turn and forces act that are not recorded: moments, and bodies that force
// elements or gears act on, are left out there. In an impact nothing moves, and all of it is
// judged.
#include "record/check/check.h"

#include <math.h>

// Bodies that force elements act on.
static void touch_forces(const perp_model *m, bool *pushed)
{
    for (int i = 0; i < m->forces; i++) {
        pushed[m->force[i].a] = pushed[m->force[i].b] = true;
    }
}

// Gears act through the bodies of the joints they couple.
static void touch_gears(const perp_model *m, bool *pushed)
{
    for (int i = 0; i < m->joints; i++) {
        for (int k = 0; k < m->joint[i].terms; k++) {
            const pp_joint *of = &m->joint[m->joint[i].term[k]];
            pushed[of->a] = pushed[of->b] = true;
        }
        if (m->joint[i].kind == PERP_JOINT_GEAR) {
            const pp_joint *a = &m->joint[m->joint[i].joint_a], *b = &m->joint[m->joint[i].joint_b];
            pushed[a->a] = pushed[a->b] = pushed[b->a] = pushed[b->b] = true;
        }
    }
}

// What the tolerance of the integration leaves of a passage, and rounding.
static const double INTEGRATED = 1e-8, ROUNDED = 1e-9;

// left: change of momentum that nothing recorded explains; load: sum of the sizes of impulses
// [N s].
static void judge_momentum(pp_recheck *c, const bool *pushed, perp_vec3 *left, double *load)
{
    const perp_model *m = c->model;
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
        perp_vec3 p = pp_along(contact->pf_W, contact->pn, contact->normal_W);
        left[a] = pp_add(left[a], p);
        left[b] = pp_sub(left[b], p);
        load[a] += pp_length(p);
        load[b] += pp_length(p);
    }
    for (int i = 0; i < m->joints; i++) {
        perp_vec3 p = c->now->joint[i].impulse_b.f_W;
        if (m->joint[i].site > 0) {  // pushes against nothing
            left[m->joint[i].b] = pp_sub(left[m->joint[i].b], p);
            load[m->joint[i].b] += pp_length(p);
            continue;
        }
        left[m->joint[i].a] = pp_add(left[m->joint[i].a], p);
        left[m->joint[i].b] = pp_sub(left[m->joint[i].b], p);
        load[m->joint[i].a] += pp_length(p);
        load[m->joint[i].b] += pp_length(p);
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (body->nv == 0 || pushed[i]) {
            continue;
        }
        perp_vec3 dv = pp_sub(c->after[i].v, c->before[i].v);
        perp_vec3 g = pp_body_gravity(m, body);
        dv = pp_along(dv, -c->h, g);
        perp_vec3 pushed_by = pp_scale(c->h, c->applied[i].f_W);  // the caller
        double off = pp_length(pp_sub(pp_along(left[i], body->mass, dv), pushed_by));
        double size = body->mass * (pp_length(c->after[i].v) + pp_length(c->before[i].v) +
                                    c->h * pp_length(g)) +
                      load[i];
        double own = ROUNDED * body->divisor_mass * pp_scale_speed(&c->scales, c->scales.island[i]);
        pp_check_record_worst(c, PERP_CHECK_MOMENTUM, off, INTEGRATED * size + own, body->name, "");
    }
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Velocity of b relative to a at the contact point, with the bodies as given.
static perp_vec3 rate_at(const pp_recheck *c, const pp_frame *body, const perp_contact *contact)
{
    const perp_model *m = c->model;
    const pp_frame *a = &body[m->shape[contact->a.i].body], *b = &body[m->shape[contact->b.i].body];
    perp_vec3 at = contact->point_W;
    return pp_sub(pp_point_velocity(b, at), pp_point_velocity(a, at));
}

// Newton's law with the restitution that acted, which is at most that of the scene. By Poisson's
// law, and where one law took the place of the other, contacts may part as they like: energy and
// cones are what binds them.
static void judge_impact(pp_recheck *c, const perp_contact *recorded)
{
    const perp_model *m = c->model;
    perp_contact contact = *recorded;
    const char *a = m->shape[contact.a.i].name, *b = m->shape[contact.b.i].name;
    bool listed, newton = c->info->impact == PERP_IMPACT_NEWTON && c->now->part == PERP_PART_IMPACT;
    pp_pair_rule law = pp_check_law(m, contact.a.i, contact.b.i, &listed);
    perp_vec3 n = contact.normal_W, v = rate_at(c, c->after, &contact);
    double before = pp_dot3(rate_at(c, c->before, &contact), n), after = pp_dot3(v, n);
    double impulse = fabs(contact.pn) + pp_length(contact.pf_W);
    pp_check_scale s = pp_check_scale_of(c, m->shape[contact.a.i].body, m->shape[contact.b.i].body,
                                         isfinite(impulse) ? impulse : 0.0);
    // rho = u_n + e min(0, u_n^l) complements p_n.                                      theory (H9)
    double e = newton ? contact.restitution : 0.0, rho = after + e * fmin(0.0, before);
    bool known = e >= 0.0 && e <= law.restitution + ROUNDED;
    pp_check_record_worst(c, PERP_CHECK_CLOSE, isnan(rho) ? rho : fmax(0.0, -rho), s.rate, a, b);
    if (newton) {
        pp_check_record_worst(c, PERP_CHECK_PUSH, known ? fabs(contact.pn * rho) : PP_INF, s.energy,
                              a, b);
    }
    double beyond = 0.0, short_of = 0.0;
    // The recorded slip is that at the end of the step: here the slip after the impact counts.
    contact.slip_W = pp_add(pp_along(v, -after, n), pp_check_surface(c, &contact));
    contact.slip = pp_dot3(contact.slip_W, pp_vec(n.y, -n.x, 0.0));
    pp_check_friction(c, &contact, s.rate, &beyond, &short_of);
    if (newton) {
        short_of = isnan(short_of) ? short_of : fmax(0.0, short_of);
        pp_check_record_worst(c, PERP_CHECK_SLIP, short_of, s.energy, a, b);
    }
}

// ── Places ───────────────────────────────────────────────────────────────────────────────────────

// In an impact nothing moves. A body with nothing but gravity on it moves by h times the mean of
// its velocities; how others got to where they are two states do not show.
static void judge_motion(pp_recheck *c, bool impact, const bool *held)
{
    const perp_model *m = c->model;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        bool turns = body->kind == PERP_BODY_SPATIAL;  // by a quaternion
        int flying = turns ? 3 : body->nq, judged = impact ? body->nq : flying;
        judged = held[i] && !impact ? 0 : judged;
        judged = body->nv > 0 ? judged : 0;
        double length = body->reach > 0.0 ? body->reach : m->length_scale;  // a point has none
        for (int k = 0; k < judged; k++) {
            int at = body->at_q + k;
            double mean = impact ? 0.0 : 0.5 * (c->nu0[body->at + k] + c->nu[body->at + k]);
            double size = fabs(c->q0[at]) + fabs(c->now->q[at]) + c->h * fabs(mean) + length;
            double off = fabs(c->now->q[at] - c->q0[at] - c->h * mean);
            double part = impact ? ROUNDED : INTEGRATED;
            pp_check_record_worst(c, PERP_CHECK_RECORD, off, part * size, body->name, "");
        }
    }
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// Whether the caller applied a wrench to a body; a NaN counts as one.
static bool is_applied(const pp_recheck *c, int body)
{
    const perp_wrench *w = c->applied ? &c->applied[body] : NULL;
    return w && !(pp_length(w->f_W) + pp_length(w->tau_W) == 0.0);
}

// Whether anything but gravity, springs, contact and joints at rest can change the energy: driven
// bodies, wrenches, drives and friction of joints, couplings that move with time, given forces, moving surfaces.
static bool is_driven(const pp_recheck *c)
{
    const perp_model *m = c->model;
    bool driven = false;
    for (int i = 0; i < m->bodies; i++) {
        driven = driven || m->body[i].drive == PERP_MOTION_KINEMATIC || is_applied(c, i);
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        bool moves = (j->function && pp_expr_uses(j->function, 0)) ||
                     (j->velocity && pp_expr_uses(j->velocity, 0));
        driven =
            driven || j->target || j->rate || j->friction > 0.0 || j->first_actuator > 0 || moves;
    }
    for (int i = 0; i < m->forces; i++) {
        driven = driven || m->force[i].kind == PERP_FORCE_WRENCH;
    }
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *s = &m->shape[i];
        driven = driven || s->surface_speed || s->surface[0] || s->surface[1] || s->surface[2] ||
                 s->surface[3];
    }
    return driven;
}

// Bodies and joints without a drive have done no work.
static perp_status judge_energy(pp_recheck *c)
{
    const perp_energy *e = &c->now->energy;
    double size = fabs(e->kinetic) + fabs(c->energy0.kinetic) + fabs(e->dissipated);
    if (!is_driven(c)) {
        pp_check_record_worst(c, PERP_CHECK_RECORD, fabs(e->work), ROUNDED * size + 1e-300,
                              "energies", "");
    }
    return pp_check_energy(c);
}

perp_status pp_check_event(pp_recheck *c)
{
    const perp_model *m = c->model;
    bool impact = c->part >= 0 && c->now->part != PERP_PART_SMOOTH;
    bool *pushed = PP_ZEROS(c->arena, bool, 2 * (size_t)m->bodies), *held = pushed + m->bodies;
    perp_vec3 *left = PP_ZEROS(c->arena, perp_vec3, m->bodies);
    double *load = PP_ZEROS(c->arena, double, m->bodies);
    if (!pushed || !left || !load) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = judge_energy(c);
    if (status < 0) {
        return status;
    }
    // held: something besides gravity acts on the body. pushed: something that is not recorded
    // does.
    for (int i = 0; i < m->joints; i++) {
        held[m->joint[i].a] = held[m->joint[i].b] = true;
    }
    for (int i = 0; i < c->now->contacts; i++) {
        held[m->shape[c->now->contact[i].a.i].body] = true;
        held[m->shape[c->now->contact[i].b.i].body] = true;
    }
    for (int i = 0; i < m->bodies; i++) {
        held[i] = held[i] || is_applied(c, i);
    }
    touch_forces(m, held);
    judge_motion(c, impact, held);
    if (impact) {
        for (int i = 0; i < c->now->contacts; i++) {
            judge_impact(c, &c->now->contact[i]);
        }
        return pp_check_impact(c);
    }
    touch_forces(m, pushed);
    touch_gears(m, pushed);
    judge_momentum(c, pushed, left, load);
    return PERP_OK;
}
