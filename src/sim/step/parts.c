// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step in parts, each of them a step of the scheme with a certificate of its own: all or none. The user reads their
// sums: impulses, work and effort add up, and the certificate is the worst of all.      theory (P16)
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST = 16,   // attempts for impacts that follow each other, at least,
    KNOCKS = 512,  // and at most; between them
    WORK = 20000,  // as many as have so many contacts in all; later impacts are taken together
    MOST = 1024,   // attempts after which the rest is one part without restitution
};

// Of the work that the step may take: from HALF on it is divided only where it has to be, from
// MOSTLY on no more, so that the rest is left for solving.
static const double HALF = 0.5, MOSTLY = 0.8;

// ── Sums ─────────────────────────────────────────────────────────────────────────────────────────

// Impulses of one point in two parts; its mode is that of the first part in which it was closed.
static void accumulate_contact(perp_contact *to, const perp_contact *c)
{
    to->pn += c->pn;
    to->pf_W = pp_add(to->pf_W, c->pf_W);
    to->moment_W = pp_add(to->moment_W, c->moment_W);
    if (to->mode == PERP_CONTACT_OPEN) {
        to->mode = c->mode;
    }
}

// The contacts of this part, then those that carried something in earlier ones and are gone.
static perp_status add_contacts(perp_sim *sim)
{
    pp_parts_sum *sum = &sim->parts;
    int count = sim->contact_count, next = 0;
    perp_contact *all = PP_ARRAY(sum->arena, perp_contact, (size_t)count + (size_t)sum->contacts);
    if (!all) {
        return PERP_ERR_MEMORY;
    }
    if (count > 0) {
        memcpy(all, sim->contacts, (size_t)count * sizeof *all);
    }
    // Both lists have nearly the same order, so that each search goes on where the last one ended.
    for (int i = 0; i < sum->contacts; i++) {
        const perp_contact *old = &sum->contact[i];
        int looked = 0;
        for (; looked < sim->contact_count; looked++, next++) {
            next = next < sim->contact_count ? next : 0;
            const perp_contact *c = &all[next];
            if (c->a.i == old->a.i && c->b.i == old->b.i && c->feature == old->feature) {
                break;
            }
        }
        if (looked < sim->contact_count) {
            accumulate_contact(&all[next], old);
        } else if (old->pn > 0.0) {
            all[count++] = *old;
        }
    }
    sum->contact = all;
    sum->contacts = count;
    return PERP_OK;
}

static void accumulate_wrench(perp_wrench *to, perp_wrench w)
{
    to->f_W = pp_add(to->f_W, w.f_W);
    to->tau_W = pp_add(to->tau_W, w.tau_W);
}

// Impulses of joints, and of the drives of bodies that are not free.
static void add_impulses(perp_sim *sim)
{
    pp_parts_sum *sum = &sim->parts;
    for (int i = 0; i < sim->model->joints; i++) {
        perp_joint_state part = perp_sim_joint(sim, (perp_joint){i});
        perp_joint_state *to = &sum->joint[i];
        accumulate_wrench(&to->impulse_b, part.impulse_b);
        to->drive += part.drive;
        to->limit += part.limit;
        to->redundant = to->redundant || part.redundant;
    }
    for (int i = 0; i < sim->model->bodies; i++) {
        accumulate_wrench(&sum->driven[i], perp_sim_body_drive_impulse(sim, (perp_body){i}));
    }
}

// Counts and times add up; sizes of factors are the largest.
void pp_sim_add_effort(perp_effort *to, const perp_effort *part)
{
    to->solvers += part->solvers;
    to->factorisations += part->factorisations;
    to->work = part->work;  // a sum already
    to->fill = fmax(to->fill, part->fill);
    to->flops = fmax(to->flops, part->flops);
    to->seconds_joints += part->seconds_joints;
    to->seconds_modes += part->seconds_modes;
    to->seconds_sweeps += part->seconds_sweeps;
    to->seconds_exact += part->seconds_exact;
    to->seconds_judge += part->seconds_judge;
    to->seconds_spread += part->seconds_spread;
    to->seconds_factor += part->seconds_factor;
    to->warm_started = part->warm_started;
    to->islands = part->islands;
}

