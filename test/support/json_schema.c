// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/json_schema.h"

#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct validator {
    const json_t *root;
    char path[256];
    char *why;
    size_t size;
} validator;

static bool holds(validator *v, const json_t *schema, const json_t *value);

static bool wrong(const validator *v, const char *rule, const char *what)
{
    snprintf(v->why, v->size, "%s: %s %s", v->path[0] ? v->path : "top", rule, what);
    return false;
}

// Checks a part, with its step added to the path.
static bool part_holds(validator *v, const json_t *schema, const json_t *value, const char *step)
{
    size_t n = strlen(v->path);
    snprintf(v->path + n, sizeof v->path - n, "/%s", step);
    bool good = holds(v, schema, value);
    v->path[n] = '\0';
    return good;
}

// The same without a trace in `why`.
static bool would_hold(const validator *v, const json_t *schema, const json_t *value)
{
    char quiet[8];
    validator copy = *v;
    copy.why = quiet;
    copy.size = sizeof quiet;
    return holds(&copy, schema, value);
}

static bool has_type(const json_t *value, const char *type)
{
    static const struct {
        const char *word;
        json_type type;
    } types[] = {{"object", JSON_OBJECT},
                 {"array", JSON_ARRAY},
                 {"string", JSON_STRING},
                 {"integer", JSON_INTEGER}};
    for (size_t k = 0; k < 4; k++) {
        if (strcmp(type, types[k].word) == 0) {
            return json_typeof(value) == types[k].type;
        }
    }
    return strcmp(type, "number") == 0 ? json_is_number(value)
                                       : strcmp(type, "boolean") == 0 && json_is_boolean(value);
}

static bool check_ref(validator *v, const json_t *rule, const json_t *value)
{
    static const char head[] = "#/$defs/";
    const char *ref = json_string_value(rule);
    if (!ref || strncmp(ref, head, sizeof head - 1) != 0) {
        return wrong(v, "$ref", "outside #/$defs");
    }
    const json_t *schema =
        json_object_get(json_object_get(v->root, "$defs"), ref + sizeof head - 1);
    return schema ? holds(v, schema, value) : wrong(v, "$ref to nothing:", ref);
}

static bool check_enum(validator *v, const json_t *rule, const json_t *value)
{
    for (size_t k = 0; k < json_array_size(rule); k++) {
        if (json_equal(json_array_get(rule, k), value)) {
            return true;
        }
    }
    return wrong(v, "enum", "has no such value");
}

static bool check_properties(validator *v, const json_t *rule, const json_t *value)
{
    const char *key;
    json_t *schema;
    json_object_foreach((json_t *)(uintptr_t)rule, key, schema)
    {
        const json_t *part = json_object_get(value, key);
        if (part && !part_holds(v, schema, part, key)) {
            return false;
        }
    }
    return true;
}

static bool check_required(validator *v, const json_t *rule, const json_t *value)
{
    for (size_t k = 0; json_is_object(value) && k < json_array_size(rule); k++) {
        const char *key = json_string_value(json_array_get(rule, k));
        if (!json_object_get(value, key)) {
            return wrong(v, "required", key);
        }
    }
    return true;
}

static bool check_additional(validator *v, const json_t *rule, const json_t *schema,
                             const json_t *value)
{
    const json_t *properties = json_object_get(schema, "properties");
    const char *key;
    json_t *part;
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        bool named = json_object_get(properties, key) != NULL;
        if (!named && json_is_false(rule)) {
            return wrong(v, "no such property:", key);
        }
        if (!named && !part_holds(v, rule, part, key)) {
            return false;
        }
    }
    return true;
}

static bool check_items(validator *v, const json_t *rule, const json_t *value)
{
    char step[24];
    for (size_t k = 0; k < json_array_size(value); k++) {
        snprintf(step, sizeof step, "%zu", k);
        if (!part_holds(v, rule, json_array_get(value, k), step)) {
            return false;
        }
    }
    return true;
}

