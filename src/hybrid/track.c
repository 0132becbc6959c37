// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tracking of contact points: closed contacts are recognised by position, not by feature. A rim is
// represented by parts of it, and some corners of a face move: as a cylinder rolls, the point that
// carries it passes from one feature to the next while the old feature jumps to another point.
//
// The point of a contact is fixed to one of the two bodies or moves little in the time of a step.
// The nearest point in the frame of either body is therefore the same one, and it is closed. Of two
// features at one position the old one stays.                                          theory (H13)
#include "hybrid/moment.h"

#include <math.h>

static const double FAR = 0.1;       // of the length: points further apart are different
static const double TOUCHES = 1e-4;  // of the length: largest gap of a point that can be closed
static const double CLOSED = 1e-6;   // of the length: a gap that counts like the distance FAR
static const double SURE = 1e-9;     // of the length: a smaller gap is closed, however far

// A point of the world in the frame of a body.
static perp_vec3 local_point(const pp_frame *frame, perp_vec3 p)
{
    return pp_mul_t(&frame->R, pp_sub(p, frame->p));
}

// Of the attitude of b nothing is needed later: normal and tangents are carried by a.
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

// Distance of two places [m]: the smaller of those in the frames of the two bodies.
static double way_between(const pp_contact_anchor *from, const pp_contact_anchor *to)
{
    return fmin(pp_length(pp_sub(to->on_a, from->on_a)), pp_length(pp_sub(to->on_b, from->on_b)));
}

// The point of a rim runs faster than the bodies move where they lie nearly flat on each other, so
// some distance is always allowed.
static const double JUMP = 0.1;  // of the thinner shape
static const double RUNS = 4.0;  // times the speed of the bodies

bool pp_place_reaches(const pp_machine *machine, const pp_contact_anchor *from,
                      const pp_frame *body, double t, const pp_contact *c)
{
    const perp_model *m = machine->model;
    const pp_shape *sa = &m->shape[c->a], *sb = &m->shape[c->b];
    const pp_frame *fa = &body[sa->body], *fb = &body[sb->body];
    if (!m->spatial || !from->known || c->listed >= 0) {
        return true;
    }
    // Speed of the contact point relative to both bodies, bounded by their relative
    // velocity there and their spins.
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
    // The point moves with b, normal and tangent turn with a, and the gap changes by the relative
    // motion along the normal.
    c.point = pp_point(fb, place->on_b);
    c.n = pp_mul(&fa->R, place->n_A);
    c.t = pp_mul(&fa->R, pp_mul_t(&place->R_WA, c.t));
    c.gap += pp_dot3(c.n, pp_sub(c.point, on_a));
    return c;
}

// Rim points that manifolds have to contain, and the last normals of closed contacts in space, by
// pairs. An iterative search for the normal then starts near the solution and finds the same one.
perp_status pp_holds_hint(const pp_machine *machine, const pp_holds *holds, const pp_poses *kin,
                          pp_gap_search *search, pp_arena *arena)
{
    const perp_model *m = machine->model;
    int rims = machine->rims ? machine->rims->count : 0;
    pp_pair_hint *hint = PP_ARRAY(arena, pp_pair_hint, (size_t)holds->count + (size_t)rims);
    search->hints = 0;
    search->hint = hint;
    if (!hint) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rims; i++) {
        const pp_rim *rim = &machine->rims->rim[i];
        const pp_frame *of = &kin->body[m->shape[rim->of_b ? rim->b : rim->a].body];
        hint[search->hints++] = (pp_pair_hint){
            .a = rim->a, .b = rim->b, .has_rim = true, .rim = pp_point(of, rim->on[rim->of_b])};
    }
    if (!m->spatial) {
        return PERP_OK;
    }
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        int at = 0;
        if (h->kind != PP_HOLD_CONTACT || !h->place.known || h->a > h->b) {
            continue;
        }
        // One hint per pair, which may have a rim point already.
        while (at < search->hints && (hint[at].a != h->a || hint[at].b != h->b)) {
            at++;
        }
        if (at == search->hints) {
            hint[search->hints++] = (pp_pair_hint){.a = h->a, .b = h->b};
        }
        // The first contact of a pair gives the normal: points of one manifold share it.
        if (!hint[at].has_normal) {
            hint[at].n = pp_mul(&kin->body[m->shape[h->a].body].R, h->place.n_A);
            hint[at].has_normal = true;
        }
    }
    return PERP_OK;
}

// Cost of matching a closed contact with a point [m]: their distance, plus FAR for every CLOSED of
// its gap. A point of the same feature is preferred by a thousandth, and remains as a last resort
// where it would be another one. Infinite: it is certainly another one.
static double way_to(const pp_machine *machine, const pp_hold *hold, const pp_contact_anchor *place,
                     const pp_contact *c, const pp_contact_anchor *to)
{
    bool named = c->feature == hold->feature;
    if (c->listed != hold->listed || c->a != hold->a || c->b != hold->b) {
        return PP_INF;
    }
    if (!machine->model->spatial || !place->known || hold->listed >= 0) {
        return named ? 0.0 : PP_INF;
    }
    // In the plane features are stable and identify a point. In space distance and gap decide.
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

// Costs of matching the closed contacts with the points of an instant.
typedef struct table {
    int contacts, points;
    int *hold;    // contacts
    int *best;    // contacts: the nearest point that is not taken, -1: none
    double *way;  // contacts x points
} table;

// The cheapest point of contact i that is not taken.
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

// The contact with the cheapest match of all, -1: none is left.
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

// Matches a contact with its best point; both are then taken.
static void take_point(table *t, int at, int *which)
{
    int point = t->best[at];
    which[t->hold[at]] = point;
    t->best[at] = -1;
    // Infinite costs take the contact and the point out. Contacts that wanted the same point
    // look for their next best.
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
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    t.best = t.hold + count;
    // Points in the frames of both bodies; their time is not needed for distances.
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
    // Greedy, the cheapest match of all first: closed contacts are at their points up
    // to the motion of a step.
    for (int at = nearest_contact(&t); at >= 0; at = nearest_contact(&t)) {
        take_point(&t, at, which);
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

pp_contact_anchor *pp_holds_places(const pp_holds *holds, pp_arena *arena)
{
    pp_contact_anchor *place = PP_ARRAY(arena, pp_contact_anchor, holds->count);
    if (!place) {
        return NULL;
    }
    for (int i = 0; i < holds->count; i++) {
        place[i] = holds->hold[i].place;
    }
    return place;
}

// Whether the pair is in the list.
static bool has_pair(const pp_shape_pair *pair, int pairs, int a, int b)
{
    for (int k = 0; k < pairs; k++) {
        if (pair[k].a == a && pair[k].b == b) {
            return true;
        }
    }
    return false;
}

// Contact points of the closed pairs only, and of listed contacts where one of them is closed.
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
        if (hold->kind != PP_HOLD_CONTACT) {
            continue;
        }
        // Listed contacts are detected together, and other pairs one by one, each once.
        if (hold->listed >= 0) {
            listed = true;
        } else if (!has_pair(pair, pairs, hold->a, hold->b)) {
            pair[pairs++] = (pp_shape_pair){hold->a, hold->b};
        }
    }
    perp_status status = pp_gaps_some(out, machine->model, kin, search, pair, pairs, listed, arena);
    if (status < 0 || machine->model->spatial) {
        return status;
    }
    for (int i = 0; i < out->count; i++) {
        out->contact[i].mu_2 = -1.0;  // there is no second tangent in the plane
    }
    return status;
}
