// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The basis by the inverse of its kernel.
//
// Where w_i is basic the basis column is a unit vector, so that only the kernel K = A[R, C]
// matters: R the rows whose w is not basic, C the basic z (and z0). Its k x k inverse is updated by
// rank-one changes in O(k^2) a pivot, and a direction costs O(k^2 + n k): far below the n^2 of a
// tableau while few contacts are active. Position R[p] holds variable C[p].
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

// The kernel, its rows and columns, and its inverse.
typedef struct kernel {
    int k, capacity;  // size, and size that the array has room for
    int *R, *C;       // k rows, k columns of A (column n is the cover d)
    int *place;       // n: index p with R[p] = row, or -1
    double *inverse;  // K^-1, column-major, leading dimension capacity; entry (c, r)
    bool factored;    // inverse holds L and U of K instead
    double *dz, *dw;  // the last direction: k and n numbers
    double *u, *v;    // n + 1: scratch
    int *pivot;
    int since;     // exchanges since the last refactorisation
    int entering;  // the variable that dz belongs to, -1: none
} kernel;

enum {
    FIRST_CAPACITY = 32,
    REFACTOR_EVERY = 200,  // exchanges after which rounding of the updates calls for a new factor
};

// Column p of the inverse.
static double *kernel_column(const kernel *K, int p)
{
    return K->inverse + (size_t)p * (size_t)K->capacity;
}

// Room for a kernel of size k; the inverse is moved. False: no memory.
static bool reserve_kernel(pp_lemke *t, kernel *K, int k)
{
    if (k <= K->capacity) {
        return true;
    }
    int capacity = 2 * k > t->n ? t->n : 2 * k;
    capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : (capacity + 7) & ~7;
    capacity += capacity % 64 == 0 ? 8 : 0;  // columns shall not share cache sets
    double *inverse = PP_ARRAY(t->arena, double, (size_t)capacity *(size_t)capacity);
    if (!inverse) {
        return false;
    }
    for (int p = 0; p < K->k; p++) {
        memcpy(inverse + (size_t)p * (size_t)capacity, kernel_column(K, p),
               (size_t)K->k * sizeof(double));
    }
    K->inverse = inverse;
    K->capacity = capacity;
    return true;
}

perp_status pp_lemke_dense_init(pp_lemke *t)
{
    size_t n = (size_t)t->n;
    kernel *K = PP_ZEROS(t->arena, kernel, 1);
    int *integers = PP_ARRAY(t->arena, int, 4 * n);
    double *reals = PP_ARRAY(t->arena, double, 4 * (n + 1));
    if (!K || !integers || !reals || !reserve_kernel(t, K, 1)) {
        return PERP_ERR_MEMORY;
    }
    K->R = integers;
    K->C = integers + n;
    K->place = integers + 2 * n;
    K->pivot = integers + 3 * n;
    K->u = reals;
    K->v = reals + (n + 1);
    K->dz = reals + 2 * (n + 1);
    K->dw = reals + 3 * (n + 1);
    t->kernel = K;
    t->basis = &pp_lemke_dense;
    return PERP_OK;
}

// The column of A for a variable; that of z0 is the cover d behind A's own.
static int column_index(const pp_lemke *t, int variable)
{
    return variable == pp_z0(t) ? t->n : variable;
}

// The variable of a column of A.
static int variable_at(const pp_lemke *t, int column)
{
    return column == t->n ? pp_z0(t) : column;
}

// Column of A, or d.
static const double *matrix_column(const pp_lemke *t, int column)
{
    return t->A.dense + (size_t)column * (size_t)t->n;
}

// y += A_C x
static void add_columns(const pp_lemke *t, const kernel *K, const double *x, double *y)
{
    pp_gemv_columns(t->n, K->k, K->C, t->A.dense, t->n, x, y);
}

// out = a_R
static void gather_rows(const kernel *K, const double *a, double *out)
{
    for (int p = 0; p < K->k; p++) {
        out[p] = a[K->R[p]];
    }
}

// y += s K^-1 x. Overwrites x where K is factored and not inverted.
static void add_inverse(const kernel *K, double s, double *x, double *y)
{
    if (K->factored) {
        pp_lu_solve(K->k, K->inverse, K->capacity, K->pivot, x);
        pp_axpy(K->k, s, x, y);
        return;
    }
    pp_gemv(K->k, K->k, s, K->inverse, K->capacity, x, y);
}

