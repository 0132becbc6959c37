// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which contact point is which: closed contacts are followed by place, not by name. A rim is told in parts,
// and of a face some corners move: as a cylinder rolls on, the point that carries it goes from one name to
// the next while the old name jumps to another point.
//
// The point of a contact is fixed to one of the two bodies or moves little in the time of a step, so that
// the nearest one in the frame of either body is the same, and it is closed; of two names at one place the
// old one stays.
#include "hybrid/moment.h"

#include <math.h>

static const double FAR = 0.1;       // of the length: further points are others
static const double TOUCHES = 1e-4;  // of the length: gap of a point that can be a closed one
static const double CLOSED = 1e-6;   // of the length: such a gap counts as far
static const double SURE = 1e-9;     // of the length: such a gap is closed, however far

static bool is_pair(const pp_hold *hold, const pp_contact *c)
{
    return hold->kind == PP_HOLD_CONTACT && c->listed == hold->listed && c->a == hold->a &&
           c->b == hold->b;
}

static perp_vec3 local_point(const pp_frame *frame, perp_vec3 p)
{
    return pp_mul_t(&frame->R, pp_sub(p, frame->p));
}

pp_contact_anchor pp_contact_anchor_of(const perp_model *m, const pp_frame *body, double t,
                                       const pp_contact *c)
{
    return (pp_contact_anchor){.known = true,
                               .t = t,
                               .seen = *c,
                               .R_WA = body[m->shape[c->a].body].R,
                               .on_a = local_point(&body[m->shape[c->a].body], c->point),
                               .on_b = local_point(&body[m->shape[c->b].body], c->point),
                               .n_A = pp_mul_t(&body[m->shape[c->a].body].R, c->n)};
}

static double way_between(const pp_contact_anchor *from, const pp_contact_anchor *to)
{
    return fmin(pp_length(pp_sub(to->on_a, from->on_a)), pp_length(pp_sub(to->on_b, from->on_b)));
}

// A rim's point runs faster than the bodies move where they lie nearly flat on each other: some way is always allowed.
static const double JUMP = 0.1;  // of the thinner shape
static const double RUNS = 4.0;  // times as fast as the bodies move

bool pp_place_reaches(const pp_machine *machine, const pp_contact_anchor *from,
                      const pp_frame *body, double t, const pp_contact *c)
{
    const perp_model *m = machine->model;
    const pp_shape *sa = &m->shape[c->a], *sb = &m->shape[c->b];
    const pp_frame *fa = &body[sa->body], *fb = &body[sb->body];
    if (!m->spatial || !from->known || c->listed >= 0) {
        return true;
    }
    pp_contact_anchor to = pp_contact_anchor_of(m, body, t, c);
    perp_vec3 v = pp_sub(pp_point_velocity(fb, c->point), pp_point_velocity(fa, c->point));
    double speed = pp_length(v) + machine->length * (pp_length(fa->w) + pp_length(fb->w));
    double thin = fmin(fmin(sa->thickness, sb->thickness), machine->length);
    return way_between(from, &to) <= JUMP * thin + RUNS * speed * fabs(t - from->t);
}

pp_contact pp_place_beyond(const perp_model *m, const pp_contact_anchor *place,
                           const pp_frame *body)
{
    pp_contact c = place->seen;
    const pp_frame *fa = &body[m->shape[c.a].body], *fb = &body[m->shape[c.b].body];
    perp_vec3 on_a = pp_point(fa, place->on_a);
    c.point = pp_point(fb, place->on_b);
    c.n = pp_mul(&fa->R, place->n_A);
    c.t = pp_mul(&fa->R, pp_mul_t(&place->R_WA, c.t));
    c.gap += pp_dot3(c.n, pp_sub(c.point, on_a));
    return c;
}

perp_status pp_holds_hint(const pp_machine *machine, const pp_holds *holds, const pp_poses *kin,
                          pp_gap_search *search, pp_arena *arena)
{
    const perp_model *m = machine->model;
    int rims = machine->rims ? machine->rims->count : 0;
    pp_pair_hint *hint = PP_ARRAY(arena, pp_pair_hint, (size_t)holds->count + (size_t)rims);
    search->hints = 0;
    for (int i = 0; hint && i < rims; i++) {
        const pp_rim *rim = &machine->rims->rim[i];
        const pp_frame *of = &kin->body[m->shape[rim->of_b ? rim->b : rim->a].body];
        hint[search->hints++] = (pp_pair_hint){
            .a = rim->a, .b = rim->b, .has_rim = true, .rim = pp_point(of, rim->on[rim->of_b])};
    }
    for (int i = 0; hint && m->spatial && i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        int at = 0;
        if (h->kind != PP_HOLD_CONTACT || !h->place.known || h->a > h->b) {
            continue;
        }
        while (at < search->hints && (hint[at].a != h->a || hint[at].b != h->b)) {
            at++;
        }
        if (at == search->hints) {
            hint[search->hints++] = (pp_pair_hint){.a = h->a, .b = h->b};
        }
        if (!hint[at].has_normal) {
            hint[at].n = pp_mul(&kin->body[m->shape[h->a].body].R, h->place.n_A);
            hint[at].has_normal = true;
        }
    }
    search->hint = hint;
    return hint ? PERP_OK : PERP_ERR_MEMORY;
}

