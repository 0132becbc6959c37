// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// States given by joint coordinates: keyframes of the model, and the state of a sim as a tree of joints has it. Both work
// for sims of either coordinates: bodies are placed by a tree that is made for it, unless the sim has one.
#include "sim/step/stages.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// Scratch for one call.
typedef struct placing {
    const pp_tree *tree;
    pp_tree own;  // where the sim has no tree
    pp_arena *arena;
    double *q, *qd;
    pp_frame *body;
    int *
        group;  // links: the first link of the bodies that are connected; -1: to one that is not free
} placing;

static void close_placing(placing *p)
{
    pp_arena_destroy(p->arena);
}

// named: joints that the tree is to have.
static perp_status open_placing(const perp_sim *sim, placing *p, const pp_tree *tree,
                                const int *named, int count, perp_error *error)
{
    const perp_model *m = sim->model;
    *p = (placing){.tree = tree, .arena = pp_arena_create(&sim->env)};
    perp_status status = p->arena ? PERP_OK : pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    if (status >= 0 && !tree) {
        status = pp_tree_create(&p->own, m, named, count, p->arena, error);
        p->tree = &p->own;
    }
    if (status < 0) {
        return status;
    }
    p->q = PP_ZEROS(p->arena, double, p->tree->nq);
    p->qd = PP_ZEROS(p->arena, double, p->tree->nv);
    p->body = PP_ARRAY(p->arena, pp_frame, m->bodies);
    p->group = PP_ARRAY(p->arena, int, p->tree->links);
    if (!p->q || !p->qd || !p->body || !p->group) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    // parents come before their children
    for (int i = 0; i < p->tree->links; i++) {
        const pp_link *l = &p->tree->link[i];
        if (l->parent >= 0) {
            p->group[i] = p->group[l->parent];
        } else {
            p->group[i] = l->joint >= 0 ? -1 : i;
        }
    }
    return PERP_OK;
}

// The state of the sim becomes that of the frames. Turns of joints that close loops are the nearest to those of now.
static void take_frames(perp_sim *sim, const placing *p, double t)
{
    const perp_model *m = sim->model;
    pp_hybrid_state(m, p->body, sim->now.q, sim->now.nu);
    sim->now.t = t;
    pp_sim_step_clock_set(sim);
    pp_frames(m, &sim->now, sim->frames);
    // joints of the tree have their turns in q, the others follow
    for (int i = 0; i < p->tree->links; i++) {
        const pp_link *l = &p->tree->link[i];
        if (l->joint >= 0 && pp_joint_has_coordinate(&m->joint[l->joint])) {
            sim->now.turn[l->joint] = p->q[l->at_q + (l->kind == PP_LINK_PLANE ? 2 : 0)];
        }
    }
    pp_sim_keep_turns(sim);
}

// Nothing is known of contacts at another state, and nothing is left of the last step.
static void forget_step(perp_sim *sim)
{
    const perp_model *m = sim->model;
    sim->warm_count = sim->contact_count = 0;
    sim->contact_cache.valid = false;
    sim->refused.i = -1;
    sim->parts.done = sim->projected = false;
    sim->sensing.h = 0.0;
    sim->flown = (pp_hybrid_result){0};
    sim->info = (perp_step_info){0};
    pp_sim_clear_parts(sim);
    memset(sim->warm_rows, 0, pp_warm_rows(m) * sizeof *sim->warm_rows);
    memset(sim->applied, 0, (size_t)m->bodies * sizeof *sim->applied);
    memset(sim->pushed, 0, (size_t)m->bodies * sizeof *sim->pushed);
}

// ── Keyframes ────────────────────────────────────────────────────────────────────────────────────

