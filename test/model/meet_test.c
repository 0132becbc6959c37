// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shapes may meet, and how many pairs are left out for which reason.
#include "model/model.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static perp_scene *scene_of(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse("test", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

static pp_pair_filter meeting(const perp_scene *scene, const char *a, const char *b)
{
    const perp_model *m = perp_scene_model(scene);
    assert_true(perp_model_shape(m, a).i >= 0 && perp_model_shape(m, b).i >= 0);
    return pp_model_pair_filter(m, perp_model_shape(m, a).i, perp_model_shape(m, b).i);
}

#define PENDULUM(option)                                                                           \
    "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\"}, {\"name\": \"block\", "         \
    "\"kind\": \"box\", \"size\": [0.1, 0.1], \"position\": [0, 0.3]}], \"bodies\": [{\"name\": "  \
    "\"rod\", \"position\": [0.5, 0.3], \"mass\": 1, \"inertia\": 0.1, \"shapes\": [{\"name\": "   \
    "\"bar\", \"kind\": \"capsule\", \"length\": 1, \"radius\": 0.02}]}], \"joints\": "            \
    "[{\"kind\": \"revolute\", \"b\": \"rod\", \"at\": [0, 0.3]" option "}]}"

static void floor_is_no_bearing(void **state)
{
    (void)state;
    perp_scene *by_rule = scene_of(PENDULUM("")),
               *always = scene_of(PENDULUM(", \"collide\": true")),
               *never = scene_of(PENDULUM(", \"collide\": false"));
    assert_int_equal(meeting(by_rule, "rod.bar", "floor"), PP_PAIR_COLLIDES);
    assert_int_equal(meeting(by_rule, "rod.bar", "block"), PP_PAIR_JOINED);
    assert_int_equal(meeting(always, "rod.bar", "floor"), PP_PAIR_COLLIDES);
    assert_int_equal(meeting(always, "rod.bar", "block"), PP_PAIR_COLLIDES);
    assert_int_equal(meeting(never, "rod.bar", "floor"), PP_PAIR_JOINED);
    assert_int_equal(meeting(never, "rod.bar", "block"), PP_PAIR_JOINED);
    assert_int_equal(perp_model_excluded_pairs(perp_scene_model(by_rule)).joined, 1);
    assert_int_equal(perp_model_excluded_pairs(perp_scene_model(always)).joined, 0);
    assert_int_equal(perp_model_excluded_pairs(perp_scene_model(never)).joined, 2);
    perp_scene_destroy(by_rule);
    perp_scene_destroy(always);
    perp_scene_destroy(never);
}

// It swung through the floor without a contact.
static void rod_hits_the_floor(void **state)
{
    (void)state;
    perp_scene *scene = scene_of(PENDULUM(""));
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    double lowest = 1.0;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 500; k++) {
        assert_true(perp_sim_step(sim, 0.002) >= 0);
        perp_body rod = perp_model_body(perp_scene_model(scene), "rod");
        double angle = perp_sim_body_angle(sim, rod), y = perp_sim_body_position(sim, rod).y;
        double end = y + 0.5 * sin(angle) - 0.02;
        lowest = end < lowest ? end : lowest;
    }
    assert_true(lowest > -1e-4 && lowest < 1e-3);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A bearing in every kind of solid, and one beside it.
static void fastened_in_space(void **state)
{
    (void)state;
    static const char *const solids[] = {
        "\"kind\": \"box\", \"size\": [0.4, 0.4, 0.4]",
        "\"kind\": \"sphere\", \"radius\": 0.2",
        "\"kind\": \"cylinder\", \"radius\": 0.2, \"length\": 0.4",
        "\"kind\": \"capsule\", \"radius\": 0.2, \"length\": 0.1",
        "\"kind\": \"cone\", \"radius\": 0.4, \"length\": 0.4",
        "\"kind\": \"ellipsoid\", \"radii\": [0.2, 0.3, 0.2]",
        "\"kind\": \"hull\", \"vertices\": [[-0.2, -0.2, -0.2], [0.5, 0, 0], [0, 0.5, 0], [0, 0, "
        "0.5]]",
        "\"kind\": \"mesh\", \"vertices\": [[-0.2, -0.2, -0.2], [0.5, 0, 0], [0, 0.5, 0], [0, 0, "
        "0.5]], "
        "\"triangles\": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]"};
    for (size_t k = 0; k < sizeof solids / sizeof *solids; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"shapes\": [{\"name\": \"in\", %s, \"position\": [1, 2, 3]}, {\"name\": "
                 "\"off\", %s, "
                 "\"position\": [2, 2, 3]}], \"bodies\": [{\"kind\": \"solid\", \"name\": \"b\", "
                 "\"position\": [1, "
                 "2, 2], \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [{\"name\": \"ball\", "
                 "\"kind\": "
                 "\"sphere\", \"radius\": 0.1}]}], \"joints\": [{\"kind\": \"spherical\", \"b\": "
                 "\"b\", \"at\": [1, 2, "
                 "3]}]}",
                 solids[k], solids[k]);
        perp_scene *scene = scene_of(text);
        assert_int_equal(meeting(scene, "b.ball", "in"), PP_PAIR_JOINED);
        assert_int_equal(meeting(scene, "b.ball", "off"), PP_PAIR_COLLIDES);
        perp_scene_destroy(scene);
    }
}

