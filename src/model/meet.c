// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shapes may collide, and what keeps the others apart.
//
// Bodies that a joint connects do not collide with each other. If one of them is not free (ground,
// fixed, driven), this holds only for those of its shapes that the joint is fastened to, the ones
// that contain or touch an anchor: the floor under a pendulum is no part of its bearing. Joints
// that act at a distance (distance, angle, gear) keep nothing apart. Groups and masks of shapes and
// excluded pairs of bodies keep apart what the scene says. A rule for two shapes overrides all of
// these.
#include "math/math.h"
#include "model/builder.h"

#include <math.h>

// How far an anchor may be from a shape that it touches, relative to the length scale of the model.
static const double FASTENED = 1e-3;

// Two numbers in one key, of which the first decides.
static uint64_t key_of(int high, int low)
{
    return ((uint64_t)high << 32) | (uint64_t)low;
}

// Both orders of a pair have the same key: the smaller number in the high half.
static uint64_t pair_key(int a, int b)
{
    return a < b ? key_of(a, b) : key_of(b, a);
}

// Binary search in sorted keys: where the key is, or would be.
static int key_at(const uint64_t *key, int n, uint64_t wanted)
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
    return low;
}

// Bisection in a sorted list.
static bool has_key(const uint64_t *key, int n, uint64_t wanted)
{
    int at = key_at(key, n, wanted);
    return at < n && key[at] == wanted;
}

// ── Where a point is, seen from a shape ──────────────────────────────────────────────────────────

// Distance of a point from the segment from -half to +half along z.
static double from_segment(perp_vec3 x, double half)
{
    double z = fmin(fmax(x.z, -half), half);
    return pp_length(pp_vec(x.x, x.y, x.z - z));
}

// Signed distance of a point from a solid, or a lower bound of it: the largest excess over the
// planes that bound the solid. It decides whether a point touches the solid; negative inside.
static double from_solid(const pp_solid *s, perp_vec3 x)
{
    double across = pp_length2(x.x, x.y), h = s->half.z;
    double most = -HUGE_VAL;
    switch (s->kind) {
    case PP_SOLID_SPHERE:
        return pp_length(x) - s->radius;
    case PP_SOLID_CAPSULE:
        return from_segment(x, h) - s->radius;
    case PP_SOLID_BOX:
        return fmax(fmax(fabs(x.x) - s->half.x, fabs(x.y) - s->half.y), fabs(x.z) - h);
    case PP_SOLID_CYLINDER:
        return fmax(across - s->radius, fabs(x.z) - h);
    case PP_SOLID_CONE:  // its side falls by 2 h over the radius
        return fmax(-x.z - h,
                    (2.0 * h * across + s->radius * (x.z - h)) / pp_length2(2.0 * h, s->radius));
    case PP_SOLID_ELLIPSOID:
        most = fmin(fmin(s->half.x, s->half.y), h);
        return most * (pp_length(pp_vec(x.x / s->half.x, x.y / s->half.y, x.z / s->half.z)) - 1.0);
    case PP_SOLID_HULL:
        for (int k = 0; k < s->hull->faces; k++) {
            perp_vec3 corner = s->hull->vertex[s->hull->corner[s->hull->face_first[k]]];
            most = fmax(most, pp_dot3(s->hull->face_normal[k], pp_sub(x, corner)));
        }
        return most;
    case PP_SOLID_HALFSPACE:
        return x.z;
    }
    return HUGE_VAL;
}

// Distance of a point from a triangle: from its plane where the point is above its inside,
// otherwise from its sides.
static double from_triangle(const perp_vec3 c[3], perp_vec3 n, perp_vec3 x)
{
    // A point projects into the triangle if it is on the inner side of all sides.
    bool above = true;
    double nearest = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        perp_vec3 side = pp_sub(c[(k + 1) % 3], c[k]), to = pp_sub(x, c[k]);
        double part = fmin(fmax(pp_dot3(side, to) / pp_dot3(side, side), 0.0), 1.0);
        above = above && pp_dot3(pp_cross(n, side), to) >= 0.0;
        nearest = fmin(nearest, pp_length(pp_along(to, -part, side)));
    }
    return above ? fabs(pp_dot3(n, pp_sub(x, c[0]))) : nearest;
}

