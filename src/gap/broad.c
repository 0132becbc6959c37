// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Broad phase by a tree of boxes. The boxes are put in the order of their centres along Hilbert's curve,
// free bodies first, and a balanced binary tree is laid over that order: node k has children 2 k and
// 2 k + 1. Each box of a free body asks the tree for what comes after it; so every pair is met once,
// boxes that cannot move never meet, and n boxes cost about n log n tests whatever their sizes.
// Half-planes have no box: each is held against every box by its lowest corner.
#include "gap/broad.h"

#include "gap/core.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct box {
    pp_vec2 low, high;
} box;

typedef struct item {
    box box;
    int shape;
    bool free;
} item;

typedef struct search {
    const perp_model *model;
    const pp_frame *body;
    pp_arena *arena;
    pp_broad *out;
    int count, free;       // items; the first `free` of them belong to free bodies
    item *item;            // in tree order
    int leaves;            // a power of two >= count
    box *node;             // 1 is the root, leaves.. are the leaves
    int joined, listed;    // sorted keys:
    uint64_t *joined_key;  // bodies that a joint keeps from meeting
    uint64_t *listed_key;  // shapes that are a listed contact
    bool failed;
} search;

static uint64_t pair_key(int a, int b)
{
    int low = a < b ? a : b;
    return ((uint64_t)low << 32) | (uint64_t)(a + b - low);
}

static bool has_key(const uint64_t *key, int n, uint64_t wanted)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (key[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && key[low] == wanted;
}

// ── What must not meet ───────────────────────────────────────────────────────────────────────────

static bool keeps_apart(perp_joint_kind kind)
{
    return kind == PERP_REVOLUTE || kind == PERP_PRISMATIC || kind == PERP_WELD ||
           kind == PERP_POINT_ON_LINE;
}

static bool set_exclusions(search *s)
{
    const perp_model *m = s->model;
    int most = m->joints > m->listed ? m->joints : m->listed;
    uint64_t *scratch = PP_ARRAY(s->arena, uint64_t, most);
    s->joined_key = PP_ARRAY(s->arena, uint64_t, m->joints);
    s->listed_key = PP_ARRAY(s->arena, uint64_t, m->listed);
    if (!scratch || !s->joined_key || !s->listed_key) {
        return false;
    }
    for (int i = 0; i < m->joints; i++) {
        if (keeps_apart(m->joint[i].kind)) {
            s->joined_key[s->joined++] = pair_key(m->joint[i].a, m->joint[i].b);
        }
    }
    for (int i = 0; i < m->listed; i++) {
        s->listed_key[s->listed++] = pair_key(m->contact[i].a, m->contact[i].b);
    }
    pp_sort_keys(s->joined, s->joined_key, scratch);
    pp_sort_keys(s->listed, s->listed_key, scratch);
    return true;
}

static bool may_meet(const search *s, int a, int b)
{
    const perp_model *m = s->model;
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    if (sa->body == sb->body || !pp_gap_possible(sa, sb) ||
        has_key(s->listed_key, s->listed, pair_key(a, b))) {
        return false;
    }
    pp_pair rule = {.ignore = false};
    if (m->pairs > 0) {
        pp_model_pair(m, a, b, &rule);
    }
    return !rule.ignore &&
           (rule.given || !has_key(s->joined_key, s->joined, pair_key(sa->body, sb->body)));
}

static void add_pair(search *s, int a, int b)
{
    pp_broad *out = s->out;
    if (s->failed || !may_meet(s, a, b)) {
        return;
    }
    if (out->count == out->capacity) {
        int capacity = out->capacity ? 2 * out->capacity : 4 * s->count + 16;
        uint64_t *pair = PP_ARRAY(s->arena, uint64_t, capacity);
        if (!pair) {
            s->failed = true;
            return;
        }
        if (out->count > 0) {
            memcpy(pair, out->pair, (size_t)out->count * sizeof *pair);
        }
        out->pair = pair;
        out->capacity = capacity;
    }
    out->pair[out->count++] = pair_key(a, b);
}

// ── Boxes ────────────────────────────────────────────────────────────────────────────────────────

static box join(const box *a, const box *b)
{
    return (box){{fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y)},
                 {fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y)}};
}

