// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Writer of perp's JSON form. Numbers have 17 digits, so that reading gives the same bits.
// Matrices are written as they are stored, dense or sparse, and stay so when they are read again.
#include "format/format.h"

#include <math.h>
#include <stdio.h>

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

// Infinite numbers are strings, since JSON has none.
static void put_number(FILE *out, double x)
{
    char text[40];
    pp_number_print(text, sizeof text, x);
    if (x == 0.0) {
        // "-0" would be read as an integer, which has no sign
        fputs(signbit(x) ? "-0.0" : "0", out);
    } else {
        fprintf(out, isinf(x) ? "\"%s\"" : "%s", text);
    }
}

// Quotes, backslashes and control characters are escaped; other bytes are UTF-8 already.
static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < ' ') {
            fprintf(out, "\\u%04x", c);
        } else {
            putc(c, out);
        }
    }
    putc('"', out);
}

// A vector that the problem does not have is left out.
static void put_vector(FILE *out, const char *key, int n, const double *x)
{
    if (!x) {
        return;
    }
    fprintf(out, ",\n \"%s\": [", key);
    for (int k = 0; k < n; k++) {
        fputs(k > 0 ? ", " : "", out);
        put_number(out, x[k]);
    }
    putc(']', out);
}

// Matrices are stored by columns, and written by rows.
static void put_dense(FILE *out, const perp_matrix *A)
{
    fputs("\"dense\": [", out);
    for (int i = 0; i < A->rows; i++) {
        fputs(i > 0 ? ",\n  [" : "\n  [", out);
        for (int j = 0; j < A->cols; j++) {
            fputs(j > 0 ? ", " : "", out);
            put_number(out, A->dense[(size_t)i + (size_t)j * (size_t)A->rows]);
        }
        putc(']', out);
    }
    putc(']', out);
}

// Entries by columns, as they are stored.
static void put_entries(FILE *out, const perp_matrix *A)
{
    fputs("\"entries\": [", out);
    const char *comma = "\n  ";
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            fprintf(out, "%s[%d, %d, ", comma, A->i[k], j);
            put_number(out, A->x[k]);
            putc(']', out);
            comma = ",\n  ";
        }
    }
    putc(']', out);
}

// "dense" or "entries", as the matrix is stored.
static void put_matrix(FILE *out, const char *key, const perp_matrix *A)
{
    fprintf(out, ",\n \"%s\": {\"rows\": %d, \"cols\": %d, ", key, A->rows, A->cols);
    if (A->dense) {
        put_dense(out, A);
    } else {
        put_entries(out, A);
    }
    putc('}', out);
}

// The version of the form is 1.
static void put_head(FILE *out, const char *name, const char *kind)
{
    fputs("{\"perp_problem\": 1,\n \"name\": ", out);
    put_string(out, name ? name : "");
    fprintf(out, ",\n \"kind\": \"%s\"", kind);
}

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────

// The narrowest kind that holds the bounds: none is an LCP, 0 or free below and none above an MLCP.
static const char *mcp_kind(const perp_mcp *mcp)
{
    if (!mcp->lower && !mcp->upper) {
        return "lcp";
    }
    for (int i = 0; i < mcp->n; i++) {
        double low = mcp->lower ? mcp->lower[i] : 0.0;
        double high = mcp->upper ? mcp->upper[i] : PP_INF;
        if (high < PP_INF || (low != 0.0 && low > -PP_INF)) {
            return "boxlcp";
        }
    }
    return "mlcp";
}

// pp_put of an MCP, which takes any pointer.
static void put_mcp(FILE *out, const char *name, const void *problem)
{
    const perp_mcp *mcp = problem;
    put_head(out, name, mcp_kind(mcp));
    fprintf(out, ",\n \"n\": %d", mcp->n);
    put_matrix(out, "A", &mcp->A);
    put_vector(out, "b", mcp->n, mcp->b);
    put_vector(out, "lower", mcp->n, mcp->lower);
    put_vector(out, "upper", mcp->n, mcp->upper);
    fputs("}\n", out);
}

