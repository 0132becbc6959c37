// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Adams and backward differentiation formulas for steps of any length: G. D. Byrne, A. C. Hindmarsh, "A polyalgorithm for
// the numerical solution of ordinary differential equations", ACM TOMS 1 (1975); P. N. Brown, G. D. Byrne,
// A. C. Hindmarsh, "VODE", SIAM J. Sci. Stat. Comput. 10 (1989).
//
// With xi_i = (t_n - t_(n-i)) / h, so that xi_1 = 1 while a step is taken:
//   Adams   Lambda' is proportional to prod_{i=1}^{q-1} (1 + x / xi_i), Lambda(0) = 1, Lambda(-1) = 0
//   BDF     Lambda = (1 + x / xi*) prod_{i=1}^{q-1} (1 + x / xi_i), with the fixed leading coefficient
//           alpha_0 = -sum_{i=1}^{q} 1 / i
#include "hybrid/multistep.h"

#include <math.h>

// p becomes p (1 + x / xi); the degree was n - 1.
static void times(double *p, int n, double xi_inverse)
{
    for (int i = n; i >= 1; i--) {
        p[i] += p[i - 1] * xi_inverse;
    }
}

// (-1)^(k+1) times the integral of x^(k-1) p from -1 to 0; the degree of p is n.
static double moment(const double *p, int n, int k)
{
    double sum = 0.0, sign = 1.0;
    for (int i = 0; i <= n; i++) {
        sum += sign * (p[i] / (i + k));
        sign = -sign;
    }
    return sum;
}

void pp_adams_coefficients(int q, double h, const double *past, pp_multistep *out)
{
    double m[PP_ORDERS + 1] = {1.0};
    double sum = h;  // t_n - t_(n-j)
    *out = (pp_multistep){.error_lower = 1.0};
    for (int j = 1; j < q; j++) {
        if (j == q - 1) {
            out->error_lower = q * moment(m, q - 2, 2) / m[q - 2];
        }
        times(m, j, h / sum);
        sum += past[j - 1];
    }
    // Now m has the product over i < q, and sum / h is xi_q.
    double whole = moment(m, q - 1, 1), xi = sum / h;
    double first = moment(m, q - 1, 2);
    out->l[0] = 1.0;
    for (int i = 1; i <= q; i++) {
        out->l[i] = m[i - 1] / i / whole;
    }
    out->error = first / whole / xi;
    out->history = xi / out->l[q];
    times(m, q, 1.0 / xi);
    out->error_upper = moment(m, q, 2) / whole / (q + 1);
}

void pp_bdf_coefficients(int q, double h, const double *past, pp_multistep *out)
{
    double sum = h, xi_inverse = 1.0, star_inverse = 1.0;
    double alpha = -1.0,
           alpha_own = -1.0;  // alpha_0 with fixed leading coefficient, and of these steps
    *out = (pp_multistep){.l = {1.0, 1.0}, .error_lower = 1.0};
    double *l = out->l;
    for (int j = 2; j < q; j++) {
        sum += past[j - 2];
        times(l, j, h / sum);
        alpha -= 1.0 / j;
    }
    if (q > 1) {
        alpha -= 1.0 / q;
        star_inverse = -l[1] - alpha;
        sum += past[q - 2];
        xi_inverse = h / sum;
        alpha_own = -l[1] - xi_inverse;
        times(l, q, star_inverse);
    }
    // Errors: of this order, of one less and of one more.
    double a1 = 1.0 - alpha_own + alpha, a2 = 1.0 + q * a1;
    out->error = fabs(a1 / (alpha * a2));
    out->history = fabs(a2 * star_inverse / (l[q] * xi_inverse));
    if (q > 1) {
        double a3 = alpha + 1.0 / q, a4 = alpha_own + xi_inverse;
        out->error_lower = fabs(star_inverse / l[q] * (1.0 - a4 + a3) / a3);
    }
    xi_inverse = h / (sum + past[q - 1]);
    double a5 = alpha - 1.0 / (q + 1), a6 = alpha_own - xi_inverse;
    out->error_upper = fabs((1.0 - a6 + a5) / a2 / (xi_inverse * (q + 2) * a5));
}

// p becomes x^power prod_{i=1}^{count} (x + xi_i).
static void product_of_past(double *p, int power, int count, double h, const double *past)
{
    double sum = 0.0;
    for (int i = 0; i <= PP_ORDERS; i++) {
        p[i] = 0.0;
    }
    p[power] = 1.0;
    for (int j = 1; j <= count; j++) {
        sum += past[j - 1];
        for (int i = j + power; i >= power; i--) {
            p[i] = p[i] * (sum / h) + p[i - 1];
        }
    }
}

// The part that is taken away keeps y and its derivatives at t_n, ..., t_(n-q+2): q times the integral of
// u prod_{i=1}^{q-2} (u + xi_i) from 0 to x.
void pp_adams_lower(int q, double h, const double *past, double *d)
{
    double p[PP_ORDERS + 1];
    product_of_past(p, 1, q - 2, h, past);
    for (int j = 2; j < q; j++) {
        d[j] = q * (p[j - 1] / j);
    }
}

// Here it keeps y' at t_n and y at t_n, ..., t_(n-q+2): x^2 prod_{i=1}^{q-2} (x + xi_i).
void pp_bdf_lower(int q, double h, const double *past, double *d)
{
    double p[PP_ORDERS + 1];
    product_of_past(p, 2, q - 2, h, past);
    for (int j = 2; j < q; j++) {
        d[j] = p[j];
    }
}

double pp_bdf_raise(int q, double h, const double *past, double *d)
{
    double p[PP_ORDERS + 1] = {0.0, 0.0, 1.0};
    double sum = h, alpha = -1.0, alpha_own = 1.0, product = 1.0, xi_before = 1.0;
    for (int j = 1; j < q; j++) {
        sum += past[j];
        double xi = sum / h;
        product *= xi;
        alpha -= 1.0 / (j + 1);
        alpha_own += 1.0 / xi;
        for (int i = j + 2; i >= 2; i--) {
            p[i] = p[i] * xi_before + p[i - 1];
        }
        xi_before = xi;
    }
    for (int j = 2; j <= q; j++) {
        d[j] = p[j];
    }
    return (-alpha - alpha_own) / product;
}
