// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The components of a contact, and the passage from the global form (C4) to the local one (C3).
#include "comp/comp.h"

#include <string.h>

int pp_fcp_groups(const perp_fcp *fcp, pp_group group[PP_GROUPS_MAX])
{
    int count = 0;
    group[count++] = (pp_group){1, fcp->dim == 2 ? 1 : 2, fcp->mu};
    if (fcp->dim == 4 || fcp->dim == 6) {
        group[count++] = (pp_group){3, 1, fcp->mu_spin};
    }
    if (fcp->dim >= 5) {
        group[count++] = (pp_group){fcp->dim - 2, 2, fcp->mu_roll};
    }
    return count;
}

struct pp_mass {
    int n;
    double *L;         // dense Cholesky, or
    pp_sparse_lu *lu;  // sparse LU
};

perp_status pp_mass_create(const perp_matrix *M, pp_arena *arena, pp_mass **out)
{
    pp_mass *mass = PP_ZEROS(arena, pp_mass, 1);
    *out = NULL;
    if (!mass) {
        return PERP_ERR_MEMORY;
    }
    mass->n = M->rows;
    if (M->dense) {
        mass->L = PP_ARRAY(arena, double, (size_t)M->rows *(size_t)M->rows);
        if (!mass->L) {
            return PERP_ERR_MEMORY;
        }
        pp_matrix_to_dense(M, mass->L, M->rows);
        if (pp_chol_factor(M->rows, mass->L, M->rows, 0.0) != 0) {
            return PERP_ERR_SINGULAR;
        }
        *out = mass;
        return PERP_OK;
    }
    mass->lu = pp_sparse_lu_create(M->rows, M->p, M->i);
    perp_status status = mass->lu ? pp_sparse_lu_factor(mass->lu, M->x) : PERP_ERR_MEMORY;
    if (status < 0) {
        pp_sparse_lu_destroy(mass->lu);
        return status;
    }
    *out = mass;
    return PERP_OK;
}

void pp_mass_destroy(pp_mass *mass)
{
    if (mass) {
        pp_sparse_lu_destroy(mass->lu);
    }
}

perp_status pp_mass_solve(const pp_mass *mass, double *x)
{
    if (mass->lu) {
        return pp_sparse_lu_solve(mass->lu, x);
    }
    pp_chol_solve(mass->n, mass->L, mass->n, x);
    return pp_all_finite((size_t)mass->n, x) ? PERP_OK : PERP_ERR_SINGULAR;
}

perp_status pp_fcp_velocity(const perp_fcp *fcp, const pp_mass *mass, const double *r, double *v)
{
    memcpy(v, fcp->f, (size_t)fcp->nv * sizeof *v);
    pp_matrix_mul(&fcp->H, 1.0, r, v);
    return pp_mass_solve(mass, v);
}

// A growing list of CSC columns.
typedef struct columns {
    int *p, *i;
    double *x;
    size_t capacity;
} columns;

static bool grow(columns *c, pp_arena *arena, size_t used, size_t more)
{
    if (used + more <= c->capacity) {
        return true;
    }
    size_t capacity = 2 * (used + more);
    int *i = PP_ARRAY(arena, int, capacity);
    double *x = PP_ARRAY(arena, double, capacity);
    if (!i || !x) {
        return false;
    }
    if (used) {
        memcpy(i, c->i, used * sizeof *i);
        memcpy(x, c->x, used * sizeof *x);
    }
    c->i = i;
    c->x = x;
    c->capacity = capacity;
    return true;
}

// One column of W = H' (M^-1 h), h a column of H scattered into the dense y.
static perp_status condensed_column(const perp_matrix *H, const pp_mass *mass, int j, double *y,
                                    double *Wj)
{
    memset(y, 0, (size_t)H->rows * sizeof *y);
    memset(Wj, 0, (size_t)H->cols * sizeof *Wj);
    for (int k = H->p[j]; k < H->p[j + 1]; k++) {
        y[H->i[k]] = H->x[k];
    }
    perp_status status = pp_mass_solve(mass, y);
    pp_matrix_mul_t(H, 1.0, y, Wj);
    return status;
}

perp_status pp_fcp_condense(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                            perp_fcp *local)
{
    int n = fcp->nc * fcp->dim;
    perp_matrix H;
    perp_status status = pp_matrix_to_csc(&fcp->H, arena, &H);
    double *y = PP_ARRAY(arena, double, fcp->nv);
    double *Wj = PP_ARRAY(arena, double, n);
    double *q = PP_ARRAY(arena, double, n);
    columns W = {.p = PP_ARRAY(arena, int, n + 1)};
    size_t used = 0;
    if (status < 0 || !y || !Wj || !q || !W.p) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        W.p[j] = (int)used;
        status = condensed_column(&H, mass, j, y, Wj);
        if (status < 0 || !grow(&W, arena, used, (size_t)n) || used > INT32_MAX / 2) {
            return status < 0 ? status : PERP_ERR_MEMORY;
        }
        for (int i = 0; i < n; i++) {
            if (Wj[i] != 0.0) {
                W.i[used] = i;
                W.x[used++] = Wj[i];
            }
        }
    }
    W.p[n] = (int)used;

    memcpy(y, fcp->f, (size_t)fcp->nv * sizeof *y);  // q = H' M^-1 f + w
    status = pp_mass_solve(mass, y);
    memcpy(q, fcp->w, (size_t)n * sizeof *q);
    pp_matrix_mul_t(&H, 1.0, y, q);
    *local = *fcp;
    local->nv = 0;
    local->W = perp_matrix_csc(n, n, W.p, W.i, W.x);
    local->q = q;
    local->M = local->H = (perp_matrix){0};
    local->f = local->w = NULL;
    return status;
}
