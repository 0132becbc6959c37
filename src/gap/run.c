// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The gap stage: listed contacts, then detected ones, with their coefficients and moving surfaces.
//
// Detection is the broad phase (broad.c), then the narrow phase (pair.c) for each pair it finds. Pairs are sorted, and
// each writes to a place of its own where several threads share the work: the result does not depend on their number.
#include "gap/aim.h"
#include "gap/apart.h"
#include "gap/broad.h"

#include <math.h>
#include <string.h>

// In the plane, b's surface minus a's along t = (n_y, -n_x). A surface moves along its outward normal
// turned by -90 degrees: along t for a, whose outward normal is n, and along -t for b.
static perp_vec3 planar_surface(const perp_model *model, const pp_contact *c, double t)
{
    const pp_expr *of_a = model->shape[c->a].surface_speed,
                  *of_b = model->shape[c->b].surface_speed;
    double speed_a = of_a ? pp_expr_value(of_a, &t) : 0.0;
    double speed_b = of_b ? pp_expr_value(of_b, &t) : 0.0;
    return pp_scale(-speed_b - speed_a, c->t);
}

// Velocity of the surface of a shape at a point: as given in the shape's axes, and around its z axis.
static perp_vec3 surface_of(const pp_shape *s, const pp_frame *f, perp_vec3 point, double t)
{
    double value[4] = {0.0};
    bool any = false;
    for (int k = 0; k < 4; k++) {
        if (s->surface[k]) {
            value[k] = pp_expr_value(s->surface[k], &t);
            any = true;
        }
    }
    if (!any) {
        return pp_vec(0.0, 0.0, 0.0);
    }
    // value: linear speed in the axes of the shape [m/s], and turning speed about its z axis [rad/s]
    perp_vec3 along = pp_mul(&s->X_BS.R, pp_vec(value[0], value[1], value[2]));
    perp_vec3 axis = pp_rotate(f, pp_mat3_column(&s->X_BS.R, 2));
    perp_vec3 arm = pp_sub(point, pp_point(f, s->X_BS.p));
    return pp_along(pp_rotate(f, along), value[3], pp_cross(axis, arm));
}

// Velocity of b's surface minus that of a's at time t, beyond the motion of the bodies [m/s], world axes.
static perp_vec3 surface_rate(const perp_model *model, const pp_poses *at, double t,
                              const pp_contact *c)
{
    if (!model->spatial) {
        return planar_surface(model, c, t);
    }
    const pp_shape *a = &model->shape[c->a], *b = &model->shape[c->b];
    if (!pp_surface_moves(a) && !pp_surface_moves(b)) {
        return pp_vec(0.0, 0.0, 0.0);
    }
    return pp_sub(surface_of(b, &at->body[b->body], c->point, t),
                  surface_of(a, &at->body[a->body], c->point, t));
}

void pp_gaps_move_surfaces(pp_gaps *gaps, const perp_model *model, const pp_poses *at,
                           const double t[2])
{
    for (int i = 0; i < gaps->count; i++) {
        pp_contact *c = &gaps->contact[i];
        if (pp_surface_moves(&model->shape[c->a]) || pp_surface_moves(&model->shape[c->b])) {
            perp_vec3 from = surface_rate(model, at, t[0], c),
                      to = surface_rate(model, at, t[1], c);
            c->surface = pp_scale(0.5, pp_add(from, to));
        }
    }
}

// The first tangent where a rule gives it: the direction, fixed to a body, projected to the tangent plane. Where it is
// along the normal it has no projection, and the default tangent stays.
static void set_tangent(const pp_frame *frame, perp_vec3 tangent, pp_contact *c)
{
    perp_vec3 d = pp_rotate(frame, tangent);
    d = pp_along(d, -pp_dot3(d, c->n), c->n);
    if (pp_dot3(d, d) > 1e-12 * pp_dot3(tangent, tangent)) {
        c->t = pp_unit(d, c->t);
    }
}

// Coefficients of the pair's contact law, tangent, moving surfaces.
static void set_laws(const perp_model *model, const pp_poses *at, const pp_pair_rule *pair,
                     pp_contact *c)
{
    c->mu = pair->mu;
    c->restitution = pair->restitution;
    c->mu_2 = pair->mu_2;
    c->mu_spin = pair->mu_spin;
    c->mu_roll = pair->mu_roll;
    c->facets = pair->facets;
    if (model->spatial && pp_dot3(pair->tangent_A, pair->tangent_A) > 0.0) {
        int shape = pair->turned ? pair->b : pair->a;
        set_tangent(&at->body[model->shape[shape].body], pair->tangent_A, c);
    }
    c->surface = surface_rate(model, at, at->t, c);
}

