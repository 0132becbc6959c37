// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The laws of an instant without friction: a convex quadratic program, solved by an active-set
// method.                                                                              theory (H7b)
//
//   min over r  1/2 r^T A r + b^T r,     r_i >= 0 of contacts and limits, r_i free of equations
//
// A = J H^-1 J^T is positive semidefinite, so every local minimum is a solution, and u = A r + b is
// the same in all of them. Each round adds the row that is violated most to the active rows, whose
// rates vanish, and removes those that would pull on the way to the new minimum (Lawson and Hanson
// 1974, 23.3). The objective falls in every round, so no set of active rows returns. Pivoting
// methods for general problems have no such measure and cycle where faces have more points than
// degrees of freedom.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// Scaled pivot of a row that depends on the active ones.                               theory (J10)
static const double DEPENDENT = 1e-10;
static const double VIOLATED = 1e-13;  // of the size of u: a rate below is rounding

enum { ROUNDS = 20 };  // per row; each round of exact arithmetic lowers the objective

typedef struct program {
    const pp_laws *laws;
    int active;       // number of active rows
    int *row;         // rows: the active ones
    bool *one_sided;  // rows: r >= 0
    bool *choice;     // rows: contacts and limits that are not active
    bool *refused;    // rows: rounding keeps them from becoming active while nothing else changes
    int *end;         // rows: positions of active rows whose force ends in a step
    double *L;        // Cholesky factor of the active rows, leading dimension rows
    double *x, *u;    // rows: by active rows; rates
} program;

bool pp_law_is_convex(const pp_laws *laws)
{
    bool contacts = false;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        bool contact = law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_SLIDING;
        bool plain = law->kind == PP_LAW_EQUAL || law->kind == PP_LAW_RUBBING;
        if (law->size > 0 && !plain && !(contact && law->size == 1)) {
            return false;
        }
        contacts = contacts || (contact && law->size > 0);
    }
    return contacts;
}

// A between two rows.
static double entry(const program *p, int i, int j)
{
    return p->laws->A[(size_t)i + (size_t)j * (size_t)p->laws->rows];
}

// Appends a row to the factor. False: it depends on the active rows, and x is their combination.
static bool factor_append(program *p, int row)
{
    int n = p->active, ld = p->laws->rows;
    for (int k = 0; k < n; k++) {
        p->x[k] = entry(p, p->row[k], row);
    }
    if (n > 0) {
        pp_chol_solve_forward(n, p->L, ld, p->x);
    }
    double scale = pp_law_scale(p->laws, row);
    double pivot = entry(p, row, row) - pp_dot(n, p->x, p->x);
    if (!(scale * scale * pivot > DEPENDENT)) {
        if (n > 0) {
            pp_chol_solve_back(n, p->L, ld, p->x);
        }
        return false;
    }
    for (int k = 0; k < n; k++) {
        p->L[n + k * ld] = p->x[k];
    }
    p->L[n + n * ld] = sqrt(pivot);
    p->row[p->active++] = row;
    p->choice[row] = false;
    return true;
}

// Removes the k-th active row and factors those after it anew. A subset of independent rows is
// independent, so no pivot vanishes.
static void factor_remove(program *p, int k)
{
    int count = p->active - k - 1, *after = p->row + k + 1;
    p->choice[p->row[k]] = true;
    p->active = k;
    for (int i = 0; i < count; i++) {
        int row = after[i];
        if (!factor_append(p, row)) {
            p->choice[row] = p->one_sided[row];  // rounding: it depends on the others after all
        }
    }
}

// Moves r towards the target x of the active rows, r += s (x - r), as far as no force pulls; rows
// whose force ends there are removed. Returns whether the target was reached, s = 1.
static bool step_to(program *p, double *r)
{
    double s = 1.0;
    int ends = 0;
    // Ratio test over the forces that would become negative.
    for (int k = 0; k < p->active; k++) {
        int row = p->row[k];
        if (p->one_sided[row] && p->x[k] < 0.0) {
            s = fmin(s, r[row] / (r[row] - p->x[k]));
        }
    }
    for (int k = 0; k < p->active; k++) {
        int row = p->row[k];
        if (p->one_sided[row] && p->x[k] < 0.0 && r[row] / (r[row] - p->x[k]) <= s) {
            r[row] = 0.0;
            p->end[ends++] = k;
        } else {
            r[row] += s * (p->x[k] - r[row]);
        }
    }
    // From the last to the first: the positions of those before stay.
    while (ends > 0) {
        factor_remove(p, p->end[--ends]);
    }
    return s == 1.0;
}

