// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to model/: the growing lists of a builder, and the functions that fill them.
#pragma once

#include "model/model.h"

// Each definition carries the cookie of its _default() function: one that was not initialised, or
// comes from another version, is refused.
#define PP_BODY_COOKIE     0x70420002u
#define PP_SHAPE_COOKIE    0x70530003u
#define PP_PAIR_COOKIE     0x70500001u
#define PP_CONTACT_COOKIE  0x70430101u
#define PP_JOINT_COOKIE    0x704A0001u
#define PP_FORCE_COOKIE    0x70460001u
#define PP_INPUT_COOKIE    0x70550001u
#define PP_ACTUATOR_COOKIE 0x70410001u
#define PP_SITE_COOKIE     0x70490001u
#define PP_SENSOR_COOKIE   0x70450001u

// A list that doubles when it is full; old blocks stay in the arena until the builder is freed.
typedef struct pp_list {
    void *items;
    int count, capacity;
    int *slot;  // names, hashed: 1 + index of the item, 0: free
    int slots;  // a power of two
} pp_list;

// Objects are stored in their final form, so that a model is a copy of these lists.
struct perp_builder {
    perp_env env;
    pp_arena *arena;
    perp_error error;  // the first one
    // Gravity that was not given depends on whether the model is planar or spatial, which the first
    // body after the ground decides.
    perp_vec3 gravity;
    bool gravity_given;
    bool listed_only;
    bool planar, spatial;                                     // a body of this kind was added
    pp_list bodies, shapes, pairs, contacts, joints, forces;  // of pp_body, pp_shape, …
    pp_list inputs, actuators, sites, sensors;
    pp_list visuals;             // of pp_shape
    pp_list input_names;         // of const char *, one an input, for expressions
    pp_list densities;           // of double, one a shape
    pp_list exclusions;          // of pp_body_pair
    pp_list defs[PP_DEF_KINDS];  // of perp_body_def, perp_shape_def, …
    pp_list sources;             // of const char *, one an input
    pp_list keyframes, keyframe_joints, keyframe_bodies, keyframe_inputs;
};

// Room for one more item of the given size, zeroed; NULL without memory, with the error set.
void *pp_builder_grow(perp_builder *b, pp_list *list, size_t size);
// A copy of the text in the builder's arena; NULL for NULL and "".
const char *pp_builder_text(perp_builder *b, const char *text);
// Records the first error. Always returns false, to be returned by the caller.
bool pp_builder_bad(perp_builder *b, perp_status status, const char *format, ...) PP_FORMAT(3, 4);
// Parses a text as an expression of the first `count` variables; NULL stays NULL.
bool pp_builder_expr(perp_builder *b, const char *object, const char *field, const char *text,
                     int count, const pp_expr **expr);
// The same with names of its own.
bool pp_builder_expr_in(perp_builder *b, const char *object, const char *field, const char *text,
                        const pp_expr_names *scope, const pp_expr **expr);
// The same of an expression that may also use the inputs added so far.
bool pp_builder_expr_of_inputs(perp_builder *b, const char *object, const char *field,
                               const char *text, int count, const pp_expr **expr);
// Whether an object may be added. A builder that has failed ignores what follows; the cookie shows
// that the definition was initialised by its _default(). Here, so that the analyser sees that a
// definition is not NULL.
static inline bool pp_builder_usable(perp_builder *b, const void *def, uint32_t cookie,
                                     uint32_t expected, const char *what)
{
    if (!b || b->error.status < 0) {
        return false;
    }
    if (!def || cookie != expected) {
        pp_builder_bad(b, PERP_ERR_DEF, "%s: initialise the definition with perp_%s_default()",
                       what, what);
        return false;
    }
    return true;
}
// Removes the last item where its conversion failed; returns its index or -1.
int pp_builder_keep(pp_list *list, bool ok);
// Replaces *name by a copy, or by a generated one, and enters it; false where it is taken.
bool pp_builder_name(perp_builder *b, const char *what, const char **name, int index, pp_list *list,
                     size_t size);

// Checks of definitions and their conversion; false: the error is set.
bool pp_convert_body(perp_builder *b, const perp_body_def *def, pp_body *body);
bool pp_convert_shape(perp_builder *b, int body, const perp_shape_def *def, pp_shape *shape);
bool pp_convert_joint(perp_builder *b, const perp_joint_def *def, pp_joint *joint);
bool pp_convert_coupling(perp_builder *b, const perp_joint_def *def, pp_joint *coupling);
bool pp_convert_force(perp_builder *b, const perp_force_def *def, pp_force *force);

// Kinds of shape that exist in the plane, and in space; some do in both.
bool pp_kind_in_plane(perp_shape_kind kind);
bool pp_kind_in_space(perp_shape_kind kind);
bool pp_convert_solid(perp_builder *b, const perp_shape_def *def, pp_shape *shape);
bool pp_convert_joint_axes(perp_builder *b, const perp_joint_def *def, pp_joint *joint);
bool pp_builder_colour(int32_t colour);  // 0xRRGGBB or -1
bool pp_builder_facets(int facets);      // 0, or as many directions as a polygon may have

// Mass and inertia of a free body, as given or from its shapes. Finds the centre of mass to which
// the frame of a body with `recenter` is moved.
perp_status pp_mass_properties_planar(const perp_builder *b, int i, pp_body *body,
                                      perp_error *error);
perp_status pp_mass_properties_spatial(const perp_builder *b, int i, pp_body *body,
                                       perp_error *error);

// Keeps a copy of the definition of an object that was added; false: no memory, with the error set.
bool pp_builder_keep_def(perp_builder *b, pp_def_kind kind, const void *def);
bool pp_model_keep_defs(perp_model *m, const perp_builder *b);  // false: no memory
// gravity_most of a model with gravity.
void pp_model_set_gravity_most(perp_model *m);
// Copies the keyframes of a builder into a model whose bodies have their masses.
perp_status pp_model_set_keyframes(perp_model *m, const perp_builder *b, perp_error *error);
// Gains of the actuators with a damping ratio, in a model whose bodies have their masses.
perp_status pp_model_set_damping(perp_model *m, perp_error *error);
// Poses of sites and sizes of sensors, in a model that is known to be planar or spatial.
void pp_model_set_sensors(perp_model *m);
// Coefficients of a contact between two shapes that no rule mentions.
pp_pair_rule pp_shapes_combine(const pp_shape *a, const pp_shape *b);

// Which shapes may meet, in a model that is complete otherwise; false: no memory.
bool pp_model_set_exclusions(perp_model *m);

// Area [m^2], centroid [m] and polar second moment about it [m^4] of a planar shape; false without
// area.
bool pp_shape_area(const pp_shape *shape, double *area, pp_vec2 *centroid, double *moment);
