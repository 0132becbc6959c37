// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints as rows.                                                                       theory (P4)
//
//   revolute        phi = p_b - p_a                                              2 rows
//   prismatic       phi = (n . (p_b - p_a),  theta_b - theta_a - angle)          2 rows
//   weld            phi = (p_b - p_a,  theta_b - theta_a - angle)                3 rows
//   distance        phi = |p_b - p_a| - length                                   1 row
//   point on line   phi = n . (p_b - p_a)                                        1 row
//   gear            phi = ratio * coordinate(joint_a) + coordinate(joint_b) - angle   1 row
//
// p_a, p_b are the anchors in the world; n is the left normal of the axis, which turns with a: the rate
// of n . (p_b - p_a) is n . (v_b - v_a) with both bodies followed at p_b.
#include "constraint/row.h"

#include <math.h>
#include <string.h>

typedef struct anchors {
    pp_vec2 a, b;  // in the world
    pp_vec2 u, n;  // axis and its left normal, in the world
} anchors;

static anchors place(const pp_joint *j, const pp_frame *body)
{
    anchors w = {pp_point(&body[j->a], j->r_A), pp_point(&body[j->b], j->r_B), {0, 0}, {0, 0}};
    w.u = pp_rotate(&body[j->a], j->axis_A);
    w.n = (pp_vec2){-w.u.y, w.u.x};
    return w;
}

static double along(pp_vec2 d, pp_vec2 from, pp_vec2 to)
{
    return d.x * (to.x - from.x) + d.y * (to.y - from.y);
}

// d . (p_b - p_a), a followed at its own anchor or, when the direction turns with it, at b's.
static void point_row(const perp_model *m, const pp_kinematics *k, const pp_joint *j,
                      const anchors *w, pp_vec2 d, bool turning, pp_row *row)
{
    pp_row_start(row);
    row->value = along(d, w->a, w->b);
    pp_row_point(m, k, j->b, w->b, d, 1.0, row);
    pp_row_point(m, k, j->a, turning ? w->b : w->a, d, -1.0, row);
}

static void angle_row(const perp_model *m, const pp_kinematics *k, const pp_joint *j, pp_row *row)
{
    pp_row_start(row);
    row->value = k->body[j->b].angle - k->body[j->a].angle - j->angle;
    pp_row_spin(m, k, j->b, 1.0, row);
    pp_row_spin(m, k, j->a, -1.0, row);
}

static pp_vec2 direction(pp_vec2 from, pp_vec2 to)
{
    double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy);
    return length > 0.0 ? (pp_vec2){dx / length, dy / length} : (pp_vec2){1.0, 0.0};
}

void pp_joint_coordinate(const perp_model *model, const pp_kinematics *kin, int joint, pp_row *row)
{
    const pp_joint *j = &model->joint[joint];
    pp_row_start(row);
    if (j->kind == PERP_GEAR || j->kind == PERP_WELD) {
        return;
    }
    anchors w = place(j, kin->body);
    if (j->kind == PERP_REVOLUTE || j->kind == PERP_ANGLE) {
        angle_row(model, kin, j, row);
    } else if (j->kind == PERP_DISTANCE) {
        pp_vec2 d = direction(w.a, w.b);
        point_row(model, kin, j, &w, d, false, row);
    } else {
        point_row(model, kin, j, &w, w.u, true, row);
    }
    row->joint = joint;
}

// ── The joint's own equations ────────────────────────────────────────────────────────────────────

static void gear_row(const perp_model *m, const pp_kinematics *k, const pp_joint *j, pp_row *row)
{
    pp_row first;
    pp_joint_coordinate(m, k, j->joint_b, row);
    pp_joint_coordinate(m, k, j->joint_a, &first);
    row->value += j->ratio * first.value - j->angle;
    row->rate += j->ratio * first.rate;
    row->before += j->ratio * first.before;
    for (int i = 0; i < first.count; i++) {
        int at = 0;
        while (at < row->count && row->body[at] != first.body[i]) {
            at++;
        }
        if (at == row->count) {
            row->body[row->count++] = first.body[i];
            memset(row->J[at], 0, sizeof row->J[at]);
        }
        for (int c = 0; c < PP_BODY_NV; c++) {
            row->J[at][c] += j->ratio * first.J[i][c];
        }
    }
}

// Rows of phi into row; returns how many.
static int equations(const perp_model *m, const pp_kinematics *k, const pp_joint *j, pp_row row[3])
{
    static const pp_vec2 ex = {1.0, 0.0}, ey = {0.0, 1.0};
    anchors w = j->kind == PERP_GEAR ? (anchors){0} : place(j, k->body);
    switch (j->kind) {
    case PERP_REVOLUTE:
    case PERP_WELD:
        point_row(m, k, j, &w, ex, false, &row[0]);
        point_row(m, k, j, &w, ey, false, &row[1]);
        if (j->kind == PERP_WELD) {
            angle_row(m, k, j, &row[2]);
        }
        return j->kind == PERP_WELD ? 3 : 2;
    case PERP_PRISMATIC:
        point_row(m, k, j, &w, w.n, true, &row[0]);
        angle_row(m, k, j, &row[1]);
        return 2;
    case PERP_POINT_ON_LINE:
        point_row(m, k, j, &w, w.n, true, &row[0]);
        return 1;
    case PERP_DISTANCE:
        if (j->target) {
            return 0;  // the target is the equation
        }
        point_row(m, k, j, &w, direction(w.a, w.b), false, &row[0]);
        row[0].value -= j->length;
        return 1;
    case PERP_GEAR:
        gear_row(m, k, j, &row[0]);
        return 1;
    case PERP_ANGLE:
        break;
    }
    return 0;
}

