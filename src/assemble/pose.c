// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The three ways to pose a step: MCP, LCP, cone.                                        theory (P7)
#include "assemble/assemble.h"

#include <math.h>
#include <string.h>

// ── Wrench matrix ────────────────────────────────────────────────────────────────────────────────

static void put_row(const perp_model *m, const pp_row *row, double sign, int *used, int *i,
                    double *x)
{
    int order[PP_ROW_BODIES];
    for (int k = 0; k < row->count; k++) {  // bodies in order, so that rows ascend
        int at = k;
        while (at > 0 && row->body[order[at - 1]] > row->body[k]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = k;
    }
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &m->body[row->body[order[k]]];
        for (int v = 0; v < body->nv; v++) {
            if (row->J[order[k]][v] != 0.0) {
                i[*used] = body->at + v;
                x[(*used)++] = sign * row->J[order[k]][v];
            }
        }
    }
}

perp_status pp_wrench_matrix(perp_matrix *out, const perp_model *model, const pp_rows *rows,
                             pp_arena *arena)
{
    int count = rows->nb + rows->nm + rows->nn + 2 * rows->nt, used = 0, column = 0;
    size_t most = (size_t)count * PP_ROW_BODIES * PP_BODY_NV;
    int *p = PP_ARRAY(arena, int, count + 1), *i = PP_ARRAY(arena, int, most);
    double *x = PP_ARRAY(arena, double, most);
    if (!p || !i || !x) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < rows->nb; k++) {
        p[column++] = used;
        put_row(model, &rows->b[k], 1.0, &used, i, x);
    }
    for (int k = 0; k < rows->nm + rows->nn; k++) {
        p[column++] = used;
        put_row(model, pp_base_row(rows, k), 1.0, &used, i, x);
    }
    for (int k = 0; k < rows->nt; k++) {
        p[column++] = used;
        put_row(model, &rows->t[k], 1.0, &used, i, x);
        p[column++] = used;
        put_row(model, &rows->t[k], -1.0, &used, i, x);
    }
    p[column] = used;
    *out = perp_matrix_csc(model->nv, count, p, i, x);
    return PERP_OK;
}

// ── CSC writing ──────────────────────────────────────────────────────────────────────────────────

typedef struct writer {
    int *p, *i, used, columns;
    double *x;
} writer;

static bool open_writer(writer *w, int n, size_t most, pp_arena *arena)
{
    *w = (writer){.p = PP_ARRAY(arena, int, n + 1),
                  .i = PP_ARRAY(arena, int, most),
                  .x = PP_ARRAY(arena, double, most)};
    return w->p && w->i && w->x && most <= INT32_MAX;
}

static void next_column(writer *w)
{
    w->p[w->columns++] = w->used;
}

static void put(writer *w, int row, double value)
{
    if (value != 0.0) {
        w->i[w->used] = row;
        w->x[w->used++] = value;
    }
}

static perp_matrix close_writer(writer *w, int n)
{
    w->p[n] = w->used;
    return perp_matrix_csc(n, n, w->p, w->i, w->x);
}

static void set_sizes(pp_posed *out, const pp_rows *rows)
{
    out->nm = rows->nm;
    out->nn = rows->nn;
    out->nf = 2 * rows->nt;
    out->ns = rows->nt;
}

// The part of a p column below the rates: mu on its sigma for p_n, -1 for p_f.
static void put_cone(writer *w, const pp_rows *rows, int first_sigma, int base, bool is_t)
{
    if (is_t) {
        put(w, first_sigma + base, -1.0);
    } else if (base >= 0 && rows->friction[base] >= 0) {
        put(w, first_sigma + rows->friction[base], rows->mu[rows->friction[base]]);
    }
}

static perp_status bounds(pp_posed *out, const pp_rows *rows, int n, pp_arena *arena, double **b)
{
    double *lower = PP_ZEROS(arena, double, n), *upper = PP_ARRAY(arena, double, n);
    *b = PP_ZEROS(arena, double, n);
    if (!lower || !upper || !*b) {
        return PERP_ERR_MEMORY;
    }
    int equations = out->nv + out->nb;
    for (int i = 0; i < n; i++) {
        upper[i] = PP_INF;
        if (i < equations) {
            lower[i] = -PP_INF;
        }
    }
    for (int i = 0; i < rows->nm; i++) {
        lower[equations + i] = rows->m[i].lower;
        upper[equations + i] = rows->m[i].upper;
    }
    out->mcp.n = n;
    out->mcp.b = *b;
    out->mcp.lower = lower;
    out->mcp.upper = upper;
    return PERP_OK;
}

// ── MCP (34) ─────────────────────────────────────────────────────────────────────────────────────

