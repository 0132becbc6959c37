// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Three slender rods in the plane, each pinned to the end of the one before: the machine of the reference.
#pragma once

#include <perp/io.h>

enum { RODS = 3 };
static const double ROD_MASS[RODS] = {1.2, 0.9, 0.5}, ROD_LENGTH[RODS] = {0.8, 0.6, 0.4};

typedef struct rods {
    perp_model *model;
    perp_tree *tree;
    perp_body body[RODS];
    perp_joint joint[RODS];
} rods;

// Rods along their x axes, each with its end -L/2 on the end of the one before; reversed: the joints are
// given from the child to the parent.
void rods_open(rods *r, bool reversed);
void rods_close(rods *r);
// |got - want| <= tolerance (1 + |want|)
void rods_near(double got, double want, double tolerance);
