// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Keyframes: named states of a model. They are stored as given; sim/ places the bodies, with a tree of the joints that a
// keyframe names.
#include "model/builder.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// ── Joints that carry bodies ─────────────────────────────────────────────────────────────────────

void pp_joint_carries(bool spatial, perp_joint_kind kind, int *nq, int *nv, unsigned *angles)
{
    *nq = *nv = 0;
    *angles = 0;
    // in the order of the coordinates of a link (pp_link_kind)
    switch (kind) {
    case PERP_JOINT_REVOLUTE:
    case PERP_JOINT_SCREW:
        *nq = *nv = 1;
        *angles = 1;
        break;
    case PERP_JOINT_PRISMATIC:
        *nq = *nv = 1;
        break;
    case PERP_JOINT_CYLINDRICAL:
        *nq = *nv = 2;
        *angles = 2;
        break;
    case PERP_JOINT_UNIVERSAL:
        *nq = *nv = 2;
        *angles = 1 | 2;
        break;
    case PERP_JOINT_PLANAR:
        *nq = *nv = spatial ? 3 : 0;
        *angles = 4;
        break;
    case PERP_JOINT_SPHERICAL:
        *nq = 4;
        *nv = 3;
        break;
    default:
        break;
    }
}

void pp_builder_joint_carries(const perp_builder *builder, perp_joint joint, int *nq, int *nv,
                              unsigned *angles)
{
    const pp_joint *joints = builder->joints.items;
    pp_joint_carries(builder->spatial, joints[joint.i].kind, nq, nv, angles);
}

// ── Building ─────────────────────────────────────────────────────────────────────────────────────

// Two keyframes have different names, as all objects.
perp_keyframe perp_builder_add_keyframe(perp_builder *builder, const char *name)
{
    if (!builder || builder->error.status < 0) {
        return (perp_keyframe){-1};
    }
    pp_keyframe *keyframe = pp_builder_grow(builder, &builder->keyframes, sizeof *keyframe);
    if (!keyframe) {
        return (perp_keyframe){-1};
    }
    *keyframe = (pp_keyframe){.name = name};
    bool ok = pp_builder_name(builder, "keyframe", &keyframe->name, builder->keyframes.count - 1,
                              &builder->keyframes, sizeof *keyframe);
    return (perp_keyframe){pp_builder_keep(&builder->keyframes, ok)};
}

// The keyframe of a handle; NULL: the builder has failed, before or because of it.
static pp_keyframe *find_keyframe(perp_builder *b, perp_keyframe keyframe)
{
    if (!b || b->error.status < 0) {
        return NULL;
    }
    if (keyframe.i < 0 || keyframe.i >= b->keyframes.count) {
        pp_builder_bad(b, PERP_ERR_MODEL, "keyframe %d does not exist", keyframe.i);
        return NULL;
    }
    return (pp_keyframe *)b->keyframes.items + keyframe.i;
}

void perp_builder_set_keyframe_time(perp_builder *builder, perp_keyframe keyframe, double t)
{
    pp_keyframe *of = find_keyframe(builder, keyframe);
    if (of && !isfinite(t)) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "keyframe '%s': the time is not finite", of->name);
    } else if (of) {
        of->t = t;
    }
}

