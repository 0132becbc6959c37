// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that grows, and files that are whole or called .part.
//
// Numbers have 17 significant digits, which bring back the same double, and a point whatever the
// locale is. Strings in JSON are valid UTF-8 whatever a program put into a name.
#include "record/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

void pp_text_start(pp_text *text, const perp_env *env)
{
    *text = (pp_text){.env = env ? *env : (perp_env){0}};
}

void pp_text_end(pp_text *text)
{
    pp_free(&text->env, text->data, text->room);
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
    if (!text->failed) {
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
static void add_key(pp_text *text, const char *key)
{
    pp_text_add(text, ", \"");
    pp_text_add(text, key);
    pp_text_add(text, "\": ");
}

void pp_text_member(pp_text *text, const char *key, double value)
{
    add_key(text, key);
    pp_text_number(text, value);
}

void pp_text_named(pp_text *text, const char *key, const char *string)
{
    add_key(text, key);
    pp_text_quoted(text, string);
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

// fault: an errno, or 0 where the library gave none.
perp_status pp_fail_write(perp_error *error, const char *path, int fault)
{
    return pp_fail(error, PERP_ERR_IO, "cannot write '%.150s': %s", path,
                   fault ? strerror(fault) : "no reason given by the HDF5 library");
}

// Names that are cut short would be names of other files.
perp_status pp_path_join(char path[PP_PATH_MAX], const char *dir, const char *name,
                         perp_error *error)
{
    int length = snprintf(path, PP_PATH_MAX, "%s/%s", dir, name);
    if (length < 0 || length >= PP_PATH_MAX) {
        return pp_fail_write(error, dir, ENAMETOOLONG);
    }
    return PERP_OK;
}

// Two names: the one that it will have, and the one with .part that it has until then.
perp_status pp_part_file_open(pp_part_file *part, const char *dir, const char *name,
                              perp_error *error)
{
    char ending[64];
    pp_print(ending, sizeof ending, "%s.part", name);
    perp_status status = pp_path_join(part->path, dir, name, error);
    if (status == PERP_OK) {
        status = pp_path_join(part->part, dir, ending, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    part->file = fopen(part->part, "we");
    return part->file ? PERP_OK : pp_fail_write(error, part->part, errno);
}

// A text that ran out of memory is not written in part.
perp_status pp_part_file_write(pp_part_file *part, const pp_text *text, perp_error *error)
{
    if (text->failed) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to write '%.150s'", part->part);
    }
    errno = 0;
    if (text->size > 0 && fwrite(text->data, 1, text->size, part->file) != text->size) {
        return pp_fail_write(error, part->part, errno);
    }
    return PERP_OK;
}

// fclose may be the first call that sees a full disk: the file gets its name after it.
perp_status pp_part_file_finish(pp_part_file *part, perp_error *error)
{
    errno = 0;
    // An error of any earlier write is remembered by the stream.
    bool good = fflush(part->file) == 0 && !ferror(part->file);
    int fault = errno;
    if (fclose(part->file) != 0 && good) {
        good = false;
        fault = errno;
    }
    part->file = NULL;
    if (good && rename(part->part, part->path) != 0) {
        good = false;
        fault = errno;
    }
    return good ? PERP_OK : pp_fail_write(error, part->part, fault);
}

void pp_part_file_close(pp_part_file *part)
{
    if (part->file) {
        fclose(part->file);
        part->file = NULL;
    }
}
