// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts by their modes: semismooth Newton on the map of Alart and Curnier (C21), in the space of
// velocities, warm-started with the impulses of the step before.                           theory (S8)
//
// Most steps of a simulation keep the modes (active set) of the step before; then one or two linear systems give
// the answer to rounding. Many others differ in a few modes, and a few more steps find them. Where that does not
// happen soon, central paths and convex problems find them; where these fail, the solvers of comp/ start from scratch, and
// what they find is polished here (pp_run_polish).
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

// One phase, a warm start, and no solver that the user asked for by name.
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
    return true;
}

double pp_modes_body_mobility(const pp_run *r, const pp_row *row)
{
    double m = pp_row_mobility(r->model, r->kin->mass, row);
    return m > 0.0 ? m : 1.0;  // 0: between bodies that are not free
}

// The sets of friction rows of a contact, which follow each other. Sliding is measured by the mobility of the normal,
// moments by their own; arm^2 is the ratio of the two.
static void set_friction(const pp_run *r, int i, pp_mode_contact *c)
{
    const pp_rows *rows = r->rows;
    const pp_friction *group = &rows->group[rows->friction[i]];
    c->t = &rows->t[group->t];
    c->sets = rows->grouped[i];
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        f->first = group[g].t - group->t + 1;
        f->size = group[g].size;
        f->mu = group[g].mu;
        f->sides = group[g].facets;
        f->moment = group[g].kind != PP_SLIDE;
        f->mobility = f->moment ? pp_modes_body_mobility(r, &rows->t[group[g].t]) : c->mobility;
        f->arm = f->moment ? sqrt(c->mobility / f->mobility) : 1.0;
        c->size += f->size;
    }
}

static void set_boxed_mobility(pp_mode_contact *c, double mobility)
{
    c->mobility = mobility + c->n->gamma;
    c->weight = 1.0 - c->n->gamma / c->mobility;
}

// Contacts and limits, boxed rows, then the bilateral rows that the coordinates leave. False: out of memory.
static bool set_touches(pp_modes *s)
{
    const pp_run *r = s->run;
    const pp_rows *rows = r->rows;
    s->count = rows->nn + rows->nm;
    s->rows = s->count;
    int bilateral = s->tree ? r->closed.nb : rows->nb;
    s->contact = PP_ZEROS(r->arena, pp_mode_contact, (size_t)s->count + (size_t)bilateral);
    pp_mode_friction *friction = PP_ZEROS(r->arena, pp_mode_friction, rows->ng);
    if (!s->contact || (!friction && rows->ng > 0)) {
        return false;
    }
    for (int i = 0; i < rows->nn; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->n = &rows->n[i];
        c->p = &r->out->pn[i];
        c->mobility = pp_modes_body_mobility(r, c->n);
        c->weight = 1.0;
        c->bias = c->n->bias;
        if (rows->grouped[i] > 0) {
            c->friction = friction + rows->friction[i];
            set_friction(r, i, c);
        }
    }
    for (int i = 0; i < rows->nm; i++) {
        pp_mode_contact *c = &s->contact[rows->nn + i];
        c->n = &rows->m[i];
        c->p = &r->out->pm[i];
        c->boxed = true;
        c->bias = c->n->bias;
        if (!s->tree) {
            set_boxed_mobility(c, pp_modes_body_mobility(r, c->n));
        }
    }
    for (int i = 0; i < bilateral; i++) {
        // without a law of its own: a row that always sticks
        pp_mode_contact *c = &s->contact[s->rows++];
        c->n = &rows->b[s->tree ? r->closed.row[i] : i];
        c->mode = PP_MODE_STICK;
        if (!s->tree) {
            c->stiffness = 1.0 / (PP_MODES_STIFF * pp_modes_body_mobility(r, c->n) + c->n->gamma);
        }
    }
    return true;
}

// Friction impulses of a contact within the answer; for a contact without friction nothing of it is
// read.
double *pp_modes_friction_impulses(const pp_modes *s, const pp_mode_contact *c)
{
    return s->run->out->pt + (c->size > 0 ? c->t - s->run->rows->t : 0);
}

