// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Loose tolerances: nonlinear Gauss-Seidel from the last impulses until the worst row is within the tolerance.
//
// Each contact is solved exactly with the others held, theory (C26). No matrix is assembled: contacts are laid out
// from the rows, and the velocities of bodies follow every change (comp/sweeping/sweep.h). Sweeps are accelerated as a nonlinear
// conjugate gradient method. The residual costs nearly as much as a sweep, so that it is computed only when the
// change of a sweep has become small.
#include "solve/run.h"

#include "comp/sweeping/sweep.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_MAX = 300 };
enum { MANY_CONTACTS = 60 };  // contacts for which a limit on iterations is one on sweeps
// The rate of convergence is measured between these two sweeps, and extrapolated.
enum { JUDGED_FROM = 20, JUDGED_AT = 60 };

// From this tolerance on sweeps are the first thing tried.
static const double LOOSE = 1e-4;
// One row may be off by so much more than all together [m/s per unit of tolerance].
static const double WORST_ROW = 100.0;
// Operations of a sweep for each contact, about: for the meter of work, theory (C50).
static const double SWEEP_COST = 700.0;
// What Newton's method takes for each of many contacts, about [s]: a few factorisations.
static const double NEWTON_SECONDS = 2e-5;

// Whether the user's budget excludes factorisations: a deadline too near, or few iterations, which
// for many contacts (and for few after modes gave up) are spent on sweeps, since these have an
// answer after each.
static bool hurried(const pp_run *r)
{
    const pp_solve_options *o = r->options;
    bool few = o->max_iterations > 0 && o->max_iterations <= SWEEPS_MAX;
    return (few && (r->rows->nn > MANY_CONTACTS || r->budget_low)) ||
           (o->deadline > 0.0 && o->deadline - pp_seconds() < NEWTON_SECONDS * r->rows->nn);
}

// Sliding contacts in space with discs, and nothing else: the layout has three rows a contact and
// two bodies.
bool pp_run_is_sweepable(const pp_run *r)
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

// Row i (0: normal, 1 and 2: tangents) of a contact: J and T = M^-1 J' for its bodies, padded with
// zeros to PP_SWEEP_V numbers, so that all loops of a sweep have a constant length.
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

// Contact i with its warm start p. False: none of its bodies can move, or its rows are not those of
// two bodies.
static bool lay_contact(const pp_run *r, int i, pp_sweep_contact *c, double *p)
{
    const pp_rows *rows = r->rows;
    const pp_row *n = &rows->n[i];
    const double *warm = r->inputs->warm;
    const pp_friction *group = rows->grouped[i] > 0 ? &rows->group[rows->friction[i]] : NULL;
    c->at = i;
    c->mu = group ? group->mu : 0.0;
    c->body[0] = n->count > 0 ? n->body[0] : -1;
    c->body[1] = n->count > 1 ? n->body[1] : -1;
    p[0] = warm ? warm[i] : 0.0;
    lay_row(r, n, 0, c);
    for (int k = 0; k < 2; k++) {
        // without friction mu is 0, and the tangents are zero rows
        if (group) {
            lay_row(r, &rows->t[group->t + k], k + 1, c);
        } else {
            memset(c->J[k] + 6, 0, 2 * PP_SWEEP_V * sizeof(double));
            memset(c->T[k] + 6, 0, 2 * PP_SWEEP_V * sizeof(double));
            c->w[k + 1] = 0.0;
        }
        p[k + 1] = warm && group ? warm[rows->nn + group->t + k] : 0.0;
    }
    return pp_sweep_prepare(c);
}

// Contacts are coloured so that those of one colour share no body: they can be solved by several
// threads, with the same bits for any number of them.
perp_status pp_run_build_sweep(pp_run *r, pp_sweep *s, bool *fit)
{
    const pp_rows *rows = r->rows;
    size_t count = (size_t)rows->nn;
    int *body = PP_ARRAY(r->arena, int, 2 * count);
    int *order = PP_ARRAY(r->arena, int, count);
    *s = (pp_sweep){.count = rows->nn, .bodies = r->model->bodies, .team = r->cache->team};
    s->contact = PP_ARRAY(r->arena, pp_sweep_contact, count);
    s->r = PP_ARRAY(r->arena, double, 3 * count);
    s->v = PP_ZEROS(r->arena, double, PP_SWEEP_V *(size_t)s->bodies);
    if (!body || !order || !s->contact || !s->r || !s->v) {
        return PERP_ERR_MEMORY;
    }
    // bodies of every contact, -1: not free, for the colouring
    *fit = true;
    for (int i = 0; i < rows->nn; i++) {
        for (int k = 0; k < 2; k++) {
            body[2 * i + k] = k < rows->n[i].count ? rows->n[i].body[k] : -1;
        }
        *fit = *fit && rows->n[i].count <= 2;
    }
    if (!*fit) {
        return PERP_OK;
    }
    perp_status status = pp_sweep_colour(s, body, r->arena, order);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < rows->nn; i++) {
        if (!lay_contact(r, order[i], &s->contact[i], s->r + 3 * (ptrdiff_t)i)) {
            *fit = false;
            break;
        }
    }
    return status;
}

