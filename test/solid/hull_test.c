// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Convex hulls: every point inside, closed, faces merged, and refused where there is none.
#include "solid/solid.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = pp_arena_create(NULL);
    return *state ? 0 : 1;
}

static int teardown(void **state)
{
    pp_arena_destroy(*state);
    return 0;
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

// Everything a hull promises. `slack`: how far a point may be outside a face [m].
static void check_hull(const pp_hull *h, const perp_vec3 *point, int count, double slack,
                       uint64_t seed)
{
    CHECK(h->vertices >= 4 && h->vertices - h->edges + h->faces == 2, seed);
    CHECK(h->face_first[0] == 0 && h->face_first[h->faces] == 2 * h->edges, seed);
    for (int f = 0; f < h->faces; f++) {
        int first = h->face_first[f], n = h->face_first[f + 1] - first;
        perp_vec3 normal = h->face_normal[f], x0 = h->vertex[h->corner[first]];
        CHECK(n >= 3 && fabs(pp_length(normal) - 1.0) <= 1e-15, seed);
        for (int k = 0; k < count; k++) {
            CHECK(pp_dot3(normal, pp_sub(point[k], x0)) <= slack, seed);
        }
        for (int k = 0; k < n; k++) {  // flat, and turning left everywhere
            perp_vec3 x = h->vertex[h->corner[first + k]],
                      y = h->vertex[h->corner[first + (k + 1) % n]],
                      z = h->vertex[h->corner[first + (k + 2) % n]];
            CHECK(fabs(pp_dot3(normal, pp_sub(x, x0))) <= slack, seed);
            CHECK(pp_dot3(normal, pp_cross(pp_sub(y, x), pp_sub(z, y))) > 0.0, seed);
        }
    }
    for (int e = 0; e < h->edges; e++) {
        const int *edge = h->edge[e];
        CHECK(edge[0] < edge[1] && edge[2] != edge[3], seed);
        for (int side = 0; side < 2; side++) {
            int first = h->face_first[edge[2 + side]],
                n = h->face_first[edge[2 + side] + 1] - first, hits = 0;
            for (int k = 0; k < n; k++) {
                hits += h->corner[first + k] == edge[side] &&
                        h->corner[first + (k + 1) % n] == edge[1 - side];
            }
            CHECK(hits == 1, seed);
        }
    }
    for (int k = 0; k < h->vertices; k++) {
        bool found = false;
        for (int i = 0; i < count; i++) {
            found = found || pp_length(pp_sub(h->vertex[k], point[i])) == 0.0;
        }
        CHECK(found, seed);
    }
}

static pp_mat3 random_rotation(rng *r)
{
    perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
    return pp_quat_matrix(pp_quat_unit(q));
}

static void random_points(void **state)
{
    enum { MOST = 200 };
    perp_vec3 point[MOST];
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int n = 4 + rng_below(&r, MOST - 4);
        perp_vec3 size = pp_vec(1.0, pow(10.0, -rng_below(&r, 5)), pow(10.0, -rng_below(&r, 5)));
        for (int k = 0; k < n; k++) {
            point[k] =
                pp_vec(size.x * rng_normal(&r), size.y * rng_normal(&r), size.z * rng_normal(&r));
        }
        check_hull(hull_of(point, n, *state), point, n, 5e-6, seed);
    }
}

// Points on a coarse grid: many coplanar and many equal.
static void points_on_a_grid(void **state)
{
    enum { COUNT = 150 };
    perp_vec3 point[COUNT];
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int cells = 2 + rng_below(&r, 4);
        for (int k = 0; k < COUNT; k++) {
            point[k] = pp_vec(0.1 * rng_below(&r, cells), 0.3 * rng_below(&r, cells),
                              0.7 * rng_below(&r, cells));
        }
        check_hull(hull_of(point, COUNT, *state), point, COUNT, 1e-15, seed);
    }
}

// Turned, shifted and thin; with points on its faces and edges and inside: six faces and eight corners.
static void a_cube_with_extra_points(void **state)
{
    enum { COUNT = 8 + 120 };
    perp_vec3 point[COUNT];
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        double away = pow(10.0, rng_below(&r, 6)), thin = pow(10.0, -rng_below(&r, 5));
        pp_pose X = {pp_vec(away * rng_normal(&r), away * rng_normal(&r), away * rng_normal(&r)),
                     random_rotation(&r)};
        for (int k = 0; k < COUNT; k++) {
            perp_vec3 x = pp_vec(k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0);
            if (k >= 8) {  // leave one, two or three of the coordinates at the corner
                x.x = k % 3 == 0 ? rng_uniform(&r, -0.9, 0.9) : x.x;
                x.y = k % 3 <= 1 ? rng_uniform(&r, -0.9, 0.9) : x.y;
                x.z = k % 3 == 2 ? rng_uniform(&r, -0.9, 0.9) : x.z;
            }
            point[k] = pp_pose_point(&X, pp_vec(x.x, thin * x.y, x.z));
        }
        const pp_hull *h = hull_of(point, COUNT, *state);
        check_hull(h, point, COUNT, 1e-14 * (1.0 + pp_length(X.p)) + 1e-16 / thin, seed);
        CHECK(h->vertices == 8 && h->edges == 12 && h->faces == 6, seed);
    }
}

