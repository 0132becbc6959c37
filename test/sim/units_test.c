// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Similar motions in other units get the same verdict: what is accepted, and what counts as rounding, goes by the speeds of the
// bodies, and turning bodies count at their reach. Boxes that slide and spin to rest with torsional friction, at 1 m,
// 1 um and 1000 km, in times that grow with the root of the length.                             theory (K1), (S8)
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>

enum { BOXES = 3, STEPS = 200, SEEDS = 12 };

// Speeds and spins are of boxes of the size 1 m. Writes where the boxes end, in units of L.
static void slide(uint64_t seed, double L, double *end)
{
    rng r = rng_seed(seed);
    double T = sqrt(L);
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    perp_shape_def floor = perp_shape_default();
    floor.kind = PERP_SHAPE_HALFSPACE;
    floor.mu = 0.4;
    floor.mu_spin = 0.05 * L;
    perp_builder_add_shape(p.builder, PLANE_GROUND, &floor);
    perp_body body[BOXES];
    for (int i = 0; i < BOXES; i++) {
        double s = rng_uniform(&r, 0.1, 0.3) * L;
        perp_vec3 half = {0.5 * s, 0.35 * s, 0.5 * s};
        double mass = pow(10.0, rng_uniform(&r, 1.0, 5.0)) * 8.0 * half.x * half.y * half.z;
        perp_body_def def =
            space_body(mass, space_box_inertia(mass, half), (perp_vec3){0.5 * i * L, 0, half.z});
        def.velocity_W.x = rng_uniform(&r, -1.0, 1.0) * L / T;
        def.velocity_W.y = rng_uniform(&r, -1.0, 1.0) * L / T;
        def.omega_W.z = rng_uniform(&r, -20.0, 20.0) / T;
        body[i] = perp_builder_add_body(p.builder, &def);
        perp_shape_def box = perp_shape_default();
        box.kind = PERP_SHAPE_BOX;
        box.half = half;
        box.mu = 0.4;
        box.mu_spin = 0.1 * s;
        perp_builder_add_shape(p.builder, body[i], &box);
    }
    plane_start(&p);
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(perp_sim_step(p.sim, 0.004 * T), PERP_OK);
    }
    for (int i = 0; i < BOXES; i++) {
        perp_vec3 at = perp_sim_body_position(p.sim, body[i]);
        end[2 * i] = at.x / L;
        end[2 * i + 1] = at.y / L;
    }
    plane_close(&p);
}

static void verdicts_do_not_depend_on_units(void **state)
{
    (void)state;
    FOR_SEEDS(seed, SEEDS)
    {
        static const double lengths[] = {1e-6, 1e6};
        double metre[2 * BOXES], other[2 * BOXES];
        slide(seed, 1.0, metre);
        for (int k = 0; k < 2; k++) {
            slide(seed, lengths[k], other);
            for (int i = 0; i < 2 * BOXES; i++) {
                assert_true(fabs(other[i] - metre[i]) < 1e-6);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_do_not_depend_on_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
