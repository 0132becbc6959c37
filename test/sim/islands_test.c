// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Islands: what does not touch does not change each other's motion by a bit, whatever form it is solved in;
// failures name the bodies of the island they are in.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/space.h"

#include <string.h>

static perp_scene *heaps(const char *count, const char *bodies, const char *cubes)
{
    perp_generator_option options[] = {{"heaps", count}, {"bodies", bodies}, {"cubes", cubes}};
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("heaps", options, 3, NULL, &scene, NULL), PERP_OK);
    return scene;
}

static perp_sim *start(const perp_scene *scene, perp_sim_def def, const perp_env *env)
{
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, env, &sim, NULL), PERP_OK);
    return sim;
}

static void same_motion(const perp_sim *a, const perp_sim *b, int bodies, bool bits)
{
    for (int k = 1; k <= bodies; k++) {
        perp_pose of_a = perp_sim_body_pose(a, (perp_body){k}),
                  of_b = perp_sim_body_pose(b, (perp_body){k});
        perp_twist v_a = perp_sim_body_twist(a, (perp_body){k}),
                   v_b = perp_sim_body_twist(b, (perp_body){k});
        if (bits) {
            assert_memory_equal(&of_a, &of_b, sizeof of_a);
            assert_memory_equal(&v_a, &v_b, sizeof v_a);
        }
        assert_true(space_length(space_sub(v_a.v_W, v_b.v_W)) < 1e-9);
        assert_true(space_length(space_sub(v_a.w_W, v_b.w_W)) < 1e-9);
    }
}

// A heap moves as it does alone, its first bodies being those of the scene with one heap: balls, which
// touch from the start, bit for bit; cubes that land share the guess of what new contacts carry.
static void neighbours_change_nothing(void **state)
{
    (void)state;
    static const char *const cubes[] = {"0", "1"};
    for (int k = 0; k < 2; k++) {
        perp_scene *one = heaps("1", "5", cubes[k]), *many = heaps("4", "5", cubes[k]);
        for (int form = PERP_FORM_AUTO; form <= PERP_FORM_CONE; form++) {
            if (form == PERP_FORM_MCP && k == 1) {
                continue;  // slow
            }
            perp_sim_def def = perp_scene_sim_def(one);
            def.form = (perp_form)form;
            perp_sim *a = start(one, def, NULL), *b = start(many, def, NULL);
            int most = 0;
            for (int step = 0; step < 60; step++) {
                assert_true(perp_sim_step(a, 0.01) >= 0);
                assert_true(perp_sim_step(b, 0.01) >= 0);
                same_motion(a, b, 5, k == 0);
                int islands = perp_sim_info(b)->effort.islands;
                assert_true(islands >= 4 * perp_sim_info(a)->effort.islands);
                most = islands > most ? islands : most;
            }
            assert_true(most >= 4);
            perp_sim_destroy(a);
            perp_sim_destroy(b);
        }
        perp_scene_destroy(one);
        perp_scene_destroy(many);
    }
}

// Joints tie bodies as contacts do; the ground and driven bodies do not.
static void joints_tie(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, -9.81, 0.0});
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.3);
    perp_body disc[6];
    for (int k = 0; k < 6; k++) {
        perp_body_def def = plane_body(1.0, 0.1, 2.0 * k, k < 5 ? 0.5 : 9.0, 0.0);
        disc[k] = perp_builder_add_body(p.builder, &def);
        plane_disc(&p, disc[k], 0.5, 0.3);
    }
    plane_pin(&p, disc[0], (perp_vec3){1.0, 0.0, 0.0}, disc[1], (perp_vec3){-1.0, 0.0, 0.0});
    plane_pin(&p, PLANE_GROUND, (perp_vec3){4.0, 0.5, 0.0}, disc[2], (perp_vec3){0.0, 0.0, 0.0});
    plane_start(&p);
    plane_run(&p, 0.01, 20);
    assert_int_equal(p.inexact, 0);
    assert_int_equal(perp_sim_info(p.sim)->effort.islands, 4);  // {0, 1}, {2}, {3}, {4}; 5 falls
    assert_true(plane_vy(&p, disc[5]) < -1.9);
    assert_true(perp_sim_info(p.sim)->certificate.momentum < 1e-12);
    plane_close(&p);
}