// K = L U, in the array of the inverse, which is formed later: a basis that is a solution already
// does not need it.
static perp_status factor_kernel(pp_lemke *t, kernel *K)
{
    K->entering = -1;
    K->since = 0;
    K->factored = true;
    if (!reserve_kernel(t, K, K->k)) {
        return PERP_ERR_MEMORY;
    }
    for (int q = 0; q < K->k; q++) {
        gather_rows(K, matrix_column(t, K->C[q]), kernel_column(K, q));
    }
    bool singular = pp_lu_factor(K->k, K->inverse, K->capacity, K->pivot, 1e-14) != 0;
    return singular ? PERP_ERR_SINGULAR : PERP_OK;
}

// The inverse from the factors, where it is not there yet.
static perp_status invert_kernel(pp_lemke *t, kernel *K)
{
    int k = K->k;
    if (!K->factored) {
        return PERP_OK;
    }
    pp_mark mark = pp_arena_mark(t->arena);
    double *lu = PP_ARRAY(t->arena, double, (size_t)k *(size_t)k);
    if (!lu) {
        return PERP_ERR_MEMORY;
    }
    for (int p = 0; p < k; p++) {
        memcpy(lu + (size_t)p * (size_t)k, kernel_column(K, p), (size_t)k * sizeof *lu);
    }
    // from a copy: the factors are in the array that receives the inverse
    pp_lu_invert(k, lu, k, K->pivot, K->inverse, K->capacity);
    pp_arena_release(t->arena, mark);
    K->factored = false;
    return PERP_OK;
}

// z_C = -K^-1 bt_R with one step of refinement, w = bt + A_C z_C.
static perp_status dense_values(pp_lemke *t)
{
    kernel *K = t->kernel;
    int n = t->n, k = K->k;
    double *z = K->u, *w = K->v, *rest = K->dz;
    K->entering = -1;
    memset(z, 0, (size_t)k * sizeof *z);
    for (int round = 0; round < 2; round++) {  // w_R is what z leaves of bt_R
        memcpy(w, t->bt, (size_t)n * sizeof *w);
        add_columns(t, K, z, w);
        gather_rows(K, w, rest);
        add_inverse(K, -1.0, rest, z);
    }
    memcpy(w, t->bt, (size_t)n * sizeof *w);
    add_columns(t, K, z, w);
    for (int i = 0; i < n; i++) {
        int p = K->place[i];
        t->x[i] = p >= 0 ? z[p] : w[i];
    }
    return PERP_OK;
}

// Collects R and C from t->var and factors K.
static perp_status dense_refactor(pp_lemke *t)
{
    kernel *K = t->kernel;
    int n = t->n;
    K->k = 0;
    for (int i = 0; i < n; i++) {
        K->place[i] = -1;
        if (t->var[i] != n + i) {
            // w_i is not basic: row i belongs to the kernel
            K->place[i] = K->k;
            K->R[K->k] = i;
            K->C[K->k++] = column_index(t, t->var[i]);
        }
    }
    perp_status status = factor_kernel(t, K);
    if (status < 0) {
        return status;
    }
    return dense_values(t);
}

// dir = (dz_C, dw) for the entering variable. Returns the relative error of K^-1 along it: rows R
// of dw should vanish.
static double try_direction(pp_lemke *t, kernel *K, int entering)
{
    int n = t->n, k = K->k;
    double *dz = K->dz, *dw = K->dw, worst = 0.0, size = 1.0;
    int own = pp_is_z(t, entering) ? -1 : K->place[entering - n];
    if (own < 0) {  // z enters: dz = -K^-1 a_R, dw = a + A_C dz
        const double *a = matrix_column(t, entering);
        memcpy(dw, a, (size_t)n * sizeof *dw);
        memset(dz, 0, (size_t)k * sizeof *dz);
        gather_rows(K, a, K->u);
        add_inverse(K, -1.0, K->u, dz);
    } else {  // w of row R[own] enters: dz = K^-1 e_own, dw = A_C dz
        memset(dw, 0, (size_t)n * sizeof *dw);
        memcpy(dz, kernel_column(K, own), (size_t)k * sizeof *dz);
    }
    add_columns(t, K, dz, dw);
    memcpy(t->dir, dw, (size_t)n * sizeof *dw);
    for (int p = 0; p < k; p++) {  // rows R of dw must vanish, but for the entering w's own
        double error = fabs(dw[K->R[p]] - (p == own ? 1.0 : 0.0)), change = fabs(dz[p]);
        worst = error <= worst ? worst : error;
        size = change > size ? change : size;
        t->dir[K->R[p]] = dz[p];
    }
    K->entering = entering;
    return worst / size;
}

