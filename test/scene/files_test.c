// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that a scene is made of: which are read, how much of them, and what messages say.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TETRA "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// A scene in `path` whose mesh is the file of that name.
static void put_scene(const char *path, const char *mesh)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"shapes\": [{\"name\": \"m\", \"kind\": \"mesh\", \"file\": \"%s\"}],\n"
             " \"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}\n",
             mesh);
    put(path, text);
}

static perp_status load(const char *path, bool outside, perp_error *error)
{
    perp_scene *scene = NULL;
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.outside = outside;
    perp_status status = perp_scene_load_with(path, &reading, NULL, &scene, error);
    perp_scene_destroy(scene);
    return status;
}

static void outside_is_refused(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_error error;
    char absolute[600];
    mkdir(folder_at(&f, "in"), 0700);
    mkdir(folder_at(&f, "in/below"), 0700);
    mkdir(folder_at(&f, "in-side"), 0700);
    put(folder_at(&f, "t.obj"), TETRA);
    put(folder_at(&f, "in/t.obj"), TETRA);
    put(folder_at(&f, "in/below/t.obj"), TETRA);
    put(folder_at(&f, "in-side/t.obj"), TETRA);
    put(folder_at(&f, "secret"), "word-of-mine\n");
    assert_int_equal(symlink("../t.obj", folder_at(&f, "in/link.obj")), 0);
    assert_int_equal(symlink("below/t.obj", folder_at(&f, "in/near.obj")), 0);
    snprintf(absolute, sizeof absolute, "%s", folder_at(&f, "t.obj"));
    const struct {
        const char *name;
        bool inside;
    } files[] = {{"t.obj", true},
                 {"below/t.obj", true},
                 {"./below/../t.obj", true},
                 {"near.obj", true},
                 {"../t.obj", false},
                 {"below/../../t.obj", false},
                 {"../in-side/t.obj", false},  // in a folder whose name only begins alike
                 {"link.obj", false},
                 {absolute, false}};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        put_scene(folder_at(&f, "in/s.json"), files[k].name);
        perp_status status = load(folder_at(&f, "in/s.json"), false, &error);
        assert_int_equal(status, files[k].inside ? PERP_OK : PERP_ERR_FORMAT);
        if (!files[k].inside) {
            assert_non_null(strstr(error.text, "is outside the directory of the scene"));
        }
        assert_int_equal(load(folder_at(&f, "in/s.json"), true, &error), PERP_OK);
    }
    // The same words whether the file is there or not, and never what stands in it.
    put_scene(folder_at(&f, "in/s.json"), "../nothing");
    assert_int_equal(load(folder_at(&f, "in/s.json"), false, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "is outside the directory of the scene"));
    put_scene(folder_at(&f, "in/s.json"), "../secret");
    for (int outside = 0; outside < 2; outside++) {
        assert_int_equal(load(folder_at(&f, "in/s.json"), outside, &error), PERP_ERR_FORMAT);
        assert_null(strstr(error.text, "word-of-mine"));
        assert_int_equal(error.line, 1);
    }
    folder_remove(&f);
}

// The folder is that of the scene, wherever the program is.
static void scenes_by_bare_names(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_error error;
    char here[2000];
    assert_non_null(getcwd(here, sizeof here));
    put(folder_at(&f, "t.obj"), TETRA);
    put_scene(folder_at(&f, "s.json"), "t.obj");
    assert_int_equal(chdir(f.path), 0);
    perp_status bare = load("s.json", false, &error), dotted = load("./s.json", false, &error);
    put_scene("s.json", "../t.obj");
    perp_status up = load("s.json", false, &error);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(bare, PERP_OK);
    assert_int_equal(dotted, PERP_OK);
    assert_int_equal(up, PERP_ERR_FORMAT);
    folder_remove(&f);
}

// A pipe that nobody writes to must not be waited for; a device has no end.
static void pipes_and_devices_are_refused(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_error error;
    perp_problem *problem = NULL;
    assert_int_equal(mkfifo(folder_at(&f, "pipe"), 0600), 0);
    alarm(20);
    assert_int_equal(load(folder_at(&f, "pipe"), false, &error), PERP_ERR_IO);
    assert_non_null(strstr(error.text, "is a device or a pipe"));
    assert_int_equal(load("/dev/zero", false, &error), PERP_ERR_IO);
    assert_int_equal(perp_problem_read(folder_at(&f, "pipe"), NULL, &problem, &error), PERP_ERR_IO);
    assert_int_equal(perp_problem_read("/dev/zero", NULL, &problem, &error), PERP_ERR_IO);
    put_scene(folder_at(&f, "s.json"), "pipe");
    assert_int_equal(load(folder_at(&f, "s.json"), false, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "is a device or a pipe"));
    put_scene(folder_at(&f, "s.json"), "/dev/zero");
    assert_int_equal(load(folder_at(&f, "s.json"), true, &error), PERP_ERR_FORMAT);
    put_scene(folder_at(&f, "s.json"), "/dev/stdin");  // for scenes only
    assert_int_equal(load(folder_at(&f, "s.json"), true, &error), PERP_ERR_FORMAT);
    alarm(0);
    folder_remove(&f);
}

