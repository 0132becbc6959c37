// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts of a step along the axes that its motion allows.
#include "gap/aim.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-12, TOUCHING = 1e-6;  // in sizes of the smaller shape
// What the solver's tolerance moves bodies at rest by, likewise: of axes that differ by less at the end of the step, the one
// that was offered first is kept, so that it stays the same from step to step.
static const double NOISE = 1e-8;
static const double LEVEL = 5e-9;  // likewise, of at most 1 m, as perp check has it
// Cosine of the angle to the axis that was found: what has no thickness is not to be passed by turning the axis around.
static const double TURN_LEAST = -0.5;
// Part of the overlap that the axis which was found would have at the end of the step, by which another axis may fail
// and still hold.
static const double SINKS = 0.05;

// Velocity of b relative to a at a point that is given relative to a's body (world axes), with what forces add in the
// step [m/s].
static perp_vec3 relative_velocity(const pp_aim_task *t, perp_vec3 x)
{
    int a = t->model->shape[t->a].body, b = t->model->shape[t->b].body;
    const pp_frame *fa = &t->kin->poses.body[a], *fb = &t->kin->poses.body[b];
    perp_vec3 at = pp_add(fa->p, x);
    perp_vec3 v = pp_sub(pp_point_velocity(fb, at), pp_point_velocity(fa, at));
    return pp_add(v, pp_sub(t->push[b], t->push[a]));
}

double pp_aim_end(const pp_aim_task *t, perp_vec3 x, perp_vec3 n, double gap)
{
    return gap + t->kin->h * pp_dot3(n, relative_velocity(t, x));
}

double pp_aim_travel(const pp_aim_task *t, perp_vec3 x)
{
    return t->kin->h * pp_length(relative_velocity(t, x));
}

// Part of the step for which the axis separates; more than 1: all of it. What touches and sinks a little, as it rocks or
// is held by other contacts, still slides past: a small part of what the axis that was found would have to stop.
static double separated_fraction(const pp_aim_task *t, const pp_aim *aim)
{
    double s = fmax(aim->s, 0.0) + t->slack;
    return aim->end + t->slack >= 0.0 ? 2.0 : s / (s - t->slack - aim->end);
}

bool pp_aim_is_found(const pp_aim_task *t, perp_vec3 n)
{
    return !t->vague && !t->arbitrary && pp_length(pp_sub(n, t->found)) <= 1e-9;
}

// A candidate has to separate now, up to touching (or as well as the axis that was found, where that overlaps), and to
// be within 120 degrees of it.
void pp_aim_offer(pp_aim_task *t, const pp_aim *candidate)
{
    if (candidate->count == 0 || !(candidate->s >= fmin(t->best.s, 0.0) - t->touching) ||
        pp_dot3(candidate->point[0].n, t->found) < TURN_LEAST) {
        return;
    }
    if (pp_aim_is_found(t, candidate->point[0].n)) {
        return;
    }
    if (t->ask) {
        t->others++;
        return;
    }
    double now = separated_fraction(t, &t->best), then = separated_fraction(t, candidate);
    bool longer = then > now + 1e-9;
    bool better = longer || (then >= now && candidate->end > t->best.end + t->rounding);
    if (t->vague || better) {
        t->best = *candidate;
        t->changed = true;
        t->vague = false;
    }
}

// The contacts of one pair as they were found, relative to a's body.
static void set_found(pp_aim_task *t, const pp_contact *found, int count)
{
    perp_vec3 origin = t->kin->poses.body[t->model->shape[t->a].body].p;
    t->best = (pp_aim){.count = count, .s = HUGE_VAL, .end = HUGE_VAL};
    for (int k = 0; k < count; k++) {
        pp_contact *c = &t->best.point[k];
        *c = found[k];
        c->point = pp_sub(c->point, origin);
        if (c->gap < t->best.s) {
            t->found = c->n;
        }
        t->best.s = fmin(t->best.s, c->gap);
        t->best.end = fmin(t->best.end, pp_aim_end(t, c->point, c->n, c->gap));
    }
}