// Inputs as the model has them, or as the keyframe does; filters have settled.
static void place_inputs(perp_sim *sim, int keyframe)
{
    const perp_model *m = sim->model;
    pp_controls *c = &sim->controls;
    if (!c->any) {
        return;
    }
    for (int i = 0; i < m->inputs; i++) {
        c->input[i] = m->input[i].value;
        c->taken[i] = 0.0;
    }
    // a value takes the place of the input's source, as perp_sim_input_set does
    for (int i = 0; i < m->keyframe_inputs; i++) {
        const pp_keyframe_input *item = &m->keyframe_input[i];
        if (item->keyframe == keyframe) {
            c->input[item->input] = item->value;
            c->taken[item->input] = 1.0;
        }
    }
    for (int i = 0; i < m->actuators; i++) {
        c->filter[i] = pp_expr_value_in(m->actuator[i].control, &sim->now.t, c->input);
        c->mean[i] = c->end[i] = c->filter[i];
        c->impulse[i] = 0.0;
    }
    c->drive.t = sim->now.t;
}

// Coordinates of one joint. A spherical one has the rotation of b in a, and the tree that of the child in its parent.
static void place_joint(const placing *p, const pp_keyframe_joint *item)
{
    for (int i = 0; i < p->tree->links; i++) {
        const pp_link *l = &p->tree->link[i];
        double *q = p->q + l->at_q, *qd = p->qd + l->at_v;
        if (l->joint != item->joint) {
            continue;
        }
        if (item->placed) {
            memcpy(q, item->position, (size_t)l->nq * sizeof *q);
        }
        if (item->moving) {
            memcpy(qd, item->rate, (size_t)l->nv * sizeof *qd);
        }
        if (l->kind == PP_LINK_SPHERICAL && l->turned) {
            perp_quat rot = {q[0], q[1], q[2], q[3]};
            perp_vec3 w = {qd[0], qd[1], qd[2]};
            if (item->placed) {
                rot = pp_quat_conjugate(rot);
                memcpy(q, &rot, sizeof rot);
            }
            // of a relative to b, in a's axes; rot is now that of a in b
            if (item->moving) {
                pp_mat3 R = pp_quat_matrix(rot);
                w = pp_scale(-1.0, pp_mul_t(&R, w));
                memcpy(qd, &w, sizeof w);
            }
        }
        return;
    }
}

// Moves the bodies that are connected to one as a rigid whole, such that this one has the given pose and velocity.
static void place_body(const perp_sim *sim, const placing *p, const pp_keyframe_body *item)
{
    const perp_model *m = sim->model;
    const pp_tree *tree = p->tree;
    const pp_frame from = p->body[item->body];
    perp_quat by = pp_quat_mul(item->rot, pp_quat_conjugate(from.rot));
    double angle = item->angle - from.angle;
    if (!m->spatial) {
        by = pp_quat_exp(pp_vec(0.0, 0.0, angle));
    }
    bool turns = pp_body_turns(&m->body[item->body]);
    pp_mat3 R = turns ? pp_quat_matrix(by) : pp_identity3();
    perp_vec3 dw = turns ? pp_sub(item->w, pp_mul(&R, from.w)) : pp_vec(0.0, 0.0, 0.0);
    perp_vec3 dv = pp_sub(item->v, pp_mul(&R, from.v));
    int group = p->group[tree->of_body[item->body]];
    for (int i = 0; i < tree->links; i++) {
        pp_frame *f = &p->body[tree->link[i].body];
        if (p->group[i] != group) {
            continue;
        }
        // velocities turn with the bodies, then what is missing of the given one is added to all
        perp_vec3 arm = pp_mul(&R, pp_sub(f->p, from.p));
        f->p = pp_add(item->p, arm);
        f->v = pp_add(pp_add(pp_mul(&R, f->v), dv), pp_cross(dw, arm));
        f->w = pp_add(pp_mul(&R, f->w), dw);
        if (turns && !m->spatial) {
            pp_frame_set_angle(f, f->angle + angle);
        } else if (turns) {
            pp_frame_set_rotation(f, pp_quat_unit(pp_quat_mul(by, f->rot)));
        }
    }
    // the body itself to the last bit
    pp_frame *own = &p->body[item->body];
    own->p = item->p;
    own->v = item->v;
    own->w = turns ? item->w : own->w;
    if (turns && m->spatial) {
        pp_frame_set_rotation(own, item->rot);
    } else if (turns) {
        pp_frame_set_angle(own, item->angle);
    }
}