static void cover(box *b, pp_vec2 x)
{
    box at = {x, x};
    *b = join(b, &at);
}

static const box NOTHING = {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};

static box shape_box(const pp_shape *shape, const pp_frame *frame)
{
    box b = NOTHING;
    pp_vec2 along = pp_rotate2(frame, shape->axis_B), centre = pp_point2(frame, shape->p_BS);
    for (int k = 0; k < shape->count; k++) {
        cover(&b, pp_point2(frame, shape->vertex_B[k]));
    }
    if (shape->kind != PERP_POLYGON) {
        cover(&b, pp_add2(centre, shape->half, along));
        cover(&b, pp_add2(centre, -shape->half, along));
    }
    b.low = (pp_vec2){b.low.x - shape->radius, b.low.y - shape->radius};
    b.high = (pp_vec2){b.high.x + shape->radius, b.high.y + shape->radius};
    return b;
}

// Half the margin on every side, and what rounding of the coordinates may have cost.
static void grow(box *b, double margin)
{
    double most =
        fmax(fmax(fabs(b->low.x), fabs(b->high.x)), fmax(fabs(b->low.y), fabs(b->high.y)));
    double more = 0.5 * margin + 8.0 * DBL_EPSILON * most;
    b->low = (pp_vec2){b->low.x - more, b->low.y - more};
    b->high = (pp_vec2){b->high.x + more, b->high.y + more};
}

// Which of `cells` cells of a grid along one axis.
static uint32_t cell(double x, double low, double width, double cells)
{
    double place = width > 0.0 ? cells * ((x - low) / width) : 0.0;
    return (uint32_t)fmin(fmax(place, 0.0), cells - 1.0);
}

static pp_vec2 centre_of(const box *b)
{
    return (pp_vec2){0.5 * b->low.x + 0.5 * b->high.x, 0.5 * b->low.y + 0.5 * b->high.y};
}

// Key of an item: not free, place on the curve, index in the list. The place has the bits that the index leaves,
// so that the order is still by place when one body has flown far away.
static int fill_keys(const search *s, const item *list, uint64_t *key)
{
    box all = NOTHING;
    for (int i = 0; i < s->count; i++) {
        cover(&all, centre_of(&list[i].box));
    }
    double width = fmax(all.high.x - all.low.x, all.high.y - all.low.y);
    int index_bits = 1;
    while (s->count >> index_bits) {
        index_bits++;
    }
    int bits = (63 - index_bits) / 2;
    double cells = ldexp(1.0, bits);
    for (int i = 0; i < s->count; i++) {
        pp_vec2 c = centre_of(&list[i].box);
        uint32_t at[2] = {cell(c.x, all.low.x, width, cells), cell(c.y, all.low.y, width, cells)};
        uint64_t code = pp_hilbert(2, at, bits);
        key[i] = ((uint64_t)!list[i].free << 63) | (code << index_bits) | (uint64_t)i;
    }
    return index_bits;
}

// Shapes with a box into s->item, in tree order.
static bool set_items(search *s, double margin)
{
    const perp_model *m = s->model;
    item *list = PP_ARRAY(s->arena, item, m->shapes);
    uint64_t *key = PP_ARRAY(s->arena, uint64_t, m->shapes),
             *scratch = PP_ARRAY(s->arena, uint64_t, m->shapes);
    s->item = PP_ARRAY(s->arena, item, m->shapes);
    if (!list || !key || !scratch || !s->item) {
        return false;
    }
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *shape = &m->shape[i];
        if (shape->detect && shape->kind != PERP_HALFPLANE) {
            item *it = &list[s->count++];
            *it = (item){shape_box(shape, &s->body[shape->body]), i, m->body[shape->body].nv > 0};
            s->free += it->free;
        }
    }
    int index_bits = fill_keys(s, list, key);
    pp_sort_keys(s->count, key, scratch);
    for (int i = 0; i < s->count; i++) {
        s->item[i] = list[key[i] & (((uint64_t)1 << index_bits) - 1)];
        grow(&s->item[i].box, margin);
    }
    return true;
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

