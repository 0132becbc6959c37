// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Block principal pivoting for boxes (Judice, Pires 1994; after Kostreva 1978).
//
// A basis makes each variable free (w = 0), or puts it at its lower or at its upper bound. Its
// solution is one linear solve, theory (C19); every variable that violates its sign or its bound
// changes place, all at once. For a P-matrix this ends in few steps but may cycle: after `patience`
// steps that do not lower the number of violations only the last violating index changes, by
// Murty's (1974) rule, which is finite for P-matrices, until the number is lower.
#include "comp/pivoting/pivot.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

void pp_pivot_center(pp_pivot *p, double alpha)
{
    p->alpha = alpha;
    for (int i = 0; i < p->n; i++) {
        p->q[i] = p->mcp->b[i] - alpha * p->D[i] * p->center[i];
    }
}

// Lists the free and the fixed variables, puts z at its bounds, and computes c = q + (A + alpha D)
// z with z_F = 0.
static void place_bounds(pp_pivot *p)
{
    int count = 0, fixed_count = 0;
    for (int i = 0; i < p->n; i++) {  // without branches, which places would mispredict
        bool is_free = p->place[i] == PERP_BASIS_BASIC;
        double bound = p->place[i] == PERP_BASIS_LOWER ? p->lower[i] : p->upper[i];
        p->z[i] = is_free ? 0.0 : bound;
        p->free[count] = i;
        count += is_free;
        p->fixed[fixed_count] = i;
        fixed_count += p->z[i] != 0.0;
    }
    p->count = count;
    p->fixed_count = fixed_count;
    memcpy(p->c, p->q, (size_t)p->n * sizeof *p->c);
    for (int k = 0; k < p->fixed_count; k++) {
        int j = p->fixed[k];
        p->x[k] = p->z[j];
        p->c[j] += p->alpha * p->D[j] * p->z[j];
        if (p->sparse) {
            for (int t = p->A.p[j]; t < p->A.p[j + 1]; t++) {
                p->c[p->A.i[t]] += p->A.x[t] * p->z[j];
            }
        }
    }
    if (!p->sparse) {
        pp_gemv_columns(p->n, p->fixed_count, p->fixed, p->A.dense, p->n, p->x, p->c);
    }
}

// Lists the violating variables in exchange, and where they go in target; returns how many. A sign
// counts where it exceeds the rounding error of w_i, which for a positive semidefinite A is bounded
// by eps sqrt(A_ii) sum_j sqrt(A_jj) |z_j|.
static int find_violations(pp_pivot *p)
{
    double mass = 0.0;
    for (int i = 0; i < p->n; i++) {
        mass += p->root[i] * fabs(p->z[i]);
    }
    double noise = 4.0 * DBL_EPSILON * mass;
    int found = 0;
    for (int i = 0; i < p->n; i++) {
        double slack = p->unit + noise * p->root[i];
        double give = slack * p->inverse[i] * p->inverse[i];
        perp_basis place = (perp_basis)p->place[i];
        int below = p->z[i] < p->lower[i] - give;
        int above = p->z[i] > p->upper[i] + give;
        int wrong = (place < 0 ? p->w[i] : -p->w[i]) < -slack;
        int leaves = wrong & (p->lower[i] < p->upper[i]);
        // a free variable goes to the bound it has passed, one at a bound with the wrong w is freed
        int from_bound = leaves ? PERP_BASIS_BASIC : (int)place;
        int target = place == PERP_BASIS_BASIC ? above - below : from_bound;
        p->exchange[found] = i;
        p->target[found] = (int8_t)target;
        found += target != (int)place;
    }
    return found;
}

perp_status pp_pivot_block(pp_pivot *p, int block_patience, int singles)
{
    int fewest = INT_MAX, patience = block_patience;
    for (;;) {
        if (p->steps >= p->step_limit || pp_job_is_over(p->job)) {
            return PERP_ERR_LIMIT;
        }
        p->steps++;
        place_bounds(p);
        perp_status status = pp_pivot_solve_free(p);
        if (status < 0) {
            return status;
        }
        int found = find_violations(p);
        if (found == 0) {
            return PERP_OK;
        }
        // all violations, while their number falls now and then; otherwise the last one
        bool block = true;
        if (found < fewest) {
            fewest = found;
            patience = block_patience;
        } else if (patience > 0) {
            patience--;
        } else if (singles-- > 0) {
            block = false;
        } else {
            return PERP_ERR_LIMIT;
        }
        for (int k = block ? 0 : found - 1; k < found; k++) {
            p->place[p->exchange[k]] = p->target[k];
        }
    }
}
