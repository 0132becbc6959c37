// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts by their modes: semismooth Newton on the map of Alart and Curnier (C21), in the space of
// velocities, warm-started with the impulses of the step before.                           theory (S8)
//
// Most steps of a simulation keep the modes (active set) of the step before; then one or two linear systems give
// the answer to rounding. Many others differ in a few modes, and a few more steps find them. Where that does not
// happen soon, the solvers of comp/ start from scratch, and what they find is polished here (pp_run_polish).
//
// The loop over Newton's steps is in modes_walk.c, the linear system in modes_system.c. This file has the modes,
// the residual of each contact and its linearised law.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

static bool has_wide_rows(const pp_row *row, int count)
{
    for (int i = 0; i < count; i++) {
        if (row[i].count > 2) {
            return true;
        }
    }
    return false;
}

// Sliding friction only (no torsion or rolling), one phase, a warm start, and no solver that the user asked for by name.
// Rows of more than two bodies (gears) have no place among the blocks of bodies; in joint coordinates they are rows like
// others.
static bool is_for_modes(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    if (!r->inputs->warm || r->options->solver || rows->nm + rows->nn == 0 ||
        r->options->impact == PERP_IMPACT_POISSON) {
        return false;
    }
    if (r->in.tree) {
        if (r->in.tree->tree->nv > PP_TREE_MOST) {
            return false;
        }
    } else if (has_wide_rows(rows->b, rows->nb) || has_wide_rows(rows->m, rows->nm) ||
               has_wide_rows(rows->n, rows->nn)) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        if (rows->group[g].kind != PP_SLIDE) {
            return false;
        }
    }
    return true;
}

static double mobility_of(const pp_run *r, const pp_row *row)
{
    double m = pp_row_mobility(r->model, r->kin->mass, row);
    return m > 0.0 ? m : 1.0;  // 0: between bodies that are not free
}

// Contacts and limits, boxed rows, then the bilateral rows that the coordinates leave. False: out of memory.
static bool set_touches(pp_modes *s)
{
    const pp_run *r = s->run;
    const pp_rows *rows = r->rows;
    s->count = rows->nn + rows->nm;
    s->rows = s->count;
    s->contact = PP_ZEROS(r->arena, pp_mode_contact, (size_t)s->count + (size_t)rows->nb);
    if (!s->contact) {
        return false;
    }
    for (int i = 0; i < rows->nn; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->n = &rows->n[i];
        c->p = &r->out->pn[i];
        if (rows->grouped[i] > 0) {
            const pp_friction *group = &rows->group[rows->friction[i]];
            c->t = &rows->t[group->t];
            c->size = group->size;
            c->mu = group->mu;
            c->sides = group->facets;
        }
        c->mobility = mobility_of(r, c->n);
        c->weight = 1.0;
    }
    for (int i = 0; i < rows->nm; i++) {
        pp_mode_contact *c = &s->contact[rows->nn + i];
        c->n = &rows->m[i];
        c->p = &r->out->pm[i];
        c->boxed = true;
        c->mobility = mobility_of(r, c->n) + c->n->gamma;
        c->weight = 1.0 - c->n->gamma / c->mobility;
    }
    for (int i = 0; i < rows->nb; i++) {
        if (r->in.tree && (r->in.implied[i] || r->in.folded[i])) {
            continue;
        }
        // without a law of its own: a row that always sticks
        pp_mode_contact *c = &s->contact[s->rows++];
        c->n = &rows->b[i];
        c->mode = PP_MODE_STICK;
        c->stiffness = 1.0 / (PP_MODES_STIFF * mobility_of(r, c->n) + c->n->gamma);
    }
    return true;
}

// Friction impulses of a contact within the answer; for a contact without friction nothing of it is
// read.
static double *impulses_t(const pp_modes *s, const pp_mode_contact *c)
{
    return s->run->out->pt + (c->size > 0 ? c->t - s->run->rows->t : 0);
}

