// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What two frames one step apart show: the position update, the balance of momentum, and the energy
// that contacts and joints made.
//
//   M (nu - nu^l) = p_ext + springs + sum of the impulses of contacts and joints, body by body
//   energy made   = sum over bodies of impulse . (mean of the velocities without and with it)
//                   + what belts add, - what pushing overlaps apart and closing joints may put in
//
// Impulses are added up as wrenches on bodies: no row, no matrix and no multiplier of the step is
// used.
#include "record/check/check.h"

#include <math.h>
#include <string.h>

// ── Positions ────────────────────────────────────────────────────────────────────────────────────

// The angular velocity at the end, expressed in axes turned back by the recorded rotation of the
// step: D^T omega.                                                                      theory (S9)
static perp_vec3 turned_back(const double *q0, const double *q, const double *w)
{
    perp_quat from = {q0[0], q0[1], q0[2], q0[3]}, to = {q[0], q[1], q[2], q[3]};
    pp_mat3 D = pp_quat_matrix(pp_quat_mul(to, pp_quat_conjugate(from)));
    return pp_mul_t(&D, pp_vec(w[0], w[1], w[2]));
}

// Distance of the recorded rotation from the one that the scheme makes of the velocities, as an
// angle [rad].                                                                    theory (S3), (S9)
static double turn_error(const pp_recheck *c, const perp_recorded_body *body, double theta)
{
    const double *q0 = c->q0 + body->at_q + 3, *q = c->now->q + body->at_q + 3;
    const double *w0 = c->nu0 + body->at_nu + 3, *w1 = c->nu + body->at_nu + 3;
    perp_vec3 end = theta == 1.0 ? pp_vec(w1[0], w1[1], w1[2]) : turned_back(q0, q, w1);
    double w[3] = {end.x, end.y, end.z}, to[4];
    for (int k = 0; k < 3; k++) {
        w[k] = c->h * ((1.0 - theta) * w0[k] + theta * w[k]);
    }
    double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    bool linear =
        c->info->rotation == PERP_ROTATION_LINEAR && c->info->coordinates != PERP_COORDINATES_JOINT;
    double s = linear || angle == 0.0 ? 0.5 : pp_sin(0.5 * angle) / angle;
    double e0 = linear ? 1.0 : pp_cos(0.5 * angle), e1 = s * w[0], e2 = s * w[1], e3 = s * w[2];
    // (e0, e) times the quaternion of the start.
    to[0] = e0 * q0[0] - e1 * q0[1] - e2 * q0[2] - e3 * q0[3];
    to[1] = e0 * q0[1] + e1 * q0[0] + e2 * q0[3] - e3 * q0[2];
    to[2] = e0 * q0[2] - e1 * q0[3] + e2 * q0[0] + e3 * q0[1];
    to[3] = e0 * q0[3] + e1 * q0[2] - e2 * q0[1] + e3 * q0[0];
    double norm = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
    // q and -q are one rotation
    double same = q[0] * to[0] + q[1] * to[1] + q[2] * to[2] + q[3] * to[3];
    norm = same < 0.0 ? -norm : norm;
    double square = 0.0;
    for (int k = 0; k < 4; k++) {
        double d = q[k] - to[k] / norm;
        square += d * d;
    }
    return 2.0 * sqrt(square);
}

static const double ROUNDED = 1e-14;   // of a rate at the speed of its island
static const double ROUNDING = 1e-12;  // of q + h nu
static const double MOMENTUM = 1e-9;   // of what goes in and out of a body, and of what it has
static const double MIDDLE =
    1e-8;  // of the step's way, to which the theta method's middle is found

// Length that makes an angle a distance [m].
static double arm_of(const pp_recheck *c, int body)
{
    return c->model ? c->model->body[body].reach : 1.0;
}

