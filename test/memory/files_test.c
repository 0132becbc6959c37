// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes, problems and recordings read and written while allocations fail, one place of the code after another:
// PERP_ERR_MEMORY, nothing returned, no block lost.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/sites.h"

#include <dirent.h>
#include <perp/io.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 4 };

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

static perp_status load_scene(const perp_env *env, void *user)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_load(user, env, &scene, &error);
    assert_true((status >= 0) == (scene != NULL));
    assert_true(status >= 0 || error.text[0]);
    if (status >= 0) {  // and written again
        perp_scene *again = NULL;
        status = perp_scene_create(perp_scene_model(scene), NULL, env, &again, &error);
        assert_true((status >= 0) == (again != NULL));
        perp_scene_destroy(again);
    }
    perp_scene_destroy(scene);
    return status;
}

static perp_status load_import(const perp_env *env, void *user)
{
    perp_import *import = NULL;
    perp_error error = {0};
    perp_status status = perp_import_load(user, NULL, env, &import, &error);
    assert_true((status >= 0) == (import != NULL));
    assert_true(status >= 0 || error.text[0]);
    perp_import_destroy(import);
    return status;
}

static perp_status load_model(const perp_env *env, void *user)
{
    perp_model *model = NULL;
    perp_error error = {0};
    perp_status status = perp_model_load(user, NULL, env, &model, &error);
    assert_true((status >= 0) == (model != NULL));
    assert_true(status >= 0 || error.text[0]);
    perp_model_destroy(model);
    return status;
}

static perp_status generate_scene(const perp_env *env, void *user)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_generate(user, NULL, 0, env, &scene, &error);
    assert_true((status >= 0) == (scene != NULL));
    assert_true(status >= 0 || error.text[0]);
    perp_scene_destroy(scene);
    return status;
}

static void scenes(void **state)
{
    (void)state;
    char path[100];
    // Seeds of the fuzzer have every key (scene/schema).
    DIR *dir = opendir("fuzz/corpus/scene");
    assert_non_null(dir);
    int seeds = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strstr(entry->d_name, ".json") && strcmp(entry->d_name, "escapes.json") != 0) {
            snprintf(path, sizeof path, "fuzz/corpus/scene/%.60s", entry->d_name);
            assert_true(sites_walk(path, load_scene, path, DEPTH) > 5);
            seeds++;
        }
    }
    closedir(dir);
    assert_true(seeds > 15);
    static const char *const paths[] = {
        "scenes/windows-2.json", "scenes/mesh-ramp.json",      "scenes/andrews-squeezer.json",
        "scenes/pusher.json",    "scenes/tedrake-driven.json",
    };
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        snprintf(path, sizeof path, "%s", paths[k]);
        assert_true(sites_walk(path, load_scene, path, DEPTH) > 5);
    }
    snprintf(path, sizeof path, "fuzz/corpus/import/everything.xml");
    assert_true(sites_walk(path, load_import, path, DEPTH) > 5);
    snprintf(path, sizeof path, "fuzz/corpus/import/meshes.xml");
    assert_true(sites_walk(path, load_import, path, DEPTH) > 5);
    snprintf(path, sizeof path, "fuzz/corpus/import/arm.urdf");
    assert_true(sites_walk(path, load_scene, path, DEPTH) > 5);
    snprintf(path, sizeof path, "examples/robots/arm.xml");
    assert_true(sites_walk(path, load_model, path, DEPTH) > 5);
    static const char *const families[] = {"cradle", "arch3"};
    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
        snprintf(path, sizeof path, "%s", families[k]);
        assert_true(sites_walk(path, generate_scene, path, DEPTH) > 5);
    }
}

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────

static perp_status read_problem(const perp_env *env, void *user)
{
    perp_problem *problem = NULL;
    perp_error error = {0};
    perp_status status = perp_problem_read(user, env, &problem, &error);
    assert_true((status >= 0) == (problem != NULL));
    assert_true(status >= 0 || error.text[0]);
    perp_problem_destroy(problem);
    return status;
}

static void problems(void **state)
{
    (void)state;
    static const char *const formats[] = {"ncx", "siconos", "json", "ncp"};
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
        char path[512];
        snprintf(path, sizeof path, "fuzz/corpus/%s", formats[k]);
        DIR *dir = opendir(path);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] != '.') {
                snprintf(path, sizeof path, "fuzz/corpus/%s/%s", formats[k], entry->d_name);
                assert_true(sites_walk(path, read_problem, path, DEPTH) > 2);
            }
        }
        closedir(dir);
    }
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

typedef struct run {
    const perp_scene *scene;
    const char *dir;
    const char *other;  // another recording of the scene
    double h;
    int steps;
} run;

