// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Energy that the order of a scheme gives to bodies on joints and springs, summed over the steps of a run. A step may create
// a little where it closes joints, follows arcs or bends springs, because a scheme takes it back elsewhere. What one step
// may do, a thousand must not add up: the sum is held to a part of the energy that the bodies have.      theory (K18)
//
//   x = sum over joints     p . (J (nu_l + nu)/2 + given), no more than p drift / h
//     + sum over bodies     T(end) - T(nu) - F . way + h F . (nu_l + nu)/2 + (theta - 1/2) h F . (v+ - v),   F: weight
//     + sum over springs    V+ - V + h F . (rate_l + rate)/2, with and without what F is behind
//
// Each line is what impulses and forces give to velocities, less what potentials lose: zero in the continuous motion. Drives,
// dampers, friction and impacts are in none of them, so that what they lose pays for nothing.
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

static const double PLACES = 1e-12;  // rounding of positions relative to their coordinates

// A body on a joint or spring is in the group of the lowest body of its tree.
static void join(const pp_scales *s, int body, int *of)
{
    int root = body;
    while (s->island[root] != root) {
        root = s->island[root];
    }
    of[body] = s->model->body[body].nv > 0 ? root : -1;
}

const int *pp_gains_groups(const perp_model *m, pp_arena *arena)
{
    pp_scales s;
    int *of = PP_ARRAY(arena, int, m->bodies);
    if (!of || pp_scales_start(&s, m, arena) < 0) {  // forces tie their bodies
        return NULL;
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        pp_scales_tie(&s, j->a, j->b);
        for (int k = 0; k < j->terms; k++) {
            pp_scales_tie(&s, j->b, m->joint[j->term[k]].a);
            pp_scales_tie(&s, j->b, m->joint[j->term[k]].b);
        }
        if (j->kind == PERP_JOINT_GEAR) {
            pp_scales_tie(&s, m->joint[j->joint_a].b, m->joint[j->joint_b].b);
            pp_scales_tie(&s, m->joint[j->joint_a].a, m->joint[j->joint_b].a);
            pp_scales_tie(&s, m->joint[j->joint_a].a, m->joint[j->joint_a].b);
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        of[i] = -1;
    }
    for (int i = 0; i < m->joints; i++) {
        join(&s, m->joint[i].a, of);
        join(&s, m->joint[i].b, of);
    }
    for (int i = 0; i < m->forces; i++) {
        bool spring =
            m->force[i].kind == PERP_FORCE_SPRING || m->force[i].kind == PERP_FORCE_TORSION_SPRING;
        if (spring) {
            join(&s, m->force[i].a, of);
            join(&s, m->force[i].b, of);
        }
    }
    return of;
}

size_t pp_gains_size(const perp_model *m)
{
    return 2 * (size_t)m->bodies + 3 * (size_t)m->forces;
}

bool pp_gains_open(pp_gains_step *out, const perp_model *m, const int *of, pp_arena *arena)
{
    double *all = PP_ZEROS(arena, double, 3 * (size_t)m->bodies + 3 * (size_t)m->forces);
    if (!all) {
        return false;
    }
    *out = (pp_gains_step){.model = m, .of = of, .made = all};
    out->present = out->made + m->bodies;
    out->change = out->present + m->bodies;
    out->spring = out->change + m->bodies;
    out->before = out->spring + m->forces;
    out->behind = out->before + m->forces;
    return true;
}

static double carry(double sum, double x)
{
    return sum + x > 0.0 || isnan(sum + x) ? sum + x : 0.0;
}

// Each spring, with its damper, pays for itself alone, as far as it was given something: implicit ones dissipate much. Of the
// sums with and without what its force is behind the smaller one counts: what is behind is a transient. It is taken with
// the length of the last part, so that parts of different lengths leave no sum of it.
static void add_to_springs(const pp_gains_step *step, double *spring, const double *left,
                           double *made)
{
    int forces = step->model->forces;
    for (int i = 0; i < forces; i++) {
        const pp_force *f = &step->model->force[i];
        int at = pp_gains_of_pair(step, f->a, f->b);
        if (at >= 0) {
            double *plain = &spring[i], *lagged = plain + forces, *behind = lagged + forces;
            double part = fabs(left[at]), last = left[at] < 0.0 ? step->before[i] : *behind;
            // a step that does not resolve the spring, and a closing, leave it as it is
            *behind = isnan(step->behind[i]) ? last : step->behind[i];
            *plain = carry(part * *plain, step->spring[i]);
            *lagged = carry(part * *lagged, step->spring[i] + *behind - last);
            made[at] += *plain < *lagged ? *plain : *lagged;
        }
    }
}

// What a group has lost since it had most takes its part of the sums along: of bodies that come to rest nothing is left.
bool pp_gains_add(pp_gains_step *step, double *sums, pp_gains_worst *worst, pp_arena *arena)
{
    int bodies = step->model->bodies;
    double *made = sums, *most = sums + bodies, *spring = most + bodies;
    double *left = PP_ZEROS(arena, double, bodies), *all = PP_ZEROS(arena, double, bodies);
    if (!left || !all) {
        return false;
    }
    for (int i = 0; i < bodies; i++) {
        if (step->of[i] == i) {
            double had = most[i], has = fmax(had + fmin(0.0, step->change[i]), step->present[i]);
            bool first = had == 0.0;
            left[i] = had > has ? has / had : 1.0;
            most[i] = has;
            all[i] = made[i] = carry(left[i] * made[i], step->made[i]);
            left[i] = first ? -left[i] : left[i];
        }
    }
    add_to_springs(step, spring, left, all);
    for (int i = 0; i < bodies; i++) {
        double limit = PP_GAINS_MOST * most[i];
        if (step->of[i] == i && !(all[i] <= worst->over * limit)) {  // also NaN
            *worst = (pp_gains_worst){i, all[i], limit, limit > 0.0 ? all[i] / limit : HUGE_VAL};
        }
    }
    return true;
}

int pp_gains_of_pair(const pp_gains_step *step, int a, int b)
{
    return step->of[b] >= 0 ? step->of[b] : step->of[a];
}

static double kinetic_energy(const pp_body *body, const pp_mat3 *R, const perp_twist *v)
{
    perp_vec3 w_B = pp_mul_t(R, v->w_W);
    return 0.5 * (body->mass * pp_dot3(v->v_W, v->v_W) + pp_dot3(w_B, pp_mul(&body->I_B, w_B)));
}

void pp_gains_add_body(pp_gains_step *step, int i, const pp_gains_way *way)
{
    const pp_body *body = &step->model->body[i];
    const pp_frame *from = way->from, *to = way->to;
    int at = step->of[i];
    if (at < 0) {
        return;
    }
    perp_vec3 F = pp_scale(body->mass * body->gravity_scale, step->model->gravity);
    perp_vec3 both = pp_add(way->before.v_W, way->after.v_W);
    const perp_twist ends[2] = {{from->v, from->w}, {to->v, to->w}};
    double first = kinetic_energy(body, &from->R, &ends[0]);
    double then = kinetic_energy(body, &to->R, &ends[1]);
    double fall = pp_dot3(F, pp_sub(to->p, from->p));
    double x = 0.5 * way->h * pp_dot3(F, both) - fall +
               (way->theta - 0.5) * way->h * pp_dot3(F, pp_sub(to->v, from->v));
    // in joint coordinates velocities turn with the joints where a step ends
    x += way->turns ? then - kinetic_energy(body, &from->R, &way->after) : 0.0;
    step->made[at] += x;
    // of rounding there is always as much: theory (K1)
    double place = fmax(pp_length(from->p), pp_length(to->p)) + body->reach;
    double rounding = way->h > 0.0 ? PLACES * place / way->h : 0.0;
    step->present[at] += fmax(first, then) + pp_length(F) * body->reach;
    step->present[at] += body->mass * rounding * rounding;
    step->change[at] += then - first - fall;
}

// Length or angle of a spring beyond that at rest [m, rad].
static double stretch_of(const pp_force *f, const pp_frame *body)
{
    if (f->kind != PERP_FORCE_SPRING) {
        return body[f->b].angle - body[f->a].angle - f->rest;
    }
    perp_vec3 d = pp_sub(pp_own_point(&body[f->b], f->r_B), pp_own_point(&body[f->a], f->r_A));
    return pp_length(d) - f->rest;
}

// Its rate with the velocities of its two bodies [m/s, rad/s].
static double spring_rate(const pp_force *f, const pp_frame *body, const perp_twist v[2])
{
    if (f->kind != PERP_FORCE_SPRING) {
        return v[1].w_W.z - v[0].w_W.z;
    }
    const pp_frame *a = &body[f->a], *b = &body[f->b];
    perp_vec3 ra = pp_mul(&a->R, f->r_A), rb = pp_mul(&b->R, f->r_B);
    perp_vec3 d = pp_sub(pp_add(b->p, rb), pp_add(a->p, ra));
    double length = pp_length(d);
    perp_vec3 u =
        pp_sub(pp_add(v[1].v_W, pp_cross(v[1].w_W, rb)), pp_add(v[0].v_W, pp_cross(v[0].w_W, ra)));
    return length > 0.0 ? pp_dot3(d, u) / length : 0.0;
}

void pp_gains_add_spring(pp_gains_step *step, int force, const pp_gains_spring *s)
{
    const pp_force *f = &step->model->force[force];
    int at = pp_gains_of_pair(step, f->a, f->b);
    if (at < 0) {
        return;
    }
    const pp_frame *acting = f->implicit && s->at_end ? s->to : s->from;
    const perp_twist ends[2] = {{s->to[f->a].v, s->to[f->a].w}, {s->to[f->b].v, s->to[f->b].w}};
    double h = s->h, V = pp_spring_energy(f, s->from), after = pp_spring_energy(f, s->to);
    double r = spring_rate(f, acting, s->before), r_end = spring_rate(f, acting, s->after);
    double K = f->stiffness, u = (1.0 - s->theta) * r + s->theta * r_end;
    double stretch = stretch_of(f, acting) - (acting == s->to ? h * u : 0.0);
    double pull = f->implicit ? -K * (stretch + s->theta * h * u) - f->damping * u
                              : -K * stretch - f->damping * r;
    bool kept = h > 0.0 && (f->implicit || s->kept);
    double behind = kept ? (s->theta - 0.5) * h * -K : (double)NAN;
    step->spring[force] = after - V + 0.5 * h * pull * (r + r_end);
    step->before[force] =
        kept ? behind * stretch_of(f, s->from) * spring_rate(f, s->from, s->before) : 0.0;
    step->behind[force] = behind * stretch_of(f, s->to) * spring_rate(f, s->to, ends);
    step->present[at] += fmax(V, after);
    step->change[at] += after - V;
}

void pp_gains_add_joint(pp_gains_step *step, int a, int b, double work, double most)
{
    int at = pp_gains_of_pair(step, a, b);
    if (at >= 0) {
        step->made[at] += isnan(work) ? work : fmax(-most, fmin(work, most));
    }
}

// ── From the evidence of a step ──────────────────────────────────────────────────────────────────

// Velocities of a body before or after the step; those of a body that is not free are 0, its part is in rates.
static perp_twist twist_of(const pp_body *body, const double *nu)
{
    double all[PP_BODY_NV] = {0.0};
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = nu[body->at + k];
    }
    return (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

// J (nu_l + nu)/2 of a row.
static double mean_rate(const pp_step_evidence *e, const pp_row *row)
{
    double sum = 0.0;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &e->model->body[row->body[k]];
        for (int i = 0; i < body->nv; i++) {
            sum += 0.5 * row->J[k][i] * (e->nu_old[body->at + i] + e->nu[body->at + i]);
        }
    }
    return sum;
}

static double drift_of(const pp_step_evidence *e, int joint)
{
    const pp_joint *j = &e->model->joint[joint];
    double drift = pp_drift_joint(e->model, e->kin->poses.body, e->kin->h, j);
    return pp_own_at_end(e) ? fmax(drift, pp_drift_joint(e->model, e->end->body, e->kin->h, j))
                            : drift;
}

// Equations between two bodies, whose impulses are summed as a wrench on each. Where one of them has a given motion, what it
// loses by changing its velocity within a step is not the scheme's: no more than the drift counts.
static void add_pairs(pp_gains_step *step, const pp_step_evidence *e)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        const pp_own_joint *of = &e->joints->of[i];
        bool driven = false;
        double work = 0.0, most = 0.0, drift = of->count > 0 ? drift_of(e, i) : 0.0;
        for (int k = of->first; k < of->first + of->count; k++) {
            const pp_own_equation *eq = &e->joints->equation[k];
            work += eq->p * eq->given;
            driven = driven || eq->given != 0.0;
            most += fabs(eq->p) * (eq->length ? drift : drift / of->arm) / e->kin->h;
        }
        const int body[2] = {j->a, j->b};
        for (int k = 0; k < 2 && of->count > 0; k++) {
            const pp_body *b = &m->body[body[k]];
            perp_twist v = twist_of(b, e->nu_old), after = twist_of(b, e->nu);
            perp_vec3 mean = pp_scale(0.5, pp_add(v.v_W, after.v_W));
            perp_vec3 turn = pp_scale(0.5, pp_add(v.w_W, after.w_W));
            perp_vec3 at = pp_add(mean, pp_cross(turn, k == 0 ? of->arm_a : of->arm_b));
            work += (k == 0 ? -1.0 : 1.0) * pp_dot3(of->f, at);
            work += pp_dot3(k == 0 ? of->on_a : of->on_b, turn);
        }
        pp_gains_add_joint(step, j->a, j->b, work, driven ? most : HUGE_VAL);
    }
}

