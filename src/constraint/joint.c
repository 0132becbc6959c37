// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints as rows: their own equations, then what drives, brakes and limits their coordinate.
//
//   equation     phi(q) = 0                  bilateral: 0 = J nu + rate + phi / h                       theory (P4)
//   target       c(q) = c(t)                 bilateral, as an equation
//   rate         c' = r(t)                   bilateral, or boxed |p| <= h F where the effort is limited
//   friction     dry, of a given effort      boxed, |p| <= h F
//   spring       K (c - c_0) + C c'          soft bilateral row, implicit                               theory (P5)
//   limits       lower <= c <= upper         unilateral, with restitution
//
// Angles count full turns: of all values atan2 allows, the one nearest to where the coordinate was (pp_poses.turn).
#include "constraint/joint.h"

#include <math.h>
#include <string.h>

// Joints of one degree of freedom, and those that follow one of several; not balls, welds and gears.
bool pp_joint_has_coordinate(const pp_joint *j)
{
    return j->kind != PERP_JOINT_GEAR && j->kind != PERP_JOINT_WELD &&
           j->kind != PERP_JOINT_SPHERICAL;
}

static void build_coordinate(const pp_row_builder *k, int joint, pp_row *row);

// x = f(t, x_1, x_2, …): row = sum f_k row_k, and f_t is a rate that nothing moves.       theory (A4)
static void coupling_row(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    double x[1 + PP_COUPLING_TERMS] = {k->poses->t}, along[1 + PP_COUPLING_TERMS] = {0.0}, slope;
    pp_row term[PP_COUPLING_TERMS];
    for (int i = 0; i < j->terms; i++) {
        build_coordinate(k, j->term[i], &term[i]);
        x[1 + i] = term[i].value;
    }
    int slopes = k->values_only ? 0 : j->terms;
    for (int i = 0; i < slopes; i++) {
        along[1 + i] = 1.0;
        pp_expr_rate(j->function, x, along, &slope);
        along[1 + i] = 0.0;
        pp_row_combine(row, slope, &term[i]);
    }
    along[0] = 1.0;
    row->value = pp_expr_rate(j->function, x, along, &slope);
    row->rate += slope;
    row->v_pre += slope;
}

// A velocity psi(t, x_1, …, x_1', …), without a coordinate: row = sum psi_k' row_k, where psi_k' is its slope by x_k'. The
// rate of the row is what makes J nu + rate equal to psi for the velocities of the poses; so psi that is not linear in
// the rates is linearised about them.                                                    theory (A9)
static void velocity_row(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    double x[1 + 2 * PP_COUPLING_TERMS] = {k->poses->t}, along[1 + 2 * PP_COUPLING_TERMS] = {0.0};
    const double *input = k->poses->drive ? k->poses->drive->input : NULL;
    pp_row term[PP_COUPLING_TERMS];
    double slope;
    if (k->values_only) {
        return;
    }
    for (int i = 0; i < j->terms; i++) {
        build_coordinate(k, j->term[i], &term[i]);
        x[1 + i] = term[i].value;
        x[1 + j->terms + i] = term[i].v_pre;
    }
    double psi = pp_expr_value_in(j->velocity, x, input);
    for (int i = 0; i < j->terms; i++) {
        double *unit = &along[1 + j->terms + i];
        *unit = 1.0;
        pp_expr_rate_in(j->velocity, x, input, along, &slope);
        *unit = 0.0;
        if (slope != 0.0) {  // a joint whose position alone is used moves nothing
            pp_row_combine(row, slope, &term[i]);
        }
    }
    row->value = 0.0;
    row->rate += psi - row->v_pre;
    row->v_pre = psi;
}

// Force and torque at a site, fixed in its body: their power is the rate.                theory (A11)
static void site_row(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    const pp_frame *body = &k->poses->body[j->b];
    if (!k->values_only) {
        pp_row_point(k, j->b, pp_point(body, j->r_B), pp_rotate(body, j->force_B), 1.0, row);
        pp_row_spin(k, j->b, pp_rotate(body, j->torque_B), 1.0, row);
    }
}

