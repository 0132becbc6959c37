// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of hulls and meshes: a model keeps its own, and the builder may be freed.
#include "solid/solid.h"

#include <string.h>

// NULL: out of memory.
static void *copy_of(pp_arena *arena, const void *from, int count, size_t size)
{
    void *to = pp_arena_array(arena, (size_t)count, size);
    if (to && count > 0) {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

const pp_hull *pp_hull_copy(const pp_hull *hull, pp_arena *arena)
{
    pp_hull *copy = PP_ARRAY(arena, pp_hull, 1);
    if (!copy) {
        return NULL;
    }
    // Counts come with the struct; every array gets a copy of its own.
    *copy = *hull;
    copy->vertex = copy_of(arena, hull->vertex, hull->vertices, sizeof *hull->vertex);
    copy->face_first = copy_of(arena, hull->face_first, hull->faces + 1, sizeof(int));
    copy->corner = copy_of(arena, hull->corner, hull->face_first[hull->faces], sizeof(int));
    copy->face_normal = copy_of(arena, hull->face_normal, hull->faces, sizeof *hull->face_normal);
    copy->edge = copy_of(arena, hull->edge, hull->edges, sizeof *hull->edge);
    bool whole =
        copy->vertex && copy->face_first && copy->corner && copy->face_normal && copy->edge;
    if (hull->ring) {
        copy->ring_first = copy_of(arena, hull->ring_first, hull->vertices + 1, sizeof(int));
        copy->ring = copy_of(arena, hull->ring, 2 * hull->edges, sizeof(int));
        copy->ring_edge = copy_of(arena, hull->ring_edge, 2 * hull->edges, sizeof(int));
        copy->start = copy_of(arena, hull->start, PP_HULL_STARTS, sizeof(int));
        whole = whole && copy->ring_first && copy->ring && copy->ring_edge && copy->start;
    }
    return whole ? copy : NULL;
}

// A partial copy is left in the arena on failure, which frees it with everything else.
const pp_mesh *pp_mesh_copy(const pp_mesh *mesh, pp_arena *arena)
{
    pp_mesh *copy = PP_ARRAY(arena, pp_mesh, 1);
    int n = mesh->triangles;
    if (!copy) {
        return NULL;
    }
    *copy = *mesh;
    copy->vertex = copy_of(arena, mesh->vertex, mesh->vertices, sizeof *mesh->vertex);
    copy->triangle = copy_of(arena, mesh->triangle, n, sizeof *mesh->triangle);
    copy->source = copy_of(arena, mesh->source, n, sizeof *mesh->source);
    copy->normal = copy_of(arena, mesh->normal, n, sizeof *mesh->normal);
    copy->neighbour = copy_of(arena, mesh->neighbour, n, sizeof *mesh->neighbour);
    copy->sharp = copy_of(arena, mesh->sharp, n, sizeof *mesh->sharp);
    copy->region = copy_of(arena, mesh->region, n, sizeof *mesh->region);
    copy->star_first =
        copy_of(arena, mesh->star_first, mesh->vertices + 1, sizeof *mesh->star_first);
    copy->star = copy_of(arena, mesh->star, mesh->star_first[mesh->vertices], sizeof *mesh->star);
    copy->node = copy_of(arena, mesh->node, 2 * mesh->leaves, sizeof *mesh->node);
    bool whole = copy->vertex && copy->triangle && copy->source && copy->normal &&
                 copy->neighbour && copy->sharp && copy->region && copy->star_first && copy->star &&
                 copy->node;
    return whole ? copy : NULL;
}
