// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Triangle meshes: which triangles are neighbours, which sides are sharp, and a tree of boxes over all.
//
// With the outward normal n of a triangle and the direction m' in the plane of its neighbour, across their side and
// into the neighbour, the side is convex where n . m' < 0, flat where it is 0, concave where it is > 0.
#include "math/math.h"
#include "solid/hull.h"

#include <string.h>

// Sides that turn by less are flat [rad]: what the rounding of coordinates to floats does to small triangles.
static const double FLAT = 1e-5;
static const double COORDINATE_MOST = 1e75;

// The mesh while it is made: writable arrays that pp_mesh points to in the end.
typedef struct mesh_build {
    pp_arena *arena;
    perp_error *error;
    const perp_vec3 *given;
    int *same;  // given vertex -> vertex of the mesh
    pp_mesh mesh;
    perp_vec3 *vertex, *normal;
    int (*triangle)[3], (*neighbour)[3];
    int *source, *region, *star_first, *star;
    bool (*sharp)[3];
    uint64_t *key, *scratch;
} mesh_build;

static perp_status out_of_memory(const mesh_build *w)
{
    return pp_fail(w->error, PERP_ERR_MEMORY, "not enough memory for a mesh");
}

static perp_status check_triangles(const mesh_build *w, int vertices, const int *triangle,
                                   int triangles)
{
    if (triangles < 1 || vertices < 3 || triangles > INT32_MAX / 8 || vertices > INT32_MAX / 8) {
        return pp_fail(w->error, PERP_ERR_ARGUMENT,
                       "a mesh of %d triangles and %d vertices: count out of range", triangles,
                       vertices);
    }
    for (int k = 0; k < vertices; k++) {
        perp_vec3 x = w->given[k];
        if (!pp_finite3(x) || fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) > COORDINATE_MOST) {
            return pp_fail(w->error, PERP_ERR_ARGUMENT,
                           "vertex %d of a mesh is not finite, or too large", k);
        }
    }
    for (int k = 0; k < 3 * triangles; k++) {
        if (triangle[k] < 0 || triangle[k] >= vertices) {
            return pp_fail(w->error, PERP_ERR_ARGUMENT,
                           "triangle %d of a mesh: vertex %d is outside 0..%d", k / 3, triangle[k],
                           vertices - 1);
        }
    }
    return PERP_OK;
}

// ── Vertices ─────────────────────────────────────────────────────────────────────────────────────

static bool same_place(perp_vec3 a, perp_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Sorted by a hash of the place, with the index in the low bits; equal places stand together then.
static bool weld(mesh_build *w, int vertices)
{
    w->same = PP_ARRAY(w->arena, int, vertices);
    w->vertex = PP_ARRAY(w->arena, perp_vec3, vertices);
    if (!w->same || !w->vertex) {
        return false;
    }
    const uint64_t index_bits = 31, low = ((uint64_t)1 << index_bits) - 1;
    for (int k = 0; k < vertices; k++) {
        perp_vec3 x = pp_add(w->given[k], pp_vec(0.0, 0.0, 0.0));  // -0 becomes 0
        w->key[k] = (pp_hash(0, &x, sizeof x) & ~low) | (uint64_t)k;
    }
    pp_sort_keys(vertices, w->key, w->scratch);
    for (int k = 0, start = 0; k < vertices; k++) {
        int me = (int)(w->key[k] & low), as = me;
        if ((w->key[start] & ~low) != (w->key[k] & ~low)) {
            start = k;  // a run of equal hashes begins
        }
        // a hash may collide: only the same place is the same vertex
        for (int i = start; i < k; i++) {
            int other = (int)(w->key[i] & low);
            if (same_place(w->given[other], w->given[me])) {
                as = other;
                break;
            }
        }
        w->same[me] = as;
    }
    for (int k = 0; k < vertices; k++) {  // the first of equals has the lowest index
        if (w->same[k] == k) {
            w->vertex[w->mesh.vertices] = w->given[k];
            w->same[k] = w->mesh.vertices++;
        } else {
            w->same[k] = w->same[w->same[k]];
        }
    }
    return true;
}

// ── Triangles ────────────────────────────────────────────────────────────────────────────────────

static perp_vec3 corner_of(const mesh_build *w, int t, int k)
{
    return w->vertex[w->triangle[t][k]];
}

static perp_vec3 triangle_centre(const mesh_build *w, int t)
{
    perp_vec3 sum = pp_add(pp_add(corner_of(w, t, 0), corner_of(w, t, 1)), corner_of(w, t, 2));
    return pp_scale(1.0 / 3.0, sum);
}

// Triangles with welded vertices; those without area, which have no normal, are left out.
static void take_triangles(mesh_build *w, const int *triangle, int triangles)
{
    for (int k = 0; k < triangles; k++) {
        int t = w->mesh.triangles, *to = w->triangle[t];
        for (int i = 0; i < 3; i++) {
            to[i] = w->same[triangle[3 * k + i]];
        }
        perp_vec3 area =
            pp_triangle_area(corner_of(w, t, 0), corner_of(w, t, 1), corner_of(w, t, 2));
        if (pp_length(area) > 0.0) {
            w->source[w->mesh.triangles++] = k;
        }
    }
}

static pp_box3 triangle_bounds(const mesh_build *w, int t)
{
    perp_vec3 a = corner_of(w, t, 0), b = corner_of(w, t, 1), c = corner_of(w, t, 2);
    return (pp_box3){
        pp_vec(fmin(fmin(a.x, b.x), c.x), fmin(fmin(a.y, b.y), c.y), fmin(fmin(a.z, b.z), c.z)),
        pp_vec(fmax(fmax(a.x, b.x), c.x), fmax(fmax(a.y, b.y), c.y), fmax(fmax(a.z, b.z), c.z))};
}

static pp_box3 box_union(const pp_box3 *a, const pp_box3 *b)
{
    return (pp_box3){
        pp_vec(fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), fmin(a->low.z, b->low.z)),
        pp_vec(fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), fmax(a->high.z, b->high.z))};
}

