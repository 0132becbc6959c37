// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system of the contact problem: assembly, factorisation and solution.
//
//   J = B + A W,   A and B block diagonal
//
// For the Alart–Curnier map A = rho P and B = I - P + rho alpha P, theory (C22): the rows of an
// open contact are the identity, those of a sticking one rho (W + alpha I). Three representations:
//
//   dense LU      up to 150 rows, or up to 3000 where W is a third full      2/3 n^3 operations
//   sparse LU     otherwise, by KLU on the pattern of W with full blocks
//   velocities    where W is given as bodies: theory (C35), ssn_velocity.c
#include "comp/newton/ssn.h"

#include <string.h>

// One of J (dense), x with lu (sparse) and velocity is in use.
struct pp_ssn_linear {
    const pp_ssn *ssn;
    pp_meter *meter;
    int n;
    double *J;   // dense: n x n, factored in place
    int *pivot;  // dense
    int *p, *i;  // sparse: the pattern of W with full blocks
    double *x;   // sparse
    pp_sparse_lu *lu;
    pp_ssn_velocity *velocity;  // or in velocities, refined with J
    const double *A, *B;        // of the last factorisation
    double *rest, *step, *Wd;   // n
};

enum {
    DENSE_ALWAYS = 150,  // rows up to which a dense LU is faster whatever the pattern
    DENSE_MOST = 3000,   // rows up to which a matrix at least one third full is factored dense
    ROUNDS = 4,          // of refinement, at most
};

#define REFINED 1e-9  // relative residual of a solve that is good enough

void pp_ssn_newton_blocks(const pp_ssn *ssn, double rho, double alpha, const double *P, double *A,
                          double *B)
{
    int d = ssn->dim;
    for (int k = 0; k < ssn->n * d; k++) {
        double identity = k % (d * d) % (d + 1) == 0 ? 1.0 : 0.0;
        A[k] = rho * P[k];
        B[k] = identity - (1.0 - rho * alpha) * P[k];
    }
}

