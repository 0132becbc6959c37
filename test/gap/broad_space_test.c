// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The broad phase in space: every pair within the margin is among those found, and many bodies cost little
// more each than few.
#include "gap/apart.h"
#include "gap/broad.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

// A model of nothing but shapes, one a body, and where they are.
typedef struct scene {
    perp_model model;
    pp_frame *frame;
    pp_arena *arena;
} scene;

static scene scene_create(int bodies)
{
    scene s = {.arena = pp_arena_create(NULL)};
    s.model = (perp_model){.spatial = true, .bodies = bodies, .shapes = bodies};
    s.model.shape = PP_ZEROS(s.arena, pp_shape, bodies);
    s.model.body = PP_ZEROS(s.arena, pp_body, bodies);
    s.frame = PP_ZEROS(s.arena, pp_frame, bodies);
    for (int k = 0; k < bodies; k++) {
        s.model.body[k].nv = 6;
        s.model.shape[k] =
            (pp_shape){.body = k, .kind = PERP_SHAPE_SPHERE, .detect = true, .group = 1, .mask = 1};
        s.model.shape[k].X_BS.R = s.frame[k].R = pp_identity3();
    }
    return s;
}

static perp_vec3 random_vec(rng *r, double size)
{
    return pp_vec(rng_uniform(r, -size, size), rng_uniform(r, -size, size),
                  rng_uniform(r, -size, size));
}

static pp_mat3 random_rotation(rng *r)
{
    perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
    return pp_quat_matrix(pp_quat_unit(q));
}

static void random_shape(rng *r, pp_shape *shape, const pp_mesh *mesh, double room)
{
    int kind = rng_below(r, PP_SOLID_HULL);
    double size = rng_below(r, 30) ? rng_uniform(r, 0.05, 0.7) : 0.3 * room;
    shape->solid =
        (pp_solid){.kind = (pp_solid_kind)kind, .radius = size, .half = {size, size / 2, size}};
    shape->kind = PERP_SHAPE_BOX;
    if (rng_below(r, 30) == 0) {
        shape->solid.kind = PP_SOLID_HALFSPACE;
        shape->kind = PERP_SHAPE_HALFSPACE;
    } else if (rng_below(r, 30) == 0) {
        shape->kind = PERP_SHAPE_MESH;
        shape->mesh = mesh;
    }
    shape->X_BS = (pp_pose){random_vec(r, 0.3), random_rotation(r)};
    shape->detect = rng_below(r, 10) > 0;
}

static scene random_scene(rng *r, int bodies)
{
    static const double height[9] = {0.0, 0.5, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.0};
    scene s = scene_create(bodies);
    const pp_mesh *mesh = NULL;
    assert_int_equal(pp_mesh_heights(height, 3, 3, 1.0, 2.0, s.arena, &mesh, NULL), PERP_OK);
    double room = cbrt((double)bodies);
    for (int k = 0; k < bodies; k++) {
        random_shape(r, &s.model.shape[k], mesh, room);
        bool fixed = s.model.shape[k].mesh || rng_below(r, 4) == 0;
        s.model.body[k].nv = fixed ? 0 : 6;
        s.frame[k].p = pp_add(random_vec(r, room / 2.0), pp_vec(100.0, 0.0, -50.0));
        s.frame[k].R = random_rotation(r);
    }
    return s;
}

static bool found(const pp_broad *broad, int a, int b)
{
    for (int k = 0; k < broad->count; k++) {
        if (pp_broad_a(broad->pair[k]) == a && pp_broad_b(broad->pair[k]) == b) {
            return true;
        }
    }
    return false;
}

static bool should_look(const perp_model *m, int a, int b)
{
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    return sa->detect && sb->detect && (m->body[a].nv > 0 || m->body[b].nv > 0) &&
           pp_gap_possible(sa, sb);
}

// How far a shape reaches along the unit vector d of the world.
static double reach(const scene *s, int k, perp_vec3 d)
{
    const pp_shape *shape = &s->model.shape[k];
    const pp_pose X_WB = {s->frame[k].p, s->frame[k].R};
    pp_pose X = pp_pose_mul(&X_WB, &shape->X_BS);
    perp_vec3 own = pp_mul_t(&X.R, d);
    if (shape->mesh) {  // of the box around it
        const pp_box3 *b = &shape->mesh->node[1];
        own = pp_vec(own.x > 0.0 ? b->high.x : b->low.x, own.y > 0.0 ? b->high.y : b->low.y,
                     own.z > 0.0 ? b->high.z : b->low.z);
    } else {
        own = pp_solid_support(&shape->solid, own);
    }
    return pp_dot3(d, pp_pose_point(&X, own));
}