// The joint's coordinate as a row: its value [m or rad], gradient and rate. Angles count full turns.
static void build_coordinate(const pp_row_builder *k, int joint, pp_row *row)
{
    const pp_joint *j = &k->model->joint[joint];
    pp_row_start(row);
    if (!pp_joint_has_coordinate(j)) {
        return;
    }
    if (j->site > 0) {
        site_row(k, j, row);
    } else if (j->velocity) {
        velocity_row(k, j, row);
    } else if (j->kind == PERP_JOINT_COUPLING) {
        coupling_row(k, j, row);
    } else if (k->model->spatial) {
        pp_joint_coordinate_spatial(k, joint, row);
    } else {
        pp_joint_coordinate_planar(k, j, row);
    }
    row->joint = joint;
}

void pp_joint_coordinate(const perp_model *model, const pp_poses *at, int joint, pp_row *row)
{
    build_coordinate(&(pp_row_builder){.model = model, .poses = at}, joint, row);
}

double pp_joint_coordinate_value(const perp_model *model, const pp_poses *at, int joint)
{
    pp_row row;
    build_coordinate(&(pp_row_builder){.model = model, .poses = at, .values_only = true}, joint,
                     &row);
    return row.value;
}

// phi = ratio * coordinate(joint_a) + coordinate(joint_b) - angle
static void gear_row(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    pp_row first;
    build_coordinate(k, j->joint_b, row);
    build_coordinate(k, j->joint_a, &first);
    pp_row_combine(row, j->ratio, &first);
    row->value -= j->angle;
}

// phi = 0 of a joint as rows with value, gradient and rate; returns how many.
static int build_equations(const pp_row_builder *k, int joint, pp_row row[PP_JOINT_EQUATIONS])
{
    const pp_joint *j = &k->model->joint[joint];
    if (j->kind == PERP_JOINT_GEAR) {
        gear_row(k, j, &row[0]);
        return 1;
    }
    if (j->kind == PERP_JOINT_COUPLING) {
        return 0;  // its target is the equation
    }
    return k->model->spatial ? pp_joint_equations_spatial(k, joint, row)
                             : pp_joint_equations_planar(k, j, row);
}

int pp_joint_equations(const perp_model *model, const pp_poses *at, int joint,
                       pp_row row[PP_JOINT_EQUATIONS])
{
    return build_equations(&(pp_row_builder){.model = model, .poses = at}, joint, row);
}

// Worst |phi| of the joint at the poses, its target included [m or rad].
double pp_joint_error(const perp_model *model, const pp_poses *at, int joint)
{
    pp_row row[PP_JOINT_EQUATIONS], coordinate;
    const pp_joint *j = &model->joint[joint];
    int count = pp_joint_equations(model, at, joint, row);
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        worst = fmax(worst, fabs(row[i].value));
    }
    if (j->target) {
        const double variables[1] = {at->t};
        pp_joint_coordinate(model, at, joint, &coordinate);
        worst = fmax(worst, fabs(coordinate.value - pp_expr_value(j->target, variables)));
    }
    return worst;
}

// By how much a coordinate is beyond its limits [m or rad].
double pp_joint_limit_violation(const perp_model *model, const pp_poses *at, int joint)
{
    const pp_joint *j = &model->joint[joint];
    pp_row row;
    if (!(j->lower <= j->upper) || !pp_joint_has_coordinate(j)) {
        return 0.0;
    }
    pp_joint_coordinate(model, at, joint, &row);
    return fmax(0.0, fmax(j->lower - row.value, row.value - j->upper));
}

// Energy of the springs on joint coordinates, k (x - rest)^2 / 2 [J].
double pp_joint_energy(const perp_model *model, const pp_poses *at)
{
    double energy = 0.0;
    for (int i = 0; i < model->joints; i++) {
        const pp_joint *j = &model->joint[i];
        if (j->stiffness > 0.0) {
            pp_row row;
            pp_joint_coordinate(model, at, i, &row);
            energy += 0.5 * j->stiffness * (row.value - j->rest) * (row.value - j->rest);
        }
    }
    return energy;
}

double pp_rotor_energy(const perp_model *model, const pp_poses *at)
{
    double energy = 0.0;
    for (int i = 0; i < model->joints; i++) {
        pp_row row;
        if (model->joint[i].armature > 0.0) {
            pp_joint_coordinate(model, at, i, &row);
            energy += 0.5 * model->joint[i].armature * row.v_pre * row.v_pre;
        }
    }
    return energy;
}

// ── Drives, friction, limits of the coordinate ───────────────────────────────────────────────────

// Lists have room for all rows that a joint can have (PP_JOINT_ROWS_B and the like).
static void append_row(pp_row_list *list, const pp_row *row)
{
    pp_row_copy(&list->row[list->count++], row);
}

