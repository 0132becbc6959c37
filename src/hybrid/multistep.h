// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/ode*.c: coefficients of multistep methods with steps of any length, in the form of Nordsieck.
#pragma once

enum { PP_ADAMS_ORDER = 12, PP_BDF_ORDER = 5, PP_ORDERS = PP_ADAMS_ORDER + 1 };

// A method of order q at a step of length h. With x = (t - t_n) / h, the corrector adds e Lambda(x) to the polynomial of
// the predictor, where e = y_n - y_predicted.
typedef struct pp_multistep {
    double l[PP_ORDERS];  // Lambda(x) = sum of l_j x^j
    double error;         // local error = error * |e|
    double error_lower;   // of order q - 1, from z_q
    double error_upper,
        history;  // of order q + 1, from the difference of two e (upper_error in ode.c)
} pp_multistep;

// past[j - 1]: length of the j-th last step [s], j <= q.
void pp_adams_coefficients(int q, double h, const double *past, pp_multistep *out);
void pp_bdf_coefficients(int q, double h, const double *past, pp_multistep *out);

// Order q becomes q - 1: z_j -= d_j z_q for 2 <= j < q. h: the length that z is scaled with.
void pp_adams_lower(int q, double h, const double *past, double *d);
void pp_bdf_lower(int q, double h, const double *past, double *d);
// Order q becomes q + 1 (BDF): z_(q+1) = a e, z_j += d_j z_(q+1) for 2 <= j <= q. Returns a.
double pp_bdf_raise(int q, double h, const double *past, double *d);
