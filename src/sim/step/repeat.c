// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps that repeat. A step is a function of the state, of the impulses that it starts from and of what acts. Where a step
// ends with the bits that it began with, and nothing depends on time, the next one has the same result: its contacts,
// impulses and certificate are those that are there already. So a scene at rest costs nothing.         theory (S19)
//
// That the bits are the same is compared, not assumed: positions, velocities and turns after every step, and where these
// are the same, impulses against a copy that the step before left.
#include "sim/step/parts.h"

#include <string.h>

// Time is the first variable of every expression of a model.
static bool uses_time(const pp_expr *const *expr, int count)
{
    for (int k = 0; k < count; k++) {
        if (expr[k] && pp_expr_uses(expr[k], 0)) {
            return true;
        }
    }
    return false;
}

static bool has_forces_of_time(const perp_model *m)
{
    for (int i = 0; i < m->forces; i++) {
        if (uses_time(m->force[i].f, 3) || uses_time(m->force[i].torque, 3)) {
            return true;
        }
    }
    return false;
}

static bool has_motions_of_time(const perp_model *m)
{
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].steady || uses_time(m->body[i].motion, PP_MOTIONS)) {
            return true;
        }
    }
    for (int i = 0; i < m->shapes; i++) {
        if (uses_time(&m->shape[i].surface_speed, 1) || uses_time(m->shape[i].surface, 4)) {
            return true;
        }
    }
    return false;
}

static bool has_joints_of_time(const perp_model *m)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *joint = &m->joint[i];
        if (uses_time(&joint->function, 1) || uses_time(&joint->velocity, 1) ||
            uses_time(&joint->target, 1) || uses_time(&joint->rate, 1)) {
            return true;
        }
    }
    return false;
}

// Whether a step depends on nothing but the state and the impulses that it starts from. Inputs may have any source.
// Observers are shown the stages of a step, so that it has to have some.
static bool is_autonomous(const perp_sim *sim)
{
    const perp_sim_def *def = &sim->def;
    const perp_model *m = sim->model;
    return def->stepper != PERP_STEPPER_EVENT && !def->on_stage && !def->on_control &&
           !sim->accurate.twin && !pp_sim_closes_after(sim) && m->inputs == 0 &&
           m->actuators == 0 && !has_motions_of_time(m) && !has_joints_of_time(m) &&
           !has_forces_of_time(m);
}

// q, nu and turns lie behind each other (allocate_sim in sim.c).
static bool is_where_it_was(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    size_t count = (size_t)m->nq + (size_t)m->nv + (size_t)m->joints;
    return count == 0 || memcmp(sim->now.q, sim->next.q, count * sizeof(double)) == 0;
}

static size_t row_bytes(const perp_sim *sim)
{
    return pp_warm_rows(sim->model) * sizeof *sim->warm_rows;
}

static size_t impulse_bytes(const perp_sim *sim)
{
    return row_bytes(sim) + (size_t)sim->warm_count * sizeof *sim->warm;
}

static bool has_last_impulses(const perp_sim *sim)
{
    const pp_repeat *r = &sim->repeat;
    size_t rows = row_bytes(sim), size = impulse_bytes(sim);
    return r->size == size && (rows == 0 || memcmp(r->impulses, sim->warm_rows, rows) == 0) &&
           (size == rows || memcmp(r->impulses + rows, sim->warm, size - rows) == 0);
}

// Without memory nothing is known, and the next step is taken as any other.
static void copy_impulses(perp_sim *sim)
{
    pp_repeat *r = &sim->repeat;
    size_t rows = row_bytes(sim), size = impulse_bytes(sim);
    r->size = 0;
    if (size > r->capacity) {
        pp_free(&sim->env, r->impulses, r->capacity);
        r->impulses = pp_alloc(&sim->env, size);
        r->capacity = r->impulses ? size : 0;
    }
    if (size > r->capacity || size == 0) {
        return;
    }
    if (rows > 0) {
        memcpy(r->impulses, sim->warm_rows, rows);
    }
    if (size > rows) {
        memcpy(r->impulses + rows, sim->warm, size - rows);
    }
    r->size = size;
}

void pp_sim_repeat_forget(perp_sim *sim)
{
    sim->repeat.stays = false;
    sim->repeat.size = 0;
}

void pp_sim_repeat_free(perp_sim *sim)
{
    pp_free(&sim->env, sim->repeat.impulses, sim->repeat.capacity);
    sim->repeat = (pp_repeat){0};
}

void pp_sim_repeat_note(perp_sim *sim, double h)
{
    pp_repeat *r = &sim->repeat;
    bool was_same_step = r->h == h;
    r->stays = false;
    r->h = h;
    // a step after a longer one closes what is open at another pace than the next one will
    if (sim->info.status != PERP_OK || sim->unfit || sim->pace != h || !is_where_it_was(sim) ||
        !is_autonomous(sim)) {
        r->size = 0;
        return;
    }
    r->stays = was_same_step && has_last_impulses(sim);
    if (!r->stays) {
        copy_impulses(sim);
    }
}

static bool is_zero(perp_vec3 v)
{
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

bool pp_sim_repeats(const perp_sim *sim, double h)
{
    if (!sim->repeat.stays || sim->repeat.h != h || !sim->contact_cache.valid) {
        return false;
    }
    for (int i = 0; i < sim->model->bodies; i++) {
        const perp_wrench *w = &sim->applied[i];
        if (!is_zero(w->f_W) || !is_zero(w->tau_W)) {
            return false;
        }
    }
    return true;
}

// All but the time stays as it is.
void pp_sim_repeat(perp_sim *sim, double h)
{
    double t = pp_sim_time_after(sim, h);
    pp_sim_sensors_add(sim);
    pp_sim_step_clock_advance(sim, h);
    sim->step.kin.poses.t = sim->next.t = sim->now.t;
    sim->step.end.t = sim->now.t = t;
    memset(sim->pushed, 0, (size_t)sim->model->bodies * sizeof *sim->pushed);
    memset(sim->info.seconds, 0, sizeof sim->info.seconds);
    sim->info.effort = (perp_effort){.warm_started = sim->info.effort.warm_started,
                                     .islands = sim->info.effort.islands};
    sim->info.status = PERP_OK;
    sim->info.iterations = 0;
    sim->info.repeats = true;
}
