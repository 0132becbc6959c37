// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The symbolic phase of the sparse factorisation: order, elimination tree, fronts, places.
//
// Order: approximate minimum degree (AMD; Amestoy, Davis and Duff 1996) on the nodes. Tree: Liu
// (1990), with path compression. Rows of L by walking up the tree from each entry of A; ascending
// rows give ascending lists. A front absorbs its last child where few zeros have to be stored for
// it (relaxed supernodes).
#include "math/sparse_ldl.h"

#include <amd.h>
#include <string.h>

enum {
    NARROW = 12,  // rows up to which half of a merged front may be zeros
    WIDE = 48,    // rows up to which a fifth may be; beyond, a twentieth
};

// The analysis. Positions are nodes in the order of elimination.
typedef struct elimination {
    pp_ldl *ldl;
    pp_arena *scratch;
    int nodes;
    int *order, *inverse;  // order[position] = node
    int *size;             // of the node at a position
    int *start;            // nodes + 1: first row of the node at a position
    int *parent;           // elimination tree of positions
    int *p, *i;            // strictly upper pattern by columns, in positions: A(i < column)
    int *lp, *li;          // pattern of L below the diagonal by columns, in positions
    int *front_of;         // position: its front
} elimination;

static int *ints(elimination *s, size_t n)
{
    return PP_ARRAY(s->scratch, int, n);
}

// ── Order ────────────────────────────────────────────────────────────────────────────────────────

// The whole pattern without its diagonal, in the form of AMD. False: no memory.
static bool whole_pattern(elimination *s, int *first, int *length, int **list, size_t *room)
{
    const pp_ldl *l = s->ldl;
    int n = s->nodes, *next = ints(s, (size_t)n);
    size_t entries = 2 * ((size_t)l->p[n] - (size_t)n);
    *room = entries + entries / 5 + 7 * (size_t)n + 1;
    *list = *room > INT32_MAX ? NULL : ints(s, *room);
    if (!next || !*list) {
        return false;
    }
    // The caller gives the lower triangle, with the diagonal block first in each column. Each entry
    // is counted in its column and in its row, then placed in both. AMD needs extra room to work
    // in.
    memset(length, 0, (size_t)n * sizeof *length);
    for (int j = 0; j < n; j++) {
        for (int k = l->p[j] + 1; k < l->p[j + 1]; k++) {
            length[j]++;
            length[l->i[k]]++;
        }
    }
    for (int j = 0, sum = 0; j < n; j++) {
        first[j] = next[j] = sum;
        sum += length[j];
    }
    for (int j = 0; j < n; j++) {
        for (int k = l->p[j] + 1; k < l->p[j + 1]; k++) {
            (*list)[next[j]++] = l->i[k];
            (*list)[next[l->i[k]]++] = j;
        }
    }
    return true;
}

// A fill-reducing order of the nodes by AMD, which gives both the order and its inverse.
static bool find_order(elimination *s)
{
    int n = s->nodes, *work = ints(s, 8 * (size_t)n), *list;
    size_t room;
    if (!work || !whole_pattern(s, work, work + n, &list, &room)) {
        return false;
    }
    int used = s->ldl->p[n] - n;
    double info[AMD_INFO];
    amd_2(n, work, list, work + n, (int)room, 2 * used, work + 2 * n, s->inverse, s->order,
          work + 3 * n, work + 4 * n, work + 5 * n, work + 6 * n, NULL, info);
    return true;
}

// ── Tree ─────────────────────────────────────────────────────────────────────────────────────────

// p, i: for each position the earlier positions that it is connected to.
static void permute_pattern(elimination *s)
{
    const pp_ldl *l = s->ldl;
    int n = s->nodes;
    memset(s->p, 0, ((size_t)n + 1) * sizeof *s->p);
    for (int j = 0; j < n; j++) {
        for (int k = l->p[j] + 1; k < l->p[j + 1]; k++) {
            int a = s->inverse[j], b = s->inverse[l->i[k]];
            s->p[(a > b ? a : b) + 1]++;
        }
    }
    for (int j = 0; j < n; j++) {
        s->p[j + 1] += s->p[j];
    }
    for (int j = n - 1; j >= 0; j--) {  // filled from the ends, so that p becomes the starts
        for (int k = l->p[j] + 1; k < l->p[j + 1]; k++) {
            int a = s->inverse[j], b = s->inverse[l->i[k]];
            s->i[--s->p[(a > b ? a : b) + 1]] = a > b ? b : a;
        }
    }
    memmove(s->p, s->p + 1, (size_t)n * sizeof *s->p);
    s->p[n] = l->p[n] - n;
}

