// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for sweep files: accepted sweeps have parameters for their first and last run, and rows that survive
// packing; rejected ones must have a message. The scene is always the same.
#include <perp/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scene[] = "{\"parameters\": {\"a\": 1, \"b\": 2, \"mu\": 0.5}, \"until\": 0.01, "
                            "\"step\": 0.005, \"inputs\": "
                            "[{\"name\": \"push\"}], \"bodies\": [{\"name\": \"p\", \"position\": "
                            "[\"a\", \"b\"], \"mass\": 1, "
                            "\"inertia\": 1}], \"forces\": [{\"kind\": \"force\", \"body\": \"p\", "
                            "\"fx\": \"push + mu\"}]}";

static void demand(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static bool is_long(void *user)
{
    return ++*(int *)user > 10000;
}

static void try_run(const perp_sweep *sweep, int64_t index)
{
    int columns = 0, asked = 0;
    (void)perp_sweep_columns(sweep, &columns);
    double *value = calloc((size_t)columns + 1, sizeof *value);
    double *again = calloc((size_t)columns + 1, sizeof *again);
    char *bytes = malloc(perp_sweep_row_room(sweep));
    const perp_env env = {.stop = is_long, .user = &asked};
    perp_sweep_row row = {.value = value}, back = {.value = again};
    demand(value && again && bytes);
    demand(perp_sweep_point(sweep, index, value) == PERP_OK);
    demand(perp_sweep_run(sweep, index, NULL, &env, &row) == PERP_OK);
    demand((row.status == PERP_RUN_SOLVED) == (row.reason[0] == '\0'));
    size_t n = perp_sweep_row_pack(sweep, &row, bytes, perp_sweep_row_room(sweep));
    demand(n > 0 && perp_sweep_row_unpack(sweep, bytes, n, &back));
    demand(back.index == index && back.status == row.status);
    demand(memcmp(value, again, (size_t)columns * sizeof *value) == 0);
    free(value);
    free(again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_scene_load_options reading = perp_scene_load_options_default();
    const perp_scene_file file = {"s.json", scene, sizeof scene - 1};
    perp_sweep *sweep = NULL;
    perp_error error = {0};
    reading.file = &file;
    reading.files = 1;
    reading.given_only = true;
    perp_status status =
        perp_sweep_parse("input", (const char *)data, size, &reading, NULL, &sweep, &error);
    demand((status == PERP_OK) == (sweep != NULL));
    if (!sweep) {
        demand(error.status == status && error.text[0] && memchr(error.text, 0, sizeof error.text));
        return 0;
    }
    demand(perp_sweep_runs(sweep) > 0);
    try_run(sweep, 0);
    try_run(sweep, perp_sweep_runs(sweep) - 1);
    perp_sweep_destroy(sweep);
    return 0;
}
