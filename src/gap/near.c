// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Culling of contacts before a step of length h: which of them can become active in it. A contact that is dropped
// has no row in the problem, so this must be a bound, with half as much again to spare; what it costs to keep too
// many is time only.
//
// Speeds at the end of the step are not known yet. A body moves as it does, forces change that by
// |p_ext|/m, and so do impacts: a contact that closes within the step with the speed v, and parts with e v,
// strikes its bodies by u = (1 + e) v,
//
//   blow to b = u min(1, 2 m_a / (m_a + m_b)) ,    twice that of a central impact, and no more than u.
//
// `blow` is such a bound of the change of a body's speed by impacts [m/s]. What is struck strikes on, through contacts that this closes and through joints, with the mass of all
// that is behind it: M -> M + m_b, blow -> blow M / (M + m_b). So a contact is kept when
//
//   psi <= max(margin, 1.5 h (|v_b - v_a| + |p_ext|/m of both + the harder of the blows to a and b)) .
#include "gap/gap.h"

#include <math.h>

static const double SPARE = 1.5;  // safety factor on the distance that can be closed
enum { SWEEPS = 16 };             // of blows through the contacts, in turn up and down the list

// Bound of the change of a body's speed by forces alone, |M^-1 p_ext| [m/s]; spin counts at the arm of the model's
// length scale.
static double push(const perp_model *m, const pp_kinematics *kin, int i)
{
    const pp_body *body = &m->body[i];
    double dv[PP_BODY_NV], all[PP_BODY_NV] = {0.0};
    pp_body_solve(body, &kin->mass[i], kin->p_ext + body->at, dv);
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = dv[k];
    }
    return pp_length(pp_vec(all[0], all[1], all[2])) +
           pp_length(pp_vec(all[3], all[4], all[5])) * m->length_scale;
}

// The largest coefficient of restitution in the model.
static double bounciest(const perp_model *m)
{
    double most = 0.0;
    for (int i = 0; i < m->shapes; i++) {
        most = fmax(most, m->shape[i].restitution);
    }
    for (int i = 0; i < m->pairs; i++) {
        most = fmax(most, m->pair[i].restitution);
    }
    for (int i = 0; i < m->listed; i++) {
        most = fmax(most, m->contact[i].restitution);
    }
    return most;
}

// One bound for all pairs, for the broad phase: which contacts of a pair can matter is decided later, by pp_gaps_keep.
double pp_gap_reach(const perp_model *model, const pp_kinematics *kin, double margin)
{
    double first = 0.0, second = 0.0;  // of the speeds: no two bodies meet faster than their sum
    for (int i = 0; i < model->bodies; i++) {
        const pp_frame *f = &kin->body[i];
        double speed =
            pp_length(f->v) + pp_length(f->w) * model->length_scale + push(model, kin, i);
        // the two largest in one pass
        second = fmax(second, fmin(first, speed));
        first = fmax(first, speed);
    }
    double speed = (1.0 + bounciest(model)) * (first + second);
    return fmax(margin, SPARE * kin->h * speed);
}

// ── Blows ────────────────────────────────────────────────────────────────────────────────────────

// Impact on a body, as a bound.
typedef struct blow {
    double speed;   // change of its speed [m/s]
    double behind;  // mass that comes along, the body's own included [kg]
} blow;

typedef struct blows {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_gaps *gaps;
    double *push;       // bodies
    blow *blow;         // bodies
    struct pass *pass;  // contacts
} blows;

// A contact as a link by which impacts propagate.
typedef struct pass {
    int a, b;      // bodies
    double speed;  // relative, forces included [m/s]
    double close;  // at which the gap closes now, 0 at least [m/s]
} pass;

static pass pass_of(const blows *s, const pp_contact *c)
{
    int a = s->model->shape[c->a].body, b = s->model->shape[c->b].body;
    perp_vec3 va = pp_point_velocity(&s->kin->body[a], c->point);
    perp_vec3 vb = pp_point_velocity(&s->kin->body[b], c->point);
    perp_vec3 v = pp_sub(vb, va);
    return (pass){a, b, pp_length(v) + s->push[a] + s->push[b], fmax(-pp_dot3(c->n, v), 0.0)};
}

// The larger of the bounds of the two bodies.
static double harder(const blows *s, int a, int b)
{
    return fmax(s->blow[a].speed, s->blow[b].speed);
}

