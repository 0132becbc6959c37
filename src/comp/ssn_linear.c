// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system of the contact problem: assembly and factorisation, dense or sparse.
//
//   J = (I - P) + rho P (W + alpha I),   P block diagonal
//
// A row block of an open contact is the identity, that of a sticking one is rho (W + alpha I).
#include "comp/ssn.h"

#include <string.h>

struct pp_ssn_linear {
    const pp_blocks *W;
    int n;
    double *J;   // dense: n x n, factored in place
    int *pivot;  // dense
    int *p, *i;  // sparse: the pattern of W with full blocks
    double *x;   // sparse
    pp_sparse_lu *lu;
    pp_ssn_velocity *velocity;  // or in velocities, refined with J
    const double *P;            // of the last factorisation
    double alpha, rho;
    double *rest, *sum;  // n
};

enum {
    DENSE_ALWAYS = 150,  // rows up to which a dense LU is faster whatever the pattern
    VELOCITY_FROM = 60,  // rows from which velocities are considered
    DENSE_MOST = 3000,   // rows up to which a matrix at least one third full is factored dense
};

static bool is_dense(const pp_blocks *W, int n)
{
    double full = (double)W->p[W->count] / ((double)W->count * W->count);
    return n <= DENSE_ALWAYS || (n <= DENSE_MOST && full > 0.33);
}