// The same in floats, as STL files have it.
static void a_cube_of_floats(void **state)
{
    enum { COUNT = 8 + 60 };
    perp_vec3 point[COUNT];
    FOR_SEEDS(seed, 100)
    {
        rng r = rng_seed(seed);
        pp_pose X = {pp_vec(rng_normal(&r), rng_normal(&r), 0.0), random_rotation(&r)};
        double scale = seed % 2 ? 1.0 : 1e-3, thin = seed % 3 ? 1.0 : 0.1;
        for (int k = 0; k < COUNT; k++) {
            perp_vec3 x = pp_vec(k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0);
            if (k >= 8) {
                x.x = rng_uniform(&r, -0.9, 0.9);
                x.y = k % 2 ? x.y : rng_uniform(&r, -0.9, 0.9);
            }
            x = pp_pose_point(&X, pp_vec(x.x, thin * x.y, x.z));
            point[k] = pp_vec(scale * (double)(float)x.x, scale * (double)(float)x.y,
                              scale * (double)(float)x.z);
        }
        const pp_hull *h = hull_of(point, COUNT, *state);
        check_hull(h, point, COUNT, 2e-6 * scale, seed);
        CHECK(h->vertices == 8 && h->edges == 12 && h->faces == 6, seed);
    }
}

static void a_fine_sphere(void **state)
{
    enum { COUNT = 5000 };
    perp_vec3 *point = PP_ARRAY(*state, perp_vec3, COUNT);
    rng r = rng_seed(7);
    for (int k = 0; k < COUNT; k++) {
        point[k] = pp_unit(pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r)), pp_vec(1, 0, 0));
    }
    pp_solid s = {.kind = PP_SOLID_HULL, .hull = hull_of(point, COUNT, *state)};
    assert_int_equal(s.hull->vertices, COUNT);
    double V;
    perp_vec3 c;
    pp_mat3 I;
    assert_true(pp_solid_mass(&s, &V, &c, &I));
    assert_true(V < 4.18879 && V > 4.17 && pp_length(c) < 1e-3 && fabs(I.m[0] / V - 0.4) < 2e-3);
}

// The search along edges finds the very vertex that comparing all of them finds: on balls, on prisms whose bases have
// many corners at the same height, with corners in single precision, which are not quite in one plane.
static void support_along_edges(void **state)
{
    enum { COUNT = 400 };
    perp_vec3 point[COUNT];
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        bool prism = seed % 2, floats = seed % 3 == 0;
        pp_mat3 R = random_rotation(&r);
        for (int k = 0; k < COUNT; k++) {
            int corner = k / 2;
            double angle = 0.031415926535897932 * corner;
            perp_vec3 x = pp_vec(cos(angle), sin(angle), k % 2 ? 0.1 : -0.1);
            if (!prism) {
                x = pp_unit(pp_vec(rng_normal(&r), rng_normal(&r), 3.0 * rng_normal(&r)), x);
            }
            x = seed % 5 ? pp_mul(&R, x) : x;
            point[k] = floats ? pp_vec((float)x.x, (float)x.y, (float)x.z) : x;
        }
        const pp_hull *h = hull_of(point, COUNT, *state);
        const pp_solid solid = {.kind = PP_SOLID_HULL, .hull = pp_hull_copy(h, *state)};
        CHECK(solid.hull && solid.hull->ring, seed);
        for (int k = 0; k < 400; k++) {
            perp_vec3 d = pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r));
            if (k % 4 == 0) {
                d = h->face_normal[rng_below(&r, h->faces)];
            } else if (k % 4 == 1) {
                d = pp_along(h->face_normal[rng_below(&r, h->faces)], 1e-9, d);
            }
            double most = -HUGE_VAL;
            perp_vec3 farthest = {0}, found = pp_solid_support(&solid, d);
            for (int i = 0; i < h->vertices; i++) {
                double reach = pp_dot3(h->vertex[i], d);
                farthest = reach > most ? h->vertex[i] : farthest;
                most = reach > most ? reach : most;
            }
            CHECK(found.x == farthest.x && found.y == farthest.y && found.z == farthest.z, seed);
        }
    }
}

