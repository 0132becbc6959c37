// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equations of joints between two bodies, which are not written as rows: their values, their rates from how the anchors
// move, what the scheme adds to these, and the impulses of all equations of a joint together.          theory (K12)
#include "certify/writer.h"

// Whether the problem has the row of this joint, force and actuator next. If not, an impulse would belong to another
// equation.
bool pp_row_comes_next(pp_row_writer *w, const pp_row *given, int count, int at, const int of[3])
{
    bool fits = at < count && given[at].joint == of[0] && given[at].force == of[1] &&
                given[at].actuator == of[2];
    w->same = w->same && fits;
    return fits;
}

// ── What the scheme adds to an equation ──────────────────────────────────────────────────────────

// The theta method takes equations in the middle of the step. Without contacts they hold for the
// mean velocities of the step; beside contacts they hold at its end.                  theory (S11)
static double middle_bias(const pp_row_writer *w, const pp_row_acting *row,
                          const pp_row_instant *at)
{
    const pp_step_evidence *e = w->e;
    double whole = e->whole > e->kin->h ? e->whole : e->kin->h;
    double off = e->rates ? 0.0 : at->value / whole;
    if (w->beside) {
        return at->end - row->after + off + (e->rates ? 0.0 : 0.5 * at->before);
    }
    return (row->way + off) / e->theta - row->after;
}

// The bias of an equation: what the scheme adds to J nu + rate. given: that of the problem.
double pp_equation_bias(const pp_row_writer *w, const pp_row_acting *row, const pp_row_instant *at,
                        double given)
{
    const pp_step_evidence *e = w->e;
    double whole = e->whole > e->kin->h ? e->whole : e->kin->h;
    switch (e->stepper) {
    case PERP_STEPPER_MOREAU_JEAN:
        return middle_bias(w, row, at);
    case PERP_STEPPER_ANITESCU_POTRA:
        return 0.0;
    case PERP_STEPPER_IMPLICIT:
        // the equation holds where the step ends: J nu + rate + bias = phi / h with phi there
        if (pp_own_at_end(e)) {
            return row->value / e->kin->h - row->after;
        }
        return e->rates ? 0.0 : at->value / whole;
    default:
        // Where joints are closed exactly at the end, the bias is whatever that takes; positions
        // show whether it did. Otherwise errors of position are taken back within the whole step.
        if (e->exact) {
            return given;
        }
        return e->rates ? 0.0 : at->value / whole;
    }
}

double pp_given_bias(const pp_row_writer *w)
{
    return w->b < w->e->rows->nb ? w->e->rows->b[w->b].bias : 0.0;
}

// ── Joints between two bodies ────────────────────────────────────────────────────────────────────

// How the anchor of b moves relative to that of a, and how both bodies turn.
typedef struct anchor_rates {
    perp_vec3 v, w_a, w_b;
} anchor_rates;

static anchor_rates anchor_rates_of(const pp_own_anchors *at, const perp_twist *a,
                                    const perp_twist *b)
{
    const pp_joint *j = at->j;
    perp_vec3 va = pp_add(a->v_W, pp_cross(a->w_W, pp_sub(at->pa, at->body[j->a].p)));
    perp_vec3 vb = pp_add(b->v_W, pp_cross(b->w_W, pp_sub(at->pb, at->body[j->b].p)));
    return (anchor_rates){pp_sub(vb, va), a->w_W, b->w_W};
}

static double scalar_rate(const pp_own_scalar *s, const anchor_rates *of)
{
    return pp_dot3(s->g, of->v) + pp_dot3(s->on_a, of->w_a) + pp_dot3(s->on_b, of->w_b);
}

// Velocity of a body in a list of those of free bodies; of one that is not free that of its frame.
static perp_twist twist_of(const pp_own_anchors *at, int body, const perp_twist *free)
{
    const pp_frame *f = &at->body[body];
    return at->m->body[body].nv > 0 ? free[body] : (perp_twist){f->v, f->w};
}

static anchor_rates rates_with(const pp_own_anchors *at, const perp_twist *free)
{
    perp_twist a = twist_of(at, at->j->a, free), b = twist_of(at, at->j->b, free);
    return anchor_rates_of(at, &a, &b);
}

// With the velocities of the frames.
static anchor_rates frame_rates(const pp_own_anchors *at)
{
    const pp_frame *a = &at->body[at->j->a], *b = &at->body[at->j->b];
    perp_twist of_a = {a->v, a->w}, of_b = {b->v, b->w};
    return anchor_rates_of(at, &of_a, &of_b);
}

