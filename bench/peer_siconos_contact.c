// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Siconos numerics on frictional contact: its local 2D and 3D drivers and its global 3D driver. Problem
// and options are recreated before each run, outside the timing, because they cache factors.
#include "bench.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <fc3d_Solvers.h>
#include <gfc3d_Solvers.h>
#include <stdlib.h>
#include <string.h>

// Ids of Siconos are below 10000; variants are added to them.
enum { QUARTIC = 10000, VARIANT = 10000, MAX_SWEEPS = 200000, DENSE_CONTACTS = 100 };

typedef struct state {
    int id;
    const bench_problem *problem;
    FrictionContactProblem *local;
    GlobalFrictionContactProblem *global;
    SolverOptions *options;
    double *u;
} state;

static bool accepts(const bench_solver *solver, const bench_problem *problem)
{
    const perp_fcp *fcp = &problem->fcp;
    if (!problem->contact || problem->box || fcp->nd != NULL) {
        return false;
    }
    int family = solver->id % VARIANT / 100;  // 4: plane, 5: space, 6: global in space
    if (family == 6) {
        return fcp->nv > 0 && fcp->dim == 3;
    }
    bool fits = solver->id != SICONOS_FRICTION_2D_LEMKE || fcp->nc <= 10 * DENSE_CONTACTS;
    return fcp->nv == 0 && fcp->dim == (family == 4 ? 2 : 3) && fits;
}

static void *open_state(const bench_solver *solver, const bench_problem *problem)
{
    state *s = calloc(1, sizeof *s);
    s->id = solver->id;
    s->problem = problem;
    s->u = calloc((size_t)bench_size(problem), sizeof *s->u);
    numerics_set_verbose(0);
    return s;
}

static size_t entries_of(const perp_matrix *A)
{
    return A->dense != NULL ? (size_t)A->rows * (size_t)A->cols : (size_t)A->p[A->cols];
}

static NumericsMatrix *make_sparse(const perp_matrix *A)
{
    NumericsMatrix *matrix = NM_create(NM_SPARSE, A->rows, A->cols);
    NM_triplet_alloc(matrix, (CS_INT)entries_of(A));
    matrix->matrix2->origin = NSM_TRIPLET;
    for (int j = 0; j < A->cols; j++) {
        if (A->dense != NULL) {
            for (int i = 0; i < A->rows; i++) {
                NM_zentry(matrix, i, j, A->dense[(size_t)i + (size_t)j * (size_t)A->rows], 0.0);
            }
        } else {
            for (int k = A->p[j]; k < A->p[j + 1]; k++) {
                NM_entry(matrix, A->i[k], j, A->x[k]);
            }
        }
    }
    return matrix;
}

static NumericsMatrix *make_dense(const perp_matrix *A)
{
    NumericsMatrix *matrix = NM_create(NM_DENSE, A->rows, A->cols);
    size_t rows = (size_t)A->rows, all = rows * (size_t)A->cols;
    if (A->dense != NULL) {
        memcpy(matrix->matrix0, A->dense, all * sizeof(double));
        return matrix;
    }
    memset(matrix->matrix0, 0, all * sizeof(double));
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            matrix->matrix0[(size_t)A->i[k] + (size_t)j * rows] += A->x[k];
        }
    }
    return matrix;
}

// Its Gauss-Seidel expects sparse blocks.
static NumericsMatrix *make_blocks(const perp_matrix *A, int dim)
{
    NumericsMatrix *sparse = make_sparse(A);
    NumericsMatrix *matrix = NM_create(NM_SPARSE_BLOCK, A->rows, A->cols);
    SBM_from_csparse(dim, NM_csc(sparse), matrix->matrix1);
    NM_clear(sparse);
    free(sparse);
    return matrix;
}

