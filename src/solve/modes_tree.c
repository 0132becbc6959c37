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
static bool set_jacobian(pp_modes *s, pp_arena *arena)
{
    size_t n = (size_t)s->n, rows = 0;
    for (int i = 0; i < s->count; i++) {
        rows += 1 + (size_t)s->contact[i].size;
    }
    double *J = PP_ARRAY(arena, double, rows *n);
    if (!J) {
        return false;
    }
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->J = J;
        for (int k = 0; k <= c->size; k++) {
            const pp_row *row = k == 0 ? c->n : &c->t[k - 1];
            c->repeats = i > 0 && c->size == 0 && pp_row_has_same_gradient(c[-1].n, row) &&
                         c[-1].n->rate == row->rate;
            if (c->repeats) {
                memcpy(J, c[-1].J, n * sizeof *J);
                c->still[k] = c[-1].still[0];
            } else {
                pp_tree_row(s->tree, row, J);
                c->still[k] = pp_row_rate(s->run->model, row, s->run->in.nu_0);
            }
            J += n;
        }
        c->only = c->size == 0 ? only_entry(s->n, c->J) : -1;
    }
    // bilateral rows are those that are closed
    for (int i = s->count; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->J = s->run->closed.Jq + (size_t)(i - s->count) * n;
        c->only = only_entry(s->n, c->J);
    }
    return true;
}

// What a unit impulse along a row does to its own rate, J H^-1 J^T. The bodies by themselves are no measure: a foot is light,
// and the robot on it is not.
static double mobility_of(pp_modes *s, const double *J)
{
    memcpy(s->step, J, (size_t)s->n * sizeof *s->step);
    pp_coordinates_solve(&s->run->in, s->step);
    return pp_dot(s->n, J, s->step);
}

static void set_mobilities(pp_modes *s)
{
    const pp_coordinates *in = &s->run->in;
    double before = 0.0;  // of the last row
    for (int i = 0; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        double mobility;
        // J H^-1 J^T: of rows that are closed it is known, of rows along one rate it is one entry of H^-1
        if (!c->p) {
            const double *HJ = s->run->closed.HJ + (size_t)(i - s->count) * (size_t)s->n;
            mobility = pp_dot(s->n, c->J, HJ);
        } else if (c->repeats) {
            mobility = before;
        } else if (c->only >= 0 && in->H) {
            double J = c->J[c->only];
            mobility = J * J * pp_tree_mobility(in->tree->tree, in->H, c->only, s->step);
        } else {
            mobility = mobility_of(s, c->J);
        }
        if (!(mobility > 0.0)) {
            mobility = pp_modes_body_mobility(s->run, c->n);
        }
        before = mobility;
        if (!c->p) {
            c->stiffness = 1.0 / (PP_MODES_STIFF * mobility + c->n->gamma);
            continue;
        }
        c->mobility = mobility + c->n->gamma;
        c->weight = 1.0 - c->n->gamma / c->mobility;
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            double own =
                f->moment ? mobility_of(s, c->J + (size_t)f->first * (size_t)s->n) : c->mobility;
            f->mobility = own > 0.0 ? own : f->mobility;
            f->arm = f->moment ? sqrt(c->mobility / f->mobility) : 1.0;
        }
    }
}

// S^T (M nu_l + p_ext - M nu_0), and J nu_0 + rate + bias of the bilateral rows.
static void set_push(pp_modes *s)
{
    const pp_run *r = s->run;
    const perp_model *m = r->model;
    double *momentum = s->nu;
    pp_masses_mul(m, r->kin->mass, r->in.nu_0, momentum);
    for (int i = 0; i < m->nv; i++) {
        momentum[i] = s->start[i] - momentum[i];
    }
    pp_tree_gather(s->tree, momentum, s->push);
    for (int i = 0; i < r->rows->nb; i++) {
        const pp_row *row = &r->rows->b[i];
        if (!r->in.implied[i]) {
            s->still[i] = pp_row_rate(m, row, r->in.nu_0) + row->bias;
        }
    }
}

// As set_velocities of modes.c, in the rates of the tree alone.
void pp_modes_tree_rates(pp_modes *s)
{
    const pp_run *r = s->run;
    memcpy(s->qd, s->push, (size_t)s->n * sizeof *s->qd);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *pt = r->out->pt + (c->size > 0 ? c->t - r->rows->t : 0);
        add_normal(s, c, *c->p, s->qd);
        for (int k = 0; k < c->size; k++) {
            pp_axpy(s->n, pt[k], c->J + (size_t)(k + 1) * (size_t)s->n, s->qd);
        }
    }
    pp_closed_rates(&r->closed, s->still, s->qd, r->out->pb);
}

// Of large trees, which are factored without H.
static perp_status set_mass(pp_modes *s, pp_arena *arena)
{
    double *H = PP_ARRAY(arena, double, s->values);
    if (!H) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_mass(s->tree, H);
    for (int k = 0; k < s->n; k++) {
        H[((size_t)s->n + 1) * (size_t)k] += s->run->in.soft[k];
    }
    s->H = H;
    return PERP_OK;
}

perp_status pp_modes_tree_prepare(pp_modes *s, pp_arena *arena)
{
    s->n = s->tree->tree->nv;
    s->dense = true;
    s->values = s->n * s->n;
    s->x = PP_ARRAY(arena, double, s->values);
    s->upper = PP_ARRAY(arena, double, 2 * (size_t)s->n);  // rows of a closed contact
    s->pivot = PP_ARRAY(arena, int, s->n);
    s->qd = PP_ARRAY(arena, double, 2 * (size_t)s->n);
    s->still = PP_ARRAY(arena, double, s->run->rows->nb);
    if (!s->x || !s->upper || !s->pivot || !s->qd || !s->still || !set_jacobian(s, arena)) {
        return PERP_ERR_MEMORY;
    }
    s->push = s->qd + s->n;
    set_push(s);
    set_mobilities(s);
    s->H = s->run->in.unfactored;
    return s->H ? PERP_OK : set_mass(s, arena);
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

// A contact with a K of its own, as in modes_system.c.
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

// A closed contact, as in modes_system.c.
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
    bool turns = s->law == PP_MODE_SHIFTED && (c->turn[0] != 0.0 || c->turn[1] != 0.0);
    if (turns) {
        memcpy(side, l, (size_t)n * sizeof *side);
        r = side;
    }
    int turning = turns ? c->friction[0].size : 0;
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
    memcpy(s->x, s->H, (size_t)s->values * sizeof *s->x);
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

void pp_modes_tree_solve(pp_modes *s)
{
    if (s->symmetric) {
        pp_chol_solve(s->n, s->x, s->n, s->step);
    } else {
        pp_lu_solve(s->n, s->x, s->n, s->pivot, s->step);
    }
}
