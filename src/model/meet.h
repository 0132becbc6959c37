// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of the door of model/: which shapes may collide, and with which coefficients.
#pragma once

#include <perp/model.h>

// A rule of the scene for two shapes, or what follows from the shapes themselves.
typedef struct pp_pair_rule {  // sorted by (a, b), a < b
    int a, b;
    double mu, restitution;
    bool ignore;
    bool given;  // a rule of the scene
    // mu_2 >= 0: friction across tangent_A, in the axes of a's body, where mu is that along it.
    double mu_2, mu_spin, mu_roll;
    int facets;
    perp_vec3 tangent_A;
    bool turned;  // the rule was given for (b, a): tangent_A is in the axes of b
} pp_pair_rule;

// Two bodies whose shapes do not collide, a < b.
typedef struct pp_body_pair {
    int a, b;
} pp_body_pair;

// What keeps shapes from colliding, as sorted keys of two numbers (meet.c).
typedef struct pp_pair_exclusions {
    int joined, held, listed, excluded;
    uint64_t *joined_key;    // two free bodies that a joint connects
    uint64_t *held_key;      // a shape that a joint is fastened to, and the body on it
    uint64_t *listed_key;    // two shapes of a listed contact
    uint64_t *excluded_key;  // two bodies that the scene excludes
    perp_excluded_pairs left_out;
} pp_pair_exclusions;

// Whether two shapes may collide, or the first reason why not.
typedef enum pp_pair_filter {
    PP_PAIR_COLLIDES,
    PP_PAIR_ONE_BODY,
    PP_PAIR_NEVER,         // two points, two half-planes: nothing to find
    PP_PAIR_LISTED,        // one point, always there
    PP_PAIR_NOT_DYNAMIC,   // neither body is free
    PP_PAIR_LISTED_ONLY,   // the scene detects nothing
    PP_PAIR_NOT_DETECTED,  // one of the shapes is not detected
    PP_PAIR_IGNORED,       // by a rule of the scene
    PP_PAIR_MASKED,        // by groups and masks
    PP_PAIR_EXCLUDED,      // the scene excludes the two bodies
    PP_PAIR_JOINED,        // a joint keeps them apart
} pp_pair_filter;

pp_pair_filter pp_model_pair_filter(const perp_model *model, int shape_a, int shape_b);
// Coefficients of two shapes: by a rule, or combined from both as perp_combine and the priorities
// say; of restitution and facets the larger one.
void pp_model_pair(const perp_model *model, int shape_a, int shape_b, pp_pair_rule *pair);
// The rule of the scene that was given last for two shapes; NULL: none.
const pp_pair_rule *pp_model_rule(const perp_model *model, int shape_a, int shape_b);
