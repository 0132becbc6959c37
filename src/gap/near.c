// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Culling of contacts before a step of length h: which of them can become active in it. A contact that is dropped
// has no row in the problem, so this must be a bound, with half as much again to spare; what it costs to keep too
// many is time only.
//
// Speeds at the end of the step are not known yet. A body moves as it does, forces change that by
// |p_ext|/m, and so do impacts: a contact that closes within the step with the speed v, and parts with e v,
// changes their velocities by at most u = (1 + e) v,
//
//   dv_b <= u min(1, 2 m_a / (m_a + m_b)) ,    twice that of a central impact, and no more than u.
//
// `impact_bound` is such a bound of the change of a body's speed by impacts [m/s]. What is struck strikes on, through contacts that this closes and through joints, with the mass of all
// that is behind it: M -> M + m_b, blow -> blow M / (M + m_b). So a contact is kept when
//
//   psi <= max(margin, 1.5 h (|v_b - v_a| + |p_ext|/m of both + the larger of dv_a and dv_b)) .
#include "gap/gap.h"
#include "math/math.h"

#include <math.h>

static const double SAFETY = 1.5;  // safety factor on the distance that can be closed
enum {
    PROPAGATION_SWEEPS = 16
};  // of propagation through the contacts, up and down the list in turn

// Bound of the change of a body's speed by forces alone, |M^-1 p_ext| [m/s]; spin counts at the arm of the model's
// length scale.
static double force_dv(const perp_model *m, const pp_kinematics *kin, int i)
{
    const pp_body *body = &m->body[i];
    double dv[PP_BODY_NV], all[PP_BODY_NV] = {0.0};
    pp_body_solve(body, &kin->mass[i], kin->loads.p_ext + body->at, dv);
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = dv[k];
    }
    return pp_length(pp_vec(all[0], all[1], all[2])) +
           pp_length(pp_vec(all[3], all[4], all[5])) * m->length_scale;
}

// The largest coefficient of restitution in the model.
static double largest_restitution(const perp_model *m)
{
    double most = 0.0;
    for (int i = 0; i < m->shapes; i++) {
        most = m->shape[i].restitution > most ? m->shape[i].restitution : most;
    }
    for (int i = 0; i < m->pairs; i++) {
        most = fmax(most, m->pair[i].restitution);
    }
    for (int i = 0; i < m->listed; i++) {
        most = fmax(most, m->contact[i].restitution);
    }
    return most;
}

// One bound for all pairs, for the broad phase: which contacts of a pair can matter is decided later, by pp_contacts_cull.
void pp_gap_travel(const perp_model *model, const pp_kinematics *kin, double *travel, double *push,
                   pp_gap_search *search)
{
    double first = 0.0, second = 0.0;  // of the speeds: no two bodies meet faster than their sum
    double bounces = 1.0 + largest_restitution(model), times = SAFETY * kin->h * bounces;
    for (int i = 0; i < model->bodies; i++) {
        // as it moves, spin at the arm of the model's length scale, and what forces add
        const pp_frame *f = &kin->poses.body[i];
        push[i] = force_dv(model, kin, i);
        double speed = pp_length(f->v) + pp_length(f->w) * model->length_scale + push[i];
        // the two largest in one pass
        if (speed > first) {
            second = first;
            first = speed;
        } else if (speed > second) {
            second = speed;
        }
        travel[i] = times * speed;
    }
    search->h = kin->h;
    search->span = SAFETY * kin->h;
    search->bounces = bounces;
    search->closes = SAFETY * kin->h * (bounces * (first + second));
}

// Contacts beyond what a step can close are kept for the next steps, which a body that rolls or rocks meets them in: how
// near they must be is a matter of its size. Thickness is none: a disc of paper rolls as far as a wheel.
static const double MARGIN_SHARE = 0.01, MARGIN_MOST = 0.01;  // of the reach of a body, and [m]

static double size_of(const perp_model *m, int shape)
{
    const pp_body *body = &m->body[m->shape[shape].body];
    return body->nv > 0 && body->reach > 0.0 ? body->reach : PP_INF;
}

double pp_gap_pair_margin(const perp_model *model, double margin, int a, int b)
{
    if (margin > 0.0) {
        return margin;
    }
    double size = pp_min(size_of(model, a), size_of(model, b));
    return pp_min(MARGIN_MOST, MARGIN_SHARE * (isfinite(size) ? size : model->length_scale));
}

