// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes of a model by one sim: the sim has a copy of the arrays that change, and a list of what differs. The same list
// is in saved states and in recordings, from which the judge makes the same copy.
#include "model/builder.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// ── Copies ───────────────────────────────────────────────────────────────────────────────────────

// false: no memory.
static bool copy_array(pp_arena *arena, const void *items, int count, size_t size, void *to)
{
    void *copy = pp_arena_array(arena, (size_t)count, size);
    if (copy && count > 0) {
        memcpy(copy, items, (size_t)count * size);
    }
    memcpy(to, &copy, sizeof copy);
    return copy != NULL;
}

perp_model *pp_model_own(const perp_model *model, pp_arena *arena)
{
    perp_model *own = PP_ARRAY(arena, perp_model, 1);
    if (!own) {
        return NULL;
    }
    // what does not change is shared with the model, which lives longer
    *own = *model;
    bool ok =
        copy_array(arena, model->body, model->bodies, sizeof *model->body, &own->body) &&
        copy_array(arena, model->shape, model->shapes, sizeof *model->shape, &own->shape) &&
        copy_array(arena, model->pair, model->pairs, sizeof *model->pair, &own->pair) &&
        copy_array(arena, model->contact, model->listed, sizeof *model->contact, &own->contact) &&
        copy_array(arena, model->joint, model->joints, sizeof *model->joint, &own->joint) &&
        copy_array(arena, model->actuator, model->actuators, sizeof *model->actuator,
                   &own->actuator);
    own->steady = PP_ZEROS(arena, pp_steady, model->bodies);
    own->number = PP_ZEROS(arena, pp_expr *, model->joints);
    own->line = PP_ZEROS(arena, pp_expr *, model->joints);
    if (!ok || !own->steady || !own->number || !own->line) {
        return NULL;
    }
    for (int i = 0; i < model->joints; i++) {
        own->number[i] = model->joint[i].rate ? pp_expr_number(0.0, arena) : NULL;
        own->line[i] = model->joint[i].target ? pp_expr_line(arena) : NULL;
        if ((model->joint[i].rate && !own->number[i]) ||
            (model->joint[i].target && !own->line[i])) {
            return NULL;
        }
    }
    return own;
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

// Numbers of the change, in the order of pp_change_kind.
static const int counts[PP_CHANGE_KINDS] = {3, 3, 4, 4, 6, 2, 15, 3};

pp_change pp_model_read_change(const perp_model *model, pp_change_kind kind, int object)
{
    pp_change c = {.kind = (int32_t)kind, .object = object};
    double *v = c.value;
    switch (kind) {
    case PP_CHANGE_GRAVITY:
        memcpy(v, &model->gravity, sizeof model->gravity);
        break;
    case PP_CHANGE_SHAPE: {
        const pp_shape *s = &model->shape[object];
        memcpy(v, (double[]){s->mu, s->mu_spin, s->mu_roll}, 3 * sizeof *v);
        break;
    }
    case PP_CHANGE_PAIR: {
        const pp_pair_rule *p = &model->pair[object];
        memcpy(v, (double[]){p->mu, p->mu_2, p->mu_spin, p->mu_roll}, 4 * sizeof *v);
        break;
    }
    case PP_CHANGE_CONTACT: {
        const pp_listed *p = &model->contact[object];
        memcpy(v, (double[]){p->mu, p->mu_2, p->mu_spin, p->mu_roll}, 4 * sizeof *v);
        break;
    }
    case PP_CHANGE_ACTUATOR: {
        const pp_actuator *a = &model->actuator[object];
        memcpy(v, (double[]){a->gain, a->bias[0], a->bias[1], a->bias[2], a->lower, a->upper},
               6 * sizeof *v);
        break;
    }
    // rates and motions are functions of time: numbers exist where they were set
    case PP_CHANGE_JOINT:
        v[1] = model->joint[object].rate_effort;
        break;
    default:
        break;
    }
    return c;
}

static bool is_friction(const double *v, int count, bool spatial)
{
    for (int k = 0; k < count; k++) {
        // mu_2 is negative where friction is the same in both directions
        bool across = count == 4 && k == 1;
        if (!isfinite(v[k]) || (!across && v[k] < 0.0) || (!spatial && k > 0 && v[k] > 0.0)) {
            return false;
        }
    }
    return true;
}

static perp_status check_values(const perp_model *m, const pp_change *c, perp_error *error)
{
    const double *v = c->value;
    int i = c->object;
    switch ((pp_change_kind)c->kind) {
    case PP_CHANGE_SHAPE:
    case PP_CHANGE_PAIR:
    case PP_CHANGE_CONTACT:
        return is_friction(v, counts[c->kind], m->spatial)
                   ? PERP_OK
                   : pp_fail(error, PERP_ERR_ARGUMENT,
                             "friction: coefficients must be finite and >= 0; in the plane there "
                             "is mu alone");
    case PP_CHANGE_ACTUATOR:
        // infinite limits are none
        if (!pp_all_finite(4, v) || !(v[4] <= v[5]) || isfinite(v[4]) != isfinite(v[5])) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "actuator '%s': gain and bias must be finite, and the effort needs two "
                           "limits, lower <= upper, or none",
                           m->actuator[i].name);
        }
        return PERP_OK;
    case PP_CHANGE_TARGET:
        if (!m->joint[i].target) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s' has no target to set; give it one in the model",
                           m->joint[i].name);
        }
        return pp_all_finite(3, v) ? PERP_OK
                                   : pp_fail(error, PERP_ERR_ARGUMENT,
                                             "joint '%s': the target and its rate must be finite",
                                             m->joint[i].name);
    case PP_CHANGE_JOINT:
        if (!m->joint[i].rate) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s' has no rate to set; give it one in the model",
                           m->joint[i].name);
        }
        if (!isfinite(v[0]) || !(v[1] >= 0.0)) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s': the rate must be finite, and the effort >= 0",
                           m->joint[i].name);
        }
        return PERP_OK;
    case PP_CHANGE_BODY:
        if (m->body[i].drive != PERP_MOTION_KINEMATIC) {
            return pp_fail(error, PERP_ERR_ARGUMENT, "body '%s' is not kinematic", m->body[i].name);
        }
        break;
    default:
        break;
    }
    return pp_all_finite((size_t)counts[c->kind], v)
               ? PERP_OK
               : pp_fail(error, PERP_ERR_ARGUMENT, "a number is not finite");
}