// nu = M^-1 (M nu_l + p_ext + W p), joints closed, from scratch: updating nu by dnu instead would keep the
// rounding of every step, and the residual could not come to 1e-15 of the speeds.
void pp_modes_velocities(pp_modes *s)
{
    const pp_run *r = s->run;
    if (s->tree) {
        pp_modes_tree_rates(s);
        return;
    }
    memcpy(s->nu, s->start, (size_t)r->model->nv * sizeof *s->nu);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *pt = pp_modes_friction_impulses(s, c);
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

// Outward unit normal of the edge of the friction polygon in whose sector x lies.
// Vertices are at multiples of 2 pi / sides, so normals are halfway between.
static void edge_at(const pp_mode_friction *f, const double x[2], double n[2])
{
    double width = 6.283185307179586 / f->sides;
    double middle = (floor(pp_atan2(x[1], x[0]) / width) + 0.5) * width;
    n[0] = pp_cos(middle);
    n[1] = pp_sin(middle);
}

// Whether x is outside the friction set of radius `limit`. slip: |x|^2, for discs.
static bool is_beyond(const pp_mode_friction *f, const double x[2], double limit, double slip)
{
    double n[2];
    if (f->sides == 0) {
        return slip > sqr(limit);
    }
    edge_at(f, x, n);
    return n[0] * x[0] + n[1] * x[1] > pp_cos(3.141592653589793 / f->sides) * limit;
}

// Linearisation of the projection of x onto the friction set, which slips with x = p - rho u. Disc: e = x / |x|, and
// the derivative of the projection across e is limit / |x| = share. Polygon: the nearest point is a vertex, where the
// derivative is 0, or on an edge, along which the contact sticks.                       theory (C38)
static void set_slip(pp_mode_friction *f, const double x[2], double limit, double length)
{
    f->edge = false;
    f->grip = f->mu;
    if (f->sides == 0) {
        f->e[0] = x[0] / length;
        f->e[1] = x[1] / length;
        f->share = limit / length;
        return;
    }
    double angle = 3.141592653589793 / f->sides, apothem = pp_cos(angle), half = pp_sin(angle),
           n[2];
    edge_at(f, x, n);
    double along = n[0] * x[1] - n[1] * x[0];
    f->edge = fabs(along) < half * limit;
    // On an edge e is its normal; at a vertex it is that vertex, the normal turned by +- pi / sides.
    double side = 0.0, out = 1.0;
    if (!f->edge) {
        side = along > 0.0 ? half : -half;
        out = apothem;
    }
    f->e[0] = out * n[0] - side * n[1];
    f->e[1] = out * n[1] + side * n[0];
    f->grip = f->edge ? apothem * f->mu : f->mu;
    f->share = 0.0;
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

// Whether a set of friction rows sticks or slips at (p, u), by x = p - rho u and the normal's x_n: it slips for x outside
// mu x_n B. Returns how far it is from the law of that, squared [m^2/s^2]. The factors stay valid (s->factored) while
// nothing changes and no set slips on a disc, whose e turns from step to step.
static double set_friction_mode(pp_modes *s, pp_mode_friction *f, const double *u, double x_n,
                                double p_n, const double *p)
{
    double rho = 1.0 / f->mobility, x[2] = {0.0, 0.0}, slip = 0.0, error = 0.0;
    for (int k = 0; k < f->size; k++) {
        x[k] = p[k] - rho * u[k];
        slip += sqr(x[k]);
    }
    double limit = f->mu * x_n;
    bool slips = is_beyond(f, x, limit, slip);
    s->factored = s->factored && slips == f->slips && (!slips || f->sides > 0);
    f->slips = slips;
    if (!slips) {  // u = 0
        for (int k = 0; k < f->size; k++) {
            error += sqr(f->arm * u[k]);
        }
        return error;
    }
    // p = mu p_n e; on an edge the slip along it vanishes as well, and the part of p along the edge is free
    double last[2] = {f->e[0], f->e[1]}, aside = 0.0, unit = f->mobility * f->arm;
    set_slip(f, x, limit, sqrt(slip));
    s->factored = s->factored && last[0] == f->e[0] && last[1] == f->e[1];
    if (f->edge) {
        error += sqr(f->arm * (f->e[0] * u[1] - f->e[1] * u[0]));
        aside = f->e[0] * p[1] - f->e[1] * p[0];
    }
    for (int k = 0; k < f->size; k++) {
        double across = k == 0 ? -f->e[1] : f->e[0];
        double wanted = fmax(p_n, 0.0) * f->grip * f->e[k] + aside * across;
        error += sqr((p[k] - wanted) * unit);
    }
    return error;
}

// Mode of a contact at (p, u), by x = p - rho u: open for x_n <= 0. Returns how far the contact is from the law of its
// mode, squared [m^2/s^2]; errors of impulses count times the mobility.
static double set_mode(pp_modes *s, pp_mode_contact *c, double pn, const double *pt)
{
    double rho = 1.0 / c->mobility, x_n = pn - rho * c->u[0], error;
    pp_contact_mode mode = x_n > 0.0 ? PP_MODE_STICK : PP_MODE_OPEN;
    if (mode == PP_MODE_OPEN) {  // p = 0
        s->factored = s->factored && mode == c->mode;
        c->mode = mode;
        error = sqr(pn);
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            f->slips = false;
            for (int k = 0; k < f->size; k++) {
                error += sqr(pt[f->first - 1 + k] / f->arm);
            }
        }
        return error * sqr(c->mobility);
    }
    error = sqr(c->u[0]);
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        error += set_friction_mode(s, f, c->u + f->first, x_n, pn, pt + f->first - 1);
        mode = f->slips ? PP_MODE_SLIP : mode;
    }
    s->factored = s->factored && mode == c->mode;
    c->mode = mode;
    return error;
}