// Attempts that were given up took time as well.
static void add_seconds(perp_step_info *to, const perp_step_info *part)
{
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        to->seconds[k] += part->seconds[k];
    }
}

// Energy that parts create in which nothing pushes adds up to that of a step, and is held to the limit of one. Impacts, which
// have parts to themselves, are each solved to that limit.                              theory (P16)
static void add_created(perp_sim *sim, perp_certificate *to)
{
    pp_parts_sum *p = &sim->parts;
    const perp_certificate *part = &sim->info.certificate;
    if (pp_sim_pushes(sim)) {
        return;
    }
    p->created += part->energy_created;
    p->created_of += part->relative[PERP_JUDGED_ENERGY];
    to->energy_created = fmax(to->energy_created, p->created);
    to->relative[PERP_JUDGED_ENERGY] = fmax(to->relative[PERP_JUDGED_ENERGY], p->created_of);
    to->passed = to->passed && p->created_of <= 1.0;
}

// What one part reports, added to the sum over those before: the last part's where a sum means
// nothing (sizes, kinetic and potential energy), the worse of verdicts.
static void add_info(perp_step_info *to, const perp_step_info *part)
{
    perp_step_info all = *part;
    all.iterations += to->iterations;
    all.unique = all.unique && to->unique;
    all.motion = pp_uniqueness_of_both(all.motion, to->motion);
    all.impulses = pp_uniqueness_of_both(all.impulses, to->impulses);
    all.motion_apart = fmax(all.motion_apart, to->motion_apart);
    all.impulses_apart = fmax(all.impulses_apart, to->impulses_apart);
    all.tempered = all.tempered || to->tempered;
    pp_certificate_worst(&all.certificate, &to->certificate);
    all.certificate.passed = all.certificate.passed && to->certificate.passed;
    all.certificate.path_clear = all.certificate.path_clear && to->certificate.path_clear;
    all.energy.work += to->energy.work;
    all.energy.dissipated += to->energy.dissipated;
    all.effort = to->effort;
    pp_sim_add_effort(&all.effort, &part->effort);
    add_seconds(&all, to);
    // the remark of the last part that has one
    if (!all.remark[0]) {
        memcpy(all.remark, to->remark, sizeof all.remark);
    }
    *to = all;
}

// The part that was just taken, before it is committed.
static perp_status add_part(perp_sim *sim, perp_step_info *info)
{
    perp_status status = add_contacts(sim);
    // Where contacts push, the law that was asked for is not the one that acted.
    bool less = sim->step.inelastic && pp_sim_pushes(sim);
    if (less) {
        sim->info.tempered = true;
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "too many impacts: those of the last %.3g s of the step had no restitution",
                 sim->step.h);
    }
    if (status >= 0) {
        add_impulses(sim);
        add_info(info, &sim->info);
        add_created(sim, &info->certificate);
        sim->parts.count++;
    }
    return status;
}

// The same; where a closing of all errors follows, gaps and joints of the step are those that it leaves.
static perp_status add_open_part(perp_sim *sim, perp_step_info *info)
{
    perp_certificate *c = &sim->info.certificate, own = *c;
    if (pp_sim_closes_after(sim) && !sim->unfit) {
        c->gap = c->joint = 0.0;
        c->relative[PERP_JUDGED_GAP] = c->relative[PERP_JUDGED_JOINT] = 0.0;
    }
    perp_status status = add_part(sim, info);
    *c = own;
    return status;
}

// ── The parts ────────────────────────────────────────────────────────────────────────────────────

// The state at the start of the step, restored when a part fails: a step is taken whole or not at all.
typedef struct part_start {
    void *state;  // perp_sim_state_save
    size_t size;
    perp_wrench *applied;
    double end;
} part_start;

