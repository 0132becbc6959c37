// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Models written as scenes: every scene and generator, and models built in C, are read back to equal models, whose runs
// are equal bit for bit.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/random_space.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100 };

// Both runs take the same steps, or fail in the same one.
static void expect_same_runs(const char *name, const perp_scene *a, const perp_scene *b)
{
    perp_sim *sim[2] = {NULL, NULL};
    perp_error error[2] = {{0}, {0}};
    const perp_scene *scene[2] = {a, b};
    perp_status status[2];
    double h = perp_scene_step(a);
    for (int k = 0; k < 2; k++) {
        perp_sim_def def = perp_scene_sim_def(scene[k]);
        status[k] = perp_sim_create(perp_scene_model(scene[k]), &def, NULL, &sim[k], &error[k]);
    }
    assert_int_equal(status[0], status[1]);
    assert_true(perp_scene_step(b) == h && perp_scene_until(a) == perp_scene_until(b));
    for (int i = 0; i < STEPS; i++) {
        if (status[0] < 0) {
            break;
        }
        status[0] = perp_sim_step(sim[0], h);
        status[1] = perp_sim_step(sim[1], h);
        if (status[0] != status[1] || perp_sim_state_hash(sim[0]) != perp_sim_state_hash(sim[1])) {
            fail_msg("%s: step %d differs: %s, %s", name, i, perp_sim_error(sim[0])->text,
                     perp_sim_error(sim[1])->text);
        }
    }
    perp_sim_destroy(sim[0]);
    perp_sim_destroy(sim[1]);
}

static void expect_round_trip(const char *name, const perp_scene *scene)
{
    perp_scene *again = NULL;
    perp_error error = {0};
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_scene_settings settings = perp_scene_settings_default();
    settings.name = perp_scene_name(scene);
    settings.description = perp_scene_description(scene);
    settings.sim = &def;
    settings.step = perp_scene_step(scene);
    settings.until = perp_scene_until(scene);
    settings.interval = perp_scene_interval(scene);
    if (perp_scene_create(perp_scene_model(scene), &settings, NULL, &again, &error) < 0) {
        fail_msg("%s: %d:%d: %s", name, error.line, error.column, error.text);
    }
    assert_string_equal(perp_scene_name(again), perp_scene_name(scene));
    assert_string_equal(perp_scene_description(again), perp_scene_description(scene));
    expect_same_runs(name, scene, again);
    perp_scene_destroy(again);
}

static void scenes_in(const char *from, int at_least)
{
    DIR *dir = opendir(from);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        perp_scene *scene = NULL;
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        if (!strstr(entry->d_name, ".json") || strstr(entry->d_name, "schema") ||
            perp_scene_load(path, NULL, &scene, NULL) < 0) {
            continue;
        }
        expect_round_trip(path, scene);
        perp_scene_destroy(scene);
        count++;
    }
    closedir(dir);
    assert_true(count >= at_least);
}

static void scenes_come_back(void **state)
{
    (void)state;
    scenes_in("scenes", 70);
    scenes_in("fuzz/corpus/scene", 5);
}

static void generated_scenes_come_back(void **state)
{
    (void)state;
    for (int k = 0; k < perp_generator_count(); k++) {
        const char *name = perp_generator_at(k)->name;
        perp_scene *scene = NULL;
        assert_int_equal(perp_scene_generate(name, NULL, 0, NULL, &scene, NULL), PERP_OK);
        perp_scene *again = NULL;
        perp_error error = {0};
        if (perp_scene_create(perp_scene_model(scene), NULL, NULL, &again, &error) < 0) {
            fail_msg("%s: %d:%d: %s", name, error.line, error.column, error.text);
        }
        perp_scene_destroy(again);
        perp_scene_destroy(scene);
    }
}

