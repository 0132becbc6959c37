// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Gravity scaled body by body: as another gravity where all bodies have the same scale, by closed forms otherwise, in
// every scheme and in both coordinates.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// A double pendulum and a disc that bounces, slides and rolls on the floor. %s: gravity, then a field of each body.
static const char plane_text[] =
    "{\"gravity\": [0, %g], \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", "
    "\"restitution\": 0.5}],"
    " \"bodies\": [{\"name\": \"upper\", \"position\": [0.5, 3], \"mass\": 1, \"inertia\": 0.1, "
    "\"gravity_scale\": %g},"
    " {\"name\": \"lower\", \"position\": [1.5, 3], \"mass\": 2, \"inertia\": 0.2, "
    "\"gravity_scale\": %g},"
    " {\"name\": \"disc\", \"position\": [4, 0.6], \"velocity\": [1, 0], \"gravity_scale\": %g,"
    " \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"density\": 1}]}],"
    " \"joints\": [{\"kind\": \"revolute\", \"b\": \"upper\", \"at\": [0, 3]},"
    " {\"kind\": \"revolute\", \"a\": \"upper\", \"b\": \"lower\", \"at\": [1, 3]}]}";
static const char space_text[] =
    "{\"gravity\": [0, 0, %g], \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", "
    "\"restitution\": 0.5}],"
    " \"bodies\": [{\"name\": \"upper\", \"kind\": \"solid\", \"position\": [0.5, 0, 3], \"mass\": "
    "1,"
    " \"inertia\": [0.1, 0.1, 0.2], \"gravity_scale\": %g},"
    " {\"name\": \"lower\", \"kind\": \"solid\", \"position\": [1.5, 0, 3], \"mass\": 2, "
    "\"inertia\": [0.2, 0.3, 0.2],"
    " \"gravity_scale\": %g},"
    " {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [4, 0, 0.6], \"velocity\": [1, 0, 0],"
    " \"gravity_scale\": %g, \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5, \"density\": "
    "1}]}],"
    " \"joints\": [{\"kind\": \"spherical\", \"b\": \"upper\", \"at\": [0, 0, 3]},"
    " {\"kind\": \"revolute\", \"a\": \"upper\", \"b\": \"lower\", \"at\": [1, 0, 3], \"axis\": "
    "[0, 1, 0]}]}";

typedef struct outcome {
    uint64_t hash;
    perp_energy energy;
} outcome;

enum { SCHEMES = 6, STEPS = 100 };
static const double H = 0.003;  // [s]; the drift of joints of anitescu-potra stays within its limit
static const struct {
    perp_stepper stepper;
    perp_coordinates coordinates;
    perp_positions positions;
} scheme[SCHEMES] = {
    {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR},
    {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY, PERP_POSITIONS_EXACT},
    {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT, PERP_POSITIONS_LINEAR},
    {PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR},
    {PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_JOINT, PERP_POSITIONS_LINEAR},
    {PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR},
};

static perp_scene *scene_of(const char *format, double g, const double scale[3])
{
    char text[2048];
    snprintf(text, sizeof text, format, g, scale[0], scale[1], scale[2]);
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse("test", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

// Every certificate on the way passes.
static outcome run(const perp_scene *scene, int which)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = scheme[which].stepper;
    def.coordinates = scheme[which].coordinates;
    def.positions = scheme[which].positions;
    perp_sim *sim = NULL;
    perp_error error;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("scheme %d: %s", which, error.text);
    }
    for (int k = 0; k < STEPS; k++) {
        assert_true(perp_sim_step(sim, H) >= 0);
        if (!perp_sim_info(sim)->certificate.passed) {
            fail_msg("scheme %d, step %d: %s", which, k, perp_sim_info(sim)->remark);
        }
    }
    outcome out = {perp_sim_state_hash(sim), perp_sim_info(sim)->energy};
    perp_sim_destroy(sim);
    return out;
}

