// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of a well-posed problem: sizes, finite numbers, ordered indices, bounds, coefficients.
// Each violation ends in a sentence that names the object. Cost: one pass over the data.
#include "comp/comp.h"

#include <limits.h>
#include <math.h>

perp_mcp perp_mcp_from_lcp(int n, perp_matrix A, const double *b)
{
    return (perp_mcp){.n = n, .A = A, .b = b};
}

// Where the sentence goes.
typedef struct checker {
    char *reason;
    size_t size;
} checker;

#define BAD(c, ...) (pp_print((c)->reason, (c)->size, __VA_ARGS__), PERP_ERR_ARGUMENT)

// CSC arrays: starts from 0 and ascending, rows ascending in each column, values finite.
static perp_status check_columns(const perp_matrix *A, const char *name, const checker *c)
{
    if (A->cols == 0) {
        return PERP_OK;
    }
    if (!A->p || A->p[0] != 0) {
        return BAD(c, "matrix %s: column starts are missing or do not start at 0", name);
    }
    // all starts are checked before any row is read
    for (int j = 0; j < A->cols; j++) {
        if (A->p[j + 1] < A->p[j]) {
            return BAD(c, "matrix %s: column %d ends before it starts", name, j);
        }
    }
    if (A->p[A->cols] > 0 && (!A->i || !A->x)) {
        return BAD(c, "matrix %s: rows or values are missing", name);
    }
    for (int j = 0; j < A->cols; j++) {
        int last = -1;
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            if (A->i[k] <= last || A->i[k] >= A->rows) {
                return BAD(c, "matrix %s: row %d in column %d is out of order or out of range",
                           name, A->i[k], j);
            }
            last = A->i[k];
            if (!isfinite(A->x[k])) {
                return BAD(c, "matrix %s: entry (%d, %d) is not finite", name, A->i[k], j);
            }
        }
    }
    return PERP_OK;
}

// Sizes, and finite values; the fast check decides, and only a failure looks for the entry to name.
static perp_status check_matrix(const perp_matrix *A, int rows, int cols, const char *name,
                                const checker *c)
{
    if (A->rows != rows || A->cols != cols) {
        return BAD(c, "matrix %s is %d x %d, expected %d x %d", name, A->rows, A->cols, rows, cols);
    }
    if (!A->dense) {
        return check_columns(A, name, c);
    }
    size_t entries = (size_t)rows * (size_t)cols;
    if (pp_all_finite(entries, A->dense)) {
        return PERP_OK;
    }
    for (size_t k = 0; k < entries; k++) {
        if (!isfinite(A->dense[k])) {
            return BAD(c, "matrix %s: entry (%zu, %zu) is not finite", name, k % (size_t)rows,
                       k / (size_t)rows);
        }
    }
    return PERP_OK;
}

// Present, unless it is empty, and finite.
static perp_status check_vector(const double *x, int n, const char *name, const checker *c)
{
    if (!x && n > 0) {
        return BAD(c, "vector %s is missing", name);
    }
    for (int k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            return BAD(c, "vector %s: entry %d is not finite", name, k);
        }
    }
    return PERP_OK;
}

// l <= u, with a finite number between: !(lower <= upper) also catches NaN.
static perp_status check_bounds(const perp_mcp *mcp, const checker *c)
{
    for (int i = 0; i < mcp->n; i++) {
        double lower = pp_mcp_lower(mcp, i), upper = pp_mcp_upper(mcp, i);
        if (!(lower <= upper)) {
            return BAD(c, "bounds of variable %d: lower %g is not below upper %g", i, lower, upper);
        }
        if (lower == PP_INF || upper == -PP_INF) {
            return BAD(c, "bounds of variable %d contain no number", i);
        }
    }
    return PERP_OK;
}

perp_status pp_mcp_check(const perp_mcp *mcp, char *reason, size_t size)
{
    checker c = {reason, size};
    if (!mcp || mcp->n < 0) {
        return BAD(&c, "the problem is missing, or has a negative number of variables");
    }
    // sizes before contents: later checks read what earlier ones have vouched for
    perp_status status = check_matrix(&mcp->A, mcp->n, mcp->n, "A", &c);
    if (status >= 0) {
        status = check_vector(mcp->b, mcp->n, "b", &c);
    }
    if (status >= 0) {
        status = check_bounds(mcp, &c);
    }
    return status;
}

