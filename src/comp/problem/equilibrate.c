// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equilibration after Curtis and Reid (1972): units in which log2|A_ij| + row_i + col_j is least in
// squares over the non-zero entries, rounded to whole powers of two. The normal equations are
// solved by alternating averages.
//
// Factors are positive, so that P-matrices stay P-matrices and signs and bounds keep their meaning.
// A matrix that is symmetric up to signs gets the same factors for rows and columns, a congruence,
// and stays monotone or copositive. All components of a contact share their factors, so that the
// cone stays the same. Cost: SWEEPS passes over the entries, twice.
#include "comp/problem/equilibrate.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 30 };  // of alternating averages

// Range of the factors [powers of two] from which it is worth solving again.
static const double MATTERS = 10.0;

// The factors of the rows and columns of blocks, as exponents of two.
typedef struct contact_units {
    const perp_matrix *A;
    int size, n;          // of a block, and how many
    double *row, *col;    // n: exponents
    double *sum, *count;  // n: scratch of an average
} contact_units;

// Each row exponent (or column exponent) for given others: minus the mean of log2|A_ij| + other.
static void average(contact_units *b, bool rows)
{
    const perp_matrix *A = b->A;
    double *to = rows ? b->row : b->col;
    const double *other = rows ? b->col : b->row;
    memset(b->sum, 0, (size_t)b->n * sizeof *b->sum);
    memset(b->count, 0, (size_t)b->n * sizeof *b->count);
    for (int j = 0; j < A->cols; j++) {
        int first = A->dense ? 0 : A->p[j], last = A->dense ? A->rows : A->p[j + 1];
        const double *x = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
        // zeros have no size and do not count
        for (int k = first; k < last; k++) {
            int i = (A->dense ? k : A->i[k]) / b->size, at = j / b->size;
            if (x[k] != 0.0) {
                b->sum[rows ? i : at] -= pp_log2(fabs(x[k])) + other[rows ? at : i];
                b->count[rows ? i : at] += 1.0;
            }
        }
    }
    for (int i = 0; i < b->n; i++) {
        to[i] = b->count[i] > 0.0 ? b->sum[i] / b->count[i] : 0.0;
    }
}

// Whether |A| = |A'| up to rounding.
static bool has_symmetric_sizes(const perp_matrix *A)
{
    for (int j = 0; j < A->cols; j++) {
        int first = A->dense ? 0 : A->p[j], last = A->dense ? A->rows : A->p[j + 1];
        const double *x = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
        for (int k = first; k < last; k++) {
            int i = A->dense ? k : A->i[k];
            double other = fabs(pp_matrix_at(A, j, i)), own = fabs(x[k]);
            // data from files are symmetric to some six digits only
            if (fabs(own - other) > 1e-6 * fmax(own, other)) {
                return false;
            }
        }
    }
    return true;
}

// The exponents for blocks of the given size. False: no memory.
static bool find_units(const perp_matrix *A, int size, pp_arena *arena, contact_units *b)
{
    int n = A->rows / size;
    double *all = PP_ZEROS(arena, double, 4 * (size_t)n);
    *b = (contact_units){A, size, n, all, NULL, NULL, NULL};
    if (!all) {
        return false;
    }
    b->col = all + n;
    b->sum = b->col + n;
    b->count = b->sum + n;
    // Gauss–Seidel on the normal equations: rows for given columns, then columns for given rows
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        average(b, true);
        average(b, false);
    }
    // a congruence for symmetric matrices, then whole powers of two
    bool symmetric = has_symmetric_sizes(A);
    for (int i = 0; i < n; i++) {
        double both = 0.5 * (b->row[i] + b->col[i]);
        b->row[i] = round(symmetric ? both : b->row[i]);
        b->col[i] = round(symmetric ? both : b->col[i]);
    }
    return true;
}

// Whether the row factors or the column factors span more than MATTERS. A factor common to all
// rows, and undone in all columns, does not count.
static bool matters(const contact_units *b)
{
    double least[2] = {PP_INF, PP_INF}, most[2] = {-PP_INF, -PP_INF};
    for (int i = 0; i < b->n; i++) {
        // [0]: rows, [1]: columns
        least[0] = fmin(least[0], b->row[i]);
        most[0] = fmax(most[0], b->row[i]);
        least[1] = fmin(least[1], b->col[i]);
        most[1] = fmax(most[1], b->col[i]);
    }
    return most[0] - least[0] > MATTERS || most[1] - least[1] > MATTERS;
}

// diag(row) A diag(col), on the pattern of A. False: no memory.
static bool scale_rows_and_columns(const perp_matrix *A, const double *row, const double *col,
                                   pp_arena *arena, perp_matrix *out)
{
    size_t entries = pp_matrix_entries(A);
    double *to = PP_ARRAY(arena, double, entries);
    if (!to) {
        return false;
    }
    for (int j = 0; j < A->cols; j++) {
        int first = A->dense ? 0 : A->p[j], last = A->dense ? A->rows : A->p[j + 1];
        // column starts of a dense matrix; sparse ones have them in p
        size_t shift = A->dense ? (size_t)j * (size_t)A->rows : 0;
        const double *x = A->dense ? A->dense : A->x;
        for (int k = first; k < last; k++) {
            to[shift + (size_t)k] = x[shift + (size_t)k] * row[A->dense ? k : A->i[k]] * col[j];
        }
    }
    *out = A->dense ? perp_matrix_dense(A->rows, A->cols, to)
                    : perp_matrix_csc(A->rows, A->cols, A->p, A->i, to);
    return true;
}

