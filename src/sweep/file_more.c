// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweep files: outputs, how a run is made, which runs are recorded, and figures.
#include "scene/read/json_tree.h"
#include "sweep/own.h"

#include <string.h>

static const char *const reducers[] = {"final",    "initial", "lowest", "highest", "mean",
                                       "integral", "sum",     "first",  "event",   "value"};
enum { REDUCERS = sizeof reducers / sizeof reducers[0] };

// ── Outputs ──────────────────────────────────────────────────────────────────────────────────────

// The kind of event of that name.
static perp_status read_event(pp_sweep_reader *r, const char *word, pp_output *o)
{
    const char *kinds[32];
    int count = 0;
    for (; count < 32 && perp_event_kind_word(count); count++) {
        kinds[count] = perp_event_kind_word(count);
        if (strcmp(kinds[count], word) == 0) {
            o->event = count;
            return PERP_OK;
        }
    }
    const char *near = pp_nearest(word, strlen(word), kinds, count);
    return pp_sweep_fail(&r->at, "unknown event '%.40s'%s%s%s", word,
                         near ? ": did you mean '" : "; expected impact, separation, …",
                         near ? near : "", near ? "'?" : "");
}

// What the reducer works on. Expressions of signals are parsed when the scene is known.
static perp_status read_operand(pp_sweep_reader *r, const json_t *json, pp_output *o)
{
    if (!json_is_string(json)) {
        return pp_sweep_fail(&r->at, "'%s' must be an expression in quotes, such as \"y[ball]\"",
                             reducers[o->reducer]);
    }
    o->text = pp_sweep_copy(r, json_string_value(json));
    if (!o->text) {
        return pp_sweep_memory(r->at.error);
    }
    if (o->reducer == PP_REDUCE_EVENT) {
        return read_event(r, o->text, o);
    }
    if (o->reducer == PP_REDUCE_VALUE) {
        return pp_sweep_expression(&r->at, "value", o->text, r->names, r->count, &o->expr);
    }
    return PERP_OK;
}

static perp_status read_output(pp_sweep_reader *r, const json_t *json, pp_output *o)
{
    perp_status status = pp_sweep_new_name(r, json->key);
    if (status < 0) {
        return status;
    }
    o->name = pp_sweep_copy(r, json->key);
    if (!o->name) {
        return pp_sweep_memory(r->at.error);
    }
    const char *words[REDUCERS + 1];
    memcpy(words, reducers, sizeof reducers);
    words[REDUCERS] = "unit";
    status = pp_sweep_keys(r, json, words, REDUCERS + 1);
    if (status == PERP_OK) {
        status = pp_sweep_unit(r, json, &o->unit, &o->measure);
    }
    if (status < 0) {
        return status;
    }
    const char *key = NULL;
    for (int k = 0; k < REDUCERS; k++) {
        if (json_object_get(json, reducers[k])) {
            if (key) {
                return pp_sweep_fail(&r->at,
                                     "output '%.40s' has both '%s' and '%s'; make two "
                                     "outputs of it",
                                     o->name, key, reducers[k]);
            }
            key = reducers[k];
            o->reducer = (pp_reducer)k;
        }
    }
    if (!key) {
        return pp_sweep_fail(&r->at,
                             "output '%.40s' needs one of final, initial, lowest, highest, "
                             "mean, integral, sum, first, event, value",
                             o->name);
    }
    // A time, unless another unit is given.
    bool time = o->reducer == PP_REDUCE_FIRST || o->reducer == PP_REDUCE_EVENT;
    if (time && !o->unit[0]) {
        o->unit = "s";
    }
    pp_sweep_enter(r, key, 0);
    status = read_operand(r, json_object_get(json, key), o);
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

perp_status pp_sweep_read_outputs(pp_sweep_reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "outputs");
    size_t n = json_object_size(list);
    if (!list) {
        return pp_sweep_fail(&r->at, "'outputs' is missing: what is kept of a run, for example "
                                     "{\"height\": {\"final\": \"y[ball]\", \"unit\": \"m\"}}");
    }
    pp_sweep_enter(r, "outputs", 0);
    if (!json_is_object(list) || n < 1 || n > PP_SWEEP_NAMES) {
        return pp_sweep_fail(&r->at, "'outputs' must be an object with 1 to %d outputs",
                             PP_SWEEP_NAMES);
    }
    r->sweep->output = PP_ZEROS(r->sweep->arena, pp_output, n);
    if (!r->sweep->output) {
        return pp_sweep_memory(r->at.error);
    }
    // Each sees the names of those before it.
    for (size_t k = 0; k < n; k++) {
        const json_t *item = &list->as.item[k];
        pp_sweep_enter(r, item->key, 0);
        perp_status status = read_output(r, item, &r->sweep->output[k]);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
        r->names[r->count++] = r->sweep->output[k].name;
        r->sweep->outputs++;
    }
    pp_sweep_leave(r);
    return PERP_OK;
}