// What `share` of the first mass is in both; all of it when it is not free.
static double share(double mass, double other)
{
    return isfinite(mass) ? mass / (mass + other) : 1.0;
}

// Infinite for bodies that are static or driven.
static double mass_of(const blows *s, int body)
{
    return s->model->body[body].nv > 0 ? s->model->body[body].mass : HUGE_VAL;
}

// Raises the bound of a free body. False: it was as large already.
static bool take(const blows *s, int body, double speed, double behind)
{
    blow *b = &s->blow[body];
    if (s->model->body[body].nv == 0 || !(speed > b->speed)) {
        return false;
    }
    *b = (blow){speed, behind};
    return true;
}

// One step of propagation, from -> to: as if all that has moved so far were one mass that strikes it without rebound.
static bool pass_on(const blows *s, int from, int to)
{
    blow b = s->blow[from];
    double mass = mass_of(s, to);
    return b.speed > 0.0 && take(s, to, b.speed * share(b.behind, mass), b.behind + mass);
}

// Seeds: contacts that close within the step by the present velocities and forces, each as an impact of two bodies.
static void strike(const blows *s)
{
    for (int i = 0; i < s->gaps->count; i++) {
        const pp_contact *c = &s->gaps->contact[i];
        pass p = s->pass[i] = pass_of(s, c);
        double ma = mass_of(s, p.a), mb = mass_of(s, p.b);
        if (c->gap <= s->kin->h * (p.close + s->push[p.a] + s->push[p.b])) {
            double u = (1.0 + c->restitution) * p.close;
            take(s, p.a, u * fmin(1.0, 2.0 * share(mb, ma)), ma + mb);
            take(s, p.b, u * fmin(1.0, 2.0 * share(ma, mb)), ma + mb);
        }
    }
}

// Contacts that the hardest blow could close; blows get weaker as they are passed on. Returns how many.
static int list_reached(const blows *s, int *list)
{
    double hardest = 0.0;
    int count = 0;
    for (int i = 0; i < s->model->bodies; i++) {
        hardest = fmax(hardest, s->blow[i].speed);
    }
    if (!(hardest > 0.0)) {
        return 0;
    }
    for (int i = 0; i < s->gaps->count; i++) {
        if (s->gaps->contact[i].gap <= s->kin->h * (s->pass[i].speed + hardest)) {
            list[count++] = i;
        }
    }
    return count;
}

// Propagates the bounds to a fixed point, or for SWEEPS sweeps. Sweeps alternate in direction, so that a chain that is
// listed in order takes one or two.
static void spread(const blows *s, int *list)
{
    int count = list_reached(s, list);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool news = false;
        for (int k = 0; k < count; k++) {
            int i = list[sweep % 2 ? count - 1 - k : k];
            const pass *p = &s->pass[i];
            double most = harder(s, p->a, p->b);
            if (most > 0.0 && s->gaps->contact[i].gap <= s->kin->h * (p->speed + most)) {
                news = pass_on(s, p->a, p->b) || pass_on(s, p->b, p->a) || news;
            }
        }
        for (int i = 0; i < s->model->joints; i++) {
            const pp_joint *j = &s->model->joint[i];
            news = pass_on(s, j->a, j->b) || pass_on(s, j->b, j->a) || news;
        }
        if (!news) {
            return;
        }
    }
}

perp_status pp_gaps_keep(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                         double margin, pp_arena *arena)
{
    if (gaps->count == 0) {
        return PERP_OK;
    }
    blows s = {.model = model,
               .kin = kin,
               .gaps = gaps,
               .push = PP_ZEROS(arena, double, model->bodies),
               .blow = PP_ZEROS(arena, blow, model->bodies),
               .pass = PP_ARRAY(arena, pass, gaps->count)};
    int *list = PP_ARRAY(arena, int, gaps->count);
    if (!s.push || !s.blow || !s.pass || !list) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        s.push[i] = push(model, kin, i);
    }
    strike(&s);
    spread(&s, list);
    // listed contacts always stay; detected ones within the margin or within what the step can close
    int kept = 0;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        pass p = s.pass[i];
        double far = SPARE * kin->h * (p.speed + harder(&s, p.a, p.b));
        if (c->listed >= 0 || c->gap <= fmax(margin, far)) {
            gaps->contact[kept++] = *c;
        }
    }
    gaps->count = kept;
    return PERP_OK;
}
