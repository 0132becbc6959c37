// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about a sim: rays alone and by tree, distances and overlaps with closed forms, contact forces, Jacobians
// against finite differences, inverse dynamics against steps; arguments that make no sense, and memory that runs out.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <perp/io.h>
#include <perp/perp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    perp_scene *scene;
    perp_sim *sim;
    const perp_model *model;
} world;

static world open_world(const char *text)
{
    world w = {0};
    perp_error error;
    if (perp_scene_parse("test", text, strlen(text), NULL, &w.scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    w.model = perp_scene_model(w.scene);
    perp_sim_def def = perp_scene_sim_def(w.scene);
    if (perp_sim_create(w.model, &def, NULL, &w.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return w;
}

static void close_world(world *w)
{
    perp_sim_destroy(w->sim);
    perp_scene_destroy(w->scene);
}

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%.17g, should be %.17g", got, want);
    }
}

static void near3(perp_vec3 got, double x, double y, double z, double tolerance)
{
    near(got.x, x, tolerance);
    near(got.y, y, tolerance);
    near(got.z, z, tolerance);
}

static const char plane_text[] = "{\"groups\": [\"scene\", \"robot\"], \"shapes\": [{\"name\": "
                                 "\"floor\", \"kind\": \"halfplane\", \"mask\": 3}, "
                                 "{\"name\": \"wall\", \"kind\": \"segment\", \"length\": 2, "
                                 "\"angle\": \"90 deg\", \"position\": [5, 1]}], "
                                 "\"bodies\": [{\"name\": \"box\", \"position\": [2, 0.5], "
                                 "\"mass\": 2, \"inertia\": 1, \"shapes\": [{\"name\": "
                                 "\"b\", \"kind\": \"box\", \"size\": [1, 1], \"group\": "
                                 "[\"robot\"]}]}, {\"name\": \"disc\", \"position\": [0, "
                                 "3], \"mass\": 1, \"inertia\": 1, \"shapes\": [{\"name\": \"d\", "
                                 "\"kind\": \"disc\", \"radius\": 0.5}, "
                                 "{\"name\": \"p\", \"kind\": \"point\", \"position\": [0, 1]}]}]}";
static const char space_text[] =
    "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\"}, {\"name\": \"hills\", \"kind\": "
    "\"heightfield\", "
    "\"size\": [4, 4], \"position\": [0, 20, 0], \"heights\": [[0, 0, 0], [0, 1, 0], [0, 0, 0]]}], "
    "\"bodies\": [{\"name\": \"box\", \"kind\": \"solid\", \"position\": [2, 0, 0.5], \"mass\": 2, "
    "\"inertia\": [1, "
    "1, 1], \"shapes\": [{\"name\": \"b\", \"kind\": \"box\", \"size\": [1, 1, 1]}]}, {\"name\": "
    "\"ball\", "
    "\"kind\": \"solid\", \"position\": [0, 0, 3], \"mass\": 1, \"inertia\": [1, 1, 1], "
    "\"shapes\": [{\"name\": "
    "\"s\", \"kind\": \"sphere\", \"radius\": 0.5}]}, {\"name\": \"far\", \"kind\": \"solid\", "
    "\"position\": [0, 20, "
    "4], \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [{\"name\": \"s\", \"kind\": \"sphere\", "
    "\"radius\": "
    "0.5}]}]}";

// ── Rays ─────────────────────────────────────────────────────────────────────────────────────────

static perp_ray ray_of(double x, double y, double z, double dx, double dy, double dz)
{
    perp_ray ray = perp_ray_default();
    ray.origin_W = (perp_vec3){x, y, z};
    ray.direction_W = (perp_vec3){dx, dy, dz};
    return ray;
}

static void nearest_shapes(void **state)
{
    (void)state;
    world w = open_world(plane_text);
    perp_hit hit;
    // z is not looked at in the plane, and the length of the direction does not matter
    perp_ray ray = ray_of(-3.0, 0.5, 7.0, 1e-200, 0.0, 3.0);
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    assert_string_equal(perp_model_shape_name(w.model, hit.shape), "box.b");
    near(hit.distance, 4.5, 1e-12);
    near3(hit.point_W, 1.5, 0.5, 0.0, 1e-12);
    near3(hit.normal_W, -1.0, 0.0, 0.0, 1e-12);
    // past the box by its body, then by its group; the wall is next
    ray.skip = perp_model_body(w.model, "box");
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    near(hit.distance, 8.0, 1e-12);
    ray.skip = (perp_body){-1};
    ray.mask = 1;
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    near(hit.distance, 8.0, 1e-12);
    assert_string_equal(perp_model_shape_name(w.model, hit.shape), "wall");
    ray.max_distance = 7.99;
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    assert_int_equal(hit.shape.i, -1);
    // points are not hit; upwards there is nothing else
    ray = ray_of(0.0, 3.7, 0.0, 0.0, 1.0, 0.0);
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    assert_int_equal(hit.shape.i, -1);
    // inside the disc
    ray = ray_of(0.1, 3.0, 0.0, 0.0, -1.0, 0.0);
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    assert_true(hit.inside && hit.distance == 0.0);
    near3(hit.normal_W, 0.0, 1.0, 0.0, 1e-15);
    close_world(&w);
    // where the bodies are now: the ball falls
    w = open_world(space_text);
    ray = ray_of(0.0, 0.0, 10.0, 0.0, 0.0, -1.0);
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    near(hit.distance, 6.5, 1e-12);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
    }
    double z = perp_sim_body_position(w.sim, perp_model_body(w.model, "ball")).z;
    assert_true(z < 2.9);
    assert_int_equal(perp_sim_ray(w.sim, &ray, &hit), PERP_OK);
    near(hit.distance, 9.5 - z, 1e-12);
    close_world(&w);
}

static void rays_without_sense(void **state)
{
    (void)state;
    world w = open_world(space_text);
    perp_hit hit;
    perp_ray wrong[] = {ray_of(0, 0, 0, 0, 0, 0), ray_of(NAN, 0, 0, 1, 0, 0),
                        ray_of(0, 0, 0, INFINITY, 0, 0), ray_of(0, 0, 0, 1, 0, 0),
                        ray_of(0, 0, 0, 1, 0, 0)};
    wrong[3].max_distance = -1.0;
    wrong[4].max_distance = NAN;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(perp_sim_ray(w.sim, &wrong[k], &hit), PERP_ERR_ARGUMENT);
        assert_int_equal(perp_sim_rays(w.sim, &wrong[k], 1, &hit), PERP_ERR_ARGUMENT);
    }
    assert_int_equal(perp_sim_rays(w.sim, NULL, 0, NULL), PERP_OK);
    assert_int_equal(perp_sim_rays(w.sim, wrong, -1, &hit), PERP_ERR_ARGUMENT);
    close_world(&w);
    w = open_world(plane_text);
    perp_ray out = ray_of(0, 0, 0, 0, 0, 1);  // nothing of it is in the plane
    assert_int_equal(perp_sim_ray(w.sim, &out, &hit), PERP_ERR_ARGUMENT);
    close_world(&w);
}

