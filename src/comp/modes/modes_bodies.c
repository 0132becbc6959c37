// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system M + sum J' K J over the bodies that touch.                             theory (S8)
//
// Its block graph has a node for each free body with a contact and an edge for each pair of bodies that share one,
// so that it is factored sparsely by blocks (pp_ldl). One or two bodies are dense. J' K J of a contact that
// is open or sticks is symmetric; one that slips makes the matrix unsymmetric, (1, mu e) (1, 0)', and then it takes
// LU on the same pattern, at twice the operations.
#include "comp/modes/modes.h"

#include <math.h>
#include <string.h>

enum { DENSE_NODES = 2 };

// ── Pattern ──────────────────────────────────────────────────────────────────────────────────────

// Pairs of touching bodies, each once: linked lists, the list of node j holding the pairs whose
// lower node is j.
typedef struct pairs {
    int *head, *next;  // nodes; pairs
    int *other;        // pairs: the second node
    int count;
} pairs;

// The number of the pair, which is added where it is new. Lists hold the neighbours of one body,
// and are short.
static int find_pair(pairs *p, int a, int b)
{
    int lo = a < b ? a : b;
    int hi = a < b ? b : a;
    int k = p->head[lo];
    while (k >= 0 && p->other[k] != hi) {
        k = p->next[k];
    }
    if (k < 0) {
        k = p->count++;
        p->other[k] = hi;
        p->next[k] = p->head[lo];
        p->head[lo] = k;
    }
    return k;
}

// Free bodies with a contact, numbered in the order of the model, and the first velocity of each in
// the system.
static bool list_nodes(pp_modes *s, pp_arena *arena)
{
    s->node = PP_ARRAY(arena, int, s->bodies);
    s->body = PP_ARRAY(arena, int, s->bodies);
    s->at = PP_ARRAY(arena, int, s->bodies);
    s->diagonal = PP_ARRAY(arena, int, s->bodies);
    if (!s->node || !s->body || !s->at || !s->diagonal) {
        return false;
    }
    for (int i = 0; i < s->bodies; i++) {
        s->node[i] = -1;
    }
    // 0 marks a body that touches something, until the next loop numbers it
    for (int i = 0; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        c->pair = -1;
        for (int k = 0; k < c->count; k++) {
            s->node[c->body[k]] = 0;
        }
    }
    for (int i = 0; i < s->bodies; i++) {
        if (s->node[i] == 0) {
            s->at[s->nodes] = s->n;
            s->n += s->nv[i];
            s->node[i] = s->nodes;
            s->body[s->nodes++] = i;
        }
    }
    return true;
}

// Pairs of bodies in the order in which contacts show them; contacts with a body that is not free
// have none.
static bool list_pairs(pp_modes *s, pairs *p, pp_arena *arena)
{
    p->head = PP_ARRAY(arena, int, s->nodes);
    p->next = PP_ARRAY(arena, int, s->rows);
    p->other = PP_ARRAY(arena, int, s->rows);
    s->block = PP_ARRAY(arena, int, s->rows);
    if (!p->head || !p->next || !p->other || !s->block) {
        return false;
    }
    for (int j = 0; j < s->nodes; j++) {
        p->head[j] = -1;
    }
    for (int i = 0; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        if (c->count == 2) {
            c->pair = find_pair(p, s->node[c->body[0]], s->node[c->body[1]]);
        }
    }
    return true;
}

// Symbolic factorisation, and the places of all blocks among the numbers.
static perp_status analyse(pp_modes *s, const pairs *list, pp_arena *arena)
{
    int used = 0;
    int *size = PP_ARRAY(arena, int, s->nodes), *p = PP_ARRAY(arena, int, s->nodes + 1);
    int *i = PP_ARRAY(arena, int, s->nodes + list->count);
    int *from = PP_ARRAY(arena, int, list->count);
    s->ldl = s->ldl ? s->ldl : pp_ldl_create_in(arena);
    if (!size || !p || !i || !from || !s->ldl) {
        return PERP_ERR_MEMORY;
    }
    // lower triangle by block columns: the diagonal block first, then the pairs of column j
    for (int j = 0; j < s->nodes; j++) {
        size[j] = s->nv[s->body[j]];
        p[j] = used;
        i[used++] = j;
        for (int k = list->head[j]; k >= 0; k = list->next[k]) {
            from[k] = used;
            i[used++] = list->other[k];
        }
    }
    p[s->nodes] = used;
    pp_ldl_pattern pattern = {s->nodes, size, p, i};
    perp_status status = pp_ldl_analyse(s->ldl, &pattern);
    if (status < 0) {
        return status;
    }
    // where in the array of values each block of the pattern begins
    const int *place = pp_ldl_places(s->ldl);
    for (int j = 0; j < s->nodes; j++) {
        s->diagonal[j] = place[p[j]];
    }
    for (int k = 0; k < list->count; k++) {
        s->block[k] = place[from[k]];
    }
    s->values = place[used];
    return PERP_OK;
}

