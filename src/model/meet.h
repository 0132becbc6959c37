// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of model/'s door: which shapes may meet, and what they do then.
#pragma once

#include <perp/model.h>

typedef struct pp_pair_rule {  // sorted by (a, b), a < b
    int a, b;
    double mu, restitution;
    bool ignore;
    bool given;  // by a rule, not by what the shapes say
    double mu_2, mu_spin, mu_roll;
    int facets;
    perp_vec3 tangent_A;
    bool turned;  // the rule was given for (b, a): tangent_A is in b's axes
} pp_pair_rule;

// What keeps shapes from meeting, as sorted keys (meet.c).
typedef struct pp_pair_exclusions {
    int joined, held, listed;
    uint64_t *joined_key;  // two free bodies that a joint connects
    uint64_t *held_key;    // a shape in which a joint is fastened, and the limb
    uint64_t *listed_key;  // shapes that are a listed contact
    perp_excluded_pairs left_out;
} pp_pair_exclusions;

// Whether two shapes may meet, or the first of the reasons why not.
typedef enum pp_pair_filter {
    PP_PAIR_COLLIDES,
    PP_PAIR_ONE_BODY,
    PP_PAIR_NEVER,   // two points, two half-planes: nothing to find
    PP_PAIR_LISTED,  // one point, always there
    PP_PAIR_NOT_DYNAMIC,
    PP_PAIR_LISTED_ONLY,
    PP_PAIR_NOT_DETECTED,
    PP_PAIR_IGNORED,
    PP_PAIR_JOINED,
} pp_pair_filter;

pp_pair_filter pp_model_pair_filter(const perp_model *model, int shape_a, int shape_b);
// Friction, restitution and whether to look at all, for two shapes.
void pp_model_pair(const perp_model *model, int shape_a, int shape_b, pp_pair_rule *pair);
