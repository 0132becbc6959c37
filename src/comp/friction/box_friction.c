// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Box friction made self-consistent: the boxes |z_i| <= mu_i z_c of an MCP depend
// on its answer, theory (C33). Engines that take the boxes from the last
// iteration (ODE's findex) answer another problem.
//
//   1. Fixed point: boxes from z, then the boxed MCP by "pivot" from the last basis, and again. A
//      contraction where mu and the coupling are small.
//   2. Otherwise one LCP in the form of Stewart and Trinkle with one sigma a row, theory (C34):
//
//        z_i = p_i - m_i:   0 <= p_i _|_  w_i + s_i >= 0
//                           0 <= m_i _|_ -w_i + s_i >= 0
//                           0 <= s_i _|_ mu_i z_c - p_i - m_i >= 0
//
//      whose matrix is copositive for positive semidefinite A, so that Lemke's method suits; by "auto".
#include "comp/comp.h"

#include <math.h>
#include <string.h>

enum {
    FIXED_POINT_MOST = 60,  // boxed problems of the fixed point
    IDLE_MOST = 8,          // of them in a row without progress of a tenth
};

// One call: the problem, and the boxed MCP of the fixed point.
typedef struct friction {
    const perp_box_friction *box;
    const pp_job *job;
    pp_report *report;
    double *lower, *upper;  // n
    int8_t *basis;          // n
} friction;

perp_status pp_box_check(const perp_box_friction *box, char *reason, size_t size)
{
    if (!box || !box->findex || !box->mu) {
        pp_print(reason, size, "findex or mu is NULL");
        return PERP_ERR_ARGUMENT;
    }
    perp_mcp mcp = {box->n, box->A, box->b, box->lower, box->upper};
    perp_status status = pp_mcp_check(&mcp, reason, size);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < box->n; i++) {
        int c = box->findex[i];
        // a row of friction refers to a row that is none itself
        if (c < -1 || c >= box->n || (c >= 0 && box->findex[c] >= 0)) {
            pp_print(reason, size, "findex of row %d: %d is not a row with its own bounds", i, c);
            return PERP_ERR_ARGUMENT;
        }
        if (c >= 0 && !(box->mu[i] >= 0.0 && isfinite(box->mu[i]))) {
            pp_print(reason, size, "mu of row %d is not a finite number >= 0", i);
            return PERP_ERR_ARGUMENT;
        }
    }
    return status;
}

// Sets the boxes from z. Returns the largest change of a bound times max(|A_ii|, 1), the change of
// w_i that it may cause.
static double set_bounds(friction *f, const double *z)
{
    const perp_box_friction *box = f->box;
    double move = 0.0;
    for (int i = 0; i < box->n; i++) {
        int c = box->findex[i];
        if (c >= 0) {
            // a negative normal reaction, which an iterate may have, allows no friction
            double upper = box->mu[i] * fmax(z[c], 0.0);
            double d = fabs(pp_matrix_at(&box->A, i, i));
            move = fmax(move, fabs(upper - f->upper[i]) * fmax(d, 1.0));
            f->upper[i] = upper;
            f->lower[i] = -upper;
        }
    }
    return move;
}

// The fixed point iteration from z, until the boxes change by no more than target. Progress is a
// tenth less than the least change so far.
static perp_status fixed_point(friction *f, double *z, double target)
{
    const perp_box_friction *box = f->box;
    perp_mcp mcp = {box->n, box->A, box->b, f->lower, f->upper};
    perp_comp_options options = *f->job->options;
    pp_job job = *f->job;
    job.options = &options;
    options.basis = f->basis;
    options.ray = NULL;
    double least = PP_INF;
    int idle = 0;
    set_bounds(f, z);
    for (int k = 0; k < FIXED_POINT_MOST && idle < IDLE_MOST; k++) {
        pp_report report = {0};
        pp_mark mark = pp_arena_mark(job.arena);
        perp_status status = pp_pivot_mcp(&mcp, &job, z, &report);
        pp_arena_release(job.arena, mark);
        f->report->iterations += report.iterations;
        f->report->seconds_factor += report.seconds_factor;
        if (status < 0) {
            return status;
        }
        double move = set_bounds(f, z);
        if (move <= target) {
            return PERP_OK;
        }
        idle = move < 0.9 * least ? 0 : idle + 1;
        least = fmin(least, move);
        options.warm_start = true;  // from the basis of the last boxed problem
    }
    return PERP_ERR_LIMIT;
}

// ── The LCP ──────────────────────────────────────────────────────────────────────────────────────

// Where the variables of the LCP are: z_i or p_i at i, m_i and s_i behind.
typedef struct layout {
    int n, rows;  // of the box problem, of the LCP
    int *minus;   // n: m_i, or -1
    int *sigma;   // n: s_i, or -1
} layout;

// Numbers the variables of the LCP.
static perp_status layout_rows(friction *f, layout *at)
{
    const perp_box_friction *box = f->box;
    at->n = at->rows = box->n;
    at->minus = PP_ARRAY(f->job->arena, int, 2 * (size_t)box->n);
    if (!at->minus) {
        return PERP_ERR_MEMORY;
    }
    at->sigma = at->minus + box->n;
    for (int i = 0; i < box->n; i++) {
        at->minus[i] = box->findex[i] >= 0 ? at->rows++ : -1;
        at->sigma[i] = box->findex[i] >= 0 ? at->rows++ : -1;
    }
    return PERP_OK;
}

