// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The components of a contact, and the condensation of the global form (C4) to the local one (C3):
// W = H' M^-1 H column by column, and q = H' M^-1 f + w. Cost of a column: the rows of H that share
// a body with it; with a full M^-1 all of H.
#include "comp/comp.h"

#include <string.h>

// Components in order: normal, sliding (1 in the plane, 2 in space), torsion (dim 4 and 6), rolling
// (dim 5 and 6).
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

// CSC columns of W with room for more.
typedef struct contact_columns {
    int *p, *i;
    double *x;
    size_t capacity;
} contact_columns;

// Makes room for `more` entries after `used`. False: no memory.
static bool reserve_columns(contact_columns *c, pp_arena *arena, size_t used, size_t more)
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

// Scratch of a condensation. y and Wj are zero between columns.
typedef struct condense_scratch {
    perp_matrix H, Ht;   // by columns and by rows
    double *y;           // nv: a column of M^-1 H
    double *Wj;          // n: a column of W
    int *touched, *hit;  // places in y and Wj that may differ from zero
} condense_scratch;

// Column j of W = H' (M^-1 h_j) into Wj, its places into hit, ascending. Returns how many, -1: M is
// singular.
static int condensed_column(const pp_mass *mass, int j, condense_scratch *s)
{
    int touched, hits = 0;
    if (pp_mass_column(mass, &s->H, j, s->y, s->touched, &touched) < 0) {
        return -1;
    }
    for (int k = 0; k < touched; k++) {
        int dof = s->touched[k];
        for (int e = s->Ht.p[dof]; e < s->Ht.p[dof + 1]; e++) {
            int i = s->Ht.i[e];
            double part = s->Ht.x[e] * s->y[dof];
            // a new place, inserted in ascending order; rows of a contact are neighbours and move
            // little
            if (s->Wj[i] == 0.0 && part != 0.0) {
                int at = hits++;
                for (; at > 0 && s->hit[at - 1] > i; at--) {
                    s->hit[at] = s->hit[at - 1];
                }
                s->hit[at] = i;
            }
            s->Wj[i] += part;
        }
        s->y[dof] = 0.0;
    }
    return hits;
}

// The arrays, and H by columns and by rows. False: no memory.
static bool allocate_scratch(const perp_fcp *fcp, pp_arena *arena, condense_scratch *s)
{
    size_t n = (size_t)(fcp->nc * fcp->dim);
    s->y = PP_ZEROS(arena, double, fcp->nv);
    s->Wj = PP_ZEROS(arena, double, n);
    s->touched = PP_ARRAY(arena, int, fcp->nv);
    s->hit = PP_ARRAY(arena, int, 4 * n + 4);
    return s->y && s->Wj && s->touched && s->hit && pp_matrix_to_csc(&fcp->H, arena, &s->H) >= 0 &&
           pp_matrix_transpose(&fcp->H, arena, &s->Ht) >= 0;
}

// W is symmetric in exact arithmetic; each column is computed by itself and symmetry is not
// imposed.
perp_status pp_fcp_condense(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                            perp_fcp *local)
{
    int n = fcp->nc * fcp->dim;
    condense_scratch s;
    double *q = PP_ARRAY(arena, double, n);
    contact_columns W = {.p = PP_ARRAY(arena, int, n + 1)};
    size_t used = 0;
    if (!q || !W.p || !allocate_scratch(fcp, arena, &s)) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        W.p[j] = (int)used;
        int hits = condensed_column(mass, j, &s);
        if (hits < 0 || !reserve_columns(&W, arena, used, (size_t)hits) || used > INT32_MAX / 2) {
            return hits < 0 ? PERP_ERR_SINGULAR : PERP_ERR_MEMORY;
        }
        // the column is copied, then cleared at the places it used
        for (int k = 0; k < hits; k++) {
            int i = s.hit[k];
            if (k == 0 || i != s.hit[k - 1]) {  // one that passed through zero is listed twice
                W.i[used] = i;
                W.x[used++] = s.Wj[i];
            }
        }
        for (int k = 0; k < hits; k++) {
            s.Wj[s.hit[k]] = 0.0;
        }
    }
    W.p[n] = (int)used;

    memcpy(s.y, fcp->f, (size_t)fcp->nv * sizeof *s.y);  // q = H' M^-1 f + w
    perp_status status = pp_mass_solve(mass, s.y);
    memcpy(q, fcp->w, (size_t)n * sizeof *q);
    pp_matrix_mul_t(&s.H, 1.0, s.y, q);
    *local = *fcp;
    local->nv = 0;
    local->W = perp_matrix_csc(n, n, W.p, W.i, W.x);
    local->q = q;
    local->M = local->H = (perp_matrix){0};
    local->f = local->w = NULL;
    return status;
}
