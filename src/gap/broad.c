// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Broad phase by a bounding volume hierarchy, a tree of axis-aligned boxes (AABB) built anew each time. The boxes are
// put in the order of their centres along Hilbert's curve, free bodies first, and a balanced binary tree is laid over
// that order: node k has children 2 k and 2 k + 1. Neighbours along the curve are neighbours in space, so that the
// boxes of inner nodes are small (a linear BVH, Lauterbach et al. 2009; they use Morton's curve). Each box of a free body asks the tree for what comes after it; so every pair is met once,
// boxes that cannot move never meet, and n boxes cost about n log n tests whatever their sizes.
// Half-planes and half-spaces have no box: each is held against every box by its lowest corner.
// The plane is z = 0 here: its boxes are flat, and its curve is the planar one.
#include "gap/broad.h"

#include "gap/apart.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A shape with a box. free: its body moves by impulses, so that it can meet anything.
typedef struct broad_item {
    pp_box3 box;  // axis-aligned, world [m]
    int shape;
    bool free;
} broad_item;

typedef struct broad_search {
    const perp_model *model;
    const pp_frame *body;
    pp_arena *arena;
    pp_broad *out;
    int count, free;   // items; the first `free` of them belong to free bodies
    broad_item *item;  // in tree order
    int leaves;        // a power of two >= count
    pp_box3 *node;     // 1 is the root, leaves.. are the leaves
    bool failed;
} broad_search;

// Sorting by this key sorts by (a, b) with a < b: the order of pairs does not depend on how the tree met them.
static uint64_t pair_key(int a, int b)
{
    int low = a < b ? a : b;
    return ((uint64_t)low << 32) | (uint64_t)(a + b - low);
}

