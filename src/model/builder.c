// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder: lists of checked objects.
//
// Every object is checked and converted when it is added, so that an error can name it and the
// field. A builder keeps its first error and ignores everything after it; a caller may add without
// checking and ask once at the end. Handles are indices, and stay valid in the model.
#include "model/builder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Body 0 is the ground. Gravity is along -y, which is down in the plane; a spatial model makes it
// -z.
perp_builder *perp_builder_create(const perp_env *env)
{
    perp_builder *b = pp_alloc(env, sizeof *b);
    if (!b) {
        return NULL;
    }
    *b = (perp_builder){.env = env ? *env : (perp_env){0}, .gravity = {0.0, -9.81, 0.0}};
    b->arena = pp_arena_create(env);
    if (!b->arena) {
        pp_free(env, b, sizeof *b);
        return NULL;
    }
    perp_body_def ground = perp_body_default();
    ground.name = "ground";
    ground.motion = PERP_MOTION_STATIC;
    perp_builder_add_body(b, &ground);
    return b;
}

// NULL is allowed.
void perp_builder_destroy(perp_builder *builder)
{
    if (builder) {
        perp_env env = builder->env;
        pp_arena_destroy(builder->arena);
        pp_free(&env, builder, sizeof *builder);
    }
}

// A builder that could not be allocated reports that here, so that its creation need not be
// checked.
perp_status perp_builder_status(const perp_builder *builder, perp_error *error)
{
    if (!builder) {
        return pp_fail(error, PERP_ERR_MEMORY, "builder is NULL: allocation failed");
    }
    if (error && builder->error.status < 0) {
        *error = builder->error;
    }
    return builder->error.status;
}

// Keeps the first reason only: later ones often follow from it.
bool pp_builder_bad(perp_builder *b, perp_status status, const char *format, ...)
{
    if (b->error.status == PERP_OK) {
        va_list list;
        va_start(list, format);
        b->error.status = status;
        if (vsnprintf(b->error.text, sizeof b->error.text, format, list) < 0) {
            b->error.text[0] = '\0';
        }
        va_end(list);
    }
    return false;
}

// Pointers to items are invalid after this: a full list moves.
void *pp_builder_grow(perp_builder *b, pp_list *list, size_t size)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 16;
        char *items = pp_arena_zeros(b->arena, (size_t)capacity, size);
        if (!items) {
            pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
            return NULL;
        }
        if (list->count > 0) {
            memcpy(items, list->items, (size_t)list->count * size);
        }
        list->items = items;
        list->capacity = capacity;
    }
    return (char *)list->items + (size_t)list->count++ * size;
}

// Failure shows as NULL with the error set; NULL for an empty text does not set it.
const char *pp_builder_text(perp_builder *b, const char *text)
{
    if (!text || !text[0]) {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = PP_ARRAY(b->arena, char, size);
    if (!copy) {
        pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
        return NULL;
    }
    memcpy(copy, text, size);
    return copy;
}

// Orders that kinematics/ and certify/ fill. In space qx, qy, qz are the vector part of the
// quaternion.
const char *const pp_planar_variables[PP_PLANAR_VARS] = {"t",  "x",  "y",    "angle",
                                                         "vx", "vy", "omega"};
const char *const pp_spatial_variables[PP_SPATIAL_VARS] = {"t",  "x",  "y",  "z",  "vx", "vy", "vz",
                                                           "wx", "wy", "wz", "qx", "qy", "qz"};

// Messages name the object, the field and the column in the text.
bool pp_builder_expr_in(perp_builder *b, const char *object, const char *field, const char *text,
                        const pp_expr_names *scope, const pp_expr **expr)
{
    pp_expr_error error;
    *expr = NULL;
    if (!text) {
        return true;
    }
    perp_status status = pp_expr_parse_with(text, scope, b->arena, expr, NULL, &error);
    if (status == PERP_ERR_MEMORY) {
        return pp_builder_bad(b, status, "allocation failed");
    }
    if (status < 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "%s: %s \"%.40s\", column %d: %s", object, field,
                              text, error.column, error.text);
    }
    return true;
}

bool pp_builder_expr(perp_builder *b, const char *object, const char *field, const char *text,
                     int count, const pp_expr **expr)
{
    const pp_expr_names scope = {
        .variable = b->spatial ? pp_spatial_variables : pp_planar_variables, .variables = count};
    return pp_builder_expr_in(b, object, field, text, &scope, expr);
}

bool pp_builder_expr_of_inputs(perp_builder *b, const char *object, const char *field,
                               const char *text, int count, const pp_expr **expr)
{
    const pp_expr_names scope = {.variable =
                                     b->spatial ? pp_spatial_variables : pp_planar_variables,
                                 .variables = count,
                                 .input = b->input_names.items,
                                 .inputs = b->inputs.count};
    return pp_builder_expr_in(b, object, field, text, &scope, expr);
}

