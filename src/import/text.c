// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "import/text.h"

#include <math.h>
#include <string.h>

// Room for `more` bytes and a zero byte; false without memory.
static bool reserve(pp_json_text *t, size_t more)
{
    if (t->full || t->length + more < t->room) {
        return !t->full;
    }
    size_t room = 2 * (t->length + more) + 4096;
    char *text = PP_ARRAY(t->arena, char, room);
    t->full = !text;
    if (text && t->length > 0) {
        memcpy(text, t->text, t->length);
    }
    t->text = text ? text : t->text;
    t->room = text ? room : t->room;
    return !t->full;
}

static void append(pp_json_text *t, const char *bytes, size_t size)
{
    if (reserve(t, size + 1)) {
        memcpy(t->text + t->length, bytes, size);
        t->length += size;
        t->text[t->length] = '\0';
    }
}

void pp_json_raw(pp_json_text *t, const char *raw)
{
    append(t, raw, strlen(raw));
}

void pp_json_number(pp_json_text *t, double x)
{
    char text[40];
    t->infinite = t->infinite || !isfinite(x);
    pp_number_print_short(text, sizeof text, x == 0.0 ? 0.0 : x);  // no -0
    pp_json_raw(t, text);
}

void pp_json_string(pp_json_text *t, const char *string)
{
    append(t, "\"", 1);
    for (const char *c = string; *c; c++) {
        char escape[8] = {*c, '\0'};
        if (*c == '"' || *c == '\\') {
            pp_print(escape, sizeof escape, "\\%c", *c);
        } else if ((unsigned char)*c < ' ') {
            pp_print(escape, sizeof escape, "\\u%04x", (unsigned)*c);
        }
        pp_json_raw(t, escape);
    }
    append(t, "\"", 1);
}

void pp_json_vec3(pp_json_text *t, perp_vec3 x)
{
    pp_json_raw(t, "[");
    pp_json_number(t, x.x);
    pp_json_raw(t, ", ");
    pp_json_number(t, x.y);
    pp_json_raw(t, ", ");
    pp_json_number(t, x.z);
    pp_json_raw(t, "]");
}

void pp_json_quat(pp_json_text *t, perp_quat q)
{
    const double x[4] = {q.w, q.x, q.y, q.z};
    for (int k = 0; k < 4; k++) {
        pp_json_raw(t, k == 0 ? "[" : ", ");
        pp_json_number(t, x[k]);
    }
    pp_json_raw(t, "]");
}

void pp_json_key(pp_json_text *t, const char *key)
{
    pp_json_raw(t, ", \"");
    pp_json_raw(t, key);
    pp_json_raw(t, "\": ");
}

void pp_json_key_number(pp_json_text *t, const char *key, double x)
{
    pp_json_key(t, key);
    pp_json_number(t, x);
}

void pp_json_key_string(pp_json_text *t, const char *key, const char *string)
{
    pp_json_key(t, key);
    pp_json_string(t, string);
}

void pp_json_key_vec3(pp_json_text *t, const char *key, perp_vec3 x)
{
    pp_json_key(t, key);
    pp_json_vec3(t, x);
}
