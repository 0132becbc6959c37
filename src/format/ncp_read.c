// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of nonlinear MCPs in perp's JSON form (docs/file-format.md): F as expressions of named variables.
//
//   {"perp_problem": 1, "kind": "ncp", "name": "two",
//    "parameters": {"a": 2},
//    "definitions": {"s": "x + y"},
//    "variables": {"x": {"lower": 0, "start": 1, "F": "a*x + s^2 - 1"},
//                  "y": {"lower": "-inf", "F": "exp(y) - s"}}}
//
// Parameters are numbers, or expressions of the parameters before them; definitions are expressions of variables,
// parameters and the definitions before them. The expressions are checked here and kept by the problem (ncp_model.c).
#include "format/format.h"
#include "format/ncp_model.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct ncp_reader {
    pp_draft *draft;
    pp_arena *arena;  // of the problem
    const json_t *parameters, *definitions, *variables;
    const char **name;  // variables, then definitions
    int n, m;
    const char **constant;
    double *value;
    int constants;
} ncp_reader;

// ── Places ───────────────────────────────────────────────────────────────────────────────────────

// A value in the file: a group, a name in it, and a key of a variable (NULL: none).
typedef struct ncp_place {
    const char *group, *name, *key;
} ncp_place;

static const char *place_of(const ncp_reader *in, ncp_place at, bool at_key)
{
    const pp_json_step step[] = {{.key = at.group}, {.key = at.name}, {.key = at.key}};
    int depth = 1;
    if (at.name) {
        depth = at.key ? 3 : 2;
    }
    const char *found = pp_json_find(in->draft->text, in->draft->size, step, depth, at_key);
    return found ? found : in->draft->text;
}

// "variable 'x', 'lower'", for messages.
static void label_of(ncp_place at, char *text, size_t size)
{
    // the word for one of a group: its name without the s
    pp_print(text, size, "%.*s '%.60s'%s%s%s", (int)strlen(at.group) - 1, at.group, at.name,
             at.key ? ", '" : "", at.key ? at.key : "", at.key ? "'" : "");
}

// Fails at a value of a parameter, a definition or a variable.
static perp_status fail_at(const ncp_reader *in, ncp_place at, const char *text)
{
    char label[120];
    label_of(at, label, sizeof label);
    return pp_draft_fail(in->draft, NULL, place_of(in, at, false), "%s: %s", label, text);
}

// Fails inside the string of an expression, at its column.
static perp_status fail_in(const ncp_reader *in, ncp_place at, const pp_expr_error *error)
{
    const char *text = place_of(in, at, false), *end = in->draft->text + in->draft->size;
    // after the quote; an escape before the column moves it, but never out of the file
    const char *column = *text == '"' && error->column < end - text ? text + error->column : text;
    bool ordered = strcmp(at.group, "variables") != 0 && strstr(error->text, "unknown name");
    char label[120];
    label_of(at, label, sizeof label);
    return pp_draft_fail(in->draft, NULL, column, "%s: %s%s", label, error->text,
                         ordered ? "; only those before this one are known" : "");
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

static perp_status check_name(const ncp_reader *in, const char *group, const char *name)
{
    char text[200];
    const char *what = NULL;
    if (!pp_expr_is_name(name)) {
        what = "has other characters than letters, digits and _, or begins with a digit";
    } else if (pp_expr_is_reserved(name)) {
        what = "is a name of the expression language; choose another";
    }
    if (!what) {
        return PERP_OK;
    }
    pp_print(text, sizeof text, "%s: the name '%.60s' %s", group, name, what);
    return pp_draft_fail(in->draft, NULL, place_of(in, (ncp_place){group, name, NULL}, true), "%s",
                         text);
}

// A group is an object of at most `most` names.
static perp_status check_group(const ncp_reader *in, const char *group, const json_t *object,
                               const char *form)
{
    char text[200];
    if (object && !json_is_object(object)) {
        pp_print(text, sizeof text, "'%s': write an object, %s", group, form);
        return pp_draft_fail(in->draft, NULL, place_of(in, (ncp_place){group, NULL, NULL}, false),
                             "%s", text);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        perp_status status = check_name(in, group, name);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// The groups share one set of names.
static perp_status check_distinct(const ncp_reader *in)
{
    const struct {
        const char *group;
        const json_t *object;
    } groups[] = {{"variables", in->variables},
                  {"definitions", in->definitions},
                  {"parameters", in->parameters}};
    for (int a = 1; a < 3; a++) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)groups[a].object, name, value)
        {
            for (int b = 0; b < a; b++) {
                if (json_object_get(groups[b].object, name)) {
                    char text[200];
                    pp_print(text, sizeof text, "'%.60s' is also in '%s': choose another name",
                             name, groups[b].group);
                    return pp_draft_fail(
                        in->draft, NULL,
                        place_of(in, (ncp_place){groups[a].group, name, NULL}, true), "%s", text);
                }
            }
        }
    }
    return PERP_OK;
}

