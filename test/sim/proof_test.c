// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Infeasible, and not: bodies that nothing holds, joints that contradict each other, joints that repeat each other.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double H = 0.01;

// A block of one point on a plane turned by `angle`.
static perp_status on_incline(double angle, double mu, char *text, size_t size)
{
    plane p = {0};
    plane_open(&p);
    p.def.stepper = PERP_STEPPER_QUASISTATIC;
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, angle, mu);
    perp_body_def def =
        plane_body(2.0, 2.0 * 1.25 / 12.0, -0.25 * sin(angle), 0.25 * cos(angle), angle);
    def.name = "block";
    perp_body block = perp_builder_add_body(p.builder, &def);
    plane_box(&p, block, 0.5, 0.25, mu);
    plane_start(&p);
    perp_status status = perp_sim_step(p.sim, H);
    snprintf(text, size, "%s", perp_sim_error(p.sim)->text);
    plane_close(&p);
    return status;
}

static void inclines_without_inertia(void **state)
{
    (void)state;
    char text[256];
    for (int m = 1; m < 7; m++) {  // beyond, the block tips over
        double mu = 0.1 * m;
        assert_int_equal(on_incline(atan(mu) - 0.02, mu, text, sizeof text), PERP_OK);
        assert_int_equal(on_incline(atan(mu) + 0.02, mu, text, sizeof text), PERP_ERR_INFEASIBLE);
        assert_non_null(strstr(text, "block"));
    }
    assert_int_equal(on_incline(1.3, 5.0, text, sizeof text), PERP_ERR_INFEASIBLE);  // tips
}

// In space: a box on a floor is held, one without a floor is not, and one that is pushed harder than friction is not.
static perp_status in_space(bool floor, double push, char *text, size_t size)
{
    plane p = {0};
    plane_open(&p);
    p.def.stepper = PERP_STEPPER_QUASISTATIC;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    if (floor) {
        space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.5);
    }
    perp_vec3 half = {0.2, 0.3, 0.1};
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, half), (perp_vec3){0.0, 0.0, 0.1});
    def.name = "crate";
    perp_body crate = perp_builder_add_body(p.builder, &def);
    space_box(&p, crate, half, 0.5);
    plane_start(&p);
    perp_sim_body_apply(p.sim, crate, (perp_wrench){.f_W = {push * 0.6, push * 0.8, 0.0}});
    perp_status status = perp_sim_step(p.sim, H);
    snprintf(text, size, "%s", perp_sim_error(p.sim)->text);
    plane_close(&p);
    return status;
}

static void boxes_without_inertia(void **state)
{
    (void)state;
    char text[256];
    assert_true(in_space(true, 0.0, text, sizeof text) >= 0);
    assert_true(in_space(true, 0.48 * 9.81, text, sizeof text) >= 0);
    assert_int_equal(in_space(true, 0.52 * 9.81, text, sizeof text), PERP_ERR_INFEASIBLE);
    assert_non_null(strstr(text, "crate"));
    assert_int_equal(in_space(false, 0.0, text, sizeof text), PERP_ERR_INFEASIBLE);
    assert_non_null(strstr(text, "crate"));
}

static perp_joint add_pin(plane *p, const char *name, perp_body b, const char *rate)
{
    perp_joint_def def = perp_joint_default();
    def.name = name;
    def.kind = PERP_JOINT_REVOLUTE;
    def.a = PLANE_GROUND;
    def.b = b;
    def.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
    def.rate = rate;
    def.rate_effort = INFINITY;
    return perp_builder_add_joint(p->builder, &def);
}

