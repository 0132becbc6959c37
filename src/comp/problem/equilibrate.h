// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem in equilibrated units, for the second run of the ladder of "auto". Private to
// auto_*.c. Units are powers of two: nothing is rounded, and an answer in them is an answer of the
// problem as posed.
#pragma once

#include "comp/comp.h"

// w_i = ŵ_i / row_i and z_j = col_j ẑ_j; for contact, of each component of u and r; body: v = body v̂, NULL
// in the local form.
typedef struct pp_units {
    double *row, *col, *body;
} pp_units;

// *helps: the units differ enough from the caller's (by 2^10 among rows or columns) to solve again.
perp_status pp_mcp_equilibrate(const perp_mcp *mcp, pp_arena *arena, perp_mcp *out, pp_units *units,
                               bool *helps);
perp_status pp_fcp_equilibrate(const perp_fcp *fcp, pp_arena *arena, perp_fcp *out, pp_units *units,
                               bool *helps);
