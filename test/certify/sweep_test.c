// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pieces that move: what the swept test says, against many instants looked at one by one.
#include "certify/geometry/sweep.h"
#include "support/cmocka.h"
#include "support/touch_check.h"

#include <math.h>

static pp_frame frame_at(perp_vec3 p, perp_vec3 turn)
{
    pp_frame f = {.p = p};
    pp_frame_set_rotation(&f, pp_quat_exp(turn));
    return f;
}

typedef struct scene {
    pp_convex piece[2];
    pp_travel travel[2];
    pp_swept_pair pair;
} scene;

static void set_scene(scene *s, const pp_shape shape[2], bool spatial, const pp_frame from[2],
                      const pp_frame to[2], double depth)
{
    const perp_model model = {.spatial = spatial};
    for (int k = 0; k < 2; k++) {
        pp_convex_shape(&s->piece[k], &model, &shape[k]);
        s->travel[k] = pp_travel_between(&from[k], &to[k], 1.0, spatial);
    }
    s->pair = (pp_swept_pair){.a = &s->piece[0],
                              .b = &s->piece[1],
                              .of_a = &s->travel[0],
                              .of_b = &s->travel[1],
                              .depth = depth};
    pp_swept_place(&s->pair, 0.0, s->pair.start);
    pp_swept_place(&s->pair, 1.0, s->pair.end);
}

static pp_shape solid_of(pp_solid solid)
{
    return (pp_shape){.solid = solid, .X_BS = {.R = pp_identity3()}};
}

static double depth_at(const scene *s, double part, perp_vec3 *n)
{
    pp_pose A = pp_travel_at(&s->travel[0], part), B = pp_travel_at(&s->travel[1], part);
    pp_placed_convex a = pp_convex_place(&s->piece[0], &A), b = pp_convex_place(&s->piece[1], &B);
    return -pp_axis_search(&a, &b, HUGE_VAL, n);
}

// ── Random motions ───────────────────────────────────────────────────────────────────────────────

typedef struct tally {
    int clear, passed, unknown;
} tally;

static void check_motion(const scene *s, uint64_t seed, tally *t)
{
    enum { INSTANTS = 120 };
    pp_swept_path out;
    pp_swept_run(&s->pair, &out);
    double deepest = 0.0;
    perp_vec3 n = {0.0, 0.0, 0.0};
    for (int k = 0; k <= INSTANTS; k++) {
        deepest = fmax(deepest, depth_at(s, (double)k / INSTANTS, &n));
    }
    t->clear += out.state == PP_SWEPT_CLEAR;
    t->passed += out.state == PP_SWEPT_PASSED;
    t->unknown += out.state == PP_SWEPT_UNKNOWN;
    CHECK(out.state != PP_SWEPT_PASSED || out.depth > out.allowed, seed);
    if (out.state == PP_SWEPT_CLEAR) {
        CHECK(deepest <= out.allowed * (1.0 + 1e-9) + 1e-9, seed);
        CHECK(out.depth <= out.allowed, seed);
    } else if (out.state == PP_SWEPT_PASSED && out.allowed < 0.05) {
        // What starts deep inside may come out on the other side without getting deeper.
        n = pp_vec(0.0, 0.0, 0.0);
        CHECK(depth_at(s, out.part, &n) >= out.allowed * (1.0 - 1e-9) - 1e-9, seed);
    }
}

