// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints closed in time that grows with their number: S = W_b^T M^-1 W_b + Gamma couples two joints only
// where they share a body. Its blocks are those of joints, their order is left to the factorisation, which
// keeps it while the joints stay the same.
//
// Redundant rows show as pivots that vanish. Where there are too many rows for the dense factorisation
// such rows get no impulse, in place of the least-norm share.
#include "assemble/closed.h"

#include <string.h>

static const double RANK = 1e-11;  // as in closed.c
enum { DENSE_MOST = 1200 };        // redundant rows up to here are given least-norm impulses

// The block pattern of S: a node is a joint or a spring, with all its rows.
typedef struct nodes {
    int count;
    int *first;                      // count + 1: rows of each node
    int *size;                       // count
    int (*body)[2 * PP_ROW_BODIES];  // count: bodies that the rows of each touch
    int *bodies;                     // count: how many those are
    bool *alike;                     // count: all rows touch the same bodies in the same order
    int *body_first;                 // bodies + 1
    int *of_body;                    // nodes that touch each body, ascending
    int *p, *i;                      // lower triangle of the pattern
} nodes;

// Consecutive rows of the same joint or spring are a node.
static bool set_nodes(nodes *n, const pp_rows *rows, pp_arena *arena)
{
    n->first = PP_ARRAY(arena, int, rows->nb + 1);
    n->size = PP_ARRAY(arena, int, rows->nb);
    if (!n->first || !n->size) {
        return false;
    }
    n->count = 0;
    for (int r = 0; r < rows->nb; r++) {
        const pp_row *row = &rows->b[r], *last = row - 1;
        if (r == 0 || row->joint != last->joint || row->force != last->force) {
            n->first[n->count++] = r;
        }
    }
    n->first[n->count] = rows->nb;
    for (int k = 0; k < n->count; k++) {
        n->size[k] = n->first[k + 1] - n->first[k];
    }
    return true;
}

// Bodies that the rows of a node touch, each once; at most PP_ROW_BODIES for all rows of a joint.
static int node_bodies(const nodes *n, const pp_rows *rows, int k, int out[2 * PP_ROW_BODIES])
{
    int count = 0;
    for (int r = n->first[k]; r < n->first[k + 1]; r++) {
        for (int e = 0; e < rows->b[r].count; e++) {
            int body = rows->b[r].body[e], at = 0;
            while (at < count && out[at] != body) {
                at++;
            }
            if (at == count && count < 2 * PP_ROW_BODIES) {
                out[count++] = body;
            }
        }
    }
    return count;
}

// Whether all rows of a node touch the same bodies in the same order, so that its blocks can be filled body by body.
static bool same_bodies(const nodes *n, const pp_rows *rows, int k)
{
    const pp_row *first = &rows->b[n->first[k]];
    for (const pp_row *row = first + 1; row < &rows->b[n->first[k + 1]]; row++) {
        for (int e = 0; e < first->count; e++) {
            if (row->count != first->count || row->body[e] != first->body[e]) {
                return false;
            }
        }
    }
    return true;
}

// Bodies of each node and nodes of each body: two nodes are coupled in S where they share a body.
static bool list_bodies(nodes *n, const perp_model *m, const pp_rows *rows, pp_arena *arena)
{
    int *next = PP_ZEROS(arena, int, m->bodies + 1);
    n->body_first = PP_ZEROS(arena, int, m->bodies + 1);
    n->of_body = PP_ARRAY(arena, int, 2 * PP_ROW_BODIES * (size_t)n->count);
    n->body = pp_arena_array(arena, (size_t)n->count, sizeof *n->body);
    n->bodies = PP_ARRAY(arena, int, n->count);
    n->alike = PP_ARRAY(arena, bool, n->count);
    if (!next || !n->body_first || !n->of_body || !n->body || !n->bodies || !n->alike) {
        return false;
    }
    // Nodes of each body in compressed form: counted, summed, then placed in the order of the nodes.
    for (int k = 0; k < n->count; k++) {
        n->bodies[k] = node_bodies(n, rows, k, n->body[k]);
        n->alike[k] = same_bodies(n, rows, k);
        for (int e = n->bodies[k] - 1; e >= 0; e--) {
            n->body_first[n->body[k][e] + 1]++;
        }
    }
    for (int b = 0; b < m->bodies; b++) {
        n->body_first[b + 1] += n->body_first[b];
    }
    memcpy(next, n->body_first, ((size_t)m->bodies + 1) * sizeof *next);
    for (int k = 0; k < n->count; k++) {
        for (int e = n->bodies[k] - 1; e >= 0; e--) {
            n->of_body[next[n->body[k][e]]++] = k;
        }
    }
    return true;
}

// Nodes after k that share a body with it, each once; seen[j] == k marks those already listed.
static int neighbours(const nodes *n, int k, int *seen, int *out)
{
    int count = 0;
    for (int e = 0; e < n->bodies[k]; e++) {
        int body = n->body[k][e];
        for (int at = n->body_first[body]; at < n->body_first[body + 1]; at++) {
            int other = n->of_body[at];
            if (other > k && seen[other] != k) {
                seen[other] = k;
                // the first pass only counts
                if (out) {
                    out[count] = other;
                }
                count++;
            }
        }
    }
    return count;
}

