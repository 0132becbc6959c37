// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The first thing tried on contacts whose last impulses are known: most steps of a simulation keep the
// modes of the step before, and then one or two linear systems give the answer to rounding. Where it does
// not come to that soon, the solvers of comp/ begin anew.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

enum { STEPS_MOST = 12, STEPS_SOON = 4, SLOW_MOST = 40 };

// alpha in units of the mobility: where the way is short; where it is far at first, and from step to step.
static const double PROXIMAL = 1e-7, SLOW = 0.1, PACE = 0.3;
static const double ROUNDING = 2e-15, ACCEPT = 1e-12;  // of the scale

// Whether the rows are contacts with exact cones and nothing else.
static bool fits(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    if (!r->options->warm || r->options->solver || r->in.tree || rows->nb + rows->nm > 0 ||
        rows->nn != rows->nc || rows->nn == 0 || r->options->impact == PERP_IMPACT_POISSON) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        if (rows->group[g].kind != PP_SLIDE || rows->group[g].facets > 0) {
            return false;
        }
    }
    return true;
}

static bool set_touches(pp_modes *s)
{
    const pp_run *r = s->run;
    const pp_rows *rows = r->rows;
    s->touch = PP_ZEROS(r->arena, pp_touch, rows->nn);
    s->count = rows->nn;
    for (int i = 0; s->touch && i < rows->nn; i++) {
        pp_touch *c = &s->touch[i];
        c->n = &rows->n[i];
        if (rows->grouped[i] > 0) {
            const pp_friction *group = &rows->group[rows->friction[i]];
            c->t = &rows->t[group->t];
            c->size = group->size;
            c->mu = group->mu;
        }
        double m = pp_row_mobility(r->model, r->kin->mass, c->n);
        c->mobility = m > 0.0 ? m : 1.0;
    }
    return s->touch != NULL;
}

static double *impulses_t(const pp_modes *s, const pp_touch *c)
{
    return s->run->out->pt + (c->size > 0 ? c->t - s->run->rows->t : 0);
}

// nu = M^-1 (M nu_l + p_ext + W p)
static void set_velocities(pp_modes *s)
{
    const pp_run *r = s->run;
    const pp_answer *out = r->out;
    memcpy(s->nu, s->start, (size_t)r->model->nv * sizeof *s->nu);
    for (int i = 0; i < s->count; i++) {
        const pp_touch *c = &s->touch[i];
        const double *pt = impulses_t(s, c);
        pp_row_add(r->model, c->n, out->pn[i], NULL, s->nu);
        for (int k = 0; k < c->size; k++) {
            pp_row_add(r->model, &c->t[k], pt[k], NULL, s->nu);
        }
    }
    pp_masses_solve(r->model, r->kin->mass, s->nu, s->nu);
}

static double square(double x)
{
    return x * x;
}

// Mode and linear law of a contact at (p, u); returns how far it is from its law, squared [m^2/s^2].
static double set_law(pp_modes *s, pp_touch *c, double pn, const double *pt)
{
    c->stiffness = 1.0 / (s->proximal * c->mobility);
    double rho = 1.0 / c->mobility, x[3] = {pn - rho * c->u[0], 0.0, 0.0}, error, slip = 0.0;
    for (int k = 0; k < c->size; k++) {
        x[k + 1] = pt[k] - rho * c->u[k + 1];
        slip += square(x[k + 1]);
    }
    double limit = c->mu * x[0];
    pp_mode mode = !(x[0] > 0.0)                         ? PP_MODE_OPEN
                   : c->size > 0 && slip > square(limit) ? PP_MODE_SLIP
                                                         : PP_MODE_STICK;
    s->factored = s->factored && mode == c->mode && mode != PP_MODE_SLIP;
    c->mode = mode;
    if (mode == PP_MODE_OPEN) {
        c->c[0] = -pn;
        error = square(pn);
        for (int k = 0; k < c->size; k++) {
            c->c[k + 1] = -pt[k];
            error += square(pt[k]);
        }
        return error * square(c->mobility);
    }
    error = square(c->u[0]);
    c->c[0] = -c->stiffness * c->u[0];
    if (mode == PP_MODE_STICK) {
        for (int k = 1; k <= c->size; k++) {
            c->c[k] = -c->stiffness * c->u[k];
            error += square(c->u[k]);
        }
        return error;
    }
    double length = sqrt(slip), share = limit / length;
    double along = 0.0, across = 0.0, f[2] = {0.0, 0.0};
    c->e[0] = x[1] / length;
    c->e[1] = x[2] / length;
    c->k_f = 0.0;
    for (int k = 0; k < c->size; k++) {
        along += c->e[k] * pt[k];
    }
    if (c->size == 2) {
        double rest = 1.0 - share + share * s->proximal;
        f[0] = -c->e[1];
        f[1] = c->e[0];
        across = f[0] * pt[0] + f[1] * pt[1];
        c->k_f = share * rho / rest;
        across /= rest;
    }
    double missing = c->mu * pn - along + c->mu * c->c[0];
    for (int k = 0; k < c->size; k++) {
        c->c[k + 1] = missing * c->e[k] - across * f[k];
        error += square((pt[k] - fmax(pn, 0.0) * c->mu * c->e[k]) * c->mobility);
    }
    return error;
}

