// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices that are dense (column-major) or sparse (CSC) behind one interface: products, entries,
// copies, transposes. Sums run in the order of storage, so that they are the same on every machine.
#include "comp/comp.h"

#include <string.h>

perp_matrix perp_matrix_dense(int rows, int cols, const double *column_major)
{
    return (perp_matrix){.rows = rows, .cols = cols, .dense = column_major};
}

perp_matrix perp_matrix_csc(int rows, int cols, const int *p, const int *i, const double *x)
{
    return (perp_matrix){.rows = rows, .cols = cols, .p = p, .i = i, .x = x};
}

// Column j of a dense matrix.
static const double *dense_column(const perp_matrix *A, int j)
{
    return A->dense + (size_t)j * (size_t)A->rows;
}

size_t pp_matrix_entries(const perp_matrix *A)
{
    return A->dense ? (size_t)A->rows * (size_t)A->cols : (size_t)A->p[A->cols];
}

double pp_matrix_at(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return dense_column(A, j)[i];
    }
    // rows ascend in a column: bisection
    int low = A->p[j], high = A->p[j + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (A->i[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < A->p[j + 1] && A->i[low] == i ? A->x[low] : 0.0;
}

void pp_matrix_mul(const perp_matrix *A, double a, const double *x, double *y)
{
    if (A->dense) {
        pp_gemv(A->rows, A->cols, a, A->dense, A->rows, x, y);
        return;
    }
    for (int j = 0; j < A->cols; j++) {
        double s = a * x[j];
        // reactions of open contacts are zeros
        if (s == 0.0) {
            continue;
        }
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            y[A->i[k]] += s * A->x[k];
        }
    }
}

void pp_matrix_mul_t(const perp_matrix *A, double a, const double *x, double *y)
{
    if (A->dense) {
        pp_gemv_t(A->rows, A->cols, a, A->dense, A->rows, x, y);
        return;
    }
    for (int j = 0; j < A->cols; j++) {
        double s = 0.0;
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            s += A->x[k] * x[A->i[k]];
        }
        y[j] += a * s;
    }
}

void pp_matrix_diagonal(const perp_matrix *A, double *d)
{
    for (int j = 0; j < A->cols && j < A->rows; j++) {
        d[j] = pp_matrix_at(A, j, j);
    }
}

void pp_matrix_to_dense(const perp_matrix *A, double *dense, int ld)
{
    for (int j = 0; j < A->cols; j++) {
        double *column = dense + (size_t)j * (size_t)ld;
        if (A->dense) {
            memcpy(column, dense_column(A, j), (size_t)A->rows * sizeof *column);
            continue;
        }
        memset(column, 0, (size_t)A->rows * sizeof *column);
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            column[A->i[k]] = A->x[k];
        }
    }
}

perp_status pp_matrix_to_csc(const perp_matrix *A, pp_arena *arena, perp_matrix *out)
{
    if (!A->dense) {
        *out = *A;
        return PERP_OK;
    }
    // zeros are dropped: counted first
    size_t entries = pp_matrix_entries(A), count = 0;
    for (size_t k = 0; k < entries; k++) {
        count += A->dense[k] != 0.0;
    }
    if (count > INT32_MAX) {
        return PERP_ERR_ARGUMENT;
    }
    int *p = PP_ARRAY(arena, int, A->cols + 1);
    int *i = PP_ARRAY(arena, int, count);
    double *x = PP_ARRAY(arena, double, count);
    if (!p || !i || !x) {
        return PERP_ERR_MEMORY;
    }
    int used = 0;
    for (int j = 0; j < A->cols; j++) {
        const double *column = dense_column(A, j);
        p[j] = used;
        for (int row = 0; row < A->rows; row++) {
            if (column[row] != 0.0) {
                i[used] = row;
                x[used++] = column[row];
            }
        }
    }
    p[A->cols] = used;
    *out = perp_matrix_csc(A->rows, A->cols, p, i, x);
    return PERP_OK;
}

perp_status pp_matrix_transpose(const perp_matrix *A, pp_arena *arena, perp_matrix *out)
{
    perp_matrix csc;
    perp_status status = pp_matrix_to_csc(A, arena, &csc);
    if (status < 0) {
        return status;
    }
    int entries = csc.p[csc.cols];
    int *p = PP_ZEROS(arena, int, A->rows + 1);
    int *next = PP_ARRAY(arena, int, A->rows + 1);
    int *i = PP_ARRAY(arena, int, entries);
    double *x = PP_ARRAY(arena, double, entries);
    if (!p || !next || !i || !x) {
        return PERP_ERR_MEMORY;
    }
    // a counting sort by rows, stable: columns ascend within each row
    for (int k = 0; k < entries; k++) {
        p[csc.i[k] + 1]++;
    }
    for (int row = 0; row < A->rows; row++) {
        p[row + 1] += p[row];
    }
    memcpy(next, p, ((size_t)A->rows + 1) * sizeof *next);
    for (int j = 0; j < csc.cols; j++) {
        for (int k = csc.p[j]; k < csc.p[j + 1]; k++) {
            int to = next[csc.i[k]]++;
            i[to] = j;
            x[to] = csc.x[k];
        }
    }
    *out = perp_matrix_csc(A->cols, A->rows, p, i, x);
    return PERP_OK;
}
