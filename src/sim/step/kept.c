// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the last step, kept one by one as they ended: a recording has all of them, so that each can be judged.
#include "sim/sim.h"

#include <string.h>

// At the start of every step; the arena keeps its memory.
void pp_sim_clear_parts(perp_sim *sim)
{
    pp_stored_parts *list = &sim->kept;
    list->count = list->room = 0;
    list->part = NULL;
    if (list->arena) {
        pp_arena_reset(list->arena);
    }
}

// Doubles the list. The old one stays in the arena until the next step.
static bool grow_list(pp_stored_parts *list)
{
    enum { FIRST = 16 };
    if (list->count < list->room) {
        return true;
    }
    int room = list->room > 0 ? 2 * list->room : FIRST;
    pp_stored_part *part = PP_ARRAY(list->arena, pp_stored_part, room);
    if (part && list->count > 0) {
        memcpy(part, list->part, (size_t)list->count * sizeof *part);
    }
    list->part = part ? part : list->part;
    list->room = part ? room : list->room;
    return part != NULL;
}

// A copy in the list's arena, also of nothing; NULL: memory is out.
static void *copy(pp_arena *arena, const void *from, size_t bytes)
{
    void *to = PP_ARRAY(arena, char, bytes + 1);
    if (to && bytes > 0) {
        memcpy(to, from, bytes);
    }
    return to;
}

// Arrays are copied: those of the sim are overwritten by the next part.
perp_status pp_sim_store_part(perp_sim *sim, const pp_stored_part *part)
{
    const perp_model *m = sim->model;
    pp_stored_parts *list = &sim->kept;
    list->arena = list->arena ? list->arena : pp_arena_create(&sim->env);
    if (!list->arena || !grow_list(list)) {
        return PERP_ERR_MEMORY;
    }
    pp_stored_part *to = &list->part[list->count];
    *to = *part;
    to->q = copy(list->arena, part->q, (size_t)m->nq * sizeof *to->q);
    to->nu = copy(list->arena, part->nu, (size_t)m->nv * sizeof *to->nu);
    to->body = copy(list->arena, part->body, (size_t)m->bodies * sizeof *to->body);
    to->joint = copy(list->arena, part->joint, (size_t)m->joints * sizeof *to->joint);
    to->contact = copy(list->arena, part->contact, (size_t)part->contacts * sizeof *to->contact);
    bool good = to->q && to->nu && to->body && to->joint && to->contact;
    // a part that could not be copied whole is not in the list
    list->count += good;
    return good ? PERP_OK : PERP_ERR_MEMORY;
}

// The part that was just committed, from the sim itself.
perp_status pp_sim_store_present(perp_sim *sim, perp_part_kind kind, double h)
{
    const perp_model *m = sim->model;
    perp_joint_state *joint = PP_ARRAY(sim->arena, perp_joint_state, m->joints);
    if (m->joints > 0 && !joint) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->joints; i++) {
        joint[i] = perp_sim_joint(sim, (perp_joint){i});
    }
    pp_stored_part part = {.kind = kind,
                           .t = sim->now.t,
                           .h = h,
                           .q = sim->now.q,
                           .nu = sim->now.nu,
                           .body = sim->frames,
                           .contact = sim->contacts,
                           .contacts = sim->contact_count,
                           .joint = joint,
                           .info = sim->info};
    return pp_sim_store_part(sim, &part);
}
