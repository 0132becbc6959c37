// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The solution for a free list that differs little from the one factored last: a bordered system.
//
// Of the factored list B some variables r have left, others a have come. With E'
// the rows A_aB of those that came and the unit rows e_r of those that left (whose
// multiplier takes the equation of r away),
//
//   [ A_BB  E ] [x]   [f]        C = A_aa for those that came, 0 else;
//   [ E'    C ] [s] = [g]        g = 0 for those that left: x_r = 0
//
// and with X = E' L^-T, stored below L:   (C - X X') s = g - X L^-1 f,   x = L^-T (L^-1 f - X's).
//
// A row costs k^2 for a block of k, a new factor k^3 / 3. Block steps exchange
// fewer and fewer variables, so that the last ones are all borders of one
// factor. Everything is scaled as the block is.
#include "comp/pivoting/pivot.h"

#include <string.h>

enum { BORDER_FROM = 96 };  // rows of a block from which a border pays

// Rows of a border beyond which the block is factored anew.
static int most_rows(int count)
{
    return count < BORDER_FROM ? 0 : count / 6;
}

size_t pp_pivot_border_room(int n)
{
    return (size_t)most_rows(n);
}

perp_status pp_pivot_border_allocate(pp_pivot *p, pp_arena *arena)
{
    pp_border *border = &p->border;
    size_t n = (size_t)p->n, room = pp_pivot_border_room(p->n);
    if (room == 0) {
        return PERP_OK;
    }
    double *reals = PP_ARRAY(arena, double, room *(2 * room + 3) + n);
    int *integers = PP_ARRAY(arena, int, 3 * room + 2 * n);
    if (!reals || !integers) {
        return PERP_ERR_MEMORY;
    }
    // one array of each type
    border->gram = reals;
    border->schur = reals + room * room;
    border->s = reals + 2 * room * room;
    border->g = border->s + room;
    border->all = border->g + room;
    border->x = border->all + room;
    border->variable = integers;
    border->active = integers + room;
    border->pivot = integers + 2 * room;
    border->slot = integers + 3 * room;
    border->row = border->slot + n;
    return PERP_OK;
}

// Called after a factorisation: an empty border. slot and row of all variables are reset.
void pp_pivot_border_begin(pp_pivot *p)
{
    pp_border *border = &p->border;
    border->rows = border->count = 0;
    border->most = p->symmetric && border->gram ? most_rows(p->factored_count) : 0;
    if (border->most == 0) {
        return;
    }
    for (int i = 0; i < p->n; i++) {
        border->slot[i] = border->row[i] = -1;
    }
    for (int k = 0; k < p->factored_count; k++) {
        border->slot[p->factored[k]] = k;
    }
}

// Row j of the border, in the first column of L; the right-hand side is the row before all of them.
static double *row_at(const pp_pivot *p, int j)
{
    return p->L + p->factored_count + 1 + j;
}

// Entry (i, j) of S A S + alpha I
static double scaled_entry(const pp_pivot *p, int i, int j)
{
    double entry = p->A.dense[(size_t)i + (size_t)j * (size_t)p->n];
    return entry * (p->inverse[i] * p->inverse[j]) + (i == j ? p->alpha : 0.0);
}

// Whether the variable of row j came (true) or left.
static bool is_new(const pp_pivot *p, int j)
{
    return p->border.slot[p->border.variable[j]] < 0;
}

// Row j of E'.
static void write_row(pp_pivot *p, int j)
{
    int variable = p->border.variable[j], own = p->border.slot[variable];
    double *to = row_at(p, j);
    for (int k = 0; k < p->factored_count; k++, to += p->ld) {
        if (own < 0) {
            *to = scaled_entry(p, p->factored[k], variable);
        } else {
            *to = k == own ? 1.0 : 0.0;
        }
    }
}

