// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A semicircular arch of dry wedge blocks on a floor: straight edges between radii R -+ t/2, R = 1 m. The
// weight is that of the wedge, or that of the piece of ring it stands for, whose centre is farther out:
// this shifts the thickness at which the arch falls.
#pragma once

#include "support/plane.h"

enum { ARCH_BLOCKS_MOST = 64 };

typedef struct arch {
    plane p;
    int blocks;
    bool ring;
    perp_body block[ARCH_BLOCKS_MOST];
    perp_vec3 start[ARCH_BLOCKS_MOST];
} arch;

// thickness over mean radius; ring: the weight of the piece of ring. Change a->p.def between arch_open and arch_start.
void arch_open(arch *a, int blocks, double thickness, double mu, bool ring);
void arch_start(arch *a);
void arch_close(arch *a);
// Largest displacement of a block's centre from where it was built [m].
double arch_moved(const arch *a);
