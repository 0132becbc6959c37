// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges a closing: bodies that were moved from where the rule of a step led them, without a change of their velocities,
// until joints, limits and gaps are closed.
//
//   M d = W(q) rho,   phi(q) = 0,   0 <= rho_n _|_ psi(q) >= 0                                 theory (I9), (K16)
//
// The way d is taken from the two places, W is written again from the model. Errors are lengths: what is left of M d over the
// mass of the body, and gaps at which something pushes.
//
// Of a start that is kept as given a closing takes back a part: the same M d = W rho, in which only what overlaps, is open, or
// touches has multipliers, and is moved towards its place and not beyond.                                     theory (K8)
#include "certify/scale.h"

#include <math.h>

// Of what turning may leave in other schemes: 1e-8 of the thinner shape and of a joint's arm.          theory (K14)
static const double CLOSED = 1e-6;
static const double ROUNDING = 1e-12;  // of coordinates
// Of a thickness or an arm: as far as a whole step may take a start as given back.                            theory (K8)
static const double A_STEP = 0.05;

// M d - sum of multipliers of one body [kg m, kg m^2], and the sizes of all terms.
typedef struct way_balance {
    perp_vec3 f, tau;
    double size_f, size_tau;
} way_balance;

// The turn of a body on its way as a rotation vector in world axes [rad].
static perp_vec3 turn_between(const perp_model *m, int i, const pp_frame *from, const pp_frame *to)
{
    if (!m->spatial) {
        return pp_vec(0.0, 0.0, to[i].angle - from[i].angle);
    }
    return pp_quat_log(pp_quat_mul(to[i].rot, pp_quat_conjugate(from[i].rot)));
}

static void add_term(way_balance *to, double by, perp_vec3 f, perp_vec3 tau)
{
    to->f = pp_along(to->f, by, f);
    to->tau = pp_along(to->tau, by, tau);
    to->size_f += fabs(by) * pp_length(f);
    to->size_tau += fabs(by) * pp_length(tau);
}

static void open_ways(const pp_closing_evidence *e, way_balance *of)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *from = &e->from->body[i], *to = &e->to->body[i];
        if (body->nv > 0) {
            perp_vec3 turn_B = pp_mul_t(&from->R, turn_between(m, i, e->from->body, e->to->body));
            perp_vec3 spin = pp_mul(&from->R, pp_mul(&body->I_B, turn_B));
            add_term(&of[i], 1.0, pp_scale(body->mass, pp_sub(to->p, from->p)), spin);
        }
    }
}

// A row of this folder times its multiplier.
static void add_row(const perp_model *m, const pp_row *row, double p, way_balance *of)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        double all[PP_BODY_NV] = {0.0};
        for (int i = 0; i < b->nv; i++) {
            all[b->axis[i]] = row->J[k][i];
        }
        add_term(&of[row->body[k]], -p, pp_vec(all[0], all[1], all[2]),
                 pp_vec(all[3], all[4], all[5]));
    }
}

// What a partial closing did to an error: it becomes smaller, by no more than the step's share of `unit`, and does not change
// its sign.                                                                                                   theory (K8)
static void hold_part(perp_certificate *out, const pp_closing_evidence *e,
                      const perp_limits *limits, double from, double to, double unit)
{
    if (e->share > 0.0) {
        double beyond = from < 0.0 ? to : -to;
        double back = fabs(from - to) - e->share * A_STEP * unit;
        double off = fmax(fmax(beyond, back), fabs(to) - fabs(from));
        pp_certificate_record(out, limits, PERP_JUDGED_MOTION, isnan(off) ? off : fmax(off, 0.0),
                              CLOSED * PP_APART * unit);
    }
}

// What the errors of a row are measured by [m, rad, or the unit of a coupling].
static double unit_of(const perp_model *m, const pp_row *row, int joint)
{
    double unit = pp_scale_is_length(m, row) ? pp_scale_arm(m, &m->joint[joint]) : 1.0;
    return m->joint[joint].kind == PERP_JOINT_COUPLING ? unit * pp_scale_coupling(m, row) : unit;
}

// Multipliers of equations and targets, joint by joint in the order of the problem. False: their number is another.
static bool add_joints(perp_certificate *out, const pp_closing_evidence *e,
                       const perp_limits *limits, way_balance *of)
{
    const perp_model *m = e->model;
    int at = 0;
    for (int j = 0; j < m->joints; j++) {
        pp_row row[PP_JOINT_EQUATIONS + 1], before[PP_JOINT_EQUATIONS + 1];
        int count = pp_own_equations(m, e->to, j, row), given = 0;
        int equations = pp_own_equations(m, e->from, j, before);
        count += pp_own_coordinate(m, e->to, j, &row[count]);
        for (; at < e->rows->nb && e->rows->b[at].joint == j; at++, given++) {
            if (given == count) {
                return false;
            }
            add_row(m, &row[given], e->pb[at], of);
            if (given < equations) {
                hold_part(out, e, limits, before[given].value, row[given].value,
                          unit_of(m, &row[given], j));
            }
        }
    }
    return at == e->rows->nb;
}

