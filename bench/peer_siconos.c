// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Siconos numerics on LCPs, mixed LCPs and boxed (relay) problems, through its drivers, dense storage.
// Options and problem are recreated before each run, outside the timing.
#include "bench.h"

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <MLCP_Solvers.h>
#include <MixedLinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <RelayProblem.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <math.h>
#include <mlcp_cst.h>
#include <relay_cst.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIVOTS = 100000 };

typedef struct state {
    int id, n, equations;
    const bench_problem *problem;
    int *order;  // MLCP: equations first, order[k] is our index of its row k
    double *M, *q, *lower, *upper, *w, *z;
    NumericsMatrix *matrix;
    SolverOptions *options;
    MixedLinearComplementarityProblem *mlcp;
} state;

static bool is_free(const perp_mcp *mcp, int i)
{
    return mcp->lower != NULL && isinf(mcp->lower[i]) &&
           (mcp->upper == NULL || isinf(mcp->upper[i]));
}

// Only free and [0, inf) variables: a mixed LCP.
static bool is_mixed(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n && mcp->lower != NULL; i++) {
        bool pair = mcp->lower[i] == 0.0 && (mcp->upper == NULL || isinf(mcp->upper[i]));
        if (!pair && !is_free(mcp, i)) {
            return false;
        }
    }
    return mcp->lower != NULL;
}

static bool is_boxed(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        if (mcp->lower == NULL || mcp->upper == NULL || isinf(mcp->lower[i]) ||
            isinf(mcp->upper[i])) {
            return false;
        }
    }
    return true;
}

static bool accepts(const bench_solver *solver, const bench_problem *problem)
{
    const perp_mcp *mcp = &problem->mcp;
    if (problem->contact) {
        return false;
    }
    switch (solver->id / 100) {
    case 1:
        return is_mixed(mcp);
    case 2:
        return mcp->lower == NULL && mcp->upper == NULL;
    default:
        return is_boxed(mcp);
    }
}

static void *open_state(const bench_solver *solver, const bench_problem *problem)
{
    state *s = calloc(1, sizeof *s);
    int n = problem->mcp.n;
    s->id = solver->id;
    s->problem = problem;
    s->n = n;
    s->order = calloc((size_t)n, sizeof *s->order);
    for (int i = 0; i < n; i++) {
        if (is_free(&problem->mcp, i)) {
            s->order[s->equations++] = i;
        }
    }
    for (int i = 0, k = s->equations; i < n; i++) {
        if (!is_free(&problem->mcp, i)) {
            s->order[k++] = i;
        }
    }
    s->M = calloc((size_t)n * (size_t)n, sizeof *s->M);
    s->q = calloc(5 * (size_t)n, sizeof *s->q);
    s->lower = s->q + n;
    s->upper = s->lower + n;
    s->w = s->upper + n;
    s->z = s->w + n;
    s->matrix = NM_create_from_data(NM_DENSE, n, n, s->M);
    numerics_set_verbose(0);
    return s;
}

static void reset_options(state *s)
{
    if (s->options != NULL) {
        solver_options_delete(s->options);
        free(s->options);
    }
    s->options = solver_options_create(s->id);
    s->options->dparam[SICONOS_DPARAM_TOL] = s->problem->tolerance;
    bool pivots = s->id == SICONOS_LCP_LEMKE || s->id == SICONOS_LCP_PIVOT ||
                  s->id == SICONOS_LCP_AVI_CAOFERRIS || s->id == SICONOS_MLCP_LCP_LEMKE;
    if (pivots) {
        s->options->iparam[SICONOS_IPARAM_MAX_ITER] = MAX_PIVOTS;
    }
}

// Its Lemke for mixed problems takes M in blocks: A u + C v + a = 0, D u + B v + b >= 0 _|_ v >= 0.
static void fill_parts(state *s)
{
    MixedLinearComplementarityProblem *p = s->mlcp;
    size_t n = (size_t)p->n, m = (size_t)p->m, all = n + m;
    for (size_t j = 0; j < all; j++) {
        const double *column = s->M + j * all;
        double *upper = j < n ? p->A + j * n : p->C + (j - n) * n;
        double *lower = j < n ? p->D + j * m : p->B + (j - n) * m;
        memcpy(upper, column, n * sizeof *upper);
        memcpy(lower, column + n, m * sizeof *lower);
    }
    memcpy(p->a, s->q, n * sizeof *p->a);
    memcpy(p->b, s->q + n, m * sizeof *p->b);
}

