// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random machines of joints, planar or spatial, and random coordinates of their trees.
#pragma once

#include "support/random.h"

#include "tree/tree.h"

typedef struct random_tree_options {
    bool spatial;
    int bodies;      // free ones
    bool afloat;     // nothing holds the first body
    bool driven;     // some hang on a body that is driven
    bool particles;  // some bodies are particles
    bool loops;      // more joints than the tree needs, distances and gears among them
    bool springs;    // on coordinates, and force elements
    bool weightless;
} random_tree_options;

typedef struct random_tree {
    perp_model *model;
    pp_arena *arena;
    pp_tree tree;
    double t;
    double *q, *qd;
} random_tree;

void random_tree_open(random_tree *m, rng *r, const random_tree_options *options);
void random_tree_close(random_tree *m);
// A random configuration with random rates.
void random_tree_shake(const pp_tree *tree, rng *r, double *q, double *qd);

// Checks count machines made by the options, the plane and space in turns, of 1 to 7 bodies.
typedef void random_tree_check(random_tree *m, rng *r, uint64_t seed);
void random_tree_each(random_tree_check *check, const random_tree_options *options, int count);
pp_tree_pass random_tree_pass(const random_tree *m, const double *q, const double *qd, double t);
