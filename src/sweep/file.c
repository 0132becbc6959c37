// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweep files: what is varied, and how. The rest of the file is read in file_more.c.
//
// Every message has the line and column of the value it is about. They are found by the path from the top of the file
// to that value, when a message is needed.
#include "record/text.h"
#include "scene/read/json_tree.h"
#include "sweep/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

perp_status pp_sweep_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this sweep");
}

static perp_status fail_list(pp_sweep_place *p, const char *at, const char *format, va_list list)
{
    char text[sizeof p->error->text];
    pp_print_list(text, sizeof text, format, list);
    pp_scan scan = pp_scan_start(p->text, p->size, p->error);
    return pp_scan_fail(&scan, at ? at : p->text, "%s", text);
}

perp_status pp_sweep_fail(pp_sweep_place *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *at = pp_json_find(p->text, p->size, p->path, p->depth, false);
    perp_status status = fail_list(p, at, format, list);
    va_end(list);
    return status;
}

perp_status pp_sweep_fail_key(pp_sweep_place *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *at = pp_json_find(p->text, p->size, p->path, p->depth, true);
    perp_status status = fail_list(p, at, format, list);
    va_end(list);
    return status;
}

// Columns within a string are those of the text only as long as it has no escapes.
perp_status pp_sweep_fail_inside(pp_sweep_place *p, int column, const char *format, ...)
{
    const char *at = pp_json_find(p->text, p->size, p->path, p->depth, false);
    const char *end = p->text + p->size;
    const char *quote = at && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at) - 1) : NULL;
    bool plain = quote && !memchr(at, '\\', (size_t)(quote - at)) && at + column <= quote;
    va_list list;
    va_start(list, format);
    perp_status status = fail_list(p, plain ? at + column : at, format, list);
    va_end(list);
    return status;
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

void pp_sweep_enter(pp_sweep_reader *r, const char *key, int index)
{
    pp_assert(r->at.depth < (int)(sizeof r->at.path / sizeof r->at.path[0]));
    r->at.path[r->at.depth++] = (pp_json_step){key, index};
}

void pp_sweep_leave(pp_sweep_reader *r)
{
    r->at.depth--;
}

const char *pp_sweep_copy(pp_sweep_reader *r, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = PP_ARRAY(r->sweep->arena, char, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

// The words as "a, b or c".
static void join_words(const char *const *words, int count, char *text, size_t size)
{
    text[0] = '\0';
    for (int k = 0; k < count; k++) {
        size_t used = strlen(text);
        const char *before = k == 0 ? "" : ", ";
        before = k > 0 && k + 1 == count ? " or " : before;
        pp_print(text + used, size - used, "%s%s", before, words[k]);
    }
}

perp_status pp_sweep_keys(pp_sweep_reader *r, const json_t *object, const char *const *words,
                          int count)
{
    if (!json_is_object(object)) {
        return pp_sweep_fail(&r->at, "must be an object, written in braces {}");
    }
    for (size_t k = 0; k < json_object_size(object); k++) {
        const char *key = object->as.item[k].key;
        int found = 0;
        while (found < count && strcmp(words[found], key) != 0) {
            found++;
        }
        if (found < count) {
            continue;
        }
        // The key itself is wrong, not its value.
        char list[200];
        const char *near = pp_nearest(key, strlen(key), words, count);
        join_words(words, count, list, sizeof list);
        pp_sweep_enter(r, key, 0);
        return near
                   ? pp_sweep_fail_key(&r->at, "unknown key '%.40s': did you mean '%s'?", key, near)
                   : pp_sweep_fail_key(&r->at, "unknown key '%.40s': expected %s", key, list);
    }
    return PERP_OK;
}

perp_status pp_sweep_text(pp_sweep_reader *r, const json_t *object, const char *key,
                          const char **text)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return PERP_OK;
    }
    if (!json_is_string(value)) {
        pp_sweep_enter(r, key, 0);
        return pp_sweep_fail(&r->at, "'%s' must be a text in quotes", key);
    }
    *text = pp_sweep_copy(r, json_string_value(value));
    return *text ? PERP_OK : pp_sweep_memory(r->at.error);
}

perp_status pp_sweep_number(pp_sweep_reader *r, const json_t *json, const char *what, double *to)
{
    if (!json_is_number(json)) {
        return pp_sweep_fail(&r->at, "'%s' must be a number; its unit belongs into \"unit\"", what);
    }
    *to = json_number_value(json);
    return PERP_OK;
}