void pp_contact_laws(const perp_model *model, const pp_poses *at, pp_contact *c)
{
    pp_pair_rule pair;
    pp_model_pair(model, c->a, c->b, &pair);
    set_laws(model, at, &pair, c);
}

// The closest point of a listed pair, at any distance. Values of the listing override those of the pair; negative ones
// are not given.
static void add_listed(pp_gaps *out, const perp_model *model, const pp_poses *at, int index)
{
    const pp_listed *listed = &model->contact[index];
    pp_contact point[PP_POINTS_MAX];
    pp_pair_rule pair;
    int count = pp_gap_pair(model, at->body, listed->a, listed->b, HUGE_VAL, point);
    if (count == 0) {
        return;  // the builder lets no such contact through
    }
    // The first point unless another is closer by more than rounding.
    double sure = 1e-12 * model->length_scale;
    pp_contact *c = &out->contact[out->count++];
    *c = point[0];
    for (int k = 1; k < count; k++) {
        if (point[k].gap < c->gap - sure) {
            *c = point[k];
        }
    }
    pp_model_pair(model, c->a, c->b, &pair);
    c->feature = 0;
    c->listed = index;
    pair.mu = listed->mu >= 0.0 ? listed->mu : pair.mu;
    pair.restitution = listed->restitution >= 0.0 ? listed->restitution : pair.restitution;
    pair.mu_2 = listed->mu_2 >= 0.0 ? listed->mu_2 : pair.mu_2;
    pair.mu_spin = listed->mu_spin >= 0.0 ? listed->mu_spin : pair.mu_spin;
    pair.mu_roll = listed->mu_roll >= 0.0 ? listed->mu_roll : pair.mu_roll;
    pair.facets = listed->facets >= 0 ? listed->facets : pair.facets;
    if (pp_dot3(listed->tangent_A, listed->tangent_A) > 0.0) {
        pair.tangent_A = listed->tangent_A;
        pair.turned = listed->a != pair.a;
    }
    set_laws(model, at, &pair, c);
}

// How near the shapes of a pair have to be, of which `reach` is enough for their group: what is beyond the margin of the
// pair and beyond what the step can close would be culled after an exact search for its points.
static double margin_of_pair(const perp_model *model, const pp_gap_search *search, double reach,
                             int a, int b)
{
    if (!search->by_pair) {
        return reach;
    }
    return fmin(reach, fmax(pp_gap_pair_margin(model, 0.0, a, b), search->closes));
}

// The points of one pair up to a margin, with their laws; returns how many.
static int find_contacts_of_pair(const perp_model *model, const pp_poses *at,
                                 const pp_gap_search *search, double margin, int a, int b,
                                 pp_contact *c)
{
    pp_pair_rule pair;
    const pp_pair_hint *hint = NULL;
    for (int i = 0; i < search->hints; i++) {  // the last that fits
        if (search->hint[i].a == a && search->hint[i].b == b) {
            hint = &search->hint[i];
        }
    }
    int count = pp_gap_pair_near(model, at->body, a, b, margin, hint, c);
    if (count > 0) {
        pp_model_pair(model, a, b, &pair);
    }
    for (int k = 0; k < count; k++) {
        set_laws(model, at, &pair, &c[k]);
    }
    return count;
}

// ── Pairs that are where they were ───────────────────────────────────────────────────────────────

// Of every pair its place among those of the last search, if both bodies are where they were then, else -1. Both lists are
// sorted. NULL: out of memory.
static int *find_known(const perp_model *model, const pp_frame *body, const pp_gaps_seen *last,
                       const pp_broad *broad, pp_arena *arena)
{
    bool *still = PP_ARRAY(arena, bool, model->bodies);
    int *known = PP_ARRAY(arena, int, broad->count), at = 0;
    if (!still || !known) {
        return NULL;
    }
    for (int i = 0; i < model->bodies; i++) {
        still[i] = pp_same_bits(&body[i], &last->body[i], sizeof body[i]);
    }
    for (int i = 0; i < broad->count; i++) {
        const pp_shape *a = &model->shape[pp_broad_a(broad->pair[i])],
                       *b = &model->shape[pp_broad_b(broad->pair[i])];
        while (at < last->pairs && last->pair[at] < broad->pair[i]) {
            at++;
        }
        bool same = at < last->pairs && last->pair[at] == broad->pair[i] && still[a->body] &&
                    still[b->body] && !pp_surface_moves(a) && !pp_surface_moves(b);
        known[i] = same ? at : -1;
    }
    return known;
}

