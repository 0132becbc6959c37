// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The mixed and the reduced problem: MCP and LCP.                                       theory (P7)
//
// Unknowns, in this order: velocities x and bilateral impulses p_b (free, MCP only), boxed impulses p_m, normal impulses
// p_n >= 0, p_f >= 0 along the directions of each friction group, and a slip speed sigma >= 0 a group. The conditions of
// friction are those of Stewart and Trinkle (1996):
//
//   0 <= p_f    complementary to   d . slip + sigma >= 0      for each direction d
//   0 <= sigma  complementary to   mu p_n - sum p_f >= 0      for each group
//
// E has a 1 for each direction in the column of its group's sigma, U has mu in the row of a group's sigma, C = (U, -E^T).
#include "assemble/pose.h"

#include <math.h>
#include <string.h>

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

// A square CSC matrix with n columns and room for `most` entries; columns are begun and filled in order. False: out of
// memory, or more entries than an int counts.
bool pp_writer_open(pp_writer *w, int n, size_t most, pp_arena *arena)
{
    *w = (pp_writer){.p = PP_ARRAY(arena, int, n + 1),
                     .i = PP_ARRAY(arena, int, most),
                     .x = PP_ARRAY(arena, double, most)};
    return w->p && w->i && w->x && most <= INT32_MAX;
}

// Columns are begun in order, each once.
void pp_writer_column(pp_writer *w)
{
    w->p[w->columns++] = w->used;
}

// Zeros are left out, so that the pattern is that of the numbers, not of the blocks.
void pp_writer_put(pp_writer *w, int row, double value)
{
    if (value != 0.0) {
        w->i[w->used] = row;
        w->x[w->used++] = value;
    }
}

// All n columns have been begun; the matrix refers to the arrays of the writer.
perp_matrix pp_writer_close(pp_writer *w, int n)
{
    w->p[n] = w->used;
    return perp_matrix_csc(n, n, w->p, w->i, w->x);
}

// Blocks that the MCP and the LCP share.
void pp_posed_sizes(pp_posed *out, const pp_rows *rows)
{
    out->nm = rows->nm;
    out->nn = rows->nn;
    out->nf = rows->nf;
    out->ns = rows->ng;
}

// mu on the sigmas of a normal row.
static void put_mu(pp_writer *w, const pp_rows *rows, int first_sigma, int n)
{
    for (int k = 0; n >= 0 && k < rows->grouped[n]; k++) {
        int g = rows->friction[n] + k;
        pp_writer_put(w, first_sigma + g, rows->group[g].mu);
    }
}

// Columns of sigma: 1 on each direction of its group. b gets the slack.
static void put_sigmas(pp_writer *w, const pp_rows *rows, int first_f)
{
    int f = first_f;
    for (int g = 0; g < rows->ng; g++) {
        pp_writer_column(w);
        for (int j = 0; j < rows->group[g].directions; j++) {
            pp_writer_put(w, f++, 1.0);
        }
    }
}

// d . rate for each direction of each group.
static void put_friction_rates(const pp_rows *rows, const double *rate, double *b)
{
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int j = 0; j < group->directions; j++) {
            double d[2], sum = 0.0;
            pp_friction_direction(group, j, d);
            for (int k = 0; k < group->size; k++) {
                sum += d[k] * rate[group->t + k];
            }
            *b++ = sum;
        }
    }
}

