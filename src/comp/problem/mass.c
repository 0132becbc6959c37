// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// M^-1 of the global form, factored once. An M that is block diagonal with small blocks, as rigid
// bodies give it, is inverted block by block: a column of M^-1 H costs no more than the bodies it
// touches. Other sparse matrices are factored by KLU, dense ones by Cholesky.
#include "comp/comp.h"

#include <math.h>
#include <string.h>

enum { BLOCK_MOST = 12 };  // largest block that is inverted: the velocities of two spatial bodies

// One of L, lu and blocks is in use.
struct pp_mass {
    int n;
    double *L;         // dense Cholesky factor
    pp_sparse_lu *lu;  // sparse LU
    int blocks;        // independent blocks, 0: L or lu
    int *first, *dof;  // blocks + 1 starts; n velocities, block by block
    int *block;        // n: block of a velocity
    int *at;           // blocks: start of its inverse
    double *inverse;   // dense, column-major
};

// The representative of i in the union–find forest, with path halving.
static int find_root(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The connected components of the pattern of M, numbered by their first velocity, and the velocities of
// each, ascending. False: no memory.
static bool split_blocks(const perp_matrix *M, pp_arena *arena, pp_mass *mass)
{
    int n = M->rows, *parent = PP_ARRAY(arena, int, n), *next = PP_ARRAY(arena, int, n + 1);
    mass->block = PP_ARRAY(arena, int, n);
    mass->first = PP_ZEROS(arena, int, n + 1);
    mass->dof = PP_ARRAY(arena, int, n);
    if (!parent || !next || !mass->block || !mass->first || !mass->dof) {
        return false;
    }
    // union–find over the entries, the smaller index as representative
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (int j = 0; j < n; j++) {
        for (int k = M->p[j]; k < M->p[j + 1]; k++) {
            int a = find_root(parent, j), b = find_root(parent, M->i[k]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int i = 0; i < n; i++) {
        int root = find_root(parent, i);
        mass->block[i] = root == i ? mass->blocks++ : mass->block[root];
        mass->first[mass->block[i] + 1]++;
    }
    for (int b = 0; b < mass->blocks; b++) {
        mass->first[b + 1] += mass->first[b];
        next[b] = mass->first[b];
    }
    for (int i = 0; i < n; i++) {
        mass->dof[next[mass->block[i]]++] = i;
    }
    return true;
}

// Whether every block is small enough to be inverted.
static bool blocks_are_small(const pp_mass *mass)
{
    for (int b = 0; b < mass->blocks; b++) {
        if (mass->first[b + 1] - mass->first[b] > BLOCK_MOST) {
            return false;
        }
    }
    return true;
}

// The inverse of block b.
static perp_status invert_body(const perp_matrix *M, const pp_mass *mass, int b)
{
    int size = mass->first[b + 1] - mass->first[b];
    const int *dof = mass->dof + mass->first[b];
    double LU[BLOCK_MOST * BLOCK_MOST], *X = mass->inverse + mass->at[b];
    int pivot[BLOCK_MOST];
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            LU[i + j * size] = pp_matrix_at(M, dof[i], dof[j]);
            X[i + j * size] = i == j ? 1.0 : 0.0;
        }
    }
    // LU and not Cholesky: files with M printed to six digits are not exactly symmetric
    if (pp_lu_factor(size, LU, size, pivot, 0.0) != 0) {
        return PERP_ERR_SINGULAR;
    }
    for (int j = 0; j < size; j++) {
        pp_lu_solve(size, LU, size, pivot, X + (size_t)j * (size_t)size);
    }
    return PERP_OK;
}

// The inverses of all blocks, one after another in one array.
static perp_status invert_blocks(const perp_matrix *M, pp_arena *arena, pp_mass *mass)
{
    size_t total = 0;
    mass->at = PP_ARRAY(arena, int, mass->blocks);
    if (!mass->at) {
        return PERP_ERR_MEMORY;
    }
    for (int b = 0; b < mass->blocks; b++) {
        size_t size = (size_t)(mass->first[b + 1] - mass->first[b]);
        mass->at[b] = (int)total;
        total += size * size;
    }
    mass->inverse = PP_ARRAY(arena, double, total);
    if (!mass->inverse || total > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    for (int b = 0; b < mass->blocks; b++) {
        perp_status status = invert_body(M, mass, b);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Dense M, symmetric and positive definite by the caller's word; a failure means it is not.
static perp_status factor_cholesky(const perp_matrix *M, pp_arena *arena, pp_mass *mass)
{
    mass->L = PP_ARRAY(arena, double, (size_t)M->rows *(size_t)M->rows);
    if (!mass->L) {
        return PERP_ERR_MEMORY;
    }
    pp_matrix_to_dense(M, mass->L, M->rows);
    return pp_chol_factor(M->rows, mass->L, M->rows, 0.0) == 0 ? PERP_OK : PERP_ERR_SINGULAR;
}

// Sparse M that does not fall into small blocks.
static perp_status factor_klu(const perp_matrix *M, pp_mass *mass)
{
    mass->lu = pp_sparse_lu_create(M->rows, M->p, M->i);
    return mass->lu ? pp_sparse_lu_factor(mass->lu, M->x) : PERP_ERR_MEMORY;
}

perp_status pp_mass_create(const perp_matrix *M, pp_arena *arena, pp_mass **out)
{
    pp_mass *mass = PP_ZEROS(arena, pp_mass, 1);
    *out = NULL;
    if (!mass) {
        return PERP_ERR_MEMORY;
    }
    mass->n = M->rows;
    perp_matrix sparse;
    perp_status status = pp_matrix_to_csc(M, arena, &sparse);
    if (status >= 0 && !split_blocks(&sparse, arena, mass)) {
        status = PERP_ERR_MEMORY;
    }
    // rigid bodies: inverses of small blocks; otherwise one factorisation
    if (status >= 0 && blocks_are_small(mass)) {
        status = invert_blocks(&sparse, arena, mass);
    } else if (status >= 0) {
        mass->blocks = 0;
        status = M->dense ? factor_cholesky(M, arena, mass) : factor_klu(M, mass);
    }
    if (status < 0) {
        pp_sparse_lu_destroy(mass->lu);
        return status;
    }
    *out = mass;
    return PERP_OK;
}

// Everything but the factors of KLU is in the arena.
void pp_mass_destroy(pp_mass *mass)
{
    if (mass) {
        pp_sparse_lu_destroy(mass->lu);
    }
}

// x = M_b^-1 x on the velocities of block b.
static void solve_body(const pp_mass *mass, int b, double *x)
{
    int size = mass->first[b + 1] - mass->first[b];
    const int *dof = mass->dof + mass->first[b];
    const double *X = mass->inverse + mass->at[b];
    double y[BLOCK_MOST] = {0.0};
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            y[i] += X[i + j * size] * x[dof[j]];
        }
    }
    for (int i = 0; i < size; i++) {
        x[dof[i]] = y[i];
    }
}

perp_status pp_mass_solve(const pp_mass *mass, double *x)
{
    if (mass->lu) {
        return pp_sparse_lu_solve(mass->lu, x);
    }
    if (mass->L) {
        pp_chol_solve(mass->n, mass->L, mass->n, x);
    }
    for (int b = 0; b < mass->blocks; b++) {
        solve_body(mass, b, x);
    }
    return pp_all_finite((size_t)mass->n, x) ? PERP_OK : PERP_ERR_SINGULAR;
}

int pp_mass_body(const pp_mass *mass, int velocity, const int **dof)
{
    if (mass->blocks == 0) {
        *dof = NULL;
        return mass->n;
    }
    int b = mass->block[velocity];
    *dof = mass->dof + mass->first[b];
    return mass->first[b + 1] - mass->first[b];
}

int pp_mass_bodies(const pp_mass *mass)
{
    return mass->blocks;
}

int pp_mass_body_at(const pp_mass *mass, int b, const int **dof, const double **inverse)
{
    *dof = mass->dof + mass->first[b];
    *inverse = mass->inverse + mass->at[b];
    return mass->first[b + 1] - mass->first[b];
}

// Whether the velocities of block b are among the first `count` of touched.
static bool is_listed(const pp_mass *mass, int b, const int *touched, int count)
{
    for (int e = 0; e < count; e++) {
        if (mass->block[touched[e]] == b) {
            return true;
        }
    }
    return false;
}

perp_status pp_mass_column(const pp_mass *mass, const perp_matrix *H, int j, double *y,
                           int *touched, int *count)
{
    *count = 0;
    for (int k = H->p[j]; k < H->p[j + 1]; k++) {
        y[H->i[k]] = H->x[k];
    }
    if (mass->blocks == 0) {
        for (int i = 0; i < mass->n; i++) {
            touched[(*count)++] = i;
        }
        return pp_mass_solve(mass, y);
    }
    // each body once, in the order of the rows; those of a contact are few
    int last = -1;
    for (int k = H->p[j]; k < H->p[j + 1]; k++) {
        int b = mass->block[H->i[k]];
        if (b == last || is_listed(mass, b, touched, *count)) {
            continue;
        }
        last = b;
        for (int e = mass->first[b]; e < mass->first[b + 1]; e++) {
            touched[(*count)++] = mass->dof[e];
        }
        solve_body(mass, b, y);
    }
    return PERP_OK;
}

perp_status pp_fcp_velocity(const perp_fcp *fcp, const pp_mass *mass, const double *r, double *v)
{
    memcpy(v, fcp->f, (size_t)fcp->nv * sizeof *v);
    pp_matrix_mul(&fcp->H, 1.0, r, v);
    return pp_mass_solve(mass, v);
}