// Powers of two scale without rounding: the same bits.
static void all_scaled_is_another_gravity(void **state)
{
    (void)state;
    static const double scales[] = {0.0, 0.5, 1.0, 2.0, -1.0}, one[3] = {1.0, 1.0, 1.0};
    static const char *const texts[] = {plane_text, space_text};
    for (int k = 0; k < SCHEMES; k++) {
        for (int i = 0; i < 10; i++) {
            double s = scales[i / 2];
            perp_scene *plain = scene_of(texts[i % 2], -9.75 * s, one);
            perp_scene *scaled = scene_of(texts[i % 2], -9.75, (const double[]){s, s, s});
            outcome a = run(plain, k), b = run(scaled, k);
            assert_true(a.hash == b.hash);
            assert_true(a.energy.potential == b.energy.potential);
            assert_true(a.energy.kinetic == b.energy.kinetic);
            perp_scene_destroy(plain);
            perp_scene_destroy(scaled);
        }
    }
}

// Bodies of different weights: certificates and the check of the recording, which use code of their own.
static void different_scales_pass_all_checks(void **state)
{
    (void)state;
    static const double scale[3] = {0.0, 1.5, 0.25};
    static const char *const texts[] = {plane_text, space_text};
    folder f = folder_create();
    for (int i = 0; i < 2; i++) {
        char text[2048];
        perp_scene *scene = scene_of(texts[i], -9.81, scale);
        snprintf(text, sizeof text, texts[i], -9.81, scale[0], scale[1], scale[2]);
        for (int k = 0; k < SCHEMES; k++) {
            run(scene, k);
            recorded_run how = {.stepper = scheme[k].stepper, .h = H, .steps = STEPS};
            recorded_counts counts = recorded_scene(text, folder_at(&f, "run"), how);
            assert_int_equal(counts.violated, 0);
            assert_true(recorded_check(folder_at(&f, "run")).passed);
        }
        perp_scene_destroy(scene);
    }
    folder_remove(&f);
}

// Free flight: v = v0 + s g t, and x by the sum of the steps; the potential is -s m g . x.
static void falls_by_its_scale(void **state)
{
    (void)state;
    static const double scale[3] = {1.0, 1.0, -0.5};
    perp_scene *scene = scene_of(plane_text, -8.0, scale);
    const perp_model *m = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_body disc = perp_model_body(m, "disc");
    assert_true(perp_model_gravity_scale(m, disc) == -0.5);
    assert_true(perp_model_gravity_scale(m, (perp_body){99}) == 0.0);
    assert_int_equal(perp_sim_create(m, &def, NULL, &sim, NULL), PERP_OK);
    double h = 1.0 / 64.0;
    for (int k = 0; k < 64; k++) {
        assert_int_equal(perp_sim_step(sim, h), PERP_OK);
    }
    assert_true(fabs(perp_sim_body_twist(sim, disc).v_W.y - 4.0) < 1e-12);
    assert_true(fabs(perp_sim_body_position(sim, disc).y - (0.6 + 2.0 + 2.0 * h)) < 1e-12);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// In joint coordinates: the torque that holds two rods is that of their weights.
static void holding_torques(void **state)
{
    (void)state;
    static const double scale[3] = {0.0, 0.5, 1.0};
    perp_scene *scene = scene_of(plane_text, -10.0, scale);
    perp_tree *tree = NULL;
    assert_int_equal(perp_tree_create(perp_scene_model(scene), NULL, 0, NULL, &tree, NULL),
                     PERP_OK);
    double C[8];
    int nq, nv;
    perp_tree_size(tree, &nq, &nv);
    assert_true(nv == 5);
    perp_tree_bias(tree, C);
    int links;
    const perp_link *link = perp_tree_links(tree, &links);
    for (int k = 0; k < links; k++) {
        const char *name = perp_model_body_name(perp_scene_model(scene), link[k].body);
        double got = C[link[k].at_v];
        if (strcmp(name, "upper") == 0) {
            assert_true(fabs(got - 2.0 * 0.5 * 10.0 * 1.5) < 1e-12);
        } else if (strcmp(name, "lower") == 0) {
            assert_true(fabs(got - 2.0 * 0.5 * 10.0 * 0.5) < 1e-12);
        }
    }
    double mass = perp_model_mass(perp_scene_model(scene), (perp_body){3});
    assert_true(fabs(perp_tree_potential(tree) - (10.0 * 3.0 + 10.0 * 0.6 * mass)) < 1e-12);
    perp_tree_destroy(tree);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_scaled_is_another_gravity),
        cmocka_unit_test(different_scales_pass_all_checks),
        cmocka_unit_test(falls_by_its_scale),
        cmocka_unit_test(holding_torques),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
