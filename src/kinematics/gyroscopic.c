// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The gyroscopic impulse of a spatial body over a step.                                 theory (S2)
//
// Explicit, as the notes have it (with the sign put right): p = -h omega x I omega. It feeds energy into
// a spinning body. The default solves Euler's equations of the free body, in body axes,
//
//   I (w+ - w) + h m x I m = 0,   m = (w+ + w) / 2,
//
// the midpoint rule, which keeps w.Iw and |Iw| exactly; p = R I (w+ - w). Steps of more than a quarter
// radian are divided, so that Newton's method always has a solution nearby.
#include "kinematics/gyroscopic.h"

static const double TURN_MOST = 0.25;  // [rad] a part of the step
enum { PARTS_MOST = 64, NEWTON_MOST = 12 };

// I (w' - w) + h m x I m = 0 with m = (w + w') / 2, in body axes, by Newton's method. The midpoint rule conserves
// energy and |L|. Where its matrix is singular the rate stays as it was.
static perp_vec3 midpoint_step(const pp_mat3 *I, perp_vec3 w, double h)
{
    perp_vec3 next = w;
    for (int k = 0; k < NEWTON_MOST; k++) {
        perp_vec3 m = pp_scale(0.5, pp_add(w, next)), Im = pp_mul(I, m);
        perp_vec3 f = pp_along(pp_mul(I, pp_sub(next, w)), h, pp_cross(m, Im));
        // df/dnext = I + h/2 ([m]x I - [I m]x)
        pp_mat3 J, inverse;
        for (int j = 0; j < 3; j++) {
            perp_vec3 e = pp_vec(j == 0, j == 1, j == 2), Ie = pp_mat3_column(I, j);
            perp_vec3 d = pp_sub(pp_cross(m, Ie), pp_cross(Im, e));
            perp_vec3 column = pp_along(Ie, 0.5 * h, d);
            J.m[j] = column.x;
            J.m[3 + j] = column.y;
            J.m[6 + j] = column.z;
        }
        if (!pp_invert3(&J, &inverse)) {
            return w;
        }
        perp_vec3 step = pp_mul(&inverse, f);
        next = pp_sub(next, step);
        if (pp_dot3(step, step) <= 1e-32 * pp_dot3(next, next)) {
            break;
        }
    }
    return next;
}

// Impulse of the gyroscopic torque -w x I w over h, in W [N m s]. Implicit: Euler's equation of the free body, in as many
// parts as keep each turn below TURN_MOST [rad].
perp_vec3 pp_gyroscopic_impulse(const pp_mat3 *I_B, const pp_frame *frame, double h,
                                perp_gyroscopic how)
{
    perp_vec3 w = pp_mul_t(&frame->R, frame->w), first = w;
    if (how == PERP_GYROSCOPIC_EXPLICIT) {
        return pp_mul(&frame->R, pp_scale(-h, pp_cross(w, pp_mul(I_B, w))));
    }
    double turn = h * sqrt(pp_dot3(w, w)) / TURN_MOST;
    int parts = turn < PARTS_MOST ? (int)turn + 1 : PARTS_MOST;
    for (int k = 0; k < parts; k++) {
        w = midpoint_step(I_B, w, h / parts);
    }
    return pp_mul(&frame->R, pp_mul(I_B, pp_sub(w, first)));
}
