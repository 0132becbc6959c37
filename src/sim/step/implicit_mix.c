// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Extrapolation of the rounds of the implicit step. Rounds leave out how normals and arms of contacts turn with the answer,
// so that they converge linearly. From one with the same contacts to the next the map x -> g(x), from velocities and
// impulses of a round to those of the next one, is smooth, and the next point is
//
//   g - dG c,   c = argmin |f - dF c|,   f = g - x                                           theory (C31)
//
// with the differences of the last rounds (Anderson 1965). Velocities make the norm, turns at the reach of their body.
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 4 };                   // differences
static const double PARALLEL = 1e-6;  // part of a difference that is new
// |f| over the last one: above the first differences are forgotten, below the second rounds converge fast without them.
static const double FALLS = 0.9, FAST = 0.05;
// |f| over the velocities that is rounding of what redundant contacts share: differences of it say nothing.
static const double ROUNDING = 1e-10;

struct pp_round_mix {
    int nv, size;       // velocities; and all numbers
    double *x, *f, *g;  // the point; g(x) - x, and g(x), of the last round
    double *dF, *dG;    // DEPTH columns
    double norm;        // |f|
    int count;
};

// Velocities, then impulses, of the answer.
static void pack(const perp_sim *sim, const pp_round_mix *a, double *x)
{
    const pp_answer *z = &sim->step.answer;
    const pp_rows *rows = &sim->step.row;
    const double *part[] = {z->nu, z->pn, z->pt, z->pm, z->pb};
    const int count[] = {a->nv, rows->nn, rows->nt, rows->nm, rows->nb};
    for (int k = 0; k < 5; k++) {
        if (count[k] > 0) {
            memcpy(x, part[k], (size_t)count[k] * sizeof *x);
            x += count[k];
        }
    }
}

// Islands that hold where they lead stay as they are.
static bool row_stays(const perp_sim *sim, const pp_row *row)
{
    bool all = row->count > 0;
    for (int e = 0; e < row->count; e++) {
        all = all && (sim->step.stays[row->body[e]] || sim->model->body[row->body[e]].nv == 0);
    }
    return all;
}

// x of them becomes `from`.
static void keep_staying(const perp_sim *sim, const double *from, double *x)
{
    const pp_rows *rows = &sim->step.row;
    const pp_row *of[] = {rows->n, rows->t, rows->m, rows->b};
    const int count[] = {rows->nn, rows->nt, rows->nm, rows->nb};
    size_t at = (size_t)sim->model->nv;
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_body *body = &sim->model->body[i];
        if (sim->step.stays[i]) {
            memcpy(x + body->at, from + body->at, (size_t)body->nv * sizeof *x);
        }
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count[k]; i++, at++) {
            x[at] = row_stays(sim, &of[k][i]) ? from[at] : x[at];
        }
    }
}

static void unpack(perp_sim *sim, const pp_round_mix *a, const double *x)
{
    pp_answer *z = &sim->step.answer;
    const pp_rows *rows = &sim->step.row;
    double *part[] = {z->nu, z->pn, z->pt, z->pm, z->pb};
    const int count[] = {a->nv, rows->nn, rows->nt, rows->nm, rows->nb};
    for (int k = 0; k < 5; k++) {
        if (count[k] > 0) {
            memcpy(part[k], x, (size_t)count[k] * sizeof *x);
            x += count[k];
        }
    }
    for (int n = 0; n < rows->nn; n++) {
        z->pn[n] = fmax(z->pn[n], 0.0);
    }
    for (int i = 0; i < rows->nm; i++) {
        z->pm[i] = pp_clamp(z->pm[i], rows->m[i].lower, rows->m[i].upper);
    }
}

