// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Islands at rest. An island whose problem has the bits of the step before has the answer of the step before: rows, masses,
// forces, velocities and the impulses that it starts from are compared with a copy, and the answer is put in place. theory (S19)
//
// A copy is made where the answer has the impulses that the solve started from and took no factorisation: only then can
// the next step have the same problem.
#include "solve/islands.h"

#include <stddef.h>
#include <string.h>

// What an island's problem depends on beside its bodies and rows. Set to zero before it is filled: bytes are compared.
typedef struct known_terms {
    double h, tolerance, most_slop, most_sink;
    perp_vec3 gravity;
    const char *solver;
    int form, impact, max_iterations;
    int bodies, nb, nm, nn, nt, ng, fresh, warm;
} known_terms;

struct pp_known {
    known_terms terms;
    double allowed;  // factorisations; 0: no limit
    void *block;     // of all arrays below
    size_t size;
    int *body;           // bodies, by their numbers in the model
    pp_inertia *mass;    // of each
    double *p_ext, *nu;  // of each, PP_BODY_NV numbers
    pp_row *b, *m, *n, *t;
    pp_friction *group;  // with n and t counted within the island
    double *warm;        // nn + nt + nm
    pp_answer told;
    double *nu_out;  // as nu
    double *pb, *pm, *pn, *pt, *sigma;
    bool *follows;
    bool valid;
};

static int count_of(const pp_by_island *s, int island)
{
    return s->start[island + 1] - s->start[island];
}

static const int *list_of(const pp_by_island *s, int island)
{
    return s->list + s->start[island];
}

// Padding and the blocks of bodies that a row does not have are not compared.
static bool same_row(const pp_row *a, const pp_row *b)
{
    if (a->count != b->count ||
        !pp_same_bits(&a->value, &b->value, offsetof(pp_row, drives) - offsetof(pp_row, value))) {
        return false;
    }
    for (int k = 0; k < a->count; k++) {
        if (a->body[k] != b->body[k] || !pp_same_bits(a->J[k], b->J[k], sizeof a->J[k])) {
            return false;
        }
    }
    return a->drives == b->drives && a->stabilised == b->stabilised && a->spring == b->spring &&
           a->bounces == b->bounces && a->middle == b->middle && a->joint == b->joint &&
           a->force == b->force && a->actuator == b->actuator;
}

static bool same_rows(const pp_row *known, const pp_row *rows, const int *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (!same_row(&known[i], &rows[list[i]])) {
            return false;
        }
    }
    return true;
}

static known_terms terms_of(const pp_undivided *w, int island)
{
    const pp_solve_options *o = w->options;
    const int *group = list_of(&w->parts->group, island);
    known_terms t;
    memset(&t, 0, sizeof t);
    t.h = w->inputs->kin->h;
    t.tolerance = o->tolerance;
    t.most_slop = o->most_slop;
    t.most_sink = o->most_sink;
    t.gravity = w->inputs->model->gravity;
    t.solver = o->solver;
    t.form = (int)o->form;
    t.impact = (int)o->impact;
    t.max_iterations = o->max_iterations;
    t.bodies = count_of(&w->parts->body, island);
    t.nb = count_of(&w->parts->b, island);
    t.nm = count_of(&w->parts->m, island);
    t.nn = count_of(&w->parts->n, island);
    t.ng = count_of(&w->parts->group, island);
    t.fresh = w->inputs->fresh;
    t.warm = w->inputs->warm != NULL;
    for (int g = 0; g < t.ng; g++) {
        t.nt += w->inputs->rows->group[group[g]].size;
    }
    return t;
}

// A limit on work that was not reached then, and would not have been now, has decided nothing.
static bool same_limit(const pp_known *k, double allowed)
{
    double work = k->told.effort.work;
    return (allowed == 0.0 || work < allowed) && (k->allowed == 0.0 || work < k->allowed);
}

