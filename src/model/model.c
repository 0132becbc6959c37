// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Freezing a builder into a model, and questions about it.
//
// The objects of the builder are in their final form already. Freezing copies them into one arena,
// with everything they point to, numbers the unknowns, weighs the bodies, and finds which shapes
// may collide. The builder may be freed or continued after that.
#include "model/builder.h"

#include <math.h>
#include <string.h>

// ── Mass ─────────────────────────────────────────────────────────────────────────────────────────

// Only free bodies are weighed: others need no mass.
static perp_status set_body_mass(const perp_builder *b, int i, pp_body *body, perp_error *error)
{
    if (body->massless) {
        return body->first_shape == 0
                   ? PERP_OK
                   : pp_fail(
                         error, PERP_ERR_MODEL,
                         "body '%s': a massless body has no shapes; give them to a body with mass",
                         body->name);
    }
    return pp_body_is_spatial(body) ? pp_mass_properties_spatial(b, i, body, error)
                                    : pp_mass_properties_planar(b, i, body, error);
}

// The body is copied: asking does not change the builder.
perp_status pp_builder_mass_properties(const perp_builder *builder, perp_body body,
                                       perp_error *error)
{
    const pp_body *bodies = builder->bodies.items;
    pp_body copy = bodies[body.i];
    return copy.nv > 0 ? set_body_mass(builder, body.i, &copy, error) : PERP_OK;
}

// Moves the frame of a body to its centre of mass: shapes and anchors are expressed relative to it,
// and the body starts where its centre of mass is.
static void recenter(perp_model *m, int i)
{
    pp_body *body = &m->body[i];
    perp_vec3 c = body->center;
    pp_mat3 R = pp_quat_matrix(body->rot0);
    if (c.x == 0.0 && c.y == 0.0 && c.z == 0.0) {
        return;
    }
    // The origin moves by c, in body axes; everything fixed to the body moves by -c relative to it.
    body->p0 = pp_add(body->p0, pp_mul(&R, c));
    for (int k = body->first_shape - 1; k >= 0; k = m->shape[k].next - 1) {
        m->shape[k].X_BS.p = pp_sub(m->shape[k].X_BS.p, c);
    }
    for (int k = 0; k < m->visuals; k++) {
        if (m->visual[k].body == i) {
            m->visual[k].X_BS.p = pp_sub(m->visual[k].X_BS.p, c);
        }
    }
    for (int k = 0; k < m->joints; k++) {
        pp_joint *joint = &m->joint[k];
        if (joint->a == i) {
            joint->r_A = pp_sub(joint->r_A, c);
        }
        if (joint->b == i) {
            joint->r_B = pp_sub(joint->r_B, c);
        }
    }
    for (int k = 0; k < m->forces; k++) {
        pp_force *force = &m->force[k];
        if (force->a == i) {
            force->r_A = pp_sub(force->r_A, c);
        }
        if (force->b == i) {
            force->r_B = pp_sub(force->r_B, c);
        }
    }
    for (int k = 0; k < m->sites; k++) {
        if (m->site[k].body == i) {
            m->site[k].X_BS.p = pp_sub(m->site[k].X_BS.p, c);
        }
    }
}

// ── Copies ───────────────────────────────────────────────────────────────────────────────────────

// Copies into the model's arena; a failure is remembered, so that callers need not check each copy.
typedef struct copier {
    pp_arena *arena;
    bool failed;
} copier;

// Count 0 gives a pointer that is not NULL.
static void *copy_items(copier *c, const void *items, int count, size_t size)
{
    void *copy = pp_arena_array(c->arena, (size_t)count, size);
    if (!copy) {
        c->failed = true;
    } else if (count > 0) {
        memcpy(copy, items, (size_t)count * size);
    }
    return copy;
}

static void copy_text(copier *c, const char **text)
{
    if (*text) {
        *text = copy_items(c, *text, (int)strlen(*text) + 1, 1);
    }
}

// A missing expression stays missing.
static void copy_expr(copier *c, const pp_expr **expr)
{
    if (*expr) {
        *expr = pp_expr_copy(*expr, c->arena);
        c->failed = c->failed || !*expr;
    }
}