// Saves the state and clears the sums.
static perp_status prepare_part(perp_sim *sim, double h, part_start *from)
{
    pp_parts_sum *sum = &sim->parts;
    const perp_model *m = sim->model;
    sum->arena = sum->arena ? sum->arena : pp_arena_create(&sim->env);
    if (!sum->arena) {
        return PERP_ERR_MEMORY;
    }
    pp_arena_reset(sum->arena);
    from->size = perp_sim_state_save_size(sim);
    from->state = PP_ARRAY(sum->arena, char, from->size);
    from->applied = PP_ARRAY(sum->arena, perp_wrench, m->bodies);
    // where the clock of whole steps puts the end
    from->end = pp_sim_time_after(sim, h);
    sum->joint = PP_ZEROS(sum->arena, perp_joint_state, m->joints);
    sum->driven = PP_ZEROS(sum->arena, perp_wrench, m->bodies);
    sum->contacts = sum->count = 0;
    if (!from->state || !from->applied || !sum->joint || !sum->driven) {
        return PERP_ERR_MEMORY;
    }
    memcpy(from->applied, sim->applied, (size_t)m->bodies * sizeof *from->applied);
    return perp_sim_state_save(sim, from->state, from->size);
}

// Attempts until the end of the step is reached. An attempt that has to be divided again costs its
// work and changes nothing.
static perp_status take_parts(perp_sim *sim, double first, const part_start *from,
                              perp_step_info *info)
{
    // what is left below this is rounding of the times of the parts
    double length = first, shortest = 1e-12 * sim->whole;
    // fewer divisions for impacts where there are many contacts
    int knocks = WORK / (sim->step.gap.count + 1);
    knocks = knocks < FEWEST ? FEWEST : knocks;
    knocks = knocks > KNOCKS ? KNOCKS : knocks;
    perp_status worst = PERP_OK;
    for (int tried = 0; from->end - sim->now.t > shortest; tried++) {
        double left = from->end - sim->now.t, part = length;
        double spent = sim->def.max_work > 0.0 ? sim->worked / sim->def.max_work : 0.0;
        // first all impacts get parts of their own, then only what has to be divided, in the end nothing: the step ends
        sim->parts.stop = tried > knocks || spent > HALF ? PP_PARTS_FORCED : PP_PARTS_ALL;
        sim->parts.stop = tried > MOST || spent > MOSTLY ? PP_PARTS_NONE : sim->parts.stop;
        length = fmin(length, left);
        perp_status status = pp_sim_attempt(sim, length, &part);
        if (status >= 0 && part < length) {
            add_seconds(info, &sim->info);
            length = part;
            continue;
        }
        if (status < 0) {
            return status;
        }
        worst = status > worst ? status : worst;
        status = add_open_part(sim, info);
        if (status < 0) {
            return status;
        }
        pp_sim_commit(sim);
        status = pp_sim_store_present(sim, PERP_PART_STEP, length);
        if (status < 0) {
            return status;
        }
        if (pp_sim_closes_after(sim) || sim->step.drifts) {
            status = pp_sim_close(sim, info);
            if (status < 0) {
                return status;
            }
            worst = status > worst ? status : worst;
        }
        // The commit has used the wrenches up; they act in every part. The next part tries all that is left.
        memcpy(sim->applied, from->applied, (size_t)sim->model->bodies * sizeof *from->applied);
        length = from->end - sim->now.t;
    }
    return worst;
}

// One part of a length that was chosen, in parts of its own only where it has to be; the shadow follows.
static perp_status take_length(perp_sim *sim, double length, const part_start *from,
                               perp_step_info *info, perp_status *worst)
{
    part_start piece = *from;
    piece.end = fmin(sim->now.t + length, from->end);
    // what is left below this would be a part of rounding
    if (from->end - piece.end < 1e-9 * length) {
        piece.end = from->end;
    }
    length = piece.end - sim->now.t;
    perp_status status = pp_sim_shadow_follow(sim, length);
    if (status < 0) {
        return status;
    }
    status = take_parts(sim, length, &piece, info);
    *worst = status > *worst ? status : *worst;
    return status;
}

