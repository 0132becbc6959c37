// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A scene file, read into a builder in a fixed order: settings, bodies, shapes of the ground,
// shapes of bodies, contacts, pairs, joints, forces, actuators, sites, sensors; inputs first. Each of them is read
// in the files and assemblies of the scene as well (parts.c). The builder checks the rules of a
// model; the reader adds the line and column to its messages.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

enum { MOST = 1000000 };  // bodies, shapes or joints of a scene

// ── Objects ──────────────────────────────────────────────────────────────────────────────────────

// Its message names the object, so that the reader must not.
perp_status pp_reader_built(pp_reader *r)
{
    perp_error error = {0};
    perp_status status = perp_builder_status(r->builder, &error);
    if (status == PERP_OK) {
        return PERP_OK;
    }
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    r->object[0] = '\0';
    return pp_reader_fail(r, "%s", error.text);
}

// Names are unique among bodies, among shapes of a body and among joints.
static perp_status taken(pp_reader *r, const char *name)
{
    pp_reader_enter(r, "name", 0);
    bool copied = r->scope->outer || r->constants->count > 0;
    perp_status status =
        pp_reader_fail(r, "the name '%s' is already used by another object; choose another%s", name,
                       copied ? ", with a prefix or an index such as {i}" : "");
    pp_reader_leave(r);
    return status;
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

// The name that other objects use: "body.shape", or "shape" for the ground.
static const char *full_name(pp_reader *r, int body, const char *own)
{
    enum { NAME = 160 };
    const char *prefix = r->scope->prefix;
    if (body == 0 && !prefix[0]) {
        return own;
    }
    char *text = pp_reader_text(r, NAME);
    if (text && body == 0) {
        pp_print(text, NAME, "%s%s", prefix, own);
    } else if (text) {
        pp_print(text, NAME, "%s.%s", r->body[body].name, own);
    }
    return text;
}

// Hulls and meshes have their points in the scene, or in a file. A table of fields cannot express
// "either", so that this is checked here.
static perp_status check_source(pp_reader *r, const pp_object *object, const perp_shape_def *def,
                                uint64_t seen)
{
    bool file = pp_reader_saw(object, seen, "file");
    bool here = pp_reader_saw(object, seen, "vertices") || pp_reader_saw(object, seen, "triangles");
    if (def->kind != PERP_SHAPE_HULL && def->kind != PERP_SHAPE_MESH) {
        return PERP_OK;
    }
    if (file && here) {
        return pp_reader_fail(r, "'file' replaces vertices and triangles; give one or the other");
    }
    if (def->vertex_count == 0) {
        return pp_reader_fail(r, "'vertices' is missing; a %s needs it, or 'file'",
                              def->kind == PERP_SHAPE_HULL ? "hull" : "mesh");
    }
    if (def->kind == PERP_SHAPE_MESH && def->triangle_count == 0) {
        return pp_reader_fail(r, "'triangles' is missing; a mesh needs it, or 'file'");
    }
    // Numbers of vertices are checked where their number is known; the field alone cannot.
    for (int k = 0; k < 3 * def->triangle_count; k++) {
        if (def->triangles[k] >= def->vertex_count) {
            return pp_reader_fail(r,
                                  "'triangles': triangle %d refers to vertex %d, but there are %d "
                                  "vertices, numbered from 0",
                                  k / 3, def->triangles[k], def->vertex_count);
        }
    }
    return PERP_OK;
}

// "body" of a shape in the list of the scene; its name is then its own, without that of the body.
static perp_status read_owner(pp_reader *r, const json_t *json, int *owner)
{
    static const pp_field field = {.key = "body", .kind = PP_FIELD_BODY};
    const json_t *value = json_object_get(json, "body");
    perp_body body = {0};
    if (!value) {
        return PERP_OK;
    }
    pp_reader_enter(r, "body", 0);
    perp_status status = *owner > 0 ? pp_reader_fail(r, "'body' is for shapes in the list of the "
                                                        "scene; remove it")
                                    : pp_reader_value(r, &field, value, &body);
    pp_reader_leave(r);
    *owner = body.i;
    return status;
}

// A shape or visual of the ground (owner 0) or of a body. *own: its name, *def has the full one.
static perp_status read_solid(pp_reader *r, const pp_object *object, const json_t *json, int index,
                              int *owner, const char **own, perp_shape_def *def)
{
    uint64_t seen;
    int kind;
    // The name comes first: messages about other fields show it.
    const char *name = NULL;
    *def = perp_shape_default();
    perp_status status = pp_reader_name(r, json, object->what, index, true, own);
    if (status == PERP_OK) {
        name = full_name(r, *owner, *own);
    }
    if (status == PERP_OK) {
        status = read_owner(r, json, owner);
    }
    if (!name || status < 0) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    pp_print(r->object, sizeof r->object, "%s '%.90s'", object->what, name);
    status = pp_reader_kind(r, object, json, &kind);
    if (status == PERP_OK) {
        def->kind = (perp_shape_kind)kind;
        status = pp_reader_fields(r, object, kind, json, def, &seen);
    }
    if (status == PERP_OK) {
        status = check_source(r, object, def, seen);
    }
    def->name = name;
    if (status == PERP_OK && *owner == 0) {
        pp_place_shape(r, def);
    }
    return status;
}

static perp_status read_shape(pp_reader *r, const json_t *json, int index, int owner)
{
    perp_shape_def def;
    const char *own = NULL;
    perp_status status = read_solid(r, &pp_shape_object, json, index, &owner, &own, &def);
    if (status < 0) {
        return status;
    }
    if (pp_names_find(&r->shape_names, def.name) >= 0) {
        return taken(r, def.name);
    }
    pp_names_add(&r->shape_names, def.name, r->shapes);
    r->shape[r->shapes++] = (pp_known_shape){.name = def.name, .own = own, .body = owner};
    perp_builder_add_shape(r->builder, (perp_body){owner}, &def);
    return pp_reader_built(r);
}

// Nothing refers to visuals: the builder alone knows their names.
static perp_status read_visual(pp_reader *r, const json_t *json, int index, int owner)
{
    perp_shape_def def;
    const char *own = NULL;
    perp_status status = read_solid(r, &pp_visual_object, json, index, &owner, &own, &def);
    if (status < 0) {
        return status;
    }
    perp_builder_add_visual(r->builder, (perp_body){owner}, &def);
    return pp_reader_built(r);
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

// "drive" of a body is a word, "free" or "fixed", or an object with motions of time. Without it the
// body is free.
static perp_status read_drive(pp_reader *r, const json_t *json, perp_body_def *def)
{
    static const pp_choice words[] = {
        {"free", PERP_MOTION_DYNAMIC}, {"fixed", PERP_MOTION_STATIC}, {NULL, 0}};
    static const pp_field field = {.key = "drive", .kind = PP_FIELD_CHOICE, .choices = words};
    const json_t *drive = json_object_get(json, "drive");
    uint64_t seen;
    int word = PERP_MOTION_DYNAMIC;
    if (!drive) {
        return PERP_OK;
    }
    pp_reader_enter(r, "drive", 0);
    perp_status status;
    if (json_is_object(drive)) {
        def->motion = PERP_MOTION_KINEMATIC;
        // An empty object would be a body that is driven and stands still: most likely a mistake.
        status = pp_reader_fields(r, &pp_drive_object, 0, drive, def, &seen);
        if (status == PERP_OK && json_object_size(drive) == 0) {
            status = pp_reader_fail(r, "'drive' is empty; write the motion %s",
                                    r->spatial ? "'x', 'y', 'z', 'rx', 'ry' or 'rz'"
                                               : "'x', 'y' or 'angle'");
        }
    } else if (json_is_string(drive)) {
        status = pp_reader_value(r, &field, drive, &word);
        def->motion = (perp_motion)word;
    } else {
        status = pp_reader_refuse(
            r, "drive", "\"free\", \"fixed\", or motions such as {\"x\": \"0.1*t\"}", drive);
    }
    pp_reader_leave(r);
    return status;
}

// A velocity that nothing would use is a mistake: only a free body has one of its own.
static perp_status check_velocity(pp_reader *r, const perp_body_def *def, uint64_t seen)
{
    static const char *const keys[] = {"velocity", "spin"};
    if (def->motion == PERP_MOTION_DYNAMIC) {
        return PERP_OK;
    }
    for (int k = 0; k < 2; k++) {
        if (pp_reader_saw(&pp_body_object, seen, keys[k])) {
            pp_reader_enter(r, keys[k], 0);
            perp_status status = pp_reader_fail(
                r, "'%s' is for free bodies; the motion of a %s one is given by 'drive' alone",
                keys[k], def->motion == PERP_MOTION_STATIC ? "fixed" : "driven");
            pp_reader_leave(r);
            return status;
        }
    }
    return PERP_OK;
}

// A scene is planar or spatial as a whole: a planar body in a spatial scene is an error.
static perp_status check_space(pp_reader *r, const json_t *json, int kind)
{
    if (!r->spatial || kind == PERP_BODY_SPATIAL || kind == PERP_BODY_SPATIAL_PARTICLE) {
        return PERP_OK;
    }
    // The message points at the kind, if there is one, else at the body.
    bool said = json_object_get(json, "kind") != NULL;
    if (said) {
        pp_reader_enter(r, "kind", 0);
    }
    perp_status status = pp_reader_fail(
        r, "a planar body among spatial ones: write \"kind\": \"solid\" or \"point_mass\"");
    if (said) {
        pp_reader_leave(r);
    }
    return status;
}

// A body without its shapes, which read_body_shapes adds.
static perp_status read_body(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)owner;
    perp_body_def def = perp_body_default();
    uint64_t seen = 0;
    int kind;
    perp_status status = pp_reader_kind(r, &pp_body_object, json, &kind);
    if (status == PERP_OK) {
        status = check_space(r, json, kind);
    }
    if (status == PERP_OK) {
        def.kind = (perp_body_kind)kind;
        status = pp_reader_fields(r, &pp_body_object, kind, json, &def, &seen);
    }
    if (status == PERP_OK) {
        status = read_drive(r, json, &def);
    }
    if (status == PERP_OK) {
        status = check_velocity(r, &def, seen);
    }
    const char *name = NULL;
    if (status == PERP_OK) {
        status = pp_reader_name(r, json, "body", index + 1, false, &name);
    }
    if (status == PERP_OK) {
        status = pp_place_body(r, &def);
    }
    if (status < 0) {
        return status;
    }
    // The name is noted before the builder sees the body: joints and shapes refer to it.
    if (pp_names_find(&r->body_names, name) >= 0) {
        return taken(r, name);
    }
    def.name = name;
    pp_names_add(&r->body_names, name, r->bodies);
    r->body[r->bodies++] = (pp_known_body){name, def};
    perp_builder_add_body(r->builder, &def);
    return pp_reader_built(r);
}

// Runs after all bodies and the shapes of the ground, so that these have the lowest numbers: a
// contact normal points from the lower number to the higher one, from the ground to the body on it.
// Then the mass of the body is known, and checked. Body 0 is the ground.
static perp_status read_body_shapes(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    int body = r->next_body++;
    perp_status status = pp_reader_list(r, json, &pp_shape_object, read_shape, body);
    if (status == PERP_OK) {
        status = pp_reader_list(r, json, &pp_visual_object, read_visual, body);
    }
    if (status < 0) {
        return status;
    }
    perp_error error;
    status = pp_builder_mass_properties(r->builder, (perp_body){body}, &error);
    if (status < 0) {
        r->object[0] = '\0';  // the message names the body
        return pp_reader_fail(r, "%s", error.text);
    }
    return PERP_OK;
}

// ── Contacts and pairs ───────────────────────────────────────────────────────────────────────────

// A direction in the axes of a's body, which may be the ground.
static perp_vec3 place_tangent(const pp_reader *r, perp_shape a, perp_vec3 tangent)
{
    return r->shape[a.i].body == 0 ? pp_place_direction(r, tangent) : tangent;
}

// A contact that exists whatever the distance of its shapes.
static perp_status read_contact(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_contact_def def = perp_contact_default();
    uint64_t seen;
    perp_status status = pp_reader_fields(r, &pp_contact_object, 0, json, &def, &seen);
    if (status == PERP_OK && def.name) {
        status = pp_reader_name(r, json, "contact", 0, false, &def.name);
    }
    if (status == PERP_OK) {
        def.tangent_A = place_tangent(r, def.a, def.tangent_A);
        perp_builder_add_contact(r->builder, &def);
        status = pp_reader_built(r);
    }
    return status;
}

// A rule for two shapes.
static perp_status read_pair(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_pair_def def = perp_pair_default();
    uint64_t seen;
    perp_status status = pp_reader_fields(r, &pp_pair_object, 0, json, &def, &seen);
    if (status < 0) {
        return status;
    }
    // Coefficients that the pair leaves out are combined from its shapes, as for detected contacts.
    perp_pair_def own = def;
    pp_builder_combine(r->builder, &own);
    if (!pp_reader_saw(&pp_pair_object, seen, "mu")) {
        def.mu = own.mu;
    }
    if (!pp_reader_saw(&pp_pair_object, seen, "restitution")) {
        def.restitution = own.restitution;
    }
    if (!pp_reader_saw(&pp_pair_object, seen, "mu_spin")) {
        def.mu_spin = own.mu_spin;
    }
    if (!pp_reader_saw(&pp_pair_object, seen, "mu_roll")) {
        def.mu_roll = own.mu_roll;
    }
    if (!pp_reader_saw(&pp_pair_object, seen, "facets")) {
        def.facets = own.facets;
    }
    def.tangent_A = place_tangent(r, def.a, def.tangent_A);
    perp_builder_add_pair(r->builder, &def);
    return pp_reader_built(r);
}

// ── Joints and forces ────────────────────────────────────────────────────────────────────────────

// A world point at t = 0 in the frame of a body. A driven body is where its motions start.
// The rotation at t = 0 is normalised here as in the model.
static perp_status to_body(pp_reader *r, const perp_body_def *body, perp_vec3 at, perp_vec3 *to)
{
    perp_vec3 p = body->position_W;
    perp_quat q = body->rotation_WB;
    double angle = body->angle;
    if (body->motion == PERP_MOTION_KINEMATIC) {
        perp_status status = pp_initial_pose(r, body, &p, &angle, &q);
        if (status < 0) {
            return status;
        }
    }
    if (body->kind == PERP_BODY_SPATIAL || body->kind == PERP_BODY_SPATIAL_PARTICLE) {
        pp_mat3 R = pp_quat_matrix(pp_quat_unit(q));
        *to = pp_mul_t(&R, pp_sub(at, p));
        return PERP_OK;
    }
    double c = pp_cos(angle), s = pp_sin(angle);
    double x = at.x - p.x, y = at.y - p.y;
    *to = (perp_vec3){c * x + s * y, c * y - s * x, 0.0};
    return PERP_OK;
}

// 'at', a world point at t = 0, stands for both anchors. An anchor must not be given twice.
static perp_status place_joint(pp_reader *r, pp_joint_input *joint, uint64_t seen)
{
    const perp_body_def *a = &r->body[joint->def.a.i].def, *b = &r->body[joint->def.b.i].def;
    perp_status status = PERP_OK;
    pp_reader_enter(r, "at", 0);
    if (pp_reader_saw(&pp_joint_object, seen, "anchor_a") ||
        pp_reader_saw(&pp_joint_object, seen, "anchor_b")) {
        status = pp_reader_fail(r, "'at' replaces both anchors; give one or the other");
    }
    if (status == PERP_OK) {
        status = to_body(r, a, joint->at, &joint->def.anchor_A);
    }
    if (status == PERP_OK) {
        status = to_body(r, b, joint->at, &joint->def.anchor_B);
    }
    pp_reader_leave(r);
    return status;
}

// A joint or spring between a body and itself is a mistake. The builder would report numbers of
// bodies, not names.
static perp_status check_two(pp_reader *r, perp_body a, perp_body b)
{
    if (a.i != b.i || a.i < 0) {
        return PERP_OK;
    }
    pp_reader_enter(r, "b", 0);
    perp_status status = pp_reader_fail(
        r, "'a' and 'b' are both '%s'; they must be two different bodies", r->body[a.i].name);
    pp_reader_leave(r);
    return status;
}

// A single limit leaves the other side open: the default, lower > upper, means no limits at all.
static perp_status limit_joint(pp_reader *r, perp_joint_def *def, uint64_t seen)
{
    bool lower = pp_reader_saw(&pp_joint_object, seen, "lower");
    bool upper = pp_reader_saw(&pp_joint_object, seen, "upper");
    if (lower && !upper) {
        def->upper = PP_INF;
    } else if (upper && !lower) {
        def->lower = -PP_INF;
    }
    if (lower && upper && def->lower > def->upper) {
        pp_reader_enter(r, "lower", 0);
        perp_status status = pp_reader_fail(
            r, "'lower' is %g and 'upper' is %g; swap them, or omit both", def->lower, def->upper);
        pp_reader_leave(r);
        return status;
    }
    return PERP_OK;
}

// Names prefix[joint] of all joints read so far, with `step` places from one to the next.
static perp_status name_joints(pp_reader *r, const char *prefix, const char **to, int step)
{
    for (int k = 0; k < r->joints; k++) {
        size_t size = strlen(r->joint[k]) + strlen(prefix) + 3;
        char *text = pp_reader_text(r, size);
        if (!text) {
            return pp_reader_memory(r);
        }
        pp_print(text, size, "%s[%s]", prefix, r->joint[k]);
        to[(size_t)k * (size_t)step] = text;
    }
    return PERP_OK;
}

// t, then q[…] of the joints before a coupling.
static perp_status name_coordinates(pp_reader *r)
{
    r->coordinate_names = PP_ZEROS(r->arena, const char *, 1 + (size_t)r->joints);
    if (!r->coordinate_names) {
        return pp_reader_memory(r);
    }
    r->coordinate_names[0] = "t";
    return name_joints(r, "q", r->coordinate_names + 1, 1);
}

// t, then q[…] and dq[…] of the joints read so far.
static perp_status name_sources(pp_reader *r)
{
    size_t count = 1 + 2 * (size_t)r->joints;
    r->source_names = PP_ZEROS(r->arena, const char *, count);
    if (!r->source_names) {
        return pp_reader_memory(r);
    }
    r->source_names[0] = "t";
    perp_status status = name_joints(r, "q", r->source_names + 1, 2);
    return status < 0 ? status : name_joints(r, "dq", r->source_names + 2, 2);
}

// A joint: fields, then the rules that involve several of them, then its name.
static perp_status read_joint(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)owner;
    pp_joint_input joint = {.def = perp_joint_default()};
    uint64_t seen = 0;
    int kind;
    perp_status status = pp_reader_kind(r, &pp_joint_object, json, &kind);
    if (status == PERP_OK && kind == PERP_JOINT_COUPLING) {
        status = name_coordinates(r);
        if (status == PERP_OK) {
            status = name_sources(r);
        }
    }
    if (status == PERP_OK) {
        joint.def.kind = (perp_joint_kind)kind;
        status = pp_reader_fields(r, &pp_joint_object, kind, json, &joint, &seen);
    }
    r->source_names = NULL;  // those of a coupling lack the joints behind it
    if (status == PERP_OK && kind != PERP_JOINT_GEAR && kind != PERP_JOINT_COUPLING) {
        status = check_two(r, joint.def.a, joint.def.b);
    }
    if (status == PERP_OK) {
        pp_place_joint(r, &joint);
    }
    if (status == PERP_OK && pp_reader_saw(&pp_joint_object, seen, "at")) {
        status = place_joint(r, &joint, seen);
    }
    if (pp_reader_saw(&pp_joint_object, seen, "collide")) {
        joint.def.collide = joint.collide ? PERP_COLLIDE_ALWAYS : PERP_COLLIDE_NEVER;
    }
    if (status == PERP_OK) {
        status = limit_joint(r, &joint.def, seen);
    }
    const char *name = NULL;
    if (status == PERP_OK) {
        status = pp_reader_name(r, json, "joint", index, false, &name);
    }
    if (status < 0) {
        return status;
    }
    // A gear names two joints that stand before it, so that names are noted in order.
    if (pp_names_find(&r->joint_names, name) >= 0) {
        return taken(r, name);
    }
    pp_names_add(&r->joint_names, name, r->joints);
    r->joint[r->joints++] = name;
    joint.def.name = name;
    perp_builder_add_joint(r->builder, &joint.def);
    return pp_reader_built(r);
}