// Equations of gears and couplings, and limits, of which ropes turn with what they hold.
static void add_rows(pp_gains_step *step, const pp_step_evidence *e)
{
    const perp_model *m = e->model;
    double h = e->kin->h;
    for (int i = 0; i < e->rows->nb; i++) {
        const pp_row *row = &e->rows->b[i];
        if (row->joint < 0 || row->spring || row->drives || row->count == 0) {
            continue;
        }
        double drift = drift_of(e, row->joint);
        drift /= pp_scale_is_length(m, row) ? 1.0 : pp_scale_arm(m, &m->joint[row->joint]);
        double work = e->pb[i] * (mean_rate(e, row) + row->rate - row->shift);
        pp_gains_add_joint(step, row->body[0], row->body[0], work,
                           row->rate != 0.0 ? fabs(e->pb[i]) * drift / h : HUGE_VAL);
    }
    for (int i = e->rows->nc; i < e->rows->nn; i++) {
        const pp_row *row = &e->rows->n[i];
        if (row->joint < 0 || row->bounces || row->count == 0 || !(e->pn[i] > 0.0)) {
            continue;
        }
        double drift = pp_drift_coordinate(m, &e->kin->poses, h, row->joint);
        double work = e->pn[i] * (mean_rate(e, row) + row->rate);
        pp_gains_add_joint(step, row->body[0], row->body[0], work, e->pn[i] * drift / h);
    }
}

