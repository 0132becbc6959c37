// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/random_scene.h"

#include <math.h>

static const double PITCH = 0.5;  // of the grid the bodies start on [m]; shapes are smaller

// A convex polygon: points of a circle in order, about their own centre.
static int random_polygon(rng *r, perp_vec3 *v)
{
    int count = 3 + rng_below(r, 5);
    double turn = rng_uniform(r, 0.0, 6.0), x = 0.0, y = 0.0, area = 0.0;
    for (int i = 0; i < count; i++) {
        double angle = turn + 6.283185307179586 * (i + rng_uniform(r, 0.1, 0.9)) / count;
        v[i] = (perp_vec3){0.2 * cos(angle), 0.2 * sin(angle), 0.0};
    }
    for (int i = 0; i < count; i++) {
        const perp_vec3 *p = &v[i], *q = &v[(i + 1) % count];
        double cross = p->x * q->y - q->x * p->y;
        area += cross;
        x += (p->x + q->x) * cross / 3.0;
        y += (p->y + q->y) * cross / 3.0;
    }
    for (int i = 0; i < count; i++) {
        v[i].x -= x / area;
        v[i].y -= y / area;
    }
    return count;
}

static void add_shape(plane *p, rng *r, perp_body body, double mu_most)
{
    perp_vec3 vertices[8];
    perp_shape_def def = perp_shape_default();
    def.mu = rng_uniform(r, 0.0, mu_most);
    def.density = rng_uniform(r, 1.0, 100.0);
    switch (rng_below(r, 4)) {
    case 0:
        def.kind = PERP_SHAPE_DISC;
        def.radius = rng_uniform(r, 0.05, 0.2);
        break;
    case 1:
        def.kind = PERP_SHAPE_BOX;
        def.half = (perp_vec3){rng_uniform(r, 0.04, 0.15), rng_uniform(r, 0.04, 0.15), 0.0};
        break;
    case 2:
        def.kind = PERP_SHAPE_CAPSULE;
        def.half.x = rng_uniform(r, 0.02, 0.14);
        def.radius = rng_uniform(r, 0.02, 0.06);
        break;
    default:
        def.kind = PERP_SHAPE_POLYGON;
        def.vertices_S = vertices;
        def.vertex_count = random_polygon(r, vertices);
        break;
    }
    perp_builder_add_shape(p->builder, body, &def);
}

static void add_ground(plane *p, rng *r, double width, const random_scene_options *o)
{
    perp_shape_def plane_def = perp_shape_default();
    plane_def.kind = PERP_SHAPE_HALFPLANE;
    plane_def.mu = rng_uniform(r, 0.0, o->mu_most);
    plane_def.surface_speed = o->drives ? "0.3*sin(5*t)" : NULL;
    perp_builder_add_shape(p->builder, PLANE_GROUND, &plane_def);
    plane_halfplane(p, PLANE_GROUND, -0.5 * PITCH, 0.0, -1.5, plane_def.mu);
    plane_halfplane(p, PLANE_GROUND, width, 0.0, 1.5, plane_def.mu);
}

static void add_joint(plane *p, rng *r, perp_body a, perp_body b, const random_scene_options *o)
{
    static const perp_joint_kind kinds[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_DISTANCE,
                                            PERP_JOINT_PRISMATIC, PERP_JOINT_POINT_ON_LINE};
    perp_joint_def def = perp_joint_default();
    def.kind = kinds[rng_below(r, 4)];
    def.a = a;
    def.b = b;
    def.anchor_A = (perp_vec3){0.5 * PITCH, 0.0, 0.0};
    def.anchor_B = (perp_vec3){-0.5 * PITCH, 0.0, 0.0};
    if (def.kind == PERP_JOINT_DISTANCE) {
        def.anchor_A = (perp_vec3){0};
        def.anchor_B = (perp_vec3){0};
        def.length = PITCH;
    }
    if (o->drives && rng_below(r, 2) == 0) {
        def.rate = "sin(3*t)";
        def.rate_effort = 2.0;
    } else if (rng_below(r, 3) == 0) {
        def.friction = 0.5;
    } else if (rng_below(r, 2) == 0) {
        def.lower = def.kind == PERP_JOINT_DISTANCE ? 0.3 : -0.5;
        def.upper = 0.7;
    }
    perp_builder_add_joint(p->builder, &def);
}

static void add_driven(plane *p, double width)
{
    perp_body_def def = plane_body(0.0, 0.0, 0.0, 0.0, 0.0);
    def.motion = PERP_MOTION_KINEMATIC;
    def.position_W = (perp_vec3){0.5 * width, -1.0, 0.0};
    def.motion_y = "-0.3+0.25*sin(4*t)";
    def.motion_angle = "0.4*sin(2*t)";
    plane_box(p, perp_builder_add_body(p->builder, &def), 0.3, 0.1, 0.5);
}

void random_scene(plane *p, rng *r, const random_scene_options *o)
{
    int columns = (int)ceil(sqrt((double)o->bodies)), last = -1;
    double width = columns * PITCH;
    if (o->ground) {
        add_ground(p, r, width, o);
    } else {
        perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    }
    if (o->drives) {
        add_driven(p, width);
    }
    for (int i = 0; i < o->bodies; i++) {
        // Joined bodies start unturned and moving together, so that their joints fit.
        bool joined = o->joints && i % columns > 0 && rng_below(r, 2) == 0;
        perp_body_def def = perp_body_default();
        int column = i % columns, row = i / columns;
        def.position_W = (perp_vec3){PITCH * column, PITCH * (0.5 + row), 0.0};
        if (!o->joints) {
            def.angle = rng_uniform(r, -3.0, 3.0);
            def.spin = rng_uniform(r, -5.0, 5.0) * o->speed;
            def.velocity_W = (perp_vec3){rng_uniform(r, -1.0, 1.0) * o->speed,
                                         rng_uniform(r, -1.0, 1.0) * o->speed, 0.0};
        }
        perp_body body = perp_builder_add_body(p->builder, &def);
        add_shape(p, r, body, o->mu_most);
        if (joined) {
            add_joint(p, r, (perp_body){last}, body, o);
        }
        last = body.i;
    }
}
