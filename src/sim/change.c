// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller may change between steps: gravity, friction, actuators, rates of joints, motions of kinematic bodies; and
// forces for the next step. The sim has a copy of the model from the first change on, so that every stage, the
// certificate included, reads the changed numbers, and the model and other sims do not change.
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// ── The list ─────────────────────────────────────────────────────────────────────────────────────

void pp_sim_changes_free(perp_sim *sim)
{
    pp_changes *c = &sim->changes;
    pp_free(&sim->env, c->list, (size_t)c->room * sizeof *c->list);
    pp_free(&sim->env, c->before, (size_t)c->room * sizeof *c->before);
    pp_free(&sim->env, c->acted, (size_t)c->room * sizeof *c->acted);
}

// Room for this many, and the copy of the model; false: no memory, and nothing changed.
static bool reserve(perp_sim *sim, int count)
{
    pp_changes *c = &sim->changes;
    if (count > c->room) {
        int room = count > 2 * c->room ? count : 2 * c->room;
        pp_change *list = pp_alloc(&sim->env, (size_t)room * sizeof *list);
        pp_change *before = pp_alloc(&sim->env, (size_t)room * sizeof *before);
        pp_change *acted = pp_alloc(&sim->env, (size_t)room * sizeof *acted);
        if (!list || !before || !acted) {
            pp_free(&sim->env, list, (size_t)room * sizeof *list);
            pp_free(&sim->env, before, (size_t)room * sizeof *before);
            pp_free(&sim->env, acted, (size_t)room * sizeof *acted);
            return false;
        }
        if (c->room > 0) {
            memcpy(list, c->list, (size_t)c->count * sizeof *list);
            memcpy(before, c->before, (size_t)c->kept * sizeof *before);
            memcpy(acted, c->acted, (size_t)c->acted_count * sizeof *acted);
        }
        pp_sim_changes_free(sim);
        c->list = list;
        c->before = before;
        c->acted = acted;
        c->room = room;
    }
    // the tree of the sim has a pointer to the model of its own
    if (!c->own) {
        c->own = pp_model_own(sim->given, sim->memory);
        if (!c->own) {
            return false;
        }
        sim->model = c->own;
        if (sim->tree) {
            sim->tree->model = c->own;
        }
    }
    return true;
}

// Contacts that were found have the coefficients of then, and driven bodies are where they are now.
static void look_again(perp_sim *sim)
{
    sim->contact_cache.valid = false;
    sim->contact_cache.gaps.seen = (pp_gaps_seen){0};
    sim->contact_cache.aims = (pp_aims_seen){0};
    pp_islands_forget(sim->islands, true);
    pp_frames(sim->model, &sim->now, sim->frames);
}

