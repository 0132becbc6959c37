// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Warm start of the solver: last step's impulses of the same contact points, and for new ones an even share of what would
// stop them. A point is the same where shapes and feature are; both lists are in the order of the gap stage, so that they
// are merged in one pass. Where edges of two faces coincide, rounding decides which of them a corner of the manifold
// belongs to, and its feature changes from step to step. So in space a point has to be at the same place, and what is left
// of both lists is paired by place first, then by feature (of what slides or rolls).
#include "sim/step/parts.h"

#include <math.h>

static const double SAME_PLACE = 1e-2;  // of the smaller shape

// The order of the gap stage: listed contacts, then by shapes and feature. < 0: w comes before c.
static int compare_pair(const pp_warm *w, const pp_contact *c)
{
    int first = w->listed >= 0 ? w->listed : INT32_MAX;
    int second = c->listed >= 0 ? c->listed : INT32_MAX;
    if (first != second) {
        return first < second ? -1 : 1;
    }
    if (w->a != c->a) {
        return w->a < c->a ? -1 : 1;
    }
    return w->b < c->b ? -1 : w->b > c->b;
}

static int compare_contact(const pp_warm *w, const pp_contact *c)
{
    int pair = compare_pair(w, c);
    if (pair != 0) {
        return pair;
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

// In the frame of b's body, which the point hardly leaves while two bodies rest on each other [m]. The implicit step takes
// contacts where it ends.
perp_vec3 pp_sim_contact_place(const perp_sim *sim, const pp_contact *c)
{
    const pp_step *s = &sim->step;
    const pp_poses *poses = s->at_end ? &s->end : &s->kin.poses;
    const pp_frame *frame = &poses->body[sim->model->shape[c->b].body];
    return pp_mul_t(&frame->R, pp_sub(c->point, frame->p));
}

// Square of the distance from where the contact of a warm start was, in units of the smaller shape.
static double squared_distance(const perp_sim *sim, const pp_contact *c, const pp_warm *w)
{
    const pp_shape *shape = sim->model->shape;
    double a = shape[c->a].size, b = shape[c->b].size;
    double size = a > 0.0 && b > 0.0 ? fmin(a, b) : fmax(a, b);
    perp_vec3 was = pp_vec(w->point[0], w->point[1], w->point[2]);
    perp_vec3 off = pp_sub(was, pp_sim_contact_place(sim, c));
    return size > 0.0 ? pp_dot3(off, off) / (size * size) : 0.0;
}

// The nearest of the warm starts first..end of a pair that is not used yet and is at the same place; -1: none.
static int find_nearest(const perp_sim *sim, const pp_contact *c, int first, int end,
                        const bool *used)
{
    double least = SAME_PLACE * SAME_PLACE;
    int nearest = -1;
    for (int k = first; k < end; k++) {
        double distance = squared_distance(sim, c, &sim->warm[k]);
        if (!used[k] && distance <= least) {
            least = distance;
            nearest = k;
        }
    }
    return nearest;
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

static void take_warm(const pp_rows *rows, int n, const pp_warm *w, double *guess)
{
    guess[n] = w->pn;
    take_friction(rows, n, w, guess + rows->nn);
}

// Fresh contacts with the shapes and the feature of a warm start that is not used yet; near: at the same place only. Returns
// how many.
static int take_same_features(const perp_sim *sim, bool near, double *guess, bool *fresh,
                              bool *used)
{
    const pp_rows *rows = &sim->step.row;
    int next = 0, known = 0;
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        const pp_warm *warm = pp_sim_warm_of(sim, c, &next);
        if (!warm) {
            continue;
        }
        // the next contact is looked for behind it
        int at = next++;
        bool there = !near || squared_distance(sim, c, warm) <= SAME_PLACE * SAME_PLACE;
        if (fresh[i] && !used[at] && there) {
            take_warm(rows, i, warm, guess);
            fresh[i] = false;
            used[at] = true;
            known++;
        }
    }
    return known;
}

// Fresh contacts at the place of a warm start of their pair; first..end are those of the pair.
static int take_same_places(const perp_sim *sim, double *guess, bool *fresh, bool *used)
{
    const pp_rows *rows = &sim->step.row;
    int first = 0, known = 0;
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        if (!fresh[i] || c->listed >= 0) {
            continue;
        }
        while (first < sim->warm_count && compare_pair(&sim->warm[first], c) < 0) {
            first++;
        }
        int end = first;
        while (end < sim->warm_count && compare_pair(&sim->warm[end], c) == 0) {
            end++;
        }
        int nearest = find_nearest(sim, c, first, end, used);
        if (nearest >= 0) {
            take_warm(rows, i, &sim->warm[nearest], guess);
            fresh[i] = false;
            used[nearest] = true;
            known++;
        }
    }
    return known;
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
    bool *fresh = PP_ZEROS(sim->arena, bool, rows->nc);
    bool *used = PP_ZEROS(sim->arena, bool, sim->warm_count);
    if (!guess || !fresh || !used) {
        sim->info.effort.warm_started = 0;
        return guess;
    }
    for (int i = 0; i < rows->nc; i++) {
        fresh[i] = true;
    }
    // in the plane features are vertices, which stay what they are
    int known = take_same_features(sim, sim->model->spatial, guess, fresh, used);
    if (known < rows->nc && sim->model->spatial) {
        known += take_same_places(sim, guess, fresh, used);
        known += take_same_features(sim, false, guess, fresh, used);
    }
    bool any = known < rows->nc;
    for (int i = rows->nc; i < rows->nn; i++) {
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
