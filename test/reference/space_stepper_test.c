// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The other steppers, laws and options in space.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>

static const double G = 9.81;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Z = {0.0, 0.0, 1.0};

static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA,
                                        PERP_STEPPER_MOREAU_JEAN};

static perp_body open_box(plane *p, double mu, perp_vec3 at)
{
    plane_open(p);
    perp_vec3 half = {0.2, 0.15, 0.1};
    perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), at);
    perp_body box = perp_builder_add_body(p->builder, &def);
    space_box(p, box, half, mu);
    space_halfspace(p, PLANE_GROUND, Z, 0.0, mu);
    return box;
}

// Friction stops a box after v/(mu g) at v^2/(2 mu g), whatever the stepper.
static void boxes_stop(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        plane p = {0};
        plane_open(&p);
        perp_vec3 half = {0.2, 0.15, 0.1};
        perp_body_def def = space_body(2.0, space_box_inertia(2.0, half), (perp_vec3){0, 0, 0.1});
        def.velocity_W = (perp_vec3){1.2, 1.6, 0.0};
        perp_body box = perp_builder_add_body(p.builder, &def);
        space_box(&p, box, half, 0.3);
        space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.3);
        p.def.stepper = steppers[k];
        p.def.tolerance = 1e-12;
        plane_start(&p);
        plane_run(&p, 0.002, 450);
        perp_vec3 x = perp_sim_body_position(p.sim, box);
        double way = hypot(x.x, x.y),
               h_v = steppers[k] == PERP_STEPPER_MOREAU_JEAN ? 0.0 : 0.001 * 2.0;
        space_near(way, 4.0 / (0.6 * G) - h_v, 5e-5, perp_stepper_word((int)steppers[k]));
        space_near(x.y / x.x, 4.0 / 3.0, 1e-9, "heading");
        space_near(x.z, 0.1, 1e-9, "height");
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

// Error of the angle of a rod that swings about an axis across it, let go horizontally, after 0.5 s.
static double swing(perp_stepper stepper, double h)
{
    plane p = {0};
    plane_open(&p);
    perp_body_def def =
        space_body(1.0, (perp_vec3){0.01, 1.0 / 12.0, 1.0 / 12.0}, (perp_vec3){0.5, 0.0, 0.0});
    perp_body rod = perp_builder_add_body(p.builder, &def);
    perp_joint_def pin = space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, O, rod,
                                     (perp_vec3){-0.5, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
    perp_builder_add_joint(p.builder, &pin);
    p.def.stepper = stepper;
    p.def.limits.joint = 0.1;
    plane_start(&p);
    plane_run(&p, h, (int)floor(0.5 / h + 0.5));
    perp_vec3 x = perp_sim_body_position(p.sim, rod);
    double angle = atan2(-x.z, x.x);  // from the horizontal; it has passed the vertical by 0.09 rad
    plane_close(&p);
    return fabs(angle - (1.5707963267948966 + 0.09035208995597252));
}

static void orders(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        double order = log2(swing(steppers[k], 0.002) / swing(steppers[k], 0.001));
        print_message("pendulum, %s: order %.2f\n", perp_stepper_word((int)steppers[k]), order);
        assert_true(order > (steppers[k] == PERP_STEPPER_MOREAU_JEAN ? 1.8 : 0.9));
    }
}

// Newton and Poisson on a ball that falls straight down: e times the speed.
static void bounces(void **state)
{
    (void)state;
    for (int law = 0; law < 2; law++) {
        for (int k = 0; k < 3; k++) {
            plane p = {0};
            plane_open(&p);
            perp_body_def def =
                space_body(1.0, (perp_vec3){0.004, 0.004, 0.004}, (perp_vec3){0.0, 0.0, 1.1});
            perp_body ball = perp_builder_add_body(p.builder, &def);
            perp_shape_def sphere = perp_shape_default();
            sphere.kind = PERP_SHAPE_SPHERE;
            sphere.radius = 0.1;
            sphere.restitution = 0.8;
            perp_builder_add_shape(p.builder, ball, &sphere);
            space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
            p.def.stepper = steppers[k];
            p.def.impact = law == 0 ? PERP_IMPACT_NEWTON : PERP_IMPACT_POISSON;
            p.def.limits.complementarity = p.def.limits.residual = HUGE_VAL;
            plane_start(&p);
            double apex = 0.0;
            for (int i = 0; i < 830; i++) {
                plane_step(&p, 0.001);
                apex = i * 0.001 > 0.5 ? fmax(apex, perp_sim_body_position(p.sim, ball).z) : 0.0;
            }
            space_near(apex - 0.1, 0.64, 0.01, "first apex");
            plane_close(&p);
        }
    }
}

