// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of complementary pivoting. Private to lemke*.c.
//
// Variables are numbered 0..n-1 for z, n..2n-1 for w, and 2n for the artificial z0, with
//
//   w = A z + d z0 + b                                                                theory (C11)
//
// Every position 0..n-1 holds one basic variable. Of each pair (z_i, w_i) one is basic, except for
// one pair of which neither is while z0 is. A non-basic z_i is at its lower or upper bound; w_i, if
// basic, is then >= 0 or <= 0.
#pragma once

#include "comp/comp.h"

typedef struct pp_lemke pp_lemke;

// A representation of the basis: the whole tableau, the dense inverse of its kernel, or sparse LU
// with product-form updates.
typedef struct pp_basis {
    // Build from t->var and compute t->x. PERP_OK, PERP_ERR_SINGULAR, PERP_ERR_MEMORY.
    perp_status (*refactor)(pp_lemke *t);
    // t->x from the factors as they are, refined.
    perp_status (*values)(pp_lemke *t);
    // t->dir = change of each basic variable per unit of the entering one.
    perp_status (*direction)(pp_lemke *t, int entering);
    // row (n numbers) = change of the basic variable at a position per unit of each b_i.
    perp_status (*row)(pp_lemke *t, int position, double *row);
    // The variable at a position leaves; t->var, t->x, t->lo, t->up are kept in step.
    perp_status (*replace)(pp_lemke *t, int position, int entering);
} pp_basis;

// The scaled problem, the basis, and the exchange under way.
struct pp_lemke {
    int n;
    pp_arena *arena;
    perp_matrix A;          // scaled copy; dense (n + 1 columns, the last being d) or CSC
    double *b;              // scaled
    double *lower, *upper;  // scaled bounds of z
    double *cover;          // d
    bool *at_upper;         // where a non-basic z rests
    double *bt;             // b + A z over the non-basic z
    const pp_basis *basis;

    int *var;             // n: variable at each position
    double *x, *lo, *up;  // n: its value and bounds
    double *dir;          // n

    void *kernel;  // of the chosen basis representation
    int pivots, limit;
    int entering;  // of the exchange under way: with dir, the ray when nothing blocks
    double sign;   // +1: it grows, -1: it falls
    const pp_job *job;
    double cost;  // operations of a pivot, estimated

    int *tied;              // n: scratch of the ratio test
    double *row_a, *row_b;  // n: scratch of the lexicographic comparison
};

extern const pp_basis pp_lemke_tableau, pp_lemke_dense, pp_lemke_sparse;

static inline bool pp_is_z(const pp_lemke *t, int variable)
{
    return variable < t->n;
}

static inline int pp_z0(const pp_lemke *t)
{
    return 2 * t->n;
}

// The value at which a non-basic z rests.
double pp_lemke_nonbasic_value(const pp_lemke *t, int j);
// Bounds of a variable as a basic one.
void pp_lemke_bounds(const pp_lemke *t, int variable, double *lo, double *up);
// Puts a variable with its value and bounds at a position.
void pp_lemke_set(pp_lemke *t, int position, int variable, double value);
// y += s * column of z_j (or of z0)
void pp_lemke_add_column(const pp_lemke *t, int variable, double s, double *y);

// Memory for each representation.
perp_status pp_lemke_tableau_init(pp_lemke *t);
perp_status pp_lemke_dense_init(pp_lemke *t);
perp_status pp_lemke_sparse_init(pp_lemke *t);
void pp_lemke_sparse_free(pp_lemke *t);

// A complementary basis that contains every free variable, for problems whose free variables alone
// make a singular block. A is the dense scaled matrix. PERP_ERR_SINGULAR: none was found.
perp_status pp_lemke_crash(pp_lemke *t, const double *A, int8_t *place);

// The step to the first basic variable that reaches a bound; ties go to z0, then lexicographically.
typedef struct pp_lemke_blocking {
    int position;  // -1: none: a ray
    bool at_upper;
    double step;
} pp_lemke_blocking;
perp_status pp_lemke_ratio(pp_lemke *t, pp_lemke_blocking *block);

// Follows the path from the present basis to z0 = 0. PERP_OK, PERP_ERR_RAY (t->dir is the ray),
// PERP_ERR_LIMIT, PERP_ERR_SINGULAR, PERP_ERR_MEMORY.
perp_status pp_lemke_path(pp_lemke *t);
