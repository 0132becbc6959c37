// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of a step is limited: what uses it up is not solved, says so, and leaves the state as it was.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <string.h>

static const double H = 0.01;

// Boxes and balls above each other, as fast as nothing is and with friction that nothing has: every solver is tried on
// every part of the step.
static void start_hostile(plane *p, perp_sim_def def)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 4e7);
    for (int i = 0; i < 9; i++) {
        const perp_vec3 half = {0.15, 0.2, 0.2};
        double mass = i % 3 ? 0.4 : 5.0, fast = i % 2 ? 1e6 : 1e7;
        perp_body_def body = space_body(mass, space_box_inertia(mass, half),
                                        (perp_vec3){0.05 * sin(i), 0.02 * cos(i), 0.3 + 0.6 * i});
        body.rotation_WB = space_turn((perp_vec3){0.3, 0.5, 0.8}, 0.1 * i);
        body.velocity_W =
            (perp_vec3){fast * sin(3.0 * i), fast * cos(5.0 * i), -fast * sin(7.0 * i)};
        perp_body b = perp_builder_add_body(p->builder, &body);
        perp_shape shape = i % 4 == 1 ? space_sphere(p, b, 0.3, 4e7) : space_box(p, b, half, 4e7);
        (void)shape;
    }
    p->def = def;
    plane_start(p);
}

static void hostile_steps_end(void **state)
{
    (void)state;
    perp_sim_def def = perp_sim_default();
    for (int stepper = PERP_STEPPER_STEWART_TRINKLE; stepper <= PERP_STEPPER_MOREAU_JEAN;
         stepper++) {
        plane p = {0};
        def.stepper = (perp_stepper)stepper;
        start_hostile(&p, def);
        uint64_t before = perp_sim_state_hash(p.sim);
        perp_status status = perp_sim_step(p.sim, H);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_true(info->effort.work <= 1.5 * def.max_work);
        assert_true(status >= 0 || perp_sim_state_hash(p.sim) == before);
        plane_close(&p);
    }
}

// Groups of boxes dropped on a floor, each an island.
static void start_islands(plane *p, perp_sim_def def)
{
    const perp_vec3 half = {0.1, 0.1, 0.1};
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.5);
    for (int i = 0; i < 12; i++) {
        int tower = i / 3;
        perp_vec3 at = {2.0 * tower, 0.01 * (i % 3), 0.1 + 0.2 * (i % 3)};
        perp_body_def body = space_body(1.0, space_box_inertia(1.0, half), at);
        // they slide, so that what stops the fall of each is no answer
        body.velocity_W = (perp_vec3){0.5 + 0.1 * i, 0.2, 0.0};
        space_box(p, perp_builder_add_body(p->builder, &body), half, 0.5);
    }
    p->def = def;
    plane_start(p);
}

static perp_status step_with(double most, int threads, perp_step_info *info, uint64_t *hash)
{
    plane p = {0};
    perp_sim_def def = perp_sim_default();
    def.max_work = most;
    def.threads = threads;
    start_islands(&p, def);
    uint64_t before = perp_sim_state_hash(p.sim);
    perp_status status = perp_sim_step(p.sim, H);
    *info = *perp_sim_info(p.sim);
    *hash = perp_sim_state_hash(p.sim);
    assert_true(status >= 0 || *hash == before);
    plane_close(&p);
    return status;
}

static void used_up_work_is_said_with_names(void **state)
{
    (void)state;
    perp_step_info info, other;
    uint64_t hash, again;
    assert_int_equal(step_with(1e-6, 1, &info, &hash), PERP_ERR_LIMIT);
    assert_non_null(strstr(info.remark, "not solved"));
    assert_non_null(strstr(info.remark, "1e-06 factorisations"));
    assert_int_equal(step_with(1e-6, 4, &other, &again), PERP_ERR_LIMIT);
    assert_string_equal(info.remark, other.remark);
    assert_true(info.effort.work == other.effort.work);
}

// An island may use what the others leave: a limit that is just enough for all together is enough.
static void islands_share_what_there_is(void **state)
{
    (void)state;
    perp_step_info free, info;
    uint64_t hash, again;
    assert_true(step_with(0.0, 1, &free, &hash) >= 0);
    assert_true(free.effort.islands == 4 && free.effort.work > 0.0);
    for (int threads = 1; threads <= 4; threads += 3) {
        assert_true(step_with(2.0 * free.effort.work, threads, &info, &again) >= 0);
        assert_true(again == hash && info.effort.work <= 2.0 * free.effort.work);
    }
}

// An arm whose joint is driven, whatever it takes, into a block: no velocity can do that, which is proved soon and said
// with the bodies and the joint.
static void a_driven_arm_jams_by_name(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    perp_body_def fixed = space_body(1.0, (perp_vec3){1.0, 1.0, 1.0}, (perp_vec3){0.3, 0.8, 0.25});
    fixed.motion = PERP_MOTION_STATIC;
    space_box(&p, perp_builder_add_body(p.builder, &fixed), (perp_vec3){1.0, 0.25, 0.4}, 0.6);
    perp_body_def upper =
        space_body(1.1, (perp_vec3){5e-4, 1.5e-2, 1.5e-2}, (perp_vec3){0.2, 0.0, 0.5});
    perp_body_def fore =
        space_body(0.8, (perp_vec3){3e-4, 1.1e-2, 1.1e-2}, (perp_vec3){0.6, 0.0, 0.5});
    perp_body first = perp_builder_add_body(p.builder, &upper),
              second = perp_builder_add_body(p.builder, &fore);
    space_box(&p, second, (perp_vec3){0.2, 0.025, 0.025}, 0.6);
    perp_joint_def yaw =
        space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, (perp_vec3){0.0, 0.0, 0.5}, first,
                    (perp_vec3){-0.2, 0.0, 0.0}, (perp_vec3){0.0, 0.0, 1.0});
    yaw.target = "min(t,1)";
    perp_joint_def elbow =
        space_joint(PERP_JOINT_REVOLUTE, first, (perp_vec3){0.2, 0.0, 0.0}, second,
                    (perp_vec3){-0.2, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
    elbow.stiffness = 200.0;
    elbow.damping = 10.0;
    perp_builder_add_joint(p.builder, &yaw);
    perp_builder_add_joint(p.builder, &elbow);
    plane_start(&p);
    perp_status status = PERP_OK;
    for (int k = 0; k < 200 && status >= 0; k++) {
        status = perp_sim_step(p.sim, 0.005);
    }
    const perp_step_info *info = perp_sim_info(p.sim);
    assert_int_equal(status, PERP_ERR_INFEASIBLE);
    assert_non_null(strstr(info->remark, "body1 - body3"));
    assert_non_null(strstr(info->remark, "the motion of joint 'joint0'"));
    assert_true(info->effort.work < 0.1 * p.def.max_work);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_steps_end),
        cmocka_unit_test(used_up_work_is_said_with_names),
        cmocka_unit_test(islands_share_what_there_is),
        cmocka_unit_test(a_driven_arm_jams_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
