// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The position update.
#include "integrate/integrate.h"

static double mean(double before, double after, double theta)
{
    return theta == 1.0 ? after : (1.0 - theta) * before + theta * after;
}

// The quaternion turned by h w: on the sphere, or along its tangent and back.
static perp_quat turned(perp_quat q, perp_vec3 w, double h, perp_rotation_update how)
{
    if (how == PERP_ROTATION_EXPONENTIAL) {
        return pp_quat_unit(pp_quat_mul(pp_quat_exp(pp_scale(h, w)), q));
    }
    perp_quat rate = pp_quat_mul((perp_quat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z}, q);
    return pp_quat_unit(
        (perp_quat){q.w + h * rate.w, q.x + h * rate.x, q.y + h * rate.y, q.z + h * rate.z});
}

// The step's equations have omega in the axes the body had at its start; with theta = 1 it is the axis
// that the body turns about and stays as it is.
static void turn_body(const pp_body *body, pp_state *next, const pp_state *now, const double *nu,
                      double h, double theta, perp_rotation_update how)
{
    const double *q = now->q + body->at_q + 3, *old = now->nu + body->at + 3;
    double *to = next->q + body->at_q + 3, *w = next->nu + body->at + 3;
    perp_quat from = {q[0], q[1], q[2], q[3]};
    perp_vec3 middle = {mean(old[0], nu[3], theta), mean(old[1], nu[4], theta),
                        mean(old[2], nu[5], theta)};
    perp_quat rot = turned(from, middle, h, how);
    to[0] = rot.w;
    to[1] = rot.x;
    to[2] = rot.y;
    to[3] = rot.z;
    if (theta != 1.0) {
        pp_mat3 R = pp_quat_matrix(pp_quat_mul(rot, pp_quat_conjugate(from)));
        perp_vec3 end = pp_mul(&R, pp_vec(nu[3], nu[4], nu[5]));
        w[0] = end.x;
        w[1] = end.y;
        w[2] = end.z;
    }
}

void pp_integrate(pp_state *next, const perp_model *model, const pp_state *now, const double *nu,
                  double h, double theta, perp_rotation_update how)
{
    next->t = now->t + h;
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        int moved = body->kind == PERP_SPATIAL_BODY && body->nv > 0 ? 3 : body->nv;
        for (int k = 0; k < body->nv; k++) {
            next->nu[body->at + k] = nu[body->at + k];
        }
        for (int k = 0; k < moved; k++) {
            double v = mean(now->nu[body->at + k], nu[body->at + k], theta);
            next->q[body->at_q + k] = now->q[body->at_q + k] + h * v;
        }
        if (moved < body->nv) {
            turn_body(body, next, now, nu + body->at, h, theta, how);
        }
    }
}