// A whole number in a range, under a key; *to stays as it is where the key is absent.
static perp_status read_whole(pp_sweep_reader *r, const json_t *object, const char *key,
                              int64_t low, int64_t high, int64_t *to)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return PERP_OK;
    }
    pp_sweep_enter(r, key, 0);
    if (!json_is_integer(value) || json_integer_value(value) < low ||
        json_integer_value(value) > high) {
        return pp_sweep_fail(&r->at, "'%s' must be a whole number from %lld to %lld", key,
                             (long long)low, (long long)high);
    }
    *to = json_integer_value(value);
    pp_sweep_leave(r);
    return PERP_OK;
}

perp_status pp_sweep_unit(pp_sweep_reader *r, const json_t *object, const char **unit,
                          pp_measure *measure)
{
    *unit = "";
    *measure = (pp_measure){.factor = 1.0};
    perp_status status = pp_sweep_text(r, object, "unit", unit);
    if (status < 0 || !(*unit)[0]) {
        return status;
    }
    if (strlen(*unit) > PP_SWEEP_UNIT) {
        pp_sweep_enter(r, "unit", 0);
        return pp_sweep_fail(&r->at, "a unit has at most %d characters", PP_SWEEP_UNIT);
    }
    const char *near = NULL, *wrong = pp_measure_parse(*unit, strlen(*unit), measure, &near);
    if (!wrong) {
        return PERP_OK;
    }
    pp_sweep_enter(r, "unit", 0);
    int column = (int)(wrong - *unit) + 1;
    return near ? pp_sweep_fail_inside(&r->at, column, "unknown unit '%.20s': did you mean '%s'?",
                                       wrong, near)
                : pp_sweep_fail_inside(&r->at, column,
                                       "'%.20s' is no unit; write one such as m, kg, s, deg or N/m",
                                       wrong);
}

perp_status pp_sweep_expression(pp_sweep_place *p, const char *what, const char *text,
                                const char *const *names, int count, const pp_expr **expr)
{
    const pp_expr_names known = {.variable = names, .variables = count};
    pp_expr_error fault;
    perp_status status = pp_expr_parse_with(text, &known, p->arena, expr, NULL, &fault);
    if (status == PERP_ERR_MEMORY) {
        return pp_sweep_memory(p->error);
    }
    return status < 0 ? pp_sweep_fail_inside(p, fault.column, "'%s': %s", what, fault.text)
                      : PERP_OK;
}

perp_status pp_sweep_formula(pp_sweep_reader *r, const json_t *json, const char *what, int count,
                             const pp_expr **expr)
{
    if (json_is_number(json)) {
        *expr = pp_expr_number(json_number_value(json), r->at.arena);
        return *expr ? PERP_OK : pp_sweep_memory(r->at.error);
    }
    if (!json_is_string(json)) {
        return pp_sweep_fail(
            &r->at, "'%s' must be a number, or an expression of the parameters in quotes", what);
    }
    return pp_sweep_expression(&r->at, what, json_string_value(json), r->names, count, expr);
}

perp_status pp_sweep_new_name(pp_sweep_reader *r, const char *name)
{
    if (!pp_expr_is_name(name)) {
        return pp_sweep_fail_key(&r->at,
                                 "'%.40s' cannot be used in expressions; write a name of letters, "
                                 "digits and _ that begins with a letter",
                                 name);
    }
    if (strlen(name) > PP_SWEEP_NAME) {
        return pp_sweep_fail_key(&r->at, "a name has at most %d characters", PP_SWEEP_NAME);
    }
    if (pp_expr_is_reserved(name)) {
        return pp_sweep_fail_key(&r->at, "'%.40s' is a word of expressions; choose another name",
                                 name);
    }
    for (int k = 0; k < r->count; k++) {
        if (strcmp(r->names[k], name) == 0) {
            return pp_sweep_fail_key(&r->at, "the name '%.40s' is taken; choose another", name);
        }
    }
    return PERP_OK;
}

// ── Factors ──────────────────────────────────────────────────────────────────────────────────────

