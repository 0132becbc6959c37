// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Loose tolerances: contacts swept from their last impulses until the worst row is within the tolerance.
//
// No matrix is assembled: contacts are laid out from the rows, and the velocities of bodies follow every
// change (comp/sweep.h). What a sweep changes says when to look at the residual, which costs nearly as much as a
// sweep.
#include "solve/run.h"

#include "comp/sweep.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_MOST = 300, MANY = 60 };

// From this tolerance on sweeps are the first thing tried.
static const double LOOSE = 1e-4;
// One row may be off by so much more than all together [m/s per unit of tolerance].
static const double WORST_ROW = 100.0;
// What Newton's method takes for each of many contacts, about [s].
static const double NEWTON_SECONDS = 2e-5;

// No time for a few factorisations; iterations of many contacts are sweeps.
static bool hurried(const pp_run *r)
{
    const pp_solve_options *o = r->options;
    bool few = o->max_iterations > 0 && o->max_iterations <= SWEEPS_MOST && r->rows->nn > MANY;
    return few || (o->deadline > 0.0 && o->deadline - pp_seconds() < NEWTON_SECONDS * r->rows->nn);
}

static bool fits(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    bool asked = !r->options->solver || strcmp(r->options->solver, "auto") == 0;
    if (!asked || !(r->options->tolerance >= LOOSE || hurried(r)) || !r->model->spatial ||
        r->in.tree || rows->nb + rows->nm > 0 || rows->nn != rows->nc || rows->nn == 0 ||
        r->options->impact == PERP_IMPACT_POISSON) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        if (group->kind != PP_SLIDE || group->facets > 0 || group->size != 2) {
            return false;
        }
    }
    return true;
}

static void lay_row(const pp_run *r, const pp_row *row, int i, pp_sweep_contact *c)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &r->model->body[row->body[k]];
        double *J = c->J[k] + 6 * i, *T = c->T[k] + 6 * i;
        memcpy(J, row->J[k], (size_t)body->nv * sizeof *J);
        pp_body_solve(body, &r->kin->mass[row->body[k]], J, T);
        for (int j = body->nv; j < PP_SWEEP_V; j++) {
            J[j] = T[j] = 0.0;
        }
    }
    c->w[i] = row->rate + row->bias;
}

// False: nothing of it moves, or its rows are not those of two bodies.
static bool lay_contact(const pp_run *r, int i, pp_sweep_contact *c)
{
    const pp_rows *rows = r->rows;
    const pp_row *n = &rows->n[i];
    const double *warm = r->options->warm;
    const pp_friction *group = rows->grouped[i] > 0 ? &rows->group[rows->friction[i]] : NULL;
    c->at = i;
    c->mu = group ? group->mu : 0.0;
    c->body[0] = n->count > 0 ? n->body[0] : -1;
    c->body[1] = n->count > 1 ? n->body[1] : -1;
    c->r[0] = warm ? warm[i] : 0.0;
    lay_row(r, n, 0, c);
    for (int k = 0; k < 2; k++) {
        if (group) {
            lay_row(r, &rows->t[group->t + k], k + 1, c);
        } else {
            memset(c->J[k] + 6, 0, 2 * PP_SWEEP_V * sizeof(double));
            memset(c->T[k] + 6, 0, 2 * PP_SWEEP_V * sizeof(double));
            c->w[k + 1] = 0.0;
        }
        c->r[k + 1] = warm && group ? warm[rows->nn + group->t + k] : 0.0;
    }
    return pp_sweep_prepare(c);
}

perp_status pp_run_lay_sweep(pp_run *r, pp_sweep *s, bool *fit)
{
    const pp_rows *rows = r->rows;
    size_t count = (size_t)rows->nn;
    int *body = PP_ARRAY(r->arena, int, 2 * count);
    int *order = PP_ARRAY(r->arena, int, count);
    *s = (pp_sweep){.count = rows->nn, .bodies = r->model->bodies, .team = r->kin->team};
    s->contact = PP_ARRAY(r->arena, pp_sweep_contact, count);
    s->v = PP_ZEROS(r->arena, double, PP_SWEEP_V *(size_t)s->bodies);
    if (!body || !order || !s->contact || !s->v) {
        return PERP_ERR_MEMORY;
    }
    *fit = true;
    for (int i = 0; i < rows->nn; i++) {
        for (int k = 0; k < 2; k++) {
            body[2 * i + k] = k < rows->n[i].count ? rows->n[i].body[k] : -1;
        }
        *fit = *fit && rows->n[i].count <= 2;
    }
    perp_status status = *fit ? pp_sweep_colour(s, body, r->arena, order) : PERP_OK;
    for (int i = 0; status >= 0 && *fit && i < rows->nn; i++) {
        *fit = lay_contact(r, order[i], &s->contact[i]);
    }
    return status;
}

// ── Iteration ────────────────────────────────────────────────────────────────────────────────────

// Sweeps with momentum: the change of a sweep is the gradient of a conjugate direction, which starts over
// when changes grow (Silcowitz, Niebe, Erleben 2010). Velocities are affine in impulses, and go along.
typedef struct pace {
    double *r, *v;            // before the sweep: 3 count, 6 bodies
    double *along, *along_v;  // direction
    double squares;           // of the last change
} pace;

