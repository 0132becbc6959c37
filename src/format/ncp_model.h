// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A nonlinear MCP whose F is made of expressions. Private to format/.
#pragma once

#include "expr/expr.h"

#include <perp/ncp.h>

typedef struct pp_ncp_model {
    int n, m;                                 // variables, definitions
    const char *const *name;                  // n + m
    const pp_expr **F;                        // n
    const pp_expr **definition;               // m
    double *lower, *upper, *start, *typical;  // n each
    bool typical_given;
    double *value, *rate;  // n + m each, of the evaluation under way
    int *p, *i;            // CSC pattern of the Jacobian
    int *dp, *di;          // likewise: the definitions that depend on each variable, in order
} pp_ncp_model;

pp_ncp_model *pp_ncp_model_create(int n, int m, pp_arena *arena);  // NULL: no memory
// Finds which rows and definitions depend on which variables.
perp_status pp_ncp_model_finish(pp_ncp_model *model, pp_arena *scratch, pp_arena *arena);
// The problem with callbacks that evaluate the expressions; it refers to the model.
perp_ncp pp_ncp_model_problem(pp_ncp_model *model);
