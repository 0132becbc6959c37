// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// An island taken out of a step's problem, and its answer put back.
//
// Bodies and rows keep their order within the island, so that its numbers, and the bits of its answer, are those it
// would have by itself. Names, shapes and joints stay those of the whole model (pp_solve_inputs.whole).
#include "solve/islands.h"

#include <string.h>

static int count_in_island(const pp_by_island *s, int island)
{
    return s->start[island + 1] - s->start[island];
}

static const int *list_of(const pp_by_island *s, int island)
{
    return s->list + s->start[island];
}

// Bodies with their masses, forces and velocities, which are contiguous again: body->at is numbered
// anew.
static bool copy_bodies(pp_island_problem *p, const pp_undivided *w, pp_arena *arena)
{
    const int *list = list_of(&w->parts->body, p->island);
    perp_model *m = &p->model;
    *m = *w->inputs->model;
    p->kin = *w->inputs->kin;
    m->bodies = count_in_island(&w->parts->body, p->island);
    m->body = PP_ARRAY(arena, pp_body, m->bodies);
    p->kin.mass = PP_ARRAY(arena, pp_inertia, m->bodies);
    p->kin.loads.p_ext = PP_ARRAY(arena, double, PP_BODY_NV *(size_t)m->bodies);
    p->nu = PP_ARRAY(arena, double, PP_BODY_NV *(size_t)m->bodies);
    if (!m->body || !p->kin.mass || !p->kin.loads.p_ext || !p->nu) {
        return false;
    }
    // each body's velocities follow those of the body before
    m->nv = 0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &w->inputs->model->body[list[i]];
        size_t bytes = (size_t)body->nv * sizeof *p->nu;
        m->body[i] = *body;
        m->body[i].at = m->nv;
        p->kin.mass[i] = w->inputs->kin->mass[list[i]];
        memcpy(p->kin.loads.p_ext + m->nv, w->inputs->kin->loads.p_ext + body->at, bytes);
        memcpy(p->nu + m->nv, w->inputs->nu + body->at, bytes);
        m->nv += body->nv;
    }
    return true;
}

// A row with its bodies by their numbers in the island.
static void copy_row(pp_row *to, const pp_row *from, const int *local)
{
    pp_row_copy(to, from);
    for (int k = 0; k < from->count; k++) {
        to->body[k] = local[from->body[k]];
    }
}

// Rows of one kind; NULL: out of memory.
static pp_row *copy_island_rows(const pp_undivided *w, const pp_by_island *sorted, int island,
                                const pp_row *rows, pp_arena *arena)
{
    int count = count_in_island(sorted, island);
    const int *list = list_of(sorted, island);
    pp_row *to = PP_ARRAY(arena, pp_row, count);
    if (!to) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        copy_row(&to[i], &rows[list[i]], w->local);
    }
    return to;
}

// Friction groups and their rows. Normal rows of the island are in the order of the whole, and so
// are the groups of each: the new number n of a group's normal row is found by going along both
// lists once.
static bool copy_friction(pp_island_problem *p, const pp_undivided *w, pp_arena *arena)
{
    const pp_rows *from = w->inputs->rows;
    pp_rows *to = &p->rows;
    const int *list = list_of(&w->parts->group, p->island);
    const int *normal = list_of(&w->parts->n, p->island);
    to->ng = count_in_island(&w->parts->group, p->island);
    for (int g = 0; g < to->ng; g++) {
        to->nt += from->group[list[g]].size;
    }
    to->group = PP_ARRAY(arena, pp_friction, to->ng);
    to->t = PP_ARRAY(arena, pp_row, to->nt);
    to->friction = PP_ARRAY(arena, int, to->nn);
    to->grouped = PP_ZEROS(arena, int, to->nn);
    p->t = PP_ARRAY(arena, int, to->nt);
    if (!to->group || !to->t || !to->friction || !to->grouped || !p->t) {
        return false;
    }
    for (int i = 0; i < to->nn; i++) {
        to->friction[i] = -1;
    }
    // friction[n]: first group of normal row n, grouped[n]: how many it has
    for (int g = 0, n = 0, t = 0; g < to->ng; g++) {
        const pp_friction *group = &from->group[list[g]];
        while (normal[n] != group->n) {
            n++;
        }
        to->friction[n] = to->grouped[n]++ > 0 ? to->friction[n] : g;
        to->group[g] = *group;
        to->group[g].n = n;
        to->group[g].t = t;
        to->nf += group->directions;
        for (int k = 0; k < group->size; k++, t++) {
            p->t[t] = group->t + k;
            copy_row(&to->t[t], &from->t[group->t + k], w->local);
        }
    }
    return true;
}

