// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices from files: triplets in any order with duplicates, or a dense array.
//
// The result is CSC with sorted distinct rows, or dense where more than half of the entries are not
// zero and the order is at most PP_DENSE_MAX. Duplicates are added in the order of the file, so
// that the sum does not depend on the machine. Zeros among triplets are kept: they are part of the
// pattern.
#include "format/format.h"

#include <math.h>
#include <string.h>

// Arrays of triplets, of which none is filled yet.
perp_status pp_raw_triplets(pp_draft *draft, pp_raw_matrix *raw, int nnz)
{
    raw->i = PP_ARRAY(draft->scratch, int, nnz);
    raw->j = PP_ARRAY(draft->scratch, int, nnz);
    raw->x = PP_ARRAY(draft->scratch, double, nnz);
    raw->nnz = 0;
    return raw->i && raw->j && raw->x ? PERP_OK : pp_draft_memory(draft);
}

// Compressed sparse columns: column j has the entries p[j] .. p[j + 1] - 1.
typedef struct csc {
    int *p, *i;
    double *x;
} csc;

// Pointers start at 0 for counting.
static bool csc_alloc(pp_arena *arena, int cols, int nnz, csc *A)
{
    A->p = PP_ZEROS(arena, int, (size_t)cols + 1);
    A->i = PP_ARRAY(arena, int, nnz);
    A->x = PP_ARRAY(arena, double, nnz);
    return A->p && A->i && A->x;
}

// Exclusive prefix sum: counts become positions.
static void starts_from_counts(int n, int *p)
{
    int sum = 0;
    for (int k = 0; k <= n; k++) {
        int count = p[k];
        p[k] = sum;
        sum += count;
    }
}

// Stable counting sort of entries by `key` (0..keys-1); other[] goes along. next: scratch of keys +
// 1.
static void bucket(int keys, int nnz, const int *key, const int *other, const double *x, int *next,
                   csc *out)
{
    for (int k = 0; k < nnz; k++) {
        out->p[key[k]]++;
    }
    starts_from_counts(keys, out->p);
    memcpy(next, out->p, ((size_t)keys + 1) * sizeof *next);
    for (int k = 0; k < nnz; k++) {
        int place = next[key[k]]++;
        out->i[place] = other[k];
        out->x[place] = x[k];
    }
}

// Adds neighbours with the same row. Entries are sorted, so that all duplicates are neighbours.
static int add_duplicates(int cols, csc *A)
{
    int kept = 0;
    for (int j = 0; j < cols; j++) {
        int k = A->p[j], end = A->p[j + 1];
        A->p[j] = kept;
        for (; k < end; k++) {
            if (kept > A->p[j] && A->i[kept - 1] == A->i[k]) {
                A->x[kept - 1] += A->x[k];
            } else {
                A->i[kept] = A->i[k];
                A->x[kept++] = A->x[k];
            }
        }
    }
    A->p[cols] = kept;
    return kept;
}

// Rows first, then columns: after two stable passes each column is sorted by row.
static perp_status sort_triplets(pp_draft *draft, const pp_raw_matrix *raw, pp_arena *arena, csc *A)
{
    int most = raw->rows > raw->cols ? raw->rows : raw->cols;
    csc byrow;
    int *next = PP_ARRAY(draft->scratch, int, (size_t)most + 1);
    int *row = PP_ARRAY(draft->scratch, int, raw->nnz);
    if (!next || !row || !csc_alloc(draft->scratch, raw->rows, raw->nnz, &byrow) ||
        !csc_alloc(arena, raw->cols, raw->nnz, A)) {
        return pp_draft_memory(draft);
    }
    bucket(raw->rows, raw->nnz, raw->i, raw->j, raw->x, next, &byrow);
    // The second pass needs the row of each entry, which the first has turned into pointers.
    for (int i = 0; i < raw->rows; i++) {
        for (int k = byrow.p[i]; k < byrow.p[i + 1]; k++) {
            row[k] = i;
        }
    }
    bucket(raw->cols, raw->nnz, byrow.i, row, byrow.x, next, A);
    int nnz = add_duplicates(raw->cols, A);
    for (int k = 0; k < nnz; k++) {
        if (!isfinite(A->x[k])) {
            return pp_draft_fail(draft, raw->label, raw->at,
                                 "matrix '%s': an entry, or the sum of duplicates, is not finite",
                                 raw->label);
        }
    }
    return PERP_OK;
}