// ── Groups and excluded bodies ───────────────────────────────────────────────────────────────────

// Named bits and numbers, a rule that overrides them, and the count of each reason.
static void groups_keep_apart(void **state)
{
    (void)state;
    static const char *const kinds[2][2] = {
        {"\"kind\": \"body\"", "\"kind\": \"disc\", \"radius\": 1"},
        {"\"kind\": \"solid\"", "\"kind\": \"sphere\", \"radius\": 1"}};
    for (int k = 0; k < 2; k++) {
        const char *body = kinds[k][0], *shape = kinds[k][1];
        const char *inertia = k == 0 ? "1" : "[1, 1, 1]";
        char text[2048];
        snprintf(text, sizeof text,
                 "{\"groups\": [\"a\", \"b\", \"c\"], \"exclude\": [[\"x\", \"w\"]], \"bodies\": ["
                 "{\"name\": \"x\", %s, \"mass\": 1, \"inertia\": %s, \"shapes\": [{\"name\": "
                 "\"s\", %s}]},"
                 "{\"name\": \"y\", %s, \"mass\": 1, \"inertia\": %s, \"shapes\": [{\"name\": "
                 "\"s\", %s, "
                 "\"group\": [\"b\", \"c\"], \"mask\": []}]},"
                 "{\"name\": \"z\", %s, \"mass\": 1, \"inertia\": %s, \"shapes\": [{\"name\": "
                 "\"s\", %s, "
                 "\"group\": 0, \"mask\": 4}]},"
                 "{\"name\": \"w\", %s, \"mass\": 1, \"inertia\": %s, \"shapes\": [{\"name\": "
                 "\"s\", %s, "
                 "\"group\": 4294967295, \"mask\": 4294967295}]}],"
                 "\"pairs\": [{\"a\": \"x\", \"b\": \"y\", \"mu\": 1}]}",
                 body, inertia, shape, body, inertia, shape, body, inertia, shape, body, inertia,
                 shape);
        perp_scene *scene = scene_of(text);
        // the rule of the pair overrides the mask
        assert_int_equal(meeting(scene, "x.s", "y.s"), PP_PAIR_COLLIDES);
        assert_int_equal(meeting(scene, "x.s", "z.s"), PP_PAIR_MASKED);
        assert_int_equal(meeting(scene, "y.s", "z.s"), PP_PAIR_COLLIDES);
        assert_int_equal(meeting(scene, "y.s", "w.s"), PP_PAIR_COLLIDES);
        assert_int_equal(meeting(scene, "x.s", "w.s"), PP_PAIR_EXCLUDED);
        perp_excluded_pairs out = perp_model_excluded_pairs(perp_scene_model(scene));
        assert_int_equal(out.masked, 1);
        assert_int_equal(out.excluded, 1);
        perp_scene_destroy(scene);
    }
}

// A body that falls on a floor it does not meet falls through; both checks of the step agree.
static void masked_bodies_pass_through(void **state)
{
    (void)state;
    perp_scene *scene = scene_of(
        "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"group\": 2, \"mask\": 2}], "
        "\"exclude\": [[\"b\", \"c\"]], \"bodies\": ["
        "{\"name\": \"a\", \"position\": [0, 0.6], \"shapes\": [{\"kind\": \"disc\", \"radius\": "
        "0.5, "
        "\"density\": 1}]},"
        "{\"name\": \"b\", \"position\": [3, 0.6], \"shapes\": [{\"kind\": \"disc\", \"radius\": "
        "0.5, "
        "\"density\": 1, \"mask\": 3}]},"
        "{\"name\": \"c\", \"position\": [3, 1.2], \"shapes\": [{\"kind\": \"disc\", \"radius\": "
        "0.5, "
        "\"density\": 1, \"group\": 3}]}]}");
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        assert_true(perp_sim_info(sim)->certificate.passed);
    }
    const perp_model *m = perp_scene_model(scene);
    assert_true(perp_sim_body_position(sim, perp_model_body(m, "a")).y < -3.0);
    assert_true(fabs(perp_sim_body_position(sim, perp_model_body(m, "b")).y - 0.5) < 1e-6);
    assert_true(fabs(perp_sim_body_position(sim, perp_model_body(m, "c")).y - 0.5) < 1e-6);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void exclusions_need_two_bodies(void **state)
{
    (void)state;
    static const int wrong[][2] = {{0, 0}, {1, 1}, {-1, 0}, {0, 7}};
    perp_error error;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_body_def def = perp_body_default();
        def.mass = def.inertia_zz = 1.0;
        perp_builder_add_body(b, &def);
        perp_builder_add_exclusion(b, (perp_body){wrong[k][0]}, (perp_body){wrong[k][1]});
        assert_int_equal(perp_builder_status(b, &error), PERP_ERR_MODEL);
        perp_builder_destroy(b);
    }
    perp_builder_add_exclusion(NULL, (perp_body){0}, (perp_body){1});
}

