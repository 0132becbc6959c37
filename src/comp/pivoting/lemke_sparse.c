// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The basis by sparse LU with product-form updates, for large sparse problems.
//
// B x = bt with columns e_i for w_i, -A_j for z_j, -d for z0. KLU factors B every
// ETAS_MAX exchanges; between, each exchange appends an eta matrix: B' = B E, where E
// is the identity except for column p, which is B^-1 (new column). Cost of a solve:
// the entries of the factors and of the etas.
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

enum { ETAS_MAX = 64 };  // exchanges between factorisations

// One eta column: its position, its diagonal entry, and the other entries.
typedef struct eta {
    int position, count;
    double pivot;
    int *i;
    double *x;
} eta;

typedef struct basis_factors {
    int *p, *i;  // B in CSC
    double *x;
    pp_sparse_lu *lu;
    eta etas[ETAS_MAX];
    int count;
    double *column;  // n: scratch
} basis_factors;

perp_status pp_lemke_sparse_init(pp_lemke *t)
{
    basis_factors *F = PP_ZEROS(t->arena, basis_factors, 1);
    size_t most = pp_matrix_entries(&t->A) + 2 * (size_t)t->n;
    if (!F || most > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    t->kernel = F;
    t->basis = &pp_lemke_sparse;
    F->p = PP_ARRAY(t->arena, int, t->n + 1);
    F->i = PP_ARRAY(t->arena, int, most);
    F->x = PP_ARRAY(t->arena, double, most);
    F->column = PP_ARRAY(t->arena, double, t->n);
    return F->p && F->i && F->x && F->column ? PERP_OK : PERP_ERR_MEMORY;
}

void pp_lemke_sparse_free(pp_lemke *t)
{
    basis_factors *F = t->kernel;
    if (F && t->basis == &pp_lemke_sparse) {
        pp_sparse_lu_destroy(F->lu);
        F->lu = NULL;
    }
}

// B in CSC from t->var.
static void collect_basis_columns(const pp_lemke *t, basis_factors *F)
{
    int n = t->n, used = 0;
    for (int k = 0; k < n; k++) {
        int variable = t->var[k];
        F->p[k] = used;
        if (variable == pp_z0(t)) {
            for (int i = 0; i < n; i++) {
                if (t->cover[i] != 0.0) {
                    F->i[used] = i;
                    F->x[used++] = -t->cover[i];
                }
            }
        } else if (variable >= n) {  // a basic w has a unit column
            F->i[used] = variable - n;
            F->x[used++] = 1.0;
        } else {
            for (int e = t->A.p[variable]; e < t->A.p[variable + 1]; e++) {
                F->i[used] = t->A.i[e];
                F->x[used++] = -t->A.x[e];
            }
        }
    }
    F->p[n] = used;
}

// x = B^-1 x
static perp_status solve_basis(const basis_factors *F, double *x)
{
    perp_status status = pp_sparse_lu_solve(F->lu, x);
    for (int k = 0; k < F->count; k++) {
        const eta *e = &F->etas[k];
        double s = x[e->position] / e->pivot;
        x[e->position] = s;
        if (s == 0.0) {
            continue;
        }
        for (int j = 0; j < e->count; j++) {
            x[e->i[j]] -= e->x[j] * s;
        }
    }
    return status;
}

// y = B^-T y: the etas in reverse order, then the factors
static perp_status solve_transposed(const basis_factors *F, double *y)
{
    for (int k = F->count - 1; k >= 0; k--) {
        const eta *e = &F->etas[k];
        double s = y[e->position];
        for (int j = 0; j < e->count; j++) {
            s -= e->x[j] * y[e->i[j]];
        }
        y[e->position] = s / e->pivot;
    }
    return pp_sparse_lu_solve_t(F->lu, y);
}

// Factors B anew and drops the etas.
static perp_status factor_basis(pp_lemke *t, basis_factors *F)
{
    pp_sparse_lu_destroy(F->lu);
    collect_basis_columns(t, F);
    F->count = 0;
    F->lu = pp_sparse_lu_create(t->n, F->p, F->i);
    if (!F->lu) {
        return PERP_ERR_MEMORY;
    }
    if (pp_job_ends_before(t->job, pp_sparse_lu_expected_flops(F->lu))) {
        return PERP_ERR_LIMIT;
    }
    return pp_sparse_lu_factor(F->lu, F->x);
}

static perp_status sparse_values(pp_lemke *t)
{
    memcpy(t->x, t->bt, (size_t)t->n * sizeof(double));
    return solve_basis(t->kernel, t->x);
}

static perp_status sparse_refactor(pp_lemke *t)
{
    basis_factors *F = t->kernel;
    perp_status status = factor_basis(t, F);
    if (status < 0) {
        return status;
    }
    return sparse_values(t);
}

// column = sign times the entering variable's column of B
static void entering_column(const pp_lemke *t, int entering, double sign, double *column)
{
    memset(column, 0, (size_t)t->n * sizeof *column);
    if (entering < t->n || entering == pp_z0(t)) {
        pp_lemke_add_column(t, entering, -sign, column);
    } else {
        column[entering - t->n] = sign;
    }
}

// dir = -B^-1 times the entering column
static perp_status sparse_direction(pp_lemke *t, int entering)
{
    basis_factors *F = t->kernel;
    perp_status status = PERP_OK;
    if (F->count == ETAS_MAX) {
        status = sparse_refactor(t);
    }
    if (status >= 0) {
        entering_column(t, entering, -1.0, t->dir);
        status = solve_basis(F, t->dir);
    }
    return status;
}

// Row of B^-1, by a solve with B'.
static perp_status sparse_row(pp_lemke *t, int position, double *row)
{
    memset(row, 0, (size_t)t->n * sizeof *row);
    row[position] = 1.0;
    return solve_transposed(t->kernel, row);
}

// Appends the eta of the exchange.
static perp_status sparse_replace(pp_lemke *t, int position, int entering)
{
    basis_factors *F = t->kernel;
    double *column = F->column;
    perp_status status = PERP_OK;
    if (F->count == ETAS_MAX) {
        status = factor_basis(t, F);
    }
    entering_column(t, entering, 1.0, column);
    if (status >= 0) {
        status = solve_basis(F, column);
    }
    if (status < 0) {
        return status;
    }
    eta *e = &F->etas[F->count];
    if (!e->i) {  // allocated once: the slot is used again after a factorisation
        e->i = PP_ARRAY(t->arena, int, t->n);
        e->x = PP_ARRAY(t->arena, double, t->n);
        if (!e->i || !e->x) {
            return PERP_ERR_MEMORY;
        }
    }
    e->position = position;
    e->pivot = column[position];
    e->count = 0;
    for (int i = 0; i < t->n; i++) {
        if (i != position && column[i] != 0.0) {
            e->i[e->count] = i;
            e->x[e->count++] = column[i];
        }
    }
    F->count++;
    pp_lemke_set(t, position, entering, t->x[position]);
    return e->pivot != 0.0 ? PERP_OK : PERP_ERR_SINGULAR;
}

const pp_basis pp_lemke_sparse = {sparse_refactor, sparse_values, sparse_direction, sparse_row,
                                  sparse_replace};