// dp = c - K J dnu of a set that slips, c of the normal given. Along e friction follows the normal
// impulse: the constant part is what p lacks of mu p_n e. Across e the projection of a disc
// has the slope `share`, by which the part of p is divided by 1 - share + share alpha rho; on an edge of a
// polygon it sticks.
static void linearise_slip(const pp_modes *s, pp_mode_contact *c, pp_mode_friction *f, double pn,
                           const double *pt)
{
    const double *p = pt + f->first - 1, *u = c->u + f->first;
    double along = 0.0, across = 0.0, side[2] = {0.0, 0.0};
    f->k_f = 0.0;
    for (int k = 0; k < f->size; k++) {
        along += f->e[k] * p[k];
    }
    if (f->size == 2) {
        double rest = 1.0 - f->share + f->share * s->proximal;
        side[0] = -f->e[1];
        side[1] = f->e[0];
        across = (side[0] * p[0] + side[1] * p[1]) / rest;
        f->k_f = f->share / (f->mobility * rest);
    }
    if (f->edge) {
        across = f->stiffness * (side[0] * u[0] + side[1] * u[1]);
        f->k_f = f->stiffness;
    }
    double missing = f->grip * pn - along + f->grip * c->c[0];
    for (int k = 0; k < f->size; k++) {
        c->c[f->first + k] = missing * f->e[k] - across * side[k];
    }
}

// The linear laws of all contacts in their modes, for the proximal term s->proximal.     theory
// (S8)
static void linearise(pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        const double *pt = pp_modes_friction_impulses(s, c);
        c->stiffness = 1.0 / (s->proximal * c->mobility + c->n->gamma);
        if (c->mode == PP_MODE_LOWER || c->mode == PP_MODE_UPPER) {
            c->c[0] = (c->mode == PP_MODE_LOWER ? c->n->lower : c->n->upper) - pn;
            continue;
        }
        // K of an open contact is 0: its stiffness is set, but move_impulses multiplies it by 0.
        c->c[0] = c->mode == PP_MODE_OPEN ? -pn : -c->stiffness * c->u[0];
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            f->stiffness = f->moment ? 1.0 / (s->proximal * f->mobility) : c->stiffness;
            for (int k = f->first; k < f->first + f->size; k++) {
                c->c[k] = c->mode == PP_MODE_OPEN ? -pt[k - 1] : -f->stiffness * c->u[k];
            }
            if (f->slips) {
                linearise_slip(s, c, f, pn, pt);
            }
        }
    }
}

double pp_modes_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (s->tree && c->only >= 0) {
        return c->J[c->only] * s->qd[c->only] + c->still[0];
    }
    if (s->tree) {
        return pp_dot(s->n, c->J + (size_t)k * (size_t)s->n, s->qd) + c->still[k];
    }
    return pp_row_rate(s->run->model, k == 0 ? c->n : &c->t[k - 1], s->nu);
}