// Column j of A as the columns of z_j (or p_j) and of m_j; rows of m_i have the opposite sign.
static void fill_split_column(const perp_box_friction *box, const layout *at, int j, double *M)
{
    size_t N = (size_t)at->rows;
    double *plus = M + (size_t)j * N;
    double *minus = at->minus[j] >= 0 ? M + (size_t)at->minus[j] * N : NULL;
    for (int i = 0; i < box->n; i++) {
        // w_i = sum a (p_j - m_j), and -w_i in the row of m_i
        double a = pp_matrix_at(&box->A, i, j);
        plus[i] = a;
        if (at->minus[i] >= 0) {
            plus[at->minus[i]] = -a;
        }
        if (minus) {
            minus[i] = -a;
            if (at->minus[i] >= 0) {
                minus[at->minus[i]] = a;
            }
        }
    }
}

// The entries of sigma_i: its column, and its row mu_i z_c - p_i - m_i.
static void fill_sigma(const perp_box_friction *box, const layout *at, int i, double *M)
{
    size_t N = (size_t)at->rows, row = (size_t)i;
    size_t minus = (size_t)at->minus[i], sigma = (size_t)at->sigma[i];
    M[row + sigma * N] = 1.0;
    M[minus + sigma * N] = 1.0;
    M[sigma + (size_t)box->findex[i] * N] = box->mu[i];
    M[sigma + row * N] = -1.0;
    M[sigma + minus * N] = -1.0;
}

// The matrix, and b, lower and upper in vectors. Rows that are not friction keep their bounds.
static void fill_lcp(const perp_box_friction *box, const layout *at, double *M, double *vectors)
{
    double *b = vectors, *lower = b + at->rows, *upper = lower + at->rows;
    for (int k = 0; k < at->rows; k++) {
        b[k] = lower[k] = 0.0;
        // all variables of friction, and sigma, are >= 0
        upper[k] = PP_INF;
    }
    for (int i = 0; i < box->n; i++) {
        fill_split_column(box, at, i, M);
        b[i] = box->b[i];
        if (at->minus[i] >= 0) {
            b[at->minus[i]] = -box->b[i];
            fill_sigma(box, at, i, M);
        } else {
            lower[i] = box->lower ? box->lower[i] : 0.0;
            upper[i] = box->upper ? box->upper[i] : PP_INF;
        }
    }
}

// The whole as an LCP, solved by "auto".
static perp_status by_lcp(friction *f, double *z)
{
    const perp_box_friction *box = f->box;
    pp_arena *arena = f->job->arena;
    layout at;
    perp_status status = layout_rows(f, &at);
    if (status < 0) {
        return status;
    }
    size_t N = (size_t)at.rows;
    double *M = PP_ZEROS(arena, double, N *N), *vectors = PP_ARRAY(arena, double, 3 * N);
    double *x = PP_ZEROS(arena, double, N), *ray = PP_ZEROS(arena, double, N);
    if (!M || !vectors || !x || !ray) {
        return PERP_ERR_MEMORY;
    }
    fill_lcp(box, &at, M, vectors);
    perp_mcp mcp = {at.rows, perp_matrix_dense(at.rows, at.rows, M), vectors, vectors + N,
                    vectors + 2 * N};
    perp_comp_options options = *f->job->options;
    pp_job job = *f->job;
    job.options = &options;
    options.warm_start = false;
    options.basis = NULL;
    options.ray = ray;
    pp_report report = {0};
    status = pp_auto_mcp(&mcp, &job, x, &report);
    f->report->iterations += report.iterations;
    f->report->seconds_factor += report.seconds_factor;
    memcpy(f->report->reason, report.reason, sizeof f->report->reason);
    f->report->solver = report.solver;
    // the fixed point counts as a rung
    f->report->rungs = 1 + report.rungs;
    if (pp_is_final(status)) {
        return status;
    }
    for (int i = 0; i < at.n; i++) {
        z[i] = at.minus[i] >= 0 ? x[i] - x[at.minus[i]] : x[i];
    }
    return status;
}

perp_status pp_box_friction(const perp_box_friction *box, const pp_job *job, double *z,
                            pp_report *report)
{
    size_t n = (size_t)box->n;
    friction f = {.box = box, .job = job, .report = report};
    f.lower = PP_ARRAY(job->arena, double, 2 * n);
    f.basis = PP_ZEROS(job->arena, int8_t, n);
    if (!f.lower || !f.basis) {
        return PERP_ERR_MEMORY;
    }
    f.upper = f.lower + n;
    double big = 0.0;
    for (int i = 0; i < box->n; i++) {
        f.lower[i] = box->lower ? box->lower[i] : 0.0;
        f.upper[i] = box->upper ? box->upper[i] : PP_INF;
        big = fmax(big, fabs(box->b[i]));
    }
    report->solver = "pivot";
    report->rungs = 1;
    // boxes two digits closer than the residual asked for
    perp_status status = fixed_point(&f, z, 1e-2 * job->options->tolerance * big);
    if (status >= 0 || pp_is_final(status)) {
        return status;
    }
    return by_lcp(&f, z);
}