// Pairs looked at, by several threads where there are: then each has room for its points, which are moved together in the
// end.
typedef struct pair_job {
    const perp_model *model;
    const pp_poses *at;
    const pp_gap_search *search;
    const pp_gaps *out;
    const uint64_t *pair;
    const int *known;     // of each pair: its place in search->last, or -1
    const int *apart;     // of each pair: its number in search->memory; NULL: there is none
    double *margin;       // of each pair
    int points;           // most of a pair
    pp_contact *contact;  // points of every pair
    int *count;           // of each pair
} pair_job;

// The points of a pair, unless it is known to be farther apart. One without points is asked how far apart it is.
static int look_unless_apart(const pair_job *s, int i, double margin, pp_contact *out)
{
    int a = pp_broad_a(s->pair[i]), b = pp_broad_b(s->pair[i]);
    if (!s->apart) {
        return find_contacts_of_pair(s->model, s->at, s->search, margin, a, b, out);
    }
    pp_gap_memory *memory = s->search->memory;
    int k = s->apart[i];
    if (pp_apart_shapes(memory, k, margin) ||
        pp_apart_again(memory, s->model, s->at->body, k, margin)) {
        return 0;
    }
    int count = find_contacts_of_pair(s->model, s->at, s->search, margin, a, b, out);
    if (count == 0) {
        pp_apart_find(memory, s->model, s->at->body, k, margin);
    }
    return count;
}

// The points of a pair, copied where they were found in the last search as well. Returns how many.
static int look_at_pair(const pair_job *s, int i, pp_contact *out)
{
    const pp_gaps_seen *last = s->search->last;
    int a = pp_broad_a(s->pair[i]), b = pp_broad_b(s->pair[i]), k = s->known ? s->known[i] : -1;
    double reach = s->out->reach ? s->out->reach[i] : s->search->margin;
    double margin = margin_of_pair(s->model, s->search, reach, a, b);
    if (s->margin) {
        s->margin[i] = margin;
    }
    if (k < 0 || last->margin[k] != margin) {
        return look_unless_apart(s, i, margin, out);
    }
    int count = last->first[k + 1] - last->first[k];
    if (count > 0) {
        memcpy(out, &last->contact[last->first[k]], (size_t)count * sizeof *out);
    }
    return count;
}

// A team that is stopped finds nothing more; look_at_all then reports it.
static void look_at_some(void *arg, int from, int to)
{
    const pair_job *s = arg;
    pp_contact found[PP_POINTS_MAX];
    bool stopped = pp_stopped(&s->search->team->env);
    for (int i = from; i < to; i++) {
        if (stopped) {
            s->count[i] = 0;
            continue;
        }
        s->count[i] = look_at_pair(s, i, found);
        memcpy(s->contact + (size_t)i * (size_t)s->points, found,
               (size_t)s->count[i] * sizeof *found);
    }
}

// Pairs that a thread takes at a time, and from how many on threads are worth waking.
enum { GRAIN = 32, SHARED_FROM = 4 * GRAIN };

// The narrow phase of all pairs, in their order, on one thread or on the team's. first: of each pair and one more, where
// its points begin; NULL: not wanted.
static perp_status look_at_all(pp_gaps *out, pair_job *s, int pairs, int *first, pp_arena *arena)
{
    const pp_gap_search *search = s->search;
    if (!search->team || search->team->lanes <= 1 || pairs < SHARED_FROM) {
        for (int i = 0; i < pairs; i++) {
            if (i % GRAIN == 0 && pp_arena_stopped(arena)) {
                return PERP_ERR_STOPPED;
            }
            if (first) {
                first[i] = out->count;
            }
            out->count += look_at_pair(s, i, &out->contact[out->count]);
        }
    } else {
        s->contact = out->contact + out->count;
        s->count = PP_ARRAY(arena, int, pairs);
        if (!s->count) {
            return PERP_ERR_MEMORY;
        }
        // each pair fills its own slots; then the gaps between them are closed, in order and in place
        pp_team_share(search->team, pairs, GRAIN, look_at_some, s);
        for (int i = 0; i < pairs; i++) {
            if (first) {
                first[i] = out->count;
            }
            memmove(&out->contact[out->count], s->contact + (size_t)i * (size_t)s->points,
                    (size_t)s->count[i] * sizeof *s->contact);
            out->count += s->count[i];
        }
    }
    if (first) {
        first[pairs] = out->count;
    }
    return pp_arena_stopped(arena) ? PERP_ERR_STOPPED : PERP_OK;
}

// A NaN fails every comparison, so that a body without a place would meet nothing, unseen.
static bool frames_finite(const perp_model *model, const pp_frame *body)
{
    for (int i = 0; i < model->bodies; i++) {
        if (!pp_finite3(body[i].p) || !isfinite(body[i].R.m[0]) || !isfinite(body[i].R.m[3]) ||
            !isfinite(body[i].R.m[6]) || !isfinite(body[i].R.m[8])) {
            return false;
        }
    }
    return true;
}

