// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system H + sum J' K J of a machine in joint coordinates.                       theory (S14)
//
// H and the rows J are those of the tree's rates: a robot of thirty joints is a system of thirty unknowns, whatever its
// bodies, limits and motors are. It is dense: contacts tie a tree's branches together. A row has as many entries as
// there are rates between its bodies and the root, and only those are multiplied.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

// The one entry of x that is not zero; -1: there are others.
static int only_entry(int n, const double *x)
{
    int only = -1;
    for (int k = 0; k < n; k++) {
        if (x[k] != 0.0 && only >= 0) {
            return -1;
        }
        only = x[k] != 0.0 ? k : only;
    }
    return only;
}

// to += k J of the normal row.
static void add_normal(const pp_modes *s, const pp_mode_contact *c, double k, double *to)
{
    if (c->only >= 0) {
        to[c->only] += k * c->J[c->only];
    } else {
        pp_axpy(s->n, k, c->J, to);
    }
}

// The rows of all contacts in joint coordinates, one after the other, n numbers each.
static bool set_jacobian(pp_step_modes *m)
{
    pp_modes *s = &m->s;
    size_t n = (size_t)s->n, rows = 0;
    for (int i = 0; i < s->count; i++) {
        rows += 1 + (size_t)s->contact[i].size;
    }
    double *J = PP_ARRAY(s->arena, double, rows *n);
    if (!J) {
        return false;
    }
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        const pp_row *normal = pp_step_row(m, i), *friction = pp_step_friction_rows(m, i);
        const pp_row *before = i > 0 ? pp_step_row(m, i - 1) : NULL;
        c->J = J;
        c->Jt = J + n;
        c->stride = s->n;
        for (int k = 0; k <= c->size; k++) {
            const pp_row *row = k == 0 ? normal : &friction[k - 1];
            c->repeats = before && c->size == 0 && pp_row_has_same_gradient(before, row) &&
                         before->rate == row->rate;
            if (c->repeats) {
                memcpy(J, c[-1].J, n * sizeof *J);
                c->given[k] = c[-1].given[0];
            } else {
                pp_tree_row(m->tree, row, J);
                c->given[k] = pp_row_rate(m->run->model, row, m->run->in.nu_0);
            }
            J += n;
        }
        c->only = c->size == 0 ? only_entry(s->n, c->J) : -1;
    }
    // bilateral rows are those that are closed
    for (int i = s->count; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->J = m->run->closed.Jq + (size_t)(i - s->count) * n;
        c->only = only_entry(s->n, c->J);
    }
    return true;
}

// What a unit impulse along a row does to its own rate, J H^-1 J^T. The bodies by themselves are no measure: a foot is light,
// and the robot on it is not.
static double mobility_of(pp_step_modes *m, const double *J)
{
    pp_modes *s = &m->s;
    memcpy(s->step, J, (size_t)s->n * sizeof *s->step);
    pp_coordinates_solve(&m->run->in, s->step);
    return pp_dot(s->n, J, s->step);
}

static void set_mobilities(pp_step_modes *m)
{
    pp_modes *s = &m->s;
    const pp_coordinates *in = &m->run->in;
    double before = 0.0;  // of the last row
    for (int i = 0; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        double mobility;
        // J H^-1 J^T: of rows that are closed it is known, of rows along one rate it is one entry of H^-1
        if (!c->p) {
            const double *HJ = m->run->closed.HJ + (size_t)(i - s->count) * (size_t)s->n;
            mobility = pp_dot(s->n, c->J, HJ);
        } else if (c->repeats) {
            mobility = before;
        } else if (c->only >= 0 && in->H) {
            double J = c->J[c->only];
            mobility = J * J * pp_tree_mobility(in->tree->tree, in->H, c->only, s->step);
        } else {
            mobility = mobility_of(m, c->J);
        }
        if (!(mobility > 0.0)) {
            mobility = pp_modes_body_mobility(m->run, pp_step_row(m, i));
        }
        before = mobility;
        if (!c->p) {
            c->stiffness = 1.0 / (PP_MODES_STIFF * mobility + c->gamma);
            continue;
        }
        c->mobility = mobility + c->gamma;
        c->weight = 1.0 - c->gamma / c->mobility;
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            double own =
                f->moment ? mobility_of(m, c->J + (size_t)f->first * (size_t)s->n) : c->mobility;
            f->mobility = own > 0.0 ? own : f->mobility;
            f->arm = f->moment ? sqrt(c->mobility / f->mobility) : 1.0;
        }
    }
}

