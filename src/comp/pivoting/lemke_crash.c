// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A crash basis, for problems in which the block of the free variables is singular by itself.
//
// A free variable whose equation contains neither it nor any other free one can be basic only
// together with a complementarity pair: rows and columns F ∪ S, S as small as possible. S is found
// by principal pivots of order one and two on a copy of A, largest first (as Bunch and Parlett
// choose them). The path then starts from that basis, wherever its basic solution lies. Cost: n^2 a
// pivot, n^3 in all.
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

// The state: which pairs have been exchanged.
typedef struct crash {
    int n;
    double *T;             // principal pivot transform of A, column-major
    bool *wanted;          // free variables not yet basic
    bool *basic;           // pairs exchanged so far
    double *row, *column;  // n: scratch of a pivot
} crash;

// Entry (i, j) of T.
static double *entry_at(const crash *c, int i, int j)
{
    return c->T + (size_t)j * (size_t)c->n + (size_t)i;
}

// Exchanges z_i and w_i: the principal pivot transform about T_ii.
static void pivot_one(crash *c, int i)
{
    int n = c->n;
    double pivot = *entry_at(c, i, i);
    for (int k = 0; k < n; k++) {
        c->row[k] = *entry_at(c, i, k) / pivot;
        c->column[k] = *entry_at(c, k, i);
    }
    // rank-one update of all but row and column i
    c->row[i] = c->column[i] = 0.0;
    for (int j = 0; j < n; j++) {
        if (c->row[j] != 0.0) {
            pp_axpy(n, -c->row[j], c->column, entry_at(c, 0, j));
        }
    }
    for (int k = 0; k < n; k++) {
        *entry_at(c, i, k) = -c->row[k];
        *entry_at(c, k, i) = c->column[k] / pivot;
    }
    *entry_at(c, i, i) = 1.0 / pivot;
    c->basic[i] = true;
    c->wanted[i] = false;
}

// Exchanges w_i for z_j, i != j: w_i = T_ij z_j + … solved for z_j, with pivot T_ij.
static void pivot_cross(crash *c, int i, int j)
{
    int n = c->n;
    double pivot = *entry_at(c, i, j);
    for (int k = 0; k < n; k++) {
        c->row[k] = *entry_at(c, i, k) / pivot;
        c->column[k] = *entry_at(c, k, j);
    }
    // rank-one update of all but row i and column j
    double inverse = 1.0 / pivot;
    c->row[j] = c->column[i] = 0.0;
    for (int k = 0; k < n; k++) {
        if (c->row[k] != 0.0) {
            pp_axpy(n, -c->row[k], c->column, entry_at(c, 0, k));
        }
    }
    for (int k = 0; k < n; k++) {
        *entry_at(c, i, k) = -c->row[k];
        *entry_at(c, k, j) = c->column[k] * inverse;
    }
    *entry_at(c, i, j) = inverse;
}

// Swaps rows i and j of T.
static void swap_transform_rows(crash *c, int i, int j)
{
    for (int k = 0; k < c->n; k++) {
        double kept = *entry_at(c, i, k);
        *entry_at(c, i, k) = *entry_at(c, j, k);
        *entry_at(c, j, k) = kept;
    }
}

// Exchanges the pairs i and j together, where T_ii and T_jj are too small alone: two cross
// exchanges. Their rows are then those of z_j and z_i, and are swapped back into place.
static void pivot_two(crash *c, int i, int j)
{
    pivot_cross(c, i, j);
    pivot_cross(c, j, i);
    swap_transform_rows(c, i, j);
    c->basic[i] = c->basic[j] = true;
    c->wanted[i] = c->wanted[j] = false;
}

// A principal pivot and its size.
typedef struct choice {
    int i, j;  // j = -1: order one
    double size;
} choice;

// The largest pivot of a wanted variable: of order one, or of order two where that is small.
static choice best_pivot(const crash *c)
{
    choice best = {-1, -1, 0.0};
    for (int i = 0; i < c->n; i++) {
        if (!c->wanted[i]) {
            continue;
        }
        double alone = fabs(*entry_at(c, i, i));
        if (alone > best.size) {
            best = (choice){i, -1, alone};
        }
    }
    if (best.size > 1e-3) {
        return best;
    }
    // 2 x 2 pivots, measured by the root of their determinant
    for (int i = 0; i < c->n; i++) {
        if (!c->wanted[i]) {
            continue;
        }
        for (int j = 0; j < c->n; j++) {
            if (i == j || c->basic[j]) {
                continue;
            }
            double cross = *entry_at(c, i, j) * *entry_at(c, j, i);
            double size = sqrt(fabs(*entry_at(c, i, i) * *entry_at(c, j, j) - cross));
            bool usable = fabs(cross) > 1e-12;
            size *=
                c->wanted[j] ? 1.0 : 0.1;  // free variables are preferred to complementarity pairs
            if (usable && size > 1.5 * best.size) {
                best = (choice){i, j, size};
            }
        }
    }
    return best;
}

perp_status pp_lemke_crash(pp_lemke *t, const double *A, int8_t *place)
{
    int n = t->n;
    crash c = {.n = n};
    c.T = PP_ARRAY(t->arena, double, (size_t)n *(size_t)n);
    c.wanted = PP_ARRAY(t->arena, bool, 2 * (size_t)n);
    c.row = PP_ARRAY(t->arena, double, 2 * (size_t)n);
    if (!c.T || !c.wanted || !c.row) {
        return PERP_ERR_MEMORY;
    }
    c.basic = c.wanted + n;
    c.column = c.row + n;
    memcpy(c.T, A, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        c.wanted[i] = t->lower[i] == -PP_INF && t->upper[i] == PP_INF;
        c.basic[i] = false;
    }
    // principal pivots, the largest first, until every free variable
    // is basic or none is large enough
    for (int round = 0; round < n; round++) {
        choice best = best_pivot(&c);
        if (best.i < 0 || best.size < 1e-9) {
            break;
        }
        if (best.j < 0) {
            pivot_one(&c, best.i);
        } else {
            pivot_two(&c, best.i, best.j);
        }
    }
    for (int i = 0; i < n; i++) {
        place[i] = c.basic[i] ? PERP_BASIS_BASIC : PERP_BASIS_LOWER;
        if (c.wanted[i]) {
            return PERP_ERR_SINGULAR;
        }
    }
    return PERP_OK;
}
