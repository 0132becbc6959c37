// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recorded frame shows by itself: overlap, open joints, contacts that pull, push from afar
// or let through.
//
//   0 <= p_n,  0 <= rho_n,  p_n rho_n = 0
#include "record/check/check.h"

#include <math.h>

// Gaps [m] and errors of joints [m, rad] at the end of the step, found again from the recorded
// positions.
perp_status pp_check_places(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_poses now = {.t = c->now->t, .body = c->after, .turn = c->turn};
    pp_gaps gaps = {0};
    perp_status status = pp_gaps_run(&gaps, m, &now, (pp_gap_search){0}, c->arena);
    if (status < 0) {
        return status;
    }
    // of what a step may leave, the implicit one has a millionth: theory (K14)
    double share = pp_check_at_end(c) || c->closed ? 1e-6 : 1.0;
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *contact = &gaps.contact[i];
        bool thin = pp_skin(m, contact->a, contact->b) > 0.0;
        double limit = (thin ? 1.0 : share) * pp_scale_overlap(m, contact->a, contact->b);
        pp_check_record_worst(c, PERP_CHECK_GAP, fmax(0.0, -contact->gap), limit,
                              m->shape[contact->a].name, m->shape[contact->b].name);
    }
    for (int i = 0; i < m->joints; i++) {
        double limit, error = pp_judge_joint(m, &now, i, &limit);
        pp_check_record_worst(c, PERP_CHECK_JOINT, error, share * limit, m->joint[i].name, "");
    }
    return PERP_OK;
}

