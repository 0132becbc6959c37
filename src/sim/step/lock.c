// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts that friction locks.                                                          theory (P20)
//
// psi / h of an overlap, however small, asks for a velocity that parts the bodies. Where friction locks a contact there is
// none: an impulse that parts them has friction that holds them more. The same holds for the drift of a sticking contact
// (P17), and for a joint that is beyond its limit by rounding while a contact presses it there. A step that is not solved
// is solved again with rows that only keep overlaps from growing, for which a solution exists. Contacts that stick in it
// stay locked, without another failure, until they slip or open.
#include "sim/step/parts.h"

// Marks contacts of two shapes that were locked in the last step. Points of hulls have new features in every step, so
// that the pair is what counts.
void pp_sim_mark_locked(perp_sim *sim)
{
    const pp_gaps *gaps = &sim->step.gap;
    int all = sim->step.locked ? gaps->count : 0;
    for (int i = 0; i < all; i++) {
        gaps->contact[i].locked = true;
    }
    for (int k = 0; k < sim->warm_count; k++) {
        const pp_warm *w = &sim->warm[k];
        // points of one pair follow each other: one of them finds all
        if (!w->locked || (k > 0 && w[-1].locked && w[-1].a == w->a && w[-1].b == w->b)) {
            continue;
        }
        for (int i = 0; i < gaps->count; i++) {
            pp_contact *c = &gaps->contact[i];
            c->locked = c->locked || (c->a == w->a && c->b == w->b);
        }
    }
}

// The deepest overlap among contacts and limits, as a row; -1: there is none.
static int deepest_overlap(const pp_rows *rows)
{
    int deepest = -1;
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        if (row->value < 0.0 && !row->bounces &&
            (deepest < 0 || row->value < rows->n[deepest].value)) {
            deepest = i;
        }
    }
    return deepest;
}

// Whether a sticking contact takes back its drift, or a joint is open.
static bool any_drift(const pp_rows *rows)
{
    for (int i = 0; i < rows->nt; i++) {
        if (rows->t[i].bias != 0.0) {
            return true;
        }
    }
    for (int i = 0; i < rows->nb; i++) {
        if (rows->b[i].value != 0.0 && !rows->b[i].spring) {
            return true;
        }
    }
    return false;
}

// The remark: which overlap stays, the deepest one.
static void note_lock(perp_sim *sim, int i)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    char *text = sim->info.remark;
    size_t size = sizeof sim->info.remark;
    if (i < 0) {
        pp_print(text, size, "friction locks contacts: what drifted apart by rounding stays");
    } else if (i >= rows->nc) {
        const pp_row *row = &rows->n[i];
        pp_print(text, size, "friction locks contacts: joint '%.80s' stays %.3g beyond its limit",
                 m->joint[row->joint].name, -row->value);
    } else {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        pp_print(text, size,
                 "friction locks contacts: '%.80s' and '%.80s' stay %.3g m in each other",
                 m->shape[c->a].name, m->shape[c->b].name, -rows->n[i].value);
    }
}

bool pp_sim_may_lock(const perp_sim *sim)
{
    const pp_rows *rows = &sim->step.row;
    bool corrects = sim->def.stepper == PERP_STEPPER_STEWART_TRINKLE ||
                    sim->def.stepper == PERP_STEPPER_MOREAU_JEAN;
    return corrects && !sim->step.locked && !sim->unfit && rows->ng > 0 &&
           (deepest_overlap(rows) >= 0 || any_drift(rows));
}

// All contacts and limits of the step, or only those that were locked in the last one.
static void lock_contacts(perp_sim *sim, bool all)
{
    sim->step.locked = all;
    for (int i = 0; i < sim->step.gap.count; i++) {
        sim->step.gap.contact[i].locked = all;
    }
    pp_sim_mark_locked(sim);
}

perp_status pp_sim_solve_locked(perp_sim *sim, const double *nu, double h, perp_status failed)
{
    // what is proved to have no answer whatever friction does has none here
    if (pp_is_final(failed) || failed == PERP_ERR_INFEASIBLE || !pp_sim_may_lock(sim) ||
        pp_sim_is_worked_off(sim)) {
        return failed;
    }
    int deepest = deepest_overlap(&sim->step.row);
    lock_contacts(sim, true);
    perp_status status = pp_sim_solve_again(sim, nu, h);
    if (status >= 0) {
        note_lock(sim, deepest);
    }
    if (status >= 0 || pp_is_final(status)) {
        return status;
    }
    // no lock then: with corrections again, and all the work that is left
    lock_contacts(sim, false);
    sim->step.lock_failed = true;
    return pp_sim_solve_again(sim, nu, h);
}

bool pp_sim_stays_locked(const perp_sim *sim, int n)
{
    const pp_step *s = &sim->step;
    return s->gap.contact[s->row.contact[n]].locked && s->answer.pn[n] > 0.0 &&
           pp_sim_contact_sticks(sim, n);
}
