// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step through events: what is true of the bodies at its end, and of the impulses in
// it.                                                                                   theory (H16)
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>

static void check_contacts(perp_certificate *c, const pp_flown *e, const pp_scales *s,
                           const perp_limits *limits)
{
    for (int i = 0; i < e->contacts; i++) {
        const perp_contact *k = &e->contact[i];
        const int bodies[2] = {e->model->shape[k->a.i].body, e->model->shape[k->b.i].body};
        int of = s->island[bodies[0]] >= 0 ? 0 : 1;
        double mass = e->model->body[bodies[of]].mass,
               rate = pp_scale_rate(s, s->island[bodies[of]]);
        double slack = rate * mass + s->slack * fabs(k->pn);
        pp_hold(c, limits, PERP_JUDGED_CONE, pp_length(k->pf_W) - k->mu * k->pn, slack);
        pp_hold(c, limits, PERP_JUDGED_CONE, -k->pn, slack);
        if (k->mode != PERP_OPEN) {
            double speed = pp_scale_speed(s, s->island[bodies[of]]);
            pp_hold(c, limits, PERP_JUDGED_COMPLEMENTARITY, fabs(k->pn * k->rate_n),
                    rate * (fabs(k->pn) + mass * speed));
        }
    }
}

static bool is_geared(const perp_model *m, int body)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (j->kind == PERP_GEAR &&
            (m->joint[j->joint_a].a == body || m->joint[j->joint_a].b == body ||
             m->joint[j->joint_b].a == body || m->joint[j->joint_b].b == body)) {
            return true;
        }
    }
    return false;
}

// m (v - v_old) is what gravity, contacts, joints and the wrench from outside gave; bodies that force
// elements or gears act on are left out.
// What the tolerance of the integration leaves of a step.
static const double INTEGRATED = 1e-8;

static void check_momentum(perp_certificate *c, const pp_flown *e, const perp_limits *limits)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->bodies; i++) {
        bool free = m->body[i].nv > 0 && !is_geared(m, i);
        for (int k = 0; k < m->joints; k++) {
            const pp_joint *j = &m->joint[k];
            bool pushes = j->stiffness != 0.0 || j->damping != 0.0;
            free = free && !(pushes && (j->a == i || j->b == i));
        }
        for (int k = 0; k < m->forces; k++) {
            free = free && m->force[k].a != i && m->force[k].b != i;
        }
        if (!free) {
            continue;
        }
        double mass = m->body[i].mass;
        perp_vec3 off = pp_scale(mass, pp_sub(e->end->body[i].v, e->start[i].v));
        off = pp_along(off, -mass * e->h, m->gravity);
        off = pp_along(off, -e->h, e->applied[i].f);
        off = pp_sub(off, e->given[i]);
        off.z = m->spatial ? off.z : 0.0;
        double size = mass * (pp_length(e->end->body[i].v) + pp_length(e->start[i].v)) +
                      e->h * (mass * pp_length(m->gravity) + pp_length(e->applied[i].f)) +
                      pp_length(e->given[i]);
        pp_hold(c, limits, PERP_JUDGED_MOMENTUM, pp_length(off), INTEGRATED * size);
    }
}

perp_status pp_certify_flown(perp_certificate *out, const pp_flown *e, const perp_limits *limits,
                             pp_arena *arena)
{
    const perp_model *m = e->model;
    pp_scales s;
    pp_kinematics kin = {.h = e->h, .body = (pp_frame *)(uintptr_t)e->start};  // read only
    kin.p_ext = PP_ZEROS(arena, double, m->nv);
    *out = (perp_certificate){0};
    perp_status status = kin.p_ext ? pp_scales_start(&s, m, arena) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const double g[3] = {m->gravity.x, m->gravity.y, m->gravity.z};
        for (int k = 0; k < body->nv; k++) {
            kin.p_ext[body->at + k] =
                body->axis[k] < 3 ? e->h * body->mass * g[body->axis[k]] : 0.0;
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
    status = pp_judge_places(out, m, NULL, e->end, e->gaps, limits, arena);
    if (status < 0) {
        return status;
    }
    check_contacts(out, e, &s, limits);
    pp_judge_joints(out, m, e->end, limits);
    check_momentum(out, e, limits);
    double rate = 0.0, energy = 0.0, rounding = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        rate = fmax(rate, pp_scale_rate(&s, i));
        energy += s.energy[i];
        rounding += pp_scale_rounding_energy(&s, i);
    }
    pp_hold(out, limits, PERP_JUDGED_ENERGY, e->created, s.slack * (energy + e->energy) + rounding);
    pp_hold(out, limits, PERP_JUDGED_RESIDUAL, e->residual, rate);
    out->passed = pp_certificate_passes(out);
    return PERP_OK;
}