// Rounding of places and of the way of the step [m].                                    theory (K3)
static double motion_limit(const pp_recheck *c, int body)
{
    const perp_recorded_body *b = &c->recording->body[body].about;
    double reach = arm_of(c, body), place = 1.0 + reach;
    for (int k = 0; k < 2; k++) {
        place += fabs(c->q0[b->at_q + k]) + fabs(c->now->q[b->at_q + k]);
    }
    double way = 0.0;
    if (c->model) {
        double turn = c->h * pp_length(c->after[body].w);
        way = pp_length(pp_sub(c->after[body].p, c->before[body].p)) + reach * turn;
        place = c->scales.place[c->scales.island[body]] + reach + way;
        place += reach * fabs(c->after[body].angle);
    }
    return ROUNDING * place;
}

// How far a body is from where its own velocity brings it [m], q^l + h ((1 - theta) nu^l + theta
// nu).                                                                           theory (P11), (K3)
static double motion_error(const pp_recheck *c, int b)
{
    static const int moved[] = {[PERP_BODY_PLANAR] = 3,
                                [PERP_BODY_PLANAR_PARTICLE] = 2,
                                [PERP_BODY_SPATIAL] = 3,
                                [PERP_BODY_SPATIAL_PARTICLE] = 3};
    const perp_recorded_body *body = &c->recording->body[b].about;
    double theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN ? c->info->theta : 1.0, worst = 0.0;
    for (int k = 0; k < moved[body->kind]; k++) {
        double q0 = c->q0[body->at_q + k], q = c->now->q[body->at_q + k];
        double mean = (1.0 - theta) * c->nu0[body->at_nu + k] + theta * c->now->nu[body->at_nu + k];
        double arm = body->kind == PERP_BODY_PLANAR && k == 2 ? arm_of(c, b) : 1.0;
        worst = pp_check_worse(worst, arm * fabs(q - q0 - c->h * mean));
    }
    if (body->kind == PERP_BODY_SPATIAL) {
        worst = pp_check_worse(worst, arm_of(c, b) * turn_error(c, body, theta));
    }
    return worst;
}

// In joint coordinates bodies move along arcs; velocities of the implicit step are those of the straight ways.
static bool moves_along_joints(const pp_recheck *c)
{
    return c->info->coordinates == PERP_COORDINATES_JOINT && !pp_check_at_end(c);
}

// The schemes of first order turn bodies with one velocity a step, at the cost of angular momentum
// where the moments of inertia differ: by a tenth at most.                             theory (K11)
static void judge_spin(pp_recheck *c, int b)
{
    bool first = c->info->stepper == PERP_STEPPER_STEWART_TRINKLE ||
                 c->info->stepper == PERP_STEPPER_ANITESCU_POTRA || pp_check_at_end(c);
    if (c->model && first && !moves_along_joints(c)) {
        double lost =
            pp_angular_momentum_lost(&c->model->body[b], &c->before[b], &c->after[b], c->h);
        double arm = arm_of(c, b);
        pp_check_record_worst(c, PERP_CHECK_MOTION, arm * lost, arm * PP_SPIN_MOST,
                              c->recording->body[b].about.name, "");
    }
}

// Positions against velocities. In joint coordinates bodies go with those that carry them, which a
// recording without its model does not show.
perp_status pp_check_motion(pp_recheck *c)
{
    int bodies = c->info->bodies;
    bool arcs = moves_along_joints(c);
    if (arcs && !c->model) {
        return PERP_OK;
    }
    double *limit = PP_ZEROS(c->arena, double, bodies), *error = PP_ZEROS(c->arena, double, bodies);
    if (!limit || !error) {
        return PERP_ERR_MEMORY;
    }
    for (int b = 0; b < bodies; b++) {
        if (c->recording->body[b].about.at_nu >= 0) {
            limit[b] = motion_limit(c, b);
            error[b] = motion_error(c, b);
        }
    }
    if (arcs) {  // a body may leave its tangent by as much as an arc explains                theory (K3)
        const pp_motion_of of = {c->before, c->after, c->now->nu};
        perp_status status = pp_arcs_explain(c->model, c->h, &of, limit, error, c->arena);
        if (status < 0) {
            return status;
        }
    }
    for (int b = 0; b < bodies; b++) {
        const perp_recorded_body *body = &c->recording->body[b].about;
        if (body->at_nu >= 0) {
            pp_check_record_worst(c, PERP_CHECK_MOTION, error[b], limit[b], body->name, "");
            judge_spin(c, b);
        }
    }
    return PERP_OK;
}