// Joints first, then the bodies that are connected to no body that is not free.
static perp_status place_bodies(perp_sim *sim, int keyframe, placing *p, perp_error *error)
{
    const perp_model *m = sim->model;
    double t = m->keyframe[keyframe].t, lost, lost_rate;
    pp_tree_from_frames(p->tree, t, sim->frames, sim->now.turn, p->q, p->qd, &lost, &lost_rate);
    for (int i = 0; i < m->keyframe_joints; i++) {
        if (m->keyframe_joint[i].keyframe == keyframe) {
            place_joint(p, &m->keyframe_joint[i]);
        }
    }
    // places of what floats follow, as a rigid motion of the bodies that were placed on each other
    pp_tree_frames(p->tree, t, p->q, p->qd, p->body);
    for (int i = 0; i < m->keyframe_bodies; i++) {
        const pp_keyframe_body *item = &m->keyframe_body[i];
        if (item->keyframe != keyframe) {
            continue;
        }
        if (p->group[p->tree->of_body[item->body]] < 0) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "keyframe '%s': joints connect body '%s' to a body that is not free; "
                           "give the coordinates of the joints",
                           m->keyframe[keyframe].name, m->body[item->body].name);
        }
        place_body(sim, p, item);
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &p->body[i];
        if (!pp_finite3(f->p) || !pp_finite3(f->v) || !pp_finite3(f->w)) {
            return pp_fail(error, PERP_ERR_NUMERIC, "keyframe '%s': body '%s' is not finite",
                           m->keyframe[keyframe].name, m->body[i].name);
        }
    }
    take_frames(sim, p, t);
    return PERP_OK;
}

// From the initial state of the model, which holds for everything that a keyframe leaves out.
perp_status pp_sim_start_at(perp_sim *sim, int keyframe, perp_error *error)
{
    // changes are taken back, which needs no memory
    (void)pp_sim_changes_set(sim, NULL, 0);
    const perp_model *m = sim->model;
    forget_step(sim);
    pp_state_start(m, &sim->now);
    sim->now.t = 0.0;
    pp_sim_step_clock_set(sim);
    pp_frames(m, &sim->now, sim->frames);
    pp_sim_initial_turns(sim);
    perp_status status = PERP_OK;
    if (keyframe >= 0) {
        placing p = {0};
        int count = 0;
        int *named = PP_ARRAY(sim->arena, int, m->keyframe_joints);
        if (!named) {
            return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
        }
        // its joints are in the tree, whatever tree the sim has
        for (int i = 0; i < m->keyframe_joints; i++) {
            if (m->keyframe_joint[i].keyframe == keyframe) {
                named[count++] = m->keyframe_joint[i].joint;
            }
        }
        status = open_placing(sim, &p, NULL, count > 0 ? named : NULL, count, error);
        if (status >= 0) {
            status = place_bodies(sim, keyframe, &p, error);
        }
        close_placing(&p);
    }
    place_inputs(sim, keyframe);
    return status;
}

// The same corrections as of a new sim: overlaps, open joints and crossed limits, then the tree.
static perp_status start_again(perp_sim *sim, int keyframe)
{
    pp_arena_reset(sim->arena);
    perp_status status = pp_sim_start_at(sim, keyframe, &sim->error);
    if (status >= 0) {
        status = pp_sim_fit_start(sim, &sim->error);
    }
    if (status >= 0 && sim->tree) {
        status = pp_sim_project(sim);
        if (status < 0) {
            pp_fail(&sim->error, status, "allocation failed");
        }
    }
    return status;
}

perp_status perp_sim_reset(perp_sim *sim, perp_keyframe keyframe)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (sim->stepping) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "reset: a step is under way; a callback may not reset the sim");
    }
    if (keyframe.i < -1 || keyframe.i >= sim->model->keyframes) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "reset: keyframe %d does not exist",
                       keyframe.i);
    }
    // the state of now, for a keyframe that cannot be reached
    size_t size = perp_sim_state_save_size(sim);
    void *block = pp_alloc(&sim->env, size);
    if (!block) {
        return pp_fail(&sim->error, PERP_ERR_MEMORY, "allocation failed");
    }
    uint64_t placed = sim->placed;
    perp_status status = perp_sim_state_save(sim, block, size);
    if (status >= 0) {
        status = start_again(sim, keyframe.i);
        if (status < 0) {
            // room for warm starts is there already: this does not fail
            perp_status back = perp_sim_state_restore(sim, block, size);
            pp_assert(back == PERP_OK);
            (void)back;
        }
        sim->placed = placed + (status >= 0);
    }
    pp_free(&sim->env, block, size);
    return status;
}