// Impulses to start from, p_n then p_t; needs p->t of copy_friction.
static bool copy_warm(pp_island_problem *p, const pp_undivided *w, pp_arena *arena)
{
    const double *warm = w->inputs->warm;
    const int *normal = list_of(&w->parts->n, p->island);
    p->warm = NULL;
    if (!warm) {
        return true;
    }
    const int *boxed = list_of(&w->parts->m, p->island);
    const pp_rows *all = w->inputs->rows;
    p->warm = PP_ARRAY(arena, double, (size_t)p->rows.nn + (size_t)p->rows.nt + (size_t)p->rows.nm);
    if (!p->warm) {
        return false;
    }
    for (int i = 0; i < p->rows.nn; i++) {
        p->warm[i] = warm[normal[i]];
    }
    for (int i = 0; i < p->rows.nt; i++) {
        p->warm[p->rows.nn + i] = warm[all->nn + p->t[i]];
    }
    for (int i = 0; i < p->rows.nm; i++) {
        p->warm[p->rows.nn + p->rows.nt + i] = warm[all->nn + all->nt + boxed[i]];
    }
    return true;
}

bool pp_island_problem_copy(pp_island_problem *p, const pp_undivided *w, int island,
                            pp_arena *arena)
{
    const pp_island_partition *parts = w->parts;
    pp_rows *to = &p->rows;
    p->island = island;
    *to = (pp_rows){.nb = count_in_island(&parts->b, island),
                    .nm = count_in_island(&parts->m, island),
                    .nn = count_in_island(&parts->n, island)};
    to->b = copy_island_rows(w, &parts->b, island, w->inputs->rows->b, arena);
    to->m = copy_island_rows(w, &parts->m, island, w->inputs->rows->m, arena);
    to->n = copy_island_rows(w, &parts->n, island, w->inputs->rows->n, arena);
    // Normal rows are contacts first (nc of them), then limits of joints; so they are in the
    // island.
    const int *normal = list_of(&parts->n, island);
    while (to->nc < to->nn && normal[to->nc] < w->inputs->rows->nc) {
        to->nc++;
    }
    to->contact = PP_ARRAY(arena, int, to->nc);
    if (!to->b || !to->m || !to->n || !to->contact) {
        return false;
    }
    for (int i = 0; i < to->nc; i++) {
        to->contact[i] = w->inputs->rows->contact[normal[i]];
    }
    return copy_bodies(p, w, arena) && copy_friction(p, w, arena) && copy_warm(p, w, arena);
}

// Velocities, and those at the end of compression where some island has two phases.
static void put_bodies(const pp_island_problem *p, const pp_undivided *w, const pp_answer *a)
{
    const int *list = list_of(&w->parts->body, p->island);
    for (int i = 0; i < p->model.bodies; i++) {
        const pp_body *body = &p->model.body[i];
        int at = w->inputs->model->body[list[i]].at;
        size_t bytes = (size_t)body->nv * sizeof *a->nu;
        memcpy(w->out->nu + at, a->nu + body->at, bytes);
        if (w->nu_c) {
            memcpy(w->nu_c + at, (a->impact ? a->impact->nu : a->nu) + body->at, bytes);
        }
    }
}

// Islands without a second phase ended where compression did: it gives nothing back there.
static void put_compression(const pp_island_problem *p, const pp_undivided *w, const pp_answer *a)
{
    const int *normal = list_of(&w->parts->n, p->island);
    const pp_impact *c = a->impact;
    for (int i = 0; i < p->rows.nn; i++) {
        w->pn_c[normal[i]] = c ? c->pn[i] : a->pn[i];
        w->back[normal[i]] = c ? c->back[i] : 0.0;
    }
    for (int i = 0; i < p->rows.nt; i++) {
        w->pt_c[p->t[i]] = c ? c->pt[i] : a->pt[i];
    }
}

void pp_island_problem_put(const pp_island_problem *p, const pp_undivided *w, const pp_answer *a)
{
    const pp_island_partition *parts = w->parts;
    pp_answer *out = w->out;
    int island = p->island;
    // every row and body belongs to one island: threads write to different places
    put_bodies(p, w, a);
    for (int i = 0; i < p->rows.nb; i++) {
        int b = list_of(&parts->b, island)[i];
        out->pb[b] = a->pb[i];
        w->follows[b] = a->follows[i];
    }
    for (int i = 0; i < p->rows.nm; i++) {
        out->pm[list_of(&parts->m, island)[i]] = a->pm[i];
    }
    for (int i = 0; i < p->rows.nn; i++) {
        out->pn[list_of(&parts->n, island)[i]] = a->pn[i];
    }
    for (int i = 0; i < p->rows.nt; i++) {
        out->pt[p->t[i]] = a->pt[i];
    }
    for (int g = 0; g < p->rows.ng; g++) {
        out->sigma[list_of(&parts->group, island)[g]] = a->sigma[g];
    }
    if (w->nu_c) {
        put_compression(p, w, a);
    }
}
