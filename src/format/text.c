// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that grows.
//
// Numbers have 17 significant digits, which bring back the same double, and a point whatever the
// locale is. Strings in JSON are valid UTF-8 whatever a program put into a name.
#include "format/text.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

void pp_text_start(pp_text *text, const perp_env *env)
{
    *text = (pp_text){.env = env ? *env : (perp_env){0}};
}

void pp_text_end(pp_text *text)
{
    if (!text->arena) {
        pp_free(&text->env, text->data, text->room);
    }
    text->data = NULL;
    text->size = text->room = 0;
}

// Memory is kept for the next lines.
void pp_text_clear(pp_text *text)
{
    text->size = 0;
    text->failed = false;
}

// Room for `more` bytes and the zero at the end, doubled each time: adding n bytes takes time O(n)
// in all.
static bool text_reserve(pp_text *text, size_t more)
{
    if (text->size + more + 1 <= text->room) {
        return true;
    }
    size_t room = 2 * (text->size + more + 1);
    room = room < FIRST_ROOM ? FIRST_ROOM : room;
    char *data = NULL;
    if (!text->failed && text->arena) {
        data = PP_ARRAY(text->arena, char, room);
        if (data && text->size > 0) {
            memcpy(data, text->data, text->size);
        }
    } else if (!text->failed) {
        data = pp_block_move(&text->env, text->data, text->room, text->size, room);
    }
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

// Texts stay terminated after every addition.
static void add_bytes(pp_text *text, const char *bytes, size_t count)
{
    if (text_reserve(text, count)) {
        memcpy(text->data + text->size, bytes, count);
        text->size += count;
        text->data[text->size] = '\0';
    }
}

void pp_text_add(pp_text *text, const char *string)
{
    add_bytes(text, string, strlen(string));
}

// Digits by hand: printf would follow the locale, which may group digits.
void pp_text_int(pp_text *text, int64_t value)
{
    char digits[24];
    int at = (int)sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    add_bytes(text, digits + at, sizeof digits - (size_t)at);
}

// Most numbers of a body at rest are 0, and written the quick way.
void pp_text_number(pp_text *text, double value)
{
    char digits[40];
    if (!isfinite(value)) {
        pp_text_add(text, "null");
    } else if (value == 0.0) {
        pp_text_add(text, "0");  // most numbers of a body at rest: the quick way
    } else {
        pp_number_print(digits, sizeof digits, value);
        pp_text_add(text, digits);
    }
}

void pp_text_short(pp_text *text, double value)
{
    char digits[40];
    text->infinite = text->infinite || !isfinite(value);
    pp_number_print_short(digits, sizeof digits, value == 0.0 ? 0.0 : value);  // no -0
    pp_text_add(text, digits);
}

void pp_text_vec3(pp_text *text, perp_vec3 x)
{
    const double list[3] = {x.x, x.y, x.z};
    for (int k = 0; k < 3; k++) {
        pp_text_add(text, k == 0 ? "[" : ", ");
        pp_text_short(text, list[k]);
    }
    pp_text_add(text, "]");
}

void pp_text_quat(pp_text *text, perp_quat q)
{
    const double list[4] = {q.w, q.x, q.y, q.z};
    for (int k = 0; k < 4; k++) {
        pp_text_add(text, k == 0 ? "[" : ", ");
        pp_text_short(text, list[k]);
    }
    pp_text_add(text, "]");
}

void pp_text_time(pp_text *text, double t)
{
    char digits[40];
    pp_number_print_rounded(digits, sizeof digits, t);
    pp_text_add(text, digits);
}

// Bytes of the UTF-8 character at text. 0 when it is none: a form longer than needed, a surrogate,
// or a code past U+10FFFF.
static size_t utf8_length(const unsigned char *text)
{
    // The smallest code that needs so many bytes.
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned head = text[0];
    size_t length = 1;
    if (head >= 0xf0) {
        length = 4;
    } else if (head >= 0xe0) {
        length = 3;
    } else if (head >= 0xc0) {
        length = 2;
    } else if (head >= 0x80) {
        return 0;  // a byte that continues a character, without its head
    }
    // Four bits of the head of a long character: more would be past U+10FFFF, and are found below.
    uint32_t code = length == 4 ? head & 0x0fu : head & (0x7fu >> length);
    for (size_t k = 1; k < length; k++) {
        if ((text[k] & 0xc0u) != 0x80u) {
            return 0;
        }
        code = code << 6 | (text[k] & 0x3fu);
    }
    bool good = code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
    return good ? length : 0;
}

// A JSON string. Bytes that are no UTF-8 become U+FFFD; control characters are escaped, also the
// second block U+0080 to U+009F, which terminals obey.
void pp_text_quoted(pp_text *text, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    pp_text_add(text, "\"");
    while (*at) {
        size_t length = utf8_length(at);
        // The character itself, unless one of the cases below applies.
        char escape[8] = "\\ufffd";
        memcpy(escape, at, length);
        escape[length > 0 ? length : 6] = '\0';
        if (*at == '"' || *at == '\\') {
            pp_print(escape, sizeof escape, "\\%c", *at);
        } else if (*at < ' ' || *at == 0x7f) {
            pp_print(escape, sizeof escape, "\\u%04x", *at);
        } else if (length == 2 && at[0] == 0xc2 && at[1] < 0xa0) {
            pp_print(escape, sizeof escape, "\\u%04x", at[1]);  // controls of terminals
        }
        pp_text_add(text, escape);
        at += length > 0 ? length : 1;
    }
    pp_text_add(text, "\"");
}

// A CSV field by RFC 4180: quotes are doubled. A name that a spreadsheet would take for a formula,
// or that begins with the mark against that, gets the mark ' before it; a program that reads the
// file takes one such mark away.
void pp_text_field(pp_text *text, const char *string)
{
    pp_text_field_with(text, string, "");
}

void pp_text_field_with(pp_text *text, const char *string, const char *tail)
{
    const char *mark = string[0] && strchr("=+-@'\t\r", string[0]) ? "'" : "";
    if (!strpbrk(string, "\",\r\n") && !mark[0]) {
        pp_text_add(text, string);
        pp_text_add(text, tail);
        return;
    }
    pp_text_add(text, "\"");
    pp_text_add(text, mark);
    for (; *string; string++) {
        const char both[3] = {*string, *string == '"' ? '"' : '\0'};
        pp_text_add(text, both);
    }
    pp_text_add(text, tail);
    pp_text_add(text, "\"");
}

// A key of a JSON object that has members before it.
void pp_text_key(pp_text *text, const char *key)
{
    pp_text_add(text, ", \"");
    pp_text_add(text, key);
    pp_text_add(text, "\": ");
}

void pp_text_member(pp_text *text, const char *key, double value)
{
    pp_text_key(text, key);
    pp_text_number(text, value);
}

void pp_text_named(pp_text *text, const char *key, const char *string)
{
    pp_text_key(text, key);
    pp_text_quoted(text, string);
}

void pp_text_key_short(pp_text *text, const char *key, double value)
{
    pp_text_key(text, key);
    pp_text_short(text, value);
}

void pp_text_key_vec3(pp_text *text, const char *key, perp_vec3 x)
{
    pp_text_key(text, key);
    pp_text_vec3(text, x);
}
