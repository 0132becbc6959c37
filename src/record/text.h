// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that grows: JSON and CSV by hand, independent of the locale.
#pragma once

#include "record/record.h"

#include <stdio.h>

// A string that grows. Running out of memory is remembered in `failed` and seen where the text is
// used, so that the calls between need no status.
typedef struct pp_text {
    perp_env env;
    char *data;  // terminated; NULL while empty
    size_t size, room;
    bool failed;  // memory is out: the text is cut
} pp_text;

void pp_text_start(pp_text *text, const perp_env *env);
void pp_text_end(pp_text *text);
void pp_text_clear(pp_text *text);  // keeps the memory
void pp_text_add(pp_text *text, const char *string);
void pp_text_int(pp_text *text, int64_t value);
// 17 digits; what is not finite is null, as JSON has no word for it.
void pp_text_number(pp_text *text, double value);
void pp_text_quoted(pp_text *text, const char *string);  // a JSON string
void pp_text_field(pp_text *text,
                   const char *string);  // a CSV field, quoted only when it has to be
// The same with more text in the field, which needs no quotes.
void pp_text_field_with(pp_text *text, const char *string, const char *tail);
// , "key": value
void pp_text_member(pp_text *text, const char *key, double value);
void pp_text_named(pp_text *text, const char *key, const char *string);

// ── Files that bear the ending .part until they are whole ────────────────────────────────────────

enum { PP_PATH_MAX = 4096 };

typedef struct pp_part_file {
    FILE *file;
    char path[PP_PATH_MAX], part[PP_PATH_MAX];
} pp_part_file;

perp_status pp_part_file_open(pp_part_file *part, const char *dir, const char *name,
                              perp_error *error);
perp_status pp_part_file_write(pp_part_file *part, const pp_text *text, perp_error *error);
// Everything on its way to the disk, the name given.
perp_status pp_part_file_finish(pp_part_file *part, perp_error *error);
void pp_part_file_close(pp_part_file *part);  // unfinished: the .part stays

// dir/name; PERP_ERR_IO when it is too long.
perp_status pp_path_join(char path[PP_PATH_MAX], const char *dir, const char *name,
                         perp_error *error);
perp_status pp_fail_write(perp_error *error, const char *path, int fault);