// Every kind of object has its name as first member.
static const char *name_at(const pp_list *list, size_t size, int i)
{
    const char *name;
    memcpy(&name, (const char *)list->items + (size_t)i * size, sizeof name);
    return name;
}

// The slot of a name, or the free one where it would go: linear probing.
static int *name_slot(const pp_list *list, size_t size, const char *name)
{
    size_t mask = (size_t)list->slots - 1;
    size_t at = (size_t)pp_hash(0, name, strlen(name)) & mask;
    while (list->slot[at] > 0 && strcmp(name_at(list, size, list->slot[at] - 1), name) != 0) {
        at = (at + 1) & mask;
    }
    return &list->slot[at];
}

// At least twice as many slots as names. A larger table is filled anew.
static bool grow_slots(perp_builder *b, pp_list *list, size_t size, int names)
{
    if (list->slots >= 2 * (names + 1)) {
        return true;
    }
    int slots = list->slots ? 2 * list->slots : 32;
    int *slot = PP_ZEROS(b->arena, int, slots);
    if (!slot) {
        return pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
    }
    list->slot = slot;
    list->slots = slots;
    for (int i = 0; i < names; i++) {
        *name_slot(list, size, name_at(list, size, i)) = i + 1;
    }
    return true;
}

// A copy of the name, or "body3" where none is given. The hash table keeps the construction of
// large models linear.
bool pp_builder_name(perp_builder *b, const char *what, const char **name, int index, pp_list *list,
                     size_t size)
{
    char made[32];
    const char *copy = pp_builder_text(b, *name);
    if (!copy && b->error.status == PERP_OK) {
        pp_print(made, sizeof made, "%s%d", what, index);
        copy = pp_builder_text(b, made);
    }
    if (!copy || !grow_slots(b, list, size, index)) {
        return false;
    }
    int *slot = name_slot(list, size, copy);
    if (*slot > 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "%s '%s': the name is already used; choose another", what, copy);
    }
    *slot = index + 1;
    *name = copy;
    return true;
}

// The default depends on the dimension, so that a given gravity is remembered as such.
void perp_builder_set_gravity(perp_builder *builder, perp_vec3 gravity_W)
{
    if (builder && !pp_finite3(gravity_W)) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "gravity is not finite");
    } else if (builder) {
        builder->gravity = gravity_W;
        builder->gravity_given = true;
    }
}

// Nothing is detected then: contacts are those that are listed.
void perp_builder_set_listed_only(perp_builder *builder, bool listed_only)
{
    if (builder) {
        builder->listed_only = listed_only;
    }
}

// Removes the last item where its conversion failed; returns its index or -1.
int pp_builder_keep(pp_list *list, bool ok)
{
    if (!ok) {
        list->count--;
        return -1;
    }
    return list->count - 1;
}

// The first body after the ground decides between plane and space.
perp_body perp_builder_add_body(perp_builder *builder, const perp_body_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_BODY_COOKIE, "body")) {
        return (perp_body){-1};
    }
    pp_body *body = pp_builder_grow(builder, &builder->bodies, sizeof *body);
    if (!body) {
        return (perp_body){-1};
    }
    *body = (pp_body){.name = def->name};
    bool ok = pp_builder_name(builder, "body", &body->name, builder->bodies.count - 1,
                              &builder->bodies, sizeof *body) &&
              pp_convert_body(builder, def, body) && pp_builder_keep_def(builder, PP_DEF_BODY, def);
    return (perp_body){pp_builder_keep(&builder->bodies, ok)};
}

// The shapes of a body are a linked list in order of creation; the newest is the last.
static void tie_shape(const perp_builder *b, int body)
{
    pp_shape *shape = b->shapes.items;
    pp_body *owner = (pp_body *)b->bodies.items + body;
    if (owner->first_shape == 0) {
        owner->first_shape = b->shapes.count;
    } else {
        shape[owner->last_shape - 1].next = b->shapes.count;
    }
    owner->last_shape = b->shapes.count;
}

