// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What drives a model: inputs, and actuators that turn them into efforts along joints.
#include "model/builder.h"

#include <math.h>
#include <string.h>

// ── Inputs ───────────────────────────────────────────────────────────────────────────────────────

// A range may be open on either side. The value at the start must lie in it: clamping it would hide a mistake.
static bool convert_input(perp_builder *b, const perp_input_def *def, pp_input *input)
{
    if (!(def->lower <= def->upper)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "input '%s': the range is empty: lower > upper",
                              input->name);
    }
    if (!isfinite(def->value) || def->value < def->lower || def->value > def->upper) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "input '%s': the value must be finite and within the range",
                              input->name);
    }
    // u[name] ends at the first ']'.
    if (strchr(input->name, ']')) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "input '%s': a name with ']' cannot be used in expressions",
                              input->name);
    }
    input->value = def->value;
    input->lower = def->lower;
    input->upper = def->upper;
    input->unit = pp_builder_text(b, def->unit);
    return b->error.status == PERP_OK;
}

// Handles are numbers in the order of addition, as of all objects.
perp_input perp_builder_add_input(perp_builder *builder, const perp_input_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_INPUT_COOKIE, "input")) {
        return (perp_input){-1};
    }
    // Both lists grow before anything is converted, so that they stay of the same length.
    pp_input *input = pp_builder_grow(builder, &builder->inputs, sizeof *input);
    const char **name = pp_builder_grow(builder, &builder->input_names, sizeof *name);
    if (!input || !name) {
        return (perp_input){-1};
    }
    *input = (pp_input){.name = def->name};
    bool ok = pp_builder_name(builder, "input", &input->name, builder->inputs.count - 1,
                              &builder->inputs, sizeof *input) &&
              convert_input(builder, def, input) && pp_builder_keep_def(builder, PP_DEF_INPUT, def);
    *name = input->name;
    pp_builder_keep(&builder->input_names, ok);
    return (perp_input){pp_builder_keep(&builder->inputs, ok)};
}

// t, then q[joint] and dq[joint] of every joint; NULL: no memory, with the error set.
static const char **source_names(perp_builder *b)
{
    static const char *const prefix[2] = {"q", "dq"};
    const pp_joint *joint = b->joints.items;
    int count = b->joints.count;
    const char **names = PP_ARRAY(b->arena, const char *, 1 + 2 * (size_t)count);
    if (!names) {
        pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
        return NULL;
    }
    names[0] = "t";
    // Variable 1 + 2 i is the coordinate of joint i, 2 + 2 i its rate (find_variables in sim/control.c).
    for (int i = 0; i < 2 * count; i++) {
        const char *name = joint[i / 2].name;
        size_t size = strlen(name) + 5;
        char *text = PP_ARRAY(b->arena, char, size);
        if (!text) {
            pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
            return NULL;
        }
        pp_print(text, size, "%s[%s]", prefix[i % 2], name);
        names[1 + i] = text;
    }
    return names;
}

// Apart from perp_builder_add_input, since rates of joints may use inputs, and sources coordinates of joints: names of
// inputs come first, then joints, then sources.
void perp_builder_set_input_source(perp_builder *builder, perp_input input, const char *source)
{
    if (!builder || builder->error.status < 0) {
        return;
    }
    if (input.i < 0 || input.i >= builder->inputs.count || !source) {
        pp_builder_bad(builder, PERP_ERR_MODEL, "input %d does not exist, or has no source",
                       input.i);
        return;
    }
    pp_input *of = (pp_input *)builder->inputs.items + input.i;
    const char **names = source_names(builder);
    if (!names) {
        return;
    }
    const pp_expr_names scope = {.variable = names,
                                 .variables = 1 + 2 * builder->joints.count,
                                 .input = builder->input_names.items,
                                 .inputs = input.i};  // those before it: no circles
    if (!pp_builder_expr_in(builder, of->name, "value", source, &scope, &of->source)) {
        return;
    }
    while (builder->sources.count <= input.i) {
        if (!pp_builder_grow(builder, &builder->sources, sizeof source)) {
            return;
        }
    }
    ((const char **)builder->sources.items)[input.i] = pp_builder_text(builder, source);
}

// ── Actuators ────────────────────────────────────────────────────────────────────────────────────

// Gain and bias of f = gain c + bias_0 + bias_1 l + bias_2 l' for the kinds that have names.
static void set_gains(const perp_actuator_def *def, pp_actuator *a)
{
    a->gain = 1.0;
    switch (def->kind) {
    case PERP_ACTUATOR_MOTOR:
        break;
    case PERP_ACTUATOR_POSITION:
        a->gain = def->kp;
        a->bias[1] = -def->kp;
        a->bias[2] = -def->kv;
        break;
    case PERP_ACTUATOR_VELOCITY:
        a->gain = def->kv;
        a->bias[2] = -def->kv;
        break;
    case PERP_ACTUATOR_GENERAL:
        a->gain = def->gain;
        memcpy(a->bias, def->bias, sizeof a->bias);
        break;
    }
}

