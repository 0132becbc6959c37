// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON strings and numbers.
#include "cli.h"

#include <math.h>

// Length of the UTF-8 character at text: 1 to 4 bytes, or 0 if it is invalid. Never reads past the final 0.
static int character_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, head, low, high;  // first byte; range of the second
        int length;
    } forms[] = {
        {0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
        {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4}, {0xfe, 0xc0, 1, 0, 2},
        {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xfc, 0xf0, 0x80, 0xbf, 4}};
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        if ((text[0] & forms[k].mask) != forms[k].head) {
            continue;
        }
        bool good = forms[k].length == 1 || (text[1] >= forms[k].low && text[1] <= forms[k].high);
        for (int i = 2; good && i < forms[k].length; i++) {
            good = (text[i] & 0xc0) == 0x80;
        }
        return good ? forms[k].length : 0;
    }
    return 0;
}

// Bytes that are not UTF-8 (file names can be anything) become U+FFFD.
void cli_json_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', out);
    while (*at) {
        int length = character_length(at);
        if (length == 0) {
            fputs("\\ufffd", out);
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < ' ' || *at == 0x7f) {
            fprintf(out, "\\u%04x", *at);
        } else if (length == 2 && at[0] == 0xc2 && at[1] < 0xa0) {
            fprintf(out, "\\u%04x", at[1]);  // controls of terminals: U+0080 to U+009F
        } else {
            fwrite(at, 1, (size_t)length, out);
        }
        at += length > 0 ? length : 1;
    }
    putc('"', out);
}

// JSON has no infinity or NaN: they become null.
void cli_json_number(FILE *out, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.17g", value);
    } else {
        fputs("null", out);
    }
}
