// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/berard.h"

#include <math.h>

static const double GOLDEN_PI = 3.14159265358979323846;

int berard_size(int example)
{
    static const int sizes[] = {0, 10, 15, 21, 25, 25, 22, 25};
    return sizes[example];
}

const char *berard_name(int example)
{
    static const char *const names[] = {"",
                                        "berard_4_1_double_pendulum",
                                        "berard_4_2_block",
                                        "berard_4_3_friction",
                                        "berard_4_4_pusher",
                                        "berard_4_5_moving_floor",
                                        "berard_4_6_full"};
    return names[example];
}

static void add_floor(berard *b, int example)
{
    plane *p = &b->p;
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFPLANE;
    floor.surface_speed = example >= 5 ? "-0.3" : NULL;
    perp_shape ground = perp_builder_add_shape(p->builder, PLANE_GROUND, &floor);
    double mu = example == 2 ? 0.0 : example == 6 ? 0.35 : 0.3;
    plane_contact(p, ground, plane_point(p, b->block, -0.5, -0.25), mu);
    plane_contact(p, ground, plane_point(p, b->block, 0.5, -0.25), mu);
}

static void add_pusher(berard *b, int example)
{
    static const char *const path_x[] = {"-0.56+0.25*t", "-0.55+0.25*t", "-0.55+0.25*t",
                                         "-0.55+0.25*t"};
    static const char *const path_y[] = {"0.28", "0.15", "0.28", "0.28"};
    plane *p = &b->p;
    perp_body_def def = plane_particle(0.0, 0.0, 0.0);
    def.motion = PERP_MOTION_KINEMATIC;
    def.motion_x = path_x[example - 4];
    def.motion_y = path_y[example - 4];
    def.name = "pusher";
    b->pusher = perp_builder_add_body(p->builder, &def);
    perp_shape tip = plane_point(p, b->pusher, 0.0, 0.0);
    perp_shape face = plane_halfplane(p, b->block, -0.5, 0.0, 0.5 * GOLDEN_PI, 0.0);
    plane_contact(p, tip, face, 0.2);
}

static void add_block(berard *b)
{
    perp_body_def def = plane_body(2.0, 2.0 * (1.0 + 0.25) / 12.0, 0.0, 0.25, 0.0);
    def.name = "block";
    b->block = perp_builder_add_body(b->p.builder, &def);
}

// Rod A hangs on the block (or on the origin), rod B on rod A's end.
static void add_rods(berard *b, perp_vec3 on_block)
{
    plane *p = &b->p;
    bool has_block = b->block.i >= 0;
    double y = has_block ? 0.25 + on_block.y : 0.0, theta = -0.5, omega = 0.5;
    perp_body_def first = plane_rod(1.0, 1.0, 0.0, y, 0.0);
    perp_body_def second = plane_rod(0.8, 0.7, 1.0, y, theta);
    first.name = "rod A";
    second.name = "rod B";
    second.spin = omega;
    second.velocity_W = (perp_vec3){-omega * 0.35 * sin(theta), omega * 0.35 * cos(theta), 0.0};
    b->rod = perp_builder_add_body(p->builder, &first);
    b->last = perp_builder_add_body(p->builder, &second);
    perp_vec3 end = {-0.5, 0.0, 0.0}, far = {0.5, 0.0, 0.0}, start = {-0.35, 0.0, 0.0};
    b->joint_a = has_block ? plane_pin(p, b->rod, end, b->block, on_block)
                           : plane_pin(p, PLANE_GROUND, (perp_vec3){0}, b->rod, end);
    b->joint_b = plane_pin(p, b->last, start, b->rod, far);
}

static void add_rod_and_particle(berard *b)
{
    plane *p = &b->p;
    perp_body_def rod = plane_rod(0.5, 0.6, 0.0, 0.25, -1.2);
    perp_body_def particle = plane_particle(0.4, 0.35, -0.75);
    rod.name = "rod A";
    particle.name = "particle B";
    b->rod = perp_builder_add_body(p->builder, &rod);
    b->last = perp_builder_add_body(p->builder, &particle);
    b->joint_a = plane_pin(p, b->rod, (perp_vec3){-0.3, 0.0, 0.0}, b->block, (perp_vec3){0});
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.a = b->rod;
    spring.anchor_A = (perp_vec3){0.3, 0.0, 0.0};
    spring.b = b->last;
    spring.stiffness = 60.0;
    spring.rest = 0.4;
    spring.damping = 0.4;
    spring.isotropic = true;
    perp_builder_add_force(p->builder, &spring);
}

void berard_open(berard *b, int example)
{
    *b = (berard){.block = {-1}, .pusher = {-1}, .joint_b = {-1}};
    plane_open(&b->p);
    perp_builder_set_listed_only(b->p.builder, true);
    b->h = example == 1 ? 0.001 : 0.002;
    if (example > 1) {
        add_block(b);
    }
    if (example == 6) {
        add_rod_and_particle(b);
    } else {
        add_rods(b, (perp_vec3){0.0, 0.1, 0.0});
    }
    if (example > 1) {
        add_floor(b, example);
    }
    if (example >= 4) {
        add_pusher(b, example);
    }
}

void berard_start(berard *b)
{
    plane_start(&b->p);
}

void berard_close(berard *b)
{
    plane_close(&b->p);
}