static bool
is_wall(const pp_shape *shape)  // of which there is one axis only, or which knows its own
{
    return shape->kind == PERP_SHAPE_HALFPLANE || shape->kind == PERP_SHAPE_HALFSPACE ||
           shape->mesh != NULL;
}

// About half the diameter of a shape [m]; 0 for a point.
static double shape_size(const perp_model *m, const pp_shape *shape)
{
    double size = shape->radius + shape->half;
    if (m->spatial) {
        perp_vec3 low, high;
        pp_solid_bounds(&shape->solid, &low, &high);
        return 0.5 * pp_length(pp_sub(high, low));
    }
    for (int k = 1; k < shape->count; k++) {
        pp_vec2 x = shape->vertex_B[0], y = shape->vertex_B[k];
        size = fmax(size, 0.5 * pp_length2(y.x - x.x, y.y - x.y));
    }
    return size;
}

// Tolerances follow the smaller of the two, unless that is a point.
static void set_sizes(pp_aim_task *t)
{
    const perp_model *m = t->model;
    double size_a = shape_size(m, &m->shape[t->a]), size = shape_size(m, &m->shape[t->b]);
    if (size_a > 0.0 && (size_a < size || size == 0.0)) {
        size = size_a;
    }
    t->rounding = ROUNDING * size;
    t->touching = TOUCHING * size;
    t->level = LEVEL * fmin(size, 1.0);
}

// Shapes that face each other along a width w with the gap g have no axis at an angle of more than (g + touching)/w to
// the normal: whether there may be others.
static bool is_narrow(const pp_aim_task *t, const pp_contact *c, int count)
{
    // far: the length of the manifold, from its first point; wide: its width across that, of points in space
    perp_vec3 along = {0.0, 0.0, 0.0};
    double far = 0.0, wide = 0.0;
    for (int k = 1; k < count; k++) {
        perp_vec3 d = pp_sub(c[k].point, c[0].point);
        if (pp_length(d) > far) {
            along = d;
        }
        far = fmax(far, pp_length(d));
    }
    if (far > 0.0) {
        for (int k = 1; k < count; k++) {
            perp_vec3 d = pp_sub(c[k].point, c[0].point);
            wide = fmax(wide, pp_length(pp_cross(d, along)) / far);
        }
    }
    double gap = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        gap = fmin(gap, c[k].gap);
    }
    return (t->model->spatial ? wide : far) <= 10.0 * (fmax(gap, 0.0) + t->touching);
}

// A corner that touches a corner or an edge: the way from one closest point to the other is rounding, and its direction is
// another one in every step.
static bool is_vague(const pp_aim_task *t)
{
    return fabs(t->best.s) <= t->touching;
}

static void offer_all(pp_aim_task *t)
{
    if (t->model->spatial) {
        pp_aim_spatial(t);
    } else {
        pp_aim_planar(t);
    }
}

// Whether the contacts of a pair can close in the step and there is another axis for them.
static bool has_choice(pp_aim_task *t, const pp_contact *found, int count)
{
    const perp_model *m = t->model;
    t->a = found->a;
    t->b = found->b;
    if (found->listed >= 0 || is_wall(&m->shape[t->a]) || is_wall(&m->shape[t->b])) {
        return false;
    }
    set_sizes(t);
    if (!is_narrow(t, found, count)) {
        return false;
    }
    set_found(t, found, count);
    if (t->best.end >= -t->rounding && !is_vague(t)) {
        return false;  // stays open by itself: the axis of the distance will do
    }
    // count the candidates without taking one: the pushes are not final before this is known of all pairs
    t->ask = true;
    t->arbitrary = false;
    t->others = 0;
    offer_all(t);
    t->ask = false;
    return t->others > 0;
}