// A force, spring or drag. Springs and twist springs need two bodies.
static perp_status read_force(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_force_def def = perp_force_default();
    uint64_t seen;
    int kind;
    perp_status status = pp_reader_kind(r, &pp_force_object, json, &kind);
    if (status == PERP_OK) {
        def.kind = (perp_force_kind)kind;
        status = pp_reader_fields(r, &pp_force_object, kind, json, &def, &seen);
    }
    // A wrench acts on one body, and a drag may: their 'a' stays the ground.
    bool between = kind == PERP_FORCE_SPRING || kind == PERP_FORCE_TORSION_SPRING ||
                   (kind == PERP_FORCE_DRAG && def.a.i != 0);
    if (status == PERP_OK && between) {
        status = check_two(r, def.a, def.b);
    }
    if (status == PERP_OK && def.name) {
        status = pp_reader_name(r, json, "force", 0, false, &def.name);
    }
    if (status == PERP_OK) {
        status = pp_place_force(r, &def);
    }
    if (status == PERP_OK) {
        perp_builder_add_force(r->builder, &def);
        status = pp_reader_built(r);
    }
    return status;
}

// ── Inputs and actuators ─────────────────────────────────────────────────────────────────────────

// An input with its number, or with a source that read_source reads when the joints are known. It then starts from 0,
// or from the end of its range that is nearest to 0.
static perp_status read_input(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_input_def def = perp_input_default();
    uint64_t seen;
    perp_status status = pp_reader_fields(r, &pp_input_object, 0, json, &def, &seen);
    // In an expression the name would mean two things.
    int same = status < 0 ? -1 : pp_constant_find(r->constants, def.name);
    if (same >= 0) {
        pp_reader_enter(r, "name", 0);
        status = pp_reader_fail(r, "'%s' is also a parameter; choose another name", def.name);
        pp_reader_leave(r);
    }
    if (status == PERP_OK) {
        status = pp_reader_name(r, json, "input", 0, false, &def.name);
    }
    if (status < 0) {
        return status;
    }
    const json_t *value = json_object_get(json, "value");
    def.value =
        json_is_number(value) ? json_number_value(value) : fmax(def.lower, fmin(def.upper, 0.0));
    r->input[r->inputs++] = def.name;
    perp_builder_add_input(r->builder, &def);
    return pp_reader_built(r);
}

