// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Creating a sim; its state in and out.
#include "sim/sim.h"

#include <math.h>
#include <string.h>

#define SIM_COOKIE 0x70490001u

perp_sim_def perp_sim_default(void)
{
    return (perp_sim_def){
        .tolerance = 1e-8,
        .margin = 0.01,
        .theta = 0.5,
        .facets = 8,
        .limits = {.gap = 1e-3,
                   .complementarity = 1e-6,
                   .cone = 1e-8,
                   .joint = 1e-2,
                   .momentum = 1e-8,
                   .energy = 1e-6,
                   .residual = 1e-6},
        .cookie = SIM_COOKIE,
    };
}

static perp_status check_def(const perp_sim_def *def, perp_error *error)
{
    if (def->cookie != SIM_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF, "sim: start from perp_sim_default()");
    }
    if (def->solver && (!perp_solver_find(def->solver) || strlen(def->solver) > 15)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: no solver is called '%.40s'", def->solver);
    }
    if (!(def->tolerance > 0.0) || !(def->margin >= 0.0) || !(def->theta >= 0.5) ||
        !(def->theta <= 1.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: tolerance must be positive, margin >= 0, theta between 0.5 and 1");
    }
    if (def->facets < 3 || def->facets > 256) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: facets must be between 3 and 256, got %d",
                       def->facets);
    }
    return PERP_OK;
}

void pp_sim_follow_turns(const perp_model *model, const pp_kinematics *kin, double *turn)
{
    for (int i = 0; i < model->joints; i++) {
        pp_row row;
        pp_joint_coordinate(model, kin, i, &row);
        turn[i] = row.value;
    }
}

// Turns start over from what the frames show.
static void reset_turns(perp_sim *sim)
{
    pp_kinematics now = {.t = sim->now.t, .body = sim->frames};
    pp_sim_follow_turns(sim->model, &now, sim->now.turn);
}

static bool allocate(perp_sim *sim)
{
    const perp_model *m = sim->model;
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, joints = (size_t)m->joints;
    double *reals = PP_ZEROS(sim->memory, double, 2 * (nq + nv + joints));
    sim->applied = PP_ZEROS(sim->memory, perp_wrench, m->bodies);
    sim->frames = PP_ARRAY(sim->memory, pp_frame, m->bodies);
    if (!reals || !sim->applied || !sim->frames) {
        return false;
    }
    sim->now.q = reals;
    sim->now.nu = reals + nq;
    sim->now.turn = reals + nq + nv;
    sim->next.q = sim->now.turn + joints;
    sim->next.nu = sim->next.q + nq;
    sim->next.turn = sim->next.nu + nv;
    pp_state_start(m, &sim->now);
    pp_frames(m, &sim->now, sim->frames);
    reset_turns(sim);
    return true;
}

perp_status perp_sim_create(const perp_model *model, const perp_sim_def *def, const perp_env *env,
                            perp_sim **sim, perp_error *error)
{
    if (!model || !sim) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: needs a model and a place to put it");
    }
    *sim = NULL;
    perp_sim_def standard = perp_sim_default();
    def = def ? def : &standard;
    perp_status status = check_def(def, error);
    if (status < 0) {
        return status;
    }
    perp_sim *s = pp_alloc(env, sizeof *s);
    if (!s) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    *s = (perp_sim){.env = env ? *env : (perp_env){0}, .model = model, .def = *def};
    if (def->solver) {
        memcpy(s->solver, def->solver, strlen(def->solver) + 1);
        s->def.solver = s->solver;
    }
    s->memory = pp_arena_create(env);
    s->arena = pp_arena_create(env);
    s->work = perp_workspace_create(env);
    if (!s->memory || !s->arena || !s->work || !allocate(s)) {
        perp_sim_destroy(s);
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    *sim = s;
    return PERP_OK;
}

void perp_sim_destroy(perp_sim *sim)
{
    if (sim) {
        perp_env env = sim->env;
        pp_free(&env, sim->warm, (size_t)sim->warm_capacity * sizeof *sim->warm);
        pp_free(&env, sim->contacts, (size_t)sim->contact_capacity * sizeof *sim->contacts);
        perp_workspace_destroy(sim->work);
        pp_arena_destroy(sim->arena);
        pp_arena_destroy(sim->memory);
        pp_free(&env, sim, sizeof *sim);
    }
}

// ── Looking ──────────────────────────────────────────────────────────────────────────────────────

const perp_model *perp_sim_model(const perp_sim *sim)
{
    return sim->model;
}

const perp_step_info *perp_sim_info(const perp_sim *sim)
{
    return &sim->info;
}

const perp_error *perp_sim_error(const perp_sim *sim)
{
    return &sim->error;
}

double perp_sim_time(const perp_sim *sim)
{
    return sim->now.t;
}

static bool has_body(const perp_sim *sim, perp_body body)
{
    return body.i >= 0 && body.i < sim->model->bodies;
}

perp_vec3 perp_body_position(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_vec3){0.0, 0.0, 0.0};
    }
    return sim->frames[body.i].p;
}

double perp_body_angle(const perp_sim *sim, perp_body body)
{
    return has_body(sim, body) ? sim->frames[body.i].angle : 0.0;
}

perp_pose perp_body_pose(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_pose){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    }
    return (perp_pose){sim->frames[body.i].p, sim->frames[body.i].rot};
}

