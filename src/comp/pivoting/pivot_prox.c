// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The proximal point method for positive semidefinite A (Rockafellar 1976):
//
//   z_k+1 solves the MCP of (A + alpha D, b - alpha D z_k)                           theory (C20)
//
// whose matrix is a P-matrix, by block pivoting from the basis of the last step. Once the basis
// stays, a step is one solve with the factor at hand and contracts by alpha / (alpha + lambda),
// lambda the least non-zero eigenvalue of the scaled free block. The part of z in the null space is
// left alone, so that no rank has to be decided.
//
// Without a solution z_k+1 - z_k tends to a d != 0 with A'd <= 0 <= d and b'd < 0
// (for boxes and free variables likewise; Pazy 1971). This d is a proof of
// infeasibility, theory (C9), and is checked as one.
#include "comp/pivoting/pivot.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    OUTER_LIMIT = 200,   // proximal steps
    PATIENCE = 3,        // block steps without progress before alpha grows
    MOST_FAILURES = 30,  // times alpha may grow
    POLISH = 2,          // further steps once the goal is reached, usually without a factorisation
};

static const double alpha_first = 1e-2, alpha_least = 1e-8, alpha_most = 1e3;

// The largest of sum_j |A_ij| |z_j|: of a sparse A by its entries. Of a dense one |A_ij| <= sqrt(A_ii A_jj), as of a positive
// semidefinite A, saves a pass over the matrix; of a sparse one that would count all variables in every row.
static double largest_row(const pp_pivot *p, double *sums)
{
    double mass = 0.0, root = 0.0, most = 0.0;
    if (!p->sparse) {
        for (int i = 0; i < p->n; i++) {
            mass += p->root[i] * fabs(p->z[i]);
            root = pp_max(root, p->root[i]);
        }
        return root * mass;
    }
    memset(sums, 0, (size_t)p->n * sizeof *sums);
    for (int j = 0; j < p->n; j++) {
        for (int k = p->A.p[j]; k < p->A.p[j + 1]; k++) {
            sums[p->A.i[k]] += fabs(p->A.x[k] * p->z[j]);
        }
    }
    for (int i = 0; i < p->n; i++) {
        most = pp_max(most, sums[i]);
    }
    return most;
}

// Both residuals, and the rounding error of w, bounded by 2 eps sum_j |A_ij| |z_j|: where it exceeds the tolerance z is no
// answer, whatever w is.
bool pp_pivot_is_solved(pp_pivot *p, const pp_goal *goal, double *residual)
{
    double worst = 0.0;
    for (int i = 0; i < p->n; i++) {
        p->w[i] -= p->alpha * p->D[i] * (p->z[i] - p->center[i]);
        double z = p->z[i], w = p->w[i];
        // (C5) and (C6) of one row
        double plain = z - pp_clamp(z - w, p->lower[i], p->upper[i]);
        double step = w * p->inverse[i] * p->inverse[i];
        double scaled = (z - pp_clamp(z - step, p->lower[i], p->upper[i])) * p->D[i];
        worst = pp_max(worst, pp_max(fabs(plain), fabs(scaled)));
    }
    *residual = worst;
    return worst <= goal->residual && 2.0 * DBL_EPSILON * largest_row(p, p->work) <= goal->rounding;
}

// (A'y)_j, or 0 where that is rounding beside its terms
static double column_sum(const perp_matrix *A, int j, const double *y)
{
    double sum = 0.0, size = 0.0;
    int first = A->dense ? 0 : A->p[j], last = A->dense ? A->rows : A->p[j + 1];
    const double *column = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
    for (int k = first; k < last; k++) {
        double part = column[k] * y[A->dense ? k : A->i[k]];
        sum += part;
        size += fabs(part);
    }
    return fabs(sum) <= PP_FARKAS_ZERO * size ? 0.0 : sum;
}