// Whether dense storage pays: a CSC entry takes 12 bytes, a dense one 8, and dense kernels are
// faster.
static bool dense_pays(const pp_raw_matrix *raw, size_t nonzeros)
{
    return raw->rows <= PP_DENSE_MAX && raw->cols <= PP_DENSE_MAX &&
           2 * nonzeros > (size_t)raw->rows * (size_t)raw->cols;
}

// A dense matrix as it is.
static perp_status dense_copy(pp_draft *draft, const pp_raw_matrix *raw, pp_arena *arena,
                              perp_matrix *out)
{
    size_t count = (size_t)raw->rows * (size_t)raw->cols;
    double *x = PP_ARRAY(arena, double, count);
    if (!x) {
        return pp_draft_memory(draft);
    }
    memcpy(x, raw->dense, count * sizeof *x);
    *out = perp_matrix_dense(raw->rows, raw->cols, x);
    return PERP_OK;
}

// The columns are read in order, so that rows come out sorted.
static perp_status dense_to_csc(pp_draft *draft, const pp_raw_matrix *raw, size_t nonzeros,
                                pp_arena *arena, perp_matrix *out)
{
    csc A;
    if (!csc_alloc(arena, raw->cols, (int)nonzeros, &A)) {
        return pp_draft_memory(draft);
    }
    int kept = 0;
    const double *x = raw->dense;
    for (int j = 0; j < raw->cols; j++) {
        for (int i = 0; i < raw->rows; i++, x++) {
            if (*x != 0.0) {
                A.i[kept] = i;
                A.x[kept++] = *x;
            }
        }
        A.p[j + 1] = kept;
    }
    *out = perp_matrix_csc(raw->rows, raw->cols, A.p, A.i, A.x);
    return PERP_OK;
}

// The entries are distinct by now: they are stored, not added.
static perp_status csc_to_dense(pp_draft *draft, const pp_raw_matrix *raw, const csc *A,
                                pp_arena *arena, perp_matrix *out)
{
    double *x = PP_ZEROS(arena, double, (size_t)raw->rows *(size_t)raw->cols);
    if (!x) {
        return pp_draft_memory(draft);
    }
    for (int j = 0; j < raw->cols; j++) {
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            x[(size_t)A->i[k] + (size_t)j * (size_t)raw->rows] = A->x[k];
        }
    }
    *out = perp_matrix_dense(raw->rows, raw->cols, x);
    return PERP_OK;
}

// Counts non-zeros, which decide about the storage.
static perp_status build_dense(pp_draft *draft, const pp_raw_matrix *raw, pp_arena *arena,
                               perp_matrix *out)
{
    size_t count = (size_t)raw->rows * (size_t)raw->cols, nonzeros = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(raw->dense[k])) {
            return pp_draft_fail(draft, raw->label, raw->at,
                                 "matrix '%s': an entry is not a finite number", raw->label);
        }
        nonzeros += raw->dense[k] != 0.0;
    }
    if (raw->faithful || dense_pays(raw, nonzeros)) {
        return dense_copy(draft, raw, arena, out);
    }
    return dense_to_csc(draft, raw, nonzeros, arena, out);
}

perp_status pp_raw_build(pp_draft *draft, const pp_raw_matrix *raw, pp_arena *arena,
                         perp_matrix *out)
{
    if (raw->dense) {
        return build_dense(draft, raw, arena, out);
    }
    csc A;
    // Triplets of a matrix that becomes dense are sorted in scratch memory.
    bool dense = !raw->faithful && dense_pays(raw, (size_t)raw->nnz);
    perp_status status = sort_triplets(draft, raw, dense ? draft->scratch : arena, &A);
    if (status != PERP_OK) {
        return status;
    }
    if (dense) {
        return csc_to_dense(draft, raw, &A, arena, out);
    }
    *out = perp_matrix_csc(raw->rows, raw->cols, A.p, A.i, A.x);
    return PERP_OK;
}
