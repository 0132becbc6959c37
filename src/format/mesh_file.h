// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Triangles from STL and OBJ files.
#pragma once

#include "base/base.h"

#include <perp/types.h>

// The triangles of an STL (text or binary) or OBJ file as they stand there; three vertices each.
typedef struct pp_mesh_file {
    int vertices, triangles;
    const perp_vec3 *vertex;
    const int *triangle;
    bool single;  // the coordinates were floats
} pp_mesh_file;

// Arrays in the arena. The format is told by the content; polygons of OBJ are cut into fans. PERP_ERR_FORMAT, with line and
// column in text: anything that is not as it should be, no triangles, or numbers that are not finite.
perp_status pp_mesh_file_parse(const char *text, size_t size, pp_arena *arena, pp_mesh_file *out,
                               perp_error *error);
// The same of what a file of that name holds; errors have its name and the place in their text. Without `quotes`
// nothing that stands in the file is repeated.
perp_status pp_mesh_file_named(const char *name, const char *text, size_t size, bool quotes,
                               pp_arena *arena, pp_mesh_file *out, perp_error *error);
