// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// C -= A B, the product that every blocked factorisation rests on.
//
// Panels of A (8 rows) and of B (4 columns) are packed so that the inner loop reads memory in
// order, and 8 x 4 entries of C are accumulated in registers. Each entry of C is
//
//   c -= ((a_0 b_0 + a_1 b_1) + a_2 b_2) + ...      in blocks of at most KC terms
//
// in every tile, at every edge and on every machine. Edges are padded with zeros and not treated
// apart, so that an entry does not depend on the position of the tiles.
#include "math/math.h"
#include "math/simd.h"

#include <string.h>

enum {
    MR = 8,   // rows of a tile: two vectors
    NR = 4,   // columns of a tile
    KC = 64,  // terms in one pass
    NC = 64,  // columns of B packed at once: KC NC doubles are 32 KiB of stack
};

// sum = a b over k terms; a has MR numbers per term, b has NR.
PP_INLINE void tile(int k, const double *a, const double *b, double sum[MR * NR])
{
    pp_v4 t00 = {0}, t10 = {0}, t01 = {0}, t11 = {0};
    pp_v4 t02 = {0}, t12 = {0}, t03 = {0}, t13 = {0};
    for (int p = 0; p < k; p++, a += MR, b += NR) {
        pp_v4 a0 = PP_LOAD(a), a1 = PP_LOAD(a + 4);
        t00 += a0 * b[0];
        t10 += a1 * b[0];
        t01 += a0 * b[1];
        t11 += a1 * b[1];
        t02 += a0 * b[2];
        t12 += a1 * b[2];
        t03 += a0 * b[3];
        t13 += a1 * b[3];
    }
    PP_STORE(sum) = t00, PP_STORE(sum + 4) = t10;
    PP_STORE(sum + 8) = t01, PP_STORE(sum + 12) = t11;
    PP_STORE(sum + 16) = t02, PP_STORE(sum + 20) = t12;
    PP_STORE(sum + 24) = t03, PP_STORE(sum + 28) = t13;
}

// Packs MR rows of A, so that the kernel reads them in order; missing rows are zeros.
PP_INLINE void pack_rows(int m, int k, const double *A, int ld, double *to)
{
    if (m >= MR) {
        for (int p = 0; p < k; p++, to += MR) {
            const double *from = PP_AT(A, ld, 0, p);
            PP_STORE(to) = PP_LOAD(from);
            PP_STORE(to + 4) = PP_LOAD(from + 4);
        }
        return;
    }
    for (int p = 0; p < k; p++, to += MR) {
        for (int i = 0; i < MR; i++) {
            to[i] = i < m ? *PP_AT(A, ld, i, p) : 0.0;
        }
    }
}

// Packs columns of B, or of B': b(p, j) = B[p row_step + j column_step].
PP_INLINE void pack_columns(int n, int k, const double *B, ptrdiff_t row_step,
                            ptrdiff_t column_step, double *to)
{
    for (int j = 0; j < n; j += NR) {
        for (int p = 0; p < k; p++, to += NR) {
            const double *from = B + p * row_step + j * column_step;
            for (int c = 0; c < NR; c++) {
                to[c] = j + c < n ? from[c * column_step] : 0.0;
            }
        }
    }
}

// Subtracts the tile from the m x n corner of C. above: how far the tile is right of the diagonal
// (rows < column + above are kept), or -MR where all of it counts.
PP_INLINE void subtract_tile(int m, int n, int above, const double *sum, double *C, int ldc)
{
    if (m >= MR && n >= NR && above <= -NR) {
        for (int j = 0; j < NR; j++) {
            double *c = PP_AT(C, ldc, 0, j);
            PP_STORE(c) = PP_LOAD(c) - PP_LOAD(sum + MR * j);
            PP_STORE(c + 4) = PP_LOAD(c + 4) - PP_LOAD(sum + MR * j + 4);
        }
        return;
    }
    for (int j = 0; j < n && j < NR; j++) {
        for (int i = above + j > 0 ? above + j : 0; i < m && i < MR; i++) {
            *PP_AT(C, ldc, i, j) -= sum[MR * j + i];
        }
    }
}

// A product; B' is B with its steps exchanged.
typedef struct gemm_job {
    int m, n, k;
    const double *A;
    int lda;
    const double *B;
    ptrdiff_t row_step, column_step;
    double *C;
    int ldc;
    bool lower;  // only entries of C on and below its diagonal
} gemm_job;

// One block of at most NC columns and KC terms.
PP_CLONES
static void subtract_block(const gemm_job *x, int j0, int n, int p0, int k)
{
    double a[MR * KC], b[KC * NC], sum[MR * NR];
    pack_columns(n, k, x->B + p0 * x->row_step + j0 * x->column_step, x->row_step, x->column_step,
                 b);
    // Tiles above the diagonal are skipped; the first one starts at a multiple of MR.
    int first = x->lower ? j0 - j0 % MR : 0;
    for (int i = first; i < x->m; i += MR) {
        pack_rows(x->m - i, k, PP_AT(x->A, x->lda, i, p0), x->lda, a);
        for (int j = 0; j < n; j += NR) {
            int above = x->lower ? j0 + j - i : -MR;
            if (above >= MR) {
                break;
            }
            tile(k, a, b + j * k, sum);
            subtract_tile(x->m - i, n - j, above, sum, PP_AT(x->C, x->ldc, i, j0 + j), x->ldc);
        }
    }
}

// Blocks that fit into the cache, columns outermost.
static void subtract_product(const gemm_job *x)
{
    for (int j = 0; j < x->n; j += NC) {
        for (int p = 0; p < x->k; p += KC) {
            int n = x->n - j < NC ? x->n - j : NC;
            int k = x->k - p < KC ? x->k - p : KC;
            subtract_block(x, j, n, p, k);
        }
    }
}

// NOLINTBEGIN(readability-function-size): nine parameters, as everyone knows them from BLAS
void pp_gemm_sub(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C,
                 int ldc)
{
    const gemm_job x = {m, n, k, A, lda, B, 1, ldb, C, ldc, false};
    subtract_product(&x);
}

void pp_gemm_sub_t(int m, int n, int k, const double *A, int lda, const double *B, int ldb,
                   double *C, int ldc)
{
    const gemm_job x = {m, n, k, A, lda, B, ldb, 1, C, ldc, false};
    subtract_product(&x);
}

void pp_gemm_sub_lower_t(int n, int k, const double *A, int lda, const double *B, int ldb,
                         double *C, int ldc)
{
    const gemm_job x = {n, n, k, A, lda, B, ldb, 1, C, ldc, true};
    subtract_product(&x);
}

// NOLINTEND(readability-function-size)

void pp_syrk_sub(int m, int n, int k, const double *A, int lda, double *C, int ldc)
{
    const gemm_job x = {m, n, k, A, lda, A, lda, 1, C, ldc, true};
    subtract_product(&x);
}
