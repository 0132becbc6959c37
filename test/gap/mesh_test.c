// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Solids on meshes against the same solids on half-spaces and boxes: nothing of the triangles may be felt.
#include "gap/mesh/mesh.h"
#include "support/cmocka.h"
#include "support/random.h"

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

static pp_mat3 random_rotation(rng *r)
{
    perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
    return pp_quat_matrix(pp_quat_unit(q));
}

static perp_vec3 random_vec(rng *r, double size)
{
    return pp_vec(rng_uniform(r, -size, size), rng_uniform(r, -size, size),
                  rng_uniform(r, -size, size));
}

static pp_pose random_pose(rng *r, double size)
{
    return (pp_pose){random_vec(r, size), random_rotation(r)};
}

// ── A floor of triangles is a half-space ─────────────────────────────────────────────────────────

enum { CELLS = 16, NODES = (CELLS + 1) * (CELLS + 1) };

// z = 0 over -4..4 in x and y, in uneven triangles.
static const pp_mesh *floor_of(rng *r, pp_arena *arena)
{
    perp_vec3 vertex[NODES];
    int triangle[6 * CELLS * CELLS], n = 0;
    for (int k = 0; k < NODES; k++) {
        int i = k % (CELLS + 1), j = k / (CELLS + 1);
        vertex[k] = pp_vec(0.5 * i - 4.0 + (i % CELLS ? rng_uniform(r, -0.12, 0.12) : 0.0),
                           0.5 * j - 4.0 + (j % CELLS ? rng_uniform(r, -0.12, 0.12) : 0.0), 0.0);
        if (i < CELLS && j < CELLS) {
            int a = k, b = k + 1, c = k + CELLS + 2, d = k + CELLS + 1, other = rng_below(r, 2);
            const int cut[2][6] = {{a, b, c, a, c, d}, {a, b, d, b, c, d}};
            for (int e = 0; e < 6; e++) {
                triangle[n++] = cut[other][e];
            }
        }
    }
    const pp_mesh *mesh = NULL;
    assert_int_equal(pp_mesh_create(vertex, NODES, triangle, n / 3, arena, &mesh, NULL), PERP_OK);
    return mesh;
}

static pp_solid random_solid(rng *r)
{
    pp_solid s = {.kind = (pp_solid_kind)rng_below(r, PP_SOLID_HULL),
                  .radius = rng_uniform(r, 0.1, 0.8)};
    s.half = pp_vec(rng_uniform(r, 0.1, 0.8), rng_uniform(r, 0.1, 0.8), rng_uniform(r, 0.1, 0.8));
    return s;
}

// Lays the solid flat on the floor now and then, and a little askew.
static pp_mat3 resting(rng *r)
{
    static const double turns[] = {0.0, 0.0, 1e-12, 1e-7, 1e-3, 0.1};
    double yaw = rng_uniform(r, -3.0, 3.0), half = 0.78539816339744831 * rng_below(r, 3);
    perp_quat about_z = {cos(yaw), 0.0, 0.0, sin(yaw)}, down = {cos(half), sin(half), 0.0, 0.0};
    perp_vec3 tilt = pp_scale(turns[rng_below(r, 6)], random_vec(r, 1.0));
    perp_quat q = pp_quat_mul(about_z, pp_quat_mul(pp_quat_exp(tilt), down));
    return pp_quat_matrix(pp_quat_unit(q));
}

// Both have the same points, whatever their order.
static void same_points(const pp_touch_point *a, int count_a, const pp_touch_point *b, int count_b,
                        double slack, uint64_t seed)
{
    CHECK(count_a == count_b, seed);
    CHECK(count_a == 0 || fabs(a[0].gap - b[0].gap) <= slack, seed);
    for (int i = 0; i < count_a; i++) {
        double best = HUGE_VAL;
        for (int k = 0; k < count_b; k++) {
            double d = pp_length(pp_sub(a[i].x_a, b[k].x_a)) +
                       pp_length(pp_sub(a[i].x_b, b[k].x_b)) + pp_length(pp_sub(a[i].n, b[k].n)) +
                       fabs(a[i].gap - b[k].gap);
            best = fmin(best, d);
        }
        CHECK(best <= slack, seed);
    }
}