double pp_joint_error(const perp_model *model, const pp_frame *body, double t, int joint)
{
    pp_row row[3], coordinate;
    const pp_joint *j = &model->joint[joint];
    pp_kinematics k = {.t = t, .body = (pp_frame *)(uintptr_t)body};  // read only
    int count = equations(model, &k, j, row);
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        worst = fmax(worst, fabs(row[i].value));
    }
    if (j->target) {
        const double variables[1] = {t};
        pp_joint_coordinate(model, &k, joint, &coordinate);
        worst = fmax(worst, fabs(coordinate.value - pp_expr_value(j->target, variables)));
    }
    return worst;
}

// ── Drives, friction, limits of the coordinate ───────────────────────────────────────────────────

static bool on_position_level(pp_scheme scheme)
{
    return scheme.stepper == PERP_STEWART_TRINKLE || scheme.stepper == PERP_QUASISTATIC;
}

static void put(pp_row_list *list, const pp_row *row)
{
    list->row[list->count++] = *row;
}

static void target_row(const pp_kinematics *k, const pp_joint *j, pp_scheme scheme, pp_row row,
                       pp_row_list *b)
{
    const double variables[1] = {k->t}, one[1] = {1.0};
    double rate, value = pp_expr_rate(j->target, variables, one, &rate);
    row.value -= value;
    row.rate -= rate;
    row.before -= rate;
    row.bias = on_position_level(scheme) ? row.value / k->h : 0.0;
    row.drives = true;
    put(b, &row);
}

// psi(q, qdot) = coordinate rate - rate(t): a constraint, or a drive of limited effort.
static void rate_row(const pp_kinematics *k, const pp_joint *j, pp_row row, pp_row_list *b,
                     pp_row_list *boxed)
{
    const double variables[1] = {k->t};
    double rate = pp_expr_value(j->rate, variables);
    row.value = 0.0;
    row.drives = true;
    row.rate -= rate;
    row.before -= rate;
    if (j->rate_effort < PP_INF) {
        row.lower = -k->h * j->rate_effort;
        row.upper = k->h * j->rate_effort;
        put(boxed, &row);
    } else {
        put(b, &row);
    }
}

// What gravity gives to the coordinate in two steps at most; an angle by the radius of gyration.
static double rest_speed(const perp_model *m, const pp_kinematics *k, const pp_row *row)
{
    double most = 0.0, g = hypot(m->gravity.x, m->gravity.y);
    for (int i = 0; i < row->count; i++) {
        const pp_body *body = &m->body[row->body[i]];
        double spin = body->nv == 3 ? fabs(row->J[i][2]) * sqrt(body->mass / body->inertia) : 0.0;
        most = fmax(most, fmax(hypot(row->J[i][0], row->J[i][1]), spin));
    }
    return 2.0 * k->h * g * most;
}

// sign = +1: coordinate >= bound, -1: coordinate <= bound.
static void limit_row(const perp_model *m, const pp_kinematics *k, const pp_joint *j,
                      pp_scheme scheme, pp_row row, double bound, double sign, pp_row_list *n)
{
    row.value = sign * (row.value - bound);
    row.rate *= sign;
    row.before *= sign;
    for (int i = 0; i < row.count; i++) {
        for (int c = 0; c < PP_BODY_NV; c++) {
            row.J[i][c] *= sign;
        }
    }
    row.lower = 0.0;
    row.restitution = j->limit_restitution;
    row.rest = rest_speed(m, k, &row);
    if (pp_row_unilateral(&row, k->h, scheme)) {
        put(n, &row);
    }
}

static void coordinate_rows(const perp_model *m, const pp_kinematics *k, pp_scheme scheme,
                            int index, pp_row_list *b, pp_row_list *boxed, pp_row_list *n)
{
    const pp_joint *j = &m->joint[index];
    pp_row row;
    pp_joint_coordinate(m, k, index, &row);
    if (j->target) {
        target_row(k, j, scheme, row, b);
    }
    if (j->rate) {
        rate_row(k, j, row, b, boxed);
    }
    if (j->friction > 0.0) {
        pp_row dry = row;
        dry.value = 0.0;
        dry.drives = true;
        dry.lower = -k->h * j->friction;
        dry.upper = k->h * j->friction;
        put(boxed, &dry);
    }
    if (j->lower <= j->upper) {
        if (isfinite(j->lower)) {
            limit_row(m, k, j, scheme, row, j->lower, 1.0, n);
        }
        if (isfinite(j->upper)) {
            limit_row(m, k, j, scheme, row, j->upper, -1.0, n);
        }
    }
}

void pp_joint_rows(const perp_model *m, const pp_kinematics *k, pp_scheme scheme, pp_row_list *b,
                   pp_row_list *boxed, pp_row_list *n)
{
    for (int i = 0; i < m->joints; i++) {
        pp_row own[3];
        int count = equations(m, k, &m->joint[i], own);
        for (int c = 0; c < count; c++) {
            own[c].joint = i;
            own[c].bias = on_position_level(scheme) ? own[c].value / k->h : 0.0;
            put(b, &own[c]);
        }
        if (m->joint[i].kind != PERP_GEAR && m->joint[i].kind != PERP_WELD) {
            coordinate_rows(m, k, scheme, i, b, boxed, n);
        }
    }
}