// The same of a row that is then changed where it is.
static pp_row *appended_row(pp_row_list *list, const pp_row *row)
{
    append_row(list, row);
    return &list->row[list->count - 1];
}

// What the scheme adds to an equation phi = 0 whose rate was `before`. The theta method takes phi back, and half of
// the rate: with the mean of both ends' rates in phi, neither is left two steps later. Where positions are
// left as they are, the rate is zero.                                                   theory (S11), (P20)
static void set_equation(double h, double phi, double before, pp_scheme scheme, pp_row *row)
{
    row->middle = scheme.stepper == PERP_STEPPER_MOREAU_JEAN;
    bool on_positions = row->middle || scheme.stepper == PERP_STEPPER_STEWART_TRINKLE ||
                        scheme.stepper == PERP_STEPPER_QUASISTATIC ||
                        scheme.stepper == PERP_STEPPER_IMPLICIT;
    bool takes_back = on_positions && !scheme.rates;
    double within =
        scheme.start ? h : pp_scheme_whole(scheme, h);  // rows of the end close phi there
    row->bias = takes_back ? phi / within : 0.0;
    row->bias += row->middle && !scheme.rates ? 0.5 * before : 0.0;
}

// A stabilised constraint keeps its error and lets it decay: the row asks for the rate that implicit Euler steps of
// phi'' + 2/eps phi' + phi/eps^2 = 0 and psi' + psi/eps = 0 have where the step ends. There the rate is that of the row
// plus what the coordinate gains while the bodies keep their velocities. gain: that.
//                                                                                      theory (A10)
static void set_stabilised(double h, double eps, bool position, double before, double gain,
                           pp_row *row)
{
    double s = 1.0 + h / eps;
    row->bias = position ? (h * row->value / (eps * eps) - before) / (s * s) : -before / s;
    row->bias += gain;
    row->stabilised = true;
}

// What the rate of a stabilised coordinate gains from the row to the end of the step.
static double gained_rate(const pp_kinematics *kin, double t, pp_scheme scheme, int joint)
{
    double start = pp_scheme_start(scheme, kin)->t;
    return scheme.drift ? (start + kin->h - t) * scheme.drift[joint] : 0.0;
}

// coordinate = target(t), as an equation. The motor does what it must: its impulse is not bounded. t: of the row; start:
// the coordinate where the step starts.
static void target_row(double t, const pp_kinematics *kin, const pp_joint *j, const pp_row *start,
                       pp_scheme scheme, pp_row row, pp_row_list *b)
{
    bool stabilised = j->epsilon > 0.0;
    const double first[1] = {pp_scheme_start(scheme, kin)->t}, one[1] = {1.0};
    const double variables[1] = {stabilised ? first[0] + kin->h : t};
    double rate, before;
    double there = pp_expr_rate(j->target, variables, one, &rate);
    double value = pp_expr_rate(j->target, first, one, &before);
    row.rate -= rate;
    row.v_pre -= rate;
    if (scheme.start && !stabilised) {
        row.value -= there;
        row.value = pp_row_tangent_value(&row, kin->h, scheme);
    } else {
        row.value = start->value - value;
    }
    row.v_pre = scheme.start ? start->v_pre - rate : row.v_pre;
    if (stabilised) {
        set_stabilised(kin->h, j->epsilon, true, start->v_pre - before,
                       gained_rate(kin, t, scheme, row.joint), &row);
    } else {
        set_equation(kin->h, row.value, start->v_pre - before, scheme, &row);
    }
    row.drives = true;
    append_row(b, &row);
}

// psi(q, qdot) = coordinate rate - rate(t): a constraint, or a drive of limited effort. start: as of a target.
static void rate_row(const pp_poses *at, const pp_kinematics *kin, const pp_joint *j,
                     const pp_row *start, pp_scheme scheme, pp_row row, pp_row_lists *out)
{
    bool limited = j->rate_effort < PP_INF, stabilised = !limited && j->epsilon > 0.0;
    const pp_poses *from = pp_scheme_start(scheme, kin);
    double rate = pp_signal_value(j->rate, at), before = pp_signal_value(j->rate, from);
    if (stabilised) {
        pp_poses end = *at;
        end.t = from->t + kin->h;
        rate = pp_signal_value(j->rate, &end);
    }
    row.value = 0.0;
    row.drives = true;
    row.rate -= rate;
    row.v_pre = (scheme.start ? start->v_pre : row.v_pre) - rate;
    if (limited) {
        row.lower = -kin->h * j->rate_effort;
        row.upper = kin->h * j->rate_effort;
    }
    if (stabilised) {
        set_stabilised(kin->h, j->epsilon, false, start->v_pre - before,
                       gained_rate(kin, at->t, scheme, row.joint), &row);
    }
    append_row(limited ? &out->boxed : &out->b, &row);
}

