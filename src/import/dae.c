// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// COLLADA: the triangles of the scene, with the transforms of its nodes.
#include "import/urdf.h"

#include <math.h>
#include <string.h>

// Levels of nodes, and triangles of a file: nodes can refer to each other and multiply.
enum { NODES_DEEP = 40, TRIANGLES_MOST = 4 * 1024 * 1024, STEPS_MOST = 20 * 1000 * 1000 };

typedef struct dae_matrix {
    double m[12];  // three rows of four
} dae_matrix;

typedef struct dae_reader {
    pp_xml *root;
    pp_arena *arena;
    perp_error *error;
    pp_robot_mesh *mesh;
    double unit;  // [m]
    int vertices, triangles, vertex_room, triangle_room;
    perp_vec3 *vertex;
    int *triangle;
    int visits, steps;
} dae_reader;

// ── Helpers ──────────────────────────────────────────────────────────────────────────────────────

static perp_status no_memory(const dae_reader *r)
{
    return pp_fail(r->error, PERP_ERR_MEMORY, "not enough memory for the triangles of the file");
}

// The element with that id; a leading '#' is skipped. NULL: none, or references have taken too long.
static pp_xml *find_id(dae_reader *r, const char *url)
{
    url += *url == '#';
    for (pp_xml *at = r->root; at; at = pp_xml_walk(r->root, at)) {
        if (++r->steps > STEPS_MOST) {
            return NULL;
        }
        const char *id = pp_xml_value(at, "id");
        if (id && strcmp(id, url) == 0) {
            return at;
        }
    }
    return NULL;
}

static pp_xml *find_target(dae_reader *r, pp_xml *at, const char *attribute)
{
    const char *url = pp_xml_value(at, attribute);
    return url ? find_id(r, url) : NULL;
}

// All numbers of a text, in the arena; *count: how many. NULL: no memory, or one is wrong (count < 0).
static double *all_numbers(pp_arena *arena, const char *text, int *count)
{
    size_t length = strlen(text);
    int room = length / 2 + 1 < INT32_MAX / 2 ? (int)(length / 2 + 1) : INT32_MAX / 2;
    double *x = PP_ARRAY(arena, double, room);
    *count = x ? pp_xml_numbers(text, x, room) : 0;
    return x;
}

static int read_int(pp_xml *at, const char *name, int otherwise)
{
    const char *text = pp_xml_value(at, name);
    int value = otherwise;
    if (text && !pp_number_parse_int(text, strlen(text), 0, INT32_MAX / 4, &value)) {
        return otherwise;
    }
    return value;
}

// Room for one more element of an array that doubles.
static bool grow(pp_arena *arena, void **array, int count, int more, size_t size, int *room)
{
    if (count + more <= *room) {
        return true;
    }
    int larger = 2 * (count + more) + 64;
    char *wider = pp_arena_array(arena, (size_t)larger, size);
    if (!wider) {
        return false;
    }
    if (count > 0) {
        memcpy(wider, *array, (size_t)count * size);
    }
    *array = wider;
    *room = larger;
    return true;
}

// ── Transforms ───────────────────────────────────────────────────────────────────────────────────

static dae_matrix product(const dae_matrix *a, const dae_matrix *b)
{
    dae_matrix c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = j == 3 ? a->m[4 * i + 3] : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += a->m[4 * i + k] * b->m[4 * k + j];
            }
            c.m[4 * i + j] = sum;
        }
    }
    return c;
}

// One transform of a node; false: the element is none.
static bool transform_of(const pp_xml *at, dae_matrix *out)
{
    double x[16] = {0.0};
    int count = pp_xml_numbers(at->text, x, 16);
    *out = (dae_matrix){{1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0}};
    if (pp_xml_is(at, "matrix") && count == 16) {
        memcpy(out->m, x, sizeof out->m);
    } else if (pp_xml_is(at, "translate") && count == 3) {
        out->m[3] = x[0];
        out->m[7] = x[1];
        out->m[11] = x[2];
    } else if (pp_xml_is(at, "scale") && count == 3) {
        out->m[0] = x[0];
        out->m[5] = x[1];
        out->m[10] = x[2];
    } else if (pp_xml_is(at, "rotate") && count == 4) {
        static const double PI = 3.14159265358979323846;
        perp_vec3 axis = pp_unit(pp_vec(x[0], x[1], x[2]), pp_vec(0.0, 0.0, 1.0));
        pp_mat3 R = pp_quat_matrix(pp_quat_exp(pp_scale(x[3] * PI / 180.0, axis)));
        for (int k = 0; k < 9; k++) {
            out->m[4 * (k / 3) + k % 3] = R.m[k];
        }
    } else {
        return false;
    }
    return true;
}

