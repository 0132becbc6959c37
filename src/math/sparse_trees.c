// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree of fronts: where each Schur complement waits, and which subtrees go to which threads.
#include "math/sparse_ldl.h"

enum { PIECES = 4 };  // subtrees per thread, at least, so that none waits long for another

static const double SHARED_FROM = 1e6;  // operations from which threads are worth waking

// Region of the fronts above all subtrees.
enum { TOP = -1 };

// Places the Schur complements of the fronts first..last of a region on two stacks from `base` on;
// depth: parities. Returns their end. region NULL: all fronts.
static size_t stack_region(pp_ldl *l, const int *depth, const int *region, int first, int last,
                           size_t base)
{
    size_t used[2] = {0, 0}, most[2] = {0, 0};
    int which = region ? region[last] : TOP;
    for (int f = first; f <= last; f++) {
        pp_front *front = &l->front[f];
        if (region && region[f] != which) {
            continue;
        }
        // The complements of the children are consumed by this front: their places are free for its
        // siblings.
        for (int c = front->child; c >= 0; c = l->front[c].sibling) {
            if (!region || region[c] == which) {
                used[depth[c]] -= (size_t)l->front[c].m * (size_t)l->front[c].m;
            }
        }
        front->S = used[depth[f]];
        used[depth[f]] += (size_t)front->m * (size_t)front->m;
        most[depth[f]] = used[depth[f]] > most[depth[f]] ? used[depth[f]] : most[depth[f]];
    }
    for (int f = first; f <= last; f++) {
        if (!region || region[f] == which) {
            l->front[f].S += base + (depth[f] ? most[0] : 0);
        }
    }
    return base + most[0] + most[1];
}

// Operations of each front with all below it; returns the total.
static double count_operations(const pp_ldl *l, double *work)
{
    double sum = 0.0;
    for (int f = 0; f < l->fronts; f++) {
        work[f] = 0.0;
    }
    for (int f = 0; f < l->fronts; f++) {
        double k = l->front[f].k, m = l->front[f].m;
        work[f] += k * (k * k / 3.0 + m * (k + m));
        if (l->front[f].parent >= 0) {
            work[l->front[f].parent] += work[f];
        } else {
            sum += work[f];
        }
    }
    return sum;
}

// Subtrees with at most `most` operations, below fronts with more. The fronts of a subtree are
// consecutive, its root last, so that the next subtree starts after it.
static void find_trees(pp_ldl *l, const double *work, double most, int *region)
{
    l->trees = l->tops = 0;
    for (int f = 0, first = 0; f < l->fronts; f++) {
        int up = l->front[f].parent;
        region[f] = TOP;
        if (work[f] > most) {
            l->top[l->tops++] = f;
            first = f + 1;
        } else if (up < 0 || work[up] > most) {
            for (int k = first; k <= f; k++) {
                region[k] = l->trees;
            }
            l->tree[l->trees++] = (pp_subtree){first, f};
            first = f + 1;
        }
    }
}

// Memory for Schur complements is known before any number is: a factorisation allocates nothing.
size_t pp_ldl_stack(pp_ldl *l, pp_arena *scratch, bool *ok)
{
    int *depth = PP_ARRAY(scratch, int, l->fronts), *region = PP_ARRAY(scratch, int, l->fronts);
    double *work = PP_ARRAY(scratch, double, l->fronts);
    l->trees = l->tops = 0;
    *ok = depth && region && work;
    if (!*ok || l->fronts == 0) {
        return 0;
    }
    // Parity of the depth: the complements of a front and of its children are on different stacks,
    // so that those of the children can be popped when the front has its own.
    for (int f = l->fronts - 1; f >= 0; f--) {
        int up = l->front[f].parent;
        depth[f] = up < 0 ? 0 : 1 - depth[up];
    }
    double all = l->team.lanes > 1 ? count_operations(l, work) : 0.0;
    if (all < SHARED_FROM) {
        return stack_region(l, depth, NULL, 0, l->fronts - 1, 0);
    }
    l->tree = PP_ARRAY(l->arena, pp_subtree, l->fronts);
    l->top = PP_ARRAY(l->arena, int, l->fronts);
    *ok = l->tree && l->top;
    if (!*ok) {
        return 0;
    }
    // Subtrees that are eliminated at the same time have stacks of their own, as have the fronts
    // above them.
    find_trees(l, work, all / (PIECES * l->team.lanes), region);
    size_t end = 0;
    for (int t = 0; t < l->trees; t++) {
        end = stack_region(l, depth, region, l->tree[t].first, l->tree[t].last, end);
    }
    return l->tops > 0 ? stack_region(l, depth, region, 0, l->top[l->tops - 1], end) : end;
}
