// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear mixed complementarity problems: the problem of PATH, with F and its Jacobian by callback.
// docs/ncp.md has examples. Part of libperp_comp.
//
//   lower <= z <= upper:   F_i(z) >= 0 where z_i = lower_i,                                theory (N1)
//                          F_i(z) <= 0 where z_i = upper_i,  F_i(z) = 0 between
#pragma once

#include <perp/base.h>
#include <perp/comp.h>

// The arrays are borrowed. Callbacks return
//
//   >= 0               F or J is written
//   PERP_ERR_NUMERIC   z is outside the domain of F; values that are not finite mean the same. The solver goes on
//                      with a shorter step
//   other failures     the solve ends at once with this status
//
// Callbacks are called with lower <= z <= upper only, except that differences may leave bounds that are nearer to each
// other than the step of the difference.
typedef struct perp_ncp {
    int n;
    const double *lower;  // n, or NULL: all 0
    const double *upper;  // n, or NULL: all +INFINITY
    const double *start;  // n, or NULL: all 0; moved to the nearest point within the bounds
    const double *
        typical;  // n sizes > 0 of the variables, or NULL: changes of z_i that are small beside typical_i do
                  // not matter. For variables that may be 0 without being at a bound
    perp_status (*function)(void *user, const double *z, double *F);
    // J, zero on entry: the values of the entries in p and i, or all n x n by columns where p is NULL. NULL: J by
    // differences, several columns at once where p and i show that they share no row.
    perp_status (*jacobian)(void *user, const double *z, double *J);
    const int *p;  // CSC column starts of the Jacobian, n + 1 values; NULL: dense
    const int *i;  // row of each entry, ascending and distinct within a column
    void *user;    // handed to the callbacks
} perp_ncp;

// Solves the problem from ncp->start or, with options->warm_start, from z (and options->basis, if given). z always
// receives the best iterate found. Statuses as of perp_mcp_solve, but PERP_ERR_INFEASIBLE is never returned: no finite
// number of values of F proves that there is no solution. solver is "newton" or "auto"; NULL: "auto".
// options->work keeps the memory from one solve to the next; options->ray is not used.
PERP_API PERP_MUST perp_status perp_ncp_solve(const char *solver, const perp_ncp *ncp,
                                              const perp_comp_options *options, const perp_env *env,
                                              double *z, perp_comp_info *info);

// Residuals of z: those of perp_mcp_judge for the MCP of A = J(z), b = F(z) - J(z) z, which z solves exactly where it
// solves the problem. A failure of a callback is returned.                                          theory (N6)
PERP_API PERP_MUST perp_status perp_ncp_judge(const perp_ncp *ncp, const double *z,
                                              const perp_env *env, perp_mcp_residuals *out);

// The Jacobian of the callback against central differences at z, which must be within the bounds: the entry that differs
// most, as a part of the largest entry of its row. Entries outside p and i are compared with 0.
typedef struct perp_ncp_difference {
    double error;            // |J_ij - D_ij| / max_j |D_ij|; some 1e-7 for a correct Jacobian
    int row, column;         // of this entry
    double given, measured;  // J_ij, D_ij
} perp_ncp_difference;
PERP_API PERP_MUST perp_status perp_ncp_compare(const perp_ncp *ncp, const double *z,
                                                const perp_env *env, perp_ncp_difference *out);
