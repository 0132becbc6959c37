// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Each file of test/data/broken is refused with exactly the message in the .expect file beside it. Every
// good file cut short anywhere is either refused or read as a whole problem, never a crash.
#include "support/cmocka.h"

#include <perp/io.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char broken[] = "test/data/broken";

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static size_t read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        print_error("cannot open %s\n", path);
        fail();
    }
    size_t n = fread(text, 1, size - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

static void expect_message(const char *name)
{
    char path[512], expected[512], found[512];
    snprintf(path, sizeof path, "%s/%s.expect", broken, name);
    read_file(path, expected, sizeof expected);
    expected[strcspn(expected, "\n")] = '\0';
    snprintf(path, sizeof path, "%s/%s", broken, name);
    perp_problem *problem = NULL;
    perp_error error;
    perp_status status = perp_problem_read(path, NULL, &problem, &error);
    assert_int_equal(status, PERP_ERR_FORMAT);
    assert_int_equal(error.status, status);
    assert_null(problem);
    if (error.line > 0) {
        snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.text);
    } else {
        snprintf(found, sizeof found, "%s", error.text);
    }
    if (strcmp(found, expected) != 0) {
        print_error("%s\n  says     %s\n  expected %s\n", name, found, expected);
        fail();
    }
}

static void broken_files_say_why(void **state)
{
    (void)state;
    DIR *dir = opendir(broken);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' && !ends_with(entry->d_name, ".expect")) {
            expect_message(entry->d_name);
            count++;
        }
    }
    closedir(dir);
    assert_true(count >= 80);
}

// Good files of all text formats, cut after each byte.
static void cut_files_do_no_harm(void **state)
{
    (void)state;
    static const char *const folders[] = {"ncx", "siconos", "json", "ncp"};
    char path[512], text[4096];
    int files = 0;
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        snprintf(path, sizeof path, "fuzz/corpus/%s", folders[k]);
        DIR *dir = opendir(path);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] == '.') {
                continue;
            }
            snprintf(path, sizeof path, "fuzz/corpus/%s/%s", folders[k], entry->d_name);
            size_t size = read_file(path, text, sizeof text);
            files++;
            for (size_t n = 0; n <= size; n++) {
                char *copy = malloc(n + 1);  // exact, so that sanitizers see one byte too far
                assert_non_null(copy);
                memcpy(copy, text, n);
                perp_problem *problem = NULL;
                perp_error error;
                perp_status status = perp_problem_parse(path, copy, n, NULL, &problem, &error);
                assert_true((status == PERP_OK) == (problem != NULL));
                assert_true(n < size || status == PERP_OK);
                assert_true(status == PERP_OK || error.text[0]);
                perp_problem_destroy(problem);
                free(copy);
            }
        }
        closedir(dir);
    }
    assert_true(files >= 19);
}

static void files_that_are_no_files(void **state)
{
    (void)state;
    perp_problem *problem = NULL;
    perp_error error;
    assert_int_equal(perp_problem_read("test/data", NULL, &problem, &error), PERP_ERR_IO);
    assert_string_equal(error.text, "is a directory: name the files in it");
    assert_int_equal(perp_problem_read("test/data/none", NULL, &problem, &error), PERP_ERR_IO);
    assert_string_equal(error.text, "cannot open: No such file or directory");
    assert_int_equal(perp_problem_read(NULL, NULL, &problem, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_problem_read("test/data/none", NULL, &problem, NULL), PERP_ERR_IO);
    assert_int_equal(perp_problem_parse("x", "", 0, NULL, &problem, NULL), PERP_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files_say_why),
        cmocka_unit_test(cut_files_do_no_harm),
        cmocka_unit_test(files_that_are_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
