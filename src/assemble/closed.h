// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to assemble/: joints closed by a sparse factorisation.
#pragma once

#include "assemble/assemble.h"

// Row i of those that are closed.
const pp_row *pp_closed_row(const pp_closed *closed, int i);
// a . b over the velocities of a body, unrolled for those of space.
static inline double pp_closed_dot(int nv, const double *a, const double *b)
{
    if (nv == 6) {
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
    }
    double sum = 0.0;
    for (int v = 0; v < nv; v++) {
        sum += a[v] * b[v];
    }
    return sum;
}
// Entry (i, j) of W_b^T M^-1 W_b.
double pp_closed_coupling(const pp_closed *closed, int i, int j);
// Sets closed->ldl when S is regular; leaves it NULL where rows are redundant and few enough to be
// factored densely, with impulses of least norm.
perp_status pp_closed_sparse(pp_closed *closed, pp_ldl *ldl, pp_arena *arena);

// Sets closed->chain where joints follow one another, regular ones; else leaves it NULL.
perp_status pp_closed_chain(pp_closed *closed, pp_arena *arena);
void pp_closed_chain_solve(const pp_chain *chain, double *x);  // x = S \ x