// ── Impulses as wrenches on bodies ───────────────────────────────────────────────────────────────

// Adds sign times the impulse p at the point `at`, as a wrench about the origin of the body.
void pp_check_add_at(perp_wrench *w, const pp_frame *body, double sign, perp_vec3 p, perp_vec3 at)
{
    w->f_W = pp_along(w->f_W, sign, p);
    w->tau_W = pp_along(w->tau_W, sign, pp_cross(pp_sub(at, body->p), p));
}

// Rate of work [W] of a wrench, or work [J] of an impulse.
double pp_check_power(const perp_wrench *w, const perp_twist *v)
{
    return pp_dot3(w->f_W, v->v_W) + pp_dot3(w->tau_W, v->w_W);
}

// A driven body has the velocity it is given at the start of the step, or where the implicit step ends.
perp_twist pp_check_velocity(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    const pp_frame *f = &c->found[body];
    return of->nv == 0 ? (perp_twist){f->v, f->w} : pp_check_twist(of, c->nu + of->at);
}

// The same as contacts know it: of a driven body the mean over the step, or that of the end where laws hold there.                                                                             theory (P23)
perp_twist pp_check_contact_velocity(const pp_recheck *c, int body)
{
    const pp_frame *from = &c->before[body], *to = &c->after[body];
    if (c->model->body[body].nv > 0 || c->info->stepper == PERP_STEPPER_EVENT) {
        return pp_check_velocity(c, body);
    }
    if (c->info->stepper == PERP_STEPPER_MOREAU_JEAN) {
        return (perp_twist){to->v, to->w};
    }
    return pp_own_given_velocity(c->model, from, to, c->h);
}

static double value_at(const pp_expr *expr, double t)
{
    return expr ? pp_expr_value(expr, &t) : 0.0;
}

// Velocity of a surface relative to its body, at a point [m/s]: in the plane a speed along the
// outline, in space a velocity and a spin about z in the frame of the shape.
static perp_vec3 surface_of(const pp_recheck *c, int index, double t, perp_vec3 point,
                            perp_vec3 along)
{
    const pp_shape *s = &c->model->shape[index];
    const pp_frame *f = &c->found[s->body];
    if (!c->model->spatial) {
        return pp_scale(value_at(s->surface_speed, t), along);
    }
    perp_vec3 v = {value_at(s->surface[0], t), value_at(s->surface[1], t),
                   value_at(s->surface[2], t)};
    perp_vec3 arm = pp_mul_t(&s->X_BS.R, pp_sub(pp_mul_t(&f->R, pp_sub(point, f->p)), s->X_BS.p));
    double spin = value_at(s->surface[3], t);
    v = pp_add(v, pp_vec(-spin * arm.y, spin * arm.x, 0.0));
    return pp_rotate(f, pp_mul(&s->X_BS.R, v));
}

// In the plane a surface moves along its outward normal turned by -90 degrees.
perp_vec3 pp_check_surface(const pp_recheck *c, const perp_contact *contact)
{
    perp_vec3 n = contact->normal_W, t = {n.y, -n.x, 0.0}, sum = {0.0, 0.0, 0.0};
    // the mean of both ends of the step, as of bodies that are driven, or where it acts
    bool over = c->info->stepper != PERP_STEPPER_EVENT;
    bool last = over && c->info->stepper == PERP_STEPPER_MOREAU_JEAN;
    double end = c->t0 + c->h;
    const double at[2] = {last ? end : c->t0, over ? end : c->t0};
    for (int k = 0; k < 2; k++) {
        perp_vec3 b = surface_of(c, contact->b.i, at[k], contact->point_W, pp_scale(-1.0, t));
        sum = pp_add(sum, pp_sub(b, surface_of(c, contact->a.i, at[k], contact->point_W, t)));
    }
    return pp_scale(0.5, sum);
}