perp_twist perp_body_twist(const perp_sim *sim, perp_body body)
{
    if (!has_body(sim, body)) {
        return (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    const pp_frame *f = &sim->frames[body.i];
    return (perp_twist){f->v, f->w};
}

void perp_body_apply(perp_sim *sim, perp_body body, perp_wrench F_W)
{
    if (has_body(sim, body)) {
        perp_wrench *w = &sim->applied[body.i];
        w->f = pp_add(w->f, F_W.f);
        w->tau = pp_add(w->tau, F_W.tau);
    }
}

const perp_contact *perp_sim_contacts(const perp_sim *sim, int *count)
{
    if (count) {
        *count = sim->contact_count;
    }
    return sim->contacts;
}

// ── State ────────────────────────────────────────────────────────────────────────────────────────

void perp_state_size(const perp_sim *sim, int *nq, int *nv)
{
    if (nq) {
        *nq = sim->model->nq;
    }
    if (nv) {
        *nv = sim->model->nv;
    }
}

perp_status perp_state_get(const perp_sim *sim, double *t, double *q, double *nu)
{
    const perp_model *m = sim->model;
    if (t) {
        *t = sim->now.t;
    }
    if (q) {
        memcpy(q, sim->now.q, (size_t)m->nq * sizeof *q);
    }
    if (nu) {
        memcpy(nu, sim->now.nu, (size_t)m->nv * sizeof *nu);
    }
    return PERP_OK;
}

static bool unit_quaternions(const perp_model *m, const double *q)
{
    for (int i = 0; i < m->bodies; i++) {
        const double *r = q + m->body[i].at_q + 3;
        if (m->body[i].nq == 7 &&
            fabs(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] - 1.0) > 1e-6) {
            return false;
        }
    }
    return true;
}

perp_status perp_state_set(perp_sim *sim, double t, const double *q, const double *nu)
{
    size_t nq = (size_t)sim->model->nq, nv = (size_t)sim->model->nv;
    if (!isfinite(t) || (nv > 0 && (!q || !nu)) ||
        (nv > 0 && (!pp_all_finite(nq, q) || !pp_all_finite(nv, nu)))) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "state: a number is missing or not finite");
    }
    if (!unit_quaternions(sim->model, q)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "state: the quaternion of a body is not of length 1");
    }
    sim->now.t = t;
    if (nv > 0) {
        memcpy(sim->now.q, q, nq * sizeof *q);
        memcpy(sim->now.nu, nu, nv * sizeof *nu);
    }
    sim->warm_count = 0;
    pp_frames(sim->model, &sim->now, sim->frames);
    reset_turns(sim);
    return PERP_OK;
}

uint64_t perp_state_hash(const perp_sim *sim)
{
    uint64_t hash = pp_hash(0, &sim->now.t, sizeof sim->now.t);
    hash = pp_hash(hash, sim->now.q, (size_t)sim->model->nq * sizeof(double));
    return pp_hash(hash, sim->now.nu, (size_t)sim->model->nv * sizeof(double));
}

// A saved state: header, q, nu, turns, warm starts.
typedef struct header {
    uint64_t magic;
    int32_t nq, nv, joints, warm;
    double t;
} header;

static const uint64_t MAGIC = 0x7065727053544132ull;

// q, nu and turns lie behind each other.
static size_t state_bytes(const perp_model *m)
{
    return ((size_t)m->nq + (size_t)m->nv + (size_t)m->joints) * sizeof(double);
}

size_t perp_state_save_size(const perp_sim *sim)
{
    return sizeof(header) + state_bytes(sim->model) + (size_t)sim->warm_count * sizeof(pp_warm);
}

perp_status perp_state_save(const perp_sim *sim, void *block, size_t size)
{
    if (!block || size < perp_state_save_size(sim)) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    size_t bytes = state_bytes(m);
    header head = {MAGIC, m->nq, m->nv, m->joints, sim->warm_count, sim->now.t};
    char *to = block;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, sim->now.q, bytes);
    if (sim->warm_count > 0) {
        memcpy(to + sizeof head + bytes, sim->warm, (size_t)sim->warm_count * sizeof *sim->warm);
    }
    return PERP_OK;
}

static perp_status reserve_warm(perp_sim *sim, int count)
{
    if (count > sim->warm_capacity) {
        pp_warm *warm = pp_alloc(&sim->env, (size_t)count * sizeof *warm);
        if (!warm) {
            return PERP_ERR_MEMORY;
        }
        pp_free(&sim->env, sim->warm, (size_t)sim->warm_capacity * sizeof *warm);
        sim->warm = warm;
        sim->warm_capacity = count;
    }
    return PERP_OK;
}

perp_status perp_state_restore(perp_sim *sim, const void *block, size_t size)
{
    header head;
    const perp_model *m = sim->model;
    size_t bytes = state_bytes(m);
    if (!block || size < sizeof head + bytes) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "restore: the block is too small");
    }
    const char *from = block;
    memcpy(&head, from, sizeof head);
    if (head.magic != MAGIC || head.nq != m->nq || head.nv != m->nv || head.joints != m->joints ||
        head.warm < 0 || size < sizeof head + bytes + (size_t)head.warm * sizeof(pp_warm)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "restore: the block is not a state of this model");
    }
    perp_status status = reserve_warm(sim, head.warm);
    if (status < 0) {
        return status;
    }
    sim->now.t = head.t;
    memcpy(sim->now.q, from + sizeof head, bytes);
    sim->warm_count = head.warm;
    if (head.warm > 0) {
        memcpy(sim->warm, from + sizeof head + bytes, (size_t)head.warm * sizeof *sim->warm);
    }
    pp_frames(sim->model, &sim->now, sim->frames);
    return PERP_OK;
}