static bool check_pattern(validator *v, const json_t *rule, const json_t *value)
{
    regex_t regex;
    if (!json_is_string(value)) {
        return true;
    }
    if (regcomp(&regex, json_string_value(rule), REG_EXTENDED | REG_NOSUB) != 0) {
        return wrong(v, "pattern", "does not compile");
    }
    bool good = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&regex);
    return good || wrong(v, "pattern", json_string_value(rule));
}

static bool check_any(validator *v, const json_t *rule, const json_t *value)
{
    for (size_t k = 0; k < json_array_size(rule); k++) {
        if (would_hold(v, json_array_get(rule, k), value)) {
            return true;
        }
    }
    return wrong(v, "anyOf", "none holds");
}

static bool check_all(validator *v, const json_t *rule, const json_t *value)
{
    for (size_t k = 0; k < json_array_size(rule); k++) {
        if (!holds(v, json_array_get(rule, k), value)) {
            return false;
        }
    }
    return true;
}

// Bounds on numbers and on lengths.
static bool check_bound(validator *v, const char *key, double bound, const json_t *value)
{
    double x = json_number_value(value);
    if (strcmp(key, "minimum") == 0) {
        return !json_is_number(value) || x >= bound || wrong(v, key, "");
    }
    if (strcmp(key, "maximum") == 0) {
        return !json_is_number(value) || x <= bound || wrong(v, key, "");
    }
    if (strcmp(key, "exclusiveMinimum") == 0) {
        return !json_is_number(value) || x > bound || wrong(v, key, "");
    }
    bool items = strcmp(key + 3, "Items") == 0;
    double n = items ? (double)json_array_size(value) : (double)json_string_length(value);
    bool applies = items ? json_is_array(value) : json_is_string(value);
    bool good = key[1] == 'i' ? n >= bound : n <= bound;
    return !applies || good || wrong(v, key, "");
}

static bool check_rule(validator *v, const json_t *schema, const char *key, const json_t *rule,
                       const json_t *value)
{
    static const char *const bounds[] = {"minimum",  "maximum",   "exclusiveMinimum", "minItems",
                                         "maxItems", "minLength", "maxLength"};
    static const struct {
        const char *key;
        bool (*check)(validator *v, const json_t *rule, const json_t *value);
    } rules[] = {
        {"$ref", check_ref},          {"enum", check_enum},   {"properties", check_properties},
        {"required", check_required}, {"items", check_items}, {"pattern", check_pattern},
        {"anyOf", check_any},         {"allOf", check_all}};
    static const char *const silent[] = {"description", "title", "$schema", "$defs", "then"};
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        if (strcmp(key, rules[k].key) == 0) {
            return rules[k].check(v, rule, value);
        }
    }
    for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
        if (strcmp(key, bounds[k]) == 0) {
            return check_bound(v, key, json_number_value(rule), value);
        }
    }
    for (size_t k = 0; k < sizeof silent / sizeof silent[0]; k++) {
        if (strcmp(key, silent[k]) == 0) {
            return true;
        }
    }
    if (strcmp(key, "type") == 0) {
        return has_type(value, json_string_value(rule)) ||
               wrong(v, "type", json_string_value(rule));
    }
    if (strcmp(key, "const") == 0) {
        return json_equal(rule, value) || wrong(v, "const", "");
    }
    if (strcmp(key, "additionalProperties") == 0) {
        return check_additional(v, rule, schema, value);
    }
    if (strcmp(key, "if") == 0) {
        const json_t *then = json_object_get(schema, "then");
        return !would_hold(v, rule, value) || holds(v, then, value);
    }
    return wrong(v, "a keyword this validator does not know:", key);
}

static bool holds(validator *v, const json_t *schema, const json_t *value)
{
    if (json_is_boolean(schema)) {
        return json_is_true(schema) || wrong(v, "false", "nothing may stand here");
    }
    const char *key;
    json_t *rule;
    json_object_foreach((json_t *)(uintptr_t)schema, key, rule)
    {
        if (!check_rule(v, schema, key, rule, value)) {
            return false;
        }
    }
    return true;
}

bool schema_holds(const json_t *root, const json_t *schema, const json_t *value, char *why,
                  size_t size)
{
    validator v = {.root = root, .why = why, .size = size};
    why[0] = '\0';
    return holds(&v, schema, value);
}
