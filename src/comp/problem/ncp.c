// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear MCPs: the rules of a well-posed one, and F and J through its callbacks.
//
// Without a callback J is made of forward differences,
//
//   J_ij = (F_i(z + h) - F_i(z)) / h_j,   |h_j| = sqrt(eps) max(|z_j|, size_j)                theory (N5)
//
// where h moves all columns of one colour at once: no two of them have an entry in the same row (Curtis, Powell, Reid
// 1974). Cost: as many evaluations of F as colours, n for a dense J.
#include "comp/problem/ncp.h"

#include <math.h>
#include <string.h>

// ── Rules ────────────────────────────────────────────────────────────────────────────────────────

typedef struct ncp_checker {
    char *reason;
    size_t size;
} ncp_checker;

#define BAD(c, ...) (pp_print((c)->reason, (c)->size, __VA_ARGS__), PERP_ERR_ARGUMENT)

// Both p and i, or neither; rows in order.
static perp_status check_pattern(const perp_ncp *ncp, const ncp_checker *c)
{
    if (!ncp->p) {
        return ncp->i ? BAD(c, "the Jacobian has rows i but no column starts p") : PERP_OK;
    }
    if (ncp->p[0] != 0) {
        return BAD(c, "the column starts p of the Jacobian do not start at 0");
    }
    // all starts before any row is read
    for (int j = 0; j < ncp->n; j++) {
        if (ncp->p[j + 1] < ncp->p[j]) {
            return BAD(c, "column %d of the Jacobian ends before it starts", j);
        }
    }
    if (ncp->p[ncp->n] > 0 && !ncp->i) {
        return BAD(c, "the Jacobian has column starts p but no rows i");
    }
    for (int j = 0; j < ncp->n; j++) {
        int last = -1;
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            if (ncp->i[k] <= last || ncp->i[k] >= ncp->n) {
                return BAD(c, "row %d in column %d of the Jacobian is out of order or of range",
                           ncp->i[k], j);
            }
            last = ncp->i[k];
        }
    }
    return PERP_OK;
}

// Bounds with a number between them, a finite start, positive sizes.
static perp_status check_variables(const perp_ncp *ncp, const ncp_checker *c)
{
    for (int i = 0; i < ncp->n; i++) {
        double lower = ncp->lower ? ncp->lower[i] : 0.0;
        double upper = ncp->upper ? ncp->upper[i] : PP_INF;
        // !(lower <= upper) also catches NaN
        if (!(lower <= upper) || lower == PP_INF || upper == -PP_INF) {
            return BAD(c, "bounds of variable %d: %g..%g contains no number", i, lower, upper);
        }
        if (ncp->start && !isfinite(ncp->start[i])) {
            return BAD(c, "start of variable %d is not a finite number", i);
        }
        if (ncp->typical && !(ncp->typical[i] > 0.0 && isfinite(ncp->typical[i]))) {
            return BAD(c, "typical size of variable %d: %g is not a positive number", i,
                       ncp->typical[i]);
        }
    }
    return PERP_OK;
}

perp_status pp_ncp_check(const perp_ncp *ncp, char *reason, size_t size)
{
    ncp_checker c = {reason, size};
    if (!ncp || ncp->n < 0) {
        return BAD(&c, "the problem is missing, or has a negative number of variables");
    }
    if (!ncp->function) {
        return BAD(&c, "the callback 'function' is NULL: F is not given");
    }
    perp_status status = check_variables(ncp, &c);
    if (status < 0) {
        return status;
    }
    return check_pattern(ncp, &c);
}

// ── Colours ──────────────────────────────────────────────────────────────────────────────────────

// The pattern by rows: columns of row i are column[first[i]] to column[first[i + 1] - 1].
typedef struct row_lists {
    int *first, *column;
} row_lists;