// Coefficients of friction: one a contact, finite, not negative.
static perp_status check_coefficients(const double *mu, int nc, const char *name, const checker *c)
{
    perp_status status = check_vector(mu, nc, name, c);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < nc; k++) {
        if (mu[k] < 0.0) {
            return BAD(c, "%s of contact %d is negative (%g)", name, k, mu[k]);
        }
    }
    return PERP_OK;
}

// Coefficients of every group that the dimension has, and polygons.
static perp_status check_laws(const perp_fcp *fcp, const checker *c)
{
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    for (int g = 0; g < groups; g++) {
        const char *name = group[g].size == 1 ? "mu_spin" : "mu_roll";
        if (g == 0) {
            name = "mu";
        }
        perp_status status = check_coefficients(group[g].mu, fcp->nc, name, c);
        if (status < 0) {
            return status;
        }
    }
    if (!fcp->nd) {
        return PERP_OK;
    }
    for (int k = 0; k < fcp->nc; k++) {
        if (fcp->nd[k] < 0 || (fcp->nd[k] > 0 && fcp->nd[k] < 3) || fcp->nd[k] > 4096) {
            return BAD(c, "nd of contact %d is %d: a friction polygon has 3 to 4096 sides", k,
                       fcp->nd[k]);
        }
    }
    return PERP_OK;
}

perp_status pp_fcp_check(const perp_fcp *fcp, char *reason, size_t size)
{
    checker c = {reason, size};
    if (!fcp || fcp->nc < 0) {
        return BAD(&c, "the problem is missing, or has a negative number of contacts");
    }
    if (fcp->dim < 2 || fcp->dim > 6) {
        return BAD(&c, "a contact has 2 to 6 components, not %d", fcp->dim);
    }
    if (fcp->nc > INT_MAX / fcp->dim || fcp->nv < 0) {
        return BAD(&c, "the size of the problem is out of range");
    }
    // from here on n = nc dim does not overflow
    int n = fcp->nc * fcp->dim;
    perp_status status = check_laws(fcp, &c);
    if (status < 0) {
        return status;
    }
    if (fcp->nv == 0) {  // local form
        status = check_matrix(&fcp->W, n, n, "W", &c);
        if (status >= 0) {
            status = check_vector(fcp->q, n, "q", &c);
        }
        return status;
    }
    status = check_matrix(&fcp->M, fcp->nv, fcp->nv, "M", &c);
    if (status >= 0) {
        status = check_matrix(&fcp->H, fcp->nv, n, "H", &c);
    }
    if (status >= 0) {
        status = check_vector(fcp->f, fcp->nv, "f", &c);
    }
    if (status >= 0) {
        status = check_vector(fcp->w, n, "w", &c);
    }
    return status;
}

void pp_mcp_basis_of(const perp_mcp *mcp, const double *z, int8_t *basis)
{
    for (int i = 0; i < mcp->n; i++) {
        if (z[i] <= pp_mcp_lower(mcp, i)) {
            basis[i] = PERP_BASIS_LOWER;
        } else if (z[i] >= pp_mcp_upper(mcp, i)) {
            basis[i] = PERP_BASIS_UPPER;
        } else {
            basis[i] = PERP_BASIS_BASIC;
        }
    }
}

unsigned pp_mcp_classes(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        if (pp_mcp_lower(mcp, i) != 0.0 || pp_mcp_upper(mcp, i) != PP_INF) {
            return PERP_CLASS_MCP;
        }
    }
    return PERP_CLASS_LCP;
}

unsigned pp_fcp_classes(const perp_fcp *fcp)
{
    unsigned classes = fcp->nv > 0 ? PERP_CLASS_FCP_GLOBAL : PERP_CLASS_FCP_LOCAL;
    if (fcp->dim > 3) {
        classes |= PERP_CLASS_FCP_ROLLING;
    }
    if (!fcp->nd || fcp->dim == 2) {
        return classes;  // in the plane intervals are polygons and discs at once
    }
    for (int k = 0; k < fcp->nc; k++) {
        if (fcp->nd[k] > 0) {
            return classes | PERP_CLASS_FCP_PYRAMID;
        }
    }
    return classes;
}
