// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Touching points of a mesh as they are gathered, triangle by triangle.
#pragma once

#include "gap/convex/convex.h"

enum { PP_SPOTS_MAX = 96 };

typedef struct pp_mesh_manifold {
    double
        size;  // of the solid: points closer than a small part of it, with the same normal, are one
    int count;
    pp_touch_point spot[PP_SPOTS_MAX];
} pp_mesh_manifold;

// Adds a point; of two that are one the first stays.
void pp_mesh_manifold_add(pp_mesh_manifold *s, const pp_touch_point *touch);
// The closest first, then those furthest from what is taken; features made distinct. How many.
int pp_mesh_manifold_write(pp_mesh_manifold *s, pp_touch_point out[PP_TOUCH_MAX]);
