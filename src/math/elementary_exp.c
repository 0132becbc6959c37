// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Exponentials, logarithms and powers with the same bits on every machine. exp and log are evaluated to about 68
// bits as sums of two doubles; all other functions of this file follow from these two.
//
//   exp(x) = 2^(k / 128) exp(r),                 k the nearest integer to 128 x / log(2), 2^(k / 128) from a table
//   log(x) = e log(2) + log(c) + log(1 + r),     x = 2^e m, r = m / c - 1, c near m from a table
#include "math/elementary.h"
#include "math/math.h"

#include <stdint.h>
#include <string.h>

static const double round_trick =
    0x1.8p52;  // added and taken away, it rounds to the nearest integer

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

// 2^k, -1022 <= k <= 1023.
static double power_of_two(int k)
{
    return of_bits((uint64_t)(k + 1023) << 52);
}

// ── The exponential ──────────────────────────────────────────────────────────────────────────────

// A positive number as m 2^k with m about 1 to 2: beyond the range of a double.
typedef struct scaled {
    pp_dd m;
    int k;
} scaled;

// |x| < 1500.
static scaled exp_scaled(pp_dd x)
{
    double n = (x.hi * 0x1.71547652b82fep+7 + round_trick) - round_trick;  // 128 / log(2)
    int k = (int)n, j = k & 127;
    // The products with the first two parts of the step are exact, and so is the first difference.
    pp_dd r = pp_dd_sum(x.hi - n * pp_exp_step[0], -(n * pp_exp_step[1]));
    r = pp_dd_sum(r.hi, r.lo + (x.lo - n * pp_exp_step[2]));
    // exp(r) - 1 - r for |r| < 0.0028; the next term is below 2^-71.
    double r2 = r.hi * r.hi;
    double p = r2 * (1.0 / 2.0 + r.hi * (1.0 / 6.0) +
                     r2 * (1.0 / 24.0 + r.hi * (1.0 / 120.0) + r2 * (1.0 / 720.0)));
    const double *T = pp_exp_table[j];
    pp_dd product = pp_dd_product(T[0], r.hi);
    pp_dd sum = pp_dd_fast_sum(T[0], product.hi);
    double low = sum.lo + (product.lo + (T[1] + (T[1] * r.hi + T[0] * (r.lo + p))));
    return (scaled){pp_dd_fast_sum(sum.hi, low), (k - j) / 128};
}

// Rounded once, also where the result is subnormal.
static double unscale(scaled s)
{
    if (s.k > 1023) {
        return s.k > 1025 ? (double)INFINITY
                          : (s.m.hi + s.m.lo) * 2.0 * power_of_two(1023) * power_of_two(s.k - 1024);
    }
    if (s.k > -1022 || (s.k == -1022 && s.m.hi >= 1.0)) {
        return (s.m.hi + s.m.lo) * power_of_two(s.k);
    }
    if (s.k < -1080) {
        return 0.0;
    }
    // Added to 1, the last place is that of the smallest double when 2^-1022 is taken out.
    double scale = power_of_two(s.k + 1022);
    pp_dd sum = pp_dd_sum(1.0, s.m.hi * scale);
    return ((sum.hi + (sum.lo + s.m.lo * scale)) - 1.0) * power_of_two(-1022);
}

double pp_exp(double x)
{
    if (!(x < 710.0)) {  // overflows, or NaN
        return x > 0.0 ? (double)INFINITY : x;
    }
    if (x < -746.0) {
        return 0.0;
    }
    return unscale(exp_scaled((pp_dd){x, 0.0}));
}

double pp_exp2(double x)
{
    if (!(x < 1025.0)) {
        return x > 0.0 ? (double)INFINITY : x;
    }
    if (x < -1080.0) {
        return 0.0;
    }
    return unscale(exp_scaled(pp_dd_scale(pp_dd_log_2, x)));
}

double pp_expm1(double x)
{
    if (!(fabs(x) < 45.0)) {  // the other term is below 2^-64
        return x < 0.0 ? -1.0 : pp_exp(x);
    }
    if (fabs(x) < 0x1p-54) {
        return x;
    }
    if (fabs(x) < 0.125) {
        // x + x^2 / 2 exactly, then the series; the next term is below 2^-76 x
        pp_dd half = pp_dd_product(0.5 * x, x);
        double p = 0.0;
        static const double factorial[] = {6.0,        24.0,        120.0,       720.0,
                                           5040.0,     40320.0,     362880.0,    3628800.0,
                                           39916800.0, 479001600.0, 6227020800.0};
        for (int k = 10; k >= 0; k--) {
            p = p * x + 1.0 / factorial[k];
        }
        pp_dd sum = pp_dd_sum(x, half.hi);
        return sum.hi + (sum.lo + (half.lo + x * x * x * p));
    }
    scaled e = exp_scaled((pp_dd){x, 0.0});
    double scale = power_of_two(e.k);
    pp_dd sum = pp_dd_sum(e.m.hi * scale, -1.0);
    return sum.hi + (sum.lo + e.m.lo * scale);
}

