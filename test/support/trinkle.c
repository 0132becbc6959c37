// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/trinkle.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const perp_vec3 X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0}, Z = {0.0, 0.0, 1.0};

int trinkle_size(trinkle_example example)
{
    static const int sizes[] = {
        6 + 3 * 2 + 4 + 6 + 8,       // blimp
        6 + 3 * (2 + 8),             // disc
        6 + 8 * (2 + 8),             //
        6 + 10 * (2 + 4),            // pusher
        12 + 5 * 2 + 3 * 4 + 6 + 8,  // robot
        12 + 8,                      // prismatic
        6 + 8 * 2 + 4 * 3 + 4 * 4,   // box
        18 + 6 * 2 + 4 + 5 + 6 + 7 + 8 + 9,
    };
    return sizes[example];
}

const char *trinkle_golden(trinkle_example example)
{
    static const char *const names[] = {
        "trinkle_1_blimp_parking",     "trinkle_2_disc_3pt",
        "trinkle_2_disc_8pt",          "trinkle_3_box_pushed",
        "trinkle_4_mobile_robot_ball", "trinkle_5_prismatic_spatial",
        "trinkle_6_box_on_floor",      NULL};
    return names[example];
}

const char *trinkle_scene(trinkle_example example)
{
    static const char *const names[] = {"trinkle-blimp",  "trinkle-disc",
                                        "trinkle-disc-8", "trinkle-pusher",
                                        "trinkle-robot",  "trinkle-prismatic-spatial",
                                        "trinkle-box",    "trinkle-bodies"};
    return names[example];
}

static perp_body add(trinkle *t, const perp_body_def *def)
{
    return t->body[t->bodies++] = perp_builder_add_body(t->p.builder, def);
}

static perp_shape floor_of(trinkle *t)
{
    return space_halfspace(&t->p, PLANE_GROUND, Z, 0.0, 0.0);
}

static void add_blimp(trinkle *t, bool cones)
{
    plane *p = &t->p;
    perp_body_def def = space_body(1.2, (perp_vec3){0.12, 0.12, 0.12}, Z);
    def.name = "blimp";
    def.velocity_W = (perp_vec3){0.1, 0.0, 0.0};
    def.omega_W = (perp_vec3){0.0, 0.5, 1.0};
    perp_body blimp = add(t, &def);
    perp_shape hull = space_sphere(p, blimp, 0.5, 0.0);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_force_def thrust = perp_force_default();
    thrust.kind = PERP_FORCE_WRENCH;
    thrust.b = blimp;
    thrust.fx = "0.4";
    thrust.fy = "0.3";
    thrust.fz = "0.5";
    perp_builder_add_force(p->builder, &thrust);
    perp_force_def drag = perp_force_default();
    drag.kind = PERP_FORCE_DRAG;
    drag.b = blimp;
    drag.damping = 0.2;
    drag.damping_w = 0.01;
    perp_builder_add_force(p->builder, &drag);
    static const perp_vec3 n[] = {{0.0, 0.0, -1.0}, {-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}},
                           tangent[] = {{0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 0.0, 1.0}};
    static const double c[] = {-3.0, -2.0, -1.5};
    for (int i = 0; i < 3; i++) {  // ceiling, front wall, left wall
        perp_shape wall = space_halfspace(p, PLANE_GROUND, n[i], c[i], 0.0);
        space_contact(p, wall, hull, 0.3, cones ? 0 : 4 + 2 * i, tangent[i]);
    }
    t->h = 0.02;
}

static void add_disc(trinkle *t, int points, bool cones)
{
    plane *p = &t->p;
    perp_body_def def = space_body(1.0, (perp_vec3){0.01, 0.01, 0.02}, (perp_vec3){0.0, 0.0, 0.01});
    def.name = "disc";
    def.velocity_W = X;
    def.omega_W = (perp_vec3){0.0, 0.0, 8.0};
    perp_body disc = add(t, &def);
    perp_shape ground = floor_of(t);
    for (int i = 0; i < points; i++) {
        double angle = 2.0 * PI * i / points;
        perp_vec3 at = {0.2 * cos(angle), 0.2 * sin(angle), -0.01};
        space_contact(p, ground, space_point(p, disc, at), 0.25, cones ? 0 : 8, Y);
    }
    t->h = points == 3 ? 0.005 : 0.01;
}