// Arrays, texts and expressions of a shape.
static void copy_shape(copier *c, pp_shape *shape)
{
    copy_text(c, &shape->name);
    copy_expr(c, &shape->surface_speed);
    for (int k = 0; k < 4; k++) {
        copy_expr(c, &shape->surface[k]);
    }
    if (shape->solid.hull) {
        shape->solid.hull = pp_hull_copy(shape->solid.hull, c->arena);
        c->failed = c->failed || !shape->solid.hull;
    }
    if (shape->mesh) {
        shape->mesh = pp_mesh_copy(shape->mesh, c->arena);
        c->failed = c->failed || !shape->mesh;
    }
    if (shape->kind == PERP_SHAPE_POLYGON) {
        shape->vertex_B = copy_items(c, shape->vertex_B, shape->count, sizeof(pp_vec2));
        shape->normal_B = copy_items(c, shape->normal_B, shape->count, sizeof(pp_vec2));
    }
}

// Arrays of objects are copied already; this replaces their pointers into the builder.
static void copy_contents(copier *c, perp_model *m)
{
    // Names, expressions and vertices belong to the builder so far.
    for (int i = 0; i < m->bodies; i++) {
        copy_text(c, &m->body[i].name);
        for (int k = 0; k < PP_MOTIONS; k++) {
            copy_expr(c, &m->body[i].motion[k]);
        }
    }
    for (int i = 0; i < m->shapes; i++) {
        copy_shape(c, &m->shape[i]);
    }
    for (int i = 0; i < m->visuals; i++) {
        copy_shape(c, &m->visual[i]);
    }
    for (int i = 0; i < m->listed; i++) {
        copy_text(c, &m->contact[i].name);
    }
    for (int i = 0; i < m->joints; i++) {
        copy_text(c, &m->joint[i].name);
        copy_expr(c, &m->joint[i].target);
        copy_expr(c, &m->joint[i].rate);
        copy_expr(c, &m->joint[i].function);
        copy_expr(c, &m->joint[i].velocity);
        m->joint[i].term = copy_items(c, m->joint[i].term, m->joint[i].terms, sizeof(int));
    }
    for (int i = 0; i < m->inputs; i++) {
        copy_text(c, &m->input[i].name);
        copy_text(c, &m->input[i].unit);
        copy_expr(c, &m->input[i].source);
    }
    for (int i = 0; i < m->actuators; i++) {
        copy_text(c, &m->actuator[i].name);
        copy_expr(c, &m->actuator[i].control);
    }
    for (int i = 0; i < m->sites; i++) {
        copy_text(c, &m->site[i].name);
    }
    for (int i = 0; i < m->sensors; i++) {
        copy_text(c, &m->sensor[i].name);
    }
    for (int i = 0; i < m->forces; i++) {
        copy_text(c, &m->force[i].name);
        for (int k = 0; k < 3; k++) {
            copy_expr(c, &m->force[i].f[k]);
            copy_expr(c, &m->force[i].torque[k]);
        }
    }
}

// Insertion sort, since pairs are few. Equal keys keep their order, so that the last rule wins.
static void sort_pairs(perp_model *m)
{
    for (int i = 1; i < m->pairs; i++) {
        pp_pair_rule pair = m->pair[i];
        int k = i;
        while (k > 0 && (m->pair[k - 1].a > pair.a ||
                         (m->pair[k - 1].a == pair.a && m->pair[k - 1].b > pair.b))) {
            m->pair[k] = m->pair[k - 1];
            k--;
        }
        m->pair[k] = pair;
    }
}

// Half the diagonal of the bounding box, or a similar length [m].
static double shape_size(const pp_shape *shape, bool spatial)
{
    if (spatial) {
        perp_vec3 low, high;
        if (shape->mesh || shape->kind == PERP_SHAPE_HALFSPACE) {
            return 0.0;
        }
        pp_solid_bounds(&shape->solid, &low, &high);
        return 0.5 * pp_length(pp_sub(high, low));
    }
    double size = shape->radius + shape->half;
    for (int k = 0; k < shape->count; k++) {
        size = fmax(size, pp_hypot(shape->vertex_B[k].x - shape->vertex_B[0].x,
                                   shape->vertex_B[k].y - shape->vertex_B[0].y));
    }
    return size;
}

// Width of a polygon: the least extent across one of its sides [m].
static double polygon_width(const pp_shape *s)
{
    double width = PP_INF;
    for (int k = 0; k < s->count; k++) {
        double far = 0.0;
        for (int i = 0; i < s->count; i++) {
            double x = s->vertex_B[i].x - s->vertex_B[k].x, y = s->vertex_B[i].y - s->vertex_B[k].y;
            far = fmin(far, s->normal_B[k].x * x + s->normal_B[k].y * y);
        }
        width = fmin(width, -far);
    }
    return width + 2.0 * s->radius;
}

