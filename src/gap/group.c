// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bodies can meet in a step, so that a fast one does not make all others be looked at from afar.
//
// Bodies that can touch within the step, or that a joint connects, form a group: an impact on one can reach all of them,
// and none can move further than its fastest can. With T_g the largest travel in group g, two groups are one if
//
//   gap <= max(near, T_g + T_h)
//
// for the boxes of two of their bodies. This is repeated until nothing changes; groups only grow, so that the result does
// not depend on the order. No impact in a group changes the speed of a body by more than
//
//   B_g = (1 + e) max of v_ij   over its pairs with gap <= h (v_ij + forces)
//
// with v_ij the speed at which the two bodies of a pair move against each other. Then a pair is looked at up to
//
//   max(margin, 1.5 h (v_ij + forces + B_g)) ,
//
// which is what contacts are culled by at last (near.c), or more: a fast body makes the pairs around it be looked at from
// afar by what it can do to them, and not by its own speed.
// Bodies that are driven pass no impact on, but strike. All pairs that this needs are among those of the broad phase,
// whose margin is the sum of the two largest travels.
#include "gap/broad.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

typedef struct body_group {
    int parent;     // union-find; of the root: itself
    double first;   // the largest travel of its free bodies [m]
    double driven;  // and of driven bodies that it can touch [m]
    double impact;  // B_g [m/s]
} body_group;

static int root_of(body_group *g, int i)
{
    while (g[i].parent != i) {
        g[i].parent = g[g[i].parent].parent;
        i = g[i].parent;
    }
    return i;
}

// The smaller index stays: one of two groups becomes part of the other.
static bool join(body_group *g, int i, int j)
{
    int a = root_of(g, i), b = root_of(g, j);
    if (a == b) {
        return false;
    }
    body_group *to = &g[a < b ? a : b], *from = &g[a < b ? b : a];
    from->parent = a < b ? a : b;
    to->first = fmax(to->first, from->first);
    to->driven = fmax(to->driven, from->driven);
    return true;
}

static double travel_of(const body_group *g)
{
    return pp_max(g->first, g->driven);
}

// Rounded up to two digits after the leading one: from step to step it is mostly the same, to the last bit. x: positive,
// finite and normal, of whose 52 binary digits the last 50 are cleared.
static double round_up(double x)
{
    const uint64_t rest = ((uint64_t)1 << 50) - 1;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + rest) & ~rest;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// How fast the surface of one body moves, seen from another, at most [m/s]: x is a point of the first, or nearby, and the
// rate is that of v - v_other - w_other x (x - p_other).
static double speed_seen_from(const perp_model *model, const pp_frame *body,
                              const pp_gap_search *search, int i, int other)
{
    const pp_frame *own = &body[i], *from = &body[other];
    return pp_length(pp_sub(own->v, pp_point_velocity(from, own->p))) +
           pp_length(pp_sub(own->w, from->w)) * (model->body[i].reach + search->margin);
}

// The largest speed at which the surfaces of two bodies move against each other [m/s]. What is not free may be of any size: its
// motion is taken where the free body is, and around it. Links of an arm that swings hardly move against each other.
static double speed_between(const perp_model *model, const pp_frame *body,
                            const pp_gap_search *search, int i, int j)
{
    const pp_frame *a = &body[i], *b = &body[j];
    bool free_i = model->body[i].nv > 0, free_j = model->body[j].nv > 0;
    if (free_i && free_j) {
        double apart = pp_length(pp_sub(b->v, a->v)) + pp_length(a->w) * model->body[i].reach +
                       pp_length(b->w) * model->body[j].reach;
        return pp_min(apart, pp_min(speed_seen_from(model, body, search, i, j),
                                    speed_seen_from(model, body, search, j, i)));
    }
    const pp_frame *own = free_i ? a : b, *other = free_i ? b : a;
    double reach = model->body[free_i ? i : j].reach;
    return pp_length(pp_sub(own->v, pp_point_velocity(other, own->p))) +
           pp_length(pp_sub(own->w, other->w)) * reach + pp_length(other->w) * search->margin;
}

