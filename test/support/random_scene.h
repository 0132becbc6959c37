// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random planar scenes: bodies of every shape in a loose heap over a floor with walls, joined or not.
#pragma once

#include "support/plane.h"
#include "support/random.h"

typedef struct random_scene_options {
    int bodies;      // free ones
    bool ground;     // floor and two walls, gravity; without: afloat
    bool joints;     // some neighbours are joined
    bool drives;     // a driven body, a belt, motors
    double mu_most;  // friction of each shape between 0 and this
    double speed;    // of the start
} random_scene_options;

// Between plane_open and plane_start. Bodies start apart from each other.
void random_scene(plane *p, rng *r, const random_scene_options *options);