static void a_floor_is_a_half_space(void **state)
{
    const pp_solid plane = {.kind = PP_SOLID_HALFSPACE};
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        const pp_mesh *floor = floor_of(&r, *state);
        pp_pose X_WB = seed % 2 ? random_pose(&r, 10.0) : (pp_pose){.R = pp_identity3()};
        for (int k = 0; k < 25; k++) {
            pp_solid s = random_solid(&r);
            pp_pose X_BA = {pp_vec(rng_uniform(&r, -2, 2), rng_uniform(&r, -2, 2), 0.0),
                            k % 3 ? resting(&r) : random_rotation(&r)};
            perp_vec3 low, high;
            pp_solid_box(&s, &X_BA, &low, &high);
            static const double gaps[] = {0.0, 1e-3, -1e-9, -1e-4, 0.02};
            X_BA.p.z = gaps[rng_below(&r, 5)] - low.z;
            pp_pose X_WA = pp_pose_mul(&X_WB, &X_BA);
            pp_touch_point on_mesh[PP_TOUCH_MAX], on_plane[PP_TOUCH_MAX];
            int m = pp_mesh_touch(&s, &X_WA, floor, &X_WB, 0.015, on_mesh);
            int p = pp_solid_touch(&s, &X_WA, &plane, &X_WB, 0.015, on_plane);
            same_points(on_mesh, m, on_plane, p, 1e-13, seed);
        }
    }
}

// Along a straight line over many edges and corners, each step the same.
static void a_sphere_rolls_smoothly(void **state)
{
    rng r = rng_seed(2);
    const pp_mesh *floor = floor_of(&r, *state);
    pp_solid ball = {.kind = PP_SOLID_SPHERE, .radius = 0.3};
    uint32_t feature = 0;
    for (int k = 0; k <= 6000; k++) {
        pp_pose X_WA = {pp_vec(-3.0 + 1e-3 * k, -3.0 + 1e-3 * k, 0.3 - 1e-9), pp_identity3()};
        const pp_pose here = {.R = pp_identity3()};
        pp_touch_point touch[PP_TOUCH_MAX];
        assert_int_equal(pp_mesh_touch(&ball, &X_WA, floor, &here, 0.05, touch), 1);
        assert_true(fabs(touch[0].gap + 1e-9) <= 1e-15 && touch[0].n.z == -1.0);
        assert_true(k == 0 || touch[0].feature == feature);
        feature = touch[0].feature;
    }
}

// ── A cube of triangles is a box ─────────────────────────────────────────────────────────────────

// A box of the given half-widths, each side cut into cells^2 squares.
static const pp_mesh *box_mesh(perp_vec3 half, int cells, pp_arena *arena)
{
    int n = 0, sides = 6 * cells * cells;
    perp_vec3 *vertex = PP_ARRAY(arena, perp_vec3, 6 * sides);
    int *triangle = PP_ARRAY(arena, int, 6 * sides);
    for (int f = 0; f < 6; f++) {
        for (int c = 0; c < cells * cells; c++) {
            int row = c / cells, column = c % cells;
            static const int cut[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
            for (int k = 0; k < 6; k++, n++) {
                double u = 2.0 * (column + cut[k][f % 2]) / cells - 1.0,
                       v = 2.0 * (row + cut[k][1 - f % 2]) / cells - 1.0, w = f % 2 ? -1.0 : 1.0;
                perp_vec3 x = f < 2 ? pp_vec(w, u, v) : f < 4 ? pp_vec(v, w, u) : pp_vec(u, v, w);
                vertex[n] = pp_vec(half.x * x.x, half.y * x.y, half.z * x.z);
                triangle[n] = n;
            }
        }
    }
    const pp_mesh *mesh = NULL;
    assert_int_equal(pp_mesh_create(vertex, n, triangle, n / 3, arena, &mesh, NULL), PERP_OK);
    assert_int_equal(mesh->vertices, 6 * cells * cells + 2);
    return mesh;
}

static double point_to_box(perp_vec3 p, perp_vec3 half)
{
    return pp_length(pp_vec(fmax(fabs(p.x) - half.x, 0.0), fmax(fabs(p.y) - half.y, 0.0),
                            fmax(fabs(p.z) - half.z, 0.0)));
}

// Distance of a capsule from a box: that of the points of its axis is convex along it.
static double capsule_to_box(const pp_solid *capsule, const pp_pose *X, perp_vec3 half)
{
    double low = -capsule->half.z, high = capsule->half.z, least = HUGE_VAL;
    for (int k = 0; k < 200; k++) {
        double a = low + 0.4 * (high - low), b = low + 0.6 * (high - low);
        double at_a = point_to_box(pp_pose_point(X, pp_vec(0.0, 0.0, a)), half);
        double at_b = point_to_box(pp_pose_point(X, pp_vec(0.0, 0.0, b)), half);
        least = fmin(least, fmin(at_a, at_b));
        low = at_a > at_b ? a : low;
        high = at_a > at_b ? high : b;
    }
    return least - capsule->radius;
}

static void capsules_near_a_cube(void **state)
{
    long near = 0;
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        perp_vec3 half = {0.7, 0.9, 0.5};
        const pp_mesh *mesh = box_mesh(half, 1 + rng_below(&r, 4), *state);
        pp_pose X_WB = random_pose(&r, 3.0);
        for (int k = 0; k < 50; k++) {
            pp_solid s = random_solid(&r);
            s.kind = PP_SOLID_CAPSULE;
            pp_pose X_BA = {random_vec(&r, 1.8), random_rotation(&r)};
            double truth = capsule_to_box(&s, &X_BA, half);
            if (truth < -0.999 * s.radius || truth > 0.5) {
                continue;  // the axis reaches inside, or far away
            }
            pp_pose X_WA = pp_pose_mul(&X_WB, &X_BA);
            pp_touch_point touch[PP_TOUCH_MAX];
            int m = pp_mesh_touch(&s, &X_WA, mesh, &X_WB, 0.5, touch);
            CHECK(m >= 1 && fabs(touch[0].gap - truth) <= 1e-8, seed);
            near++;
        }
    }
    assert_true(near > 400);
}