// nu = M^-1 (M nu_l + p_ext + W p), joints closed, from scratch: updating nu by dnu instead would keep the
// rounding of every step, and the residual could not come to 1e-15 of the speeds.
static void set_velocities(pp_modes *s)
{
    const pp_run *r = s->run;
    if (s->tree) {
        pp_modes_tree_rates(s);
        return;
    }
    memcpy(s->nu, s->start, (size_t)r->model->nv * sizeof *s->nu);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *pt = impulses_t(s, c);
        pp_row_add(r->model, c->n, *c->p, NULL, s->nu);
        for (int k = 0; k < c->size; k++) {
            pp_row_add(r->model, &c->t[k], pt[k], NULL, s->nu);
        }
    }
    if (s->closes) {
        pp_closed_solve(&r->closed, r->beta, s->nu, r->out->pb);
    } else {
        pp_masses_solve(r->model, r->kin->mass, s->nu, s->nu);
    }
}

static double sqr(double x)
{
    return x * x;
}

// Outward unit normal of the edge of the friction polygon in whose sector x_t = (x[1], x[2]) lies.
// Vertices are at multiples of 2 pi / sides, so normals are halfway between.
static void edge_at(const pp_mode_contact *c, const double x[3], double n[2])
{
    double width = 6.283185307179586 / c->sides;
    double middle = (floor(atan2(x[2], x[1]) / width) + 0.5) * width;
    n[0] = cos(middle);
    n[1] = sin(middle);
}

// Whether x_t is outside the friction set of radius `limit`. slip: |x_t|^2, for discs.
static bool is_beyond(const pp_mode_contact *c, const double x[3], double limit, double slip)
{
    double n[2];
    if (c->sides == 0) {
        return slip > sqr(limit);
    }
    edge_at(c, x, n);
    return n[0] * x[1] + n[1] * x[2] > cos(3.141592653589793 / c->sides) * limit;
}

// Linearisation of the projection of x_t onto the friction set, for a contact that slips with x = p
// - rho u. Disc: e = x_t / |x_t|, and the derivative of the projection across e is limit / |x_t| =
// share. Polygon: the nearest point is a vertex, where the derivative is 0, or on an edge, along
// which the contact sticks.                theory (C38)
static void set_slip(pp_mode_contact *c, const double x[3], double limit, double length)
{
    c->edge = false;
    c->grip = c->mu;
    if (c->sides == 0) {
        c->e[0] = x[1] / length;
        c->e[1] = x[2] / length;
        c->share = limit / length;
        return;
    }
    double angle = 3.141592653589793 / c->sides, apothem = cos(angle), half = sin(angle), n[2];
    edge_at(c, x, n);
    double along = n[0] * x[2] - n[1] * x[1];
    c->edge = fabs(along) < half * limit;
    // On an edge e is its normal; at a vertex it is that vertex, the normal turned by +- pi / sides.
    double side = 0.0, out = 1.0;
    if (!c->edge) {
        side = along > 0.0 ? half : -half;
        out = apothem;
    }
    c->e[0] = out * n[0] - side * n[1];
    c->e[1] = out * n[1] + side * n[0];
    c->grip = c->edge ? apothem * c->mu : c->mu;
    c->share = 0.0;
}

// The same of a boxed row: u = 0 within its bounds, p at one of them otherwise.
static double set_box_mode(pp_modes *s, pp_mode_contact *c)
{
    double p = *c->p, x = p - c->u[0] / c->mobility, error = c->u[0];
    pp_contact_mode mode = PP_MODE_STICK;
    if (x < c->n->lower) {
        mode = PP_MODE_LOWER;
        error = (p - c->n->lower) * c->mobility;
    } else if (x > c->n->upper) {
        mode = PP_MODE_UPPER;
        error = (p - c->n->upper) * c->mobility;
    }
    s->factored = s->factored && mode == c->mode;
    c->mode = mode;
    return sqr(c->weight * error);
}

