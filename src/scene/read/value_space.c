// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of spatial scenes: rotations, inertia tensors, directions, and the points of hulls, meshes
// and height fields.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

// Largest number of vertices, triangles or heights of a shape.
enum { POINTS_MAX = 4 * 1024 * 1024 };

// ── Rotations and tensors ────────────────────────────────────────────────────────────────────────

static const char rotation_due[] =
    "a unit quaternion [w, x, y, z], or {\"axis\": [x, y, z], \"angle\": \"30 deg\"}";

// Axis and angle; the axis need not have unit length.
static perp_status read_turn(pp_reader *r, const json_t *value, perp_quat *to)
{
    pp_turn_input turn = {{0.0, 0.0, 0.0}, 0.0};
    uint64_t seen;
    perp_status status = pp_reader_fields(r, &pp_rotation_object, 0, value, &turn, &seen);
    if (status == PERP_OK) {
        perp_vec3 axis = pp_unit(turn.axis, turn.axis);
        double s = pp_sin(0.5 * turn.angle);
        *to = (perp_quat){pp_cos(0.5 * turn.angle), s * axis.x, s * axis.y, s * axis.z};
    }
    return status;
}

// A quaternion may be off by what few decimals leave; the model normalises it.
static perp_status read_rotation(pp_reader *r, const pp_field *field, const json_t *value,
                                 perp_quat *to)
{
    if (json_is_object(value)) {
        return read_turn(r, value, to);
    }
    double q[4];
    if (!pp_reader_numbers(r, field, value, 4, q)) {
        return pp_reader_refuse(r, field->key, rotation_due, value);
    }
    double norm = pp_quat_norm((perp_quat){q[0], q[1], q[2], q[3]});
    if (!(norm > 0.999 && norm < 1.001)) {
        return pp_reader_fail(r, "'%s': the quaternion has length %g; normalise it", field->key,
                              norm);
    }
    *to = (perp_quat){q[0], q[1], q[2], q[3]};
    return PERP_OK;
}

// Not normalised: the model does that, and the message of a zero direction is clearer here.
static perp_status read_direction(pp_reader *r, const pp_field *field, const json_t *value,
                                  perp_vec3 *to)
{
    perp_vec3 d;
    if (!pp_reader_vector(r, field, value, 3, &d) || (d.x == 0.0 && d.y == 0.0 && d.z == 0.0)) {
        return pp_reader_refuse(r, field->key, "a direction [x, y, z] that is not zero", value);
    }
    *to = d;
    return PERP_OK;
}

// Moments xx, yy, zz; products xy, xz, yz are 0 if left out. The signs are those of the matrix.
static perp_status read_inertia(pp_reader *r, const pp_field *field, const json_t *value,
                                double *to)
{
    double I[6] = {0.0};
    bool good =
        pp_reader_numbers(r, field, value, 3, I) || pp_reader_numbers(r, field, value, 6, I);
    if (!good || !(I[0] > 0.0) || !(I[1] > 0.0) || !(I[2] > 0.0)) {
        return pp_reader_refuse_number(
            r, field, "three moments [xx, yy, zz] > 0, or six numbers [xx, yy, zz, xy, xz, yz]",
            value);
    }
    memcpy(to, I, sizeof I);
    return PERP_OK;
}

// Semi-axes of an ellipsoid, which are stored as they are.
static perp_status read_radii(pp_reader *r, const pp_field *field, const json_t *value,
                              perp_vec3 *to)
{
    perp_vec3 d;
    if (!pp_reader_vector(r, field, value, 3, &d) || !(d.x > 0.0) || !(d.y > 0.0) || !(d.z > 0.0)) {
        return pp_reader_refuse_number(r, field, "three numbers > 0, [x, y, z]", value);
    }
    *to = d;
    return PERP_OK;
}

// Extents of a height field along x and y.
static perp_status read_area(pp_reader *r, const pp_field *field, const json_t *value,
                             perp_vec3 *to)
{
    perp_vec3 d;
    if (!pp_reader_vector(r, field, value, 2, &d) || !(d.x > 0.0) || !(d.y > 0.0)) {
        return pp_reader_refuse_number(r, field, "two numbers > 0, [x, y]", value);
    }
    *to = pp_scale(0.5, d);
    return PERP_OK;
}

