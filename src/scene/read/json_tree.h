// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as a tree in little memory: 24 bytes per value in one array, and all strings in another.
//
// The language is that of jansson, which reads problem files: no comments, no duplicate keys,
// UTF-8, integers of 64 bits, 2048 levels. The accessors have the names and rules of jansson's;
// given NULL or a value of another type they return NULL, 0 or false. They are inline, so that a
// program that links both has no duplicate symbols.
#pragma once

#include "format/format.h"

#include <string.h>

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER,
    JSON_REAL,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} json_type;

typedef int64_t json_int_t;

typedef struct json_t {
    union {
        double real;
        json_int_t integer;
        const char *string;         // terminated; no zero byte in it
        const struct json_t *item;  // of an array, or the values of an object in order
    } as;
    const char *key;  // of a value in an object; NULL elsewhere
    uint32_t count;   // items; bytes of a string
    uint8_t type;     // json_type
} json_t;

// Parses a text into a tree in the arena. PERP_ERR_FORMAT, with line and column: it is not JSON, or
// not an array or object.
perp_status pp_json_parse(const char *text, size_t size, pp_arena *arena, const json_t **root,
                          perp_error *error);
// Prints a value as JSON on one line; false: it does not fit into size bytes.
bool pp_json_print(const json_t *value, char *text, size_t size);

static inline bool pp_json_is(const json_t *value, json_type type)
{
    return value && value->type == (uint8_t)type;
}

static inline bool json_is_object(const json_t *value)
{
    return pp_json_is(value, JSON_OBJECT);
}

static inline bool json_is_array(const json_t *value)
{
    return pp_json_is(value, JSON_ARRAY);
}

static inline bool json_is_string(const json_t *value)
{
    return pp_json_is(value, JSON_STRING);
}

static inline bool json_is_integer(const json_t *value)
{
    return pp_json_is(value, JSON_INTEGER);
}

static inline bool json_is_number(const json_t *value)
{
    return json_is_integer(value) || pp_json_is(value, JSON_REAL);
}

static inline bool json_is_true(const json_t *value)
{
    return pp_json_is(value, JSON_TRUE);
}

static inline bool json_is_null(const json_t *value)
{
    return pp_json_is(value, JSON_NULL);
}

static inline bool json_is_boolean(const json_t *value)
{
    return json_is_true(value) || pp_json_is(value, JSON_FALSE);
}

static inline size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->count : 0;
}

static inline size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->count : 0;
}

static inline const json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? &array->as.item[index] : NULL;
}

static inline const char *json_string_value(const json_t *value)
{
    return json_is_string(value) ? value->as.string : NULL;
}

static inline size_t json_string_length(const json_t *value)
{
    return json_is_string(value) ? value->count : 0;
}

static inline json_int_t json_integer_value(const json_t *value)
{
    return json_is_integer(value) ? value->as.integer : 0;
}

static inline double json_number_value(const json_t *value)
{
    if (json_is_integer(value)) {
        return (double)value->as.integer;
    }
    return pp_json_is(value, JSON_REAL) ? value->as.real : 0.0;
}

// Linear search: objects of a scene have few keys.
static inline const json_t *json_object_get(const json_t *object, const char *key)
{
    for (size_t k = 0; k < json_object_size(object); k++) {
        if (strcmp(object->as.item[k].key, key) == 0) {
            return &object->as.item[k];
        }
    }
    return NULL;
}