// Mode of a contact at (p, u), by x = p - rho u: open for x_n <= 0, slip for x_t outside mu x_n B,
// stick otherwise. Returns how far the contact is from the law of its mode, squared [m^2/s^2];
// errors of impulses count times the mobility. The factors stay valid (s->factored) while no mode
// changes and no contact slips on a disc, whose e turns from step to step.
static double set_mode(pp_modes *s, pp_mode_contact *c, double pn, const double *pt)
{
    double rho = 1.0 / c->mobility, x[3] = {pn - rho * c->u[0], 0.0, 0.0}, error, slip = 0.0;
    for (int k = 0; k < c->size; k++) {
        x[k + 1] = pt[k] - rho * c->u[k + 1];
        slip += sqr(x[k + 1]);
    }
    double limit = c->mu * x[0];
    pp_contact_mode mode = PP_MODE_STICK;
    if (!(x[0] > 0.0)) {
        mode = PP_MODE_OPEN;
    } else if (c->size > 0 && is_beyond(c, x, limit, slip)) {
        mode = PP_MODE_SLIP;
    }
    s->factored = s->factored && mode == c->mode && (mode != PP_MODE_SLIP || c->sides > 0);
    c->mode = mode;
    if (mode == PP_MODE_OPEN) {  // p = 0
        error = sqr(pn);
        for (int k = 0; k < c->size; k++) {
            error += sqr(pt[k]);
        }
        return error * sqr(c->mobility);
    }
    error = sqr(c->u[0]);
    if (mode == PP_MODE_STICK) {  // u = 0
        for (int k = 1; k <= c->size; k++) {
            error += sqr(c->u[k]);
        }
        return error;
    }
    // Slip: u_n = 0, p_t = mu p_n e; on an edge the slip along it vanishes as well, and the part of p_t
    // along the edge is free.
    double last[2] = {c->e[0], c->e[1]}, aside = 0.0;
    set_slip(c, x, limit, sqrt(slip));
    s->factored = s->factored && last[0] == c->e[0] && last[1] == c->e[1];
    if (c->edge) {
        error += sqr(c->e[0] * c->u[2] - c->e[1] * c->u[1]);
        aside = c->e[0] * pt[1] - c->e[1] * pt[0];
    }
    for (int k = 0; k < c->size; k++) {
        double f = k == 0 ? -c->e[1] : c->e[0];
        double p = fmax(pn, 0.0) * c->grip * c->e[k] + aside * f;
        error += sqr((pt[k] - p) * c->mobility);
    }
    return error;
}

// dp = c - K J dnu of a contact that slips, c->c[0] given. Along e friction follows the normal
// impulse: the constant part is what p_t lacks of mu p_n e. Across e (f) the projection of a disc
// has the slope `share`, by which p_f is divided by 1 - share + share alpha rho; on an edge of a
// polygon f sticks.
static void linearise_slip(const pp_modes *s, pp_mode_contact *c, double pn, const double *pt)
{
    double along = 0.0, across = 0.0, f[2] = {0.0, 0.0};
    c->k_f = 0.0;
    for (int k = 0; k < c->size; k++) {
        along += c->e[k] * pt[k];
    }
    if (c->size == 2) {
        double rest = 1.0 - c->share + c->share * s->proximal;
        f[0] = -c->e[1];
        f[1] = c->e[0];
        across = (f[0] * pt[0] + f[1] * pt[1]) / rest;
        c->k_f = c->share / (c->mobility * rest);
    }
    if (c->edge) {
        across = c->stiffness * (f[0] * c->u[1] + f[1] * c->u[2]);
        c->k_f = c->stiffness;
    }
    double missing = c->grip * pn - along + c->grip * c->c[0];
    for (int k = 0; k < c->size; k++) {
        c->c[k + 1] = missing * c->e[k] - across * f[k];
    }
}

// The linear laws of all contacts in their modes, for the proximal term s->proximal.     theory
// (S8)
static void linearise(pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        const double *pt = impulses_t(s, c);
        c->stiffness = 1.0 / (s->proximal * c->mobility + c->n->gamma);
        if (c->mode == PP_MODE_LOWER || c->mode == PP_MODE_UPPER) {
            c->c[0] = (c->mode == PP_MODE_LOWER ? c->n->lower : c->n->upper) - pn;
            continue;
        }
        // K of an open contact is 0: its stiffness is set, but move_impulses multiplies it by 0.
        c->c[0] = c->mode == PP_MODE_OPEN ? -pn : -c->stiffness * c->u[0];
        for (int k = 0; k < c->size; k++) {
            c->c[k + 1] = c->mode == PP_MODE_OPEN ? -pt[k] : -c->stiffness * c->u[k + 1];
        }
        if (c->mode == PP_MODE_SLIP) {
            linearise_slip(s, c, pn, pt);
        }
    }
}