// The levels of a list.
static perp_status read_list(pp_sweep_reader *r, const json_t *json, pp_factor *f)
{
    size_t n = json_array_size(json);
    if (!json_is_array(json) || n < 1 || n > PP_SWEEP_LEVELS) {
        return pp_sweep_fail(&r->at, "must be a list of numbers, [0.1, 0.2]");
    }
    double *level = PP_ARRAY(r->sweep->arena, double, n);
    if (!level) {
        return pp_sweep_memory(r->at.error);
    }
    for (size_t k = 0; k < n; k++) {
        pp_sweep_enter(r, NULL, (int)k);
        perp_status status = pp_sweep_number(r, json_array_get(json, k), f->name, &level[k]);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
    }
    f->kind = PP_FACTOR_LEVELS;
    f->level = level;
    f->levels = (int)n;
    return PERP_OK;
}

// The number under a key that must be there.
static perp_status read_needed(pp_sweep_reader *r, const json_t *object, const char *key,
                               double *to)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return pp_sweep_fail(&r->at, "'%s' is missing; a grid has from, to and count", key);
    }
    pp_sweep_enter(r, key, 0);
    perp_status status = pp_sweep_number(r, value, key, to);
    pp_sweep_leave(r);
    return status;
}

// Both ends exactly; levels of a logarithmic grid have equal ratios.
static void fill_grid(double *level, int64_t count, double from, double to, bool log_scale)
{
    for (int64_t k = 0; k < count; k++) {
        double s = count > 1 ? (double)k / (double)(count - 1) : 0.0;
        level[k] = log_scale ? pp_exp((1.0 - s) * pp_log(from) + s * pp_log(to))
                             : (1.0 - s) * from + s * to;
    }
    level[0] = from;
    if (count > 1) {
        level[count - 1] = to;
    }
}

static perp_status read_grid(pp_sweep_reader *r, const json_t *json, pp_factor *f)
{
    double from = 0.0, to = 0.0;
    int64_t count = 0;
    const char *scale = "linear";
    perp_status status = read_needed(r, json, "from", &from);
    if (status == PERP_OK) {
        status = read_needed(r, json, "to", &to);
    }
    if (status == PERP_OK) {
        status = read_whole(r, json, "count", 1, PP_SWEEP_LEVELS, &count);
    }
    if (status == PERP_OK) {
        status = pp_sweep_text(r, json, "scale", &scale);
    }
    if (status < 0) {
        return status;
    }
    // Everything that a grid may lack or have wrong.
    if (count == 0) {
        return pp_sweep_fail(&r->at, "'count' is missing; a grid has from, to and count");
    }
    f->log = strcmp(scale, "log") == 0;
    if (!f->log && strcmp(scale, "linear") != 0) {
        pp_sweep_enter(r, "scale", 0);
        return pp_sweep_fail(&r->at, "'scale' must be \"linear\" or \"log\"");
    }
    if (f->log && !(from > 0.0 && to > 0.0)) {
        return pp_sweep_fail(&r->at, "a logarithmic grid needs 'from' and 'to' above 0");
    }
    double *level = PP_ARRAY(r->sweep->arena, double, count);
    if (!level) {
        return pp_sweep_memory(r->at.error);
    }
    fill_grid(level, count, from, to, f->log);
    f->kind = PP_FACTOR_LEVELS;
    f->level = level;
    f->levels = (int)count;
    return PERP_OK;
}

// Two numbers: bounds, or mean and standard deviation.
static perp_status read_distribution(pp_sweep_reader *r, const json_t *json, const char *key,
                                     pp_factor *f)
{
    const json_t *pair = json_object_get(json, key);
    pp_sweep_enter(r, key, 0);
    if (!json_is_array(pair) || json_array_size(pair) != 2 ||
        !json_is_number(json_array_get(pair, 0)) || !json_is_number(json_array_get(pair, 1))) {
        return pp_sweep_fail(&r->at, "'%s' must be two numbers: %s", key,
                             f->kind == PP_FACTOR_NORMAL ? "mean and standard deviation"
                                                         : "the lower and the upper bound");
    }
    f->a = json_number_value(json_array_get(pair, 0));
    f->b = json_number_value(json_array_get(pair, 1));
    f->log = f->kind == PP_FACTOR_LOG_UNIFORM;
    if (f->kind == PP_FACTOR_NORMAL && !(f->b >= 0.0)) {
        return pp_sweep_fail(&r->at, "the standard deviation must not be negative");
    }
    if (f->kind != PP_FACTOR_NORMAL && !(f->a < f->b)) {
        return pp_sweep_fail(&r->at, "the lower bound must be below the upper one");
    }
    if (f->log && !(f->a > 0.0)) {
        return pp_sweep_fail(&r->at, "both bounds must be above 0");
    }
    pp_sweep_leave(r);
    return PERP_OK;
}

