// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Hulls from facets: corners counter-clockwise, normals, edges, all in an order that depends on the points
// alone; and the flat hull of one triangle.
#include "solid/hull.h"

#include <string.h>

// A sort key (two vertices) and what it is of.
typedef struct entry {
    uint64_t key;
    int at;  // a face; or of an edge: 2 face + (seen from its higher vertex to the lower)
} entry;

typedef struct hull_build {
    const perp_vec3 *point;
    int count;
    pp_arena *arena;
    pp_hull hull;
    int *corner, *face_first;  // of the hull, while they are made
    int *index;                // of a point among the vertices; -1: none
    entry *entry;              // faces, then directed edges
} hull_build;

static uint64_t key_of(int a, int b)
{
    return ((uint64_t)a << 32) | (uint64_t)b;
}

// Heap sort: no memory, and never slow.
static void sift(entry *e, int from, int n)
{
    entry moved = e[from];
    for (int k = 2 * from + 1; k < n; k = 2 * from + 1) {
        k += k + 1 < n && e[k + 1].key > e[k].key;
        if (e[k].key <= moved.key) {
            break;
        }
        e[from] = e[k];
        from = k;
    }
    e[from] = moved;
}

static void sort_entries(entry *e, int n)
{
    for (int k = n / 2 - 1; k >= 0; k--) {
        sift(e, k, n);
    }
    for (int k = n - 1; k > 0; k--) {
        entry top = e[0];
        e[0] = e[k];
        e[k] = top;
        sift(e, 0, k);
    }
}

// ── Vertices ─────────────────────────────────────────────────────────────────────────────────────

// Numbers the points where three facets or more meet, and copies them.
static bool set_vertices(hull_build *w, const pp_facets *facets)
{
    w->index = PP_ZEROS(w->arena, int, w->count);
    perp_vec3 *vertex = PP_ARRAY(w->arena, perp_vec3, w->count);
    if (!w->index || !vertex) {
        return false;
    }
    for (int k = 0; k < facets->first[facets->count]; k++) {
        w->index[facets->corner[k]]++;
    }
    for (int k = 0; k < w->count; k++) {
        if (w->index[k] >= 3) {
            vertex[w->hull.vertices] = w->point[k];
            w->index[k] = w->hull.vertices++;
        } else {
            w->index[k] = -1;
        }
    }
    w->hull.vertex = vertex;
    return true;
}

// ── Faces ────────────────────────────────────────────────────────────────────────────────────────

// Twice the area of a face times its normal, as a fan of triangles: corners need not be in one plane exactly.
static perp_vec3 face_area(const pp_hull *hull, const int *corner, int count)
{
    perp_vec3 sum = {0}, x0 = hull->vertex[corner[0]];
    for (int k = 2; k < count; k++) {
        sum =
            pp_add(sum, pp_triangle_area(x0, hull->vertex[corner[k - 1]], hull->vertex[corner[k]]));
    }
    return sum;
}

// Its corners as vertices, beginning with the lowest that is a vertex; how many. Points in the middle of an edge are no
// vertices.
static int set_corners(const hull_build *w, const int *from, int count, int *to)
{
    int n = 0, lowest = 0;
    for (int k = 0; k < count; k++) {
        if (from[k] < from[lowest] || w->index[from[lowest]] < 0) {
            lowest = k;
        }
    }
    for (int k = 0; k < count; k++) {
        int vertex = w->index[from[(lowest + k) % count]];
        if (vertex >= 0) {
            to[n++] = vertex;
        }
    }
    return n;
}

// Sorted by their first two corners, which no two faces share.
static bool set_faces(hull_build *w, const pp_facets *facets)
{
    int corners = facets->first[facets->count];
    int *rough = PP_ARRAY(w->arena, int, corners),
        *first = PP_ARRAY(w->arena, int, facets->count + 1);
    perp_vec3 *normal = PP_ARRAY(w->arena, perp_vec3, facets->count);
    w->corner = PP_ARRAY(w->arena, int, corners);
    w->face_first = PP_ARRAY(w->arena, int, facets->count + 1);
    w->entry = PP_ARRAY(w->arena, entry, corners);
    if (!rough || !first || !normal || !w->corner || !w->face_first || !w->entry) {
        return false;
    }
    // in the order given first; faces with fewer than three vertices left are no faces
    int faces = 0;
    first[0] = 0;
    for (int f = 0; f < facets->count; f++) {
        int *to = rough + first[faces];
        int n = set_corners(w, facets->corner + facets->first[f],
                            facets->first[f + 1] - facets->first[f], to);
        if (n >= 3) {
            w->entry[faces] = (entry){key_of(to[0], to[1]), faces};
            first[faces + 1] = first[faces] + n;
            faces++;
        }
    }
    // then in the order of their corners
    sort_entries(w->entry, faces);
    w->face_first[0] = 0;
    for (int f = 0; f < faces; f++) {
        int from = w->entry[f].at, n = first[from + 1] - first[from],
            *to = w->corner + w->face_first[f];
        memcpy(to, rough + first[from], (size_t)n * sizeof *to);
        w->face_first[f + 1] = w->face_first[f] + n;
        normal[f] = pp_normal_of(face_area(&w->hull, to, n));
    }
    w->hull.faces = faces;
    w->hull.face_first = w->face_first;
    w->hull.corner = w->corner;
    w->hull.face_normal = normal;
    return true;
}

