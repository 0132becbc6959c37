// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sparse factorisation: numbers and solves, for a pattern that was analysed. The method is in
// sparse_ldl.h.
#include "math/sparse_ldl.h"
#include "math/simd.h"

#include <math.h>
#include <string.h>

enum { FRONTS_BETWEEN = 64 };           // fronts between two questions whether to stop
static const double LARGE_FRONT = 1e6;  // operations of a front that asks by itself

// Owns two arenas: one for the analysis and the numbers, one for the work of an analysis.
pp_ldl *pp_ldl_create(const perp_env *env)
{
    pp_ldl *l = pp_alloc(env, sizeof *l);
    if (!l) {
        return NULL;
    }
    *l = (pp_ldl){.env = env ? *env : (perp_env){0}, .own = true};
    l->arena = pp_arena_create(env);
    l->scratch = pp_arena_create(env);
    if (!l->arena || !l->scratch) {
        pp_ldl_destroy(l);
        return NULL;
    }
    return l;
}

// Lives in the caller's arena: repeated analyses take more of it, until the caller resets it.
pp_ldl *pp_ldl_create_in(pp_arena *arena)
{
    pp_ldl *l = PP_ZEROS(arena, pp_ldl, 1);
    if (l) {
        l->arena = l->scratch = arena;
        l->env = *pp_arena_env(arena);
    }
    return l;
}

void pp_ldl_destroy(pp_ldl *l)
{
    if (l && l->own) {
        perp_env env = l->env;
        pp_arena_destroy(l->arena);
        pp_arena_destroy(l->scratch);
        pp_free(&env, l, sizeof *l);
    }
}

void pp_ldl_share(pp_ldl *l, const pp_team *team)
{
    if (l && (l->team.lanes > 1 || team->lanes > 1)) {
        l->ready = l->ready && l->team.lanes == team->lanes;  // otherwise the stacks differ
        l->team = *team;
    }
}

// ── Pattern ──────────────────────────────────────────────────────────────────────────────────────

// Comparing the pattern is much cheaper than analysing it.
static bool same_pattern(const pp_ldl *l, const pp_ldl_pattern *a)
{
    size_t n = (size_t)a->nodes;
    return l->ready && l->nodes == a->nodes && memcmp(l->p, a->p, (n + 1) * sizeof *l->p) == 0 &&
           memcmp(l->size, a->size, n * sizeof *l->size) == 0 &&
           memcmp(l->i, a->i, (size_t)a->p[n] * sizeof *l->i) == 0;
}

// Keeps the pattern of the caller, to recognise it again, and finds where the numbers of each block
// are.
static bool copy_pattern(pp_ldl *l, const pp_ldl_pattern *a)
{
    size_t n = (size_t)a->nodes, blocks = (size_t)a->p[n], values = 0;
    l->nodes = a->nodes;
    l->size = PP_ARRAY(l->arena, int, n);
    l->p = PP_ARRAY(l->arena, int, n + 1);
    l->i = PP_ARRAY(l->arena, int, blocks);
    l->at = PP_ARRAY(l->arena, int, blocks + 1);
    if (!l->size || !l->p || !l->i || !l->at) {
        return false;
    }
    memcpy(l->p, a->p, (n + 1) * sizeof *l->p);
    memcpy(l->i, a->i, blocks * sizeof *l->i);
    memcpy(l->size, a->size, n * sizeof *l->size);
    // at[k]: start of block k among the caller's numbers, which are column-major blocks one after
    // another.
    l->n = 0;
    for (int j = 0; j < l->nodes; j++) {
        l->n += l->size[j];
        for (int k = l->p[j]; k < l->p[j + 1]; k++) {
            l->at[k] = (int)values;
            values += (size_t)l->size[j] * (size_t)l->size[l->i[k]];
        }
    }
    l->at[blocks] = (int)values;
    return values <= INT32_MAX;
}

// Symbolic factorisation, skipped where the pattern is that of the last call: contacts that persist
// cost only the numeric phase.
perp_status pp_ldl_analyse(pp_ldl *l, const pp_ldl_pattern *pattern)
{
    if (same_pattern(l, pattern)) {
        return PERP_OK;
    }
    l->ready = false;
    if (l->own) {
        pp_arena_reset(l->arena);
        pp_arena_reset(l->scratch);
    }
    perp_status status = copy_pattern(l, pattern) ? pp_ldl_plan(l) : PERP_ERR_MEMORY;
    l->ready = status == PERP_OK;
    return status;
}

const int *pp_ldl_places(const pp_ldl *l)
{
    return l->at;
}

const double *pp_ldl_pivots(const pp_ldl *l)
{
    return l->D;
}

double pp_ldl_growth(const pp_ldl *l)
{
    return l->growth;
}

