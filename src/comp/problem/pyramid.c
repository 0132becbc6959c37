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
    int *first;     // nc: where the friction of each contact starts in z
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
    y->first = PP_ARRAY(y->arena, int, fcp->nc);
    if (!p || !i || !x || !y->sigma || !y->mu || !y->first) {
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
        y->first[c] = fcp->nv + column;
        for (int g = 0; g < groups; g++) {
            int s = c * groups + g, nd = facets_of(fcp, &group[g], c);
            y->mu[s] = group[g].mu[c];
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
typedef struct pyramid_writer {
    int n;
    double *dense;
    int *p, *i;
    double *x;
    size_t used, capacity;
    pp_arena *arena;
} pyramid_writer;

static bool reserve_entries(pyramid_writer *w, size_t more)
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

// A column that is being made: its entries, and where they are.
typedef struct pyramid_column {
    double *x;
    bool *known;
    int *hit, count;
} pyramid_column;

static void column_append(pyramid_column *c, int i, double value)
{
    if (!c->known[i]) {
        c->known[i] = true;
        c->hit[c->count++] = i;
    }
    c->x[i] += value;
}

// Shell's sort: parts of a column are sorted already, and qsort may ask for memory.
static void shell_sort(int *x, int count)
{
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int e = gap; e < count; e++) {
            int value = x[e], k = e;
            for (; k >= gap && x[k - gap] > value; k -= gap) {
                x[k] = x[k - gap];
            }
            x[k] = value;
        }
    }
}

// Column j, which is empty again afterwards.
static bool put_column(pyramid_writer *w, int j, pyramid_column *c)
{
    if (!reserve_entries(w, (size_t)c->count)) {
        return false;
    }
    double *dense = w->dense ? w->dense + (size_t)j * (size_t)w->n : NULL;
    if (dense) {
        memset(dense, 0, (size_t)w->n * sizeof *dense);
    } else {
        w->p[j] = (int)w->used;
        shell_sort(c->hit, c->count);
    }
    for (int k = 0; k < c->count; k++) {
        int i = c->hit[k];
        if (dense) {
            dense[i] = c->x[i];
        } else if (c->x[i] != 0.0) {
            w->i[w->used] = i;
            w->x[w->used++] = c->x[i];
        }
        c->known[i] = false;
        c->x[i] = 0.0;
    }
    c->count = 0;
    return true;
}

// c += s times column j of A, its rows from `first` on; through B' where Bt is given.
static void append_scaled_column(const perp_matrix *A, int j, double s, const perp_matrix *Bt,
                                 int first, pyramid_column *c)
{
    int begin = A->dense ? 0 : A->p[j], end = A->dense ? A->rows : A->p[j + 1];
    const double *x = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
    for (int k = begin; k < end; k++) {
        int i = A->dense ? k : A->i[k];
        double value = s * x[k];
        for (int e = Bt ? Bt->p[i] : 0; Bt && value != 0.0 && e < Bt->p[i + 1]; e++) {
            column_append(c, first + Bt->i[e], value * Bt->x[e]);
        }
        if (!Bt && value != 0.0) {
            column_append(c, first + i, value);
        }
    }
}

// Column of C for p: mu on its contact's sigmas for a normal column, -1 for a friction column.
static void add_cone(const perp_pyramid *y, int j, pyramid_column *c)
{
    int first = y->fcp.nv + y->np, groups = y->ns / y->fcp.nc;
    if (y->sigma[j] >= 0) {
        column_append(c, first + y->sigma[j], -1.0);
        return;
    }
    for (int g = 0; g < groups; g++) {
        column_append(c, first + j * groups + g, y->mu[j * groups + g]);
    }
}

