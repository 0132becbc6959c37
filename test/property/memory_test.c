// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory: every allocation from the first builder to the last step fails once; nothing leaks, nothing is
// half done. A scene at rest allocates nothing.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random_scene.h"

#include <string.h>

typedef void (*fill)(perp_builder *builder);

// Joints, drives, springs, listed contacts, expressions: everything a builder can take.
static void fill_machine(perp_builder *b)
{
    perp_body_def body = plane_body(1.0, 0.1, 0.0, 0.5, 0.0),
                  pusher = plane_particle(0.0, 0.0, 0.0);
    perp_shape_def floor = perp_shape_default(), box = perp_shape_default(),
                   point = perp_shape_default();
    static const perp_vec3 triangle[3] = {{-0.2, -0.1, 0.0}, {0.2, -0.1, 0.0}, {0.0, 0.2, 0.0}};
    body.name = "first";
    perp_body first = perp_builder_add_body(b, &body);
    body.name = "second";
    body.position_W.x = 1.0;
    perp_body second = perp_builder_add_body(b, &body);
    pusher.motion = PERP_MOTION_KINEMATIC;
    pusher.motion_x = "-1+0.2*sin(t)";
    pusher.motion_y = "0.5";
    perp_body third = perp_builder_add_body(b, &pusher);
    floor.kind = PERP_SHAPE_HALFPLANE;
    floor.surface_speed = "0.1*t";
    box.kind = PERP_SHAPE_POLYGON;
    box.vertices_S = triangle;
    box.vertex_count = 3;
    point.kind = PERP_SHAPE_POINT;
    perp_shape ground = perp_builder_add_shape(b, PLANE_GROUND, &floor);
    perp_shape tip = perp_builder_add_shape(b, third, &point),
               hull = perp_builder_add_shape(b, first, &box);
    perp_builder_add_shape(b, second, &box);
    perp_pair_def pair = perp_pair_default();
    pair.a = ground;
    pair.b = hull;
    pair.mu = 0.4;
    perp_builder_add_pair(b, &pair);
    perp_contact_def contact = perp_contact_default();
    contact.a = tip;
    contact.b = hull;
    contact.name = "tip on hull";
    perp_builder_add_contact(b, &contact);
    perp_joint_def pin = perp_joint_default();
    pin.kind = PERP_JOINT_REVOLUTE;
    pin.a = first;
    pin.b = second;
    pin.anchor_A.x = pin.anchor_B.x = 0.5;
    pin.anchor_B.x = -0.5;
    pin.rate = "sin(t)";
    pin.rate_effort = 1.0;
    pin.lower = -0.5;
    pin.upper = 0.5;
    perp_builder_add_joint(b, &pin);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.b = second;
    spring.stiffness = 10.0;
    spring.implicit = true;
    perp_builder_add_force(b, &spring);
}

// Square boxes of side 1 in columns of `high`, every other row moved aside.
static void fill_boxes(perp_builder *b, int high, double apart, double aside)
{
    perp_shape_def floor = perp_shape_default(), box = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFPLANE;
    perp_builder_add_shape(b, PLANE_GROUND, &floor);
    box.kind = PERP_SHAPE_BOX;
    box.half = (perp_vec3){0.5, 0.5, 0.0};
    box.density = 1.0;
    for (int i = 0; i < high * high; i++) {
        perp_body_def def = perp_body_default();
        int column = i / high, row = i % high;
        def.position_W = (perp_vec3){apart * column + (row % 2 ? aside : 0.0), 0.5 + row, 0.0};
        perp_builder_add_shape(b, perp_builder_add_body(b, &def), &box);
    }
}

// Enough contacts for the cone form.
static void fill_wall(perp_builder *b)
{
    fill_boxes(b, 4, 1.2, 0.0);
}

// Enough contacts that hang together for the forms MCP and LCP to do without pivoting.
static void fill_bond(perp_builder *b)
{
    fill_boxes(b, 5, 1.01, 0.3);
}

// From nothing to the end of two steps; the status of what failed first.
static perp_status whole_life(fill scene, const perp_env *env, const perp_sim_def *def)
{
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_builder *builder = perp_builder_create(env);
    scene(builder);
    perp_status status = perp_model_create(builder, &model, NULL);
    perp_builder_destroy(builder);
    if (status >= 0) {
        status = perp_sim_create(model, def, env, &sim, NULL);
    }
    for (int i = 0; status >= 0 && i < 2; i++) {
        uint64_t before = perp_sim_state_hash(sim);
        status = perp_sim_step(sim, 0.01);
        assert_true(status >= 0 || perp_sim_state_hash(sim) == before);
    }
    if (status >= 0) {
        perp_step_problem *problem = NULL;
        status = perp_sim_problem(sim, PERP_FORM_MCP, &problem);
        perp_step_problem_destroy(problem);
    }
    perp_sim_destroy(sim);
    perp_model_destroy(model);
    return status;
}

static void walk(fill scene, perp_form form)
{
    perp_sim_def def = perp_sim_default();
    def.form = form;
    for (int k = 1; k < 5000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        fault_hook(&f);
        perp_status status = whole_life(scene, &env, &def);
        fault_hook(NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_true(status >= 0);
            assert_true(k > 10);
            return;
        }
        assert_true(status == PERP_ERR_MEMORY || status >= 0);
    }
    fail_msg("the walk over allocations does not end");
}

static void every_allocation_fails(void **state)
{
    (void)state;
    walk(fill_machine, PERP_FORM_AUTO);
    walk(fill_machine, PERP_FORM_MCP);
    walk(fill_wall, PERP_FORM_AUTO);
    walk(fill_wall, PERP_FORM_LCP);
    walk(fill_bond, PERP_FORM_LCP);
    walk(fill_bond, PERP_FORM_MCP);
}

// After a few steps have found how much they need, 100 more need nothing new.
static int allocations_at_rest(fill scene, perp_form form, bool with_suitesparse)
{
    fault f = {0};
    perp_env env = fault_env(&f);
    perp_sim_def def = perp_sim_default();
    perp_model *model;
    perp_sim *sim;
    def.form = form;
    perp_builder *builder = perp_builder_create(&env);
    scene(builder);
    assert_int_equal(perp_model_create(builder, &model, NULL), PERP_OK);
    perp_builder_destroy(builder);
    assert_int_equal(perp_sim_create(model, &def, &env, &sim, NULL), PERP_OK);
    fault_hook(with_suitesparse ? &f : NULL);
    for (int i = 0; i < 20; i++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
    }
    int before = f.calls;
    for (int i = 0; i < 100; i++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
    }
    int calls = f.calls - before;
    perp_sim_destroy(sim);
    perp_model_destroy(model);
    fault_hook(NULL);
    assert_int_equal(f.live, 0);
    return calls;
}

static void no_allocation_at_rest(void **state)
{
    (void)state;
    assert_int_equal(allocations_at_rest(fill_wall, PERP_FORM_LCP, true), 0);
    assert_int_equal(allocations_at_rest(fill_wall, PERP_FORM_MCP, true), 0);
    // Newton on the bodies factors with KLU, which has an allocator of its own.
    assert_int_equal(allocations_at_rest(fill_wall, PERP_FORM_AUTO, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(no_allocation_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