// Whether the pair gets other contacts than those found; they are in t->best then.
static bool aim_pair(pp_aim_task *t, const pp_contact *found, int count)
{
    t->a = found->a;
    t->b = found->b;
    set_sizes(t);
    set_found(t, found, count);
    t->changed = false;
    t->vague = t->arbitrary = is_vague(t);
    if (t->vague) {
        t->rounding = NOISE / ROUNDING * t->rounding;
    }
    t->slack =
        t->rounding - SINKS * fmin(t->best.end, 0.0);  // end < 0: by how far it would sink in
    if (t->vague || t->best.end < -t->rounding) {
        offer_all(t);
    }
    return t->changed;
}

// One past the last contact of the pair at `from`: detected ones are sorted by pair, listed ones stand alone.
static int pair_end(const pp_gaps *gaps, int from)
{
    int to = from + 1;
    const pp_contact *c = &gaps->contact[from];
    while (to < gaps->count && c->listed < 0 && gaps->contact[to].a == c->a &&
           gaps->contact[to].b == c->b) {
        to++;
    }
    return to;
}

// The aimed points of a pair, with all that a contact has. Returns how many.
static int write_pair(const pp_aim_task *t, pp_contact *out)
{
    perp_vec3 origin = t->kin->poses.body[t->model->shape[t->a].body].p;
    int count = 0;
    for (int k = 0; k < t->best.count; k++) {
        pp_contact *c = &out[count];
        const pp_contact *p = &t->best.point[k];
        if (p->gap > t->margin) {
            continue;
        }
        // as pp_gap_pair and pp_gaps_run would fill it
        *c = (pp_contact){.a = t->a,
                          .b = t->b,
                          .feature = p->feature,
                          .listed = -1,
                          .mu_2 = -1.0,
                          .aimed = true,
                          .point = pp_add(origin, p->point),
                          .n = p->n,
                          .gap = p->gap};
        c->t = t->model->spatial ? pp_across(c->n) : pp_vec(c->n.y, -c->n.x, 0.0);
        pp_contact_laws(t->model, &t->kin->poses, c);
        count++;
    }
    return count;
}

// ── What forces add ──────────────────────────────────────────────────────────────────────────────

// Velocity that forces add to a body in the step, M^-1 p_ext [m/s]; its centre only, spin is left out.
static perp_vec3 forced_velocity(const perp_model *m, const pp_kinematics *kin, int i)
{
    const pp_body *body = &m->body[i];
    double dv[PP_BODY_NV], all[PP_BODY_NV] = {0.0};
    if (body->nv == 0) {
        return pp_vec(0.0, 0.0, 0.0);
    }
    pp_body_solve(body, &kin->mass[i], kin->loads.p_ext + body->at, dv);
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = dv[k];
    }
    return pp_vec(all[0], all[1], all[2]);
}

// Takes away the part of a push that goes against n.
static void hold_back(perp_vec3 *push, perp_vec3 n)
{
    *push = pp_along(*push, -fmin(pp_dot3(n, *push), 0.0), n);
}

// Contacts that have no choice hold back what is pushed against them: two Gauss-Seidel sweeps of projections, without
// masses. n points to b: b must not be pushed along -n, nor a along n.
static void apply_holding_contacts(const perp_model *m, const pp_gaps *gaps, const bool *choice,
                                   double touching, perp_vec3 *push)
{
    enum { SWEEPS = 2 };
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < gaps->count; i++) {
            const pp_contact *c = &gaps->contact[i];
            if (!choice[i] && c->gap <= touching) {
                hold_back(&push[m->shape[c->b].body], c->n);
                hold_back(&push[m->shape[c->a].body], pp_scale(-1.0, c->n));
            }
        }
    }
}

// ── Pairs with the contacts and the motion of the last time ──────────────────────────────────────

// What a call of pp_gaps_aim fills: by contacts as they are found, where a pair is that of its first contact.
typedef struct aim_lists {
    bool *choice;
    int *
        known;  // first contact of the same pair in the memory, if its contacts and motion are the same; else -1
    double *margin;
    int *first, *points;
    pp_contact *aimed;
    int count;  // of aimed
} aim_lists;

static bool comes_before(const pp_contact *x, const pp_contact *y)
{
    return x->a < y->a || (x->a == y->a && x->b < y->b);
}

