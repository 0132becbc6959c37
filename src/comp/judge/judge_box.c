// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of box friction, theory (C33): the bounds that depend on the answer are taken from the
// answer. Shares no code with the solver, and reads the matrix itself.
//
//   l_i = -mu_i z_c, u_i = mu_i z_c   where findex_i = c;  the given bounds otherwise
//   plain    max_i |clamp(w_i, z_i - u_i, z_i - l_i)| / max|b|                        theory (C5)
//   scaled   the same for z_i A_ii, relative to max(|b|, |w|)                         theory (C6)
//   backward each row in units of its own                                            theory (C40)
#include "comp/judge/judge.h"

#include <math.h>

// w_i in long double, and the sum of the absolute values of its terms: answers of redundant
// contacts may be large and cancel.
static double row_value(const perp_box_friction *box, int i, const double *z, double *size)
{
    long double sum = (long double)box->b[i], terms = fabsl(sum);
    for (int j = 0; j < box->n; j++) {
        long double part = (long double)pp_matrix_at(&box->A, i, j) * (long double)z[j];
        sum += part;
        terms += fabsl(part);
    }
    *size = (double)terms;
    return (double)sum;
}

// The bounds of row i at z.
static void own_bounds(const perp_box_friction *box, int i, const double *z, double *lower,
                       double *upper)
{
    int c = box->findex[i];
    if (c < 0) {
        *lower = box->lower ? box->lower[i] : 0.0;
        *upper = box->upper ? box->upper[i] : PP_INF;
        return;
    }
    *upper = box->mu[i] * (z[c] > 0.0 ? z[c] : 0.0);
    *lower = -*upper;
}

// The larger number; a NaN in either wins, in b because no comparison with it is true.
static double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

void pp_box_judge(const perp_box_friction *box, const double *z, bool comparable, double *scratch,
                  perp_mcp_residuals *out)
{
    size_t n = (size_t)box->n;
    double *own = scratch;
    double b_max = 0.0, w_max = 0.0, plain = 0.0, scaled = 0.0, bound = 0.0;
    for (int i = 0; i < box->n; i++, own++) {
        double w = row_value(box, i, z, &own[n]), lower, upper, doubt = 0x1p-64 * own[n];
        own_bounds(box, i, z, &lower, &upper);
        own[0] = w;
        own[2 * n] = lower;
        own[3 * n] = upper;
        double d = fabs(pp_matrix_at(&box->A, i, i));
        d = d > 0.0 ? d : 1.0;
        // w is known up to `doubt` only: the worse end counts
        for (int side = -1; side < 2; side += 2) {
            double x = w + side * doubt, below = z[i] - upper, above = z[i] - lower;
            plain = worse(plain, fabs(pp_clamp(x, below, above)));
            scaled = worse(scaled, fabs(pp_clamp(x, below * d, above * d)));
        }
        bound = worse(bound, worse(lower - z[i], z[i] - upper));
        b_max = worse(b_max, fabs(box->b[i]));
        w_max = worse(w_max, fabs(w));
    }
    // the MCP with the boxes of z; scratch: w, terms, lower, upper, and the rest
    perp_mcp mcp = {box->n, box->A, box->b, scratch + 2 * n, scratch + 3 * n};
    double unit = b_max > 0.0 ? b_max : 1.0;
    double scaled_unit = worse(b_max, w_max) > 0.0 ? worse(b_max, w_max) : 1.0;
    *out = (perp_mcp_residuals){
        .plain = isfinite(plain) ? plain / unit : PP_INF,
        .scaled = isfinite(scaled) && isfinite(scaled_unit) ? scaled / scaled_unit : PP_INF,
        .bound = isfinite(bound) ? bound : PP_INF,
        .backward =
            pp_mcp_backward(&mcp, z, scratch, scratch + n, comparable, scratch + 4 * n, NULL),
    };
}

perp_status perp_box_friction_judge(const perp_box_friction *box, const double *z,
                                    perp_mcp_residuals *out)
{
    char reason[8];
    if (!z || !out || pp_box_check(box, reason, sizeof reason) < 0) {
        return PERP_ERR_ARGUMENT;
    }
    size_t bytes = (PP_BOX_SCRATCH * (size_t)box->n + 1) * sizeof(double);
    double *scratch = pp_alloc(NULL, bytes);
    if (!scratch) {
        return PERP_ERR_MEMORY;
    }
    pp_box_judge(box, z, false, scratch, out);
    pp_free(NULL, scratch, bytes);
    return PERP_OK;
}
