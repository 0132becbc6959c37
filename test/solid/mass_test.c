// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Volume, centroid and inertia of solids against random points inside them, and against each other.
#include "solid/solid.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <string.h>

static bool inside(const pp_solid *s, perp_vec3 x)
{
    double across = hypot(x.x, x.y), h = s->half.z, beyond = fmax(fabs(x.z) - h, 0.0);
    switch (s->kind) {
    case PP_SOLID_SPHERE:
        return pp_dot3(x, x) <= s->radius * s->radius;
    case PP_SOLID_CAPSULE:
        return hypot(across, beyond) <= s->radius;
    case PP_SOLID_BOX:
        return fabs(x.x) <= s->half.x && fabs(x.y) <= s->half.y && fabs(x.z) <= h;
    case PP_SOLID_CYLINDER:
        return across <= s->radius && fabs(x.z) <= h;
    case PP_SOLID_CONE:
        return x.z >= -h && across <= s->radius * (h - x.z) / (2.0 * h);
    case PP_SOLID_ELLIPSOID:
        return pp_length(pp_vec(x.x / s->half.x, x.y / s->half.y, x.z / h)) <= 1.0;
    case PP_SOLID_HULL:
        for (int f = 0; f < s->hull->faces; f++) {
            perp_vec3 on = s->hull->vertex[s->hull->corner[s->hull->face_first[f]]];
            if (pp_dot3(s->hull->face_normal[f], pp_sub(x, on)) > 0.0) {
                return false;
            }
        }
        return true;
    case PP_SOLID_HALFSPACE:
        break;
    }
    return x.z <= 0.0;
}

// One point in each of n^3 cells of the box of the solid: the error is of the order of the surface cells'
// number to the power 1/2.
static void against_points(const pp_solid *s, uint64_t seed)
{
    enum { N = 40 };
    rng r = rng_seed(seed);
    perp_vec3 low, high, sum = {0};
    pp_solid_bounds(s, &low, &high);
    perp_vec3 d = pp_scale(1.0 / N, pp_sub(high, low));
    double cell = d.x * d.y * d.z, V = 0.0, S[9] = {0};
    for (int k = 0; k < N * N * N; k++) {
        int i = k % N, j = k / N % N, l = k / N / N;
        perp_vec3 at = pp_vec(i + rng_uniform(&r, 0.0, 1.0), j + rng_uniform(&r, 0.0, 1.0),
                              l + rng_uniform(&r, 0.0, 1.0));
        perp_vec3 x = pp_add(low, pp_vec(at.x * d.x, at.y * d.y, at.z * d.z));
        if (inside(s, x)) {
            V += cell;
            sum = pp_along(sum, cell, x);
            S[0] += cell * x.x * x.x;
            S[4] += cell * x.y * x.y;
            S[8] += cell * x.z * x.z;
            S[1] -= cell * x.x * x.y;
            S[2] -= cell * x.x * x.z;
            S[5] -= cell * x.y * x.z;
        }
    }
    double volume;
    perp_vec3 c;
    pp_mat3 I;
    assert_true(pp_solid_mass(s, &volume, &c, &I));
    double size = pp_length(pp_sub(high, low));
    CHECK(fabs(volume - V) <= 3e-3 * cell * N * N * N, seed);
    CHECK(pp_length(pp_sub(pp_scale(1.0 / V, sum), c)) <= 3e-3 * size, seed);
    double xx = S[0] - V * c.x * c.x, yy = S[4] - V * c.y * c.y, zz = S[8] - V * c.z * c.z;
    double slack = 3e-3 * volume * size * size;
    CHECK(fabs(I.m[0] - yy - zz) <= slack && fabs(I.m[4] - xx - zz) <= slack, seed);
    CHECK(fabs(I.m[8] - xx - yy) <= slack, seed);
    CHECK(fabs(I.m[1] - S[1] - V * c.x * c.y) <= slack && I.m[1] == I.m[3], seed);
    CHECK(fabs(I.m[2] - S[2] - V * c.x * c.z) <= slack && I.m[2] == I.m[6], seed);
    CHECK(fabs(I.m[5] - S[5] - V * c.y * c.z) <= slack && I.m[5] == I.m[7], seed);
}