static perp_status read_source(pp_reader *r, const json_t *json, int place, int owner)
{
    (void)place;
    (void)owner;
    int index = r->next_input++;
    static const pp_field field = {.key = "value", .kind = PP_FIELD_SOURCE};
    const json_t *value = json_object_get(json, "value");
    const char *source;
    if (!value || json_is_number(value)) {
        return PERP_OK;
    }
    int inputs = r->inputs;
    r->inputs = index;  // those before it
    pp_reader_enter(r, "value", 0);
    perp_status status = r->source_names ? PERP_OK : name_sources(r);
    if (status == PERP_OK) {
        status = pp_reader_motion(r, &field, value, &source);
    }
    pp_reader_leave(r);
    r->inputs = inputs;
    if (status == PERP_OK) {
        perp_builder_set_input_source(r->builder, (perp_input){index}, source);
        status = pp_reader_built(r);
    }
    return status;
}

// An actuator. Its joint was read before; an input that it names by its own name may come into being here.
static perp_status read_actuator(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_actuator_def def = perp_actuator_default();
    uint64_t seen;
    int kind;
    perp_status status = pp_reader_kind(r, &pp_actuator_object, json, &kind);
    if (status == PERP_OK) {
        def.kind = (perp_actuator_kind)kind;
        status = pp_reader_fields(r, &pp_actuator_object, kind, json, &def, &seen);
    }
    // Two ways to say the same gain contradict each other.
    if (status == PERP_OK && pp_reader_saw(&pp_actuator_object, seen, "kv") &&
        pp_reader_saw(&pp_actuator_object, seen, "damping_ratio")) {
        pp_reader_enter(r, "damping_ratio", 0);
        status = pp_reader_fail(r, "'damping_ratio' replaces 'kv'; give one or the other");
        pp_reader_leave(r);
    }
    if (status == PERP_OK && def.name) {
        status = pp_reader_name(r, json, "actuator", 0, false, &def.name);
    }
    if (status == PERP_OK) {
        if (def.name && pp_names_find(&r->actuator_names, def.name) < 0) {
            pp_names_add(&r->actuator_names, def.name, r->actuators);
        }
        r->actuator[r->actuators++] = def.name ? def.name : "";
        perp_builder_add_actuator(r->builder, &def);
        status = pp_reader_built(r);
    }
    return status;
}