perp_status pp_sim_changes_check(const perp_sim *sim, const pp_change *list, int count)
{
    for (int i = 0; i < count; i++) {
        perp_status status = pp_model_check_change(sim->given, &list[i], NULL);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

bool pp_sim_changes_set(perp_sim *sim, const pp_change *list, int count)
{
    pp_changes *c = &sim->changes;
    if (count == 0 && !c->own) {
        return true;
    }
    if (!reserve(sim, count)) {
        return false;
    }
    if (count > 0) {
        memcpy(c->list, list, (size_t)count * sizeof *list);
    }
    c->count = count;
    pp_model_apply_changes(c->own, sim->given, c->list, count);
    look_again(sim);
    return true;
}

void pp_sim_changes_begin(perp_sim *sim)
{
    pp_changes *c = &sim->changes;
    c->kept = c->count;
    if (c->count > 0) {
        memcpy(c->before, c->list, (size_t)c->count * sizeof *c->before);
    }
}

// Changes after the step are of the next one.
void pp_sim_changes_done(perp_sim *sim)
{
    pp_changes *c = &sim->changes;
    c->acted_count = c->count;
    if (c->count > 0) {
        memcpy(c->acted, c->list, (size_t)c->count * sizeof *c->acted);
    }
}

void pp_sim_changes_undo(perp_sim *sim)
{
    pp_changes *c = &sim->changes;
    bool same =
        c->kept == c->count &&
        (c->count == 0 || memcmp(c->before, c->list, (size_t)c->count * sizeof *c->before) == 0);
    if (c->own && !same) {
        (void)pp_sim_changes_set(sim, c->before, c->kept);  // there is room
    }
}

// The item of the list, or what the model has there.
static pp_change current(const perp_sim *sim, pp_change_kind kind, int object)
{
    for (int i = 0; i < sim->changes.count; i++) {
        const pp_change *c = &sim->changes.list[i];
        if (c->kind == (int32_t)kind && c->object == object) {
            return *c;
        }
    }
    return pp_model_read_change(sim->model, kind, object);
}

// One change, all or nothing.
static perp_status change(perp_sim *sim, const pp_change *to)
{
    pp_changes *c = &sim->changes;
    perp_status status = pp_model_check_change(sim->given, to, &sim->error);
    if (status < 0) {
        return status;
    }
    int i = 0;
    while (i < c->count && (c->list[i].kind != to->kind || c->list[i].object != to->object)) {
        i++;
    }
    if (i == c->count) {
        if (!reserve(sim, c->count + 1)) {
            return pp_fail(&sim->error, PERP_ERR_MEMORY, "allocation failed");
        }
        c->count++;
    }
    c->list[i] = *to;
    pp_model_apply_change(c->own, to);
    look_again(sim);
    return PERP_OK;
}

// ── Parameters ───────────────────────────────────────────────────────────────────────────────────

perp_status perp_sim_gravity_set(perp_sim *sim, perp_vec3 gravity_W)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    pp_change to = {.kind = PP_CHANGE_GRAVITY, .value = {gravity_W.x, gravity_W.y, gravity_W.z}};
    return change(sim, &to);
}

perp_vec3 perp_sim_gravity(const perp_sim *sim)
{
    return sim ? sim->model->gravity : (perp_vec3){0.0, 0.0, 0.0};
}

perp_status perp_sim_shape_friction_set(perp_sim *sim, perp_shape shape, double mu, double mu_spin,
                                        double mu_roll)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    pp_change to = {.kind = PP_CHANGE_SHAPE, .object = shape.i, .value = {mu, mu_spin, mu_roll}};
    return change(sim, &to);
}

// The last rule for the pair, as pp_model_pair finds it; -1: there is none.
static int rule_of(const perp_model *m, int a, int b)
{
    int found = -1, low = a < b ? a : b, high = a < b ? b : a;
    for (int i = 0; i < m->pairs; i++) {
        found = m->pair[i].a == low && m->pair[i].b == high ? i : found;
    }
    return found;
}

// A rule and the listed contacts of the two shapes: either decides alone where both exist.
perp_status perp_sim_pair_friction_set(perp_sim *sim, perp_shape a, perp_shape b,
                                       perp_friction friction)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->given;
    pp_change to = {.kind = PP_CHANGE_PAIR,
                    .object = rule_of(m, a.i, b.i),
                    .value = {friction.mu, friction.mu_2, friction.mu_spin, friction.mu_roll}};
    int found = 0;
    perp_status status = PERP_OK;
    // room for all of them first, so that all or none is changed
    if (!reserve(sim, sim->changes.count + m->listed + 1)) {
        return pp_fail(&sim->error, PERP_ERR_MEMORY, "allocation failed");
    }
    if (to.object >= 0) {
        found++;
        status = change(sim, &to);
    }
    for (int i = 0; i < m->listed; i++) {
        const pp_listed *c = &m->contact[i];
        bool same = (c->a == a.i && c->b == b.i) || (c->a == b.i && c->b == a.i);
        if (!same || status < 0) {
            continue;
        }
        found++;
        to.kind = PP_CHANGE_CONTACT;
        to.object = i;
        status = change(sim, &to);
    }
    if (found == 0) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "friction: there is no rule and no listed contact for these shapes; add one "
                       "to the model, or change the friction of the shapes");
    }
    return status;
}

