// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Warm start of the solver: last step's impulses of the same contact points, and for new ones an even share of what would
// stop them. A point is the same where shapes and feature are; both lists are in the order of the gap stage, so that they
// are merged in one pass.
#include "sim/step/parts.h"

#include <math.h>

// The order of the gap stage: listed contacts, then by shapes and feature. < 0: w comes before c.
static int compare_contact(const pp_warm *w, const pp_contact *c)
{
    int first = w->listed >= 0 ? w->listed : INT32_MAX;
    int second = c->listed >= 0 ? c->listed : INT32_MAX;
    if (first != second) {
        return first < second ? -1 : 1;
    }
    if (w->a != c->a || w->b != c->b) {
        return w->a < c->a || (w->a == c->a && w->b < c->b) ? -1 : 1;
    }
    return w->feature < c->feature ? -1 : w->feature > c->feature;
}

// *next goes forward only; it stays at the warm start that was found.
const pp_warm *pp_sim_warm_of(const perp_sim *sim, const pp_contact *contact, int *next)
{
    int order = 1;
    while (*next < sim->warm_count && (order = compare_contact(&sim->warm[*next], contact)) < 0) {
        (*next)++;
    }
    return *next < sim->warm_count && order == 0 ? &sim->warm[*next] : NULL;
}

// Friction of the contact of normal row n: its groups' rows are one after the other.
static void take_friction(const pp_rows *rows, int n, const pp_warm *w, double *pt)
{
    if (rows->grouped[n] == 0) {
        return;
    }
    // a contact may have fewer friction rows than before, where a rule has changed: no more than there are
    int first = rows->group[rows->friction[n]].t;
    int count = w->count < rows->nt - first ? w->count : rows->nt - first;
    for (int k = 0; k < count; k++) {
        pt[first + k] = w->pt[k];
    }
}

// Number of contacts of each body. NULL: out of memory.
static int *count_contacts(const perp_sim *sim, pp_arena *arena)
{
    const pp_rows *rows = &sim->step.row;
    int *count = PP_ZEROS(arena, int, sim->model->bodies);
    if (!count) {
        return NULL;
    }
    for (int i = 0; i < rows->nc; i++) {
        for (int k = 0; k < rows->n[i].count; k++) {
            count[rows->n[i].body[k]]++;
        }
    }
    return count;
}

// Fresh contacts: p_n that stops the approach of each by itself, divided by the number of contacts
// of its busier body, then all of it scaled by the s that minimises s^2 p' D p / 2 + s rho' p,
// which stops them together as well as one number can. Points that are alike get the same, so that
// the load of a table spreads over its legs.
static void share_out(const perp_sim *sim, const bool *fresh, double *pn, pp_arena *arena)
{
    const pp_rows *rows = &sim->step.row;
    const pp_kinematics *kin = &sim->step.kin;
    const perp_model *m = sim->model;
    int *count = count_contacts(sim, arena);
    double *moved = PP_ZEROS(arena, double, m->nv), force = 0.0, square = 0.0;
    if (!count || !moved) {
        return;
    }
    for (int i = 0; i < rows->nc; i++) {
        const pp_row *row = &rows->n[i];
        // rate at the end of the step without contacts, bias included: negative where it has to be
        // stopped
        double rho = row->v_pre + pp_row_force_rate(m, kin, row) + row->bias;
        double mobility = pp_row_mobility(m, kin->mass, row);
        int most = 1;
        for (int k = 0; k < row->count; k++) {
            most = count[row->body[k]] > most ? count[row->body[k]] : most;
        }
        if (fresh[i] && rho < 0.0 && mobility > 0.0) {
            pn[i] = -rho / (mobility * most);
            force += pn[i] * rho;
            pp_row_add(m, row, pn[i], kin->mass, moved);
        }
    }
    for (int i = 0; i < rows->nc; i++) {
        square += fresh[i] ? pn[i] * (pp_row_rate(m, &rows->n[i], moved) - rows->n[i].rate) : 0.0;
    }
    // the minimum of s^2 square / 2 + s force
    double scale = square > 0.0 ? -force / square : 0.0;
    for (int i = 0; i < rows->nc; i++) {
        pn[i] *= fresh[i] ? scale : 1.0;
    }
}

// Places among perp_sim.warm_rows. A joint has a motor, dry friction, or both in this order; its lower limit comes before
// its upper one. Where only one of two is in the problem it takes the first place: a guess that may be another row's.
size_t pp_sim_boxed_place(const perp_model *m, const pp_rows *rows, int i)
{
    const pp_row *row = &rows->m[i], *before = i > 0 ? row - 1 : NULL;
    if (row->actuator >= 0) {
        return PP_WARM_JOINT * (size_t)m->joints + (size_t)row->actuator;
    }
    bool second = before && before->joint == row->joint && before->actuator < 0;
    return PP_WARM_JOINT * (size_t)row->joint + (second ? 1 : 0);
}

size_t pp_sim_limit_place(const pp_rows *rows, int i)
{
    bool second = i > rows->nc && rows->n[i - 1].joint == rows->n[i].joint;
    return PP_WARM_JOINT * (size_t)rows->n[i].joint + (second ? 3 : 2);
}

// p_n, p_t and p_m to start from, nn + nt + nm numbers. effort.warm_started: how many contacts were there before. Where memory is out
// there is no guess, which is no failure.
const double *pp_sim_guess(perp_sim *sim)
{
    const pp_rows *rows = &sim->step.row;
    if (sim->step.last) {  // a round of the implicit step starts from the one before
        sim->info.effort.warm_started = rows->nc;
        return pp_sim_guess_round(sim);
    }
    double *guess =
        PP_ZEROS(sim->arena, double, (size_t)rows->nn + (size_t)rows->nt + (size_t)rows->nm);
    bool *fresh = PP_ZEROS(sim->arena, bool, rows->nc), any = false;
    int next = 0, known = 0;
    if (!guess || !fresh) {
        sim->info.effort.warm_started = 0;
        return guess;
    }
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        const pp_warm *warm = pp_sim_warm_of(sim, c, &next);
        // a contact with a warm start uses it up: the next one is looked for behind it
        fresh[i] = !warm;
        any = any || fresh[i];
        known += !fresh[i];
        if (warm) {
            guess[i] = warm->pn;
            take_friction(rows, i, warm, guess + rows->nn);
            next++;
        }
    }
    // limits of bodies start from nothing, as contacts that are new
    int limits = sim->tree ? rows->nn : rows->nc;
    for (int i = rows->nc; i < limits; i++) {
        guess[i] = sim->warm_rows[pp_sim_limit_place(rows, i)];
    }
    for (int i = 0; i < rows->nm; i++) {
        guess[rows->nn + rows->nt + i] = sim->warm_rows[pp_sim_boxed_place(sim->model, rows, i)];
    }
    if (any) {
        share_out(sim, fresh, guess, sim->arena);
    }
    sim->info.effort.warm_started = known;
    return guess;
}