// Both bodies see the speed of the surface, and that of a driven body as a whole.
void pp_check_add_surface(pp_recheck *c, const perp_contact *contact)
{
    const perp_model *m = c->model;
    int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
    double speed = pp_length(pp_check_surface(c, contact));
    const int of[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        const pp_frame *other = &c->before[of[1 - k]];
        int island = c->scales.island[of[k]];
        if (island >= 0) {
            double given = m->body[of[1 - k]].nv == 0
                               ? pp_length(pp_point_velocity(other, contact->point_W))
                               : 0.0;
            c->scales.speed[island] = fmax(c->scales.speed[island], speed + given);
        }
    }
}

// Returns what undoing an overlap may give: one that the order of the scheme explains.
static double add_contact_impulse(pp_recheck *c, const perp_contact *contact)
{
    const perp_model *m = c->model;
    int a = m->shape[contact->a.i].body, b = m->shape[contact->b.i].body;
    perp_vec3 at = contact->point_W;
    perp_vec3 p = pp_along(contact->pf_W, contact->pn, contact->normal_W);
    const pp_frame *body = pp_check_acting(c, contact);
    pp_check_add_at(&c->impulse[b], &body[b], 1.0, p, at);
    pp_check_add_at(&c->impulse[a], &body[a], -1.0, p, at);
    c->impulse[b].tau_W = pp_along(c->impulse[b].tau_W, 1.0, contact->moment_W);
    c->impulse[a].tau_W = pp_along(c->impulse[a].tau_W, -1.0, contact->moment_W);
    c->load[a] += pp_length(p);
    c->load[b] += pp_length(p);
    // What pushing an overlap apart may give: p_n times the overlap over h, as far as the overlap
    // is a drift of the scheme.                                                  theory (K5), (P13)
    double drift = pp_drift_contact(m, c->before, c->h, contact->a.i, contact->b.i) +
                   pp_drift_driven(m, c->before, c->after, c->h, contact->a.i, contact->b.i);
    if (pp_check_at_end(
            c)) {  // rates at the end have of second order what is no motion of the gap: theory (I7)
        // without friction there is no recorded slip
        double speed = pp_length(
            pp_sub(pp_point_velocity(&c->after[b], at), pp_point_velocity(&c->after[a], at)));
        drift =
            pp_drift_contact_end(m, c->before, c->after, c->h, contact->a.i, contact->b.i, speed);
        double lifted = fmin(fmax(0.0, c->h * contact->rate_n), drift);
        double slid = fmin(c->h * pp_length(contact->hold_W), drift);
        return (fmax(0.0, contact->pn) * lifted + pp_length(contact->pf_W) * slid) / c->h;
    }
    return fmax(0.0, contact->pn) * fmin(fmax(0.0, -contact->gap), drift) / c->h;
}

// Impulse by which an actuator may miss its law at the recorded velocities: what a compliant row makes of the rounding of
// recorded positions, over gamma an impulse. With kp = 1e6 the last digit of an angle is 1e-12 N s in a step of 10 ms.
// Without inertia impulses balance the forces exactly, and velocities satisfy compliant rows to the residual that the
// certificate allows.
static double law_slack(const pp_recheck *c, const pp_row *row)
{
    if (!(row->gamma > 0.0) || row->count == 0) {
        return 0.0;
    }
    int island = c->scales.island[row->body[0]];
    double rate = c->info->stepper == PERP_STEPPER_QUASISTATIC
                      ? pp_scale_rate(&c->scales, island)
                      : pp_scale_rounding(&c->scales, island);
    return rate / row->gamma;
}

// A spring is one of the terms that the balance of a body is measured by: its force, and its couple at the longest arm.     (K6)
static void add_spring_load(pp_recheck *c, const pp_row *row, double p)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &c->model->body[row->body[k]];
        double f = 0.0, couple = 0.0, arm = fmax(body->reach, c->arm);
        for (int i = 0; i < body->nv; i++) {
            double *most = body->axis[i] < 3 ? &f : &couple;
            *most = fmax(*most, fabs(row->J[k][i]));
        }
        couple = arm > 0.0 ? couple / arm : 0.0;
        // the rate that gives the impulse is rounded: a light body on a stiff spring has less momentum than that over gamma
        double speed = pp_scale_speed(&c->scales, c->scales.island[row->body[k]]);
        double rounded = row->gamma > 0.0 ? ROUNDED * speed / row->gamma : 0.0;
        c->load[row->body[k]] += (fabs(p) + rounded / MOMENTUM) * fmax(f, couple);
    }
}