perp_friction perp_sim_pair_friction(const perp_sim *sim, perp_shape a, perp_shape b)
{
    perp_friction none = {0.0, -1.0, 0.0, 0.0};
    int shapes = sim ? sim->model->shapes : 0;
    if (a.i < 0 || a.i >= shapes || b.i < 0 || b.i >= shapes || a.i == b.i) {
        return none;
    }
    pp_pair_rule pair;
    pp_model_pair(sim->model, a.i, b.i, &pair);
    return (perp_friction){pair.mu, pair.mu_2, pair.mu_spin, pair.mu_roll};
}

static bool has_actuator(perp_sim *sim, perp_actuator actuator)
{
    if (actuator.i < 0 || actuator.i >= sim->model->actuators) {
        pp_fail(&sim->error, PERP_ERR_ARGUMENT, "actuator %d does not exist", actuator.i);
        return false;
    }
    return true;
}

perp_status perp_sim_actuator_gains_set(perp_sim *sim, perp_actuator actuator, double gain,
                                        const double bias[3])
{
    if (!sim || !bias || !has_actuator(sim, actuator)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_change to = current(sim, PP_CHANGE_ACTUATOR, actuator.i);
    to.value[0] = gain;
    memcpy(to.value + 1, bias, 3 * sizeof *bias);
    return change(sim, &to);
}

perp_status perp_sim_actuator_limits_set(perp_sim *sim, perp_actuator actuator, double lower,
                                         double upper)
{
    if (!sim || !has_actuator(sim, actuator)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_change to = current(sim, PP_CHANGE_ACTUATOR, actuator.i);
    to.value[4] = lower;
    to.value[5] = upper;
    return change(sim, &to);
}

perp_actuator_law perp_sim_actuator_law(const perp_sim *sim, perp_actuator actuator)
{
    if (!sim || actuator.i < 0 || actuator.i >= sim->model->actuators) {
        return (perp_actuator_law){.joint = {-1}};
    }
    const pp_actuator *a = &sim->model->actuator[actuator.i];  // with the changes of this sim
    return (perp_actuator_law){.gear = a->gear,
                               .gain = a->gain,
                               .bias = {a->bias[0], a->bias[1], a->bias[2]},
                               .lower = a->lower,
                               .upper = a->upper,
                               .joint = {a->joint}};
}

perp_status perp_sim_joint_rate_set(perp_sim *sim, perp_joint joint, double rate, double effort)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    pp_change to = {.kind = PP_CHANGE_JOINT, .object = joint.i, .value = {rate, effort}};
    return change(sim, &to);
}

perp_status perp_sim_joint_target_set(perp_sim *sim, perp_joint joint, double position, double rate)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    pp_change to = {
        .kind = PP_CHANGE_TARGET, .object = joint.i, .value = {sim->now.t, position, rate}};
    if (joint.i >= 0 && joint.i < m->joints && sim->def.stepper == PERP_STEPPER_EVENT &&
        m->joint[joint.i].target && !(m->joint[joint.i].epsilon > 0.0)) {
        pp_row row;
        pp_poses now = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
        pp_joint_coordinate(m, &now, joint.i, &row);
        // as exact as coordinates are found (H12)
        if (fabs(position - row.value) > 1e-8 * (1.0 + fabs(row.value))) {
            return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                           "joint '%s': 'event' cannot move it from %g to %g at once; start at its "
                           "coordinate with a rate, or give the joint an epsilon",
                           m->joint[joint.i].name, row.value, position);
        }
    }
    return change(sim, &to);
}

// ── Kinematic bodies ─────────────────────────────────────────────────────────────────────────────