// ── Runs ─────────────────────────────────────────────────────────────────────────────────────────

// An expression under a key, if it is there.
static perp_status read_setting(pp_sweep_reader *r, const json_t *object, const char *key,
                                const pp_expr **expr)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return PERP_OK;
    }
    pp_sweep_enter(r, key, 0);
    perp_status status = pp_sweep_formula(r, value, key, r->sweep->factors, expr);
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

static perp_status read_inputs(pp_sweep_reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "inputs");
    size_t n = json_object_size(list);
    if (!list) {
        return PERP_OK;
    }
    pp_sweep_enter(r, "inputs", 0);
    if (!json_is_object(list) || n > PP_SWEEP_NAMES) {
        return pp_sweep_fail(&r->at, "'inputs' must be an object: the values of inputs by name");
    }
    r->sweep->input = PP_ZEROS(r->sweep->arena, pp_sweep_value, n);
    if (!r->sweep->input) {
        return pp_sweep_memory(r->at.error);
    }
    // Whether the scene has them is seen when it is read.
    for (size_t k = 0; k < n; k++) {
        pp_sweep_value *input = &r->sweep->input[k];
        input->name = pp_sweep_copy(r, list->as.item[k].key);
        if (!input->name) {
            return pp_sweep_memory(r->at.error);
        }
        perp_status status = read_setting(r, list, input->name, &input->expr);
        if (status < 0) {
            return status;
        }
        r->sweep->inputs++;
    }
    pp_sweep_leave(r);
    return PERP_OK;
}

