// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a sim, in and out: (t, q, nu) for users, and all that the next step depends on (turns, applied wrenches, warm
// starts, the clock) for saving and restoring: a restored sim goes on with the same bits.
#include "sim/step/stages.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// start + count h instead of a running sum, as long as h stays the same: rounding does not
// accumulate.
double pp_sim_time_after(const perp_sim *sim, double h)
{
    const pp_step_clock *clock = &sim->clock;
    return h == clock->h ? clock->start + (double)(clock->count + 1) * h : sim->now.t + h;
}

// Counts a step of length h. To be called before now.t changes.
void pp_sim_step_clock_advance(perp_sim *sim, double h)
{
    // A shorter step closes its share of what a longer one left; the rest of the time remains.    theory (P22)
    double window = fmax(sim->clock.window - h, h);
    if (h != sim->clock.h) {
        sim->clock = (pp_step_clock){.start = sim->now.t, .h = h};
    }
    sim->clock.window = window;
    sim->clock.count++;
}

// Counting starts anew: from here on t = now.t + count h.
void pp_sim_step_clock_set(perp_sim *sim)
{
    sim->clock = (pp_step_clock){.start = sim->now.t};
}

// Turns start over from what the frames show: within half a turn of zero.
void pp_sim_reset_turns(perp_sim *sim)
{
    pp_poses now = {.t = sim->now.t, .body = sim->frames};
    pp_sim_follow_turns(sim->model, &now, sim->now.turn);
}

// Each joint is read before its own turn is written, and no coordinate depends on the turns of other joints.
void pp_sim_keep_turns(perp_sim *sim)
{
    pp_poses now = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
    pp_sim_follow_turns(sim->model, &now, sim->now.turn);
}

// A spatial joint has the coordinate -angle in the initial poses, which may be several turns. In the plane angles of
// bodies have them.
void pp_sim_initial_turns(perp_sim *sim)
{
    const perp_model *m = sim->model;
    for (int i = 0; i < m->joints; i++) {
        sim->now.turn[i] = m->spatial ? -m->joint[i].angle : 0.0;
    }
    pp_sim_keep_turns(sim);
}

void perp_sim_state_size(const perp_sim *sim, int *nq, int *nv)
{
    if (nq) {
        *nq = sim ? sim->model->nq : 0;
    }
    if (nv) {
        *nv = sim ? sim->model->nv : 0;
    }
}

// Copies; NULL for what is not wanted.
perp_status perp_sim_state_get(const perp_sim *sim, double *t, double *q, double *nu)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
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

// q holds (x, y, z, w, i, j, k) of a spatial body; what is off by more than 1e-6 is an error of the
// caller.
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

static size_t warm_row_bytes(const perp_model *m)
{
    return pp_warm_rows(m) * sizeof(double);
}

static size_t gain_bytes(const perp_model *m)
{
    return pp_gains_size(m) * sizeof(double);
}

// Everything is checked before the first number is copied: a refused state leaves the sim as it was.
perp_status perp_sim_state_set(perp_sim *sim, double t, const double *q, const double *nu)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (sim->stepping) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "state: a step is under way; a callback may not set the state");
    }
    size_t nq = (size_t)sim->model->nq, nv = (size_t)sim->model->nv;
    if (!isfinite(t) || (nv > 0 && (!q || !nu)) ||
        (nv > 0 && (!pp_all_finite(nq, q) || !pp_all_finite(nv, nu)))) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "state: a number is missing or not finite");
    }
    if (!unit_quaternions(sim->model, q)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "state: the quaternion of a body does not have length 1");
    }
    // nothing fails from here on
    sim->now.t = t;
    pp_sim_step_clock_set(sim);
    if (nv > 0) {
        memcpy(sim->now.q, q, nq * sizeof *q);
        memcpy(sim->now.nu, nu, nv * sizeof *nu);
    }
    pp_frames(sim->model, &sim->now, sim->frames);
    pp_sim_reset_turns(sim);
    return pp_sim_accept_state(sim);
}