static perp_shape_kind kind_of(rng *r, bool spatial)
{
    static const perp_shape_kind planar[] = {PERP_SHAPE_DISC, PERP_SHAPE_BOX, PERP_SHAPE_CAPSULE,
                                             PERP_SHAPE_SEGMENT, PERP_SHAPE_POINT};
    static const perp_shape_kind solid[] = {PERP_SHAPE_SPHERE,  PERP_SHAPE_BOX,
                                            PERP_SHAPE_CAPSULE, PERP_SHAPE_CYLINDER,
                                            PERP_SHAPE_CONE,    PERP_SHAPE_ELLIPSOID};
    return spatial ? solid[rng_below(r, 6)] : planar[rng_below(r, 5)];
}

static perp_model *random_model(rng *r, bool spatial, int shapes)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_shape_def floor = perp_shape_default();
    floor.kind = spatial ? PERP_SHAPE_HALFSPACE : PERP_SHAPE_HALFPLANE;
    floor.position_B.z = spatial ? -6.0 : 0.0;
    floor.position_B.y = spatial ? 0.0 : -6.0;
    perp_body_def body = perp_body_default();
    body.kind = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    body.motion = PERP_MOTION_STATIC;
    for (int k = 0; k < shapes; k++) {
        perp_shape_def def = perp_shape_default();
        def.kind = kind_of(r, spatial);
        def.radius = rng_uniform(r, 0.05, 0.4);
        def.half = (perp_vec3){rng_uniform(r, 0.1, 0.5), rng_uniform(r, 0.1, 0.5),
                               rng_uniform(r, 0.1, 0.5)};
        def.group = (uint32_t)rng_below(r, 4);
        def.angle = rng_normal(r);
        body.position_W = (perp_vec3){5.0 * rng_normal(r), 5.0 * rng_normal(r),
                                      spatial ? 5.0 * rng_normal(r) : 0.0};
        perp_builder_add_shape(b, perp_builder_add_body(b, &body), &def);
    }
    perp_builder_add_shape(b, (perp_body){0}, &floor);
    perp_model *m = NULL;
    perp_error error;
    if (perp_model_create(b, &m, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_builder_destroy(b);
    return m;
}

// Both ways are two different searches.
static void tree_finds_the_same(void **state)
{
    (void)state;
    enum { RAYS = 100 };
    int hits = 0;
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        bool spatial = rng_below(&r, 2);
        perp_model *m = random_model(&r, spatial, 1 + rng_below(&r, 200));
        perp_sim *sim = NULL;
        perp_sim_def def = perp_sim_default();
        assert_int_equal(perp_sim_create(m, &def, NULL, &sim, NULL), PERP_OK);
        perp_ray ray[RAYS];
        perp_hit all[RAYS];
        for (int k = 0; k < RAYS; k++) {
            ray[k] = ray_of(8.0 * rng_normal(&r), 8.0 * rng_normal(&r), 8.0 * rng_normal(&r),
                            rng_normal(&r), rng_normal(&r), rng_normal(&r));
            ray[k].direction_W.x = rng_below(&r, 8) ? ray[k].direction_W.x : 0.0;
            ray[k].max_distance = rng_below(&r, 3) ? HUGE_VAL : rng_uniform(&r, 0.0, 20.0);
            ray[k].mask = rng_below(&r, 3) ? UINT32_MAX : 1u << rng_below(&r, 2);
            ray[k].skip.i = rng_below(&r, 5) - 1;
        }
        CHECK(perp_sim_rays(sim, ray, RAYS, all) == PERP_OK, seed);
        for (int k = 0; k < RAYS; k++) {
            perp_hit one;
            CHECK(perp_sim_ray(sim, &ray[k], &one) == PERP_OK, seed);
            CHECK(one.shape.i == all[k].shape.i && one.distance == all[k].distance, seed);
            CHECK(one.normal_W.x == all[k].normal_W.x && one.inside == all[k].inside, seed);
            hits += one.shape.i >= 0;
        }
        perp_sim_destroy(sim);
        perp_model_destroy(m);
    }
    assert_true(hits > 1000);
}

