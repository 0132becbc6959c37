// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Elimination within one front: dense, in stripes of columns, so that most of the work is a
// product.
//
// A symmetric front is factored as L (D L'), with D L' in the place of U: from the lower triangle
// alone, at half the cost. Solves and the parent need not distinguish the two.
#include "math/simd.h"
#include "math/sparse_ldl.h"

#include <math.h>
#include <string.h>

enum {
    STRIPE = 24,    // columns eliminated one by one before the rest is updated by a product
    FEW_TERMS = 4,  // terms up to which a product is done column by column
};

static const double SHARED_FROM = 2e5;  // products from which threads are worth waking

// y -= a x
PP_INLINE void subtract(int n, double a, const double *x, double *y)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        PP_STORE(y + i) = PP_LOAD(y + i) - a * PP_LOAD(x + i);
    }
    for (; i < n; i++) {
        y[i] -= a * x[i];
    }
}

PP_INLINE void scale(int n, double a, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] *= a;
    }
}

// ── Products ─────────────────────────────────────────────────────────────────────────────────────

// C -= A B, or A B'. An entry is the same number whichever columns are computed together
// (dense_gemm.c).
typedef struct front_job {
    int m, n, k;
    const double *A, *B;
    double *C;
    int lda, ldb, ldc;
    enum {
        PLAIN,
        BELOW,       // stripes of columns, each from its first row on
        TRANSPOSED,  // B'
        LOWER,       // B', and of C the lower triangle
    } kind;
} front_job;

// Columns from..to-1 of a product, the part of one thread.
static void take_columns(void *arg, int from, int to)
{
    const front_job *x = arg;
    int n = to - from;
    bool transposed = x->kind == TRANSPOSED || x->kind == LOWER;
    const double *B = transposed ? x->B + from : PP_AT(x->B, x->ldb, 0, from);
    double *C = PP_AT(x->C, x->ldc, 0, from);
    if (x->kind == PLAIN) {
        pp_gemm_sub(x->m, n, x->k, x->A, x->lda, B, x->ldb, C, x->ldc);
    } else if (x->kind == TRANSPOSED) {
        pp_gemm_sub_t(x->m, n, x->k, x->A, x->lda, B, x->ldb, C, x->ldc);
    } else if (x->kind == LOWER) {
        pp_gemm_sub_lower_t(n, x->k, x->A + from, x->lda, B, x->ldb, C + from, x->ldc);
        if (to < x->m) {
            pp_gemm_sub_t(x->m - to, n, x->k, x->A + to, x->lda, B, x->ldb, C + to, x->ldc);
        }
    } else {
        for (int at = from; at < to; at += STRIPE) {
            int end = at + STRIPE < to ? at + STRIPE : to;
            pp_gemm_sub(x->m - at, end - at, x->k, x->A + at, x->lda, PP_AT(x->B, x->ldb, 0, at),
                        x->ldb, PP_AT(x->C, x->ldc, at, at), x->ldc);
        }
    }
}

// Small products are done by the calling thread.
static void take_product(front_job *x, const pp_team *team)
{
    double work = (double)x->m * (double)x->n * (double)x->k;
    if (team && work > SHARED_FROM) {
        // Wide pieces, because each piece packs all of A again.
        int stripes = (x->n / STRIPE + 2 * team->lanes) / (2 * team->lanes);
        pp_team_share(team, x->n, stripes * STRIPE, take_columns, x);
    } else {
        take_columns(x, 0, x->n);
    }
}

// ── General ──────────────────────────────────────────────────────────────────────────────────────

// An exchange of pivots moves rows of F, which holds L and U of F11, and columns of Ut, which is
// U12 transposed.
static void exchange_rows(double *F, int ld, int k, int a, int b)
{
    for (int j = 0; j < k; j++) {
        double t = *PP_AT(F, ld, a, j);
        *PP_AT(F, ld, a, j) = *PP_AT(F, ld, b, j);
        *PP_AT(F, ld, b, j) = t;
    }
}

