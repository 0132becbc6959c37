// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of recordings replaced by the worst there are, one after the other: reading, judging, drawing and replaying
// end soon, with an answer or a message. Each trial is a process of its own, with a limit on its time.
#include "support/child.h"
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 400, SECONDS = 10, MEGABYTES = 4000 };

typedef struct target {
    char object[96], attribute[48];  // attribute "": a dataset
} target;

static folder place;
static target targets[MOST];
static int count;

static const double worst[] = {(double)NAN,   (double)INFINITY, 1e308,  -1e308, 2147483647.0,
                               -2147483648.0, 9.2e18,           1e-308, 0.0,    -1.0};
enum { WORST = sizeof worst / sizeof worst[0] };

// A door with a motor, a limit and a spring over a floor, a ball on it, a mesh beside: most of what a recording can hold.
static const char spatial[] =
    "{\"step\": 0.01, \"until\": 0.06, \"friction\": \"pyramid\", \"shapes\": [{\"name\": "
    "\"floor\", \"kind\": \"halfspace\", \"mu\": 0.5}, {\"name\": \"ramp\", \"kind\": "
    "\"mesh\", \"vertices\": [[3, 3, 0], [4, 3, 0], [3, 4, 1]], \"triangles\": [[0, 1, 2]]}],\n"
    " \"bodies\": [{\"name\": \"ball\", \"kind\": \"solid\", \"position\": [0, 0, 0.1], "
    "\"velocity\": [1, 0, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": "
    "1000}]},\n"
    " {\"name\": \"door\", \"kind\": \"solid\", \"position\": [2, 0, 2], \"mass\": 1, \"inertia\": "
    "[1, 1, 1], \"spin\": [0, 0, 1]}],\n"
    " \"joints\": [{\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": \"door\", \"at\": [1.5, 0, "
    "2], \"axis\": [0, 0, 1], \"lower\": -1, \"upper\": 1, \"damping\": 0.1}]}";

static const char planar[] =
    "{\"step\": 0.01, \"until\": 0.06, \"shapes\": [{\"name\": \"floor\", \"kind\": "
    "\"halfplane\", \"mu\": 0.5}],\n"
    " \"bodies\": [{\"name\": \"disc\", \"position\": [0, 0.1], \"velocity\": [1, 0], \"shapes\": "
    "[{\"kind\": \"disc\", \"radius\": 0.1, \"density\": 1000}]},\n"
    " {\"name\": \"arm\", \"position\": [2, 2], \"mass\": 1, \"inertia\": 1, \"spin\": 1}],\n"
    " \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [1.5, 2], "
    "\"lower\": -1, \"upper\": 1}]}";