// What keyframes say of joints and bodies is in lists of items that begin with the number of their keyframe, by
// which they are sorted. These are the items of keyframes before `keyframe`.
static int items_before(const pp_list *list, size_t size, int keyframe)
{
    int low = 0, high = list->count;
    while (low < high) {
        int middle = low + (high - low) / 2, number;
        memcpy(&number, (const char *)list->items + (size_t)middle * size, sizeof number);
        if (number < keyframe) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Room for a new item behind those of its keyframe; NULL: no memory.
static void *insert_item(perp_builder *b, pp_list *list, size_t size, int keyframe)
{
    int at = items_before(list, size, keyframe + 1), later = list->count - at;
    if (!pp_builder_grow(b, list, size)) {
        return NULL;
    }
    char *place = (char *)list->items + (size_t)at * size;
    memmove(place + size, place, (size_t)later * size);
    return place;
}

// Numbers that the joint has, all finite.
static bool check_numbers(perp_builder *b, const pp_keyframe *of, const pp_joint *joint,
                          const double *numbers, int count)
{
    if (numbers && !pp_all_finite((size_t)count, numbers)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "keyframe '%s': joint '%s': a number is not finite", of->name,
                              joint->name);
    }
    return true;
}

static bool convert_keyframe_joint(perp_builder *b, const pp_keyframe *of, const double *position,
                                   const double *rate, pp_keyframe_joint *to)
{
    const pp_joint *joint = (const pp_joint *)b->joints.items + to->joint;
    int nq, nv;
    unsigned angles;
    pp_joint_carries(b->spatial, joint->kind, &nq, &nv, &angles);
    if (nv == 0) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "keyframe '%s': joint '%s' does not place a body; give the coordinates of revolute, "
            "prismatic, screw, cylindrical, universal, plane or spherical joints",
            of->name, joint->name);
    }
    if (!check_numbers(b, of, joint, position, nq) || !check_numbers(b, of, joint, rate, nv)) {
        return false;
    }
    to->placed = position != NULL;
    to->moving = rate != NULL;
    if (position) {
        memcpy(to->position, position, (size_t)nq * sizeof *position);
    }
    if (rate) {
        memcpy(to->rate, rate, (size_t)nv * sizeof *rate);
    }
    // A quaternion may be off by what few decimals leave.
    if (position && nq == PERP_JOINT_MAX_COORDINATES) {
        perp_quat rot = {position[0], position[1], position[2], position[3]};
        double norm = pp_quat_norm(rot);
        if (!(norm > 0.999) || !(norm < 1.001)) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "keyframe '%s': joint '%s': the quaternion has length %g; "
                                  "normalise it",
                                  of->name, joint->name, norm);
        }
        rot = pp_quat_unit(rot);
        memcpy(to->position, &rot, sizeof rot);
    }
    return true;
}

// A joint that is given twice keeps the last values.
void perp_builder_set_keyframe_joint(perp_builder *builder, perp_keyframe keyframe,
                                     perp_joint joint, const double *position, const double *rate)
{
    const pp_keyframe *of = find_keyframe(builder, keyframe);
    if (!of) {
        return;
    }
    if (joint.i < 0 || joint.i >= builder->joints.count) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "keyframe '%s': joint %d does not exist", of->name,
                       joint.i);
        return;
    }
    pp_keyframe_joint to = {.keyframe = keyframe.i, .joint = joint.i};
    if (!convert_keyframe_joint(builder, of, position, rate, &to)) {
        return;
    }
    // the same joint again, or a new item
    pp_list *list = &builder->keyframe_joints;
    pp_keyframe_joint *known = list->items;
    int end = items_before(list, sizeof to, keyframe.i + 1);
    for (int i = items_before(list, sizeof to, keyframe.i); i < end; i++) {
        if (known[i].joint == joint.i) {
            known[i] = to;
            return;
        }
    }
    pp_keyframe_joint *item = insert_item(builder, list, sizeof *item, keyframe.i);
    if (item) {
        *item = to;
    }
}

// Only numbers that the body has are read: a particle does not turn.
static bool convert_keyframe_body(perp_builder *b, const pp_keyframe *of,
                                  const perp_body_def *state, pp_keyframe_body *to)
{
    const pp_body *body = (const pp_body *)b->bodies.items + to->body;
    if (body->nv == 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "keyframe '%s': body '%s' is not free; its place is given by its "
                              "motion",
                              of->name, body->name);
    }
    if (!pp_finite3(state->position_W) || !isfinite(state->angle) ||
        !pp_finite3(state->velocity_W) || !isfinite(state->spin) || !pp_finite3(state->omega_W)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "keyframe '%s': body '%s': a number is not finite",
                              of->name, body->name);
    }
    double norm = pp_quat_norm(state->rotation_WB);
    if (pp_body_is_spatial(body) && (!(norm > 0.999) || !(norm < 1.001))) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "keyframe '%s': body '%s': rotation must be a quaternion of length "
                              "1, got %g",
                              of->name, body->name, norm);
    }
    // a particle has no rotation, and a planar body one about z
    to->p = to->given = state->position_W;
    to->v = state->velocity_W;
    to->rot = (perp_quat){1.0, 0.0, 0.0, 0.0};
    if (body->kind == PERP_BODY_SPATIAL) {
        to->rot = pp_quat_unit(state->rotation_WB);
        to->w = state->omega_W;
    } else if (body->kind == PERP_BODY_PLANAR) {
        to->angle = state->angle;
        to->w = (perp_vec3){0.0, 0.0, state->spin};
    }
    if (!pp_body_is_spatial(body)) {
        to->p.z = to->given.z = to->v.z = 0.0;
    }
    return true;
}

