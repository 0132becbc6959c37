// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impulses of joints as wrenches on bodies, and what drives, dry friction, limits and gears may do.
//
// A coordinate c(q) has unit wrenches: an impulse p along it puts p times them on the bodies, and its
// rate is the sum over the bodies of wrench . velocity.
//
//   revolute, angle                a couple of 1 on b, of -1 on a
//   distance                       1 along the line of the anchors, on each at its own
//   prismatic, point on line       1 along the axis, on both at b's anchor
//   gear                           ratio times those of joint_a, plus those of joint_b
#include "record/check.h"

#include <math.h>

enum { SIDES = 4 };

typedef struct unit {
    int count, body[SIDES];
    pp_wrench2 on[SIDES];
} unit;

static pp_wrench2 *side(unit *u, int body)
{
    int k = 0;
    while (k < u->count && u->body[k] != body) {
        k++;
    }
    if (k == u->count) {
        u->body[u->count++] = body;
        u->on[k] = (pp_wrench2){0.0, 0.0, 0.0};
    }
    return &u->on[k];
}

static void add_coordinate(const pp_recheck *c, int index, double scale, unit *u)
{
    const pp_joint *joint = &c->model->joint[index];
    const pp_frame *a = &c->before[joint->a], *b = &c->before[joint->b];
    pp_vec2 on_a = pp_flat(pp_point(a, joint->r_A)), on_b = pp_flat(pp_point(b, joint->r_B)), along;
    switch (joint->kind) {
    case PERP_REVOLUTE:
    case PERP_ANGLE:
        side(u, joint->b)->turn += scale;
        side(u, joint->a)->turn -= scale;
        return;
    case PERP_DISTANCE: {
        double length = hypot(on_b.x - on_a.x, on_b.y - on_a.y);
        along = length > 0.0 ? (pp_vec2){(on_b.x - on_a.x) / length, (on_b.y - on_a.y) / length}
                             : (pp_vec2){1.0, 0.0};
        break;
    }
    case PERP_PRISMATIC:
    case PERP_POINT_ON_LINE:
        along = pp_flat(pp_rotate(a, joint->axis_A));
        on_a = on_b;
        break;
    default:
        return;
    }
    pp_check_add_at(side(u, joint->b), b, scale, along, on_b);
    pp_check_add_at(side(u, joint->a), a, -scale, along, on_a);
}

static unit unit_of(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    unit u = {0};
    if (joint->kind == PERP_GEAR) {
        add_coordinate(c, joint->joint_a, joint->ratio, &u);
        add_coordinate(c, joint->joint_b, 1.0, &u);
    } else {
        add_coordinate(c, index, 1.0, &u);
    }
    return u;
}

static double dot(pp_wrench2 a, pp_wrench2 b)
{
    return a.x * b.x + a.y * b.y + a.turn * b.turn;
}

// ── Adding up ────────────────────────────────────────────────────────────────────────────────────

// The velocity that an impulse works with: the mean of those without and with all impulses.
static pp_wrench2 middle(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    pp_wrench2 after = pp_check_velocity(c, body);
    double v[PP_BODY_NV] = {after.x, after.y, after.turn}, free[PP_BODY_NV];
    pp_body_solve(of, &c->kin.mass[body], c->kin.p_ext + of->at, free);
    for (int k = 0; k < of->nv && k < PP_BODY_NV; k++) {
        v[k] = 0.5 * (c->start[of->at + k] + free[k] + v[k]);
    }
    return (pp_wrench2){v[0], v[1], v[2]};
}

static double rate_of(const unit *u, const pp_recheck *c,
                      pp_wrench2 (*velocity)(const pp_recheck *, int))
{
    double sum = 0.0;
    for (int k = 0; k < u->count; k++) {
        sum += dot(u->on[k], velocity(c, u->body[k]));
    }
    return sum;
}

// The impulse along a gear's coordinate, from what it does to the body that it is recorded at.
static double gear_impulse(const pp_recheck *c, int index, unit *u)
{
    const perp_wrench *w = &c->now->joint[index].impulse_b;
    const pp_wrench2 *on_b = side(u, c->model->joint[index].b);
    double square = dot(*on_b, *on_b);
    return square > 0.0 ? dot(*on_b, (pp_wrench2){w->f.x, w->f.y, w->tau.z}) / square : 0.0;
}

static double add_gear(pp_recheck *c, int index)
{
    unit u = unit_of(c, index);
    double p = gear_impulse(c, index, &u);
    for (int k = 0; k < u.count; k++) {
        pp_wrench2 *w = &c->impulse[u.body[k]];
        w->x += p * u.on[k].x;
        w->y += p * u.on[k].y;
        w->turn += p * u.on[k].turn;
    }
    pp_kinematics before = {.t = c->t0, .body = c->before};
    return -fabs(p) * pp_joint_error(c->model, &before, index) / c->h;
}

// How far the coordinate is within the limit that is nearer, at the start of the step; sign +1: lower.
static double within(const pp_recheck *c, int index, double *sign)
{
    const pp_joint *joint = &c->model->joint[index];
    pp_kinematics at = {.t = c->t0, .h = c->h, .body = c->before};
    pp_row row;
    pp_joint_coordinate(c->model, &at, index, &row);
    double above = row.value - joint->lower, below = joint->upper - row.value;
    *sign = above <= below ? 1.0 : -1.0;
    return fmin(above, below);
}

