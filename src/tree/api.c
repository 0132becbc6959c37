// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The public face of tree/: a tree with a state of its own. Functions check their arguments and
// pass the current pass on to the algorithms.
#include "tree/face.h"

#include "math/math.h"

#include <string.h>

// The two states: `which` is tree->now, or the other one.
static double *q_of(const perp_tree *t, int which)
{
    return t->state[which];
}

static double *qd_of(const perp_tree *t, int which)
{
    return t->state[which] + t->tree.nq;
}

// ── Made ─────────────────────────────────────────────────────────────────────────────────────────

// The public description of links, loops and names, which does not change.
static void name_coordinates(perp_tree *t)
{
    const pp_tree *tree = &t->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        t->link[i] = (perp_link){.body = {l->body},
                                 .parent = {l->carrier},
                                 .joint = {l->joint},
                                 .nq = l->nq,
                                 .nv = l->nv,
                                 .at_q = l->at_q,
                                 .at_v = l->at_v};
    }
    for (int i = 0; i < tree->loops; i++) {
        t->loop[i].i = tree->loop[i];
    }
    for (int k = 0; k < tree->nq; k++) {
        pp_tree_name_q(tree, k, t->names + (size_t)k * PP_TREE_NAME, PP_TREE_NAME);
    }
    for (int k = 0; k < tree->nv; k++) {
        pp_tree_name_v(tree, k, t->names + (size_t)(tree->nq + k) * PP_TREE_NAME, PP_TREE_NAME);
    }
}

// Two states: a new one is built in the place that is not current, so that a call that fails leaves
// the tree as it was.
static bool allocate_tree(perp_tree *t)
{
    const pp_tree *tree = &t->tree;
    size_t numbers = (size_t)tree->nq + (size_t)tree->nv;
    t->state[0] = PP_ZEROS(t->memory, double, numbers);
    t->state[1] = PP_ZEROS(t->memory, double, numbers);
    t->turn = PP_ARRAY(t->memory, double, tree->model->joints);
    t->frames = PP_ARRAY(t->memory, pp_frame, tree->model->bodies);
    t->link = PP_ARRAY(t->memory, perp_link, tree->links);
    t->loop = PP_ARRAY(t->memory, perp_joint, tree->loops);
    t->names = PP_ARRAY(t->memory, char, numbers *PP_TREE_NAME);
    const perp_model *m = tree->model;
    t->input = PP_ARRAY(t->memory, double, m->inputs);
    t->filter = PP_ARRAY(t->memory, double, m->actuators);
    t->settled = PP_ARRAY(t->memory, double, m->actuators);
    t->drive.input = t->input;
    if (!t->input || !t->filter || !t->settled) {
        return false;
    }
    for (int i = 0; i < m->inputs; i++) {
        t->input[i] = m->input[i].value;
    }
    for (int i = 0; i < m->actuators; i++) {
        t->filter[i] = (double)NAN;
    }
    return t->state[0] && t->state[1] && t->turn && t->frames && t->link && t->loop && t->names;
}

// The state at t = 0 from the initial poses of the bodies. A spatial joint has the coordinate -angle there, which may be
// several turns; in the plane angles of bodies have them.
static perp_status read_initial_state(perp_tree *t)
{
    const perp_model *m = t->tree.model;
    pp_state state = {.t = 0.0};
    state.q = PP_ARRAY(t->memory, double, m->nq);
    state.nu = PP_ARRAY(t->memory, double, m->nv);
    if (!state.q || !state.nu || !allocate_tree(t)) {
        return PERP_ERR_MEMORY;
    }
    name_coordinates(t);
    for (int i = 0; i < m->joints; i++) {
        t->turn[i] = m->spatial ? -m->joint[i].angle : (double)NAN;
    }
    pp_state_start(m, &state);
    return perp_tree_set_bodies(t, 0.0, state.q, state.nu, NULL, NULL);
}

