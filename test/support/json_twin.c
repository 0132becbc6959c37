// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree that jansson makes of a text.
#include "support/json_twin.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void twin_put(twin_text *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (out->used + (size_t)length + 1 > out->room) {
        out->room = 2 * (out->used + (size_t)length + 1);
        out->data = realloc(out->data, out->room);
        if (!out->data) {
            abort();
        }
    }
    va_start(list, format);
    vsnprintf(out->data + out->used, out->room - out->used, format, list);
    va_end(list);
    out->used += (size_t)length;
}

void twin_put_leaf(twin_text *out, const twin_leaf *leaf)
{
    twin_put(out, "%c", leaf->kind);
    if (leaf->kind == 's') {
        twin_put(out, "%zu:%s", leaf->length, leaf->string);
    } else if (leaf->kind == 'i') {
        twin_put(out, "%lld", leaf->integer);
    } else if (leaf->kind == 'r') {
        twin_put(out, "%a", leaf->real);
    }
}

static twin_leaf leaf_of(const json_t *value)
{
    static const char kinds[] = {[JSON_STRING] = 's', [JSON_INTEGER] = 'i', [JSON_REAL] = 'r',
                                 [JSON_TRUE] = 'T',   [JSON_FALSE] = 'F',   [JSON_NULL] = 'N'};
    return (twin_leaf){.kind = kinds[json_typeof(value)],
                       .string = json_string_value(value),
                       .length = json_string_length(value),
                       .integer = json_integer_value(value),
                       .real = json_real_value(value)};
}

static void put_value(twin_text *out, const json_t *value)
{
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        twin_put(out, "{");
        json_object_foreach((json_t *)(size_t)value, key, member)
        {
            twin_put(out, "%s=", key);
            put_value(out, member);
        }
        twin_put(out, "}");
    } else if (json_is_array(value)) {
        twin_put(out, "[");
        for (size_t k = 0; k < json_array_size(value); k++) {
            put_value(out, json_array_get(value, k));
        }
        twin_put(out, "]");
    } else {
        twin_leaf leaf = leaf_of(value);
        twin_put_leaf(out, &leaf);
    }
}

bool twin_read(const char *text, size_t size, twin_text *out)
{
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    out->used = 0;
    twin_put(out, "%s", "");
    if (root) {
        put_value(out, root);
    }
    json_decref(root);
    return root != NULL;
}