// A state that was set may be off the tree, or as given and unfit.
perp_status pp_sim_accept_state(perp_sim *sim)
{
    sim->placed++;
    // nothing is known of contacts at another state
    sim->warm_count = 0;
    sim->sensing.h = 0.0;
    memset(sim->warm_rows, 0, warm_row_bytes(sim->model));
    memset(sim->gains, 0, gain_bytes(sim->model));
    sim->contact_cache.valid = false;
    pp_sim_repeat_forget(sim);
    sim->refused.i = -1;
    sim->projected = false;
    pp_sim_forget_error(sim);
    memset(sim->applied, 0, (size_t)sim->model->bodies * sizeof *sim->applied);
    perp_status status = sim->tree ? pp_sim_project(sim) : PERP_OK;
    bool kept = status >= 0 && sim->def.start == PERP_START_AS_GIVEN;
    return kept ? pp_sim_fit_start(sim, &sim->error) : status;
}

// Of the bits of (t, q, nu): equal hashes are equal states.
uint64_t perp_sim_state_hash(const perp_sim *sim)
{
    if (!sim) {
        return 0;
    }
    uint64_t hash = pp_hash(0, &sim->now.t, sizeof sim->now.t);
    hash = pp_hash(hash, sim->now.q, (size_t)sim->model->nq * sizeof(double));
    return pp_hash(hash, sim->now.nu, (size_t)sim->model->nv * sizeof(double));
}

// A saved state: header, q, nu, turns, wrenches for the next step, warm starts. The hash is of all
// that follows it. No padding, so that equal sims save equal bytes.
typedef struct header {
    uint64_t magic, hash;
    uint64_t model;  // its fingerprint
    int32_t nq, nv, joints, bodies, warm, unfit, changes, unused;
    double t;
    pp_step_clock clock;
} header;

// "perpSTA8", of which the digit is the version of the layout.
static const uint64_t MAGIC = 0x7065727053544138ull;

// q, nu and turns lie behind each other (allocate in sim.c).
static size_t state_bytes(const perp_model *m)
{
    return ((size_t)m->nq + (size_t)m->nv + (size_t)m->joints) * sizeof(double);
}

static size_t applied_bytes(const perp_model *m)
{
    return (size_t)m->bodies * sizeof(perp_wrench);
}

// Inputs, which of them were set, and filters of actuators lie behind each other (control.c).
static size_t control_bytes(const perp_model *m)
{
    return (2 * (size_t)m->inputs + (size_t)m->actuators) * sizeof(double);
}

// Header, state, wrenches, controls, changes, gains and warm starts behind each other.
static size_t block_bytes(const perp_model *m, int changes, int warm)
{
    return sizeof(header) + state_bytes(m) + applied_bytes(m) + control_bytes(m) +
           (size_t)changes * sizeof(pp_change) + gain_bytes(m) + warm_row_bytes(m) +
           (size_t)warm * sizeof(pp_warm);
}

// It depends on the number of warm starts, which changes from step to step: ask before each save.
size_t perp_sim_state_save_size(const perp_sim *sim)
{
    return sim ? block_bytes(sim->model, sim->changes.count, sim->warm_count) : 0;
}

// From the first member behind the hash to the end of the warm starts.
static uint64_t hash_block(const char *block, size_t size)
{
    size_t from = offsetof(header, model);
    return pp_hash(0, block + from, size - from);
}

// Plain bytes of the host, for the same program on the same machine; recordings are the format that lasts.
perp_status perp_sim_state_save(const perp_sim *sim, void *block, size_t size)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    size_t used = perp_sim_state_save_size(sim);
    if (!block || size < used) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    header head = {.magic = MAGIC,
                   .model = m->fingerprint,
                   .nq = m->nq,
                   .nv = m->nv,
                   .joints = m->joints,
                   .bodies = m->bodies,
                   .warm = sim->warm_count,
                   .unfit = sim->unfit,
                   .changes = sim->changes.count,
                   .t = sim->now.t,
                   .clock = sim->clock};
    char *to = block, *next = to + sizeof head;
    memcpy(to, &head, sizeof head);
    memcpy(next, sim->now.q, state_bytes(m));
    next += state_bytes(m);
    memcpy(next, sim->applied, applied_bytes(m));
    next += applied_bytes(m);
    if (sim->controls.any) {
        memcpy(next, sim->controls.input, control_bytes(m));
    }
    next += control_bytes(m);
    if (sim->changes.count > 0) {
        size_t bytes = (size_t)sim->changes.count * sizeof *sim->changes.list;
        memcpy(next, sim->changes.list, bytes);
        next += bytes;
    }
    memcpy(next, sim->gains, gain_bytes(m));
    next += gain_bytes(m);
    memcpy(next, sim->warm_rows, warm_row_bytes(m));
    next += warm_row_bytes(m);
    if (sim->warm_count > 0) {
        memcpy(next, sim->warm, (size_t)sim->warm_count * sizeof *sim->warm);
    }
    // the hash is of the block behind it, so that it is written last
    head.hash = hash_block(to, used);
    memcpy(to, &head, sizeof head);
    return PERP_OK;
}

