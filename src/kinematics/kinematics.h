// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of kinematics/: where the bodies are at the start of a step, how they move, what they weigh, and
// what pushes them.
#pragma once

#include "model/model.h"

// State of a sim: positions and velocities of the free bodies.
typedef struct pp_state {
    double t;
    double *q, *nu;  // model->nv each
} pp_state;

// Pose and velocity of one body.
typedef struct pp_frame {
    pp_vec2 p;           // of the origin [m]
    double angle, c, s;  // [rad], its cosine and sine
    pp_vec2 v;           // [m/s]
    double w;            // [rad/s]
} pp_frame;

typedef struct pp_kinematics {
    double t, h;
    pp_frame *body;    // every body, the ground included
    double *M;         // nv: diagonal of the mass matrix [kg, kg m^2]
    double *p_ext;     // nv: impulse of all explicit forces over h                 theory (P1)
    double potential;  // gravity and springs [J]
    double work_rate;  // power of the explicit forces other than gravity and springs [W]
} pp_kinematics;

// Frames of all bodies at a state.
void pp_frames(const perp_model *model, const pp_state *state, pp_frame *body);

// One wrench a body for this step from outside (perp_body_apply), NULL: none.
perp_status pp_kinematics_run(pp_kinematics *out, const perp_model *model, const pp_state *state,
                              double h, const perp_wrench *applied, pp_arena *arena);

// Potential energy of gravity and springs at a state [J].
double pp_potential(const perp_model *model, const pp_frame *body);

// R_WB r for a vector in the body frame; and the world position of a body-fixed point.
static inline pp_vec2 pp_rotate(const pp_frame *f, pp_vec2 r_B)
{
    return (pp_vec2){f->c * r_B.x - f->s * r_B.y, f->s * r_B.x + f->c * r_B.y};
}

static inline pp_vec2 pp_point(const pp_frame *f, pp_vec2 r_B)
{
    pp_vec2 r = pp_rotate(f, r_B);
    return (pp_vec2){f->p.x + r.x, f->p.y + r.y};
}

// Velocity of the body-fixed point at a world position.
static inline pp_vec2 pp_point_velocity(const pp_frame *f, pp_vec2 at)
{
    return (pp_vec2){f->v.x - f->w * (at.y - f->p.y), f->v.y + f->w * (at.x - f->p.x)};
}