// Multipliers of limits push away from the nearer one, which is closed.
static void add_limits(perp_certificate *out, const pp_closing_evidence *e,
                       const perp_limits *limits, way_balance *of)
{
    const perp_model *m = e->model;
    for (int i = e->rows->nc; i < e->rows->nn; i++) {
        const pp_joint *j = &m->joint[e->rows->n[i].joint];
        pp_row row;
        if (e->pn[i] == 0.0 || !pp_own_coordinate(m, e->to, e->rows->n[i].joint, &row)) {
            continue;
        }
        double below = fabs(row.value - j->lower), above = fabs(j->upper - row.value);
        bool lower = !(above < below);
        double arm = pp_scale_is_length(m, &row) ? pp_scale_arm(m, j) : 1.0;
        if (e->share > 0.0) {
            // the limit that is nearer after the way
            pp_row before;
            pp_own_coordinate(m, e->from, e->rows->n[i].joint, &before);
            lower = row.value - j->lower < j->upper - row.value;
            hold_part(out, e, limits,
                      lower ? fmin(before.value - j->lower, 0.0)
                            : fmin(j->upper - before.value, 0.0),
                      lower ? row.value - j->lower : j->upper - row.value,
                      unit_of(m, &row, e->rows->n[i].joint));
        } else {
            pp_certificate_record(out, limits, PERP_JUDGED_MOTION, lower ? below : above,
                                  CLOSED * PP_APART * arm);
        }
        add_row(m, &row, lower ? e->pn[i] : -e->pn[i], of);
    }
}

// Separation of two shapes where the closing starts, along its normal there: the normal of the end turned back with the body
// whose feature it is on. Any axis shows at most what there is.
static double separation_before(const pp_closing_evidence *e, const pp_contact *c)
{
    const perp_model *m = e->model;
    double most = pp_shape_separation(m, e->from->body, c->a, c->b, c->n);
    const int shape[2] = {c->a, c->b};
    for (int k = 0; k < 2; k++) {
        int body = m->shape[shape[k]].body;
        perp_vec3 n_B = pp_mul_t(&e->to->body[body].R, c->n);
        perp_vec3 n = pp_mul(&e->from->body[body].R, n_B);
        most = fmax(most, pp_shape_separation(m, e->from->body, c->a, c->b, n));
    }
    return most;
}

// How deep two shapes still overlap after a partial closing, in which they pushed each other; 0 where all is closed.
static double overlap_left(perp_certificate *out, const pp_closing_evidence *e,
                           const perp_limits *limits, const pp_contact *c)
{
    const perp_model *m = e->model;
    if (!(e->share > 0.0) || c->listed >= 0 || m->shape[c->a].mesh || m->shape[c->b].mesh) {
        return 0.0;
    }
    double skin =
        pp_skin(m, c->a, c->b);  // keeps two shapes without an inside apart          theory (P21)
    double from = separation_before(e, c) - skin;
    double to = pp_shape_separation(m, e->to->body, c->a, c->b, c->n) - skin;
    hold_part(out, e, limits, fmin(from, 0.0), to, pp_scale_overlap(m, c->a, c->b) / PP_APART);
    return fmax(0.0, -to);
}

// Points of two shapes along one normal: what is left of the overlap of one is left of the other's.
static bool has_same_overlap(const pp_contact *c, const pp_contact *other)
{
    return c->a == other->a && c->b == other->b && c->listed < 0 && other->listed < 0 &&
           pp_same_bits(&c->n, &other->n, sizeof c->n);
}

