// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/golden.h"

#include "support/data.h"

#include <stdio.h>

static bool load(golden *g, const char *folder, const char *name, const char *suffix)
{
    char relative[200], path[600];
    snprintf(relative, sizeof relative, "reference/C_seeds/%s/%s%s.json", folder, name, suffix);
    *g = (golden){0};
    if (!data_path(relative, path, sizeof path)) {
        return false;
    }
    g->root = json_load_file(path, 0, NULL);
    g->rows = json_object_get(g->root, "rows");
    if (!g->rows) {
        golden_close(g);
        return false;
    }
    g->h = json_number_value(json_object_get(g->root, "h"));
    return true;
}

bool golden_open(golden *g, const char *name)
{
    if (!load(g, "golden", name, "")) {
        return false;
    }
    g->until = (int)json_integer_value(json_object_get(g->root, "compare_until_step"));
    g->tolerance = 1e-9 + 1e-12 * golden_check(g, "perturbation_growth");
    return true;
}

bool golden_open_cone(golden *g, const char *name)
{
    golden twin;
    if (!golden_open(&twin, name)) {
        return false;
    }
    int until = twin.until;
    double tolerance = twin.tolerance;
    golden_close(&twin);
    if (!load(g, "golden_quadratic", name, "_quadratic")) {
        return false;
    }
    g->until = until;
    g->tolerance = tolerance;
    return true;
}

void golden_close(golden *g)
{
    json_decref(g->root);
    *g = (golden){0};
}

int golden_rows(const golden *g)
{
    return (int)json_array_size(g->rows);
}

static json_t *row_at(const golden *g, int row)
{
    return json_array_get(g->rows, (size_t)row);
}

int golden_step(const golden *g, int row)
{
    return (int)json_integer_value(json_object_get(row_at(g, row), "step"));
}

int golden_numbers(const golden *g, int row, const char *field, double *out, int most)
{
    json_t *list = json_object_get(row_at(g, row), field);
    int count = (int)json_array_size(list);
    for (int i = 0; i < count && i < most; i++) {
        out[i] = json_number_value(json_array_get(list, (size_t)i));
    }
    return count < most ? count : most;
}

double golden_check(const golden *g, const char *name)
{
    return json_number_value(json_object_get(json_object_get(g->root, "checks"), name));
}