static const char *copy_text(pp_arena *arena, const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = PP_ARRAY(arena, char, length);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

// ── Numbers and expressions ──────────────────────────────────────────────────────────────────────

// A number, or an expression of the parameters read so far; "inf" and "-inf" where bounds may be infinite.
static perp_status read_number(const ncp_reader *in, ncp_place at, const json_t *json,
                               bool infinite, double *out)
{
    if (json_is_number(json)) {
        *out = json_number_value(json);
        return PERP_OK;
    }
    const char *text = json_is_string(json) ? json_string_value(json) : NULL;
    if (!text) {
        return fail_at(in, at,
                       infinite ? "write a number, \"inf\", \"-inf\" or an expression of parameters"
                                : "write a number or an expression of parameters");
    }
    if (infinite && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0)) {
        *out = text[0] == '-' ? -PP_INF : PP_INF;
        return PERP_OK;
    }
    // evaluated at once: parameters are constants
    const pp_expr_names names = {
        .constant = in->constant, .value = in->value, .constants = in->constants};
    const pp_expr *expr;
    pp_expr_error error = {1, ""};
    perp_status status = pp_expr_parse_with(text, &names, in->draft->scratch, &expr, NULL, &error);
    if (status == PERP_ERR_FORMAT) {
        return fail_in(in, at, &error);
    }
    if (status < 0) {
        return pp_draft_memory(in->draft);
    }
    *out = pp_expr_value(expr, NULL);
    return isfinite(*out) ? PERP_OK : fail_at(in, at, "the value is not a finite number");
}

// An expression of the first `known` names (variables, definitions) and all parameters; numbers count.
static perp_status read_expression(const ncp_reader *in, ncp_place at, const json_t *json,
                                   int known, const pp_expr **out)
{
    pp_expr_error error = {1, ""};
    char number[40];
    const char *text = json_is_string(json) ? json_string_value(json) : NULL;
    if (json_is_number(json)) {
        pp_number_print(number, sizeof number, json_number_value(json));
        text = number;
    }
    if (!text) {
        return fail_at(in, at, "write an expression in quotes, such as \"x^2 - y\"");
    }
    const pp_expr_names names = {.variable = in->name,
                                 .variables = known,
                                 .constant = in->constant,
                                 .value = in->value,
                                 .constants = in->constants};
    perp_status status = pp_expr_parse_with(text, &names, in->arena, out, NULL, &error);
    if (status == PERP_ERR_FORMAT) {
        return fail_in(in, at, &error);
    }
    return status < 0 ? pp_draft_memory(in->draft) : PERP_OK;
}

// ── Groups ───────────────────────────────────────────────────────────────────────────────────────