// ── Iteration ────────────────────────────────────────────────────────────────────────────────────

// Nonlinear conjugate gradients on sweeps (Silcowitz, Niebe, Erleben 2010): the change of a sweep
// takes the place of the gradient, beta is the ratio of squared changes (Fletcher, Reeves), and the
// direction starts over where changes grow. Velocities are affine in the impulses, so that they are
// extrapolated alongside.
typedef struct ncg_state {
    double *r, *v;                    // before the sweep: 3 count, 6 bodies
    double *direction, *direction_v;  // direction
    double squares;                   // of the last change
} ncg_state;

static bool ncg_start(const pp_sweep *s, pp_arena *arena, ncg_state *p)
{
    size_t n = 3 * (size_t)s->count, m = PP_SWEEP_V * (size_t)s->bodies;
    *p = (ncg_state){.r = PP_ARRAY(arena, double, n),
                     .v = PP_ARRAY(arena, double, m),
                     .direction = PP_ZEROS(arena, double, n),
                     .direction_v = PP_ZEROS(arena, double, m)};
    return p->r && p->v && p->direction && p->direction_v;
}

// The state before a sweep: its change is the difference to it.
static void ncg_store_previous(const pp_sweep *s, ncg_state *p)
{
    memcpy(p->r, s->r, 3 * (size_t)s->count * sizeof *p->r);
    memcpy(p->v, s->v, PP_SWEEP_V * (size_t)s->bodies * sizeof *p->v);
}

// x += beta along for one number, where `along` was the direction and becomes that of the next
// sweep.
static inline void ncg_axpy(double beta, double before, double *along, double *x)
{
    double change = *x - before;
    *x += beta * *along;
    *along = beta * *along + change;
}

// One step of the acceleration after a sweep whose squared change is `squares`.
static void ncg_advance(pp_sweep *s, double squares, ncg_state *p)
{
    double beta = p->squares > 0.0 && squares <= p->squares ? squares / p->squares : 0.0;
    p->squares = squares;
    for (int i = 0; i < 3 * s->count; i++) {
        ncg_axpy(beta, p->r[i], &p->direction[i], &s->r[i]);
    }
    for (int i = 0; i < PP_SWEEP_V * s->bodies; i++) {
        ncg_axpy(beta, p->v[i], &p->direction_v[i], &s->v[i]);
    }
}

// v of all bodies at the impulses in s, from scratch: the running sums of many sweeps carry their
// rounding.
void pp_run_sweep_velocities(const pp_run *r, const double *start, pp_sweep *s)
{
    for (int b = 0; b < s->bodies; b++) {
        const pp_body *body = &r->model->body[b];
        memcpy(s->v + PP_SWEEP_V * (ptrdiff_t)b, start + body->at,
               (size_t)body->nv * sizeof *start);
    }
    pp_sweep_apply_impulses(s);
}

// A change relative to the impulses, or to those that would stop every contact by itself.    theory
// (C8)
static double relative_change(pp_sweep_change change, double scale)
{
    double size = fmax(change.size, scale);
    return size > 0.0 ? sqrt(change.squares / size) : 0.0;
}

// Residual of the impulses in s, with v from scratch; r->slack becomes that of the worst row [m/s].
static double residual_at(pp_run *r, const double *start, pp_sweep *s, double scale)
{
    pp_run_sweep_velocities(r, start, s);
    pp_sweep_change change = pp_sweep_residual(s);
    r->slack = change.worst;
    return relative_change(change, scale);
}

// The impulses after the sweep that changed least. With a budget the last iterate is not always the
// best.
typedef struct best_sweep {
    double *r, moved;
} best_sweep;

// The better of the last iterate and the best one; returns its residual. b->r has room for both.
static double restore_best(pp_run *r, const double *start, pp_sweep *s, double scale, best_sweep *b,
                           double residual)
{
    size_t bytes = 3 * (size_t)s->count * sizeof *b->r;
    if (!(b->moved < residual)) {
        return residual;
    }
    memcpy(b->r + 3 * (ptrdiff_t)s->count, s->r, bytes);
    memcpy(s->r, b->r, bytes);
    double other = residual_at(r, start, s, scale);
    if (other < residual) {
        return other;
    }
    memcpy(s->r, b->r + 3 * (ptrdiff_t)s->count, bytes);
    return residual_at(r, start, s, scale);
}

// Whether SWEEPS_MAX sweeps will not do, by the rate of linear convergence between two of them.
static bool predict_failure(int k, double before, double moved, double look)
{
    double rate = pp_log(moved / before) / (JUDGED_AT - JUDGED_FROM);
    return k == JUDGED_AT && !(k + pp_log(look / moved) / rate < SWEEPS_MAX && rate < 0.0);
}

