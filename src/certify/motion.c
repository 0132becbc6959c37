// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions against velocities: |q+ - q - h G ((1 - theta) nu_old + theta nu)| of each body. The
// rotation is integrated here a second time, in quaternions.                           theory (K3)
#include "certify/scale.h"

#include <math.h>

// Mean angular velocity of a solid in the step, in world axes [rad/s]. The theta method takes the
// new velocity by its components in body axes, expressed in the axes at the start.     theory (S9)
perp_vec3 pp_judge_turn(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    const pp_mat3 *from = &e->kin->poses.body[i].R, *to = &e->end->body[i].R;
    const double *old = e->nu_old + body->at + 3, *nu = e->nu + body->at + 3;
    perp_vec3 w = pp_vec(nu[0], nu[1], nu[2]);
    if (e->theta != 1.0) {
        w = pp_mul(from, pp_mul_t(to, w));
    }
    return pp_along(pp_scale(1.0 - e->theta, pp_vec(old[0], old[1], old[2])), e->theta, w);
}

// Angle between the orientation of a body and the one that its mean angular velocity gives [rad].
static double turn_error(const pp_step_evidence *e, int i)
{
    perp_quat q = e->kin->poses.body[i].rot, now = e->end->body[i].rot;
    perp_vec3 rate = pp_judge_turn(e, i);
    double w[3] = {e->kin->h * rate.x, e->kin->h * rate.y, e->kin->h * rate.z};
    double angle = pp_length(pp_vec(w[0], w[1], w[2]));
    bool linear = e->rotation == PERP_ROTATION_LINEAR && !e->along_joints;
    // q+ = exp(h w / 2) q, or q + h w / 2 q for the linear update, which is normalised after.
    double c = 1.0, s = 0.5;
    if (!linear && angle > 0.0) {
        pp_sine_cosine(0.5 * angle, &s, &c);
        s /= angle;
    }
    double to[4] = {c * q.w - s * (w[0] * q.x + w[1] * q.y + w[2] * q.z),
                    c * q.x + s * (w[0] * q.w + w[1] * q.z - w[2] * q.y),
                    c * q.y + s * (w[1] * q.w + w[2] * q.x - w[0] * q.z),
                    c * q.z + s * (w[2] * q.w + w[0] * q.y - w[1] * q.x)};
    double norm = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
    // q and -q are the same rotation: the nearer one counts. A chord x of unit quaternions is an
    // angle of 2 x.
    double is[4] = {now.w, now.x, now.y, now.z}, plus = 0.0, minus = 0.0;
    for (int k = 0; k < 4; k++) {
        plus += (is[k] + to[k] / norm) * (is[k] + to[k] / norm);
        minus += (is[k] - to[k] / norm) * (is[k] - to[k] / norm);
    }
    return 2.0 * sqrt(fmin(plus, minus));
}

// Error of position plus error of rotation at the reach of the body [m].
static double body_error(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    double way[PP_BODY_NV] = {
        // Rotations of solids are compared in turn_error; a planar body has one angle, about z.
        to->p.x - from->p.x,    to->p.y - from->p.y, to->p.z - from->p.z, 0.0, 0.0,
        to->angle - from->angle};
    double off = 0.0, turned = 0.0;
    for (int k = 0; k < body->nv; k++) {
        int axis = body->axis[k], at = body->at + k;
        double mean = (1.0 - e->theta) * e->nu_old[at] + e->theta * e->nu[at];
        double error = way[axis] - e->kin->h * mean;
        if (axis < 3) {
            off += error * error;
        } else if (body->kind == PERP_BODY_PLANAR) {
            turned = fabs(error);
        }
    }
    if (body->kind == PERP_BODY_SPATIAL) {
        turned = turn_error(e, i);
    }
    return sqrt(off) + body->reach * turned;
}

// The rule holds to rounding: for each body by itself, or in joint coordinates for each body on the
// one that carries it.
static const double ROUNDING = 1e-12;

// Rounding of positions grows with coordinates, displacement and size, that of angles with their
// value [m].
static double motion_limit(const pp_step_evidence *e, const pp_scales *s, int i)
{
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    double way = pp_length(pp_sub(to->p, from->p)), reach = e->model->body[i].reach;
    double turns = reach * (fabs(to->angle) + e->kin->h * pp_length(to->w));
    return ROUNDING * (s->place[s->island[i]] + way + reach + turns);
}

