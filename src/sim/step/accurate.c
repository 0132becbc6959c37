// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Accuracy of the motion as a number.                                                   theory (I8)
//
// Local: a twin of the sim takes a part of the step once in a piece and once in two halves. A part whose ends differ too
// much, or end in other contact modes, is halved. The sim then takes the halves, so that what is committed, certified and
// recorded is a division of the step.
//
// Global: a shadow takes every part of the sim in two halves again, from the start of the motion on, and is never set back to
// the sim. How far the two are apart is the error of the motion, with all that the motion makes of earlier errors.
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

enum { LEAST = 1024 };  // shortest part: this share of the step

// Shapes and modes of the contacts that carry load, in their order, as one number (FNV-1a). Points of one pair may be others
// after a shorter step: pairs count once.
static uint64_t hash_modes(const perp_sim *sim)
{
    uint64_t hash = 1469598103934665603u;
    int a = -1, b = -1;
    perp_contact_mode mode = PERP_CONTACT_OPEN;
    for (int i = 0; i < sim->contact_count; i++) {
        const perp_contact *c = &sim->contacts[i];
        bool again = c->a.i == a && c->b.i == b && c->mode == mode;
        if (c->mode == PERP_CONTACT_OPEN || again) {
            continue;
        }
        a = c->a.i;
        b = c->b.i;
        mode = c->mode;
        const uint64_t word[3] = {(uint64_t)a, (uint64_t)b, (uint64_t)mode};
        for (int k = 0; k < 3; k++) {
            hash = (hash ^ word[k]) * 1099511628211u;
        }
    }
    return hash;
}

// How far two states are apart, at the farthest point of the body that differs most [m].
static double distance_between(const perp_model *m, const double *from, const double *to)
{
    double most = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double way[PP_BODY_NV] = {0.0}, moved = 0.0, turned = 0.0;
        if (body->nv == 0) {
            continue;
        }
        pp_sim_chord(body, from + body->at_q, to + body->at_q, 1.0, way);
        for (int k = 0; k < body->nv; k++) {
            double *part = body->axis[k] < 3 ? &moved : &turned;
            *part += way[k] * way[k];
        }
        most = fmax(most, sqrt(moved) + body->reach * sqrt(turned));
    }
    return most;
}

// Of a method of order p two halves have 1/(2^p - 1) of the difference left.
static double order_divisor(const perp_sim *sim)
{
    return sim->def.stepper == PERP_STEPPER_MOREAU_JEAN && sim->def.theta == 0.5 ? 3.0 : 1.0;
}

perp_status pp_sim_twin_create(perp_sim *sim, perp_error *error)
{
    perp_sim_def def = sim->def;
    pp_accuracy *a = &sim->accurate;
    if (!(def.accuracy > 0.0)) {
        return PERP_OK;
    }
    def.accuracy = 0.0;
    def.on_control = NULL;
    def.on_stage = NULL;
    perp_status status = perp_sim_create(sim->given, &def, &sim->env, &a->twin, error);
    a->begins = true;
    return status < 0 ? status : perp_sim_create(sim->given, &def, &sim->env, &a->shadow, error);
}

void pp_sim_twin_destroy(perp_sim *sim)
{
    perp_sim_destroy(sim->accurate.twin);
    perp_sim_destroy(sim->accurate.shadow);
}

// A state that was set is where another motion begins.
void pp_sim_forget_error(perp_sim *sim)
{
    sim->accurate.begins = true;
    sim->accurate.unknown = false;
}

// ── The length of parts ──────────────────────────────────────────────────────────────────────────

// A step of the twin, from a saved state unless that is NULL.
static perp_status try_step(perp_sim *twin, double h, const void *state, size_t size)
{
    perp_status status = state ? perp_sim_state_restore(twin, state, size) : PERP_OK;
    return status < 0 ? status : perp_sim_step(twin, h);
}

