// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step through events, passage by passage: gaps, joints and velocities at the
// end of each passage, and the impulses within it.                                    theory (H16)
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>

// Velocity of b relative to a at a contact point, from the motion of the bodies alone [m/s].
// Surface speeds are not part of it.
static perp_vec3 rate_at(const perp_model *m, const pp_frame *body, const perp_contact *k)
{
    const pp_frame *a = &body[m->shape[k->a.i].body], *b = &body[m->shape[k->b.i].body];
    return pp_sub(pp_own_velocity(b, k->point_W), pp_own_velocity(a, k->point_W));
}

// Newton's law of impact with the restitution that acted: 0 <= p_n _|_ u_n + e min(0, u_n^-) >= 0.
// Poisson's law has no such condition on velocities; there only u_n >= 0 is checked.
static void check_impact(perp_certificate *c, const pp_event_passage *e, const perp_contact *k,
                         double rate, double size, const perp_limits *limits)
{
    double before = pp_dot3(rate_at(e->model, e->start, k), k->normal_W);
    double after = pp_dot3(rate_at(e->model, e->end->body, k), k->normal_W);
    double beside = after + (e->newton ? k->restitution * fmin(0.0, before) : 0.0);
    pp_certificate_record(c, limits, PERP_JUDGED_RESIDUAL, -beside, rate);
    if (e->newton) {
        pp_certificate_record(c, limits, PERP_JUDGED_COMPLEMENTARITY, fabs(k->pn * beside),
                              rate * size);
    }
}

// Coefficients of torsional and rolling friction of a pair of shapes [m]. A listed contact of the
// scene overrides those of the pair where it gives them (negative: not given).
static void turning_of(const perp_model *m, int a, int b, double *spin, double *roll)
{
    pp_pair_rule pair;
    pp_model_pair(m, a, b, &pair);
    *spin = pair.mu_spin;
    *roll = pair.mu_roll;
    for (int i = 0; i < m->listed; i++) {
        const pp_listed *listed = &m->contact[i];
        if (listed->a == a && listed->b == b) {
            *spin = listed->mu_spin >= 0.0 ? listed->mu_spin : *spin;
            *roll = listed->mu_roll >= 0.0 ? listed->mu_roll : *roll;
        }
    }
}

// Moments of a contact against what its normal impulse allows: |m_n| <= mu_spin p_n about the
// normal and |m_t| <= mu_roll p_n across it. Divided by the length of the model they are impulses,
// which the limit is in.
static void check_moment(perp_certificate *c, const pp_event_passage *e, const perp_contact *k,
                         double slack, const perp_limits *limits)
{
    double spin = 0.0, roll = 0.0, length = e->model->length_scale;
    bool rubs = k->mode != PERP_CONTACT_OPEN || pp_length(k->moment_W) > 0.0;
    if (!e->model->spatial || !rubs) {
        return;
    }
    turning_of(e->model, k->a.i, k->b.i, &spin, &roll);
    double about = pp_dot3(k->moment_W, k->normal_W);
    double across = pp_length(pp_along(k->moment_W, -about, k->normal_W));
    pp_certificate_record(c, limits, PERP_JUDGED_CONE, (fabs(about) - spin * k->pn) / length,
                          slack);
    pp_certificate_record(c, limits, PERP_JUDGED_CONE, (across - roll * k->pn) / length, slack);
}

// Cone, unilateral force and complementarity of each contact. The scales are those of the free
// body; where both are free they share an island.
static void judge_passage_contacts(perp_certificate *c, const pp_event_passage *e,
                                   const pp_scales *s, const perp_limits *limits)
{
    for (int i = 0; i < e->contacts; i++) {
        const perp_contact *k = &e->contact[i];
        const int bodies[2] = {e->model->shape[k->a.i].body, e->model->shape[k->b.i].body};
        int of = s->island[bodies[0]] >= 0 ? 0 : 1;
        double mass = e->model->body[bodies[of]].mass,
               rate = pp_scale_rate(s, s->island[bodies[of]]);
        // Impulses [N s]: the mass times the slack in velocity, and a share of the impulse itself.
        double slack = rate * mass + s->slack * fabs(k->pn);
        double size = fabs(k->pn) + mass * pp_scale_speed(s, s->island[bodies[of]]);
        pp_certificate_record(c, limits, PERP_JUDGED_CONE, pp_length(k->pf_W) - k->mu * k->pn,
                              slack);
        pp_certificate_record(c, limits, PERP_JUDGED_CONE, -k->pn, slack);
        check_moment(c, e, k, slack, limits);
        // An impact is judged by velocities before and after; in smooth motion a closed contact
        // that carries load must not open.
        if (e->jump) {
            check_impact(c, e, k, rate, size, limits);
        } else if (k->mode != PERP_CONTACT_OPEN) {
            pp_certificate_record(c, limits, PERP_JUDGED_COMPLEMENTARITY, fabs(k->pn * k->rate_n),
                                  rate * size);
        }
    }
}