// Corner i of a box: x fastest, then y, then z.
static perp_vec3 corner(int i, perp_vec3 half)
{
    return (perp_vec3){(i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                       (i & 4) != 0 ? half.z : -half.z};
}

static void add_pusher(trinkle *t, bool cones)
{
    plane *p = &t->p;
    perp_vec3 half = {0.2, 0.15, 0.1};
    perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), (perp_vec3){0.0, 0.0, 0.1});
    def.name = "box";
    perp_body box = add(t, &def);
    perp_shape ground = floor_of(t);
    for (int i = 0; i < 8; i++) {
        space_contact(p, ground, space_point(p, box, corner(i, half)), 0.4, cones ? 0 : 4, Y);
    }
    perp_shape face = space_halfspace(p, box, (perp_vec3){-1.0, 0.0, 0.0}, 0.2, 0.0);
    for (int i = 0; i < 2; i++) {
        perp_body_def finger = space_particle(0.0, (perp_vec3){-0.22, 0.0, 0.1});
        finger.motion = PERP_MOTION_KINEMATIC;
        finger.name = i == 0 ? "left finger" : "right finger";
        finger.motion_x = "-0.22 + 0.2*t";
        finger.motion_y = i == 0 ? "0.1" : "-0.1";
        finger.motion_z = "0.1";
        perp_body body = perp_builder_add_body(p->builder, &finger);
        t->pusher = i == 0 ? body : t->pusher;
        space_contact(p, face, space_point(p, body, (perp_vec3){0.0, 0.0, 0.0}), 0.3, cones ? 0 : 4,
                      Z);
    }
    t->h = 0.01;
}

// A wheel is a point of the chassis whose surface runs backwards.
static perp_shape wheel(trinkle *t, perp_vec3 at, const char *surface)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_POINT;
    def.position_B = at;
    def.surface_x = surface;
    return perp_builder_add_shape(t->p.builder, t->body[0], &def);
}

static void add_robot(trinkle *t, bool cones)
{
    plane *p = &t->p;
    perp_vec3 half = {0.2, 0.15, 0.075};
    perp_body_def def = space_body(5.0, space_box_inertia(5.0, half), (perp_vec3){0.0, 0.0, 0.1});
    def.name = "robot";
    perp_body robot = add(t, &def);
    def = space_body(0.5, (perp_vec3){0.002, 0.002, 0.002}, (perp_vec3){0.33, 0.02, 0.1});
    def.name = "ball";
    perp_body ball = add(t, &def);
    perp_shape ground = floor_of(t), sphere = space_sphere(p, ball, 0.1, 0.0);
    perp_shape face = space_halfspace(p, robot, X, 0.2, 0.0);
    space_contact(p, ground, wheel(t, (perp_vec3){-0.05, 0.17, -0.1}, "-0.5"), 0.8, cones ? 0 : 4,
                  Y);
    space_contact(p, ground, wheel(t, (perp_vec3){-0.05, -0.17, -0.1}, "-0.55"), 0.8, cones ? 0 : 4,
                  Y);
    space_contact(p, ground, space_point(p, robot, (perp_vec3){0.15, 0.0, -0.1}), 0.1,
                  cones ? 0 : 6, Y);
    space_contact(p, ground, sphere, 0.3, cones ? 0 : 8, Y);
    space_contact(p, face, sphere, 0.2, cones ? 0 : 4, Z);
    t->h = 0.01;
}

static void add_prismatic(trinkle *t)
{
    plane *p = &t->p;
    perp_body_def def = space_body(1.0, (perp_vec3){0.02, 0.1, 0.11}, (perp_vec3){0.5, 0.0, 0.0});
    def.name = "carrier";
    def.velocity_W = (perp_vec3){0.0, 0.5, 0.0};
    def.omega_W = Z;
    perp_body carrier = add(t, &def);
    def = space_body(0.5, (perp_vec3){0.01, 0.02, 0.025}, (perp_vec3){0.8, 0.0, 0.0});
    def.name = "slider";
    def.velocity_W = (perp_vec3){0.0, 0.8, 0.0};
    def.omega_W = Z;
    perp_body slider = add(t, &def);
    perp_joint_def ball = space_joint(PERP_JOINT_SPHERICAL, PLANE_GROUND, (perp_vec3){0}, carrier,
                                      (perp_vec3){-0.5, 0.0, 0.0}, Z);
    perp_builder_add_joint(p->builder, &ball);
    perp_joint_def slide =
        space_joint(PERP_JOINT_PRISMATIC, carrier, (perp_vec3){0}, slider, (perp_vec3){0}, X);
    perp_builder_add_joint(p->builder, &slide);
    t->h = 0.001;
}

static void add_box(trinkle *t, bool cones)
{
    plane *p = &t->p;
    perp_body_def def = space_body(1.0, (perp_vec3){1.0, 2.0, 3.0}, (perp_vec3){0.0, 0.0, 0.95});
    def.name = "box";
    def.rotation_WB = space_turn((perp_vec3){1.0, 1.0, 0.0}, 0.3);
    def.velocity_W = (perp_vec3){0.3, 0.0, 0.0};
    def.omega_W = (perp_vec3){0.2, -0.1, 0.3};
    perp_body box = add(t, &def);
    perp_shape ground = floor_of(t);
    for (int i = 0; i < 8; i++) {
        perp_vec3 at = corner(i, (perp_vec3){0.5, 0.5, 0.5});
        space_contact(p, ground, space_point(p, box, at), 0.5, cones ? 0 : 4 - i % 2, Y);
    }
    t->h = 0.005;
}