// J nu + rate of row k of a contact: 0 its normal, then friction.
static double rate_of(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (s->tree) {
        return pp_dot(s->n, c->J + (size_t)k * (size_t)s->n, s->qd) + c->still[k];
    }
    return pp_row_rate(s->run->model, k == 0 ? c->n : &c->t[k - 1], s->nu);
}

// u = J nu + rate + bias of every contact [m/s], and with it the modes. A NaN counts as the worst
// error: it must not pass a comparison that looks for small ones. s->scale grows to the largest
// speed in play, which rounding is measured by.
double pp_modes_evaluate(pp_modes *s)
{
    double worst = 0.0;
    set_velocities(s);
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        c->u[0] = rate_of(s, c, 0) + c->n->bias + c->n->gamma * pn;
        for (int k = 0; k < c->size; k++) {
            c->u[k + 1] = rate_of(s, c, k + 1) + c->t[k].bias;
        }
        double error = c->boxed ? set_box_mode(s, c) : set_mode(s, c, pn, impulses_t(s, c));
        worst = error > worst || isnan(error) ? error : worst;
        double speed = fmax(fabs(pn) * c->mobility, fabs(c->n->bias));
        s->scale = fmax(s->scale, c->weight * speed);
    }
    return sqrt(worst);
}

// J dnu of row k of a contact: 0 its normal, then friction. The rows' given part (row->rate) does not change in a step.
static double step_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (s->tree) {
        return pp_dot(s->n, c->J + (size_t)k * (size_t)s->n, s->step);
    }
    const pp_row *row = k == 0 ? c->n : &c->t[k - 1];
    return pp_row_rate(s->run->model, row, s->step) - row->rate;
}

// p += c - K J dnu.
static void move_impulses(pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double *pt = impulses_t(s, c), u[3] = {0.0, 0.0, 0.0};
        if (c->mode == PP_MODE_STICK || c->mode == PP_MODE_SLIP) {
            for (int k = 0; k <= c->size; k++) {
                u[k] = step_rate(s, c, k);
            }
        }
        *c->p += c->c[0] - c->stiffness * u[0];
        double across = c->k_f * (c->e[0] * u[2] - c->e[1] * u[1]);  // along f = (-e_y, e_x)
        for (int k = 0; k < c->size; k++) {
            double follows = 0.0;  // component k of K J dnu
            if (c->mode == PP_MODE_STICK) {
                follows = c->stiffness * u[k + 1];
            } else if (c->mode == PP_MODE_SLIP) {
                follows = c->grip * c->stiffness * u[0] * c->e[k] +
                          across * (k == 0 ? -c->e[1] : c->e[0]);
            }
            pt[k] += c->c[k + 1] - follows;
        }
    }
}

// Contacts, vectors and the pattern of the system.
static perp_status allocate_modes(pp_modes *s)
{
    pp_run *r = s->run;
    int nv = r->model->nv;
    double *reals = PP_ARRAY(r->arena, double, 3 * (size_t)nv);
    if (!reals || !set_touches(s)) {
        return PERP_ERR_MEMORY;
    }
    s->tree = r->in.tree;
    s->closes = s->tree || r->rows->nb > 0;
    s->no_sweeps = s->closes || r->rows->nm > 0 || r->rows->nn != r->rows->nc;
    for (int i = 0; i < r->rows->nb; i++) {
        r->beta[i] = r->rows->b[i].rate + r->rows->b[i].bias;
    }
    s->start = reals;
    s->nu = reals + nv;
    s->step = s->nu + nv;
    pp_masses_mul(r->model, r->kin->mass, r->nu, s->start);
    pp_axpy(nv, 1.0, r->kin->loads.p_ext, s->start);
    s->scale = pp_norm_inf(nv, r->nu);
    return pp_modes_prepare(s, r->arena);
}