// Sweeps until the residual is within the tolerance, or a limit is reached; *residual is that of
// the impulses left in s.
static perp_status sweep_until_converged(pp_run *r, const double *start, pp_sweep *s,
                                         double *residual)
{
    const pp_solve_options *o = r->options;
    bool budget = o->max_iterations > 0 || o->deadline > 0.0;
    double tolerance = o->tolerance, look = tolerance, before = 0.0;
    best_sweep b = {PP_ARRAY(r->arena, double, budget ? 6 * (size_t)s->count : 0), PP_INF};
    ncg_state p;
    if (!ncg_start(s, r->arena, &p) || (budget && !b.r)) {
        return PERP_ERR_MEMORY;
    }
    pp_run_sweep_velocities(r, start, s);
    double scale = pp_sweep_scale(s);
    // `look` is the change at which the residual is next computed: where that turns out too large,
    // it is lowered in proportion, by a tenth at least.
    for (int k = 1;; k++) {
        ncg_store_previous(s, &p);
        pp_sweep_change change = pp_sweep_once(s);
        double moved = relative_change(change, scale);
        r->out->iterations++;
        pp_meter_add(&r->meter, SWEEP_COST * s->count);
        before = k == JUDGED_FROM ? moved : before;
        bool last = k >= SWEEPS_MAX || pp_run_solver_budget_spent(r) ||
                    (!budget && predict_failure(k, before, moved, look));
        if (moved <= look || last) {
            *residual = residual_at(r, start, s, scale);
            if (*residual <= tolerance && r->slack <= WORST_ROW * tolerance) {
                return PERP_OK;
            }
            look = fmin(0.9 * look, 0.9 * look * tolerance / *residual);
        } else {
            if (budget && moved < b.moved) {
                b.moved = moved;
                memcpy(b.r, s->r, 3 * (size_t)s->count * sizeof *b.r);
            }
            ncg_advance(s, change.squares, &p);
        }
        if (last) {
            *residual = restore_best(r, start, s, scale, &b, *residual);
            return PERP_OK;
        }
    }
}

// Contacts of s are in the order of colours; c->at is the row of each.
void pp_run_unpack_sweep(pp_run *r, const pp_sweep *s)
{
    pp_answer *out = r->out;
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        const double *p = s->r + 3 * (ptrdiff_t)i;
        out->pn[c->at] = p[0];
        if (r->rows->grouped[c->at] > 0) {
            const pp_friction *group = &r->rows->group[r->rows->friction[c->at]];
            out->pt[group->t] = p[1];
            out->pt[group->t + 1] = p[2];
        }
    }
    for (int b = 0; b < s->bodies; b++) {
        const pp_body *body = &r->model->body[b];
        memcpy(out->nu + body->at, s->v + PP_SWEEP_V * (ptrdiff_t)b,
               (size_t)body->nv * sizeof *out->nu);
    }
}

// Slip speeds at nu, as pp_run_close has them: without joints nothing else of it is needed.
static void set_sigma(pp_run *r)
{
    for (int g = 0; g < r->rows->ng; g++) {
        double slip[2];
        pp_friction_slip(r->model, r->rows, &r->rows->group[g], r->out->nu, slip);
        r->out->sigma[g] = pp_friction_support(&r->rows->group[g], false, slip);
    }
}

perp_status pp_run_by_sweeps(pp_run *r, bool *solved)
{
    pp_sweep s;
    int nv = r->model->nv;
    bool fit;
    *solved = false;
    if (!pp_run_is_sweepable(r)) {
        return PERP_OK;
    }
    double *start = PP_ARRAY(r->arena, double, nv);
    perp_status status = start ? pp_run_build_sweep(r, &s, &fit) : PERP_ERR_MEMORY;
    if (status < 0 || !fit) {
        return status;
    }
    // start: velocities without contacts, M^-1 (M nu_l + p_ext)
    pp_masses_mul(r->model, r->kin->mass, r->nu, start);
    pp_axpy(nv, 1.0, r->kin->loads.p_ext, start);
    pp_masses_solve(r->model, r->kin->mass, start, start);
    double residual;
    status = sweep_until_converged(r, start, &s, &residual);
    if (status < 0) {
        return status;
    }
    r->out->effort.solvers++;
    double tolerance = r->options->tolerance;
    bool met = residual <= tolerance && r->slack <= WORST_ROW * tolerance;
    // Not within the tolerance: the answer is taken only where the budget leaves time for nothing
    // else.
    r->budget_spent = !met && pp_run_budget_spent(r);
    *solved = met || r->budget_spent;
    if (*solved) {
        pp_run_unpack_sweep(r, &s);
        set_sigma(r);
        r->polygons = false;
        r->nu_current = true;
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "sweeps";
        r->out->size = 3 * r->rows->nn;
    }
    return PERP_OK;
}