// A plank A leans over a roller B, two spheres on an axle, that rolls in under it; the edge of A is on the
// floor, and a ball E rolls down A. Contacts in the order of the notes' matrix G_n: A-floor, B-A, B-floor, B-floor,
// A-B, E-A.
static void add_bodies(trinkle *t, bool cones)
{
    plane *p = &t->p;
    double slope = asin(0.2), c = cos(slope), s = sin(slope);
    perp_vec3 half = {0.5, 0.2, 0.02};
    // The underside passes through the origin and touches spheres of radius 0.1 m on the floor.
    perp_vec3 up = {-s, 0.0, c}, along = {c, 0.0, s};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half),
                                   space_add(space_scale(0.5, along), space_scale(0.02, up)));
    def.name = "A";
    def.rotation_WB = space_turn(Y, -slope);
    perp_body A = add(t, &def);
    // The ground point under a sphere and the touching point of the plank are as far from the edge.
    double reach = 0.1 / tan(0.5 * slope);
    def = space_body(0.8, (perp_vec3){0.01, 0.0032, 0.01}, (perp_vec3){reach, 0.0, 0.1});
    def.name = "B";
    def.velocity_W = (perp_vec3){-0.4, 0.0, 0.0};
    def.omega_W = (perp_vec3){0.0, -4.0, 0.0};
    perp_body B = add(t, &def);
    perp_vec3 top = space_add(space_scale(0.7, along), space_scale(0.04 + 0.06, up));
    def = space_body(0.3, (perp_vec3){0.000432, 0.000432, 0.000432}, top);
    def.name = "E";
    perp_body E = add(t, &def);
    perp_shape ground = floor_of(t);
    perp_shape under = space_halfspace(p, A, (perp_vec3){0.0, 0.0, -1.0}, 0.02, 0.0);
    perp_shape upper = space_halfspace(p, A, Z, 0.02, 0.0);
    perp_shape edge = space_point(p, A, (perp_vec3){-0.5, 0.0, -0.02});
    perp_shape roller[2];
    for (int i = 0; i < 2; i++) {
        perp_shape_def sphere = perp_shape_default();
        sphere.kind = PERP_SHAPE_SPHERE;
        sphere.radius = 0.1;
        sphere.position_B = (perp_vec3){0.0, i == 0 ? 0.15 : -0.15, 0.0};
        roller[i] = perp_builder_add_shape(p->builder, B, &sphere);
    }
    perp_shape ball = space_sphere(p, E, 0.06, 0.0);
    space_contact(p, ground, edge, 0.3, cones ? 0 : 4, X);
    space_contact(p, under, roller[0], 0.4, cones ? 0 : 5, X);
    space_contact(p, ground, roller[0], 0.5, cones ? 0 : 6, X);
    space_contact(p, ground, roller[1], 0.5, cones ? 0 : 7, X);
    space_contact(p, under, roller[1], 0.4, cones ? 0 : 8, X);
    space_contact(p, upper, ball, 0.3, cones ? 0 : 9, X);
    t->h = 0.005;
}

void trinkle_open(trinkle *t, trinkle_example example, bool cones)
{
    *t = (trinkle){.body = {{-1}, {-1}, {-1}}, .pusher = {-1}};
    plane_open(&t->p);
    t->p.def.gyroscopic = PERP_GYROSCOPIC_EXPLICIT;  // as the notes write it
    t->p.def.rotation = PERP_ROTATION_LINEAR;
    perp_builder_set_listed_only(t->p.builder, true);
    switch (example) {
    case TRINKLE_BLIMP:
        add_blimp(t, cones);
        break;
    case TRINKLE_DISC_3:
        add_disc(t, 3, cones);
        break;
    case TRINKLE_DISC_8:
        add_disc(t, 8, cones);
        break;
    case TRINKLE_PUSHER:
        add_pusher(t, cones);
        break;
    case TRINKLE_ROBOT:
        add_robot(t, cones);
        break;
    case TRINKLE_PRISMATIC:
        add_prismatic(t);
        break;
    case TRINKLE_BOX:
        add_box(t, cones);
        break;
    default:
        add_bodies(t, cones);
        break;
    }
}

void trinkle_start(trinkle *t)
{
    plane_start(&t->p);
}

void trinkle_close(trinkle *t)
{
    plane_close(&t->p);
}
