// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Creating a sim, and reading it. A sim owns its memory and refers to the model, which must live longer; two sims may share
// a model, since it is const.
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// In every definition that perp_sim_default made: one that was filled by hand, or by zeros, is refused.
#define SIM_COOKIE 0x70490002u

// Enums are 0 by default: stewart-trinkle, form auto, coulomb, newton, exponential, implicit,
// linear, mended, body.
perp_sim_def perp_sim_default(void)
{
    return (perp_sim_def){
        .tolerance = 1e-8,
        .max_work = 2000.0,
        .theta = 0.5,
        .facets = 8,
        .keyframe = {-1},
        .event = {.eps = 0.01,
                  .tolerance_relative = 1e-13,
                  .tolerance_absolute = 1e-14,
                  .max_events_per_second = 1e5},
        .cookie = SIM_COOKIE,
    };
}

// Values of enums are known where they have a word.
static bool known_words(const perp_sim_def *def)
{
    return perp_stepper_word((int)def->stepper) && perp_form_word((int)def->form) &&
           perp_friction_law_word((int)def->friction) && perp_impact_law_word((int)def->impact) &&
           perp_rotation_update_word((int)def->rotation) &&
           perp_gyroscopic_word((int)def->gyroscopic) && perp_positions_word((int)def->positions) &&
           perp_start_word((int)def->start) && perp_coordinates_word((int)def->coordinates);
}

// NaN fails every comparison, so that it is refused as well.
static bool limits_are_numbers(const perp_limits *l)
{
    return l->gap >= 0.0 && l->complementarity >= 0.0 && l->cone >= 0.0 && l->joint >= 0.0 &&
           l->momentum >= 0.0 && l->energy >= 0.0 && l->residual >= 0.0 && l->motion >= 0.0 &&
           l->path >= 0.0;
}

// User input: every rejection names the option and what it may be.
static perp_status check_def(const perp_sim_def *def, perp_error *error)
{
    if (def->cookie != SIM_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "sim: initialise the definition with perp_sim_default()");
    }
    const perp_solver_card *solver = def->solver ? perp_solver_find(def->solver) : NULL;
    if (def->solver && (!solver || strlen(def->solver) > 15)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: unknown solver '%.40s'", def->solver);
    }
    // modes and sweeps work on the rows of a step and are no solvers of a posed problem
    if (solver && solver->classes & PERP_CLASS_STEP) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: '%s' cannot be selected: steps choose it internally with 'auto'",
                       def->solver);
    }
    if (solver && solver->classes == PERP_CLASS_NCP) {
        return pp_fail(
            error, PERP_ERR_ARGUMENT,
            "sim: '%s' is for nonlinear problems (perp_ncp_solve), which steps do not pose",
            def->solver);
    }
    // negated comparisons: a NaN is refused
    if (!(def->tolerance > 0.0) || !isfinite(def->tolerance) || !(def->margin >= 0.0) ||
        !isfinite(def->margin) || !(def->theta >= 0.5) || !(def->theta <= 1.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: tolerance must be positive, margin >= 0, theta between 0.5 and 1");
    }
    if (!(def->max_seconds >= 0.0) || def->max_iterations < 0 || !(def->max_work >= 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: max_seconds, max_iterations and max_work must not be negative (0: no "
                       "limit)");
    }
    if (!known_words(def)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: unknown stepper, form, friction, impact, rotation or gyroscopic law");
    }
    const perp_event_options *event = &def->event;
    if (!(event->eps > 0.0) || !(event->tolerance_relative > 0.0) ||
        !(event->tolerance_relative <= 1e-2) || !(event->tolerance_absolute > 0.0) ||
        !isfinite(event->tolerance_absolute) || !(event->max_events_per_second > 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: eps, tolerances and the event limit must be positive");
    }
    if (!limits_are_numbers(&def->limits)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: limits of the certificate must be >= 0 (INFINITY: none)");
    }
    if (def->coordinates == PERP_COORDINATES_JOINT && def->stepper == PERP_STEPPER_MOREAU_JEAN) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: moreau-jean does not support joint coordinates; use stewart-trinkle");
    }
    if (!(def->accuracy >= 0.0) || !isfinite(def->accuracy)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: accuracy must not be negative (0: none)");
    }
    if (def->accuracy > 0.0 && def->stepper == PERP_STEPPER_EVENT) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: accuracy is for time steps; event has relative_tolerance and "
                       "absolute_tolerance");
    }
    if (def->threads < 0 || def->threads > PP_THREADS_MOST) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: threads must be between 0 and %d, got %d",
                       PP_THREADS_MOST, def->threads);
    }
    // a polygon has three sides at least; 256 make the pyramid equal to the cone to 1e-4
    if (def->facets < 3 || def->facets > 256) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: facets must be between 3 and 256, got %d",
                       def->facets);
    }
    return PERP_OK;
}

