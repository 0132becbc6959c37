// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of solvers by name. Private to comp/.
#pragma once

#include "comp/comp.h"

// One row of the registry.
typedef struct pp_solver {
    perp_solver_card card;
    pp_mcp_solver *mcp;  // NULL: not for MCPs
    pp_fcp_solver *fcp;  // NULL: contact problems are turned into MCPs when their law is polygonal
    pp_ncp_solver *ncp;  // NULL: not for nonlinear MCPs
} pp_solver;

// NULL: no solver has this name.
const pp_solver *pp_solver_find(const char *name);