// ── Distances and overlaps ───────────────────────────────────────────────────────────────────────

static perp_distance apart(const world *w, const char *a, const char *b)
{
    perp_distance d;
    assert_int_equal(
        perp_sim_distance(w->sim, perp_model_shape(w->model, a), perp_model_shape(w->model, b), &d),
        PERP_OK);
    perp_vec3 to = {d.point_B_W.x - d.point_A_W.x, d.point_B_W.y - d.point_A_W.y,
                    d.point_B_W.z - d.point_A_W.z};
    near3(to, d.distance * d.normal_W.x, d.distance * d.normal_W.y, d.distance * d.normal_W.z,
          1e-12);
    return d;
}

static void distances(void **state)
{
    (void)state;
    world w = open_world(plane_text);
    perp_distance d = apart(&w, "floor", "disc.d");
    near(d.distance, 2.5, 1e-14);
    near3(d.normal_W, 0.0, 1.0, 0.0, 1e-15);
    near3(d.point_A_W, 0.0, 0.0, 0.0, 1e-14);
    near3(d.point_B_W, 0.0, 2.5, 0.0, 1e-14);
    d = apart(&w, "disc.d", "floor");
    near(d.distance, 2.5, 1e-14);
    near3(d.point_A_W, 0.0, 2.5, 0.0, 1e-14);
    // the corner of the box and the disc
    d = apart(&w, "box.b", "disc.d");
    near(d.distance, hypot(1.5, 2.0) - 0.5, 1e-14);
    near3(d.point_A_W, 1.5, 1.0, 0.0, 1e-14);
    near3(d.normal_W, -0.6, 0.8, 0.0, 1e-14);
    d = apart(&w, "disc.p", "box.b");
    near3(d.point_A_W, 0.0, 4.0, 0.0, 1e-14);
    perp_distance out;
    perp_shape floor = perp_model_shape(w.model, "floor");
    assert_int_equal(perp_sim_distance(w.sim, floor, floor, &out), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_distance(w.sim, floor, (perp_shape){99}, &out), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_distance(w.sim, (perp_shape){-1}, floor, &out), PERP_ERR_ARGUMENT);
    close_world(&w);

    w = open_world(space_text);
    d = apart(&w, "floor", "ball.s");
    near(d.distance, 2.5, 1e-14);
    near3(d.point_B_W, 0.0, 0.0, 2.5, 1e-14);
    d = apart(&w, "box.b", "ball.s");
    near(d.distance, hypot(1.5, 2.0) - 0.5, 1e-12);
    near3(d.point_A_W, 1.5, 0.0, 1.0, 1e-9);
    near3(d.point_B_W, 0.3, 0.0, 2.6, 1e-9);
    // straight above the summit of the hills
    d = apart(&w, "hills", "far.s");
    near(d.distance, 2.5, 1e-12);
    near3(d.point_A_W, 0.0, 20.0, 1.0, 1e-9);
    near3(d.normal_W, 0.0, 0.0, 1.0, 1e-9);
    assert_int_equal(perp_sim_distance(w.sim, perp_model_shape(w.model, "floor"),
                                       perp_model_shape(w.model, "hills"), &out),
                     PERP_ERR_ARGUMENT);
    close_world(&w);
}