// The length that overlaps are compared with. A segment has no width, but a length; a point has
// nothing.
static double thickness(const pp_shape *s, bool spatial)
{
    if (spatial && (s->mesh || s->kind == PERP_SHAPE_HALFSPACE)) {
        return PP_INF;
    }
    if (spatial) {
        perp_vec3 low, high;
        pp_solid_bounds(&s->solid, &low, &high);
        perp_vec3 d = pp_sub(high, low);
        // A flat hull has no thickness: its largest extent serves.
        double least = fmin(d.x, fmin(d.y, d.z)), most = fmax(d.x, fmax(d.y, d.z));
        return least > 0.0 ? least : most;
    }
    if (s->kind == PERP_SHAPE_HALFPLANE) {
        return PP_INF;
    }
    if (s->count > 0) {
        return polygon_width(s);
    }
    return s->radius > 0.0 ? 2.0 * s->radius : 2.0 * s->half;
}

// Distance of the farthest point of a shape from the origin of its body, or an upper bound [m].
static double shape_reach(const pp_shape *s, bool spatial)
{
    double far = 0.0;
    if (spatial) {
        perp_vec3 low, high;
        if (s->mesh || s->kind == PERP_SHAPE_HALFSPACE) {
            return 0.0;
        }
        pp_solid_bounds(&s->solid, &low, &high);
        // The corners of its bounding box are at least as far as the solid itself.
        for (int k = 0; k < 8; k++) {
            perp_vec3 corner = {k & 1 ? low.x : high.x, k & 2 ? low.y : high.y,
                                k & 4 ? low.z : high.z};
            far = fmax(far, pp_length(pp_pose_point(&s->X_BS, corner)));
        }
        return far;
    }
    for (int k = 0; k < s->count; k++) {
        far = fmax(far, pp_length2(s->vertex_B[k].x, s->vertex_B[k].y));
    }
    return s->count > 0 ? far + s->radius : pp_length2(s->p_BS.x, s->p_BS.y) + s->half + s->radius;
}

// The threshold below which contacts do not bounce is relative to the weight of the heaviest body:
// bodies that are all weightless bounce as without gravity.
void pp_model_set_gravity_most(perp_model *m)
{
    double most = 0.0;
    bool any = false;
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv > 0) {
            most = fmax(most, fabs(m->body[i].gravity_scale));
            any = true;
        }
    }
    m->gravity_most = (any ? most : 1.0) * pp_length(m->gravity);
}

static const double SKIN = 1e-6;  // of the longest segment: between shapes without an inside

// Lengths that tolerances and certificates are relative to.
static void set_scales(perp_model *m)
{
    for (int i = 0; i < m->shapes; i++) {
        pp_shape *s = &m->shape[i];
        s->thickness = thickness(s, m->spatial);
        s->size = shape_size(s, m->spatial);
        m->length_scale = fmax(m->length_scale, s->size);
        if (s->kind == PERP_SHAPE_SEGMENT) {
            m->skin = fmax(m->skin, SKIN * 2.0 * s->half);
        }
        if (m->body[s->body].nv > 0) {
            m->body[s->body].reach = fmax(m->body[s->body].reach, shape_reach(s, m->spatial));
        }
    }
    // A model of points and half-spaces has no size of its own.
    m->length_scale = m->length_scale > 0.0 ? m->length_scale : 1.0;
    for (int i = 0; i < m->bodies; i++) {
        pp_body *body = &m->body[i];
        const double *I = body->I_B.m;
        // A body without shapes: the radius of gyration.
        if (body->nv > 0 && body->reach == 0.0 && body->mass > 0.0) {
            body->reach = sqrt(fmax(I[0], fmax(I[4], I[8])) / body->mass);
        }
    }
}

