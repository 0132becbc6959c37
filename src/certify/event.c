// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step through events: what is true of the bodies at its end, and of the impulses in
// it.                                                                                   theory (H16)
#include "certify/certify.h"

#include "math/math.h"

#include <math.h>

static void worst(double *value, double candidate)
{
    if (!(candidate <= *value)) {  // NaN counts as the worst
        *value = candidate;
    }
}

static void check_contacts(perp_certificate *c, const pp_flown *e)
{
    for (int i = 0; i < e->gaps->count; i++) {
        worst(&c->gap, -e->gaps->contact[i].gap);
    }
    for (int i = 0; i < e->contacts; i++) {
        const perp_contact *k = &e->contact[i];
        worst(&c->cone, pp_length(k->pf_W) - k->mu * k->pn);
        worst(&c->cone, -k->pn);
        worst(&c->complementarity, k->mode == PERP_OPEN ? 0.0 : fabs(k->pn * k->rate_n));
    }
}

static void check_joints(perp_certificate *c, const pp_flown *e)
{
    for (int i = 0; i < e->model->joints; i++) {
        worst(&c->joint, pp_joint_error(e->model, e->end, i));
        worst(&c->joint, pp_joint_beyond(e->model, e->end, i));
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
static void check_momentum(perp_certificate *c, const pp_flown *e)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->bodies; i++) {
        bool free = m->body[i].nv > 0 && !is_geared(m, i);
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
        worst(&c->momentum, pp_length(off));
    }
}

void pp_certify_flown(perp_certificate *out, const pp_flown *e, const perp_limits *limits)
{
    *out = (perp_certificate){0};
    check_contacts(out, e);
    check_joints(out, e);
    check_momentum(out, e);
    worst(&out->energy_created, -e->dissipated);
    worst(&out->residual, e->residual);
    out->passed = out->gap <= limits->gap && out->complementarity <= limits->complementarity &&
                  out->cone <= limits->cone && out->joint <= limits->joint &&
                  out->momentum <= limits->momentum && out->energy_created <= limits->energy &&
                  out->residual <= limits->residual;
}