// ── Friction of pairs ────────────────────────────────────────────────────────────────────────────

static void friction_is_combined(void **state)
{
    (void)state;
    const perp_combine plain = PERP_COMBINE_DEFAULT, mean = PERP_COMBINE_GEOMETRIC,
                       least = PERP_COMBINE_MIN, most = PERP_COMBINE_MAX;
    const struct {
        perp_combine a, b;
        int priority_a, priority_b;
        double mu, spin;
    } want[] = {{plain, plain, 0, 0, 0.4, 0.5},
                {mean, plain, 0, 0, 0.4, 0.1},
                {plain, least, 0, 0, 0.2, 0.02},
                {mean, least, 3, 3, 0.2, 0.02},
                {most, least, 0, 0, 0.8, 0.5},
                {most, plain, -1, -1, 0.8, 0.5},
                {most, most, 1, 2, 0.8, 0.02},
                {least, least, 0, -5, 0.2, 0.5},
                {plain, plain, INT32_MAX, INT32_MIN, 0.2, 0.5}};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        perp_builder *b = perp_builder_create(NULL);
        for (int i = 0; i < 2; i++) {
            perp_body_def def = perp_body_default();
            def.kind = PERP_BODY_SPATIAL;
            def.mass = def.inertia_B[0] = def.inertia_B[1] = def.inertia_B[2] = 1.0;
            perp_shape_def shape = perp_shape_default();
            shape.kind = PERP_SHAPE_SPHERE;
            shape.mu = i == 0 ? 0.2 : 0.8;
            shape.mu_spin = shape.mu_roll = i == 0 ? 0.5 : 0.02;
            shape.combine = i == 0 ? want[k].a : want[k].b;
            shape.priority = i == 0 ? want[k].priority_a : want[k].priority_b;
            perp_builder_add_shape(b, perp_builder_add_body(b, &def), &shape);
        }
        perp_model *m = NULL;
        assert_int_equal(perp_model_create(b, &m, NULL), PERP_OK);
        for (int i = 0; i < 2; i++) {
            pp_pair_rule pair;
            pp_model_pair(m, i, 1 - i, &pair);
            assert_true(fabs(pair.mu - want[k].mu) < 1e-15);
            assert_true(fabs(pair.mu_spin - want[k].spin) < 1e-15);
            assert_true(pair.mu_roll == pair.mu_spin);
        }
        perp_model_destroy(m);
        perp_builder_destroy(b);
    }
    assert_string_equal(perp_combine_word(PERP_COMBINE_MAX), "max");
    assert_null(perp_combine_word(PERP_COMBINE_MAX + 1));
    assert_null(perp_combine_word(-1));
}

// ── Counts ───────────────────────────────────────────────────────────────────────────────────────

static perp_model *random_model(rng *r)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_model *model = NULL;
    int bodies = 1 + rng_below(r, 6), shapes = 0;
    bool masks = rng_below(r, 3) > 0;
    for (int i = 0; i <= bodies; i++) {
        perp_body body = {0};
        if (i > 0) {
            perp_body_def def = perp_body_default();
            def.motion = rng_below(r, 3) ? PERP_MOTION_DYNAMIC : PERP_MOTION_STATIC;
            def.position_W = (perp_vec3){rng_uniform(r, -2.0, 2.0), rng_uniform(r, -2.0, 2.0), 0.0};
            def.mass = def.inertia_zz = 1.0;
            body = perp_builder_add_body(b, &def);
        }
        for (int k = rng_below(r, 4); k > 0; k--) {
            perp_shape_def def = perp_shape_default();
            def.kind = PERP_SHAPE_DISC;
            def.radius = rng_uniform(r, 0.1, 1.0);
            def.detect = rng_below(r, 5) > 0;
            if (masks) {
                def.group = (uint32_t)rng_below(r, 4) << (rng_below(r, 2) ? 30 : 0);
                def.mask = (uint32_t)rng_below(r, 4) << (rng_below(r, 2) ? 30 : 0);
            }
            perp_builder_add_shape(b, body, &def);
            shapes++;
        }
    }
    for (int k = rng_below(r, 5); k > 0; k--) {
        perp_joint_def def = perp_joint_default();
        def.a = (perp_body){rng_below(r, bodies)};
        def.b = (perp_body){def.a.i + 1 + rng_below(r, bodies - def.a.i)};
        def.collide = (perp_collide)rng_below(r, 3);
        perp_builder_add_joint(b, &def);
    }
    for (int k = shapes > 1 ? rng_below(r, 4) : 0; k > 0; k--) {
        perp_pair_def def = perp_pair_default();
        def.a = (perp_shape){rng_below(r, shapes - 1)};
        def.b = (perp_shape){def.a.i + 1};
        def.ignore = rng_below(r, 2);
        perp_builder_add_pair(b, &def);
    }
    for (int k = rng_below(r, 4); k > 0; k--) {
        int a = rng_below(r, bodies + 1), other = rng_below(r, bodies + 1);
        if (a != other) {
            perp_builder_add_exclusion(b, (perp_body){a}, (perp_body){other});
        }
    }
    perp_builder_set_listed_only(b, rng_below(r, 8) == 0);
    perp_error error;
    if (perp_model_create(b, &model, &error) < 0) {
        model = NULL;  // a pair of one body, two bodies that are fixed: not asked for here
    }
    perp_builder_destroy(b);
    return model;
}

