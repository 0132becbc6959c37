// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Space has no preferred place or direction: a scene that is turned and moved as a whole, gravity included,
// moves as before. And the plane is a part of space: planar machines move the same when their bodies are
// spatial ones.
#include "support/berard.h"
#include "support/cmocka.h"
#include "support/random_space.h"

#include <math.h>

static const perp_vec3 O = {0.0, 0.0, 0.0}, Z = {0.0, 0.0, 1.0};

// ── Turned scenes ────────────────────────────────────────────────────────────────────────────────

typedef struct view {
    perp_quat turn;
    perp_vec3 shift;
} view;

static perp_vec3 seen(const view *v, perp_vec3 x)
{
    return space_add(v->shift, space_rotate(v->turn, x));
}

// A box thrown on a floor with a bar hinged to it, a ball beside it, exact cones.
static void run_seen(const view *v, perp_vec3 *x, perp_vec3 *omega)
{
    plane p = {0};
    perp_body body[3];
    plane_open(&p);
    perp_vec3 half = {0.2, 0.15, 0.1};
    perp_builder_set_gravity(p.builder, space_rotate(v->turn, (perp_vec3){1.0, 0.5, -9.81}));
    for (int i = 0; i < 3; i++) {
        perp_vec3 at = {0.3 * i, 0.1 * i, 0.35 - 0.1 * i};
        perp_body_def def = space_body(1.0 + i, (perp_vec3){0.02, 0.03, 0.04}, seen(v, at));
        def.rotation_WB = space_mul(v->turn, space_turn((perp_vec3){1.0, 2.0, 0.5}, 0.3 * i));
        def.velocity_W = space_rotate(v->turn, (perp_vec3){1.0 - i, 0.3, -0.5});
        def.omega_W = space_rotate(v->turn, (perp_vec3){0.5, 1.0 * i, 2.0});
        body[i] = perp_builder_add_body(p.builder, &def);
        if (i == 0) {
            space_box(&p, body[i], half, 0.4);
        } else if (i == 2) {
            space_sphere(&p, body[i], 0.12, 0.6);
        }
    }
    perp_joint_def hinge =
        space_joint(PERP_JOINT_REVOLUTE, body[0], (perp_vec3){0.2, 0.1, 0.0}, body[1], O, Z);
    hinge.anchor_B = space_rotate(space_turn((perp_vec3){1.0, 2.0, 0.5}, -0.3),
                                  (perp_vec3){0.2 - 0.3, 0.1 - 0.1, 0.35 - 0.25});
    perp_builder_add_joint(p.builder, &hinge);
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFSPACE;
    floor.position_B = v->shift;
    floor.rotation_BS = v->turn;
    floor.mu = 0.5;
    perp_builder_add_shape(p.builder, PLANE_GROUND, &floor);
    p.def.tolerance = 1e-12;
    plane_start(&p);
    plane_run(&p, 0.005, 80);
    for (int i = 0; i < 3; i++) {
        perp_vec3 moved = space_sub(perp_sim_body_position(p.sim, body[i]), v->shift);
        x[i] = space_unrotate(v->turn, moved);
        omega[i] = space_unrotate(v->turn, perp_sim_body_twist(p.sim, body[i]).w_W);
    }
    plane_close(&p);
}

static void turned_scenes_move_the_same(void **state)
{
    (void)state;
    const view straight = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    perp_vec3 x[3], w[3];
    double worst = 0.0;
    run_seen(&straight, x, w);
    FOR_SEEDS(seed, 8)
    {
        rng r = rng_seed(seed);
        view v = {random_space_turn(&r), random_space_vector(&r, 10.0)};
        perp_vec3 y[3], u[3];
        run_seen(&v, y, u);
        for (int i = 0; i < 3; i++) {
            worst = fmax(worst, space_length(space_sub(x[i], y[i])));
            worst = fmax(worst, 0.1 * space_length(space_sub(w[i], u[i])));
        }
        CHECK(worst < 1e-8, seed);
    }
    print_message("turned scenes differ by %.1e m after 80 steps\n", worst);
}

// ── The plane in space ───────────────────────────────────────────────────────────────────────────

