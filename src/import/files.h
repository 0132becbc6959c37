// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that a model names: includes and meshes.
//
// A model may come from anyone. The files it names must be in its own folder or below it, symbolic links
// followed; a package of a URDF file counts as its folder if the file is in that package.
#pragma once

#include "import/report.h"

typedef struct pp_import_files {
    const perp_env *env;
    pp_arena *arena;
    const char *main_file;  // path of the model
    const perp_import_options *options;
    size_t read;  // bytes so far
    int models;   // attached so far
} pp_import_files;

typedef struct pp_import_file {
    const char *text;  // a zero byte follows
    size_t size;
    bool missing;  // it does not exist
} pp_import_file;

// Reads the file `name`, relative to the folder of the model; NULL folder: that folder, else one below it.
// A file that does not exist is no failure.
perp_status pp_import_read(pp_import_files *files, const char *folder, const char *name,
                           const pp_xml *at, pp_import_file *out, perp_error *error);
// The same for a mesh of a URDF file: package://NAME/..., model://NAME/..., file:///... or a relative path.
perp_status pp_import_read_uri(pp_import_files *files, const char *uri, const pp_xml *at,
                               pp_import_file *out, perp_error *error);
