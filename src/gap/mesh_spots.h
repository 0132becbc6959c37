// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Touching points of a mesh as they are gathered, triangle by triangle.
#pragma once

#include "gap/touch.h"

enum { PP_SPOTS_MAX = 96 };

typedef struct pp_spots {
    double
        size;  // of the solid: points closer than a small part of it, with the same normal, are one
    int count;
    pp_touch spot[PP_SPOTS_MAX];
} pp_spots;

// Adds a point; of two that are one the first stays.
void pp_spots_add(pp_spots *s, const pp_touch *touch);
// The closest first, then those furthest from what is taken; features made distinct. How many.
int pp_spots_write(pp_spots *s, pp_touch out[PP_TOUCH_MAX]);
