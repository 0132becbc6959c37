// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equations of joints, targets and rates that no forces can satisfy: a proof, and its check.
//                                                                                      theory (U11)
//
// The failure of a solver proves nothing. A vector y with A y = 0 and y . b != 0 does: whatever the
// forces r are, the combination y of the rows of A r + b is y . b. The residual of a least squares
// solution is such a vector.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// Checks a proof y from A and b alone, whoever found it: y has no effect, A y = 0 on its
// rows, and y . b > 0. Then no r satisfies A r + b = 0, since y . (A r + b) = y . b. Sums are
// taken in extended precision.                                                         theory (U11)
static bool stands(const pp_laws *laws, const double *y)
{
    size_t n = (size_t)laws->rows;
    long double value = 0.0L, size = 0.0L;
    for (size_t i = 0; i < n; i++) {
        long double effect = 0.0L, terms = 0.0L;
        for (size_t j = 0; j < n; j++) {
            long double part = (long double)laws->A[j * n + i] * (long double)y[j];
            effect += part;
            terms += fabsl(part);
        }
        // Rows without weight may move; the others are not moved by any force along y.
        if (y[i] != 0.0 && !(fabsl(effect) <= 1e-8L * terms)) {
            return false;
        }
        value += (long double)y[i] * (long double)laws->b[i];
        size += fabsl((long double)y[i] * (long double)laws->b[i]);
    }
    return value > 1e-6L * size;
}

perp_status pp_law_contradict(const pp_laws *laws, double *y, bool *proved, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    pp_laws only = *laws;
    pp_law_info info;
    pp_law *law = PP_ARRAY(arena, pp_law, laws->count);
    double *r = PP_ARRAY(arena, double, 2 * rows), *u = r + rows, size_u, size_r, worst = 0.0;
    *proved = false;
    memset(y, 0, rows * sizeof *y);
    if (!law || !r) {
        return PERP_ERR_MEMORY;
    }
    // Equations alone: all other laws are off, and known forces are left out.
    memcpy(law, laws->law, (size_t)laws->count * sizeof *law);
    for (int i = 0; i < laws->count; i++) {
        law[i].mode = law[i].kind == PP_LAW_EQUAL ? PP_HELD : PP_OFF;
        law[i].size = law[i].kind == PP_LAW_RUBBING ? 0 : law[i].size;
    }
    only.law = law;
    perp_status status = pp_law_linear(&only, r, &info, arena);
    if (status < 0) {
        return status;
    }
    pp_law_rates(&only, r, u);
    pp_law_sizes(&only, r, &size_u, &size_r);
    // The residual u of the least squares solution, weighted by the squares of the scales, is
    // orthogonal to the range of A: a candidate for y.
    for (int i = 0; i < laws->count; i++) {
        if (law[i].kind != PP_LAW_EQUAL) {
            continue;
        }
        for (int k = 0; k < law[i].size; k++) {
            int at = law[i].at + k;
            double s = pp_law_scale(laws, at);
            y[at] = s * s * u[at];
            worst = fmax(worst, fabs(u[at]));
        }
    }
    *proved = worst > 1e-6 * size_u && stands(laws, y);
    return PERP_OK;
}