// Two rods hung on each other, in the plane z = 0 of space.
static void planar_pendulum(void **state)
{
    (void)state;
    berard b;
    berard_open(&b, 1);
    b.p.def.positions =
        PERP_POSITIONS_EXACT;  // errors of the hinges turn with the rods in space only
    berard_start(&b);
    plane p = {0};
    plane_open(&p);
    p.def.positions = PERP_POSITIONS_EXACT;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, -9.81, 0.0});
    perp_body flat[2] = {b.rod, b.last}, rod[2];
    double length[2] = {1.0, 0.7}, mass[2] = {1.0, 0.8};
    for (int i = 0; i < 2; i++) {
        double wide = mass[i] * length[i] * length[i] / 12.0;
        perp_pose pose = perp_sim_body_pose(b.p.sim, flat[i]);
        perp_twist V = perp_sim_body_twist(b.p.sim, flat[i]);
        perp_body_def def = space_body(mass[i], (perp_vec3){0.01, wide, wide}, pose.p);
        def.rotation_WB = pose.rot;
        def.velocity_W = V.v_W;
        def.omega_W = V.w_W;
        rod[i] = perp_builder_add_body(p.builder, &def);
        perp_joint_def pin = space_joint(PERP_JOINT_REVOLUTE, i == 0 ? PLANE_GROUND : rod[0],
                                         (perp_vec3){i == 0 ? 0.0 : 0.5, 0.0, 0.0}, rod[i],
                                         (perp_vec3){-0.5 * length[i], 0.0, 0.0}, Z);
        perp_builder_add_joint(p.builder, &pin);
    }
    plane_start(&p);
    for (int step = 0; step < 500; step++) {
        plane_step(&p, b.h);
        plane_step(&b.p, b.h);
    }
    for (int i = 0; i < 2; i++) {
        perp_vec3 off = space_sub(perp_sim_body_position(p.sim, rod[i]),
                                  perp_sim_body_position(b.p.sim, flat[i]));
        double turn = perp_sim_body_twist(p.sim, rod[i]).w_W.z - plane_spin(&b.p, flat[i]);
        assert_true(space_length(off) < 1e-10 && fabs(turn) < 1e-9);
    }
    plane_close(&p);
    berard_close(&b);
}

// A block thrown on a slope, with a corner first: four corners in space, two in the plane.
static void planar_block(void **state)
{
    (void)state;
    plane f = {0}, p = {0};
    plane_open(&f);
    plane_open(&p);
    perp_vec3 g = {2.0, -9.0, 0.0}, half = {0.3, 0.2, 0.25};
    perp_body_def flat = plane_body(1.5, 1.5 / 3.0 * (0.09 + 0.04), 0.0, 0.5, 0.2);
    flat.velocity_W = (perp_vec3){1.0, -1.0, 0.0};
    flat.spin = -1.0;
    perp_body a = perp_builder_add_body(f.builder, &flat);
    plane_box(&f, a, half.x, half.y, 0.4);
    plane_halfplane(&f, PLANE_GROUND, 0.0, 0.0, 0.0, 0.4);
    perp_builder_set_gravity(f.builder, g);
    perp_body_def def = space_body(1.5, space_box_inertia(1.5, half), flat.position_W);
    def.rotation_WB = space_turn(Z, 0.2);
    def.velocity_W = flat.velocity_W;
    def.omega_W = (perp_vec3){0.0, 0.0, -1.0};
    perp_body b = perp_builder_add_body(p.builder, &def);
    space_box(&p, b, half, 0.4);
    space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 1.0, 0.0}, 0.0, 0.4);
    perp_builder_set_gravity(p.builder, g);
    f.def.tolerance = p.def.tolerance = 1e-12;
    plane_start(&f);
    plane_start(&p);
    double worst = 0.0;
    for (int step = 0; step < 300; step++) {
        plane_step(&f, 0.005);
        plane_step(&p, 0.005);
        worst = fmax(worst, space_length(space_sub(perp_sim_body_position(f.sim, a),
                                                   perp_sim_body_position(p.sim, b))));
    }
    print_message("block in the plane and in space: %.1e m apart\n", worst);
    assert_true(worst < 1e-8);
    plane_close(&f);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_scenes_move_the_same),
        cmocka_unit_test(planar_pendulum),
        cmocka_unit_test(planar_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