// Elimination tree with path compression (Liu 1990): parent[j] is the first row below the diagonal
// in column j of L.
static void find_tree(elimination *s, int *ancestor)
{
    for (int j = 0; j < s->nodes; j++) {
        s->parent[j] = -1;
        ancestor[j] = -1;
        for (int k = s->p[j]; k < s->p[j + 1]; k++) {
            for (int a = s->i[k]; a != -1 && a < j;) {
                int next = ancestor[a];
                ancestor[a] = j;
                if (next == -1) {
                    s->parent[a] = j;
                }
                a = next;
            }
        }
    }
}

// Renumbers the positions so that children come before parents and subtrees are consecutive. work:
// 3 nodes.
static void postorder(elimination *s, int *work)
{
    int n = s->nodes, *head = work, *next = work + n, *stack = work + 2 * n, done = 0;
    memset(head, 0xff, (size_t)n * sizeof *head);
    for (int j = n - 1; j >= 0; j--) {
        int up = s->parent[j];
        if (up >= 0) {
            next[j] = head[up];
            head[up] = j;
        }
    }
    for (int root = 0; root < n; root++) {
        int top = 0;
        if (s->parent[root] >= 0) {
            continue;
        }
        // Depth first without recursion: a chain of bodies is a tree as deep as it is long.
        stack[0] = root;
        while (top >= 0) {
            int j = stack[top], child = head[j];
            if (child >= 0) {
                head[j] = next[child];
                stack[++top] = child;
            } else {
                s->inverse[done++] = s->order[j];
                top--;
            }
        }
    }
    memcpy(s->order, s->inverse, (size_t)n * sizeof *s->order);
    for (int j = 0; j < n; j++) {
        s->inverse[s->order[j]] = j;
    }
}

// ── Rows of L ────────────────────────────────────────────────────────────────────────────────────

// Visits the entries of L row by row: counts them in lp[column + 1], or lists them in li from
// next[column] on.
static void walk_rows(elimination *s, int *mark, int *next)
{
    for (int j = 0; j < s->nodes; j++) {
        mark[j] = j;
        for (int k = s->p[j]; k < s->p[j + 1]; k++) {
            for (int a = s->i[k]; mark[a] != j; a = s->parent[a]) {
                mark[a] = j;
                if (next) {
                    s->li[next[a]++] = j;
                } else {
                    s->lp[a + 1]++;
                }
            }
        }
    }
}

// The pattern of L, first counted, then listed.
static bool find_front_rows(elimination *s, int *mark, int *next)
{
    int n = s->nodes;
    memset(s->lp, 0, ((size_t)n + 1) * sizeof *s->lp);
    memset(mark, 0xff, (size_t)n * sizeof *mark);
    walk_rows(s, mark, NULL);
    for (int j = 0; j < n; j++) {
        if (s->lp[j + 1] > INT32_MAX - s->lp[j]) {
            return false;
        }
        s->lp[j + 1] += s->lp[j];
        next[j] = s->lp[j];
    }
    s->li = ints(s, (size_t)s->lp[n]);
    if (!s->li) {
        return false;
    }
    memset(mark, 0xff, (size_t)n * sizeof *mark);
    walk_rows(s, mark, next);
    return true;
}

// ── Fronts ───────────────────────────────────────────────────────────────────────────────────────

// A front while fronts are merged: positions from..to-1, rows eliminated, rows below, zeros stored.
typedef struct group {
    int from, to, k, m;
    double zeros;
} group;

// Zeros of the merged front: those of both, and the rows of the parent that the child's columns
// lack.
static bool worth_merging(const group *child, const group *parent, double *zeros)
{
    int k = child->k + parent->k;
    *zeros = child->zeros + parent->zeros +
             (double)child->k * (double)(parent->k + parent->m - child->m);
    double all = (double)k * (double)(k + 1) / 2.0 + (double)k * parent->m;
    // Narrow fronts gain most from a merger, and may store more zeros.
    double part = 0.05;
    if (k <= NARROW) {
        part = 0.5;
    } else if (k <= WIDE) {
        part = 0.2;
    }
    return *zeros <= part * all;
}

// Fronts of one node each, then merged upwards; returns their number. groups[] has them in order.
static int find_groups(const elimination *s, group *groups)
{
    int count = 0;
    for (int j = 0; j < s->nodes; j++) {
        group g = {.from = j, .to = j + 1, .k = s->size[j]};
        for (int k = s->lp[j]; k < s->lp[j + 1]; k++) {
            g.m += s->size[s->li[k]];
        }
        double zeros;
        while (count > 0 && s->parent[groups[count - 1].to - 1] == j &&
               worth_merging(&groups[count - 1], &g, &zeros)) {
            g.from = groups[--count].from;
            g.k += groups[count].k;
            g.zeros = zeros;
        }
        groups[count++] = g;
    }
    return count;
}

