// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems made from formulas: the classical hard families of complementarity, contact problems that
// fit in a few lines, and random small problems of known classes. For tests and benchmarks.
#pragma once

#include "support/random.h"

#include <perp/comp.h>

// An MCP that owns its arrays. Dense unless the family says otherwise.
typedef struct problem {
    perp_mcp mcp;
    int n;
    double *A;  // column-major, n x n; NULL when sparse
    double *b, *lower, *upper;
    int *p, *i;  // CSC, when sparse
    double *x;
} problem;

// A[i, j] of a dense problem, as an lvalue.
#define ENTRY(problem, row, column) ((problem)->A[(row) + (column) * (problem)->n])

problem *problem_create(int n);          // A = 0, b = 0, bounds [0, inf)
void problem_destroy(problem *problem);  // NULL is fine
// A sparse copy of a dense problem (entries that are 0 are dropped).
problem *problem_sparse(const problem *dense);

// ── Classical families (Cottle, Pang, Stone 1992; Murty 1988) ────────────────────────────────────

problem *family_murty(int n);        // upper triangular, 2 above: z = (0, …, 0, 1)
problem *family_murty_lemke(int n);  // the same, b for which Lemke needs 2^n - 1 pivots; n <= 1000
problem *family_murty_transposed(int n);  // z = (1, 0, …, 0)
problem *family_fathi(int n);             // L L', SPD: z = (1, 0, …, 0)
problem *family_fathi_murty(int n);       // L'L with the b of family_murty_lemke
problem *family_kostreva(void);  // principal pivoting without least index cycles: z = 1/3 e
problem *family_tie(void);       // CPS 4.4.16: the artificial variable ties: z = (0, 1)
problem *family_ones(int n);     // every z >= 0 with sum 1
problem *family_bimatrix(int m, int k, rng *r);  // [0 A; B' 0], b = -e, costs in (1, 2): solvable
problem *family_bimatrix_tucker(void);   // 2 x 2 game with negative entries: Lemke's e may fail
problem *family_infeasible_skew(int n);  // copositive-plus, infeasible; n even
problem *family_infeasible_psd(int n);   // PSD of rank n / 2, infeasible; n even
// Solvable if and only if a subset of a[0..n-1] sums to target. n + 2 variables.
problem *family_subset_sum(int n, const int *a, int target);
problem *family_pang(double perturbation);  // 0: isolated solution; otherwise none
problem *family_ahn(int n);                 // tridiagonal (1, 4, -2), b = -4: sparse
problem *family_harker_pang(int n, rng *r);
problem *family_psd_degenerate(int n, rng *r);  // rank n / 2, a quarter of the pairs z = w = 0
problem *family_spd(int n, rng *r);
problem *family_boxed_spd(int n, rng *r);  // random lower < 0 < upper
problem *family_obstacle(int side);        // five-point Laplacian over a bump: sparse, side^2

// ── Mechanics ────────────────────────────────────────────────────────────────────────────────────

// Acceleration of a rod's sliding tip, 0 <= N _|_ A N + B >= 0 with
//   A = (1 + 3 cos^2 t - 3 mu sin t cos t) / m,   B = l w^2 sin t - g
problem *family_painleve(double angle, double mu, double omega, double length, double mass);
// Two links in the plane with a revolute joint each (equations) and dry joint friction (boxes).
problem *family_joint_friction(double torque_limit, double drive);

// A pile of boxes on a plane, `contacts` points at each interface, masses 1, ratio, ratio^2, …: the
// exact Coulomb problem in local and global form. Rank at most 6 a box, so forces are not unique.
typedef struct pile {
    perp_fcp local, global;
    double *memory;
} pile;
pile *family_pile(int boxes, int contacts, double ratio, double mu, const double push[3]);
void pile_destroy(pile *pile);

// ── Random small problems ────────────────────────────────────────────────────────────────────────

typedef enum random_kind {
    RANDOM_P,           // diagonally dominant or SPD plus skew: unique solution
    RANDOM_PSD,         // rank deficient, feasible or not
    RANDOM_COPOSITIVE,  // nonnegative with positive diagonal: strictly copositive, solvable
    RANDOM_SINGULAR,    // small integers, many zeros
    RANDOM_SCALED,      // R A C with R, C up to 1e12: the class of A
    RANDOM_DEGENERATE,  // P or PSD, b made so that z = w = 0 for some pairs
    RANDOM_MIXED,       // P or PSD with free, boxed, upper-bounded and fixed variables
    RANDOM_GENERAL,     // normal entries: no, one or many solutions
    RANDOM_MIXED_GENERAL,
    RANDOM_KINDS
} random_kind;

const char *random_kind_name(random_kind kind);
// Overwrites a dense problem of room for n variables (problem_create(n_max)); sets problem->n = n.
void random_problem(problem *problem, int n, random_kind kind, rng *r);
