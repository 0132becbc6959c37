// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The basis by the whole tableau, for small problems.
//
// Every basic variable as a combination of the non-basic ones: x_B = T x_N + const. A direction is
// a column of T, and a lexicographic row is read off the columns of the non-basic w. An exchange
// costs n^2, which up to some forty variables is less than the bookkeeping of the kernel inverse.
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

typedef struct tableau {
    double *T;    // n x (n + 1), column-major; rows are positions
    int ld;       // n, rounded up to whole vectors
    int *column;  // 2 n + 1: column of a non-basic variable
    double *row;  // n: scratch
    double *u;    // ld: scratch
    int since;    // exchanges since the last refactorisation
} tableau;

enum { REFACTOR_EVERY = 400 };  // exchanges after which the tableau is computed anew

perp_status pp_lemke_tableau_init(pp_lemke *t)
{
    size_t n = (size_t)t->n, ld = (n + 3) & ~(size_t)3;
    tableau *s = PP_ARRAY(t->arena, tableau, 1);
    double *reals = PP_ARRAY(t->arena, double, ld *(n + 3));
    int *column = PP_ARRAY(t->arena, int, 2 * n + 1);
    if (!s || !reals || !column) {
        return PERP_ERR_MEMORY;
    }
    *s = (tableau){.T = reals, .ld = (int)ld, .column = column};
    s->row = reals + ld * (n + 1);
    s->u = s->row + ld;
    t->kernel = s;
    t->basis = &pp_lemke_tableau;
    return PERP_OK;
}

// Column c of the tableau.
static double *column_at(const tableau *s, int c)
{
    return s->T + (size_t)c * (size_t)s->ld;
}

// Exchanges the basic variable of row r and the non-basic one of column c.
static void exchange(const pp_lemke *t, tableau *s, int r, int c)
{
    pp_exchange(t->n + 1, s->T, s->ld, r, c, s->u);
    s->since++;
}

// x = L e, with L the linear map from b to the basic variables.
static void apply_slack_map(const pp_lemke *t, const tableau *s, const double *e, double *x)
{
    int n = t->n;
    for (int k = 0; k < n; k++) {
        int i = t->var[k] - n;
        x[k] = i >= 0 && i < n ? e[i] : 0.0;
    }
    for (int i = 0; i < n; i++) {
        int c = s->column[n + i];
        if (c >= 0 && e[i] != 0.0) {
            pp_axpy(n, -e[i], column_at(s, c), x);
        }
    }
}

// x = L bt, with one step of iterative refinement against the columns of A themselves.
static perp_status tableau_values(pp_lemke *t)
{
    tableau *s = t->kernel;
    int n = t->n;
    double *rest = s->row, *step = s->u;
    apply_slack_map(t, s, t->bt, t->x);
    // rest = bt + A z + d z0 - w, which is rounding
    memcpy(rest, t->bt, (size_t)n * sizeof *rest);
    for (int k = 0; k < n; k++) {
        int variable = t->var[k];
        if (pp_is_z(t, variable) || variable == pp_z0(t)) {
            pp_lemke_add_column(t, variable, t->x[k], rest);
        }
    }
    for (int k = 0; k < n; k++) {
        int i = t->var[k] - n;
        if (i >= 0 && i < n) {
            rest[i] -= t->x[k];
        }
    }
    apply_slack_map(t, s, rest, step);
    pp_axpy(n, 1.0, step, t->x);
    return PERP_OK;
}

// The tableau of the slack basis: T = (A, d), padded to ld rows.
static void start_from_slacks(pp_lemke *t, tableau *s)
{
    int n = t->n;
    for (int j = 0; j <= n; j++) {
        double *column = column_at(s, j);
        memcpy(column, t->A.dense + (size_t)j * (size_t)n, (size_t)n * sizeof *column);
        for (int i = n; i < s->ld; i++) {
            column[i] = 0.0;
        }
    }
    for (int j = 0; j < n; j++) {
        s->column[j] = j;
        s->column[n + j] = -1;
        t->var[j] = n + j;
    }
    s->column[2 * n] = n;
    s->since = 0;
}

// Brings a variable into the basis, in the row of largest pivot among those
// still open (whose slack has to leave).
static perp_status enter_basis(pp_lemke *t, tableau *s, int variable, bool *open)
{
    int n = t->n, best = -1, c = s->column[variable];
    const double *own = column_at(s, c);
    for (int r = 0; r < n; r++) {
        if (open[r] && (best < 0 || fabs(own[r]) > fabs(own[best]))) {
            best = r;
        }
    }
    // no pivot in the open rows: the basis is singular
    if (best < 0 || !(fabs(own[best]) > 1e-14)) {
        return PERP_ERR_SINGULAR;
    }
    exchange(t, s, best, c);
    s->column[t->var[best]] = c;
    s->column[variable] = -1;
    t->var[best] = variable;
    open[best] = false;
    return PERP_OK;
}

// The tableau of t->var from the slack basis: one exchange for each basic z. Positions may change.
static perp_status tableau_refactor(pp_lemke *t)
{
    tableau *s = t->kernel;
    int n = t->n, count = 0;
    bool *open = (bool *)t->row_a;  // n flags in n doubles
    int *wanted = t->tied;
    memset(open, 1, (size_t)n * sizeof *open);
    for (int k = 0; k < n; k++) {
        int i = t->var[k] - n;
        if (i >= 0 && i < n) {
            open[i] = false;  // w_i stays
        } else {
            wanted[count++] = t->var[k];
        }
    }
    start_from_slacks(t, s);
    perp_status status = PERP_OK;
    for (int k = 0; k < count; k++) {
        status = enter_basis(t, s, wanted[k], open);
        if (status < 0) {
            return status;
        }
    }
    if (count == 0) {  // all slacks: x = w = bt
        memcpy(t->x, t->bt, (size_t)n * sizeof(double));
        return PERP_OK;
    }
    return tableau_values(t);
}

// A column of T.
static perp_status tableau_direction(pp_lemke *t, int entering)
{
    tableau *s = t->kernel;
    if (s->since > REFACTOR_EVERY) {
        perp_status status = tableau_refactor(t);
        if (status < 0) {
            return status;
        }
        for (int k = 0; k < t->n; k++) {
            pp_lemke_set(t, k, t->var[k], t->x[k]);
        }
    }
    memcpy(t->dir, column_at(s, s->column[entering]), (size_t)t->n * sizeof(double));
    return PERP_OK;
}

// Row of L: w_i = ... + b_i, so that b_i acts as a non-basic -w_i does.
static perp_status tableau_row(pp_lemke *t, int position, double *row)
{
    const tableau *s = t->kernel;
    int n = t->n;
    for (int i = 0; i < n; i++) {
        int c = s->column[n + i];
        if (c >= 0) {
            row[i] = -column_at(s, c)[position];
        } else {
            row[i] = t->var[position] == n + i ? 1.0 : 0.0;
        }
    }
    return PERP_OK;
}

static perp_status tableau_replace(pp_lemke *t, int position, int entering)
{
    tableau *s = t->kernel;
    int c = s->column[entering];
    if (entering == pp_z0(t)) {  // its column is L d, with the d chosen for this basis
        double *own = column_at(s, c);
        apply_slack_map(t, s, t->cover, own);
    }
    exchange(t, s, position, c);
    s->column[t->var[position]] = c;
    s->column[entering] = -1;
    pp_lemke_set(t, position, entering, t->x[position]);
    return PERP_OK;
}

const pp_basis pp_lemke_tableau = {tableau_refactor, tableau_values, tableau_direction, tableau_row,
                                   tableau_replace};
