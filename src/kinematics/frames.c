// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Poses and velocities: of free bodies from the state, of driven ones from their motions.
#include "kinematics/kinematics.h"

#include <math.h>

// Planar: R about z. The angle is not wrapped, so that springs and joints count full turns.
void pp_frame_set_angle(pp_frame *f, double angle)
{
    double c = pp_cos(angle), s = pp_sin(angle);
    f->angle = angle;
    f->R = (pp_mat3){{c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}};
    f->rot = (perp_quat){pp_cos(0.5 * angle), 0.0, 0.0, pp_sin(0.5 * angle)};
}

// R is derived from the quaternion once; all else reads R.
void pp_frame_set_rotation(pp_frame *f, perp_quat rot)
{
    f->rot = rot;
    f->R = pp_quat_matrix(rot);
}

// q = (x, y, angle), nu = (v_x, v_y, omega); particles keep their angle.
static pp_frame free_planar(const pp_body *body, const double *q, const double *nu)
{
    pp_frame f = {.p = {q[0], q[1], 0.0}, .v = {nu[0], nu[1], 0.0}};
    bool turns = pp_body_turns(body);
    pp_frame_set_angle(&f, turns ? q[2] : body->angle0);
    f.w.z = turns ? nu[2] : 0.0;
    return f;
}

// q = (p, quaternion), nu = (v, omega), all in W; particles keep their rotation.
static pp_frame free_spatial(const pp_body *body, const double *q, const double *nu)
{
    pp_frame f = {.p = {q[0], q[1], q[2]}, .v = {nu[0], nu[1], nu[2]}};
    if (pp_body_turns(body)) {
        pp_frame_set_rotation(&f, (perp_quat){q[3], q[4], q[5], q[6]});
        f.w = pp_vec(nu[3], nu[4], nu[5]);
    } else {
        pp_frame_set_rotation(&f, body->rot0);
    }
    return f;
}

// R = Rz(rz) Ry(ry) Rx(rx) R_0; omega = rz' z + Rz (ry' y + Ry rx' x).
static void turn_spatial(pp_frame *f, const pp_body *body, const double *pose, const double *rate)
{
    perp_quat x = pp_quat_exp(pp_vec(pose[PP_BY_RX], 0.0, 0.0));
    perp_quat y = pp_quat_exp(pp_vec(0.0, pose[PP_BY_RY], 0.0));
    perp_quat z = pp_quat_exp(pp_vec(0.0, 0.0, pose[PP_BY_RZ]));
    pp_mat3 Ry = pp_quat_matrix(y), Rz = pp_quat_matrix(z);
    perp_vec3 w = pp_mul(&Ry, pp_vec(rate[PP_BY_RX], 0.0, 0.0));
    w.y += rate[PP_BY_RY];
    w = pp_mul(&Rz, w);
    w.z += rate[PP_BY_RZ];
    f->w = w;
    pp_frame_set_rotation(f, pp_quat_mul(z, pp_quat_mul(y, pp_quat_mul(x, body->rot0))));
}

// A motion that was set from outside: constant velocity from a pose on.
static pp_frame steady_frame(const pp_body *body, double t)
{
    const pp_steady *s = body->steady;
    double dt = t - s->t0;
    pp_frame f = {.p = pp_along(s->p, dt, s->v), .v = s->v, .w = s->w};
    if (pp_body_is_spatial(body)) {
        perp_quat turn = pp_quat_exp(pp_scale(dt, s->w));
        pp_frame_set_rotation(&f, pp_quat_unit(pp_quat_mul(turn, s->rot)));
    } else {
        pp_frame_set_angle(&f, s->angle + dt * s->w.z);
    }
    return f;
}

// Pose and exact velocity of a driven body.
pp_frame pp_driven_frame(const pp_body *body, double t)
{
    if (body->steady) {
        return steady_frame(body, t);
    }
    bool spatial = pp_body_is_spatial(body), moves = false;
    for (int k = 0; k < PP_MOTIONS; k++) {
        moves = moves || body->motion[k];
    }
    if (!moves && spatial) {
        pp_frame still = {.p = body->p0};
        pp_frame_set_rotation(&still, body->rot0);
        return still;
    }
    // Coordinates without a motion stay where they start. Rates are exact derivatives of the motions with respect to t,
    // not differences: a driven body is where and as fast as it was asked to be.
    double rate[PP_MOTIONS] = {0.0};
    double pose[PP_MOTIONS] = {body->p0.x, body->p0.y, body->p0.z,
                               0.0,        0.0,        spatial ? 0.0 : body->angle0};
    const double variables[1] = {t}, one[1] = {1.0};
    for (int k = 0; k < PP_MOTIONS; k++) {
        if (body->motion[k]) {
            pose[k] = pp_expr_rate(body->motion[k], variables, one, &rate[k]);
        }
    }
    pp_frame f = {.p = {pose[0], pose[1], pose[2]}, .v = {rate[0], rate[1], rate[2]}};
    if (spatial) {
        turn_spatial(&f, body, pose, rate);
    } else {
        pp_frame_set_angle(&f, pose[PP_BY_RZ]);
        f.w.z = rate[PP_BY_RZ];
    }
    return f;
}

