// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A tree of boxes over all shapes of a model, for many rays at one state.
//
// As in the broad phase, boxes are ordered along Hilbert's curve, with a complete binary tree over that order: node k
// has the children 2 k and 2 k + 1. Half-planes and half-spaces have no box and are tested one by one.
#include "gap/broad.h"
#include "gap/query/query.h"
#include "math/math.h"

#include <math.h>

static bool is_boxed(const pp_shape *s)
{
    return s->kind != PERP_SHAPE_HALFPLANE && s->kind != PERP_SHAPE_HALFSPACE;
}

// The nearer of two hits, of the lower shape where they are equally near.
static void offer(pp_ray_answer *best, const pp_ray_hit *hit, int shape)
{
    bool nearer = best->shape < 0 || hit->distance < best->hit.distance ||
                  (hit->distance == best->hit.distance && shape < best->shape);
    if (nearer) {
        *best = (pp_ray_answer){shape, *hit};
    }
}

static bool is_asked(const perp_model *m, int shape, const pp_ray_filter *filter)
{
    const pp_shape *s = &m->shape[shape];
    return s->body != filter->skip && (filter->mask == UINT32_MAX || (s->group & filter->mask));
}

// One shape, no further than the best so far.
static void try_shape(const perp_model *m, const pp_frame *body, int shape, const pp_ray *ray,
                      pp_ray_answer *best)
{
    pp_ray_hit hit;
    pp_ray cut = *ray;
    cut.most = best->shape >= 0 ? best->hit.distance : ray->most;
    if (pp_gap_ray(m, body, shape, &cut, &hit)) {
        offer(best, &hit, shape);
    }
}

pp_ray_answer pp_gap_ray_all(const perp_model *model, const pp_frame *body, const pp_ray *ray,
                             pp_ray_filter filter)
{
    pp_ray_answer best = {.shape = -1};
    for (int i = 0; i < model->shapes; i++) {
        const pp_shape *s = &model->shape[i];
        double at, most = best.shape >= 0 ? best.hit.distance : ray->most;
        if (!is_asked(model, i, &filter)) {
            continue;
        }
        if (is_boxed(s)) {
            pp_box3 box = pp_shape_box(model, s, &body[s->body], 0.0);
            if (!pp_ray_box(ray, &box, 0.0, most, &at)) {
                continue;
            }
        }
        try_shape(model, body, i, ray, &best);
    }
    return best;
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

// Halved before the sum, which cannot overflow.
static double middle(double low, double high)
{
    return 0.5 * low + 0.5 * high;
}

// Places of the centres on the curve, with the index in the low bits.
static void set_keys(const pp_shape_tree *tree, const pp_box3 *box, const pp_box3 *all, int bits,
                     uint64_t *key)
{
    int dim = tree->model->spatial ? 3 : 2, cells = (63 - bits) / dim < 20 ? (63 - bits) / dim : 20;
    // The same width for all axes: cells are cubes, as the Hilbert curve has them.
    const double low[3] = {all->low.x, all->low.y, all->low.z};
    const double high[3] = {all->high.x, all->high.y, all->high.z};
    double width = 0.0;
    for (int k = 0; k < 3; k++) {
        width = fmax(width, high[k] - low[k]);
    }
    for (int i = 0; i < tree->count; i++) {
        const double c[3] = {middle(box[i].low.x, box[i].high.x),
                             middle(box[i].low.y, box[i].high.y),
                             middle(box[i].low.z, box[i].high.z)};
        uint32_t cell[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            double part = width > 0.0 ? (c[k] - low[k]) / width : 0.0;
            double last = ldexp(1.0, cells) - 1.0;
            cell[k] = (uint32_t)fmin(fmax(part * last, 0.0), last);
        }
        key[i] = (pp_hilbert(dim, cell, cells) << bits) | (uint64_t)i;
    }
}

// The smallest box around both; around nothing (low > high) and a box it is that box.
static pp_box3 around(const pp_box3 *a, const pp_box3 *b)
{
    return (pp_box3){
        pp_vec(fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), fmin(a->low.z, b->low.z)),
        pp_vec(fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), fmax(a->high.z, b->high.z))};
}

