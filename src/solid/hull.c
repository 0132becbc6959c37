// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Hulls from facets: corners counter-clockwise, normals and edges, all in an order that depends on
// the points alone, not on that in which qhull finds them; and the flat hull of one triangle.
#include "solid/hull.h"

#include <string.h>

// A sort key (two vertices), and what it belongs to.
typedef struct entry {
    uint64_t key;
    int at;  // a face; or of an edge: 2 face + (seen from its higher vertex to the lower)
} entry;

// The hull while it is made.
typedef struct hull_build {
    const perp_vec3 *point;
    int count;
    pp_arena *arena;
    pp_hull hull;
    int *corner, *face_first;  // of the hull, while they are made
    int *index;                // of a point among the vertices; -1: none
    entry *entry;              // faces, then directed edges
} hull_build;

// Two numbers in one key, of which the first decides.
static uint64_t key_of(int a, int b)
{
    return ((uint64_t)a << 32) | (uint64_t)b;
}

// Heap sort: needs no memory, and is O(n log n) for any input.
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

// Numbers and copies the points at which three facets or more meet. Other points are on an edge or
// inside a face.
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

// Twice the area of a face times its normal, as a fan of triangles, since corners need not be
// exactly in one plane.
static perp_vec3 face_area(const pp_hull *hull, const int *corner, int count)
{
    perp_vec3 sum = {0}, x0 = hull->vertex[corner[0]];
    for (int k = 2; k < count; k++) {
        sum =
            pp_add(sum, pp_triangle_area(x0, hull->vertex[corner[k - 1]], hull->vertex[corner[k]]));
    }
    return sum;
}

// Corners of a face as vertices, starting with the lowest; returns their number. Points in the
// middle of an edge are no vertices.
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

// Faces sorted by their first two corners, which no two faces share.
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
    // In the given order first. Facets with fewer than three vertices left are no faces.
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
    // Then in the order of their corners.
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

// Whether every edge occurs twice, once in each direction. Entries are sorted; `at` is 2 face + 1
// where the edge is traversed from its higher vertex.
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

// Each edge is a side of two faces, once in each direction; sorted by vertices, the two are
// neighbours. Euler's formula V - E + F = 2 holds for surfaces like a sphere.
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
    // [2] is the face in which the lower vertex precedes the higher one, [3] the other.
    for (int k = 0; k < n; k += 2) {
        const entry *e = w->entry + k;
        int left = e[0].at % 2, a = (int)(e->key >> 32), b = (int)(e->key & 0xffffffffU);
        memcpy(edge[k / 2], (int[4]){a, b, e[left].at / 2, e[1 - left].at / 2}, sizeof *edge);
    }
    hull->edge = (const int(*)[4])edge;
    hull->edges = n / 2;
    return PERP_OK;
}

// ── Neighbours ───────────────────────────────────────────────────────────────────────────────────

// Below this number of vertices, comparing all of them is faster than a walk along edges.
enum { RING_LEAST = 48 };

// How far the vertices are from the origin at most [m].
static double reach_of(const pp_hull *hull)
{
    double most = 0.0;
    for (int k = 0; k < hull->vertices; k++) {
        most = fmax(most, pp_dot3(hull->vertex[k], hull->vertex[k]));
    }
    return sqrt(most);
}

// How far corners are from the plane of their face at most [m].
static double face_slack(const pp_hull *hull)
{
    double most = 0.0;
    for (int f = 0; f < hull->faces; f++) {
        perp_vec3 first = hull->vertex[hull->corner[hull->face_first[f]]];
        for (int k = hull->face_first[f]; k < hull->face_first[f + 1]; k++) {
            perp_vec3 off = pp_sub(hull->vertex[hull->corner[k]], first);
            most = fmax(most, fabs(pp_dot3(hull->face_normal[f], off)));
        }
    }
    return 2.0 * most + 1e-14 * hull->reach;
}

// The vertices farthest along the middle of all cells, by walks from the vertex of the cell before. False: out of memory.
static bool set_starts(hull_build *w)
{
    pp_hull *hull = &w->hull;
    int *start = PP_ZEROS(w->arena, int, PP_HULL_STARTS);
    if (!start) {
        return false;
    }
    hull->start = start;
    for (int k = 0; k < PP_HULL_STARTS; k++) {
        int cell = k % (PP_HULL_CELLS * PP_HULL_CELLS), axis = k / (PP_HULL_STARTS / 3);
        double sign = k / (PP_HULL_STARTS / 6) % 2 ? -1.0 : 1.0;
        int at_row = cell / PP_HULL_CELLS, at_column = cell % PP_HULL_CELLS;
        double row = (2.0 * at_row + 1.0) / PP_HULL_CELLS - 1.0;
        double column = (2.0 * at_column + 1.0) / PP_HULL_CELLS - 1.0;
        const perp_vec3 middle[3] = {{sign, row, column}, {row, sign, column}, {row, column, sign}};
        start[k] = k > 0 ? start[k - 1] : 0;
        start[k] = pp_hull_support(hull, middle[axis]);
    }
    return true;
}

// Neighbours of each vertex, and where walks along edges start. False: out of memory.
static bool set_rings(hull_build *w)
{
    pp_hull *hull = &w->hull;
    if (hull->vertices < RING_LEAST) {
        return true;
    }
    int *first = PP_ZEROS(w->arena, int, (size_t)hull->vertices + 2);
    int *ring = PP_ARRAY(w->arena, int, 2 * (size_t)hull->edges);
    int *ring_edge = PP_ARRAY(w->arena, int, 2 * (size_t)hull->edges);
    if (!first || !ring || !ring_edge) {
        return false;
    }
    // first[v + 2] counts the neighbours of v; summed up, first[v + 1] is where they begin, and
    // moves on to where they end while they are written
    for (int k = 0; k < hull->edges; k++) {
        first[hull->edge[k][0] + 2]++;
        first[hull->edge[k][1] + 2]++;
    }
    for (int k = 2; k < hull->vertices + 2; k++) {
        first[k] += first[k - 1];
    }
    for (int k = 0; k < hull->edges; k++) {
        int a = hull->edge[k][0], b = hull->edge[k][1];
        ring_edge[first[a + 1]] = ring_edge[first[b + 1]] = k;
        ring[first[a + 1]++] = b;
        ring[first[b + 1]++] = a;
    }
    hull->ring_first = first;
    hull->ring = ring;
    hull->ring_edge = ring_edge;
    return set_starts(w);
}

// A hull that does not close is refused: contact would pass through its gap.
perp_status pp_hull_build(const perp_vec3 *point, int count, const pp_facets *facets,
                          pp_arena *arena, const pp_hull **hull, perp_error *error)
{
    hull_build w = {.point = point, .count = count, .arena = arena};
    pp_hull *out = PP_ARRAY(arena, pp_hull, 1);
    perp_status status = PERP_ERR_MEMORY;
    if (out && set_vertices(&w, facets) && set_faces(&w, facets)) {
        status = set_edges(&w, error);
    }
    if (status == PERP_OK) {
        w.hull.reach = reach_of(&w.hull);
        w.hull.slack = face_slack(&w.hull);
    }
    if (status == PERP_OK && !set_rings(&w)) {
        status = PERP_ERR_MEMORY;
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

// Topology of any triangle: two faces with opposite corners, and three edges between them.
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
    flat->hull.reach = reach_of(&flat->hull);
    return pp_dot3(n, n) > 0.5;
}