// Shapes of bodies before those of the ground, names without their body, objects without names.
static void models_built_in_c_are_written(void **state)
{
    (void)state;
    folder place = folder_create();
    plane p = {0};
    perp_scene *scene = NULL;
    perp_error error = {0};
    plane_open(&p);
    perp_body_def def = plane_body(1.0, 1.0 / 6.0, 0.1, 0.6, 0.3);
    def.velocity_W.x = 1.0;
    perp_body block = perp_builder_add_body(p.builder, &def);
    plane_box(&p, block, 0.5, 1.0 / 3.0, 0.3);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.1, 0.3);
    def = plane_particle(0.5, 5.0, 2.0);
    def.name = "bob \"quoted\" \\ \xc3\xa9";
    perp_body bob = perp_builder_add_body(p.builder, &def);
    plane_pin(&p, block, (perp_vec3){0.1, 0.0, 0.0}, PLANE_GROUND, (perp_vec3){0.2, 0.6, 0.0});
    perp_force_def force = perp_force_default();
    force.b = bob;
    force.fx = "-0.1*vx + sin(t)";
    force.fy = "2.5";
    perp_builder_add_force(p.builder, &force);
    perp_builder_add_exclusion(p.builder, block, bob);
    plane_start(&p);
    const char *path = folder_at(&place, "model.json");
    assert_int_equal(perp_model_write(p.model, NULL, path, &error), PERP_OK);
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &p.def, NULL, &sim, &error), PERP_OK);
    for (int i = 0; i < STEPS; i++) {
        plane_step(&p, 0.01);
        assert_true(perp_sim_step(sim, 0.01) >= 0);
        assert_true(perp_sim_state_hash(sim) == perp_sim_state_hash(p.sim));
    }
    assert_string_equal(perp_model_shape_name(perp_scene_model(scene), (perp_shape){0}),
                        perp_model_shape_name(p.model, (perp_shape){0}));
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    plane_close(&p);
    folder_remove(&place);
}

// Models of bodies, joints of every kind, drives and belts, in the plane and in space.
static void random_models_come_back(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++) {
        plane p = {0};
        rng r = rng_seed((uint64_t)k + 1);
        perp_scene *scene = NULL;
        perp_error error = {0};
        random_scene_options options = {.bodies = 6,
                                        .ground = true,
                                        .joints = k % 4 < 2,
                                        .drives = true,
                                        .moments = true,
                                        .facets = k % 8 == 1 ? 6 : 0,
                                        .mu_most = 0.8,
                                        .speed = 1.0};
        plane_open(&p);
        if (k % 2) {
            random_space(&p, &r, &options);
        } else {
            random_scene(&p, &r, &options);
        }
        plane_start(&p);
        if (perp_scene_create(p.model, NULL, NULL, &scene, &error) < 0) {
            fail_msg("seed %d: %d:%d: %s", k, error.line, error.column, error.text);
        }
        perp_sim *sim = NULL;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &p.def, NULL, &sim, &error),
                         PERP_OK);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(perp_sim_step(p.sim, 0.005), perp_sim_step(sim, 0.005));
            assert_true(perp_sim_state_hash(sim) == perp_sim_state_hash(p.sim));
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
        plane_close(&p);
    }
}

// Recorded without a text: the recording has that of the model, and is judged completely.
static void recordings_of_built_models_are_judged(void **state)
{
    (void)state;
    folder place = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, place.path, 1);
    recorded_steps(&p, record, 50);
    recorded_finish(&p, record);
    perp_check check = recorded_check(place.path);
    assert_true(check.passed && !check.partly);
    plane_close(&p);
    folder_remove(&place);
}

static void what_no_scene_has_is_refused(void **state)
{
    (void)state;
    plane p = {0};
    perp_scene *scene = NULL;
    perp_error error = {0};
    plane_open(&p);
    perp_body_def def = plane_body(1.0, 1.0, 0.0, 0.0, 0.0);
    def.name = "body{i}";
    perp_builder_add_body(p.builder, &def);
    plane_start(&p);
    assert_int_equal(perp_scene_create(p.model, NULL, NULL, &scene, &error), PERP_ERR_MODEL);
    assert_null(scene);
    assert_non_null(strstr(error.text, "braces"));
    assert_int_equal(perp_model_write(p.model, NULL, "/nonexistent/x.json", &error),
                     PERP_ERR_MODEL);
    perp_scene_settings zero = {0};
    assert_int_equal(perp_scene_create(p.model, &zero, NULL, &scene, &error), PERP_ERR_DEF);
    assert_int_equal(perp_scene_create(NULL, NULL, NULL, &scene, &error), PERP_ERR_ARGUMENT);
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_come_back),
        cmocka_unit_test(generated_scenes_come_back),
        cmocka_unit_test(models_built_in_c_are_written),
        cmocka_unit_test(random_models_come_back),
        cmocka_unit_test(recordings_of_built_models_are_judged),
        cmocka_unit_test(what_no_scene_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
