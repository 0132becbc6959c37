// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The model in a recording: enough to draw it and to know what the columns are about.
#include "record/load.h"

static perp_status load_array(perp_recording *r, const char *path, pp_h5_cell cell, int count,
                              const void **data, perp_error *error)
{
    return pp_load_array(r, path, cell, 1, &count, data, error);
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

typedef struct body_columns {
    const char **name;
    const void *mass, *inertia, *start, *kind, *drive, *at, *at_q;
} body_columns;

static perp_status load_body_columns(perp_recording *r, body_columns *c, perp_error *error)
{
    int n = -1;
    perp_status status = pp_load_array(r, "model/bodies/mass", PP_F64, 1, &n, &c->mass, error);
    r->info.bodies = n;
    if (status == PERP_OK) {
        status = load_array(r, "model/bodies/kind", PP_I32, n, &c->kind, error);
    }
    // The ground, body 0, is what the others are.
    bool spatial = status == PERP_OK && n > 0 && ((const int32_t *)c->kind)[0] == PERP_BODY_SPATIAL;
    r->sizes.spatial = r->info.spatial = spatial;
    int table[2] = {n, spatial ? 7 : 3}, moments[2] = {n, 6};
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/bodies/inertia", PP_F64, spatial ? 2 : 1, moments,
                               &c->inertia, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/bodies/start", PP_F64, 2, table, &c->start, error);
    }
    if (status == PERP_OK && spatial) {
        status = load_array(r, "model/bodies/at_q", PP_I32, n, &c->at_q, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/bodies/drive", PP_I32, n, &c->drive, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/bodies/at", PP_I32, n, &c->at, error);
    }
    return status == PERP_OK ? pp_load_names(r, "model/bodies/name", n, &c->name, error) : status;
}

// Positions and velocities of a body of a kind; false: there is no such kind here.
static bool sizes_of(int kind, bool spatial, int *nq, int *nv)
{
    *nv = kind == PERP_BODY_PLANAR_PARTICLE ? 2 : kind == PERP_BODY_SPATIAL ? 6 : 3;
    *nq = kind == PERP_BODY_SPATIAL ? 7 : *nv;
    bool solid = kind == PERP_BODY_SPATIAL || kind == PERP_BODY_SPATIAL_PARTICLE;
    return kind >= PERP_BODY_PLANAR && kind <= PERP_BODY_SPATIAL_PARTICLE && solid == spatial;
}

static perp_status load_sizes(perp_recording *r, perp_error *error)
{
    double nq = r->sizes.nv;
    perp_status status = r->sizes.spatial ? pp_load_number(r, "model", "nq", &nq, error) : PERP_OK;
    if (status == PERP_OK && !(nq >= 0.0 && nq <= 1e8)) {
        status = pp_load_fail(r, error, "nq", "is not a size");
    }
    r->info.nq = r->sizes.nq = status == PERP_OK ? (int)nq : 0;
    return status;
}

static perp_status load_bodies(perp_recording *r, perp_error *error)
{
    body_columns c = {0};
    perp_status status = load_body_columns(r, &c, error);
    status = status == PERP_OK ? load_sizes(r, error) : status;
    if (status != PERP_OK) {
        return status;
    }
    bool spatial = r->sizes.spatial;
    int places = spatial ? 7 : 3, moments = spatial ? 6 : 1;
    int n = r->info.bodies;
    r->body = PP_ZEROS(r->arena, pp_body_row, n);
    if (!r->body) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    for (int i = 0; i < n; i++) {
        int kind = ((const int32_t *)c.kind)[i], drive = ((const int32_t *)c.drive)[i];
        int at = ((const int32_t *)c.at)[i], nq = 0, nv = 0;
        int at_q = spatial ? ((const int32_t *)c.at_q)[i] : at;
        const double *I = (const double *)c.inertia + (size_t)moments * (size_t)i;
        pp_body_row *body = &r->body[i];
        body->about = (perp_recorded_body){.name = c.name[i],
                                           .kind = (perp_body_kind)kind,
                                           .motion = (perp_motion)drive,
                                           .at_nu = at,
                                           .at_q = at_q,
                                           .mass = ((const double *)c.mass)[i],
                                           .inertia_zz = I[spatial ? 2 : 0]};
        for (int k = 0; k < moments && spatial; k++) {
            body->about.inertia_B[k] = I[k];
        }
        for (int k = 0; k < places; k++) {
            body->start[k] = ((const double *)c.start)[places * i + k];
        }
        body->driven = drive == PERP_MOTION_KINEMATIC ? r->sizes.driven++ : -1;
        bool kinds = sizes_of(kind, spatial, &nq, &nv) && drive >= PERP_MOTION_DYNAMIC &&
                     drive <= PERP_MOTION_KINEMATIC;
        bool free = drive == PERP_MOTION_DYNAMIC;
        if (!kinds || at < -1 || at_q < -1 || (free && (at < 0 || at > r->sizes.nv - nv)) ||
            (free && (at_q < 0 || at_q > r->sizes.nq - nq)) || (!free && at >= 0)) {
            return pp_load_fail(r, error, "model/bodies", "has an invalid body");
        }
    }
    return PERP_OK;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct shape_columns {
    const char **name;
    const void *mu, *restitution, *radius, *body, *kind, *end, *outline;
    const void *pose, *half, *face_end, *corner_end, *corner;  // space
    int points, faces, corners;
} shape_columns;

static perp_status load_solid_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    int n = r->info.shapes, pose[2] = {n, 7}, half[2] = {n, 3};
    perp_status status = pp_load_array(r, "model/shapes/pose", PP_F64, 2, pose, &c->pose, error);
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/shapes/half", PP_F64, 2, half, &c->half, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/face_end", PP_I32, n, &c->face_end, error);
    }
    c->faces = c->corners = -1;
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/shapes/corner_end", PP_I32, 1, &c->faces, &c->corner_end,
                               error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/shapes/corner", PP_I32, 1, &c->corners, &c->corner, error);
    }
    return status;
}