// How far the boxes of two shapes are apart along the axis that parts them best.
static double boxes_apart(const scene *s, int a, int b)
{
    double most = -HUGE_VAL;
    for (int axis = 0; axis < 6; axis++) {
        double sign = axis < 3 ? 1.0 : -1.0;
        perp_vec3 d = pp_vec(axis % 3 == 0 ? sign : 0.0, axis % 3 == 1 ? sign : 0.0,
                             axis % 3 == 2 ? sign : 0.0);
        most = fmax(most, -reach(s, a, d) - reach(s, b, pp_scale(-1.0, d)));
    }
    return most;
}

// The same for a half-space: how far it is below the box of the other one.
static double plane_apart(const scene *s, int plane, int other)
{
    const pp_pose X_WB = {s->frame[plane].p, s->frame[plane].R};
    pp_pose X = pp_pose_mul(&X_WB, &s->model.shape[plane].X_BS);
    perp_vec3 n = pp_mat3_column(&X.R, 2), lowest;
    const perp_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    lowest.x = n.x > 0.0 ? -reach(s, other, pp_scale(-1.0, x)) : reach(s, other, x);
    lowest.y = n.y > 0.0 ? -reach(s, other, pp_scale(-1.0, y)) : reach(s, other, y);
    lowest.z = n.z > 0.0 ? -reach(s, other, pp_scale(-1.0, z)) : reach(s, other, z);
    return pp_dot3(n, pp_sub(lowest, X.p));
}

// Every pair whose boxes are within the margin, and none whose boxes are much further apart.
static void finds_all_pairs(void **state)
{
    (void)state;
    const double margin = 0.05;
    long pairs = 0;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        scene s = random_scene(&r, 2 + rng_below(&r, 60));
        pp_broad broad;
        CHECK(pp_broad_run(&broad, &s.model, s.frame, margin, NULL, s.arena) == PERP_OK, seed);
        for (int k = 1; k < broad.count; k++) {
            CHECK(broad.pair[k - 1] < broad.pair[k], seed);
        }
        for (int a = 0; a < s.model.shapes; a++) {
            for (int b = a + 1; b < s.model.shapes; b++) {
                bool plane_a = s.model.shape[a].kind == PERP_SHAPE_HALFSPACE,
                     plane_b = s.model.shape[b].kind == PERP_SHAPE_HALFSPACE;
                double apart = HUGE_VAL;
                if (should_look(&s.model, a, b)) {
                    apart = plane_a   ? plane_apart(&s, a, b)
                            : plane_b ? plane_apart(&s, b, a)
                                      : boxes_apart(&s, a, b);
                }
                CHECK(apart > margin || found(&broad, a, b), seed);
                CHECK(apart < 2.0 * margin || !found(&broad, a, b), seed);
            }
        }
        pairs += broad.count;
        pp_arena_destroy(s.arena);
    }
    assert_true(pairs > 2000);
}

// ── With a memory ────────────────────────────────────────────────────────────────────────────────

// A little further, some bodies not at all, or far away.
static void move_bodies(rng *r, scene *s, double way)
{
    int thrown = rng_below(r, 20 * s->model.bodies);
    for (int k = 0; k < s->model.bodies; k++) {
        double far = k == thrown ? 1.0 : way;
        if (s->model.body[k].nv == 0 || rng_below(r, 6) == 0) {
            continue;
        }
        pp_mat3 turn = pp_quat_matrix(pp_quat_exp(random_vec(r, far)));
        s->frame[k].p = pp_add(s->frame[k].p, random_vec(r, far));
        s->frame[k].R = pp_mat_mul(&turn, &s->frame[k].R);
    }
}

static bool same_search(const pp_gaps *a, const pp_gaps *b)
{
    return a->count == b->count && a->seen.pairs == b->seen.pairs &&
           pp_same_bits(a->seen.pair, b->seen.pair, (size_t)a->seen.pairs * sizeof *a->seen.pair) &&
           pp_same_bits(a->contact, b->contact, (size_t)a->count * sizeof *a->contact);
}

