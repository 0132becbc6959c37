// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Box friction made self-consistent: the boxes |z_i| <= mu_i z_c of an MCP depend on its answer. Engines
// that freeze the boxes (ODE's findex) return answers of another problem; here they are iterated.
//
//   1. fixed point: boxes from z, the boxed MCP by "pivot" from the basis before, again. A contraction
//      when mu and the coupling are small: each step is a solve or two.
//   2. otherwise the whole as one LCP, in Stewart and Trinkle's form with one sigma a row:
//
//        z_i = p_i - m_i:   0 <= p_i _|_  w_i + s_i >= 0
//                           0 <= m_i _|_ -w_i + s_i >= 0
//                           0 <= s_i _|_ mu_i z_c - p_i - m_i >= 0
//
//      whose matrix is copositive for positive semidefinite A: Lemke's method, under "auto".
#include "comp/comp.h"

#include <math.h>
#include <string.h>

enum { FIXED_POINT_MOST = 60 };

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
    for (int i = 0; status >= 0 && i < box->n; i++) {
        int c = box->findex[i];
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

// Boxes from z; returns the largest move of a bound, times A_ii: what it moves w by.
static double set_bounds(friction *f, const double *z)
{
    const perp_box_friction *box = f->box;
    double move = 0.0;
    for (int i = 0; i < box->n; i++) {
        int c = box->findex[i];
        if (c >= 0) {
            double upper = box->mu[i] * fmax(z[c], 0.0);
            double d = fabs(pp_matrix_at(&box->A, i, i));
            move = fmax(move, fabs(upper - f->upper[i]) * fmax(d, 1.0));
            f->upper[i] = upper;
            f->lower[i] = -upper;
        }
    }
    return move;
}

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
    for (int k = 0; k < FIXED_POINT_MOST && idle < 8; k++) {
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
        options.warm_start = true;
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

static perp_status layout_rows(friction *f, layout *at)
{
    const perp_box_friction *box = f->box;
    at->n = at->rows = box->n;
    at->minus = PP_ARRAY(f->job->arena, int, 2 * (size_t)box->n);
    at->sigma = at->minus ? at->minus + box->n : NULL;
    for (int i = 0; at->minus && i < box->n; i++) {
        at->minus[i] = box->findex[i] >= 0 ? at->rows++ : -1;
        at->sigma[i] = box->findex[i] >= 0 ? at->rows++ : -1;
    }
    return at->minus ? PERP_OK : PERP_ERR_MEMORY;
}

// One column of A, as the columns of z_j (or p_j) and of m_j.
static void put_column(const perp_box_friction *box, const layout *at, int j, double *M)
{
    size_t N = (size_t)at->rows;
    double *plus = M + (size_t)j * N;
    double *minus = at->minus[j] >= 0 ? M + (size_t)at->minus[j] * N : NULL;
    for (int i = 0; i < box->n; i++) {
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

static void put_friction(const perp_box_friction *box, const layout *at, int i, double *M)
{
    size_t N = (size_t)at->rows, row = (size_t)i;
    size_t minus = (size_t)at->minus[i], sigma = (size_t)at->sigma[i];
    M[row + sigma * N] = 1.0;
    M[minus + sigma * N] = 1.0;
    M[sigma + (size_t)box->findex[i] * N] = box->mu[i];
    M[sigma + row * N] = -1.0;
    M[sigma + minus * N] = -1.0;
}

static void fill_lcp(const perp_box_friction *box, const layout *at, double *M, double *vectors)
{
    double *b = vectors, *lower = b + at->rows, *upper = lower + at->rows;
    for (int k = 0; k < at->rows; k++) {
        b[k] = lower[k] = 0.0;
        upper[k] = PP_INF;
    }
    for (int i = 0; i < box->n; i++) {
        put_column(box, at, i, M);
        b[i] = box->b[i];
        if (at->minus[i] >= 0) {
            b[at->minus[i]] = -box->b[i];
            put_friction(box, at, i, M);
        } else {
            lower[i] = box->lower ? box->lower[i] : 0.0;
            upper[i] = box->upper ? box->upper[i] : PP_INF;
        }
    }
}

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
    f->report->rungs = 1 + report.rungs;
    for (int i = 0; i < at.n && status != PERP_ERR_MEMORY; i++) {
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
    perp_status status = fixed_point(&f, z, 1e-2 * job->options->tolerance * big);
    if (status >= 0 || status == PERP_ERR_MEMORY) {
        return status;
    }
    return by_lcp(&f, z);
}