// Of bodies that are not free alone; false: they rest.
static bool given_rates(const pp_own_anchors *at, anchor_rates *given)
{
    perp_twist v[2] = {0};
    const int body[2] = {at->j->a, at->j->b};
    bool any = false;
    for (int k = 0; k < 2; k++) {
        const pp_frame *f = &at->body[body[k]];
        if (at->m->body[body[k]].nv == 0) {
            v[k] = (perp_twist){f->v, f->w};
            any = any || pp_dot3(f->v, f->v) + pp_dot3(f->w, f->w) != 0.0;
        }
    }
    *given = any ? anchor_rates_of(at, &v[0], &v[1]) : (anchor_rates){0};
    return any;
}

// Equations of a joint between two bodies where the theta method or the implicit step has them: biases ask for their
// values and rates at both ends.
static void bias_between(const pp_row_writer *w, const pp_row_velocities *v, int joint,
                         const pp_own_anchors *at, const pp_own_scalar s[PP_JOINT_EQUATIONS],
                         pp_row_instant when[PP_JOINT_EQUATIONS],
                         pp_row_acting acting[PP_JOINT_EQUATIONS])
{
    pp_own_scalar first[PP_JOINT_EQUATIONS], last[PP_JOINT_EQUATIONS];
    pp_own_anchors start = pp_own_anchors_of(w->m, w->start, at->j),
                   end = pp_own_anchors_of(w->m, w->end_at.body, at->j);
    anchor_rates after = rates_with(at, v->after), way = rates_with(at, v->way);
    anchor_rates before = frame_rates(&start), then = rates_with(&end, v->after);
    int count = pp_own_scalars(&start, w->start_at.turn, joint, first);
    pp_own_scalars(&end, w->end_at.turn, joint, last);
    for (int k = 0; k < count; k++) {
        when[k] = (pp_row_instant){first[k].value, scalar_rate(&first[k], &before),
                                   scalar_rate(&last[k], &then)};
        acting[k] =
            (pp_row_acting){s[k].value, scalar_rate(&s[k], &after), scalar_rate(&s[k], &way)};
    }
}

// A joint between two bodies, written as equations with their impulses.
void pp_put_pair_equations(pp_row_writer *w, const pp_row_velocities *v, int joint,
                           const pp_own_anchors *at)
{
    pp_own_scalar s[PP_JOINT_EQUATIONS];
    pp_row_instant when[PP_JOINT_EQUATIONS];
    pp_row_acting acting[PP_JOINT_EQUATIONS];
    const pp_rows *given = w->e->rows;
    const int of[3] = {joint, -1, -1};
    // a bias of the start depends on no velocities
    bool between = w->acting != w->start || w->e->stepper == PERP_STEPPER_MOREAU_JEAN;
    int count = pp_own_scalars(at, w->acting_at.turn, joint, s);
    if (between) {
        bias_between(w, v, joint, at, s, when, acting);
    }
    bool moves = w->m->body[at->j->a].nv > 0 || w->m->body[at->j->b].nv > 0;
    anchor_rates after = rates_with(at, v->after), by_given;
    bool has_given = given_rates(at, &by_given);
    perp_vec3 none = {0.0, 0.0, 0.0};
    pp_own_joint *to = &w->joints->of[joint];
    *to = (pp_own_joint){.first = w->joints->count,
                         .arm = pp_scale_arm(w->m, at->j),
                         .arm_a = pp_sub(at->pa, at->body[at->j->a].p),
                         .arm_b = pp_sub(at->pb, at->body[at->j->b].p),
                         .f = none,
                         .on_a = none,
                         .on_b = none};
    for (int k = 0; k < count; k++) {
        if (!pp_row_comes_next(w, given->b, given->nb, w->b, of)) {
            continue;
        }
        if (!between) {
            when[k] = (pp_row_instant){.value = s[k].value};
            acting[k] = (pp_row_acting){.value = s[k].value};
        }
        double p = w->e->pb[w->b];
        perp_vec3 g = s[k].g;
        w->joints->equation[w->joints->count++] =
            (pp_own_equation){.value = when[k].value,
                              .after = scalar_rate(&s[k], &after),
                              .given = has_given ? scalar_rate(&s[k], &by_given) : 0.0,
                              .bias = pp_equation_bias(w, &acting[k], &when[k], pp_given_bias(w)),
                              .p = p,
                              .length = moves && (g.x != 0.0 || g.y != 0.0 || g.z != 0.0)};
        to->f = pp_along(to->f, p, g);
        to->on_a = pp_along(to->on_a, p, s[k].on_a);
        to->on_b = pp_along(to->on_b, p, s[k].on_b);
        to->count++;
        w->b++;
    }
}