static bool same_bodies(const pp_known *k, const pp_undivided *w, int island)
{
    const int *list = list_of(&w->parts->body, island);
    const pp_kinematics *kin = w->inputs->kin;
    for (int i = 0; i < k->terms.bodies; i++) {
        const pp_body *body = &w->inputs->model->body[list[i]];
        size_t at = (size_t)i * PP_BODY_NV, bytes = (size_t)body->nv * sizeof *k->nu;
        if (k->body[i] != list[i] || !pp_same_bits(k->nu + at, w->inputs->nu + body->at, bytes) ||
            !pp_same_bits(k->p_ext + at, kin->loads.p_ext + body->at, bytes) ||
            !pp_same_bits(&k->mass[i], &kin->mass[list[i]], sizeof *k->mass)) {
            return false;
        }
    }
    return true;
}

// Friction groups, their rows and the impulses to start from.
static bool same_friction(const pp_known *k, const pp_undivided *w, int island)
{
    const pp_rows *rows = w->inputs->rows;
    const int *list = list_of(&w->parts->group, island), *normal = list_of(&w->parts->n, island);
    for (int g = 0, t = 0; g < k->terms.ng; g++) {
        const pp_friction *a = &k->group[g], *b = &rows->group[list[g]];
        if (a->kind != b->kind || normal[a->n] != b->n || a->size != b->size ||
            a->facets != b->facets || a->directions != b->directions ||
            !pp_same_bits(&a->mu, &b->mu, sizeof a->mu)) {
            return false;
        }
        for (int i = 0; i < a->size; i++, t++) {
            const double *warm = &w->inputs->warm[rows->nn + b->t + i];
            if (!same_row(&k->t[t], &rows->t[b->t + i]) ||
                !pp_same_bits(&k->warm[k->terms.nn + t], warm, sizeof *warm)) {
                return false;
            }
        }
    }
    return true;
}

static bool same_warm(const pp_known *k, const pp_undivided *w, int island)
{
    const pp_rows *rows = w->inputs->rows;
    const int *normal = list_of(&w->parts->n, island), *boxed = list_of(&w->parts->m, island);
    const double *warm = w->inputs->warm;
    for (int i = 0; i < k->terms.nn; i++) {
        if (!pp_same_bits(&k->warm[i], &warm[normal[i]], sizeof *warm)) {
            return false;
        }
    }
    for (int i = 0; i < k->terms.nm; i++) {
        if (!pp_same_bits(&k->warm[k->terms.nn + k->terms.nt + i],
                          &warm[rows->nn + rows->nt + boxed[i]], sizeof *warm)) {
            return false;
        }
    }
    return true;
}

bool pp_known_fits(const pp_known *k, const pp_undivided *w, int island, double allowed)
{
    if (!k || !k->valid || w->nu_c || w->options->deadline > 0.0) {
        return false;
    }
    const known_terms t = terms_of(w, island);
    const pp_rows *rows = w->inputs->rows;
    return pp_same_bits(&t, &k->terms, sizeof t) && same_limit(k, allowed) &&
           same_bodies(k, w, island) && same_warm(k, w, island) &&
           same_rows(k->n, rows->n, list_of(&w->parts->n, island), t.nn) &&
           same_friction(k, w, island) &&
           same_rows(k->m, rows->m, list_of(&w->parts->m, island), t.nm) &&
           same_rows(k->b, rows->b, list_of(&w->parts->b, island), t.nb);
}

void pp_known_put(const pp_known *k, const pp_undivided *w, int island, pp_answer *told)
{
    const pp_island_partition *parts = w->parts;
    pp_answer *out = w->out;
    const int *group = list_of(&parts->group, island);
    *told = k->told;
    // every row and body belongs to one island: threads write to different places
    for (int i = 0; i < k->terms.bodies; i++) {
        const pp_body *body = &w->inputs->model->body[k->body[i]];
        memcpy(out->nu + body->at, k->nu_out + (size_t)i * PP_BODY_NV,
               (size_t)body->nv * sizeof *out->nu);
    }
    for (int i = 0; i < k->terms.nb; i++) {
        int b = list_of(&parts->b, island)[i];
        out->pb[b] = k->pb[i];
        w->follows[b] = k->follows[i];
    }
    for (int i = 0; i < k->terms.nm; i++) {
        out->pm[list_of(&parts->m, island)[i]] = k->pm[i];
    }
    for (int i = 0; i < k->terms.nn; i++) {
        out->pn[list_of(&parts->n, island)[i]] = k->pn[i];
    }
    for (int g = 0, t = 0; g < k->terms.ng; g++) {
        const pp_friction *of = &w->inputs->rows->group[group[g]];
        out->sigma[group[g]] = k->sigma[g];
        for (int i = 0; i < of->size; i++, t++) {
            out->pt[of->t + i] = k->pt[t];
        }
    }
}

