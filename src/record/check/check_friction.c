// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded friction against its law: within its set, and all that there is against what slides or
// turns.
//
//   p in p_n F,   sup over q in p_n F of -q . u  =  -p . u
//
// F is an interval in the plane; in space an ellipse with the axes mu, mu_2 or a polygon in it for
// sliding, an interval for torsion, a disc or polygon for rolling.
#include "record/check/check.h"

#include <math.h>

static const double TWO_PI = 6.283185307179586;

typedef struct disc {
    double x, y;  // its half axes, times p_n
    int sides;    // of a polygon with a corner along the first; 0: round
} disc;

// Numbers of a listed contact take the place of those of its pair; negative ones are not given.
static void apply_listed(pp_pair_rule *pair, const pp_listed *listed)
{
    pair->mu = listed->mu >= 0.0 ? listed->mu : pair->mu;
    pair->restitution = listed->restitution >= 0.0 ? listed->restitution : pair->restitution;
    pair->mu_2 = listed->mu_2 >= 0.0 ? listed->mu_2 : pair->mu_2;
    pair->mu_spin = listed->mu_spin >= 0.0 ? listed->mu_spin : pair->mu_spin;
    pair->mu_roll = listed->mu_roll >= 0.0 ? listed->mu_roll : pair->mu_roll;
    pair->facets = listed->facets >= 0 ? listed->facets : pair->facets;
    if (pp_dot3(listed->tangent_A, listed->tangent_A) > 0.0) {
        pair->tangent_A = listed->tangent_A;
        pair->turned = listed->a != pair->a;
    }
}

pp_pair_rule pp_check_law(const perp_model *m, int a, int b, bool *is_listed)
{
    pp_pair_rule pair;
    pp_model_pair(m, a, b, &pair);
    *is_listed = false;
    for (int i = 0; i < m->listed; i++) {
        const pp_listed *listed = &m->contact[i];
        if (listed->a == a && listed->b == b) {
            *is_listed = true;
            apply_listed(&pair, listed);
            break;
        }
    }
    return pair;
}

// How far (x, y) is outside the set, measured along the first axis; negative inside.
static double distance_outside(const disc *d, double x, double y)
{
    if (!(d->y > 0.0)) {
        return fmax(fabs(y), fabs(x) - d->x);
    }
    y *= d->x / d->y;
    if (d->sides == 0) {
        return pp_hypot(x, y) - d->x;
    }
    // Sides of the polygon are at the distance `inner` from its centre.
    double most = -PP_INF, inner = d->x * pp_cos(0.5 * TWO_PI / d->sides);
    for (int k = 0; k < d->sides; k++) {
        double angle = TWO_PI * (k + 0.5) / d->sides;
        most = fmax(most, pp_cos(angle) * x + pp_sin(angle) * y);
    }
    return isnan(x) || isnan(y) ? (double)NAN : most - inner;
}

// The most that an impulse of the set can take from the motion (u, v).
static double disc_support(const disc *d, double u, double v)
{
    if (d->sides == 0) {
        return pp_hypot(d->x * u, d->y * v);
    }
    double most = 0.0;
    for (int k = 0; k < d->sides; k++) {
        double angle = TWO_PI * k / d->sides;
        most = fmax(most, -(d->x * pp_cos(angle) * u + d->y * pp_sin(angle) * v));
    }
    return isnan(u) || isnan(v) ? (double)NAN : most;
}

// Impulse p against motion u: *beyond grows to the distance of p from its set, *short_of by the
// power that friction should have taken, h(u) = max over the set of -q . u, less what it took.
//                                                                                      theory (C13)
static void judge_friction(const disc *d, const double p[2], const double motion[2], double still,
                           double *beyond, double *short_of)
{
    double taken = -(p[0] * motion[0] + p[1] * motion[1]);
    bool moves = !(pp_hypot(motion[0], motion[1]) <= still);
    *beyond = pp_check_worse(*beyond, distance_outside(d, p[0], p[1]));
    *short_of += (moves ? disc_support(d, motion[0], motion[1]) : 0.0) - taken;
}

// In the plane friction acts along t = (n_y, -n_x); any part along n is beyond the law.
static void judge_planar(const pp_recheck *c, const perp_contact *contact, double still,
                         double *beyond, double *short_of)
{
    perp_vec3 n = contact->normal_W, pf = contact->pf_W, hold = contact->hold_W;
    double mu = c->info->friction == PERP_FRICTION_NONE ? 0.0 : contact->mu;
    const disc d = {mu * contact->pn, 0.0, 0};
    const double p[2] = {pf.x * n.y - pf.y * n.x, 0.0},
                 u[2] = {contact->slip + hold.x * n.y - hold.y * n.x, 0.0};
    *beyond = fabs(pf.x * n.x + pf.y * n.y);
    judge_friction(&d, p, u, still, beyond, short_of);
}

void pp_check_friction(const pp_recheck *c, const perp_contact *contact, double still,
                       double *beyond, double *short_of)
{
    *beyond = *short_of = 0.0;
    if (!c->info->spatial) {
        judge_planar(c, contact, still, beyond, short_of);
        return;
    }
    bool listed, rubs = c->info->friction != PERP_FRICTION_NONE;
    pp_pair_rule law = pp_check_law(c->model, contact->a.i, contact->b.i, &listed);
    double pn = rubs ? contact->pn : 0.0, mu = contact->mu;
    perp_vec3 n = contact->normal_W, t = contact->tangent_W, o = pp_cross(n, t);
    perp_vec3 p = contact->pf_W, m = contact->moment_W,
              u = pp_add(contact->slip_W, contact->hold_W);
    // Sliding along t and o = n x t; a negative mu_2 is not given, and the ellipse a disc.
    const disc slide = {mu * pn, (law.mu_2 >= 0.0 ? law.mu_2 : mu) * pn, contact->facets};
    const double p_slide[2] = {pp_dot3(p, t), pp_dot3(p, o)};
    const double u_slide[2] = {pp_dot3(u, t), pp_dot3(u, o)};
    *beyond = fabs(pp_dot3(p, n));
    judge_friction(&slide, p_slide, u_slide, still, beyond, short_of);
    // Torsion about n, rolling about t and o: by the angular velocity of b relative to a, where it
    // is known.
    perp_twist a = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, b = a;
    if (pp_check_each_step(c)) {
        a = pp_check_contact_velocity(c, c->model->shape[contact->a.i].body);
        b = pp_check_contact_velocity(c, c->model->shape[contact->b.i].body);
    }
    perp_vec3 w = pp_sub(b.w_W, a.w_W);
    const disc spin = {law.mu_spin * pn, 0.0, 0};
    const double p_spin[2] = {pp_dot3(m, n), 0.0}, w_spin[2] = {pp_dot3(w, n), 0.0};
    judge_friction(&spin, p_spin, w_spin, still, beyond, short_of);
    const disc roll = {law.mu_roll * pn, law.mu_roll * pn, contact->facets};
    const double p_roll[2] = {pp_dot3(m, t), pp_dot3(m, o)};
    const double w_roll[2] = {pp_dot3(w, t), pp_dot3(w, o)};
    judge_friction(&roll, p_roll, w_roll, still, beyond, short_of);
}