// The error text is that of the first failure.
perp_status perp_tree_create(const perp_model *model, const perp_joint *joints, int count,
                             const perp_env *env, perp_tree **tree, perp_error *error)
{
    if (!model || !tree || count < 0 || (count > 0 && !joints)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "tree: model or output pointer is NULL");
    }
    *tree = NULL;
    perp_tree *t = pp_alloc(env, sizeof *t);
    if (!t) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    *t = (perp_tree){.env = env ? *env : (perp_env){0}};
    t->memory = pp_arena_create(env);
    t->room[0] = pp_arena_create(env);
    t->room[1] = pp_arena_create(env);
    int *named = t->memory ? PP_ARRAY(t->memory, int, count) : NULL;
    perp_status status = PERP_ERR_MEMORY;
    if (named && t->room[0] && t->room[1]) {
        for (int i = 0; i < count; i++) {
            named[i] = joints[i].i;
        }
        status = pp_tree_create(&t->tree, model, named, count, t->memory, error);
        if (status < 0) {  // the reason is in error already
            perp_tree_destroy(t);
            return status;
        }
        status = read_initial_state(t);
    }
    if (status < 0) {
        perp_tree_destroy(t);
        return pp_fail(error, status, "tree: %s", perp_status_text(status));
    }
    *tree = t;
    return PERP_OK;
}

// NULL is allowed. The allocator is copied out of the tree before the tree is freed.
void perp_tree_destroy(perp_tree *tree)
{
    if (tree) {
        perp_env env = tree->env;
        pp_arena_destroy(tree->room[0]);
        pp_arena_destroy(tree->room[1]);
        pp_arena_destroy(tree->memory);
        pp_free(&env, tree, sizeof *tree);
    }
}

// Questions about NULL have the answer of an empty tree.
const perp_model *perp_tree_model(const perp_tree *tree)
{
    return tree ? tree->tree.model : NULL;
}

void perp_tree_size(const perp_tree *tree, int *nq, int *nv)
{
    if (nq) {
        *nq = tree ? tree->tree.nq : 0;
    }
    if (nv) {
        *nv = tree ? tree->tree.nv : 0;
    }
}

const perp_link *perp_tree_links(const perp_tree *tree, int *count)
{
    if (count) {
        *count = tree ? tree->tree.links : 0;
    }
    return tree ? tree->link : NULL;
}

const perp_joint *perp_tree_loops(const perp_tree *tree, int *count)
{
    if (count) {
        *count = tree ? tree->tree.loops : 0;
    }
    return tree ? tree->loop : NULL;
}

// NULL for an index out of range.
const char *perp_tree_coordinate_name(const perp_tree *tree, int k)
{
    return tree && k >= 0 && k < tree->tree.nq ? tree->names + (size_t)k * PP_TREE_NAME : NULL;
}

const char *perp_tree_velocity_name(const perp_tree *tree, int k)
{
    return tree && k >= 0 && k < tree->tree.nv
               ? tree->names + (size_t)(tree->tree.nq + k) * PP_TREE_NAME
               : NULL;
}

// ── State ────────────────────────────────────────────────────────────────────────────────────────

