// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-inverse by a complete orthogonal decomposition, A P = Q [T 0; 0 0] Z (Golub and Van Loan).
// Column pivoting reveals the rank. Both factors consist of Householder reflections, so that the
// solution is that of Moore and Penrose up to rounding.                                theory (J9)
#include "math/math.h"

#include <math.h>
#include <string.h>

// The reflection I - beta v v^T that takes x to (alpha, 0, ...). v replaces x, with v_0 = 1;
// returns beta.
static double reflect(int n, double *x, double *alpha)
{
    double tail = pp_norm2(n - 1, x + 1), head = x[0];
    *alpha = head;
    if (tail == 0.0) {
        return 0.0;
    }
    double norm = pp_hypot(head, tail);
    // The sign that does not cancel.
    *alpha = head > 0.0 ? -norm : norm;
    double first = head - *alpha;
    for (int i = 1; i < n; i++) {
        x[i] /= first;
    }
    x[0] = 1.0;
    return -first / *alpha;
}

// y <- (I - beta v v^T) y.
static void apply_reflector(int n, const double *v, double beta, double *y)
{
    double s = y[0] + pp_dot(n - 1, v + 1, y + 1);
    y[0] -= beta * s;
    pp_axpy(n - 1, -beta * s, v + 1, y + 1);
}

static void swap_columns(int n, double *A, int i, int j)
{
    for (int k = 0; i != j && k < n; k++) {
        double keep = A[k + i * n];
        A[k + i * n] = A[k + j * n];
        A[k + j * n] = keep;
    }
}

// The longest remaining column. Squares of lengths are updated by what each reflection takes from
// them. A tie goes to the first column, up to rounding, so that the order does not depend on it.
static int longest(int n, int k, const double *A, const double *square, double *length)
{
    int best = k;
    for (int j = k + 1; j < n; j++) {
        best = square[j] > square[best] * (1.0 + 1e-12) ? j : best;
    }
    *length = pp_norm2(n - k, A + k + best * n);
    return best;
}

// Where little is left the update has cancelled, and the length is computed anew.
static void update_column_norms(int n, int k, const double *A, const double *begun, double *square)
{
    for (int j = k + 1; j < n; j++) {
        double taken = A[k + j * n];
        square[j] -= taken * taken;
        if (square[j] < 1e-6 * begun[j]) {
            double length = pp_norm2(n - k - 1, A + k + 1 + j * n);
            square[j] = length * length;
        }
    }
}

static void swap(double *x, int i, int j)
{
    double keep = x[i];
    x[i] = x[j];
    x[j] = keep;
}

// A P = Q R with the longest remaining column first; b becomes Q^T b. Returns the rank. size: what
// columns are compared with, 0: the longest one. work: 2 n numbers.
static int triangular(int n, double *A, double *b, int *place, double size, double tiny,
                      double *work)
{
    double *square = work, *begun = work + n, first = size;
    for (int k = 0; k < n; k++) {
        double length = pp_norm2(n, A + k * n);
        place[k] = k;
        square[k] = begun[k] = length * length;
    }
    for (int k = 0; k < n; k++) {
        double most;
        int best = longest(n, k, A, square, &most);
        if (k == 0 && size == 0.0) {
            first = most;
        }
        // All that is left is rounding: the rank is k.
        if (!(most > tiny * first) || most == 0.0) {
            return k;
        }
        swap_columns(n, A, k, best);
        swap(square, k, best);
        swap(begun, k, best);
        int keep = place[k];
        place[k] = place[best];
        place[best] = keep;
        // The reflection I - beta v v^T maps the column to alpha e_1. v, with v_1 = 1, is stored
        // below the diagonal; alpha takes the place of v_1 when all columns have been reflected.
        double *column = A + k + k * n, alpha;
        double beta = reflect(n - k, column, &alpha);
        column[0] = 1.0;
        for (int c = k + 1; c < n; c++) {
            apply_reflector(n - k, column, beta, A + k + c * n);
        }
        apply_reflector(n - k, column, beta, b + k);
        column[0] = alpha;
        update_column_norms(n, k, A, begun, square);
    }
    return n;
}

