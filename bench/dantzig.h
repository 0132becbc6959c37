// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Common code for the two copies of ODE's Dantzig solver, which are C++: the arrays they overwrite, and box
// friction by `findex`.
#pragma once

#include "bench.h"

#include <cmath>
#include <vector>

// Free variables come first (`nub` of them): order[k] is our index of its variable k.
struct dantzig_state {
    int n, nub, skip;
    std::vector<int> order;
    std::vector<double> A0, b0, lo0, hi0;    // as given, row-major with stride skip
    std::vector<double> A, b, lo, hi, x, w;  // overwritten by the solver
    std::vector<int> findex;                 // box friction: row of the normal, else -1
};

// Symmetric, and bounds with lo <= 0 <= hi, as its documentation requires.
inline bool dantzig_accepts(const bench_solver *, const bench_problem *problem)
{
    if (problem->contact && !problem->box) {
        return false;
    }
    for (int i = 0; !problem->contact && i < problem->mcp.n; i++) {
        double lower = problem->mcp.lower ? problem->mcp.lower[i] : 0.0;
        double upper = problem->mcp.upper ? problem->mcp.upper[i] : HUGE_VAL;
        if (lower > 0.0 || upper < 0.0) {
            return false;
        }
    }
    return bench_symmetric(problem);
}

inline double dantzig_entry(const perp_matrix &A, int i, int j)
{
    if (A.dense != nullptr) {
        return A
            .dense[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(A.rows)];
    }
    for (int k = A.p[j]; k < A.p[j + 1]; k++) {
        if (A.i[k] == i) {
            return A.x[k];
        }
    }
    return 0.0;
}

inline void dantzig_bounds(dantzig_state *s, const bench_problem *problem, int k, int i)
{
    if (problem->box) {
        int dim = problem->fcp.dim, c = i / dim;
        bool normal = i % dim == 0;
        s->lo0.push_back(normal ? 0.0 : -problem->fcp.mu[c]);
        s->hi0.push_back(normal ? HUGE_VAL : problem->fcp.mu[c]);
        s->findex.push_back(normal ? -1 : c * dim);
    } else {
        s->lo0.push_back(problem->mcp.lower ? problem->mcp.lower[i] : 0.0);
        s->hi0.push_back(problem->mcp.upper ? problem->mcp.upper[i] : HUGE_VAL);
        bool is_free = std::isinf(s->lo0.back()) && std::isinf(s->hi0.back());
        s->nub += is_free && s->nub == k;
    }
}

inline dantzig_state *dantzig_open(const bench_problem *problem, int skip)
{
    dantzig_state *s = new dantzig_state();
    int n = bench_size(problem);
    s->n = n;
    s->skip = skip;
    for (int pass = 0; pass < 2; pass++) {  // free variables first
        for (int i = 0; i < n; i++) {
            bool is_free = !problem->contact && problem->mcp.lower &&
                           std::isinf(problem->mcp.lower[i]) &&
                           (!problem->mcp.upper || std::isinf(problem->mcp.upper[i]));
            if (is_free == (pass == 0)) {
                s->order.push_back(i);
            }
        }
    }
    const perp_matrix &A = problem->contact ? problem->fcp.W : problem->mcp.A;
    const double *b = problem->contact ? problem->fcp.q : problem->mcp.b;
    s->A0.assign(static_cast<size_t>(n) * static_cast<size_t>(skip), 0.0);
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < n; l++) {
            s->A0[static_cast<size_t>(k) * static_cast<size_t>(skip) + static_cast<size_t>(l)] =
                dantzig_entry(A, s->order[static_cast<size_t>(k)],
                              s->order[static_cast<size_t>(l)]);
        }
        s->b0.push_back(-b[s->order[static_cast<size_t>(k)]]);
        dantzig_bounds(s, problem, k, s->order[static_cast<size_t>(k)]);
    }
    s->x.resize(static_cast<size_t>(n));
    s->w.resize(static_cast<size_t>(n));
    return s;
}

inline void dantzig_reset(void *opaque)
{
    dantzig_state *s = static_cast<dantzig_state *>(opaque);
    s->A = s->A0;
    s->b = s->b0;
    s->lo = s->lo0;
    s->hi = s->hi0;
    s->x.assign(s->x.size(), 0.0);
    s->w.assign(s->w.size(), 0.0);
}

inline void dantzig_answer(const dantzig_state *s, bench_answer *answer)
{
    for (size_t k = 0; k < s->x.size(); k++) {
        answer->z[s->order[k]] = s->x[k];
    }
    answer->iterations = 0;
}