// Overlapping boxes: the shortest way out; two points; what is behind a height field.
static void special_distances(void **state)
{
    (void)state;
    world w = open_world(
        "{\"start\": \"as given\", \"gravity\": [0, 0, 0], \"shapes\": [{\"name\": \"hills\", "
        "\"kind\": "
        "\"heightfield\", \"size\": [4, 4], \"heights\": [[0, 0], [0, 0]]}], \"bodies\": ["
        "{\"name\": \"a\", \"kind\": \"solid\", \"position\": [9, 0, 0], \"mass\": 1, \"inertia\": "
        "[1, 1, 1], "
        "\"shapes\": [{\"name\": \"b\", \"kind\": \"box\", \"size\": [2, 2, 2]}, {\"name\": \"p\", "
        "\"kind\": "
        "\"point\", \"position\": [0, 3, 4]}]}, "
        "{\"name\": \"c\", \"kind\": \"solid\", \"position\": [10.7, 0.2, 0.1], \"mass\": 1, "
        "\"inertia\": [1, 1, 1], "
        "\"shapes\": [{\"name\": \"b\", \"kind\": \"box\", \"size\": [2, 2, 2]}]}, "
        "{\"name\": \"d\", \"kind\": \"solid\", \"position\": [9, 0, 0], \"mass\": 1, \"inertia\": "
        "[1, 1, 1], "
        "\"shapes\": [{\"name\": \"p\", \"kind\": \"point\"}]}, "
        "{\"name\": \"low\", \"kind\": \"solid\", \"position\": [0, 0, -2], \"mass\": 1, "
        "\"inertia\": [1, 1, 1], "
        "\"shapes\": [{\"name\": \"s\", \"kind\": \"sphere\", \"radius\": 0.5}]}]}");
    perp_distance d = apart(&w, "a.b", "c.b");
    near(d.distance, -0.3, 1e-12);
    near3(d.normal_W, 1.0, 0.0, 0.0, 1e-12);
    d = apart(&w, "d.p", "a.p");
    near(d.distance, 5.0, 1e-14);
    near3(d.normal_W, 0.0, 0.6, 0.8, 1e-14);
    assert_int_equal(perp_sim_distance(w.sim, perp_model_shape(w.model, "hills"),
                                       perp_model_shape(w.model, "low.s"), &d),
                     PERP_OK);
    assert_true(d.distance == -HUGE_VAL);
    close_world(&w);
}

// A closed mesh of triangles is the hull of its vertices, seen from outside.
static void meshes_as_hulls(void **state)
{
    (void)state;
    static const perp_vec3 corner[4] = {
        {0.4, 0.1, -0.3}, {-0.5, 0.3, -0.2}, {0.0, -0.6, -0.1}, {0.1, 0.0, 0.7}};
    static const int triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        perp_builder *b = perp_builder_create(NULL);
        perp_body_def def = perp_body_default();
        def.kind = PERP_BODY_SPATIAL;
        def.motion = PERP_MOTION_STATIC;
        perp_body body = perp_builder_add_body(b, &def);
        perp_shape_def shape = perp_shape_default();
        shape.vertices_S = corner;
        shape.vertex_count = 4;
        shape.kind = PERP_SHAPE_HULL;
        perp_shape hull = perp_builder_add_shape(b, body, &shape);
        shape.kind = PERP_SHAPE_MESH;
        shape.triangles = triangles;
        shape.triangle_count = 4;
        perp_shape mesh = perp_builder_add_shape(b, body, &shape);
        shape = perp_shape_default();
        shape.kind = PERP_SHAPE_SPHERE;
        shape.radius = 0.05;
        def.position_W =
            (perp_vec3){2.0 * rng_normal(&r), 2.0 * rng_normal(&r), 2.0 * rng_normal(&r)};
        perp_shape ball = perp_builder_add_shape(b, perp_builder_add_body(b, &def), &shape);
        perp_model *m = NULL;
        perp_sim *sim = NULL;
        CHECK(perp_model_create(b, &m, NULL) == PERP_OK, seed);
        CHECK(perp_sim_create(m, NULL, NULL, &sim, NULL) == PERP_OK, seed);
        perp_distance one, two;
        CHECK(perp_sim_distance(sim, hull, ball, &one) == PERP_OK, seed);
        CHECK(perp_sim_distance(sim, mesh, ball, &two) == PERP_OK, seed);
        if (one.distance > 0.0) {
            CHECK(fabs(one.distance - two.distance) < 1e-9, seed);
            CHECK(fabs(one.point_A_W.x - two.point_A_W.x) < 1e-6, seed);
        }
        perp_sim_destroy(sim);
        perp_model_destroy(m);
        perp_builder_destroy(b);
    }
}