// Solid angle of a triangle seen from x, positive from behind (van Oosterom and Strackee 1983).
static double solid_angle(const perp_vec3 c[3], perp_vec3 x)
{
    perp_vec3 a = pp_sub(c[0], x), b = pp_sub(c[1], x), d = pp_sub(c[2], x);
    double la = pp_length(a), lb = pp_length(b), ld = pp_length(d);
    return 2.0 * pp_atan2(pp_dot3(a, pp_cross(b, d)), la * lb * ld + pp_dot3(a, b) * ld +
                                                          pp_dot3(b, d) * la + pp_dot3(d, a) * lb);
}

// Signed distance from a mesh. The solid angles of a closed surface sum to 4 pi inside and to 0
// outside.
static double from_mesh(const pp_mesh *mesh, perp_vec3 x)
{
    double nearest = HUGE_VAL, angle = 0.0;
    for (int t = 0; t < mesh->triangles; t++) {
        const int *k = mesh->triangle[t];
        const perp_vec3 c[3] = {mesh->vertex[k[0]], mesh->vertex[k[1]], mesh->vertex[k[2]]};
        nearest = fmin(nearest, from_triangle(c, mesh->normal[t], x));
        angle += solid_angle(c, x);
    }
    return angle > 2.0 * pp_acos(-1.0) ? -nearest : nearest;
}

// The same for planar shapes, which are half-planes, segments with a radius, or polygons.
static double from_planar(const pp_shape *s, perp_vec3 x_B)
{
    pp_vec2 d = {x_B.x - s->p_BS.x, x_B.y - s->p_BS.y}, e = s->axis_B;
    double along = e.x * d.x + e.y * d.y, up = e.x * d.y - e.y * d.x, most = -HUGE_VAL;
    if (s->kind == PERP_SHAPE_HALFPLANE) {
        return up;
    }
    // points and discs are segments without length
    if (s->kind != PERP_SHAPE_POLYGON) {
        return from_segment(pp_vec(up, 0.0, along), s->half) - s->radius;
    }
    for (int k = 0; k < s->count; k++) {
        pp_vec2 n = s->normal_B[k], v = s->vertex_B[k];
        most = fmax(most, n.x * (x_B.x - v.x) + n.y * (x_B.y - v.y));
    }
    return most;
}

// x_B: the anchor in the frame of the shape's body.
static bool is_fastened(const perp_model *m, const pp_shape *s, perp_vec3 x_B)
{
    double tolerance = FASTENED * m->length_scale;
    if (!m->spatial) {
        return from_planar(s, x_B) <= tolerance;
    }
    perp_vec3 x = pp_pose_local(&s->X_BS, x_B);
    return (s->mesh ? from_mesh(s->mesh, x) : from_solid(&s->solid, x)) <= tolerance;
}

// ── Keys ─────────────────────────────────────────────────────────────────────────────────────────

// Pose of a body at t = 0.
static pp_pose start_of(const perp_model *m, const pp_body *body)
{
    // A planar body has an angle, a spatial one a quaternion.
    perp_quat about_z = pp_quat_exp(pp_vec(0.0, 0.0, body->angle0));
    return (pp_pose){body->p0, pp_quat_matrix(m->spatial ? body->rot0 : about_z)};
}

// By the choice of the joint, or by the rule of the header comment.
static bool keeps_apart(const pp_joint *joint)
{
    bool from_afar = joint->kind == PERP_JOINT_DISTANCE || joint->kind == PERP_JOINT_ANGLE ||
                     pp_joint_couples(joint);
    return joint->collide == PERP_COLLIDE_NEVER ||
           (joint->collide == PERP_COLLIDE_RULE && !from_afar);
}

// Keys of the shapes that a joint is fastened to, on the body that is not free; returns their
// number. key NULL: only counts.
static int list_held(const perp_model *m, const pp_joint *joint, bool a_held, uint64_t *key)
{
    int held = a_held ? joint->a : joint->b, limb = a_held ? joint->b : joint->a, count = 0;
    pp_pose H = start_of(m, &m->body[held]), L = start_of(m, &m->body[limb]);
    perp_vec3 own = a_held ? joint->r_A : joint->r_B, other = a_held ? joint->r_B : joint->r_A;
    other = pp_pose_local(&H, pp_pose_point(&L, other));
    bool moves = m->body[held].drive == PERP_MOTION_KINEMATIC;  // its start is that of its motion
    for (int k = m->body[held].first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
        const pp_shape *s = &m->shape[k];
        if (joint->collide == PERP_COLLIDE_NEVER || is_fastened(m, s, own) ||
            (!moves && is_fastened(m, s, other))) {
            if (key) {
                key[count] = key_of(k, limb);
            }
            count++;
        }
    }
    return count;
}

