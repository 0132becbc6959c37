// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Touching points of a mesh: equals merged, many reduced to a few that span the same.
#include "gap/mesh_spots.h"

enum { KEEP = PP_SPOTS_MAX / 3 };

// How different two points are [m]: apart in place, or in direction, a right angle counting as the size of the solid.
static double apart(const pp_spots *s, const pp_touch *a, const pp_touch *b)
{
    return pp_length(pp_sub(a->x_a, b->x_a)) + s->size * pp_length(pp_sub(a->n, b->n));
}

// Brings to the front `keep` points: the closest, then again and again the one that is most different from those taken.
static void spread(pp_spots *s, int keep)
{
    double from[PP_SPOTS_MAX];
    for (int taken = 0; taken < keep && taken < s->count; taken++) {
        int best = taken;
        for (int k = taken; k < s->count; k++) {
            bool better = taken == 0 ? s->spot[k].gap < s->spot[best].gap : from[k] > from[best];
            best = better ? k : best;
        }
        pp_touch touch = s->spot[best];
        s->spot[best] = s->spot[taken];
        s->spot[taken] = touch;
        if (taken > 0) {
            from[best] = from[taken];
        }
        for (int k = taken + 1; k < s->count; k++) {
            double d = apart(s, &touch, &s->spot[k]);
            from[k] = taken == 0 ? d : fmin(from[k], d);
        }
    }
    s->count = s->count < keep ? s->count : keep;
}

void pp_spots_add(pp_spots *s, const pp_touch *touch)
{
    const double same = 1e-6;
    for (int k = 0; k < s->count; k++) {
        if (apart(s, &s->spot[k], touch) <= same * s->size) {
            return;
        }
    }
    if (s->count == PP_SPOTS_MAX) {
        spread(s, KEEP);
    }
    s->spot[s->count++] = *touch;
}

int pp_spots_write(pp_spots *s, pp_touch out[PP_TOUCH_MAX])
{
    spread(s, PP_TOUCH_MAX);
    for (int k = 0; k < s->count; k++) {
        out[k] = s->spot[k];
        for (int i = 0; i < k; i++) {
            if (out[i].feature == out[k].feature) {
                out[k].feature++;
                i = -1;  // look at all of them again
            }
        }
    }
    return s->count;
}