static void random_motions(void **state)
{
    (void)state;
    tally t = {0, 0, 0};
    for (int a = 0; a < TOUCH_KINDS; a++) {
        for (int b = 0; b < TOUCH_KINDS; b++) {
            FOR_SEEDS(seed, 12)
            {
                rng r = rng_seed(seed + 7919u * (uint64_t)(a * TOUCH_KINDS + b));
                touch_hull hull[2];
                pp_shape shape[2];
                pp_frame from[2], to[2];
                scene s;
                if (a == PP_SOLID_HALFSPACE && b == PP_SOLID_HALFSPACE) {
                    continue;
                }
                for (int k = 0; k < 2; k++) {
                    perp_vec3 p = {rng_uniform(&r, -1.0, 1.0), rng_uniform(&r, -1.0, 1.0),
                                   rng_uniform(&r, -1.0, 1.0)};
                    perp_vec3 turn = {rng_normal(&r), rng_normal(&r), rng_normal(&r)};
                    shape[k] =
                        solid_of(touch_random_solid(&r, (pp_solid_kind)(k == 0 ? a : b), &hull[k]));
                    from[k] = frame_at(p, turn);
                    double move = rng_below(&r, 2) ? 0.1 : 3.0;
                    p = pp_along(p, move, pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r)));
                    turn =
                        pp_along(turn, 0.2, pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r)));
                    to[k] = frame_at(p, turn);
                }
                set_scene(&s, shape, true, from, to, 1e-6);
                check_motion(&s, seed, &t);
            }
        }
    }
    print_message("%d clear, %d passed, %d not decided\n", t.clear, t.passed, t.unknown);
    assert_true(t.clear > 100 && t.passed > 100);
    assert_true(t.unknown * 100 <= t.clear + t.passed);
}

// ── What is known ────────────────────────────────────────────────────────────────────────────────

static pp_shape disc_of(double radius)
{
    return (pp_shape){.kind = PERP_SHAPE_DISC, .axis_B = {1.0, 0.0}, .radius = radius};
}

static pp_shape rod_of(perp_shape_kind kind, double half, double radius)
{
    return (pp_shape){.kind = kind, .axis_B = {1.0, 0.0}, .half = half, .radius = radius};
}

static pp_frame flat_at(double x, double y, double angle)
{
    pp_frame f = {.p = {x, y, 0.0}};
    pp_frame_set_angle(&f, angle);
    return f;
}

static pp_swept_path swept(pp_shape a, pp_shape b, const pp_frame from[2], const pp_frame to[2])
{
    const pp_shape shape[2] = {a, b};
    scene s;
    pp_swept_path out;
    set_scene(&s, shape, false, from, to, 1e-6);
    pp_swept_run(&s.pair, &out);
    return out;
}

static void disc_through_a_wall(void **state)
{
    (void)state;
    const pp_frame wall = flat_at(0.5, 0.0, 1.5707963267948966);
    const pp_frame from[2] = {flat_at(0.3, 0.0, 0.0), wall};
    for (int k = 0; k <= 40; k++) {  // ends before the wall, in it, behind it
        double x = 0.3 + 0.01 * k, front = 0.5 - 0.005 - 0.01, behind = 0.5 + 0.005 + 0.01;
        const pp_frame to[2] = {flat_at(x, 0.0, 0.0), wall};
        pp_swept_path out = swept(disc_of(0.01), rod_of(PERP_SHAPE_CAPSULE, 5.0, 0.005), from, to);
        if (x <= front) {
            assert_int_equal(out.state, PP_SWEPT_CLEAR);
        }
        if (x >= behind) {
            assert_int_equal(out.state, PP_SWEPT_PASSED);
        }
    }
}

// Neither has an inside: at no instant is there an overlap.
static void point_through_a_segment(void **state)
{
    (void)state;
    const pp_frame wall = flat_at(0.5, 0.0, 1.5707963267948966);
    const pp_frame from[2] = {flat_at(0.3, 0.013, 0.0), wall},
                   there[2] = {flat_at(0.7, 0.1, 0.0), wall},
                   past[2] = {flat_at(0.7, 6.1, 0.0), wall},
                   short_of[2] = {flat_at(0.49, 0.1, 0.0), wall};
    pp_shape point = rod_of(PERP_SHAPE_POINT, 0.0, 0.0),
             segment = rod_of(PERP_SHAPE_SEGMENT, 0.5, 0.0);
    pp_swept_path through = swept(point, segment, from, there);
    assert_int_equal(through.state, PP_SWEPT_PASSED);
    assert_true(through.depth > 0.19 && through.depth < 0.21);  // behind it at the end
    assert_int_equal(swept(point, segment, from, past).state, PP_SWEPT_CLEAR);
    assert_int_equal(swept(point, segment, from, short_of).state, PP_SWEPT_CLEAR);
}