// Only joints between a free body and one that is not.
static int held_of(const perp_model *m, int joint, uint64_t *key)
{
    const pp_joint *j = &m->joint[joint];
    bool free_a = m->body[j->a].nv > 0, free_b = m->body[j->b].nv > 0;
    return keeps_apart(j) && free_a != free_b ? list_held(m, j, !free_a, key) : 0;
}

// Needs pp_model_pair_filter, which needs the keys.
static bool count_left_out(perp_model *m);

// Keys are counted, then listed, then sorted.
bool pp_model_set_exclusions(perp_model *m)
{
    int held = 0, most = m->joints > m->listed ? m->joints : m->listed;
    most = most > m->exclusions ? most : m->exclusions;
    for (int i = 0; i < m->joints; i++) {
        held += held_of(m, i, NULL);
    }
    most = most > held ? most : held;
    uint64_t *scratch = PP_ARRAY(m->arena, uint64_t, most);
    m->meet.joined_key = PP_ARRAY(m->arena, uint64_t, m->joints);
    m->meet.held_key = PP_ARRAY(m->arena, uint64_t, held);
    m->meet.listed_key = PP_ARRAY(m->arena, uint64_t, m->listed);
    m->meet.excluded_key = PP_ARRAY(m->arena, uint64_t, m->exclusions);
    if (!scratch || !m->meet.joined_key || !m->meet.held_key || !m->meet.listed_key ||
        !m->meet.excluded_key) {
        return false;
    }
    // Two free bodies at a joint: all their shapes ignore each other. A joint to a body that is not
    // free excludes only the shapes at its anchor, since the ground may be one body for a whole
    // scene.
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (keeps_apart(j) && m->body[j->a].nv > 0 && m->body[j->b].nv > 0) {
            m->meet.joined_key[m->meet.joined++] = pair_key(j->a, j->b);
        }
        m->meet.held += held_of(m, i, m->meet.held_key + m->meet.held);
    }
    for (int i = 0; i < m->listed; i++) {
        m->meet.listed_key[m->meet.listed++] = pair_key(m->contact[i].a, m->contact[i].b);
    }
    for (int i = 0; i < m->exclusions; i++) {
        m->meet.excluded_key[m->meet.excluded++] = pair_key(m->exclusion[i].a, m->exclusion[i].b);
    }
    pp_sort_keys(m->meet.excluded, m->meet.excluded_key, scratch);
    pp_sort_keys(m->meet.joined, m->meet.joined_key, scratch);
    pp_sort_keys(m->meet.held, m->meet.held_key, scratch);
    pp_sort_keys(m->meet.listed, m->meet.listed_key, scratch);
    return count_left_out(m);
}

// ── Asking ───────────────────────────────────────────────────────────────────────────────────────

// Unbounded, or not convex.
static bool is_wall(const pp_shape *shape)
{
    return shape->kind == PERP_SHAPE_HALFPLANE || shape->kind == PERP_SHAPE_HALFSPACE ||
           shape->mesh != NULL;
}

// Free bodies by their key, a shape and a body on it by either order.
static bool are_joined(const perp_model *m, int a, int b)
{
    int body_a = m->shape[a].body, body_b = m->shape[b].body;
    return has_key(m->meet.joined_key, m->meet.joined, pair_key(body_a, body_b)) ||
           has_key(m->meet.held_key, m->meet.held, key_of(a, body_b)) ||
           has_key(m->meet.held_key, m->meet.held, key_of(b, body_a));
}

// As MuJoCo's contype and conaffinity: one of the two wants the other.
static bool groups_meet(const pp_shape *a, const pp_shape *b)
{
    return (a->group & b->mask) != 0 || (b->group & a->mask) != 0;
}

pp_pair_filter pp_model_pair_filter(const perp_model *m, int a, int b)
{
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    if (sa->body == sb->body) {
        return PP_PAIR_ONE_BODY;
    }
    if ((sa->kind == PERP_SHAPE_POINT && sb->kind == PERP_SHAPE_POINT) ||
        (is_wall(sa) && is_wall(sb))) {
        return PP_PAIR_NEVER;
    }
    // The order decides which reason a user reads: reasons that no setting changes come first.
    if (m->meet.listed > 0 && has_key(m->meet.listed_key, m->meet.listed, pair_key(a, b))) {
        return PP_PAIR_LISTED;
    }
    if (m->body[sa->body].nv == 0 && m->body[sb->body].nv == 0) {
        return PP_PAIR_NOT_DYNAMIC;
    }
    if (m->listed_only) {
        return PP_PAIR_LISTED_ONLY;
    }
    if (!sa->detect || !sb->detect) {
        return PP_PAIR_NOT_DETECTED;
    }
    // A rule of the scene overrides groups, excluded bodies and joints.
    const pp_pair_rule *rule = pp_model_rule(m, a, b);
    if (rule && rule->ignore) {
        return PP_PAIR_IGNORED;
    }
    if (rule && rule->given) {
        return PP_PAIR_COLLIDES;
    }
    if (!groups_meet(sa, sb)) {
        return PP_PAIR_MASKED;
    }
    if (m->meet.excluded > 0 &&
        has_key(m->meet.excluded_key, m->meet.excluded, pair_key(sa->body, sb->body))) {
        return PP_PAIR_EXCLUDED;
    }
    return are_joined(m, a, b) ? PP_PAIR_JOINED : PP_PAIR_COLLIDES;
}

