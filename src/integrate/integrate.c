// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The position update.
#include "integrate/integrate.h"

// The velocity that moves the body in the step: the theta mean of both ends; theta = 1 is the end's, exactly.
static double theta_mean(double before, double after, double theta)
{
    return theta == 1.0 ? after : (1.0 - theta) * before + theta * after;
}

// Half of a turn is that of its quaternion and the start's, in the middle.
static perp_quat slerp_half(perp_quat from, perp_quat to, double share)
{
    if (share == 1.0) {
        return to;
    }
    perp_vec3 whole = pp_quat_log(pp_quat_mul(to, pp_quat_conjugate(from)));
    return pp_quat_unit(pp_quat_mul(pp_quat_exp(pp_scale(share, whole)), from));
}

// The quaternion from body axes to W, turned by the mean angular velocity (in W) over h as by->how says; normalised,
// since products of unit quaternions drift from length 1 by rounding.
static void turn_body(const pp_body *body, pp_state *next, const pp_state *now, const double *nu,
                      const pp_advance *by)
{
    const double *q = now->q + body->at_q + 3, *old = now->nu + body->at + 3;
    double *to = next->q + body->at_q + 3;
    perp_quat from = {q[0], q[1], q[2], q[3]};
    perp_vec3 before = {old[0], old[1], old[2]}, after = {nu[3], nu[4], nu[5]};
    perp_vec3 rate = pp_turn_rate(before, after, by->h, by->theta, by->how);
    perp_quat rot = from;  // what does not turn keeps its bits, which normalising might change
    if (pp_dot3(rate, rate) > 0.0) {
        rot = pp_quat_unit(pp_quat_mul(pp_rotation_increment(rate, by->h, by->how), from));
        rot = slerp_half(from, rot, by->share);
    }
    // -0, which the start may have, becomes 0, as in a product: equal states have equal bits
    to[0] = rot.w + 0.0;
    to[1] = rot.x + 0.0;
    to[2] = rot.y + 0.0;
    to[3] = rot.z + 0.0;
}

// q + share h v: the next state, or for share < 1 the poses inside the step. Velocities are those at the end.
void pp_integrate(pp_state *next, const perp_model *model, const pp_state *now, const double *nu,
                  const pp_advance *by)
{
    next->t = now->t + by->share * by->h;
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        int moved = body->kind == PERP_BODY_SPATIAL && body->nv > 0 ? 3 : body->nv;
        for (int k = 0; k < body->nv; k++) {
            next->nu[body->at + k] = nu[body->at + k];
        }
        for (int k = 0; k < moved; k++) {
            double v = theta_mean(now->nu[body->at + k], nu[body->at + k], by->theta);
            next->q[body->at_q + k] = now->q[body->at_q + k] + by->share * by->h * v;
        }
        if (moved < body->nv) {
            turn_body(body, next, now, nu + body->at, by);
        }
    }
}