static void make(const char *text, const char *dir)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_error error = {0};
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record_def out = perp_record_default();
    out.scene = perp_scene_text(scene, NULL);
    out.h = perp_scene_step(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(dir, sim, &out, NULL, &record, &error), PERP_OK);
    for (int k = 0; k < 6; k++) {
        assert_true(perp_sim_step(sim, out.h) >= 0);
        assert_int_equal(perp_record_step(record, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// ── What there is to change ──────────────────────────────────────────────────────────────────────

static void add(const char *object, const char *attribute)
{
    assert_true(count < MOST);
    snprintf(targets[count].object, sizeof targets[count].object, "%s", object);
    snprintf(targets[count].attribute, sizeof targets[count].attribute, "%s", attribute);
    count++;
}

static herr_t see_attribute(hid_t at, const char *name, const H5A_info_t *info, void *object)
{
    (void)info;
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    if (H5Tget_class(type) != H5T_STRING) {
        add(object, name);
    }
    H5Tclose(type);
    H5Aclose(attribute);
    return 0;
}

static herr_t see_object(hid_t file, const char *name, const H5O_info_t *info, void *data)
{
    (void)data;
    char object[96];
    snprintf(object, sizeof object, "%s", name);
    hid_t at = H5Oopen(file, name, H5P_DEFAULT);
    H5Aiterate2(at, H5_INDEX_NAME, H5_ITER_INC, NULL, see_attribute, object);
    if (info->type == H5O_TYPE_DATASET) {
        hid_t type = H5Dget_type(at);
        if (H5Tget_class(type) != H5T_STRING && strcmp(name, "scene") != 0 &&
            strcmp(name, "events") != 0) {
            add(name, "");
        }
        H5Tclose(type);
    }
    H5Oclose(at);
    return 0;
}

// The last number of a dataset, or the attribute.
static void change(const char *path, const target *t, double value)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (t->attribute[0]) {
        hid_t a = H5Aopen_by_name(file, t->object, t->attribute, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(a, H5T_NATIVE_DOUBLE, &value);
        H5Aclose(a);
    } else {
        hid_t set = H5Dopen2(file, t->object, H5P_DEFAULT), space = H5Dget_space(set);
        hsize_t dims[4] = {0}, at[4] = {0}, one[4] = {1, 1, 1, 1}, single = 1;
        int rank = H5Sget_simple_extent_dims(space, dims, NULL);
        bool some = true;
        for (int k = 0; k < rank; k++) {
            some = some && dims[k] > 0;
            at[k] = dims[k] > 0 ? dims[k] - 1 : 0;
        }
        hid_t memory = H5Screate_simple(1, &single, NULL);
        if (some) {
            H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
            H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value);
        }
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
}

// ── One trial ────────────────────────────────────────────────────────────────────────────────────

static void use(const char *dir)
{
    perp_recording *r = NULL;
    perp_replay *replay = NULL;
    perp_snapshot frame;
    perp_check check;
    perp_error error = {0};
    if (perp_recording_open(dir, NULL, &r, &error) < 0) {
        child_exit(error.text[0] ? 0 : 1);
    }
    for (int k = 0; k < perp_recording_about(r)->frames && k < 100; k++) {
        (void)!perp_recording_read(r, k, &frame, NULL);
    }
    if (perp_recording_check(r, NULL, &check, &error) < 0 && !error.text[0]) {
        child_exit(1);
    }
    perp_replay_def def = perp_replay_default();
    def.page = "<html><!--perp-data--></html>";
    def.page_size = strlen(def.page);
    (void)!perp_replay_create(r, &def, NULL, &replay, &error);
    perp_replay_destroy(replay);
    (void)!perp_plot_write(r, dir, NULL, NULL, &error);
    perp_recording_close(r);
    child_exit(0);
}

static bool survives(const char *dir, const target *t, double value)
{
    pid_t child = fork();
    if (child == 0) {
        static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
        for (size_t k = 0; k < sizeof crashes / sizeof crashes[0]; k++) {
            signal(crashes[k], SIG_DFL);
        }
        struct rlimit time = {SECONDS, SECONDS};
        setrlimit(RLIMIT_CPU, &time);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        struct rlimit memory = {(rlim_t)MEGABYTES << 20, (rlim_t)MEGABYTES << 20};
        setrlimit(RLIMIT_AS, &memory);
#endif
        use(dir);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good) {
        print_error("%s %s = %g: %s %d\n", t->object, t->attribute, value,
                    WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return good;
}

static void try_all(const char *text, const char *name, int from)
{
    char dir[600], original[700], command[3000];
    snprintf(dir, sizeof dir, "%s", folder_at(&place, name));
    snprintf(original, sizeof original, "%s/run.h5", dir);
    make(text, dir);
    count = 0;
    hid_t file = H5Fopen(original, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, see_object, NULL);
    H5Fclose(file);
    assert_true(count > 60);
    snprintf(command, sizeof command, "cp '%s' '%s.good'", original, original);
    assert_int_equal(system(command), 0);
    int failures = 0;
    const char *all = getenv("PERP_ALL");
    for (int k = 0; k < count; k++) {
        for (int v = 0; v < WORST; v++) {
            if (!all && (k + v + from) % 5 != 0) {  // a fifth of them; PERP_ALL=1 tries all
                continue;
            }
            snprintf(command, sizeof command, "cp '%s.good' '%s'", original, original);
            assert_int_equal(system(command), 0);
            change(original, &targets[k], worst[v]);
            failures += !survives(dir, &targets[k], worst[v]);
        }
    }
    print_message("%d numbers, %d failures\n", count, failures);
    assert_int_equal(failures, 0);
}

static void spatial_numbers(void **state)
{
    (void)state;
    try_all(spatial, "space", 0);
}

static void planar_numbers(void **state)
{
    (void)state;
    try_all(planar, "plane", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spatial_numbers),
        cmocka_unit_test(planar_numbers),
    };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
