// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impulses of joints as wrenches on bodies, and what drives, dry friction, limits and gears may do.
//
// A coordinate c(q) has unit wrenches: an impulse p along it puts p times them on the bodies, and
// its rate is the sum over the bodies of wrench . velocity.
//
//   angles                         a couple about the axis on b, its opposite on a
//   distance                       1 along the line of the anchors, on each at its own
//   lengths along an axis          1 along the axis, on both at b's anchor
//   gear                           ratio times those of joint_a, plus those of joint_b
#include "record/check/check.h"

#include <math.h>

enum { SIDES = 2 * PP_COUPLING_TERMS };

// Wrenches on bodies of a unit impulse along one coordinate; two bodies of each joint, of which
// a gear has two and a coupling several.
typedef struct unit {
    int count, body[SIDES];
    perp_wrench on[SIDES];
} unit;

// The wrench on a body, zero when it is new.
static perp_wrench *side(unit *u, int body)
{
    int k = 0;
    while (k < u->count && u->body[k] != body) {
        k++;
    }
    if (k == u->count) {
        u->body[u->count++] = body;
        u->on[k] = (perp_wrench){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    return &u->on[k];
}

// The anchors and the axes of a joint in the world, at the start of the step.
typedef struct recorded_anchors {
    perp_vec3 a, b;    // anchors
    perp_vec3 u, ub;   // axes of a and b
    perp_vec3 couple;  // that goes with the angle: its rate is couple . (w_b - w_a)
} recorded_anchors;

// Where the joint acts: at the start of the step, or in its middle.
static recorded_anchors anchors_of(const pp_recheck *c, const pp_joint *joint)
{
    const pp_frame *a = &c->acting[joint->a], *b = &c->acting[joint->b];
    recorded_anchors w = {.a = pp_point(a, joint->r_A), .b = pp_point(b, joint->r_B)};
    w.u = pp_rotate(a, joint->axis_A);
    if (!c->model->spatial) {
        w.ub = w.couple = pp_vec(0.0, 0.0, 1.0);
        return w;
    }
    // The angle turns the projection of z_b on the plane across u: a couple across z_b and that.
    w.ub = pp_rotate(b, joint->axis_B);
    perp_vec3 z = joint->kind == PERP_JOINT_UNIVERSAL ? w.ub : pp_rotate(b, joint->zero_B);
    perp_vec3 flat = pp_along(z, -pp_dot3(z, w.u), w.u);
    double square = pp_dot3(flat, flat);
    w.couple = square > 0.0 ? pp_scale(1.0 / square, pp_cross(z, pp_cross(w.u, flat))) : w.u;
    return w;
}

// Unit vector from anchor a to anchor b; along x where they coincide.
static perp_vec3 line_of(const recorded_anchors *w)
{
    return pp_unit(pp_sub(w->b, w->a), pp_vec(1.0, 0.0, 0.0));
}

// Joints whose coordinate is a length along the axis of a.
static bool along_axis(perp_joint_kind kind)
{
    return kind == PERP_JOINT_PRISMATIC || kind == PERP_JOINT_POINT_ON_LINE ||
           kind == PERP_JOINT_CYLINDRICAL;
}

// Adds `scale` times the unit wrenches of one joint.
static void add_coordinate(const pp_recheck *c, int index, double scale, unit *u)
{
    const pp_joint *joint = &c->model->joint[index];
    const pp_frame *a = &c->acting[joint->a], *b = &c->acting[joint->b];
    recorded_anchors w = anchors_of(c, joint);
    if (joint->kind == PERP_JOINT_DISTANCE || along_axis(joint->kind)) {
        bool distance = joint->kind == PERP_JOINT_DISTANCE;
        perp_vec3 along = distance ? line_of(&w) : w.u;
        pp_check_add_at(side(u, joint->b), b, scale, along, w.b);
        pp_check_add_at(side(u, joint->a), a, -scale, along, distance ? w.a : w.b);
    } else if (pp_joint_has_coordinate(joint)) {
        perp_wrench *on_b = side(u, joint->b), *on_a;
        on_b->tau_W = pp_along(on_b->tau_W, scale, w.couple);
        on_a = side(u, joint->a);
        on_a->tau_W = pp_along(on_a->tau_W, -scale, w.couple);
    }
}

// Slopes of the coupling's function by the coordinates of its joints, or of its velocity by their rates, where their
// wrenches act; rates are those at the start.
static void add_coupling(const pp_recheck *c, const pp_joint *joint, unit *u)
{
    enum { MOST = 1 + 2 * PP_COUPLING_TERMS };
    double x[MOST] = {c->found_t}, along[MOST] = {0.0}, slope;
    pp_poses at = {.t = c->found_t, .body = c->acting, .turn = c->turn0};
    const pp_expr *function = joint->velocity ? joint->velocity : joint->function;
    int first = joint->velocity ? 1 + joint->terms : 1;
    if (joint->site > 0) {
        const pp_frame *body = &c->acting[joint->b];
        perp_wrench *on = side(u, joint->b);
        pp_check_add_at(on, body, 1.0, pp_rotate(body, joint->force_B), pp_point(body, joint->r_B));
        on->tau_W = pp_add(on->tau_W, pp_rotate(body, joint->torque_B));
        return;
    }
    for (int i = 0; i < joint->terms; i++) {
        pp_row row;
        pp_joint_coordinate(c->model, &at, joint->term[i], &row);
        x[1 + i] = row.value;
        x[1 + joint->terms + i] = row.v_pre;
    }
    for (int i = 0; i < joint->terms; i++) {
        along[first + i] = 1.0;
        pp_expr_rate_in(function, x, c->input, along, &slope);
        along[first + i] = 0.0;
        add_coordinate(c, joint->term[i], slope, u);
    }
}

// A gear couples the coordinates of two joints, a coupling those of several.
static unit unit_of(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    unit u = {0};
    if (joint->kind == PERP_JOINT_GEAR) {
        add_coordinate(c, joint->joint_a, joint->ratio, &u);
        add_coordinate(c, joint->joint_b, 1.0, &u);
    } else if (joint->kind == PERP_JOINT_COUPLING) {
        add_coupling(c, joint, &u);
    } else {
        add_coordinate(c, index, 1.0, &u);
    }
    return u;
}

// Of wrenches whose parts have different units: lengths are in metres, and only ratios are used.
static double dot(const perp_wrench *a, const perp_wrench *b)
{
    return pp_dot3(a->f_W, b->f_W) + pp_dot3(a->tau_W, b->tau_W);
}

// ── Adding up ────────────────────────────────────────────────────────────────────────────────────

// Rate of the coordinate [m/s, rad/s], by the velocities that are given.
static double rate_of(const unit *u, const pp_recheck *c, pp_check_velocities *velocity)
{
    double sum = 0.0;
    for (int k = 0; k < u->count; k++) {
        perp_twist v = velocity(c, u->body[k]);
        sum += pp_check_power(&u->on[k], &v);
    }
    return sum;
}

// At the start of the step.
static perp_twist velocity_before(const pp_recheck *c, int body)
{
    return (perp_twist){c->coming[body].v, c->coming[body].w};
}

// theta: 1, or that of the theta method. With p the impulse of a drive and r its rate,
// (theta - 1/2) p (r - r^l) is lost within the step; motors of limited effort and dry friction
// count as constant forces do.                                                         theory (K13)
double pp_check_jerk(const pp_recheck *c, int index, double theta, double *lag)
{
    const pp_joint *joint = &c->model->joint[index];
    double p = c->now->joint[index].drive;
    if (joint->kind == PERP_JOINT_GEAR || p == 0.0) {
        return 0.0;
    }
    unit u = unit_of(c, index);
    double after = rate_of(&u, c, pp_check_velocity);
    double loss = (theta - 0.5) * p * (after - rate_of(&u, c, velocity_before));
    // A motor of limited effort, or dry friction: a box, not an equation.
    bool boxed = !joint->target && (!joint->rate || isfinite(joint->rate_effort));
    *lag += boxed ? loss : 0.0;
    return p * after > 0.0 ? fmax(0.0, loss) : 0.0;
}

// Exact positions: what the reactions of a joint give to velocities that it does not allow where the step starts, which is
// what its wrench works beyond drives, limits and springs [J].                               theory (K13)
double pp_check_reactions(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    const perp_wrench *w = &state->impulse_b;
    if (c->info->positions != PERP_POSITIONS_EXACT ||
        c->info->stepper != PERP_STEPPER_STEWART_TRINKLE || pp_joint_couples(joint)) {
        return 0.0;
    }
    perp_twist a = pp_check_velocity(c, joint->a), b = pp_check_velocity(c, joint->b);
    // impulse_b is taken about the origin of b
    perp_vec3 arm = pp_sub(c->before[joint->b].p, c->before[joint->a].p);
    perp_vec3 apart = pp_sub(b.v_W, pp_add(a.v_W, pp_cross(a.w_W, arm)));
    unit u = unit_of(c, index);
    double along = state->drive + state->limit + c->spring[index] + c->actuated[index];
    double sum = pp_dot3(w->f_W, apart) + pp_dot3(w->tau_W, pp_sub(b.w_W, a.w_W));
    return along != 0.0 ? sum - along * rate_of(&u, c, pp_check_velocity) : sum;
}

// The impulse along the coordinate of a gear or coupling, from the part of the recorded wrench on b along the unit wrench
// there. Where a coupling does not act on b, from what the recording says of drive and limit; momenta show whether that
// is so.
static double gear_impulse(const pp_recheck *c, int index, unit *u)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    const perp_wrench *on_b = side(u, joint->b);
    double square = dot(on_b, on_b), largest = 0.0;
    for (int k = 0; k < u->count; k++) {
        largest = fmax(largest, dot(&u->on[k], &u->on[k]));
    }
    if (joint->kind == PERP_JOINT_COUPLING && !(square > 1e-6 * largest)) {
        pp_poses at = {.t = c->t0, .body = c->before, .turn = c->turn0};
        pp_row row;
        pp_joint_coordinate(c->model, &at, index, &row);
        bool lower = row.value - joint->lower <= joint->upper - row.value;
        double limit = joint->lower <= joint->upper ? state->limit : 0.0;
        return state->drive + c->spring[index] + (lower ? limit : -limit);
    }
    return square > 0.0 ? dot(on_b, &state->impulse_b) / square : 0.0;
}

// What the turning of bodies may leave of a joint; for directions of the end, by the turns at either end.
static double drift_of(const pp_recheck *c, const pp_joint *joint)
{
    double drift = pp_drift_joint(c->model, c->before, c->h, joint);
    return pp_check_at_end(c) ? fmax(drift, pp_drift_joint(c->model, c->after, c->h, joint))
                              : drift;
}

// Exact positions close in the step what the turning of bodies would leave of it, as do equations that hold at its end.
static bool closes_drift(const pp_recheck *c)
{
    return pp_check_at_end(c) || c->info->positions == PERP_POSITIONS_EXACT;
}

// What the impulses of a joint close in the step: the error at its start, or all of its drift. No more than the drift.
static double closed_by(const pp_recheck *c, int index, double drift)
{
    pp_poses before = {.t = c->t0, .body = c->before, .turn = c->turn0};
    return closes_drift(c) ? drift : fmin(pp_joint_error(c->model, &before, index), drift);
}

// Adds the wrenches on up to four bodies; returns the energy that closing an error of the gear may
// give [J].
static double add_gear(pp_recheck *c, int index)
{
    unit u = unit_of(c, index);
    double p = gear_impulse(c, index, &u);
    const pp_joint *gear = &c->model->joint[index];
    for (int k = 0; k < u.count; k++) {
        perp_wrench *w = &c->impulse[u.body[k]];
        w->f_W = pp_along(w->f_W, p, u.on[k].f_W);
        w->tau_W = pp_along(w->tau_W, p, u.on[k].tau_W);
    }
    double drift = drift_of(c, gear);
    // A coordinate that turns is an angle: drift over the arm.
    bool turns = pp_length(side(&u, gear->b)->f_W) == 0.0;
    drift /= turns ? pp_scale_arm(c->model, gear) : 1.0;
    return fabs(p) * closed_by(c, index, drift) / c->h;
}

// The component of the recorded wrench along the coordinate; NaN where the joint's own equations also
// act along it. Equations that are couples across an axis do not act along that axis.
static double along_coordinate(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_wrench *w = &c->now->joint[index].impulse_b;
    if (joint->kind == PERP_JOINT_COUPLING) {
        unit u = unit_of(c, index);
        return gear_impulse(c, index, &u);
    }
    recorded_anchors at = anchors_of(c, joint);
    // impulse_b is taken about the origin of b; about its anchor a couple is left.
    perp_vec3 couple = pp_sub(w->tau_W, pp_cross(pp_sub(at.b, c->acting[joint->b].p), w->f_W));
    switch (joint->kind) {
    case PERP_JOINT_ANGLE:
        return pp_dot3(couple, at.couple) / pp_dot3(at.couple, at.couple);
    case PERP_JOINT_REVOLUTE:
    case PERP_JOINT_PLANAR:
        return pp_dot3(couple, at.ub) / pp_dot3(at.couple, at.ub);
    case PERP_JOINT_SCREW:  // the thread turns force along the axis into a couple about it
        return pp_dot3(couple, at.ub) / pp_dot3(at.couple, at.ub) +
               joint->pitch * pp_dot3(w->f_W, at.u);
    case PERP_JOINT_UNIVERSAL:
        return pp_dot3(couple, at.u) / pp_dot3(at.couple, at.u);
    case PERP_JOINT_PRISMATIC:
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_POINT_ON_LINE:
        return pp_dot3(at.u, w->f_W);
    case PERP_JOINT_DISTANCE:
        return joint->target && (at.a.x != at.b.x || at.a.y != at.b.y || at.a.z != at.b.z)
                   ? pp_dot3(line_of(&at), w->f_W)
                   : (double)NAN;
    default:
        return NAN;
    }
}

// How far the coordinate is within the limit that acts, at the start of the step [m, rad]; *sign
// +1: the lower limit. The impulse shows which one it is; where there is none, the nearer limit
// counts.
static double within(const pp_recheck *c, int index, double *sign)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    pp_poses at = {.t = c->found_t, .body = c->found, .turn = c->turn0};
    pp_row row;
    pp_joint_coordinate(c->model, &at, index, &row);
    double above = row.value - joint->lower, below = joint->upper - row.value;
    double along = along_coordinate(c, index) - state->drive;
    bool known = state->limit > 0.0 && c->model->body[joint->b].nv > 0 && fabs(along) > 0.0;
    bool at_lower = known ? along > 0.0 : above <= below;
    *sign = at_lower ? 1.0 : -1.0;
    return at_lower ? above : below;
}