// The filter of the model (ignored pairs, joined bodies, both fixed) comes before the pair is stored.
static void add_pair(broad_search *s, int a, int b)
{
    pp_broad *out = s->out;
    if (s->failed || pp_model_pair_filter(s->model, a, b) != PP_PAIR_COLLIDES) {
        return;
    }
    if (out->count == out->capacity) {
        // grows by doubling in the arena: old lists stay there until the step ends
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

// Without the care for NaN that makes calls of fmin and fmax.
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

// The smallest box around both.
static pp_box3 box_union(const pp_box3 *a, const pp_box3 *b)
{
    return (pp_box3){pp_vec(smaller(a->low.x, b->low.x), smaller(a->low.y, b->low.y),
                            smaller(a->low.z, b->low.z)),
                     pp_vec(pp_max(a->high.x, b->high.x), pp_max(a->high.y, b->high.y),
                            pp_max(a->high.z, b->high.z))};
}

static void box_extend(pp_box3 *b, perp_vec3 x)
{
    pp_box3 at = {x, x};
    *b = box_union(b, &at);
}

// The box of no points: extending it by the first one gives that point.
static const pp_box3 NOTHING = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};

// Halves are added, not the sum halved: the sum of large coordinates may overflow.
static perp_vec3 box_centre(const pp_box3 *b)
{
    return pp_vec(0.5 * b->low.x + 0.5 * b->high.x, 0.5 * b->low.y + 0.5 * b->high.y,
                  0.5 * b->low.z + 0.5 * b->high.z);
}

// Without a bounding box.
static bool is_endless(const pp_shape *shape)
{
    return shape->kind == PERP_SHAPE_HALFPLANE || shape->kind == PERP_SHAPE_HALFSPACE;
}

// Around the core's vertices or the ends of its axis, grown by the radius.
static pp_box3 planar_box(const pp_shape *shape, const pp_frame *frame)
{
    pp_box3 b = NOTHING;
    pp_vec2 along = pp_rotate2(frame, shape->axis_B), centre = pp_point2(frame, shape->p_BS);
    for (int k = 0; k < shape->count; k++) {
        pp_vec2 x = pp_point2(frame, shape->vertex_B[k]);
        box_extend(&b, pp_vec(x.x, x.y, 0.0));
    }
    if (shape->kind != PERP_SHAPE_POLYGON) {
        perp_vec3 c = {centre.x, centre.y, 0.0}, d = {along.x, along.y, 0.0};
        box_extend(&b, pp_along(c, shape->half, d));
        box_extend(&b, pp_along(c, -shape->half, d));
    }
    perp_vec3 round = {shape->radius, shape->radius, 0.0};
    return (pp_box3){pp_sub(b.low, round), pp_add(b.high, round)};
}

// X_WS = X_WB X_BS; box_inflate adds what rounding of world coordinates may cost.
static pp_pose world_pose(const pp_shape *shape, const pp_frame *frame)
{
    const pp_pose X_WB = {frame->p, frame->R};
    return pp_pose_mul(&X_WB, &shape->X_BS);
}

// Of a mesh: the box around the turned box of its root, which may be larger than that of the turned triangles.
static pp_box3 spatial_box(const pp_shape *shape, const pp_frame *frame)
{
    pp_box3 b;
    pp_pose X = world_pose(shape, frame);
    pp_solid box = {.kind = PP_SOLID_BOX};  // around all triangles
    if (shape->mesh) {
        const pp_box3 *root = &shape->mesh->node[1];
        perp_vec3 centre = box_centre(root);
        box.half = pp_sub(root->high, centre);
        X.p = pp_pose_point(&X, centre);
    }
    pp_solid_box(shape->mesh ? &box : &shape->solid, &X, &b.low, &b.high);
    return b;
}

// Half the margin on every side, and what rounding of the coordinates may have cost.
static void box_inflate(pp_box3 *b, double margin)
{
    double x = pp_max(fabs(b->low.x), fabs(b->high.x)), y = pp_max(fabs(b->low.y), fabs(b->high.y)),
           z = pp_max(fabs(b->low.z), fabs(b->high.z));
    double more = 0.5 * margin + 16.0 * DBL_EPSILON * pp_max(pp_max(x, y), z);
    perp_vec3 all = {more, more, more};
    *b = (pp_box3){pp_sub(b->low, all), pp_add(b->high, all)};
}

pp_box3 pp_shape_box(const perp_model *model, const pp_shape *shape, const pp_frame *frame,
                     double margin)
{
    pp_box3 box = model->spatial ? spatial_box(shape, frame) : planar_box(shape, frame);
    box_inflate(&box, margin);
    return box;
}

// Which of `cells` cells of a grid along one axis.
static uint32_t cell_index(double x, double low, double width, double cells)
{
    double place = width > 0.0 ? cells * ((x - low) / width) : 0.0;
    return (uint32_t)fmin(fmax(place, 0.0), cells - 1.0);
}

static bool box_contains(const pp_box3 *b, perp_vec3 x)
{
    return b->low.x <= x.x && x.x <= b->high.x && b->low.y <= x.y && x.y <= b->high.y &&
           b->low.z <= x.z && x.z <= b->high.z;
}

// Where the centres are, without the few that have flown far away: cells must be fine where the many are. What is
// further from the mean than many mean deviations is left out, three times over.
static pp_box3 window(const broad_search *s, const broad_item *list)
{
    const double far = 16.0;
    pp_box3 all = NOTHING;
    for (int i = 0; i < s->count; i++) {
        box_extend(&all, box_centre(&list[i].box));
    }
    // mean and mean absolute deviation of the centres that are inside so far
    for (int round = 0; round < 3; round++) {
        perp_vec3 mean = {0}, off = {0};
        int inside = 0;
        for (int i = 0; i < s->count; i++) {
            perp_vec3 c = box_centre(&list[i].box);
            if (box_contains(&all, c)) {
                inside++;
                mean = pp_along(mean, 1.0 / inside, pp_sub(c, mean));
            }
        }
        for (int i = 0; i < s->count; i++) {
            perp_vec3 c = box_centre(&list[i].box);
            if (box_contains(&all, c)) {
                perp_vec3 d = pp_sub(c, mean);
                off = pp_along(off, 1.0 / inside, pp_vec(fabs(d.x), fabs(d.y), fabs(d.z)));
            }
        }
        pp_box3 near = {pp_along(mean, -far, off), pp_along(mean, far, off)};
        all = (pp_box3){pp_vec(pp_max(all.low.x, near.low.x), pp_max(all.low.y, near.low.y),
                               pp_max(all.low.z, near.low.z)),
                        pp_vec(smaller(all.high.x, near.high.x), smaller(all.high.y, near.high.y),
                               smaller(all.high.z, near.high.z))};
    }
    return all;
}

// Key of an item: not free, place on the curve, index in the list. The place has the bits that the index leaves.
static int fill_keys(const broad_search *s, const broad_item *list, uint64_t *key)
{
    // cells are cubes: the longest side of the window sets their width
    pp_box3 all = window(s, list);
    perp_vec3 wide = pp_sub(all.high, all.low);
    double width = pp_max(pp_max(wide.x, wide.y), wide.z);
    int index_bits = 1;
    while (s->count >> index_bits) {
        index_bits++;
    }
    // 1 bit for not free, dim * bits for the curve, index_bits for the index
    int dim = s->model->spatial ? 3 : 2, bits = (63 - index_bits) / dim;
    double cells = ldexp(1.0, bits);
    for (int i = 0; i < s->count; i++) {
        perp_vec3 c = box_centre(&list[i].box);
        uint32_t at[3] = {cell_index(c.x, all.low.x, width, cells),
                          cell_index(c.y, all.low.y, width, cells),
                          cell_index(c.z, all.low.z, width, cells)};
        uint64_t code = pp_hilbert(dim, at, bits);
        key[i] = ((uint64_t)!list[i].free << 63) | (code << index_bits) | (uint64_t)i;
    }
    return index_bits;
}

enum {
    BRUTE_FORCE_MAX = 64
};  // boxes up to which each is held against each, which takes less than sorting them

// Shapes with a box into s->item, in tree order.
static bool set_items(broad_search *s, double margin)
{
    const perp_model *m = s->model;
    broad_item *list = PP_ARRAY(s->arena, broad_item, m->shapes);
    pp_box3 *box = PP_ARRAY(s->arena, pp_box3, m->shapes);
    uint64_t *key = PP_ARRAY(s->arena, uint64_t, m->shapes),
             *scratch = PP_ARRAY(s->arena, uint64_t, m->shapes);
    s->item = PP_ARRAY(s->arena, broad_item, m->shapes);
    if (!list || !box || !key || !scratch || !s->item) {
        return false;
    }
    // boxes that are not grown yet: the curve needs their centres only
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *shape = &m->shape[i];
        if (shape->detect && !is_endless(shape)) {
            broad_item *it = &list[s->count++];
            const pp_frame *frame = &s->body[shape->body];
            *it = (broad_item){m->spatial ? spatial_box(shape, frame) : planar_box(shape, frame), i,
                               m->body[shape->body].nv > 0};
            s->free += it->free;
        }
    }
    if (s->count <= BRUTE_FORCE_MAX) {
        int next[2] = {0, s->free};  // no tree for so few: free bodies first, then the others
        for (int i = 0; i < s->count; i++) {
            s->item[next[!list[i].free]++] = list[i];
        }
    } else {
        int index_bits = fill_keys(s, list, key);
        pp_sort_keys(s->count, key, scratch);
        for (int i = 0; i < s->count; i++) {
            s->item[i] = list[key[i] & (((uint64_t)1 << index_bits) - 1)];
        }
    }
    for (int i = 0; i < s->count; i++) {
        box_inflate(&s->item[i].box, margin);
        box[s->item[i].shape] = s->item[i].box;
    }
    s->out->box = box;
    return true;
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

// Bottom up: leaves beyond the last item are empty boxes, which nothing finite overlaps.
static bool set_tree(broad_search *s)
{
    s->leaves = 1;
    while (s->leaves < s->count) {
        s->leaves *= 2;
    }
    s->node = PP_ARRAY(s->arena, pp_box3, 2 * (size_t)s->leaves);
    if (!s->node) {
        return false;
    }
    for (int k = 0; k < s->leaves; k++) {
        s->node[s->leaves + k] = k < s->count ? s->item[k].box : NOTHING;
    }
    for (int k = s->leaves - 1; k >= 1; k--) {
        s->node[k] = box_union(&s->node[2 * k], &s->node[2 * k + 1]);
    }
    return true;
}

// Whether two boxes overlap or touch. Tests are counted for the statistics of a step.
static bool report_overlap(broad_search *s, const pp_box3 *a, const pp_box3 *b)
{
    s->out->tests++;
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// All leaves below node `top` whose boxes overlap, depth first without recursion.
static void ask_below(broad_search *s, const broad_item *from, int top)
{
    int stack[64], depth = 0;  // the tree has at most 32 levels, each leaves one node behind
    stack[depth++] = top;
    while (depth > 0) {
        int k = stack[--depth];
        if (!report_overlap(s, &from->box, &s->node[k])) {
            continue;
        }
        if (k >= s->leaves) {
            if (k - s->leaves < s->count) {  // an infinite box also overlaps empty leaves
                add_pair(s, from->shape, s->item[k - s->leaves].shape);
            }
        } else {
            stack[depth++] = 2 * k + 1;
            stack[depth++] = 2 * k;
        }
    }
}

// Everything after leaf i hangs to the right of the way from it to the root.
static void ask_after(broad_search *s, int i)
{
    for (int k = s->leaves + i; k > 1; k /= 2) {
        if (k % 2 == 0) {
            ask_below(s, &s->item[i], k + 1);
        }
    }
}

// All pairs: for few boxes cheaper than a tree.
static void ask_few(broad_search *s)
{
    for (int i = 0; i < s->free; i++) {
        for (int j = i + 1; j < s->count; j++) {
            if (report_overlap(s, &s->item[i].box, &s->item[j].box)) {
                add_pair(s, s->item[i].shape, s->item[j].shape);
            }
        }
    }
}

// A point of the plane and its outward normal.
static void plane_of(const perp_model *model, const pp_frame *body, const pp_shape *plane,
                     perp_vec3 *x, perp_vec3 *out)
{
    const pp_frame *f = &body[plane->body];
    if (model->spatial) {
        pp_pose X = world_pose(plane, f);
        *x = X.p;
        *out = pp_mat3_column(&X.R, 2);
    } else {
        pp_vec2 axis = pp_rotate2(f, plane->axis_B), at = pp_point2(f, plane->p_BS);
        *x = pp_vec(at.x, at.y, 0.0);
        *out = pp_vec(-axis.y, axis.x, 0.0);
    }
}

// How far a box is above a plane through x.
static double above_plane(const pp_box3 *b, perp_vec3 x, perp_vec3 out)
{
    // the corner of the box that is deepest along -out
    double x_low = out.x > 0.0 ? b->low.x : b->high.x;
    double y_low = out.y > 0.0 ? b->low.y : b->high.y;
    double z_low = out.z > 0.0 ? b->low.z : b->high.z;
    return pp_dot3(out, pp_sub(pp_vec(x_low, y_low, z_low), x));
}

// A plane that is not free meets free bodies only, which come first.
static void ask_plane(broad_search *s, int shape, double margin)
{
    const pp_shape *plane = &s->model->shape[shape];
    perp_vec3 x, out;
    plane_of(s->model, s->body, plane, &x, &out);
    int most = s->model->body[plane->body].nv > 0 ? s->count : s->free;
    for (int i = 0; i < most; i++) {
        s->out->tests++;
        if (above_plane(&s->item[i].box, x, out) <= margin) {
            add_pair(s, s->item[i].shape, shape);
        }
    }
}

// Along the axis that parts them most; negative where they overlap.
static double box_distance(const pp_box3 *p, const pp_box3 *q)
{
    double along_x = pp_max(p->low.x - q->high.x, q->low.x - p->high.x);
    double along_y = pp_max(p->low.y - q->high.y, q->low.y - p->high.y);
    double along_z = pp_max(p->low.z - q->high.z, q->low.z - p->high.z);
    return pp_max(pp_max(along_x, along_y), along_z);
}

double pp_broad_apart(const pp_broad *broad, const perp_model *model, const pp_frame *body,
                      double margin, int a, int b)
{
    const pp_shape *of_a = &model->shape[a], *of_b = &model->shape[b];
    if (is_endless(of_a) || is_endless(of_b)) {
        perp_vec3 x, out;
        plane_of(model, body, is_endless(of_a) ? of_a : of_b, &x, &out);
        // along any direction the box has grown by no more than this
        double grown = 0.5 * margin * (fabs(out.x) + fabs(out.y) + fabs(out.z));
        return above_plane(&broad->box[is_endless(of_a) ? b : a], x, out) + grown;
    }
    return box_distance(&broad->box[a], &broad->box[b]) + margin;
}

// ── With a memory ────────────────────────────────────────────────────────────────────────────────

// Boxes of shapes that are asked for.
typedef struct known_search {
    const perp_model *model;
    const pp_frame *body;
    double margin;
    pp_gap_memory *memory;
    pp_box3 *box;
    bool *boxed;
} known_search;

static const pp_box3 *box_of(const known_search *s, int i)
{
    if (!s->boxed[i]) {
        const pp_shape *shape = &s->model->shape[i];
        s->boxed[i] = true;
        s->box[i] = pp_shape_box(s->model, shape, &s->body[shape->body], s->margin);
    }
    return &s->box[i];
}

// A pair that may be near by what is known of it: whether it is, by its boxes.
static bool is_near(const known_search *s, int k)
{
    const pp_apart_pair *p = &s->memory->pair[k];
    if (p->plane) {
        bool first = is_endless(&s->model->shape[p->a]);
        perp_vec3 x, out;
        plane_of(s->model, s->body, &s->model->shape[first ? p->a : p->b], &x, &out);
        double above = above_plane(box_of(s, first ? p->b : p->a), x, out);
        // along any direction boxes grow and move by sqrt(3) of a margin and a way at most: with the margin itself, 1.9
        pp_apart_set_boxes(s->memory, k, (above + 0.5 * s->margin) / 1.9);
        return above <= s->margin;
    }
    const pp_box3 *a = box_of(s, p->a), *b = box_of(s, p->b);
    double apart = box_distance(a, b);
    pp_apart_set_boxes(s->memory, k, apart + s->margin);
    return !(apart > 0.0);
}

// The pairs whose boxes are near; boxes of those alone.
static perp_status run_known(pp_broad *out, known_search *s, pp_arena *arena)
{
    pp_gap_memory *m = s->memory;
    int shapes = s->model->shapes, most = 0;
    bool all = pp_apart_move(m, s->model, s->body, s->margin);
    int asked = all ? m->count : m->close_count;
    s->box = PP_ARRAY(arena, pp_box3, shapes);
    s->boxed = PP_ZEROS(arena, bool, shapes);
    out->pair = PP_ARRAY(arena, uint64_t, asked);
    out->known = PP_ARRAY(arena, int, asked);
    if (!s->box || !s->boxed || !out->pair || !out->known) {
        return PERP_ERR_MEMORY;
    }
    // in the order of the list, which is sorted
    for (int i = 0; i < asked; i++) {
        int k = all ? i : m->close[i];
        if (pp_apart_boxes(m, k, s->margin) || !is_near(s, k)) {
            continue;
        }
        out->known[most] = k;
        out->pair[most++] = pair_key(m->pair[k].a, m->pair[k].b);
    }
    out->count = most;
    out->box = s->box;
    if (all) {
        pp_apart_sort(m, s->margin);
    }
    return PERP_OK;
}

perp_status pp_broad_run(pp_broad *out, const perp_model *model, const pp_frame *body,
                         double margin, pp_gap_memory *memory, pp_arena *arena)
{
    broad_search s = {.model = model, .body = body, .arena = arena, .out = out};
    *out = (pp_broad){0};
    if (memory && memory->pair) {
        known_search known = {.model = model, .body = body, .margin = margin, .memory = memory};
        return run_known(out, &known, arena);
    }
    // boxes against boxes, by the tree or all pairs; then planes against boxes; then the pairs in order
    if (!set_items(&s, margin) || (s.count > BRUTE_FORCE_MAX && !set_tree(&s))) {
        return PERP_ERR_MEMORY;
    }
    if (s.count <= BRUTE_FORCE_MAX) {
        ask_few(&s);
    } else {
        for (int i = 0; i < s.free; i++) {
            ask_after(&s, i);
        }
    }
    for (int i = 0; i < model->shapes; i++) {
        if (is_endless(&model->shape[i]) && model->shape[i].detect) {
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