static perp_status list_rows(const perp_ncp *ncp, pp_arena *arena, row_lists *rows)
{
    int n = ncp->n, entries = ncp->p[n];
    rows->first = PP_ZEROS(arena, int, (size_t)n + 2);
    rows->column = PP_ARRAY(arena, int, entries);
    if (!rows->first || !rows->column) {
        return PERP_ERR_MEMORY;
    }
    // counted one place ahead, so that filling moves each start to its place
    for (int k = 0; k < entries; k++) {
        rows->first[ncp->i[k] + 2]++;
    }
    for (int i = 0; i < n; i++) {
        rows->first[i + 2] += rows->first[i + 1];
    }
    for (int j = 0; j < n; j++) {
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            rows->column[rows->first[ncp->i[k] + 1]++] = j;
        }
    }
    return PERP_OK;
}

// Greedy colouring: each column gets the first colour that no column in one of its rows has.
static perp_status colour_columns(pp_ncp *e, pp_arena *arena)
{
    const perp_ncp *ncp = e->ncp;
    int n = e->n;
    e->colour = PP_ARRAY(arena, int, n);
    if (!e->colour) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        e->colour[j] = ncp->p ? -1 : j;  // dense: one column each
    }
    e->colours = ncp->p ? 0 : n;
    if (!ncp->p) {
        return PERP_OK;
    }
    pp_mark mark = pp_arena_mark(arena);
    row_lists rows;
    perp_status status = list_rows(ncp, arena, &rows);
    int *taken_by = PP_ARRAY(arena, int, (size_t)n + 1);
    if (status < 0 || !taken_by) {
        return PERP_ERR_MEMORY;
    }
    memset(taken_by, 0xFF, ((size_t)n + 1) * sizeof *taken_by);  // -1: by none
    for (int j = 0; j < n; j++) {
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            int i = ncp->i[k];
            for (int m = rows.first[i]; m < rows.first[i + 1]; m++) {
                int other = e->colour[rows.column[m]];
                if (other >= 0) {
                    taken_by[other] = j;
                }
            }
        }
        int free = 0;
        while (taken_by[free] == j) {
            free++;
        }
        e->colour[j] = free;
        e->colours = free + 1 > e->colours ? free + 1 : e->colours;
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

// ── Evaluation ───────────────────────────────────────────────────────────────────────────────────

perp_status pp_ncp_open(const perp_ncp *ncp, pp_arena *arena, pp_ncp *out)
{
    size_t n = (size_t)ncp->n;
    *out = (pp_ncp){.ncp = ncp, .n = ncp->n, .fatal = PERP_OK};
    out->entries = ncp->p ? (size_t)ncp->p[ncp->n] : n * n;
    out->lower = PP_ARRAY(arena, double, n);
    out->upper = PP_ARRAY(arena, double, n);
    if (!out->lower || !out->upper) {
        return PERP_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        out->lower[i] = ncp->lower ? ncp->lower[i] : 0.0;
        out->upper[i] = ncp->upper ? ncp->upper[i] : PP_INF;
    }
    if (ncp->jacobian) {
        return PERP_OK;
    }
    out->moved = PP_ARRAY(arena, double, n);
    out->value = PP_ARRAY(arena, double, n);
    out->step = PP_ARRAY(arena, double, n);
    if (!out->moved || !out->value || !out->step) {
        return PERP_ERR_MEMORY;
    }
    return colour_columns(out, arena);
}

double pp_ncp_size(const perp_ncp *ncp, int j)
{
    if (ncp->typical) {
        return ncp->typical[j];
    }
    double start = ncp->start ? fabs(ncp->start[j]) : 0.0;
    return start > 1.0 ? start : 1.0;
}

// Remembers the failure of a callback, which ends the solve. Values that are no status of perp count as
// PERP_ERR_ARGUMENT.
static perp_status note_failure(pp_ncp *e, const char *name, perp_status status)
{
    if (status == PERP_ERR_NUMERIC) {
        return status;
    }
    int value = (int)status;
    bool known = value >= (int)PERP_ERR_STOPPED;
    e->fatal = known ? status : PERP_ERR_ARGUMENT;
    pp_print(e->reason, sizeof e->reason,
             "the callback '%s' failed with status %d (%s) in evaluation %d", name, value,
             known ? perp_status_text(status) : "not a status of perp", e->evaluations);
    return e->fatal;
}

