// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of joints, drives, limits and springs of a step, with the terms that its scheme adds,
// written a second time.
//
// Of the rows that the problem had, only their order is used, because the impulses follow it. For
// each joint: the equations of (P4) or (S5), the target, the rate, actuators, the armature, the spring; drives of limited
// effort, then dry friction; the lower limit, then the upper one. Implicit springs and drag come
// last.                                                                               theory (K12)
#include "certify/writer.h"

#include <math.h>
#include <string.h>

// A row in the form that all rows have, with the sums that judges ask for.
typedef struct summed_row {
    pp_row row;
    pp_own_sums sums;
} summed_row;

// Copies a row, of its blocks those of its bodies.
static void copy_row(pp_row *to, const pp_row *from)
{
    memcpy(to, from, offsetof(pp_row, J));
    memcpy(to->J, from->J, (size_t)from->count * sizeof *from->J);
}

// Places for rows along a coordinate, of an actuator or of none (-1), among the equations, from which those of joints
// between two bodies are left out; with the impulse of the problem. NULL: the problem has another row there.
static pp_row *next_equation(pp_row_writer *w, const summed_row *from, int actuator)
{
    const pp_rows *given = w->e->rows;
    const int of[3] = {from->row.joint, from->row.force, actuator};
    if (!pp_row_comes_next(w, given->b, given->nb, w->b, of)) {
        return NULL;
    }
    pp_row *to = &w->own->b[w->wide];
    copy_row(to, &from->row);
    to->actuator = actuator;
    w->joints->b[w->wide] = from->sums;
    w->pb[w->wide++] = w->e->pb[w->b++];
    return to;
}

// The same among the rows with bounds, and among the limits.
static pp_row *next_boxed(pp_row_writer *w, const summed_row *from, int actuator)
{
    const pp_rows *given = w->e->rows;
    const int of[3] = {from->row.joint, from->row.force, actuator};
    if (!pp_row_comes_next(w, given->m, given->nm, w->boxed, of)) {
        return NULL;
    }
    pp_row *to = &w->own->m[w->boxed];
    copy_row(to, &from->row);
    to->actuator = actuator;
    w->joints->m[w->boxed++] = from->sums;
    return to;
}

static pp_row *next_limit(pp_row_writer *w, const summed_row *from)
{
    const pp_rows *given = w->e->rows;
    const int of[3] = {from->row.joint, from->row.force, -1};
    if (!pp_row_comes_next(w, given->n, given->nn, w->n, of)) {
        return NULL;
    }
    pp_row *to = &w->own->n[w->n];
    copy_row(to, &from->row);
    w->joints->limit[w->n++ - given->nc] = from->sums;
    return to;
}

static pp_own_sums sums_of(const pp_row_writer *w, const pp_row *row)
{
    return (pp_own_sums){.after = pp_judge_rate(w->m, row, w->after) - row->rate,
                         .square = pp_judge_square(w->e, row),
                         .lever = pp_scale_lever(w->m, row)};
}

// Puts a row that is complete.
static void put_row(pp_row_writer *w, const pp_row *row)
{
    summed_row from;
    copy_row(&from.row, row);
    from.sums = sums_of(w, row);
    next_equation(w, &from, row->actuator);
}

static double expression_value(const pp_expr *expr, double t)
{
    return pp_expr_value(expr, &t);
}

static double expression_slope(const pp_expr *expr, double t)
{
    const double one = 1.0;
    double rate = 0.0;
    pp_expr_rate(expr, &t, &one, &rate);
    return rate;
}

