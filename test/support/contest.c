// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/contest.h"

#include "support/truth.h"

#include <math.h>

enum { N_MAX = 12, MOST = 64 };

answer_key contest_key(const perp_mcp *mcp)
{
    double z[MOST * N_MAX];
    answer_key key = {.count = 0};
    if (perp_mcp_enumerate(mcp, NULL, MOST, z, &key.count) < 0) {
        key.count = -1;
    }
    for (int k = 0; k < key.count && k < MOST && !key.solvable; k++) {
        const double *one = z + k * mcp->n;
        key.solvable = truth_solves(mcp, one);
    }
    return key;
}

// z is one of the basic solutions, each number of it to seven digits.
static bool is_listed(const perp_mcp *mcp, const double *z)
{
    double all[MOST * N_MAX];
    int count = 0;
    if (perp_mcp_enumerate(mcp, NULL, MOST, all, &count) < 0) {
        return false;
    }
    for (int k = 0; k < count && k < MOST; k++) {
        bool same = true;
        for (int i = 0; i < mcp->n && same; i++) {
            same = fabs(z[i] - all[k * mcp->n + i]) <= 1e-7 * fabs(z[i]);
        }
        if (same) {
            return true;
        }
    }
    return false;
}

void contest_enter(const char *solver, const perp_mcp *mcp, const answer_key *key, uint64_t seed,
                   perp_workspace *work, tally *t)
{
    double z[N_MAX];
    perp_comp_options options = perp_comp_options_default();
    options.work = work;
    perp_status status = perp_mcp_solve(solver, mcp, &options, NULL, z, NULL);
    t->problems++;
    if (status >= 0) {
        double most = status == PERP_OK ? options.tolerance : options.loose;
        // The answer rounded to double may leave more than that where terms cancel.
        if (!(truth_plain(mcp, z) <= 1.001 * most) && !is_listed(mcp, z)) {
            t->wrong++;
            t->wrong_seed = seed;
            return;
        }
        t->solved++;
        t->inexact += status == PERP_INEXACT;
        if (key->count == 0) {
            t->unsure++;
            t->unsure_seed = seed;
        }
        t->worst_backward = fmax(t->worst_backward, truth_backward(mcp, z));
        return;
    }
    if (!key->solvable) {
        t->none += key->count == 0;
        t->doubtful += key->count > 0;
        return;
    }
    t->missed++;
    t->missed_seed = seed;
    t->false_infeasible += status == PERP_ERR_INFEASIBLE;
}