// omega' = rz'' z + rz' z x (Rz a) + Rz a',  a = ry' y + Ry rx' x,  a' = ry'' y + ry' y x (Ry rx' x) + Ry rx'' x
static perp_vec3 turn_acceleration(const double *pose, const double *rate, const double *rate2)
{
    static const perp_vec3 y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
    pp_mat3 Ry = pp_quat_matrix(pp_quat_exp(pp_scale(pose[PP_BY_RY], y)));
    pp_mat3 Rz = pp_quat_matrix(pp_quat_exp(pp_scale(pose[PP_BY_RZ], z)));
    perp_vec3 x = pp_mul(&Ry, pp_vec(1.0, 0.0, 0.0));
    perp_vec3 a = pp_along(pp_scale(rate[PP_BY_RX], x), rate[PP_BY_RY], y);
    perp_vec3 da = pp_along(pp_scale(rate2[PP_BY_RX], x), rate2[PP_BY_RY], y);
    da = pp_along(da, rate[PP_BY_RY] * rate[PP_BY_RX], pp_cross(y, x));
    perp_vec3 spin = pp_along(pp_mul(&Rz, da), rate2[PP_BY_RZ], z);
    return pp_along(spin, rate[PP_BY_RZ], pp_cross(z, pp_mul(&Rz, a)));
}

// Second derivatives of the motion: acceleration of the origin and angular acceleration, in W.
perp_twist pp_driven_acceleration(const pp_body *body, double t)
{
    double pose[PP_MOTIONS] = {0.0}, rate[PP_MOTIONS] = {0.0}, rate2[PP_MOTIONS] = {0.0};
    const double variables[1] = {t}, one[1] = {1.0};
    if (body->steady) {
        return (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    for (int k = 0; k < PP_MOTIONS; k++) {
        if (body->motion[k]) {
            pose[k] = pp_expr_rate2(body->motion[k], variables, one, &rate[k], &rate2[k]);
        }
    }
    perp_twist a = {{rate2[0], rate2[1], rate2[2]}, {0.0, 0.0, rate2[PP_BY_RZ]}};
    if (pp_body_is_spatial(body)) {
        a.w_W = turn_acceleration(pose, rate, rate2);
    }
    return a;
}

// Pose and velocity of every body: free ones from the state, others from their motions at t. Velocities in W.
void pp_frames(const perp_model *model, const pp_state *state, pp_frame *body)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *b = &model->body[i];
        const double *q = state->q + b->at_q, *nu = state->nu + b->at;
        // q and nu of a body that is not free are never read: it has no place in them
        if (b->nv == 6) {  // in place: the many
            body[i].p = pp_vec(q[0], q[1], q[2]);
            body[i].v = pp_vec(nu[0], nu[1], nu[2]);
            body[i].w = pp_vec(nu[3], nu[4], nu[5]);
            body[i].angle = 0.0;
            pp_frame_set_rotation(&body[i], (perp_quat){q[3], q[4], q[5], q[6]});
            continue;
        }
        if (b->nv == 0) {
            body[i] = pp_driven_frame(b, state->t);
        } else {
            body[i] = pp_body_is_spatial(b) ? free_spatial(b, q, nu) : free_planar(b, q, nu);
        }
    }
}

// The state a free body starts with.
static void start_body(const pp_body *body, pp_state *state)
{
    const double nu[PP_BODY_NV] = {body->v0.x, body->v0.y, body->v0.z,
                                   body->w0.x, body->w0.y, body->w0.z};
    double *q = state->q + body->at_q;
    for (int k = 0; k < body->nv; k++) {
        state->nu[body->at + k] = nu[body->axis[k]];
    }
    if (body->nv == 0) {
        return;
    }
    // (x, y), (x, y, angle), (x, y, z) or (x, y, z, quaternion w x y z), by the kind of the body.
    q[0] = body->p0.x;
    q[1] = body->p0.y;
    if (body->kind == PERP_BODY_PLANAR) {
        q[2] = body->angle0;
    } else if (pp_body_is_spatial(body)) {
        q[2] = body->p0.z;
    }
    if (body->kind == PERP_BODY_SPATIAL) {
        q[3] = body->rot0.w;
        q[4] = body->rot0.x;
        q[5] = body->rot0.y;
        q[6] = body->rot0.z;
    }
}

// Where the model says that the free bodies begin.
void pp_state_start(const perp_model *model, pp_state *state)
{
    for (int i = 0; i < model->bodies; i++) {
        start_body(&model->body[i], state);
    }
}