// Balls that bounce by Poisson's law beside a stack that does not.
static void phases_are_put_together(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    p.def.impact = PERP_IMPACT_POISSON;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.5);
    for (int k = 0; k < 4; k++) {
        perp_vec3 half = {0.5, 0.5, 0.5};
        perp_body_def def =
            space_body(1.0, space_box_inertia(1.0, half),
                       (perp_vec3){k < 2 ? 0.0 : 3.0 * k, 0.0, k < 2 ? 0.5 + k : 0.7 + 0.1 * k});
        perp_body body = perp_builder_add_body(p.builder, &def);
        perp_shape_def shape = perp_shape_default();
        shape.kind = k < 2 ? PERP_SHAPE_BOX : PERP_SHAPE_SPHERE;
        shape.half = half;
        shape.radius = 0.5;
        shape.mu = 0.5;
        shape.restitution = k < 2 ? 0.0 : 0.6;
        perp_builder_add_shape(p.builder, body, &shape);
    }
    plane_start(&p);
    bool bounced = false;
    for (int k = 0; k < 100; k++) {
        plane_step(&p, 0.01);
        bounced = bounced || perp_sim_body_twist(p.sim, (perp_body){4}).v_W.z > 0.5;
    }
    assert_true(bounced);
    assert_int_equal(p.inexact, 0);
    plane_close(&p);
}

// Of two islands one has no answer: the step fails, names the bodies and leaves the state as it was.
static void jams_are_named(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_vec3 half = {0.1, 0.1, 0.1};
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.3);
    space_halfspace(&p, PLANE_GROUND, (perp_vec3){-1.0, 0.0, 0.0}, -0.1, 0.3);
    static const char *const names[] = {"bystander", "crate"};
    for (int k = 0; k < 2; k++) {
        perp_body_def def = space_body(1.0, space_box_inertia(1.0, half),
                                       (perp_vec3){0.0, k == 0 ? 1.0 : 0.0, 0.1});
        def.name = names[k];
        space_box(&p, perp_builder_add_body(p.builder, &def), half, 0.3);
    }
    perp_body_def ram = perp_body_default();
    ram.kind = PERP_BODY_SPATIAL;
    ram.motion = PERP_MOTION_KINEMATIC;
    ram.name = "ram";
    ram.motion_x = "-0.205 + 0.1*t";
    ram.motion_z = "0.1";
    space_box(&p, perp_builder_add_body(p.builder, &ram), half, 0.3);
    plane_start(&p);
    perp_status status = PERP_OK;
    uint64_t before = 0;
    for (int k = 0; k < 40 && status >= 0; k++) {
        before = perp_sim_state_hash(p.sim);
        status = perp_sim_step(p.sim, 0.01);
    }
    assert_int_equal(status, PERP_ERR_INFEASIBLE);
    assert_non_null(strstr(perp_sim_error(p.sim)->text, "crate - ram"));
    assert_null(strstr(perp_sim_error(p.sim)->text, "bystander"));
    assert_true(perp_sim_state_hash(p.sim) == before);
    plane_close(&p);
}

// Every allocation fails once, in creating and in the first steps.
static void allocations_fail(void **state)
{
    (void)state;
    perp_scene *scene = heaps("3", "5", "0");
    for (int k = 1; k < 2000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim = NULL;
        perp_status status = perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL);
        for (int step = 0; step < 3 && status >= 0; step++) {
            uint64_t hash = perp_sim_state_hash(sim);
            status = perp_sim_step(sim, 0.01);
            assert_true(status >= 0 || perp_sim_state_hash(sim) == hash);
            assert_true(status >= 0 || perp_sim_step(sim, 0.01) >= 0);
        }
        assert_true(status >= 0 || status == PERP_ERR_MEMORY);
        perp_sim_destroy(sim);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_true(k > 20);
            perp_scene_destroy(scene);
            return;
        }
    }
    fail_msg("the walk over allocations does not end");
}

// What is at rest is stepped without asking for memory.
static void steady_steps_take_no_memory(void **state)
{
    (void)state;
    perp_scene *scene = heaps("4", "5", "1");
    fault f = {0};
    perp_env env = fault_env(&f);
    perp_sim *sim = start(scene, perp_scene_sim_def(scene), &env);
    for (int k = 0; k < 120; k++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
    }
    int calls = f.calls;
    for (int k = 0; k < 20; k++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
    }
    assert_int_equal(f.calls, calls);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_change_nothing), cmocka_unit_test(joints_tie),
        cmocka_unit_test(phases_are_put_together),   cmocka_unit_test(jams_are_named),
        cmocka_unit_test(allocations_fail),          cmocka_unit_test(steady_steps_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