// The order of the answer is that of the points, not that of qhull.
static void same_points_same_hull(void **state)
{
    static const perp_vec3 corner[] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    static const int corners[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    const pp_hull *h = hull_of(corner, 4, *state);
    assert_int_equal(h->faces, 4);
    assert_memory_equal(h->corner, corners, sizeof corners);
    assert_true(h->face_normal[0].x == -1.0 && h->face_normal[1].z == -1.0);
    assert_true(h->edge[0][0] == 0 && h->edge[0][1] == 1 && h->edge[0][2] == 0 &&
                h->edge[0][3] == 2);
}

// ── Refused ──────────────────────────────────────────────────────────────────────────────────────

static void refuse(const perp_vec3 *point, int count, const char *why, pp_arena *arena)
{
    const pp_hull *hull = NULL;
    perp_error error = {0};
    assert_int_equal(pp_hull_create(point, count, arena, &hull, &error), PERP_ERR_ARGUMENT);
    assert_null(hull);
    if (!strstr(error.text, why)) {
        print_error("%s\n", error.text);
    }
    assert_non_null(strstr(error.text, why));
    assert_int_equal(pp_hull_create(point, count, arena, &hull, NULL), PERP_ERR_ARGUMENT);
}

static void points_without_a_hull(void **state)
{
    perp_vec3 point[50] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    refuse(point, 3, "at least four", *state);
    refuse(point, 0, "at least four", *state);
    point[2].y = (double)NAN;
    refuse(point, 4, "point 2", *state);
    point[2].y = HUGE_VAL;
    refuse(point, 4, "point 2", *state);
    point[2].y = -1e80;
    refuse(point, 4, "point 2", *state);
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        int rank = (int)(seed % 3);
        pp_mat3 R = random_rotation(&r);
        for (int k = 0; k < 50; k++) {
            perp_vec3 x =
                pp_vec(rank > 0 ? rng_normal(&r) : 0.0, rank > 1 ? rng_normal(&r) : 0.0, 0.0);
            point[k] = pp_add(pp_mul(&R, x), pp_vec(100.0, 0.0, -3.0));
        }
        refuse(point, 50, "one plane", *state);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    perp_vec3 point[COUNT];
    rng r = rng_seed(3);
    for (int k = 0; k < COUNT; k++) {
        point[k] = pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r));
    }
    bool happened = true;
    for (int at = 1; happened; at++) {
        fault f = {.fail_at = at};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env);
        const pp_hull *hull = NULL;
        if (arena) {
            perp_status status = pp_hull_create(point, COUNT, arena, &hull, NULL);
            if (status == PERP_ERR_REFUSED) {
                pp_arena_destroy(arena);
                skip();
            }
            assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        }
        pp_arena_destroy(arena);
        assert_int_equal(f.live, 0);
        happened = f.happened;
    }
}

// Nearly flat, nearly equal, huge and tiny: an answer or a message, and nothing printed.
static void hostile_points(void **state)
{
    fflush(stderr);
    FILE *file = tmpfile();
    int keep = dup(2);
    assert_true(file && keep >= 0 && dup2(fileno(file), 2) == 2);
    long refused = 0, made = 0;
    FOR_SEEDS(seed, 400)
    {
        rng r = rng_seed(seed);
        perp_vec3 point[40];
        int n = 4 + rng_below(&r, 36);
        double noise = pow(10.0, -rng_uniform(&r, 0.0, 18.0)),
               size = pow(10.0, rng_uniform(&r, -70.0, 70.0));
        for (int k = 0; k < n; k++) {
            point[k] = pp_vec(size * (rng_below(&r, 3) + noise * rng_normal(&r)),
                              size * (rng_below(&r, 2) + noise * rng_normal(&r)),
                              size * (rng_below(&r, 3) + noise * rng_normal(&r)));
        }
        const pp_hull *hull = NULL;
        perp_error error = {0};
        pp_arena_reset(*state);
        perp_status status = pp_hull_create(point, n, *state, &hull, &error);
        CHECK((status == PERP_OK) == (hull != NULL) && (hull || error.text[0]), seed);
        made += hull != NULL;
        refused += status == PERP_ERR_NUMERIC;
    }
    fflush(stderr);
    assert_true(dup2(keep, 2) == 2);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 0);
    fclose(file);
    close(keep);
    if (made > 0) {
        print_message("%ld hulls, %ld given up\n", made, refused);
        assert_true(refused <= 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_points, setup, teardown),
        cmocka_unit_test_setup_teardown(points_on_a_grid, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cube_with_extra_points, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cube_of_floats, setup, teardown),
        cmocka_unit_test_setup_teardown(a_fine_sphere, setup, teardown),
        cmocka_unit_test_setup_teardown(support_along_edges, setup, teardown),
        cmocka_unit_test_setup_teardown(same_points_same_hull, setup, teardown),
        cmocka_unit_test_setup_teardown(points_without_a_hull, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_points, setup, teardown),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