// ── Sites and sensors ────────────────────────────────────────────────────────────────────────────

static perp_status read_site(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_site_def def = perp_site_default();
    uint64_t seen;
    perp_status status = pp_reader_fields(r, &pp_site_object, 0, json, &def, &seen);
    if (status == PERP_OK && pp_reader_saw(&pp_site_object, seen, "radius") &&
        pp_reader_saw(&pp_site_object, seen, "size")) {
        pp_reader_enter(r, "size", 0);
        status = pp_reader_fail(r, "a region has 'radius' or 'size'; give one of them");
        pp_reader_leave(r);
    }
    if (status == PERP_OK) {
        status = pp_reader_name(r, json, "site", 0, false, &def.name);
    }
    if (status < 0) {
        return status;
    }
    // Sensors refer to sites by name.
    if (pp_names_find(&r->site_names, def.name) >= 0) {
        return taken(r, def.name);
    }
    pp_place_site(r, &def);
    pp_names_add(&r->site_names, def.name, r->sites);
    r->site[r->sites++] = def.name;
    perp_builder_add_site(r->builder, &def);
    return pp_reader_built(r);
}

// The frame of a sensor is a site or a body; the builder checks that, and which joints a sensor can have.
static perp_status read_sensor(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_sensor_def def = perp_sensor_default();
    uint64_t seen;
    int kind;
    perp_status status = pp_reader_kind(r, &pp_sensor_object, json, &kind);
    if (status == PERP_OK) {
        def.kind = (perp_sensor_kind)kind;
        status = pp_reader_fields(r, &pp_sensor_object, kind, json, &def, &seen);
    }
    // 0 means the default axis in a definition, and a mistake in a scene.
    bool given = status == PERP_OK && pp_reader_saw(&pp_sensor_object, seen, "axis");
    if (given && def.axis_S.x == 0.0 && def.axis_S.y == 0.0 && def.axis_S.z == 0.0) {
        pp_reader_enter(r, "axis", 0);
        status = pp_reader_fail(r, "'axis' must not be zero");
        pp_reader_leave(r);
    }
    if (status == PERP_OK && def.name) {
        status = pp_reader_name(r, json, "sensor", 0, false, &def.name);
    }
    if (status == PERP_OK) {
        perp_builder_add_sensor(r->builder, &def);
        status = pp_reader_built(r);
    }
    return status;
}