// Normalises quaternions; false where one has no direction.
static bool normalise_quaternions(const pp_tree *tree, double *q)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        // A link with a quaternion has one coordinate more than velocities, and the quaternion
        // last.
        if (l->nq > l->nv) {
            double *at = q + l->at_q + l->nq - 4;
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

// Finite coordinates may still lead to infinite positions or accelerations.
static bool is_somewhere(const pp_tree_pass *pass)
{
    for (int i = 0; i < pass->tree->links; i++) {
        int body = pass->tree->link[i].body;
        if (!pp_finite3(pass->body[body].p) || !pp_finite3(pass->sigma[body].v_W) ||
            !pp_finite3(pass->sigma[body].w_W)) {
            return false;
        }
    }
    return true;
}

// Computes everything of the state that was written to the other place, and makes it the current
// one.
static perp_status commit_state(perp_tree *t, double time)
{
    int tried = 1 - t->now;
    pp_tree_pass pass;
    pp_arena_reset(t->room[tried]);
    perp_status status =
        pp_tree_run(&pass, &t->tree, time, q_of(t, tried), qd_of(t, tried), t->room[tried]);
    if (status >= 0 && !is_somewhere(&pass)) {
        status = PERP_ERR_NUMERIC;
    }
    if (status >= 0) {
        t->pass = pass;
        t->pass.rotors = true;
        t->pass.turn = t->turn;
        t->pass.input = t->input;
        t->now = tried;
        pp_tree_turns(&t->pass, t->turn);
    }
    return status;
}

// The new state is written beside the current one, and takes its place only when all of it could be computed.
perp_status perp_tree_set(perp_tree *tree, double t, const double *q, const double *qd)
{
    if (!tree) {
        return PERP_ERR_ARGUMENT;
    }
    size_t nq = (size_t)tree->tree.nq, nv = (size_t)tree->tree.nv;
    int tried = 1 - tree->now;
    // A model without free bodies has no coordinates, and needs no arrays.
    if (!isfinite(t) ||
        (nv > 0 && (!q || !qd || !pp_all_finite(nq, q) || !pp_all_finite(nv, qd)))) {
        return PERP_ERR_ARGUMENT;
    }
    if (nv > 0) {
        memcpy(q_of(tree, tried), q, nq * sizeof *q);
        memcpy(qd_of(tree, tried), qd, nv * sizeof *qd);
    }
    return normalise_quaternions(&tree->tree, q_of(tree, tried)) ? commit_state(tree, t)
                                                                 : PERP_ERR_ARGUMENT;
}

// Any of the outputs may be NULL.
void perp_tree_get(const perp_tree *tree, double *t, double *q, double *qd)
{
    if (!tree) {
        return;
    }
    if (t) {
        *t = tree->pass.t;
    }
    if (q) {
        memcpy(q, q_of(tree, tree->now), (size_t)tree->tree.nq * sizeof *q);
    }
    if (qd) {
        memcpy(qd, qd_of(tree, tree->now), (size_t)tree->tree.nv * sizeof *qd);
    }
}

// A state given by bodies. Joints may be slightly open; the coordinates are then the nearest ones.
// lost: by how much [m, rad]; lost_rate: velocities that no rates of the joints explain [m/s,
// rad/s].
perp_status perp_tree_set_bodies(perp_tree *tree, double t, const double *q, const double *nu,
                                 double *lost, double *lost_rate)
{
    if (!tree) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = tree->tree.model;
    int tried = 1 - tree->now;
    double worst[2];
    if (!isfinite(t) || (m->nv > 0 && (!q || !nu || !pp_all_finite((size_t)m->nq, q) ||
                                       !pp_all_finite((size_t)m->nv, nu)))) {
        return PERP_ERR_ARGUMENT;
    }
    // Positions first, then the unit quaternion.
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (body->nq == 7) {
            const double *at = q + body->at_q + 3;
            double norm = pp_quat_norm((perp_quat){at[0], at[1], at[2], at[3]});
            if (!(fabs(norm - 1.0) < 1e-6)) {
                return PERP_ERR_ARGUMENT;
            }
        }
    }
    // pp_frames only reads the state.
    pp_state state = {.t = t, .q = (double *)(uintptr_t)q, .nu = (double *)(uintptr_t)nu};
    pp_frames(m, &state, tree->frames);
    pp_tree_from_frames(&tree->tree, t, tree->frames, tree->turn, q_of(tree, tried),
                        qd_of(tree, tried), &worst[0], &worst[1]);
    perp_status status = commit_state(tree, t);
    if (status >= 0 && lost) {
        *lost = worst[0];
    }
    if (status >= 0 && lost_rate) {
        *lost_rate = worst[1];
    }
    return status;
}

// The state as numbers of bodies, laid out as in perp_sim_state_get.
void perp_tree_get_bodies(const perp_tree *tree, double *t, double *q, double *nu)
{
    if (!tree) {
        return;
    }
    const perp_model *m = tree->tree.model;
    if (t) {
        *t = tree->pass.t;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *f = &tree->pass.body[i];
        const double v[PP_BODY_NV] = {f->v.x, f->v.y, f->v.z, f->w.x, f->w.y, f->w.z};
        const double space[7] = {f->p.x, f->p.y, f->p.z, f->rot.w, f->rot.x, f->rot.y, f->rot.z};
        const double plane[3] = {f->p.x, f->p.y, f->angle};
        if (nu) {
            for (int k = 0; k < body->nv; k++) {
                nu[body->at + k] = v[body->axis[k]];
            }
        }
        if (q && body->nq > 0) {
            const double *from = pp_body_is_spatial(body) ? space : plane;
            memcpy(q + body->at_q, from, (size_t)body->nq * sizeof *q);
        }
    }
}

void perp_tree_coordinate_rates(const perp_tree *tree, double *q_dot)
{
    if (!tree || !q_dot) {
        return;
    }
    pp_tree_q_dot(&tree->tree, q_of(tree, tree->now), qd_of(tree, tree->now), q_dot);
}

