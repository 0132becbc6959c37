// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Poses and velocities: of free bodies from the state, of driven ones from their motions.
#include "kinematics/kinematics.h"

#include <math.h>

static void set_angle(pp_frame *f, double angle)
{
    f->angle = angle;
    f->c = cos(angle);
    f->s = sin(angle);
}

static pp_frame free_frame(const pp_body *body, const pp_state *state)
{
    const double *q = state->q + body->at, *nu = state->nu + body->at;
    pp_frame f = {.p = {q[0], q[1]}, .v = {nu[0], nu[1]}};
    set_angle(&f, body->nv == 3 ? q[2] : body->q[2]);
    f.w = body->nv == 3 ? nu[2] : 0.0;
    return f;
}

// Position and exact velocity of a driven body.
static pp_frame driven_frame(const pp_body *body, double t)
{
    double pose[3], rate[3] = {0.0, 0.0, 0.0};
    const double variables[1] = {t}, one[1] = {1.0};
    for (int k = 0; k < 3; k++) {
        pose[k] = body->q[k];
        if (body->motion[k]) {
            pose[k] = pp_expr_rate(body->motion[k], variables, one, &rate[k]);
        }
    }
    pp_frame f = {.p = {pose[0], pose[1]}, .v = {rate[0], rate[1]}, .w = rate[2]};
    set_angle(&f, pose[2]);
    return f;
}

void pp_frames(const perp_model *model, const pp_state *state, pp_frame *body)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *b = &model->body[i];
        body[i] = b->nv > 0 ? free_frame(b, state) : driven_frame(b, state->t);
    }
}