// A body that is not free moves the end of a spring, and works on it.
static perp_twist velocity_of(const pp_step_evidence *e, int i, const double *nu)
{
    const pp_body *body = &e->model->body[i];
    const pp_frame *f = &e->kin->poses.body[i];
    return body->nv == 0 ? (perp_twist){f->v, f->w} : twist_of(body, nu);
}

static void add_springs(pp_gains_step *step, const pp_step_evidence *e)
{
    const pp_frame *from = e->kin->poses.body, *to = e->end->body;
    double h = e->kin->h, whole = fmax(e->whole, h);
    for (int i = 0; i < e->model->forces; i++) {
        const pp_force *f = &e->model->force[i];
        if (f->kind != PERP_FORCE_SPRING && f->kind != PERP_FORCE_TORSION_SPRING) {
            continue;
        }
        const pp_gains_spring s = {
            .from = from,
            .to = to,
            .before = {velocity_of(e, f->a, e->nu_old), velocity_of(e, f->b, e->nu_old)},
            .after = {velocity_of(e, f->a, e->nu), velocity_of(e, f->b, e->nu)},
            .h = h,
            .theta = e->theta,
            .kept = pp_spring_is_kept(e->model, from, to, whole, e->theta, f),
            .at_end = pp_own_at_end(e)};
        pp_gains_add_spring(step, i, &s);
    }
}

