// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Meshes: neighbours, sharp sides, the search for triangles in a box, height fields, and what is refused.
#include "solid/solid.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <string.h>

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

static const pp_mesh *mesh_of(const perp_vec3 *vertex, int vertices, const int *triangle,
                              int triangles, pp_arena *arena)
{
    const pp_mesh *mesh = NULL;
    perp_error error = {0};
    perp_status status =
        pp_mesh_create(vertex, vertices, triangle, triangles, arena, &mesh, &error);
    if (status != PERP_OK) {
        print_error("%s\n", error.text);
    }
    assert_int_equal(status, PERP_OK);
    return mesh;
}

// What every mesh promises.
static void check_mesh(const pp_mesh *m, uint64_t seed)
{
    for (int t = 0; t < m->triangles; t++) {
        const int *c = m->triangle[t];
        perp_vec3 u = pp_sub(m->vertex[c[1]], m->vertex[c[0]]),
                  v = pp_sub(m->vertex[c[2]], m->vertex[c[0]]);
        CHECK(pp_dot3(pp_cross(u, v), m->normal[t]) > 0.0, seed);
        CHECK(m->region[t] <= t && m->region[m->region[t]] == m->region[t], seed);
        for (int k = 0; k < 3; k++) {
            int other = m->neighbour[t][k], back = -1;
            for (int i = 0; other >= 0 && i < 3; i++) {
                back = m->neighbour[other][i] == t ? i : back;
            }
            CHECK(other < 0 ? m->sharp[t][k] : back >= 0, seed);
            CHECK(other < 0 || m->sharp[other][back] == m->sharp[t][k], seed);
        }
    }
    CHECK(m->star_first[0] == 0 && m->star_first[m->vertices] == 3 * m->triangles, seed);
    for (int v = 0; v < m->vertices; v++) {
        for (int k = m->star_first[v]; k < m->star_first[v + 1]; k++) {
            const int *c = m->triangle[m->star[k]];
            CHECK(c[0] == v || c[1] == v || c[2] == v, seed);
        }
    }
}

// Each triangle with vertices of its own, as in STL files, some of them without area.
static void a_cube_of_loose_triangles(void **state)
{
    static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    perp_vec3 vertex[39];
    int triangle[39], n = 0;
    for (int f = 0; f < 6; f++) {
        const int cut[6] = {side[f][0], side[f][1], side[f][2], side[f][0], side[f][2], side[f][3]};
        for (int k = 0; k < 6; k++, n++) {
            vertex[n] =
                pp_vec(cut[k] & 1 ? 1.0 : -0.0, cut[k] & 2 ? 1.0 : 0.0, cut[k] & 4 ? 1.0 : 0.0);
            triangle[n] = n;
        }
    }
    for (int k = 0; k < 3; k++, n++) {
        vertex[n] = pp_vec(0.5 * k, 0.5 * k, 0.5 * k);
        triangle[n] = n;
    }
    const pp_mesh *m = mesh_of(vertex, n, triangle, 13, *state);
    check_mesh(m, 0);
    assert_int_equal(m->vertices, 9);
    assert_int_equal(m->triangles, 12);
    int sharp = 0, regions = 0;
    for (int t = 0; t < 12; t++) {
        assert_true(m->source[t] < 12 && m->normal[t].x * m->normal[t].x <= 1.0);
        regions += m->region[t] == t;
        for (int k = 0; k < 3; k++) {
            assert_true(m->neighbour[t][k] >= 0);
            sharp += m->sharp[t][k];
        }
    }
    assert_int_equal(sharp, 24);
    assert_int_equal(regions, 6);
}

