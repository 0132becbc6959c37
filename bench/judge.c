// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging of answers: by the judges of the library, for all solvers.
//
// Solved means residuals <= 10 tol, a margin for solvers with their own stopping test. perp must satisfy both
// residuals; for peers the plain one is enough, because that is the one they minimise. Box friction is judged
// as the box problem whose bounds are mu r_n of the answer: an answer is right if it solves the problem that
// it defines.
#include "bench.h"

#include <math.h>

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
        perp_status status = PERP_ERR_ARGUMENT;
        if (problem->box) {
            perp_box_friction box = bench_box_of(problem);
            status = perp_box_friction_judge(&box, answer->z, &residuals);
        } else if (problem->contact) {
            judge_contact(&problem->fcp, answer, result);
        } else {
            status = perp_mcp_judge(&problem->mcp, answer->z, NULL, &residuals);
        }
        if (status >= 0) {
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
