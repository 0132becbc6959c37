// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for nonlinear MCPs: the bytes are a problem file of expressions. Whatever is read is solved with a short
// limit; an accepted answer must be within its bounds, and complementary by the values of F alone.
#include "reader.h"

#include <math.h>

enum { N_MAX = 40 };

#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

// Finite, within the bounds, and the public judge agrees with the status.
static void hold_answer(const perp_ncp *ncp, const double *z)
{
    double F[N_MAX];
    HOLD(ncp->function(ncp->user, z, F) >= 0);
    for (int i = 0; i < ncp->n; i++) {
        HOLD(isfinite(z[i]) && z[i] >= ncp->lower[i] && z[i] <= ncp->upper[i]);
        HOLD(isfinite(F[i]));
    }
    perp_mcp_residuals e;
    HOLD(perp_ncp_judge(ncp, z, NULL, &e) >= 0);
    HOLD(e.bound == 0.0 && e.plain <= 1e-5 && e.scaled <= 1e-5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_problem *problem = fuzz_read("input", data, size);
    const perp_ncp *ncp = perp_problem_ncp(problem);
    if (ncp && ncp->n <= N_MAX) {
        double z[N_MAX];
        perp_comp_info info;
        perp_comp_options options = perp_comp_options_default();
        options.max_iterations = 20;
        perp_status status = perp_ncp_solve(NULL, ncp, &options, NULL, z, &info);
        HOLD(info.error.text[0] != '\0' && status != PERP_ERR_INFEASIBLE);
        for (int i = 0; i < ncp->n; i++) {
            HOLD(isfinite(z[i]));
        }
        if (status >= 0) {
            hold_answer(ncp, z);
        }
    }
    perp_problem_destroy(problem);
    return 0;
}