// The way from a known place to a contact point [m]; infinite where it is another one for certain.
static double way_to(const pp_machine *machine, const pp_hold *hold, const pp_contact_anchor *place,
                     const pp_contact *c, const pp_contact_anchor *to)
{
    bool named = c->feature == hold->feature;
    if (!is_pair(hold, c)) {
        return PP_INF;
    }
    if (!machine->model->spatial || !place->known || hold->listed >= 0) {
        return named ? 0.0 : PP_INF;
    }
    double way = way_between(place, to);
    double gap = fabs(c->gap), far = FAR * machine->length;
    bool other = gap > TOUCHES * machine->length || (way > far && gap > SURE * machine->length);
    if (named && other) {
        return TOUCHES / SURE * machine->length;
    }
    if (other) {
        return PP_INF;
    }
    return (named ? 0.999 : 1.0) * way + far * gap / (CLOSED * machine->length);
}

// Ways from the holds that are contacts to the points of an instant.
typedef struct table {
    int contacts, points;
    int *hold;    // contacts
    int *best;    // contacts: the nearest point that is not taken, -1: none
    double *way;  // contacts x points
} table;

static void find_best(table *t, int i)
{
    const double *way = t->way + (size_t)i * (size_t)t->points;
    t->best[i] = -1;
    for (int k = 0; k < t->points; k++) {
        if (way[k] < (t->best[i] < 0 ? PP_INF : way[t->best[i]])) {
            t->best[i] = k;
        }
    }
}

// The contact whose best point is nearest of all, -1: none has one.
static int nearest_contact(const table *t)
{
    int at = -1;
    double least = PP_INF;
    for (int i = 0; i < t->contacts; i++) {
        double way = t->best[i] < 0 ? PP_INF : t->way[i * t->points + t->best[i]];
        if (way < least) {
            least = way;
            at = i;
        }
    }
    return at;
}

static void take_point(table *t, int at, int *which)
{
    int point = t->best[at];
    which[t->hold[at]] = point;
    t->best[at] = -1;
    for (int k = 0; k < t->points; k++) {
        t->way[at * t->points + k] = PP_INF;
    }
    for (int i = 0; i < t->contacts; i++) {
        t->way[i * t->points + point] = PP_INF;
        if (t->best[i] == point) {
            find_best(t, i);
        }
    }
}

perp_status pp_holds_match(const pp_machine *machine, const pp_holds *holds,
                           const pp_contact_anchor *place, const pp_gaps *gaps,
                           const pp_frame *body, int *which, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    size_t count = (size_t)holds->count, n = (size_t)gaps->count;
    table t = {.points = gaps->count,
               .hold = PP_ARRAY(arena, int, 2 * count),
               .way = PP_ARRAY(arena, double, count *n)};
    pp_contact_anchor *to = PP_ARRAY(arena, pp_contact_anchor, n);
    if (!t.hold || !t.way || !to) {
        return PERP_ERR_MEMORY;
    }
    t.best = t.hold + count;
    for (size_t k = 0; k < n; k++) {
        to[k] = pp_contact_anchor_of(machine->model, body, 0.0, &gaps->contact[k]);
    }
    for (int i = 0; i < holds->count; i++) {
        which[i] = -1;
        if (holds->hold[i].kind != PP_HOLD_CONTACT) {
            continue;
        }
        for (int k = 0; k < t.points; k++) {
            t.way[t.contacts * t.points + k] =
                way_to(machine, &holds->hold[i], &place[i], &gaps->contact[k], &to[k]);
        }
        t.hold[t.contacts] = i;
        find_best(&t, t.contacts++);
    }
    for (int at = nearest_contact(&t); at >= 0; at = nearest_contact(&t)) {
        take_point(&t, at, which);  // the nearest of all first
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

pp_contact_anchor *pp_holds_places(const pp_holds *holds, pp_arena *arena)
{
    pp_contact_anchor *place = PP_ARRAY(arena, pp_contact_anchor, holds->count);
    for (int i = 0; place && i < holds->count; i++) {
        place[i] = holds->hold[i].place;
    }
    return place;
}

// The contact points of the pairs that are closed: no others are asked for.
perp_status pp_holds_gaps(pp_gaps *out, const pp_machine *machine, const pp_holds *holds,
                          const pp_poses *kin, double margin, pp_arena *arena)
{
    pp_gap_search search = {.margin = margin};
    pp_shape_pair *pair = PP_ARRAY(arena, pp_shape_pair, holds->count);
    int pairs = 0;
    bool listed = false;
    if (!pair || pp_holds_hint(machine, holds, kin, &search, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        bool known = hold->kind != PP_HOLD_CONTACT || hold->listed >= 0;
        listed = listed || (hold->kind == PP_HOLD_CONTACT && hold->listed >= 0);
        for (int k = 0; k < pairs && !known; k++) {
            known = pair[k].a == hold->a && pair[k].b == hold->b;
        }
        if (!known) {
            pair[pairs++] = (pp_shape_pair){hold->a, hold->b};
        }
    }
    perp_status status = pp_gaps_some(out, machine->model, kin, search, pair, pairs, listed, arena);
    for (int i = 0; status >= 0 && !machine->model->spatial && i < out->count; i++) {
        out->contact[i].mu_2 = -1.0;  // there is nothing across in the plane
    }
    return status;
}