// Springs and rotors of joints give what they take, which is part of the energy that is there.
static void add_places(pp_gains_step *step, const pp_step_evidence *e)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        const pp_own_place *from = &e->joints->start[i], *to = &e->joints->end[i];
        int at = pp_gains_of_pair(step, j->a, j->b);
        if (at < 0 || !(j->stiffness > 0.0 || j->armature > 0.0)) {
            continue;
        }
        double x = from->value - j->rest, y = to->value - j->rest;
        double before = 0.5 * (j->stiffness * x * x + j->armature * from->v_pre * from->v_pre);
        double after = 0.5 * (j->stiffness * y * y + j->armature * to->v_pre * to->v_pre);
        step->present[at] += fmax(before, after);
        step->change[at] += after - before;
    }
}

void pp_gains_of_step(pp_gains_step *step, const pp_step_evidence *e)
{
    for (int i = 0; i < e->model->bodies; i++) {
        const pp_body *body = &e->model->body[i];
        const pp_gains_way way = {.from = &e->kin->poses.body[i],
                                  .to = &e->end->body[i],
                                  .before = twist_of(body, e->nu_old),
                                  .after = twist_of(body, e->nu),
                                  .h = e->kin->h,
                                  .theta = e->theta,
                                  .turns = e->stepper != PERP_STEPPER_MOREAU_JEAN};
        pp_gains_add_body(step, i, &way);
    }
    add_places(step, e);
    add_pairs(step, e);
    add_rows(step, e);
    add_springs(step, e);
}

bool pp_gains_of_closing(const int *groups, const pp_closing_evidence *e, double *sums,
                         pp_gains_worst *worst, pp_arena *arena)
{
    pp_gains_step step;
    if (!pp_gains_open(&step, e->model, groups, arena)) {
        return false;
    }
    // velocities do not change, and nothing takes time
    for (int i = 0; i < e->model->bodies; i++) {
        const pp_frame *from = &e->from->body[i], *to = &e->to->body[i];
        const pp_gains_way way = {.from = from,
                                  .to = to,
                                  .before = {from->v, from->w},
                                  .after = {to->v, to->w},
                                  .theta = 1.0,
                                  .turns = true};
        pp_gains_add_body(&step, i, &way);
    }
    for (int i = 0; i < e->model->forces; i++) {
        const pp_force *f = &e->model->force[i];
        const pp_gains_spring s = {.from = e->from->body, .to = e->to->body, .theta = 1.0};
        if (f->kind == PERP_FORCE_SPRING || f->kind == PERP_FORCE_TORSION_SPRING) {
            pp_gains_add_spring(&step, i, &s);
        }
    }
    return pp_gains_add(&step, sums, worst, arena);
}
