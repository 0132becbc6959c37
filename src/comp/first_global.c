// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The global form, contact by contact: the rows of v that a contact touches, H there and T = M^-1 H.
//
// Where the masses are separate bodies, M^-1 is inverted body by body (mass.c), and T costs no more than
// H; otherwise T comes from solves with the factored M, a full column each.
#include "comp/first.h"

#include <string.h>

typedef struct gather {
    pp_first *first;
    perp_matrix H;
    int *mark;      // per velocity: last contact that listed it
    double *h, *t;  // nv dim: H_c and T_c scattered, component-major
    int *touched;   // nv: scratch
} gather;

// Lists the rows of contact c from `to` on: whole bodies, or every velocity where M^-1 is full.
static int list_rows(gather *g, int c, int to, bool write)
{
    pp_first *f = g->first;
    int from = to;
    for (int k = g->H.p[c * f->dim]; k < g->H.p[(c + 1) * f->dim]; k++) {
        const int *body;
        int size = pp_mass_body(f->mass, g->H.i[k], &body);
        if (g->mark[g->H.i[k]] == c) {
            continue;
        }
        for (int m = 0; m < size; m++) {
            int dof = body ? body[m] : m;
            g->mark[dof] = c;
            if (write) {
                f->row[to] = dof;
            }
            to++;
        }
    }
    if (write) {
        f->p[c] = from;
        f->p[c + 1] = to;
    }
    return to;
}

// H_c into h and T_c = M^-1 H_c into t, both zero before, and after outside the listed rows.
static perp_status solve_columns(gather *g, int c)
{
    pp_first *f = g->first;
    perp_status status = PERP_OK;
    for (int j = 0; status >= 0 && j < f->dim; j++) {
        size_t at = (size_t)j * (size_t)f->fcp->nv;
        int column = c * f->dim + j, count;
        for (int k = g->H.p[column]; k < g->H.p[column + 1]; k++) {
            g->h[at + (size_t)g->H.i[k]] = g->H.x[k];
        }
        status = pp_mass_column(f->mass, &g->H, column, g->t + at, g->touched, &count);
    }
    return status;
}

static perp_status fill_contact(gather *g, int c)
{
    pp_first *f = g->first;
    int dim = f->dim, nv = f->fcp->nv;
    perp_status status = solve_columns(g, c);
    double *W = f->Wcc + (size_t)c * (size_t)(dim * dim);
    for (int k = f->p[c]; status >= 0 && k < f->p[c + 1]; k++) {
        for (int j = 0; j < dim; j++) {
            size_t from = (size_t)j * (size_t)nv + (size_t)f->row[k];
            f->H[(size_t)k * (size_t)dim + (size_t)j] = g->h[from];
            f->T[(size_t)k * (size_t)dim + (size_t)j] = g->t[from];
            g->h[from] = g->t[from] = 0.0;
        }
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                W[i + j * dim] += f->H[(size_t)k * (size_t)dim + (size_t)i] *
                                  f->T[(size_t)k * (size_t)dim + (size_t)j];
            }
        }
    }
    return status;
}

static perp_status gather_contacts(gather *g)
{
    pp_first *f = g->first;
    int dim = f->dim, nv = f->fcp->nv, total = 0;
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    for (int c = 0; c < f->nc; c++) {
        int next = list_rows(g, c, total, false);
        if (next < total || next > INT32_MAX / (2 * dim)) {
            return PERP_ERR_MEMORY;
        }
        total = next;
    }
    f->p = PP_ZEROS(f->arena, int, f->nc + 1);
    f->row = PP_ARRAY(f->arena, int, total);
    f->H = PP_ARRAY(f->arena, double, (size_t)total *(size_t)dim);
    f->T = PP_ARRAY(f->arena, double, (size_t)total *(size_t)dim);
    if (!f->p || !f->row || !f->H || !f->T) {
        return PERP_ERR_MEMORY;
    }
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    total = 0;
    perp_status status = PERP_OK;
    for (int c = 0; status >= 0 && c < f->nc; c++) {
        total = list_rows(g, c, total, true);
        status = fill_contact(g, c);
    }
    return status;
}

// q = H' M^-1 f + w and the state at rest.
static perp_status free_motion(pp_first *f)
{
    const perp_fcp *fcp = f->fcp;
    f->rest = PP_ARRAY(f->arena, double, fcp->nv);
    if (!f->rest) {
        return PERP_ERR_MEMORY;
    }
    memcpy(f->rest, fcp->f, (size_t)fcp->nv * sizeof(double));
    perp_status status = pp_mass_solve(f->mass, f->rest);
    memcpy(f->q, fcp->w, (size_t)f->n * sizeof(double));
    pp_matrix_mul_t(&fcp->H, 1.0, f->rest, f->q);
    return status;
}

static void scale_columns(pp_first *f)
{
    int dim = f->dim;
    for (int c = 0; c < f->nc; c++) {
        for (int k = f->p[c]; k < f->p[c + 1]; k++) {
            for (int j = 0; j < dim; j++) {
                double length = f->length[(size_t)c * (size_t)dim + (size_t)j];
                f->H[(size_t)k * (size_t)dim + (size_t)j] *= length;
                f->T[(size_t)k * (size_t)dim + (size_t)j] *= length;
            }
        }
    }
}

// PERP_OK, a negative status, or PERP_INEXACT: condense instead.
perp_status pp_first_velocities(pp_first *f)
{
    const perp_fcp *fcp = f->fcp;
    pp_arena *arena = f->arena;
    const int *body;
    size_t nv = (size_t)fcp->nv, dim = (size_t)f->dim;
    pp_mass_body(f->mass, 0, &body);
    if (!body && f->n < 2 * fcp->nv) {
        return PERP_INEXACT;
    }
    gather g = {.first = f,
                .mark = PP_ARRAY(arena, int, nv),
                .h = PP_ZEROS(arena, double, nv *dim),
                .t = PP_ZEROS(arena, double, nv *dim),
                .touched = PP_ARRAY(arena, int, nv)};
    perp_status status = pp_matrix_to_csc(&fcp->H, arena, &g.H);
    if (status < 0 || !g.mark || !g.h || !g.t || !g.touched) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    status = gather_contacts(&g);
    status = status < 0 ? status : free_motion(f);
    status = status < 0 ? status : pp_first_scale(f);
    if (status >= 0 && f->length) {
        scale_columns(f);
    }
    f->size = fcp->nv;
    return status;
}