// Finds every pair in the memory. moved: bodies that were elsewhere, or pushed in another way, then.
static void find_known(const pp_gaps *gaps, const perp_model *m, const pp_aims_seen *last,
                       const bool *moved, int *known)
{
    int at = 0;
    for (int i = 0, to; i < gaps->count; i = to) {
        const pp_contact *c = &gaps->contact[i];
        to = pair_end(gaps, i);
        const pp_shape *a = &m->shape[c->a], *b = &m->shape[c->b];
        if (c->listed >= 0 || pp_surface_moves(a) || pp_surface_moves(b)) {
            continue;
        }
        while (at < last->count &&
               (last->found[at].listed >= 0 || comes_before(&last->found[at], c))) {
            at++;
        }
        bool there = last->count - at >= to - i && !moved[a->body] && !moved[b->body];
        int after = at + to - i;  // a pair that had more points then has one there
        bool longer =
            after < last->count && last->found[after].a == c->a && last->found[after].b == c->b;
        if (there && !longer && pp_same_bits(&last->found[at], c, (size_t)(to - i) * sizeof *c)) {
            known[i] = at;
        }
    }
}

static void mark_moved(const perp_model *m, const pp_kinematics *kin, const pp_aims_seen *last,
                       const perp_vec3 *forced, bool *moved)
{
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &kin->poses.body[i];
        moved[i] = !pp_same_bits(f, &last->body[i], sizeof *f) ||
                   !pp_same_bits(&forced[i], &last->forced[i], sizeof *forced);
    }
}