// Shapes and densities are two lists of the same length: a shape that fails is removed from both.
perp_shape perp_builder_add_shape(perp_builder *builder, perp_body body, const perp_shape_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_SHAPE_COOKIE, "shape")) {
        return (perp_shape){-1};
    }
    if (body.i < 0 || body.i >= builder->bodies.count) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "shape '%s': body %d does not exist",
                       def->name ? def->name : "", body.i);
        return (perp_shape){-1};
    }
    // Both lists grow before anything is converted, so that they stay of the same length.
    pp_shape *shape = pp_builder_grow(builder, &builder->shapes, sizeof *shape);
    double *density = pp_builder_grow(builder, &builder->densities, sizeof *density);
    if (!shape || !density) {
        return (perp_shape){-1};
    }
    *shape = (pp_shape){.name = def->name};
    *density = def->density;
    bool ok = pp_builder_name(builder, "shape", &shape->name, builder->shapes.count - 1,
                              &builder->shapes, sizeof *shape) &&
              pp_convert_shape(builder, body.i, def, shape) &&
              pp_builder_keep_def(builder, PP_DEF_SHAPE, def);
    if (!ok) {  // pp_builder_keep() removes the shape itself
        builder->densities.count--;
    } else {
        tie_shape(builder, body.i);
    }
    return (perp_shape){pp_builder_keep(&builder->shapes, ok)};
}

// Visuals are shapes in a list of their own, which nothing but pictures looks at.
perp_visual perp_builder_add_visual(perp_builder *builder, perp_body body,
                                    const perp_shape_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_SHAPE_COOKIE, "shape")) {
        return (perp_visual){-1};
    }
    if (body.i < 0 || body.i >= builder->bodies.count) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "visual '%s': body %d does not exist",
                       def->name ? def->name : "", body.i);
        return (perp_visual){-1};
    }
    // What contacts and masses need is left at its default: it has no meaning here.
    perp_shape_def plain = perp_shape_default();
    plain.name = def->name;
    plain.kind = def->kind;
    plain.position_B = def->position_B;
    plain.angle = def->angle;
    plain.rotation_BS = def->rotation_BS;
    plain.radius = def->radius;
    plain.half = def->half;
    plain.vertices_S = def->vertices_S;
    plain.vertex_count = def->vertex_count;
    plain.triangles = def->triangles;
    plain.triangle_count = def->triangle_count;
    plain.heights = def->heights;
    plain.grid_x = def->grid_x;
    plain.grid_y = def->grid_y;
    plain.colour = def->colour;
    pp_shape *visual = pp_builder_grow(builder, &builder->visuals, sizeof *visual);
    if (!visual) {
        return (perp_visual){-1};
    }
    *visual = (pp_shape){.name = def->name, .visual = true};
    bool ok = pp_builder_name(builder, "visual", &visual->name, builder->visuals.count - 1,
                              &builder->visuals, sizeof *visual) &&
              pp_convert_shape(builder, body.i, &plain, visual) &&
              pp_builder_keep_def(builder, PP_DEF_VISUAL, &plain);
    return (perp_visual){pp_builder_keep(&builder->visuals, ok)};
}

// Two different shapes of different bodies.
static bool shapes_exist(perp_builder *b, perp_shape a, perp_shape c, const char *what)
{
    int count = b->shapes.count;
    if (a.i < 0 || a.i >= count || c.i < 0 || c.i >= count || a.i == c.i) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "%s: needs two shapes, got %d and %d", what, a.i,
                              c.i);
    }
    const pp_shape *shape = b->shapes.items;
    if (shape[a.i].body == shape[c.i].body) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "%s: '%s' and '%s' belong to the same body", what,
                              shape[a.i].name, shape[c.i].name);
    }
    return true;
}

// 0 leaves it to the scene; a polygon has at least three corners.
bool pp_builder_facets(int facets)
{
    return facets == 0 || (facets >= 3 && facets <= 256);
}

// The last rule for a pair wins (sort_pairs in model.c).
void perp_builder_add_pair(perp_builder *builder, const perp_pair_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_PAIR_COOKIE, "pair") ||
        !shapes_exist(builder, def->a, def->b, "pair")) {
        return;
    }
    if (!(def->mu >= 0.0) || !isfinite(def->mu) || !(def->restitution >= 0.0) ||
        !(def->restitution <= 1.0)) {
        pp_builder_bad(builder, PERP_ERR_MODEL,
                       "pair: mu must be >= 0 and restitution between 0 and 1");
        return;
    }
    if (!isfinite(def->mu_2) || !(def->mu_spin >= 0.0) || !isfinite(def->mu_spin) ||
        !(def->mu_roll >= 0.0) || !isfinite(def->mu_roll) || !pp_builder_facets(def->facets) ||
        !pp_finite3(def->tangent_A)) {
        pp_builder_bad(builder, PERP_ERR_MODEL,
                       "pair: mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256");
        return;
    }
    pp_pair_rule *pair = pp_builder_grow(builder, &builder->pairs, sizeof *pair);
    if (pair) {
        // Stored with the smaller index first; `turned` keeps the frame of tangent_A.
        int low = def->a.i < def->b.i ? def->a.i : def->b.i;
        *pair = (pp_pair_rule){.a = low,
                               .b = def->a.i + def->b.i - low,
                               .mu = def->mu,
                               .restitution = def->restitution,
                               .ignore = def->ignore,
                               .given = true,
                               .mu_2 = def->mu_2,
                               .mu_spin = def->mu_spin,
                               .mu_roll = def->mu_roll,
                               .facets = def->facets,
                               .tangent_A = def->tangent_A,
                               .turned = def->a.i != low};
        pp_builder_keep_def(builder, PP_DEF_PAIR, def);
    }
}