// Columns of p: W (or -H) times a column of B, then what the rows make of it.
static bool put_impulse_columns(const perp_pyramid *y, pyramid_writer *w, const perp_matrix *Bt,
                                pyramid_column *c)
{
    const perp_fcp *fcp = &y->fcp;
    const perp_matrix *B = &y->B;  // sparse, always
    if (!B->p) {
        return false;
    }
    for (int j = 0; j < y->np; j++) {
        for (int k = B->p[j]; k < B->p[j + 1]; k++) {
            if (fcp->nv == 0) {
                append_scaled_column(&fcp->W, B->i[k], B->x[k], Bt, 0, c);
            } else {
                append_scaled_column(&fcp->H, B->i[k], -B->x[k], NULL, 0, c);
            }
        }
        add_cone(y, j, c);
        if (!put_column(w, fcp->nv + j, c)) {
            return false;
        }
    }
    return true;
}

static bool put_velocity_columns(const perp_pyramid *y, pyramid_writer *w, const perp_matrix *Ht,
                                 const perp_matrix *Bt, pyramid_column *c)
{
    const perp_fcp *fcp = &y->fcp;
    for (int j = 0; j < fcp->nv; j++) {
        append_scaled_column(&fcp->M, j, 1.0, NULL, 0, c);
        append_scaled_column(Ht, j, 1.0, Bt, fcp->nv, c);
        if (!put_column(w, j, c)) {
            return false;
        }
    }
    return true;
}

// The friction columns of a sigma come one after the other, and the sigmas do.
static bool put_sigma_columns(const perp_pyramid *y, pyramid_writer *w, pyramid_column *c)
{
    int nv = y->fcp.nv, j = y->fcp.nc;
    for (int s = 0; s < y->ns; s++) {
        for (; j < y->np && y->sigma[j] == s; j++) {
            column_append(c, nv + j, 1.0);
        }
        if (!put_column(w, nv + y->np + s, c)) {
            return false;
        }
    }
    return true;
}

static bool open_column(pyramid_column *c, int n, pp_arena *arena)
{
    *c = (pyramid_column){.x = PP_ZEROS(arena, double, n),
                          .known = PP_ZEROS(arena, bool, n),
                          .hit = PP_ARRAY(arena, int, n)};
    return c->x && c->known && c->hit;
}