perp_status pp_ncp_function(pp_ncp *e, const double *z, double *F)
{
    if (e->fatal < 0) {
        return e->fatal;
    }
    e->evaluations++;
    perp_status status = e->ncp->function(e->ncp->user, z, F);
    if (status < 0) {
        return note_failure(e, "function", status);
    }
    return pp_all_finite((size_t)e->n, F) ? PERP_OK : PERP_ERR_NUMERIC;
}

// The step of column j: away from the nearer bound, such that z + h is a double.
static double difference_step(const pp_ncp *e, const double *z, int j, double sign)
{
    double size = fmax(fabs(z[j]), pp_ncp_size(e->ncp, j)), h = 0x1p-26 * size * sign;
    double width = e->upper[j] - e->lower[j];
    if (width > 0.0 && fabs(h) > 0.5 * width) {
        h = copysign(0.5 * width, h);
    }
    if (z[j] + h > e->upper[j] || z[j] + h < e->lower[j]) {
        h = -h;
    }
    volatile double moved = z[j] + h;  // rounded to double on every machine
    double step = moved - z[j];
    return step != 0.0 ? step : h;
}

// F with all columns of one colour moved, in value; the steps in step.
static perp_status move_colour(pp_ncp *e, const double *z, int colour, double sign)
{
    memcpy(e->moved, z, (size_t)e->n * sizeof *z);
    for (int j = 0; j < e->n; j++) {
        if (e->colour[j] == colour) {
            e->step[j] = difference_step(e, z, j, sign);
            e->moved[j] = z[j] + e->step[j];
        }
    }
    return pp_ncp_function(e, e->moved, e->value);
}

// Forward differences. Where F is not defined on one side, the other one is tried.
static perp_status difference_jacobian(pp_ncp *e, const double *z, const double *F, double *x)
{
    const perp_ncp *ncp = e->ncp;
    for (int colour = 0; colour < e->colours; colour++) {
        perp_status status = move_colour(e, z, colour, 1.0);
        if (status == PERP_ERR_NUMERIC) {
            status = move_colour(e, z, colour, -1.0);
        }
        if (status < 0) {
            return status;
        }
        for (int j = 0; j < e->n; j++) {
            if (e->colour[j] != colour) {
                continue;
            }
            size_t first = ncp->p ? (size_t)ncp->p[j] : (size_t)j * (size_t)e->n;
            int count = ncp->p ? ncp->p[j + 1] - ncp->p[j] : e->n;
            for (int k = 0; k < count; k++) {
                int i = ncp->p ? ncp->i[first + (size_t)k] : k;
                x[first + (size_t)k] = (e->value[i] - F[i]) / e->step[j];
            }
        }
    }
    return PERP_OK;
}

perp_status pp_ncp_jacobian(pp_ncp *e, const double *z, const double *F, double *x)
{
    if (e->fatal < 0) {
        return e->fatal;
    }
    e->jacobians++;
    perp_status status;
    if (e->ncp->jacobian) {
        memset(x, 0, e->entries * sizeof *x);
        status = e->ncp->jacobian(e->ncp->user, z, x);
        if (status < 0) {
            return note_failure(e, "jacobian", status);
        }
    } else {
        status = difference_jacobian(e, z, F, x);
        if (status < 0) {
            return status;
        }
    }
    return pp_all_finite(e->entries, x) ? PERP_OK : PERP_ERR_NUMERIC;
}

perp_matrix pp_ncp_matrix(const pp_ncp *e, const double *x)
{
    const perp_ncp *ncp = e->ncp;
    return ncp->p ? perp_matrix_csc(e->n, e->n, ncp->p, ncp->i, x)
                  : perp_matrix_dense(e->n, e->n, x);
}
