// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of shapes are judged: all those of different bodies, less the ones that the scene
// leaves out.
//
// The rules are those of contact detection, read from the lists of the model a second time: a
// mistake in the keys of model/meet.c shows as an overlap. Only the shapes that a joint holds are
// asked for there, since they follow from the geometry at the start.
#include "certify/geometry/filter.h"

// Counting sort by key, which is in 0 .. buckets - 1.
static bool sort_buckets(pp_bucket_index *out, int buckets, int items, const int *key,
                         pp_arena *arena)
{
    out->first = PP_ZEROS(arena, int, (size_t)buckets + 2);
    out->item = PP_ARRAY(arena, int, items);
    if (!out->first || !out->item) {
        return false;
    }
    // first[k + 2] counts bucket k, so that after the sums first[k + 1] is where it begins
    for (int i = 0; i < items; i++) {
        out->first[key[i] + 2]++;
    }
    for (int k = 0; k < buckets; k++) {
        out->first[k + 2] += out->first[k + 1];
    }
    for (int i = 0; i < items; i++) {
        out->item[out->first[key[i] + 1]++] = i;
    }
    return true;
}

static int lower(int a, int b)
{
    return a < b ? a : b;
}

// Lists that are empty need no index.
bool pp_judged_pairs_open(pp_judged_pairs *pairs, const perp_model *model, pp_arena *arena)
{
    const perp_model *m = model;
    int most = m->pairs > m->listed ? m->pairs : m->listed;
    most = most > m->exclusions ? most : m->exclusions;
    *pairs = (pp_judged_pairs){.model = m};
    int *key = PP_ARRAY(arena, int, most);
    if (!key) {
        return false;
    }
    // One array of keys serves all three lists: sort_buckets copies what it needs.
    for (int i = 0; i < m->pairs; i++) {
        key[i] = lower(m->pair[i].a, m->pair[i].b);
    }
    if (m->pairs > 0 && !sort_buckets(&pairs->rules, m->shapes, m->pairs, key, arena)) {
        return false;
    }
    for (int i = 0; i < m->listed; i++) {
        key[i] = lower(m->contact[i].a, m->contact[i].b);
    }
    if (m->listed > 0 && !sort_buckets(&pairs->listed, m->shapes, m->listed, key, arena)) {
        return false;
    }
    for (int i = 0; i < m->exclusions; i++) {
        key[i] = lower(m->exclusion[i].a, m->exclusion[i].b);
    }
    return m->exclusions == 0 ||
           sort_buckets(&pairs->exclusions, m->bodies, m->exclusions, key, arena);
}

// Items of the index that have the lower number `low`, as a range; empty without items.
static const int *items_of(const pp_bucket_index *index, int low, int *count)
{
    *count = index->first ? index->first[low + 1] - index->first[low] : 0;
    return index->first ? index->item + index->first[low] : NULL;
}

static bool is_listed(const pp_judged_pairs *p, int a, int b)
{
    int count;
    const int *item = items_of(&p->listed, lower(a, b), &count);
    for (int k = 0; k < count; k++) {
        const pp_listed *c = &p->model->contact[item[k]];
        if (c->a + c->b == a + b) {
            return true;
        }
    }
    return false;
}

// The rule that was given last for two shapes; NULL: none.
static const pp_pair_rule *rule_of(const pp_judged_pairs *p, int a, int b)
{
    int count;
    const int *item = items_of(&p->rules, lower(a, b), &count);
    const pp_pair_rule *found = NULL;
    for (int k = 0; k < count; k++) {
        const pp_pair_rule *rule = &p->model->pair[item[k]];
        found = rule->a + rule->b == a + b ? rule : found;
    }
    return found;
}

static bool is_excluded(const pp_judged_pairs *p, int body_a, int body_b)
{
    int count;
    const int *item = items_of(&p->exclusions, lower(body_a, body_b), &count);
    for (int k = 0; k < count; k++) {
        const pp_body_pair *pair = &p->model->exclusion[item[k]];
        if (pair->a + pair->b == body_a + body_b) {
            return true;
        }
    }
    return false;
}

// Without an inside, or without an outside that is convex.
static bool is_open(const pp_shape *s)
{
    return s->kind == PERP_SHAPE_HALFPLANE || s->kind == PERP_SHAPE_HALFSPACE || s->mesh;
}

bool pp_pair_is_judged(const pp_judged_pairs *pairs, int a, int b)
{
    const perp_model *m = pairs->model;
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    bool points = sa->kind == PERP_SHAPE_POINT && sb->kind == PERP_SHAPE_POINT;
    if (sa->body == sb->body || points || (is_open(sa) && is_open(sb))) {
        return false;
    }
    if (is_listed(pairs, a, b)) {
        return true;
    }
    bool dynamic = m->body[sa->body].drive == PERP_MOTION_DYNAMIC ||
                   m->body[sb->body].drive == PERP_MOTION_DYNAMIC;
    if (!dynamic || m->listed_only || !sa->detect || !sb->detect) {
        return false;
    }
    const pp_pair_rule *rule = rule_of(pairs, a, b);
    if (rule) {
        return !rule->ignore;
    }
    uint32_t wanted = (sa->group & sb->mask) | (sb->group & sa->mask);
    return wanted != 0 && !is_excluded(pairs, sa->body, sb->body) &&
           (m->joints == 0 || pp_model_pair_filter(m, a, b) != PP_PAIR_JOINED);
}