// Whether both bodies of a known pair are pushed as they were then, also after contacts have held back.
static bool is_pushed_as_then(const perp_model *m, const pp_aims_seen *last, const perp_vec3 *push,
                              const pp_contact *c)
{
    int a = m->shape[c->a].body, b = m->shape[c->b].body;
    return pp_same_bits(&push[a], &last->push[a], sizeof *push) &&
           pp_same_bits(&push[b], &last->push[b], sizeof *push);
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// Marks the contacts of pairs with a choice. How many pairs there are.
static int mark_choices(pp_aim_task *t, const pp_gaps *gaps, const pp_aims_seen *last,
                        aim_lists *of)
{
    int count = 0;
    for (int i = 0, to; i < gaps->count; i = to) {
        to = pair_end(gaps, i);
        bool open = of->known[i] >= 0 && last->choice ? last->choice[of->known[i]]
                                                      : has_choice(t, &gaps->contact[i], to - i);
        count += open;
        for (int k = i; k < to; k++) {
            of->choice[k] = open;
        }
    }
    return count;
}

// The points of a pair with a choice, written to `out`: those of the last time where all is as it was. Returns how many, or
// -1 where they stay as they were found.
static int choose_axis(pp_aim_task *t, const pp_contact *found, int count, const pp_aims_seen *last,
                       int known, pp_contact *out)
{
    if (known < 0 || !last->margin || last->margin[known] != t->margin ||
        !is_pushed_as_then(t->model, last, t->push, found)) {
        return aim_pair(t, found, count) ? write_pair(t, out) : -1;
    }
    int points = last->points[known];
    if (points > 0) {
        memcpy(out, &last->aimed[last->first[known]], (size_t)points * sizeof *out);
    }
    return points;
}

// Room for all of it; what the next step is to know is in the memory's arena.
static bool allocate_lists(aim_lists *of, int contacts, pp_arena *kept, pp_arena *arena)
{
    *of = (aim_lists){.choice = PP_ARRAY(kept, bool, contacts),
                      .known = PP_ARRAY(arena, int, contacts),
                      .margin = PP_ARRAY(kept, double, contacts),
                      .first = PP_ARRAY(kept, int, contacts),
                      .points = PP_ARRAY(kept, int, contacts)};
    if (!of->choice || !of->known || !of->margin || !of->first || !of->points) {
        return false;
    }
    for (int i = 0; i < contacts; i++) {
        of->known[i] = -1;
    }
    return true;
}

// Aims the pairs in their order. Those that turned are kept for the next step as well.
static perp_status aim_all(pp_aim_task *t, pp_gaps *out, const pp_gaps *gaps, double margin,
                           const pp_aims_seen *last, aim_lists *of, pp_arena *arena)
{
    for (int i = 0, to; i < gaps->count; i = to) {
        const pp_contact *c = &gaps->contact[i];
        pp_contact *at = &out->contact[out->count];
        int count = -1;
        to = pair_end(gaps, i);
        t->margin = of->margin[i] = pp_gap_looked(gaps, margin, c->a, c->b);
        if (of->choice[i] && pp_arena_stopped(arena)) {
            return PERP_ERR_STOPPED;
        }
        if (of->choice[i]) {
            count = choose_axis(t, c, to - i, last, of->known[i], at);
        }
        of->first[i] = of->count;
        of->points[i] = count;
        if (count < 0) {
            count = to - i;
            memcpy(at, c, (size_t)count * sizeof *c);
        } else if (of->aimed && count > 0) {
            memcpy(&of->aimed[of->count], at, (size_t)count * sizeof *at);
            of->count += count;
        }
        out->count += count;
    }
    return PERP_OK;
}

perp_status pp_gaps_aim(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                        double margin, pp_aim_memory *memory, pp_arena *arena)
{
    if (gaps->count == 0) {  // nothing to turn, and nothing to remember
        if (memory) {
            memory->next = (pp_aims_seen){0};
        }
        gaps->seen = (pp_gaps_seen){0};
        return PERP_OK;
    }
    pp_arena *kept = memory ? memory->arena : arena;
    perp_vec3 *forced = PP_ARRAY(kept, perp_vec3, model->bodies),
              *push = PP_ARRAY(kept, perp_vec3, model->bodies);
    bool *moved = PP_ARRAY(arena, bool, model->bodies);
    const pp_aims_seen nothing = {0}, *last = memory ? &memory->last : &nothing;
    pp_aim_task t = {.model = model, .kin = kin, .push = push, .margin = margin};
    aim_lists of;
    if (!forced || !push || !moved || !allocate_lists(&of, gaps->count, kept, arena)) {
        return PERP_ERR_MEMORY;
    }
    // In order: the motion by velocities and forces; which pairs have a choice of axis; what the pairs without one hold
    // back of the forces; then the choice.
    for (int i = 0; i < model->bodies; i++) {
        push[i] = forced[i] = forced_velocity(model, kin, i);
    }
    if (last->body && last->h == kin->h) {
        mark_moved(model, kin, last, forced, moved);
        find_known(gaps, model, last, moved, of.known);
    }
    int pairs = mark_choices(&t, gaps, last, &of);
    if (pairs > 0) {
        apply_holding_contacts(model, gaps, of.choice, TOUCHING * model->length_scale, push);
    }
    size_t turned = (size_t)PP_POINTS_MAX * (size_t)pairs;
    pp_gaps out = {.contact = PP_ARRAY(arena, pp_contact, (size_t)gaps->count + turned),
                   .pairs = gaps->pairs,
                   .pair = gaps->pair,
                   .reach = gaps->reach};
    pp_frame *body = memory ? PP_ARRAY(kept, pp_frame, model->bodies) : NULL;
    of.aimed = memory ? PP_ARRAY(kept, pp_contact, turned) : NULL;
    if (!out.contact || (memory && (!body || !of.aimed))) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = aim_all(&t, &out, gaps, margin, last, &of, arena);
    if (status < 0) {
        return status;
    }
    if (memory) {
        memcpy(body, kin->poses.body, (size_t)model->bodies * sizeof *body);
        memory->next = (pp_aims_seen){.body = body,
                                      .forced = forced,
                                      .push = push,
                                      .h = kin->h,
                                      .count = gaps->count,
                                      .found = gaps->contact,
                                      .choice = of.choice,
                                      .margin = of.margin,
                                      .first = of.first,
                                      .points = of.points,
                                      .aimed = of.aimed};
    }
    *gaps = out;
    return PERP_OK;
}
