// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// All pairs of shapes that the model allows to collide, and what becomes of each in a step.
//
// Of few shapes there is a list of all pairs that may collide. Two shapes that were found apart by d stay so until they
// have covered the way d together, and need no other look before (clear_until_later). Of many shapes pairs are found by sort
// and sweep in every step: boxes are sorted along one axis and compared while they overlap along it. A box holds the shape
// at both ends of the step, and is grown by the distance of its points from their chords in between, at most r angle^2 / 8.
#include "certify/geometry/geometry.h"

#include "certify/certify.h"
#include "certify/geometry/sweep.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A shape and its bounding boxes, in world axes.
typedef struct box_item {
    pp_box3 box;  // over the step
    pp_box3 at_end;
    int shape;
} box_item;

typedef struct geometry_judge {
    const pp_geometry_task *task;
    const perp_model *model;
    pp_geometry *out;
    pp_arena *arena;
    const pp_convex *piece;   // shapes; not of meshes
    pp_placed_convex *first;  // shapes: at the start of the step, seen from their bodies
    pp_placed_convex *last;   // the same at its end
    pp_travel *travel;        // bodies
    pp_judged_pairs pairs;
    // with a list of pairs: what was found of each shape in this step, which is not asked of all
    const pp_judged_pair *pair;
    int count;
    bool *placed, *boxed, *travelled;  // shapes, shapes, bodies
    double *way;                       // shapes: covered in this step, at most [m]
    box_item *item;  // shapes that have a box, sorted by its low end along `along`
    int items, along;
    uint64_t rounded;  // low bits that the sorting left out
} geometry_judge;

// Steps like this one after which two shapes may be looked at again: then a better axis is worth a search.
static const double STEPS_AHEAD = 16.0;
static const double AHEAD_LEAST =
    1e-3;  // of the largest shape: motion that is noise sorts nothing anew

// Of numbers that are finite (places_finite).
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

static bool find_shapes(pp_judged_shapes *out, const perp_model *m, pp_arena *arena)
{
    pp_convex *piece = PP_ARRAY(arena, pp_convex, m->shapes);
    if (!piece || !pp_judged_pairs_open(&out->pairs, m, arena)) {
        return false;
    }
    for (int i = 0; i < m->shapes; i++) {
        if (m->shape[i].mesh) {
            piece[i] = (pp_convex){.body = m->shape[i].body};
        } else {
            pp_convex_shape(&piece[i], m, &m->shape[i]);
        }
    }
    out->piece = piece;
    out->pair = NULL;
    out->count = 0;
    return true;
}

// Shapes of which all pairs are listed: looking through the list takes less than sorting the boxes does.
enum { LISTED_SHAPES = 128 };

static bool list_pairs(pp_judged_shapes *out, const perp_model *m, pp_arena *arena)
{
    if (m->shapes > LISTED_SHAPES) {
        return true;
    }
    size_t most = (size_t)m->shapes * (size_t)m->shapes / 2 + 1;
    pp_judged_pair *pair = PP_ARRAY(arena, pp_judged_pair, most);
    if (!pair) {
        return false;
    }
    for (int a = 0; a < m->shapes; a++) {
        for (int b = a + 1; b < m->shapes; b++) {
            if (pp_pair_is_judged(&out->pairs, a, b)) {
                pair[out->count++] = (pp_judged_pair){a, b};
            }
        }
    }
    out->pair = pair;
    return true;
}

const pp_judged_shapes *pp_judged_shapes_create(const perp_model *m, pp_arena *arena)
{
    pp_judged_shapes *out = PP_ARRAY(arena, pp_judged_shapes, 1);
    return out && find_shapes(out, m, arena) && list_pairs(out, m, arena) ? out : NULL;
}

bool pp_kept_shapes_open(pp_kept_shapes *kept, const perp_model *m, const pp_judged_shapes *shapes,
                         pp_arena *arena)
{
    *kept = (pp_kept_shapes){0};
    if (shapes->pair) {
        kept->way = PP_ZEROS(arena, double, m->shapes);
        kept->until = PP_ZEROS(arena, double, shapes->count);
        kept->axis = PP_ZEROS(arena, perp_vec3, shapes->count);
        kept->close = PP_ARRAY(arena, int, shapes->count);
        for (int i = 0; i < m->shapes; i++) {
            kept->least = most(kept->least, AHEAD_LEAST * shapes->piece[i].core_reach);
        }
        return kept->way && kept->until && kept->axis && kept->close;
    }
    kept->piece = PP_ARRAY(arena, pp_placed_convex, m->shapes);
    kept->box = PP_ARRAY(arena, pp_box3, m->shapes);
    return kept->piece && kept->box;
}

// A half-space, which has no box.
static bool is_plane(const geometry_judge *j, int shape)
{
    return !j->model->shape[shape].mesh && j->piece[shape].kind == PP_CONVEX_PLANE;
}

// ── Boxes ────────────────────────────────────────────────────────────────────────────────────────

// Component k of a vector: 0 is x.
static double component(perp_vec3 x, int k)
{
    if (k == 0) {
        return x.x;
    }
    return k == 1 ? x.y : x.z;
}

