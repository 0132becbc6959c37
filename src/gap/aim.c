// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts of a step along the axes that its motion allows.
#include "gap/aim.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-12, TOUCHING = 1e-6;  // in sizes of the smaller shape

double pp_aim_end(const pp_aim_task *t, perp_vec3 x, perp_vec3 n, double gap)
{
    const pp_shape *a = &t->model->shape[t->a], *b = &t->model->shape[t->b];
    const pp_frame *fa = &t->kin->body[a->body], *fb = &t->kin->body[b->body];
    perp_vec3 at = pp_add(fa->p, x);
    perp_vec3 v = pp_sub(pp_point_velocity(fb, at), pp_point_velocity(fa, at));
    return gap + t->kin->h * pp_dot3(n, v);
}

double pp_aim_travel(const pp_aim_task *t, perp_vec3 x)
{
    const pp_shape *a = &t->model->shape[t->a], *b = &t->model->shape[t->b];
    const pp_frame *fa = &t->kin->body[a->body], *fb = &t->kin->body[b->body];
    perp_vec3 at = pp_add(fa->p, x);
    return t->kin->h * pp_length(pp_sub(pp_point_velocity(fb, at), pp_point_velocity(fa, at)));
}

// Part of the step for which the axis separates; more than 1: all of it.
static double holds(const pp_aim_task *t, const pp_aim *aim)
{
    double s = fmax(aim->s, 0.0);
    return aim->end >= -t->rounding ? 2.0 : s / (s - aim->end);
}

void pp_aim_offer(pp_aim_task *t, const pp_aim *candidate)
{
    if (candidate->count == 0 || !(candidate->s >= fmin(t->best.s, 0.0) - t->touching)) {
        return;
    }
    double now = holds(t, &t->best), then = holds(t, candidate);
    bool longer = then > now + 1e-9;
    if (longer || (then >= now && candidate->end > t->best.end + t->rounding)) {
        t->best = *candidate;
        t->changed = true;
    }
}

// The contacts of one pair as they were found, relative to a's body.
static void set_found(pp_aim_task *t, const pp_contact *found, int count)
{
    perp_vec3 origin = t->kin->body[t->model->shape[t->a].body].p;
    t->best = (pp_aim){.count = count, .s = HUGE_VAL, .end = HUGE_VAL};
    for (int k = 0; k < count; k++) {
        pp_contact *c = &t->best.point[k];
        *c = found[k];
        c->point = pp_sub(c->point, origin);
        t->best.s = fmin(t->best.s, c->gap);
        t->best.end = fmin(t->best.end, pp_aim_end(t, c->point, c->n, c->gap));
    }
}

static bool
is_wall(const pp_shape *shape)  // of which there is one axis only, or which knows its own
{
    return shape->kind == PERP_HALFPLANE || shape->kind == PERP_HALFSPACE || shape->mesh != NULL;
}

static double size_of(const perp_model *m, const pp_shape *shape)
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

// Whether the pair gets other contacts than those found; they are in t->best then.
static bool aim_pair(pp_aim_task *t, const pp_contact *found, int count)
{
    const perp_model *m = t->model;
    t->a = found->a;
    t->b = found->b;
    const pp_shape *a = &m->shape[t->a], *b = &m->shape[t->b];
    if (is_wall(a) || is_wall(b)) {
        return false;
    }
    set_found(t, found, count);
    double size_a = size_of(m, a), size_b = size_of(m, b);
    double size = size_a > 0.0 && (size_a < size_b || size_b == 0.0) ? size_a : size_b;
    t->rounding = ROUNDING * size;
    t->touching = TOUCHING * size;
    t->changed = false;
    if (t->best.end >= -t->rounding) {
        return false;
    }
    if (m->spatial) {
        pp_aim_spatial(t);
    } else {
        pp_aim_planar(t);
    }
    return t->changed;
}

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
    perp_vec3 origin = t->kin->body[t->model->shape[t->a].body].p;
    int count = 0;
    for (int k = 0; k < t->best.count; k++) {
        pp_contact *c = &out[count];
        const pp_contact *p = &t->best.point[k];
        if (p->gap > t->margin) {
            continue;
        }
        *c = (pp_contact){.a = t->a,
                          .b = t->b,
                          .feature = p->feature,
                          .listed = -1,
                          .mu_2 = -1.0,
                          .point = pp_add(origin, p->point),
                          .n = p->n,
                          .gap = p->gap};
        c->t = t->model->spatial ? pp_across(c->n) : pp_vec(c->n.y, -c->n.x, 0.0);
        pp_contact_laws(t->model, t->kin, c);
        count++;
    }
    return count;
}

perp_status pp_gaps_aim(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                        double margin, pp_arena *arena)
{
    pp_aim_task t = {.model = model, .kin = kin, .margin = margin};
    pp_gaps out = {0, NULL};
    int room = 0;
    for (int i = 0, to; i < gaps->count; i = to) {
        to = pair_end(gaps, i);
        const pp_contact *c = &gaps->contact[i];
        bool aimed = c->listed < 0 && aim_pair(&t, c, to - i);
        if (aimed && !out.contact) {  // the first one: from now on into a list of its own
            room = gaps->count + PP_POINTS_MAX * 16;
            out.contact = PP_ARRAY(arena, pp_contact, room);
            if (!out.contact) {
                return PERP_ERR_MEMORY;
            }
            memcpy(out.contact, gaps->contact, (size_t)i * sizeof *c);
            out.count = i;
        }
        if (!out.contact) {
            continue;
        }
        if (out.count + (gaps->count - i) + PP_POINTS_MAX > room) {
            room = 2 * room + gaps->count;
            pp_contact *more = PP_ARRAY(arena, pp_contact, room);
            if (!more) {
                return PERP_ERR_MEMORY;
            }
            memcpy(more, out.contact, (size_t)out.count * sizeof *c);
            out.contact = more;
        }
        if (aimed) {
            out.count += write_pair(&t, &out.contact[out.count]);
        } else {
            memcpy(&out.contact[out.count], c, (size_t)(to - i) * sizeof *c);
            out.count += to - i;
        }
    }
    if (out.contact) {
        *gaps = out;
    }
    return PERP_OK;
}