double pp_gap_margin(const perp_model *model, double margin)
{
    double most = 0.0;
    if (margin > 0.0) {
        return margin;
    }
    for (int i = 0; i < model->shapes; i++) {
        double size = size_of(model, i);
        // of two shapes one is that of a free body
        if (model->body[model->shape[i].body].nv > 0) {
            most = pp_max(most, isfinite(size) ? size : model->length_scale);
        }
    }
    return pp_min(MARGIN_MOST, MARGIN_SHARE * most);
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Impact on a body, as a bound.
typedef struct impact_bound {
    double dv;            // change of its speed [m/s]
    double carried_mass;  // mass that comes along, the body's own included [kg]
} impact_bound;

typedef struct impact_bounds {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_gaps *gaps;
    double *force_dv;                 // bodies
    double *mass;                     // bodies; infinite for those that are static or driven [kg]
    impact_bound *bound;              // bodies
    struct contact_closing *closing;  // contacts
} impact_bounds;

// A contact as a link by which impacts propagate.
typedef struct contact_closing {
    int a, b;              // bodies
    double gap;            // [m]
    double speed;          // relative, forces included [m/s]
    double closing_speed;  // at which the gap closes now, 0 at least [m/s]
} contact_closing;

static contact_closing closing_of(const impact_bounds *s, const pp_contact *c)
{
    int a = s->model->shape[c->a].body, b = s->model->shape[c->b].body;
    perp_vec3 va = pp_point_velocity(&s->kin->poses.body[a], c->point);
    perp_vec3 vb = pp_point_velocity(&s->kin->poses.body[b], c->point);
    perp_vec3 v = pp_sub(vb, va);
    return (contact_closing){a, b, c->gap, pp_length(v) + s->force_dv[a] + s->force_dv[b],
                             pp_max(-pp_dot3(c->n, v), 0.0)};
}

// The larger of the bounds of the two bodies.
static double larger_bound(const impact_bounds *s, int a, int b)
{
    return pp_max(s->bound[a].dv, s->bound[b].dv);
}

// What `mass_ratio` of the first mass is in both; all of it when it is not free.
static double mass_ratio(double mass, double other)
{
    return isfinite(mass) ? mass / (mass + other) : 1.0;
}

// Raises the bound of a free body. False: it was as large already.
static bool raise_bound(const impact_bounds *s, int body, double dv, double carried_mass)
{
    impact_bound *b = &s->bound[body];
    if (!(dv > b->dv) || !isfinite(s->mass[body])) {
        return false;
    }
    *b = (impact_bound){dv, carried_mass};
    return true;
}

// One step of propagation, from -> to: as if all that has moved so far were one mass that strikes it without rebound.
static bool propagate_impact(const impact_bounds *s, int from, int to)
{
    impact_bound b = s->bound[from];
    double mass = s->mass[to];
    return b.dv > 0.0 &&
           raise_bound(s, to, b.dv * mass_ratio(b.carried_mass, mass), b.carried_mass + mass);
}

// Seeds: contacts that close within the step by the present velocities and forces, each as an impact of two bodies.
static void seed_impacts(const impact_bounds *s)
{
    for (int i = 0; i < s->gaps->count; i++) {
        const pp_contact *c = &s->gaps->contact[i];
        contact_closing p = s->closing[i] = closing_of(s, c);
        double ma = s->mass[p.a], mb = s->mass[p.b];
        if (c->gap <= s->kin->h * (p.closing_speed + s->force_dv[p.a] + s->force_dv[p.b])) {
            double u = (1.0 + c->restitution) * p.closing_speed;
            raise_bound(s, p.a, u * pp_min(1.0, 2.0 * mass_ratio(mb, ma)), ma + mb);
            raise_bound(s, p.b, u * pp_min(1.0, 2.0 * mass_ratio(ma, mb)), ma + mb);
        }
    }
}

// Contacts that the largest dv could close; it decreases as it propagates. Returns how many.
static int list_reachable(const impact_bounds *s, int *list)
{
    double largest = 0.0;
    int count = 0;
    for (int i = 0; i < s->model->bodies; i++) {
        largest = pp_max(largest, s->bound[i].dv);
    }
    if (!(largest > 0.0)) {
        return 0;
    }
    for (int i = 0; i < s->gaps->count; i++) {
        if (s->closing[i].gap <= s->kin->h * (s->closing[i].speed + largest)) {
            list[count++] = i;
        }
    }
    return count;
}

// Propagates the bounds to a fixed point, or for PROPAGATION_SWEEPS sweeps. Sweeps alternate in direction, so that a chain that is
// listed in order takes one or two.
static void propagate_impacts(const impact_bounds *s, int *list)
{
    int count = list_reachable(s, list);
    for (int sweep = 0; sweep < PROPAGATION_SWEEPS; sweep++) {
        bool news = false;
        for (int k = 0; k < count; k++) {
            int i = list[sweep % 2 ? count - 1 - k : k];
            const contact_closing *p = &s->closing[i];
            double most = larger_bound(s, p->a, p->b);
            if (most > 0.0 && p->gap <= s->kin->h * (p->speed + most)) {
                news = propagate_impact(s, p->a, p->b) || propagate_impact(s, p->b, p->a) || news;
            }
        }
        for (int i = 0; i < s->model->joints; i++) {
            const pp_joint *j = &s->model->joint[i];
            news = propagate_impact(s, j->a, j->b) || propagate_impact(s, j->b, j->a) || news;
        }
        if (!news) {
            return;
        }
    }
}

perp_status pp_contacts_cull(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                             double margin, pp_arena *arena)
{
    if (gaps->count == 0) {
        return PERP_OK;
    }
    impact_bounds s = {.model = model,
                       .kin = kin,
                       .gaps = gaps,
                       .force_dv = PP_ZEROS(arena, double, model->bodies),
                       .mass = PP_ARRAY(arena, double, model->bodies),
                       .bound = PP_ZEROS(arena, impact_bound, model->bodies),
                       .closing = PP_ARRAY(arena, contact_closing, gaps->count)};
    int *list = PP_ARRAY(arena, int, gaps->count);
    if (!s.force_dv || !s.mass || !s.bound || !s.closing || !list) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        s.force_dv[i] = force_dv(model, kin, i);
        s.mass[i] = model->body[i].nv > 0 ? model->body[i].mass : HUGE_VAL;
    }
    seed_impacts(&s);
    propagate_impacts(&s, list);
    // listed contacts always stay; detected ones within the margin or within what the step can close
    int kept = 0;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        contact_closing p = s.closing[i];
        double far = SAFETY * kin->h * (p.speed + larger_bound(&s, p.a, p.b));
        if (c->listed >= 0 || c->gap <= far ||
            c->gap <= pp_gap_pair_margin(model, margin, c->a, c->b)) {
            if (kept < i) {
                gaps->contact[kept] = *c;
            }
            kept++;
        }
    }
    gaps->count = kept;
    return PERP_OK;
}
