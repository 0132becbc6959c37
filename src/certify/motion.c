// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions against velocities: |q+ - q - h G ((1 - theta) nu_old + theta nu)|, body by body.   theory (K3)
#include "certify/scale.h"

#include <math.h>

// The rate of a body's turn in the step. Of the new velocity the theta method takes the body's own components, in the
// axes of the start.                                                                    theory (S9)
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

// Angle between where the body is and where its mean angular velocity turns it.
static double turn_error(const pp_step_evidence *e, int i)
{
    perp_quat q = e->kin->poses.body[i].rot, now = e->end->body[i].rot;
    perp_vec3 rate = pp_judge_turn(e, i);
    double w[3] = {e->kin->h * rate.x, e->kin->h * rate.y, e->kin->h * rate.z};
    double angle = pp_length(pp_vec(w[0], w[1], w[2]));
    bool linear = e->rotation == PERP_ROTATION_LINEAR && !e->along_joints;
    double c = linear ? 1.0 : cos(0.5 * angle);
    double s = linear || angle == 0.0 ? 0.5 : sin(0.5 * angle) / angle;
    double to[4] = {c * q.w - s * (w[0] * q.x + w[1] * q.y + w[2] * q.z),
                    c * q.x + s * (w[0] * q.w + w[1] * q.z - w[2] * q.y),
                    c * q.y + s * (w[1] * q.w + w[2] * q.x - w[0] * q.z),
                    c * q.z + s * (w[2] * q.w + w[0] * q.y - w[1] * q.x)};
    double norm = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
    double is[4] = {now.w, now.x, now.y, now.z}, plus = 0.0, minus = 0.0;
    for (int k = 0; k < 4; k++) {
        plus += (is[k] + to[k] / norm) * (is[k] + to[k] / norm);
        minus += (is[k] - to[k] / norm) * (is[k] - to[k] / norm);
    }
    return 2.0 * sqrt(fmin(plus, minus));
}

static double body_error(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    double way[PP_BODY_NV] = {
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

// The rule holds to rounding, of bodies by themselves or, in joint coordinates, of bodies on those that carry them.
static const double ROUNDING = 1e-12;

static double motion_limit(const pp_step_evidence *e, const pp_scales *s, int i)
{
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    double way = pp_length(pp_sub(to->p, from->p)), reach = e->model->body[i].reach;
    double turns = reach * (fabs(to->angle) + e->kin->h * pp_length(to->w));
    return ROUNDING * (s->place[s->island[i]] + way + reach + turns);
}

// The schemes of first order turn bodies with one velocity a step.
static void hold_spin(perp_certificate *c, const pp_step_evidence *e, const perp_limits *limits,
                      int i)
{
    const pp_body *body = &e->model->body[i];
    bool first =
        e->stepper == PERP_STEPPER_STEWART_TRINKLE || e->stepper == PERP_STEPPER_ANITESCU_POTRA;
    if (first && !e->along_joints) {
        double lost =
            pp_angular_momentum_lost(body, &e->kin->poses.body[i], &e->end->body[i], e->kin->h);
        pp_certificate_record(c, limits, PERP_JUDGED_MOTION, body->reach * lost,
                              body->reach * PP_SPIN_MOST);
    }
}

perp_status pp_judge_motion(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                            const perp_limits *limits, pp_arena *arena)
{
    int bodies = e->model->bodies;
    double *limit = PP_ZEROS(arena, double, bodies), *error = PP_ZEROS(arena, double, bodies);
    perp_status status = limit && error ? PERP_OK : PERP_ERR_MEMORY;
    for (int i = 0; status >= 0 && i < bodies; i++) {
        if (s->island[i] >= 0) {
            limit[i] = motion_limit(e, s, i);
            error[i] = body_error(e, i);
        }
    }
    if (status >= 0 && e->along_joints) {
        const pp_motion_of of = {e->kin->poses.body, e->end->body, e->nu};
        status = pp_arcs_explain(e->model, e->kin->h, &of, limit, error, arena);
    }
    for (int i = 0; status >= 0 && i < bodies; i++) {
        if (s->island[i] >= 0) {
            pp_certificate_record(c, limits, PERP_JUDGED_MOTION, error[i], limit[i]);
            hold_spin(c, e, limits, i);
        }
    }
    return status;
}
