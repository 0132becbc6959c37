// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Delassus matrix D = W^T M^ W of the rows m, n, t, M^ being the inverse mass with the joints
// closed; sparse when there are no joints, since a row then meets only rows of its own bodies.
//
// Entry (i, j) is the change of the rate of row i by a unit impulse along row j [1/kg for rows of lengths]. With the joints
// closed (P8) the rates of all rows are u = D p + q, and nu and p_b are no unknowns any more: what is left of (P7) is
// the LCP or the cone form. D is symmetric and positive semidefinite; it is singular where rows depend on each other, as
// those of four contacts under a table do.
#include "assemble/assemble.h"

#include <math.h>
#include <string.h>

// Rows of the reduced problem are numbered boxed first, then normal, then tangential.
const pp_row *pp_base_row(const pp_rows *rows, int i)
{
    if (i < rows->nm) {
        return &rows->m[i];
    }
    i -= rows->nm;
    return i < rows->nn ? &rows->n[i] : &rows->t[i - rows->nn];
}

// Rows up to which the matrix is dense. The lists of the sparse one cost more than the zeros they save up to about here.
enum { DENSE_MAX_ROWS = 48 };

// Rows that touch each body, as lists.
typedef struct body_rows {
    int *first;  // bodies + 1
    int *row;
} body_rows;

// Rows of each body, in compressed form.
static perp_status list_touches(const perp_model *m, const pp_rows *rows, int count,
                                pp_arena *arena, body_rows *out)
{
    out->first = PP_ZEROS(arena, int, m->bodies + 1);
    out->row = PP_ARRAY(arena, int, (size_t)count *PP_ROW_BODIES);
    int *next = PP_ARRAY(arena, int, m->bodies + 1);
    if (!out->first || !out->row || !next) {
        return PERP_ERR_MEMORY;
    }
    // a counting sort by bodies: count, sum, place; rows ascend within each body
    for (int i = 0; i < count; i++) {
        const pp_row *row = pp_base_row(rows, i);
        for (int k = 0; k < row->count; k++) {
            out->first[row->body[k] + 1]++;
        }
    }
    for (int b = 0; b < m->bodies; b++) {  // from counts to starts
        out->first[b + 1] += out->first[b];
    }
    memcpy(next, out->first, ((size_t)m->bodies + 1) * sizeof *next);
    for (int i = 0; i < count; i++) {
        const pp_row *row = pp_base_row(rows, i);
        for (int k = 0; k < row->count; k++) {
            out->row[next[row->body[k]]++] = i;
        }
    }
    return PERP_OK;
}

// Column j by the bodies it touches: column is zero on entry and on exit, hit lists its entries.
static int sparse_column(const pp_closed *c, const body_rows *touches, int j, double *column,
                         int *hit)
{
    const perp_model *m = c->model;
    const pp_row *own = pp_base_row(c->rows, j);
    int count = 0;
    for (int k = 0; k < own->count; k++) {
        int b = own->body[k];
        const pp_body *body = &m->body[b];
        double moved[PP_BODY_NV];
        pp_body_solve(body, &c->mass[b], own->J[k],
                      moved);  // M_b^-1 J_j^T: how row j moves the body
        for (int e = touches->first[b]; e < touches->first[b + 1]; e++) {
            int i = touches->row[e];
            const pp_row *row = pp_base_row(c->rows, i);
            // which block of J belongs to this body; the list holds only rows that have one
            int at = 0;
            while (row->body[at] != b) {
                at++;
            }
            double sum = 0.0;
            for (int v = 0; v < body->nv; v++) {
                sum += moved[v] * row->J[at][v];
            }
            // two bodies that rows i and j share add to the same entry, which may cancel on the way
            if (column[i] == 0.0 && sum != 0.0) {
                hit[count++] = i;
            }
            column[i] += sum;
        }
    }
    return count;
}

// Insertion sort: a row shares bodies with few others, and the lists of two bodies are each in order already. Columns of a
// CSC matrix have ascending rows.
static void sort_hits(int *hit, int count)
{
    for (int i = 1; i < count; i++) {
        int kept = hit[i], k = i;
        while (k > 0 && hit[k - 1] > kept) {
            hit[k] = hit[k - 1];
            k--;
        }
        hit[k] = kept;
    }
}