// u = J nu + rate + bias of every contact [m/s], and with it the modes. A NaN counts as the worst
// error: it must not pass a comparison that looks for small ones. s->scale is the largest speed in play, which rounding is
// measured by; that of impulses that were left again does not count.
double pp_modes_evaluate(pp_modes *s)
{
    double worst = 0.0;
    s->scale = s->least_scale;
    pp_modes_velocities(s);
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        c->u[0] = pp_modes_rate(s, c, 0) + c->bias + c->n->gamma * pn;
        for (int k = 0; k < c->size; k++) {
            c->u[k + 1] = pp_modes_rate(s, c, k + 1) + c->t[k].bias;
        }
        double error =
            c->boxed ? set_box_mode(s, c) : set_mode(s, c, pn, pp_modes_friction_impulses(s, c));
        worst = error > worst || isnan(error) ? error : worst;
        double speed = fmax(fabs(pn) * c->mobility, fabs(c->n->bias));
        s->scale = fmax(s->scale, c->weight * speed);
    }
    return sqrt(worst);
}

// The rows' given part (row->rate) does not change in a step.
double pp_modes_step_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (s->tree && c->only >= 0) {
        return c->J[c->only] * s->step[c->only];
    }
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
        double *pt = pp_modes_friction_impulses(s, c), u[PP_MODE_ROWS] = {0.0};
        bool closed = c->mode == PP_MODE_STICK || c->mode == PP_MODE_SLIP;
        int rows = closed ? c->size + 1 : 0;
        for (int k = 0; k < rows; k++) {
            u[k] = pp_modes_step_rate(s, c, k);
        }
        *c->p += c->c[0] - c->stiffness * u[0];
        for (int g = 0; g < c->sets; g++) {
            const pp_mode_friction *f = &c->friction[g];
            const double *v = u + f->first;
            double across =
                f->slips && f->size == 2 ? f->k_f * (f->e[0] * v[1] - f->e[1] * v[0]) : 0.0;
            for (int k = 0; k < f->size; k++) {
                double follows = 0.0;  // component k of K J dnu
                if (f->slips) {
                    follows = f->grip * c->stiffness * u[0] * f->e[k] +
                              across * (k == 0 ? -f->e[1] : f->e[0]);
                } else if (closed) {
                    follows = f->stiffness * v[k];
                }
                pt[f->first - 1 + k] += c->c[f->first + k] - follows;
            }
        }
    }
}

// Many contacts: gaps within what is accepted count as touching, so that a pile can rest. Its gaps differ by what the steps
// before left over, and exactly those decide which of the contacts that can share a load carry it: every step would move
// load from one to another, and leave other gaps behind.                                   theory (S17)
static void set_slop_of_many(pp_modes *s)
{
    const pp_run *r = s->run;
    // a form that the user asked for is solved as it is printed
    bool asked = r->options->form == PERP_FORM_LCP || r->options->form == PERP_FORM_MCP;
    if (asked || !pp_modes_are_many(s)) {
        return;
    }
    for (int i = 0; i < r->rows->nn; i++) {
        const pp_mode_contact *c = &s->contact[i];
        s->scale = fmax(s->scale, fmax(r->inputs->warm[i] * c->mobility, fabs(c->bias)));
    }
    s->least_scale = s->scale;
    s->slop = pp_modes_goal(s);
}

// Few contacts come to rounding as they are in nearly all steps. Those that rest, and do not, have gaps that disagree.
void pp_modes_set_slop(pp_modes *s)
{
    bool asked = s->run->options->form == PERP_FORM_LCP || s->run->options->form == PERP_FORM_MCP;
    s->slop = asked ? 0.0 : 0.5 * pp_modes_accepted(s);
}

void pp_modes_use_slop(pp_modes *s, double width)
{
    double bound = s->run->options->most_slop;
    width = bound > 0.0 ? fmin(bound, width) : width;
    for (int i = 0; i < s->run->rows->nc; i++) {
        pp_mode_contact *c = &s->contact[i];
        double most = c->n->bounces ? 0.0 : width;
        c->bias = c->n->bias - pp_clamp(c->n->bias, -most, most);
    }
}

// Speeds by which rates are known to rounding: at the start, and what the loads add. Relative rates may be zero while all falls.
static double free_speed(const pp_run *r)
{
    double most = pp_norm_inf(r->model->nv, r->nu);
    for (int i = 0; i < r->model->bodies; i++) {
        const pp_body *body = &r->model->body[i];
        for (int k = 0; k < body->nv; k++) {
            double p = body->axis[k] < 3 ? fabs(r->kin->loads.p_ext[body->at + k]) : 0.0;
            most = fmax(most, p / body->divisor_mass);
        }
    }
    return most;
}