static void exchange_columns(double *Ut, int m, int a, int b)
{
    for (int i = 0; i < m; i++) {
        double t = *PP_AT(Ut, m, i, a);
        *PP_AT(Ut, m, i, a) = *PP_AT(Ut, m, i, b);
        *PP_AT(Ut, m, i, b) = t;
    }
}

// The row of F11 with the largest entry of column j, from row j on.
PP_INLINE int find_pivot(const double *column, int j, int k)
{
    int at = j;
    for (int i = j + 1; i < k; i++) {
        if (fabs(column[i]) > fabs(column[at])) {
            at = i;
        }
    }
    return at;
}

// Eliminates columns from..to-1. Other columns of F and Ut are changed by row exchanges only.
PP_CLONES
static bool eliminate_columns(const pp_front *front, int from, int to, double *F, double *Ut,
                              int *pivot)
{
    int k = front->k, m = front->m, ld = k + m;
    for (int j = from; j < to; j++) {
        double *column = PP_AT(F, ld, 0, j);
        int at = find_pivot(column, j, k);
        pivot[j] = at;
        if (at != j) {
            exchange_rows(F, ld, k, j, at);
            exchange_columns(Ut, m, j, at);
        }
        if (!(fabs(column[j]) > 0.0)) {
            return false;
        }
        double inverse = 1.0 / column[j];
        column[j] = inverse;
        scale(ld - j - 1, inverse, column + j + 1);
        for (int l = j + 1; l < to; l++) {
            double *other = PP_AT(F, ld, 0, l);
            subtract(ld - j - 1, other[j], column + j + 1, other + j + 1);
        }
    }
    // when all exchanges are done, since rows came from below the stripe
    for (int j = from; j < to; j++) {
        for (int l = j + 1; l < to; l++) {
            subtract(m, *PP_AT(F, ld, l, j), PP_AT(Ut, m, 0, j), PP_AT(Ut, m, 0, l));
        }
    }
    return true;
}

// U to the right of a stripe, then the rest of F and Ut.
PP_CLONES
static void update_trailing(const pp_front *front, int from, int to, double *F, double *Ut,
                            const pp_team *team)
{
    int k = front->k, m = front->m, ld = k + m, rest = k - to;
    // U_12 = L_11^-1 F_12 with the unit triangle of the stripe.
    for (int l = to; l < k; l++) {
        double *other = PP_AT(F, ld, 0, l);
        for (int j = from; j < to; j++) {
            subtract(to - j - 1, other[j], PP_AT(F, ld, j + 1, j), other + j + 1);
        }
    }
    // F_22 -= L_21 U_12, for pivot rows and the rows below together.
    take_product(&(front_job){.m = ld - to,
                              .n = rest,
                              .k = to - from,
                              .A = PP_AT(F, ld, to, from),
                              .lda = ld,
                              .B = PP_AT(F, ld, from, to),
                              .ldb = ld,
                              .C = PP_AT(F, ld, to, to),
                              .ldc = ld},
                 team);
    // The same for the columns to the right of the pivots, which are stored transposed.
    if (m > 0) {
        take_product(&(front_job){.m = m,
                                  .n = rest,
                                  .k = to - from,
                                  .A = PP_AT(Ut, m, 0, from),
                                  .lda = m,
                                  .B = PP_AT(F, ld, to, from),
                                  .ldb = ld,
                                  .C = PP_AT(Ut, m, 0, to),
                                  .ldc = m,
                                  .kind = TRANSPOSED},
                     team);
    }
}

// Schur complement, S -= L21 U12.
PP_CLONES
static void schur(const pp_front *front, const double *F, const double *Ut, double *S,
                  const pp_team *team)
{
    int k = front->k, m = front->m;
    if (k > FEW_TERMS) {
        take_product(&(front_job){.m = m,
                                  .n = m,
                                  .k = k,
                                  .A = F + k,
                                  .lda = k + m,
                                  .B = Ut,
                                  .ldb = m,
                                  .C = S,
                                  .ldc = m,
                                  .kind = TRANSPOSED},
                     team);
        return;
    }
    // With few pivots packing costs more than the product.
    for (int j = 0; j < m; j++) {
        for (int p = 0; p < k; p++) {
            subtract(m, *PP_AT(Ut, m, j, p), PP_AT(F, k + m, k, p), PP_AT(S, m, 0, j));
        }
    }
}

