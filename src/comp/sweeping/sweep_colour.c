// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of a sweep: greedy colouring of the graph whose nodes are pairs of bodies in contact,
// and whose edges join pairs that share a body.
//
// A pair takes the first colour that neither of its bodies has. A pair that finds none of the
// PP_SWEEP_COLOURS (a plate under hundreds of bodies) goes into one more class, which one thread
// sweeps. Cost: linear in the contacts.
#include "comp/sweeping/sweep.h"

#include <string.h>

// The first bit that is not set, PP_SWEEP_COLOURS: none.
static int first_free(uint64_t used)
{
    int bit = 0;
    while (bit < PP_SWEEP_COLOURS && (used >> bit & 1U)) {
        bit++;
    }
    return bit;
}

// Groups contacts of the same two bodies that follow one another into units (first: their first contacts)
// and colours them; used: bits of the colours that a body has. Returns the number of units.
static int choose_colours(const pp_sweep *s, const int *body, uint64_t *used, int *first,
                          int *colour)
{
    int units = 0;
    for (int c = 0; c < s->count; c++) {
        const int *pair = body + 2 * (ptrdiff_t)c;
        if (c > 0 && pair[0] == pair[-2] && pair[1] == pair[-1]) {
            continue;
        }
        // body -1 does not move: it may be shared
        uint64_t taken = 0;
        for (int k = 0; k < 2; k++) {
            taken |= pair[k] >= 0 ? used[pair[k]] : 0;
        }
        int at = first_free(taken);
        for (int k = 0; k < 2 && at < PP_SWEEP_COLOURS; k++) {
            if (pair[k] >= 0) {
                used[pair[k]] |= (uint64_t)1 << at;
            }
        }
        first[units] = c;
        colour[units++] = at;
    }
    first[units] = s->count;
    return units;
}

perp_status pp_sweep_colour(pp_sweep *s, const int *body, pp_arena *arena, int *order)
{
    size_t count = (size_t)s->count;
    int start[PP_SWEEP_COLOURS + 2] = {0};
    uint64_t *used = PP_ZEROS(arena, uint64_t, s->bodies);
    int *first = PP_ARRAY(arena, int, count + 1), *colour = PP_ARRAY(arena, int, count);
    int *slot = PP_ARRAY(arena, int, count);
    s->unit = PP_ARRAY(arena, int, count + 1);
    s->part = PP_ARRAY(arena, pp_sweep_change, count / PP_SWEEP_PIECE + 1);
    s->colour = PP_ZEROS(arena, int, PP_SWEEP_COLOURS + 2);
    if (!used || !first || !colour || !slot || !s->unit || !s->part || !s->colour) {
        return PERP_ERR_MEMORY;
    }
    s->units = choose_colours(s, body, used, first, colour);
    // counting sort of the units by colour; colours without units are dropped
    for (int u = 0; u < s->units; u++) {
        start[colour[u] + 1]++;
    }
    s->colours = 0;
    s->serial = start[PP_SWEEP_COLOURS + 1] > 0;
    for (int k = 0; k <= PP_SWEEP_COLOURS; k++) {
        bool any = start[k + 1] > 0;
        start[k + 1] += start[k];
        if (any) {
            s->colour[++s->colours] = start[k + 1];
        }
    }
    for (int u = 0; u < s->units; u++) {
        slot[start[colour[u]]++] = u;
    }
    // the contacts in the order of their units
    int next = 0;
    for (int k = 0; k < s->units; k++) {
        s->unit[k] = next;
        for (int c = first[slot[k]]; c < first[slot[k] + 1]; c++) {
            order[next++] = c;
        }
    }
    s->unit[s->units] = next;
    return PERP_OK;
}