// Rates, modes and laws of all contacts; returns the worst error [m/s].
static double look(pp_modes *s)
{
    const pp_run *r = s->run;
    double worst = 0.0;
    set_velocities(s);
    for (int i = 0; i < s->count; i++) {
        pp_touch *c = &s->touch[i];
        double pn = r->out->pn[i];
        c->u[0] = pp_row_rate(r->model, c->n, s->nu) + c->n->bias;
        for (int k = 0; k < c->size; k++) {
            c->u[k + 1] = pp_row_rate(r->model, &c->t[k], s->nu);
        }
        double error = set_law(s, c, pn, impulses_t(s, c));
        worst = error > worst || isnan(error) ? error : worst;
        s->scale = fmax(s->scale, fmax(fabs(pn) * c->mobility, fabs(c->n->bias)));
    }
    return sqrt(worst);
}

// p += c - K J dnu
static void move_impulses(pp_modes *s)
{
    const pp_run *r = s->run;
    for (int i = 0; i < s->count; i++) {
        pp_touch *c = &s->touch[i];
        double *pt = impulses_t(s, c), *pn = &r->out->pn[i], u[3] = {0.0, 0.0, 0.0};
        u[0] = c->mode == PP_MODE_OPEN ? 0.0 : pp_row_rate(r->model, c->n, s->step) - c->n->rate;
        *pn += c->c[0] - c->stiffness * u[0];
        for (int k = 0; k < c->size && c->mode != PP_MODE_OPEN; k++) {
            u[k + 1] = pp_row_rate(r->model, &c->t[k], s->step) - c->t[k].rate;
        }
        double across = c->k_f * (c->e[0] * u[2] - c->e[1] * u[1]);
        for (int k = 0; k < c->size; k++) {
            double follows = c->mode == PP_MODE_STICK  ? c->stiffness * u[k + 1]
                             : c->mode == PP_MODE_SLIP ? c->mu * c->stiffness * u[0] * c->e[k] +
                                                             across * (k == 0 ? -c->e[1] : c->e[0])
                                                       : 0.0;
            pt[k] += c->c[k + 1] - follows;
        }
    }
}

static perp_status prepare(pp_modes *s)
{
    pp_run *r = s->run;
    int nv = r->model->nv;
    double *reals = PP_ARRAY(r->arena, double, 3 * (size_t)nv);
    if (!reals || !set_touches(s)) {
        return PERP_ERR_MEMORY;
    }
    s->start = reals;
    s->nu = reals + nv;
    s->step = s->nu + nv;
    pp_masses_mul(r->model, r->kin->mass, r->nu, s->start);
    pp_axpy(nv, 1.0, r->kin->p_ext, s->start);
    s->scale = pp_norm_inf(nv, r->nu);
    return pp_modes_prepare(s, r->arena);
}

static void start_at_guess(pp_modes *s)
{
    const pp_run *r = s->run;
    int nn = r->rows->nn, nt = r->rows->nt;
    memcpy(r->out->pn, r->options->warm, (size_t)nn * sizeof *r->out->pn);
    if (nt > 0) {
        memcpy(r->out->pt, r->options->warm + nn, (size_t)nt * sizeof *r->out->pt);
    }
}

// Newton's method; true when what is left is rounding.
static bool iterate(pp_modes *s, bool slow, int *steps)
{
    double first = PP_INF, last = PP_INF;
    int most = slow ? SLOW_MOST : STEPS_MOST, left = s->run->options->max_iterations - *steps;
    most = s->run->options->max_iterations > 0 && left < most ? left : most;
    s->proximal = slow ? SLOW : PROXIMAL;
    s->factored = false;
    start_at_guess(s);
    for (int k = 0; k <= most; k++) {
        double error = look(s);
        first = k == 0 ? error : first;
        if (error <= ROUNDING * s->scale) {
            return true;
        }
        if (!(error < PP_INF) || (!slow && k >= STEPS_SOON && error > 0.1 * first)) {
            return false;
        }
        if (error > 0.5 * last && error <= ACCEPT * s->scale) {
            return true;
        }
        if (slow && error < last && s->proximal > PROXIMAL) {
            s->proximal = fmax(PROXIMAL, PACE * s->proximal);
            look(s);
            s->factored = false;
        }
        last = error;
        if (k == most || pp_run_spent(s->run) || (!s->factored && !pp_modes_factor(s)) ||
            !pp_modes_solve(s)) {
            return false;
        }
        (*steps)++;
        move_impulses(s);
    }
    return false;
}

perp_status pp_run_by_modes(pp_run *r, bool *solved)
{
    pp_modes s = {.run = r};
    int steps = 0;
    *solved = false;
    if (!fits(r)) {
        return PERP_OK;
    }
    perp_status status = prepare(&s);
    if (status < 0) {
        return status;
    }
    r->polygons = false;
    *solved = iterate(&s, false, &steps) || iterate(&s, true, &steps);
    for (int i = 0; *solved && i < s.count; i++) {
        r->out->pn[i] = fmax(r->out->pn[i], 0.0);
    }
    *solved = *solved && pp_run_slack(r) <= fmin(1.0, s.scale) * r->options->tolerance;
    r->out->iterations += steps;
    r->out->effort.factorisations += steps;
    if (steps > 0 && !s.dense) {
        r->out->effort.fill = fmax(r->out->effort.fill, (double)pp_ldl_fill(s.ldl));
        r->out->effort.flops = fmax(r->out->effort.flops, pp_ldl_flops(s.ldl));
    }
    r->out->effort.solvers++;
    r->done = *solved;
    if (*solved) {
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "modes";
        r->out->size = pp_cone_dim(r->model, r->rows) * r->rows->nn;
    } else {
        memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof *r->out->pn);
        if (r->rows->nt > 0) {
            memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof *r->out->pt);
        }
    }
    return PERP_OK;
}