// The shortest y of the rank x n system [R11 R12] S^-1 y = c, through the QR factors of its
// transpose. S: scale of the columns in their present order (NULL: 1); work: n^2 + 2 n numbers,
// with y in it.
static void shortest(int n, int rank, const double *R, const double *c, const double *scale,
                     const int *place, double *W)
{
    double *y = W + n * n, *beta = y + n;
    for (int k = 0; k < rank; k++) {
        for (int j = 0; j < n; j++) {
            double s = scale ? scale[place[j]] : 1.0;
            W[j + k * n] = j >= k ? R[k + j * n] / s : 0.0;
        }
    }
    for (int k = 0; k < rank; k++) {
        double *column = W + k + k * n, alpha;
        beta[k] = reflect(n - k, column, &alpha);
        column[0] = 1.0;
        for (int j = k + 1; j < rank; j++) {
            apply_reflector(n - k, column, beta[k], W + k + j * n);
        }
        column[0] = alpha;
    }
    memset(y, 0, (size_t)n * sizeof *y);
    for (int k = 0; k < rank; k++) {  // T^T y = c, T upper triangular in W
        double sum = c[k] - pp_dot(k, W + k * n, y);
        y[k] = sum / W[k + k * n];
    }
    for (int k = rank - 1; k >= 0; k--) {
        double *column = W + k + k * n;
        column[0] = 1.0;
        apply_reflector(n - k, column, beta[k], y + k);
    }
}

// Scaled on both sides, reduced to triangular form, solved, and scaled back into the caller's
// order.
int pp_least_factor(int n, double *A, double *b, double *x, const double *scale, double tiny,
                    pp_least *out, pp_arena *arena)
{
    *out = (pp_least){.n = n};
    if (n == 0) {
        return 0;
    }
    size_t size = (size_t)n * (size_t)n;
    int *place = PP_ARRAY(arena, int, n);
    double *work = PP_ARRAY(arena, double, size + 2 * (size_t)n);
    if (!place || !work) {
        return -1;
    }
    if (scale) {  // S A S (S^-1 x) = S b: a column is then compared with 1
        for (int j = 0; j < n; j++) {
            b[j] *= scale[j];
            for (int i = 0; i < n; i++) {
                A[i + j * n] *= scale[i] * scale[j];
            }
        }
    }
    int rank = triangular(n, A, b, place, scale ? 1.0 : 0.0, tiny, work);
    double *y = work + size;
    if (rank == n) {
        // Regular: R y = Q^T b by back substitution.
        for (int k = n - 1; k >= 0; k--) {
            double sum = b[k];
            for (int j = k + 1; j < n; j++) {
                sum -= A[k + j * n] * y[j];
            }
            y[k] = sum / A[k + k * n];
        }
        if (scale) {  // back to the units of x
            for (int k = 0; k < n; k++) {
                y[k] *= scale[place[k]];
            }
        }
    } else {
        shortest(n, rank, A, b, scale, place, work);
    }
    for (int k = 0; k < n; k++) {
        x[place[k]] = y[k];
    }
    *out = (pp_least){n, rank, place, work, work + size + (size_t)n};
    return rank;
}

int pp_least_solve(int n, double *A, double *b, double *x, const double *scale, double tiny,
                   pp_arena *arena)
{
    pp_least factors;
    return pp_least_factor(n, A, b, x, scale, tiny, &factors, arena);
}

// Z^T [0; I]: the last columns of the product of the reflections that took the rows to T.
void pp_least_null(const pp_least *factors, double *N, double *work)
{
    int n = factors->n;
    for (int j = 0; j < n - factors->rank; j++) {
        memset(work, 0, (size_t)n * sizeof *work);
        work[factors->rank + j] = 1.0;
        for (int k = factors->rank - 1; k >= 0; k--) {
            apply_reflector(n - k, factors->W + k + k * n, factors->beta[k], work + k);
        }
        for (int i = 0; i < n; i++) {
            N[factors->place[i] + j * n] = work[i];
        }
    }
}
