// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Keyframes of a scene: named states in coordinates of joints, poses of bodies and values of inputs; and the one that it
// starts from. They are read last, when all objects are known, and only in the scene itself, not in its parts.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <string.h>

#define AT(type, member) offsetof(type, member)
#define COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

typedef struct keyframe_input {
    const char *name;
    double time;
} keyframe_input;

static const pp_field keyframe_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(keyframe_input, name), .needed = 1},
    {.key = "time", .kind = PP_FIELD_NUMBER, .offset = AT(keyframe_input, time), .unit = "s"},
    {.key = "joints", .kind = PP_FIELD_OTHER},
    {.key = "bodies", .kind = PP_FIELD_OTHER},
    {.key = "inputs", .kind = PP_FIELD_OTHER},
};
const pp_object pp_keyframe_object = {"keyframe", "keyframes",     {NULL, NULL},
                                      0,          keyframe_fields, COUNT(keyframe_fields)};

// Position and rate of one joint.
static const pp_field joint_fields[] = {
    {.key = "position", .kind = PP_FIELD_OTHER},
    {.key = "rate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_keyframe_joint_object = {"joint", "joints",     {NULL, NULL},
                                            0,       joint_fields, COUNT(joint_fields)};

enum {
    RIGID = 1u << PERP_BODY_PLANAR,
    SOLID = 1u << PERP_BODY_SPATIAL,
};

// As of a body at t = 0 (objects.c).
static const pp_field body_fields[] = {
    {.key = "position",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, position_W),
     .unit = "m"},
    {.key = "angle", .kind = PP_FIELD_ANGLE, .offset = AT(perp_body_def, angle), .owners = RIGID},
    {.key = "rotation",
     .kind = PP_FIELD_ROTATION,
     .offset = AT(perp_body_def, rotation_WB),
     .owners = SOLID},
    {.key = "velocity",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, velocity_W),
     .unit = "m/s"},
    {.key = "spin",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(perp_body_def, spin),
     .owners = RIGID,
     .unit = "rad/s"},
    {.key = "spin",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, omega_W),
     .owners = SOLID,
     .unit = "rad/s"},
};
const pp_object pp_keyframe_body_object = {"body", "bodies",    {NULL, NULL},
                                           0,      body_fields, COUNT(body_fields)};

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Numbers of one joint: coordinates or rates.
typedef struct number_list {
    const char *key;
    int count;
    unsigned angles;  // bit k: number k is an angle or its rate
    bool rates, quaternion;
    double at[PERP_JOINT_MAX_COORDINATES];
} number_list;

// A number alone where there is one, else a list of them.
static perp_status read_list(pp_reader *r, const json_t *json, number_list *list)
{
    char due[60];
    for (int k = 0; k < list->count; k++) {
        bool angle = list->angles >> k & 1u;
        const char *unit = angle ? "rad" : "m";
        if (list->rates) {
            unit = angle ? "rad/s" : "m/s";
        }
        const pp_field field = {.key = list->key, .unit = list->quaternion ? NULL : unit};
        // every coordinate has its own unit: a cylindrical joint has a distance and an angle
        bool alone = list->count == 1;
        const json_t *value = alone ? json : json_array_get(json, (size_t)k);
        if (!alone && json_array_size(json) == (size_t)list->count) {
            pp_reader_enter(r, NULL, k);
            bool good = pp_reader_number(r, &field, value, &list->at[k]);
            perp_status status =
                good ? PERP_OK : pp_reader_refuse_number(r, &field, "a number", value);
            pp_reader_leave(r);
            if (status < 0) {
                return status;
            }
            continue;
        }
        if (!alone) {
            pp_print(due, sizeof due, "%d numbers%s", list->count,
                     list->quaternion ? ", a unit quaternion [w, x, y, z]" : "");
            return pp_reader_refuse(r, list->key, due, json);
        }
        if (!pp_reader_number(r, &field, value, &list->at[k])) {
            return pp_reader_refuse_number(r, &field, "a number", value);
        }
    }
    return PERP_OK;
}

