// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a step takes over from the one before: modes of contacts, and the gaps where it ended. Both must
// not show: a sim that forgets the gaps goes the same way bit for bit.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const perp_vec3 HALF = {0.5, 0.5, 0.25};

static perp_body add_box(plane *p, perp_vec3 at, perp_vec3 speed, double mu)
{
    perp_body_def def = space_body(1.0, space_box_inertia(1.0, HALF), at);
    def.velocity_W = speed;
    perp_body body = perp_builder_add_body(p->builder, &def);
    space_box(p, body, HALF, mu);
    return body;
}

static void add_floor(plane *p, double mu)
{
    space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, mu);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
}

// A pile that falls over, beside a wall that comes along; some of it bounces.
static void add_heap(plane *p, uint64_t seed)
{
    rng r = rng_seed(seed);
    add_floor(p, 0.6);
    for (int k = 0; k < 5; k++) {
        perp_vec3 at = {rng_uniform(&r, -0.3, 0.3), rng_uniform(&r, -0.3, 0.3), 0.26 + 0.52 * k};
        add_box(p, at, (perp_vec3){rng_uniform(&r, -1.0, 1.0), 0.0, 0.0}, 0.5);
    }
    perp_body_def wall = perp_body_default();
    wall.kind = PERP_BODY_SPATIAL;
    wall.motion = PERP_MOTION_KINEMATIC;
    wall.position_W = (perp_vec3){-2.0, 0.0, 1.0};
    wall.motion_x = "-2 + 1.5*t";
    space_box(p, perp_builder_add_body(p->builder, &wall), (perp_vec3){0.2, 2.0, 1.0}, 0.3);
}

// Save and restore: the state as it is, gaps forgotten.
static void forget(perp_sim *sim)
{
    size_t size = perp_sim_state_save_size(sim);
    void *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(sim, block, size), PERP_OK);
    assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);
    free(block);
}

static void gaps_found_before_are_the_same(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 4)
    {
        plane a = {0}, b = {0};
        plane *both[2] = {&a, &b};
        for (int k = 0; k < 2; k++) {
            plane_open(both[k]);
            both[k]->def.limits.gap = 0.1;
            add_heap(both[k], seed);
            plane_start(both[k]);
        }
        rng r = rng_seed(seed);
        for (int step = 0; step < 70; step++) {
            double h = step % 7 == 3 ? 0.002 : 0.01;
            if (step % 20 == 10) {  // what changes how far the step must look
                perp_wrench push = {{200.0 * rng_uniform(&r, -1.0, 1.0), 0.0, 50.0},
                                    {0.0, 0.0, 0.0}};
                perp_sim_body_apply(a.sim, (perp_body){2}, push);
                perp_sim_body_apply(b.sim, (perp_body){2}, push);
            }
            forget(b.sim);
            plane_step(&a, h);
            plane_step(&b, h);
            CHECK(perp_sim_state_hash(a.sim) == perp_sim_state_hash(b.sim), seed);
        }
        plane_close(&a);
        plane_close(&b);
    }
}

// A state that was set: nothing of where the bodies were is left.
static void set_state_is_looked_at(void **state)
{
    (void)state;
    plane p = {0};
    double t, q[7], nu[6];
    int count;
    plane_open(&p);
    add_floor(&p, 0.5);
    add_box(&p, (perp_vec3){0.0, 0.0, 0.25}, (perp_vec3){0.0, 0.0, 0.0}, 0.5);
    plane_start(&p);
    plane_run(&p, 0.01, 5);
    perp_sim_contacts(p.sim, &count);
    assert_int_equal(count, 4);
    assert_int_equal(perp_sim_state_get(p.sim, &t, q, nu), PERP_OK);
    q[2] = 3.0;
    assert_int_equal(perp_sim_state_set(p.sim, t, q, nu), PERP_OK);
    plane_step(&p, 0.01);
    perp_sim_contacts(p.sim, &count);
    assert_int_equal(count, 0);
    q[2] = 0.25;
    assert_int_equal(perp_sim_state_set(p.sim, t, q, nu), PERP_OK);
    plane_step(&p, 0.01);
    perp_sim_contacts(p.sim, &count);
    assert_int_equal(count, 4);
    plane_close(&p);
}