// A body that is given twice keeps the last pose.
void perp_builder_set_keyframe_body(perp_builder *builder, perp_keyframe keyframe, perp_body body,
                                    const perp_body_def *state)
{
    const pp_keyframe *of = find_keyframe(builder, keyframe);
    if (!of ||
        !pp_builder_usable(builder, state, state ? state->cookie : 0, PP_BODY_COOKIE, "body")) {
        return;
    }
    if (body.i < 0 || body.i >= builder->bodies.count) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "keyframe '%s': body %d does not exist", of->name,
                       body.i);
        return;
    }
    pp_keyframe_body to = {.keyframe = keyframe.i, .body = body.i};
    if (!convert_keyframe_body(builder, of, state, &to)) {
        return;
    }
    // the same body again, or a new item
    pp_list *list = &builder->keyframe_bodies;
    pp_keyframe_body *known = list->items;
    int end = items_before(list, sizeof to, keyframe.i + 1);
    for (int i = items_before(list, sizeof to, keyframe.i); i < end; i++) {
        if (known[i].body == body.i) {
            known[i] = to;
            return;
        }
    }
    pp_keyframe_body *item = insert_item(builder, list, sizeof *item, keyframe.i);
    if (item) {
        *item = to;
    }
}

// A value outside the range of the input is a mistake, as at the start.
void perp_builder_set_keyframe_input(perp_builder *builder, perp_keyframe keyframe,
                                     perp_input input, double value)
{
    const pp_keyframe *of = find_keyframe(builder, keyframe);
    if (!of) {
        return;
    }
    if (input.i < 0 || input.i >= builder->inputs.count) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "keyframe '%s': input %d does not exist", of->name,
                       input.i);
        return;
    }
    const pp_input *known = (const pp_input *)builder->inputs.items + input.i;
    if (!isfinite(value) || value < known->lower || value > known->upper) {
        pp_builder_bad(builder, PERP_ERR_MODEL,
                       "keyframe '%s': the value of input '%s' must be finite and within its range",
                       of->name, known->name);
        return;
    }
    pp_keyframe_input *item = pp_builder_grow(builder, &builder->keyframe_inputs, sizeof *item);
    if (item) {
        *item = (pp_keyframe_input){keyframe.i, input.i, value};
    }
}

// ── Checks of a whole keyframe ───────────────────────────────────────────────────────────────────

// Sets of bodies that joints connect. Bodies that are not free are one set, that of the ground.
static int set_of(int *set, int body)
{
    while (set[body] != body) {
        set[body] = set[set[body]];  // path halving
        body = set[body];
    }
    return body;
}

// false: they are connected already.
static bool connect(int *set, int a, int b)
{
    int low = set_of(set, a), high = set_of(set, b);
    bool fresh = low != high;
    set[low > high ? low : high] = low > high ? high : low;
    return fresh;
}

// Joints of the keyframe first: none of them may close a loop. Then all others, for the bodies.
static perp_status check_keyframe(const perp_builder *b, int keyframe, int *set, int *given,
                                  perp_error *error)
{
    const pp_keyframe *of = (const pp_keyframe *)b->keyframes.items + keyframe;
    const pp_body *body = b->bodies.items;
    const pp_joint *joint = b->joints.items;
    const pp_keyframe_joint *item = b->keyframe_joints.items;
    const pp_keyframe_body *place = b->keyframe_bodies.items;
    for (int i = 0; i < b->bodies.count; i++) {
        set[i] = body[i].nv == 0 ? 0 : i;
        given[i] = -1;
    }
    int end = items_before(&b->keyframe_joints, sizeof *item, keyframe + 1);
    for (int i = items_before(&b->keyframe_joints, sizeof *item, keyframe); i < end; i++) {
        const pp_joint *j = &joint[item[i].joint];
        if (!connect(set, j->a, j->b)) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "keyframe '%s': joint '%s' closes a loop of the joints before it; leave "
                           "it out, as its coordinate follows from theirs",
                           of->name, j->name);
        }
    }
    // welds have no coordinates, but their bodies move together
    for (int i = 0; i < b->joints.count; i++) {
        int nq, nv;
        unsigned angles;
        pp_joint_carries(b->spatial, joint[i].kind, &nq, &nv, &angles);
        if (nv > 0 || joint[i].kind == PERP_JOINT_WELD) {
            (void)connect(set, joint[i].a, joint[i].b);
        }
    }
    end = items_before(&b->keyframe_bodies, sizeof *place, keyframe + 1);
    for (int i = items_before(&b->keyframe_bodies, sizeof *place, keyframe); i < end; i++) {
        int at = set_of(set, place[i].body);
        const char *name = body[place[i].body].name;
        if (at == 0) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "keyframe '%s': joints connect body '%s' to a body that is not free; "
                           "give the coordinates of the joints",
                           of->name, name);
        }
        if (given[at] >= 0) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "keyframe '%s': joints connect the bodies '%s' and '%s'; give the pose "
                           "of one and the coordinates of the joints",
                           of->name, body[given[at]].name, name);
        }
        given[at] = place[i].body;
    }
    return PERP_OK;
}