// Bounds of all unknowns: velocities and bilateral impulses are free, boxed ones between theirs, the rest >= 0.
static perp_status bounds(pp_posed *out, const pp_rows *rows, int n, pp_arena *arena, double **b)
{
    double *lower = PP_ZEROS(arena, double, n), *upper = PP_ARRAY(arena, double, n);
    *b = PP_ZEROS(arena, double, n);
    if (!lower || !upper || !*b) {
        return PERP_ERR_MEMORY;
    }
    int equations = out->nv + out->nb;  // an unknown without bounds has an equation
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

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// gamma of column j of W: of bilateral and boxed rows.
static double compliance(const pp_posed *out, const pp_step_equations *motion, const pp_rows *rows,
                         int j)
{
    if (j < out->nb) {
        return rows->b[motion->row[j]].gamma;
    }
    return j < out->nb + out->nm ? rows->m[j - out->nb].gamma : 0.0;
}

//   [ M   -W   0 ] [x]   [-M x_l - p_ext]
//   [ W^T  G   E ] [p] + [ rate + bias  ]
//   [ 0    C   0 ] [s]   [ 0            ]
static perp_status mcp_matrix(pp_posed *out, const pp_step_equations *motion, const pp_rows *rows,
                              pp_arena *arena)
{
    const perp_matrix *M = &motion->M, *W = &motion->W;
    int nv = out->nv, np = W->cols, n = nv + np + out->ns;
    int first_n = out->nb + out->nm, first_f = first_n + out->nn;
    perp_matrix Wt;
    pp_writer w;
    perp_status status = pp_matrix_transpose(W, arena, &Wt);
    // W and its transpose, M, and per column of W: gamma, mu of up to three groups, -1, and the 1 of sigma
    size_t most = 2 * pp_matrix_entries(W) + pp_matrix_entries(M) + 8 * (size_t)np + 1;
    if (status < 0 || !pp_writer_open(&w, n, most, arena)) {
        return PERP_ERR_MEMORY;
    }
    // columns of x: M above W^T, row by row of the transpose so that rows ascend
    for (int j = 0; j < nv; j++) {
        pp_writer_column(&w);
        for (int e = M->p[j]; e < M->p[j + 1]; e++) {
            pp_writer_put(&w, M->i[e], M->x[e]);
        }
        for (int e = Wt.p[j]; e < Wt.p[j + 1]; e++) {
            pp_writer_put(&w, nv + Wt.i[e], Wt.x[e]);
        }
    }
    // columns of p: -W above Gamma, and C below
    int group = 0, direction = 0;
    for (int j = 0; j < np; j++) {
        pp_writer_column(&w);
        for (int e = W->p[j]; e < W->p[j + 1]; e++) {
            pp_writer_put(&w, W->i[e], -W->x[e]);
        }
        pp_writer_put(&w, nv + j, compliance(out, motion, rows, j));
        // C: mu p_n - sum of the group's p_f >= 0, in the row of the group's sigma.
        if (j < first_f) {
            put_mu(&w, rows, nv + np, j - first_n);
        } else {
            pp_writer_put(&w, nv + np + group, -1.0);
            if (++direction == rows->group[group].directions) {
                group++;
                direction = 0;
            }
        }
    }
    put_sigmas(&w, rows, nv + first_f);
    out->mcp.A = pp_writer_close(&w, n);
    return PERP_OK;
}

// The right-hand side to the matrix above.
perp_status pp_pose_mcp(pp_posed *out, const pp_rows *rows, const pp_step_equations *motion,
                        pp_arena *arena)
{
    double *b;
    int base = rows->nm + rows->nn;
    *out = (pp_posed){.form = PERP_FORM_MCP, .nv = motion->nv, .nb = motion->nb};
    pp_posed_sizes(out, rows);
    perp_status status = mcp_matrix(out, motion, rows, arena);
    if (status >= 0) {
        status = bounds(out, rows, motion->nv + motion->W.cols + out->ns, arena, &b);
    }
    if (status < 0) {
        return status;
    }
    // equations of motion: M x - W p - (M x_l + p_ext) = 0
    for (int i = 0; i < motion->nv; i++) {
        b[i] = -motion->rhs[i];
    }
    double *rates = b + motion->nv;  // at nu = 0, bias included [m/s]
    for (int i = 0; i < motion->nb; i++) {
        rates[i] = motion->rate_b[i] + rows->b[motion->row[i]].bias;
    }
    for (int i = 0; i < base; i++) {
        rates[motion->nb + i] = motion->rate[i] + pp_base_row(rows, i)->bias;
    }
    put_friction_rates(rows, motion->rate + base, rates + motion->nb + base);
    return PERP_OK;
}

// ── Reduced LCP ──────────────────────────────────────────────────────────────────────────────────

// to += s times column j of D.
static void axpy_column(const perp_matrix *D, int j, double s, double *to)
{
    if (D->dense) {
        pp_axpy(D->rows, s, D->dense + (size_t)j * (size_t)D->rows, to);
        return;
    }
    for (int k = D->p[j]; k < D->p[j + 1]; k++) {
        to[D->i[k]] += s * D->x[k];
    }
}

// The matrix is S^T D S + K. Columns of S are unit vectors for p_m and p_n and directions in the rows of a group for p_f; K
// has the conditions of friction, E and C. With many directions S^T D S is large and of low rank: pp_pose_lcp_product
// leaves it a product.
//
// Rates of m and n as they are, of friction along each direction.
static void put_rates(pp_writer *w, const pp_rows *rows, const double *rate)
{
    int first_t = rows->nm + rows->nn, f = first_t;
    for (int i = 0; i < first_t; i++) {
        pp_writer_put(w, i, rate[i]);
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        const double *own = rate + first_t + group->t;
        bool still = own[0] == 0.0 && own[group->size - 1] == 0.0;
        int directions = still ? 0 : group->directions;  // zeros are not stored
        for (int j = 0; j < directions; j++) {
            double d[2];
            pp_friction_direction(group, j, d);
            pp_writer_put(w, f + j, d[0] * own[0] + (group->size == 2 ? d[1] * own[1] : 0.0));
        }
        f += group->directions;
    }
}

// An upper bound of the entries: each of D becomes a block of directions, and each column has mu, -1 and 1 besides.
static size_t lcp_entries(const pp_rows *rows, const perp_matrix *D, int n)
{
    size_t widest = 2, all = (size_t)n * (size_t)n;
    for (int g = 0; g < rows->ng; g++) {
        size_t directions = (size_t)rows->group[g].directions;
        widest = directions > widest ? directions : widest;
    }
    size_t spread = widest * widest * pp_matrix_entries(D) + 8 * (size_t)n;
    return (spread < all ? spread : all) + 1;
}

// Columns of S: a base row each, and for friction the directions in the rows of its group.
static bool put_directions(perp_matrix *S, const pp_rows *rows, int base, int n, pp_arena *arena)
{
    pp_writer w;
    int first_t = rows->nm + rows->nn;
    if (!pp_writer_open(&w, n, (size_t)first_t + 2 * (size_t)rows->nf + 1, arena)) {
        return false;
    }
    // p_m and p_n are rows of D themselves
    for (int j = 0; j < first_t; j++) {
        pp_writer_column(&w);
        pp_writer_put(&w, j, 1.0);
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int j = 0; j < group->directions; j++) {
            double d[2];
            pp_friction_direction(group, j, d);
            pp_writer_column(&w);
            for (int k = 0; k < group->size; k++) {
                pp_writer_put(&w, first_t + group->t + k, d[k]);
            }
        }
    }
    for (int g = 0; g < rows->ng; g++) {  // sigma moves nothing
        pp_writer_column(&w);
    }
    *S = pp_writer_close(&w, n);
    // the writer makes square matrices; S maps n unknowns to the rows of D
    S->rows = base;
    return true;
}