static pp_box3 box_union(const pp_box3 *a, const pp_box3 *b)
{
    return (pp_box3){
        pp_vec(least(a->low.x, b->low.x), least(a->low.y, b->low.y), least(a->low.z, b->low.z)),
        pp_vec(most(a->high.x, b->high.x), most(a->high.y, b->high.y), most(a->high.z, b->high.z))};
}

static pp_box3 grown(const pp_box3 *b, double by)
{
    perp_vec3 all = pp_vec(by, by, by);
    return (pp_box3){pp_sub(b->low, all), pp_add(b->high, all)};
}

static bool boxes_overlap(const pp_box3 *a, const pp_box3 *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Half of the width of a box or a cylinder along a direction d, in its own axes [m].
static double half_extent(const pp_convex *c, const double d[3])
{
    double along = fabs(d[2]) * c->half.z;
    if (c->kind == PP_CONVEX_BOX) {
        return along + fabs(d[0]) * c->half.x + fabs(d[1]) * c->half.y;
    }
    return along + c->half.x * sqrt(d[0] * d[0] + d[1] * d[1]);
}

// Bounding box of a placed piece; of boxes, cylinders, points and segments in closed form, of others by six support
// points.
static pp_box3 bounds_of(const pp_placed_convex *p)
{
    double r = p->convex->radius;
    perp_vec3 low, high;
    if (p->convex->kind == PP_CONVEX_BOX || p->convex->kind == PP_CONVEX_CYLINDER) {
        // the matrix is stored by rows: row i holds the three axes along the world axis i
        const double *m = p->X.R.m;
        perp_vec3 e = {half_extent(p->convex, m), half_extent(p->convex, m + 3),
                       half_extent(p->convex, m + 6)};
        pp_box3 box = {pp_sub(p->X.p, e), pp_add(p->X.p, e)};
        return grown(&box, r);
    }
    if (p->convex->kind == PP_CONVEX_POINTS && p->convex->count <= 2 && !p->convex->flat) {
        const perp_vec3 *end = p->convex->point ? p->convex->point : p->convex->own;
        perp_vec3 a = pp_pose_point(&p->X, end[0]);
        perp_vec3 b = p->convex->count == 2 ? pp_pose_point(&p->X, end[1]) : a;
        const pp_box3 one = {a, a}, other = {b, b};
        pp_box3 box = box_union(&one, &other);
        return grown(&box, r);
    }
    low.x = pp_placed_convex_support(p, pp_vec(-1.0, 0.0, 0.0)).x;
    low.y = pp_placed_convex_support(p, pp_vec(0.0, -1.0, 0.0)).y;
    high.x = pp_placed_convex_support(p, pp_vec(1.0, 0.0, 0.0)).x;
    high.y = pp_placed_convex_support(p, pp_vec(0.0, 1.0, 0.0)).y;
    bool flat = p->convex->planar;
    low.z = flat ? 0.0 : pp_placed_convex_support(p, pp_vec(0.0, 0.0, -1.0)).z;
    high.z = flat ? 0.0 : pp_placed_convex_support(p, pp_vec(0.0, 0.0, 1.0)).z;
    pp_box3 box = {low, high};
    return grown(&box, r);
}

// The root box of a mesh as a piece, which bounds the mesh at any orientation. Node 1 is the root.
static pp_convex mesh_block(const pp_shape *shape)
{
    const pp_box3 *root = &shape->mesh->node[1];
    perp_vec3 centre = pp_scale(0.5, pp_add(root->low, root->high));
    pp_convex c = {.kind = PP_CONVEX_BOX, .body = shape->body, .X_B = shape->X_BS};
    c.half = pp_sub(root->high, centre);
    c.X_B.p = pp_pose_point(&shape->X_BS, centre);
    c.core_reach = pp_length(c.X_B.p) + pp_length(c.half);
    return c;
}

// Bound on the rounding error of the coordinates of a box, generous [m].
static double rounding(const pp_box3 *b)
{
    double x = most(fabs(b->low.x), fabs(b->high.x)), y = most(fabs(b->low.y), fabs(b->high.y)),
           z = most(fabs(b->low.z), fabs(b->high.z));
    return 32.0 * DBL_EPSILON * most(most(x, y), z);
}

// A piece relative to the origin of its body, in world axes. Small coordinates keep its digits.
static pp_placed_convex placed_at(const pp_convex *c, const pp_pose *body)
{
    const pp_pose turned = {{0.0, 0.0, 0.0}, body->R};
    return pp_convex_place(c, &turned);
}

// Whether pieces and boxes of the start are known.
static bool starts_at_kept(const geometry_judge *j)
{
    return !j->pair && j->task->starts_at_last;
}

static void set_box(const geometry_judge *j, box_item *it)
{
    const pp_shape *shape = &j->model->shape[it->shape];
    const pp_travel *t = &j->travel[shape->body];
    pp_convex block;
    pp_placed_convex from, to;
    const pp_placed_convex *first = &from, *last = &to;
    if (shape->mesh) {
        block = mesh_block(shape);
        from = placed_at(&block, &t->start);
        to = placed_at(&block, &t->end);
    } else {
        first = &j->first[it->shape];
        last = &j->last[it->shape];
    }
    pp_box3 end = bounds_of(last), start = end;
    end = (pp_box3){pp_add(end.low, t->end.p), pp_add(end.high, t->end.p)};
    it->box = it->at_end = grown(&end, rounding(&end) + pp_skin(j->model, it->shape, it->shape));
    if (j->task->start) {
        // Never more than the diameter, however often the body turns.
        double reach = last->convex->core_reach;
        double bend = least(reach * t->angle * t->angle / 8.0, 2.0 * reach);
        if (starts_at_kept(j)) {
            start = j->task->last->box[it->shape];
        } else {
            start = bounds_of(first);
            start = (pp_box3){pp_add(start.low, t->start.p), pp_add(start.high, t->start.p)};
        }
        it->box = box_union(&it->box, &start);
        it->box = grown(&it->box, bend + rounding(&it->box));
    }
    if (j->task->last && !j->pair) {
        j->task->last->box[it->shape] = end;
    }
}

// The coordinate along which the centres of the boxes are spread most: there fewest boxes overlap.
static int widest(const geometry_judge *j, const box_item *list)
{
    double spread[3] = {0.0, 0.0, 0.0};
    perp_vec3 mean = {0};
    for (int i = 0; i < j->items; i++) {
        perp_vec3 c = pp_scale(0.5, pp_add(list[i].box.low, list[i].box.high));
        mean = pp_along(mean, 1.0 / (i + 1), pp_sub(c, mean));
    }
    for (int i = 0; i < j->items; i++) {
        perp_vec3 c = pp_scale(0.5, pp_add(list[i].box.low, list[i].box.high));
        for (int k = 0; k < 3; k++) {
            double off = fabs(component(c, k) - component(mean, k));
            // Limited, so that the sum of huge boxes stays finite.
            spread[k] += least(off, 1e150);
        }
    }
    int k = spread[1] > spread[0] ? 1 : 0;
    return spread[2] > spread[k] ? 2 : k;
}

// Maps finite doubles to unsigned integers of the same order. x + 0.0 turns -0 into 0; negative
// numbers are complemented, others get the top bit.
static uint64_t ordered(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | ((uint64_t)1 << 63);
}

// Sorts by the low ends, to as many bits as the indices leave free in a key.
static bool sort_items(geometry_judge *j, const box_item *list)
{
    uint64_t *key = PP_ARRAY(j->arena, uint64_t, j->items),
             *scratch = PP_ARRAY(j->arena, uint64_t, j->items);
    int bits = 1;
    if (!key || !scratch) {
        return false;
    }
    while (j->items >> bits) {
        bits++;
    }
    j->along = widest(j, list);
    uint64_t low = j->rounded = ((uint64_t)1 << bits) - 1;
    for (int i = 0; i < j->items; i++) {
        key[i] = (ordered(component(list[i].box.low, j->along)) & ~low) | (uint64_t)i;
    }
    pp_sort_keys(j->items, key, scratch);
    for (int i = 0; i < j->items; i++) {
        j->item[i] = list[key[i] & low];
    }
    return true;
}

// Pieces at both ends of the step, and boxes of all shapes but half-spaces, which have none.
static bool set_items(geometry_judge *j)
{
    const perp_model *m = j->model;
    box_item *list = PP_ARRAY(j->arena, box_item, m->shapes);
    if (!list) {
        return false;
    }
    for (int i = 0; i < m->shapes; i++) {
        if (!m->shape[i].mesh) {
            const pp_travel *t = &j->travel[m->shape[i].body];
            pp_kept_shapes *kept = j->task->last;
            if (starts_at_kept(j)) {
                j->first[i] = kept->piece[i];
            } else {
                j->first[i] = placed_at(&j->piece[i], &t->start);
            }
            j->last[i] = placed_at(&j->piece[i], &t->end);
            if (kept) {
                kept->piece[i] = j->last[i];
            }
        }
        // A shape without detection still takes part in listed contacts.
        bool seen = m->shape[i].detect || m->listed > 0;
        if (seen && !is_plane(j, i)) {
            list[j->items].shape = i;
            set_box(j, &list[j->items++]);
        }
    }
    return sort_items(j, list);
}

// ── One pair ─────────────────────────────────────────────────────────────────────────────────────

// Index of the first axis offered for two shapes, by binary search; -1: none.
static int first_axis(const pp_geometry_task *t, int a, int b)
{
    int low = 0, high = t->axes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const pp_separating_axis *x = &t->axis[middle];
        if (x->a < a || (x->a == a && x->b < b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < t->axes && t->axis[low].a == a && t->axis[low].b == b ? low : -1;
}

// Two pieces that are judged against each other.
typedef struct shape_pair {
    int a, b;  // shapes
    pp_swept_pair pair;
    bool sheet;     // b is a triangle, solid behind
    double turned;  // -1: axes are offered from b to a
} shape_pair;

// A piece given relative to its own body, relative to another body.
static pp_placed_convex seen(const pp_placed_convex *piece, const pp_pose *body,
                             const pp_pose *from)
{
    pp_placed_convex at = *piece;
    at.X.p = pp_add(pp_sub(body->p, from->p), at.X.p);
    return at;
}

// Both pieces relative to the body of a, so that distant scenes lose no digits.
static void set_pair(const geometry_judge *j, const pp_placed_convex *first[2],
                     const pp_placed_convex *last[2], pp_swept_pair *pair)
{
    const pp_travel *of_a = &j->travel[last[0]->convex->body],
                    *of_b = &j->travel[last[1]->convex->body];
    *pair = (pp_swept_pair){.a = last[0]->convex,
                            .b = last[1]->convex,
                            .of_a = of_a,
                            .of_b = of_b,
                            .start = {*first[0], seen(first[1], &of_b->start, &of_a->start)},
                            .end = {*last[0], seen(last[1], &of_b->end, &of_a->end)}};
}

static const double GRAZED_SKIN = 0.1;  // of a skin: as far as a path may come through

static double allowed_of(const pp_geometry_task *t, const shape_pair *d)
{
    return t->allowed ? t->allowed(t->model, d->a, d->b) : t->depth;
}

// Distance by which two shapes without an inside are kept apart [m]; 0 for all others.
static double skin_of(const pp_geometry_task *t, const shape_pair *d)
{
    return pp_skin(t->model, d->a, d->b);
}

static double allowed_at_end(const pp_geometry_task *t, const shape_pair *d)
{
    bool shared = t->end_share > 0.0 && !(skin_of(t, d) > 0.0);
    return (shared ? t->end_share : 1.0) * allowed_of(t, d);
}

// The best separation at the end, as far as it matters: offered axes, and the search if all fail. The axis is a hint for the path.
static double separate(const geometry_judge *j, shape_pair *d)
{
    const pp_geometry_task *t = j->task;
    const pp_placed_convex *a = &d->pair.end[0], *b = &d->pair.end[1];
    perp_vec3 *axis = &d->pair.hint;
    int low = d->a < d->b ? d->a : d->b, high = d->a + d->b - low;
    double best = -HUGE_VAL;
    perp_vec3 front = {0};
    for (int k = first_axis(t, low, high);
         k >= 0 && k < t->axes && t->axis[k].a == low && t->axis[k].b == high; k++) {
        perp_vec3 n = pp_scale(d->turned, t->axis[k].n);
        // An offered axis may not replace the normal of a half-space.
        double s = pp_forced_axis(a, b, &n) ? -HUGE_VAL : pp_separation(a, b, n);
        if (s > best) {
            best = s;
            *axis = n;
        }
    }
    double allowed = allowed_at_end(t, d), skin = skin_of(t, d);
    if (best >= skin - allowed) {
        return best;
    }
    best = pp_axis_search(a, b, skin, axis);
    if (d->sheet && best < -allowed && pp_placed_convex_axis(b, 0, &front) &&
        pp_dot3(*axis, front) > 0.0) {
        // The way out through the back of a triangle would be shorter, but behind it the mesh is
        // solid.
        *axis = pp_scale(-1.0, front);
        best = pp_separation(a, b, *axis);
    }
    return best;
}

// Overlap at the end; returns the separation. The pair kept is the one with the deepest overlap relative to what is
// allowed; products are compared, since either limit may be 0.
static double judge_end(geometry_judge *j, shape_pair *d, double *depth)
{
    pp_geometry *out = j->out;
    double s = separate(j, d), apart = s;
    if (!isfinite(s)) {
        out->undecided++;
        return -HUGE_VAL;
    }
    *depth = fmax(*depth, -s);
    s -= skin_of(j->task, d);
    double allowed = allowed_at_end(j->task, d);
    if (-s * out->gap_allowed > out->gap * allowed || (out->gap_a < 0 && s < 0.0)) {
        out->gap = -s;
        out->gap_allowed = allowed;
        out->gap_a = d->a;
        out->gap_b = d->b;
    }
    return apart;
}

// The path in between. A pair that passed through outweighs any that did not; among equals the
// deeper one is kept.
static void judge_path(geometry_judge *j, shape_pair *d, double depth)
{
    pp_geometry *out = j->out;
    pp_swept_path sweep;
    // Two sheets have no depth to be allowed a part of. Where gaps are closed, they may not pass each other at all; those with
    // a skin never, and at either end they are further apart than this.
    bool sheets = pp_convex_is_sheet(d->pair.a) && pp_convex_is_sheet(d->pair.b);
    double skin = skin_of(j->task, d);
    double allowed = sheets ? allowed_at_end(j->task, d) : allowed_of(j->task, d);
    allowed = skin > 0.0 ? GRAZED_SKIN * skin : allowed;
    d->pair.depth = fmax(depth, allowed);
    // what is not near at the end has no axis yet: the best one there mostly serves for all of the path
    if (pp_dot3(d->pair.hint, d->pair.hint) == 0.0) {
        pp_axis_apart(&d->pair.end[0], &d->pair.end[1], HUGE_VAL, &d->pair.hint);
    }
    if (!pp_swept_quick(&d->pair, d->pair.hint, &sweep)) {
        pp_swept_run(&d->pair, &sweep);
    }
    out->path_undecided += sweep.state == PP_SWEPT_UNKNOWN;
    bool passed = sweep.state == PP_SWEPT_PASSED, before = out->path == PP_PATH_PASSED;
    bool worse = passed == before && sweep.depth > out->path_depth;
    if ((passed && !before) || worse) {
        out->path = passed ? PP_PATH_PASSED : out->path;
        out->path_depth = sweep.depth;
        out->path_allowed = sweep.allowed;
        out->path_part = sweep.part;
        out->path_a = d->a;
        out->path_b = d->b;
    }
}

// Returns the separation at the end; -HUGE_VAL: not looked at, or not found.
static double judge_pieces(geometry_judge *j, shape_pair *d, bool near_at_end)
{
    double depth = 0.0, apart = -HUGE_VAL;
    if (near_at_end) {
        apart = judge_end(j, d, &depth);
    }
    if (j->task->start) {
        judge_path(j, d, depth);
    }
    return apart;
}

// ── Meshes ───────────────────────────────────────────────────────────────────────────────────────

// Box of a piece in the frame of a mesh. whole: over the step, at both ends and grown by the bend
// of the relative motion in between (sweep.c); else at its end.
static pp_box3 seen_from(const geometry_judge *j, const pp_convex *c, const pp_shape *mesh,
                         bool whole)
{
    const pp_travel *on = &j->travel[mesh->body], *of = &j->travel[c->body];
    pp_box3 box = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int e = whole ? 0 : 1; e < 2; e++) {
        const pp_pose *M = e == 0 ? &on->start : &on->end, *P = e == 0 ? &of->start : &of->end;
        pp_pose X = pp_pose_mul(M, &mesh->X_BS);
        pp_pose local = {pp_mul_t(&X.R, pp_sub(P->p, X.p)), pp_identity3()};
        pp_mat3 back = pp_transpose3(&X.R);
        local.R = pp_mat_mul(&back, &P->R);
        pp_placed_convex at = pp_convex_place(c, &local);
        pp_box3 b = bounds_of(&at);
        b = grown(&b, rounding(&b));
        box = e == 0 || !whole ? b : box_union(&box, &b);
    }
    if (whole) {
        double move = pp_length(pp_sub(of->move, on->move)), turns = on->angle + of->angle;
        double far = pp_length(pp_sub(of->start.p, on->start.p)) + move;
        double bend =
            turns * turns * c->core_reach + 2.0 * on->angle * move + on->angle * on->angle * far;
        box = grown(&box, bend / 8.0);
    }
    return box;
}

// The solid against each triangle near its path. Triangles are sheets with a front.
static void judge_mesh(geometry_judge *j, int solid, int mesh_shape)
{
    const pp_shape *shape = &j->model->shape[mesh_shape];
    const pp_convex *c = &j->piece[solid];
    const pp_mesh *mesh = shape->mesh;
    bool whole = j->task->start != NULL;
    pp_box3 swept = seen_from(j, c, shape, whole), end = seen_from(j, c, shape, false);
    for (int t = pp_mesh_next(mesh, &swept, 0); t >= 0; t = pp_mesh_next(mesh, &swept, t + 1)) {
        pp_convex triangle;
        pp_convex_triangle(&triangle, shape, t);
        pp_placed_convex from = placed_at(&triangle, &j->travel[shape->body].start),
                         to = placed_at(&triangle, &j->travel[shape->body].end);
        shape_pair d = {
            .a = solid, .b = mesh_shape, .sheet = true, .turned = solid < mesh_shape ? 1.0 : -1.0};
        set_pair(j, (const pp_placed_convex *[2]){&j->first[solid], &from},
                 (const pp_placed_convex *[2]){&j->last[solid], &to}, &d.pair);
        judge_pieces(j, &d, boxes_overlap(&end, &mesh->node[mesh->leaves + t]));
    }
}

// ── All pairs ────────────────────────────────────────────────────────────────────────────────────

// Shapes are ordered by number, as the offered axes are.
static void judge_pair(geometry_judge *j, int a, int b, bool near_at_end)
{
    if (!pp_pair_is_judged(&j->pairs, a, b)) {
        return;
    }
    j->out->judged++;
    if (j->model->shape[a].mesh || j->model->shape[b].mesh) {
        bool first = j->model->shape[a].mesh != NULL;
        judge_mesh(j, first ? b : a, first ? a : b);
        return;
    }
    int low = a < b ? a : b, high = a + b - low;
    shape_pair d = {.a = low, .b = high, .turned = 1.0};
    set_pair(j, (const pp_placed_convex *[2]){&j->first[low], &j->first[high]},
             (const pp_placed_convex *[2]){&j->last[low], &j->last[high]}, &d.pair);
    judge_pieces(j, &d, near_at_end);
}

// All pairs of overlapping boxes.
static void judge_boxes(geometry_judge *j)
{
    for (int i = 0; i < j->items; i++) {
        const box_item *one = &j->item[i];
        if (pp_arena_stopped(j->arena)) {
            return;
        }
        double high = component(one->box.high, j->along);
        // The order is that of rounded low ends: boxes that follow by rounding alone are compared
        // as well.
        uint64_t last = ordered(high) | j->rounded;
        for (int k = i + 1;
             k < j->items && ordered(component(j->item[k].box.low, j->along)) <= last; k++) {
            const box_item *other = &j->item[k];
            if (boxes_overlap(&one->box, &other->box)) {
                judge_pair(j, one->shape, other->shape,
                           boxes_overlap(&one->at_end, &other->at_end));
            }
        }
    }
}

// Whether any part of a box is behind a plane, whose outward normal is z of its frame. Only the
// corner farthest against the normal counts.
static bool is_below(const pp_pose *X, const pp_box3 *b)
{
    perp_vec3 n = pp_mat3_column(&X->R, 2);
    perp_vec3 lowest = {n.x > 0.0 ? b->low.x : b->high.x, n.y > 0.0 ? b->low.y : b->high.y,
                        n.z > 0.0 ? b->low.z : b->high.z};
    return pp_dot3(n, pp_sub(lowest, X->p)) <= 0.0;
}

// Half-spaces against all boxes. One that moves is compared with every box: its path has no box.
static void judge_planes(geometry_judge *j)
{
    for (int s = 0; s < j->model->shapes; s++) {
        const pp_convex *plane = &j->piece[s];
        if (!is_plane(j, s)) {
            continue;
        }
        const pp_travel *t = &j->travel[plane->body];
        pp_pose end = pp_convex_place(plane, &t->end).X;
        bool turns = t->angle > 0.0 || pp_length(t->move) > 0.0;
        for (int i = 0; i < j->items; i++) {
            bool near = is_below(&end, &j->item[i].at_end);
            if (near || (j->task->start && (turns || is_below(&end, &j->item[i].box)))) {
                judge_pair(j, s, j->item[i].shape, near);
            }
        }
    }
}

static void set_travel(const geometry_judge *j, int i)
{
    const pp_geometry_task *t = j->task;
    const pp_frame *end = &t->end[i];
    j->travel[i] = pp_travel_between(t->start ? &t->start[i] : end, end, t->h, j->model->spatial);
}

// ── Listed pairs ─────────────────────────────────────────────────────────────────────────────────

// Angle between two orientations from their quaternions: with the chord c = |q - r| it is 4 asin(c / 2), and
// asin(x) <= x / sqrt(1 - x^2). Never more than the angle that pp_travel_between finds where no turns are whole.
static double angle_most(const pp_frame *start, const pp_frame *end)
{
    perp_quat a = start->rot, b = end->rot;
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -1.0 : 1.0;
    double w = b.w - sign * a.w, x = b.x - sign * a.x, y = b.y - sign * a.y, z = b.z - sign * a.z;
    double square = w * w + x * x + y * y + z * z;  // at most 2, half a turn
    return 2.0 * sqrt(square / (1.0 - 0.25 * square));
}

static const double QUARTER = 1.5;  // [rad] beyond which whole turns are possible

// How far any point of a body can come in the step: `move` of its origin, and `angle` times its distance from there.
// Half-spaces, which reach to infinity, must not move at all.
static void set_ways(geometry_judge *j)
{
    const pp_geometry_task *t = j->task;
    const perp_model *m = j->model;
    int before = -1;
    double move = 0.0, angle = 0.0, rounding_most = 0.0;
    for (int i = 0; i < m->shapes; i++) {
        int body = m->shape[i].body;
        const pp_frame *start = &t->start[body], *end = &t->end[body];
        // shapes of a body mostly follow one another
        if (body != before) {
            perp_vec3 d = pp_sub(end->p, start->p), w = pp_add(start->w, end->w);
            before = body;
            move = pp_length(d);
            angle = m->spatial ? angle_most(start, end) : fabs(end->angle - start->angle);
            if (m->spatial && 0.5 * t->h * pp_length(w) > QUARTER) {
                angle = pp_travel_between(start, end, t->h, true).angle;
            }
            double place = pp_max(pp_max(fabs(end->p.x), fabs(end->p.y)), fabs(end->p.z));
            rounding_most = 64.0 * DBL_EPSILON * (place + move);
        }
        bool still = move == 0.0 && angle == 0.0;
        double reach =
            m->shape[i].mesh ? mesh_block(&m->shape[i]).core_reach : j->piece[i].core_reach;
        if (still) {
            j->way[i] = 0.0;
        } else if (is_plane(j, i)) {
            j->way[i] = HUGE_VAL;
        } else {
            j->way[i] = move + angle * reach + rounding_most + 64.0 * DBL_EPSILON * reach;
        }
    }
}

static void place_shape(geometry_judge *j, int i)
{
    int body = j->model->shape[i].body;
    if (j->placed[i]) {
        return;
    }
    j->placed[i] = true;
    if (!j->travelled[body]) {
        j->travelled[body] = true;
        set_travel(j, body);
    }
    if (!j->model->shape[i].mesh) {
        j->first[i] = placed_at(&j->piece[i], &j->travel[body].start);
        j->last[i] = placed_at(&j->piece[i], &j->travel[body].end);
    }
}

static const box_item *box_of(geometry_judge *j, int i)
{
    if (!j->boxed[i]) {
        j->boxed[i] = true;
        j->item[i].shape = i;
        set_box(j, &j->item[i]);
    }
    return &j->item[i];
}

// Distance of two boxes along the axis that parts them most; negative where they overlap.
static double boxes_apart(const pp_box3 *a, const pp_box3 *b)
{
    double x = most(a->low.x - b->high.x, b->low.x - a->high.x),
           y = most(a->low.y - b->high.y, b->low.y - a->high.y),
           z = most(a->low.z - b->high.z, b->low.z - a->high.z);
    return most(most(x, y), z);
}

// The axis that parted two shapes when they were looked at last mostly does so again, at the end and on the way there.
// Returns by how much at the end; negative: it does not.
static double parted_again(geometry_judge *j, shape_pair *d, perp_vec3 axis_A)
{
    pp_swept_path sweep;
    const pp_pose *A = &j->travel[d->pair.a->body].end;
    perp_vec3 n = pp_mul(&A->R, axis_A);
    double apart = pp_separation(&d->pair.end[0], &d->pair.end[1], n) - skin_of(j->task, d);
    d->pair.depth = 0.0;
    return apart > 0.0 && pp_swept_quick(&d->pair, n, &sweep) ? apart : -1.0;
}

// By how much two shapes are apart at the end, which is at least `apart`: as soon as that is enough for some steps like this
// one, the search ends.
static double find_apart(geometry_judge *j, shape_pair *d, double apart, perp_vec3 *axis_A)
{
    double wanted = STEPS_AHEAD * (j->way[d->a] + j->way[d->b]), skin = skin_of(j->task, d);
    perp_vec3 n = d->pair.hint;
    if (apart < wanted) {
        double found = pp_axis_apart(&d->pair.end[0], &d->pair.end[1], wanted + skin, &n) - skin;
        apart = most(apart, found);
    }
    if (apart > 0.0 && pp_dot3(n, n) > 0.0) {
        *axis_A = pp_mul_t(&j->travel[d->pair.a->body].end.R, n);
    }
    return apart;
}

static bool is_mesh(const geometry_judge *j, int shape)
{
    return j->model->shape[shape].mesh != NULL;
}

// Looks at a pair; returns by how much it was found apart at the end of the step, 0 or less: it was not. *axis: in axes of
// a's body, what is known, then what was found.
static double look_at_listed(geometry_judge *j, const pp_judged_pair *p, perp_vec3 *axis)
{
    shape_pair d = {.a = p->a, .b = p->b, .turned = 1.0};
    bool plane = is_plane(j, p->a) || is_plane(j, p->b),
         mesh = is_mesh(j, p->a) || is_mesh(j, p->b);
    bool near = true, passes = j->task->start != NULL;
    double apart = -1.0;
    place_shape(j, p->a);
    place_shape(j, p->b);
    if (!mesh) {
        set_pair(j, (const pp_placed_convex *[2]){&j->first[p->a], &j->first[p->b]},
                 (const pp_placed_convex *[2]){&j->last[p->a], &j->last[p->b]}, &d.pair);
        apart = pp_dot3(*axis, *axis) > 0.0 ? parted_again(j, &d, *axis) : -1.0;
    }
    if (apart > 0.0) {
        return apart;
    }
    if (!plane) {  // half-spaces have no box
        const box_item *a = box_of(j, p->a), *b = box_of(j, p->b);
        near = boxes_overlap(&a->at_end, &b->at_end);
        passes = passes && boxes_overlap(&a->box, &b->box);
        apart = boxes_apart(&a->at_end, &b->at_end);
    }
    if (mesh) {
        if (near || passes) {
            judge_mesh(j, is_mesh(j, p->a) ? p->b : p->a, is_mesh(j, p->a) ? p->a : p->b);
        }
        return apart;
    }
    if (near || passes) {
        apart = most(apart, judge_pieces(j, &d, near) - skin_of(j->task, &d));
    }
    return plane || apart < 0.0 ? apart : find_apart(j, &d, apart, axis);
}

static void judge_listed(geometry_judge *j, int k, bool known)
{
    const pp_judged_pair *p = &j->pair[k];
    pp_kept_shapes *kept = j->task->last;
    perp_vec3 axis = {0};
    if (known && kept->way[p->a] + kept->way[p->b] < kept->until[k]) {
        return;
    }
    if (known) {
        axis = kept->axis[k];
    }
    double apart = look_at_listed(j, p, &axis);
    if (kept) {
        // less what rounding may have cost
        double so_far = kept->way[p->a] + kept->way[p->b];
        kept->until[k] = so_far * (1.0 - 4.0 * DBL_EPSILON) + apart * (1.0 - 1e-9);
        kept->axis[k] = apart > 0.0 ? axis : pp_vec(0.0, 0.0, 0.0);
    }
}

// Adds the ways of this step; returns the largest.
static double add_ways(const geometry_judge *j, bool known)
{
    pp_kept_shapes *kept = j->task->last;
    double largest = 0.0;
    for (int i = 0; i < j->model->shapes; i++) {
        double before = known ? kept->way[i] : 0.0;
        double more = j->way[i] + 4.0 * DBL_EPSILON * before;  // whatever sums lose
        kept->way[i] = before + more;
        largest = most(largest, more);
    }
    return largest;
}

// Every pair that may collide; those that are known to be apart all the way need no look.
static void judge_listed_pairs(geometry_judge *j)
{
    pp_kept_shapes *kept = j->task->last;
    bool known = kept && j->task->starts_at_last && j->task->start;
    double largest = 0.0;
    j->out->judged = j->count;
    if (j->task->start) {
        set_ways(j);
    }
    if (kept) {
        largest = add_ways(j, known);
        kept->covered += largest * (1.0 + 1e-9);
    }
    double ahead = kept ? most(kept->least, STEPS_AHEAD * largest) : 0.0;
    if (known && kept->covered <= kept->horizon && kept->horizon <= 4.0 * ahead) {
        for (int i = 0; i < kept->close_count; i++) {
            judge_listed(j, kept->close[i], true);
        }
        return;
    }
    for (int k = 0; k < j->count; k++) {
        judge_listed(j, k, known);
    }
    if (!kept) {
        return;
    }
    // from here on, pairs with more room than that need no look while the others are asked
    kept->covered = 0.0;
    kept->horizon = ahead;
    kept->close_count = 0;
    for (int k = 0; k < j->count; k++) {
        double so_far = kept->way[j->pair[k].a] + kept->way[j->pair[k].b];
        if (!(kept->until[k] - so_far > 2.0 * (1.0 + 1e-9) * kept->horizon)) {
            kept->close[kept->close_count++] = k;
        }
    }
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// Pieces and judged pairs, from those of the caller where it has them.
static bool set_shapes(geometry_judge *j)
{
    const pp_judged_shapes *known = j->task->shapes;
    pp_judged_shapes own;
    if (!known) {
        if (!find_shapes(&own, j->model, j->arena)) {
            return false;
        }
        known = &own;
    }
    j->piece = known->piece;
    j->pair = known->pair;
    j->count = known->count;
    j->pairs = known->pairs;
    j->pairs.model = j->model;  // with changes that leave shapes and lists as they are
    return true;
}

// One entry of each rotation is enough: a quaternion that is not finite spoils all of them.
static bool is_finite_place(const pp_frame *f)
{
    return pp_finite3(f->p) && isfinite(f->R.m[0]) && isfinite(f->angle) && isfinite(f->rot.w) &&
           isfinite(f->rot.x) && isfinite(f->rot.y) && isfinite(f->rot.z);
}

static bool places_finite(const geometry_judge *j)
{
    const pp_geometry_task *t = j->task;
    for (int i = 0; i < j->model->bodies; i++) {
        if (!is_finite_place(&t->end[i]) || (t->start && !is_finite_place(&t->start[i]))) {
            return false;
        }
    }
    return true;
}

static bool set_arrays(geometry_judge *j)
{
    const perp_model *m = j->model;
    j->travel = PP_ARRAY(j->arena, pp_travel, m->bodies);
    j->item = PP_ARRAY(j->arena, box_item, m->shapes);
    j->first = PP_ARRAY(j->arena, pp_placed_convex, m->shapes);
    j->last = PP_ARRAY(j->arena, pp_placed_convex, m->shapes);
    if (!j->travel || !j->item || !j->first || !j->last) {
        return false;
    }
    if (!j->pair) {
        return true;
    }
    j->placed = PP_ZEROS(j->arena, bool, m->shapes);
    j->boxed = PP_ZEROS(j->arena, bool, m->shapes);
    j->travelled = PP_ZEROS(j->arena, bool, m->bodies);
    j->way = PP_ZEROS(j->arena, double, m->shapes);
    return j->placed && j->boxed && j->travelled && j->way;
}

static perp_status judge_found_pairs(geometry_judge *j)
{
    for (int i = 0; i < j->model->bodies; i++) {
        set_travel(j, i);
    }
    if (!set_items(j)) {
        return PERP_ERR_MEMORY;
    }
    judge_boxes(j);
    judge_planes(j);
    return PERP_OK;
}

perp_status pp_judge_geometry(pp_geometry *out, const pp_geometry_task *task, pp_arena *arena)
{
    geometry_judge j = {.task = task, .model = task->model, .out = out, .arena = arena};
    perp_status status = PERP_OK;
    *out = (pp_geometry){.gap_a = -1, .gap_b = -1, .path_a = -1, .path_b = -1};
    out->path = task->start ? PP_PATH_CLEAR : PP_PATH_NOT_ASKED;
    if (!set_shapes(&j) || !set_arrays(&j)) {
        return PERP_ERR_MEMORY;
    }
    if (!places_finite(&j)) {
        return PERP_ERR_NUMERIC;
    }
    if (j.pair) {
        judge_listed_pairs(&j);
    } else {
        status = judge_found_pairs(&j);
    }
    if (status < 0) {
        return status;
    }
    if (pp_arena_stopped(arena)) {
        return PERP_ERR_STOPPED;
    }
    // A passage outweighs pairs without a decision; these outweigh the rest.
    if (out->path == PP_PATH_CLEAR && out->path_undecided > 0) {
        out->path = PP_PATH_UNKNOWN;
    }
    return PERP_OK;
}