// ── Momentum ─────────────────────────────────────────────────────────────────────────────────────

// What is left of the balance of a body, about its centre of mass, in world axes, and the sums of
// the sizes of all terms.
typedef struct passage_balance {
    perp_vec3 f, tau;
    double size_f, size_tau;
} passage_balance;

// Takes sign times a wrench that acts at `arm` from the centre of mass out of the balance.
static void give(passage_balance *to, double sign, const perp_wrench *w, perp_vec3 arm)
{
    perp_vec3 tau = pp_add(w->tau_W, pp_cross(arm, w->f_W));
    to->f = pp_along(to->f, -sign, w->f_W);
    to->tau = pp_along(to->tau, -sign, tau);
    to->size_f += pp_length(w->f_W);
    to->size_tau += pp_length(w->tau_W) + pp_length(arm) * pp_length(w->f_W);
}

// Takes all impulses of the passage out of the balances. Contacts and joints act on both bodies;
// the impulses of gears are among the elements already.
static void give_all(const pp_event_passage *e, passage_balance *of)
{
    const perp_model *m = e->model;
    const pp_frame *body = e->start;
    for (int i = 0; i < e->contacts; i++) {
        const perp_contact *k = &e->contact[i];
        int a = m->shape[k->a.i].body, b = m->shape[k->b.i].body;
        perp_wrench w = {pp_along(k->pf_W, k->pn, k->normal_W), k->moment_W};
        give(&of[a], -1.0, &w, pp_sub(k->point_W, body[a].p));
        give(&of[b], 1.0, &w, pp_sub(k->point_W, body[b].p));
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        const perp_wrench *w = &e->joint[i].impulse_b;
        if (!pp_joint_couples(j)) {
            // The wrench of a joint is about the centre of b: on a it acts there, in the opposite
            // direction.
            give(&of[j->a], -1.0, w, pp_sub(body[j->b].p, body[j->a].p));
            give(&of[j->b], 1.0, w, pp_vec(0.0, 0.0, 0.0));
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        give(&of[i], 1.0, &e->element[i], pp_vec(0.0, 0.0, 0.0));
    }
}

// Share of the sizes that may be missing: the tolerance of the integrator in smooth motion,
// rounding in an impact.
static const double INTEGRATED = 1e-8, ROUNDED = 1e-9;

// Angular momentum about the centre of mass, in world axes [N m s].
static perp_vec3 spin_of(const pp_body *body, const pp_frame *f)
{
    return pp_mul(&f->R, pp_mul(&body->I_B, pp_mul_t(&f->R, f->w)));
}

// m (v - v_old) equals the impulse of gravity, contacts, joints and force elements. Moments are
// only checked in an impact, where nothing moves and arms are constant.               theory (H16)
static perp_status check_momentum(perp_certificate *c, const pp_event_passage *e,
                                  const pp_scales *s, const perp_limits *limits, pp_arena *arena)
{
    const perp_model *m = e->model;
    passage_balance *of = PP_ZEROS(arena, passage_balance, m->bodies);
    if (!of) {
        return PERP_ERR_MEMORY;
    }
    double part = e->jump ? ROUNDED : INTEGRATED;
    give_all(e, of);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *from = &e->start[i], *to = &e->end->body[i];
        if (body->nv == 0) {
            continue;
        }
        double mass = body->mass, fast = pp_length(to->v) + pp_length(from->v);
        perp_vec3 off = pp_along(of[i].f, mass, pp_sub(to->v, from->v));
        double weight = mass * body->gravity_scale;
        off = pp_along(off, -weight * e->h, m->gravity);
        // A planar scene has no equation along z.
        off.z = m->spatial ? off.z : 0.0;
        double size = mass * fast + fabs(weight) * e->h * pp_length(m->gravity) + of[i].size_f;
        double own = ROUNDED * body->divisor_mass * pp_scale_speed(s, s->island[i]);
        pp_certificate_record(c, limits, PERP_JUDGED_MOMENTUM, pp_length(off), part * size + own);
        if (e->jump && body->reach > 0.0) {
            // Change of the angular momentum, less the moments that were taken out in give_all.
            perp_vec3 turn = pp_sub(spin_of(body, to), spin_of(body, from));
            turn = pp_add(turn, of[i].tau);
            double most = pp_length(spin_of(body, to)) + pp_length(spin_of(body, from));
            bool turns = body->kind == PERP_BODY_SPATIAL || body->kind == PERP_BODY_PLANAR;
            double left = m->spatial ? pp_length(turn) : fabs(turn.z);
            pp_certificate_record(c, limits, PERP_JUDGED_MOMENTUM, turns ? left : 0.0,
                                  part * (most + of[i].size_tau) +
                                      body->reach * (part * size + own));
        }
    }
    return PERP_OK;
}