// Bodies that exchange energy, by union and find: the lowest of a group is its root.
static int root_of(int *group, int i)
{
    while (group[i] != i) {
        group[i] = group[group[i]];
        i = group[i];
    }
    return i;
}

static void tie_pair(int *group, int i, int k)
{
    int a = root_of(group, i), b = root_of(group, k);
    group[a > b ? a : b] = a < b ? a : b;
}

static void tie_bodies(int *group, const pp_row *row)
{
    for (int k = 1; k < row->count; k++) {
        tie_pair(group, row->body[0], row->body[k]);
    }
}

// The energy of each body at its speed, and the speed by which the certificate judges errors: that of the fastest body. In joint
// coordinates several machines may be solved at once, and each is an island of the certificate: the slowest of those that
// touch counts. (Loads of contacts may tie more of them, which makes none slower.)                   theory (K1)
static bool set_speed(pp_modes *s)
{
    const perp_model *model = s->run->model;
    pp_mark mark = pp_arena_mark(s->run->arena);
    int *group = PP_ARRAY(s->run->arena, int, model->bodies);
    double *fastest = PP_ZEROS(s->run->arena, double, model->bodies);
    if (!group || !fastest) {
        return false;
    }
    for (int i = 0; i < model->bodies; i++) {
        group[i] = s->tree ? i : 0;
    }
    int joints = s->tree ? model->joints : 0;
    for (int j = 0; j < joints; j++) {
        int a = model->joint[j].a, b = model->joint[j].b;
        if (model->body[a].nv > 0 && model->body[b].nv > 0) {
            tie_pair(group, a, b);
        }
    }
    for (int i = 0; i < model->bodies; i++) {
        double speed = pp_run_body_speed(s->run, i);
        int root = root_of(group, i);
        fastest[root] = fmax(fastest[root], speed);
        s->energy[i] = 0.5 * model->body[i].mass * speed * speed;
    }
    double slowest = PP_INF;
    for (int i = 0; i < s->count; i++) {
        const pp_row *row = s->contact[i].n;
        for (int k = 0; k < row->count; k++) {
            slowest = fmin(slowest, fastest[root_of(group, row->body[k])]);
        }
    }
    s->speed = slowest < PP_INF ? slowest : 0.0;
    pp_arena_release(s->run->arena, mark);
    return true;
}

static void tie_loaded(const pp_modes *s, int *group)
{
    const pp_rows *rows = s->run->rows;
    for (int i = 0; i < rows->nb; i++) {
        tie_bodies(group, &rows->b[i]);
    }
    for (int i = 0; i < s->count; i++) {
        if (*s->contact[i].p != 0.0) {
            tie_bodies(group, s->contact[i].n);
        }
    }
}

// Half of what the certificate allows a group of bodies that loaded contacts and joints tie may be created by the impulses:
// p . u is 0 in an answer, and less where it slips. Drives do work, and are left out.          theory (K1), (K4)
double pp_modes_energy_created(pp_modes *s)
{
    const pp_run *r = s->run;
    size_t bodies = (size_t)r->model->bodies;
    pp_mark mark = pp_arena_mark(r->arena);
    int *group = PP_ARRAY(r->arena, int, bodies);
    double *created = PP_ZEROS(r->arena, double, 2 * bodies), *energy = created + bodies,
           worst = 0.0;
    if (!group || !created) {
        return PP_INF;
    }
    for (int i = 0; i < r->model->bodies; i++) {
        group[i] = i;
    }
    // a group has the energy of its bodies [J], and the contacts between them
    tie_loaded(s, group);
    for (int i = 0; i < r->model->bodies; i++) {
        energy[root_of(group, i)] += s->energy[i];
    }
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *pt = pp_modes_friction_impulses(s, c);
        if (c->boxed || c->n->count == 0) {
            continue;
        }
        double *sum = &created[root_of(group, c->n->body[0])];
        *sum += *c->p * c->u[0];
        for (int k = 0; k < c->size; k++) {
            *sum += pt[k] * c->u[k + 1];
        }
    }
    for (int i = 0; i < r->model->bodies; i++) {
        double limit = PP_ACCEPTED * r->options->tolerance * energy[i];
        worst = created[i] > 0.0 && limit > 0.0 ? fmax(worst, created[i] / limit) : worst;
    }
    pp_arena_release(r->arena, mark);
    return worst;
}

