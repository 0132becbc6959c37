// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows in shards: cut off and damaged ones, several of one run, shards of another sweep; and that results depend on the
// rows only.
#include "support/cmocka.h"
#include "support/folder.h"

#include <math.h>
#include <perp/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS = 7 };
static const char scene[] =
    "{\"parameters\": {\"a\": 1}, \"bodies\": [{\"name\": \"p\", \"mass\": \"a\", "
    "\"inertia\": 1}]}";

static perp_sweep *load(int seed)
{
    char text[400];
    perp_scene_load_options reading = perp_scene_load_options_default();
    const perp_scene_file file = {"s.json", scene, sizeof scene - 1};
    perp_sweep *sweep = NULL;
    reading.file = &file;
    reading.files = 1;
    reading.given_only = true;
    snprintf(
        text, sizeof text,
        "{\"scene\": \"s.json\", \"parameters\": {\"a\": {\"uniform\": [1, 2], \"unit\": \"kg\"}},"
        "\"sampling\": {\"count\": %d, \"seed\": %d}, \"outputs\": {\"y\": {\"final\": "
        "\"y[p]\", \"unit\": \"m\"}, \"z\": {\"value\": \"y/0\"}}}",
        RUNS, seed);
    assert_int_equal(perp_sweep_parse("test", text, strlen(text), &reading, NULL, &sweep, NULL),
                     PERP_OK);
    return sweep;
}

static size_t make_row(const perp_sweep *s, int index, perp_run_status status, char *bytes,
                       size_t room)
{
    double v[3];
    perp_sweep_row row = {.value = v};
    perp_sweep_row_failed(s, index, status, status == PERP_RUN_SOLVED ? "" : "a reason, \"quoted\"",
                          &row);
    if (status == PERP_RUN_SOLVED) {
        v[1] = 0.1 * index;
        v[2] = index == 3 ? (double)INFINITY : -1.0;
    }
    return perp_sweep_row_pack(s, &row, bytes, room);
}

static void append(const perp_sweep *s, const folder *f, const char *shard, const int *index,
                   int count, perp_run_status status)
{
    perp_shard *out = NULL;
    perp_error error = {0};
    char bytes[1000];
    if (perp_shard_open(s, folder_at(f, "d"), shard, true, &out, &error) < 0) {
        fail_msg("%s", error.text);
    }
    for (int k = 0; k < count; k++) {
        size_t size = make_row(s, index[k], status, bytes, sizeof bytes);
        assert_true(size > 0 && size <= perp_sweep_row_room(s));
        assert_int_equal(perp_shard_append(out, bytes, size, &error), PERP_OK);
    }
    assert_int_equal(perp_shard_close(out, &error), PERP_OK);
}

static int64_t missing(const perp_sweep *s, const folder *f)
{
    perp_sweep_table *table = NULL;
    assert_int_equal(perp_sweep_table_read(s, folder_at(f, "d"), NULL, &table, NULL), PERP_OK);
    int64_t count = perp_sweep_table_count(table, PERP_RUN_MISSING), found = 0;
    for (int k = 0; k < RUNS; k++) {
        found += !perp_sweep_table_has(table, k);
    }
    assert_int_equal(found, count);
    perp_sweep_table_destroy(table);
    return count;
}

static void write_results(const perp_sweep *s, const folder *f)
{
    perp_sweep_table *table = NULL;
    assert_int_equal(perp_sweep_table_read(s, folder_at(f, "d"), NULL, &table, NULL), PERP_OK);
    assert_int_equal(perp_sweep_table_write(table, folder_at(f, "d"), NULL), PERP_OK);
    perp_sweep_table_destroy(table);
}

static bool same_file(const char *a, const char *b)
{
    char command[1200], out[100];
    snprintf(command, sizeof command, "cmp '%s' '%s'", a, b);
    return command_run(command, out, sizeof out) == 0;
}

// A file cut anywhere keeps the rows before the cut; the next writer goes on behind them.
static void cut_rows_are_dropped(void **state)
{
    (void)state;
    static const int all[] = {0, 1, 2, 3, 4, 5, 6};
    perp_sweep *s = load(1);
    folder f = folder_create();
    append(s, &f, "all", all, RUNS, PERP_RUN_SOLVED);
    assert_int_equal(missing(s, &f), 0);
    const char *path = folder_at(&f, "d/shards/all.shard");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    int64_t before = RUNS;
    for (off_t cut = 0; cut < about.st_size + 23; cut += 23) {
        off_t size = cut < about.st_size ? cut : about.st_size;
        char command[600], out[100];
        folder g = folder_create();
        mkdir(folder_at(&g, "d"), 0777);
        mkdir(folder_at(&g, "d/shards"), 0777);
        snprintf(command, sizeof command, "head -c %lld '%s/d/shards/all.shard' >'%s'",
                 (long long)size, f.path, folder_at(&g, "d/shards/all.shard"));
        assert_int_equal(command_run(command, out, sizeof out), 0);
        int64_t now = missing(s, &g);
        assert_true(now <= before);  // longer files have more rows
        before = now;
        append(s, &g, "all", all, RUNS, PERP_RUN_SOLVED);
        assert_int_equal(missing(s, &g), 0);
        folder_remove(&g);
    }
    assert_int_equal(before, 0);
    folder_remove(&f);
    perp_sweep_destroy(s);
}

