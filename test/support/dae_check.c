// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Promises of the COLLADA reader.
#include "support/dae_check.h"

#include "import/urdf.h"

const char *dae_flaw(const char *data, size_t size)
{
    pp_arena *arena = pp_arena_create(NULL);
    pp_robot_mesh mesh = {.scale = {1.0, 1.0, 1.0}, .ref_quat = {1.0, 0.0, 0.0, 0.0}};
    perp_error error = {0};
    const char *flaw = NULL;
    if (!arena) {
        return NULL;
    }
    perp_status status = pp_dae_read(data, size, arena, &mesh, &error);
    if (status < 0) {
        flaw = error.status == status && error.text[0] ? NULL : "a file was refused without a word";
        mesh.triangles = mesh.vertices = 0;
    }
    for (int k = 0; k < 3 * mesh.triangles; k++) {
        if (mesh.triangle[k] < 0 || mesh.triangle[k] >= mesh.vertices) {
            flaw = "an index out of range was read";
        }
    }
    for (int k = 0; k < mesh.vertices; k++) {
        if (!pp_finite3(mesh.vertex[k])) {
            flaw = "a vertex that is not finite was read";
        }
    }
    pp_arena_destroy(arena);
    return flaw;
}