// Scratch of its own, as the builder is not changed.
perp_status pp_builder_keyframe_status(const perp_builder *builder, perp_keyframe keyframe,
                                       perp_error *error)
{
    pp_arena *arena = pp_arena_create(&builder->env);
    int *set = arena ? PP_ARRAY(arena, int, 2 * (size_t)builder->bodies.count) : NULL;
    perp_status status =
        set ? check_keyframe(builder, keyframe.i, set, set + builder->bodies.count, error)
            : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    pp_arena_destroy(arena);
    return status;
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────

// false: no memory.
static bool copy_list(pp_arena *arena, const pp_list *list, size_t size, void *to)
{
    void *copy = pp_arena_array(arena, (size_t)list->count, size);
    if (copy && list->count > 0) {
        memcpy(copy, list->items, (size_t)list->count * size);
    }
    memcpy(to, &copy, sizeof copy);
    return copy != NULL;
}

// Positions become those of the centres of mass, as at the start (recenter in model.c).
static void center_bodies(perp_model *m)
{
    for (int i = 0; i < m->keyframe_bodies; i++) {
        pp_keyframe_body *at = &m->keyframe_body[i];
        pp_mat3 R = pp_quat_matrix(at->rot);
        if (m->spatial) {
            at->p = pp_add(at->p, pp_mul(&R, m->body[at->body].center));
        }
    }
}

perp_status pp_model_set_keyframes(perp_model *m, const perp_builder *b, perp_error *error)
{
    m->keyframes = b->keyframes.count;
    m->keyframe_joints = b->keyframe_joints.count;
    m->keyframe_bodies = b->keyframe_bodies.count;
    m->keyframe_inputs = b->keyframe_inputs.count;
    bool ok =
        copy_list(m->arena, &b->keyframes, sizeof *m->keyframe, &m->keyframe) &&
        copy_list(m->arena, &b->keyframe_joints, sizeof *m->keyframe_joint, &m->keyframe_joint) &&
        copy_list(m->arena, &b->keyframe_bodies, sizeof *m->keyframe_body, &m->keyframe_body) &&
        copy_list(m->arena, &b->keyframe_inputs, sizeof *m->keyframe_input, &m->keyframe_input);
    if (!ok) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    // names belong to the builder so far
    for (int i = 0; i < m->keyframes; i++) {
        size_t size = strlen(m->keyframe[i].name) + 1;
        char *name = PP_ARRAY(m->arena, char, size);
        if (!name) {
            return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
        }
        m->keyframe[i].name = memcpy(name, m->keyframe[i].name, size);
    }
    for (int i = 0; i < m->keyframes; i++) {
        perp_status status = pp_builder_keyframe_status(b, (perp_keyframe){i}, error);
        if (status < 0) {
            return status;
        }
    }
    center_bodies(m);
    return PERP_OK;
}

int perp_model_keyframes(const perp_model *model)
{
    return model ? model->keyframes : 0;
}

perp_keyframe perp_model_keyframe(const perp_model *model, const char *name)
{
    int count = model && name ? model->keyframes : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(model->keyframe[i].name, name) == 0) {
            return (perp_keyframe){i};
        }
    }
    return (perp_keyframe){-1};
}

const char *perp_model_keyframe_name(const perp_model *model, perp_keyframe keyframe)
{
    bool exists = model && keyframe.i >= 0 && keyframe.i < model->keyframes;
    return exists ? model->keyframe[keyframe.i].name : "";
}