static perp_status read_parameters(ncp_reader *in)
{
    size_t count = json_object_size(in->parameters);
    in->constant = PP_ARRAY(in->draft->scratch, const char *, count);
    in->value = PP_ARRAY(in->draft->scratch, double, count);
    if (!in->constant || !in->value) {
        return pp_draft_memory(in->draft);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)in->parameters, name, value)
    {
        ncp_place at = {"parameters", name, NULL};
        perp_status status = read_number(in, at, value, false, &in->value[in->constants]);
        if (status < 0) {
            return status;
        }
        in->constant[in->constants++] = name;  // lives as long as the tree
    }
    return PERP_OK;
}

// Names of variables and definitions, kept by the problem.
static perp_status list_names(ncp_reader *in)
{
    size_t count = json_object_size(in->variables) + json_object_size(in->definitions);
    in->name = PP_ARRAY(in->arena, const char *, count);
    if (!in->name) {
        return pp_draft_memory(in->draft);
    }
    const json_t *const groups[] = {in->variables, in->definitions};
    for (int g = 0; g < 2; g++) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)groups[g], name, value)
        {
            const char *copy = copy_text(in->arena, name);
            if (!copy) {
                return pp_draft_memory(in->draft);
            }
            in->name[in->n + in->m] = copy;
            if (g == 0) {
                in->n++;
            } else {
                in->m++;
            }
        }
    }
    return PERP_OK;
}

static perp_status read_definitions(const ncp_reader *in, pp_ncp_model *model)
{
    const char *name;
    json_t *value;
    int k = 0;
    json_object_foreach((json_t *)(uintptr_t)in->definitions, name, value)
    {
        ncp_place at = {"definitions", name, NULL};
        // a definition sees those before it
        perp_status status = read_expression(in, at, value, in->n + k, &model->definition[k]);
        if (status < 0) {
            return status;
        }
        k++;
    }
    return PERP_OK;
}

// One key of a variable.
static perp_status read_variable_key(const ncp_reader *in, pp_ncp_model *model, int k,
                                     const char *key, const json_t *value)
{
    static const char *const keys[] = {"lower", "upper", "start", "typical", "F"};
    ncp_place at = {"variables", in->name[k], key};
    double *numbers[] = {&model->lower[k], &model->upper[k], &model->start[k], &model->typical[k]};
    for (int w = 0; w < 4; w++) {
        if (strcmp(key, keys[w]) == 0) {
            model->typical_given = model->typical_given || w == 3;
            perp_status status = read_number(in, at, value, w < 2, numbers[w]);
            if (status >= 0 && w == 3 && !(*numbers[w] > 0.0)) {
                return fail_at(in, at, "write a positive number");
            }
            return status;
        }
    }
    if (strcmp(key, "F") == 0) {
        return read_expression(in, at, value, in->n + in->m, &model->F[k]);
    }
    char text[200];
    const char *near = pp_nearest(key, strlen(key), keys, 5);
    pp_print(text, sizeof text, "variable '%.60s': unknown key '%.40s'%s%s%s", in->name[k], key,
             near ? ": did you mean '" : "; use lower, upper, start, typical and F",
             near ? near : "", near ? "'?" : "");
    return pp_draft_fail(in->draft, NULL, place_of(in, at, true), "%s", text);
}

static perp_status read_variable(const ncp_reader *in, pp_ncp_model *model, int k,
                                 const json_t *object)
{
    ncp_place at = {"variables", in->name[k], NULL};
    char text[200];
    if (!json_is_object(object)) {
        return fail_at(in, at, "write an object, such as {\"lower\": 0, \"F\": \"x - 1\"}");
    }
    // the defaults are those of an LCP; 0 stands for no typical size
    model->lower[k] = 0.0;
    model->upper[k] = PP_INF;
    model->start[k] = 0.0;
    model->typical[k] = 0.0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        perp_status status = read_variable_key(in, model, k, key, value);
        if (status < 0) {
            return status;
        }
    }
    if (!model->F[k]) {
        return fail_at(in, at, "'F', the expression that belongs to it, is missing");
    }
    if (!(model->lower[k] <= model->upper[k]) || model->lower[k] == PP_INF ||
        model->upper[k] == -PP_INF) {
        pp_print(text, sizeof text, "%g..%g contains no number", model->lower[k], model->upper[k]);
        return fail_at(in, at, text);
    }
    return PERP_OK;
}

