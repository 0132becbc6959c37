// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The mass matrix: m, and the inertia tensor turned into world axes, I_W = R I_B R^T.
//
// M is block diagonal, a block of each free body at body->at: (m, m) for a particle of the plane, (m, m, I_zz) for a planar
// body, (m, m, m) for a particle of space, and m times the identity with I_W below it for a body of space. Velocities are
// of the centre of mass, so that translation and rotation are not coupled. Both I_W and its inverse are turned from
// body axes: M^-1 needs no factorisation.
#include "kinematics/kinematics.h"

// Mass and inertia about the centre of mass in W: in space R I_B R^T and its inverse R I_B^-1 R^T. Bodies that are not
// free have zeros; they have no velocities in nu.
void pp_masses(const perp_model *model, const pp_frame *body, pp_inertia *mass)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *b = &model->body[i];
        pp_inertia *to = &mass[i];
        *to = (pp_inertia){0};
        if (b->nv == 0) {
            continue;
        }
        to->m = b->mass;
        to->divisor_m = b->divisor_mass;
        to->divisor_Izz = b->divisor_Izz;
        if (b->kind == PERP_BODY_PLANAR) {
            to->I.m[8] = b->I_B.m[8];
        } else if (b->kind == PERP_BODY_SPATIAL) {
            to->I = pp_turn_tensor(&body[i].R, &b->I_B);
            to->inverse_I = pp_turn_tensor(&body[i].R, &b->inverse_IB);
        }
    }
}

// M times s, M^-1 over s.
void pp_inertia_scale(pp_inertia *weight, double s)
{
    weight->m *= s;
    weight->divisor_m *= s;
    weight->divisor_Izz *= s;
    for (int k = 0; k < 9; k++) {
        weight->I.m[k] *= s;
        weight->inverse_I.m[k] /= s;
    }
}

// The rotational part of the velocities of a body of space. x and y may be the same.
static void rotate_tensor(const pp_mat3 *I, const double *x, double *y)
{
    perp_vec3 w = pp_mul(I, pp_vec(x[3], x[4], x[5]));
    y[3] = w.x;
    y[4] = w.y;
    y[5] = w.z;
}

// y = M x of one body: momentum of a velocity.
void pp_body_mul(const pp_body *body, const pp_inertia *mass, const double *x, double *y)
{
    bool spatial = body->nv == 6;
    if (spatial) {
        rotate_tensor(&mass->I, x, y);
    }
    for (int k = 0; k < (spatial ? 3 : body->nv); k++) {
        y[k] = (body->axis[k] < 3 ? mass->m : mass->I.m[8]) * x[k];
    }
}

// y = M^-1 x of one body: velocity of an impulse. A massless body has no M^-1; see its divisors.
void pp_body_solve(const pp_body *body, const pp_inertia *mass, const double *x, double *y)
{
    bool spatial = body->nv == 6;
    if (spatial) {
        rotate_tensor(&mass->inverse_I, x, y);
    }
    for (int k = 0; k < (spatial ? 3 : body->nv); k++) {
        y[k] = x[k] / (body->axis[k] < 3 ? mass->divisor_m : mass->divisor_Izz);
    }
}

void pp_masses_mul(const perp_model *model, const pp_inertia *mass, const double *x, double *y)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        pp_body_mul(body, &mass[i], x + body->at, y + body->at);
    }
}

void pp_masses_solve(const perp_model *model, const pp_inertia *mass, const double *x, double *y)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        pp_body_solve(body, &mass[i], x + body->at, y + body->at);
    }
}

// nu^T M nu / 2 [J].
double pp_kinetic(const perp_model *model, const pp_inertia *mass, const double *nu)
{
    double sum = 0.0, p[PP_BODY_NV];
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        if (body->nv > 0) {
            pp_body_mul(body, &mass[i], nu + body->at, p);
        }
        for (int k = 0; k < body->nv; k++) {
            sum += 0.5 * p[k] * nu[body->at + k];
        }
    }
    return sum;
}
