// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The global form for first-order solvers: for each contact the rows of v that it touches, with H_c
// and T_c = M^-1 H_c there.
//
// Where M consists of separate bodies, M^-1 is inverted body by body (mass.c) and T costs no more
// than H; otherwise T comes from solves with the factored M, and each of its columns is full.
#include "comp/sweeping/first.h"

#include <string.h>

// Scratch for collecting the rows of all contacts.
typedef struct gather {
    pp_contact_blocks *blocks;
    perp_matrix H;
    int *mark;      // per velocity: last contact that listed it
    double *h, *t;  // nv dim: H_c and T_c of one contact as full columns
    int *touched;   // nv: scratch
} gather;

// Lists the rows of contact c from place `to` on: all velocities of the bodies it touches, or every
// velocity where M^-1 is full. Returns the next free place; write == false: only counts.
static int list_rows(gather *g, int c, int to, bool write)
{
    pp_contact_blocks *blocks = g->blocks;
    int from = to;
    for (int k = g->H.p[c * blocks->dim]; k < g->H.p[(c + 1) * blocks->dim]; k++) {
        const int *body;
        int size = pp_mass_body(blocks->mass, g->H.i[k], &body);
        // its body is listed already
        if (g->mark[g->H.i[k]] == c) {
            continue;
        }
        for (int m = 0; m < size; m++) {
            int dof = body ? body[m] : m;
            g->mark[dof] = c;
            if (write) {
                blocks->row[to] = dof;
            }
            to++;
        }
    }
    if (write) {
        blocks->p[c] = from;
        blocks->p[c + 1] = to;
    }
    return to;
}

// Scatters H_c into h and T_c = M^-1 H_c into t. Both are zero before, and stay so outside the listed rows.
static perp_status solve_columns(gather *g, int c)
{
    pp_contact_blocks *blocks = g->blocks;
    for (int j = 0; j < blocks->dim; j++) {
        size_t at = (size_t)j * (size_t)blocks->fcp->nv;
        int column = c * blocks->dim + j, count;
        for (int k = g->H.p[column]; k < g->H.p[column + 1]; k++) {
            g->h[at + (size_t)g->H.i[k]] = g->H.x[k];
        }
        perp_status status =
            pp_mass_column(blocks->mass, &g->H, column, g->t + at, g->touched, &count);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Copies H_c and T_c by rows, sums W_cc = H_c' T_c, and clears the scratch columns again.
static perp_status fill_contact(gather *g, int c)
{
    pp_contact_blocks *blocks = g->blocks;
    int dim = blocks->dim, nv = blocks->fcp->nv;
    perp_status status = solve_columns(g, c);
    if (status < 0) {
        return status;
    }
    double *W = blocks->Wcc + (size_t)c * (size_t)(dim * dim);
    for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
        // rows of H_c and T_c together in memory: a sweep reads them in this order
        for (int j = 0; j < dim; j++) {
            size_t from = (size_t)j * (size_t)nv + (size_t)blocks->row[k];
            blocks->H[(size_t)k * (size_t)dim + (size_t)j] = g->h[from];
            blocks->T[(size_t)k * (size_t)dim + (size_t)j] = g->t[from];
            g->h[from] = g->t[from] = 0.0;
        }
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                W[i + j * dim] += blocks->H[(size_t)k * (size_t)dim + (size_t)i] *
                                  blocks->T[(size_t)k * (size_t)dim + (size_t)j];
            }
        }
    }
    return PERP_OK;
}

// The rows of all contacts: counted first, then allocated and filled.
static perp_status gather_contacts(gather *g)
{
    pp_contact_blocks *blocks = g->blocks;
    int dim = blocks->dim, nv = blocks->fcp->nv, total = 0;
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    for (int c = 0; c < blocks->nc; c++) {
        int next = list_rows(g, c, total, false);
        if (next < total || next > INT32_MAX / (2 * dim)) {  // more than an index can address
            return PERP_ERR_MEMORY;
        }
        total = next;
    }
    blocks->p = PP_ZEROS(blocks->arena, int, blocks->nc + 1);
    blocks->row = PP_ARRAY(blocks->arena, int, total);
    blocks->H = PP_ARRAY(blocks->arena, double, (size_t)total *(size_t)dim);
    blocks->T = PP_ARRAY(blocks->arena, double, (size_t)total *(size_t)dim);
    if (!blocks->p || !blocks->row || !blocks->H || !blocks->T) {
        return PERP_ERR_MEMORY;
    }
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    total = 0;
    for (int c = 0; c < blocks->nc; c++) {
        total = list_rows(g, c, total, true);
        perp_status status = fill_contact(g, c);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// The motion without contacts: v = M^-1 f, which is the state at r = 0, and q = H' v + w.
static perp_status free_motion(pp_contact_blocks *blocks)
{
    const perp_fcp *fcp = blocks->fcp;
    blocks->state_at_zero = PP_ARRAY(blocks->arena, double, fcp->nv);
    if (!blocks->state_at_zero) {
        return PERP_ERR_MEMORY;
    }
    memcpy(blocks->state_at_zero, fcp->f, (size_t)fcp->nv * sizeof(double));
    perp_status status = pp_mass_solve(blocks->mass, blocks->state_at_zero);
    memcpy(blocks->q, fcp->w, (size_t)blocks->n * sizeof(double));
    pp_matrix_mul_t(&fcp->H, 1.0, blocks->state_at_zero, blocks->q);
    return status;
}

// H' = H L and T' = T L with the lengths L of the components.
static void scale_columns(pp_contact_blocks *blocks)
{
    int dim = blocks->dim;
    for (int c = 0; c < blocks->nc; c++) {
        for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
            for (int j = 0; j < dim; j++) {
                double length = blocks->length[(size_t)c * (size_t)dim + (size_t)j];
                blocks->H[(size_t)k * (size_t)dim + (size_t)j] *= length;
                blocks->T[(size_t)k * (size_t)dim + (size_t)j] *= length;
            }
        }
    }
}

// PERP_OK, a negative status, or PERP_INEXACT: condense instead.
perp_status pp_contact_blocks_velocities(pp_contact_blocks *blocks)
{
    const perp_fcp *fcp = blocks->fcp;
    pp_arena *arena = blocks->arena;
    const int *body;
    size_t nv = (size_t)fcp->nv, dim = (size_t)blocks->dim;
    pp_mass_body(blocks->mass, 0, &body);
    if (!body && blocks->n < 2 * fcp->nv) {
        return PERP_INEXACT;  // T, n full columns, would be larger than W
    }
    gather g = {.blocks = blocks,
                .mark = PP_ARRAY(arena, int, nv),
                .h = PP_ZEROS(arena, double, nv *dim),
                .t = PP_ZEROS(arena, double, nv *dim),
                .touched = PP_ARRAY(arena, int, nv)};
    perp_status status = pp_matrix_to_csc(&fcp->H, arena, &g.H);
    if (status < 0) {
        return status;
    }
    if (!g.mark || !g.h || !g.t || !g.touched) {
        return PERP_ERR_MEMORY;
    }
    status = gather_contacts(&g);
    if (status >= 0) {
        status = free_motion(blocks);
    }
    if (status >= 0) {
        status = pp_contact_blocks_scale(blocks);
    }
    if (status >= 0 && blocks->length) {
        scale_columns(blocks);
    }
    blocks->size = fcp->nv;
    return status;
}