// ── Geometry ─────────────────────────────────────────────────────────────────────────────────────

// The points of a <vertices> element, appended and transformed; *base: the first, *count: how many.
static perp_status add_points(dae_reader *r, pp_xml *vertices, const dae_matrix *X, int *base,
                              int *count)
{
    pp_xml *input = pp_xml_child(vertices, "input", NULL);
    while (input) {
        const char *semantic = pp_xml_value(input, "semantic");
        if (semantic && strcmp(semantic, "POSITION") == 0) {
            break;
        }
        input = pp_xml_child(vertices, "input", input);
    }
    pp_xml *source = input ? find_target(r, input, "source") : NULL;
    pp_xml *array = source ? pp_xml_child(source, "float_array", NULL) : NULL;
    if (!array) {
        return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: vertices without positions");
    }
    // Accessors of positions have a stride of three but for odd files.
    pp_xml *common = pp_xml_child(source, "technique_common", NULL);
    pp_xml *accessor = common ? pp_xml_child(common, "accessor", NULL) : NULL;
    int stride = accessor ? read_int(accessor, "stride", 3) : 3, numbers;
    double *x = all_numbers(r->arena, array->text, &numbers);
    if (!x) {
        return no_memory(r);
    }
    if (numbers < 3 || stride < 3) {
        return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: positions that are not numbers");
    }
    *base = r->vertices;
    *count = numbers / stride;
    if (!grow(r->arena, (void **)&r->vertex, r->vertices, *count, sizeof *r->vertex,
              &r->vertex_room)) {
        return no_memory(r);
    }
    for (int k = 0; k < *count; k++) {
        const double *p = x + (size_t)k * (size_t)stride, *m = X->m;
        r->vertex[r->vertices++] = pp_vec(m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3],
                                          m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7],
                                          m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11]);
    }
    return PERP_OK;
}

static perp_status add_triangle(dae_reader *r, int a, int b, int c)
{
    if (r->triangles == TRIANGLES_MOST) {
        return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: more than %d triangles",
                       TRIANGLES_MOST);
    }
    if (!grow(r->arena, (void **)&r->triangle, 3 * r->triangles, 3, sizeof *r->triangle,
              &r->triangle_room)) {
        return no_memory(r);
    }
    int *to = r->triangle + 3 * (size_t)r->triangles++;
    to[0] = a;
    to[1] = b;
    to[2] = c;
    return PERP_OK;
}

// A polygon of `corners` indices, each with `stride` numbers of which that at `offset` is the vertex.
static perp_status add_polygon(dae_reader *r, const double *p, int corners, int stride, int offset,
                               const int range[2])
{
    int first = 0, before = 0;
    for (int k = 0; k < corners; k++) {
        double index = p[(size_t)k * (size_t)stride + (size_t)offset];
        if (!(index >= 0.0 && index < range[1])) {
            return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: vertex %g does not exist", index);
        }
        int at = range[0] + (int)index;
        if (k >= 2) {
            perp_status status = add_triangle(r, first, before, at);
            if (status < 0) {
                return status;
            }
        }
        first = k == 0 ? at : first;
        before = at;
    }
    return PERP_OK;
}

// <triangles>, <polylist> or <polygons>.
static perp_status add_primitives(dae_reader *r, pp_xml *at, const dae_matrix *X)
{
    int stride = 1, offset = 0, range[2] = {0, 0}, counts = 0, numbers = 0;
    pp_xml *vertices = NULL;
    for (pp_xml *input = pp_xml_child(at, "input", NULL); input;
         input = pp_xml_child(at, "input", input)) {
        const char *semantic = pp_xml_value(input, "semantic");
        int place = read_int(input, "offset", 0);
        stride = place + 1 > stride ? place + 1 : stride;
        if (semantic && strcmp(semantic, "VERTEX") == 0) {
            offset = place;
            vertices = find_target(r, input, "source");
        }
    }
    if (!vertices) {
        return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: triangles without vertices");
    }
    perp_status status = add_points(r, vertices, X, &range[0], &range[1]);
    // Polylists say how many corners each polygon has; polygons have a <p> each.
    pp_xml *vcount = pp_xml_child(at, "vcount", NULL);
    double *corner = vcount ? all_numbers(r->arena, vcount->text, &counts) : NULL;
    bool polygons = pp_xml_is(at, "polygons");
    for (pp_xml *p = pp_xml_child(at, "p", NULL); p; p = pp_xml_child(at, "p", p)) {
        double *x = all_numbers(r->arena, p->text, &numbers);
        if (status < 0 || !x) {
            return status < 0 ? status : no_memory(r);
        }
        int left = numbers / stride;
        for (int k = 0; left > 0; k++) {
            double size = corner && k < counts ? corner[k] : 3.0;
            size = polygons ? left : size;
            if (!(size >= 1.0 && size <= left)) {
                break;
            }
            status = add_polygon(r, x, (int)size, stride, offset, range);
            if (status < 0) {
                return status;
            }
            x += (size_t)size * (size_t)stride;
            left -= (int)size;
        }
    }
    return status;
}