static int overlap(const world *w, const perp_probe *probe, perp_shape *list, int capacity)
{
    int count = -1;
    perp_error error;
    if (perp_sim_overlap(w->sim, probe, list, capacity, &count, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return count;
}

static void overlaps(void **state)
{
    (void)state;
    perp_shape list[8];
    perp_shape_def ball = perp_shape_default();
    perp_probe probe = perp_probe_default();
    world w = open_world(space_text);
    ball.kind = PERP_SHAPE_SPHERE;
    ball.radius = 0.75;
    probe.shape = &ball;
    // between floor and box, then lifted off the floor, then beside the box
    probe.X_WB.p = (perp_vec3){0.9, 0.0, 0.6};
    assert_int_equal(overlap(&w, &probe, list, 8), 2);
    assert_string_equal(perp_model_shape_name(w.model, list[0]), "floor");
    assert_string_equal(perp_model_shape_name(w.model, list[1]), "box.b");
    probe.X_WB.p.z = 0.76;
    assert_int_equal(overlap(&w, &probe, list, 8), 1);
    assert_string_equal(perp_model_shape_name(w.model, list[0]), "box.b");
    probe.X_WB.p.x = 0.7;
    assert_int_equal(overlap(&w, &probe, list, 8), 0);
    probe.margin = 0.06;  // 0.05 to the box, 0.01 to the floor
    assert_int_equal(overlap(&w, &probe, list, 1), 2);
    assert_string_equal(perp_model_shape_name(w.model, list[0]), "floor");
    probe.skip = (perp_body){0};
    assert_int_equal(overlap(&w, &probe, NULL, 0), 1);
    probe.mask = 2;
    assert_int_equal(overlap(&w, &probe, NULL, 0), 0);
    const double eighth = 0.125 * acos(-1.0);  // half the angle
    // a box turned by 45 degrees about z reaches the box where one that is not turned does not
    perp_shape_def box = perp_shape_default();
    box.kind = PERP_SHAPE_BOX;
    box.half = (perp_vec3){0.5, 0.5, 0.2};
    probe = perp_probe_default();
    probe.shape = &box;
    probe.X_WB.p = (perp_vec3){0.9, 0.0, 0.6};
    assert_int_equal(overlap(&w, &probe, list, 8), 0);
    probe.X_WB.rot = (perp_quat){cos(eighth), 0.0, 0.0, sin(eighth)};
    assert_int_equal(overlap(&w, &probe, list, 8), 1);
    // a half-space and a mesh as probes
    box.kind = PERP_SHAPE_HALFSPACE;
    probe.X_WB = (perp_pose){{0.0, 0.0, 2.6}, {1.0, 0.0, 0.0, 0.0}};
    assert_int_equal(overlap(&w, &probe, list, 8), 2);
    close_world(&w);

    w = open_world(plane_text);
    ball.kind = PERP_SHAPE_DISC;
    probe = perp_probe_default();
    probe.shape = &ball;
    probe.X_WB.p = (perp_vec3){0.0, 4.0, 5.0};
    assert_int_equal(overlap(&w, &probe, list, 8), 2);  // the disc and the point above it
    close_world(&w);
}

static void probes_without_sense(void **state)
{
    (void)state;
    world w = open_world(plane_text);
    perp_shape list[2];
    int count;
    perp_error error;
    perp_shape_def disc = perp_shape_default();
    perp_probe probe = perp_probe_default();
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, &error), PERP_ERR_ARGUMENT);
    probe.shape = &disc;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, NULL, 2, &count, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, -1, &count, NULL), PERP_ERR_ARGUMENT);
    probe.margin = -1.0;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, NULL), PERP_ERR_ARGUMENT);
    probe.margin = 0.0;
    probe.X_WB.rot.w = 0.5;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, &error), PERP_ERR_ARGUMENT);
    probe.X_WB.rot.w = 1.0;
    disc.radius = -1.0;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, &error), PERP_ERR_MODEL);
    assert_non_null(strstr(error.text, "radius"));
    disc = perp_shape_default();
    disc.kind = PERP_SHAPE_SPHERE;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, &error), PERP_ERR_MODEL);
    disc.cookie = 0;
    assert_int_equal(perp_sim_overlap(w.sim, &probe, list, 2, &count, &error), PERP_ERR_DEF);
    close_world(&w);
}