// J v + rate of a row for given velocities of bodies.
static double row_rate(const pp_row_writer *w, const pp_row *row, const perp_twist *v)
{
    return pp_judge_rate(w->m, row, v);
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

static pp_row_acting acting_row(const pp_row_writer *w, const pp_row_velocities *v,
                                const pp_row *row)
{
    return (pp_row_acting){row->value, row_rate(w, row, v->after), row_rate(w, row, v->way)};
}

static void put_equation(pp_row_writer *w, const pp_row_velocities *v, pp_row *row,
                         const pp_row_instant *at)
{
    pp_row_acting acting = acting_row(w, v, row);
    row->middle = w->e->stepper == PERP_STEPPER_MOREAU_JEAN;
    row->bias = pp_equation_bias(w, &acting, at, pp_given_bias(w));
    row->value = at->value;
    put_row(w, row);
}

// Equations of a joint where they act, and their values and rates at both ends. Returns how many.
static int equations_of(const pp_row_writer *w, const pp_row_velocities *v, int joint,
                        pp_row at[PP_JOINT_EQUATIONS], pp_row_instant when[PP_JOINT_EQUATIONS])
{
    pp_row first[PP_JOINT_EQUATIONS], last[PP_JOINT_EQUATIONS];
    bool moves = w->acting != w->start;
    int count = pp_own_equations(w->m, &w->acting_at, joint, at);
    if (moves) {
        pp_own_equations(w->m, &w->start_at, joint, first);
        pp_own_equations(w->m, &w->end_at, joint, last);
    }
    for (int k = 0; k < count; k++) {
        const pp_row *from = moves ? &first[k] : &at[k];
        when[k] = (pp_row_instant){from->value, from->v_pre,
                                   moves ? row_rate(w, &last[k], v->after) : 0.0};
    }
    return count;
}

// The rate of a coordinate that a drive works from: that of the start, also where its row is of the end. The theta method
// has it with J of the middle, where its drives work along the mean of both rates.
static double rate_before(const pp_row_writer *w, const pp_row *at, const pp_row *first)
{
    return pp_own_at_end(w->e) ? first->v_pre : at->v_pre;
}

// The target of a coordinate as an equation, x - target(t) = 0. row: the coordinate where it acts,
// to which the rate of the target is added; first: the coordinate at the start.
static pp_row_instant target_of(const pp_row_writer *w, const pp_row_velocities *v, int joint,
                                const pp_row *first, pp_row *row)
{
    const pp_expr *target = w->m->joint[joint].target;
    const pp_kinematics *kin = w->e->kin;
    pp_row_instant when = {first->value - expression_value(target, kin->poses.t),
                           first->v_pre - expression_slope(target, kin->poses.t), 0.0};
    if (w->acting != w->start) {
        pp_row last;
        pp_own_coordinate(w->m, &w->end_at, joint, &last);
        when.end = row_rate(w, &last, v->after) - expression_slope(target, kin->poses.t + kin->h);
    }
    if (pp_own_at_end(w->e)) {
        row->value -= expression_value(target, w->t);
    }
    bool stabilised = w->m->joint[joint].epsilon > 0.0;
    double rate = expression_slope(target, stabilised ? kin->poses.t + kin->h : w->t);
    row->rate -= rate;
    row->v_pre = rate_before(w, row, first) - rate;
    row->drives = true;
    return when;
}

// Equations of gears and couplings.
static void put_coupled_equations(pp_row_writer *w, const pp_row_velocities *v, int joint)
{
    pp_row at[PP_JOINT_EQUATIONS];
    pp_row_instant when[PP_JOINT_EQUATIONS];
    int count = equations_of(w, v, joint, at, when);
    for (int k = 0; k < count; k++) {
        put_equation(w, v, &at[k], &when[k]);
    }
}

// ── Stabilised targets and rates ──

// Bodies moved for a time s with the velocities that they have; those that are not free have the mean acceleration of
// the step.
static void move_frames(const pp_row_writer *w, double s, pp_frame *moved)
{
    double h = w->e->kin->h;
    for (int i = 0; i < w->m->bodies; i++) {
        pp_frame f = w->start[i];
        const pp_frame *end = &w->e->end->body[i];
        double spin = pp_length(f.w), c = 1.0 - pp_cos(s * spin), sn = pp_sin(s * spin);
        perp_vec3 u = spin > 0.0 ? pp_scale(1.0 / spin, f.w) : pp_vec(0.0, 0.0, 0.0);
        // columns of R turned about u: e + sin u x e + (1 - cos) u x (u x e)
        for (int k = 0; k < 3; k++) {
            perp_vec3 e = pp_vec(f.R.m[k], f.R.m[3 + k], f.R.m[6 + k]), ue = pp_cross(u, e);
            e = pp_along(pp_along(e, sn, ue), c, pp_cross(u, ue));
            f.R.m[k] = e.x;
            f.R.m[3 + k] = e.y;
            f.R.m[6 + k] = e.z;
        }
        f.p = pp_along(f.p, s, f.v);
        f.angle += s * f.w.z;
        if (w->m->body[i].nv == 0) {
            f.v = pp_along(f.v, s / h, pp_sub(end->v, f.v));
            f.w = pp_along(f.w, s / h, pp_sub(end->w, f.w));
        }
        moved[i] = f;
    }
}

// Second derivative of a coordinate where the step starts, by differences of fourth order of its rate.
static double drift_of(pp_row_writer *w, int joint)
{
    static const double weight[4] = {1.0, -8.0, 8.0, -1.0}, place[4] = {-2.0, -1.0, 1.0, 2.0};
    double fastest = 1.0, sum = 0.0;
    pp_frame *moved = PP_ARRAY(w->arena, pp_frame, w->m->bodies);
    if (!moved) {
        w->memory = false;
        return 0.0;
    }
    for (int i = 0; i < w->m->bodies; i++) {
        fastest = fmax(fastest, fmax(pp_length(w->start[i].w), pp_length(w->start[i].v)));
    }
    double s = 1e-3 / fastest;
    for (int k = 0; k < 4; k++) {
        pp_poses at = w->start_at;
        pp_row row;
        move_frames(w, place[k] * s, moved);
        at.t += place[k] * s;
        at.body = moved;
        pp_own_coordinate(w->m, &at, joint, &row);
        sum += weight[k] * row.v_pre;
    }
    return sum / (12.0 * s);
}

// What a stabilised constraint asks for where the row acts: `aim` at the end of the step, less what the coordinate gains
// until then.
static void stabilise_row(pp_row_writer *w, int joint, double aim, pp_row *row)
{
    double ahead = w->e->kin->poses.t + w->e->kin->h - w->t;
    row->bias = ahead * drift_of(w, joint) - aim;
    row->stabilised = true;
}

// The rate of a stabilised target where the step ends: v of (v - before)/h + 2 v/eps + (phi + h v)/eps^2 = 0.
//                                                                                      theory (A10)
static double stabilised_target_rate(double h, double eps, const pp_row_instant *at)
{
    return (at->before / h - at->value / (eps * eps)) / (1.0 / h + 2.0 / eps + h / (eps * eps));
}

static void put_target(pp_row_writer *w, const pp_row_velocities *v, int joint, pp_row row,
                       const pp_row *first)
{
    pp_row_instant when = target_of(w, v, joint, first, &row);
    double eps = w->m->joint[joint].epsilon;
    if (eps > 0.0) {
        row.value = when.value;
        stabilise_row(w, joint, stabilised_target_rate(w->e->kin->h, eps, &when), &row);
        put_row(w, &row);
    } else {
        put_equation(w, v, &row, &when);
    }
}

// A drive asks for a rate, x' - rate(t) = 0, and has no error of position. With limited effort [N,
// N m] it is a row with bounds on its impulse.
static pp_row rate_of(pp_row_writer *w, int joint, const pp_row *first, pp_row row)
{
    const pp_joint *j = &w->m->joint[joint];
    const pp_drive *drive = w->e->kin->poses.drive;
    const double *input = drive ? drive->input : NULL;
    bool stabilised = !isfinite(j->rate_effort) && j->epsilon > 0.0;
    double h = w->e->kin->h, start = w->e->kin->poses.t, t = stabilised ? start + h : w->t;
    double rate = pp_expr_value_in(j->rate, &t, input);
    row.value = 0.0;
    row.rate -= rate;
    row.v_pre = rate_before(w, &row, first) - rate;
    row.drives = true;
    if (isfinite(j->rate_effort)) {
        row.upper = h * j->rate_effort;
        row.lower = -row.upper;
    }
    if (stabilised) {  // v of (v - before)/h + v/eps = 0                                theory (A10)
        double before = first->v_pre - pp_expr_value_in(j->rate, &start, input);
        stabilise_row(w, joint, before * j->epsilon / (j->epsilon + h), &row);
    }
    return row;
}

static void put_rate(pp_row_writer *w, int joint, const pp_row *first, const summed_row *at)
{
    summed_row from = {.row = rate_of(w, joint, first, at->row), .sums = at->sums};
    if (isfinite(w->m->joint[joint].rate_effort)) {
        next_boxed(w, &from, -1);
    } else {
        next_equation(w, &from, -1);
    }
}

// Dry friction of a joint: rate 0 within bounds on the impulse.
static void put_friction(pp_row_writer *w, int joint, const pp_row *first, const summed_row *at)
{
    pp_row *row = next_boxed(w, at, -1);
    if (row) {
        row->value = 0.0;
        row->v_pre = rate_before(w, &at->row, first);
        row->drives = true;
        row->upper = w->e->kin->h * w->m->joint[joint].friction;
        row->lower = -row->upper;
    }
}

// Implicit spring K and damper C as a compliant row. It follows from                   theory (P5)
//   p = -h (K (x + theta h u) + C u),   u = (1 - theta) x'_l + theta x',
// solved for x'. Without theta, or without stiffness and damping, there is no row.
static double slope_of(const pp_step_evidence *e, double K, double C)  // -dp/du
{
    return e->kin->h * (e->theta * e->kin->h * K + C);
}

static bool gives_way(const pp_step_evidence *e, double K, double C)
{
    return slope_of(e, K, C) > 0.0 && e->theta > 0.0;
}

static void soften(const pp_step_evidence *e, double K, double C, pp_row *row)
{
    double by = slope_of(e, K, C);
    row->gamma = 1.0 / (e->theta * by);
    row->bias = row->gamma * (e->kin->h * K * row->value + by * (1.0 - e->theta) * row->v_pre);
    row->spring = true;
}

// Control of an actuator: its mean over the step, in which inputs are held and a filter of time constant T lets
// e^(-s/T) of the difference at the start remain.                                      theory (A2)
static double control_of(const pp_step_evidence *e, int actuator)
{
    const pp_actuator *a = &e->model->actuator[actuator];
    const pp_drive *drive = e->kin->poses.drive;
    double c = pp_expr_value_in(a->control, &drive->t, drive->input);
    if (!(a->time_constant > 0.0)) {
        return c;
    }
    double s = fmax(e->whole, e->kin->h) / a->time_constant;
    return c - (drive->filter[actuator] - c) * pp_expm1(-s) / s;
}

// Actuators of a coordinate: effort gear (gain c + bias_0) - K x - C x' with x and x' of the end of the step, as a
// compliant row; limited effort bounds its impulse. seen: the coordinate such that x = seen + h x' there.  theory (A1)
static void put_actuators(pp_row_writer *w, int joint, const summed_row *at, const pp_row *seen,
                          const pp_row *first)
{
    const pp_step_evidence *e = w->e;
    int head = w->m->joint[joint].first_actuator - 1;
    for (int i = head; i >= 0; i = w->m->actuator[i].next - 1) {
        const pp_actuator *a = &w->m->actuator[i];
        double g = a->gear, h = e->kin->h, K = -g * g * a->bias[1], C = -g * g * a->bias[2];
        double effort = g * (a->gain * control_of(e, i) + a->bias[0]);
        double end[2] = {h * g * a->lower, h * g * a->upper};  // a negative gear exchanges them
        double lower = fmin(end[0], end[1]), upper = fmax(end[0], end[1]);
        // Gains of the wrong sign, or none, act with their effort at the start.
        bool soft = K >= 0.0 && C >= 0.0 && gives_way(e, K, C);
        if (!soft) {
            double p = h * (effort - K * first->value - C * first->v_pre);
            lower = upper = fmin(fmax(p, lower), upper);
        }
        pp_row *row = isfinite(lower) ? next_boxed(w, at, i) : next_equation(w, at, i);
        if (!row) {
            continue;
        }
        row->value = seen->value;
        row->v_pre = first->v_pre;
        row->drives = true;
        row->lower = lower;
        row->upper = upper;
        if (soft) {
            soften(e, K, C, row);
            row->bias -= row->gamma * h * effort;
        }
    }
}

// How a given motion changes the velocity of a point of a body over the step, per unit of time; 0 of a free body.
static perp_vec3 given_change(const pp_row_writer *w, int body, perp_vec3 r, bool turn)
{
    const pp_body *b = &w->m->body[body];
    double h = w->e->kin->h;
    if (b->nv > 0) {
        return pp_vec(0.0, 0.0, 0.0);
    }
    const pp_frame *from = &w->start[body], *to = &w->e->end->body[body];
    perp_vec3 w_dot = pp_scale(1.0 / h, pp_sub(to->w, from->w));
    perp_vec3 v_dot = pp_scale(1.0 / h, pp_sub(to->v, from->v));
    return turn ? w_dot : pp_add(v_dot, pp_cross(w_dot, r));
}

// What changes the rate of a coordinate without any force: given motions, and of a slide what its body b flees from the
// centre of a that turns, (w.w) s.d - (w.d)(w.s) with s = p_b - p_a.
static double rate_change(const pp_row_writer *w, const pp_joint *j)
{
    const pp_frame *a = &w->acting[j->a], *b = &w->acting[j->b];
    perp_vec3 d = pp_mul(&a->R, j->axis_A), r_b = pp_mul(&b->R, j->r_B), s = pp_sub(b->p, a->p);
    bool turns = j->kind != PERP_JOINT_PRISMATIC;
    perp_vec3 given =
        pp_sub(given_change(w, j->b, r_b, turns), given_change(w, j->a, pp_add(s, r_b), turns));
    if (turns) {
        return pp_dot3(w->m->spatial ? d : pp_vec(0.0, 0.0, 1.0), given);
    }
    double flees = pp_dot3(a->w, a->w) * pp_dot3(s, d) - pp_dot3(a->w, d) * pp_dot3(a->w, s);
    return pp_dot3(d, given) + flees;
}

// A rotor along the coordinate: its momentum I x' changes by -p, x' being that of the end of the step; nothing has
// momentum without inertia. In joint coordinates w is that of the rates where the step starts, or where the one before
// did: the change may differ by h w^3 s.                                                theory (A3)
static void put_armature(pp_row_writer *w, int joint, const summed_row *at, const pp_row *first)
{
    const pp_joint *j = &w->m->joint[joint];
    const pp_rows *given = w->e->rows;
    if (!(j->armature > 0.0) || w->e->stepper == PERP_STEPPER_QUASISTATIC) {
        return;
    }
    double posed = w->b < given->nb ? given->b[w->b].bias : (double)NAN;
    pp_row *row = next_equation(w, at, -1);
    if (!row) {
        return;
    }
    const pp_frame *a = &w->acting[j->a], *b = &w->acting[j->b];
    double h = w->e->kin->h, spin = pp_length(a->w), apart = pp_length(pp_sub(b->p, a->p));
    row->value = 0.0;
    row->bias = h * rate_change(w, j) - row->v_pre;
    row->gamma = 1.0 / j->armature;
    row->spring = true;
    if (w->m->spatial && fabs(posed - row->bias) <= h * h * spin * spin * spin * apart) {
        row->bias = posed;
    }
    if (pp_own_at_end(w->e)) {  // the rates of both ends are compared as they are
        row->bias = -first->v_pre;
    }
}

static void put_spring(pp_row_writer *w, int joint, const summed_row *at, const pp_row *first)
{
    const pp_joint *j = &w->m->joint[joint];
    if (!(j->stiffness > 0.0) && !(j->damping > 0.0)) {
        return;
    }
    pp_row *row = gives_way(w->e, j->stiffness, j->damping) ? next_equation(w, at, -1) : NULL;
    if (row) {
        row->value = first->value - j->rest;
        row->v_pre = first->v_pre;
        soften(w->e, j->stiffness, j->damping, row);
    }
}

// One limit as a unilateral row, x - lower >= 0 (sign 1) or upper - x >= 0 (sign -1). Whether a
// limit rebounds in this step is for the law of impact to say, and is taken as posed.
static void put_limit(pp_row_writer *w, int joint, const summed_row *at, const pp_row *first,
                      double sign)
{
    const pp_joint *j = &w->m->joint[joint];
    const pp_step_evidence *e = w->e;
    const pp_row *given = &e->rows->n[w->n];
    pp_row *row = next_limit(w, at);
    if (!row) {
        return;
    }
    pp_own_sums *sums = &w->joints->limit[w->n - 1 - e->rows->nc];
    sums->after *= sign;
    sums->along *= sign;
    row->value = sign * (first->value - (sign > 0.0 ? j->lower : j->upper));
    row->rate *= sign;
    row->v_pre = sign * first->v_pre;
    for (int i = 0; i < row->count; i++) {
        for (int k = 0; k < PP_BODY_NV; k++) {
            row->J[i][k] *= sign;
        }
    }
    row->lower = 0.0;
    row->restitution = j->limit_restitution;
    row->bounces = given->bounces && j->limit_restitution > 0.0;
    row->rebound = given->rebound;
    if (row->bounces) {
        row->bias = given->bias;  // of the law of impact
    } else if (pp_own_at_end(e)) {
        row->bias = row->value / e->kin->h;
    } else if (e->stepper == PERP_STEPPER_STEWART_TRINKLE ||
               e->stepper == PERP_STEPPER_QUASISTATIC || e->stepper == PERP_STEPPER_IMPLICIT) {
        // An open gap may be closed within h; an overlap is worked off within the whole step.
        double value = e->rates ? fmax(row->value, 0.0) : row->value;
        row->bias = value / (value < 0.0 ? fmax(e->whole, e->kin->h) : e->kin->h);
    }
}

// Limits that are far away are not in the problem. If there is one row for two limits, its value
// shows which of them it belongs to.
static void put_limits(pp_row_writer *w, int joint, const summed_row *at, const pp_row *first)
{
    const pp_joint *j = &w->m->joint[joint];
    const pp_rows *given = w->e->rows;
    int count = 0;
    while (w->n + count < given->nn && given->n[w->n + count].joint == joint) {
        count++;
    }
    bool lower = isfinite(j->lower), upper = isfinite(j->upper);
    if (count > 2 || (count > 0 && !(j->lower <= j->upper)) || (count == 2 && !(lower && upper))) {
        w->same = false;
        return;
    }
    double value = count == 1 ? given->n[w->n].value : 0.0;
    bool is_lower =
        fabs(value - (first->value - j->lower)) <= fabs(value - (j->upper - first->value));
    if (count == 2 || (count == 1 && is_lower)) {
        put_limit(w, joint, at, first, 1.0);
    }
    if (count == 2 || (count == 1 && !is_lower)) {
        put_limit(w, joint, at, first, -1.0);
    }
}

// Whether there may be a row along the coordinate of a joint, or the energy depends on where it is.
static bool asks_for_coordinate(const pp_row_writer *w, int joint)
{
    const pp_rows *given = w->e->rows;
    bool limited = w->n < given->nn && given->n[w->n].joint == joint;
    return limited || pp_own_follows_coordinate(&w->m->joint[joint]);
}

// What the step before found of a joint where it ended, if rows act there; otherwise NULL.
static const pp_own_joint_end *known_joint(const pp_row_writer *w, int joint)
{
    bool known = w->e->starts_at_last && w->acting == w->start;
    return known ? &w->e->last->joint[joint] : NULL;
}

// Anchors where rows act: those that are known, or found here.
static const pp_own_anchors *anchors_where_acting(const pp_row_writer *w, int joint,
                                                  pp_own_anchors *own)
{
    bool known = w->e->starts_at_last && w->acting == w->start;
    pp_own_anchors *at = known ? &w->e->last->joint[joint].at : own;
    if (!known) {
        *at = pp_own_anchors_of(w->m, w->acting, &w->m->joint[joint]);
    }
    // frames of the step before, and perhaps a model that was changed since, had the same numbers elsewhere
    at->m = w->m;
    at->body = w->acting;
    at->j = &w->m->joint[joint];
    return at;
}

// The coordinate of a joint where its rows act. False: it has none.
static bool coordinate_of(const pp_row_writer *w, int joint, const pp_own_anchors *at,
                          summed_row *out)
{
    if (pp_joint_couples(&w->m->joint[joint])) {
        if (!pp_own_coordinate(w->m, &w->acting_at, joint, &out->row)) {
            return false;
        }
        out->sums = sums_of(w, &out->row);
        return true;
    }
    pp_own_pair *pair = &w->joints->of[joint].along;
    const pp_own_joint_end *known = known_joint(w, joint);
    if (known && known->has_along) {
        *pair = known->along;
    } else if (!pp_own_pair_coordinate_at(at, w->acting_at.turn, joint, pair)) {
        return false;
    }
    pp_own_widen(w->m, pair, &out->row);
    out->row.joint = joint;
    out->sums = pp_judge_pair(w->e, pair, w->after);
    return true;
}

// All rows of one joint, in the order of the problem.
static void put_joint(pp_row_writer *w, const pp_row_velocities *v, int joint)
{
    const pp_joint *j = &w->m->joint[joint];
    summed_row row;
    pp_row first;
    pp_own_anchors own;
    const pp_own_anchors *at = NULL;
    if (pp_joint_couples(j)) {
        put_coupled_equations(w, v, joint);
    } else {
        at = anchors_where_acting(w, joint, &own);
        pp_put_pair_equations(w, v, joint, at);
    }
    if (!asks_for_coordinate(w, joint) || !coordinate_of(w, joint, at, &row)) {
        return;
    }
    const pp_row *from = &row.row;
    if (w->acting != w->start) {
        pp_own_coordinate(w->m, &w->start_at, joint, &first);
        from = &first;
    }
    w->joints->start[joint] = (pp_own_place){from->value, from->v_pre, from->rate, true};
    if (j->target) {
        put_target(w, v, joint, row.row, from);
    }
    if (j->rate) {
        put_rate(w, joint, from, &row);
    }
    if (j->friction > 0.0) {
        put_friction(w, joint, from, &row);
    }
    // What follows uses the coordinate at the end as value + h x': for rows of the end, the tangent there taken back.
    const pp_row *seen = from;
    pp_row tangent;
    if (pp_own_at_end(w->e)) {
        tangent = *from;
        tangent.value = row.row.value - w->e->kin->h * (row.row.rate + row.sums.after);
        seen = &tangent;
    }
    put_actuators(w, joint, &row, seen, from);
    put_armature(w, joint, &row, from);
    put_spring(w, joint, &row, seen);
    put_limits(w, joint, &row, seen);
}

// ── Implicit springs and drag ────────────────────────────────────────────────────────────────────

// Frames that implicit springs and drag are written with: those of the start, or of the end of the implicit step.
static const pp_frame *spring_frames(const pp_row_writer *w)
{
    return pp_own_at_end(w->e) ? w->acting : w->start;
}

// An implicit spring of the scene.
static void put_force(pp_row_writer *w, const pp_row_velocities *v, int index)
{
    const pp_force *f = &w->m->force[index];
    const pp_frame *at = spring_frames(w), *a = &at[f->a], *b = &at[f->b];
    const perp_vec3 none = {0.0, 0.0, 0.0}, ez = {0.0, 0.0, 1.0};
    pp_row row;
    pp_own_start(&row);
    row.force = index;
    if (f->kind == PERP_FORCE_TORSION_SPRING) {
        row.value = b->angle - a->angle - f->rest;
        pp_own_add(w->m, spring_frames(w), f->b, none, ez, &row);
        pp_own_add(w->m, spring_frames(w), f->a, none, pp_scale(-1.0, ez), &row);
    } else {
        perp_vec3 ra = pp_mul(&a->R, f->r_A), rb = pp_mul(&b->R, f->r_B);
        perp_vec3 d = pp_sub(pp_add(b->p, rb), pp_add(a->p, ra));
        double length = pp_length(d);
        if (length == 0.0) {
            return;  // no direction to pull in
        }
        perp_vec3 u = pp_scale(1.0 / length, d), back = pp_scale(-1.0, u);
        row.value = length - f->rest;
        pp_own_add(w->m, spring_frames(w), f->b, u, pp_cross(rb, u), &row);
        pp_own_add(w->m, spring_frames(w), f->a, back, pp_cross(ra, back), &row);
    }
    if (pp_own_at_end(w->e)) {
        row.value -= w->e->kin->h * row_rate(w, &row, v->after);
    }
    if (gives_way(w->e, f->stiffness, f->damping)) {
        soften(w->e, f->stiffness, f->damping, &row);
        put_row(w, &row);
    }
}

// Implicit drag: one row per degree of freedom of the body, without stiffness.
// Between two bodies: of their relative spin, about the axes of the world.
static void put_spin_drag(pp_row_writer *w, int index)
{
    const pp_force *f = &w->m->force[index];
    const perp_vec3 none = {0.0, 0.0, 0.0};
    for (int axis = w->m->spatial ? 0 : 2; axis < 3; axis++) {
        perp_vec3 d = pp_vec(axis == 0, axis == 1, axis == 2);
        pp_row row;
        pp_own_start(&row);
        row.force = index;
        pp_own_add(w->m, spring_frames(w), f->b, none, d, &row);
        pp_own_add(w->m, spring_frames(w), f->a, none, pp_scale(-1.0, d), &row);
        if (gives_way(w->e, 0.0, f->damping_w)) {
            soften(w->e, 0.0, f->damping_w, &row);
            put_row(w, &row);
        }
    }
}

static void put_drag(pp_row_writer *w, int index)
{
    const pp_force *f = &w->m->force[index];
    const pp_body *body = &w->m->body[f->b];
    for (int k = 0; k < body->nv; k++) {
        int axis = body->axis[k];
        perp_vec3 d = pp_vec(axis % 3 == 0, axis % 3 == 1, axis % 3 == 2), none = {0.0, 0.0, 0.0};
        pp_row row;
        pp_own_start(&row);
        row.force = index;
        pp_own_add(w->m, spring_frames(w), f->b, axis < 3 ? d : none, axis < 3 ? none : d, &row);
        if (gives_way(w->e, 0.0, axis < 3 ? f->damping : f->damping_w)) {
            soften(w->e, 0.0, axis < 3 ? f->damping : f->damping_w, &row);
            put_row(w, &row);
        }
    }
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// Velocities of free bodies. The rows hold those of other bodies in their rates, so that 0 serves.
static void find_velocities(const pp_row_writer *w, pp_row_velocities *v)
{
    const pp_step_evidence *e = w->e;
    for (int i = 0; i < w->m->bodies; i++) {
        const pp_body *body = &w->m->body[i];
        double after[PP_BODY_NV] = {0.0}, way[PP_BODY_NV] = {0.0};
        for (int k = 0; k < body->nv; k++) {
            int at = body->at + k;
            after[body->axis[k]] = e->nu[at];
            way[body->axis[k]] = (1.0 - e->theta) * e->nu_old[at] + e->theta * e->nu[at];
        }
        v->after[i] = (perp_twist){{after[0], after[1], after[2]}, {after[3], after[4], after[5]}};
        if (v->way == v->after) {
            continue;
        }
        v->way[i] = (perp_twist){{way[0], way[1], way[2]}, {way[3], way[4], way[5]}};
        if (body->nv > 0 && body->kind == PERP_BODY_SPATIAL) {
            v->way[i].w_W = pp_judge_turn(e, i);
        }
    }
}

// The theta method has rows of joints in the middle of its step, the implicit step at its end, all others at its start.
static pp_row_writer writer_of(const pp_step_evidence *e, pp_arena *arena)
{
    pp_row_writer w = {.e = e,
                       .m = e->model,
                       .start = e->kin->poses.body,
                       .same = true,
                       .arena = arena,
                       .memory = true};
    bool middle = e->stepper == PERP_STEPPER_MOREAU_JEAN && e->middle;
    w.acting = middle ? e->middle : e->kin->poses.body;
    w.t = e->kin->poses.t + (middle ? 0.5 * e->kin->h : 0.0);
    if (pp_own_at_end(e)) {
        w.acting = e->end->body;
        w.t = e->kin->poses.t + e->kin->h;
    }
    w.start_at = w.acting_at = w.end_at = e->kin->poses;
    w.acting_at.t = w.t;
    w.acting_at.body = w.acting;
    w.end_at.t = e->kin->poses.t + e->kin->h;
    w.end_at.body = e->end->body;
    return w;
}

// Room for the rows of a step and their impulses. Rows of contacts are kept: the first nc rows of n, and t. False: no
// memory.
static bool make_room(pp_row_writer *w)
{
    const pp_rows *given = w->e->rows;
    *w->own = *given;
    w->own->b = PP_ARRAY(w->arena, pp_row, given->nb);
    w->own->m = PP_ARRAY(w->arena, pp_row, given->nm);
    w->pb = PP_ARRAY(w->arena, double, given->nb);
    w->joints->equation = PP_ARRAY(w->arena, pp_own_equation, given->nb);
    w->joints->of = PP_ZEROS(w->arena, pp_own_joint, w->m->joints);
    w->joints->start = PP_ZEROS(w->arena, pp_own_place, 2 * (size_t)w->m->joints);
    w->joints->end = w->joints->start + w->m->joints;
    // one block: of the equations, of rows with bounds, of limits
    int limits = given->nn - given->nc, sums = given->nb + given->nm + limits;
    w->joints->b = PP_ARRAY(w->arena, pp_own_sums, sums);
    w->joints->m = w->joints->b + given->nb;
    w->joints->limit = w->joints->m + given->nm;
    if (given->nn > given->nc) {
        w->own->n = PP_ARRAY(w->arena, pp_row, given->nn);
        if (w->own->n && given->nc > 0) {
            memcpy(w->own->n, given->n, (size_t)given->nc * sizeof *given->n);
        }
    }
    if (!w->joints->b || !w->joints->start || !w->joints->of) {
        return false;
    }
    bool enough = w->own->b && w->pb && w->joints->equation;
    return (given->nb == 0 || enough) && (given->nm == 0 || w->own->m) &&
           (given->nn == 0 || w->own->n);
}

// Whether nothing but contacts is in the step.
static bool has_contacts_alone(const perp_model *m, const pp_rows *given)
{
    return given->nb + given->nm + given->nn - given->nc == 0 && m->joints + m->forces == 0;
}

perp_status pp_own_rows(pp_step_evidence *own, bool *same, const pp_step_evidence *e,
                        pp_arena *arena)
{
    const perp_model *m = e->model;
    const pp_rows *given = e->rows;
    pp_rows *rows = PP_ARRAY(arena, pp_rows, 1);
    pp_own_joints *joints = PP_ZEROS(arena, pp_own_joints, 1);
    pp_row_writer w = writer_of(e, arena);
    w.own = rows;
    w.joints = joints;
    w.n = given->nc;
    w.beside = given->nc > 0;
    *own = *e;
    own->joints = joints;
    *same = true;
    if (!rows || !joints) {
        return PERP_ERR_MEMORY;
    }
    if (has_contacts_alone(m, given)) {
        return PERP_OK;
    }
    // only the theta method asks for the mean velocities
    bool theta = e->stepper == PERP_STEPPER_MOREAU_JEAN;
    pp_row_velocities v = {.after = PP_ARRAY(arena, perp_twist, m->bodies)};
    v.way = theta ? PP_ARRAY(arena, perp_twist, m->bodies) : v.after;
    if (!v.after || !v.way || !make_room(&w)) {
        return PERP_ERR_MEMORY;
    }
    find_velocities(&w, &v);
    w.after = v.after;
    for (int i = 0; i < m->joints; i++) {
        put_joint(&w, &v, i);
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        if (f->implicit && f->kind == PERP_FORCE_DRAG && f->a > 0) {
            put_spin_drag(&w, i);
        } else if (f->implicit && f->kind == PERP_FORCE_DRAG) {
            put_drag(&w, i);
        } else if (f->implicit && f->kind != PERP_FORCE_WRENCH) {
            put_force(&w, &v, i);
        }
    }
    *same = w.same && w.b == given->nb && w.boxed == given->nm && w.n == given->nn;
    // where the lists differ, the rows that were found are judged
    rows->nb = w.wide;
    rows->nm = w.boxed;
    rows->nn = w.n;
    own->rows = rows;
    own->pb = w.pb;
    return w.memory ? PERP_OK : PERP_ERR_MEMORY;
}

// ── Velocities that are not linear in the rates ──

// What linearising psi about the rates at the start leaves of it at those of the end [unit of psi].   theory (A9)
static double linearisation_left(const pp_row_writer *w, const pp_row_velocities *v, int joint,
                                 const pp_row *row)
{
    const pp_joint *j = &w->m->joint[joint];
    const double *input = w->acting_at.drive ? w->acting_at.drive->input : NULL;
    double x[1 + 2 * PP_COUPLING_TERMS] = {w->t};
    for (int i = 0; i < j->terms; i++) {
        pp_row term;
        pp_own_coordinate(w->m, &w->acting_at, j->term[i], &term);
        x[1 + i] = term.value;
        x[1 + j->terms + i] = row_rate(w, &term, v->after);
    }
    return fabs(pp_expr_value_in(j->velocity, x, input) - row_rate(w, row, v->after));
}

// As the turning of bodies in a step: a hundredth is allowed.
perp_status pp_judge_linearised(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                                const perp_limits *limits, pp_arena *arena)
{
    pp_row_writer w = writer_of(e, arena);
    pp_row_velocities v = {0};
    for (int i = 0; i < w.m->joints; i++) {
        const pp_joint *j = &w.m->joint[i];
        pp_row row;
        if (!j->velocity || j->linear || !pp_own_coordinate(w.m, &w.acting_at, i, &row)) {
            continue;
        }
        if (!v.after) {
            v.after = PP_ARRAY(arena, perp_twist, w.m->bodies);
            v.way = PP_ARRAY(arena, perp_twist, w.m->bodies);
            if (!v.after || !v.way) {
                return PERP_ERR_MEMORY;
            }
            find_velocities(&w, &v);
        }
        double speed = pp_scale_speed(s, pp_scale_island(s, &row));
        pp_certificate_record(c, limits, PERP_JUDGED_RESIDUAL, linearisation_left(&w, &v, i, &row),
                              PP_APART * pp_scale_speed_of(s, &row, speed));
    }
    return PERP_OK;
}

// ── Rates of joints alone ────────────────────────────────────────────────────────────────────────

// The least error of an equation by any of the rules that a scheme may have applied
// (pp_judge_joint_rates says which) [m/s, rad/s]. end: value of the equation at the end of the
// step.
static double left_of(pp_row_writer *w, const pp_row_velocities *v, const pp_row *row,
                      const pp_row_instant *at, double end)
{
    double least = HUGE_VAL;
    pp_step_evidence e = *w->e;
    pp_row_writer by = *w;
    pp_row_acting acting = acting_row(w, v, row);
    by.e = &e;
    for (int k = 0; k < 4; k++) {
        e.exact = false;
        e.rates = k % 2 != 0;
        by.beside = k / 2 != 0;
        double bias = pp_equation_bias(&by, &acting, at, 0.0);
        double left = fabs(row_rate(w, row, v->after) + bias);
        least = isnan(left) ? HUGE_VAL : fmin(least, left);
    }
    bool closes = e.stepper == PERP_STEPPER_STEWART_TRINKLE || e.stepper == PERP_STEPPER_IMPLICIT;
    return closes ? fmin(least, fabs(end) / e.kin->h) : least;
}

// The equation of a joint, or its target, that is worst for its limit; worst / limit are compared
// as products, so that a limit of 0 divides nothing.
static void judge_joint(pp_row_writer *w, const pp_row_velocities *v, const pp_scales *s, int joint,
                        double *worst, double *limit)
{
    const pp_joint *j = &w->m->joint[joint];
    pp_row at[PP_JOINT_EQUATIONS + 2], end[PP_JOINT_EQUATIONS + 1], first, row;
    pp_row_instant when[PP_JOINT_EQUATIONS + 1];
    double h = w->e->kin->h, left[PP_JOINT_EQUATIONS + 2];
    int count = equations_of(w, v, joint, at, when), coordinates = 0;
    pp_own_equations(w->m, &w->end_at, joint, end);
    if ((j->target || j->rate) && pp_own_coordinate(w->m, &w->acting_at, joint, &row)) {
        coordinates = 1;
    }
    if (j->target && coordinates) {
        at[count] = row;
        pp_own_coordinate(w->m, &w->start_at, joint, &first);
        pp_own_coordinate(w->m, &w->end_at, joint, &end[count]);
        end[count].value -= expression_value(j->target, w->e->kin->poses.t + h);
        when[count] = target_of(w, v, joint, &first, &at[count]);
        count++;
    }
    for (int k = 0; k < count; k++) {
        left[k] = left_of(w, v, &at[k], &when[k], end[k].value);
    }
    if (j->target && coordinates && j->epsilon > 0.0) {
        stabilise_row(w, joint, stabilised_target_rate(h, j->epsilon, &when[count - 1]),
                      &at[count - 1]);
        left[count - 1] = fabs(row_rate(w, &at[count - 1], v->after) + at[count - 1].bias);
    }
    // A rate with unlimited effort is an equation as well.
    if (j->rate && coordinates && !isfinite(j->rate_effort)) {
        pp_own_coordinate(w->m, &w->start_at, joint, &first);
        at[count] = rate_of(w, joint, &first, row);
        left[count] = fabs(row_rate(w, &at[count], v->after) + at[count].bias);
        count++;
    }
    // Rows that touch no free body have no scale, and are not judged.
    *worst = 0.0;
    *limit = 1.0;
    for (int k = 0; k < count; k++) {
        int island = pp_scale_island(s, &at[k]);
        double allowed = pp_scale_speed_of(s, &at[k], pp_scale_rate(s, island));
        if (island >= 0 && !(left[k] * *limit <= *worst * allowed)) {
            *worst = left[k];
            *limit = allowed;
        }
    }
    if (j->velocity && !j->linear && pp_own_coordinate(w->m, &w->acting_at, joint, &row)) {
        int island = pp_scale_island(s, &row);
        double beyond = linearisation_left(w, v, joint, &row);
        double allowed = PP_APART * pp_scale_speed_of(s, &row, pp_scale_speed(s, island));
        if (island >= 0 && !(beyond * *limit <= *worst * allowed)) {
            *worst = beyond;
            *limit = allowed;
        }
    }
}

perp_status pp_judge_joint_rates(const pp_step_evidence *e, const pp_scales *s, double *off,
                                 double *limit, pp_arena *arena)
{
    pp_row_writer w = writer_of(e, arena);
    pp_row_velocities v = {PP_ARRAY(arena, perp_twist, w.m->bodies),
                           PP_ARRAY(arena, perp_twist, w.m->bodies)};
    if (!v.after || !v.way) {
        return PERP_ERR_MEMORY;
    }
    find_velocities(&w, &v);
    for (int i = 0; i < w.m->joints; i++) {
        judge_joint(&w, &v, s, i, &off[i], &limit[i]);
    }
    return w.memory ? PERP_OK : PERP_ERR_MEMORY;
}