static double *copy(const double *from, int n)
{
    double *to = calloc((size_t)n + 1, sizeof *to);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static NumericsMatrix *local_matrix(int id, const perp_fcp *fcp)
{
    bool newton = id == SICONOS_FRICTION_3D_NSN_AC || id == SICONOS_FRICTION_3D_PROX;
    if (id == SICONOS_FRICTION_2D_LEMKE || id == SICONOS_FRICTION_2D_CPG) {
        return make_dense(&fcp->W);
    }
    if (newton) {
        return fcp->nc <= DENSE_CONTACTS ? make_dense(&fcp->W) : make_sparse(&fcp->W);
    }
    return make_blocks(&fcp->W, fcp->dim);
}

static void reset_options(state *s)
{
    if (s->options != NULL) {
        solver_options_delete(s->options);
        free(s->options);
    }
    int id = s->id % VARIANT;
    s->options = solver_options_create(id);
    s->options->dparam[SICONOS_DPARAM_TOL] = s->problem->tolerance;
    bool newton = id == SICONOS_FRICTION_3D_NSN_AC || id == SICONOS_FRICTION_3D_PROX ||
                  id == SICONOS_GLOBAL_FRICTION_3D_NSN_AC || id == SICONOS_FRICTION_2D_LEMKE;
    if (!newton) {
        s->options->iparam[SICONOS_IPARAM_MAX_ITER] = MAX_SWEEPS;
    }
    if (s->id == SICONOS_FRICTION_3D_NSGS + QUARTIC) {
        solver_options_update_internal(s->options, 0, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC);
    }
}

static void reset(void *opaque)
{
    state *s = opaque;
    const perp_fcp *fcp = &s->problem->fcp;
    int n = bench_size(s->problem), id = s->id % VARIANT;
    memset(s->u, 0, (size_t)n * sizeof *s->u);
    reset_options(s);
    if (id / 100 == 6) {
        if (s->global != NULL) {
            globalFrictionContact_free(s->global);
        }
        s->global = globalFrictionContactProblem_new();
        s->global->dimension = fcp->dim;
        s->global->numberOfContacts = fcp->nc;
        s->global->M = make_sparse(&fcp->M);
        s->global->H = make_sparse(&fcp->H);
        s->global->q = copy(fcp->f, fcp->nv);
        s->global->b = copy(fcp->w, n);
        s->global->mu = copy(fcp->mu, fcp->nc);
        return;
    }
    if (s->local != NULL) {
        frictionContactProblem_free(s->local);
    }
    s->local = frictionContactProblem_new();
    s->local->dimension = fcp->dim;
    s->local->numberOfContacts = fcp->nc;
    s->local->M = local_matrix(id, fcp);
    s->local->q = copy(fcp->q, n);
    s->local->mu = copy(fcp->mu, fcp->nc);
}

static void solve(void *opaque, bench_answer *answer)
{
    state *s = opaque;
    int info = 1;
    switch (s->id % VARIANT / 100) {
    case 4:
        info = fc2d_driver(s->local, answer->z, s->u, s->options);
        break;
    case 5:
        info = fc3d_driver(s->local, answer->z, s->u, s->options);
        break;
    default:
        info = gfc3d_driver(s->global, answer->z, s->u, answer->v, s->options);
    }
    answer->claims = info == 0;
    answer->iterations = s->options->iparam[SICONOS_IPARAM_ITER_DONE];
}

#define SICONOS(name, id)                                                                          \
    {                                                                                              \
        "Siconos " name, true, id, accepts, open_state, reset, solve                               \
    }

static const bench_solver table[] = {
    SICONOS("2D_NSGS", SICONOS_FRICTION_2D_NSGS),
    SICONOS("2D_LEMKE", SICONOS_FRICTION_2D_LEMKE),
    SICONOS("NSGS", SICONOS_FRICTION_3D_NSGS),
    SICONOS("NSGS-quartic", SICONOS_FRICTION_3D_NSGS + QUARTIC),
    SICONOS("NSN_AC", SICONOS_FRICTION_3D_NSN_AC),
    SICONOS("PROX", SICONOS_FRICTION_3D_PROX),
    SICONOS("VI_EG", SICONOS_FRICTION_3D_VI_EG),
    SICONOS("G-NSGS_WR", SICONOS_GLOBAL_FRICTION_3D_NSGS_WR),
    SICONOS("G-NSN_AC", SICONOS_GLOBAL_FRICTION_3D_NSN_AC),
    SICONOS("G-VI_EG", SICONOS_GLOBAL_FRICTION_3D_VI_EG),
    SICONOS("G-ADMM", SICONOS_GLOBAL_FRICTION_3D_ADMM),
};

const bench_solver *bench_siconos_contact(int *count)
{
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}
