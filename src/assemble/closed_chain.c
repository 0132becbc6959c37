// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints closed one after the other. Where each joint shares bodies with the one before and the one after
// it only, as in a chain, S is block tridiagonal, and is factored in one pass without any ordering:
//
//   X_k = A_k D_k^-1,   D_k+1 <- D_k+1 - X_k A_k^T          A_k: rows of joint k + 1, columns of joint k
//
// D_k starts as the block of joint k itself, W_k^T M^-1 W_k + Gamma_k. The pass is linear in the number of joints and
// makes no fill, where a dense factorisation takes their cube.
//
// Rows that depend on others, and joints in any other order, are left to the general factorisation.
#include "assemble/closed.h"

#include <string.h>

static const double RANK = 1e-11;  // share of its diagonal that a pivot must leave, as in (P8)
enum { ROWS_MOST = 9 };            // of a joint with all that drives it

struct pp_chain {
    int count;
    int *first;  // count + 1: rows of each joint
    int *at;     // count: where its D starts
    int *below;  // count: where its X starts; -1: the next joint is not coupled
    double *D;   // L D L' of each, column-major, reciprocals on the diagonal
    double *X;
};

#define INLINE static inline __attribute__((always_inline))

// ── Order ────────────────────────────────────────────────────────────────────────────────────────

// Runs of rows that belong to the same joint or force.
static int count_joints(const pp_rows *rows, int *first)
{
    int count = 0;
    for (int r = 0; r < rows->nb; r++) {
        const pp_row *row = &rows->b[r], *last = row - 1;
        // springs and drags have no joint: their rows are told apart by the force
        if (r == 0 || row->joint != last->joint || row->force != last->force) {
            first[count++] = r;
        }
    }
    first[count] = rows->nb;
    return count;
}

// Rows of a joint touch the same bodies, and those no joint but one neighbour.
static bool in_a_row(const pp_closed *c, const pp_chain *chain, int *seen, int *last)
{
    const pp_rows *rows = c->rows;
    for (int k = 0; k < chain->count; k++) {
        const pp_row *own = &rows->b[chain->first[k]];
        if (chain->first[k + 1] - chain->first[k] > ROWS_MOST) {
            return false;
        }
        for (int e = 0; e < own->count; e++) {
            int body = own->body[e];
            for (int r = chain->first[k] + 1; r < chain->first[k + 1]; r++) {
                if (rows->b[r].count != own->count || rows->b[r].body[e] != body) {
                    return false;
                }
            }
            // A body may be at two joints at most, and these must be neighbours.
            if (seen[body]++ == 2 || (seen[body] == 2 && last[body] != k - 1)) {
                return false;
            }
            last[body] = k;
        }
    }
    return true;
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// Entries of S between two joints, by the places of the bodies that both touch; of a joint with itself the
// lower triangle.
static void fill_joint_block(const pp_closed *c, int row, int rows, int column, int columns,
                             double *x)
{
    const pp_row *b = c->rows->b, *first = &b[row], *second = &b[column];
    memset(x, 0, (size_t)(rows * columns) * sizeof *x);
    for (int e = 0; e < first->count; e++) {
        for (int o = 0; o < second->count; o++) {
            if (first->body[e] != second->body[o]) {
                continue;
            }
            int nv = c->model->body[first->body[e]].nv;
            for (int j = 0; j < columns; j++) {
                for (int i = row == column ? j : 0; i < rows; i++) {
                    x[i + j * rows] += pp_closed_dot(nv, b[row + i].J[e], c->MJ[column + j][o]);
                }
            }
        }
    }
}

// L D L' in place, reciprocals of D on the diagonal. False: a pivot vanishes beside the diagonal of S.
INLINE bool factor_sized(int n, const double *diagonal, double *A)
{
    double D[ROWS_MOST], LD[ROWS_MOST];
    for (int j = 0; j < n; j++) {
        double d = A[j + j * n];
        for (int k = 0; k < j; k++) {
            LD[k] = A[j + k * n] * D[k];
            d -= A[j + k * n] * LD[k];
        }
        if (!(d > RANK * diagonal[j])) {  // the row follows from rows before it
            return false;
        }
        D[j] = d;
        A[j + j * n] = 1.0 / d;
        for (int i = j + 1; i < n; i++) {
            double sum = A[i + j * n];
            for (int k = 0; k < j; k++) {
                sum -= A[i + k * n] * LD[k];
            }
            A[i + j * n] = sum * A[j + j * n];
        }
    }
    return true;
}

// x = (L D L') \ x
INLINE void solve_sized(int n, const double *A, double *x)
{
    for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) {
            x[i] -= A[i + j * n] * x[j];
        }
    }
    for (int j = 0; j < n; j++) {
        x[j] *= A[j + j * n];
    }
    for (int j = n - 1; j > 0; j--) {
        for (int i = 0; i < j; i++) {
            x[i] -= A[j + i * n] * x[j];
        }
    }
}