// All solids apart from it: the closest point is that of the box.
static void a_cube_is_a_box(void **state)
{
    long near = 0;
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        pp_solid box = {.kind = PP_SOLID_BOX, .half = {0.7, 0.9, 0.5}};
        const pp_mesh *mesh = box_mesh(box.half, 1 + rng_below(&r, 4), *state);
        pp_pose X_WB = random_pose(&r, 3.0);
        for (int k = 0; k < 50; k++) {
            pp_solid s = random_solid(&r);
            pp_pose X_BA = {random_vec(&r, 1.8), random_rotation(&r)};
            pp_pose X_WA = pp_pose_mul(&X_WB, &X_BA);
            pp_touch_point on_mesh[PP_TOUCH_MAX], on_box[PP_TOUCH_MAX];
            int b = pp_solid_touch(&s, &X_WA, &box, &X_WB, 0.5, on_box);
            if (b == 0 || on_box[0].gap < 0.0) {
                continue;
            }
            int m = pp_mesh_touch(&s, &X_WA, mesh, &X_WB, 0.5, on_mesh);
            CHECK(m >= 1 && fabs(on_mesh[0].gap - on_box[0].gap) <= 1e-8, seed);
            near++;
        }
    }
    assert_true(near > 400);
}

static void balls_on_a_cube(void **state)
{
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        pp_solid box = {.kind = PP_SOLID_BOX, .half = {0.7, 0.9, 0.5}};
        pp_solid ball = {.kind = PP_SOLID_SPHERE, .radius = 0.3};
        const pp_mesh *mesh = box_mesh(box.half, 1 + rng_below(&r, 4), *state);
        pp_pose X_WB = random_pose(&r, 3.0);
        for (int k = 0; k < 50; k++) {
            perp_vec3 p = random_vec(&r, 1.4);
            if (fabs(p.x) < 0.7 && fabs(p.y) < 0.9 && fabs(p.z) < 0.5) {
                continue;  // the centre is inside
            }
            pp_pose X_WA = {pp_pose_point(&X_WB, p), pp_identity3()};
            pp_touch_point on_mesh[PP_TOUCH_MAX], on_box[PP_TOUCH_MAX];
            int b = pp_solid_touch(&ball, &X_WA, &box, &X_WB, 0.4, on_box);
            int m = pp_mesh_touch(&ball, &X_WA, mesh, &X_WB, 0.4, on_mesh);
            same_points(on_mesh, m, on_box, b, 1e-12, seed);
        }
    }
}

