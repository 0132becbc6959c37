// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps read, run, gathered and drawn while allocations fail, one place of the code after another.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/sites.h"

#include <perp/io.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 4 };
static folder place;

static const char text[] =
    "{\"scene\": \"s.json\", \"name\": \"m\", \"parameters\": {\"a\": {\"uniform\": [1, 2], "
    "\"unit\": "
    "\"kg\"}, \"b\": [0.1, 0.2], \"c\": {\"from\": 1, \"to\": 2, \"count\": 2}, \"d\": {\"value\": "
    "\"a + b\"}, \"k\": 3}, \"sampling\": {\"method\": \"latin-hypercube\", \"count\": 2}, "
    "\"run\": "
    "{\"until\": \"d/50\", \"step\": \"k/100\", \"stop\": \"t > 9\"}, \"inputs\": {\"push\": "
    "\"c\"}, \"outputs\": {\"y\": {\"final\": \"y[p] + sensor[g:1]\"}, \"q\": {\"mean\": "
    "\"q[j]\"}, "
    "\"z\": {\"value\": \"y*2\"}}, \"record\": {\"runs\": [1], \"where\": \"y > 9\"}, \"figures\": "
    "[{\"x\": \"b\", \"y\": \"c\", \"output\": \"y\", \"title\": \"t\", \"curves\": [{\"y\": \"1 + "
    "b\", \"label\": \"l\"}]}, {\"x\": \"b\", \"output\": \"z\"}]}";
static const char scene[] =
    "{\"parameters\": {\"a\": 1, \"b\": 1}, \"inputs\": [{\"name\": \"push\"}], \"bodies\": "
    "[{\"name\": "
    "\"p\", \"mass\": \"a\", \"inertia\": \"b\"}], \"joints\": [{\"name\": \"j\", \"kind\": "
    "\"revolute\", \"b\": \"p\", \"at\": [0, 1]}], \"sites\": [{\"name\": \"s\", \"body\": "
    "\"p\"}], "
    "\"sensors\": [{\"name\": \"g\", \"kind\": \"position\", \"site\": \"s\"}], \"forces\": "
    "[{\"kind\": \"force\", \"body\": \"p\", \"fx\": \"push\"}]}";

static perp_status load(const perp_env *env, perp_sweep **sweep)
{
    perp_scene_load_options reading = perp_scene_load_options_default();
    const perp_scene_file file = {"s.json", scene, sizeof scene - 1};
    perp_error error = {0};
    reading.file = &file;
    reading.files = 1;
    reading.given_only = true;
    perp_status status =
        perp_sweep_parse("test", text, sizeof text - 1, &reading, env, sweep, &error);
    if (status < 0 && status != PERP_ERR_MEMORY) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    assert_true((status >= 0) == (*sweep != NULL));
    assert_true(status >= 0 || error.text[0]);
    return status;
}

static perp_status load_only(const perp_env *env, void *user)
{
    (void)user;
    perp_sweep *sweep = NULL;
    perp_status status = load(env, &sweep);
    perp_sweep_destroy(sweep);
    return status;
}

static perp_status run(const perp_env *env, void *user)
{
    double v[8];
    perp_sweep_row row = {.value = v};
    assert_int_equal(perp_sweep_run(user, 1, NULL, env, &row), PERP_OK);
    if (row.status == PERP_RUN_MEMORY) {
        return PERP_ERR_MEMORY;
    }
    if (row.status != PERP_RUN_SOLVED) {
        fail_msg("%s: %s", perp_run_status_word((int)row.status), row.reason);
    }
    return PERP_OK;
}

static perp_status gather(const perp_env *env, void *user)
{
    perp_sweep_table *table = NULL;
    perp_error error = {0};
    perp_status status = perp_sweep_table_read(user, folder_at(&place, "d"), env, &table, &error);
    if (status >= 0) {
        assert_int_equal(perp_sweep_table_count(table, PERP_RUN_SOLVED), 8);
        status = perp_sweep_table_write(table, folder_at(&place, "d"), &error);
    }
    assert_true(status >= 0 || error.text[0]);
    perp_sweep_table_destroy(table);
    return status;
}

static perp_status draw(const perp_env *env, void *user)
{
    (void)user;
    perp_error error = {0};
    perp_status status =
        perp_plot_write_sweep(folder_at(&place, "d"), folder_at(&place, "d"), env, &error);
    assert_true(status >= 0 || error.text[0]);
    return status;
}

static void sweeps(void **state)
{
    (void)state;
    perp_sweep *sweep = NULL;
    perp_shard *shard = NULL;
    double v[8];
    char bytes[1000];
    perp_sweep_row row = {.value = v};
    assert_true(sites_walk("load", load_only, NULL, DEPTH) > 20);
    assert_int_equal(load(NULL, &sweep), PERP_OK);
    assert_true(sites_walk("run", run, sweep, DEPTH) > 5);
    place = folder_create();
    assert_int_equal(perp_shard_open(sweep, folder_at(&place, "d"), "all", false, &shard, NULL),
                     PERP_OK);
    for (int k = 0; k < perp_sweep_runs(sweep); k++) {
        assert_int_equal(perp_sweep_run(sweep, k, NULL, NULL, &row), PERP_OK);
        size_t size = perp_sweep_row_pack(sweep, &row, bytes, sizeof bytes);
        assert_int_equal(perp_shard_append(shard, bytes, size, NULL), PERP_OK);
    }
    assert_int_equal(perp_shard_close(shard, NULL), PERP_OK);
    assert_true(sites_walk("gather", gather, sweep, DEPTH) > 3);
    assert_true(sites_walk("draw", draw, NULL, DEPTH) > 5);
    folder_remove(&place);
    perp_sweep_destroy(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
