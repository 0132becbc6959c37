// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sparse LU: a thin layer over KLU that turns its flags into statuses. KLU allocates from
// SuiteSparse's functions, not from perp_env.
#include "math/math.h"

#include <klu.h>
#include <math.h>
#include <stdlib.h>

struct pp_sparse_lu {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int *p, *i;  // borrowed; KLU takes them without const and only reads them
    int n;
};

// The symbolic analysis: fill-reducing order and block triangular form, from the pattern alone.
pp_sparse_lu *pp_sparse_lu_create(int n, const int *p, const int *i)
{
    pp_sparse_lu *lu = SuiteSparse_calloc(1, sizeof *lu);
    if (!lu) {
        return NULL;
    }
    klu_defaults(&lu->common);
    lu->n = n;
    lu->p = (int *)(uintptr_t)p;
    lu->i = (int *)(uintptr_t)i;
    lu->symbolic = klu_analyze(n, lu->p, lu->i, &lu->common);
    if (!lu->symbolic) {
        pp_sparse_lu_destroy(lu);
        return NULL;
    }
    return lu;
}

void pp_sparse_lu_destroy(pp_sparse_lu *lu)
{
    if (lu) {
        klu_free_numeric(&lu->numeric, &lu->common);
        klu_free_symbolic(&lu->symbolic, &lu->common);
        SuiteSparse_free(lu);
    }
}

// Row exchanges depend on the numbers, so that the factors are computed anew each time.
perp_status pp_sparse_lu_factor(pp_sparse_lu *lu, const double *x)
{
    klu_free_numeric(&lu->numeric, &lu->common);
    lu->numeric = klu_factor(lu->p, lu->i, (double *)(uintptr_t)x, lu->symbolic, &lu->common);
    if (lu->numeric) {
        return PERP_OK;
    }
    return lu->common.status == KLU_OUT_OF_MEMORY ? PERP_ERR_MEMORY : PERP_ERR_SINGULAR;
}

// The common struct is copied: a question does not change the object.
double pp_sparse_lu_flops(const pp_sparse_lu *lu)
{
    klu_common common = lu->common;
    return lu->numeric && klu_flops(lu->symbolic, lu->numeric, &common) ? common.flops : 0.0;
}

// KLU's estimate is -1 where its order gives none.
double pp_sparse_lu_expected_flops(const pp_sparse_lu *lu)
{
    return fmax(lu->symbolic->est_flops, 0.0);
}

static perp_status check_solution(int ok, int n, const double *b)
{
    return ok && pp_all_finite((size_t)n, b) ? PERP_OK : PERP_ERR_SINGULAR;
}

// A solution that is not finite is reported as singular.
perp_status pp_sparse_lu_solve(const pp_sparse_lu *lu, double *b)
{
    klu_common common = lu->common;
    if (!lu->numeric) {
        return PERP_ERR_SINGULAR;
    }
    return check_solution(klu_solve(lu->symbolic, lu->numeric, lu->n, 1, b, &common), lu->n, b);
}

perp_status pp_sparse_lu_solve_t(const pp_sparse_lu *lu, double *b)
{
    klu_common common = lu->common;
    if (!lu->numeric) {
        return PERP_ERR_SINGULAR;
    }
    return check_solution(klu_tsolve(lu->symbolic, lu->numeric, lu->n, 1, b, &common), lu->n, b);
}