// A larger box on a pillar touches the pillar's corners; a smaller one has its own; shifted, both.
static void a_box_on_a_pillar(void **state)
{
    pp_solid pillar = {.kind = PP_SOLID_BOX, .half = {0.5, 0.5, 2.0}};
    const pp_mesh *mesh = box_mesh(pillar.half, 3, *state);
    static const double half[] = {1.0, 0.25, 0.5};
    const pp_pose here = {.R = pp_identity3()};
    for (int k = 0; k < 9; k++) {
        pp_solid box = {.kind = PP_SOLID_BOX, .half = {half[k % 3], half[k % 3], 0.5}};
        for (int i = 0; i < 3; i++) {
            double gap = i == 0 ? 0.0 : i == 1 ? -1e-9 : 1e-3;
            pp_pose X_WA = {pp_vec(k / 3 == 1 ? 0.4 : 0.0, k / 3 == 2 ? 0.3 : 0.0, 2.5 + gap),
                            pp_identity3()};
            pp_touch_point on_mesh[PP_TOUCH_MAX], on_box[PP_TOUCH_MAX];
            int m = pp_mesh_touch(&box, &X_WA, mesh, &here, 0.01, on_mesh);
            int b = pp_solid_touch(&box, &X_WA, &pillar, &here, 0.01, on_box);
            assert_int_equal(b, 4);
            same_points(on_mesh, m, on_box, b, 1e-9, (uint64_t)(10 * k + i));
        }
    }
}

// Most of the box hangs over: the side of the pillar must not be felt as deep inside it.
static void a_box_over_the_edge(void **state)
{
    pp_solid pillar = {.kind = PP_SOLID_BOX, .half = {0.5, 0.5, 2.0}};
    const pp_pose here = {.R = pp_identity3()};
    for (int k = 0; k < 12; k++) {
        const pp_mesh *mesh = box_mesh(pillar.half, 1 + k % 4, *state);
        double gap = k / 4 == 0 ? -1e-9 : k / 4 == 1 ? -1e-4 : 1e-3, half = 0.25;
        pp_solid box = {.kind = PP_SOLID_BOX, .half = {half, half, half}};
        pp_pose X_WA = {pp_vec(0.62, 0.05, 2.0 + half + gap), pp_identity3()};
        pp_touch_point on_mesh[PP_TOUCH_MAX], on_box[PP_TOUCH_MAX];
        int m = pp_mesh_touch(&box, &X_WA, mesh, &here, 0.01, on_mesh);
        int b = pp_solid_touch(&box, &X_WA, &pillar, &here, 0.01, on_box);
        assert_int_equal(b, 4);
        same_points(on_mesh, m, on_box, b, 1e-9, (uint64_t)k);
    }
}

// ── Other surfaces ───────────────────────────────────────────────────────────────────────────────

static void a_ball_in_a_valley(void **state)
{
    double height[9] = {1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0};
    const pp_mesh *mesh = NULL;
    assert_int_equal(pp_mesh_heights(height, 3, 3, 1.0, 1.0, *state, &mesh, NULL), PERP_OK);
    pp_solid ball = {.kind = PP_SOLID_SPHERE, .radius = 0.25};
    const pp_pose here = {.R = pp_identity3()},
                  X_WA = {{0.0, 0.1, 0.25 * sqrt(2.0)}, pp_identity3()};
    pp_touch_point touch[PP_TOUCH_MAX];
    assert_int_equal(pp_mesh_touch(&ball, &X_WA, mesh, &here, 0.01, touch), 2);
    assert_true(fabs(touch[0].gap) <= 1e-15 && fabs(touch[1].gap) <= 1e-15);
    assert_true(fabs(touch[0].n.x + touch[1].n.x) <= 1e-15 && touch[0].n.z < -0.7);
    assert_true(touch[0].feature != touch[1].feature);
}

