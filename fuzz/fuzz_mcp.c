// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for the MCP solvers: the bytes define a small problem; accepted answers must hold in long double,
// infeasible problems must be so by enumeration, and auto must find existing solutions.
#include "support/bytes.h"
#include "support/truth.h"

#include <perp/comp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_MAX = 6, ENUM_MAX = 4, MOST = 81 };

#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

typedef struct input {
    double A[N_MAX * N_MAX], b[N_MAX], lower[N_MAX], upper[N_MAX];
    perp_mcp mcp;
} input;

static void decode(bytes *from, input *in)
{
    int n = 1 + take_byte(from) % N_MAX, shape = take_byte(from);
    for (int i = 0; i < n; i++) {
        int kind = shape & 1 ? take_byte(from) % 6 : 0;
        in->b[i] = take_number(from);
        in->lower[i] = kind == 1 || kind == 3 ? -HUGE_VAL : kind == 0 ? 0.0 : take_number(from);
        in->upper[i] = kind == 2   ? in->lower[i] + fabs(take_number(from))
                       : kind == 3 ? take_number(from)
                       : kind == 4 ? in->lower[i]
                                   : HUGE_VAL;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            bool mirror = shape & 2 && i < j;  // symmetric
            in->A[i + j * n] = mirror ? in->A[j + i * n] : take_number(from);
        }
    }
    in->mcp = (perp_mcp){n, perp_matrix_dense(n, n, in->A), in->b, in->lower, in->upper};
}

// Whether enumeration finds a solution that both residuals accept with a margin.
static bool has_solution(const perp_mcp *mcp)
{
    double z[MOST * ENUM_MAX];
    int count = 0;
    HOLD(perp_mcp_enumerate(mcp, NULL, MOST, z, &count) >= 0);
    for (int k = 0; k < count && k < MOST; k++) {
        perp_mcp_residuals judged;
        const double *one = z + k * mcp->n;
        HOLD(perp_mcp_judge(mcp, one, NULL, &judged) >= 0);
        if (truth_solves(mcp, one) && judged.scaled <= 1e-10) {
            return true;
        }
    }
    return false;
}

static void try_solver(const char *name, const input *in, bool solvable)
{
    const perp_mcp *mcp = &in->mcp;
    double z[N_MAX];
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    options.max_iterations = name[0] == 's' ? 100 : 0;  // ssn is slow to give up
    perp_status status = perp_mcp_solve(name, mcp, &options, NULL, z, &info);
    HOLD(info.error.text[0] != '\0');
    for (int i = 0; i < mcp->n; i++) {
        HOLD(isfinite(z[i]) && z[i] >= in->lower[i] && z[i] <= in->upper[i]);
    }
    if (status >= 0) {
        double most = status == PERP_OK ? options.tolerance : options.loose;
        HOLD(truth_plain(mcp, z) <= 1.001 * most);
    } else if (solvable) {
        HOLD(status != PERP_ERR_INFEASIBLE);
        HOLD(name[0] != 'a');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const solvers[] = {"auto", "lemke", "pivot", "ssn"};
    bytes from = {data, size, 0};
    input in;
    decode(&from, &in);
    bool solvable = in.mcp.n <= ENUM_MAX && has_solution(&in.mcp);
    for (int s = 0; s < 4; s++) {
        try_solver(solvers[s], &in, solvable);
    }
    return 0;
}