// Finite poses can still overflow: shapes at 1e200 m.
static bool contacts_finite(const pp_gaps *gaps)
{
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        if (!isfinite(c->gap) || !pp_finite3(c->point) || !pp_finite3(c->surface)) {
            return false;
        }
    }
    return true;
}

double pp_gap_looked(const pp_gaps *gaps, double margin, int a, int b)
{
    uint64_t key = ((uint64_t)(a < b ? a : b) << 32) | (uint64_t)(a < b ? b : a);
    int low = 0, high = gaps->reach ? gaps->pairs : 0;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (gaps->pair[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = gaps->reach && low < gaps->pairs && gaps->pair[low] == key;
    return found ? gaps->reach[low] : margin;
}

perp_status pp_gaps_run(pp_gaps *out, const perp_model *model, const pp_poses *at,
                        pp_gap_search search, pp_arena *arena)
{
    pp_broad broad = {0};
    *out = (pp_gaps){0};
    if (!frames_finite(model, at->body)) {
        return PERP_ERR_NUMERIC;
    }
    if (!model->listed_only) {
        perp_status status =
            pp_broad_run(&broad, model, at->body, search.margin, search.memory, arena);
        if (status >= 0 && search.travel) {
            status = pp_broad_group(&broad, model, at->body, &search, arena, &out->reach);
            out->pairs = broad.count;
            out->pair = broad.pair;
        }
        if (status < 0) {
            return status;
        }
    }
    // room for the most that can be found: one point a listed contact, `points` a pair, and a pair's full output
    size_t points = model->spatial ? PP_POINTS_MAX : 2;
    size_t most = (size_t)model->listed + points * (size_t)broad.count + PP_POINTS_MAX;
    out->contact = PP_ARRAY(arena, pp_contact, most);
    if (!out->contact) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->listed; i++) {
        add_listed(out, model, at, i);
    }
    pair_job s = {.model = model,
                  .at = at,
                  .search = &search,
                  .out = out,
                  .pair = broad.pair,
                  .apart = broad.known,
                  .points = (int)points};
    int *first = NULL;
    pp_frame *body = NULL;
    if (search.last && search.last->body) {
        s.known = find_known(model, at->body, search.last, &broad, arena);
        if (!s.known) {
            return PERP_ERR_MEMORY;
        }
    }
    if (search.remember) {
        s.margin = PP_ARRAY(arena, double, broad.count);
        first = PP_ARRAY(arena, int, (size_t)broad.count + 1);
        body = PP_ARRAY(arena, pp_frame, model->bodies);
        if (!s.margin || !first || !body) {
            return PERP_ERR_MEMORY;
        }
        memcpy(body, at->body, (size_t)model->bodies * sizeof *body);
    }
    perp_status status = look_at_all(out, &s, broad.count, first, arena);
    if (status < 0) {
        return status;
    }
    out->seen = (pp_gaps_seen){.body = body,
                               .pairs = broad.count,
                               .pair = broad.pair,
                               .margin = s.margin,
                               .first = first,
                               .contact = out->contact};
    return contacts_finite(out) ? PERP_OK : PERP_ERR_NUMERIC;
}

perp_status pp_gaps_some(pp_gaps *out, const perp_model *model, const pp_poses *at,
                         pp_gap_search search, const pp_shape_pair *pair, int pairs, bool listed,
                         pp_arena *arena)
{
    size_t most = (size_t)(listed ? model->listed : 0) + PP_POINTS_MAX * ((size_t)pairs + 1);
    *out = (pp_gaps){.contact = PP_ARRAY(arena, pp_contact, most)};
    if (!out->contact) {
        return PERP_ERR_MEMORY;
    }
    if (!frames_finite(model, at->body)) {
        return PERP_ERR_NUMERIC;
    }
    if (listed) {
        for (int i = 0; i < model->listed; i++) {
            add_listed(out, model, at, i);
        }
    }
    // in the given order: the caller knows which contact belongs to which pair
    for (int i = 0; i < pairs; i++) {
        if (i % GRAIN == GRAIN - 1 && pp_arena_stopped(arena)) {
            return PERP_ERR_STOPPED;
        }
        double margin = margin_of_pair(model, &search, search.margin, pair[i].a, pair[i].b);
        out->count += find_contacts_of_pair(model, at, &search, margin, pair[i].a, pair[i].b,
                                            &out->contact[out->count]);
    }
    return contacts_finite(out) ? PERP_OK : PERP_ERR_NUMERIC;
}