// Limits of iterations; 0 means none.
static perp_status read_count(pp_reader *r, const pp_field *field, const json_t *value, int *to)
{
    int64_t n = pp_reader_whole(r, field, value);
    if (n < 0 || n > INT32_MAX) {
        return pp_reader_refuse(r, field->key, "an integer >= 0", value);
    }
    *to = (int)n;
    return PERP_OK;
}

// Directions of the friction pyramid; 0 leaves it to the scene.
static perp_status read_facets(pp_reader *r, const pp_field *field, const json_t *value, int *to)
{
    int64_t n = pp_reader_whole(r, field, value);
    if (n != 0 && (n < 3 || n > 256)) {
        return pp_reader_refuse(
            r, field->key,
            "a number of directions from 3 to 256, or 0 for the friction law of the scene", value);
    }
    *to = (int)n;
    return PERP_OK;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

// Velocity of the surface relative to its body, in the axes of the shape: three motions of time.
static perp_status read_surface(pp_reader *r, const pp_field *field, const json_t *value,
                                perp_shape_def *to)
{
    if (!json_is_array(value) || json_array_size(value) != 3) {
        return pp_reader_refuse_number(r, field, "three motions, such as [\"0.5*t\", 0, 0]", value);
    }
    const char *motion[3] = {NULL, NULL, NULL};
    perp_status status = PERP_OK;
    for (int k = 0; k < 3; k++) {
        const json_t *item = json_array_get(value, (size_t)k);
        pp_reader_enter(r, NULL, k);
        status = pp_reader_motion(r, field, item, &motion[k]);
        pp_reader_leave(r);
        if (status != PERP_OK) {
            break;
        }
    }
    to->surface_x = motion[0];
    to->surface_y = motion[1];
    to->surface_z = motion[2];
    return status;
}

// Refuses a value that is no array, or not of a size that a shape may have. due: what it must be.
static perp_status check_count(pp_reader *r, const pp_field *field, const json_t *value,
                               size_t least, const char *due)
{
    size_t n = json_array_size(value);
    if (json_is_array(value) && n >= least && n <= POINTS_MAX) {
        return PERP_OK;
    }
    return pp_reader_refuse_number(r, field, due, value);
}

// Refuses element k of the array that the path leads to.
static perp_status refuse_item(pp_reader *r, size_t k, const char *due, const json_t *item)
{
    pp_reader_enter(r, NULL, (int)k);
    perp_status status = pp_reader_refuse(r, NULL, due, item);
    pp_reader_leave(r);
    return status;
}

// Points of a hull or of a mesh, in the frame of the shape. A mesh may have three, a hull needs
// four, which the model checks.
static perp_status read_points(pp_reader *r, const pp_field *field, const json_t *value,
                               perp_shape_def *to)
{
    perp_status status = check_count(r, field, value, 3, "an array of at least 4 points [x, y, z]");
    size_t n = json_array_size(value);
    perp_vec3 *vertices = status < 0 ? NULL : PP_ZEROS(r->arena, perp_vec3, n);
    if (!vertices) {
        if (status != PERP_OK) {
            return status;
        }
        return pp_reader_memory(r);
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *point = json_array_get(value, k);
        pp_reader_enter(r, NULL, (int)k);
        bool good = pp_reader_vector(r, field, point, 3, &vertices[k]);
        pp_reader_leave(r);
        if (!good) {
            return refuse_item(r, k, "a vertex: three numbers [x, y, z]", point);
        }
    }
    to->vertices_S = vertices;
    to->vertex_count = (int)n;
    return PERP_OK;
}

// Three numbers of vertices each, from 0, counterclockwise seen from outside. Whether the vertices
// exist is checked in build.c.
static perp_status read_triangles(pp_reader *r, const pp_field *field, const json_t *value,
                                  perp_shape_def *to)
{
    perp_status status =
        check_count(r, field, value, 1, "an array of triangles [a, b, c] of vertex indices");
    size_t n = json_array_size(value);
    int *triangles = status < 0 ? NULL : PP_ZEROS(r->arena, int, 3 * n);
    if (!triangles) {
        if (status != PERP_OK) {
            return status;
        }
        return pp_reader_memory(r);
    }
    // A missing corner reads as -1, which is refused as any wrong number is.
    for (size_t k = 0; k < n; k++) {
        const json_t *item = json_array_get(value, k);
        bool good = json_array_size(item) == 3;
        for (size_t i = 0; i < 3; i++) {
            const json_t *corner = json_array_get(item, i);
            json_int_t at = json_is_integer(corner) ? json_integer_value(corner) : -1;
            good = good && at >= 0 && at < POINTS_MAX;
            triangles[3 * k + i] = good ? (int)at : 0;
        }
        if (!good) {
            return refuse_item(r, k, "a triangle: three vertex indices, starting at 0", item);
        }
    }
    to->triangles = triangles;
    to->triangle_count = (int)n;
    return PERP_OK;
}

// Rows along x, one for each y; all as long as the first.
static perp_status read_heights(pp_reader *r, const pp_field *field, const json_t *value,
                                perp_shape_def *to)
{
    perp_status status = check_count(r, field, value, 2, "2 or more rows of 2 or more heights");
    size_t rows = json_array_size(value), columns = json_array_size(json_array_get(value, 0));
    if (status == PERP_OK && (columns < 2 || columns > POINTS_MAX / rows)) {
        status = pp_reader_refuse_number(r, field, "2 or more rows of 2 or more heights", value);
    }
    double *heights = status < 0 ? NULL : PP_ZEROS(r->arena, double, rows *columns);
    if (!heights) {
        if (status != PERP_OK) {
            return status;
        }
        return pp_reader_memory(r);
    }
    for (size_t k = 0; k < rows; k++) {
        // The path leads to the row, for errors in expressions.
        const json_t *row = json_array_get(value, k);
        pp_reader_enter(r, NULL, (int)k);
        bool good = pp_reader_numbers(r, field, row, (int)columns, heights + k * columns);
        pp_reader_leave(r);
        if (!good) {
            return refuse_item(r, k, "a row of numbers with the same length as the first", row);
        }
    }
    to->heights = heights;
    to->grid_x = (int)columns;
    to->grid_y = (int)rows;
    return PERP_OK;
}

// A name with a zero byte in it would be cut by the system. A hull uses the points of the file
// alone.
static perp_status read_file(pp_reader *r, const pp_field *field, const json_t *value,
                             perp_shape_def *to)
{
    const char *name = json_string_value(value);
    if (!name || !name[0] || strlen(name) != json_string_length(value)) {
        return pp_reader_refuse(r, field->key, "the name of an STL or OBJ file", value);
    }
    pp_mesh_file mesh = {0};
    perp_status status = pp_reader_mesh(r, name, &mesh);
    to->vertices_S = mesh.vertex;
    to->vertex_count = mesh.vertices;
    to->triangles = to->kind == PERP_SHAPE_MESH ? mesh.triangle : NULL;
    to->triangle_count = to->kind == PERP_SHAPE_MESH ? mesh.triangles : 0;
    return status;
}

perp_status pp_reader_value_space(pp_reader *r, const pp_field *field, const json_t *value,
                                  void *to)
// The kinds of value.c come here by its default case.
{
    switch (field->kind) {
    case PP_FIELD_DIRECTION:
        return read_direction(r, field, value, to);
    case PP_FIELD_ROTATION:
        return read_rotation(r, field, value, to);
    case PP_FIELD_INERTIA:
        return read_inertia(r, field, value, to);
    case PP_FIELD_RADII:
        return read_radii(r, field, value, to);
    case PP_FIELD_AREA:
        return read_area(r, field, value, to);
    case PP_FIELD_COUNT:
        return read_count(r, field, value, to);
    case PP_FIELD_FACETS:
        return read_facets(r, field, value, to);
    case PP_FIELD_SURFACE:
        return read_surface(r, field, value, to);
    case PP_FIELD_POINTS:
        return read_points(r, field, value, to);
    case PP_FIELD_TRIANGLES:
        return read_triangles(r, field, value, to);
    case PP_FIELD_FILE:
        return read_file(r, field, value, to);
    case PP_FIELD_HEIGHTS:
        return read_heights(r, field, value, to);
    default:
        return PERP_OK;
    }
}
