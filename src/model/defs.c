// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Definitions as they were given, with copies of their texts and arrays: a model is written to a scene file from them
// (scene/write.c), so that it is read back to the last bit.
#include "model/builder.h"

#include <string.h>

#define AT(type, member) offsetof(type, member)

enum { TEXTS = 8 };

// Size of a definition, and where it has texts.
typedef struct def_card {
    size_t size;
    int texts;
    size_t text[TEXTS];
} def_card;

// In the order of pp_def_kind.
static const def_card cards[PP_DEF_KINDS] = {
    {sizeof(perp_body_def),
     7,
     {AT(perp_body_def, name), AT(perp_body_def, motion_x), AT(perp_body_def, motion_y),
      AT(perp_body_def, motion_z), AT(perp_body_def, motion_rx), AT(perp_body_def, motion_ry),
      AT(perp_body_def, motion_angle)}},
    {sizeof(perp_shape_def),
     6,
     {AT(perp_shape_def, name), AT(perp_shape_def, surface_speed), AT(perp_shape_def, surface_x),
      AT(perp_shape_def, surface_y), AT(perp_shape_def, surface_z),
      AT(perp_shape_def, surface_spin)}},
    {sizeof(perp_pair_def), 0, {0}},
    {sizeof(perp_contact_def), 1, {AT(perp_contact_def, name)}},
    {sizeof(perp_joint_def),
     5,
     {AT(perp_joint_def, name), AT(perp_joint_def, coordinate), AT(perp_joint_def, velocity),
      AT(perp_joint_def, target), AT(perp_joint_def, rate)}},
    {sizeof(perp_force_def),
     7,
     {AT(perp_force_def, name), AT(perp_force_def, fx), AT(perp_force_def, fy),
      AT(perp_force_def, fz), AT(perp_force_def, tx), AT(perp_force_def, ty),
      AT(perp_force_def, torque)}},
    {sizeof(perp_input_def), 2, {AT(perp_input_def, name), AT(perp_input_def, unit)}},
    {sizeof(perp_actuator_def), 2, {AT(perp_actuator_def, name), AT(perp_actuator_def, control)}},
    {sizeof(perp_site_def), 1, {AT(perp_site_def, name)}},
    {sizeof(perp_sensor_def), 1, {AT(perp_sensor_def, name)}},
    {sizeof(perp_shape_def), 1, {AT(perp_shape_def, name)}},
};

static bool is_shape(pp_def_kind kind)
{
    return kind == PP_DEF_SHAPE || kind == PP_DEF_VISUAL;
}

// NULL: no memory. An array of nothing is one as well.
static void *copy_bytes(pp_arena *arena, const void *from, size_t size)
{
    char *copy = PP_ARRAY(arena, char, size + 1);
    if (copy && size > 0) {
        memcpy(copy, from, size);
    }
    return copy;
}

// Texts of one definition, in place; false: no memory.
static bool copy_texts(pp_arena *arena, const def_card *card, char *def)
{
    for (int k = 0; k < card->texts; k++) {
        const char *text;
        memcpy(&text, def + card->text[k], sizeof text);
        if (text) {
            text = copy_bytes(arena, text, strlen(text) + 1);
            memcpy(def + card->text[k], &text, sizeof text);
            if (!text) {
                return false;
            }
        }
    }
    return true;
}

// Points, triangles and heights of a shape, in place.
static bool copy_arrays(pp_arena *arena, perp_shape_def *shape)
{
    if (shape->vertices_S && shape->vertex_count > 0) {
        shape->vertices_S = copy_bytes(arena, shape->vertices_S,
                                       (size_t)shape->vertex_count * sizeof *shape->vertices_S);
        if (!shape->vertices_S) {
            return false;
        }
    }
    if (shape->triangles && shape->triangle_count > 0) {
        shape->triangles =
            copy_bytes(arena, shape->triangles, 3 * (size_t)shape->triangle_count * sizeof(int));
        if (!shape->triangles) {
            return false;
        }
    }
    if (shape->heights && shape->grid_x > 0 && shape->grid_y > 0) {
        shape->heights =
            copy_bytes(arena, shape->heights,
                       (size_t)shape->grid_x * (size_t)shape->grid_y * sizeof *shape->heights);
        return shape->heights != NULL;
    }
    return true;
}

static bool copy_inside(pp_arena *arena, pp_def_kind kind, void *def)
{
    return copy_texts(arena, &cards[kind], def) && (!is_shape(kind) || copy_arrays(arena, def));
}

// Called for objects that were converted: what a kind does not have may hold anything, arrays included.
bool pp_builder_keep_def(perp_builder *b, pp_def_kind kind, const void *def)
{
    void *item = pp_builder_grow(b, &b->defs[kind], cards[kind].size);
    if (!item) {
        return false;
    }
    memcpy(item, def, cards[kind].size);
    if (is_shape(kind)) {
        perp_shape_def *shape = item;
        bool points = shape->kind == PERP_SHAPE_POLYGON || shape->kind == PERP_SHAPE_HULL ||
                      shape->kind == PERP_SHAPE_MESH;
        shape->vertices_S = points ? shape->vertices_S : NULL;
        shape->triangles = shape->kind == PERP_SHAPE_MESH ? shape->triangles : NULL;
        shape->heights = shape->kind == PERP_SHAPE_HEIGHTFIELD ? shape->heights : NULL;
    }
    if (!copy_inside(b->arena, kind, item)) {
        b->defs[kind].count--;
        return pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
    }
    return true;
}

bool pp_model_keep_defs(perp_model *m, const perp_builder *b)
{
    for (int kind = 0; kind < PP_DEF_KINDS; kind++) {
        const pp_list *list = &b->defs[kind];
        size_t size = cards[kind].size;
        char *items = copy_bytes(m->arena, list->items, (size_t)list->count * size);
        if (!items) {
            return false;
        }
        for (int i = 0; i < list->count; i++) {
            if (!copy_inside(m->arena, (pp_def_kind)kind, items + (size_t)i * size)) {
                return false;
            }
        }
        m->def[kind] = items;
        m->defs[kind] = list->count;
    }
    // sources of inputs, which are set after them
    m->source = PP_ZEROS(m->arena, const char *, m->inputs);
    const char *const *source = b->sources.items;
    if (!m->source) {
        return false;
    }
    for (int i = 0; i < b->sources.count; i++) {
        if (source[i]) {
            m->source[i] = copy_bytes(m->arena, source[i], strlen(source[i]) + 1);
            if (!m->source[i]) {
                return false;
            }
        }
    }
    return true;
}