// ── Forces and dynamics ──────────────────────────────────────────────────────────────────────────

static const char *const sliding[] = {
    "{\"shapes\": [{\"kind\": \"halfplane\", \"mu\": 0.25}], \"bodies\": [{\"name\": \"box\", "
    "\"position\": [0, "
    "0.5], \"velocity\": [3, 0], \"mass\": 2, \"inertia\": 1, \"shapes\": [{\"kind\": \"box\", "
    "\"size\": [2, 1], "
    "\"mu\": 0.25}]}], \"forces\": [{\"kind\": \"force\", \"body\": \"box\", \"fy\": \"-4\"}]}",
    "{\"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.25}], \"bodies\": [{\"name\": \"box\", "
    "\"kind\": \"solid\", "
    "\"position\": [0, 0, 0.5], \"velocity\": [3, 0, 0], \"mass\": 2, \"inertia\": [1, 1, 1], "
    "\"shapes\": "
    "[{\"kind\": \"box\", \"size\": [2, 2, 1], \"mu\": 0.25}]}], \"forces\": [{\"kind\": "
    "\"force\", \"body\": "
    "\"box\", \"fz\": \"-4\"}]}"};

// A box that slides: the normal forces carry the weight and the force, friction is mu times that.
static void contact_forces(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        world w = open_world(sliding[i]);
        perp_body box = perp_model_body(w.model, "box");
        assert_true(perp_sim_contact_force(w.sim, 0).normal == 0.0);
        double nu0[6], nu1[6], a[6], f[6], h = 0.01;
        int nq, nv;
        perp_sim_state_size(w.sim, &nq, &nv);
        double q[7], t;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(perp_sim_state_get(w.sim, &t, q, nu0), PERP_OK);
            assert_int_equal(perp_sim_step(w.sim, h), PERP_OK);
            assert_int_equal(perp_sim_state_get(w.sim, &t, q, nu1), PERP_OK);
            double load = 2.0 * 9.81 + 4.0, sum = 0.0;
            int count;
            const perp_contact *c = perp_sim_contacts(w.sim, &count);
            for (int n = 0; n < count; n++) {
                perp_contact_force on = perp_sim_contact_force(w.sim, n);
                near(on.normal, c[n].pn / h, 1e-9);
                near(on.friction_W.x, c[n].pf_W.x / h, 1e-9);
                near(on.force_W.x, on.friction_W.x, 1e-9);
                sum += on.normal;
            }
            near(sum, load, 1e-6);
            perp_wrench on = perp_sim_contact_wrench(w.sim, box);
            near(i == 0 ? on.f_W.y : on.f_W.z, load, 1e-6);
            near(on.f_W.x, -0.25 * load, 1e-6);
            perp_wrench ground = perp_sim_contact_wrench(w.sim, (perp_body){0});
            near(ground.f_W.x, 0.25 * load, 1e-6);
            // friction at the base is balanced by the normal forces: the box does not tip
            near(i == 0 ? on.tau_W.z : on.tau_W.y, 0.0, 1e-6);
            // the accelerations of the step need nothing else
            for (int n = 0; n < nv; n++) {
                a[n] = (nu1[n] - nu0[n]) / h;
            }
            assert_int_equal(perp_sim_inverse_dynamics(w.sim, a, f), PERP_OK);
            for (int n = 0; n < nv; n++) {
                near(f[n], 0.0, 1e-6);
            }
            a[0] += 1.0;  // 1 m/s^2 more takes 2 N more
            assert_int_equal(perp_sim_inverse_dynamics(w.sim, a, f), PERP_OK);
            near(f[0], 2.0, 1e-6);
        }
        assert_true(perp_sim_contact_force(w.sim, 99).normal == 0.0);
        assert_true(perp_sim_contact_force(w.sim, -1).normal == 0.0);
        assert_true(perp_sim_contact_wrench(w.sim, (perp_body){99}).f_W.x == 0.0);
        close_world(&w);
    }
}

