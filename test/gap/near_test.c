// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which contacts a step looks at: everything that it can close, also by what happens in it, and no more.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>

static const double H = 0.01;

static perp_body add_disc(plane *p, double mass, double x, double vx)
{
    perp_body_def def = plane_body(mass, 0.01 * mass, x, 0.0, 0.0);
    def.velocity_W.x = vx;
    perp_body body = perp_builder_add_body(p->builder, &def);
    plane_disc(p, body, 0.1, 0.0);
    return body;
}

static void open_space(plane *p)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
}

// Each covers 5 cm in the step, both together the 9 cm between them.
static void both_approach(void **state)
{
    (void)state;
    plane p = {0};
    open_space(&p);
    perp_body a = add_disc(&p, 1.0, 0.0, 5.0), b = add_disc(&p, 1.0, 0.29, -5.0);
    plane_start(&p);
    plane_step(&p, H);
    assert_true(p.worst.gap <= 1e-9);
    assert_int_equal(p.inexact, 0);
    assert_true(perp_sim_body_position(p.sim, b).x - perp_sim_body_position(p.sim, a).x >=
                0.2 - 1e-9);
    plane_close(&p);
}

// A heavy disc strikes a light one, which is thrown at a third that nothing was about to touch.
static void blows_pass_on(void **state)
{
    (void)state;
    for (int links = 1; links <= 4; links++) {
        plane p = {0};
        open_space(&p);
        add_disc(&p, 1000.0, 0.0, 5.0);
        for (int k = 1; k <= links; k++) {
            add_disc(&p, 1.0, 0.2 * k, 0.0);
        }
        perp_body last = add_disc(&p, 1.0, 0.2 * links + 0.23, 0.0);
        plane_start(&p);
        plane_step(&p, H);
        assert_true(p.worst.gap <= 1e-9);
        assert_int_equal(p.inexact, 0);
        assert_true(plane_vx(&p, last) > 1.0);
        plane_close(&p);
    }
}

// A light disc leaves a heavy one twice as fast as it was struck.
static void bounces_count(void **state)
{
    (void)state;
    plane p = {0};
    open_space(&p);
    perp_body heavy = add_disc(&p, 1000.0, 0.0, 5.0);
    perp_body light = add_disc(&p, 1.0, 0.2, 0.0), last = add_disc(&p, 1.0, 0.49, 0.0);
    perp_contact_def bounce = perp_contact_default();
    bounce.a = (perp_shape){0};
    bounce.b = (perp_shape){1};
    bounce.restitution = 1.0;
    perp_builder_add_contact(p.builder, &bounce);
    plane_start(&p);
    plane_step(&p, H);
    assert_true(perp_sim_info(p.sim)->contacts >= 2);
    assert_true(plane_vx(&p, light) > plane_vx(&p, heavy));
    assert_true(p.worst.gap <= 1e-9 && plane_vx(&p, last) > 0.1);
    plane_close(&p);
}

// The same through a joint: what is struck drags another along.
static void joints_pass_blows_on(void **state)
{
    (void)state;
    plane p = {0};
    open_space(&p);
    add_disc(&p, 1000.0, 0.0, 5.0);
    perp_body struck = add_disc(&p, 1.0, 0.2, 0.0), dragged = add_disc(&p, 1.0, 0.6, 0.0);
    perp_body last = add_disc(&p, 1.0, 0.83, 0.0);
    plane_pin(&p, struck, (perp_vec3){0.2, 0.0, 0.0}, dragged, (perp_vec3){-0.2, 0.0, 0.0});
    plane_start(&p);
    plane_step(&p, H);
    assert_true(p.worst.gap <= 1e-9);
    assert_true(plane_vx(&p, last) > 1.0);
    plane_close(&p);
}

// Two discs at rest 5 cm apart are no contact because a third one flies.
static void the_slow_are_left_alone(void **state)
{
    (void)state;
    plane p = {0};
    open_space(&p);
    add_disc(&p, 1.0, 0.0, 0.0);
    add_disc(&p, 1.0, 0.25, 0.0);
    add_disc(&p, 1.0, 9.0, 60.0);
    plane_start(&p);
    plane_step(&p, H);
    assert_int_equal(perp_sim_info(p.sim)->contacts, 0);
    plane_close(&p);
}

// A strong force from rest.
static void forces_count(void **state)
{
    (void)state;
    plane p = {0};
    open_space(&p);
    perp_body a = add_disc(&p, 1.0, 0.0, 0.0);
    add_disc(&p, 1.0, 0.23, 0.0);
    plane_start(&p);
    perp_sim_body_apply(p.sim, a, (perp_wrench){.f_W = {500.0, 0.0, 0.0}});
    plane_step(&p, H);
    assert_true(p.worst.gap <= 1e-9);
    assert_int_equal(perp_sim_info(p.sim)->contacts, 1);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_approach),           cmocka_unit_test(blows_pass_on),
        cmocka_unit_test(bounces_count),           cmocka_unit_test(joints_pass_blows_on),
        cmocka_unit_test(the_slow_are_left_alone), cmocka_unit_test(forces_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
