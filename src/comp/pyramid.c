// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Stewart–Trinkle problem of a contact problem with polygonal friction.            theory (C10)
//
//   r = B p,  p = (p_n, p_f) >= 0: column p_n of contact c is e_n; column j of p_f is direction d_j
//
//   local                                     global
//   [ B'W B   E ] [p]   [B'q]                 [ M   -H B  0 ] [v]   [-f ]
//   [ C       0 ] [s] + [ 0 ]                 [ B'H'  0   E ] [p] + [B'w]      v free
//                                             [ 0     C   0 ] [s]   [ 0 ]
//
// E adds sigma to the friction rows of its contact; C = (U, -E') is mu p_n - sum_j p_f.
#include "comp/comp.h"

#include <math.h>
#include <string.h>

struct perp_pyramid {
    perp_env env;
    pp_arena *arena;
    perp_mcp mcp;
    perp_fcp fcp;   // the caller's, with nd filled in
    int np, ns;     // columns of B; sigmas
    perp_matrix B;  // nc dim x np
    int *sigma;     // np: the sigma of a friction column, -1 for a normal column
    double *mu;     // ns
    int *contact;   // ns: contact of each sigma
};

static int facets_of(const perp_fcp *fcp, const pp_group *group, int c)
{
    return group->size == 1 ? 2 : fcp->nd[c];
}

static perp_status fill_facets(perp_pyramid *y, const perp_fcp *fcp, int facets)
{
    int *nd = PP_ARRAY(y->arena, int, fcp->nc);
    if (!nd) {
        return PERP_ERR_MEMORY;
    }
    for (int c = 0; c < fcp->nc; c++) {
        nd[c] = fcp->nd && fcp->nd[c] > 0 ? fcp->nd[c] : facets;
    }
    y->fcp = *fcp;
    y->fcp.nd = nd;
    return PERP_OK;
}

