// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The model in a recording: enough to draw it and to know what the columns are about.
#include "record/load.h"

static perp_status load(perp_recording *r, const char *path, pp_cell cell, int count,
                        const void **data, perp_error *error)
{
    return pp_load_array(r, path, cell, 1, &count, data, error);
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

typedef struct body_columns {
    const char **name;
    const void *mass, *inertia, *start, *kind, *drive, *at;
} body_columns;

static perp_status load_body_columns(perp_recording *r, body_columns *c, perp_error *error)
{
    int n = -1;
    perp_status status = pp_load_array(r, "model/bodies/mass", PP_F64, 1, &n, &c->mass, error);
    r->info.bodies = n;
    int table[2] = {n, 3};
    if (status == PERP_OK) {
        status = load(r, "model/bodies/inertia", PP_F64, n, &c->inertia, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/bodies/start", PP_F64, 2, table, &c->start, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/bodies/kind", PP_I32, n, &c->kind, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/bodies/drive", PP_I32, n, &c->drive, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/bodies/at", PP_I32, n, &c->at, error);
    }
    return status == PERP_OK ? pp_load_names(r, "model/bodies/name", n, &c->name, error) : status;
}

static perp_status load_bodies(perp_recording *r, perp_error *error)
{
    body_columns c = {0};
    perp_status status = load_body_columns(r, &c, error);
    if (status != PERP_OK) {
        return status;
    }
    int n = r->info.bodies;
    r->body = PP_ZEROS(r->arena, pp_body_row, n);
    if (!r->body) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    for (int i = 0; i < n; i++) {
        int kind = ((const int32_t *)c.kind)[i], drive = ((const int32_t *)c.drive)[i];
        int at = ((const int32_t *)c.at)[i], nv = kind == PERP_PLANAR_PARTICLE ? 2 : 3;
        pp_body_row *body = &r->body[i];
        body->about = (perp_recorded_body){.name = c.name[i],
                                           .kind = (perp_body_kind)kind,
                                           .drive = (perp_drive)drive,
                                           .at = at,
                                           .mass = ((const double *)c.mass)[i],
                                           .inertia = ((const double *)c.inertia)[i]};
        for (int k = 0; k < 3; k++) {
            body->start[k] = ((const double *)c.start)[3 * i + k];
        }
        body->driven = drive == PERP_DRIVEN ? r->sizes.driven++ : -1;
        bool kinds = kind >= PERP_PLANAR_BODY && kind <= PERP_PLANAR_PARTICLE &&
                     drive >= PERP_FREE && drive <= PERP_DRIVEN;
        if (!kinds || at < -1 || (drive == PERP_FREE && (at < 0 || at > r->sizes.nv - nv))) {
            return pp_load_fail(r, error, "model/bodies", "has a body that cannot be");
        }
    }
    return PERP_OK;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct shape_columns {
    const char **name;
    const void *mu, *restitution, *radius, *body, *kind, *end, *outline;
    int points;
} shape_columns;

static perp_status load_shape_columns(perp_recording *r, shape_columns *c, perp_error *error)
{
    int n = -1;
    perp_status status = pp_load_array(r, "model/shapes/mu", PP_F64, 1, &n, &c->mu, error);
    r->info.shapes = n;
    int table[2] = {-1, 2};
    if (status == PERP_OK) {
        status = load(r, "model/shapes/restitution", PP_F64, n, &c->restitution, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/shapes/radius", PP_F64, n, &c->radius, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/shapes/body", PP_I32, n, &c->body, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/shapes/kind", PP_I32, n, &c->kind, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/shapes/outline_end", PP_I32, n, &c->end, error);
    }
    if (status == PERP_OK) {
        status = pp_load_array(r, "model/shapes/outline", PP_F64, 2, table, &c->outline, error);
        c->points = table[0];
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
    for (int k = 0; k < c.points; k++) {
        const double *xy = (const double *)c.outline + 2 * (size_t)k;
        point[k] = (perp_vec3){xy[0], xy[1], 0.0};
    }
    for (int i = 0, from = 0; i < r->info.shapes; i++) {
        int body = ((const int32_t *)c.body)[i], kind = ((const int32_t *)c.kind)[i];
        int to = ((const int32_t *)c.end)[i];
        if (body < 0 || body >= r->info.bodies || kind < PERP_POINT || kind > PERP_HALFPLANE ||
            to < from || to > c.points) {
            return pp_load_fail(r, error, "model/shapes", "has a shape that cannot be");
        }
        r->shape[i] = (perp_recorded_shape){.name = c.name[i],
                                            .body = {body},
                                            .kind = (perp_shape_kind)kind,
                                            .mu = ((const double *)c.mu)[i],
                                            .restitution = ((const double *)c.restitution)[i],
                                            .radius = ((const double *)c.radius)[i],
                                            .outline = point + from,
                                            .outline_count = to - from};
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
    int table[2] = {n, 4};
    if (status == PERP_OK) {
        status = load(r, "model/joints/a", PP_I32, n, &a, error);
    }
    if (status == PERP_OK) {
        status = load(r, "model/joints/b", PP_I32, n, &b, error);
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
        const double *x = (const double *)anchors + 4 * (size_t)i;
        if (k < PERP_REVOLUTE || k > PERP_GEAR || on_a < 0 || on_a >= r->info.bodies || on_b < 0 ||
            on_b >= r->info.bodies) {
            return pp_load_fail(r, error, "model/joints", "has a joint that cannot be");
        }
        r->joint[i] = (perp_recorded_joint){.name = name[i],
                                            .kind = (perp_joint_kind)k,
                                            .a = {on_a},
                                            .b = {on_b},
                                            .anchor_a = {x[0], x[1], 0.0},
                                            .anchor_b = {x[2], x[3], 0.0}};
    }
    return PERP_OK;
}

perp_status pp_load_model(perp_recording *r, perp_error *error)
{
    double nv = 0.0;
    perp_status status = pp_load_number(r, "model", "nv", &nv, error);
    if (status == PERP_OK && !(nv >= 0.0 && nv <= 1e8)) {
        status = pp_load_fail(r, error, "nv", "is no size");
    }
    r->info.nv = r->sizes.nv = status == PERP_OK ? (int)nv : 0;
    if (status == PERP_OK) {
        status = load_bodies(r, error);
    }
    if (status == PERP_OK) {
        status = load_shapes(r, error);
    }
    return status == PERP_OK ? load_joints(r, error) : status;
}
