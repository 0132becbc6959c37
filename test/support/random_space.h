// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random spatial scenes: bodies of every convex shape in a loose heap over a floor with walls, joined or not.
#pragma once

#include "support/random.h"
#include "support/space.h"

typedef struct random_space_options {
    int bodies;      // free ones
    bool ground;     // floor and two walls, gravity; without: afloat
    bool joints;     // some neighbours are joined, joints of every kind
    bool drives;     // a driven body, a belt
    bool moments;    // torsional and rolling friction
    int facets;      // of friction polygons; 0: the sim's law
    double mu_most;  // friction of each shape between 0 and this
    double speed;    // of the start
} random_space_options;

// Between plane_open and plane_start. Bodies start apart from each other.
void random_space(plane *p, rng *r, const random_space_options *options);
perp_vec3 random_space_vector(rng *r, double size);
perp_quat random_space_turn(rng *r);