// S^T (M nu_l + p_ext - M nu_0), and J nu_0 + rate + bias of the bilateral rows.
static void set_push(pp_step_modes *m, double *momentum)
{
    const pp_run *r = m->run;
    const perp_model *model = r->model;
    pp_masses_mul(model, r->kin->mass, r->in.nu_0, momentum);
    for (int i = 0; i < model->nv; i++) {
        momentum[i] = m->start[i] - momentum[i];
    }
    pp_tree_gather(m->tree, momentum, m->push);
    for (int i = 0; i < r->rows->nb; i++) {
        const pp_row *row = &r->rows->b[i];
        if (!r->in.implied[i]) {
            m->still[i] = pp_row_rate(model, row, r->in.nu_0) + row->bias;
        }
    }
}

// As find_velocities of modes.c, in the rates of the tree alone.
void pp_modes_tree_velocities(pp_modes *s)
{
    const pp_step_modes *m = pp_const_step_of(s);
    memcpy(s->velocity, m->push, (size_t)s->n * sizeof *s->velocity);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        add_normal(s, c, *c->p, s->velocity);
        for (int k = 0; k < c->size; k++) {
            pp_axpy(s->n, c->pt[k], pp_mode_row(c, k + 1), s->velocity);
        }
    }
    pp_closed_rates(&m->run->closed, m->still, s->velocity, m->run->out->pb);
}

// The nearest velocities at which loops and drives are closed.
void pp_modes_tree_close(pp_modes *s, double *v)
{
    const pp_step_modes *m = pp_const_step_of(s);
    pp_closed_nearest(&m->run->closed, m->still, v, m->run->out->pb);
}

void pp_modes_tree_multiply(const pp_modes *s, const double *x, double *y)
{
    const double *H = pp_const_step_of(s)->H;
    for (int i = 0; i < s->n; i++) {
        y[i] = pp_dot(s->n, H + (size_t)i * (size_t)s->n, x);  // H is symmetric
    }
}

double pp_modes_tree_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (c->only >= 0) {
        return c->J[c->only] * s->velocity[c->only] + c->given[0];
    }
    return pp_dot(s->n, pp_mode_row(c, k), s->velocity) + c->given[k];
}

double pp_modes_tree_step_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    if (c->only >= 0) {
        return c->J[c->only] * s->step[c->only];
    }
    return pp_dot(s->n, pp_mode_row(c, k), s->step);
}

// Of large trees, which are factored without H.
static perp_status set_mass(pp_step_modes *m)
{
    int n = m->s.n;
    double *H = PP_ARRAY(m->s.arena, double, m->s.values);
    if (!H) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_mass(m->tree, H);
    for (int k = 0; k < n; k++) {
        H[((size_t)n + 1) * (size_t)k] += m->run->in.soft[k];
    }
    m->H = H;
    return PERP_OK;
}

perp_status pp_modes_tree_prepare(pp_step_modes *m)
{
    pp_modes *s = &m->s;
    double *momentum = s->velocity;
    s->n = s->size = s->speeds = m->tree->tree->nv;
    s->dense = true;
    s->values = s->n * s->n;
    s->x = PP_ARRAY(s->arena, double, s->values);
    s->upper = PP_ARRAY(s->arena, double, 2 * (size_t)s->n);  // rows of a closed contact
    s->pivot = PP_ARRAY(s->arena, int, s->n);
    s->velocity = PP_ARRAY(s->arena, double, 2 * (size_t)s->n);
    m->still = PP_ARRAY(s->arena, double, m->run->rows->nb);
    if (!s->x || !s->upper || !s->pivot || !s->velocity || !m->still || !set_jacobian(m)) {
        return PERP_ERR_MEMORY;
    }
    m->push = s->velocity + s->n;
    set_push(m, momentum);
    set_mobilities(m);
    m->H = m->run->in.unfactored;
    return m->H ? PERP_OK : set_mass(m);
}

// X += k l r'. Columns in which r has no entry are passed over.
static void add_outer_product(const pp_modes *s, double k, const double *l, const double *r)
{
    for (int j = 0; j < s->n; j++) {
        if (r[j] != 0.0) {
            pp_axpy(s->n, k * r[j], l, s->x + (size_t)j * (size_t)s->n);
        }
    }
}