// The minimum over the active rows, or, where a force would pull on the way, over those that
// remain. known: rates without the forces of active rows.
static void minimise(program *p, const double *known, double *r)
{
    for (;;) {
        for (int k = 0; k < p->active; k++) {
            p->x[k] = -known[p->row[k]];
        }
        if (p->active > 0) {
            pp_chol_solve(p->active, p->L, p->laws->rows, p->x);
        }
        if (step_to(p, r)) {
            return;
        }
    }
}

// A row that depends on the active ones and is violated: along the direction in which no rate
// changes the objective falls, until the force of an active row ends. That row leaves, and the new
// one is independent of the rest. False: no force ends, so the program is unbounded and the laws
// contradict each other.
static bool exchange(program *p, int row, double *r)
{
    double s = PP_INF;
    int leaves = -1;
    for (int k = 0; k < p->active; k++) {
        int i = p->row[k];
        // x is the combination: a unit force of `row` is balanced by -x.
        if (p->one_sided[i] && p->x[k] > 0.0 && r[i] / p->x[k] < s) {
            s = r[i] / p->x[k];
            leaves = k;
        }
    }
    if (leaves < 0) {
        return false;
    }
    for (int k = 0; k < p->active; k++) {
        r[p->row[k]] -= s * p->x[k];
    }
    r[row] += s;
    r[p->row[leaves]] = 0.0;
    factor_remove(p, leaves);
    return factor_append(p, row);
}

// The row whose rate is violated most, in the scales of rows; -1: none is. u receives the rates.
static int worst_row(program *p, const double *r, double size_u)
{
    double worst = 0.0;
    int which = -1;
    pp_law_rates(p->laws, r, p->u);
    for (int i = 0; i < p->laws->rows; i++) {
        double off = -p->u[i] * pp_law_scale(p->laws, i);
        if (p->choice[i] && !p->refused[i] && p->u[i] < -VIOLATED * size_u && off > worst) {
            worst = off;
            which = i;
        }
    }
    return which;
}

// Lays out the program: independent equations are active, contacts are not, forces of what rubs are
// known.
static perp_status begin(program *p, const pp_laws *laws, double *r, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    bool *keep = PP_ZEROS(arena, bool, 4 * rows);
    *p = (program){.laws = laws,
                   .row = PP_ARRAY(arena, int, 2 * rows),
                   .L = PP_ZEROS(arena, double, rows *rows + 2 * rows)};
    if (!keep || !p->row || !p->L) {
        return PERP_ERR_MEMORY;
    }
    p->one_sided = keep + rows;
    p->choice = keep + 2 * rows;
    p->refused = keep + 3 * rows;
    p->end = p->row + rows;
    p->x = p->L + rows * rows;
    p->u = p->x + rows;
    // Redundant equations follow from independent ones.
    perp_status status = pp_law_independent(laws, keep, arena);
    if (status < 0) {
        return status;
    }
    memset(r, 0, rows * sizeof *r);
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && law->kind == PP_LAW_RUBBING) {
            r[law->at] = -law->bound * law->d[0];
        } else if (law->size > 0 && law->kind != PP_LAW_EQUAL) {
            p->one_sided[law->at] = p->choice[law->at] = true;
        }
    }
    for (int i = 0; i < laws->rows; i++) {
        if (keep[i]) {
            factor_append(p, i);
        }
    }
    return PERP_OK;
}

perp_status pp_law_convex(const pp_laws *laws, double *r, pp_arena *arena)
{
    program p;
    double size_u, size_r, *known = PP_ARRAY(arena, double, laws->rows);
    if (!known) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = begin(&p, laws, r, arena);
    if (status < 0) {
        return status;
    }
    pp_law_rates(laws, r, known);
    minimise(&p, known, r);
    for (int round = 0; round < ROUNDS * (laws->rows + 1); round++) {
        pp_law_sizes(laws, r, &size_u, &size_r);
        int row = worst_row(&p, r, size_u);
        if (row < 0) {
            return PERP_OK;
        }
        if (!factor_append(&p, row)) {
            // Active rows imply this one up to rounding, or contradict it.
            if (p.u[row] >= -laws->tolerance * size_u) {
                p.refused[row] = true;
                continue;
            }
            if (!exchange(&p, row, r)) {
                return PERP_ERR_INFEASIBLE;
            }
        }
        minimise(&p, known, r);
        // A row that left at once would be chosen again.
        if (p.choice[row]) {
            p.refused[row] = true;
        } else {
            memset(p.refused, 0, (size_t)laws->rows * sizeof *p.refused);
        }
    }
    return PERP_ERR_LIMIT;
}