// The sim has memory; the recorder does not.
static perp_status record_run(const perp_env *env, void *user)
{
    const run *r = user;
    perp_sim_def def = perp_scene_sim_def(r->scene);
    perp_record_def how = perp_record_default();
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    how.h = r->h;
    how.scene = perp_scene_text(r->scene, NULL);
    how.file = perp_scene_files(r->scene, &how.files);
    sites_spare(true);
    assert_int_equal(perp_sim_create(perp_scene_model(r->scene), &def, NULL, &sim, NULL), PERP_OK);
    sites_spare(false);
    perp_status status = perp_record_create(r->dir, sim, &how, env, &record, NULL);
    assert_true((status >= 0) == (record != NULL));
    for (int k = 0; k < r->steps && status >= 0; k++) {
        sites_spare(true);
        assert_true(perp_sim_step(sim, r->h) >= 0);
        sites_spare(false);
        status = perp_record_step(record, sim);
    }
    if (status >= 0) {
        status = perp_record_finish(record, sim);
    }
    assert_true(!record || status >= 0 || perp_record_error(record)->text[0]);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    return status;
}

static perp_status check_run(const perp_env *env, void *user)
{
    const run *r = user;
    perp_recording *recording = NULL;
    perp_check check;
    perp_snapshot frame;
    perp_error error = {0};
    perp_status status = perp_recording_open(r->dir, env, &recording, &error);
    for (int k = 0; k <= r->steps && status >= 0; k++) {
        status = perp_recording_read(recording, k, &frame, &error);
    }
    if (status >= 0) {
        status = perp_recording_check(recording, NULL, &check, &error);
        assert_true(status < 0 || check.passed);
    }
    assert_true(status >= 0 || error.text[0]);
    perp_recording_close(recording);
    return status;
}

static perp_status show_run(const perp_env *env, void *user)
{
    const run *r = user;
    perp_recording *recording = NULL;
    perp_replay *replay = NULL;
    perp_replay_def def = perp_replay_default();
    perp_error error = {0};
    def.page = "<html><!--perp-data--></html>";
    sites_spare(true);
    assert_int_equal(perp_recording_open(r->dir, NULL, &recording, NULL), PERP_OK);
    sites_spare(false);
    perp_status status = perp_replay_create(recording, &def, env, &replay, &error);
    assert_true((status >= 0) == (replay != NULL));
    perp_replay_destroy(replay);
    if (status >= 0) {
        status = perp_plot_write(recording, r->dir, NULL, env, &error);
    }
    assert_true(status >= 0 || error.text[0]);
    perp_recording_close(recording);
    return status;
}

static perp_status compare_runs(const perp_env *env, void *user)
{
    const run *r = user;
    perp_recording *a = NULL, *b = NULL;
    perp_comparison *comparison = NULL;
    perp_compared_instant moment;
    perp_error error = {0};
    sites_spare(true);
    assert_int_equal(perp_recording_open(r->dir, NULL, &a, NULL), PERP_OK);
    assert_int_equal(perp_recording_open(r->other, NULL, &b, NULL), PERP_OK);
    sites_spare(false);
    perp_status status = perp_comparison_create(a, b, env, &comparison, &error);
    for (bool more = true; status >= 0 && more;) {
        status = perp_comparison_next(comparison, &moment, &more, &error);
    }
    perp_comparison_destroy(comparison);
    if (status >= 0) {
        status = perp_plot_write_comparison(a, b, r->dir, env, &error);
    }
    assert_true(status >= 0 || error.text[0]);
    perp_recording_close(a);
    perp_recording_close(b);
    return status;
}

static void walk_recording(const char *path, double h, bool figures, bool compare)
{
    folder f = folder_create();
    perp_scene *scene = NULL;
    char dir[600], other[600];
    snprintf(dir, sizeof dir, "%s", folder_at(&f, "run"));
    snprintf(other, sizeof other, "%s", folder_at(&f, "other"));
    assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
    run r = {.scene = scene, .dir = dir, .other = other, .h = h, .steps = 2};
    sites_walk("record", record_run, &r, DEPTH);
    r.dir = other;
    r.h = 0.5 * h;
    assert_int_equal(record_run(NULL, &r), PERP_OK);
    r.dir = dir;
    r.h = h;
    assert_int_equal(record_run(NULL, &r), PERP_OK);
    sites_walk("check", check_run, &r, DEPTH);
    if (figures) {
        sites_walk("replay and figures", show_run, &r, DEPTH);
    }
    if (compare) {
        sites_walk("compare", compare_runs, &r, DEPTH);
    }
    perp_scene_destroy(scene);
    folder_remove(&f);
}

static void recordings(void **state)
{
    (void)state;
    walk_recording("scenes/berard-4.6.json", 0.01, true, true);
    walk_recording("scenes/leg-lands.json", 0.01, false, false);
    walk_recording("scenes/mesh-ramp.json", 0.01, true, false);
    walk_recording("fuzz/corpus/scene/control.json", 0.01, false, false);
    walk_recording("fuzz/corpus/scene/sensors.json", 0.01, true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes),
        cmocka_unit_test(problems),
        cmocka_unit_test(recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
