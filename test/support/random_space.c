// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/random_space.h"

#include <math.h>

enum { BODIES_MOST = 64 };

perp_vec3 random_space_vector(rng *r, double size)
{
    double x = rng_uniform(r, -size, size), y = rng_uniform(r, -size, size);
    return (perp_vec3){x, y, rng_uniform(r, -size, size)};
}

perp_quat random_space_turn(rng *r)
{
    perp_vec3 axis = random_space_vector(r, 1.0);
    axis.z += space_length(axis) < 0.1 ? 1.0 : 0.0;
    return space_turn(axis, rng_uniform(r, -3.0, 3.0));
}

static void add_shape(plane *p, rng *r, perp_body body, const random_scene_options *o)
{
    static const perp_shape_kind kinds[] = {PERP_SHAPE_SPHERE,    PERP_SHAPE_BOX,
                                            PERP_SHAPE_CAPSULE,   PERP_SHAPE_CYLINDER,
                                            PERP_SHAPE_ELLIPSOID, PERP_SHAPE_HULL};
    perp_vec3 corner[12];
    perp_shape_def def = perp_shape_default();
    def.kind = kinds[rng_below(r, 6)];
    def.radius = rng_uniform(r, 0.05, 0.12);
    def.half = (perp_vec3){rng_uniform(r, 0.05, 0.15), rng_uniform(r, 0.05, 0.15),
                           rng_uniform(r, 0.05, 0.15)};
    if (def.kind == PERP_SHAPE_HULL) {
        for (int i = 0; i < 12; i++) {
            corner[i] = random_space_vector(r, 1.0);
            corner[i] = space_scale(0.15 / (0.2 + space_length(corner[i])), corner[i]);
        }
        def.vertices_S = corner;
        def.vertex_count = 12;
    }
    def.density = rng_uniform(r, 300.0, 3000.0);
    def.mu = rng_uniform(r, 0.0, o->mu_most);
    def.mu_spin = o->moments ? rng_uniform(r, 0.0, 0.01) : 0.0;
    def.mu_roll = o->moments ? rng_uniform(r, 0.0, 0.005) : 0.0;
    def.facets = o->facets;
    perp_builder_add_shape(p->builder, body, &def);
}

static void add_joint(plane *p, rng *r, const perp_body_def *da, perp_body a,
                      const perp_body_def *db, perp_body b)
{
    static const perp_joint_kind kinds[] = {PERP_JOINT_SPHERICAL,     PERP_JOINT_REVOLUTE,
                                            PERP_JOINT_UNIVERSAL,     PERP_JOINT_CYLINDRICAL,
                                            PERP_JOINT_SCREW,         PERP_JOINT_PRISMATIC,
                                            PERP_JOINT_PLANAR,        PERP_JOINT_WELD,
                                            PERP_JOINT_POINT_ON_LINE, PERP_JOINT_DISTANCE};
    perp_vec3 at = space_scale(0.5, space_add(da->position_W, db->position_W));
    perp_joint_def def = space_joint(
        kinds[rng_below(r, 10)], a, space_unrotate(da->rotation_WB, space_sub(at, da->position_W)),
        b, space_unrotate(db->rotation_WB, space_sub(at, db->position_W)),
        space_rotate(random_space_turn(r), (perp_vec3){0.0, 0.0, 1.0}));
    def.pitch = 0.1;
    if (def.kind == PERP_JOINT_DISTANCE) {
        def.anchor_A = def.anchor_B = (perp_vec3){0.0, 0.0, 0.0};
        def.length = space_length(space_sub(da->position_W, db->position_W));
    }
    if (def.kind != PERP_JOINT_WELD && def.kind != PERP_JOINT_SPHERICAL && rng_below(r, 3) == 0) {
        def.lower = -0.5;
        def.upper = 0.5;
    }
    perp_builder_add_joint(p->builder, &def);
}

static void add_walls(plane *p, rng *r, const random_scene_options *o)
{
    static const perp_vec3 n[] = {{0.0, 0.0, 1.0}, {0.8, 0.0, 0.6}, {-0.6, 0.48, 0.64}};
    static const double offset[] = {-0.4, -0.9, -1.1};
    for (int i = 0; i < 3; i++) {
        perp_shape_def def = perp_shape_default();
        def.kind = PERP_SHAPE_HALFSPACE;
        def.position_B = space_scale(offset[i], n[i]);
        def.rotation_BS = space_z_to(n[i]);
        def.mu = rng_uniform(r, 0.0, o->mu_most);
        def.surface_x = o->drives && i == 0 ? "0.3*sin(t)" : NULL;
        perp_builder_add_shape(p->builder, PLANE_GROUND, &def);
    }
}

void random_space(plane *p, rng *r, const random_scene_options *o)
{
    perp_body_def def[BODIES_MOST];
    perp_body body[BODIES_MOST];
    int side = (int)ceil(cbrt(o->bodies));
    if (!o->ground) {
        perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    }
    for (int i = 0; i < o->bodies && i < BODIES_MOST; i++) {
        def[i] = perp_body_default();
        def[i].kind = PERP_BODY_SPATIAL;
        int column = i % side, row = i / side % side, layer = i / (side * side);
        def[i].position_W = (perp_vec3){0.62 * column - 0.3 * side, 0.62 * row, 0.62 * layer};
        def[i].position_W = space_add(def[i].position_W, random_space_vector(r, 0.04));
        def[i].rotation_WB = random_space_turn(r);
        def[i].velocity_W = random_space_vector(r, o->speed);
        if (!o->ground) {  // towards each other
            perp_vec3 middle = {-0.3, 0.3 * (side - 1), 0.3 * (side - 1)};
            def[i].velocity_W = space_add(
                def[i].velocity_W, space_scale(-o->speed, space_sub(def[i].position_W, middle)));
        }
        def[i].omega_W = random_space_vector(r, 2.0 * o->speed);
        def[i].recenter = true;
        body[i] = perp_builder_add_body(p->builder, &def[i]);
        add_shape(p, r, body[i], o);
        if (o->joints && i > 0 && rng_below(r, 2) == 0) {
            add_joint(p, r, &def[i - 1], body[i - 1], &def[i], body[i]);
        }
    }
    if (o->drives) {
        perp_body_def driven = perp_body_default();
        driven.kind = PERP_BODY_SPATIAL;
        driven.motion = PERP_MOTION_KINEMATIC;
        driven.motion_x = "0.5*sin(2*t)";
        driven.motion_y = "-0.6";
        driven.motion_z = "0.2*cos(t)";
        driven.motion_rx = "0.3*t";
        driven.motion_angle = "t";
        perp_shape_def paddle = perp_shape_default();
        paddle.kind = PERP_SHAPE_BOX;
        paddle.half = (perp_vec3){0.5, 0.05, 0.3};
        paddle.mu = 0.4;
        perp_builder_add_shape(p->builder, perp_builder_add_body(p->builder, &driven), &paddle);
    }
    if (o->ground) {
        add_walls(p, r, o);
    }
}
