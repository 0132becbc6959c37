// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Triangles from STL and OBJ files.
#pragma once

#include "base/base.h"

#include <perp/types.h>

// Triangles of an STL (text or binary) or OBJ file, as they stand there: three vertex numbers each.
// STL has three vertices of its own for each triangle; equal ones are merged later.
typedef struct pp_mesh_file {
    int vertices, triangles;
    const perp_vec3 *vertex;
    const int *triangle;
    bool single;  // the coordinates were floats
} pp_mesh_file;

// Arrays are in the arena. The format is recognised by its content. Polygons of OBJ are cut into
// fans, quadrilaterals along their shorter diagonal. PERP_ERR_FORMAT, with line and column in text formats: the syntax is wrong, there are no
// triangles, or a number is not finite.
perp_status pp_mesh_file_parse(const char *text, size_t size, pp_arena *arena, pp_mesh_file *out,
                               perp_error *error);
// The same for a file that a scene names; its name and the place in it are part of the message.
// Without `quotes` nothing from the file is repeated in messages.
perp_status pp_mesh_file_named(const char *name, const char *text, size_t size, bool quotes,
                               pp_arena *arena, pp_mesh_file *out, perp_error *error);

// A 32-bit float at any address, the least significant byte first.
double pp_float_at(const char *at);
