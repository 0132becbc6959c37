// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random planar scenes: bodies of every shape in a loose heap over a floor with walls, joined or not. Those of
// space are in support/random_space.h, with the same options.
#pragma once

#include "support/plane.h"
#include "support/random.h"

typedef struct random_scene_options {
    int bodies;      // free ones
    bool ground;     // floor and two walls, gravity; without: afloat
    bool joints;     // some neighbours are joined; in space by joints of every kind
    bool drives;     // a driven body, a belt, in the plane motors
    bool moments;    // in space: torsional and rolling friction
    int facets;      // in space: of friction polygons; 0: the sim's law
    double mu_most;  // friction of each shape between 0 and this
    double speed;    // of the start
} random_scene_options;

// Between plane_open and plane_start. Bodies start apart from each other.
void random_scene(plane *p, rng *r, const random_scene_options *options);