// The input that an actuator without a control follows: the one with its name.
static bool control_by_name(perp_builder *b, const pp_actuator *a, char *text, size_t size)
{
    const char *const *name = b->input_names.items;
    for (int i = 0; i < b->inputs.count; i++) {
        if (strcmp(name[i], a->name) == 0) {
            pp_print(text, size, "u[%s]", a->name);
            return true;
        }
    }
    perp_input_def def = perp_input_default();
    def.name = a->name;
    pp_print(text, size, "u[%s]", a->name);
    return perp_builder_add_input(b, &def).i >= 0;
}

// Numbers of the law. NaN fails every comparison, and so is refused.
static bool check_gains(perp_builder *b, const perp_actuator_def *def, const pp_actuator *a)
{
    if (!isfinite(def->gear) || def->gear == 0.0 || !isfinite(def->gain) ||
        !isfinite(def->bias[0]) || !isfinite(def->bias[1]) || !isfinite(def->bias[2])) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': gear, gain and bias must be finite, gear not 0",
                              a->name);
    }
    if (!(def->kp >= 0.0) || !(def->kv >= 0.0) || !isfinite(def->kp) || !isfinite(def->kv) ||
        !isfinite(def->damping_ratio)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': kp and kv must be >= 0", a->name);
    }
    if (!(def->lower <= def->upper) || isfinite(def->lower) != isfinite(def->upper)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': the effort needs two limits, lower <= upper, or none",
                              a->name);
    }
    if (!(def->time_constant >= 0.0) || !isfinite(def->time_constant)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': the time constant must be >= 0",
                              a->name);
    }
    return true;
}

// A site of a body that can move, something to push with, and no gain on a position.
static bool check_site(perp_builder *b, const perp_actuator_def *def, const pp_actuator *a)
{
    const pp_site *site = b->sites.items;
    const pp_body *body = b->bodies.items;
    if (def->site.i >= b->sites.count) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': site %d does not exist", a->name,
                              def->site.i);
    }
    site += def->site.i;
    if (def->joint.i >= 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': it acts along a joint or at a site, not both",
                              a->name);
    }
    if (body[site->body].nv == 0) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "actuator '%s': site '%s' is on a body that forces do not move; use a "
            "site of a dynamic body",
            a->name, site->name);
    }
    // NaN and infinity make this so as well
    double size = pp_dot3(def->force_S, def->force_S) + pp_dot3(def->torque_S, def->torque_S);
    if (!isfinite(size) || !(size > 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': an actuator at a site needs a force or a torque "
                              "along the axes of the site, finite and not 0",
                              a->name);
    }
    if (def->kind == PERP_ACTUATOR_POSITION ||
        (def->kind == PERP_ACTUATOR_GENERAL && def->bias[1] != 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': a site has a velocity but no position; use a motor, "
                              "velocity or general actuator with bias[1] = 0",
                              a->name);
    }
    return true;
}

// Everything that a caller can get wrong, with the name of the actuator.
static bool check_actuator(perp_builder *b, const perp_actuator_def *def, const pp_actuator *a)
{
    const pp_joint *joint = b->joints.items;
    if (def->kind < PERP_ACTUATOR_MOTOR || def->kind > PERP_ACTUATOR_GENERAL) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': unknown kind %d", a->name,
                              (int)def->kind);
    }
    if (def->site.i >= 0) {
        return check_site(b, def, a) && check_gains(b, def, a);
    }
    if (def->joint.i < 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': it needs a joint or a site",
                              a->name);
    }
    if (def->joint.i >= b->joints.count) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "actuator '%s': joint %d does not exist", a->name,
                              def->joint.i);
    }
    if (pp_dot3(def->force_S, def->force_S) + pp_dot3(def->torque_S, def->torque_S) != 0.0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': force and torque are for an actuator at a site; "
                              "remove them, or give a site in place of the joint",
                              a->name);
    }
    // An effort needs a coordinate to act along.
    perp_joint_kind kind = joint[def->joint.i].kind;
    bool position = def->kind == PERP_ACTUATOR_POSITION ||
                    (def->kind == PERP_ACTUATOR_GENERAL && def->bias[1] != 0.0);
    if (position && (joint[def->joint.i].velocity || joint[def->joint.i].site > 0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': joint '%s' has a velocity but no position; use a "
                              "motor, velocity or general actuator with bias[1] = 0",
                              a->name, joint[def->joint.i].name);
    }
    if (kind == PERP_JOINT_WELD || kind == PERP_JOINT_GEAR || kind == PERP_JOINT_SPHERICAL) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "actuator '%s': joint '%s' has no coordinate; use a joint that has "
                              "one, or add one of kind angle",
                              a->name, joint[def->joint.i].name);
    }
    return check_gains(b, def, a);
}

