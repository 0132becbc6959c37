// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/space.h"

#include "support/cmocka.h"

#include <math.h>

perp_vec3 space_add(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

perp_vec3 space_sub(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

perp_vec3 space_scale(double s, perp_vec3 a)
{
    return (perp_vec3){s * a.x, s * a.y, s * a.z};
}

perp_vec3 space_cross(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double space_dot(perp_vec3 a, perp_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

double space_length(perp_vec3 a)
{
    return sqrt(space_dot(a, a));
}

perp_quat space_turn(perp_vec3 axis, double angle)
{
    double length = space_length(axis), s = length > 0.0 ? sin(0.5 * angle) / length : 0.0;
    return (perp_quat){cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
}

perp_quat space_mul(perp_quat a, perp_quat b)
{
    return (perp_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                       a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

perp_vec3 space_rotate(perp_quat q, perp_vec3 v)
{
    perp_vec3 e = {q.x, q.y, q.z}, c = space_cross(e, v);
    return space_add(v, space_scale(2.0, space_add(space_scale(q.w, c), space_cross(e, c))));
}

perp_vec3 space_unrotate(perp_quat q, perp_vec3 v)
{
    return space_rotate((perp_quat){q.w, -q.x, -q.y, -q.z}, v);
}

perp_quat space_z_to(perp_vec3 n)
{
    perp_vec3 z = {0.0, 0.0, 1.0}, axis = space_cross(z, n);
    if (space_length(axis) < 1e-12) {
        return n.z > 0.0 ? (perp_quat){1.0, 0.0, 0.0, 0.0} : (perp_quat){0.0, 1.0, 0.0, 0.0};
    }
    return space_turn(axis, atan2(space_length(axis), n.z));
}

perp_body_def space_body(double mass, perp_vec3 inertia, perp_vec3 position)
{
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL;
    def.mass = mass;
    def.inertia_B[0] = inertia.x;
    def.inertia_B[1] = inertia.y;
    def.inertia_B[2] = inertia.z;
    def.position_W = position;
    return def;
}

perp_body_def space_particle(double mass, perp_vec3 position)
{
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL_PARTICLE;
    def.mass = mass;
    def.position_W = position;
    return def;
}

perp_shape space_point(plane *p, perp_body body, perp_vec3 at)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_POINT;
    def.mu = 0.0;
    def.position_B = at;
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape space_sphere(plane *p, perp_body body, double radius, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_SPHERE;
    def.radius = radius;
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape space_box(plane *p, perp_body body, perp_vec3 half, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_BOX;
    def.half = half;
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

perp_shape space_halfspace(plane *p, perp_body body, perp_vec3 normal, double offset, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_HALFSPACE;
    def.position_B = space_scale(offset, normal);
    def.rotation_BS = space_z_to(normal);
    def.mu = mu;
    return perp_builder_add_shape(p->builder, body, &def);
}

void space_contact(plane *p, perp_shape a, perp_shape b, double mu, int facets, perp_vec3 tangent)
{
    perp_contact_def def = perp_contact_default();
    def.a = a;
    def.b = b;
    def.mu = mu;
    def.facets = facets;
    def.tangent_A = tangent;
    perp_builder_add_contact(p->builder, &def);
}

perp_joint_def space_joint(perp_joint_kind kind, perp_body a, perp_vec3 anchor_a, perp_body b,
                           perp_vec3 anchor_b, perp_vec3 axis)
{
    perp_joint_def def = perp_joint_default();
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.anchor_A = anchor_a;
    def.anchor_B = anchor_b;
    def.axis_A = axis;
    return def;
}

perp_vec3 space_box_inertia(double mass, perp_vec3 half)
{
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    return space_scale(mass / 3.0, (perp_vec3){y + z, z + x, x + y});
}

perp_vec3 space_point_at(const plane *p, perp_body body, perp_vec3 at_B)
{
    perp_pose X = perp_sim_body_pose(p->sim, body);
    return space_add(X.p, space_rotate(X.rot, at_B));
}

perp_vec3 space_speed_at(const plane *p, perp_body body, perp_vec3 at_B)
{
    perp_twist V = perp_sim_body_twist(p->sim, body);
    perp_vec3 r = space_rotate(perp_sim_body_pose(p->sim, body).rot, at_B);
    return space_add(V.v_W, space_cross(V.w_W, r));
}

perp_vec3 space_momentum(const plane *p, perp_body body)
{
    double J[6];
    perp_quat R = perp_sim_body_pose(p->sim, body).rot;
    perp_vec3 w = space_unrotate(R, perp_sim_body_twist(p->sim, body).w_W);
    perp_model_inertia_tensor(p->model, body, J);
    perp_vec3 L = {J[0] * w.x + J[3] * w.y + J[4] * w.z, J[3] * w.x + J[1] * w.y + J[5] * w.z,
                   J[4] * w.x + J[5] * w.y + J[2] * w.z};
    return space_rotate(R, L);
}

double space_kinetic(const plane *p, perp_body body)
{
    perp_twist V = perp_sim_body_twist(p->sim, body);
    return 0.5 * (perp_model_mass(p->model, body) * space_dot(V.v_W, V.v_W) +
                  space_dot(V.w_W, space_momentum(p, body)));
}

void space_near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}