static bool start_pace(const pp_sweep *s, pp_arena *arena, pace *p)
{
    size_t n = 3 * (size_t)s->count, m = PP_SWEEP_V * (size_t)s->bodies;
    *p = (pace){.r = PP_ARRAY(arena, double, n),
                .v = PP_ARRAY(arena, double, m),
                .along = PP_ZEROS(arena, double, n),
                .along_v = PP_ZEROS(arena, double, m)};
    return p->r && p->v && p->along && p->along_v;
}

static void remember(const pp_sweep *s, pace *p)
{
    for (int i = 0; i < s->count; i++) {
        memcpy(p->r + 3 * (ptrdiff_t)i, s->contact[i].r, sizeof s->contact[i].r);
    }
    memcpy(p->v, s->v, PP_SWEEP_V * (size_t)s->bodies * sizeof *p->v);
}

// x += beta along, where along was the direction and is then that of the next sweep.
static inline void go_on(double beta, double before, double *along, double *x)
{
    double change = *x - before;
    *x += beta * *along;
    *along = beta * *along + change;
}

static void go_along(pp_sweep *s, double squares, pace *p)
{
    double beta = p->squares > 0.0 && squares <= p->squares ? squares / p->squares : 0.0;
    p->squares = squares;
    for (int i = 0; i < s->count; i++) {
        ptrdiff_t at = 3 * (ptrdiff_t)i;
        for (int k = 0; k < 3; k++) {
            go_on(beta, p->r[at + k], &p->along[at + k], &s->contact[i].r[k]);
        }
    }
    for (int i = 0; i < PP_SWEEP_V * s->bodies; i++) {
        go_on(beta, p->v[i], &p->along_v[i], &s->v[i]);
    }
}

void pp_run_sweep_velocities(const pp_run *r, const double *start, pp_sweep *s)
{
    for (int b = 0; b < s->bodies; b++) {
        const pp_body *body = &r->model->body[b];
        memcpy(s->v + PP_SWEEP_V * (ptrdiff_t)b, start + body->at,
               (size_t)body->nv * sizeof *start);
    }
    pp_sweep_push(s);
}

// Relative to the impulses, or to those that would stop every contact by itself.        theory (C8)
static double relative(pp_sweep_change change, double scale)
{
    double size = fmax(change.size, scale);
    return size > 0.0 ? sqrt(change.squares / size) : 0.0;
}

// Until the residual is within the tolerance, or the budget is spent; the residual is that of the impulses
// left in s.
static perp_status iterate(pp_run *r, const double *start, pp_sweep *s, double *residual)
{
    const pp_solve_options *o = r->options;
    double tolerance = o->tolerance, look = tolerance, scale;
    pace p;
    if (!start_pace(s, r->arena, &p)) {
        return PERP_ERR_MEMORY;
    }
    pp_run_sweep_velocities(r, start, s);
    scale = pp_sweep_scale(s);
    for (int k = 1;; k++) {
        remember(s, &p);
        pp_sweep_change change = pp_sweep_once(s);
        double moved = relative(change, scale);
        r->out->iterations++;
        bool last = k >= SWEEPS_MOST || pp_run_spent(r);
        if (moved <= look || last) {
            pp_run_sweep_velocities(r, start, s);
            change = pp_sweep_residual(s);
            *residual = relative(change, scale);
            r->slack = change.worst;
            if ((*residual <= tolerance && r->slack <= WORST_ROW * tolerance) || last) {
                return PERP_OK;
            }
            look = fmin(0.9 * look, 0.9 * look * tolerance / *residual);
        } else {
            go_along(s, change.squares, &p);
        }
    }
}

void pp_run_unpack_sweep(pp_run *r, const pp_sweep *s)
{
    pp_answer *out = r->out;
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        out->pn[c->at] = c->r[0];
        if (r->rows->grouped[c->at] > 0) {
            const pp_friction *group = &r->rows->group[r->rows->friction[c->at]];
            out->pt[group->t] = c->r[1];
            out->pt[group->t + 1] = c->r[2];
        }
    }
    for (int b = 0; b < s->bodies; b++) {
        const pp_body *body = &r->model->body[b];
        memcpy(out->nu + body->at, s->v + PP_SWEEP_V * (ptrdiff_t)b,
               (size_t)body->nv * sizeof *out->nu);
    }
}

perp_status pp_run_by_sweeps(pp_run *r, bool *solved)
{
    pp_sweep s;
    int nv = r->model->nv;
    bool fit;
    *solved = false;
    if (!fits(r)) {
        return PERP_OK;
    }
    double *start = PP_ARRAY(r->arena, double, nv);
    perp_status status = start ? pp_run_lay_sweep(r, &s, &fit) : PERP_ERR_MEMORY;
    if (status < 0 || !fit) {
        return status;
    }
    pp_masses_mul(r->model, r->kin->mass, r->nu, start);
    pp_axpy(nv, 1.0, r->kin->p_ext, start);
    pp_masses_solve(r->model, r->kin->mass, start, start);
    double residual;
    status = iterate(r, start, &s, &residual);
    if (status < 0) {
        return status;
    }
    r->out->effort.solvers++;
    r->spent = residual > r->options->tolerance && pp_run_spent(r);
    *solved = residual <= r->options->tolerance || r->spent;
    if (*solved) {
        pp_run_unpack_sweep(r, &s);
        r->polygons = false;
        r->done = true;
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "gs";
        r->out->size = 3 * r->rows->nn;
    }
    return PERP_OK;
}