// A ball that bounces in the middle of a step: the mean force over the whole step changes its momentum.
static void forces_of_divided_steps(void **state)
{
    (void)state;
    world w = open_world("{\"stepper\": \"anitescu-potra\", \"shapes\": [{\"kind\": \"halfplane\", "
                         "\"restitution\": 0.5}], "
                         "\"bodies\": [{\"name\": \"d\", \"position\": "
                         "[0, 0.55], \"velocity\": [0, -3], \"mass\": 2, \"inertia\": 1, "
                         "\"shapes\": [{\"kind\": \"disc\", "
                         "\"radius\": 0.5}]}]}");
    double before = -3.0, h = 0.05;
    bool divided = false;
    for (int k = 0; k < 40; k++) {
        assert_true(perp_sim_step(w.sim, h) >= 0);
        divided = divided || perp_sim_info(w.sim)->parts > 1;
        double after = perp_sim_body_twist(w.sim, (perp_body){1}).v_W.y;
        double f = perp_sim_contact_wrench(w.sim, (perp_body){1}).f_W.y;
        near(f, 2.0 * ((after - before) / h + 9.81), 1e-9);
        before = after;
    }
    assert_true(divided);
    close_world(&w);
}

// Free rotation: the torque of the gyroscopic term, and no force, for a body whose angular momentum is constant.
static void inverse_of_a_spinning_body(void **state)
{
    (void)state;
    world w = open_world(
        "{\"bodies\": [{\"kind\": \"solid\", \"mass\": 2, \"inertia\": [2, 3, 4], \"spin\": [1, 2, "
        "3], \"gravity_scale\": 0.5}]}");
    double a[6] = {0}, f[6];
    assert_int_equal(perp_sim_inverse_dynamics(w.sim, a, f), PERP_OK);
    near(f[2], 9.81, 1e-12);                    // half the weight
    near(f[3], 2.0 * 12.0 - 3.0 * 6.0, 1e-12);  // w x I w with I w = (2, 6, 12)
    near(f[4], 3.0 * 2.0 - 1.0 * 12.0, 1e-12);
    near(f[5], 1.0 * 6.0 - 2.0 * 2.0, 1e-12);
    a[2] = -0.5 * 9.81;
    a[3] = -6.0 / 2.0;
    a[4] = 6.0 / 3.0;
    a[5] = -2.0 / 4.0;
    assert_int_equal(perp_sim_inverse_dynamics(w.sim, a, f), PERP_OK);
    for (int k = 0; k < 6; k++) {
        near(f[k], 0.0, 1e-12);
    }
    a[0] = NAN;
    assert_int_equal(perp_sim_inverse_dynamics(w.sim, a, f), PERP_ERR_NUMERIC);
    close_world(&w);
}