// First-order schemes turn a body with a single velocity in a step, and so miss angular momentum.
// As an error of position it counts at the reach of the body.                         theory (K11)
static void hold_spin(perp_certificate *c, const pp_step_evidence *e, const perp_limits *limits,
                      int i)
{
    const pp_body *body = &e->model->body[i];
    bool first = e->stepper == PERP_STEPPER_STEWART_TRINKLE ||
                 e->stepper == PERP_STEPPER_ANITESCU_POTRA || e->stepper == PERP_STEPPER_IMPLICIT;
    if (first && !e->along_joints) {
        double lost =
            pp_angular_momentum_lost(body, &e->kin->poses.body[i], &e->end->body[i], e->kin->h);
        pp_certificate_record(c, limits, PERP_JUDGED_MOTION, body->reach * lost,
                              body->reach * PP_SPIN_MOST);
    }
}

// Beyond half of its way and half of the largest shape a driven body turns back within the step, or jumps.
static const double LEAVES = 0.5;

bool pp_drive_is_unresolved(const perp_model *m, int i, const pp_frame *from, const pp_frame *to,
                            double h, double *off, double *most)
{
    if (m->body[i].drive != PERP_MOTION_KINEMATIC) {
        return false;
    }
    perp_vec3 way = pp_sub(to->p, from->p);
    double before = pp_length(pp_sub(way, pp_scale(h, from->v)));
    double after = pp_length(pp_sub(way, pp_scale(h, to->v)));
    *off = fmax(before, after);
    *most = LEAVES * fmax(pp_length(way), m->length_scale);
    return *off > *most;
}

// A driven body that pushes where nobody knows its way within the step pushes with a mean velocity that says nothing.
static void hold_drives(perp_certificate *c, const pp_step_evidence *e, const perp_limits *limits)
{
    const perp_model *m = e->model;
    for (int i = 0; i < e->rows->nc; i++) {
        const pp_contact *contact = &e->gaps->contact[e->rows->contact[i]];
        const int body[2] = {m->shape[contact->a].body, m->shape[contact->b].body};
        for (int k = 0; k < 2 && e->pn[i] > 0.0; k++) {
            const pp_frame *from = &e->kin->poses.body[body[k]], *to = &e->end->body[body[k]];
            double off, most;
            if (pp_drive_is_unresolved(m, body[k], from, to, e->kin->h, &off, &most)) {
                pp_certificate_record(c, limits, PERP_JUDGED_MOTION, off, most);
            }
        }
    }
}

// Bodies whose own velocities are asked first: those that no joint ties to a body before them.
static void find_roots(const perp_model *m, bool *root)
{
    for (int i = 0; i < m->bodies; i++) {
        root[i] = true;
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (pp_arcs_carry(j)) {
            root[j->a > j->b ? j->a : j->b] = false;
        }
    }
}

// Along arcs the velocities of bodies do not predict their positions; those of joints do. One explanation within the limits
// is enough: the own velocities of all bodies, which take as long as all else, are tried where those of roots are not.
static perp_status explain_arcs(const pp_step_evidence *e, const pp_scales *s, const double *limit,
                                double *error, pp_arena *arena)
{
    const perp_model *m = e->model;
    const pp_motion_of of = {e->kin->poses.body, e->end->body, e->nu};
    bool *root = PP_ARRAY(arena, bool, m->bodies), within = true;
    if (!root) {
        return PERP_ERR_MEMORY;
    }
    find_roots(m, root);
    for (int i = 0; i < m->bodies; i++) {
        error[i] = 0.0;
        if (s->island[i] >= 0) {
            error[i] = root[i] ? body_error(e, i) : HUGE_VAL;
        }
    }
    perp_status status = pp_arcs_explain(m, e->kin->h, &of, limit, error, arena);
    for (int i = 0; i < m->bodies; i++) {
        within = within && (s->island[i] < 0 || error[i] <= limit[i]);
    }
    if (status < 0 || within) {
        return status;
    }
    for (int i = 0; i < m->bodies; i++) {
        error[i] = s->island[i] >= 0 ? body_error(e, i) : 0.0;
    }
    return pp_arcs_explain(m, e->kin->h, &of, limit, error, arena);
}

perp_status pp_judge_motion(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                            const perp_limits *limits, pp_arena *arena)
{
    int bodies = e->model->bodies;
    double *limit = PP_ZEROS(arena, double, bodies), *error = PP_ZEROS(arena, double, bodies);
    if (!limit || !error) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < bodies; i++) {
        if (s->island[i] >= 0) {
            limit[i] = motion_limit(e, s, i);
            error[i] = e->along_joints ? 0.0 : body_error(e, i);
        }
    }
    // in joint coordinates bodies leave their tangents by as much as arcs explain
    if (e->along_joints) {
        perp_status status = explain_arcs(e, s, limit, error, arena);
        if (status < 0) {
            return status;
        }
    }
    for (int i = 0; i < bodies; i++) {
        if (s->island[i] >= 0) {
            pp_certificate_record(c, limits, PERP_JUDGED_MOTION, error[i], limit[i]);
            hold_spin(c, e, limits, i);
        }
    }
    hold_drives(c, e, limits);
    return PERP_OK;
}
