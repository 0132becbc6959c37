// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts of a step: found where the step before ended, or anew; and those where this one ends.
//
// The certificate needs the gaps at the end of the step, and the next step the same ones at its start: detection runs once
// a step, at its end, and the result is kept in two arenas that take turns.
#include "sim/step/parts.h"

#include <math.h>

// How near shapes must be to be looked at [m]: the margin, and what speeds can close within the
// step, rounded up to eighths of a power of two. So the reach at the end of one step is mostly that
// at the start of the next, to the last bit, and what was found serves.
static double reach_of(const perp_sim *sim, const pp_kinematics *kin)
{
    int exponent;
    double margin = pp_gap_margin(sim->model, sim->def.margin);
    double reach = sim->model->shapes > 0 ? pp_gap_reach(sim->model, kin, margin) : margin;
    double part = frexp(reach, &exponent);
    return reach > margin && isfinite(reach) ? ldexp(ceil(8.0 * part) / 8.0, exponent) : reach;
}

// Contacts of the step: those of the last certificate, unless the state was changed since, or the
// reach is another one. Then friction axes are set, and contacts that cannot act in the step are
// dropped.
perp_status pp_sim_find_gaps(perp_sim *sim)
{
    pp_step *s = &sim->step;
    pp_contact_cache *found = &sim->contact_cache;
    double reach = reach_of(sim, &s->kin);
    s->reach = reach;
    bool known = found->valid && found->reach == reach;
    perp_status status = PERP_OK;
    if (known) {
        s->gap = found->gaps;
    } else {
        status = pp_gaps_run(&s->gap, sim->model, &s->kin.poses,
                             (pp_gap_search){.margin = reach, .team = &sim->team}, sim->arena);
    }
    found->valid = false;  // the functions below change the list in place
    if (status < 0) {
        return status;
    }
    status = pp_gaps_aim(&s->gap, sim->model, &s->kin, reach, sim->arena);
    if (status < 0) {
        return status;
    }
    status = pp_contacts_cull(&s->gap, sim->model, &s->kin, sim->def.margin, sim->arena);
    if (status < 0) {
        return status;
    }
    pp_sim_mark_locked(sim);
    return pp_sim_step_without_restitution(sim);
}

// Contacts where the step ends, found anew for the certificate, as far as the next step will look.
// The arena of the start's contacts stays: the report reads them.
// Rounds of the implicit step look as far as its start did where something bounces: it may be that far from what it struck.
perp_status pp_sim_find_end(perp_sim *sim)
{
    pp_contact_cache *found = &sim->contact_cache;
    // masses and forces of this step, for the reach of the next one
    pp_kinematics at = sim->step.kin;
    at.poses = sim->step.end;
    at.h = sim->step.h;
    pp_arena *arena = found->arena[1 - found->current];
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_GAP);
    pp_arena_reset(arena);
    found->current = 1 - found->current;
    found->reach = reach_of(sim, &at);
    if (sim->step.last && sim->step.bounces) {
        found->reach = fmax(found->reach, sim->step.reach);
    }
    pp_gap_search search = {.margin = found->reach, .team = &sim->team};
    perp_status status = pp_gaps_run(&found->gaps, sim->model, &at.poses, search, arena);
    pp_sim_charge(sim, stage);
    return status;
}

// Bodies that overlap by more than a hundredth of the model's length are pushed apart in one step,
// at the speed psi / h: the remark says so.
void pp_sim_note_overlap(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_contact *deepest = NULL;
    for (int i = 0; i < sim->step.gap.count; i++) {
        const pp_contact *c = &sim->step.gap.contact[i];
        deepest = !deepest || c->gap < deepest->gap ? c : deepest;
    }
    bool pushed = deepest && !sim->unfit && deepest->gap < -1e-2 * m->length_scale;
    if (pushed && !sim->info.remark[0]) {
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "'%s' and '%s' overlapped by %.3g m and were pushed apart",
                 m->shape[deepest->a].name, m->shape[deepest->b].name, -deepest->gap);
    }
}