// What a stepper cannot do with a constraint of the model, with its name.
static perp_status check_constraints(const perp_model *m, const perp_sim_def *def,
                                     perp_error *error)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        // impulses of an impact act along d psi / d qdot, which changes within the impact
        if (def->stepper == PERP_STEPPER_EVENT && j->velocity && !j->linear) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s': its velocity is not linear in the rates dq[…], which "
                           "'event' needs; use stewart-trinkle, which linearises it in each step",
                           j->name);
        }
        // errors decay by accelerations, which motion without inertia does not have
        if (def->stepper == PERP_STEPPER_QUASISTATIC && j->epsilon > 0.0) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s': 'quasistatic' has no accelerations for epsilon to act on; "
                           "omit epsilon, or use stewart-trinkle",
                           j->name);
        }
    }
    return PERP_OK;
}

// An angle is known up to whole turns: at->turn says near which one it was. Joints without a coordinate get 0, so that saved
// states are defined to the last byte.
void pp_sim_follow_turns(const perp_model *model, const pp_poses *at, double *turn)
{
    for (int i = 0; i < model->joints; i++) {
        turn[i] = pp_joint_coordinate_value(model, at, i);
    }
}

// One block for both states: q, nu, turns of `now`, then of `next`. They lie behind each other,
// which perp_sim_state_save relies on.
static bool allocate_sim(perp_sim *sim)
{
    const perp_model *m = sim->model;
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, joints = (size_t)m->joints;
    double *reals = PP_ZEROS(sim->memory, double, 2 * (nq + nv + joints));
    sim->applied = PP_ZEROS(sim->memory, perp_wrench, m->bodies);
    sim->pushed = PP_ZEROS(sim->memory, perp_wrench, m->bodies);
    sim->frames = PP_ARRAY(sim->memory, pp_frame, m->bodies);
    sim->warm_rows = PP_ZEROS(sim->memory, double, pp_warm_rows(m));
    sim->gains = PP_ZEROS(sim->memory, double, 2 * pp_gains_size(m));
    sim->groups = pp_gains_groups(m, sim->memory);
    if (!reals || !sim->warm_rows || !sim->applied || !sim->pushed || !sim->frames || !sim->gains ||
        !sim->groups) {
        return false;
    }
    sim->gains_next = sim->gains + pp_gains_size(m);
    sim->now.q = reals;
    sim->now.nu = reals + nq;
    sim->now.turn = reals + nq + nv;
    sim->next.q = sim->now.turn + joints;
    sim->next.nu = sim->next.q + nq;
    sim->next.turn = sim->next.nu + nv;
    pp_state_start(m, &sim->now);
    pp_sim_step_clock_set(sim);
    pp_frames(m, &sim->now, sim->frames);
    pp_sim_initial_turns(sim);
    // handles are checked where a tree is made of them
    sim->named_count = sim->def.tree && sim->def.tree_count > 0 ? sim->def.tree_count : 0;
    sim->named = PP_ARRAY(sim->memory, int, sim->named_count);
    if (!sim->named) {
        return false;
    }
    for (int i = 0; i < sim->named_count; i++) {
        sim->named[i] = sim->def.tree[i].i;
    }
    return pp_sim_controls_create(sim) && pp_sim_sensors_create(sim);
}