// An object: its keys decide what it is.
static perp_status read_factor_object(pp_sweep_reader *r, const json_t *json, pp_factor *f)
{
    static const char *const grid[] = {"from", "to", "count", "scale", "unit"};
    static const char *const other[] = {"list", "uniform", "log-uniform", "normal", "value",
                                        "unit", "from",    "to",          "count",  "scale"};
    static const struct {
        const char *key;
        pp_factor_kind kind;
    } drawn[] = {{"uniform", PP_FACTOR_UNIFORM},
                 {"log-uniform", PP_FACTOR_LOG_UNIFORM},
                 {"normal", PP_FACTOR_NORMAL}};
    perp_status status = pp_sweep_keys(r, json, other, sizeof other / sizeof other[0]);
    if (status == PERP_OK) {
        status = pp_sweep_unit(r, json, &f->unit, &f->measure);
    }
    if (status < 0) {
        return status;
    }
    bool is_grid = json_object_get(json, "from") || json_object_get(json, "to");
    const char *key = NULL;
    for (int k = 0; k < 5; k++) {
        if (json_object_get(json, other[k])) {
            key = other[k];
        }
    }
    if (is_grid) {
        status = pp_sweep_keys(r, json, grid, sizeof grid / sizeof grid[0]);
        return status < 0 ? status : read_grid(r, json, f);
    }
    if (!key) {
        return pp_sweep_fail(&r->at,
                             "parameter '%.40s' has no values; write from, to and count, or "
                             "one of list, uniform, log-uniform, normal, value",
                             f->name);
    }
    // One way to give the values, and a unit.
    const char *const alone[] = {key, "unit"};
    status = pp_sweep_keys(r, json, alone, 2);
    if (status < 0) {
        return status;
    }
    for (size_t k = 0; k < sizeof drawn / sizeof drawn[0]; k++) {
        if (strcmp(drawn[k].key, key) == 0) {
            f->kind = drawn[k].kind;
            return read_distribution(r, json, key, f);
        }
    }
    pp_sweep_enter(r, key, 0);
    if (strcmp(key, "list") == 0) {
        status = read_list(r, json_object_get(json, key), f);
    } else {
        f->kind = PP_FACTOR_DERIVED;
        status = pp_sweep_formula(r, json_object_get(json, key), f->name, r->count, &f->expr);
    }
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

// A number alone is a list of one, an array a list.
static perp_status read_factor(pp_sweep_reader *r, const json_t *json, pp_factor *f)
{
    perp_status status = pp_sweep_new_name(r, json->key);
    f->name = status == PERP_OK ? pp_sweep_copy(r, json->key) : NULL;
    f->unit = "";
    f->measure = (pp_measure){.factor = 1.0};
    if (status < 0) {
        return status;
    }
    if (!f->name) {
        return pp_sweep_memory(r->at.error);
    }
    // A parameter that does not vary.
    if (json_is_number(json)) {
        double *level = PP_ARRAY(r->sweep->arena, double, 1);
        if (!level) {
            return pp_sweep_memory(r->at.error);
        }
        level[0] = json_number_value(json);
        f->level = level;
        f->levels = 1;
        return PERP_OK;
    }
    if (json_is_array(json)) {
        return read_list(r, json, f);
    }
    if (!json_is_object(json)) {
        return pp_sweep_fail(&r->at,
                             "parameter '%.40s' must be a number, a list, or an object such "
                             "as {\"from\": 0, \"to\": 1, \"count\": 11}",
                             f->name);
    }
    return read_factor_object(r, json, f);
}

static perp_status read_factors(pp_sweep_reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "parameters");
    size_t n = json_object_size(list);
    if (!list) {
        return pp_sweep_fail(&r->at, "'parameters' is missing: what is varied, for example "
                                     "{\"mu\": [0.2, 0.4]}");
    }
    pp_sweep_enter(r, "parameters", 0);
    if (!json_is_object(list) || n < 1 || n > PP_SWEEP_NAMES) {
        return pp_sweep_fail(&r->at, "'parameters' must be an object with 1 to %d parameters",
                             PP_SWEEP_NAMES);
    }
    r->sweep->factor = PP_ZEROS(r->sweep->arena, pp_factor, n);
    if (!r->sweep->factor) {
        return pp_sweep_memory(r->at.error);
    }
    // Each sees the names of those before it.
    for (size_t k = 0; k < n; k++) {
        const json_t *item = &list->as.item[k];
        pp_sweep_enter(r, item->key, 0);
        perp_status status = read_factor(r, item, &r->sweep->factor[k]);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
        r->names[r->count++] = r->sweep->factor[k].name;
        r->sweep->factors++;
    }
    pp_sweep_leave(r);
    return PERP_OK;
}