// Columns of K: mu and -1 on the rows of sigma, 1 on those of friction.
static bool put_incidence(perp_matrix *K, const pp_rows *rows, int n, pp_arena *arena)
{
    pp_writer w;
    int first_t = rows->nm + rows->nn, first_s = first_t + rows->nf;
    if (!pp_writer_open(&w, n, 2 * (size_t)rows->nf + (size_t)rows->ng + 1, arena)) {
        return false;
    }
    for (int j = 0; j < first_t; j++) {
        pp_writer_column(&w);
        put_mu(&w, rows, first_s, j - rows->nm);
    }
    for (int g = 0; g < rows->ng; g++) {
        for (int j = 0; j < rows->group[g].directions; j++) {
            pp_writer_column(&w);
            pp_writer_put(&w, first_s + g, -1.0);
        }
    }
    put_sigmas(&w, rows, first_t);
    *K = pp_writer_close(&w, n);
    return true;
}

// The LCP as a product S^T D S + K, without writing the matrix, which is dense for many directions.
perp_status pp_pose_lcp_product(pp_posed *out, pp_product *A, const pp_rows *rows,
                                const pp_delassus *delassus, pp_arena *arena)
{
    *out = (pp_posed){.form = PERP_FORM_LCP};
    pp_posed_sizes(out, rows);
    int first_t = out->nm + out->nn, n = first_t + out->nf + out->ns;
    double *b;
    perp_status status = bounds(out, rows, n, arena, &b);
    if (status < 0 || !put_directions(&A->S, rows, delassus->count, n, arena) ||
        !put_incidence(&A->K, rows, n, arena)) {
        return PERP_ERR_MEMORY;
    }
    A->D = delassus->D;
    for (int j = 0; j < first_t; j++) {
        b[j] = delassus->q[j];
    }
    put_friction_rates(rows, delassus->q + first_t, b + first_t);
    return PERP_OK;
}

