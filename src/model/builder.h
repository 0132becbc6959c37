// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to model/: the growing lists behind a builder.
#pragma once

#include "model/model.h"

#define PP_BODY_COOKIE    0x70420001u
#define PP_SHAPE_COOKIE   0x70530001u
#define PP_PAIR_COOKIE    0x70500001u
#define PP_CONTACT_COOKIE 0x70430101u
#define PP_JOINT_COOKIE   0x704A0001u
#define PP_FORCE_COOKIE   0x70460001u

// A list that doubles; old blocks stay in the arena until the builder goes.
typedef struct pp_list {
    void *items;
    int count, capacity;
    int *slot;  // names, hashed: 1 + index of the item, 0: free
    int slots;  // a power of two
} pp_list;

struct perp_builder {
    perp_env env;
    pp_arena *arena;
    perp_error error;  // the first one
    perp_vec3 gravity;
    bool gravity_given;
    bool listed_only;
    bool planar, spatial;                                     // a body of this kind was added
    pp_list bodies, shapes, pairs, contacts, joints, forces;  // of pp_body, pp_shape, …
    pp_list densities;                                        // of double, one a shape
};

// Room for one more item of the given size, zeroed; NULL when memory is out (and the error set).
void *pp_builder_grow(perp_builder *b, pp_list *list, size_t size);
// A copy of the text in the builder's arena; NULL for NULL or "".
const char *pp_builder_text(perp_builder *b, const char *text);
// Records the first error; returns false always, so that `return pp_builder_bad(…)` reads well.
bool pp_builder_bad(perp_builder *b, perp_status status, const char *format, ...) PP_FORMAT(3, 4);
// Parses text (NULL stays NULL) as an expression of the first `count` variables.
bool pp_builder_expr(perp_builder *b, const char *object, const char *field, const char *text,
                     int count, const pp_expr **expr);
// True when the name is new among those given; says so otherwise.
bool pp_builder_name(perp_builder *b, const char *what, const char **name, int index, pp_list *list,
                     size_t size);

// Checks and conversions, one file a kind of object.
bool pp_convert_body(perp_builder *b, const perp_body_def *def, pp_body *body);
bool pp_convert_shape(perp_builder *b, int body, const perp_shape_def *def, pp_shape *shape);
bool pp_convert_joint(perp_builder *b, const perp_joint_def *def, pp_joint *joint);
bool pp_convert_force(perp_builder *b, const perp_force_def *def, pp_force *force);

bool pp_kind_in_plane(perp_shape_kind kind);
bool pp_kind_in_space(perp_shape_kind kind);
bool pp_convert_solid(perp_builder *b, const perp_shape_def *def, pp_shape *shape);
bool pp_convert_joint_axes(perp_builder *b, const perp_joint_def *def, pp_joint *joint);
bool pp_builder_facets(int facets);  // 0, or as many directions as a polygon may have

// Mass and inertia of a free body from what was given and its shapes; moves the frame of a body that asks
// for it to its centre of mass.
perp_status pp_mass_properties_planar(const perp_builder *b, int i, pp_body *body,
                                      perp_error *error);
perp_status pp_mass_properties_spatial(const perp_builder *b, int i, pp_body *body,
                                       perp_error *error);

// Who may meet whom, of a model that has all else; false: out of memory.
bool pp_model_set_exclusions(perp_model *m);

// Area [m^2], centroid and second moment about it [m^4] of a shape; false for one without area.
bool pp_shape_area(const pp_shape *shape, double *area, pp_vec2 *centroid, double *moment);