perp_status pp_sweep_read_run(pp_sweep_reader *r, const json_t *root)
{
    static const char *const keys[] = {"step", "until", "stop"};
    const json_t *run = json_object_get(root, "run");
    perp_status status = read_inputs(r, root);
    if (!run || status < 0) {
        return status;
    }
    pp_sweep_enter(r, "run", 0);
    status = pp_sweep_keys(r, run, keys, 3);
    if (status == PERP_OK) {
        status = read_setting(r, run, "step", &r->sweep->step);
    }
    if (status == PERP_OK) {
        status = read_setting(r, run, "until", &r->sweep->until);
    }
    if (status == PERP_OK) {
        status = pp_sweep_text(r, run, "stop", &r->sweep->stop_text);
    }
    if (status == PERP_OK) {
        pp_sweep_leave(r);
    }
    return status;
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

static perp_status read_recorded(pp_sweep_reader *r, const json_t *list)
{
    size_t n = json_array_size(list);
    pp_sweep_enter(r, "runs", 0);
    if (!json_is_array(list) || n > PP_SWEEP_LEVELS) {
        return pp_sweep_fail(&r->at, "'runs' must be a list of run numbers, which begin at 0");
    }
    int64_t *recorded = PP_ARRAY(r->sweep->arena, int64_t, n);
    if (!recorded) {
        return pp_sweep_memory(r->at.error);
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *item = json_array_get(list, k);
        if (!json_is_integer(item) || json_integer_value(item) < 0) {
            pp_sweep_enter(r, NULL, (int)k);
            return pp_sweep_fail(&r->at, "must be the number of a run, 0 or more");
        }
        recorded[k] = json_integer_value(item);
    }
    r->sweep->recorded = recorded;
    r->sweep->recordeds = (int)n;
    pp_sweep_leave(r);
    return PERP_OK;
}

perp_status pp_sweep_read_record(pp_sweep_reader *r, const json_t *root)
{
    static const char *const keys[] = {"runs", "every", "where"};
    const json_t *record = json_object_get(root, "record");
    if (!record) {
        return PERP_OK;
    }
    pp_sweep_enter(r, "record", 0);
    perp_status status = pp_sweep_keys(r, record, keys, 3);
    if (status == PERP_OK && json_object_get(record, "runs")) {
        status = read_recorded(r, json_object_get(record, "runs"));
    }
    if (status < 0) {
        return status;
    }
    const json_t *every = json_object_get(record, "every");
    if (every && (!json_is_integer(every) || json_integer_value(every) < 1)) {
        pp_sweep_enter(r, "every", 0);
        return pp_sweep_fail(&r->at, "'every' must be a whole number, 1 or more");
    }
    r->sweep->every = every ? json_integer_value(every) : 0;
    // A condition on the row of a run: parameters and outputs.
    const json_t *where = json_object_get(record, "where");
    if (where) {
        pp_sweep_enter(r, "where", 0);
        status = pp_sweep_formula(r, where, "where", r->count, &r->sweep->where);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
    }
    pp_sweep_leave(r);
    return PERP_OK;
}

// ── Figures ──────────────────────────────────────────────────────────────────────────────────────

// The column of a name under a key; least and most: which columns may be.
static perp_status read_column(pp_sweep_reader *r, const json_t *figure, const char *key, int least,
                               int most, int *column)
{
    const char *name = NULL;
    perp_status status = pp_sweep_text(r, figure, key, &name);
    if (status < 0 || !name) {
        return status;
    }
    for (int k = least; k < most; k++) {
        if (strcmp(r->names[k], name) == 0) {
            *column = k;
            return PERP_OK;
        }
    }
    pp_sweep_enter(r, key, 0);
    const char *near = pp_nearest(name, strlen(name), r->names + least, most - least);
    const char *what = least == 0 ? "parameter" : "output";
    return near ? pp_sweep_fail(&r->at, "there is no %s '%.40s': did you mean '%s'?", what, name,
                                near)
                : pp_sweep_fail(&r->at, "there is no %s '%.40s' in this file", what, name);
}

static perp_status read_curves(pp_sweep_reader *r, const json_t *list, pp_sweep_figure *f)
{
    static const char *const keys[] = {"label", "y"};
    size_t n = json_array_size(list);
    pp_sweep_enter(r, "curves", 0);
    if (!json_is_array(list) || n > 6) {
        return pp_sweep_fail(&r->at, "'curves' must be a list of at most 6 curves, such as "
                                     "{\"label\": \"theory\", \"y\": \"0.5*mu\"}");
    }
    pp_sweep_curve *curve = PP_ZEROS(r->sweep->arena, pp_sweep_curve, n);
    if (!curve) {
        return pp_sweep_memory(r->at.error);
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *item = json_array_get(list, k);
        pp_sweep_enter(r, NULL, (int)k);
        perp_status status = pp_sweep_keys(r, item, keys, 2);
        curve[k].label = "";  // none
        // An expression of the parameters, of which x varies.
        if (status == PERP_OK) {
            status = pp_sweep_text(r, item, "label", &curve[k].label);
        }
        if (status == PERP_OK && !json_object_get(item, "y")) {
            status = pp_sweep_fail(&r->at, "'y' is missing: an expression of the parameters");
        }
        if (status == PERP_OK) {
            status = read_setting(r, item, "y", &curve[k].expr);
        }
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
    }
    f->curve = curve;
    f->curves = (int)n;
    pp_sweep_leave(r);
    return PERP_OK;
}

static perp_status read_figure(pp_sweep_reader *r, const json_t *json, pp_sweep_figure *f)
{
    static const char *const keys[] = {"title", "x", "y", "output", "curves"};
    const perp_sweep *sweep = r->sweep;
    *f = (pp_sweep_figure){.title = "", .x = -1, .y = -1, .output = -1};
    perp_status status = pp_sweep_keys(r, json, keys, 5);
    if (status == PERP_OK) {
        status = pp_sweep_text(r, json, "title", &f->title);
    }
    if (status == PERP_OK) {
        status = read_column(r, json, "x", 0, sweep->factors, &f->x);
    }
    if (status == PERP_OK) {
        status = read_column(r, json, "y", 0, sweep->factors, &f->y);
    }
    if (status == PERP_OK) {
        status = read_column(r, json, "output", sweep->factors, r->count, &f->output);
    }
    if (status < 0) {
        return status;
    }
    // Without y it is a response curve.
    if (f->x < 0 || f->output < 0 || f->x == f->y) {
        return pp_sweep_fail(&r->at,
                             "a figure needs a parameter 'x', an output 'output', and for a "
                             "map another parameter 'y'");
    }
    const json_t *curves = json_object_get(json, "curves");
    return curves ? read_curves(r, curves, f) : PERP_OK;
}

perp_status pp_sweep_read_figures(pp_sweep_reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "figures");
    size_t n = json_array_size(list);
    if (!list) {
        return PERP_OK;
    }
    pp_sweep_enter(r, "figures", 0);
    if (!json_is_array(list) || n > 50) {
        return pp_sweep_fail(&r->at, "'figures' must be a list of at most 50 figures");
    }
    r->sweep->figure = PP_ZEROS(r->sweep->arena, pp_sweep_figure, n);
    if (!r->sweep->figure) {
        return pp_sweep_memory(r->at.error);
    }
    for (size_t k = 0; k < n; k++) {
        pp_sweep_enter(r, NULL, (int)k);
        perp_status status = read_figure(r, json_array_get(list, k), &r->sweep->figure[k]);
        if (status < 0) {
            return status;
        }
        pp_sweep_leave(r);
        r->sweep->figures++;
    }
    pp_sweep_leave(r);
    return PERP_OK;
}
