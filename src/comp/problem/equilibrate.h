// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to auto_*.c: the same problem in units in which its matrix is balanced. Units are powers of two, so that
// nothing is rounded, and an answer in them is an answer.
#pragma once

#include "comp/comp.h"

// w_i = ŵ_i / row_i,  z_j = col_j ẑ_j; for contact of each component of r and u; body: v = body v̂.
typedef struct pp_units {
    double *row, *col, *body;
} pp_units;

// *helps: the units differ enough from those given to make another problem for a solver.
perp_status pp_mcp_equilibrate(const perp_mcp *mcp, pp_arena *arena, perp_mcp *out, pp_units *units,
                               bool *helps);
perp_status pp_fcp_equilibrate(const perp_fcp *fcp, pp_arena *arena, perp_fcp *out, pp_units *units,
                               bool *helps);