// Dense or sparse, and the memory of the values. Upper blocks are stored apart, in `upper`, for LU
// only.
perp_status pp_modes_bodies_prepare(pp_modes *s)
{
    pp_arena *arena = s->arena;
    pairs list = {0};
    if (!list_nodes(s, arena)) {
        return PERP_ERR_MEMORY;
    }
    s->dense = s->nodes <= DENSE_NODES;
    if (s->dense) {
        s->values = s->n * s->n;
        s->pivot = PP_ARRAY(arena, int, s->n);
    } else {
        perp_status status =
            list_pairs(s, &list, arena) ? analyse(s, &list, arena) : PERP_ERR_MEMORY;
        if (status < 0) {
            return status;
        }
    }
    s->x = PP_ARRAY(arena, double, s->values);
    s->upper = s->dense ? NULL : PP_ARRAY(arena, double, s->values);
    s->side = PP_ARRAY(arena, double, s->n);
    bool whole = s->x && s->side && (s->dense ? s->pivot != NULL : s->upper != NULL);
    return whole ? PERP_OK : PERP_ERR_MEMORY;
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// X += k l r' for vectors of rows and columns, column-major with leading dimension ld. Inlined with
// constant sizes below, so that the compiler unrolls blocks of bodies in space (6) and in the plane (3).
static inline __attribute__((always_inline)) void
add_outer(int rows, int columns, double k, const double *l, const double *r, double *X, int ld)
{
    for (int j = 0; j < columns; j++) {
        double f = k * r[j];
        for (int i = 0; i < rows; i++) {
            X[i + j * ld] += f * l[i];
        }
    }
}

static void add_sized(int rows, int columns, double k, const double *l, const double *r, double *X,
                      int ld)
{
    if (rows == 6 && columns == 6) {
        add_outer(6, 6, k, l, r, X, ld);
    } else if (rows == 3 && columns == 3) {
        add_outer(3, 3, k, l, r, X, ld);
    } else {
        add_outer(rows, columns, k, l, r, X, ld);
    }
}

// k l r' for two combinations l, r of the rows of a contact (PP_MODE_BODY numbers a body): to the
// diagonal blocks of its bodies and the block between them. symmetric: l = r, so that the upper
// block is the transpose of the lower one and need not be stored while the whole matrix is
// symmetric.
static void add_outer_product(pp_modes *s, const pp_mode_contact *c, double k, const double *l,
                              const double *r, bool symmetric)
{
    for (int a = 0; a < c->count; a++) {
        int node = s->node[c->body[a]], nv = s->nv[c->body[a]];
        int at = s->at[node];
        double *X = s->dense ? s->x + at + at * s->n : s->x + s->diagonal[node];
        add_sized(nv, nv, k, l + PP_MODE_BODY * a, r + PP_MODE_BODY * a, X, s->dense ? s->n : nv);
    }
    if (c->count < 2) {
        return;
    }
    // The lower triangle has the block (row: later node, column: earlier node).
    int first = s->node[c->body[0]] < s->node[c->body[1]] ? 0 : 1, second = 1 - first;
    int rows = s->nv[c->body[second]], columns = s->nv[c->body[first]];
    if (s->dense) {
        int i = s->at[s->node[c->body[second]]], j = s->at[s->node[c->body[first]]];
        add_sized(rows, columns, k, l + PP_MODE_BODY * second, r + PP_MODE_BODY * first,
                  s->x + i + j * s->n, s->n);
        add_sized(columns, rows, k, l + PP_MODE_BODY * first, r + PP_MODE_BODY * second,
                  s->x + j + i * s->n, s->n);
        return;
    }
    int at = s->block[c->pair];
    add_sized(rows, columns, k, l + PP_MODE_BODY * second, r + PP_MODE_BODY * first, s->x + at,
              rows);
    if (!symmetric || !s->symmetric) {
        add_sized(rows, columns, k, r + PP_MODE_BODY * second, l + PP_MODE_BODY * first,
                  s->upper + at, rows);
    }
}

// sum += factor J of a row of the contact.
static void add_row(const pp_mode_contact *c, double factor, const double *row,
                    double sum[2][PP_MODE_BODY])
{
    for (int b = 0; b < c->count; b++) {
        for (int v = 0; v < PP_MODE_BODY; v++) {
            sum[b][v] += factor * row[PP_MODE_BODY * b + v];
        }
    }
}

// A contact with a K of its own.
static void add_central(pp_modes *s, const pp_mode_contact *c)
{
    for (int k = 0; k < c->dim; k++) {
        double l[2][PP_MODE_BODY] = {{0.0}};  // column k of J' K
        for (int i = 0; i < c->dim; i++) {
            add_row(c, c->K[i + k * c->dim], pp_mode_row(c, i), l);
        }
        add_outer_product(s, c, 1.0, l[0], pp_mode_row(c, k), false);
    }
}

// A closed contact: K = (1, mu_g e_g ...) (1, 0 ...)' / alpha and the sets of friction rows. The left factor is n + the
// mu e . t of sets that slip, the right one n; the other terms are symmetric.            theory (S8)
static void add_closed(pp_modes *s, const pp_mode_contact *c)
{
    double l[2][PP_MODE_BODY];
    memcpy(l, c->J, (size_t)c->count * sizeof l[0]);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        int rows = f->slips ? f->size : 0;
        for (int k = 0; k < rows; k++) {
            add_row(c, f->grip * f->e[k], pp_mode_row(c, f->first + k), l);
        }
    }
    double r[2][PP_MODE_BODY];
    memcpy(r, s->law == PP_MODE_EXACT ? c->J : l[0], (size_t)c->count * sizeof r[0]);
    bool turns = s->law == PP_MODE_SHIFTED && c->turns;
    int turning = turns ? c->size : 0;
    for (int k = 0; k < turning; k++) {
        add_row(c, c->turn[k], pp_mode_row(c, 1 + k), r);
    }
    bool symmetric = !turns && (s->law != PP_MODE_EXACT || c->mode == PP_MODE_STICK);
    add_outer_product(s, c, c->stiffness, l[0], r[0], symmetric);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        const double *t = pp_mode_row(c, f->first);
        if (!f->slips) {
            for (int k = 0; k < f->size; k++) {
                const double *row = t + k * c->stride;
                add_outer_product(s, c, f->stiffness, row, row, true);
            }
        } else if (f->k_f > 0.0) {  // along (-e_y, e_x)
            double side[2][PP_MODE_BODY];
            for (int b = 0; b < c->count; b++) {
                for (int v = 0; v < PP_MODE_BODY; v++) {
                    int i = PP_MODE_BODY * b + v;
                    side[b][v] = f->e[0] * t[c->stride + i] - f->e[1] * t[i];
                }
            }
            add_outer_product(s, c, f->k_f, side[0], side[0], true);
        }
    }
}

