// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What jansson reads from a text, written out so that another reader can be compared with it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct twin_text {
    char *data;
    size_t used, room;
} twin_text;

void twin_put(twin_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A value that has no members: a string as s3:abc, an integer as i7, a real as r in hexadecimal; T, F, N.
typedef struct twin_leaf {
    char kind;  // the letter
    const char *string;
    size_t length;
    long long integer;
    double real;
} twin_leaf;

void twin_put_leaf(twin_text *out, const twin_leaf *leaf);
// false: jansson refuses the text.
bool twin_read(const char *text, size_t size, twin_text *out);
