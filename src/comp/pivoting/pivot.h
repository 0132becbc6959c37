// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The solver "pivot": its state and the parts that work on it. Private to pivot*.c.
//
//   pivot_setup.c    memory, scales, symmetry
//   pivot_guess.c    the first basis
//   pivot_factor.c   the free block A_FF + alpha D: gathered, factored, solved
//   pivot_border.c   the same from an older factor, where few variables came or left
//   pivot_block.c    block principal pivoting on (A + alpha D, q)
//   pivot_prox.c     the proximal loop around it, and proofs of infeasibility
//   pivot.c          the solver
#pragma once

#include "comp/comp.h"

// The rows that border the factored block: variables by which the free list differs from the
// factored one (pivot_border.c).
typedef struct pp_border {
    int most, rows, count;   // rows there may be (0: no border), are, are in use now
    int *variable, *active;  // of each row; the rows in use
    int *slot, *row;         // n: place in the factored list and in the border, or -1
    double *gram;            // most x most: C - X X'
    double *schur;           // LU of the part in use
    int *pivot;
    double *s, *g, *all, *x;  // scratch
} pp_border;

// The state of a solve. F is the set of free (basic) variables; the others are at a bound.
typedef struct pp_pivot {
    int n;
    const perp_mcp *mcp;
    perp_matrix A;  // dense, or CSC when that pays (sparse)
    bool sparse, symmetric;
    double *lower, *upper;   // n each
    double *D;               // n: the positive diagonal, or a stand-in: unit of w over unit of z
    double *root, *inverse;  // sqrt D and 1 / sqrt D
    double unit;             // 1e-12 max|b|: a w below it is zero

    double alpha;    // of the proximal term alpha D (z - center)
    double *center;  // n
    double *q;       // n: b - alpha D center
    double *c;       // n: q + (A + alpha D) z with z_F = 0

    int8_t *place;  // n: perp_basis
    double *best;   // n: the iterate of least residual
    double best_residual;
    int wait;           // proximal steps before alpha may shrink
    int8_t *good;       // n: places of the last proximal step that was solved
    double *z, *w;      // n: the basic solution, w = (A + alpha D) z + q
    double *step;       // n: z - center, a proof of infeasibility in the end
    double *x, *work;   // n: over F
    int *free, *fixed;  // the free list F, and the bound variables with z != 0
    int count, fixed_count;
    int *exchange;   // indices that violate, ascending
    int8_t *target;  // where they go

    double *L;       // factor of the scaled free block, leading dimension ld
    int *row_pivot;  // of LU
    int *factored;   // the free list it belongs to, factored_count of them; -1: none
    int ld, factored_count;
    double factored_alpha;
    pp_border border;  // count > 0: the factor at hand is L with this border
    pp_sparse_lu *lu;  // sparse: the factor, and the block in CSC
    int *sub_p, *sub_i, *where;
    double *sub_x;

    int steps, step_limit;
    const pp_job *job;
    double seconds_factor;
} pp_pivot;

// On entry p->n and p->mcp are set and the rest is zero. PERP_OK or PERP_ERR_MEMORY.
perp_status pp_pivot_setup(pp_pivot *p, pp_arena *arena);
// Places from the bounds that z is at; from a caller's basis, infinite bounds excepted; or from z
// after some sweeps, which change z.
void pp_pivot_place_from_z(pp_pivot *p, const double *z);
void pp_pivot_place_from_basis(pp_pivot *p, const int8_t *basis);
void pp_pivot_guess(pp_pivot *p, double *z);

// Solves (C19) for z_F and computes w. PERP_OK, PERP_ERR_SINGULAR or PERP_ERR_MEMORY.
perp_status pp_pivot_solve_free(pp_pivot *p);
void pp_pivot_drop_factor(pp_pivot *p);  // frees the factors of KLU

size_t pp_pivot_border_room(int n);  // rows below L
perp_status pp_pivot_border_allocate(pp_pivot *p, pp_arena *arena);
void pp_pivot_border_begin(pp_pivot *p);  // L is the factor of the free list
bool pp_pivot_border(pp_pivot *p);        // false: the free list needs a factor of its own
void pp_pivot_border_solve(const pp_pivot *p, double *x);  // as a solve with the factored block

// Finds a complementary basis of (A + alpha D, q) from the one in `place`. PERP_OK: z, w and place
// hold it; otherwise PERP_ERR_SINGULAR, PERP_ERR_LIMIT or PERP_ERR_MEMORY. After `patience` block
// steps without progress at most `singles` single-index steps are taken.
perp_status pp_pivot_block(pp_pivot *p, int patience, int singles);
void pp_pivot_center(pp_pivot *p, double alpha);  // sets alpha, and q for the present center

// The accuracy that an answer must reach, in the unit of w.
typedef struct pp_goal {
    double residual;  // of the natural map, with z in its own unit and in that of w
    double rounding;  // bound of the rounding error of w
} pp_goal;

// Whether z reaches the goal for (A, b), and its residual. w becomes
// A z + b, without the proximal term.
bool pp_pivot_is_solved(pp_pivot *p, const pp_goal *goal, double *residual);

// Proximal point iteration from the present center. PERP_OK: z reaches the goal;
// PERP_ERR_INFEASIBLE: step is a proof of it; otherwise best is the best iterate.
perp_status pp_pivot_prox(pp_pivot *p, const pp_goal *goal, pp_report *report);