// A contact that pushes lies on both surfaces, or within what still overlaps. Of meshes the gap alone is judged.
static void add_pushes(perp_certificate *out, const pp_closing_evidence *e,
                       const perp_limits *limits, way_balance *of)
{
    const perp_model *m = e->model;
    const pp_contact *judged = NULL;  // the last one whose overlap was looked at,
    double within = 0.0;              // and what is left of it: the point may be anywhere within
    for (int i = 0; i < e->rows->nc; i++) {
        const pp_contact *c = &e->gaps->contact[e->rows->contact[i]];
        const int shape[2] = {c->a, c->b};
        if (e->pn[i] == 0.0) {
            continue;
        }
        if (!judged || !has_same_overlap(judged, c)) {
            within = overlap_left(out, e, limits, c);
            judged = c;
        }
        for (int k = 0; k < 2; k++) {
            int body = m->shape[shape[k]].body;
            double sign = k == 0 ? -1.0 : 1.0;
            perp_vec3 out_W = pp_scale(-sign, c->n), f = pp_scale(sign, c->n);
            if (m->shape[shape[k]].kind != PERP_SHAPE_MESH &&
                m->shape[shape[k]].kind != PERP_SHAPE_HEIGHTFIELD) {
                // midway in the skin of two shapes without an inside
                double off = pp_shape_surface_error(m, e->to->body, shape[k], c->point, out_W) -
                             0.5 * pp_skin(m, c->a, c->b);
                pp_certificate_record(out, limits, PERP_JUDGED_MOTION,
                                      fmax(0.0, fabs(off) - within),
                                      CLOSED * pp_scale_overlap(m, c->a, c->b));
            }
            if (m->body[body].nv > 0) {
                perp_vec3 arm = pp_sub(c->point, e->to->body[body].p);
                add_term(&of[body], -e->pn[i], f, pp_cross(arm, f));
            }
        }
    }
}

// Nothing pulls; what is left of M d is a length over the mass, or an angle at the reach over the inertia.
static void judge_way(perp_certificate *out, const pp_closing_evidence *e,
                      const perp_limits *limits, const way_balance *of)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (body->nv == 0) {
            continue;
        }
        perp_vec3 f = of[i].f, tau = of[i].tau;
        f.z = pp_body_is_spatial(body) ? f.z : 0.0;
        double turn = body->kind == PERP_BODY_SPATIAL ? pp_length(tau) : fabs(tau.z);
        double place = pp_length(e->to->body[i].p) + body->reach, mass = body->divisor_mass;
        pp_certificate_record(out, limits, PERP_JUDGED_MOTION, pp_length(f) / mass,
                              e->slack * of[i].size_f / mass + ROUNDING * place);
        if (pp_body_turns(body) && body->reach > 0.0) {
            // moments over the mass and the reach: as forces at the rim
            double by = mass * body->reach;
            pp_certificate_record(out, limits, PERP_JUDGED_MOTION, turn / by,
                                  e->slack * of[i].size_tau / by + ROUNDING * place);
        }
    }
    for (int i = 0; i < e->rows->nn; i++) {
        pp_certificate_record(out, limits, PERP_JUDGED_MOTION, e->pn[i] < 0.0 ? HUGE_VAL : 0.0,
                              1.0);
    }
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// Speed of the coordinate of a joint, with the bodies as given; that of an angle at the arm [m/s].
static double coordinate_speed(const perp_model *m, const pp_poses *at, const pp_frame *body,
                               int joint)
{
    pp_poses moving = *at;
    pp_row row;
    moving.body = body;
    if (!pp_own_coordinate(m, &moving, joint, &row)) {
        return 0.0;
    }
    double arm = pp_scale_is_length(m, &row) ? 1.0 : pp_scale_arm(m, &m->joint[joint]);
    return arm * fabs(row.v_pre);
}

// What the order of the step explains of the errors that were closed [m]: turning, and for contacts also the way of their
// points in the step, since one that closes in its second half is met by the next step.                  theory (K16)
static double explained_error(const pp_closing_evidence *e)
{
    const perp_model *m = e->model;
    double most = 0.0;
    for (int i = 0; i < e->rows->nc; i++) {
        const pp_contact *c = &e->gaps->contact[e->rows->contact[i]];
        // velocities jump in steps: the faster end counts
        const pp_frame *const at[2] = {e->start, e->from->body};
        for (int k = 0; k < 2 && e->pn[i] > 0.0; k++) {
            const pp_frame *a = &at[k][m->shape[c->a].body], *b = &at[k][m->shape[c->b].body];
            perp_vec3 v = pp_sub(pp_own_velocity(b, c->point), pp_own_velocity(a, c->point));
            double drift = pp_drift_contact(m, at[k], e->h, c->a, c->b) + e->h * pp_length(v);
            most = fmax(most, drift);
        }
    }
    for (int i = 0; i < e->rows->nb + e->rows->nn - e->rows->nc; i++) {
        const pp_row *row =
            i < e->rows->nb ? &e->rows->b[i] : &e->rows->n[e->rows->nc + i - e->rows->nb];
        const pp_joint *j = &m->joint[row->joint];
        double drift =
            fmax(pp_drift_joint(m, e->start, e->h, j), pp_drift_joint(m, e->from->body, e->h, j));
        // a limit is met as a contact is
        if (i >= e->rows->nb && e->pn[e->rows->nc + i - e->rows->nb] > 0.0) {
            drift += e->h * fmax(coordinate_speed(m, e->from, e->start, row->joint),
                                 coordinate_speed(m, e->from, e->from->body, row->joint));
        }
        most = fmax(most, drift);
    }
    return most;
}