// What springs evaluated at the end of the step did, from the state there.
static perp_status add_springs(pp_recheck *c, double *left)
{
    pp_rows rows = {0};
    // Rows of springs alone: no contacts.
    pp_gaps none = {0};
    pp_scheme scheme = {.stepper = c->info->stepper,
                        .friction = c->info->friction,
                        .impact = c->info->impact,
                        .facets = 8,
                        .theta = c->info->theta};
    // Directions are those where joints act: in the middle of a step of the theta method.
    pp_poses middle = c->kin.poses;
    const pp_poses *joints = &c->kin.poses;
    pp_kinematics kin = c->kin;
    if (pp_check_at_end(c)) {  // or where the implicit step ends
        scheme.start = &c->kin.poses;
        kin.poses.t = c->now->t;
        kin.poses.body = c->after;
        joints = &kin.poses;
    } else if (c->acting != c->before) {
        middle.t += 0.5 * c->h;
        middle.body = c->acting;
        joints = &middle;
    }
    perp_status status = pp_rows_run(&rows, c->model, &kin, joints, &none, scheme, NULL, c->arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < rows.nb; i++) {
        const pp_row *row = &rows.b[i];
        // A compliant equation gives its impulse: 0 = rate + bias + gamma p.            theory (P5)
        double p =
            row->gamma > 0.0 ? -(pp_row_rate(c->model, row, c->nu) + row->bias) / row->gamma : 0.0;
        if (row->force >= 0) {
            pp_row_add(c->model, row, -p, NULL, left);
            add_spring_load(c, row, p);
        } else if (row->actuator >= 0) {
            pp_check_actuator(c, row->actuator, p, law_slack(c, row));
        } else if (row->spring && row->joint >= 0) {
            c->spring[row->joint] += p;  // in the joint's impulse
        }
    }
    // Limited actuators: the impulse of the law, or the nearest that the limits allow.    theory (A1)
    for (int i = 0; i < rows.nm; i++) {
        const pp_row *row = &rows.m[i];
        if (row->actuator >= 0) {
            double free = row->gamma > 0.0
                              ? -(pp_row_rate(c->model, row, c->nu) + row->bias) / row->gamma
                              : row->lower;
            pp_check_actuator(c, row->actuator, fmin(fmax(free, row->lower), row->upper),
                              law_slack(c, row));
        }
    }
    return PERP_OK;
}

// ── Balances ─────────────────────────────────────────────────────────────────────────────────────

// Component by component: impulses against what is left of the change of momentum.      theory (K6)
static void judge_momentum(pp_recheck *c, const double *left)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        perp_vec3 f = c->impulse[i].f_W, tau = c->impulse[i].tau_W;
        const double w[PP_BODY_NV] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
        int island = c->scales.island[i];
        for (int k = 0; k < body->nv; k++) {
            double own = body->divisor_mass * (MOMENTUM * pp_scale_speed(&c->scales, island) +
                                               pp_scale_rounding(&c->scales, island));
            double limit = own + MOMENTUM * c->load[i];
            // Moments are held against impulses at the longest arm, which ends in the middle of a step of the theta method.
            double placed =
                c->acting == c->before || pp_check_at_end(c) ? 0.0 : MIDDLE * c->load[i];
            limit = body->axis[k] < 3 ? limit : fmax(body->reach, c->arm) * (limit + placed);
            pp_check_record_worst(c, PERP_CHECK_MOMENTUM,
                                  fabs(left[body->at + k] - w[body->axis[k]]), limit, body->name,
                                  "");
        }
    }
}