// What an actuator at a site acts along: a coupling without a function. Returns its number, -1: failed.
static int add_site_joint(perp_builder *b, const perp_actuator_def *def, const pp_actuator *a)
{
    const pp_site *site = (const pp_site *)b->sites.items + def->site.i;
    perp_joint_def own = perp_joint_default();
    size_t size = strlen(a->name) + strlen(site->name) + 5;
    char *name = PP_ARRAY(b->arena, char, size);
    pp_joint *joint = pp_builder_grow(b, &b->joints, sizeof *joint);
    if (!name || !joint) {
        pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
        return -1;
    }
    // joints and actuators may have the same names, so that the site is part of it
    pp_print(name, size, "%s at %s", a->name, site->name);
    own.name = name;
    own.kind = PERP_JOINT_COUPLING;
    *joint = (pp_joint){.name = name,
                        .kind = PERP_JOINT_COUPLING,
                        .a = site->body,
                        .b = site->body,
                        .r_A = site->X_BS.p,
                        .r_B = site->X_BS.p,
                        .joint_a = -1,
                        .joint_b = -1,
                        .site = def->site.i + 1,
                        .force_B = def->force_S,
                        .torque_B = def->torque_S,
                        .lower = own.lower,
                        .upper = own.upper,
                        .rate_effort = own.rate_effort};
    bool ok =
        pp_builder_name(b, "joint", &joint->name, b->joints.count - 1, &b->joints, sizeof *joint) &&
        pp_builder_keep_def(b, PP_DEF_JOINT, &own);
    return pp_builder_keep(&b->joints, ok);
}

// The definition as the one law (A1); kinds differ in their gains only.
static bool convert_actuator(perp_builder *b, const perp_actuator_def *def, pp_actuator *a)
{
    enum { TEXT = 200 };
    char text[TEXT];
    const char *control = def->control;
    if (!check_actuator(b, def, a)) {
        return false;
    }
    // Without a control: u[name], with the input of that name.
    if (!control) {
        if (strlen(a->name) > TEXT - 8) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "actuator '%.40s…': the name is too long for an input; give a "
                                  "control",
                                  a->name);
        }
        if (!control_by_name(b, a, text, sizeof text)) {
            return false;
        }
        control = text;
    }
    a->kind = def->kind;
    a->joint = def->site.i >= 0 ? add_site_joint(b, def, a) : def->joint.i;
    if (a->joint < 0) {
        return false;
    }
    a->gear = def->gear;
    a->lower = def->lower;
    a->upper = def->upper;
    a->time_constant = def->time_constant;
    a->damping_ratio = def->kind == PERP_ACTUATOR_POSITION ? def->damping_ratio : -1.0;
    set_gains(def, a);
    return pp_builder_expr_of_inputs(b, a->name, "control", control, 1, &a->control);
}

perp_actuator perp_builder_add_actuator(perp_builder *builder, const perp_actuator_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_ACTUATOR_COOKIE, "actuator")) {
        return (perp_actuator){-1};
    }
    pp_actuator *a = pp_builder_grow(builder, &builder->actuators, sizeof *a);
    if (!a) {
        return (perp_actuator){-1};
    }
    *a = (pp_actuator){.name = def->name};
    bool ok = pp_builder_name(builder, "actuator", &a->name, builder->actuators.count - 1,
                              &builder->actuators, sizeof *a) &&
              convert_actuator(builder, def, a) &&
              pp_builder_keep_def(builder, PP_DEF_ACTUATOR, def);
    return (perp_actuator){pp_builder_keep(&builder->actuators, ok)};
}

// ── Damping ratios ───────────────────────────────────────────────────────────────────────────────