perp_status pp_model_check_change(const perp_model *model, const pp_change *change,
                                  perp_error *error)
{
    const int objects[PP_CHANGE_KINDS] = {1,
                                          model->shapes,
                                          model->pairs,
                                          model->listed,
                                          model->actuators,
                                          model->joints,
                                          model->bodies,
                                          model->joints};
    if (change->kind < 0 || change->kind >= PP_CHANGE_KINDS || change->object < 0 ||
        change->object >= objects[change->kind]) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "object %d does not exist", change->object);
    }
    return check_values(model, change, error);
}

// ── Changing ─────────────────────────────────────────────────────────────────────────────────────

void pp_model_apply_change(perp_model *own, const pp_change *c)
{
    const double *v = c->value;
    int i = c->object;
    // only what the kind has: everything else stays as the model says
    switch ((pp_change_kind)c->kind) {
    case PP_CHANGE_GRAVITY:
        own->gravity = (perp_vec3){v[0], v[1], own->spatial ? v[2] : 0.0};
        pp_model_set_gravity_most(own);
        break;
    case PP_CHANGE_SHAPE:
        own->shape[i].mu = v[0];
        own->shape[i].mu_spin = v[1];
        own->shape[i].mu_roll = v[2];
        break;
    case PP_CHANGE_PAIR:
        own->pair[i].mu = v[0];
        own->pair[i].mu_2 = v[1];
        own->pair[i].mu_spin = v[2];
        own->pair[i].mu_roll = v[3];
        break;
    case PP_CHANGE_CONTACT:
        own->contact[i].mu = v[0];
        own->contact[i].mu_2 = v[1];
        own->contact[i].mu_spin = v[2];
        own->contact[i].mu_roll = v[3];
        break;
    case PP_CHANGE_ACTUATOR:
        own->actuator[i].gain = v[0];
        memcpy(own->actuator[i].bias, v + 1, 3 * sizeof *v);
        own->actuator[i].lower = v[4];
        own->actuator[i].upper = v[5];
        break;
    case PP_CHANGE_JOINT:
        pp_expr_number_set(own->number[i], v[0]);
        own->joint[i].rate = own->number[i];
        own->joint[i].rate_effort = v[1];
        break;
    case PP_CHANGE_TARGET:  // x + r (t - t0)
        pp_expr_line_set(own->line[i], v[1] - v[2] * v[0], v[2]);
        own->joint[i].target = own->line[i];
        break;
    case PP_CHANGE_BODY:
        own->steady[i] = (pp_steady){.t0 = v[0],
                                     .p = {v[1], v[2], v[3]},
                                     .angle = v[4],
                                     .rot = {v[5], v[6], v[7], v[8]},
                                     .v = {v[9], v[10], v[11]},
                                     .w = {v[12], v[13], v[14]}};
        own->body[i].steady = &own->steady[i];
        break;
    default:
        break;
    }
}

void pp_model_apply_changes(perp_model *own, const perp_model *model, const pp_change *change,
                            int count)
{
    // arrays of the copy have the sizes of the model's
    memcpy(own->body, model->body, (size_t)model->bodies * sizeof *model->body);
    memcpy(own->shape, model->shape, (size_t)model->shapes * sizeof *model->shape);
    memcpy(own->pair, model->pair, (size_t)model->pairs * sizeof *model->pair);
    memcpy(own->contact, model->contact, (size_t)model->listed * sizeof *model->contact);
    memcpy(own->joint, model->joint, (size_t)model->joints * sizeof *model->joint);
    memcpy(own->actuator, model->actuator, (size_t)model->actuators * sizeof *model->actuator);
    own->gravity = model->gravity;
    own->gravity_most = model->gravity_most;
    for (int i = 0; i < count; i++) {
        pp_model_apply_change(own, &change[i]);
    }
}
