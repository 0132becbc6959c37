// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bullet's Lemke (after Lloyd) and Dantzig (ODE's), built with doubles.
#include "bench.h"
#include "dantzig.h"

#include <BulletDynamics/MLCPSolvers/btDantzigLCP.h>
#include <BulletDynamics/MLCPSolvers/btLemkeAlgorithm.h>

namespace
{

// Scratch memory kept between runs, as btDantzigSolver keeps it between steps.
btDantzigScratchMemory scratch;

void solve_dantzig(void *opaque, bench_answer *answer)
{
    dantzig_state *s = static_cast<dantzig_state *>(opaque);
    answer->claims = btSolveDantzigLCP(s->n, s->A.data(), s->x.data(), s->b.data(), s->w.data(),
                                       s->nub, s->lo.data(), s->hi.data(),
                                       s->findex.empty() ? nullptr : s->findex.data(), scratch);
    dantzig_answer(s, answer);
}

void *open_dantzig(const bench_solver *, const bench_problem *problem)
{
    return dantzig_open(problem, bench_size(problem));
}

struct lemke_state {
    btMatrixXu M;
    btVectorXu q;
    btLemkeAlgorithm *lemke = nullptr;
};

bool accepts_lemke(const bench_solver *, const bench_problem *problem)
{
    return !problem->contact && problem->mcp.lower == nullptr && problem->mcp.upper == nullptr;
}

void *open_lemke(const bench_solver *, const bench_problem *problem)
{
    lemke_state *s = new lemke_state();
    int n = problem->mcp.n;
    s->M.resize(n, n);
    s->q.resize(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            s->M.setElem(i, j, dantzig_entry(problem->mcp.A, i, j));
        }
        s->q[i] = problem->mcp.b[i];
    }
    return s;
}

void reset_lemke(void *opaque)
{
    lemke_state *s = static_cast<lemke_state *>(opaque);
    delete s->lemke;
    s->lemke = new btLemkeAlgorithm(s->M, s->q);
}

void solve_lemke(void *opaque, bench_answer *answer)
{
    lemke_state *s = static_cast<lemke_state *>(opaque);
    btVectorXu wz = s->lemke->solve(100000);  // (w, z)
    int n = s->q.size();
    for (int i = 0; i < n; i++) {
        answer->z[i] = n + i < wz.size() ? wz[n + i] : 0.0;
    }
    answer->claims = s->lemke->getInfo() == 0;
    answer->iterations = s->lemke->getSteps();
}

const bench_solver table[] = {
    {"Bullet Dantzig", true, 0, dantzig_accepts, open_dantzig, dantzig_reset, solve_dantzig},
    {"Bullet Lemke", true, 0, accepts_lemke, open_lemke, reset_lemke, solve_lemke},
};

}  // namespace

extern "C" const bench_solver *bench_bullet(int *count)
{
    *count = 2;
    return table;
}