// The direction, with K factored anew where updates have lost accuracy (DRIFT). Beyond WORST the
// basis counts as singular.
static perp_status dense_direction(pp_lemke *t, int entering)
{
    static const double DRIFT = 1e-9, WORST = 1e-4;
    kernel *K = t->kernel;
    perp_status status = invert_kernel(t, K);
    if (status < 0) {
        return status;
    }
    double error = K->since < REFACTOR_EVERY ? try_direction(t, K, entering) : 1.0;
    if (error <= DRIFT) {
        return PERP_OK;
    }
    // drift of the updates, or too many of them: a new factorisation
    if (K->since > 0) {
        status = factor_kernel(t, K);
        if (status >= 0) {
            status = invert_kernel(t, K);
        }
        if (status < 0) {
            return status;
        }
        dense_values(t);
        error = try_direction(t, K, entering);
    }
    return error < WORST ? PERP_OK : PERP_ERR_SINGULAR;
}

// v = A[r, C] K^-1
static void left_solve(const pp_lemke *t, const kernel *K, int r, double *v)
{
    double *a = K->u;
    for (int q = 0; q < K->k; q++) {
        a[q] = matrix_column(t, K->C[q])[r];
    }
    memset(v, 0, (size_t)K->k * sizeof *v);
    pp_gemv_t(K->k, K->k, 1.0, K->inverse, K->capacity, a, v);
}

// The row of the inverse basis at a position: derivatives of its variable by b.
static perp_status dense_row(pp_lemke *t, int position, double *row)
{
    kernel *K = t->kernel;
    int own = K->place[position];
    memset(row, 0, (size_t)t->n * sizeof *row);
    if (own < 0) {  // w_i = b_i - A[i, C] K^-1 b_R
        left_solve(t, K, position, K->v);
        for (int p = 0; p < K->k; p++) {
            row[K->R[p]] = -K->v[p];
        }
        row[position] += 1.0;
    } else {  // z_C = -K^-1 b_R
        for (int p = 0; p < K->k; p++) {
            row[K->R[p]] = -kernel_column(K, p)[own];
        }
    }
    return PERP_OK;
}

// ── The four kinds of exchange ───────────────────────────────────────────────────────────────────

// u = K^-1 a_R for the entering column: -dz of its direction where that was the last one computed.
static void right_solve(const pp_lemke *t, const kernel *K, int entering, double *u)
{
    if (K->entering == entering) {
        for (int p = 0; p < K->k; p++) {
            u[p] = -K->dz[p];
        }
        return;
    }
    gather_rows(K, matrix_column(t, column_index(t, entering)), K->dz);
    memset(u, 0, (size_t)K->k * sizeof *u);
    add_inverse(K, 1.0, K->dz, u);
}

// z (or z0) enters, w_r leaves: K gains row r and the variable's column. The inverse of a bordered
// matrix, with the Schur complement `pivot`.
static perp_status grow_kernel(pp_lemke *t, kernel *K, int r, int entering)
{
    int k = K->k;
    if (!reserve_kernel(t, K, k + 1)) {
        return PERP_ERR_MEMORY;
    }
    left_solve(t, K, r, K->v);
    right_solve(t, K, entering, K->u);
    const double *a = matrix_column(t, column_index(t, entering));
    // Schur complement of the new entry
    double pivot = a[r];
    for (int p = 0; p < k; p++) {
        pivot -= K->v[p] * a[K->R[p]];
    }
    pp_ger(k, k, 1.0 / pivot, K->u, K->v, K->inverse, K->capacity);
    double *last = kernel_column(K, k);
    for (int p = 0; p < k; p++) {
        kernel_column(K, p)[k] = -K->v[p] / pivot;
        last[p] = -K->u[p] / pivot;
    }
    last[k] = 1.0 / pivot;
    K->R[k] = r;
    K->C[k] = column_index(t, entering);
    K->place[r] = k;
    K->k = k + 1;
    return PERP_OK;
}