// Only for contacts with polygons.
static void put_facets(FILE *out, int nc, const int *nd)
{
    fputs(",\n \"nd\": [", out);
    for (int c = 0; c < nc; c++) {
        fprintf(out, "%s%d", c > 0 ? ", " : "", nd[c]);
    }
    putc(']', out);
}

// Rolling needs no kind of its own, since dim shows it. nv > 0 is the global form.
static void put_fcp(FILE *out, const char *name, const void *problem)
{
    const perp_fcp *fcp = problem;
    int n = fcp->nc * fcp->dim;
    put_head(out, name, fcp->nv > 0 ? "gfc" : "fc");
    fprintf(out, ",\n \"dim\": %d,\n \"contacts\": %d", fcp->dim, fcp->nc);
    put_vector(out, "mu", fcp->nc, fcp->mu);
    put_vector(out, "mu_spin", fcp->nc, fcp->mu_spin);
    put_vector(out, "mu_roll", fcp->nc, fcp->mu_roll);
    if (fcp->nd) {
        put_facets(out, fcp->nc, fcp->nd);
    }
    if (fcp->nv > 0) {
        put_matrix(out, "M", &fcp->M);
        put_matrix(out, "H", &fcp->H);
        put_vector(out, "f", fcp->nv, fcp->f);
        put_vector(out, "w", n, fcp->w);
    } else {
        put_matrix(out, "W", &fcp->W);
        put_vector(out, "q", n, fcp->q);
    }
    fputs("}\n", out);
}

// ── Checks: what JSON cannot hold is refused before a file is made ───────────────────────────────

// NULL is a vector that the problem does not have.
static bool all_numbers(size_t n, const double *x)
{
    if (!x) {
        return true;
    }
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

// Bounds may be infinite.
static bool all_bounds(int n, const double *x)
{
    if (!x) {
        return true;
    }
    for (int k = 0; k < n; k++) {
        if (isnan(x[k])) {
            return false;
        }
    }
    return true;
}

// A matrix that is not used has neither storage.
static bool matrix_numbers(const perp_matrix *A)
{
    if (A->dense) {
        return all_numbers((size_t)A->rows * (size_t)A->cols, A->dense);
    }
    return !A->p || all_numbers((size_t)A->p[A->cols], A->x);
}

static bool mcp_numbers(const perp_mcp *mcp)
{
    return matrix_numbers(&mcp->A) && all_numbers((size_t)mcp->n, mcp->b) &&
           all_bounds(mcp->n, mcp->lower) && all_bounds(mcp->n, mcp->upper);
}

// Local problems have W and q, global ones M, H, f and w.
static bool fcp_numbers(const perp_fcp *fcp)
{
    size_t nc = (size_t)fcp->nc, n = nc * (size_t)fcp->dim, nv = (size_t)fcp->nv;
    bool coefficients =
        all_numbers(nc, fcp->mu) && all_numbers(nc, fcp->mu_spin) && all_numbers(nc, fcp->mu_roll);
    if (nv == 0) {
        return coefficients && matrix_numbers(&fcp->W) && all_numbers(n, fcp->q);
    }
    return coefficients && matrix_numbers(&fcp->M) && matrix_numbers(&fcp->H) &&
           all_numbers(nv, fcp->f) && all_numbers(n, fcp->w);
}

static perp_status not_numbers(perp_error *error)
{
    return pp_fail(error, PERP_ERR_NUMERIC,
                   "the problem contains non-finite numbers: no file is written");
}

// Nothing is written unless all of it can be: a file is complete, or as it was.
perp_status perp_mcp_write(const perp_mcp *mcp, const char *name, const char *path,
                           perp_error *error)
{
    if (!mcp || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_mcp_write: NULL argument");
    }
    return mcp_numbers(mcp) ? pp_file_write(path, put_mcp, name, mcp, error) : not_numbers(error);
}

perp_status perp_fcp_write(const perp_fcp *fcp, const char *name, const char *path,
                           perp_error *error)
{
    if (!fcp || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_fcp_write: NULL argument");
    }
    return fcp_numbers(fcp) ? pp_file_write(path, put_fcp, name, fcp, error) : not_numbers(error);
}