static perp_status read_variables(const ncp_reader *in, pp_ncp_model *model)
{
    const char *name;
    json_t *value;
    int k = 0;
    json_object_foreach((json_t *)(uintptr_t)in->variables, name, value)
    {
        perp_status status = read_variable(in, model, k, value);
        if (status < 0) {
            return status;
        }
        k++;
    }
    // sizes are for all variables or for none: those not given are taken from the start
    if (!model->typical_given) {
        return PERP_OK;
    }
    for (k = 0; k < in->n; k++) {
        if (model->typical[k] == 0.0) {
            model->typical[k] = fmax(fabs(model->start[k]), 1.0);
        }
    }
    return PERP_OK;
}

// ── The object ───────────────────────────────────────────────────────────────────────────────────

// Keys of the file besides those that every kind has.
static perp_status find_groups(ncp_reader *in, const json_t *root)
{
    static const char *const keys[] = {"perp_problem", "kind",        "name",
                                       "parameters",   "definitions", "variables"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
    {
        bool known = false;
        for (int k = 0; k < 6; k++) {
            known = known || strcmp(key, keys[k]) == 0;
        }
        if (!known) {
            const char *near = pp_nearest(key, strlen(key), keys, 6);
            return pp_draft_fail(in->draft, NULL, place_of(in, (ncp_place){key, NULL, NULL}, true),
                                 "unknown key '%.40s' in a problem of kind 'ncp'%s%s%s", key,
                                 near ? ": did you mean '" : "", near ? near : "",
                                 near ? "'?" : "");
        }
    }
    // all groups but the variables may be missing
    in->parameters = json_object_get(root, "parameters");
    in->definitions = json_object_get(root, "definitions");
    in->variables = json_object_get(root, "variables");
    if (json_is_object(in->variables) && json_object_size(in->variables) == 0) {
        return pp_draft_fail(in->draft, NULL,
                             place_of(in, (ncp_place){"variables", NULL, NULL}, false),
                             "a problem of kind 'ncp' needs at least one variable");
    }
    if (!in->variables) {
        return pp_draft_fail(in->draft, NULL, NULL, "a problem of kind 'ncp' needs 'variables'");
    }
    perp_status status =
        check_group(in, "variables", in->variables, "{\"x\": {\"lower\": 0, \"F\": \"x - 1\"}}");
    if (status >= 0) {
        status = check_group(in, "definitions", in->definitions, "{\"s\": \"x + y\"}");
    }
    if (status >= 0) {
        status = check_group(in, "parameters", in->parameters, "{\"a\": 2}");
    }
    if (status < 0) {
        return status;
    }
    return check_distinct(in);
}

perp_status pp_ncp_read(pp_draft *draft, const struct json_t *root, perp_problem *problem)
{
    ncp_reader in = {.draft = draft, .arena = problem->arena};
    perp_status status = find_groups(&in, root);
    if (status >= 0) {
        status = read_parameters(&in);
    }
    if (status >= 0) {
        status = list_names(&in);
    }
    if (status < 0) {
        return status;
    }
    // names are known: expressions may refer to all variables, also to those after them
    pp_ncp_model *model = pp_ncp_model_create(in.n, in.m, in.arena);
    if (!model) {
        return pp_draft_memory(draft);
    }
    model->name = in.name;
    status = read_definitions(&in, model);
    if (status >= 0) {
        status = read_variables(&in, model);
    }
    if (status < 0) {
        return status;
    }
    if (pp_ncp_model_finish(model, draft->scratch, in.arena) < 0) {
        return pp_draft_memory(draft);
    }
    problem->kind = PERP_PROBLEM_NCP;
    problem->word = "ncp";
    problem->model = model;
    problem->ncp = pp_ncp_model_problem(model);
    return PERP_OK;
}
