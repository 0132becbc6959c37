// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Places in JSON text, for messages. jansson reports where the syntax breaks, not where a value is.
// This walks through the text, which jansson has found valid, to a key of the top-level object and
// to elements within it. Because the text is valid, commas and colons may be skipped like white
// space.
#include "format/format.h"

#include <string.h>

// A position in the text.
typedef struct json_walk {
    const char *at, *end;
} json_walk;

// Includes separators: only values and brackets are of interest.
static void skip_space(json_walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n,:", *w->at) && *w->at) {
        w->at++;
    }
}

// From the opening quote to the byte after the closing one.
static void skip_string(json_walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
        w->at += *w->at == '\\' && w->at + 1 < w->end;
    }
    w->at += w->at < w->end;
}

// Skips one value. Brackets are counted outside strings.
static void skip_value(json_walk *w)
{
    skip_space(w);
    int depth = 0;
    while (w->at < w->end) {
        char c = *w->at;
        if (c == '"') {
            skip_string(w);
        } else if (c == '[' || c == '{') {
            depth++;
            w->at++;
        } else if (c == ']' || c == '}') {
            depth--;
            w->at++;
        } else {
            const char *scalar = w->at;
            while (w->at < w->end && !strchr(" \t\r\n,:[]{}\"", *w->at)) {
                w->at++;
            }
            // A separator within an array or object; or a zero byte, which strchr finds as well.
            if (w->at == scalar) {
                w->at++;
                continue;
            }
        }
        if (depth <= 0) {
            return;
        }
    }
}

// Goes to the value of the key and returns the place of the key itself; NULL: there is none. Keys
// with escapes are compared as they are written.
static const char *find_key(json_walk *w, const char *key)
{
    size_t length = strlen(key);
    for (skip_space(w); w->at < w->end && *w->at == '"'; skip_space(w)) {
        const char *name = w->at + 1;
        skip_string(w);
        size_t n = (size_t)(w->at - name) - 1;
        skip_space(w);
        if (n == length && memcmp(name, key, n) == 0) {
            return name - 1;
        }
        skip_value(w);
    }
    return NULL;
}

// Goes to element `index` of the array at the position; false: it has fewer, or is no array.
static bool find_element(json_walk *w, int index)
{
    if (w->at == w->end || *w->at != '[') {
        return false;
    }
    w->at++;
    for (int k = 0; k < index; k++) {
        skip_value(w);
    }
    skip_space(w);
    return w->at < w->end && *w->at != ']';
}

// Without steps the place is that of the first value. A path that leads through a value of another
// type ends with NULL, which callers replace by a place above.
const char *pp_json_find(const char *text, size_t size, const pp_json_step *step, int depth,
                         bool at_key)
{
    json_walk w = {text, text + size};
    skip_space(&w);
    for (int k = 0; k < depth; k++) {
        if (!step[k].key) {
            if (!find_element(&w, step[k].index)) {
                return w.at < w.end ? w.at : NULL;
            }
            continue;
        }
        if (w.at == w.end || *w.at != '{') {
            return NULL;
        }
        w.at++;
        const char *key = find_key(&w, step[k].key);
        if (!key) {
            return NULL;
        }
        if (at_key && k == depth - 1) {
            return key;
        }
    }
    return w.at;
}

// Splits the path at its dots.
const char *pp_json_locate(const char *text, size_t size, const char *path, const int *index,
                           int depth)
{
    enum { STEPS = 8, KEY_MAX = 64 };
    pp_json_step step[STEPS] = {{0}};
    char key[STEPS][KEY_MAX];
    int n = 0;
    while (*path && n < STEPS) {
        size_t length = strcspn(path, ".");
        pp_print(key[n], KEY_MAX, "%.*s", (int)length, path);
        step[n].key = key[n];
        n++;
        path += length + (path[length] == '.');
    }
    for (int k = 0; k < depth && n < STEPS; k++) {
        step[n++].index = index[k];
    }
    return pp_json_find(text, size, step, n, false);
}
