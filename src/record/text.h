// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that bear the ending .part until they are whole.
#pragma once

#include "format/format.h"
#include "record/record.h"

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