// No inertia: a box pushed over the floor moves with the finger, and stops with it.
static void quasistatic(void **state)
{
    (void)state;
    plane p = {0};
    perp_body box = open_box(&p, 0.4, (perp_vec3){0.0, 0.0, 0.1});
    perp_body_def finger = space_particle(0.0, O);
    finger.motion = PERP_MOTION_KINEMATIC;
    finger.motion_x = "-0.21 + 0.1*sin(3*t)";
    finger.motion_z = "0.02";
    perp_body pusher = perp_builder_add_body(p.builder, &finger);
    space_point(&p, pusher, O);
    p.def.stepper = PERP_STEPPER_QUASISTATIC;
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.01, 100);  // the finger turned back at 0.52 s
    space_near(perp_sim_body_position(p.sim, box).x, 0.09, 1e-3,
               "pushed as far as the finger went");
    assert_true(space_length(perp_sim_body_twist(p.sim, box).v_W) < 1e-6);
    plane_close(&p);
}

// The sim's law: none, polygons for all contacts, cones.
static void laws(void **state)
{
    (void)state;
    double turned[3];
    for (int k = 0; k < 3; k++) {
        static const perp_friction_law law[] = {PERP_FRICTION_NONE, PERP_FRICTION_PYRAMID,
                                                PERP_FRICTION_COULOMB};
        plane p = {0};
        plane_open(&p);
        perp_body_def def = space_particle(1.0, O);
        def.velocity_W = (perp_vec3){1.0, 0.4, 0.0};
        perp_body mass = perp_builder_add_body(p.builder, &def);
        perp_contact_def contact = perp_contact_default();
        contact.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
        contact.b = space_point(&p, mass, O);
        contact.mu = 0.5;
        contact.tangent_A = X;
        perp_builder_add_contact(p.builder, &contact);
        p.def.friction = law[k];
        p.def.facets = 4;
        plane_start(&p);
        plane_run(&p, 0.01, 10);
        perp_vec3 v = perp_sim_body_twist(p.sim, mass).v_W;
        turned[k] = v.y / v.x;
        space_near(space_length(v), k == 0 ? 1.0770329614269007 : space_length(v), 1e-12, "speed");
        int count;
        const perp_contact *c = perp_sim_contacts(p.sim, &count);
        assert_int_equal(c[0].facets, k == 1 ? 4 : 0);
        plane_close(&p);
    }
    space_near(turned[0], 0.4, 1e-12, "no friction");
    space_near(turned[1], 0.4 / (1.0 - 0.5 * G * 0.1), 1e-9, "four directions: only along x");
    space_near(turned[2], 0.4, 1e-8, "cone");
}

// Friction along o alone: a blade that glides along t.
static void blade(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = space_particle(1.0, O);
    def.velocity_W = (perp_vec3){1.0, 1.0, 0.0};
    perp_body mass = perp_builder_add_body(p.builder, &def);
    perp_contact_def contact = perp_contact_default();
    contact.a = space_halfspace(&p, PLANE_GROUND, Z, 0.0, 0.0);
    contact.b = space_point(&p, mass, O);
    contact.mu = 0.5;
    contact.mu_2 = 0.0;
    contact.facets = 0;
    contact.tangent_A = X;  // friction along x, none along y
    perp_builder_add_contact(p.builder, &contact);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.01, 50);
    perp_vec3 v = perp_sim_body_twist(p.sim, mass).v_W;
    space_near(v.x, 0.0, 1e-9, "along the friction");
    space_near(v.y, 1.0, 1e-9, "along the blade");
    plane_close(&p);
}

// The linear update of quaternions keeps them of unit length and is behind the exponential one by h^2.
static void rotation_updates(void **state)
{
    (void)state;
    perp_quat q[2];
    for (int k = 0; k < 2; k++) {
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, O);
        perp_body_def def = space_body(1.0, (perp_vec3){1.0, 1.0, 1.0}, O);
        def.omega_W = (perp_vec3){1.0, 2.0, 2.0};
        perp_body body = perp_builder_add_body(p.builder, &def);
        p.def.rotation = k == 0 ? PERP_ROTATION_EXPONENTIAL : PERP_ROTATION_LINEAR;
        plane_start(&p);
        plane_run(&p, 0.01, 100);
        q[k] = perp_sim_body_pose(p.sim, body).rot;
        space_near(q[k].w * q[k].w + q[k].x * q[k].x + q[k].y * q[k].y + q[k].z * q[k].z, 1.0,
                   1e-14, "norm");
        plane_close(&p);
    }
    space_near(q[0].w, cos(1.5), 1e-13, "turned by 3 rad");
    // Each step turns by 2 atan(h w / 2) in place of h w.
    space_near(q[1].w, cos(100.0 * atan(0.015)), 1e-12, "linear");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_stop),       cmocka_unit_test(orders), cmocka_unit_test(bounces),
        cmocka_unit_test(quasistatic),      cmocka_unit_test(laws),   cmocka_unit_test(blade),
        cmocka_unit_test(rotation_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
