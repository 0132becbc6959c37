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
// false: jansson refuses the text. Integers as i7, reals as r in hexadecimal, strings as s3:abc.
bool twin_read(const char *text, size_t size, twin_text *out);