// Joints of three rows, spherical ones, are the most frequent: with a constant size the loops are unrolled.
static bool factor_block(int n, const double *diagonal, double *A)
{
    return n == 3 ? factor_sized(3, diagonal, A) : factor_sized(n, diagonal, A);
}

static void solve_block(int n, const double *A, double *x)
{
    if (n == 3) {
        solve_sized(3, A, x);
    } else {
        solve_sized(n, A, x);
    }
}

// The next D less X A'; A is t x s, and becomes X.
INLINE void eliminate_sized(int s, int t, const double *D, double *A, double *next)
{
    double row[ROWS_MOST], kept[ROWS_MOST * ROWS_MOST];
    memcpy(kept, A, (size_t)(s * t) * sizeof *A);
    // row i of X solves D x = (row i of A)^T, as D is symmetric
    for (int i = 0; i < t; i++) {
        for (int j = 0; j < s; j++) {
            row[j] = kept[i + j * t];
        }
        solve_sized(s, D, row);
        for (int j = 0; j < s; j++) {
            A[i + j * t] = row[j];
        }
        for (int l = 0; l < t; l++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) {
                sum += row[j] * kept[l + j * t];
            }
            next[i + l * t] -= sum;
        }
    }
}

static void eliminate_block(int s, int t, const double *D, double *A, double *next)
{
    if (s == 3 && t == 3) {
        eliminate_sized(3, 3, D, A, next);
    } else {
        eliminate_sized(s, t, D, A, next);
    }
}

// Whether joint k and the next one share a body.
static bool coupled(const pp_closed *c, const pp_chain *chain, int k)
{
    const pp_row *own = &c->rows->b[chain->first[k]], *next = &c->rows->b[chain->first[k + 1]];
    for (int e = 0; e < own->count; e++) {
        for (int o = 0; o < next->count; o++) {
            if (own->body[e] == next->body[o]) {
                return true;
            }
        }
    }
    return false;
}

// Block elimination from the first joint to the last. False where a pivot vanishes: rows are redundant.
static bool factor_chain(const pp_closed *c, pp_chain *chain)
{
    int used = 0, below = 0;
    for (int k = 0; k < chain->count; k++) {
        int row = chain->first[k], s = chain->first[k + 1] - row;
        double *D = chain->D + used;
        double carried[ROWS_MOST * ROWS_MOST], diagonal[ROWS_MOST];
        bool after = k > 0 && chain->below[k - 1] >= 0;
        chain->at[k] = used;
        used += s * s;
        // The joint before has left -X A^T where D belongs. Pivots are judged against the diagonal without it, since
        // what elimination leaves of a redundant row is small against what the row was.
        if (after) {
            memcpy(carried, D, (size_t)(s * s) * sizeof *D);
        }
        fill_joint_block(c, row, s, row, s, D);
        for (int i = 0; i < s; i++) {
            D[i + i * s] += c->rows->b[row + i].gamma;
            diagonal[i] = D[i + i * s];
        }
        if (after) {
            for (int i = 0; i < s * s; i++) {
                D[i] += carried[i];
            }
        }
        if (!factor_block(s, diagonal, D)) {
            return false;
        }
        // joints that share no body start a new chain: nothing is carried over
        chain->below[k] = -1;
        if (k + 1 < chain->count && coupled(c, chain, k)) {
            int t = chain->first[k + 2] - chain->first[k + 1];
            chain->below[k] = below;
            fill_joint_block(c, row + s, t, row, s, chain->X + below);
            // the next block starts from -X A^T; the loop above adds its own entries to that
            memset(chain->D + used, 0, (size_t)(t * t) * sizeof *D);
            eliminate_block(s, t, D, chain->X + below, chain->D + used);
            below += s * t;
        }
    }
    return true;
}

