// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Angular momentum that a solid loses in a step because it turns with a single velocity.    theory
// (K11)
#include "certify/certify.h"

#include <math.h>

// Angular acceleration of a free body by Euler's equations, J w' = -w x J w, in body axes.
static perp_vec3 euler(const pp_body *body, perp_vec3 w)
{
    return pp_scale(-1.0, pp_mul(&body->inverse_IB, pp_cross(w, pp_mul(&body->I_B, w))));
}

// Angular velocity after h of free motion, in body axes, by the classical Runge-Kutta method of
// fourth order. A part turns the body by at most a tenth of a radian. Their number is limited:
// after 40 rad in a step the result is meaningless in any case.
static perp_vec3 freely(const pp_body *body, perp_vec3 w, double h)
{
    int parts = (int)fmin(400.0, 1.0 + 10.0 * h * pp_length(w));
    double k = h / parts;
    for (int i = 0; i < parts; i++) {
        perp_vec3 a = euler(body, w), b = euler(body, pp_along(w, 0.5 * k, a));
        perp_vec3 c = euler(body, pp_along(w, 0.5 * k, b)), d = euler(body, pp_along(w, k, c));
        perp_vec3 sum = pp_add(pp_add(a, d), pp_scale(2.0, pp_add(b, c)));
        w = pp_along(w, k / 6.0, sum);
    }
    return w;
}

// The step satisfies J (w+ - w) = moments + free change of J w, with J at the orientation of its
// start. At the orientation of its end the angular momentum of w+ differs. The result is relative
// to the largest of the momenta involved; steps of less than a tenth of a radian lose nothing that
// counts.
double pp_angular_momentum_lost(const pp_body *body, const pp_frame *from, const pp_frame *to,
                                double h)
{
    if (body->kind != PERP_BODY_SPATIAL || h * fmax(pp_length(from->w), pp_length(to->w)) < 0.1) {
        return 0.0;
    }
    // had: momentum at the start; gets: of the new velocity, at the old orientation; alone: after
    // free motion. All three are in the body axes of the start. has: momentum at the end, in world
    // axes.
    perp_vec3 w_B = pp_mul_t(&from->R, from->w), new_B = pp_mul_t(&from->R, to->w);
    perp_vec3 had = pp_mul(&body->I_B, w_B), gets = pp_mul(&body->I_B, new_B);
    perp_vec3 alone = pp_mul(&body->I_B, freely(body, w_B, h));
    perp_vec3 has = pp_mul(&to->R, pp_mul(&body->I_B, pp_mul_t(&to->R, to->w)));
    perp_vec3 moments = pp_sub(gets, alone);
    perp_vec3 want = pp_mul(&from->R, pp_add(had, moments));
    double size = fmax(pp_length(has), fmax(pp_length(had), pp_length(moments)));
    double lost = pp_length(pp_sub(has, want));
    return size > 0.0 ? lost / size : 0.0;
}
