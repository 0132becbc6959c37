// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts of a step: found where the step before ended, or anew; and those where this one ends.
//
// The certificate needs the gaps at the end of the step, and the next step the same ones at its start: detection runs once
// a step, at its end, and the result is kept in two arenas that take turns.
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

// Rounded up to eighths of a power of two. So the reach at the end of one step is mostly that at the start of the next, to
// the last bit, and what was found serves.
static double round_up(double x)
{
    int exponent;
    double part = frexp(x, &exponent);
    return isfinite(x) ? ldexp(ceil(8.0 * part) / 8.0, exponent) : x;
}

// How near shapes must be to be looked at: the margin, and what speeds can close within the step.
typedef struct gap_reach {
    double near;    // the margin [m]
    double most;    // of all pairs [m]
    double closes;  // what the two fastest bodies close, without the margin [m]
    // bodies: how far each can move [m], and what forces add to its speed [m/s]; NULL: all pairs are looked at from `most`
    const double *travel, *push;
    pp_gap_search search;  // of which h, span and bounces are set
} gap_reach;

// Bodies that hardly move count with half the margin, which they are looked at from in any case: so the noise of
// a body at rest does not make its travel another one in every step. With two free bodies, all pairs have the same reach.
static perp_status find_reach(perp_sim *sim, const pp_kinematics *kin, pp_arena *arena,
                              gap_reach *out)
{
    const perp_model *m = sim->model;
    double near = pp_gap_margin(m, sim->def.margin);
    // pairs that may collide are those of the model, whatever this sim has changed
    sim->gap_memory =
        sim->gap_memory ? sim->gap_memory : pp_gap_memory_create(sim->given, sim->memory);
    double *travel = PP_ARRAY(arena, double, m->bodies), *push = PP_ARRAY(arena, double, m->bodies);
    pp_gap_search search = {0};
    if (!travel || !push || !sim->gap_memory) {
        return PERP_ERR_MEMORY;
    }
    if (m->shapes > 0) {
        pp_gap_travel(m, kin, travel, push, &search);
    }
    double closes = search.closes;
    double most = fmax(near, closes);
    *out = (gap_reach){.near = near,
                       .most = most > near ? round_up(most) : most,
                       .closes = round_up(closes),
                       .search = search};
    // a reach of each pair only where there are several, and one of them is more than the margin
    if (!(most > near) || m->bodies <= 3) {
        return PERP_OK;
    }
    for (int i = 0; i < m->bodies; i++) {
        travel[i] = travel[i] > 0.5 * near ? round_up(travel[i]) : 0.5 * near;
        push[i] = round_up(push[i]);
    }
    out->travel = travel;
    out->push = push;
    return PERP_OK;
}

static bool same_reach(const perp_model *m, const pp_contact_cache *found, const gap_reach *r)
{
    // what was found farther away than is needed is culled
    if (found->reach != r->most || found->closes < r->closes || !found->travel != !r->travel) {
        return false;
    }
    if (!r->travel) {
        return true;
    }
    size_t bytes = (size_t)m->bodies * sizeof *r->travel;
    return found->span == r->search.span && memcmp(found->travel, r->travel, bytes) == 0 &&
           memcmp(found->push, r->push, bytes) == 0;
}

static pp_gap_search search_of(const perp_sim *sim, const gap_reach *r)
{
    // a margin that depends on the pair is that of the pair
    return (pp_gap_search){.margin = r->most,
                           .travel = r->travel,
                           .push = r->push,
                           .h = r->search.h,
                           .span = r->search.span,
                           .bounces = r->search.bounces,
                           .near = r->near,
                           .by_pair = !(sim->def.margin > 0.0),
                           .closes = r->closes,
                           .team = &sim->team,
                           .memory = sim->gap_memory};
}

// Contacts of the step: those of the last certificate, unless the state was changed since, or the
// reach is another one. Then friction axes are set, and contacts that cannot act in the step are
// dropped.
perp_status pp_sim_find_gaps(perp_sim *sim)
{
    pp_step *s = &sim->step;
    pp_contact_cache *found = &sim->contact_cache;
    gap_reach r;
    perp_status status = find_reach(sim, &s->kin, sim->arena, &r);
    if (status < 0) {
        return status;
    }
    s->reach = r.most;
    s->closes = r.closes;
    bool known = found->valid && same_reach(sim->model, found, &r);
    if (known) {
        s->gap = found->gaps;
    } else {
        status = pp_gaps_run(&s->gap, sim->model, &s->kin.poses, search_of(sim, &r), sim->arena);
    }
    found->valid = false;  // the functions below change the list in place
    if (status < 0) {
        return status;
    }
    // what is remembered lies beside the contacts that it is about
    pp_aim_memory memory = {.last = found->aims, .arena = found->arena[found->current]};
    status = pp_gaps_aim(&s->gap, sim->model, &s->kin, r.most, known ? &memory : NULL, sim->arena);
    if (status < 0) {
        return status;
    }
    if (known) {
        found->aims = memory.next;
        found->aims_at = found->current;
    }
    status = pp_contacts_cull(&s->gap, sim->model, &s->kin, sim->def.margin, sim->arena);
    if (status < 0) {
        return status;
    }
    pp_sim_give_surfaces(sim, &s->gap);
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
    const pp_gaps_seen last = found->gaps.seen;  // in the other arena
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_GAP);
    pp_arena_reset(arena);
    found->current = 1 - found->current;
    found->gaps = (pp_gaps){0};
    if (found->aims_at == found->current) {
        found->aims = (pp_aims_seen){0};
    }
    gap_reach r;
    perp_status status = find_reach(sim, &at, arena, &r);
    if (status >= 0 && sim->step.last && sim->step.bounces) {
        // all pairs as far as then
        r.most = fmax(r.most, sim->step.reach);
        r.closes = fmax(r.closes, sim->step.closes);
        r.travel = NULL;
    }
    if (status >= 0) {
        found->reach = r.most;
        found->closes = r.closes;
        found->travel = r.travel;
        found->push = r.push;
        found->span = r.search.span;
        pp_gap_search search = search_of(sim, &r);
        search.remember = true;
        search.last = &last;
        status = pp_gaps_run(&found->gaps, sim->model, &at.poses, search, arena);
    }
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
