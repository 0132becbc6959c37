// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Robots from other simulators: MJCF (MuJoCo) and URDF files as scenes (docs/robots.md).
//
// perp_scene_load reads these files as well. This header also gives the text of the scene, and the report of
// everything that was not used, repaired or assumed.
#pragma once

#include <perp/base.h>

typedef struct perp_import perp_import;

typedef enum perp_import_note_kind {
    PERP_IMPORT_USED,
    PERP_IMPORT_NOT_USED,
    PERP_IMPORT_REPAIRED,
    PERP_IMPORT_ASSUMED,
} perp_import_note_kind;

PERP_API const char *
perp_import_note_word(perp_import_note_kind kind);  // "not used"; NULL: no such kind

// A line of the report. Equal ones are counted; the place is that of the first.
typedef struct perp_import_note {
    perp_import_note_kind kind;
    const char *what;  // "<geom margin>"
    const char *why;   // "": no reason is given
    const char *file;  // "": no place
    int line;
    int count;
} perp_import_note;

// What happens to a shape whose mesh file does not exist.
typedef enum perp_import_missing {
    PERP_IMPORT_MISSING_SKIP,   // left out and reported
    PERP_IMPORT_MISSING_BOX,    // a box with the mass and moments of inertia of its body, reported
    PERP_IMPORT_MISSING_ERROR,  // the import fails
} perp_import_missing;

PERP_API const char *perp_import_missing_word(int missing);  // "skip"; NULL: no such value

typedef struct perp_import_options {
    double max_mb;                // size limit of each file [10^6 bytes]; 64
    bool outside;                 // allow files outside the directory of the model
    bool no_files;                // read no other files: they count as missing
    perp_import_missing missing;  // skip
    bool free_base;               // URDF: the first link is free, not fixed to the ground
    bool keep_fixed;              // URDF: links on fixed joints are bodies of their own, welded
    bool strict;                  // whatever is not used or was repaired is an error
    int visual_triangles;         // most triangles of meshes that are shown; 20000; 0: no visuals
    const char *key;              // keyframe to start from; NULL: the first; "": none
    const char
        *package_path;  // directories with the packages of package://NAME/..., separated by ':'
    uint32_t cookie;
} perp_import_options;

PERP_API perp_import_options perp_import_options_default(void);

// Reads a model; MJCF and URDF are told apart by their contents. On failure *import is NULL and error has the
// line, column, element and remedy. options: NULL: the default.
PERP_API PERP_MUST perp_status perp_import_load(const char *path,
                                                const perp_import_options *options,
                                                const perp_env *env, perp_import **import,
                                                perp_error *error);
// The same from memory. Files that the model names are looked for in the directory of `name`.
PERP_API PERP_MUST perp_status perp_import_parse(const char *name, const char *text, size_t size,
                                                 const perp_import_options *options,
                                                 const perp_env *env, perp_import **import,
                                                 perp_error *error);
PERP_API void perp_import_destroy(perp_import *import);

// The scene, as JSON; borrowed.
PERP_API const char *perp_import_text(const perp_import *import, size_t *size);
// The report as JSON, a list of objects with the members of perp_import_note; borrowed.
PERP_API const char *perp_import_report(const perp_import *import);
// The report; borrowed.
PERP_API const perp_import_note *perp_import_notes(const perp_import *import, int *count);