size_t pp_ldl_fill(const pp_ldl *l)
{
    return l->ready ? l->left_size + l->above_size : 0;
}

// A front with k of n rows to eliminate: column j divides n - j - 1 numbers and subtracts a product
// of them from the square that is left, or from its lower triangle.
double pp_ldl_flops(const pp_ldl *l)
{
    double sum = 0.0;
    if (!l->ready) {
        return 0.0;
    }
    for (int f = 0; f < l->fronts; f++) {
        int n = l->front[f].k + l->front[f].m;
        for (int j = 0; j < l->front[f].k; j++) {
            double rest = n - j - 1;
            sum += l->symmetric ? rest * (rest + 2.0) : rest * (2.0 * rest + 1.0);
        }
    }
    return sum;
}

// Every number of a front is written once, and read when it is eliminated or added to the parent.
double pp_ldl_bytes(const pp_ldl *l)
{
    double numbers = l->symmetric ? (double)l->left_size : (double)pp_ldl_fill(l);
    int fronts = l->ready ? l->fronts : 0;
    for (int f = 0; f < fronts; f++) {
        double m = l->front[f].m;
        numbers += l->symmetric ? 0.5 * m * (m + 1.0) : m * m;
    }
    return 2.0 * sizeof(double) * numbers;
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// Copies a rows x columns block, transposed or not, to column-major `to`.
PP_INLINE void copy_sized(int rows, int columns, const double *from, bool transposed, double *to,
                          int ld)
{
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++) {
            *PP_AT(to, ld, i, j) = transposed ? from[j + i * columns] : from[i + j * rows];
        }
    }
}

// The sizes of planar and spatial bodies have loops of constant length, which the compiler unrolls.
static void copy_block(int rows, int columns, const double *from, bool transposed, double *to,
                       int ld)
{
    if (rows == 3 && columns == 3) {
        copy_sized(3, 3, from, transposed, to, ld);
    } else if (rows == 6 && columns == 6) {
        copy_sized(6, 6, from, transposed, to, ld);
    } else {
        copy_sized(rows, columns, from, transposed, to, ld);
    }
}

// Block b of the caller into its front: below the diagonal from x, above it from `upper` (NULL:
// symmetric, not needed).
static void place_block(const pp_ldl *l, int b, int rows, int columns, const double *x,
                        const double *upper)
{
    const pp_block_place *place = &l->block[b];
    const pp_front *front = &l->front[place->front];
    double *F = l->F + front->F, *Ut = l->Ut + front->Ut;
    int ld = front->k + front->m, k = front->k;
    const double *lower = x + l->at[b];
    if (place->flipped) {
        int t = rows;
        rows = columns;
        columns = t;
        lower = (upper ? upper : x) + l->at[b];
    }
    copy_block(rows, columns, lower, place->flipped, PP_AT(F, ld, place->i, place->j), ld);
    if (!upper) {
        return;
    }
    const double *above = (place->flipped ? x : upper) + l->at[b];  // transposed, as in Ut
    if (place->i >= k) {
        copy_block(rows, columns, above, place->flipped,
                   PP_AT(Ut, front->m, place->i - k, place->j), front->m);
    } else if (place->i != place->j) {
        copy_block(columns, rows, above, !place->flipped, PP_AT(F, ld, place->j, place->i), ld);
    }
}

// The caller's blocks to their places in the fronts, and the diagonal that pivots are compared
// with.
static void load_values(pp_ldl *l, const double *x, const double *upper)
{
    memset(l->F, 0, l->left_size * sizeof *l->F);
    if (upper) {
        memset(l->Ut, 0, l->above_size * sizeof *l->Ut);
    }
    for (int j = 0, row = 0; j < l->nodes; j++) {
        const double *diagonal = x + l->at[l->p[j]];
        for (int r = 0; r < l->size[j]; r++) {
            l->diagonal[l->place[row++]] = diagonal[r + r * l->size[j]];
        }
        for (int b = l->p[j]; b < l->p[j + 1]; b++) {
            place_block(l, b, l->size[l->i[b]], l->size[j], x, upper);
        }
    }
}

// Adds the Schur complement of a child into its parent's front: extend-add. The first `inside` rows
// are pivots of the parent, the others rows below.
static void add_child(const pp_ldl *l, const pp_front *up, const pp_front *child)
{
    const double *from = l->S + child->S;
    const int *to = l->relative + child->rows;
    int k = up->k, ld = up->k + up->m, m = child->m, inside = child->inside;
    for (int j = 0; j < inside; j++) {
        double *column = PP_AT(l->F + up->F, ld, 0, to[j]);
        for (int i = 0; i < m; i++) {
            column[to[i]] += *PP_AT(from, m, i, j);
        }
    }
    for (int j = inside; j < m; j++) {
        double *row = PP_AT(l->Ut + up->Ut, up->m, to[j] - k, 0);
        double *column = PP_AT(l->S + up->S, up->m, 0, to[j] - k);
        for (int i = 0; i < inside; i++) {
            *PP_AT(row, up->m, 0, to[i]) += *PP_AT(from, m, i, j);
        }
        for (int i = inside; i < m; i++) {
            column[to[i] - k] += *PP_AT(from, m, i, j);
        }
    }
}