static const pp_box3 NOTHING = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};

static uint32_t cell_index(double x, double low, double width)
{
    const double cells = 2048.0;
    return width > 0.0 ? (uint32_t)fmin(fmax(cells * ((x - low) / width), 0.0), cells - 1.0) : 0;
}

// Numbers the triangles by the places of their centres along Hilbert's curve.
static bool order_triangles(mesh_build *w)
{
    int n = w->mesh.triangles;
    int(*copy)[3] = pp_arena_array(w->arena, (size_t)n, sizeof *copy);
    int *source = PP_ARRAY(w->arena, int, n);
    if (!copy || !source) {
        return false;
    }
    // the curve runs through 2048^3 cells of the box around all: 33 bits of the key, 31 for the index
    pp_box3 all = NOTHING;
    for (int t = 0; t < n; t++) {
        pp_box3 b = triangle_bounds(w, t);
        all = box_union(&all, &b);
    }
    perp_vec3 wide = pp_sub(all.high, all.low);
    double width = fmax(fmax(wide.x, wide.y), wide.z);
    for (int t = 0; t < n; t++) {
        perp_vec3 c = triangle_centre(w, t);
        uint32_t at[3] = {cell_index(c.x, all.low.x, width), cell_index(c.y, all.low.y, width),
                          cell_index(c.z, all.low.z, width)};
        w->key[t] = (pp_hilbert(3, at, 11) << 31) | (uint64_t)t;
    }
    pp_sort_keys(n, w->key, w->scratch);
    memcpy(copy, w->triangle, (size_t)n * sizeof *copy);
    memcpy(source, w->source, (size_t)n * sizeof *source);
    for (int t = 0; t < n; t++) {
        int from = (int)(w->key[t] & INT32_MAX);
        memcpy(w->triangle[t], copy[from], sizeof *copy);
        w->source[t] = source[from];
        w->normal[t] = pp_normal_of(
            pp_triangle_area(corner_of(w, t, 0), corner_of(w, t, 1), corner_of(w, t, 2)));
    }
    return true;
}

// ── Sides ────────────────────────────────────────────────────────────────────────────────────────

// The triangles around each vertex, by counting: star_first are offsets into star.
static bool set_stars(mesh_build *w)
{
    int n = w->mesh.triangles;
    w->star_first = PP_ZEROS(w->arena, int, w->mesh.vertices + 1);
    w->star = PP_ARRAY(w->arena, int, 3 * (size_t)n);
    if (!w->star_first || !w->star) {
        return false;
    }
    for (int k = 0; k < 3 * n; k++) {
        w->star_first[w->triangle[k / 3][k % 3] + 1]++;
    }
    for (int v = 0; v < w->mesh.vertices; v++) {
        w->star_first[v + 1] += w->star_first[v];
    }
    for (int k = 3 * n - 1; k >= 0;
         k--) {  // downwards: each star in order, and the ends become the starts
        int v = w->triangle[k / 3][k % 3];
        w->star[--w->star_first[v + 1]] = k / 3;
    }
    for (int v = 0; v < w->mesh.vertices; v++) {
        w->star_first[v] = w->star_first[v + 1];
    }
    w->star_first[w->mesh.vertices] = 3 * n;
    return true;
}

