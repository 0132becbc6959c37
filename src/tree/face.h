// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to tree/: the contents of a public perp_tree. It holds two states: one is current, and
// the other takes a new state until that has proved valid.
#pragma once

#include "tree/hinge.h"

#include <perp/tree.h>

enum { PP_TREE_NAME = 96 };  // room of one

struct perp_tree {
    perp_env env;
    pp_arena *memory;   // lives as long as the tree
    pp_arena *room[2];  // passes of the two states, and scratch memory of calls
    int now;            // which of them is current
    pp_tree tree;
    pp_tree_pass pass;  // of the current state
    double *state[2];   // q, then qd
    double *turn;       // joints: coordinates with their full turns
    double *input;      // inputs of the model
    pp_drive drive;     // the same for expressions of constraints
    double *filter;     // actuators: filtered controls; NaN: as if settled
    double *settled;    // actuators: the same, with all of them known
    pp_frame *frames;   // bodies, for perp_tree_set_bodies
    perp_link *link;    // public description, made once
    perp_joint *loop;
    char *names;  // nq of coordinates, then nv of velocities
};

static inline bool has_body(const perp_tree *tree, perp_body body)
{
    return tree && body.i >= 0 && body.i < tree->tree.model->bodies;
}

static inline bool has_joint(const perp_tree *tree, perp_joint joint)
{
    return tree && joint.i >= 0 && joint.i < tree->tree.model->joints;
}
