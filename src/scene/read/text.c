// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of a scene before it is JSON: comments and trailing commas; and values of parameters that
// the caller sets, written into the text.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <stdio.h>
#include <string.h>

// ── Comments and commas ──────────────────────────────────────────────────────────────────────────

// A comma before a closing bracket, after a value. After an opening bracket or another comma it
// stays, and is an error.
static void blank_trailing(char *text, const size_t *comma, char before, char close)
{
    if ((close == ']' || close == '}') && *comma != SIZE_MAX && !strchr("[{,:", before)) {
        text[*comma] = ' ';
    }
}

// Replaces comments, from // to the end of the line, and trailing commas by blanks, so that lines
// and columns in messages stay those of the file. Neither is one within a string.
void pp_scene_blank(char *text, size_t size)
{
    bool string = false, comment = false;
    size_t comma = SIZE_MAX;        // place of the last token, if it is a comma
    char before = '[', last = '[';  // token before that comma; last token
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        memset(text, ' ', 3);  // byte order mark of UTF-8, which some editors write
    }
    for (size_t k = 0; k < size; k++) {
        char c = text[k];
        if (comment) {
            comment = c != '\n';
        } else if (string && c == '\\') {
            k++;  // an escaped quote does not end the string
        } else if (string) {
            string = c != '"';
        } else if (c == '/' && k + 1 < size && text[k + 1] == '/') {
            comment = true;
        } else if (!strchr(" \t\r\n", c) || c == '\0') {
            string = c == '"';
            blank_trailing(text, &comma, before, c);
            comma = c == ',' ? k : SIZE_MAX;
            before = c == ',' ? last : before;
            last = c;
        }
        if (comment && k < size) {
            text[k] = ' ';
        }
    }
}

// ── Values that are set ──────────────────────────────────────────────────────────────────────────

void pp_parameter_list(const json_t *parameters, char *text, size_t size)
{
    size_t n = json_object_size(parameters);
    pp_print(text, size, n > 0 ? "it has " : "it has no parameters");
    for (size_t k = 0; k < n; k++) {
        size_t used = strlen(text);
        const char *name = parameters->as.item[k].key;
        bool fits = used + strlen(name) + sizeof ", ..." < size;
        pp_print(text + used, size - used, "%s%s", k > 0 ? ", " : "", fits ? name : "...");
        if (!fits) {
            break;
        }
    }
}

// The length of a value: a string, a number or a word.
static size_t value_length(const char *at, const char *end)
{
    const char *c = at;
    if (*c != '"') {
        while (c < end && !strchr(" \t\r\n,}]", *c)) {
            c++;
        }
        return (size_t)(c - at);
    }
    for (c++; c < end && *c != '"'; c++) {
        c += *c == '\\' && c + 1 < end;
    }
    return (size_t)(c - at) + 1;
}

// A value as JSON: a number as it is, anything else as a string. NULL: no memory, or no text.
static const char *json_value(pp_arena *arena, const char *value)
{
    const json_t *root = NULL;
    perp_error ignored;
    size_t length = strlen(value);
    char *text = PP_ARRAY(arena, char, 2 * length + 8);
    if (!text) {
        return NULL;
    }
    // In brackets, since a JSON text is an array or an object.
    pp_print(text, length + 3, "[%s]", value);
    perp_status status = pp_json_parse(text, length + 2, arena, &root, &ignored);
    if (status == PERP_ERR_MEMORY) {
        return NULL;
    }
    if (status == PERP_OK && json_array_size(root) == 1 &&
        json_is_number(json_array_get(root, 0))) {
        pp_print(text, length + 1, "%s", value);
        return text;
    }
    // Each byte may need an escape, for which the text has room; control characters become blanks.
    char *to = text;
    *to++ = '"';
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\') {
            *to++ = '\\';
        }
        *to++ = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    *to++ = '"';
    *to = '\0';
    return text;
}

// The place of a parameter's value in the text.
static const char *find_value(const char *text, size_t size, const char *name)
{
    const pp_json_step path[2] = {{"parameters", 0}, {name, 0}};
    return pp_json_find(text, size, path, 2, false);
}

// One value. *text and *size become those of a new text in the arena.
static perp_status set_one(pp_arena *arena, const perp_scene_parameter *set, const char **text,
                           size_t *size, perp_error *error)
{
    const json_t *root = NULL, *parameters;
    char *plain = PP_ARRAY(arena, char, *size + 1);
    const char *value = json_value(arena, set->value);
    if (!plain || !value) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    }
    memcpy(plain, *text, *size);
    plain[*size] = '\0';
    pp_scene_blank(plain, *size);
    perp_status status = pp_json_parse(plain, *size, arena, &root, error);
    if (status < 0) {
        return status;
    }
    parameters = json_object_get(root, "parameters");
    const char *at = find_value(plain, *size, set->name);
    if (!json_object_get(parameters, set->name) || !at || *at == '{' || *at == '[') {
        char list[160];
        pp_parameter_list(parameters, list, sizeof list);
        return pp_fail(error, PERP_ERR_ARGUMENT, "the scene has no parameter '%.40s'; %s",
                       set->name, list);
    }
    // The comments of the text are kept: places in both texts are the same.
    size_t head = (size_t)(at - plain), old = value_length(at, plain + *size);
    size_t length = strlen(value), tail = *size - head - old;
    char *copy = PP_ARRAY(arena, char, head + length + tail + 1);
    if (!copy) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    }
    memcpy(copy, *text, head);
    memcpy(copy + head, value, length);
    memcpy(copy + head + length, *text + head + old, tail);
    *size = head + length + tail;
    copy[*size] = '\0';
    *text = copy;
    return PERP_OK;
}

perp_status pp_scene_set(pp_arena *arena, const perp_scene_load_options *reading, const char **text,
                         size_t *size, perp_error *error)
{
    for (int k = 0; k < reading->sets; k++) {
        perp_status status = set_one(arena, &reading->set[k], text, size, error);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}