// Frames are those of the bodies, with the origin at the centre of mass.
perp_pose perp_tree_pose(const perp_tree *tree, perp_body body)
{
    perp_pose none = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    if (!has_body(tree, body)) {
        return none;
    }
    const pp_frame *f = &tree->pass.body[body.i];
    return (perp_pose){f->p, f->rot};
}

perp_twist perp_tree_twist(const perp_tree *tree, perp_body body)
{
    perp_twist none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    return has_body(tree, body) ? pp_frame_twist(&tree->pass.body[body.i]) : none;
}

// ── Dynamics ─────────────────────────────────────────────────────────────────────────────────────

void perp_tree_mass(perp_tree *tree, double *H)
{
    if (!tree || !H) {
        return;
    }
    pp_tree_mass(&tree->pass, H);
}

void perp_tree_bias(perp_tree *tree, double *C)
{
    if (!tree || !C) {
        return;
    }
    pp_tree_bias(&tree->pass, C);
}

// Filters that were not given have settled: their value is the control itself.
perp_status perp_tree_forces(perp_tree *tree, const perp_wrench *applied, double *tau)
{
    if (!tree || !tau) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = tree->tree.model;
    const pp_drive drive = {.t = tree->pass.t, .input = tree->input, .filter = tree->settled};
    for (int i = 0; i < m->actuators; i++) {
        bool given = isfinite(tree->filter[i]);
        tree->settled[i] = given ? tree->filter[i]
                                 : pp_expr_value_in(m->actuator[i].control, &drive.t, drive.input);
    }
    return pp_tree_forces(&tree->pass, tree->turn, &drive, applied, tau, tree->room[tree->now]);
}

// A count that is not the model's is a mistake, and nothing is changed.
perp_status perp_tree_inputs_set(perp_tree *tree, const double *values, int count)
{
    if (!tree || count != tree->tree.model->inputs || (count > 0 && !values) ||
        !pp_all_finite((size_t)count, values)) {
        return PERP_ERR_ARGUMENT;
    }
    for (int i = 0; i < count; i++) {
        const pp_input *input = &tree->tree.model->input[i];
        tree->input[i] = pp_clamp(values[i], input->lower, input->upper);
    }
    return PERP_OK;
}

void perp_tree_filter_set(perp_tree *tree, perp_actuator actuator, double value)
{
    if (tree && actuator.i >= 0 && actuator.i < tree->tree.model->actuators) {
        tree->filter[actuator.i] = value;
    }
}

// Arrays of a tree without velocities may be NULL.
static bool are_finite(const perp_tree *tree, const double *x)
{
    size_t nv = (size_t)tree->tree.nv;
    return nv == 0 || (x && pp_all_finite(nv, x));
}

// Recursive Newton-Euler algorithm.
perp_status perp_tree_inverse(perp_tree *tree, const double *qdd, double *tau)
{
    if (!tree || !tau) {
        return PERP_ERR_ARGUMENT;
    }
    if (!are_finite(tree, qdd)) {
        return PERP_ERR_ARGUMENT;
    }
    return pp_tree_inverse(&tree->pass, qdd, tau, tree->room[tree->now]);
}

// Articulated-body algorithm: tau are all generalized forces but the bias.
perp_status perp_tree_forward(perp_tree *tree, const double *tau, double *qdd)
{
    if (!tree || !qdd) {
        return PERP_ERR_ARGUMENT;
    }
    if (!are_finite(tree, tau)) {
        return PERP_ERR_ARGUMENT;
    }
    return pp_tree_forward(&tree->pass, tau, qdd, tree->room[tree->now]);
}

// Of all bodies that the tree moves [J].
double perp_tree_kinetic(const perp_tree *tree)
{
    return tree ? pp_tree_kinetic(&tree->pass) : 0.0;
}

double perp_tree_potential(const perp_tree *tree)
{
    return tree ? pp_tree_potential(&tree->pass, tree->turn) : 0.0;
}

// Rotors have no linear momentum here, and their spin is not counted: the armature is an inertia along the joint.
perp_twist perp_tree_momentum(const perp_tree *tree)
{
    if (!tree) {
        return (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    return pp_tree_momentum(&tree->pass);
}