// Divisors of M^-1. Massless bodies take over the ones of the nearest body with mass, joint by joint from it.
static perp_status set_divisors(perp_model *m, perp_error *error)
{
    int left = 0;
    for (int i = 0; i < m->bodies; i++) {
        pp_body *body = &m->body[i];
        body->divisor_mass = body->mass;
        body->divisor_Izz = body->I_B.m[8];
        left += body->massless;
    }
    bool found = true;
    while (left > 0 && found) {
        found = false;
        for (int k = 0; k < m->joints; k++) {
            pp_body *a = &m->body[m->joint[k].a], *b = &m->body[m->joint[k].b];
            pp_body *to = a->massless && a->divisor_mass == 0.0 ? a : b, *from = to == a ? b : a;
            // fixed and driven bodies have no mass to borrow
            if (!to->massless || to->divisor_mass > 0.0 || from->nv == 0 ||
                from->divisor_mass == 0.0) {
                continue;
            }
            to->divisor_mass = from->divisor_mass;
            to->divisor_Izz = from->divisor_Izz;
            to->inverse_IB = from->inverse_IB;
            to->reach = from->reach;
            found = true;
            left--;
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].massless && m->body[i].divisor_mass == 0.0) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "body '%s': a massless body must be joined to a body with mass",
                           m->body[i].name);
        }
    }
    return PERP_OK;
}

// With its terminator, so that "ab", "c" and "a", "bc" differ.
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return pp_hash(hash, text, strlen(text) + 1);
}

// Models with equal fingerprints have states that mean the same. Members one by one: structs have padding.
static uint64_t fingerprint_of(const perp_model *m)
{
    const int count[] = {m->spatial, m->bodies, m->shapes, m->listed,
                         m->joints,  m->forces, m->inputs, m->actuators};
    uint64_t hash = pp_hash(0, count, sizeof count);
    // Poses and velocities at the start are left out: a state says where it is itself.
    hash = pp_hash(hash, &m->gravity, sizeof m->gravity);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        hash = hash_text(hash, body->name);
        hash = pp_hash(hash, &body->mass, sizeof body->mass);
        hash = pp_hash(hash, &body->I_B, sizeof body->I_B);
    }
    for (int i = 0; i < m->shapes; i++) {
        const pp_shape *shape = &m->shape[i];
        const double number[] = {shape->kind, shape->body, shape->size, shape->mu};
        hash = pp_hash(hash_text(hash, shape->name), number, sizeof number);
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *joint = &m->joint[i];
        const int number[] = {(int)joint->kind, joint->a, joint->b};
        hash = pp_hash(hash_text(hash, joint->name), number, sizeof number);
        hash = pp_hash(hash, &joint->r_A, sizeof joint->r_A);
        hash = pp_hash(hash, &joint->r_B, sizeof joint->r_B);
        hash = pp_hash(hash, &joint->axis_A, sizeof joint->axis_A);
        if (joint->site > 0) {
            hash = pp_hash(hash, &joint->force_B, sizeof joint->force_B);
            hash = pp_hash(hash, &joint->torque_B, sizeof joint->torque_B);
        }
    }
    for (int i = 0; i < m->inputs; i++) {
        hash = hash_text(hash, m->input[i].name);
    }
    for (int i = 0; i < m->actuators; i++) {
        hash = hash_text(hash, m->actuator[i].name);
        hash = pp_hash(hash, &m->actuator[i].joint, sizeof m->actuator[i].joint);
        hash = pp_hash(hash, m->actuator[i].bias, sizeof m->actuator[i].bias);
    }
    return hash;
}