// ── Copies ───────────────────────────────────────────────────────────────────────────────────────

// Whether the impulses of an answer are those that it started from.
static bool is_as_it_started(const pp_undivided *w, int island, const known_terms *t)
{
    const pp_rows *rows = w->inputs->rows;
    const double *warm = w->inputs->warm;
    const int *normal = list_of(&w->parts->n, island), *boxed = list_of(&w->parts->m, island),
              *group = list_of(&w->parts->group, island);
    for (int i = 0; i < t->nn; i++) {
        if (!pp_same_bits(&warm[normal[i]], &w->out->pn[normal[i]], sizeof *warm)) {
            return false;
        }
    }
    for (int g = 0; g < t->ng; g++) {
        const pp_friction *of = &rows->group[group[g]];
        if (!pp_same_bits(&warm[rows->nn + of->t], &w->out->pt[of->t],
                          (size_t)of->size * sizeof *warm)) {
            return false;
        }
    }
    for (int i = 0; i < t->nm; i++) {
        if (!pp_same_bits(&warm[rows->nn + rows->nt + boxed[i]], &w->out->pm[boxed[i]],
                          sizeof *warm)) {
            return false;
        }
    }
    return true;
}

// Whether the bodies keep their velocities.
static bool keeps_velocities(const pp_undivided *w, int island)
{
    const int *list = list_of(&w->parts->body, island);
    for (int i = 0; i < count_of(&w->parts->body, island); i++) {
        const pp_body *body = &w->inputs->model->body[list[i]];
        if (!pp_same_bits(w->out->nu + body->at, w->inputs->nu + body->at,
                          (size_t)body->nv * sizeof *w->out->nu)) {
            return false;
        }
    }
    return true;
}

// The next part of a block, of a size that keeps all of it aligned. With no block only the size is counted.
static void *take(char *block, size_t *at, size_t count, size_t size)
{
    void *p = block ? block + *at : NULL;
    *at += (count * size + 15) / 16 * 16;
    return p;
}

static size_t lay_out(pp_known *k, char *block)
{
    const known_terms *t = &k->terms;
    size_t at = 0, bodies = (size_t)t->bodies, nn = (size_t)t->nn, nt = (size_t)t->nt,
           nm = (size_t)t->nm, nb = (size_t)t->nb, ng = (size_t)t->ng;
    k->body = take(block, &at, bodies, sizeof *k->body);
    k->mass = take(block, &at, bodies, sizeof *k->mass);
    k->p_ext = take(block, &at, PP_BODY_NV * bodies, sizeof *k->p_ext);
    k->nu = take(block, &at, PP_BODY_NV * bodies, sizeof *k->nu);
    k->nu_out = take(block, &at, PP_BODY_NV * bodies, sizeof *k->nu_out);
    k->b = take(block, &at, nb, sizeof *k->b);
    k->m = take(block, &at, nm, sizeof *k->m);
    k->n = take(block, &at, nn, sizeof *k->n);
    k->t = take(block, &at, nt, sizeof *k->t);
    k->group = take(block, &at, ng, sizeof *k->group);
    k->warm = take(block, &at, nn + nt + nm, sizeof *k->warm);
    k->pb = take(block, &at, nb, sizeof *k->pb);
    k->pm = take(block, &at, nm, sizeof *k->pm);
    k->pn = take(block, &at, nn, sizeof *k->pn);
    k->pt = take(block, &at, nt, sizeof *k->pt);
    k->sigma = take(block, &at, ng, sizeof *k->sigma);
    k->follows = take(block, &at, nb, sizeof *k->follows);
    return at;
}