// ── The state as a tree of joints has it ─────────────────────────────────────────────────────────

// The tree of the sim, or the one that it would have in joint coordinates.
static perp_status open_state(const perp_sim *sim, placing *p, perp_error *error)
{
    const int *named = sim->named_count > 0 ? sim->named : NULL;
    return open_placing(sim, p, sim->tree, named, sim->named_count, error);
}

perp_status perp_sim_tree_size(const perp_sim *sim, int *nq, int *nv)
{
    placing p;
    perp_status status = sim ? open_state(sim, &p, NULL) : PERP_ERR_ARGUMENT;
    if (nq) {
        *nq = status < 0 ? 0 : p.tree->nq;
    }
    if (nv) {
        *nv = status < 0 ? 0 : p.tree->nv;
    }
    if (sim) {
        close_placing(&p);
    }
    return status;
}

perp_status perp_sim_tree_state_get(const perp_sim *sim, double *t, double *q, double *qd)
{
    placing p;
    double lost, lost_rate;
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    perp_status status = open_state(sim, &p, NULL);
    if (status >= 0) {
        pp_tree_from_frames(p.tree, sim->now.t, sim->frames, sim->now.turn, p.q, p.qd, &lost,
                            &lost_rate);
        if (t) {
            *t = sim->now.t;
        }
        if (q && p.tree->nq > 0) {
            memcpy(q, p.q, (size_t)p.tree->nq * sizeof *q);
        }
        if (qd && p.tree->nv > 0) {
            memcpy(qd, p.qd, (size_t)p.tree->nv * sizeof *qd);
        }
    }
    close_placing(&p);
    return status;
}

// Quaternions are normalised, as perp_tree_set does; false where one has no direction.
static bool normalise(const placing *p)
{
    for (int i = 0; i < p->tree->links; i++) {
        const pp_link *l = &p->tree->link[i];
        if (l->nq > l->nv) {  // the quaternion is last
            double *at = p->q + l->at_q + l->nq - 4;
            perp_quat rot = {at[0], at[1], at[2], at[3]};
            double norm = pp_quat_norm(rot);
            if (!(norm > 0.0) || !isfinite(norm)) {
                return false;
            }
            rot = pp_quat_unit(rot);
            memcpy(at, &rot, sizeof rot);
        }
    }
    return true;
}

// Everything is checked and placed in scratch memory before the state changes.
static perp_status set_tree_state(perp_sim *sim, placing *p, double t, const double *q,
                                  const double *qd)
{
    size_t nq = (size_t)p->tree->nq, nv = (size_t)p->tree->nv;
    if (!isfinite(t) ||
        (nv > 0 && (!q || !qd || !pp_all_finite(nq, q) || !pp_all_finite(nv, qd)))) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "state: a number is missing or not finite");
    }
    if (nv > 0) {
        memcpy(p->q, q, nq * sizeof *q);
        memcpy(p->qd, qd, nv * sizeof *qd);
    }
    if (!normalise(p)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "state: a quaternion is zero");
    }
    pp_tree_frames(p->tree, t, p->q, p->qd, p->body);
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_frame *f = &p->body[i];
        if (!pp_finite3(f->p) || !pp_finite3(f->v) || !pp_finite3(f->w)) {
            return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                           "state: these coordinates place body '%s' nowhere",
                           sim->model->body[i].name);
        }
    }
    take_frames(sim, p, t);
    return pp_sim_accept_state(sim);
}

perp_status perp_sim_tree_state_set(perp_sim *sim, double t, const double *q, const double *qd)
{
    placing p;
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (sim->stepping) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "state: a step is under way; a callback may not set the state");
    }
    perp_status status = open_state(sim, &p, &sim->error);
    if (status >= 0) {
        status = set_tree_state(sim, &p, t, q, qd);
    }
    close_placing(&p);
    return status;
}