// A byte that is wrong costs the rows from there on, and never makes a wrong one.
static void damaged_rows_are_missing(void **state)
{
    (void)state;
    static const int all[] = {0, 1, 2, 3, 4, 5, 6};
    perp_sweep *s = load(1);
    char bytes[1000];
    double v[3];
    perp_sweep_row row = {.value = v};
    size_t size = make_row(s, 4, PERP_RUN_UNSOLVED, bytes, sizeof bytes);
    assert_true(perp_sweep_row_unpack(s, bytes, size, &row) && row.index == 4);
    assert_string_equal(row.reason, "a reason, \"quoted\"");
    for (size_t k = 0; k < 8 * size; k++) {
        bytes[k / 8] ^= (char)(1 << k % 8);
        assert_false(perp_sweep_row_unpack(s, bytes, size, &row));
        bytes[k / 8] ^= (char)(1 << k % 8);
    }
    for (size_t k = 0; k < size; k++) {
        assert_false(perp_sweep_row_unpack(s, bytes, k, &row));
    }
    folder f = folder_create();
    append(s, &f, "all", all, RUNS, PERP_RUN_SOLVED);
    FILE *file = fopen(folder_at(&f, "d/shards/all.shard"), "r+b");
    fseek(file, 16 + 3 * 48 + 20, SEEK_SET);  // in the fourth row
    fputc(0x55, file);
    fclose(file);
    assert_int_equal(missing(s, &f), 4);
    folder_remove(&f);
    perp_sweep_destroy(s);
}

// Order, shards and repeated rows make no difference; a solved row beats one that failed.
static void results_depend_on_rows_only(void **state)
{
    (void)state;
    static const int up[] = {0, 1, 2, 3, 4, 5, 6}, odd[] = {5, 3, 1}, even[] = {6, 0, 4, 2, 0};
    perp_sweep *s = load(1);
    folder f = folder_create(), g = folder_create();
    append(s, &f, "all", up, RUNS, PERP_RUN_SOLVED);
    append(s, &g, "a-failed", up, 3, PERP_RUN_TIME);
    append(s, &g, "2-of-2", odd, 3, PERP_RUN_SOLVED);
    append(s, &g, "1-of-2", even, 5, PERP_RUN_SOLVED);
    append(s, &g, "z-failed", up, 3, PERP_RUN_TIME);
    write_results(s, &f);
    write_results(s, &g);
    assert_true(same_file(folder_at(&f, "d/sweep.csv"), folder_at(&g, "d/sweep.csv")));
    assert_true(same_file(folder_at(&f, "d/sweep.h5"), folder_at(&g, "d/sweep.h5")));
    char *csv = text_of(folder_at(&f, "d/sweep.csv"));
    assert_int_equal(strncmp(csv, "index,a [kg],y [m],z,status,reason\n0,1.", 39), 0);
    assert_non_null(strstr(csv, ",inf,solved,\n"));
    free(csv);
    assert_int_equal(perp_plot_write_sweep(folder_at(&f, "d"), folder_at(&f, "d"), NULL, NULL),
                     PERP_OK);
    assert_true(folder_has(&f, "d/index.html") && folder_has(&f, "d/response-y-1.svg"));
    folder_remove(&f);
    folder_remove(&g);
    perp_sweep_destroy(s);
}

// Results of another sweep, files of somebody, a second writer: refused, and nothing changes.
static void others_are_refused(void **state)
{
    (void)state;
    static const int one[] = {0};
    perp_sweep *s = load(1), *other = load(2);
    folder f = folder_create();
    perp_shard *shard = NULL, *second = NULL;
    perp_sweep_table *table = NULL;
    perp_error error = {0};
    assert_true(perp_sweep_identity(s) != perp_sweep_identity(other));
    append(s, &f, "all", one, 1, PERP_RUN_SOLVED);
    assert_true(perp_shard_open(other, folder_at(&f, "d"), "all", true, &shard, &error) < 0);
    assert_non_null(strstr(error.text, "another sweep"));
    assert_true(perp_sweep_table_read(other, folder_at(&f, "d"), NULL, &table, &error) < 0);
    assert_true(perp_shard_open(s, folder_at(&f, "d"), "all", false, &shard, &error) < 0);
    assert_non_null(strstr(error.text, "--resume"));
    assert_int_equal(perp_shard_open(s, folder_at(&f, "d"), "all", true, &shard, &error), PERP_OK);
    assert_true(perp_shard_open(s, folder_at(&f, "d"), "all", true, &second, &error) < 0);
    assert_non_null(strstr(error.text, "another process"));
    assert_int_equal(perp_shard_close(shard, NULL), PERP_OK);
    assert_int_equal(missing(s, &f), RUNS - 1);
    // A directory of somebody.
    mkdir(folder_at(&f, "home"), 0777);
    fclose(fopen(folder_at(&f, "home/letter.txt"), "w"));
    assert_true(perp_shard_open(s, folder_at(&f, "home"), "all", false, &shard, &error) < 0);
    assert_non_null(strstr(error.text, "no sweep"));
    // A shard that is none.
    mkdir(folder_at(&f, "e"), 0777);
    mkdir(folder_at(&f, "e/shards"), 0777);
    FILE *file = fopen(folder_at(&f, "e/shards/x.shard"), "w");
    fputs("this is no shard at all", file);
    fclose(file);
    assert_true(perp_sweep_table_read(s, folder_at(&f, "e"), NULL, &table, &error) < 0);
    assert_true(perp_plot_write_sweep(folder_at(&f, "e"), folder_at(&f, "e"), NULL, &error) < 0);
    folder_remove(&f);
    perp_sweep_destroy(s);
    perp_sweep_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_rows_are_dropped),
        cmocka_unit_test(damaged_rows_are_missing),
        cmocka_unit_test(results_depend_on_rows_only),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