// ── Edges ────────────────────────────────────────────────────────────────────────────────────────

// Whether every edge is met twice, once in each direction: entries are sorted, `at` is 2 face + backwards.
static bool edges_pair(const entry *e, int n)
{
    for (int k = 0; k < n; k += 2) {
        if (k + 1 == n || e[k].key != e[k + 1].key || (e[k].at + e[k + 1].at) % 2 != 1 ||
            (k + 2 < n && e[k].key == e[k + 2].key)) {
            return false;
        }
    }
    return true;
}

// Each edge is a side of two faces, once in each direction: sorted by its vertices, the two stand together. A surface
// like a sphere has V - E + F = 2 (Euler).
static perp_status set_edges(hull_build *w, perp_error *error)
{
    pp_hull *hull = &w->hull;
    int n = 0, corners = w->face_first[hull->faces];
    int(*edge)[4] = pp_arena_array(w->arena, (size_t)corners / 2 + 1, sizeof *edge);
    if (!edge) {
        return PERP_ERR_MEMORY;
    }
    for (int f = 0; f < hull->faces; f++) {
        for (int k = w->face_first[f]; k < w->face_first[f + 1]; k++) {
            int a = w->corner[k];
            int b = w->corner[k + 1 < w->face_first[f + 1] ? k + 1 : w->face_first[f]];
            w->entry[n++] = (entry){a < b ? key_of(a, b) : key_of(b, a), 2 * f + (a > b)};
        }
    }
    sort_entries(w->entry, n);
    if (!edges_pair(w->entry, n) || hull->vertices - n / 2 + hull->faces != 2) {
        return pp_fail(
            error, PERP_ERR_NUMERIC,
            "the hull of the points is not closed: some points are too close to each other");
    }
    // [2]: the face in which the lower vertex precedes the higher, [3]: the other
    for (int k = 0; k < n; k += 2) {
        const entry *e = w->entry + k;
        int left = e[0].at % 2, a = (int)(e->key >> 32), b = (int)(e->key & 0xffffffffU);
        memcpy(edge[k / 2], (int[4]){a, b, e[left].at / 2, e[1 - left].at / 2}, sizeof *edge);
    }
    hull->edge = (const int(*)[4])edge;
    hull->edges = n / 2;
    return PERP_OK;
}

perp_status pp_hull_build(const perp_vec3 *point, int count, const pp_facets *facets,
                          pp_arena *arena, const pp_hull **hull, perp_error *error)
{
    hull_build w = {.point = point, .count = count, .arena = arena};
    pp_hull *out = PP_ARRAY(arena, pp_hull, 1);
    perp_status status = PERP_ERR_MEMORY;
    if (out && set_vertices(&w, facets) && set_faces(&w, facets)) {
        status = set_edges(&w, error);
    }
    if (status == PERP_ERR_MEMORY) {
        return pp_fail(error, status, "not enough memory for a hull of %d points", count);
    }
    if (status == PERP_OK) {
        *out = w.hull;
        *hull = out;
    }
    return status;
}

// ── One triangle ─────────────────────────────────────────────────────────────────────────────────

bool pp_hull_triangle(perp_vec3 a, perp_vec3 b, perp_vec3 c, pp_flat_hull *flat)
{
    static const int FIRST[] = {0, 3, 6}, CORNER[] = {0, 1, 2, 0, 2, 1};
    static const int EDGE[][4] = {{0, 1, 0, 1}, {0, 2, 1, 0}, {1, 2, 0, 1}};
    perp_vec3 area = pp_triangle_area(a, b, c), n = pp_normal_of(area);
    flat->vertex[0] = a;
    flat->vertex[1] = b;
    flat->vertex[2] = c;
    flat->normal[0] = n;
    flat->normal[1] = pp_scale(-1.0, n);
    flat->hull = (pp_hull){.vertices = 3,
                           .faces = 2,
                           .edges = 3,
                           .vertex = flat->vertex,
                           .face_first = FIRST,
                           .corner = CORNER,
                           .face_normal = flat->normal,
                           .edge = EDGE};
    return pp_dot3(n, n) > 0.5;
}