// ── Sampling ─────────────────────────────────────────────────────────────────────────────────────

static int count_drawn(const perp_sweep *sweep)
{
    int drawn = 0;
    for (int k = 0; k < sweep->factors; k++) {
        pp_factor_kind kind = sweep->factor[k].kind;
        drawn += kind != PP_FACTOR_LEVELS && kind != PP_FACTOR_DERIVED;
    }
    return drawn;
}

// The method, where there are distributions.
static perp_status read_method(pp_sweep_reader *r, const json_t *sampling, int drawn)
{
    static const char *const methods[] = {"random", "latin-hypercube", "sobol"};
    const char *word = "random";
    perp_status status = pp_sweep_text(r, sampling, "method", &word);
    if (status < 0) {
        return status;
    }
    int method = 0;
    while (method < 3 && strcmp(methods[method], word) != 0) {
        method++;
    }
    if (method == 3) {
        pp_sweep_enter(r, "method", 0);
        return pp_sweep_fail(&r->at, "'method' must be random, latin-hypercube or sobol");
    }
    r->sweep->sampling = (pp_sampling)method;
    if (r->sweep->sampling == PP_SAMPLING_SOBOL && drawn > PP_SOBOL_MOST) {
        pp_sweep_enter(r, "method", 0);
        return pp_sweep_fail(&r->at,
                             "sobol has at most %d dimensions, and %d parameters have "
                             "distributions; use latin-hypercube",
                             PP_SOBOL_MOST, drawn);
    }
    return PERP_OK;
}

static perp_status read_sampling(pp_sweep_reader *r, const json_t *root)
{
    static const char *const keys[] = {"method", "count", "seed"};
    perp_sweep *sweep = r->sweep;
    const json_t *sampling = json_object_get(root, "sampling");
    int drawn = count_drawn(sweep);
    int64_t count = 0, seed = 0;
    sweep->samples = 1;
    if (!sampling) {
        return drawn == 0 ? PERP_OK
                          : pp_sweep_fail(&r->at, "'sampling' is missing: parameters with "
                                                  "distributions need {\"method\": \"sobol\", "
                                                  "\"count\": 256}");
    }
    // Nothing to draw is most likely a mistake.
    pp_sweep_enter(r, "sampling", 0);
    if (drawn == 0) {
        return pp_sweep_fail(&r->at, "no parameter has a distribution: remove 'sampling', or give "
                                     "one uniform, log-uniform or normal");
    }
    perp_status status = pp_sweep_keys(r, sampling, keys, 3);
    if (status == PERP_OK) {
        status = read_whole(r, sampling, "count", 1, PP_SWEEP_RUNS, &count);
    }
    if (status == PERP_OK) {
        status = read_whole(r, sampling, "seed", 0, INT64_MAX, &seed);
    }
    if (status == PERP_OK) {
        status = read_method(r, sampling, drawn);
    }
    if (status < 0) {
        return status;
    }
    if (count == 0) {
        return pp_sweep_fail(&r->at, "'count' is missing: how many samples are drawn");
    }
    sweep->samples = count;
    sweep->seed = (uint64_t)seed;
    sweep->seeded = json_object_get(sampling, "seed") != NULL;
    pp_sweep_leave(r);
    return PERP_OK;
}