// Contacts, vectors and the pattern of the system.
static perp_status allocate_modes(pp_modes *s)
{
    pp_run *r = s->run;
    int nv = r->model->nv;
    double *reals = PP_ARRAY(r->arena, double, 3 * (size_t)nv);
    s->tree = r->in.tree;
    s->energy = PP_ARRAY(r->arena, double, r->model->bodies);
    if (!reals || !s->energy || !set_touches(s)) {
        return PERP_ERR_MEMORY;
    }
    s->closes = s->tree || r->rows->nb > 0;
    for (int i = 0; i < r->rows->nb; i++) {
        r->beta[i] = r->rows->b[i].rate + r->rows->b[i].bias;
    }
    s->start = reals;
    s->nu = reals + nv;
    s->step = s->nu + nv;
    pp_masses_mul(r->model, r->kin->mass, r->nu, s->start);
    pp_axpy(nv, 1.0, r->kin->loads.p_ext, s->start);
    s->scale = s->least_scale = free_speed(r);
    set_slop_of_many(s);
    if (!set_speed(s)) {
        return PERP_ERR_MEMORY;
    }
    return pp_modes_prepare(s, r->arena);
}

// With the factors of the last step while they serve: nothing has changed in the matrix.
bool pp_modes_solve_step(pp_modes *s)
{
    if (pp_run_solver_budget_spent(s->run)) {
        return false;
    }
    bool factors = !s->factored;
    if ((factors && !pp_modes_factor(s)) || !pp_modes_solve(s)) {
        return false;
    }
    if (factors) {
        double n = s->n;
        pp_meter_factor(&s->run->meter, s->dense ? n * n * n : pp_ldl_flops(s->ldl));
    }
    s->steps++;
    return true;
}

// One Newton step at fixed modes. A step may use half of a limit on iterations: the rest is for the
// sweeps that follow where modes fail. With unchanged modes the factors of the last step serve:
// then it is a refinement, and costs a solve.
bool pp_modes_step(pp_modes *s)
{
    int most = s->run->options->max_iterations;
    if (most > 0 && 2 * s->steps >= most) {
        return false;
    }
    linearise(s);
    pp_modes_push(s);
    if (!pp_modes_solve_step(s)) {
        return false;
    }
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
bool pp_modes_obeys_laws(pp_modes *s)
{
    pp_run *r = s->run;
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        *c->p = c->boxed ? fmin(fmax(*c->p, c->n->lower), c->n->upper) : fmax(*c->p, 0.0);
    }
    // an answer to rounding of the problem with slop is off by the slop
    bool loose = (s->stalled || s->slop > 0.0) && !r->finish_polygons;
    double most = fmin(1.0, s->scale) * r->options->tolerance;
    if (loose) {
        most = pp_modes_plateau(s);
    }
    r->nu_current = pp_run_slack(r) <= most;
    return r->nu_current;
}

static const double FALLBACK_WORK =
    0.5;  // of the work of a step, for others to find a better answer than the candidate

// False: out of memory.
static bool store_candidate(pp_run *r)
{
    r->candidate_work = FALLBACK_WORK * r->max_work;
    const pp_rows *rows = r->rows;
    int nn = rows->nn, nt = rows->nt, nm = rows->nm;
    r->candidate = PP_ARRAY(r->arena, double, (size_t)nn + (size_t)nt + (size_t)nm);
    if (!r->candidate) {
        return false;
    }
    pp_copy_numbers(r->candidate, r->out->pn, nn);
    pp_copy_numbers(r->candidate + nn, r->out->pt, nt);
    pp_copy_numbers(r->candidate + nn + nt, r->out->pm, nm);
    r->candidate_slack = r->slack;
    return true;
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
    *solved = *solved && pp_modes_obeys_laws(s);
    // what convex problems came to is not an answer, but more than none where others fail
    if (!*solved && s->best && pp_modes_are_many(s)) {
        (void)pp_modes_obeys_laws(s);
        r->nu_current = false;
        if (!store_candidate(r)) {
            return PERP_ERR_MEMORY;
        }
    }
    // The state is kept for many contacts only, whose answer by other solvers is polished (forms.c).
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
        r->modes = pp_modes_are_many(s) ? s : NULL;
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
    if (status < 0 || !solved || !pp_modes_obeys_laws(s)) {
        memcpy(r->out->pn, kept, (size_t)nn * sizeof *kept);
        memcpy(r->out->pt, kept + nn, (size_t)nt * sizeof *kept);
        return false;
    }
    return true;
}