// A name that nothing has, with the nearest one that exists.
static perp_status no_such(pp_reader *r, const char *what, const char *name,
                           const char *const *known, int count)
{
    const char *near = pp_nearest(name, strlen(name), known, count);
    if (near) {
        return pp_reader_fail(r, "there is no %s '%.40s'; did you mean '%s'?", what, name, near);
    }
    return pp_reader_fail(r, "there is no %s '%.40s'", what, name);
}

// "hip": 0.3, or {"position": 0.3, "rate": "10 deg/s"}; lists for joints with several coordinates.
static perp_status read_joint(pp_reader *r, perp_keyframe keyframe, const json_t *json)
{
    perp_joint joint = {pp_names_find(&r->joint_names, json->key)};
    if (joint.i < 0) {
        return no_such(r, "joint", json->key, r->joint, r->joints);
    }
    int nq, nv;
    unsigned angles;
    pp_builder_joint_carries(r->builder, joint, &nq, &nv, &angles);
    number_list position = {.key = json->key,
                            .count = nq,
                            .angles = angles,
                            .quaternion = nq == PERP_JOINT_MAX_COORDINATES};
    number_list rate = {
        .key = "rate", .count = nv, .angles = position.quaternion ? 7 : angles, .rates = true};
    const json_t *at = json, *speed = NULL;
    perp_status status = PERP_OK;
    if (json_is_object(json)) {
        uint64_t seen;
        int none;
        status = pp_reader_fields(r, &pp_keyframe_joint_object, 0, json, &none, &seen);
        at = json_object_get(json, "position");
        speed = json_object_get(json, "rate");
        position.key = "position";
    }
    // joints that carry no body are refused by the builder, which says why
    if (status == PERP_OK && at && nv > 0) {
        if (at != json) {
            pp_reader_enter(r, "position", 0);
        }
        status = read_list(r, at, &position);
        if (at != json) {
            pp_reader_leave(r);
        }
    }
    if (status == PERP_OK && speed && nv > 0) {
        pp_reader_enter(r, "rate", 0);
        status = read_list(r, speed, &rate);
        pp_reader_leave(r);
    }
    if (status < 0) {
        return status;
    }
    perp_builder_set_keyframe_joint(r->builder, keyframe, joint, at ? position.at : NULL,
                                    speed ? rate.at : NULL);
    return pp_reader_built(r);
}

// ── Bodies and inputs ────────────────────────────────────────────────────────────────────────────

// Positions are in the world. What is left out is as at t = 0.
static perp_status read_body(pp_reader *r, perp_keyframe keyframe, const json_t *json)
{
    int body = pp_names_find(&r->body_names, json->key);
    if (body < 0) {
        const char **names = PP_ARRAY(r->arena, const char *, r->bodies);
        if (!names) {
            return pp_reader_memory(r);
        }
        for (int i = 0; i < r->bodies; i++) {
            names[i] = r->body[i].name;
        }
        return no_such(r, "body", json->key, names, r->bodies);
    }
    perp_body_def def = r->body[body].def;
    uint64_t seen;
    if (!json_is_object(json)) {
        return pp_reader_refuse(r, json->key, "an object such as {\"position\": [0, 1]}", json);
    }
    perp_status status =
        pp_reader_fields(r, &pp_keyframe_body_object, (int)def.kind, json, &def, &seen);
    if (status < 0) {
        return status;
    }
    perp_builder_set_keyframe_body(r->builder, keyframe, (perp_body){body}, &def);
    return pp_reader_built(r);
}

static perp_status read_input(pp_reader *r, perp_keyframe keyframe, const json_t *json)
{
    const pp_field field = {.key = json->key, .unit = "*"};
    double value;
    for (int i = 0; i < r->inputs; i++) {
        if (strcmp(r->input[i], json->key) != 0) {
            continue;
        }
        if (!pp_reader_number(r, &field, json, &value)) {
            return pp_reader_refuse(r, json->key, "a number", json);
        }
        perp_builder_set_keyframe_input(r->builder, keyframe, (perp_input){i}, value);
        return pp_reader_built(r);
    }
    return no_such(r, "input", json->key, r->input, r->inputs);
}