double pp_check_add_joint(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    if (joint->kind == PERP_GEAR) {
        return add_gear(c, index);
    }
    const perp_wrench *w = &state->impulse_b;
    const pp_frame *fa = &c->before[joint->a], *fb = &c->before[joint->b];
    pp_vec2 p = {w->f.x, w->f.y}, on_b = pp_flat(pp_point(fb, joint->r_B)),
            on_a = pp_flat(pp_point(fa, joint->r_A));
    double couple = w->tau.z - (on_b.x - fb->p.x) * p.y + (on_b.y - fb->p.y) * p.x;
    bool turning = joint->kind == PERP_PRISMATIC || joint->kind == PERP_POINT_ON_LINE;
    // The force acts on a at its own anchor; where it turns with a, at b's.
    pp_check_add_at(&c->impulse[joint->b], fb, 1.0, p, on_b);
    pp_check_add_at(&c->impulse[joint->a], fa, -1.0, p, turning ? on_b : on_a);
    c->impulse[joint->b].turn += couple;
    c->impulse[joint->a].turn -= couple;
    pp_kinematics before = {.t = c->t0, .body = c->before};
    double open = pp_joint_error(c->model, &before, index);
    double given = -(fabs(p.x) + fabs(p.y) + fabs(couple)) * open / c->h;
    if (joint->target || joint->rate) {
        unit u = unit_of(c, index);
        given -= state->drive * rate_of(&u, c, middle);
    }
    if (joint->lower <= joint->upper && state->limit != 0.0) {
        double sign;
        given += state->limit * fmin(0.0, within(c, index, &sign)) / c->h;
    }
    return given;
}

// ── Drives and limits ────────────────────────────────────────────────────────────────────────────

// What the recorded wrench is along the coordinate; NaN where the joint's own equations act along it too.
static double along_coordinate(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_wrench *w = &c->now->joint[index].impulse_b;
    const pp_frame *a = &c->before[joint->a], *b = &c->before[joint->b];
    pp_vec2 on_a = pp_flat(pp_point(a, joint->r_A)), on_b = pp_flat(pp_point(b, joint->r_B)), u;
    switch (joint->kind) {
    case PERP_REVOLUTE:
    case PERP_ANGLE:
        return w->tau.z - (on_b.x - b->p.x) * w->f.y + (on_b.y - b->p.y) * w->f.x;
    case PERP_PRISMATIC:
    case PERP_POINT_ON_LINE:
        u = pp_flat(pp_rotate(a, joint->axis_A));
        return u.x * w->f.x + u.y * w->f.y;
    case PERP_DISTANCE: {
        double length = hypot(on_b.x - on_a.x, on_b.y - on_a.y);
        if (!joint->target || length == 0.0) {
            return NAN;
        }
        return ((on_b.x - on_a.x) * w->f.x + (on_b.y - on_a.y) * w->f.y) / length;
    }
    default:
        return NAN;
    }
}

static void see_drive(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    double most = joint->friction + (joint->rate ? joint->rate_effort : 0.0);
    most = joint->target ? PP_INF : c->h * most;
    pp_check_see(c, PERP_CHECK_DRIVE, fmax(0.0, fabs(state->drive) - most), joint->name, "");
    bool moves = c->model->body[joint->b].nv > 0;  // else nothing is recorded at it
    double along = along_coordinate(c, index) - state->drive;
    double limit = joint->lower <= joint->upper ? state->limit : 0.0;
    if (moves && (!isnan(along) || isnan(state->drive))) {
        double left = fmin(fabs(along - limit), fabs(along + limit));
        pp_check_see(c, PERP_CHECK_DRIVE, left, joint->name, "");
    }
}

static void see_limit(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    double p = c->now->joint[index].limit, sign;
    if (!(joint->lower <= joint->upper)) {
        pp_check_see(c, PERP_CHECK_DRIVE, fabs(p), joint->name, "");
        return;
    }
    unit u = unit_of(c, index);
    double value = within(c, index, &sign);
    double rate = sign * rate_of(&u, c, pp_check_velocity);
    pp_check_see(c, PERP_CHECK_PULL, fmax(0.0, -p), joint->name, "");
    if (joint->limit_restitution == 0.0) {
        double rho = pp_check_beside(c, value, rate, 0.0, 0.0, 0.0);
        pp_check_see(c, PERP_CHECK_PUSH, fabs(p * rho), joint->name, "");
    }
}

// A gear has no drive and no limit, and what it does to its body b is along its coordinate.
static void see_gear(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    const perp_wrench *w = &state->impulse_b;
    unit u = unit_of(c, index);
    double p = gear_impulse(c, index, &u);
    const pp_wrench2 *on_b = side(&u, joint->b);
    double left = fabs(state->drive) + fabs(state->limit);
    if (c->model->body[joint->b].nv > 0) {
        left += fabs(w->f.x - p * on_b->x) + fabs(w->f.y - p * on_b->y) +
                fabs(w->tau.z - p * on_b->turn);
    }
    pp_check_see(c, PERP_CHECK_DRIVE, left, joint->name, "");
}

void pp_check_joints(pp_recheck *c)
{
    for (int i = 0; i < c->model->joints; i++) {
        perp_joint_kind kind = c->model->joint[i].kind;
        if (kind == PERP_GEAR) {
            see_gear(c, i);
        } else if (kind == PERP_WELD) {
            const perp_joint_state *state = &c->now->joint[i];
            double left = fabs(state->drive) + fabs(state->limit);
            pp_check_see(c, PERP_CHECK_DRIVE, left, c->model->joint[i].name, "");
        } else {
            see_drive(c, i);
            see_limit(c, i);
        }
    }
}
