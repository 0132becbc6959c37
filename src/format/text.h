// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that grows: JSON and CSV by hand, independent of the locale.
#pragma once

#include "base/base.h"

#include <perp/types.h>

// A string that grows. Running out of memory is remembered in `failed` and seen where the text is
// used, so that the calls between need no status.
typedef struct pp_text {
    perp_env env;
    char *data;  // terminated; NULL while empty
    size_t size, room;
    bool failed;      // memory is out: the text is cut
    bool infinite;    // pp_text_short met a number that is not finite
    pp_arena *arena;  // takes its memory from there; NULL: from env
} pp_text;

void pp_text_start(pp_text *text, const perp_env *env);
void pp_text_end(pp_text *text);
void pp_text_clear(pp_text *text);  // keeps the memory
void pp_text_add(pp_text *text, const char *string);
void pp_text_int(pp_text *text, int64_t value);
// 17 digits; what is not finite is null, as JSON has no word for it.
void pp_text_number(pp_text *text, double value);
void pp_text_short(pp_text *text, double value);  // as few digits as bring back the same double
void pp_text_vec3(pp_text *text, perp_vec3 x);
void pp_text_quat(pp_text *text, perp_quat q);
void pp_text_time(pp_text *text, double t);  // 15 digits: 0.3 where 3 * 0.1 is 0.30000000000000004
void pp_text_quoted(pp_text *text, const char *string);  // a JSON string
void pp_text_field(pp_text *text,
                   const char *string);  // a CSV field, quoted only when it has to be
// The same with more text in the field, which needs no quotes.
void pp_text_field_with(pp_text *text, const char *string, const char *tail);
// , "key": and a value
void pp_text_key(pp_text *text, const char *key);
void pp_text_key_short(pp_text *text, const char *key, double value);
void pp_text_key_vec3(pp_text *text, const char *key, perp_vec3 x);
void pp_text_member(pp_text *text, const char *key, double value);
void pp_text_named(pp_text *text, const char *key, const char *string);