perp_status perp_sim_create(const perp_model *model, const perp_sim_def *def, const perp_env *env,
                            perp_sim **sim, perp_error *error)
{
    if (!model || !sim) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: model or output pointer is NULL");
    }
    *sim = NULL;
    // no definition: the defaults
    perp_sim_def standard = perp_sim_default();
    def = def ? def : &standard;
    perp_status status = check_def(def, error);
    if (status < 0) {
        return status;
    }
    status = check_constraints(model, def, error);
    if (status < 0) {
        return status;
    }
    if (def->keyframe.i < -1 || def->keyframe.i >= model->keyframes) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: keyframe %d does not exist",
                       def->keyframe.i);
    }
    perp_sim *s = pp_alloc(env, sizeof *s);
    if (!s) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    *s = (perp_sim){.model = model, .given = model, .def = *def, .refused = {-1}};
    s->env = pp_host_begin(&s->host, env, def->max_seconds);
    env = &s->env;
    // the string of the caller may be gone later; NULL is "auto"
    s->def.solver = NULL;
    if (def->solver && strcmp(def->solver, "auto") != 0) {
        memcpy(s->solver, def->solver, strlen(def->solver) + 1);
        s->def.solver = s->solver;
    }
    // all owners first, one check after them: perp_sim_destroy takes NULL for each
    s->team = (pp_team){s->env, def->threads > 1 ? def->threads : 1};
    s->memory = pp_arena_create(env);
    s->arena = pp_arena_create(env);
    s->contact_cache.arena[0] = pp_arena_create(env);
    s->contact_cache.arena[1] = pp_arena_create(env);
    s->work = perp_workspace_create(env);
    s->ldl_joints = pp_ldl_create(env);
    s->ldl_contacts = pp_ldl_create(env);
    s->islands = pp_islands_create(env, model->bodies, def->threads);
    pp_ldl_share(s->ldl_joints, &s->team);
    pp_ldl_share(s->ldl_contacts, &s->team);
    if (!s->memory || !s->arena || !s->contact_cache.arena[0] || !s->contact_cache.arena[1] ||
        !s->work || !s->ldl_joints || !s->ldl_contacts || !s->islands || !allocate_sim(s)) {
        perp_sim_destroy(s);
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    if (def->keyframe.i >= 0) {
        status = pp_sim_start_at(s, def->keyframe.i, error);
    }
    // positions first, on the bodies; the tree then reads its coordinates off them, and the stepper `event` projects both
    if (status >= 0) {
        status = pp_sim_fit_start(s, error);
    }
    if (status >= 0) {
        status = pp_sim_create_tree(s, error);
    }
    if (status >= 0 && def->stepper == PERP_STEPPER_EVENT) {
        status = pp_sim_event_create(s, error);
    }
    if (status >= 0) {
        status = pp_sim_twin_create(s, error);
    }
    if (status < 0) {
        perp_sim_destroy(s);
        return status;
    }
    pp_sim_stop_end(s);
    *sim = s;
    return PERP_OK;
}

