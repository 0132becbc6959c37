// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Berard's examples 4.1 to 4.6 with numbers: rods A and B (or rod A and a particle on a spring), a block
// C on a floor that may move, a pusher on a given path.
#pragma once

#include "support/plane.h"

typedef struct berard {
    plane p;
    perp_body block, rod, last;   // C, A, B; block {-1}: none
    perp_body pusher;             // {-1}: none
    perp_joint joint_a, joint_b;  // C (or ground) and A; A and B, {-1}: none
    double h;
} berard;

enum { BERARD_NONUNIQUE = 7 };  // 4.5 with a pusher at another height: an impact with many answers

// example: 1 … 6 for 4.1 … 4.6. Change b->p.def between the two calls.
void berard_open(berard *b, int example);
void berard_start(berard *b);
void berard_close(berard *b);
// Velocities, joints and contacts: size of the MCP.
int berard_size(int example);
const char *berard_name(int example);