// The product of all levels and the samples.
static perp_status count_runs(pp_sweep_reader *r)
{
    int64_t runs = r->sweep->samples;
    for (int k = 0; k < r->sweep->factors; k++) {
        const pp_factor *f = &r->sweep->factor[k];
        if (f->kind != PP_FACTOR_LEVELS) {
            continue;
        }
        if (runs > PP_SWEEP_RUNS / f->levels) {
            pp_sweep_enter(r, "parameters", 0);
            return pp_sweep_fail(&r->at,
                                 "these are more than %d runs; use fewer levels, or "
                                 "distributions with latin-hypercube or sobol",
                                 PP_SWEEP_RUNS);
        }
        runs *= f->levels;
    }
    r->sweep->runs = runs;
    return PERP_OK;
}

// ── Limits ───────────────────────────────────────────────────────────────────────────────────────

static perp_status read_limit(pp_sweep_reader *r, const json_t *limits, const char *key, double *to)
{
    const json_t *value = json_object_get(limits, key);
    if (!value) {
        return PERP_OK;
    }
    pp_sweep_enter(r, key, 0);
    if (!json_is_number(value) || !(json_number_value(value) > 0.0)) {
        return pp_sweep_fail(&r->at, "'%s' must be a number above 0", key);
    }
    *to = json_number_value(value);
    pp_sweep_leave(r);
    return PERP_OK;
}

