// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recorded frame shows by itself: overlap, open joints, contacts that pull, push from afar or let
// through.
//
//   0 <= p_n,  0 <= rho_n,  p_n rho_n = 0
#include "record/check.h"

#include <math.h>

// How far a coordinate is beyond its limits.
static double beyond(const perp_model *m, const pp_kinematics *at, int index)
{
    const pp_joint *joint = &m->joint[index];
    pp_row row;
    if (!(joint->lower <= joint->upper)) {
        return 0.0;
    }
    pp_joint_coordinate(m, at, index, &row);
    return fmax(0.0, fmax(joint->lower - row.value, row.value - joint->upper));
}

perp_status pp_check_places(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_kinematics kin = {.t = c->now->t, .h = c->h, .body = c->after, .turn = c->turn};
    pp_gaps gaps = {0};
    perp_status status = pp_gaps_run(&gaps, m, &kin, 0.0, c->arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *contact = &gaps.contact[i];
        pp_check_see(c, PERP_CHECK_GAP, fmax(0.0, -contact->gap), m->shape[contact->a].name,
                     m->shape[contact->b].name);
    }
    for (int i = 0; i < m->joints; i++) {
        double error = pp_joint_error(m, &kin, i);
        pp_check_see(c, PERP_CHECK_JOINT, isnan(error) ? error : fmax(error, beyond(m, &kin, i)),
                     m->joint[i].name, "");
    }
    return PERP_OK;
}

double pp_check_beside(const pp_recheck *c, double value, double rate, double before,
                       double restitution, double rest)
{
    bool by_place =
        c->info->stepper == PERP_STEWART_TRINKLE || c->info->stepper == PERP_QUASISTATIC;
    double h = c->info->h > 0.0 ? c->info->h : c->h;
    bool bounces = restitution != 0.0 && !(before >= -rest);
    bool arrives = !(value + h * before > 0.0);
    if (bounces && (!by_place || arrives)) {
        return c->info->impact == PERP_IMPACT_NEWTON ? rate + restitution * before : (double)NAN;
    }
    return rate + (by_place ? value / h : 0.0);
}

// Of b relative to a along the normal, at the start of the step; NaN when it is not known.
static double normal_rate_before(const pp_recheck *c, const perp_contact *contact)
{
    if (!pp_check_each_step(c)) {
        return NAN;
    }
    perp_vec3 at = contact->point_W;
    const perp_shape pair[2] = {contact->a, contact->b};
    double rate[2];
    for (int k = 0; k < 2; k++) {
        perp_vec3 v = pp_point_velocity(&c->before[c->model->shape[pair[k].i].body], at);
        rate[k] = pp_dot3(v, contact->normal_W);
    }
    return rate[1] - rate[0];
}

static void see_normal(pp_recheck *c, const perp_contact *contact, const char *a, const char *b)
{
    double g = c->model ? pp_length(c->model->gravity) : 0.0;
    double before = contact->restitution != 0.0 ? normal_rate_before(c, contact) : 0.0;
    double rho = pp_check_beside(c, contact->gap, contact->rate_n, before, contact->restitution,
                                 2.0 * c->h * g);
    pp_check_see(c, PERP_CHECK_PULL, fmax(0.0, -contact->pn), a, b);
    if (!isnan(rho) || !isfinite(contact->gap) || !isfinite(contact->rate_n)) {
        pp_check_see(c, PERP_CHECK_PUSH, fabs(contact->pn * rho), a, b);
        pp_check_see(c, PERP_CHECK_CLOSE, isnan(rho) ? rho : fmax(0.0, -rho), a, b);
    }
}

void pp_check_contacts(pp_recheck *c)
{
    double still = c->check->item[PERP_CHECK_CLOSE].limit;  // slower than this is no slip
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        const char *a = c->recording->shape[contact->a.i].name;
        const char *b = c->recording->shape[contact->b.i].name;
        double beyond = 0.0, short_of = 0.0;
        see_normal(c, contact, a, b);
        if (c->model || !c->info->spatial) {
            pp_check_friction(c, contact, still, &beyond, &short_of);
            pp_check_see(c, PERP_CHECK_CONE, beyond, a, b);
            pp_check_see(c, PERP_CHECK_SLIP, isnan(short_of) ? short_of : fmax(0.0, short_of), a,
                         b);
        }
    }
}
