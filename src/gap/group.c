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
// not depend on the order. Then a pair is looked at if its gap is at most what the two fastest of its group close.
// Bodies that are driven pass no impact on, but strike: they count among the fastest of every group that they can touch.
// All pairs that this needs are among those of the broad phase, whose margin is the sum of the two largest travels.
#include "gap/broad.h"

#include <math.h>

typedef struct body_group {
    int parent;            // union-find; of the root: itself
    double first, second;  // the largest travels of its free bodies [m]
    double driven;         // the largest of driven bodies that it can touch [m]
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
    to->second = fmax(fmin(to->first, from->first), fmax(to->second, from->second));
    to->first = fmax(to->first, from->first);
    to->driven = fmax(to->driven, from->driven);
    return true;
}

static double travel_of(const body_group *g)
{
    return fmax(g->first, g->driven);
}

// Rounded up to eighths of a power of two: from step to step it is mostly the same, to the last bit.
static double round_up(double x)
{
    int exponent;
    double part = frexp(x, &exponent);
    return ldexp(ceil(8.0 * part) / 8.0, exponent);
}

// What the two fastest of a group close.
static double reach_of(const body_group *g, double near)
{
    double low = fmin(g->first, g->driven);
    double reach = travel_of(g) + fmax(low, g->second);
    return reach > near && isfinite(reach) ? round_up(reach) : fmax(reach, near);
}

// One look at a pair; true: a group has changed.
static bool meet(body_group *g, const perp_model *model, const pp_gap_search *search, int i, int j,
                 double gap)
{
    bool free_i = model->body[i].nv > 0, free_j = model->body[j].nv > 0;
    if (free_i && free_j) {
        double both = travel_of(&g[root_of(g, i)]) + travel_of(&g[root_of(g, j)]);
        return gap <= fmax(search->near, both) && join(g, i, j);
    }
    body_group *of = &g[root_of(g, free_i ? i : j)];
    double other = search->travel[free_i ? j : i];
    if (!(other > of->driven) || gap > fmax(search->near, travel_of(of) + other)) {
        return false;
    }
    of->driven = other;
    return true;
}

perp_status pp_broad_group(pp_broad *broad, const perp_model *model, const pp_frame *body,
                           const pp_gap_search *search, pp_arena *arena, const double **reach)
{
    body_group *g = PP_ARRAY(arena, body_group, model->bodies);
    double *apart = PP_ARRAY(arena, double, broad->count),
           *out = PP_ZEROS(arena, double, model->bodies);
    if (!g || !apart || !out) {
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
        apart[k] = pp_broad_apart(broad, model, body, search->margin, pp_broad_a(broad->pair[k]),
                                  pp_broad_b(broad->pair[k]));
    }
    bool news = true;
    while (news) {
        news = false;
        for (int k = 0; k < broad->count; k++) {
            int a = model->shape[pp_broad_a(broad->pair[k])].body;
            int b = model->shape[pp_broad_b(broad->pair[k])].body;
            news = meet(g, model, search, a, b, apart[k]) || news;
        }
    }
    // the reach of a group is that of its bodies; bodies that are not free have none of their own
    for (int i = 0; i < model->bodies; i++) {
        if (model->body[i].nv > 0) {
            out[i] = fmin(search->margin, reach_of(&g[root_of(g, i)], search->near));
        }
    }
    int kept = 0;
    for (int k = 0; k < broad->count; k++) {
        int a = model->shape[pp_broad_a(broad->pair[k])].body;
        int b = model->shape[pp_broad_b(broad->pair[k])].body;
        if (apart[k] <= fmax(out[a], out[b])) {
            broad->pair[kept++] = broad->pair[k];
        }
    }
    broad->count = kept;
    *reach = out;
    return PERP_OK;
}
