// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to judge_*.c.
#pragma once

#include "comp/comp.h"

// Bounds of the residuals. False: not below `enough`, or neither tight nor far below it.
bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out);

// The verdict on an MCP's answer from its w, however that was computed.
typedef struct pp_rating {
    const double *w, *terms;  // n: A z + b, and the sum of the absolute values that it is made of
    const double *inverse;    // n: 1 / rho_i > 0, theory (C15)
    const double *load;       // n: size of the data of each row, 0 for fixed variables
    double doubt;             // w is known up to this part of the terms
} pp_rating;

void pp_mcp_rate(const perp_mcp *mcp, const double *z, const pp_rating *r, perp_mcp_residuals *out);