// Two hinges at one place that ask for different accelerations; those that ask for the same are fine.
static void event_names_joints(void **state)
{
    (void)state;
    static const char *const second[] = {"3*t", "t"};
    for (int k = 0; k < 2; k++) {
        plane p = {0};
        plane_open(&p);
        p.def.stepper = PERP_STEPPER_EVENT;
        perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, 0.0);
        perp_body rod = perp_builder_add_body(p.builder, &def);
        add_pin(&p, "hinge", rod, "t");
        add_pin(&p, "bearing", rod, second[k]);
        plane_start(&p);
        perp_status status = perp_sim_step(p.sim, H);
        if (k == 1) {
            assert_true(status >= 0);
        } else if (status != PERP_ERR_REFUSED) {
            const char *text = perp_sim_error(p.sim)->text;
            assert_int_equal(status, PERP_ERR_INFEASIBLE);
            assert_true(strstr(text, "hinge") && strstr(text, "bearing"));
        }
        plane_close(&p);
    }
}

// A chain with every pin twice, beyond the number of rows that are factored densely.
static void many_redundant_rows(void **state)
{
    (void)state;
    enum { LINKS = 310 };
    plane p = {0};
    plane_open(&p);
    perp_body last = PLANE_GROUND;
    for (int i = 0; i < LINKS; i++) {
        perp_body_def def = plane_rod(1.0, 1.0, i, 0.0, 0.0);
        perp_body rod = perp_builder_add_body(p.builder, &def);
        perp_vec3 end = {i > 0 ? 0.5 : 0.0, 0.0, 0.0}, start = {-0.5, 0.0, 0.0};
        plane_pin(&p, last, end, rod, start);
        plane_pin(&p, last, end, rod, start);
        last = rod;
    }
    plane_start(&p);
    for (int step = 0; step < 2; step++) {
        assert_true(perp_sim_step(p.sim, H) >= 0);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_int_equal(info->joint_rows, 4 * LINKS);
        assert_int_equal(info->redundant_rows, 2 * LINKS);
        assert_int_equal(info->motion, PERP_UNIQUENESS_PROVED);
        assert_true(info->impulses != PERP_UNIQUENESS_PROVED);
        assert_true(perp_sim_joint(p.sim, (perp_joint){0}).redundant ||
                    perp_sim_joint(p.sim, (perp_joint){1}).redundant);
    }
    plane_close(&p);
}

// A pawl: a rod hangs from a pin and leans on the floor so steeply that friction locks it. Rounding of the gap asks for a
// velocity that parts the two, which friction lets nothing give. It stays, in all coordinates, and can be lifted.
static void pawl_is_locked(void **state)
{
    (void)state;
    static const double step[] = {1e-3, 1e-4, 1e-5};
    for (int k = 0; k < 6; k++) {
        plane p = {0};
        plane_open(&p);
        p.def.coordinates = k < 3 ? PERP_COORDINATES_BODY : PERP_COORDINATES_JOINT;
        double a = -asin(0.94 + 1e-7);  // the tip is 1e-7 m in the floor
        plane_halfplane(&p, PLANE_GROUND, 0.0, -0.96, 0.0, 1.0);
        perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, a);
        perp_body rod = perp_builder_add_body(p.builder, &def);
        perp_shape_def tip = perp_shape_default();
        tip.radius = 0.02;
        tip.position_B.x = 0.5;
        tip.mu = 1.0;
        perp_builder_add_shape(p.builder, rod, &tip);
        plane_pin(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 0.0}, rod, (perp_vec3){-0.5, 0.0, 0.0});
        plane_start(&p);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(perp_sim_step(p.sim, step[k % 3]), PERP_OK);
            assert_true(perp_sim_info(p.sim)->certificate.passed);
            assert_true(fabs(perp_sim_body_twist(p.sim, rod).w_W.z) < 1e-6);
        }
        // twice its weight at the centre: the tip leaves the floor
        perp_sim_body_apply(p.sim, rod, (perp_wrench){.f_W = {0.0, 19.62, 0.0}});
        assert_int_equal(perp_sim_step(p.sim, step[k % 3]), PERP_OK);
        assert_true(perp_sim_body_twist(p.sim, rod).w_W.z > step[k % 3]);
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inclines_without_inertia), cmocka_unit_test(boxes_without_inertia),
        cmocka_unit_test(event_names_joints),       cmocka_unit_test(many_redundant_rows),
        cmocka_unit_test(pawl_is_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