static perp_status build_matrix(perp_pyramid *y, pyramid_writer *w)
{
    const perp_fcp *fcp = &y->fcp;
    int rows = fcp->nc * fcp->dim;
    pyramid_column c;
    perp_matrix Ht = {0}, Bt;
    perp_status status = open_column(&c, w->n, y->arena) ? PERP_OK : PERP_ERR_MEMORY;
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
    status = status < 0 ? status : pp_matrix_transpose(&y->B, y->arena, &Bt);
    if (status >= 0 && fcp->nv > 0) {
        status = pp_matrix_transpose(&fcp->H, y->arena, &Ht);
    }
    if (status < 0) {
        return status;
    }
    if ((fcp->nv > 0 && !put_velocity_columns(y, w, &Ht, &Bt, &c)) ||
        !put_impulse_columns(y, w, &Bt, &c) || !put_sigma_columns(y, w, &c)) {
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
    pp_matrix_mul_t(&y->B, 1.0, fcp->nv > 0 ? fcp->w : fcp->q, b + fcp->nv);
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
    pyramid_writer w = {.n = fcp->nv + y->np + y->ns, .arena = y->arena};
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
    return pyramid ? &pyramid->mcp : NULL;
}

const perp_fcp *perp_pyramid_fcp(const perp_pyramid *pyramid)
{
    return pyramid ? &pyramid->fcp : NULL;
}

void perp_pyramid_recover(const perp_pyramid *pyramid, const double *z, double *r, double *v)
{
    if (!pyramid || !z || !r) {
        return;
    }
    const perp_fcp *fcp = &pyramid->fcp;
    memset(r, 0, (size_t)(fcp->nc * fcp->dim) * sizeof *r);
    pp_matrix_mul(&pyramid->B, 1.0, z + fcp->nv, r);
    if (v) {
        memcpy(v, z, (size_t)fcp->nv * sizeof *v);
    }
}

// ── From an answer of the contact problem ────────────────────────────────────────────────────────

// r_g over the one or two of its directions next to it, with nothing negative; returns the sum.
static double split_group(int size, int nd, const double *r, double *part)
{
    memset(part, 0, (size_t)nd * sizeof *part);
    if (size == 1) {
        part[r[0] > 0.0 ? 0 : 1] = fabs(r[0]);
        return fabs(r[0]);
    }
    double width = 6.283185307179586 / nd, angle = atan2(r[1], r[0]);
    int first = (int)floor(angle / width + nd) % nd, second = (first + 1) % nd;
    double at = first * width, next = second * width, det = sin(width);
    double a = (r[0] * sin(next) - r[1] * cos(next)) / det;
    double b = (r[1] * cos(at) - r[0] * sin(at)) / det;
    part[first] = a > 1e-13 * fabs(b) ? a : 0.0;
    part[second] = b > 1e-13 * fabs(a) ? b : 0.0;
    return part[first] + part[second];
}

// max_j -d_j . u, and where.
static double polygon_support(int size, int nd, const double *u, int *where)
{
    double most = -PP_INF;
    for (int j = 0; j < nd; j++) {
        double angle = 6.283185307179586 * (double)j / (double)nd;
        double along = size == 1 ? (j == 0 ? -u[0] : u[0]) : -u[0] * cos(angle) - u[1] * sin(angle);
        *where = along > most ? j : *where;
        most = fmax(most, along);
    }
    return most;
}

// A group slips rather than sticks by what either would leave, in units of impulses and speeds; all of
// its limit is used then.
static void split_contact(const perp_pyramid *y, int c, const double *r, const double *u,
                          double ratio, double *z)
{
    const perp_fcp *fcp = &y->fcp;
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    double *part = z + y->first[c];
    z[fcp->nv + c] = fmax(r[0], 0.0);
    for (int g = 0; g < groups; g++) {
        int nd = facets_of(fcp, &group[g], c), f = group[g].first, where = 0;
        double limit = group[g].mu[c] * z[fcp->nv + c];
        double sum = split_group(group[g].size, nd, r + f, part);
        double sigma = fmax(polygon_support(group[g].size, nd, u + f, &where), 0.0);
        bool slips = sigma > ratio * (limit - sum);
        for (int j = 0; slips && j < nd; j++) {
            part[j] = sum > 0.0 ? part[j] * (limit / sum) : j == where ? limit : 0.0;
        }
        z[fcp->nv + y->np + c * groups + g] = slips ? sigma : 0.0;
        part += nd;
    }
}

perp_status perp_pyramid_split(const perp_pyramid *pyramid, const double *r, const double *v,
                               double *z)
{
    if (!pyramid) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_fcp *fcp = &pyramid->fcp;
    int n = fcp->nc * fcp->dim;
    size_t bytes = (size_t)n * sizeof(double);
    if (!r || !z || (fcp->nv > 0 && !v) || !pp_all_finite((size_t)n, r)) {
        return PERP_ERR_ARGUMENT;
    }
    double *u = pp_alloc(&pyramid->env, bytes);
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    memcpy(u, fcp->nv > 0 ? fcp->w : fcp->q, bytes);
    double still = pp_norm_inf(n, u);
    if (fcp->nv > 0) {
        pp_matrix_mul_t(&fcp->H, 1.0, v, u);
        memcpy(z, v, (size_t)fcp->nv * sizeof *z);
    } else {
        pp_matrix_mul(&fcp->W, 1.0, r, u);
    }
    double ratio = fmax(pp_norm_inf(n, u), still) / fmax(pp_norm_inf(n, r), 1e-300);
    for (int c = 0; c < fcp->nc; c++) {
        split_contact(pyramid, c, r + c * fcp->dim, u + c * fcp->dim, ratio, z);
    }
    pp_free(&pyramid->env, u, bytes);
    return PERP_OK;
}