// Adds the rows from `first` on to X = E' L^-T and to C - X X', which is symmetric.
static void extend_border(pp_pivot *p, int first)
{
    pp_border *border = &p->border;
    int rows = border->rows, below = p->factored_count + 1, most = border->most;
    for (int j = first; j < rows; j++) {
        write_row(p, j);
    }
    pp_chol_solve_rows(below + first, below + rows, p->factored_count, p->L, p->ld);
    for (int j = 0; j < rows; j++) {
        for (int i = first; i < rows; i++) {
            bool both = is_new(p, i) && is_new(p, j);
            border->gram[i + (ptrdiff_t)j * most] =
                both ? scaled_entry(p, border->variable[i], border->variable[j]) : 0.0;
        }
    }
    // minus X X'
    pp_gemm_sub_t(rows - first, rows, p->factored_count, row_at(p, first), p->ld, row_at(p, 0),
                  p->ld, border->gram + first, most);
    for (int j = first; j < rows; j++) {
        for (int i = 0; i < first; i++) {
            border->gram[i + (ptrdiff_t)j * most] = border->gram[j + (ptrdiff_t)i * most];
        }
    }
}

// Lists the rows that the present free list needs; new ones follow
// those there are. False: too many.
static bool choose_border_rows(pp_pivot *p)
{
    pp_border *border = &p->border;
    int rows = border->rows, count = 0;
    for (int i = 0; i < p->n; i++) {
        bool is_free = p->place[i] == PERP_BASIS_BASIC, was_free = border->slot[i] >= 0;
        if (is_free == was_free) {
            continue;
        }
        // a row once made stays, and is used again when its variable differs again
        if (border->row[i] < 0) {
            if (rows == border->most) {
                return false;
            }
            border->variable[rows] = i;
            border->row[i] = rows++;
        }
        border->active[count++] = border->row[i];
    }
    border->rows = rows;
    border->count = count;
    return true;
}

bool pp_pivot_border(pp_pivot *p)
{
    static const double tiny = 1e-10;
    pp_border *border = &p->border;
    int first = border->rows, most = border->most;
    if (most == 0 || p->factored_count < 0 || p->factored_alpha != p->alpha ||
        !choose_border_rows(p)) {
        border->most = 0;
        return false;
    }
    if (first < border->rows) {
        extend_border(p, first);
    }
    // the Schur complement of the rows in use, factored by LU: it is indefinite
    for (int j = 0; j < border->count; j++) {
        const double *from = border->gram + (ptrdiff_t)border->active[j] * most;
        for (int i = 0; i < border->count; i++) {
            border->schur[i + (ptrdiff_t)j * most] = from[border->active[i]];
        }
    }
    return pp_lu_factor(border->count, border->schur, most, border->pivot, tiny) == 0;
}

void pp_pivot_border_solve(const pp_pivot *p, double *x)
{
    const pp_border *border = &p->border;
    int k = p->factored_count, rows = border->rows;
    double *f = border->x, *g = border->g, *s = border->s, *all = border->all;
    memset(f, 0, (size_t)k * sizeof *f);
    memset(g, 0, (size_t)rows * sizeof *g);
    // the right-hand side of the free list: f in the factored list, g for those that came
    for (int i = 0; i < p->count; i++) {
        int slot = border->slot[p->free[i]];
        *(slot >= 0 ? &f[slot] : &g[border->row[p->free[i]]]) = x[i];
    }
    pp_chol_solve_forward(k, p->L, p->ld, f);
    pp_gemv(rows, k, -1.0, row_at(p, 0), p->ld, f, g);
    for (int j = 0; j < border->count; j++) {
        s[j] = g[border->active[j]];
    }
    // (C - X X') s = g - X L^-1 f over the rows in use
    pp_lu_solve(border->count, border->schur, border->most, border->pivot, s);
    memset(all, 0, (size_t)rows * sizeof *all);
    for (int j = 0; j < border->count; j++) {
        all[border->active[j]] = s[j];
    }
    pp_gemv_t(rows, k, -1.0, row_at(p, 0), p->ld, all, f);
    pp_chol_solve_back(k, p->L, p->ld, f);
    for (int i = 0; i < p->count; i++) {
        int slot = border->slot[p->free[i]];
        x[i] = slot >= 0 ? f[slot] : all[border->row[p->free[i]]];
    }
}
