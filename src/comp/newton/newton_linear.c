// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// "newton": the linear problems of an iterate.
//
// Josephy's linear MCP with a proximal term,
//
//   w = F(z_k) + (J(z_k) + lambda I)(z - z_k),   l <= z <= u complementary,                      theory (N2)
//
// goes to the solvers of linear MCPs, from the last basis. Their answers are trusted as far
// as the merit function falls along the way to them.
#include "comp/newton/newton.h"

#include <math.h>
#include <string.h>

enum {
    LARGE = 60,       // n above which pivot runs before lemke, as in "auto"
    SSN_STEPS = 100,  // Newton steps of ssn on one linear problem
};

// A cheap sign of a P-matrix, as in "auto".
static bool has_positive_diagonal(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        bool equation = mcp->lower[i] == -PP_INF && mcp->upper[i] == PP_INF;
        if (!equation && !(pp_matrix_at(&mcp->A, i, i) > 0.0)) {
            return false;
        }
    }
    return true;
}

static void add_to_diagonal(pp_newton *s, double lambda)
{
    const perp_matrix *A = &s->fb.A;
    int n = s->e.n;
    if (lambda == 0.0) {
        return;
    }
    for (int j = 0; j < n; j++) {
        if (A->dense) {
            s->at.x[(size_t)j * ((size_t)n + 1)] += lambda;
            continue;
        }
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            s->at.x[k] += A->i[k] == j ? lambda : 0.0;
        }
    }
}

// A solver, and the most iterations that one linear problem is worth; 0: its own choice.
typedef struct rung {
    pp_mcp_solver *solve;
    int limit;
} rung;

// One solver on the linear problem, from the point and the last basis.
static perp_status run_linear(pp_newton *s, const perp_mcp *mcp, rung r)
{
    int n = s->e.n;
    perp_comp_options options = *s->job->options;
    pp_report report = {0};
    pp_job job = *s->job;
    job.options = &options;
    options.max_iterations = r.limit;
    options.warm_start = true;
    options.basis = s->basis;
    options.ray = s->work;
    // the default: solvers of linear MCPs aim two digits below it, which is all that large ones have
    options.tolerance = 1e-8;
    if (!s->warm) {
        pp_mcp_basis_of(mcp, s->at.z, s->basis);
    }
    memcpy(s->goal, s->at.z, (size_t)n * sizeof *s->goal);
    pp_mark mark = pp_arena_mark(job.arena);
    perp_status status = r.solve(mcp, &job, s->goal, &report);
    pp_arena_release(job.arena, mark);
    s->warm = status >= 0;
    if (pp_is_final(status)) {
        s->fatal = status;
    }
    return status;
}

// Solvers return bounds with rounding: the basis has them exactly.
static bool finish_goal(pp_newton *s)
{
    for (int i = 0; i < s->e.n; i++) {
        double lower = s->fb.lower[i], upper = s->fb.upper[i];
        if (s->basis[i] == PERP_BASIS_LOWER && lower > -PP_INF) {
            s->goal[i] = lower;
        } else if (s->basis[i] == PERP_BASIS_UPPER && upper < PP_INF) {
            s->goal[i] = upper;
        }
        s->goal[i] = pp_clamp(s->goal[i], lower, upper);
    }
    return pp_all_finite((size_t)s->e.n, s->goal);
}

// The solvers in turn, until one has an answer. Large problems leave lemke to the end: it may take 10 n pivots.
static perp_status run_rungs(pp_newton *s, const perp_mcp *mcp, bool monotone)
{
    const rung lemke = {pp_lemke_mcp, 100 + 10 * mcp->n}, pivot = {pp_pivot_mcp, 0};
    const rung ssn = {pp_ssn_mcp, SSN_STEPS};
    const rung small[] = {lemke, ssn}, large[] = {ssn, lemke}, definite[] = {pivot, ssn, lemke};
    const rung *rungs = mcp->n > LARGE ? large : small;
    int count = 2;
    if (monotone && mcp->n > LARGE) {
        rungs = definite;
        count = 3;
    }
    perp_status status = PERP_ERR_LIMIT;
    for (int k = 0; k < count; k++) {
        status = run_linear(s, mcp, rungs[k]);
        if (status >= 0 || s->fatal < 0 || pp_job_is_over(s->job)) {
            break;
        }
    }
    return status;
}

bool pp_newton_linear(pp_newton *s, double lambda)
{
    int n = s->e.n;
    add_to_diagonal(s, lambda);
    // b = F - (J + lambda I) z
    memcpy(s->b, s->at.F, (size_t)n * sizeof *s->b);
    pp_matrix_mul(&s->fb.A, -1.0, s->at.z, s->b);
    perp_mcp mcp = {.n = n, .A = s->fb.A, .b = s->b, .lower = s->fb.lower, .upper = s->fb.upper};
    bool monotone = has_positive_diagonal(&mcp), solved = false;
    if (pp_all_finite((size_t)n, s->b)) {
        perp_status status = run_rungs(s, &mcp, monotone);
        solved = status >= 0 && finish_goal(s);
    }
    add_to_diagonal(s, -lambda);
    return solved;
}

bool pp_newton_active(pp_newton *s, double lambda, int *changes)
{
    int n = s->e.n;
    *changes = 0;
    for (int i = 0; i < n; i++) {
        double z = s->at.z[i], F = s->at.F[i];
        // held rows become d_i = 0, by a = 1 and c = 0 in V = diag(a) + diag(c) (J + lambda I)
        bool held = (z == s->fb.lower[i] && F >= 0.0) || (z == s->fb.upper[i] && F <= 0.0);
        int8_t place = PERP_BASIS_BASIC;
        if (held) {
            place = z == s->fb.lower[i] ? PERP_BASIS_LOWER : PERP_BASIS_UPPER;
        }
        *changes += place != s->basis[i];
        s->basis[i] = place;
        s->a[i] = held ? 1.0 : 0.0;
        s->c[i] = held ? 0.0 : 1.0;
        s->d[i] = held ? 0.0 : -F;
    }
    perp_status status = pp_fb_linear_factor(s->linear, s->a, s->c, lambda);
    pp_meter_add(s->job->meter, pp_fb_linear_flops(s->linear));
    if (status >= 0) {
        status = pp_fb_linear_solve(s->linear, s->d);
    }
    if (pp_is_final(status)) {
        s->fatal = status;
    }
    if (status < 0) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        // of what is held the factors leave rounding in place of 0
        s->goal[i] = s->basis[i] == PERP_BASIS_BASIC ? s->at.z[i] + s->d[i] : s->at.z[i];
    }
    return pp_all_finite((size_t)n, s->goal);
}
