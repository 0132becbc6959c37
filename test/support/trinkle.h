// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of Trinkle's notes of 2004 and 2018 in space, with numbers, as the C API builds them.
#pragma once

#include "support/space.h"

typedef enum trinkle_example {
    TRINKLE_BLIMP,      // a blimp parks against ceiling, front and left wall
    TRINKLE_DISC_3,     // a disc spins and slides on 3 points
    TRINKLE_DISC_8,     // the same on 8 points
    TRINKLE_PUSHER,     // a box pushed by two points
    TRINKLE_ROBOT,      // two driven wheels, a caster, a ball
    TRINKLE_PRISMATIC,  // a slider on a carrier on a ball joint
    TRINKLE_BOX,        // a box falls on a floor, eight corners
    TRINKLE_BODIES,     // bodies A, B, E and six contacts (2018)
    TRINKLE_COUNT,
} trinkle_example;

typedef struct trinkle {
    plane p;
    perp_body body[3];  // {-1}: none
    perp_body pusher;   // the first of two; {-1}: none
    int bodies;
    double h;
} trinkle;

// cones: the exact cone in place of the notes' polygons. Change t->p.def between the two calls.
void trinkle_open(trinkle *t, trinkle_example example, bool cones);
void trinkle_start(trinkle *t);
void trinkle_close(trinkle *t);
// 6 n_b + bilateral rows + sum over the contacts of (2 + n_d).
int trinkle_size(trinkle_example example);
const char *trinkle_golden(trinkle_example example);  // NULL: no stored trajectory
const char *trinkle_scene(trinkle_example example);   // name of the scene file