static bool set_tree(search *s)
{
    s->leaves = 1;
    while (s->leaves < s->count) {
        s->leaves *= 2;
    }
    s->node = PP_ARRAY(s->arena, box, 2 * s->leaves);
    if (!s->node) {
        return false;
    }
    for (int k = 0; k < s->leaves; k++) {
        s->node[s->leaves + k] = k < s->count ? s->item[k].box : NOTHING;
    }
    for (int k = s->leaves - 1; k >= 1; k--) {
        s->node[k] = join(&s->node[2 * k], &s->node[2 * k + 1]);
    }
    return true;
}

static bool overlap(search *s, const box *a, const box *b)
{
    s->out->tests++;
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y;
}

static void ask_below(search *s, const item *from, int top)
{
    int stack[64], depth = 0;  // the tree has at most 32 levels, each leaves one node behind
    stack[depth++] = top;
    while (depth > 0) {
        int k = stack[--depth];
        if (!overlap(s, &from->box, &s->node[k])) {
            continue;
        }
        if (k >= s->leaves) {
            add_pair(s, from->shape, s->item[k - s->leaves].shape);
        } else {
            stack[depth++] = 2 * k + 1;
            stack[depth++] = 2 * k;
        }
    }
}

// Everything after leaf i hangs to the right of the way from it to the root.
static void ask_after(search *s, int i)
{
    for (int k = s->leaves + i; k > 1; k /= 2) {
        if (k % 2 == 0) {
            ask_below(s, &s->item[i], k + 1);
        }
    }
}

static void ask_plane(search *s, int shape, double margin)
{
    const pp_shape *plane = &s->model->shape[shape];
    const pp_frame *f = &s->body[plane->body];
    pp_vec2 axis = pp_rotate2(f, plane->axis_B), out = {-axis.y, axis.x};
    pp_vec2 x = pp_point2(f, plane->p_BS);
    int most = s->model->body[plane->body].nv > 0 ? s->count : s->free;
    for (int i = 0; i < most; i++) {
        const box *b = &s->item[i].box;
        pp_vec2 lowest = {out.x > 0.0 ? b->low.x : b->high.x, out.y > 0.0 ? b->low.y : b->high.y};
        s->out->tests++;
        if (pp_dot2(out, pp_sub2(lowest, x)) <= margin) {
            add_pair(s, s->item[i].shape, shape);
        }
    }
}

perp_status pp_broad_run(pp_broad *out, const perp_model *model, const pp_frame *body,
                         double margin, pp_arena *arena)
{
    search s = {.model = model, .body = body, .arena = arena, .out = out};
    *out = (pp_broad){0};
    if (!set_exclusions(&s) || !set_items(&s, margin) || !set_tree(&s)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; model->spatial && i < model->shapes; i++) {
        for (int k = i + 1; k < model->shapes; k++) {
            bool free = model->body[model->shape[i].body].nv > 0 ||
                        model->body[model->shape[k].body].nv > 0;
            if (free && model->shape[i].detect && model->shape[k].detect) {
                add_pair(&s, i, k);
            }
        }
    }
    for (int i = 0; i < s.free && !model->spatial; i++) {
        ask_after(&s, i);
    }
    for (int i = 0; i < model->shapes; i++) {
        if (model->shape[i].kind == PERP_HALFPLANE && model->shape[i].detect) {
            ask_plane(&s, i, margin);
        }
    }
    uint64_t *scratch = PP_ARRAY(arena, uint64_t, out->count);
    if (s.failed || !scratch) {
        return PERP_ERR_MEMORY;
    }
    pp_sort_keys(out->count, out->pair, scratch);
    return PERP_OK;
}