// M + sum J' K J at the modes and stiffnesses of all contacts, assembled and factored. Contacts are
// added in their order: the sums have the same bits in every run.
bool pp_modes_bodies_factor(pp_modes *s)
{
    memset(s->x, 0, (size_t)s->values * sizeof *s->x);
    s->symmetric = s->law != PP_MODE_SHIFTED && s->law != PP_MODE_CENTRAL;
    for (int i = 0; i < s->count && s->law == PP_MODE_EXACT; i++) {
        s->symmetric = s->symmetric && s->contact[i].mode != PP_MODE_SLIP;
    }
    if (!s->symmetric && !s->dense) {
        memset(s->upper, 0, (size_t)s->values * sizeof *s->upper);
    }
    for (int j = 0; j < s->nodes; j++) {
        double *X = s->dense ? s->x + s->at[j] * (s->n + 1) : s->x + s->diagonal[j];
        s->system->add_mass(s, s->body[j], X, s->dense ? s->n : s->nv[s->body[j]]);
    }
    for (int i = 0; i < s->rows; i++) {
        const pp_mode_contact *c = &s->contact[i];
        if (s->law == PP_MODE_CENTRAL && c->p) {
            add_central(s, c);
        } else if (c->mode == PP_MODE_SLIP || c->mode == PP_MODE_STICK) {  // open: K = 0
            add_closed(s, c);
        }
    }
    if (s->dense) {
        s->factored = pp_lu_factor(s->n, s->x, s->n, s->pivot, 0.0) == 0;
        s->flops = (double)s->n * s->n * s->n;
        return s->factored;
    }
    if (s->symmetric) {
        s->factored = pp_ldl_factor(s->ldl, s->x, 0.0) == 0;
    } else {
        s->factored = pp_ldl_factor_lu(s->ldl, s->x, s->upper) == PERP_OK;
    }
    s->flops = pp_ldl_flops(s->ldl);
    return s->factored;
}