// ── The whole ────────────────────────────────────────────────────────────────────────────────────

static perp_status count_one(pp_reader *r, size_t *count)
{
    if (++*count > MOST) {
        return pp_reader_fail(r, "more than %d bodies, shapes, joints, inputs, actuators or sites",
                              MOST);
    }
    return PERP_OK;
}

static perp_status count_shape(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.shapes);
}

static perp_status count_visual(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.visuals);
}

static perp_status count_joint(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.joints);
}

static perp_status count_input(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.inputs);
}

static perp_status count_actuator(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.actuators);
}

static perp_status count_site(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)json;
    (void)index;
    (void)owner;
    return count_one(r, &r->room.sites);
}

static perp_status count_body(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    perp_status status = count_one(r, &r->room.bodies);
    if (status == PERP_OK) {
        status = pp_reader_list(r, json, &pp_shape_object, count_shape, 0);
    }
    return status < 0 ? status : pp_reader_list(r, json, &pp_visual_object, count_visual, 0);
}

// Body 0 is the ground, which the file does not list. The first pass checks included files as well.
static perp_status count_objects(pp_reader *r, const json_t *root)
{
    r->room.bodies = 1;
    r->checks = true;
    perp_status status = pp_reader_pass(r, root, &pp_body_object, count_body);
    r->checks = false;
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_shape_object, count_shape);
    }
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_visual_object, count_visual);
    }
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_joint_object, count_joint);
    }
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_input_object, count_input);
    }
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_actuator_object, count_actuator);
    }
    if (status == PERP_OK) {
        status = pp_reader_pass(r, root, &pp_site_object, count_site);
    }
    return status;
}