static void sizes_are_limited(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_error error;
    perp_scene *scene = NULL;
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.max_mb = 0.01;
    char *text = malloc(20000);
    assert_non_null(text);
    memset(text, ' ', 20000);
    memcpy(text, "{}", 2);
    assert_int_equal(perp_scene_parse_with("x", text, 10000, &reading, NULL, &scene, &error),
                     PERP_OK);
    perp_scene_destroy(scene);
    assert_int_equal(perp_scene_parse_with("x", text, 10001, &reading, NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "larger than 0.01 MB"));
    text[19999] = '\0';
    put(folder_at(&f, "s.json"), text);
    assert_int_equal(perp_scene_load_with(folder_at(&f, "s.json"), &reading, NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    memset(text, '#', 19999);
    put(folder_at(&f, "t.obj"), text);
    put_scene(folder_at(&f, "s.json"), "t.obj");
    assert_int_equal(perp_scene_load_with(folder_at(&f, "s.json"), &reading, NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "larger than 0.01 MB"));
    free(text);
    perp_scene_load_options bad = {0};
    assert_int_equal(perp_scene_parse_with("x", "{}", 2, &bad, NULL, &scene, &error), PERP_ERR_DEF);
    reading.max_mb = -1.0;
    assert_int_equal(perp_scene_parse_with("x", "{}", 2, &reading, NULL, &scene, &error),
                     PERP_ERR_ARGUMENT);
    folder_remove(&f);
}

// Files that were given stand for those of the disk; each is kept once.
static void files_can_be_given(void **state)
{
    (void)state;
    static const char text[] =
        "{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"/a/t.obj\"}, {\"kind\": \"mesh\", "
        "\"file\": \"/a/t.obj\"}],\n"
        " \"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}\n";
    const perp_scene_file given = {"/a/t.obj", TETRA, strlen(TETRA)};
    perp_scene_load_options reading = perp_scene_load_options_default();
    perp_scene *scene = NULL;
    perp_error error;
    reading.given_only = true;
    assert_int_equal(perp_scene_parse_with("x", text, strlen(text), &reading, NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "not among the files given"));
    reading.file = &given;
    reading.files = 1;
    assert_int_equal(perp_scene_parse_with("x", text, strlen(text), &reading, NULL, &scene, &error),
                     PERP_OK);
    int count = 0;
    const perp_scene_file *file = perp_scene_files(scene, &count);
    assert_int_equal(count, 1);
    assert_string_equal(file[0].name, "/a/t.obj");
    assert_int_equal(file[0].size, given.size);
    assert_memory_equal(file[0].data, TETRA, given.size);
    perp_scene_destroy(scene);
}

static double seconds_of_fan(int triangles)
{
    char *text = malloc(64 * (size_t)triangles + 200), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n"
                      "\"shapes\": [{\"kind\": \"mesh\", \"vertices\": [[0, 0, 0], [0, 0, 1]");
    for (int i = 0; i < triangles; i++) {
        at +=
            sprintf(at, ",[%.9g,%.9g,0]", 1.0 + (double)i / triangles, 1.0 - (double)i / triangles);
    }
    at += sprintf(at, "], \"triangles\": [[0, 1, 2]");
    for (int i = 1; i < triangles; i++) {
        at += sprintf(at, ",[0,1,%d]", i + 2);
    }
    at += sprintf(at, "]}]}");
    perp_scene *scene = NULL;
    perp_error error = {0};
    clock_t start = clock();
    if (perp_scene_parse("fan", text, (size_t)(at - text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    perp_scene_destroy(scene);
    free(text);
    return seconds;
}

// Many triangles about one side: eight times as many take about eight times as long, not 64 times.
static void fans_are_linear(void **state)
{
    (void)state;
    double few = seconds_of_fan(10000), many = seconds_of_fan(80000);
    print_message("fan of 10000: %.3f s, of 80000: %.3f s\n", few, many);
    assert_true(many < 25.0 * few + 0.1);
}

// After an escaped quote a string goes on, and // in it is no comment.
static void escapes_before_comments(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{\"description\": \"5\\\" disc, see http://x.org\"}",
        "{\"description\": \"\\\\\"} // \"",
        "{\"description\": \"\\\\\\\"//\"} // \\",
        "// \"\n{\"description\": \"//\"} // {\n",
    };
    static const char *const text[] = {"5\" disc, see http://x.org", "\\", "\\\"//", "//"};
    for (int k = 0; k < 4; k++) {
        perp_scene *scene = NULL;
        perp_error error = {0};
        if (perp_scene_parse("x", good[k], strlen(good[k]), NULL, &scene, &error) < 0) {
            fail_msg("%s: %s", good[k], error.text);
        }
        assert_string_equal(perp_scene_description(scene), text[k]);
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outside_is_refused),
        cmocka_unit_test(scenes_by_bare_names),
        cmocka_unit_test(pipes_and_devices_are_refused),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(files_can_be_given),
        cmocka_unit_test(fans_are_linear),
        cmocka_unit_test(escapes_before_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