// D = J M^-1 J^T without joints: entry (i, j) is not zero only where rows i and j share a body.
static perp_status build_sparse(pp_delassus *out, const pp_closed *c, pp_arena *arena)
{
    int n = out->count;
    body_rows touches;
    perp_status status = list_touches(c->model, c->rows, n, arena, &touches);
    double *column = PP_ZEROS(arena, double, n);
    int *hit = PP_ARRAY(arena, int, (size_t)n * 2 + 1), *p = PP_ARRAY(arena, int, n + 1);
    if (status < 0 || !column || !hit || !p) {
        return PERP_ERR_MEMORY;
    }
    // room for the rows that share a body with each row, counted twice where they share two
    size_t most = 1;
    for (int j = 0; j < n; j++) {
        const pp_row *row = pp_base_row(c->rows, j);
        for (int k = 0; k < row->count; k++) {
            most += (size_t)(touches.first[row->body[k] + 1] - touches.first[row->body[k]]);
        }
    }
    int *i = PP_ARRAY(arena, int, most);
    double *x = PP_ARRAY(arena, double, most);
    if (!i || !x || most > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    int used = 0;
    for (int j = 0; j < n; j++) {
        int count = sparse_column(c, &touches, j, column, hit);
        sort_hits(hit, count);
        p[j] = used;
        for (int e = 0; e < count; e++) {
            if (e == 0 ||
                hit[e] != hit[e - 1]) {  // an entry that passed through zero is listed twice
                i[used] = hit[e];
                x[used++] = column[hit[e]];
            }
        }
        for (int e = 0; e < count; e++) {
            column[hit[e]] = 0.0;
        }
    }
    p[n] = used;
    out->D = perp_matrix_csc(n, n, p, i, x);
    return PERP_OK;
}

// J_i . MJ over the bodies that both rows touch, MJ belonging to row j. Rows name free bodies only: the others have no
// velocities among the unknowns.
static double response(const perp_model *m, const pp_row *a, const pp_row *b,
                       double (*MJ)[PP_BODY_NV])
{
    double sum = 0.0;
    for (int k = 0; k < a->count; k++) {
        for (int l = 0; l < b->count; l++) {
            if (a->body[k] == b->body[l]) {
                int nv = m->body[a->body[k]].nv;
                for (int v = 0; v < nv; v++) {
                    sum += a->J[k][v] * MJ[l][v];
                }
            }
        }
    }
    return sum;
}

// Few rows and no joints: row by row.
static perp_status build_small(pp_delassus *out, const pp_closed *c, pp_arena *arena)
{
    const perp_model *m = c->model;
    int n = out->count;
    double *D = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    if (!D) {
        return PERP_ERR_MEMORY;
    }
    // M^-1 J^T of row j once, then its product with all rows from j on
    for (int j = 0; j < n; j++) {
        const pp_row *column = pp_base_row(c->rows, j);
        double MJ[PP_ROW_BODIES][PP_BODY_NV];
        for (int k = 0; k < column->count; k++) {
            int body = column->body[k];
            pp_body_solve(&m->body[body], &c->mass[body], column->J[k], MJ[k]);
        }
        for (int i = j; i < n; i++) {  // symmetric: half of the products
            double value = response(m, pp_base_row(c->rows, i), column, MJ);
            D[(size_t)j * (size_t)n + (size_t)i] = D[(size_t)i * (size_t)n + (size_t)j] = value;
        }
    }
    out->D = perp_matrix_dense(n, n, D);
    return PERP_OK;
}

// The same in the rates of a tree, J H^-1 J^T with its loops closed.
static perp_status build_along_tree(pp_delassus *out, const pp_closed *c, pp_arena *arena)
{
    int n = out->count, nq = c->in.tree->tree->nv;
    double *D = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    double *J = PP_ARRAY(arena, double, (size_t)n *(size_t)nq),
           *moved = PP_ARRAY(arena, double, nq);
    double *pb = PP_ARRAY(arena, double, c->rows->nb);
    if (!D || !J || !moved || !pb) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        pp_tree_row(c->in.tree, pp_base_row(c->rows, i), J + (size_t)i * (size_t)nq);
    }
    for (int j = 0; j < n; j++) {
        memcpy(moved, J + (size_t)j * (size_t)nq, (size_t)nq * sizeof *moved);
        pp_closed_rates(c, NULL, moved, pb);
        for (int i = 0; i <= j; i++) {
            double value = pp_dot(nq, J + (size_t)i * (size_t)nq, moved);
            D[(size_t)j * (size_t)n + (size_t)i] = D[(size_t)i * (size_t)n + (size_t)j] = value;
        }
    }
    out->D = perp_matrix_dense(n, n, D);
    return PERP_OK;
}