static perp_status add_geometry(dae_reader *r, pp_xml *geometry, const dae_matrix *X)
{
    pp_xml *mesh = pp_xml_child(geometry, "mesh", NULL);
    perp_status status = PERP_OK;
    for (pp_xml *at = mesh ? mesh->child : NULL; at; at = at->next) {
        if (pp_xml_is(at, "triangles") || pp_xml_is(at, "polylist") || pp_xml_is(at, "polygons")) {
            status = add_primitives(r, at, X);
            if (status < 0) {
                return status;
            }
        }
    }
    return status;
}

// ── Nodes ────────────────────────────────────────────────────────────────────────────────────────

static perp_status add_node(dae_reader *r, pp_xml *node, const dae_matrix *above, int depth)
{
    dae_matrix X = *above, own;
    perp_status status = PERP_OK;
    if (depth > NODES_DEEP || ++r->visits > 100000) {
        return pp_fail(r->error, PERP_ERR_FORMAT, "COLLADA: nodes are nested too deeply");
    }
    // Transforms come before what they move.
    for (pp_xml *at = node->child; at; at = at->next) {
        if (transform_of(at, &own)) {
            X = product(&X, &own);
        } else if (pp_xml_is(at, "node")) {
            status = add_node(r, at, &X, depth + 1);
        } else if (pp_xml_is(at, "instance_node")) {
            pp_xml *other = find_target(r, at, "url");
            status = other ? add_node(r, other, &X, depth + 1) : PERP_OK;
        } else if (pp_xml_is(at, "instance_geometry")) {
            pp_xml *other = find_target(r, at, "url");
            status = other ? add_geometry(r, other, &X) : PERP_OK;
        }
        if (status < 0) {
            return status;
        }
    }
    return status;
}

perp_status pp_dae_read(const char *text, size_t size, pp_arena *arena, pp_robot_mesh *mesh,
                        perp_error *error)
{
    pp_xml_source source = {.text = text, .size = size, .keep_text = true};
    dae_reader r = {.arena = arena, .error = error, .mesh = mesh, .unit = 1.0};
    perp_status status = pp_xml_parse(&source, arena, &r.root, error);
    if (status < 0) {
        return status;
    }
    if (!pp_xml_is(r.root, "COLLADA")) {
        return pp_fail(error, PERP_ERR_FORMAT, "is neither STL, OBJ nor COLLADA");
    }
    pp_xml *asset = pp_xml_child(r.root, "asset", NULL);
    pp_xml *unit = asset ? pp_xml_child(asset, "unit", NULL) : NULL;
    const char *meter = unit ? pp_xml_value(unit, "meter") : NULL;
    if (meter && (pp_xml_numbers(meter, &r.unit, 1) != 1 || !(r.unit > 0.0))) {
        return pp_fail(error, PERP_ERR_FORMAT, "COLLADA: the unit must be a number > 0");
    }
    // The unit is a scale of all that follows.
    double u = r.unit;
    dae_matrix X = {{u, 0.0, 0.0, 0.0, 0.0, u, 0.0, 0.0, 0.0, 0.0, u, 0.0}};
    for (pp_xml *library = pp_xml_child(r.root, "library_visual_scenes", NULL); library;
         library = pp_xml_child(r.root, "library_visual_scenes", library)) {
        for (pp_xml *scene = library->child; scene; scene = scene->next) {
            status = add_node(&r, scene, &X, 0);
            if (status < 0) {
                return status;
            }
        }
    }
    if (r.triangles == 0) {
        return pp_fail(error, PERP_ERR_FORMAT, "COLLADA: the file has no triangles");
    }
    mesh->vertex = r.vertex;
    mesh->vertices = r.vertices;
    mesh->triangle = r.triangle;
    mesh->triangles = r.triangles;
    return pp_robot_mesh_place(mesh) ? PERP_OK
                                     : pp_fail(error, PERP_ERR_NUMERIC, "a vertex is not finite");
}