// Room for warm starts; old ones are not kept.
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

// Changes and room for warm starts; a failure changes nothing. The block may be anywhere in memory: changes are copied
// from it before they are read.
static perp_status restore_changes(perp_sim *sim, const char *from, const header *head)
{
    perp_status status = reserve_warm(sim, head->warm);
    if (status < 0 || (head->changes == 0 && sim->changes.count == 0)) {
        return status;
    }
    size_t size = ((size_t)head->changes + 1) * sizeof(pp_change);
    pp_change *list = pp_alloc(&sim->env, size);
    if (!list) {
        return PERP_ERR_MEMORY;
    }
    memcpy(list, from, (size_t)head->changes * sizeof *list);
    status = pp_sim_changes_check(sim, list, head->changes);
    if (status < 0) {
        status = pp_fail(&sim->error, status, "restore: the block is damaged");
    } else if (!pp_sim_changes_set(sim, list, head->changes)) {
        status = PERP_ERR_MEMORY;
    }
    pp_free(&sim->env, list, size);
    return status;
}

// Sizes and the hash are checked before anything is written; a block of another model is recognised by its fingerprint.
perp_status pp_sim_state_restore(perp_sim *sim, const void *block, size_t size)
{
    header head;
    const perp_model *m = sim->model;
    const char *from = block;
    if (!block || size < block_bytes(m, 0, 0)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "restore: the block is too small");
    }
    memcpy(&head, from, sizeof head);
    if (head.magic != MAGIC || head.model != m->fingerprint || head.nq != m->nq ||
        head.nv != m->nv || head.joints != m->joints || head.bodies != m->bodies || head.warm < 0 ||
        head.changes < 0 || size < block_bytes(m, head.changes, head.warm)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "restore: the block is not a state of this model");
    }
    if (head.hash != hash_block(from, block_bytes(m, head.changes, head.warm))) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "restore: the block is damaged");
    }
    // nothing of the sim has changed until here: a bad block leaves it as it was
    perp_status status = restore_changes(
        sim, from + sizeof head + state_bytes(m) + applied_bytes(m) + control_bytes(m), &head);
    if (status < 0) {
        return status;
    }
    m = sim->model;  // with other changes
    sim->placed++;
    const char *next = from + sizeof head;
    sim->now.t = head.t;
    sim->clock = head.clock;
    sim->unfit = head.unfit != 0;
    memcpy(sim->now.q, next, state_bytes(m));
    next += state_bytes(m);
    memcpy(sim->applied, next, applied_bytes(m));
    next += applied_bytes(m);
    if (sim->controls.any) {
        memcpy(sim->controls.input, next, control_bytes(m));
    }
    next += control_bytes(m) + (size_t)head.changes * sizeof(pp_change);
    memcpy(sim->gains, next, gain_bytes(m));
    next += gain_bytes(m);
    memcpy(sim->warm_rows, next, warm_row_bytes(m));
    next += warm_row_bytes(m);
    sim->warm_count = head.warm;
    sim->sensing.h = 0.0;
    // contacts are found anew from equal poses, with equal bits
    sim->contact_cache.valid = false;
    pp_sim_repeat_forget(sim);
    sim->refused.i = -1;
    pp_sim_forget_error(sim);
    if (head.warm > 0) {
        memcpy(sim->warm, next, (size_t)head.warm * sizeof *sim->warm);
    }
    pp_frames(m, &sim->now, sim->frames);
    return PERP_OK;
}

perp_status perp_sim_state_restore(perp_sim *sim, const void *block, size_t size)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (sim->stepping) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "restore: a step is under way; a callback may not restore a state");
    }
    return pp_sim_state_restore(sim, block, size);
}