// One Newton step at fixed modes. A step may use half of a limit on iterations: the rest is for the
// sweeps that follow where modes fail. With unchanged modes the factors of the last step serve:
// then it is a refinement, and costs a solve.
bool pp_modes_step(pp_modes *s)
{
    int most = s->run->options->max_iterations;
    if ((most > 0 && 2 * s->steps >= most) || pp_run_solver_budget_spent(s->run)) {
        return false;
    }
    linearise(s);
    bool factors = !s->factored;
    if ((factors && !pp_modes_factor(s)) || !pp_modes_solve(s)) {
        return false;
    }
    if (factors) {
        double n = s->n;
        pp_meter_factor(&s->run->meter, s->dense ? n * n * n : pp_ldl_flops(s->ldl));
    }
    s->steps++;
    move_impulses(s);
    return true;
}

// Adds to the answer's effort what was done since s->steps was last 0.
static void add_mode_effort(const pp_modes *s)
{
    pp_answer *out = s->run->out;
    out->iterations += s->steps;
    out->effort.factorisations += s->steps;
    if (s->steps > 0 && !s->dense) {
        out->effort.fill = fmax(out->effort.fill, (double)pp_ldl_fill(s->ldl));
        out->effort.flops = fmax(out->effort.flops, pp_ldl_flops(s->ldl));
    }
    out->effort.solvers++;
}

// Whether the impulses obey the laws to the tolerance, judged by pp_run_slack, which takes
// projections in place of modes. Rounding may leave p_n < 0 where a contact is closed: none may
// pull. Where all speeds are below 1 m/s the tolerance is relative to them.
static bool obeys_laws(pp_modes *s)
{
    pp_run *r = s->run;
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        *c->p = c->boxed ? fmin(fmax(*c->p, c->n->lower), c->n->upper) : fmax(*c->p, 0.0);
    }
    r->nu_current = pp_run_slack(r) <= fmin(1.0, s->scale) * r->options->tolerance;
    return r->nu_current;
}

// Where it fails the impulses are zero again, and for many contacts the state is kept in r->modes
// for pp_run_polish.
perp_status pp_run_by_modes(pp_run *r, bool *solved)
{
    *solved = false;
    if (!is_for_modes(r)) {
        return PERP_OK;
    }
    pp_modes *s = PP_ARRAY(r->arena, pp_modes, 1);
    if (!s) {
        return PERP_ERR_MEMORY;
    }
    *s = (pp_modes){.run = r};
    perp_status status = allocate_modes(s);
    if (status < 0) {
        return status;
    }
    r->polygons = false;
    status = pp_modes_newton(s, solved);
    if (status < 0) {
        return status;
    }
    add_mode_effort(s);
    *solved = *solved && obeys_laws(s);
    // The state is kept for many contacts only, which the central path is followed for (forms.c).
    if (*solved) {
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "modes";
        r->out->size = pp_cone_dim(r->model, r->rows) * r->rows->nn;
    } else {
        if (r->rows->nm > 0) {
            memset(r->out->pm, 0, (size_t)r->rows->nm * sizeof *r->out->pm);
        }
        if (r->rows->nn > 0) {
            memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof *r->out->pn);
        }
        if (r->rows->nt > 0) {
            memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof *r->out->pt);
        }
        r->modes = pp_modes_are_many(s) && !s->no_sweeps ? s : NULL;
    }
    return PERP_OK;
}

// Careful Newton steps from the impulses in r->out. False: not better, and r->out is as it was.
bool pp_run_polish(pp_run *r)
{
    int nn = r->rows->nn, nt = r->rows->nt;
    pp_modes *s = r->modes;
    double *kept = s ? PP_ARRAY(r->arena, double, (size_t)nn + (size_t)nt) : NULL;
    bool solved = false;
    if (!kept) {
        return false;
    }
    // p_n and p_t as found, to be restored
    memcpy(kept, r->out->pn, (size_t)nn * sizeof *kept);
    memcpy(kept + nn, r->out->pt, (size_t)nt * sizeof *kept);
    s->steps = 0;
    perp_status status = pp_modes_newton_from_answer(s, &solved);
    add_mode_effort(s);
    if (status < 0 || !solved || !obeys_laws(s)) {
        memcpy(r->out->pn, kept, (size_t)nn * sizeof *kept);
        memcpy(r->out->pt, kept + nn, (size_t)nt * sizeof *kept);
        return false;
    }
    return true;
}