// A step that fails took the gaps: the next one finds them again, and goes as if nothing had been.
static void failed_step_leaves_no_trace(void **state)
{
    (void)state;
    plane a = {0}, b = {0};
    plane *both[2] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        plane_open(both[k]);
        both[k]->def.limits.gap = 0.1;
        add_heap(both[k], 3);
        plane_start(both[k]);
        plane_run(both[k], 0.01, 30);
    }
    assert_true(perp_sim_step(b.sim, 1e200) < 0);
    for (int step = 0; step < 20; step++) {
        plane_step(&a, 0.01);
        plane_step(&b, 0.01);
        assert_true(perp_sim_state_hash(a.sim) == perp_sim_state_hash(b.sim));
    }
    plane_close(&a);
    plane_close(&b);
}

// What rests, slides or stands under a great load keeps its modes, and is solved by them to rounding.
static void modes_are_kept(void **state)
{
    (void)state;
    const double heavy[3] = {1.0, 1.0, 1000.0}, speed[3] = {0.0, 4.0, 0.0};
    for (int scene = 0; scene < 3; scene++) {
        plane p = {0};
        int boxes = scene == 1 ? 1 : 8, by_modes = 0;
        plane_open(&p);
        add_floor(&p, 0.5);
        for (int k = 0; k < boxes; k++) {
            double mass = k == boxes - 1 ? heavy[scene] : 1.0;
            perp_body_def def = space_body(mass, space_box_inertia(mass, HALF),
                                           (perp_vec3){k % 2 ? 0.01 : 0.0, 0.0, 0.25 + 0.5 * k});
            def.velocity_W.x = speed[scene];
            space_box(&p, perp_builder_add_body(p.builder, &def), HALF, 0.5);
        }
        plane_start(&p);
        for (int step = 0; step < 150; step++) {
            plane_step(&p, 0.01);
            by_modes += strcmp(perp_sim_info(p.sim)->solver, "modes") == 0;
        }
        assert_true(by_modes >= 140);
        assert_int_equal(p.inexact, 0);
        assert_true(p.worst.residual < 1e-10);
        assert_true(p.worst.gap < 1e-12);
        perp_vec3 last = perp_sim_body_position(p.sim, (perp_body){boxes});
        assert_true(fabs(last.z - (0.25 + 0.5 * (boxes - 1))) < 1e-11);
        if (scene == 1) {  // v^2 / (2 mu g) - h v / 2
            space_near(last.x, 16.0 / (2.0 * 0.5 * 9.81) - 0.02, 1e-3, "stop");
        }
        plane_close(&p);
    }
}

// The answer by modes and the one by the solvers of comp/ are the same where there is one only: three
// spheres, which slip and roll on the floor and against each other.
static void modes_agree_with_solvers(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        plane a = {0}, b = {0};
        plane *both[2] = {&a, &b};
        int by_modes = 0;
        for (int k = 0; k < 2; k++) {
            rng r = rng_seed(seed);
            plane_open(both[k]);
            both[k]->def.solver = k ? "ssn" : NULL;
            add_floor(both[k], rng_uniform(&r, 0.1, 1.0));
            for (int i = 0; i < 3; i++) {
                double m = rng_uniform(&r, 0.5, 2.0), I = 0.4 * m * 0.04;
                perp_body_def def =
                    space_body(m, (perp_vec3){I, I, I},
                               (perp_vec3){0.41 * i, rng_uniform(&r, -0.1, 0.1), 0.2});
                def.velocity_W = (perp_vec3){rng_uniform(&r, -1.0, 1.0) - i, rng_normal(&r), 0.0};
                def.omega_W = (perp_vec3){rng_normal(&r), rng_normal(&r), rng_normal(&r)};
                space_sphere(both[k], perp_builder_add_body(both[k]->builder, &def), 0.2, 0.5);
            }
            plane_start(both[k]);
        }
        for (int step = 0; step < 100; step++) {
            plane_step(&a, 0.01);
            plane_step(&b, 0.01);
            by_modes += strcmp(perp_sim_info(a.sim)->solver, "modes") == 0;
        }
        CHECK(by_modes > 50, seed);
        for (int i = 1; i <= 3; i++) {
            perp_vec3 off = space_sub(perp_sim_body_position(a.sim, (perp_body){i}),
                                      perp_sim_body_position(b.sim, (perp_body){i}));
            CHECK(space_length(off) < 1e-6, seed);
        }
        plane_close(&a);
        plane_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_found_before_are_the_same), cmocka_unit_test(set_state_is_looked_at),
        cmocka_unit_test(failed_step_leaves_no_trace),    cmocka_unit_test(modes_are_kept),
        cmocka_unit_test(modes_agree_with_solvers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
