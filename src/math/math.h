// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of math/: dense and sparse linear algebra on plain arrays. Dense matrices are column-major
// with a leading dimension ld >= rows: A(i, j) = A[i + j * ld].
//
// Every function gives the same bits on every machine and with any number of threads: the order of
// each sum is fixed by the source, and products are not fused.
#pragma once

#include "base/base.h"

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// fmin and fmax would be function calls, because of NaN. Here NaN in x stays NaN; of a maximum or a minimum the second
// number is taken where either is NaN.
static inline double pp_clamp(double x, double lower, double upper)
{
    if (x < lower) {
        return lower;
    }
    return x > upper ? upper : x;
}

static inline double pp_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double pp_min(double a, double b)
{
    return a < b ? a : b;
}

// ── Elementary functions (elementary_*.c) ────────────────────────────────────────────────────────

// The functions of <math.h> with these names, with the same bits on every machine: libm's differ between
// libraries, their versions and processors. Errors are below 0.51 units in the last place (0.52 for powers), of erfc
// below 10. No function sets errno or is rounded in another direction. tools/check_math forbids libm's in src/.
double pp_sin(double x);
double pp_cos(double x);
void pp_sine_cosine(double x, double *sine, double *cosine);  // the same numbers
double pp_tan(double x);
double pp_asin(double x);
double pp_acos(double x);
double pp_atan(double x);
double pp_atan2(double y, double x);
double pp_hypot(double x, double y);
double pp_exp(double x);
double pp_exp2(double x);
double pp_expm1(double x);
double pp_log(double x);
double pp_log2(double x);
double pp_log10(double x);
double pp_pow(double x, double y);
double pp_sinh(double x);
double pp_cosh(double x);
double pp_tanh(double x);
double pp_erfc(double x);

// ── Order (order.c) ──────────────────────────────────────────────────────────────────────────────

// Sorts n keys in rising order; scratch has room for as many.
void pp_sort_keys(int n, uint64_t *key, uint64_t *scratch);
// Position along a Hilbert curve through a grid with 2^bits cells along each side, in the plane
// (dim 2) or in space (3): cells that are close on the curve are close in space. dim * bits <= 64;
// x is overwritten.
uint64_t pp_hilbert(int dim, uint32_t *x, int bits);

// ── Vectors ──────────────────────────────────────────────────────────────────────────────────────

double pp_dot(int n, const double *x, const double *y);
void pp_axpy(int n, double a, const double *x, double *y);  // y += a x
double pp_norm_inf(int n, const double *x);                 // NaN in x gives NaN
// Without overflow or underflow of the squares.
double pp_norm2(int n, const double *x);
bool pp_all_finite(size_t n, const double *x);

// ── Dense ────────────────────────────────────────────────────────────────────────────────────────

void pp_gemv(int m, int n, double a, const double *A, int ld, const double *x,
             double *y);  // y += a A x
void pp_gemv_t(int m, int n, double a, const double *A, int ld, const double *x,
               double *y);  // y += a A'x
void pp_ger(int m, int n, double a, const double *x, const double *y, double *A,
            int ld);  // A += a x y'

// Pivot of a tableau x = T y with n columns: x_r and y_c change places. ld is a multiple of 4, the
// rows below those of T are padding (finite), and u is scratch of ld numbers.
void pp_exchange(int n, double *T, int ld, int r, int c, double *u);

// y += sum_k A(:, column_k) x_k
void pp_gemv_columns(int m, int n, const int *column, const double *A, int ld, const double *x,
                     double *y);

// C -= A B, C -= A B', and the part of C -= A A' on and below the diagonal of C (m rows, n columns,
// the first n rows of A), with k terms. Not BLAS, whose sums differ between machines.
void pp_gemm_sub(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C,
                 int ldc);
void pp_gemm_sub_t(int m, int n, int k, const double *A, int lda, const double *B, int ldb,
                   double *C, int ldc);
// The lower triangle of C -= A B' with C n x n, where the product is symmetric.
void pp_gemm_sub_lower_t(int n, int k, const double *A, int lda, const double *B, int ldb,
                         double *C, int ldc);
void pp_syrk_sub(int m, int n, int k, const double *A, int lda, double *C, int ldc);

// P A = L U with partial pivoting, in place. Returns 0, or 1 + the column in which all pivots are
// <= tiny.
int pp_lu_factor(int n, double *A, int ld, int *pivot, double tiny);
void pp_lu_solve(int n, const double *LU, int ld, const int *pivot, double *x);    // x = A \ x
void pp_lu_solve_t(int n, const double *LU, int ld, const int *pivot, double *x);  // x = A'\ x
void pp_lu_invert(int n, const double *LU, int ld, const int *pivot, double *X, int ldx);

// A = L L' from the lower triangle, in place; the upper triangle is neither read nor written.
// Returns 0, or 1 + the column whose pivot is <= tiny.
int pp_chol_factor(int n, double *A, int ld, double tiny);
void pp_chol_solve(int n, const double *L, int ld, double *x);          // x = A \ x
void pp_chol_solve_forward(int n, const double *L, int ld, double *x);  // x = L \ x
void pp_chol_solve_back(int n, const double *L, int ld, double *x);     // x = L'\ x
// The same for m >= n rows: rows n..m-1 become X with X L' = A. A right-hand side stored as a row
// is thus forward-solved on the way, and pp_chol_solve_back completes the solution.
int pp_chol_factor_rows(int m, int n, double *A, int ld, double tiny);
// The same for rows from..to-1 (from >= n) that are added later, when the first n rows hold L.
void pp_chol_solve_rows(int from, int to, int n, double *L, int ld);