// The solid's part of a shape whose outline is known; false: its numbers cannot be.
static bool place_solid(const shape_columns *c, int i, int *face, int *corner,
                        perp_recorded_shape *shape)
{
    const double *x = (const double *)c->pose + 7 * (size_t)i;
    const double *half = (const double *)c->half + 3 * (size_t)i;
    const int32_t *ends = c->corner_end, *corners = c->corner;
    int faces = ((const int32_t *)c->face_end)[i];
    shape->X_BS = (perp_pose){{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
    shape->half = (perp_vec3){half[0], half[1], half[2]};
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
            if (corners[*corner] < 0 || corners[*corner] >= shape->outline_count) {
                return false;
            }
        }
    }
    return true;
}

static perp_status load_shape_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    int n = -1;
    perp_status status = pp_load_array(r, "model/shapes/mu", PP_F64, 1, &n, &c->mu, error);
    r->info.shapes = n;
    int table[2] = {-1, r->sizes.spatial ? 3 : 2};
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/restitution", PP_F64, n, &c->restitution, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/radius", PP_F64, n, &c->radius, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/body", PP_I32, n, &c->body, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/kind", PP_I32, n, &c->kind, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/shapes/outline_end", PP_I32, n, &c->end, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/shapes/outline", PP_F64, 2, table, &c->outline, error);
        c->points = table[0];
    }
    if (status == PERP_OK && r->sizes.spatial) {
        status = load_solid_columns(r, c, error);
    }
    return status == PERP_OK ? pp_load_names(r, "model/shapes/name", n, &c->name, error) : status;
}