// Columns of B, and which sigma each belongs to: all normals, then contact by contact its groups.
static perp_status build_basis(perp_pyramid *y)
{
    const perp_fcp *fcp = &y->fcp;
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    int64_t np = fcp->nc, ns = (int64_t)groups * fcp->nc;
    for (int c = 0; c < fcp->nc; c++) {
        for (int g = 0; g < groups; g++) {
            np += facets_of(fcp, &group[g], c);
        }
    }
    if (fcp->nv + 2 * (np + ns) > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    y->np = (int)np;
    y->ns = (int)ns;
    int *p = PP_ARRAY(y->arena, int, y->np + 1), *i = PP_ARRAY(y->arena, int, 2 * y->np);
    double *x = PP_ARRAY(y->arena, double, 2 * y->np);
    y->sigma = PP_ARRAY(y->arena, int, y->np);
    y->mu = PP_ARRAY(y->arena, double, y->ns);
    y->contact = PP_ARRAY(y->arena, int, y->ns);
    if (!p || !i || !x || !y->sigma || !y->mu || !y->contact) {
        return PERP_ERR_MEMORY;
    }
    int column = 0, used = 0;
    for (int c = 0; c < fcp->nc; c++) {
        p[column] = used;
        y->sigma[column++] = -1;
        i[used] = c * fcp->dim;
        x[used++] = 1.0;
    }
    for (int c = 0; c < fcp->nc; c++) {
        for (int g = 0; g < groups; g++) {
            int s = c * groups + g, nd = facets_of(fcp, &group[g], c);
            y->mu[s] = group[g].mu[c];
            y->contact[s] = c;
            for (int j = 0; j < nd; j++) {
                double angle = 6.283185307179586 * (double)j / (double)nd;
                p[column] = used;
                y->sigma[column++] = s;
                i[used] = c * fcp->dim + group[g].first;
                x[used++] = group[g].size == 1 ? (j == 0 ? 1.0 : -1.0) : cos(angle);
                if (group[g].size == 2) {
                    i[used] = c * fcp->dim + group[g].first + 1;
                    x[used++] = sin(angle);
                }
            }
        }
    }
    p[column] = used;
    y->B = perp_matrix_csc(fcp->nc * fcp->dim, y->np, p, i, x);
    return PERP_OK;
}

// A dense matrix is written where B'W B is mostly full; otherwise CSC, column by column.
typedef struct writer {
    int n;
    double *dense;
    int *p, *i;
    double *x;
    size_t used, capacity;
    pp_arena *arena;
} writer;

static bool reserve(writer *w, size_t more)
{
    if (w->dense || w->used + more <= w->capacity) {
        return true;
    }
    size_t capacity = 2 * (w->used + more);
    int *i = PP_ARRAY(w->arena, int, capacity);
    double *x = PP_ARRAY(w->arena, double, capacity);
    if (!i || !x || capacity > INT32_MAX) {
        return false;
    }
    if (w->used > 0) {
        memcpy(i, w->i, w->used * sizeof *i);
        memcpy(x, w->x, w->used * sizeof *x);
    }
    w->i = i;
    w->x = x;
    w->capacity = capacity;
    return true;
}

// Column j from a dense vector (all entries for dense storage, the non-zero ones for CSC).
static bool put_column(writer *w, int j, const double *column)
{
    if (w->dense) {
        memcpy(w->dense + (size_t)j * (size_t)w->n, column, (size_t)w->n * sizeof *column);
        return true;
    }
    if (!reserve(w, (size_t)w->n)) {
        return false;
    }
    w->p[j] = (int)w->used;
    for (int i = 0; i < w->n; i++) {
        if (column[i] != 0.0) {
            w->i[w->used] = i;
            w->x[w->used++] = column[i];
        }
    }
    return true;
}

// out += s B' x
static void times_basis_t(const perp_pyramid *y, double s, const double *x, double *out)
{
    pp_matrix_mul_t(&y->B, s, x, out);
}

// Column of C for p: mu on its contact's sigmas for a normal column, -1 for a friction column.
static void cone_column(const perp_pyramid *y, int column, double *out)
{
    if (y->sigma[column] >= 0) {
        out[y->sigma[column]] = -1.0;
        return;
    }
    int groups = y->ns / y->fcp.nc;
    for (int g = 0; g < groups; g++) {
        out[column * groups + g] = y->mu[column * groups + g];
    }
}

// x += s * column j of A
static void add_column(const perp_matrix *A, int j, double s, double *x)
{
    if (A->dense) {
        pp_axpy(A->rows, s, A->dense + (size_t)j * (size_t)A->rows, x);
        return;
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        x[A->i[k]] += s * A->x[k];
    }
}

// Columns of p: W (or -H) times a column of B, then what the rows make of it.
static bool put_impulse_columns(const perp_pyramid *y, writer *w, double *work, double *column)
{
    const perp_fcp *fcp = &y->fcp;
    int rows = fcp->nc * fcp->dim;
    pp_assert(y->B.p);
    for (int j = 0; j < y->np; j++) {
        memset(column, 0, (size_t)w->n * sizeof *column);
        if (fcp->nv == 0) {
            memset(work, 0, (size_t)rows * sizeof *work);
            for (int k = y->B.p[j]; k < y->B.p[j + 1]; k++) {
                add_column(&fcp->W, y->B.i[k], y->B.x[k], work);
            }
            times_basis_t(y, 1.0, work, column);
        } else {
            for (int k = y->B.p[j]; k < y->B.p[j + 1]; k++) {
                add_column(&fcp->H, y->B.i[k], -y->B.x[k], column);
            }
        }
        cone_column(y, j, column + fcp->nv + y->np);
        if (!put_column(w, fcp->nv + j, column)) {
            return false;
        }
    }
    return true;
}

static bool put_velocity_columns(const perp_pyramid *y, writer *w, const perp_matrix *Ht,
                                 double *work, double *column)
{
    const perp_fcp *fcp = &y->fcp;
    int rows = fcp->nc * fcp->dim;
    for (int j = 0; j < fcp->nv; j++) {
        memset(column, 0, (size_t)w->n * sizeof *column);
        memset(work, 0, (size_t)rows * sizeof *work);
        add_column(&fcp->M, j, 1.0, column);
        add_column(Ht, j, 1.0, work);
        times_basis_t(y, 1.0, work, column + fcp->nv);
        if (!put_column(w, j, column)) {
            return false;
        }
    }
    return true;
}

static bool put_sigma_columns(const perp_pyramid *y, writer *w, double *column)
{
    int nv = y->fcp.nv;
    for (int s = 0; s < y->ns; s++) {
        memset(column, 0, (size_t)w->n * sizeof *column);
        for (int j = 0; j < y->np; j++) {
            if (y->sigma[j] == s) {
                column[nv + j] = 1.0;
            }
        }
        if (!put_column(w, nv + y->np + s, column)) {
            return false;
        }
    }
    return true;
}

static perp_status build_matrix(perp_pyramid *y, writer *w)
{
    const perp_fcp *fcp = &y->fcp;
    int rows = fcp->nc * fcp->dim;
    double *work = PP_ARRAY(y->arena, double, rows), *column = PP_ARRAY(y->arena, double, w->n);
    perp_matrix Ht = {0};
    perp_status status = work && column ? PERP_OK : PERP_ERR_MEMORY;
    bool dense = fcp->nv == 0 && (fcp->W.dense || w->n <= 64 ||
                                  pp_matrix_entries(&fcp->W) > (size_t)rows * (size_t)rows / 4);
    if (dense) {
        w->dense = PP_ARRAY(y->arena, double, (size_t)w->n *(size_t)w->n);
    } else {
        w->p = PP_ARRAY(y->arena, int, w->n + 1);
    }
    if (status >= 0 && !w->dense && !w->p) {
        status = PERP_ERR_MEMORY;
    }
    if (status >= 0 && fcp->nv > 0) {
        status = pp_matrix_transpose(&fcp->H, y->arena, &Ht);
    }
    if (status < 0) {
        return status;
    }
    if ((fcp->nv > 0 && !put_velocity_columns(y, w, &Ht, work, column)) ||
        !put_impulse_columns(y, w, work, column) || !put_sigma_columns(y, w, column)) {
        return PERP_ERR_MEMORY;
    }
    if (w->dense) {
        y->mcp.A = perp_matrix_dense(w->n, w->n, w->dense);
    } else {
        w->p[w->n] = (int)w->used;
        y->mcp.A = perp_matrix_csc(w->n, w->n, w->p, w->i, w->x);
    }
    return PERP_OK;
}

static perp_status build_vectors(perp_pyramid *y, int n)
{
    const perp_fcp *fcp = &y->fcp;
    double *b = PP_ZEROS(y->arena, double, n), *lower = NULL;
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    times_basis_t(y, 1.0, fcp->nv > 0 ? fcp->w : fcp->q, b + fcp->nv);
    if (fcp->nv > 0) {
        lower = PP_ZEROS(y->arena, double, n);
        if (!lower) {
            return PERP_ERR_MEMORY;
        }
        for (int k = 0; k < fcp->nv; k++) {
            b[k] = -fcp->f[k];
            lower[k] = -PP_INF;
        }
    }
    y->mcp.n = n;
    y->mcp.b = b;
    y->mcp.lower = lower;
    return PERP_OK;
}

perp_status perp_pyramid_create(const perp_fcp *fcp, int facets, const perp_env *env,
                                perp_pyramid **pyramid)
{
    char reason[8];
    if (!pyramid || pp_fcp_check(fcp, reason, sizeof reason) < 0 || facets < 3 || facets > 4096) {
        return PERP_ERR_ARGUMENT;
    }
    *pyramid = NULL;
    perp_pyramid *y = pp_alloc(env, sizeof *y);
    if (!y) {
        return PERP_ERR_MEMORY;
    }
    *y = (perp_pyramid){.env = env ? *env : (perp_env){0}, .arena = pp_arena_create(env)};
    perp_status status = y->arena ? fill_facets(y, fcp, facets) : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = build_basis(y);
    }
    writer w = {.n = fcp->nv + y->np + y->ns, .arena = y->arena};
    if (status >= 0) {
        status = build_matrix(y, &w);
    }
    if (status >= 0) {
        status = build_vectors(y, w.n);
    }
    if (status < 0) {
        perp_pyramid_destroy(y);
        return status;
    }
    *pyramid = y;
    return PERP_OK;
}

void perp_pyramid_destroy(perp_pyramid *pyramid)
{
    if (pyramid) {
        perp_env env = pyramid->env;
        pp_arena_destroy(pyramid->arena);
        pp_free(&env, pyramid, sizeof *pyramid);
    }
}

const perp_mcp *perp_pyramid_mcp(const perp_pyramid *pyramid)
{
    return &pyramid->mcp;
}

const perp_fcp *perp_pyramid_fcp(const perp_pyramid *pyramid)
{
    return &pyramid->fcp;
}

void perp_pyramid_recover(const perp_pyramid *pyramid, const double *z, double *r, double *v)
{
    const perp_fcp *fcp = &pyramid->fcp;
    memset(r, 0, (size_t)(fcp->nc * fcp->dim) * sizeof *r);
    pp_matrix_mul(&pyramid->B, 1.0, z + fcp->nv, r);
    if (v) {
        memcpy(v, z, (size_t)fcp->nv * sizeof *v);
    }
}