// What gravity gives to the coordinate in two steps at most; an angle by the radius of gyration.
static double rest_speed(const perp_model *m, double h, const pp_row *row)
{
    double most = 0.0, g = m->gravity_most;
    for (int i = 0; i < row->count; i++) {
        const pp_body *body = &m->body[row->body[i]];
        double moved = 0.0, turned = 0.0;
        for (int c = 0; c < body->nv; c++) {
            double *part = body->axis[c] < 3 ? &moved : &turned;
            *part += row->J[i][c] * row->J[i][c];
        }
        const double *I = body->I_B.m;
        double inertia = m->spatial ? (I[0] + I[4] + I[8]) / 3.0 : I[8], mass = body->mass;
        if (body->massless) {
            const double *inverse = body->inverse_IB.m;
            mass = body->divisor_mass;
            inertia = m->spatial ? 3.0 / (inverse[0] + inverse[4] + inverse[8]) : body->divisor_Izz;
        }
        double spin = turned > 0.0 ? sqrt(turned) * sqrt(mass / inertia) : 0.0;
        most = fmax(most, fmax(sqrt(moved), spin));
    }
    return 2.0 * h * g * most;
}

// sign = +1: coordinate >= bound, -1: coordinate <= bound. rest: speed below which nothing bounces.
static void limit_row(const perp_model *m, const pp_kinematics *kin, const pp_joint *j,
                      pp_scheme scheme, pp_row row, double rest, double sign, pp_row_lists *out)
{
    row.value = sign * (row.value - (sign > 0.0 ? j->lower : j->upper));
    row.rate *= sign;
    row.v_pre *= sign;
    for (int i = 0; i < row.count; i++) {
        for (int c = 0; c < PP_BODY_NV; c++) {
            row.J[i][c] *= sign;
        }
    }
    row.lower = 0.0;
    row.restitution = j->limit_restitution;
    row.bounce_threshold = rest;
    double push = row.restitution > 0.0 ? pp_row_force_rate(m, kin, &row) : 0.0;
    if (pp_row_unilateral(&row, kin->h, push, scheme)) {
        append_row(&out->n, &row);
    }
}

// Limits of the coordinate: unilateral rows of those that the step may reach, and one row of the others with the way that
// is left to each of them as its bounds.
static void limit_rows(const perp_model *m, const pp_kinematics *kin, const pp_joint *j,
                       pp_scheme scheme, const pp_row *row, pp_row_lists *out)
{
    double rest = rest_speed(m, pp_scheme_whole(scheme, kin->h), row);
    // twice the way of the step at the rate it starts with, and with what gravity adds in two steps
    double reach = scheme.limits ? PP_INF : 2.0 * kin->h * (fabs(row->v_pre) + rest);
    double down = row->value - j->lower, up = j->upper - row->value;
    bool far_down = !(down <= reach), far_up = !(up <= reach);
    if (!far_down && isfinite(j->lower)) {
        limit_row(m, kin, j, scheme, *row, rest, 1.0, out);
    }
    if (!far_up && isfinite(j->upper)) {
        limit_row(m, kin, j, scheme, *row, rest, -1.0, out);
    }
    if (far_down || far_up) {
        append_row(&out->far, row);
        pp_row *far = &out->far.row[out->far.count - 1];
        far->lower = far_down ? -down : -PP_INF;
        far->upper = far_up ? up : PP_INF;
    }
}

// Actuators of the coordinate: equations without limits of effort, boxed rows with them. row: J where joints are taken,
// value and rate of the start; start: the coordinate there, for efforts that do not follow the motion of the step.
static void actuator_rows(const perp_model *m, const pp_kinematics *kin, pp_scheme scheme,
                          const pp_joint *j, const pp_row *row, double start, pp_row_lists *out)
{
    for (int i = j->first_actuator - 1; i >= 0; i = m->actuator[i].next - 1) {
        const pp_actuator *a = &m->actuator[i];
        pp_row own;
        pp_row_copy(&own, row);
        if (!pp_actuator_gives_way(a)) {
            own.value = start;
        }
        pp_row_actuate(&own, a, kin->poses.drive->control[i], kin->h, pp_scheme_theta(scheme));
        own.actuator = i;
        append_row(own.lower > -PP_INF ? &out->boxed : &out->b, &own);
    }
}

