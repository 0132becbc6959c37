// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/plane.h"

#include "support/cmocka.h"

#include <math.h>

void plane_open(plane *p)
{
    const perp_env *env = p->env;
    *p = (plane){.env = env, .def = perp_sim_default(), .unique = true};
    p->builder = perp_builder_create(env);
    assert_non_null(p->builder);
}

void plane_start(plane *p)
{
    perp_error error = {0};
    perp_status status = perp_model_create(p->builder, &p->model, &error);
    if (status >= 0) {
        status = perp_sim_create(p->model, &p->def, p->env, &p->sim, &error);
    }
    if (status < 0) {
        fail_msg("scene: %s", error.text);
    }
    perp_builder_destroy(p->builder);
    p->builder = NULL;
}

void plane_close(plane *p)
{
    perp_sim_destroy(p->sim);
    perp_model_destroy(p->model);
    perp_builder_destroy(p->builder);
    *p = (plane){0};
}

static void keep_worst(double *worst, double value)
{
    if (!(value <= *worst)) {
        *worst = value;
    }
}

void plane_step(plane *p, double h)
{
    perp_status status = perp_sim_step(p->sim, h);
    if (status < 0) {
        fail_msg("%s", perp_sim_error(p->sim)->text);
    }
    const perp_step_info *info = perp_sim_info(p->sim);
    const perp_certificate *c = &info->certificate;
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        keep_worst(&p->worst.relative[k], c->relative[k]);
    }
    keep_worst(&p->worst.gap, c->gap);
    keep_worst(&p->worst.complementarity, c->complementarity);
    keep_worst(&p->worst.cone, c->cone);
    keep_worst(&p->worst.slip_opposed, c->slip_opposed);
    keep_worst(&p->worst.joint, c->joint);
    keep_worst(&p->worst.momentum, c->momentum);
    keep_worst(&p->worst.energy_created, c->energy_created);
    keep_worst(&p->worst.residual, c->residual);
    p->inexact += status > 0;
    p->unique = p->unique && info->unique;
    p->energy_created += c->energy_created;
}

void plane_run(plane *p, double h, int steps)
{
    for (int i = 0; i < steps; i++) {
        plane_step(p, h);
    }
}

perp_body_def plane_body(double mass, double inertia, double x, double y, double angle)
{
    perp_body_def def = perp_body_default();
    def.mass = mass;
    def.inertia_zz = inertia;
    def.position_W = (perp_vec3){x, y, 0.0};
    def.angle = angle;
    return def;
}

perp_body_def plane_particle(double mass, double x, double y)
{
    perp_body_def def = plane_body(mass, 0.0, x, y, 0.0);
    def.kind = PERP_BODY_PLANAR_PARTICLE;
    return def;
}

perp_shape plane_point(plane *p, perp_body body, double x, double y)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_POINT;
    def.mu = 0.0;
    def.position_B = (perp_vec3){x, y, 0.0};
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape plane_disc(plane *p, perp_body body, double radius, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_DISC;
    def.radius = radius;
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape plane_box(plane *p, perp_body body, double half_x, double half_y, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_BOX;
    def.half = (perp_vec3){half_x, half_y, 0.0};
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape plane_halfplane(plane *p, perp_body body, double x, double y, double angle, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_HALFPLANE;
    def.position_B = (perp_vec3){x, y, 0.0};
    def.angle = angle;
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

void plane_contact(plane *p, perp_shape a, perp_shape b, double mu)
{
    perp_contact_def def = perp_contact_default();
    def.a = a;
    def.b = b;
    def.mu = mu;
    perp_builder_add_contact(p->builder, &def);
}

perp_joint plane_pin(plane *p, perp_body a, perp_vec3 anchor_a, perp_body b, perp_vec3 anchor_b)
{
    perp_joint_def def = perp_joint_default();
    def.kind = PERP_JOINT_REVOLUTE;
    def.a = a;
    def.b = b;
    def.anchor_A = anchor_a;
    def.anchor_B = anchor_b;
    return perp_builder_add_joint(p->builder, &def);
}

perp_body_def plane_rod(double mass, double length, double x, double y, double angle)
{
    double half = 0.5 * length;
    return plane_body(mass, mass * length * length / 12.0, x + half * cos(angle),
                      y + half * sin(angle), angle);
}

double plane_vx(const plane *p, perp_body body)
{
    return perp_sim_body_twist(p->sim, body).v_W.x;
}

double plane_vy(const plane *p, perp_body body)
{
    return perp_sim_body_twist(p->sim, body).v_W.y;
}

double plane_spin(const plane *p, perp_body body)
{
    return perp_sim_body_twist(p->sim, body).w_W.z;
}

double plane_pn(const plane *p, perp_shape a, perp_shape b)
{
    int count;
    const perp_contact *c = perp_sim_contacts(p->sim, &count);
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        if ((c[i].a.i == a.i && c[i].b.i == b.i) || (c[i].a.i == b.i && c[i].b.i == a.i)) {
            sum += c[i].pn;
        }
    }
    return sum;
}
