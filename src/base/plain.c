// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that is safe to show. Names of files and objects may hold any bytes, also escape sequences
// that would change a terminal, or marks that reverse the direction of text.
#include "base/base.h"

#include <string.h>

// Decodes the UTF-8 character at text; returns its length in bytes, 0: malformed (overlong, a
// surrogate, or beyond U+10FFFF).
static size_t decode(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char head[5] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    static const unsigned char mask[5] = {0, 0x80, 0xe0, 0xf0, 0xf8};
    size_t length = 1;
    while (length < 5 && (text[0] & mask[length]) != head[length]) {
        length++;
    }
    if (length == 5) {
        return 0;
    }
    *code = text[0] & (unsigned char)~mask[length];
    for (size_t k = 1; k < length; k++) {
        if ((text[k] & 0xc0u) != 0x80u) {
            return 0;
        }
        *code = *code << 6 | (text[k] & 0x3fu);
    }
    bool good = *code >= least[length] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return good ? length : 0;
}

// Control characters (C0, C1), line and paragraph separators, marks of direction, and characters
// without width.
static bool commands(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0x061c ||
           c == 0xfeff;
}

// As snprintf: returns the length that the whole text needs, and truncates at a character.
size_t perp_text_escape(const char *text, char *out, size_t size)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    size_t needed = 0, used = 0;
    while (*at) {
        char piece[8];
        uint32_t code = 0;
        size_t length = decode(at, &code);
        if (length == 0 || (commands(code) && code < 0x80)) {
            pp_print(piece, sizeof piece, "\\x%02x", *at);
        } else if (commands(code)) {
            pp_print(piece, sizeof piece, "\\u%04x", (unsigned)code);
        } else {
            memcpy(piece, at, length);
            piece[length] = '\0';
        }
        size_t count = strlen(piece);
        // whole characters, until one does not fit
        if (out && used == needed && used + count < size) {
            memcpy(out + used, piece, count);
            used += count;
        }
        needed += count;
        at += length > 0 ? length : 1;
    }
    if (out && size > 0) {
        out[used] = '\0';
    }
    return needed;
}