// Over rough ground: the closest point of all triangles is found, and points are what they promise to be.
static void on_rough_ground(void **state)
{
    enum { N = 9 };
    const double margin = 0.1;
    long near = 0;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        double height[N * N], rough = pow(10.0, -rng_uniform(&r, 0.0, 4.0));
        for (int k = 0; k < N * N; k++) {
            height[k] = rough * rng_normal(&r);
        }
        pp_arena_reset(*state);
        const pp_mesh *mesh = NULL;
        CHECK(pp_mesh_heights(height, N, N, 2.0, 2.0, *state, &mesh, NULL) == PERP_OK, seed);
        const pp_pose here = {.R = pp_identity3()};
        for (int k = 0; k < 20; k++) {
            pp_solid s = random_solid(&r);
            pp_pose X = {random_vec(&r, 1.0), random_rotation(&r)};
            perp_vec3 low, high;
            pp_solid_box(&s, &X, &low, &high);
            X.p.z += rng_uniform(&r, -0.2, 1.0) * rough - low.z;
            pp_touch_point touch[PP_TOUCH_MAX], on[PP_TOUCH_MAX];
            double least = HUGE_VAL,
                   facing = -1.0;  // of the closest triangle, and how far n is along its normal
            for (int t = 0; t < mesh->triangles; t++) {
                const int *c = mesh->triangle[t];
                pp_flat_hull flat;
                pp_hull_triangle(mesh->vertex[c[0]], mesh->vertex[c[1]], mesh->vertex[c[2]], &flat);
                pp_solid triangle = {.kind = PP_SOLID_HULL, .hull = &flat.hull};
                if (pp_solid_touch(&s, &X, &triangle, &here, margin, on) > 0) {
                    double front = -pp_dot3(on[0].n, mesh->normal[t]);
                    facing = on[0].gap > least + 1e-9   ? facing
                             : on[0].gap < least - 1e-9 ? front
                                                        : fmax(facing, front);
                    least = fmin(least, on[0].gap);
                }
            }
            int m = pp_mesh_touch(&s, &X, mesh, &here, margin, touch);
            if (least >= 0.0 && facing > 1e-3) {  // apart, and above ground
                CHECK(m > 0 && fabs(touch[0].gap - least) <= 1e-7, seed);
            }
            for (int i = 0; i < m; i++) {
                perp_vec3 b = pp_along(touch[i].x_a, touch[i].gap, touch[i].n);
                CHECK(fabs(pp_length(touch[i].n) - 1.0) <= 1e-12 && touch[i].gap <= margin, seed);
                CHECK(pp_length(pp_sub(b, touch[i].x_b)) <= 1e-7, seed);
                CHECK(least < -0.01 || touch[i].n.z < 1e-6, seed);
                CHECK(touch[i].gap >= touch[0].gap, seed);
                for (int l = 0; l < i; l++) {
                    CHECK(touch[l].feature != touch[i].feature, seed);
                }
            }
            near += m > 0;
        }
    }
    assert_true(near > 300);
}

// What lies on a thin plate does not feel its lower side; what has sunk in comes up again.
static void one_side_only(void **state)
{
    const pp_mesh *mesh = box_mesh(pp_vec(1.0, 1.0, 0.005), 2, *state);
    pp_solid ball = {.kind = PP_SOLID_SPHERE, .radius = 0.2};
    const pp_pose here = {.R = pp_identity3()};
    pp_pose X_WA = {{0.3, 0.1, 0.205 - 1e-6}, pp_identity3()};
    pp_touch_point touch[PP_TOUCH_MAX];
    assert_int_equal(pp_mesh_touch(&ball, &X_WA, mesh, &here, 0.02, touch), 1);
    assert_true(fabs(touch[0].gap + 1e-6) <= 1e-15 && touch[0].n.z == -1.0);
    const double height[4] = {0.0, 0.0, 0.0, 0.0};
    assert_int_equal(pp_mesh_heights(height, 2, 2, 1.0, 1.0, *state, &mesh, NULL), PERP_OK);
    X_WA.p.z = -0.1;
    assert_int_equal(pp_mesh_touch(&ball, &X_WA, mesh, &here, 0.02, touch), 1);
    assert_true(fabs(touch[0].gap + 0.3) <= 1e-15 && touch[0].n.z == -1.0);
    X_WA.p.z = -0.3;
    assert_int_equal(pp_mesh_touch(&ball, &X_WA, mesh, &here, 0.2, touch), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_floor_is_a_half_space, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sphere_rolls_smoothly, setup, teardown),
        cmocka_unit_test_setup_teardown(capsules_near_a_cube, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cube_is_a_box, setup, teardown),
        cmocka_unit_test_setup_teardown(balls_on_a_cube, setup, teardown),
        cmocka_unit_test_setup_teardown(a_box_on_a_pillar, setup, teardown),
        cmocka_unit_test_setup_teardown(a_box_over_the_edge, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ball_in_a_valley, setup, teardown),
        cmocka_unit_test_setup_teardown(on_rough_ground, setup, teardown),
        cmocka_unit_test_setup_teardown(one_side_only, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