// Whether anything passed through anything between this frame and the one before, which are one step or part of a step
// apart: bodies move along a line and turn about one axis. The stepper event moves them otherwise.
perp_status pp_check_path(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_crossing found;
    if (!pp_check_each_step(c) || c->info->stepper == PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    perp_status status = pp_judge_crossing(&found, m, c->before, c->after, c->last, c->arena);
    if (status >= 0 && found.a >= 0) {
        pp_check_record_worst(c, PERP_CHECK_GAP, found.depth, found.allowed, m->shape[found.a].name,
                              m->shape[found.b].name);
    }
    return status;
}

// The rate after an impact within the step, which leaves e^2 of the energy of the parabola through
// the points of its steps: with the pull a = -push/h that is E = u^2/2 + a gap - a h u/2, before it
// at the gap and after it at gap + h u.                                                theory (P14)
static double rebound(double gap, double before, double restitution, double push, double h)
{
    double a = -push / h, plain = -restitution * before;
    gap = fmax(gap, 0.0);
    double kept = restitution * restitution * (before * (before - a * h) + 2.0 * a * gap);
    double left = kept - 2.0 * a * gap + 0.25 * a * a * h * h;
    double u = sqrt(fmax(0.0, left)) - 0.5 * a * h;
    // Without a pull towards the contact: Newton's law as it is.
    return a > 0.0 && left > 0.0 && u > 0.0 ? u : plain;
}

double pp_check_complementarity(const pp_recheck *c, double p, double value, double rate,
                                double before, double restitution, double rest, double push)
{
    // These schemes complement the gap at the end, gap/h + rate; the others the rate alone.
    //                                                                                   theory (P6)
    bool by_place = c->info->stepper == PERP_STEPPER_STEWART_TRINKLE ||
                    c->info->stepper == PERP_STEPPER_QUASISTATIC ||
                    c->info->stepper == PERP_STEPPER_IMPLICIT;
    double h = c->last;
    if (c->unfit) {  // rows ask for rates alone, and closings take back what overlaps      theory (K8)
        value = fmax(value, 0.0);
    }
    if (pp_check_at_end(c)) {  // the value is that of the end; its tangent taken back over the step
        value -= h * rate;
    }
    // A NaN counts as bouncing, and makes the result NaN.
    bool bounces = restitution != 0.0 && !(before >= -rest);
    // Whether the step would close the gap without an impact.
    bool arrives = !(value + h * (before + fmin(push, 0.0)) > 0.0);
    if (bounces && (!by_place || arrives)) {
        double back =
            by_place ? rebound(value, before, restitution, push, h) : -restitution * before;
        return c->info->impact == PERP_IMPACT_NEWTON ? rate - back : (double)NAN;
    }
    // An overlap is worked off over the whole step, of which this may be a part.         theory (P16)
    double within = value < 0.0 && c->whole > h && !pp_check_at_end(c) ? c->whole : h;
    double rho = rate + (by_place ? value / within : 0.0);
    // An overlap that friction locks stays: of what carries load the rate is 0, of what does not it may only open.
    //                                                                                  theory (P20)
    bool may_stay =
        c->info->stepper == PERP_STEPPER_STEWART_TRINKLE && value < 0.0 && rho < 0.0 && rate > rho;
    return may_stay && (p <= 0.0 || fabs(rate) < -rho) ? rate : rho;
}

// Rate of b relative to a along the normal at the start of the step [m/s]; NaN when it is not
// known.
static double normal_rate_before(const pp_recheck *c, const perp_contact *contact)
{
    if (!pp_check_each_step(c)) {
        return NAN;
    }
    perp_vec3 at = contact->point_W;
    const perp_shape pair[2] = {contact->a, contact->b};
    double rate[2];
    for (int k = 0; k < 2; k++) {
        perp_vec3 v = pp_point_velocity(&c->coming[c->model->shape[pair[k].i].body], at);
        rate[k] = pp_dot3(v, contact->normal_W);
    }
    return rate[1] - rate[0];
}

// What the forces of the step add to that rate [m/s].
static double normal_push(const pp_recheck *c, const perp_contact *contact)
{
    double push = 0.0;
    for (int k = 0; k < 2; k++) {
        int i = c->model->shape[k == 0 ? contact->a.i : contact->b.i].body;
        const pp_body *body = &c->model->body[i];
        double dv[PP_BODY_NV];
        pp_body_solve(body, &c->kin.mass[i], c->kin.loads.p_ext + body->at, dv);
        perp_twist change = pp_check_twist(body, dv);
        perp_vec3 arm = pp_sub(contact->point_W, c->found[i].p);
        perp_vec3 at_point = pp_add(change.v_W, pp_cross(change.w_W, arm));
        push += (k == 0 ? -1.0 : 1.0) * pp_dot3(contact->normal_W, at_point);
    }
    return push;
}

// The rate that complements the normal impulse [m/s]. NaN: the recording does not show it. Of
// Poisson's law it has the sum of two phases; how fast a contact that bounces came is known when
// every step is there.
static double normal_rate_beside(const pp_recheck *c, const perp_contact *contact)
{
    double g = c->model ? c->model->gravity_most : 0.0;
    double before = contact->restitution != 0.0 ? normal_rate_before(c, contact) : 0.0;
    bool known = contact->restitution != 0.0 && c->model && c->kin.mass;
    double push = known ? normal_push(c, contact) : 0.0;
    // What approaches slower than gravity moves it in two steps does not bounce.
    return pp_check_complementarity(c, contact->pn, contact->gap, contact->rate_n, before,
                                    contact->restitution, 2.0 * c->whole * g, push);
}

// Whether some contact of the step has a rebound of Poisson's law: it moves what other contacts had
// stopped.
static bool has_phases(pp_recheck *c)
{
    if (c->info->impact != PERP_IMPACT_POISSON) {
        return false;
    }
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        if (contact->restitution != 0.0 && isfinite(contact->gap) && isfinite(contact->rate_n) &&
            isnan(normal_rate_beside(c, contact))) {
            return true;
        }
    }
    return false;
}

// Of the two bodies of a contact; without a model both are the ground.
static pp_check_scale contact_scale(const pp_recheck *c, const perp_contact *contact)
{
    double impulse = fabs(contact->pn) + pp_length(contact->pf_W);
    int a = c->model ? c->model->shape[contact->a.i].body : 0;
    int b = c->model ? c->model->shape[contact->b.i].body : 0;
    return pp_check_scale_of(c, a, b, isfinite(impulse) ? impulse : 0.0);
}