static perp_status make_room(pp_reader *r, const json_t *root)
{
    perp_status status = count_objects(r, root);
    const pp_counts n = r->room;
    if (status < 0) {
        return status;
    }
    r->body = PP_ZEROS(r->arena, pp_known_body, n.bodies);
    r->shape = PP_ZEROS(r->arena, pp_known_shape, n.shapes);
    r->joint = PP_ZEROS(r->arena, const char *, n.joints);
    r->input = PP_ZEROS(r->arena, const char *, n.inputs);
    r->actuator = PP_ZEROS(r->arena, const char *, n.actuators);
    r->site = PP_ZEROS(r->arena, const char *, n.sites);
    if (!r->body || !r->shape || !r->joint || !r->input || !r->actuator || !r->site ||
        !pp_names_open(&r->body_names, n.bodies, r->arena) ||
        !pp_names_open(&r->shape_names, n.shapes, r->arena) ||
        !pp_names_open(&r->joint_names, n.joints, r->arena) ||
        !pp_names_open(&r->actuator_names, n.actuators, r->arena) ||
        !pp_names_open(&r->site_names, n.sites, r->arena)) {
        return pp_reader_memory(r);
    }
    // The ground is a body at the origin, so that 'at' of a joint works for it as well.
    r->body[0] = (pp_known_body){"ground", perp_body_default()};
    r->body[0].def.kind = r->spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    r->bodies = 1;
    pp_names_add(&r->body_names, "ground", 0);
    return PERP_OK;
}