//   [ M   -W   0 ] [nu]   [-M nu_l - p_ext]
//   [ W^T  G   E ] [p ] + [ rate + bias   ]
//   [ 0    C   0 ] [s ]   [ 0             ]
static perp_status mcp_matrix(pp_posed *out, const perp_matrix *W, const pp_kinematics *kin,
                              const pp_rows *rows, pp_arena *arena)
{
    int nv = out->nv, np = W->cols, n = nv + np + out->ns;
    int first_f = out->nb + out->nm + out->nn;
    perp_matrix Wt;
    writer w;
    perp_status status = pp_matrix_transpose(W, arena, &Wt);
    size_t entries = pp_matrix_entries(W);
    if (status < 0 || !open_writer(&w, n, 2 * entries + (size_t)nv + 4 * (size_t)np + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < nv; j++) {
        next_column(&w);
        put(&w, j, kin->M[j]);
        for (int e = Wt.p[j]; e < Wt.p[j + 1]; e++) {
            put(&w, nv + Wt.i[e], Wt.x[e]);
        }
    }
    for (int j = 0; j < np; j++) {
        next_column(&w);
        for (int e = W->p[j]; e < W->p[j + 1]; e++) {
            put(&w, W->i[e], -W->x[e]);
        }
        put(&w, nv + j, j < out->nb ? rows->b[j].gamma : 0.0);
        int base = j - out->nb - out->nm;
        put_cone(&w, rows, nv + np, j >= first_f ? (j - first_f) / 2 : base, j >= first_f);
    }
    for (int s = 0; s < out->ns; s++) {
        next_column(&w);
        put(&w, nv + first_f + 2 * s, 1.0);
        put(&w, nv + first_f + 2 * s + 1, 1.0);
    }
    out->mcp.A = close_writer(&w, n);
    return PERP_OK;
}

perp_status pp_pose_mcp(pp_posed *out, const perp_model *model, const pp_kinematics *kin,
                        const pp_rows *rows, const double *nu, pp_arena *arena)
{
    perp_matrix W;
    double *b;
    *out = (pp_posed){.form = PERP_FORM_MCP, .nv = model->nv, .nb = rows->nb};
    set_sizes(out, rows);
    perp_status status = pp_wrench_matrix(&W, model, rows, arena);
    if (status >= 0) {
        status = mcp_matrix(out, &W, kin, rows, arena);
    }
    if (status >= 0) {
        status = bounds(out, rows, model->nv + W.cols + out->ns, arena, &b);
    }
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < model->nv; i++) {
        b[i] = -kin->M[i] * nu[i] - kin->p_ext[i];
    }
    double *rates = b + model->nv;
    for (int i = 0; i < rows->nb; i++) {
        rates[i] = rows->b[i].rate + rows->b[i].bias;
    }
    for (int i = 0; i < rows->nm + rows->nn; i++) {
        const pp_row *row = pp_base_row(rows, i);
        rates[rows->nb + i] = row->rate + row->bias;
    }
    double *friction = rates + rows->nb + rows->nm + rows->nn;
    for (int i = 0; i < rows->nt; i++) {
        friction[2 * i] = rows->t[i].rate;
        friction[2 * i + 1] = -rows->t[i].rate;
    }
    return PERP_OK;
}

// ── Reduced LCP ──────────────────────────────────────────────────────────────────────────────────

// Column j of D as a list; dense columns give all entries.
static int column_of(const perp_matrix *D, int j, int *i, double *x)
{
    int count = 0;
    for (int k = D->dense ? 0 : D->p[j]; k < (D->dense ? D->rows : D->p[j + 1]); k++) {
        i[count] = D->dense ? k : D->i[k];
        x[count++] = D->dense ? D->dense[(size_t)j * (size_t)D->rows + (size_t)k] : D->x[k];
    }
    return count;
}

// One column of the LCP: s times the base column, tangents written along +t and -t.
static void lcp_column(writer *w, const pp_posed *out, const int *i, const double *x, int count,
                       double s)
{
    int first_t = out->nm + out->nn;
    for (int e = 0; e < count; e++) {
        if (i[e] < first_t) {
            put(w, i[e], s * x[e]);
        } else {
            put(w, first_t + 2 * (i[e] - first_t), s * x[e]);
            put(w, first_t + 2 * (i[e] - first_t) + 1, -s * x[e]);
        }
    }
}