// What is known to be apart is skipped, and makes no difference: the same pairs and the same points to the last bit.
static void memory_changes_nothing(void **state)
{
    (void)state;
    long points = 0, close = 0, all = 0;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        scene s = random_scene(&r, 2 + rng_below(&r, 60));
        pp_gap_memory *memory = pp_gap_memory_create(&s.model, s.arena);
        assert_non_null(memory);
        double way = pow(10.0, -rng_uniform(&r, 1.0, 6.0));
        for (int k = 0; k < 60; k++) {
            const pp_poses at = {.body = s.frame};
            pp_gap_search search = {.margin = rng_below(&r, 30) ? 0.02 : rng_uniform(&r, 0.0, 0.1),
                                    .remember = true};
            pp_gaps plain, known;
            CHECK(pp_gaps_run(&plain, &s.model, &at, search, s.arena) == PERP_OK, seed);
            search.memory = memory;
            CHECK(pp_gaps_run(&known, &s.model, &at, search, s.arena) == PERP_OK, seed);
            CHECK(same_search(&plain, &known), seed);
            points += plain.count;
            close += memory->close_count;
            all += memory->count;
            move_bodies(&r, &s, way);
        }
        pp_arena_destroy(s.arena);
    }
    print_message("%ld points, %ld of %ld pairs looked for\n", points, close, all);
    assert_true(points > 5000 && 10 * close < 9 * all);
}

// ── What it costs ────────────────────────────────────────────────────────────────────────────────

typedef enum layout { PILE, SHEET, ROW, MIXED, FLOWN_AWAY, LAYOUTS } layout;

static perp_vec3 place_of(layout how, int k, int bodies)
{
    int side = how == ROW     ? bodies
               : how == SHEET ? (int)sqrt((double)bodies)
                              : (int)cbrt((double)bodies);
    int row = k / side, level = how == SHEET ? 0 : row / side;
    return how == FLOWN_AWAY && k == 0 ? pp_vec(1e9, 0.0, 0.0)
                                       : pp_vec(k % side, how == SHEET ? row : row % side, level);
}

// Spheres and boxes that just touch, on a floor.
static double tests_per_body(int bodies, layout how, double *seconds)
{
    rng r = rng_seed(7);
    scene s = scene_create(bodies + 1);
    for (int k = 0; k < bodies; k++) {
        double size = how == MIXED ? 0.5 * pow(10.0, -rng_uniform(&r, 0.0, 2.0)) : 0.5;
        s.model.shape[k].solid = (pp_solid){.kind = k % 2 ? PP_SOLID_BOX : PP_SOLID_SPHERE,
                                            .radius = size,
                                            .half = {size, size, size}};
        s.frame[k].p = pp_add(place_of(how, k, bodies), random_vec(&r, 0.01));
    }
    s.model.body[bodies].nv = 0;
    s.model.shape[bodies].kind = PERP_SHAPE_HALFSPACE;
    s.model.shape[bodies].solid.kind = PP_SOLID_HALFSPACE;
    s.frame[bodies].p.z = -0.5;
    pp_broad broad;
    double start = pp_seconds();
    assert_int_equal(pp_broad_run(&broad, &s.model, s.frame, 0.01, NULL, s.arena), PERP_OK);
    *seconds = pp_seconds() - start;
    assert_true(how == MIXED || how == ROW || broad.count > bodies);
    double tests = (double)broad.tests / bodies;
    pp_arena_destroy(s.arena);
    return tests;
}

static void cost_is_near_linear(void **state)
{
    (void)state;
    for (int how = 0; how < LAYOUTS; how++) {
        for (int n = 1250; n <= 10000; n *= 2) {
            double seconds, tests = tests_per_body(n, (layout)how, &seconds);
            print_message("layout %d: %d bodies, %.1f tests and %.2f us a body\n", how, n, tests,
                          1e6 * seconds / n);
            assert_true(tests <= 80.0);
        }
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    scene s = random_scene(&r, 400);
    bool happened = true;
    for (int at = 1; happened; at++) {
        fault f = {.fail_at = at};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env);
        pp_broad broad;
        if (arena) {
            perp_status status = pp_broad_run(&broad, &s.model, s.frame, 0.05, NULL, arena);
            assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        }
        pp_arena_destroy(arena);
        assert_int_equal(f.live, 0);
        happened = f.happened;
    }
    pp_arena_destroy(s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_pairs),
        cmocka_unit_test(memory_changes_nothing),
        cmocka_unit_test(cost_is_near_linear),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