// The theta method: M nu = M_l nu_l + impulses, with M where the step ends. Written as
// M (nu - nu_l), there is an additional impulse (M_l - M) nu_l.                         theory (S9)
static perp_status weigh_end(pp_recheck *c)
{
    const perp_model *m = c->model;
    pp_inertia *end = PP_ARRAY(c->arena, pp_inertia, m->bodies);
    double *had = PP_ARRAY(c->arena, double, m->nv), *has = PP_ARRAY(c->arena, double, m->nv);
    if (!end || !had || !has) {
        return PERP_ERR_MEMORY;
    }
    pp_masses(m, c->after, end);
    pp_masses_mul(m, c->kin.mass, c->nu0, had);
    pp_masses_mul(m, end, c->nu0, has);
    for (int i = 0; i < m->nv; i++) {
        c->kin.loads.p_ext[i] += had[i] - has[i];
    }
    c->kin.mass = end;
    return PERP_OK;
}

bool pp_check_start_sums(pp_recheck *c)
{
    c->impulse = PP_ZEROS(c->arena, perp_wrench, c->model->bodies);
    c->spring = PP_ZEROS(c->arena, double, c->model->joints);
    c->actuated = PP_ZEROS(c->arena, double, c->model->joints);
    c->missed = PP_ZEROS(c->arena, double, c->model->joints);
    c->load = PP_ZEROS(c->arena, double, c->model->bodies);
    c->arm = 0.0;
    c->given = PP_ZEROS(c->arena, double, c->model->bodies);
    c->joined = PP_ZEROS(c->arena, double, c->model->bodies);
    return c->impulse && c->spring && c->actuated && c->missed && c->load && c->given && c->joined;
}

// Adds up the recorded impulses on bodies, and the energy that closing overlaps and open joints may give.
static void add_impulses(pp_recheck *c)
{
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        int at = pp_check_account(c, c->model->shape[k->a.i].body, c->model->shape[k->b.i].body);
        c->given[at] += add_contact_impulse(c, k);
    }
    for (int i = 0; i < c->model->joints; i++) {
        pp_check_add_joint(c, i);
    }
}

perp_status pp_check_balance(pp_recheck *c)
{
    const perp_model *m = c->model;
    perp_status status = PERP_OK;
    if (c->info->stepper == PERP_STEPPER_MOREAU_JEAN) {
        status = weigh_end(c);
    }
    double *left = PP_ARRAY(c->arena, double, m->nv);
    double *none = PP_ZEROS(c->arena, double, m->nv);
    if (status < 0 || !left || !none || !pp_check_start_sums(c)) {
        return PERP_ERR_MEMORY;
    }
    // left = M (nu - nu^l) - p_ext - springs: what the impulses of contacts and joints must be.
    //                                                                                   theory (P1)
    bool inertia = c->info->stepper != PERP_STEPPER_QUASISTATIC;
    c->start = inertia ? c->nu0 : none;
    for (int i = 0; i < m->nv; i++) {
        left[i] = c->nu[i] - c->start[i];
        // A body that flies off is held by nothing, and not in balance: its velocity counts up to 100.
        if (!inertia) {
            left[i] = pp_check_share(c) * fmax(-100.0, fmin(100.0, left[i]));
        }
    }
    pp_masses_mul(m, c->kin.mass, left, left);
    pp_axpy(m->nv, -1.0, c->kin.loads.p_ext, left);
    status = add_springs(c, left);
    if (status < 0) {
        return status;
    }
    add_impulses(c);
    status = pp_check_joint_rates(c);
    pp_check_joints(c);
    judge_momentum(c, left);
    if (status >= 0) {
        status = pp_check_energy(c);
    }
    return status < 0 || pp_check_gains(c) ? status : PERP_ERR_MEMORY;
}

perp_status pp_check_impact(pp_recheck *c)
{
    const perp_model *m = c->model;
    double *left = PP_ARRAY(c->arena, double, m->nv);
    if (!left || !pp_check_start_sums(c)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->nv; i++) {
        left[i] = c->nu[i] - c->nu0[i];
    }
    pp_masses_mul(m, c->kin.mass, left, left);
    add_impulses(c);
    judge_momentum(c, left);
    return PERP_OK;
}