// The same for the lower triangle.
static void add_child_symmetric(const pp_ldl *l, const pp_front *up, const pp_front *child)
{
    const double *from = l->S + child->S;
    const int *to = l->relative + child->rows;
    int k = up->k, ld = up->k + up->m, m = child->m;
    for (int j = 0; j < m; j++) {
        double *column = to[j] < k ? PP_AT(l->F + up->F, ld, 0, to[j])
                                   : PP_AT(l->S + up->S, up->m, 0, to[j] - k) - k;
        for (int i = j; i < m; i++) {
            column[to[i]] += *PP_AT(from, m, i, j);
        }
    }
}

// Children are added in a fixed order, so that sums have the same bits.
static void assemble_front(const pp_ldl *l, const pp_front *front, bool symmetric)
{
    memset(l->S + front->S, 0, (size_t)front->m * (size_t)front->m * sizeof *l->S);
    for (int c = front->child; c >= 0; c = l->front[c].sibling) {
        if (symmetric) {
            add_child_symmetric(l, front, &l->front[c]);
        } else {
            add_child(l, front, &l->front[c]);
        }
    }
}

// The largest entry of L in a front, or `most`. Four lanes, so that comparisons do not wait for
// each other.
static double largest_in_front(const pp_front *front, const double *F, double most)
{
    int ld = front->k + front->m;
    double lane[4] = {most};
    for (int j = 0; j < front->k; j++) {
        const double *column = PP_AT(F, ld, 0, j);
        int i = j + 1;
        for (; i + 4 <= ld; i += 4) {
            for (int k = 0; k < 4; k++) {
                lane[k] = pp_max(fabs(column[i + k]), lane[k]);
            }
        }
        for (; i < ld; i++) {
            lane[0] = pp_max(fabs(column[i]), lane[0]);
        }
    }
    return pp_max(pp_max(lane[0], lane[1]), pp_max(lane[2], lane[3]));
}

// One factorisation.
typedef struct factor_pass {
    pp_ldl *ldl;
    double tiny;
} factor_pass;

// Large fronts are milliseconds each, of small ones some together.
static bool is_stopped(const pp_ldl *l, int f)
{
    double rows = l->front[f].k + l->front[f].m;
    return (f % FRONTS_BETWEEN == 0 || rows * rows * l->front[f].k > LARGE_FRONT) &&
           pp_stopped(&l->env);
}

// False: singular, or stopped.
static bool eliminate_front(const factor_pass *p, int f, const pp_team *team)
{
    pp_ldl *l = p->ldl;
    const pp_front *front = &l->front[f];
    if (is_stopped(l, f)) {
        return false;
    }
    double *F = l->F + front->F, *Ut = l->Ut + front->Ut, *S = l->S + front->S;
    int *pivot = l->pivot + front->first;
    assemble_front(l, front, l->symmetric);
    if (!l->symmetric) {
        l->lost[f] = !pp_front_lu(front, F, Ut, S, pivot, team);
        l->grown[f] = l->lost[f] ? 0.0 : largest_in_front(front, F, 0.0);
        return !l->lost[f];
    }
    l->lost[f] = pp_front_ldl(front, F, Ut, S, p->tiny, l->diagonal + front->first,
                              l->t + front->first, team);
    l->grown[f] = largest_in_front(front, F, 0.0);
    for (int j = 0; j < front->k; j++) {
        pivot[j] = j;
    }
    return true;
}

// Whole subtrees on one thread each. A front counts as lost until it is done.
static void eliminate_trees(void *arg, int from, int to)
{
    const factor_pass *p = arg;
    for (int t = from; t < to; t++) {
        const pp_subtree *tree = &p->ldl->tree[t];
        for (int f = tree->first; f <= tree->last; f++) {
            p->ldl->lost[f] = 1;  // until it is done
        }
        for (int f = tree->first; f <= tree->last && eliminate_front(p, f, NULL); f++) {
        }
    }
}