// The model is the caller's. Everything may be NULL: a sim that failed half way is destroyed as well.
void perp_sim_destroy(perp_sim *sim)
{
    if (sim && !sim->stepping) {
        perp_env env = sim->host.env;  // which outlives the sim
        pp_sim_twin_destroy(sim);
        pp_sim_changes_free(sim);
        pp_sim_repeat_free(sim);
        pp_free(&env, sim->warm, (size_t)sim->warm_capacity * sizeof *sim->warm);
        pp_free(&env, sim->contacts, (size_t)sim->contact_capacity * sizeof *sim->contacts);
        pp_ldl_destroy(sim->ldl_joints);
        pp_ldl_destroy(sim->ldl_contacts);
        pp_islands_destroy(sim->islands);
        perp_workspace_destroy(sim->work);
        pp_arena_destroy(sim->contact_cache.arena[0]);
        pp_arena_destroy(sim->contact_cache.arena[1]);
        pp_arena_destroy(sim->scratch);
        pp_arena_destroy(sim->parts.arena);
        pp_arena_destroy(sim->kept.arena);
        pp_arena_destroy(sim->arena);
        pp_arena_destroy(sim->memory);
        pp_free(&env, sim, sizeof *sim);
    }
}

// ── Looking ──────────────────────────────────────────────────────────────────────────────────────

const perp_model *perp_sim_model(const perp_sim *sim)
{
    return sim ? sim->given : NULL;
}

// Functions that look at a sim take NULL and answer with what means nothing, as none of them has a status.
const perp_step_info *perp_sim_info(const perp_sim *sim)
{
    static const perp_step_info none = {.status = PERP_ERR_ARGUMENT};
    return sim ? &sim->info : &none;
}

const perp_error *perp_sim_error(const perp_sim *sim)
{
    static const perp_error none = {.status = PERP_ERR_ARGUMENT, .text = "the sim is NULL"};
    return sim ? &sim->error : &none;
}

perp_limits perp_sim_limits(const perp_sim *sim)
{
    return sim ? sim->def.limits : perp_sim_default().limits;
}

perp_coordinates perp_sim_coordinates(const perp_sim *sim, const char **why)
{
    if (why) {
        *why = sim ? sim->why : "";
    }
    return sim ? sim->def.coordinates : PERP_COORDINATES_BODY;
}

double perp_sim_time(const perp_sim *sim)
{
    return sim ? sim->now.t : 0.0;
}

// Handles of another model, or of none, are out of range.
static bool has_body(const perp_sim *sim, perp_body body)
{
    return sim && body.i >= 0 && body.i < sim->model->bodies;
}

// Frames are those of `now`, of bodies that are not free as well.
perp_vec3 perp_sim_body_position(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_vec3){0.0, 0.0, 0.0};
    }
    return sim->frames[body.i].p;
}

double perp_sim_body_angle(const perp_sim *sim, perp_body body)
{
    return has_body(sim, body) ? sim->frames[body.i].angle : 0.0;
}

perp_pose perp_sim_body_pose(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_pose){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    }
    return (perp_pose){sim->frames[body.i].p, sim->frames[body.i].rot};
}

perp_twist perp_sim_body_twist(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    const pp_frame *f = &sim->frames[body.i];
    return (perp_twist){f->v, f->w};
}

// Wrenches add up until the next step, which uses them up. One that is not finite is refused by the
// step, since this function has no status.
void perp_sim_body_apply(perp_sim *sim, perp_body body, perp_wrench F_W)
{
    if (has_body(sim, body) && (!pp_finite3(F_W.f_W) || !pp_finite3(F_W.tau_W))) {
        sim->refused = body;  // the next step says so
    } else if (has_body(sim, body)) {
        perp_wrench *w = &sim->applied[body.i];
        w->f_W = pp_add(w->f_W, F_W.f_W);
        w->tau_W = pp_add(w->tau_W, F_W.tau_W);
    }
}

// Of a step in parts: the sums over them.
const perp_contact *perp_sim_contacts(const perp_sim *sim, int *count)
{
    bool parts = sim && sim->parts.done;
    if (!sim) {
        if (count) {
            *count = 0;
        }
        return NULL;
    }
    if (count) {
        *count = parts ? sim->parts.contacts : sim->contact_count;
    }
    return parts ? sim->parts.contact : sim->contacts;
}