// Marks the bodies that hang on one side of a joint: those that joints connect with body `from`, without this one. False
// where that leads to the body on the other side or to one that is not free: the joint is part of a loop.
static bool mark_side(const perp_model *m, int joint, int from, int other, bool *marked)
{
    memset(marked, 0, (size_t)m->bodies * sizeof *marked);
    marked[from] = true;
    // Passes over all joints until none adds a body: models have few damping ratios, and this runs once.
    bool grew = true;
    while (grew) {
        grew = false;
        for (int i = 0; i < m->joints; i++) {
            const pp_joint *j = &m->joint[i];
            // Joints that hold no point together do not carry a body.
            bool ties = i != joint && !pp_joint_couples(j) && j->kind != PERP_JOINT_ANGLE &&
                        j->kind != PERP_JOINT_DISTANCE;
            if (ties && marked[j->a] != marked[j->b]) {
                marked[j->a] = marked[j->b] = grew = true;
            }
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        if (marked[i] && (m->body[i].nv == 0 || i == other)) {
            return false;
        }
    }
    return true;
}

// The bodies that a joint moves: those on the side of b, or of a where b hangs on what is not free.
static bool mark_subtree(const perp_model *m, int joint, bool *marked)
{
    int a = m->joint[joint].a, b = m->joint[joint].b;
    return mark_side(m, joint, b, a, marked) || mark_side(m, joint, a, b, marked);
}

// Orientation of a body at t = 0.
static pp_mat3 rotation_at_start(const perp_model *m, const pp_body *body)
{
    double half = 0.5 * body->angle0;
    return pp_quat_matrix(m->spatial ? body->rot0
                                     : (perp_quat){pp_cos(half), 0.0, 0.0, pp_sin(half)});
}

// Inertia that a joint moves at t = 0 with all other joints locked [kg m^2 or kg].
static double moved_inertia(const perp_model *m, const pp_joint *j, const bool *marked)
{
    const pp_body *a = &m->body[j->a];
    bool slides = j->kind == PERP_JOINT_PRISMATIC || j->kind == PERP_JOINT_CYLINDRICAL ||
                  j->kind == PERP_JOINT_POINT_ON_LINE || j->kind == PERP_JOINT_DISTANCE;
    double pitch = j->kind == PERP_JOINT_SCREW ? j->pitch : 0.0;  // along the axis in a radian
    pp_mat3 R = rotation_at_start(m, a);
    perp_vec3 anchor = pp_add(a->p0, pp_mul(&R, j->r_A));
    perp_vec3 axis = m->spatial ? pp_mul(&R, j->axis_A) : pp_vec(0.0, 0.0, 1.0);
    double sum = j->armature;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (!marked[i]) {
            continue;
        }
        perp_vec3 arm = pp_cross(axis, pp_sub(body->p0, anchor));
        pp_mat3 Rb = rotation_at_start(m, body);
        perp_vec3 axis_B = pp_mul_t(&Rb, axis);
        double turns = pp_dot3(axis_B, pp_mul(&body->I_B, axis_B));
        sum += slides ? body->mass : turns + body->mass * (pp_dot3(arm, arm) + pitch * pitch);
    }
    return sum;
}

// kv = 2 zeta sqrt(kp m), as for a single mass on a spring: critical damping at zeta = 1.
perp_status pp_model_set_damping(perp_model *m, perp_error *error)
{
    bool *marked = PP_ARRAY(m->arena, bool, m->bodies);
    if (!marked) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    for (int i = 0; i < m->actuators; i++) {
        pp_actuator *a = &m->actuator[i];
        const pp_joint *j = &m->joint[a->joint];
        if (a->damping_ratio < 0.0) {
            continue;
        }
        if (!mark_subtree(m, a->joint, marked)) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "actuator '%s': a damping ratio needs the inertia that joint '%s' "
                           "moves, which is not defined in a loop; give kv",
                           a->name, j->name);
        }
        // In terms of l = gear x the inertia is that of x over gear^2.
        double inertia = moved_inertia(m, j, marked) / (a->gear * a->gear);
        a->bias[2] = -2.0 * a->damping_ratio * sqrt(a->gain * inertia);
    }
    return PERP_OK;
}

// ── Properties ───────────────────────────────────────────────────────────────────────────────────

int perp_model_inputs(const perp_model *model)
{
    return model ? model->inputs : 0;
}

int perp_model_actuators(const perp_model *model)
{
    return model ? model->actuators : 0;
}

perp_input perp_model_input(const perp_model *model, const char *name)
{
    int count = model && name ? model->inputs : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(model->input[i].name, name) == 0) {
            return (perp_input){i};
        }
    }
    return (perp_input){-1};
}

perp_actuator perp_model_actuator(const perp_model *model, const char *name)
{
    int count = model && name ? model->actuators : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(model->actuator[i].name, name) == 0) {
            return (perp_actuator){i};
        }
    }
    return (perp_actuator){-1};
}

perp_input_def perp_model_input_def(const perp_model *model, perp_input input)
{
    perp_input_def def = perp_input_default();
    def.name = "";
    if (model && input.i >= 0 && input.i < model->inputs) {
        const pp_input *in = &model->input[input.i];
        def.name = in->name;
        def.value = in->value;
        def.lower = in->lower;
        def.upper = in->upper;
        def.unit = in->unit;
    }
    return def;
}

const char *perp_model_input_name(const perp_model *model, perp_input input)
{
    return model && input.i >= 0 && input.i < model->inputs ? model->input[input.i].name : "";
}

const char *perp_model_actuator_name(const perp_model *model, perp_actuator actuator)
{
    bool exists = model && actuator.i >= 0 && actuator.i < model->actuators;
    return exists ? model->actuator[actuator.i].name : "";
}