// Lower triangle of S by blocks, column by column.
static bool set_pattern(nodes *n, pp_arena *arena)
{
    int *seen = PP_ARRAY(arena, int, n->count);
    n->p = PP_ARRAY(arena, int, n->count + 1);
    if (!seen || !n->p) {
        return false;
    }
    // The first pass counts, the second fills. A column has its diagonal block first, as math/ wants it.
    n->p[0] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < n->count; k++) {
            seen[k] = -1;
        }
        for (int k = 0; k < n->count; k++) {
            int *column = pass == 1 ? n->i + n->p[k] : NULL;
            int count = neighbours(n, k, seen, column ? column + 1 : NULL);
            if (column) {
                column[0] = k;
            } else {
                n->p[k + 1] = n->p[k] + 1 + count;
            }
        }
        if (pass == 0) {
            n->i = PP_ARRAY(arena, int, n->p[n->count]);
            if (!n->i) {
                return false;
            }
        }
    }
    return true;
}

// The blocks of bodies that two rows share, as pairs of their places; -1: the rows of the nodes differ in
// their bodies.
static int shared(const pp_closed *c, const nodes *n, int a, int b, int at[][2])
{
    const pp_row *first = &c->rows->b[n->first[a]], *second = &c->rows->b[n->first[b]];
    int count = 0;
    for (int i = 0; i < first->count; i++) {
        for (int j = 0; j < second->count; j++) {
            if (first->body[i] == second->body[j]) {
                at[count][0] = i;
                at[count++][1] = j;
            }
        }
    }
    return n->alike[a] && n->alike[b] ? count : -1;
}

// Block (a, b) of S, column-major, a and b nodes.
static void fill_node_block(const pp_closed *c, const nodes *n, int a, int b, double *x)
{
    int at[PP_ROW_BODIES * PP_ROW_BODIES][2], count = shared(c, n, a, b, at);
    const pp_row *rows = c->rows->b;
    for (int j = 0; j < n->size[b]; j++) {
        int column = n->first[b] + j;
        for (int i = 0; i < n->size[a]; i++) {
            int row = n->first[a] + i;
            double sum = row == column ? rows[row].gamma : 0.0;
            for (int k = 0; k < count; k++) {
                int nv = c->model->body[rows[row].body[at[k][0]]].nv;
                sum += pp_closed_dot(nv, rows[row].J[at[k][0]], c->MJ[column][at[k][1]]);
            }
            // rows of a node that touch different bodies share no list of places: entry by entry
            x[j * n->size[a] + i] = count < 0 ? sum + pp_closed_coupling(c, row, column) : sum;
        }
    }
}

// The same split as dense pivoting gives: order[0 .. rank) are rows that hold, the others follow from them.
static bool set_order(pp_closed *c, pp_arena *arena)
{
    const double *pivot = pp_ldl_pivots(c->ldl);
    int kept = 0, left = c->rank;
    c->order = PP_ARRAY(arena, int, c->nb);
    if (!c->order) {
        return false;
    }
    for (int i = 0; i < c->nb; i++) {
        c->order[pivot[i] != 0.0 ? kept++ : left++] = i;
    }
    return true;
}

// S by the sparse factorisation of math/, whose order and pattern are kept while the pattern stays.
perp_status pp_closed_sparse(pp_closed *c, pp_ldl *ldl, pp_arena *arena)
{
    nodes n;
    if (!set_nodes(&n, c->rows, arena) || !list_bodies(&n, c->model, c->rows, arena) ||
        !set_pattern(&n, arena)) {
        return PERP_ERR_MEMORY;
    }
    // an equal pattern, as in most steps, keeps the order and the elimination tree of the step before
    pp_ldl_pattern pattern = {.nodes = n.count, .size = n.size, .p = n.p, .i = n.i};
    if (pp_ldl_analyse(ldl, &pattern) < 0) {
        return PERP_ERR_MEMORY;
    }
    const int *place = pp_ldl_places(ldl);
    double *x = PP_ARRAY(arena, double, place[n.p[n.count]]);
    c->work = PP_ARRAY(arena, double, 3 * (size_t)c->nb);
    if (!x || !c->work) {
        return PERP_ERR_MEMORY;
    }
    // blocks of the lower triangle only: S is symmetric
    for (int k = 0; k < n.count; k++) {
        for (int e = n.p[k]; e < n.p[k + 1]; e++) {
            fill_node_block(c, &n, n.i[e], k, x + place[e]);
        }
    }
    // Zero pivots are redundant rows, which get no impulse here. The dense factorisation shares the load instead; where
    // it is affordable, c->ldl stays NULL.
    int redundant = pp_ldl_factor(ldl, x, RANK);
    if (pp_arena_stopped(arena)) {
        return PERP_ERR_STOPPED;
    }
    if (redundant > 0 && c->nb <= DENSE_MOST) {
        return PERP_OK;
    }
    c->ldl = ldl;
    c->rank = c->nb - redundant;
    return set_order(c, arena) ? PERP_OK : PERP_ERR_MEMORY;
}