// ── Counting ─────────────────────────────────────────────────────────────────────────────────────

// Unordered pairs of n things.
static int64_t pairs_of(int64_t n)
{
    return n * (n - 1) / 2;
}

// Numbers of pairs of shapes on different bodies: all, and those in which both are detected.
typedef struct pair_tally {
    int64_t all, seen;
} pair_tally;

// held: only among bodies that are not free. Pairs within a body are taken off.
static pair_tally tally_of(const perp_model *m, bool held)
{
    int64_t shapes = 0, seen = 0;
    pair_tally t = {0, 0};
    for (int i = 0; i < m->bodies; i++) {
        int64_t here = 0, here_seen = 0;
        if (held && m->body[i].nv > 0) {
            continue;
        }
        for (int k = m->body[i].first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
            here++;
            here_seen += m->shape[k].detect;
        }
        shapes += here;
        seen += here_seen;
        t.all -= pairs_of(here);
        t.seen -= pairs_of(here_seen);
    }
    return (pair_tally){t.all + pairs_of(shapes), t.seen + pairs_of(seen)};
}

// Pairs of one shape with the shapes of a body that are kept apart for the given reason.
static int64_t count_with(const perp_model *m, int shape, int body, pp_pair_filter why)
{
    int64_t count = 0;
    for (int k = m->body[body].first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
        count += pp_model_pair_filter(m, shape, k) == why;
    }
    return count;
}

// The same for pairs of bodies, given as sorted keys. A key that occurs twice counts once.
static int64_t count_bodies(const perp_model *m, const uint64_t *key, int keys, pp_pair_filter why)
{
    int64_t count = 0;
    for (int i = 0; i < keys; i++) {
        if (i > 0 && key[i - 1] == key[i]) {
            continue;
        }
        for (int k = m->body[key[i] >> 32].first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
            count += count_with(m, k, (int)(key[i] & UINT32_MAX), why);
        }
    }
    return count;
}

// Pairs that joints keep apart. Several joints may give the same key, which counts once.
static int64_t count_joined(const perp_model *m)
{
    const pp_pair_exclusions *meet = &m->meet;
    int64_t count = count_bodies(m, meet->joined_key, meet->joined, PP_PAIR_JOINED);
    for (int i = 0; i < meet->held; i++) {
        uint64_t key = meet->held_key[i];
        if (i == 0 || meet->held_key[i - 1] != key) {
            count += count_with(m, (int)(key >> 32), (int)(key & UINT32_MAX), PP_PAIR_JOINED);
        }
    }
    return count;
}

// ── Counting by groups ───────────────────────────────────────────────────────────────────────────

// Detected shapes that share group and mask.
typedef struct mask_class {
    int example;   // one of them
    int64_t all;   // their number
    int64_t held;  // of bodies that are not free
} mask_class;

typedef struct mask_classes {
    mask_class *item;
    int count;
    int *of;  // shapes: their class, -1: not detected
} mask_classes;

static uint64_t mask_key(const pp_shape *s)
{
    return ((uint64_t)s->group << 32) | s->mask;
}

// Sorts the distinct keys, then finds the class of each shape among them.
static bool set_classes(const perp_model *m, mask_classes *c)
{
    uint64_t *key = PP_ARRAY(m->arena, uint64_t, m->shapes);
    uint64_t *scratch = PP_ARRAY(m->arena, uint64_t, m->shapes);
    c->of = PP_ARRAY(m->arena, int, m->shapes);
    c->item = PP_ZEROS(m->arena, mask_class, m->shapes);
    if (!key || !scratch || !c->of || !c->item) {
        return false;
    }
    for (int i = 0; i < m->shapes; i++) {
        key[i] = mask_key(&m->shape[i]);
    }
    pp_sort_keys(m->shapes, key, scratch);
    // equal keys are neighbours now: one of each moves to the front
    for (int i = 0; i < m->shapes; i++) {
        if (i == 0 || key[i] != key[c->count - 1]) {
            key[c->count++] = key[i];
        }
    }
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *s = &m->shape[i];
        int at = key_at(key, c->count, mask_key(s));
        c->of[i] = s->detect ? at : -1;
        c->item[at].example = i;
        c->item[at].all += s->detect;
        c->item[at].held += s->detect && m->body[s->body].nv == 0;
    }
    return true;
}