// How far two halves of a part end from where a piece does; infinite: one of them has no answer. *same: contact modes agree.
static perp_status compare_halves(perp_sim *sim, double length, const void *state, size_t size,
                                  double *error, bool *same)
{
    const perp_model *m = sim->model;
    perp_sim *twin = sim->accurate.twin;
    double *q = PP_ARRAY(sim->parts.arena, double, m->nq);
    *error = HUGE_VAL;
    *same = false;
    if (!q) {
        return PERP_ERR_MEMORY;
    }
    // overlaps and open joints are worked off over the whole step, as in its parts
    twin->accurate.whole = sim->whole;
    perp_status status = try_step(twin, length, state, size);
    uint64_t modes = hash_modes(twin);
    memcpy(q, twin->now.q, (size_t)m->nq * sizeof *q);
    if (status >= 0) {
        status = try_step(twin, 0.5 * length, state, size);
    }
    if (status >= 0) {
        status = try_step(twin, 0.5 * length, NULL, 0);
    }
    if (status < 0) {
        return pp_is_final(status) ? status : PERP_OK;
    }
    *error = distance_between(m, q, twin->now.q) / order_divisor(sim);
    *same = hash_modes(twin) == modes;
    return PERP_OK;
}

perp_status pp_sim_choose_half(perp_sim *sim, double left, double *half)
{
    pp_accuracy *a = &sim->accurate;
    size_t size = perp_sim_state_save_size(sim);
    void *state = PP_ARRAY(sim->parts.arena, char, size);
    double length = left, least = sim->whole / LEAST;
    if (!state) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = perp_sim_state_save(sim, state, size);
    if (status < 0) {
        return status;
    }
    // A part of the least length is taken whatever its error.
    for (;;) {
        double error;
        bool same;
        status = compare_halves(sim, length, state, size, &error, &same);
        if (status < 0) {
            return status;
        }
        bool good = same && error <= sim->def.accuracy * length;
        if (good || 0.5 * length < least) {
            a->sum += error;
            *half = 0.5 * length;
            return PERP_OK;
        }
        length *= 0.5;
    }
}

// ── The shadow ───────────────────────────────────────────────────────────────────────────────────

// Inputs that the caller has set, applied wrenches and changes of the model are those of the sim.
static bool share_inputs(const perp_sim *sim, perp_sim *shadow)
{
    const perp_model *m = sim->model;
    memcpy(shadow->applied, sim->applied, (size_t)m->bodies * sizeof *sim->applied);
    int inputs = sim->controls.any ? m->inputs : 0;
    for (int i = 0; i < inputs; i++) {
        shadow->controls.taken[i] = sim->controls.taken[i];
        if (sim->controls.taken[i] != 0.0) {
            shadow->controls.input[i] = sim->controls.input[i];
        }
    }
    bool changed = sim->changes.count > 0 || shadow->changes.count > 0;
    return !changed || pp_sim_changes_set(shadow, sim->changes.list, sim->changes.count);
}

perp_status pp_sim_shadow_begin(perp_sim *sim)
{
    pp_accuracy *a = &sim->accurate;
    perp_sim *from = a->begins ? sim : a->shadow;
    a->size = perp_sim_state_save_size(from);
    a->start = PP_ARRAY(sim->parts.arena, char, a->size);
    a->sum = 0.0;
    if (!a->start) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = perp_sim_state_save(from, a->start, a->size);
    if (status >= 0 && a->begins) {
        status = perp_sim_state_restore(a->shadow, a->start, a->size);
    }
    a->begins = a->begins && status < 0;
    return status;
}

perp_status pp_sim_shadow_follow(perp_sim *sim, double length)
{
    pp_accuracy *a = &sim->accurate;
    for (int k = 0; k < 2; k++) {
        if (a->unknown) {
            return PERP_OK;
        }
        if (!share_inputs(sim, a->shadow)) {
            return PERP_ERR_MEMORY;
        }
        a->shadow->accurate.whole = sim->whole;
        perp_status status = perp_sim_step(a->shadow, 0.5 * length);
        if (pp_is_final(status)) {
            return status;
        }
        a->unknown = status < 0;
    }
    return PERP_OK;
}

void pp_sim_shadow_end(perp_sim *sim, bool done)
{
    pp_accuracy *a = &sim->accurate;
    if (!done) {
        // the sim is back where the step began, and so is its shadow
        if (!a->start || perp_sim_state_restore(a->shadow, a->start, a->size) < 0) {
            a->unknown = true;
        }
        return;
    }
    double apart = distance_between(sim->model, sim->now.q, a->shadow->now.q) / order_divisor(sim);
    sim->info.error = a->sum;
    sim->info.motion_error = a->unknown || !isfinite(apart) ? HUGE_VAL : apart;
}
