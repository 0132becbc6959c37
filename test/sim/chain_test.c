// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Chains: closed in one pass where joints follow one another, by the general factorisation where they do
// not; the motion is the same. Exact positions hold joints together.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>

enum { RODS = 12 };

static const double LENGTH = 0.2;

// Rods along x from the origin; joint k holds the start of rod k. order: which joint is added when.
static void add_chain(plane *p, const int order[RODS], bool hinges)
{
    perp_body rod[RODS];
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    for (int k = 0; k < RODS; k++) {
        perp_body_def def = space_body(1.0 + 0.1 * k, (perp_vec3){1e-4, 3.3e-3, 3.3e-3},
                                       (perp_vec3){LENGTH * (k + 0.5), 0.0, 0.0});
        rod[k] = perp_builder_add_body(p->builder, &def);
    }
    for (int i = 0; i < RODS; i++) {
        int k = order[i];
        perp_joint_def def = space_joint(
            hinges && k % 2 ? PERP_JOINT_REVOLUTE : PERP_JOINT_SPHERICAL,
            k ? rod[k - 1] : PLANE_GROUND, (perp_vec3){k ? 0.5 * LENGTH : 0.0, 0.0, 0.0}, rod[k],
            (perp_vec3){-0.5 * LENGTH, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
        perp_builder_add_joint(p->builder, &def);
    }
}

static void order_does_not_matter(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        plane a = {0}, b = {0};
        plane *both[2] = {&a, &b};
        for (int which = 0; which < 2; which++) {
            int order[RODS];
            for (int k = 0; k < RODS; k++) {
                order[k] = which ? (5 * k + 3) % RODS : k;
            }
            plane_open(both[which]);
            both[which]->def.positions = kind % 2 ? PERP_POSITIONS_EXACT : PERP_POSITIONS_LINEAR;
            add_chain(both[which], order, kind >= 2);
            plane_start(both[which]);
            plane_run(both[which], 0.001, 150);
            assert_int_equal(both[which]->inexact, 0);
            assert_true(both[which]->worst.residual < 1e-11);
            if (kind % 2) {
                assert_true(both[which]->worst.joint < 1e-10);
            }
        }
        for (int k = 1; k <= RODS; k++) {
            perp_vec3 off = space_sub(perp_sim_body_position(a.sim, (perp_body){k}),
                                      perp_sim_body_position(b.sim, (perp_body){k}));
            space_near(space_length(off), 0.0, 1e-8, "rod");
        }
        plane_close(&a);
        plane_close(&b);
    }
}

// A joint given twice: the second follows from the first, and impulses are shared.
static void doubled_joint_is_named(void **state)
{
    (void)state;
    plane p = {0};
    int order[RODS];
    for (int k = 0; k < RODS; k++) {
        order[k] = k;
    }
    plane_open(&p);
    add_chain(&p, order, false);
    perp_joint_def def = space_joint(
        PERP_JOINT_SPHERICAL, (perp_body){RODS - 1}, (perp_vec3){0.5 * LENGTH, 0.0, 0.0},
        (perp_body){RODS}, (perp_vec3){-0.5 * LENGTH, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
    perp_joint second = perp_builder_add_joint(p.builder, &def);
    plane_start(&p);
    plane_run(&p, 0.001, 20);
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 3);
    assert_true(p.worst.residual < 1e-10);
    perp_vec3 one = perp_sim_joint(p.sim, (perp_joint){RODS - 1}).impulse_b.f_W;
    perp_vec3 two = perp_sim_joint(p.sim, second).impulse_b.f_W;
    space_near(space_length(space_sub(one, two)), 0.0, 1e-9, "share");
    plane_close(&p);
}

// The energy of a falling chain at rather large steps, with exact positions.
static void energy_is_kept(void **state)
{
    (void)state;
    plane p = {0};
    int order[RODS];
    double scale = 0.0;
    for (int k = 0; k < RODS; k++) {
        order[k] = k;
        scale += (1.0 + 0.1 * k) * 9.81 * LENGTH * RODS / 2.0;
    }
    plane_open(&p);
    p.def.positions = PERP_POSITIONS_EXACT;
    add_chain(&p, order, false);
    plane_start(&p);
    plane_step(&p, 0.001);
    const perp_energy *e = &perp_sim_info(p.sim)->energy;
    double first = e->kinetic + e->potential;
    plane_run(&p, 0.001, 999);
    assert_true(fabs(e->kinetic + e->potential - first) < 0.01 * scale);
    assert_true(p.worst.joint < 1e-10);
    plane_close(&p);
}

// A light chain with a heavy end, released level: its rods whip about, and turn too far in a step for the rows of their
// joints. Such steps are divided; without that the joints part by metres.
static void a_heavy_end_does_not_tear_the_chain(void **state)
{
    (void)state;
    enum { LINKS = 5 };
    plane p = {0};
    perp_body last = PLANE_GROUND;
    int divided = 0;
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    for (int k = 0; k < LINKS; k++) {
        double mass = k + 1 == LINKS ? 5e4 : 1.0, moment = k + 1 == LINKS ? 500.0 : 3.3e-3;
        perp_body_def def = space_body(mass, (perp_vec3){0.4 * moment, moment, moment},
                                       (perp_vec3){LENGTH * (k + 0.5), 0.0, 0.0});
        perp_body rod = perp_builder_add_body(p.builder, &def);
        perp_joint_def joint =
            space_joint(PERP_JOINT_SPHERICAL, last, (perp_vec3){k ? 0.5 * LENGTH : 0.0, 0.0, 0.0},
                        rod, (perp_vec3){-0.5 * LENGTH, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
        perp_builder_add_joint(p.builder, &joint);
        last = rod;
    }
    plane_start(&p);
    for (int k = 0; k < 600; k++) {
        plane_step(&p, 0.001);
        divided += perp_sim_info(p.sim)->parts > 1;
    }
    assert_true(divided > 10 && divided < 500);
    assert_true(p.worst.joint < 0.02 * LENGTH);
    perp_vec3 end = perp_sim_body_position(p.sim, last);
    assert_true(space_length(end) < 1.05 * LENGTH * LINKS);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(doubled_joint_is_named),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(a_heavy_end_does_not_tear_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