// Objects first, then everything that follows from several of them: masses, scales, exclusions.
static perp_status fill_model(perp_model *m, const perp_builder *b, perp_error *error)
{
    copier c = {.arena = m->arena};
    m->spatial = b->spatial;
    m->gravity = b->gravity;
    // The builder starts with gravity along -y, which is down in the plane; in space down is -z
    // [m/s^2].
    if (m->spatial && !b->gravity_given) {
        m->gravity = (perp_vec3){0.0, 0.0, -9.81};
    } else if (!m->spatial) {
        m->gravity.z = 0.0;
    }
    m->listed_only = b->listed_only;
    m->bodies = b->bodies.count;
    m->shapes = b->shapes.count;
    m->pairs = b->pairs.count;
    m->listed = b->contacts.count;
    m->joints = b->joints.count;
    m->forces = b->forces.count;
    m->inputs = b->inputs.count;
    m->actuators = b->actuators.count;
    m->visuals = b->visuals.count;
    m->sites = b->sites.count;
    m->sensors = b->sensors.count;
    m->exclusions = b->exclusions.count;
    m->body = copy_items(&c, b->bodies.items, m->bodies, sizeof(pp_body));
    m->shape = copy_items(&c, b->shapes.items, m->shapes, sizeof(pp_shape));
    m->visual = copy_items(&c, b->visuals.items, m->visuals, sizeof(pp_shape));
    m->pair = copy_items(&c, b->pairs.items, m->pairs, sizeof(pp_pair_rule));
    m->contact = copy_items(&c, b->contacts.items, m->listed, sizeof(pp_listed));
    m->joint = copy_items(&c, b->joints.items, m->joints, sizeof(pp_joint));
    m->force = copy_items(&c, b->forces.items, m->forces, sizeof(pp_force));
    m->input = copy_items(&c, b->inputs.items, m->inputs, sizeof(pp_input));
    m->actuator = copy_items(&c, b->actuators.items, m->actuators, sizeof(pp_actuator));
    m->site = copy_items(&c, b->sites.items, m->sites, sizeof(pp_site));
    m->sensor = copy_items(&c, b->sensors.items, m->sensors, sizeof(pp_sensor));
    m->exclusion = copy_items(&c, b->exclusions.items, m->exclusions, sizeof(pp_body_pair));
    if (!c.failed) {
        copy_contents(&c, m);
    }
    if (c.failed) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    sort_pairs(m);
    pp_model_set_sensors(m);
    for (int i = 0; i < m->bodies; i++) {
        pp_body *body = &m->body[i];
        // Free bodies follow one another in nu and q, in the order in which they were added.
        body->at = m->nv;
        body->at_q = m->nq;
        m->nv += body->nv;
        m->nq += body->nq;
        perp_status status = body->nv > 0 ? set_body_mass(b, i, body, error) : PERP_OK;
        if (status < 0) {
            return status;
        }
        recenter(m, i);
    }
    set_scales(m);
    perp_status divided = set_divisors(m, error);
    if (divided < 0) {
        return divided;
    }
    // Lists in the order of the actuators: the last one is put in first.
    for (int i = m->actuators - 1; i >= 0; i--) {
        pp_joint *joint = &m->joint[m->actuator[i].joint];
        m->actuator[i].next = joint->first_actuator;
        joint->first_actuator = i + 1;
    }
    m->fingerprint = fingerprint_of(m);
    perp_status status = pp_model_set_damping(m, error);
    if (status < 0) {
        return status;
    }
    pp_model_set_gravity_most(m);
    if (!pp_model_keep_defs(m, b)) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    status = pp_model_set_keyframes(m, b, error);
    if (status < 0) {
        return status;
    }
    return pp_model_set_exclusions(m) ? PERP_OK
                                      : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
}

// *model is NULL after a failure.
perp_status perp_model_create(const perp_builder *builder, perp_model **model, perp_error *error)
{
    if (!model) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "the output pointer of the model is NULL");
    }
    *model = NULL;
    perp_status status = perp_builder_status(builder, error);
    if (status < 0) {
        return status;
    }
    perp_model *m = pp_alloc(&builder->env, sizeof *m);
    if (!m) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    // One arena holds everything: the model is freed at once.
    *m = (perp_model){.env = builder->env, .arena = pp_arena_create(&builder->env)};
    status = m->arena ? fill_model(m, builder, error)
                      : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    if (status < 0) {
        perp_model_destroy(m);
        return status;
    }
    *model = m;
    return PERP_OK;
}

// NULL is allowed.
void perp_model_destroy(perp_model *model)
{
    if (model) {
        perp_env env = model->env;
        pp_arena_destroy(model->arena);
        pp_free(&env, model, sizeof *model);
    }
}

// ── Looking ──────────────────────────────────────────────────────────────────────────────────────