// One look at a pair; true: a group has changed.
static bool meet(body_group *g, const perp_model *model, const pp_gap_search *search, int i, int j,
                 double gap)
{
    bool free_i = model->body[i].nv > 0, free_j = model->body[j].nv > 0;
    if (free_i && free_j) {
        int a = root_of(g, i), b = root_of(g, j);
        double both = travel_of(&g[a]) + travel_of(&g[b]);
        return a != b && gap <= pp_max(both, search->near) && join(g, a, b);
    }
    body_group *of = &g[root_of(g, free_i ? i : j)];
    double other = search->travel[free_i ? j : i];
    if (!(other > of->driven) || gap > fmax(search->near, travel_of(of) + other)) {
        return false;
    }
    of->driven = other;
    return true;
}

// A pair of the broad phase while its reach is found.
typedef struct group_pair {
    int a, b;      // bodies
    double apart;  // a lower bound of their gap [m]
    double speed;  // against each other [m/s]
    double push;   // what forces add to that [m/s]
} group_pair;

// The group of a pair; of a body that is not free, that of the other.
static body_group *group_of(body_group *g, const perp_model *model, const group_pair *p)
{
    return &g[root_of(g, model->body[p->a].nv > 0 ? p->a : p->b)];
}

// The largest change of a speed by an impact in every group.
static void find_impacts(body_group *g, const perp_model *model, const pp_gap_search *search,
                         const group_pair *pair, int count)
{
    for (int k = 0; k < count; k++) {
        const group_pair *p = &pair[k];
        if (p->apart <= search->h * (p->speed + p->push)) {
            body_group *of = group_of(g, model, p);
            of->impact = fmax(of->impact, search->bounces * p->speed);
        }
    }
}

static void set_pair(const pp_broad *broad, const perp_model *model, const pp_frame *body,
                     const pp_gap_search *search, int k, group_pair *out)
{
    int a = pp_broad_a(broad->pair[k]), b = pp_broad_b(broad->pair[k]);
    *out = (group_pair){.a = model->shape[a].body,
                        .b = model->shape[b].body,
                        .apart = pp_broad_apart(broad, model, body, search->margin, a, b)};
    out->speed = speed_between(model, body, search, out->a, out->b);
    out->push = search->push[out->a] + search->push[out->b];
}

// What a pair is looked at from in any case.
static double margin_of(uint64_t pair, const perp_model *model, const pp_gap_search *search)
{
    if (!search->by_pair) {
        return search->near;
    }
    return pp_gap_pair_margin(model, 0.0, pp_broad_a(pair), pp_broad_b(pair));
}

perp_status pp_broad_group(pp_broad *broad, const perp_model *model, const pp_frame *body,
                           const pp_gap_search *search, pp_arena *arena, const double **reach)
{
    body_group *g = PP_ARRAY(arena, body_group, model->bodies);
    group_pair *pair = PP_ARRAY(arena, group_pair, broad->count);
    double *out = PP_ARRAY(arena, double, broad->count);
    if (!g || !pair || !out) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        g[i] = (body_group){.parent = i, .first = search->travel[i]};
    }
    for (int i = 0; i < model->joints; i++) {
        const pp_joint *j = &model->joint[i];
        if (model->body[j->a].nv > 0 && model->body[j->b].nv > 0) {
            join(g, j->a, j->b);
        }
    }
    for (int k = 0; k < broad->count; k++) {
        set_pair(broad, model, body, search, k, &pair[k]);
    }
    // groups only grow: until nothing changes
    bool news = true;
    while (news) {
        news = false;
        for (int k = 0; k < broad->count; k++) {
            news = meet(g, model, search, pair[k].a, pair[k].b, pair[k].apart) || news;
        }
    }
    find_impacts(g, model, search, pair, broad->count);
    int kept = 0;
    for (int k = 0; k < broad->count; k++) {
        const group_pair *p = &pair[k];
        double impact = pp_max(g[root_of(g, p->a)].impact, g[root_of(g, p->b)].impact);
        double closes = search->span * (p->speed + p->push + impact);
        double near = margin_of(broad->pair[k], model, search);
        double most = closes > near && isfinite(closes) ? round_up(closes) : near;
        if (p->apart <= most) {
            out[kept] = pp_min(most, search->margin);
            if (broad->known) {
                broad->known[kept] = broad->known[k];
            }
            broad->pair[kept++] = broad->pair[k];
        }
    }
    broad->count = kept;
    *reach = out;
    return PERP_OK;
}
