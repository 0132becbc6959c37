// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The model in a recording: enough to draw it and to know what the columns are about.
//
// model/bodies, model/shapes, model/joints and model/springs have one array for each property, with
// one entry or row for each item. Lists of different lengths (points of an outline, faces, corners)
// are stored one after the other with an array of their ends. Every index is checked against the
// size of what it points into: the rest of the program uses them as they are.
#include "record/load.h"

#include <string.h>

// A dataset whose size is known: rows, or rows x cols. *data receives it.
typedef struct expected_array {
    const char *path;
    pp_h5_cell cell;
    int rows, cols;  // cols 0: one dimension
    const void **data;
} expected_array;

static perp_status load_arrays(perp_recording *r, const expected_array *want, int count,
                               perp_error *error)
{
    for (int k = 0; k < count; k++) {
        int size[2] = {want[k].rows, want[k].cols}, rank = want[k].cols > 0 ? 2 : 1;
        perp_status status =
            pp_load_array(r, want[k].path, want[k].cell, rank, size, want[k].data, error);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

#define LOAD_ARRAYS(r, list, error)                                                                \
    load_arrays(r, list, (int)(sizeof(list) / sizeof((list)[0])), error)

// Arrays that came later than the version of the format: older recordings have none of them, and
// *data stays as it is.
static perp_status load_later(perp_recording *r, const expected_array *want, int count,
                              perp_error *error)
{
    for (int k = 0; k < count; k++) {
        if (H5Lexists(r->file, want[k].path, H5P_DEFAULT) <= 0) {
            continue;
        }
        perp_status status = load_arrays(r, &want[k], 1, error);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

#define LOAD_LATER(r, list, error)                                                                 \
    load_later(r, list, (int)(sizeof(list) / sizeof((list)[0])), error)

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

// The arrays as they are in the file, each for all bodies.
typedef struct body_columns {
    const char **name;
    const void *mass, *inertia, *start, *kind, *drive, *at, *at_q;
    const void *gravity_scale;  // NULL: an older recording
} body_columns;

// The number of bodies is that of masses; all other arrays must agree with it.
static perp_status load_body_columns(perp_recording *r, body_columns *c, perp_error *error)
{
    int n = -1;
    perp_status status = pp_load_array(r, "model/bodies/mass", PP_F64, 1, &n, &c->mass, error);
    r->info.bodies = n;
    const expected_array kinds[] = {{"model/bodies/kind", PP_I32, n, 0, &c->kind}};
    if (status == PERP_OK) {
        status = LOAD_ARRAYS(r, kinds, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    // A recording is spatial when body 0, the ground, has the kind of a solid.
    bool spatial = n > 0 && ((const int32_t *)c->kind)[0] == PERP_BODY_SPATIAL;
    r->sizes.spatial = r->info.spatial = spatial;
    const expected_array planar[] = {{"model/bodies/inertia", PP_F64, n, 0, &c->inertia},
                                     {"model/bodies/start", PP_F64, n, 3, &c->start}};
    const expected_array solid[] = {{"model/bodies/inertia", PP_F64, n, 6, &c->inertia},
                                    {"model/bodies/start", PP_F64, n, 7, &c->start},
                                    {"model/bodies/at_q", PP_I32, n, 0, &c->at_q}};
    const expected_array both[] = {{"model/bodies/drive", PP_I32, n, 0, &c->drive},
                                   {"model/bodies/at", PP_I32, n, 0, &c->at}};
    status = spatial ? LOAD_ARRAYS(r, solid, error) : LOAD_ARRAYS(r, planar, error);
    if (status == PERP_OK) {
        status = LOAD_ARRAYS(r, both, error);
    }
    const expected_array later[] = {
        {"model/bodies/gravity_scale", PP_F64, n, 0, &c->gravity_scale}};
    if (status == PERP_OK) {
        status = LOAD_LATER(r, later, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/bodies/name", n, &c->name, error);
    }
    return status;
}

// Positions and velocities of a body of a kind; false: there is no such kind in the plane, or in
// space.
static bool kind_sizes(int kind, bool spatial, int *nq, int *nv)
{
    switch (kind) {
    case PERP_BODY_PLANAR:
        *nq = *nv = 3;  // x, y, angle
        return !spatial;
    case PERP_BODY_PLANAR_PARTICLE:
        *nq = *nv = 2;
        return !spatial;
    case PERP_BODY_SPATIAL:
        *nq = 7;  // position and unit quaternion
        *nv = 6;
        return spatial;
    case PERP_BODY_SPATIAL_PARTICLE:
        *nq = *nv = 3;
        return spatial;
    default:
        return false;
    }
}

// In the plane q is as long as nu.
static perp_status load_sizes(perp_recording *r, perp_error *error)
{
    // Recordings of the plane do not store it.
    double nq = r->sizes.nv;
    perp_status status = r->sizes.spatial ? pp_load_number(r, "model", "nq", &nq, error) : PERP_OK;
    if (status == PERP_OK && !(nq >= 0.0 && nq <= 1e8)) {
        status = pp_load_fail(r, error, "nq", "is not a size");
    }
    r->info.nq = r->sizes.nq = status == PERP_OK ? (int)nq : 0;
    return status;
}

// Whether the numbers of a body agree: a kind and a motion that exist, and for a dynamic body, and
// only for one, places within q and nu.
static bool body_is_valid(const perp_recorded_body *body, const pp_h5_sizes *sizes)
{
    int motion = (int)body->motion, nq = 0, nv = 0;
    if (!kind_sizes((int)body->kind, sizes->spatial, &nq, &nv) || motion < PERP_MOTION_DYNAMIC ||
        motion > PERP_MOTION_KINEMATIC || body->at_nu < -1 || body->at_q < -1) {
        return false;
    }
    if (motion != PERP_MOTION_DYNAMIC) {
        return body->at_nu < 0;
    }
    return body->at_nu >= 0 && body->at_nu <= sizes->nv - nv && body->at_q >= 0 &&
           body->at_q <= sizes->nq - nq;
}

// Bodies in the order of the model; body 0 is the ground.
static perp_status load_bodies(perp_recording *r, perp_error *error)
{
    body_columns c = {0};
    perp_status status = load_body_columns(r, &c, error);
    if (status == PERP_OK) {
        status = load_sizes(r, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    bool spatial = r->sizes.spatial;
    int places = spatial ? 7 : 3, moments = spatial ? 6 : 1;
    int n = r->info.bodies;
    // Recordings live in one arena, which is freed when they are closed.
    r->body = PP_ZEROS(r->arena, pp_body_row, n);
    if (!r->body) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    for (int i = 0; i < n; i++) {
        int kind = ((const int32_t *)c.kind)[i], drive = ((const int32_t *)c.drive)[i];
        int at = ((const int32_t *)c.at)[i];
        // In the plane q and nu have the same layout, and one index serves both.
        int at_q = spatial ? ((const int32_t *)c.at_q)[i] : at;
        const double *I = (const double *)c.inertia + (size_t)moments * (size_t)i;
        pp_body_row *body = &r->body[i];
        body->about = (perp_recorded_body){.name = c.name[i],
                                           .kind = (perp_body_kind)kind,
                                           .motion = (perp_motion)drive,
                                           .at_nu = at,
                                           .at_q = at_q,
                                           .mass = ((const double *)c.mass)[i],
                                           .gravity_scale = 1.0,
                                           .inertia_zz = I[spatial ? 2 : 0]};
        if (c.gravity_scale) {
            body->about.gravity_scale = ((const double *)c.gravity_scale)[i];
        }
        if (spatial) {  // xx yy zz xy xz yz, in body axes [kg m2]
            memcpy(body->about.inertia_B, I, (size_t)moments * sizeof *I);
        }
        memcpy(body->start, (const double *)c.start + (size_t)places * (size_t)i,
               (size_t)places * sizeof *body->start);
        // Driven bodies are numbered in the order of bodies.
        body->driven = drive == PERP_MOTION_KINEMATIC ? r->sizes.driven++ : -1;
        if (!body_is_valid(&body->about, &r->sizes)) {
            return pp_load_fail(r, error, "model/bodies", "has an invalid body");
        }
    }
    return PERP_OK;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

// The arrays as they are in the file; `end` is outline_end. Visuals have no surface: those are NULL.
typedef struct shape_columns {
    const char *group;  // "model/shapes"
    int n;
    const char **name;
    const void *mu, *restitution, *radius, *body, *kind, *end, *outline;
    const void *pose, *half, *face_end, *corner_end, *corner;  // space
    // NULL: an older recording
    const void *mu_spin, *mu_roll, *combine, *priority, *group_bits, *mask, *colour, *hidden;
    int points, faces, corners;
} shape_columns;

// Paths of arrays of shapes or visuals.
typedef struct shape_path {
    char text[64];
} shape_path;

static const char *path_in(const shape_columns *c, const char *name, shape_path *path)
{
    pp_print(path->text, sizeof path->text, "%s/%s", c->group, name);
    return path->text;
}

// Pose, half lengths, and the faces of hulls and meshes.
static perp_status load_solid_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    int n = c->n;
    shape_path path[5];
    const expected_array list[] = {{path_in(c, "pose", &path[0]), PP_F64, n, 7, &c->pose},
                                   {path_in(c, "half", &path[1]), PP_F64, n, 3, &c->half},
                                   {path_in(c, "face_end", &path[2]), PP_I32, n, 0, &c->face_end}};
    perp_status status = LOAD_ARRAYS(r, list, error);
    c->faces = c->corners = -1;  // any number
    if (status == PERP_OK) {
        status = pp_load_array(r, path_in(c, "corner_end", &path[3]), PP_I32, 1, &c->faces,
                               &c->corner_end, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, path_in(c, "corner", &path[4]), PP_I32, 1, &c->corners,
                               &c->corner, error);
    }
    return status;
}

// Pose and faces of a shape whose outline is known. Faces and corners of all shapes are in one list
// each: *face and *corner move to where the next shape begins. false: the numbers contradict each
// other.
static bool place_solid(const shape_columns *c, int i, int *face, int *corner,
                        perp_recorded_shape *shape)
{
    const double *x = (const double *)c->pose + 7 * (size_t)i;
    const double *half = (const double *)c->half + 3 * (size_t)i;
    const int32_t *ends = c->corner_end, *corners = c->corner;
    int faces = ((const int32_t *)c->face_end)[i];
    shape->X_BS = (perp_pose){{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
    shape->half = (perp_vec3){half[0], half[1], half[2]};
    // Ends must not fall, and not exceed what there is.
    if (faces < *face || faces > c->faces) {
        return false;
    }
    shape->faces = faces - *face;
    shape->corner_end = ends + *face;
    shape->corner = corners;
    shape->corner_first = *corner;
    for (; *face < faces; ++*face) {
        if (ends[*face] < *corner || ends[*face] > c->corners) {
            return false;
        }
        for (; *corner < ends[*face]; ++*corner) {
            // Corners number the vertices of their own shape.
            if (corners[*corner] < 0 || corners[*corner] >= shape->outline_count) {
                return false;
            }
        }
    }
    return true;
}

// The number of shapes is that of their radii.
static perp_status load_shape_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    shape_path path[6];
    int n = -1;
    perp_status status =
        pp_load_array(r, path_in(c, "radius", &path[0]), PP_F64, 1, &n, &c->radius, error);
    if (status != PERP_OK) {
        return status;
    }
    c->n = n;
    const expected_array list[] = {{path_in(c, "body", &path[1]), PP_I32, n, 0, &c->body},
                                   {path_in(c, "kind", &path[2]), PP_I32, n, 0, &c->kind},
                                   {path_in(c, "outline_end", &path[3]), PP_I32, n, 0, &c->end}};
    const expected_array later[] = {{path_in(c, "colour", &path[4]), PP_I32, n, 0, &c->colour}};
    status = LOAD_ARRAYS(r, list, error);
    if (status == PERP_OK) {
        status = LOAD_LATER(r, later, error);
    }
    int outline[2] = {-1, r->sizes.spatial ? 3 : 2};  // any number of points
    if (status == PERP_OK) {
        status = pp_load_array(r, path_in(c, "outline", &path[5]), PP_F64, 2, outline, &c->outline,
                               error);
        c->points = outline[0];
    }
    if (status == PERP_OK && r->sizes.spatial) {
        status = load_solid_columns(r, c, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, path_in(c, "name", &path[0]), n, &c->name, error);
    }
    return status;
}

// What contacts need of shapes.
static perp_status load_surface_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    int n = c->n;
    const expected_array list[] = {{"model/shapes/mu", PP_F64, n, 0, &c->mu},
                                   {"model/shapes/restitution", PP_F64, n, 0, &c->restitution}};
    const expected_array later[] = {{"model/shapes/mu_spin", PP_F64, n, 0, &c->mu_spin},
                                    {"model/shapes/mu_roll", PP_F64, n, 0, &c->mu_roll},
                                    {"model/shapes/combine", PP_I32, n, 0, &c->combine},
                                    {"model/shapes/priority", PP_I32, n, 0, &c->priority},
                                    {"model/shapes/group", PP_U32, n, 0, &c->group_bits},
                                    {"model/shapes/mask", PP_U32, n, 0, &c->mask},
                                    {"model/shapes/hidden", PP_I32, n, 0, &c->hidden}};
    perp_status status = LOAD_ARRAYS(r, list, error);
    return status == PERP_OK ? LOAD_LATER(r, later, error) : status;
}

// Friction, collision filter and colour. False: the numbers are out of range.
static bool set_surface(const shape_columns *c, int i, perp_recorded_shape *shape)
{
    int combine = c->combine ? ((const int32_t *)c->combine)[i] : 0;
    int colour = c->colour ? ((const int32_t *)c->colour)[i] : -1;
    if (combine < PERP_COMBINE_DEFAULT || combine > PERP_COMBINE_MAX || colour < -1 ||
        colour > 0xFFFFFF) {
        return false;
    }
    shape->mu = c->mu ? ((const double *)c->mu)[i] : 0.0;
    shape->restitution = c->restitution ? ((const double *)c->restitution)[i] : 0.0;
    shape->mu_spin = c->mu_spin ? ((const double *)c->mu_spin)[i] : 0.0;
    shape->mu_roll = c->mu_roll ? ((const double *)c->mu_roll)[i] : 0.0;
    shape->combine = (perp_combine)combine;
    shape->priority = c->priority ? ((const int32_t *)c->priority)[i] : 0;
    shape->group = c->group_bits ? ((const uint32_t *)c->group_bits)[i] : 1;
    shape->mask = c->mask ? ((const uint32_t *)c->mask)[i] : 1;
    shape->colour = colour;
    shape->hidden = c->hidden && ((const int32_t *)c->hidden)[i] != 0;
    return true;
}

// Shapes or visuals in the order of the model, with pointers into the outlines and corners of all.
static perp_status make_shapes(perp_recording *r, const shape_columns *c, perp_recorded_shape **out,
                               perp_error *error)
{
    // Outlines are given out with three coordinates, also in the plane.
    perp_vec3 *point = PP_ZEROS(r->arena, perp_vec3, c->points);
    perp_recorded_shape *shape = PP_ZEROS(r->arena, perp_recorded_shape, c->n);
    if (!shape || !point) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    bool spatial = r->sizes.spatial;
    for (int k = 0; k < c->points; k++) {
        const double *x = (const double *)c->outline + (spatial ? 3 : 2) * (size_t)k;
        point[k] = (perp_vec3){x[0], x[1], spatial ? x[2] : 0.0};
    }
    // outline_end and face_end are the ends of each shape: it begins where the one before it ends.
    int face = 0, corner = 0;
    for (int i = 0, from = 0; i < c->n; i++) {
        int body = ((const int32_t *)c->body)[i], kind = ((const int32_t *)c->kind)[i];
        // Points from .. to - 1 are those of this shape.
        int to = ((const int32_t *)c->end)[i];
        // Planar kinds come first in the enum, solids after them.
        if (body < 0 || body >= r->info.bodies || kind < PERP_SHAPE_POINT ||
            kind > (spatial ? PERP_SHAPE_MESH : PERP_SHAPE_HALFPLANE) || to < from ||
            to > c->points) {
            return pp_load_fail(r, error, c->group, "has an invalid shape");
        }
        shape[i] = (perp_recorded_shape){.name = c->name[i],
                                         .body = {body},
                                         .kind = (perp_shape_kind)kind,
                                         .radius = ((const double *)c->radius)[i],
                                         .outline = point + from,
                                         .outline_count = to - from};
        if (!set_surface(c, i, &shape[i])) {
            return pp_load_fail(r, error, c->group, "has an invalid surface");
        }
        if (spatial && !place_solid(c, i, &face, &corner, &shape[i])) {
            return pp_load_fail(r, error, c->group, "has an invalid solid");
        }
        from = to;
    }
    *out = shape;
    return PERP_OK;
}

static perp_status load_shapes(perp_recording *r, perp_error *error)
{
    shape_columns shapes = {.group = "model/shapes"}, visuals = {.group = "model/visuals"};
    perp_status status = load_shape_columns(r, &shapes, error);
    if (status == PERP_OK) {
        status = load_surface_columns(r, &shapes, error);
    }
    if (status == PERP_OK) {
        status = make_shapes(r, &shapes, &r->shape, error);
        r->info.shapes = shapes.n;
    }
    if (status != PERP_OK || H5Lexists(r->file, "model/visuals", H5P_DEFAULT) <= 0) {
        return status;
    }
    status = load_shape_columns(r, &visuals, error);
    if (status == PERP_OK) {
        status = make_shapes(r, &visuals, &r->visual, error);
        r->info.visuals = visuals.n;
    }
    return status;
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Kinds of the plane come first in the enum.
static perp_status load_joints(perp_recording *r, perp_error *error)
{
    int n = -1;
    const char **name = NULL;
    const void *kind = NULL, *a = NULL, *b = NULL, *anchors = NULL;
    perp_status status = pp_load_array(r, "model/joints/kind", PP_I32, 1, &n, &kind, error);
    if (status != PERP_OK) {
        return status;
    }
    r->info.joints = r->sizes.joints = n;
    bool spatial = r->sizes.spatial;
    int cells = spatial ? 9 : 4;
    const expected_array list[] = {{"model/joints/a", PP_I32, n, 0, &a},
                                   {"model/joints/b", PP_I32, n, 0, &b},
                                   {"model/joints/anchors", PP_F64, n, cells, &anchors}};
    status = LOAD_ARRAYS(r, list, error);
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/joints/name", n, &name, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    r->joint = PP_ZEROS(r->arena, perp_recorded_joint, n);
    if (!r->joint) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    // A row of anchors: the point on a, the point on b [m], each in the frame of its body; in space
    // also the axis in the frame of a.
    for (int i = 0; i < n; i++) {
        int k = ((const int32_t *)kind)[i], on_a = ((const int32_t *)a)[i];
        int on_b = ((const int32_t *)b)[i];
        const double *x = (const double *)anchors + (size_t)cells * (size_t)i;
        bool known =
            k >= PERP_JOINT_REVOLUTE && k <= (spatial ? PERP_JOINT_SCREW : PERP_JOINT_GEAR);
        if (!(known || k == PERP_JOINT_COUPLING) || on_a < 0 || on_a >= r->info.bodies ||
            on_b < 0 || on_b >= r->info.bodies) {
            return pp_load_fail(r, error, "model/joints", "has an invalid joint");
        }
        r->joint[i] = (perp_recorded_joint){.name = name[i],
                                            .kind = (perp_joint_kind)k,
                                            .a = {on_a},
                                            .b = {on_b},
                                            .anchor_A = {x[0], x[1], spatial ? x[2] : 0.0}};
        // The anchor on b follows that on a.
        const double *y = x + (spatial ? 3 : 2);
        r->joint[i].anchor_B = (perp_vec3){y[0], y[1], spatial ? y[2] : 0.0};
        if (spatial) {
            r->joint[i].axis_A = (perp_vec3){x[6], x[7], x[8]};
        }
    }
    return PERP_OK;
}

// ── Springs ──────────────────────────────────────────────────────────────────────────────────────

// Both anchors in the frames of their bodies, and the rest length [m].
static perp_status load_springs(perp_recording *r, perp_error *error)
{
    enum { CELLS = 7 };
    int n = -1;
    const char **name = NULL;
    const void *a = NULL, *b = NULL, *anchors = NULL;
    // Springs came later than the format's version.
    if (H5Lexists(r->file, "model/springs", H5P_DEFAULT) <= 0) {
        return PERP_OK;  // older than springs
    }
    perp_status status = pp_load_array(r, "model/springs/a", PP_I32, 1, &n, &a, error);
    if (status != PERP_OK) {
        return status;
    }
    const expected_array list[] = {{"model/springs/b", PP_I32, n, 0, &b},
                                   {"model/springs/anchors", PP_F64, n, CELLS, &anchors}};
    status = LOAD_ARRAYS(r, list, error);
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/springs/name", n, &name, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    r->spring = PP_ZEROS(r->arena, perp_recorded_spring, n);
    if (!r->spring) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    for (int i = 0; i < n; i++) {
        int on_a = ((const int32_t *)a)[i], on_b = ((const int32_t *)b)[i];
        const double *x = (const double *)anchors + (size_t)CELLS * (size_t)i;
        if (on_a < 0 || on_a >= r->info.bodies || on_b < 0 || on_b >= r->info.bodies) {
            return pp_load_fail(r, error, "model/springs", "has an invalid spring");
        }
        r->spring[i] = (perp_recorded_spring){
            name[i], {on_a}, {on_b}, {x[0], x[1], x[2]}, {x[3], x[4], x[5]}, x[6]};
    }
    r->info.springs = n;
    return PERP_OK;
}

// Inputs and actuators; recordings of models without them have no such groups.
static perp_status load_controls(perp_recording *r, perp_error *error)
{
    perp_status status = PERP_OK;
    int n = -1;
    const void *joint = NULL;
    if (H5Lexists(r->file, "model/inputs", H5P_DEFAULT) > 0) {
        // A size from a file: checked before memory is asked for.
        double count = 0.0;
        status = pp_load_number(r, "model/inputs", "count", &count, error);
        if (status == PERP_OK && !(count >= 0.0 && count <= 1e7)) {
            status = pp_load_fail(r, error, "model/inputs", "has no size");
        }
        r->info.inputs = r->sizes.inputs = status == PERP_OK ? (int)count : 0;
        if (status == PERP_OK) {
            status = pp_load_names(r, "model/inputs/name", r->info.inputs, &r->input_name, error);
        }
    }
    if (status != PERP_OK || H5Lexists(r->file, "model/actuators", H5P_DEFAULT) <= 0) {
        return status;
    }
    status = pp_load_array(r, "model/actuators/joint", PP_I32, 1, &n, &joint, error);
    if (status == PERP_OK) {
        r->info.actuators = r->sizes.actuators = n;
        status = pp_load_names(r, "model/actuators/name", n, &r->actuator_name, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (int i = 0; i < n; i++) {
        int at = ((const int32_t *)joint)[i];
        if (at < 0 || at >= r->info.joints) {
            return pp_load_fail(r, error, "model/actuators/joint", "has an invalid joint");
        }
    }
    r->actuator_joint = joint;
    return PERP_OK;
}

// Sites; recordings of models without them have no such group.
static perp_status load_sites(perp_recording *r, perp_error *error)
{
    enum { CELLS = 7 };
    int n = -1;
    const char **name = NULL;
    const void *body = NULL, *pose = NULL;
    if (H5Lexists(r->file, "model/sites", H5P_DEFAULT) <= 0) {
        return PERP_OK;
    }
    perp_status status = pp_load_array(r, "model/sites/body", PP_I32, 1, &n, &body, error);
    const expected_array list[] = {{"model/sites/pose", PP_F64, n, CELLS, &pose}};
    if (status == PERP_OK) {
        status = LOAD_ARRAYS(r, list, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/sites/name", n, &name, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    r->site = PP_ZEROS(r->arena, perp_recorded_site, n);
    if (!r->site) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    for (int i = 0; i < n; i++) {
        int on = ((const int32_t *)body)[i];
        const double *x = (const double *)pose + (size_t)CELLS * (size_t)i;
        if (on < 0 || on >= r->info.bodies) {
            return pp_load_fail(r, error, "model/sites/body", "has an invalid body");
        }
        // position, then the quaternion, scalar first
        r->site[i] =
            (perp_recorded_site){name[i], {on}, {{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}}};
    }
    r->info.sites = n;
    return PERP_OK;
}

// Whether an index is one of `count` objects, or none.
static bool is_index(int i, int count)
{
    return i >= -1 && i < count;
}

// The columns of one sensor, checked against the objects that they refer to.
static bool set_sensor(const perp_recording *r, const int32_t *const column[6], int i,
                       perp_recorded_sensor *s)
{
    int kind = column[0][i], size = column[1][i];
    if (!perp_sensor_kind_word(kind) || size < 1 || size > 4 ||
        !is_index(column[2][i], r->info.sites) || !is_index(column[3][i], r->info.bodies) ||
        !is_index(column[4][i], r->info.joints) || !is_index(column[5][i], r->info.actuators)) {
        return false;
    }
    s->kind = (perp_sensor_kind)kind;
    s->size = size;
    s->site.i = column[2][i];
    s->body.i = column[3][i];
    s->joint.i = column[4][i];
    s->actuator.i = column[5][i];
    return true;
}

// Sensors; their values are columns of the frames.
static perp_status load_sensors(perp_recording *r, perp_error *error)
{
    int n = -1;
    const char **name = NULL, **unit = NULL;
    const void *kind = NULL, *column[5] = {NULL};
    if (H5Lexists(r->file, "model/sensors", H5P_DEFAULT) <= 0) {
        return PERP_OK;
    }
    perp_status status = pp_load_array(r, "model/sensors/kind", PP_I32, 1, &n, &kind, error);
    const expected_array list[] = {{"model/sensors/size", PP_I32, n, 0, &column[0]},
                                   {"model/sensors/site", PP_I32, n, 0, &column[1]},
                                   {"model/sensors/body", PP_I32, n, 0, &column[2]},
                                   {"model/sensors/joint", PP_I32, n, 0, &column[3]},
                                   {"model/sensors/actuator", PP_I32, n, 0, &column[4]}};
    if (status == PERP_OK) {
        status = LOAD_ARRAYS(r, list, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/sensors/name", n, &name, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/sensors/unit", n, &unit, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    r->sensor = PP_ZEROS(r->arena, perp_recorded_sensor, n);
    if (!r->sensor) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    const int32_t *const all[6] = {kind, column[0], column[1], column[2], column[3], column[4]};
    // n is at most INT_MAX / 4 here: the file holds 24 bytes a sensor
    for (int i = 0; i < n; i++) {
        if (!set_sensor(r, all, i, &r->sensor[i])) {
            return pp_load_fail(r, error, "model/sensors", "has an invalid sensor");
        }
        r->sensor[i].name = name[i];
        r->sensor[i].unit = unit[i];
        r->sensor[i].first = r->sizes.sensor_values;
        r->sizes.sensor_values += r->sensor[i].size;
    }
    r->info.sensors = n;
    r->info.sensor_values = r->sizes.sensor_values;
    return PERP_OK;
}

// Pairs of bodies that do not collide.
static perp_status load_exclusions(perp_recording *r, perp_error *error)
{
    int size[2] = {-1, 2};
    const void *data = NULL;
    if (H5Lexists(r->file, "model/exclude", H5P_DEFAULT) <= 0) {
        return PERP_OK;  // older than exclusions
    }
    perp_status status = pp_load_array(r, "model/exclude", PP_I32, 2, size, &data, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int i = 0; i < 2 * size[0]; i++) {
        int body = ((const int32_t *)data)[i];
        if (body < 0 || body >= r->info.bodies) {
            return pp_load_fail(r, error, "model/exclude", "has an invalid body");
        }
    }
    r->info.exclusions = size[0];
    r->exclusion = data;
    return PERP_OK;
}

// Sizes up to 1e8: far beyond any model, and far from overflow.
perp_status pp_load_model(perp_recording *r, perp_error *error)
{
    double nv = 0.0;
    perp_status status = pp_load_number(r, "model", "nv", &nv, error);
    if (status == PERP_OK && !(nv >= 0.0 && nv <= 1e8)) {
        status = pp_load_fail(r, error, "nv", "is not a size");
    }
    r->info.nv = r->sizes.nv = status == PERP_OK ? (int)nv : 0;
    // bodies first: shapes, joints and all that follows refer to them
    if (status == PERP_OK) {
        status = load_bodies(r, error);
    }
    if (status == PERP_OK) {
        status = load_shapes(r, error);
    }
    if (status == PERP_OK) {
        status = load_joints(r, error);
    }
    if (status == PERP_OK) {
        status = load_springs(r, error);
    }
    // Actuators name joints, so that these come first.
    if (status == PERP_OK) {
        status = load_controls(r, error);
    }
    // Sensors name all of them.
    if (status == PERP_OK) {
        status = load_sites(r, error);
    }
    if (status == PERP_OK) {
        status = load_sensors(r, error);
    }
    if (status == PERP_OK) {
        status = load_exclusions(r, error);
    }
    return status;
}