// Pairs of shapes of one free body that their masks would keep apart.
static int64_t masked_within(const perp_model *m, const mask_classes *c, int body)
{
    int64_t count = 0;
    for (int k = m->body[body].first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
        for (int i = m->shape[k].next - 1; i >= 0; i = m->shape[i].next - 1) {
            bool seen = c->of[k] >= 0 && c->of[i] >= 0;
            count += seen && !groups_meet(&m->shape[k], &m->shape[i]);
        }
    }
    return count;
}

// Whether a pair is among those that the formula of count_masked counts.
static bool masked_by_formula(const perp_model *m, int a, int b)
{
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    bool held = m->body[sa->body].nv == 0 && m->body[sb->body].nv == 0;
    return !held && sa->detect && sb->detect && !groups_meet(sa, sb);
}

// Pairs of classes that do not meet, less those that are left out for an earlier reason: pairs of
// bodies that are not free, of one body, listed pairs, and pairs with a rule.
static bool count_masked(const perp_model *m, int64_t *count)
{
    mask_classes c = {0};
    pp_mark mark = pp_arena_mark(m->arena);
    *count = 0;
    if (!set_classes(m, &c)) {
        return false;
    }
    for (int i = 0; i < c.count; i++) {
        const mask_class *one = &c.item[i];
        if (!groups_meet(&m->shape[one->example], &m->shape[one->example])) {
            *count += pairs_of(one->all) - pairs_of(one->held);
        }
        for (int k = i + 1; k < c.count; k++) {
            const mask_class *other = &c.item[k];
            if (!groups_meet(&m->shape[one->example], &m->shape[other->example])) {
                *count += one->all * other->all - one->held * other->held;
            }
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        // nothing to take off where all classes meet
        *count -= m->body[i].nv > 0 && *count > 0 ? masked_within(m, &c, i) : 0;
    }
    const pp_pair_exclusions *meet = &m->meet;
    for (int i = 0; i < meet->listed; i++) {
        uint64_t key = meet->listed_key[i];
        bool again = i > 0 && meet->listed_key[i - 1] == key;
        *count -= !again && masked_by_formula(m, (int)(key >> 32), (int)(key & UINT32_MAX));
    }
    for (int i = 0; i < m->pairs; i++) {
        const pp_pair_rule *p = &m->pair[i];
        bool last = i + 1 == m->pairs || m->pair[i + 1].a != p->a || m->pair[i + 1].b != p->b;
        bool listed = has_key(meet->listed_key, meet->listed, pair_key(p->a, p->b));
        *count -= last && !listed && masked_by_formula(m, p->a, p->b);
    }
    pp_arena_release(m->arena, mark);
    return true;
}

// Counted by formula where possible: a scene of n shapes has n^2 pairs. False: no memory.
static bool count_left_out(perp_model *m)
{
    perp_excluded_pairs *out = &m->meet.left_out;
    pair_tally all = tally_of(m, false), held = tally_of(m, true);
    out->not_dynamic = held.all;
    if (m->listed_only) {
        out->listed_only = all.all - held.all - m->meet.listed;
        return true;
    }
    out->not_detected = (all.all - all.seen) - (held.all - held.seen);
    for (int i = 0; i < m->pairs; i++) {
        bool last = i + 1 == m->pairs || m->pair[i + 1].a != m->pair[i].a ||
                    m->pair[i + 1].b != m->pair[i].b;
        out->ignored +=
            last && pp_model_pair_filter(m, m->pair[i].a, m->pair[i].b) == PP_PAIR_IGNORED;
    }
    out->excluded = count_bodies(m, m->meet.excluded_key, m->meet.excluded, PP_PAIR_EXCLUDED);
    out->joined = count_joined(m);
    return count_masked(m, &out->masked);
}

// Counted when the model was made.
perp_excluded_pairs perp_model_excluded_pairs(const perp_model *model)
{
    return model ? model->meet.left_out : (perp_excluded_pairs){0};
}
