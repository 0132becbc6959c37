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

static void put_value(twin_text *out, const json_t *value)
{
    const char *key;
    json_t *member;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        twin_put(out, "{");
        json_object_foreach((json_t *)(size_t)value, key, member)
        {
            twin_put(out, "%s=", key);
            put_value(out, member);
        }
        twin_put(out, "}");
        return;
    case JSON_ARRAY:
        twin_put(out, "[");
        for (size_t k = 0; k < json_array_size(value); k++) {
            put_value(out, json_array_get(value, k));
        }
        twin_put(out, "]");
        return;
    case JSON_STRING:
        twin_put(out, "s%zu:%s", json_string_length(value), json_string_value(value));
        return;
    case JSON_INTEGER:
        twin_put(out, "i%lld", (long long)json_integer_value(value));
        return;
    case JSON_REAL:
        twin_put(out, "r%a", json_real_value(value));
        return;
    case JSON_TRUE:
        twin_put(out, "T");
        return;
    case JSON_FALSE:
        twin_put(out, "F");
        return;
    case JSON_NULL:
        twin_put(out, "N");
        return;
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
