// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random spatial scenes: bodies of every convex shape in a loose heap over a floor with walls, joined or not.
#pragma once

#include "support/random_scene.h"
#include "support/space.h"

// Between plane_open and plane_start. Bodies start apart from each other.
void random_space(plane *p, rng *r, const random_scene_options *options);
perp_vec3 random_space_vector(rng *r, double size);
perp_quat random_space_turn(rng *r);