// Both orders are the same pair.
void perp_builder_add_exclusion(perp_builder *builder, perp_body a, perp_body b)
{
    if (!builder || builder->error.status < 0) {
        return;
    }
    int count = builder->bodies.count;
    if (a.i < 0 || a.i >= count || b.i < 0 || b.i >= count || a.i == b.i) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "exclusion: needs two bodies, got %d and %d", a.i,
                       b.i);
        return;
    }
    pp_body_pair *pair = pp_builder_grow(builder, &builder->exclusions, sizeof *pair);
    if (pair) {
        *pair = (pp_body_pair){a.i < b.i ? a.i : b.i, a.i < b.i ? b.i : a.i};
    }
}

// A listed contact is in every problem, whatever the distance of its shapes and their `detect`.
void perp_builder_add_contact(perp_builder *builder, const perp_contact_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_CONTACT_COOKIE, "contact") ||
        !shapes_exist(builder, def->a, def->b, "contact")) {
        return;
    }
    // Points and half-spaces of the same kind have no distance to measure.
    const pp_shape *shape = builder->shapes.items;
    perp_shape_kind kind = shape[def->a.i].kind;
    if (kind == shape[def->b.i].kind && (kind == PERP_SHAPE_POINT || kind == PERP_SHAPE_HALFPLANE ||
                                         kind == PERP_SHAPE_HALFSPACE)) {
        const char *both = "points";
        if (kind != PERP_SHAPE_POINT) {
            both = kind == PERP_SHAPE_HALFPLANE ? "half-planes" : "half-spaces";
        }
        pp_builder_bad(builder, PERP_ERR_MODEL, "contact '%s': two %s cannot touch",
                       def->name ? def->name : "", both);
        return;
    }
    // Negative coefficients stand for those of the shapes.
    if (!isfinite(def->mu) || !(def->restitution <= 1.0) || !isfinite(def->mu_2) ||
        !isfinite(def->mu_spin) || !isfinite(def->mu_roll) || !pp_finite3(def->tangent_A) ||
        (def->facets >= 0 && !pp_builder_facets(def->facets))) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "contact '%s': mu or restitution out of range",
                       def->name ? def->name : "");
        return;
    }
    pp_listed *contact = pp_builder_grow(builder, &builder->contacts, sizeof *contact);
    if (contact) {
        *contact = (pp_listed){.name = def->name,
                               .a = def->a.i,
                               .b = def->b.i,
                               .mu = def->mu,
                               .restitution = def->restitution,
                               .mu_2 = def->mu_2,
                               .mu_spin = def->mu_spin,
                               .mu_roll = def->mu_roll,
                               .facets = def->facets,
                               .tangent_A = def->tangent_A};
        pp_builder_name(builder, "contact", &contact->name, builder->contacts.count - 1,
                        &builder->contacts, sizeof *contact);
        pp_builder_keep_def(builder, PP_DEF_CONTACT, def);
    }
}

// Bodies and joints that it refers to must exist already.
perp_joint perp_builder_add_joint(perp_builder *builder, const perp_joint_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_JOINT_COOKIE, "joint")) {
        return (perp_joint){-1};
    }
    pp_joint *joint = pp_builder_grow(builder, &builder->joints, sizeof *joint);
    if (!joint) {
        return (perp_joint){-1};
    }
    *joint = (pp_joint){.name = def->name};
    bool ok = pp_builder_name(builder, "joint", &joint->name, builder->joints.count - 1,
                              &builder->joints, sizeof *joint) &&
              pp_convert_joint(builder, def, joint) &&
              pp_builder_keep_def(builder, PP_DEF_JOINT, def);
    return (perp_joint){pp_builder_keep(&builder->joints, ok)};
}

// Errors of expressions are reported with their column.
perp_force perp_builder_add_force(perp_builder *builder, const perp_force_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_FORCE_COOKIE, "force")) {
        return (perp_force){-1};
    }
    pp_force *force = pp_builder_grow(builder, &builder->forces, sizeof *force);
    if (!force) {
        return (perp_force){-1};
    }
    *force = (pp_force){.name = def->name};
    bool ok = pp_builder_name(builder, "force", &force->name, builder->forces.count - 1,
                              &builder->forces, sizeof *force) &&
              pp_convert_force(builder, def, force) &&
              pp_builder_keep_def(builder, PP_DEF_FORCE, def);
    return (perp_force){pp_builder_keep(&builder->forces, ok)};
}
