// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The turn of a spatial body in a step: its rate, and the one that a given angular momentum leads to.
//                                                                                       theory (S9)
//
//   D = exp(h Omega) or its tangent,   Omega = (1 - theta) omega_l + theta D^T omega
//
// D^T omega are the body's own components of the new velocity, laid out in the axes it started with. Since Omega
// is along the axis of D, the turn leaves it as it is, whatever its angle.
#include "integrate/integrate.h"

enum { ROUNDS = 60 };
static const double ROUNDING = 1e-15;

perp_quat pp_rotation_increment(perp_vec3 rate, double h, perp_rotation_update how)
{
    if (how == PERP_ROTATION_EXPONENTIAL) {
        return pp_quat_exp(pp_scale(h, rate));
    }
    perp_vec3 half = pp_scale(0.5 * h, rate);
    return pp_quat_unit((perp_quat){1.0, half.x, half.y, half.z});
}

static perp_vec3 theta_mean_vector(perp_vec3 before, perp_vec3 after, double theta)
{
    return pp_along(pp_scale(1.0 - theta, before), theta, after);
}

// Going round contracts by theta h times the part of omega across Omega.
perp_vec3 pp_turn_rate(perp_vec3 before, perp_vec3 after, double h, double theta,
                       perp_rotation_update how)
{
    perp_vec3 rate = theta == 1.0 ? after : theta_mean_vector(before, after, theta);
    for (int k = 0; k < ROUNDS && theta != 1.0; k++) {
        pp_mat3 D = pp_quat_matrix(pp_rotation_increment(rate, h, how));
        perp_vec3 next = theta_mean_vector(before, pp_mul_t(&D, after), theta),
                  step = pp_sub(next, rate);
        rate = next;
        if (pp_dot3(step, step) <= ROUNDING * ROUNDING * pp_dot3(next, next)) {
            break;
        }
    }
    return rate;
}

// Newton's method on J w = B^T y, w the new velocity and y = J w_l + p the momentum, both in the body's axes at the
// start, with B the turn in those. Its derivative is that of a small turn.
perp_quat pp_turn_of(const pp_mat3 *I_B, perp_quat rot, perp_vec3 before, perp_vec3 push, double h,
                     double theta, perp_rotation_update how)
{
    pp_mat3 R = pp_quat_matrix(rot);
    perp_vec3 first = pp_mul_t(&R, before), w = first;
    perp_vec3 y = pp_add(pp_mul(I_B, first), pp_mul_t(&R, push));
    perp_quat turn = pp_rotation_increment(first, h, how);
    for (int k = 0; k < ROUNDS; k++) {
        turn = pp_rotation_increment(theta_mean_vector(first, w, theta), h, how);
        pp_mat3 B = pp_quat_matrix(turn), A = *I_B, inverse;
        perp_vec3 carried = pp_mul_t(&B, y), off = pp_sub(pp_mul(I_B, w), carried);
        perp_vec3 c = pp_scale(theta * h, carried);  // A = J - theta h [B^T y]x
        A.m[1] += c.z;
        A.m[2] -= c.y;
        A.m[3] -= c.z;
        A.m[5] += c.x;
        A.m[6] += c.y;
        A.m[7] -= c.x;
        if (!pp_invert3(&A, &inverse)) {
            break;
        }
        perp_vec3 step = pp_mul(&inverse, off);
        w = pp_sub(w, step);
        if (pp_dot3(step, step) <= ROUNDING * ROUNDING * pp_dot3(w, w)) {
            break;
        }
    }
    return pp_quat_unit(pp_quat_mul(rot, turn));
}