// x times the factors, or divided by them; NULL: no memory.
static const double *scale_vector(const double *x, int n, const double *factor, bool over,
                                  pp_arena *arena)
{
    double *to = PP_ARRAY(arena, double, n);
    if (!to) {
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        to[i] = over ? x[i] / factor[i] : x[i] * factor[i];
    }
    return to;
}

// The factors of all components from the exponents of their blocks. False: no memory.
static bool all_units(const contact_units *b, pp_arena *arena, pp_units *units)
{
    int n = b->n * b->size;
    units->row = PP_ARRAY(arena, double, n);
    units->col = PP_ARRAY(arena, double, n);
    if (!units->row || !units->col) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        units->row[i] = pp_exp2(b->row[i / b->size]);
        units->col[i] = pp_exp2(b->col[i / b->size]);
    }
    return true;
}

// A' = R A C, b' = R b, bounds over C; the pattern is shared with the caller's A.
perp_status pp_mcp_equilibrate(const perp_mcp *mcp, pp_arena *arena, perp_mcp *out, pp_units *units,
                               bool *helps)
{
    int n = mcp->n;
    contact_units b;
    *helps = false;
    if (!find_units(&mcp->A, 1, arena, &b) || !all_units(&b, arena, units)) {
        return PERP_ERR_MEMORY;
    }
    *helps = matters(&b);
    *out = (perp_mcp){.n = n, .b = scale_vector(mcp->b, n, units->row, false, arena)};
    bool whole = scale_rows_and_columns(&mcp->A, units->row, units->col, arena, &out->A) && out->b;
    if (mcp->lower) {
        out->lower = scale_vector(mcp->lower, n, units->col, true, arena);
    }
    if (mcp->upper) {
        out->upper = scale_vector(mcp->upper, n, units->col, true, arena);
    }
    whole = whole && (out->lower || !mcp->lower) && (out->upper || !mcp->upper);
    return whole ? PERP_OK : PERP_ERR_MEMORY;
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Units of the global form: velocities in which diag M is about 1, then one factor for each contact
// in which the largest entry of its columns of H is about 1. False: no memory.
static bool body_units(const perp_fcp *fcp, pp_arena *arena, pp_units *units, bool *helps)
{
    const perp_matrix *H = &fcp->H;
    int n = fcp->nc * fcp->dim, nv = fcp->nv;
    double least = PP_INF, most = 0.0;
    units->row = PP_ARRAY(arena, double, n);
    units->body = PP_ARRAY(arena, double, nv);
    units->col = units->row;
    if (!units->row || !units->body) {
        return false;
    }
    for (int k = 0; k < nv; k++) {
        // M' = D M D with D = 2^round(-log2(M_kk) / 2)
        units->body[k] = pp_exp2(round(-0.5 * pp_log2(pp_matrix_at(&fcp->M, k, k))));
        least = fmin(least, units->body[k]);
        most = fmax(most, units->body[k]);
    }
    *helps = most / least > pp_exp2(MATTERS);
    least = PP_INF, most = 0.0;
    for (int c = 0; c < fcp->nc; c++) {
        // after the scaling of the velocities
        double largest = 0.0;
        for (int j = c * fcp->dim; j < (c + 1) * fcp->dim; j++) {
            int first = H->dense ? 0 : H->p[j], last = H->dense ? H->rows : H->p[j + 1];
            const double *x = H->dense ? H->dense + (size_t)j * (size_t)H->rows : H->x;
            for (int k = first; k < last; k++) {
                largest = fmax(largest, fabs(x[k]) * units->body[H->dense ? k : H->i[k]]);
            }
        }
        // one factor for all components of a contact: the cone stays the same
        double unit = largest > 0.0 ? pp_exp2(round(-pp_log2(largest))) : 1.0;
        for (int j = c * fcp->dim; j < (c + 1) * fcp->dim; j++) {
            units->row[j] = unit;
        }
        least = fmin(least, unit);
        most = fmax(most, unit);
    }
    *helps = *helps || most / least > pp_exp2(MATTERS);
    return true;
}

// Local: W' = R W C, q' = R q with the same factor for all components of a
// contact. Global: M' = D M D, H' = D H R, f' = D f, w' = R w. The coefficients of
// friction stay, since r_n and r_t share a unit.
perp_status pp_fcp_equilibrate(const perp_fcp *fcp, pp_arena *arena, perp_fcp *out, pp_units *units,
                               bool *helps)
{
    int n = fcp->nc * fcp->dim, nv = fcp->nv;
    contact_units b;
    *out = *fcp;
    *helps = false;
    bool whole = false;
    if (nv > 0) {
        whole = body_units(fcp, arena, units, helps);
        whole = whole && scale_rows_and_columns(&fcp->M, units->body, units->body, arena, &out->M);
        whole = whole && scale_rows_and_columns(&fcp->H, units->body, units->row, arena, &out->H);
        out->f = whole ? scale_vector(fcp->f, nv, units->body, false, arena) : NULL;
        out->w = whole ? scale_vector(fcp->w, n, units->row, false, arena) : NULL;
        return out->f && out->w ? PERP_OK : PERP_ERR_MEMORY;
    }
    // local form: one block for each contact
    units->body = NULL;
    whole = find_units(&fcp->W, fcp->dim, arena, &b) && all_units(&b, arena, units);
    *helps = whole && matters(&b);
    whole = whole && scale_rows_and_columns(&fcp->W, units->row, units->col, arena, &out->W);
    out->q = whole ? scale_vector(fcp->q, n, units->row, false, arena) : NULL;
    return out->q ? PERP_OK : PERP_ERR_MEMORY;
}