static perp_status sparse_create(pp_ssn_linear *linear, pp_arena *arena)
{
    const pp_blocks *W = linear->W;
    int d = W->dim;
    size_t entries = (size_t)W->p[W->count] * (size_t)(d * d);
    linear->p = PP_ARRAY(arena, int, linear->n + 1);
    linear->i = PP_ARRAY(arena, int, entries);
    linear->x = PP_ARRAY(arena, double, entries);
    if (!linear->p || !linear->i || !linear->x || entries > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    int used = 0;
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

// The system in velocities, where the global form is sparse and has fewer of them.
static perp_status try_velocity(pp_ssn_linear *linear, const pp_ssn *ssn, const perp_fcp *bodies,
                                pp_arena *arena)
{
    if (!bodies || bodies->M.dense || bodies->H.dense || linear->n <= VELOCITY_FROM ||
        bodies->nv > 0.8 * linear->n) {
        return PERP_OK;
    }
    double *S = PP_ARRAY(arena, double, linear->n);
    linear->rest = PP_ARRAY(arena, double, linear->n);
    linear->sum = PP_ARRAY(arena, double, linear->n);
    if (!S || !linear->rest || !linear->sum) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < linear->n; i++) {
        S[i] = ssn->scale[i] / ssn->unit;
    }
    return pp_ssn_velocity_create(&bodies->M, &bodies->H, S, ssn->dim, arena, &linear->velocity);
}

perp_status pp_ssn_linear_create(const pp_ssn *ssn, const perp_fcp *bodies, pp_arena *arena,
                                 pp_ssn_linear **out)
{
    const pp_blocks *W = &ssn->W;
    pp_ssn_linear *linear = PP_ZEROS(arena, pp_ssn_linear, 1);
    *out = linear;
    if (!linear) {
        return PERP_ERR_MEMORY;
    }
    linear->W = W;
    linear->n = W->count * W->dim;
    perp_status status = try_velocity(linear, ssn, bodies, arena);
    if (status < 0 || linear->velocity) {
        return status;
    }
    if (!is_dense(W, linear->n)) {
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
        pp_ssn_velocity_destroy(linear->velocity);
        linear->lu = NULL;
    }
}

// One column of a block of J: y = rho P (w + alpha e_b) + (I - P) e_b, the e_b terms on the diagonal.
static void jacobian_column(int d, double alpha, double rho, const double *P, const double *w,
                            int diagonal_b, double *y)
{
    double t[PP_SSN_DIM_MAX];
    for (int a = 0; a < d; a++) {
        t[a] = rho * w[a];
        y[a] = 0.0;
    }
    if (diagonal_b >= 0) {
        t[diagonal_b] += rho * alpha - 1.0;
        y[diagonal_b] = 1.0;
    }
    for (int b = 0; b < d; b++) {
        for (int a = 0; a < d; a++) {
            y[a] += P[a + b * d] * t[b];
        }
    }
}

static void assemble(pp_ssn_linear *linear, double alpha, double rho, const double *P)
{
    const pp_blocks *W = linear->W;
    int d = W->dim, dd = d * d;
    for (int j = 0; j < linear->n; j++) {
        int J = j / d, b = j % d;
        for (int k = W->p[J]; k < W->p[J + 1]; k++) {
            int c = W->row[k];
            double *y = linear->J ? linear->J + (size_t)j * (size_t)linear->n + c * d
                                  : linear->x + linear->p[j] + (k - W->p[J]) * d;
            const double *w = W->x + (size_t)k * (size_t)dd + b * d;
            jacobian_column(d, alpha, rho, P + (size_t)c * (size_t)dd, w, c == J ? b : -1, y);
        }
    }
}

perp_status pp_ssn_linear_factor(pp_ssn_linear *linear, double alpha, double rho, const double *P)
{
    size_t n = (size_t)linear->n;
    if (linear->velocity) {
        linear->P = P;
        linear->alpha = alpha;
        linear->rho = rho;
        return pp_ssn_velocity_factor(linear->velocity, alpha, rho, P);
    }
    if (!linear->J) {
        assemble(linear, alpha, rho, P);
        return pp_sparse_lu_factor(linear->lu, linear->x);
    }
    memset(linear->J, 0, n * n * sizeof *linear->J);
    assemble(linear, alpha, rho, P);
    int failed = pp_lu_factor(linear->n, linear->J, linear->n, linear->pivot, 0.0);
    return failed ? PERP_ERR_SINGULAR : PERP_OK;
}

// rest = b - J x,  J x = x + P (rho (W x + alpha x) - x)
static void residual(const pp_ssn_linear *linear, const double *b, const double *x, double *rest)
{
    int d = linear->W->dim;
    memset(rest, 0, (size_t)linear->n * sizeof *rest);
    pp_blocks_mul(linear->W, x, rest);
    for (int c = 0; c < linear->W->count; c++) {
        const double *P = linear->P + (size_t)c * (size_t)(d * d);
        double t[PP_SSN_DIM_MAX], *own = rest + c * d;
        const double *xc = x + c * d, *bc = b + c * d;
        for (int k = 0; k < d; k++) {
            t[k] = linear->rho * (own[k] + linear->alpha * xc[k]) - xc[k];
        }
        for (int k = 0; k < d; k++) {
            own[k] = bc[k] - xc[k];
            for (int l = 0; l < d; l++) {
                own[k] -= P[k + l * d] * t[l];
            }
        }
    }
}

// In velocities, refined twice: sticking contacts lose digits as alpha falls.
static perp_status solve_velocity(const pp_ssn_linear *linear, double *x)
{
    enum { ROUNDS = 3 };
    perp_status status = PERP_OK;
    memset(linear->sum, 0, (size_t)linear->n * sizeof *linear->sum);
    memcpy(linear->rest, x, (size_t)linear->n * sizeof *x);
    for (int k = 0; k < ROUNDS && status >= 0; k++) {
        status = pp_ssn_velocity_solve(linear->velocity, linear->rest);
        pp_axpy(linear->n, 1.0, linear->rest, linear->sum);
        if (k + 1 < ROUNDS) {
            residual(linear, x, linear->sum, linear->rest);
        }
    }
    memcpy(x, linear->sum, (size_t)linear->n * sizeof *x);
    return status >= 0 && pp_all_finite((size_t)linear->n, x) ? PERP_OK : PERP_ERR_SINGULAR;
}

perp_status pp_ssn_linear_solve(const pp_ssn_linear *linear, double *x)
{
    if (linear->velocity) {
        return solve_velocity(linear, x);
    }
    if (!linear->J) {
        return pp_sparse_lu_solve(linear->lu, x);
    }
    pp_lu_solve(linear->n, linear->J, linear->n, linear->pivot, x);
    return pp_all_finite((size_t)linear->n, x) ? PERP_OK : PERP_ERR_SINGULAR;
}