static perp_status read_limits(pp_sweep_reader *r, const json_t *root)
{
    static const char *const keys[] = {"seconds", "megabytes"};
    const json_t *limits = json_object_get(root, "limits");
    perp_sweep_limits *l = &r->sweep->limits;
    *l = (perp_sweep_limits){.seconds = 3600.0, .megabytes = 4000.0};
    if (!limits) {
        return PERP_OK;
    }
    pp_sweep_enter(r, "limits", 0);
    perp_status status = pp_sweep_keys(r, limits, keys, 2);
    if (status == PERP_OK) {
        status = read_limit(r, limits, "seconds", &l->seconds);
    }
    if (status == PERP_OK) {
        status = read_limit(r, limits, "megabytes", &l->megabytes);
    }
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

// ── The scene ────────────────────────────────────────────────────────────────────────────────────

// {"generate": "arch", "blocks": 20}: options are numbers.
static perp_status read_generator(pp_sweep_reader *r, const json_t *scene)
{
    perp_sweep *sweep = r->sweep;
    perp_status status = pp_sweep_text(r, scene, "generate", &sweep->scene_name);
    if (status < 0) {
        return status;
    }
    if (!sweep->scene_name) {
        return pp_sweep_fail(&r->at, "'scene' must be the name of a file, or {\"generate\": "
                                     "\"arch\"} with options");
    }
    sweep->generated = true;
    sweep->option = PP_ARRAY(sweep->arena, perp_generator_option, json_object_size(scene));
    if (!sweep->option) {
        return pp_sweep_memory(r->at.error);
    }
    for (size_t k = 0; k < json_object_size(scene); k++) {
        const json_t *item = &scene->as.item[k];
        if (strcmp(item->key, "generate") == 0) {
            continue;
        }
        // Options are texts for the generator, which checks them.
        char text[32];
        pp_sweep_enter(r, item->key, 0);
        double value = 0.0;
        status = pp_sweep_number(r, item, item->key, &value);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
        pp_number_print_short(text, sizeof text, value);
        perp_generator_option *o = &sweep->option[sweep->options++];
        o->name = pp_sweep_copy(r, item->key);
        o->value = pp_sweep_copy(r, text);
        if (!o->name || !o->value) {
            return pp_sweep_memory(r->at.error);
        }
    }
    return PERP_OK;
}

static perp_status read_scene(pp_sweep_reader *r, const json_t *root)
{
    const json_t *scene = json_object_get(root, "scene");
    if (!scene) {
        return pp_sweep_fail(&r->at, "'scene' is missing: the scene or robot that is simulated");
    }
    if (json_is_string(scene)) {
        return pp_sweep_text(r, root, "scene", &r->sweep->scene_name);
    }
    pp_sweep_enter(r, "scene", 0);
    if (!json_is_object(scene)) {
        return pp_sweep_fail(&r->at, "'scene' must be the name of a file, or {\"generate\": "
                                     "\"arch\"} with options");
    }
    perp_status status = read_generator(r, scene);
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────

static perp_status list_columns(pp_sweep_reader *r)
{
    perp_sweep *sweep = r->sweep;
    sweep->columns = sweep->factors + sweep->outputs;
    sweep->column = PP_ARRAY(sweep->arena, perp_sweep_column, sweep->columns);
    if (!sweep->column) {
        return pp_sweep_memory(r->at.error);
    }
    for (int k = 0; k < sweep->factors; k++) {
        sweep->column[k] = (perp_sweep_column){sweep->factor[k].name, sweep->factor[k].unit, false};
    }
    for (int k = 0; k < sweep->outputs; k++) {
        sweep->column[sweep->factors + k] =
            (perp_sweep_column){sweep->output[k].name, sweep->output[k].unit, true};
    }
    return PERP_OK;
}

// Sections in an order in which names are known before they are used.
static perp_status read_root(pp_sweep_reader *r, const json_t *root)
{
    static const char *const keys[] = {"$schema",    "name",     "description", "scene",
                                       "parameters", "sampling", "outputs",     "run",
                                       "inputs",     "limits",   "record",      "figures"};
    static perp_status (*const section[])(pp_sweep_reader *, const json_t *) = {
        read_scene,        read_factors,         read_sampling,         pp_sweep_read_outputs,
        pp_sweep_read_run, pp_sweep_read_record, pp_sweep_read_figures, read_limits};
    perp_status status = pp_sweep_keys(r, root, keys, sizeof keys / sizeof keys[0]);
    if (status == PERP_OK) {
        status = pp_sweep_text(r, root, "name", &r->sweep->name);
    }
    if (status == PERP_OK) {
        status = pp_sweep_text(r, root, "description", &r->sweep->description);
    }
    if (status < 0) {
        return status;
    }
    // The rest of a file is not read after its first mistake.
    for (size_t k = 0; k < sizeof section / sizeof section[0]; k++) {
        status = section[k](r, root);
        if (status < 0) {
            return status;
        }
    }
    status = count_runs(r);
    if (status == PERP_OK) {
        status = list_columns(r);
    }
    return status == PERP_OK ? pp_sample_prepare(r->sweep, r->at.error) : status;
}

// A sweep with a copy of the text; NULL: no memory.
static perp_sweep *create_sweep(const char *text, size_t size, const perp_env *env)
{
    perp_sweep *sweep = pp_alloc(env, sizeof *sweep);
    if (!sweep) {
        return NULL;
    }
    *sweep = (perp_sweep){.env = env ? *env : (perp_env){0}, .size = size, .name = "sweep"};
    sweep->description = "";
    sweep->arena = pp_arena_create(env);
    char *copy = sweep->arena ? PP_ARRAY(sweep->arena, char, size + 1) : NULL;
    if (!copy) {
        perp_sweep_destroy(sweep);
        return NULL;
    }
    if (size > 0) {
        memcpy(copy, text, size);
    }
    copy[size] = '\0';
    sweep->text = copy;
    return sweep;
}

perp_status pp_sweep_read(const char *text, size_t size, const perp_env *env, perp_sweep **out,
                          perp_error *error)
{
    perp_error unwanted;
    error = error ? error : &unwanted;
    *out = NULL;
    perp_sweep *sweep = create_sweep(text, size, env);
    pp_arena *scratch = pp_arena_create(env);
    char *plain = sweep && scratch ? PP_ARRAY(scratch, char, size + 1) : NULL;
    pp_sweep_reader *r = plain ? PP_ZEROS(scratch, pp_sweep_reader, 1) : NULL;
    perp_status status;
    if (!r) {
        status = pp_sweep_memory(error);
    } else {
        // Comments are blanked in a copy: the text is kept with the results.
        const json_t *root = NULL;
        memcpy(plain, sweep->text, size + 1);
        pp_scene_blank(plain, size);
        r->sweep = sweep;
        r->at =
            (pp_sweep_place){.text = plain, .size = size, .error = error, .arena = sweep->arena};
        if (strspn(plain, " \t\r\n") == size) {
            status = pp_fail(error, PERP_ERR_FORMAT,
                             "the sweep is empty; it needs scene, parameters and outputs");
        } else {
            status = pp_json_parse(plain, size, scratch, &root, error);
        }
        if (status == PERP_OK && root) {
            status = read_root(r, root);
        }
    }
    pp_arena_destroy(scratch);
    if (status < 0) {
        perp_sweep_destroy(sweep);
        return status;
    }
    *out = sweep;
    return PERP_OK;
}