// Sum of the sizes of the components: at least the length.
static double vector_length(perp_vec3 v)
{
    return fabs(v.x) + fabs(v.y) + fabs(v.z);
}

// The energy that a limit may give which closes what the scheme left beyond it [J].      theory (K5)
static double limit_gives(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    double limit = c->now->joint[index].limit, sign;
    pp_poses before = {.t = c->t0, .body = c->before, .turn = c->turn0};
    if (!(joint->lower <= joint->upper) || !(limit > 0.0)) {
        return 0.0;
    }
    double beyond = fmax(0.0, -within(c, index, &sign));
    return limit * fmin(beyond, pp_drift_coordinate(c->model, &before, c->h, index)) / c->h;
}

// Joints that hold one point of both bodies together, along the axes of the world; in space these turn with a.
static bool holds_point(perp_joint_kind kind)
{
    return kind == PERP_JOINT_REVOLUTE || kind == PERP_JOINT_SPHERICAL ||
           kind == PERP_JOINT_UNIVERSAL || kind == PERP_JOINT_WELD;
}

// The recorded wrench w of a joint on both of its bodies, about their origins; returns its couple about the anchor of b.
static perp_vec3 joint_wrenches(const pp_recheck *c, const pp_joint *joint, const perp_wrench *w,
                                perp_wrench on[2])
{
    const pp_frame *fa = &c->acting[joint->a], *fb = &c->acting[joint->b];
    recorded_anchors at = anchors_of(c, joint);
    perp_vec3 couple = pp_sub(w->tau_W, pp_cross(pp_sub(at.b, fb->p), w->f_W));
    bool turning = along_axis(joint->kind) || joint->kind == PERP_JOINT_SCREW ||
                   joint->kind == PERP_JOINT_PLANAR ||
                   (c->model->spatial && holds_point(joint->kind));
    // The force acts on a at its own anchor; where it turns with a, at b's.
    on[0] = on[1] = (perp_wrench){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    pp_check_add_at(&on[1], fb, 1.0, w->f_W, at.b);
    pp_check_add_at(&on[0], fa, -1.0, w->f_W, turning ? at.b : at.a);
    on[1].tau_W = pp_along(on[1].tau_W, 1.0, couple);
    on[0].tau_W = pp_along(on[0].tau_W, -1.0, couple);
    return couple;
}

// Closing an error of at most the drift of the scheme may give energy: impulse times error over h.
//                                                                                       theory (K5)
void pp_check_add_joint(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    int at = pp_check_account(c, joint->a, joint->b);
    c->given[at] += limit_gives(c, index);
    if (pp_joint_couples(joint)) {
        c->joined[at] += add_gear(c, index);
        return;
    }
    const perp_wrench *w = &state->impulse_b;
    perp_wrench on[2];
    perp_vec3 couple = joint_wrenches(c, joint, w, on);
    const int body[2] = {joint->a, joint->b};
    for (int k = 0; k < 2; k++) {
        perp_wrench *to = &c->impulse[body[k]];
        to->f_W = pp_add(to->f_W, on[k].f_W);
        to->tau_W = pp_add(to->tau_W, on[k].tau_W);
    }
    c->load[joint->a] += pp_length(w->f_W) + pp_length(couple) / pp_scale_arm(c->model, joint);
    c->load[joint->b] += pp_length(w->f_W) + pp_length(couple) / pp_scale_arm(c->model, joint);
    c->arm = fmax(c->arm, pp_scale_arm(c->model, joint));
    double drift = drift_of(c, joint);
    double given = vector_length(w->f_W) * closed_by(c, index, drift);
    double turn = closed_by(c, index, drift / pp_scale_arm(c->model, joint));
    if (!closes_drift(c) && c->acting == c->before &&
        holds_point(joint->kind)) {  // axis by axis, as its equations
        perp_vec3 apart = pp_sub(pp_point(&c->before[joint->b], joint->r_B),
                                 pp_point(&c->before[joint->a], joint->r_A));
        given = fabs(w->f_W.x) * fmin(fabs(apart.x), drift) +
                fabs(w->f_W.y) * fmin(fabs(apart.y), drift) +
                fabs(w->f_W.z) * fmin(fabs(apart.z), drift);
    }
    c->joined[at] += (given + vector_length(couple) * turn) / c->h;
}

// ── Drives and limits ────────────────────────────────────────────────────────────────────────────

static const double SAME = 1e-9;  // the same impulse, as two numbers of the recording have it
static const double MIDDLE =
    1e-8;  // of the wrench, where the place of the theta method's middle enters

// What impulses along a coordinate are held against [N s, or N m s at the arm of an angle].
static double drive_scale(const pp_recheck *c, int index)
{
    const pp_joint *j = &c->model->joint[index];
    const perp_joint_state *s = &c->now->joint[index];
    double size = fabs(s->drive) + fabs(s->limit) + fabs(c->spring[index]);
    pp_check_scale scale = pp_check_scale_of(c, j->a, j->b, isfinite(size) ? size : 0.0);
    double exact = SAME * scale.impulse / pp_slack_of(c->info->tolerance);
    return exact * fmax(1.0, pp_scale_arm(c->model, j));
}

void pp_check_actuator(pp_recheck *c, int actuator, double p, double slack)
{
    const pp_actuator *a = &c->model->actuator[actuator];
    c->actuated[a->joint] += p;
    c->missed[a->joint] += slack;
    if (c->now->actuator) {  // parts show the drive of the joint alone
        pp_check_record_worst(c, PERP_CHECK_DRIVE, fabs(c->now->actuator[actuator].impulse - p),
                              drive_scale(c, a->joint) + slack, a->name, "");
    }
}

// Sizes of the numbers that a component of the recorded wrench is the difference of [N s, or N m s]: where the equations of
// the joint carry much, as in a heavy load that swings on a light link, what acts along its coordinate is a small rest.
static double wrench_size(const pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_wrench *w = &c->now->joint[index].impulse_b;
    perp_vec3 arm = pp_sub(anchors_of(c, joint).b, c->acting[joint->b].p);
    return joint->kind == PERP_JOINT_COUPLING
               ? 0.0
               : pp_length(w->f_W) * fmax(1.0, pp_length(arm)) + pp_length(w->tau_W);
}

// A motor and dry friction within their effort times h; and drive, spring and limit together are
// what the joint's wrench has along its coordinate.
static void judge_drive(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    double most = joint->friction + (joint->rate ? joint->rate_effort : 0.0);
    most = joint->target ? PP_INF : c->h * most;
    double own = state->drive - c->actuated[index];  // without its actuators
    pp_check_record_worst(c, PERP_CHECK_DRIVE, fmax(0.0, fabs(own) - most),
                          drive_scale(c, index) + c->missed[index], joint->name, "");
    bool moves = c->model->body[joint->b].nv > 0;  // else nothing is recorded at it
    double along = along_coordinate(c, index) - state->drive - c->spring[index];
    double limit = joint->lower <= joint->upper ? state->limit : 0.0;
    if (moves && (!isnan(along) || isnan(state->drive))) {
        // Either of the two limits may have acted.
        double left = fmin(fabs(along - limit), fabs(along + limit));
        bool theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN;
        double whole = (theta ? MIDDLE : SAME) * wrench_size(c, index);
        pp_check_record_worst(c, PERP_CHECK_DRIVE, left, drive_scale(c, index) + whole, joint->name,
                              "");
    }
}

// Rate of a coupling's coordinate while its joints stand still, where the step starts.
static double own_rate(const pp_recheck *c, const pp_joint *joint)
{
    double x[1 + PP_COUPLING_TERMS] = {c->found_t}, along[1 + PP_COUPLING_TERMS] = {1.0}, rate;
    pp_poses at = {.t = c->found_t, .body = c->found, .turn = c->turn0};
    if (!joint->function) {
        return 0.0;
    }
    for (int i = 0; i < joint->terms; i++) {
        pp_row row;
        pp_joint_coordinate(c->model, &at, joint->term[i], &row);
        x[1 + i] = row.value;
    }
    pp_expr_rate(joint->function, x, along, &rate);
    return rate;
}

// Complementarity of a limit, as of a contact: no pull, and no push away from it.
static void judge_limit(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    double p = c->now->joint[index].limit, sign;
    if (!(joint->lower <= joint->upper)) {
        pp_check_record_worst(c, PERP_CHECK_DRIVE, fabs(p), drive_scale(c, index), joint->name, "");
        return;
    }
    unit u = unit_of(c, index);
    double value = within(c, index, &sign);
    double rate = sign * (rate_of(&u, c, pp_check_velocity) + own_rate(c, joint));
    pp_check_record_worst(c, PERP_CHECK_PULL, fmax(0.0, -p), drive_scale(c, index), joint->name,
                          "");
    if (joint->limit_restitution == 0.0) {
        double rho = pp_check_complementarity(c, p, value, rate, 0.0, 0.0, 0.0, 0.0);
        pp_check_scale scale = pp_check_scale_of(c, joint->a, joint->b, isfinite(p) ? p : 0.0);
        pp_check_record_worst(c, PERP_CHECK_PUSH, fabs(p * rho), scale.energy, joint->name, "");
    }
}

// A gear has no drive and no limit, and what it does to its body b is along its coordinate.
static void judge_gear(pp_recheck *c, int index)
{
    const pp_joint *joint = &c->model->joint[index];
    const perp_joint_state *state = &c->now->joint[index];
    const perp_wrench *w = &state->impulse_b;
    unit u = unit_of(c, index);
    double p = gear_impulse(c, index, &u);
    const perp_wrench *on_b = side(&u, joint->b);
    double left = fabs(state->drive) + fabs(state->limit);
    if (c->model->body[joint->b].nv > 0) {
        left += vector_length(pp_along(w->f_W, -p, on_b->f_W)) +
                vector_length(pp_along(w->tau_W, -p, on_b->tau_W));
    }
    pp_check_record_worst(c, PERP_CHECK_DRIVE, left, drive_scale(c, index), joint->name, "");
}

// Welds and spherical joints have no coordinate: neither drive nor limit.
void pp_check_joints(pp_recheck *c)
{
    for (int i = 0; i < c->model->joints; i++) {
        perp_joint_kind kind = c->model->joint[i].kind;
        if (kind == PERP_JOINT_GEAR) {
            judge_gear(c, i);
        } else if (kind == PERP_JOINT_WELD || kind == PERP_JOINT_SPHERICAL) {
            const perp_joint_state *state = &c->now->joint[i];
            double left = fabs(state->drive) + fabs(state->limit);
            pp_check_record_worst(c, PERP_CHECK_DRIVE, left, drive_scale(c, i),
                                  c->model->joint[i].name, "");
        } else {
            judge_drive(c, i);
            judge_limit(c, i);
        }
    }
}

// ── What the equations of joints give and take ───────────────────────────────────────────────────

// Mean of the velocities without and with the impulses of the step.
static perp_twist mean_velocity(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    perp_twist after = pp_check_velocity(c, body);
    if (of->nv == 0) {
        return after;
    }
    perp_twist before = pp_check_twist(of, c->start + of->at);
    return (perp_twist){pp_scale(0.5, pp_add(before.v_W, after.v_W)),
                        pp_scale(0.5, pp_add(before.w_W, after.w_W))};
}

static bool is_driven(const pp_recheck *c, int body)
{
    const pp_frame *f = &c->before[body];
    return c->model->body[body].nv == 0 && pp_length(f->v) + pp_length(f->w) > 0.0;
}

// A limit works on what it closes as an equation does. *along: its impulse along the coordinate.
static void add_limit_gain(const pp_recheck *c, int index, double rate, pp_gains_step *step,
                           double *along)
{
    const pp_joint *joint = &c->model->joint[index];
    double limit = c->now->joint[index].limit, sign;
    pp_poses before = {.t = c->t0, .body = c->before, .turn = c->turn0};
    if (!(joint->lower <= joint->upper) || !(limit > 0.0)) {
        return;
    }
    within(c, index, &sign);
    *along += sign * limit;
    if (joint->limit_restitution == 0.0) {
        double drift = pp_drift_coordinate(c->model, &before, c->h, index);
        pp_gains_add_joint(step, joint->a, joint->b, sign * limit * rate, limit * drift / c->h);
    }
}

// The recorded wrench of a joint without what it has along its coordinate: drives, springs, limits.
void pp_check_joint_gains(const pp_recheck *c, pp_gains_step *step)
{
    for (int i = 0; i < c->model->joints; i++) {
        const pp_joint *joint = &c->model->joint[i];
        const perp_joint_state *state = &c->now->joint[i];
        double drift = drift_of(c, joint), arm = pp_scale_arm(c->model, joint);
        if (pp_joint_couples(joint)) {
            unit u = unit_of(c, i);
            double p = gear_impulse(c, i, &u);
            p -= joint->kind == PERP_JOINT_COUPLING ? state->drive + c->spring[i] : 0.0;
            drift /= pp_length(side(&u, joint->b)->f_W) == 0.0 ? arm : 1.0;
            double given = own_rate(c, joint);
            double work = p * (rate_of(&u, c, mean_velocity) + given);
            pp_gains_add_joint(step, joint->a, joint->b, work,
                               given != 0.0 ? fabs(p) * drift / c->h : HUGE_VAL);
            continue;
        }
        // about the coordinate the wrench has drives, springs and limits, which are no equations
        perp_wrench on[2];
        perp_vec3 couple = joint_wrenches(c, joint, &state->impulse_b, on);
        perp_twist a = mean_velocity(c, joint->a), b = mean_velocity(c, joint->b);
        double work = pp_check_power(&on[0], &a) + pp_check_power(&on[1], &b);
        double most =
            vector_length(state->impulse_b.f_W) * drift + vector_length(couple) * drift / arm;
        if (pp_joint_has_coordinate(joint)) {
            unit u = unit_of(c, i);
            double rate = rate_of(&u, c, mean_velocity), along = state->drive + c->spring[i];
            add_limit_gain(c, i, rate, step, &along);
            double whole = along_coordinate(c, i);
            work -= (isnan(whole) ? along : whole) * rate;
        }
        bool driven = is_driven(c, joint->a) || is_driven(c, joint->b);
        pp_gains_add_joint(step, joint->a, joint->b, work, driven ? most / c->h : HUGE_VAL);
    }
}

// ── Velocities ───────────────────────────────────────────────────────────────────────────────────

// Equations of joints at the velocities after the step, judged by certify/.
perp_status pp_check_joint_rates(pp_recheck *c)
{
    const perp_model *m = c->model;
    double *off = PP_ARRAY(c->arena, double, m->joints),
           *limit = PP_ARRAY(c->arena, double, m->joints);
    // Joints are taken where the scheme takes them: at the start, or in the middle of the step for
    // the theta method.
    pp_poses end = {.t = c->now->t, .body = c->after, .turn = c->turn};
    pp_step_evidence e = {.model = m,
                          .kin = &c->kin,
                          .middle = c->acting != c->before ? c->acting : NULL,
                          .nu_old = c->nu0,
                          .nu = c->nu,
                          .end = &end,
                          .stepper = c->info->stepper,
                          .rotation = c->info->rotation,
                          .whole = c->whole,
                          .theta =
                              c->info->stepper == PERP_STEPPER_MOREAU_JEAN ? c->info->theta : 1.0};
    if (!off || !limit) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_judge_joint_rates(&e, &c->scales, off, limit, c->arena);
    if (status < 0) {
        return status;
    }
    // Exact positions are closed to this at the end, not at the rate.                     theory (S6)
    bool exact = c->info->positions == PERP_POSITIONS_EXACT;
    double closed = exact ? fmax(1e-11, 1e-14 * m->length_scale) / c->h : 0.0;
    for (int i = 0; i < m->joints; i++) {
        pp_check_record_worst(c, PERP_CHECK_RATE, off[i], limit[i] + closed, m->joint[i].name, "");
    }
    return PERP_OK;
}
