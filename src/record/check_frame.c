// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recorded frame shows by itself: overlap, open joints, contacts that pull or push from afar,
// friction beyond its cone or along the slip.
#include "record/check.h"

#include <math.h>

perp_status pp_check_places(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_kinematics kin = {.t = c->now->t, .h = c->h, .body = c->after};
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
        pp_check_see(c, PERP_CHECK_JOINT, pp_joint_error(m, c->after, c->now->t, i),
                     m->joint[i].name, "");
    }
    return PERP_OK;
}

// The normal rate that complements p_n: where the contact is at the end of the step, over h, or how it
// moves then. With restitution it is another, which the recording does not tell.
static double rate_beside(const pp_recheck *c, const perp_contact *contact)
{
    bool by_place =
        c->info->stepper == PERP_STEWART_TRINKLE || c->info->stepper == PERP_QUASISTATIC;
    double h = c->info->h > 0.0 ? c->info->h : c->h;
    if (contact->restitution != 0.0) {
        return 0.0;
    }
    return contact->rate_n + (by_place ? contact->gap / h : 0.0);
}

void pp_check_contacts(pp_recheck *c)
{
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        const char *a = c->recording->shape[contact->a.i].name;
        const char *b = c->recording->shape[contact->b.i].name;
        perp_vec3 n = contact->normal_W, pf = contact->pf_W;
        double along = pf.x * n.y - pf.y * n.x;  // along t = (n_y, -n_x)
        double across = pf.x * n.x + pf.y * n.y;
        pp_check_see(c, PERP_CHECK_PULL, fmax(0.0, -contact->pn), a, b);
        pp_check_see(c, PERP_CHECK_PUSH, fabs(contact->pn * rate_beside(c, contact)), a, b);
        pp_check_see(c, PERP_CHECK_CONE,
                     fmax(fabs(across), fabs(along) - contact->mu * contact->pn), a, b);
        pp_check_see(c, PERP_CHECK_SLIP, fmax(0.0, along * contact->slip), a, b);
    }
}
