// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What an answer is worth: the library's judges, the same for everybody.
//
// Solved means residuals <= 10 tol, the margin that solvers with a stopping test of their own need.
// perp has to satisfy both residuals; for a peer's time to count the plain one is enough, because it
// is the one they aim at. Box friction is judged as the box problem whose bounds are mu r_n of the
// answer itself: an answer is right when it solves the problem that it defines.
#include "bench.h"

#include <math.h>
#include <stdlib.h>

static void judge_box(const perp_fcp *fcp, const double *r, bench_result *result)
{
    int n = fcp->nc * fcp->dim;
    double *bounds = malloc(2 * (size_t)n * sizeof *bounds);
    if (bounds == NULL) {
        return;
    }
    double *lower = bounds, *upper = bounds + n;
    for (int i = 0; i < n; i++) {
        int c = i / fcp->dim;
        double limit = fcp->mu[c] * fmax(r[c * fcp->dim], 0.0);
        bool normal = i % fcp->dim == 0;
        lower[i] = normal ? 0.0 : -limit;
        upper[i] = normal ? (double)INFINITY : limit;
    }
    perp_mcp mcp = {.n = n, .A = fcp->W, .b = fcp->q, .lower = lower, .upper = upper};
    perp_mcp_residuals residuals;
    if (perp_mcp_judge(&mcp, r, NULL, &residuals) >= 0) {
        result->plain = residuals.plain;
        result->scaled = residuals.scaled;
    }
    free(bounds);
}

static void judge_contact(const perp_fcp *fcp, const bench_answer *answer, bench_result *result)
{
    perp_fcp_residuals residuals;
    if (perp_fcp_judge(fcp, answer->z, answer->v, NULL, &residuals) >= 0) {
        result->plain = residuals.plain;
        result->scaled = residuals.scaled;
        result->dynamics = residuals.dynamics;
    }
}

static bool all_finite(int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

void bench_judge(const bench_problem *problem, const bench_answer *answer, bench_result *result)
{
    result->plain = result->scaled = NAN;
    result->dynamics = 0.0;
    if (all_finite(bench_size(problem), answer->z)) {
        perp_mcp_residuals residuals;
        if (problem->box) {
            judge_box(&problem->fcp, answer->z, result);
        } else if (problem->contact) {
            judge_contact(&problem->fcp, answer, result);
        } else if (perp_mcp_judge(&problem->mcp, answer->z, NULL, &residuals) >= 0) {
            result->plain = residuals.plain;
            result->scaled = residuals.scaled;
        }
    }
    double enough = 10.0 * problem->tolerance;
    bool plain = result->plain <= enough && result->dynamics <= enough;  // false for NaN
    if (plain && result->scaled <= enough) {
        result->outcome = BENCH_SOLVED;
    } else if (plain) {
        result->outcome = BENCH_PLAIN;
    } else if (result->claims) {
        result->outcome = BENCH_FALSE;
    } else {
        result->outcome = problem->unsolvable ? BENCH_NONE : BENCH_FAILED;
    }
}
