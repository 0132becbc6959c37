// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits of a first-order scheme: runs at h, h/2, h/4, the order they show, and what they extrapolate to.
#pragma once

enum { CONVERGE_MOST = 16 };

// Runs a scene with step h and writes what is measured at its end.
typedef void (*converge_run)(double h, double *out);

// Fails the test unless the extrapolated values are within `close` of `want`, those at h/4 within `far`,
// and halving h at least about halves the error of the worst component.
void converge_check(const char *what, converge_run run, double h, int count, const double *want,
                    double far, double close);