pp_round_mix *pp_sim_mix_begin(const perp_sim *sim, pp_round_mix *last, bool same)
{
    const pp_rows *rows = &sim->step.row;
    int nv = sim->model->nv, size = nv + rows->nn + rows->nt + rows->nm + rows->nb;
    if (!last || !same || last->size != size) {
        last = PP_ZEROS(sim->arena, pp_round_mix, 1);
        double *reals =
            last ? PP_ZEROS(sim->arena, double, (3 + 2 * (size_t)DEPTH) * (size_t)size) : NULL;
        if (!reals) {
            return NULL;
        }
        *last = (pp_round_mix){.nv = nv, .size = size, .norm = PP_INF};
        last->x = reals;
        last->f = last->x + size;
        last->g = last->f + size;
        last->dF = last->g + size;
        last->dG = last->dF + (size_t)DEPTH * (size_t)size;
    }
    pack(sim, last, last->x);
    return last;
}

// Turns at the reach of their body.
static void weigh(const perp_sim *sim, double *f)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_body *body = &sim->model->body[i];
        for (int k = 0; k < body->nv; k++) {
            f[body->at + k] *= body->axis[k] < 3 || !(body->reach > 0.0) ? 1.0 : body->reach;
        }
    }
}

// x = g - dG c, with c by Gram and Schmidt from the last difference on.
static bool extrapolate(const perp_sim *sim, const pp_round_mix *a, double *x)
{
    int kept = 0, have = a->count < DEPTH ? a->count : DEPTH;
    size_t size = (size_t)a->size;
    double *Q = PP_ARRAY(sim->arena, double, 2 * DEPTH * size),
           *f = PP_ARRAY(sim->arena, double, size);
    if (!Q || !f) {
        return false;
    }
    double *D = Q + DEPTH * size;
    memcpy(f, a->f, size * sizeof *f);
    memcpy(x, a->g, size * sizeof *x);
    for (int j = 1; j <= have; j++) {
        size_t from = (size_t)((a->count - j) % DEPTH) * size;
        double *q = Q + (size_t)kept * size, *d = D + (size_t)kept * size;
        memcpy(q, a->dF + from, size * sizeof *q);
        memcpy(d, a->dG + from, size * sizeof *d);
        // the part of dF that the later differences do not have, and dG of the same combination
        double length = sqrt(pp_dot(a->nv, q, q));
        for (int i = 0; i < kept; i++) {
            double c = pp_dot(a->nv, q, Q + (size_t)i * size);
            pp_axpy(a->nv, -c, Q + (size_t)i * size, q);
            pp_axpy(a->size, -c, D + (size_t)i * size, d);
        }
        double left = sqrt(pp_dot(a->nv, q, q));
        if (!(left > PARALLEL * length)) {
            continue;
        }
        for (size_t i = 0; i < size; i++) {
            q[i] /= left;
            d[i] /= left;
        }
        double c = pp_dot(a->nv, q, f);
        pp_axpy(a->nv, -c, q, f);
        pp_axpy(a->size, -c, d, x);
        kept++;
    }
    return kept > 0;
}

perp_status pp_sim_mix_end(perp_sim *sim, pp_round_mix *a)
{
    size_t size = (size_t)a->size;
    double *f = PP_ARRAY(sim->arena, double, size), *g = PP_ARRAY(sim->arena, double, size);
    if (!f || !g) {
        return PERP_ERR_MEMORY;
    }
    pack(sim, a, g);
    for (size_t i = 0; i < size; i++) {
        f[i] = g[i] - a->x[i];
    }
    weigh(sim, f);
    double norm = sqrt(pp_dot(a->nv, f, f)), speed = sqrt(pp_dot(a->nv, g, g));
    bool falls = norm < FALLS * a->norm && norm > ROUNDING * speed, fast = norm < FAST * a->norm;
    // differences to the last round, in place of the oldest
    if (falls && a->norm < PP_INF) {
        size_t to = (size_t)(a->count % DEPTH) * size;
        for (size_t i = 0; i < size; i++) {
            a->dF[to + i] = f[i] - a->f[i];
            a->dG[to + i] = g[i] - a->g[i];
        }
        a->count++;
    } else {
        a->count = 0;
    }
    memcpy(a->f, f, size * sizeof *f);
    memcpy(a->g, g, size * sizeof *g);
    a->norm = norm;
    if (a->count > 0 && !fast && extrapolate(sim, a, g) && pp_all_finite(size, g)) {
        keep_staying(sim, a->g, g);
        unpack(sim, a, g);
    }
    return PERP_OK;
}