// A contact with a K of its own, as in modes_bodies.c.
static void add_central(const pp_modes *s, const pp_mode_contact *c)
{
    size_t n = (size_t)s->n;
    for (int k = 0; k < c->dim; k++) {
        double *l = s->upper;  // column k of J' K
        memset(l, 0, n * sizeof *l);
        for (int i = 0; i < c->dim; i++) {
            pp_axpy(s->n, c->K[i + k * c->dim], c->J + (size_t)i * n, l);
        }
        add_outer_product(s, 1.0, l, c->J + (size_t)k * n);
    }
}

// A closed contact, as in modes_bodies.c.
static void add_closed(const pp_modes *s, const pp_mode_contact *c)
{
    int n = s->n;
    double *l = s->upper, *side = l + n;
    if (c->only >= 0) {
        double J = c->J[c->only];
        s->x[(size_t)c->only * ((size_t)n + 1)] += c->stiffness * J * J;
        return;
    }
    memcpy(l, c->J, (size_t)n * sizeof *l);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        int rows = f->slips ? f->size : 0;
        for (int k = 0; k < rows; k++) {
            pp_axpy(n, f->grip * f->e[k], c->J + (size_t)(f->first + k) * (size_t)n, l);
        }
    }
    // the right factor differs from the left one by the slope of the shift
    const double *r = s->law == PP_MODE_EXACT ? c->J : l;
    bool turns = s->law == PP_MODE_SHIFTED && c->turns;
    if (turns) {
        memcpy(side, l, (size_t)n * sizeof *side);
        r = side;
    }
    int turning = turns ? c->size : 0;
    for (int k = 0; k < turning; k++) {
        pp_axpy(n, c->turn[k], c->J + (size_t)(1 + k) * (size_t)n, side);
    }
    add_outer_product(s, c->stiffness, l, r);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        const double *t = c->J + (size_t)f->first * (size_t)n;
        if (!f->slips) {
            for (int k = 0; k < f->size; k++) {
                add_outer_product(s, f->stiffness, t + (size_t)k * (size_t)n,
                                  t + (size_t)k * (size_t)n);
            }
        } else if (f->k_f > 0.0) {  // along (-e_y, e_x)
            memset(side, 0, (size_t)n * sizeof *side);
            pp_axpy(n, -f->e[1], t, side);
            pp_axpy(n, f->e[0], t + n, side);
            add_outer_product(s, f->k_f, side, side);
        }
    }
}

bool pp_modes_tree_factor(pp_modes *s)
{
    s->symmetric = s->law != PP_MODE_SHIFTED && s->law != PP_MODE_CENTRAL;
    memcpy(s->x, pp_step_of(s)->H, (size_t)s->values * sizeof *s->x);
    for (int i = 0; i < s->rows; i++) {
        const pp_mode_contact *c = &s->contact[i];
        if (s->law == PP_MODE_CENTRAL && c->p) {
            add_central(s, c);
        } else if (c->mode == PP_MODE_SLIP || c->mode == PP_MODE_STICK) {
            s->symmetric = s->symmetric && (s->law != PP_MODE_EXACT || c->mode == PP_MODE_STICK);
            add_closed(s, c);
        }
    }
    s->factored = s->symmetric ? pp_chol_factor(s->n, s->x, s->n, 0.0) == 0
                               : pp_lu_factor(s->n, s->x, s->n, s->pivot, 0.0) == 0;
    s->flops = (double)s->n * s->n * s->n;
    return s->factored;
}

void pp_modes_tree_push(pp_modes *s)
{
    memset(s->step, 0, (size_t)s->n * sizeof *s->step);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        add_normal(s, c, c->c[0], s->step);
        for (int k = 1; k <= c->size; k++) {
            pp_axpy(s->n, c->c[k], c->J + (size_t)k * (size_t)s->n, s->step);
        }
    }
}

bool pp_modes_tree_solve(pp_modes *s)
{
    if (s->symmetric) {
        pp_chol_solve(s->n, s->x, s->n, s->step);
    } else {
        pp_lu_solve(s->n, s->x, s->n, s->pivot, s->step);
    }
    return true;
}