// Mean acceleration of a body by its given motion over the step; zero of one that is free.
static perp_twist given_acceleration(const perp_model *m, const pp_kinematics *kin, int body)
{
    if (m->body[body].nv > 0) {
        return (perp_twist){0};
    }
    pp_frame from = pp_driven_frame(&m->body[body], kin->poses.t);
    pp_frame to = pp_driven_frame(&m->body[body], kin->poses.t + kin->h);
    return (perp_twist){.v_W = pp_scale(1.0 / kin->h, pp_sub(to.v, from.v)),
                        .w_W = pp_scale(1.0 / kin->h, pp_sub(to.w, from.w))};
}

// x'' of a coordinate whose free bodies keep their velocities: given accelerations and, since both bodies of a slide turn
// with w and its axis d with them, -d . w x (w x (p_b - p_a)). An axis of rotation adds nothing to the rate about it.
static double coordinate_drift(const perp_model *m, const pp_kinematics *kin, const pp_poses *at,
                               const pp_joint *j)
{
    const pp_frame *a = &at->body[j->a], *b = &at->body[j->b];
    perp_twist by_a = given_acceleration(m, kin, j->a), by_b = given_acceleration(m, kin, j->b);
    pp_anchors w;
    pp_joint_anchors(j, at->body, &w);
    if (j->kind != PERP_JOINT_PRISMATIC) {
        perp_vec3 axis = m->spatial ? w.u : pp_vec(0.0, 0.0, 1.0);
        return pp_dot3(axis, pp_sub(by_b.w_W, by_a.w_W));
    }
    perp_vec3 on_b = pp_add(by_b.v_W, pp_cross(by_b.w_W, pp_sub(w.b, b->p)));
    perp_vec3 on_a = pp_add(by_a.v_W, pp_cross(by_a.w_W, pp_sub(w.b, a->p)));
    perp_vec3 inward = pp_cross(a->w, pp_cross(a->w, pp_sub(b->p, a->p)));
    return pp_dot3(w.u, pp_sub(pp_sub(on_b, on_a), inward));
}

// A rotor of inertia I geared to the coordinate: p = -I (x' - x'_l), with x' where the step ends, a row that gives way by
// 1/I. Without inertia there is no rotor either. row: where joints are taken, v_pre with the old velocities there; before:
// the rate of the coordinate where the step starts.
//                                                                                       theory (A3)
static void set_armature(const perp_model *m, const pp_kinematics *kin, const pp_poses *joints,
                         pp_scheme scheme, double before, pp_row *row)
{
    const pp_joint *j = &m->joint[row->joint];
    if (scheme.start) {
        row->bias = -before;  // both rates are those of their ends: there is no drift between them
    } else {
        row->bias = kin->h * coordinate_drift(m, kin, joints, j) - row->v_pre;
    }
    row->gamma = 1.0 / j->armature;
    row->spring = true;
    row->value = 0.0;
}