perp_status perp_sim_body_motion_set(perp_sim *sim, perp_body body, const perp_pose *X_WB,
                                     const perp_twist *V_W)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    if (body.i < 0 || body.i >= m->bodies) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "body %d does not exist", body.i);
    }
    pp_frame f = sim->frames[body.i];
    perp_quat rot = f.rot;
    if (X_WB) {
        double norm = pp_quat_norm(X_WB->rot);
        if (!(norm > 0.999) || !(norm < 1.001)) {
            return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                           "body '%s': the rotation must be a quaternion of length 1",
                           m->body[body.i].name);
        }
        rot = pp_quat_unit(X_WB->rot);
        f.p = X_WB->p;
    }
    perp_vec3 v = V_W ? V_W->v_W : pp_vec(0.0, 0.0, 0.0);
    perp_vec3 w = V_W ? V_W->w_W : pp_vec(0.0, 0.0, 0.0);
    // in the plane the angle keeps its turns: the nearest one to where the body is
    double angle = f.angle;
    if (!m->spatial) {
        const double turn = 6.283185307179586;
        double given = X_WB ? 2.0 * pp_atan2(rot.z, rot.w) : angle;
        angle = given + turn * round((f.angle - given) / turn);
        f.p.z = v.z = w.x = w.y = 0.0;
    }
    pp_change to = {.kind = PP_CHANGE_BODY,
                    .object = body.i,
                    .value = {sim->now.t, f.p.x, f.p.y, f.p.z, angle, rot.w, rot.x, rot.y, rot.z,
                              v.x, v.y, v.z, w.x, w.y, w.z}};
    return change(sim, &to);
}

// ── Forces for the next step ─────────────────────────────────────────────────────────────────────

void perp_sim_body_apply_at(perp_sim *sim, perp_body body, perp_vec3 force_W, perp_vec3 point_W)
{
    if (sim && body.i >= 0 && body.i < sim->model->bodies) {
        perp_vec3 arm = pp_sub(point_W, sim->frames[body.i].p);
        perp_sim_body_apply(sim, body, (perp_wrench){force_W, pp_cross(arm, force_W)});
    }
}

// Effort times the gradient of the row, as a wrench on its k-th body.
static perp_wrench row_wrench(const perp_model *m, const pp_row *row, int k, double effort)
{
    double sum[PP_BODY_NV] = {0.0};
    const pp_body *b = &m->body[row->body[k]];
    for (int i = 0; i < b->nv; i++) {
        sum[b->axis[i]] = effort * row->J[k][i];
    }
    return (perp_wrench){{sum[0], sum[1], sum[2]}, {sum[3], sum[4], sum[5]}};
}

// On a body that is not free: forces are opposite, and so are torques about one point.
static void apply_reaction(perp_sim *sim, const pp_joint *j, const pp_row *row, double effort)
{
    const perp_model *m = sim->model;
    int held = m->body[j->a].nv == 0 ? j->a : j->b, free = held == j->a ? j->b : j->a;
    if (m->body[held].nv > 0 || row->count != 1) {
        return;
    }
    perp_wrench on = row_wrench(m, row, 0, effort);
    perp_vec3 arm = pp_sub(sim->frames[free].p, sim->frames[held].p);
    on.tau_W = pp_scale(-1.0, pp_add(on.tau_W, pp_cross(arm, on.f_W)));
    on.f_W = pp_scale(-1.0, on.f_W);
    perp_sim_body_apply(sim, (perp_body){held}, on);
}

// The row of the coordinate has the wrench of a unit effort on the free bodies.
perp_status perp_sim_joint_apply(perp_sim *sim, perp_joint joint, double effort)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    if (joint.i < 0 || joint.i >= m->joints || !pp_joint_has_coordinate(&m->joint[joint.i])) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "joint %d does not exist, or has no coordinate", joint.i);
    }
    if (!isfinite(effort)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "joint '%s': the effort is not finite",
                       m->joint[joint.i].name);
    }
    // efforts act at the poses of now, which are those where the next step starts
    const pp_joint *j = &m->joint[joint.i];
    pp_poses now = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    pp_row row;
    pp_joint_coordinate(m, &now, joint.i, &row);
    for (int k = 0; k < row.count; k++) {
        perp_body body = {row.body[k]};
        perp_sim_body_apply(sim, body, row_wrench(m, &row, k, effort));
    }
    if (!pp_joint_couples(j)) {
        apply_reaction(sim, j, &row, effort);
    }
    return PERP_OK;
}