// Moore-Penrose solution of A x = b, A n x n: of all x with least |A x - b| the shortest. Columns
// whose remainder is below tiny times the largest count as dependent. A and b are overwritten.
// Returns the rank, -1: no memory.                                                     theory (J9)
//
// scale: n numbers s with s_i |A_ij| s_j of order one wherever rows i and j have any meaning. Then
// the rank is that of s A s at the threshold tiny itself, so that a matrix of mere rounding has
// rank 0, and |s (A x - b)| is least; x is the shortest as before. NULL: ones, and the largest
// column.
int pp_least_solve(int n, double *A, double *b, double *x, const double *scale, double tiny,
                   pp_arena *arena);
// The same, and keeps the factors in the arena. pp_least_null makes from them an orthonormal basis N
// (n x (n - rank)) of the null space of A at that rank; work: n numbers.
typedef struct pp_least {
    int n, rank;
    const int *place;        // n: order of the unknowns
    const double *W, *beta;  // rank reflections
} pp_least;
int pp_least_factor(int n, double *A, double *b, double *x, const double *scale, double tiny,
                    pp_least *out, pp_arena *arena);
void pp_least_null(const pp_least *factors, double *N, double *work);

// ── Sparse (CSC) ─────────────────────────────────────────────────────────────────────────────────

// Sparse LU with KLU: analyse once, factor many times with the same pattern.
typedef struct pp_sparse_lu pp_sparse_lu;

// NULL: no memory, or structurally unusable. p and i must outlive the object.
pp_sparse_lu *pp_sparse_lu_create(int n, const int *p, const int *i);
void pp_sparse_lu_destroy(pp_sparse_lu *lu);
// PERP_OK, PERP_ERR_SINGULAR or PERP_ERR_MEMORY.
perp_status pp_sparse_lu_factor(pp_sparse_lu *lu, const double *x);
double pp_sparse_lu_flops(const pp_sparse_lu *lu);           // operations of the last factorisation
double pp_sparse_lu_expected_flops(const pp_sparse_lu *lu);  // before it, about; 0: unknown
perp_status pp_sparse_lu_solve(const pp_sparse_lu *lu, double *b);    // b = A \ b
perp_status pp_sparse_lu_solve_t(const pp_sparse_lu *lu, double *b);  // b = A'\ b

// Sparse factorisation for matrices with a symmetric pattern that come in blocks (bodies, joints):
// A = L D L', or A = L U with rows exchanged only within a block. A pattern is analysed once; after
// that nothing allocates. Where pivots away from the diagonal are needed, pp_sparse_lu is the right
// choice.
typedef struct pp_ldl pp_ldl;

// The lower triangle by columns of blocks: in each column the diagonal block first, other rows in
// any order.
typedef struct pp_ldl_pattern {
    int nodes;
    const int *size;   // nodes: rows of each
    const int *p, *i;  // nodes + 1 starts; block rows
} pp_ldl_pattern;

pp_ldl *pp_ldl_create(const perp_env *env);  // NULL: out of memory
pp_ldl *pp_ldl_create_in(pp_arena *arena);   // lives as long as the arena; destroy is not needed
void pp_ldl_destroy(pp_ldl *ldl);
// Who factors together, from the next analysis on; the numbers are the same. ldl may be NULL.
void pp_ldl_share(pp_ldl *ldl, const pp_team *team);
// PERP_OK or PERP_ERR_MEMORY. Cheap when the pattern is that of the last call.
perp_status pp_ldl_analyse(pp_ldl *ldl, const pp_ldl_pattern *pattern);
// Start of the values of each block, which are column-major; one more entry: their total number.
const int *pp_ldl_places(const pp_ldl *ldl);
// A = L D L'. Of diagonal blocks the lower triangle is read. A pivot d with |d| <= tiny |a|, where
// a is the diagonal entry of A, counts as zero: its row and column are left out, and its unknown
// becomes zero. Returns the number of such pivots; of all where it was stopped.
int pp_ldl_factor(pp_ldl *ldl, const double *x, double tiny);
// A = L U. upper: the blocks above the diagonal, transposed, in the places where x has their mirror
// images; diagonal blocks are in x. PERP_OK, PERP_ERR_SINGULAR or PERP_ERR_STOPPED.
perp_status pp_ldl_factor_lu(pp_ldl *ldl, const double *x, const double *upper);
bool pp_ldl_solve(const pp_ldl *ldl, double *b);  // b = A \ b; false: not finite
const double *pp_ldl_pivots(const pp_ldl *ldl);   // of L D L', in the caller's order; 0: left out
double pp_ldl_growth(const pp_ldl *ldl);          // largest entry of L: digits lost
size_t pp_ldl_fill(const pp_ldl *ldl);            // numbers in L and U, zeros of wide fronts too
double pp_ldl_flops(const pp_ldl *ldl);           // operations of the last factorisation
double pp_ldl_bytes(const pp_ldl *ldl);           // that it moves at least

// The Lorentz cone x_0 >= |x_t| of d = 1 to 3 dimensions (lorentz.c). The determinant x_0^2 - |x_t|^2 is positive inside.
double pp_lorentz_det(int d, const double *x);
// The largest t <= most for which x + t dx stays in the cone.
double pp_lorentz_boundary(int d, const double *x, const double *dx, double most);

// A step (dr, dv) of an interior point (r, v), with Q = eta^2 (2 w w' - J), Q v = r.
typedef struct pp_lorentz_step {
    int d;
    double eta;
    const double *w, *v, *dr, *dv;  // d
} pp_lorentz_step;

// Mehrotra's term of second order: Q^(1/2) (l \ (Q^(-1/2) dr o Q^(1/2) dv)), l = Q^(1/2) v.
void pp_lorentz_second_order(const pp_lorentz_step *step, double *second);