perp_status pp_certify_passage(perp_certificate *out, const pp_event_passage *e,
                               const perp_limits *limits, pp_arena *arena)
{
    const perp_model *m = e->model;
    pp_scales s;
    // Scales are those of the whole step: a passage may be arbitrarily short. The frames are only
    // read.
    pp_kinematics kin = {.poses = {.body = e->start},
                         .h = e->whole,
                         .loads = {.p_ext = PP_ZEROS(arena, double, m->nv)}};
    *out = (perp_certificate){0};
    if (!kin.loads.p_ext) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_scales_start(&s, m, arena);
    if (status < 0) {
        return status;
    }
    // Impulse of gravity and force elements over the step, from which pp_scales_finish takes
    // speeds.
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const perp_vec3 pull = pp_scale(e->whole * body->mass * body->gravity_scale, m->gravity);
        const perp_vec3 f = pp_add(pull, e->element[i].f_W), tau = e->element[i].tau_W;
        const double p[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
        for (int k = 0; k < body->nv; k++) {
            kin.loads.p_ext[body->at + k] = p[body->axis[k]];
        }
    }
    for (int i = 0; i < e->contacts; i++) {
        const perp_contact *k = &e->contact[i];
        pp_scales_tie(&s, m->shape[k->a.i].body, m->shape[k->b.i].body);
    }
    for (int i = 0; i < m->joints; i++) {
        pp_scales_tie(&s, m->joint[i].a, m->joint[i].b);
    }
    pp_scales_finish(&s, &kin, e->end->body, e->slack);
    if (e->gaps) {
        const pp_places places = {.end = e->end, .h = e->h, .gaps = e->gaps};
        status = pp_judge_places(out, m, &places, limits, arena);
        if (status < 0) {
            return status;
        }
    }
    status = check_momentum(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    judge_passage_contacts(out, e, &s, limits);
    pp_judge_joints(out, m, e->end, 1.0, limits);
    // Energy, residual and error of the integrator are those of the whole scene, so that the scales
    // of all islands are combined.
    double rate = 0.0, energy = 0.0, rounding = 0.0, place = m->length_scale;
    for (int i = 0; i < m->bodies; i++) {
        rate = fmax(rate, pp_scale_rate(&s, i));
        place = fmax(place, s.place[i]);
        energy += s.energy[i];
        rounding += pp_scale_rounding_energy(&s, i);
    }
    // Energy that vanishes without friction, damper or impact is as wrong as energy created.
    pp_certificate_record(out, limits, PERP_JUDGED_ENERGY, fmax(e->created, e->astray),
                          s.slack * (energy + e->energy) + rounding);
    pp_certificate_record(out, limits, PERP_JUDGED_RESIDUAL, e->residual, rate);
    pp_certificate_record(out, limits, PERP_JUDGED_MOTION, e->error, s.slack * place);
    out->passed = pp_certificate_passes(out);
    return PERP_OK;
}