// Partial factorisation of a front of a general matrix, in stripes; false: no acceptable pivot.
bool pp_front_lu(const pp_front *front, double *F, double *Ut, double *S, int *pivot,
                 const pp_team *team)
{
    for (int from = 0; from < front->k; from += STRIPE) {
        int to = from + STRIPE < front->k ? from + STRIPE : front->k;
        if (!eliminate_columns(front, from, to, F, Ut, pivot)) {
            return false;
        }
        if (to < front->k) {
            update_trailing(front, from, to, F, Ut, team);
        }
    }
    if (front->m > 0) {
        schur(front, F, Ut, S, team);
    }
    return true;
}

// ── Symmetric ────────────────────────────────────────────────────────────────────────────────────

// Eliminates columns from..to-1 of a symmetric front. D L' goes above the diagonal and into Ut.
PP_CLONES
static int eliminate_symmetric(const pp_front *front, int from, int to, double *F, double *Ut,
                               double tiny, const double *diagonal, double *D)
{
    int k = front->k, m = front->m, ld = k + m, zeros = 0;
    for (int j = from; j < to; j++) {
        double *column = PP_AT(F, ld, 0, j), d = column[j];
        bool zero = !(fabs(d) > tiny * fabs(diagonal[j]));
        double inverse = zero ? 0.0 : 1.0 / d;
        zeros += zero;
        D[j] = zero ? 0.0 : d;
        // Above the diagonal and in Ut is D L^T, below it L, and on the diagonal the reciprocal of
        // the pivot. For a zero pivot all three vanish, so that its unknown becomes 0.
        column[j] = inverse;
        for (int l = j + 1; l < k; l++) {
            *PP_AT(F, ld, j, l) = zero ? 0.0 : column[l];
        }
        for (int i = 0; i < m; i++) {
            *PP_AT(Ut, m, i, j) = zero ? 0.0 : column[k + i];
        }
        scale(ld - j - 1, inverse, column + j + 1);
        for (int l = j + 1; l < to; l++) {
            double *other = PP_AT(F, ld, 0, l);
            subtract(ld - l, other[j], column + l, other + l);
        }
    }
    return zeros;
}

// Partial factorisation of a symmetric front, without exchanges. Returns the number of pivots that
// vanish compared with `diagonal`, their entry before elimination; they take no further part.
int pp_front_ldl(const pp_front *front, double *F, double *Ut, double *S, double tiny,
                 const double *diagonal, double *D, const pp_team *team)
{
    int k = front->k, m = front->m, ld = k + m, zeros = 0;
    for (int from = 0; from < k; from += STRIPE) {
        int to = from + STRIPE < k ? from + STRIPE : k;
        zeros += eliminate_symmetric(front, from, to, F, Ut, tiny, diagonal, D);
        // Trailing columns, lower triangle only: F_22 -= L_21 D L_21^T, where D L^T is above the
        // diagonal.
        if (to < k) {
            take_product(&(front_job){.m = ld - to,
                                      .n = k - to,
                                      .k = to - from,
                                      .A = PP_AT(F, ld, to, from),
                                      .lda = ld,
                                      .B = PP_AT(F, ld, from, to),
                                      .ldb = ld,
                                      .C = PP_AT(F, ld, to, to),
                                      .ldc = ld,
                                      .kind = BELOW},
                         team);
        }
    }
    // The Schur complement, which the parent adds to its own front.
    if (m > 0) {
        take_product(&(front_job){.m = m,
                                  .n = m,
                                  .k = k,
                                  .A = F + k,
                                  .lda = ld,
                                  .B = Ut,
                                  .ldb = m,
                                  .C = S,
                                  .ldc = m,
                                  .kind = LOWER},
                     team);
    }
    return zeros;
}
