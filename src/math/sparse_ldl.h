// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Data of the sparse factorisation that the analysis leaves for the numeric phase. Private to
// sparse_*.c.
//
// The method is multifrontal (Duff and Reid 1983). Nodes (bodies, joints) are eliminated in an
// order of little fill. Nodes whose columns of L have the same rows, or nearly, form a front (a
// supernode): with k eliminated rows and m rows below it is
//
//   [ F11  U12 ]     F = [F11; F21]   (k + m) x k,  L and U of F11 in place, 1 / pivots on the diagonal
//   [ F21   S  ]     Ut = U12'         m x k
//                    S = A22 - L21 U12  m x m, the Schur complement, added into the parent's front
//
// so that all arithmetic is dense. Fronts come children first. The S of a front that waits for its
// parent is on one of two stacks, by the parity of its depth, so that neither stack ever has a
// hole.
//
// Several threads: subtrees with a small share of the work each are eliminated at the same time,
// with stacks of their own. Then come the fronts above them, in order, where threads share the
// columns of each product. Each number is computed by the same operations in the same order, on
// whichever thread.
#pragma once

#include "math/math.h"

typedef struct pp_front {
    int k, m;      // rows eliminated, rows below
    int first;     // its first row in elimination order
    int parent;    // -1: root
    int child;     // newest of its children, -1: none
    int sibling;   // next child of the parent, -1: none
    int rows;      // where its m rows start in row[] and in relative[]
    size_t F, Ut;  // where its panels start in F[] and Ut[]
    size_t S;      // where its S starts in S[]
    int inside;    // rows below that the parent eliminates: they come first
} pp_front;

// Where block b of the caller goes: its corner is (i, j) of a front's panel.
typedef struct pp_block_place {
    int front, i, j;
    bool flipped;  // its nodes are eliminated in the other order: transposed, x and upper swap
} pp_block_place;

// A subtree that one thread eliminates: fronts first..last.
typedef struct pp_subtree {
    int first, last;
} pp_subtree;

struct pp_ldl {
    perp_env env;
    pp_team team;
    pp_arena *arena, *scratch;
    bool own;  // the arenas are this object's
    bool ready;
    // The pattern, as the caller gave it.
    int nodes, n;
    int *size, *p, *i;
    int *at;  // p[nodes] + 1 starts of the blocks' values
    // The analysis.
    int *place;  // n: where a row of the caller is in elimination order
    int fronts;
    pp_front *front;
    int *row;       // rows below of each front, in elimination order
    int *relative;  // the same rows as rows of the parent's front
    pp_block_place *block;
    size_t left_size, above_size;
    int trees, tops;   // subtrees, fronts above them; no subtrees: all fronts in order
    pp_subtree *tree;  // trees
    int *top;          // tops
    // The numbers.
    double *F, *Ut, *S;
    int *pivot;        // n: row exchanges within F11
    double *D;         // n: pivots, caller's order
    double *diagonal;  // n: of A, elimination order
    double *x, *t;     // n each, for solves
    double growth;
    double *grown;   // fronts: largest entry of L
    int *lost;       // fronts: pivots that count as zero
    bool symmetric;  // the last factorisation was
};

// Fills the analysis and allocates the numbers; the pattern is set. PERP_OK or PERP_ERR_MEMORY.
perp_status pp_ldl_plan(pp_ldl *ldl);

// Places the S of all fronts, whose tree is known, and finds subtrees for threads. Returns the room
// that S takes, or 0 with *ok false: no memory.
size_t pp_ldl_stack(pp_ldl *ldl, pp_arena *scratch, bool *ok);

// ── sparse_front.c ───────────────────────────────────────────────────────────────────────────────

// L, U of F11, and U12; rows are exchanged within F11. False: a column of zeros. team: threads that
// share the products; NULL: none.
bool pp_front_lu(const pp_front *front, double *F, double *Ut, double *S, int *pivot,
                 const pp_team *team);
// The same for a symmetric front, from its lower triangle. A pivot d with |d| <= tiny |a| (a: the
// diagonal entry of A) becomes zero, with its column of L. Returns the number of those; D: the
// pivots.
int pp_front_ldl(const pp_front *front, double *F, double *Ut, double *S, double tiny,
                 const double *diagonal, double *D, const pp_team *team);