// Of a start as given: errors within the limits of gaps and joints are none, and nor is what closing them makes. It cannot add
// up, since the places that a closing starts from are held to the same limits.                          theory (K8)
static double tolerated_error(const pp_closing_evidence *e)
{
    const perp_model *m = e->model;
    double most = 0.0;
    for (int i = 0; i < e->rows->nc; i++) {
        const pp_contact *c = &e->gaps->contact[e->rows->contact[i]];
        most = fmax(most, e->pn[i] > 0.0 ? pp_scale_overlap(m, c->a, c->b) : 0.0);
    }
    for (int i = 0; i < e->rows->nb + e->rows->nn - e->rows->nc; i++) {
        const pp_row *row =
            i < e->rows->nb ? &e->rows->b[i] : &e->rows->n[e->rows->nc + i - e->rows->nb];
        most = fmax(most, PP_APART * pp_scale_arm(m, &m->joint[row->joint]));
    }
    return most;
}

// Energy that the way made [J], beyond the work of weights, springs and gyroscopic moments along it, as far as the order of
// the step explains the way.                                                             theory (K16)
static void judge_energy_of_way(perp_certificate *out, const pp_closing_evidence *e,
                                const perp_limits *limits)
{
    const perp_model *m = e->model;
    double made = 0.0, allowed = 0.0, scale = 0.0;
    double most = e->share > 0.0 ? tolerated_error(e) : explained_error(e);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *from = &e->from->body[i], *to = &e->to->body[i];
        if (body->nv == 0) {
            continue;
        }
        perp_vec3 way = pp_sub(to->p, from->p), w = pp_mul_t(&from->R, from->w);
        perp_vec3 turned = pp_mul_t(&to->R, to->w),
                  weight = pp_scale(body->mass * body->gravity_scale, m->gravity);
        perp_vec3 spin = pp_mul(&body->I_B, w);
        double turn = pp_length(turn_between(m, i, e->from->body, e->to->body));
        double T = 0.5 * pp_dot3(w, spin),
               after = 0.5 * pp_dot3(turned, pp_mul(&body->I_B, turned));
        made += after - T - pp_dot3(weight, way);
        // twice: what one body needs may be moved by another, and the end of the way differs from its start
        allowed += 2.0 * pp_length(weight) * fmin(pp_length(way), most);
        double angle = body->reach > 0.0 ? fmin(turn, most / body->reach) : turn;
        allowed += 2.0 * pp_length(pp_cross(w, spin)) * angle;
        scale += T + 0.5 * body->mass * pp_dot3(from->v, from->v) +
                 pp_length(weight) * (body->reach + pp_length(from->v) * e->h);
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        if (f->kind != PERP_FORCE_SPRING && f->kind != PERP_FORCE_TORSION_SPRING) {
            continue;
        }
        double V = pp_spring_energy(f, e->from->body), after = pp_spring_energy(f, e->to->body);
        made += after - V;
        scale += V + after;
        // stretch s = sqrt(2 V / k), force k s = sqrt(2 V k); both ends move
        allowed += 2.0 * most * sqrt(2.0 * V * f->stiffness) + 2.0 * f->stiffness * most * most;
    }
    // of a start as given all of it is shown, beside what is allowed of it
    bool part = e->share > 0.0;
    pp_certificate_record(out, limits, PERP_JUDGED_ENERGY, fmax(0.0, part ? made : made - allowed),
                          part ? allowed + e->slack * scale : e->slack * scale);
}

perp_status pp_certify_closing(perp_certificate *out, const pp_closing_evidence *e,
                               const perp_limits *limits, pp_arena *arena)
{
    *out = (perp_certificate){0};
    const pp_places places = {
        .end = e->to, .gaps = e->gaps, .share = e->share > 0.0 ? 0.0 : CLOSED};
    perp_status status = pp_judge_places(out, e->model, &places, limits, arena);
    if (status < 0) {
        return status;
    }
    pp_judge_joints(out, e->model, e->to, e->share > 0.0 ? 1.0 : CLOSED, limits);
    way_balance *of = PP_ZEROS(arena, way_balance, e->model->bodies);
    if (!of) {
        return PERP_ERR_MEMORY;
    }
    // The way, its multipliers, and the energy that it makes.
    open_ways(e, of);
    if (!add_joints(out, e, limits, of)) {
        pp_certificate_record(out, limits, PERP_JUDGED_RESIDUAL, HUGE_VAL, 0.0);
    }
    add_limits(out, e, limits, of);
    add_pushes(out, e, limits, of);
    judge_way(out, e, limits, of);
    if (!e->light) {
        judge_energy_of_way(out, e, limits);
    }
    out->passed = pp_certificate_passes(out);
    return PERP_OK;
}