// ── Hyperbolic functions ─────────────────────────────────────────────────────────────────────────

// exp(|x|) and exp(-|x|), |x| < 40.
static void both_exponentials(double x, pp_dd *up, pp_dd *down)
{
    scaled e = exp_scaled((pp_dd){fabs(x), 0.0});
    double scale = power_of_two(e.k);
    *up = (pp_dd){e.m.hi * scale, e.m.lo * scale};
    *down = pp_dd_divide((pp_dd){1.0, 0.0}, *up);
}

// sinh(|x|), |x| < 40.
static pp_dd sinh_sum(double x)
{
    double a = fabs(x);
    if (a < 0.125) {
        double x2 = a * a;
        double p = 1.0 / 6.0 +
                   x2 * (1.0 / 120.0 +
                         x2 * (1.0 / 5040.0 + x2 * (1.0 / 362880.0 +
                                                    x2 * (1.0 / 39916800.0 + x2 / 6227020800.0))));
        return pp_dd_fast_sum(a, a * x2 * p);
    }
    pp_dd up, down;
    both_exponentials(a, &up, &down);
    pp_dd twice = pp_dd_add(up, pp_dd_negative(down));
    return (pp_dd){0.5 * twice.hi, 0.5 * twice.lo};
}

static pp_dd cosh_sum(double x)
{
    pp_dd up, down;
    both_exponentials(x, &up, &down);
    pp_dd twice = pp_dd_add(up, down);
    return (pp_dd){0.5 * twice.hi, 0.5 * twice.lo};
}

// exp(|x|) / 2 for large |x|.
static double half_exp(double x)
{
    if (!(fabs(x) < 720.0)) {
        return fabs(x);  // infinite below, or NaN
    }
    scaled e = exp_scaled((pp_dd){fabs(x), 0.0});
    e.k--;
    return unscale(e);
}

double pp_sinh(double x)
{
    if (fabs(x) < 0x1p-30) {
        return x;
    }
    if (fabs(x) < 40.0) {
        return copysign(sinh_sum(x).hi, x);
    }
    double large = fabs(x) >= 720.0 ? (double)INFINITY : half_exp(x);
    return copysign(large, x);
}

double pp_cosh(double x)
{
    if (fabs(x) < 40.0) {
        return cosh_sum(x).hi;
    }
    return fabs(x) >= 720.0 ? (double)INFINITY : half_exp(x);
}

double pp_tanh(double x)
{
    if (fabs(x) < 0x1p-30) {
        return x;
    }
    if (fabs(x) < 22.0) {
        return copysign(pp_dd_divide(sinh_sum(x), cosh_sum(x)).hi, x);
    }
    return x == x ? copysign(1.0, x) : x;
}

// ── The logarithm ────────────────────────────────────────────────────────────────────────────────

// x > 0, finite.
static pp_dd log_sum(double x)
{
    static const uint64_t first = 0x3fe6000000000000;  // 0.6875, where mantissas begin here
    uint64_t u = bits_of(x);
    int e = 0;
    if (u < 0x0010000000000000) {  // subnormal
        u = bits_of(x * 0x1p54);
        e = -54;
    }
    uint64_t from = u - first;
    int i = (int)((from >> 45) & 127);
    e += (int)((int64_t)from >> 52);
    double m = of_bits(u - (from & 0xfff0000000000000));
    // r = m / c - 1 exactly: the upper 32 bits of m, and the lower, times 11 bits.
    double upper = of_bits(bits_of(m) & 0xffffffff00000000), inverse = pp_log_table[i][0];
    pp_dd r = pp_dd_sum(upper * inverse - 1.0, (m - upper) * inverse);
    // log(1 + r) = r - r^2 / 2 + ..: the square to twice the precision; what is left out is below 2^-72 r
    pp_dd square = pp_dd_product(-0.5 * r.hi, r.hi);
    double q = r.hi, q2 = q * q;
    double p = (1.0 / 3.0 - q * (1.0 / 4.0)) +
               q2 * ((1.0 / 5.0 - q * (1.0 / 6.0)) +
                     q2 * ((1.0 / 7.0 - q * (1.0 / 8.0)) + q2 * (1.0 / 9.0 - q * 0.1)));
    pp_dd s = pp_dd_sum(e * pp_log_2[0], pp_log_table[i][1]);
    pp_dd t = pp_dd_sum(s.hi, r.hi);
    pp_dd v = pp_dd_sum(t.hi, square.hi);
    double low = q * q2 * p + (square.lo + (r.lo - r.hi * r.lo));
    low += s.lo + (e * pp_log_2[1] + pp_log_table[i][2]);
    return pp_dd_fast_sum(v.hi, v.lo + (t.lo + low));
}

