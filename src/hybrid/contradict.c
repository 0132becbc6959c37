// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equations of joints, targets and rates that no forces can close: the proof, and its check.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// What equations are short of after the least squares, weighed by their scales: y. It has no effect, A y = 0, and
// is not across b: then no forces close them. Checked from A and b alone, whoever found it.   theory (U11)
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
    if (!law || !r) {
        return PERP_ERR_MEMORY;
    }
    memcpy(law, laws->law, (size_t)laws->count * sizeof *law);
    for (int i = 0; i < laws->count; i++) {
        bool equation = law[i].kind == PP_LAW_EQUAL;
        law[i].mode = equation ? PP_HELD : PP_OFF;
        law[i].size = equation || law[i].kind != PP_LAW_RUBBING ? law[i].size : 0;
    }
    only.law = law;
    perp_status status = pp_law_linear(&only, r, &info, arena);
    memset(y, 0, rows * sizeof *y);
    if (status >= 0) {
        pp_law_rates(&only, r, u);
        pp_law_sizes(&only, r, &size_u, &size_r);
    }
    for (int i = 0; status >= 0 && i < laws->count; i++) {
        for (int k = 0; law[i].kind == PP_LAW_EQUAL && k < law[i].size; k++) {
            int at = law[i].at + k;
            double s = pp_law_scale(laws, at);
            y[at] = s * s * u[at];
            worst = fmax(worst, fabs(u[at]));
        }
    }
    *proved = status >= 0 && worst > 1e-6 * size_u && stands(laws, y);
    return status;
}