// Columns by solving: a unit impulse along row j, joints closed, and the rates of all rows that follow.
static perp_status build_dense(pp_delassus *out, const pp_closed *c, pp_arena *arena)
{
    const perp_model *m = c->model;
    int n = out->count;
    double *D = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    double *nu = PP_ARRAY(arena, double, m->nv), *pb = PP_ARRAY(arena, double, c->rows->nb);
    if (!D || !nu || !pb) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        memset(nu, 0, (size_t)m->nv * sizeof *nu);
        pp_row_add(m, pp_base_row(c->rows, j), 1.0, NULL, nu);
        // without beta the joints are closed for relative velocities: driven bodies stand still, as they do for a difference
        pp_closed_solve(c, NULL, nu, pb);
        for (int i = 0; i < n; i++) {
            const pp_row *row = pp_base_row(c->rows, i);
            D[(size_t)j * (size_t)n + (size_t)i] = pp_row_rate(m, row, nu) - row->rate;
        }
    }
    for (int j = 0; j < n; j++) {  // symmetric by nature: keep it so
        for (int i = 0; i < j; i++) {
            double *upper = &D[(size_t)j * (size_t)n + (size_t)i];
            double *lower = &D[(size_t)i * (size_t)n + (size_t)j];
            *upper = *lower = 0.5 * (*upper + *lower);
        }
    }
    out->D = perp_matrix_dense(n, n, D);
    return PERP_OK;
}

// Compliance of boxed rows, on the diagonal.
static void add_compliance(pp_delassus *out, const pp_rows *rows)
{
    perp_matrix *D = &out->D;
    for (int i = 0; i < rows->nm; i++) {
        double gamma = rows->m[i].gamma;
        if (gamma == 0.0) {
            continue;
        }
        if (D->dense) {
            ((double *)(uintptr_t)D->dense)[(size_t)i * ((size_t)out->count + 1)] += gamma;
            continue;
        }
        for (int e = D->p[i]; e < D->p[i + 1]; e++) {
            ((double *)(uintptr_t)D->x)[e] += D->i[e] == i ? gamma : 0.0;
        }
    }
}

// D alone, by the way that fits the rows: joints couple rows of all bodies in a mechanism, so that zeros are few.
static perp_status build_matrix(pp_delassus *out, const pp_closed *closed, pp_arena *arena)
{
    if (closed->in.tree) {
        return build_along_tree(out, closed, arena);
    }
    if (closed->nb > 0) {
        return build_dense(out, closed, arena);
    }
    return out->count > DENSE_MAX_ROWS ? build_sparse(out, closed, arena)
                                       : build_small(out, closed, arena);
}

// u = D p + q of all boxed, normal and tangential rows [m/s], with the bilateral rows eliminated.
perp_status pp_delassus_run(pp_delassus *out, const pp_closed *closed, const pp_kinematics *kin,
                            const double *nu, pp_arena *arena)
{
    const perp_model *m = closed->model;
    const pp_rows *rows = closed->rows;
    *out = (pp_delassus){.count = rows->nm + rows->nn + rows->nt};
    double *beta = PP_ARRAY(arena, double, rows->nb);
    out->q = PP_ARRAY(arena, double, out->count);
    out->nu = PP_ARRAY(arena, double, m->nv);
    out->pb = PP_ARRAY(arena, double, rows->nb);
    if (!beta || !out->q || !out->nu || !out->pb) {
        return PERP_ERR_MEMORY;
    }
    // The velocity without contacts, M nu + p_ext with the joints closed, and the rates of the rows at it: q.
    pp_masses_mul(m, kin->mass, nu, out->nu);
    pp_axpy(m->nv, 1.0, kin->loads.p_ext, out->nu);
    for (int i = 0; i < rows->nb; i++) {
        beta[i] = rows->b[i].rate + rows->b[i].bias;
    }
    pp_closed_solve(closed, beta, out->nu, out->pb);
    for (int i = 0; i < out->count; i++) {
        const pp_row *row = pp_base_row(rows, i);
        out->q[i] = pp_row_rate(m, row, out->nu) + row->bias;
    }
    if (out->count == 0) {
        out->D = perp_matrix_dense(0, 0, out->q);
        return PERP_OK;
    }
    perp_status status = build_matrix(out, closed, arena);
    if (status >= 0) {
        add_compliance(out, rows);
    }
    return status;
}