// Sizes of all fronts, and where their numbers are.
static void count_fronts(elimination *s, const group *groups, size_t *rows)
{
    pp_ldl *l = s->ldl;
    *rows = 0;
    for (int f = 0; f < l->fronts; f++) {
        const group *g = &groups[f];
        pp_front *front = &l->front[f];
        *front = (pp_front){.k = g->k, .m = g->m, .first = s->start[g->from], .parent = -1};
        front->child = front->sibling = -1;
        front->rows = (int)*rows;
        front->F = l->left_size;
        front->Ut = l->above_size;
        *rows += (size_t)g->m;
        l->left_size += (size_t)(g->k + g->m) * (size_t)g->k;
        l->above_size += (size_t)g->m * (size_t)g->k;
        for (int j = g->from; j < g->to; j++) {
            s->front_of[j] = f;
        }
    }
}

// The row of a front at which the node at a position starts.
static int row_in_front(const elimination *s, const pp_front *front, const int *local, int position)
{
    int row = s->start[position];
    return row < front->first + front->k ? row - front->first : local[position];
}

// Rows below each front, their places in the parent, and the tree of fronts.
static void tie_fronts(elimination *s, const group *groups, int *local)
{
    pp_ldl *l = s->ldl;
    // The rows of a front below its pivots are those of the last column merged into it. The parent
    // of that column is in the parent front.
    for (int f = 0; f < l->fronts; f++) {
        pp_front *front = &l->front[f];
        int last = groups[f].to - 1, at = front->rows;
        for (int k = s->lp[last]; k < s->lp[last + 1]; k++) {
            for (int r = 0; r < s->size[s->li[k]]; r++) {
                l->row[at++] = s->start[s->li[k]] + r;
            }
        }
        front->parent = s->parent[last] < 0 ? -1 : s->front_of[s->parent[last]];
    }
    for (int f = l->fronts - 1; f >= 0; f--) {
        pp_front *front = &l->front[f];
        if (front->parent >= 0) {
            front->sibling = l->front[front->parent].child;
            l->front[front->parent].child = f;
        }
    }
    // Places of the rows below each child in its parent; `local` has the place of every node in the
    // front `up`.
    for (int f = 0; f < l->fronts; f++) {
        const pp_front *up = &l->front[f];
        int last = groups[f].to - 1;
        for (int k = s->lp[last], at = up->k; k < s->lp[last + 1]; k++) {
            local[s->li[k]] = at;
            at += s->size[s->li[k]];
        }
        for (int c = up->child; c >= 0; c = l->front[c].sibling) {
            pp_front *front = &l->front[c];
            int end = groups[c].to - 1, at = front->rows;
            for (int k = s->lp[end]; k < s->lp[end + 1]; k++) {
                int row = row_in_front(s, up, local, s->li[k]);
                front->inside += row < up->k ? s->size[s->li[k]] : 0;
                for (int r = 0; r < s->size[s->li[k]]; r++) {
                    l->relative[at++] = row + r;
                }
            }
        }
    }
}