// Where log(x) is not a finite number: in *value.
static bool log_is_special(double x, double *value)
{
    if (x > 0.0 && x < (double)INFINITY) {
        return false;
    }
    *value = x;  // infinite, or NaN
    if (x == 0.0) {
        *value = -(double)INFINITY;
    } else if (x < 0.0) {
        *value = NAN;
    }
    return true;
}

double pp_log(double x)
{
    double special;
    return log_is_special(x, &special) ? special : log_sum(x).hi;
}

double pp_log2(double x)
{
    double special;
    return log_is_special(x, &special) ? special : pp_dd_multiply(log_sum(x), pp_dd_per_log_2).hi;
}

double pp_log10(double x)
{
    double special;
    return log_is_special(x, &special) ? special : pp_dd_multiply(log_sum(x), pp_dd_per_log_10).hi;
}

// ── Powers ───────────────────────────────────────────────────────────────────────────────────────

static bool is_integer(double y)
{
    return y == floor(y);
}

static bool is_odd(double y)
{
    return is_integer(y) && fabs(y) < 0x1p53 && 0.5 * y != floor(0.5 * y);
}

// |x|^y where x is 0 or infinite, or y is infinite.
static double power_at_end(double a, double y)
{
    if (isinf(y)) {
        if (a == 1.0) {
            return 1.0;
        }
        return (a > 1.0) == (y > 0.0) ? (double)INFINITY : 0.0;
    }
    return (a > 1.0) == (y > 0.0) ? (double)INFINITY : 0.0;
}

// As annex F of ISO C defines it for zeros, infinities and NaN.
double pp_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (x != x || y != y) {
        return x + y;
    }
    double a = fabs(x);
    bool negative = signbit(x) && is_odd(y);
    if (a == 0.0 || isinf(a) || isinf(y)) {
        double end = power_at_end(a, y);
        return negative ? -end : end;
    }
    if (x < 0.0 && !is_integer(y)) {
        return NAN;
    }
    double magnitude;
    pp_dd log_a = log_sum(a);
    // Powers beyond 2^1100 or below 2^-1100; the product would also overflow in its parts.
    if (fabs(y) > 0x1p70 || fabs(y * log_a.hi) > 800.0) {
        magnitude = a == 1.0 ? 1.0 : power_at_end(a, y);
    } else if (fabs(y) < 0x1p-70) {
        magnitude = 1.0;  // |y log(a)| < 2^-60
    } else {
        magnitude = unscale(exp_scaled(pp_dd_scale(log_a, y)));
    }
    return negative ? -magnitude : magnitude;
}

// ── The complementary error function ─────────────────────────────────────────────────────────────

// erfc(x) by the series of erf, whose terms are positive, below 1/2, and from there on by the continued fraction of
// Laplace, evaluated from its end. Of depth n its error is about exp(-2 x sqrt(2 n)), below 2^-60 at 1/2 for 900.
double pp_erfc(double x)
{
    enum { DEPTH = 900, TERMS = 40 };
    double a = fabs(x), value;
    static const double root_pi = 1.7724538509055160273;
    if (a < 0.5) {
        double term = a, sum = a;
        for (int k = 1; k < TERMS; k++) {
            term *= 2.0 * a * a / (2.0 * k + 1.0);
            sum += term;
        }
        value = 1.0 - 2.0 / root_pi * pp_exp(-a * a) * sum;
    } else {
        double f = a;
        for (int k = DEPTH; k >= 1; k--) {
            f = a + 0.5 * k / f;
        }
        // The square rounded would cost exp(-x^2) its last digits.
        pp_dd square = pp_dd_product(fmin(a, 40.0), fmin(a, 40.0));
        value = unscale(exp_scaled(pp_dd_negative(square))) / (root_pi * f);
    }
    if (x != x) {
        return x;
    }
    return x < 0.0 ? 2.0 - value : value;
}
