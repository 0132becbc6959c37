// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points followed through a run: those of the same pair of shapes and the same feature.
#include "replay/data.h"

#include <string.h>

// The same shapes and the same feature are the same contact point.
static uint64_t hash_of_contact(int32_t a, int32_t b, uint32_t feature)
{
    uint32_t key[3] = {(uint32_t)a, (uint32_t)b, feature};
    return pp_hash(0, key, sizeof key);
}

// Twice the room. All ids are put into the new table again; the old one stays in the arena, which
// takes less than twice the memory in all.
static bool grow_ids(pp_contact_ids *t, pp_arena *arena)
{
    int room = t->room > 0 ? 2 * t->room : 256;
    pp_contact_ids wide = {.count = t->count, .room = room, .slots = 3 * room};
    wide.slot = PP_ARRAY(arena, int, wide.slots);
    wide.shapes = pp_arena_array(arena, (size_t)room, sizeof *wide.shapes);
    wide.feature = PP_ARRAY(arena, uint32_t, room);
    wide.mu = PP_ARRAY(arena, double, room);
    if (room > (1 << 28) || !wide.slot || !wide.shapes || !wide.feature || !wide.mu) {
        return false;
    }
    // Three slots for an id: probing stays short.
    for (int k = 0; k < wide.slots; k++) {
        wide.slot[k] = -1;
    }
    for (int k = 0; k < t->count; k++) {
        wide.shapes[k][0] = t->shapes[k][0];
        wide.shapes[k][1] = t->shapes[k][1];
        wide.feature[k] = t->feature[k];
        wide.mu[k] = t->mu[k];
        uint64_t at = hash_of_contact(t->shapes[k][0], t->shapes[k][1], t->feature[k]);
        while (wide.slot[at % (uint64_t)wide.slots] >= 0) {
            at++;
        }
        wide.slot[at % (uint64_t)wide.slots] = k;
    }
    *t = wide;
    return true;
}

int pp_contact_id_of(pp_contact_ids *ids, const perp_contact *contact, pp_arena *arena)
{
    pp_contact_ids *t = ids;
    if (t->count == t->room && !grow_ids(t, arena)) {
        return -1;
    }
    uint64_t at = hash_of_contact(contact->a.i, contact->b.i, contact->feature);
    // Linear probing: a free slot ends the search, and is where a new id goes.
    for (int found; (found = t->slot[at % (uint64_t)t->slots]) >= 0; at++) {
        if (t->shapes[found][0] == contact->a.i && t->shapes[found][1] == contact->b.i &&
            t->feature[found] == contact->feature) {
            return found;
        }
    }
    int id = t->count++;
    t->shapes[id][0] = contact->a.i;
    t->shapes[id][1] = contact->b.i;
    t->feature[id] = contact->feature;
    t->mu[id] = contact->mu;
    t->slot[at % (uint64_t)t->slots] = id;
    return id;
}