static void solids_against_points(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 3)
    {
        rng r = rng_seed(seed);
        for (int kind = 0; kind < PP_SOLID_HULL; kind++) {
            pp_solid s = {.kind = (pp_solid_kind)kind, .radius = rng_uniform(&r, 0.2, 2.0)};
            s.half = pp_vec(rng_uniform(&r, 0.2, 2.0), rng_uniform(&r, 0.2, 2.0),
                            rng_uniform(&r, 0.2, 2.0));
            against_points(&s, seed);
        }
    }
}

static const pp_hull *hull_of(const perp_vec3 *point, int count, pp_arena *arena)
{
    const pp_hull *hull = NULL;
    perp_error error = {0};
    perp_status status = pp_hull_create(point, count, arena, &hull, &error);
    if (status == PERP_ERR_REFUSED) {
        skip();
    }
    if (status != PERP_OK) {
        print_error("%s\n", error.text);
    }
    assert_int_equal(status, PERP_OK);
    return hull;
}

static void hulls_against_points(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    FOR_SEEDS(seed, 4)
    {
        rng r = rng_seed(seed);
        perp_vec3 point[12];
        for (int k = 0; k < 12; k++) {
            point[k] = pp_vec(rng_normal(&r), 2.0 * rng_normal(&r), 5.0 + 0.3 * rng_normal(&r));
        }
        pp_solid s = {.kind = PP_SOLID_HULL, .hull = hull_of(point, 12, arena)};
        against_points(&s, seed);
    }
    pp_arena_destroy(arena);
}

static pp_mat3 random_rotation(rng *r)
{
    perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
    return pp_quat_matrix(pp_quat_unit(q));
}

static double largest(const pp_mat3 *A)
{
    double most = 0.0;
    for (int k = 0; k < 9; k++) {
        most = fmax(most, fabs(A->m[k]));
    }
    return most;
}

// The hull of a box's corners, turned and shifted, weighs what the box weighs. What the corners' own rounding
// changes is allowed for, no more: eps |p| against the thinnest half-width.
static void boxes_thin_and_far(void **state)
{
    (void)state;
    static const double thin[] = {1.0, 1e-3, 1e-6, 1e-9}, far[] = {0.0, 1.0, 1e3, 1e6};
    pp_arena *arena = pp_arena_create(NULL);
    rng r = rng_seed(rng_test_seed(1));
    for (int i = 0; i < 64; i++) {
        pp_solid box = {.kind = PP_SOLID_BOX,
                        .half = {1.0, thin[i % 4], i < 32 ? 0.5 : thin[i % 4]}};
        double out = far[i / 4 % 4], away = 2.0 * out + (i % 3 ? 1.0 : 0.0);
        pp_pose X = {pp_vec(away, -out, out), i % 3 ? random_rotation(&r) : pp_identity3()};
        perp_vec3 corner[8];
        for (int k = 0; k < 8; k++) {
            corner[k] = pp_pose_point(&X, pp_vec(k & 1 ? box.half.x : -box.half.x,
                                                 k & 2 ? box.half.y : -box.half.y,
                                                 k & 4 ? box.half.z : -box.half.z));
        }
        double noise = 1e-15 * (1.0 + (away > 0.0 ? 3.0 * out + 1.0 : 0.0)) / thin[i % 4];
        if (noise > 1e-4) {
            continue;  // the corners themselves are no box any more
        }
        pp_solid hull = {.kind = PP_SOLID_HULL, .hull = hull_of(corner, 8, arena)};
        double V, W;
        perp_vec3 c, d;
        pp_mat3 I, J;
        assert_true(pp_solid_mass(&box, &V, &c, &I) && pp_solid_mass(&hull, &W, &d, &J));
        I = pp_turn_tensor(&X.R, &I);
        assert_true(fabs(W - V) <= 8.0 * noise * V + 4e-16 * V);
        assert_true(pp_length(pp_sub(d, X.p)) <= 8.0 * noise + 4e-15 * pp_length(X.p));
        for (int k = 0; k < 9; k++) {
            assert_true(fabs(J.m[k] - I.m[k]) <= (16.0 * noise + 4e-16) * largest(&I));
        }
        if (i % 3 == 0 && out == 0.0) {  // along the axes no digit of the small moment is lost
            assert_true(fabs(J.m[0] - I.m[0]) <= 1e-14 * I.m[0]);
        }
    }
    pp_arena_destroy(arena);
}