// ── Products ─────────────────────────────────────────────────────────────────────────────────────

// J v + given, the sum in the order of the velocities; unrolled for bodies of space.
static double row_rate(const pp_modes *s, const pp_mode_contact *c, int k, const double *v)
{
    const double *J = pp_mode_row(c, k);
    double sum = c->given[k];
    for (int b = 0; b < c->count; b++, J += PP_MODE_BODY) {
        const double *w = v + s->first[c->body[b]];
        int nv = s->nv[c->body[b]];
        if (nv == 6) {
            sum = sum + J[0] * w[0] + J[1] * w[1] + J[2] * w[2] + J[3] * w[3] + J[4] * w[4] +
                  J[5] * w[5];
            continue;
        }
        for (int j = 0; j < nv; j++) {
            sum += J[j] * w[j];
        }
    }
    return sum;
}

double pp_modes_bodies_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    return row_rate(s, c, k, s->velocity);
}

// What a row has at velocities 0 does not change in a step.
double pp_modes_bodies_step_rate(const pp_modes *s, const pp_mode_contact *c, int k)
{
    return row_rate(s, c, k, s->step) - c->given[k];
}

// v += x J' of row k.
static void add_impulse(const pp_modes *s, const pp_mode_contact *c, int k, double x, double *v)
{
    const double *J = pp_mode_row(c, k);
    for (int b = 0; b < c->count; b++, J += PP_MODE_BODY) {
        double *to = v + s->first[c->body[b]];
        int nv = s->nv[c->body[b]];
        if (nv == 6) {
            // products first: they do not wait for each other
            double p0 = x * J[0], p1 = x * J[1], p2 = x * J[2], p3 = x * J[3], p4 = x * J[4],
                   p5 = x * J[5];
            to[0] += p0;
            to[1] += p1;
            to[2] += p2;
            to[3] += p3;
            to[4] += p4;
            to[5] += p5;
            continue;
        }
        for (int j = 0; j < nv; j++) {
            to[j] += x * J[j];
        }
    }
}

void pp_modes_bodies_add(const pp_modes *s, double *v)
{
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        add_impulse(s, c, 0, *c->p, v);
        for (int k = 0; k < c->size; k++) {
            add_impulse(s, c, k + 1, c->pt[k], v);
        }
    }
}

void pp_modes_bodies_push(pp_modes *s)
{
    memset(s->step, 0, (size_t)s->size * sizeof *s->step);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        for (int k = 0; k <= c->size; k++) {
            add_impulse(s, c, k, c->c[k], s->step);
        }
    }
}

// Bodies without contacts are not in the system: nothing pushes them, and their part of s->step is 0.
bool pp_modes_bodies_solve(pp_modes *s)
{
    double *b = s->side;
    for (int j = 0; j < s->nodes; j++) {
        int body = s->body[j];
        memcpy(b + s->at[j], s->step + s->first[body], (size_t)s->nv[body] * sizeof *b);
    }
    if (s->dense) {
        pp_lu_solve(s->n, s->x, s->n, s->pivot, b);
    } else if (!pp_ldl_solve(s->ldl, b)) {
        return false;
    }
    for (int j = 0; j < s->nodes; j++) {
        int body = s->body[j];
        memcpy(s->step + s->first[body], b + s->at[j], (size_t)s->nv[body] * sizeof *b);
    }
    return true;
}