// Boxes, then their order, then the nodes from the leaves to the root.
bool pp_shape_tree_build(pp_shape_tree *tree, const perp_model *model, const pp_frame *body,
                         pp_arena *arena)
{
    const pp_box3 nothing = {{PP_INF, PP_INF, PP_INF}, {-PP_INF, -PP_INF, -PP_INF}};
    *tree = (pp_shape_tree){.model = model, .body = body, .leaves = 1};
    pp_box3 *box = PP_ARRAY(arena, pp_box3, model->shapes), all = nothing;
    int *shape = PP_ARRAY(arena, int, model->shapes), bits = 1;
    uint64_t *key = PP_ARRAY(arena, uint64_t, model->shapes);
    uint64_t *scratch = PP_ARRAY(arena, uint64_t, model->shapes);
    tree->shape = PP_ARRAY(arena, int, model->shapes);
    if (!box || !shape || !key || !scratch || !tree->shape) {
        return false;
    }
    for (int i = 0; i < model->shapes; i++) {
        const pp_shape *s = &model->shape[i];
        if (is_boxed(s)) {
            shape[tree->count] = i;
            box[tree->count] = pp_shape_box(model, s, &body[s->body], 0.0);
            all = around(&all, &box[tree->count++]);
        }
    }
    // a power of two of leaves; bits: for the index in a key
    while (tree->leaves < tree->count) {
        tree->leaves *= 2;
    }
    while (tree->count >> bits) {
        bits++;
    }
    tree->node = PP_ARRAY(arena, pp_box3, 2 * (size_t)tree->leaves);
    if (!tree->node) {
        return false;
    }
    // Neighbours on the curve are neighbours in space, so that nodes are small. Leaves beyond the last shape are empty.
    set_keys(tree, box, &all, bits, key);
    pp_sort_keys(tree->count, key, scratch);
    for (int k = 0; k < tree->leaves; k++) {
        int i = k < tree->count ? (int)(key[k] & (((uint64_t)1 << bits) - 1)) : 0;
        tree->node[tree->leaves + k] = k < tree->count ? box[i] : nothing;
        if (k < tree->count) {
            tree->shape[k] = shape[i];
        }
    }
    for (int k = tree->leaves - 1; k >= 1; k--) {
        tree->node[k] = around(&tree->node[2 * k], &tree->node[2 * k + 1]);
    }
    return true;
}

// Depth first, nearest child first; nodes beyond the best hit so far are passed over. Half-spaces and half-planes have no
// box and are tried before.
pp_ray_answer pp_shape_tree_ray(const pp_shape_tree *tree, const pp_ray *ray, pp_ray_filter filter)
{
    const perp_model *m = tree->model;
    pp_ray_answer best = {.shape = -1};
    int stack[64], depth = 0;  // each of at most 32 levels leaves one node behind
    for (int i = 0; i < m->shapes; i++) {
        if (!is_boxed(&m->shape[i]) && is_asked(m, i, &filter)) {
            try_shape(m, tree->body, i, ray, &best);
        }
    }
    stack[depth++] = 1;
    while (depth > 0 && tree->count > 0) {
        int k = stack[--depth];
        double at, most = best.shape >= 0 ? best.hit.distance : ray->most;
        if (!pp_ray_box(ray, &tree->node[k], 0.0, most, &at)) {
            continue;
        }
        if (k >= tree->leaves) {
            int shape = k - tree->leaves < tree->count ? tree->shape[k - tree->leaves] : -1;
            if (shape >= 0 && is_asked(m, shape, &filter)) {
                try_shape(m, tree->body, shape, ray, &best);
            }
            continue;
        }
        // the child that the ray enters first is looked at first
        double first = PP_INF, second = PP_INF;
        bool one = pp_ray_box(ray, &tree->node[2 * k], 0.0, most, &first);
        bool two = pp_ray_box(ray, &tree->node[2 * k + 1], 0.0, most, &second);
        int near = first <= second ? 2 * k : 2 * k + 1, far = 4 * k + 1 - near;
        if (near == 2 * k ? two : one) {
            stack[depth++] = far;
        }
        if (near == 2 * k ? one : two) {
            stack[depth++] = near;
        }
    }
    return best;
}
