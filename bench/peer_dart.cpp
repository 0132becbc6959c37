// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// DART's copy of ODE's Dantzig solver. It solves A x = b + w, so its b is minus ours; it overwrites A, b
// and the bounds, which are restored before each run, outside the timing. Rows are padded to four.
#include "bench.h"
#include "dantzig.h"

#include <dart/external/odelcpsolver/lcp.h>

namespace
{

void solve(void *opaque, bench_answer *answer)
{
    dantzig_state *s = static_cast<dantzig_state *>(opaque);
    answer->claims = dart::external::ode::dSolveLCP(s->n, s->A.data(), s->x.data(), s->b.data(),
                                                    s->w.data(), s->nub, s->lo.data(), s->hi.data(),
                                                    s->findex.empty() ? nullptr : s->findex.data());
    dantzig_answer(s, answer);
}

void *open_state(const bench_solver *, const bench_problem *problem)
{
    int n = bench_size(problem);
    return dantzig_open(problem, n > 1 ? ((n - 1) | 3) + 1 : n);
}

const bench_solver table[] = {
    {"DART Dantzig", true, 0, dantzig_accepts, open_state, dantzig_reset, solve},
};

}  // namespace

extern "C" const bench_solver *bench_dart(int *count)
{
    *count = 1;
    return table;
}