enum { COLUMNS_BETWEEN = 64 };  // columns between two questions whether to stop

// The Stewart-Trinkle LCP with velocities eliminated: unknowns boxed, normal, along directions, sigma.
perp_status pp_pose_lcp(pp_posed *out, const pp_rows *rows, const pp_delassus *delassus,
                        const double *slack, pp_arena *arena)
{
    *out = (pp_posed){.form = PERP_FORM_LCP};
    pp_posed_sizes(out, rows);
    int first_t = out->nm + out->nn, first_s = first_t + out->nf, n = first_s + out->ns;
    double *rate = PP_ARRAY(arena, double, delassus->count), *b;
    pp_writer w;
    perp_status status = bounds(out, rows, n, arena, &b);
    if (status < 0 || !rate || !pp_writer_open(&w, n, lcp_entries(rows, &delassus->D, n), arena)) {
        return PERP_ERR_MEMORY;
    }
    size_t bytes = (size_t)delassus->count * sizeof *rate;
    // A column is what a unit of its impulse does to all rates: columns of the Delassus matrix, those of friction
    // combined along their directions.
    for (int j = 0; j < first_t; j++) {
        if (j % COLUMNS_BETWEEN == 0 && pp_arena_stopped(arena)) {
            return PERP_ERR_STOPPED;
        }
        memset(rate, 0, bytes);
        axpy_column(&delassus->D, j, 1.0, rate);
        pp_writer_column(&w);
        put_rates(&w, rows, rate);
        put_mu(&w, rows, first_s, j - out->nm);
        b[j] = delassus->q[j];
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        if (g % COLUMNS_BETWEEN == 0 && pp_arena_stopped(arena)) {
            return PERP_ERR_STOPPED;
        }
        for (int j = 0; j < group->directions; j++) {
            double d[2];
            pp_friction_direction(group, j, d);
            memset(rate, 0, bytes);
            for (int k = 0; k < group->size; k++) {
                axpy_column(&delassus->D, first_t + group->t + k, d[k], rate);
            }
            pp_writer_column(&w);
            put_rates(&w, rows, rate);
            pp_writer_put(&w, first_s + g, -1.0);
        }
        // second problem of Poisson's law: the impulse that is given back already allows this much friction, (P9)
        b[first_s + g] = slack ? slack[g] : 0.0;
    }
    put_friction_rates(rows, delassus->q + first_t, b + first_t);
    put_sigmas(&w, rows, first_t);
    out->mcp.A = pp_writer_close(&w, n);
    return PERP_OK;
}