// Whether y proves infeasibility, theory (C9): the supremum over the box of y'(A z + b) is negative
// beside its terms. Entries of the wrong sign, or small ones, are set to 0 first; y is scaled to 1.
static bool is_proof(pp_pivot *p, double *y)
{
    double big = 0.0, size = 0.0, sum = 0.0;
    for (int i = 0; i < p->n; i++) {
        big = pp_max(big, fabs(y[i]) * p->root[i]);
    }
    if (!(big > 0.0) || !isfinite(big)) {
        return false;
    }
    for (int i = 0; i < p->n; i++) {
        bool low = isfinite(p->lower[i]), high = isfinite(p->upper[i]);
        bool wrong = (low && y[i] < 0.0) || (high && y[i] > 0.0);
        y[i] = wrong || fabs(y[i]) * p->root[i] < 1e-9 * big ? 0.0 : y[i] / big;
        sum += y[i] * p->mcp->b[i];
        size += fabs(y[i] * p->mcp->b[i]);
    }
    for (int j = 0; j < p->n; j++) {
        double slope = column_sum(&p->A, j, y);
        if (slope == 0.0) {
            continue;
        }
        // the supremum is at a bound, infinite if that is
        double bound = slope > 0.0 ? p->upper[j] : p->lower[j];
        if (!isfinite(bound)) {
            return false;
        }
        sum += slope * bound;
        size += fabs(slope * bound);
    }
    return sum < -1e-9 * size;
}

// Whether the last proximal step is a proof of infeasibility; it is left in step.
static bool diverges(pp_pivot *p)
{
    for (int i = 0; i < p->n; i++) {
        p->step[i] = p->z[i] - p->center[i];
    }
    return is_proof(p, p->step);
}

// One step at p->alpha. Where it fails the places go back to those
// of the last step that was solved.
static perp_status solve_proximal_problem(pp_pivot *p)
{
    pp_pivot_center(p, p->alpha);
    perp_status status = pp_pivot_block(p, PATIENCE, 0);
    if (status < 0) {
        memcpy(p->place, p->good, (size_t)p->n);
    } else {
        memcpy(p->good, p->place, (size_t)p->n);
    }
    return status;
}

// z becomes the best iterate.
static perp_status return_best(pp_pivot *p)
{
    memcpy(p->z, p->best, (size_t)p->n * sizeof *p->z);
    return PERP_OK;
}

// After a solved step with residual `worst`: the next centre, and the next alpha.
// alpha shrinks where the basis changed (kept is false) or the residual did not
// fall tenfold, but not while p->wait lasts.
static void update_prox_center(pp_pivot *p, double worst, double before, bool kept)
{
    if (worst < p->best_residual) {
        p->best_residual = worst;
        memcpy(p->best, p->z, (size_t)p->n * sizeof *p->best);
    }
    memcpy(p->center, p->z, (size_t)p->n * sizeof *p->center);
    if ((!kept || worst > 0.1 * before) && p->wait-- <= 0) {
        p->alpha = pp_max(0.3 * p->alpha, alpha_least);
    }
}

perp_status pp_pivot_prox(pp_pivot *p, const pp_goal *goal, pp_report *report)
{
    double before = PP_INF, worst = PP_INF;
    int failures = 0, polish = 0;
    p->alpha = alpha_first;
    p->wait = 0;
    pp_pivot_place_from_z(p, p->center);
    memcpy(p->good, p->place, (size_t)p->n);
    for (int outer = 0; outer < OUTER_LIMIT && !(worst > 1e8 * p->best_residual); outer++) {
        // one block step: the basis has stayed
        int start = p->steps;
        perp_status status = solve_proximal_problem(p);
        if (polish > 0 && (status < 0 || !pp_pivot_is_solved(p, goal, &worst))) {
            return pp_is_final(status) ? status : return_best(p);
        }
        if (pp_is_final(status) ||
            (status < 0 && (p->steps >= p->step_limit || pp_job_is_over(p->job)))) {
            return status;
        }
        if (status < 0) {  // alpha too small for so many exchanges at once, or A not monotone
            p->alpha *= 3.0;
            p->wait = 2;
            if (p->alpha > alpha_most || ++failures > MOST_FAILURES) {
                pp_print(report->reason, sizeof report->reason,
                         "no basis of A + alpha D found up to alpha = %.0e: A is not positive "
                         "semidefinite",
                         alpha_most);
                return status;
            }
            continue;
        }
        bool solved = polish > 0 || pp_pivot_is_solved(p, goal, &worst);
        if (solved && (worst < 1e-3 * goal->residual || ++polish > POLISH)) {
            return worst <= p->best_residual ? PERP_OK : return_best(p);
        }
        if (!solved && outer > 2 && diverges(p)) {  // the first steps point anywhere
            return PERP_ERR_INFEASIBLE;
        }
        update_prox_center(p, worst, before, p->steps == start + 1);
        before = worst;
    }
    pp_print(report->reason, sizeof report->reason,
             "the proximal iteration does not converge: A is not positive semidefinite, or is "
             "nearly singular");
    return PERP_ERR_LIMIT;
}
