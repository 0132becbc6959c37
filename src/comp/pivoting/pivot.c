// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The solver "pivot": block principal pivoting for boxed MCPs.
//
// Proved for P-matrices (Judice, Pires 1994; Murty 1974) and, through a proximal loop, for
// positive semidefinite matrices (Rockafellar 1976). The loop is entered where the free
// block is singular or pivoting does not end. A matrix of neither class ends in
// PERP_ERR_SINGULAR or PERP_ERR_LIMIT. Cost: one factorisation of the free block a step; 2
// to 5 steps on regular problems, 10 to 40 on singular ones.
#include "comp/pivoting/pivot.h"

#include <math.h>
#include <string.h>

// Free and fixed variables need no positive pivot.
static bool has_bound(const perp_mcp *mcp, int i)
{
    double lower = pp_mcp_lower(mcp, i), upper = pp_mcp_upper(mcp, i);
    return lower < upper && (isfinite(lower) || isfinite(upper));
}

// A P-matrix or positive semidefinite matrix has no negative diagonal entry. Cost: n look-ups.
static perp_status refuse_diagonal(const perp_mcp *mcp, pp_report *report)
{
    for (int i = 0; i < mcp->n; i++) {
        const perp_matrix *A = &mcp->A;
        double d = A->dense ? A->dense[(size_t)i * ((size_t)mcp->n + 1)] : pp_matrix_at(A, i, i);
        if (d < 0.0 && has_bound(mcp, i)) {
            pp_print(report->reason, sizeof report->reason,
                     "row %d: A(%d,%d) = %.3g is negative, so A is neither a P-matrix nor positive "
                     "semidefinite",
                     i, i, i, d);
            return PERP_ERR_REFUSED;
        }
    }
    return PERP_OK;
}

// The first basis, and the first proximal centre z.
static void start_pivot(pp_pivot *p, const pp_job *job, double *z)
{
    const perp_comp_options *options = job->options;
    p->job = job;
    p->step_limit = options->max_iterations > 0 ? options->max_iterations : 1000 + 20 * p->n;
    if (options->warm_start && options->basis) {
        pp_pivot_place_from_basis(p, options->basis);
    } else if (options->warm_start) {
        pp_pivot_place_from_z(p, z);
    } else {
        pp_pivot_guess(p, z);
    }
    memcpy(p->center, z, (size_t)p->n * sizeof *z);
}

// Writes the answer, clamped: a free variable may miss its bound by rounding; and the basis.
static void write_answer(const pp_pivot *p, const double *from, const pp_job *job, double *z)
{
    if (pp_all_finite((size_t)p->n, from)) {
        for (int i = 0; i < p->n; i++) {
            z[i] = pp_clamp(from[i], p->lower[i], p->upper[i]);
        }
    }
    if (job->options->basis) {
        memcpy(job->options->basis, p->place, (size_t)p->n * sizeof *p->place);
    }
}

// Three stages: block pivoting; the proximal loop, proved for positive semidefinite A; then, for
// P-matrices that are not, the single-index rule with more patience.
static perp_status solve_by_stages(pp_pivot *p, const perp_comp_options *options, pp_report *report)
{
    int few = p->n < 50 ? p->n : 50;  // single-index steps are few: each costs a factorisation
    double big = 1e12 * p->unit, tolerance = options->tolerance, residual = PP_INF;
    // two digits below the tolerance of the caller, and 1e-10 at most
    pp_goal goal = {(1e-10 < 1e-2 * tolerance ? 1e-10 : 1e-2 * tolerance) * big,
                    0.1 * tolerance * big};
    pp_pivot_center(p, 0.0);
    perp_status status =
        p->symmetric ? pp_pivot_block(p, 4, 0) : pp_pivot_block(p, 5, 2 * few + 10);
    if (pp_is_final(status) || (status >= 0 && pp_pivot_is_solved(p, &goal, &residual))) {
        return status;
    }
    p->best_residual = residual;
    memcpy(p->best, residual < PP_INF ? p->z : p->center, (size_t)p->n * sizeof *p->best);
    status = pp_pivot_prox(p, &goal, report);
    bool hopeless = p->symmetric || p->steps >= p->step_limit || pp_is_final(status) ||
                    status == PERP_ERR_INFEASIBLE;
    if (status >= 0 || hopeless) {
        return status;
    }
    // stage three, for unsymmetric A only: symmetric P-matrices are positive definite
    pp_pivot_place_from_z(p, p->best);
    pp_pivot_center(p, 0.0);
    perp_status last = pp_pivot_block(p, 10, 10 * few);
    return last >= 0 && pp_pivot_is_solved(p, &goal, &residual) ? last : status;
}

// Fills the report; a proof of infeasibility is copied to the caller's ray.
static void write_pivot_report(const pp_pivot *p, perp_status status, const pp_job *job,
                               pp_report *report)
{
    report->iterations = p->steps;
    report->seconds_factor = p->seconds_factor;
    if (status == PERP_ERR_INFEASIBLE) {
        pp_print(report->reason, sizeof report->reason,
                 "the proximal steps converge to a proof of infeasibility: y with y'(A z + b) < 0 "
                 "for all z");
        if (job->options->ray) {
            memcpy(job->options->ray, p->step, (size_t)p->n * sizeof *p->step);
        }
    } else if (status == PERP_OK) {
        report->reason[0] = '\0';
    } else if (p->steps >= p->step_limit) {
        pp_print(report->reason, sizeof report->reason, "limit of %d steps reached", p->step_limit);
    } else if (report->reason[0] == '\0') {
        pp_print(report->reason, sizeof report->reason, "stopped after %d steps", p->steps);
    }
}

perp_status pp_pivot_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    pp_pivot p = {.n = mcp->n, .mcp = mcp};
    perp_status status = refuse_diagonal(mcp, report);
    if (status >= 0) {
        status = pp_pivot_setup(&p, job->arena);
    }
    if (status < 0) {
        return status;
    }
    start_pivot(&p, job, z);
    status = solve_by_stages(&p, job->options, report);
    // after a failure the iterate of least residual
    if (!pp_is_final(status)) {
        write_answer(&p, status < 0 ? p.best : p.z, job, z);
    }
    write_pivot_report(&p, status, job, report);
    pp_pivot_drop_factor(&p);
    return status;
}