// Everything that acts along the coordinate: target (equation), rate (equation, or a motor of limited effort), dry
// friction |p| <= h F (boxed), spring and damper (a soft row), limits (unilateral). pp_bilateral_phi relies on the order.
static void coordinate_rows(const pp_row_builder *k, const pp_kinematics *kin, pp_scheme scheme,
                            int index, pp_row_lists *out)
{
    const perp_model *m = k->model;
    const pp_poses *joints = k->poses, *from = pp_scheme_start(scheme, kin);
    const pp_joint *j = &m->joint[index];
    pp_row row, elsewhere;
    const pp_row *first = &row;
    build_coordinate(k, index, &row);
    if (joints != from) {  // values, and what decides whether a limit acts, are of the start
        pp_joint_coordinate(m, from, index, &elsewhere);
        first = &elsewhere;
    }
    if (j->target) {
        target_row(joints->t, kin, j, first, scheme, row, &out->b);
    }
    if (j->rate) {
        rate_row(joints, kin, j, first, scheme, row, out);
    }
    if (j->friction > 0.0) {
        pp_row *dry = appended_row(&out->boxed, &row);
        dry->value = 0.0;
        dry->v_pre = scheme.start ? first->v_pre : row.v_pre;
        dry->drives = true;
        dry->lower = -kin->h * j->friction;
        dry->upper = kin->h * j->friction;
    }
    // as the joint is where rows are taken, and where the step starts
    double value = row.value, before = row.v_pre, start = first->value, v_start = first->v_pre;
    row.value = scheme.start ? pp_row_tangent_value(&row, kin->h, scheme) : start;
    row.v_pre = v_start;
    actuator_rows(m, kin, scheme, j, &row, start, out);
    if (j->armature > 0.0 && scheme.stepper != PERP_STEPPER_QUASISTATIC) {
        pp_row *rotor = appended_row(&out->b, &row);
        rotor->value = value;
        rotor->v_pre = before;
        set_armature(m, kin, joints, scheme, v_start, rotor);
    }
    if (j->stiffness != 0.0 || j->damping != 0.0) {
        pp_row *soft = appended_row(&out->b, &row);
        soft->value -= j->rest;
        bool pushes =
            pp_row_soften(soft, j->stiffness, j->damping, kin->h, pp_scheme_theta(scheme));
        out->b.count -= !pushes;
    }
    if (j->lower <= j->upper) {
        limit_rows(m, kin, j, scheme, &row, out);
    }
}

// Equations of all joints, then of each what acts along its coordinate. J is taken at `joints`, values and rates before at
// the start of the step; the two differ under the theta method only, which takes J in the middle of the step.
void pp_joint_rows(const perp_model *m, const pp_kinematics *kin, const pp_poses *joints,
                   pp_scheme scheme, pp_row_lists *out)
{
    for (int i = 0; i < m->joints; i++) {
        pp_row *own = out->b.row + out->b.count, first[PP_JOINT_EQUATIONS];
        pp_row_builder k = {.model = m, .poses = joints};
        pp_triad triad;
        if (m->spatial && !pp_joint_couples(&m->joint[i])) {
            pp_joint_triad(&m->joint[i], joints->body, &triad);
            k.triad = &triad;
        }
        int count = build_equations(&k, i, own);
        bool elsewhere = joints != &kin->poses;
        if (elsewhere) {
            count = pp_joint_equations(m, &kin->poses, i, first);  // as many as at `joints`
        }
        for (int c = 0; c < count; c++) {
            own[c].joint = i;
            const pp_row *at = elsewhere ? &first[c] : &own[c];
            own[c].value = pp_row_tangent_value(at, kin->h, scheme);
            set_equation(kin->h, own[c].value, at->v_pre, scheme, &own[c]);
        }
        out->b.count += count;
        if (pp_joint_has_coordinate(&m->joint[i])) {
            coordinate_rows(&k, kin, scheme, i, out);
        }
    }
}

bool pp_rows_cross_far_limit(const perp_model *model, const pp_rows *rows, const double *nu,
                             double h)
{
    for (int i = 0; i < rows->nfar; i++) {
        const pp_row *row = &rows->far[i];
        double way = h * pp_row_rate(model, row, nu);
        if (!(way >= row->lower && way <= row->upper)) {
            return true;
        }
    }
    return false;
}

// phi of every bilateral row at the poses [m, rad], in the order in which pp_joint_rows wrote them; 0 for soft
// rows, rates and stabilised targets, which are no conditions on positions.
void pp_bilateral_phi(const perp_model *model, const pp_poses *at, const pp_rows *rows,
                      double *value)
{
    const pp_row_builder k = {.model = model, .poses = at, .values_only = true};
    int i = 0;
    while (i < rows->nb && rows->b[i].joint >= 0) {
        pp_row own[PP_JOINT_EQUATIONS];
        int joint = rows->b[i].joint, count = build_equations(&k, joint, own);
        const pp_expr *target = model->joint[joint].target;
        for (int c = 0; c < count; c++) {
            value[i++] = own[c].value;
        }
        for (; i < rows->nb && rows->b[i].joint == joint; i++) {
            value[i] = 0.0;
            if (target) {  // comes first
                build_coordinate(&k, joint, &own[0]);
                double off = own[0].value - pp_expr_value(target, &at->t);
                value[i] = rows->b[i].stabilised ? 0.0 : off;
                target = NULL;
            }
        }
    }
    for (; i < rows->nb; i++) {
        value[i] = 0.0;
    }
}