// A blade that turns by 2 rad takes a disc with it, or does not.
static void blade_through_a_disc(void **state)
{
    (void)state;
    const pp_frame from[2] = {flat_at(0.0, 0.0, -1.0), flat_at(0.6, 0.0, 0.0)},
                   to[2] = {flat_at(0.0, 0.0, 1.0), flat_at(0.6, 0.0, 0.0)},
                   out_of_reach[2] = {flat_at(0.0, 0.0, -1.0), flat_at(1.2, 0.0, 0.0)},
                   still_out[2] = {flat_at(0.0, 0.0, 1.0), flat_at(1.2, 0.0, 0.0)},
                   whole[2] = {flat_at(0.0, 0.0, -1.0 + 6.283185307179586), from[1]};
    pp_shape blade = rod_of(PERP_SHAPE_CAPSULE, 1.0, 0.002), disc = disc_of(0.05);
    assert_int_equal(swept(blade, disc, from, to).state, PP_SWEPT_PASSED);
    assert_int_equal(swept(blade, disc, out_of_reach, still_out).state, PP_SWEPT_CLEAR);
    assert_int_equal(swept(blade, disc, from, whole).state, PP_SWEPT_PASSED);
}

// What lies on a drum and turns with it neither sinks in nor takes many stretches.
static void turns_with_its_support(void **state)
{
    (void)state;
    const double angle = 0.02, r = 1.0 + 0.1;
    const pp_frame from[2] = {flat_at(0.0, 0.0, 0.0), flat_at(0.0, r, 0.0)};
    const pp_frame to[2] = {flat_at(0.0, 0.0, angle),
                            flat_at(-r * sin(angle), r * cos(angle), angle)};
    assert_int_equal(swept(disc_of(1.0), rod_of(PERP_SHAPE_CAPSULE, 0.2, 0.1), from, to).state,
                     PP_SWEPT_CLEAR);
}

// A rolling disc, far from the world's origin.
static void rolls_far_away(void **state)
{
    (void)state;
    pp_shape floor = rod_of(PERP_SHAPE_HALFPLANE, 0.0, 0.0);
    const pp_frame from[2] = {flat_at(1e6, 0.1, 0.0), flat_at(0.0, 0.0, 0.0)},
                   to[2] = {flat_at(1e6 + 0.05, 0.1, -0.5), flat_at(0.0, 0.0, 0.0)};
    pp_swept_path out = swept(disc_of(0.1), floor, from, to);
    assert_int_equal(out.state, PP_SWEPT_CLEAR);
    assert_true(out.depth < 1e-9);
}

// A small body that turns more than once on its way past a large one may not go through its rim: of the two widths the
// thinner one counts.
static void whirls_through_a_rim(void **state)
{
    (void)state;
    pp_shape large = disc_of(0.247), small = rod_of(PERP_SHAPE_CAPSULE, 0.0135, 0.0315);
    for (int k = 0; k < 2; k++) {
        double deep = k ? 0.001 : 0.04, y = 0.247 + 0.0315 - deep;
        const pp_frame from[2] = {flat_at(-0.4, y, 0.0), flat_at(0.0, 0.0, 0.0)},
                       to[2] = {flat_at(0.4, y, 15.2), flat_at(0.0, 0.0, 3.0)};
        assert_int_equal(swept(small, large, from, to).state, k ? PP_SWEPT_CLEAR : PP_SWEPT_PASSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_motions),          cmocka_unit_test(disc_through_a_wall),
        cmocka_unit_test(point_through_a_segment), cmocka_unit_test(blade_through_a_disc),
        cmocka_unit_test(turns_with_its_support),  cmocka_unit_test(rolls_far_away),
        cmocka_unit_test(whirls_through_a_rim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