// Places of the caller's blocks, front by front, because `local` describes one front at a time.
static bool place_blocks(elimination *s, const group *groups, int *local)
{
    pp_ldl *l = s->ldl;
    int n = s->nodes, blocks = l->p[n], *head = ints(s, (size_t)l->fronts + 1);
    int *next = ints(s, (size_t)blocks);
    if (!head || !next) {
        return false;
    }
    memset(head, 0xff, ((size_t)l->fronts + 1) * sizeof *head);
    for (int j = n - 1; j >= 0; j--) {
        for (int k = l->p[j + 1] - 1; k >= l->p[j]; k--) {
            // A block belongs to the front that eliminates the earlier of its two nodes. Where
            // elimination has reversed their order it is transposed.
            int a = s->inverse[l->i[k]], b = s->inverse[j], low = a < b ? a : b;
            l->block[k] = (pp_block_place){.front = s->front_of[low],
                                           .i = a < b ? b : a,
                                           .j = s->start[low],
                                           .flipped = a < b};
            next[k] = head[s->front_of[low]];
            head[s->front_of[low]] = k;
        }
    }
    for (int f = 0; f < l->fronts; f++) {
        const pp_front *front = &l->front[f];
        int last = groups[f].to - 1;
        for (int k = s->lp[last], at = front->k; k < s->lp[last + 1]; k++) {
            local[s->li[k]] = at;
            at += s->size[s->li[k]];
        }
        for (int k = head[f]; k >= 0; k = next[k]) {
            l->block[k].i = row_in_front(s, front, local, l->block[k].i);
            l->block[k].j -= front->first;
        }
    }
    return true;
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// Arrays of the analysis, in scratch memory.
static bool allocate_plan(elimination *s)
{
    size_t n = (size_t)s->nodes, entries = (size_t)s->ldl->p[s->nodes];
    s->order = ints(s, n);
    s->inverse = ints(s, n);
    s->size = ints(s, n);
    s->start = ints(s, n + 1);
    s->parent = ints(s, n);
    s->p = ints(s, n + 1);
    s->i = ints(s, entries);
    s->lp = ints(s, n + 1);
    s->front_of = ints(s, n);
    return s->order && s->inverse && s->size && s->start && s->parent && s->p && s->i && s->lp &&
           s->front_of;
}

// Arrays of the numeric phase, which last as long as the pattern.
static bool allocate_numbers(pp_ldl *l, size_t waiting)
{
    size_t n = (size_t)l->n;
    l->F = PP_ARRAY(l->arena, double, l->left_size);
    l->Ut = PP_ARRAY(l->arena, double, l->above_size);
    l->S = PP_ARRAY(l->arena, double, waiting);
    l->pivot = PP_ARRAY(l->arena, int, n);
    l->D = PP_ZEROS(l->arena, double, n);
    l->diagonal = PP_ARRAY(l->arena, double, n);
    l->x = PP_ARRAY(l->arena, double, n);
    l->t = PP_ARRAY(l->arena, double, n);
    l->grown = PP_ARRAY(l->arena, double, l->fronts);
    l->lost = PP_ARRAY(l->arena, int, l->fronts);
    return l->F && l->Ut && l->S && l->pivot && l->D && l->diagonal && l->x && l->t && l->grown &&
           l->lost;
}

// The tree is found twice: for the order of AMD, and again after the postorder.
static bool order_and_tree(elimination *s, int *work)
{
    int n = s->nodes;
    if (!find_order(s)) {
        return false;
    }
    permute_pattern(s);
    find_tree(s, work);
    postorder(s, work);
    permute_pattern(s);
    find_tree(s, work);
    s->start[0] = 0;
    for (int j = 0; j < n; j++) {
        s->size[j] = s->ldl->size[s->order[j]];
        s->start[j + 1] = s->start[j] + s->size[j];
    }
    return find_front_rows(s, work, work + n);
}

// Everything in here depends on the pattern alone, and is reused while the pattern stays.
perp_status pp_ldl_plan(pp_ldl *l)
{
    elimination s = {.ldl = l, .scratch = l->scratch, .nodes = l->nodes};
    size_t n = (size_t)l->nodes, rows, waiting = 0;
    group *groups = PP_ARRAY(s.scratch, group, n);
    int *work = ints(&s, 3 * n + 1);
    // Order and elimination tree, then fronts, then places. Only memory can fail; `ok` carries this
    // to the end.
    bool ok = groups && work && allocate_plan(&s) && order_and_tree(&s, work);
    l->place = PP_ARRAY(l->arena, int, l->n);
    l->block = PP_ARRAY(l->arena, pp_block_place, l->p[l->nodes]);
    l->left_size = l->above_size = 0;
    ok = ok && l->place && l->block;
    if (ok) {
        // from the caller's rows to the permuted ones
        for (int node = 0, at = 0; node < l->nodes; node++) {
            for (int r = 0; r < l->size[node]; r++) {
                l->place[at++] = s.start[s.inverse[node]] + r;
            }
        }
        l->fronts = find_groups(&s, groups);
        l->front = PP_ARRAY(l->arena, pp_front, l->fronts);
        ok = l->front != NULL;
    }
    if (ok) {
        count_fronts(&s, groups, &rows);
        l->row = PP_ARRAY(l->arena, int, rows);
        l->relative = PP_ARRAY(l->arena, int, rows);
        ok = l->row && l->relative && rows <= INT32_MAX;
    }
    if (ok) {
        tie_fronts(&s, groups, work);
        waiting = pp_ldl_stack(l, s.scratch, &ok);
        ok = ok && place_blocks(&s, groups, work) && allocate_numbers(l, waiting);
    }
    return ok ? PERP_OK : PERP_ERR_MEMORY;
}
