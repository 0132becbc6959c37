// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON text that grows in an arena.
#pragma once

#include "base/base.h"

#include <perp/types.h>

typedef struct pp_json_text {
    pp_arena *arena;
    char *text;  // ends with a zero byte
    size_t length, room;
    bool full;      // out of memory: the text is not complete
    bool infinite;  // a number was not finite
} pp_json_text;

void pp_json_raw(pp_json_text *t, const char *raw);
void pp_json_number(pp_json_text *t, double x);  // reads back to the same bits
void pp_json_string(pp_json_text *t, const char *string);
void pp_json_vec3(pp_json_text *t, perp_vec3 x);
void pp_json_quat(pp_json_text *t, perp_quat q);
// , "key": value
void pp_json_key(pp_json_text *t, const char *key);
void pp_json_key_number(pp_json_text *t, const char *key, double x);
void pp_json_key_string(pp_json_text *t, const char *key, const char *string);
void pp_json_key_vec3(pp_json_text *t, const char *key, perp_vec3 x);