// ── Keyframes ────────────────────────────────────────────────────────────────────────────────────

typedef perp_status read_item(pp_reader *r, perp_keyframe keyframe, const json_t *json);

// "joints", "bodies" and "inputs" are objects whose keys are names.
static perp_status read_items(pp_reader *r, const json_t *json, const char *key,
                              perp_keyframe keyframe, read_item *read)
{
    const json_t *list = json_object_get(json, key);
    perp_status status = PERP_OK;
    if (!list) {
        return PERP_OK;
    }
    pp_reader_enter(r, key, 0);
    if (!json_is_object(list)) {
        status = pp_reader_refuse(r, key, "an object whose keys are names", list);
    }
    for (size_t k = 0; k < json_object_size(list); k++) {
        pp_reader_enter(r, list->as.item[k].key, 0);
        status = read(r, keyframe, &list->as.item[k]);
        pp_reader_leave(r);
        if (status < 0) {
            break;
        }
    }
    pp_reader_leave(r);
    return status;
}

static perp_status read_keyframe(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    keyframe_input in = {0};
    uint64_t seen;
    perp_error error;
    perp_status status = pp_reader_fields(r, &pp_keyframe_object, 0, json, &in, &seen);
    if (status < 0) {
        return status;
    }
    perp_keyframe keyframe = perp_builder_add_keyframe(r->builder, in.name);
    perp_builder_set_keyframe_time(r->builder, keyframe, in.time);
    status = pp_reader_built(r);
    if (status == PERP_OK) {
        status = read_items(r, json, "joints", keyframe, read_joint);
    }
    if (status == PERP_OK) {
        status = read_items(r, json, "bodies", keyframe, read_body);
    }
    if (status == PERP_OK) {
        status = read_items(r, json, "inputs", keyframe, read_input);
    }
    if (status < 0) {
        return status;
    }
    status = pp_builder_keyframe_status(r->builder, keyframe, &error);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    if (status < 0) {
        r->object[0] = '\0';  // the message names the keyframe
        return pp_reader_fail(r, "%s", error.text);
    }
    return PERP_OK;
}

// "keyframe": the one that the scene starts from.
static perp_status read_start(pp_reader *r, const json_t *json, const json_t *list,
                              perp_sim_def *sim)
{
    const char *name = json_string_value(json);
    size_t count = json_array_size(list);
    if (!name) {
        return pp_reader_refuse(r, "keyframe", "the name of a keyframe", json);
    }
    const char **names = PP_ARRAY(r->arena, const char *, count);
    if (!names) {
        return pp_reader_memory(r);
    }
    // replicate is no key of a keyframe: an element that has it with the count 0 was not read
    int known = 0;
    for (size_t k = 0; k < count; k++) {
        const json_t *item = json_array_get(list, k);
        if (json_object_get(item, "replicate")) {
            continue;
        }
        names[known] = json_string_value(json_object_get(item, "name"));
        if (strcmp(names[known], name) == 0) {
            sim->keyframe.i = known;
            return PERP_OK;
        }
        known++;
    }
    return no_such(r, "keyframe", name, names, known);
}

perp_status pp_reader_keyframes(pp_reader *r, const json_t *root, perp_sim_def *sim)
{
    const json_t *list = json_object_get(root, "keyframes"),
                 *start = json_object_get(root, "keyframe");
    perp_status status = pp_reader_list(r, root, &pp_keyframe_object, read_keyframe, 0);
    if (status < 0 || !start) {
        return status;
    }
    pp_reader_enter(r, "keyframe", 0);
    status = read_start(r, start, list, sim);
    pp_reader_leave(r);
    return status;
}