static void counted_one_by_one(void **state)
{
    (void)state;
    int models = 0;
    int64_t masked = 0, excluded = 0;
    FOR_SEEDS(seed, 400)
    {
        rng r = rng_seed(seed);
        perp_model *m = random_model(&r);
        if (!m) {
            continue;
        }
        int64_t count[PP_PAIR_JOINED + 1] = {0};
        for (int a = 0; a < m->shapes; a++) {
            for (int b = a + 1; b < m->shapes; b++) {
                count[pp_model_pair_filter(m, a, b)]++;
                CHECK(pp_model_pair_filter(m, a, b) == pp_model_pair_filter(m, b, a), seed);
            }
        }
        perp_excluded_pairs out = perp_model_excluded_pairs(m);
        CHECK(out.not_dynamic == count[PP_PAIR_NOT_DYNAMIC], seed);
        CHECK(out.listed_only == count[PP_PAIR_LISTED_ONLY], seed);
        CHECK(out.not_detected == count[PP_PAIR_NOT_DETECTED], seed);
        CHECK(out.ignored == count[PP_PAIR_IGNORED], seed);
        CHECK(out.masked == count[PP_PAIR_MASKED], seed);
        CHECK(out.excluded == count[PP_PAIR_EXCLUDED], seed);
        masked += out.masked;
        excluded += out.excluded;
        CHECK(out.joined == count[PP_PAIR_JOINED], seed);
        models++;
        perp_model_destroy(m);
    }
    assert_true(models > 100 && masked > 100 && excluded > 20);
}

// A shape knows its body and its colour, which is that of the body unless it has its own.
static void shapes_have_bodies_and_colours(void **state)
{
    (void)state;
    perp_scene *scene = scene_of(
        "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\"}], \"bodies\": [{\"name\": "
        "\"cart\", \"mass\": 1, \"inertia\": 1, \"colour\": \"#102030\", \"shapes\": [{\"name\": "
        "\"a\", "
        "\"kind\": \"disc\", \"radius\": 1}, {\"name\": \"b\", \"kind\": \"disc\", \"radius\": 1, "
        "\"colour\": \"#ff0000\"}]}]}");
    const perp_model *m = perp_scene_model(scene);
    perp_shape floor = perp_model_shape(m, "floor"), a = perp_model_shape(m, "cart.a"),
               b = perp_model_shape(m, "cart.b");
    assert_int_equal(perp_model_shape_body(m, floor).i, 0);
    assert_int_equal(perp_model_shape_body(m, a).i, perp_model_body(m, "cart").i);
    assert_int_equal(perp_model_shape_body(m, (perp_shape){3}).i, -1);
    assert_int_equal(perp_model_shape_body(m, (perp_shape){-1}).i, -1);
    assert_int_equal(perp_model_shape_colour(m, floor), -1);
    assert_int_equal(perp_model_shape_colour(m, a), 0x102030);
    assert_int_equal(perp_model_shape_colour(m, b), 0xff0000);
    assert_int_equal(perp_model_shape_colour(m, (perp_shape){3}), -1);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floor_is_no_bearing),
        cmocka_unit_test(rod_hits_the_floor),
        cmocka_unit_test(fastened_in_space),
        cmocka_unit_test(groups_keep_apart),
        cmocka_unit_test(masked_bodies_pass_through),
        cmocka_unit_test(exclusions_need_two_bodies),
        cmocka_unit_test(friction_is_combined),
        cmocka_unit_test(counted_one_by_one),
        cmocka_unit_test(shapes_have_bodies_and_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