// How far a contact that pushes is from what its scheme closes, as a speed over the step [m/s]: schemes of velocities act on
// what touches, or closes by the middle of the step. Stewart and Trinkle's has the gap in its law.   theory (K17)
static double beyond_rule(const pp_recheck *c, const perp_contact *contact)
{
    bool theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN;
    if (!c->model || !pp_check_each_step(c) || pp_check_acting(c, contact) != c->found ||
        (!theta && c->info->stepper != PERP_STEPPER_ANITESCU_POTRA)) {
        return 0.0;
    }
    double h = c->last, u = normal_rate_before(c, contact);
    double rest = 2.0 * fmax(c->whole, h) * c->model->gravity_most, touch = 1e-6 * h * rest;
    bool bounces = contact->restitution != 0.0 && u < -rest;
    if (theta) {  // what rests may be off by g h^2 / 8
        touch = fabs(u) <= 1e-3 * rest ? 0.0625 * h * rest : touch;
        return fmax(0.0, contact->gap + 0.5 * h * u - touch) / h;
    }
    return fmax(0.0, contact->gap + (bounces ? h * u : 0.0) - touch) / h;
}

// The speed by which friction corrects more than the drift of bodies that turn together [m/s].   theory (P17), (K17)
static double beyond_drift(const pp_recheck *c, const perp_contact *contact)
{
    double back = pp_length(contact->hold_W);
    if (!(back > 0.0) || !c->model || !pp_check_each_step(c) || pp_check_at_end(c)) {
        return 0.0;
    }
    const pp_frame *a = &c->coming[c->model->shape[contact->a.i].body],
                   *b = &c->coming[c->model->shape[contact->b.i].body];
    double both = pp_dot3(a->w, b->w), square = pp_dot3(a->w, a->w) + pp_dot3(b->w, b->w);
    double h = fmax(c->whole, c->last), most = 0.0;
    if (both > 0.0) {
        double turn = h * both / square * pp_length(pp_add(a->w, b->w));
        most = 0.5 * turn * turn / h * pp_length(pp_sub(b->p, a->p));
        most += turn * pp_length(pp_sub(b->v, a->v));
    }
    return fmax(0.0, back - (c->info->stepper == PERP_STEPPER_MOREAU_JEAN ? 8.0 : 2.0) * most);
}

// Signs and complementarity of normal impulses, friction against its law.
void pp_check_contacts(pp_recheck *c)
{
    bool phases = has_phases(c);
    c->phases = c->phases || (phases && c->info->stepper != PERP_STEPPER_EVENT);
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        const char *a = c->recording->shape[contact->a.i].name;
        const char *b = c->recording->shape[contact->b.i].name;
        double beyond = 0.0, short_of = 0.0;
        pp_check_scale s = contact_scale(c, contact);
        pp_check_record_worst(c, PERP_CHECK_PULL, fmax(0.0, -contact->pn), s.impulse, a, b);
        double rho = normal_rate_beside(c, contact);
        bool known = !isnan(rho) || !isfinite(contact->gap) || !isfinite(contact->rate_n);
        bool event = c->info->stepper == PERP_STEPPER_EVENT;  // check_event.c knows what to ask
        if (phases &&
            !event) {  // after both phases nothing approaches any more             theory (P9)
            rho = pp_check_complementarity(c, contact->pn, contact->gap, contact->rate_n, 0.0, 0.0,
                                           0.0, 0.0);
            pp_check_record_worst(c, PERP_CHECK_CLOSE, isnan(rho) ? rho : fmax(0.0, -rho), s.rate,
                                  a, b);
        } else if (known && !event) {
            double afar = beyond_rule(c, contact);
            pp_check_record_worst(c, PERP_CHECK_PUSH,
                                  fabs(contact->pn) * pp_check_worse(fabs(rho), afar), s.energy, a,
                                  b);
            pp_check_record_worst(c, PERP_CHECK_CLOSE, isnan(rho) ? rho : fmax(0.0, -rho), s.rate,
                                  a, b);
        }
        if (c->model || !c->info->spatial) {
            pp_check_friction(c, contact, s.rate, &beyond, &short_of);
            short_of =
                pp_check_worse(short_of, pp_length(contact->pf_W) * beyond_drift(c, contact));
            pp_check_record_worst(c, PERP_CHECK_CONE, beyond, s.impulse, a, b);
            short_of = isnan(short_of) ? short_of : fmax(0.0, short_of);
            pp_check_record_worst(c, PERP_CHECK_SLIP, phases || event ? 0.0 : short_of, s.energy, a,
                                  b);
        }
    }
}