static void triangles_in_a_box(void **state)
{
    enum { MOST = 500 };
    perp_vec3 vertex[3 * MOST];
    int triangle[3 * MOST];
    FOR_SEEDS(seed, 30)
    {
        rng r = rng_seed(seed);
        int n = 1 + rng_below(&r, MOST);
        for (int k = 0; k < 3 * n; k++) {
            perp_vec3 at = k % 3 ? vertex[k - k % 3]
                                 : pp_vec(10.0 * rng_normal(&r), 5.0 * rng_normal(&r), 0.0);
            vertex[k] = pp_add(at, pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r)));
            triangle[k] = k;
        }
        pp_arena_reset(*state);
        const pp_mesh *m = mesh_of(vertex, 3 * n, triangle, n, *state);
        check_mesh(m, seed);
        for (int q = 0; q < 20; q++) {
            perp_vec3 c = pp_vec(10.0 * rng_normal(&r), 5.0 * rng_normal(&r), rng_normal(&r));
            perp_vec3 half =
                pp_vec(rng_uniform(&r, 0, 4), rng_uniform(&r, 0, 4), rng_uniform(&r, 0, 4));
            pp_box3 box = {pp_sub(c, half), pp_add(c, half)};
            int next = pp_mesh_next(m, &box, 0);
            for (int t = 0; t < m->triangles; t++) {
                const pp_box3 *b = &m->node[m->leaves + t];
                bool meets = b->low.x <= box.high.x && box.low.x <= b->high.x &&
                             b->low.y <= box.high.y && box.low.y <= b->high.y &&
                             b->low.z <= box.high.z && box.low.z <= b->high.z;
                CHECK(meets == (next == t), seed);
                next = meets ? pp_mesh_next(m, &box, t + 1) : next;
            }
            CHECK(next == -1, seed);
        }
    }
}

static void heights(void **state)
{
    enum { NX = 5, NY = 4 };
    double height[NX * NY];
    for (int k = 0; k < NX * NY; k++) {
        height[k] = k % NX == 2 ? 1.0 : 0.0;  // a ridge
    }
    const pp_mesh *m = NULL;
    assert_int_equal(pp_mesh_heights(height, NX, NY, 4.0, 3.0, *state, &m, NULL), PERP_OK);
    check_mesh(m, 0);
    assert_int_equal(m->triangles, 2 * (NX - 1) * (NY - 1));
    int regions = 0, sharp = 0;
    for (int t = 0; t < m->triangles; t++) {
        assert_true(m->normal[t].z > 0.5);
        regions += m->region[t] == t;
        for (int k = 0; k < 3; k++) {
            sharp += m->sharp[t][k] && m->neighbour[t][k] >= 0;
        }
    }
    assert_int_equal(regions, 4);
    assert_int_equal(sharp,
                     2 * (NY - 1));  // the ridge from both sides; the valleys beside it are not
    pp_box3 all = {{-9, -9, -9}, {9, 9, 9}};
    assert_int_equal(pp_mesh_next(m, &all, 0), 0);
    assert_true(m->vertex[0].x == -4.0 && m->vertex[0].y == -3.0 &&
                m->vertex[NX * NY - 1].x == 4.0);
}

static void what_is_no_mesh(void **state)
{
    perp_vec3 vertex[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int triangle[3] = {0, 1, 2};
    double height[4] = {0, 0, 0, (double)NAN};
    const pp_mesh *m = NULL;
    perp_error e = {0};
    assert_int_equal(pp_mesh_create(vertex, 3, triangle, 0, *state, &m, &e), PERP_ERR_ARGUMENT);
    triangle[2] = 3;
    assert_int_equal(pp_mesh_create(vertex, 3, triangle, 1, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "outside 0..2"));
    triangle[2] = 1;
    assert_int_equal(pp_mesh_create(vertex, 3, triangle, 1, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "area"));
    triangle[2] = 2;
    vertex[1].z = HUGE_VAL;
    assert_int_equal(pp_mesh_create(vertex, 3, triangle, 1, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "vertex 1"));
    assert_int_equal(pp_mesh_heights(height, 2, 2, 1.0, 1.0, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_int_equal(pp_mesh_heights(height, 2, 1, 1.0, 1.0, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_int_equal(pp_mesh_heights(height, 2, 2, 0.0, 1.0, *state, &m, &e), PERP_ERR_ARGUMENT);
    assert_null(m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { N = 40 };
    double height[N * N];
    rng r = rng_seed(3);
    for (int k = 0; k < N * N; k++) {
        height[k] = rng_normal(&r);
    }
    bool happened = true;
    for (int at = 1; happened; at++) {
        fault f = {.fail_at = at};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env);
        const pp_mesh *mesh = NULL;
        if (arena) {
            perp_status status = pp_mesh_heights(height, N, N, 1.0, 1.0, arena, &mesh, NULL);
            assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        }
        pp_arena_destroy(arena);
        assert_int_equal(f.live, 0);
        happened = f.happened;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cube_of_loose_triangles, setup, teardown),
        cmocka_unit_test_setup_teardown(triangles_in_a_box, setup, teardown),
        cmocka_unit_test_setup_teardown(heights, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_mesh, setup, teardown),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
