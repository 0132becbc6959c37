// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/converge.h"

#include "support/cmocka.h"

#include <math.h>

void converge_check(const char *what, converge_run run, double h, int count, const double *want,
                    double far, double close)
{
    double x[3][CONVERGE_MOST], error[3] = {0.0, 0.0, 0.0}, left = 0.0;
    for (int level = 0; level < 3; level++) {
        run(h / (1 << level), x[level]);
        for (int i = 0; i < count; i++) {
            error[level] = fmax(error[level], fabs(x[level][i] - want[i]));
        }
    }
    for (int i = 0; i < count; i++) {  // takes out the terms in h and h^2
        double limit = (x[0][i] - 6.0 * x[1][i] + 8.0 * x[2][i]) / 3.0;
        left = fmax(left, fabs(limit - want[i]));
    }
    print_message("%s: errors %.2e %.2e %.2e, extrapolated %.1e\n", what, error[0], error[1],
                  error[2], left);
    assert_true(error[2] <= far);
    assert_true(left <= close);
    double ratio = error[1] / error[2];
    assert_true(ratio > 1.6);
}
