// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Promises of the mesh readers, meshes and hulls.
#include "support/mesh_check.h"

#include "format/format.h"
#include "solid/solid.h"

enum { HULL_MOST = 200 };  // points: larger hulls take too long for a fuzzer

static const char *file_flaw(const pp_mesh_file *file)
{
    for (int k = 0; k < 3 * file->triangles; k++) {
        if (file->triangle[k] < 0 || file->triangle[k] >= file->vertices) {
            return "an index out of range was read";
        }
    }
    for (int k = 0; k < file->vertices; k++) {
        if (!pp_finite3(file->vertex[k])) {
            return "a vertex that is not finite was read";
        }
    }
    return NULL;
}

static const char *solid_flaw(const pp_mesh_file *file, pp_arena *arena)
{
    const pp_mesh *mesh = NULL;
    const pp_hull *hull = NULL;
    perp_error error = {0};
    perp_status status = pp_mesh_create(file->vertex, file->vertices, file->triangle,
                                        file->triangles, arena, &mesh, &error);
    if ((status == PERP_OK) != (mesh != NULL) || (!mesh && !error.text[0])) {
        return "a mesh was neither made nor refused";
    }
    if (file->vertices > HULL_MOST) {
        return NULL;
    }
    error = (perp_error){0};
    status = pp_hull_create(file->vertex, file->vertices, arena, &hull, &error);
    if ((status == PERP_OK) != (hull != NULL) || (!hull && !error.text[0])) {
        return "a hull was neither made nor refused";
    }
    return hull && hull->vertices - hull->edges + hull->faces != 2 ? "a hull is not closed" : NULL;
}

const char *mesh_flaw(const char *data, size_t size)
{
    pp_arena *arena = pp_arena_create(NULL);
    pp_mesh_file file;
    perp_error error = {0};
    if (!arena) {
        return NULL;
    }
    const char *flaw = NULL;
    perp_status status = pp_mesh_file_parse(data, size, arena, &file, &error);
    if (status != PERP_OK) {
        flaw = error.status == status && error.text[0] ? NULL : "a file was refused without a word";
    } else {
        flaw = file_flaw(&file);
        flaw = flaw ? flaw : solid_flaw(&file, arena);
    }
    pp_arena_destroy(arena);
    return flaw;
}