// z enters, z_C[q] leaves: column q of K is replaced. Row q of the inverse is divided by the pivot
// and subtracted from the others: one rank-one update with u_q - 1 in place of u_q.
static void change_column(pp_lemke *t, kernel *K, int q, int entering)
{
    right_solve(t, K, entering, K->u);
    double pivot = K->u[q];
    for (int p = 0; p < K->k; p++) {
        K->v[p] = kernel_column(K, p)[q];
    }
    K->u[q] -= 1.0;
    pp_ger(K->k, K->k, -1.0 / pivot, K->u, K->v, K->inverse, K->capacity);
    K->C[q] = column_index(t, entering);
}

// w of row R[p] enters, w_r leaves: row p of K is replaced. The same for columns of the inverse.
static void change_row(pp_lemke *t, kernel *K, int p, int r)
{
    left_solve(t, K, r, K->v);
    double pivot = K->v[p];
    memcpy(K->u, kernel_column(K, p), (size_t)K->k * sizeof *K->u);
    K->v[p] -= 1.0;
    pp_ger(K->k, K->k, -1.0 / pivot, K->u, K->v, K->inverse, K->capacity);
    K->place[K->R[p]] = -1;
    K->R[p] = r;
    K->place[r] = p;
}

// w of row R[p] enters, z_C[q] leaves: K loses row p and column q. The variable C[p] stays and
// takes the row R[q], so that position R[q] holds it.
static void shrink_kernel(kernel *K, int p, int q)
{
    int k = K->k, last = k - 1;
    double *own = kernel_column(K, p), pivot = own[q];
    memcpy(K->u, own, (size_t)k * sizeof *own);
    for (int j = 0; j < k; j++) {
        K->v[j] = kernel_column(K, j)[q];
    }
    pp_ger(k, k, -1.0 / pivot, K->u, K->v, K->inverse, K->capacity);
    K->place[K->R[p]] = -1;
    // Row q and column p of the inverse go. First pair C[p] with R[q]: row p moves to row q, so
    // that index p is free on both sides; then the last index moves into p.
    if (p != q) {
        for (int j = 0; j < k; j++) {
            kernel_column(K, j)[q] = kernel_column(K, j)[p];
        }
        K->C[q] = K->C[p];
    }
    if (p != last) {
        memcpy(own, kernel_column(K, last), (size_t)k * sizeof *own);
        for (int j = 0; j < last; j++) {
            kernel_column(K, j)[p] = kernel_column(K, j)[last];
        }
        K->R[p] = K->R[last];
        K->C[p] = K->C[last];
        K->place[K->R[p]] = p;
    }
    K->k = last;
}

// The exchange of one basic variable, by which of z and w enters and leaves. Values and bounds of
// positions follow, since shrinking pairs rows and variables anew.
static perp_status dense_replace(pp_lemke *t, int position, int entering)
{
    kernel *K = t->kernel;
    int n = t->n, leaves = K->place[position];
    bool z_enters = pp_is_z(t, entering) || entering == pp_z0(t);
    double value = t->x[position];
    perp_status status = invert_kernel(t, K);
    K->since++;
    t->cost = 6.0 * K->k * K->k + 2.0 * n * K->k;
    if (status < 0) {
        return status;
    }
    // z enters: the kernel grows, or one of its columns is replaced
    if (z_enters) {
        if (leaves < 0) {
            status = grow_kernel(t, K, position, entering);
            if (status < 0) {
                return status;
            }
        } else {
            change_column(t, K, leaves, entering);
        }
        pp_lemke_set(t, position, entering, value);
        K->entering = -1;
        return PERP_OK;
    }
    // w enters: one row of the kernel is replaced, or the kernel shrinks
    int row = entering - n, enters = K->place[row];
    int stays = variable_at(t, K->C[enters]);
    double kept = t->x[row];
    if (leaves < 0) {
        change_row(t, K, enters, position);
        pp_lemke_set(t, position, stays, kept);
    } else {
        if (enters != leaves) {
            pp_lemke_set(t, position, stays, kept);
        }
        shrink_kernel(K, enters, leaves);
    }
    pp_lemke_set(t, row, entering, value);
    K->entering = -1;
    return PERP_OK;
}

const pp_basis pp_lemke_dense = {dense_refactor, dense_values, dense_direction, dense_row,
                                 dense_replace};
