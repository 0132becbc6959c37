// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points followed through a run: those of the same pair of shapes and the same feature.
#include "replay/reel.h"

#include <string.h>

static uint64_t track_key(int32_t a, int32_t b, uint32_t feature)
{
    uint32_t key[3] = {(uint32_t)a, (uint32_t)b, feature};
    return pp_hash(0, key, sizeof key);
}

static void insert_track(pp_contact_ids *t, int track)
{
    uint64_t at = track_key(t->shapes[track][0], t->shapes[track][1], t->feature[track]);
    while (t->slot[at % (uint64_t)t->slots] >= 0) {
        at++;
    }
    t->slot[at % (uint64_t)t->slots] = track;
}

static bool grow_tracks(pp_contact_ids *t, pp_arena *arena)
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
    for (int k = 0; k < wide.slots; k++) {
        wide.slot[k] = -1;
    }
    for (int k = 0; k < t->count; k++) {
        wide.shapes[k][0] = t->shapes[k][0];
        wide.shapes[k][1] = t->shapes[k][1];
        wide.feature[k] = t->feature[k];
        wide.mu[k] = t->mu[k];
        insert_track(&wide, k);
    }
    *t = wide;
    return true;
}

int pp_contact_id_of(pp_contact_ids *tracks, const perp_contact *contact, pp_arena *arena)
{
    pp_contact_ids *t = tracks;
    if (t->count == t->room && !grow_tracks(t, arena)) {
        return -1;
    }
    uint64_t at = track_key(contact->a.i, contact->b.i, contact->feature);
    for (int found; (found = t->slot[at % (uint64_t)t->slots]) >= 0; at++) {
        if (t->shapes[found][0] == contact->a.i && t->shapes[found][1] == contact->b.i &&
            t->feature[found] == contact->feature) {
            return found;
        }
    }
    int track = t->count++;
    t->shapes[track][0] = contact->a.i;
    t->shapes[track][1] = contact->b.i;
    t->feature[track] = contact->feature;
    t->mu[track] = contact->mu;
    t->slot[at % (uint64_t)t->slots] = track;
    return track;
}
