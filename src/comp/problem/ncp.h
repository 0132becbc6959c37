// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear MCPs: rules, and evaluation of F and J through the callbacks of the caller. Private to comp/.
#pragma once

#include "comp/comp.h"

#include <perp/ncp.h>

// A problem that is evaluated: counts, scratch, and the failure of a callback.
typedef struct pp_ncp {
    const perp_ncp *ncp;
    int n;
    size_t entries;         // of the Jacobian: stored ones, or n n
    double *lower, *upper;  // n each
    int colours;            // of columns that share no row; differences take one evaluation each
    int *colour;            // n, or NULL: the Jacobian has a callback
    double *moved, *value;  // n each, scratch of differences
    double *step;           // likewise
    int evaluations, jacobians;
    perp_status fatal;  // of a callback: nothing more is evaluated. PERP_OK: none
    char reason[160];   // of it
} pp_ncp;

perp_status pp_ncp_check(const perp_ncp *ncp, char *reason, size_t size);
perp_status pp_ncp_open(const perp_ncp *ncp, pp_arena *arena, pp_ncp *out);
// The size of variable j that differences and restarts go by: typical_j, else the larger of |start_j| and 1.
double pp_ncp_size(const perp_ncp *ncp, int j);

// PERP_OK, and F is finite; PERP_ERR_NUMERIC: z is outside the domain of F; others: fatal.
perp_status pp_ncp_function(pp_ncp *e, const double *z, double *F);
// The values of J(z), likewise. F: the function at z.
perp_status pp_ncp_jacobian(pp_ncp *e, const double *z, const double *F, double *x);
// J with these values.
perp_matrix pp_ncp_matrix(const pp_ncp *e, const double *x);