perp_status pp_pose_lcp(pp_posed *out, const pp_rows *rows, const pp_delassus *delassus,
                        const double *slack, pp_arena *arena)
{
    *out = (pp_posed){.form = PERP_FORM_LCP};
    set_sizes(out, rows);
    int first_t = out->nm + out->nn, first_s = first_t + out->nf, n = first_s + out->ns;
    size_t entries = pp_matrix_entries(&delassus->D);
    int *i = PP_ARRAY(arena, int, delassus->count);
    double *x = PP_ARRAY(arena, double, delassus->count), *b;
    writer w;
    perp_status status = bounds(out, rows, n, arena, &b);
    if (status < 0 || !i || !x || !open_writer(&w, n, 4 * entries + 4 * (size_t)n + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < delassus->count; j++) {
        int count = column_of(&delassus->D, j, i, x), t = j - first_t;
        for (int side = 0; side < (t >= 0 ? 2 : 1); side++) {
            next_column(&w);
            lcp_column(&w, out, i, x, count, side == 0 ? 1.0 : -1.0);
            put_cone(&w, rows, first_s, t >= 0 ? t : j - out->nm, t >= 0);
        }
        if (t >= 0) {
            b[first_t + 2 * t] = delassus->q[j];
            b[first_t + 2 * t + 1] = -delassus->q[j];
        } else {
            b[j] = delassus->q[j];
        }
    }
    for (int s = 0; s < out->ns; s++) {
        next_column(&w);
        put(&w, first_t + 2 * s, 1.0);
        put(&w, first_t + 2 * s + 1, 1.0);
        b[first_s + s] = slack ? slack[s] : 0.0;
    }
    out->mcp.A = close_writer(&w, n);
    return PERP_OK;
}

// ── Cone ─────────────────────────────────────────────────────────────────────────────────────────

// Entries in the order of their places: n and t parts are each sorted already, so few move.
static void sort_by_place(const int *place, int *i, double *x, int count)
{
    for (int e = 1; e < count; e++) {
        int row = i[e], k = e;
        double value = x[e];
        while (k > 0 && place[i[k - 1]] > place[row]) {
            i[k] = i[k - 1];
            x[k] = x[k - 1];
            k--;
        }
        i[k] = row;
        x[k] = value;
    }
}

// Rows (n, t) of each unilateral row. A frictionless one gets a tangent of its own that nothing moves.
perp_status pp_pose_cone(pp_posed *out, const pp_rows *rows, const pp_delassus *delassus,
                         pp_arena *arena)
{
    int nn = rows->nn, n = 2 * nn;
    *out = (pp_posed){.form = PERP_FORM_CONE};
    set_sizes(out, rows);
    double *q = PP_ZEROS(arena, double, n), *mu = PP_ZEROS(arena, double, nn);
    int *place = PP_ARRAY(arena, int, delassus->count), *i = PP_ARRAY(arena, int, delassus->count);
    double *x = PP_ARRAY(arena, double, delassus->count);
    size_t entries = pp_matrix_entries(&delassus->D);
    writer w;
    if (!q || !mu || !place || !i || !x || !open_writer(&w, n, entries + (size_t)nn + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < nn; k++) {
        place[k] = 2 * k;
        mu[k] = rows->friction[k] >= 0 ? rows->mu[rows->friction[k]] : 0.0;
    }
    for (int k = 0; k < rows->nt; k++) {
        place[nn + k] = 2 * rows->normal[k] + 1;
    }
    for (int j = 0; j < delassus->count; j++) {
        q[place[j]] = delassus->q[j];
    }
    for (int k = 0; k < n; k++) {
        int friction = rows->friction[k / 2];
        int j = k % 2 == 0 ? k / 2 : friction >= 0 ? nn + friction : -1;
        next_column(&w);
        if (j < 0) {
            put(&w, k, 1.0);
            continue;
        }
        int count = column_of(&delassus->D, j, i, x);
        sort_by_place(place, i, x, count);
        for (int e = 0; e < count; e++) {
            put(&w, place[i[e]], x[e]);
        }
    }
    out->fcp = (perp_fcp){.nc = nn, .dim = 2, .mu = mu, .W = close_writer(&w, n), .q = q};
    return PERP_OK;
}

// The same with the bodies kept: M v = f + H r, u = H^T v + w. For models whose rows n and t are all there
// is: the solver then works with the few velocities instead of the many contacts.
perp_status pp_pose_cone_global(pp_posed *out, const perp_model *model, const pp_kinematics *kin,
                                const pp_rows *rows, const double *nu, pp_arena *arena)
{
    int nn = rows->nn, n = 2 * nn, nv = model->nv, used = 0;
    size_t most = (size_t)n * PP_ROW_BODIES * PP_BODY_NV;
    *out = (pp_posed){.form = PERP_FORM_CONE};
    set_sizes(out, rows);
    double *w = PP_ZEROS(arena, double, n), *mu = PP_ZEROS(arena, double, nn);
    double *f = PP_ARRAY(arena, double, nv), *x = PP_ARRAY(arena, double, most);
    int *p = PP_ARRAY(arena, int, n + 1), *i = PP_ARRAY(arena, int, most);
    int *diagonal = PP_ARRAY(arena, int, nv + 1);
    if (!w || !mu || !f || !x || !p || !i || !diagonal) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < nv; k++) {
        f[k] = kin->M[k] * nu[k] + kin->p_ext[k];
        diagonal[k] = k;
    }
    diagonal[nv] = nv;
    for (int k = 0; k < nn; k++) {
        int t = rows->friction[k];
        p[2 * k] = used;
        put_row(model, &rows->n[k], 1.0, &used, i, x);
        p[2 * k + 1] = used;
        w[2 * k] = rows->n[k].rate + rows->n[k].bias;
        if (t >= 0) {
            put_row(model, &rows->t[t], 1.0, &used, i, x);
            w[2 * k + 1] = rows->t[t].rate;
            mu[k] = rows->mu[t];
        }
    }
    p[n] = used;
    out->fcp = (perp_fcp){.nc = nn,
                          .dim = 2,
                          .nv = nv,
                          .mu = mu,
                          .M = perp_matrix_csc(nv, nv, diagonal, diagonal, kin->M),
                          .H = perp_matrix_csc(nv, n, p, i, x),
                          .f = f,
                          .w = w};
    return PERP_OK;
}