static perp_status load_shapes(perp_recording *r, perp_error *error)
{
    shape_columns c = {0};
    perp_status status = load_shape_columns(r, &c, error);
    if (status != PERP_OK) {
        return status;
    }
    perp_vec3 *point = PP_ZEROS(r->arena, perp_vec3, c.points);
    r->shape = PP_ZEROS(r->arena, perp_recorded_shape, r->info.shapes);
    if (!r->shape || !point) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    bool spatial = r->sizes.spatial;
    for (int k = 0; k < c.points; k++) {
        const double *x = (const double *)c.outline + (spatial ? 3 : 2) * (size_t)k;
        point[k] = (perp_vec3){x[0], x[1], spatial ? x[2] : 0.0};
    }
    int face = 0, corner = 0;
    for (int i = 0, from = 0; i < r->info.shapes; i++) {
        int body = ((const int32_t *)c.body)[i], kind = ((const int32_t *)c.kind)[i];
        int to = ((const int32_t *)c.end)[i];
        if (body < 0 || body >= r->info.bodies || kind < PERP_SHAPE_POINT ||
            kind > (spatial ? PERP_SHAPE_MESH : PERP_SHAPE_HALFPLANE) || to < from ||
            to > c.points) {
            return pp_load_fail(r, error, "model/shapes", "has an invalid shape");
        }
        r->shape[i] = (perp_recorded_shape){.name = c.name[i],
                                            .body = {body},
                                            .kind = (perp_shape_kind)kind,
                                            .mu = ((const double *)c.mu)[i],
                                            .restitution = ((const double *)c.restitution)[i],
                                            .radius = ((const double *)c.radius)[i],
                                            .outline = point + from,
                                            .outline_count = to - from};
        if (spatial && !place_solid(&c, i, &face, &corner, &r->shape[i])) {
            return pp_load_fail(r, error, "model/shapes", "has an invalid solid");
        }
        from = to;
    }
    return PERP_OK;
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

static perp_status load_joints(perp_recording *r, perp_error *error)
{
    int n = -1;
    const char **name = NULL;
    const void *kind = NULL, *a = NULL, *b = NULL, *anchors = NULL;
    perp_status status = pp_load_array(r, "model/joints/kind", PP_I32, 1, &n, &kind, error);
    r->info.joints = r->sizes.joints = n;
    bool spatial = r->sizes.spatial;
    int cells = spatial ? 9 : 4, table[2] = {n, cells};
    if (status == PERP_OK) {
        status = load_array(r, "model/joints/a", PP_I32, n, &a, error);
    }
    if (status == PERP_OK) {
        status = load_array(r, "model/joints/b", PP_I32, n, &b, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/joints/anchors", PP_F64, 2, table, &anchors, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/joints/name", n, &name, error);
    }
    r->joint = status == PERP_OK ? PP_ZEROS(r->arena, perp_recorded_joint, n) : NULL;
    if (!r->joint) {
        return status != PERP_OK ? status : pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    for (int i = 0; i < n; i++) {
        int k = ((const int32_t *)kind)[i], on_a = ((const int32_t *)a)[i];
        int on_b = ((const int32_t *)b)[i];
        const double *x = (const double *)anchors + (size_t)cells * (size_t)i;
        if (k < PERP_JOINT_REVOLUTE || k > (spatial ? PERP_JOINT_SCREW : PERP_JOINT_GEAR) ||
            on_a < 0 || on_a >= r->info.bodies || on_b < 0 || on_b >= r->info.bodies) {
            return pp_load_fail(r, error, "model/joints", "has an invalid joint");
        }
        r->joint[i] = (perp_recorded_joint){.name = name[i],
                                            .kind = (perp_joint_kind)k,
                                            .a = {on_a},
                                            .b = {on_b},
                                            .anchor_A = {x[0], x[1], spatial ? x[2] : 0.0}};
        const double *y = x + (spatial ? 3 : 2);
        r->joint[i].anchor_B = (perp_vec3){y[0], y[1], spatial ? y[2] : 0.0};
        if (spatial) {
            r->joint[i].axis_A = (perp_vec3){x[6], x[7], x[8]};
        }
    }
    return PERP_OK;
}

// ── Springs ──────────────────────────────────────────────────────────────────────────────────────

static perp_status load_springs(perp_recording *r, perp_error *error)
{
    enum { CELLS = 7 };
    int n = -1;
    const char **name = NULL;
    const void *a = NULL, *b = NULL, *anchors = NULL;
    if (H5Lexists(r->file, "model/springs", H5P_DEFAULT) <= 0) {
        return PERP_OK;  // older than springs
    }
    perp_status status = pp_load_array(r, "model/springs/a", PP_I32, 1, &n, &a, error);
    int table[2] = {n, CELLS};
    if (status == PERP_OK) {
        status = load_array(r, "model/springs/b", PP_I32, n, &b, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/springs/anchors", PP_F64, 2, table, &anchors, error);
    }
    if (status == PERP_OK) {
        status = pp_load_names(r, "model/springs/name", n, &name, error);
    }
    r->spring = status == PERP_OK ? PP_ZEROS(r->arena, perp_recorded_spring, n) : NULL;
    if (!r->spring) {
        return status != PERP_OK ? status : pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
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

perp_status pp_load_model(perp_recording *r, perp_error *error)
{
    double nv = 0.0;
    perp_status status = pp_load_number(r, "model", "nv", &nv, error);
    if (status == PERP_OK && !(nv >= 0.0 && nv <= 1e8)) {
        status = pp_load_fail(r, error, "nv", "is not a size");
    }
    r->info.nv = r->sizes.nv = status == PERP_OK ? (int)nv : 0;
    if (status == PERP_OK) {
        status = load_bodies(r, error);
    }
    if (status == PERP_OK) {
        status = load_shapes(r, error);
    }
    if (status == PERP_OK) {
        status = load_joints(r, error);
    }
    return status == PERP_OK ? load_springs(r, error) : status;
}