static void make_mlcp(state *s)
{
    s->mlcp = mixedLinearComplementarity_new();
    MixedLinearComplementarityProblem *p = s->mlcp;
    size_t n = (size_t)s->equations, m = (size_t)(s->n - s->equations);
    p->isStorageType1 = s->id != SICONOS_MLCP_LCP_LEMKE;
    p->isStorageType2 = !p->isStorageType1;
    p->n = s->equations;
    p->m = s->n - s->equations;
    p->blocksRows = calloc(4, sizeof *p->blocksRows);
    p->blocksIsComp = calloc(3, sizeof *p->blocksIsComp);
    int blocks = 0;
    if (p->n > 0) {
        p->blocksIsComp[blocks++] = 0;
        p->blocksRows[blocks] = p->n;
    }
    p->blocksIsComp[blocks++] = 1;
    p->blocksRows[blocks] = s->n;
    p->M = s->matrix;
    p->q = s->q;
    p->A = calloc(n * n + 1, sizeof *p->A);
    p->B = calloc(m * m + 1, sizeof *p->B);
    p->C = calloc(n * m + 1, sizeof *p->C);
    p->D = calloc(m * n + 1, sizeof *p->D);
    p->a = calloc(n + 1, sizeof *p->a);
    p->b = calloc(m + 1, sizeof *p->b);
}

static void reset(void *opaque)
{
    state *s = opaque;
    const perp_mcp *mcp = &s->problem->mcp;
    size_t n = (size_t)s->n;
    for (size_t j = 0; j < n; j++) {
        size_t from = (size_t)s->order[j];
        for (size_t i = 0; i < n; i++) {
            s->M[i + j * n] = mcp->A.dense[(size_t)s->order[i] + from * n];
        }
        s->q[j] = mcp->b[from];
        s->lower[j] = mcp->lower != NULL ? mcp->lower[from] : 0.0;
        s->upper[j] = mcp->upper != NULL ? mcp->upper[from] : (double)INFINITY;
    }
    memset(s->z, 0, n * sizeof *s->z);
    memset(s->w, 0, n * sizeof *s->w);
    bool mixed = s->id / 100 == 1;
    if (mixed && s->mlcp != NULL) {
        mlcp_driver_reset(s->mlcp, s->options);
    }
    reset_options(s);
    if (mixed) {
        if (s->mlcp == NULL) {
            make_mlcp(s);
        }
        fill_parts(s);
        mlcp_driver_init(s->mlcp, s->options);
    }
}

static void solve(void *opaque, bench_answer *answer)
{
    state *s = opaque;
    int info = 1;
    if (s->id / 100 == 1) {
        info = mlcp_driver(s->mlcp, s->z, s->w, s->options);
    } else if (s->id / 100 == 2) {
        LinearComplementarityProblem lcp = {s->n, s->matrix, s->q};
        info = linearComplementarity_driver(&lcp, s->z, s->w, s->options);
    } else {
        RelayProblem relay = {s->n, s->matrix, s->q, s->lower, s->upper};
        info = relay_driver(&relay, s->z, s->w, s->options);
    }
    for (int k = 0; k < s->n; k++) {
        answer->z[s->order[k]] = s->z[k];
    }
    answer->claims = info == 0;
    answer->iterations = s->options->iparam[SICONOS_IPARAM_ITER_DONE];
}

#define SICONOS(name, id)                                                                          \
    {                                                                                              \
        "Siconos " name, true, id, accepts, open_state, reset, solve                               \
    }

static const bench_solver table[] = {
    SICONOS("LEMKE", SICONOS_LCP_LEMKE),
    SICONOS("PIVOT", SICONOS_LCP_PIVOT),
    SICONOS("AVI_CAOFERRIS", SICONOS_LCP_AVI_CAOFERRIS),
    SICONOS("NEWTON_FB", SICONOS_LCP_NEWTON_FB_FBLSA),
    SICONOS("NEWTON_MIN_FB", SICONOS_LCP_NEWTON_MIN_FBLSA),
    SICONOS("MLCP_LEMKE", SICONOS_MLCP_LCP_LEMKE),
    SICONOS("MLCP_FB", SICONOS_MLCP_FB),
    SICONOS("RELAY_LEMKE", SICONOS_RELAY_LEMKE),
    SICONOS("RELAY_AVI", SICONOS_RELAY_AVI_CAOFERRIS),
};

const bench_solver *bench_siconos(int *count)
{
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}