// All fronts: subtrees on several threads, then the fronts above them. False: singular.
static bool eliminate_all(factor_pass *p, int *lost)
{
    pp_ldl *l = p->ldl;
    bool shared = l->trees > 0;
    *lost = 0;
    if (shared) {
        pp_team_share(&l->team, l->trees, 1, eliminate_trees, p);
        // Zero pivots of a symmetric matrix are counted below; a general one ends at a front
        // without a pivot.
        int checked = l->symmetric ? 0 : l->trees;
        for (int t = 0; t < checked; t++) {
            for (int f = l->tree[t].first; f <= l->tree[t].last; f++) {
                if (l->lost[f]) {
                    return false;
                }
            }
        }
    }
    for (int k = 0; k < (shared ? l->tops : l->fronts); k++) {
        if (!eliminate_front(p, shared ? l->top[k] : k, shared ? &l->team : NULL)) {
            return false;
        }
    }
    l->growth = 0.0;
    for (int f = 0; f < l->fronts; f++) {
        l->growth = pp_max(l->grown[f], l->growth);
        *lost += l->lost[f];
    }
    return true;
}

// Pivots are computed in the order of elimination, and reported in that of the caller.
int pp_ldl_factor(pp_ldl *l, const double *x, double tiny)
{
    int zeros;
    l->symmetric = true;
    load_values(l, x, NULL);
    if (!eliminate_all(&(factor_pass){l, tiny}, &zeros)) {
        zeros = l->n;  // stopped: nothing is known
    }
    for (int i = 0; i < l->n; i++) {
        l->D[i] = l->t[l->place[i]];
    }
    return zeros;
}

// Row exchanges stay within a front, so that growth shows how well they did.
perp_status pp_ldl_factor_lu(pp_ldl *l, const double *x, const double *upper)
{
    int lost;
    l->symmetric = false;
    load_values(l, x, upper);
    if (!eliminate_all(&(factor_pass){l, 0.0}, &lost)) {
        return pp_stopped(&l->env) ? PERP_ERR_STOPPED : PERP_ERR_SINGULAR;
    }
    return isfinite(l->growth) ? PERP_OK : PERP_ERR_SINGULAR;
}

// ── Solves ───────────────────────────────────────────────────────────────────────────────────────

// y -= a x.
PP_INLINE void subtract(int n, double a, const double *x, double *y)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        PP_STORE(y + i) = PP_LOAD(y + i) - a * PP_LOAD(x + i);
    }
    for (; i < n; i++) {
        y[i] -= a * x[i];
    }
}

// One vector of partial sums, then the remainder: a fixed order.
PP_INLINE double dot(int n, const double *x, const double *y)
{
    pp_v4 sum = {0};
    double rest = 0.0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sum += PP_LOAD(x + i) * PP_LOAD(y + i);
    }
    for (; i < n; i++) {
        rest += x[i] * y[i];
    }
    return PP_SUM(sum) + rest;
}

// L y = b in one front: its pivots, then its contribution to the rows below.
PP_CLONES
static void forward_front(const pp_ldl *l, const pp_front *front, double *x)
{
    int k = front->k, m = front->m, ld = k + m;
    const double *F = l->F + front->F;
    const int *row = l->row + front->rows, *pivot = l->pivot + front->first;
    double *b = x + front->first, *t = l->t;
    memset(t, 0, (size_t)m * sizeof *t);
    for (int j = 0; j < k; j++) {
        double value = b[pivot[j]];
        b[pivot[j]] = b[j];
        b[j] = value;
    }
    for (int j = 0; j < k; j++) {
        subtract(k - j - 1, b[j], PP_AT(F, ld, j + 1, j), b + j + 1);
        subtract(m, b[j], PP_AT(F, ld, k, j), t);
    }
    for (int i = 0; i < m; i++) {
        x[row[i]] += t[i];
    }
}

// U x = y in one front. The diagonal holds reciprocals.
PP_CLONES
static void back(const pp_ldl *l, const pp_front *front, double *x)
{
    int k = front->k, m = front->m, ld = k + m;
    const double *F = l->F + front->F, *Ut = l->Ut + front->Ut;
    const int *row = l->row + front->rows;
    double *b = x + front->first, *t = l->t;
    for (int i = 0; i < m; i++) {
        t[i] = x[row[i]];
    }
    for (int j = k - 1; j >= 0; j--) {
        b[j] = (b[j] - dot(m, PP_AT(Ut, m, 0, j), t)) * *PP_AT(F, ld, j, j);
        subtract(j, b[j], PP_AT(F, ld, 0, j), b);
    }
}

// Fronts in order, then in reverse, in permuted rows. False where the solution is not finite.
bool pp_ldl_solve(const pp_ldl *l, double *b)
{
    for (int i = 0; i < l->n; i++) {
        l->x[l->place[i]] = b[i];
    }
    for (int f = 0; f < l->fronts; f++) {
        forward_front(l, &l->front[f], l->x);
    }
    for (int f = l->fronts - 1; f >= 0; f--) {
        back(l, &l->front[f], l->x);
    }
    for (int i = 0; i < l->n; i++) {
        b[i] = l->x[l->place[i]];
    }
    return pp_all_finite((size_t)l->n, b);
}