// The pattern of J: that of W with every block full, since A and B fill the blocks they multiply.
static perp_status sparse_create(pp_ssn_linear *linear, pp_arena *arena)
{
    const pp_blocks *W = &linear->ssn->W;
    int d = W->dim;
    size_t entries = (size_t)W->p[W->count] * (size_t)(d * d);
    linear->p = PP_ARRAY(arena, int, linear->n + 1);
    linear->i = PP_ARRAY(arena, int, entries);
    linear->x = PP_ARRAY(arena, double, entries);
    if (!linear->p || !linear->i || !linear->x || entries > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    int used = 0;
    // scalar columns of a block column have the same rows
    for (int j = 0; j < linear->n; j++) {
        linear->p[j] = used;
        for (int k = W->p[j / d]; k < W->p[j / d + 1]; k++) {
            for (int a = 0; a < d; a++) {
                linear->i[used++] = W->row[k] * d + a;
            }
        }
    }
    linear->p[linear->n] = used;
    linear->lu = pp_sparse_lu_create(linear->n, linear->p, linear->i);
    return linear->lu ? PERP_OK : PERP_ERR_MEMORY;
}

perp_status pp_ssn_linear_create(const pp_ssn *ssn, const pp_job *job, pp_ssn_linear **out)
{
    pp_arena *arena = job->arena;
    pp_ssn_linear *linear = PP_ZEROS(arena, pp_ssn_linear, 1);
    *out = linear;
    if (!linear) {
        return PERP_ERR_MEMORY;
    }
    linear->ssn = ssn;
    linear->meter = job->meter;
    linear->n = ssn->n;
    linear->rest = PP_ARRAY(arena, double, 3 * (size_t)ssn->n);
    if (!linear->rest) {
        return PERP_ERR_MEMORY;
    }
    linear->step = linear->rest + ssn->n;
    linear->Wd = linear->step + ssn->n;
    // velocities where W was never formed, otherwise sparse LU, or dense where it is faster
    if (ssn->bodies) {
        return pp_ssn_velocity_create(ssn->bodies, job, &linear->velocity);
    }
    const pp_blocks *W = &ssn->W;
    double full = (double)W->p[W->count] / ((double)W->count * W->count);
    if (linear->n > DENSE_ALWAYS && (linear->n > DENSE_MOST || !(full > 0.33))) {
        return sparse_create(linear, arena);
    }
    linear->J = PP_ARRAY(arena, double, (size_t)linear->n *(size_t)linear->n);
    linear->pivot = PP_ARRAY(arena, int, linear->n);
    return linear->J && linear->pivot ? PERP_OK : PERP_ERR_MEMORY;
}

void pp_ssn_linear_destroy(pp_ssn_linear *linear)
{
    if (linear) {
        pp_sparse_lu_destroy(linear->lu);
        linear->lu = NULL;
    }
}

// One column of a block of J: y = A w, plus column diagonal_b of B
// in a diagonal block (-1: in none).
static void jacobian_column(int d, const double *A, const double *B, const double *w,
                            int diagonal_b, double *y)
{
    for (int a = 0; a < d; a++) {
        y[a] = diagonal_b >= 0 ? B[a + diagonal_b * d] : 0.0;
    }
    for (int b = 0; b < d; b++) {
        for (int a = 0; a < d; a++) {
            y[a] += A[a + b * d] * w[b];
        }
    }
}

// Writes J by scalar columns into the dense or the sparse storage.
static void assemble_blocks(pp_ssn_linear *linear, const double *A, const double *B)
{
    const pp_blocks *W = &linear->ssn->W;
    int d = W->dim, dd = d * d;
    for (int j = 0; j < linear->n; j++) {
        int J = j / d, b = j % d;
        for (int k = W->p[J]; k < W->p[J + 1]; k++) {
            int c = W->row[k];
            // block (c, J) of J is A_c W_cJ, and on the diagonal B_c besides
            double *y = linear->J ? linear->J + (size_t)j * (size_t)linear->n + c * d
                                  : linear->x + linear->p[j] + (k - W->p[J]) * d;
            const double *w = W->x + (size_t)k * (size_t)dd + b * d;
            jacobian_column(d, A + (size_t)c * (size_t)dd, B + (size_t)c * (size_t)dd, w,
                            c == J ? b : -1, y);
        }
    }
}

// Factors J in the representation in use. A and B are kept for the refinement.
static perp_status factor_blocks(pp_ssn_linear *linear, const double *A, const double *B)
{
    size_t n = (size_t)linear->n;
    linear->A = A;
    linear->B = B;
    // A and B are borrowed from the caller until the next factorisation
    if (linear->velocity) {
        return pp_ssn_velocity_factor(linear->velocity, A, B);
    }
    if (!linear->J) {
        assemble_blocks(linear, A, B);
        return pp_sparse_lu_factor(linear->lu, linear->x);
    }
    memset(linear->J, 0, n * n * sizeof *linear->J);
    assemble_blocks(linear, A, B);
    int failed = pp_lu_factor(linear->n, linear->J, linear->n, linear->pivot, 0.0);
    return failed ? PERP_ERR_SINGULAR : PERP_OK;
}

perp_status pp_ssn_linear_factor(pp_ssn_linear *linear, const double *A, const double *B)
{
    perp_status status = factor_blocks(linear, A, B);
    pp_meter_factor(linear->meter, pp_ssn_linear_flops(linear));
    return status;
}

// One solution with the factors, without refinement.
static perp_status solve_once(const pp_ssn_linear *linear, double *x)
{
    if (linear->velocity) {
        return pp_ssn_velocity_solve(linear->velocity, x);
    }
    if (!linear->J) {
        return pp_sparse_lu_solve(linear->lu, x);
    }
    pp_lu_solve(linear->n, linear->J, linear->n, linear->pivot, x);
    return PERP_OK;
}

// rest -= J d = B d + A (W d), with d in step and W d in Wd
static void subtract_product(const pp_ssn_linear *linear, const double *step, const double *Wd,
                             double *rest)
{
    int d = linear->ssn->dim;
    for (int c = 0; c < linear->ssn->nc; c++) {
        const double *A = linear->A + (size_t)c * (size_t)(d * d);
        const double *B = linear->B + (size_t)c * (size_t)(d * d);
        for (int l = 0; l < d; l++) {
            for (int k = 0; k < d; k++) {
                rest[c * d + k] -= B[k + l * d] * step[c * d + l] + A[k + l * d] * Wd[c * d + l];
            }
        }
    }
}

// Solves with iterative refinement in the form in velocities, whose D is 1 / alpha where contacts
// stick: digits are lost as alpha falls. It ends at the relative residual REFINED, or where a round
// gains less than a factor 2. Wx = W x is a by-product.
perp_status pp_ssn_linear_solve(const pp_ssn_linear *linear, double *x, double *Wx)
{
    int n = linear->n;
    double size = pp_norm2(n, x), last = PP_INF;
    memcpy(linear->rest, x, (size_t)n * sizeof *x);
    memset(x, 0, (size_t)n * sizeof *x);
    memset(Wx, 0, (size_t)n * sizeof *Wx);
    for (int k = 0; k < ROUNDS; k++) {
        memcpy(linear->step, linear->rest, (size_t)n * sizeof *x);
        if (solve_once(linear, linear->step) < 0 || !pp_all_finite((size_t)n, linear->step)) {
            return PERP_ERR_SINGULAR;
        }
        pp_ssn_mul(linear->ssn, linear->step, linear->Wd);
        pp_axpy(n, 1.0, linear->step, x);
        pp_axpy(n, 1.0, linear->Wd, Wx);
        // LU with pivoting needs no refinement for a Newton step
        if (!linear->velocity) {
            break;
        }
        subtract_product(linear, linear->step, linear->Wd, linear->rest);
        double rest = pp_norm2(n, linear->rest);
        if (rest <= REFINED * size || rest > 0.5 * last) {
            break;
        }
        last = rest;
    }
    return PERP_OK;
}

double pp_ssn_linear_fill(const pp_ssn_linear *linear)
{
    if (linear->velocity) {
        return pp_ssn_velocity_fill(linear->velocity);
    }
    return linear->J ? (double)linear->n * linear->n : 0.0;
}

double pp_ssn_linear_flops(const pp_ssn_linear *linear)
{
    if (linear->velocity) {
        return pp_ssn_velocity_flops(linear->velocity);
    }
    double n = linear->n;
    if (linear->J) {
        return 2.0 / 3.0 * n * n * n;
    }
    return linear->lu ? pp_sparse_lu_flops(linear->lu) : 0.0;  // NULL: its creation failed
}
