// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text and bytes that grow; base64.
#include "replay/bytes.h"

#include <math.h>
#include <string.h>

// An object that was freed is empty, and may be used again.
void pp_bytes_free(pp_bytes *b)
{
    pp_free(b->env, b->data, b->room);
    *b = (pp_bytes){.env = b->env};
}

// Half as much again: a page of many megabytes would waste as much by doubling.
static bool grow_bytes(pp_bytes *b, size_t more)
{
    if (b->failed) {
        return false;
    }
    if (b->used + more < b->room) {
        return true;
    }
    size_t room = b->used + more + b->room / 2 + 4096;
    char *data = pp_block_move(b->env, b->data, b->room, b->used, room);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->room = room;
    return true;
}

// Always terminated, so that text can be read as a string.
void pp_bytes_put(pp_bytes *b, const void *data, size_t size)
{
    if (grow_bytes(b, size)) {
        if (size > 0) {
            memcpy(b->data + b->used, data, size);
        }
        b->used += size;
        b->data[b->used] = '\0';
    }
}

void pp_bytes_text(pp_bytes *b, const char *text)
{
    pp_bytes_put(b, text, strlen(text));
}

// No thousands separators in any locale.
void pp_bytes_int(pp_bytes *b, int64_t value)
{
    char text[32];
    pp_print(text, sizeof text, "%lld", (long long)value);
    pp_bytes_text(b, text);
}

// The shortest digits that read back as the same double.
void pp_bytes_number(pp_bytes *b, double value)
{
    char text[40];
    if (!isfinite(value)) {
        pp_bytes_text(b, "null");
        return;
    }
    pp_number_print_short(text, sizeof text, value);
    pp_bytes_text(b, text);
}

// < and > are escaped, since "</script>" would end the block that the JSON is in.
void pp_bytes_quoted(pp_bytes *b, const char *text)
{
    pp_bytes_text(b, "\"");
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < ' ' || byte == '<' || byte == '>' || byte == '&' || byte == '"' ||
            byte == '\\') {
            char escaped[8];
            pp_print(escaped, sizeof escaped, "\\u%04x", byte);
            pp_bytes_text(b, escaped);
        } else {
            pp_bytes_put(b, c, 1);
        }
    }
    pp_bytes_text(b, "\"");
}

void pp_bytes_base64(pp_bytes *b, const unsigned char *data, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!grow_bytes(b, (size + 2) / 3 * 4)) {
        return;
    }
    char *out = b->data + b->used;
    for (size_t k = 0; k < size; k += 3) {
        size_t left = size - k;
        // 24 bits, four letters of six; missing bytes count as 0.
        uint32_t three = (uint32_t)data[k] << 16 | (left > 1 ? (uint32_t)data[k + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)data[k + 2] : 0);
        *out++ = letters[three >> 18];
        *out++ = letters[three >> 12 & 63];
        *out++ = left > 1 ? letters[three >> 6 & 63] : '=';
        *out++ = left > 2 ? letters[three & 63] : '=';
    }
    *out = '\0';
    b->used = (size_t)(out - b->data);
}