// Across a side from a to b lies the triangle that has it the other way round; none where there are several. All
// sides that leave a vertex are looked up at once, so that a vertex of many triangles costs as much as they are.
static bool set_neighbours(mesh_build *w)
{
    enum { NONE = -1, SEVERAL = -2 };
    int *from = PP_ARRAY(w->arena, int, w->mesh.vertices);  // triangle with the side from here to a
    if (!from) {
        return false;
    }
    for (int v = 0; v < w->mesh.vertices; v++) {
        from[v] = NONE;
    }
    for (int a = 0; a < w->mesh.vertices; a++) {
        const int *star = w->star + w->star_first[a];
        int count = w->star_first[a + 1] - w->star_first[a];
        for (int pass = 0; pass < 3; pass++) {  // note, look up, forget
            for (int k = 0; k < count; k++) {
                const int *corner = w->triangle[star[k]];
                int i = (corner[1] == a) + 2 * (corner[2] == a);
                int next = corner[(i + 1) % 3], before = corner[(i + 2) % 3];
                if (pass == 0) {
                    from[before] = from[before] == NONE ? star[k] : SEVERAL;
                } else if (pass == 1) {
                    w->neighbour[star[k]][i] = from[next] >= 0 ? from[next] : NONE;
                } else {
                    from[before] = NONE;
                }
            }
        }
    }
    return true;
}

// Union-find with path halving.
static int root_of(int *region, int t)
{
    while (region[t] != t) {
        region[t] = region[region[t]];
        t = region[t];
    }
    return t;
}

// Whether side k of triangle t is sharp (a border, convex, or folded back by more than 120 degrees), and whether it joins two flat
// triangles to one region. turn: n . m' of the head of this file, the sine of the angle between the normals.
static void set_side(mesh_build *w, int t, int k)
{
    int a = w->triangle[t][k], b = w->triangle[t][(k + 1) % 3], other = w->neighbour[t][k];
    w->sharp[t][k] = true;
    if (other >= 0) {
        perp_vec3 side = pp_unit(pp_sub(w->vertex[a], w->vertex[b]), (perp_vec3){0});
        double turn = pp_dot3(w->normal[t], pp_cross(w->normal[other], side));
        w->sharp[t][k] = turn < -FLAT || pp_dot3(w->normal[t], w->normal[other]) < -0.5;
        if (fabs(turn) <= FLAT && !w->sharp[t][k]) {
            int x = root_of(w->region, t), y = root_of(w->region, other);
            if (x < y) {  // the lower number is the root: the region is named by it
                w->region[y] = x;
            } else {
                w->region[x] = y;
            }
        }
    }
}

