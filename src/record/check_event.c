// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What two frames show when events lie between them. The states at both ends and the impulses of the whole
// step obey integrals, not the equations of a step:
//
//   m (v - v^l) = m g h + sum p        E - E^l <= work
//
// Moments are not among them: arms turn within the step. Bodies that forces or springs act on are left out,
// for those impulses are not recorded. Normal and friction impulses are summed along normals as they turn, of
// which the last is recorded: p is known up to p_n times the way the normal went.
#include "record/check.h"

#include <math.h>

static void touch_forces(const perp_model *m, bool *pushed)
{
    for (int i = 0; i < m->forces; i++) {
        pushed[m->force[i].a] = pushed[m->force[i].b] = true;
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *joint = &m->joint[i];
        if (joint->kind == PERP_GEAR || joint->stiffness != 0.0 || joint->damping != 0.0) {
            pushed[joint->a] = pushed[joint->b] = true;
        }
    }
}

// Gears act through the bodies of the joints they couple.
static void touch_gears(const perp_model *m, bool *pushed)
{
    for (int i = 0; i < m->joints; i++) {
        if (m->joint[i].kind == PERP_GEAR) {
            const pp_joint *a = &m->joint[m->joint[i].joint_a], *b = &m->joint[m->joint[i].joint_b];
            pushed[a->a] = pushed[a->b] = pushed[b->a] = pushed[b->b] = true;
        }
    }
}

double pp_check_turned(const pp_recheck *c, const perp_contact *contact)
{
    pp_contact point[PP_POINTS_MAX];
    double least = 2.0;
    int count = pp_gap_pair(c->model, c->before, contact->a.i, contact->b.i, HUGE_VAL, point);
    for (int k = 0; k < count; k++) {
        double way = pp_length(pp_sub(point[k].n, contact->normal_W));
        least = fmin(least, fmin(way, pp_length(pp_add(point[k].n, contact->normal_W))));
    }
    return least;
}

static const double INTEGRATED = 1e-8;  // what the tolerance of the integration leaves of a step

static void see_momentum(pp_recheck *c, const bool *pushed, perp_vec3 *left, double *unsure,
                         double *load)
{
    const perp_model *m = c->model;
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
        perp_vec3 p = pp_along(contact->pf_W, contact->pn, contact->normal_W);
        left[a] = pp_add(left[a], p);
        left[b] = pp_sub(left[b], p);
        double way = fabs(contact->pn) * pp_check_turned(c, contact);
        unsure[a] += way;
        unsure[b] += way;
        load[a] += pp_length(p);
        load[b] += pp_length(p);
    }
    for (int i = 0; i < m->joints; i++) {
        perp_vec3 p = c->now->joint[i].impulse_b.f;
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
        dv = pp_along(dv, -c->h, m->gravity);
        perp_vec3 off = pp_along(left[i], body->mass, dv);
        off = pp_along(off, -c->h, c->applied[i].f);
        double worst = pp_length(off) - unsure[i];
        double size = body->mass * (pp_length(c->after[i].v) + pp_length(c->before[i].v) +
                                    c->h * pp_length(m->gravity)) +
                      load[i];
        pp_check_see(c, PERP_CHECK_MOMENTUM, isnan(worst) ? worst : fmax(0.0, worst),
                     INTEGRATED * size, body->name, "");
    }
}

perp_status pp_check_event(pp_recheck *c)
{
    const perp_model *m = c->model;
    bool *pushed = PP_ZEROS(c->arena, bool, m->bodies);
    perp_vec3 *left = PP_ZEROS(c->arena, perp_vec3, m->bodies);
    double *unsure = PP_ZEROS(c->arena, double, m->bodies);
    double *load = PP_ZEROS(c->arena, double, m->bodies);
    if (!pushed || !left || !unsure || !load) {
        return PERP_ERR_MEMORY;
    }
    touch_forces(m, pushed);
    touch_gears(m, pushed);
    see_momentum(c, pushed, left, unsure, load);
    pp_check_energy(c, 0.0);
    return PERP_OK;
}