// The step in halves of parts that are accurate enough.                                 theory (I8)
static perp_status take_accurate_parts(perp_sim *sim, const part_start *from, perp_step_info *info)
{
    perp_status worst = PERP_OK, status = pp_sim_shadow_begin(sim);
    double shortest = 1e-12 * sim->whole, half;
    while (from->end - sim->now.t > shortest) {
        if (status < 0) {
            return status;
        }
        status = pp_sim_choose_half(sim, from->end - sim->now.t, &half);
        for (int k = 0; k < 2; k++) {
            if (status < 0) {
                return status;
            }
            status = take_length(sim, half, from, info, &worst);
        }
    }
    return status < 0 ? status : worst;
}

// Appends the number of parts to the remark of the step.
static void note_parts(perp_sim *sim)
{
    char *text = sim->info.remark;
    if (text[0]) {
        size_t used = strlen(text);
        pp_print(text + used, sizeof sim->info.remark - used, "; %d parts", sim->parts.count);
        return;
    }
    const char *how = "divided into %d parts, at impacts or for its certificate";
    if (sim->parts.stop != PP_PARTS_ALL) {
        how = "divided into %d parts; later impacts were treated as simultaneous";
    } else if (sim->def.stepper == PERP_STEPPER_IMPLICIT) {
        how = "divided into %d parts, at impacts or until its equations were solved";
    }
    pp_print(text, sizeof sim->info.remark, how, sim->parts.count);
}

perp_status pp_sim_step_in_parts(perp_sim *sim, double h, double first)
{
    part_start from = {0};
    // a failed step leaves the clock as it was, a taken one counts one step of h
    const pp_step_clock clock = sim->clock;
    const double began = sim->now.t;
    perp_step_info info = {.unique = true,
                           .motion = PERP_UNIQUENESS_PROVED,
                           .impulses = PERP_UNIQUENESS_PROVED,
                           .certificate = {.passed = true, .path_clear = true}};
    add_seconds(&info, &sim->info);  // of the attempt in one
    perp_status status = prepare_part(sim, h, &from);
    if (status >= 0) {
        status = sim->accurate.twin ? take_accurate_parts(sim, &from, &info)
                                    : take_parts(sim, first, &from, &info);
    }
    if (status < 0) {
        // Back to the start of the step. Restoring writes its own error and info: those of the failure stay.
        perp_error error = sim->error;
        perp_step_info failed = sim->info;
        if (from.state && pp_sim_state_restore(sim, from.state, from.size) < 0) {
            status = PERP_ERR_MEMORY;
        }
        if (sim->accurate.twin) {
            pp_sim_shadow_end(sim, false);
        }
        sim->error = error;
        sim->info = failed;
        pp_sim_clear_parts(sim);
        return status;
    }
    // Parts have moved the clock by their own lengths; the step is one step of length h, and ends at the time that one
    // in a piece would, to the last bit.
    sim->clock = clock;
    sim->now.t = began;
    pp_sim_step_clock_advance(sim, h);
    sim->now.t = from.end;
    if (sim->kept.count > 0) {
        sim->kept.part[sim->kept.count - 1].t = from.end;
    }
    memset(sim->applied, 0, (size_t)sim->model->bodies * sizeof *sim->applied);
    sim->info = info;
    status = status == PERP_OK && !info.certificate.passed ? PERP_INEXACT : status;
    sim->info.status = status;
    sim->info.contacts = sim->parts.contacts;
    sim->info.parts = sim->parts.count;
    sim->parts.done = true;
    sim->step.solved = true;
    if (sim->accurate.twin) {
        pp_sim_shadow_end(sim, true);
    } else if (sim->parts.count > 1) {
        note_parts(sim);
    }
    if (sim->kept.count == 1) {  // a whole step that had nothing to close is one piece
        pp_sim_clear_parts(sim);
    }
    return status;
}