static void set_sides(mesh_build *w)
{
    int n = w->mesh.triangles;
    for (int t = 0; t < n; t++) {
        w->region[t] = t;
    }
    for (int k = 0; k < 3 * n; k++) {
        set_side(w, k / 3, k % 3);
    }
    for (int t = 0; t < n; t++) {
        w->region[t] = root_of(w->region, t);
    }
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

// A bounding volume hierarchy over the order of the triangles, bottom up; empty leaves meet nothing.
static bool set_tree(mesh_build *w)
{
    int n = w->mesh.triangles, leaves = 1;
    while (leaves < n) {
        leaves *= 2;
    }
    pp_box3 *node = PP_ARRAY(w->arena, pp_box3, 2 * (size_t)leaves);
    if (!node) {
        return false;
    }
    for (int k = 0; k < leaves; k++) {
        node[leaves + k] = k < n ? triangle_bounds(w, k) : NOTHING;
    }
    for (int k = leaves - 1; k >= 1; k--) {
        node[k] = box_union(&node[2 * k], &node[2 * k + 1]);
    }
    w->mesh.leaves = leaves;
    w->mesh.node = node;
    return true;
}

static bool boxes_overlap(const pp_box3 *a, const pp_box3 *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Depth first from leaf `from` on, without a stack: down to the left where boxes meet, else on to the next subtree.
int pp_mesh_next(const pp_mesh *mesh, const pp_box3 *box, int from)
{
    int k = mesh->leaves + from;
    if (from >= mesh->triangles) {
        return -1;
    }
    for (;;) {
        if (boxes_overlap(box, &mesh->node[k])) {
            if (k >= mesh->leaves) {
                return k - mesh->leaves;
            }
            k *= 2;
            continue;
        }
        while (k % 2 == 1) {  // a right child: what comes next hangs further up
            k /= 2;
        }
        if (k == 0) {
            return -1;
        }
        k++;
    }
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

static bool get_memory(mesh_build *w, int vertices, int triangles)
{
    size_t n = (size_t)triangles;
    int most = vertices > triangles ? vertices : triangles;
    w->key = PP_ARRAY(w->arena, uint64_t, most);
    w->scratch = PP_ARRAY(w->arena, uint64_t, most);
    w->triangle = pp_arena_array(w->arena, n, sizeof *w->triangle);
    w->neighbour = pp_arena_array(w->arena, n, sizeof *w->neighbour);
    w->sharp = pp_arena_array(w->arena, n, sizeof *w->sharp);
    w->normal = PP_ARRAY(w->arena, perp_vec3, n);
    w->source = PP_ARRAY(w->arena, int, n);
    w->region = PP_ARRAY(w->arena, int, n);
    return w->key && w->scratch && w->triangle && w->neighbour && w->sharp && w->normal &&
           w->source && w->region;
}

perp_status pp_mesh_create(const perp_vec3 *vertex, int vertices, const int *triangle,
                           int triangles, pp_arena *arena, const pp_mesh **mesh, perp_error *error)
{
    mesh_build w = {.arena = arena, .error = error, .given = vertex};
    perp_status status = check_triangles(&w, vertices, triangle, triangles);
    if (status != PERP_OK) {
        return status;
    }
    pp_mesh *out = PP_ARRAY(arena, pp_mesh, 1);
    if (!out || !get_memory(&w, vertices, triangles) || !weld(&w, vertices)) {
        return out_of_memory(&w);
    }
    take_triangles(&w, triangle, triangles);
    if (w.mesh.triangles < 1) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "none of the %d triangles of a mesh has an area",
                       triangles);
    }
    if (!order_triangles(&w) || !set_stars(&w) || !set_neighbours(&w) || !set_tree(&w)) {
        return out_of_memory(&w);
    }
    set_sides(&w);
    // counts and the tree are in w.mesh already
    *out = w.mesh;
    out->vertex = w.vertex;
    out->triangle = (const int(*)[3])w.triangle;
    out->source = w.source;
    out->normal = w.normal;
    out->neighbour = (const int(*)[3])w.neighbour;
    out->sharp = (const bool(*)[3])w.sharp;
    out->region = w.region;
    out->star_first = w.star_first;
    out->star = w.star;
    *mesh = out;
    return PERP_OK;
}

// Each cell is cut along the same diagonal.
static void cut_cells(int nx, int ny, int *triangle)
{
    for (int j = 0; j + 1 < ny; j++) {
        for (int i = 0; i + 1 < nx; i++) {
            int a = i + j * nx;
            const int cut[6] = {a, a + 1, a + nx + 1, a, a + nx + 1, a + nx};
            memcpy(triangle, cut, sizeof cut);
            triangle += 6;
        }
    }
}

perp_status pp_mesh_heights(const double *height, int nx, int ny, double half_x, double half_y,
                            pp_arena *arena, const pp_mesh **mesh, perp_error *error)
{
    if (nx < 2 || ny < 2 || nx > INT32_MAX / 32 / ny) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "a height field of %d by %d heights: count out of range", nx, ny);
    }
    if (!(half_x > 0.0 && half_y > 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "a height field of %g by %g m: both must be positive", 2.0 * half_x,
                       2.0 * half_y);
    }
    int cells = (nx - 1) * (ny - 1);
    perp_vec3 *vertex = PP_ARRAY(arena, perp_vec3, (size_t)nx * (size_t)ny);
    int *triangle = PP_ARRAY(arena, int, 6 * (size_t)cells);
    if (!vertex || !triangle) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a height field");
    }
    // rows along x, the first at y = -half_y
    for (int k = 0; k < nx * ny; k++) {
        double i = k % nx, j = k / nx;  // NOLINT(bugprone-integer-division): a row
        vertex[k] = pp_vec(half_x * (2.0 * i / (nx - 1) - 1.0), half_y * (2.0 * j / (ny - 1) - 1.0),
                           height[k]);
    }
    cut_cells(nx, ny, triangle);
    return pp_mesh_create(vertex, nx * ny, triangle, 2 * cells, arena, mesh, error);
}