// The scene keeps its parameters, for questions about it.
static perp_status keep_parameters(pp_reader *r)
{
    perp_scene *scene = r->scene;
    const pp_constants *from = r->constants;
    scene->parameter = PP_ZEROS(scene->arena, perp_scene_value, from->count);
    if (!scene->parameter) {
        return pp_reader_memory(r);
    }
    for (int k = 0; k < from->count; k++) {
        size_t size = strlen(from->name[k]) + 1;
        char *name = PP_ARRAY(scene->arena, char, size);
        if (!name) {
            return pp_reader_memory(r);
        }
        memcpy(name, from->name[k], size);
        scene->parameter[k] = (perp_scene_value){name, from->value[k], from->derived[k]};
    }
    scene->parameters = from->count;
    return PERP_OK;
}

perp_status pp_reader_run(pp_reader *r, const json_t *root, pp_settings *settings)
{
    uint64_t seen;
    pp_print(r->object, sizeof r->object, "scene");
    if (!json_is_object(root)) {
        return pp_reader_refuse(r, NULL, "an object {...}", root);
    }
    const pp_scope scene = {.prefix = "", .rotation = {1.0, 0.0, 0.0, 0.0}};
    r->scope = &scene;
    perp_status status = pp_reader_parameters(r, root, NULL);
    if (status == PERP_OK) {
        status = keep_parameters(r);
    }
    if (status == PERP_OK) {
        status = pp_reader_find_space(r, root);
    }
    if (status == PERP_OK) {
        status = pp_reader_fields(r, &pp_scene_object, 0, root, settings, &seen);
    }
    if (status == PERP_OK) {
        status = pp_reader_limits(r, root, &settings->sim.limits);
    }
    if (status == PERP_OK) {
        status = pp_reader_groups(r, root);
    }
    if (status == PERP_OK) {
        status = make_room(r, root);
    }
    if (status < 0) {
        return status;
    }
    if (pp_reader_saw(&pp_scene_object, seen, "gravity")) {
        perp_builder_set_gravity(r->builder, settings->gravity);
    }
    perp_builder_set_listed_only(r->builder, settings->listed_only);
    // An object refers to others by name, which must have been read before: the order is that of
    // this table, not that of the file.
    static const struct {
        const pp_object *object;
        pp_read_object *read;
    } lists[] = {{&pp_input_object, read_input},       {&pp_body_object, read_body},
                 {&pp_shape_object, read_shape},       {&pp_body_object, read_body_shapes},
                 {&pp_visual_object, read_visual},     {&pp_contact_object, read_contact},
                 {&pp_pair_object, read_pair},         {&pp_joint_object, read_joint},
                 {&pp_force_object, read_force},       {&pp_site_object, read_site},
                 {&pp_actuator_object, read_actuator}, {&pp_input_object, read_source},
                 {&pp_sensor_object, read_sensor}};
    r->next_body = 1;
    r->next_input = 0;
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        status = pp_reader_pass(r, root, lists[k].object, lists[k].read);
        if (status != PERP_OK) {
            return status;
        }
    }
    status = pp_reader_pass(r, root, NULL, NULL);
    if (status == PERP_OK) {
        status = pp_reader_tree(r, root, &settings->sim);
    }
    return status == PERP_OK ? pp_reader_keyframes(r, root, &settings->sim) : status;
}
