// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What run.h5 holds once: how the run was made, the scene's text, and the model to draw and judge
// it by.
//
// Attributes of / have the settings, model/ has one array for each property of bodies, shapes,
// joints and springs, and files/ the mesh files that the scene names. Lists of different lengths
// are stored one after the other, with an array of their ends: item i has the entries end[i-1] ..
// end[i] - 1. The reader is model_in.c; docs/recording-format.md describes all of it.
#include "record/store.h"
#include "sim/sim.h"

#include <errno.h>
#include <string.h>

// ── HDF5 in short: every function reports into *good ─────────────────────────────────────────────

// A group of the file that is written to. After a failure the calls go on and do nothing, so that a
// sequence of them is checked once, at its end.
typedef struct group_writer {
    hid_t at;     // the group
    bool good;    // everything has been written
    bool memory;  // is out
} group_writer;

// Notes that memory is out; false: leave.
static bool have(group_writer *w, bool allocated)
{
    w->memory = w->memory || !allocated;
    w->good = w->good && allocated;
    return w->good;
}

// Empty datasets are written as well: readers find every name in every recording.
static void put_array(group_writer *w, const char *name, pp_h5_cell cell, int rank,
                      const hsize_t *dims, const void *data)
{
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t dataset = H5Dcreate2(w->at, name, pp_h5_cell_file(cell), space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
    // An empty dataset is created, and nothing is written to it.
    hsize_t count = 1;
    for (int k = 0; k < rank; k++) {
        count *= dims[k];
    }
    w->good = w->good && dataset >= 0 &&
              (count == 0 || H5Dwrite(dataset, pp_h5_cell_memory(cell), H5S_ALL, H5S_ALL,
                                      H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

// One value per item.
static void put_vector(group_writer *w, const char *name, pp_h5_cell cell, int count,
                       const void *data)
{
    const hsize_t dim = (hsize_t)count;
    put_array(w, name, cell, 1, &dim, data);
}

// One row per item.
static void put_table(group_writer *w, const char *name, int rows, int cols, const double *data)
{
    const hsize_t dims[2] = {(hsize_t)rows, (hsize_t)cols};
    put_array(w, name, PP_F64, 2, dims, data);
}

// Strings of one size, that of the longest, in UTF-8, padded with zeros. HDF5 has no type of size
// 0.
static hid_t string_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size > 0 ? size : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

// data: count strings of `size` bytes, one after the other.
static void put_strings(group_writer *w, const char *name, int count, size_t size, const char *data)
{
    const hsize_t dim = (hsize_t)count;
    hid_t type = string_type(size), space = H5Screate_simple(1, &dim, NULL);
    hid_t dataset = H5Dcreate2(w->at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->good = w->good && dataset >= 0 &&
              (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

// `type` is that in the file, `memory` that of the value.
static void put_attribute(group_writer *w, const char *name, hid_t type, hid_t memory,
                          const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(w->at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    w->good = w->good && attribute >= 0 && H5Awrite(attribute, memory, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
}

static void put_number(group_writer *w, const char *name, double value)
{
    put_attribute(w, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

static void put_integer(group_writer *w, const char *name, int value)
{
    put_attribute(w, name, H5T_STD_I32LE, H5T_NATIVE_INT, &value);
}

// An empty word is stored as one zero byte.
static void put_word(group_writer *w, const char *name, const char *word)
{
    hid_t type = string_type(strlen(word));
    put_attribute(w, name, type, type, word[0] ? word : "\0");
    H5Tclose(type);
}

// A group within a group; what failed before stays failed.
static group_writer open_group(const group_writer *w, const char *name)
{
    group_writer inner = {H5Gcreate2(w->at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), w->good,
                          w->memory};
    inner.good = inner.good && inner.at >= 0;
    return inner;
}

// Hands the state of the inner group back to the outer one.
static void close_group(group_writer *w, const group_writer *inner)
{
    w->good = inner->good;
    w->memory = inner->memory;
    H5Gclose(inner->at);
}

// ── The parts ────────────────────────────────────────────────────────────────────────────────────

// Attributes of /: the program, the settings of the run, and its limits.
static void put_run(group_writer *w, const perp_sim *sim, const perp_record_def *def)
{
    const perp_sim_def *s = &sim->def;
    const perp_limits *limits = &s->limits;
    put_word(w, "format", "perp recording");
    put_integer(w, "version", PP_RECORDING_VERSION);
    put_word(w, "perp", PERP_VERSION);
    put_word(w, "name", def->name ? def->name : "");
    put_word(w, "stepper", perp_stepper_word((int)s->stepper));
    put_word(w, "form", perp_form_word((int)s->form));
    put_word(w, "friction", perp_friction_law_word((int)s->friction));
    put_word(w, "impact", perp_impact_law_word((int)s->impact));
    put_word(w, "solver", s->solver ? s->solver : "auto");
    put_number(w, "h", def->h);
    put_integer(w, "every", def->every);
    put_number(w, "tolerance", s->tolerance);
    put_number(w, "margin", pp_gap_margin(sim->given, s->margin));
    put_number(w, "theta", s->theta);
    put_word(w, "coordinates", perp_coordinates_word((int)s->coordinates));
    put_word(w, "positions", perp_positions_word((int)s->positions));
    if (s->keyframe.i >= 0) {
        put_word(w, "keyframe", sim->given->keyframe[s->keyframe.i].name);
    }
    if (sim->given->spatial) {
        put_word(w, "rotation_update", perp_rotation_update_word((int)s->rotation));
        put_word(w, "gyroscopic", perp_gyroscopic_word((int)s->gyroscopic));
        put_integer(w, "facets", s->facets);
    }
    // Absolute limits in SI units, 0: relative ones.
    put_number(w, "limit_gap", limits->gap);
    put_number(w, "limit_complementarity", limits->complementarity);
    put_number(w, "limit_cone", limits->cone);
    put_number(w, "limit_joint", limits->joint);
    put_number(w, "limit_momentum", limits->momentum);
    put_number(w, "limit_energy", limits->energy);
    put_number(w, "limit_residual", limits->residual);
}

// Name of item i in an array of structs of any type that have a member `name`.
static const char *name_at(const void *items, size_t size, size_t offset, int i)
{
    const char *name;
    memcpy(&name, (const char *)items + (size_t)i * size + offset, sizeof name);
    return name;
}

// All names in one dataset of fixed-size strings; `as`: what it is called.
static void put_names(group_writer *w, const char *as, pp_arena *arena, const void *items,
                      size_t size, size_t offset, int count)
{
    size_t longest = 1;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(name_at(items, size, offset, i));
        longest = length > longest ? length : longest;
    }
    char *block = pp_arena_zeros(arena, (size_t)count, longest);
    if (!have(w, block != NULL)) {
        return;
    }
    for (int i = 0; i < count; i++) {
        const char *name = name_at(items, size, offset, i);
        for (size_t k = 0; name[k]; k++) {
            block[(size_t)i * longest + k] = name[k];  // padded, not terminated
        }
    }
    put_strings(w, as, count, longest, block);
}

#define PUT_NAMES(w, arena, type, items, count)                                                    \
    put_names(w, "name", arena, items, sizeof(type), offsetof(type, name), count)

// Masses [kg], inertia about the centre of mass [kg m2] (in space xx yy zz xy xz yz in body axes),
// pose at the start, kinds, and the places of a body in q and nu.
static void put_bodies(group_writer *w, const perp_sim *sim, pp_arena *arena)
{
    const perp_model *m = sim->given;
    int n = m->bodies, moments = m->spatial ? 6 : 1, places = m->spatial ? 7 : 3;
    double *mass = PP_ARRAY(arena, double, n), *inertia = PP_ARRAY(arena, double, moments *n);
    double *scale = PP_ARRAY(arena, double, n);
    double *start = PP_ARRAY(arena, double, places *n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 4 * (size_t)n);
    if (!have(w, mass && inertia && scale && start && ints)) {
        return;
    }
    // ints: kind, drive, at, at_q, each for all bodies. at and at_q are -1 for bodies that are not
    // free.
    for (int i = 0; i < n; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *frame = &sim->frames[i];
        mass[i] = body->mass;
        scale[i] = body->gravity_scale;
        const double flat[3] = {frame->p.x, frame->p.y, frame->angle};
        const double pose[7] = {frame->p.x,   frame->p.y,   frame->p.z,  frame->rot.w,
                                frame->rot.x, frame->rot.y, frame->rot.z};
        // In the plane only the moment about z, which is I_B's last entry.
        double I[6];
        perp_model_inertia_tensor(m, (perp_body){i}, I);
        memcpy(inertia + (size_t)(moments * i), m->spatial ? I : &body->I_B.m[8],
               (size_t)moments * sizeof *I);
        memcpy(start + (size_t)(places * i), m->spatial ? pose : flat,
               (size_t)places * sizeof *start);
        ints[i] = (int32_t)body->kind;
        ints[n + i] = (int32_t)body->drive;
        ints[2 * n + i] = body->nv > 0 ? body->at : -1;
        ints[3 * n + i] = body->nv > 0 ? body->at_q : -1;
    }
    PUT_NAMES(w, arena, pp_body, m->body, n);
    put_vector(w, "mass", PP_F64, n, mass);
    put_vector(w, "gravity_scale", PP_F64, n, scale);
    if (m->spatial) {
        put_table(w, "inertia", n, moments, inertia);
        put_vector(w, "at_q", PP_I32, n, ints + 3 * n);
    } else {
        put_vector(w, "inertia", PP_F64, n, inertia);
    }
    put_table(w, "start", n, places, start);
    put_vector(w, "kind", PP_I32, n, ints);
    put_vector(w, "drive", PP_I32, n, ints + n);
    put_vector(w, "at", PP_I32, n, ints + 2 * n);
}

// Points of a planar shape's outline in the body frame [m]: vertices of polygons, ends of capsules
// and segments, centre of a disc; of a half-plane a point and its outward normal.
static int outline_points(const pp_shape *s, pp_vec2 *out)
{
    // From the middle to an end.
    pp_vec2 d = {s->half * s->axis_B.x, s->half * s->axis_B.y};
    switch (s->kind) {
    case PERP_SHAPE_BOX:
    case PERP_SHAPE_POLYGON:
        memcpy(out, s->vertex_B, (size_t)s->count * sizeof *out);
        return s->count;
    case PERP_SHAPE_CAPSULE:
    case PERP_SHAPE_SEGMENT:
        out[0] = (pp_vec2){s->p_BS.x - d.x, s->p_BS.y - d.y};
        out[1] = (pp_vec2){s->p_BS.x + d.x, s->p_BS.y + d.y};
        return 2;
    case PERP_SHAPE_HALFPLANE:
        out[0] = s->p_BS;
        // The normal: the axis of the line turned by 90 degrees.
        out[1] = (pp_vec2){-s->axis_B.y, s->axis_B.x};
        return 2;
    default:
        out[0] = s->p_BS;
        return 1;
    }
}

// Outlines of planar shapes, one after the other; outline_end[i] is where those of shape i end.
static void put_outlines(group_writer *w, const pp_shape *shape, int n, pp_arena *arena)
{
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        // At least two points: ends of a segment, point and normal of a half-plane.
        most += (size_t)shape[i].count + 2;
    }
    pp_vec2 *points = PP_ARRAY(arena, pp_vec2, most);
    int32_t *end = PP_ARRAY(arena, int32_t, n);
    if (!have(w, points && end)) {
        return;
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        count += outline_points(&shape[i], points + count);
        end[i] = count;
    }
    put_vector(w, "outline_end", PP_I32, n, end);
    put_table(w, "outline", count, 2, (const double *)points);
}

// Solids: pose and extent in the body frame; of hulls and meshes the vertices there, and the faces
// by their corners, numbered within the shape.
typedef struct surfaces {
    perp_vec3 *point;
    int32_t *point_end, *face_end, *corner_end, *corner;
    int points, faces, corners;
} surfaces;

// Sizes of the arrays, before they are allocated.
static void count_surface(const pp_shape *s, size_t *points, size_t *faces, size_t *corners)
{
    if (s->mesh) {
        *points += (size_t)s->mesh->vertices;
        *faces += (size_t)s->mesh->triangles;
        *corners += 3 * (size_t)s->mesh->triangles;
    } else if (s->solid.hull) {
        const pp_hull *hull = s->solid.hull;
        *points += (size_t)hull->vertices;
        *faces += (size_t)hull->faces;
        *corners += (size_t)hull->face_first[hull->faces];
    }
}

// Vertices are in the frame of the shape; the file has them in the frame of the body.
static void add_points(surfaces *out, const pp_pose *X_BS, const perp_vec3 *vertex, int vertices)
{
    for (int k = 0; k < vertices; k++) {
        out->point[out->points++] = pp_pose_point(X_BS, vertex[k]);
    }
}

// Corners of a face, counter-clockwise seen from outside.
static void add_face(surfaces *out, const int *corner, int corners)
{
    for (int k = 0; k < corners; k++) {
        out->corner[out->corners++] = corner[k];
    }
    out->corner_end[out->faces++] = out->corners;
}

// Vertices and faces of a mesh or a hull. Other shapes have none: their pose, half lengths and
// radius describe them.
static void add_surface(surfaces *out, const pp_shape *s)
{
    if (s->mesh) {
        add_points(out, &s->X_BS, s->mesh->vertex, s->mesh->vertices);
        for (int f = 0; f < s->mesh->triangles; f++) {
            add_face(out, s->mesh->triangle[f], 3);
        }
    } else if (s->solid.hull) {
        const pp_hull *hull = s->solid.hull;
        add_points(out, &s->X_BS, hull->vertex, hull->vertices);
        for (int f = 0; f < hull->faces; f++) {
            int first = hull->face_first[f];
            add_face(out, hull->corner + first, hull->face_first[f + 1] - first);
        }
    }
}

// Points, faces and corners of all shapes, with the ends of each shape and each face.
static void put_surfaces(group_writer *w, const pp_shape *shape, int n, pp_arena *arena)
{
    size_t points = 0, faces = 0, corners = 0;
    for (int i = 0; i < n; i++) {
        count_surface(&shape[i], &points, &faces, &corners);
    }
    surfaces out = {.point = PP_ARRAY(arena, perp_vec3, points),
                    .point_end = PP_ARRAY(arena, int32_t, n),
                    .face_end = PP_ARRAY(arena, int32_t, n),
                    .corner_end = PP_ARRAY(arena, int32_t, faces),
                    .corner = PP_ARRAY(arena, int32_t, corners)};
    if (!have(w, out.point && out.point_end && out.face_end && out.corner_end && out.corner)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        add_surface(&out, &shape[i]);
        out.point_end[i] = out.points;
        out.face_end[i] = out.faces;
    }
    put_vector(w, "outline_end", PP_I32, n, out.point_end);
    put_table(w, "outline", out.points, 3, (const double *)out.point);
    put_vector(w, "face_end", PP_I32, n, out.face_end);
    put_vector(w, "corner_end", PP_I32, out.faces, out.corner_end);
    put_vector(w, "corner", PP_I32, out.corners, out.corner);
}

// Pose in the body frame (position, quaternion) and half lengths [m].
static void put_solids(group_writer *w, const pp_shape *shape, int n, pp_arena *arena)
{
    enum { POSE = 7 };
    double *pose = PP_ARRAY(arena, double, POSE *n), *half = PP_ARRAY(arena, double, 3 * (size_t)n);
    if (!have(w, pose && half)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const pp_shape *s = &shape[i];
        // Half lengths of shapes that have none are 0.
        perp_quat q = pp_matrix_quat(&s->X_BS.R);
        perp_vec3 p = s->X_BS.p, h = s->solid.half;
        const double row[POSE] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
        memcpy(pose + (size_t)(POSE * i), row, sizeof row);
        memcpy(half + (size_t)(3 * i), &h, sizeof h);
    }
    put_table(w, "pose", n, POSE, pose);
    put_table(w, "half", n, 3, half);
    put_surfaces(w, shape, n, arena);
}

// Radius of a solid that has one, rounding radius of an outline [m]. Definitions of other solids may hold anything.
static double shown_radius(const pp_shape *shape, bool spatial)
{
    bool round = shape->kind == PERP_SHAPE_SPHERE || shape->kind == PERP_SHAPE_CAPSULE ||
                 shape->kind == PERP_SHAPE_CYLINDER || shape->kind == PERP_SHAPE_CONE;
    if (!spatial) {
        return shape->radius;
    }
    return round ? shape->solid.radius : 0.0;
}

// In the plane outlines, in space poses and surfaces.
static void put_shapes(group_writer *w, const perp_model *m, pp_arena *arena)
{
    int n = m->shapes;
    double *reals = PP_ARRAY(arena, double, 5 * (size_t)n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 6 * (size_t)n);
    uint32_t *bits = PP_ARRAY(arena, uint32_t, 2 * (size_t)n);
    if (!have(w, reals && ints && bits)) {
        return;
    }
    // reals: mu, restitution, radius, mu_spin, mu_roll; ints: body, kind, combine, priority, colour,
    // hidden; bits: group, mask; each for all shapes.
    for (int i = 0; i < n; i++) {
        const pp_shape *shape = &m->shape[i];
        reals[i] = shape->mu;
        reals[n + i] = shape->restitution;
        reals[2 * n + i] = shown_radius(shape, m->spatial);
        ints[i] = shape->body;
        ints[n + i] = (int32_t)shape->kind;
        reals[3 * n + i] = shape->mu_spin;
        reals[4 * n + i] = shape->mu_roll;
        ints[2 * n + i] = (int32_t)shape->combine;
        ints[3 * n + i] = shape->priority;
        ints[4 * n + i] = shape->colour;
        ints[5 * n + i] = shape->hidden;
        bits[i] = shape->group;
        bits[n + i] = shape->mask;
    }
    PUT_NAMES(w, arena, pp_shape, m->shape, n);
    put_vector(w, "mu_spin", PP_F64, n, reals + 3 * n);
    put_vector(w, "mu_roll", PP_F64, n, reals + 4 * n);
    put_vector(w, "combine", PP_I32, n, ints + 2 * n);
    put_vector(w, "priority", PP_I32, n, ints + 3 * n);
    put_vector(w, "colour", PP_I32, n, ints + 4 * n);
    put_vector(w, "group", PP_U32, n, bits);
    put_vector(w, "mask", PP_U32, n, bits + n);
    put_vector(w, "mu", PP_F64, n, reals);
    put_vector(w, "restitution", PP_F64, n, reals + n);
    put_vector(w, "radius", PP_F64, n, reals + 2 * n);
    put_vector(w, "body", PP_I32, n, ints);
    put_vector(w, "kind", PP_I32, n, ints + n);
    put_vector(w, "hidden", PP_I32, n, ints + 5 * n);
    if (m->spatial) {
        put_solids(w, m->shape, n, arena);
    } else {
        put_outlines(w, m->shape, n, arena);
    }
}

// Shapes that are only shown: what pictures need of them.
static void put_visuals(group_writer *w, const perp_model *m, pp_arena *arena)
{
    int n = m->visuals;
    double *radius = PP_ARRAY(arena, double, n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 3 * (size_t)n);
    if (!have(w, radius && ints)) {
        return;
    }
    // ints: body, kind, colour, each for all visuals.
    for (int i = 0; i < n; i++) {
        const pp_shape *visual = &m->visual[i];
        radius[i] = shown_radius(visual, m->spatial);
        ints[i] = visual->body;
        ints[n + i] = (int32_t)visual->kind;
        ints[2 * n + i] = visual->colour;
    }
    PUT_NAMES(w, arena, pp_shape, m->visual, n);
    put_vector(w, "radius", PP_F64, n, radius);
    put_vector(w, "body", PP_I32, n, ints);
    put_vector(w, "kind", PP_I32, n, ints + n);
    put_vector(w, "colour", PP_I32, n, ints + 2 * n);
    if (m->spatial) {
        put_solids(w, m->visual, n, arena);
    } else {
        put_outlines(w, m->visual, n, arena);
    }
}

// Anchors in the frames of their bodies [m]; in space the axis as well, in the frame of a.
static void put_joints(group_writer *w, const perp_model *m, pp_arena *arena)
{
    // Numbers of a row of anchors.
    int n = m->joints, cells = m->spatial ? 9 : 4;
    double *anchor = PP_ARRAY(arena, double, cells *n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 3 * (size_t)n);
    if (!have(w, anchor && ints)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const pp_joint *joint = &m->joint[i];
        perp_vec3 a = joint->r_A, b = joint->r_B, u = joint->axis_A;
        const double flat[4] = {a.x, a.y, b.x, b.y};
        const double all[9] = {a.x, a.y, a.z, b.x, b.y, b.z, u.x, u.y, u.z};
        memcpy(anchor + (size_t)(cells * i), m->spatial ? all : flat,
               (size_t)cells * sizeof *anchor);
        ints[i] = (int32_t)joint->kind;
        ints[n + i] = joint->a;
        ints[2 * n + i] = joint->b;
    }
    PUT_NAMES(w, arena, pp_joint, m->joint, n);
    put_vector(w, "kind", PP_I32, n, ints);
    put_vector(w, "a", PP_I32, n, ints + n);
    put_vector(w, "b", PP_I32, n, ints + 2 * n);
    put_table(w, "anchors", n, cells, anchor);
}

// Springs between points; other forces have no place that could be shown.
static void put_springs(group_writer *w, const perp_model *m, pp_arena *arena)
{
    enum { CELLS = 7 };
    int n = 0;
    double *table = PP_ARRAY(arena, double, CELLS * m->forces);
    pp_force *spring = PP_ARRAY(arena, pp_force, m->forces);
    int32_t *ints = PP_ARRAY(arena, int32_t, 2 * (size_t)m->forces);
    if (!have(w, table && spring && ints)) {
        return;
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        if (f->kind == PERP_FORCE_SPRING) {
            // Places in the frames of their bodies, and the rest length [m], in the plane as well.
            const double row[CELLS] = {f->r_A.x, f->r_A.y, f->r_A.z, f->r_B.x,
                                       f->r_B.y, f->r_B.z, f->rest};
            memcpy(table + (size_t)CELLS * (size_t)n, row, sizeof row);
            spring[n++] = *f;
        }
    }
    for (int i = 0; i < n; i++) {
        ints[i] = spring[i].a;
        ints[n + i] = spring[i].b;
    }
    PUT_NAMES(w, arena, pp_force, spring, n);
    put_vector(w, "a", PP_I32, n, ints);
    put_vector(w, "b", PP_I32, n, ints + n);
    put_table(w, "anchors", n, CELLS, table);
}

// The joints that actuators act along.
static void put_actuators(group_writer *w, const perp_model *m, pp_arena *arena)
{
    int32_t *joint = PP_ARRAY(arena, int32_t, m->actuators);
    if (!have(w, joint)) {
        return;
    }
    for (int i = 0; i < m->actuators; i++) {
        joint[i] = m->actuator[i].joint;
    }
    PUT_NAMES(w, arena, pp_actuator, m->actuator, m->actuators);
    put_vector(w, "joint", PP_I32, m->actuators, joint);
}

// Frames of bodies: position and quaternion, in the plane as well.
static void put_sites(group_writer *w, const perp_model *m, pp_arena *arena)
{
    enum { CELLS = 7 };
    int32_t *body = PP_ARRAY(arena, int32_t, m->sites);
    double *pose = PP_ARRAY(arena, double, CELLS *(size_t)m->sites);
    if (!have(w, body && pose)) {
        return;
    }
    for (int i = 0; i < m->sites; i++) {
        const pp_site *s = &m->site[i];
        const double row[CELLS] = {s->X_BS.p.x, s->X_BS.p.y, s->X_BS.p.z, s->rot_BS.w,
                                   s->rot_BS.x, s->rot_BS.y, s->rot_BS.z};
        memcpy(pose + (size_t)CELLS * (size_t)i, row, sizeof row);
        body[i] = s->body;
    }
    PUT_NAMES(w, arena, pp_site, m->site, m->sites);
    put_vector(w, "body", PP_I32, m->sites, body);
    put_table(w, "pose", m->sites, CELLS, pose);
}

// Kind and size of each sensor, and what it is attached to; -1: nothing.
static void put_sensors(group_writer *w, const perp_model *m, pp_arena *arena)
{
    enum { COLUMNS = 6 };
    static const char *const name[COLUMNS] = {"kind", "size", "site", "body", "joint", "actuator"};
    size_t n = (size_t)m->sensors;
    int32_t *ints = PP_ARRAY(arena, int32_t, COLUMNS * n);
    if (!have(w, ints)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const pp_sensor *s = &m->sensor[i];
        const int32_t row[COLUMNS] = {(int32_t)s->kind, s->size,  s->site,
                                      s->body,          s->joint, s->actuator};
        for (size_t k = 0; k < COLUMNS; k++) {
            ints[k * n + i] = row[k];
        }
    }
    PUT_NAMES(w, arena, pp_sensor, m->sensor, m->sensors);
    put_names(w, "unit", arena, m->sensor, sizeof(pp_sensor), offsetof(pp_sensor, unit),
              m->sensors);
    for (size_t k = 0; k < COLUMNS; k++) {
        put_vector(w, name[k], PP_I32, m->sensors, ints + k * n);
    }
}

// Pairs of bodies that do not collide, a row each.
static void put_exclusions(group_writer *w, const perp_model *m, pp_arena *arena)
{
    int32_t *ints = PP_ARRAY(arena, int32_t, 2 * (size_t)m->exclusions);
    if (!have(w, ints)) {
        return;
    }
    for (int i = 0; i < m->exclusions; i++) {
        ints[2 * i] = m->exclusion[i].a;
        ints[2 * i + 1] = m->exclusion[i].b;
    }
    const hsize_t dims[2] = {(hsize_t)m->exclusions, 2};
    put_array(w, "exclude", PP_I32, 2, dims, ints);
}

// Everything needed to draw the frames without the scene.
static void put_model(group_writer *w, const perp_sim *sim, pp_arena *arena)
{
    const perp_model *m = sim->given;
    // Groups are closed in the reverse order: a failure inside reaches the root.
    group_writer model = open_group(w, "model");
    group_writer bodies = open_group(&model, "bodies");
    put_bodies(&bodies, sim, arena);
    close_group(&model, &bodies);
    group_writer shapes = open_group(&model, "shapes");
    put_shapes(&shapes, m, arena);
    close_group(&model, &shapes);
    if (m->visuals > 0) {
        group_writer visuals = open_group(&model, "visuals");
        put_visuals(&visuals, m, arena);
        close_group(&model, &visuals);
    }
    group_writer joints = open_group(&model, "joints");
    put_joints(&joints, m, arena);
    close_group(&model, &joints);
    if (m->inputs > 0) {
        group_writer inputs = open_group(&model, "inputs");
        PUT_NAMES(&inputs, arena, pp_input, m->input, m->inputs);
        put_integer(&inputs, "count", m->inputs);
        close_group(&model, &inputs);
    }
    if (m->actuators > 0) {
        group_writer actuators = open_group(&model, "actuators");
        put_actuators(&actuators, m, arena);
        close_group(&model, &actuators);
    }
    if (m->sites > 0) {
        group_writer sites = open_group(&model, "sites");
        put_sites(&sites, m, arena);
        close_group(&model, &sites);
    }
    if (m->sensors > 0) {
        group_writer sensors = open_group(&model, "sensors");
        put_sensors(&sensors, m, arena);
        close_group(&model, &sensors);
    }
    group_writer springs = open_group(&model, "springs");
    put_springs(&springs, m, arena);
    close_group(&model, &springs);
    put_exclusions(&model, m, arena);
    put_number(&model, "gravity_x", m->gravity.x);
    put_number(&model, "gravity_y", m->gravity.y);
    put_integer(&model, "nv", m->nv);
    if (m->spatial) {
        put_number(&model, "gravity_z", m->gravity.z);
        put_integer(&model, "nq", m->nq);
    }
    close_group(w, &model);
}

// The files that the scene names, mesh files for example: without them the scene's text could not
// be read again.
static void put_files(group_writer *w, const perp_record_def *def, pp_arena *arena)
{
    size_t longest = 1;
    for (int k = 0; k < def->files; k++) {
        size_t length = strlen(def->file[k].name);
        longest = length > longest ? length : longest;
        w->good = w->good && def->file[k].size <= INT32_MAX;
    }
    // Padded with zeros, not terminated.
    char *names = PP_ZEROS(arena, char, longest *(size_t)(def->files > 0 ? def->files : 1));
    if (!have(w, names) || def->files < 1) {
        return;
    }
    group_writer group = open_group(w, "files");
    put_integer(&group, "count", def->files);
    for (int k = 0; k < def->files; k++) {
        char name[16];
        pp_print(name, sizeof name, "%d", k);
        memcpy(names + longest * (size_t)k, def->file[k].name, strlen(def->file[k].name));
        put_vector(&group, name, PP_U8, (int)def->file[k].size, def->file[k].data);
    }
    put_strings(&group, "name", def->files, longest, names);
    close_group(w, &group);
}

// Sizes of rows, from the model.
static pp_h5_sizes sizes_of(const perp_model *m)
{
    pp_h5_sizes sizes = {.nv = m->nv, .nq = m->nq, .joints = m->joints, .spatial = m->spatial};
    sizes.inputs = m->inputs;
    sizes.actuators = m->actuators;
    sizes.sensor_values = m->sensor_values;
    for (int i = 0; i < m->bodies; i++) {
        sizes.driven += m->body[i].drive == PERP_MOTION_KINEMATIC;
    }
    return sizes;
}

// A failure of HDF5 is reported with the reason that the system gave, a full disk for example.
perp_status pp_store_model(pp_store *store, const perp_sim *sim, const perp_record_def *def,
                           perp_error *error)
{
    pp_arena *arena = pp_arena_create(&store->env);
    if (!arena) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    const char *scene = def->scene ? def->scene : "";
    group_writer root = {store->file, true, false};
    // The columns that follow depend on them.
    store->sizes = sizes_of(sim->given);
    errno = 0;
    // All of it is written before the file goes into SWMR mode.
    put_run(&root, sim, def);
    put_vector(&root, "scene", PP_U8, (int)strlen(scene), scene);
    put_files(&root, def, arena);
    put_model(&root, sim, arena);
    int fault = errno;
    pp_arena_destroy(arena);
    if (root.memory) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    return root.good ? PERP_OK : pp_fail_write(error, store->path, fault);
}
