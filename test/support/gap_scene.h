// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two shapes on two free bodies, with a signed distance computed in another way and in long double:
// the distance of the origin from the convex hull of all differences of their vertices.
#pragma once

#include "gap/gap.h"

enum { GAP_SCENE_VERTICES = 32 };

typedef struct gap_scene {
    perp_shape_def def[2];  // shape k is on body k + 1
    perp_vec3 vertex[2][GAP_SCENE_VERTICES];
    perp_model *model;
    pp_frame body[3];
} gap_scene;

// False when the builder refuses a shape.
bool gap_scene_create(gap_scene *s, const perp_shape_def *a, const perp_shape_def *b);
void gap_scene_destroy(gap_scene *s);
pp_frame gap_scene_frame(double x, double y, double angle);

// Signed distance as it should be.
double gap_scene_truth(const gap_scene *s);
// Coordinates are no larger than this, seen from the first body.
double gap_scene_size(const gap_scene *s);
// A segment and a point or segment: they have no inside, and a rule of their own.
bool gap_scene_thin(const gap_scene *s);

// What is wrong with the contact points of the two, NULL when nothing is: finite, unit normals, the true
// distance, which parting them by it makes zero, and the same with a and b swapped.
const char *gap_scene_flaw(const gap_scene *s);
