// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a normal is said to be next to the best one, no direction further away parts the solids further.
#include "gap/convex/narrow.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>

static const double TURN = 1e-3;

static pp_solid random_solid(rng *r)
{
    static const pp_solid_kind kind[] = {PP_SOLID_BOX, PP_SOLID_CYLINDER, PP_SOLID_CONE};
    perp_vec3 half =
        pp_vec(rng_uniform(r, 0.05, 0.5), rng_uniform(r, 0.05, 0.5), rng_uniform(r, 0.05, 0.5));
    pp_solid s = {.kind = kind[rng_below(r, 3)], .half = half};
    if (s.kind != PP_SOLID_BOX) {
        s.radius = s.half.x = s.half.y;
    }
    return s;
}

static perp_vec3 random_axis(rng *r)
{
    perp_vec3 v = pp_vec(rng_normal(r), rng_normal(r), rng_normal(r));
    return pp_unit(v, pp_vec(1.0, 0.0, 0.0));
}

// One axis of the solid along z up to a small tilt: a face or a line of a side looks up.
static pp_pose random_pose(rng *r, perp_vec3 p)
{
    perp_vec3 up = pp_vec(0.0, 0.0, 1.0),
              tilt = pp_scale(rng_uniform(r, 0.0, 2e-4), random_axis(r));
    perp_vec3 axis = rng_below(r, 2) ? up : pp_vec(cos(p.x * 99.0), sin(p.x * 99.0), 0.0);
    perp_vec3 z = pp_unit(pp_add(axis, tilt), up), x = pp_across(z), y = pp_cross(z, x);
    pp_pose X = {.p = p, .R = pp_mat3_columns(x, y, z)};
    return X;
}

static perp_vec3 turned(rng *r, perp_vec3 n)
{
    double angle =
        rng_below(r, 2) ? TURN * exp(rng_uniform(r, 0.0, 3.0)) : rng_uniform(r, TURN, 3.1415);
    perp_vec3 d = random_axis(r), t = pp_unit(pp_along(d, -pp_dot3(d, n), n), pp_across(n));
    return pp_unit(pp_along(pp_scale(cos(angle), n), sin(angle), t), n);
}

static void nothing_far_parts_them_further(void **state)
{
    (void)state;
    int said = 0, said_apart = 0, not_said = 0;
    FOR_SEEDS(seed, 3000)
    {
        rng r = rng_seed(seed);
        pp_solid of_a = random_solid(&r), of_b = random_solid(&r);
        pp_pose A = random_pose(&r, pp_vec(0.0, 0.0, 0.0));
        perp_vec3 aside = pp_vec(rng_uniform(&r, -0.6, 0.6), rng_uniform(&r, -0.6, 0.6), 0.0);
        pp_pose B = random_pose(&r, aside);
        perp_vec3 n = pp_vec(0.0, 0.0, 1.0), origin = pp_vec(0.0, 0.0, 0.0);
        pp_placed_solid a = pp_place_solid(&of_a, &A, origin),
                        b = pp_place_solid(&of_b, &B, origin);
        a.size = pp_core_size(&of_a);
        b.size = pp_core_size(&of_b);
        // b on top of a, with an overlap or apart
        double overlap = rng_uniform(&r, 0.0, 1e-4) * rng_uniform(&r, 0.0, 1.0);
        double apart = rng_below(&r, 2) ? rng_uniform(&r, 0.0, 0.2) : -overlap;
        b.p.z += apart - pp_core_separation(&a, &b, n);
        double s = pp_refine_axis_near(&a, &b, TURN, &n);
        if (!pp_deepest_within(&a, &b, n, s, TURN)) {
            not_said++;
            continue;
        }
        said += s <= 0.0;
        said_apart += s > 0.0;
        for (int k = 0; k < 300; k++) {
            CHECK(pp_core_separation(&a, &b, turned(&r, n)) <= s, seed);
        }
    }
    assert_true(said > 100 && said_apart > 300 && not_said > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_far_parts_them_further)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