// J nu is the velocity of the point: against the places of the point a little later.
static void jacobians(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"gravity\": [0, 0], \"bodies\": [{\"mass\": 1, \"inertia\": 1, \"angle\": 0.4, "
        "\"velocity\": [1, 2], "
        "\"spin\": 3}, {\"kind\": \"particle\", \"mass\": 1, \"position\": [5, 5], \"velocity\": "
        "[1, -1]}, "
        "{\"position\": [9, 9], \"drive\": {\"x\": \"9 + t\", \"angle\": \"2*t\"}}]}",
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, "
        "1, 1], "
        "\"rotation\": {\"axis\": [1, 1, 0], \"angle\": 1}, \"velocity\": [1, 2, 3], \"spin\": [3, "
        "2, 1]}, "
        "{\"kind\": \"point_mass\", \"mass\": 1, \"position\": [5, 5, 5], \"velocity\": [1, -1, "
        "1]}, "
        "{\"kind\": \"solid\", \"position\": [9, 9, 9], \"drive\": {\"z\": \"9 + t\", \"rz\": "
        "\"2*t\"}}]}"};
    const perp_vec3 point = {0.3, -0.2, 0.5};
    for (int i = 0; i < 2; i++) {
        world w = open_world(texts[i]);
        int nq, nv;
        perp_sim_state_size(w.sim, &nq, &nv);
        double *J = malloc(6 * (size_t)nv * sizeof *J), q[16], nu[16], t;
        assert_non_null(J);
        assert_int_equal(perp_sim_state_get(w.sim, &t, q, nu), PERP_OK);
        for (int b = 0; b < 4; b++) {
            perp_twist rate, V = perp_sim_body_twist(w.sim, (perp_body){b});
            perp_pose X = perp_sim_body_pose(w.sim, (perp_body){b});
            assert_int_equal(perp_sim_point_jacobian(w.sim, (perp_body){b}, point, J, &rate),
                             PERP_OK);
            double v[6] = {rate.v_W.x, rate.v_W.y, rate.v_W.z, rate.w_W.x, rate.w_W.y, rate.w_W.z};
            for (int k = 0; k < 6 * nv; k++) {
                v[k % 6] += J[k] * nu[k / 6];
            }
            // v + omega x r with r = R point, the rotation by the quaternion
            perp_vec3 u = {X.rot.x, X.rot.y, X.rot.z}, p = point;
            p.z = i == 0 ? 0.0 : p.z;
            perp_vec3 c = {u.y * p.z - u.z * p.y, u.z * p.x - u.x * p.z, u.x * p.y - u.y * p.x};
            perp_vec3 r = {p.x + 2.0 * (X.rot.w * c.x + u.y * c.z - u.z * c.y),
                           p.y + 2.0 * (X.rot.w * c.y + u.z * c.x - u.x * c.z),
                           p.z + 2.0 * (X.rot.w * c.z + u.x * c.y - u.y * c.x)};
            near(v[0], V.v_W.x + V.w_W.y * r.z - V.w_W.z * r.y, 1e-12);
            near(v[1], V.v_W.y + V.w_W.z * r.x - V.w_W.x * r.z, 1e-12);
            near(v[2], V.v_W.z + V.w_W.x * r.y - V.w_W.y * r.x, 1e-12);
            near(v[3], V.w_W.x, 1e-12);
            near(v[4], V.w_W.y, 1e-12);
            near(v[5], V.w_W.z, 1e-12);
        }
        assert_int_equal(perp_sim_point_jacobian(w.sim, (perp_body){1}, point, J, NULL), PERP_OK);
        assert_int_equal(perp_sim_point_jacobian(w.sim, (perp_body){9}, point, J, NULL),
                         PERP_ERR_ARGUMENT);
        assert_int_equal(perp_sim_point_jacobian(w.sim, (perp_body){1}, point, NULL, NULL),
                         PERP_ERR_ARGUMENT);
        free(J);
        close_world(&w);
    }
}

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

// Whatever fails, nothing is lost, and the sim answers the next question.
static void memory_may_run_out(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_parse("test", space_text, strlen(space_text), NULL, &scene, NULL),
                     PERP_OK);
    fault f = {0};
    perp_env env = fault_env(&f);
    perp_sim *sim = NULL;
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL), PERP_OK);
    perp_ray ray = ray_of(0.0, 0.0, 10.0, 0.0, 0.0, -1.0);
    perp_shape_def ball = perp_shape_default();
    ball.kind = PERP_SHAPE_SPHERE;
    perp_probe probe = perp_probe_default();
    probe.shape = &ball;
    double a[18] = {0}, force[18];
    int live = f.live, failed = 0;
    for (int question = 0; question < 3; question++) {
        bool done = false;
        for (int k = 1; k < 100 && !done; k++) {
            perp_hit hit;
            int count;
            f.calls = 0;
            f.fail_at = k;
            f.happened = false;
            perp_status status = PERP_OK;
            if (question == 0) {
                status = perp_sim_rays(sim, &ray, 1, &hit);
            } else if (question == 1) {
                status = perp_sim_overlap(sim, &probe, NULL, 0, &count, NULL);
            } else {
                status = perp_sim_inverse_dynamics(sim, a, force);
            }
            done = !f.happened;
            failed += !done;
            assert_int_equal(status, done ? PERP_OK : PERP_ERR_MEMORY);
            assert_true(f.live == live && f.confused == 0);
        }
        assert_true(done);
    }
    assert_true(failed >= 4);
    f.fail_at = 0;
    perp_sim_destroy(sim);
    assert_int_equal(f.live, 0);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_shapes),
        cmocka_unit_test(rays_without_sense),
        cmocka_unit_test(tree_finds_the_same),
        cmocka_unit_test(distances),
        cmocka_unit_test(special_distances),
        cmocka_unit_test(meshes_as_hulls),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(probes_without_sense),
        cmocka_unit_test(contact_forces),
        cmocka_unit_test(forces_of_divided_steps),
        cmocka_unit_test(inverse_of_a_spinning_body),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