// c->chain stays NULL where the rows are no chain or are redundant.
perp_status pp_closed_chain(pp_closed *c, pp_arena *arena)
{
    int nb = c->nb, bodies = c->model->bodies;
    pp_chain *chain = PP_ZEROS(arena, pp_chain, 1);
    int *seen = PP_ZEROS(arena, int, bodies), *last = PP_ARRAY(arena, int, bodies);
    if (!chain || !seen || !last) {
        return PERP_ERR_MEMORY;
    }
    chain->first = PP_ARRAY(arena, int, 3 * (size_t)nb + 1);
    if (!chain->first) {
        return PERP_ERR_MEMORY;
    }
    // one block of ints: first, at, below
    chain->count = count_joints(c->rows, chain->first);
    chain->at = chain->first + nb + 1;
    chain->below = chain->at + nb;
    if (!in_a_row(c, chain, seen, last)) {
        return PERP_OK;  // not a chain: c->chain stays NULL, for another factorisation
    }
    // s^2 <= ROWS_MOST s for each block of s rows, and as much for the blocks below the diagonal
    chain->D = PP_ARRAY(arena, double, 2 * ROWS_MOST * (size_t)nb);
    c->work = PP_ARRAY(arena, double, 3 * (size_t)nb);
    if (!chain->D || !c->work) {
        return PERP_ERR_MEMORY;
    }
    chain->X = chain->D + ROWS_MOST * (size_t)nb;
    if (factor_chain(c, chain)) {
        c->chain = chain;
        c->rank = nb;
    }
    return PERP_OK;
}

// y -= X x or x -= X' y, X t x s
INLINE void forward_sized(int s, int t, const double *X, const double *x, double *y)
{
    for (int j = 0; j < s; j++) {
        for (int i = 0; i < t; i++) {
            y[i] -= X[i + j * t] * x[j];
        }
    }
}

// The transposed product, for the way back.
INLINE void back_sized(int s, int t, const double *X, const double *y, double *x)
{
    for (int j = 0; j < s; j++) {
        for (int i = 0; i < t; i++) {
            x[j] -= X[i + j * t] * y[i];
        }
    }
}

void pp_closed_chain_solve(const pp_chain *chain, double *x)
{
    // x_k+1 -= X_k x_k downwards, then x_k <- D_k^-1 x_k - X_k^T x_k+1 upwards. Blocks of three rows, the most frequent,
    // are compiled with constant sizes.
    for (int k = 0; k + 1 < chain->count; k++) {
        int row = chain->first[k], next = chain->first[k + 1], s = next - row;
        int t = chain->first[k + 2] - next;
        if (chain->below[k] < 0) {
            continue;
        }
        const double *X = chain->X + chain->below[k];
        if (s == 3 && t == 3) {
            forward_sized(3, 3, X, x + row, x + next);
        } else {
            forward_sized(s, t, X, x + row, x + next);
        }
    }
    for (int k = chain->count - 1; k >= 0; k--) {
        int row = chain->first[k], next = chain->first[k + 1], s = next - row;
        solve_block(s, chain->D + chain->at[k], x + row);
        if (chain->below[k] < 0) {
            continue;
        }
        const double *X = chain->X + chain->below[k];
        int t = chain->first[k + 2] - next;
        if (s == 3 && t == 3) {
            back_sized(3, 3, X, x + next, x + row);
        } else {
            back_sized(s, t, X, x + next, x + row);
        }
    }
}
