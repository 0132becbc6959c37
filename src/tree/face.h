// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to tree/: what is behind a public perp_tree.
#pragma once

#include "tree/hinge.h"

#include <perp/tree.h>

enum { PP_TREE_NAME = 96 };  // room of one

struct perp_tree {
    perp_env env;
    pp_arena *memory;   // lives as long as the tree
    pp_arena *room[2];  // of the state, and of the one that is tried
    int now;            // which of them holds the state
    pp_tree tree;
    pp_tree_pass pass;
    double *state[2];  // q and qd
    double *turn;      // joints
    pp_frame *frames;
    perp_link *link;
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
