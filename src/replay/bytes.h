// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text and bytes that grow.
#pragma once

#include "replay/replay.h"

// Running out of memory is remembered, so that calls in between need no status.
typedef struct pp_bytes {
    const perp_env *env;
    char *data;
    size_t used, room;
    bool failed;  // memory is out: the rest is missing
} pp_bytes;

void pp_bytes_free(pp_bytes *b);
void pp_bytes_put(pp_bytes *b, const void *data, size_t size);
void pp_bytes_text(pp_bytes *b, const char *text);
void pp_bytes_int(pp_bytes *b, int64_t value);
void pp_bytes_number(pp_bytes *b, double value);  // what is not finite is null
void pp_bytes_quoted(pp_bytes *b,
                     const char *text);  // a JSON string that cannot end a script block
// RFC 4648, with padding and without line breaks.
void pp_bytes_base64(pp_bytes *b, const unsigned char *data, size_t size);