static void what_has_no_volume(void **state)
{
    (void)state;
    pp_flat_hull flat;
    assert_true(pp_hull_triangle(pp_vec(0.0, 0.0, 1.0), pp_vec(1.0, 0.0, 1.0),
                                 pp_vec(0.0, 1.0, 1.0), &flat));
    const pp_solid none[] = {{.kind = PP_SOLID_SPHERE},
                             {.kind = PP_SOLID_HALFSPACE},
                             {.kind = PP_SOLID_BOX, .half = {1.0, 1.0, 0.0}},
                             {.kind = PP_SOLID_HULL, .hull = &flat.hull}};
    for (int k = 0; k < 4; k++) {
        double V;
        perp_vec3 c;
        pp_mat3 I;
        assert_false(pp_solid_mass(&none[k], &V, &c, &I));
        assert_true(V == 0.0 && largest(&I) == 0.0);
    }
}

// ── Boxes around solids ──────────────────────────────────────────────────────────────────────────

static double along(perp_vec3 x, int axis)
{
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

// Points of the solid are in its box, and come near each of its sides.
static void boxes_are_tight(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 4)
    {
        rng r = rng_seed(seed);
        for (int kind = 0; kind < PP_SOLID_HULL; kind++) {
            pp_solid s = {.kind = (pp_solid_kind)kind, .radius = rng_uniform(&r, 0.2, 1.0)};
            s.half = pp_vec(rng_uniform(&r, 0.2, 1.0), rng_uniform(&r, 0.2, 1.0),
                            rng_uniform(&r, 0.2, 1.0));
            pp_pose X = {pp_vec(1.0, 2.0, 3.0), random_rotation(&r)};
            perp_vec3 low, high, l, h, seen_l = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                                       seen_h = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
            pp_solid_bounds(&s, &l, &h);
            pp_solid_box(&s, &X, &low, &high);
            for (int k = 0; k < 20000; k++) {
                perp_vec3 x = pp_vec(rng_uniform(&r, l.x, h.x), rng_uniform(&r, l.y, h.y),
                                     rng_uniform(&r, l.z, h.z));
                if (inside(&s, x)) {
                    x = pp_pose_point(&X, x);
                    seen_l = pp_vec(fmin(seen_l.x, x.x), fmin(seen_l.y, x.y), fmin(seen_l.z, x.z));
                    seen_h = pp_vec(fmax(seen_h.x, x.x), fmax(seen_h.y, x.y), fmax(seen_h.z, x.z));
                }
            }
            for (int i = 0; i < 3; i++) {
                CHECK(along(seen_l, i) >= along(low, i) && along(seen_h, i) <= along(high, i),
                      seed);
                CHECK(along(seen_l, i) <= along(low, i) + 0.3, seed);
                CHECK(along(seen_h, i) >= along(high, i) - 0.3, seed);
            }
        }
    }
    pp_solid plane = {.kind = PP_SOLID_HALFSPACE};
    perp_vec3 low, high;
    pp_solid_bounds(&plane, &low, &high);
    assert_true(low.x == -HUGE_VAL && high.z == HUGE_VAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_against_points), cmocka_unit_test(hulls_against_points),
        cmocka_unit_test(boxes_thin_and_far),    cmocka_unit_test(what_has_no_volume),
        cmocka_unit_test(boxes_are_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