const pp_pair_rule *pp_model_rule(const perp_model *model, int shape_a, int shape_b)
{
    int a = shape_a < shape_b ? shape_a : shape_b, b = shape_a + shape_b - a;
    int low = 0, high = model->pairs;
    while (low < high) {  // the first rule beyond (a, b): the one before it is the last for (a, b)
        int middle = low + (high - low) / 2;
        const pp_pair_rule *p = &model->pair[middle];
        if (p->a < a || (p->a == a && p->b <= b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low > 0 && model->pair[low - 1].a == a && model->pair[low - 1].b == b;
    return found ? &model->pair[low - 1] : NULL;
}

// Coefficients of two shapes, by their rule or combined from both.
void pp_model_pair(const perp_model *model, int shape_a, int shape_b, pp_pair_rule *pair)
{
    const pp_pair_rule *rule = pp_model_rule(model, shape_a, shape_b);
    if (rule) {
        *pair = *rule;
        return;
    }
    int a = shape_a < shape_b ? shape_a : shape_b, b = shape_a + shape_b - a;
    *pair = pp_shapes_combine(&model->shape[a], &model->shape[b]);
    pair->a = a;
    pair->b = b;
}

// Handles come from callers, and are checked wherever they enter.
static bool has_body(const perp_model *model, perp_body body)
{
    return model && body.i >= 0 && body.i < model->bodies;
}

int perp_model_bodies(const perp_model *model)
{
    return model ? model->bodies : 0;
}

int perp_model_shapes(const perp_model *model)
{
    return model ? model->shapes : 0;
}

int perp_model_visuals(const perp_model *model)
{
    return model ? model->visuals : 0;
}

int perp_model_joints(const perp_model *model)
{
    return model ? model->joints : 0;
}

// Linear search: names are looked up before a run, not in steps.
perp_body perp_model_body(const perp_model *model, const char *name)
{
    if (!model || !name) {
        return (perp_body){-1};
    }
    for (int i = 0; i < model->bodies; i++) {
        if (strcmp(model->body[i].name, name) == 0) {
            return (perp_body){i};
        }
    }
    return (perp_body){-1};
}

perp_shape perp_model_shape(const perp_model *model, const char *name)
{
    if (!model || !name) {
        return (perp_shape){-1};
    }
    for (int i = 0; i < model->shapes; i++) {
        if (strcmp(model->shape[i].name, name) == 0) {
            return (perp_shape){i};
        }
    }
    return (perp_shape){-1};
}

perp_joint perp_model_joint(const perp_model *model, const char *name)
{
    if (!model || !name) {
        return (perp_joint){-1};
    }
    for (int i = 0; i < model->joints; i++) {
        if (strcmp(model->joint[i].name, name) == 0) {
            return (perp_joint){i};
        }
    }
    return (perp_joint){-1};
}

const char *perp_model_body_name(const perp_model *model, perp_body body)
{
    return has_body(model, body) ? model->body[body.i].name : "";
}

const char *perp_model_shape_name(const perp_model *model, perp_shape shape)
{
    return model && shape.i >= 0 && shape.i < model->shapes ? model->shape[shape.i].name : "";
}

const char *perp_model_visual_name(const perp_model *model, perp_visual visual)
{
    bool known = model && visual.i >= 0 && visual.i < model->visuals;
    return known ? model->visual[visual.i].name : "";
}

perp_body perp_model_shape_body(const perp_model *model, perp_shape shape)
{
    bool exists = model && shape.i >= 0 && shape.i < model->shapes;
    return (perp_body){exists ? model->shape[shape.i].body : -1};
}

int32_t perp_model_shape_colour(const perp_model *model, perp_shape shape)
{
    return model && shape.i >= 0 && shape.i < model->shapes ? model->shape[shape.i].colour : -1;
}

const char *perp_model_joint_name(const perp_model *model, perp_joint joint)
{
    return model && joint.i >= 0 && joint.i < model->joints ? model->joint[joint.i].name : "";
}

// Of a handle that does not exist the answer is 0.
double perp_model_mass(const perp_model *model, perp_body body)
{
    return has_body(model, body) ? model->body[body.i].mass : 0.0;
}

// About z, which is all that a planar body has.
double perp_model_inertia(const perp_model *model, perp_body body)
{
    return has_body(model, body) ? model->body[body.i].I_B.m[8] : 0.0;
}

void perp_model_inertia_tensor(const perp_model *model, perp_body body, double inertia[6])
{
    static const int at[6] = {0, 4, 8, 1, 2, 5};  // xx, yy, zz, xy, xz, yz of a symmetric matrix
    bool exists = has_body(model, body);
    if (!inertia) {
        return;
    }
    for (int k = 0; k < 6; k++) {
        inertia[k] = exists ? model->body[body.i].I_B.m[at[k]] : 0.0;
    }
}

// Where the centre of mass was in the frame that the shapes were given in; 0 unless recentred.
perp_vec3 perp_model_center(const perp_model *model, perp_body body)
{
    bool exists = has_body(model, body);
    return exists ? model->body[body.i].center : (perp_vec3){0.0, 0.0, 0.0};
}

perp_motion perp_model_motion(const perp_model *model, perp_body body)
{
    return has_body(model, body) ? model->body[body.i].drive : PERP_MOTION_STATIC;
}

double perp_model_gravity_scale(const perp_model *model, perp_body body)
{
    return has_body(model, body) ? model->body[body.i].gravity_scale : 0.0;
}

bool perp_model_is_spatial(const perp_model *model)
{
    return model && model->spatial;
}
