// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by enum.c (the enumeration of complementary bases) and enum_block.c (one basis).
#pragma once

#include "comp/comp.h"

enum { PP_ENUM_MAX = 12 };

typedef long double pp_enum_real;

// A small MCP, equilibrated: A = R A C, b = R b, bounds / C with R, C powers of
// two. Positive diagonal scaling changes no complementarity; entries are near one,
// and all decisions are taken in these units.
typedef struct pp_small {
    int n;
    pp_enum_real A[PP_ENUM_MAX][PP_ENUM_MAX];  // A[i][j]: row i, column j
    pp_enum_real b[PP_ENUM_MAX], lower[PP_ENUM_MAX], upper[PP_ENUM_MAX];
    int row_exponent[PP_ENUM_MAX], column_exponent[PP_ENUM_MAX];
    unsigned fixed;    // bit sets of variables: lower = upper, any w
    unsigned choice;   // may be between its bounds or at one
    unsigned boxed;    // of choice: both bounds finite
    unsigned free;     // no bounds: always basic
    unsigned pinned;   // of free: columns dependent on the other free ones, kept at 0
    unsigned flipped;  // of choice: only the upper bound is finite
} pp_small;

// A candidate: z of the unscaled problem, inside its bounds, and how far it is from a solution.
typedef struct pp_candidate {
    double z[PP_ENUM_MAX];
    double violation;  // worst wrong-signed w_i, relative to the terms it is the sum of
    double residual;   // worst wrong-signed w_i of the unscaled problem / max|b|
    bool doubtful;     // solves, but not in double: A z is all rounding, or z overflows; no answer
    bool marginal;     // a pivot of its basis is below the rounding of doubles
    bool degenerate;   // some z_i and w_i are both (nearly) zero: other bases may give it again
    unsigned basic, upper;
} pp_candidate;

// Called with each candidate whose violation is small; a negative status ends the walk.
typedef perp_status pp_candidate_visit(void *context, const pp_candidate *candidate);

// Copies and equilibrates an MCP of n <= PP_ENUM_MAX.
void pp_small_load(pp_small *s, const perp_mcp *mcp);
// Visits all candidates of the cone in which the variables of `basic` have w = 0.
perp_status pp_small_cone(const pp_small *s, unsigned basic, pp_candidate_visit *visit,
                          void *context);
