// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the step says about its contacts, offered to the judge of its geometry, which believes none of it.
#include "certify/witness.h"

pp_axis *pp_geometry_axes(const pp_gaps *gaps, pp_arena *arena, int *count)
{
    pp_axis *axis = PP_ARRAY(arena, pp_axis, gaps->count);
    *count = 0;
    for (int i = 0; axis && i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        if (c->listed < 0) {
            axis[(*count)++] = (pp_axis){c->a, c->b, c->n};
        }
    }
    return axis;
}