static void copy_problem(pp_known *k, const pp_undivided *w, int island)
{
    const pp_island_partition *parts = w->parts;
    const pp_rows *rows = w->inputs->rows;
    const double *warm = w->inputs->warm;
    const known_terms *t = &k->terms;
    const int *body = list_of(&parts->body, island), *b = list_of(&parts->b, island),
              *m = list_of(&parts->m, island), *n = list_of(&parts->n, island),
              *group = list_of(&parts->group, island);
    for (int i = 0; i < t->bodies; i++) {
        const pp_body *of = &w->inputs->model->body[body[i]];
        size_t at = (size_t)i * PP_BODY_NV, bytes = (size_t)of->nv * sizeof *k->nu;
        k->body[i] = body[i];
        k->mass[i] = w->inputs->kin->mass[body[i]];
        memcpy(k->p_ext + at, w->inputs->kin->loads.p_ext + of->at, bytes);
        memcpy(k->nu + at, w->inputs->nu + of->at, bytes);
        memcpy(k->nu_out + at, w->out->nu + of->at, bytes);
    }
    for (int i = 0; i < t->nb; i++) {
        k->b[i] = rows->b[b[i]];
        k->pb[i] = w->out->pb[b[i]];
        k->follows[i] = w->follows[b[i]];
    }
    for (int i = 0; i < t->nm; i++) {
        k->m[i] = rows->m[m[i]];
        k->pm[i] = w->out->pm[m[i]];
        k->warm[t->nn + t->nt + i] = warm[rows->nn + rows->nt + m[i]];
    }
    for (int i = 0; i < t->nn; i++) {
        k->n[i] = rows->n[n[i]];
        k->pn[i] = w->out->pn[n[i]];
        k->warm[i] = warm[n[i]];
    }
    // groups are in the order of their normal rows
    for (int g = 0, at = 0, i = 0; g < t->ng; g++) {
        const pp_friction *of = &rows->group[group[g]];
        while (n[i] != of->n) {
            i++;
        }
        k->group[g] = *of;
        k->group[g].n = i;
        k->sigma[g] = w->out->sigma[group[g]];
        for (int j = 0; j < of->size; j++, at++) {
            k->t[at] = rows->t[of->t + j];
            k->pt[at] = w->out->pt[of->t + j];
            k->warm[t->nn + at] = warm[rows->nn + of->t + j];
        }
    }
}

void pp_known_keep(pp_known **known, const perp_env *env, const pp_undivided *w, int island,
                   const pp_answer *told, double allowed)
{
    const known_terms t = terms_of(w, island);
    pp_known *k = *known;
    if (k) {
        k->valid = false;
    }
    bool rests = !w->nu_c && w->inputs->warm && told->effort.factorisations == 0 &&
                 !told->worked_off && told->remark[0] == '\0' && keeps_velocities(w, island) &&
                 is_as_it_started(w, island, &t);
    if (!rests) {
        return;
    }
    if (!k) {
        k = *known = pp_alloc(env, sizeof *k);
        if (!k) {
            return;
        }
        *k = (pp_known){0};
    }
    k->terms = t;
    size_t size = lay_out(k, NULL);
    if (size > k->size) {
        pp_free(env, k->block, k->size);
        k->block = pp_alloc(env, size);
        k->size = k->block ? size : 0;
        if (!k->block) {
            return;
        }
    }
    lay_out(k, k->block);
    k->allowed = allowed;
    k->told = *told;
    // its arrays are those of the step
    k->told.nu = k->told.pb = k->told.pm = k->told.pn = k->told.pt = k->told.sigma = NULL;
    k->told.closed = NULL;
    k->told.follows = NULL;
    k->told.effort.seconds_joints = k->told.effort.seconds_modes = 0.0;
    k->told.effort.seconds_sweeps = k->told.effort.seconds_exact = 0.0;
    k->told.effort.seconds_judge = k->told.effort.seconds_spread = 0.0;
    k->told.effort.seconds_factor = 0.0;
    copy_problem(k, w, island);
    k->valid = true;
}

void pp_known_forget(pp_known *k)
{
    if (k) {
        k->valid = false;
    }
}

void pp_known_free(pp_known *k, const perp_env *env)
{
    if (k) {
        pp_free(env, k->block, k->size);
        pp_free(env, k, sizeof *k);
    }
}
